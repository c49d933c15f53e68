// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: devices with at least one queue of ours.  A port comes with its first
 * queue and goes with its last, in two phases:
 *
 *   1. out of reach: hook, sysfs, debugfs and list are left (RTNL)
 *   2. after a grace period nobody looks at it any more: freed by a work
 *
 * A device that is unregistered, or moves to another namespace, usually loses its
 * qdiscs first.  A qdisc that something else still refers to is destroyed later, and
 * the device may be gone from sysfs or in another namespace by then.  So the port
 * goes with NETDEV_UNREGISTER, which is sent in both cases while the device is
 * still what it was.
 */
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "iqcn.h"

/* CNPs at once; their default rate follows the link */
#define IQCN_CNP_BURST		1024

struct workqueue_struct *iqcn_wq;
static unsigned int iqcn_net_id __read_mostly;

/**
 * iqcn_net() - what a namespace has
 * @net: namespace
 *
 * Context: any.
 * Return: its part of the module, never NULL.
 */
struct iqcn_net *iqcn_net(const struct net *net)
{
	return net_generic(net, iqcn_net_id);
}

/**
 * iqcn_port_find() - the port of a device
 * @dev: device
 *
 * Context: RTNL or RCU.
 * Return: NULL if it has none.
 */
struct iqcn_port *iqcn_port_find(const struct net_device *dev)
{
	struct iqcn_port *port;

	list_for_each_entry_rcu(port, &iqcn_net(dev_net(dev))->ports, list,
				lockdep_rtnl_is_held())
		if (port->dev == dev)
			return port;
	return NULL;
}

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

	iqcn_pair_tables_free(port);
	iqcn_flow_tables_free(port);
	/* flows that RCU still has know their port */
	rcu_barrier();
	iqcn_owner_put(port->owner);
	kfree(port);
}

/* Hash the address of the device into a locally administered one.  A bridge warns
 * about frames that come in with the device's own address as their source.
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
	err = iqcn_inspect_add(port, extack);
	if (err)
		goto err_pairs;
	iqcn_snoop_init(port);
	err = nf_register_net_hook(net, &port->nf_ops);
	if (err) {
		NL_SET_ERR_MSG(extack, "Cannot hook the device's ingress");
		goto err_inspect;
	}
	list_add_tail_rcu(&port->list, &in->ports);
	return port;

err_inspect:
	iqcn_inspect_del(port);
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

/* Unpublish the port.  Its queues are dead: no timer and no work runs. */
static void iqcn_port_hide(struct iqcn_port *port)
{
	struct net *net = port->net;
	struct iqcn_net *in = iqcn_net(net);

	list_del_rcu(&port->list);
	/* the next one begins with the default; this cannot fail */
	if (list_empty(&in->ports))
		iqcn_snoop_set(net, IQCN_SNOOP_PORT);
	nf_unregister_net_hook(net, &port->nf_ops);
	iqcn_inspect_del(port);
	if (list_empty(&in->ports)) {
		iqcn_event_stop(in);
		/* who is in the hook yet may see one begin */
		synchronize_net();
		/* nobody is going to see which connections end */
		iqcn_cm_flush(in);
	}
}

/**
 * iqcn_port_update() - parameters of a queue, or the link, have changed
 * @port: its port
 *
 * Context: RTNL.
 */
void iqcn_port_update(struct iqcn_port *port)
{
	u64 max_dead = 0, link_bps = 0, largest_bps = 0, sum_bps = 0, bps;
	struct iqcn_queue *q;
	bool sport = false;

	ASSERT_RTNL();
	list_for_each_entry(q, &port->queues, list) {
		sport |= q->p.pair <= IQCN_PAIR_SPORT;
		max_dead += q->p.flows;
		bps = q->p.bandwidth_bps ?: q->link_bps;
		largest_bps = max(largest_bps, bps);
		sum_bps += bps;
		link_bps = max(link_bps, q->link_bps);
	}
	WRITE_ONCE(port->sport, sport);
	WRITE_ONCE(port->max_dead, min_t(u64, max_dead, U32_MAX));
	/* queues share the link, whose speed a virtual device does not know */
	bps = max(largest_bps, min(sum_bps, link_bps));
	if (!port->cnp_rate_user)
		iqcn_port_set_budget(port, iqcn_default_cnp_rate(bps),
				     port->cnp_burst);
}

/* A queue has come or gone: who looks at them all a bit at a time is to know */
static void iqcn_port_changed(struct iqcn_net *in)
{
	/* who sees the new number sees the new lists */
	smp_store_release(&in->generation, in->generation + 1 ?: 1);
}

/**
 * iqcn_port_generation() - tells what ports and queues there are
 * @net: their namespace
 *
 * Context: any.
 * Return: another number, never 0, if one has come or gone.
 */
u32 iqcn_port_generation(const struct net *net)
{
	/* see above */
	return smp_load_acquire(&iqcn_net(net)->generation);
}

/* All devices of a namespace look for CNPs in the same way: else one would see
 * what another has seen already.  Flows are told apart in another way then.
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
		NL_SET_ERR_MSG(extack, "Cannot hook what is bridged or routed");
		return err;
	}
	list_for_each_entry(port, &iqcn_net(net)->ports, list)
		WRITE_ONCE(port->snoop, snoop);
	/* who still goes by the old rule has left hooks and queues */
	synchronize_net();
	iqcn_cm_flush(iqcn_net(net));
	list_for_each_entry(port, &iqcn_net(net)->ports, list)
		iqcn_gc_flush(port, NULL);
	return 0;
}

/**
 * iqcn_port_get() - parameters of the whole device, and of its namespace
 * @port: port
 * @c: to be filled
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
}

/**
 * iqcn_port_set() - set the parameters of the whole device, and of its namespace
 * @port: port
 * @c: parameters, checked
 * @extack: for errors
 *
 * Context: RTNL, sleeps.
 * Return: 0 or a negative error, nothing has changed then.
 */
int iqcn_port_set(struct iqcn_port *port, const struct iqcn_port_config *c,
		  struct netlink_ext_ack *extack)
{
	int err;

	err = iqcn_port_set_snoop(port, c->snoop, extack);
	if (err)
		return err;
	iqcn_net(port->net)->config_seq++;
	port->cnp_rate_user = c->cnp_rate_user;
	iqcn_port_set_budget(port, c->cnp_rate_pps, c->cnp_burst);
	return 0;
}

/**
 * iqcn_port_attach() - a queue joins the port of its device
 * @dev: device
 * @q: queue; its port is set
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
	/* before others see the queue */
	q->port = port;
	list_add_tail_rcu(&q->list, &port->queues);
	iqcn_port_changed(iqcn_net(port->net));
	return 0;
}

/**
 * iqcn_port_detach() - a queue leaves its port
 * @q: queue; dead
 *
 * Context: RTNL, sleeps.
 */
void iqcn_port_detach(struct iqcn_queue *q)
{
	struct iqcn_port *port = q->port;
	struct iqcn_net *in = iqcn_net(port->net);

	ASSERT_RTNL();
	iqcn_queue_kill(q);
	list_del_rcu(&q->list);
	WRITE_ONCE(port->n_queues, port->n_queues - 1);
	if (port->n_queues) {
		iqcn_port_update(port);
	} else {
		iqcn_port_hide(port);
		queue_rcu_work(iqcn_wq, &port->free_work);
	}
	iqcn_port_changed(in);
}

/* The device is unregistered, or moves.  It is closed, and has lost its qdiscs: no
 * packet enters or leaves a queue that is still here.  Packets may wait in one all the
 * same, because some parents do not reset their children (cbs in 6.1).
 */
static void iqcn_port_orphan(struct iqcn_port *port)
{
	struct iqcn_net *in = iqcn_net(port->net);
	struct iqcn_queue *q, *next;

	list_for_each_entry(q, &port->queues, list) {
		iqcn_qdisc_reset(q);
		iqcn_queue_kill(q);
	}
	iqcn_port_hide(port);
	/* readers that found the port before may be at its queues */
	synchronize_net();
	list_for_each_entry_safe(q, next, &port->queues, list) {
		list_del_init(&q->list);
		iqcn_qdisc_orphan(q);
	}
	iqcn_port_changed(in);
	queue_rcu_work(iqcn_wq, &port->free_work);
}

static int iqcn_netdev_event(struct notifier_block *nb, unsigned long event,
			     void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct iqcn_port *port = iqcn_port_find(dev);
	struct iqcn_queue *q;
	u64 link_bps;

	if (!port)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UNREGISTER:
		iqcn_port_orphan(port);
		break;
	/* a port is of Ethernet */
	case NETDEV_PRE_TYPE_CHANGE:
		return notifier_from_errno(-EBUSY);
	case NETDEV_CHANGEADDR:
		iqcn_port_set_smac(port);
		break;
	case NETDEV_CHANGENAME:
		iqcn_inspect_rename(port);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
		link_bps = iqcn_qdisc_link_bps(dev);
		list_for_each_entry(q, &port->queues, list)
			iqcn_qdisc_link_change(q, link_bps);
		break;
	case NETDEV_CHANGEMTU:
		/* not asked again: a bridge's changes with one below, whose
		 * lock is held then
		 */
		list_for_each_entry(q, &port->queues, list)
			iqcn_qdisc_link_change(q, q->link_bps);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block iqcn_netdev_notifier = {
	.notifier_call = iqcn_netdev_event,
};

static int __net_init iqcn_net_init(struct net *net)
{
	struct iqcn_net *in = iqcn_net(net);

	int err;

	in->net = net;
	in->owner = iqcn_owner_of(net);
	if (!in->owner)
		return -ENOMEM;
	INIT_LIST_HEAD(&in->ports);
	iqcn_event_init(in);
	in->generation = 1;
	err = iqcn_cm_init(in);
	if (err)
		iqcn_owner_put(in->owner);
	return err;
}

static void __net_exit iqcn_net_exit(struct net *net)
{
	struct iqcn_net *in = iqcn_net(net);

	WARN_ON(!list_empty(&in->ports));
	iqcn_cm_exit(in);
	iqcn_owner_put(in->owner);
}

static struct pernet_operations iqcn_net_ops = {
	.init = iqcn_net_init,
	.exit = iqcn_net_exit,
	.id = &iqcn_net_id,
	.size = sizeof(struct iqcn_net),
};

/**
 * iqcn_port_module_init() - when the module is loaded
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int iqcn_port_module_init(void)
{
	int err;

	iqcn_owner_module_init();
	iqcn_wq = alloc_workqueue("iqcn", WQ_UNBOUND, 0);
	if (!iqcn_wq)
		return -ENOMEM;
	/* a subsystem: it exits after the devices, and their qdiscs, are gone */
	err = register_pernet_subsys(&iqcn_net_ops);
	if (err)
		goto err_wq;
	err = register_netdevice_notifier(&iqcn_netdev_notifier);
	if (err)
		goto err_net;
	return 0;

err_net:
	unregister_pernet_subsys(&iqcn_net_ops);
err_wq:
	destroy_workqueue(iqcn_wq);
	return err;
}

/**
 * iqcn_port_module_exit() - when the module is unloaded
 *
 * Context: process; no queue is left.
 */
void iqcn_port_module_exit(void)
{
	unregister_netdevice_notifier(&iqcn_netdev_notifier);
	unregister_pernet_subsys(&iqcn_net_ops);
	/* ports on their way: first the grace period, then the work, then
	 * whatever that gave to RCU
	 */
	rcu_barrier();
	destroy_workqueue(iqcn_wq);
	rcu_barrier();
}
