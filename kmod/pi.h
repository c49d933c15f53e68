/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A PI controller that sets the probability with which a flow is told to slow
 * down, so that the queue stays at a reference depth:
 *
 *	N p  +=  alpha (q - qref)  +  beta (q - q of the last step)
 *
 * once per update interval.  N p is the number of CNPs in a round in which
 * every one of the N active flows has one chance: for a flow whose packets
 * are closer than T1 each packet, for others every T1 (the "hold").
 *
 * Why N p: what one CNP more in a round takes from the load, in the long run,
 * is G, in bytes/s.  With many flows, whose fair share is a few of their steps up
 * (RAI, RHAI), each CNP keeps one sender from one step: G does not depend on N,
 * while that of p would be N times as large.  With few flows a CNP takes away
 * a share of C/N, so G falls with N; below IQCN_PI_MIN_FLOWS, where it would be
 * too large, N is not followed any more.
 *
 * Stability: the load follows N p with a lag tau, that of the senders' rates (some
 * ms: a few CNPs), the queue is the integral of the load, and the controller is
 * beta + alpha / (u s) with u the update interval:
 *
 *	tau s^3 + s^2 + G beta s + G alpha / u = 0
 *
 * By Hurwitz's criterion that is stable if tau < u beta / alpha, whatever G is,
 * and so whatever the number of flows.  The defaults make it 10 ms.  How much it
 * rings follows from tau G beta: the damping ratio of the faster pair of poles
 * is 1 / (2 sqrt(tau G beta)).  With a G of 2 * 10^7 B/s (25 Gb/s, 512 flows),
 * beta of 5 * 10^-5 CNPs per byte and tau of 2 ms it is 0.35.
 *
 * All of that scales with the link: bytes in proportion to its speed, so the
 * gains inversely.
 *
 * It is for small errors.  What is further above qref than IQCN_PI_FAR times it
 * adds no more, for the queue can never be as far below, and what has been wound
 * up there would take for ever to unwind.  Instead the probability is raised
 * towards 1 beyond, for as long as the queue is there: a burst of senders that
 * start is told at once.
 *
 * It runs when there is something to decide, not by a timer: what a longer
 * interval would have added comes at once.  It begins when the queue first
 * is deeper than an eighth of qref.  A queue that is empty for a moment is one
 * that is kept short; but if it has not been deeper than that for
 * IQCN_PI_QUIET_NS the probability halves about every eleven steps, and at
 * IQCN_PI_END_NS it ends.
 *
 * Source: Hollot et al., "On Designing Improved Controllers for AQM Routers
 * Supporting TCP Flows", INFOCOM 2001 (PI for AQM); RFC 8033 (its form of
 * increments); Taheri et al., "RoCC", CoNEXT 2020 (a controller in the switch
 * for RDMA).  The hold, and gains by the number of flows, are ours.
 *
 * Pure: no clock, no randomness, no qdisc.  The caller serializes.
 */
#ifndef _IQCN_PI_H
#define _IQCN_PI_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "mark.h"

#define IQCN_PI_MIN_FLOWS	32
#define IQCN_PI_FAR		4
#define IQCN_PI_QUIET_NS	(5 * NSEC_PER_MSEC)
#define IQCN_PI_END_NS		(20 * NSEC_PER_MSEC)
/* Gains are CNPs per so many bytes */
#define IQCN_PI_GAIN_BYTES	1000000000

/**
 * struct iqcn_pi_params - what it aims at, and how hard
 * @qref_bytes: reference depth
 * @update_ns: update interval
 * @alpha: integral gain: CNPs per round and step, for IQCN_PI_GAIN_BYTES above
 *	the reference
 * @beta: proportional gain: likewise, for IQCN_PI_GAIN_BYTES of growth.
 *	Both no more than 10^8, so that nothing leaves 64 bits
 */
struct iqcn_pi_params {
	u32 qref_bytes;
	u32 update_ns;
	u32 alpha;
	u32 beta;
};

/**
 * struct iqcn_pi - the controller
 * @prob: 0 .. IQCN_PROB_ONE
 * @step_ns: when the last step was, 0: it does not run
 * @deep_ns: when the queue was last deep enough for it to run
 * @depth_bytes: depth at the last step
 */
struct iqcn_pi {
	u64 prob;
	u64 step_ns;
	u64 deep_ns;
	u32 depth_bytes;
};

/**
 * iqcn_pi_wake_bytes() - the depth from which it runs
 * @p: parameters
 */
static inline u32 iqcn_pi_wake_bytes(const struct iqcn_pi_params *p)
{
	return p->qref_bytes / 8;
}

/**
 * iqcn_pi_runs() - does it?
 * @pi: controller
 */
static inline bool iqcn_pi_runs(const struct iqcn_pi *pi)
{
	return pi->step_ns;
}

/* Changes of the probability for so many CNPs more in a round, in 10^-9 CNPs */
static inline s64 iqcn_pi_change(s64 cnps, u32 flows)
{
	s64 change = div_s64(cnps, max_t(u32, flows, IQCN_PI_MIN_FLOWS));

	/* all or nothing is as far as it can go: 10^9 * 2^32 is below 2^62 */
	change = clamp_t(s64, change, -IQCN_PI_GAIN_BYTES, IQCN_PI_GAIN_BYTES);
	return div_s64(change * (s64)IQCN_PROB_ONE, IQCN_PI_GAIN_BYTES);
}

/* @steps at once, the growth in one */
static inline void iqcn_pi_step(struct iqcn_pi *pi,
				const struct iqcn_pi_params *p, u32 steps,
				u32 flows, u32 depth_bytes)
{
	/* 10^8 * 2^32 is below 2^59 */
	s64 above = (s64)p->alpha *
		    min_t(s64, (s64)depth_bytes - p->qref_bytes,
			  IQCN_PI_FAR * (s64)p->qref_bytes);
	s64 grown = (s64)p->beta * ((s64)depth_bytes - pi->depth_bytes);

	pi->prob = clamp_t(s64, (s64)pi->prob +
			   steps * iqcn_pi_change(above, flows) +
			   iqcn_pi_change(grown, flows), 0, IQCN_PROB_ONE);
}

/* The queue has been as good as empty for long */
static inline void iqcn_pi_fade(struct iqcn_pi *pi, u32 steps)
{
	/* after so many nothing is left */
	for (steps = min(steps, 512U); steps && pi->prob; steps--)
		pi->prob -= (pi->prob >> 4) ?: 1;
}

/**
 * iqcn_pi_run() - let it have made the steps that are due
 * @pi: controller, zeroed at first
 * @p: parameters
 * @flows: active flows
 * @depth_bytes: depth
 * @now_ns: not less than in an earlier call
 *
 * Return: it runs.
 */
static inline bool iqcn_pi_run(struct iqcn_pi *pi,
			       const struct iqcn_pi_params *p, u32 flows,
			       u32 depth_bytes, u64 now_ns)
{
	bool deep = depth_bytes > iqcn_pi_wake_bytes(p);
	u64 ns, steps;

	if (pi->step_ns && now_ns - pi->deep_ns >= IQCN_PI_END_NS)
		memset(pi, 0, sizeof(*pi));
	if (!pi->step_ns) {
		if (!deep)
			return false;
		pi->deep_ns = now_ns;
		pi->step_ns = now_ns;
		pi->depth_bytes = depth_bytes;
		return true;
	}
	ns = now_ns - pi->step_ns;
	if (ns >= p->update_ns) {
		/* no more than IQCN_PI_END_NS of the shortest interval */
		steps = div_u64(ns, p->update_ns);
		if (now_ns - pi->deep_ns >= IQCN_PI_QUIET_NS)
			iqcn_pi_fade(pi, steps);
		else
			iqcn_pi_step(pi, p, steps, flows, depth_bytes);
		pi->step_ns += steps * p->update_ns;
		pi->depth_bytes = depth_bytes;
		/* nothing to say, and nothing to watch */
		if (!pi->prob && !deep)
			pi->step_ns = 0;
	}
	if (deep)
		pi->deep_ns = now_ns;
	return pi->step_ns;
}

/**
 * iqcn_pi_prob() - the probability of a chance
 * @pi: controller
 * @p: parameters
 * @depth_bytes: depth
 *
 * Return: 0 .. IQCN_PROB_ONE: what the controller has found, raised from
 *	IQCN_PI_FAR times the reference on, to all of it at twice that.
 */
static inline u64 iqcn_pi_prob(const struct iqcn_pi *pi,
			       const struct iqcn_pi_params *p, u32 depth_bytes)
{
	u64 far_bytes = IQCN_PI_FAR * (u64)p->qref_bytes;

	if (!pi->step_ns || depth_bytes <= far_bytes)
		return pi->prob;
	if (depth_bytes >= 2 * far_bytes)
		return IQCN_PROB_ONE;
	/* below 2^32 * 2^32 */
	return max(pi->prob, div64_u64((depth_bytes - far_bytes) *
				       IQCN_PROB_ONE, far_bytes));
}

/**
 * iqcn_pi_credit() - a flow's chance
 * @credit: what it has gathered, a share of 2^32
 * @prob: probability, 0 .. IQCN_PROB_ONE
 * @chances: so many at once
 *
 * Every chance adds its probability, and every 2^32 of that is a CNP: the same
 * share of chances as drawing lots for each, but no flow is lucky for long.  It is
 * the lucky ones who would set off hyper increase.
 *
 * Return: it is told.  More than one CNP at once would say no more than one.
 */
static inline bool iqcn_pi_credit(u32 *credit, u64 prob, u32 chances)
{
	u64 sum = *credit + prob * chances;

	*credit = sum;
	return sum >= IQCN_PROB_ONE;
}

#endif /* _IQCN_PI_H */
