// SPDX-License-Identifier: GPL-2.0
/*
 * When is a CNP due, and when is it sent?
 *
 *	CE packet leaves		CNP of the receiver seen
 *	      | base ce, both, or           | base cnp, both, or it
 *	      | the first after a silence   | cancels a pending one
 *	      v                             v
 *	 deadline := now + T1          deadline := now + T1
 *	      |
 *	      |  T1 passes: found by the timer, by the next scan, or by the next
 *	      v  CE packet
 *	 congested?  -- no, but the flow is active --> lapsed: due when it is
 *	      | yes
 *	      v
 *	 is the flow active?  -- no --> no deadline
 *	      | yes
 *	      v
 *	 hold it for T2, if there is a delay
 *	      | still congested?  -- no --> it is dropped
 *	      v
 *	 paired well enough, and within the budget?  -- no --> counted
 *	      | yes                                             |
 *	      v                                                 v
 *	 inject a CNP, deadline := now + T1               deadline := now + T1
 *
 * The timer also sends what bts.c wants to be sent now, and sees to the chances of
 * the flows it holds.
 *
 * Source: US 12395431 B2, steps S208-S211 and claim 1: timer (65), period (66),
 * interval of two CE packets (67), at once (70) or after T2 (72), (93).  Base
 * cnp is the iQCN feature's: the interval of a flow's CNPs is held against T1
 * while it grows, so a receiver that keeps it shorter is left alone.
 *
 * A flow is active if a CE packet of it waits in the queue or has left since
 * the last CNP of ours: the patent's timer runs once per CE packet, which is not
 * enough for a flow whose packets wait in a deep queue for longer than T1.  A
 * CNP of the receiver makes no flow inactive: it answers the packet that began
 * the silence.  Only a CE packet that leaves makes an inactive flow active
 * again, because only then do the detectors know that the flow meets congestion.
 * So its first packet may wait for long without a CNP.
 *
 * T1 passes for a flow while the queue is clear: its deadline lapses.  When the
 * queue becomes congested the CNP is due at once, or at the next scan: T1 is
 * over, and the patent asks for no CE packet after the onset.  A flow that has
 * been silent for as long as ends a flow's own congestion gets none, unless a
 * packet of it waits: it has stopped, for all that is known.  Lapsed deadlines
 * come after the others, the most recent first, so that those of flows which
 * have stopped, be it a million, delay nothing.
 *
 * One hrtimer per queue.  It is armed for what is first at that moment; when
 * that moves, the timer comes early once and is set anew, so a CE packet of a
 * queue with deadlines never touches the timer.  CNPs that are held are in a
 * tree, for each flow's T2 may be another: one look-up per CNP.
 *
 * T1 of a later CE packet runs while a CNP is pending, because T2 may be longer
 * than packets are apart.  So two CNPs of a flow may be pending.  The second one
 * enters the tree when the first one leaves it; a third one is not kept.
 */
#include <net/gen_stats.h>

#include "iqcn.h"
#include "algo/pending.h"
#include "algo/sample.h"

/* CNPs built before the lock is dropped and they are injected; on the stack */
#define IQCN_BATCH		8
/* Flows seen to in one run of the timer, before others get the CPU */
#define IQCN_TIMER_RUN		32
/* How long they get it for if more is due: as long as the run has taken, but for one
 * that was interrupted for longer
 */
#define IQCN_TIMER_GAP_NS	1000
#define IQCN_TIMER_GAP_MAX_NS	NSEC_PER_MSEC

/**
 * iqcn_trigger_disarm() - the timer is to be set anew
 * @q: queue
 *
 * Its callback may be running: then it comes once more at worst.
 *
 * Context: queue->lock.
 */
void iqcn_trigger_disarm(struct iqcn_queue *q)
{
	hrtimer_try_to_cancel(&q->timer);
	q->timer_ns = KTIME_MAX;
	/* T1 may be another, or what matters */
	q->polls_ns = 0;
}

/* When the timer sees to a deadline that expires at @due_ns */
static u64 iqcn_trigger_at_ns(const struct iqcn_queue *q, u64 due_ns)
{
	if (q->p.trigger == IQCN_TRIGGER_PERIOD)
		due_ns = iqcn_deadline_scan_ns(due_ns, q->p.period_ns);
	return max(due_ns, q->backoff.until_ns);
}

/* When the first deadline is seen to */
static u64 iqcn_trigger_due_ns(const struct iqcn_queue *q,
			       const struct iqcn_deadline *first)
{
	return iqcn_trigger_at_ns(q, first->base_ns + q->p.t1_ns);
}

/* When a CNP of a lapsed deadline became due: the queue is congested */
static u64 iqcn_trigger_lapsed_ns(const struct iqcn_queue *q,
				  const struct iqcn_deadline *lapsed)
{
	return max(lapsed->base_ns + q->p.t1_ns, q->state_ns);
}

/* When the timer sees to a lapsed deadline */
static u64 iqcn_trigger_lapsed_at_ns(const struct iqcn_queue *q,
				     const struct iqcn_deadline *lapsed)
{
	return iqcn_trigger_at_ns(q, iqcn_trigger_lapsed_ns(q, lapsed));
}

/* The most recent lapsed deadline, if there is something to do for it.  All others
 * are older.
 */
static struct iqcn_deadline *iqcn_trigger_lapsed(struct iqcn_queue *q,
						 u64 now_ns)
{
	struct iqcn_deadline *last = iqcn_deadline_last(&q->lapsed);

	if (!last || !q->congested ||
	    now_ns - last->base_ns >= iqcn_flow_quiet_ns(q->p.window_ns,
							 q->p.t1_ns,
							 IQCN_GAP_MAX_NS))
		return NULL;
	return last;
}

/* When the first chance is seen to */
static u64 iqcn_trigger_poll_ns(const struct iqcn_queue *q,
				  const struct iqcn_deadline *chance)
{
	return max3(chance->base_ns + q->p.t1_ns, q->polls_ns,
		    q->backoff.until_ns);
}

/* When the timer has something to do: at the first deadline, when the first CNP
 * has been held for long enough, and while the queue is congested for lapsed
 * deadlines, and when a silence would end that.
 */
static u64 iqcn_trigger_next_ns(struct iqcn_queue *q, u64 now_ns)
{
	struct iqcn_deadline *first = iqcn_deadline_first(&q->deadlines);
	struct iqcn_deadline *chance = iqcn_deadline_first(&q->polls);
	struct iqcn_deadline *lapsed = iqcn_trigger_lapsed(q, now_ns);
	struct timerqueue_node *held = timerqueue_getnext(&q->pending);
	u64 next_ns = KTIME_MAX;

	if (q->dead)
		return next_ns;
	/* a scan is later still, so not sooner than what it is armed for */
	if (first && first->base_ns + q->p.t1_ns < q->timer_ns)
		next_ns = iqcn_trigger_due_ns(q, first);
	if (lapsed)
		next_ns = min(next_ns, iqcn_trigger_lapsed_at_ns(q, lapsed));
	/* nothing else may come to see it end */
	if (iqcn_pi_runs(&q->pi))
		next_ns = min(next_ns, q->pi.deep_ns + IQCN_PI_END_NS);
	if (chance)
		next_ns = min(next_ns, iqcn_trigger_poll_ns(q, chance));
	if (held)
		next_ns = min_t(u64, next_ns, held->expires);
	/* a timer that is armed already looks at that as well */
	if (q->congested && q->timer_ns == KTIME_MAX)
		next_ns = min(next_ns, max3((q->ce.start_ns ?: now_ns) +
					    iqcn_queue_quiet_ns(q), q->look_ns,
					    q->backoff.until_ns));
	return next_ns;
}

/**
 * iqcn_trigger_wake() - packets leave again
 * @q: queue
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_trigger_wake(struct iqcn_queue *q)
{
	memset(&q->backoff, 0, sizeof(q->backoff));
}

/**
 * iqcn_trigger_arm() - set the timer, if it would come too late
 * @q: queue
 * @now_ns: now
 *
 * Context: queue->lock, BHs off.
 */
void iqcn_trigger_arm(struct iqcn_queue *q, u64 now_ns)
{
	struct timerqueue_node *held = timerqueue_getnext(&q->pending);
	u64 next_ns;

	lockdep_assert_held(&q->lock);

	/* as for nearly every packet: what it begins is not sooner.  The timer was
	 * armed for what began before.
	 */
	if (q->timer_ns <= now_ns + min_t(u64, q->p.t1_ns, IQCN_PI_END_NS) &&
	    (!held || held->expires >= q->timer_ns))
		return;
	next_ns = max(iqcn_trigger_next_ns(q, now_ns), q->pause_ns);
	if (next_ns >= q->timer_ns)
		return;
	q->timer_ns = next_ns;
	hrtimer_start(&q->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

static bool iqcn_flow_congested(const struct iqcn_queue *q,
				const struct iqcn_flow *flow)
{
	return q->congested || iqcn_flow_own(q, flow);
}

static bool iqcn_flow_quiet(const struct iqcn_queue *q,
			    const struct iqcn_flow *flow, u64 now_ns)
{
	return now_ns - flow->ce_ns >= iqcn_flow_quiet_ns(q->p.window_ns,
							  q->p.t1_ns,
							  flow->ce_gap_ns);
}

/* It sends no more, as far as can be told */
static bool iqcn_flow_stopped(const struct iqcn_queue *q,
			      const struct iqcn_flow *flow, u64 now_ns)
{
	return refcount_read(&flow->refs) <= 1 &&
	       iqcn_flow_quiet(q, flow, now_ns);
}

/* Packets leave that are not looked at, as far as can be told: a flow that is told
 * slows down, so the next one that is may be long in coming
 */
static bool iqcn_flow_unseen(const struct iqcn_queue *q,
			     const struct iqcn_flow *flow, u64 now_ns)
{
	return q->p.sample > 1 && flow->ce_gap_ns &&
	       !iqcn_flow_quiet(q, flow, now_ns);
}

/* And so close that T1 never passes between two of them, if it counts from them */
static bool iqcn_flow_dense(const struct iqcn_queue *q,
			    const struct iqcn_flow *flow, u64 now_ns)
{
	return q->p.base != IQCN_BASE_CNP && iqcn_flow_unseen(q, flow, now_ns) &&
	       iqcn_sample_gap_ns(flow->ce_gap_ns, q->p.sample) < q->p.t1_ns;
}

/* A packet of it waits here, or has left since we last told the sender */
static bool iqcn_flow_active(const struct iqcn_queue *q,
			     const struct iqcn_flow *flow, u64 now_ns)
{
	u32 spacing_ns;

	if (flow->ce_since || refcount_read(&flow->refs) > 1)
		return true;
	if (!iqcn_flow_unseen(q, flow, now_ns))
		return false;
	spacing_ns = iqcn_sample_gap_ns(flow->ce_gap_ns, q->p.sample);
	return now_ns - flow->cnp_tx_ns >= spacing_ns ||
	       iqcn_sample_waits(iqcn_depth_bytes(q),
				 iqcn_queue_drain_bps(q), spacing_ns);
}

static struct iqcn_flow *iqcn_held_flow(struct timerqueue_node *held)
{
	return container_of(held, struct iqcn_flow_ext, pending)->flow;
}

/**
 * iqcn_trigger_is_bts() - is a CNP that a packet causes about to be sent?
 * @flow: flow
 *
 * Context: lock of its queue.
 * Return: true if so.
 */
bool iqcn_trigger_is_bts(const struct iqcn_flow *flow)
{
	return iqcn_flow_has_pending(flow) &&
	       flow->ext->cnp_cause != IQCN_CAUSE_TIMER;
}

/* The caller trims the flow when it has done with what was said of the CNP */
static void iqcn_flow_release(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	timerqueue_del(&q->pending, &flow->ext->pending);
}

/* The CNP that a packet has caused is not sent after all */
static void iqcn_flow_refund(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	if (flow->ext->cnp_paid)
		iqcn_budget_refund(q->port);
}

/* Look at it in T1, whatever is or is not due then */
static void iqcn_flow_watch(struct iqcn_queue *q, struct iqcn_flow *flow,
			    u64 now_ns)
{
	iqcn_deadline_restart(&flow->due, &q->deadlines, now_ns);
	flow->idle_check_only = true;
	flow->lapsed = false;
}

/**
 * iqcn_trigger_restart() - T1 begins
 * @q: queue
 * @flow: flow of that queue
 * @now_ns: not less than in an earlier call
 *
 * The list is for the timer: if the next CE packet is what counts, only flows
 * are there whose state a silence is to end.
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_trigger_restart(struct iqcn_queue *q, struct iqcn_flow *flow,
			  u64 now_ns)
{
	bool timer = (q->p.notify & IQCN_NOTIFY_TIMER) &&
		     q->p.trigger != IQCN_TRIGGER_GAP;

	flow->base_ns = now_ns;
	if (timer || iqcn_flow_own(q, flow))
		iqcn_flow_watch(q, flow, now_ns);
	else
		iqcn_deadline_cancel(&flow->due);
	flow->idle_check_only = !timer;
}

static u32 iqcn_flow_delay_ns(const struct iqcn_queue *q,
			      const struct iqcn_flow *flow)
{
	return q->p.delay_ns == IQCN_DELAY_AUTO ? flow->answer.smooth_ns :
						  q->p.delay_ns;
}

/* A place for a CNP to wait in; without memory for one it is not sent */
static bool iqcn_flow_place(struct iqcn_queue *q, struct iqcn_flow *flow,
			    u64 at_ns, enum iqcn_cause cause, bool was_ce)
{
	struct iqcn_flow_ext *e = iqcn_flow_get_ext(flow);

	if (!e) {
		iqcn_inc(q->st.cnp_error);
		return false;
	}
	e->pending.expires = at_ns;
	e->next_ns = 0;
	e->cnp_ended = q->ended;
	e->cnp_cause = cause;
	e->cnp_was_ce = was_ce;
	e->cnp_paid = false;
	timerqueue_add(&q->pending, &e->pending);
	return true;
}

/* Another CNP is due while one is pending for an earlier packet */
static void iqcn_flow_hold_next(struct iqcn_queue *q, struct iqcn_flow *flow,
				u64 now_ns)
{
	struct iqcn_flow_ext *e = flow->ext;
	u64 at_ns = now_ns + iqcn_flow_delay_ns(q, flow);

	if (e->next_ns)
		return;
	/* T2 may be less than it was */
	e->next_ns = max_t(s64, at_ns - e->pending.expires, 1);
	e->next_wait_ns = min_t(u64, e->pending.expires + e->next_ns -
				flow->base_ns, U32_MAX);
	e->next_owed = flow->owed;
	iqcn_inc(q->st.cnp_delayed);
}

/* The first of two pending CNPs has left the tree */
static void iqcn_flow_promote(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	struct iqcn_flow_ext *e = flow->ext;

	e->pending.expires += e->next_ns;
	e->cnp_wait_ns = e->next_wait_ns;
	e->cnp_owed = e->next_owed;
	e->next_ns = 0;
	timerqueue_add(&q->pending, &e->pending);
}

/* A CNP is due and will be sent, but not now */
static void iqcn_flow_hold(struct iqcn_queue *q, struct iqcn_flow *flow,
			   u64 now_ns)
{
	u64 at_ns = now_ns + iqcn_flow_delay_ns(q, flow);

	if (iqcn_flow_has_pending(flow) && flow->ext->cnp_ended == q->ended) {
		iqcn_flow_hold_next(q, flow, now_ns);
	} else {
		/* one of an earlier congestion is not sent any more */
		iqcn_pending_drop(q, flow);
		if (!iqcn_flow_place(q, flow, at_ns, IQCN_CAUSE_TIMER, false)) {
			iqcn_trigger_restart(q, flow, now_ns);
			return;
		}
		flow->ext->cnp_wait_ns = min_t(u64, at_ns - flow->base_ns,
						  U32_MAX);
		flow->ext->cnp_owed = flow->owed;
		iqcn_inc(q->st.cnp_delayed);
	}
	if (iqcn_flow_own(q, flow))
		iqcn_flow_watch(q, flow, now_ns);
	else
		iqcn_deadline_cancel(&flow->due);
}

/* How long it has been since its base.  If that was a packet, others that are not
 * looked at have left since.
 */
static u64 iqcn_flow_waited_ns(const struct iqcn_queue *q,
			       const struct iqcn_flow *flow, u64 now_ns)
{
	u64 ns = now_ns - flow->base_ns;

	if (q->p.base == IQCN_BASE_CNP)
		return ns;
	return iqcn_sample_gap_ns(ns, q->p.sample);
}

/* T1 is being counted for the timer, or has passed while the queue was clear */
static bool iqcn_flow_running(const struct iqcn_queue *q,
			      const struct iqcn_flow *flow)
{
	return iqcn_deadline_armed(&flow->due) && !flow->idle_check_only &&
	       iqcn_queue_since_reset(q, flow->base_ns);
}

/**
 * iqcn_trigger_ce() - a CE packet of a flow leaves
 * @q: queue
 * @flow: flow of that queue; the detectors know of the packet
 * @now_ns: not less than in an earlier call
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_trigger_ce(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns)
{
	bool running;

	/* the CNP that a packet has caused is for this one, too */
	if (iqcn_trigger_is_bts(flow))
		return;
	/* T1 will count from the pending one, or from what follows a silence */
	if (iqcn_flow_has_pending(flow) && q->p.base == IQCN_BASE_CNP &&
	    iqcn_sample_gap_ns(now_ns - flow->ce_ns, q->p.sample) < q->p.t1_ns)
		return;

	if (q->p.trigger == IQCN_TRIGGER_GAP) {
		/* what follows a silence begins */
		running = iqcn_queue_since_reset(q, flow->base_ns) &&
			  iqcn_flow_congested(q, flow) &&
			  !iqcn_flow_quiet(q, flow, now_ns);
		if (running && (q->p.notify & IQCN_NOTIFY_TIMER) &&
		    iqcn_flow_waited_ns(q, flow, now_ns) >= q->p.t1_ns) {
			iqcn_flow_hold(q, flow, now_ns);
			iqcn_trigger_restart(q, flow, now_ns);
			return;
		}
	} else {
		/* what follows a lapsed deadline begins anew */
		running = iqcn_flow_running(q, flow) && !flow->lapsed;
	}
	if (!running || q->p.base != IQCN_BASE_CNP)
		iqcn_trigger_restart(q, flow, now_ns);
	else if (iqcn_flow_own(q, flow) && !iqcn_deadline_armed(&flow->due))
		iqcn_flow_watch(q, flow, now_ns);
}

/* A CNP of the receiver cancels those pending CNPs that are for packets before
 * the one that it answers.  Return: one was cancelled.
 */
static bool iqcn_flow_answered(struct iqcn_queue *q, struct iqcn_flow *flow,
			       u64 now_ns)
{
	u64 answer_ns = flow->answer.smooth_ns;
	struct iqcn_flow_ext *e = flow->ext;
	bool first, next;
	u64 base_ns;

	base_ns = e->pending.expires - e->cnp_wait_ns;
	first = iqcn_pending_cancelled(e->cnp_owed, now_ns - base_ns,
				       answer_ns, q->p.t1_ns);
	base_ns = e->pending.expires + e->next_ns - e->next_wait_ns;
	next = e->next_ns &&
	       iqcn_pending_cancelled(e->next_owed, now_ns - base_ns,
				      answer_ns, q->p.t1_ns);
	e->cnp_owed = iqcn_owed_answered(e->cnp_owed);
	e->next_owed = iqcn_owed_answered(e->next_owed);
	if (!first)
		return false;
	if (e->next_ns && !next) {
		iqcn_flow_release(q, flow);
		iqcn_inc(q->st.cnp_cancelled);
		iqcn_flow_promote(q, flow);
	} else {
		iqcn_pending_drop(q, flow);
		iqcn_flow_trim(q, flow);
	}
	return true;
}

/**
 * iqcn_trigger_cnp() - a CNP of the receiver is seen
 * @q: queue
 * @flow: flow of that queue
 * @now_ns: not less than in an earlier call
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_trigger_cnp(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns)
{
	if (iqcn_flow_has_pending(flow)) {
		/* it answers no packet that was dropped or has just come */
		if (iqcn_trigger_is_bts(flow))
			return;
		if (iqcn_flow_answered(q, flow, now_ns) &&
		    !iqcn_flow_has_pending(flow) && !iqcn_flow_running(q, flow)) {
			iqcn_trigger_restart(q, flow, now_ns);
			return;
		}
	}
	if (q->p.base == IQCN_BASE_CE ||
	    (q->p.trigger != IQCN_TRIGGER_GAP && !iqcn_flow_running(q, flow)))
		return;
	iqcn_trigger_restart(q, flow, now_ns);
}

/**
 * iqcn_pending_drop() - there is no need for pending CNPs any more
 * @q: queue
 * @flow: flow of that queue, with pending CNPs or without
 *
 * One that is for a packet stays.
 *
 * Context: queue->lock; the caller trims the flow, or sees to that a packet does.
 */
void iqcn_pending_drop(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	if (!iqcn_flow_has_pending(flow) || iqcn_trigger_is_bts(flow))
		return;
	iqcn_flow_release(q, flow);
	iqcn_add(q->st.cnp_cancelled, flow->ext->next_ns ? 2 : 1);
}

/**
 * iqcn_pending_drop_all() - CNPs are held for another time from now on
 * @q: queue
 * @now_ns: not less than in an earlier call
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_pending_drop_all(struct iqcn_queue *q, u64 now_ns)
{
	struct timerqueue_node *held, *next;
	struct iqcn_flow *flow;

	for (held = timerqueue_getnext(&q->pending); held; held = next) {
		next = timerqueue_iterate_next(held);
		flow = iqcn_held_flow(held);
		if (iqcn_trigger_is_bts(flow))
			continue;
		iqcn_pending_drop(q, flow);
		iqcn_flow_trim(q, flow);
		iqcn_trigger_restart(q, flow, now_ns);
	}
}

/**
 * iqcn_trigger_cancel() - nothing is due for a flow any more
 * @q: its queue
 * @flow: flow
 *
 * Context: queue->lock; the caller trims the flow, unless it dies.
 */
void iqcn_trigger_cancel(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	iqcn_deadline_cancel(&flow->due);
	iqcn_deadline_cancel(&flow->poll);
	iqcn_pending_drop(q, flow);
	if (!iqcn_flow_has_pending(flow))
		return;
	iqcn_flow_release(q, flow);
	iqcn_flow_refund(q, flow);
}

/**
 * iqcn_trigger_at() - a packet of a flow causes a CNP
 * @q: queue
 * @flow: flow of that queue
 * @at_ns: when it is to be sent
 * @cause: why
 * @was_ce: the packet was CE when it came
 *
 * The timer sends it, for nobody who holds a lock can.  It takes the place of one
 * that is held for T2; one that is to be sent for another packet serves for
 * both, and then says what matters more.
 *
 * Context: queue->lock; the caller arms the timer.
 * Return: it is pending; else there is no memory, which is counted.
 */
bool iqcn_trigger_at(struct iqcn_queue *q, struct iqcn_flow *flow, u64 at_ns,
		     enum iqcn_cause cause, bool was_ce)
{
	if (iqcn_trigger_is_bts(flow)) {
		/* it is the first for one of them if either was not CE */
		flow->ext->cnp_was_ce &= was_ce;
		if (cause == IQCN_CAUSE_DROP)
			flow->ext->cnp_cause = cause;
		return true;
	}
	iqcn_pending_drop(q, flow);
	return iqcn_flow_place(q, flow, at_ns, cause, was_ce);
}

/**
 * iqcn_trigger_now() - a packet of a flow causes a CNP, to be sent at once
 * @q: queue
 * @flow: flow of that queue, paired
 * @now_ns: not less than in an earlier call
 * @cause: why
 * @was_ce: the packet was CE when it came
 *
 * The budget is charged now, so that the packet may be marked because of the CNP.
 *
 * Context: queue->lock; the caller arms the timer.
 * Return: it will be sent; else why not has been counted.
 */
bool iqcn_trigger_now(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns,
		      enum iqcn_cause cause, bool was_ce)
{
	/* one CNP for several packets is charged once */
	bool paid = iqcn_trigger_is_bts(flow) && flow->ext->cnp_paid;

	if (!paid && !iqcn_budget_charge(q->port, now_ns)) {
		iqcn_inc(q->st.cnp_budget);
		return false;
	}
	if (!iqcn_trigger_at(q, flow, now_ns, cause, was_ce)) {
		iqcn_budget_refund(q->port);
		return false;
	}
	flow->ext->cnp_paid = true;
	return true;
}

/* T1 begins anew, whatever becomes of the CNP.  Return: @n is to be injected. */
static bool iqcn_flow_tell(struct iqcn_queue *q, struct iqcn_flow *flow,
			   struct iqcn_notice *n, enum iqcn_cause cause,
			   bool was_ce, bool paid, u64 due_ns, u64 now_ns)
{
	u64 base_ns = flow->base_ns;

	iqcn_trigger_restart(q, flow, now_ns);
	return iqcn_tell(q, flow, n, cause, was_ce, paid, base_ns, due_ns,
			 now_ns);
}

/* T1 has passed for a flow at @due_ns.  Return: @n is to be injected. */
static bool iqcn_flow_due(struct iqcn_queue *q, struct iqcn_flow *flow,
			  struct iqcn_notice *n, u64 due_ns, u64 now_ns)
{
	if (iqcn_flow_own(q, flow) && iqcn_flow_quiet(q, flow, now_ns))
		iqcn_flow_set_congested(q, flow, 0, IQCN_REASON_QUIET, now_ns);
	if (!iqcn_flow_congested(q, flow) && iqcn_flow_running(q, flow)) {
		iqcn_deadline_lapse(&flow->due, &q->lapsed);
		flow->lapsed = true;
		return false;
	}
	if (!iqcn_flow_congested(q, flow) ||
	    !iqcn_queue_since_reset(q, flow->due.base_ns) ||
	    (flow->lapsed && iqcn_flow_stopped(q, flow, now_ns))) {
		iqcn_deadline_cancel(&flow->due);
		return false;
	}
	if ((iqcn_flow_has_pending(flow) && flow->idle_check_only) ||
	    iqcn_trigger_is_bts(flow) || q->p.trigger == IQCN_TRIGGER_GAP ||
	    !(q->p.notify & IQCN_NOTIFY_TIMER) ||
	    !iqcn_flow_active(q, flow, now_ns) ||
	    iqcn_flow_dense(q, flow, now_ns)) {
		/* for the silence that ends its own state, and for packets
		 * that are not looked at
		 */
		if (iqcn_flow_own(q, flow) ||
		    iqcn_flow_unseen(q, flow, now_ns))
			iqcn_flow_watch(q, flow, now_ns);
		else
			iqcn_deadline_cancel(&flow->due);
		return false;
	}
	if (iqcn_flow_has_pending(flow) || iqcn_flow_delay_ns(q, flow)) {
		iqcn_flow_hold(q, flow, now_ns);
		return false;
	}
	return iqcn_flow_tell(q, flow, n, IQCN_CAUSE_TIMER, false, false, due_ns,
			      now_ns);
}

/* A pending CNP is sent.  If another packet has left since it became due, T1 of
 * that one goes on, or has passed.
 */
static bool iqcn_flow_tell_held(struct iqcn_queue *q, struct iqcn_flow *flow,
				struct iqcn_notice *n, u64 now_ns)
{
	struct iqcn_flow_ext *e = flow->ext;
	u64 at_ns = e->pending.expires;
	bool later, tell;

	iqcn_flow_release(q, flow);
	later = e->next_ns || iqcn_flow_running(q, flow);
	tell = iqcn_tell(q, flow, n, IQCN_CAUSE_TIMER, false, false,
			 at_ns - e->cnp_wait_ns, at_ns, now_ns);
	flow->ce_since |= later;
	if (e->next_ns)
		iqcn_flow_promote(q, flow);
	else if (!later && q->p.trigger != IQCN_TRIGGER_GAP)
		iqcn_trigger_restart(q, flow, now_ns);
	return tell;
}

/* Its CNP has been held for long enough.  If the congestion has ended meanwhile,
 * be it that another has begun, it is for nothing.  Return: @n is to be injected.
 */
static bool iqcn_flow_held_due(struct iqcn_queue *q, struct iqcn_flow *flow,
			       struct iqcn_notice *n, u64 now_ns)
{
	struct iqcn_flow_ext *e = flow->ext;
	bool tell;

	if (iqcn_trigger_is_bts(flow)) {
		iqcn_flow_release(q, flow);
		tell = (q->p.notify & IQCN_NOTIFY_BTS) &&
		       iqcn_flow_tell(q, flow, n, e->cnp_cause, e->cnp_was_ce,
				      e->cnp_paid, e->pending.expires, now_ns);
		if (!tell)
			iqcn_flow_refund(q, flow);
	} else if (e->cnp_ended != q->ended || !iqcn_flow_congested(q, flow) ||
		   !(q->p.notify & IQCN_NOTIFY_TIMER)) {
		iqcn_pending_drop(q, flow);
		if (iqcn_flow_congested(q, flow))
			iqcn_trigger_restart(q, flow, now_ns);
		tell = false;
	} else {
		tell = iqcn_flow_tell_held(q, flow, n, now_ns);
	}
	iqcn_flow_trim(q, flow);
	return tell;
}

/* The next flow that there is something to do for.  Return: false if none. */
static bool iqcn_trigger_one(struct iqcn_queue *q, struct iqcn_notice *n,
			     bool *tell, u64 now_ns)
{
	struct timerqueue_node *held = timerqueue_getnext(&q->pending);
	struct iqcn_deadline *first;
	struct iqcn_flow *flow;
	u64 due_ns;

	if (held && held->expires <= now_ns) {
		*tell = iqcn_flow_held_due(q, iqcn_held_flow(held), n, now_ns);
		return true;
	}
	first = iqcn_deadline_first(&q->deadlines);
	if (first && iqcn_deadline_due(first, q->p.t1_ns, now_ns) &&
	    iqcn_trigger_due_ns(q, first) <= now_ns) {
		flow = container_of(first, struct iqcn_flow, due);
		due_ns = first->base_ns + q->p.t1_ns;
		*tell = iqcn_flow_due(q, flow, n, due_ns, now_ns);
		return true;
	}
	first = iqcn_trigger_lapsed(q, now_ns);
	if (first && iqcn_trigger_lapsed_at_ns(q, first) <= now_ns) {
		flow = container_of(first, struct iqcn_flow, due);
		due_ns = iqcn_trigger_lapsed_ns(q, first);
		*tell = iqcn_flow_due(q, flow, n, due_ns, now_ns);
		return true;
	}
	first = iqcn_deadline_first(&q->polls);
	if (first && iqcn_trigger_poll_ns(q, first) <= now_ns) {
		q->polls_ran = true;
		/* it stays the first, so that no flow goes without for longer than
		 * the others
		 */
		q->polls_wait = !iqcn_budget_spare(q->port, now_ns);
		if (q->polls_wait) {
			iqcn_inc(q->st.cnp_budget);
			return false;
		}
		flow = container_of(first, struct iqcn_flow, poll);
		due_ns = first->base_ns + q->p.t1_ns;
		*tell = iqcn_bts_poll(q, flow, now_ns) &&
			iqcn_flow_tell(q, flow, n, IQCN_CAUSE_HOLD, false, false,
				       due_ns, now_ns);
		return true;
	}
	return false;
}

/* Fill @batch from those that are due, @seen of them at most.
 * Return: how many notices.
 */
static unsigned int iqcn_trigger_collect(struct iqcn_queue *q,
					 struct iqcn_notice *batch,
					 unsigned int *seen)
{
	unsigned int n = 0;
	bool tell;
	u64 now_ns;

	lockdep_assert_held(&q->lock);

	now_ns = ktime_get_ns();
	iqcn_queue_detect_quiet(q, now_ns);
	if (iqcn_pi_runs(&q->pi))
		iqcn_bts_run(q, now_ns);
	while (n < IQCN_BATCH && *seen && !q->dead) {
		if (!iqcn_trigger_one(q, &batch[n], &tell, now_ns))
			break;
		(*seen)--;
		n += tell;
	}
	return n;
}

static void iqcn_trigger_inject(struct iqcn_queue *q,
				const struct iqcn_notice *batch, unsigned int n)
{
	unsigned int i, sent[__IQCN_CAUSE_MAX] = {}, failed = 0;

	if (!n)
		return;
	for (i = 0; i < n; i++) {
		if (iqcn_notify_inject(q->port->dev, &batch[i]))
			sent[batch[i].cause]++;
		else
			failed++;
	}
	spin_lock(&q->lock);
	iqcn_add(q->st.cnp_sent, n - failed);
	iqcn_add(q->st.cnp_error, failed);
	iqcn_add(q->st.cnp_wreb, sent[IQCN_CAUSE_WREB]);
	iqcn_add(q->st.cnp_pi, sent[IQCN_CAUSE_PI]);
	iqcn_add(q->st.cnp_hold, sent[IQCN_CAUSE_HOLD]);
	iqcn_add(q->st.cnp_drop, sent[IQCN_CAUSE_DROP]);
	spin_unlock(&q->lock);
}

/* A run of the timer has taken @took_ns: when it next sees to chances */
static void iqcn_trigger_rest(struct iqcn_queue *q, u64 now_ns, u64 took_ns)
{
	struct iqcn_deadline *first = iqcn_deadline_first(&q->polls);

	if (!q->polls_ran)
		return;
	q->polls_ns = now_ns +
		iqcn_polls_rest_ns(took_ns, q->p.t1_ns,
				     first && !q->polls_wait &&
				     iqcn_deadline_due(first, q->p.t1_ns, now_ns));
	q->polls_ran = false;
}

static enum hrtimer_restart iqcn_trigger_timer(struct hrtimer *timer)
{
	struct iqcn_queue *q = container_of(timer, struct iqcn_queue, timer);
	struct iqcn_notice batch[IQCN_BATCH] __uninitialized; /* as far as filled */
	unsigned int n, seen = IQCN_TIMER_RUN;
	u64 start_ns = ktime_get_ns();
	u64 now_ns;

	do {
		spin_lock(&q->lock);
		n = iqcn_trigger_collect(q, batch, &seen);
		spin_unlock(&q->lock);
		iqcn_trigger_inject(q, batch, n);
	} while (n == IQCN_BATCH && seen);

	/* Not by a restart, for whoever holds the lock may arm it.  If more is
	 * due already, after a pause, whatever packets come: a timer armed for
	 * the past would run again within the same softirq, and so for ever.
	 */
	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	q->timer_ns = KTIME_MAX;
	iqcn_trigger_rest(q, now_ns, now_ns - start_ns);
	/* flows whose packets are stuck are due every T1 */
	iqcn_backoff_run(&q->backoff, u64_stats_read(&q->sent->packets), now_ns);
	/* in the past unless the owner's timers have used up their share */
	q->pause_ns = iqcn_owner_charge(q->port->owner, now_ns - start_ns,
					now_ns);
	if (iqcn_trigger_next_ns(q, now_ns) <= now_ns)
		q->pause_ns = max(q->pause_ns, now_ns +
				  clamp_t(u64, now_ns - start_ns,
					  IQCN_TIMER_GAP_NS,
					  IQCN_TIMER_GAP_MAX_NS));
	iqcn_trigger_arm(q, now_ns);
	spin_unlock(&q->lock);
	return HRTIMER_NORESTART;
}

/**
 * iqcn_trigger_init() - a queue is made
 * @q: queue, zeroed
 *
 * Context: RTNL.
 */
void iqcn_trigger_init(struct iqcn_queue *q)
{
	INIT_LIST_HEAD(&q->deadlines);
	INIT_LIST_HEAD(&q->lapsed);
	INIT_LIST_HEAD(&q->polls);
	timerqueue_init_head(&q->pending);
	q->timer_ns = KTIME_MAX;
	hrtimer_setup(&q->timer, iqcn_trigger_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

/**
 * iqcn_trigger_reset() - nothing that was due is sent any more
 * @q: queue, with @reset_ns
 *
 * The timer finds flows that have deadlines or chances of before, some at a time: there
 * may be a million of them.  CNPs that are held go at once.
 *
 * Context: queue->lock, BHs off; the caller arms the timer.
 */
void iqcn_trigger_reset(struct iqcn_queue *q)
{
	struct timerqueue_node *held;
	struct iqcn_flow *flow;

	lockdep_assert_held(&q->lock);

	while ((held = timerqueue_getnext(&q->pending))) {
		flow = iqcn_held_flow(held);
		iqcn_trigger_cancel(q, flow);
		iqcn_flow_trim(q, flow);
	}
	iqcn_trigger_wake(q);
	iqcn_trigger_disarm(q);
}
