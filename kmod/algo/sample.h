/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sampling of 1 in N CE packets.
 *
 * A packet is sampled if its PSN plus its DestQP is a multiple of N.  The QP is
 * an offset, so that flows that started together are not sampled together.
 * Taking every N-th packet of the queue instead would always sample the same
 * flows if flows take turns.  Random sampling would leave holes in the
 * sequence.  Sampling every N-th PSN leaves none if all packets of the flow are
 * CE, so continuity can still be detected.
 *
 * Source: US 12395431 B2, description (78), (91): a coprocessor gets samples of
 * the CE packets, which may serve to detect continuity.  How to choose them is
 * ours.
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
 * iqcn_sample_modulus() - number of sampled PSNs
 * @every: N, at least 1
 *
 * Return: how many of the 2^24 PSNs are sampled.  Sampled PSNs are numbered
 * modulo this number.
 */
static inline u32 iqcn_sample_modulus(u32 every)
{
	return (IQCN_PSNS - 1) / every + 1;
}

/**
 * iqcn_sample_pick() - is a packet sampled?
 * @psn: PSN of its first segment
 * @segs: number of segments, at least 1
 * @dest_qp: DestQP
 * @every: N, at least 1
 * @seq: set to the number of the first sampled segment, among all samples
 *
 * Return: how many of its segments are sampled, 0: none.
 */
static inline u32 iqcn_sample_pick(u32 psn, u32 segs, u32 dest_qp, u32 every,
				   u32 *seq)
{
	u32 first = (psn + dest_qp) & (IQCN_PSNS - 1);
	u32 last, from, n;

	/* the default: avoid the divisions */
	if (every == 1) {
		*seq = first;
		return segs;
	}
	last = first + segs - 1;
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
 * iqcn_sample_gap_ns() - time between two packets of a flow, sampled or not
 * @ns: time between two sampled packets of the flow
 * @every: N
 *
 * Return: nanoseconds.
 */
static inline u64 iqcn_sample_gap_ns(u64 ns, u32 every)
{
	if (likely(every == 1))
		return ns;
	/* otherwise the compiler drops the test above, because dividing by 1
	 * gives the same result
	 */
	OPTIMIZER_HIDE_VAR(every);
	return div_u64(ns, every);
}

/**
 * iqcn_sample_waits() - is an unsampled packet of a flow certainly queued?
 * @depth_bytes: depth of the queue
 * @drain_bps: rate at which the queue drains
 * @spacing_ns: time between two packets of the flow
 *
 * Return: true if the queue is so deep that it must contain a packet of the
 * flow, provided that the flow has kept its rate.
 */
static inline bool iqcn_sample_waits(u32 depth_bytes, u64 drain_bps,
				     u32 spacing_ns)
{
	return depth_bytes >= mul_u64_u64_div_u64(drain_bps, spacing_ns,
						  8ULL * NSEC_PER_SEC);
}

#endif /* _IQCN_SAMPLE_H */
