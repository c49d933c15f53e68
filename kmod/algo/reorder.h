/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Puts reordered CE packets of a flow in order before their continuity is
 * evaluated (continuity.h).
 *
 *	1 2 4 3 5	3 is late by one: 4 waits for it, then 1 to 5 are a run
 *	1 2 4 5 6	3 is not CE: 4 waits until 5 shows that
 *
 * A missing number is waited for until the reorder window has passed.  The
 * window is the largest lateness of a number of the flow so far, at most
 * IQCN_REORDER_MAX.  So the packets of a flow without reordering do not wait,
 * as with RACK in TCP (RFC 8985, 6.2).  The first late packet still breaks a
 * run, and opens the window.
 *
 * A repeated number means that the sender retransmits (go-back-N).  Then no
 * number waits, and continuity.h handles the packet.
 *
 * US 12395431 B2 does not mention reordering.
 *
 * Pure: no clock, no lock, no packet.  The caller serializes.
 */
#ifndef _IQCN_REORDER_H
#define _IQCN_REORDER_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "continuity.h"

/* The window and a packet behind it fit into a u64 */
#define IQCN_REORDER_MAX	32

/* struct iqcn_reorder - the last CE numbers of a flow */
struct iqcn_reorder {
	u64 seen;	/* bit n: number next - n - 1 was CE; 0: no packet */
	u32 next;	/* number after the last packet that was passed, or
			 * after the furthest one accepted since
			 */
	u8 pending;	/* waiting numbers before next; the first is missing */
	u8 window;	/* largest lateness so far, in numbers and including the
			 * late one itself; 0: no packet was late
			 */
	bool kind;	/* @kind of the last packet (iqcn_reorder_add()) */
};

/* Bits of the last @n numbers; @n is at least 1 */
static inline u64 iqcn_reorder_mask(u32 n)
{
	return GENMASK_ULL(min(n, 64U) - 1, 0);
}

/* Move @seen by @by numbers: forward, or back if @by is negative */
static inline u64 iqcn_reorder_shift(u64 seen, s32 by)
{
	if (by <= -64 || by >= 64)
		return 0;
	return by < 0 ? seen >> -by : seen << by;
}

/**
 * iqcn_reorder_add() - accept a CE packet, unless it is to be passed at once
 * @r: the flow's state, zeroed before its first packet
 * @seq: number of the first segment
 * @n: number of segments, at least 1
 * @modulus: modulus of the numbers, at least 4 * IQCN_REORDER_MAX, more than @n
 * @kind: true for a request of RC or XRC, false for a READ response or UC
 *
 * Return: true if @r has accepted the packet: iqcn_reorder_pop() returns its
 * numbers in order, unless they arrived too late.  If false, the caller empties
 * @r, then evaluates the packet and calls iqcn_reorder_pass().
 */
static inline bool iqcn_reorder_add(struct iqcn_reorder *r, u32 seq, u32 n,
				    u32 modulus, bool kind)
{
	s32 ahead = iqcn_seq_delta(seq, r->next, modulus);
	u64 bits;

	if (!r->seen || kind != r->kind)
		return false;
	if (ahead >= 0) {
		if (!r->window || n > IQCN_REORDER_MAX ||
		    ahead > IQCN_REORDER_MAX - (s32)n)
			return false;
		r->seen = r->seen << (ahead + n) | iqcn_reorder_mask(n);
		r->next = iqcn_seq_add(seq, n, modulus);
		r->pending += ahead + n;
		return true;
	}
	/* a packet that reaches up to @next is a repetition, because the last
	 * number before @next is always CE
	 */
	if (ahead < -IQCN_REORDER_MAX || n > -ahead)
		return false;
	bits = iqcn_reorder_mask(n) << (-ahead - n);
	if (r->seen & bits)
		return false;
	r->seen |= bits;
	/* widen the window even if this number arrived too late, so that the
	 * next number that is as late arrives in time
	 */
	r->window = max_t(u8, r->window, -ahead);
	return true;
}

/**
 * iqcn_reorder_pop() - return consecutive CE numbers that need not wait
 * @r: state after iqcn_reorder_add()
 * @all: true to wait for nothing
 * @modulus: modulus of the numbers
 * @seq: set to the first of the numbers
 *
 * Missing numbers are skipped.  A caller that loops gets each number once, in
 * at most 64 calls per packet.
 *
 * Return: how many numbers there are, 0: none.
 */
static inline u32 iqcn_reorder_pop(struct iqcn_reorder *r, bool all,
				   u32 modulus, u32 *seq)
{
	u32 n;

	for (; r->pending; r->pending--) {
		/* the shift makes the first pending number the highest bit */
		n = 64 - fls64(~(r->seen << (64 - r->pending)));
		if (n) {
			*seq = iqcn_seq_add(r->next, modulus - r->pending,
					    modulus);
			r->pending -= n;
			return n;
		}
		if (!all && r->pending <= r->window)
			break;
	}
	return 0;
}

/**
 * iqcn_reorder_pass() - record a packet that iqcn_reorder_add() did not accept
 * @r: state, emptied by iqcn_reorder_pop()
 * @seq: as for iqcn_reorder_add()
 * @n: as for iqcn_reorder_add()
 * @modulus: as for iqcn_reorder_add()
 * @kind: as for iqcn_reorder_add()
 */
static inline void iqcn_reorder_pass(struct iqcn_reorder *r, u32 seq, u32 n,
				     u32 modulus, bool kind)
{
	u32 next = iqcn_seq_add(seq, n, modulus);

	if (kind != r->kind)
		r->seen = 0;
	r->seen = iqcn_reorder_shift(r->seen,
				     iqcn_seq_delta(next, r->next, modulus));
	r->seen |= iqcn_reorder_mask(n);
	r->next = next;
	r->kind = kind;
}

#endif /* _IQCN_REORDER_H */
