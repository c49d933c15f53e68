/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of a network namespace: its ports, the connections whose setup was
 * snooped, and the events that wait to be sent over netlink.
 */
#ifndef _IQCN_NETNS_H
#define _IQCN_NETNS_H

#include <linux/iqcn.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/netns/generic.h>

#include "algo/pairing.h"
#include "owner.h"
#include "rocev2.h"

struct iqcn_flow;
struct iqcn_key;
struct iqcn_port;
struct iqcn_queue;

/* Counters of unusable received packets */
struct iqcn_rx_stats {
	atomic64_t cnp_unmatched;	/* CNPs for no known flow */
	atomic64_t malformed;		/* RoCE-like, but not parsable, or
					 * with a wrong checksum or ICRC
					 */
};

/* Multicast groups of the netlink family */
enum iqcn_group {
	IQCN_GROUP_STATE,	/* IQCN_MCGRP_STATE */
	IQCN_GROUP_CNP,		/* IQCN_MCGRP_CNP */
	__IQCN_GROUP_MAX
};

/* Events of a group that wait to be sent (event.c) */
struct iqcn_ring {
	/* to write head, tail and lost while there is a port; innermost */
	spinlock_t lock;
	u32 head;		/* number of events added so far */
	u32 tail;		/* number of events sent so far */
	u64 lost;		/* events dropped because the ring was full */
	struct iqcn_event *events; /* NULL without a port */
};

/* Per-namespace state of the module; exists while the namespace and the module
 * do
 */
struct iqcn_net {
	struct net *net;
	struct iqcn_owner *owner;	/* charged for flows, CM entries and
					 * timers; constant
					 */
	struct list_head ports;		/* RTNL to write, RCU to read */
	u32 generation;			/* iqcn_net_generation() */
	u32 config_seq;			/* number of changes by tc; RTNL */
	struct dentry *debugfs;		/* iqcn/<netns>; NULL without a port */
	u32 snoop;			/* enum iqcn_snoop; RTNL to write */
	struct iqcn_rx_stats rx_stats;	/* with IQCN_SNOOP_NETNS */

	/* requests for connections, and established connections (rdma_cm.c) */
	struct rhashtable cm;
	struct list_head cm_lru[__IQCN_CM_KIND_MAX]; /* oldest first; cm_lock */
	unsigned int cm_count[__IQCN_CM_KIND_MAX]; /* cm_lock to write */
	spinlock_t cm_lock;		/* serializes writers; innermost */

	struct iqcn_ring rings[__IQCN_GROUP_MAX];
	struct delayed_work event_work;	/* sends events; idle without a port */
};

/* netns.c */
extern unsigned int iqcn_net_id;
extern struct workqueue_struct *iqcn_wq;
void iqcn_net_changed(struct iqcn_net *in);
int iqcn_net_module_init(void);
void iqcn_net_module_exit(void);

/* Get the module's state for a namespace; never NULL */
static inline struct iqcn_net *iqcn_net(const struct net *net)
{
	return net_generic(net, iqcn_net_id);
}

/* A number, never 0, that changes whenever a port or a queue is added or
 * removed
 */
static inline u32 iqcn_net_generation(const struct net *net)
{
	/* pairs with iqcn_net_changed(): a reader of a new number sees the
	 * lists after that change
	 */
	return smp_load_acquire(&iqcn_net(net)->generation);
}

/* event.c */
void iqcn_event_queue_state(struct iqcn_queue *q, u32 bits, u32 reason,
			    u64 now_ns);
void iqcn_event_flow_state(struct iqcn_queue *q, const struct iqcn_flow *flow,
			   u32 bits, u32 reason, u64 now_ns);
void iqcn_event_cnp_sent(struct iqcn_queue *q, const struct iqcn_flow *flow,
			 enum iqcn_cause cause, u64 now_ns);
void iqcn_event_pfc(struct iqcn_queue *q, u32 state, u32 reason, u64 now_ns);
void iqcn_event_lease(struct iqcn_queue *q, u64 now_ns);
void iqcn_event_init(struct iqcn_net *in);
int iqcn_event_start(struct iqcn_net *in);
void iqcn_event_stop(struct iqcn_net *in);

/* rdma_cm.c */
int iqcn_cm_init(struct iqcn_net *in);
void iqcn_cm_flush(struct iqcn_net *in);
void iqcn_cm_exit(struct iqcn_net *in);
void iqcn_cm_rx(struct net *net, int ifindex, const struct iqcn_pkt *pkt,
		const struct iqcn_cm *cm);
void iqcn_cm_pair(struct iqcn_port *port, struct iqcn_flow *flow);

/* genl.c */
int iqcn_genl_module_init(void);
void iqcn_genl_module_exit(void);

#endif /* _IQCN_NETNS_H */
