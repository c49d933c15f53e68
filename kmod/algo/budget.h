/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CNPs a port may send: a token bucket, written as GCRA (virtual
 * scheduling, ITU-T I.371 annex A), which needs one time stamp for its state.
 *
 * Never more than burst + rate * time in any stretch of time: the interval is
 * rounded up.
 *
 * Pure: no clock, no lock.  The caller serializes.
 */
#ifndef _IQCN_BUDGET_H
#define _IQCN_BUDGET_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/**
 * struct iqcn_budget - token bucket
 * @interval_ns: ns per CNP
 * @burst_ns: how far @next_ns may be ahead of now
 * @next_ns: when the bucket is full again
 */
struct iqcn_budget {
	u64 interval_ns;
	u64 burst_ns;
	u64 next_ns;
};

/**
 * iqcn_budget_set() - set rate and burst, keep what was used
 * @b: bucket
 * @rate_pps: CNP/s, 1 .. 10^9
 * @burst: CNPs at once, >= 1
 */
static inline void iqcn_budget_set(struct iqcn_budget *b, u32 rate_pps,
				   u32 burst)
{
	b->interval_ns = div_u64((u64)NSEC_PER_SEC + rate_pps - 1, rate_pps);
	b->burst_ns = b->interval_ns * (burst - 1);
}

/**
 * iqcn_budget_take() - may one more be sent?
 * @b: bucket
 * @now_ns: now
 *
 * Return: true if it may; it is charged then.
 */
static inline bool iqcn_budget_take(struct iqcn_budget *b, u64 now_ns)
{
	/* a debt is never more than the rate and burst of now can make */
	u64 next_ns = clamp(b->next_ns, now_ns,
			    now_ns + b->burst_ns + b->interval_ns);

	if (next_ns - now_ns > b->burst_ns)
		return false;
	b->next_ns = next_ns + b->interval_ns;
	return true;
}

/**
 * iqcn_budget_half() - is at least half of the burst left?
 * @b: bucket
 * @now_ns: now
 *
 * Return: true if so.
 */
static inline bool iqcn_budget_half(const struct iqcn_budget *b, u64 now_ns)
{
	return max(b->next_ns, now_ns) - now_ns <= b->burst_ns / 2;
}

/**
 * iqcn_budget_give() - one that was charged is not sent
 * @b: bucket
 */
static inline void iqcn_budget_give(struct iqcn_budget *b)
{
	b->next_ns -= min(b->next_ns, b->interval_ns);
}

#endif /* _IQCN_BUDGET_H */
