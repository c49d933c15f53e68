/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 on the wire: parser, ICRC and CNP.
 *
 * Sources: IBTA Annex A17 (RoCEv2; CNP: A17.9.3), IBTA spec vol. 1 chapter 9
 * (BTH) and 12 (CM messages).  Pure: works on bytes, without an sk_buff.
 */
#ifndef _IQCN_ROCEV2_H
#define _IQCN_ROCEV2_H

#include <linux/bits.h>
#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/types.h>

#define IQCN_ROCEV2_PORT	4791

/* Bytes after the Ethernet header that suffice to parse any RoCEv2 packet: two
 * VLAN tags, an IPv6 header, UDP, BTH and DETH, and the start of a CM message
 */
#define IQCN_PARSE_MAX		192

#define IQCN_ICRC_LEN		4
#define IQCN_UDP_LEN		8
#define IQCN_BTH_LEN		12
#define IQCN_CNP_RSVD_LEN	16
/* UDP length of a CNP, and its largest length from L3 to ICRC */
#define IQCN_CNP_UDP_LEN	(IQCN_UDP_LEN + IQCN_BTH_LEN + \
				 IQCN_CNP_RSVD_LEN + IQCN_ICRC_LEN)
#define IQCN_CNP_MAX_LEN	(40 + IQCN_CNP_UDP_LEN)

/* BTH opcodes: transport in the upper three bits, operation below */
#define IQCN_OP_UD_SEND_ONLY	0x64
#define IQCN_OP_CNP		0x81

#define IQCN_QP1		1

/* A VLAN tag */
struct iqcn_vlan {
	__be16 proto;	/* EtherType, 0: no tag */
	u16 tci;	/* PCP, DEI, VID */
};

#define IQCN_VLANS 2
#define IQCN_VID_MASK 0x0fff

/* Flags above the VID in a packed tag: present, service tag (802.1ad) */
#define IQCN_VLAN_TAGGED 0x1000
#define IQCN_VLAN_SERVICE 0x2000

/**
 * iqcn_vlan_pack() - pack a tag into 16 bits for a flow
 * @v: tag, or none
 *
 * Return: the VID, with flags for the EtherType; 0: no tag.
 */
static inline u16 iqcn_vlan_pack(const struct iqcn_vlan *v)
{
	if (!v->proto)
		return 0;
	return (v->tci & IQCN_VID_MASK) | IQCN_VLAN_TAGGED |
	       (v->proto == htons(ETH_P_8021AD) ? IQCN_VLAN_SERVICE : 0);
}

/**
 * iqcn_vlan_unpack() - restore a tag
 * @v: set to the tag with priority 0, or to none
 * @packed: return value of iqcn_vlan_pack()
 */
static inline void iqcn_vlan_unpack(struct iqcn_vlan *v, u16 packed)
{
	v->tci = packed & IQCN_VID_MASK;
	v->proto = 0;
	if (packed & IQCN_VLAN_TAGGED)
		v->proto = htons(packed & IQCN_VLAN_SERVICE ? ETH_P_8021AD :
							      ETH_P_8021Q);
}

/* Do two arrays of IQCN_VLANS tags have the same EtherTypes and VIDs? */
static inline bool iqcn_vlans_equal(const struct iqcn_vlan *a,
				    const struct iqcn_vlan *b)
{
	int i;

	for (i = 0; i < IQCN_VLANS; i++)
		if (a[i].proto != b[i].proto ||
		    (a[i].tci ^ b[i].tci) & IQCN_VID_MASK)
			return false;
	return true;
}

/* struct iqcn_pkt - a parsed RoCEv2 packet */
struct iqcn_pkt {
	struct in6_addr src;	/* IPv4 as v4-mapped */
	struct in6_addr dst;
	struct iqcn_vlan vlan[IQCN_VLANS]; /* outermost first; the caller stores
					    * a tag outside of the data (the
					    * sk_buff's) in vlan[0] before
					    * parsing
					    */
	u16 l3_off;		/* offset of the IP header in the data */
	u16 udp_off;		/* offset of the UDP header in the data */
	u16 udp_len;		/* UDP length, header and ICRC included */
	u16 sport;		/* UDP source port */
	u32 dest_qp;
	u32 psn;
	u16 pkey;
	u8 opcode;		/* of the BTH */
	bool v6;
};

/**
 * enum iqcn_parsed - result of the parser
 * @IQCN_NOT_ROCE: not sent to the UDP port of RoCEv2, or the port is not found:
 *	a later fragment, too many VLAN tags or extension headers
 * @IQCN_MALFORMED: sent to that port, but not RoCEv2: truncated, a first
 *	fragment, with IP options or extension headers, or with a wrong length,
 *	version or address
 * @IQCN_ROCE: RoCEv2
 */
enum iqcn_parsed {
	IQCN_NOT_ROCE,
	IQCN_MALFORMED,
	IQCN_ROCE,
};

enum iqcn_parsed iqcn_parse(const u8 *data, u32 avail, u32 total, __be16 proto,
			    struct iqcn_pkt *pkt);

/* Bits of iqcn_op_class[], which the functions below explain */
#define IQCN_OP_DATA	BIT(0)
#define IQCN_OP_ECHOED	BIT(1)
#define IQCN_OP_ECHO	BIT(2)

extern const u8 iqcn_op_class[256];

/* Does the sender's rate control pace packets with this BTH opcode?  True for
 * requests and READ responses of RC, UC and XRC, but not for acknowledgments.
 */
static inline bool iqcn_op_is_data(u8 opcode)
{
	return iqcn_op_class[opcode] & IQCN_OP_DATA;
}

/* Does a response carry the PSN of the packet?  True for requests of RC and
 * XRC.
 */
static inline bool iqcn_op_is_echoed(u8 opcode)
{
	return iqcn_op_class[opcode] & IQCN_OP_ECHOED;
}

/* Does the packet carry the PSN of a request?  True for READ responses, ACK,
 * NAK and atomic ACK of RC and XRC.
 */
static inline bool iqcn_op_is_echo(u8 opcode)
{
	return iqcn_op_class[opcode] & IQCN_OP_ECHO;
}

__le32 iqcn_icrc(const u8 *l3, u32 len, bool v6);
bool iqcn_icrc_ok(const u8 *l3, u32 len, bool v6);

/* struct iqcn_cnp - a CNP to build */
struct iqcn_cnp {
	struct in6_addr src;	/* the receiver of the flow */
	struct in6_addr dst;	/* the sender of the flow */
	u32 dest_qp;		/* the sender's QP */
	u16 pkey;		/* P_Key of the flow */
	u16 sport;		/* UDP source port */
	u32 id;			/* IPv4 identification, or IPv6 flow label */
	u8 tos;			/* ToS or traffic class, with the ECN bits */
	u8 ttl;			/* TTL or hop limit */
	bool v6;
	u8 reserved[IQCN_CNP_RSVD_LEN]; /* 0, telemetry or a grant */
};

u32 iqcn_build_cnp(u8 *l3, const struct iqcn_cnp *cnp);
u32 iqcn_l3_id(const u8 *l3, bool v6);

/* CM messages that are parsed: attribute IDs of class 7 */
#define IQCN_CM_REQ	0x0010
#define IQCN_CM_REP	0x0013
#define IQCN_CM_DREQ	0x0015

/* struct iqcn_cm - a parsed CM message */
struct iqcn_cm {
	u16 attr;	/* IQCN_CM_REQ, IQCN_CM_REP or IQCN_CM_DREQ */
	u32 local_id;	/* communication ID of the sender */
	u32 remote_id;	/* communication ID of the other side, 0 in a REQ */
	u32 qpn;	/* QP of the sender; in a DREQ, of the other side */
};

bool iqcn_parse_cm(const u8 *payload, u32 avail, struct iqcn_cm *cm);

#endif /* _IQCN_ROCEV2_H */
