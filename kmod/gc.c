// SPDX-License-Identifier: GPL-2.0
/*
 * Removal of flows: idle ones, those beyond a lowered limit, all of a queue
 * that leaves its port, and those that are flushed, by netlink or because the
 * snoop mode changes.
 *
 * Any host can create flows, with packets of any addresses and QPs, but a flow
 * becomes assured only by packets from its receiver.  So once the unassured
 * flows exceed their share, the early drop removes the oldest of them: a flood
 * evicts its own flows rather than assured ones.  Until then, the early drop
 * removes the oldest flow of all.  The order of the LRU lists is accurate only
 * to 5 ms (IQCN_ACTIVE_EPOCH_NS), so a flood may also evict an unassured flow
 * whose packets still arrive.
 */
#include "iqcn.h"

/* Flows to examine before port->lock is dropped */
#define IQCN_GC_BATCH		64
/* Unassured flows are evicted first while there are more of them than the limit
 * of flows divided by this
 */
#define IQCN_UNASSURED_SHARE	4

static void iqcn_gc_next(struct iqcn_queue *q, u64 ns)
{
	/* round up, because work that runs early finds no idle flow */
	queue_delayed_work(iqcn_wq, &q->gc_work, nsecs_to_jiffies(ns) + 1);
}

/* When a packet of a flow last arrived, or last left with CE */
static u64 iqcn_gc_last_ns(const struct iqcn_flow *flow)
{
	return max(READ_ONCE(flow->ce_ns), flow->arrived_ns);
}

/* The oldest flow of a queue, or NULL; queue->lock */
static struct iqcn_flow *iqcn_gc_oldest(struct iqcn_queue *q)
{
	struct iqcn_flow *a, *b;

	a = list_first_entry_or_null(&q->lru[0], struct iqcn_flow, lru);
	b = list_first_entry_or_null(&q->lru[1], struct iqcn_flow, lru);
	if (!a || !b)
		return a ?: b;
	return iqcn_gc_last_ns(a) < iqcn_gc_last_ns(b) ? a : b;
}

/**
 * iqcn_gc_early_drop() - choose the flow to evict at the limit
 * @q: queue
 *
 * Context: queue->lock.
 * Return: the flow, or NULL if the queue has none.
 */
struct iqcn_flow *iqcn_gc_early_drop(struct iqcn_queue *q)
{
	unsigned int grade, unassured = 0;

	lockdep_assert_held(&q->lock);

	for (grade = 0; !iqcn_pair_assured(grade); grade++)
		unassured += q->by_grade[grade];
	if (unassured > q->p.flows / IQCN_UNASSURED_SHARE)
		return list_first_entry(&q->lru[0], struct iqcn_flow, lru);
	return iqcn_gc_oldest(q);
}

/* Choose the next flow to remove.  Return: NULL if there is none; then @wait_ns
 * is the time until the oldest flow is idle for too long, or 0.
 */
static struct iqcn_flow *iqcn_gc_pick(struct iqcn_queue *q, u64 now_ns,
				      enum iqcn_forget why, u64 *wait_ns)
{
	struct iqcn_flow *flow;
	s64 left_ns;

	spin_lock(&q->lock);
	*wait_ns = 0;
	flow = why == IQCN_FORGET_SURPLUS ? iqcn_gc_early_drop(q) :
					    iqcn_gc_oldest(q);
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

/* Remove a batch of flows.  Return: true if there may be more. */
static bool iqcn_gc_batch(struct iqcn_queue *q, enum iqcn_forget why,
			  u64 *wait_ns)
{
	struct iqcn_port *port = q->port;
	struct iqcn_flow *flow = NULL;
	u64 now_ns = ktime_get_ns();
	int i;

	spin_lock_bh(&port->lock);
	for (i = 0; i < IQCN_GC_BATCH; i++) {
		flow = iqcn_gc_pick(q, now_ns, why, wait_ns);
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

	while (iqcn_gc_batch(q, IQCN_FORGET_AGED, &wait_ns))
		;

	spin_lock_bh(&q->lock);
	if (wait_ns && !q->dead)
		iqcn_gc_next(q, wait_ns);
	spin_unlock_bh(&q->lock);
}

/**
 * iqcn_gc_init() - initialize the LRU lists and the work of a queue
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
 * iqcn_gc_start() - schedule the work when a queue gets its first flow
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
 * iqcn_gc_hurry() - run the work at once, because age may be shorter now
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
 * iqcn_gc_forget() - remove flows of a queue now
 * @q: queue with a port
 * @why: IQCN_FORGET_SURPLUS, or IQCN_FORGET_ALL if no packet arrives any more
 *
 * Context: RTNL, sleeps.
 */
void iqcn_gc_forget(struct iqcn_queue *q, enum iqcn_forget why)
{
	u64 wait_ns;

	while (iqcn_gc_batch(q, why, &wait_ns))
		;
}

/* Flush a batch of flows.  Return: true if there may be more. */
static bool iqcn_gc_flush_batch(struct iqcn_port *port,
				const struct iqcn_queue *only, u64 born_ns,
				unsigned long *id, u64 *n)
{
	struct iqcn_flow *flow = NULL;
	int i;

	spin_lock_bh(&port->lock);
	for (i = 0; i < IQCN_GC_BATCH; i++) {
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
 * iqcn_gc_flush() - remove the current flows of a port or of one of its queues
 * @port: port
 * @only: queue of the port, NULL: all of them
 *
 * Flows created meanwhile stay, so that the flush ends at any packet rate.
 *
 * Context: RTNL, sleeps.
 * Return: number of flows removed.
 */
u64 iqcn_gc_flush(struct iqcn_port *port, const struct iqcn_queue *only)
{
	u64 born_ns = iqcn_flow_youngest(port);
	unsigned long id = 0;
	u64 n = 0;

	while (iqcn_gc_flush_batch(port, only, born_ns, &id, &n))
		;
	return n;
}
