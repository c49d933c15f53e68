/* SPDX-License-Identifier: GPL-2.0 */
/* A flow: packets from one host to a QP of another; and the hosts of flows. */
#ifndef _IQCN_FLOW_H
#define _IQCN_FLOW_H

#include <linux/if_ether.h>
#include <linux/jhash.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/timerqueue.h>

#include "algo/continuity.h"
#include "algo/deadline.h"
#include "algo/interval.h"
#include "algo/pairing.h"
#include "algo/reorder.h"
#include "queue.h"

/* Key of a flow or of its hosts, hashed as a whole, so it must have no holes */
struct iqcn_key {
	struct in6_addr src;	/* of the data; IPv4 as v4-mapped */
	struct in6_addr dst;
	u16 vid[IQCN_VLANS];	/* on the port, outer first; 0: none */
	/* DestQP of the data; in port->by_sqp the sender's QP; 0 for hosts.
	 * Last, because all flows of two hosts have the other fields in common.
	 */
	u32 qp;
};

/* Two hosts with flows from one to the other */
struct iqcn_hosts {
	struct rhash_head node;		/* in port->hosts */
	struct iqcn_key key;		/* with QP 0 */
	u64 echo_salt;			/* separates the slots of these hosts in
					 * the echo table from those of others
					 */
	struct list_head unassured;	/* struct iqcn_flow_ext; port->lock */
	unsigned int n_unassured;	/* port->lock to write */
	unsigned int n_flows;		/* port->lock */
	struct iqcn_spray spray;	/* port->lock to write */
	struct rcu_head rcu;
};

/* Extension of a flow.  A flow has an extension until its pairing is assured,
 * and while one of the following is true: its own detectors keep state for the
 * current epoch of the queue, it has a turn of IQCN_NOTIFY_SUPPLEMENT, or it
 * has a pending CNP.  The fields are accessed under the locks named below.  The
 * last user frees the extension.
 */
struct iqcn_flow_ext {
	struct iqcn_flow *flow;
	/* in hosts->unassured, empty: assured.  port->lock and, for a flow in
	 * the table, queue->lock to change; either to test for empty
	 */
	struct list_head unassured;
	struct iqcn_echoes echoes;	/* port->lock */

	/* all that follows: queue->lock */
	u8 congested;		/* the flow's own enum iqcn_detect bits */
	u8 state_reason;	/* enum iqcn_reason of the last change */
	u8 cnp_cause;		/* enum iqcn_cause of the pending CNP */
	bool cnp_was_ce;	/* packets caused the pending CNP, and all of
				 * them arrived with CE, or were CE when the
				 * queue dropped them
				 */
	bool cnp_paid;		/* the budget was charged for that CNP */
	u8 cnp_owed;		/* CNPs that the receiver still owes for packets
				 * that had left when the pending CNP became due
				 * (algo/pending.h)
				 */
	u8 next_owed;		/* cnp_owed of the second pending CNP */
	u32 epoch;		/* of congested, continuity and reorder */
	struct iqcn_continuity continuity; /* of the PSNs of CE packets */
	u32 cnp_ended;		/* queue->ended when the CNP became pending */
	struct iqcn_reorder reorder; /* orders PSNs for continuity */
	u64 state_ns;		/* when congested last became 0 or nonzero */
	struct timerqueue_node pending;	/* in queue->pending */
	u32 cnp_wait_ns;	/* from the start of T1 until the CNP is sent */
	u32 next_ns;		/* time from the pending CNP to a second one,
				 * 0: there is none
				 */
	u32 next_wait_ns;	/* cnp_wait_ns of the second CNP */
	u32 cnp_window_bytes;	/* of IQCN_CAUSE_GRANT */
	u16 cnp_sport;		/* source port of the packet that caused the
				 * pending CNP; 0: no packet did, or cnp-sport
				 * is not IQCN_CNP_SPORT_ECHO
				 */
	struct list_head turn;	/* in queue->supplement.turns, empty: no turn */
};

/* A size class of the slab allocator */
static_assert(sizeof(struct iqcn_flow_ext) <= 192);

/* Limit on the size of a flow, which Documentation/performance.rst states */
#define IQCN_FLOW_BYTES		256

/* With a million flows, each cache line that a packet touches is a cache miss.
 * So fields are grouped by the code that touches them, and fields that few
 * flows need are in struct iqcn_flow_ext.
 */
struct iqcn_flow {
	/* offset 0: lookup, and fields that every packet touches */
	struct rhash_head node;		/* in port->flows */
	struct iqcn_hosts *hosts;	/* valid while ->queue is set */
	/* queue through which the flow leaves, NULL: dead.  To write:
	 * port->lock and queue->lock (both queues' for a move).  To read:
	 * port->lock; or RCU, and then a retest under queue->lock
	 * (iqcn_flow_of())
	 */
	struct iqcn_queue *queue;
	u32 qp;				/* DestQP */
	refcount_t refs;		/* of the table and queued packets */
	u8 src_mac[ETH_ALEN];		/* destination of CNPs; queue->lock */
	u8 dst_mac[ETH_ALEN];		/* destination of data; queue->lock */
	u32 mac_ticks;			/* when these MACs were last in use */
	u32 active_epoch;		/* last epoch in which the flow was
					 * counted (algo/active.h)
					 */
	u32 arrive_gap_ns;		/* gap before the last arrival
					 * (iqcn_bts_gap_ns())
					 */
	u64 arrived_ns;			/* last recorded arrival, or, with
					 * IQCN_NOTIFY_GRANT, departure;
					 * queue->lock to write
					 */

	/* offset 64: touched on arrival at a deep queue; queue->lock */
	union {
		struct {
			struct list_head lru;		/* in queue->lru */
			struct iqcn_deadline poll;	/* in queue->polls */
		};
		struct {	/* a dead flow is on no list */
			struct rcu_head rcu;
			struct iqcn_port *port;
		};
	};
	/* NULL: not needed.  queue->lock; port->lock, too, while the flow is
	 * unassured
	 */
	struct iqcn_flow_ext *ext;
	u32 psn;			/* last PSN recorded on dequeue; root
					 * lock to write
					 */
	u32 ce_gap_ns;			/* between the last two sampled CE
					 * packets, 0: not known; not updated by
					 * iqcn_flow_ce_brief()
					 */
	u16 vlan[IQCN_VLANS];		/* tags of the data: iqcn_vlan_pack() */
	u16 pkey;			/* P_Key of the data */
	u8 grade;			/* evidence for src_qp; port->lock,
					 * too
					 */
	bool ce_since : 1;		/* a CE packet left after cnp_tx_ns; not
					 * updated by iqcn_flow_ce_brief()
					 */
	bool idle_check_only : 1;	/* due is an idle check, not T1 */
	bool lapsed : 1;		/* due is in queue->lapsed */
	bool polls_wait : 1;		/* the next packet makes up for polls */
	u8 owed : 4;			/* CNPs that the receiver still owes
					 * (algo/pending.h)
					 */

	/* offset 128: touched when a CE packet leaves; queue->lock */
	u64 ce_ns;			/* when the last sampled CE packet left,
					 * or the flow was created; may lag
					 * behind by a window and the time of a
					 * chunk (iqcn_flow_ce_brief());
					 * updated by iqcn_queue_ce_steady()
					 * under the root lock only
					 */
	u64 ce_sent;			/* sampled CE packets; root lock to
					 * write
					 */
	u64 base_ns;			/* start of T1, 0: not started yet */
	struct iqcn_cnp_srtt cnp_srtt;	/* times of the receiver's CNPs */
	struct iqcn_deadline due;	/* T1, or the next idle check */

	/* offset 192: CNPs, state changes and readers; queue->lock */
	u64 cnp_tx_ns;			/* when we last sent a CNP, 0: never,
					 * or the last one failed
					 */
	u64 cnp_rx_ns;			/* when a CNP of the receiver last
					 * passed the filter
					 */
	u64 cnps_seen;			/* CNPs of the receiver that passed the
					 * filter
					 */
	u64 cnps_sent;			/* generated CNPs */
	struct rhash_head sqp_node;	/* in port->by_sqp if paired;
					 * port->lock
					 */
	u64 born_ns;			/* creation time, unique in a port */
	u32 credit;			/* of IQCN_NOTIFY_PI (algo/pi.h) */
	u32 src_qp;			/* the sender's QP; port->lock, too */
	u32 id;				/* in port->by_id, not 0 */
	/* UDP source port of the last packet that was checked for a change, as
	 * each sampled CE packet is with IQCN_CNP_SPORT_ECHO.  A root lock of
	 * the port to write; queues of mq may race, which is harmless.
	 */
	u16 sport;
	u16 cnp_sport;			/* of the receiver's CNPs, 0: none */
};

/* Get the key of a live flow, whose hosts exist */
static inline void iqcn_flow_key(const struct iqcn_flow *flow,
				 struct iqcn_key *key)
{
	*key = flow->hosts->key;
	key->qp = flow->qp;
}

/* Hash function of port->flows and port->by_sqp */
static inline u32 iqcn_key_hash(const void *key, u32 len, u32 seed)
{
	return jhash2(key, sizeof(struct iqcn_key) / sizeof(u32), seed);
}

/* Is a key, apart from its QP, that of these hosts? */
static inline bool iqcn_key_of_hosts(const struct iqcn_key *key,
				     const struct iqcn_hosts *hosts)
{
	return !memcmp(key, &hosts->key, offsetof(struct iqcn_key, qp));
}

/* Does the flow leave through this queue?  Stable under queue->lock. */
static inline bool iqcn_flow_of(const struct iqcn_flow *flow,
				const struct iqcn_queue *q)
{
	return READ_ONCE(flow->queue) == q;
}

/* Does the evidence for the flow's sender suffice for a CNP?  queue->lock */
static inline bool iqcn_flow_paired(const struct iqcn_queue *q,
				    const struct iqcn_flow *flow)
{
	return flow->grade != IQCN_PAIR_NONE && flow->grade >= q->p.pair;
}

/* The flow's own enum iqcn_detect bits, without the queue's; queue->lock */
static inline u32 iqcn_flow_own(const struct iqcn_queue *q,
				const struct iqcn_flow *flow)
{
	const struct iqcn_flow_ext *e = flow->ext;

	return e && e->epoch == q->epoch ? e->congested : 0;
}

/* Is the queue congested, or the flow on its own?  queue->lock */
static inline bool iqcn_flow_congested(const struct iqcn_queue *q,
				       const struct iqcn_flow *flow)
{
	return q->congested || iqcn_flow_own(q, flow);
}

/* Move the flow to the tail of its LRU list; queue->lock */
static inline void iqcn_flow_used(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	list_move_tail(&flow->lru, &q->lru[iqcn_pair_assured(flow->grade)]);
}

/* Time in units of 65.5 us.  32 bits cover three days, and an idle flow expires
 * after at most a day.
 */
static inline u32 iqcn_mac_ticks(u64 ns)
{
	return ns >> 16;
}

/* Is a CNP pending for the flow?  queue->lock */
static inline bool iqcn_flow_has_pending(const struct iqcn_flow *flow)
{
	return flow->ext && !RB_EMPTY_NODE(&flow->ext->pending.node);
}

/* Length of the current run of CE packets with consecutive PSNs; queue->lock */
static inline u32 iqcn_flow_run(const struct iqcn_flow *flow)
{
	return flow->ext ? flow->ext->continuity.run : 0;
}

/* Was the last generated CNP less than min-gap ago?  queue->lock */
static inline bool iqcn_flow_too_soon(const struct iqcn_queue *q,
				      const struct iqcn_flow *flow, u64 now_ns)
{
	return flow->cnp_tx_ns && now_ns - flow->cnp_tx_ns < q->p.min_gap_ns;
}

/* Number of queued packets that hold a reference, in all queues of the port */
static inline u32 iqcn_flow_queued(const struct iqcn_flow *flow)
{
	return refcount_read(&flow->refs) - 1;
}

/* Does telemetry or a measure read the gradient? */
static inline bool iqcn_bts_wants_gradient(const struct iqcn_queue *q)
{
	return q->p.telemetry || (q->p.measure & IQCN_MEASURE_GRADIENT);
}

/* Record a packet of a flow that arrives or leaves: once per epoch, its MACs
 * and that the flow is active; and the gradient, if something reads it.  The
 * MACs of an unpaired flow are recorded for every packet.  For nearly every
 * packet there is nothing to record (bench "marked").  @now_ns: not less than
 * in an earlier call.  queue->lock
 */
static __always_inline void iqcn_bts_note_packet(struct iqcn_queue *q,
						 struct iqcn_flow *flow,
						 const struct ethhdr *eth,
						 u64 now_ns)
{
	if (flow->active_epoch != q->active.epoch ||
	    now_ns - q->active.start_ns >= IQCN_ACTIVE_EPOCH_NS ||
	    flow->grade == IQCN_PAIR_NONE || iqcn_bts_wants_gradient(q))
		iqcn_bts_note_change(q, flow, eth, now_ns);
}

/* Record the last PSN of a packet that leaves; root lock */
static inline void iqcn_flow_set_psn(struct iqcn_flow *flow, u32 psn, u32 segs)
{
	WRITE_ONCE(flow->psn, (psn + segs - 1) & IQCN_PSN_MASK);
}

/* Record a sampled CE packet that leaves, without queue->lock and without
 * reading the clock: q->clock_ns, which may be stale, is the time.  The caller
 * ensures that only counters and meters need the packet.  This function checks
 * the other conditions: the packet has a flow of this queue; the chunk is not
 * complete; all flows of the hosts are assured, because otherwise the packet's
 * PSN is evidence for pairing; and ->ce_ns is less than a window old, or
 * iqcn_queue_ce_steady() can update it.
 * Root lock, BHs off.
 * Return: false if iqcn_queue_ce_sent() must handle the packet.
 */
static __always_inline bool iqcn_flow_ce_brief(struct iqcn_queue *q,
					       struct iqcn_flow *flow, u32 bytes,
					       u32 psn, u32 segs)
{
	u64 skipped_bytes = q->skipped_bytes + bytes;

	/* RCU keeps the hosts of a live flow */
	if (!flow || READ_ONCE(flow->queue) != q ||
	    READ_ONCE(flow->hosts->n_unassured) ||
	    skipped_bytes >= iqcn_chunk_bytes(q))
		return false;
	if ((s64)(q->clock_ns - READ_ONCE(flow->ce_ns)) >= (s64)q->p.window_ns &&
	    !iqcn_queue_ce_steady(q, flow))
		return false;
	q->skipped_bytes = skipped_bytes;
	iqcn_add(q->st.ce_sampled, segs);
	iqcn_flow_set_psn(flow, psn, segs);
	/* if the flow moves to another queue meanwhile, both queues may update
	 * the count at the same time, and one of the updates is lost
	 */
	WRITE_ONCE(flow->ce_sent, READ_ONCE(flow->ce_sent) + segs);
	return true;
}

/* flow.c */
void iqcn_key_init(struct iqcn_key *key, const struct iqcn_port *port,
		   const struct in6_addr *src, const struct in6_addr *dst,
		   u32 qp, const struct iqcn_vlan *vlan);
int iqcn_flow_tables_init(struct iqcn_port *port);
void iqcn_flow_tables_free(struct iqcn_port *port);
int iqcn_flow_queue_init(struct iqcn_queue *q);
void iqcn_flow_queue_free(struct iqcn_queue *q);
struct iqcn_flow *iqcn_flow_find(struct iqcn_port *port,
				 const struct iqcn_key *key);
struct iqcn_flow *iqcn_flow_cached(struct iqcn_queue *q,
				   const struct iqcn_pkt *pkt);
struct iqcn_flow *iqcn_flow_recent(struct iqcn_queue *q,
				   const struct iqcn_pkt *pkt);
struct iqcn_flow *iqcn_flow_get(struct iqcn_queue *q,
				const struct iqcn_pkt *pkt, bool *made);
void iqcn_flow_free_late(struct iqcn_flow *flow);
void iqcn_flow_move(struct iqcn_flow *flow, struct iqcn_queue *q);
void iqcn_flow_follow(struct iqcn_flow *flow, struct iqcn_queue *q);
void iqcn_flow_kill(struct iqcn_flow *flow);
void iqcn_flow_evict(struct iqcn_queue *q, struct iqcn_flow *flow);
u64 iqcn_flow_youngest(struct iqcn_port *port);
int iqcn_flow_read(struct iqcn_flow *flow,
		   int (*read)(struct iqcn_queue *q, struct iqcn_flow *flow,
			       void *arg), void *arg);
int iqcn_flow_module_init(void);
void iqcn_flow_module_exit(void);

/* Drop a reference; any context */
static inline void iqcn_flow_put(struct iqcn_flow *flow)
{
	if (refcount_dec_and_test(&flow->refs))
		iqcn_flow_free_late(flow);
}

/* flow_ext.c */
struct iqcn_flow_ext *iqcn_ext_get(struct iqcn_flow *flow);
void iqcn_ext_trim(const struct iqcn_queue *q, struct iqcn_flow *flow);
void iqcn_ext_free(struct iqcn_flow *flow);

/**
 * enum iqcn_forget - flows that gc.c removes
 * @IQCN_FORGET_AGED: expired flows
 * @IQCN_FORGET_SURPLUS: flows above the limit of the queue
 * @IQCN_FORGET_ALL: all flows, because the queue leaves its port
 */
enum iqcn_forget {
	IQCN_FORGET_AGED,
	IQCN_FORGET_SURPLUS,
	IQCN_FORGET_ALL,
};

/* gc.c */
void iqcn_gc_init(struct iqcn_queue *q);
void iqcn_gc_start(struct iqcn_queue *q);
void iqcn_gc_hurry(struct iqcn_queue *q);
struct iqcn_flow *iqcn_gc_early_drop(struct iqcn_queue *q);
void iqcn_gc_forget(struct iqcn_queue *q, enum iqcn_forget why);
u64 iqcn_gc_flush(struct iqcn_port *port, const struct iqcn_queue *only);

/* A packet of a flow leaves through a queue.  Root lock, BHs off; takes
 * port->lock.
 */
static inline void iqcn_flow_leaves(struct iqcn_flow *flow,
				    struct iqcn_queue *q)
{
	if (unlikely(READ_ONCE(flow->queue) != q))
		iqcn_flow_follow(flow, q);
}

/* pair.c */
int iqcn_pair_tables_init(struct iqcn_port *port);
void iqcn_pair_tables_free(struct iqcn_port *port);
void iqcn_pair_set_window(struct iqcn_port *port, u64 packets);
int iqcn_pair_join(struct iqcn_port *port, struct iqcn_flow *flow,
		   const struct iqcn_key *key);
void iqcn_pair_leave(struct iqcn_port *port, struct iqcn_flow *flow);
void iqcn_pair_note_sport(struct iqcn_port *port, struct iqcn_flow *flow,
			  u16 sport);
void iqcn_pair_note_sent(struct iqcn_queue *q, struct iqcn_flow *flow,
			 const struct sk_buff *skb, u32 psn, u32 segs);
void iqcn_pair_note_psn(struct iqcn_queue *q, const struct iqcn_pkt *pkt,
			u32 segs);
struct iqcn_flow *iqcn_pair_find(struct iqcn_port *port,
				 const struct iqcn_key *key);
void iqcn_pair_evidence(struct iqcn_port *port, struct iqcn_flow *flow,
			enum iqcn_pair_grade grade, u32 qp);
void iqcn_pair_withdraw(struct iqcn_port *port, struct iqcn_flow *flow, u32 qp);
unsigned int iqcn_pair_candidates(struct iqcn_port *port,
				  const struct iqcn_key *key);
void iqcn_pair_from_cnp(struct iqcn_port *port, const struct iqcn_key *key);
unsigned int iqcn_pair_echoed(struct iqcn_port *port,
			      const struct iqcn_key *key, u32 psn,
			      struct iqcn_flow **flow);
struct iqcn_flow *iqcn_pair_sends(struct iqcn_port *port,
				  const struct iqcn_key *key, u32 psn);
void iqcn_pair_from_echo(struct iqcn_port *port, struct iqcn_flow *flow,
			 u32 qp, u32 psn);
struct iqcn_flow *iqcn_pair_by_sport(struct iqcn_port *port,
				     const struct iqcn_key *key,
				     const struct iqcn_pkt *pkt);
void iqcn_pair_from_sport(struct iqcn_port *port, struct iqcn_flow *flow, u32 qp);

/* Record the PSNs and the source port of a packet that leaves, for pairing,
 * unless all flows of its hosts are assured.  The flow is alive.  Root lock,
 * BHs off; takes port->lock.
 */
static inline void iqcn_pair_sent(struct iqcn_queue *q, struct iqcn_flow *flow,
				  const struct sk_buff *skb, u32 psn, u32 segs)
{
	if (READ_ONCE(flow->hosts->n_unassured))
		iqcn_pair_note_sent(q, flow, skb, psn, segs);
}

#endif /* _IQCN_FLOW_H */
