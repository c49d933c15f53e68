// SPDX-License-Identifier: GPL-2.0
/*
 * rocehost: the module and its per-namespace state.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "rocehost.h"

struct rh_world rh_world = {
	.hosts = LIST_HEAD_INIT(rh_world.hosts),
	.probes = LIST_HEAD_INIT(rh_world.probes),
	.epoch_ns = RH_NEVER,
	.count_ns = RH_NEVER,
	.stop_ns = RH_NEVER,
};

unsigned int rh_net_id;

/**
 * rh_clear() - remove a namespace's hosts and probes
 * @net: the namespace, NULL: all of them
 *
 * If no host is left, the epoch is reset, and a new start is possible.
 *
 * Context: RTNL held.
 */
void rh_clear(struct net *net)
{
	struct rh_probe *probe, *next_probe;
	struct rh_host *host, *next;

	list_for_each_entry_safe(host, next, &rh_world.hosts, list)
		if (!net || net_eq(dev_net(host->dev), net))
			rh_host_del(host);
	list_for_each_entry_safe(probe, next_probe, &rh_world.probes, list)
		if (!net || net_eq(probe->net, net))
			rh_probe_del(probe);
	if (!list_empty(&rh_world.hosts))
		return;
	list_for_each_entry(probe, &rh_world.probes, list)
		rh_probe_stop(probe);
	wire_stop();
	rh_world.epoch_ns = RH_NEVER;
	WRITE_ONCE(rh_world.count_ns, RH_NEVER);
	WRITE_ONCE(rh_world.stop_ns, RH_NEVER);
	atomic64_set(&rh_world.cnps_np, 0);
	atomic64_set(&rh_world.cnps_cp, 0);
}

/**
 * rh_attach() - attach an end of a wire to the buffer of its switch
 * @end: end of the wire
 *
 * Context: RTNL held.
 * Return: 0, -ENOMEM.
 */
int rh_attach(struct wire_end *end)
{
	struct rh_net *rn = net_generic(dev_net(end->dev), rh_net_id);

	return wire_attach(end, &rn->buffer);
}

static int rh_netdev_event(struct notifier_block *nb, unsigned long event,
			   void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct wire_end *end = wire_end_of(dev);
	struct rh_host *host;

	/* NETDEV_REGISTER also follows a move to another namespace */
	if (event == NETDEV_REGISTER && end)
		return notifier_from_errno(rh_attach(end));
	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	host = rh_host_of(dev);
	if (host)
		rh_host_del(host);
	rh_probe_gone(dev);
	if (end)
		wire_detach(end);
	return NOTIFY_DONE;
}

static struct notifier_block rh_notifier = {
	.notifier_call = rh_netdev_event,
};

static int __net_init rh_net_init(struct net *net)
{
	struct rh_net *rn = net_generic(net, rh_net_id);

	spin_lock_init(&rn->buffer.lock);
	return rh_report_init(net);
}

static void __net_exit rh_net_exit(struct net *net)
{
	rh_report_exit(net);
	rtnl_lock();
	rh_clear(net);
	rtnl_unlock();
}

static struct pernet_operations rh_net_ops = {
	.init = rh_net_init,
	.exit = rh_net_exit,
	.id = &rh_net_id,
	.size = sizeof(struct rh_net),
};

/* Accept commands only while the notifier is registered.  Without it, a device
 * that an object references could not be unregistered.
 */
static void rh_set_open(bool open)
{
	rtnl_lock();
	WRITE_ONCE(rh_world.open, open);
	if (!open)
		rh_clear(NULL);
	rtnl_unlock();
}

static int __init rh_init(void)
{
	int err = register_pernet_subsys(&rh_net_ops);

	if (err)
		return err;
	err = register_netdevice_notifier(&rh_notifier);
	if (err)
		goto err_notifier;
	err = wire_init();
	if (err)
		goto err_wire;
	rh_set_open(true);
	return 0;

err_wire:
	unregister_netdevice_notifier(&rh_notifier);
err_notifier:
	unregister_pernet_subsys(&rh_net_ops);
	return err;
}

static void __exit rh_exit(void)
{
	rh_set_open(false);
	wire_exit();
	unregister_netdevice_notifier(&rh_notifier);
	unregister_pernet_subsys(&rh_net_ops);
	rh_zeros_free();
}

module_init(rh_init);
module_exit(rh_exit);
MODULE_DESCRIPTION("RoCEv2 hosts inside the kernel, for tests");
MODULE_LICENSE("GPL");
