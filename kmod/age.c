// SPDX-License-Identifier: GPL-2.0
/*
 * Flows are forgotten: when they have had no packet for long, when a queue
 * may keep fewer of them, and when the queue goes.
 */
#include "iqcn.h"

/* Flows forgotten before locks are dropped */
#define IQCN_AGE_RUN		64

static void iqcn_age_next(struct iqcn_queue *q, u64 ns)
{
	/* a jiffy late rather than early */
	queue_delayed_work(iqcn_wq, &q->age_work, nsecs_to_jiffies(ns) + 1);
}

/* The oldest flow, if it is to be forgotten.  Else @wait_ns is how long it
 * takes until it has aged, 0: there is none.
 */
static struct iqcn_flow *iqcn_age_oldest(struct iqcn_queue *q, u64 now_ns,
					 enum iqcn_forget why, u64 *wait_ns)
{
	struct iqcn_flow *flow;
	s64 left_ns;

	spin_lock(&q->lock);
	*wait_ns = 0;
	flow = list_first_entry_or_null(&q->lru, struct iqcn_flow, lru);
	if (flow && why == IQCN_FORGET_AGED) {
		left_ns = max(flow->ce_ns, flow->arrived_ns) +
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
static bool iqcn_age_run(struct iqcn_queue *q, enum iqcn_forget why,
			 u64 *wait_ns)
{
	struct iqcn_port *port = q->port;
	struct iqcn_flow *flow = NULL;
	u64 now_ns = ktime_get_ns();
	int i;

	spin_lock_bh(&port->lock);
	for (i = 0; i < IQCN_AGE_RUN; i++) {
		flow = iqcn_age_oldest(q, now_ns, why, wait_ns);
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

static void iqcn_age_work(struct work_struct *work)
{
	struct iqcn_queue *q = container_of(to_delayed_work(work),
					    struct iqcn_queue, age_work);
	u64 wait_ns;

	while (iqcn_age_run(q, IQCN_FORGET_AGED, &wait_ns))
		;

	spin_lock_bh(&q->lock);
	if (wait_ns && !q->dead)
		iqcn_age_next(q, wait_ns);
	spin_unlock_bh(&q->lock);
}

/**
 * iqcn_age_init() - a queue is made
 * @q: queue, zeroed
 *
 * Context: RTNL.
 */
void iqcn_age_init(struct iqcn_queue *q)
{
	INIT_LIST_HEAD(&q->lru);
	INIT_DELAYED_WORK(&q->age_work, iqcn_age_work);
}

/**
 * iqcn_age_start() - the first flow has joined
 * @q: queue
 *
 * Context: queue->lock, BHs off.
 */
void iqcn_age_start(struct iqcn_queue *q)
{
	if (!q->dead)
		iqcn_age_next(q, (u64)q->p.age_ms * NSEC_PER_MSEC);
}

/**
 * iqcn_age_hurry() - the age may have become less
 * @q: queue
 *
 * Context: queue->lock, BHs off.
 */
void iqcn_age_hurry(struct iqcn_queue *q)
{
	if (q->n_flows)
		mod_delayed_work(iqcn_wq, &q->age_work, 0);
}

/**
 * iqcn_age_forget() - forget flows now
 * @q: queue with a port
 * @why: which: those beyond the limit, or all
 *
 * Context: RTNL, sleeps.
 */
void iqcn_age_forget(struct iqcn_queue *q, enum iqcn_forget why)
{
	u64 wait_ns;

	while (iqcn_age_run(q, why, &wait_ns))
		;
}
