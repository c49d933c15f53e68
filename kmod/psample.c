// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of sampled CE packets for listeners of a psample group, which take the
 * place of the patent's coprocessor (US 12395431 B2, description (45), (78)).
 *
 * A packet is sampled in dequeue, under the root lock of the device.  psample
 * multicasts over netlink, and a tap on netlink is a device whose packets may
 * be redirected to any other device and take that device's root lock.  So
 * dequeue only puts a clone on a list, and BH work passes the list to psample
 * after the root lock is released.  The list is bounded, and lost samples are
 * counted.
 *
 * psample is a separate module, which a kernel may lack.  Its symbols are
 * looked up when a queue is first configured to copy, so sch_iqcn loads without
 * it.
 */
#include <iqcn/bh.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/psample.h>

#include "iqcn.h"

/* Bytes of a packet that are copied: the headers up to BTH and some payload */
#define IQCN_PSAMPLE_BYTES	128
/* Clones that may wait for the BH work: a qdisc run dequeues 64 packets */
#define IQCN_PSAMPLE_QUEUE	128

/* psample's functions, bound while there are users.  RTNL to write; RTNL or an
 * existing sampler to read.
 */
static struct {
	unsigned int users;
	typeof(psample_group_get) *get;
	typeof(psample_group_put) *put;
	typeof(psample_sample_packet) *sample;
} iqcn_psample;

/* Copies a queue's sampled packets to a group */
struct iqcn_sampler {
	struct psample_group *group;
	struct sk_buff_head clones;	/* bounded by IQCN_PSAMPLE_QUEUE */
	struct iqcn_bh bh;		/* sends clones, without a lock */
};

/* Control block of a clone on the list */
struct iqcn_psample_cb {
	u32 every;	/* sampling rate: one packet in so many */
	u32 depth_bytes;
	int in_ifindex;
	int out_ifindex;
};

static struct iqcn_psample_cb *iqcn_psample_cb(const struct sk_buff *clone)
{
	BUILD_BUG_ON(sizeof(struct iqcn_psample_cb) > sizeof(clone->cb));
	return (struct iqcn_psample_cb *)clone->cb;
}

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

static void iqcn_psample_run(struct iqcn_bh *bh)
{
	struct iqcn_sampler *s = container_of(bh, struct iqcn_sampler, bh);
	unsigned int left = IQCN_PSAMPLE_QUEUE;
	struct sk_buff *clone;

	/* bounded, because a tap may send a copy to this queue, which then
	 * samples the copy
	 */
	while (left-- && (clone = skb_dequeue(&s->clones))) {
		const struct iqcn_psample_cb cb = *iqcn_psample_cb(clone);
		struct psample_metadata md = {
			.trunc_size = IQCN_PSAMPLE_BYTES,
			.in_ifindex = cb.in_ifindex,
			.out_ifindex = cb.out_ifindex,
			.out_tc_occ = cb.depth_bytes,
			.out_tc_occ_valid = 1,
		};

		memset(clone->cb, 0, sizeof(clone->cb));
		iqcn_psample.sample(s->group, clone, cb.every, &md);
		consume_skb(clone);
	}
	if (!skb_queue_empty_lockless(&s->clones))
		iqcn_bh_schedule(&s->bh);
}

/**
 * iqcn_psample_new() - create a queue's sampler for a group
 * @net: namespace
 * @group: group
 *
 * Context: RTNL.
 * Return: the sampler, or an ERR_PTR(): -EOPNOTSUPP without psample.
 */
struct iqcn_sampler *iqcn_psample_new(struct net *net, u32 group)
{
	struct iqcn_sampler *s;

	ASSERT_RTNL();
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return ERR_PTR(-ENOMEM);
	if (!iqcn_psample_bind()) {
		kfree(s);
		return ERR_PTR(-EOPNOTSUPP);
	}
	skb_queue_head_init(&s->clones);
	iqcn_bh_init(&s->bh, iqcn_psample_run);
	s->group = iqcn_psample.get(net, group);
	if (s->group)
		return s;
	iqcn_psample_unbind();
	kfree(s);
	return ERR_PTR(-ENOMEM);
}

/**
 * iqcn_psample_free() - free a queue's sampler
 * @s: sampler that the queue no longer uses, or NULL
 *
 * Context: RTNL, sleeps.
 */
void iqcn_psample_free(struct iqcn_sampler *s)
{
	ASSERT_RTNL();
	if (!s)
		return;
	iqcn_bh_kill(&s->bh);
	skb_queue_purge(&s->clones);
	iqcn_psample.put(s->group);
	iqcn_psample_unbind();
	kfree(s);
}

/**
 * iqcn_psample_copy() - copy a sampled packet to the sampler's group
 * @s: sampler
 * @skb: packet that leaves, from its Ethernet header on
 * @every: sampling rate: one packet in so many
 * @depth_bytes: depth of the queue
 *
 * Context: dequeue: root lock, BHs off.
 * Return: false if the sample is lost.
 */
bool iqcn_psample_copy(struct iqcn_sampler *s, struct sk_buff *skb,
		       u32 every, u32 depth_bytes)
{
	struct sk_buff *clone;

	if (skb_queue_len_lockless(&s->clones) >= IQCN_PSAMPLE_QUEUE)
		return false;
	clone = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
	if (!clone)
		return false;
	*iqcn_psample_cb(clone) = (struct iqcn_psample_cb) {
		.every = every,
		.depth_bytes = depth_bytes,
		.in_ifindex = skb->skb_iif,
		.out_ifindex = skb->dev->ifindex,
	};
	/* the device may be gone when the work runs */
	clone->dev = NULL;
	skb_queue_tail(&s->clones, clone);
	iqcn_bh_schedule(&s->bh);
	return true;
}

/* psample is optional: modprobe loads it first if it exists */
MODULE_SOFTDEP("pre: psample");
