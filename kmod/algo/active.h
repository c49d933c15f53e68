/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many flows are active?  Each is counted once per epoch, by the number of
 * the epoch that it carries: one comparison per packet, no list, no timer.
 *
 * The answer is the larger of the epoch that goes on and the last one: a flow is
 * missed only if its packets are further apart than an epoch, and one that has
 * gone counts to the end of the next.  An epoch ends when somebody looks.
 *
 * Pure: no clock.  The caller serializes.
 */
#ifndef _IQCN_ACTIVE_H
#define _IQCN_ACTIVE_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Packets of 4 KB of 3,000 flows on 25 Gb/s are 4 ms apart */
#define IQCN_ACTIVE_EPOCH_NS	(5 * NSEC_PER_MSEC)

/**
 * struct iqcn_active - count of active flows
 * @start_ns: when the epoch began
 * @epoch: its number, never 0 once it has begun
 * @n: flows seen in it
 * @last: flows seen in the one before
 */
struct iqcn_active {
	u64 start_ns;
	u32 epoch;
	u32 n;
	u32 last;
};

/**
 * iqcn_active_run() - time goes on
 * @a: count
 * @now_ns: now
 */
static inline void iqcn_active_run(struct iqcn_active *a, u64 now_ns)
{
	u64 ns = now_ns - a->start_ns;

	if (a->epoch && ns < IQCN_ACTIVE_EPOCH_NS)
		return;
	a->last = ns < 2 * IQCN_ACTIVE_EPOCH_NS ? a->n : 0;
	a->n = 0;
	a->start_ns = now_ns;
	/* 0 is that of a flow that has never been seen */
	a->epoch = a->epoch + 1 ?: 1;
}

/**
 * iqcn_active_seen() - a packet of a flow
 * @a: count
 * @epoch: the flow's
 * @now_ns: now
 *
 * Return: it is the first one of this epoch.
 */
static inline bool iqcn_active_seen(struct iqcn_active *a, u32 *epoch,
				    u64 now_ns)
{
	iqcn_active_run(a, now_ns);
	if (*epoch == a->epoch)
		return false;
	*epoch = a->epoch;
	a->n++;
	return true;
}

/**
 * iqcn_active_flows() - how many there are
 * @a: count, run
 *
 * Return: flows seen in this epoch or in the last one, whichever are more.
 */
static inline u32 iqcn_active_flows(const struct iqcn_active *a)
{
	return max(a->n, a->last);
}

#endif /* _IQCN_ACTIVE_H */
