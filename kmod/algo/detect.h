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
 *   CE rate <= exit % of the RoCE rate, or no CE packet for a while, unless what
 *   waits cannot leave
 *
 * Source: US 12395431 B2, description (15), (16), (46)-(53), steps S203-S207:
 * the bytes of CE packets that a queue sent in a period give its rate; two
 * thresholds, e.g. 90 % and 60 % of the queue's RoCE traffic, give hysteresis.
 * The depth detector (above Kmax, down to Kmin) is ours.
 *
 * The patent leaves open where a period starts and what ends the state when
 * nothing is sent.  Here a period starts and ends with a packet, and counts
 * those after the first, so that a steady stream of any packet size and
 * spacing yields its exact rate; and a silence closes it too.
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

/**
 * struct iqcn_meter - bytes over time
 * @start_ns: when the window began, 0: not running
 * @bytes: bytes since then
 * @rate_bps: bit/s over the last window that closed
 */
struct iqcn_meter {
	u64 start_ns;
	u64 bytes;
	u64 rate_bps;
};

/* bit/s from bytes in ns.  A rate beyond 2^64 cannot come up: bytes are those
 * of real packets.
 */
static inline u64 iqcn_rate_bps(u64 bytes, u64 ns)
{
	return ns ? mul_u64_u64_div_u64(bytes, 8ULL * NSEC_PER_SEC, ns) : 0;
}

static inline void iqcn_meter_close(struct iqcn_meter *m, u64 now_ns)
{
	m->rate_bps = iqcn_rate_bps(m->bytes, now_ns - m->start_ns);
	m->start_ns = now_ns;
	m->bytes = 0;
}

/**
 * iqcn_meter_add() - bytes were sent
 * @m: meter
 * @window_ns: length of a window
 * @now_ns: when
 * @bytes: how many
 *
 * Return: true when a window closed, @m->rate_bps is new then.
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
 * iqcn_meter_quiet() - close the window if nothing was sent for long
 * @m: meter
 * @quiet_ns: how long; more than a window and the time of a packet or two,
 *	lest a slow queue seem silent between packets
 * @now_ns: when
 *
 * Return: true when the window closed, with a rate of 0.  The meter stops: the
 * next packet starts it again.
 */
static inline bool iqcn_meter_quiet(struct iqcn_meter *m, u64 quiet_ns,
				    u64 now_ns)
{
	if (!m->start_ns || now_ns - m->start_ns < quiet_ns)
		return false;
	memset(m, 0, sizeof(*m));
	return true;
}

/**
 * struct iqcn_outflow - what leaves a queue while it is backlogged
 * @bytes: since it is, 0: it is not, or nothing has left since
 * @window_bytes: @bytes when the window of the CE meter began, 0: the queue has
 *	not been backlogged all the time since
 *
 * Where it drains slower all of a sudden, PFC for one, its CE rate falls as much:
 * held against what drained in another window that would look like the end of
 * the congestion, or like more CE packets than there are packets.
 */
struct iqcn_outflow {
	u64 bytes;
	u64 window_bytes;
};

/**
 * iqcn_outflow_begin() - a window of the CE meter begins with the last packet
 * @o: outflow
 */
static inline void iqcn_outflow_begin(struct iqcn_outflow *o)
{
	o->window_bytes = o->bytes;
}

/**
 * iqcn_outflow_bps() - what drained in a window of the CE meter
 * @o: outflow
 * @ns: length of the window
 *
 * Return: bit/s, 0: the queue was not backlogged all the time.
 */
static inline u64 iqcn_outflow_bps(const struct iqcn_outflow *o, u64 ns)
{
	return o->window_bytes ? iqcn_rate_bps(o->bytes - o->window_bytes, ns) :
				 0;
}

/**
 * iqcn_quiet_ns() - how long a silence ends congestion
 * @window_ns: window of the meter
 * @roce_bps: rate of the queue
 * @bytes: what may pass between two packets that are counted: the largest
 *	packet, or several if not all are looked at
 *
 * Return: two windows and twice the time of that at that rate, of a second
 * at most.
 */
static inline u64 iqcn_quiet_ns(u64 window_ns, u64 roce_bps, u64 bytes)
{
	/* of no more bytes than take a second */
	u64 pkt_ns = roce_bps ? mul_u64_u64_div_u64(min(bytes,
							roce_bps / 8 + 1),
						    8ULL * NSEC_PER_SEC,
						    roce_bps) : 0;

	return 2 * (window_ns + min_t(u64, pkt_ns, NSEC_PER_SEC));
}

/**
 * iqcn_flow_quiet_ns() - how long a silence ends the congestion of a flow
 * @window_ns: window of the meter
 * @t1_ns: T1
 * @gap_ns: between its last two CE packets, lest a sparse flow seem silent
 *	between packets
 *
 * Return: nanoseconds.
 */
static inline u64 iqcn_flow_quiet_ns(u64 window_ns, u64 t1_ns, u64 gap_ns)
{
	return 2 * (window_ns + t1_ns + gap_ns);
}

/**
 * iqcn_detect_queue() - next state of the CE rate detector
 * @congested: state so far
 * @rate_bps: CE rate of the window
 * @roce_bps: rate of the queue's RoCE traffic, 0: not known, never congested
 * @enter_pct: percentage of it from which the queue is congested
 * @exit_pct: percentage of it down to which it stays so
 *
 * Return: true if the queue is congested.
 */
static inline bool iqcn_detect_queue(bool congested, u64 rate_bps, u64 roce_bps,
				     u32 enter_pct, u32 exit_pct)
{
	if (!roce_bps)
		return false;
	/* percent of a rate: exact while the rate is below 2^64 / 100 bit/s */
	if (congested)
		return rate_bps * 100 > roce_bps * exit_pct;
	return rate_bps * 100 >= roce_bps * enter_pct;
}

/**
 * iqcn_detect_depth() - next state of the depth detector
 * @congested: state so far
 * @depth_bytes: instantaneous depth
 * @kmin_bytes: depth at which the state is left
 * @kmax_bytes: depth above which it is entered
 *
 * Return: true if the queue is congested.
 */
static inline bool iqcn_detect_depth(bool congested, u32 depth_bytes,
				     u32 kmin_bytes, u32 kmax_bytes)
{
	return depth_bytes > (congested ? kmin_bytes : kmax_bytes);
}

#endif /* _IQCN_DETECT_H */
