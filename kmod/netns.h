/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a network namespace has: its ports, the connections whose setup was seen,
 * and the events that wait for netlink.
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

/* Received packets that are of no use */
struct iqcn_rx_stats {
	atomic64_t cnp_unmatched;	/* CNPs that belong to no flow */
	atomic64_t malformed;		/* RoCE-like packets that do not parse */
};

/* Multicast groups of the netlink family */
enum iqcn_group {
	IQCN_GROUP_STATE,	/* IQCN_MCGRP_STATE */
	IQCN_GROUP_CNP,		/* IQCN_MCGRP_CNP */
	__IQCN_GROUP_MAX
};

/* Events of a group that wait to be sent (event.c) */
struct iqcn_ring {
	spinlock_t lock;	/* all of it to write; innermost */
	u32 head;		/* events added ever */
	u32 tail;		/* events sent ever */
	u64 lost;		/* events that found the ring full */
	struct iqcn_event *events; /* by number; while there is a port */
};

/* A network namespace, for as long as it exists */
struct iqcn_net {
	struct net *net;
	struct iqcn_owner *owner;	/* who is charged; constant */
	struct list_head ports;		/* RTNL to write, RCU to read */
	u32 generation;			/* iqcn_net_generation() */
	u32 config_seq;			/* changes of any parameter; RTNL */
	struct dentry *debugfs;		/* iqcn/<netns>; NULL without a port */
	u32 snoop;			/* enum iqcn_snoop; RTNL to write */
	struct iqcn_rx_stats rx_stats;	/* with IQCN_SNOOP_NETNS */

	/* connections that are being and were set up (rdma_cm.c) */
	struct rhashtable cm;
	struct list_head cm_lru[__IQCN_CM_KIND_MAX]; /* oldest first; cm_lock */
	unsigned int cm_count[__IQCN_CM_KIND_MAX]; /* cm_lock to write */
	spinlock_t cm_lock;		/* serializes writers; innermost */

	struct iqcn_ring rings[__IQCN_GROUP_MAX];
	struct delayed_work event_work;	/* sends them; idle without a port */
};

/* netns.c */
extern unsigned int iqcn_net_id;
extern struct workqueue_struct *iqcn_wq;
void iqcn_net_changed(struct iqcn_net *in);
int iqcn_net_module_init(void);
void iqcn_net_module_exit(void);

/* A namespace's part of the module, never NULL */
static inline struct iqcn_net *iqcn_net(const struct net *net)
{
	return net_generic(net, iqcn_net_id);
}

/* Another number, never 0, whenever a port or a queue comes or goes */
static inline u32 iqcn_net_generation(const struct net *net)
{
	/* pairs with iqcn_net_changed(): a new number comes with new lists */
	return smp_load_acquire(&iqcn_net(net)->generation);
}

/* event.c */
void iqcn_event_queue_state(struct iqcn_queue *q, u32 bits, u32 reason,
			    u64 now_ns);
void iqcn_event_flow_state(struct iqcn_queue *q, const struct iqcn_flow *flow,
			   u32 bits, u32 reason, u64 now_ns);
void iqcn_event_cnp_sent(struct iqcn_queue *q, const struct iqcn_flow *flow,
			 enum iqcn_cause cause, u64 now_ns);
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
