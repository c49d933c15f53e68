/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pacing of packets at a rate.  Pure: no clock, no timer.
 */
#ifndef _ROCEHOST_PACE_H
#define _ROCEHOST_PACE_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Compensate for timers that are late by up to this time: in the lab, timers
 * are up to 500 ns late.  A flow that had nothing to send catches up by no more
 * than this.  A host on a wire computes with the times for which its timer was
 * set, so it needs no slack.
 */
#define PACE_SLACK_NS	1024

/**
 * struct pace - a paced sequence of packets
 * @next_ns: when the next packet may be sent
 * @slack_ns: lateness up to this time is made up for
 * @rem: remainder of the division that yielded @next_ns, in 10^-9 bits
 */
struct pace {
	u64 next_ns;
	u32 slack_ns;
	u64 rem;
};

/**
 * pace_sent() - account for a packet that was sent
 * @p: the sequence
 * @bytes: length of the packet
 * @rate_bps: rate of the sequence
 * @now_ns: now
 */
static inline void pace_sent(struct pace *p, u32 bytes, u64 rate_bps,
			     u64 now_ns)
{
	u64 from_ns = max(p->next_ns, now_ns - min_t(u64, now_ns, p->slack_ns));
	u64 left;

	/* 2^17 bytes * 8 * 10^9 is less than 2^50 */
	p->next_ns = from_ns + div64_u64_rem(bytes * 8ULL * NSEC_PER_SEC +
					     min(p->rem, rate_bps - 1),
					     rate_bps, &left);
	p->rem = left;
}

/**
 * pace_changed() - adapt the waiting packet's time to a new rate
 * @p: the sequence
 * @old_bps: previous rate
 * @new_bps: new rate
 * @now_ns: now
 *
 * The rest of the gap is scaled by the ratio of the rates.
 */
static inline void pace_changed(struct pace *p, u64 old_bps, u64 new_bps,
				u64 now_ns)
{
	if (p->next_ns > now_ns)
		p->next_ns = now_ns + mul_u64_u64_div_u64(p->next_ns - now_ns,
							  old_bps, new_bps);
}

#endif /* _ROCEHOST_PACE_H */
