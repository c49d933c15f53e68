// SPDX-License-Identifier: GPL-2.0
/*
 * What comes from the receivers: CNPs, and evidence for pairing.
 *
 * Either on the port itself, by a netfilter hook on the device's ingress, last in
 * line: a CNP that a rule drops does not reach its sender and must not count as
 * one that did.  Or, where answers come back by another way than data leave (ECMP,
 * two uplinks), wherever the namespace bridges or routes them: by the hooks
 * before bridging and routing, for all of its ports.  There VLANs say nothing,
 * each way has its own.
 *
 * What the hosts would not take is no evidence: it costs who sends it nothing, and
 * none of them would notice.
 *
 * Nothing is ever changed, held or dropped here.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_bridge.h>
#include <linux/netfilter_ipv4.h>
#include <linux/udp.h>

#include "iqcn.h"
#include "skb.h"

/* One look that lets nearly everything else pass: is the port ours?  Only for
 * the plain headers; a packet that has others is left to the parser.
 */
static bool iqcn_maybe_roce(const struct sk_buff *skb)
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
		return true;
	default:
		return false;
	}
}

/* Return: it was for a flow of the port */
static bool iqcn_snoop_cnp(struct iqcn_port *port, const struct iqcn_key *key,
			   const struct iqcn_pkt *pkt, const struct ethhdr *eth)
{
	struct iqcn_flow *flow;

	flow = iqcn_pair_find(port, key);
	if (!flow) {
		iqcn_pair_from_cnp(port, key);
		flow = iqcn_pair_find(port, key);
	}
	if (!flow)
		return false;
	iqcn_queue_cnp_seen(flow, pkt->sport);
	iqcn_queue_way_back(flow, eth);
	return true;
}

/* Where packets are counted that are no RoCEv2 */
static void iqcn_snoop_malformed(struct iqcn_rx_stats *rx)
{
	atomic64_inc(&rx->malformed);
}

/* UDP length of a message of connection set-up: DETH, 256 bytes, ICRC */
#define IQCN_MAD_UDP_LEN	(IQCN_UDP_LEN + IQCN_BTH_LEN + 8 + 256 + IQCN_ICRC_LEN)

static void iqcn_snoop_cm(struct net *net, int ifindex, struct iqcn_rx_stats *rx,
			  const struct sk_buff *skb, const struct iqcn_pkt *pkt,
			  const u8 *data)
{
	u32 avail = min_t(u32, skb->len, IQCN_PARSE_MAX);
	u32 len = pkt->udp_len - IQCN_UDP_LEN - IQCN_ICRC_LEN;
	u32 off = pkt->udp_off + IQCN_UDP_LEN;
	struct iqcn_cm cm;

	/* what is behind the packet is no part of it */
	if (pkt->dest_qp != IQCN_QP1 || pkt->udp_len != IQCN_MAD_UDP_LEN ||
	    !iqcn_parse_cm(data + off, min(avail - off, len), &cm))
		return;
	if (iqcn_skb_intact(skb, data, pkt))
		iqcn_cm_seen(net, ifindex, pkt, &cm);
	else
		iqcn_snoop_malformed(rx);
}

static bool iqcn_snoop_wanted(const struct iqcn_port *port, u8 opcode)
{
	return READ_ONCE(port->n_unassured) &&
	       (iqcn_op_is_data(opcode) || iqcn_op_is_echo(opcode));
}

/* The direction of the data is the other one */
static void iqcn_snoop_key(struct iqcn_key *key, const struct iqcn_port *port,
			   const struct iqcn_pkt *pkt)
{
	iqcn_key_init(key, port, &pkt->dst, &pkt->src, pkt->dest_qp, pkt->vlan);
}

/* Nearly all that comes is evidence for nothing: what is, is held against its ICRC */
static void iqcn_snoop_evidence(struct iqcn_port *port,
				const struct iqcn_key *key,
				const struct sk_buff *skb,
				const struct iqcn_pkt *pkt, const u8 *data)
{
	struct iqcn_flow *flow = iqcn_pair_answered(port, key, pkt);
	struct iqcn_flow *by_sport = iqcn_pair_by_sport(port, key, pkt);

	if (!flow && !by_sport)
		return;
	if (!iqcn_skb_intact(skb, data, pkt)) {
		iqcn_snoop_malformed(&port->rx_stats);
		return;
	}
	if (flow) {
		iqcn_pair_from_echo(port, flow, key->qp, pkt->psn);
		if (iqcn_pair_assured(READ_ONCE(flow->grade)))
			iqcn_queue_way_back(flow, eth_hdr(skb));
	}
	if (by_sport)
		iqcn_pair_from_sport(port, by_sport, pkt->dest_qp);
}

static void iqcn_snoop_roce(struct iqcn_port *port, struct net *net,
			    const struct sk_buff *skb,
			    const struct iqcn_pkt *pkt, const u8 *data)
{
	struct iqcn_key key;

	iqcn_snoop_key(&key, port, pkt);
	if (pkt->opcode == IQCN_OP_CNP) {
		if (!iqcn_skb_intact(skb, data, pkt))
			iqcn_snoop_malformed(&port->rx_stats);
		else if (!iqcn_snoop_cnp(port, &key, pkt, eth_hdr(skb)))
			atomic64_inc(&port->rx_stats.cnp_unmatched);
	} else if (pkt->opcode == IQCN_OP_UD_SEND_ONLY) {
		iqcn_snoop_cm(net, port->dev->ifindex, &port->rx_stats, skb, pkt,
			      data);
	} else if (iqcn_snoop_wanted(port, pkt->opcode)) {
		iqcn_snoop_evidence(port, &key, skb, pkt, data);
	}
}

static noinline void iqcn_snoop_look(struct iqcn_port *port,
				     const struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	u8 buf[IQCN_PARSE_MAX] __uninitialized; /* is copied to */
	struct iqcn_pkt pkt __uninitialized; /* valid if it parses */
	const u8 *data;

	if (iqcn_notify_is_ours() || READ_ONCE(port->snoop) != IQCN_SNOOP_PORT)
		return;

	switch (iqcn_skb_parse(skb, 0, skb->protocol, buf, &data, &pkt)) {
	case IQCN_NOT_ROCE:
		break;
	case IQCN_MALFORMED:
		iqcn_snoop_malformed(&port->rx_stats);
		break;
	case IQCN_ROCE:
		iqcn_snoop_roce(port, state->net, skb, &pkt, data);
		break;
	}
}

/* Other packets do not pay for what is needed to look at these */
static unsigned int iqcn_snoop(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	if (unlikely(iqcn_maybe_roce(skb)))
		iqcn_snoop_look(priv, skb, state);
	return NF_ACCEPT;
}

/**
 * iqcn_snoop_init() - prepare a port's hook
 * @port: port; registers the hook itself
 *
 * Context: RTNL.
 */
void iqcn_snoop_init(struct iqcn_port *port)
{
	port->nf_ops.hook = iqcn_snoop;
	port->nf_ops.dev = port->dev;
	port->nf_ops.priv = port;
	port->nf_ops.pf = NFPROTO_NETDEV;
	port->nf_ops.hooknum = NF_NETDEV_INGRESS;
	port->nf_ops.priority = INT_MAX;
}

/* A flow that is known to be sent by a QP may leave by any port */
static bool iqcn_snoop_all_sends(struct iqcn_net *in,
				 const struct iqcn_pkt *pkt,
				 const struct iqcn_flow *flow)
{
	struct iqcn_flow *sends;
	struct iqcn_port *port;
	struct iqcn_key key;

	list_for_each_entry_rcu(port, &in->ports, list) {
		iqcn_snoop_key(&key, port, pkt);
		sends = iqcn_pair_sends(port, &key, pkt->psn);
		if (sends && sends != flow)
			return true;
	}
	return false;
}

/* A response answers one packet, by whatever port that left.  Return: its port */
static struct iqcn_port *iqcn_snoop_all_answered(struct iqcn_net *in,
						 const struct iqcn_pkt *pkt,
						 struct iqcn_flow **answered)
{
	struct iqcn_port *port, *only = NULL;
	unsigned int n, candidates = 0;
	struct iqcn_flow *flow;
	struct iqcn_key key;

	if (!iqcn_op_is_echo(pkt->opcode))
		return NULL;
	list_for_each_entry_rcu(port, &in->ports, list) {
		if (!READ_ONCE(port->n_unassured))
			continue;
		iqcn_snoop_key(&key, port, pkt);
		n = iqcn_pair_echoed(port, &key, pkt->psn, &flow);
		candidates += n;
		if (n == 1) {
			only = port;
			*answered = flow;
		}
	}
	if (candidates != 1 ||
	    iqcn_pair_assured(READ_ONCE((*answered)->grade)) ||
	    iqcn_snoop_all_sends(in, pkt, *answered))
		return NULL;
	return only;
}

/* The first port with a flow that has that packet's UDP source port */
static struct iqcn_port *iqcn_snoop_all_by_sport(struct iqcn_net *in,
						 const struct iqcn_pkt *pkt,
						 struct iqcn_flow **flow)
{
	struct iqcn_port *port;
	struct iqcn_key key;

	list_for_each_entry_rcu(port, &in->ports, list) {
		if (!iqcn_snoop_wanted(port, pkt->opcode))
			continue;
		iqcn_snoop_key(&key, port, pkt);
		*flow = iqcn_pair_by_sport(port, &key, pkt);
		if (*flow)
			return port;
	}
	return NULL;
}

static void iqcn_snoop_all_evidence(struct iqcn_net *in,
				    const struct sk_buff *skb,
				    const struct iqcn_pkt *pkt, const u8 *data)
{
	struct iqcn_flow *answered, *by_sport;
	struct iqcn_port *echo, *sport;

	echo = iqcn_snoop_all_answered(in, pkt, &answered);
	sport = iqcn_snoop_all_by_sport(in, pkt, &by_sport);
	if (!echo && !sport)
		return;
	if (!iqcn_skb_intact(skb, data, pkt)) {
		iqcn_snoop_malformed(&in->rx_stats);
		return;
	}
	if (echo)
		iqcn_pair_from_echo(echo, answered, pkt->dest_qp, pkt->psn);
	if (sport)
		iqcn_pair_from_sport(sport, by_sport, pkt->dest_qp);
}

/* A CNP is for one flow.  Data that take another way now have left a flow behind
 * where they left before.
 */
static struct iqcn_flow *iqcn_snoop_all_find(struct iqcn_net *in,
					     const struct iqcn_pkt *pkt)
{
	struct iqcn_flow *flow, *newest = NULL;
	struct iqcn_port *port;
	struct iqcn_key key;

	list_for_each_entry_rcu(port, &in->ports, list) {
		iqcn_snoop_key(&key, port, pkt);
		flow = iqcn_pair_find(port, &key);
		if (flow && (!newest || READ_ONCE(flow->ce_ns) >
					READ_ONCE(newest->ce_ns)))
			newest = flow;
	}
	return newest;
}

/* It is evidence if there is one flow in all that it could be for */
static void iqcn_snoop_all_pair(struct iqcn_net *in, const struct iqcn_pkt *pkt)
{
	struct iqcn_port *port, *only = NULL;
	unsigned int n, candidates = 0;
	struct iqcn_key key;

	list_for_each_entry_rcu(port, &in->ports, list) {
		iqcn_snoop_key(&key, port, pkt);
		n = iqcn_pair_candidates(port, &key);
		if (n)
			only = port;
		candidates += n;
	}
	if (candidates != 1)
		return;
	iqcn_snoop_key(&key, only, pkt);
	iqcn_pair_from_cnp(only, &key);
}

/* One of ours: they come by here too */
static bool iqcn_snoop_is_ours(const struct iqcn_pkt *pkt, const u8 *data)
{
	const struct iqcn_cnp cnp = {
		.src = pkt->src,
		.dst = pkt->dst,
		.dest_qp = pkt->dest_qp,
		.v6 = pkt->v6,
	};

	return iqcn_l3_id(data + pkt->l3_off, pkt->v6) == iqcn_notify_id(&cnp);
}

static void iqcn_snoop_all_cnp(struct iqcn_net *in, const struct sk_buff *skb,
			       const struct iqcn_pkt *pkt, const u8 *data)
{
	struct iqcn_flow *flow;

	if (!iqcn_skb_intact(skb, data, pkt)) {
		iqcn_snoop_malformed(&in->rx_stats);
		return;
	}
	if (iqcn_snoop_is_ours(pkt, data))
		return;
	flow = iqcn_snoop_all_find(in, pkt);
	if (!flow) {
		iqcn_snoop_all_pair(in, pkt);
		flow = iqcn_snoop_all_find(in, pkt);
	}
	if (flow)
		iqcn_queue_cnp_seen(flow, pkt->sport);
	else
		atomic64_inc(&in->rx_stats.cnp_unmatched);
}

static void iqcn_snoop_all_roce(struct net *net, const struct sk_buff *skb,
				const struct iqcn_pkt *pkt, const u8 *data)
{
	struct iqcn_net *in = iqcn_net(net);

	if (pkt->opcode == IQCN_OP_CNP)
		iqcn_snoop_all_cnp(in, skb, pkt, data);
	else if (pkt->opcode == IQCN_OP_UD_SEND_ONLY)
		iqcn_snoop_cm(net, 0, &in->rx_stats, skb, pkt, data);
	else
		iqcn_snoop_all_evidence(in, skb, pkt, data);
}

/* What comes from a bridge or a VRF has been through these hooks already, on the
 * device below
 */
static bool iqcn_snoop_again(const struct net_device *dev)
{
	if (is_vlan_dev(dev))
		dev = vlan_dev_real_dev(dev);
	return netif_is_bridge_master(dev) || netif_is_l3_master(dev);
}

static unsigned int iqcn_snoop_all(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	u8 buf[IQCN_PARSE_MAX] __uninitialized; /* is copied to */
	struct iqcn_pkt pkt __uninitialized; /* valid if it parses */
	const u8 *data;

	if (likely(!iqcn_maybe_roce(skb)) || iqcn_snoop_again(state->in) ||
	    READ_ONCE(iqcn_net(state->net)->snoop) != IQCN_SNOOP_NETNS)
		return NF_ACCEPT;

	switch (iqcn_skb_parse(skb, 0, skb->protocol, buf, &data, &pkt)) {
	case IQCN_NOT_ROCE:
		break;
	case IQCN_MALFORMED:
		iqcn_snoop_malformed(&iqcn_net(state->net)->rx_stats);
		break;
	case IQCN_ROCE:
		/* user space may have had it before, and given it back */
		local_bh_disable();
		iqcn_snoop_all_roce(state->net, skb, &pkt, data);
		local_bh_enable();
		break;
	}
	return NF_ACCEPT;
}

/* After rules of raw and mangle that drop, before addresses are translated: a
 * flow has those it has on the wire
 */
static const struct nf_hook_ops iqcn_snoop_all_ops[] = {
	{
		.hook = iqcn_snoop_all,
		.pf = NFPROTO_INET,
		.hooknum = NF_INET_PRE_ROUTING,
		.priority = NF_IP_PRI_NAT_DST - 1,
	},
#if IS_ENABLED(CONFIG_NETFILTER_FAMILY_BRIDGE)
	{
		.hook = iqcn_snoop_all,
		.pf = NFPROTO_BRIDGE,
		.hooknum = NF_BR_PRE_ROUTING,
		.priority = NF_BR_PRI_LAST,
	},
#endif
};

/**
 * iqcn_snoop_set() - where the ports of a namespace look for CNPs from now on
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
		err = nf_register_net_hooks(net, iqcn_snoop_all_ops,
					    ARRAY_SIZE(iqcn_snoop_all_ops));
		if (err)
			return err;
	} else {
		nf_unregister_net_hooks(net, iqcn_snoop_all_ops,
					ARRAY_SIZE(iqcn_snoop_all_ops));
	}
	WRITE_ONCE(in->snoop, snoop);
	return 0;
}

/**
 * iqcn_snoop_rx_stats() - where a port's useless packets are counted
 * @port: port
 *
 * Context: any.
 * Return: the port's counters, or those of its namespace.
 */
struct iqcn_rx_stats *iqcn_snoop_rx_stats(struct iqcn_port *port)
{
	if (READ_ONCE(port->snoop) == IQCN_SNOOP_PORT)
		return &port->rx_stats;
	return &iqcn_net(port->net)->rx_stats;
}
