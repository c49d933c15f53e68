// SPDX-License-Identifier: GPL-2.0
/*
 * What comes in on the port, that is from the receivers: CNPs, and evidence
 * for pairing.
 *
 * A netfilter hook on the device's ingress, last in line: a CNP that a rule
 * drops does not reach its sender and must not count as one that did.  Nothing
 * is ever changed, held or dropped here.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
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

static void iqcn_snoop_cnp(struct iqcn_port *port, const struct iqcn_key *key,
			   const struct iqcn_pkt *pkt, const u8 *data)
{
	u32 len = pkt->udp_off - pkt->l3_off + pkt->udp_len;
	struct iqcn_flow *flow;

	/* the sender's NIC would not take it */
	if (!iqcn_icrc_ok(data + pkt->l3_off, len, pkt->v6)) {
		atomic64_inc(&port->malformed);
		return;
	}
	flow = iqcn_pair_find(port, key);
	if (!flow) {
		iqcn_pair_from_cnp(port, key);
		flow = iqcn_pair_find(port, key);
	}
	if (flow)
		iqcn_queue_cnp_seen(flow, pkt->sport);
	else
		atomic64_inc(&port->cnp_unmatched);
}

static void iqcn_snoop_roce(struct iqcn_port *port, struct net *net,
			    const struct iqcn_pkt *pkt, const u8 *data,
			    u32 avail)
{
	struct iqcn_key key;
	struct iqcn_cm cm;

	/* the direction of the data is the other one */
	iqcn_key_init(&key, &pkt->dst, &pkt->src, pkt->dest_qp, pkt->vlan);

	if (pkt->opcode == IQCN_OP_CNP) {
		iqcn_snoop_cnp(port, &key, pkt, data);
	} else if (pkt->opcode == IQCN_OP_UD_SEND_ONLY) {
		u32 off = pkt->udp_off + IQCN_UDP_LEN;

		if (pkt->dest_qp == IQCN_QP1 &&
		    iqcn_parse_cm(data + off, avail - off, &cm))
			iqcn_cm_seen(net, pkt, &cm);
	} else if (READ_ONCE(port->n_unsettled) &&
		   (iqcn_op_is_data(pkt->opcode) ||
		    iqcn_op_is_echo(pkt->opcode))) {
		iqcn_pair_from_reverse(port, &key, pkt);
	}
}

static unsigned int iqcn_snoop(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	struct iqcn_port *port = priv;
	u8 buf[IQCN_PARSE_MAX];
	struct iqcn_pkt pkt;
	const u8 *data;

	if (likely(!iqcn_maybe_roce(skb)) || iqcn_notify_is_ours(skb))
		return NF_ACCEPT;

	switch (iqcn_skb_parse(skb, 0, skb->protocol, buf, &data, &pkt)) {
	case IQCN_NOT_ROCE:
		break;
	case IQCN_MALFORMED:
		atomic64_inc(&port->malformed);
		break;
	case IQCN_ROCE:
		iqcn_snoop_roce(port, state->net, &pkt, data,
				min_t(u32, skb->len, IQCN_PARSE_MAX));
		break;
	}
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
