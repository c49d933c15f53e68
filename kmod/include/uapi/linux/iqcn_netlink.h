/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_iqcn: generic netlink family "iqcn".
 *
 * The C side of Documentation/netlink/specs/iqcn.yaml.  All commands refer to
 * the network namespace of the socket.  Everybody can read ports and queues.
 * IQCN_CMD_FLOW_GET, both multicast groups, IQCN_CMD_FLOW_FLUSH,
 * IQCN_CMD_QUEUE_CLEAR and IQCN_CMD_LEASE need CAP_NET_ADMIN in the user
 * namespace of that network namespace.  IQCN_CMD_FLOW_GET and the groups need
 * it because they reveal QP numbers and PSNs, which suffice to forge packets.
 * From the first release on, attributes are only appended, and a reader skips
 * attributes that it does not know.
 */
#ifndef _UAPI_LINUX_IQCN_NETLINK_H
#define _UAPI_LINUX_IQCN_NETLINK_H

#define IQCN_FAMILY_NAME	"iqcn"
#define IQCN_FAMILY_VERSION	1

#define IQCN_MCGRP_STATE	"state"
#define IQCN_MCGRP_CNP		"cnp"

/**
 * enum iqcn_cmd - commands
 * @IQCN_CMD_UNSPEC: not used
 * @IQCN_CMD_PORT_GET: do: the port of IQCN_A_PORT_IFINDEX; dump: this port or
 *	all; attributes: &enum iqcn_a_port.  A dump sets NLM_F_DUMP_INTR if
 *	ports or queues are added or removed meanwhile
 * @IQCN_CMD_QUEUE_GET: do: the queue IQCN_A_QUEUE_PARENT of
 *	IQCN_A_QUEUE_IFINDEX; dump: the queues that match IQCN_A_QUEUE_FILTER,
 *	of this device or of all ports; attributes: &enum iqcn_a_queue, limited
 *	to those that IQCN_A_QUEUE_MASK selects.  A dump sets NLM_F_DUMP_INTR if
 *	ports or queues are added or removed meanwhile
 * @IQCN_CMD_FLOW_GET: dump: the flows that match IQCN_A_FLOW_FILTER, of
 *	IQCN_A_FLOW_IFINDEX or of all ports; attributes: &enum iqcn_a_flow.  A
 *	flow that exists during the whole dump is in it once, and no flow is in
 *	it twice
 * @IQCN_CMD_FLOW_FLUSH: do: remove the flows of IQCN_A_FLOW_IFINDEX, or only
 *	those of its queue IQCN_A_FLOW_PARENT, or of all ports if neither is
 *	given; the reply has IQCN_A_FLOW_FLUSHED
 * @IQCN_CMD_QUEUE_STATE_NTF: group "state": the congestion of a queue began or
 *	ended; attributes: &enum iqcn_a_event
 * @IQCN_CMD_FLOW_STATE_NTF: group "state": the congestion of a single flow
 *	began or ended; attributes: &enum iqcn_a_event.  The congestion of a
 *	flow ends without an event when the state, the sampling rate or the
 *	detectors of its queue change, when the queue is reset, and when the
 *	flow is removed or moves to another queue
 * @IQCN_CMD_CNP_NTF: group "cnp": a CNP is about to be injected; attributes:
 *	&enum iqcn_a_event
 * @IQCN_CMD_QUEUE_CLEAR: do: reset the peaks (DEPTH_PEAK_BYTES and
 *	DELAY_PEAK_NS) of the queues of IQCN_A_QUEUE_IFINDEX, or only of its
 *	queue IQCN_A_QUEUE_PARENT, or of all ports if neither is given
 * @IQCN_CMD_PFC_NTF: group "state": the PFC state of a queue has changed,
 *	except to paused; attributes: &enum iqcn_a_event
 * @IQCN_CMD_LEASE: do: set the supplement rate of a queue, the filter of its
 *	port, or both, for a limited time, after which the values of tc are in
 *	force again; attributes: &enum iqcn_a_lease.  A new lease replaces the
 *	queue's current one
 * @IQCN_CMD_LEASE_NTF: group "state": a lease has expired; attributes:
 *	&enum iqcn_a_event
 * @__IQCN_CMD_MAX: number of commands, plus one
 */
enum iqcn_cmd {
	IQCN_CMD_UNSPEC,
	IQCN_CMD_PORT_GET,
	IQCN_CMD_QUEUE_GET,
	IQCN_CMD_FLOW_GET,
	IQCN_CMD_FLOW_FLUSH,
	IQCN_CMD_QUEUE_STATE_NTF,
	IQCN_CMD_FLOW_STATE_NTF,
	IQCN_CMD_CNP_NTF,
	IQCN_CMD_QUEUE_CLEAR,
	IQCN_CMD_PFC_NTF,
	IQCN_CMD_LEASE,
	IQCN_CMD_LEASE_NTF,
	__IQCN_CMD_MAX
};

#define IQCN_CMD_MAX (__IQCN_CMD_MAX - 1)

/**
 * enum iqcn_filter - conditions for queues or flows, as bits; all must be met
 * @IQCN_FILTER_CONGESTED: congested queues or flows; all flows of a congested
 *	queue are congested
 * @IQCN_FILTER_PAIRED: flows paired well enough for CNPs
 */
enum iqcn_filter {
	IQCN_FILTER_CONGESTED	= 1 << 0,
	IQCN_FILTER_PAIRED	= 1 << 1,
};

/**
 * enum iqcn_a_port - attributes of a port: a device with at least one queue
 * @IQCN_A_PORT_UNSPEC: not used
 * @IQCN_A_PORT_IFINDEX: u32, interface index
 * @IQCN_A_PORT_IFNAME: string, name of the device
 * @IQCN_A_PORT_SNOOP: u32, &enum iqcn_snoop
 * @IQCN_A_PORT_DEPTH_BYTES: u64, bytes in all queues
 * @IQCN_A_PORT_STATE_LOST: u64, events of group "state" that were not sent
 *	because there were too many; of the whole namespace
 * @IQCN_A_PORT_CNP_LOST: u64, events of group "cnp" that were not sent because
 *	there were too many; of the whole namespace
 * @IQCN_A_PORT_QUEUES: u64, number of queues.  All attributes from here to
 *	IQCN_A_PORT_MALFORMED are u64, and have the names of the files in
 *	/sys/class/net/DEV/iqcn/
 * @IQCN_A_PORT_QUEUES_CONGESTED: congested queues
 * @IQCN_A_PORT_FLOWS: current number of flows
 * @IQCN_A_PORT_FLOWS_UNASSURED: unassured flows, which need better evidence for
 *	the sender's QP
 * @IQCN_A_PORT_ECN_MARK: packets marked CE by the queues
 * @IQCN_A_PORT_CE_IN: packets that arrived with CE
 * @IQCN_A_PORT_CE_SENT: RoCEv2 data packets that left with CE
 * @IQCN_A_PORT_CE_SAMPLED: packets of CE_SENT that were sampled
 * @IQCN_A_PORT_CNP_SEEN: CNPs of receivers for known flows, without those that
 *	the filter dropped
 * @IQCN_A_PORT_CNP_SENT: generated CNPs
 * @IQCN_A_PORT_CNP_DEFERRED: CNPs that were due and deferred
 * @IQCN_A_PORT_CNP_CANCELED: CNPs of CNP_DEFERRED that were not sent
 * @IQCN_A_PORT_CNP_BUDGET: CNPs that were due but exceeded the budget, and
 *	polls that were put off because half of the burst or more was used up
 * @IQCN_A_PORT_CNP_UNPAIRED: CNPs that were due while the pairing was too weak
 * @IQCN_A_PORT_CNP_UNMATCHED: received CNPs for no known flow (with
 *	IQCN_SNOOP_NETNS: of the namespace)
 * @IQCN_A_PORT_CNP_RATE_PPS: CNPs per second that the port may send
 * @IQCN_A_PORT_CNP_BURST: CNPs that the port may send at once
 * @IQCN_A_PORT_MALFORMED: RoCE-like packets that do not parse, or whose
 *	checksum or ICRC was checked and is wrong (with IQCN_SNOOP_NETNS: of the
 *	namespace)
 * @IQCN_A_PORT_PAD: padding for 64-bit attributes
 * @IQCN_A_PORT_CNP_SMAC: 6 bytes, Ethernet source address of the CNPs that the
 *	port generates with IQCN_CNP_SMAC_PORT
 * @IQCN_A_PORT_PAUSES: u64, pauses that the queues have learned of.  This and
 *	the following attributes have files in /sys/class/net/DEV/iqcn/, too
 * @IQCN_A_PORT_PFC_IGNORED: u64, MAC control frames that no queue used
 * @IQCN_A_PORT_CNP_PASSED: u64, CNPs of receivers that the filter let pass
 * @IQCN_A_PORT_CNP_FILTERED: u64, CNPs of receivers that the filter dropped
 * @IQCN_A_PORT_FILTER_N: u64, CNPs that the filter in force lets pass in an
 *	interval, 0: there is no filter, or it is IQCN_CNP_FILTER_TOLD
 * @IQCN_A_PORT_FILTER_NS: u64, that interval in ns, 0: there is no filter
 * @__IQCN_A_PORT_MAX: number of attributes, plus one
 */
enum iqcn_a_port {
	IQCN_A_PORT_UNSPEC,
	IQCN_A_PORT_IFINDEX,
	IQCN_A_PORT_IFNAME,
	IQCN_A_PORT_SNOOP,
	IQCN_A_PORT_DEPTH_BYTES,
	IQCN_A_PORT_STATE_LOST,
	IQCN_A_PORT_CNP_LOST,
	IQCN_A_PORT_QUEUES,
	IQCN_A_PORT_QUEUES_CONGESTED,
	IQCN_A_PORT_FLOWS,
	IQCN_A_PORT_FLOWS_UNASSURED,
	IQCN_A_PORT_ECN_MARK,
	IQCN_A_PORT_CE_IN,
	IQCN_A_PORT_CE_SENT,
	IQCN_A_PORT_CE_SAMPLED,
	IQCN_A_PORT_CNP_SEEN,
	IQCN_A_PORT_CNP_SENT,
	IQCN_A_PORT_CNP_DEFERRED,
	IQCN_A_PORT_CNP_CANCELED,
	IQCN_A_PORT_CNP_BUDGET,
	IQCN_A_PORT_CNP_UNPAIRED,
	IQCN_A_PORT_CNP_UNMATCHED,
	IQCN_A_PORT_CNP_RATE_PPS,
	IQCN_A_PORT_CNP_BURST,
	IQCN_A_PORT_MALFORMED,
	IQCN_A_PORT_PAD,
	IQCN_A_PORT_CNP_SMAC,
	IQCN_A_PORT_PAUSES,
	IQCN_A_PORT_PFC_IGNORED,
	IQCN_A_PORT_CNP_PASSED,
	IQCN_A_PORT_CNP_FILTERED,
	IQCN_A_PORT_FILTER_N,
	IQCN_A_PORT_FILTER_NS,
	__IQCN_A_PORT_MAX
};

#define IQCN_A_PORT_MAX (__IQCN_A_PORT_MAX - 1)

/* Number of u64 words in IQCN_A_QUEUE_MASK, for 128 attributes at most */
#define IQCN_QUEUE_MASK_WORDS	2

/**
 * enum iqcn_a_queue - attributes of a queue: a qdisc
 * @IQCN_A_QUEUE_UNSPEC: not used
 * @IQCN_A_QUEUE_IFINDEX: u32, interface index; in a request: only queues
 *	of this device
 * @IQCN_A_QUEUE_FILTER: u32, set of &enum iqcn_filter bits, in a request
 * @IQCN_A_QUEUE_MASK: bitmap, in a request: IQCN_QUEUE_MASK_WORDS u64 in host
 *	byte order.  A reply contains attribute N only if bit N % 64 of word
 *	N / 64 is set; without a mask it contains all attributes.  A short reply
 *	makes frequent requests cheaper
 * @IQCN_A_QUEUE_PARENT: u32, the qdisc's parent, which identifies the queue
 * @IQCN_A_QUEUE_DEPTH_BYTES: u32, bytes that are now in the queue
 * @IQCN_A_QUEUE_LIMIT_BYTES: u32, bytes that the queue holds before it drops
 * @IQCN_A_QUEUE_KMIN_BYTES: u32, Kmin
 * @IQCN_A_QUEUE_KMAX_BYTES: u32, Kmax
 * @IQCN_A_QUEUE_NOTIFY: u32, set of &enum iqcn_notify bits
 * @IQCN_A_QUEUE_TX_BYTES: u64, bytes sent
 * @IQCN_A_QUEUE_TX_PACKETS: u64, packets sent
 * @IQCN_A_QUEUE_STATE_AGE_NS: u64, ns since the queue last became congested or
 *	clear; absent if it never did
 * @IQCN_A_QUEUE_STATE_REASON: u32, &enum iqcn_reason of that change
 * @IQCN_A_QUEUE_CONGESTED: u32, set of &enum iqcn_detect bits.  All attributes
 *	from here to IQCN_A_QUEUE_FLOW_STATE_CHANGES have the names and the
 *	meaning of the fields of &struct tc_iqcn_xstats: fields of 64 bits are
 *	u64, the others u32
 * @IQCN_A_QUEUE_FLOWS: current number of flows
 * @IQCN_A_QUEUE_FLOWS_PAIRED: flows paired well enough for CNPs
 * @IQCN_A_QUEUE_FLOWS_CONGESTED: congested flows
 * @IQCN_A_QUEUE_FLOWS_ACTIVE: flows active in the last few milliseconds
 * @IQCN_A_QUEUE_DEPTH_PEAK_BYTES: highest depth after the arrival of a packet
 *	that was CE or found a deep queue
 * @IQCN_A_QUEUE_BTS_PROB: probability that a packet causes a CNP, as a share of
 *	U32_MAX
 * @IQCN_A_QUEUE_CE_RATE_BPS: CE rate of the last window
 * @IQCN_A_QUEUE_ROCE_BPS: RoCE rate that the CE rate is compared with
 * @IQCN_A_QUEUE_ECN_MARK: packets marked CE
 * @IQCN_A_QUEUE_BTS_MARK: packets of ECN_MARK that were marked because they
 *	caused a CNP
 * @IQCN_A_QUEUE_CE_IN: packets that arrived with CE
 * @IQCN_A_QUEUE_CE_SENT: RoCEv2 data packets that left with CE
 * @IQCN_A_QUEUE_CE_SAMPLED: packets of CE_SENT that were sampled
 * @IQCN_A_QUEUE_NOT_ECT: not-ECT packets that would have been marked
 * @IQCN_A_QUEUE_NOT_ECT_DROP: packets of NOT_ECT that were dropped
 * @IQCN_A_QUEUE_UNMARKABLE: ECT packets whose header could not be written
 * @IQCN_A_QUEUE_DROP_OVERLIMIT: packets dropped because the queue was full
 * @IQCN_A_QUEUE_CNP_SEEN: CNPs of receivers, without those that the filter of
 *	the port dropped
 * @IQCN_A_QUEUE_CNP_SENT: generated CNPs
 * @IQCN_A_QUEUE_CNP_WREB: generated CNPs with IQCN_CAUSE_WREB
 * @IQCN_A_QUEUE_CNP_PI: generated CNPs with IQCN_CAUSE_PI
 * @IQCN_A_QUEUE_CNP_POLL: generated CNPs with IQCN_CAUSE_POLL
 * @IQCN_A_QUEUE_CNP_DROP: generated CNPs with IQCN_CAUSE_DROP
 * @IQCN_A_QUEUE_CNP_DEFERRED: CNPs that were due and deferred
 * @IQCN_A_QUEUE_CNP_CANCELED: CNPs of CNP_DEFERRED that were not sent
 * @IQCN_A_QUEUE_CNP_BUDGET: CNPs that were due but exceeded the budget
 * @IQCN_A_QUEUE_CNP_UNPAIRED: CNPs that were due while the pairing was too weak
 * @IQCN_A_QUEUE_CNP_GAP: CNPs that were due but too soon after another to the
 *	same flow
 * @IQCN_A_QUEUE_CNP_ERROR: CNPs that could not be stored, built or injected
 * @IQCN_A_QUEUE_PAIRED: pairings made
 * @IQCN_A_QUEUE_CONTRADICTED: pairings dropped because other evidence disagreed
 * @IQCN_A_QUEUE_FLOW_NEW: flows created
 * @IQCN_A_QUEUE_FLOW_AGED: flows that expired
 * @IQCN_A_QUEUE_FLOW_EVICTED: flows evicted to make room
 * @IQCN_A_QUEUE_FLOW_FULL: packets for which no flow, or no detectors of the
 *	flow, could be created
 * @IQCN_A_QUEUE_MALFORMED: RoCE-like packets that do not parse
 * @IQCN_A_QUEUE_STATE_CHANGES: changes of the queue's congestion state
 * @IQCN_A_QUEUE_FLOW_STATE_CHANGES: changes of congestion states of single
 *	flows
 * @IQCN_A_QUEUE_PAD: padding for 64-bit attributes
 * @IQCN_A_QUEUE_SAMPLE_LOST: u64, sampled packets that were not copied to the
 *	psample group because too many copies waited or memory ran out
 * @IQCN_A_QUEUE_MARKED_BYTES: u64, bytes of the packets of ECN_MARK
 * @IQCN_A_QUEUE_DELAY_SUM_NS: u64, sum of the sojourn times of DELAY_SAMPLES
 * @IQCN_A_QUEUE_DELAY_SAMPLES: u64, packets whose time in the queue was
 *	measured
 * @IQCN_A_QUEUE_DELAY_AVG_NS: u64, average of the most recent of these times
 * @IQCN_A_QUEUE_DELAY_PEAK_NS: u64, longest of these times
 * @IQCN_A_QUEUE_CNP_PFC: generated CNPs with IQCN_CAUSE_PFC.  All attributes
 *	from here on have the names and the meaning of the fields of &struct
 *	tc_iqcn_xstats: PFC_STATE and PFC_REASON are u32, the others u64
 * @IQCN_A_QUEUE_PAUSES: pauses that the queue has learned of
 * @IQCN_A_QUEUE_PAUSED_NS: total length of these pauses, in ns
 * @IQCN_A_QUEUE_PAUSE_RX_BYTES: bytes that arrived at the queue during these
 *	pauses
 * @IQCN_A_QUEUE_UNDETERMINED_NS: time for which the queue was undetermined
 * @IQCN_A_QUEUE_PFC_CLEAR: pauses that left the queue below the threshold
 * @IQCN_A_QUEUE_PFC_RATE: pauses that left the queue congested: more arrived
 *	during them than the link could have carried
 * @IQCN_A_QUEUE_PFC_UNSURE: pauses that left the queue undetermined
 * @IQCN_A_QUEUE_PFC_GREW: times that the undetermined queue grew
 * @IQCN_A_QUEUE_PFC_DRAINED: times that the undetermined queue drained
 * @IQCN_A_QUEUE_PFC_LIMIT: times that pfc-max expired
 * @IQCN_A_QUEUE_PFC_STATE: &enum iqcn_pfc_state
 * @IQCN_A_QUEUE_PFC_REASON: &enum iqcn_pfc_reason of the last change of
 *	IQCN_A_QUEUE_PFC_STATE
 * @IQCN_A_QUEUE_CNP_GRANT: generated CNPs with IQCN_CAUSE_GRANT
 * @IQCN_A_QUEUE_CNP_SUPPLEMENT: generated CNPs with IQCN_CAUSE_SUPPLEMENT
 * @IQCN_A_QUEUE_ABOVE_KMAX_NS: ns for which the depth was above Kmax, measured
 *	with IQCN_NOTIFY_SUPPLEMENT
 * @IQCN_A_QUEUE_LEASES: leases granted, including renewals
 * @IQCN_A_QUEUE_LEASES_ENDED: leases that ended without being renewed
 * @IQCN_A_QUEUE_REF_BYTES: current reference depth of IQCN_NOTIFY_PI; 0 while
 *	its controller is stopped
 * @__IQCN_A_QUEUE_MAX: number of attributes, plus one
 */
enum iqcn_a_queue {
	IQCN_A_QUEUE_UNSPEC,
	IQCN_A_QUEUE_IFINDEX,
	IQCN_A_QUEUE_FILTER,
	IQCN_A_QUEUE_MASK,
	IQCN_A_QUEUE_PARENT,
	IQCN_A_QUEUE_DEPTH_BYTES,
	IQCN_A_QUEUE_LIMIT_BYTES,
	IQCN_A_QUEUE_KMIN_BYTES,
	IQCN_A_QUEUE_KMAX_BYTES,
	IQCN_A_QUEUE_NOTIFY,
	IQCN_A_QUEUE_TX_BYTES,
	IQCN_A_QUEUE_TX_PACKETS,
	IQCN_A_QUEUE_STATE_AGE_NS,
	IQCN_A_QUEUE_STATE_REASON,
	IQCN_A_QUEUE_CONGESTED,
	IQCN_A_QUEUE_FLOWS,
	IQCN_A_QUEUE_FLOWS_PAIRED,
	IQCN_A_QUEUE_FLOWS_CONGESTED,
	IQCN_A_QUEUE_FLOWS_ACTIVE,
	IQCN_A_QUEUE_DEPTH_PEAK_BYTES,
	IQCN_A_QUEUE_BTS_PROB,
	IQCN_A_QUEUE_CE_RATE_BPS,
	IQCN_A_QUEUE_ROCE_BPS,
	IQCN_A_QUEUE_ECN_MARK,
	IQCN_A_QUEUE_BTS_MARK,
	IQCN_A_QUEUE_CE_IN,
	IQCN_A_QUEUE_CE_SENT,
	IQCN_A_QUEUE_CE_SAMPLED,
	IQCN_A_QUEUE_NOT_ECT,
	IQCN_A_QUEUE_NOT_ECT_DROP,
	IQCN_A_QUEUE_UNMARKABLE,
	IQCN_A_QUEUE_DROP_OVERLIMIT,
	IQCN_A_QUEUE_CNP_SEEN,
	IQCN_A_QUEUE_CNP_SENT,
	IQCN_A_QUEUE_CNP_WREB,
	IQCN_A_QUEUE_CNP_PI,
	IQCN_A_QUEUE_CNP_POLL,
	IQCN_A_QUEUE_CNP_DROP,
	IQCN_A_QUEUE_CNP_DEFERRED,
	IQCN_A_QUEUE_CNP_CANCELED,
	IQCN_A_QUEUE_CNP_BUDGET,
	IQCN_A_QUEUE_CNP_UNPAIRED,
	IQCN_A_QUEUE_CNP_GAP,
	IQCN_A_QUEUE_CNP_ERROR,
	IQCN_A_QUEUE_PAIRED,
	IQCN_A_QUEUE_CONTRADICTED,
	IQCN_A_QUEUE_FLOW_NEW,
	IQCN_A_QUEUE_FLOW_AGED,
	IQCN_A_QUEUE_FLOW_EVICTED,
	IQCN_A_QUEUE_FLOW_FULL,
	IQCN_A_QUEUE_MALFORMED,
	IQCN_A_QUEUE_STATE_CHANGES,
	IQCN_A_QUEUE_FLOW_STATE_CHANGES,
	IQCN_A_QUEUE_PAD,
	IQCN_A_QUEUE_SAMPLE_LOST,
	IQCN_A_QUEUE_MARKED_BYTES,
	IQCN_A_QUEUE_DELAY_SUM_NS,
	IQCN_A_QUEUE_DELAY_SAMPLES,
	IQCN_A_QUEUE_DELAY_AVG_NS,
	IQCN_A_QUEUE_DELAY_PEAK_NS,
	IQCN_A_QUEUE_CNP_PFC,
	IQCN_A_QUEUE_PAUSES,
	IQCN_A_QUEUE_PAUSED_NS,
	IQCN_A_QUEUE_PAUSE_RX_BYTES,
	IQCN_A_QUEUE_UNDETERMINED_NS,
	IQCN_A_QUEUE_PFC_CLEAR,
	IQCN_A_QUEUE_PFC_RATE,
	IQCN_A_QUEUE_PFC_UNSURE,
	IQCN_A_QUEUE_PFC_GREW,
	IQCN_A_QUEUE_PFC_DRAINED,
	IQCN_A_QUEUE_PFC_LIMIT,
	IQCN_A_QUEUE_PFC_STATE,
	IQCN_A_QUEUE_PFC_REASON,
	IQCN_A_QUEUE_CNP_GRANT,
	IQCN_A_QUEUE_CNP_SUPPLEMENT,
	IQCN_A_QUEUE_ABOVE_KMAX_NS,
	IQCN_A_QUEUE_LEASES,
	IQCN_A_QUEUE_LEASES_ENDED,
	IQCN_A_QUEUE_REF_BYTES,
	__IQCN_A_QUEUE_MAX
};

#define IQCN_A_QUEUE_MAX (__IQCN_A_QUEUE_MAX - 1)

/**
 * enum iqcn_a_flow - attributes of a flow: packets from a host to a QP of
 *	another
 * @IQCN_A_FLOW_UNSPEC: not used
 * @IQCN_A_FLOW_IFINDEX: u32, interface index; in a request: only flows of
 *	this device
 * @IQCN_A_FLOW_FILTER: u32, set of &enum iqcn_filter bits, in a request
 * @IQCN_A_FLOW_FLUSHED: u64, number of removed flows, in the reply to a flush
 * @IQCN_A_FLOW_PARENT: u32, parent of the queue through which the flow leaves
 * @IQCN_A_FLOW_ID: u32, number of the flow on its port; reused after the flow
 *	is gone
 * @IQCN_A_FLOW_AGE_NS: u64, ns since the flow was created
 * @IQCN_A_FLOW_SRC: address of the sender of the data, 4 or 16 bytes
 * @IQCN_A_FLOW_DST: address of the receiver of the data, 4 or 16 bytes
 * @IQCN_A_FLOW_VID: u16, VLAN id, 0: none
 * @IQCN_A_FLOW_INNER_VID: u16, VLAN id of the second tag, 0: none
 * @IQCN_A_FLOW_DEST_QP: u32, DestQP of the data
 * @IQCN_A_FLOW_SRC_QP: u32, the sender's QP; absent if it is not known
 * @IQCN_A_FLOW_PAIR: u32, &enum iqcn_pair_grade, evidence for SRC_QP
 * @IQCN_A_FLOW_PAIRED: flag: the evidence suffices for CNPs
 * @IQCN_A_FLOW_CONGESTED: u32, set of &enum iqcn_detect bits, of the queue or
 *	of the flow itself; 0: clear
 * @IQCN_A_FLOW_STATE_REASON: u32, &enum iqcn_reason of that state
 * @IQCN_A_FLOW_STATE_AGE_NS: u64, ns in that state; absent if it never changed
 * @IQCN_A_FLOW_QUEUED: u32, queued packets that refer to the flow: sampled ones
 *	that are CE or will probably be marked, those that are evidence for
 *	pairing, and with IQCN_NOTIFY_GRANT all that are CE or found a deep
 *	queue
 * @IQCN_A_FLOW_PSN: u32, PSN of the last sampled CE packet (with
 *	IQCN_NOTIFY_GRANT: of the last CE packet), or of a later packet that was
 *	evidence for pairing; 0 if there was none
 * @IQCN_A_FLOW_RUN: u32, length of the current run of CE packets with
 *	consecutive PSNs
 * @IQCN_A_FLOW_CE_SENT: u64, sampled CE packets, except those that left while
 *	the queue was paused or undetermined (&enum iqcn_pfc_state)
 * @IQCN_A_FLOW_CNP_SEEN: u64, CNPs of the receiver that passed the filter
 * @IQCN_A_FLOW_CNP_SENT: u64, generated CNPs
 * @IQCN_A_FLOW_CE_AGE_NS: u64, ns since the last packet of CE_SENT left, or
 *	since the flow was created if there was none; with notify pi or wreb,
 *	the value may be too large by a little more than a window, because not
 *	every packet updates it
 * @IQCN_A_FLOW_CNP_SEEN_AGE_NS: u64, ns since a CNP of the receiver last passed
 *	the filter; absent if there was none
 * @IQCN_A_FLOW_CNP_SENT_AGE_NS: u64, ns since the last generated CNP; absent if
 *	there was none, or if the last one could not be injected
 * @IQCN_A_FLOW_CE_TO_CNP_NS: u32, smoothed time from a CE packet to its CNP,
 *	0: not known
 * @IQCN_A_FLOW_CNP_INTERVAL_NS: u32, smoothed interval of the receiver's CNPs,
 *	0: not known
 * @IQCN_A_FLOW_PAD: padding for 64-bit attributes
 * @__IQCN_A_FLOW_MAX: number of attributes, plus one
 */
enum iqcn_a_flow {
	IQCN_A_FLOW_UNSPEC,
	IQCN_A_FLOW_IFINDEX,
	IQCN_A_FLOW_FILTER,
	IQCN_A_FLOW_FLUSHED,
	IQCN_A_FLOW_PARENT,
	IQCN_A_FLOW_ID,
	IQCN_A_FLOW_AGE_NS,
	IQCN_A_FLOW_SRC,
	IQCN_A_FLOW_DST,
	IQCN_A_FLOW_VID,
	IQCN_A_FLOW_INNER_VID,
	IQCN_A_FLOW_DEST_QP,
	IQCN_A_FLOW_SRC_QP,
	IQCN_A_FLOW_PAIR,
	IQCN_A_FLOW_PAIRED,
	IQCN_A_FLOW_CONGESTED,
	IQCN_A_FLOW_STATE_REASON,
	IQCN_A_FLOW_STATE_AGE_NS,
	IQCN_A_FLOW_QUEUED,
	IQCN_A_FLOW_PSN,
	IQCN_A_FLOW_RUN,
	IQCN_A_FLOW_CE_SENT,
	IQCN_A_FLOW_CNP_SEEN,
	IQCN_A_FLOW_CNP_SENT,
	IQCN_A_FLOW_CE_AGE_NS,
	IQCN_A_FLOW_CNP_SEEN_AGE_NS,
	IQCN_A_FLOW_CNP_SENT_AGE_NS,
	IQCN_A_FLOW_CE_TO_CNP_NS,
	IQCN_A_FLOW_CNP_INTERVAL_NS,
	IQCN_A_FLOW_PAD,
	__IQCN_A_FLOW_MAX
};

#define IQCN_A_FLOW_MAX (__IQCN_A_FLOW_MAX - 1)

/**
 * enum iqcn_a_event - attributes of an event
 * @IQCN_A_EVENT_UNSPEC: not used
 * @IQCN_A_EVENT_TIME_NS: u64, time of the event, in ns of CLOCK_MONOTONIC
 * @IQCN_A_EVENT_LOST: u64, number of events of this group that the network
 *	namespace, not only this queue, had lost before that time
 * @IQCN_A_EVENT_IFINDEX: u32, interface index
 * @IQCN_A_EVENT_PARENT: u32, parent of the queue
 * @IQCN_A_EVENT_DEPTH_BYTES: u32, depth of the queue at that time
 * @IQCN_A_EVENT_CONGESTED: u32, set of &enum iqcn_detect bits, of the queue or
 *	of the flow
 * @IQCN_A_EVENT_REASON: u32, &enum iqcn_reason of the change
 * @IQCN_A_EVENT_CE_RATE_BPS: u64, CE rate of the queue
 * @IQCN_A_EVENT_ROCE_BPS: u64, RoCE rate that the CE rate is compared with
 * @IQCN_A_EVENT_SRC: address of the sender of the flow's data, 4 or 16 bytes
 * @IQCN_A_EVENT_DST: address of the receiver of the flow's data, 4 or 16 bytes
 * @IQCN_A_EVENT_VID: u16, VLAN id, 0: none
 * @IQCN_A_EVENT_INNER_VID: u16, VLAN id of the second tag, 0: none
 * @IQCN_A_EVENT_DEST_QP: u32, DestQP of the flow's data
 * @IQCN_A_EVENT_SRC_QP: u32, the sender's QP, to which the CNP goes
 * @IQCN_A_EVENT_CAUSE: u32, &enum iqcn_cause of the CNP
 * @IQCN_A_EVENT_PAD: padding for 64-bit attributes
 * @IQCN_A_EVENT_PFC_STATE: u32, &enum iqcn_pfc_state of the queue
 * @IQCN_A_EVENT_PFC_REASON: u32, &enum iqcn_pfc_reason of the change
 * @__IQCN_A_EVENT_MAX: number of attributes, plus one
 *
 * Every event contains the attributes up to DEPTH_BYTES.
 * IQCN_CMD_QUEUE_STATE_NTF and IQCN_CMD_FLOW_STATE_NTF contain CONGESTED and
 * REASON, and the former also the two rates.  IQCN_CMD_FLOW_STATE_NTF and
 * IQCN_CMD_CNP_NTF contain SRC to DEST_QP, and the latter also SRC_QP and
 * CAUSE.  IQCN_CMD_PFC_NTF contains PFC_STATE and PFC_REASON, and
 * IQCN_CMD_LEASE_NTF no attribute of its own.
 */
enum iqcn_a_event {
	IQCN_A_EVENT_UNSPEC,
	IQCN_A_EVENT_TIME_NS,
	IQCN_A_EVENT_LOST,
	IQCN_A_EVENT_IFINDEX,
	IQCN_A_EVENT_PARENT,
	IQCN_A_EVENT_DEPTH_BYTES,
	IQCN_A_EVENT_CONGESTED,
	IQCN_A_EVENT_REASON,
	IQCN_A_EVENT_CE_RATE_BPS,
	IQCN_A_EVENT_ROCE_BPS,
	IQCN_A_EVENT_SRC,
	IQCN_A_EVENT_DST,
	IQCN_A_EVENT_VID,
	IQCN_A_EVENT_INNER_VID,
	IQCN_A_EVENT_DEST_QP,
	IQCN_A_EVENT_SRC_QP,
	IQCN_A_EVENT_CAUSE,
	IQCN_A_EVENT_PAD,
	IQCN_A_EVENT_PFC_STATE,
	IQCN_A_EVENT_PFC_REASON,
	__IQCN_A_EVENT_MAX
};

#define IQCN_A_EVENT_MAX (__IQCN_A_EVENT_MAX - 1)

/* Longest lease: an hour */
#define IQCN_LEASE_MAX_MS	3600000

/**
 * enum iqcn_a_lease - attributes of IQCN_CMD_LEASE
 * @IQCN_A_LEASE_UNSPEC: not used
 * @IQCN_A_LEASE_IFINDEX: u32, interface index
 * @IQCN_A_LEASE_PARENT: u32, parent of the queue
 * @IQCN_A_LEASE_MS: u32, length of the lease in ms, 1 to IQCN_LEASE_MAX_MS
 * @IQCN_A_LEASE_FILTER_N: u32, CNPs of receivers that pass in an interval, at
 *	least 1; needs FILTER_NS
 * @IQCN_A_LEASE_FILTER_NS: u32, that interval in ns; needs FILTER_N
 * @IQCN_A_LEASE_SUPPLEMENT_PPS: u32, CNPs per second of IQCN_NOTIFY_SUPPLEMENT,
 *	which must be on for the queue
 * @__IQCN_A_LEASE_MAX: number of attributes, plus one
 *
 * The bounds are the same as in tc requests.  An omitted value is not leased:
 * tc's value is in force, even if the previous lease set another one.
 */
enum iqcn_a_lease {
	IQCN_A_LEASE_UNSPEC,
	IQCN_A_LEASE_IFINDEX,
	IQCN_A_LEASE_PARENT,
	IQCN_A_LEASE_MS,
	IQCN_A_LEASE_FILTER_N,
	IQCN_A_LEASE_FILTER_NS,
	IQCN_A_LEASE_SUPPLEMENT_PPS,
	__IQCN_A_LEASE_MAX
};

#define IQCN_A_LEASE_MAX (__IQCN_A_LEASE_MAX - 1)

#endif /* _UAPI_LINUX_IQCN_NETLINK_H */
