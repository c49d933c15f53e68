// SPDX-License-Identifier: GPL-2.0
/*
 * notify wreb and notify pi ("back to the sender"): send a CNP when a packet
 * arrives rather than when it leaves, so that the CNP does not wait for the
 * queue to drain.
 *
 *	ECT packet of a RoCEv2 flow arrives
 *	      |
 *	      |-- CE and ce-in silent --> no CNP: the box that marked it has
 *	      |				  notified the sender
 *	      v
 *	 pi: does the flow's credit, which grows by the controller's
 *	     probability, suffice for a CNP?  (algo/pi.h)
 *	      | no
 *	      v
 *	 wreb: is a random number below the profile's probability for the
 *	       congestion of the queue?
 *	      | yes to either
 *	      v
 *	 the gate (cnp.c)  -- no --> counted.  With pi, a packet of an unpaired
 *	      |			     flow is still marked, so that the
 *	      | yes		     receiver sends the CNP.
 *	      v
 *	 CNP; mark the packet CE, so later boxes with ce-in silent send none
 *
 *	dropped --> CNP, even if the packet is CE, but at least min-gap after
 *		    the flow's last one
 *
 * A packet causes at most one CNP, even if both methods are on.  Enqueue holds
 * the root lock, so BH work sends the CNP once the lock is released (timer.c).
 *
 * With pi, a flow is sparse if its packets are further apart than T1.  So that
 * the sender does not speed up between two packets, a sparse flow is polled:
 * once per T1, or more often if the controller's probability exceeds 1, it gets
 * credit without a packet.  Polls end when the flow seems to have stopped
 * (IQCN_POLL_GAPS).  The timer polls a flow if its credit may suffice for a CNP
 * before its next packet.  If not, and the packet is expected soon
 * (IQCN_POLL_LATE_PART), the packet makes up for the polls when it arrives, at
 * the probability of that time.  If the packet is expected later, the timer
 * polls the flow unless that would add little credit (IQCN_POLL_SMALL_PART).
 *
 * Source: US 12388756 B2 (WREB), description (11)-(16), clauses 1-9.
 */
#include <linux/etherdevice.h>

#include "algo/bts.h"
#include "algo/profile.h"
#include "algo/share.h"
#include "iqcn.h"

/* Measures other than the depth are evaluated if the depth is at least the
 * profile's first level divided by this.  So they detect a queue that drains up
 * to 16 times slower than it should, or that has grown and then shrunk again.
 */
#define IQCN_FASTPATH_PER_LEVEL	16

/* "notify grant" tracks packets that arrive at a depth of at least the
 * threshold divided by this
 */
#define IQCN_GRANT_TRACKS	4

/* A sender has moved if no packet of its flow has had the known MACs for this
 * long
 */
#define IQCN_MACS_STAY_NS	NSEC_PER_SEC

/* The depth below which packets take the fast path: no method needs them */
static u32 iqcn_bts_fastpath_bytes(const struct iqcn_queue *q)
{
	u64 limit = U32_MAX, level;

	/* the next packet must reach iqcn_pfc_arrives() */
	if (unlikely(q->pfc.count || q->pfc.judge || q->pfc.add_rx))
		return 0;
	if (iqcn_queue_notifies(q, IQCN_NOTIFY_GRANT))
		limit = q->p.pfc.threshold_bytes / IQCN_GRANT_TRACKS;
	/* when a packet arrives at or above the threshold, pfc.c checks whether
	 * the device is stopped
	 */
	if (q->p.pfc_source == IQCN_PFC_TXQ && !q->pfc.link_paused)
		limit = min(limit, (u64)q->p.pfc.threshold_bytes);
	if (unlikely(q->quiet))
		return limit;
	limit = min(limit, (u64)q->p.mark.kmin_bytes + 1);
	if (iqcn_queue_notifies(q, IQCN_NOTIFY_WREB)) {
		level = iqcn_profile_from_bytes(&q->p.profile, &q->p.mark);
		if (q->p.measure & ~IQCN_MEASURE_DEPTH)
			level /= IQCN_FASTPATH_PER_LEVEL;
		limit = min(limit, level);
	}
	if (iqcn_queue_notifies(q, IQCN_NOTIFY_PI)) {
		/* a running controller gives credit for every packet */
		if (iqcn_pi_runs(&q->pi))
			return 0;
		limit = min(limit, (u64)iqcn_pi_wake_bytes(&q->p.pi) + 1);
	}
	return limit;
}

/**
 * iqcn_bts_set_fastpath() - set the depth below which packets take the fast
 * path
 * @q: queue
 *
 * Context: queue->lock.
 */
void iqcn_bts_set_fastpath(struct iqcn_queue *q)
{
	u32 fastpath_bytes = iqcn_bts_fastpath_bytes(q);

	if (fastpath_bytes != q->fastpath_bytes)
		WRITE_ONCE(q->fastpath_bytes, fastpath_bytes);
}

/* Set the interval between two polls of a sparse flow */
static void iqcn_bts_set_poll_gap(struct iqcn_queue *q)
{
	u64 prob = max_t(s64, q->pi.prob, 0);

	q->poll_gap_ns = q->p.t1_ns;
	/* rare, so the division does not matter */
	if (prob > IQCN_PROB_ONE)
		q->poll_gap_ns /= iqcn_pi_polls(&q->p.pi, prob);
}

static void iqcn_bts_set_params(struct iqcn_queue *q,
				const struct iqcn_params *old, u64 now_ns)
{
	if (!iqcn_queue_notifies(q, IQCN_NOTIFY_PI))
		memset(&q->pi, 0, sizeof(q->pi));
	/* begin with the lowest reference again */
	if (q->p.pi.qref_bytes != old->pi.qref_bytes)
		q->pi.lowered_bytes = q->p.pi.qref_bytes;
	q->pi_until_ns = 0;
	iqcn_bts_set_poll_gap(q);
	iqcn_bts_set_fastpath(q);
}

/* Reset the controller, the gradient and the number of active flows */
static void iqcn_bts_reset(struct iqcn_queue *q)
{
	memset(&q->pi, 0, sizeof(q->pi));
	q->pi_until_ns = 0;
	memset(&q->gradient, 0, sizeof(q->gradient));
	/* keep the number of the epoch: flows carry it, so the next epoch must
	 * have another number
	 */
	q->active.n = 0;
	q->active.last = 0;
	iqcn_bts_set_poll_gap(q);
	iqcn_bts_set_fastpath(q);
}

static noinline u64 iqcn_bts_control_steps(struct iqcn_queue *q,
					   u32 depth_bytes, u64 now_ns)
{
	bool ran = iqcn_pi_runs(&q->pi), runs;

	if (!iqcn_queue_notifies(q, IQCN_NOTIFY_PI))
		return 0;
	iqcn_active_run(&q->active, now_ns);
	runs = iqcn_pi_run(&q->pi, &q->p.pi, iqcn_active_flows(&q->active),
			   depth_bytes, now_ns);
	if (runs != ran)
		iqcn_bts_set_fastpath(q);
	if (unlikely(q->pi.prob > (s64)IQCN_PROB_ONE))
		iqcn_pi_limit(&q->pi, READ_ONCE(q->port->budget.interval_ns),
			      q->p.t1_ns, iqcn_active_flows(&q->active));
	iqcn_bts_set_poll_gap(q);
	q->pi_until_ns = !runs ? 0 :
			 min(iqcn_pi_until_ns(&q->pi, &q->p.pi),
			     q->active.start_ns + IQCN_ACTIVE_EPOCH_NS);
	/* The controller may have started, or polls may be due earlier.  If
	 * this is a run of the timer, iqcn_timer_run() arms the timer at its
	 * end.
	 */
	iqcn_timer_arm(q, now_ns);
	return iqcn_pi_prob(&q->pi, &q->p.pi, depth_bytes);
}

/* Run the steps of the controller that are due.  Return: its probability, which
 * may exceed IQCN_PROB_ONE; 0 if it does not run.
 */
static __always_inline u64 iqcn_bts_control(struct iqcn_queue *q, u64 now_ns)
{
	u32 depth_bytes = iqcn_depth_bytes(q);

	/* nearly every packet takes this branch (bench "marked") */
	if (likely(now_ns < q->pi_until_ns && iqcn_pi_near(&q->p.pi, depth_bytes)))
		return iqcn_pi_note(&q->pi, &q->p.pi, depth_bytes, now_ns);
	return iqcn_bts_control_steps(q, depth_bytes, now_ns);
}

/* How congested the queue is: the largest of the measures */
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
	/* readers of statistics do not hold the root lock */
	if ((s64)(now_ns - READ_ONCE(q->drain_ns)) > (s64)IQCN_DRAIN_MAX_AGE_NS)
		drain_bps = 0;
	if (q->p.measure & IQCN_MEASURE_DELAY)
		level = max(level, iqcn_delay_level(depth_bytes, drain_bps,
						    bandwidth_bps));
	return level;
}

static u64 iqcn_bts_wreb(const struct iqcn_queue *q, u64 now_ns)
{
	if (!iqcn_queue_notifies(q, IQCN_NOTIFY_WREB))
		return 0;
	return iqcn_profile_prob(&q->p.profile, &q->p.mark,
				 iqcn_bts_level_bytes(q, now_ns));
}

/* The part of @prob that a packet adds to its flow's credit.  If a sparse flow
 * is polled several times per T1, each of its packets adds no more than a poll.
 */
static u64 iqcn_bts_packet_prob(const struct iqcn_queue *q,
				const struct iqcn_flow *flow, u64 prob)
{
	if (likely(prob <= IQCN_PROB_ONE) ||
	    flow->arrive_gap_ns <= q->poll_gap_ns)
		return prob;
	return div_u64(prob, iqcn_pi_polls(&q->p.pi, prob));
}

/* Does a packet cause a CNP?  The controller, whose probability is @prob,
 * decides first, because every packet and every missed poll adds to the flow's
 * credit.  Credit that is added within min-gap is saved for the first packet or
 * poll after min-gap.
 */
static enum iqcn_cause iqcn_bts_cause(struct iqcn_queue *q,
				      struct iqcn_flow *flow, u64 prob, u32 polls,
				      u32 segs, struct iqcn_lot *lot, u64 now_ns)
{
	prob = iqcn_bts_packet_prob(q, flow, prob);
	if (prob && iqcn_flow_too_soon(q, flow, now_ns))
		iqcn_pi_save(&flow->credit, prob, polls);
	else if (prob && iqcn_pi_credit(&flow->credit, prob, polls))
		return IQCN_CAUSE_PI;
	prob = iqcn_bts_wreb(q, now_ns);
	if (iqcn_lot_decide(lot, min_t(u64, prob * segs, IQCN_PROB_ONE)))
		return IQCN_CAUSE_WREB;
	return IQCN_CAUSE_NONE;
}

/* CNPs go to the MAC address from which the data come.  Any host in the
 * sender's network can forge data packets to divert the CNPs to itself, so
 * other MACs are ignored while packets with the known MACs arrive.  An unpaired
 * flow takes any MACs, because no CNP is sent for it.
 */
static void iqcn_bts_macs(struct iqcn_flow *flow, const struct ethhdr *eth,
			  u64 now_ns)
{
	u32 ticks = iqcn_mac_ticks(now_ns) - flow->mac_ticks;
	bool same;

	/* compare a paired flow's MACs only once per tick */
	if (!ticks && flow->grade != IQCN_PAIR_NONE)
		return;
	same = ether_addr_equal(flow->src_mac, eth->h_source);
	if (!same && flow->mac_ticks && flow->grade != IQCN_PAIR_NONE &&
	    ticks < iqcn_mac_ticks(IQCN_MACS_STAY_NS))
		return;
	if (!same)
		ether_addr_copy(flow->src_mac, eth->h_source);
	/* if the receiver is behind a router, h_dest is the router's address */
	if (!ether_addr_equal(flow->dst_mac, eth->h_dest))
		ether_addr_copy(flow->dst_mac, eth->h_dest);
	flow->mac_ticks = iqcn_mac_ticks(now_ns);
}

/* Count a flow as active, for a packet or a poll.  Its place in the LRU list is
 * updated once per epoch, which is precise enough for aging.
 */
static void iqcn_bts_active(struct iqcn_queue *q, struct iqcn_flow *flow,
			    u64 now_ns)
{
	if (iqcn_active_seen(&q->active, &flow->active_epoch, now_ns))
		iqcn_flow_used(q, flow);
}

/**
 * iqcn_bts_note_change() - slow path of iqcn_bts_note_packet()
 * @q: queue
 * @flow: flow of that queue
 * @eth: the packet's Ethernet header
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock.
 */
void iqcn_bts_note_change(struct iqcn_queue *q, struct iqcn_flow *flow,
			  const struct ethhdr *eth, u64 now_ns)
{
	iqcn_bts_macs(flow, eth, now_ns);
	iqcn_bts_active(q, flow, now_ns);
	if (iqcn_bts_wants_gradient(q))
		iqcn_gradient_add(&q->gradient, q->p.window_ns, now_ns,
				  iqcn_depth_bytes(q));
}

/* Number of polls that were left out since the flow's last packet, and for
 * which the packet that has arrived must compensate
 */
static u32 iqcn_bts_missed(const struct iqcn_queue *q,
			   const struct iqcn_flow *flow, u64 now_ns)
{
	u64 from_ns, to_ns;

	if (!flow->polls_wait ||
	    likely(now_ns - flow->arrived_ns < q->poll_gap_ns))
		return 0;
	from_ns = max3(flow->arrived_ns, q->pfc.rest_to_ns, q->reset_ns);
	to_ns = flow->arrived_ns + iqcn_bts_polled_ns(flow->arrive_gap_ns,
						      q->p.t1_ns);
	return iqcn_bts_polls_missed(from_ns, to_ns, q->poll_gap_ns, now_ns);
}

static void iqcn_bts_cancel_poll(struct iqcn_flow *flow)
{
	iqcn_deadline_cancel(&flow->poll);
	flow->polls_wait = false;
}

/* Decide after a packet of a paired flow what polls the flow until its next
 * packet.  Called only while the controller runs.  Return: true if the timer
 * polls the flow.
 */
static bool iqcn_bts_restart_poll(struct iqcn_queue *q, struct iqcn_flow *flow,
				  u64 prob, u64 now_ns)
{
	enum iqcn_bts_poller poller = iqcn_bts_poller(flow->arrive_gap_ns,
						      q->poll_gap_ns,
						      flow->credit, prob);

	flow->polls_wait = poller == IQCN_POLLS_PACKET;
	if (poller == IQCN_POLLS_TIMER)
		iqcn_deadline_restart(&flow->poll, &q->polls, now_ns);
	else
		iqcn_deadline_cancel(&flow->poll);
	return poller == IQCN_POLLS_TIMER;
}

static void iqcn_bts_spacing(struct iqcn_flow *flow, u64 now_ns)
{
	flow->arrive_gap_ns = iqcn_bts_gap_ns(flow->arrived_ns, now_ns);
	WRITE_ONCE(flow->arrived_ns, now_ns);
}

/**
 * iqcn_bts_arrived() - handle a RoCEv2 data packet of an ECT flow that arrives
 * @q: queue
 * @flow: flow of the packet
 * @skb: packet
 * @segs: number of segments, each of which counts as a packet
 * @lot: random number of the packet (algo/lot.h), also for the marking curve
 * @ecn: the packet's ECN bits on arrival
 *
 * Context: enqueue: root lock, BHs off.
 * Return: true if the caller must mark the packet, because it causes a CNP that
 * will be sent, or because pi wants a CNP but the flow is not paired.
 */
bool iqcn_bts_arrived(struct iqcn_queue *q, struct iqcn_flow *flow,
		      const struct sk_buff *skb, u32 segs, struct iqcn_lot *lot,
		      u8 ecn)
{
	bool marks = false, work = false;
	enum iqcn_cause cause;
	u64 now_ns, prob;
	u32 missed;

	if (unlikely(READ_ONCE(flow->queue) != q))
		iqcn_flow_move(flow, q);

	spin_lock(&q->lock);
	/* the flow may have died */
	if (!iqcn_flow_of(flow, q))
		goto out;
	now_ns = ktime_get_ns();
	q->clock_ns = now_ns;
	iqcn_bts_note_packet(q, flow, (const void *)skb->data, now_ns);
	missed = iqcn_bts_missed(q, flow, now_ns);
	iqcn_bts_spacing(flow, now_ns);
	prob = iqcn_bts_control(q, now_ns);
	if (!iqcn_bts_may_notify(q->p.ce_in, ecn, false)) {
		/* another box has notified the sender: the packet adds no
		 * credit, the credit of the missed polls is only saved, and the
		 * flow is not polled until its next packet
		 */
		iqcn_pi_save(&flow->credit, iqcn_bts_packet_prob(q, flow, prob),
			     missed);
		iqcn_bts_cancel_poll(flow);
	} else {
		cause = iqcn_bts_cause(q, flow, prob, segs + missed, segs, lot,
				       now_ns);
		if (iqcn_pi_runs(&q->pi) && iqcn_flow_paired(q, flow))
			work = iqcn_bts_restart_poll(q, flow, prob, now_ns);
		else
			flow->polls_wait = false;
		if (cause != IQCN_CAUSE_NONE) {
			marks = iqcn_pending_now(q, flow, now_ns, cause,
						 ecn == INET_ECN_CE, skb);
			work = true;
		}
		/* pi keeps the queue below Kmin, where nothing else marks */
		if (cause == IQCN_CAUSE_PI && !iqcn_flow_paired(q, flow))
			marks = true;
	}
	/* nearly all packets cause no work for the timer: bench "marked" */
	if (work)
		iqcn_timer_arm(q, now_ns);
out:
	spin_unlock(&q->lock);
	return marks;
}

/**
 * iqcn_bts_dropped() - handle a RoCEv2 data packet of an ECT flow that is
 * dropped
 * @q: queue
 * @flow: flow of the packet
 * @skb: packet
 * @was_ce: the packet was CE when it was dropped
 * @waited: the packet was queued before, so it does not arrive now
 *
 * Context: root lock, BHs off.
 */
void iqcn_bts_dropped(struct iqcn_queue *q, struct iqcn_flow *flow,
		      const struct sk_buff *skb, bool was_ce, bool waited)
{
	u64 now_ns, at_ns;

	if (unlikely(READ_ONCE(flow->queue) != q))
		iqcn_flow_move(flow, q);

	spin_lock(&q->lock);
	if (iqcn_flow_of(flow, q)) {
		now_ns = ktime_get_ns();
		if (!waited) {
			iqcn_bts_note_packet(q, flow, (const void *)skb->data,
					     now_ns);
			iqcn_bts_spacing(flow, now_ns);
		}
		if (!q->quiet)
			iqcn_bts_control(q, now_ns);
		at_ns = now_ns;
		if (flow->cnp_tx_ns)
			at_ns = max(at_ns, flow->cnp_tx_ns + q->p.min_gap_ns);
		iqcn_pending_at(q, flow, at_ns, IQCN_CAUSE_DROP, was_ce, skb);
		iqcn_timer_arm(q, now_ns);
	}
	spin_unlock(&q->lock);
}

/* Poll a sparse flow, poll_gap_ns after its last packet or poll.
 * Return: true if its credit suffices for a CNP.
 */
static bool iqcn_bts_poll(struct iqcn_queue *q, struct iqcn_flow *flow,
			  u64 now_ns)
{
	u64 prob = iqcn_bts_control(q, now_ns);
	u32 polls;

	/* with a probability of 0, polls can wait for the flow's next packet */
	if (!prob || !iqcn_flow_paired(q, flow) ||
	    !iqcn_queue_since_reset(q, flow->poll.base_ns) ||
	    now_ns - flow->arrived_ns >
	    iqcn_bts_polled_ns(flow->arrive_gap_ns, q->p.t1_ns)) {
		iqcn_deadline_cancel(&flow->poll);
		return false;
	}
	/* a late timer makes up for polls it missed */
	polls = min_t(u64, div_u64(now_ns - max(flow->poll.base_ns,
						q->pfc.rest_to_ns),
				   q->poll_gap_ns), IQCN_POLL_GAPS);
	prob = div_u64(prob, iqcn_pi_polls(&q->p.pi, prob));
	iqcn_bts_active(q, flow, now_ns);
	iqcn_deadline_restart(&flow->poll, &q->polls, now_ns);
	if (iqcn_flow_too_soon(q, flow, now_ns)) {
		iqcn_pi_save(&flow->credit, prob, polls);
		return false;
	}
	return iqcn_pi_credit(&flow->credit, prob, polls);
}

/* Prepare a CNP.  T1 of the flow restarts even if the gate rejects the CNP. */
static bool iqcn_bts_send(struct iqcn_queue *q, struct iqcn_flow *flow,
			  struct iqcn_notice *n, struct iqcn_why *why,
			  u64 now_ns)
{
	why->base_ns = flow->base_ns;
	iqcn_notify_timer_restart(q, flow, now_ns);
	return iqcn_cnp_prepare(q, flow, n, why, now_ns);
}

/* Prepare a CNP that a poll causes.  noinline, so that other polls need no
 * stack protector.
 */
static noinline bool iqcn_bts_poll_send(struct iqcn_queue *q,
					struct iqcn_flow *flow,
					struct iqcn_notice *n, u64 due_ns,
					u64 now_ns)
{
	struct iqcn_why why = { .cause = IQCN_CAUSE_POLL, .due_ns = due_ns };

	return iqcn_bts_send(q, flow, n, &why, now_ns);
}

/* The notify methods of a cause; one of them must still be on to send its CNP
 */
static u32 iqcn_bts_methods(enum iqcn_cause cause)
{
	switch (cause) {
	case IQCN_CAUSE_GRANT:
		return IQCN_NOTIFY_GRANT;
	case IQCN_CAUSE_PFC:
		return IQCN_NOTIFY_ALL;
	default:
		return IQCN_NOTIFY_BTS;
	}
}

/* Handle a pending CNP that a packet caused.  Return: true if @n is to be
 * injected.
 */
static bool iqcn_bts_pending(struct iqcn_queue *q, struct iqcn_flow *flow,
			     struct iqcn_notice *n, u64 now_ns)
{
	struct iqcn_flow_ext *e = flow->ext;
	struct iqcn_why why = {
		.cause = e->cnp_cause,
		.was_ce = e->cnp_was_ce,
		.paid = e->cnp_paid,
		.sport = e->cnp_sport,
		.window_bytes = e->cnp_window_bytes,
		.due_ns = e->pending.expires,
	};
	bool send;

	iqcn_pending_del(q, flow);
	send = (q->p.notify & iqcn_bts_methods(why.cause)) &&
	       iqcn_bts_send(q, flow, n, &why, now_ns);
	if (!send)
		iqcn_pending_refund(q, flow);
	iqcn_ext_trim(q, flow);
	return send;
}

/* The time at which a sparse flow should be polled */
static u64 iqcn_bts_poll_due_ns(const struct iqcn_queue *q,
				const struct iqcn_deadline *poll)
{
	return max(poll->base_ns, q->pfc.rest_to_ns) + q->poll_gap_ns;
}

/* The time at which the first sparse flow is polled */
static u64 iqcn_bts_poll_ns(const struct iqcn_queue *q,
			    const struct iqcn_deadline *first)
{
	return max3(iqcn_bts_poll_due_ns(q, first), q->polls_ns,
		    q->backoff.until_ns);
}

static void iqcn_bts_begin(struct iqcn_queue *q, u64 now_ns)
{
	if (iqcn_pi_runs(&q->pi))
		iqcn_bts_control(q, now_ns);
}

static u64 iqcn_bts_next_ns(struct iqcn_queue *q, u64 now_ns)
{
	struct iqcn_deadline *first = iqcn_deadline_first(&q->polls);
	u64 next_ns = KTIME_MAX;

	/* stop an idle controller, even if no packet arrives any more */
	if (iqcn_pi_runs(&q->pi))
		next_ns = q->pi.deep_ns + IQCN_PI_END_NS;
	if (first)
		next_ns = min(next_ns, iqcn_bts_poll_ns(q, first));
	return next_ns;
}

static bool iqcn_bts_run(struct iqcn_queue *q, struct iqcn_notice *n, bool *send,
			 u64 now_ns)
{
	struct iqcn_deadline *first = iqcn_deadline_first(&q->polls);
	struct iqcn_flow *flow;
	u64 due_ns;

	if (!first || iqcn_bts_poll_ns(q, first) > now_ns)
		return false;
	q->polls_ran = true;
	/* Half of the burst is reserved for CNPs that polls do not cause.  The
	 * flow stays first in the list, so that polls stay in order.
	 */
	q->polls_wait = !iqcn_budget_half(&q->port->budget, now_ns);
	if (q->polls_wait) {
		iqcn_inc(q->st.cnp_budget);
		return false;
	}
	flow = container_of(first, struct iqcn_flow, poll);
	due_ns = iqcn_bts_poll_due_ns(q, first);
	*send = iqcn_bts_poll(q, flow, now_ns) &&
		iqcn_bts_poll_send(q, flow, n, due_ns, now_ns);
	return true;
}

/* After a run in which a poll was due, pause the polls (algo/deadline.h) */
static void iqcn_bts_end(struct iqcn_queue *q, u64 now_ns, u64 took_ns)
{
	struct iqcn_deadline *first = iqcn_deadline_first(&q->polls);

	if (!q->polls_ran)
		return;
	q->polls_ns = now_ns +
		iqcn_polls_rest_ns(took_ns, q->poll_gap_ns,
				   first && !q->polls_wait &&
				   iqcn_deadline_due(first, q->poll_gap_ns,
						     now_ns));
	q->polls_ran = false;
}

static void iqcn_bts_init(struct iqcn_queue *q)
{
	INIT_LIST_HEAD(&q->polls);
}

static void iqcn_bts_cancel(struct iqcn_flow *flow)
{
	iqcn_bts_cancel_poll(flow);
}

const struct iqcn_timer_ops iqcn_notify_bts_ops = {
	.causes = BIT(IQCN_CAUSE_WREB) | BIT(IQCN_CAUSE_PI) |
		  BIT(IQCN_CAUSE_POLL) | BIT(IQCN_CAUSE_DROP) |
		  BIT(IQCN_CAUSE_PFC) | BIT(IQCN_CAUSE_GRANT),
	.rests = true,
	.init = iqcn_bts_init,
	.set_params = iqcn_bts_set_params,
	.reset = iqcn_bts_reset,
	.cancel = iqcn_bts_cancel,
	.begin = iqcn_bts_begin,
	.next_ns = iqcn_bts_next_ns,
	.run = iqcn_bts_run,
	.pending = iqcn_bts_pending,
	.end = iqcn_bts_end,
};

/**
 * iqcn_bts_prob() - get the probability that a packet would cause a CNP now
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

	if (unlikely(q->quiet))
		return 0;
	/* run the steps on a copy, because readers change no state */
	if (iqcn_queue_notifies(q, IQCN_NOTIFY_PI) &&
	    iqcn_pi_run(&pi, &q->p.pi, iqcn_active_flows(&q->active),
			depth_bytes, now_ns))
		prob = max(prob, iqcn_pi_prob(&pi, &q->p.pi, depth_bytes));
	return min_t(u64, prob, U32_MAX);
}
