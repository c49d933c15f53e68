/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deadlines of many flows with one T1: a list.
 *
 * A flow's deadline is base + T1, and base is always "now" when it moves: a
 * CE packet left, a CNP was seen, a CNP was sent.  So whoever moves last is
 * due last, and a list in the order of moving is a list in the order of
 * deadlines: O(1) per move, one timer for the head, for any number of flows.
 * T1 is not stored, so changing it keeps the order.
 *
 * A scan once per period needs no more than that either: those whose deadline
 * has passed are the first ones of the list.
 *
 * A deadline that expires while the queue is clear is kept on a second list.
 * The deadlines on it expired in the same order, and all of them began before
 * those that have not expired.  So the last one is the most recent.
 *
 * Source: US 12395431 B2, description (7), (8), (61), (65), (66), (69), FIG. 8:
 * a CNP is obtained when T1 has passed since the last CE packet without another,
 * by a timer or by a look once per period.  The iQCN feature counts from the
 * last CNP.
 *
 * Pure: no clock, no timer, no lock.  The caller serializes.
 */
#ifndef _IQCN_DEADLINE_H
#define _IQCN_DEADLINE_H

#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/**
 * struct iqcn_deadline - a flow's place among the deadlines
 * @node: on the queue's list, empty: no deadline
 * @base_ns: when it moved last
 */
struct iqcn_deadline {
	struct list_head node;
	u64 base_ns;
};

static inline void iqcn_deadline_init(struct iqcn_deadline *d)
{
	INIT_LIST_HEAD(&d->node);
	d->base_ns = 0;
}

/**
 * iqcn_deadline_armed() - does it have a deadline?
 * @d: deadline
 *
 * Return: true if so.
 */
static inline bool iqcn_deadline_armed(const struct iqcn_deadline *d)
{
	return !list_empty(&d->node);
}

/**
 * iqcn_deadline_restart() - it is T1 from now
 * @d: deadline, armed or not
 * @list: list of its queue
 * @now_ns: never less than in an earlier call for @list
 */
static inline void iqcn_deadline_restart(struct iqcn_deadline *d,
					 struct list_head *list, u64 now_ns)
{
	d->base_ns = now_ns;
	list_move_tail(&d->node, list);
}

/**
 * iqcn_deadline_cancel() - no deadline any more
 * @d: deadline, armed or not
 */
static inline void iqcn_deadline_cancel(struct iqcn_deadline *d)
{
	if (iqcn_deadline_armed(d))
		list_del_init(&d->node);
}

/**
 * iqcn_deadline_first() - the earliest deadline
 * @list: list of a queue
 *
 * Return: NULL if there is none.
 */
static inline struct iqcn_deadline *iqcn_deadline_first(struct list_head *list)
{
	return list_first_entry_or_null(list, struct iqcn_deadline, node);
}

/**
 * iqcn_deadline_last() - the latest deadline
 * @list: list of a queue
 *
 * Return: NULL if there is none.
 */
static inline struct iqcn_deadline *iqcn_deadline_last(struct list_head *list)
{
	return list_empty(list) ? NULL :
	       list_last_entry(list, struct iqcn_deadline, node);
}

/**
 * iqcn_deadline_lapse() - keep a deadline that has expired
 * @d: the first deadline of its list
 * @lapsed: list of those that expired before
 */
static inline void iqcn_deadline_lapse(struct iqcn_deadline *d,
				       struct list_head *lapsed)
{
	list_move_tail(&d->node, lapsed);
}

/**
 * iqcn_deadline_due() - has T1 passed?
 * @d: deadline
 * @t1_ns: T1
 * @now_ns: now
 *
 * Return: true if so.
 */
static inline bool iqcn_deadline_due(const struct iqcn_deadline *d, u64 t1_ns,
				     u64 now_ns)
{
	return (s64)(now_ns - d->base_ns - t1_ns) >= 0;
}

/**
 * iqcn_deadline_scan_ns() - when is the next scan?
 * @due_ns: deadline
 * @period_ns: time between two scans
 *
 * Return: the first multiple of @period_ns that is not before @due_ns.
 */
static inline u64 iqcn_deadline_scan_ns(u64 due_ns, u32 period_ns)
{
	return div_u64(due_ns + period_ns - 1, period_ns) * period_ns;
}

/* Chances of flows that are held come after those that want a CNP: they are seen to
 * together, so many times per T1 at most, for with many flows the timer would come for
 * each packet; and if a run is not enough, others have the CPU so many times as long
 * before the next
 */
#define IQCN_CHANCES_PER_T1	4
#define IQCN_CHANCES_REST	3
/* But no longer than that: what was interrupted takes long, and a flow is not held for
 * ever (bts.h)
 */
#define IQCN_CHANCES_REST_MAX_NS	NSEC_PER_MSEC

/**
 * iqcn_polls_rest_ns() - how long flows that are held wait after some had a chance
 * @took_ns: that took
 * @t1_ns: T1
 * @more: more of them are due
 *
 * Return: nanoseconds.
 */
static inline u64 iqcn_polls_rest_ns(u64 took_ns, u32 t1_ns, bool more)
{
	u64 rest_ns = took_ns * IQCN_CHANCES_REST;

	if (!more)
		rest_ns = max_t(u64, rest_ns, t1_ns / IQCN_CHANCES_PER_T1);
	return min_t(u64, rest_ns, IQCN_CHANCES_REST_MAX_NS);
}

#endif /* _IQCN_DEADLINE_H */
