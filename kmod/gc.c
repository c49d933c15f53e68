// SPDX-License-Identifier: GPL-2.0
/*
 * Flows are forgotten: when they have had no packet for long, when a queue
 * may keep fewer of them, when the queue goes, and when somebody says so.
 *
 * Anybody can make flows, with packets of any addresses and numbers; to settle one
 * takes answers of its receiver.  So where room is short the oldest one goes, but
 * among those that are not settled once they have more than their share: what
 * comes in masses pushes out its like, not the flows that are known and served.  How
 * old they are is known to 5 ms (active.h): in a flood one that was not settled may go
 * although its packets come.
 */
#include "iqcn.h"

/* Flows forgotten before locks are dropped */
#define IQCN_GC_RUN		64
/* Part of the room that flows have to become settled, however many are */
#define IQCN_UNASSURED_SHARE	4

static void iqcn_gc_next(struct iqcn_queue *q, u64 ns)
{
	/* a jiffy late rather than early */
	queue_delayed_work(iqcn_wq, &q->gc_work, nsecs_to_jiffies(ns) + 1);
}

static u64 iqcn_gc_last_ns(const struct iqcn_flow *flow)
{
	return max(flow->ce_ns, flow->arrived_ns);
}

/* The oldest flow of all; @q->lock.  Return: NULL if there is none. */
static struct iqcn_flow *iqcn_gc_first(struct iqcn_queue *q)
{
	struct iqcn_flow *a, *b;

	a = list_first_entry_or_null(&q->lru[0], struct iqcn_flow, lru);
	b = list_first_entry_or_null(&q->lru[1], struct iqcn_flow, lru);
	if (!a || !b)
		return a ?: b;
	return iqcn_gc_last_ns(a) < iqcn_gc_last_ns(b) ? a : b;
}

/**
 * iqcn_gc_early_drop() - which flow makes room for another?
 * @q: queue
 *
 * Context: queue->lock.
 * Return: NULL if there is none.
 */
struct iqcn_flow *iqcn_gc_early_drop(struct iqcn_queue *q)
{
	unsigned int grade, unassured = 0;

	lockdep_assert_held(&q->lock);

	for (grade = 0; !iqcn_pair_assured(grade); grade++)
		unassured += q->by_grade[grade];
	if (unassured > q->p.flows / IQCN_UNASSURED_SHARE)
		return list_first_entry(&q->lru[0], struct iqcn_flow, lru);
	return iqcn_gc_first(q);
}

/* The oldest flow, if it is to be forgotten.  Else @wait_ns is how long it
 * takes until it has aged, 0: there is none.
 */
static struct iqcn_flow *iqcn_gc_oldest(struct iqcn_queue *q, u64 now_ns,
					 enum iqcn_forget why, u64 *wait_ns)
{
	struct iqcn_flow *flow;
	s64 left_ns;

	spin_lock(&q->lock);
	*wait_ns = 0;
	flow = why == IQCN_FORGET_SURPLUS ? iqcn_gc_early_drop(q) :
					    iqcn_gc_first(q);
	if (flow && why == IQCN_FORGET_AGED) {
		left_ns = iqcn_gc_last_ns(flow) +
			  (u64)q->p.age_ms * NSEC_PER_MSEC - now_ns;
		if (left_ns > 0) {
			*wait_ns = left_ns;
			flow = NULL;
		}
	} else if (why == IQCN_FORGET_SURPLUS && q->n_flows <= q->p.flows) {
		flow = NULL;
	}
	spin_unlock(&q->lock);
	return flow;
}

/* Return: there may be more to forget, locks were dropped for others' sake */
static bool iqcn_gc_run(struct iqcn_queue *q, enum iqcn_forget why,
			 u64 *wait_ns)
{
	struct iqcn_port *port = q->port;
	struct iqcn_flow *flow = NULL;
	u64 now_ns = ktime_get_ns();
	int i;

	spin_lock_bh(&port->lock);
	for (i = 0; i < IQCN_GC_RUN; i++) {
		flow = iqcn_gc_oldest(q, now_ns, why, wait_ns);
		if (!flow)
			break;
		iqcn_flow_kill(flow);
		if (why == IQCN_FORGET_AGED)
			iqcn_inc(q->st.flow_aged);
		else if (why == IQCN_FORGET_SURPLUS)
			iqcn_inc(q->st.flow_evicted);
	}
	spin_unlock_bh(&port->lock);
	cond_resched();
	return flow;
}

static void iqcn_gc_work(struct work_struct *work)
{
	struct iqcn_queue *q = container_of(to_delayed_work(work),
					    struct iqcn_queue, gc_work);
	u64 wait_ns;

	while (iqcn_gc_run(q, IQCN_FORGET_AGED, &wait_ns))
		;

	spin_lock_bh(&q->lock);
	if (wait_ns && !q->dead)
		iqcn_gc_next(q, wait_ns);
	spin_unlock_bh(&q->lock);
}

/**
 * iqcn_gc_init() - a queue is made
 * @q: queue, zeroed
 *
 * Context: RTNL.
 */
void iqcn_gc_init(struct iqcn_queue *q)
{
	INIT_LIST_HEAD(&q->lru[0]);
	INIT_LIST_HEAD(&q->lru[1]);
	INIT_DELAYED_WORK(&q->gc_work, iqcn_gc_work);
}

/**
 * iqcn_gc_start() - the first flow has joined
 * @q: queue
 *
 * Context: queue->lock, BHs off.
 */
void iqcn_gc_start(struct iqcn_queue *q)
{
	if (!q->dead)
		iqcn_gc_next(q, (u64)q->p.age_ms * NSEC_PER_MSEC);
}

/**
 * iqcn_gc_hurry() - the age may have become less
 * @q: queue
 *
 * Context: queue->lock, BHs off.
 */
void iqcn_gc_hurry(struct iqcn_queue *q)
{
	if (q->n_flows)
		mod_delayed_work(iqcn_wq, &q->gc_work, 0);
}

/**
 * iqcn_gc_forget() - forget flows now
 * @q: queue with a port
 * @why: which: those beyond the limit, or all, if no packet comes any more
 *
 * Context: RTNL, sleeps.
 */
void iqcn_gc_forget(struct iqcn_queue *q, enum iqcn_forget why)
{
	u64 wait_ns;

	while (iqcn_gc_run(q, why, &wait_ns))
		;
}

/* Return: there may be more to forget, locks were dropped for others' sake */
static bool iqcn_gc_flush_run(struct iqcn_port *port,
			       const struct iqcn_queue *only, u64 born_ns,
			       unsigned long *id, u64 *n)
{
	struct iqcn_flow *flow = NULL;
	int i;

	spin_lock_bh(&port->lock);
	for (i = 0; i < IQCN_GC_RUN; i++) {
		flow = xa_find(&port->by_id, id, ULONG_MAX, XA_PRESENT);
		if (!flow)
			break;
		++*id;
		if (flow->born_ns > born_ns || (only && flow->queue != only))
			continue;
		iqcn_flow_kill(flow);
		++*n;
	}
	spin_unlock_bh(&port->lock);
	cond_resched();
	return flow;
}

/**
 * iqcn_gc_flush() - forget the flows that there are now
 * @port: port
 * @only: its queue that they leave by, NULL: any
 *
 * Those that are made meanwhile stay, so it ends however many packets come.
 *
 * Context: RTNL, sleeps.
 * Return: how many they were.
 */
u64 iqcn_gc_flush(struct iqcn_port *port, const struct iqcn_queue *only)
{
	u64 born_ns = iqcn_flow_youngest(port);
	unsigned long id = 0;
	u64 n = 0;

	while (iqcn_gc_flush_run(port, only, born_ns, &id, &n))
		;
	return n;
}
