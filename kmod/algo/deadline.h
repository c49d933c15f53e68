/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A list keeps the deadlines of many flows that share one T1.
 *
 * A flow's deadline is base + T1.  A restart sets the base to the current time:
 * when a CE packet leaves, or when a CNP is received or sent.  So a list in the
 * order of the restarts is in the order of the deadlines, too: O(1) per
 * restart, and one timer for the head of the list, for any number of flows.  T1
 * is not stored, so a change of T1 keeps the order.
 *
 * A periodic scan uses the same list, whose first entries are the expired
 * deadlines.
 *
 * A deadline that expires while the queue is clear moves to a second list.
 * Deadlines move there in the order of their bases, and each base is older than
 * those on the first list.  So the last entry of the second list is its most
 * recent one.
 *
 * Source: US 12395431 B2, description (7), (8), (61), (65), (66), (69), FIG. 8:
 * a CNP is generated if no other CE packet follows the last one within T1,
 * which a timer or a periodic scan detects.  The iQCN feature counts T1 from
 * the last CNP.
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

/* struct iqcn_deadline - a flow's deadline */
struct iqcn_deadline {
	struct list_head node;	/* on a list of the queue, empty: not armed */
	u64 base_ns;		/* start of T1 */
};

static inline void iqcn_deadline_init(struct iqcn_deadline *d)
{
	INIT_LIST_HEAD(&d->node);
	d->base_ns = 0;
}

static inline bool iqcn_deadline_armed(const struct iqcn_deadline *d)
{
	return !list_empty(&d->node);
}

/**
 * iqcn_deadline_restart() - set a deadline to T1 from now
 * @d: deadline, armed or not
 * @list: list of its queue
 * @now_ns: now, not less than in an earlier call for @list
 */
static inline void iqcn_deadline_restart(struct iqcn_deadline *d,
					 struct list_head *list, u64 now_ns)
{
	d->base_ns = now_ns;
	list_move_tail(&d->node, list);
}

/**
 * iqcn_deadline_cancel() - disarm a deadline
 * @d: deadline, armed or not
 */
static inline void iqcn_deadline_cancel(struct iqcn_deadline *d)
{
	if (iqcn_deadline_armed(d))
		list_del_init(&d->node);
}

/**
 * iqcn_deadline_first() - earliest deadline of a list
 * @list: list of a queue
 *
 * Return: the deadline, NULL if there is none.
 */
static inline struct iqcn_deadline *iqcn_deadline_first(struct list_head *list)
{
	return list_first_entry_or_null(list, struct iqcn_deadline, node);
}

/**
 * iqcn_deadline_last() - latest deadline of a list
 * @list: list of a queue
 *
 * Return: the deadline, NULL if there is none.
 */
static inline struct iqcn_deadline *iqcn_deadline_last(struct list_head *list)
{
	return list_empty(list) ? NULL :
	       list_last_entry(list, struct iqcn_deadline, node);
}

/**
 * iqcn_deadline_lapse() - move an expired deadline to the second list
 * @d: first deadline of its list
 * @lapsed: list of the deadlines that expired while the queue was clear
 */
static inline void iqcn_deadline_lapse(struct iqcn_deadline *d,
				       struct list_head *lapsed)
{
	list_move_tail(&d->node, lapsed);
}

/* Has T1 passed since the base? */
static inline bool iqcn_deadline_due(const struct iqcn_deadline *d, u64 t1_ns,
				     u64 now_ns)
{
	return (s64)(now_ns - d->base_ns - t1_ns) >= 0;
}

/**
 * iqcn_deadline_scan_ns() - time of the scan that finds a deadline expired
 * @due_ns: deadline
 * @period_ns: time between two scans
 *
 * Return: the first multiple of @period_ns that is not before @due_ns.
 */
static inline u64 iqcn_deadline_scan_ns(u64 due_ns, u32 period_ns)
{
	return div_u64(due_ns + period_ns - 1, period_ns) * period_ns;
}

/* Polls are less urgent than deadlines, and with many flows the timer would run
 * for each poll.  So polls are batched.  After a batch, polls pause for
 * IQCN_POLLS_REST times the length of the run.  If no due polls remain, or if
 * they wait for the budget, they pause for at least 1 / IQCN_POLLS_PER_GAP of
 * the poll interval of a flow.  The timer's other work does not pause.
 */
#define IQCN_POLLS_PER_GAP	4
#define IQCN_POLLS_REST	3
/* The pause is limited, because an interruption lengthens a batch, and because
 * flows are polled for a limited time only (bts.h)
 */
#define IQCN_POLLS_REST_MAX_NS	NSEC_PER_MSEC

/**
 * iqcn_polls_rest_ns() - pause after a batch of polls
 * @took_ns: length of the run of the timer
 * @gap_ns: interval between two polls of a flow
 * @more: polls are still due after the batch, and do not wait for the budget
 *
 * Return: nanoseconds.
 */
static inline u64 iqcn_polls_rest_ns(u64 took_ns, u32 gap_ns, bool more)
{
	u64 rest_ns = took_ns * IQCN_POLLS_REST;

	if (!more)
		rest_ns = max_t(u64, rest_ns, gap_ns / IQCN_POLLS_PER_GAP);
	return min_t(u64, rest_ns, IQCN_POLLS_REST_MAX_NS);
}

#endif /* _IQCN_DEADLINE_H */
