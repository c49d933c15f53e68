/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cuts in proportion to the rate.
 *
 * DCQCN cuts a fast flow and a slow one by the same factor, so their rates take
 * long to converge.  Here
 *
 *	Rc *= 1 - alpha / 2 * max(Rc / line rate, floor)
 *
 * so the faster flow is cut by a larger fraction.  Without the floor, N flows
 * at 1/N of the line rate would together give up only 1/N of what they give up
 * with usual cuts, and the queue of a large incast would never drain.
 *
 * Source: US 12388756, paragraphs 87-89 and 227-233: a larger ratio of the rate
 * limit to the line rate, or of the window to the largest window, means a
 * larger cut.  The product and the floor are additions.
 *
 * Shares are in units of 2^-32.  Pure: no clock, no lock.
 */
#ifndef _ROCEHOST_RATIO_H
#define _ROCEHOST_RATIO_H

#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define RATIO_ONE	BIT_ULL(32)

/**
 * ratio_cut() - scale a cut
 * @cut_bps: usual cut
 * @rate_bps: current rate
 * @line_bps: line rate
 * @floor: lower limit of the ratio, RATIO_ONE: make the usual cut
 *
 * Return: the cut.
 */
static inline u64 ratio_cut(u64 cut_bps, u64 rate_bps, u64 line_bps, u64 floor)
{
	u64 ratio;

	if (floor >= RATIO_ONE)
		return cut_bps;
	ratio = mul_u64_u64_div_u64(rate_bps, RATIO_ONE, line_bps);
	ratio = min(max(ratio, floor), RATIO_ONE);
	return mul_u64_u64_shr(cut_bps, ratio, 32);
}

#endif /* _ROCEHOST_RATIO_H */
