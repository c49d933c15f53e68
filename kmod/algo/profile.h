/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The probability with which an arriving packet causes a CNP: a piecewise
 * linear profile of the level of congestion.
 *
 *	      p
 *	 P3   |                ________
 *	      |              .
 *	 P2   |       .  '
 *	      |     .
 *	 P1   |    |
 *	    0 |____|________________________ bytes
 *	           B1 B2        B3
 *
 * The level, in bytes, is any measure of congestion (measure.h).  Two points at
 * adjacent bytes make a step.
 *
 * Source: US 12388756 B2, description (12), (13), clauses 2 to 8: the frequency
 * of notifications follows the level of congestion, linearly or not.  The
 * marking curve (mark.h) may be used as the profile.
 *
 * Pure: no clock, no random numbers, no qdisc.
 */
#ifndef _IQCN_PROFILE_H
#define _IQCN_PROFILE_H

#include <linux/iqcn.h>
#include <linux/math64.h>
#include <linux/types.h>

#include "mark.h"

/* struct iqcn_profile - probability by level of congestion */
struct iqcn_profile {
	u32 n;		/* number of points, 0: use the marking curve */
	struct tc_iqcn_point point[IQCN_POINTS_MAX];
};

/* Convert a share of U32_MAX to a share of IQCN_PROB_ONE */
static inline u64 iqcn_prob(u32 share)
{
	return (u64)share + (share >> 31);
}

/**
 * iqcn_profile_wrong() - check the order of the points
 * @p: profile
 *
 * Return: index of the first point that is not above the previous one in bytes
 * or is below it in probability, 0: the profile is valid.
 */
static inline u32 iqcn_profile_wrong(const struct iqcn_profile *p)
{
	u32 i;

	for (i = 1; i < p->n; i++)
		if (p->point[i].bytes <= p->point[i - 1].bytes ||
		    p->point[i].prob < p->point[i - 1].prob)
			return i;
	return 0;
}

/**
 * iqcn_profile_prob() - probability at a level of congestion
 * @p: profile, valid
 * @mark: marking curve, for an empty profile
 * @level_bytes: level of congestion
 *
 * Return: 0 .. IQCN_PROB_ONE.
 */
static inline u64 iqcn_profile_prob(const struct iqcn_profile *p,
				    const struct iqcn_mark_params *mark,
				    u32 level_bytes)
{
	const struct tc_iqcn_point *a, *b;
	u32 i = 0;

	if (!p->n)
		return iqcn_mark_prob(mark, level_bytes);
	while (i < p->n && p->point[i].bytes <= level_bytes)
		i++;
	if (!i)
		return 0;
	a = &p->point[i - 1];
	if (i == p->n)
		return iqcn_prob(a->prob);
	b = &p->point[i];
	/* both factors are less than 2^32 */
	return iqcn_prob(a->prob) +
	       div_u64((u64)(b->prob - a->prob) * (level_bytes - a->bytes),
		       b->bytes - a->bytes);
}

/**
 * iqcn_profile_from_bytes() - level below which the probability is 0
 * @p: profile, valid
 * @mark: marking curve, for an empty profile
 *
 * Return: bytes; the probability may be 0 at higher levels, too.
 */
static inline u64 iqcn_profile_from_bytes(const struct iqcn_profile *p,
					  const struct iqcn_mark_params *mark)
{
	if (!p->n)
		return (u64)mark->kmin_bytes + 1;
	return (u64)p->point[0].bytes + !p->point[0].prob;
}

#endif /* _IQCN_PROFILE_H */
