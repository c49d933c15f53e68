/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of the qdisc, one row each.  The module's parser, defaults and
 * dump, tc's plugin with its help, and "iqcn show" all work from this table.
 *
 * A new parameter needs an attribute in <linux/iqcn.h>, a row here, a field in
 * struct iqcn_params, a paragraph in tc-iqcn(8), and the code that uses the
 * field.
 *
 * Shared with user space: constants only, nothing that needs the kernel's
 * headers outside __KERNEL__.
 */
#ifndef _IQCN_CONFIG_TABLE_H
#define _IQCN_CONFIG_TABLE_H

#include <linux/iqcn.h>
#include <linux/types.h>

#include "config_defaults.h"

/* Types of values.  All are u32 attributes except BPS (u64), PROFILE (an array
 * of struct tc_iqcn_point) and FILTER (a struct tc_iqcn_cnp_filter).
 */
enum iqcn_param_type {
	IQCN_PARAM_NUMBER,
	IQCN_PARAM_BYTES,
	IQCN_PARAM_NS,
	IQCN_PARAM_TIMER_NS,	/* timer interval, see IQCN_TIME_USER_MIN_NS */
	IQCN_PARAM_MS,
	IQCN_PARAM_BPS,
	IQCN_PARAM_PROB,	/* share of IQCN_U32_MAX */
	IQCN_PARAM_PERCENT,
	IQCN_PARAM_NAME,	/* one of a list of names */
	IQCN_PARAM_SET,		/* bits, each with a name */
	IQCN_PARAM_METERS,
	IQCN_PARAM_PROFILE,
	IQCN_PARAM_FILTER,
};

#ifndef __KERNEL__
/* Groups of parameters, in the order of tc's help */
enum iqcn_param_tier {
	IQCN_TIER_NEED,
	IQCN_TIER_METHOD,
	IQCN_TIER_NETWORK,
	IQCN_TIER_COMPARE,
	__IQCN_TIER_MAX
};

/* Subjects of parameters, in the order of "iqcn show" */
enum iqcn_param_topic {
	IQCN_TOPIC_MARKING,
	IQCN_TOPIC_CONGESTION,
	IQCN_TOPIC_SAMPLING,
	IQCN_TOPIC_SENDING,
	IQCN_TOPIC_FLOWS,
	__IQCN_TOPIC_MAX
};
#endif

/* struct iqcn_param - a row: fields of the module, and fields for programs */
struct iqcn_param {
	const char *name;
	__u16 attr;
	__u16 type;		/* enum iqcn_param_type */
	__u32 lo;
	__u32 hi;
	__u32 def;		/* default, if it follows no other parameter */
	const char *unit;	/* after a range in error messages */
	const char *special;	/* word for the special value, or NULL */
	__u32 special_value;
#ifdef __KERNEL__
	__u16 offset;		/* in struct iqcn_config */
#else
	__u8 tier;		/* enum iqcn_param_tier */
	__u8 topic;		/* enum iqcn_param_topic */
	__u16 follows;		/* attribute that the default follows, or 0 */
	__u16 needs;		/* attribute that enables this one, 0: none */
	__u32 needs_bits;	/* one of these bits of that attribute is
				 * enough; if its values have names: 1 << value
				 */
	__u16 or_needs;		/* or this attribute enables it, 0: none */
	__u32 or_needs_bits;	/* as needs_bits, for or_needs */
	const char *key;	/* in JSON */
	const char *value;	/* placeholder in the help, NULL: by type */
	const char *help;
	const char *shared;	/* scope if shared, NULL: the queue */
	const char *const *names;	/* by value or by bit, then NULL */
	const char *empty;	/* name of the empty set or profile, or NULL */
#endif
};

#ifdef __KERNEL__
#define IQCN_FIELD(_field)	.offset = offsetof(struct iqcn_config, _field),
#define IQCN_TEXT(...)
#else
#define IQCN_FIELD(_field)
#define IQCN_TEXT(...)		__VA_ARGS__
#define IQCN_ABOUT(_tier, _topic) \
	.tier = IQCN_TIER_##_tier, .topic = IQCN_TOPIC_##_topic
#define IQCN_NEEDS(_attr, _bits) \
	.needs = TCA_IQCN_##_attr, .needs_bits = _bits
/* IQCN_PFC_FRAMES and IQCN_PFC_TXQ */
#define IQCN_PFC_ON		0x6
#define IQCN_OR_NEEDS(_attr, _bits) \
	.or_needs = TCA_IQCN_##_attr, .or_needs_bits = _bits
#define IQCN_NAMES(...)		.names = (const char *const[]){ __VA_ARGS__, NULL }
#endif

#define IQCN_ROW(_attr, _name, _type, _field, _lo, _hi, _def, _unit)	\
	.name = _name, .attr = TCA_IQCN_##_attr,			\
	.type = IQCN_PARAM_##_type, IQCN_FIELD(_field)			\
	.lo = _lo, .hi = _hi, .def = _def, .unit = _unit

/* The rows are in the order in which tc prints the parameters */
static const struct iqcn_param iqcn_param_table[] = {
	{ IQCN_ROW(LIMIT_BYTES, "limit", BYTES, p.limit_bytes,
		   1, IQCN_U32_MAX, 0, " bytes"),
	  IQCN_TEXT(IQCN_ABOUT(NEED, MARKING), .key = "limit",
		    .follows = TCA_IQCN_BANDWIDTH_BPS,
		    .help = "bytes that the queue holds before it drops") },
	{ IQCN_ROW(KMIN_BYTES, "kmin", BYTES, p.mark.kmin_bytes,
		   0, IQCN_U32_MAX, 0, " bytes"),
	  IQCN_TEXT(IQCN_ABOUT(NEED, MARKING), .key = "kmin",
		    .follows = TCA_IQCN_BANDWIDTH_BPS,
		    .help = "depth up to which no packet is marked") },
	{ IQCN_ROW(KMAX_BYTES, "kmax", BYTES, p.mark.kmax_bytes,
		   0, IQCN_U32_MAX, 0, " bytes"),
	  IQCN_TEXT(IQCN_ABOUT(NEED, MARKING), .key = "kmax",
		    .follows = TCA_IQCN_BANDWIDTH_BPS,
		    .help = "depth above which every ECT packet is marked") },
	{ IQCN_ROW(PMAX, "pmax", PROB, p.mark.pmax,
		   0, IQCN_U32_MAX, IQCN_DEFAULT_PMAX, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, MARKING), .key = "pmax",
		    .help = "marking probability at kmax, 0 to 1") },
	{ IQCN_ROW(MARK_ON, "mark-on", NAME, p.mark_on,
		   0, __IQCN_MARK_ON_MAX - 1, IQCN_MARK_ON_DEQUEUE, ""),
	  IQCN_TEXT(IQCN_ABOUT(COMPARE, MARKING), .key = "mark_on",
		    IQCN_NAMES("enqueue", "dequeue"),
		    .value = "enqueue|dequeue",
		    .help = "whether packets are marked on arrival or on departure") },
	{ IQCN_ROW(NONECT, "nonect", NAME, p.nonect,
		   0, __IQCN_NONECT_MAX - 1, IQCN_NONECT_PASS, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, MARKING), .key = "nonect",
		    IQCN_NAMES("pass", "drop"), .value = "pass|drop",
		    .help = "what happens to a not-ECT packet instead of a mark") },
	{ IQCN_ROW(NOTIFY, "notify", SET, p.notify,
		   0, IQCN_NOTIFY_ALL, IQCN_DEFAULT_NOTIFY, ""),
	  IQCN_TEXT(IQCN_ABOUT(NEED, SENDING), .key = "notify",
		    IQCN_NAMES(IQCN_NAMES_NOTIFY), .empty = "off",
		    .value = "off|timer,wreb,pi,grant,supplement",
		    .help = "how senders are notified; off: by marks only") },
	{ IQCN_ROW(DETECT, "detect", SET, p.detect,
		   1, IQCN_DETECT_ALL, IQCN_DEFAULT_DETECT, ""),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, CONGESTION), .key = "detect",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_TIMER),
		    IQCN_NAMES(IQCN_NAMES_DETECT),
		    .value = "queue,depth,run,span",
		    .help = "detectors: the queue's CE rate, depth; a flow's CE PSNs") },
	{ IQCN_ROW(T1_NS, "t1", TIMER_NS, p.t1_ns,
		   IQCN_TIME_MIN_NS, IQCN_TIME_MAX_NS, IQCN_DEFAULT_T1_NS, " ns"),
	  IQCN_TEXT(IQCN_ABOUT(NEED, SENDING), .key = "t1_ns",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_TIMER | IQCN_NOTIFY_PI),
		    .help = "time without a CNP after which the box sends one") },
	{ IQCN_ROW(TRIGGER, "trigger", NAME, p.trigger,
		   0, __IQCN_TRIGGER_MAX - 1, IQCN_DEFAULT_TRIGGER, ""),
	  IQCN_TEXT(IQCN_ABOUT(COMPARE, SENDING), .key = "trigger",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_TIMER),
		    IQCN_NAMES("timer", "period", "gap"),
		    .value = "timer|period|gap",
		    .help = "what notices that t1 expired: timer, scan, next packet") },
	{ IQCN_ROW(PERIOD_NS, "period", TIMER_NS, p.period_ns,
		   IQCN_TIME_MIN_NS, IQCN_TIME_MAX_NS, 0, " ns"),
	  IQCN_TEXT(IQCN_ABOUT(COMPARE, SENDING), .key = "period_ns",
		    IQCN_NEEDS(TRIGGER, 1 << IQCN_TRIGGER_PERIOD),
		    .follows = TCA_IQCN_T1_NS,
		    .help = "interval between two scans of \"trigger period\"") },
	{ IQCN_ROW(BASE, "base", NAME, p.base,
		   0, __IQCN_BASE_MAX - 1, IQCN_DEFAULT_BASE, ""),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, SENDING), .key = "base",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_TIMER),
		    IQCN_NAMES("ce", "cnp", "both"), .value = "ce|cnp|both",
		    .help = "what starts t1: last CE packet, last CNP, the later one") },
	{ IQCN_ROW(DELAY_NS, "delay", NS, p.delay_ns,
		   0, IQCN_TIME_MAX_NS, 0, " ns"),
	  .special = "auto", .special_value = IQCN_DELAY_AUTO,
	  IQCN_TEXT(IQCN_ABOUT(METHOD, SENDING), .key = "delay_ns",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_TIMER), .value = "TIME|auto",
		    .help = "delay of a due CNP; auto: the latency of the flow's CNPs") },
	{ IQCN_ROW(CE_IN, "ce-in", NAME, p.ce_in,
		   0, __IQCN_CE_IN_MAX - 1, IQCN_CE_IN_NOTIFY, ""),
	  IQCN_TEXT(IQCN_ABOUT(NEED, SENDING), .key = "ce_in_action",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL & ~IQCN_NOTIFY_TIMER),
		    IQCN_OR_NEEDS(PFC, IQCN_PFC_ON),
		    IQCN_NAMES("notify", "silent"), .value = "notify|silent",
		    .help = "whether packets that arrive with CE cause CNPs") },
	{ IQCN_ROW(MEASURE, "measure", SET, p.measure,
		   1, IQCN_MEASURE_ALL, IQCN_MEASURE_DEPTH, ""),
	  IQCN_TEXT(IQCN_ABOUT(COMPARE, SENDING), .key = "measure",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_WREB),
		    IQCN_NAMES("depth", "gradient", "delay"),
		    .value = "depth,gradient,delay",
		    .help = "input of \"notify wreb\"; of several the largest") },
	{ IQCN_ROW(PROFILE, "profile", PROFILE, p.profile, 0, 0, 0, ""),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, SENDING), .key = "profile",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_WREB), .empty = "mark",
		    .value = "BYTES:P,BYTES:P...|mark",
		    .help = "CNP probability of \"notify wreb\"; mark: the marking curve") },
	{ IQCN_ROW(QREF_BYTES, "qref", BYTES, p.qref_bytes,
		   1, IQCN_U32_MAX, 0, " bytes"),
	  .special = "auto", .special_value = 0,
	  IQCN_TEXT(IQCN_ABOUT(NEED, SENDING), .key = "qref",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_PI), .value = "BYTES|auto",
		    .help = "depth of the queue with \"notify pi\"; auto: by the load") },
	{ IQCN_ROW(UPDATE_NS, "update", TIMER_NS, p.pi.update_ns,
		   IQCN_TIME_MIN_NS, IQCN_TIME_MAX_NS, IQCN_DEFAULT_UPDATE_NS,
		   " ns"),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, SENDING), .key = "update_ns",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_PI),
		    .help = "interval between two steps of the controller of \"pi\"") },
	{ IQCN_ROW(ALPHA, "alpha", NUMBER, p.pi.alpha, 1, IQCN_GAIN_MAX, 0, ""),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, SENDING), .key = "alpha",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_PI),
		    .follows = TCA_IQCN_BANDWIDTH_BPS,
		    .help = "integral gain: CNPs per round and step, per GB over qref") },
	{ IQCN_ROW(BETA, "beta", NUMBER, p.pi.beta, 1, IQCN_GAIN_MAX, 0, ""),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, SENDING), .key = "beta",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_PI),
		    .follows = TCA_IQCN_BANDWIDTH_BPS,
		    .help = "proportional gain: CNPs per round and step, per GB of growth") },
	{ IQCN_ROW(MIN_GAP_NS, "min-gap", NS, p.min_gap_ns,
		   0, IQCN_TIME_MAX_NS, 0, " ns"),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "min_gap_ns",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL),
		    .follows = TCA_IQCN_T1_NS,
		    .help = "minimum time between two CNPs of the box to a flow") },
	{ IQCN_ROW(TELEMETRY, "telemetry", NAME, p.telemetry, 0, 1, 0, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "telemetry",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL),
		    IQCN_NAMES("off", "on"), .value = "on|off",
		    .help = "whether CNPs carry the state of the queue") },
	{ IQCN_ROW(WINDOW_NS, "window", TIMER_NS, p.window_ns,
		   IQCN_TIME_MIN_NS, IQCN_TIME_MAX_NS, IQCN_DEFAULT_WINDOW_NS,
		   " ns"),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, CONGESTION), .key = "window_ns",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_TIMER),
		    IQCN_OR_NEEDS(MEASURE, IQCN_MEASURE_GRADIENT),
		    .help = "interval over which the CE rate is measured") },
	{ IQCN_ROW(ENTER_PCT, "enter", PERCENT, p.enter_pct,
		   1, 1000, IQCN_DEFAULT_ENTER_PCT, "%"),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, CONGESTION), .key = "enter",
		    IQCN_NEEDS(DETECT, IQCN_DETECT_QUEUE),
		    .help = "CE rate, in % of RoCE, from which the queue is congested") },
	{ IQCN_ROW(EXIT_PCT, "exit", PERCENT, p.exit_pct,
		   0, 999, IQCN_DEFAULT_EXIT_PCT, "%"),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, CONGESTION), .key = "exit",
		    IQCN_NEEDS(DETECT, IQCN_DETECT_QUEUE),
		    .help = "CE rate at which the queue is no longer congested") },
	{ IQCN_ROW(BANDWIDTH_BPS, "bandwidth", BPS, p.bandwidth_bps, 0, 0, 0, ""),
	  IQCN_TEXT(IQCN_ABOUT(NEED, CONGESTION), .key = "bandwidth_bps",
		    .help = "rate of the queue's RoCE traffic; 0: measured") },
	{ IQCN_ROW(RUN_ENTER, "run", NUMBER, p.run_enter,
		   2, 65536, IQCN_DEFAULT_RUN_ENTER, " packets"),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, CONGESTION), .key = "run",
		    IQCN_NEEDS(DETECT, IQCN_DETECT_RUN),
		    .help = "consecutive CE PSNs from which a flow is congested") },
	{ IQCN_ROW(RUN_EXIT, "run-exit", NUMBER, p.run_exit,
		   0, 65535, IQCN_DEFAULT_RUN_EXIT, " packets"),
	  IQCN_TEXT(IQCN_ABOUT(METHOD, CONGESTION), .key = "run_exit",
		    IQCN_NEEDS(DETECT, IQCN_DETECT_RUN),
		    .help = "longest run that ends a flow's congestion") },
	{ IQCN_ROW(SPAN_PACKETS, "span", NUMBER, p.span_packets,
		   2, 65536, IQCN_DEFAULT_SPAN_PACKETS, " packets"),
	  IQCN_TEXT(IQCN_ABOUT(COMPARE, CONGESTION), .key = "span",
		    IQCN_NEEDS(DETECT, IQCN_DETECT_SPAN), .value = "PACKETS",
		    .help = "packets of a flow over which its CE PSNs are compared") },
	{ IQCN_ROW(SPAN_ENTER, "span-enter", NUMBER, p.span_enter,
		   2, 65536, IQCN_DEFAULT_SPAN_ENTER, ""),
	  IQCN_TEXT(IQCN_ABOUT(COMPARE, CONGESTION), .key = "span_enter",
		    IQCN_NEEDS(DETECT, IQCN_DETECT_SPAN),
		    .help = "a flow is congested if all differences are smaller") },
	{ IQCN_ROW(SPAN_EXIT, "span-exit", NUMBER, p.span_exit,
		   2, 65536, IQCN_DEFAULT_SPAN_EXIT, ""),
	  IQCN_TEXT(IQCN_ABOUT(COMPARE, CONGESTION), .key = "span_exit",
		    IQCN_NEEDS(DETECT, IQCN_DETECT_SPAN),
		    .help = "smallest difference that ends a flow's congestion") },
	{ IQCN_ROW(PFC, "pfc", NAME, p.pfc_source,
		   0, __IQCN_PFC_MAX - 1, IQCN_PFC_OFF, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, CONGESTION), .key = "pfc",
		    IQCN_NAMES("off", "frames", "txq"), .value = "off|frames|txq",
		    .help = "how the queue learns that PFC has paused the port") },
	{ IQCN_ROW(PFC_PRIO, "pfc-prio", SET, p.pfc_prio,
		   1, 0xff, IQCN_DEFAULT_PFC_PRIO, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, CONGESTION), .key = "pfc_prio",
		    IQCN_NEEDS(PFC, 1 << IQCN_PFC_FRAMES),
		    IQCN_NAMES("0", "1", "2", "3", "4", "5", "6", "7"),
		    .value = "CLASS,CLASS...",
		    .help = "PFC classes that the queue carries") },
	{ IQCN_ROW(THRESHOLD_BYTES, "threshold", BYTES, p.pfc.threshold_bytes,
		   1, IQCN_U32_MAX, 0, " bytes"),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, CONGESTION), .key = "threshold",
		    IQCN_NEEDS(PFC, IQCN_PFC_ON),
		    IQCN_OR_NEEDS(NOTIFY, IQCN_NOTIFY_GRANT),
		    .follows = TCA_IQCN_BANDWIDTH_BPS,
		    .help = "depth from which pfc and grant consider the queue congested") },
	{ IQCN_ROW(SETTLE_NS, "settle", NS, p.pfc.settle_ns,
		   0, IQCN_TIME_MAX_NS, 0, " ns"),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, CONGESTION), .key = "settle_ns",
		    IQCN_NEEDS(PFC, IQCN_PFC_ON),
		    .follows = TCA_IQCN_BASE_RTT_NS,
		    .help = "interval at which an undetermined queue is judged again") },
	{ IQCN_ROW(PFC_MAX_NS, "pfc-max", NS, p.pfc.max_ns,
		   1, IQCN_TIME_MAX_NS, 0, " ns"),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, CONGESTION), .key = "pfc_max_ns",
		    IQCN_NEEDS(PFC, IQCN_PFC_ON), .follows = TCA_IQCN_SETTLE_NS,
		    .help = "longest time for which pauses prevent marks and CNPs") },
	{ IQCN_ROW(BASE_RTT_NS, "base-rtt", NS, p.base_rtt_ns,
		   1, IQCN_TIME_MAX_NS, IQCN_BASE_RTT_NONE, " ns"),
	  .special = "none", .special_value = IQCN_BASE_RTT_NONE,
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "base_rtt_ns",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_GRANT), .value = "TIME|none",
		    .help = "round-trip time of the senders without congestion") },
	{ IQCN_ROW(GRANT, "grant", NAME, p.grant,
		   0, __IQCN_GRANT_MAX - 1, IQCN_GRANT_SHARE, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "grant",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_GRANT),
		    IQCN_NAMES("share", "equal"), .value = "share|equal",
		    .help = "how \"notify grant\" divides the window among flows") },
	{ IQCN_ROW(SUPPLEMENT_PPS, "supplement", NUMBER, p.supplement_pps,
		   0, IQCN_SUPPLEMENT_LIMIT_PPS, IQCN_DEFAULT_SUPPLEMENT_PPS,
		   " per second"),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "supplement_pps",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_SUPPLEMENT),
		    .help = "CNPs per second of \"notify supplement\"") },
	{ IQCN_ROW(SUPPLEMENT_MAX_PPS, "supplement-max", NUMBER,
		   p.supplement_max_pps, 1, IQCN_SUPPLEMENT_LIMIT_PPS,
		   IQCN_DEFAULT_SUPPLEMENT_MAX_PPS, " per second"),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "supplement_max_pps",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_SUPPLEMENT),
		    .help = "cap on supplement; a higher request loosens the filter") },
	{ IQCN_ROW(FIBER_M, "fiber", METERS, port.fiber_m,
		   1, IQCN_FIBER_MAX_M, 0, " m"),
	  .special = "none", .special_value = 0,
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "fiber_m",
		    .shared = "device", .value = "LENGTH|none",
		    .help = "length of the long-haul fiber behind the device, e.g. 100km") },
	{ IQCN_ROW(FILTER, "filter", FILTER, port.filter, 0, 0, 0, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "filter",
		    .shared = "device",
		    IQCN_NAMES(IQCN_NAMES_CNP_FILTER),
		    .value = "off|auto|told|N/TIME",
		    .help = "which CNPs of receivers the device lets pass") },
	{ IQCN_ROW(FILTER_BY, "filter-by", NAME, port.filter_by,
		   0, __IQCN_CNP_FILTER_BY_MAX - 1, IQCN_CNP_FILTER_BY_FLOW, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "filter_by",
		    .shared = "device", IQCN_NAMES("flow", "port"),
		    .value = "flow|port",
		    .help = "whether the filter counts CNPs per QP or per device") },
	{ IQCN_ROW(SAMPLE, "sample", NUMBER, p.sample, 1, 65536, 1, " packets"),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SAMPLING), .key = "sample",
		    .help = "one CE packet of a flow in this many is sampled") },
	{ IQCN_ROW(SAMPLE_GROUP, "group", NUMBER, p.sample_group,
		   0, IQCN_U32_MAX, IQCN_SAMPLE_GROUP_NONE, ""),
	  .special = "off", .special_value = IQCN_SAMPLE_GROUP_NONE,
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SAMPLING), .key = "group",
		    .value = "NUMBER|off",
		    .help = "psample group that gets copies of sampled CE packets") },
	{ IQCN_ROW(PAIR, "pair", NAME, p.pair,
		   IQCN_PAIR_SPORT, __IQCN_PAIR_MAX - 1, IQCN_PAIR_PSN, ""),
	  /* tc has no word for IQCN_PAIR_NONE: some evidence is required */
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, FLOWS), .key = "pair",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL),
		    IQCN_NAMES("", IQCN_NAMES_PAIR), .value = "cm|psn|cnp|sport",
		    .help = "weakest evidence of a sender's QP that CNPs rely on") },
	{ IQCN_ROW(FLOWS, "flows", NUMBER, p.flows,
		   1, IQCN_FLOWS_MAX, IQCN_DEFAULT_FLOWS, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, FLOWS), .key = "flows_limit",
		    .help = "maximum number of flows in the table") },
	{ IQCN_ROW(AGE_MS, "age", MS, p.age_ms,
		   1, 86400000, IQCN_DEFAULT_AGE_MS, " ms"),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, FLOWS), .key = "age_ms",
		    .help = "time after which an idle flow expires") },
	{ IQCN_ROW(SNOOP, "snoop", NAME, port.snoop,
		   0, __IQCN_SNOOP_MAX - 1, IQCN_SNOOP_PORT, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, FLOWS), .key = "snoop",
		    IQCN_NAMES(IQCN_NAMES_SNOOP), .value = "port|netns",
		    .shared = "network namespace",
		    .help = "where CNPs of the receivers are captured") },
	{ IQCN_ROW(CNP_DSCP, "cnp-dscp", NUMBER, p.cnp_dscp,
		   0, 63, IQCN_DEFAULT_CNP_DSCP, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "cnp_dscp",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL),
		    .help = "DSCP of generated CNPs") },
	{ IQCN_ROW(CNP_PCP, "cnp-pcp", NUMBER, p.cnp_pcp,
		   0, 7, IQCN_DEFAULT_CNP_PCP, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "cnp_pcp",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL),
		    .help = "802.1p priority of generated CNPs with a VLAN tag") },
	{ IQCN_ROW(CNP_TTL, "cnp-ttl", NUMBER, p.cnp_ttl,
		   1, 255, IQCN_DEFAULT_CNP_TTL, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "cnp_ttl",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL),
		    .help = "TTL or hop limit of generated CNPs") },
	{ IQCN_ROW(CNP_SMAC, "cnp-smac", NAME, p.cnp_smac,
		   0, __IQCN_CNP_SMAC_MAX - 1, IQCN_CNP_SMAC_PORT, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "cnp_smac",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL),
		    IQCN_NAMES("port", "receiver"), .value = "port|receiver",
		    .help = "source MAC of generated CNPs") },
	{ IQCN_ROW(CNP_SPORT, "cnp-sport", NAME, p.cnp_sport,
		   0, __IQCN_CNP_SPORT_MAX - 1, IQCN_CNP_SPORT_LEARNED, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "cnp_sport",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL),
		    IQCN_NAMES("learned", "echo"), .value = "learned|echo",
		    .help = "UDP source port of CNPs; echo: that of the data") },
	{ IQCN_ROW(CNP_RATE_PPS, "cnp-rate", NUMBER, port.cnp_rate_pps,
		   1, IQCN_CNP_RATE_MAX_PPS, 0, " per second"),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "cnp_rate_pps",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL), .shared = "device",
		    .follows = TCA_IQCN_BANDWIDTH_BPS,
		    .help = "CNPs per second that the device may generate") },
	{ IQCN_ROW(CNP_BURST, "cnp-burst", NUMBER, port.cnp_burst,
		   1, 1000000, IQCN_CNP_BURST, ""),
	  IQCN_TEXT(IQCN_ABOUT(NETWORK, SENDING), .key = "cnp_burst",
		    IQCN_NEEDS(NOTIFY, IQCN_NOTIFY_ALL), .shared = "device",
		    .help = "CNPs that the device may generate at once") },
};

#endif /* _IQCN_CONFIG_TABLE_H */
