/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_iqcn: intelligent congestion point for DCQCN (RoCEv2).
 *
 * Netlink interface of the qdisc.  Every parameter is one attribute of
 * fixed size whose unit is in its name.  Numbers are only ever appended.
 */
#ifndef _UAPI_LINUX_IQCN_H
#define _UAPI_LINUX_IQCN_H

#include <linux/types.h>

/**
 * enum tca_iqcn - attributes inside TCA_OPTIONS of the qdisc "iqcn"
 * @TCA_IQCN_UNSPEC: not used
 * @TCA_IQCN_PAD: padding for 64-bit attributes
 * @TCA_IQCN_LIMIT_BYTES: u32, bytes the queue holds before it drops
 * @TCA_IQCN_KMIN_BYTES: u32, depth up to which nothing is marked
 * @TCA_IQCN_KMAX_BYTES: u32, depth above which everything ECT is marked
 * @TCA_IQCN_PMAX: u32, marking probability at Kmax, as a share of U32_MAX
 * @TCA_IQCN_NONECT: u32, &enum iqcn_nonect
 * @TCA_IQCN_NOTIFY: u32, set of &enum iqcn_notify bits, 0 is off
 * @TCA_IQCN_DETECT: u32, set of &enum iqcn_detect bits
 * @TCA_IQCN_T1_NS: u32, ns without a notification after which one is due;
 *	the rate-increase timer of the senders (RP)
 * @TCA_IQCN_WINDOW_NS: u32, ns over which the CE rate of the queue is taken
 * @TCA_IQCN_ENTER_PCT: u32, CE rate in percent of the RoCE rate from which
 *	the queue is congested
 * @TCA_IQCN_EXIT_PCT: u32, CE rate in percent of the RoCE rate down to which
 *	it stays so
 * @TCA_IQCN_BANDWIDTH_BPS: u64, bit/s of the queue's RoCE traffic, 0: measured
 * @TCA_IQCN_PAIR: u32, &enum iqcn_pair_grade, weakest evidence to send on
 * @TCA_IQCN_FLOWS: u32, flows the queue keeps before it evicts the oldest
 * @TCA_IQCN_AGE_MS: u32, ms without a CE packet after which a flow is forgotten
 * @TCA_IQCN_CNP_DSCP: u32, DSCP of the CNPs sent
 * @TCA_IQCN_CNP_PCP: u32, 802.1p priority of the CNPs sent on tagged flows
 * @TCA_IQCN_CNP_TTL: u32, TTL or hop limit of the CNPs sent
 * @TCA_IQCN_CNP_RATE_PPS: u32, CNP/s the port may send; common to all queues
 *	of the device
 * @TCA_IQCN_CNP_BURST: u32, CNPs the port may send at once; common likewise
 * @__TCA_IQCN_MAX: number of attributes, plus one
 */
enum tca_iqcn {
	TCA_IQCN_UNSPEC,
	TCA_IQCN_PAD,
	TCA_IQCN_LIMIT_BYTES,
	TCA_IQCN_KMIN_BYTES,
	TCA_IQCN_KMAX_BYTES,
	TCA_IQCN_PMAX,
	TCA_IQCN_NONECT,
	TCA_IQCN_NOTIFY,
	TCA_IQCN_DETECT,
	TCA_IQCN_T1_NS,
	TCA_IQCN_WINDOW_NS,
	TCA_IQCN_ENTER_PCT,
	TCA_IQCN_EXIT_PCT,
	TCA_IQCN_BANDWIDTH_BPS,
	TCA_IQCN_PAIR,
	TCA_IQCN_FLOWS,
	TCA_IQCN_AGE_MS,
	TCA_IQCN_CNP_DSCP,
	TCA_IQCN_CNP_PCP,
	TCA_IQCN_CNP_TTL,
	TCA_IQCN_CNP_RATE_PPS,
	TCA_IQCN_CNP_BURST,
	__TCA_IQCN_MAX
};

#define TCA_IQCN_MAX (__TCA_IQCN_MAX - 1)

/**
 * enum iqcn_nonect - what happens to a packet that cannot be marked
 * @IQCN_NONECT_PASS: it is queued until the limit
 * @IQCN_NONECT_DROP: it is dropped where an ECT packet would be marked (RED)
 * @__IQCN_NONECT_MAX: number of values
 */
enum iqcn_nonect {
	IQCN_NONECT_PASS,
	IQCN_NONECT_DROP,
	__IQCN_NONECT_MAX
};

/**
 * enum iqcn_notify - ways to tell a sender, as bits
 * @IQCN_NOTIFY_TIMER: a CNP when T1 has passed since the last notification
 */
enum iqcn_notify {
	IQCN_NOTIFY_TIMER	= 1 << 0,
};

#define IQCN_NOTIFY_ALL IQCN_NOTIFY_TIMER

/**
 * enum iqcn_detect - ways to see congestion, as bits
 * @IQCN_DETECT_QUEUE: the rate at which the queue sends CE packets
 * @IQCN_DETECT_DEPTH: the depth of the queue: from above Kmax down to Kmin
 */
enum iqcn_detect {
	IQCN_DETECT_QUEUE	= 1 << 0,
	IQCN_DETECT_DEPTH	= 1 << 1,
};

#define IQCN_DETECT_ALL (IQCN_DETECT_QUEUE | IQCN_DETECT_DEPTH)

/**
 * enum iqcn_pair_grade - evidence for the sender's QP number, weakest first
 * @IQCN_PAIR_NONE: the flow is not paired
 * @IQCN_PAIR_SPORT: both UDP source ports are those the two QP numbers yield
 * @IQCN_PAIR_CNP: a CNP came for the host pair's only unpaired flow
 * @IQCN_PAIR_PSN: the receiver echoed PSNs of the flow to this QP
 * @IQCN_PAIR_CM: both QP numbers were seen while the connection was made
 * @__IQCN_PAIR_MAX: number of grades
 */
enum iqcn_pair_grade {
	IQCN_PAIR_NONE,
	IQCN_PAIR_SPORT,
	IQCN_PAIR_CNP,
	IQCN_PAIR_PSN,
	IQCN_PAIR_CM,
	__IQCN_PAIR_MAX
};

/**
 * struct tc_iqcn_xstats - counters of a queue (TCA_STATS_APP)
 * @ecn_mark: packets marked CE by this queue
 * @ce_in: packets that were CE when they came
 * @not_ect: packets that were to be marked but are not ECT (queued or dropped)
 * @not_ect_drop: those of @not_ect that were dropped
 * @unmarkable: ECT packets whose header could not be written
 * @drop_overlimit: packets dropped because the queue was full
 * @ce_sent: RoCEv2 data packets that left with CE; of GSO, each segment
 * @cnp_seen: CNPs of receivers for flows of this queue
 * @cnp_sent: CNPs this queue sent
 * @cnp_budget: CNPs that were due but over the port's budget
 * @cnp_unpaired: CNPs that were due but the flow's pairing was too weak
 * @cnp_error: CNPs that were due but could not be built or delivered
 * @paired: pairings made
 * @contradicted: pairings dropped because other evidence disagreed
 * @flow_new: flows made
 * @flow_evicted: flows forgotten to make room
 * @flow_aged: flows forgotten for want of CE packets
 * @flow_full: CE packets for which no flow could be made
 * @malformed: RoCE-like CE packets that do not parse
 * @state_changes: changes of the queue's congestion state
 * @port_cnp_unmatched: CNPs on the port that belong to no flow (whole port)
 * @port_malformed: RoCE-like packets from the port that do not parse (whole
 *	port)
 * @rate_bps: CE rate of the last window
 * @roce_bps: RoCE rate that it is compared with
 * @state_since_ns: ns since the congestion state changed last, 0: never
 * @flows: flows now
 * @flows_paired: those whose pairing is good enough to send on
 * @flows_congested: those in congestion
 * @congested: detectors (&enum iqcn_detect) that say congested
 * @depth_peak_bytes: highest depth seen above Kmin
 * @pad: zero
 */
struct tc_iqcn_xstats {
	__u64	ecn_mark;
	__u64	ce_in;
	__u64	not_ect;
	__u64	not_ect_drop;
	__u64	unmarkable;
	__u64	drop_overlimit;
	__u64	ce_sent;
	__u64	cnp_seen;
	__u64	cnp_sent;
	__u64	cnp_budget;
	__u64	cnp_unpaired;
	__u64	cnp_error;
	__u64	paired;
	__u64	contradicted;
	__u64	flow_new;
	__u64	flow_evicted;
	__u64	flow_aged;
	__u64	flow_full;
	__u64	malformed;
	__u64	state_changes;
	__u64	port_cnp_unmatched;
	__u64	port_malformed;
	__u64	rate_bps;
	__u64	roce_bps;
	__u64	state_since_ns;
	__u32	flows;
	__u32	flows_paired;
	__u32	flows_congested;
	__u32	congested;
	__u32	depth_peak_bytes;
	__u32	pad;
};

#endif /* _UAPI_LINUX_IQCN_H */
