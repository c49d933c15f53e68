/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bounds, defaults and names of parameters, most of which are used outside
 * config_table.h, too.  Shared with user space.
 */
#ifndef _IQCN_CONFIG_DEFAULTS_H
#define _IQCN_CONFIG_DEFAULTS_H

#include <linux/iqcn.h>

#define IQCN_U32_MAX		0xffffffffU

#define IQCN_BANDWIDTH_MIN_BPS	1000000ULL
#define IQCN_BANDWIDTH_MAX_BPS	1000000000000000ULL
#define IQCN_GAIN_MAX		100000000
#define IQCN_CNP_RATE_MAX_PPS	1000000000
#define IQCN_SUPPLEMENT_LIMIT_PPS 1000000
/* a round trip of a second */
#define IQCN_FIBER_MAX_M	100000000
/* the interval of a fixed filter is at most a round trip of the fiber or this
 * time, whichever is longer
 */
#define IQCN_FILTER_MIN_RTT_NS	1000000
#define IQCN_FILTER_N_MAX	1000000
#define IQCN_TIME_MIN_NS	10000
/* The minimum is higher in a user namespace, because the work of a timer is not
 * charged to the user's cgroup
 */
#define IQCN_TIME_USER_MIN_NS	100000
#define IQCN_TIME_MAX_NS	1000000000U
#define IQCN_FLOWS_MAX		1048576

#define IQCN_DEFAULT_PMAX	(IQCN_U32_MAX / 5)
/* three quarters of ConnectX's rate-increase timer, so that the CNP arrives
 * first
 */
#define IQCN_DEFAULT_T1_NS	225000
#define IQCN_DEFAULT_WINDOW_NS	1000000
#define IQCN_DEFAULT_ENTER_PCT	90
#define IQCN_DEFAULT_EXIT_PCT	60
/* the best combination in the measurements of Documentation/methods.rst */
#define IQCN_DEFAULT_DETECT	(IQCN_DETECT_QUEUE | IQCN_DETECT_DEPTH)
#define IQCN_DEFAULT_NOTIFY	IQCN_NOTIFY_PI
#define IQCN_DEFAULT_TRIGGER	IQCN_TRIGGER_TIMER
#define IQCN_DEFAULT_BASE	IQCN_BASE_CNP
/* the patent's run of five packets, and its hundred packets with differences of
 * 2
 */
#define IQCN_DEFAULT_RUN_ENTER	5
#define IQCN_DEFAULT_RUN_EXIT	2
#define IQCN_DEFAULT_SPAN_PACKETS 100
#define IQCN_DEFAULT_SPAN_ENTER	3
#define IQCN_DEFAULT_SPAN_EXIT	10
#define IQCN_DEFAULT_UPDATE_NS	100000
/* min-gap is t1 if t1 is less */
#define IQCN_DEFAULT_MIN_GAP_NS	50000
#define IQCN_DEFAULT_FLOWS	65536
#define IQCN_DEFAULT_AGE_MS	10000
#define IQCN_DEFAULT_PFC_PRIO	0x08
#define IQCN_DEFAULT_SETTLE_NS	20000
/* pfc-max is 100 times settle, but at least the longest pause of one frame */
#define IQCN_SETTLES_PER_MAX	100
#define IQCN_PAUSE_MAX_BITS	(65535ULL * 512)
/* the lowest nonzero rate of the patent application, and its cap
 * (algo/supplement.h)
 */
#define IQCN_DEFAULT_SUPPLEMENT_PPS 500
#define IQCN_DEFAULT_SUPPLEMENT_MAX_PPS 2500
#define IQCN_DEFAULT_CNP_DSCP	48
#define IQCN_DEFAULT_CNP_PCP	6
#define IQCN_DEFAULT_CNP_TTL	64
#define IQCN_CNP_BURST		1024

/* Defaults that scale with the speed of the link, see params.h */
#define IQCN_REF_MBPS		25000
#define IQCN_REF_KMIN_BYTES	100000
#define IQCN_KMAX_PER_KMIN	4
#define IQCN_LIMIT_PER_KMIN	160
#define IQCN_QREF_PER_KMIN	3
#define IQCN_PI_KMIN		4
#define IQCN_REF_ALPHA		2000
#define IQCN_REF_BETA		100000
/* Lower bound of the default Kmin, in the link's largest packets */
#define IQCN_KMIN_PACKETS	2
/* Speed of a link that does not report one */
#define IQCN_DEFAULT_MBPS	10000

/* Default scans per T1: a CNP is at most a quarter of T1 late, or as late as
 * the shortest period that the user may set if that is longer
 */
#define IQCN_PERIODS_PER_T1	4
/* Maximum polls of a sparse flow per T1.  One is not enough if senders increase
 * their rate more than once per T1.
 */
#define IQCN_POLLS_MAX		4U
/* CNPs may use a quarter of the bandwidth.  An IPv4 CNP takes 98 bytes on
 * the wire: headers, reserved bytes, ICRC, and Ethernet's header, FCS, preamble
 * and gap.  A sender that speeds up every 300 us needs a CNP as often, no
 * matter how slow its flow is, so this share limits the flows per Gb/s
 * (Documentation/back-to-sender.rst).
 */
#define IQCN_CNP_WIRE_BYTES	98
#define IQCN_CNP_SHARE		4

/* Names of values, by value or by bit */
#define IQCN_NAMES_NOTIFY	"timer", "wreb", "pi", "grant", "supplement"
#define IQCN_NAMES_CNP_FILTER	"off", "auto", "told"
#define IQCN_NAMES_DETECT	"queue", "depth", "run", "span"
#define IQCN_NAMES_SNOOP	"port", "netns"
#define IQCN_NAMES_PFC_STATE	"clear", "congested", "undetermined", "paused"
#define IQCN_NAMES_PFC_REASON	"none", "pause", "clear", "rate", "unsure", \
				"grew", "drained", "limit", "reset"
#define IQCN_NAMES_PAIR		"sport", "cnp", "psn", "cm"

#endif /* _IQCN_CONFIG_DEFAULTS_H */
