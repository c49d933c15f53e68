// SPDX-License-Identifier: GPL-2.0
/*
 * RoCEv2 on the wire: parser, ICRC and CNP.  rocev2.h names the sources.
 */
#include <linux/compiler.h>
#include <linux/crc32.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <net/checksum.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>

#include "algo/pairing.h"
#include "rocev2.h"

/* Offsets in the BTH */
#define BTH_OPCODE	0
#define BTH_FLAGS	1
#define BTH_PKEY	2
#define BTH_BECN	4	/* F, B, reserved: ones for the ICRC */
#define BTH_DEST_QP	4
#define BTH_PSN		8

#define BTH_TVER_MASK	0x0f
#define BTH_BECN_BIT	0x40000000

/* Offsets from the BTH of a packet with a CM message: BTH, DETH, MAD */
#define CM_MAD		20
#define CM_MAD_ATTR	36
#define CM_LOCAL_ID	44
#define CM_REMOTE_ID	48
#define CM_DREQ_QPN	52
#define CM_REP_QPN	56
#define CM_REQ_QPN	76
#define CM_LEN		92

#define MAD_BASE_VERSION	1
#define MAD_CLASS_CM		0x07
#define MAD_CLASS_VERSION	2
#define MAD_METHOD_SEND		0x03

/* A packet with more extension headers than this counts as IQCN_NOT_ROCE, even
 * if it is sent to the port of RoCEv2
 */
#define MAX_EXT_HDRS	4

/* Requests, and READ responses, of RC and XRC */
#define OP_REQUEST	(IQCN_OP_DATA | IQCN_OP_ECHOED)
#define OP_RESPONSE	(IQCN_OP_DATA | IQCN_OP_ECHO)

/* Classes of BTH opcodes.  A table, because a packet is tested for several
 * classes (bench "marked").  The opcodes of XRC are those of RC plus 0xa0.
 */
const u8 iqcn_op_class[256] = {
	[0x00 ... 0x0c] = OP_REQUEST,	/* RC: SEND, WRITE, READ request */
	[0x0d ... 0x10] = OP_RESPONSE,
	[0x11 ... 0x12] = IQCN_OP_ECHO,	/* ACK, atomic ACK */
	[0x13 ... 0x14] = OP_REQUEST,	/* atomics */
	[0x16 ... 0x17] = OP_REQUEST,	/* SEND with invalidate */
	[0x20 ... 0x2b] = IQCN_OP_DATA,	/* UC: SEND, WRITE */
	[0xa0 ... 0xac] = OP_REQUEST,	/* XRC */
	[0xad ... 0xb0] = OP_RESPONSE,
	[0xb1 ... 0xb2] = IQCN_OP_ECHO,
	[0xb3 ... 0xb4] = OP_REQUEST,
	[0xb6 ... 0xb7] = OP_REQUEST,
};

static bool iqcn_parse_vlans(const u8 *data, u32 avail, __be16 *proto,
			     struct iqcn_pkt *pkt, u32 *off)
{
	int i = pkt->vlan[0].proto ? 1 : 0;

	while (eth_type_vlan(*proto)) {
		const struct vlan_hdr *vh = (const void *)(data + *off);

		if (i == IQCN_VLANS || avail - *off < VLAN_HLEN)
			return false;
		pkt->vlan[i].proto = *proto;
		pkt->vlan[i].tci = get_unaligned_be16(&vh->h_vlan_TCI);
		*proto = get_unaligned(&vh->h_vlan_encapsulated_proto);
		*off += VLAN_HLEN;
		i++;
	}
	return true;
}

/* Each of the two L3 parsers advances @off to the UDP header and sets @room to
 * the largest possible length of the UDP datagram.  @odd is set if a receiver
 * would not accept the packet as RoCEv2.
 */
static bool iqcn_parse_ip4(const u8 *data, u32 avail, u32 total, u32 *off,
			   u32 *room, bool *odd, struct iqcn_pkt *pkt)
{
	const struct iphdr *iph = (const void *)(data + *off);
	u32 hlen, tot_len;
	u16 frag;

	if (avail - *off < sizeof(*iph) || iph->version != 4)
		return false;
	hlen = iph->ihl * 4;
	tot_len = get_unaligned_be16(&iph->tot_len);
	frag = get_unaligned_be16(&iph->frag_off);
	if (hlen < sizeof(*iph) || tot_len < hlen ||
	    iph->protocol != IPPROTO_UDP || (frag & IP_OFFSET))
		return false;
	*odd = hlen != sizeof(*iph) || (frag & IP_MF) || tot_len > total - *off;
	ipv6_addr_set_v4mapped(get_unaligned(&iph->saddr), &pkt->src);
	ipv6_addr_set_v4mapped(get_unaligned(&iph->daddr), &pkt->dst);
	*room = tot_len - hlen;
	*off += hlen;
	return true;
}

static bool iqcn_parse_ip6(const u8 *data, u32 avail, u32 total, u32 *off,
			   u32 *room, bool *odd, struct iqcn_pkt *pkt)
{
	const struct ipv6hdr *ip6h = (const void *)(data + *off);
	u8 nexthdr;
	int i;

	if (avail - *off < sizeof(*ip6h) || ip6h->version != 6)
		return false;
	nexthdr = ip6h->nexthdr;
	*room = get_unaligned_be16(&ip6h->payload_len);
	memcpy(&pkt->src, &ip6h->saddr, sizeof(pkt->src));
	memcpy(&pkt->dst, &ip6h->daddr, sizeof(pkt->dst));
	*off += sizeof(*ip6h);
	/* a v4-mapped address would alias the flow of an IPv4 host */
	*odd = *room > total - *off || nexthdr != IPPROTO_UDP ||
	       ipv6_addr_v4mapped(&pkt->src) || ipv6_addr_v4mapped(&pkt->dst);

	for (i = 0; i < MAX_EXT_HDRS && nexthdr != IPPROTO_UDP; i++) {
		const u8 *ext = data + *off;
		u32 len;

		if (avail - *off < 8)
			return false;
		switch (nexthdr) {
		case NEXTHDR_HOP:
		case NEXTHDR_ROUTING:
		case NEXTHDR_DEST:
			len = (ext[1] + 1) * 8;
			break;
		case NEXTHDR_FRAGMENT:
			if (get_unaligned_be16(ext + 2) & IP6_OFFSET)
				return false;
			len = 8;
			break;
		default:
			return false;
		}
		if (avail - *off < len || *room < len)
			return false;
		nexthdr = ext[0];
		*off += len;
		*room -= len;
	}
	return nexthdr == IPPROTO_UDP;
}

/**
 * iqcn_parse() - parse a packet
 * @data: packet, from the L3 header on, or from a VLAN tag before that header
 * @avail: readable bytes of @data; min(@total, IQCN_PARSE_MAX) is enough
 * @total: length of the packet from @data on
 * @proto: EtherType of @data
 * @pkt: result; @pkt->vlan is also input, all other fields are valid if
 *	IQCN_ROCE is returned
 *
 * Context: any.
 * Return: enum iqcn_parsed.
 */
enum iqcn_parsed iqcn_parse(const u8 *data, u32 avail, u32 total, __be16 proto,
			    struct iqcn_pkt *pkt)
{
	const u8 *udp, *bth;
	u32 off = 0, room;
	bool odd, v6;

	if (!iqcn_parse_vlans(data, avail, &proto, pkt, &off))
		return IQCN_NOT_ROCE;
	pkt->l3_off = off;
	v6 = proto == htons(ETH_P_IPV6);
	if (v6) {
		if (!iqcn_parse_ip6(data, avail, total, &off, &room, &odd, pkt))
			return IQCN_NOT_ROCE;
	} else if (proto == htons(ETH_P_IP)) {
		if (!iqcn_parse_ip4(data, avail, total, &off, &room, &odd, pkt))
			return IQCN_NOT_ROCE;
	} else {
		return IQCN_NOT_ROCE;
	}

	/* a packet to this port is either RoCEv2 or malformed */
	if (avail < off + 4 ||
	    get_unaligned_be16(data + off + 2) != IQCN_ROCEV2_PORT)
		return IQCN_NOT_ROCE;
	if (odd || avail - off < IQCN_UDP_LEN + IQCN_BTH_LEN)
		return IQCN_MALFORMED;

	udp = data + off;
	bth = udp + IQCN_UDP_LEN;
	pkt->v6 = v6;
	pkt->udp_off = off;
	pkt->udp_len = get_unaligned_be16(udp + 4);
	pkt->sport = get_unaligned_be16(udp);
	pkt->opcode = bth[BTH_OPCODE];
	pkt->pkey = get_unaligned_be16(bth + BTH_PKEY);
	pkt->dest_qp = get_unaligned_be32(bth + BTH_DEST_QP) & IQCN_QPN_MASK;
	pkt->psn = get_unaligned_be32(bth + BTH_PSN) & IQCN_PSN_MASK;

	if (pkt->udp_len > room ||
	    pkt->udp_len < IQCN_UDP_LEN + IQCN_BTH_LEN + IQCN_ICRC_LEN ||
	    (bth[BTH_FLAGS] & BTH_TVER_MASK))
		return IQCN_MALFORMED;
	if (unlikely(pkt->opcode == IQCN_OP_CNP))
		return pkt->udp_len == IQCN_CNP_UDP_LEN ? IQCN_ROCE :
							  IQCN_MALFORMED;
	return IQCN_ROCE;
}

/* CRC-32 of eight bytes 0xff, which stand for InfiniBand's LRH */
#define ICRC_SEED 0xdebb20e3

/**
 * iqcn_icrc() - compute the invariant CRC of a RoCEv2 packet
 * @l3: IP header without options, readable up to the end of the BTH at least
 * @len: bytes from @l3 up to the ICRC
 * @v6: IPv6
 *
 * Fields that a router may change count as ones (IBTA A17.3.3, and
 * vol. 1, 7.8.1).
 *
 * Context: any.
 * Return: the ICRC in wire order.
 */
__le32 iqcn_icrc(const u8 *l3, u32 len, bool v6)
{
	u8 hdr[sizeof(struct ipv6hdr) + IQCN_UDP_LEN + IQCN_BTH_LEN];
	u32 l3_len = v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	u32 hdr_len = l3_len + IQCN_UDP_LEN + IQCN_BTH_LEN;
	u32 crc;

	memcpy(hdr, l3, hdr_len);
	if (v6) {
		struct ipv6hdr *ip6h = (struct ipv6hdr *)hdr;

		ip6h->priority = 0xf;
		memset(ip6h->flow_lbl, 0xff, sizeof(ip6h->flow_lbl));
		ip6h->hop_limit = 0xff;
	} else {
		struct iphdr *iph = (struct iphdr *)hdr;

		iph->tos = 0xff;
		iph->ttl = 0xff;
		iph->check = (__force __sum16)0xffff;
	}
	memset(hdr + l3_len + offsetof(struct udphdr, check), 0xff,
	       sizeof_field(struct udphdr, check));
	hdr[l3_len + IQCN_UDP_LEN + BTH_BECN] = 0xff;

	crc = crc32_le(ICRC_SEED, hdr, hdr_len);
	crc = crc32_le(crc, l3 + hdr_len, len - hdr_len);
	return cpu_to_le32(~crc);
}

/**
 * iqcn_icrc_ok() - check the ICRC of a packet
 * @l3: IP header without options
 * @len: bytes from @l3 to the end of the ICRC, all readable
 * @v6: IPv6
 *
 * Context: any.
 * Return: true if the ICRC is correct.
 */
bool iqcn_icrc_ok(const u8 *l3, u32 len, bool v6)
{
	u32 end = len - IQCN_ICRC_LEN;

	return get_unaligned((const __le32 *)(l3 + end)) ==
	       iqcn_icrc(l3, end, v6);
}

/**
 * iqcn_l3_id() - get the IPv4 identification, or the IPv6 flow label
 * @l3: IP header
 * @v6: IPv6
 *
 * Context: any.
 * Return: the value in host byte order.
 */
u32 iqcn_l3_id(const u8 *l3, bool v6)
{
	if (v6)
		return get_unaligned_be32(l3) & ntohl(IPV6_FLOWLABEL_MASK);
	return get_unaligned_be16(l3 + offsetof(struct iphdr, id));
}

static u32 iqcn_build_ip4(u8 *l3, const struct iqcn_cnp *cnp)
{
	struct iphdr *iph = (struct iphdr *)l3;
	u32 len = sizeof(*iph) + IQCN_CNP_UDP_LEN;

	iph->version = 4;
	iph->ihl = 5;
	iph->tos = cnp->tos;
	iph->tot_len = htons(len);
	/* an atomic datagram: any ID is allowed (RFC 6864) */
	iph->id = htons(cnp->id);
	iph->frag_off = htons(IP_DF);
	iph->ttl = cnp->ttl;
	iph->protocol = IPPROTO_UDP;
	iph->saddr = cnp->src.s6_addr32[3];
	iph->daddr = cnp->dst.s6_addr32[3];
	iph->check = ip_fast_csum(l3, iph->ihl);
	return len;
}

static u32 iqcn_build_ip6(u8 *l3, const struct iqcn_cnp *cnp)
{
	struct ipv6hdr *ip6h = (struct ipv6hdr *)l3;

	ip6_flow_hdr(ip6h, cnp->tos, htonl(cnp->id) & IPV6_FLOWLABEL_MASK);
	ip6h->payload_len = htons(IQCN_CNP_UDP_LEN);
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = cnp->ttl;
	ip6h->saddr = cnp->src;
	ip6h->daddr = cnp->dst;
	return sizeof(*ip6h) + IQCN_CNP_UDP_LEN;
}

/**
 * iqcn_build_cnp() - build the CNP that the receiver would send
 * @l3: buffer of IQCN_CNP_MAX_LEN bytes for the packet from the IP header on,
 *	aligned as IP headers are on this architecture
 * @cnp: contents
 *
 * BECN is set because real NICs set it, although the annex ignores it.  The UDP
 * checksum is 0 over IPv4, but correct over IPv6, where receivers drop a
 * checksum of 0.
 *
 * Context: any.
 * Return: length from the IP header to the end of the ICRC.
 */
u32 iqcn_build_cnp(u8 *l3, const struct iqcn_cnp *cnp)
{
	struct udphdr *uh;
	u32 len, end;
	u8 *bth;

	memset(l3, 0, IQCN_CNP_MAX_LEN);
	len = cnp->v6 ? iqcn_build_ip6(l3, cnp) : iqcn_build_ip4(l3, cnp);

	uh = (struct udphdr *)(l3 + len - IQCN_CNP_UDP_LEN);
	uh->source = htons(cnp->sport);
	uh->dest = htons(IQCN_ROCEV2_PORT);
	uh->len = htons(IQCN_CNP_UDP_LEN);

	bth = (u8 *)(uh + 1);
	bth[BTH_OPCODE] = IQCN_OP_CNP;
	put_unaligned_be16(cnp->pkey, bth + BTH_PKEY);
	put_unaligned_be32(BTH_BECN_BIT | (cnp->dest_qp & IQCN_QPN_MASK),
			   bth + BTH_DEST_QP);
	memcpy(bth + IQCN_BTH_LEN, cnp->reserved, IQCN_CNP_RSVD_LEN);

	end = len - IQCN_ICRC_LEN;
	put_unaligned(iqcn_icrc(l3, end, cnp->v6), (__le32 *)(l3 + end));

	if (cnp->v6) {
		uh->check = csum_ipv6_magic(&cnp->src, &cnp->dst,
					    IQCN_CNP_UDP_LEN, IPPROTO_UDP,
					    csum_partial(uh, IQCN_CNP_UDP_LEN,
							 0));
		if (!uh->check)
			uh->check = CSUM_MANGLED_0;
	}
	return len;
}

/**
 * iqcn_parse_cm() - parse a CM message
 * @payload: UDP payload, from the BTH on, of a UD SEND to QP 1
 * @avail: readable bytes of @payload
 * @cm: result
 *
 * Context: any.
 * Return: true if the message is a REQ, REP or DREQ.
 */
bool iqcn_parse_cm(const u8 *payload, u32 avail, struct iqcn_cm *cm)
{
	const u8 *mad = payload + CM_MAD;

	if (avail < CM_LEN)
		return false;
	if (mad[0] != MAD_BASE_VERSION || mad[1] != MAD_CLASS_CM ||
	    mad[2] != MAD_CLASS_VERSION || mad[3] != MAD_METHOD_SEND)
		return false;

	cm->attr = get_unaligned_be16(payload + CM_MAD_ATTR);
	cm->local_id = get_unaligned_be32(payload + CM_LOCAL_ID);
	cm->remote_id = 0;
	switch (cm->attr) {
	case IQCN_CM_REQ:
		cm->qpn = get_unaligned_be32(payload + CM_REQ_QPN) >> 8;
		return true;
	case IQCN_CM_REP:
		cm->remote_id = get_unaligned_be32(payload + CM_REMOTE_ID);
		cm->qpn = get_unaligned_be32(payload + CM_REP_QPN) >> 8;
		return true;
	case IQCN_CM_DREQ:
		cm->remote_id = get_unaligned_be32(payload + CM_REMOTE_ID);
		cm->qpn = get_unaligned_be32(payload + CM_DREQ_QPN) >> 8;
		return true;
	default:
		return false;
	}
}
