// SPDX-License-Identifier: GPL-2.0
/*
 * Probes: the backlog of a device's qdisc over time.
 */
#include <linux/rtnetlink.h>
#include <net/sch_generic.h>

#include "rocehost.h"

/* The counters of a qdisc that has per-CPU counters read as 0 */
static void rh_probe_add_qdisc(const struct Qdisc *q, struct rh_sample *s)
{
	s->depth_bytes += READ_ONCE(q->qstats.backlog);
	s->drops += READ_ONCE(q->qstats.drops);
	s->sent_bytes += u64_stats_read(&q->bstats.bytes);
}

/* The counters of a root qdisc include those of its children.  Only mq and
 * similar qdiscs differ: sum the counters of the TX queues' qdiscs.
 */
static void rh_probe_sample(const struct rh_probe *probe, struct rh_sample *s)
{
	const struct net_device *dev;
	const struct Qdisc *q;
	unsigned int i;

	memset(s, 0, sizeof(*s));
	rcu_read_lock();
	dev = rcu_dereference(probe->dev);
	q = dev ? rcu_dereference(dev->qdisc) : NULL;
	if (q && q->flags & TCQ_F_MQROOT) {
		for (i = 0; i < dev->real_num_tx_queues; i++) {
			q = rcu_dereference(netdev_get_tx_queue(dev, i)->qdisc);
			rh_probe_add_qdisc(q, s);
		}
	} else if (q) {
		rh_probe_add_qdisc(q, s);
	}
	rcu_read_unlock();
}

/**
 * rh_probe_depth() - current backlog of the qdisc
 * @probe: the probe
 *
 * Context: any.
 * Return: bytes, 0 if the device is gone.
 */
u32 rh_probe_depth(const struct rh_probe *probe)
{
	struct rh_sample s;

	rh_probe_sample(probe, &s);
	return s.depth_bytes;
}

static u64 rh_probe_paused_ns(const struct rh_probe *probe, u64 now_ns)
{
	const struct net_device *dev;
	u64 paused_ns = 0;

	rcu_read_lock();
	dev = rcu_dereference(probe->dev);
	if (dev)
		paused_ns = wire_paused_ns(dev, now_ns);
	rcu_read_unlock();
	return paused_ns;
}

static enum hrtimer_restart rh_probe_tick(struct hrtimer *timer)
{
	struct rh_probe *probe = container_of(timer, struct rh_probe, timer);
	u64 now_ns = ktime_get_ns();
	struct rh_sample *s;

	if (probe->n >= probe->conf.samples ||
	    now_ns > READ_ONCE(rh_world.stop_ns))
		return HRTIMER_NORESTART;
	s = &probe->samples[probe->n];
	rh_probe_sample(probe, s);
	s->at_ns = now_ns - rh_world.epoch_ns;
	s->paused_ns = rh_probe_paused_ns(probe, now_ns);
	s->cnps_np = atomic64_read(&rh_world.cnps_np);
	s->cnps_cp = atomic64_read(&rh_world.cnps_cp);
	/* pairs with the acquire in rh_show_samples() */
	smp_store_release(&probe->n, probe->n + 1);
	hrtimer_forward(timer, ns_to_ktime(now_ns),
			ns_to_ktime(probe->conf.every_ns));
	return HRTIMER_RESTART;
}

/**
 * rh_probe_add() - create a probe of a device's qdisc
 * @dev: the device
 * @conf: parameters
 *
 * Context: RTNL held.
 * Return: 0, -EEXIST, -ENOMEM.
 */
int rh_probe_add(struct net_device *dev, const struct rh_probe_conf *conf)
{
	struct rh_probe *probe;

	list_for_each_entry(probe, &rh_world.probes, list)
		if (rtnl_dereference(probe->dev) == dev)
			return -EEXIST;
	probe = kzalloc(sizeof(*probe), GFP_KERNEL);
	if (!probe)
		return -ENOMEM;
	probe->conf = *conf;
	probe->net = dev_net(dev);
	strscpy(probe->name, dev->name, sizeof(probe->name));
	probe->samples = kvmalloc_array(conf->samples, sizeof(*probe->samples),
					GFP_KERNEL | __GFP_NOWARN |
					__GFP_RETRY_MAYFAIL);
	if (!probe->samples) {
		kfree(probe);
		return -ENOMEM;
	}
	hrtimer_setup(&probe->timer, rh_probe_tick, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	refcount_set(&probe->refs, 1);
	rcu_assign_pointer(probe->dev, dev);
	netdev_hold(dev, &probe->tracker, GFP_KERNEL);
	list_add_tail(&probe->list, &rh_world.probes);
	return 0;
}

/**
 * rh_probe_find() - find a probe by the name of its device, in any namespace
 * @name: name of the device
 *
 * Context: RTNL held.
 * Return: the probe, NULL if there is none or more than one.
 */
struct rh_probe *rh_probe_find(const char *name)
{
	struct rh_probe *probe, *found = NULL;

	list_for_each_entry(probe, &rh_world.probes, list) {
		if (strcmp(probe->name, name))
			continue;
		if (found)
			return NULL;
		found = probe;
	}
	return found;
}

/**
 * rh_probe_start() - take samples from the epoch until the end of the run
 * @probe: the probe
 *
 * Context: RTNL held.
 */
void rh_probe_start(struct rh_probe *probe)
{
	if (!rtnl_dereference(probe->dev))
		return;
	probe->n = 0;
	hrtimer_start(&probe->timer, ns_to_ktime(rh_world.epoch_ns),
		      HRTIMER_MODE_ABS_SOFT);
}

/**
 * rh_probe_put() - drop a reference
 * @probe: the probe
 *
 * Context: may sleep.
 */
void rh_probe_put(struct rh_probe *probe)
{
	if (!refcount_dec_and_test(&probe->refs))
		return;
	kvfree(probe->samples);
	kfree(probe);
}

/**
 * rh_probe_stop() - stop taking samples
 * @probe: the probe
 *
 * Context: RTNL held, may sleep.
 */
void rh_probe_stop(struct rh_probe *probe)
{
	hrtimer_cancel(&probe->timer);
}

static void rh_probe_leave(struct rh_probe *probe)
{
	struct net_device *dev = rtnl_dereference(probe->dev);

	rh_probe_stop(probe);
	if (!dev)
		return;
	RCU_INIT_POINTER(probe->dev, NULL);
	synchronize_net();
	netdev_put(dev, &probe->tracker);
}

/**
 * rh_probe_gone() - detach probes from a device; their samples stay
 * @dev: the device
 *
 * Context: RTNL held.
 */
void rh_probe_gone(const struct net_device *dev)
{
	struct rh_probe *probe;

	list_for_each_entry(probe, &rh_world.probes, list)
		if (rtnl_dereference(probe->dev) == dev)
			rh_probe_leave(probe);
}

/**
 * rh_probe_del() - detach a probe and drop the list's reference
 * @probe: the probe
 *
 * Context: RTNL held.
 */
void rh_probe_del(struct rh_probe *probe)
{
	rh_probe_leave(probe);
	list_del(&probe->list);
	rh_probe_put(probe);
}
