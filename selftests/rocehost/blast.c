// SPDX-License-Identifier: GPL-2.0
/*
 * Blasts: measure the cost per packet of a qdisc or a hook.
 *
 *	build 64 packets, then time this:
 *
 *	   64 in --> [ .... depth .... ] --> 64 out, freed by a dummy device
 *
 * pktgen cannot be used: it does not make RoCEv2, and its repeated packets are
 * shared, so that a qdisc cannot mark them.  A blast builds every packet anew
 * (packet.c), with its flow's header and next PSN and a valid ICRC; flows take
 * turns.
 *
 * A qdisc that marks by depth needs a backlog.  Therefore the device queue is
 * stopped, as if the device were busy, except for the last packet of a burst.
 * That packet finds the queue open, and the stack dequeues its quota, which is
 * the length of a burst (net.core.dev_weight, 64).  Then the queue is stopped
 * again.  Several blasts may run at once, each through a queue of its own: this
 * measures how a qdisc below mq scales with the number of CPUs.
 *
 * Before a flow's first packet the device receives the flow's connection
 * setup, as a switch port would, so that a qdisc that pairs flows can do so.
 *
 * The measured time covers enqueue, dequeue, those timers of the qdisc that
 * expire meanwhile, the device, and freeing.  Much of it is not the qdisc's
 * cost: compare with a bfifo in the same place.
 *
 * To measure a hook, the device receives bursts of 64 packets.  IP drops them
 * because they are addressed to another host's MAC: compare with the same
 * packets without the hook.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/sch_generic.h>

#include "rocehost.h"

#define RH_BLAST_BURST	64
/* Sleep after this many packets: with a virtual clock no tick interrupts the
 * loop, and memory freed by RCU would pile up
 */
#define RH_BLAST_PAUSE	65536

/* Destination port of UDP and TCP packets that are not RoCEv2: the discard
 * service
 */
#define RH_BLAST_PORT	9

struct rh_blast_flow {
	struct rh_headers headers;
	u32 psn;
	bool known;
};

static bool rh_blast_has_queue(const struct netdev_queue *queue)
{
	const struct Qdisc *q;
	bool has;

	rcu_read_lock();
	q = rcu_dereference(queue->qdisc);
	has = q && q->enqueue;
	rcu_read_unlock();
	return has;
}

/* Let the device receive a CM message */
static bool rh_blast_cm(struct net_device *dev, const struct rh_headers *h,
			u16 attr, u32 local_qpn, u32 remote_qpn)
{
	struct sk_buff *skb = rh_build_cm(h, attr, local_qpn, remote_qpn, 0);

	if (!skb)
		return false;
	skb->protocol = eth_type_trans(skb, dev);
	local_bh_disable();
	netif_receive_skb(skb);
	local_bh_enable();
	return true;
}

/* Turn a header into that of a UDP or TCP packet that is not RoCEv2 */
static void rh_blast_plain(struct rh_headers *h, bool tcp)
{
	struct udphdr *uh = (struct udphdr *)(h->hdr + h->udp_off);
	u8 proto = tcp ? IPPROTO_TCP : IPPROTO_UDP;

	uh->dest = htons(RH_BLAST_PORT);
	if (h->v6)
		((struct ipv6hdr *)(h->hdr + h->l3_off))->nexthdr = proto;
	else
		((struct iphdr *)(h->hdr + h->l3_off))->protocol = proto;
}

/* The flows of each queue have QPs of their own */
static u32 rh_blast_src_qpn(const struct rh_blast_conf *conf, u32 i)
{
	return 0x100 + conf->queue * RH_BLAST_FLOWS + i;
}

static int rh_blast_flow_init(struct rh_blast_flow *flow,
			      struct net_device *dev,
			      const struct rh_blast_conf *conf, u32 i)
{
	/* both ends use the device's MAC, and IP addresses that no host has */
	struct rh_addr from = { dev->dev_addr, &conf->from };
	struct rh_addr to = { dev->dev_addr, &conf->to };
	u32 src_qpn = rh_blast_src_qpn(conf, i), dest_qpn = 0x800000 + src_qpn;
	u16 sport = iqcn_sport_verbs(src_qpn, dest_qpn);
	bool plain = conf->udp || conf->tcp;
	struct rh_headers back;

	flow->known = true;
	rh_headers_init(&back, &to, &from, 0, 0, sport, src_qpn);
	rh_headers_init(&flow->headers, &from, &to, 0, conf->ect, sport, dest_qpn);
	if (!plain && !conf->known &&
	    (!rh_blast_cm(dev, &flow->headers, IQCN_CM_REQ, src_qpn, dest_qpn) ||
	     !rh_blast_cm(dev, &back, IQCN_CM_REP, dest_qpn, src_qpn)))
		return -ENOMEM;
	if (conf->in) {
		flow->headers = back;
		((struct ethhdr *)flow->headers.hdr)->h_dest[ETH_ALEN - 1] ^= 1;
	}
	if (plain)
		rh_blast_plain(&flow->headers, conf->tcp);
	return 0;
}

static struct sk_buff *rh_blast_build(const struct rh_blast *blast,
				      const struct rh_blast_flow *flow)
{
	const struct rh_blast_conf *conf = &blast->conf;

	if (conf->ack)
		return rh_build_ack(&flow->headers, AETH_ACK, flow->psn,
				    flow->psn, NULL);
	if (conf->cnp)
		return rh_build_cnp(&flow->headers, &conf->to,
				    rh_blast_src_qpn(conf, blast->turn), 0,
				    rh_headers_sport(&flow->headers));
	return rh_build_data(&flow->headers, RC_WRITE_MIDDLE, flow->psn, false,
			     conf->mtu, 0, NULL);
}

/* Build @n packets; the flows take turns */
static int rh_blast_make(struct rh_blast *blast, struct net_device *dev,
			 struct rh_blast_flow *flows, u64 n,
			 struct sk_buff_head *burst)
{
	struct rh_blast_flow *flow;
	struct sk_buff *skb;
	int err;

	while (n--) {
		flow = &flows[blast->turn];
		if (!flow->known) {
			err = rh_blast_flow_init(flow, dev, &blast->conf,
						 blast->turn);
			if (err)
				return err;
		}
		skb = rh_blast_build(blast, flow);
		if (!skb)
			return -ENOMEM;
		if (blast->conf.in)
			skb->protocol = eth_type_trans(skb, dev);
		else
			skb->dev = dev;
		/* the stack selects the TX queue by the recorded RX queue */
		skb_record_rx_queue(skb, blast->conf.queue);
		__skb_queue_tail(burst, skb);
		flow->psn = (flow->psn + 1) & IQCN_PSN_MASK;
		if (++blast->turn == blast->conf.n)
			blast->turn = 0;
	}
	return 0;
}

static void rh_blast_xmit(struct rh_blast *blast, struct sk_buff *skb)
{
	/* IP drops packets for other hosts, so NET_RX_DROP is not an error */
	if (blast->conf.in)
		netif_receive_skb(skb);
	else if (dev_queue_xmit(skb) != NET_XMIT_SUCCESS)
		blast->refused++;
}

/* Fill the qdisc to the backlog "depth", which the bursts then maintain; the
 * device queue is stopped
 */
static int rh_blast_fill(struct rh_blast *blast, struct net_device *dev,
			 struct rh_blast_flow *flows)
{
	struct sk_buff_head burst;
	struct sk_buff *skb;
	int err;

	__skb_queue_head_init(&burst);
	err = rh_blast_make(blast, dev, flows, blast->conf.depth, &burst);
	while ((skb = __skb_dequeue(&burst)))
		rh_blast_xmit(blast, skb);
	return err;
}

static void rh_blast_send(struct rh_blast *blast, struct netdev_queue *txq,
			  struct sk_buff_head *burst)
{
	struct sk_buff *skb;
	u64 start_ns;

	blast->packets += skb_queue_len(burst);
	local_bh_disable();
	start_ns = ktime_get_ns();
	while ((skb = __skb_dequeue(burst))) {
		if (txq && skb_queue_empty(burst))
			netif_tx_start_queue(txq);
		rh_blast_xmit(blast, skb);
	}
	if (txq)
		netif_tx_stop_queue(txq);
	/* expired soft timers run here */
	local_bh_enable();
	blast->ns += ktime_get_ns() - start_ns;
}

static int rh_blast_go_on(const struct rh_blast *blast,
			  const struct net_device *dev)
{
	if (signal_pending(current))
		return -EINTR;
	if (!netif_running(dev) || !READ_ONCE(rh_world.open))
		return -ENETDOWN;
	cond_resched();
	if (blast->packets % RH_BLAST_PAUSE == 0)
		schedule_timeout_interruptible(1);
	return 0;
}

static int rh_blast_run(struct rh_blast *blast, struct net_device *dev,
			struct rh_blast_flow *flows)
{
	struct netdev_queue *txq = netdev_get_tx_queue(dev, blast->conf.queue);
	struct sk_buff_head burst;
	int err = 0;

	if (!blast->conf.depth || blast->conf.in || !rh_blast_has_queue(txq))
		txq = NULL;
	__skb_queue_head_init(&burst);
	if (txq) {
		netif_tx_stop_queue(txq);
		err = rh_blast_fill(blast, dev, flows);
	}
	while (!err && blast->packets < blast->conf.packets) {
		err = rh_blast_make(blast, dev, flows,
				    min_t(u64, RH_BLAST_BURST,
					  blast->conf.packets - blast->packets),
				    &burst);
		if (err)
			break;
		rh_blast_send(blast, txq, &burst);
		err = rh_blast_go_on(blast, dev);
	}
	__skb_queue_purge(&burst);
	if (txq)
		netif_tx_wake_queue(txq);
	return err;
}

/**
 * rh_blast() - measure the cost of packets through a qdisc or hook
 * @dev: the device, a dummy that is up
 * @blast: parameters, and the result
 *
 * Context: RTNL held on entry and exit, released while packets are sent; may
 *	    sleep.
 * Return: 0, -ENOMEM, -EINTR, or -ENETDOWN if the device goes down or this
 * module is unloaded.
 */
int rh_blast(struct net_device *dev, struct rh_blast *blast)
{
	struct rh_blast_flow *flows;
	netdevice_tracker tracker;
	int err;

	flows = kvcalloc(blast->conf.n, sizeof(*flows), GFP_KERNEL);
	if (!flows || rh_zeros_need(blast->conf.mtu)) {
		kvfree(flows);
		return -ENOMEM;
	}
	netdev_hold(dev, &tracker, GFP_KERNEL);
	rtnl_unlock();
	err = rh_blast_run(blast, dev, flows);
	/* before rtnl_lock(): the holder of RTNL may wait for this reference */
	netdev_put(dev, &tracker);
	rtnl_lock();
	kvfree(flows);
	return err;
}
