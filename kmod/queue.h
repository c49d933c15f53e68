/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue: a qdisc, as far as files other than qdisc.c care; and what works on
 * its state: detectors, notify methods, timer.
 */
#ifndef _IQCN_QUEUE_H
#define _IQCN_QUEUE_H

#include <linux/hrtimer.h>
#include <linux/if_ether.h>
#include <linux/timerqueue.h>
#include <linux/workqueue.h>
#include <net/gen_stats.h>

#include "algo/active.h"
#include "algo/deadline.h"
#include "algo/detect.h"
#include "algo/lot.h"
#include "algo/measure.h"
#include "algo/pi.h"
#include "params.h"
#include "port.h"

/* A counter has one writer at a time and readers without a lock, so it must be
 * written in one piece
 */
static_assert(IS_ENABLED(CONFIG_64BIT), "sch_iqcn is for 64-bit kernels");
#define iqcn_add(counter, n)	WRITE_ONCE(counter, (counter) + (n))
#define iqcn_inc(counter)	iqcn_add(counter, 1)

/* Flows that a queue finds without the table: a page of pointers */
#define IQCN_RECENT_BITS	9

struct iqcn_queue {
	/* The first cache line is all that the fast path reads.
	 *
	 * Root lock to write unless a comment says otherwise.
	 */
	struct iqcn_meter drain;	/* of drain_bps */
	u32 fastpath_bytes;		/* below this depth a packet that is not CE
					 * is only queued; lock to write
					 */
	/* parameters: RTNL, root lock and lock to write, any one to read */
	struct iqcn_params p;

	const u32 *depth_bytes;		/* the qdisc's backlog */
	const struct gnet_stats_basic_sync *sent;
	u32 parent;			/* the qdisc's */
	struct iqcn_port_config before;	/* the port's, before this queue */
	u32 undo_seq;			/* iqcn_net->config_seq after init: while it
					 * has not moved, an unused queue can
					 * restore the above
					 */
	u64 link_bps;			/* speed of the link; RTNL to write */

	struct iqcn_outflow outflow;	/* what leaves while it is backlogged */
	/* the same without packets known not to be RoCE: what the CE rate is
	 * compared with
	 */
	struct iqcn_outflow roce_outflow;
	u64 roce_bps;			/* of the last CE window, 0: not
					 * backlogged for all of it
					 */
	u64 drain_bps;			/* measured while backlogged, 0: not yet */
	u64 drain_ns;			/* when it was measured */
	u64 skipped_bytes;		/* CE packets since the last sampled one */
	u64 skipped;			/* CE packets never sampled; GSO segments */

	struct tc_iqcn_xstats st;	/* each has the lock of its subject */
	struct iqcn_sampler *sampler;	/* NULL: samples are not copied; RTNL too */

	/* NULL: the device is not Ethernet, or was unregistered, or has moved;
	 * RTNL too
	 */
	struct iqcn_port *port;
	struct list_head list;		/* in port->queues */
	/* flows of the last packets, hashed (flow.c); lock to write, root lock
	 * and BHs off to read
	 */
	struct iqcn_flow **recent;

	spinlock_t lock ____cacheline_aligned_in_smp; /* all that follows */
	struct iqcn_meter ce;		/* CE packets that leave */
	u64 idle_check_ns;		/* no idle check before: it was paused */
	u64 reset_ns;			/* what began until then is over */
	u32 max_bytes;			/* largest sampled CE packet */

	u32 congested;			/* enum iqcn_detect bits that say so */
	u64 state_ns;			/* when that last began or ended */
	u32 state_reason;		/* enum iqcn_reason */
	u32 epoch;			/* states of flows of another are void */
	u32 ended;			/* congestions that have ended */
	unsigned int n_congested;	/* flows with a state of their own */

	struct iqcn_active active;	/* flows that have packets */
	struct iqcn_gradient gradient;	/* of the depth */
	struct iqcn_pi pi;		/* the controller of IQCN_NOTIFY_PI */

	bool dead;			/* start no timer and no work any more */
	u64 timer_ns;			/* when the timer expires, or did if it
					 * runs; KTIME_MAX: not armed
					 */
	u64 pause_ns;			/* it is not armed for earlier: one run did
					 * not do all, or the owner's share of the
					 * CPUs is used up (owner.h)
					 */
	struct iqcn_backoff backoff;	/* while no packet leaves */
	struct list_head deadlines;	/* flows by T1 (algo/deadline.h) */
	struct list_head lapsed;	/* T1 expired while the queue was clear */
	struct list_head polls;		/* sparse flows by their next poll */
	u64 polls_ns;			/* no poll before that */
	bool polls_ran;			/* this run of the timer did one */
	bool polls_wait;		/* the next one waits for the budget */
	struct timerqueue_head pending;	/* flows with a pending CNP, by its time */

	/* flows by their last packet or poll, to an epoch of active; [1]: the
	 * assured ones
	 */
	struct list_head lru[2];
	unsigned int by_grade[__IQCN_PAIR_MAX];	/* flows */
	unsigned int n_flows;

	/* for the first of the lists above and for idle checks; set up in init,
	 * cancelled for good after dead is set
	 */
	struct hrtimer timer;
	struct delayed_work gc_work;	/* likewise */
};

/* A gap between two packets of a flow that says nothing about the next */
#define IQCN_GAP_MAX_NS		(100 * (u64)NSEC_PER_MSEC)

/* A drain rate that was not measured again for so long says nothing */
#define IQCN_DRAIN_MAX_AGE_NS	NSEC_PER_SEC

/* The backlog, for readers without the root lock */
static inline u32 iqcn_depth_bytes(const struct iqcn_queue *q)
{
	/* the kernel's helpers write it plainly before 7.2 */
	return data_race(READ_ONCE(*q->depth_bytes));
}

/* What began at @ns has not been ended by a reset; queue->lock */
static inline bool iqcn_queue_since_reset(const struct iqcn_queue *q, u64 ns)
{
	return ns > q->reset_ns;
}

/* Packets of the queue may cause CNPs by one of the methods @notify */
static inline bool iqcn_queue_notifies(const struct iqcn_queue *q, u32 notify)
{
	return q->port && (q->p.notify & notify);
}

/* The rate at which a deep queue drains, in bit/s: what the user set, what was
 * measured, or the link's
 */
static inline u64 iqcn_queue_drain_bps(const struct iqcn_queue *q)
{
	u64 drain_bps = READ_ONCE(q->drain_bps);

	if (q->p.bandwidth_bps)
		return q->p.bandwidth_bps;
	return drain_bps ?: READ_ONCE(q->link_bps);
}

/* The rate that the CE rate is compared with, in bit/s: what may have been RoCE
 * in the last window of the CE meter, if the queue was backlogged for all of it
 * and the user set no bandwidth; else the drain rate
 */
static inline u64 iqcn_queue_roce_bps(const struct iqcn_queue *q)
{
	u64 roce_bps = READ_ONCE(q->roce_bps);

	if (roce_bps && !q->p.bandwidth_bps)
		return roce_bps;
	return iqcn_queue_drain_bps(q);
}

/* queue.c */
void iqcn_queue_init(struct iqcn_queue *q);
void iqcn_queue_set_params(struct iqcn_queue *q, const struct iqcn_params *p);
void iqcn_queue_reset(struct iqcn_queue *q);
void iqcn_queue_kill(struct iqcn_queue *q);
u64 iqcn_queue_ce_sent(struct iqcn_queue *q, struct iqcn_flow *flow,
		       const struct ethhdr *eth, u32 bytes, u64 skipped_bytes,
		       u32 psn, u32 segs, bool echo);
void iqcn_queue_ce_skipped(struct iqcn_queue *q, struct iqcn_flow *flow,
			   u32 psn, u32 segs);
void iqcn_queue_cnp_rx(struct iqcn_flow *flow, u16 sport);
void iqcn_queue_way_back(struct iqcn_flow *flow, const struct ethhdr *eth);
void iqcn_queue_drains(struct iqcn_queue *q, u64 drain_bps, u64 now_ns);
void iqcn_queue_drain_stops(struct iqcn_queue *q);
void iqcn_queue_stats(struct iqcn_queue *q, struct tc_iqcn_xstats *st);

/* congestion.c */
void iqcn_congestion_detected(struct iqcn_queue *q, u32 bits, u64 now_ns);
void iqcn_congestion_detect_flow(struct iqcn_queue *q, struct iqcn_flow *flow,
				 u32 psn, u32 segs, bool request, u64 now_ns);
u64 iqcn_congestion_idle_ns(const struct iqcn_queue *q);
bool iqcn_congestion_paused(const struct iqcn_queue *q, u64 idle_ns,
			    u64 now_ns);
void iqcn_congestion_set(struct iqcn_queue *q, u32 bits, u32 reason,
			 u64 now_ns);
void iqcn_congestion_set_flow(struct iqcn_queue *q, struct iqcn_flow *flow,
			      u32 bits, u32 reason, u64 now_ns);
void iqcn_congestion_void_flows(struct iqcn_queue *q);
u64 iqcn_congestion_of_flow(const struct iqcn_queue *q,
			    const struct iqcn_flow *flow, u32 *bits,
			    u32 *reason);

/* @bits with @bit set to what its detector says */
static inline u32 iqcn_detect_with(u32 bits, u32 bit, bool on)
{
	return on ? bits | bit : bits & ~bit;
}

/* Run the detectors of a queue; @fresh: a window of the CE meter has just closed.
 * Inline, because it runs for each CE packet (bench "marked").  queue->lock; the caller
 * arms the timer.
 */
static inline void iqcn_congestion_detect(struct iqcn_queue *q, bool fresh,
					  u64 now_ns)
{
	u32 bits = q->congested & q->p.detect;
	bool on;

	if ((q->p.detect & IQCN_DETECT_QUEUE) && fresh) {
		on = iqcn_detect_queue(bits & IQCN_DETECT_QUEUE, q->ce.rate_bps,
				       iqcn_queue_roce_bps(q),
				       q->p.enter_pct, q->p.exit_pct);
		bits = iqcn_detect_with(bits, IQCN_DETECT_QUEUE, on);
	}
	if (q->p.detect & IQCN_DETECT_DEPTH) {
		on = iqcn_detect_depth(bits & IQCN_DETECT_DEPTH,
				       iqcn_depth_bytes(q),
				       q->p.mark.kmin_bytes,
				       q->p.mark.kmax_bytes);
		bits = iqcn_detect_with(bits, IQCN_DETECT_DEPTH, on);
	}
	/* true for nearly every packet */
	if (bits != q->congested)
		iqcn_congestion_detected(q, bits, now_ns);
}

/* notify_timer.c */
void iqcn_notify_timer_restart(struct iqcn_queue *q, struct iqcn_flow *flow,
			       u64 now_ns);
void iqcn_notify_timer_ce(struct iqcn_queue *q, struct iqcn_flow *flow,
			  u64 now_ns);
void iqcn_notify_timer_cnp_rx(struct iqcn_queue *q, struct iqcn_flow *flow,
			      u64 now_ns);
void iqcn_notify_timer_new_delay(struct iqcn_queue *q, u64 now_ns);

/* notify_bts.c */
void iqcn_bts_set_params(struct iqcn_queue *q);
void iqcn_bts_reset(struct iqcn_queue *q);
void iqcn_bts_note_packet(struct iqcn_queue *q, struct iqcn_flow *flow,
			  const struct ethhdr *eth, u64 now_ns);
bool iqcn_bts_arrived(struct iqcn_queue *q, struct iqcn_flow *flow,
		      const struct ethhdr *eth, u32 segs, struct iqcn_lot *lot,
		      u8 ecn);
void iqcn_bts_dropped(struct iqcn_queue *q, struct iqcn_flow *flow,
		      const struct ethhdr *eth, bool was_ce, bool waited);
u32 iqcn_bts_prob(const struct iqcn_queue *q, u64 now_ns);

/* timer.c */
void iqcn_timer_init(struct iqcn_queue *q);
void iqcn_timer_set(struct iqcn_queue *q, u64 now_ns);
void iqcn_timer_disarm(struct iqcn_queue *q);
void iqcn_timer_wake(struct iqcn_queue *q);

/* Arm the timer, if it would expire too late.  Inline, because every packet of a deep
 * queue gets here twice (bench "marked").  queue->lock, BHs off.
 */
static inline void iqcn_timer_arm(struct iqcn_queue *q, u64 now_ns)
{
	const struct timerqueue_node *pending = timerqueue_getnext(&q->pending);

	/* true for nearly every packet: what it begins is not due sooner, and the
	 * timer was armed for what began before
	 */
	if (q->timer_ns <= now_ns + min_t(u64, q->p.t1_ns, IQCN_PI_END_NS) &&
	    (!pending || pending->expires >= q->timer_ns))
		return;
	iqcn_timer_set(q, now_ns);
}

/* psample.c */
struct iqcn_sampler *iqcn_psample_new(struct net *net, u32 group);
void iqcn_psample_free(struct iqcn_sampler *s);
bool iqcn_psample_copy(struct iqcn_sampler *s, struct sk_buff *skb,
		       u32 every, u32 depth_bytes);

#endif /* _IQCN_QUEUE_H */
