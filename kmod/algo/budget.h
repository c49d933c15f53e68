/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The token bucket of the CNPs that a port may send, written as GCRA (virtual
 * scheduling, ITU-T I.371 annex A), whose state is a single time stamp.
 *
 * In any period the bucket passes at most burst + rate * period CNPs, because
 * the interval is rounded up.
 *
 * Pure: no clock, no lock.  The caller serializes.
 */
#ifndef _IQCN_BUDGET_H
#define _IQCN_BUDGET_H

#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* struct iqcn_budget - token bucket */
struct iqcn_budget {
	u64 interval_ns;	/* time that one CNP costs */
	u64 burst_ns;		/* a CNP passes if next_ns is at most this far
				 * in the future
				 */
	u64 next_ns;		/* when the bucket is full again */
};

/**
 * iqcn_budget_set() - set rate and burst
 * @b: bucket
 * @rate_pps: CNPs per second, 1 .. 10^9
 * @burst: CNPs at once, >= 1
 *
 * Earlier charges still count, but the largest debt is that of an empty bucket.
 */
static inline void iqcn_budget_set(struct iqcn_budget *b, u32 rate_pps,
				   u32 burst)
{
	WRITE_ONCE(b->interval_ns,
		   div_u64((u64)NSEC_PER_SEC + rate_pps - 1, rate_pps));
	WRITE_ONCE(b->burst_ns, b->interval_ns * (burst - 1));
}

/**
 * iqcn_budget_take() - charge one CNP if the bucket has a token
 * @b: bucket
 * @now_ns: now
 *
 * Return: true if the CNP may be sent.
 */
static inline bool iqcn_budget_take(struct iqcn_budget *b, u64 now_ns)
{
	/* the previous rate and burst may have allowed a larger debt: cap it */
	u64 next_ns = clamp(b->next_ns, now_ns,
			    now_ns + b->burst_ns + b->interval_ns);
	bool takes = next_ns - now_ns <= b->burst_ns;

	WRITE_ONCE(b->next_ns, next_ns + (takes ? b->interval_ns : 0));
	return takes;
}

/**
 * iqcn_budget_half() - is more than half of the burst left?
 * @b: bucket; this function needs no lock
 * @now_ns: now
 *
 * Return: true if it is.  Another CPU may charge the bucket at the same time.
 */
static inline bool iqcn_budget_half(const struct iqcn_budget *b, u64 now_ns)
{
	return max(READ_ONCE(b->next_ns), now_ns) - now_ns <=
	       READ_ONCE(b->burst_ns) / 2;
}

/**
 * iqcn_budget_give() - refund a CNP that was charged but not sent
 * @b: bucket
 */
static inline void iqcn_budget_give(struct iqcn_budget *b)
{
	WRITE_ONCE(b->next_ns, b->next_ns - min(b->next_ns, b->interval_ns));
}

#endif /* _IQCN_BUDGET_H */
