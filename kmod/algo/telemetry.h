/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetry in the CNPs that we send: struct iqcn_telemetry, in the 16 bytes
 * after the BTH that IBTA Annex A17.9.3 reserves and receivers ignore.  The
 * ICRC covers them.
 *
 * Source: US 12388756 B2, description (14), (15), clauses 9 and 10.
 *
 * Pure: no clock, no qdisc.
 */
#ifndef _IQCN_TELEMETRY_H
#define _IQCN_TELEMETRY_H

#include <linux/build_bug.h>
#include <linux/iqcn.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#include "rocev2.h"

/* struct iqcn_state - values to encode */
struct iqcn_state {
	u8 cause;		/* enum iqcn_cause */
	bool was_ce;		/* the packet that caused the CNP was CE */
	u32 depth_bytes;	/* depth of the queue */
	u32 limit_bytes;	/* limit of the queue, not 0 */
	u32 flows;		/* number of active flows */
	u64 port_bytes;		/* depth of all queues of the port */
	s16 gradient;		/* growth of the queue in bytes per us */
	u64 tx_bytes;		/* bytes that the queue has sent */
	u64 now_ns;		/* now */
};

static inline void iqcn_put_u24(u8 *p, u32 v)
{
	p[0] = v >> 16;
	p[1] = v >> 8;
	p[2] = v;
}

/**
 * iqcn_telemetry_brief() - encode the cause only
 * @reserved: reserved bytes of the CNP
 * @cause: enum iqcn_cause
 * @was_ce: the packet that caused the CNP was CE, see struct iqcn_why
 */
static inline void iqcn_telemetry_brief(u8 reserved[IQCN_CNP_RSVD_LEN],
					u8 cause, bool was_ce)
{
	const struct iqcn_telemetry t = {
		.version_flags = IQCN_TELEMETRY_VERSION << 4 |
				 IQCN_TELEMETRY_BRIEF |
				 (was_ce ? IQCN_TELEMETRY_WAS_CE : 0),
		.cause = cause,
	};

	/* @reserved may be unaligned */
	memcpy(reserved, &t, sizeof(t));
}

/**
 * iqcn_telemetry_pack() - encode all values
 * @reserved: reserved bytes of the CNP
 * @s: values
 */
static inline void iqcn_telemetry_pack(u8 reserved[IQCN_CNP_RSVD_LEN],
				       const struct iqcn_state *s)
{
	struct iqcn_telemetry t = {};
	u64 depth = div_u64((u64)min(s->depth_bytes, s->limit_bytes) * U16_MAX,
			    s->limit_bytes);

	BUILD_BUG_ON(sizeof(t) != IQCN_CNP_RSVD_LEN);

	t.version_flags = IQCN_TELEMETRY_VERSION << 4;
	if (s->was_ce)
		t.version_flags |= IQCN_TELEMETRY_WAS_CE;
	t.cause = s->cause;
	t.depth = cpu_to_be16(depth);
	t.flows = cpu_to_be16(min_t(u32, s->flows, U16_MAX));
	t.port_4k = cpu_to_be16(min_t(u64, s->port_bytes >> 12, U16_MAX));
	t.gradient = cpu_to_be16(s->gradient);
	iqcn_put_u24(t.tx_256, s->tx_bytes >> 8);
	iqcn_put_u24(t.time_us, div_u64(s->now_ns, NSEC_PER_USEC));
	/* @reserved may be unaligned */
	memcpy(reserved, &t, sizeof(t));
}

#endif /* _IQCN_TELEMETRY_H */
