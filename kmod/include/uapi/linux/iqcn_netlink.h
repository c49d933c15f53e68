/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_iqcn: generic netlink family "iqcn".
 *
 * What Documentation/netlink/specs/iqcn.yaml says, for C.  Everything is about
 * the network namespace of the socket.  Ports and queues are for every reader.
 * Flows, both groups and IQCN_CMD_FLOW_FLUSH need CAP_NET_ADMIN in the user
 * namespace of that network namespace: they tell QP numbers and PSNs, with which
 * packets can be forged.  Numbers are only ever appended; a reader skips
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
 * @IQCN_CMD_PORT_GET: do: the port of IQCN_A_PORT_IFINDEX; dump: that or all;
 *	both in &enum iqcn_a_port
 * @IQCN_CMD_QUEUE_GET: dump: queues, of IQCN_A_QUEUE_IFINDEX or of all ports,
 *	those that IQCN_A_QUEUE_FILTER takes; in &enum iqcn_a_queue.  If queues
 *	came or went meanwhile, NLM_F_DUMP_INTR says so; so it does for ports
 * @IQCN_CMD_FLOW_GET: dump: flows, likewise, in &enum iqcn_a_flow.  Each flow
 *	that was there all the time is in it once, none is in it twice
 * @IQCN_CMD_FLOW_FLUSH: do: forget the flows of IQCN_A_FLOW_IFINDEX, and if
 *	given IQCN_A_FLOW_PARENT, or of all ports; the reply has IQCN_A_FLOW_FLUSHED
 * @IQCN_CMD_QUEUE_STATE_NTF: group "state": the congestion of a queue began or
 *	ended; in &enum iqcn_a_event
 * @IQCN_CMD_FLOW_STATE_NTF: group "state": that of a single flow, likewise.  It ends
 *	without an event when that of its queue changes or the queue's parameters do,
 *	or the flow is forgotten or leaves by another queue
 * @IQCN_CMD_CNP_NTF: group "cnp": a CNP of ours is about to be sent, likewise
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
	__IQCN_CMD_MAX
};

#define IQCN_CMD_MAX (__IQCN_CMD_MAX - 1)

/**
 * enum iqcn_filter - which queues or flows are wanted, as bits; all must hold
 * @IQCN_FILTER_CONGESTED: those in congestion: of flows all while their queue is
 * @IQCN_FILTER_PAIRED: flows whose pairing is good enough to send on
 */
enum iqcn_filter {
	IQCN_FILTER_CONGESTED	= 1 << 0,
	IQCN_FILTER_PAIRED	= 1 << 1,
};

/**
 * enum iqcn_a_port - a device with at least one queue of ours
 * @IQCN_A_PORT_UNSPEC: not used
 * @IQCN_A_PORT_IFINDEX: u32, its device
 * @IQCN_A_PORT_IFNAME: string, name of that
 * @IQCN_A_PORT_SNOOP: u32, &enum iqcn_snoop
 * @IQCN_A_PORT_DEPTH_BYTES: u64, bytes that wait in all its queues
 * @IQCN_A_PORT_STATE_LOST: u64, events of group "state" that were not sent for
 *	there were too many; of the whole namespace
 * @IQCN_A_PORT_CNP_LOST: u64, likewise of group "cnp"
 * @IQCN_A_PORT_QUEUES: u64, and so are those up to IQCN_A_PORT_MALFORMED: its
 *	queues.  These are the values in /sys/class/net/DEV/iqcn/, by name
 * @IQCN_A_PORT_QUEUES_CONGESTED: those in congestion
 * @IQCN_A_PORT_FLOWS: flows now
 * @IQCN_A_PORT_FLOWS_UNSETTLED: those that could do with better evidence of who
 *	sends them
 * @IQCN_A_PORT_ECN_MARK: packets marked CE here
 * @IQCN_A_PORT_CE_IN: packets that were CE when they came
 * @IQCN_A_PORT_CE_SENT: RoCEv2 data packets that left with CE
 * @IQCN_A_PORT_CE_SAMPLED: those of them that were looked at
 * @IQCN_A_PORT_CNP_SEEN: CNPs of receivers
 * @IQCN_A_PORT_CNP_SENT: CNPs of ours
 * @IQCN_A_PORT_CNP_DELAYED: CNPs that were due and held back
 * @IQCN_A_PORT_CNP_CANCELLED: those of them that were not sent
 * @IQCN_A_PORT_CNP_BUDGET: CNPs that were due but over the budget
 * @IQCN_A_PORT_CNP_UNPAIRED: CNPs that were due but the pairing was too weak
 * @IQCN_A_PORT_CNP_UNMATCHED: CNPs that belong to no flow
 * @IQCN_A_PORT_CNP_RATE_PPS: CNP/s it may send
 * @IQCN_A_PORT_CNP_BURST: CNPs it may send at once
 * @IQCN_A_PORT_MALFORMED: RoCE-like packets that do not parse, or whose checksum or
 *	ICRC is wrong where it was looked at
 * @IQCN_A_PORT_PAD: padding for 64-bit attributes
 * @IQCN_A_PORT_CNP_SMAC: 6 bytes, source address of the CNPs that it generates
 *	with IQCN_CNP_SMAC_PORT
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
	IQCN_A_PORT_FLOWS_UNSETTLED,
	IQCN_A_PORT_ECN_MARK,
	IQCN_A_PORT_CE_IN,
	IQCN_A_PORT_CE_SENT,
	IQCN_A_PORT_CE_SAMPLED,
	IQCN_A_PORT_CNP_SEEN,
	IQCN_A_PORT_CNP_SENT,
	IQCN_A_PORT_CNP_DELAYED,
	IQCN_A_PORT_CNP_CANCELLED,
	IQCN_A_PORT_CNP_BUDGET,
	IQCN_A_PORT_CNP_UNPAIRED,
	IQCN_A_PORT_CNP_UNMATCHED,
	IQCN_A_PORT_CNP_RATE_PPS,
	IQCN_A_PORT_CNP_BURST,
	IQCN_A_PORT_MALFORMED,
	IQCN_A_PORT_PAD,
	IQCN_A_PORT_CNP_SMAC,
	__IQCN_A_PORT_MAX
};

#define IQCN_A_PORT_MAX (__IQCN_A_PORT_MAX - 1)

/**
 * enum iqcn_a_queue - a qdisc
 * @IQCN_A_QUEUE_UNSPEC: not used
 * @IQCN_A_QUEUE_IFINDEX: u32, its device; in a request: only those of it
 * @IQCN_A_QUEUE_FILTER: u32, set of &enum iqcn_filter bits, in a request
 * @IQCN_A_QUEUE_PARENT: u32, the qdisc's parent, by which it is known
 * @IQCN_A_QUEUE_DEPTH_BYTES: u32, bytes that wait now
 * @IQCN_A_QUEUE_LIMIT_BYTES: u32, bytes it holds before it drops
 * @IQCN_A_QUEUE_KMIN_BYTES: u32, Kmin
 * @IQCN_A_QUEUE_KMAX_BYTES: u32, Kmax
 * @IQCN_A_QUEUE_NOTIFY: u32, set of &enum iqcn_notify bits
 * @IQCN_A_QUEUE_TX_BYTES: u64, bytes sent
 * @IQCN_A_QUEUE_TX_PACKETS: u64, packets sent
 * @IQCN_A_QUEUE_STATE_AGE_NS: u64, ns since its congestion began or ended, not
 *	there if it never did
 * @IQCN_A_QUEUE_STATE_REASON: u32, &enum iqcn_reason of that
 * @IQCN_A_QUEUE_CONGESTED: u32, set of &enum iqcn_detect bits.  From here to
 *	IQCN_A_QUEUE_FLOW_STATE_CHANGES these are the fields of &struct
 *	tc_iqcn_xstats, by name and with its meaning: those of 64 bits are u64, the
 *	others u32
 * @IQCN_A_QUEUE_FLOWS: flows now
 * @IQCN_A_QUEUE_FLOWS_PAIRED: those paired well enough to send on
 * @IQCN_A_QUEUE_FLOWS_CONGESTED: those in congestion
 * @IQCN_A_QUEUE_FLOWS_ACTIVE: those active in the last milliseconds
 * @IQCN_A_QUEUE_DEPTH_PEAK_BYTES: highest depth seen above Kmin
 * @IQCN_A_QUEUE_BTS_PROB: probability of a CNP per packet, as a share of U32_MAX
 * @IQCN_A_QUEUE_RATE_BPS: CE rate of the last window
 * @IQCN_A_QUEUE_ROCE_BPS: RoCE rate that it is compared with
 * @IQCN_A_QUEUE_ECN_MARK: packets marked CE
 * @IQCN_A_QUEUE_BTS_MARK: those marked for they caused a CNP, or would have
 * @IQCN_A_QUEUE_CE_IN: packets that were CE when they came
 * @IQCN_A_QUEUE_CE_SENT: RoCEv2 data packets that left with CE
 * @IQCN_A_QUEUE_CE_SAMPLED: those of them that were looked at
 * @IQCN_A_QUEUE_NOT_ECT: packets to be marked that are not ECT
 * @IQCN_A_QUEUE_NOT_ECT_DROP: those of them that were dropped
 * @IQCN_A_QUEUE_UNMARKABLE: ECT packets whose header could not be written
 * @IQCN_A_QUEUE_DROP_OVERLIMIT: packets dropped because the queue was full
 * @IQCN_A_QUEUE_CNP_SEEN: CNPs of receivers
 * @IQCN_A_QUEUE_CNP_SENT: CNPs of ours
 * @IQCN_A_QUEUE_CNP_WREB: those for IQCN_CAUSE_WREB
 * @IQCN_A_QUEUE_CNP_PI: those for IQCN_CAUSE_PI
 * @IQCN_A_QUEUE_CNP_HOLD: those for IQCN_CAUSE_HOLD
 * @IQCN_A_QUEUE_CNP_DROP: those for IQCN_CAUSE_DROP
 * @IQCN_A_QUEUE_CNP_DELAYED: CNPs that were due and held back
 * @IQCN_A_QUEUE_CNP_CANCELLED: those of them that were not sent
 * @IQCN_A_QUEUE_CNP_BUDGET: CNPs that were due but over the budget
 * @IQCN_A_QUEUE_CNP_UNPAIRED: CNPs that were due but the pairing was too weak
 * @IQCN_A_QUEUE_CNP_GAP: CNPs that were due but too soon after another
 * @IQCN_A_QUEUE_CNP_ERROR: CNPs that could not be built or delivered
 * @IQCN_A_QUEUE_PAIRED: pairings made
 * @IQCN_A_QUEUE_CONTRADICTED: pairings dropped, for other evidence disagreed
 * @IQCN_A_QUEUE_FLOW_NEW: flows made
 * @IQCN_A_QUEUE_FLOW_AGED: flows forgotten for want of packets
 * @IQCN_A_QUEUE_FLOW_EVICTED: flows forgotten to make room
 * @IQCN_A_QUEUE_FLOW_FULL: packets for which no flow could be made, or no
 *	detectors of its own
 * @IQCN_A_QUEUE_MALFORMED: RoCE-like CE packets that do not parse
 * @IQCN_A_QUEUE_STATE_CHANGES: changes of its congestion
 * @IQCN_A_QUEUE_FLOW_STATE_CHANGES: changes of the congestion of single flows
 * @IQCN_A_QUEUE_PAD: padding for 64-bit attributes
 * @IQCN_A_QUEUE_SAMPLE_LOST: u64, sampled packets that were not copied to the
 *	psample group because too many waited
 * @__IQCN_A_QUEUE_MAX: number of attributes, plus one
 */
enum iqcn_a_queue {
	IQCN_A_QUEUE_UNSPEC,
	IQCN_A_QUEUE_IFINDEX,
	IQCN_A_QUEUE_FILTER,
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
	IQCN_A_QUEUE_RATE_BPS,
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
	IQCN_A_QUEUE_CNP_HOLD,
	IQCN_A_QUEUE_CNP_DROP,
	IQCN_A_QUEUE_CNP_DELAYED,
	IQCN_A_QUEUE_CNP_CANCELLED,
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
	__IQCN_A_QUEUE_MAX
};

#define IQCN_A_QUEUE_MAX (__IQCN_A_QUEUE_MAX - 1)

/**
 * enum iqcn_a_flow - packets from one host to a QP of another
 * @IQCN_A_FLOW_UNSPEC: not used
 * @IQCN_A_FLOW_IFINDEX: u32, the port; in a request: only those of it
 * @IQCN_A_FLOW_FILTER: u32, set of &enum iqcn_filter bits, in a request
 * @IQCN_A_FLOW_FLUSHED: u64, flows forgotten, in the reply to a flush
 * @IQCN_A_FLOW_PARENT: u32, parent of the queue it leaves by
 * @IQCN_A_FLOW_ID: u32, number of the flow on its port; given to another one when
 *	it is gone
 * @IQCN_A_FLOW_AGE_NS: u64, ns since it was made
 * @IQCN_A_FLOW_SRC: address of the sender of the data, 4 or 16 bytes
 * @IQCN_A_FLOW_DST: likewise of the receiver
 * @IQCN_A_FLOW_VID: u16, VLAN id, 0: none
 * @IQCN_A_FLOW_INNER_VID: u16, that of the second tag
 * @IQCN_A_FLOW_DEST_QP: u32, DestQP of the data
 * @IQCN_A_FLOW_SRC_QP: u32, the sender's QP, not there if it is not known
 * @IQCN_A_FLOW_PAIR: u32, &enum iqcn_pair_grade
 * @IQCN_A_FLOW_PAIRED: flag: that is good enough to send on
 * @IQCN_A_FLOW_CONGESTED: u32, set of &enum iqcn_detect bits, of its queue or of
 *	its own; 0: it is not
 * @IQCN_A_FLOW_STATE_REASON: u32, &enum iqcn_reason of that
 * @IQCN_A_FLOW_STATE_AGE_NS: u64, ns since, not there if it never changed
 * @IQCN_A_FLOW_QUEUED: u32, its packets that wait, CE or in a deep queue
 * @IQCN_A_FLOW_PSN: u32, of its last CE packet, 0 if there was none
 * @IQCN_A_FLOW_RUN: u32, its last CE packets with consecutive PSNs
 * @IQCN_A_FLOW_CE_SENT: u64, CE packets
 * @IQCN_A_FLOW_CNP_SEEN: u64, CNPs of the receiver
 * @IQCN_A_FLOW_CNP_SENT: u64, CNPs of ours
 * @IQCN_A_FLOW_CE_AGE_NS: u64, ns since its last CE packet left, or since it was
 *	made if none has
 * @IQCN_A_FLOW_CNP_SEEN_AGE_NS: u64, ns since the receiver's last CNP, not there if
 *	there was none
 * @IQCN_A_FLOW_CNP_SENT_AGE_NS: u64, likewise of ours
 * @IQCN_A_FLOW_CE_TO_CNP_NS: u32, smoothed time from a CE packet to its CNP, 0:
 *	not known
 * @IQCN_A_FLOW_CNP_INTERVAL_NS: u32, smoothed interval of the receiver's CNPs, 0:
 *	not known
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
 * enum iqcn_a_event - something has happened
 * @IQCN_A_EVENT_UNSPEC: not used
 * @IQCN_A_EVENT_TIME_NS: u64, when, in ns of CLOCK_MONOTONIC
 * @IQCN_A_EVENT_LOST: u64, events of this group that were not sent until then; of
 *	the whole namespace
 * @IQCN_A_EVENT_IFINDEX: u32, where
 * @IQCN_A_EVENT_PARENT: u32, parent of the queue
 * @IQCN_A_EVENT_DEPTH_BYTES: u32, depth of the queue then
 * @IQCN_A_EVENT_CONGESTED: u32, set of &enum iqcn_detect bits, of the queue or of
 *	the flow; not of a CNP
 * @IQCN_A_EVENT_REASON: u32, &enum iqcn_reason; likewise
 * @IQCN_A_EVENT_RATE_BPS: u64, CE rate of the queue; of that only
 * @IQCN_A_EVENT_ROCE_BPS: u64, RoCE rate that it is compared with; likewise
 * @IQCN_A_EVENT_SRC: address of the sender of the flow's data, 4 or 16 bytes; of a
 *	flow or a CNP, and so are those that follow
 * @IQCN_A_EVENT_DST: likewise of the receiver
 * @IQCN_A_EVENT_VID: u16, VLAN id, 0: none
 * @IQCN_A_EVENT_INNER_VID: u16, that of the second tag
 * @IQCN_A_EVENT_DEST_QP: u32, DestQP of the flow's data
 * @IQCN_A_EVENT_SRC_QP: u32, the sender's QP, which the CNP goes to; of a CNP only
 * @IQCN_A_EVENT_CAUSE: u32, &enum iqcn_cause; likewise
 * @IQCN_A_EVENT_PAD: padding for 64-bit attributes
 * @__IQCN_A_EVENT_MAX: number of attributes, plus one
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
	IQCN_A_EVENT_RATE_BPS,
	IQCN_A_EVENT_ROCE_BPS,
	IQCN_A_EVENT_SRC,
	IQCN_A_EVENT_DST,
	IQCN_A_EVENT_VID,
	IQCN_A_EVENT_INNER_VID,
	IQCN_A_EVENT_DEST_QP,
	IQCN_A_EVENT_SRC_QP,
	IQCN_A_EVENT_CAUSE,
	IQCN_A_EVENT_PAD,
	__IQCN_A_EVENT_MAX
};

#define IQCN_A_EVENT_MAX (__IQCN_A_EVENT_MAX - 1)

#endif /* _UAPI_LINUX_IQCN_NETLINK_H */
