/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of a queue: defaults that follow the link, so that a queue without
 * parameters is right from 1 to 400 Gb/s, and the invariants that hold of all.
 *
 * Source: Kmin/Kmax/Pmax 100 KB/400 KB/0.2 at 25 Gb/s, in proportion to the
 * speed, as in the HPCC simulator's DCQCN configuration; the limit is the 16 MB
 * buffer at 25 Gb/s of our model, 5 ms of the link.  T1 is three quarters of
 * ConnectX's default rate-increase timer: a CNP has to be there before it.  What
 * the controller aims at is three times Kmin, and while it does the curve of
 * marking is what stands behind it, four times as deep.
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
#include "algo/pi.h"
#include "algo/profile.h"

#define IQCN_REF_MBPS		25000
#define IQCN_REF_KMIN_BYTES	100000
#define IQCN_KMAX_PER_KMIN	4
#define IQCN_LIMIT_PER_KMIN	160
#define IQCN_QREF_PER_KMIN	3
#define IQCN_PI_KMIN		4
#define IQCN_REF_ALPHA		2000
#define IQCN_REF_BETA		100000
#define IQCN_GAIN_MAX		100000000
#define IQCN_TIME_MIN_NS	10000
/* Where a user is root in a user namespace of his own */
#define IQCN_TIME_USER_MIN_NS	100000
#define IQCN_TIME_MAX_NS	((u32)NSEC_PER_SEC)
/* Kmin is never less than this many of the link's largest packets */
#define IQCN_KMIN_PACKETS	2
/* A link whose speed nobody knows */
#define IQCN_DEFAULT_MBPS	10000

#define IQCN_DEFAULT_PMAX	(U32_MAX / 5)
#define IQCN_DEFAULT_T1_NS	225000
#define IQCN_DEFAULT_WINDOW_NS	1000000
#define IQCN_DEFAULT_ENTER_PCT	90
#define IQCN_DEFAULT_EXIT_PCT	60
/* won against all others (Documentation/methods.rst) */
#define IQCN_DEFAULT_DETECT	(IQCN_DETECT_QUEUE | IQCN_DETECT_DEPTH)
#define IQCN_DEFAULT_TRIGGER	IQCN_TRIGGER_TIMER
#define IQCN_DEFAULT_BASE	IQCN_BASE_CNP
/* the patent's five packets, and its hundred with one difference of 2 */
#define IQCN_DEFAULT_RUN_ENTER	5
#define IQCN_DEFAULT_RUN_EXIT	2
#define IQCN_DEFAULT_SPAN_PACKETS 100
#define IQCN_DEFAULT_SPAN_ENTER	3
#define IQCN_DEFAULT_SPAN_EXIT	10
#define IQCN_DEFAULT_NOTIFY	IQCN_NOTIFY_PI
#define IQCN_DEFAULT_UPDATE_NS	100000
#define IQCN_DEFAULT_MIN_GAP_NS	50000
/* Scans in the time that one may be late by */
#define IQCN_PERIODS_PER_T1	4
#define IQCN_DEFAULT_FLOWS	65536
#define IQCN_DEFAULT_AGE_MS	10000
#define IQCN_DEFAULT_CNP_DSCP	48
#define IQCN_DEFAULT_CNP_PCP	6
#define IQCN_DEFAULT_CNP_TTL	64
/* CNPs may take an eighth of the reverse link.  On the wire one of IPv4 is 98 bytes:
 * headers, reserved bytes and ICRC, and Ethernet's header, FCS, preamble and gap.  A
 * sender that speeds up every 300 us wants a CNP as often, however slow its flow is, so
 * this is a limit of flows per Gb/s (Documentation/back-to-sender.rst).
 */
#define IQCN_CNP_WIRE_BYTES	98
#define IQCN_CNP_SHARE		8
#define IQCN_CNP_RATE_MAX_PPS	1000000000

/**
 * struct iqcn_params - what a queue is told to do
 * @mark: the marking curve
 * @limit_bytes: depth that is never exceeded
 * @mark_on: enum iqcn_mark_on
 * @nonect: enum iqcn_nonect
 * @notify: set of enum iqcn_notify
 * @detect: set of enum iqcn_detect
 * @t1_ns: T1
 * @window_ns: window of the CE rate
 * @enter_pct: percentage of the RoCE rate from which the queue is congested
 * @exit_pct: and down to which it stays so
 * @bandwidth_bps: the RoCE rate, 0: the drain rate, or the link's
 * @run_enter: consecutive CE PSNs from which a flow is congested
 * @run_exit: and down to which it does not stay so
 * @span_packets: packets over which differences of CE PSNs are taken
 * @span_enter: difference below which a flow is congested
 * @span_exit: and from which it does not stay so
 * @trigger: enum iqcn_trigger
 * @period_ns: of IQCN_TRIGGER_PERIOD
 * @base: enum iqcn_base
 * @delay_ns: T2, or IQCN_DELAY_AUTO
 * @ce_in: enum iqcn_ce_in
 * @measure: set of enum iqcn_measure
 * @profile: of IQCN_NOTIFY_WREB
 * @pi: of IQCN_NOTIFY_PI
 * @min_gap_ns: least time between two CNPs of ours to a flow
 * @telemetry: CNPs carry it
 * @sample: one CE packet in so many is looked at
 * @sample_group: psample group, or IQCN_SAMPLE_GROUP_NONE
 * @pair: weakest evidence to send on
 * @flows: limit of flows
 * @age_ms: age at which they are forgotten
 * @cnp_dscp: of the CNPs sent
 * @cnp_pcp: of the CNPs sent
 * @cnp_ttl: of the CNPs sent
 * @cnp_smac: enum iqcn_cnp_smac
 * @user_set: bits (by TCA_IQCN_* number) of those that the user set; the others
 *	that depend on the link follow it
 *
 * Parameters in force satisfy the following, whether tc or the link set them
 * (iqcn_params_check()); the code divides by some of them:
 *
 *	kmin <= kmax, 1 <= qref <= limit, limit >= 1
 *	kmax <= limit, unless the user set one of them or kmin
 *	exit < enter, run-exit < run, span-enter <= span-exit
 *	1 <= period <= t1, sample >= 1, window, update, alpha, beta, flows >= 1
 */
struct iqcn_params {
	struct iqcn_mark_params mark;
	u32 limit_bytes;
	u32 mark_on;
	u32 nonect;
	u32 notify;
	u32 detect;
	u32 t1_ns;
	u32 window_ns;
	u32 enter_pct;
	u32 exit_pct;
	u64 bandwidth_bps;
	u32 run_enter;
	u32 run_exit;
	u32 span_packets;
	u32 span_enter;
	u32 span_exit;
	u32 trigger;
	u32 period_ns;
	u32 base;
	u32 delay_ns;
	u32 ce_in;
	u32 measure;
	struct iqcn_profile profile;
	struct iqcn_pi_params pi;
	u32 min_gap_ns;
	u32 telemetry;
	u32 sample;
	u32 sample_group;
	u32 pair;
	u32 flows;
	u32 age_ms;
	u32 cnp_dscp;
	u32 cnp_pcp;
	u32 cnp_ttl;
	u32 cnp_smac;
	u64 user_set;
};

/**
 * iqcn_default_kmin() - Kmin for a link
 * @mbps: its speed, 0: unknown
 * @pkt_bytes: its largest packet
 *
 * Return: bytes.
 */
static inline u32 iqcn_default_kmin(u32 mbps, u32 pkt_bytes)
{
	u64 kmin = div_u64((u64)IQCN_REF_KMIN_BYTES *
			   (mbps ?: IQCN_DEFAULT_MBPS), IQCN_REF_MBPS);

	kmin = max(kmin, IQCN_KMIN_PACKETS * (u64)pkt_bytes);
	/* multiples of it, and the limit is the largest, fit in 32 bits */
	return min_t(u64, kmin, U32_MAX / IQCN_LIMIT_PER_KMIN);
}

/**
 * iqcn_default_cnp_rate() - CNPs per second that a port may send
 * @bps: its speed in bit/s, 0: unknown
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
 * iqcn_default_gain() - a gain of the controller for a link
 * @ref: the gain at IQCN_REF_MBPS
 * @mbps: its speed, 0: unknown
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
 * @p: parameters; those that the user set stay
 * @link_bps: speed of the link, which the bandwidth stands for if it is set
 * @pkt_bytes: the link's largest packet
 * @ethernet: the device is Ethernet, so the controller runs
 * @time_min_ns: least time that a user may set
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
	bool qref_set = iqcn_user_set(p, TCA_IQCN_QREF_BYTES);
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
				      qref_set ? p->pi.qref_bytes : 0);
	if (!qref_set)
		p->pi.qref_bytes = clamp(ref * IQCN_QREF_PER_KMIN, 1U,
					 max(p->limit_bytes / IQCN_PI_FAREST,
					     1U));
	if (!iqcn_user_set(p, TCA_IQCN_MIN_GAP_NS))
		p->min_gap_ns = min_t(u32, p->t1_ns, IQCN_DEFAULT_MIN_GAP_NS);
	if (!iqcn_user_set(p, TCA_IQCN_ALPHA))
		p->pi.alpha = iqcn_default_gain(IQCN_REF_ALPHA, mbps);
	if (!iqcn_user_set(p, TCA_IQCN_BETA))
		p->pi.beta = iqcn_default_gain(IQCN_REF_BETA, mbps);
	if (!iqcn_user_set(p, TCA_IQCN_PERIOD_NS))
		p->period_ns = max(p->t1_ns / IQCN_PERIODS_PER_T1, time_min_ns);
}

/**
 * enum iqcn_params_wrong - the invariant of struct iqcn_params that does not hold
 * @IQCN_PARAMS_OK: they all do
 * @IQCN_PARAMS_ZERO: a parameter is 0 that is never 0
 * @IQCN_PARAMS_KMIN: kmin is above kmax
 * @IQCN_PARAMS_KMAX: kmax is above limit, and neither is the user's
 * @IQCN_PARAMS_QREF: qref is above limit
 * @IQCN_PARAMS_EXIT: exit is not below enter
 * @IQCN_PARAMS_RUN_EXIT: run-exit is not below run
 * @IQCN_PARAMS_SPAN_EXIT: span-exit is below span-enter
 * @IQCN_PARAMS_PERIOD: period is above t1
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
};

/**
 * iqcn_params_check() - do the invariants hold?
 * @p: parameters, resolved
 *
 * Every path that computes parameters ends here: tc, the link, the MTU, the default
 * qdisc.
 *
 * Return: the first one that does not hold.
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
	return IQCN_PARAMS_OK;
}

#endif /* _IQCN_PARAMS_H */
