/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rocehost: RoCEv2 hosts inside the kernel, for the lab.
 *
 *	host = an interface and an address
 *	  flow = the sender of a connection: requester (rc.h), RP (rp.h)
 *	  sink = its receiver: responder (rc.h), NP (np.h)
 *	probe = a device whose queue is looked at
 *	blast = packets through a qdisc or a hook, to see what that costs (blast.c)
 *	flood = packets of connections that do not exist (flood.c)
 *
 *	flow --> packet.c --> device ... device --> rx handler --> sink
 *	flow <-- rx handler <-- device ... device <-- ACK, NAK, CNP
 *
 * Hosts of all namespaces make one world: a flow finds its receiver by address,
 * wherever that is, as if QP numbers had been exchanged out of band; all start
 * together.  So only who may do as he likes in the first namespace may write.
 *
 * Locks: RTNL is held by whoever changes what exists.  A host's lock covers its
 * flows and sinks; no host's lock is taken under another's, and packets are
 * sent after it has been released.
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
#include "np.h"
#include "pace.h"
#include "rc.h"
#include "rp.h"
#include "telemetry.h"
#include "rocev2.h"

#define RH_MTU_MIN	256
#define RH_MTU_MAX	4096
#define RH_NAME_LEN	16
#define RH_NEVER	U64_MAX

#define RH_RETH_LEN	16
/* Ethernet, IPv6, UDP, BTH */
#define RH_HDR_MAX	(14 + 40 + 8 + 12)

/* Opcodes of RC; others are in rocev2.h */
#define RC_WRITE_FIRST	0x06
#define RC_WRITE_MIDDLE	0x07
#define RC_WRITE_LAST	0x08
#define RC_WRITE_ONLY	0x0a
#define RC_ACK		0x11

/* Syndromes of an AETH: an ACK has credits in the lower bits, a NAK its reason */
#define AETH_ACK	0x00
#define AETH_NAK_PSN	0x60
#define AETH_IS_ACK(s)	(((s) & 0x60) == AETH_ACK)
#define AETH_LEN	4

/* The third message of connection set-up */
#define RH_CM_RTU	0x0014
/* Where a message says which it is, from the BTH on */
#define RH_CM_ATTR	36

/**
 * struct rh_world - what all namespaces share
 * @open: commands are taken: the module is neither coming nor going
 * @hosts: every host
 * @probes: every probe
 * @epoch_ns: when it all starts, RH_NEVER: not yet
 * @count_ns: from when on is counted
 * @stop_ns: when senders stop, and until when is counted
 * @cnps_np: CNPs that receivers have sent
 * @cnps_cp: CNPs of congestion points that senders have got
 * @flows: how many there are
 *
 * RTNL covers all of it.  Timers and packets read the times without it: they are
 * set before a flow has begun, but for @stop_ns, which only comes nearer.  A
 * blast reads @open.
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

/**
 * rh_counting() - does what happens now count?
 * @now_ns: now
 *
 * Return: true if so.
 */
static inline bool rh_counting(u64 now_ns)
{
	return now_ns >= READ_ONCE(rh_world.count_ns) &&
	       now_ns < READ_ONCE(rh_world.stop_ns);
}

/**
 * struct rh_blast_conf - words of "blast"; see config.c
 * @from: whose packets they are
 * @to: and for whom
 * @packets: how many
 * @n: flows that they belong to
 * @mtu: payload of a packet
 * @ect: ECN bits; 3 is CE
 * @depth: packets that wait in the queue all the time
 * @known: a blast before has set the connections up
 * @in: packets come in by the device, from those who else would get them
 * @udp: they are of no RoCEv2 but other UDP
 * @tcp: or of TCP
 * @ack: they are acknowledges
 * @cnp: they are CNPs
 */
struct rh_blast_conf {
	struct in6_addr from;
	struct in6_addr to;
	u64 packets;
	u64 n;
	u64 mtu;
	u64 ect;
	u64 depth;
	u64 known;
	u64 in;
	u64 udp;
	u64 tcp;
	u64 ack;
	u64 cnp;
};

/**
 * struct rh_blast - a blast, and what came of it
 * @dev: name of the device
 * @conf: parameters
 * @turn: flow whose turn it is
 * @packets: packets that were timed, 0: there was no blast
 * @refused: packets that the qdisc did not take
 * @ns: what it took
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
 * @via: MAC that the packets go to
 * @from: whose they seem to be, all zero: another's each time
 * @to: for whom, likewise
 * @qp: DestQP, RH_NEVER: another one each time
 * @psn: PSN of the first, one more each time; RH_NEVER: at random
 * @vlan: VLAN that they are on, 0: none
 * @packets: how many
 * @rate_pps: how many in a second
 * @ecn: ECN bits of data
 * @seed: of all that is random
 * @ack: they are acknowledges
 * @cnp: they are CNPs
 * @req: they are requests for connections
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
 * struct rh_flood - a flood, and what came of it
 * @dev: name of the device
 * @conf: parameters
 * @packets: packets that were sent, 0: there was no flood
 * @refused: packets that the device's qdisc did not take
 * @late: bursts that were sent later than they should
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
 * struct rh_net - what a namespace has
 * @proc: its directory in /proc/net
 * @error: what was wrong with the last line that was written, or empty
 * @blast: the last one
 * @flood: the last one
 */
struct rh_net {
	struct proc_dir_entry *proc;
	char error[RH_ERROR_LEN];
	struct rh_blast blast;
	struct rh_flood flood;
};

extern unsigned int rh_net_id;

/**
 * struct rh_host_conf - words of "host"; see config.c
 * @ip: address
 * @via: MAC that all its packets go to, all zero: the peer's
 * @rate_bps: line rate
 * @delay_ns: from the interface to the host, for every packet that comes
 * @ack_every: acknowledge at least every so many packets
 * @nak_ns: say again what is missing after this, 0: never
 * @rto_ns: requester's time-out
 * @cnp_dscp: DSCP of its CNPs
 * @cp_dscp: DSCP by which CNPs of congestion points are known
 * @seed: of all that is random in the host
 * @rp: reaction points
 * @np: notification points
 */
struct rh_host_conf {
	struct in6_addr ip;
	u8 via[ETH_ALEN];
	u64 rate_bps;
	u64 delay_ns;
	u64 ack_every;
	u64 nak_ns;
	u64 rto_ns;
	u64 cnp_dscp;
	u64 cp_dscp;
	u64 seed;
	struct rp_params rp;
	struct np_params np;
};

/**
 * struct rh_host - an interface and an address
 * @list: in rh_world.hosts
 * @dev: interface, held
 * @tracker: of that reference
 * @conf: parameters
 * @lock: covers what follows, but for what only RTNL is for
 * @timer: for the head of @due, @ready and @delayed
 * @due: flows by their next event
 * @ready: flows whose next packet waits for the line
 * @line: when the line is free
 * @delayed: packets on their way from the interface
 * @flows: by QP number
 * @sinks: by QP number
 * @groups: of flows, in the order of their making; RTNL
 * @sink_groups: of sinks; RTNL
 * @rnd: randomness; RTNL
 * @next_qpn: next QP number for a flow; RTNL
 * @next_sink_qpn: next one for a sink; RTNL
 * @limit: last CNP of the host
 * @malformed: packets with a wrong ICRC or length
 * @stray: packets for QPs that are not here
 * @cnps_limited: CNPs that the host's limit has prevented
 */
struct rh_host {
	struct list_head list;
	struct net_device *dev;
	netdevice_tracker tracker;
	struct rh_host_conf conf;

	spinlock_t lock;	/* flows, sinks, timer, lists of both */
	struct hrtimer timer;
	struct timerqueue_head due;
	struct list_head ready;
	struct pace line;
	struct sk_buff_head delayed;
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
	u64 cnps_limited;
};

/**
 * struct rh_wire - what packets of one end of a connection have in common
 * @align: makes the IP header in @hdr aligned
 * @hdr: header, up to and with the BTH
 * @to: the other end
 * @l3_off: where IP begins in @hdr
 * @udp_off: where UDP begins
 * @bth_off: where the BTH begins
 * @v6: IPv6
 */
struct rh_wire {
	u8 align[2];
	u8 hdr[RH_HDR_MAX];
	struct in6_addr to;
	u8 l3_off;
	u8 udp_off;
	u8 bth_off;
	bool v6;
};

/* UDP source ports, beside numbers */
#define RH_SPORT_MLX5	65536
#define RH_SPORT_RXE	65537

#define RH_ENDLESS	U64_MAX

/**
 * struct rh_flow_conf - words of "flow"; see config.c
 * @name: by which reports sum them up
 * @to: the receiver's address
 * @n: how many flows
 * @mtu: payload of a packet
 * @size: of a message, or RH_ENDLESS
 * @messages: how many, RH_ENDLESS: no end
 * @every_ns: time between messages
 * @poisson: which is the mean of an exponential one
 * @rate_bps: first rate, 0: the line's
 * @start_ns: after the epoch
 * @spread_ns: and up to so much later, at random
 * @stop_ns: after the epoch: nothing is sent from then on, RH_NEVER: until the end
 * @dscp: of data
 * @ect: ECN bits of data; 3: as if a switch before had marked it
 * @sport: UDP source port, or RH_SPORT_*
 * @cm: exchange REQ, REP and RTU first
 * @psn: first PSN, RH_NEVER: at random
 * @probe: device of the probe whose queue is in the way, or empty
 * @trace: events of each flow to keep
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
 * enum rh_trace_kind - what a flow's trace tells
 * @RH_TRACE_START: it began to send
 * @RH_TRACE_CNP_NP: CNP of the receiver
 * @RH_TRACE_CNP_CP: CNP of a congestion point
 * @RH_TRACE_CUT: rate cut
 * @RH_TRACE_RAISED: rate risen
 * @RH_TRACE_NAK: went back for a NAK
 * @RH_TRACE_TIMEOUT: went back for a time-out
 * @RH_TRACE_DONE: message complete
 * @RH_TRACE_KINDS: how many there are
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
	RH_TRACE_KINDS,
};

/**
 * struct rh_trace - an event of a flow
 * @at_ns: when
 * @rate_bps: current rate after it
 * @alpha: in 1/2^20
 * @depth_bytes: of the queue in the way, 0 without a probe
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
 * struct rh_done - a message that is complete
 * @came_ns: when it came to be sent
 * @took_ns: until its last packet was acknowledged
 * @qpn: the flow
 */
struct rh_done {
	u64 came_ns;
	u64 took_ns;
	u32 qpn;
};

/* Complete messages that a group of flows remembers */
#define RH_DONE_MAX	65536

/**
 * struct rh_flow_group - flows that were made together
 * @list: in rh_host.groups
 * @conf: parameters
 * @probe: of the queue in the way, or NULL; a reference
 * @msg_pkts: packets of a message
 * @last_bytes: payload of a message's last packet
 * @traces: @conf.trace for each flow
 * @done: messages that are complete
 * @n_done: how many
 * @done_lost: those that @done had no room for
 * @flows: they
 */
struct rh_flow_group {
	struct list_head list;
	struct rh_flow_conf conf;
	struct rh_probe *probe;
	u32 msg_pkts;
	u32 last_bytes;
	struct rh_trace *traces;
	struct rh_done *done;
	u32 n_done;
	u64 done_lost;
	struct rh_flow *flows;
};

/**
 * enum rh_flow_state - a flow's life
 * @RH_FLOW_IDLE: it is not yet time
 * @RH_FLOW_CONNECTING: REQ sent, no REP yet
 * @RH_FLOW_SENDING: from then on
 */
enum rh_flow_state {
	RH_FLOW_IDLE,
	RH_FLOW_CONNECTING,
	RH_FLOW_SENDING,
};

/**
 * struct rh_flow - the sender of a connection
 * @host: whose it is
 * @group: what it has in common with others
 * @qpn: its QP number
 * @dest_qpn: the receiver's
 * @state: of its life
 * @due: in the host's queue
 * @ready: in the host's list of those that wait for the line
 * @rp: reaction point
 * @pace: of its packets
 * @rq: requester
 * @start_ns: when it begins
 * @stop_ns: when it ends, RH_NEVER: with all others
 * @progress_ns: last acknowledge, or first packet under way
 * @asked_ns: when an acknowledge was last asked for
 * @arrive: messages as they come
 * @arrived_pkts: packets of messages that have come
 * @arrived_msgs: those messages
 * @oldest: the same process, at the oldest message that is not complete
 * @done_msgs: complete messages
 * @done_ns: when the last of them was
 * @st: counters; all but those that name something else while rh_counting()
 * @st.packets: packets sent
 * @st.resent: among them for the second time
 * @st.naks: NAKs
 * @st.timeouts: time-outs
 * @st.cnps_np: CNPs of the receiver
 * @st.cnps_cp: CNPs of congestion points
 * @st.cnps_telemetry: CNPs with telemetry
 * @st.cuts: times that the rate was cut
 * @st.raised: times that it rose
 * @st.raised_above_kmax: with more than Kmax in the queue in the way
 * @told: what the last of @st.cnps_telemetry said
 * @wire: header of its packets
 * @n_trace: events traced, ever
 */
struct rh_flow {
	struct rh_host *host;
	struct rh_flow_group *group;
	u32 qpn;
	u32 dest_qpn;
	enum rh_flow_state state;
	struct timerqueue_node due;
	struct list_head ready;
	struct rp rp;
	struct pace pace;
	struct rc_requester rq;
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
	} st;
	struct telemetry told;
	struct rh_wire wire;
	u32 n_trace;
};

/**
 * struct rh_sink_group - receivers of a group of flows
 * @list: in rh_host.sink_groups
 * @name: of the flows
 * @n: how many
 * @sinks: they
 */
struct rh_sink_group {
	struct list_head list;
	char name[RH_NAME_LEN];
	u32 n;
	struct rh_sink *sinks;
};

/**
 * struct rh_sink - the receiver of a connection
 * @qpn: its QP number
 * @dest_qpn: the sender's
 * @rs: responder
 * @np: last CNP
 * @st: counters while rh_counting()
 * @st.packets: data packets
 * @st.ce: among them with CE
 * @st.out_of_order: among them not the one that was wanted
 * @st.bytes: payload that was taken
 * @st.cnps: CNPs sent
 * @wire: header of its packets
 */
struct rh_sink {
	u32 qpn;
	u32 dest_qpn;
	struct rc_responder rs;
	struct np_clock np;
	struct {
		u64 packets;
		u64 ce;
		u64 out_of_order;
		u64 bytes;
		u64 cnps;
	} st;
	struct rh_wire wire;
};

/**
 * struct rh_probe_conf - words of "probe"; see config.c
 * @every_ns: time between samples
 * @samples: most to keep
 * @kmax_bytes: depth above which the queue counts as congested
 */
struct rh_probe_conf {
	u64 every_ns;
	u64 samples;
	u64 kmax_bytes;
};

/**
 * struct rh_sample - a look at a queue
 * @at_ns: when, after the epoch
 * @sent_bytes: bytes it has sent, ever
 * @drops: packets it has dropped, ever
 * @cnps_np: rh_world.cnps_np then
 * @cnps_cp: rh_world.cnps_cp then
 * @depth_bytes: bytes that wait
 */
struct rh_sample {
	u64 at_ns;
	u64 sent_bytes;
	u64 drops;
	u64 cnps_np;
	u64 cnps_cp;
	u32 depth_bytes;
};

/**
 * struct rh_probe - a device whose queue is looked at
 * @list: in rh_world.probes
 * @refs: of the list and of groups of flows
 * @net: namespace whose it is
 * @name: of the device
 * @dev: device, NULL once it is gone
 * @tracker: of that reference
 * @conf: parameters
 * @timer: for the next sample; runs from the start to the end, or until @dev is
 *	gone, and is cancelled before either reference is given back
 * @n: samples there are, written by the timer alone
 * @samples: they
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

/* config.c */
int rh_command(struct net *net, char *line);

/* host.c */
int rh_host_add(struct net_device *dev, const struct rh_host_conf *conf);
void rh_host_del(struct rh_host *host);
struct rh_host *rh_host_of(const struct net_device *dev);
struct rh_host *rh_host_by_ip(const struct in6_addr *ip);
void rh_host_start(struct rh_host *host);
void rh_out(struct rh_host *host, struct sk_buff *skb, u64 now_ns,
	    struct sk_buff_head *out);

/* flow.c */
int rh_flow_add(struct rh_host *host, const struct rh_flow_conf *conf,
		struct rh_host *peer, struct rh_probe *probe);
void rh_flow_groups_free(struct rh_host *host);
void rh_flow_begin(struct rh_flow *flow);
void rh_flow_run(struct rh_flow *flow, u64 now_ns, struct sk_buff_head *out);
struct sk_buff *rh_flow_send(struct rh_flow *flow, u64 now_ns);
void rh_flow_received(struct rh_flow *flow, const struct iqcn_pkt *pkt,
		      u8 syndrome, u8 dscp, u64 now_ns);
void rh_flow_told(struct rh_flow *flow, const struct telemetry *tm, u64 now_ns);
void rh_flow_accepted(struct rh_flow *flow, u64 now_ns,
		      struct sk_buff_head *out);

/* sink.c */
int rh_sink_add(struct rh_host *host, const struct rh_host *peer,
		const struct rh_flow_group *group);
void rh_sink_undo(struct rh_host *host);
void rh_sink_groups_free(struct rh_host *host);
void rh_sink_received(struct rh_host *host, struct rh_sink *sink,
		      const struct iqcn_pkt *pkt, bool ack_req, bool ce,
		      u32 payload, u64 now_ns, struct sk_buff_head *out);

/* packet.c */
/**
 * struct rh_addr - one end of a connection
 * @mac: where packets for it go
 * @ip: its address
 */
struct rh_addr {
	const u8 *mac;
	const struct in6_addr *ip;
};

int rh_zeros_need(u32 bytes);
void rh_zeros_free(void);
void rh_wire_init(struct rh_wire *w, const struct rh_addr *from,
		  const struct rh_addr *to, u8 dscp, u8 ect, u16 sport,
		  u32 dest_qpn);
struct sk_buff *rh_build_data(const struct rh_wire *w, u8 opcode, u32 psn,
			      bool ack_req, u32 bytes, u64 msg_bytes);
struct sk_buff *rh_build_ack(const struct rh_wire *w, u8 syndrome, u32 psn,
			     u32 msn);
struct sk_buff *rh_build_cnp(const struct rh_wire *w,
			     const struct in6_addr *from, u32 dest_qpn,
			     u8 dscp);
struct sk_buff *rh_build_bare(const struct rh_wire *w, u32 psn);
struct sk_buff *rh_build_cm(const struct rh_wire *w, u16 attr, u32 local_qpn,
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
