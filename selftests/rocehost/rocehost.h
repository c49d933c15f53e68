/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rocehost: RoCEv2 hosts inside the kernel, for the lab.
 *
 *	host = an interface and an address
 *	  flow = sender of a connection: requester (rc.h, sr.h), RP (rp.h)
 *	  sink = its receiver: responder (rc.h, sr.h), NP (np.h)
 *	probe = a device whose queue is sampled
 *	blast = packets through a qdisc or a hook, to measure its cost (blast.c)
 *	flood = packets of connections that do not exist (flood.c)
 *
 *	flow --> packet.c --> device ... device --> rx handler --> sink
 *	flow <-- rx handler <-- device ... device <-- ACK, NAK, CNP
 *
 * Hosts of all namespaces share one world: a flow finds its receiver by address
 * in any namespace, as if QP numbers had been exchanged out of band, and one
 * command starts the run of all namespaces.  Therefore only CAP_NET_ADMIN of
 * the initial user namespace may write commands.
 *
 * Locks: RTNL serializes creation and removal of all objects.  A host's lock
 * covers its flows and sinks.  Host locks do not nest, and packets are sent
 * after the lock has been released.
 */
#ifndef _ROCEHOST_H
#define _ROCEHOST_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/timerqueue.h>
#include <linux/xarray.h>
#include <net/netns/generic.h>

#include "arrive.h"
#include "gate.h"
#include "match.h"
#include "np.h"
#include "pace.h"
#include "ramp.h"
#include "rc.h"
#include "reps.h"
#include "rp.h"
#include "sr.h"
#include "telemetry.h"
#include "win.h"
#include "wire.h"
#include "rocev2.h"

#define RH_MTU_MIN	256
#define RH_MTU_MAX	4096
#define RH_NAME_LEN	16
#define RH_NEVER	U64_MAX

#define RH_RETH_LEN	16
/* Headers of a packet: Ethernet, IPv6, UDP, BTH */
#define RH_HDR_MAX	(14 + 40 + 8 + 12)

/* RC opcodes that rocev2.h does not define */
#define RC_WRITE_FIRST	0x06
#define RC_WRITE_MIDDLE	0x07
#define RC_WRITE_LAST	0x08
#define RC_WRITE_ONLY	0x0a
#define RC_ACK		0x11

/* AETH syndromes: the low five bits are the credits of an ACK, the timer of an
 * RNR NAK, or the code of a NAK
 */
#define AETH_ACK	0x00
#define AETH_RNR	0x20
#define AETH_NAK_PSN	0x60
/* Reserved by IBTA; see match.h */
#define AETH_RTW	0x40
#define AETH_RTS	0x41
#define AETH_IS_ACK(s)	(((s) & 0x60) == AETH_ACK)
#define AETH_LEN	4

/* AttributeID of RTU, the CM message that follows REQ and REP */
#define RH_CM_RTU	0x0014
/* Highest QP number of a flow; the QP numbers of sinks are higher */
#define RH_QPN_MAX	0x7fffff

/* Offset of a MAD's AttributeID from the BTH */
#define RH_CM_ATTR	36

/**
 * struct rh_world - state that all namespaces share
 * @open: commands are accepted; false while the module is being loaded or
 * unloaded
 * @hosts: all hosts
 * @probes: all probes
 * @epoch_ns: when the run begins, RH_NEVER before "start"
 * @count_ns: start of the interval in which events are counted
 * @stop_ns: end of that interval, and when senders stop
 * @cnps_np: CNPs that receivers have sent
 * @cnps_cp: CNPs of congestion points that senders have received
 * @flows: number of flows
 *
 * Covered by RTNL, except for the atomic counters.  Timers and the receive path
 * read the times without it: the times are set before a flow begins, and
 * afterwards only @stop_ns changes, to an earlier time.  Blasts and floods read
 * @open without RTNL.
 */
struct rh_world {
	bool open;
	struct list_head hosts;
	struct list_head probes;
	u64 epoch_ns;
	u64 count_ns;
	u64 stop_ns;
	atomic64_t cnps_np;
	atomic64_t cnps_cp;
	u32 flows;
};

extern struct rh_world rh_world;

/* Is @now_ns within the interval in which events are counted? */
static inline bool rh_counting(u64 now_ns)
{
	return now_ns >= READ_ONCE(rh_world.count_ns) &&
	       now_ns < READ_ONCE(rh_world.stop_ns);
}

/* Maximum number of flows of a blast, and of queues that blasts can use */
#define RH_BLAST_FLOWS	0x100000
#define RH_BLAST_QUEUES	4

/**
 * struct rh_blast_conf - words of "blast"; see config.c
 * @from: source address of the packets
 * @to: destination address
 * @packets: number of packets
 * @n: number of flows
 * @mtu: payload of a packet
 * @ect: ECN bits; 3 is CE
 * @depth: packets that wait in the queue when a burst begins
 * @queue: number of the device's queue
 * @known: an earlier blast has set up the connections
 * @in: the device receives the packets; they are addressed to another host
 * @udp: send UDP that is not RoCEv2
 * @tcp: send TCP
 * @ack: send ACKs
 * @cnp: send CNPs
 */
struct rh_blast_conf {
	struct in6_addr from;
	struct in6_addr to;
	u64 packets;
	u64 n;
	u64 mtu;
	u64 ect;
	u64 depth;
	u64 queue;
	u64 known;
	u64 in;
	u64 udp;
	u64 tcp;
	u64 ack;
	u64 cnp;
};

/**
 * struct rh_blast - a blast and its result
 * @dev: name of the device
 * @conf: parameters
 * @turn: index of the flow that sends next
 * @packets: packets that were timed, 0 before the first blast
 * @refused: packets that the qdisc did not accept
 * @ns: time that the packets took
 */
struct rh_blast {
	char dev[IFNAMSIZ];
	struct rh_blast_conf conf;
	u64 turn;
	u64 packets;
	u64 refused;
	u64 ns;
};

/**
 * struct rh_flood_conf - words of "flood"; see config.c
 * @via: destination MAC
 * @from: source address, all zero: random in each packet
 * @to: destination address, all zero: random in each packet
 * @qp: DestQP, RH_NEVER: random in each packet
 * @psn: PSN of the first packet, then consecutive; RH_NEVER: random
 * @vlan: VLAN id, 0: untagged
 * @packets: number of packets
 * @rate_pps: packets per second
 * @ecn: ECN bits of all packets except CNPs
 * @seed: seed of the random values
 * @ack: send ACKs
 * @cnp: send CNPs
 * @req: send connection requests (CM REQ)
 */
struct rh_flood_conf {
	u8 via[ETH_ALEN];
	struct in6_addr from;
	struct in6_addr to;
	u64 qp;
	u64 psn;
	u64 vlan;
	u64 packets;
	u64 rate_pps;
	u64 ecn;
	u64 seed;
	u64 ack;
	u64 cnp;
	u64 req;
};

/**
 * struct rh_flood - a flood and its result
 * @dev: name of the device
 * @conf: parameters
 * @packets: packets sent, 0 before the first flood
 * @refused: packets that the device's qdisc did not accept
 * @late: bursts that ended after the time at which the next burst was to begin
 */
struct rh_flood {
	char dev[IFNAMSIZ];
	struct rh_flood_conf conf;
	u64 packets;
	u64 refused;
	u64 late;
};

#define RH_ERROR_LEN	160

/**
 * struct rh_net - state of a namespace
 * @proc: its directory in /proc/net
 * @error: error of the last command, or empty
 * @buffer: packet buffer of the switch that the namespace represents
 * @blast: the last blast through each queue; RTNL
 * @blasts: for each queue: a blast through it is running in the namespace and
 *	will store its result in @blast; RTNL
 * @flood: the last flood
 */
struct rh_net {
	struct proc_dir_entry *proc;
	char error[RH_ERROR_LEN];
	struct wire_buffer buffer;
	struct rh_blast blast[RH_BLAST_QUEUES];
	bool blasts[RH_BLAST_QUEUES];
	struct rh_flood flood;
};

extern unsigned int rh_net_id;

/**
 * enum rh_transport - transport of a connection
 * @RH_TRANSPORT_RC: reliable connection, go back N (rc.h)
 * @RH_TRANSPORT_SR: selective repeat (sr.h)
 */
enum rh_transport {
	RH_TRANSPORT_RC,
	RH_TRANSPORT_SR,
};

/**
 * enum rh_lb - load balancing: which path does a packet take?
 * @RH_LB_FIXED: that of its flow
 * @RH_LB_OPS: a random one (oblivious packet spraying)
 * @RH_LB_REPS: one that is known to be good, or a new one (reps.h)
 */
enum rh_lb {
	RH_LB_FIXED,
	RH_LB_OPS,
	RH_LB_REPS,
};

/**
 * struct rh_host_conf - words of "host"; see config.c
 * @ip: address
 * @via: destination MAC of all packets, all zero: that of the peer
 * @rate_bps: line rate
 * @delay_ns: delay of every received packet between interface and host
 * @drain_bps: rate at which the host takes packets from its NIC, 0: no limit
 * @ack_every: send an ACK for at least every n-th packet
 * @nak_ns: repeat a NAK after this time, 0: never
 * @rto_ns: timeout of the requester; also the time after which a receiver
 *	repeats an RTS
 * @cnp_dscp: DSCP of the host's CNPs
 * @cp_dscp: DSCP that identifies CNPs of congestion points
 * @seed: seed of the host's random values
 * @qpn: QP number of the first flow
 * @next_gap: a change of the rate does not reschedule the packet that waits
 * @base_rtt_ns: round-trip time without congestion, for windows; 0: no windows
 * @transport: enum rh_transport
 * @lb: enum rh_lb
 * @entropies: number of different entropies of a flow
 * @reps_buffer: maximum number of recycled entropies of a flow
 * @reps_pool: maximum number of recycled entropies of the host
 * @freeze_ns: explore no new paths for this time after a timeout
 * @expire_ns: drop the entropies of a flow that pauses for longer
 * @recurrent: never drop the entropies of a flow that pauses
 * @ramp_ns: expected RTT for ramp.h, or RAMP_AUTO; 0: never double the rate
 * @gate: parameters of the gates of congestion control (gate.h)
 * @rtw: messages for this host need a posted receive
 * @post_ns: a receive is posted this long after the completion of the previous
 *	message
 * @table: maximum number of canaries of the host's connections
 * @rp: reaction points
 * @np: notification points
 */
struct rh_host_conf {
	struct in6_addr ip;
	u8 via[ETH_ALEN];
	u64 rate_bps;
	u64 delay_ns;
	u64 drain_bps;
	u64 ack_every;
	u64 nak_ns;
	u64 rto_ns;
	u64 cnp_dscp;
	u64 cp_dscp;
	u64 seed;
	u64 qpn;
	u64 next_gap;
	u64 base_rtt_ns;
	u64 transport;
	u64 lb;
	u64 entropies;
	u64 reps_buffer;
	u64 reps_pool;
	u64 freeze_ns;
	u64 expire_ns;
	u64 recurrent;
	u64 ramp_ns;
	struct gate_params gate;
	u64 rtw;
	u64 post_ns;
	u64 table;
	struct rp_params rp;
	struct np_params np;
};

/**
 * struct rh_host - an interface and an address
 * @list: entry in rh_world.hosts
 * @dev: interface, referenced
 * @tracker: tracker of the reference to @dev
 * @conf: parameters
 * @lock: covers the following fields, unless RTNL is noted
 * @timer: expires for the first of @due, @due_sinks, @ready and @delayed
 * @clock_ns: on a wire: time of the last event
 * @on_wire: the interface is an end of a wire, so events are processed with the
 *	times of the line and not with the time at which a timer runs
 * @due: flows ordered by their next event
 * @due_sinks: sinks ordered by their next event
 * @ready: flows whose next packet waits for the line, by priority; without a
 *	wire, all of these flows are in the first list
 * @line: pacing at line rate
 * @drain: pacing at @conf.drain_bps
 * @delayed: packets between the interface and the host
 * @pool: recycled entropies of all flows
 * @canaries: canaries of all sinks
 * @flows: flows by QP number
 * @sinks: sinks by QP number
 * @groups: groups of flows in the order of creation; RTNL
 * @sink_groups: groups of sinks; RTNL
 * @rnd: random state; RTNL
 * @next_qpn: QP number of the next flow; RTNL
 * @next_sink_qpn: QP number of the next sink; RTNL
 * @limit: when the host last sent a CNP
 * @malformed: packets with a wrong ICRC or length
 * @stray: packets for unknown QPs, from addresses other than that of the QP's
 *	peer, or of unexpected types
 * @cnps_wrong: CNPs of congestion points whose UDP source port is neither 0 nor
 *	a port of the flow that DestQP names
 * @refused: packets that the interface's queue has dropped; atomic, not covered
 *	by @lock
 * @cnps_limited: CNPs suppressed by the host's limit
 */
struct rh_host {
	struct list_head list;
	struct net_device *dev;
	netdevice_tracker tracker;
	struct rh_host_conf conf;

	spinlock_t lock;	/* flows, sinks, their lists, timer */
	struct hrtimer timer;
	u64 clock_ns;
	bool on_wire;
	struct timerqueue_head due;
	struct timerqueue_head due_sinks;
	struct list_head ready[PFC_PRIOS];
	struct pace line;
	struct pace drain;
	struct sk_buff_head delayed;
	struct reps_pool pool;
	u64 canaries;
	struct xarray flows;
	struct xarray sinks;
	struct list_head groups;
	struct list_head sink_groups;
	struct rnd_state rnd;
	u32 next_qpn;
	u32 next_sink_qpn;
	struct np_clock limit;
	u64 malformed;
	u64 stray;
	u64 cnps_wrong;
	atomic64_t refused;
	u64 cnps_limited;
};

/**
 * struct rh_headers - header template of one end of a connection
 * @align: aligns the IP header in @hdr
 * @hdr: headers up to and including the BTH
 * @to: address of the other end
 * @l3_off: offset of IP in @hdr
 * @udp_off: offset of UDP
 * @bth_off: offset of the BTH
 * @v6: IPv6
 */
struct rh_headers {
	u8 align[2];
	u8 hdr[RH_HDR_MAX];
	struct in6_addr to;
	u8 l3_off;
	u8 udp_off;
	u8 bth_off;
	bool v6;
};

/* Rules that derive UDP source ports from QP numbers, not ports themselves */
#define RH_SPORT_MLX5	65536
#define RH_SPORT_RXE	65537

#define RH_ENDLESS	U64_MAX

/**
 * struct rh_flow_conf - words of "flow"; see config.c
 * @name: name of the group in reports
 * @to: address of the receiver
 * @n: number of flows
 * @mtu: payload of a packet
 * @size: bytes of a message, or RH_ENDLESS
 * @messages: number of messages, or RH_ENDLESS
 * @every_ns: interval between messages
 * @poisson: @every_ns is the mean of an exponential distribution
 * @rate_bps: initial rate, 0: the line rate
 * @start_ns: start time, relative to the epoch
 * @spread_ns: random delay on top of @start_ns, at most this long
 * @stop_ns: stop time, relative to the epoch; RH_NEVER: the end of the run
 * @dscp: DSCP of data
 * @ect: ECN bits of data; 3: as if marked by an upstream switch
 * @sport: UDP source port, or RH_SPORT_*
 * @cm: exchange REQ, REP and RTU first
 * @psn: first PSN, RH_NEVER: random
 * @probe: device of the probe on the path's bottleneck, or empty
 * @trace: events to keep for each flow
 */
struct rh_flow_conf {
	char name[RH_NAME_LEN];
	struct in6_addr to;
	u64 n;
	u64 mtu;
	u64 size;
	u64 messages;
	u64 every_ns;
	u64 poisson;
	u64 rate_bps;
	u64 start_ns;
	u64 spread_ns;
	u64 stop_ns;
	u64 dscp;
	u64 ect;
	u64 sport;
	u64 cm;
	u64 psn;
	char probe[IFNAMSIZ];
	u64 trace;
};

/**
 * enum rh_trace_kind - events of a flow's trace
 * @RH_TRACE_START: the flow began to send
 * @RH_TRACE_CNP_NP: CNP of the receiver
 * @RH_TRACE_CNP_CP: CNP of a congestion point
 * @RH_TRACE_CUT: rate cut
 * @RH_TRACE_RAISED: rate raised
 * @RH_TRACE_NAK: retransmission after a NAK
 * @RH_TRACE_TIMEOUT: retransmission after a timeout
 * @RH_TRACE_DONE: message complete
 * @RH_TRACE_WAIT: the flow waits after an RTW or RNR NAK
 * @RH_TRACE_GO: the flow resumes after an RTS
 * @RH_TRACE_KINDS: number of kinds
 */
enum rh_trace_kind {
	RH_TRACE_START,
	RH_TRACE_CNP_NP,
	RH_TRACE_CNP_CP,
	RH_TRACE_CUT,
	RH_TRACE_RAISED,
	RH_TRACE_NAK,
	RH_TRACE_TIMEOUT,
	RH_TRACE_DONE,
	RH_TRACE_WAIT,
	RH_TRACE_GO,
	RH_TRACE_KINDS,
};

/**
 * struct rh_trace - an event of a flow
 * @at_ns: time of the event
 * @rate_bps: rate after the event
 * @alpha: in 1/2^20
 * @depth_bytes: depth of the probed queue, 0 without a probe
 * @kind: enum rh_trace_kind
 */
struct rh_trace {
	u64 at_ns;
	u64 rate_bps;
	u32 alpha;
	u32 depth_bytes;
	u32 kind;
};

/**
 * struct rh_done - a complete message
 * @arrived_ns: when the message arrived at the sender's queue
 * @took_ns: time from @arrived_ns until the ACK of the message's last packet
 * @qpn: QP number of the flow
 */
struct rh_done {
	u64 arrived_ns;
	u64 took_ns;
	u32 qpn;
};

/* Limit on the completed messages that a group of flows records */
#define RH_DONE_MAX	65536

/**
 * struct rh_flow_group - flows created by one command
 * @list: entry in rh_host.groups
 * @conf: parameters
 * @probe: probe of the bottleneck, referenced, or NULL
 * @msg_pkts: packets of a message
 * @last_bytes: payload of a message's last packet
 * @traces: @conf.trace entries for each flow
 * @done: complete messages
 * @done_max: number of entries allocated in @done
 * @n_done: number of entries in @done
 * @done_lost: complete messages that did not fit into @done
 * @flows: array of the flows
 * @sr: their selective-repeat state, or NULL
 */
struct rh_flow_group {
	struct list_head list;
	struct rh_flow_conf conf;
	struct rh_probe *probe;
	u32 msg_pkts;
	u32 last_bytes;
	struct rh_trace *traces;
	struct rh_done *done;
	u32 done_max;
	u32 n_done;
	u64 done_lost;
	struct rh_flow *flows;
	struct rh_flow_sr *sr;
};

/**
 * enum rh_flow_state - state of a flow
 * @RH_FLOW_IDLE: not started
 * @RH_FLOW_CONNECTING: REQ sent, no REP received
 * @RH_FLOW_SENDING: connected, and may send
 */
enum rh_flow_state {
	RH_FLOW_IDLE,
	RH_FLOW_CONNECTING,
	RH_FLOW_SENDING,
};

/**
 * struct rh_flow_sr - state that only flows with selective repeat have
 * @sender: packets in flight
 * @rnd: random state of oblivious spraying
 * @reps: recycled entropies
 * @ramp: epoch of ramp.h
 * @gate: gate of congestion control
 */
struct rh_flow_sr {
	struct sr_sender sender;
	struct rnd_state rnd;
	struct reps reps;
	struct ramp ramp;
	struct gate gate;
};

/**
 * struct rh_flow - the sender of a connection
 * @host: host of the flow
 * @group: parameters shared with other flows
 * @qpn: QP number
 * @dest_qpn: QP number of the receiver
 * @state: state
 * @prio: index in rh_host.ready
 * @due: entry in rh_host.due
 * @ready: entry in rh_host.ready
 * @rp: reaction point
 * @pace: pacing at the flow's rate
 * @rq: requester
 * @sr: selective-repeat state, NULL: go back N
 * @match: does the flow wait for a match?
 * @retry_ns: when to try again after an RNR NAK, RH_NEVER: no retry is pending
 * @win: window
 * @start_ns: when the flow starts
 * @stop_ns: when the flow stops, RH_NEVER: at the end of the run
 * @progress_ns: when the last of these events occurred: an ACK or NAK made
 *	progress; a timeout expired; a packet was sent while none was in flight;
 *	a message of the connection setup was sent
 * @asked_ns: when an ACK was last requested
 * @arrive: arrivals of messages
 * @arrived_pkts: packets of the messages that have arrived
 * @arrived_msgs: messages that have arrived
 * @oldest: copy of @arrive that lags behind, at the oldest incomplete message
 * @done_msgs: complete messages
 * @done_ns: when the last message was completed
 * @st: counters of events while rh_counting()
 * @st.packets: packets sent
 * @st.resent: packets retransmitted, part of @st.packets
 * @st.naks: NAKs
 * @st.timeouts: timeouts
 * @st.cnps_np: CNPs of the receiver
 * @st.cnps_cp: CNPs of congestion points
 * @st.cnps_telemetry: CNPs with telemetry
 * @st.cuts: rate cuts
 * @st.raised: rate increases
 * @st.raised_above_kmax: rate increases with the probed queue above Kmax
 * @st.grants: CNPs with a window
 * @st.exceeded: windows that were exceeded
 * @st.doubled: how often the rate was doubled
 * @st.gated: CNPs that the gate suppressed
 * @st.rtws: RTWs
 * @st.rtss: RTSs
 * @last_telemetry: telemetry of the last CNP counted in @st.cnps_telemetry
 * @headers: header template of its packets
 * @n_trace: events traced since the start, overwritten ones included
 */
struct rh_flow {
	struct rh_host *host;
	struct rh_flow_group *group;
	u32 qpn;
	u32 dest_qpn;
	enum rh_flow_state state;
	u8 prio;
	struct timerqueue_node due;
	struct list_head ready;
	struct rp rp;
	struct pace pace;
	struct rc_requester rq;
	struct rh_flow_sr *sr;
	struct match_tx match;
	u64 retry_ns;
	struct win win;
	u64 start_ns;
	u64 stop_ns;
	u64 progress_ns;
	u64 asked_ns;
	struct arrivals arrive;
	u64 arrived_pkts;
	u64 arrived_msgs;
	struct arrivals oldest;
	u64 done_msgs;
	u64 done_ns;
	struct {
		u64 packets;
		u64 resent;
		u64 naks;
		u64 timeouts;
		u64 cnps_np;
		u64 cnps_cp;
		u64 cnps_telemetry;
		u64 cuts;
		u64 raised;
		u64 raised_above_kmax;
		u64 grants;
		u64 exceeded;
		u64 doubled;
		u64 gated;
		u64 rtws;
		u64 rtss;
	} st;
	struct telemetry last_telemetry;
	struct rh_headers headers;
	u32 n_trace;
};

/**
 * struct rh_sink_group - receivers of a group of flows
 * @list: entry in rh_host.sink_groups
 * @name: name of the group of flows
 * @n: number of sinks
 * @sinks: array of the sinks
 * @receivers: their selective-repeat state, or NULL
 */
struct rh_sink_group {
	struct list_head list;
	char name[RH_NAME_LEN];
	u32 n;
	struct rh_sink *sinks;
	struct sr_receiver *receivers;
};

/**
 * struct rh_sink - the receiver of a connection
 * @qpn: QP number
 * @dest_qpn: QP number of the sender
 * @rs: responder
 * @sr: selective-repeat state, NULL: go back N
 * @rtw: messages need a match
 * @match: matches
 * @post_ns: when the next receive is posted, RH_NEVER: not yet known
 * @rts_ns: when to repeat the RTS
 * @due: entry in rh_host.due_sinks
 * @np: when the sink last sent a CNP
 * @st: counters of events while rh_counting()
 * @st.packets: data packets
 * @st.ce: data packets with CE
 * @st.out_of_order: data packets that were not accepted, because the PSN was
 *	unexpected or a duplicate, or because there was no match
 * @st.bytes: payload accepted
 * @st.cnps: CNPs sent
 * @st.unmatched: data packets without a match
 * @st.rtws: RTWs sent
 * @st.rtss: RTSs sent
 * @st.rnrs: RNR NAKs sent
 * @headers: header template of its packets
 */
struct rh_sink {
	u32 qpn;
	u32 dest_qpn;
	struct rc_responder rs;
	struct sr_receiver *sr;
	bool rtw;
	struct match_rx match;
	u64 post_ns;
	u64 rts_ns;
	struct timerqueue_node due;
	struct np_clock np;
	struct {
		u64 packets;
		u64 ce;
		u64 out_of_order;
		u64 bytes;
		u64 cnps;
		u64 unmatched;
		u64 rtws;
		u64 rtss;
		u64 rnrs;
	} st;
	struct rh_headers headers;
};

/**
 * struct rh_probe_conf - words of "probe"; see config.c
 * @every_ns: interval between samples
 * @samples: maximum number of samples
 * @kmax_bytes: Kmax of the queue, for @raised_above_kmax of the flows
 */
struct rh_probe_conf {
	u64 every_ns;
	u64 samples;
	u64 kmax_bytes;
};

/**
 * struct rh_sample - a sample of a queue
 * @at_ns: time after the epoch
 * @sent_bytes: bytes sent by the qdisc since its creation
 * @drops: packets dropped by the qdisc since its creation
 * @cnps_np: rh_world.cnps_np at that time
 * @cnps_cp: rh_world.cnps_cp at that time
 * @paused_ns: time for which PFC has stopped the device, see wire_paused_ns()
 * @depth_bytes: backlog
 */
struct rh_sample {
	u64 at_ns;
	u64 sent_bytes;
	u64 drops;
	u64 cnps_np;
	u64 cnps_cp;
	u64 paused_ns;
	u32 depth_bytes;
};

/**
 * struct rh_probe - a device whose queue is sampled
 * @list: entry in rh_world.probes
 * @refs: references of the list and of groups of flows
 * @net: namespace of the device
 * @name: name of the device
 * @dev: device, NULL once it is unregistered
 * @tracker: tracker of the reference to @dev
 * @conf: parameters
 * @timer: takes the samples; runs from the epoch until the run ends, @samples
 *	is full or the device is unregistered, and is canceled before the
 *	references to the device and to the probe are dropped
 * @n: number of samples; only the timer writes it while a run is in progress
 * @samples: array of the samples
 */
struct rh_probe {
	struct list_head list;
	refcount_t refs;
	const struct net *net;
	char name[IFNAMSIZ];
	struct net_device __rcu *dev;
	netdevice_tracker tracker;
	struct rh_probe_conf conf;
	struct hrtimer timer;
	u32 n;
	struct rh_sample *samples;
};

/* module.c */
void rh_clear(struct net *net);
int rh_attach(struct wire_end *end);

/* config.c */
int rh_command(struct net *net, char *line);

/* host.c */
int rh_host_add(struct net_device *dev, const struct rh_host_conf *conf);
void rh_host_del(struct rh_host *host);
struct rh_host *rh_host_of(const struct net_device *dev);
struct rh_host *rh_host_by_ip(const struct in6_addr *ip);
void rh_host_kick(const struct net_device *dev, u64 at_ns);
void rh_host_start(struct rh_host *host);
void rh_out(struct rh_host *host, struct sk_buff *skb, u64 now_ns,
	    struct sk_buff_head *out);

/**
 * struct rh_answer - a CNP, ACK or NAK
 * @pkt: the packet
 * @syndrome: AETH syndrome, meaningless for a CNP
 * @msn: message number in the AETH, meaningless for a CNP
 * @dscp: DSCP
 * @has_sr: @sr is valid
 * @sr: fields of a selective-repeat ACK
 */
struct rh_answer {
	const struct iqcn_pkt *pkt;
	u8 syndrome;
	u32 msn;
	u8 dscp;
	bool has_sr;
	struct sr_ack sr;
};

/* flow.c */
void *rh_alloc_array(u64 n, size_t size);
int rh_flow_add(struct rh_host *host, const struct rh_flow_conf *conf,
		struct rh_host *peer, struct rh_probe *probe);
void rh_flow_groups_free(struct rh_host *host);
void rh_flow_begin(struct rh_flow *flow);
void rh_flow_run(struct rh_flow *flow, u64 now_ns, struct sk_buff_head *out);
struct sk_buff *rh_flow_send(struct rh_flow *flow, u64 now_ns);
void rh_flow_received(struct rh_flow *flow, const struct rh_answer *answer,
		      u64 now_ns);
void rh_flow_told(struct rh_flow *flow, const struct telemetry *tm, u64 now_ns);
void rh_flow_granted(struct rh_flow *flow, u32 bytes, u64 now_ns);
void rh_flow_accepted(struct rh_flow *flow, u64 now_ns,
		      struct sk_buff_head *out);

/* lb.c */
u16 rh_lb_next(struct rh_flow *flow, u64 now_ns);
u16 rh_lb_sport(const struct rh_flow *flow, u16 entropy);
bool rh_lb_entropy(const struct rh_flow *flow, u16 sport, u16 *entropy);
void rh_lb_acked(struct rh_flow *flow, u16 entropy, bool ce, u64 now_ns);
void rh_lb_bad(struct rh_flow *flow, u16 entropy, u64 now_ns);
void rh_lb_timeout(struct rh_flow *flow, u16 entropy, u64 now_ns);
u64 rh_lb_expires_ns(const struct rh_flow *flow);
void rh_lb_run(struct rh_flow *flow, u64 now_ns);
void rh_lb_end(struct rh_flow *flow);

/**
 * struct rh_data - a data packet
 * @pkt: the packet
 * @ack_req: the packet requests an ACK
 * @ce: the packet is marked CE
 * @payload: bytes of payload
 * @sent_ns: its time stamp; selective repeat only
 * @msg: lower 32 bits of its message number; selective repeat only
 */
struct rh_data {
	const struct iqcn_pkt *pkt;
	bool ack_req;
	bool ce;
	u32 payload;
	u64 sent_ns;
	u32 msg;
};

/* sink.c */
int rh_sink_add(struct rh_host *host, const struct rh_host *peer,
		const struct rh_flow_group *group);
void rh_sink_undo(struct rh_host *host);
void rh_sink_groups_free(struct rh_host *host);
void rh_sink_received(struct rh_host *host, struct rh_sink *sink,
		      const struct rh_data *data, u64 now_ns,
		      struct sk_buff_head *out);
void rh_sink_begin(struct rh_host *host, struct rh_sink *sink);
void rh_sink_run(struct rh_host *host, struct rh_sink *sink, u64 now_ns,
		 struct sk_buff_head *out);

/* packet.c */
/**
 * struct rh_addr - one end of a connection
 * @mac: its MAC or, if it is the receiver and "via" is set, that of the router
 * @ip: address
 */
struct rh_addr {
	const u8 *mac;
	const struct in6_addr *ip;
};

/**
 * struct rh_extra - fields of a packet that differ from the header template
 * @sport: UDP source port
 * @len: length of @bytes
 * @bytes: extension header that follows the RC headers
 */
struct rh_extra {
	u16 sport;
	u8 len;
	u8 bytes[SR_ACK_LEN];
};

int rh_zeros_need(u32 bytes);
void rh_zeros_free(void);
void rh_headers_init(struct rh_headers *h, const struct rh_addr *from,
		     const struct rh_addr *to, u8 dscp, u8 ect, u16 sport,
		     u32 dest_qpn);
u16 rh_headers_sport(const struct rh_headers *h);
struct sk_buff *rh_build_data(const struct rh_headers *h, u8 opcode, u32 psn,
			      bool ack_req, u32 bytes, u64 msg_bytes,
			      const struct rh_extra *extra);
struct sk_buff *rh_build_ack(const struct rh_headers *h, u8 syndrome, u32 psn,
			     u32 msn, const struct rh_extra *extra);
struct sk_buff *rh_build_cnp(const struct rh_headers *h,
			     const struct in6_addr *from, u32 dest_qpn,
			     u8 dscp, u16 sport);
struct sk_buff *rh_build_bare(const struct rh_headers *h, u32 psn);
struct sk_buff *rh_build_cm(const struct rh_headers *h, u16 attr, u32 local_qpn,
			    u32 remote_qpn, u32 psn);
bool rh_icrc_ok(const struct sk_buff *skb, const struct iqcn_pkt *pkt);

/* probe.c */
int rh_probe_add(struct net_device *dev, const struct rh_probe_conf *conf);
struct rh_probe *rh_probe_find(const char *name);
void rh_probe_gone(const struct net_device *dev);
void rh_probe_stop(struct rh_probe *probe);
void rh_probe_del(struct rh_probe *probe);
void rh_probe_put(struct rh_probe *probe);
void rh_probe_start(struct rh_probe *probe);
u32 rh_probe_depth(const struct rh_probe *probe);

/* blast.c */
int rh_blast(struct net_device *dev, struct rh_blast *blast);

/* flood.c */
int rh_flood(struct net_device *dev, struct rh_flood *flood);

/* report.c */
int rh_report_init(struct net *net);
void rh_report_exit(struct net *net);

#endif /* _ROCEHOST_H */
