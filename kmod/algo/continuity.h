/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a flow congested?  Continuity of the PSNs of its CE packets.
 *
 * A sender numbers the packets of a flow consecutively.  If the PSNs of the CE
 * packets have no holes, every packet was marked.  Two detectors measure that:
 *
 *   run	the number of consecutive PSNs that are CE
 *
 *	  run >= N			a run of N' or less has ended
 *	CLEAR --------> CONGESTED	CONGESTED --------> CLEAR
 *
 *	A packet that is not CE ends the run.  Two such packets in sequence have
 *	a run of 0 between them, so they clear the flow whatever N' is.
 *
 *   span	the largest difference between neighboring CE PSNs
 *
 *	  < G over M packets		  >= G'
 *	CLEAR --------> CONGESTED	CONGESTED --------> CLEAR
 *
 * Source: US 12395431 B2, description (17), (18), (73)-(90), steps S212-S217;
 * (81) for differences.  The patent leaves open what ends a run, and what a PSN
 * that goes back means.  Here:
 *
 * A sender that goes back repeats PSNs.  Repeated PSNs neither count again nor
 * end a run, and the run continues with the first new PSN.  But if one of the
 * repeated PSNs is missing, the run ends, and a new one begins behind the hole,
 * even if it repeats PSNs.  A PSN that is far behind belongs to another
 * connection.  READ responses carry the PSNs of their
 * requests, and other packets to the same QP do not continue that sequence.  So
 * the PSNs of requests and responses are not comparable, and a change between
 * the two neither extends nor ends the run.
 *
 * Numbers are modulo @modulus: 2^24 for PSNs, less for sampled ones (sample.h).
 *
 * The caller has already put reordered packets in order (reorder.h).
 *
 * The packets of a sprayed flow take several paths.  The PSNs of packets that
 * pass through another box are gaps here, so both detectors miss congestion of
 * such a flow.  They report no false congestion, because a PSN counts only if
 * its packet was CE here.
 *
 * Pure: no clock, no lock, no packet.  The caller serializes.
 */
#ifndef _IQCN_CONTINUITY_H
#define _IQCN_CONTINUITY_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

/* A sender may go back by at most 1 / IQCN_BACK_SHARE of all numbers: 65,536
 * PSNs
 */
#define IQCN_BACK_SHARE		256
/* The run saturates here, beyond any threshold */
#define IQCN_RUN_MAX		((u32)BIT(30))
/* No run has ended */
#define IQCN_RUN_GOES_ON	U32_MAX

/* struct iqcn_continuity - state of a flow's CE PSNs */
struct iqcn_continuity {
	u32 next;	/* number after the last packet */
	u32 high;	/* number after the furthest packet since the last
			 * hole
			 */
	u32 run;	/* length of the current run */
	u32 span;	/* numbers since the span detector last restarted */
	u32 gap;	/* largest difference in the span */
	bool begun;	/* a packet has been added */
	bool kind;	/* @kind of the last packet (iqcn_continuity_add()) */
};

/**
 * iqcn_seq_delta() - distance between two numbers
 * @a: number, less than @modulus
 * @b: number to subtract from it, less than @modulus
 * @modulus: modulus
 *
 * Return: a - b, negative if @a is behind @b.  The absolute value is at most
 * half the modulus.
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
 * iqcn_continuity_add() - account a CE packet
 * @c: the flow's state, zeroed before its first packet
 * @seq: number of the first segment
 * @n: number of segments, at least 1
 * @modulus: modulus of the numbers, more than @n
 * @kind: true for a request of RC or XRC, false for a READ response or UC
 *
 * Return: length of the shortest run whose end this packet reveals, 0 if it
 * begins another connection, or IQCN_RUN_GOES_ON if no run has ended.
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
		/* the runs of the previous connection are over */
		if (c->begun)
			ended = 0;
		iqcn_continuity_begin(c, seq, n, modulus, kind);
		return ended;
	}
	/* add the distances to and from @high: the direct distance from @next
	 * may exceed half of the modulus, and then looks like a step back
	 */
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
		/* count from here on, even if the numbers are repeated ones */
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
 * iqcn_detect_run() - next state of the run detector of a flow
 * @congested: current state
 * @ended: return value of iqcn_continuity_add()
 * @run: length of the current run after that call
 * @enter: N
 * @exit: N', less than @enter
 *
 * Return: true if the flow is congested.
 */
static inline bool iqcn_detect_run(bool congested, u32 ended, u32 run,
				   u32 enter, u32 exit)
{
	if (run >= enter)
		return true;
	return congested && ended > exit;
}

/**
 * iqcn_detect_span() - next state of the span detector of a flow
 * @congested: current state
 * @c: state after iqcn_continuity_add(); the span restarts after each verdict
 * @packets: M
 * @enter: G
 * @exit: G', not less than @enter
 *
 * Return: true if the flow is congested.
 */
static inline bool iqcn_detect_span(bool congested, struct iqcn_continuity *c,
				    u32 packets, u32 enter, u32 exit)
{
	/* a large difference decides at once, small ones after M packets */
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
