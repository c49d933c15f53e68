/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One CE packet in N is looked at: which?
 *
 * Those of each flow whose PSN is a multiple of N, but for an offset that its
 * QP gives, so that flows that began together do not take turns.  Not every
 * N-th of the queue: of flows that take turns by themselves that would be the
 * same ones for ever; and not at random: the PSNs of every N-th packet of a flow
 * have no holes if all of its packets are CE, so continuity can be seen.
 *
 * Source: US 12395431 B2, description (78), (91): a coprocessor gets samples of
 * the CE packets, continuity may be had from them.  How to choose them is ours.
 *
 * Pure: no packet, no lock.
 */
#ifndef _IQCN_SAMPLE_H
#define _IQCN_SAMPLE_H

#include <linux/bits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

#define IQCN_PSNS	((u32)BIT(24))

/**
 * iqcn_sample_modulus() - how many PSNs are looked at
 * @every: N, 1 at least
 *
 * Return: their numbers are less than this.
 */
static inline u32 iqcn_sample_modulus(u32 every)
{
	return (IQCN_PSNS - 1) / every + 1;
}

/**
 * iqcn_sample_pick() - is a packet looked at?
 * @psn: its PSN, of the first segment
 * @segs: its segments, 1 at least
 * @dest_qp: its DestQP
 * @every: N, 1 at least
 * @seq: is set to the number among those looked at, of the first such segment
 *
 * Return: how many of its segments are, 0: it is not.
 */
static inline u32 iqcn_sample_pick(u32 psn, u32 segs, u32 dest_qp, u32 every,
				   u32 *seq)
{
	u32 first = (psn + dest_qp) & (IQCN_PSNS - 1);
	u32 last = first + segs - 1;
	u32 from, n;

	/* nearly everybody's N */
	if (every == 1) {
		*seq = first;
		return segs;
	}
	from = DIV_ROUND_UP(first, every);
	if (last < IQCN_PSNS) {
		n = last / every + 1 - from;
	} else {
		n = iqcn_sample_modulus(every) - from;
		n += (last - IQCN_PSNS) / every + 1;
	}
	*seq = from == iqcn_sample_modulus(every) ? 0 : from;
	return n;
}

/**
 * iqcn_sample_gap_ns() - time between two packets of a flow, looked at or not
 * @ns: between two that are
 * @every: N
 *
 * Return: nanoseconds.
 */
static inline u64 iqcn_sample_gap_ns(u64 ns, u32 every)
{
	if (likely(every == 1))
		return ns;
	/* or the compiler sees that it may divide by 1 as well */
	OPTIMIZER_HIDE_VAR(every);
	return div_u64(ns, every);
}

/**
 * iqcn_sample_waits() - does a packet wait that is not looked at?
 * @depth_bytes: what waits in the queue
 * @drain_bps: rate at which that leaves
 * @spacing_ns: time between two packets of the flow
 *
 * Return: true if the queue is so long that one must be in it, as long as the
 * flow goes on as it did.
 */
static inline bool iqcn_sample_waits(u32 depth_bytes, u64 drain_bps,
				     u32 spacing_ns)
{
	return depth_bytes >= mul_u64_u64_div_u64(drain_bps, spacing_ns,
						  8ULL * NSEC_PER_SEC);
}

#endif /* _IQCN_SAMPLE_H */
