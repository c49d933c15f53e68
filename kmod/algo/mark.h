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
 * RED's average is left out on purpose: DCQCN marks by instantaneous depth.
 *
 * Pure: no clock, no random numbers, no qdisc.
 */
#ifndef _IQCN_MARK_H
#define _IQCN_MARK_H

#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/types.h>

/* struct iqcn_mark_params - the marking curve */
struct iqcn_mark_params {
	u32 kmin_bytes;	/* depth up to which no packet is marked */
	u32 kmax_bytes;	/* depth above which all are marked, >= kmin_bytes */
	u32 pmax;	/* probability at kmax_bytes, as a share of U32_MAX */
};

/* A probability of 1.  It is one more than U32_MAX, so that any random u32 is
 * less.
 */
#define IQCN_PROB_ONE BIT_ULL(32)

/**
 * iqcn_mark_prob() - marking probability at a depth
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
	/* pmax may be 2^32: halve it, so that the product fits 64 bits */
	return div_u64((pmax >> 1) * (depth_bytes - p->kmin_bytes),
		       p->kmax_bytes - p->kmin_bytes) << 1;
}

#endif /* _IQCN_MARK_H */
