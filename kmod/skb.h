/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 packets in an sk_buff: parse them with rocev2.h, and check their ICRC
 */
#ifndef _IQCN_SKB_H
#define _IQCN_SKB_H

#include <linux/crc32.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/unaligned.h>
#include <net/checksum.h>

#include "rocev2.h"

/* A tag in the metadata of the sk_buff is the outermost one */
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
 * @off: offset from skb->data of the header that @proto names
 * @proto: EtherType
 * @buf: IQCN_PARSE_MAX bytes, used if the bytes to parse are not all linear
 * @data: set to the parsed bytes, in @skb or in @buf
 * @pkt: result
 *
 * Context: any; @skb is not changed.
 * Return: enum iqcn_parsed.
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

/* Parse a packet whose linear part does not parse as RoCEv2.  A function of its
 * own, because the buffer would give its caller a stack protector.
 */
static noinline enum iqcn_parsed
iqcn_skb_headers_slow(const struct sk_buff *skb, u32 off, __be16 proto,
		      struct iqcn_pkt *pkt)
{
	/* only the bytes that were copied to buf are read */
	u8 buf[IQCN_PARSE_MAX] __uninitialized;
	const u8 *data;

	return iqcn_skb_parse(skb, off, proto, buf, &data, pkt);
}

/**
 * iqcn_skb_headers() - parse a packet if only the headers are needed
 * @skb: packet
 * @off: offset from skb->data of the header that @proto names
 * @proto: EtherType
 * @pkt: result
 *
 * The headers are usually linear, even if the payload is not.  So the linear
 * part is parsed first, and a copy is made only if the linear part does not
 * parse as RoCEv2.
 *
 * Context: any; @skb is not changed.
 * Return: enum iqcn_parsed.
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
 * iqcn_skb_sport() - get the UDP source port of a queued packet
 * @skb: packet that begins with an Ethernet header and parses as IQCN_ROCE, so
 *	it has neither IP options nor extension headers
 *
 * Context: any.
 * Return: the port, 0 if it cannot be read.
 */
static inline u16 iqcn_skb_sport(const struct sk_buff *skb)
{
	__be16 proto = ((const struct ethhdr *)skb->data)->h_proto, buf;
	const struct vlan_hdr *vh;
	struct vlan_hdr tag;
	u32 off = ETH_HLEN;
	const __be16 *sport;

	while (eth_type_vlan(proto)) {
		vh = skb_header_pointer(skb, off, sizeof(tag), &tag);
		if (!vh)
			return 0;
		proto = vh->h_vlan_encapsulated_proto;
		off += VLAN_HLEN;
	}
	off += proto == htons(ETH_P_IPV6) ? sizeof(struct ipv6hdr) :
					    sizeof(struct iphdr);
	sport = skb_header_pointer(skb, off, sizeof(buf), &buf);
	return sport ? get_unaligned_be16(sport) : 0;
}

/**
 * iqcn_skb_intact() - check the checksums of a packet, as a receiver does
 * @skb: packet, skb->data is where parsing began
 * @data: set by iqcn_skb_parse() with an offset of 0
 * @pkt: result of that call, which returned IQCN_ROCE
 *
 * Context: any.
 * Return: true if the ICRC is correct and, with IPv4, the header checksum, too.
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

	/* IQCN_ROCE implies no options, but not alignment */
	if (!pkt->v6 && csum_fold(csum_partial(l3, sizeof(struct iphdr), 0)))
		return false;
	if (end <= min_t(u32, skb->len, IQCN_PARSE_MAX))
		return iqcn_icrc_ok(l3, end - pkt->l3_off, pkt->v6);

	/* the payload may be in fragments: copy it in pieces */
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
