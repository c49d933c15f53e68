// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion of queues and flows: the detectors, and the states that they set.
 *
 * The detectors of a queue (algo/detect.h) run when a CE packet leaves, and at
 * each run of the timer, which also checks the idle timeout.  With pi or wreb,
 * most CE packets may skip them (iqcn_flow_ce_brief()).  The detectors of a
 * flow (algo/continuity.h) run when a CE packet of the flow leaves while the
 * queue is clear.  If the queue is congested, all of its flows are.
 *
 * A change of the queue's state voids the states of its flows.  To avoid a walk
 * over all flows, each change begins a new epoch of the queue, and the state of
 * a flow is valid only in the epoch whose number it carries.
 *
 * Source: US 12395431 B2, steps S203-S207 (queue) and S212-S217 (flow).
 */
#include "algo/sample.h"
#include "iqcn.h"
#include "trace.h"

/* The reason for a state in which the detectors in @bits report congestion */
static u32 iqcn_reason(u32 bits)
{
	if (bits & IQCN_DETECT_QUEUE)
		return IQCN_REASON_QUEUE;
	if (bits & IQCN_DETECT_DEPTH)
		return IQCN_REASON_DEPTH;
	if (bits & IQCN_DETECT_RUN)
		return IQCN_REASON_RUN;
	if (bits & IQCN_DETECT_SPAN)
		return IQCN_REASON_SPAN;
	return IQCN_REASON_NONE;
}

/**
 * iqcn_congestion_void_flows() - void the states of single flows
 * @q: queue
 *
 * Context: queue->lock.
 */
void iqcn_congestion_void_flows(struct iqcn_queue *q)
{
	/* 0 is the epoch of a void state */
	q->epoch = q->epoch + 1 ?: 1;
	q->n_congested = 0;
}

/**
 * iqcn_congestion_set() - set the state of a queue
 * @q: queue
 * @bits: enum iqcn_detect bits that report congestion, 0: clear
 * @reason: enum iqcn_reason of a change
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_congestion_set(struct iqcn_queue *q, u32 bits, u32 reason,
			 u64 now_ns)
{
	bool change = !bits != !q->congested;

	lockdep_assert_held(&q->lock);

	WRITE_ONCE(q->congested, bits);
	if (!change)
		return;
	if (!bits)
		q->ended++;
	WRITE_ONCE(q->state_ns, now_ns);
	q->state_reason = reason;
	iqcn_congestion_void_flows(q);
	/* the caller arms the timer for the work of the new state */
	iqcn_timer_disarm(q);
	iqcn_inc(q->st.state_changes);
	trace_iqcn_queue_state(q, iqcn_queue_roce_bps(q));
	iqcn_event_queue_state(q, bits, reason, now_ns);
}

/**
 * iqcn_congestion_detected() - apply a new result of the detectors of a queue
 * @q: queue
 * @bits: enum iqcn_detect bits that report congestion, 0: clear
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_congestion_detected(struct iqcn_queue *q, u32 bits, u64 now_ns)
{
	iqcn_congestion_set(q, bits, iqcn_reason(bits ?: q->congested), now_ns);
}

/**
 * iqcn_congestion_idle_ns() - idle timeout of a queue
 * @q: queue
 *
 * Context: queue->lock.
 * Return: ns from the start of a window of the CE meter.  If no CE packet
 * closes the window by then, the CE rate counts as 0.
 */
u64 iqcn_congestion_idle_ns(const struct iqcn_queue *q)
{
	u64 bytes = (u64)q->max_bytes * q->p.sample;

	if (q->brief)
		bytes = max(bytes, (u64)q->max_bytes + iqcn_chunk_bytes(q));
	return iqcn_idle_ns(q->p.window_ns, iqcn_queue_roce_bps(q), bytes);
}

/**
 * iqcn_congestion_paused() - is there backlog above Kmin that does not drain?
 * @q: queue
 * @idle_ns: its idle timeout
 * @now_ns: now
 *
 * Context: queue->lock.
 * Return: true if so: the port or its shaper is paused, and the queue is not
 * idle.
 */
bool iqcn_congestion_paused(const struct iqcn_queue *q, u64 idle_ns,
			    u64 now_ns)
{
	/* drain_ns is read without the root lock */
	return iqcn_depth_bytes(q) > q->p.mark.kmin_bytes &&
	       (s64)(now_ns - READ_ONCE(q->drain_ns)) >= (s64)(idle_ns / 2);
}

/* At the start of each batch of the timer's work, check the idle timeout and
 * run the detectors
 */
static void iqcn_congestion_check_idle(struct iqcn_queue *q, u64 now_ns)
{
	u64 idle_ns = iqcn_congestion_idle_ns(q);
	bool idle = false;

	if (iqcn_congestion_paused(q, idle_ns, now_ns))
		q->idle_check_ns = now_ns + idle_ns;
	else
		idle = iqcn_meter_idle(&q->ce, idle_ns, now_ns);

	/* the idle timeout clears IQCN_DETECT_QUEUE */
	if (idle && q->congested == IQCN_DETECT_QUEUE)
		iqcn_congestion_set(q, 0, IQCN_REASON_QUIET, now_ns);
	iqcn_congestion_detect(q, idle, now_ns);
}

static u64 iqcn_congestion_next_ns(struct iqcn_queue *q, u64 now_ns)
{
	/* every run of the timer checks the idle timeout, so an armed timer
	 * suffices
	 */
	if (!q->congested || q->timer_ns != KTIME_MAX)
		return KTIME_MAX;
	return max3((q->ce.start_ns ?: now_ns) + iqcn_congestion_idle_ns(q),
		    q->idle_check_ns, q->backoff.until_ns);
}

const struct iqcn_timer_ops iqcn_congestion_ops = {
	.rests = true,
	.begin = iqcn_congestion_check_idle,
	.next_ns = iqcn_congestion_next_ns,
};

/**
 * iqcn_congestion_of_flow() - get the state of a flow
 * @q: its queue
 * @flow: flow
 * @bits: result: enum iqcn_detect bits of the queue, or of the flow itself
 * @reason: result: enum iqcn_reason of the last change
 *
 * Context: queue->lock.
 * Return: when the state last changed, 0: never.
 */
u64 iqcn_congestion_of_flow(const struct iqcn_queue *q,
			    const struct iqcn_flow *flow, u32 *bits,
			    u32 *reason)
{
	const struct iqcn_flow_ext *e = flow->ext;
	bool own = !q->congested && e && e->epoch == q->epoch && e->state_ns;

	*bits = q->congested ?: iqcn_flow_own(q, flow);
	*reason = own ? e->state_reason : q->state_reason;
	return own ? e->state_ns : q->state_ns;
}

/**
 * iqcn_congestion_set_flow() - set a flow's own state
 * @q: its queue
 * @flow: flow whose extension belongs to the queue's current epoch; this
 *	function does not free the extension
 * @bits: enum iqcn_detect bits of the flow's detectors
 * @reason: enum iqcn_reason of a change
 * @now_ns: now
 *
 * Context: queue->lock.
 */
void iqcn_congestion_set_flow(struct iqcn_queue *q, struct iqcn_flow *flow,
			      u32 bits, u32 reason, u64 now_ns)
{
	struct iqcn_flow_ext *e = flow->ext;
	bool change = !bits != !e->congested;

	lockdep_assert_held(&q->lock);

	e->congested = bits;
	if (!change)
		return;
	q->n_congested += bits ? 1 : -1;
	if (!bits)
		iqcn_pending_drop(q, flow);
	e->state_ns = now_ns;
	e->state_reason = reason;
	iqcn_inc(q->st.flow_state_changes);
	trace_iqcn_flow_state(q, flow);
	iqcn_event_flow_state(q, flow, bits, reason, now_ns);
}

/* Run the detectors of a flow for its next @n CE packets in order, from number
 * @seq on.  Return: the new value of @bits.
 */
static u32 iqcn_congestion_judge_flow(const struct iqcn_queue *q,
				      struct iqcn_continuity *c, u32 bits,
				      u32 seq, u32 n, bool request)
{
	u32 ended;
	bool on;

	ended = iqcn_continuity_add(c, seq, n,
				    iqcn_sample_modulus(q->p.sample), request);
	if (q->p.detect & IQCN_DETECT_RUN) {
		on = iqcn_detect_run(bits & IQCN_DETECT_RUN, ended, c->run,
				     q->p.run_enter, q->p.run_exit);
		bits = iqcn_detect_with(bits, IQCN_DETECT_RUN, on);
	}
	if (q->p.detect & IQCN_DETECT_SPAN) {
		on = iqcn_detect_span(bits & IQCN_DETECT_SPAN, c,
				      q->p.span_packets, q->p.span_enter,
				      q->p.span_exit);
		bits = iqcn_detect_with(bits, IQCN_DETECT_SPAN, on);
	}
	return bits;
}

/**
 * iqcn_congestion_detect_flow() - run the detectors of a flow for a CE packet
 * @q: queue of the flow; the queue is clear
 * @flow: flow of the packet
 * @psn: PSN of the packet's first segment
 * @segs: number of segments
 * @request: the PSN belongs to the sequence of requests, not of responses
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_congestion_detect_flow(struct iqcn_queue *q, struct iqcn_flow *flow,
				 u32 psn, u32 segs, bool request, u64 now_ns)
{
	u32 modulus = iqcn_sample_modulus(q->p.sample);
	u32 bits, seq, n, first, several;
	struct iqcn_continuity *c;
	struct iqcn_reorder *r;
	struct iqcn_flow_ext *e;
	bool held;

	n = iqcn_sample_pick(psn, segs, flow->qp, q->p.sample, &seq);
	/* the packet was sampled before q->p.sample changed */
	if (!n)
		return;
	e = iqcn_ext_get(flow);
	if (!e) {
		/* on -ENOMEM, the detectors start with a later packet */
		iqcn_inc(q->st.flow_full);
		return;
	}
	c = &e->continuity;
	r = &e->reorder;
	if (e->epoch != q->epoch) {
		memset(c, 0, sizeof(*c));
		memset(r, 0, sizeof(*r));
		e->congested = 0;
		e->state_ns = 0;
		e->epoch = q->epoch;
	}
	bits = e->congested;
	held = iqcn_reorder_add(r, seq, n, modulus, request);
	while ((several = iqcn_reorder_pop(r, !held, modulus, &first)))
		bits = iqcn_congestion_judge_flow(q, c, bits, first, several,
						  r->kind);
	if (!held) {
		bits = iqcn_congestion_judge_flow(q, c, bits, seq, n, request);
		iqcn_reorder_pass(r, seq, n, modulus, request);
	}
	iqcn_congestion_set_flow(q, flow, bits,
				 iqcn_reason(bits ?: e->congested), now_ns);
}
