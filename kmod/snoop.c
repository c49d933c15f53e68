// SPDX-License-Identifier: GPL-2.0
/*
 * Snooping of packets from the receivers: CNPs, and evidence for pairing.  A
 * port's hook also passes MAC control frames to pfc.c.
 *
 * IQCN_SNOOP_PORT snoops packets that the port receives, with the last
 * netfilter hook at the device's ingress.  It is the last hook because a CNP
 * that a rule drops does not reach the sender of the data and must not count.
 *
 * IQCN_SNOOP_NETNS snoops all packets that the namespace bridges or routes, for
 * all of its ports, with the hooks before bridging and routing.  It is for
 * networks where responses take another path than the data (ECMP, two uplinks).
 * Each path may have its own VLANs, so the keys of flows contain no VLANs.
 *
 * A packet that its receiver would drop is no evidence, because forging it
 * costs nothing and no host notices.
 *
 * The hooks neither change nor delay packets.  They drop only receivers' CNPs,
 * and only if tc or a lease has set a filter (filter.c).
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_bridge.h>
#include <linux/netfilter_ipv4.h>
#include <linux/udp.h>

#include "iqcn.h"
#include "skb.h"

/* Return: false if the packet is neither RoCEv2, by its UDP port, nor a MAC
 * control frame.  Such a packet costs only this test (bench "hook").  For a
 * packet with IP options, extension headers or VLAN tags the parser decides.
 */
static bool iqcn_snoop_maybe(const struct sk_buff *skb)
{
	const struct {
		struct iphdr ip;
		struct udphdr udp;
	} *h4;
	const struct {
		struct ipv6hdr ip;
		struct udphdr udp;
	} *h6;

	switch (skb->protocol) {
	case htons(ETH_P_IP):
		h4 = (const void *)skb->data;
		if (skb_headlen(skb) < sizeof(*h4) || h4->ip.ihl != 5)
			return true;
		return h4->ip.protocol == IPPROTO_UDP &&
		       h4->udp.dest == htons(IQCN_ROCEV2_PORT);
	case htons(ETH_P_IPV6):
		h6 = (const void *)skb->data;
		if (skb_headlen(skb) < sizeof(*h6))
			return true;
		if (h6->ip.nexthdr == IPPROTO_UDP)
			return h6->udp.dest == htons(IQCN_ROCEV2_PORT);
		return h6->ip.nexthdr != IPPROTO_TCP &&
		       h6->ip.nexthdr != IPPROTO_ICMPV6;
	case htons(ETH_P_8021Q):
	case htons(ETH_P_8021AD):
	case htons(ETH_P_PAUSE):
		return true;
	default:
		return false;
	}
}

/* A snooped packet, and the ports whose flows it may belong to */
struct iqcn_view {
	struct iqcn_net *in;
	const struct net_device *dev;	/* device that received the packet */
	struct iqcn_port *only;		/* IQCN_SNOOP_PORT; NULL: all ports */
	struct iqcn_rx_stats *rx;	/* counts unusable packets */
	const struct sk_buff *skb;
	const u8 *data;			/* set by iqcn_skb_parse() */
	struct iqcn_pkt pkt;		/* parsed headers */
	/* Key of the flow that the packet answers, but with the DestQP of the
	 * packet.  It is the same for all ports, because they snoop in the same
	 * way.
	 */
	struct iqcn_key key;
};

static struct iqcn_port *iqcn_view_first(const struct iqcn_view *v)
{
	return v->only ?: list_first_or_null_rcu(&v->in->ports,
						 struct iqcn_port, list);
}

static struct iqcn_port *iqcn_view_next(const struct iqcn_view *v,
					struct iqcn_port *port)
{
	if (v->only)
		return NULL;
	return list_next_or_null_rcu(&v->in->ports, &port->list,
				     struct iqcn_port, list);
}

#define for_each_port_in_view(_v, _port)				\
	for ((_port) = iqcn_view_first(_v); (_port);			\
	     (_port) = iqcn_view_next(_v, _port))

/* Fill the key of the flow that the packet answers; its data go in the opposite
 * direction
 */
static void iqcn_snoop_key(struct iqcn_view *v)
{
	const struct iqcn_port *port = iqcn_view_first(v);

	if (likely(port))
		iqcn_key_init(&v->key, port, &v->pkt.dst, &v->pkt.src,
			      v->pkt.dest_qp, v->pkt.vlan);
}

/* Return: false if a host would drop the packet, which is counted */
static bool iqcn_snoop_intact(const struct iqcn_view *v)
{
	if (likely(iqcn_skb_intact(v->skb, v->data, &v->pkt)))
		return true;
	atomic64_inc(&v->rx->malformed);
	return false;
}

/* Find the flow that a CNP is for.  If the path of the data has changed,
 * several ports have a flow with this key: the one with the latest CE packet is
 * used.
 */
static struct iqcn_flow *iqcn_snoop_find(const struct iqcn_view *v)
{
	struct iqcn_flow *flow, *newest = NULL;
	struct iqcn_port *port;

	for_each_port_in_view(v, port) {
		flow = iqcn_pair_find(port, &v->key);
		if (flow && (!newest || READ_ONCE(flow->ce_ns) >
					READ_ONCE(newest->ce_ns)))
			newest = flow;
	}
	return newest;
}

/* Pair by an unmatched CNP if there is exactly one flow that it can be for */
static void iqcn_snoop_pair(const struct iqcn_view *v)
{
	struct iqcn_port *port, *only = NULL;
	unsigned int n, candidates = 0;

	for_each_port_in_view(v, port) {
		n = iqcn_pair_candidates(port, &v->key);
		if (n)
			only = port;
		candidates += n;
	}
	if (candidates != 1)
		return;
	iqcn_pair_from_cnp(only, &v->key);
}

/* The port that has received the packet: that of the receiving device, or of
 * the device below a VLAN device; NULL: neither has a queue
 */
static struct iqcn_port *iqcn_snoop_rx_port(const struct iqcn_view *v)
{
	struct iqcn_port *port;

	if (v->only)
		return v->only;
	port = iqcn_port_find(v->dev);
	if (!port && is_vlan_dev(v->dev))
		port = iqcn_port_find(vlan_dev_real_dev(v->dev));
	return port;
}

/* Handle a CNP of a receiver.  Return: the netfilter verdict on the CNP. */
static unsigned int iqcn_snoop_cnp(struct iqcn_view *v)
{
	struct iqcn_flow *flow;
	struct iqcn_port *port;
	bool pass = true;

	iqcn_snoop_key(v);
	flow = iqcn_snoop_find(v);
	if (!flow) {
		iqcn_snoop_pair(v);
		flow = iqcn_snoop_find(v);
	}
	port = iqcn_snoop_rx_port(v);
	if (port && unlikely(iqcn_port_filters(port)))
		pass = iqcn_filter_cnp(port, &v->key, flow);
	if (!flow) {
		atomic64_inc(&v->rx->cnp_unmatched);
		return pass ? NF_ACCEPT : NF_DROP;
	}
	iqcn_queue_cnp_rx(flow, v->pkt.sport, pass);
	if (v->only)
		iqcn_queue_way_back(flow, eth_hdr(v->skb));
	return pass ? NF_ACCEPT : NF_DROP;
}

/* UDP length of a CM message: UDP header, BTH, DETH, MAD of 256 bytes, ICRC */
#define IQCN_MAD_UDP_LEN	(IQCN_UDP_LEN + IQCN_BTH_LEN + 8 + 256 + \
				 IQCN_ICRC_LEN)

static void iqcn_snoop_cm(const struct iqcn_view *v)
{
	u32 avail = min_t(u32, v->skb->len, IQCN_PARSE_MAX);
	u32 len = v->pkt.udp_len - IQCN_UDP_LEN - IQCN_ICRC_LEN;
	u32 off = v->pkt.udp_off + IQCN_UDP_LEN;
	struct iqcn_cm cm;

	/* do not parse padding behind the UDP datagram */
	if (v->pkt.dest_qp != IQCN_QP1 || v->pkt.udp_len != IQCN_MAD_UDP_LEN ||
	    !iqcn_parse_cm(v->data + off, min(avail - off, len), &cm) ||
	    !iqcn_snoop_intact(v))
		return;
	iqcn_cm_rx(v->in->net, v->only ? v->only->dev->ifindex : 0, &v->pkt,
		   &cm);
}

/* Could an assured flow other than @flow have sent the PSN, from the QP to
 * which the response goes, on any port?  Compares DestQPs, not pointers,
 * because a sprayed flow has entries in the tables of several ports.
 */
static bool iqcn_snoop_sent_by(const struct iqcn_view *v,
			       const struct iqcn_flow *flow)
{
	struct iqcn_flow *sends;
	struct iqcn_port *port;

	for_each_port_in_view(v, port) {
		sends = iqcn_pair_sends(port, &v->key, v->pkt.psn);
		if (sends && sends->qp != flow->qp)
			return true;
	}
	return false;
}

/* Find the unassured flow whose PSN a response carries, and its port.  Return:
 * NULL if no unassured flow can have sent that PSN, or if another flow can have
 * sent it, too.
 */
static struct iqcn_port *iqcn_snoop_answered(const struct iqcn_view *v,
					     struct iqcn_flow **answered)
{
	struct iqcn_port *port, *only = NULL;
	unsigned int n, candidates = 0;
	struct iqcn_flow *flow;

	if (!iqcn_op_is_echo(v->pkt.opcode))
		return NULL;
	for_each_port_in_view(v, port) {
		if (!READ_ONCE(port->n_unassured))
			continue;
		n = iqcn_pair_echoed(port, &v->key, v->pkt.psn, &flow);
		candidates += n;
		if (n == 1) {
			only = port;
			*answered = flow;
		}
	}
	if (candidates != 1 ||
	    iqcn_pair_assured(READ_ONCE((*answered)->grade)) ||
	    iqcn_snoop_sent_by(v, *answered))
		return NULL;
	return only;
}

/* Find an unassured flow that the UDP source port can pair, and its port */
static struct iqcn_port *iqcn_snoop_by_sport(const struct iqcn_view *v,
					     struct iqcn_flow **flow)
{
	struct iqcn_port *port;

	for_each_port_in_view(v, port) {
		if (!READ_ONCE(port->n_unassured))
			continue;
		*flow = iqcn_pair_by_sport(port, &v->key, &v->pkt);
		if (*flow)
			return port;
	}
	return NULL;
}

/* Pair a flow by a packet other than a CNP or a CM message.  Few packets are
 * evidence, so the ICRC is checked only after the lookups.
 */
static noinline void iqcn_snoop_evidence(struct iqcn_view *v)
{
	struct iqcn_flow *answered, *by_sport;
	struct iqcn_port *echo, *sport;

	iqcn_snoop_key(v);
	echo = iqcn_snoop_answered(v, &answered);
	sport = iqcn_snoop_by_sport(v, &by_sport);
	if ((!echo && !sport) || !iqcn_snoop_intact(v))
		return;
	if (echo) {
		iqcn_pair_from_echo(echo, answered, v->pkt.dest_qp, v->pkt.psn);
		if (v->only && iqcn_pair_assured(READ_ONCE(answered->grade)))
			iqcn_queue_way_back(answered, eth_hdr(v->skb));
	}
	if (sport)
		iqcn_pair_from_sport(sport, by_sport, v->pkt.dest_qp);
}

/* Is the packet an injected CNP?  Injected CNPs also pass the hooks of
 * IQCN_SNOOP_NETNS.
 */
static bool iqcn_snoop_is_ours(const struct iqcn_view *v)
{
	const struct iqcn_cnp cnp = {
		.src = v->pkt.src,
		.dst = v->pkt.dst,
		.dest_qp = v->pkt.dest_qp,
		.v6 = v->pkt.v6,
	};

	return !v->only && iqcn_l3_id(v->data + v->pkt.l3_off, v->pkt.v6) ==
			   iqcn_cnp_id(&cnp);
}

/* Does a flow of the ports need evidence that the packet may provide? */
static bool iqcn_snoop_wants(const struct iqcn_view *v)
{
	struct iqcn_port *port;

	if (!iqcn_op_is_data(v->pkt.opcode) && !iqcn_op_is_echo(v->pkt.opcode))
		return false;
	for_each_port_in_view(v, port)
		if (READ_ONCE(port->n_unassured))
			return true;
	return false;
}

/* Handle a RoCEv2 packet.  Return: the netfilter verdict on the packet. */
static unsigned int iqcn_snoop_roce(struct iqcn_view *v)
{
	if (v->pkt.opcode == IQCN_OP_CNP) {
		if (iqcn_snoop_intact(v) && !iqcn_snoop_is_ours(v))
			return iqcn_snoop_cnp(v);
	} else if (v->pkt.opcode == IQCN_OP_UD_SEND_ONLY) {
		iqcn_snoop_cm(v);
	} else if (iqcn_snoop_wants(v)) {
		iqcn_snoop_evidence(v);
	}
	return NF_ACCEPT;
}

/* Parse a packet that may be RoCEv2.  The callers are noinline, so that other
 * packets do not pay for the stack buffer (bench "hook").
 * Return: the netfilter verdict on the packet.
 */
static __always_inline unsigned int iqcn_snoop_parse(struct iqcn_view *v)
{
	u8 buf[IQCN_PARSE_MAX] __uninitialized; /* for iqcn_skb_parse() */

	switch (iqcn_skb_parse(v->skb, 0, v->skb->protocol, buf, &v->data,
			       &v->pkt)) {
	case IQCN_NOT_ROCE:
		break;
	case IQCN_MALFORMED:
		atomic64_inc(&v->rx->malformed);
		break;
	case IQCN_ROCE:
		return iqcn_snoop_roce(v);
	}
	return NF_ACCEPT;
}

static noinline unsigned int iqcn_snoop_port(struct iqcn_port *port,
					     const struct sk_buff *skb)
{
	struct iqcn_view v __uninitialized; /* pkt is valid if it parses */

	if (skb->protocol == htons(ETH_P_PAUSE)) {
		iqcn_pfc_rx(port, skb);
		return NF_ACCEPT;
	}
	if (iqcn_cnp_is_injected() || READ_ONCE(port->snoop) != IQCN_SNOOP_PORT)
		return NF_ACCEPT;
	v.in = iqcn_net(port->net);
	v.dev = port->dev;
	v.only = port;
	v.rx = &port->rx_stats;
	v.skb = skb;
	return iqcn_snoop_parse(&v);
}

static unsigned int iqcn_snoop_port_hook(void *priv, struct sk_buff *skb,
					 const struct nf_hook_state *state)
{
	if (unlikely(iqcn_snoop_maybe(skb)))
		return iqcn_snoop_port(priv, skb);
	return NF_ACCEPT;
}

/**
 * iqcn_snoop_init() - fill in the netfilter hook of a port
 * @port: port; the caller registers the hook
 *
 * Context: RTNL.
 */
void iqcn_snoop_init(struct iqcn_port *port)
{
	port->nf_ops.hook = iqcn_snoop_port_hook;
	port->nf_ops.dev = port->dev;
	port->nf_ops.priv = port;
	port->nf_ops.pf = NFPROTO_NETDEV;
	port->nf_ops.hooknum = NF_NETDEV_INGRESS;
	port->nf_ops.priority = INT_MAX;
}

/* Have the hooks parsed the packet on a lower device of this bridge or VRF? */
static bool iqcn_snoop_is_repeat(const struct net_device *dev)
{
	if (is_vlan_dev(dev))
		dev = vlan_dev_real_dev(dev);
	return netif_is_bridge_master(dev) || netif_is_l3_master(dev);
}

static noinline unsigned int
iqcn_snoop_netns(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct iqcn_net *in = iqcn_net(state->net);
	struct iqcn_view v __uninitialized; /* pkt is valid if it parses */
	unsigned int verdict;

	if (iqcn_snoop_is_repeat(state->in) ||
	    READ_ONCE(in->snoop) != IQCN_SNOOP_NETNS)
		return NF_ACCEPT;
	v.in = in;
	v.dev = state->in;
	v.only = NULL;
	v.rx = &in->rx_stats;
	v.skb = skb;
	/* BHs are on for a packet that user space reinjects (NFQUEUE) */
	local_bh_disable();
	verdict = iqcn_snoop_parse(&v);
	local_bh_enable();
	return verdict;
}

static unsigned int iqcn_snoop_netns_hook(void *priv, struct sk_buff *skb,
					  const struct nf_hook_state *state)
{
	if (unlikely(iqcn_snoop_maybe(skb)))
		return iqcn_snoop_netns(skb, state);
	return NF_ACCEPT;
}

/* NFPROTO_INET: run after raw and mangle, whose rules may drop the packet, and
 * before NAT, because the keys of flows contain the addresses on the wire
 */
static const struct nf_hook_ops iqcn_snoop_netns_ops[] = {
	{
		.hook = iqcn_snoop_netns_hook,
		.pf = NFPROTO_INET,
		.hooknum = NF_INET_PRE_ROUTING,
		.priority = NF_IP_PRI_NAT_DST - 1,
	},
#if IS_ENABLED(CONFIG_NETFILTER_FAMILY_BRIDGE)
	{
		.hook = iqcn_snoop_netns_hook,
		.pf = NFPROTO_BRIDGE,
		.hooknum = NF_BR_PRE_ROUTING,
		.priority = NF_BR_PRI_LAST,
	},
#endif
};

/**
 * iqcn_snoop_set() - set where a namespace snoops packets of receivers
 * @net: namespace
 * @snoop: enum iqcn_snoop
 *
 * Context: RTNL.
 * Return: 0 or a negative error; IQCN_SNOOP_PORT never fails.
 */
int iqcn_snoop_set(struct net *net, u32 snoop)
{
	struct iqcn_net *in = iqcn_net(net);
	int err;

	if (snoop == in->snoop)
		return 0;
	if (snoop == IQCN_SNOOP_NETNS) {
		atomic64_set(&in->rx_stats.cnp_unmatched, 0);
		atomic64_set(&in->rx_stats.malformed, 0);
		err = nf_register_net_hooks(net, iqcn_snoop_netns_ops,
					    ARRAY_SIZE(iqcn_snoop_netns_ops));
		if (err)
			return err;
	} else {
		nf_unregister_net_hooks(net, iqcn_snoop_netns_ops,
					ARRAY_SIZE(iqcn_snoop_netns_ops));
	}
	WRITE_ONCE(in->snoop, snoop);
	return 0;
}
