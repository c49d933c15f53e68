/* SPDX-License-Identifier: GPL-2.0 */
/* The hrtimer of a queue (timer.c), and the interface to its clients. */
#ifndef _IQCN_TIMER_H
#define _IQCN_TIMER_H

#include "cnp.h"
#include "queue.h"

/**
 * struct iqcn_timer_ops - a client of the timer, such as a notify method
 * @causes: set of BIT(enum iqcn_cause) of its CNPs
 * @rests: while the queue is quiet (pfc.c), @begin, @next_ns and @run are not
 *	called
 * @optional: unless the queue has a lease or supplements, the same three
 *	functions are not called either, so that the client costs other queues
 *	nothing (bench "marked")
 * @init: initialize the client's lists in a new queue; optional, RTNL
 * @set_params: adapt to q->p, which may differ from @old; optional
 * @reset: reset the client's state, except that in flows; optional
 * @cancel: cancel the client's work for a flow that leaves the queue, or that
 *	has a pending CNP when the queue is reset; optional
 * @begin: begin a batch, of which a run of the timer may have several; optional
 * @next_ns: return when the client next has work; KTIME_MAX: never, or an armed
 *	timer suffices
 * @run: do the first work that is due, and set @send to whether @n is to be
 *	injected; return false if no work was due: then @run is not called again
 *	in this batch; optional
 * @pending: a pending CNP of one of @causes is due: remove it, and return true
 *	if @n is to be injected; optional if @causes is 0
 * @end: end a run of the timer, which took @took_ns; optional
 *
 * All but @init are called with queue->lock and BHs off.  @now_ns never
 * decreases from call to call.  A new method is a new file with such a
 * structure, and a row in timer.c.  A method that handles each packet is called
 * directly from qdisc.c or queue.c, because an indirect call per packet is too
 * slow.
 */
struct iqcn_timer_ops {
	u32 causes;
	bool rests;
	bool optional;
	void (*init)(struct iqcn_queue *q);
	void (*set_params)(struct iqcn_queue *q, const struct iqcn_params *old,
			   u64 now_ns);
	void (*reset)(struct iqcn_queue *q);
	void (*cancel)(struct iqcn_flow *flow);
	void (*begin)(struct iqcn_queue *q, u64 now_ns);
	u64 (*next_ns)(struct iqcn_queue *q, u64 now_ns);
	bool (*run)(struct iqcn_queue *q, struct iqcn_notice *n, bool *send,
		    u64 now_ns);
	bool (*pending)(struct iqcn_queue *q, struct iqcn_flow *flow,
			struct iqcn_notice *n, u64 now_ns);
	void (*end)(struct iqcn_queue *q, u64 now_ns, u64 took_ns);
};

/* sends no CNPs, but ends leases */
extern const struct iqcn_timer_ops iqcn_lease_ops;
/* sends no CNPs, but ends pauses */
extern const struct iqcn_timer_ops iqcn_pfc_ops;
extern const struct iqcn_timer_ops iqcn_notify_timer_ops;
extern const struct iqcn_timer_ops iqcn_notify_bts_ops;
extern const struct iqcn_timer_ops iqcn_notify_supplement_ops;
/* sends no CNPs, but ends congestion after the idle timeout */
extern const struct iqcn_timer_ops iqcn_congestion_ops;

void iqcn_timer_init(struct iqcn_queue *q);
void iqcn_timer_set_params(struct iqcn_queue *q,
			   const struct iqcn_params *old, u64 now_ns);
void iqcn_timer_reset(struct iqcn_queue *q);
void iqcn_timer_set(struct iqcn_queue *q, u64 now_ns);
void iqcn_timer_disarm(struct iqcn_queue *q);
void iqcn_timer_wake(struct iqcn_queue *q);
void iqcn_timer_cancel(struct iqcn_flow *flow);

/* Is the timer armed early enough for all work except pending CNPs?  A packet
 * may add a poll after poll_gap, or a deadline after t1, which is at least
 * poll_gap, or may start a controller.  The timer is already armed for all
 * earlier work, with one exception: if a step of the controller shortens
 * poll_gap, a poll may be late by the new poll_gap.
 * Without deadlines, polls, supplements and a lease, a timer that expires
 * within IQCN_PI_END_NS suffices, too.  A timer that is armed for the idle
 * timeout of a window above 10 ms expires later, and does not suffice.
 */
static inline bool iqcn_timer_suffices(const struct iqcn_queue *q, u64 now_ns)
{
	if (q->timer_ns <= now_ns + min_t(u64, q->poll_gap_ns, IQCN_PI_END_NS))
		return true;
	return q->timer_ns <= now_ns + IQCN_PI_END_NS &&
	       !iqcn_queue_long_haul(q) &&
	       list_empty(&q->polls) && list_empty(&q->deadlines);
}

/* Arm the timer if it would expire too late.  Inline, because with T1 this
 * function is called for each CE packet that leaves, and nearly always returns
 * at once (bench "marked").  queue->lock, BHs off.
 */
static inline void iqcn_timer_arm(struct iqcn_queue *q, u64 now_ns)
{
	const struct timerqueue_node *pending = timerqueue_getnext(&q->pending);

	lockdep_assert_held(&q->lock);

	if (iqcn_timer_suffices(q, now_ns) &&
	    (!pending || pending->expires >= q->timer_ns))
		return;
	iqcn_timer_set(q, now_ns);
}

#endif /* _IQCN_TIMER_H */
