/* SPDX-License-Identifier: GPL-2.0 */
/* A port: an Ethernet device with at least one iqcn qdisc. */
#ifndef _IQCN_PORT_H
#define _IQCN_PORT_H

#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/rhashtable.h>
#include <linux/rtnetlink.h>
#include <linux/xarray.h>

#include "algo/budget.h"
#include "netns.h"

/* A port may have thousands of queues.  After a sum over them for telemetry or
 * the filter, the next one of its kind waits at least this many times as long
 * as the sum took, so each kind of sum uses at most a tenth of a CPU.
 */
#define IQCN_PORT_SUM_RESTS	9

/* A filter that a program has set for a limited time (lease.c); RTNL to write,
 * no lock to read
 */
struct iqcn_filter_lease {
	const struct iqcn_queue *owner;	/* queue of the lease; RTNL */
	u64 end_ns;			/* expiry; no lease if in the past */
	u32 n;
	u32 interval_ns;
};

/* A device with at least one queue */
struct iqcn_port {
	struct net_device *dev;		/* its queues hold a reference */
	struct net *net;		/* namespace of dev */
	struct iqcn_owner *owner;	/* charged for flows and timers */
	struct list_head list;		/* in iqcn_net->ports */
	struct list_head queues;	/* RTNL to write, RCU to read */
	unsigned int n_queues;		/* RTNL to write */
	struct nf_hook_ops nf_ops;	/* the ingress hook */

	struct rhashtable flows;	/* by struct iqcn_key */
	/* flows by id, for dumps; lock to write, RCU to read */
	struct xarray by_id;
	u64 born_ns;			/* creation of the newest flow; lock */
	atomic_t n_dead;		/* flows unhashed but not freed yet */
	u32 max_dead;			/* sum of p.flows; RTNL to write */
	struct rhashtable by_sqp;	/* paired flows, by the sender's QP */
	struct rhashtable hosts;	/* by struct iqcn_key with QP 0 */

	spinlock_t lock;		/* flows, hosts, pairing: see iqcn.h */
	unsigned int n_unassured;	/* unassured flows; lock to write */
	bool sport;			/* pair by source ports; RTNL to
					 * write
					 */
	struct iqcn_echo __rcu *echo;	/* echo table; RTNL to write */

	/* source address of generated CNPs (IQCN_CNP_SMAC_PORT), as a number,
	 * so that it is read in one piece; RTNL to write
	 */
	u64 cnp_smac;

	/* protects budget and couple; iqcn_budget_half() needs no lock */
	spinlock_t budget_lock;
	struct iqcn_budget budget;	/* CNPs that may be sent */
	bool cnp_rate_user;		/* the user set cnp_rate_pps; RTNL */
	u32 cnp_rate_pps;		/* parameters of the budget; RTNL to
					 * write
					 */
	u32 cnp_burst;

	/* time of the next sum, and the depth of all queues, for telemetry;
	 * both are accessed without a lock
	 */
	u64 used_ns;
	u64 used_bytes;

	/* the long-haul link and the filter of CNPs that come from it: RTNL to
	 * write, no lock to read
	 */
	u32 fiber_m;
	u32 filter_by;			/* enum iqcn_cnp_filter_by */
	struct tc_iqcn_cnp_filter filter_rule;
	struct iqcn_filter_lease lease;
	/* NULL until the first filter (filter.c) */
	struct iqcn_port_filter *filter;
	/* requested supplement rate (upper half) and its cap (lower half) of
	 * the sending queue that exceeds its cap by the largest ratio, 0 if
	 * none does.  One word, so that the filter reads both without the lock;
	 * budget_lock to write.
	 */
	u64 couple;
	const struct iqcn_queue *couple_owner; /* of couple; budget_lock */
	u64 rate_bps;			/* of all queues; RTNL to write */
	atomic64_t cnp_passed;		/* CNPs that the filter let pass */
	atomic64_t cnp_filtered;	/* CNPs that the filter dropped */

	u32 snoop;			/* copy of iqcn_net's; RTNL to write */
	struct iqcn_rx_stats rx_stats;	/* with IQCN_SNOOP_PORT */
	atomic64_t pfc_ignored;		/* MAC control frames that no queue
					 * used
					 */

	struct dentry *debugfs;		/* iqcn/<netns>/<dev> */
	struct rcu_work free_work;	/* after the grace period */
};

/* Parameters of a port and of its namespace, which tc sets through any queue */
struct iqcn_port_config {
	bool cnp_rate_user;		/* the user set cnp_rate_pps */
	u32 cnp_rate_pps;
	u32 cnp_burst;
	u32 snoop;			/* enum iqcn_snoop; the namespace's */
	u32 fiber_m;			/* 0: no long-haul link */
	struct tc_iqcn_cnp_filter filter;
	u32 filter_by;			/* enum iqcn_cnp_filter_by */
};

/**
 * struct iqcn_port_ops - callbacks from a port to qdisc.c; all under RTNL
 * @speed_bps: return the speed of the device in bit/s, 0: unknown
 * @link_change: follow a possible change of the link or of the MTU
 * @reset: drop all packets of the queue
 * @orphan: detach the qdisc from its port, because the device is unregistered
 *	or moves to another namespace; sleeps
 */
struct iqcn_port_ops {
	u64 (*speed_bps)(struct net_device *dev);
	void (*link_change)(struct iqcn_queue *q, u64 speed_bps);
	void (*reset)(struct iqcn_queue *q);
	void (*orphan)(struct iqcn_queue *q);
};

/* port.c */
int iqcn_port_attach(struct net_device *dev, struct iqcn_queue *q,
		     struct netlink_ext_ack *extack);
void iqcn_port_detach(struct iqcn_queue *q);
void iqcn_port_update(struct iqcn_port *port);
void iqcn_port_get(const struct iqcn_port *port, struct iqcn_port_config *c);
int iqcn_port_set(struct iqcn_port *port, const struct iqcn_port_config *c,
		  struct netlink_ext_ack *extack);
int iqcn_port_module_init(const struct iqcn_port_ops *ops);
void iqcn_port_module_exit(void);

/* The port of a device, or NULL; RTNL or RCU */
static inline struct iqcn_port *iqcn_port_find(const struct net_device *dev)
{
	struct iqcn_port *port;

	list_for_each_entry_rcu(port, &iqcn_net(dev_net(dev))->ports, list,
				lockdep_rtnl_is_held())
		if (port->dev == dev)
			return port;
	return NULL;
}

/* The counters of unusable received packets: the port's or its namespace's */
static inline struct iqcn_rx_stats *iqcn_port_rx_stats(struct iqcn_port *port)
{
	if (READ_ONCE(port->snoop) == IQCN_SNOOP_PORT)
		return &port->rx_stats;
	return &iqcn_net(port->net)->rx_stats;
}

/* filter.c */
int iqcn_filter_check(u32 n, u32 interval_ns, u32 fiber_m,
		      const struct nlattr *attr, struct netlink_ext_ack *extack);
int iqcn_filter_alloc(struct iqcn_port *port);
void iqcn_filter_free(struct iqcn_port *port);
bool iqcn_filter_cnp(struct iqcn_port *port, const struct iqcn_key *key,
		     const struct iqcn_flow *flow);
u32 iqcn_filter_n(struct iqcn_port *port);
u64 iqcn_filter_interval_ns(struct iqcn_port *port);

/* Has a filter ever been set?  Inline, because every CNP tests it (bench
 * "hook").
 */
static inline bool iqcn_port_filters(const struct iqcn_port *port)
{
	return READ_ONCE(port->filter);
}

/* snoop.c */
void iqcn_snoop_init(struct iqcn_port *port);
int iqcn_snoop_set(struct net *net, u32 snoop);

/* stats.c */

/* A value of a port */
struct iqcn_value {
	const char *name;			/* file in sysfs */
	u64 (*get)(struct iqcn_port *port);	/* RCU */
};

/* Indexed by enum iqcn_a_port, up to IQCN_A_PORT_MAX.  Attributes that are not
 * values have no name.
 */
extern const struct iqcn_value iqcn_values[];

/* sysfs.c */
int iqcn_sysfs_add(struct iqcn_port *port, struct netlink_ext_ack *extack);
void iqcn_sysfs_del(struct iqcn_port *port);
void iqcn_sysfs_module_init(void);

/* debugfs.c */
void iqcn_debugfs_add(struct iqcn_port *port);
void iqcn_debugfs_del(struct iqcn_port *port);
void iqcn_debugfs_rename(struct iqcn_port *port);
void iqcn_debugfs_module_init(void);
void iqcn_debugfs_module_exit(void);

#endif /* _IQCN_PORT_H */
