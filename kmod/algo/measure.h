/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How congested is a queue?  This file has the measures other than the depth.
 * All of them are in bytes, so that one profile serves for any of them and for
 * their maximum:
 *
 *   gradient	growth of the depth in a window
 *   delay	bytes that the bandwidth (configured, or that of the link) would
 *		carry while a packet waits: the depth, unless the queue drains
 *		slower (or faster)
 *
 * Source: US 12388756 B2, description (13): "the queue size, gradient, latency,
 * and the like", alone or together.
 *
 * Pure: no clock, no qdisc.
 */
#ifndef _IQCN_MEASURE_H
#define _IQCN_MEASURE_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* struct iqcn_gradient - growth of a queue */
struct iqcn_gradient {
	u64 start_ns;		/* start of the current window, 0: none */
	u64 span_ns;		/* length of the last full window, 0: none */
	u32 depth_bytes;	/* depth at start_ns */
	s64 growth_bytes;	/* growth in the last full window */
};

/**
 * iqcn_gradient_add() - sample the depth of a queue
 * @g: the queue's gradient
 * @window_ns: shortest length of a window
 * @now_ns: now
 * @depth_bytes: depth
 *
 * The first sample that comes @window_ns or more after the start of a window
 * closes it.  If that sample comes 2 * @window_ns or more after the start, the
 * window is discarded.
 */
static inline void iqcn_gradient_add(struct iqcn_gradient *g, u64 window_ns,
				     u64 now_ns, u32 depth_bytes)
{
	u64 span_ns = now_ns - g->start_ns;

	if (g->start_ns && span_ns < window_ns)
		return;
	if (g->start_ns && span_ns < 2 * window_ns) {
		g->growth_bytes = (s64)depth_bytes - g->depth_bytes;
		g->span_ns = span_ns;
	} else {
		g->growth_bytes = 0;
		g->span_ns = 0;
	}
	g->start_ns = now_ns;
	g->depth_bytes = depth_bytes;
}

/* Did the last complete window end less than two windows ago? */
static inline bool iqcn_gradient_fresh(const struct iqcn_gradient *g,
				       u64 window_ns, u64 now_ns)
{
	return g->span_ns && now_ns - g->start_ns < 2 * window_ns;
}

/**
 * iqcn_gradient_level() - the gradient as a level of congestion
 * @g: gradient
 * @window_ns: window
 * @now_ns: now
 *
 * Return: bytes of growth per window, 0 if the queue shrinks or if no window
 * was completed lately.
 */
static inline u32 iqcn_gradient_level(const struct iqcn_gradient *g,
				      u64 window_ns, u64 now_ns)
{
	if (!iqcn_gradient_fresh(g, window_ns, now_ns))
		return 0;
	if (g->growth_bytes <= 0)
		return 0;
	/* growth below 2^32, times a window of a few seconds, fits 64 bits */
	return min_t(u64, div64_u64(g->growth_bytes * window_ns, g->span_ns),
		     U32_MAX);
}

/**
 * iqcn_gradient_per_us() - the gradient as a rate
 * @g: gradient
 * @window_ns: window
 * @now_ns: now
 *
 * Return: bytes per microsecond, saturated at the range of s16, 0 if no window
 * was completed lately.
 */
static inline s16 iqcn_gradient_per_us(const struct iqcn_gradient *g,
				       u64 window_ns, u64 now_ns)
{
	if (!iqcn_gradient_fresh(g, window_ns, now_ns))
		return 0;
	return clamp_t(s64, div64_s64(g->growth_bytes * NSEC_PER_USEC,
				      g->span_ns), S16_MIN, S16_MAX);
}

/**
 * iqcn_delay_level() - the queueing delay as a level of congestion
 * @depth_bytes: depth
 * @drain_bps: rate at which the queue drains, 0: not known
 * @bandwidth_bps: configured rate, or that of the link
 *
 * Return: bytes that @bandwidth_bps carries in the time that the depth takes to
 * drain.
 */
static inline u32 iqcn_delay_level(u32 depth_bytes, u64 drain_bps,
				   u64 bandwidth_bps)
{
	if (!drain_bps)
		return depth_bytes;
	/* saturate before the result exceeds 64 bits */
	if (div64_u64(bandwidth_bps, drain_bps) >= U32_MAX)
		return depth_bytes ? U32_MAX : 0;
	return min_t(u64, mul_u64_u64_div_u64(depth_bytes, bandwidth_bps,
					      drain_bps), U32_MAX);
}

#endif /* _IQCN_MEASURE_H */
