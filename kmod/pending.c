// SPDX-License-Identifier: GPL-2.0
/*
 * Pending CNPs.  A flow has at most one CNP in queue->pending, a tree that is
 * sorted by the time at which the CNPs are sent:
 *
 *   - A CNP that a packet caused (wreb, pi, grant, pfc, drop) is sent at once,
 *     or after min-gap.  BH work or the timer sends it (timer.c), not enqueue
 *     or dequeue, which hold the root lock.
 *   - A deferred CNP (notify timer) is sent after T2.  T2 may be longer than
 *     the gap between two CE packets, so T1 of a later packet runs meanwhile
 *     and may cause a second CNP, which enters the tree when the first one
 *     leaves it.  A third one is not stored.
 *
 * All functions need queue->lock, and the caller arms the timer.
 */
#include "algo/pending.h"
#include "iqcn.h"
#include "skb.h"

/**
 * iqcn_pending_add() - store a CNP until it is sent
 * @q: queue
 * @flow: flow of that queue without a pending CNP
 * @at_ns: time at which the CNP is sent
 * @cause: its cause
 * @was_ce: the packet that caused it arrived with CE, or was CE when the queue
 *	dropped it
 *
 * Context: queue->lock.
 * Return: false if memory ran out, which is counted.
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
	e->cnp_sport = 0;
	timerqueue_add(&q->pending, &e->pending);
	return true;
}

/**
 * iqcn_pending_del() - remove a CNP from the tree
 * @q: queue
 * @flow: flow with a pending CNP
 *
 * The CNP's fields of flow->ext stay valid until iqcn_ext_trim().
 *
 * Context: queue->lock.
 */
void iqcn_pending_del(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	timerqueue_del(&q->pending, &flow->ext->pending);
}

/* Store the source port of the packet that causes a pending CNP */
static void iqcn_pending_set_sport(const struct iqcn_queue *q,
				   struct iqcn_flow *flow,
				   const struct sk_buff *skb)
{
	if (q->p.cnp_sport == IQCN_CNP_SPORT_ECHO)
		flow->ext->cnp_sport = iqcn_skb_sport(skb);
}

/**
 * iqcn_pending_at() - store a CNP that a packet causes
 * @q: queue
 * @flow: flow of the packet and of that queue
 * @at_ns: time at which the CNP is sent
 * @cause: its cause
 * @was_ce: the packet arrived with CE, or was CE when the queue dropped it
 * @skb: packet
 *
 * The CNP replaces a deferred one.  If another packet has caused a pending CNP
 * already, one CNP serves both packets.  If their causes differ,
 * IQCN_CAUSE_DROP takes precedence, then IQCN_CAUSE_GRANT, then the earlier
 * one.
 *
 * Context: queue->lock.
 * Return: false if memory ran out, which is counted.
 */
bool iqcn_pending_at(struct iqcn_queue *q, struct iqcn_flow *flow, u64 at_ns,
		     enum iqcn_cause cause, bool was_ce,
		     const struct sk_buff *skb)
{
	if (iqcn_pending_of_packet(flow)) {
		/* no box has notified the sender of a packet that was not CE */
		flow->ext->cnp_was_ce &= was_ce;
		if (cause == IQCN_CAUSE_DROP ||
		    (cause == IQCN_CAUSE_GRANT &&
		     flow->ext->cnp_cause != IQCN_CAUSE_DROP)) {
			flow->ext->cnp_cause = cause;
			iqcn_pending_set_sport(q, flow, skb);
		}
		return true;
	}
	iqcn_pending_drop(q, flow);
	if (!iqcn_pending_add(q, flow, at_ns, cause, was_ce))
		return false;
	iqcn_pending_set_sport(q, flow, skb);
	return true;
}

/**
 * iqcn_pending_now() - store a CNP that a packet causes, to be sent at once
 * @q: queue
 * @flow: flow of the packet and of that queue
 * @now_ns: now; read under queue->lock, so that it does not decrease
 * @cause: cause of the CNP
 * @was_ce: the packet arrived with CE
 * @skb: packet
 *
 * The gate is checked now, not only when the CNP is sent, so that the packet is
 * marked only if its CNP will be sent.
 *
 * Context: queue->lock.
 * Return: true if the CNP will be sent; else the reason is counted.
 */
bool iqcn_pending_now(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns,
		      enum iqcn_cause cause, bool was_ce,
		      const struct sk_buff *skb)
{
	/* the budget is charged once for a CNP that serves several packets */
	bool paid = iqcn_pending_of_packet(flow) && flow->ext->cnp_paid;

	if (!iqcn_cnp_gate(q, flow, paid, now_ns))
		return false;
	if (!iqcn_pending_at(q, flow, now_ns, cause, was_ce, skb)) {
		iqcn_cnp_refund(q->port);
		return false;
	}
	flow->ext->cnp_paid = true;
	return true;
}

/**
 * iqcn_pending_second() - store a second deferred CNP
 * @q: queue
 * @flow: flow of that queue with a deferred CNP
 * @at_ns: time at which the second one is sent
 *
 * Context: queue->lock.
 */
void iqcn_pending_second(struct iqcn_queue *q, struct iqcn_flow *flow,
			 u64 at_ns)
{
	struct iqcn_flow_ext *e = flow->ext;

	if (e->next_ns)
		return;
	/* with delay auto, T2 may have shrunk */
	e->next_ns = max_t(s64, at_ns - e->pending.expires, 1);
	e->next_wait_ns = min_t(u64, e->pending.expires + e->next_ns -
				flow->base_ns, U32_MAX);
	e->next_owed = flow->owed;
	iqcn_inc(q->st.cnp_deferred);
}

/**
 * iqcn_pending_promote() - put the second deferred CNP into the tree
 * @q: queue
 * @flow: flow whose first deferred CNP has left the tree
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
 * iqcn_pending_answered() - cancel deferred CNPs when a receiver's CNP arrives
 * @q: queue
 * @flow: flow of that queue with a deferred CNP
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * The receiver's CNP cancels the deferred CNPs for packets that precede the
 * packet that it answers (algo/pending.h).
 *
 * Context: queue->lock.
 * Return: true if a CNP was canceled.
 */
bool iqcn_pending_answered(struct iqcn_queue *q, struct iqcn_flow *flow,
			   u64 now_ns)
{
	u64 answer_ns = flow->cnp_srtt.smooth_ns;
	struct iqcn_flow_ext *e = flow->ext;
	bool first, next;
	u64 base_ns;

	base_ns = e->pending.expires - e->cnp_wait_ns;
	first = iqcn_pending_canceled(e->cnp_owed, now_ns - base_ns,
				      answer_ns, q->p.t1_ns);
	base_ns = e->pending.expires + e->next_ns - e->next_wait_ns;
	next = e->next_ns &&
	       iqcn_pending_canceled(e->next_owed, now_ns - base_ns,
				     answer_ns, q->p.t1_ns);
	e->cnp_owed = iqcn_owed_answered(e->cnp_owed);
	e->next_owed = iqcn_owed_answered(e->next_owed);
	if (!first)
		return false;
	if (e->next_ns && !next) {
		iqcn_pending_del(q, flow);
		iqcn_inc(q->st.cnp_canceled);
		iqcn_pending_promote(q, flow);
	} else {
		iqcn_pending_drop(q, flow);
		iqcn_ext_trim(q, flow);
	}
	return true;
}

/**
 * iqcn_pending_refund() - refund the budget for a pending CNP that is not sent
 * @q: queue
 * @flow: flow of that queue; the CNP has left the tree
 *
 * Context: queue->lock.
 */
void iqcn_pending_refund(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	if (flow->ext->cnp_paid)
		iqcn_cnp_refund(q->port);
}

/**
 * iqcn_pending_drop() - cancel the deferred CNPs of a flow
 * @q: queue
 * @flow: flow of that queue, with pending CNPs or without
 *
 * A CNP that a packet caused stays.
 *
 * Context: queue->lock.  The caller frees flow->ext with iqcn_ext_trim(), or
 * leaves that to the flow's next packet.
 */
void iqcn_pending_drop(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	if (!iqcn_flow_has_pending(flow) || iqcn_pending_of_packet(flow))
		return;
	iqcn_pending_del(q, flow);
	iqcn_add(q->st.cnp_canceled, flow->ext->next_ns ? 2 : 1);
}

/**
 * iqcn_pending_cancel() - cancel all pending CNPs of a flow
 * @q: queue
 * @flow: flow of that queue, with pending CNPs or without
 *
 * Context: queue->lock.  Unless the flow dies, the caller frees flow->ext with
 * iqcn_ext_trim().
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
 * iqcn_pending_cancel_all() - cancel all pending CNPs of a queue
 * @q: queue
 *
 * The deadlines, polls and turns of these flows are canceled, too.
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
		iqcn_timer_cancel(flow);
		iqcn_pending_cancel(q, flow);
		iqcn_ext_trim(q, flow);
	}
}

/**
 * iqcn_pending_move() - move a flow's pending CNP to another queue of the port
 * @flow: flow
 * @from: old queue
 * @to: new queue
 *
 * A CNP that a packet caused moves; deferred ones are canceled.
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
