// SPDX-License-Identifier: GPL-2.0
/*
 * Back to the sender: a CNP when a packet arrives, while it still has the whole
 * queue before it, instead of when it has left.
 *
 *	ECT packet of a RoCEv2 flow arrives
 *	      |
 *	      |-- it was CE already, ce-in silent --> nothing: whoever marked it has
 *	      |					      notified the sender
 *	      v
 *	 pi: the controller's probability, by the flow's credit (pi.h)
 *	      | no
 *	      v
 *	 wreb: the profile's probability for how congested the queue is, by lot
 *	      | yes, of either
 *	      v
 *	 sender known, no CNP less than min-gap ago, budget left?  -- no --> counted
 *	      | yes
 *	      v
 *	 CNP; mark the packet CE, so that later boxes with ce-in silent send none
 *
 *	it is dropped --> CNP, be it CE or not; after min-gap if that is not over
 *
 * One CNP for a packet, whatever asks for it.  Nothing is sent from here, for the
 * qdisc's lock is held: the queue's timer does at once (trigger.c).
 *
 * With pi a flow whose packets are further apart than T1 has its chances every
 * T1 all the same, for as long as it may just be slow (IQCN_POLL_GAPS): its
 * sender must not speed up between two packets.
 *
 * Source: US 12388756 B2 (WREB), description (11)-(16), clauses 1-9.
 */
#include <linux/etherdevice.h>

#include "algo/bts.h"
#include "iqcn.h"

/* Measures beside the depth are asked from such a part of the level that matters on:
 * a queue that drains so many times slower than it should is still seen in time,
 * and one that has grown and is less deep by now
 */
#define IQCN_FASTPATH_PER_LEVEL	16

/* The way to a sender has changed if its packets have come by no other for so long */
#define IQCN_MACS_STAY_NS	NSEC_PER_SEC

/* The depth below which nobody has anything to decide */
static u32 iqcn_bts_fastpath_bytes(const struct iqcn_queue *q)
{
	u64 calm = (u64)q->p.mark.kmin_bytes + 1, level;

	if (iqcn_queue_tells(q, IQCN_NOTIFY_WREB)) {
		level = iqcn_profile_from_bytes(&q->p.profile, &q->p.mark);
		if (q->p.measure & ~IQCN_MEASURE_DEPTH)
			level /= IQCN_FASTPATH_PER_LEVEL;
		calm = min(calm, level);
	}
	if (iqcn_queue_tells(q, IQCN_NOTIFY_PI)) {
		/* one that runs decides about every packet */
		if (iqcn_pi_runs(&q->pi))
			return 0;
		calm = min(calm, (u64)iqcn_pi_wake_bytes(&q->p.pi) + 1);
	}
	return min_t(u64, calm, U32_MAX);
}

static void iqcn_bts_set_fastpath(struct iqcn_queue *q)
{
	u32 fastpath_bytes = iqcn_bts_fastpath_bytes(q);

	if (fastpath_bytes != q->fastpath_bytes)
		WRITE_ONCE(q->fastpath_bytes, fastpath_bytes);
}

/**
 * iqcn_bts_set_params() - there are other parameters
 * @q: queue
 *
 * Context: queue->lock.
 */
void iqcn_bts_set_params(struct iqcn_queue *q)
{
	if (!iqcn_queue_tells(q, IQCN_NOTIFY_PI))
		memset(&q->pi, 0, sizeof(q->pi));
	iqcn_bts_set_fastpath(q);
}

/**
 * iqcn_bts_reset() - the queue is empty, and what it was is forgotten
 * @q: queue
 *
 * Context: queue->lock.
 */
void iqcn_bts_reset(struct iqcn_queue *q)
{
	memset(&q->pi, 0, sizeof(q->pi));
	memset(&q->gradient, 0, sizeof(q->gradient));
	/* flows keep the number of an epoch: the next one is another */
	q->active.n = 0;
	q->active.last = 0;
	iqcn_bts_set_fastpath(q);
}

/**
 * iqcn_bts_run() - let the controller do what it has to
 * @q: queue
 * @now_ns: not less than in an earlier call
 *
 * Context: queue->lock.
 * Return: its probability, 0 if there is none: 0 .. IQCN_PROB_ONE.
 */
u64 iqcn_bts_run(struct iqcn_queue *q, u64 now_ns)
{
	u32 depth_bytes = iqcn_depth_bytes(q);
	bool ran = iqcn_pi_runs(&q->pi);

	if (!iqcn_queue_tells(q, IQCN_NOTIFY_PI))
		return 0;
	iqcn_active_run(&q->active, now_ns);
	if (iqcn_pi_run(&q->pi, &q->p.pi, iqcn_active_flows(&q->active),
			depth_bytes, now_ns) != ran)
		iqcn_bts_set_fastpath(q);
	return iqcn_pi_prob(&q->pi, &q->p.pi, depth_bytes);
}

/* How congested the queue is, by the largest of the measures */
static u32 iqcn_bts_level_bytes(const struct iqcn_queue *q, u64 now_ns)
{
	u32 depth_bytes = iqcn_depth_bytes(q), level = 0;
	u64 bandwidth_bps = q->p.bandwidth_bps ?: READ_ONCE(q->link_bps);
	u64 drain_bps = READ_ONCE(q->drain_bps);

	if (q->p.measure & IQCN_MEASURE_DEPTH)
		level = depth_bytes;
	if (q->p.measure & IQCN_MEASURE_GRADIENT)
		level = max(level, iqcn_gradient_level(&q->gradient,
						       q->p.window_ns, now_ns));
	/* who shows it does not keep others from measuring */
	if ((s64)(now_ns - READ_ONCE(q->drain_ns)) > (s64)IQCN_DRAIN_MAX_AGE_NS)
		drain_bps = 0;
	if (q->p.measure & IQCN_MEASURE_DELAY)
		level = max(level, iqcn_delay_level(depth_bytes, drain_bps,
						    bandwidth_bps));
	return level;
}

static u64 iqcn_bts_wreb(const struct iqcn_queue *q, u64 now_ns)
{
	if (!iqcn_queue_tells(q, IQCN_NOTIFY_WREB))
		return 0;
	return iqcn_profile_prob(&q->p.profile, &q->p.mark,
				 iqcn_bts_level_bytes(q, now_ns));
}

/* Does a packet cause a CNP?  The controller is asked first, for its credit counts
 * every packet; what it gathers too soon is kept for the first packet after.
 */
static enum iqcn_cause iqcn_bts_cause(struct iqcn_queue *q,
				      struct iqcn_flow *flow, u32 segs,
				      struct iqcn_lot *lot, u64 now_ns)
{
	u64 prob = iqcn_bts_run(q, now_ns);

	if (prob && iqcn_flow_too_soon(q, flow, now_ns))
		iqcn_pi_save(&flow->credit, prob, segs);
	else if (prob && iqcn_pi_credit(&flow->credit, prob, segs))
		return IQCN_CAUSE_PI;
	prob = iqcn_bts_wreb(q, now_ns);
	if (iqcn_lot_decide(lot, min_t(u64, prob * segs, IQCN_PROB_ONE)))
		return IQCN_CAUSE_WREB;
	return IQCN_CAUSE_NONE;
}

/* CNPs go where the data come from.  But any host of the sender's network can send
 * data in its name, to have them: so as long as packets with the MACs that are
 * known keep coming, others change nothing.  Before it is paired nothing is sent.
 */
static void iqcn_bts_macs(struct iqcn_flow *flow, const struct ethhdr *eth,
			  u64 now_ns)
{
	u32 ticks = iqcn_mac_ticks(now_ns) - flow->mac_ticks;
	bool same;

	/* a paired flow's are compared once a tick: bench "marked" */
	if (!ticks && flow->grade != IQCN_PAIR_NONE)
		return;
	same = ether_addr_equal(flow->src_mac, eth->h_source);
	if (!same && flow->mac_ticks && flow->grade != IQCN_PAIR_NONE &&
	    ticks < iqcn_mac_ticks(IQCN_MACS_STAY_NS))
		return;
	if (!same)
		ether_addr_copy(flow->src_mac, eth->h_source);
	/* a CNP of another box may have come from that box's own address */
	if (!ether_addr_equal(flow->dst_mac, eth->h_dest))
		ether_addr_copy(flow->dst_mac, eth->h_dest);
	flow->mac_ticks = iqcn_mac_ticks(now_ns);
}

/* By itself, so that who is called for each packet saves no registers for it */
static noinline void iqcn_bts_young(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	iqcn_flow_used(q, flow);
}

/* Once per epoch it is young again, be it for a chance while it is held, which is as
 * well as ageing has to know it
 */
static __always_inline void iqcn_bts_active(struct iqcn_queue *q,
					    struct iqcn_flow *flow, u64 now_ns)
{
	if (unlikely(iqcn_active_seen(&q->active, &flow->active_epoch, now_ns)))
		iqcn_bts_young(q, flow);
}

/* Telemetry and one of the measures read the gradient, and nothing else does */
static bool iqcn_bts_wants_gradient(const struct iqcn_queue *q)
{
	return q->p.telemetry || (q->p.measure & IQCN_MEASURE_GRADIENT);
}

/**
 * iqcn_bts_seen() - a packet of a flow, arriving or leaving
 * @q: queue
 * @flow: flow of that queue
 * @eth: the packet's Ethernet header
 * @now_ns: not less than in an earlier call
 *
 * Context: queue->lock.
 */
void iqcn_bts_seen(struct iqcn_queue *q, struct iqcn_flow *flow,
		   const struct ethhdr *eth, u64 now_ns)
{
	iqcn_bts_macs(flow, eth, now_ns);
	iqcn_bts_active(q, flow, now_ns);
	if (iqcn_bts_wants_gradient(q))
		iqcn_gradient_add(&q->gradient, q->p.window_ns, now_ns,
				  iqcn_depth_bytes(q));
}

static void iqcn_bts_spacing(struct iqcn_flow *flow, u64 now_ns)
{
	flow->arrive_gap_ns = iqcn_bts_gap_ns(flow->arrived_ns, now_ns);
	WRITE_ONCE(flow->arrived_ns, now_ns);
}

/* A CNP, if the sender is known and had none just now.  Return: it will be sent; else
 * why not has been counted.
 */
static bool iqcn_bts_tell(struct iqcn_queue *q, struct iqcn_flow *flow,
			  enum iqcn_cause cause, bool was_ce, u64 now_ns)
{
	if (!iqcn_flow_paired(q, flow)) {
		iqcn_inc(q->st.cnp_unpaired);
		return false;
	}
	if (iqcn_flow_too_soon(q, flow, now_ns)) {
		iqcn_inc(q->st.cnp_gap);
		return false;
	}
	return iqcn_trigger_now(q, flow, now_ns, cause, was_ce);
}

/**
 * iqcn_bts_arrived() - a RoCEv2 data packet of an ECT flow arrives
 * @q: queue
 * @flow: its flow
 * @eth: its Ethernet header
 * @segs: its segments: each is a packet to the sender
 * @lot: its lot, which decides about marking as well
 * @ecn: its ECN bits when it came
 *
 * Context: enqueue: root lock, BHs off.
 * Return: it is to be marked, because it causes a CNP, which will be sent.
 */
bool iqcn_bts_arrived(struct iqcn_queue *q, struct iqcn_flow *flow,
		      const struct ethhdr *eth, u32 segs, struct iqcn_lot *lot,
		      u8 ecn)
{
	enum iqcn_cause cause;
	bool told = false;
	u64 now_ns;

	if (unlikely(READ_ONCE(flow->queue) != q))
		iqcn_flow_move(flow, q);

	spin_lock(&q->lock);
	/* it may have died */
	if (!iqcn_flow_of(flow, q))
		goto out;
	now_ns = ktime_get_ns();
	iqcn_bts_seen(q, flow, eth, now_ns);
	iqcn_bts_spacing(flow, now_ns);
	if (!iqcn_bts_may(q->p.ce_in, ecn, false)) {
		/* its sender is somebody else's business */
		iqcn_bts_run(q, now_ns);
		iqcn_deadline_cancel(&flow->poll);
	} else {
		cause = iqcn_bts_cause(q, flow, segs, lot, now_ns);
		if (iqcn_pi_runs(&q->pi) && iqcn_flow_paired(q, flow))
			iqcn_deadline_restart(&flow->poll, &q->polls,
					      now_ns);
		if (cause != IQCN_CAUSE_NONE)
			told = iqcn_bts_tell(q, flow, cause,
					     ecn == INET_ECN_CE, now_ns);
	}
	iqcn_trigger_arm(q, now_ns);
out:
	spin_unlock(&q->lock);
	return told;
}

/**
 * iqcn_bts_dropped() - one is dropped
 * @q: queue
 * @flow: its flow
 * @eth: its Ethernet header
 * @was_ce: it was CE already
 * @waited: it did not arrive just now, so it says nothing of when its flow sends
 *
 * Context: root lock, BHs off.
 */
void iqcn_bts_dropped(struct iqcn_queue *q, struct iqcn_flow *flow,
		      const struct ethhdr *eth, bool was_ce, bool waited)
{
	u64 now_ns, at_ns;

	if (unlikely(READ_ONCE(flow->queue) != q))
		iqcn_flow_move(flow, q);

	spin_lock(&q->lock);
	if (iqcn_flow_of(flow, q)) {
		now_ns = ktime_get_ns();
		if (!waited) {
			iqcn_bts_seen(q, flow, eth, now_ns);
			iqcn_bts_spacing(flow, now_ns);
		}
		iqcn_bts_run(q, now_ns);
		at_ns = now_ns;
		if (flow->cnp_tx_ns)
			at_ns = max(at_ns, flow->cnp_tx_ns + q->p.min_gap_ns);
		iqcn_trigger_at(q, flow, at_ns, IQCN_CAUSE_DROP, was_ce);
		iqcn_trigger_arm(q, now_ns);
	}
	spin_unlock(&q->lock);
}

/**
 * iqcn_bts_poll() - T1 has passed since a flow's last chance
 * @q: queue
 * @flow: flow of that queue
 * @now_ns: not less than in an earlier call
 *
 * Context: queue->lock; the caller arms the timer.
 * Return: it is to be told.
 */
bool iqcn_bts_poll(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns)
{
	u64 prob = iqcn_bts_run(q, now_ns);
	u32 chances;

	/* if the probability is 0 its next packet is soon enough */
	if (!prob || !iqcn_flow_paired(q, flow) ||
	    !iqcn_queue_since_reset(q, flow->poll.base_ns) ||
	    !iqcn_bts_polls(flow->arrive_gap_ns, q->p.t1_ns,
			    now_ns - flow->arrived_ns)) {
		iqcn_deadline_cancel(&flow->poll);
		return false;
	}
	/* the timer may be late */
	chances = min_t(u64, div_u64(now_ns - flow->poll.base_ns, q->p.t1_ns),
			IQCN_POLL_GAPS);
	iqcn_bts_active(q, flow, now_ns);
	iqcn_deadline_restart(&flow->poll, &q->polls, now_ns);
	if (iqcn_flow_too_soon(q, flow, now_ns)) {
		iqcn_pi_save(&flow->credit, prob, chances);
		return false;
	}
	return iqcn_pi_credit(&flow->credit, prob, chances);
}

/**
 * iqcn_bts_prob() - the probability that a packet of now would cause a CNP
 * @q: queue
 * @now_ns: now
 *
 * Context: queue->lock.
 * Return: as a share of U32_MAX.
 */
u32 iqcn_bts_prob(const struct iqcn_queue *q, u64 now_ns)
{
	u32 depth_bytes = iqcn_depth_bytes(q);
	u64 prob = iqcn_bts_wreb(q, now_ns);
	struct iqcn_pi pi = q->pi;

	/* as it is, if nobody has looked for a while */
	if (iqcn_queue_tells(q, IQCN_NOTIFY_PI) &&
	    iqcn_pi_run(&pi, &q->p.pi, iqcn_active_flows(&q->active),
			depth_bytes, now_ns))
		prob = max(prob, iqcn_pi_prob(&pi, &q->p.pi, depth_bytes));
	return min_t(u64, prob, U32_MAX);
}
