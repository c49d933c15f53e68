/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Coordination of load balancing and congestion control.
 *
 * The two interfere: cuts hide the hot spots that load balancing has to find,
 * and while packets change paths, the congestion signals are stale.  So
 * congestion control acts only when load balancing cannot help, that is, when
 *
 *	without "gate-most"	the share of CE packets of the connection, as a moving
 *				average, exceeds a high threshold
 *	with "gate-most M"	the averages of at least M single paths exceed
 *				the threshold; a path without an ACK in the last
 *				two RTTs does not count
 *
 * Source: US 12388756, paragraphs 99-108 and 248-252 (scalable), 111-118 and
 * 269-273 (efficient).  The text leaves the weight, the threshold, the number
 * of paths and their age to the implementation.
 *
 * Shares are in units of 2^-32.  Pure: the caller supplies the time.
 */
#ifndef _ROCEHOST_GATE_H
#define _ROCEHOST_GATE_H

#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/types.h>

#define GATE_ONE	BIT_ULL(32)
#define GATE_PATHS	16

/**
 * struct gate_params - parameters of a host's gates
 * @weight: weight of a new packet in the averages; 0: the gate is always open
 * @above: threshold of the averages
 * @most: number of paths that must be congested, 0: the connection as a whole
 */
struct gate_params {
	u64 weight;
	u64 above;
	u64 most;
};

/**
 * struct gate_path - a path of a connection
 * @acked_ns: time of the last ACK
 * @ce: moving average of the share of CE packets
 */
struct gate_path {
	u64 acked_ns;
	u64 ce;
};

/**
 * struct gate - the gate of a connection
 * @ce: moving average of the share of CE packets
 * @rtt_ns: last RTT
 * @paths: its paths, by entropy
 */
struct gate {
	u64 ce;
	u64 rtt_ns;
	struct gate_path paths[GATE_PATHS];
};

/* Move an average towards 1 for a CE packet, towards 0 for any other packet */
static inline u64 gate_average(u64 average, bool ce, u64 weight)
{
	if (ce)
		return average + mul_u64_u64_shr(GATE_ONE - average, weight, 32);
	return average - mul_u64_u64_shr(average, weight, 32);
}

/**
 * gate_acked() - process an ACK
 * @g: gate
 * @p: parameters
 * @entropy: entropy of the packet
 * @ce: the packet was marked CE
 * @rtt_ns: its RTT
 * @now_ns: now
 */
static inline void gate_acked(struct gate *g, const struct gate_params *p,
			      u16 entropy, bool ce, u64 rtt_ns, u64 now_ns)
{
	struct gate_path *path = &g->paths[entropy % GATE_PATHS];

	g->ce = gate_average(g->ce, ce, p->weight);
	g->rtt_ns = rtt_ns;
	path->ce = gate_average(path->ce, ce, p->weight);
	path->acked_ns = now_ns;
}

/**
 * gate_open() - may congestion control act?
 * @g: gate
 * @p: parameters
 * @now_ns: now
 *
 * Return: true if a CNP may cut the rate.
 */
static inline bool gate_open(const struct gate *g, const struct gate_params *p,
			     u64 now_ns)
{
	u32 congested = 0;
	int i;

	if (!p->weight)
		return true;
	if (!p->most)
		return g->ce > p->above;
	for (i = 0; i < GATE_PATHS; i++)
		congested += g->paths[i].ce > p->above &&
			     now_ns - g->paths[i].acked_ns <= 2 * g->rtt_ns;
	return congested >= p->most;
}

#endif /* _ROCEHOST_GATE_H */
