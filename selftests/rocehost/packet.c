// SPDX-License-Identifier: GPL-2.0
/*
 * Packets: headers, ICRC, payload.
 *
 * The payload consists of zero bytes in one page that all packets share, and
 * its ICRC is computed from a table (struct rh_zeros).  So building and
 * verifying a packet of 4 KB costs no more than its header alone, and the ICRC
 * is still valid.
 *
 * Sources: see rocev2.h; RETH, AETH: IBTA spec vol. 1, 9.3.
 */
#include <linux/crc32.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <net/checksum.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>

#include "rocehost.h"
#include "skb.h"

#define RH_DETH_LEN	8
#define RH_MAD_LEN	256
#define RH_ACK_REQ	BIT(31)		/* in the word of the PSN */

/* Extends a CRC over @bytes zero bytes with four table lookups: the CRC is
 * linear, so the result is the XOR of the results for each byte of the CRC.
 */
struct rh_zeros {
	struct list_head list;
	u32 bytes;
	u32 table[4][256];
};

static LIST_HEAD(rh_zeros_list);
static struct page *rh_zero_page;

static u32 rh_zeros_crc(const struct rh_zeros *z, u32 crc)
{
	return z->table[0][crc & 0xff] ^ z->table[1][crc >> 8 & 0xff] ^
	       z->table[2][crc >> 16 & 0xff] ^ z->table[3][crc >> 24];
}

/* One entry per distinct payload length, so the list is short */
static const struct rh_zeros *rh_zeros_find(u32 bytes)
{
	const struct rh_zeros *z;

	list_for_each_entry_rcu(z, &rh_zeros_list, list, true)
		if (z->bytes == bytes)
			return z;
	return NULL;
}

/**
 * rh_zeros_need() - prepare for packets with a payload of zero bytes
 * @bytes: length of the payload, at most RH_MTU_MAX
 *
 * Tables stay until the module is unloaded.
 *
 * Context: RTNL held, may sleep.
 * Return: 0, -ENOMEM.
 */
int rh_zeros_need(u32 bytes)
{
	struct rh_zeros *z;
	const u8 *zeros;
	int i, b;

	if (rh_zeros_find(bytes))
		return 0;
	if (!rh_zero_page)
		rh_zero_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!rh_zero_page)
		return -ENOMEM;
	z = kmalloc(sizeof(*z), GFP_KERNEL);
	if (!z)
		return -ENOMEM;
	zeros = page_address(rh_zero_page);
	z->bytes = bytes;
	for (i = 0; i < 4; i++)
		for (b = 0; b < 256; b++)
			z->table[i][b] = crc32_le((u32)b << 8 * i, zeros, bytes);
	list_add_tail_rcu(&z->list, &rh_zeros_list);
	return 0;
}

/**
 * rh_zeros_free() - free the tables and the page
 */
void rh_zeros_free(void)
{
	struct rh_zeros *z, *next;

	list_for_each_entry_safe(z, next, &rh_zeros_list, list)
		kfree(z);
	if (rh_zero_page)
		put_page(rh_zero_page);
}

static void rh_headers_ip4(struct rh_headers *h, const struct in6_addr *from,
			   const struct in6_addr *to, u8 tos)
{
	struct iphdr *iph = (struct iphdr *)(h->hdr + h->l3_off);

	iph->version = 4;
	iph->ihl = 5;
	iph->tos = tos;
	iph->frag_off = htons(IP_DF);
	iph->ttl = IPDEFTTL;
	iph->protocol = IPPROTO_UDP;
	iph->saddr = from->s6_addr32[3];
	iph->daddr = to->s6_addr32[3];
}

static void rh_headers_ip6(struct rh_headers *h, const struct in6_addr *from,
			   const struct in6_addr *to, u8 tos)
{
	struct ipv6hdr *ip6h = (struct ipv6hdr *)(h->hdr + h->l3_off);

	ip6_flow_hdr(ip6h, tos, 0);
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = IPDEFTTL;
	ip6h->saddr = *from;
	ip6h->daddr = *to;
}

/**
 * rh_headers_init() - fill a header template
 * @h: result
 * @from: sender
 * @to: receiver
 * @dscp: DSCP
 * @ect: ECN bits
 * @sport: UDP source port
 * @dest_qpn: DestQP
 */
void rh_headers_init(struct rh_headers *h, const struct rh_addr *from,
		     const struct rh_addr *to, u8 dscp, u8 ect, u16 sport,
		     u32 dest_qpn)
{
	struct ethhdr *eth = (struct ethhdr *)h->hdr;
	struct udphdr *uh;

	memset(h, 0, sizeof(*h));
	h->to = *to->ip;
	h->v6 = !ipv6_addr_v4mapped(from->ip);
	ether_addr_copy(eth->h_dest, to->mac);
	ether_addr_copy(eth->h_source, from->mac);
	eth->h_proto = h->v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	h->l3_off = ETH_HLEN;
	if (h->v6) {
		rh_headers_ip6(h, from->ip, to->ip, dscp << 2 | ect);
		h->udp_off = h->l3_off + sizeof(struct ipv6hdr);
	} else {
		rh_headers_ip4(h, from->ip, to->ip, dscp << 2 | ect);
		h->udp_off = h->l3_off + sizeof(struct iphdr);
	}
	uh = (struct udphdr *)(h->hdr + h->udp_off);
	uh->source = htons(sport);
	uh->dest = htons(IQCN_ROCEV2_PORT);
	h->bth_off = h->udp_off + IQCN_UDP_LEN;
	put_unaligned_be16(0xffff, h->hdr + h->bth_off + 2);
	put_unaligned_be32(dest_qpn & IQCN_QPN_MASK, h->hdr + h->bth_off + 4);
}

/* Allocate an skb whose IP header is aligned */
static struct sk_buff *rh_alloc_skb(u32 len)
{
	struct sk_buff *skb;

	skb = alloc_skb(NET_SKB_PAD + NET_IP_ALIGN + len, GFP_ATOMIC);
	if (skb)
		skb_reserve(skb, NET_SKB_PAD + NET_IP_ALIGN);
	return skb;
}

/* Copy the header template into a new packet; lengths are not yet set, and
 * @more bytes of tailroom follow
 */
static struct sk_buff *rh_alloc(const struct rh_headers *h, u8 opcode, u32 psn,
				u32 more)
{
	u32 len = h->bth_off + IQCN_BTH_LEN;
	struct sk_buff *skb;
	u8 *bth;

	skb = rh_alloc_skb(len + more);
	if (!skb)
		return NULL;
	skb_put_data(skb, h->hdr, len);
	bth = skb->data + h->bth_off;
	bth[0] = opcode;
	put_unaligned_be32(psn, bth + 8);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, h->l3_off);
	skb_set_transport_header(skb, h->udp_off);
	skb->protocol = h->v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	return skb;
}

/* Apply the values of @extra to a packet from the template */
static void rh_put_extra(struct sk_buff *skb, const struct rh_headers *h,
			 const struct rh_extra *extra)
{
	struct udphdr *uh = (struct udphdr *)(skb->data + h->udp_off);

	if (!extra)
		return;
	uh->source = htons(extra->sport);
	skb_put_data(skb, extra->bytes, extra->len);
}

/* Set the lengths, which include that of the ICRC.  The ICRC covers the length
 * fields, so it is computed afterwards.
 */
static void rh_set_lengths(struct sk_buff *skb, const struct rh_headers *h,
			   u32 body)
{
	u32 udp_len = skb->len - h->udp_off + body + IQCN_ICRC_LEN;
	struct udphdr *uh = (struct udphdr *)(skb->data + h->udp_off);

	uh->len = htons(udp_len);
	if (h->v6) {
		((struct ipv6hdr *)(skb->data + h->l3_off))->payload_len =
			uh->len;
	} else {
		struct iphdr *iph = (struct iphdr *)(skb->data + h->l3_off);

		iph->tot_len = htons(sizeof(*iph) + udp_len);
		iph->check = 0;
		iph->check = ip_fast_csum(iph, iph->ihl);
	}
}

/* Set the UDP checksum, which is 0 over IPv4.  Zero bytes of payload do not
 * change it.
 */
static void rh_set_check(struct sk_buff *skb, const struct rh_headers *h,
			 __le32 icrc)
{
	struct ipv6hdr *ip6h = (struct ipv6hdr *)(skb->data + h->l3_off);
	struct udphdr *uh = (struct udphdr *)(skb->data + h->udp_off);
	__wsum sum;

	if (!h->v6)
		return;
	sum = csum_partial(uh, skb_headlen(skb) - h->udp_off, 0);
	sum = csum_partial(&icrc, sizeof(icrc), sum);
	uh->check = csum_ipv6_magic(&ip6h->saddr, &ip6h->daddr, ntohs(uh->len),
				    IPPROTO_UDP, sum) ?: CSUM_MANGLED_0;
}

/* Complete a linear packet */
static struct sk_buff *rh_finish(struct sk_buff *skb,
				 const struct rh_headers *h)
{
	u32 len = skb->len - h->l3_off;
	__le32 icrc;

	rh_set_lengths(skb, h, 0);
	icrc = iqcn_icrc(skb->data + h->l3_off, len, h->v6);
	rh_set_check(skb, h, icrc);
	skb_put_data(skb, &icrc, sizeof(icrc));
	return skb;
}

/* CRC state after @len bytes, derived from their ICRC */
static u32 rh_crc_after(const u8 *l3, u32 len, bool v6)
{
	return ~le32_to_cpu(iqcn_icrc(l3, len, v6));
}

static struct sk_buff *rh_finish_zeros(struct sk_buff *skb,
				       const struct rh_headers *h,
				       const struct rh_zeros *z)
{
	__le32 icrc, *tail;
	u32 crc;

	rh_set_lengths(skb, h, z->bytes);
	crc = rh_crc_after(skb->data + h->l3_off, skb->len - h->l3_off, h->v6);
	icrc = cpu_to_le32(~rh_zeros_crc(z, crc));
	rh_set_check(skb, h, icrc);

	tail = netdev_alloc_frag(sizeof(icrc));
	if (!tail) {
		kfree_skb(skb);
		return NULL;
	}
	*tail = icrc;
	get_page(rh_zero_page);
	skb_add_rx_frag(skb, 0, rh_zero_page, 0, z->bytes, z->bytes);
	skb_add_rx_frag(skb, 1, virt_to_head_page(tail),
			offset_in_page(tail) +
			(virt_to_page(tail) - virt_to_head_page(tail)) * PAGE_SIZE,
			sizeof(icrc), SMP_CACHE_BYTES);
	/* the page is shared: forbid writes to it */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	return skb;
}

/**
 * rh_headers_sport() - the UDP source port of a template
 * @h: the template
 *
 * Return: the port.
 */
u16 rh_headers_sport(const struct rh_headers *h)
{
	const struct udphdr *uh = (const void *)(h->hdr + h->udp_off);

	return ntohs(uh->source);
}

/**
 * rh_build_data() - build a packet of a WRITE
 * @h: header of the flow's packets
 * @opcode: RC opcode
 * @psn: PSN
 * @ack_req: request an ACK
 * @bytes: length of the payload
 * @msg_bytes: length of the message, for the RETH of a first packet
 * @extra: fields that differ from the template, or NULL
 *
 * Context: any, does not sleep.
 * Return: the packet, NULL if out of memory.
 */
struct sk_buff *rh_build_data(const struct rh_headers *h, u8 opcode, u32 psn,
			      bool ack_req, u32 bytes, u64 msg_bytes,
			      const struct rh_extra *extra)
{
	u32 padded = ALIGN(bytes, 4);
	struct sk_buff *skb;

	skb = rh_alloc(h, opcode, psn | (ack_req ? RH_ACK_REQ : 0),
		       RH_RETH_LEN + SR_DATA_LEN);
	if (!skb)
		return NULL;
	skb->data[h->bth_off + 1] = (padded - bytes) << 4;
	if (opcode == RC_WRITE_FIRST || opcode == RC_WRITE_ONLY) {
		u8 *reth = skb_put_zero(skb, RH_RETH_LEN);

		/* R_Key: the DestQP, which is unique per connection */
		memcpy(reth + 8, h->hdr + h->bth_off + 4, 4);
		put_unaligned_be32(min_t(u64, msg_bytes, BIT(31)), reth + 12);
	}
	rh_put_extra(skb, h, extra);
	return rh_finish_zeros(skb, h, rh_zeros_find(padded));
}

/**
 * rh_build_ack() - build an ACK or a NAK
 * @h: header of the connection's packets
 * @syndrome: AETH syndrome
 * @psn: PSN
 * @msn: number of complete messages; with RTW, RTS or RNR, the message number
 * @extra: fields that differ from the template, or NULL
 *
 * Context: any, does not sleep.
 * Return: the packet, NULL if out of memory.
 */
struct sk_buff *rh_build_ack(const struct rh_headers *h, u8 syndrome, u32 psn,
			     u32 msn, const struct rh_extra *extra)
{
	struct sk_buff *skb = rh_alloc(h, RC_ACK, psn,
				       AETH_LEN + SR_ACK_LEN + IQCN_ICRC_LEN);

	if (!skb)
		return NULL;
	put_unaligned_be32((u32)syndrome << 24 | (msn & IQCN_PSN_MASK),
			   skb_put(skb, AETH_LEN));
	rh_put_extra(skb, h, extra);
	return rh_finish(skb, h);
}

/**
 * rh_build_cnp() - build a CNP of the receiver
 * @h: header of the connection's packets
 * @from: source address
 * @dest_qpn: QP number of the sender
 * @dscp: DSCP of the CNP
 * @sport: UDP source port
 *
 * Context: any, does not sleep.
 * Return: the packet, NULL if out of memory.
 */
struct sk_buff *rh_build_cnp(const struct rh_headers *h,
			     const struct in6_addr *from, u32 dest_qpn,
			     u8 dscp, u16 sport)
{
	const struct ethhdr *eth = (const struct ethhdr *)h->hdr;
	struct iqcn_cnp cnp = {
		.src = *from,
		.dst = h->to,
		.dest_qp = dest_qpn,
		.pkey = 0xffff,
		.sport = sport,
		.tos = dscp << 2,
		.ttl = IPDEFTTL,
		.v6 = h->v6,
	};
	struct sk_buff *skb;

	skb = rh_alloc_skb(ETH_HLEN + IQCN_CNP_MAX_LEN);
	if (!skb)
		return NULL;
	skb_put_data(skb, eth, ETH_HLEN);
	skb_put(skb, iqcn_build_cnp(skb->data + ETH_HLEN, &cnp));
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = eth->h_proto;
	return skb;
}

/**
 * rh_build_bare() - build a packet of a WRITE without payload
 * @h: header of the flow's packets
 * @psn: PSN
 *
 * Context: any, does not sleep.
 * Return: the packet, NULL if out of memory.
 */
struct sk_buff *rh_build_bare(const struct rh_headers *h, u32 psn)
{
	struct sk_buff *skb = rh_alloc(h, RC_WRITE_MIDDLE, psn, IQCN_ICRC_LEN);

	return skb ? rh_finish(skb, h) : NULL;
}

/**
 * rh_build_cm() - build a message of the connection setup
 * @h: header of the connection's packets
 * @attr: REQ, REP or RTU
 * @local_qpn: QP number of the sender, also used as its communication id
 * @remote_qpn: QP number of the receiver
 * @psn: first PSN
 *
 * Context: any, does not sleep.
 * Return: the packet, NULL if out of memory.
 */
struct sk_buff *rh_build_cm(const struct rh_headers *h, u16 attr, u32 local_qpn,
			    u32 remote_qpn, u32 psn)
{
	struct rh_headers cm = *h;
	struct sk_buff *skb;
	u8 *payload;

	put_unaligned_be32(IQCN_QP1, cm.hdr + cm.bth_off + 4);
	skb = rh_alloc(&cm, IQCN_OP_UD_SEND_ONLY, 0,
		       RH_DETH_LEN + RH_MAD_LEN + IQCN_ICRC_LEN);
	if (!skb)
		return NULL;
	skb_put_zero(skb, RH_DETH_LEN + RH_MAD_LEN);
	payload = skb->data + cm.bth_off;
	put_unaligned_be32(0x80010000, payload + 12);	/* Q_Key of QP 1 */
	put_unaligned_be32(IQCN_QP1, payload + 16);
	payload[20] = 1;				/* MAD version */
	payload[21] = 7;				/* class CM */
	payload[22] = 2;				/* class version */
	payload[23] = 3;				/* Send */
	put_unaligned_be16(attr, payload + 36);
	put_unaligned_be32(local_qpn, payload + 44);
	put_unaligned_be32(remote_qpn, payload + 48);
	switch (attr) {
	case IQCN_CM_REQ:
		/* service id: the QP number that identifies the listener */
		put_unaligned_be64(remote_qpn, payload + 52);
		put_unaligned_be32(0, payload + 48);
		put_unaligned_be32(local_qpn << 8, payload + 76);
		put_unaligned_be32(psn << 8, payload + 88);
		break;
	case IQCN_CM_REP:
		put_unaligned_be32(local_qpn << 8, payload + 56);
		put_unaligned_be32(psn << 8, payload + 64);
		break;
	}
	return rh_finish(skb, &cm);
}

/**
 * rh_icrc_ok() - verify the ICRC of a packet
 * @skb: the packet from L3 on, linear up to the BTH
 * @pkt: the parsed packet
 *
 * Context: any.
 * Return: true if the ICRC is valid.
 */
bool rh_icrc_ok(const struct sk_buff *skb, const struct iqcn_pkt *pkt)
{
	u32 end = pkt->udp_off + pkt->udp_len - IQCN_ICRC_LEN;
	u32 head = min_t(u32, skb_headlen(skb), end);
	const struct rh_zeros *z = NULL;
	__le32 icrc;
	u32 crc;

	if (skb_shinfo(skb)->nr_frags &&
	    skb_frag_page(&skb_shinfo(skb)->frags[0]) == rh_zero_page &&
	    skb_frag_size(&skb_shinfo(skb)->frags[0]) == end - head)
		z = rh_zeros_find(end - head);
	if (!z)
		return iqcn_skb_intact(skb, skb->data, pkt);
	if (skb_copy_bits(skb, end, &icrc, sizeof(icrc)))
		return false;
	crc = rh_crc_after(skb->data, head, pkt->v6);
	return ~rh_zeros_crc(z, crc) == le32_to_cpu(icrc);
}
