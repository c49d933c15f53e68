// SPDX-License-Identifier: GPL-2.0
/*
 * notify timer: send a CNP for a congested flow that got none for T1.
 *
 *	CE packet leaves		CNP of the receiver arrives
 *	      | base ce, both, or           | base cnp, both, or it
 *	      | the first after a silence   | cancels a deferred one
 *	      v                             v
 *	 deadline := now + T1          deadline := now + T1
 *	      |
 *	      |  T1 expires: found by the timer, the next scan, or the next
 *	      v  CE packet
 *	 congested?  -- no --> lapsed: due at the onset
 *	      | yes
 *	      v
 *	 is the flow active?  -- no --> no deadline
 *	      | yes
 *	      v
 *	 defer the CNP for T2, if there is a delay
 *	      | still congested?  -- no --> canceled
 *	      v
 *	 the gate (cnp.c)  -- no --> counted
 *	      | yes                     |
 *	      v                         v
 *	 inject a CNP, deadline := now + T1
 *
 * Source: US 12395431 B2, steps S208-S211 and claim 1: timer (65), period (66),
 * interval between CE packets (67), at once (70) or after T2 (72), (93).  Base
 * cnp follows the iQCN feature of switches, which compares the time since a
 * flow's last CNP with T1.  While the receiver's CNPs are closer than T1, the
 * box sends none.
 *
 * A flow is active if one of its packets is queued, or one of its CE packets
 * has left since the last generated CNP.  The patent's timer runs once per CE
 * packet, which is not enough for a flow whose packets wait in a deep queue for
 * longer than T1.  A CNP of the receiver does not make a flow inactive, because
 * it answers the packet that started T1.  With this method alone, T1 of an
 * inactive flow starts only when a CE packet of the flow leaves, because the
 * detectors run when packets leave.  So the first packet of an inactive flow
 * may wait a long time without a CNP.
 *
 * A deadline that expires while neither the queue nor the flow is congested
 * lapses.  Its CNP is due as soon as the queue becomes congested, or at the
 * next scan, because T1 is over and the patent does not require a CE packet
 * after the onset.  A flow that has stopped gets no such CNP.  It has stopped
 * if no packet of it is queued, and no CE packet of it has left for the idle
 * timeout of a flow's own congestion.  Lapsed deadlines are handled after the
 * others, the most recent one first, so that a million stopped flows delay no
 * CNP.
 */
#include "algo/sample.h"
#include "iqcn.h"

/* The time at which the timer handles a deadline that expires at @due_ns */
static u64 iqcn_t1_handle_ns(const struct iqcn_queue *q, u64 due_ns)
{
	if (q->p.trigger == IQCN_TRIGGER_PERIOD)
		due_ns = iqcn_deadline_scan_ns(due_ns, q->p.period_ns);
	return max(due_ns, q->backoff.until_ns);
}

/* The time at which T1 of a deadline expires.  If T1 was running during a quiet
 * time, it restarts when that time ends (pfc.c).
 */
static u64 iqcn_t1_due_ns(const struct iqcn_queue *q,
			  const struct iqcn_deadline *d)
{
	return max(d->base_ns, q->pfc.rest_to_ns) + q->p.t1_ns;
}

/* The time at which the first deadline is handled */
static u64 iqcn_t1_first_ns(const struct iqcn_queue *q,
			    const struct iqcn_deadline *first)
{
	return iqcn_t1_handle_ns(q, iqcn_t1_due_ns(q, first));
}

/* The time at which the CNP of a lapsed deadline became due */
static u64 iqcn_t1_lapsed_due_ns(const struct iqcn_queue *q,
				 const struct iqcn_deadline *lapsed)
{
	return max(iqcn_t1_due_ns(q, lapsed), q->state_ns);
}

/* The time at which a lapsed deadline is handled */
static u64 iqcn_t1_lapsed_ns(const struct iqcn_queue *q,
			     const struct iqcn_deadline *lapsed)
{
	return iqcn_t1_handle_ns(q, iqcn_t1_lapsed_due_ns(q, lapsed));
}

/* The most recent lapsed deadline.  NULL if there is none, if the queue is
 * clear, or if the longest idle timeout has passed since the base of this
 * deadline, and so since the bases of all others.
 */
static struct iqcn_deadline *iqcn_t1_last_lapsed(struct iqcn_queue *q,
						 u64 now_ns)
{
	struct iqcn_deadline *last = iqcn_deadline_last(&q->lapsed);

	if (!last || !q->congested ||
	    now_ns - last->base_ns >= iqcn_flow_idle_ns(q->p.window_ns,
							 q->p.t1_ns,
							 IQCN_GAP_MAX_NS))
		return NULL;
	return last;
}

static u64 iqcn_t1_next_ns(struct iqcn_queue *q, u64 now_ns)
{
	struct iqcn_deadline *first = iqcn_deadline_first(&q->deadlines);
	struct iqcn_deadline *lapsed = iqcn_t1_last_lapsed(q, now_ns);
	u64 next_ns = KTIME_MAX;

	/* a deadline that is not before the timer's expiry need not rearm it */
	if (first && iqcn_t1_due_ns(q, first) < q->timer_ns)
		next_ns = iqcn_t1_first_ns(q, first);
	if (lapsed)
		next_ns = min(next_ns, iqcn_t1_lapsed_ns(q, lapsed));
	return next_ns;
}

/* Is the idle timeout of the flow's own congestion over? */
static bool iqcn_t1_idle(const struct iqcn_queue *q,
			 const struct iqcn_flow *flow, u64 now_ns)
{
	/* ->ce_ns is updated without queue->lock, so it may be later than
	 * @now_ns
	 */
	u64 since_ns = max(min(READ_ONCE(flow->ce_ns), now_ns),
			   q->pfc.rest_to_ns);

	return now_ns - since_ns >= iqcn_flow_idle_ns(q->p.window_ns,
						      q->p.t1_ns,
						      flow->ce_gap_ns);
}

/* Has the sender of the flow probably stopped? */
static bool iqcn_t1_stopped(const struct iqcn_queue *q,
			    const struct iqcn_flow *flow, u64 now_ns)
{
	return !iqcn_flow_queued(flow) && iqcn_t1_idle(q, flow, now_ns);
}

/* May unsampled packets of the flow have left since the last sampled one?  The
 * next sampled packet may be late, because a notified sender slows down.
 */
static bool iqcn_t1_unsampled(const struct iqcn_queue *q,
			      const struct iqcn_flow *flow, u64 now_ns)
{
	return q->p.sample > 1 && flow->ce_gap_ns &&
	       !iqcn_t1_idle(q, flow, now_ns);
}

/* Are unsampled packets so dense that they would have restarted T1 before it
 * expired?
 */
static bool iqcn_t1_dense(const struct iqcn_queue *q,
			  const struct iqcn_flow *flow, u64 now_ns)
{
	return q->p.base != IQCN_BASE_CNP &&
	       iqcn_t1_unsampled(q, flow, now_ns) &&
	       iqcn_sample_gap_ns(flow->ce_gap_ns, q->p.sample) < q->p.t1_ns;
}

/* Is the flow active: is one of its packets queued, or has one of its CE
 * packets left since the last generated CNP?
 */
static bool iqcn_t1_active(const struct iqcn_queue *q,
			   const struct iqcn_flow *flow, u64 now_ns)
{
	u32 spacing_ns;

	if (flow->ce_since || iqcn_flow_queued(flow))
		return true;
	if (!iqcn_t1_unsampled(q, flow, now_ns))
		return false;
	spacing_ns = iqcn_sample_gap_ns(flow->ce_gap_ns, q->p.sample);
	return now_ns - flow->cnp_tx_ns >= spacing_ns ||
	       iqcn_sample_waits(iqcn_depth_bytes(q),
				 iqcn_queue_drain_bps(q), spacing_ns);
}

/* Set a deadline at which only the idle timeout of the flow is checked */
static void iqcn_t1_idle_check(struct iqcn_queue *q, struct iqcn_flow *flow,
			       u64 now_ns)
{
	iqcn_deadline_restart(&flow->due, &q->deadlines, now_ns);
	flow->idle_check_only = true;
	flow->lapsed = false;
}

/**
 * iqcn_notify_timer_restart() - start T1 of a flow
 * @q: queue
 * @flow: flow of that queue
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * With IQCN_TRIGGER_GAP, or without IQCN_NOTIFY_TIMER, the deadline is only an
 * idle check, and only for a flow that is congested on its own.
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_notify_timer_restart(struct iqcn_queue *q, struct iqcn_flow *flow,
			       u64 now_ns)
{
	bool timer = (q->p.notify & IQCN_NOTIFY_TIMER) &&
		     q->p.trigger != IQCN_TRIGGER_GAP;

	flow->base_ns = now_ns;
	if (timer || iqcn_flow_own(q, flow))
		iqcn_t1_idle_check(q, flow, now_ns);
	else
		iqcn_deadline_cancel(&flow->due);
	flow->idle_check_only = !timer;
}

static u32 iqcn_t1_delay_ns(const struct iqcn_queue *q,
			    const struct iqcn_flow *flow)
{
	return q->p.delay_ns == IQCN_DELAY_AUTO ? flow->cnp_srtt.smooth_ns :
						  q->p.delay_ns;
}

/* A CNP is due: defer it for T2 */
static void iqcn_t1_defer(struct iqcn_queue *q, struct iqcn_flow *flow,
			  u64 now_ns)
{
	u64 at_ns = now_ns + iqcn_t1_delay_ns(q, flow);

	if (iqcn_flow_has_pending(flow) && flow->ext->cnp_ended == q->ended) {
		iqcn_pending_second(q, flow, at_ns);
	} else {
		/* a CNP for congestion that has ended is not sent */
		iqcn_pending_drop(q, flow);
		if (!iqcn_pending_add(q, flow, at_ns, IQCN_CAUSE_TIMER, false)) {
			iqcn_notify_timer_restart(q, flow, now_ns);
			return;
		}
		flow->ext->cnp_wait_ns = min_t(u64, at_ns - flow->base_ns,
					       U32_MAX);
		flow->ext->cnp_owed = flow->owed;
		iqcn_inc(q->st.cnp_deferred);
	}
	if (iqcn_flow_own(q, flow))
		iqcn_t1_idle_check(q, flow, now_ns);
	else
		iqcn_deadline_cancel(&flow->due);
}

/* Time since the start of T1.  If a sampled packet started T1, later packets
 * that were not sampled would have restarted it, so their estimated gap is
 * returned.
 */
static u64 iqcn_t1_elapsed_ns(const struct iqcn_queue *q,
			      const struct iqcn_flow *flow, u64 now_ns)
{
	u64 ns = now_ns - max(flow->base_ns, q->pfc.rest_to_ns);

	if (q->p.base == IQCN_BASE_CNP)
		return ns;
	return iqcn_sample_gap_ns(ns, q->p.sample);
}

/* Does T1 run, or has it lapsed?  In either case its deadline is armed. */
static bool iqcn_t1_running(const struct iqcn_queue *q,
			    const struct iqcn_flow *flow)
{
	return iqcn_deadline_armed(&flow->due) && !flow->idle_check_only &&
	       iqcn_queue_since_reset(q, flow->base_ns);
}

/**
 * iqcn_notify_timer_ce() - handle a CE packet of a flow that leaves
 * @q: queue
 * @flow: flow of that queue; its detectors have run
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_notify_timer_ce(struct iqcn_queue *q, struct iqcn_flow *flow,
			  u64 now_ns)
{
	bool running;

	/* the pending CNP of another packet serves this one, too */
	if (iqcn_pending_of_packet(flow))
		return;
	/* T1 will start with the deferred CNP, unless the flow was silent */
	if (iqcn_flow_has_pending(flow) && q->p.base == IQCN_BASE_CNP &&
	    iqcn_sample_gap_ns(now_ns - flow->ce_ns, q->p.sample) < q->p.t1_ns)
		return;

	if (q->p.trigger == IQCN_TRIGGER_GAP) {
		/* the first packet after a silence starts T1 */
		running = iqcn_queue_since_reset(q, flow->base_ns) &&
			  iqcn_flow_congested(q, flow) &&
			  !iqcn_t1_idle(q, flow, now_ns);
		if (running && (q->p.notify & IQCN_NOTIFY_TIMER) &&
		    iqcn_t1_elapsed_ns(q, flow, now_ns) >= q->p.t1_ns) {
			iqcn_t1_defer(q, flow, now_ns);
			iqcn_notify_timer_restart(q, flow, now_ns);
			return;
		}
	} else {
		/* the first packet after a lapsed deadline starts T1 */
		running = iqcn_t1_running(q, flow) && !flow->lapsed;
	}
	if (!running || q->p.base != IQCN_BASE_CNP)
		iqcn_notify_timer_restart(q, flow, now_ns);
	else if (iqcn_flow_own(q, flow) && !iqcn_deadline_armed(&flow->due))
		iqcn_t1_idle_check(q, flow, now_ns);
}

/**
 * iqcn_notify_timer_cnp_rx() - handle a CNP of the receiver
 * @q: queue
 * @flow: flow of that queue
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_notify_timer_cnp_rx(struct iqcn_queue *q, struct iqcn_flow *flow,
			      u64 now_ns)
{
	if (iqcn_flow_has_pending(flow)) {
		/* the receiver cannot have answered a packet that was dropped
		 * or has just arrived
		 */
		if (iqcn_pending_of_packet(flow))
			return;
		if (iqcn_pending_answered(q, flow, now_ns) &&
		    !iqcn_flow_has_pending(flow) && !iqcn_t1_running(q, flow)) {
			iqcn_notify_timer_restart(q, flow, now_ns);
			return;
		}
	}
	if (q->p.base == IQCN_BASE_CE ||
	    (q->p.trigger != IQCN_TRIGGER_GAP && !iqcn_t1_running(q, flow)))
		return;
	iqcn_notify_timer_restart(q, flow, now_ns);
}

/* If T2 has changed, cancel all deferred CNPs, and restart T1 of their flows */
static void iqcn_t1_set_params(struct iqcn_queue *q,
			       const struct iqcn_params *old, u64 now_ns)
{
	struct timerqueue_node *node, *next;
	struct iqcn_flow *flow;

	if (q->p.delay_ns == old->delay_ns)
		return;
	for (node = timerqueue_getnext(&q->pending); node; node = next) {
		next = timerqueue_iterate_next(node);
		flow = iqcn_pending_flow(node);
		if (iqcn_pending_of_packet(flow))
			continue;
		iqcn_pending_drop(q, flow);
		iqcn_ext_trim(q, flow);
		iqcn_notify_timer_restart(q, flow, now_ns);
	}
}

/* Handle a flow's deadline, T1 or an idle check, which expired at @due_ns.
 * Return: true if @n is to be injected.
 */
static bool iqcn_t1_expired(struct iqcn_queue *q, struct iqcn_flow *flow,
			    struct iqcn_notice *n, u64 due_ns, u64 now_ns)
{
	struct iqcn_why why = {
		.cause = IQCN_CAUSE_TIMER,
		.due_ns = due_ns,
	};

	if (iqcn_flow_own(q, flow) && iqcn_t1_idle(q, flow, now_ns))
		iqcn_congestion_set_flow(q, flow, 0, IQCN_REASON_QUIET, now_ns);
	if (!iqcn_flow_congested(q, flow) && iqcn_t1_running(q, flow)) {
		iqcn_deadline_lapse(&flow->due, &q->lapsed);
		flow->lapsed = true;
		return false;
	}
	if (!iqcn_flow_congested(q, flow) ||
	    !iqcn_queue_since_reset(q, flow->due.base_ns) ||
	    (flow->lapsed && iqcn_t1_stopped(q, flow, now_ns))) {
		iqcn_deadline_cancel(&flow->due);
		return false;
	}
	if ((iqcn_flow_has_pending(flow) && flow->idle_check_only) ||
	    iqcn_pending_of_packet(flow) || q->p.trigger == IQCN_TRIGGER_GAP ||
	    !(q->p.notify & IQCN_NOTIFY_TIMER) ||
	    !iqcn_t1_active(q, flow, now_ns) ||
	    iqcn_t1_dense(q, flow, now_ns)) {
		/* keep an idle check armed: the flow's own congestion must time
		 * out, or unsampled packets may still leave
		 */
		if (iqcn_flow_own(q, flow) ||
		    iqcn_t1_unsampled(q, flow, now_ns))
			iqcn_t1_idle_check(q, flow, now_ns);
		else
			iqcn_deadline_cancel(&flow->due);
		return false;
	}
	if (iqcn_flow_has_pending(flow) || iqcn_t1_delay_ns(q, flow)) {
		iqcn_t1_defer(q, flow, now_ns);
		return false;
	}
	why.base_ns = flow->base_ns;
	/* T1 starts again even if the gate rejects the CNP */
	iqcn_notify_timer_restart(q, flow, now_ns);
	return iqcn_cnp_prepare(q, flow, n, &why, now_ns);
}

static bool iqcn_t1_run(struct iqcn_queue *q, struct iqcn_notice *n, bool *send,
			u64 now_ns)
{
	struct iqcn_deadline *first = iqcn_deadline_first(&q->deadlines);
	u64 due_ns;

	if (first && iqcn_deadline_due(first, q->p.t1_ns, now_ns) &&
	    iqcn_t1_first_ns(q, first) <= now_ns) {
		due_ns = iqcn_t1_due_ns(q, first);
	} else {
		first = iqcn_t1_last_lapsed(q, now_ns);
		if (!first || iqcn_t1_lapsed_ns(q, first) > now_ns)
			return false;
		due_ns = iqcn_t1_lapsed_due_ns(q, first);
	}
	*send = iqcn_t1_expired(q, container_of(first, struct iqcn_flow, due),
				n, due_ns, now_ns);
	return true;
}

/* Send a deferred CNP after T2.  If a packet has left since the CNP became due,
 * T1 of that packet continues, or has caused a second CNP.  Return: true if @n
 * is to be injected.
 */
static bool iqcn_t1_send(struct iqcn_queue *q, struct iqcn_flow *flow,
			 struct iqcn_notice *n, u64 now_ns)
{
	struct iqcn_flow_ext *e = flow->ext;
	struct iqcn_why why = {
		.cause = IQCN_CAUSE_TIMER,
		.base_ns = e->pending.expires - e->cnp_wait_ns,
		.due_ns = e->pending.expires,
	};
	bool later, send;

	iqcn_pending_del(q, flow);
	later = e->next_ns || iqcn_t1_running(q, flow);
	send = iqcn_cnp_prepare(q, flow, n, &why, now_ns);
	flow->ce_since |= later;
	if (e->next_ns)
		iqcn_pending_promote(q, flow);
	else if (!later && q->p.trigger != IQCN_TRIGGER_GAP)
		iqcn_notify_timer_restart(q, flow, now_ns);
	return send;
}

/* Handle a deferred CNP that is due.  It is canceled if the congestion that
 * caused it has ended (even if the queue is congested again), or is in doubt
 * because of a pause, or if "notify timer" is off now.
 */
static bool iqcn_t1_pending(struct iqcn_queue *q, struct iqcn_flow *flow,
			    struct iqcn_notice *n, u64 now_ns)
{
	bool send = false;

	if (flow->ext->cnp_ended != q->ended || !iqcn_flow_congested(q, flow) ||
	    !(q->p.notify & IQCN_NOTIFY_TIMER) || q->quiet) {
		iqcn_pending_drop(q, flow);
		if (iqcn_flow_congested(q, flow))
			iqcn_notify_timer_restart(q, flow, now_ns);
	} else {
		send = iqcn_t1_send(q, flow, n, now_ns);
	}
	iqcn_ext_trim(q, flow);
	return send;
}

static void iqcn_t1_init(struct iqcn_queue *q)
{
	INIT_LIST_HEAD(&q->deadlines);
	INIT_LIST_HEAD(&q->lapsed);
}

static void iqcn_t1_cancel(struct iqcn_flow *flow)
{
	iqcn_deadline_cancel(&flow->due);
}

const struct iqcn_timer_ops iqcn_notify_timer_ops = {
	.causes = IQCN_CAUSES_DEFERRED,
	.rests = true,
	.init = iqcn_t1_init,
	.set_params = iqcn_t1_set_params,
	.cancel = iqcn_t1_cancel,
	.next_ns = iqcn_t1_next_ns,
	.run = iqcn_t1_run,
	.pending = iqcn_t1_pending,
};
