/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filter of the receivers' CNPs that arrive from a long-haul link: at most
 * N of them pass in an interval.
 *
 *	the first CNP: a window begins, and the CNP passes
 *	a CNP in the window: it passes if fewer than N have passed
 *	a CNP after the window: the next window begins where the last one ended,
 *		or, if a whole interval was idle, with this CNP
 *
 * So windows tile the time while CNPs arrive, and the rate that passes is at
 * most N / interval, whatever the rate that arrives.  CNPs that are further
 * apart than the interval all pass.  The longer the interval, the fewer CNPs
 * pass.
 *
 * Source: the Chinese patent application on congestion control over long-haul
 * links, claims 1 to 3 and 7, steps A1, A2 and B1 to B3: one CNP is forwarded
 * in an interval that follows from the length of the fiber and the ratio of
 * incoming to outgoing traffic, and the others are dropped.  Reconstructed: the
 * superscripts of the rates are lost; 10^7 CNPs a second are reduced to 10^5 by
 * an interval of 10^4 ns, which is consistent.  The text does not say whether
 * it counts the CNPs of a port or of a flow; its rates fit a port.  Ours: the
 * windows, counting by flow, and iqcn_filter_incast_n(), which takes the place
 * of the patent application's learning agent.
 *
 * Pure: no clock, no lock.
 */
#ifndef _IQCN_FILTER_H
#define _IQCN_FILTER_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "config_defaults.h"

/* Light takes 5 us for a km of fiber, so a round trip takes 10 ns per m */
#define IQCN_FIBER_RTT_NS_PER_M	10

/**
 * iqcn_fiber_rtt_ns() - round-trip time of a fiber
 * @fiber_m: length, up to IQCN_FIBER_MAX_M
 *
 * Return: ns.
 */
static inline u32 iqcn_fiber_rtt_ns(u32 fiber_m)
{
	return fiber_m * IQCN_FIBER_RTT_NS_PER_M;
}

/**
 * iqcn_filter_max_ns() - longest interval of a filter
 * @fiber_m: length of the fiber, 0: none
 *
 * The effect of a CNP reaches the receiver after a round trip.  If all CNPs of
 * a receiver were dropped for longer, the receiver would lose control of its
 * sender.  The bound does not depend on N, because all N may pass at the start
 * of the interval.
 *
 * Return: ns.
 */
static inline u32 iqcn_filter_max_ns(u32 fiber_m)
{
	return max_t(u32, iqcn_fiber_rtt_ns(fiber_m), IQCN_FILTER_MIN_RTT_NS);
}

/* struct iqcn_filter_slot - the window of a stream of CNPs */
struct iqcn_filter_slot {
	u64 hash;	/* keyed hash of the stream */
	u64 start_ns;	/* start of the window */
	u32 passed;	/* CNPs that have passed in it, 0: the slot is free */
};

/**
 * iqcn_filter_pass() - does a CNP pass?
 * @s: window of its stream
 * @n: CNPs that pass in an interval, at least 1
 * @interval_ns: length of the interval, at least 1
 * @now_ns: arrival of the CNP, not less than in an earlier call
 *
 * Return: true if it does.
 */
static inline bool iqcn_filter_pass(struct iqcn_filter_slot *s, u32 n,
				    u64 interval_ns, u64 now_ns)
{
	u64 age_ns = now_ns - s->start_ns;

	if (!s->passed || age_ns >= 2 * interval_ns) {
		s->start_ns = now_ns;
		s->passed = 0;
	} else if (age_ns >= interval_ns) {
		s->start_ns += interval_ns;
		s->passed = 0;
	}
	if (s->passed >= n)
		return false;
	s->passed++;
	return true;
}

/**
 * iqcn_filter_find() - find the window of a stream, or begin one
 * @slots: slots that the hash selects
 * @n_slots: number of slots
 * @hash: keyed hash of the stream
 *
 * If all slots are taken, the slot whose window began first is reused.  Then up
 * to N more CNPs of the stream that loses the slot may pass.
 *
 * Return: the slot.
 */
static inline struct iqcn_filter_slot *
iqcn_filter_find(struct iqcn_filter_slot *slots, u32 n_slots, u64 hash)
{
	struct iqcn_filter_slot *oldest = slots;
	u32 i;

	for (i = 0; i < n_slots; i++) {
		if (slots[i].passed && slots[i].hash == hash)
			return &slots[i];
		if (!slots[i].passed ||
		    (oldest->passed && slots[i].start_ns < oldest->start_ns))
			oldest = &slots[i];
	}
	oldest->hash = hash;
	oldest->passed = 0;
	return oldest;
}

/* The most CNPs that an incast requires: for any ratio above 2^15 */
#define IQCN_FILTER_INCAST_N_MAX 16

/**
 * iqcn_filter_incast_n() - CNPs that have to pass in a round trip
 * @in_bytes: bytes that arrived in a period of at least a round trip
 * @out_bytes: bytes that left in the same period
 *
 * A CNP at most halves the rate of its sender, so an overload of k needs
 * log2(k) CNPs.
 *
 * Return: max(1, ceil(log2(@in_bytes / @out_bytes))), at most
 * IQCN_FILTER_INCAST_N_MAX, which is also the result if bytes arrived and none
 * left.
 */
static inline u32 iqcn_filter_incast_n(u64 in_bytes, u64 out_bytes)
{
	u32 n;

	for (n = 1; n < IQCN_FILTER_INCAST_N_MAX; n++)
		if (in_bytes <= out_bytes << n)
			break;
	return n;
}

#endif /* _IQCN_FILTER_H */
