/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From sk_buff to bytes: what lies between the stack and rocev2.h.
 */
#ifndef _IQCN_SKB_H
#define _IQCN_SKB_H

#include <linux/if_vlan.h>
#include <linux/skbuff.h>

#include "rocev2.h"

/* The tag that the stack keeps beside the packet is its outermost */
static inline void iqcn_skb_outer_vlan(const struct sk_buff *skb,
				       struct iqcn_pkt *pkt)
{
	memset(pkt->vlan, 0, sizeof(pkt->vlan));
	if (skb_vlan_tag_present(skb)) {
		pkt->vlan[0].proto = skb->vlan_proto;
		pkt->vlan[0].tci = skb_vlan_tag_get(skb);
	}
}

/**
 * iqcn_skb_parse() - parse a packet
 * @skb: packet
 * @off: of what @proto names, from skb->data
 * @proto: EtherType
 * @buf: IQCN_PARSE_MAX bytes, for a packet in pieces
 * @data: is set to where the bytes are, in @skb or @buf
 * @pkt: result
 *
 * Context: any; @skb is not changed.
 * Return: what it is.
 */
static inline enum iqcn_parsed
iqcn_skb_parse(const struct sk_buff *skb, u32 off, __be16 proto, u8 *buf,
	       const u8 **data, struct iqcn_pkt *pkt)
{
	u32 total = skb->len - off;
	u32 avail = min_t(u32, total, IQCN_PARSE_MAX);

	*data = skb_header_pointer(skb, off, avail, buf);
	if (unlikely(!*data))
		return IQCN_NOT_ROCE;
	iqcn_skb_outer_vlan(skb, pkt);
	return iqcn_parse(*data, avail, total, proto, pkt);
}

#endif /* _IQCN_SKB_H */
