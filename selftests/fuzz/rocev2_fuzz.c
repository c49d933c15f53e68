// SPDX-License-Identifier: GPL-2.0
/*
 * The parsers of RoCEv2 packets (kmod/rocev2.c) and of MAC control frames
 * (kmod/algo/macctl.h) as a program for libFuzzer.
 *
 * The first byte of an input selects the test, and the rest is
 *   - a packet to parse, in an allocation of its own so that reads beyond its
 *     end are detected.  The verdict must agree with the rules of this file,
 *     which are written independently of the parser, and a CNP with a valid
 *     ICRC must be equal to the one built from the parsed fields;
 *   - or the fields of a CNP to build, which the parser must return;
 *   - or a MAC control frame, likewise in an allocation of its own.
 */
#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/macctl.h"
#include "algo/pairing.h"
#include "rocev2.h"

/* First byte of an input */
#define ASK_PROTO	0x07	/* EtherType, see protos[] */
#define ASK_TAGGED	0x08	/* a VLAN tag was stripped from the packet */
#define ASK_LONGER	0x10	/* only a part of the packet is readable */
#define ASK_MACCTL	0x40	/* the rest is a MAC control frame */
#define ASK_BUILD	0x80	/* the rest is a CNP to build */

static const u16 protos[ASK_PROTO + 1] = {
	ETH_P_IP, ETH_P_IPV6, ETH_P_8021Q, ETH_P_8021AD, ETH_P_ARP, 0,
	ETH_P_IP, ETH_P_IPV6,
};

#define want(_cond) do {						\
	if (!(_cond)) {							\
		fprintf(stderr, "%s:%d: %s does not hold\n", __func__,	\
			__LINE__, #_cond);				\
		abort();						\
	}								\
} while (0)

static u32 be(const u8 *p, int bytes)
{
	u32 v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

/* Compute the ICRC bit by bit; the packet starts at IP and lacks the ICRC */
static u32 slow_icrc(const u8 *l3, u32 len, bool v6)
{
	u32 udp = v6 ? 40 : 20, i, crc = 0xffffffff;
	int bit;

	for (i = 0; i < 8 + len; i++) {
		u32 at = i - 8;
		u8 byte = i < 8 ? 0xff : l3[at];

		if (i < 8)
			;
		else if (v6 && at == 0)
			byte |= 0x0f;
		else if (v6 && (at <= 3 || at == 7))
			byte = 0xff;
		else if (!v6 && (at == 1 || at == 8 || at == 10 || at == 11))
			byte = 0xff;
		if (i >= 8 && (at == udp + 6 || at == udp + 7 || at == udp + 12))
			byte = 0xff;
		crc ^= byte;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static u16 slow_sum(const u8 *p, u32 len, u32 sum)
{
	u32 i;

	for (i = 0; i < len; i++)
		sum += p[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Is @addr an IPv4-mapped IPv6 address? */
static bool is_v4mapped(const u8 *addr)
{
	return !memcmp(addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
}

/* Is the packet complete RoCEv2 over plain IP and UDP?  @avail bytes of it are
 * readable.  Return: the offset of UDP, 0 if the packet is something else.
 */
static u32 plain_roce(const u8 *p, u32 avail, u32 total, u16 proto, bool tagged)
{
	u32 off = 0, tags = tagged, udp, end, len;

	while (proto == ETH_P_8021Q || proto == ETH_P_8021AD) {
		if (++tags > IQCN_VLANS || avail < off + 4)
			return 0;
		proto = be(p + off + 2, 2);
		off += 4;
	}
	if (proto == ETH_P_IP) {
		if (avail < off + 20 || p[off] != 0x45 || p[off + 9] != 17 ||
		    (be(p + off + 6, 2) & 0x3fff))
			return 0;
		udp = off + 20;
		end = off + be(p + off + 2, 2);
	} else if (proto == ETH_P_IPV6) {
		if (avail < off + 40 || p[off] >> 4 != 6 || p[off + 6] != 17 ||
		    is_v4mapped(p + off + 8) || is_v4mapped(p + off + 24))
			return 0;
		udp = off + 40;
		end = udp + be(p + off + 4, 2);
	} else {
		return 0;
	}
	if (end > total || avail < udp + 20 || be(p + udp + 2, 2) != 4791)
		return 0;
	len = be(p + udp + 4, 2);
	if (len < 24 || udp + len > end || (p[udp + 9] & 0x0f))
		return 0;
	return p[udp + 8] == 0x81 && len != 40 ? 0 : udp;
}

static void check_cnp(const u8 *l3, const struct iqcn_pkt *pkt)
{
	u32 len = pkt->udp_off - pkt->l3_off + 40, udp = len - 40;
	struct iqcn_cnp cnp = {
		.src = pkt->src,
		.dst = pkt->dst,
		.dest_qp = pkt->dest_qp,
		.pkey = pkt->pkey,
		.sport = pkt->sport,
		.id = iqcn_l3_id(l3, pkt->v6),
		.tos = pkt->v6 ? be(l3, 2) >> 4 : l3[1],
		.ttl = l3[pkt->v6 ? 7 : 8],
		.v6 = pkt->v6,
	};
	bool ok = iqcn_icrc_ok(l3, len, pkt->v6);
	u8 built[IQCN_CNP_MAX_LEN];

	want(ok == (le32_to_cpu(iqcn_icrc(l3, len - 4, pkt->v6)) ==
		    (be(l3 + len - 4, 1) | be(l3 + len - 3, 1) << 8 |
		     be(l3 + len - 2, 1) << 16 | be(l3 + len - 1, 1) << 24)));
	want(le32_to_cpu(iqcn_icrc(l3, len - 4, pkt->v6)) ==
	     slow_icrc(l3, len - 4, pkt->v6));
	if (!ok)
		return;
	/* iqcn_build_cnp() makes only CNPs without BTH flags, with PSN 0 and,
	 * over IPv4, with DF
	 */
	if (l3[udp + 9] || be(l3 + udp + 16, 4) ||
	    (!pkt->v6 && be(l3 + 6, 2) != 0x4000))
		return;
	memcpy(cnp.reserved, l3 + udp + 20, sizeof(cnp.reserved));
	want(iqcn_build_cnp(built, &cnp) == len);
	/* if the ICRCs are equal, so are all fields that they cover */
	want(!memcmp(built + len - 4, l3 + len - 4, 4));
}

static bool parse_cm_alone(const u8 *payload, u32 len, struct iqcn_cm *cm)
{
	u8 *alone = malloc(len);
	bool is;

	memcpy(alone, payload, len);
	is = iqcn_parse_cm(alone, len, cm);
	free(alone);
	return is;
}

static void check_cm(const u8 *payload, u32 avail)
{
	struct iqcn_cm cm, cut;
	u32 len;

	if (!parse_cm_alone(payload, avail, &cm))
		return;
	want(cm.qpn <= IQCN_QPN_MASK);
	want(cm.attr == IQCN_CM_REQ || cm.attr == IQCN_CM_REP ||
	     cm.attr == IQCN_CM_DREQ);
	want(cm.attr == be(payload + 36, 2));
	want(cm.local_id == be(payload + 44, 4));
	want(cm.remote_id == (cm.attr == IQCN_CM_REQ ?
			      0 : be(payload + 48, 4)));
	for (len = 0; len < avail; len++)
		want(parse_cm_alone(payload, len, &cut) == (len >= 92));
}

static void check_roce(const u8 *p, u32 avail, u32 udp,
		       const struct iqcn_pkt *pkt)
{
	const u8 *bth = p + udp + 8;

	want(pkt->udp_off == udp);
	want(pkt->l3_off == udp - (pkt->v6 ? 40 : 20));
	want(pkt->sport == be(p + udp, 2));
	want(pkt->udp_len == be(p + udp + 4, 2));
	want(pkt->opcode == bth[0]);
	want(pkt->pkey == be(bth + 2, 2));
	want(pkt->dest_qp == be(bth + 5, 3));
	want(pkt->psn == be(bth + 9, 3));
	if (pkt->v6) {
		want(!memcmp(&pkt->src, p + pkt->l3_off + 8, 16));
		want(!memcmp(&pkt->dst, p + pkt->l3_off + 24, 16));
	} else {
		want(!memcmp(&pkt->src.s6_addr[12], p + pkt->l3_off + 12, 4));
		want(!memcmp(&pkt->dst.s6_addr[12], p + pkt->l3_off + 16, 4));
	}
	/* a CNP is not data, and only data is echoed */
	want(!iqcn_op_is_data(bth[0]) || bth[0] != IQCN_OP_CNP);
	want(!iqcn_op_is_echoed(bth[0]) || iqcn_op_is_data(bth[0]));
	if (pkt->opcode == IQCN_OP_CNP)
		check_cnp(p + pkt->l3_off, pkt);
	check_cm(bth, avail - udp - 8);
}

static void check_parse(u8 ask, const u8 *data, size_t size)
{
	u32 avail = size < IQCN_PARSE_MAX ? size : IQCN_PARSE_MAX;
	u32 total = size + (ask & ASK_LONGER ? 1000 : 0);
	struct iqcn_pkt pkt = {}, other;
	u16 proto = protos[ask & ASK_PROTO];
	enum iqcn_parsed parsed;
	u8 *p = malloc(avail);
	u32 udp;

	/* if less than IQCN_PARSE_MAX is readable, it is the whole packet */
	if (total > avail && avail < IQCN_PARSE_MAX)
		total = avail;
	memcpy(p, data, avail);
	memset(&other, 0xff, sizeof(other));
	if (ask & ASK_TAGGED) {
		pkt.vlan[0].proto = htons(ETH_P_8021Q);
		pkt.vlan[0].tci = 7;
	}
	memcpy(other.vlan, pkt.vlan, sizeof(pkt.vlan));
	parsed = iqcn_parse(p, avail, total, htons(proto), &pkt);
	want(parsed == iqcn_parse(p, avail, total, htons(proto), &other));
	udp = plain_roce(p, avail, total, proto, ask & ASK_TAGGED);
	want((parsed == IQCN_ROCE) == !!udp);
	if (udp) {
		/* all fields are written, whatever they contained before */
		want(!memcmp(&pkt.src, &other.src, sizeof(pkt.src)));
		want(!memcmp(&pkt.dst, &other.dst, sizeof(pkt.dst)));
		want(pkt.udp_off == other.udp_off && pkt.v6 == other.v6);
		check_roce(p, avail, udp, &pkt);
	}
	free(p);
}

static void take(void *to, size_t len, const u8 **data, size_t *size)
{
	size_t n = len < *size ? len : *size;

	memcpy(to, *data, n);
	*data += n;
	*size -= n;
}

static void check_build(u8 ask, const u8 *data, size_t size)
{
	struct iqcn_cnp cnp = { .v6 = ask & 1 };
	struct iqcn_pkt pkt = {};
	u32 len, udp;
	u8 *l3;

	take(&cnp.src, 16, &data, &size);
	take(&cnp.dst, 16, &data, &size);
	take(&cnp.dest_qp, 4, &data, &size);
	take(&cnp.pkey, 2, &data, &size);
	take(&cnp.sport, 2, &data, &size);
	take(&cnp.id, 4, &data, &size);
	take(&cnp.tos, 1, &data, &size);
	take(&cnp.ttl, 1, &data, &size);
	take(cnp.reserved, 16, &data, &size);
	cnp.id &= cnp.v6 ? 0xfffff : 0xffff;
	if (cnp.v6) {
		/* avoid IPv4-mapped addresses */
		cnp.src.s6_addr[0] |= 0x20;
		cnp.dst.s6_addr[0] |= 0x20;
	} else {
		memset(&cnp.src, 0, 10);
		memset(&cnp.src.s6_addr[10], 0xff, 2);
		memcpy(&cnp.dst, &cnp.src, 12);
	}
	l3 = malloc(IQCN_CNP_MAX_LEN);
	len = iqcn_build_cnp(l3, &cnp);
	udp = cnp.v6 ? 40 : 20;
	want(len == udp + 40);
	want(iqcn_parse(l3, len, len, htons(cnp.v6 ? ETH_P_IPV6 : ETH_P_IP),
			&pkt) == IQCN_ROCE);
	want(plain_roce(l3, len, len, cnp.v6 ? ETH_P_IPV6 : ETH_P_IP, false) ==
	     udp);
	check_roce(l3, len, udp, &pkt);
	want(!memcmp(&pkt.src, &cnp.src, 16) && !memcmp(&pkt.dst, &cnp.dst, 16));
	want(pkt.opcode == 0x81 && pkt.psn == 0);
	want(pkt.dest_qp == (cnp.dest_qp & 0xffffff));
	want(pkt.pkey == cnp.pkey && pkt.sport == cnp.sport);
	want(pkt.v6 == cnp.v6);
	want(iqcn_l3_id(l3, cnp.v6) == cnp.id);
	want((cnp.v6 ? be(l3, 2) >> 4 & 0xff : l3[1]) == cnp.tos);
	want(l3[cnp.v6 ? 7 : 8] == cnp.ttl);
	want(!memcmp(l3 + udp + 20, cnp.reserved, 16));
	want(iqcn_icrc_ok(l3, len, cnp.v6));
	want(slow_icrc(l3, len - 4, cnp.v6) ==
	     le32_to_cpu(iqcn_icrc(l3, len - 4, cnp.v6)));
	if (cnp.v6) {
		want(be(l3 + udp + 6, 2));
		want(slow_sum(l3 + udp, 40, slow_sum(l3 + 8, 32, 17 + 40)) ==
		     0xffff);
	} else {
		want(!be(l3 + udp + 6, 2));
		want(slow_sum(l3, 20, 0) == 0xffff);
	}
	free(l3);
}

static void check_macctl(const u8 *data, size_t size)
{
	u32 len = size < IQCN_MACCTL_PFC_LEN ? size : IQCN_MACCTL_PFC_LEN, i;
	struct iqcn_macctl frame;
	u8 *p = malloc(len);
	bool pause, pfc;

	memcpy(p, data, len);
	pause = len >= 4 && be(p, 2) == 1;
	pfc = len >= 20 && be(p, 2) == 0x101;
	want(iqcn_macctl_parse(p, len, &frame) == (pause || pfc));
	if (pause || pfc)
		want(frame.classes == (pause ? 0xff : p[3]));
	for (i = 0; (pause || pfc) && i < 8; i++)
		want(frame.quanta[i] == be(p + (pause ? 2 : 4 + 2 * i), 2));
	free(p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & ASK_BUILD)
		check_build(data[0], data + 1, size - 1);
	else if (data[0] & ASK_MACCTL)
		check_macctl(data + 1, size - 1);
	else
		check_parse(data[0], data + 1, size - 1);
	return 0;
}
