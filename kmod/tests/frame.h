/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 packets, written byte by byte, and their ICRC, computed bit by bit
 */
#ifndef _IQCN_TESTS_FRAME_H
#define _IQCN_TESTS_FRAME_H

#include <linux/string.h>
#include <net/ipv6.h>

#include "rocev2.h"
#include "tests.h"

static inline void put16(u8 *p, u16 v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static inline u16 get16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

/* CRC-32 bit by bit */
static inline u32 ref_crc(u32 crc, u8 byte)
{
	int i;

	crc ^= byte;
	for (i = 0; i < 8; i++)
		crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	return crc;
}

/* Bits that count as ones for the ICRC, by offset from L3: A17.3.3 */
struct icrc_mask {
	const char *name;
	u8 off;
	u8 bits;
	bool v6;
};

static const struct icrc_mask icrc_masks[] = {
	{ "ToS",		1,	0xff,	false },
	{ "TTL",		8,	0xff,	false },
	{ "IP checksum",	10,	0xff,	false },
	{ "IP checksum",	11,	0xff,	false },
	{ "UDP checksum",	26,	0xff,	false },
	{ "UDP checksum",	27,	0xff,	false },
	{ "BECN",		32,	0xff,	false },
	{ "traffic class",	0,	0x0f,	true },
	{ "tc, flow label",	1,	0xff,	true },
	{ "flow label",		2,	0xff,	true },
	{ "flow label",		3,	0xff,	true },
	{ "hop limit",		7,	0xff,	true },
	{ "UDP checksum",	46,	0xff,	true },
	{ "UDP checksum",	47,	0xff,	true },
	{ "BECN",		52,	0xff,	true },
};

static inline u8 ref_mask(u32 off, bool v6)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(icrc_masks); i++)
		if (icrc_masks[i].v6 == v6 && icrc_masks[i].off == off)
			return icrc_masks[i].bits;
	return 0;
}

static inline u32 ref_icrc(const u8 *l3, u32 len, bool v6)
{
	u32 crc = U32_MAX, i;

	for (i = 0; i < 8; i++)
		crc = ref_crc(crc, 0xff);
	for (i = 0; i < len; i++)
		crc = ref_crc(crc, l3[i] | ref_mask(i, v6));
	return ~crc;
}

static inline void put_ref_icrc(u8 *l3, u32 len, bool v6)
{
	u32 icrc = ref_icrc(l3, len, v6), i;

	for (i = 0; i < 4; i++)
		l3[len + i] = icrc >> 8 * i;
}

/* Ones' complement sum of an even number of bytes: 0xffff if they include a
 * correct checksum
 */
static inline u16 ref_sum(const u8 *p, u32 len, u32 sum)
{
	u32 i;

	for (i = 0; i < len; i += 2)
		sum += get16(p + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Kinds of packets: opcode, and number of bytes between the BTH and the ICRC */
struct kind {
	const char *name;
	u8 opcode;
	u8 extra;
};

enum { DATA, CNP, ACK, N_KINDS, BARE = N_KINDS, CNP_SHORT, CNP_LONG };

static const struct kind kinds[] = {
	[DATA] = { "data", 0x04, 32 },
	[CNP] = { "CNP", 0x81, 16 },
	[ACK] = { "ACK", 0x11, 4 },
	[BARE] = { "nothing after the BTH", 0x04, 0 },
	[CNP_SHORT] = { "short CNP", 0x81, 15 },
	[CNP_LONG] = { "long CNP", 0x81, 17 },
};

struct tags {
	const char *name;
	u8 outside;
	u8 in_band;
};

static const struct tags tags[] = {
	{ "untagged",		0, 0 },
	{ "VLAN",		0, 1 },
	{ "QinQ",		0, 2 },
	{ "VLAN outside",	1, 0 },
	{ "one of two outside",	1, 1 },
};

struct frame {
	u8 data[256];
	u32 len;
	u16 proto;
	char name[64];
	struct iqcn_vlan outside;
	struct iqcn_pkt want;
};

#define SRC4		0x0a010203
#define DST4		0xc0a80a0b
#define SPORT		0xc0de
#define PKEY		0x8001
#define DEST_QP		0x123456
#define PSN		0xabcdef
#define V4_UDP		20
#define V4_BTH		28
#define V6_UDP		40
#define V6_BTH		48

static const u8 src6[16] = {
	0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
};

static const u8 dst6[16] = {
	0xfd, 0, 0, 0, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

static inline void mapped(struct in6_addr *a, u32 ip4)
{
	memset(a, 0, sizeof(*a));
	put16(a->s6_addr + 10, 0xffff);
	put16(a->s6_addr + 12, ip4 >> 16);
	put16(a->s6_addr + 14, ip4);
}

static inline u32 make_l3(struct frame *f, u8 *p, bool v6, u16 udp_len)
{
	if (v6) {
		put16(p, 0x6c2a);
		put16(p + 2, 0xbcde);
		put16(p + 4, udp_len);
		put16(p + 6, 0x1140);
		memcpy(p + 8, src6, 16);
		memcpy(p + 24, dst6, 16);
		memcpy(&f->want.src, src6, 16);
		memcpy(&f->want.dst, dst6, 16);
		return V6_UDP;
	}
	put16(p, 0x4502);
	put16(p + 2, V4_UDP + udp_len);
	put16(p + 4, 0x718c);
	put16(p + 6, 0x4000);
	put16(p + 8, 0x4011);
	put16(p + 12, SRC4 >> 16);
	put16(p + 14, SRC4 & 0xffff);
	put16(p + 16, DST4 >> 16);
	put16(p + 18, DST4 & 0xffff);
	put16(p + 10, ~ref_sum(p, V4_UDP, 0));
	mapped(&f->want.src, SRC4);
	mapped(&f->want.dst, DST4);
	return V4_UDP;
}

static inline void make_frame(struct frame *f, const struct tags *t, bool v6,
			      const struct kind *k)
{
	static const u16 tci[] = { 0x6123, 0xc064 };
	int n = t->outside + t->in_band, i;
	u16 udp_len = 8 + 12 + k->extra + 4;
	u16 proto = v6 ? 0x86dd : 0x0800;
	u8 *p = f->data;
	u8 *l3;

	memset(f, 0, sizeof(*f));
	snprintf(f->name, sizeof(f->name), "%s IPv%c %s", t->name,
		 v6 ? '6' : '4', k->name);
	f->proto = t->in_band ? n == 2 && !t->outside ? 0x88a8 : 0x8100 : proto;
	for (i = 0; i < n; i++) {
		f->want.vlan[i].proto = htons(i == 0 && n == 2 ? 0x88a8 :
					      0x8100);
		f->want.vlan[i].tci = tci[i];
		if (i < t->outside) {
			f->outside = f->want.vlan[i];
			continue;
		}
		put16(p, tci[i]);
		put16(p + 2, i == n - 1 ? proto : 0x8100);
		p += 4;
	}

	l3 = p;
	p += make_l3(f, p, v6, udp_len);
	f->want.l3_off = l3 - f->data;
	f->want.udp_off = p - f->data;
	f->want.udp_len = udp_len;
	f->want.sport = SPORT;
	f->want.dest_qp = DEST_QP;
	f->want.psn = PSN;
	f->want.pkey = PKEY;
	f->want.opcode = k->opcode;
	f->want.v6 = v6;

	put16(p, SPORT);
	put16(p + 2, 4791);
	put16(p + 4, udp_len);
	p[8] = k->opcode;
	p[9] = 0xf0;			/* SE, M, pad; TVer 0 */
	put16(p + 10, PKEY);
	put16(p + 12, 0x4000 | DEST_QP >> 16);
	put16(p + 14, DEST_QP & 0xffff);
	put16(p + 16, 0x8000 | PSN >> 16);
	put16(p + 18, PSN & 0xffff);
	for (i = 0; i < k->extra; i++)
		p[20 + i] = 0x55 + i;
	f->len = p + udp_len - f->data;
	put_ref_icrc(l3, f->len - 4 - f->want.l3_off, v6);
}

/* Parse a copy of exactly @avail bytes, so that KASAN finds reads beyond it */
static inline enum iqcn_parsed
parse_copy(struct kunit *test, const struct frame *f, u32 avail, u32 total,
	   struct iqcn_pkt *pkt)
{
	enum iqcn_parsed ret;
	u8 *copy = alloc(test, avail ?: 1);

	memcpy(copy, f->data, avail);
	memset(pkt, 0, sizeof(*pkt));
	pkt->vlan[0] = f->outside;
	ret = iqcn_parse(avail ? copy : copy + 1, avail, total,
			 htons(f->proto), pkt);
	kunit_kfree(test, copy);
	return ret;
}

static inline void expect_pkt(struct kunit *test, const struct frame *f,
			      const struct iqcn_pkt *pkt)
{
	const struct iqcn_pkt *want = &f->want;
	const char *name = f->name;
	int i;

	KUNIT_EXPECT_TRUE_MSG(test, ipv6_addr_equal(&pkt->src, &want->src),
			      "%s: src %pI6c", name, &pkt->src);
	KUNIT_EXPECT_TRUE_MSG(test, ipv6_addr_equal(&pkt->dst, &want->dst),
			      "%s: dst %pI6c", name, &pkt->dst);
	for (i = 0; i < IQCN_VLANS; i++) {
		KUNIT_EXPECT_EQ_MSG(test, ntohs(pkt->vlan[i].proto),
				    ntohs(want->vlan[i].proto), "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, pkt->vlan[i].tci, want->vlan[i].tci,
				    "%s", name);
	}
	KUNIT_EXPECT_EQ_MSG(test, pkt->l3_off, want->l3_off, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, pkt->udp_off, want->udp_off, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, pkt->udp_len, want->udp_len, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, pkt->sport, want->sport, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, pkt->dest_qp, want->dest_qp, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, pkt->psn, want->psn, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, pkt->pkey, want->pkey, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, pkt->opcode, want->opcode, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, pkt->v6, want->v6, "%s", name);
}

/* The IPv6 pseudo-header without the addresses: length and protocol */
#define PSEUDO6 (40 + 17)

#endif /* _IQCN_TESTS_FRAME_H */
