/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A PI controller.  It sets the probability with which a flow is notified, so
 * that the queue stays at a reference depth:
 *
 *	N p  +=  alpha (q - ref)  +  beta (a - a of the last step)
 *	a     =  q + 12 (q - q of the last step)
 *
 * once per update interval.  a is the predicted depth: the depth in twelve
 * intervals if the queue keeps growing at its rate since the last step.
 * (Limits: see below.)
 *
 * N p is the number of CNPs per round.  A round has one poll of each of the N
 * active flows: each packet polls a flow whose packets are less than T1 apart,
 * and the timer polls a sparse flow every T1.  A CNP prevents one increase of
 * its sender (RAI, RHAI) and cuts the sender's rate.  N CNPs have N times the
 * effect, so gains for N p make the loop gain independent of the number of
 * flows.  With few flows a single packet is a large part of the load, so N
 * counts as at least IQCN_PI_MIN_FLOWS.
 *
 * One CNP per T1 is not enough for senders that increase their rate more often.
 * So p may exceed 1, and a sparse flow is then polled ceil(p) times per T1, up
 * to the polls_max of the parameters.  To avoid windup of the integral part, p
 * is capped at what the port's CNP budget permits (iqcn_pi_limit()), and at 1
 * while the queue is dry, i.e. not deeper than qref / IQCN_PI_DRY at two steps
 * in a row.
 *
 * Stability: the senders' rates take a few milliseconds (tau) to settle.
 * Within that time one more CNP per round changes the load, in bytes/s, by -g
 * per second.  So the depth of the queue follows
 *
 *	q'' = -g (beta (q + T q') + alpha / u * integral of (q - ref))
 *
 * with u the update interval and T = 12 u.  Without T this is an undamped
 * oscillator: the simulation rings for 30 ms after 480 flows have joined 32.
 * With T the damping ratio is T / 2 * sqrt(g beta).  512 flows at 25 Gb/s have
 * g = 3 * 10^10 B/s^2 (one poll in 225 us, 55 Mb/s per CNP): with beta = 10^-4
 * CNPs per byte the pole is at 1,700 rad/s and the damping ratio is 1.0.  The
 * integral part adds a third pole.  By Hurwitz's criterion all are stable if
 *
 *	alpha / u  <  beta (1 / tau + g beta T)
 *
 * The default alpha of 2 * 10^-6 CNPs per byte and step makes alpha / u less
 * than an 18th of that limit.
 *
 * Part of the growth is noise: a message that is sent at line rate has ended
 * before the controller can react.  So the predicted growth is limited to
 * IQCN_PI_GROWTH times qref, and the probability may go below 0, down to
 * -IQCN_PI_SLACK.  A burst adds to the probability in one step and subtracts as
 * much in the next.  A bound at 0 would cut off the subtraction, the remainders
 * would add up, and the load would stay low for no reason.
 *
 * The controller is designed for small errors.  The error is capped at
 * IQCN_PI_FAR times qref, because the queue can never be as far below the
 * reference, and a larger integral would take too long to unwind.  If the queue
 * is deeper than IQCN_PI_FAR times qref, the probability is raised towards 1
 * instead, so that a burst of starting senders is notified at once.  The depth
 * of a dry queue does not show how far the load is below the link's rate, so
 * its error is set to -IQCN_PI_EMPTY times the reference.
 *
 * The reference is qref, or follows the load, between the wake depth (qref /
 * IQCN_PI_WAKE) and qref.  A lower reference shortens the queueing delay, but
 * how low it can be while the link stays busy depends on the senders: many that
 * start and stop need a higher reference than a few at a steady rate.  So it
 * starts at the wake depth and is adapted to how often the queue is dry.  If an
 * interval ends dry while p > 0, i.e. while the controller slows senders down,
 * the reference rises by qref per IQCN_PI_RAISE_NS; in any other interval, it
 * falls by qref per IQCN_PI_LOWER_NS.  In equilibrium one in 65 intervals is
 * dry, and in most of these the link is busy for a part of the time.
 *
 * Moving the reference does not affect the analysis above: a set point moves no
 * pole.  But the reference and the controller are coupled: a dry queue raises
 * the reference while p > 0, and the error of a dry queue is a multiple of the
 * reference.  The reference rises 64 times as fast as it falls: it reaches qref
 * after 1.4 ms of dry intervals, but takes 90 ms to come back.  So under a load
 * that needs more than the lowest reference, the controller works as with a
 * fixed qref, and a loop that rings for other reasons should ring no more than
 * with a fixed qref.  This is an argument, not a proof.
 *
 * With fewer than IQCN_PI_MIN_FLOWS flows the loop gain is lower, and so is the
 * damping by T.  The model of pi_follow_loop_test keeps the g of 512 flows, so
 * with 64 flows it oscillates and keeps raising the reference; with 128 the
 * depth stays below 2.4 times the lowest reference.  A real sender cuts its
 * rate by a fraction, so g is higher with few, fast senders.  In the lab 64
 * flows at 25 Gb/s do not oscillate: their p99 depth is a quarter of qref.
 *
 * The dry depth is well below the lowest reference.  If they were equal, the
 * error would jump from almost 0 to -IQCN_PI_EMPTY times the reference at the
 * set point, and the queue would oscillate around it.
 *
 * All of this scales with the link: bytes in proportion to its speed, and
 * therefore the gains inversely.  Lab runs with the defaults cover 2 to 1,024
 * flows of 4 KB packets at 10, 25 and 100 Gb/s, 2,048 at 100 Gb/s, and 2 to 512
 * senders in the style of the DCQCN paper at 25 Gb/s.  As long as the CNP
 * budget suffices, nothing is dropped and utilization is at least 99 %.  Where
 * ECN alone reaches the same utilization, its p99 queue depth is higher, except
 * sometimes in the first case below.  The limits:
 *
 *   - Two senders in the style of the DCQCN paper may drain the queue while p >
 *     0.  This raises the reference, which takes up to 90 ms to fall again.
 *     With one of 12 seeds p99 is then 83 us; with the others it is 24 to 37
 *     us.  With ECN alone it is 52 us.
 *   - With a round trip of 1 ms and senders that speed up every 4 ms the loop
 *     rings.  256 flows at 25 Gb/s use 72 to 77 % of the link with four seeds,
 *     less than with ECN alone, which uses 78 %.
 *   - By default the port's CNP budget (cnp-rate) suffices for about 100 sparse
 *     flows per Gb/s whose senders speed up every 300 us.  With 128 the p99
 *     depth is 2.4 MB at 1 Gb/s, and with 256 the buffer overflows.
 *
 * Documentation/back-to-sender.rst has the figures.
 *
 * The controller has no timer.  Whenever a decision is needed, it makes the
 * steps that are due.  If several are due, it applies the integral part of all
 * of them at once.  It starts when the queue is first deeper than the wake
 * depth.  A queue that is empty for a moment is still controlled.  But once it
 * has not been deeper than the wake depth for IQCN_PI_QUIET_NS, the probability
 * halves about every eleven steps.  The controller then stops as soon as the
 * probability is not above 0, and after IQCN_PI_END_NS in any case.
 *
 * Source: Hollot et al., "On Designing Improved Controllers for AQM Routers
 * Supporting TCP Flows", INFOCOM 2001 (PI for AQM); RFC 8033 (its form of
 * increments); Taheri et al., "RoCC", CoNEXT 2020 (a controller in the switch
 * for RDMA).  The prediction, polling and gains by the number of flows are
 * ours.
 *
 * Pure: no clock, no random numbers, no qdisc.  The caller serializes.
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
/* times qref: from this depth on the probability is at least 1 */
#define IQCN_PI_FAREST		16
#define IQCN_PI_EMPTY		4
#define IQCN_PI_GROWTH		3
/* divisors of qref: for the wake depth, and for the largest dry depth */
#define IQCN_PI_WAKE		8
#define IQCN_PI_DRY		32
#define IQCN_PI_RAISE_NS	1600000
#define IQCN_PI_LOWER_NS	102400000
#define IQCN_PI_SLACK		((s64)(IQCN_PROB_ONE / 12))
#define IQCN_PI_QUIET_NS	(5 * NSEC_PER_MSEC)
#define IQCN_PI_END_NS		(20 * NSEC_PER_MSEC)
/* The unit of gains: CNPs per this many bytes */
#define IQCN_PI_GAIN_BYTES	1000000000

/*
 * struct iqcn_pi_params - reference and gains
 *
 * The gains are at most 10^8, so that no product exceeds 64 bits.
 */
struct iqcn_pi_params {
	u32 qref_bytes;	/* highest reference depth */
	u32 update_ns;	/* update interval */
	u32 alpha;	/* integral gain: CNPs per round and step, per
			 * IQCN_PI_GAIN_BYTES above the reference
			 */
	u32 beta;	/* proportional gain: CNPs per round, per
			 * IQCN_PI_GAIN_BYTES of growth
			 */
	u32 polls_max;	/* maximum polls of a sparse flow per T1, at least 1 */
	bool follows;	/* the reference follows the load; else it is qref */
};

/* struct iqcn_pi - the controller */
struct iqcn_pi {
	s64 prob;		/* -IQCN_PI_SLACK ..
				 * polls_max * IQCN_PROB_ONE
				 */
	u64 step_ns;		/* time of the last step, 0: stopped */
	u64 deep_ns;		/* when the wake depth was last exceeded */
	s64 ahead_bytes;	/* predicted depth at the last step */
	u32 depth_bytes;	/* depth at the last step */
	u32 lowered_bytes;	/* how far the reference is below qref, if it
				 * follows the load; iqcn_pi_ref_bytes() bounds
				 * it
				 */
};

/* The depth above which the controller starts */
static inline u32 iqcn_pi_wake_bytes(const struct iqcn_pi_params *p)
{
	return p->qref_bytes / IQCN_PI_WAKE;
}

/* The reference depth, also after a change of parameters */
static inline u32 iqcn_pi_ref_bytes(const struct iqcn_pi *pi,
				    const struct iqcn_pi_params *p)
{
	u32 most = p->follows ? p->qref_bytes - iqcn_pi_wake_bytes(p) : 0;

	return p->qref_bytes - min(pi->lowered_bytes, most);
}

static inline bool iqcn_pi_runs(const struct iqcn_pi *pi)
{
	return pi->step_ns;
}

/* Change of the probability that adds @cnps to a round; @cnps is in units of
 * 10^-9 CNPs
 */
static inline s64 iqcn_pi_change(s64 cnps, u32 flows)
{
	s64 change = div_s64(cnps, max_t(u32, flows, IQCN_PI_MIN_FLOWS));

	/* at most one CNP per flow; 10^9 * 2^32 is below 2^62 */
	change = clamp_t(s64, change, -IQCN_PI_GAIN_BYTES, IQCN_PI_GAIN_BYTES);
	return div_s64(change * (s64)IQCN_PROB_ONE, IQCN_PI_GAIN_BYTES);
}

/* Is the queue dry, i.e. nearly empty at two steps in a row? */
static inline bool iqcn_pi_dry(const struct iqcn_pi *pi,
			       const struct iqcn_pi_params *p, u32 depth_bytes)
{
	return max(depth_bytes, pi->depth_bytes) <= p->qref_bytes / IQCN_PI_DRY;
}

/* Distance from the reference, with the limits described above */
static inline s64 iqcn_pi_error(const struct iqcn_pi *pi,
				const struct iqcn_pi_params *p, u32 depth_bytes)
{
	s64 ref_bytes = iqcn_pi_ref_bytes(pi, p);

	if (iqcn_pi_dry(pi, p, depth_bytes))
		return -IQCN_PI_EMPTY * ref_bytes;
	return min_t(s64, depth_bytes - ref_bytes,
		     IQCN_PI_FAR * (s64)p->qref_bytes);
}

/* Predicted depth, from the growth in the last @ns, at least an update
 * interval.  The result is within 2^34 of 0.
 */
static inline s64 iqcn_pi_ahead(const struct iqcn_pi *pi,
				const struct iqcn_pi_params *p, u64 ns,
				u32 depth_bytes)
{
	s64 grown = ((s64)depth_bytes - pi->depth_bytes) * IQCN_PI_AHEAD;
	s64 most = IQCN_PI_GROWTH * (s64)p->qref_bytes;
	/* the divisor is the number of 16ths of an update interval in @ns */
	s64 ahead = div64_s64(grown * 16, div_u64(ns * 16, p->update_ns));

	return depth_bytes + clamp_t(s64, ahead, -most, most);
}

/* Adapt the reference to the last @ns */
static inline void iqcn_pi_follow(struct iqcn_pi *pi,
				  const struct iqcn_pi_params *p, u64 ns,
				  bool dry)
{
	u64 ref_bytes = iqcn_pi_ref_bytes(pi, p);

	if (!p->follows)
		return;
	/* 2^32 times little more than a second in ns is below 2^63 */
	if (dry && pi->prob > 0)
		ref_bytes += div_u64(p->qref_bytes * ns, IQCN_PI_RAISE_NS);
	else
		ref_bytes -= min(ref_bytes, div_u64(p->qref_bytes * ns,
						    IQCN_PI_LOWER_NS));
	pi->lowered_bytes = p->qref_bytes - min_t(u64, ref_bytes, p->qref_bytes);
}

/* Make all steps that are due after @ns: add the integral part of each, and the
 * proportional part once
 */
static inline void iqcn_pi_step(struct iqcn_pi *pi,
				const struct iqcn_pi_params *p, u64 ns,
				u32 flows, u32 depth_bytes)
{
	s64 ahead_bytes = iqcn_pi_ahead(pi, p, ns, depth_bytes);
	bool dry = iqcn_pi_dry(pi, p, depth_bytes);
	s64 most = (dry ? 1 : p->polls_max) * IQCN_PROB_ONE;
	/* 10^8 * 2^35 is below 2^62 */
	s64 above = p->alpha * iqcn_pi_error(pi, p, depth_bytes);
	s64 grown = p->beta * (ahead_bytes - pi->ahead_bytes);

	/* 2^32 times little more than a second in ns is below 2^63 */
	above = div_s64(iqcn_pi_change(above, flows) * (s64)ns, p->update_ns);
	pi->prob = clamp_t(s64, pi->prob + above + iqcn_pi_change(grown, flows),
			   -IQCN_PI_SLACK, most);
	pi->ahead_bytes = ahead_bytes;
	iqcn_pi_follow(pi, p, ns, dry);
}

/* Fade: the queue has not exceeded the wake depth for IQCN_PI_QUIET_NS */
static inline void iqcn_pi_fade(struct iqcn_pi *pi, u32 steps, u32 depth_bytes)
{
	/* 512 steps reduce any probability to 0 */
	for (steps = min(steps, 512U); steps && pi->prob; steps--)
		pi->prob -= (pi->prob / 16) ?: (pi->prob > 0 ? 1 : -1);
	pi->ahead_bytes = depth_bytes;
}

/**
 * iqcn_pi_run() - make the steps that are due
 * @pi: controller, zeroed before the first call
 * @p: parameters
 * @flows: number of active flows
 * @depth_bytes: depth
 * @now_ns: now, not less than in an earlier call
 *
 * Return: true if the controller runs.
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
		pi->lowered_bytes = p->qref_bytes;
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
		/* nobody to notify, and the queue is not deep: stop early */
		if (pi->prob <= 0 && !deep &&
		    now_ns - pi->deep_ns >= IQCN_PI_QUIET_NS)
			memset(pi, 0, sizeof(*pi));
	}
	if (deep)
		pi->deep_ns = now_ns;
	return pi->step_ns;
}

/**
 * iqcn_pi_limit() - cap a probability above 1 at what the CNP budget permits
 * @pi: controller
 * @cnp_ns: the port may send one CNP in this time on average
 * @t1_ns: T1
 * @flows: number of active flows
 *
 * More polls would not cause more CNPs.
 */
static inline void iqcn_pi_limit(struct iqcn_pi *pi, u64 cnp_ns, u32 t1_ns,
				 u32 flows)
{
	/* below 2^30 * 2^32 */
	u64 most = div64_u64(t1_ns * IQCN_PROB_ONE, cnp_ns * max(flows, 1U));

	pi->prob = min_t(s64, pi->prob, max_t(u64, most, IQCN_PROB_ONE));
}

/* Number of polls of a sparse flow per T1: ceil(@prob), within the limits.
 * Each poll adds @prob divided by this number to the flow's credit.
 */
static inline u32 iqcn_pi_polls(const struct iqcn_pi_params *p, u64 prob)
{
	return clamp_t(u64, (prob + IQCN_PROB_ONE - 1) >> 32, 1, p->polls_max);
}

/* The earliest time at which a running controller may step or stop */
static inline u64 iqcn_pi_until_ns(const struct iqcn_pi *pi,
				   const struct iqcn_pi_params *p)
{
	return min(pi->step_ns + p->update_ns, pi->deep_ns + IQCN_PI_END_NS);
}

/* Is the depth too small to raise the probability in iqcn_pi_prob()? */
static inline bool iqcn_pi_near(const struct iqcn_pi_params *p, u32 depth_bytes)
{
	return depth_bytes <= IQCN_PI_FAR * (u64)p->qref_bytes;
}

/**
 * iqcn_pi_note() - record the depth between two steps
 * @pi: controller, which runs
 * @p: parameters
 * @depth_bytes: depth for which iqcn_pi_near() is true
 * @now_ns: now, before iqcn_pi_until_ns()
 *
 * Equivalent to iqcn_pi_run() followed by iqcn_pi_prob().
 *
 * Return: as iqcn_pi_prob().
 */
static inline u64 iqcn_pi_note(struct iqcn_pi *pi,
			       const struct iqcn_pi_params *p, u32 depth_bytes,
			       u64 now_ns)
{
	if (depth_bytes > iqcn_pi_wake_bytes(p))
		pi->deep_ns = now_ns;
	return max_t(s64, pi->prob, 0);
}

/**
 * iqcn_pi_skip() - skip a period in which the depth did not show congestion
 * @pi: controller
 * @ns: length of the period, which ends now
 * @depth_bytes: depth
 * @now_ns: now
 *
 * The probability is unchanged.  The integral part ignores the skipped period,
 * and the prediction ignores the growth in it.  The proportional part still
 * compares with the depth predicted at the last step, so that the next step
 * applies the whole change in depth.
 */
static inline void iqcn_pi_skip(struct iqcn_pi *pi, u64 ns, u32 depth_bytes,
				u64 now_ns)
{
	if (!iqcn_pi_runs(pi))
		return;
	pi->step_ns = min(pi->step_ns + ns, now_ns);
	pi->deep_ns = min(pi->deep_ns + ns, now_ns);
	pi->depth_bytes = depth_bytes;
}

/**
 * iqcn_pi_prob() - probability that a poll causes a CNP
 * @pi: controller
 * @p: parameters
 * @depth_bytes: depth
 *
 * Return: 0 .. polls_max * IQCN_PROB_ONE: the controller's probability, raised
 * from IQCN_PI_FAR times qref on, to IQCN_PROB_ONE at IQCN_PI_FAREST times
 * qref.
 */
static inline u64 iqcn_pi_prob(const struct iqcn_pi *pi,
			       const struct iqcn_pi_params *p, u32 depth_bytes)
{
	u64 from_bytes = IQCN_PI_FAR * (u64)p->qref_bytes;
	u64 to_bytes = IQCN_PI_FAREST * (u64)p->qref_bytes;
	u64 raised;

	if (!pi->step_ns || depth_bytes <= from_bytes)
		return max_t(s64, pi->prob, 0);
	/* below 2^32 * 2^32 */
	raised = depth_bytes >= to_bytes ? IQCN_PROB_ONE :
		 div64_u64((depth_bytes - from_bytes) * IQCN_PROB_ONE,
			   to_bytes - from_bytes);
	return max_t(s64, pi->prob, raised);
}

/**
 * iqcn_pi_credit() - poll a flow
 * @credit: the flow's credit, in units of 2^-32 CNPs
 * @prob: probability
 * @polls: number of polls at once
 *
 * Each poll adds the probability to the credit, and a credit of a whole CNP is
 * spent on one.  The share of polls that cause a CNP is the same as with random
 * numbers, but the CNPs are evenly spaced.  With random numbers, a flow that is
 * spared by chance would reach hyper increase.
 *
 * Return: true if the flow is to be notified.  A credit of several CNPs still
 * causes only one, because more would have no further effect.
 */
static inline bool iqcn_pi_credit(u32 *credit, u64 prob, u32 polls)
{
	u64 sum = *credit + prob * polls;

	*credit = sum;
	return sum >= IQCN_PROB_ONE;
}

/**
 * iqcn_pi_save() - poll a flow that cannot be notified yet
 * @credit: the flow's credit; saturates just below a CNP, so that the next poll
 *	at which the flow can be notified causes one
 * @prob: probability
 * @polls: number of polls at once
 */
static inline void iqcn_pi_save(u32 *credit, u64 prob, u32 polls)
{
	*credit = min_t(u64, *credit + prob * polls, U32_MAX);
}

#endif /* _IQCN_PI_H */
