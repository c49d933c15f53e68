/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCQCN's reaction point: the sending rate of a flow.
 *
 *	           CNP                       timer, bytes
 *	Rc ------------------.             stage < F   Rc = (Rt + Rc) / 2
 *	    Rt = Rc          |  .--------> stage >= F  Rt += RAI,  Rc as above
 *	    Rc *= 1 - a/2    '--'          beyond      Rt += RHAI, Rc as above
 *
 * There are two styles.
 *
 * paper: every CNP cuts the rate.  The timer and the byte counter each have a
 * stage.  Fast recovery lasts while both stages are below F, and hyper increase
 * begins when both have reached F.  Sources: Zhu et al., SIGCOMM 2015, section
 * 3; bobzhuyb/ns3-rdma, qbb-net-device.cc.
 *
 * ConnectX: alpha and rate are updated by clocks that start with the first CNP.
 * A tick of the alpha clock decays alpha, and raises it if a CNP has arrived
 * since the previous tick; a tick of the reduce clock cuts the rate under the
 * same condition.  By default only the timer raises the rate, because the byte
 * counter is off; if it is enabled, its stage counts like the timer's.  Source:
 * alibaba-edu/HPCC, rdma-hw.cc.
 *
 * F is the number of times that the gap between Rt and Rc is halved: a stage is
 * compared with F before the stage is incremented, as in HPCC and in the text
 * of the paper.  Two rules of ns3-rdma are omitted because the paper does not
 * have them: hyper increase halves the timers, and Rt is divided by 8 when it
 * is ten times Rc.
 *
 * Two rules are options: cuts in proportion to the rate (ratio.h), and doubling
 * (ramp.h).  One rule is added: the timer of a flow that starts below the line
 * rate raises the rate from the start, as after a cut.  In the sources all
 * flows start at line rate.
 *
 * Rates are in bit/s, times in ns, and alpha and g in units of 2^-32.  Pure:
 * the caller supplies the time.
 */
#ifndef _ROCEHOST_RP_H
#define _ROCEHOST_RP_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "ratio.h"

#define RP_ONE		BIT_ULL(32)
#define RP_NEVER	U64_MAX

/**
 * enum rp_style - rule set of a reaction point
 * @RP_CONNECTX: HPCC's model of ConnectX
 * @RP_PAPER: the paper
 * @RP_OFF: no reaction: the rate is constant
 */
enum rp_style {
	RP_CONNECTX,
	RP_PAPER,
	RP_OFF,
};

/**
 * struct rp_params - parameters of a host's reaction points
 * @style: enum rp_style
 * @line_bps: line rate
 * @min_bps: minimum rate after a cut
 * @alpha_ns: alpha timer
 * @reduce_ns: ConnectX: reduce clock, 0: a CNP cuts at once
 * @increase_ns: rate timer
 * @bytes: byte counter, 0: off
 * @g: weight of a new sample in alpha, in units of 2^-32
 * @f: F, stages of fast recovery
 * @rai_bps: additive increase
 * @rhai_bps: hyper increase
 * @first_percent: ConnectX: rate after the first CNP, relative to the current
 *	rate, which in the source is the line rate
 * @clamp: ConnectX: set the target to the rate on every cut, not only on the
 *	first one after an increase
 * @ratio_floor: cut in proportion to the rate, but by at least this fraction of
 *	the usual cut, in units of 2^-32; 0: make the usual cut
 */
struct rp_params {
	u64 style;
	u64 line_bps;
	u64 min_bps;
	u64 alpha_ns;
	u64 reduce_ns;
	u64 increase_ns;
	u64 bytes;
	u64 g;
	u64 f;
	u64 rai_bps;
	u64 rhai_bps;
	u64 first_percent;
	u64 clamp;
	u64 ratio_floor;
};

/**
 * struct rp - a flow's reaction point
 * @rc_bps: current rate
 * @rt_bps: target rate
 * @alpha: estimate of congestion, 0 .. RP_ONE
 * @time_stage: expirations of the rate timer since the last cut
 * @byte_stage: expirations of the byte counter since the last cut
 * @byte_count: bytes since the byte counter last expired
 * @alpha_due_ns: when alpha is next updated
 * @reduce_due_ns: when the pending cut is made, RP_NEVER: none is pending
 * @increase_due_ns: when the rate timer expires
 * @clock_ns: ConnectX: when the clocks started
 * @cnp_seen: a CNP has been received
 * @cnp_for_alpha: ConnectX: a CNP was received since the last update of alpha
 */
struct rp {
	u64 rc_bps;
	u64 rt_bps;
	u64 alpha;
	u32 time_stage;
	u32 byte_stage;
	u64 byte_count;
	u64 alpha_due_ns;
	u64 reduce_due_ns;
	u64 increase_due_ns;
	u64 clock_ns;
	bool cnp_seen;
	bool cnp_for_alpha;
};

/**
 * enum rp_event - result of a step
 * @RP_NOTHING: the rate is unchanged
 * @RP_CUT: the rate was cut
 * @RP_RAISED: the rate was raised
 */
enum rp_event {
	RP_NOTHING,
	RP_CUT,
	RP_RAISED,
};

/* alpha (1 - g)^n, by squaring */
static inline u64 rp_decay(u64 alpha, u64 g, u64 n)
{
	u64 keep = RP_ONE - g;

	if (!g)
		return alpha;
	/* keep is below RP_ONE here, so no product reaches 2^64 */
	for (; n && alpha; n >>= 1) {
		if (n & 1)
			alpha = (alpha * keep) >> 32;
		keep = (keep * keep) >> 32;
	}
	return alpha;
}

static inline u64 rp_raise_alpha(u64 alpha, u64 g)
{
	return min_t(u64, rp_decay(alpha, g, 1) + g, RP_ONE);
}

/* Process the expirations of the alpha timer up to @now_ns */
static inline void rp_alpha_catch_up(struct rp *rp, const struct rp_params *p,
				     u64 now_ns)
{
	u64 n;

	if (now_ns < rp->alpha_due_ns)
		return;
	n = div64_u64(now_ns - rp->alpha_due_ns, p->alpha_ns) + 1;
	rp->alpha_due_ns += n * p->alpha_ns;
	if (rp->cnp_for_alpha) {
		rp->alpha = rp_raise_alpha(rp->alpha, p->g);
		rp->cnp_for_alpha = false;
		n--;
	}
	rp->alpha = rp_decay(rp->alpha, p->g, n);
}

/**
 * rp_start() - initialize a reaction point
 * @rp: the reaction point, zeroed
 * @p: parameters
 * @rate_bps: initial rate
 * @now_ns: now
 */
static inline void rp_start(struct rp *rp, const struct rp_params *p,
			    u64 rate_bps, u64 now_ns)
{
	rp->rc_bps = min_t(u64, rate_bps, p->line_bps);
	rp->rt_bps = rp->rc_bps;
	rp->alpha = RP_ONE;
	rp->alpha_due_ns = RP_NEVER;
	rp->reduce_due_ns = RP_NEVER;
	rp->increase_due_ns = RP_NEVER;
	if (p->style != RP_OFF && rp->rc_bps < p->line_bps)
		rp->increase_due_ns = now_ns + p->increase_ns;
}

/* A cut stops at the minimum rate, and does not change a rate below it */
static inline u64 rp_lower(const struct rp *rp, const struct rp_params *p,
			   u64 rate_bps)
{
	return max(rate_bps, min(rp->rc_bps, p->min_bps));
}

static inline void rp_cut(struct rp *rp, const struct rp_params *p, u64 now_ns)
{
	u64 cut_bps = mul_u64_u64_shr(rp->rc_bps, rp->alpha, 33);

	if (p->ratio_floor)
		cut_bps = ratio_cut(cut_bps, rp->rc_bps, p->line_bps,
				    p->ratio_floor);
	rp->rc_bps = rp_lower(rp, p, rp->rc_bps - cut_bps);
	rp->time_stage = 0;
	rp->byte_stage = 0;
	rp->byte_count = 0;
	rp->increase_due_ns = now_ns + p->increase_ns;
}

/**
 * rp_cnp() - process a CNP
 * @rp: the reaction point
 * @p: parameters
 * @now_ns: now
 *
 * Return: the immediate effect; rp_run() may cut later.
 */
static inline enum rp_event rp_cnp(struct rp *rp, const struct rp_params *p,
				   u64 now_ns)
{
	u64 old_bps = rp->rc_bps;

	if (p->style == RP_OFF)
		return RP_NOTHING;

	if (p->style == RP_PAPER) {
		/* alpha is updated lazily */
		rp_alpha_catch_up(rp, p, now_ns);
		rp->alpha = rp_raise_alpha(rp->alpha, p->g);
		rp->alpha_due_ns = now_ns + p->alpha_ns;
		rp->rt_bps = rp->rc_bps;
		rp_cut(rp, p, now_ns);
		rp->cnp_seen = true;
		return RP_CUT;
	}

	if (!rp->cnp_seen) {
		rp->cnp_seen = true;
		rp->clock_ns = now_ns;
		rp->alpha_due_ns = now_ns + p->alpha_ns;
		rp->rc_bps = rp_lower(rp, p, div_u64(rp->rc_bps *
						     p->first_percent, 100));
		rp->rt_bps = rp->rc_bps;
	} else {
		rp_alpha_catch_up(rp, p, now_ns);
		rp->cnp_for_alpha = true;
	}
	if (rp->reduce_due_ns == RP_NEVER) {
		rp->reduce_due_ns = now_ns;
		if (p->reduce_ns)
			rp->reduce_due_ns = rp->clock_ns + p->reduce_ns *
				(div64_u64(now_ns - rp->clock_ns,
					   p->reduce_ns) + 1);
	}
	return rp->rc_bps < old_bps ? RP_CUT : RP_NOTHING;
}

static inline void rp_reduce(struct rp *rp, const struct rp_params *p)
{
	u64 at_ns = rp->reduce_due_ns;

	rp_alpha_catch_up(rp, p, at_ns);
	if (p->clamp || rp->time_stage || rp->byte_stage)
		rp->rt_bps = rp->rc_bps;
	rp_cut(rp, p, at_ns);
	rp->reduce_due_ns = RP_NEVER;
}

/* Increase of the target rate when the timer or the byte counter expires */
static inline u64 rp_step_bps(const struct rp *rp, const struct rp_params *p)
{
	u32 most = max(rp->time_stage, rp->byte_stage);
	u32 least = min(rp->time_stage, rp->byte_stage);

	if (most < p->f)
		return 0;
	if (p->style == RP_CONNECTX)
		return most == p->f ? p->rai_bps : p->rhai_bps;
	return least < p->f ? p->rai_bps : p->rhai_bps * (least - p->f + 1);
}

static inline enum rp_event rp_raise(struct rp *rp, const struct rp_params *p)
{
	u64 old_bps = rp->rc_bps;

	rp->rt_bps = min_t(u64, rp->rt_bps + rp_step_bps(rp, p), p->line_bps);
	rp->rc_bps = (rp->rt_bps + rp->rc_bps) / 2;
	/* integer halving would never reach the target */
	if (rp->rt_bps - rp->rc_bps <= 1)
		rp->rc_bps = rp->rt_bps;
	if (rp->rc_bps == p->line_bps)
		rp->increase_due_ns = RP_NEVER;
	return rp->rc_bps > old_bps ? RP_RAISED : RP_NOTHING;
}

/**
 * rp_double() - double the rate, because the path is free
 * @rp: the reaction point
 * @p: parameters
 *
 * Return: the effect.
 */
static inline enum rp_event rp_double(struct rp *rp, const struct rp_params *p)
{
	if (p->style == RP_OFF || rp->rc_bps == p->line_bps)
		return RP_NOTHING;
	rp->rc_bps = min(2 * rp->rc_bps, p->line_bps);
	rp->rt_bps = max(rp->rt_bps, rp->rc_bps);
	if (rp->rc_bps == p->line_bps)
		rp->increase_due_ns = RP_NEVER;
	return RP_RAISED;
}

/**
 * rp_sent() - advance the byte counter
 * @rp: the reaction point
 * @p: parameters
 * @bytes: length of a packet that was sent
 *
 * Return: the effect.
 */
static inline enum rp_event rp_sent(struct rp *rp, const struct rp_params *p,
				    u32 bytes)
{
	enum rp_event ev;

	if (!p->bytes || p->style == RP_OFF || rp->rc_bps == p->line_bps)
		return RP_NOTHING;
	rp->byte_count += bytes;
	if (rp->byte_count < p->bytes)
		return RP_NOTHING;
	rp->byte_count -= p->bytes;
	ev = rp_raise(rp, p);
	rp->byte_stage++;
	return ev;
}

/**
 * rp_next_ns() - when is rp_run() to be called?
 * @rp: the reaction point
 *
 * Return: the time, or RP_NEVER.
 */
static inline u64 rp_next_ns(const struct rp *rp)
{
	return min(rp->reduce_due_ns, rp->increase_due_ns);
}

/**
 * rp_run() - process the earliest pending event
 * @rp: the reaction point
 * @p: parameters
 *
 * To be called at rp_next_ns() or later.
 *
 * Return: the effect.
 */
static inline enum rp_event rp_run(struct rp *rp, const struct rp_params *p)
{
	enum rp_event ev;

	if (rp->reduce_due_ns <= rp->increase_due_ns) {
		rp_reduce(rp, p);
		return RP_CUT;
	}
	rp->increase_due_ns += p->increase_ns;
	ev = rp_raise(rp, p);
	rp->time_stage++;
	return ev;
}

#endif /* _ROCEHOST_RP_H */
