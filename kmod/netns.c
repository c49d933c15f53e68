// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces: creation and removal of struct iqcn_net, which exists as
 * long as the namespace and the module do.
 */
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "iqcn.h"

struct workqueue_struct *iqcn_wq;
unsigned int iqcn_net_id __read_mostly;

/**
 * iqcn_net_changed() - record that a port or a queue was added or removed
 * @in: namespace
 *
 * A netlink dump of ports or queues that is in progress is then marked as
 * interrupted.
 *
 * Context: RTNL.
 */
void iqcn_net_changed(struct iqcn_net *in)
{
	/* pairs with iqcn_net_generation(): publish the lists before the number
	 */
	smp_store_release(&in->generation, in->generation + 1 ?: 1);
}

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
 * iqcn_net_module_init() - create the workqueue, register for namespaces
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int iqcn_net_module_init(void)
{
	int err;

	iqcn_wq = alloc_workqueue("iqcn", WQ_UNBOUND, 0);
	if (!iqcn_wq)
		return -ENOMEM;
	/* a subsys: ->exit is called after devices and qdiscs are removed */
	err = register_pernet_subsys(&iqcn_net_ops);
	if (err)
		destroy_workqueue(iqcn_wq);
	return err;
}

/**
 * iqcn_net_module_exit() - unregister, and wait until all ports are freed
 *
 * Context: process; no queue is left, and the device notifier is unregistered.
 */
void iqcn_net_module_exit(void)
{
	unregister_pernet_subsys(&iqcn_net_ops);
	/* ports that are being freed: wait for the grace period, for the work,
	 * and for the RCU callbacks that the work has queued
	 */
	rcu_barrier();
	destroy_workqueue(iqcn_wq);
	rcu_barrier();
}
