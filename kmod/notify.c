// SPDX-License-Identifier: GPL-2.0
/*
 * How to tell: the CNP that the receiver would have sent comes in on the port,
 * as if the receiver had sent it.  Bridge, router, ACLs, counters and taps
 * treat it like any other; the way to the sender is theirs to know.
 *
 * Its Ethernet source address is the port's own, not the receiver's: a bridge
 * learns it, and the receiver may be behind another port by now.
 *
 * The hooks that parse CNPs see it too and must not take it for the receiver's.
 * The port's ingress hook runs inside netif_receive_skb_core(), past RPS, in the
 * injecting task, so it knows the CNP by the task.  On its way to the hooks of
 * the namespace a CNP may wait, in an ifb or for user space, or pass several
 * times: those hooks know it by its IPv4 identification or IPv6 flow label, which
 * is a hash of whom it is for that nobody else can make.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/once.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>

#include "iqcn.h"

/* A CNP that is on its way through netif_receive_skb_core().  BHs are off, so there is
 * one of them on a CPU; with PREEMPT_RT there is one in each task that was preempted
 * there.  Tasks do not migrate meanwhile.
 */
struct iqcn_injection {
	struct list_head list;
	const struct task_struct *task;
};

static DEFINE_PER_CPU(struct list_head, iqcn_injections);

static void iqcn_injection_begin(struct iqcn_injection *i)
{
	i->task = current;
	preempt_disable();
	list_add(&i->list, this_cpu_ptr(&iqcn_injections));
	preempt_enable();
}

static void iqcn_injection_end(struct iqcn_injection *i)
{
	preempt_disable();
	list_del(&i->list);
	preempt_enable();
}

/**
 * iqcn_notify_is_ours() - is the packet in a hook the CNP being injected?
 *
 * Context: softirq.
 * Return: true if so.
 */
bool iqcn_notify_is_ours(void)
{
	const struct iqcn_injection *i;
	bool ours = false;

	preempt_disable();
	list_for_each_entry(i, this_cpu_ptr(&iqcn_injections), list)
		if (i->task == current) {
			ours = true;
			break;
		}
	preempt_enable();
	return ours;
}

/**
 * iqcn_notify_id() - what tells a CNP of ours from the receiver's
 * @cnp: addresses, QP and @cnp->v6 of it
 *
 * Context: any.
 * Return: IPv4 identification or IPv6 flow label; never 0, which is what many
 * a NIC sends.
 */
u32 iqcn_notify_id(const struct iqcn_cnp *cnp)
{
	const struct {
		struct in6_addr src;
		struct in6_addr dst;
		u64 qp;
	} whose = { cnp->src, cnp->dst, cnp->dest_qp };
	static siphash_aligned_key_t key;
	u32 hash;

	get_random_once(&key, sizeof(key));
	hash = siphash(&whose, sizeof(whose), &key);
	return (hash & (cnp->v6 ? 0xfffff : 0xffff)) ?: 1;
}

/* The outer tag goes beside the packet, where a device's receive path would
 * have put it; the inner one goes into it.
 */
static struct sk_buff *iqcn_notify_build(struct net_device *dev,
					 const struct iqcn_notice *n)
{
	const struct iqcn_vlan *inner = &n->vlan[1];
	struct sk_buff *skb;
	struct ethhdr *eth;
	__be16 proto;
	u8 *l3;

	/* room in front for any device that it may leave by */
	skb = alloc_skb(LL_MAX_HEADER + NET_IP_ALIGN + ETH_HLEN + VLAN_HLEN +
			IQCN_CNP_MAX_LEN, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, ALIGN(LL_MAX_HEADER, 4) + NET_IP_ALIGN);

	proto = n->cnp.v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	eth = skb_put(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, n->dst_mac);
	ether_addr_copy(eth->h_source, n->src_mac);
	eth->h_proto = inner->proto ?: proto;
	if (inner->proto) {
		struct vlan_hdr *vh = skb_put(skb, VLAN_HLEN);

		vh->h_vlan_TCI = htons(inner->tci);
		vh->h_vlan_encapsulated_proto = proto;
	}
	l3 = skb_tail_pointer(skb);
	skb_put(skb, iqcn_build_cnp(l3, &n->cnp));

	skb->priority = n->vlan[0].tci >> VLAN_PRIO_SHIFT;
	skb->protocol = eth_type_trans(skb, dev);
	if (n->vlan[0].proto)
		__vlan_hwaccel_put_tag(skb, n->vlan[0].proto, n->vlan[0].tci);
	return skb;
}

/**
 * iqcn_notify_inject() - send a CNP to a flow's sender
 * @dev: port
 * @n: the CNP
 *
 * Context: softirq; no lock of ours, for the packet may reach any qdisc.
 * Return: true unless there was no memory, or the port is down.
 */
bool iqcn_notify_inject(struct net_device *dev, const struct iqcn_notice *n)
{
	struct iqcn_injection injection;
	struct sk_buff *skb;

	if (unlikely(!netif_running(dev)))
		return false;
	skb = iqcn_notify_build(dev, n);
	if (unlikely(!skb))
		return false;

	iqcn_injection_begin(&injection);
	netif_receive_skb_core(skb);
	iqcn_injection_end(&injection);
	return true;
}

/**
 * iqcn_notify_module_init() - when the module is loaded
 *
 * Context: process.
 */
void iqcn_notify_module_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(per_cpu_ptr(&iqcn_injections, cpu));
}
