// SPDX-License-Identifier: GPL-2.0
/*
 * struct iqcn_flow_ext: state that a flow has only while something needs it.
 *
 * A live flow has at most one extension, and a dead flow none, so the limit of
 * flows also limits this memory.
 */
#include <linux/slab.h>

#include "iqcn.h"

/**
 * iqcn_ext_get() - get the extension of a flow, or allocate it
 * @flow: flow, in no table yet or alive
 *
 * Context: queue->lock if the flow is in the table, BHs off.
 * Return: the extension, or NULL if memory runs out.
 */
struct iqcn_flow_ext *iqcn_ext_get(struct iqcn_flow *flow)
{
	struct iqcn_flow_ext *e = flow->ext;

	if (e)
		return e;
	e = kzalloc(sizeof(*e), GFP_ATOMIC | __GFP_NOWARN);
	if (!e)
		return NULL;
	e->flow = flow;
	INIT_LIST_HEAD(&e->unassured);
	INIT_LIST_HEAD(&e->turn);
	timerqueue_init(&e->pending);
	flow->ext = e;
	return e;
}

/**
 * iqcn_ext_trim() - free the extension of a flow unless something needs it
 * @q: its queue
 * @flow: flow, with an extension or without
 *
 * Context: queue->lock.
 */
void iqcn_ext_trim(const struct iqcn_queue *q, struct iqcn_flow *flow)
{
	const struct iqcn_flow_ext *e = flow->ext;

	lockdep_assert_held(&q->lock);

	if (e && list_empty(&e->unassured) && list_empty(&e->turn) &&
	    !iqcn_flow_has_pending(flow) && e->epoch != q->epoch)
		iqcn_ext_free(flow);
}

/**
 * iqcn_ext_free() - free the extension of a flow
 * @flow: flow without other users, or whose queue->lock the caller holds
 *
 * Context: any.
 */
void iqcn_ext_free(struct iqcn_flow *flow)
{
	kfree(flow->ext);
	flow->ext = NULL;
}
