// SPDX-License-Identifier: GPL-2.0
/*
 * The hrtimer of a queue.  It sends pending CNPs, and runs the work of the
 * notify methods.  If work is due at once, such as a CNP that a packet causes,
 * BH work does it instead of the timer.  This saves a timer interrupt, and the
 * BH work runs after the root lock is released.
 *
 * The timer is armed for the earliest work.  If that work is postponed, the
 * timer is not rearmed: it expires once too early and is then armed for the new
 * time.  So a CE packet that restarts T1 does not touch the timer, nor does BH
 * work, as a rule.
 *
 * A run handles at most IQCN_TIMER_RUN flows.  If more are due, timer and BH
 * work pause for as long as the run took, at least 1 us and at most 1 ms.  All
 * timers and BH work of an owner's namespaces share the CPU time of the owner
 * (owner.h).  If no packet leaves the queue, the timer backs off (struct
 * iqcn_backoff).
 *
 * Timer and BH work may run at the same time on two CPUs.  Whichever removes a
 * pending CNP from the tree sends it; a method's work is done under the lock.
 */
#include "algo/share.h"
#include "iqcn.h"

/* Maximum number of CNPs that are prepared under the lock, on the stack, before
 * they are injected
 */
#define IQCN_BATCH		8
/* Flows that one run handles before it yields the CPU */
#define IQCN_TIMER_RUN		32
/* Bounds of the pause after a run that left work.  The upper one is for a run
 * that was interrupted.
 */
#define IQCN_TIMER_GAP_NS	1000
#define IQCN_TIMER_GAP_MAX_NS	NSEC_PER_MSEC

/* The clients, in the order in which the timer calls them */
static const struct iqcn_timer_ops * const iqcn_timer_clients[] = {
	&iqcn_lease_ops,
	&iqcn_pfc_ops,
	&iqcn_congestion_ops,
	&iqcn_notify_timer_ops,
	&iqcn_notify_bts_ops,
	&iqcn_notify_supplement_ops,
};

#define for_each_client(_m)						\
	for ((_m) = iqcn_timer_clients;					\
	     (_m) < iqcn_timer_clients + ARRAY_SIZE(iqcn_timer_clients); \
	     (_m)++)

static bool iqcn_timer_rests(const struct iqcn_queue *q,
			     const struct iqcn_timer_ops *m)
{
	if (m->optional)
		return !iqcn_queue_long_haul(q) || (q->quiet && m->rests);
	return unlikely(q->quiet) && m->rests;
}

/* Record when the timer expires, KTIME_MAX: it is not armed; queue->lock */
static void iqcn_timer_armed(struct iqcn_queue *q, u64 at_ns)
{
	q->armed_ns = at_ns;
	q->timer_ns = at_ns;
}

/**
 * iqcn_timer_disarm() - cancel the timer, before the caller arms it again
 * @q: queue
 *
 * A callback that is running is not stopped: it waits for queue->lock, and then
 * arms the timer itself.
 *
 * Context: queue->lock.
 */
void iqcn_timer_disarm(struct iqcn_queue *q)
{
	hrtimer_try_to_cancel(&q->timer);
	iqcn_timer_armed(q, KTIME_MAX);
	/* T1 or the methods may have changed */
	q->polls_ns = 0;
}

/* The time of the earliest work, KTIME_MAX: none */
static u64 iqcn_timer_next_ns(struct iqcn_queue *q, u64 now_ns)
{
	struct timerqueue_node *pending = timerqueue_getnext(&q->pending);
	const struct iqcn_timer_ops *const *m;
	u64 next_ns = KTIME_MAX;

	if (q->dead)
		return next_ns;
	if (pending)
		next_ns = pending->expires;
	for_each_client(m)
		if (!iqcn_timer_rests(q, *m))
			next_ns = min(next_ns, (*m)->next_ns(q, now_ns));
	return next_ns;
}

/**
 * iqcn_timer_wake() - end the back-off, because packets leave again
 * @q: queue
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_timer_wake(struct iqcn_queue *q)
{
	memset(&q->backoff, 0, sizeof(q->backoff));
}

/* Arm the timer for @next_ns, or for the end of the pause if that is later.  A
 * timer that is armed for an earlier time stays as it is.  If the new expiry is
 * not after @bh_ns, schedule BH work instead, which arms the timer when it
 * ends.  @bh_ns is 0 if BH work must not be scheduled.  queue->lock
 */
static void iqcn_timer_start(struct iqcn_queue *q, u64 next_ns, u64 bh_ns)
{
	next_ns = max(next_ns, q->pause_ns);
	if (next_ns >= q->timer_ns)
		return;
	if (next_ns <= bh_ns) {
		q->timer_ns = 0;
		iqcn_bh_schedule(&q->send_bh);
		return;
	}
	iqcn_timer_armed(q, next_ns);
	hrtimer_start(&q->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

/**
 * iqcn_timer_set() - arm the timer for the earliest work
 * @q: queue
 * @now_ns: now
 *
 * The slow path of iqcn_timer_arm().  A timer that is armed for an earlier time
 * stays as it is.  If work is due already, BH work is scheduled instead.
 *
 * Context: queue->lock, BHs off.
 */
void iqcn_timer_set(struct iqcn_queue *q, u64 now_ns)
{
	lockdep_assert_held(&q->lock);

	iqcn_timer_start(q, iqcn_timer_next_ns(q, now_ns), now_ns);
}

/**
 * iqcn_timer_set_params() - notify the clients of changed parameters
 * @q: queue
 * @old: parameters before the change
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_timer_set_params(struct iqcn_queue *q,
			   const struct iqcn_params *old, u64 now_ns)
{
	const struct iqcn_timer_ops *const *m;

	for_each_client(m)
		if ((*m)->set_params)
			(*m)->set_params(q, old, now_ns);
}

/**
 * iqcn_timer_reset() - reset the state of the clients
 * @q: queue
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_timer_reset(struct iqcn_queue *q)
{
	const struct iqcn_timer_ops *const *m;

	for_each_client(m)
		if ((*m)->reset)
			(*m)->reset(q);
}

/**
 * iqcn_timer_cancel() - cancel the deadline, poll and turn of a flow
 * @flow: flow; pending CNPs stay
 *
 * Context: lock of its queue.
 */
void iqcn_timer_cancel(struct iqcn_flow *flow)
{
	const struct iqcn_timer_ops *const *m;

	for_each_client(m)
		if ((*m)->cancel)
			(*m)->cancel(flow);
}

/* Handle a pending CNP that is due.  Return: true if @n is to be injected. */
static bool iqcn_timer_send(struct iqcn_queue *q, struct iqcn_flow *flow,
			    struct iqcn_notice *n, u64 now_ns)
{
	const struct iqcn_timer_ops *const *m;

	for_each_client(m)
		if ((*m)->causes & BIT(flow->ext->cnp_cause))
			return (*m)->pending(q, flow, n, now_ns);
	/* a cause without a client: the CNP would be due forever */
	DEBUG_NET_WARN_ON_ONCE(1);
	timerqueue_del(&q->pending, &flow->ext->pending);
	return false;
}

/* Do the first work that is due.  The clients before number @at have no work
 * due at @now_ns.  If a later client causes work for them, which is rare, the
 * next batch does that work.
 * Return: false if no work is due.
 */
static bool iqcn_timer_one(struct iqcn_queue *q, unsigned int *at,
			   struct iqcn_notice *n, bool *send, u64 now_ns)
{
	const struct iqcn_timer_ops *m;
	struct timerqueue_node *pending = timerqueue_getnext(&q->pending);

	if (pending && pending->expires <= now_ns) {
		*send = iqcn_timer_send(q, iqcn_pending_flow(pending), n,
					now_ns);
		return true;
	}
	for (; *at < ARRAY_SIZE(iqcn_timer_clients); (*at)++) {
		m = iqcn_timer_clients[*at];
		if (m->run && !iqcn_timer_rests(q, m) &&
		    m->run(q, n, send, now_ns))
			return true;
	}
	return false;
}

/* Fill @batch with CNPs that are due, from @left flows at most.
 * Return: number of CNPs.
 */
static unsigned int iqcn_timer_collect(struct iqcn_queue *q,
				       struct iqcn_notice *batch,
				       unsigned int *left)
{
	const struct iqcn_timer_ops *const *m;
	unsigned int n = 0, at = 0;
	bool send;
	u64 now_ns;

	lockdep_assert_held(&q->lock);

	now_ns = ktime_get_ns();
	for_each_client(m)
		if ((*m)->begin && !iqcn_timer_rests(q, *m))
			(*m)->begin(q, now_ns);
	while (n < IQCN_BATCH && *left && !q->dead) {
		if (!iqcn_timer_one(q, &at, &batch[n], &send, now_ns))
			break;
		(*left)--;
		n += send;
	}
	return n;
}

/* Send what is due, and arm the timer again.  @bh: called from BH work, while
 * the timer may still be armed.
 */
static void iqcn_timer_run(struct iqcn_queue *q, bool bh)
{
	struct iqcn_notice batch[IQCN_BATCH] __uninitialized; /* n are valid */
	unsigned int n, left = IQCN_TIMER_RUN;
	const struct iqcn_timer_ops *const *m;
	u64 start_ns = ktime_get_ns();
	u64 now_ns, next_ns;

	do {
		spin_lock(&q->lock);
		n = iqcn_timer_collect(q, batch, &left);
		spin_unlock(&q->lock);
		iqcn_cnp_inject(q, batch, n);
	} while (n == IQCN_BATCH && left);

	/* Rearm under the lock instead of HRTIMER_RESTART, because others may
	 * arm the timer meanwhile.  If more work is due already, set a pause: a
	 * timer armed for the past would run again within the same softirq,
	 * forever.
	 */
	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	if (bh)
		q->timer_ns = q->armed_ns;
	else
		iqcn_timer_armed(q, KTIME_MAX);
	for_each_client(m)
		if ((*m)->end)
			(*m)->end(q, now_ns, now_ns - start_ns);
	/* while the queue does not drain, T1 of its flows keeps expiring */
	iqcn_backoff_run(&q->backoff, u64_stats_read(&q->sent->packets), now_ns);
	/* iqcn_owner_charge() returns a time in the past, unless the owner's
	 * share is used up.  Another run may have begun a pause.
	 */
	q->pause_ns = max(q->pause_ns,
			  iqcn_owner_charge(q->port->owner, now_ns - start_ns,
					    now_ns));
	next_ns = iqcn_timer_next_ns(q, now_ns);
	if (next_ns <= now_ns)
		q->pause_ns = max(q->pause_ns, now_ns +
				  clamp_t(u64, now_ns - start_ns,
					  IQCN_TIMER_GAP_NS,
					  IQCN_TIMER_GAP_MAX_NS));
	iqcn_timer_start(q, next_ns, 0);
	spin_unlock(&q->lock);
}

static enum hrtimer_restart iqcn_timer(struct hrtimer *timer)
{
	iqcn_timer_run(container_of(timer, struct iqcn_queue, timer), false);
	return HRTIMER_NORESTART;
}

static void iqcn_timer_bh(struct iqcn_bh *bh)
{
	iqcn_timer_run(container_of(bh, struct iqcn_queue, send_bh), true);
}

/**
 * iqcn_timer_init() - initialize the timer of a new queue
 * @q: queue, zeroed
 *
 * Context: RTNL.
 */
void iqcn_timer_init(struct iqcn_queue *q)
{
	const struct iqcn_timer_ops *const *m;

	for_each_client(m)
		if ((*m)->init)
			(*m)->init(q);
	timerqueue_init_head(&q->pending);
	iqcn_bh_init(&q->send_bh, iqcn_timer_bh);
	iqcn_timer_armed(q, KTIME_MAX);
	hrtimer_setup(&q->timer, iqcn_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}
