// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: devices with at least one queue.  A port is created with its first
 * queue and removed with its last one, in two phases:
 *
 *   1. under RTNL, remove its hook and its entries in sysfs, debugfs and lists
 *   2. after a grace period, when it has no readers any more, free it in a work
 *      item
 *
 * A device that is unregistered, or moves to another namespace, usually loses
 * its qdiscs first.  But a qdisc with another reference is destroyed later: by
 * then the device may be gone from sysfs, or be in the other namespace.  So
 * NETDEV_UNREGISTER removes the port: in both cases it is sent while the device
 * is still in sysfs and in this namespace.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "algo/filter.h"
#include "iqcn.h"

static const struct iqcn_port_ops *iqcn_port_ops __read_mostly;

static void iqcn_port_set_budget(struct iqcn_port *port, u32 rate_pps,
				 u32 burst)
{
	if (rate_pps == port->cnp_rate_pps && burst == port->cnp_burst)
		return;
	spin_lock_bh(&port->budget_lock);
	WRITE_ONCE(port->cnp_rate_pps, rate_pps);
	WRITE_ONCE(port->cnp_burst, burst);
	iqcn_budget_set(&port->budget, rate_pps, burst);
	spin_unlock_bh(&port->budget_lock);
}

static void iqcn_port_free_work(struct work_struct *work)
{
	struct iqcn_port *port = container_of(to_rcu_work(work),
					      struct iqcn_port, free_work);

	iqcn_filter_free(port);
	iqcn_pair_tables_free(port);
	iqcn_flow_tables_free(port);
	/* RCU callbacks of flows access their port */
	rcu_barrier();
	iqcn_owner_put(port->owner);
	kfree(port);
}

/* Hash the device's address into a locally administered one for injected CNPs,
 * because a bridge warns of received frames with the device's own address.
 */
static void iqcn_port_set_smac(struct iqcn_port *port)
{
	const struct net_device *dev = port->dev;
	u32 a = jhash(dev->dev_addr, ETH_ALEN, dev->ifindex);
	u32 b = jhash(dev->dev_addr, ETH_ALEN, ~dev->ifindex);
	u8 addr[ETH_ALEN] = { b >> 8, b, a >> 24, a >> 16, a >> 8, a };

	/* unicast, locally administered */
	addr[0] = (addr[0] & ~0x01) | 0x02;
	WRITE_ONCE(port->cnp_smac, ether_addr_to_u64(addr));
}

static struct iqcn_port *iqcn_port_new(struct net_device *dev,
				       struct netlink_ext_ack *extack)
{
	struct net *net = dev_net(dev);
	struct iqcn_net *in = iqcn_net(net);
	struct iqcn_port *port;
	int err;

	port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	if (!port)
		return ERR_PTR(-ENOMEM);
	port->dev = dev;
	port->net = net;
	port->owner = iqcn_owner_get(in->owner);
	INIT_LIST_HEAD(&port->queues);
	iqcn_port_set_smac(port);
	spin_lock_init(&port->lock);
	spin_lock_init(&port->budget_lock);
	port->snoop = in->snoop;
	port->cnp_rate_pps = iqcn_default_cnp_rate(0);
	port->cnp_burst = IQCN_CNP_BURST;
	iqcn_budget_set(&port->budget, port->cnp_rate_pps, port->cnp_burst);
	INIT_RCU_WORK(&port->free_work, iqcn_port_free_work);

	if (list_empty(&in->ports)) {
		err = iqcn_event_start(in);
		if (err)
			goto err_port;
	}
	err = iqcn_flow_tables_init(port);
	if (err)
		goto err_events;
	err = iqcn_pair_tables_init(port);
	if (err)
		goto err_flows;
	err = iqcn_sysfs_add(port, extack);
	if (err)
		goto err_pairs;
	iqcn_debugfs_add(port);
	iqcn_snoop_init(port);
	err = nf_register_net_hook(net, &port->nf_ops);
	if (err) {
		NL_SET_ERR_MSG(extack,
			       "Cannot register the netfilter hook at the device's ingress: out of memory, or too many hooks");
		goto err_sysfs;
	}
	list_add_tail_rcu(&port->list, &in->ports);
	return port;

err_sysfs:
	iqcn_debugfs_del(port);
	iqcn_sysfs_del(port);
err_pairs:
	iqcn_pair_tables_free(port);
err_flows:
	iqcn_flow_tables_free(port);
err_events:
	if (list_empty(&in->ports))
		iqcn_event_stop(in);
err_port:
	iqcn_owner_put(port->owner);
	kfree(port);
	return ERR_PTR(err);
}

/* Phase 1.  All queues are dead, so that no timer and no work runs. */
static void iqcn_port_unpublish(struct iqcn_port *port)
{
	struct net *net = port->net;
	struct iqcn_net *in = iqcn_net(net);

	list_del_rcu(&port->list);
	iqcn_net_changed(in);
	/* back to the default for the next port; this cannot fail */
	if (list_empty(&in->ports))
		iqcn_snoop_set(net, IQCN_SNOOP_PORT);
	nf_unregister_net_hook(net, &port->nf_ops);
	iqcn_debugfs_del(port);
	iqcn_sysfs_del(port);
	if (list_empty(&in->ports)) {
		iqcn_event_stop(in);
		/* wait for in-flight hooks, which may still add CM entries */
		synchronize_net();
		/* without hooks, DREQs would not remove the entries */
		iqcn_cm_flush(in);
	}
}

/**
 * iqcn_port_update() - recompute what depends on the queues and the link
 * @port: port
 *
 * Context: RTNL.
 */
void iqcn_port_update(struct iqcn_port *port)
{
	u64 max_dead = 0, link_bps = 0, largest_bps = 0, sum_bps = 0, bps;
	struct iqcn_queue *q;
	bool sport = false;
	u32 rtt_ns;

	ASSERT_RTNL();
	list_for_each_entry(q, &port->queues, list) {
		sport |= q->p.pair <= IQCN_PAIR_SPORT;
		max_dead += q->p.flows;
		bps = q->p.bandwidth_bps ?: q->link_bps;
		largest_bps = max(largest_bps, bps);
		sum_bps += bps;
		link_bps = max(link_bps, q->speed_bps ?: q->link_bps);
	}
	WRITE_ONCE(port->sport, sport);
	WRITE_ONCE(port->max_dead, min_t(u64, max_dead, U32_MAX));
	/* The queues share the link, so the sum is limited to its speed.  But a
	 * virtual device may report a lower speed than a queue's bandwidth.
	 */
	bps = max(largest_bps, min(sum_bps, link_bps));
	if (!port->cnp_rate_user)
		iqcn_port_set_budget(port, iqcn_default_cnp_rate(bps),
				     port->cnp_burst);
	WRITE_ONCE(port->rate_bps, bps);
	rtt_ns = iqcn_fiber_rtt_ns(port->fiber_m);
	list_for_each_entry(q, &port->queues, list)
		WRITE_ONCE(q->fiber_rtt_ns, rtt_ns);
	iqcn_pair_set_window(port, iqcn_echo_packets(bps, rtt_ns,
						     port->dev->mtu));
}

static void iqcn_port_set_filter(struct iqcn_port *port,
				 const struct iqcn_port_config *c)
{
	WRITE_ONCE(port->fiber_m, c->fiber_m);
	WRITE_ONCE(port->filter_by, c->filter_by);
	WRITE_ONCE(port->filter_rule.n, c->filter.n);
	WRITE_ONCE(port->filter_rule.interval_ns, c->filter.interval_ns);
	WRITE_ONCE(port->filter_rule.mode, c->filter.mode);
}

/* Set the mode for all ports of the namespace, because with different modes two
 * hooks would parse the same packet.  Flush all flows, because their keys
 * depend on the mode.
 */
static int iqcn_port_set_snoop(struct iqcn_port *port, u32 snoop,
			       struct netlink_ext_ack *extack)
{
	struct net *net = port->net;
	int err;

	if (snoop == port->snoop)
		return 0;
	err = iqcn_snoop_set(net, snoop);
	if (err) {
		NL_SET_ERR_MSG(extack,
			       "snoop netns: cannot register the hooks for bridged and routed packets, try again or use snoop port");
		return err;
	}
	list_for_each_entry(port, &iqcn_net(net)->ports, list)
		WRITE_ONCE(port->snoop, snoop);
	/* wait for hooks and queues that still use the old mode */
	synchronize_net();
	iqcn_cm_flush(iqcn_net(net));
	list_for_each_entry(port, &iqcn_net(net)->ports, list)
		iqcn_gc_flush(port, NULL);
	return 0;
}

/**
 * iqcn_port_get() - get the parameters of a port and of its namespace
 * @port: port
 * @c: result
 *
 * Context: RTNL.
 */
void iqcn_port_get(const struct iqcn_port *port, struct iqcn_port_config *c)
{
	ASSERT_RTNL();
	c->cnp_rate_user = port->cnp_rate_user;
	c->cnp_rate_pps = port->cnp_rate_pps;
	c->cnp_burst = port->cnp_burst;
	c->snoop = port->snoop;
	c->fiber_m = port->fiber_m;
	c->filter = port->filter_rule;
	c->filter_by = port->filter_by;
}

/**
 * iqcn_port_set() - set the parameters of a port and of its namespace
 * @port: port
 * @c: parameters, checked
 * @extack: for errors
 *
 * Context: RTNL, sleeps.
 * Return: 0, or a negative error, in which case no parameter has changed.
 */
int iqcn_port_set(struct iqcn_port *port, const struct iqcn_port_config *c,
		  struct netlink_ext_ack *extack)
{
	int err;

	if (c->filter.mode != IQCN_CNP_FILTER_OFF) {
		err = iqcn_filter_alloc(port);
		if (err)
			return err;
	}
	err = iqcn_port_set_snoop(port, c->snoop, extack);
	if (err)
		return err;
	iqcn_net(port->net)->config_seq++;
	port->cnp_rate_user = c->cnp_rate_user;
	iqcn_port_set_budget(port, c->cnp_rate_pps, c->cnp_burst);
	iqcn_port_set_filter(port, c);
	return 0;
}

/**
 * iqcn_port_attach() - add a queue to the port of its device
 * @dev: device
 * @q: queue; sets q->port
 * @extack: for errors
 *
 * Context: RTNL.
 * Return: 0 or a negative error.
 */
int iqcn_port_attach(struct net_device *dev, struct iqcn_queue *q,
		     struct netlink_ext_ack *extack)
{
	struct iqcn_port *port;

	ASSERT_RTNL();
	port = iqcn_port_find(dev);
	if (!port)
		port = iqcn_port_new(dev, extack);
	if (IS_ERR(port))
		return PTR_ERR(port);
	WRITE_ONCE(port->n_queues, port->n_queues + 1);
	/* set before readers of port->queues find the queue */
	q->port = port;
	list_add_tail_rcu(&q->list, &port->queues);
	iqcn_net_changed(iqcn_net(port->net));
	return 0;
}

/**
 * iqcn_port_detach() - stop a queue and remove it from its port
 * @q: queue whose qdisc is destroyed
 *
 * Context: RTNL, sleeps.
 */
void iqcn_port_detach(struct iqcn_queue *q)
{
	struct iqcn_port *port = q->port;

	ASSERT_RTNL();
	iqcn_queue_kill(q);
	list_del_rcu(&q->list);
	/* do not sleep between the removal and this call: a dump that continues
	 * meanwhile may miss a queue
	 */
	iqcn_net_changed(iqcn_net(port->net));
	WRITE_ONCE(port->n_queues, port->n_queues - 1);
	if (port->n_queues) {
		iqcn_port_update(port);
	} else {
		iqcn_port_unpublish(port);
		queue_rcu_work(iqcn_wq, &port->free_work);
	}
}

/* Remove the port of a device that is unregistered or moves to another
 * namespace.  The device is closed and has lost its qdiscs, so that the
 * remaining queues neither enqueue nor dequeue.  They may still have packets,
 * because some parents do not reset their children (cbs in 6.1).
 */
static void iqcn_port_orphan(struct iqcn_port *port)
{
	struct iqcn_queue *q, *next;

	list_for_each_entry(q, &port->queues, list) {
		iqcn_port_ops->reset(q);
		iqcn_queue_kill(q);
	}
	iqcn_port_unpublish(port);
	/* wait for readers of port->queues */
	synchronize_net();
	list_for_each_entry_safe(q, next, &port->queues, list) {
		list_del_init(&q->list);
		iqcn_port_ops->orphan(q);
	}
	queue_rcu_work(iqcn_wq, &port->free_work);
}

/* The speed or the MTU of the device may have changed; RTNL */
static void iqcn_port_link_change(struct iqcn_port *port, unsigned long event)
{
	/* Keep the speed if the lock of a lower device may be held, because
	 * speed_bps() may take the same lock: the MTU of a bridge changes with
	 * that of a lower device, and a VLAN comes up with its lower device.
	 * NETDEV_CHANGE follows when the VLAN gets its carrier.
	 */
	bool keep = event == NETDEV_CHANGEMTU ||
		    (event == NETDEV_UP && is_vlan_dev(port->dev));
	u64 speed_bps = keep ? 0 : iqcn_port_ops->speed_bps(port->dev);
	struct iqcn_queue *q;

	list_for_each_entry(q, &port->queues, list)
		iqcn_port_ops->link_change(q, keep ? q->speed_bps : speed_bps);
	iqcn_port_update(port);
}

static int iqcn_netdev_event(struct notifier_block *nb, unsigned long event,
			     void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct iqcn_port *port = iqcn_port_find(dev);

	if (!port)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UNREGISTER:
		iqcn_port_orphan(port);
		break;
	/* a port must stay an Ethernet device */
	case NETDEV_PRE_TYPE_CHANGE:
		return notifier_from_errno(-EBUSY);
	case NETDEV_CHANGEADDR:
		iqcn_port_set_smac(port);
		break;
	case NETDEV_CHANGENAME:
		iqcn_debugfs_rename(port);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		iqcn_port_link_change(port, event);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block iqcn_netdev_notifier = {
	.notifier_call = iqcn_netdev_event,
};

/**
 * iqcn_port_module_init() - register for events of devices
 * @ops: callbacks into qdisc.c
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int iqcn_port_module_init(const struct iqcn_port_ops *ops)
{
	iqcn_port_ops = ops;
	return register_netdevice_notifier(&iqcn_netdev_notifier);
}

/**
 * iqcn_port_module_exit() - unregister for events of devices
 *
 * Context: process; no queue is left.
 */
void iqcn_port_module_exit(void)
{
	unregister_netdevice_notifier(&iqcn_netdev_notifier);
}
