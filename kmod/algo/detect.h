/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a queue congested?
 *
 *   CE rate >= enter % of the RoCE rate
 *  .-----------------------------------.
 *  |                                   v
 * CLEAR                            CONGESTED
 *  ^                                   |
 *  '-----------------------------------'
 *   CE rate <= exit % of the RoCE rate, or idle timeout: no CE packet, unless
 *   the backlog does not drain
 *
 * Source: US 12395431 B2, description (15), (16), (46)-(53), steps S203-S207:
 * the bytes of CE packets that a queue sent in a period give its rate; two
 * thresholds, e.g. 90 % and 60 % of the queue's RoCE traffic, give hysteresis.
 * The depth detector (above Kmax, down to Kmin) is ours.
 *
 * The patent leaves open where a period starts, and what ends the state when
 * nothing is sent.  Here a period starts and ends with a packet and counts the
 * packets after the first one, so a steady stream of any packet size and
 * spacing yields its exact rate.  An idle timeout closes the period too.
 *
 * Pure: no clock, no lock, no qdisc.  The caller serializes.
 */
#ifndef _IQCN_DETECT_H
#define _IQCN_DETECT_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>

/* struct iqcn_meter - bytes over time */
struct iqcn_meter {
	u64 start_ns;	/* start of the window, 0: the meter is stopped */
	u64 bytes;	/* bytes in the window */
	u64 rate_bps;	/* bit/s of the last window that closed */
};

/* Maximum of a rate: even a thousand percent of it fits in 64 bits */
#define IQCN_RATE_MAX_BPS	(U64_MAX / 1024)

/* bit/s from bytes in ns.  With a size table, a packet may count as 2 GB.  The
 * quotient may then exceed 64 bits, and the division would trap.
 */
static inline u64 iqcn_rate_bps(u64 bytes, u64 ns)
{
	if (!ns)
		return 0;
	if (mul_u64_u64_shr(bytes, 8ULL * NSEC_PER_SEC, 64) >= ns)
		return IQCN_RATE_MAX_BPS;
	return min(mul_u64_u64_div_u64(bytes, 8ULL * NSEC_PER_SEC, ns),
		   IQCN_RATE_MAX_BPS);
}

static inline void iqcn_meter_close(struct iqcn_meter *m, u64 now_ns)
{
	m->rate_bps = iqcn_rate_bps(m->bytes, now_ns - m->start_ns);
	m->start_ns = now_ns;
	m->bytes = 0;
}

/**
 * iqcn_meter_add() - account bytes that were sent
 * @m: meter
 * @window_ns: length of a window
 * @now_ns: now
 * @bytes: number of bytes
 *
 * Return: true if a window closed and @m->rate_bps is new.
 */
static inline bool iqcn_meter_add(struct iqcn_meter *m, u64 window_ns,
				  u64 now_ns, u64 bytes)
{
	if (!m->start_ns) {
		m->start_ns = now_ns;
		m->bytes = 0;
		return false;
	}
	m->bytes += bytes;
	if (now_ns - m->start_ns < window_ns)
		return false;
	iqcn_meter_close(m, now_ns);
	return true;
}

/**
 * iqcn_meter_idle() - stop a meter after its idle timeout
 * @m: meter
 * @quiet_ns: idle timeout; longer than a window plus the time of one or two
 *	packets, so that a slow queue does not seem idle between two packets
 * @now_ns: now
 *
 * Return: true if the window closed, with a rate of 0.  The next packet starts
 * the meter again.
 */
static inline bool iqcn_meter_idle(struct iqcn_meter *m, u64 quiet_ns,
				   u64 now_ns)
{
	if (!m->start_ns || now_ns - m->start_ns < quiet_ns)
		return false;
	memset(m, 0, sizeof(*m));
	return true;
}

/*
 * struct iqcn_outflow - bytes that leave a queue while it is backlogged
 *
 * When the drain rate drops suddenly (PFC, for example), the CE rate drops with
 * it.  Compared with the drain rate of another window, the CE rate would then
 * seem to show the end of the congestion, or would exceed the drain rate.  So
 * the drain rate is taken over the window of the CE meter.
 */
struct iqcn_outflow {
	u64 bytes;		/* since the backlog began, 0: no backlog */
	u64 window_bytes;	/* bytes when the window of the CE meter began,
				 * 0: no backlog then, or an interruption since
				 */
};

/**
 * iqcn_outflow_begin() - record the start of a window of the CE meter
 * @o: outflow, which already includes the packet that starts the window
 */
static inline void iqcn_outflow_begin(struct iqcn_outflow *o)
{
	o->window_bytes = o->bytes;
}

/**
 * iqcn_outflow_bps() - drain rate over a window of the CE meter
 * @o: outflow
 * @ns: length of the window
 *
 * Return: bit/s, 0: the queue was not backlogged for the whole window.
 */
static inline u64 iqcn_outflow_bps(const struct iqcn_outflow *o, u64 ns)
{
	return o->window_bytes ? iqcn_rate_bps(o->bytes - o->window_bytes, ns) :
				 0;
}

/**
 * iqcn_idle_ns() - idle timeout of the CE rate detector of a queue
 * @window_ns: window of the meter
 * @roce_bps: rate of the queue
 * @bytes: bytes that may pass between two updates of the meter: the largest
 *	packet, or more if packets are sampled or counted in chunks (queue.h)
 *
 * Return: twice the sum of the window and the time that @bytes take at
 * @roce_bps; that time is capped at one second.
 */
static inline u64 iqcn_idle_ns(u64 window_ns, u64 roce_bps, u64 bytes)
{
	/* cap the bytes first, so that the product fits */
	u64 pkt_ns = roce_bps ? mul_u64_u64_div_u64(min(bytes,
							roce_bps / 8 + 1),
						    8ULL * NSEC_PER_SEC,
						    roce_bps) : 0;

	return 2 * (window_ns + min_t(u64, pkt_ns, NSEC_PER_SEC));
}

/**
 * iqcn_flow_idle_ns() - idle timeout of the congestion of a flow
 * @window_ns: window of the meter
 * @t1_ns: T1
 * @gap_ns: time between the last two CE packets, so that a sparse flow does not
 *	seem idle between packets
 *
 * Return: nanoseconds.
 */
static inline u64 iqcn_flow_idle_ns(u64 window_ns, u64 t1_ns, u64 gap_ns)
{
	return 2 * (window_ns + t1_ns + gap_ns);
}

/**
 * iqcn_detect_queue() - next state of the CE rate detector
 * @congested: current state
 * @rate_bps: CE rate of the window
 * @roce_bps: rate of the queue's RoCE traffic, 0: not known, never congested
 * @enter_pct: percentage of @roce_bps at which the state is entered
 * @exit_pct: percentage of @roce_bps at which the state is left
 *
 * Return: true if the queue is congested.
 */
static inline bool iqcn_detect_queue(bool congested, u64 rate_bps, u64 roce_bps,
				     u32 enter_pct, u32 exit_pct)
{
	if (!roce_bps)
		return false;
	if (congested)
		return rate_bps * 100 > roce_bps * exit_pct;
	return rate_bps * 100 >= roce_bps * enter_pct;
}

/**
 * iqcn_detect_depth() - next state of the depth detector
 * @congested: current state
 * @depth_bytes: instantaneous depth
 * @kmin_bytes: depth at which the state is left
 * @kmax_bytes: depth above which the state is entered
 *
 * Return: true if the queue is congested.
 */
static inline bool iqcn_detect_depth(bool congested, u32 depth_bytes,
				     u32 kmin_bytes, u32 kmax_bytes)
{
	return depth_bytes > (congested ? kmin_bytes : kmax_bytes);
}

#endif /* _IQCN_DETECT_H */
