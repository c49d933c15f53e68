// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of the CE packets that are looked at, for whoever listens to a psample
 * group: the patent's coprocessor (US 12395431 B2, description (45), (78)).
 *
 * psample is a module of its own, and one that a kernel may lack.  Nothing else
 * here needs it, so it is looked up when a queue is told to copy.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/psample.h>

#include "iqcn.h"

/* Of each packet: Ethernet to BTH and a bit of what follows */
#define IQCN_PSAMPLE_BYTES	128

/* psample's functions; while there are users they stay.  RTNL to write, and to
 * read but for who holds a group.
 */
static struct {
	unsigned int users;
	typeof(psample_group_get) *get;
	typeof(psample_group_put) *put;
	typeof(psample_sample_packet) *sample;
} iqcn_psample;

static void iqcn_psample_unbind(void)
{
	if (--iqcn_psample.users)
		return;
	symbol_put(psample_sample_packet);
	symbol_put(psample_group_put);
	symbol_put(psample_group_get);
}

static bool iqcn_psample_bind(void)
{
	if (iqcn_psample.users++)
		return true;
	iqcn_psample.get = symbol_get(psample_group_get);
	if (!iqcn_psample.get)
		goto err_users;
	iqcn_psample.put = symbol_get(psample_group_put);
	if (!iqcn_psample.put)
		goto err_get;
	iqcn_psample.sample = symbol_get(psample_sample_packet);
	if (!iqcn_psample.sample)
		goto err_put;
	return true;

err_put:
	symbol_put(psample_group_put);
err_get:
	symbol_put(psample_group_get);
err_users:
	iqcn_psample.users = 0;
	return false;
}

/**
 * iqcn_psample_get() - a queue is to copy to a group
 * @net: namespace
 * @group: group
 *
 * Context: RTNL.
 * Return: the group, or an error: -EOPNOTSUPP if there is no psample.
 */
struct psample_group *iqcn_psample_get(struct net *net, u32 group)
{
	struct psample_group *g;

	ASSERT_RTNL();
	if (!iqcn_psample_bind())
		return ERR_PTR(-EOPNOTSUPP);
	g = iqcn_psample.get(net, group);
	if (g)
		return g;
	iqcn_psample_unbind();
	return ERR_PTR(-ENOMEM);
}

/**
 * iqcn_psample_put() - a queue no longer copies
 * @group: what iqcn_psample_get() returned; nobody copies to it any more
 *
 * Context: RTNL.
 */
void iqcn_psample_put(struct psample_group *group)
{
	ASSERT_RTNL();
	iqcn_psample.put(group);
	iqcn_psample_unbind();
}

/**
 * iqcn_psample_copy() - a packet that is looked at leaves
 * @group: what iqcn_psample_get() returned
 * @skb: packet, from its Ethernet header on
 * @every: one in so many is looked at
 * @depth_bytes: depth of the queue
 *
 * Context: dequeue: root lock, BHs off.
 */
void iqcn_psample_copy(struct psample_group *group, struct sk_buff *skb,
		       u32 every, u32 depth_bytes)
{
	struct psample_metadata md = {
		.trunc_size = IQCN_PSAMPLE_BYTES,
		.in_ifindex = skb->skb_iif,
		.out_ifindex = skb->dev->ifindex,
		.out_tc_occ = depth_bytes,
		.out_tc_occ_valid = 1,
	};

	iqcn_psample.sample(group, skb, every, &md);
}

/* for those who load the module by modprobe; it may fail */
MODULE_SOFTDEP("pre: psample");
