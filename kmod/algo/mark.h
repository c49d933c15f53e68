/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ECN marking by instantaneous queue depth: the congestion point of DCQCN.
 *
 *	      p
 *	    1 |             ________
 *	      |            |
 *	 Pmax |           /|
 *	      |        .   |
 *	    0 |_____./_____|________ depth
 *	          Kmin    Kmax
 *
 * Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
 * SIGCOMM 2015, fig. 5; US 12395431 B2, description (68) and FIG. 7.
 * Left out on purpose: RED's average.  DCQCN marks on the depth of the moment.
 *
 * Pure: no clock, no randomness of its own, no qdisc.
 */
#ifndef _IQCN_MARK_H
#define _IQCN_MARK_H

#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/types.h>

/**
 * struct iqcn_mark_params - the marking curve
 * @kmin_bytes: depth up to which nothing is marked
 * @kmax_bytes: depth up to which marking is probabilistic, >= @kmin_bytes
 * @pmax: probability at @kmax_bytes, as a share of U32_MAX
 */
struct iqcn_mark_params {
	u32 kmin_bytes;
	u32 kmax_bytes;
	u32 pmax;
};

/* 1.0 as a probability.  One more than a u32 holds, so that a random u32 is
 * always below it.
 */
#define IQCN_PROB_ONE BIT_ULL(32)

/**
 * iqcn_mark_prob() - probability of marking at a depth
 * @p: the curve
 * @depth_bytes: instantaneous depth
 *
 * Return: 0 .. IQCN_PROB_ONE.
 */
static inline u64 iqcn_mark_prob(const struct iqcn_mark_params *p,
				 u32 depth_bytes)
{
	u64 pmax = (u64)p->pmax + (p->pmax >> 31);

	if (depth_bytes <= p->kmin_bytes)
		return 0;
	if (depth_bytes > p->kmax_bytes)
		return IQCN_PROB_ONE;
	if (depth_bytes == p->kmax_bytes)
		return pmax;
	/* both factors are below 2^32, but for pmax == 2^32: so shift last */
	return div_u64((pmax >> 1) * (depth_bytes - p->kmin_bytes),
		       p->kmax_bytes - p->kmin_bytes) << 1;
}

#endif /* _IQCN_MARK_H */
