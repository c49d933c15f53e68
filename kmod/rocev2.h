/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 on the wire: what is in a packet, and how a CNP is built.
 *
 * Sources: IBTA Annex A17 (RoCEv2; CNP: A17.9.3), IBTA spec vol. 1 chapter 9
 * (BTH) and 12 (CM messages).  Pure: works on bytes, knows no sk_buff.
 */
#ifndef _IQCN_ROCEV2_H
#define _IQCN_ROCEV2_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/types.h>

#define IQCN_ROCEV2_PORT	4791

/* As many bytes from L3 on as any question here can ask for: two VLAN tags,
 * an IPv6 header, UDP, BTH and DETH, the part of a CM message that is read.
 */
#define IQCN_PARSE_MAX		192

#define IQCN_ICRC_LEN		4
#define IQCN_UDP_LEN		8
#define IQCN_BTH_LEN		12
#define IQCN_CNP_RSVD_LEN	16
/* UDP length of a CNP, and length of one from L3 to ICRC */
#define IQCN_CNP_UDP_LEN	(IQCN_UDP_LEN + IQCN_BTH_LEN + \
				 IQCN_CNP_RSVD_LEN + IQCN_ICRC_LEN)
#define IQCN_CNP_MAX_LEN	(40 + IQCN_CNP_UDP_LEN)

/* BTH opcodes: transport in the upper three bits, operation below */
#define IQCN_OP_UD_SEND_ONLY	0x64
#define IQCN_OP_CNP		0x81

#define IQCN_QP1		1

/**
 * struct iqcn_vlan - a VLAN tag
 * @proto: its EtherType, 0: none
 * @tci: PCP, DEI, VID
 */
struct iqcn_vlan {
	__be16 proto;
	u16 tci;
};

#define IQCN_VLANS 2
#define IQCN_VID_MASK 0x0fff

/* Above the VID of a tag in 16 bits: there is one, and it is not a customer's */
#define IQCN_VLAN_TAGGED 0x1000
#define IQCN_VLAN_SERVICE 0x2000

/**
 * iqcn_vlan_pack() - what a flow keeps of a tag
 * @v: tag, or none
 *
 * Return: its VID and which of the two EtherTypes that the parser knows it has.
 */
static inline u16 iqcn_vlan_pack(const struct iqcn_vlan *v)
{
	if (!v->proto)
		return 0;
	return (v->tci & IQCN_VID_MASK) | IQCN_VLAN_TAGGED |
	       (v->proto == htons(ETH_P_8021AD) ? IQCN_VLAN_SERVICE : 0);
}

/**
 * iqcn_vlan_unpack() - the tag again
 * @v: is set to it, with priority 0, or to none
 * @packed: what iqcn_vlan_pack() returned
 */
static inline void iqcn_vlan_unpack(struct iqcn_vlan *v, u16 packed)
{
	v->tci = packed & IQCN_VID_MASK;
	v->proto = 0;
	if (packed & IQCN_VLAN_TAGGED)
		v->proto = htons(packed & IQCN_VLAN_SERVICE ? ETH_P_8021AD :
							      ETH_P_8021Q);
}

/**
 * iqcn_vlans_equal() - are these the same VLANs?
 * @a: tags, IQCN_VLANS of them
 * @b: others
 *
 * Return: true if so, whatever their priorities.
 */
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

/**
 * struct iqcn_pkt - a RoCEv2 packet as parsed
 * @src: source address, IPv4 as v4-mapped
 * @dst: destination address likewise
 * @vlan: tags, outermost first; the caller puts the one outside of the
 *	packet (sk_buff's) in @vlan[0] before it parses
 * @l3_off: where the IP header is, from where parsing began
 * @udp_off: where the UDP header is, likewise
 * @udp_len: UDP length, header and ICRC included
 * @sport: UDP source port
 * @dest_qp: DestQP
 * @psn: PSN
 * @pkey: P_Key
 * @opcode: BTH opcode
 * @v6: IPv6
 */
struct iqcn_pkt {
	struct in6_addr src;
	struct in6_addr dst;
	struct iqcn_vlan vlan[IQCN_VLANS];
	u16 l3_off;
	u16 udp_off;
	u16 udp_len;
	u16 sport;
	u32 dest_qp;
	u32 psn;
	u16 pkey;
	u8 opcode;
	bool v6;
};

/**
 * enum iqcn_parsed - what a packet is
 * @IQCN_NOT_ROCE: something else
 * @IQCN_MALFORMED: goes to RoCEv2's port, but is not RoCEv2: truncated, a
 *	fragment, with IP options or extension headers, with wrong lengths
 * @IQCN_ROCE: RoCEv2
 */
enum iqcn_parsed {
	IQCN_NOT_ROCE,
	IQCN_MALFORMED,
	IQCN_ROCE,
};

enum iqcn_parsed iqcn_parse(const u8 *data, u32 avail, u32 total, __be16 proto,
			    struct iqcn_pkt *pkt);

/**
 * iqcn_op_is_data() - does a sender's rate control pace this packet?
 * @opcode: BTH opcode
 *
 * RC, UC and XRC; requests and READ responses, but no acknowledge.
 *
 * Return: true if so.
 */
static inline bool iqcn_op_is_data(u8 opcode)
{
	u8 op = opcode & 0x1f;

	switch (opcode >> 5) {
	case 0:	/* RC */
	case 5:	/* XRC */
		return op <= 0x10 || op == 0x13 || op == 0x14 ||
		       op == 0x16 || op == 0x17;
	case 1:	/* UC */
		return op <= 0x0b;
	default:
		return false;
	}
}

/**
 * iqcn_op_is_echoed() - does a response carry this packet's PSN?
 * @opcode: BTH opcode
 *
 * RC and XRC: requests.
 *
 * Return: true if so.
 */
static inline bool iqcn_op_is_echoed(u8 opcode)
{
	u8 op = opcode & 0x1f;

	return opcode >> 5 != 1 && iqcn_op_is_data(opcode) &&
	       (op < 0x0d || op > 0x12);
}

/**
 * iqcn_op_is_echo() - does the packet carry the PSN of a request?
 * @opcode: BTH opcode
 *
 * RC and XRC: READ responses, ACK and NAK, atomic ACK.
 *
 * Return: true if so.
 */
static inline bool iqcn_op_is_echo(u8 opcode)
{
	u8 op = opcode & 0x1f;

	return (opcode >> 5 == 0 || opcode >> 5 == 5) &&
	       op >= 0x0d && op <= 0x12;
}

__le32 iqcn_icrc(const u8 *l3, u32 len, bool v6);
bool iqcn_icrc_ok(const u8 *l3, u32 len, bool v6);

/**
 * struct iqcn_cnp - a CNP to build
 * @src: who seems to send it: the receiver of the flow
 * @dst: to whom: the sender of the flow
 * @dest_qp: the sender's QP
 * @pkey: P_Key of the flow
 * @sport: UDP source port
 * @id: IPv4 identification, or IPv6 flow label
 * @tos: ToS or traffic class, ECN bits included
 * @ttl: TTL or hop limit
 * @v6: IPv6
 * @reserved: what follows the BTH, 0 but for telemetry.h
 */
struct iqcn_cnp {
	struct in6_addr src;
	struct in6_addr dst;
	u32 dest_qp;
	u16 pkey;
	u16 sport;
	u32 id;
	u8 tos;
	u8 ttl;
	bool v6;
	u8 reserved[IQCN_CNP_RSVD_LEN];
};

u32 iqcn_build_cnp(u8 *l3, const struct iqcn_cnp *cnp);
u32 iqcn_l3_id(const u8 *l3, bool v6);

/* CM messages that matter here (attribute ids of class 7) */
#define IQCN_CM_REQ	0x0010
#define IQCN_CM_REP	0x0013
#define IQCN_CM_DREQ	0x0015

/**
 * struct iqcn_cm - a message of connection set-up
 * @attr: IQCN_CM_REQ, _REP or _DREQ
 * @local_id: communication id of who sends it
 * @remote_id: that of the other side; not in a REQ
 * @qpn: REQ, REP: QP of who sends it; DREQ: QP of the other side
 */
struct iqcn_cm {
	u16 attr;
	u32 local_id;
	u32 remote_id;
	u32 qpn;
};

bool iqcn_parse_cm(const u8 *payload, u32 avail, struct iqcn_cm *cm);

#endif /* _IQCN_ROCEV2_H */
