/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of sch_iqcn and the rules that hold between them.
 *
 *   iqcn_net ---* port (net_device) ---* queue (Qdisc) ---* flow
 *                  |                                         |
 *                  '---* hosts (a pair of addresses) --------'
 *
 * Locks, outer to inner:
 *
 *   RTNL		ports come and go, queues join and leave, parameters change
 *   qdisc root lock	enqueue, dequeue, reset; taken by nobody else here
 *   port->lock		flows come, go, move between queues, are paired; hosts
 *   queue->lock	state of the queue, lists and state of its flows; two of
 *			them for a flow that moves, with port->lock
 *   port->budget_lock	the CNP budget
 *   ring->lock		events that are to be sent
 *
 * All but RTNL are taken with BHs off.  No lock is held while a CNP is
 * injected.
 *
 * Lifetimes: a flow is found under RCU and freed after a grace period.  The
 * table holds one reference to it, and so does every packet that waits in a
 * queue with a pointer to it.  What it has for a while only is found under locks,
 * and freed when who has them sees that it is of no use.  A flow that has left the table is dead
 * (flow->queue is NULL) and nothing but a put is done with it; a queue that knows it
 * without a reference (queue->recent) has forgotten it by then.  A queue is
 * part of its qdisc, which is freed after a grace period too.
 *
 * A port begins with the first queue of a device and ends with the last, or when
 * the device is unregistered or moves to another namespace (NETDEV_UNREGISTER).
 * The stack may destroy a qdisc later than that: a request for a filter holds a
 * reference to its parent while it waits for RTNL.  Such a queue has no port any
 * more (queue->port is NULL): it marks and counts, like that of a device which is
 * not Ethernet.  So nothing that belongs to a device or a namespace waits for
 * ->destroy.  A port is freed after a grace period, and after its flows, by a work.
 */
#ifndef _IQCN_H
#define _IQCN_H

#include <linux/hrtimer.h>
#include <linux/if_ether.h>
#include <linux/iqcn.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "algo/active.h"
#include "algo/budget.h"
#include "algo/continuity.h"
#include "algo/deadline.h"
#include "algo/detect.h"
#include "algo/interval.h"
#include "algo/lot.h"
#include "algo/mark.h"
#include "algo/measure.h"
#include "owner.h"
#include "algo/pairing.h"
#include "params.h"
#include "algo/pending.h"
#include "algo/pi.h"
#include "algo/profile.h"
#include "algo/reorder.h"
#include "rocev2.h"

/* Counters have one writer at a time and readers without a lock, so they must be
 * written in one piece
 */
static_assert(IS_ENABLED(CONFIG_64BIT), "sch_iqcn is for 64-bit kernels");
#define iqcn_add(counter, n)	WRITE_ONCE(counter, (counter) + (n))
#define iqcn_inc(counter)	iqcn_add(counter, 1)

/**
 * struct iqcn_rx_stats - what was of no use among what came in
 * @cnp_unmatched: CNPs that belong to no flow
 * @malformed: RoCE-like packets that do not parse
 */
struct iqcn_rx_stats {
	atomic64_t cnp_unmatched;
	atomic64_t malformed;
};

/**
 * enum iqcn_group - multicast groups of the netlink family
 * @IQCN_GROUP_STATE: IQCN_MCGRP_STATE
 * @IQCN_GROUP_CNP: IQCN_MCGRP_CNP
 * @__IQCN_GROUP_MAX: number of groups
 */
enum iqcn_group {
	IQCN_GROUP_STATE,
	IQCN_GROUP_CNP,
	__IQCN_GROUP_MAX
};

/**
 * struct iqcn_ring - events of a group that are to be sent (event.c)
 * @lock: serializes who adds them; innermost
 * @head: how many were added; @lock to write
 * @tail: how many of them were sent; @lock to write
 * @lost: how many were not added; @lock to write
 * @events: those between, by number; there while there is a port
 */
struct iqcn_ring {
	spinlock_t lock;	/* events and their numbers */
	u32 head;
	u32 tail;
	u64 lost;
	struct iqcn_event *events;
};

/**
 * struct iqcn_net - what a network namespace has
 * @net: the namespace
 * @owner: whose it is; constant
 * @ports: its ports; RTNL to write, RCU to read
 * @generation: another one whenever a port or queue comes or goes, never 0;
 *	RTNL to write
 * @config_seq: how often parameters of a queue or port were set; RTNL
 * @debugfs: directory iqcn/<netns>, NULL while there is no port
 * @cm: connections being and been set up
 * @cm_lru: their entries by kind, oldest first; @cm_lock
 * @cm_count: how many by kind; @cm_lock to write
 * @cm_lock: serializes writers of @cm; innermost
 * @snoop: enum iqcn_snoop of all ports; RTNL to write
 * @rx_stats: with IQCN_SNOOP_NETNS
 * @rings: of events, by enum iqcn_group
 * @event_work: sends them; not pending while there is no port
 */
struct iqcn_net {
	struct net *net;
	struct iqcn_owner *owner;
	struct list_head ports;
	u32 generation;
	u32 config_seq;
	struct dentry *debugfs;
	struct rhashtable cm;
	struct list_head cm_lru[__IQCN_CM_KIND_MAX];
	unsigned int cm_count[__IQCN_CM_KIND_MAX];
	spinlock_t cm_lock;	/* cm and what belongs to it */
	u32 snoop;
	struct iqcn_rx_stats rx_stats;
	struct iqcn_ring rings[__IQCN_GROUP_MAX];
	struct delayed_work event_work;
};

/**
 * struct iqcn_key - who sends to whom
 * @src: source address of the data, IPv4 as v4-mapped
 * @dst: destination address of the data
 * @vid: VLAN ids of the data on the port, outer first, 0: none
 * @qp: DestQP of the data; the sender's QP in the index by that; 0 for hosts.  Last:
 *	what is before it is of all flows of two hosts
 */
struct iqcn_key {
	struct in6_addr src;
	struct in6_addr dst;
	u16 vid[IQCN_VLANS];
	u32 qp;
};

/**
 * struct iqcn_hosts - two hosts with flows from one to the other
 * @node: in port->hosts
 * @key: who, with qp 0
 * @echo_salt: tells the slots of these hosts from those of others
 * @unassured: flows that could do with better evidence, by their &struct iqcn_flow_ext;
 *	port->lock
 * @n_unassured: how many; port->lock to write
 * @n_flows: flows that point here; port->lock
 * @rcu: for freeing
 */
struct iqcn_hosts {
	struct rhash_head node;
	struct iqcn_key key;
	u64 echo_salt;
	struct list_head unassured;
	unsigned int n_unassured;
	unsigned int n_flows;
	struct rcu_head rcu;
};

/* More of them, and a million flows take more memory than is said */
#define IQCN_FLOW_BYTES		256

/* Slots of a port's echo table (pairing.h): more than the CE packets of
 * unassured flows in a round trip, or some wait for the next one.
 */
#define IQCN_ECHO_BITS	13
/* Different PSNs that have to be echoed to one QP in a row */
#define IQCN_ECHO_HITS	4

/**
 * struct iqcn_port - a device with at least one queue of ours
 * @dev: the device; the queues hold a reference
 * @net: the namespace that it was made in; the device may move to another one, but
 *	the port is gone before that
 * @owner: whose that is; flows are charged to it until the port is freed
 * @list: in iqcn_net->ports
 * @queues: RTNL to write, RCU to read
 * @n_queues: how many; RTNL to write
 * @nf_ops: the ingress hook
 * @flows: by key
 * @by_id: flows by id, in which order they are shown; @lock to write, RCU to
 *	read
 * @born_ns: when the youngest flow was made; @lock
 * @n_dead: flows that have left the table and are not freed yet
 * @max_dead: as many as all queues may have flows; RTNL to write
 * @by_sqp: paired flows by key with the sender's QP
 * @hosts: by key without a QP
 * @lock: see above
 * @n_unassured: flows that could do with better evidence; @lock to write
 * @sport: some queue takes UDP source ports for evidence; RTNL to write
 * @echo: slots of the echo table, read and written without a lock
 * @budget_lock: see above
 * @budget: CNPs that may be sent; @budget_lock
 * @cnp_smac: source address of generated CNPs (IQCN_CNP_SMAC_PORT), as a number, so
 *	that it is read in one piece; RTNL to write
 * @cnp_rate_user: the user set @cnp_rate_pps, so it does not follow the link; RTNL
 * @cnp_rate_pps: parameter of @budget; RTNL
 * @cnp_burst: parameter of @budget; RTNL
 * @used_ns: when @used_bytes is to be added up again
 * @used_bytes: depth of all queues, for telemetry; both read and written without a
 *	lock
 * @snoop: that of the namespace; RTNL to write
 * @rx_stats: on the port itself
 * @debugfs: directory iqcn/<netns>/<dev>
 * @free_work: the second phase of death
 */
struct iqcn_port {
	struct net_device *dev;
	struct net *net;
	struct iqcn_owner *owner;
	struct list_head list;
	struct list_head queues;
	unsigned int n_queues;
	struct nf_hook_ops nf_ops;

	struct rhashtable flows;
	struct xarray by_id;
	u64 born_ns;
	atomic_t n_dead;
	u32 max_dead;
	struct rhashtable by_sqp;
	struct rhashtable hosts;

	spinlock_t lock;	/* flows, hosts, pairing */
	unsigned int n_unassured;
	bool sport;
	u64 *echo;

	u64 cnp_smac;

	spinlock_t budget_lock;	/* budget */
	struct iqcn_budget budget;
	bool cnp_rate_user;
	u32 cnp_rate_pps;
	u32 cnp_burst;

	u64 used_ns;
	u64 used_bytes;

	u32 snoop;
	struct iqcn_rx_stats rx_stats;

	struct dentry *debugfs;
	struct rcu_work free_work;
};

/* struct iqcn_port_config - parameters of a port and of its namespace, which tc sets
 * through any of their queues
 */
struct iqcn_port_config {
	bool cnp_rate_user;	/* the user set @cnp_rate_pps */
	u32 cnp_rate_pps;
	u32 cnp_burst;
	u32 snoop;		/* enum iqcn_snoop; the namespace's */
};

/* struct iqcn_config - what a change asks for */
struct iqcn_config {
	struct iqcn_params p;
	struct iqcn_port_config port;
};

/* Flows that a queue finds without the table: one page of them */
#define IQCN_RECENT_BITS	9

/**
 * struct iqcn_queue - a qdisc, as far as others than qdisc.c care
 * @drain: meter of @drain_bps, which windows of CE packets set as well; root lock
 * @fastpath_bytes: below that depth a packet that is not CE is no business of
 *	anybody's; @lock to write.  With @drain.start_ns and the first of @p, up to
 *	@p.limit_bytes, in the first cache line: all that such a packet looks at
 * @p: parameters.  Written with RTNL, root lock and @lock: any one is enough
 *	to read them
 * @depth_bytes: its instantaneous depth
 * @sent: what it has sent
 * @parent: the qdisc's
 * @before: parameters of the port before the queue was made
 * @undo_seq: iqcn_net->config_seq when init was done: until somebody else sets
 *	something, a queue that no packet has entered can restore @before
 * @link_bps: speed of the link, RTNL to write
 * @outflow: what leaves while it is backlogged; root lock
 * @roce_outflow: likewise without packets known not to be RoCE: the CE rate is compared
 *	with it; root lock
 * @roce_bps: rate of @roce_outflow in the last window of the CE meter, 0: it was not
 *	backlogged for all of that; root lock to write
 * @drain_bps: rate measured while backlogged, 0: not yet; root lock to write
 * @drain_ns: when it was measured; root lock to write
 * @skipped_bytes: CE packets since the last that was looked at; root lock
 * @skipped: how many there were ever, of GSO each segment; root lock to write
 * @st: counters; each is written under the lock its subject has
 * @sampler: what copies go to, NULL: nowhere; RTNL and root lock to write
 * @port: its port; NULL on a device that is not Ethernet, and after the device was
 *	unregistered or has moved.  RTNL and root lock to write
 * @list: in port->queues
 * @recent: flows whose packets came last, each where its key says (flow.c), or NULL;
 *	@lock to write, root lock and BHs off to read
 * @lock: see above
 * @ce: meter of CE packets
 * @look_ns: when a silence is looked for again, for nothing left the last time
 * @reset_ns: when it was reset: what has begun before, or then, is over
 * @max_bytes: largest CE packet that was looked at
 * @congested: enum iqcn_detect bits that say so
 * @state_ns: when @congested changed between 0 and not 0
 * @state_reason: why, enum iqcn_reason
 * @epoch: of the states of single flows: those of another one are void
 * @ended: how often its congestion has
 * @n_congested: flows with a state of their own
 * @active: flows that have packets
 * @gradient: of the depth
 * @pi: the controller of IQCN_NOTIFY_PI
 * @dead: no timer and no work may be started any more
 * @timer_ns: when the timer comes, or came if it runs; KTIME_MAX: not armed
 * @pause_ns: it does not come before that, whoever arms it: more was due than it sees to
 *	in one run, and others have the CPU; or the share of the CPUs is used up
 *	(owner.h)
 * @backoff: of the timer, while no packet leaves
 * @deadlines: of flows, in order (deadline.h)
 * @lapsed: deadlines that expired while the queue was clear, in order: they are due
 *	when it becomes congested
 * @polls: flows that IQCN_NOTIFY_PI holds, likewise
 * @polls_ns: they are not seen to before that
 * @polls_ran: one was in this run of the timer
 * @polls_wait: the next one waits for the budget of CNPs
 * @pending: flows whose CNP is due and waits, by when it is sent
 * @lru: all flows, those that are settled apart; the one whose last packet, or chance
 *	while it is held, is longest ago first, to an epoch of @active
 * @by_grade: number of flows by grade of their pairing
 * @n_flows: number of flows
 * @timer: for the first of @deadlines, @polls and @pending, and for silence; set
 *	up in init, cancelled for good in destroy after @dead is set
 * @gc_work: forgets flows; likewise
 */
struct iqcn_queue {
	struct iqcn_meter drain;
	u32 fastpath_bytes;
	struct iqcn_params p;
	const u32 *depth_bytes;
	const struct gnet_stats_basic_sync *sent;
	u32 parent;
	struct iqcn_port_config before;
	u32 undo_seq;
	u64 link_bps;
	struct iqcn_outflow outflow;
	struct iqcn_outflow roce_outflow;
	u64 roce_bps;
	u64 drain_bps;
	u64 drain_ns;
	u64 skipped_bytes;
	u64 skipped;
	struct tc_iqcn_xstats st;

	struct iqcn_sampler *sampler;
	struct iqcn_port *port;
	struct list_head list;
	struct iqcn_flow **recent;

	spinlock_t lock ____cacheline_aligned_in_smp; /* from here on */
	struct iqcn_meter ce;
	u64 look_ns;
	u64 reset_ns;
	u32 max_bytes;
	u32 congested;
	u64 state_ns;
	u32 state_reason;
	u32 epoch;
	u32 ended;
	unsigned int n_congested;
	struct iqcn_active active;
	struct iqcn_gradient gradient;
	struct iqcn_pi pi;
	bool dead;
	u64 timer_ns;
	struct list_head deadlines;
	struct list_head lapsed;
	struct list_head polls;
	u64 polls_ns;
	u64 pause_ns;
	struct iqcn_backoff backoff;
	bool polls_ran;
	bool polls_wait;
	struct timerqueue_head pending;
	struct list_head lru[2];
	unsigned int by_grade[__IQCN_PAIR_MAX];
	unsigned int n_flows;
	struct hrtimer timer;
	struct delayed_work gc_work;
};

/**
 * struct iqcn_flow_ext - what a flow has only while there is need for it
 * @flow: whose it is
 * @unassured: in hosts->unassured, empty: it is settled; port->lock and, but for one
 *	that is not in the table yet or any more, queue->lock to add or remove it;
 *	either to see whether it is empty, port->lock to look further
 * @echo_qp: QP that PSNs were echoed to; port->lock
 * @echo_psn: the last of them; port->lock
 * @echo_hits: how many different PSNs in a row were echoed to @echo_qp, not enough
 *	yet; port->lock
 * @congested: enum iqcn_detect bits of its own, if @epoch is the queue's; queue->lock,
 *	and so is all else
 * @state_reason: why @congested changed last, enum iqcn_reason
 * @cnp_cause: enum iqcn_cause
 * @cnp_was_ce: of the packet that caused it
 * @cnp_paid: the budget was charged for it when the packet was marked
 * @cnp_owed: CNPs that the receiver may still send for packets up to the one that
 *	began T1 of the pending CNP (pending.h)
 * @next_owed: likewise, of a second pending CNP
 * @epoch: of what the detectors know of it
 * @continuity: of the PSNs of its CE packets
 * @cnp_ended: queue->ended when its CNP began to wait
 * @reorder: puts these PSNs in order for @continuity
 * @state_ns: when @congested changed between 0 and not 0
 * @pending: its place in queue->held, if its CNP waits there
 * @cnp_wait_ns: time from when T1 began until its CNP is sent, if T1 is the cause
 * @next_ns: how much later than @pending a second pending CNP is sent, 0: there is none
 * @next_wait_ns: as @cnp_wait_ns, of that one
 *
 * Pairing needs it until the flow is settled, detectors of its own while what they know
 * is of the queue's epoch, a CNP while it waits.  Nobody looks at it without a lock, so
 * it is freed at once when none of them does.
 */
struct iqcn_flow_ext {
	struct iqcn_flow *flow;
	struct list_head unassured;
	u32 echo_qp;
	u32 echo_psn;
	u8 echo_hits;
	u8 congested;
	u8 state_reason;
	u8 cnp_cause;
	bool cnp_was_ce;
	bool cnp_paid;
	u8 cnp_owed;
	u8 next_owed;
	u32 epoch;
	struct iqcn_continuity continuity;
	u32 cnp_ended;
	struct iqcn_reorder reorder;
	u64 state_ns;
	struct timerqueue_node pending;
	u32 cnp_wait_ns;
	u32 next_ns;
	u32 next_wait_ns;
};

/* One of the slab's sizes */
static_assert(sizeof(struct iqcn_flow_ext) <= 192);

/**
 * struct iqcn_flow - packets from one host to a QP of another
 * @node: in port->flows
 * @hosts: its hosts, with all of its key but @qp; gone soon after it is dead
 * @queue: by which it leaves, NULL: dead; port->lock and queue->lock, when it moves
 *	of both, to write, port->lock to read, or RCU and a second look under
 *	queue->lock (iqcn_flow_of())
 * @qp: DestQP
 * @refs: the table's and the waiting packets'
 * @src_mac: source MAC of its data as they leave, where CNPs go; queue->lock
 * @dst_mac: destination MAC of its data, where CNPs seem to come from; queue->lock
 * @mac_ticks: when a packet with these came last (iqcn_mac_ticks()); queue->lock
 * @active_epoch: when it was last counted (active.h); queue->lock
 * @arrive_gap_ns: how long @arrived_ns was after the one before; queue->lock
 * @arrived_ns: when its last packet was seen to arrive; queue->lock
 * @lru: in a queue->lru, by when it last had a packet, as @lru there says; queue->lock
 * @poll: its last one with IQCN_NOTIFY_PI; queue->lock
 * @rcu: for freeing, when it is dead: nobody looks for it in a list then
 * @port: its port, likewise: of a dead flow only, and there until that is freed
 * @ext: what it has only while there is need for it, or NULL; queue->lock, port->lock
 *	does while it is not settled
 * @psn: of the last CE packet; its queue's root lock to write
 * @ce_gap_ns: between its last two that were looked at; queue->lock
 * @vlan: its data's tags (iqcn_vlan_pack()); queue->lock to write
 * @pkey: P_Key of its data
 * @grade: by what evidence @src_qp is known; port->lock and queue->lock to write
 * @ce_since: a CE packet has left since the last CNP of ours; queue->lock
 * @idle_check_only: @due is for its silence only; queue->lock
 * @lapsed: @due is in queue->lapsed; queue->lock
 * @owed: CNPs that the receiver has not sent yet for its packets (pending.h);
 *	queue->lock
 * @ce_ns: when its last CE packet left, or it was made; queue->lock,
 *	and so to @cnps_sent
 * @ce_sent: CE packets
 * @base_ns: what T1 is counted from, 0: nothing yet
 * @answer: how long its CNPs take, and how far apart they are
 * @due: its deadline, or when to look whether it is silent
 * @cnp_tx_ns: when the last CNP of ours was sent
 * @credit: of IQCN_NOTIFY_PI (pi.h)
 * @cnp_rx_ns: when the receiver's last CNP was seen
 * @cnps_seen: CNPs of the receiver
 * @cnps_sent: CNPs of ours
 * @src_qp: the sender's QP; port->lock and queue->lock to write
 * @id: in port->by_id, not 0
 * @sqp_node: in port->by_sqp if @grade is not IQCN_PAIR_NONE; port->lock
 * @born_ns: when it was made, no two flows of a port at the same time
 * @sport: UDP source port of its data
 * @cnp_sport: UDP source port of the receiver's CNPs, 0 until one is seen
 *
 * There may be a million of them, so that each line of the cache that a packet needs
 * has to come from memory.  So what a look-up needs is together, then what a packet
 * needs that arrives, then one that leaves with CE, and what is for CNPs, changes of
 * state and readers comes last.  What most flows do not need is elsewhere.
 */
struct iqcn_flow {
	/* looked up, and any packet of it */
	struct rhash_head node;
	struct iqcn_hosts *hosts;
	struct iqcn_queue *queue;
	u32 qp;
	refcount_t refs;
	u8 src_mac[ETH_ALEN];
	u8 dst_mac[ETH_ALEN];
	u32 mac_ticks;
	u32 active_epoch;
	u32 arrive_gap_ns;
	u64 arrived_ns;

	/* 64: arrives at a deep queue */
	union {
		struct {
			struct list_head lru;
			struct iqcn_deadline poll;
		};
		struct {
			struct rcu_head rcu;
			struct iqcn_port *port;
		};
	};
	struct iqcn_flow_ext *ext;
	u32 psn;
	u32 ce_gap_ns;
	u16 vlan[IQCN_VLANS];
	u16 pkey;
	u8 grade;
	bool ce_since : 1;
	bool idle_check_only : 1;
	bool lapsed : 1;
	u8 owed : 4;

	/* 128: leaves with CE */
	u64 ce_ns;
	u64 ce_sent;
	u64 base_ns;
	struct iqcn_cnp_srtt answer;
	struct iqcn_deadline due;

	/* 192: CNPs, changes of its state, readers */
	u64 cnp_tx_ns;
	u64 cnp_rx_ns;
	u64 cnps_seen;
	u64 cnps_sent;
	struct rhash_head sqp_node;
	u64 born_ns;
	u32 credit;
	u32 src_qp;
	u32 id;
	u16 sport;
	u16 cnp_sport;
};

/**
 * struct iqcn_notice - a CNP to inject
 * @cause: enum iqcn_cause
 * @cnp: from L3 on
 * @dst_mac: MAC it goes to
 * @src_mac: MAC it seems to come from
 * @vlan: its tags
 */
struct iqcn_notice {
	u8 cause;
	struct iqcn_cnp cnp;
	u8 dst_mac[ETH_ALEN];
	u8 src_mac[ETH_ALEN];
	struct iqcn_vlan vlan[IQCN_VLANS];
};

/* What began at that time has not ended by a reset.  queue->lock. */
static inline bool iqcn_queue_since_reset(const struct iqcn_queue *q, u64 ns)
{
	return ns > q->reset_ns;
}

/* A gap between two packets of a flow that says nothing about the next */
#define IQCN_GAP_MAX_NS		(100 * (u64)NSEC_PER_MSEC)

/* A drain rate that has not been measured anew for so long says nothing */
#define IQCN_DRAIN_MAX_AGE_NS	NSEC_PER_SEC

/* A flow's hosts are there while it is alive, and to who has seen that under RCU */
static inline void iqcn_flow_key(const struct iqcn_flow *flow,
				 struct iqcn_key *key)
{
	*key = flow->hosts->key;
	key->qp = flow->qp;
}

/* Of either index of flows */
static inline u32 iqcn_key_hash(const void *key, u32 len, u32 seed)
{
	return jhash2(key, sizeof(struct iqcn_key) / sizeof(u32), seed);
}

/* It names these hosts, whatever the QP */
static inline bool iqcn_key_of_hosts(const struct iqcn_key *key,
				     const struct iqcn_hosts *hosts)
{
	return !memcmp(key, &hosts->key, offsetof(struct iqcn_key, qp));
}

/* How deep it is, for who does not hold the root lock */
static inline u32 iqcn_depth_bytes(const struct iqcn_queue *q)
{
	/* the kernel's own helpers write the word plainly, until 7.2 has them use
	 * WRITE_ONCE(), too
	 */
	return data_race(READ_ONCE(*q->depth_bytes));
}

/* It is a flow of that queue, and stays so; queue->lock.  One that is not may be
 * moved between others meanwhile.
 */
static inline bool iqcn_flow_of(const struct iqcn_flow *flow,
				const struct iqcn_queue *q)
{
	return READ_ONCE(flow->queue) == q;
}

/* Packets of the queue may cause CNPs in some of the ways @notify */
static inline bool iqcn_queue_tells(const struct iqcn_queue *q, u32 notify)
{
	return q->port && (q->p.notify & notify);
}

/* It is known well enough who the sender is; queue->lock */
static inline bool iqcn_flow_paired(const struct iqcn_queue *q,
				    const struct iqcn_flow *flow)
{
	return flow->grade != IQCN_PAIR_NONE && flow->grade >= q->p.pair;
}

/* Its own state, beside the queue's, enum iqcn_detect bits; queue->lock */
static inline u32 iqcn_flow_own(const struct iqcn_queue *q,
				const struct iqcn_flow *flow)
{
	const struct iqcn_flow_ext *e = flow->ext;

	return e && e->epoch == q->epoch ? e->congested : 0;
}

/* It is young again, or another queue's now; queue->lock */
static inline void iqcn_flow_used(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	list_move_tail(&flow->lru, &q->lru[iqcn_pair_assured(flow->grade)]);
}

/* Times of MACs: in 32 bits they go on for longer than a flow is remembered for that
 * has no packet, which is a day
 */
static inline u32 iqcn_mac_ticks(u64 ns)
{
	return ns >> 16;
}

/* A CNP of it waits; queue->lock */
static inline bool iqcn_flow_has_pending(const struct iqcn_flow *flow)
{
	return flow->ext && !RB_EMPTY_NODE(&flow->ext->pending.node);
}

/* Consecutive CE PSNs, as far as its detectors know; queue->lock */
static inline u32 iqcn_flow_run(const struct iqcn_flow *flow)
{
	return flow->ext ? flow->ext->continuity.run : 0;
}

/* It was told less than min-gap ago; queue->lock */
static inline bool iqcn_flow_too_soon(const struct iqcn_queue *q,
				      const struct iqcn_flow *flow, u64 now_ns)
{
	return flow->cnp_tx_ns && now_ns - flow->cnp_tx_ns < q->p.min_gap_ns;
}

/* port.c: ports, namespaces, devices */
extern struct workqueue_struct *iqcn_wq;
int iqcn_port_attach(struct net_device *dev, struct iqcn_queue *q,
		     struct netlink_ext_ack *extack);
void iqcn_port_detach(struct iqcn_queue *q);
void iqcn_port_update(struct iqcn_port *port);
void iqcn_port_get(const struct iqcn_port *port, struct iqcn_port_config *c);
int iqcn_port_set(struct iqcn_port *port, const struct iqcn_port_config *c,
		  struct netlink_ext_ack *extack);
struct iqcn_port *iqcn_port_find(const struct net_device *dev);
struct iqcn_net *iqcn_net(const struct net *net);
u32 iqcn_port_generation(const struct net *net);
int iqcn_port_module_init(void);
void iqcn_port_module_exit(void);

/* config.c: parameters as tc says them */
int iqcn_config_parse(struct iqcn_config *c, const struct iqcn_queue *q,
		      const struct net_device *dev, struct nlattr *opt,
		      struct netlink_ext_ack *extack);
void iqcn_config_init(struct iqcn_config *c, const struct iqcn_port *port);
void iqcn_config_resolve(struct iqcn_params *p, const struct net_device *dev,
			 u64 link_bps);
int iqcn_config_dump(struct sk_buff *skb, const struct iqcn_queue *q);

/* queue.c: state of a queue and of its flows */
void iqcn_queue_init(struct iqcn_queue *q);
void iqcn_queue_set_params(struct iqcn_queue *q, const struct iqcn_params *p);
void iqcn_queue_reset(struct iqcn_queue *q);
void iqcn_queue_kill(struct iqcn_queue *q);
u64 iqcn_queue_ce_sent(struct iqcn_queue *q, struct iqcn_flow *flow,
		       const struct ethhdr *eth, u32 bytes, u64 skipped_bytes,
		       u32 psn, u32 segs, bool echo);
void iqcn_queue_ce_skipped(struct iqcn_queue *q, struct iqcn_flow *flow,
			   u32 psn, u32 segs);
void iqcn_queue_cnp_seen(struct iqcn_flow *flow, u16 sport);
void iqcn_queue_way_back(struct iqcn_flow *flow, const struct ethhdr *eth);
u64 iqcn_queue_drain_bps(const struct iqcn_queue *q);
u64 iqcn_queue_roce_bps(const struct iqcn_queue *q);
void iqcn_queue_drains(struct iqcn_queue *q, u64 drain_bps, u64 now_ns);
void iqcn_queue_drain_stops(struct iqcn_queue *q);
u64 iqcn_queue_quiet_ns(const struct iqcn_queue *q);
void iqcn_queue_detect(struct iqcn_queue *q, bool fresh, u64 now_ns);
void iqcn_queue_detect_quiet(struct iqcn_queue *q, u64 now_ns);
u64 iqcn_flow_state(const struct iqcn_queue *q, const struct iqcn_flow *flow,
		    u32 *bits, u32 *reason);
void iqcn_flow_set_congested(struct iqcn_queue *q, struct iqcn_flow *flow,
			     u32 bits, u32 reason, u64 now_ns);
void iqcn_queue_stats(struct iqcn_queue *q, struct tc_iqcn_xstats *st);

/* trigger.c: when is a CNP due, and when is it sent? */
void iqcn_trigger_init(struct iqcn_queue *q);
void iqcn_trigger_reset(struct iqcn_queue *q);
void iqcn_trigger_disarm(struct iqcn_queue *q);
void iqcn_trigger_arm(struct iqcn_queue *q, u64 now_ns);
void iqcn_trigger_wake(struct iqcn_queue *q);
void iqcn_trigger_ce(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns);
void iqcn_trigger_cnp(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns);
void iqcn_pending_drop_all(struct iqcn_queue *q, u64 now_ns);
void iqcn_pending_drop(struct iqcn_queue *q, struct iqcn_flow *flow);
void iqcn_trigger_cancel(struct iqcn_queue *q, struct iqcn_flow *flow);
void iqcn_trigger_restart(struct iqcn_queue *q, struct iqcn_flow *flow,
			  u64 now_ns);
bool iqcn_trigger_is_bts(const struct iqcn_flow *flow);
bool iqcn_trigger_at(struct iqcn_queue *q, struct iqcn_flow *flow, u64 at_ns,
		     enum iqcn_cause cause, bool was_ce);
bool iqcn_trigger_now(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns,
		      enum iqcn_cause cause, bool was_ce);

/* bts.c: back to the sender, when a packet arrives */
void iqcn_bts_set_params(struct iqcn_queue *q);
void iqcn_bts_reset(struct iqcn_queue *q);
u64 iqcn_bts_run(struct iqcn_queue *q, u64 now_ns);
void iqcn_bts_seen(struct iqcn_queue *q, struct iqcn_flow *flow,
		   const struct ethhdr *eth, u64 now_ns);
bool iqcn_bts_arrived(struct iqcn_queue *q, struct iqcn_flow *flow,
		      const struct ethhdr *eth, u32 segs, struct iqcn_lot *lot,
		      u8 ecn);
void iqcn_bts_dropped(struct iqcn_queue *q, struct iqcn_flow *flow,
		      const struct ethhdr *eth, bool was_ce, bool waited);
bool iqcn_bts_poll(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns);
u32 iqcn_bts_prob(const struct iqcn_queue *q, u64 now_ns);

/* tell.c: may a sender be told, and what? */
bool iqcn_budget_charge(struct iqcn_port *port, u64 now_ns);
bool iqcn_budget_spare(struct iqcn_port *port, u64 now_ns);
void iqcn_budget_refund(struct iqcn_port *port);
bool iqcn_tell(struct iqcn_queue *q, struct iqcn_flow *flow,
	       struct iqcn_notice *n, enum iqcn_cause cause, bool was_ce,
	       bool paid, u64 base_ns, u64 due_ns, u64 now_ns);

/* age.c: flows are forgotten */

/**
 * enum iqcn_forget - why
 * @IQCN_FORGET_AGED: they have had no packet for long
 * @IQCN_FORGET_SURPLUS: there are more than the queue may keep
 * @IQCN_FORGET_ALL: the queue goes
 */
enum iqcn_forget {
	IQCN_FORGET_AGED,
	IQCN_FORGET_SURPLUS,
	IQCN_FORGET_ALL,
};

void iqcn_gc_init(struct iqcn_queue *q);
void iqcn_gc_start(struct iqcn_queue *q);
void iqcn_gc_hurry(struct iqcn_queue *q);
struct iqcn_flow *iqcn_gc_early_drop(struct iqcn_queue *q);
void iqcn_gc_forget(struct iqcn_queue *q, enum iqcn_forget why);
u64 iqcn_gc_flush(struct iqcn_port *port, const struct iqcn_queue *only);

/* psample.c: copies of the packets that are looked at */
struct iqcn_sampler;
struct iqcn_sampler *iqcn_psample_new(struct net *net, u32 group);
void iqcn_psample_free(struct iqcn_sampler *s);
bool iqcn_psample_copy(struct iqcn_sampler *s, struct sk_buff *skb,
		       u32 every, u32 depth_bytes);

/* flow.c: the table of flows */
void iqcn_key_init(struct iqcn_key *key, const struct iqcn_port *port,
		   const struct in6_addr *src, const struct in6_addr *dst,
		   u32 qp, const struct iqcn_vlan *vlan);
int iqcn_flow_tables_init(struct iqcn_port *port);
void iqcn_flow_tables_free(struct iqcn_port *port);
int iqcn_flow_queue_init(struct iqcn_queue *q);
void iqcn_flow_queue_free(struct iqcn_queue *q);
struct iqcn_flow *iqcn_flow_find(struct iqcn_port *port,
				 const struct iqcn_key *key);
struct iqcn_flow *iqcn_flow_get(struct iqcn_queue *q,
				const struct iqcn_pkt *pkt);
void iqcn_flow_put(struct iqcn_flow *flow);
void iqcn_flow_move(struct iqcn_flow *flow, struct iqcn_queue *q);
void iqcn_flow_kill(struct iqcn_flow *flow);
void iqcn_flow_evict(struct iqcn_queue *q, struct iqcn_flow *flow);
struct iqcn_flow_ext *iqcn_flow_get_ext(struct iqcn_flow *flow);
void iqcn_flow_trim(const struct iqcn_queue *q, struct iqcn_flow *flow);
u64 iqcn_flow_youngest(struct iqcn_port *port);
int iqcn_flow_look(struct iqcn_flow *flow,
		   int (*look)(struct iqcn_queue *q, struct iqcn_flow *flow,
			       void *arg), void *arg);
int iqcn_flow_module_init(void);
void iqcn_flow_module_exit(void);

/* pair.c: which QP of the sender does a flow belong to? */
int iqcn_pair_tables_init(struct iqcn_port *port);
void iqcn_pair_tables_free(struct iqcn_port *port);
int iqcn_pair_join(struct iqcn_port *port, struct iqcn_flow *flow,
		   const struct iqcn_key *key);
void iqcn_pair_leave(struct iqcn_port *port, struct iqcn_flow *flow);
void iqcn_pair_sent(struct iqcn_port *port, const struct iqcn_hosts *hosts,
		    u32 dest_qp, u32 psn, u32 segs);
void iqcn_pair_note_psn(struct iqcn_port *port, const struct iqcn_pkt *pkt,
		       u32 segs);
struct iqcn_flow *iqcn_pair_find(struct iqcn_port *port,
				 const struct iqcn_key *key);
void iqcn_pair_evidence(struct iqcn_port *port, struct iqcn_flow *flow,
			enum iqcn_pair_grade grade, u32 qp);
void iqcn_pair_withdraw(struct iqcn_port *port, struct iqcn_flow *flow, u32 qp);
unsigned int iqcn_pair_candidates(struct iqcn_port *port,
				  const struct iqcn_key *key);
void iqcn_pair_from_cnp(struct iqcn_port *port, const struct iqcn_key *key);
unsigned int iqcn_pair_echoed(struct iqcn_port *port,
			      const struct iqcn_key *key, u32 psn,
			      struct iqcn_flow **flow);
struct iqcn_flow *iqcn_pair_sends(struct iqcn_port *port,
				  const struct iqcn_key *key, u32 psn);
void iqcn_pair_from_echo(struct iqcn_port *port, struct iqcn_flow *flow,
			 u32 qp, u32 psn);
struct iqcn_flow *iqcn_pair_by_sport(struct iqcn_port *port,
				     const struct iqcn_key *key,
				     const struct iqcn_pkt *pkt);
void iqcn_pair_from_sport(struct iqcn_port *port, struct iqcn_flow *flow, u32 qp);
struct iqcn_flow *iqcn_pair_answered(struct iqcn_port *port,
				     const struct iqcn_key *key,
				     const struct iqcn_pkt *pkt);

/* cm.c: connections seen while they were made */
int iqcn_cm_init(struct iqcn_net *in);
void iqcn_cm_flush(struct iqcn_net *in);
void iqcn_cm_exit(struct iqcn_net *in);
void iqcn_cm_seen(struct net *net, int ifindex, const struct iqcn_pkt *pkt,
		  const struct iqcn_cm *cm);
bool iqcn_cm_lookup(const struct iqcn_port *port, const struct iqcn_key *key,
		    u32 *src_qp);

/* snoop.c: what comes in */
void iqcn_snoop_init(struct iqcn_port *port);
int iqcn_snoop_set(struct net *net, u32 snoop);
struct iqcn_rx_stats *iqcn_snoop_rx_stats(struct iqcn_port *port);

/* notify.c: how to tell */
bool iqcn_notify_inject(struct net_device *dev, const struct iqcn_notice *n);
bool iqcn_notify_is_ours(void);
void iqcn_notify_module_init(void);
u32 iqcn_notify_id(const struct iqcn_cnp *cnp);

/* values.c: a port in numbers */

/**
 * struct iqcn_value - a number that a port has
 * @name: as files in sysfs are called
 * @get: what it is; RCU
 */
struct iqcn_value {
	const char *name;
	u64 (*get)(struct iqcn_port *port);
};

/* by &enum iqcn_a_port, from IQCN_A_PORT_QUEUES on */
extern const struct iqcn_value iqcn_values[];

/* genl.c: the netlink family */
int iqcn_genl_module_init(void);
void iqcn_genl_module_exit(void);

/* event.c: what happens */
void iqcn_event_queue_state(struct iqcn_queue *q, u32 bits, u32 reason,
			    u64 now_ns);
void iqcn_event_flow_state(struct iqcn_queue *q, const struct iqcn_flow *flow,
			   u32 bits, u32 reason, u64 now_ns);
void iqcn_event_cnp_sent(struct iqcn_queue *q, const struct iqcn_flow *flow,
			 enum iqcn_cause cause, u64 now_ns);
void iqcn_event_init(struct iqcn_net *in);
int iqcn_event_start(struct iqcn_net *in);
void iqcn_event_stop(struct iqcn_net *in);

/* inspect.c: sysfs and debugfs */
int iqcn_inspect_add(struct iqcn_port *port, struct netlink_ext_ack *extack);
void iqcn_inspect_del(struct iqcn_port *port);
void iqcn_inspect_rename(struct iqcn_port *port);
void iqcn_inspect_module_init(void);
void iqcn_inspect_module_exit(void);

/* qdisc.c: the link or the MTU of the device changed, or the device goes */
u64 iqcn_qdisc_link_bps(struct net_device *dev);
void iqcn_qdisc_link_change(struct iqcn_queue *q, u64 link_bps);
void iqcn_qdisc_reset(struct iqcn_queue *q);
void iqcn_qdisc_orphan(struct iqcn_queue *q);

#endif /* _IQCN_H */
