/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The number of active flows.  Each flow carries the number of the epoch in
 * which it was last counted, so a packet costs one comparison: no list, no
 * timer.
 *
 * The result is the larger of the counts of the current epoch and the last one.
 * A flow is missed only if its packets are more than an epoch apart.  A flow
 * that has stopped counts until the end of the next epoch.  An epoch ends at
 * the first call of iqcn_active_run() after IQCN_ACTIVE_EPOCH_NS.
 *
 * Pure: no clock.  The caller serializes.
 */
#ifndef _IQCN_ACTIVE_H
#define _IQCN_ACTIVE_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Longer than the gap between two packets of a flow: 4 ms if 3,000 flows with
 * packets of 4 KB share 25 Gb/s
 */
#define IQCN_ACTIVE_EPOCH_NS	(5 * NSEC_PER_MSEC)

/* struct iqcn_active - count of active flows */
struct iqcn_active {
	u64 start_ns;	/* start of the current epoch */
	u32 epoch;	/* number of that epoch, 0: no epoch has begun yet */
	u32 n;		/* flows counted in the current epoch */
	u32 last;	/* flows counted in the last epoch */
};

/**
 * iqcn_active_run() - end the current epoch if its length has elapsed
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
	/* 0 marks a flow that was never counted */
	a->epoch = a->epoch + 1 ?: 1;
}

/**
 * iqcn_active_seen() - count the flow of a packet
 * @a: count
 * @epoch: the flow's epoch
 * @now_ns: now
 *
 * Return: true if the packet is the flow's first one in this epoch.
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
 * iqcn_active_flows() - number of active flows
 * @a: count, after iqcn_active_run()
 *
 * Return: the larger of the counts of the current epoch and the last one.
 */
static inline u32 iqcn_active_flows(const struct iqcn_active *a)
{
	return max(a->n, a->last);
}

#endif /* _IQCN_ACTIVE_H */
