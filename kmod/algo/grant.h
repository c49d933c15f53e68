/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The window that a congestion point grants to a flow, and how a CNP carries
 * it.
 *
 *	share:	Win = C * baseRTT * queued packets of the flow / of all flows
 *	equal:	Win = C * baseRTT / flows
 *
 * The windows of all flows add up to what the link holds without a queue, so
 * that the queue drains within a round trip.
 *
 * Source: the Chinese patent application of algo/pfc.h, claim 5, steps 3.1 to
 * 3.3.  Reconstructed: its text has lost the formula of Win, but names its
 * terms: the sum over all flows, the bandwidth of the link, the round-trip time
 * without congestion, and the flow's amount of data, which step 3.1 counts in
 * packets.  There, a flow is a pair of hosts; here it is a QP, because a CNP is
 * for a QP.  The equal division is ours: by the patent application's formula,
 * the flow that sends most gets the largest window.
 *
 * Pure: no clock, no qdisc.
 */
#ifndef _IQCN_GRANT_H
#define _IQCN_GRANT_H

#include <linux/build_bug.h>
#include <linux/iqcn.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#include "rocev2.h"

/**
 * iqcn_grant_bytes() - the window of a flow
 * @rate_bps: C
 * @base_rtt_ns: baseRTT
 * @part: queued packets of the flow; or 1, to divide equally
 * @all: queued packets of all flows; or the number of flows
 *
 * Return: bytes, saturated at 32 bits.
 */
static inline u32 iqcn_grant_bytes(u64 rate_bps, u32 base_rtt_ns, u32 part,
				   u32 all)
{
	/* at most 10^15 bit/s for a second: below 2^47 */
	u64 bytes = mul_u64_u64_div_u64(rate_bps, base_rtt_ns,
					8ULL * NSEC_PER_SEC);

	all = max(all, 1U);
	return min_t(u64, mul_u64_u64_div_u64(bytes, min(part, all), all),
		     U32_MAX);
}

/* struct iqcn_grant_state - values to encode */
struct iqcn_grant_state {
	bool was_ce;		/* the packet that caused the CNP was CE */
	u32 window_bytes;
	u32 depth_bytes;	/* depth of the queue */
	u32 limit_bytes;	/* limit of the queue, not 0 */
	u32 flows;		/* number of active flows */
	u32 part;		/* queued packets of the flow */
	u32 all;		/* queued packets of all flows */
	u32 base_rtt_ns;
	u8 state;		/* enum iqcn_pfc_state */
};

/* Encode @part / @all as a share of U16_MAX */
static inline __be16 iqcn_grant_share(u32 part, u32 all)
{
	return cpu_to_be16(all ? div_u64((u64)min(part, all) * U16_MAX, all) :
				 0);
}

/**
 * iqcn_grant_pack() - encode a grant
 * @reserved: reserved bytes of the CNP
 * @s: values
 */
static inline void iqcn_grant_pack(u8 reserved[IQCN_CNP_RSVD_LEN],
				   const struct iqcn_grant_state *s)
{
	const struct iqcn_grant g = {
		.version_flags = IQCN_GRANT_VERSION << 4 |
				 (s->was_ce ? IQCN_TELEMETRY_WAS_CE : 0),
		.cause = IQCN_CAUSE_GRANT,
		.depth = iqcn_grant_share(s->depth_bytes, s->limit_bytes),
		.window = cpu_to_be32(s->window_bytes),
		.flows = cpu_to_be16(min_t(u32, s->flows, U16_MAX)),
		.share = iqcn_grant_share(s->part, s->all),
		.base_rtt_us = cpu_to_be16(min_t(u32, U16_MAX,
						 DIV_ROUND_UP(s->base_rtt_ns,
							      NSEC_PER_USEC))),
		.state = s->state,
	};

	BUILD_BUG_ON(sizeof(g) != IQCN_CNP_RSVD_LEN);

	/* @reserved may be unaligned */
	memcpy(reserved, &g, sizeof(g));
}

#endif /* _IQCN_GRANT_H */
