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
 * @TCA_IQCN_AGE_MS: u32, ms without a packet of a flow that is CE, or comes to a
 *	deep queue, after which it is forgotten
 * @TCA_IQCN_CNP_DSCP: u32, DSCP of the CNPs sent
 * @TCA_IQCN_CNP_PCP: u32, 802.1p priority of the CNPs sent on tagged flows
 * @TCA_IQCN_CNP_TTL: u32, TTL or hop limit of the CNPs sent
 * @TCA_IQCN_CNP_RATE_PPS: u32, CNP/s the port may send; common to all queues
 *	of the device
 * @TCA_IQCN_CNP_BURST: u32, CNPs the port may send at once; common likewise
 * @TCA_IQCN_RUN_ENTER: u32, N: CE packets of a flow with consecutive PSNs from
 *	which it is congested
 * @TCA_IQCN_RUN_EXIT: u32, N': it ceases to be when no more than that many
 *	are consecutive
 * @TCA_IQCN_SPAN_PACKETS: u32, M: packets of a flow over which the differences
 *	of its CE packets' PSNs are taken
 * @TCA_IQCN_SPAN_ENTER: u32, G: it is congested if all of them are less
 * @TCA_IQCN_SPAN_EXIT: u32, G': it ceases to be at one that is not less
 * @TCA_IQCN_TRIGGER: u32, &enum iqcn_trigger
 * @TCA_IQCN_PERIOD_NS: u32, ns between two scans for flows that are due
 * @TCA_IQCN_BASE: u32, &enum iqcn_base
 * @TCA_IQCN_DELAY_NS: u32, T2: ns that a CNP is held back once it is due;
 *	IQCN_DELAY_AUTO: as long as the flow's CNPs take to come back
 * @TCA_IQCN_SAMPLE: u32, one CE packet in so many is looked at
 * @TCA_IQCN_SAMPLE_GROUP: u32, psample group that those packets are copied to,
 *	IQCN_SAMPLE_GROUP_NONE: none
 * @TCA_IQCN_SNOOP: u32, &enum iqcn_snoop; common to all queues of the namespace
 * @TCA_IQCN_MEASURE: u32, set of &enum iqcn_measure bits: what
 *	IQCN_NOTIFY_WREB goes by; of several the largest
 * @TCA_IQCN_PROFILE: array of &struct tc_iqcn_point, no more than
 *	IQCN_POINTS_MAX: probability of IQCN_NOTIFY_WREB; empty: that of marking
 * @TCA_IQCN_QREF_BYTES: u32, depth that IQCN_NOTIFY_PI aims at
 * @TCA_IQCN_UPDATE_NS: u32, ns between two steps of its controller
 * @TCA_IQCN_ALPHA: u32, its integral gain: CNPs that a step adds to a round of
 *	all flows, per 10^9 bytes above qref
 * @TCA_IQCN_BETA: u32, its proportional gain: per 10^9 bytes of growth
 * @TCA_IQCN_MIN_GAP_NS: u32, ns that two CNPs of ours to a flow are apart
 * @TCA_IQCN_TELEMETRY: u32, 1: the CNPs carry &struct iqcn_telemetry
 * @TCA_IQCN_CNP_SMAC: u32, &enum iqcn_cnp_smac
 * @TCA_IQCN_MARK_ON: u32, &enum iqcn_mark_on
 * @TCA_IQCN_CE_IN: u32, &enum iqcn_ce_in
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
	TCA_IQCN_RUN_ENTER,
	TCA_IQCN_RUN_EXIT,
	TCA_IQCN_SPAN_PACKETS,
	TCA_IQCN_SPAN_ENTER,
	TCA_IQCN_SPAN_EXIT,
	TCA_IQCN_TRIGGER,
	TCA_IQCN_PERIOD_NS,
	TCA_IQCN_BASE,
	TCA_IQCN_DELAY_NS,
	TCA_IQCN_SAMPLE,
	TCA_IQCN_SAMPLE_GROUP,
	TCA_IQCN_SNOOP,
	TCA_IQCN_MEASURE,
	TCA_IQCN_PROFILE,
	TCA_IQCN_QREF_BYTES,
	TCA_IQCN_UPDATE_NS,
	TCA_IQCN_ALPHA,
	TCA_IQCN_BETA,
	TCA_IQCN_MIN_GAP_NS,
	TCA_IQCN_TELEMETRY,
	TCA_IQCN_CNP_SMAC,
	TCA_IQCN_MARK_ON,
	TCA_IQCN_CE_IN,
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
 * enum iqcn_mark_on - when the marking curve is applied to a packet
 * @IQCN_MARK_ON_ENQUEUE: when it arrives, by the depth that it finds
 * @IQCN_MARK_ON_DEQUEUE: when it leaves, by the depth that it leaves behind: the
 *	receiver sees the mark earlier by the time that the packet waits.  The default
 * @__IQCN_MARK_ON_MAX: number of values
 */
enum iqcn_mark_on {
	IQCN_MARK_ON_ENQUEUE,
	IQCN_MARK_ON_DEQUEUE,
	__IQCN_MARK_ON_MAX
};

/**
 * enum iqcn_ce_in - what a packet that arrives with CE means to IQCN_NOTIFY_WREB and
 *	IQCN_NOTIFY_PI
 * @IQCN_CE_IN_NOTIFY: nothing: it may cause a CNP like any other, because the switch
 *	that marked it may have notified nobody
 * @IQCN_CE_IN_SILENT: its sender was notified: it causes none unless it is dropped
 * @__IQCN_CE_IN_MAX: number of values
 */
enum iqcn_ce_in {
	IQCN_CE_IN_NOTIFY,
	IQCN_CE_IN_SILENT,
	__IQCN_CE_IN_MAX
};

/**
 * enum iqcn_cnp_smac - Ethernet source address of generated CNPs
 * @IQCN_CNP_SMAC_PORT: a locally administered address of the port's own
 *	(IQCN_A_PORT_CNP_SMAC), which a bridge may learn without harm
 * @IQCN_CNP_SMAC_RECEIVER: the receiver's; a bridge that learns moves the
 *	receiver to this port, so only where addresses are not learned
 * @__IQCN_CNP_SMAC_MAX: number of values
 */
enum iqcn_cnp_smac {
	IQCN_CNP_SMAC_PORT,
	IQCN_CNP_SMAC_RECEIVER,
	__IQCN_CNP_SMAC_MAX
};

/**
 * enum iqcn_notify - ways to tell a sender, as bits
 * @IQCN_NOTIFY_TIMER: a CNP when T1 has passed since the last notification
 * @IQCN_NOTIFY_WREB: a CNP when a packet arrives, with a probability that
 *	follows how congested the queue is
 * @IQCN_NOTIFY_PI: likewise, with a probability set by a PI controller, and for
 *	flows whose packets are further apart than T1 every T1
 *
 * With either of the last two a packet that is dropped causes a CNP.
 */
enum iqcn_notify {
	IQCN_NOTIFY_TIMER	= 1 << 0,
	IQCN_NOTIFY_WREB	= 1 << 1,
	IQCN_NOTIFY_PI		= 1 << 2,
};

#define IQCN_NOTIFY_BTS (IQCN_NOTIFY_WREB | IQCN_NOTIFY_PI)
#define IQCN_NOTIFY_ALL (IQCN_NOTIFY_TIMER | IQCN_NOTIFY_BTS)

/**
 * enum iqcn_measure - how congested a queue is, in bytes, as bits
 * @IQCN_MEASURE_DEPTH: its depth
 * @IQCN_MEASURE_GRADIENT: what it has grown by in a window
 * @IQCN_MEASURE_DELAY: what its bandwidth carries in the time that a packet is
 *	estimated to wait
 */
enum iqcn_measure {
	IQCN_MEASURE_DEPTH	= 1 << 0,
	IQCN_MEASURE_GRADIENT	= 1 << 1,
	IQCN_MEASURE_DELAY	= 1 << 2,
};

#define IQCN_MEASURE_ALL (IQCN_MEASURE_DEPTH | IQCN_MEASURE_GRADIENT | \
			  IQCN_MEASURE_DELAY)

/* Points of a profile */
#define IQCN_POINTS_MAX 8

/**
 * struct tc_iqcn_point - of a profile, which is straight between two of them
 * @bytes: how congested the queue is; more than that of the point before
 * @prob: probability, as a share of U32_MAX; not less than that of the point
 *	before.  Below the first point it is 0, above the last one that of it.
 */
struct tc_iqcn_point {
	__u32	bytes;
	__u32	prob;
};

/**
 * enum iqcn_cause - why a CNP was sent
 * @IQCN_CAUSE_NONE: not used
 * @IQCN_CAUSE_TIMER: T1 has passed (IQCN_NOTIFY_TIMER)
 * @IQCN_CAUSE_WREB: a packet arrived (IQCN_NOTIFY_WREB)
 * @IQCN_CAUSE_PI: a packet arrived (IQCN_NOTIFY_PI)
 * @IQCN_CAUSE_HOLD: no packet arrived for T1 (IQCN_NOTIFY_PI)
 * @IQCN_CAUSE_DROP: a packet was dropped
 * @__IQCN_CAUSE_MAX: number of values
 */
enum iqcn_cause {
	IQCN_CAUSE_NONE,
	IQCN_CAUSE_TIMER,
	IQCN_CAUSE_WREB,
	IQCN_CAUSE_PI,
	IQCN_CAUSE_HOLD,
	IQCN_CAUSE_DROP,
	__IQCN_CAUSE_MAX
};

#define IQCN_TELEMETRY_VERSION	1
/* bits of @version_flags in struct iqcn_telemetry */
#define IQCN_TELEMETRY_WAS_CE	0x1
#define IQCN_TELEMETRY_BRIEF	0x2

/**
 * struct iqcn_telemetry - in the 16 reserved bytes of a CNP of ours
 * @version_flags: bits 7-4: IQCN_TELEMETRY_VERSION; bit 0,
 *	IQCN_TELEMETRY_WAS_CE: the packet that caused it was CE when it came, or
 *	when it was dropped from the queue, so whoever marked it may have told
 *	the sender already; bit 1,
 *	IQCN_TELEMETRY_BRIEF: nothing but this and @cause is filled in, as in
 *	a CNP for IQCN_CAUSE_DROP while telemetry is off; bits 3-2: 0
 * @cause: &enum iqcn_cause
 * @depth: depth of the queue as a share of its limit, 0xffff: full
 * @flows: flows that were active in the last milliseconds, 0xffff: or more
 * @port_4k: depth of all queues of the port, in 4,096 bytes, 0xffff: or more
 * @gradient: growth of the queue in bytes per us, two's complement, saturated
 * @tx_256: bytes that the queue has sent, in 256 bytes, modulo 2^24
 * @time_us: when all of this was so, in us of the box's clock, modulo 2^24
 *
 * All in network byte order.  All zero in a CNP without: the version tells.
 */
struct iqcn_telemetry {
	__u8	version_flags;
	__u8	cause;
	__be16	depth;
	__be16	flows;
	__be16	port_4k;
	__be16	gradient;
	__u8	tx_256[3];
	__u8	time_us[3];
};

/**
 * enum iqcn_detect - ways to see congestion, as bits
 * @IQCN_DETECT_QUEUE: the rate at which the queue sends CE packets
 * @IQCN_DETECT_DEPTH: the depth of the queue: from above Kmax down to Kmin
 * @IQCN_DETECT_RUN: of a flow: CE packets with consecutive PSNs
 * @IQCN_DETECT_SPAN: of a flow: small differences of its CE packets' PSNs
 *
 * Those of a flow are asked while those of the queue say that it is clear.
 */
enum iqcn_detect {
	IQCN_DETECT_QUEUE	= 1 << 0,
	IQCN_DETECT_DEPTH	= 1 << 1,
	IQCN_DETECT_RUN		= 1 << 2,
	IQCN_DETECT_SPAN	= 1 << 3,
};

#define IQCN_DETECT_OF_FLOW (IQCN_DETECT_RUN | IQCN_DETECT_SPAN)
#define IQCN_DETECT_ALL (IQCN_DETECT_QUEUE | IQCN_DETECT_DEPTH | \
			 IQCN_DETECT_OF_FLOW)

/**
 * enum iqcn_reason - why a queue or a flow is congested, or no longer is
 * @IQCN_REASON_NONE: its state has never changed
 * @IQCN_REASON_QUEUE: the CE rate of the queue
 * @IQCN_REASON_DEPTH: the depth of the queue
 * @IQCN_REASON_RUN: consecutive PSNs of CE packets
 * @IQCN_REASON_SPAN: differences of PSNs of CE packets
 * @IQCN_REASON_QUIET: no CE packet has left for a while
 * @IQCN_REASON_RESET: the queue was reset, or has other parameters
 * @__IQCN_REASON_MAX: number of values
 */
enum iqcn_reason {
	IQCN_REASON_NONE,
	IQCN_REASON_QUEUE,
	IQCN_REASON_DEPTH,
	IQCN_REASON_RUN,
	IQCN_REASON_SPAN,
	IQCN_REASON_QUIET,
	IQCN_REASON_RESET,
	__IQCN_REASON_MAX
};

/**
 * enum iqcn_trigger - what finds out that a CNP is due
 * @IQCN_TRIGGER_TIMER: a timer, at the flow's deadline
 * @IQCN_TRIGGER_PERIOD: a scan once per period
 * @IQCN_TRIGGER_GAP: the flow's next CE packet
 * @__IQCN_TRIGGER_MAX: number of values
 */
enum iqcn_trigger {
	IQCN_TRIGGER_TIMER,
	IQCN_TRIGGER_PERIOD,
	IQCN_TRIGGER_GAP,
	__IQCN_TRIGGER_MAX
};

/**
 * enum iqcn_base - what T1 is counted from
 * @IQCN_BASE_CE: the flow's last CE packet, or the last CNP of ours
 * @IQCN_BASE_CNP: its last CNP, of the receiver or of ours
 * @IQCN_BASE_BOTH: whatever of these was later
 * @__IQCN_BASE_MAX: number of values
 */
enum iqcn_base {
	IQCN_BASE_CE,
	IQCN_BASE_CNP,
	IQCN_BASE_BOTH,
	__IQCN_BASE_MAX
};

/**
 * enum iqcn_snoop - where the receivers' CNPs are looked for
 * @IQCN_SNOOP_PORT: among what comes in on the device
 * @IQCN_SNOOP_NETNS: among what is bridged or routed in its namespace
 * @__IQCN_SNOOP_MAX: number of values
 */
enum iqcn_snoop {
	IQCN_SNOOP_PORT,
	IQCN_SNOOP_NETNS,
	__IQCN_SNOOP_MAX
};

#define IQCN_DELAY_AUTO		0xffffffff
#define IQCN_SAMPLE_GROUP_NONE	0xffffffff

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
 * @cnp_error: CNPs that were due but could not be kept, built or delivered
 * @paired: pairings made
 * @contradicted: pairings dropped because other evidence disagreed
 * @flow_new: flows made
 * @flow_evicted: flows forgotten to make room, or for want of memory
 * @flow_aged: flows forgotten for want of packets
 * @flow_full: packets for which no flow could be made, or no detectors of its own
 * @malformed: RoCE-like CE packets that do not parse
 * @state_changes: changes of the queue's congestion state
 * @port_cnp_unmatched: CNPs on the port that belong to no flow (whole port;
 *	IQCN_SNOOP_NETNS: whole namespace)
 * @port_malformed: RoCE-like packets from the port that do not parse (likewise)
 * @rate_bps: CE rate of the last window
 * @roce_bps: RoCE rate that it is compared with
 * @state_since_ns: ns since the congestion state changed last, 0: never
 * @flows: flows now
 * @flows_paired: those whose pairing is good enough to send on
 * @flows_congested: those in congestion: all while the queue is
 * @congested: detectors (&enum iqcn_detect) that say the queue is congested
 * @depth_peak_bytes: highest depth seen above Kmin
 * @state_reason: &enum iqcn_reason of the queue's last change
 * @ce_sampled: those of @ce_sent that were looked at
 * @cnp_delayed: CNPs that were due and held back
 * @cnp_cancelled: those of @cnp_delayed that were not sent, for the receiver's
 *	came, or the congestion ended
 * @flow_state_changes: changes of congestion states of single flows
 * @cnp_wreb: those of @cnp_sent for IQCN_CAUSE_WREB
 * @cnp_pi: likewise for IQCN_CAUSE_PI
 * @cnp_hold: likewise for IQCN_CAUSE_HOLD
 * @cnp_drop: likewise for IQCN_CAUSE_DROP
 * @cnp_gap: CNPs that were due but too soon after another to the same flow
 * @bts_mark: those of @ecn_mark that were marked because they caused a CNP
 * @bts_prob: probability that a packet causes one, as a share of U32_MAX
 * @flows_active: flows that were active in the last milliseconds
 * @sample_lost: sampled packets that were not copied to the psample group because
 *	too many waited
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
	__u32	state_reason;
	__u64	ce_sampled;
	__u64	cnp_delayed;
	__u64	cnp_cancelled;
	__u64	flow_state_changes;
	__u64	cnp_wreb;
	__u64	cnp_pi;
	__u64	cnp_hold;
	__u64	cnp_drop;
	__u64	cnp_gap;
	__u64	bts_mark;
	__u32	bts_prob;
	__u32	flows_active;
	__u64	sample_lost;
};

#endif /* _UAPI_LINUX_IQCN_H */
