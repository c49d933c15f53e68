/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a flow congested?  Continuity of the PSNs of its CE packets.
 *
 * A sender numbers the packets of a flow one by one.  If the numbers of those
 * that are CE have no holes, every packet that was sent has been marked.  Two
 * ways to put that into a number:
 *
 *   run	how many consecutive PSNs are CE
 *
 *	  run >= N			a run of N' or less has ended
 *	CLEAR --------> CONGESTED	CONGESTED --------> CLEAR
 *
 *	Packets that are not CE end runs.  Two of them side by side have a run
 *	of 0 between them, so they end the state whatever N' is.
 *
 *   span	the largest difference between neighbouring CE PSNs
 *
 *	  < G over M packets		  >= G'
 *	CLEAR --------> CONGESTED	CONGESTED --------> CLEAR
 *
 * Source: US 12395431 B2, description (17), (18), (73)-(90), steps S212-S217;
 * (81) for differences.  The patent leaves open what ends a run, and what a
 * PSN that goes back means; here:
 *
 * A sender that goes back repeats numbers: they neither count again nor end
 * anything, and the run goes on where the numbers are new, or where the sender
 * jumps ahead to if it repeats a few packets only.  Numbers that are far behind
 * are those of another connection.  READ responses have the numbers of the
 * requests, which other packets to the same QP do not follow: between the two
 * kinds nothing can be said, so the run stands still there.
 *
 * Numbers are modulo what the caller says: 2^24 for PSNs, less for those that
 * are looked at (sample.h).
 *
 * Packets that overtook each other come here in order (reorder.h).
 *
 * Pure: no clock, no lock, no packet.  The caller serializes.
 */
#ifndef _IQCN_CONTINUITY_H
#define _IQCN_CONTINUITY_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

/* Share of all numbers that a sender may go back by: 65,536 PSNs */
#define IQCN_BACK_SHARE		256
/* Longer than any threshold: where the run stops to count */
#define IQCN_RUN_MAX		((u32)BIT(30))
/* No run has ended */
#define IQCN_RUN_GOES_ON	U32_MAX

/**
 * struct iqcn_continuity - what is known of a flow's CE PSNs
 * @next: the one that would follow the last packet
 * @high: the one that would follow the furthest since the last hole
 * @run: consecutive ones up to now
 * @span: packets since differences are taken
 * @gap: largest difference among them
 * @begun: there was a packet
 * @kind: of the last packet: request or READ response
 */
struct iqcn_continuity {
	u32 next;
	u32 high;
	u32 run;
	u32 span;
	u32 gap;
	bool begun;
	bool kind;
};

/**
 * iqcn_seq_delta() - distance between two numbers
 * @a: later number
 * @b: earlier number
 * @modulus: both are less
 *
 * Return: a - b, half the modulus ahead or behind at most.
 */
static inline s32 iqcn_seq_delta(u32 a, u32 b, u32 modulus)
{
	u32 ahead = a >= b ? a - b : a + modulus - b;

	return ahead > (modulus - 1) / 2 ? (s32)ahead - (s32)modulus :
					   (s32)ahead;
}

static inline u32 iqcn_seq_add(u32 seq, u32 n, u32 modulus)
{
	return (seq + n) % modulus;
}

static inline void iqcn_continuity_begin(struct iqcn_continuity *c, u32 seq,
					 u32 n, u32 modulus, bool kind)
{
	c->next = iqcn_seq_add(seq, n, modulus);
	c->high = c->next;
	c->run = n;
	c->span = n;
	c->gap = 1;
	c->begun = true;
	c->kind = kind;
}

/**
 * iqcn_continuity_add() - a CE packet
 * @c: its flow's; zeroed: the first one
 * @seq: its number, of the first segment
 * @n: its segments, 1 at least
 * @modulus: of numbers, more than @n
 * @kind: it is a request, not a READ response
 *
 * Return: the shortest run that this packet has shown to be over, or
 * IQCN_RUN_GOES_ON.
 */
static inline u32 iqcn_continuity_add(struct iqcn_continuity *c, u32 seq, u32 n,
				      u32 modulus, bool kind)
{
	u32 ended = IQCN_RUN_GOES_ON;
	s32 hole, fresh;

	if (c->begun && kind != c->kind) {
		c->next = iqcn_seq_add(seq, n, modulus);
		c->high = c->next;
		c->kind = kind;
		return ended;
	}
	if (!c->begun || iqcn_seq_delta(seq, c->high, modulus) <
			 -(s32)(modulus / IQCN_BACK_SHARE)) {
		/* what was known of another connection is over */
		if (c->begun)
			ended = 0;
		iqcn_continuity_begin(c, seq, n, modulus, kind);
		return ended;
	}
	/* by way of the furthest, lest a jump ahead look like one back */
	hole = iqcn_seq_delta(seq, c->high, modulus);
	if (hole > 0)
		hole += iqcn_seq_delta(c->high, c->next, modulus);
	else if (hole < 0)
		hole = iqcn_seq_delta(seq, c->next, modulus);
	if (hole > 0) {
		ended = hole > 1 ? 0 : c->run;
		c->run = 0;
		c->gap = max_t(u32, c->gap, hole + 1);
		c->span = min_t(u32, c->span + hole, IQCN_RUN_MAX);
		/* what comes is counted, be it among repeated ones */
		c->high = seq;
	}
	c->next = iqcn_seq_add(seq, n, modulus);
	fresh = iqcn_seq_delta(c->next, c->high, modulus);
	if (fresh > 0) {
		c->run = min_t(u32, c->run + fresh, IQCN_RUN_MAX);
		c->span = min_t(u32, c->span + fresh, IQCN_RUN_MAX);
		c->high = c->next;
	}
	return ended;
}

/**
 * iqcn_detect_run() - next state of a flow by its runs
 * @congested: state so far
 * @ended: what iqcn_continuity_add() returned
 * @run: run after that
 * @enter: N
 * @exit: N', less than @enter
 *
 * Return: true if it is congested.
 */
static inline bool iqcn_detect_run(bool congested, u32 ended, u32 run,
				   u32 enter, u32 exit)
{
	if (run >= enter)
		return true;
	return congested && ended > exit;
}

/**
 * iqcn_detect_span() - next state of a flow by differences
 * @congested: state so far
 * @c: after iqcn_continuity_add(); differences are taken anew when they have
 *	led to a verdict
 * @packets: M
 * @enter: G
 * @exit: G', not less than @enter
 *
 * Return: true if it is congested.
 */
static inline bool iqcn_detect_span(bool congested, struct iqcn_continuity *c,
				    u32 packets, u32 enter, u32 exit)
{
	/* nothing that comes can make a large difference small again */
	if (c->gap < enter && c->span < packets)
		return congested;
	if (c->gap < enter)
		congested = true;
	else if (c->gap >= exit)
		congested = false;
	c->span = 0;
	c->gap = 0;
	return congested;
}

#endif /* _IQCN_CONTINUITY_H */
