/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_iqcn: intelligent congestion point for DCQCN (RoCEv2).
 *
 * Netlink interface of the qdisc.  Each parameter is one attribute, whose name
 * ends in the unit, if there is one.  New attributes are only ever appended.
 */
#ifndef _UAPI_LINUX_IQCN_H
#define _UAPI_LINUX_IQCN_H

#include <linux/types.h>

/**
 * enum tca_iqcn - attributes inside TCA_OPTIONS of the qdisc "iqcn"
 * @TCA_IQCN_UNSPEC: not used
 * @TCA_IQCN_PAD: padding for 64-bit attributes
 * @TCA_IQCN_LIMIT_BYTES: u32, bytes that the queue holds before it drops
 * @TCA_IQCN_KMIN_BYTES: u32, depth up to which no packet is marked
 * @TCA_IQCN_KMAX_BYTES: u32, depth above which every ECT packet is marked
 * @TCA_IQCN_PMAX: u32, marking probability at Kmax, as a share of U32_MAX
 * @TCA_IQCN_NONECT: u32, &enum iqcn_nonect
 * @TCA_IQCN_NOTIFY: u32, set of &enum iqcn_notify bits, 0: off
 * @TCA_IQCN_DETECT: u32, set of &enum iqcn_detect bits
 * @TCA_IQCN_T1_NS: u32, T1: ns without a CNP after which the box sends one, and
 *	the interval at which IQCN_NOTIFY_PI polls sparse flows; should be less
 *	than the rate-increase interval of the senders (RP)
 * @TCA_IQCN_WINDOW_NS: u32, ns over which the CE rate of the queue is measured
 * @TCA_IQCN_ENTER_PCT: u32, CE rate in percent of the RoCE rate from which the
 *	queue is congested
 * @TCA_IQCN_EXIT_PCT: u32, CE rate in percent of the RoCE rate at or below
 *	which the queue is no longer congested
 * @TCA_IQCN_BANDWIDTH_BPS: u64, rate of the queue's RoCE traffic in bit/s,
 *	0: measured
 * @TCA_IQCN_PAIR: u32, &enum iqcn_pair_grade, weakest evidence for the sender
 *	that suffices for a CNP
 * @TCA_IQCN_FLOWS: u32, flows that the queue keeps before it evicts some
 * @TCA_IQCN_AGE_MS: u32, ms after which an idle flow expires; only packets that
 *	are CE or arrive at a deep queue keep a flow from being idle
 * @TCA_IQCN_CNP_DSCP: u32, DSCP of generated CNPs
 * @TCA_IQCN_CNP_PCP: u32, 802.1p priority of CNPs generated for tagged flows
 * @TCA_IQCN_CNP_TTL: u32, TTL or hop limit of generated CNPs
 * @TCA_IQCN_CNP_RATE_PPS: u32, CNPs per second that the port may send; shared
 *	by all queues of the device
 * @TCA_IQCN_CNP_BURST: u32, CNPs that the port may send at once; shared by all
 *	queues of the device
 * @TCA_IQCN_RUN_ENTER: u32, N: a flow becomes congested after N CE packets with
 *	consecutive PSNs
 * @TCA_IQCN_RUN_EXIT: u32, N': a flow stops being congested when a run of at
 *	most this many consecutive PSNs ends
 * @TCA_IQCN_SPAN_PACKETS: u32, M: number of packets of a flow over which the
 *	PSNs of CE packets are compared
 * @TCA_IQCN_SPAN_ENTER: u32, G: a flow is congested if all differences are less
 *	than G
 * @TCA_IQCN_SPAN_EXIT: u32, G': a flow stops being congested at a difference
 *	of G' or more
 * @TCA_IQCN_TRIGGER: u32, &enum iqcn_trigger
 * @TCA_IQCN_PERIOD_NS: u32, ns between two scans of IQCN_TRIGGER_PERIOD
 * @TCA_IQCN_BASE: u32, &enum iqcn_base
 * @TCA_IQCN_DELAY_NS: u32, T2: ns by which a CNP is deferred when it is due;
 *	IQCN_DELAY_AUTO: the time from a CE packet of the flow to its CNP
 * @TCA_IQCN_SAMPLE: u32, N: one CE packet in N is sampled
 * @TCA_IQCN_SAMPLE_GROUP: u32, psample group that gets copies of the sampled
 *	packets, IQCN_SAMPLE_GROUP_NONE: none
 * @TCA_IQCN_SNOOP: u32, &enum iqcn_snoop; shared by all queues of the namespace
 * @TCA_IQCN_MEASURE: u32, set of &enum iqcn_measure bits: input of
 *	IQCN_NOTIFY_WREB; if several are set, the largest counts
 * @TCA_IQCN_PROFILE: array of at most IQCN_POINTS_MAX &struct tc_iqcn_point:
 *	probability of IQCN_NOTIFY_WREB; empty: the marking probability
 * @TCA_IQCN_QREF_BYTES: u32, depth at which IQCN_NOTIFY_PI keeps the queue, 0:
 *	as low a depth as the load permits
 * @TCA_IQCN_UPDATE_NS: u32, ns between two steps of the PI controller
 * @TCA_IQCN_ALPHA: u32, integral gain of the PI controller: CNPs that a step
 *	adds to a round of all flows, per 10^9 bytes above the reference depth
 * @TCA_IQCN_BETA: u32, proportional gain: CNPs that a step adds to a round of
 *	all flows, per 10^9 bytes of growth
 * @TCA_IQCN_MIN_GAP_NS: u32, minimum interval in ns between two generated CNPs
 *	to a flow
 * @TCA_IQCN_TELEMETRY: u32, 1: generated CNPs carry &struct iqcn_telemetry
 * @TCA_IQCN_CNP_SMAC: u32, &enum iqcn_cnp_smac
 * @TCA_IQCN_MARK_ON: u32, &enum iqcn_mark_on
 * @TCA_IQCN_CE_IN: u32, &enum iqcn_ce_in
 * @TCA_IQCN_PFC: u32, &enum iqcn_pfc_source
 * @TCA_IQCN_PFC_PRIO: u32, set of PFC classes that the queue carries, as bits
 * @TCA_IQCN_THRESHOLD_BYTES: u32, a queue below this depth is not congested
 *	after a pause; above it, IQCN_NOTIFY_GRANT sends CNPs
 * @TCA_IQCN_SETTLE_NS: u32, ns between two comparisons of the depth of an
 *	undetermined queue
 * @TCA_IQCN_PFC_MAX_NS: u32, longest time in ns for which pauses keep a queue
 *	from marking and notifying
 * @TCA_IQCN_BASE_RTT_NS: u32, round-trip time of the senders without
 *	congestion, for IQCN_NOTIFY_GRANT; IQCN_BASE_RTT_NONE: not known
 * @TCA_IQCN_GRANT: u32, &enum iqcn_grant_by
 * @TCA_IQCN_FIBER_M: u32, length of the long-haul link in m, 0: none; shared
 *	by all queues of the device
 * @TCA_IQCN_FILTER: struct tc_iqcn_cnp_filter, the filter of the receivers'
 *	CNPs that the device receives; shared by all queues of the device
 * @TCA_IQCN_FILTER_BY: u32, &enum iqcn_cnp_filter_by; shared by all queues of
 *	the device
 * @TCA_IQCN_SUPPLEMENT_PPS: u32, CNPs per second of IQCN_NOTIFY_SUPPLEMENT
 * @TCA_IQCN_SUPPLEMENT_MAX_PPS: u32, upper limit of the rate of
 *	IQCN_NOTIFY_SUPPLEMENT
 * @TCA_IQCN_CNP_SPORT: u32, &enum iqcn_cnp_sport
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
	TCA_IQCN_PFC,
	TCA_IQCN_PFC_PRIO,
	TCA_IQCN_THRESHOLD_BYTES,
	TCA_IQCN_SETTLE_NS,
	TCA_IQCN_PFC_MAX_NS,
	TCA_IQCN_BASE_RTT_NS,
	TCA_IQCN_GRANT,
	TCA_IQCN_FIBER_M,
	TCA_IQCN_FILTER,
	TCA_IQCN_FILTER_BY,
	TCA_IQCN_SUPPLEMENT_PPS,
	TCA_IQCN_SUPPLEMENT_MAX_PPS,
	TCA_IQCN_CNP_SPORT,
	__TCA_IQCN_MAX
};

#define TCA_IQCN_MAX (__TCA_IQCN_MAX - 1)

/**
 * enum iqcn_nonect - treatment of a not-ECT packet that would be marked
 * @IQCN_NONECT_PASS: queue the packet, up to the limit
 * @IQCN_NONECT_DROP: drop the packet (RED)
 * @__IQCN_NONECT_MAX: number of values
 */
enum iqcn_nonect {
	IQCN_NONECT_PASS,
	IQCN_NONECT_DROP,
	__IQCN_NONECT_MAX
};

/**
 * enum iqcn_mark_on - when the marking curve is applied to a packet
 * @IQCN_MARK_ON_ENQUEUE: on arrival, by the depth that the packet finds
 * @IQCN_MARK_ON_DEQUEUE: on departure, by the depth without the packet, so that
 *	no mark waits in the queue; the default
 * @__IQCN_MARK_ON_MAX: number of values
 */
enum iqcn_mark_on {
	IQCN_MARK_ON_ENQUEUE,
	IQCN_MARK_ON_DEQUEUE,
	__IQCN_MARK_ON_MAX
};

/**
 * enum iqcn_ce_in - whether a packet that arrives with CE may cause a CNP, with
 *	IQCN_CAUSE_PFC or by any of &enum iqcn_notify but IQCN_NOTIFY_TIMER
 * @IQCN_CE_IN_NOTIFY: the packet may cause a CNP like any other, because the
 *	switch that marked it may have notified nobody
 * @IQCN_CE_IN_SILENT: the box that marked the packet has notified its sender,
 *	so the packet causes no CNP unless it is dropped
 * @__IQCN_CE_IN_MAX: number of values
 */
enum iqcn_ce_in {
	IQCN_CE_IN_NOTIFY,
	IQCN_CE_IN_SILENT,
	__IQCN_CE_IN_MAX
};

/**
 * enum iqcn_grant_by - how IQCN_NOTIFY_GRANT divides the bandwidth-delay
 *	product of the link among the flows
 * @IQCN_GRANT_SHARE: in proportion to the queued packets of each flow
 * @IQCN_GRANT_EQUAL: equally
 * @__IQCN_GRANT_MAX: number of values
 */
enum iqcn_grant_by {
	IQCN_GRANT_SHARE,
	IQCN_GRANT_EQUAL,
	__IQCN_GRANT_MAX
};

/**
 * enum iqcn_cnp_filter - which CNPs of the receivers a port drops
 * @IQCN_CNP_FILTER_OFF: none
 * @IQCN_CNP_FILTER_AUTO: all but N per round trip of the fiber; N follows from
 *	the incast ratio of the port
 * @IQCN_CNP_FILTER_TOLD: those for flows that the box itself has notified
 *	within the last round trip of the fiber
 * @IQCN_CNP_FILTER_FIXED: all but a fixed number in each fixed interval
 * @__IQCN_CNP_FILTER_MAX: number of values
 *
 * A CNP that the box has generated is never dropped.
 */
enum iqcn_cnp_filter {
	IQCN_CNP_FILTER_OFF,
	IQCN_CNP_FILTER_AUTO,
	IQCN_CNP_FILTER_TOLD,
	IQCN_CNP_FILTER_FIXED,
	__IQCN_CNP_FILTER_MAX
};

/**
 * enum iqcn_cnp_filter_by - which CNPs a filter counts together
 * @IQCN_CNP_FILTER_BY_FLOW: those for the same QP
 * @IQCN_CNP_FILTER_BY_PORT: all that the port receives
 * @__IQCN_CNP_FILTER_BY_MAX: number of values
 */
enum iqcn_cnp_filter_by {
	IQCN_CNP_FILTER_BY_FLOW,
	IQCN_CNP_FILTER_BY_PORT,
	__IQCN_CNP_FILTER_BY_MAX
};

/**
 * struct tc_iqcn_cnp_filter - a filter of the receivers' CNPs
 * @mode: &enum iqcn_cnp_filter
 * @n: CNPs that pass in an interval; 0 unless IQCN_CNP_FILTER_FIXED
 * @interval_ns: interval in ns; 0 unless IQCN_CNP_FILTER_FIXED
 */
struct tc_iqcn_cnp_filter {
	__u32	mode;
	__u32	n;
	__u32	interval_ns;
};

/**
 * enum iqcn_pfc_source - how a queue learns that PFC has paused its port
 * @IQCN_PFC_OFF: not at all
 * @IQCN_PFC_FRAMES: from PFC and PAUSE frames that the port receives
 * @IQCN_PFC_TXQ: from the device's transmit queue: it is stopped, and nothing
 *	has left for a while
 * @__IQCN_PFC_MAX: number of values
 */
enum iqcn_pfc_source {
	IQCN_PFC_OFF,
	IQCN_PFC_FRAMES,
	IQCN_PFC_TXQ,
	__IQCN_PFC_MAX
};

/**
 * enum iqcn_pfc_state - state of a queue whose port PFC may pause
 * @IQCN_PFC_STATE_CLEAR: determined by the depth: not congested
 * @IQCN_PFC_STATE_CONGESTED: determined by the depth: congested
 * @IQCN_PFC_STATE_UNDETERMINED: the queue may be deep only because of a pause
 * @IQCN_PFC_STATE_PAUSED: the port is paused
 * @__IQCN_PFC_STATE_MAX: number of values
 */
enum iqcn_pfc_state {
	IQCN_PFC_STATE_CLEAR,
	IQCN_PFC_STATE_CONGESTED,
	IQCN_PFC_STATE_UNDETERMINED,
	IQCN_PFC_STATE_PAUSED,
	__IQCN_PFC_STATE_MAX
};

/**
 * enum iqcn_pfc_reason - why the &enum iqcn_pfc_state of a queue has changed
 * @IQCN_PFC_REASON_NONE: no change yet
 * @IQCN_PFC_REASON_PAUSE: a pause began
 * @IQCN_PFC_REASON_CLEAR: a pause ended with a depth below the threshold
 * @IQCN_PFC_REASON_RATE: a pause ended, during which more arrived than the link
 *	could have carried: congested
 * @IQCN_PFC_REASON_UNSURE: a pause ended, and neither IQCN_PFC_REASON_CLEAR nor
 *	IQCN_PFC_REASON_RATE holds: undetermined
 * @IQCN_PFC_REASON_GREW: the undetermined queue has grown: congested
 * @IQCN_PFC_REASON_DRAINED: the undetermined queue has drained below the
 *	threshold
 * @IQCN_PFC_REASON_LIMIT: pfc-max has expired, so the depth alone decides
 * @IQCN_PFC_REASON_RESET: the queue was reset, or pfc or pfc-prio was changed
 * @__IQCN_PFC_REASON_MAX: number of values
 */
enum iqcn_pfc_reason {
	IQCN_PFC_REASON_NONE,
	IQCN_PFC_REASON_PAUSE,
	IQCN_PFC_REASON_CLEAR,
	IQCN_PFC_REASON_RATE,
	IQCN_PFC_REASON_UNSURE,
	IQCN_PFC_REASON_GREW,
	IQCN_PFC_REASON_DRAINED,
	IQCN_PFC_REASON_LIMIT,
	IQCN_PFC_REASON_RESET,
	__IQCN_PFC_REASON_MAX
};

/**
 * enum iqcn_cnp_smac - Ethernet source address of generated CNPs
 * @IQCN_CNP_SMAC_PORT: the port's own, locally administered address
 *	(IQCN_A_PORT_CNP_SMAC), which a bridge may learn without harm
 * @IQCN_CNP_SMAC_RECEIVER: the receiver's; only for bridges that do not learn
 *	addresses, because a learning bridge moves the receiver to this port
 * @__IQCN_CNP_SMAC_MAX: number of values
 */
enum iqcn_cnp_smac {
	IQCN_CNP_SMAC_PORT,
	IQCN_CNP_SMAC_RECEIVER,
	__IQCN_CNP_SMAC_MAX
};

/**
 * enum iqcn_cnp_sport - UDP source port of generated CNPs
 * @IQCN_CNP_SPORT_LEARNED: that of the receiver's last CNP for the flow, 0
 *	before the first one
 * @IQCN_CNP_SPORT_ECHO: that of the data packet that caused the CNP; if no
 *	packet did, that of the flow's last sampled CE packet or, as long as a
 *	flow of its hosts is unassured, of a later packet.  A sender that
 *	chooses paths by this port then knows which path is congested.
 * @__IQCN_CNP_SPORT_MAX: number of values
 */
enum iqcn_cnp_sport {
	IQCN_CNP_SPORT_LEARNED,
	IQCN_CNP_SPORT_ECHO,
	__IQCN_CNP_SPORT_MAX
};

/**
 * enum iqcn_notify - ways to notify a sender, as bits
 * @IQCN_NOTIFY_TIMER: a CNP for a congested flow when its T1 expires;
 *	&enum iqcn_base determines what starts T1
 * @IQCN_NOTIFY_WREB: a CNP when a packet arrives, with a probability that
 *	follows how congested the queue is
 * @IQCN_NOTIFY_PI: a CNP when a packet arrives, with a probability set by a PI
 *	controller; sparse flows, whose packets are further apart than T1, are
 *	polled once per T1, or up to four times if one CNP per T1 is too few
 * @IQCN_NOTIFY_GRANT: a CNP with a window when a packet leaves a queue that is
 *	deeper than the threshold, unless a pause puts its congestion in doubt
 * @IQCN_NOTIFY_SUPPLEMENT: CNPs at a fixed rate, to the active flows in turn,
 *	from the time the depth exceeds Kmax until the queue has drained to Kmin
 *
 * With IQCN_NOTIFY_WREB or IQCN_NOTIFY_PI a dropped packet causes a CNP, too.
 */
enum iqcn_notify {
	IQCN_NOTIFY_TIMER	= 1 << 0,
	IQCN_NOTIFY_WREB	= 1 << 1,
	IQCN_NOTIFY_PI		= 1 << 2,
	IQCN_NOTIFY_GRANT	= 1 << 3,
	IQCN_NOTIFY_SUPPLEMENT	= 1 << 4,
};

#define IQCN_NOTIFY_BTS (IQCN_NOTIFY_WREB | IQCN_NOTIFY_PI)
#define IQCN_NOTIFY_ALL (IQCN_NOTIFY_TIMER | IQCN_NOTIFY_BTS | \
			 IQCN_NOTIFY_GRANT | IQCN_NOTIFY_SUPPLEMENT)

/**
 * enum iqcn_measure - measures of how congested a queue is, each in bytes; the
 *	values are bits of a set
 * @IQCN_MEASURE_DEPTH: the depth
 * @IQCN_MEASURE_GRADIENT: growth of the depth in a window
 * @IQCN_MEASURE_DELAY: estimated time that a packet waits, times the bandwidth
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
 * struct tc_iqcn_point - point of a profile
 * @bytes: how congested the queue is; more than in the point before
 * @prob: probability, as a share of U32_MAX; not less than in the point before
 *
 * A profile is linear between its points, 0 below the first one, and constant
 * from the last one on.
 */
struct tc_iqcn_point {
	__u32	bytes;
	__u32	prob;
};

/**
 * enum iqcn_cause - cause of a CNP
 * @IQCN_CAUSE_NONE: not used
 * @IQCN_CAUSE_TIMER: T1 has expired (IQCN_NOTIFY_TIMER)
 * @IQCN_CAUSE_WREB: a packet arrived (IQCN_NOTIFY_WREB)
 * @IQCN_CAUSE_PI: a packet arrived (IQCN_NOTIFY_PI)
 * @IQCN_CAUSE_POLL: a poll of a sparse flow (IQCN_NOTIFY_PI)
 * @IQCN_CAUSE_DROP: a packet was dropped
 * @IQCN_CAUSE_PFC: a pause has left the queue congested (IQCN_PFC_REASON_RATE,
 *	IQCN_PFC_REASON_GREW)
 * @IQCN_CAUSE_GRANT: a packet left a congested queue (IQCN_NOTIFY_GRANT)
 * @IQCN_CAUSE_SUPPLEMENT: the flow's turn of IQCN_NOTIFY_SUPPLEMENT
 * @__IQCN_CAUSE_MAX: number of values
 */
enum iqcn_cause {
	IQCN_CAUSE_NONE,
	IQCN_CAUSE_TIMER,
	IQCN_CAUSE_WREB,
	IQCN_CAUSE_PI,
	IQCN_CAUSE_POLL,
	IQCN_CAUSE_DROP,
	IQCN_CAUSE_PFC,
	IQCN_CAUSE_GRANT,
	IQCN_CAUSE_SUPPLEMENT,
	__IQCN_CAUSE_MAX
};

#define IQCN_TELEMETRY_VERSION	1
/* Bits of version_flags in struct iqcn_telemetry */
#define IQCN_TELEMETRY_WAS_CE	0x1
#define IQCN_TELEMETRY_BRIEF	0x2

/**
 * struct iqcn_telemetry - state of the queue, in a generated CNP
 * @version_flags: bits 7-4: IQCN_TELEMETRY_VERSION; bits 3-2: 0; bit 1,
 *	IQCN_TELEMETRY_BRIEF: only this field and @cause are valid, as in a CNP
 *	with IQCN_CAUSE_DROP while telemetry is off; bit 0,
 *	IQCN_TELEMETRY_WAS_CE: the packet that caused the CNP arrived with CE,
 *	or was CE when the queue dropped it, so its sender may have been
 *	notified already
 * @cause: &enum iqcn_cause
 * @depth: depth of the queue as a share of its limit, 0xffff: full
 * @flows: flows active in the last few milliseconds, saturated
 * @port_4k: depth of all queues of the port, in units of 4,096 bytes, saturated
 * @gradient: growth of the queue in bytes per us, two's complement, saturated
 * @tx_256: bytes sent by the queue, in units of 256 bytes, modulo 2^24
 * @time_us: time of these values, in us of the box's clock, modulo 2^24
 *
 * The structure fills the 16 reserved bytes of the CNP, in network byte order.
 * They are all zero in a CNP without telemetry, so the version distinguishes
 * the two.
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

#define IQCN_GRANT_VERSION	2

/**
 * struct iqcn_grant - a window, in a CNP with IQCN_CAUSE_GRANT
 * @version_flags: bits 7-4: IQCN_GRANT_VERSION; bit 0: IQCN_TELEMETRY_WAS_CE
 * @cause: IQCN_CAUSE_GRANT
 * @depth: depth of the queue as a share of its limit, 0xffff: full
 * @window: bytes that the flow may have in flight; a sender that respects the
 *	window still keeps at least one packet in flight
 * @flows: flows active in the last few milliseconds, saturated
 * @share: the flow's part of the queued packets, as a share of 0xffff
 * @base_rtt_us: round-trip time for which the window was computed, in us,
 *	rounded up and saturated; window / base_rtt_us is a rate
 * @state: &enum iqcn_pfc_state of the queue
 * @zero: 0
 *
 * The structure takes the place of &struct iqcn_telemetry, in network byte
 * order.  A sender that does not support it takes the CNP for an ordinary one.
 */
struct iqcn_grant {
	__u8	version_flags;
	__u8	cause;
	__be16	depth;
	__be32	window;
	__be16	flows;
	__be16	share;
	__be16	base_rtt_us;
	__u8	state;
	__u8	zero;
};

/**
 * enum iqcn_detect - detectors of congestion, as bits
 * @IQCN_DETECT_QUEUE: the rate at which the queue sends CE packets
 * @IQCN_DETECT_DEPTH: the depth of the queue: congested from above Kmax down to
 *	Kmin
 * @IQCN_DETECT_RUN: of a flow: CE packets with consecutive PSNs
 * @IQCN_DETECT_SPAN: of a flow: small differences of its CE packets' PSNs
 *
 * The detectors of a flow run only while its queue is clear.
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
 * enum iqcn_reason - why a queue or a flow became congested or clear
 * @IQCN_REASON_NONE: the state has never changed
 * @IQCN_REASON_QUEUE: the CE rate of the queue
 * @IQCN_REASON_DEPTH: the depth of the queue
 * @IQCN_REASON_RUN: consecutive PSNs of CE packets
 * @IQCN_REASON_SPAN: differences of PSNs of CE packets
 * @IQCN_REASON_QUIET: no CE packet has left for the idle timeout
 * @IQCN_REASON_RESET: the queue was reset, or its parameters changed
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
 * enum iqcn_trigger - what notices that T1 of a flow has expired
 * @IQCN_TRIGGER_TIMER: a timer that expires with T1
 * @IQCN_TRIGGER_PERIOD: a scan of all flows, once per period
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
 * @IQCN_BASE_CE: the flow's last CE packet or generated CNP
 * @IQCN_BASE_CNP: the flow's last CNP, the receiver's or a generated one; its
 *	next CE packet if T1 does not run
 * @IQCN_BASE_BOTH: the flow's last CE packet or CNP, whichever is later
 * @__IQCN_BASE_MAX: number of values
 */
enum iqcn_base {
	IQCN_BASE_CE,
	IQCN_BASE_CNP,
	IQCN_BASE_BOTH,
	__IQCN_BASE_MAX
};

/**
 * enum iqcn_snoop - where the receivers' CNPs are captured
 * @IQCN_SNOOP_PORT: from the packets that the device receives
 * @IQCN_SNOOP_NETNS: from everything that is bridged or routed in its namespace
 * @__IQCN_SNOOP_MAX: number of values
 */
enum iqcn_snoop {
	IQCN_SNOOP_PORT,
	IQCN_SNOOP_NETNS,
	__IQCN_SNOOP_MAX
};

#define IQCN_DELAY_AUTO		0xffffffff
#define IQCN_BASE_RTT_NONE	0xffffffff
#define IQCN_SAMPLE_GROUP_NONE	0xffffffff

/**
 * enum iqcn_pair_grade - evidence for the sender's QP number, weakest first
 * @IQCN_PAIR_NONE: the flow is not paired
 * @IQCN_PAIR_SPORT: both UDP source ports are those that drivers derive from
 *	the two QP numbers
 * @IQCN_PAIR_CNP: a CNP arrived while its hosts had only one unassured flow
 * @IQCN_PAIR_PSN: the receiver echoed PSNs of the flow to this QP
 * @IQCN_PAIR_CM: the connection setup named both QP numbers
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
 * struct tc_iqcn_xstats - counters and state of a queue (TCA_STATS_APP)
 * @ecn_mark: packets marked CE by this queue
 * @ce_in: packets that arrived with CE
 * @not_ect: not-ECT packets that would have been marked (queued or dropped)
 * @not_ect_drop: packets of @not_ect that were dropped
 * @unmarkable: ECT packets whose header could not be written
 * @drop_overlimit: packets dropped because the queue was full
 * @ce_sent: RoCEv2 data packets that left with CE; each segment of a GSO packet
 *	counts
 * @cnp_seen: CNPs of receivers for flows of this queue, without those that the
 *	filter of the port dropped
 * @cnp_sent: CNPs generated by this queue
 * @cnp_budget: CNPs that were due but exceeded the port's budget, and polls
 *	that were put off because half of the burst or more was used up
 * @cnp_unpaired: CNPs that were due while the flow's pairing was too weak
 * @cnp_error: CNPs that were due but could not be stored, built or injected
 * @paired: pairings made
 * @contradicted: pairings dropped because other evidence disagreed
 * @flow_new: flows created
 * @flow_evicted: flows evicted to make room, because the limit was lowered, or
 *	because memory ran out
 * @flow_aged: flows that expired
 * @flow_full: packets for which no flow, or no detectors of the flow, could be
 *	created
 * @malformed: RoCE-like packets that do not parse, and were CE, were chosen by
 *	the marking curve, or found a deep queue with IQCN_NOTIFY_GRANT or
 *	IQCN_NOTIFY_SUPPLEMENT
 * @state_changes: changes of the queue's congestion state
 * @port_cnp_unmatched: CNPs received on the port (IQCN_SNOOP_NETNS: in the
 *	namespace) for no known flow
 * @port_malformed: RoCE-like packets received on the port (IQCN_SNOOP_NETNS: in
 *	the namespace) that do not parse, or whose checksum or ICRC was checked
 *	and is wrong
 * @ce_rate_bps: CE rate of the last window
 * @roce_bps: RoCE rate that the CE rate is compared with
 * @state_since_ns: ns since the queue last became congested or clear, 0: never
 * @flows: current number of flows
 * @flows_paired: flows paired well enough for CNPs
 * @flows_congested: congested flows; all flows while the queue is congested
 * @congested: detectors (&enum iqcn_detect) that report congestion
 * @depth_peak_bytes: highest depth after the arrival of a packet that was CE or
 *	found a deep queue: above Kmin, or less with IQCN_NOTIFY_WREB, _PI,
 *	_GRANT or IQCN_PFC_TXQ; 0: none yet; IQCN_CMD_QUEUE_CLEAR resets it
 * @state_reason: &enum iqcn_reason of the queue's last change
 * @ce_sampled: packets of @ce_sent that were sampled
 * @cnp_deferred: CNPs that were due and deferred
 * @cnp_canceled: CNPs of @cnp_deferred that were not sent: the receiver's CNP
 *	arrived, a packet caused a CNP, the congestion ended or a pause put it in
 *	doubt, a parameter changed, the flow was removed or moved, or the queue
 *	was reset
 * @flow_state_changes: changes of congestion states of single flows
 * @cnp_wreb: CNPs of @cnp_sent with IQCN_CAUSE_WREB
 * @cnp_pi: CNPs of @cnp_sent with IQCN_CAUSE_PI
 * @cnp_poll: CNPs of @cnp_sent with IQCN_CAUSE_POLL
 * @cnp_drop: CNPs of @cnp_sent with IQCN_CAUSE_DROP
 * @cnp_gap: CNPs that were due but too soon after another to the same flow
 * @bts_mark: packets of @ecn_mark that were marked because they caused a CNP,
 *	or because IQCN_NOTIFY_PI wanted a CNP for an unpaired flow
 * @bts_prob: probability that a packet causes a CNP, as a share of U32_MAX;
 *	U32_MAX also stands for more than 1, i.e. several CNPs per T1
 * @flows_active: flows active in the last few milliseconds
 * @sample_lost: sampled packets that were not copied to the psample group
 *	because too many copies waited or memory ran out
 * @marked_bytes: bytes of the packets of @ecn_mark
 * @delay_sum_ns: sum of the sojourn times of @delay_samples, in ns
 * @delay_samples: CE packets whose sojourn time was measured, one at a time
 * @delay_avg_ns: moving average of these times, in ns
 * @delay_peak_ns: longest of these times, in ns; IQCN_CMD_QUEUE_CLEAR resets it
 * @cnp_pfc: CNPs of @cnp_sent with IQCN_CAUSE_PFC
 * @pauses: pauses of the port that the queue has learned of
 * @paused_ns: time for which the port was paused, in ns, without the current
 *	pause
 * @pause_rx_bytes: bytes that arrived at the queue during these pauses
 * @undetermined_ns: time for which the queue was undetermined, in ns, without
 *	the time since the last verdict (@pfc_clear to @pfc_drained)
 * @pfc_clear: pauses that ended with IQCN_PFC_REASON_CLEAR
 * @pfc_rate: pauses that ended with IQCN_PFC_REASON_RATE
 * @pfc_unsure: pauses that ended with IQCN_PFC_REASON_UNSURE
 * @pfc_grew: changes of the state with IQCN_PFC_REASON_GREW
 * @pfc_drained: changes of the state with IQCN_PFC_REASON_DRAINED
 * @pfc_limit: changes of the state with IQCN_PFC_REASON_LIMIT
 * @port_pfc_ignored: MAC control frames that no queue of the port used:
 *	malformed, tagged, not for the group address, of an unknown opcode, or
 *	of classes that no queue carries
 * @cnp_grant: CNPs of @cnp_sent with IQCN_CAUSE_GRANT
 * @pfc_state: &enum iqcn_pfc_state
 * @pfc_reason: &enum iqcn_pfc_reason of the last change
 * @cnp_supplement: CNPs of @cnp_sent with IQCN_CAUSE_SUPPLEMENT
 * @above_kmax_ns: time for which the depth was above Kmax, in ns; measured with
 *	IQCN_NOTIFY_SUPPLEMENT, when RoCEv2 packets of ECT flows arrive and when
 *	supplements are due
 * @port_cnp_passed: CNPs of receivers that the filter of the port let pass
 * @port_cnp_filtered: CNPs of receivers that the filter of the port dropped
 * @leases: leases granted, including renewals (IQCN_CMD_LEASE)
 * @leases_ended: leases that ended without being renewed
 * @ref_bytes: current reference depth of IQCN_NOTIFY_PI; 0 while its controller
 *	is stopped
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
	__u64	ce_rate_bps;
	__u64	roce_bps;
	__u64	state_since_ns;
	__u32	flows;
	__u32	flows_paired;
	__u32	flows_congested;
	__u32	congested;
	__u32	depth_peak_bytes;
	__u32	state_reason;
	__u64	ce_sampled;
	__u64	cnp_deferred;
	__u64	cnp_canceled;
	__u64	flow_state_changes;
	__u64	cnp_wreb;
	__u64	cnp_pi;
	__u64	cnp_poll;
	__u64	cnp_drop;
	__u64	cnp_gap;
	__u64	bts_mark;
	__u32	bts_prob;
	__u32	flows_active;
	__u64	sample_lost;
	__u64	marked_bytes;
	__u64	delay_sum_ns;
	__u64	delay_samples;
	__u64	delay_avg_ns;
	__u64	delay_peak_ns;
	__u64	cnp_pfc;
	__u64	pauses;
	__u64	paused_ns;
	__u64	pause_rx_bytes;
	__u64	undetermined_ns;
	__u64	pfc_clear;
	__u64	pfc_rate;
	__u64	pfc_unsure;
	__u64	pfc_grew;
	__u64	pfc_drained;
	__u64	pfc_limit;
	__u64	port_pfc_ignored;
	__u64	cnp_grant;
	__u32	pfc_state;
	__u32	pfc_reason;
	__u64	cnp_supplement;
	__u64	above_kmax_ns;
	__u64	port_cnp_passed;
	__u64	port_cnp_filtered;
	__u64	leases;
	__u64	leases_ended;
	__u64	ref_bytes;
};

#endif /* _UAPI_LINUX_IQCN_H */
