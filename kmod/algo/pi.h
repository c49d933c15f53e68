/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A PI controller that sets the probability with which a flow is told to slow
 * down, so that the queue stays at a reference depth:
 *
 *	N p  +=  alpha (q - qref)  +  beta (a - a of the last step)
 *	a     =  q + 12 (q - q of the last step)
 *
 * once per update interval, where a is the depth ahead: what it will be in twelve
 * intervals if it goes on like that.  (Not all of it: see below.)
 *
 * N p is the number of CNPs in a round in which every one of the N active flows has
 * one chance: for a flow whose packets are closer than T1 each packet, for
 * others every T1 (the "hold").  A CNP keeps its sender from a step up (RAI,
 * RHAI) and takes away a share of its rate; N of them do N times as much, so
 * gains that are of N p make the loop gain the same for any number of flows.
 * With few flows a packet more or less is a large part of the load, so N is never
 * taken for less than IQCN_PI_MIN_FLOWS.
 *
 * Stability: within the some milliseconds that the senders' rates take to settle
 * (tau) a CNP more per round changes the load, in bytes/s, by -g per second, so
 * the queue by
 *
 *	q'' = -g (beta (q + T q') + alpha / u * integral of (q - qref))
 *
 * with u the update interval and T = 12 u.  Without T that is an oscillator that
 * nothing damps, and the simulation rings for 30 ms after 480 flows have joined
 * 32.  With it the damping ratio is T / 2 * sqrt(g beta).  512 flows at 25 Gb/s
 * have g = 3 * 10^10 B/s^2 (a chance in 225 us, 55 Mb/s a CNP): with beta = 10^-4
 * CNPs per byte the pole is at 1,700 rad/s and damping 1.0.  The integral part
 * adds a third pole; by Hurwitz's criterion all are stable if
 *
 *	alpha / u  <  beta (1 / tau + g beta T)
 *
 * which the default of 2 * 10^-6 CNPs per byte and step keeps 17 times.
 *
 * What it sees of the growth is noise as well: a message that comes at line rate
 * is over before anything can be done about it.  So the growth ahead counts up to
 * IQCN_PI_GROWTH times qref, and the controller may go below 0, as far as
 * IQCN_PI_SLACK: what such a burst adds in one step and takes away in the next
 * would add up at a bound of 0, and keep the load low for nothing.
 *
 * It is for small errors.  What is further above qref than IQCN_PI_FAR times it
 * adds no more, for the queue can never be as far below, and what has been wound
 * up there would take for ever to unwind.  Instead the probability is raised
 * towards 1 beyond, for as long as the queue is there: a burst of senders that
 * start is told at once.  And a queue that stays empty does not say how far the
 * load is below the link: it counts for IQCN_PI_EMPTY times qref.
 *
 * All of that scales with the link: bytes in proportion to its speed, so the
 * gains inversely.  With the defaults that this gives, the hosts of the lab have
 * tried 4 to 1,024 flows on 10, 2,048 on 25 and 512 on 100 Gb/s, of 4 KB packets:
 * the mean depth is 1.0 to 1.1 times qref, p99 less than 2.5 times, there are no
 * drops, and the link is used to 99 % or more.  But it rings, between 0 and 4
 * times qref, with 2,048 and 4,096 flows on 100 Gb/s and with 2,048 of 1 KB on 25;
 * the same with 512 senders of the DCQCN paper's style, up to 8 times qref, and
 * these it does not hold at all without a t1 below their 55 us; and a port's
 * budget of CNPs (cnp-rate) is too small for 4,096 flows of which every one has
 * to be told every T1: then the buffer overflows.
 * Documentation/back-to-sender.rst has the figures.
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
 * for RDMA).  The look ahead, the hold and gains by the number of flows are ours.
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

#define IQCN_PI_MIN_FLOWS	512
#define IQCN_PI_AHEAD		12
#define IQCN_PI_FAR		4
/* The probability is 1 at so many times qref */
#define IQCN_PI_FAREST		16
#define IQCN_PI_EMPTY		4
#define IQCN_PI_GROWTH		3
#define IQCN_PI_SLACK		((s64)(IQCN_PROB_ONE / 12))
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
 * @prob: -IQCN_PI_SLACK .. IQCN_PROB_ONE
 * @step_ns: when the last step was, 0: it does not run
 * @deep_ns: when the queue was last deep enough for it to run
 * @ahead_bytes: depth ahead at the last step
 * @depth_bytes: depth then
 */
struct iqcn_pi {
	s64 prob;
	u64 step_ns;
	u64 deep_ns;
	s64 ahead_bytes;
	u32 depth_bytes;
};

/**
 * iqcn_pi_wake_bytes() - the depth from which it runs
 * @p: parameters
 *
 * Return: bytes.
 */
static inline u32 iqcn_pi_wake_bytes(const struct iqcn_pi_params *p)
{
	return p->qref_bytes / 8;
}

/**
 * iqcn_pi_runs() - does it?
 * @pi: controller
 *
 * Return: true if so.
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

/* How far it is from the reference, as far as that counts */
static inline s64 iqcn_pi_error(const struct iqcn_pi *pi,
				const struct iqcn_pi_params *p, u32 depth_bytes)
{
	s64 qref_bytes = p->qref_bytes;

	if (max(depth_bytes, pi->depth_bytes) <= iqcn_pi_wake_bytes(p))
		return -IQCN_PI_EMPTY * qref_bytes;
	return min_t(s64, depth_bytes - qref_bytes, IQCN_PI_FAR * qref_bytes);
}

/* Where the queue will be, from the last @ns, at least an interval; within 2^34 of
 * 0
 */
static inline s64 iqcn_pi_ahead(const struct iqcn_pi *pi,
				const struct iqcn_pi_params *p, u64 ns,
				u32 depth_bytes)
{
	s64 grown = ((s64)depth_bytes - pi->depth_bytes) * IQCN_PI_AHEAD;
	s64 most = IQCN_PI_GROWTH * (s64)p->qref_bytes;
	/* in 16ths of an interval */
	s64 ahead = div64_s64(grown * 16, div_u64(ns * 16, p->update_ns));

	return depth_bytes + clamp_t(s64, ahead, -most, most);
}

/* As many steps as there are in @ns at once, the growth in one */
static inline void iqcn_pi_step(struct iqcn_pi *pi,
				const struct iqcn_pi_params *p, u64 ns,
				u32 flows, u32 depth_bytes)
{
	s64 ahead_bytes = iqcn_pi_ahead(pi, p, ns, depth_bytes);
	/* 10^8 * 2^35 is below 2^62 */
	s64 above = p->alpha * iqcn_pi_error(pi, p, depth_bytes);
	s64 grown = p->beta * (ahead_bytes - pi->ahead_bytes);

	/* 2^32 times what is little more than a second is below 2^63 */
	above = div_s64(iqcn_pi_change(above, flows) * (s64)ns, p->update_ns);
	pi->prob = clamp_t(s64, pi->prob + above + iqcn_pi_change(grown, flows),
			   -IQCN_PI_SLACK, IQCN_PROB_ONE);
	pi->ahead_bytes = ahead_bytes;
}

/* The queue has been as good as empty for long */
static inline void iqcn_pi_fade(struct iqcn_pi *pi, u32 steps, u32 depth_bytes)
{
	/* after so many nothing is left */
	for (steps = min(steps, 512U); steps && pi->prob; steps--)
		pi->prob -= (pi->prob / 16) ?: (pi->prob > 0 ? 1 : -1);
	pi->ahead_bytes = depth_bytes;
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
	u64 ns;

	if (pi->step_ns && now_ns - pi->deep_ns >= IQCN_PI_END_NS)
		memset(pi, 0, sizeof(*pi));
	if (!pi->step_ns) {
		if (!deep)
			return false;
		pi->deep_ns = now_ns;
		pi->step_ns = now_ns;
		pi->ahead_bytes = depth_bytes;
		pi->depth_bytes = depth_bytes;
		return true;
	}
	ns = now_ns - pi->step_ns;
	if (ns >= p->update_ns) {
		if (now_ns - pi->deep_ns >= IQCN_PI_QUIET_NS)
			iqcn_pi_fade(pi, div_u64(ns, p->update_ns),
				     depth_bytes);
		else
			iqcn_pi_step(pi, p, ns, flows, depth_bytes);
		pi->step_ns = now_ns;
		pi->depth_bytes = depth_bytes;
		/* nothing to say, and nothing to watch */
		if (pi->prob <= 0 && !deep &&
		    now_ns - pi->deep_ns >= IQCN_PI_QUIET_NS)
			memset(pi, 0, sizeof(*pi));
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
 *	IQCN_PI_FAR times the reference on, to all of it at IQCN_PI_FAREST.
 */
static inline u64 iqcn_pi_prob(const struct iqcn_pi *pi,
			       const struct iqcn_pi_params *p, u32 depth_bytes)
{
	u64 from_bytes = IQCN_PI_FAR * (u64)p->qref_bytes;
	u64 to_bytes = IQCN_PI_FAREST * (u64)p->qref_bytes;

	if (!pi->step_ns || depth_bytes <= from_bytes)
		return max_t(s64, pi->prob, 0);
	if (depth_bytes >= to_bytes)
		return IQCN_PROB_ONE;
	/* below 2^32 * 2^32 */
	return max_t(s64, pi->prob, div64_u64((depth_bytes - from_bytes) *
				       IQCN_PROB_ONE, to_bytes - from_bytes));
}

/**
 * iqcn_pi_credit() - a flow's chance
 * @credit: what it has gathered, a share of 2^32
 * @prob: probability, 0 .. IQCN_PROB_ONE
 * @polls: so many at once
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

/**
 * iqcn_pi_save() - a chance of a flow that cannot be told yet
 * @credit: what it has gathered; up to what the next chance makes a CNP of
 * @prob: probability, 0 .. IQCN_PROB_ONE
 * @polls: so many at once
 */
static inline void iqcn_pi_save(u32 *credit, u64 prob, u32 chances)
{
	*credit = min_t(u64, *credit + prob * chances, U32_MAX);
}

#endif /* _IQCN_PI_H */
