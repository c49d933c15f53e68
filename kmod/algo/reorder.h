/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CE packets of a flow that overtook one another, put in order before their
 * continuity (continuity.h) is judged.
 *
 *	1 2 4 3 5	3 is late by one number: 4 waits for it, then 1 to 5 are a run
 *	1 2 4 5 6	3 is not CE: 4 waits, 5 shows that 3 does not come any more
 *
 * A number is waited for while no more numbers than have ever overtaken another
 * of the flow have passed since it was due, and never for more than
 * IQCN_REORDER_MAX.  So flows whose packets stay in order are judged at once, as
 * with RACK in TCP (RFC 8985, 6.2): the first late packet still breaks a run, and
 * tells how long to wait from then on.
 *
 * A number that comes again is that of a sender that goes back: nothing waits for
 * anything then, and continuity.h says what it means.
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

/* What waits, and a packet behind it, fit into a u64 */
#define IQCN_REORDER_MAX	32

/**
 * struct iqcn_reorder - the last CE numbers of a flow
 * @seen: bit n: the number n + 1 before @next was CE; 0: there was no packet
 * @next: the one that would follow the furthest
 * @pending: how many numbers before @next are yet to be judged; if any, the first
 *	of them is missing
 * @window: how many numbers, itself included, have passed at most when a late
 *	one came, IQCN_REORDER_MAX at most; 0: none was late
 * @kind: of the last packet: request or READ response
 */
struct iqcn_reorder {
	u64 seen;
	u32 next;
	u8 held;
	u8 window;
	bool kind;
};

/* The last @n of them are CE, @n is at least 1 */
static inline u64 iqcn_reorder_mask(u32 n)
{
	return GENMASK_ULL(min(n, 64U) - 1, 0);
}

/* @by numbers come after those in @seen, or go if it is less than 0 */
static inline u64 iqcn_reorder_shift(u64 seen, s32 by)
{
	if (by <= -64 || by >= 64)
		return 0;
	return by < 0 ? seen >> -by : seen << by;
}

/**
 * iqcn_reorder_hold() - a CE packet
 * @r: its flow's; zeroed: the first one
 * @seq: its number, of the first segment
 * @n: its segments, 1 at least
 * @modulus: of numbers, 4 * IQCN_REORDER_MAX at least, and more than @n
 * @kind: it is a request, not a READ response
 *
 * Return: true if iqcn_reorder_pop() will hand it out, in its place.  If not, the
 * caller empties @r, then judges the packet and calls iqcn_reorder_pass().
 */
static inline bool iqcn_reorder_hold(struct iqcn_reorder *r, u32 seq, u32 n,
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
		r->held += ahead + n;
		return true;
	}
	/* the last number before @next is always CE */
	if (ahead < -IQCN_REORDER_MAX || n > -ahead)
		return false;
	bits = iqcn_reorder_mask(n) << (-ahead - n);
	if (r->seen & bits)
		return false;
	r->seen |= bits;
	/* one that was given up counts no more, but the next as late as that will */
	r->window = max_t(u8, r->window, -ahead);
	return true;
}

/**
 * iqcn_reorder_pop() - hand out what need not wait any more
 * @r: after iqcn_reorder_hold()
 * @all: wait for nothing
 * @modulus: as there
 * @seq: is set to the first of several consecutive numbers that are CE
 *
 * Numbers that are missing are left out.  No more than 64 rounds in all for a
 * packet, and no number is in two of them.
 *
 * Return: how many, 0: none.
 */
static inline u32 iqcn_reorder_pop(struct iqcn_reorder *r, bool all,
				   u32 modulus, u32 *seq)
{
	u32 n;

	for (; r->held; r->held--) {
		/* the first to be judged is the highest bit then */
		n = 64 - fls64(~(r->seen << (64 - r->held)));
		if (n) {
			*seq = iqcn_seq_add(r->next, modulus - r->held, modulus);
			r->held -= n;
			return n;
		}
		if (!all && r->held <= r->window)
			break;
	}
	return 0;
}

/**
 * iqcn_reorder_pass() - a packet was judged that iqcn_reorder_hold() did not take
 * @r: as there, empty
 * @seq: as there
 * @n: as there
 * @modulus: as there
 * @kind: as there
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
