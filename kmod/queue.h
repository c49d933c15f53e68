/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue, which is the private state of a qdisc, and the parts that work on
 * it: detectors, notify methods, timer.
 */
#ifndef _IQCN_QUEUE_H
#define _IQCN_QUEUE_H

#include <linux/hrtimer.h>
#include <linux/if_ether.h>
#include <linux/timerqueue.h>
#include <linux/workqueue.h>
#include <iqcn/bh.h>
#include <net/gen_stats.h>

#include "algo/active.h"
#include "algo/deadline.h"
#include "algo/detect.h"
#include "algo/lot.h"
#include "algo/macctl.h"
#include "algo/measure.h"
#include "algo/pfc.h"
#include "algo/pi.h"
#include "algo/sojourn.h"
#include "params.h"
#include "port.h"
#include "rocev2.h"

/* PREEMPT_RT may preempt a softirq in enqueue, which has not been tested */
static_assert(!IS_ENABLED(CONFIG_PREEMPT_RT),
	      "sch_iqcn does not support PREEMPT_RT");

/* Add to a counter.  It has one writer at a time, and readers without a lock,
 * so it is written in one piece.
 */
static_assert(IS_ENABLED(CONFIG_64BIT), "sch_iqcn is for 64-bit kernels");
#define iqcn_add(counter, n)	WRITE_ONCE(counter, (counter) + (n))
#define iqcn_inc(counter)	iqcn_add(counter, 1)

/* The packet that iqcn_enqueue_slow() handles.  It is a field of struct
 * iqcn_queue, because on the stack it would need a stack protector (bench
 * "marked").
 */
struct iqcn_arrival {
	struct iqcn_pkt pkt;	/* valid if the packet parses */
	struct iqcn_lot lot;
};

/* Size of queue->recent: a page of pointers */
#define IQCN_RECENT_BITS	9

/* A queue whose port PFC may pause (pfc.c); queue->lock */
struct iqcn_pfc_queue {
	struct iqcn_pfc state;
	struct iqcn_pauses pauses;	/* from the last frames */
	bool link_paused;		/* the port is paused */
	u64 link_from_ns;		/* start of the pause */
	u64 end_ns;			/* end of the pause, if link_paused */
	u64 resumed_ns;			/* end of the last pause */
	/* the next two: only with IQCN_PFC_TXQ; written under the root lock,
	 * too
	 */
	u64 left_ns;			/* when the last packet left, or, if it
					 * left the queue empty, when a packet
					 * first found the device stopped and
					 * the queue at the threshold or above;
					 * 0: neither
					 */
	u64 left_arrived_bytes;		/* bytes that had arrived by left_ns */

	u64 unsure_ns;			/* time of the last verdict */
	u64 trimmed_bytes;		/* bytes that arrived and were later
					 * dropped from the queue; root lock to
					 * write
					 */

	/* work to do when the next packet arrives or leaves */
	bool count;			/* a pause has begun: record the bytes
					 * that had arrived before that packet
					 */
	bool judge;			/* judge the queue after a pause */
	bool add_rx;			/* count the bytes that arrived in a
					 * pause
					 */
	/* work to do when the next packet leaves */
	bool notify;			/* notify the packet's sender */

	bool stale;			/* the measurement of the drain rate
					 * spans a quiet time, and must restart
					 */
	u64 quiet_from_ns;		/* start of the latest quiet time */
	u64 quiet_to_ns;		/* end of the last quiet time */
	u64 rest_from_ns;		/* start of a series of quiet times; if
					 * one of them ends within pfc-max of
					 * the start, T1 restarts
					 */
	u64 rest_to_ns;			/* when that series last restarted T1 */
	u32 reason;			/* enum iqcn_pfc_reason of the last
					 * change
					 */
};

/* Supplements of a queue (notify_supplement.c); queue->lock */
struct iqcn_supplement {
	bool on;			/* set above Kmax, cleared at Kmin; no
					 * lock to read
					 */
	u64 next_ns;			/* when the next supplement is due */
	u64 above_ns;			/* when the depth was found above Kmax,
					 * 0: it is not, or supplements are off
					 */
	struct list_head turns;		/* struct iqcn_flow_ext of active flows;
					 * the head gets the next supplement
					 */
};

/* The lease of a queue (lease.c).  It sets the rate of supplements, the filter
 * in port->lease, or both; queue->lock
 */
struct iqcn_lease {
	u64 end_ns;			/* expiry, 0: no lease */
	bool supplements;		/* supplement_pps is set */
	u32 supplement_pps;
};

/* A request for a lease.  tc's values apply to the parts that are not set. */
struct iqcn_lease_request {
	u32 ms;				/* length of the lease */
	bool filters;			/* n and interval_ns are set */
	u32 n;
	u32 interval_ns;
	bool supplements;		/* supplement_pps is set */
	u32 supplement_pps;
};

struct iqcn_queue {
	/* The fast path reads only the first cache line.
	 *
	 * Root lock to write, unless a comment says otherwise.
	 */
	struct iqcn_meter drain;	/* measures drain_bps */
	u32 fastpath_bytes;		/* depth below which packets without CE
					 * are only queued; lock to write
					 */
	u32 deep_bytes;			/* depth above which packets leave by
					 * iqcn_leaves_deep(): 0 with attends,
					 * else U32_MAX with quiet, else Kmin;
					 * lock to write
					 */
	bool attends;			/* pfc.c must handle the next packet;
					 * lock to write
					 */
	bool quiet;			/* no marks, and CNPs only for drops
					 * (pfc.c); lock to write
					 */
	/* parameters; RTNL, root lock and lock to write, any of them to read */
	struct iqcn_params p;

	const u32 *depth_bytes;		/* the qdisc's backlog */
	const struct gnet_stats_basic_sync *sent; /* the qdisc's bstats */
	u32 parent;			/* parent class of the qdisc */
	struct iqcn_port_config before;	/* parameters of the port before init;
					 * for iqcn_undo()
					 */
	u32 undo_seq;			/* iqcn_net->config_seq after init: see
					 * iqcn_can_undo()
					 */
	u8 resets;			/* calls of ->reset since init; at most 2
					 * are counted; root lock, unless the
					 * qdisc is no longer grafted
					 */
	u64 speed_bps;			/* of the device, 0: unknown; RTNL to
					 * write
					 */
	u64 link_bps;			/* of the link or a shaper; RTNL to
					 * write
					 */

	struct iqcn_outflow outflow;	/* bytes that leave while backlogged */
	/* like outflow, but without packets known not to be RoCE; the reference
	 * for the CE rate
	 */
	struct iqcn_outflow roce_outflow;
	u64 roce_bps;			/* of roce_outflow in the last CE
					 * window, 0: not backlogged for all of
					 * it
					 */
	u64 drain_bps;			/* measured while backlogged, 0: none */
	u64 drain_ns;			/* when drain_bps was measured */
	u32 tracked;			/* queued packets that count for
					 * IQCN_NOTIFY_GRANT
					 */
	struct iqcn_sojourn sojourn;	/* the packet whose delay is measured */
	u64 dropped_bytes;		/* of packets dropped on enqueue */
	u64 skipped_bytes;		/* of CE packets since q->ce was
					 * updated
					 */
	u64 skipped;			/* segments of unsampled CE packets */
	u64 clock_ns;			/* when a recent packet was queued or
					 * left; root lock
					 */
	u32 drained_bytes;		/* bytes that left since q->drain was
					 * updated
					 */
	bool brief;			/* iqcn_flow_ce_brief() may suffice for
					 * a CE packet; lock to write
					 */

	struct iqcn_arrival arrival;	/* valid during iqcn_enqueue_slow() */

	/* counters; each is protected by the lock of what it counts */
	struct tc_iqcn_xstats st;
	struct iqcn_sampler *sampler;	/* NULL: no sample group; RTNL, too */
	bool ce_extra;			/* call iqcn_ce_extra() */

	/* NULL: the device is not Ethernet, was unregistered, or has moved;
	 * RTNL, too
	 */
	struct iqcn_port *port;
	struct list_head list;		/* in port->queues */
	/* cache of the flow table, with flows of recent packets (flow.c);
	 * lock to write, root lock and BHs off to read
	 */
	struct iqcn_flow **recent;

	spinlock_t lock ____cacheline_aligned_in_smp; /* all that follows */
	struct iqcn_meter ce;		/* CE packets that leave */
	u64 idle_check_ns;		/* the timer is not armed for an idle
					 * check before this time, because the
					 * backlog did not drain
					 */
	u64 reset_ns;			/* last reset */
	u32 max_bytes;			/* largest sampled CE packet */
	u32 fiber_rtt_ns;		/* of the port's fiber; RTNL to write,
					 * no lock to read
					 */

	u32 congested;			/* enum iqcn_detect bits, 0: clear */
	u64 state_ns;			/* last change from or to 0 */
	u32 state_reason;		/* enum iqcn_reason of that change */
	u32 epoch;			/* states of flows with another epoch
					 * are void
					 */
	u32 ended;			/* how often congestion has ended or the
					 * queue was reset
					 */
	unsigned int n_congested;	/* flows congested on their own */

	struct iqcn_active active;	/* number of active flows */
	struct iqcn_gradient gradient;	/* of the depth */
	struct iqcn_pi pi;		/* the controller of IQCN_NOTIFY_PI */
	u64 pi_until_ns;		/* no step or new epoch is due before
					 * this time, 0: it is not known
					 */
	struct iqcn_pfc_queue pfc;
	struct iqcn_supplement supplement;
	struct iqcn_lease lease;

	bool dead;			/* neither timer nor work may start */
	u64 armed_ns;			/* expiry of the timer, also while its
					 * callback runs; KTIME_MAX: not armed
					 */
	u64 timer_ns;			/* armed_ns, or 0 once send_bh is
					 * scheduled, because send_bh arms the
					 * timer when it ends; the end of the
					 * timer's callback and a disarm
					 * overwrite the 0
					 */
	u64 pause_ns;			/* the timer is not armed for a time
					 * before this, and send_bh is not
					 * scheduled until then: the last run
					 * left work, or the owner's share of
					 * the CPUs is used up (owner.h)
					 */
	struct iqcn_backoff backoff;	/* while no packet leaves */
	struct list_head deadlines;	/* flows by T1 (algo/deadline.h) */
	struct list_head lapsed;	/* flows whose T1 expired while clear */
	struct list_head polls;		/* sparse flows by their next poll */
	u64 polls_ns;			/* no poll before this time */
	/* Interval between two polls of a flow: t1, or less while the
	 * controller's probability exceeds 1.  Set after each step and change
	 * of parameters, so that iqcn_timer_arm() need not divide.
	 */
	u32 poll_gap_ns;
	bool polls_ran;			/* a poll was due in this run */
	bool polls_wait;		/* the next poll waits for the budget */
	struct timerqueue_head pending;	/* flows with a pending CNP, by time */

	/* flows by the epoch (algo/active.h) of their last packet or poll;
	 * [0]: unassured, [1]: assured
	 */
	struct list_head lru[2];
	unsigned int by_grade[__IQCN_PAIR_MAX];	/* flows of each grade */
	unsigned int n_flows;

	/* for deadlines, polls, supplements, pending CNPs, leases, pauses and
	 * idle checks.  Init sets up timer and work; they are canceled after
	 * dead is set.
	 */
	struct hrtimer timer;
	struct iqcn_bh send_bh;		/* runs work that is due at once */
	struct delayed_work gc_work;	/* expires flows (gc.c) */
};

/* Longest gap between two packets of a flow that predicts the next one */
#define IQCN_GAP_MAX_NS		(100 * (u64)NSEC_PER_MSEC)

/* Age at which a measured drain rate becomes invalid */
#define IQCN_DRAIN_MAX_AGE_NS	NSEC_PER_SEC

/* With q->brief, the CE meter and the drain rate are updated once per chunk of
 * bytes, which takes 6 us at the rate of the link by default
 */
#define IQCN_CHUNKS_PER_QREF	16

static inline u32 iqcn_chunk_bytes(const struct iqcn_queue *q)
{
	return q->p.pi.qref_bytes / IQCN_CHUNKS_PER_QREF;
}

/* The backlog, for readers without the root lock */
static inline u32 iqcn_depth_bytes(const struct iqcn_queue *q)
{
	/* before 7.2, the kernel's helpers write it without WRITE_ONCE() */
	return data_race(READ_ONCE(*q->depth_bytes));
}

/* Is @ns later than the last reset?  queue->lock */
static inline bool iqcn_queue_since_reset(const struct iqcn_queue *q, u64 ns)
{
	return ns > q->reset_ns;
}

/* May packets of the queue cause CNPs by one of the methods @notify? */
static inline bool iqcn_queue_notifies(const struct iqcn_queue *q, u32 notify)
{
	return q->port && (q->p.notify & notify);
}

/* The rate at which a deep queue drains, in bit/s: the user's, the measured
 * one, or that of the link or a shaper
 */
static inline u64 iqcn_queue_drain_bps(const struct iqcn_queue *q)
{
	u64 drain_bps = READ_ONCE(q->drain_bps);

	if (q->p.bandwidth_bps)
		return q->p.bandwidth_bps;
	return drain_bps ?: READ_ONCE(q->link_bps);
}

/* The RoCE rate in bit/s, with which the CE rate is compared.  If the user set
 * no bandwidth, and the queue was backlogged for all of the last CE window, the
 * RoCE rate is that of the packets in the window that may have been RoCE; else
 * it is the drain rate.
 */
static inline u64 iqcn_queue_roce_bps(const struct iqcn_queue *q)
{
	u64 roce_bps = READ_ONCE(q->roce_bps);

	if (roce_bps && !q->p.bandwidth_bps)
		return roce_bps;
	return iqcn_queue_drain_bps(q);
}

/* Does the queue have a lease, are supplements on, or do flows still wait for
 * their turn?  queue->lock
 */
static inline bool iqcn_queue_long_haul(const struct iqcn_queue *q)
{
	return unlikely(q->lease.end_ns || q->supplement.on ||
			!list_empty(&q->supplement.turns));
}

/* queue.c */
void iqcn_queue_init(struct iqcn_queue *q);
void iqcn_queue_set_params(struct iqcn_queue *q, const struct iqcn_params *p);
void iqcn_queue_reset(struct iqcn_queue *q);
void iqcn_queue_kill(struct iqcn_queue *q);
u64 iqcn_queue_ce_sent(struct iqcn_queue *q, struct iqcn_flow *flow,
		       const struct sk_buff *skb, u32 bytes, u32 psn, u32 segs,
		       bool echo);
bool iqcn_queue_ce_steady(const struct iqcn_queue *q, struct iqcn_flow *flow);
void iqcn_queue_ce_skipped(struct iqcn_queue *q, struct iqcn_flow *flow,
			   const struct sk_buff *skb, u32 psn, u32 segs);
void iqcn_queue_delayed(struct iqcn_queue *q, u64 delay_ns);
void iqcn_queue_cnp_rx(struct iqcn_flow *flow, u16 sport, bool passed);
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

/* Set @bit in @bits to the result of its detector */
static inline u32 iqcn_detect_with(u32 bits, u32 bit, bool on)
{
	return on ? bits | bit : bits & ~bit;
}

/* Run the detectors of a queue.  @fresh: a window of the CE meter has just
 * closed.  Inline, because without q->brief it runs for each sampled CE packet
 * (bench "marked").  queue->lock; the caller arms the timer.
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
	/* nearly every packet leaves the state unchanged */
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

/* notify_bts.c */
void iqcn_bts_note_change(struct iqcn_queue *q, struct iqcn_flow *flow,
			  const struct ethhdr *eth, u64 now_ns);
bool iqcn_bts_arrived(struct iqcn_queue *q, struct iqcn_flow *flow,
		      const struct sk_buff *skb, u32 segs, struct iqcn_lot *lot,
		      u8 ecn);
void iqcn_bts_dropped(struct iqcn_queue *q, struct iqcn_flow *flow,
		      const struct sk_buff *skb, bool was_ce, bool waited);
void iqcn_bts_set_fastpath(struct iqcn_queue *q);
u32 iqcn_bts_prob(const struct iqcn_queue *q, u64 now_ns);

/* notify_grant.c */
void iqcn_grant_arrives(struct iqcn_queue *q, struct iqcn_flow *flow,
			const struct ethhdr *eth);
void iqcn_grant_leaves(struct iqcn_queue *q, struct iqcn_flow *flow,
		       const struct sk_buff *skb, bool was_ce);

/* notify_supplement.c */
int iqcn_supplement_check(u32 pps, u32 max_pps, u32 cnp_rate_pps,
			  const struct nlattr *attr,
			  struct netlink_ext_ack *extack);
void iqcn_supplement_packet(struct iqcn_queue *q, struct iqcn_flow *flow,
			    const struct ethhdr *eth);
void iqcn_supplement_off(struct iqcn_queue *q, u64 now_ns);
void iqcn_supplement_end(struct iqcn_queue *q);
void iqcn_supplement_changed(struct iqcn_queue *q, u64 now_ns);

/* lease.c */
int iqcn_lease_set(struct iqcn_queue *q, const struct iqcn_lease_request *r,
		   struct netlink_ext_ack *extack);
void iqcn_lease_cancel(struct iqcn_queue *q);

/* pfc.c */
void iqcn_pfc_rx(struct iqcn_port *port, const struct sk_buff *skb);
void iqcn_pfc_arrives(struct iqcn_queue *q, u32 depth_bytes, u64 arrived_bytes,
		      bool stopped);
bool iqcn_pfc_leaves(struct iqcn_queue *q, u32 depth_bytes, u32 bytes,
		     u64 arrived_bytes);
void iqcn_pfc_notify(struct iqcn_queue *q, struct iqcn_flow *flow,
		     const struct sk_buff *skb, bool was_ce);

/* The value of q->deep_bytes, unless the next packet is for pfc.c; lock,
 * or the root lock
 */
static inline u32 iqcn_pfc_deep_bytes(const struct iqcn_queue *q)
{
	return READ_ONCE(q->quiet) ? U32_MAX : q->p.mark.kmin_bytes;
}

/* The state of a queue whose port PFC may pause; lock */
static inline enum iqcn_pfc_state iqcn_pfc_state(const struct iqcn_queue *q)
{
	if (q->p.pfc_source == IQCN_PFC_OFF)
		return IQCN_PFC_STATE_CLEAR;
	if (q->quiet)
		return q->pfc.link_paused ? IQCN_PFC_STATE_PAUSED :
					    IQCN_PFC_STATE_UNDETERMINED;
	return iqcn_depth_bytes(q) < q->p.pfc.threshold_bytes ?
	       IQCN_PFC_STATE_CLEAR : IQCN_PFC_STATE_CONGESTED;
}

/* psample.c */
struct iqcn_sampler *iqcn_psample_new(struct net *net, u32 group);
void iqcn_psample_free(struct iqcn_sampler *s);
bool iqcn_psample_copy(struct iqcn_sampler *s, struct sk_buff *skb,
		       u32 every, u32 depth_bytes);

#endif /* _IQCN_QUEUE_H */
