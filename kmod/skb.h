/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From sk_buff to bytes: what lies between the stack and rocev2.h.
 */
#ifndef _IQCN_SKB_H
#define _IQCN_SKB_H

#include <linux/crc32.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <net/checksum.h>

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

/* Not in one piece, or no RoCEv2.  By itself, for its buffer makes a function guard
 * the stack.
 */
static noinline enum iqcn_parsed
iqcn_skb_headers_slow(const struct sk_buff *skb, u32 off, __be16 proto,
		      struct iqcn_pkt *pkt)
{
	u8 buf[IQCN_PARSE_MAX] __uninitialized; /* is copied to */
	const u8 *data;

	return iqcn_skb_parse(skb, off, proto, buf, &data, pkt);
}

/**
 * iqcn_skb_headers() - parse a packet of which nothing but its headers is wanted
 * @skb: packet
 * @off: of what @proto names, from skb->data
 * @proto: EtherType
 * @pkt: result
 *
 * They are in one piece, whatever is behind them: that alone is looked at, and only
 * what seems to be no RoCEv2 then is copied together.
 *
 * Context: any; @skb is not changed.
 * Return: what it is.
 */
static inline enum iqcn_parsed
iqcn_skb_headers(const struct sk_buff *skb, u32 off, __be16 proto,
		 struct iqcn_pkt *pkt)
{
	if (likely(skb_headlen(skb) > off)) {
		iqcn_skb_outer_vlan(skb, pkt);
		if (likely(iqcn_parse(skb->data + off, skb_headlen(skb) - off,
				      skb->len - off, proto, pkt) == IQCN_ROCE))
			return IQCN_ROCE;
	}
	return iqcn_skb_headers_slow(skb, off, proto, pkt);
}

/**
 * iqcn_skb_intact() - would a receiver take this packet?
 * @skb: packet, from what was parsed on
 * @data: as iqcn_skb_parse() has set it, with an offset of 0
 * @pkt: result of that, of IQCN_ROCE
 *
 * Context: any.
 * Return: true if its ICRC, and over IPv4 the header's checksum, is right.
 */
static inline bool iqcn_skb_intact(const struct sk_buff *skb, const u8 *data,
				   const struct iqcn_pkt *pkt)
{
	u32 off = pkt->udp_off + IQCN_UDP_LEN + IQCN_BTH_LEN;
	u32 end = pkt->udp_off + pkt->udp_len;
	const u8 *l3 = data + pkt->l3_off;
	u8 buf[64];
	__le32 icrc;
	u32 crc, n;

	/* without options, but at any address */
	if (!pkt->v6 && csum_fold(csum_partial(l3, sizeof(struct iphdr), 0)))
		return false;
	if (end <= min_t(u32, skb->len, IQCN_PARSE_MAX))
		return iqcn_icrc_ok(l3, end - pkt->l3_off, pkt->v6);

	/* the rest of it is somewhere else, piece by piece */
	end -= IQCN_ICRC_LEN;
	crc = ~le32_to_cpu(iqcn_icrc(l3, off - pkt->l3_off, pkt->v6));
	for (; off < end; off += n) {
		n = min_t(u32, end - off, sizeof(buf));
		if (skb_copy_bits(skb, off, buf, n))
			return false;
		crc = crc32_le(crc, buf, n);
	}
	return !skb_copy_bits(skb, end, &icrc, sizeof(icrc)) &&
	       ~crc == le32_to_cpu(icrc);
}

#endif /* _IQCN_SKB_H */
