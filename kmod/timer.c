// SPDX-License-Identifier: GPL-2.0
/*
 * The one hrtimer of a queue: it sends pending CNPs, and lets each notify method
 * do what is due.
 *
 * It is armed for what is first at that moment.  When that moves, the timer expires
 * early once and is armed again, so a CE packet of a queue with deadlines never
 * touches it.
 *
 * A run is bounded: by IQCN_TIMER_RUN flows, and then by a pause before the next
 * run, which is as long as the run was.  The owner of a namespace has a share of
 * the CPUs for its timers (owner.h), and a queue from which no packet leaves is
 * asked less and less often (struct iqcn_backoff).
 */
#include "algo/share.h"
#include "iqcn.h"

/* CNPs prepared before the lock is dropped and they are injected; on the stack */
#define IQCN_BATCH		8
/* Flows handled in one run, before others get the CPU */
#define IQCN_TIMER_RUN		32
/* The pause if more is due: as long as the run, within these bounds.  The upper
 * one is for a run that was interrupted.
 */
#define IQCN_TIMER_GAP_NS	1000
#define IQCN_TIMER_GAP_MAX_NS	NSEC_PER_MSEC

/* In the order in which they are asked */
static const struct iqcn_notify_ops * const iqcn_notify_methods[] = {
	&iqcn_congestion_ops,
	&iqcn_notify_timer_ops,
	&iqcn_notify_bts_ops,
};

#define for_each_method(_m)						\
	for ((_m) = iqcn_notify_methods;				\
	     (_m) < iqcn_notify_methods + ARRAY_SIZE(iqcn_notify_methods); \
	     (_m)++)

/**
 * iqcn_timer_disarm() - the timer is to be set again
 * @q: queue
 *
 * If its callback is running it expires once more at worst.
 *
 * Context: queue->lock.
 */
void iqcn_timer_disarm(struct iqcn_queue *q)
{
	hrtimer_try_to_cancel(&q->timer);
	q->timer_ns = KTIME_MAX;
	/* T1 may be another, or the method */
	q->polls_ns = 0;
}

/* When there is something to do */
static u64 iqcn_timer_next_ns(struct iqcn_queue *q, u64 now_ns)
{
	struct timerqueue_node *pending = timerqueue_getnext(&q->pending);
	const struct iqcn_notify_ops *const *m;
	u64 next_ns = KTIME_MAX;

	if (q->dead)
		return next_ns;
	if (pending)
		next_ns = pending->expires;
	for_each_method(m)
		next_ns = min(next_ns, (*m)->next_ns(q, now_ns));
	return next_ns;
}

/**
 * iqcn_timer_wake() - packets leave again
 * @q: queue
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_timer_wake(struct iqcn_queue *q)
{
	memset(&q->backoff, 0, sizeof(q->backoff));
}

/**
 * iqcn_timer_set() - arm the timer, if it is not armed for something earlier
 * @q: queue
 * @now_ns: now
 *
 * iqcn_timer_arm() calls it where it may be necessary.
 *
 * Context: queue->lock, BHs off.
 */
void iqcn_timer_set(struct iqcn_queue *q, u64 now_ns)
{
	u64 next_ns = max(iqcn_timer_next_ns(q, now_ns), q->pause_ns);

	lockdep_assert_held(&q->lock);

	if (next_ns >= q->timer_ns)
		return;
	q->timer_ns = next_ns;
	hrtimer_start(&q->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

/* The time of a pending CNP has come.  Return: @n is to be injected. */
static bool iqcn_timer_send(struct iqcn_queue *q, struct iqcn_flow *flow,
			    struct iqcn_notice *n, u64 now_ns)
{
	const struct iqcn_notify_ops *const *m;

	for_each_method(m)
		if ((*m)->causes & BIT(flow->ext->cnp_cause))
			return (*m)->pending(q, flow, n, now_ns);
	return false;
}

/* Do the first thing that is due.  Return: false if nothing is. */
static bool iqcn_timer_one(struct iqcn_queue *q, struct iqcn_notice *n,
			   bool *send, u64 now_ns)
{
	struct timerqueue_node *pending = timerqueue_getnext(&q->pending);
	const struct iqcn_notify_ops *const *m;

	if (pending && pending->expires <= now_ns) {
		*send = iqcn_timer_send(q, iqcn_pending_flow(pending), n,
					now_ns);
		return true;
	}
	for_each_method(m)
		if ((*m)->run && (*m)->run(q, n, send, now_ns))
			return true;
	return false;
}

/* Fill @batch with CNPs that are due, from @left flows at most.
 * Return: how many.
 */
static unsigned int iqcn_timer_collect(struct iqcn_queue *q,
				       struct iqcn_notice *batch,
				       unsigned int *left)
{
	const struct iqcn_notify_ops *const *m;
	unsigned int n = 0;
	bool send;
	u64 now_ns;

	lockdep_assert_held(&q->lock);

	now_ns = ktime_get_ns();
	for_each_method(m)
		if ((*m)->begin)
			(*m)->begin(q, now_ns);
	while (n < IQCN_BATCH && *left && !q->dead) {
		if (!iqcn_timer_one(q, &batch[n], &send, now_ns))
			break;
		(*left)--;
		n += send;
	}
	return n;
}

static enum hrtimer_restart iqcn_timer(struct hrtimer *timer)
{
	struct iqcn_queue *q = container_of(timer, struct iqcn_queue, timer);
	struct iqcn_notice batch[IQCN_BATCH] __uninitialized; /* as far as filled */
	unsigned int n, left = IQCN_TIMER_RUN;
	const struct iqcn_notify_ops *const *m;
	u64 start_ns = ktime_get_ns();
	u64 now_ns;

	do {
		spin_lock(&q->lock);
		n = iqcn_timer_collect(q, batch, &left);
		spin_unlock(&q->lock);
		iqcn_cnp_inject(q, batch, n);
	} while (n == IQCN_BATCH && left);

	/* Not by HRTIMER_RESTART, because whoever holds the lock may arm it.  If
	 * more is due already, after a pause, whatever packets arrive: a timer armed
	 * for the past would run again within the same softirq, and so for ever.
	 */
	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	q->timer_ns = KTIME_MAX;
	for_each_method(m)
		if ((*m)->end)
			(*m)->end(q, now_ns, now_ns - start_ns);
	/* flows whose packets are stuck are due every T1 */
	iqcn_backoff_run(&q->backoff, u64_stats_read(&q->sent->packets), now_ns);
	/* in the past unless the owner's timers have used up their share */
	q->pause_ns = iqcn_owner_charge(q->port->owner, now_ns - start_ns,
					now_ns);
	if (iqcn_timer_next_ns(q, now_ns) <= now_ns)
		q->pause_ns = max(q->pause_ns, now_ns +
				  clamp_t(u64, now_ns - start_ns,
					  IQCN_TIMER_GAP_NS,
					  IQCN_TIMER_GAP_MAX_NS));
	iqcn_timer_arm(q, now_ns);
	spin_unlock(&q->lock);
	return HRTIMER_NORESTART;
}

/**
 * iqcn_timer_init() - a queue is made
 * @q: queue, zeroed
 *
 * Context: RTNL.
 */
void iqcn_timer_init(struct iqcn_queue *q)
{
	INIT_LIST_HEAD(&q->deadlines);
	INIT_LIST_HEAD(&q->lapsed);
	INIT_LIST_HEAD(&q->polls);
	timerqueue_init_head(&q->pending);
	q->timer_ns = KTIME_MAX;
	hrtimer_setup(&q->timer, iqcn_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}
