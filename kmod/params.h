/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of a queue, their invariants, and the defaults that follow the
 * link.  With these defaults, a queue without parameters fits links from 1 to
 * 400 Gb/s.  Fixed defaults are in config_table.h.
 *
 * Source: Kmin/Kmax/Pmax of 100 KB/400 KB/0.2 at 25 Gb/s, in proportion to the
 * speed, are from the HPCC simulator's DCQCN configuration.  The limit is the
 * 16 MB buffer of our model at 25 Gb/s, which takes 5 ms to drain.  With notify
 * pi, the reference of the controller is at most three times this Kmin.  Kmin
 * and Kmax are then four times as large, because the marking curve is only the
 * controller's backstop.
 *
 * Pure: no netlink, no device.
 */
#ifndef _IQCN_PARAMS_H
#define _IQCN_PARAMS_H

#include <linux/bits.h>
#include <linux/iqcn.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "algo/mark.h"
#include "algo/pfc.h"
#include "algo/pi.h"
#include "algo/profile.h"
#include "config_defaults.h"

/* struct iqcn_params - the parameters in force for a queue
 *
 * Whether tc or the link set them, they satisfy the following
 * (iqcn_params_check()), because the code divides by some of them:
 *
 *	kmin <= kmax, 1 <= qref <= limit, limit >= 1
 *	kmax <= limit, unless the user set one of them or kmin
 *	exit < enter, run-exit < run, span-enter <= span-exit
 *	base-rtt is known with notify grant
 *	1 <= period <= t1, sample >= 1, window, update, alpha, beta, flows >= 1
 */
struct iqcn_params {
	struct iqcn_mark_params mark;	/* marking curve */
	u32 limit_bytes;
	u32 mark_on;		/* enum iqcn_mark_on */
	u32 nonect;		/* enum iqcn_nonect */
	u32 notify;		/* bits of enum iqcn_notify */
	u32 detect;		/* bits of enum iqcn_detect */
	u32 t1_ns;		/* T1: time without a CNP after which the box
				 * sends one
				 */
	u32 window_ns;		/* of the CE rate and of measure gradient */
	u32 enter_pct;		/* CE rate that starts congestion, % of RoCE */
	u32 exit_pct;		/* CE rate that ends congestion, % of RoCE */
	u64 bandwidth_bps;	/* RoCE rate; 0: drain rate, or the link's */
	u32 run_enter;		/* consecutive CE PSNs that start congestion */
	u32 run_exit;		/* longest run that ends congestion */
	u32 span_packets;	/* packets over which CE PSNs are compared */
	u32 span_enter;		/* congestion starts if all differences are
				 * smaller
				 */
	u32 span_exit;		/* smallest difference that ends congestion */
	u32 trigger;		/* enum iqcn_trigger */
	u32 period_ns;		/* of IQCN_TRIGGER_PERIOD */
	u32 base;		/* enum iqcn_base */
	u32 delay_ns;		/* T2, or IQCN_DELAY_AUTO */
	u32 ce_in;		/* enum iqcn_ce_in */
	u32 measure;		/* bits of enum iqcn_measure */
	struct iqcn_profile profile;	/* of IQCN_NOTIFY_WREB */
	u32 qref_bytes;		/* of IQCN_NOTIFY_PI; 0: follow the load */
	struct iqcn_pi_params pi;	/* of IQCN_NOTIFY_PI */
	u32 min_gap_ns;		/* between two CNPs of the box to a flow */
	u32 telemetry;		/* 1: CNPs carry struct iqcn_telemetry */
	u32 sample;		/* one CE packet in this many is sampled */
	u32 sample_group;	/* of psample, or IQCN_SAMPLE_GROUP_NONE */
	u32 pair;		/* weakest enum iqcn_pair_grade that CNPs rely
				 * on
				 */
	u32 flows;		/* maximum number of flows */
	u32 age_ms;		/* idle time after which a flow expires */
	u32 cnp_dscp;
	u32 cnp_pcp;
	u32 cnp_ttl;
	u32 cnp_smac;		/* enum iqcn_cnp_smac */
	u32 cnp_sport;		/* enum iqcn_cnp_sport */
	u32 pfc_source;		/* enum iqcn_pfc_source */
	u32 pfc_prio;		/* classes, as bits */
	struct iqcn_pfc_params pfc;
	u32 base_rtt_ns;	/* or IQCN_BASE_RTT_NONE */
	u32 grant;		/* enum iqcn_grant_by */
	u32 supplement_pps;	/* requested rate of IQCN_NOTIFY_SUPPLEMENT */
	u32 supplement_max_pps;	/* cap of that rate; a larger request loosens
				 * the filter
				 */
	/* bit TCA_IQCN_*: set by the user; a default that follows the link
	 * applies only while its bit is 0
	 */
	u64 user_set;
};

/**
 * iqcn_default_kmin() - Kmin for a link
 * @mbps: the link's speed, 0: unknown
 * @pkt_bytes: the link's largest packet
 *
 * Return: bytes.
 */
static inline u32 iqcn_default_kmin(u32 mbps, u32 pkt_bytes)
{
	u64 kmin = div_u64((u64)IQCN_REF_KMIN_BYTES *
			   (mbps ?: IQCN_DEFAULT_MBPS), IQCN_REF_MBPS);

	kmin = max(kmin, IQCN_KMIN_PACKETS * (u64)pkt_bytes);
	/* the limit, the largest multiple of Kmin, fits in 32 bits */
	return min_t(u64, kmin, U32_MAX / IQCN_LIMIT_PER_KMIN);
}

/**
 * iqcn_default_cnp_rate() - CNPs per second that a port may send
 * @bps: the port's speed in bit/s, 0: unknown
 *
 * Return: 1 .. IQCN_CNP_RATE_MAX_PPS.
 */
static inline u32 iqcn_default_cnp_rate(u64 bps)
{
	bps = bps ?: (u64)IQCN_DEFAULT_MBPS * 1000000;
	return clamp_t(u64, div_u64(bps, 8 * IQCN_CNP_WIRE_BYTES * IQCN_CNP_SHARE),
		       1, IQCN_CNP_RATE_MAX_PPS);
}

/**
 * iqcn_default_gain() - scale a gain of the PI controller to a link
 * @ref: the gain at IQCN_REF_MBPS
 * @mbps: the link's speed, 0: unknown
 *
 * Return: the gain at that speed, 1 .. IQCN_GAIN_MAX.
 */
static inline u32 iqcn_default_gain(u32 ref, u32 mbps)
{
	return clamp_t(u64, div_u64((u64)ref * IQCN_REF_MBPS,
				    mbps ?: IQCN_DEFAULT_MBPS),
		       1, IQCN_GAIN_MAX);
}

static inline bool iqcn_user_set(const struct iqcn_params *p, int attr)
{
	return p->user_set & BIT_ULL(attr);
}

/**
 * iqcn_params_resolve() - set the parameters that follow the link
 * @p: parameters; those that the user set do not change
 * @link_bps: rate of the link or of a shaper, 0: unknown; a bandwidth that the
 *	user set replaces it
 * @pkt_bytes: the link's largest packet
 * @ethernet: the device is Ethernet, so the controller may run
 * @time_min_ns: shortest timer interval that the user may set
 */
static inline void iqcn_params_resolve(struct iqcn_params *p, u64 link_bps,
				       u32 pkt_bytes, bool ethernet,
				       u32 time_min_ns)
{
	u32 mbps = min_t(u64, U32_MAX,
			 div_u64(p->bandwidth_bps ?: link_bps, 1000000));
	u32 ref = iqcn_default_kmin(mbps, pkt_bytes);
	bool pi = (p->notify & IQCN_NOTIFY_PI) && ethernet;
	u32 kmin = pi ? ref * IQCN_PI_KMIN : ref;
	bool kmin_set = iqcn_user_set(p, TCA_IQCN_KMIN_BYTES);
	bool kmax_set = iqcn_user_set(p, TCA_IQCN_KMAX_BYTES);
	struct iqcn_mark_params *mark = &p->mark;

	if (!kmin_set)
		mark->kmin_bytes = kmax_set ?
				   min(kmin, mark->kmax_bytes /
					     IQCN_KMAX_PER_KMIN) : kmin;
	if (!kmax_set)
		mark->kmax_bytes = max_t(u64, kmin * IQCN_KMAX_PER_KMIN,
					 min_t(u64, U32_MAX,
					       (u64)mark->kmin_bytes *
					       IQCN_KMAX_PER_KMIN));
	if (!iqcn_user_set(p, TCA_IQCN_LIMIT_BYTES))
		p->limit_bytes = max3(ref * IQCN_LIMIT_PER_KMIN,
				      mark->kmax_bytes,
				      p->qref_bytes);
	p->pi.follows = !p->qref_bytes;
	p->pi.qref_bytes = p->qref_bytes ?:
			   clamp(ref * IQCN_QREF_PER_KMIN, 1U,
				 max(p->limit_bytes / IQCN_PI_FAREST, 1U));
	if (!iqcn_user_set(p, TCA_IQCN_MIN_GAP_NS))
		p->min_gap_ns = min_t(u32, p->t1_ns, IQCN_DEFAULT_MIN_GAP_NS);
	/* several polls of a flow per t1 are at least min-gap apart, and at
	 * least the shortest t1 that the user may set
	 */
	p->pi.polls_max = clamp(p->t1_ns / max(time_min_ns, p->min_gap_ns), 1U,
				IQCN_POLLS_MAX);
	if (!iqcn_user_set(p, TCA_IQCN_ALPHA))
		p->pi.alpha = iqcn_default_gain(IQCN_REF_ALPHA, mbps);
	if (!iqcn_user_set(p, TCA_IQCN_BETA))
		p->pi.beta = iqcn_default_gain(IQCN_REF_BETA, mbps);
	if (!iqcn_user_set(p, TCA_IQCN_THRESHOLD_BYTES))
		p->pfc.threshold_bytes = mark->kmin_bytes ?
					 min(ref, mark->kmin_bytes) : ref;
	if (!iqcn_user_set(p, TCA_IQCN_SETTLE_NS))
		p->pfc.settle_ns = p->base_rtt_ns == IQCN_BASE_RTT_NONE ?
				   IQCN_DEFAULT_SETTLE_NS : p->base_rtt_ns;
	if (!iqcn_user_set(p, TCA_IQCN_PFC_MAX_NS))
		p->pfc.max_ns = min_t(u64, IQCN_TIME_MAX_NS,
				      max((u64)p->pfc.settle_ns *
					  IQCN_SETTLES_PER_MAX,
					  div_u64(IQCN_PAUSE_MAX_BITS *
						  NSEC_PER_USEC,
						  mbps ?: IQCN_DEFAULT_MBPS)));
	if (!iqcn_user_set(p, TCA_IQCN_PERIOD_NS))
		p->period_ns = max(p->t1_ns / IQCN_PERIODS_PER_T1, time_min_ns);
}

/**
 * enum iqcn_params_wrong - the invariant of struct iqcn_params that is violated
 * @IQCN_PARAMS_OK: none
 * @IQCN_PARAMS_ZERO: a parameter that must not be 0 is 0
 * @IQCN_PARAMS_KMIN: kmin is above kmax
 * @IQCN_PARAMS_KMAX: kmax is above limit, and the user set neither of them nor
 *	kmin
 * @IQCN_PARAMS_QREF: qref is above limit
 * @IQCN_PARAMS_EXIT: exit is not below enter
 * @IQCN_PARAMS_RUN_EXIT: run-exit is not below run
 * @IQCN_PARAMS_SPAN_EXIT: span-exit is below span-enter
 * @IQCN_PARAMS_PERIOD: period is above t1
 * @IQCN_PARAMS_BASE_RTT: notify grant, without base-rtt
 */
enum iqcn_params_wrong {
	IQCN_PARAMS_OK,
	IQCN_PARAMS_ZERO,
	IQCN_PARAMS_KMIN,
	IQCN_PARAMS_KMAX,
	IQCN_PARAMS_QREF,
	IQCN_PARAMS_EXIT,
	IQCN_PARAMS_RUN_EXIT,
	IQCN_PARAMS_SPAN_EXIT,
	IQCN_PARAMS_PERIOD,
	IQCN_PARAMS_BASE_RTT,
};

/**
 * iqcn_params_check() - check the invariants
 * @p: parameters, resolved
 *
 * Every path that computes parameters ends with this check: tc, link changes,
 * MTU changes, the default qdisc.
 *
 * Return: the first invariant that is violated.
 */
static inline enum iqcn_params_wrong
iqcn_params_check(const struct iqcn_params *p)
{
	const u32 never_zero[] = {
		p->limit_bytes, p->pi.qref_bytes, p->t1_ns, p->window_ns,
		p->period_ns, p->pi.update_ns, p->pi.alpha, p->pi.beta,
		p->sample, p->flows,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(never_zero); i++)
		if (!never_zero[i])
			return IQCN_PARAMS_ZERO;
	if (p->mark.kmin_bytes > p->mark.kmax_bytes)
		return IQCN_PARAMS_KMIN;
	if (p->mark.kmax_bytes > p->limit_bytes &&
	    !iqcn_user_set(p, TCA_IQCN_KMIN_BYTES) &&
	    !iqcn_user_set(p, TCA_IQCN_KMAX_BYTES) &&
	    !iqcn_user_set(p, TCA_IQCN_LIMIT_BYTES))
		return IQCN_PARAMS_KMAX;
	if (p->pi.qref_bytes > p->limit_bytes)
		return IQCN_PARAMS_QREF;
	if (p->exit_pct >= p->enter_pct)
		return IQCN_PARAMS_EXIT;
	if (p->run_exit >= p->run_enter)
		return IQCN_PARAMS_RUN_EXIT;
	if (p->span_exit < p->span_enter)
		return IQCN_PARAMS_SPAN_EXIT;
	if (p->period_ns > p->t1_ns)
		return IQCN_PARAMS_PERIOD;
	if ((p->notify & IQCN_NOTIFY_GRANT) &&
	    p->base_rtt_ns == IQCN_BASE_RTT_NONE)
		return IQCN_PARAMS_BASE_RTT;
	return IQCN_PARAMS_OK;
}

#endif /* _IQCN_PARAMS_H */
