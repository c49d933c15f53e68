// SPDX-License-Identifier: GPL-2.0
/*
 * Pending CNPs.  A flow has a place for one in queue->pending, by the time at
 * which it is sent:
 *
 *   - one that a packet caused (wreb, pi, drop) is sent at once, or after min-gap;
 *     it is not sent where the packet is, because the root lock is held there
 *   - a deferred one, of notify timer, is sent after T2.  T1 of a later CE packet
 *     runs meanwhile, since T2 may be longer than the gap between packets, so a
 *     second one may follow it.  That enters the tree when the first one leaves it.
 *     A third one is not kept.
 *
 * All functions need queue->lock, and the caller arms the timer.
 */
#include "algo/pending.h"
#include "iqcn.h"

/**
 * iqcn_pending_of_packet() - is a CNP pending that a packet caused?
 * @flow: flow
 *
 * Context: queue->lock.
 * Return: false: none is pending, or a deferred one.
 */
bool iqcn_pending_of_packet(const struct iqcn_flow *flow)
{
	return iqcn_flow_has_pending(flow) &&
	       flow->ext->cnp_cause != IQCN_CAUSE_TIMER;
}

/**
 * iqcn_pending_add() - keep a CNP until its time has come
 * @q: queue
 * @flow: flow of that queue without a pending CNP
 * @at_ns: when it is to be sent
 * @cause: why
 * @was_ce: the packet that caused it came as CE
 *
 * Context: queue->lock.
 * Return: false if there is no memory, which is counted: it is not sent.
 */
bool iqcn_pending_add(struct iqcn_queue *q, struct iqcn_flow *flow, u64 at_ns,
		      enum iqcn_cause cause, bool was_ce)
{
	struct iqcn_flow_ext *e = iqcn_ext_get(flow);

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

/**
 * iqcn_pending_del() - a CNP is not pending any more
 * @q: queue
 * @flow: flow with a pending CNP
 *
 * What flow->ext says of the CNP stays until the caller trims it.
 *
 * Context: queue->lock.
 */
void iqcn_pending_del(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	timerqueue_del(&q->pending, &flow->ext->pending);
}

/**
 * iqcn_pending_at() - a packet of a flow causes a CNP
 * @q: queue
 * @flow: flow of that queue
 * @at_ns: when it is to be sent
 * @cause: why
 * @was_ce: the packet came as CE
 *
 * The CNP replaces a deferred one.  If a packet has caused one already, that serves
 * both, and carries the more important cause.
 *
 * Context: queue->lock.
 * Return: false if there is no memory, which is counted.
 */
bool iqcn_pending_at(struct iqcn_queue *q, struct iqcn_flow *flow, u64 at_ns,
		     enum iqcn_cause cause, bool was_ce)
{
	if (iqcn_pending_of_packet(flow)) {
		/* if either was not CE, nobody has notified its sender before */
		flow->ext->cnp_was_ce &= was_ce;
		if (cause == IQCN_CAUSE_DROP)
			flow->ext->cnp_cause = cause;
		return true;
	}
	iqcn_pending_drop(q, flow);
	return iqcn_pending_add(q, flow, at_ns, cause, was_ce);
}

/**
 * iqcn_pending_now() - a packet of a flow causes a CNP, to be sent at once
 * @q: queue
 * @flow: flow of that queue
 * @now_ns: not less than in an earlier call
 * @cause: why
 * @was_ce: the packet came as CE
 *
 * It passes the gate now, so that the packet is marked only for a CNP that is
 * sent.
 *
 * Context: queue->lock.
 * Return: true if it will be sent; else the reason is counted.
 */
bool iqcn_pending_now(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns,
		      enum iqcn_cause cause, bool was_ce)
{
	/* one CNP for several packets is charged once */
	bool paid = iqcn_pending_of_packet(flow) && flow->ext->cnp_paid;

	if (!iqcn_cnp_gate(q, flow, paid, now_ns))
		return false;
	if (!iqcn_pending_at(q, flow, now_ns, cause, was_ce)) {
		iqcn_cnp_refund(q->port);
		return false;
	}
	flow->ext->cnp_paid = true;
	return true;
}

/**
 * iqcn_pending_second() - another CNP is due while a deferred one is pending
 * @q: queue
 * @flow: flow of that queue with a deferred CNP
 * @at_ns: when the other one is to be sent
 *
 * Context: queue->lock.
 */
void iqcn_pending_second(struct iqcn_queue *q, struct iqcn_flow *flow,
			 u64 at_ns)
{
	struct iqcn_flow_ext *e = flow->ext;

	if (e->next_ns)
		return;
	/* T2 may be less than it was */
	e->next_ns = max_t(s64, at_ns - e->pending.expires, 1);
	e->next_wait_ns = min_t(u64, e->pending.expires + e->next_ns -
				flow->base_ns, U32_MAX);
	e->next_owed = flow->owed;
	iqcn_inc(q->st.cnp_delayed);
}

/**
 * iqcn_pending_promote() - the second deferred CNP takes the place of the first
 * @q: queue
 * @flow: flow whose first one has left the tree
 *
 * Context: queue->lock.
 */
void iqcn_pending_promote(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	struct iqcn_flow_ext *e = flow->ext;

	e->pending.expires += e->next_ns;
	e->cnp_wait_ns = e->next_wait_ns;
	e->cnp_owed = e->next_owed;
	e->next_ns = 0;
	timerqueue_add(&q->pending, &e->pending);
}

/**
 * iqcn_pending_answered() - the receiver has sent a CNP
 * @q: queue
 * @flow: flow of that queue with a deferred CNP
 * @now_ns: not less than in an earlier call
 *
 * It cancels the deferred CNPs for packets that precede the one it answers
 * (algo/pending.h).
 *
 * Context: queue->lock.
 * Return: true if one was cancelled.
 */
bool iqcn_pending_answered(struct iqcn_queue *q, struct iqcn_flow *flow,
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
		iqcn_pending_del(q, flow);
		iqcn_inc(q->st.cnp_cancelled);
		iqcn_pending_promote(q, flow);
	} else {
		iqcn_pending_drop(q, flow);
		iqcn_ext_trim(q, flow);
	}
	return true;
}

/**
 * iqcn_pending_refund() - the CNP that a packet caused is not sent after all
 * @q: queue
 * @flow: flow of that queue; its CNP has left the tree
 *
 * Context: queue->lock.
 */
void iqcn_pending_refund(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	if (flow->ext->cnp_paid)
		iqcn_cnp_refund(q->port);
}

/**
 * iqcn_pending_drop() - deferred CNPs are not needed any more
 * @q: queue
 * @flow: flow of that queue, with pending CNPs or without
 *
 * One that a packet caused stays.
 *
 * Context: queue->lock; the caller trims the flow, or knows that a packet will.
 */
void iqcn_pending_drop(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	if (!iqcn_flow_has_pending(flow) || iqcn_pending_of_packet(flow))
		return;
	iqcn_pending_del(q, flow);
	iqcn_add(q->st.cnp_cancelled, flow->ext->next_ns ? 2 : 1);
}

/**
 * iqcn_pending_cancel() - send no CNP that is pending
 * @q: queue
 * @flow: flow of that queue, with pending CNPs or without
 *
 * Context: queue->lock; the caller trims the flow, unless it dies.
 */
void iqcn_pending_cancel(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	iqcn_pending_drop(q, flow);
	if (!iqcn_flow_has_pending(flow))
		return;
	iqcn_pending_del(q, flow);
	iqcn_pending_refund(q, flow);
}

/**
 * iqcn_pending_cancel_all() - send none of a queue's
 * @q: queue
 *
 * Flows with a pending CNP have no deadline and no poll any more either.
 *
 * Context: queue->lock.
 */
void iqcn_pending_cancel_all(struct iqcn_queue *q)
{
	struct timerqueue_node *node;
	struct iqcn_flow *flow;

	lockdep_assert_held(&q->lock);

	while ((node = timerqueue_getnext(&q->pending))) {
		flow = iqcn_pending_flow(node);
		iqcn_deadline_cancel(&flow->due);
		iqcn_deadline_cancel(&flow->poll);
		iqcn_pending_cancel(q, flow);
		iqcn_ext_trim(q, flow);
	}
}

/**
 * iqcn_pending_move() - a flow leaves by another queue of its port
 * @flow: flow
 * @from: the queue that it leaves
 * @to: the other one
 *
 * A CNP that a packet caused moves with it, a deferred one is dropped.
 *
 * Context: both queues' locks.
 */
void iqcn_pending_move(struct iqcn_flow *flow, struct iqcn_queue *from,
		       struct iqcn_queue *to)
{
	iqcn_pending_drop(from, flow);
	if (!iqcn_flow_has_pending(flow))
		return;
	iqcn_pending_del(from, flow);
	flow->ext->cnp_ended = to->ended;
	timerqueue_add(&to->pending, &flow->ext->pending);
}
