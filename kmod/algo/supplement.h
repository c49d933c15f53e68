/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rate of supplementary CNPs, and its coupling to the filter.
 *
 * A rate of CNPs is requested for a queue, but the congestion point caps the
 * rate that it sends.  To make up for the rest, the filter passes more of the
 * receivers' CNPs: its interval is multiplied by cap / requested rate.
 *
 * Source: the Chinese patent application of algo/filter.h, claims 4 and 5,
 * steps C2 and D1: rates of 0, 500, 1,000, 1,500 and 2,000 a second, a cap of
 * 2,500 to limit the load of the CPU.  The text says that the filter value is
 * reduced and that more CNPs of the receiver pass.  These two statements
 * contradict each other, so the purpose decides.  The factor is ours.
 *
 * Pure: no clock, no lock.
 */
#ifndef _IQCN_SUPPLEMENT_H
#define _IQCN_SUPPLEMENT_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Longest delay of the timer that the next interval compensates for */
#define IQCN_SUPPLEMENT_LATE_NS	(10 * NSEC_PER_MSEC)

/**
 * iqcn_couple_ns() - interval of the filter while supplements are requested
 * @interval_ns: interval without supplements
 * @asked_pps: requested rate, 0: no supplements
 * @max_pps: cap of the rate, at least 1
 *
 * Return: ns, at least 1.
 */
static inline u64 iqcn_couple_ns(u64 interval_ns, u32 asked_pps, u32 max_pps)
{
	if (asked_pps <= max_pps)
		return interval_ns;
	return max(mul_u64_u32_div(interval_ns, max_pps, asked_pps), 1ULL);
}

/**
 * iqcn_supplement_next_ns() - time of the next supplement
 * @due_ns: when the current supplement was due
 * @pps: rate, at least 1
 * @now_ns: when the current supplement was sent
 *
 * Return: ns.
 */
static inline u64 iqcn_supplement_next_ns(u64 due_ns, u32 pps, u64 now_ns)
{
	u64 late_ns = min_t(u64, now_ns - due_ns, IQCN_SUPPLEMENT_LATE_NS);

	return now_ns - late_ns + NSEC_PER_SEC / pps;
}

#endif /* _IQCN_SUPPLEMENT_H */
