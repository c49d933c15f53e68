// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of everything in sch_iqcn that is pure: parser, ICRC, CNP, CM,
 * marking, detection, reordering, continuity, sampling, learned times, pending CNPs,
 * deadlines, budget, pairing, parameters, shares of the CPUs, and of what goes back to
 * the sender: profile, measures,
 * active flows, PI controller, telemetry.  And of what the tables of flows rest on:
 * that keys which collide in one do not in another.
 *
 * What is expected is written down, or worked out here in another way than
 * the code does; see rocev2.h and the other headers for sources.
 */
#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/prandom.h>
#include <linux/rhashtable.h>
#include <linux/string.h>

#include "../rocev2.c"
#include "../algo/active.h"
#include "../algo/bts.h"
#include "../algo/budget.h"
#include "../algo/continuity.h"
#include "../algo/deadline.h"
#include "../algo/detect.h"
#include "../algo/interval.h"
#include "../algo/lot.h"
#include "../algo/mark.h"
#include "../algo/measure.h"
#include "../algo/pairing.h"
#include "../params.h"
#include "../algo/pending.h"
#include "../algo/pi.h"
#include "../algo/profile.h"
#include "../algo/reorder.h"
#include "../algo/sample.h"
#include "../algo/share.h"
#include "../algo/telemetry.h"

/* every pseudo-random sequence is the same in every run */
#define SEED 20230817

#define SECOND	1000000000ULL

static void put16(u8 *p, u16 v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static u16 get16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

static void *alloc(struct kunit *test, size_t len)
{
	void *p = kunit_kzalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	return p;
}

/* CRC-32 bit by bit */
static u32 ref_crc(u32 crc, u8 byte)
{
	int i;

	crc ^= byte;
	for (i = 0; i < 8; i++)
		crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	return crc;
}

/* What the ICRC takes as ones, from L3 on: A17.3.3 spelled out */
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

static u8 ref_mask(u32 off, bool v6)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(icrc_masks); i++)
		if (icrc_masks[i].v6 == v6 && icrc_masks[i].off == off)
			return icrc_masks[i].bits;
	return 0;
}

static u32 ref_icrc(const u8 *l3, u32 len, bool v6)
{
	u32 crc = U32_MAX, i;

	for (i = 0; i < 8; i++)
		crc = ref_crc(crc, 0xff);
	for (i = 0; i < len; i++)
		crc = ref_crc(crc, l3[i] | ref_mask(i, v6));
	return ~crc;
}

static void put_ref_icrc(u8 *l3, u32 len, bool v6)
{
	u32 icrc = ref_icrc(l3, len, v6), i;

	for (i = 0; i < 4; i++)
		l3[len + i] = icrc >> 8 * i;
}

/* Ones' complement sum of an even number of bytes: 0xffff if a checksum in
 * them is right
 */
static u16 ref_sum(const u8 *p, u32 len, u32 sum)
{
	u32 i;

	for (i = 0; i < len; i += 2)
		sum += get16(p + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/*
 * Packets
 */

/* What follows the BTH */
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

static void mapped(struct in6_addr *a, u32 ip4)
{
	memset(a, 0, sizeof(*a));
	put16(a->s6_addr + 10, 0xffff);
	put16(a->s6_addr + 12, ip4 >> 16);
	put16(a->s6_addr + 14, ip4);
}

static u32 make_l3(struct frame *f, u8 *p, bool v6, u16 udp_len)
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

static void make_frame(struct frame *f, const struct tags *t, bool v6,
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

/* Parses a copy that has not one byte more than @avail */
static enum iqcn_parsed parse_copy(struct kunit *test, const struct frame *f,
				   u32 avail, u32 total, struct iqcn_pkt *pkt)
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

static void expect_pkt(struct kunit *test, const struct frame *f,
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

/* However much of it is cut off, it is not RoCEv2 */
static void expect_truncated(struct kunit *test, const struct frame *f)
{
	struct iqcn_pkt pkt;
	u32 len;

	for (len = 0; len < f->len; len++)
		KUNIT_ASSERT_NE_MSG(test,
				    parse_copy(test, f, len, len, &pkt),
				    IQCN_ROCE, "%s, %u of %u bytes", f->name,
				    len, f->len);
}

static void parse_stack(struct kunit *test, const struct frame *f)
{
	u32 bth_end = f->want.udp_off + 8 + 12;
	struct iqcn_pkt pkt;
	u32 avail;

	KUNIT_ASSERT_EQ_MSG(test, parse_copy(test, f, f->len, f->len, &pkt),
			    IQCN_ROCE, "%s", f->name);
	expect_pkt(test, f, &pkt);
	expect_truncated(test, f);

	/* padding of short Ethernet frames */
	KUNIT_EXPECT_EQ_MSG(test,
			    parse_copy(test, f, f->len + 18, f->len + 18, &pkt),
			    IQCN_ROCE, "%s", f->name);
	expect_pkt(test, f, &pkt);

	/* the packet is whole, but not all of it can be read */
	for (avail = 0; avail < bth_end; avail++)
		KUNIT_ASSERT_NE_MSG(test,
				    parse_copy(test, f, avail, f->len, &pkt),
				    IQCN_ROCE, "%s, %u bytes readable",
				    f->name, avail);
	KUNIT_EXPECT_EQ_MSG(test, parse_copy(test, f, bth_end, f->len, &pkt),
			    IQCN_ROCE, "%s", f->name);
	expect_pkt(test, f, &pkt);
}

static void parse_stacks_test(struct kunit *test)
{
	struct frame *f = alloc(test, sizeof(*f));
	int t, v6, k;

	for (t = 0; t < ARRAY_SIZE(tags); t++) {
		for (v6 = 0; v6 < 2; v6++) {
			for (k = 0; k < N_KINDS; k++) {
				make_frame(f, &tags[t], v6, &kinds[k]);
				parse_stack(test, f);
			}
		}
	}
}

/* One 16-bit word of a right packet changed, or two */
struct odd {
	const char *name;
	bool v6;
	u8 kind;
	enum iqcn_parsed want;
	struct {
		u8 off;
		u16 val;
	} patch[2];
};

static const struct odd odds[] = {
	/* IPv4: 76 bytes of data packet, UDP at 20, BTH at 28 */
	{ "version 5",		0, DATA, IQCN_NOT_ROCE, { { 0, 0x5502 } } },
	{ "version 6 in IPv4",	0, DATA, IQCN_NOT_ROCE, { { 0, 0x6502 } } },
	{ "ihl 4",		0, DATA, IQCN_NOT_ROCE, { { 0, 0x4402 } } },
	{ "ihl 0",		0, DATA, IQCN_NOT_ROCE, { { 0, 0x4002 } } },
	{ "tot_len 0",		0, DATA, IQCN_NOT_ROCE, { { 2, 0 } } },
	{ "tot_len 19",		0, DATA, IQCN_NOT_ROCE, { { 2, 19 } } },
	{ "tot_len 20",		0, DATA, IQCN_MALFORMED, { { 2, 20 } } },
	{ "tot_len 75",		0, DATA, IQCN_MALFORMED, { { 2, 75 } } },
	{ "tot_len 77",		0, DATA, IQCN_MALFORMED, { { 2, 77 } } },
	{ "MF",			0, DATA, IQCN_MALFORMED, { { 6, 0x2000 } } },
	{ "DF and MF",		0, DATA, IQCN_MALFORMED, { { 6, 0x6000 } } },
	{ "offset 8",		0, DATA, IQCN_NOT_ROCE, { { 6, 0x0001 } } },
	{ "offset 32768, MF",	0, DATA, IQCN_NOT_ROCE, { { 6, 0x3000 } } },
	{ "no DF",		0, DATA, IQCN_ROCE, { { 6, 0x0000 } } },
	{ "TCP",		0, DATA, IQCN_NOT_ROCE, { { 8, 0x4006 } } },
	{ "port 4790",		0, DATA, IQCN_NOT_ROCE, { { 22, 4790 } } },
	{ "from 4791 only",	0, DATA, IQCN_NOT_ROCE,
	  { { 20, 4791 }, { 22, 1234 } } },
	{ "UDP length 57",	0, DATA, IQCN_MALFORMED, { { 24, 57 } } },
	{ "UDP length 65535",	0, DATA, IQCN_MALFORMED, { { 24, 65535 } } },
	{ "UDP length 23",	0, DATA, IQCN_MALFORMED, { { 24, 23 } } },
	{ "UDP length 0",	0, DATA, IQCN_MALFORMED, { { 24, 0 } } },
	{ "TVer 1",		0, DATA, IQCN_MALFORMED, { { 28, 0x0401 } } },
	{ "TVer 8",		0, DATA, IQCN_MALFORMED, { { 28, 0x0408 } } },
	{ "no SE, M, pad",	0, DATA, IQCN_ROCE, { { 28, 0x0400 } } },
	{ "CNP as long as data", 0, DATA, IQCN_MALFORMED, { { 28, 0x8100 } } },
	{ "UDP length 39",	0, CNP, IQCN_MALFORMED, { { 24, 39 } } },
	{ "UDP length 41",	0, CNP, IQCN_MALFORMED, { { 24, 41 } } },
	{ "short CNP",		0, CNP_SHORT, IQCN_MALFORMED },
	{ "long CNP",		0, CNP_LONG, IQCN_MALFORMED },
	{ "BTH and ICRC only",	0, BARE, IQCN_ROCE },
	{ "0x80 is no CNP",	0, BARE, IQCN_ROCE, { { 28, 0x8000 } } },
	/* IPv6: 56 bytes after the header, UDP at 40, BTH at 48 */
	{ "version 4 in IPv6",	1, DATA, IQCN_NOT_ROCE, { { 0, 0x4500 } } },
	{ "payload 57",		1, DATA, IQCN_MALFORMED, { { 4, 57 } } },
	{ "payload 55",		1, DATA, IQCN_MALFORMED, { { 4, 55 } } },
	{ "payload 0",		1, DATA, IQCN_MALFORMED, { { 4, 0 } } },
	{ "TCP",		1, DATA, IQCN_NOT_ROCE, { { 6, 0x0640 } } },
	{ "no next header",	1, DATA, IQCN_NOT_ROCE, { { 6, 0x3b40 } } },
	{ "port 4790",		1, DATA, IQCN_NOT_ROCE, { { 42, 4790 } } },
	{ "UDP length 57",	1, DATA, IQCN_MALFORMED, { { 44, 57 } } },
	{ "UDP length 23",	1, DATA, IQCN_MALFORMED, { { 44, 23 } } },
	{ "TVer 2",		1, DATA, IQCN_MALFORMED, { { 48, 0x0402 } } },
	{ "CNP as long as data", 1, DATA, IQCN_MALFORMED, { { 48, 0x8100 } } },
	{ "UDP length 39",	1, CNP, IQCN_MALFORMED, { { 44, 39 } } },
	{ "short CNP",		1, CNP_SHORT, IQCN_MALFORMED },
	{ "long CNP",		1, CNP_LONG, IQCN_MALFORMED },
	{ "BTH and ICRC only",	1, BARE, IQCN_ROCE },
};

static void expect_parsed(struct kunit *test, const struct frame *f,
			  enum iqcn_parsed want, const char *what)
{
	struct iqcn_pkt pkt;

	KUNIT_EXPECT_EQ_MSG(test, parse_copy(test, f, f->len, f->len, &pkt),
			    want, "%s: %s", f->name, what);
	expect_truncated(test, f);
}

static void parse_odd_test(struct kunit *test)
{
	struct frame *f = alloc(test, sizeof(*f));
	int t, i, j;

	for (i = 0; i < ARRAY_SIZE(odds); i++) {
		const struct odd *o = &odds[i];

		for (t = 0; t < ARRAY_SIZE(tags); t++) {
			make_frame(f, &tags[t], o->v6, &kinds[o->kind]);
			for (j = 0; j < ARRAY_SIZE(o->patch); j++)
				if (o->patch[j].off || o->patch[j].val)
					put16(f->data + f->want.l3_off +
					      o->patch[j].off,
					      o->patch[j].val);
			expect_parsed(test, f, o->want, o->name);
		}
	}
}

/* An IPv6 packet says that it is from, or for, an IPv4 host */
static void parse_v4mapped_test(struct kunit *test)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct frame *f = alloc(test, sizeof(*f));
	int t, at;

	for (t = 0; t < ARRAY_SIZE(tags); t++) {
		for (at = 8; at <= 24; at += 16) {
			make_frame(f, &tags[t], true, &kinds[DATA]);
			memcpy(f->data + f->want.l3_off + at, mapped,
			       sizeof(mapped));
			expect_parsed(test, f, IQCN_MALFORMED, "mapped");
			/* ::fffe:a.b.c.d is not */
			f->data[f->want.l3_off + at + 11] = 0xfe;
			expect_parsed(test, f, IQCN_ROCE, "not mapped");
		}
	}
}

static u8 *insert(struct frame *f, u32 at, u32 n)
{
	memmove(f->data + at + n, f->data + at, f->len - at);
	memset(f->data + at, 0, n);
	f->len += n;
	return f->data + at;
}

static void parse_ip_options_test(struct kunit *test)
{
	struct frame *f = alloc(test, sizeof(*f));
	int words;

	for (words = 1; words <= 10; words++) {
		make_frame(f, &tags[0], false, &kinds[DATA]);
		memset(insert(f, V4_UDP, 4 * words), 1, 4 * words);
		f->data[0] = 0x45 + words;
		put16(f->data + 2, f->len);
		expect_parsed(test, f, IQCN_MALFORMED, "options");
		/* the header ends behind what the packet says is its end */
		put16(f->data + 2, V4_UDP + 4 * words - 1);
		expect_parsed(test, f, IQCN_NOT_ROCE, "tot_len in options");
	}
	/* options said, none there: the port is elsewhere */
	make_frame(f, &tags[0], false, &kinds[DATA]);
	f->data[0] = 0x46;
	expect_parsed(test, f, IQCN_NOT_ROCE, "ihl 6 without options");
}

#define HOP	0
#define ROUTE	43
#define FRAG	44
#define AUTH	51
#define DEST	60

/* Extension headers: how many, which, how long beyond 8 bytes, and bytes 2, 3
 * of each, the offset of a fragment.  @payload is added to the payload length.
 */
struct ext {
	const char *name;
	u8 n;
	u8 hdr[6];
	u8 more;
	u16 frag;
	s16 payload;
	enum iqcn_parsed want;
};

static const struct ext exts[] = {
	{ "hop-by-hop",		1, { HOP }, 0, 0, 0, IQCN_MALFORMED },
	{ "routing",		1, { ROUTE }, 0, 0, 0, IQCN_MALFORMED },
	{ "options",		1, { DEST }, 0, 0, 0, IQCN_MALFORMED },
	{ "24 bytes of options", 1, { DEST }, 2, 0, 0, IQCN_MALFORMED },
	{ "first fragment",	1, { FRAG }, 0, 0x0001, 0, IQCN_MALFORMED },
	{ "atomic fragment",	1, { FRAG }, 0, 0, 0, IQCN_MALFORMED },
	{ "second fragment",	1, { FRAG }, 0, 0x0008, 0, IQCN_NOT_ROCE },
	{ "last fragment",	1, { FRAG }, 0, 0xfff8, 0, IQCN_NOT_ROCE },
	{ "AH",			1, { AUTH }, 0, 0, 0, IQCN_NOT_ROCE },
	{ "TCP after HOP",	2, { HOP, 6 }, 0, 0, 0, IQCN_NOT_ROCE },
	{ "two",		2, { HOP, DEST }, 0, 0, 0, IQCN_MALFORMED },
	{ "four",		4, { HOP, DEST, ROUTE, FRAG }, 0, 0, 0,
	  IQCN_MALFORMED },
	{ "five",		5, { HOP, DEST, ROUTE, FRAG, DEST }, 0, 0, 0,
	  IQCN_NOT_ROCE },
	{ "six",		6, { DEST, DEST, DEST, DEST, DEST, DEST }, 0,
	  0, 0, IQCN_NOT_ROCE },
	/* 8 + 56 bytes are there */
	{ "payload 7",		1, { HOP }, 0, 0, 7 - 64, IQCN_NOT_ROCE },
	{ "payload 8",		1, { HOP }, 0, 0, 8 - 64, IQCN_MALFORMED },
	{ "payload 65",		1, { HOP }, 0, 0, 1, IQCN_MALFORMED },
};

static void parse_ext_hdrs_test(struct kunit *test)
{
	struct frame *f = alloc(test, sizeof(*f));
	int i, j;

	for (i = 0; i < ARRAY_SIZE(exts); i++) {
		const struct ext *e = &exts[i];
		u32 off = V6_UDP;

		make_frame(f, &tags[0], true, &kinds[DATA]);
		f->data[6] = e->hdr[0];
		for (j = 0; j < e->n; j++) {
			u8 *p = insert(f, off, 8 * (e->more + 1));

			p[0] = j + 1 < e->n ? e->hdr[j + 1] : 17;
			p[1] = e->more;
			put16(p + 2, e->frag);
			off += 8 * (e->more + 1);
		}
		put16(f->data + 4, f->len - V6_UDP + e->payload);
		expect_parsed(test, f, e->want, e->name);
	}

	/* the header says that it is longer than the packet, and that UDP or
	 * another header follows
	 */
	for (i = 8; i < 256; i++) {
		make_frame(f, &tags[0], true, &kinds[DATA]);
		f->data[6] = DEST;
		insert(f, V6_UDP, 8)[0] = i & 2 ? 17 : DEST;
		f->data[V6_UDP + 1] = i;
		put16(f->data + 4, i & 1 ? f->len - V6_UDP : 65535);
		expect_parsed(test, f, IQCN_NOT_ROCE, "header too long");
	}
}

static void parse_ethertype_test(struct kunit *test)
{
	struct frame *f = alloc(test, sizeof(*f));
	struct iqcn_pkt pkt;
	int t;

	for (t = 0; t < ARRAY_SIZE(tags); t++) {
		u8 *l3;

		make_frame(f, &tags[t], false, &kinds[DATA]);
		l3 = f->data + f->want.l3_off;
		if (tags[t].in_band)
			put16(l3 - 2, 0x0806);
		else
			f->proto = 0x0806;
		expect_parsed(test, f, IQCN_NOT_ROCE, "ARP");
		if (tags[t].in_band)
			put16(l3 - 2, 0x86dd);
		else
			f->proto = 0x86dd;
		expect_parsed(test, f, IQCN_NOT_ROCE, "IPv4 said to be IPv6");
	}

	make_frame(f, &tags[2], true, &kinds[CNP]);
	put16(insert(f, 0, 4) + 2, 0x88a8);
	expect_parsed(test, f, IQCN_NOT_ROCE, "three tags");

	make_frame(f, &tags[2], false, &kinds[CNP]);
	f->outside = f->want.vlan[0];
	KUNIT_EXPECT_EQ(test, parse_copy(test, f, f->len, f->len, &pkt),
			IQCN_NOT_ROCE);
	KUNIT_EXPECT_EQ(test, pkt.vlan[0].tci, f->want.vlan[0].tci);
}

/* What a flow keeps of a tag is all but its priority */
static void vlan_pack_test(struct kunit *test)
{
	static const u16 protos[] = { ETH_P_8021Q, ETH_P_8021AD };
	struct iqcn_vlan v = {}, got;
	u32 i, tci;

	KUNIT_EXPECT_EQ(test, iqcn_vlan_pack(&v), 0);
	iqcn_vlan_unpack(&got, 0);
	KUNIT_EXPECT_EQ(test, ntohs(got.proto), 0);
	KUNIT_EXPECT_EQ(test, got.tci, 0);
	for (i = 0; i < ARRAY_SIZE(protos); i++) {
		v.proto = htons(protos[i]);
		for (tci = 0; tci <= U16_MAX; tci++) {
			v.tci = tci;
			iqcn_vlan_unpack(&got, iqcn_vlan_pack(&v));
			KUNIT_ASSERT_EQ(test, ntohs(got.proto), protos[i]);
			KUNIT_ASSERT_EQ(test, got.tci, tci & 0x0fff);
		}
	}
}

#define N_MUTATIONS 20000

static void parse_mutation_test(struct kunit *test)
{
	struct frame *f = alloc(test, sizeof(*f));
	u32 seen[IQCN_ROCE + 1] = {};
	struct rnd_state rnd;
	struct iqcn_pkt pkt;
	int i, n;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < N_MUTATIONS; i++) {
		u32 r = prandom_u32_state(&rnd);
		u32 avail, total;
		int ret;

		make_frame(f, &tags[r % ARRAY_SIZE(tags)], r >> 8 & 1,
			   &kinds[(r >> 9) % ARRAY_SIZE(kinds)]);
		for (n = r >> 16 & 3; n >= 0; n--) {
			u32 m = prandom_u32_state(&rnd);

			f->data[m % f->len] = m >> 24;
		}
		total = f->len;
		if (r >> 18 & 1)
			total -= prandom_u32_state(&rnd) % (total + 1);
		avail = total;
		if (r >> 19 & 1)
			avail -= prandom_u32_state(&rnd) % (avail + 1);

		ret = parse_copy(test, f, avail, total, &pkt);
		KUNIT_ASSERT_GE(test, ret, 0);
		KUNIT_ASSERT_LE(test, ret, IQCN_ROCE);
		seen[ret]++;
		if (ret != IQCN_ROCE)
			continue;
		KUNIT_ASSERT_LE(test, pkt.udp_off + pkt.udp_len, total);
		KUNIT_ASSERT_LE(test, pkt.udp_off + V4_BTH - V4_UDP + 12,
				avail);
		KUNIT_ASSERT_GE(test, pkt.udp_len, 8 + 12 + 4);
		KUNIT_ASSERT_EQ(test, pkt.udp_off - pkt.l3_off,
				pkt.v6 ? V6_UDP : V4_UDP);
		KUNIT_ASSERT_LE(test, pkt.dest_qp, 0xffffff);
		KUNIT_ASSERT_LE(test, pkt.psn, 0xffffff);
	}
	/* or it was for nothing */
	for (i = 0; i <= IQCN_ROCE; i++)
		KUNIT_EXPECT_GT_MSG(test, seen[i], N_MUTATIONS / 20u,
				    "result %d", i);
}

/*
 * ICRC, CNP, CM
 */

/* CNP of a ConnectX-4 Lx, from L3 on: scapy, test/contrib/roce.uts */
static const u8 golden[] = {
	0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00,
	0x40, 0x11, 0x91, 0x61, 0x0a, 0x00, 0x11, 0x01,
	0x0a, 0x00, 0x12, 0x01,
	0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,
	0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18,
	0x00, 0x00, 0x00, 0x00,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0x82, 0xfd, 0x00, 0x2a,
};

static void icrc_golden_test(struct kunit *test)
{
	struct iqcn_cnp cnp = {
		.dest_qp = 0x118,
		.pkey = 0xffff,
		.tos = 0xc2,
		.ttl = 64,
	};
	u8 *l3 = alloc(test, IQCN_CNP_MAX_LEN);
	u8 *copy = alloc(test, sizeof(golden));

	memcpy(copy, golden, sizeof(golden));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(iqcn_icrc(copy, 56, false)),
			0x2a00fd82);
	KUNIT_EXPECT_EQ(test, ref_icrc(copy, 56, false), 0x2a00fd82);
	KUNIT_EXPECT_TRUE(test, iqcn_icrc_ok(copy, 60, false));
	copy[59] ^= 1;
	KUNIT_EXPECT_FALSE(test, iqcn_icrc_ok(copy, 60, false));

	/* ours has IP id 0 */
	mapped(&cnp.src, 0x0a001101);
	mapped(&cnp.dst, 0x0a001201);
	KUNIT_ASSERT_EQ(test, iqcn_build_cnp(l3, &cnp), sizeof(golden));
	KUNIT_EXPECT_TRUE(test, iqcn_icrc_ok(l3, 60, false));
	KUNIT_EXPECT_EQ(test, get16(l3 + 4), 0);
	put16(l3 + 4, 0x718c);
	put16(l3 + 10, 0);
	put16(l3 + 10, ~ref_sum(l3, V4_UDP, 0));
	put_ref_icrc(l3, 56, false);
	KUNIT_EXPECT_EQ(test, memcmp(l3, golden, sizeof(golden)), 0);
}

/* Every bit on its own: that is CE, DSCP, TTL, hop limit, flow label, BECN and
 * checksums on one side, and QP, PSN, P_Key, addresses, ports, IP id, lengths
 * and the reserved bytes of a CNP on the other.
 */
static void icrc_bits_test(struct kunit *test)
{
	struct frame *f = alloc(test, sizeof(*f));
	int v6, k, bit;

	for (v6 = 0; v6 < 2; v6++) {
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			u32 end, icrc;

			make_frame(f, &tags[0], v6, &kinds[k]);
			end = f->len - 4;
			icrc = ref_icrc(f->data, end, v6);
			KUNIT_EXPECT_EQ_MSG(test, icrc,
					    le32_to_cpu(iqcn_icrc(f->data, end,
								  v6)),
					    "%s", f->name);
			KUNIT_EXPECT_TRUE(test,
					  iqcn_icrc_ok(f->data, f->len, v6));
			for (bit = 0; bit < 8 * end; bit++) {
				u8 *p = f->data + bit / 8, b = 1 << bit % 8;

				*p ^= b;
				KUNIT_EXPECT_EQ_MSG(test,
						    iqcn_icrc_ok(f->data,
								 f->len, v6),
						    !!(ref_mask(bit / 8, v6) &
						       b),
						    "%s, byte %d bit %d",
						    f->name, bit / 8, bit % 8);
				*p ^= b;
			}
		}
	}
}

static const u16 cnp4_words[] = {
	0x45c1, 60, 0, 0x4000, 0x3f11, 0, 0x0a01, 0x0203, 0xc0a8, 0x0a0b,
	0xd123, 4791, 40, 0,
	0x8100, 0x8001, 0x4012, 0x3456, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
};

static const u16 cnp6_words[] = {
	0x6c10, 0, 40, 0x113f,
	0x2001, 0x0db8, 0x0102, 0x0304, 0x0506, 0x0708, 0x090a, 0x0b0c,
	0xfd00, 0x0000, 0x1516, 0x1718, 0x191a, 0x1b1c, 0x1d1e, 0x1f20,
	0xd123, 4791, 40, 0,
	0x8100, 0x8001, 0x4012, 0x3456, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
};

/* IPv6 pseudo-header's part beside the addresses: length and protocol */
#define PSEUDO6 (40 + 17)

static void cnp_build_test(struct kunit *test)
{
	struct iqcn_cnp cnp = {
		.dest_qp = 0xff123456,	/* 24 bits of it count */
		.pkey = 0x8001,
		.sport = 0xd123,
		.tos = 0xc1,
		.ttl = 63,
	};
	struct frame *f = alloc(test, sizeof(*f));
	int v6, i;

	for (v6 = 0; v6 < 2; v6++) {
		const u16 *words = v6 ? cnp6_words : cnp4_words;
		u32 len = v6 ? 80 : 60, csum = v6 ? 46 : 10;
		u8 *l3 = alloc(test, 80);
		struct iqcn_pkt pkt;

		/* for what is expected of addresses and offsets */
		make_frame(f, &tags[0], v6, &kinds[CNP]);
		cnp.src = f->want.src;
		cnp.dst = f->want.dst;
		cnp.v6 = v6;
		memset(l3, 0xee, 80);
		KUNIT_ASSERT_EQ(test, iqcn_build_cnp(l3, &cnp), len);
		for (i = 0; i < len - 4; i += 2) {
			if (i == csum)
				continue;
			KUNIT_EXPECT_EQ_MSG(test, get16(l3 + i), words[i / 2],
					    "IPv%c, byte %d", v6 ? '6' : '4',
					    i);
		}
		if (v6) {
			KUNIT_EXPECT_EQ(test, ref_sum(l3 + 8, 72, PSEUDO6),
					0xffff);
			KUNIT_EXPECT_NE(test, get16(l3 + csum), 0);
		} else {
			KUNIT_EXPECT_EQ(test, ref_sum(l3, 20, 0), 0xffff);
		}
		KUNIT_EXPECT_EQ(test, get_unaligned_le32(l3 + len - 4),
				ref_icrc(l3, len - 4, v6));

		memcpy(f->data, l3, len);
		f->want.sport = 0xd123;
		f->want.psn = 0;
		KUNIT_EXPECT_EQ(test, parse_copy(test, f, len, len, &pkt),
				IQCN_ROCE);
		expect_pkt(test, f, &pkt);
	}
}

/* UDP checksum that comes out as 0 must be sent as 0xffff.  The QP and port
 * were searched for with another program.
 */
static void cnp_zero_csum_test(struct kunit *test)
{
	struct iqcn_cnp cnp = {
		.dest_qp = 0x112,
		.pkey = 0xffff,
		.sport = 0xc6c3,
		.tos = 0xc2,
		.ttl = 64,
		.v6 = true,
	};
	u8 *l3 = alloc(test, 80);

	put16(cnp.src.s6_addr, 0x2001);
	put16(cnp.src.s6_addr + 2, 0x0db8);
	cnp.dst = cnp.src;
	cnp.src.s6_addr[15] = 1;
	cnp.dst.s6_addr[15] = 2;
	KUNIT_ASSERT_EQ(test, iqcn_build_cnp(l3, &cnp), 80);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(l3 + 76), 0xcedccd2b);
	KUNIT_EXPECT_EQ(test, get16(l3 + 46), 0xffff);
	put16(l3 + 46, 0);
	KUNIT_EXPECT_EQ(test, ref_sum(l3 + 8, 72, PSEUDO6), 0xffff);
}

/* Every byte is its own offset, so what is read tells from where */
static u8 *make_cm(struct kunit *test, u32 len, u16 attr)
{
	static const u8 mad[] = { 1, 7, 2, 3 };
	u8 msg[280];
	u8 *p = alloc(test, len);
	int i;

	for (i = 0; i < sizeof(msg); i++)
		msg[i] = i;
	memcpy(msg + 20, mad, sizeof(mad));
	put16(msg + 36, attr);
	memcpy(p, msg, len);
	return p;
}

static void cm_test(struct kunit *test)
{
	static const struct {
		u16 attr;
		bool want;
		u32 remote_id;
		u32 qpn;
	} msgs[] = {
		{ 0x0010, true, 0, 0x4c4d4e },
		{ 0x0013, true, 0x30313233, 0x38393a },
		{ 0x0015, true, 0x30313233, 0x343536 },
		{ 0x0011 }, { 0x0012 }, { 0x0014 }, { 0x0016 }, { 0x0017 },
		{ 0x0110 }, { 0x1000 }, { 0 },
	};
	struct iqcn_cm cm;
	u32 len;
	u8 *p;
	int i;

	for (i = 0; i < ARRAY_SIZE(msgs); i++) {
		u16 attr = msgs[i].attr;

		p = make_cm(test, 276, attr);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_parse_cm(p, 276, &cm),
				    msgs[i].want, "attribute %#x", attr);
		if (!msgs[i].want)
			continue;
		KUNIT_EXPECT_EQ(test, cm.attr, attr);
		KUNIT_EXPECT_EQ(test, cm.local_id, 0x2c2d2e2f);
		KUNIT_EXPECT_EQ(test, cm.remote_id, msgs[i].remote_id);
		KUNIT_EXPECT_EQ(test, cm.qpn, msgs[i].qpn);
		/* up to and with the starting PSN of a REQ is asked for */
		for (len = 1; len <= 92; len++) {
			p = make_cm(test, len, attr);
			KUNIT_EXPECT_EQ_MSG(test, iqcn_parse_cm(p, len, &cm),
					    len == 92, "%u bytes", len);
			if (len < 92)
				KUNIT_EXPECT_FALSE(test,
						   iqcn_parse_cm(p + len, 0,
								 &cm));
		}
		/* base version, class, class version, method */
		for (len = 20; len < 24; len++) {
			p = make_cm(test, 276, attr);
			p[len]++;
			KUNIT_EXPECT_FALSE_MSG(test,
					       iqcn_parse_cm(p, 276, &cm),
					       "byte %u", len);
		}
	}
}

static void opcode_test(struct kunit *test)
{
	static const struct {
		u8 first, last;
		bool data, echo;
	} ops[] = {
		{ 0x00, 0x05, true, false },	/* RC: SEND */
		{ 0x06, 0x0b, true, false },	/* WRITE */
		{ 0x0c, 0x0c, true, false },	/* READ request */
		{ 0x0d, 0x10, true, true },	/* READ response */
		{ 0x11, 0x12, false, true },	/* ACK, atomic ACK */
		{ 0x13, 0x14, true, false },	/* atomics */
		{ 0x16, 0x17, true, false },	/* SEND with invalidate */
		{ 0x20, 0x2b, true, false },	/* UC: SEND, WRITE */
		{ 0xa0, 0xac, true, false },	/* XRC, as RC */
		{ 0xad, 0xb0, true, true },
		{ 0xb1, 0xb2, false, true },
		{ 0xb3, 0xb4, true, false },
		{ 0xb6, 0xb7, true, false },
	};
	int op, i;

	for (op = 0; op < 256; op++) {
		bool data = false, echo = false;

		for (i = 0; i < ARRAY_SIZE(ops); i++) {
			if (op < ops[i].first || op > ops[i].last)
				continue;
			data = ops[i].data;
			echo = ops[i].echo;
		}
		KUNIT_EXPECT_EQ_MSG(test, iqcn_op_is_data(op), data,
				    "opcode %#x", op);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_op_is_echo(op), echo,
				    "opcode %#x", op);
	}
}

/*
 * Marking
 */

#define ONE 0x100000000ULL

static u64 gap64(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

static void mark_curve_test(struct kunit *test)
{
	static const struct {
		u32 kmin, kmax, pmax, depth;
		u64 want;
	} points[] = {
		/* 0.2 of 2^32 is 858993459.2 */
		{ 100000, 400000, 858993459, 0, 0 },
		{ 100000, 400000, 858993459, 99999, 0 },
		{ 100000, 400000, 858993459, 100000, 0 },
		{ 100000, 400000, 858993459, 250000, 429496729 },
		{ 100000, 400000, 858993459, 400000, 858993459 },
		{ 100000, 400000, 858993459, 400001, ONE },
		{ 100000, 400000, 858993459, U32_MAX, ONE },
		/* a step */
		{ 5000, 5000, 858993459, 4999, 0 },
		{ 5000, 5000, 858993459, 5000, 0 },
		{ 5000, 5000, 858993459, 5001, ONE },
		{ 0, 0, 858993459, 0, 0 },
		{ 0, 0, 858993459, 1, ONE },
		{ U32_MAX, U32_MAX, 858993459, U32_MAX, 0 },
		/* Kmin 0 */
		{ 0, 1000, 0x40000000, 0, 0 },
		{ 0, 1000, 0x40000000, 1, 1073741 },
		{ 0, 1000, 0x40000000, 500, 0x20000000 },
		{ 0, 1000, 0x40000000, 1000, 0x40000000 },
		/* all of 32 bits */
		{ 0, U32_MAX, U32_MAX, 0, 0 },
		{ 0, U32_MAX, U32_MAX, 1, 1 },
		{ 0, U32_MAX, U32_MAX, 0x80000000, 0x80000000 },
		{ 0, U32_MAX, U32_MAX, U32_MAX - 1, U32_MAX },
		{ 0, U32_MAX, U32_MAX, U32_MAX, ONE },
		{ U32_MAX - 1, U32_MAX, 0x12345678, U32_MAX, 0x12345678 },
		/* pmax 0 and 1.0 */
		{ 100, 200, 0, 150, 0 },
		{ 100, 200, 0, 200, 0 },
		{ 100, 200, 0, 201, ONE },
		{ 100, 200, U32_MAX, 100, 0 },
		{ 100, 200, U32_MAX, 150, 0x80000000 },
		{ 100, 200, U32_MAX, 200, ONE },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		struct iqcn_mark_params p = {
			.kmin_bytes = points[i].kmin,
			.kmax_bytes = points[i].kmax,
			.pmax = points[i].pmax,
		};
		u32 depth = points[i].depth;
		u64 got = iqcn_mark_prob(&p, depth), want = points[i].want;

		/* exact at the ends, to 2^-31 between them */
		if (depth <= p.kmin_bytes || depth >= p.kmax_bytes)
			KUNIT_EXPECT_EQ_MSG(test, got, want, "point %d", i);
		else
			KUNIT_EXPECT_LE_MSG(test, gap64(got, want), 2ULL,
					    "point %d: %llu", i, got);
	}
}

static void mark_linear_test(struct kunit *test)
{
	static const u32 pmaxs[] = { 1, 858993459, 0x80000000, U32_MAX };
	struct iqcn_mark_params p = {
		.kmin_bytes = 7000,
		.kmax_bytes = 500000,
	};
	u64 got, last, one, want;
	u32 depth;
	int i;

	for (i = 0; i < ARRAY_SIZE(pmaxs); i++) {
		p.pmax = pmaxs[i];
		one = div_u64(ONE * p.pmax, U32_MAX);
		last = 0;
		for (depth = 7001; depth < 500000; depth += 97) {
			got = iqcn_mark_prob(&p, depth);
			/* remainder first, so that nothing overflows */
			want = div_u64(one, 493000) * (depth - 7000) +
			       div_u64(one % 493000 * (depth - 7000), 493000);
			KUNIT_ASSERT_LE_MSG(test, gap64(got, want), 2ULL,
					    "pmax %u depth %u", p.pmax, depth);
			KUNIT_ASSERT_GE(test, got, last);
			last = got;
		}
		KUNIT_EXPECT_LE(test, last, iqcn_mark_prob(&p, 500000));
	}
}

/* Is a packet with this lot marked at this depth? */
static bool marked(const struct iqcn_mark_params *p, u32 depth_bytes, u32 rnd)
{
	struct iqcn_lot lot = { .rnd = rnd };

	return iqcn_lot_decide(&lot, iqcn_mark_prob(p, depth_bytes));
}

static void mark_draws_test(struct kunit *test)
{
	struct iqcn_mark_params p = {
		.kmin_bytes = 100000,
		.kmax_bytes = 400000,
		.pmax = 858993459,
	};
	struct rnd_state rnd;
	u32 n_marked = 0;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 1000000; i++)
		n_marked += marked(&p, 250000, prandom_u32_state(&rnd));
	/* sqrt(10^6 * 0.1 * 0.9) = 300 */
	KUNIT_EXPECT_GT(test, n_marked, 100000 - 3 * 300);
	KUNIT_EXPECT_LT(test, n_marked, 100000 + 3 * 300);

	/* never, always */
	KUNIT_EXPECT_FALSE(test, marked(&p, 100000, 1));
	KUNIT_EXPECT_TRUE(test, marked(&p, 400001, U32_MAX));
	KUNIT_EXPECT_TRUE(test, marked(&p, 400000, 858993458));
	KUNIT_EXPECT_FALSE(test, marked(&p, 400000, 858993459));
	p.pmax = U32_MAX;
	KUNIT_EXPECT_TRUE(test, marked(&p, 400000, U32_MAX));
}

static void lot_drawn_once_test(struct kunit *test)
{
	struct iqcn_lot lot = {};
	u32 i, rnd;

	/* what is certain takes no random number */
	KUNIT_EXPECT_FALSE(test, iqcn_lot_decide(&lot, 0));
	KUNIT_EXPECT_TRUE(test, iqcn_lot_decide(&lot, IQCN_PROB_ONE));
	KUNIT_EXPECT_EQ(test, lot.rnd, 0);

	iqcn_lot_decide(&lot, 1);
	rnd = lot.rnd;
	KUNIT_EXPECT_NE(test, rnd, 0);
	for (i = 0; i < 100; i++) {
		KUNIT_ASSERT_FALSE(test, iqcn_lot_decide(&lot, rnd));
		KUNIT_ASSERT_TRUE(test, iqcn_lot_decide(&lot, (u64)rnd + 1));
	}
	KUNIT_EXPECT_EQ(test, rnd, lot.rnd);
}

/*
 * Detection
 */

static void meter_steady_test(struct kunit *test)
{
	static const struct {
		u32 bytes;
		u64 gap_ns, window_ns, want_bps;
	} streams[] = {
		{ 1250, 400, 1000000, 25000000000ULL },
		{ 1500, 120, 1000000, 100000000000ULL },
		{ 64, 7, 1000000, 73142857142ULL },
		{ 4178, 333, 1000000, 100372372372ULL },
		{ 1000, 999999, 1000000, 8000008 },
		{ 1000, 1000000, 1000000, 8000000 },
		{ 1000, 1000001, 1000000, 7999992 },
		{ 9000, 50000000, 1000000, 1440000 },
		{ 1, 3, 10, 2666666666ULL },
		/* 400 Gb/s over a second, and more than 2^32 bytes at once */
		{ 1000000, 20000, 1000000000, 400000000000ULL },
		{ U32_MAX, 1000000000, 60000000000ULL, 34359738360ULL },
	};
	int i, n;

	for (i = 0; i < ARRAY_SIZE(streams); i++) {
		u64 gap_ns = streams[i].gap_ns, now_ns = 12345, since;
		u64 window_ns = streams[i].window_ns;
		struct iqcn_meter m = {};
		int closed = 0;

		since = now_ns;
		for (n = 0; closed < 3 && n < 1000000; n++) {
			bool ret = iqcn_meter_add(&m, window_ns, now_ns,
						  streams[i].bytes);

			KUNIT_ASSERT_EQ_MSG(test, ret, now_ns - since >=
					    window_ns, "stream %d", i);
			if (ret) {
				KUNIT_ASSERT_EQ_MSG(test, m.rate_bps,
						    streams[i].want_bps,
						    "stream %d", i);
				since = now_ns;
				closed++;
			}
			now_ns += gap_ns;
		}
		KUNIT_EXPECT_EQ_MSG(test, closed, 3, "stream %d", i);
	}
	KUNIT_EXPECT_EQ(test, iqcn_rate_bps(50000000000ULL, 1000000000),
			400000000000ULL);
	KUNIT_EXPECT_EQ(test, iqcn_rate_bps(1000, 0), 0);
}

/* Bytes of a window that was abandoned are not those of the next */
static void meter_stopped_test(struct kunit *test)
{
	struct iqcn_meter m = {};
	u64 now = 1;
	int i;

	for (i = 0; i < 10; i++)
		iqcn_meter_add(&m, 1000000, now += 50000, 1000);
	m.start_ns = 0;
	now += 1000000;
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_FALSE(test, iqcn_meter_add(&m, 1000000,
							now += 50000, 1000));
	KUNIT_EXPECT_TRUE(test, iqcn_meter_add(&m, 1000000, now += 50000,
					       1000));
	/* 1000 bytes per 50 us */
	KUNIT_EXPECT_EQ(test, m.rate_bps, 160000000ULL);
}

/* So many bytes more leave, after which that is the rate of the window */
static void expect_outflow(struct kunit *test, struct iqcn_outflow *o, u32 bytes,
			   u64 ns, u64 want_bps)
{
	o->bytes += bytes;
	KUNIT_EXPECT_EQ(test, iqcn_outflow_bps(o, ns), want_bps);
}

/* What drained in the window of another meter, if it was backlogged for all of it */
static void outflow_test(struct kunit *test)
{
	struct iqcn_outflow o = {};

	/* the packet that a window begins with is of the one before */
	expect_outflow(test, &o, 1000, 1000, 0);
	iqcn_outflow_begin(&o);
	expect_outflow(test, &o, 0, 1000, 0);
	expect_outflow(test, &o, 125, 1000, 1000000000);
	expect_outflow(test, &o, 125, 1000, 2000000000);
	iqcn_outflow_begin(&o);
	expect_outflow(test, &o, 500, 4000, 1000000000);

	/* it was not backlogged for a while, and is again */
	memset(&o, 0, sizeof(o));
	expect_outflow(test, &o, 9000, 5000, 0);
	iqcn_outflow_begin(&o);
	expect_outflow(test, &o, 250, 2000, 1000000000);

	/* nor was it when the window began */
	memset(&o, 0, sizeof(o));
	iqcn_outflow_begin(&o);
	expect_outflow(test, &o, 250, 2000, 0);
}

static void meter_quiet_test(struct kunit *test)
{
	struct iqcn_meter m = {};

	/* it does not run */
	KUNIT_EXPECT_FALSE(test, iqcn_meter_quiet(&m, 2000, 1000000));

	KUNIT_EXPECT_FALSE(test, iqcn_meter_add(&m, 1000, 5000, 100));
	KUNIT_EXPECT_FALSE(test, iqcn_meter_add(&m, 1000, 5400, 100));
	KUNIT_EXPECT_FALSE(test, iqcn_meter_add(&m, 1000, 5999, 150));
	KUNIT_EXPECT_FALSE(test, iqcn_meter_quiet(&m, 2000, 6999));
	KUNIT_EXPECT_TRUE(test, iqcn_meter_quiet(&m, 2000, 7000));
	KUNIT_EXPECT_EQ(test, m.rate_bps, 0);
	KUNIT_EXPECT_FALSE(test, iqcn_meter_quiet(&m, 2000, 100000));

	/* the silence is no part of the next window, nor what was before it,
	 * nor the first packet: 125 bytes in 1 us
	 */
	KUNIT_EXPECT_FALSE(test, iqcn_meter_add(&m, 1000, 200000, 9999));
	KUNIT_EXPECT_TRUE(test, iqcn_meter_add(&m, 1000, 201000, 125));
	KUNIT_EXPECT_EQ(test, m.rate_bps, 1000000000);

	/* it keeps the rate until it is quiet */
	KUNIT_EXPECT_FALSE(test, iqcn_meter_quiet(&m, 2000, 202999));
	KUNIT_EXPECT_EQ(test, m.rate_bps, 1000000000);
	KUNIT_EXPECT_TRUE(test, iqcn_meter_quiet(&m, 2000, 203000));
	KUNIT_EXPECT_EQ(test, m.rate_bps, 0);
}

static void quiet_ns_test(struct kunit *test)
{
	static const struct {
		u64 window_ns, roce_bps, bytes, want_ns;
	} queues[] = {
		/* 1500 bytes are 480 ns at 25 Gb/s */
		{ 1000000, 25000000000ULL, 1500, 2000960 },
		{ 1000000, 0, 1500, 2000000 },
		{ 1000000, 0, U64_MAX, 2000000 },
		{ 1000000, 25000000000ULL, 0, 2000000 },
		/* 64 KB are 8 ms at 64 Mb/s */
		{ 1000000, 64000000, 64000, 18000000 },
		/* one 9000-byte packet in 65536 */
		{ 1000000, 25000000000ULL, 589824000, 379487360 },
		/* a second, nearly, and no more */
		{ 1000000, 8000, 999, 2000000000 },
		{ 1000000, 8000, 1000, 2002000000 },
		{ 1000000, 8000, 1001, 2002000000 },
		{ 1000000, 1, 1, 2002000000 },
		{ 1000000, 1, 1 << 30, 2002000000 },
		{ 1000000, 1, (1 << 30) + 1, 2002000000 },
		{ 1000000, 1, U64_MAX, 2002000000 },
		/* more than 32 bits have room for */
		{ 1000000, 1000000000, (1ULL << 32) + 1500, 2002000000 },
		{ 1000000, 1000000000, 1ULL << 63, 2002000000 },
		{ 1000000, 1000000000, U64_MAX, 2002000000 },
		{ 1000000000, 1000000000, U64_MAX, 4000000000ULL },
		{ 1000000, U64_MAX, 1500, 2000000 },
		{ 60000000000ULL, 1, 1, 122000000000ULL },
	};
	static const u64 rates[] = {
		1, 7, 8000, 1000000000, 25000000000ULL, 1000000000000000ULL,
		U64_MAX,
	};
	static const struct {
		u64 window_ns, t1_ns, gap_ns, want_ns;
	} flows[] = {
		{ 1000000, 300000, 0, 2600000 },
		{ 1000000, 300000, 50000, 2700000 },
		{ 10000, 10000, 0, 40000 },
		{ 10000, 10000, 1, 40002 },
		{ 10000, 1000000000, 0, 2000020000 },
		{ 1000000000, 10000, 0, 2000020000 },
		{ 1000000000, 1000000000, 1000000000, 6000000000ULL },
		{ U32_MAX, U32_MAX, 0, 17179869180ULL },
		/* a packet each minute */
		{ 1000000, 300000, 60000000000ULL, 120002600000ULL },
	};
	int i, b;

	for (i = 0; i < ARRAY_SIZE(queues); i++)
		KUNIT_EXPECT_EQ_MSG(test, iqcn_quiet_ns(queues[i].window_ns,
							queues[i].roce_bps,
							queues[i].bytes),
				    queues[i].want_ns, "row %d", i);
	/* more bytes, more time, up to a second */
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		u64 ns, last_ns = 2000;

		for (b = 0; b < 64; b++) {
			ns = iqcn_quiet_ns(1000, rates[i], 1ULL << b);
			KUNIT_ASSERT_GE_MSG(test, ns, last_ns,
					    "%llu bit/s, 2^%d bytes", rates[i],
					    b);
			last_ns = ns;
		}
		KUNIT_EXPECT_LE_MSG(test, last_ns, 2 * (1000 + SECOND),
				    "%llu bit/s", rates[i]);
	}
	for (i = 0; i < ARRAY_SIZE(flows); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_flow_quiet_ns(flows[i].window_ns,
						       flows[i].t1_ns,
						       flows[i].gap_ns),
				    flows[i].want_ns, "row %d", i);
}

static void detect_queue_test(struct kunit *test)
{
	static const struct {
		u64 permille;
		bool want;
	} steps[] = {
		{ 0, false }, { 899, false }, { 950, true }, { 750, true },
		{ 601, true }, { 600, false }, { 750, false }, { 899, false },
		{ 900, true }, { 2000, true }, { 0, false },
		{ 950, true }, { 750, true }, { 590, false },
	};
	static const u64 roce_bps[] = { 1000, 25000000000ULL,
					800000000000ULL };
	bool congested;
	int i, s;

	for (i = 0; i < ARRAY_SIZE(roce_bps); i++) {
		congested = false;
		for (s = 0; s < ARRAY_SIZE(steps); s++) {
			u64 bps = div_u64(roce_bps[i], 1000) *
				  steps[s].permille;

			congested = iqcn_detect_queue(congested, bps,
						      roce_bps[i], 90, 60);
			KUNIT_EXPECT_EQ_MSG(test, congested, steps[s].want,
					    "step %d at %llu bit/s", s,
					    roce_bps[i]);
		}
	}
	KUNIT_EXPECT_FALSE(test, iqcn_detect_queue(false, 1000000, 0, 90, 60));
	KUNIT_EXPECT_FALSE(test, iqcn_detect_queue(true, 1000000, 0, 90, 60));
	KUNIT_EXPECT_FALSE(test, iqcn_detect_queue(false, 0, 0, 90, 60));
}

static void detect_depth_test(struct kunit *test)
{
	static const struct {
		u32 depth;
		bool want;
	} steps[] = {
		{ 0, false }, { 100, false }, { 101, false }, { 400, false },
		{ 401, true }, { 400, true }, { 250, true }, { 101, true },
		{ 100, false }, { 101, false }, { 400, false },
		{ U32_MAX, true }, { 0, false },
	};
	bool congested = false;
	int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		congested = iqcn_detect_depth(congested, steps[i].depth, 100,
					      400);
		KUNIT_EXPECT_EQ_MSG(test, congested, steps[i].want, "step %d",
				    i);
	}
}

/*
 * Continuity: everything is relative to a start, and happens at each of these
 */

#define PSNS 0x1000000U

static const u32 starts[] = {
	0, 1, PSNS - 1, PSNS - 2, PSNS - 3, PSNS - 4, PSNS - 6, PSNS - 50,
	PSNS - 100, PSNS - 65540, PSNS / 2 - 3, PSNS / 2,
};

/* A CE packet, and what is to be known of its flow then */
struct ce {
	enum { F1, F2, N_FLOWS } flow;
	u32 psn, n, run;
	bool congested;
	bool response;
};

#define N_CE 16

/* N is enter, N' is exit */
struct run_case {
	const char *name;
	u32 enter, exit;
	struct ce ce[N_CE];
};

static const struct run_case run_cases[] = {
	/* US 12395431, description */
	{ "(80)", 5, 2, {
		{ F1, 1, 1, 1 }, { F2, 5, 1, 1 }, { F1, 3, 1, 1 },
		{ F2, 6, 1, 2 }, { F1, 4, 1, 2 }, { F1, 5, 1, 3 },
		{ F1, 6, 1, 4 }, { F1, 7, 1, 5, true } } },
	{ "(83), FIG. 10", 3, 1, {
		{ F1, 1, 1, 1 }, { F1, 2, 1, 2 }, { F1, 3, 1, 3, true } } },
	{ "(89)", 3, 1, {
		{ F1, 1, 1, 1 }, { F2, 5, 1, 1 }, { F1, 3, 1, 1 },
		{ F2, 7, 1, 1 }, { F1, 4, 1, 2 }, { F2, 9, 1, 1 },
		{ F1, 5, 1, 3, true }, { F1, 6, 1, 4, true },
		{ F1, 7, 1, 5, true } } },
	{ "(89), f2 was congested", 3, 1, {
		{ F2, 2, 1, 1 }, { F2, 3, 1, 2 }, { F2, 4, 1, 3, true },
		{ F2, 5, 1, 4, true }, { F2, 7, 1, 1, true },
		{ F2, 9, 1, 1 } } },

	/* what ends it */
	{ "N' ended", 5, 2, {
		{ F1, 0, 5, 5, true }, { F1, 6, 2, 2, true },
		{ F1, 9, 1, 1 } } },
	{ "more than N' ended", 5, 2, {
		{ F1, 0, 5, 5, true }, { F1, 6, 3, 3, true },
		{ F1, 10, 3, 3, true }, { F1, 14, 1, 1, true },
		{ F1, 16, 1, 1 } } },
	{ "N' is N - 1", 5, 4, {
		{ F1, 0, 5, 5, true }, { F1, 6, 4, 4, true },
		{ F1, 11, 1, 1 } } },
	{ "two missing", 5, 2, {
		{ F1, 0, 9, 9, true }, { F1, 11, 4, 4 }, { F1, 15, 1, 5, true },
	} },
	{ "1000 missing", 5, 0, {
		{ F1, 0, 9, 9, true }, { F1, 1009, 4, 4 } } },
	{ "N' is 0", 5, 0, {
		{ F1, 0, 5, 5, true }, { F1, 6, 1, 1, true },
		{ F1, 8, 1, 1, true }, { F1, 10, 1, 1, true },
		{ F1, 13, 1, 1 } } },
	{ "one run ends, the next is long", 5, 2, {
		{ F1, 0, 5, 5, true }, { F1, 6, 1, 1, true },
		{ F1, 8, 5, 5, true }, { F1, 15, 5, 5, true } } },
	{ "ended, never congested", 5, 1, {
		{ F1, 0, 4, 4 }, { F1, 5, 4, 4 }, { F1, 10, 4, 4 },
		{ F1, 14, 1, 5, true } } },

	/* GSO */
	{ "segments", 5, 2, {
		{ F1, 0, 2, 2 }, { F1, 2, 1, 3 }, { F1, 3, 3, 6, true } } },
	{ "segments, one missing", 5, 2, {
		{ F1, 0, 4, 4 }, { F1, 5, 4, 4 }, { F1, 9, 65535, 65539, true },
		{ F1, 65544, 1, 65540, true } } },
	{ "as many as there may be", 65536, 2, {
		{ F1, 0, 65535, 65535 }, { F1, 65535, 1, 65536, true } } },

	/* going back */
	{ "all again", 5, 2, {
		{ F1, 0, 1, 1 }, { F1, 1, 1, 2 }, { F1, 2, 1, 3 },
		{ F1, 0, 1, 3 }, { F1, 1, 1, 3 }, { F1, 2, 1, 3 },
		{ F1, 3, 1, 4 }, { F1, 4, 1, 5, true } } },
	{ "twice, the second time less", 5, 2, {
		{ F1, 0, 4, 4 }, { F1, 1, 1, 4 }, { F1, 2, 1, 4 },
		{ F1, 1, 1, 4 }, { F1, 2, 2, 4 }, { F1, 4, 1, 5, true } } },
	{ "segments, some of them new", 7, 2, {
		{ F1, 0, 4, 4 }, { F1, 2, 4, 6 }, { F1, 2, 4, 6 },
		{ F1, 5, 2, 7, true } } },
	{ "few, then ahead", 5, 2, {
		{ F1, 0, 4, 4 }, { F1, 1, 1, 4 }, { F1, 4, 1, 5, true },
		{ F1, 1, 2, 5, true }, { F1, 5, 1, 6, true } } },
	{ "it ends nothing", 5, 4, {
		{ F1, 0, 5, 5, true }, { F1, 6, 1, 1, true },
		{ F1, 4, 1, 1, true }, { F1, 7, 1, 2, true },
		{ F1, 0, 1, 2, true }, { F1, 8, 1, 3, true } } },
	{ "one missing when repeated", 5, 2, {
		{ F1, 0, 4, 4 }, { F1, 0, 1, 4 }, { F1, 2, 1, 1 },
		{ F1, 3, 1, 2 }, { F1, 4, 2, 4 }, { F1, 6, 1, 5, true } } },
	{ "one missing when repeated, congested", 5, 2, {
		{ F1, 0, 6, 6, true }, { F1, 0, 2, 6, true },
		{ F1, 3, 2, 2, true }, { F1, 6, 1, 1 } } },
	{ "one missing, then more than N' repeated", 5, 2, {
		{ F1, 0, 6, 6, true }, { F1, 0, 2, 6, true },
		{ F1, 3, 3, 3, true }, { F1, 7, 1, 1, true },
		{ F1, 9, 1, 1 } } },
	{ "one missing, then 400 repeated", 500, 399, {
		{ F1, 0, 600, 600, true }, { F1, 0, 1, 600, true },
		{ F1, 2, 400, 400, true }, { F1, 403, 1, 1, true },
		{ F1, 405, 1, 1 } } },
	{ "one missing, N' is 0", 5, 0, {
		{ F1, 0, 6, 6, true }, { F1, 0, 1, 6, true },
		{ F1, 2, 1, 1, true }, { F1, 4, 1, 1, true },
		{ F1, 7, 1, 1 } } },
	{ "two missing when repeated", 5, 2, {
		{ F1, 0, 6, 6, true }, { F1, 0, 1, 6, true },
		{ F1, 3, 1, 1 }, { F1, 4, 4, 5, true } } },
	{ "one missing, some of the next new", 5, 2, {
		{ F1, 0, 4, 4 }, { F1, 0, 1, 4 }, { F1, 2, 4, 4 },
		{ F1, 6, 1, 5, true } } },
	{ "one missing, repeated again", 5, 2, {
		{ F1, 0, 6, 6, true }, { F1, 0, 1, 6, true },
		{ F1, 2, 2, 2, true }, { F1, 0, 1, 2, true },
		{ F1, 1, 2, 2, true }, { F1, 3, 2, 3, true },
		{ F1, 2, 1, 3, true }, { F1, 5, 1, 4, true },
		/* where it went back from is nothing special */
		{ F1, 3, 1, 4, true }, { F1, 7, 1, 1 } } },
	{ "as far as it may", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 3, 1, 3 }, { F1, 65539, 1, 4 } } },
	{ "further: another connection", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 2, 1, 1 }, { F1, 3, 3, 4 },
		{ F1, 6, 1, 5, true } } },
	{ "further, congested", 5, 2, {
		{ F1, 65536, 5, 5, true }, { F1, 2, 3, 3 },
		{ F1, 5, 2, 5, true } } },
	{ "as far as it may, in steps", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 32768, 1, 3 }, { F1, 3, 1, 3 },
		{ F1, 4, 9, 3 }, { F1, 65539, 2, 5, true } } },
	{ "further, in steps", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 3, 1, 3 }, { F1, 2, 1, 1 },
		{ F1, 3, 4, 5, true } } },
	{ "as far as it may after a hole", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 3, 1, 3 }, { F1, 5, 1, 1 },
		{ F1, PSNS - 65530, 1, 1 }, { F1, 6, 1, 2 } } },
	{ "further after a hole", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 3, 1, 3 }, { F1, 5, 2, 2 },
		{ F1, PSNS - 65530, 1, 1 }, { F1, PSNS - 65529, 1, 2 } } },

	{ "back, then half of all ahead", 5, 2, {
		{ F1, 65536, 1, 1 }, { F1, 1, 1, 1 }, { F1, 8454045, 1, 1 } } },

	/* requests and READ responses */
	{ "a response ahead", 5, 2, {
		{ F1, 0, 3, 3 }, { F1, 900, 1, 3, .response = true },
		{ F1, 3, 1, 3 }, { F1, 4, 1, 4 }, { F1, 5, 1, 5, true } } },
	{ "a response behind", 5, 2, {
		{ F1, 900, 3, 3 }, { F1, 0, 1, 3, .response = true },
		{ F1, 903, 1, 3 }, { F1, 904, 2, 5, true } } },
	{ "a response far behind", 5, 2, {
		{ F1, 5000000, 4, 4 }, { F1, 100, 8, 4, .response = true },
		{ F1, 5000004, 1, 4 }, { F1, 5000005, 1, 5, true } } },
	{ "a request far behind", 5, 2, {
		{ F1, 5000000, 4, 4, .response = true }, { F1, 100, 8, 4 },
		{ F1, 108, 1, 5, true } } },
	{ "it goes on with responses", 5, 2, {
		{ F1, 0, 3, 3 }, { F1, 900, 1, 3, .response = true },
		{ F1, 901, 1, 4, .response = true },
		{ F1, 902, 1, 5, true, true } } },
	{ "congested", 5, 2, {
		{ F1, 0, 5, 5, true }, { F1, 900, 1, 5, true, true },
		{ F1, 3000000, 1, 5, true }, { F1, 3000001, 1, 6, true },
		{ F1, 3000004, 1, 1 } } },
	{ "back after a response", 5, 2, {
		{ F1, 100, 3, 3 }, { F1, 0, 1, 3, .response = true },
		{ F1, 50, 1, 3 }, { F1, 51, 1, 4 }, { F1, 50, 2, 4 } } },
};

static void play_run_case(struct kunit *test, const struct run_case *rc,
			  u32 start)
{
	struct iqcn_continuity cs[N_FLOWS] = {};
	bool congested[N_FLOWS] = {};
	int i;

	for (i = 0; i < N_CE && rc->ce[i].n; i++) {
		const struct ce *ce = &rc->ce[i];
		struct iqcn_continuity *c = &cs[ce->flow];
		bool *state = &congested[ce->flow];
		u32 ended;

		ended = iqcn_continuity_add(c, (start + ce->psn) % PSNS, ce->n,
					    PSNS, !ce->response);
		*state = iqcn_detect_run(*state, ended, c->run, rc->enter,
					 rc->exit);
		KUNIT_EXPECT_EQ_MSG(test, c->run, ce->run,
				    "%s from %u, packet %d", rc->name, start,
				    i);
		KUNIT_EXPECT_EQ_MSG(test, *state, ce->congested,
				    "%s from %u, packet %d", rc->name, start,
				    i);
	}
}

static void run_cases_test(struct kunit *test)
{
	int i, s;

	for (i = 0; i < ARRAY_SIZE(run_cases); i++)
		for (s = 0; s < ARRAY_SIZE(starts); s++)
			play_run_case(test, &run_cases[i], starts[s]);
}

/* Packets one after the other, all of them CE, of so many segments each */
struct stretch {
	u32 psn, packets, segs;
	bool response;
};

/* M is packets, G is enter, G' is exit; packets, the first is 1, with which
 * the state changes
 */
struct span_case {
	const char *name;
	u32 packets, enter, exit;
	struct stretch stretches[6];
	u32 changes[4];
};

static const struct span_case span_cases[] = {
	/* US 12395431, description (81): of 100, one difference is 2 */
	{ "(81)", 100, 3, 5, { { 0, 50, 1 }, { 51, 49, 1 } }, { 99 } },
	{ "all", 100, 3, 5, { { 0, 300, 1 } }, { 100 } },
	{ "99 only", 100, 3, 5, { { 0, 99, 1 } }, { } },
	{ "several of 2", 100, 3, 5,
	  { { 0, 10, 1 }, { 11, 20, 1 }, { 32, 30, 1 }, { 63, 1, 1 },
	    { 65, 35, 1 } }, { 96 } },
	{ "one of 3", 100, 3, 5, { { 0, 50, 1 }, { 52, 48, 1 } }, { } },
	{ "one of 3, at last", 100, 3, 5,
	  { { 0, 98, 1 }, { 100, 1, 1 } }, { } },
	{ "100 without it", 100, 3, 5,
	  { { 0, 50, 1 }, { 52, 200, 1 } }, { 151 } },
	{ "G is 2", 100, 2, 2, { { 0, 50, 1 }, { 51, 100, 1 } }, { } },
	{ "M is 1", 1, 2, 2, { { 0, 1, 1 }, { 2, 1, 1 }, { 3, 2, 1 } },
	  { 1, 2, 3 } },

	/* what ends it */
	{ "between G and G'", 100, 3, 5,
	  { { 0, 100, 1 }, { 102, 10, 1 }, { 115, 300, 1 } }, { 100 } },
	{ "G'", 100, 3, 5, { { 0, 100, 1 }, { 104, 100, 1 } }, { 100, 101 } },
	{ "G' later, 100 again", 100, 3, 5,
	  { { 0, 150, 1 }, { 154, 300, 1 } }, { 100, 151, 251 } },
	{ "G' is G", 100, 3, 3,
	  { { 0, 150, 1 }, { 151, 50, 1 }, { 203, 99, 1 } }, { 100, 201 } },
	{ "much more than G'", 100, 3, 5,
	  { { 0, 150, 1 }, { 8000000, 1, 1 } }, { 100, 151 } },

	/* GSO */
	{ "segments", 100, 3, 5, { { 0, 10, 10 } }, { 10 } },
	{ "segments, all at once", 100, 3, 5, { { 0, 1, 65535 } }, { 1 } },
	{ "segments, one missing", 100, 3, 5,
	  { { 0, 5, 10 }, { 51, 5, 10 } }, { 10 } },
	{ "segments, two missing", 100, 3, 5,
	  { { 0, 5, 10 }, { 52, 11, 10 } }, { 16 } },

	/* going back */
	{ "all again", 100, 3, 5, { { 0, 60, 1 }, { 0, 100, 1 } }, { 160 } },
	{ "segments, some of them new", 100, 3, 5,
	  { { 0, 6, 10 }, { 55, 5, 10 } }, { 11 } },
	{ "few, then ahead", 100, 3, 5,
	  { { 0, 60, 1 }, { 20, 1, 1 }, { 60, 100, 1 } }, { 101 } },
	{ "two missing when repeated", 100, 3, 5,
	  { { 0, 60, 1 }, { 20, 1, 1 }, { 23, 37, 1 }, { 60, 101, 1 } },
	  { 162 } },
	{ "one missing when repeated", 100, 3, 5,
	  { { 0, 60, 1 }, { 20, 1, 1 }, { 22, 60, 1 } }, { 100 } },
	{ "far: another connection", 100, 3, 5,
	  { { 65536, 60, 1 }, { 0, 100, 1 } }, { 160 } },
	{ "far, in steps", 100, 3, 5,
	  { { 65536, 60, 1 }, { 60, 1, 1 }, { 59, 100, 1 } }, { 161 } },
	{ "far ahead", 100, 3, 5,
	  { { 0, 60, 1 }, { 100000, 101, 1 } }, { 161 } },

	/* requests and READ responses */
	{ "responses", 100, 3, 5,
	  { { 0, 60, 1 }, { 5000, 40, 1, true }, { 200, 50, 1 } }, { 102 } },
	{ "responses far behind", 100, 3, 5,
	  { { 5000000, 60, 1 }, { 100, 40, 1, true }, { 5000060, 50, 1 } },
	  { 102 } },
	{ "responses, congested", 100, 3, 5,
	  { { 0, 100, 1 }, { 5000, 10, 1, true }, { 200, 10, 1 } }, { 100 } },
};

static void play_span_case(struct kunit *test, const struct span_case *sc,
			   u32 start)
{
	const struct stretch *s = sc->stretches;
	struct iqcn_continuity c = {};
	bool congested = false;
	u32 packet = 0, changes = 0, n;

	for (; s < sc->stretches + ARRAY_SIZE(sc->stretches); s++) {
		for (n = 0; n < s->packets; n++) {
			u32 psn = (start + s->psn + n * s->segs) % PSNS;
			bool last = congested;

			packet++;
			iqcn_continuity_add(&c, psn, s->segs, PSNS,
					    !s->response);
			congested = iqcn_detect_span(congested, &c, sc->packets,
						     sc->enter, sc->exit);
			if (congested == last)
				continue;
			KUNIT_ASSERT_LT(test, changes,
					ARRAY_SIZE(sc->changes));
			KUNIT_EXPECT_EQ_MSG(test, packet,
					    sc->changes[changes],
					    "%s from %u", sc->name, start);
			changes++;
		}
	}
	if (changes < ARRAY_SIZE(sc->changes))
		KUNIT_EXPECT_EQ_MSG(test, sc->changes[changes], 0,
				    "%s from %u", sc->name, start);
}

static void span_cases_test(struct kunit *test)
{
	int i, s;

	for (i = 0; i < ARRAY_SIZE(span_cases); i++)
		for (s = 0; s < ARRAY_SIZE(starts); s++)
			play_span_case(test, &span_cases[i], starts[s]);
}

/* A difference of G or more leads to one verdict, then it is past */
static void span_anew_test(struct kunit *test)
{
	static const struct {
		u32 hole;
		bool congested, want;
	} holes[] = {
		{ 2, false, false }, { 3, false, false }, { 4, false, false },
		{ 2, true, true }, { 3, true, true }, { 4, true, false },
		{ 1000, true, false },
	};
	int i, k;

	for (i = 0; i < ARRAY_SIZE(holes); i++) {
		bool congested = holes[i].congested;
		struct iqcn_continuity c = {};
		u32 psn = PSNS - 30;

		for (k = 0; k < 50; k++) {
			iqcn_continuity_add(&c, psn, 1, PSNS, true);
			congested = iqcn_detect_span(congested, &c, 100, 3, 5);
			psn = (psn + 1) % PSNS;
		}
		KUNIT_EXPECT_EQ_MSG(test, c.span, 50, "row %d", i);

		psn = (psn + holes[i].hole) % PSNS;
		iqcn_continuity_add(&c, psn, 1, PSNS, true);
		congested = iqcn_detect_span(congested, &c, 100, 3, 5);
		KUNIT_EXPECT_EQ_MSG(test, congested, holes[i].want, "row %d",
				    i);
		KUNIT_EXPECT_EQ_MSG(test, c.span, 0, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, c.gap, 0, "row %d", i);

		/* a smaller G' is for differences that come */
		for (k = 1; k <= 120; k++) {
			psn = (psn + 1) % PSNS;
			iqcn_continuity_add(&c, psn, 1, PSNS, true);
			congested = iqcn_detect_span(congested, &c, 100, 3, 3);
			KUNIT_ASSERT_EQ_MSG(test, congested,
					    holes[i].want || k >= 100,
					    "row %d, packet %d", i, k);
		}
	}
}

/* Shortest way from one number to the other */
static void seq_delta_test(struct kunit *test)
{
	static const struct {
		u32 a, b, modulus;
		s32 want;
	} deltas[] = {
		{ 0, 0, PSNS, 0 },
		{ 0, PSNS - 1, PSNS, 1 },
		{ PSNS - 1, 0, PSNS, -1 },
		{ PSNS / 2 - 1, 0, PSNS, PSNS / 2 - 1 },
		{ 0, PSNS / 2 - 1, PSNS, 1 - (s32)(PSNS / 2) },
		{ 5, PSNS - 5, PSNS, 10 },
		/* half way round is back */
		{ PSNS / 2, 0, PSNS, -(s32)(PSNS / 2) },
		/* 2^24 / 7, rounded up */
		{ 3, 2396740, 2396746, 9 },
		{ 2396740, 3, 2396746, -9 },
		{ 100, 200, 256, -100 },
		{ 20, 200, 256, 76 },
	};
	u32 a, b, modulus;
	int i;

	for (i = 0; i < ARRAY_SIZE(deltas); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_seq_delta(deltas[i].a, deltas[i].b,
						   deltas[i].modulus),
				    deltas[i].want, "row %d", i);
	for (modulus = 1; modulus <= 64; modulus++) {
		for (a = 0; a < modulus; a++) {
			for (b = 0; b < modulus; b++) {
				s32 delta = iqcn_seq_delta(a, b, modulus);

				KUNIT_ASSERT_LE(test, 2 * abs(delta), modulus);
				KUNIT_ASSERT_EQ(test,
						(b + delta + modulus) % modulus,
						a);
			}
		}
	}
}

/* However often packets are repeated, they are those few */
static void continuity_repeat_test(struct kunit *test)
{
	static const struct {
		u32 packets, n;
	} loops[] = {
		{ 1, 1 }, { 1, 4 }, { 4, 1 }, { 2, 2 },
	};
	int i, s, k;

	for (i = 0; i < ARRAY_SIZE(loops) * ARRAY_SIZE(starts); i++) {
		u32 packets = loops[i % ARRAY_SIZE(loops)].packets;
		u32 n = loops[i % ARRAY_SIZE(loops)].n;
		bool run = false, span = false;
		struct iqcn_continuity c = {};
		u32 psn, ended;

		s = i / ARRAY_SIZE(loops);
		for (k = 0; k < 1000; k++) {
			psn = (starts[s] + k % packets * n) % PSNS;
			ended = iqcn_continuity_add(&c, psn, n, PSNS, true);
			run = iqcn_detect_run(run, ended, c.run, 5, 2);
			span = iqcn_detect_span(span, &c, 5, 2, 3);
			KUNIT_ASSERT_EQ(test, ended, IQCN_RUN_GOES_ON);
			KUNIT_ASSERT_EQ(test, c.run,
					min_t(u32, k + 1, packets) * n);
			KUNIT_ASSERT_FALSE(test, run);
			KUNIT_ASSERT_FALSE(test, span);
		}
		/* new ones do count */
		psn = (starts[s] + packets * n) % PSNS;
		ended = iqcn_continuity_add(&c, psn, 4, PSNS, true);
		KUNIT_EXPECT_TRUE(test, iqcn_detect_run(run, ended, c.run, 5,
							2));
		KUNIT_EXPECT_TRUE(test, iqcn_detect_span(span, &c, 5, 2, 3));
	}
}

/* However often it goes back, by however much: a few packets in order are no
 * more than those few
 */
static void continuity_back_test(struct kunit *test)
{
	/* with samples of 1 in 1, 7, 1000, 65536 */
	static const u32 moduli[] = { PSNS, 2396746, 16778, 256 };
	int m, i, k;

	for (m = 0; m < ARRAY_SIZE(moduli); m++) {
		u32 modulus = moduli[m], far = modulus / 256;
		const u32 steps[] = {
			1, 2, 3, far / 2, far - 2, far - 1, far, far + 1,
			2 * far, 3 * far + 1, modulus / 4, modulus / 2 - 2,
		};

		for (i = 0; i < 3 * ARRAY_SIZE(steps); i++) {
			u32 step = steps[i / 3], few = 1 + i % 3;
			bool run = false, span = false;
			struct iqcn_continuity c = {};
			u32 seq = modulus / 3, ended;

			if (!step || step >= modulus / 2)
				continue;
			for (k = 0; k < 1000 * few; k++) {
				ended = iqcn_continuity_add(&c, seq, 1,
							    modulus, true);
				run = iqcn_detect_run(run, ended, c.run,
						      few + 1, few);
				span = iqcn_detect_span(span, &c, few + 1, 2,
							3);
				KUNIT_ASSERT_LE_MSG(test, c.run, few,
						    "%u back of %u", step,
						    modulus);
				KUNIT_ASSERT_FALSE_MSG(test, run,
						       "%u back of %u", step,
						       modulus);
				KUNIT_ASSERT_FALSE_MSG(test, span,
						       "%u back of %u", step,
						       modulus);
				if (k % few == few - 1)
					seq += modulus - few + 1 - step;
				else
					seq++;
				seq %= modulus;
			}
		}
	}
}

/* One request, one response: nothing is ever known of their order */
static void continuity_kinds_test(struct kunit *test)
{
	static const u32 apart[] = {
		0, 1, 2, 1000, 60000, 100000, 5000000, PSNS / 2, 12000000,
		PSNS - 70000, PSNS - 1000, PSNS - 2, PSNS - 1,
	};
	int i, s, k;

	for (i = 0; i < ARRAY_SIZE(apart); i++) {
		for (s = 0; s < ARRAY_SIZE(starts); s++) {
			bool run = false, span = false;
			struct iqcn_continuity c = {};

			for (k = 0; k < 100; k++) {
				u32 psn = starts[s] + k / 2;
				u32 ended;

				psn += k % 2 * apart[i];
				ended = iqcn_continuity_add(&c, psn % PSNS, 1,
							    PSNS, k % 2);
				run = iqcn_detect_run(run, ended, c.run, 2, 1);
				span = iqcn_detect_span(span, &c, 2, 2, 3);
				KUNIT_ASSERT_FALSE_MSG(test, run, "%u apart",
						       apart[i]);
				KUNIT_ASSERT_FALSE_MSG(test, span, "%u apart",
						       apart[i]);
			}
		}
	}
}

/* All of the numbers, and again, until the run stops to count */
static void continuity_long_test(struct kunit *test)
{
	struct iqcn_continuity c = {};
	u32 psn = 0xabcdef, packets;
	u64 sent = 0;

	for (packets = 0; packets < 16500; packets++) {
		KUNIT_ASSERT_EQ(test, iqcn_continuity_add(&c, psn, 65535, PSNS,
							  true),
				IQCN_RUN_GOES_ON);
		psn = (psn + 65535) % PSNS;
		sent += 65535;
		KUNIT_ASSERT_EQ(test, c.run, min_t(u64, sent, 1 << 30));
	}
	KUNIT_ASSERT_GT(test, sent, 1ULL << 30);
	iqcn_continuity_add(&c, (psn + 1) % PSNS, 1, PSNS, true);
	KUNIT_EXPECT_EQ(test, c.run, 1);
}

#define N_SENT 2000

/* What a sender sent, PSN by PSN; CE_LAST: the last segment of its packet */
enum { NOT_CE, CE, CE_LAST };

static u32 ref_run(const u8 *sent, u32 n)
{
	u32 run = 0;

	while (run < n && sent[n - 1 - run] != NOT_CE)
		run++;
	return run;
}

/* Every packet is seen, not only those that are CE */
static bool ref_run_state(const u8 *sent, u32 n, u32 enter, u32 exit)
{
	bool congested = false;
	u32 run = 0, i;

	for (i = 0; i < n; i++) {
		if (sent[i] == NOT_CE) {
			if (run <= exit)
				congested = false;
			run = 0;
		} else if (++run >= enter) {
			congested = true;
		}
	}
	return congested;
}

static bool ref_span_state(const u8 *sent, u32 n, u32 packets, u32 enter,
			   u32 exit)
{
	u32 from = 0, last = 0, largest = 0, i;
	bool congested = false, begun = false;

	for (i = 0; i < n; i++) {
		if (sent[i] == NOT_CE)
			continue;
		if (begun)
			largest = max(largest, i - last);
		else
			from = i;
		begun = true;
		last = i;
		if (sent[i] != CE_LAST)
			continue;
		if (largest >= exit)
			congested = false;
		else if (largest < enter && i + 1 - from >= packets)
			congested = true;
		else if (largest < enter)
			continue;
		from = i + 1;
		largest = 0;
	}
	return congested;
}

/* Against the whole history of the sender */
static void continuity_model_test(struct kunit *test)
{
	static const u32 ce_pcts[] = { 30, 60, 80, 90, 95, 98, 100 };
	u8 *sent = alloc(test, N_SENT + 64);
	u32 run_changes = 0, span_changes = 0;
	struct rnd_state rnd;
	int seq;

	prandom_seed_state(&rnd, SEED);
	for (seq = 0; seq < 140; seq++) {
		u32 ce_pct = ce_pcts[seq % ARRAY_SIZE(ce_pcts)];
		u32 r = prandom_u32_state(&rnd);
		u32 enter = 1 + r % 12, exit = r / 16 % enter;
		u32 packets = 1 + (r >> 8) % 50;
		u32 enter_gap = 2 + (r >> 16) % 3;
		u32 exit_gap = enter_gap + (r >> 20) % 3;
		bool run = false, span = false, was;
		struct iqcn_continuity c = {};
		u32 start, n, segs;

		/* half of them wrap */
		start = prandom_u32_state(&rnd) % PSNS;
		if (seq / ARRAY_SIZE(ce_pcts) % 2)
			start = PSNS - start % N_SENT;
		for (n = 0; n < N_SENT; n += segs) {
			u32 psn = (start + n) % PSNS, ended;

			r = prandom_u32_state(&rnd);
			segs = r >> 24 & 3 ? 1 : r >> 26 & 15 ?
			       1 + (r >> 16) % 8 : 64;
			if ((r & 0xffff) % 100 >= ce_pct) {
				memset(sent + n, NOT_CE, segs);
				continue;
			}
			memset(sent + n, CE, segs - 1);
			sent[n + segs - 1] = CE_LAST;

			ended = iqcn_continuity_add(&c, psn, segs, PSNS, true);
			KUNIT_ASSERT_EQ_MSG(test, c.run,
					    ref_run(sent, n + segs),
					    "sequence %d, PSN %u", seq, psn);

			was = run;
			run = iqcn_detect_run(run, ended, c.run, enter, exit);
			run_changes += run != was;
			KUNIT_ASSERT_EQ_MSG(test, run,
					    ref_run_state(sent, n + segs,
							  enter, exit),
					    "sequence %d, PSN %u", seq, psn);

			was = span;
			span = iqcn_detect_span(span, &c, packets, enter_gap,
						exit_gap);
			span_changes += span != was;
			KUNIT_ASSERT_EQ_MSG(test, span,
					    ref_span_state(sent, n + segs,
							   packets, enter_gap,
							   exit_gap),
					    "sequence %d, PSN %u", seq, psn);
		}
	}
	/* or it was for nothing */
	KUNIT_EXPECT_GT(test, run_changes, 1000);
	KUNIT_EXPECT_GT(test, span_changes, 1000);
}

/* Which numbers are in the run, of a sender that goes back */
struct ref_again {
	u16 *run_of;
	u16 run_no;
	u32 first, run, next;
};

/* Return: the run that has ended, U32_MAX: none */
static u32 ref_again_add(struct ref_again *ref, u32 n, u32 segs)
{
	u32 ended = U32_MAX, i;
	bool ahead;

	/* right after all that are in it */
	ahead = n && ref->run_of[n - 1] == ref->run_no &&
		ref->run_of[n] != ref->run_no;
	if (!ref->run_no || (n > ref->next && !ahead)) {
		if (ref->run_no)
			ended = n == ref->next + 1 ? ref->run : 0;
		ref->run_no++;
		ref->first = n;
		ref->run = 0;
	}
	for (i = n; i < n + segs; i++) {
		if (i < ref->first || ref->run_of[i] == ref->run_no)
			continue;
		ref->run_of[i] = ref->run_no;
		ref->run++;
	}
	ref->next = n + segs;
	return ended;
}

/* A sender that goes back, now and then further than the last hole is away */
static void continuity_again_test(struct kunit *test)
{
	static const u32 ce_pcts[] = { 50, 80, 90, 95, 98 };
	static const u32 back_shifts[] = { 3, 5, 8 };
	u32 changes = 0, again = 0;
	struct ref_again ref = {};
	struct rnd_state rnd;
	int seq, k;

	ref.run_of = alloc(test, (N_SENT * 4 + 64) * sizeof(*ref.run_of));
	prandom_seed_state(&rnd, SEED);
	for (seq = 0; seq < 150; seq++) {
		u32 ce_pct = ce_pcts[seq % ARRAY_SIZE(ce_pcts)];
		u32 back_shift = back_shifts[seq % ARRAY_SIZE(back_shifts)];
		u32 r = prandom_u32_state(&rnd);
		u32 enter = 2 + r % 12, exit = r / 16 % enter;
		bool congested = false, want = false, was;
		struct iqcn_continuity c = {};
		u32 start, n = 40, segs;

		memset(ref.run_of, 0, (N_SENT * 4 + 64) *
				      sizeof(*ref.run_of));
		ref.run_no = 0;
		start = prandom_u32_state(&rnd) % PSNS;
		if (seq % 2)
			start = PSNS - start % N_SENT;
		for (k = 0; k < N_SENT; k++, n += segs) {
			u32 psn, ended, ref_ended;

			r = prandom_u32_state(&rnd);
			if (!(r >> 8 & ((1 << back_shift) - 1))) {
				n -= min(n, (r >> 16) % 60);
				again++;
			}
			segs = r >> 30 ? 1 : 1 + (r >> 28 & 3);
			if ((r & 0xff) * 100 >= ce_pct * 256)
				continue;
			psn = (start + n) % PSNS;
			ended = iqcn_continuity_add(&c, psn, segs, PSNS, true);
			congested = iqcn_detect_run(congested, ended, c.run,
						    enter, exit);

			ref_ended = ref_again_add(&ref, n, segs);
			was = want;
			want = ref.run >= enter ||
			       (want && ref_ended > exit);
			changes += want != was;
			KUNIT_ASSERT_EQ_MSG(test, c.run, ref.run,
					    "sequence %d, PSN %u", seq, psn);
			KUNIT_ASSERT_EQ_MSG(test, ended, ref_ended,
					    "sequence %d, PSN %u", seq, psn);
			KUNIT_ASSERT_EQ_MSG(test, congested, want,
					    "sequence %d, PSN %u", seq, psn);
		}
	}
	KUNIT_EXPECT_GT(test, changes, 1000);
	KUNIT_EXPECT_GT(test, again, 1000);
}

/*
 * Reordering
 */

/* What was judged: @seq of the first number, @n numbers in all, if they follow */
struct judged {
	u32 seq, n;
	bool in_order;
};

static void judge(struct judged *j, u32 seq, u32 n, u32 modulus)
{
	j->in_order &= !j->n || iqcn_seq_delta(seq, j->seq, modulus) > 0;
	j->seq = (seq + n - 1) % modulus;
	j->n += n;
}

/* As a flow does.  Return: the packet was taken. */
static bool reorder_add(struct iqcn_reorder *r, u32 seq, u32 n, u32 modulus,
			bool kind, struct judged *j)
{
	bool held = iqcn_reorder_hold(r, seq, n, modulus, kind);
	u32 first, several;

	while ((several = iqcn_reorder_pop(r, !held, modulus, &first)))
		judge(j, first, several, modulus);
	if (!held) {
		judge(j, seq, n, modulus);
		iqcn_reorder_pass(r, seq, n, modulus, kind);
	}
	return held;
}

/* With each packet, how many numbers are judged */
struct reorder_case {
	const char *name;
	struct {
		u32 seq, n, want;
		bool response;
	} in[12];
};

static const struct reorder_case reorder_cases[] = {
	{ "in order", { { 1, 1, 1 }, { 2, 3, 3 }, { 5, 60, 60 } } },
	{ "holes", { { 1, 1, 1 }, { 3, 1, 1 }, { 90, 2, 2 }, { 93, 1, 1 } } },
	{ "again", { { 1, 4, 4 }, { 2, 3, 3 }, { 5, 1, 1 }, { 3, 3, 3 } } },
	{ "the second pair", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 5, 1, 1 }, { 7, 1, 0 }, { 6, 1, 2 }, { 8, 1, 1 } } },
	{ "not CE", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 6, 1, 0 }, { 7, 1, 2 }, { 9, 1, 0 }, { 11, 1, 1 },
		{ 12, 1, 2 } } },
	{ "two not CE", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 7, 1, 0 }, { 8, 1, 2 } } },
	{ "later than ever", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 6, 1, 0 }, { 7, 1, 2 }, { 5, 1, 0 }, { 9, 2, 0 },
		{ 8, 1, 3 } } },
	{ "the latest", { { 1, 1, 1 }, { 3, 31, 31 }, { 2, 1, 0 },
		{ 35, 31, 0 }, { 34, 1, 32 } } },
	{ "too late: a sender that goes back", { { 1, 1, 1 }, { 3, 32, 32 },
		{ 2, 1, 1 }, { 4, 1, 1 } } },
	{ "again while one is late", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 6, 1, 0 }, { 4, 1, 2 }, { 5, 1, 1 } } },
	{ "a jump", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 }, { 6, 1, 0 },
		{ 39, 1, 2 }, { 41, 1, 0 }, { 40, 1, 2 } } },
	{ "many segments", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 6, 33, 33 }, { 40, 1, 0 }, { 41, 64, 65 }, { 106, 1, 0 },
		{ 105, 1, 2 } } },
	{ "segments", { { 1, 4, 4 }, { 9, 4, 4 }, { 5, 4, 0 }, { 17, 4, 0 },
		{ 13, 4, 8 }, { 25, 2, 0 }, { 21, 4, 6 } } },
	{ "segments, some again", { { 1, 4, 4 }, { 9, 4, 4 }, { 5, 4, 0 },
		{ 17, 4, 0 }, { 12, 2, 6 } } },
	{ "responses", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 }, { 6, 1, 0 },
		{ 5, 1, 2, true }, { 7, 1, 0, true }, { 8, 1, 2 } } },
	{ "requests are no responses", { { 1, 8, 8 }, { 12, 1, 1, true },
		{ 8, 1, 0, true } } },
};

static void play_reorder_case(struct kunit *test, const struct reorder_case *rc,
			      u32 start, u32 modulus)
{
	struct iqcn_reorder r = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(rc->in) && rc->in[i].n; i++) {
		struct judged j = { .in_order = true };

		reorder_add(&r, (start + rc->in[i].seq) % modulus, rc->in[i].n,
			    modulus, !rc->in[i].response, &j);
		KUNIT_EXPECT_EQ_MSG(test, j.n, rc->in[i].want,
				    "%s from %u of %u, packet %d", rc->name,
				    start, modulus, i);
	}
}

static void reorder_cases_test(struct kunit *test)
{
	int i, s;

	for (i = 0; i < ARRAY_SIZE(reorder_cases); i++) {
		for (s = 0; s < ARRAY_SIZE(starts); s++) {
			play_reorder_case(test, &reorder_cases[i], starts[s],
					  PSNS);
			/* 1 in 65536 is looked at */
			play_reorder_case(test, &reorder_cases[i],
					  starts[s] % 256, 256);
		}
	}
}

/* Nothing waits while no packet is late: not for those that are not CE, nor when a
 * sender goes back
 */
static void reorder_transparent_test(struct kunit *test)
{
	struct iqcn_reorder r = {};
	u32 seq = PSNS - 1000, k;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, SEED);
	for (k = 0; k < 20000; k++) {
		struct judged j = { .in_order = true };
		u32 d = prandom_u32_state(&rnd);
		u32 n = d >> 24 & 15 ? 1 : 1 + (d >> 16) % 80;

		/* one is CE again that was CE, some are not CE, or all go on */
		if (d % 16 == 0)
			n = 1;
		else if (d % 16 < 4)
			seq += d >> 8 & 63;
		KUNIT_ASSERT_FALSE(test, reorder_add(&r, seq % PSNS, n, PSNS,
						     true, &j));
		KUNIT_ASSERT_EQ(test, j.n, n);
		if (d % 16 == 0)
			continue;
		seq += n;
		if (d % 16 == 15)
			seq -= 1;
	}
}

#define N_REORDER 500

/* Every number once and in order, whatever overtakes what, once it is known how
 * late they may be
 */
static void reorder_model_test(struct kunit *test)
{
	static const u32 moduli[] = { PSNS, 16778, 256 };
	struct {
		u32 seq, n, at;
	} *sent = alloc(test, N_REORDER * sizeof(*sent)), swap;
	struct rnd_state rnd;
	u32 late = 0;
	int round, i, k;

	prandom_seed_state(&rnd, SEED);
	for (round = 0; round < 300; round++) {
		u32 modulus = moduli[round % ARRAY_SIZE(moduli)];
		u32 segs = 1 + round % 3, spread = 32 / segs;
		struct iqcn_reorder r = { .window = IQCN_REORDER_MAX };
		struct judged j = { .in_order = true };
		u32 seq = prandom_u32_state(&rnd) % modulus, all = 0, first;

		for (i = 0; i < N_REORDER; i++) {
			u32 d = prandom_u32_state(&rnd);

			/* some are not CE */
			if (i && d % 8 == 0)
				seq += 1 + (d >> 8) % 3;
			sent[i].seq = seq % modulus;
			sent[i].n = segs;
			/* the first is there first, or nobody knows of it */
			sent[i].at = i ? seq + (d >> 16) % (spread * segs - segs + 1) :
					 seq;
			seq += segs;
			all += segs;
		}
		for (i = 1; i < N_REORDER; i++)
			for (k = i; k && sent[k - 1].at > sent[k].at; k--) {
				swap = sent[k];
				sent[k] = sent[k - 1];
				sent[k - 1] = swap;
				late++;
			}
		for (i = 0; i < N_REORDER; i++)
			reorder_add(&r, sent[i].seq, sent[i].n, modulus, true,
				    &j);
		while ((segs = iqcn_reorder_pop(&r, true, modulus, &first)))
			judge(&j, first, segs, modulus);
		KUNIT_ASSERT_TRUE_MSG(test, j.in_order, "round %d", round);
		KUNIT_ASSERT_EQ_MSG(test, j.n, all, "round %d", round);
	}
	/* or it was for nothing */
	KUNIT_EXPECT_GT(test, late, 100000);
}

/*
 * Sampling
 */

static const u32 everys[] = { 1, 2, 3, 7, 8, 64, 1000, 65536 };

/* All PSNs once, in packets of any size: all of the samples, one by one */
static void sample_cycle_test(struct kunit *test)
{
	static const u32 moduli[ARRAY_SIZE(everys)] = {
		16777216, 8388608, 5592406, 2396746, 2097152, 262144, 16778,
		256,
	};
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < ARRAY_SIZE(everys); i++) {
		u32 modulus = iqcn_sample_modulus(everys[i]);
		u32 qp = prandom_u32_state(&rnd) % PSNS;
		u32 start = prandom_u32_state(&rnd) % PSNS;
		u32 sent, segs, picks = 0, next = 0;

		KUNIT_EXPECT_EQ_MSG(test, modulus, moduli[i], "1 in %u",
				    everys[i]);
		for (sent = 0; sent < PSNS; sent += segs) {
			u32 r = prandom_u32_state(&rnd), seq, n;

			segs = r >> 30 ? 1 + r % 8 : 1 + r % 64;
			segs = min(segs, PSNS - sent);
			n = iqcn_sample_pick((start + sent) % PSNS, segs, qp,
					     everys[i], &seq);
			if (!n)
				continue;
			if (!picks)
				next = seq;
			KUNIT_ASSERT_EQ_MSG(test, seq, next, "1 in %u",
					    everys[i]);
			KUNIT_ASSERT_LT_MSG(test, seq, modulus, "1 in %u",
					    everys[i]);
			next = (next + n) % modulus;
			picks += n;
		}
		KUNIT_EXPECT_EQ_MSG(test, picks, modulus, "1 in %u",
				    everys[i]);
	}
}

/* Segments of one packet are packets of one segment */
static void sample_segs_test(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 4000; i++) {
		u32 r = prandom_u32_state(&rnd);
		u32 every = i % 3 ? everys[i % ARRAY_SIZE(everys)] :
				    1 + r % 65536;
		u32 qp = prandom_u32_state(&rnd) % PSNS;
		u32 psn = prandom_u32_state(&rnd) % PSNS;
		u32 segs = (r >> 16) % 65535 + 1, want = 0, first = 0;
		u32 one, n, s, seq;

		/* many small ones, and the largest; half of them at the wrap */
		segs = i % 100 == 0 ? 65535 : i % 4 ? 1 + segs % 32 : segs;
		if (i / 4 % 2)
			psn = (2 * PSNS - qp - psn % (segs + 2)) % PSNS;
		for (s = 0; s < segs; s++) {
			u32 number = (psn + s + qp) % PSNS;
			bool hit = number % every == 0;

			if (hit && !want++)
				first = number / every;
			if (s >= 32 && s < segs - 32)
				continue;
			one = iqcn_sample_pick((psn + s) % PSNS, 1, qp, every,
					       &seq);
			KUNIT_ASSERT_EQ_MSG(test, one, hit,
					    "PSN %u QP %u 1 in %u", psn + s,
					    qp, every);
			if (hit)
				KUNIT_ASSERT_EQ(test, seq, number / every);
		}
		n = iqcn_sample_pick(psn, segs, qp, every, &seq);
		KUNIT_ASSERT_EQ_MSG(test, n, want,
				    "PSN %u QP %u 1 in %u, %u segments", psn,
				    qp, every, segs);
		if (want)
			KUNIT_ASSERT_EQ_MSG(test, seq, first,
					    "PSN %u QP %u 1 in %u", psn, qp,
					    every);
	}
}

/* US 12395431, description (78): continuity is had through sampling */
static void sample_continuity_test(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < ARRAY_SIZE(everys); i++) {
		u32 every = everys[i], modulus = iqcn_sample_modulus(every);
		u32 qp = prandom_u32_state(&rnd) % PSNS;
		u32 psn = (2 * PSNS - qp - 300 * every) % PSNS;
		struct iqcn_continuity all = {}, half = {};
		u32 picks = 0, packets = 0, last = 0, seq, n, segs, ended;
		bool congested = false, wrapped = false;

		while (picks < 1000) {
			segs = prandom_u32_state(&rnd) >> 16;
			segs = 1 + segs % min(2 * every, 65535U);
			n = iqcn_sample_pick(psn, segs, qp, every, &seq);
			psn = (psn + segs) % PSNS;
			if (!n)
				continue;

			wrapped |= seq < last;
			last = seq;
			picks += n;
			ended = iqcn_continuity_add(&all, seq, n, modulus,
						    true);
			KUNIT_ASSERT_EQ_MSG(test, ended, IQCN_RUN_GOES_ON,
					    "1 in %u, number %u", every, seq);
			KUNIT_ASSERT_EQ_MSG(test, all.run, picks,
					    "1 in %u, number %u", every, seq);

			if (packets++ % 2)
				continue;
			ended = iqcn_continuity_add(&half, seq, n, modulus,
						    true);
			congested = iqcn_detect_run(congested, ended, half.run,
						    5, 2);
			KUNIT_ASSERT_EQ_MSG(test, half.run, n,
					    "1 in %u, number %u", every, seq);
			KUNIT_ASSERT_FALSE_MSG(test, congested,
					       "1 in %u, number %u", every,
					       seq);
		}
		KUNIT_EXPECT_TRUE_MSG(test, wrapped, "1 in %u", every);
	}
}

/* At 4 Gb/s a packet each 2,000 ns: one is among 1,000 bytes */
static void sample_waits_test(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, iqcn_sample_waits(999, 4000000000ULL, 2000));
	KUNIT_EXPECT_TRUE(test, iqcn_sample_waits(1000, 4000000000ULL, 2000));
	KUNIT_EXPECT_TRUE(test, iqcn_sample_waits(1001, 4000000000ULL, 2000));
}

/* Flows that send the same PSN at the same time are not all looked at */
static void sample_qp_test(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 200; i++) {
		u32 psn = prandom_u32_state(&rnd) % PSNS;
		u32 qp = prandom_u32_state(&rnd) % PSNS, picks = 0, seq, k;

		for (k = 0; k < 512; k++)
			picks += iqcn_sample_pick(psn, 1, (qp + k) % PSNS, 64,
						  &seq);
		KUNIT_ASSERT_EQ_MSG(test, picks, 8, "PSN %u QP %u", psn, qp);
	}
}

/*
 * Times that are learned
 */

static void smooth_test(struct kunit *test)
{
	static const u32 values[] = {
		1, 7, 8, 9, 1000, 20000, 300000, NSEC_PER_SEC, U32_MAX,
	};
	int a, b, i;

	/* RFC 6298: 7/8 of the old one, 1/8 of the new one */
	KUNIT_EXPECT_EQ(test, iqcn_smooth(8000, 16000), 9000);
	KUNIT_EXPECT_EQ(test, iqcn_smooth(16000, 8000), 15000);
	KUNIT_EXPECT_EQ(test, iqcn_smooth(8, U32_MAX), 536870918);
	KUNIT_EXPECT_EQ(test, iqcn_smooth(U32_MAX, 7), 3758096384U);

	for (a = 0; a < ARRAY_SIZE(values); a++) {
		u32 smooth = iqcn_smooth(0, values[a]);

		for (i = 0; i < 100; i++) {
			KUNIT_EXPECT_EQ(test, smooth, values[a]);
			smooth = iqcn_smooth(smooth, values[a]);
		}
		/* to another value, step by step, never beyond */
		for (b = 0; b < ARRAY_SIZE(values); b++) {
			u64 off = gap64(values[a], values[b]);

			smooth = values[a];
			for (i = 0; i < 200; i++) {
				u64 last = off;

				smooth = iqcn_smooth(smooth, values[b]);
				off = gap64(smooth, values[b]);
				KUNIT_ASSERT_EQ(test, off, last - last / 8);
			}
			KUNIT_EXPECT_LT_MSG(test, off, 8, "%u to %u",
					    values[a], values[b]);
		}
	}
}

#define T1_NS	300000ULL

static void answer_test(struct kunit *test)
{
	enum { ASK, SEEN };
	/* ask: how long it was quiet */
	static const struct {
		u8 what;
		u64 quiet_ns, now_ns;
		u64 asked_ns;
		u32 smooth_ns;
	} steps[] = {
		/* a CNP of before, then the first packet */
		{ SEEN, 0, 500, 0, 0 },
		{ ASK, U64_MAX, 1000, 1000, 0 },
		{ ASK, 1000, 2000, 1000, 0 },
		{ ASK, T1_NS - 1, 301999, 1000, 0 },
		/* the last one that follows a silence */
		{ ASK, T1_NS, 601999, 601999, 0 },
		{ ASK, U64_MAX, 700000, 700000, 0 },
		{ ASK, 1000, 701000, 700000, 0 },
		/* taken whole; one that was not asked for is not taken */
		{ SEEN, 0, 720000, 0, 20000 },
		{ SEEN, 0, 730000, 0, 20000 },
		/* T1 without another */
		{ ASK, 0, 740000, 0, 20000 },
		{ ASK, 40000, 780000, 0, 20000 },
		{ ASK, T1_NS - 1, 1000000, 0, 20000 },
		{ SEEN, 0, 1010000, 0, 20000 },
		{ ASK, T1_NS, 2000000, 2000000, 20000 },
		{ SEEN, 0, 2028000, 0, 21000 },
		{ ASK, U64_MAX, 3000000, 3000000, 21000 },
		{ SEEN, 0, 3013000, 0, 20000 },
		/* more than a second is something else */
		{ ASK, T1_NS, SECOND, SECOND, 20000 },
		{ SEEN, 0, 2 * SECOND + 1, 0, 20000 },
		{ SEEN, 0, 2 * SECOND + 2, 0, 20000 },
		{ ASK, T1_NS, 3 * SECOND, 3 * SECOND, 20000 },
		{ SEEN, 0, 3 * SECOND + (1ULL << 32), 0, 20000 },
		{ ASK, T1_NS, 9 * SECOND, 9 * SECOND, 20000 },
		{ SEEN, 0, 10 * SECOND, 0, 125017500 },
		/* longer than an answer takes, more than T1 now */
		{ ASK, T1_NS, 11 * SECOND, 0, 125017500 },
		{ ASK, 125017500, 12 * SECOND, 0, 125017500 },
		{ ASK, 125017501, 13 * SECOND, 13 * SECOND, 125017500 },
		{ ASK, T1_NS, 13 * SECOND + 7500, 13 * SECOND, 125017500 },
		{ SEEN, 0, 13 * SECOND + 17500, 0, 109392500 },
		{ ASK, 109392500, 14 * SECOND, 0, 109392500 },
		{ ASK, 109392501, 15 * SECOND, 15 * SECOND, 109392500 },
	};
	struct iqcn_cnp_srtt a = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].what == ASK)
			iqcn_cnp_srtt_start(&a, steps[i].quiet_ns, T1_NS,
					  steps[i].now_ns);
		else
			iqcn_cnp_srtt_sample(&a, steps[i].now_ns);
		KUNIT_EXPECT_EQ_MSG(test, a.asked_ns, steps[i].asked_ns,
				    "step %d", i);
		KUNIT_EXPECT_EQ_MSG(test, a.smooth_ns, steps[i].smooth_ns,
				    "step %d", i);
	}
}

/* A CNP that is lost makes no time seem long */
static void answer_lost_test(struct kunit *test)
{
	/* apart: from a packet that is not answered to the next */
	static const struct {
		u32 known_ns;
		u32 lost;
		u64 apart_ns;
	} rows[] = {
		{ 20000, 1, 900000000 },
		{ 0, 1, 900000000 },
		{ 20000, 1, T1_NS },
		{ 0, 1, T1_NS },
		{ 20000, 100, 900000000 },
		{ 0, 100, 900000000 },
		{ 20000, 10, 100 * SECOND },
		{ 0, 10, 100 * SECOND },
	};
	u64 now_ns;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct iqcn_cnp_srtt a = { .smooth_ns = rows[i].known_ns };

		now_ns = 7 * SECOND;
		iqcn_cnp_srtt_start(&a, U64_MAX, T1_NS, now_ns);
		for (n = 0; n < rows[i].lost; n++) {
			KUNIT_EXPECT_EQ_MSG(test, a.asked_ns, now_ns,
					    "row %u", i);
			now_ns += rows[i].apart_ns;
			iqcn_cnp_srtt_start(&a, rows[i].apart_ns, T1_NS, now_ns);
		}
		KUNIT_EXPECT_EQ_MSG(test, a.asked_ns, now_ns, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, a.smooth_ns, rows[i].known_ns,
				    "row %u", i);
		iqcn_cnp_srtt_sample(&a, now_ns + 20000);
		KUNIT_EXPECT_EQ_MSG(test, a.asked_ns, 0, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, a.smooth_ns, 20000, "row %u", i);
	}
}

/* Packets every 10 us, the CNP of the first is lost: a later one is not its */
static void answer_dense_test(struct kunit *test)
{
	static const struct {
		u32 smooth_ns;
		u64 later_ns;	/* than the packet that was timed */
		u32 want_ns;
	} cnps[] = {
		{ 20000, 20000, 20000 },
		{ 20000, 80000, 27500 },
		{ 20000, 90000, 20000 },
		{ 20000, 900000000, 20000 },
		{ 0, 20000, 20000 },
		{ 0, 16 * T1_NS, 16 * T1_NS },
		{ 0, 16 * T1_NS + 10000, 0 },
		{ 0, 900000000, 0 },
	};
	u64 now_ns;
	int i;

	for (i = 0; i < ARRAY_SIZE(cnps); i++) {
		struct iqcn_cnp_srtt a = { .smooth_ns = cnps[i].smooth_ns };

		iqcn_cnp_srtt_start(&a, U64_MAX, T1_NS, SECOND);
		for (now_ns = 10000; now_ns <= cnps[i].later_ns;
		     now_ns += 10000)
			iqcn_cnp_srtt_start(&a, 10000, T1_NS, SECOND + now_ns);
		iqcn_cnp_srtt_sample(&a, SECOND + cnps[i].later_ns);
		KUNIT_EXPECT_EQ_MSG(test, a.smooth_ns, cnps[i].want_ns,
				    "row %d", i);
	}
}

/* Packets at 0, 1, 2 ... ms, each answered @late_ns later: the deferred CNP for
 * each is cancelled by the answer to a later one only
 */
static void pending_late_test(struct kunit *test)
{
	static const struct {
		u64 late_ns;
		u64 t2_ns;
		bool cancelled;
	} rows[] = {
		{ 150000, 150000, false },
		{ 390000, 390000, false },
		{ 600000, 600000, false },
		{ 1200000, 1200000, false },
		{ 2700000, 1500000, false },
		{ 4700000, 4700000, false },
		{ 390000, 1000000, false },
		/* the next answer comes before that */
		{ 150000, 900000, true },
		{ 390000, 1100000, true },
		{ 600000, 1400000, true },
	};
	const u64 ms = 1000000, answers = 40;
	u64 now_ns, sent, seen, due, t1_ns = T1_NS;
	bool cancelled;
	u8 owed, left;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		owed = 0;
		cancelled = false;
		left = 0;
		sent = 0;
		seen = 0;
		due = 0;
		/* what happens at one moment: packet, T1 of it, answer */
		for (now_ns = 0; seen < answers; now_ns += 10000) {
			if (now_ns == sent * ms) {
				owed = iqcn_owed_asked(owed, sent ? ms : U64_MAX,
						       t1_ns);
				sent++;
			}
			/* that of the tenth packet is looked at */
			if (now_ns == 10 * ms + t1_ns) {
				left = owed;
				due = now_ns;
			}
			if (now_ns != seen * ms + rows[i].late_ns)
				continue;
			seen++;
			owed = iqcn_owed_answered(owed);
			if (!due || now_ns >= due + rows[i].t2_ns)
				continue;
			/* the time that is learned is too short, or not known */
			cancelled |= iqcn_pending_cancelled(left,
					now_ns - 10 * ms, 0, t1_ns);
			left = iqcn_owed_answered(left);
		}
		KUNIT_EXPECT_EQ_MSG(test, cancelled, rows[i].cancelled,
				    "row %d", i);
	}
}

static void pending_test(struct kunit *test)
{
	static const struct {
		u8 owed;
		u64 since_ns, answer_ns;
		bool want;
	} cnps[] = {
		{ 0, 1, 0, true },
		{ 0, T1_NS, 0, true },
		/* it left after this packet, as far as times tell */
		{ 0, 400000, 399999, true },
		{ 0, 400000, 400000, false },
		{ 0, 400000, 500000, false },
		/* another is owed for it */
		{ 1, 400000, 0, false },
		{ 1, 400000, 20000, false },
		{ IQCN_OWED_MAX, 16 * T1_NS, 20000, false },
		/* nobody waits for an answer that long */
		{ IQCN_OWED_MAX, 16 * T1_NS + 1, 20000, true },
		{ 0, 16 * T1_NS + 1, SECOND, true },
	};
	u8 owed;
	int i;

	for (i = 0; i < ARRAY_SIZE(cnps); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_pending_cancelled(cnps[i].owed,
							   cnps[i].since_ns,
							   cnps[i].answer_ns,
							   T1_NS),
				    cnps[i].want, "row %d", i);

	/* those that are too close may have one CNP for all of them */
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(0, U64_MAX, T1_NS), 1);
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(1, T1_NS - 1, T1_NS), 1);
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(0, T1_NS - 1, T1_NS), 0);
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(1, T1_NS, T1_NS), 2);
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(3, 16 * T1_NS, T1_NS), 4);
	/* what has not been answered by then never is */
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(3, 16 * T1_NS + 1, T1_NS), 1);
	for (owed = 0, i = 0; i < 100; i++)
		owed = iqcn_owed_asked(owed, T1_NS, T1_NS);
	KUNIT_EXPECT_EQ(test, owed, IQCN_OWED_MAX);
	KUNIT_EXPECT_EQ(test, iqcn_owed_answered(owed), IQCN_OWED_MAX - 1);
	KUNIT_EXPECT_EQ(test, iqcn_owed_answered(1), 0);
	KUNIT_EXPECT_EQ(test, iqcn_owed_answered(0), 0);
}

static void interval_test(struct kunit *test)
{
	static const struct {
		u32 smooth_ns;
		u64 last_ns, now_ns;
		u32 want_ns;
	} cnps[] = {
		/* the first CNP */
		{ 0, 0, 1, 0 },
		{ 0, 0, 5000, 0 },
		{ 0, 0, 9 * SECOND, 0 },
		{ 7000, 0, 5000, 7000 },
		/* the first interval is taken whole */
		{ 0, 1, 50001, 50000 },
		{ 0, 9 * SECOND, 9 * SECOND + 50000, 50000 },
		{ 50000, 9 * SECOND, 9 * SECOND + 50000, 50000 },
		{ 50000, 9 * SECOND, 9 * SECOND + 58000, 51000 },
		{ 50000, 9 * SECOND, 9 * SECOND + 42000, 49000 },
		{ 0, SECOND, 2 * SECOND, SECOND },
		{ 0, SECOND, 2 * SECOND + 1, 0 },
		{ 50000, SECOND, 2 * SECOND + 1, 50000 },
		{ 50000, SECOND, SECOND + (1ULL << 32), 50000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cnps); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_interval_seen(cnps[i].smooth_ns,
						       cnps[i].last_ns,
						       cnps[i].now_ns),
				    cnps[i].want_ns, "row %d", i);
}

/*
 * Deadlines
 */

#define N_DEADLINES 128

/* A quarter of the CPU while there is more, else four times per T1 */
static void chances_rest_test(struct kunit *test)
{
	static const struct {
		u64 took_ns;
		u32 t1_ns;
		bool more;
		u64 want_ns;
	} rows[] = {
		{ 0, 300000, false, 75000 },
		{ 20000, 300000, false, 75000 },
		{ 30000, 300000, false, 90000 },
		{ 0, 300000, true, 0 },
		{ 2000, 300000, true, 6000 },
		{ 30000, 300000, true, 90000 },
		/* 1 ms at most */
		{ 333334, 300000, true, 1000000 },
		{ 50000000, 300000, true, 1000000 },
		{ 50000000, 300000, false, 1000000 },
		{ 0, 1000000000, false, 1000000 },
		{ 0, 10000, false, 2500 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_polls_rest_ns(rows[i].took_ns,
							 rows[i].t1_ns,
							 rows[i].more),
				    rows[i].want_ns, "row %d", i);
}

struct deadlines {
	struct list_head list;
	struct iqcn_deadline d[N_DEADLINES];
	/* what is expected: 0 or the move that armed it, and when */
	u32 move[N_DEADLINES];
	u64 base_ns[N_DEADLINES];
};

static struct deadlines *make_deadlines(struct kunit *test)
{
	struct deadlines *dl = alloc(test, sizeof(*dl));
	int i;

	INIT_LIST_HEAD(&dl->list);
	for (i = 0; i < N_DEADLINES; i++) {
		iqcn_deadline_init(&dl->d[i]);
		/* before every reset, for iqcn_queue_since_reset() */
		KUNIT_ASSERT_EQ(test, dl->d[i].base_ns, 0);
	}
	return dl;
}

static void expect_deadlines(struct kunit *test, struct deadlines *dl)
{
	struct iqcn_deadline *d, *first = NULL;
	u32 armed = 0, listed = 0, last = 0, least = U32_MAX;
	u64 last_ns = 0;
	int i;

	for (i = 0; i < N_DEADLINES; i++) {
		KUNIT_ASSERT_EQ(test, iqcn_deadline_armed(&dl->d[i]),
				dl->move[i] != 0);
		if (!dl->move[i])
			continue;
		armed++;
		if (dl->move[i] < least) {
			least = dl->move[i];
			first = &dl->d[i];
		}
	}
	KUNIT_ASSERT_PTR_EQ(test, iqcn_deadline_first(&dl->list), first);
	list_for_each_entry(d, &dl->list, node) {
		i = d - dl->d;
		KUNIT_ASSERT_EQ(test, d->base_ns, dl->base_ns[i]);
		KUNIT_ASSERT_GE(test, d->base_ns, last_ns);
		KUNIT_ASSERT_GT(test, dl->move[i], last);
		last_ns = d->base_ns;
		last = dl->move[i];
		listed++;
	}
	KUNIT_ASSERT_EQ(test, listed, armed);
}

static void deadline_order_test(struct kunit *test)
{
	struct deadlines *dl = make_deadlines(test);
	struct rnd_state rnd;
	u64 now_ns = 1000;
	u32 move;

	prandom_seed_state(&rnd, SEED);
	expect_deadlines(test, dl);
	for (move = 1; move <= 20000; move++) {
		u32 r = prandom_u32_state(&rnd);
		int i = r % N_DEADLINES;

		/* some at the same time */
		now_ns += r >> 16 & 3 ? r >> 20 : 0;
		if (r >> 18 & 3) {
			iqcn_deadline_restart(&dl->d[i], &dl->list, now_ns);
			dl->move[i] = move;
			dl->base_ns[i] = now_ns;
		} else {
			iqcn_deadline_cancel(&dl->d[i]);
			dl->move[i] = 0;
		}
		if (move % 16 == 0 || move < 300)
			expect_deadlines(test, dl);
	}
}

/* Of those that lapse the last is the most recent, and older than all that have
 * not, however they were moved before and whatever leaves the list
 */
static void deadline_lapse_test(struct kunit *test)
{
	struct deadlines *dl = make_deadlines(test);
	struct iqcn_deadline *first, *last;
	struct rnd_state rnd;
	LIST_HEAD(lapsed);
	u64 now_ns;
	int i;

	prandom_seed_state(&rnd, SEED);
	KUNIT_EXPECT_NULL(test, iqcn_deadline_last(&lapsed));
	for (i = 0, now_ns = 1; i < 10 * N_DEADLINES; i++, now_ns++) {
		u32 r = prandom_u32_state(&rnd);

		iqcn_deadline_restart(&dl->d[r % N_DEADLINES], &dl->list,
				      now_ns);
		if (i % 5 == 4)
			iqcn_deadline_cancel(&dl->d[(r >> 16) % N_DEADLINES]);
		first = iqcn_deadline_first(&dl->list);
		if (i % 3 || !first)
			continue;
		iqcn_deadline_lapse(first, &lapsed);
		last = iqcn_deadline_last(&lapsed);
		KUNIT_EXPECT_PTR_EQ(test, last, first);
		KUNIT_EXPECT_TRUE(test, iqcn_deadline_armed(last));
		first = iqcn_deadline_first(&dl->list);
		if (first)
			KUNIT_EXPECT_LT(test, last->base_ns, first->base_ns);
	}
	now_ns = U64_MAX;
	while ((last = iqcn_deadline_last(&lapsed))) {
		KUNIT_EXPECT_LT(test, last->base_ns, now_ns);
		now_ns = last->base_ns;
		iqcn_deadline_cancel(last);
	}
	KUNIT_EXPECT_LT(test, now_ns, U64_MAX);
}

static void deadline_due_test(struct kunit *test)
{
	static const u64 bases[] = { 0, 1, 1000000, 1ULL << 62 };
	static const u64 t1s[] = { 1, 20000, 300000, 7000000, U32_MAX };
	struct deadlines *dl = make_deadlines(test);
	struct iqcn_deadline *d = dl->d;
	int b, t;

	/* one that is not armed becomes so, and twice is once */
	KUNIT_EXPECT_FALSE(test, iqcn_deadline_armed(d));
	KUNIT_EXPECT_NULL(test, iqcn_deadline_first(&dl->list));
	iqcn_deadline_cancel(d);
	KUNIT_EXPECT_FALSE(test, iqcn_deadline_armed(d));
	iqcn_deadline_restart(d, &dl->list, 5);
	iqcn_deadline_restart(d, &dl->list, 6);
	KUNIT_EXPECT_TRUE(test, iqcn_deadline_armed(d));
	KUNIT_EXPECT_PTR_EQ(test, iqcn_deadline_first(&dl->list), d);
	iqcn_deadline_cancel(d);
	KUNIT_EXPECT_FALSE(test, iqcn_deadline_armed(d));
	KUNIT_EXPECT_TRUE(test, list_empty(&dl->list));

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		for (t = 0; t < ARRAY_SIZE(t1s); t++) {
			u64 at = bases[b] + t1s[t];

			iqcn_deadline_restart(d, &dl->list, bases[b]);
			KUNIT_EXPECT_FALSE(test,
					   iqcn_deadline_due(d, t1s[t],
							     at - 1));
			KUNIT_EXPECT_TRUE(test,
					  iqcn_deadline_due(d, t1s[t], at));
			KUNIT_EXPECT_TRUE(test,
					  iqcn_deadline_due(d, t1s[t],
							    at + 1));
			KUNIT_EXPECT_FALSE(test,
					   iqcn_deadline_due(d, t1s[t],
							     bases[b]));
		}
	}
}

/* Whatever T1 becomes, those due are the first of the list */
static void deadline_t1_test(struct kunit *test)
{
	static const u64 t1s[] = { 1270, 0, 1, 640, 635, 2000, 100 };
	struct deadlines *dl = make_deadlines(test);
	struct iqcn_deadline *d;
	int i, t;

	/* 37 and 128 have no common factor: all of them, 10 ns apart */
	for (i = 0; i < N_DEADLINES; i++)
		iqcn_deadline_restart(&dl->d[i * 37 % N_DEADLINES], &dl->list,
				      10 * i);
	for (t = 0; t < ARRAY_SIZE(t1s); t++) {
		i = 0;
		list_for_each_entry(d, &dl->list, node) {
			KUNIT_EXPECT_PTR_EQ(test, d,
					    &dl->d[i * 37 % N_DEADLINES]);
			KUNIT_EXPECT_EQ_MSG(test,
					    iqcn_deadline_due(d, t1s[t], 1270),
					    10 * i + t1s[t] <= 1270,
					    "T1 %llu, %d", t1s[t], i);
			i++;
		}
		KUNIT_EXPECT_EQ(test, i, N_DEADLINES);
	}
}

static void deadline_scan_test(struct kunit *test)
{
	static const struct {
		u64 due_ns, want_ns;
		u32 period_ns;
	} scans[] = {
		{ 0, 0, 75000 },
		{ 1, 75000, 75000 },
		{ 74999, 75000, 75000 },
		{ 75000, 75000, 75000 },
		{ 75001, 150000, 75000 },
		{ 123456789, 123456789, 1 },
		{ (1ULL << 62) - 5, 1ULL << 62, 1 << 31 },
		{ 4 * (u64)U32_MAX + 1, 5 * (u64)U32_MAX, U32_MAX },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(scans); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_deadline_scan_ns(scans[i].due_ns,
							  scans[i].period_ns),
				    scans[i].want_ns, "row %d", i);
}

/*
 * Budget
 */

static u32 take_all(struct iqcn_budget *b, u64 now_ns, u32 tries)
{
	u32 n = 0;

	while (tries--)
		n += iqcn_budget_take(b, now_ns);
	return n;
}

static void budget_burst_test(struct kunit *test)
{
	static const struct {
		u32 rate_pps, burst;
		u64 interval_ns;
	} sets[] = {
		{ 1, 1, 1000000000 },
		{ 1, 100, 1000000000 },
		{ 3, 5, 333333334 },
		{ 1000, 1, 1000000 },
		{ 1000000, 64, 1000 },
		{ 700000000, 8, 2 },
		{ 1000000000, 1, 1 },
		{ 1000000000, 1000, 1 },
	};
	int i, n;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		u64 step_ns = sets[i].interval_ns, now_ns = 1000000;
		u32 burst = sets[i].burst;
		struct iqcn_budget b = {};

		iqcn_budget_set(&b, sets[i].rate_pps, burst);
		KUNIT_EXPECT_EQ_MSG(test, take_all(&b, now_ns, burst + 10),
				    burst, "set %d", i);
		for (n = 0; n < 20; n++) {
			KUNIT_EXPECT_EQ_MSG(test,
					    take_all(&b, now_ns + step_ns - 1,
						     3), 0, "set %d", i);
			now_ns += step_ns;
			KUNIT_EXPECT_EQ_MSG(test, take_all(&b, now_ns, 3), 1,
					    "set %d", i);
		}
		/* full again, and no fuller than full */
		now_ns += step_ns * burst;
		KUNIT_EXPECT_EQ_MSG(test, take_all(&b, now_ns, burst + 10),
				    burst, "set %d", i);
		now_ns += step_ns * burst * 1000;
		KUNIT_EXPECT_EQ_MSG(test, take_all(&b, now_ns, burst + 10),
				    burst, "set %d", i);
	}
}

#define N_ARRIVALS	20000

static void budget_any_time_test(struct kunit *test)
{
	static const struct {
		u32 rate_pps, burst, gap_shift;
	} sets[] = {
		{ 1, 1, 3 }, { 100000, 10, 18 }, { 100000, 1, 17 },
		{ 300000000, 100, 30 }, { 1000000000, 4, 31 },
		{ 7777, 500, 16 },
	};
	u64 *sent_ns = alloc(test, N_ARRIVALS * sizeof(*sent_ns));
	int i, j, k, n;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		u32 rate = sets[i].rate_pps, burst = sets[i].burst;
		u64 interval_ns = div_u64(1000000000ULL + rate - 1, rate);
		u64 full_ns = interval_ns * burst, level_ns = full_ns;
		u64 now_ns = 1000000;
		struct iqcn_budget b = {};
		struct rnd_state rnd;

		prandom_seed_state(&rnd, SEED);
		iqcn_budget_set(&b, rate, burst);
		for (n = 0, j = 0; j < N_ARRIVALS; j++) {
			u32 r = prandom_u32_state(&rnd), gap_ns;
			bool want;

			/* now and then a burst, now and then a pause */
			gap_ns = r >> sets[i].gap_shift;
			gap_ns = j / 100 % 3 == 0 ? gap_ns >> 6 :
				 j % 500 == 0 ? gap_ns * 64 : gap_ns;
			now_ns += gap_ns;
			/* a bucket that fills, in ns */
			level_ns = min(full_ns, level_ns + gap_ns);
			want = level_ns >= interval_ns;
			if (want) {
				level_ns -= interval_ns;
				sent_ns[n++] = now_ns;
			}
			KUNIT_ASSERT_EQ_MSG(test, iqcn_budget_take(&b, now_ns),
					    want, "set %d, arrival %d", i, j);
		}
		/* some, not all: or it was for nothing */
		KUNIT_EXPECT_GT_MSG(test, n, 10, "set %d", i);
		KUNIT_EXPECT_LT_MSG(test, n, N_ARRIVALS, "set %d", i);
		/* from any CNP to any later one */
		n = min(n, 3000);
		for (j = 0; j < n; j++) {
			for (k = j + burst; k < n; k++) {
				u64 over = (u64)(k - j + 1 - burst) *
					   1000000000;

				if (over > rate * (sent_ns[k] - sent_ns[j]))
					break;
			}
			KUNIT_ASSERT_GE_MSG(test, k, n, "set %d, from %d", i,
					    j);
		}
	}
}

static void budget_change_test(struct kunit *test)
{
	struct iqcn_budget b = {};
	u64 now_ns = 1000000;

	/* all 10 used; a lower or higher rate does not give them back */
	iqcn_budget_set(&b, 1000, 10);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 20), 10);
	iqcn_budget_set(&b, 1000, 10);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 20), 0);
	iqcn_budget_set(&b, 2000, 10);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 20), 0);
	/* 10 ms are used, 9 * 0.5 ms may be */
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 5499999, 20), 0);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 5500000, 20), 1);

	/* a longer burst: what is more of it */
	memset(&b, 0, sizeof(b));
	iqcn_budget_set(&b, 1000, 10);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 20), 10);
	iqcn_budget_set(&b, 1000, 15);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 20), 5);
	/* a shorter one: 15 ms are used, 2 may be */
	iqcn_budget_set(&b, 1000, 3);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 12999999, 20), 0);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 13000000, 20), 1);
}

static void budget_half_test(struct kunit *test)
{
	struct iqcn_budget b = {};
	u64 now_ns = 1000000;

	/* one per ms; 9 ms are the burst beyond the first one */
	iqcn_budget_set(&b, 1000, 10);
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns));
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 4), 4);
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns));
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 1), 1);
	KUNIT_EXPECT_FALSE(test, iqcn_budget_half(&b, now_ns));
	/* 5 ms are used, 4.5 may be; nothing is charged for the question */
	KUNIT_EXPECT_FALSE(test, iqcn_budget_half(&b, now_ns + 499999));
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns + 500000));
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns + 500000));
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 500000, 20), 5);

	/* without a burst it is whether one may be sent */
	memset(&b, 0, sizeof(b));
	iqcn_budget_set(&b, 1000, 1);
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns));
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 2), 1);
	KUNIT_EXPECT_FALSE(test, iqcn_budget_half(&b, now_ns + 999999));
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns + 1000000));
}

/*
 * Pairing
 */

static void psn_test(struct kunit *test)
{
	static const struct {
		u32 a, b;
		s32 delta;
		bool fresh;
	} psns[] = {
		{ 0, 0, 0, true },
		{ 5, 3, 2, true },
		{ 3, 5, -2, false },
		{ 0, 0xffffff, 1, true },
		{ 0xffffff, 0, -1, false },
		{ 2, 0xfffffe, 4, true },
		{ 8191, 0, 8191, true },
		{ 8192, 0, 8192, false },
		{ 100, 0xffe064, 8192, false },
		{ 100, 0xffe065, 8191, true },
		{ 0xffffff, 0xffffff, 0, true },
		{ 0x7fffff, 0, 0x7fffff, false },
		{ 0x800000, 0, -0x800000, false },
		{ 0, 0x800000, -0x800000, false },
		{ 0, 0x800001, 0x7fffff, false },
		{ 0xffffff, 0x7fffff, -0x800000, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		u32 a = psns[i].a, b = psns[i].b;

		KUNIT_EXPECT_EQ_MSG(test, iqcn_psn_delta(a, b), psns[i].delta,
				    "%#x - %#x", a, b);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_echo_fresh(a, b),
				    psns[i].fresh, "%#x, %#x", a, b);
	}
}

static void expect_echo(struct kunit *test, u64 slot, u64 hash, u32 want)
{
	u32 qp = 0xdead;

	KUNIT_EXPECT_EQ_MSG(test, iqcn_echo_match(slot, hash, &qp),
			    want != 0, "slot %#llx hash %#llx", slot, hash);
	KUNIT_EXPECT_EQ(test, qp, want ?: 0xdead);
}

static void echo_test(struct kunit *test)
{
	/* 39 bits of a hash count: H and its like share them, the others do
	 * not, each by one bit
	 */
	const u64 hash = 0x123456789abcdef0ULL, other = hash ^ 1;
	const u64 high = hash ^ 1ULL << 38, alike = hash ^ 1ULL << 39;
	u64 slot;

	expect_echo(test, 0, 0, 0);
	expect_echo(test, 0, hash, 0);

	slot = iqcn_echo_store(0, hash, 0x11);
	expect_echo(test, slot, hash, 0x11);
	expect_echo(test, slot, alike, 0x11);
	expect_echo(test, slot, other, 0);
	expect_echo(test, slot, high, 0);
	expect_echo(test, slot, 0, 0);
	/* sent again */
	slot = iqcn_echo_store(slot, hash, 0x11);
	expect_echo(test, slot, hash, 0x11);

	/* two QPs: neither, whoever sends once more */
	slot = iqcn_echo_store(slot, hash, 0x12);
	expect_echo(test, slot, hash, 0);
	slot = iqcn_echo_store(slot, hash, 0x12);
	expect_echo(test, slot, hash, 0);
	slot = iqcn_echo_store(slot, hash, 0x11);
	expect_echo(test, slot, hash, 0);
	slot = iqcn_echo_store(slot, hash, 0x11);
	expect_echo(test, slot, hash, 0);

	/* until another packet takes the slot */
	slot = iqcn_echo_store(slot, other, 0x12);
	expect_echo(test, slot, other, 0x12);
	expect_echo(test, slot, hash, 0);
	slot = iqcn_echo_store(slot, hash, 0xffffff);
	expect_echo(test, slot, hash, 0xffffff);
	expect_echo(test, slot, other, 0);

	/* of a QP number 24 bits count, so none makes it ambiguous */
	slot = iqcn_echo_store(0, hash, 0xff000011);
	expect_echo(test, slot, hash, 0x11);
	/* a hash of zeros is a hash */
	slot = iqcn_echo_store(0, 0, 0x11);
	expect_echo(test, slot, 0, 0x11);
	slot = iqcn_echo_store(slot, 0, 0x12);
	expect_echo(test, slot, 0, 0);
}

static void sport_test(struct kunit *test)
{
	/* worked out from the formulas with another program */
	static const struct {
		u32 a, b;
		u16 sport;
	} verbs[] = {
		{ 0x11, 0x12, 0xc132 },
		{ 0x118, 0x2a7, 0xe6a3 },
		{ 0x123456, 0x654321, 0xf787 },
		{ 0xffffff, 0xfffffe, 0xff12 },
	};
	static const struct {
		u32 qpn;
		u16 sport;
	} rxe[] = {
		{ 0, 0xc000 }, { 0x1, 0xd872 }, { 0x11, 0xdf94 },
		{ 0x12, 0xf806 }, { 0x123456, 0xc168 }, { 0xffffff, 0xf94d },
	};
	struct rnd_state rnd;
	int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		u32 a = verbs[i].a, b = verbs[i].b;

		KUNIT_EXPECT_EQ(test, iqcn_sport_verbs(a, b), verbs[i].sport);
		KUNIT_EXPECT_EQ(test, iqcn_sport_verbs(b, a), verbs[i].sport);
	}
	for (i = 0; i < ARRAY_SIZE(rxe); i++)
		KUNIT_EXPECT_EQ(test, iqcn_sport_rxe(rxe[i].qpn),
				rxe[i].sport);

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 1000; i++) {
		u32 a = prandom_u32_state(&rnd) >> 8;
		u32 b = prandom_u32_state(&rnd) >> 8;
		/* upper 14 of 32 bits */
		u32 h = (u32)(a * 0x61C88647U) / (1 << 18);

		KUNIT_EXPECT_EQ(test, iqcn_sport_verbs(a, b),
				iqcn_sport_verbs(b, a));
		KUNIT_EXPECT_GE(test, iqcn_sport_verbs(a, b), 0xc000);
		KUNIT_EXPECT_EQ(test, iqcn_sport_rxe(a), 0xc000 + h);
	}
}

static void sport_match_test(struct kunit *test)
{
	static const struct {
		u16 data, rev;
		u32 src_qp, dest_qp;
		bool want;
	} ports[] = {
		{ 0xc132, 0xc132, 0x11, 0x12, true },
		{ 0xc132, 0xc132, 0x12, 0x11, true },
		{ 0xc132, 0xc133, 0x11, 0x12, false },
		{ 0xc133, 0xc132, 0x11, 0x12, false },
		{ 0xc133, 0xc133, 0x11, 0x12, false },
		{ 0xc132, 0xc132, 0x11, 0x13, false },
		{ 0xc132, 0xc132, 0x118, 0x2a7, false },
		{ 0xe6a3, 0xe6a3, 0x118, 0x2a7, true },
		/* rxe: h(0x11) = 0xdf94, h(0x12) = 0xf806 */
		{ 0xdf94, 0xf806, 0x11, 0x12, true },
		{ 0xf806, 0xdf94, 0x12, 0x11, true },
		{ 0xf806, 0xdf94, 0x11, 0x12, false },
		{ 0xdf94, 0xf807, 0x11, 0x12, false },
		{ 0xdf95, 0xf806, 0x11, 0x12, false },
		{ 0xdf94, 0xdf94, 0x11, 0x12, false },
		{ 0xdf94, 0xdf94, 0x11, 0x11, true },
		{ 0xc132, 0xf806, 0x11, 0x12, false },
		{ 0xdf94, 0xc132, 0x11, 0x12, false },
		{ 0, 0, 0x11, 0x12, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(ports); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_sport_match(ports[i].data,
						     ports[i].rev,
						     ports[i].src_qp,
						     ports[i].dest_qp),
				    ports[i].want, "row %d", i);
}

static void judge_test(struct kunit *test)
{
	/* rows: none, SPORT, CNP, PSN, CM so far; columns: SPORT .. CM now */
	static const char same[5][5] = { "TTTT", "KTTT", "KKTT", "KKKT",
					 "KKKK" };
	static const char differs[5][5] = { "TTTT", "BTTT", "KBTT", "KKBT",
					    "KKKT" };
	static const enum iqcn_pair_verdict verdict[] = {
		['K'] = IQCN_PAIR_KEEP,
		['T'] = IQCN_PAIR_TAKE,
		['B'] = IQCN_PAIR_BREAK,
	};
	int old, new;

	for (old = 0; old < 5; old++) {
		for (new = 1; new < 5; new++) {
			u8 s = same[old][new - 1], d = differs[old][new - 1];

			KUNIT_EXPECT_EQ_MSG(test,
					    iqcn_pair_judge(old, 7, new, 7),
					    verdict[s], "%d, %d", old, new);
			KUNIT_EXPECT_EQ_MSG(test,
					    iqcn_pair_judge(old, 7, new, 8),
					    verdict[d], "%d, %d", old, new);
		}
	}
}

/*
 * Share of the CPUs
 */

/* Runs of any length, back to back as soon as the account lets them: together they
 * are the share, and what may be used at once
 */
static void share_rate_test(struct kunit *test)
{
	static const struct iqcn_share shares[] = {
		{ .parts = 4, .of = 1, .run_ns = 5000, .run_max_ns = 1000000000 },
		{ .parts = 2, .of = 1, .run_max_ns = 10000000 },
		{ .parts = 2, .of = 64, .run_max_ns = 10000000 },
	};
	struct rnd_state rnd;
	int i, n;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < ARRAY_SIZE(shares); i++) {
		const struct iqcn_share *s = &shares[i];
		u64 start_ns = 10 * SECOND, now_ns = start_ns, paid_ns = 0;
		/* a run is charged whole ns of the account */
		u64 rounding_ns = 100000 * max(s->of / s->parts, 1U);
		u64 used_ns = 0, most_ns;

		for (n = 0; n < 100000; n++) {
			u64 took_ns = prandom_u32_state(&rnd) % 50000;

			used_ns += took_ns + s->run_ns;
			paid_ns = iqcn_share_charge(s, paid_ns, took_ns,
						    now_ns);
			/* several CPUs at once, so the clock need not move on */
			now_ns = max(now_ns, paid_ns);
		}
		most_ns = div_u64((now_ns - start_ns) * s->of, s->parts) +
			  IQCN_SHARE_BURST_NS;
		KUNIT_EXPECT_LE(test, used_ns, most_ns + rounding_ns);
		KUNIT_EXPECT_GE(test, used_ns + IQCN_SHARE_BURST_NS +
				rounding_ns, most_ns);
	}
}

static void share_idle_test(struct kunit *test)
{
	const struct iqcn_share s = {
		.parts = 4, .of = 1, .run_ns = 5000, .run_max_ns = 10000000
	};
	u64 paid_ns;

	/* a short run of an idle account does not make anybody wait */
	paid_ns = iqcn_share_charge(&s, 0, 1000, SECOND);
	KUNIT_EXPECT_EQ(test, paid_ns, SECOND - 4 * IQCN_SHARE_BURST_NS + 24000);
	/* what was saved is a burst, however long the account was idle */
	paid_ns = iqcn_share_charge(&s, paid_ns, 995000, 1000 * SECOND);
	KUNIT_EXPECT_EQ(test, paid_ns, 1000 * SECOND);
	/* shortly after boot */
	KUNIT_EXPECT_EQ(test, iqcn_share_charge(&s, 0, 0, 1), 20000ULL);
	/* a run that was interrupted for a second */
	paid_ns = iqcn_share_charge(&s, SECOND, SECOND, SECOND);
	KUNIT_EXPECT_EQ(test, paid_ns, SECOND + 4 * (10000000ULL + 5000));
}

/* Runs every ms while @packets do not change, or do */
static void share_backoff_test(struct kunit *test)
{
	const u64 ms = 1000000;
	struct iqcn_backoff b = {};
	u64 now_ns = SECOND, n, runs = 0;

	for (n = 0; n < 100; n++, now_ns += ms) {
		iqcn_backoff_run(&b, 7, now_ns);
		KUNIT_ASSERT_EQ(test, b.until_ns, 0ULL);
	}
	iqcn_backoff_run(&b, 7, now_ns);
	KUNIT_EXPECT_EQ(test, b.until_ns, now_ns + 100 * ms);
	/* from here on ten times a second */
	for (; now_ns < 11 * SECOND; runs++) {
		now_ns = b.until_ns;
		iqcn_backoff_run(&b, 7, now_ns);
		KUNIT_ASSERT_EQ(test, b.until_ns, now_ns + 100 * ms);
	}
	KUNIT_EXPECT_LE(test, runs, 100ULL);
	/* until a packet leaves */
	iqcn_backoff_run(&b, 8, now_ns + ms);
	KUNIT_EXPECT_EQ(test, b.until_ns, 0ULL);

	/* an hour without runs is an hour without packets that are stuck */
	now_ns += 3600 * SECOND;
	iqcn_backoff_run(&b, 8, now_ns);
	KUNIT_EXPECT_EQ(test, b.until_ns, 0ULL);
	iqcn_backoff_run(&b, 8, now_ns + 99 * ms);
	KUNIT_EXPECT_EQ(test, b.until_ns, 0ULL);
}

/*
 * Defaults
 */

static void params_kmin_test(struct kunit *test)
{
	static const struct {
		u32 mbps, pkt_bytes, want;
	} links[] = {
		{ 1000, 1514, 4000 },
		{ 10000, 1514, 40000 },
		{ 25000, 1514, 100000 },
		{ 25000, 9014, 100000 },
		{ 100000, 9014, 400000 },
		{ 400000, 4200, 1600000 },
		{ 0, 1514, 40000 },		/* unknown: 10 Gb/s */
		{ 0, 65536, 131072 },
		/* two packets at least */
		{ 757, 1514, 3028 },
		{ 758, 1514, 3032 },
		{ 100, 1514, 3028 },
		{ 1, 9014, 18028 },
		/* 160 times Kmin fits in 32 bits */
		{ 6710886, 1514, 26843544 },
		{ 6710887, 1514, 26843545 },
		{ U32_MAX, 1514, 26843545 },
		/* however large a packet may be */
		{ 10000, 536870912, 26843545 },
		{ 10000, U32_MAX, 26843545 },
		{ U32_MAX, U32_MAX, 26843545 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(links); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_default_kmin(links[i].mbps,
						      links[i].pkt_bytes),
				    links[i].want, "%u Mb/s, %u bytes",
				    links[i].mbps, links[i].pkt_bytes);
}

static void params_gain_test(struct kunit *test)
{
	static const struct {
		u32 ref, mbps, want;
	} links[] = {
		{ 500, 25000, 500 },
		{ 50000, 25000, 50000 },
		{ 2000, 25000, 2000 },
		{ 100000, 25000, 100000 },
		{ 2000, 10000, 5000 },
		{ 100000, 10000, 250000 },
		{ 2000, 100000, 500 },
		{ 100000, 400000, 6250 },
		{ 500, 10000, 1250 },
		{ 500, 0, 1250 },		/* unknown: 10 Gb/s */
		{ 50000, 100000, 12500 },
		{ 500, 100000, 125 },
		{ 500, 400000, 31 },		/* 31.25 */
		{ 500, 1000, 12500 },
		{ 500, 1, 12500000 },
		/* at least 1 */
		{ 500, 12500000, 1 },
		{ 500, 12500001, 1 },
		{ 500, U32_MAX, 1 },
		/* at most 10^8 */
		{ 50000, 13, 96153846 },
		{ 50000, 12, 100000000 },
		{ 50000, 1, 100000000 },
		{ U32_MAX, 1, 100000000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(links); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_default_gain(links[i].ref,
						      links[i].mbps),
				    links[i].want, "%u at %u Mb/s",
				    links[i].ref, links[i].mbps);
}

static void params_cnp_rate_test(struct kunit *test)
{
	static const struct {
		u64 bps;
		u32 want;
	} links[] = {
		{ 10000000000ULL, 1594387 },
		{ 25000000000ULL, 3985969 },
		{ 100000000000ULL, 15943877 },
		{ 1000000000ULL, 159438 },
		{ 0, 1594387 },			/* unknown: 10 Gb/s */
		{ 12543, 1 },
		{ 12544, 2 },
		{ 1, 1 },
		{ 1000000000000000ULL, 1000000000 },
		{ U64_MAX, 1000000000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(links); i++)
		KUNIT_EXPECT_EQ_MSG(test, iqcn_default_cnp_rate(links[i].bps),
				    links[i].want, "%llu bit/s", links[i].bps);
}

/* The least that makes parameters right: those that neither link nor user sets */
static struct iqcn_params params_base(void)
{
	struct iqcn_params p = {
		.notify = IQCN_DEFAULT_NOTIFY,
		.t1_ns = IQCN_DEFAULT_T1_NS,
		.window_ns = IQCN_DEFAULT_WINDOW_NS,
		.enter_pct = IQCN_DEFAULT_ENTER_PCT,
		.exit_pct = IQCN_DEFAULT_EXIT_PCT,
		.run_enter = IQCN_DEFAULT_RUN_ENTER,
		.run_exit = IQCN_DEFAULT_RUN_EXIT,
		.span_enter = IQCN_DEFAULT_SPAN_ENTER,
		.span_exit = IQCN_DEFAULT_SPAN_EXIT,
		.pi.update_ns = IQCN_DEFAULT_UPDATE_NS,
		.sample = 1,
		.flows = IQCN_DEFAULT_FLOWS,
	};

	return p;
}

/* What the user sets is anything that tc lets through, as far as it is the user who
 * has to see to it that two of them fit each other
 */
static void params_user(struct iqcn_params *p, struct rnd_state *rnd)
{
	static const u32 bytes[] = { 1, 2, 1514, 100000, U32_MAX - 1, U32_MAX };
	static const u32 t1_ns[] = {
		IQCN_TIME_MIN_NS, IQCN_TIME_USER_MIN_NS, 225000, 1000000000
	};
	u32 a = bytes[prandom_u32_state(rnd) % ARRAY_SIZE(bytes)];
	u32 b = bytes[prandom_u32_state(rnd) % ARRAY_SIZE(bytes)];

	switch (prandom_u32_state(rnd) % 8) {
	case 0:
		p->limit_bytes = a;
		p->user_set = BIT_ULL(TCA_IQCN_LIMIT_BYTES);
		break;
	case 1:
		p->mark.kmin_bytes = a - 1;
		p->user_set = BIT_ULL(TCA_IQCN_KMIN_BYTES);
		break;
	case 2:
		p->mark.kmax_bytes = a;
		p->user_set = BIT_ULL(TCA_IQCN_KMAX_BYTES);
		break;
	case 3:
		p->pi.qref_bytes = a;
		p->user_set = BIT_ULL(TCA_IQCN_QREF_BYTES);
		break;
	case 4:
		p->mark.kmin_bytes = min(a, b);
		p->mark.kmax_bytes = max(a, b);
		p->user_set = BIT_ULL(TCA_IQCN_KMIN_BYTES) |
			      BIT_ULL(TCA_IQCN_KMAX_BYTES);
		break;
	case 5:
		p->pi.qref_bytes = min(a, b);
		p->limit_bytes = max(a, b);
		p->user_set = BIT_ULL(TCA_IQCN_QREF_BYTES) |
			      BIT_ULL(TCA_IQCN_LIMIT_BYTES);
		break;
	}
	p->t1_ns = t1_ns[prandom_u32_state(rnd) % ARRAY_SIZE(t1_ns)];
	p->notify = prandom_u32_state(rnd) % (IQCN_NOTIFY_ALL + 1);
}

/* The invariants hold, and telemetry has a depth to divide by */
static void params_extreme(struct kunit *test, struct rnd_state *rnd,
			   u32 pkt_bytes, u64 link_bps, u64 bandwidth_bps)
{
	u8 reserved[IQCN_CNP_RSVD_LEN];
	int i;

	for (i = 0; i < 64; i++) {
		struct iqcn_params p = params_base();
		struct iqcn_state state = {
			.cause = IQCN_CAUSE_DROP,
			.depth_bytes = prandom_u32_state(rnd),
		};
		u32 time_min_ns = IQCN_TIME_MIN_NS;

		p.bandwidth_bps = bandwidth_bps;
		if (i)
			params_user(&p, rnd);
		if (i & 2 && p.t1_ns >= IQCN_TIME_USER_MIN_NS)
			time_min_ns = IQCN_TIME_USER_MIN_NS;
		iqcn_params_resolve(&p, link_bps, pkt_bytes, i & 1,
				    time_min_ns);
		KUNIT_ASSERT_EQ_MSG(test, iqcn_params_check(&p), IQCN_PARAMS_OK,
				    "%u bytes, %llu bit/s, bandwidth %llu, user %llx",
				    pkt_bytes, link_bps, bandwidth_bps,
				    p.user_set);
		KUNIT_ASSERT_GE(test, p.limit_bytes, 1U);
		if (!p.user_set) {
			KUNIT_ASSERT_LE(test, p.mark.kmin_bytes,
					p.mark.kmax_bytes);
			KUNIT_ASSERT_LE(test, p.mark.kmax_bytes, p.limit_bytes);
		}
		state.limit_bytes = p.limit_bytes;
		iqcn_telemetry_pack(reserved, &state);
	}
}

/* MTU x speed x bandwidth */
static void params_extremes_test(struct kunit *test)
{
	static const u32 pkts[] = {
		0, 82, 1514, 9014, 65549, 13421772, 13421773, 536870912,
		536870913, S32_MAX, U32_MAX,
	};
	static const u64 speeds[] = {
		1, 999999, 1000000, 10000000, 10000000000ULL, 400000000000ULL,
		4294967294ULL * 1000000, 4294967295ULL * 1000000, U64_MAX,
	};
	static const u64 bandwidths[] = {
		0, 1, 8, 999999, 1000000, 25000000000ULL, 1000000000000000ULL,
	};
	struct rnd_state rnd;
	int m, s, b;

	prandom_seed_state(&rnd, SEED);
	for (m = 0; m < ARRAY_SIZE(pkts); m++)
		for (s = 0; s < ARRAY_SIZE(speeds); s++)
			for (b = 0; b < ARRAY_SIZE(bandwidths); b++)
				params_extreme(test, &rnd, pkts[m], speeds[s],
					       bandwidths[b]);
}

static void params_check_test(struct kunit *test)
{
	struct iqcn_params good = params_base(), p;

	iqcn_params_resolve(&good, 10000000000ULL, 1514, true,
			    IQCN_TIME_MIN_NS);
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&good), IQCN_PARAMS_OK);

#define EXPECT_WRONG(_field, _value, _wrong) do {			\
	p = good;							\
	p._field = _value;						\
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&p), _wrong);		\
} while (0)

	EXPECT_WRONG(limit_bytes, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(pi.qref_bytes, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(t1_ns, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(window_ns, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(period_ns, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(pi.update_ns, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(pi.alpha, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(pi.beta, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(sample, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(flows, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(mark.kmin_bytes, good.mark.kmax_bytes + 1,
		     IQCN_PARAMS_KMIN);
	EXPECT_WRONG(mark.kmax_bytes, good.limit_bytes + 1, IQCN_PARAMS_KMAX);
	EXPECT_WRONG(pi.qref_bytes, good.limit_bytes + 1, IQCN_PARAMS_QREF);
	EXPECT_WRONG(exit_pct, good.enter_pct, IQCN_PARAMS_EXIT);
	EXPECT_WRONG(run_exit, good.run_enter, IQCN_PARAMS_RUN_EXIT);
	EXPECT_WRONG(span_exit, good.span_enter - 1, IQCN_PARAMS_SPAN_EXIT);
	EXPECT_WRONG(period_ns, good.t1_ns + 1, IQCN_PARAMS_PERIOD);
#undef EXPECT_WRONG

	/* Kmax may be the limit */
	p = good;
	p.mark.kmax_bytes = p.limit_bytes;
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&p), IQCN_PARAMS_OK);

	/* a user may have Kmax above the limit: nothing is marked then */
	p = good;
	p.limit_bytes = p.mark.kmax_bytes - 1;
	p.pi.qref_bytes = 1;
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&p), IQCN_PARAMS_KMAX);
	p.user_set = BIT_ULL(TCA_IQCN_LIMIT_BYTES);
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&p), IQCN_PARAMS_OK);
}

/*
 * Back to the sender: profile
 */

/* a * b / c, a bit of a at a time; U64_MAX if it is more than 2^62 or so */
static u64 ref_mul_div(u64 a, u64 b, u64 c)
{
	u64 quot = 0, rem = 0, b_quot, b_rem;
	int i;

	b_quot = div64_u64_rem(b, c, &b_rem);
	for (i = 63; i >= 0; i--) {
		bool carry = rem >= c - rem;

		if (quot > U64_MAX / 4)
			return U64_MAX;
		quot = 2 * quot + carry;
		rem = carry ? rem - (c - rem) : 2 * rem;
		if (!(a >> i & 1))
			continue;
		if (b_quot > U64_MAX / 4)
			return U64_MAX;
		carry = rem >= c - b_rem;
		quot += b_quot + carry;
		rem = carry ? rem - (c - b_rem) : rem + b_rem;
	}
	return quot;
}

/* A share of U32_MAX as one of 2^32, to the nearest */
static u64 ref_prob(u32 share)
{
	return div_u64(((u64)share << 32) + U32_MAX / 2, U32_MAX);
}

static void profile_share_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, iqcn_prob(0), 0);
	KUNIT_EXPECT_EQ(test, iqcn_prob(1), 1);
	KUNIT_EXPECT_EQ(test, iqcn_prob(858993459), 858993459);
	KUNIT_EXPECT_EQ(test, iqcn_prob(0x7fffffff), 0x7fffffff);
	KUNIT_EXPECT_EQ(test, iqcn_prob(0x80000000), 0x80000001);
	KUNIT_EXPECT_EQ(test, iqcn_prob(U32_MAX - 1), U32_MAX);
	KUNIT_EXPECT_EQ(test, iqcn_prob(U32_MAX), ONE);
}

static const struct iqcn_profile profiles[] = {
	{ 3, { { 100000, 0x10000000 }, { 200000, 0x30000000 },
	       { 400000, 0x40000000 } } },
	/* a step from nothing to everything */
	{ 2, { { 5000, 0 }, { 5001, U32_MAX } } },
	/* one point */
	{ 1, { { 7000, 0x12345678 } } },
	/* eight, stairs */
	{ 8, { { 0, 0 }, { 999, 0 }, { 1000, 0x20000000 },
	       { 1999, 0x20000000 }, { 2000, 0x60000000 },
	       { 2999, 0x60000000 }, { 3000, 0xe0000000 },
	       { U32_MAX, U32_MAX } } },
	/* all of 32 bits */
	{ 2, { { 0, 0 }, { U32_MAX, U32_MAX } } },
	/* level, at everything */
	{ 2, { { 100, U32_MAX }, { 200, U32_MAX } } },
	/* from the first byte on */
	{ 2, { { 0, 0x40000000 }, { 4, 0x80000000 } } },
};

static void profile_points_test(struct kunit *test)
{
	static const struct {
		u32 profile, level;
		u64 want;
	} points[] = {
		{ 0, 0, 0 },
		{ 0, 99999, 0 },
		{ 0, 100000, 0x10000000 },
		/* 2^29 / 100000 is 5368.7 */
		{ 0, 100001, 0x10000000 + 5368 },
		{ 0, 150000, 0x20000000 },
		{ 0, 199999, 0x30000000 - 5369 },
		{ 0, 200000, 0x30000000 },
		{ 0, 250000, 0x34000000 },
		{ 0, 300000, 0x38000000 },
		/* 2^28 / 200000 is 1342.2 */
		{ 0, 399999, 0x40000000 - 1343 },
		{ 0, 400000, 0x40000000 },
		{ 0, 400001, 0x40000000 },
		{ 0, U32_MAX, 0x40000000 },
		{ 1, 0, 0 },
		{ 1, 4999, 0 },
		{ 1, 5000, 0 },
		{ 1, 5001, ONE },
		{ 1, 5002, ONE },
		{ 1, U32_MAX, ONE },
		{ 2, 0, 0 },
		{ 2, 6999, 0 },
		{ 2, 7000, 0x12345678 },
		{ 2, U32_MAX, 0x12345678 },
		{ 3, 0, 0 },
		{ 3, 998, 0 },
		{ 3, 999, 0 },
		{ 3, 1000, 0x20000000 },
		{ 3, 1500, 0x20000000 },
		{ 3, 1999, 0x20000000 },
		{ 3, 2000, 0x60000000 },
		{ 3, 2999, 0x60000000 },
		/* the upper half has one more, as in marking */
		{ 3, 3000, 0xe0000001 },
		{ 3, 3008, 0xe0000002 },
		{ 3, U32_MAX - 1, U32_MAX },
		{ 3, U32_MAX, ONE },
		{ 4, 0, 0 },
		{ 4, 1, 1 },
		{ 4, 0x12345678, 0x12345678 },
		{ 4, U32_MAX - 1, U32_MAX - 1 },
		{ 4, U32_MAX, ONE },
		{ 5, 99, 0 },
		{ 5, 100, ONE },
		{ 5, 150, ONE },
		{ 5, 200, ONE },
		{ 5, 201, ONE },
		{ 6, 0, 0x40000000 },
		{ 6, 1, 0x50000000 },
		{ 6, 3, 0x70000000 },
		{ 6, 4, 0x80000001 },
	};
	/* not to be looked at */
	static const struct iqcn_mark_params mark = { 0, 0, U32_MAX };
	int i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		u32 n = points[i].profile, level = points[i].level;

		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_profile_prob(&profiles[n], &mark,
						      level),
				    points[i].want, "profile %u, level %u", n,
				    level);
	}
}

/* Without points the curve of marking serves: values as in mark_curve_test */
static void profile_empty_test(struct kunit *test)
{
	static const struct {
		u32 level;
		u64 want;
	} points[] = {
		{ 0, 0 }, { 100000, 0 }, { 250000, 429496729 },
		{ 325000, 644245094 }, { 400000, 858993459 },
		{ 400001, ONE }, { U32_MAX, ONE },
	};
	static const struct iqcn_mark_params mark = {
		.kmin_bytes = 100000,
		.kmax_bytes = 400000,
		.pmax = 858993459,
	};
	/* points that do not count */
	static const struct iqcn_profile empty = {
		.point = { { 0, U32_MAX }, { 1, U32_MAX } },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		u64 got = iqcn_profile_prob(&empty, &mark, points[i].level);

		KUNIT_EXPECT_LE_MSG(test, gap64(got, points[i].want), 2ULL,
				    "level %u: %llu", points[i].level, got);
	}
	KUNIT_EXPECT_EQ(test, iqcn_profile_prob(&empty, &mark, 100000), 0);
	KUNIT_EXPECT_EQ(test, iqcn_profile_prob(&empty, &mark, 400001), ONE);
}

static void profile_wrong_test(struct kunit *test)
{
	static const struct {
		struct iqcn_profile p;
		u32 want;
	} rows[] = {
		{ { 0 }, 0 },
		{ { 1, { { 0, 0 } } }, 0 },
		{ { 1, { { U32_MAX, U32_MAX } } }, 0 },
		{ { 2, { { 1, 5 }, { 2, 5 } } }, 0 },
		{ { 2, { { 0, 0 }, { U32_MAX, U32_MAX } } }, 0 },
		/* as many bytes, fewer */
		{ { 2, { { 1, 5 }, { 1, 6 } } }, 1 },
		{ { 3, { { 1, 5 }, { 3, 6 }, { 3, 6 } } }, 2 },
		{ { 3, { { 1, 5 }, { 0, 6 }, { 3, 7 } } }, 1 },
		{ { 4, { { 1, 5 }, { 2, 6 }, { 9, 7 }, { 8, 8 } } }, 3 },
		/* less probability */
		{ { 2, { { 1, 5 }, { 2, 4 } } }, 1 },
		{ { 2, { { 1, U32_MAX }, { 2, 0 } } }, 1 },
		{ { 8, { { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 5 },
			 { 6, 6 }, { 7, 7 }, { 8, 6 } } }, 7 },
		{ { 8, { { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 5 },
			 { 6, 6 }, { 7, 7 }, { 8, 7 } } }, 0 },
		/* the first of several; of both kinds */
		{ { 4, { { 1, 1 }, { 2, 2 }, { 2, 3 }, { 1, 1 } } }, 2 },
		{ { 4, { { 1, 2 }, { 2, 1 }, { 2, 1 }, { 1, 1 } } }, 1 },
		/* what is behind the last one */
		{ { 2, { { 1, 1 }, { 2, 2 }, { 1, 1 } } }, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, iqcn_profile_wrong(&rows[i].p),
				    rows[i].want, "row %d", i);
	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		KUNIT_EXPECT_EQ_MSG(test, iqcn_profile_wrong(&profiles[i]), 0,
				    "profile %d", i);
}

static void profile_from_test(struct kunit *test)
{
	static const struct {
		struct iqcn_profile p;
		u32 want;
	} rows[] = {
		{ { 0, { { 7, 7 } } }, 100001 },
		{ { 2, { { 0, 5 }, { 1000, 6 } } }, 0 },
		{ { 1, { { 1, 1 } } }, 1 },
		{ { 1, { { 2, 1 } } }, 2 },
		{ { 2, { { 5000, 0 }, { 5001, 1 } } }, 5001 },
		{ { 2, { { 200000, 5 }, { 300000, 6 } } }, 200000 },
		{ { 1, { { U32_MAX, U32_MAX } } }, U32_MAX },
	};
	static const struct iqcn_mark_params mark = {
		.kmin_bytes = 100000,
		.kmax_bytes = 400000,
		.pmax = 858993459,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 from = iqcn_profile_from_bytes(&rows[i].p, &mark);

		KUNIT_EXPECT_EQ_MSG(test, from, rows[i].want, "row %d", i);
		if (!from)
			continue;
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_profile_prob(&rows[i].p, &mark,
						      from - 1),
				    0, "row %d", i);
	}
}

/* A number of any magnitude */
static u32 any_u32(struct rnd_state *rnd)
{
	u32 r = prandom_u32_state(rnd);

	return r >> prandom_u32_state(rnd) % 32;
}

/* Points are sorted; those that would make the profile wrong are left out */
static void random_profile(struct rnd_state *rnd, struct iqcn_profile *p)
{
	u32 bytes[IQCN_POINTS_MAX], prob[IQCN_POINTS_MAX];
	u32 n = 1 + prandom_u32_state(rnd) % IQCN_POINTS_MAX;
	int i, j;

	for (i = 0; i < n; i++) {
		u32 b = any_u32(rnd), s = any_u32(rnd);

		for (j = i; j && bytes[j - 1] > b; j--)
			bytes[j] = bytes[j - 1];
		bytes[j] = b;
		for (j = i; j && prob[j - 1] > s; j--)
			prob[j] = prob[j - 1];
		prob[j] = s;
	}
	p->n = 0;
	for (i = 0; i < n; i++) {
		if (i && bytes[i] == bytes[i - 1])
			continue;
		p->point[p->n].bytes = bytes[i];
		p->point[p->n++].prob = prob[i];
	}
}

static u64 ref_profile(const struct iqcn_profile *p, u32 level)
{
	const struct tc_iqcn_point *pt = p->point;
	int i;

	/* from behind */
	for (i = p->n - 1; i >= 0 && pt[i].bytes > level; i--)
		;
	if (i < 0)
		return 0;
	if (i == p->n - 1 || pt[i].bytes == level)
		return ref_prob(pt[i].prob);
	return ref_prob(pt[i].prob) +
	       ref_mul_div(ref_prob(pt[i + 1].prob) - ref_prob(pt[i].prob),
			   level - pt[i].bytes,
			   pt[i + 1].bytes - pt[i].bytes);
}

static void profile_random_test(struct kunit *test)
{
	static const struct iqcn_mark_params mark = { 0, 0, U32_MAX };
	struct iqcn_profile p;
	struct rnd_state rnd;
	u32 between = 0;
	int i, j, k;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 2000; i++) {
		random_profile(&rnd, &p);
		KUNIT_ASSERT_EQ(test, iqcn_profile_wrong(&p), 0);
		for (j = 0; j < 40; j++) {
			u32 level = any_u32(&rnd);
			u64 got, want;

			/* at, below and above points */
			k = j / 3;
			if (k < p.n)
				level = p.point[k].bytes + j % 3 - 1;
			got = iqcn_profile_prob(&p, &mark, level);
			want = ref_profile(&p, level);
			/* its rounding, and that of both ends */
			KUNIT_ASSERT_LE_MSG(test, gap64(got, want), 2ULL,
					    "profile %d, level %u: %llu, %llu",
					    i, level, got, want);
			KUNIT_ASSERT_LE(test, got, ONE);
			if (k < p.n && j % 3 == 1)
				KUNIT_ASSERT_EQ(test, got, want);
			between += want > ref_prob(p.point[0].prob) &&
				   want < ref_prob(p.point[p.n - 1].prob);
		}
	}
	KUNIT_EXPECT_GT(test, between, 10000);
}

/*
 * Back to the sender: measures
 */

#define MS	1000000ULL
#define US	1000ULL

static void gradient_looks_test(struct kunit *test)
{
	/* one after the other; windows of 1 ms.  What is said holds at the
	 * look, whether it completes a window or not.
	 */
	static const struct {
		u64 at_ns;
		u32 depth, level;
		s16 per_us;
		const char *what;
	} looks[] = {
		{ 5 * MS, 1000, 0, 0, "the first look" },
		{ 5 * MS + 1, 900000, 0, 0, "not over" },
		{ 6 * MS - 1, 900000, 0, 0, "not over yet" },
		{ 6 * MS, 51000, 50000, 50, "growth" },
		{ 6 * MS + 400 * US, 0, 50000, 50, "that of the last one" },
		{ 7 * MS - 1, 700000, 50000, 50, "still" },
		{ 7 * MS, 20000, 0, -31, "shrinks" },
		{ 8 * MS, 20000, 0, 0, "stays" },
		{ 9 * MS, 21999, 1999, 1, "1.999, towards 0" },
		{ 10 * MS, 20000, 0, -1, "-1.999, towards 0" },
		{ 11 * MS, 20999, 999, 0, "less than 1" },
		{ 12 * MS, 0, 0, -20, "empty" },
		/* 32,767 and more */
		{ 13 * MS, 32767999, 32767999, 32767, "the most" },
		{ 14 * MS, 65536000, 32768001, 32767, "more" },
		{ 15 * MS, U32_MAX, 4229431295U, 32767, "much more" },
		{ 16 * MS, U32_MAX - 32768000, 0, -32768, "the least" },
		{ 17 * MS, U32_MAX - 65537000, 0, -32768, "less" },
		{ 18 * MS, 0, 0, -32768, "much less" },
		{ 19 * MS, U32_MAX, U32_MAX, 32767, "all of it" },
		{ 20 * MS, 0, 0, -32768, "and back" },
		/* as long as two: what is before and after may be anything */
		{ 22 * MS, 600000, 0, 0, "two windows" },
		{ 22 * MS + 500 * US, 700000, 0, 0, "begins anew" },
		{ 23 * MS, 601000, 1000, 1, "and goes on" },
		{ 123 * MS, 900000, 0, 0, "a hundred" },
		{ 124 * MS, 850000, 0, -50, "and goes on" },
	};
	struct iqcn_gradient g = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(looks); i++) {
		iqcn_gradient_add(&g, MS, looks[i].at_ns, looks[i].depth);
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_gradient_level(&g, MS, looks[i].at_ns),
				    looks[i].level, "%s", looks[i].what);
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_gradient_per_us(&g, MS,
							 looks[i].at_ns),
				    looks[i].per_us, "%s", looks[i].what);
	}
}

/* A window ends at the first look that is late enough: its length counts */
static void gradient_span_test(struct kunit *test)
{
	static const struct {
		u64 window_ns, span_ns;
		u32 growth, level;
		s16 per_us;
	} rows[] = {
		{ MS, MS, 30000, 30000, 30 },
		{ MS, 1500 * US, 30000, 20000, 20 },
		{ MS, 1999999, 30000, 15000, 15 },	/* 15.0000075 */
		{ MS, 2 * MS, 30000, 0, 0 },
		{ 10 * US, 10 * US, 30000, 30000, 3000 },
		{ 10 * US, 15 * US, 30000, 20000, 2000 },
		{ 10 * US, 20 * US, 30000, 0, 0 },
		{ SECOND, SECOND, 30000000, 30000000, 30 },
		{ SECOND, 2 * SECOND - 1, 60000000, 30000000, 30 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 window_ns = rows[i].window_ns, now_ns = 7 * SECOND;
		u32 depth = 100000;
		struct iqcn_gradient g = {};
		int sign;

		for (sign = 1; sign >= -1; sign -= 2) {
			memset(&g, 0, sizeof(g));
			if (sign < 0)
				depth += rows[i].growth;
			iqcn_gradient_add(&g, window_ns, now_ns, depth);
			depth += sign * rows[i].growth;
			now_ns += rows[i].span_ns;
			iqcn_gradient_add(&g, window_ns, now_ns, depth);
			KUNIT_EXPECT_EQ_MSG(test,
					    iqcn_gradient_per_us(&g, window_ns,
								 now_ns),
					    sign * rows[i].per_us, "row %d",
					    i);
			/* what it would have been in a window */
			KUNIT_EXPECT_EQ_MSG(test,
					    iqcn_gradient_level(&g, window_ns,
								now_ns),
					    sign > 0 ? rows[i].level : 0,
					    "row %d", i);
			depth = 100000;
		}
	}
}

static void gradient_stale_test(struct kunit *test)
{
	static const u64 windows_ns[] = { 10 * US, MS, SECOND };
	u64 now_ns = 7 * SECOND;
	int i;

	for (i = 0; i < ARRAY_SIZE(windows_ns); i++) {
		u64 w = windows_ns[i];
		struct iqcn_gradient g = {};

		KUNIT_EXPECT_EQ(test, iqcn_gradient_level(&g, w, now_ns), 0);
		KUNIT_EXPECT_EQ(test, iqcn_gradient_per_us(&g, w, now_ns), 0);
		iqcn_gradient_add(&g, w, now_ns, 1000);
		now_ns += w;
		iqcn_gradient_add(&g, w, now_ns, 1001000);

		KUNIT_EXPECT_EQ(test, iqcn_gradient_level(&g, w, now_ns + w),
				1000000);
		now_ns += 2 * w - 1;
		KUNIT_EXPECT_EQ(test, iqcn_gradient_level(&g, w, now_ns),
				1000000);
		KUNIT_EXPECT_EQ(test, iqcn_gradient_per_us(&g, w, now_ns),
				min(div64_u64(SECOND, w), 32767ULL));
		now_ns++;
		KUNIT_EXPECT_EQ(test, iqcn_gradient_level(&g, w, now_ns), 0);
		KUNIT_EXPECT_EQ(test, iqcn_gradient_per_us(&g, w, now_ns), 0);
		KUNIT_EXPECT_EQ(test,
				iqcn_gradient_level(&g, w, now_ns + SECOND), 0);
	}
}

#define GBIT	1000000000ULL

static void delay_points_test(struct kunit *test)
{
	static const struct {
		u32 depth;
		u64 drain, bandwidth;
		u32 want;
	} rows[] = {
		/* as fast, slower, faster */
		{ 100000, 25 * GBIT, 25 * GBIT, 100000 },
		{ 100000, 25 * GBIT / 2, 25 * GBIT, 200000 },
		{ 100000, GBIT, 25 * GBIT, 2500000 },
		{ 100000, 50 * GBIT, 25 * GBIT, 50000 },
		{ 1, 3, 2, 0 },
		{ 100000, 30 * GBIT, 10 * GBIT, 33333 },
		{ 0, GBIT, 25 * GBIT, 0 },
		/* not known */
		{ 100000, 0, 25 * GBIT, 100000 },
		{ U32_MAX, 0, U64_MAX, U32_MAX },
		{ 0, 0, 0, 0 },
		{ 100000, 25 * GBIT, 0, 0 },
		/* more than 32 bits */
		{ 0x80000000, GBIT, 2 * GBIT - 1, 4294967293U },
		{ 0x80000000, GBIT, 2 * GBIT, U32_MAX },
		{ 0x80000000, GBIT, 3 * GBIT, U32_MAX },
		{ U32_MAX, GBIT, GBIT, U32_MAX },
		{ U32_MAX, GBIT, 400 * GBIT, U32_MAX },
		/* more than 64 bits, on the way or after all */
		{ 0, 1, U64_MAX, 0 },
		{ 1, 1, U64_MAX, U32_MAX },
		{ U32_MAX, 1, U64_MAX, U32_MAX },
		{ 1, 1, U32_MAX - 1, U32_MAX - 1 },
		{ 1, 1, U32_MAX, U32_MAX },
		{ 1, 1, ONE, U32_MAX },
		{ U32_MAX, 1, U32_MAX - 1, U32_MAX },
		{ U32_MAX, U64_MAX, 1, 0 },
		{ U32_MAX, U64_MAX, U64_MAX, U32_MAX },
		{ 100000, U64_MAX, U64_MAX, 100000 },
		{ 100000, 1ULL << 63, 1ULL << 62, 50000 },
		{ 100000, 1ULL << 62, 1ULL << 63, 200000 },
		{ 1, 1ULL << 32, U64_MAX, U32_MAX },
		{ 1, 1ULL << 33, U64_MAX, 0x7fffffff },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_delay_level(rows[i].depth,
						     rows[i].drain,
						     rows[i].bandwidth),
				    rows[i].want, "row %d", i);
}

static u64 any_u64(struct rnd_state *rnd)
{
	u64 r = prandom_u32_state(rnd);

	r = r << 32 | prandom_u32_state(rnd);
	return r >> prandom_u32_state(rnd) % 64;
}

static void delay_random_test(struct kunit *test)
{
	u32 below = 0, full = 0;
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 100000; i++) {
		u64 drain = any_u64(&rnd) ?: 1, bandwidth = any_u64(&rnd);
		u32 depth = any_u32(&rnd);
		u64 want = ref_mul_div(depth, bandwidth, drain), got;

		want = min_t(u64, want, U32_MAX);
		got = iqcn_delay_level(depth, drain, bandwidth);
		/* some kernels divide to 30 bits where 64 do not suffice */
		KUNIT_ASSERT_LE_MSG(test, gap64(got, want), (want >> 29) + 1,
				    "%u * %llu / %llu: %llu, %llu", depth,
				    bandwidth, drain, got, want);
		if (fls64(depth) + fls64(bandwidth) <= 62)
			KUNIT_ASSERT_EQ(test, got, want);
		full += want == U32_MAX;
		below += want && want < U32_MAX;
	}
	KUNIT_EXPECT_GT(test, full, 10000);
	KUNIT_EXPECT_GT(test, below, 10000);
}

/*
 * Back to the sender: active flows
 */

#define EPOCH	(5 * MS)

static void active_once_test(struct kunit *test)
{
	struct iqcn_active a = {};
	u32 flow[4] = {}, i, n;

	KUNIT_EXPECT_EQ(test, iqcn_active_flows(&a), 0);
	for (n = 0; n < 5; n++) {
		/* each is the first of its epoch once */
		for (i = 0; i < 3; i++)
			KUNIT_EXPECT_EQ(test,
					iqcn_active_seen(&a, &flow[i],
							 SECOND + n), !n);
		KUNIT_EXPECT_EQ(test, iqcn_active_flows(&a), 3);
	}
	/* at the end of the epoch one more */
	iqcn_active_seen(&a, &flow[3], SECOND + EPOCH - 1);
	KUNIT_EXPECT_EQ(test, iqcn_active_flows(&a), 4);
	iqcn_active_run(&a, SECOND + EPOCH - 1);
	KUNIT_EXPECT_EQ(test, iqcn_active_flows(&a), 4);
}

static void active_epochs_test(struct kunit *test)
{
	/* so many flows in each; flows of the largest of two */
	static const u32 n[] = { 3, 1, 0, 0, 7, 2, 8, 8, 0, 1, 0, 0 };
	static const u32 at_start[] = { 0, 3, 1, 0, 0, 7, 2, 8, 8, 0, 1, 0 };
	static const u32 at_end[] = { 3, 3, 1, 0, 7, 7, 8, 8, 8, 1, 1, 0 };
	struct iqcn_active a = {};
	u32 flow[8] = {}, e, i;
	u64 now_ns = SECOND;

	for (e = 0; e < ARRAY_SIZE(n); e++) {
		iqcn_active_run(&a, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), at_start[e],
				    "epoch %u", e);
		for (i = 0; i < 2 * n[e]; i++)
			iqcn_active_seen(&a, &flow[i % n[e]], now_ns + i);
		iqcn_active_run(&a, now_ns + EPOCH - 1);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), at_end[e],
				    "epoch %u", e);
		now_ns += EPOCH;
	}
}

static void active_gap_test(struct kunit *test)
{
	static const struct {
		u64 gap_ns;
		u32 want;
	} gaps[] = {
		{ 0, 3 }, { EPOCH - 1, 3 }, { EPOCH, 3 }, { EPOCH + 1, 3 },
		{ 2 * EPOCH - 1, 3 }, { 2 * EPOCH, 0 }, { 2 * EPOCH + 1, 0 },
		{ 3 * EPOCH, 0 }, { 3600 * SECOND, 0 },
	};
	int i, j;

	for (i = 0; i < ARRAY_SIZE(gaps); i++) {
		struct iqcn_active a = {};
		u64 now_ns = SECOND;
		u32 flow[3] = {};

		for (j = 0; j < 3; j++)
			iqcn_active_seen(&a, &flow[j], now_ns);
		now_ns += gaps[i].gap_ns;
		iqcn_active_run(&a, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), gaps[i].want,
				    "gap %d", i);
		/* the first to come back, if that is an epoch of its own */
		iqcn_active_seen(&a, &flow[0], now_ns);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a),
				    gaps[i].want ?: 1, "gap %d", i);
		/* and now only that one counts */
		iqcn_active_run(&a, now_ns + EPOCH);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a),
				    gaps[i].gap_ns < EPOCH ? 3 : 1, "gap %d",
				    i);
	}
}

static void active_wrap_test(struct kunit *test)
{
	static const u32 epochs[] = { U32_MAX, 1, 2, 3, 4 };
	struct iqcn_active a = {
		.start_ns = SECOND,
		.epoch = U32_MAX - 1,
	};
	u32 old = U32_MAX - 1, n;
	u64 now_ns = SECOND;

	/* has been counted */
	iqcn_active_seen(&a, &old, now_ns);
	KUNIT_EXPECT_EQ(test, iqcn_active_flows(&a), 0);
	for (n = 0; n < ARRAY_SIZE(epochs); n++) {
		/* one that has never been seen is new in any epoch */
		u32 never = 0;

		now_ns += 2 * EPOCH;
		iqcn_active_seen(&a, &never, now_ns);
		KUNIT_EXPECT_EQ(test, a.epoch, epochs[n]);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), 1,
				    "epoch %u", epochs[n]);
		iqcn_active_seen(&a, &never, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), 1,
				    "epoch %u", epochs[n]);
		iqcn_active_seen(&a, &old, now_ns);
		iqcn_active_seen(&a, &old, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), 2,
				    "epoch %u", epochs[n]);
	}
}

#define N_ACTIVE	64

/* Against two sets of flows */
static void active_model_test(struct kunit *test)
{
	u64 start_ns = 0, now_ns = SECOND, set = 0, last = 0;
	struct iqcn_active a = {};
	u32 flow[N_ACTIVE] = {};
	u32 shrunk = 0, grown = 0;
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 100000; i++) {
		u32 r = prandom_u32_state(&rnd), f, want;
		u32 before = iqcn_active_flows(&a);

		/* times when few send, and pauses */
		f = i / 2000 % 2 ? r % 5 : r % N_ACTIVE;
		now_ns += r >> 13;
		if (i % 700 == 0)
			now_ns += r >> 8;
		if (now_ns - start_ns >= EPOCH) {
			last = now_ns - start_ns < 2 * EPOCH ? set : 0;
			set = 0;
			start_ns = now_ns;
		}
		set |= 1ULL << f;
		want = max(hweight64(set), hweight64(last));
		iqcn_active_seen(&a, &flow[f], now_ns);
		KUNIT_ASSERT_EQ_MSG(test, iqcn_active_flows(&a), want,
				    "packet %d", i);
		shrunk += want < before;
		grown += want > before;
	}
	KUNIT_EXPECT_GT(test, shrunk, 100);
	KUNIT_EXPECT_GT(test, grown, 1000);
}

/*
 * Back to the sender: PI controller
 */

/* The defaults at 25 Gb/s */
static const struct iqcn_pi_params pi25 = {
	.qref_bytes = 300000,
	.update_ns = 100000,
	.alpha = 2000,
	.beta = 100000,
};

#define STEP	(100 * US)
/* No later than that it runs without being deep */
#define QUIET	(5 * MS)
#define END	(20 * MS)
/* a quarter */
#define QUARTER	0x40000000LL
/* a twelfth: so far it goes below 0 */
#define SLACK	357913941LL

/*
 * One that runs since a second, with a queue that was deep then and stayed as
 * deep as it is, and has found a probability
 */
static struct iqcn_pi pi_with(u32 depth_bytes, s64 prob)
{
	struct iqcn_pi pi = {
		.prob = prob,
		.step_ns = SECOND,
		.deep_ns = SECOND,
		.ahead_bytes = depth_bytes,
		.depth_bytes = depth_bytes,
	};

	return pi;
}

static void pi_defaults_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, iqcn_default_gain(IQCN_REF_ALPHA, 25000),
			pi25.alpha);
	KUNIT_EXPECT_EQ(test, iqcn_default_gain(IQCN_REF_BETA, 25000),
			pi25.beta);
	KUNIT_EXPECT_EQ(test, IQCN_DEFAULT_UPDATE_NS, pi25.update_ns);
	KUNIT_EXPECT_EQ(test,
			IQCN_QREF_PER_KMIN * iqcn_default_kmin(25000, 1514),
			pi25.qref_bytes);
}

static void pi_begin_test(struct kunit *test)
{
	static const struct {
		u32 qref, wake;
	} refs[] = {
		{ 300000, 37500 }, { 7, 0 }, { 8, 1 }, { 15, 1 }, { 16, 2 },
		{ U32_MAX, 536870911 },
	};
	int i, n;

	for (i = 0; i < ARRAY_SIZE(refs); i++) {
		struct iqcn_pi_params p = pi25;
		u64 now_ns = SECOND;
		struct iqcn_pi pi = {};

		p.qref_bytes = refs[i].qref;
		KUNIT_EXPECT_EQ(test, iqcn_pi_wake_bytes(&p), refs[i].wake);
		for (n = 0; n < 5; n++) {
			u32 depth = n & 1 ? 0 : refs[i].wake;

			KUNIT_EXPECT_FALSE_MSG(test,
					       iqcn_pi_run(&pi, &p, 512, depth,
							   now_ns),
					       "qref %u", refs[i].qref);
			KUNIT_EXPECT_FALSE(test, iqcn_pi_runs(&pi));
			KUNIT_EXPECT_EQ(test, pi.prob, 0);
			now_ns += 7 * MS;
		}
		KUNIT_EXPECT_TRUE_MSG(test,
				      iqcn_pi_run(&pi, &p, 512,
						  refs[i].wake + 1, now_ns),
				      "qref %u", refs[i].qref);
		KUNIT_EXPECT_TRUE(test, iqcn_pi_runs(&pi));
		/* what was before it began does not count */
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
	}
}

/* When it steps, and what it takes for the last depth */
static void pi_when_test(struct kunit *test)
{
	/* 299,999 ns are 5,033,146.2 */
	s64 want = 1677721 + 5033146;
	struct iqcn_pi pi = {};
	u64 now_ns;

	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND));
	iqcn_pi_run(&pi, &pi25, 512, 900000, SECOND + STEP - 1);
	KUNIT_EXPECT_EQ(test, pi.prob, 0);
	/* it is as deep as when it began */
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, 1677721);
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, 1677721);
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + 2 * STEP - 1);
	KUNIT_EXPECT_EQ(test, pi.prob, 1677721);
	/* late: that counts, and the next is an interval after it */
	now_ns = SECOND + 4 * STEP - 1;
	iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns);
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns + 1);
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns + STEP - 1);
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns);
	want += 1677721;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* 100,000 more since the last step, 900,000 of twelve times that */
	iqcn_pi_run(&pi, &pi25, 512, 600000, now_ns + 1);
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 500000, now_ns);
	want += 3355443 + 838860800;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* it does not go on like that: 900,000 less */
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 500000, now_ns);
	want += 3355443 - 754974720;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 500000, now_ns);
	want += 3355443;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* 10,000 in one and a half, 80,000 ahead; half as much again of
	 * 3,523,213
	 */
	now_ns += STEP + STEP / 2;
	iqcn_pi_run(&pi, &pi25, 512, 510000, now_ns);
	want += 5284819 + 75497472;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* just not 17 sixteenths: 12,000 ahead, 67,000 less than before;
	 * 1.06249 times 3,539,989
	 */
	now_ns += 106249;
	iqcn_pi_run(&pi, &pi25, 512, 511000, now_ns);
	want += 3761202 - 56203671;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* 17: 1,700 are 19,200 ahead, 8,900 more; 1.0625 times 3,568,512 */
	now_ns += 106250;
	iqcn_pi_run(&pi, &pi25, 512, 512700, now_ns);
	want += 3791544 + 7465860;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
}

static void pi_steps_test(struct kunit *test)
{
	/*
	 * 100,000 bytes above: 2,000 * 100,000 / 512 is 390,625 * 10^-9, and
	 * that is 1,677,721.6.
	 */
	static const struct {
		u32 before, depth, flows, steps;
		s64 prob, want;
	} rows[] = {
		/* at the reference, above, below */
		{ 300000, 300000, 512, 1, 0, 0 },
		{ 300000, 300000, 512, 9, QUARTER, QUARTER },
		{ 400000, 400000, 512, 1, 0, 1677721 },
		{ 400000, 400000, 512, 1, QUARTER, QUARTER + 1677721 },
		{ 200000, 200000, 512, 1, QUARTER, QUARTER - 1677721 },
		{ 500000, 500000, 512, 1, 0, 3355443 },
		/* 2,000 / 512 is 3.9: 3 is 12.9; twice that is 7.8 and 30.06 */
		{ 300001, 300001, 512, 1, 100, 112 },
		{ 300002, 300002, 512, 1, 100, 130 },
		{ 299999, 299999, 512, 1, 100, 88 },
		{ 299998, 299998, 512, 1, 100, 70 },
		/* with growth: 13 times 100,000, but 1,000,000 at most */
		{ 300000, 400000, 512, 1, 0, 1677721 + 838860800 },
		{ 300000, 200000, 512, 1, QUARTER,
		  QUARTER - 1677721 - 838860800 },
		{ 500000, 400000, 512, 1, QUARTER,
		  QUARTER + 1677721 - 838860800 },
		/* several: the growth is one */
		{ 400000, 400000, 512, 3, 0, 3 * 1677721 },
		{ 200000, 200000, 512, 40, QUARTER, QUARTER - 40 * 1677721 },
		/* 100,000 in 3 are 400,000 ahead, in 40 30,000 */
		{ 300000, 400000, 512, 3, 0, 3 * 1677721 + 419430400 },
		{ 200000, 300000, 512, 40, 0, 109051904 },
		/* flows: no fewer than 512 */
		{ 400000, 400000, 0, 1, 0, 1677721 },
		{ 400000, 400000, 1, 1, 0, 1677721 },
		{ 400000, 400000, 511, 1, 0, 1677721 },
		{ 400000, 400000, 513, 1, 0, 1674448 },	/* 389,863 */
		{ 400000, 400000, 2048, 1, 0, 419429 },	/* 97,656 */
		{ 200000, 200000, 2048, 1, QUARTER, QUARTER - 419429 },
		{ 400000, 400000, 65536, 1, 0, 13103 },	/* 3,051 */
		/* far above: four times the reference, 4,687,500 * 10^-9 */
		{ 1499999, 1499999, 512, 1, 0, 20132642 },
		{ 1500000, 1500000, 512, 1, 0, 20132659 },
		{ 1500001, 1500001, 512, 1, 0, 20132659 },
		{ 9000000, 9000000, 512, 1, 0, 20132659 },
		{ U32_MAX, U32_MAX, 512, 7, 0, 7 * 20132659 },
		/* but not its growth; 5,500,000 would be more than all */
		{ 9000000, 9100000, 512, 1, 0, 20132659 + 838860800 },
		{ 400000, 5000000, 512, 1, -SLACK, ONE + 20132659 - SLACK },
		{ 400000, 5000000, 512, 1, 0, ONE },
		/* a step down from there */
		{ 9100000, 9000000, 512, 1, ONE, ONE + 20132659 - 838860800 },
		/* as good as empty, and was: four times the reference */
		{ 0, 0, 512, 1, QUARTER, QUARTER - 20132659 },
		{ 37500, 37500, 512, 1, QUARTER, QUARTER - 20132659 },
		{ 0, 0, 512, 40, QUARTER, QUARTER - 40 * 20132659 },
		{ 0, 0, 2048, 1, QUARTER, QUARTER - 5033164 },
		/* it is not, or was not: 262,499 and 262,500; 13 are 10,904 */
		{ 37501, 37501, 512, 1, QUARTER, QUARTER - 4403999 },
		{ 37500, 37501, 512, 1, QUARTER, QUARTER - 4403999 + 10904 },
		{ 37501, 37500, 512, 1, QUARTER, QUARTER - 4404016 - 10904 },
		{ 0, 300000, 512, 1, 0, 1006632960 },
		{ 300000, 0, 512, 1, QUARTER, QUARTER - 5033164 - 1006632960 },
		/* below 0 */
		{ 200000, 200000, 512, 1, 1677722, 1 },
		{ 200000, 200000, 512, 1, 1677721, 0 },
		{ 200000, 200000, 512, 1, 1677720, -1 },
		{ 200000, 200000, 512, 1, 0, -1677721 },
		{ 400000, 400000, 512, 1, -1677721, 0 },
		{ 400000, 400000, 512, 1, -SLACK, 1677721 - SLACK },
		/* but no further than a twelfth */
		{ 200000, 200000, 512, 1, 1677722 - SLACK, 1 - SLACK },
		{ 200000, 200000, 512, 1, 1677721 - SLACK, -SLACK },
		{ 200000, 200000, 512, 1, 1677720 - SLACK, -SLACK },
		{ 200000, 200000, 512, 1, -SLACK, -SLACK },
		{ 0, 0, 512, 40, 0, -SLACK },
		{ 900000, 200000, 512, 40, -1, -SLACK },
		/* no more than 1 */
		{ 400000, 400000, 512, 1, ONE - 1677722, ONE - 1 },
		{ 400000, 400000, 512, 1, ONE - 1677721, ONE },
		{ 400000, 400000, 512, 1, ONE - 1677720, ONE },
		{ 400000, 400000, 512, 40, ONE, ONE },
		/* the sum counts, not what was on the way */
		{ 400000, 500000, 512, 1, ONE, ONE },
		{ 600000, 500000, 512, 1, ONE, ONE + 3355443 - 838860800 },
		{ 1100000, 1200000, 512, 1, -SLACK,
		  15099494 + 838860800 - SLACK },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct iqcn_pi pi = pi_with(rows[i].before, rows[i].prob);
		u64 now_ns = SECOND + rows[i].steps * STEP;

		KUNIT_EXPECT_TRUE(test,
				  iqcn_pi_run(&pi, &pi25, rows[i].flows,
					      rows[i].depth, now_ns));
		KUNIT_EXPECT_EQ_MSG(test, pi.prob, rows[i].want, "row %d", i);
		/* nothing is left for another step */
		iqcn_pi_run(&pi, &pi25, rows[i].flows, rows[i].depth,
			    SECOND + (rows[i].steps + 1) * STEP - 1);
		KUNIT_EXPECT_EQ_MSG(test, pi.prob, rows[i].want, "row %d", i);
		/* less than 0 is not for others */
		KUNIT_EXPECT_EQ_MSG(test, iqcn_pi_prob(&pi, &pi25, 300000),
				    rows[i].want < 0 ? 0 : rows[i].want,
				    "row %d", i);
	}
}

/* Growth: the proportional part alone */
static void pi_ahead_test(struct kunit *test)
{
	/*
	 * 1,000 bytes in a step are 13,000 with twelve steps ahead: 100,000 *
	 * 13,000 / 512 is 2,539,062.5 * 10^-9, and 2,539,062 of those are
	 * 10,905,188.2.
	 */
	static const struct {
		u32 growth, flows, steps, want;
	} rows[] = {
		{ 0, 512, 1, 0 },
		{ 1, 512, 1, 10904 },		/* 2,539 */
		{ 1000, 512, 1, 10905188 },
		{ 10000, 512, 1, 109051904 },
		/* flows */
		{ 1000, 0, 1, 10905188 },
		{ 1000, 64, 1, 10905188 },
		{ 1000, 511, 1, 10905188 },
		{ 1000, 513, 1, 10883932 },	/* 2,534,113 */
		{ 1000, 2048, 1, 2726294 },	/* 634,765 */
		{ 10000, 2048, 1, 27262974 },	/* 6,347,656 */
		{ 1000, 65536, 1, 85194 },	/* 19,836 */
		/* 12 times 75,000 is three times the reference */
		{ 74999, 512, 1, 817878372 },	/* 974,987 bytes */
		{ 75000, 512, 1, 817889277 },	/* 975,000 */
		{ 75001, 512, 1, 817890115 },	/* 975,001 */
		{ 100000, 512, 1, 838860800 },
		{ 300000, 512, 1, 1006632960 },
		{ 100000, 2048, 1, 209715200 },
		/* in several steps: so many times slower */
		{ 1000, 512, 3, 4194301 },	/* 5,000 bytes */
		{ 1000, 512, 12, 1677721 },	/* 2,000 */
		{ 1000, 512, 13, 1613125 },	/* 1,923 */
		{ 1000, 512, 40, 1090517 },	/* 1,300 */
		{ 7, 512, 5, 19292 },		/* 23 */
		{ 300000, 512, 4, 1006632960 },
		{ 300001, 512, 4, 1006633797 },	/* 1,200,001 */
		{ 100000, 512, 40, 109051904 },
	};
	struct iqcn_pi_params p = pi25;
	int i, sign;

	p.alpha = 0;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (sign = 1; sign >= -1; sign -= 2) {
			struct iqcn_pi pi = pi_with(500000, 2 * QUARTER);

			iqcn_pi_run(&pi, &p, rows[i].flows,
				    500000 + sign * (s64)rows[i].growth,
				    SECOND + rows[i].steps * STEP);
			KUNIT_EXPECT_EQ_MSG(test, pi.prob, 2 * QUARTER +
					    sign * (s64)rows[i].want,
					    "row %d, %d", i, sign);
		}
	}
}

/* What it has looked ahead is not counted again */
static void pi_ahead_again_test(struct kunit *test)
{
	struct iqcn_pi pi = pi_with(400000, 0);
	struct iqcn_pi_params p = pi25;
	u64 now_ns = SECOND;
	s64 want = 0;
	u32 depth;
	int n;

	p.alpha = 0;
	/* 10,000 in each step: 10,000 bytes are 8,388,608 */
	for (n = 1; n <= 5; n++) {
		depth = 400000 + n * 10000;
		now_ns += STEP;
		iqcn_pi_run(&pi, &p, 512, depth, now_ns);
		want += n == 1 ? 13 * 8388608 : 8388608;
		KUNIT_EXPECT_EQ_MSG(test, pi.prob, want, "step %d", n);
	}
	/* it stops, and what is left is what it has grown by */
	for (n = 1; n < 4; n++) {
		now_ns += STEP;
		iqcn_pi_run(&pi, &p, 512, 450000, now_ns);
		KUNIT_EXPECT_EQ(test, pi.prob, 5 * 8388608);
	}
	/* it turns: 13 times less, 26 times more, and all is as it was */
	now_ns += STEP;
	iqcn_pi_run(&pi, &p, 512, 449000, now_ns);
	KUNIT_EXPECT_EQ(test, pi.prob, 5 * 8388608 - 10905188);
	now_ns += STEP;
	iqcn_pi_run(&pi, &p, 512, 450000, now_ns);
	/* 25,000 bytes are 4,882,812.5, and those 20,971,517.8 */
	KUNIT_EXPECT_EQ(test, pi.prob, 5 * 8388608 - 10905188 + 20971517);
	now_ns += STEP;
	iqcn_pi_run(&pi, &p, 512, 450000, now_ns);
	/* 12,000 bytes: 2,343,750, and 10,066,329.6 */
	KUNIT_EXPECT_EQ(test, pi.prob, 5 * 8388608 - 10905188 + 20971517 -
			10066329);
}

/* A queue that is empty for one look is one that is kept short */
static void pi_empty_test(struct kunit *test)
{
	struct iqcn_pi pi = pi_with(300000, 3 * QUARTER);
	u64 now_ns = SECOND + STEP;
	s64 want = 3 * QUARTER;

	/* 300,000 below, and down by that and 900,000 */
	iqcn_pi_run(&pi, &pi25, 512, 0, now_ns);
	want -= 5033164 + 1006632960;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* again: 1,200,000 below, and not down any more */
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 0, now_ns);
	want += 754974720 - 20132659;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* it comes back: 262,499 below; 487,513 with twelve steps ahead */
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 37501, now_ns);
	want += 408955541 - 4403999;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
}

static void pi_at_once_test(struct kunit *test)
{
	struct iqcn_pi one = pi_with(400000, 0);
	u64 now_ns = SECOND;
	s64 want = 0;
	int n;

	for (n = 1; n < 50; n++) {
		struct iqcn_pi pi = pi_with(400000, 0);

		now_ns += STEP;
		want += 1677721;
		iqcn_pi_run(&one, &pi25, 512, 400000, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, one.prob, want, "%d steps", n);
		iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, pi.prob, want, "%d steps", n);
	}
}

#define GAIN_MAX	100000000

static void pi_extremes_test(struct kunit *test)
{
	/* with the largest gains, at which every step is all or nothing */
	static const struct {
		u32 qref, before, depth, steps;
		s64 prob, want;
	} rows[] = {
		{ 1, 0, U32_MAX, 1, 0, ONE },
		{ 1, U32_MAX, U32_MAX, 1, ONE, ONE },
		{ 300000, 0, U32_MAX, 499, 0, ONE },
		{ 300000, U32_MAX, U32_MAX, 499, 0, ONE },
		{ 300000, U32_MAX, 0, 1, ONE, -SLACK },
		{ 300000, U32_MAX, 0, 499, ONE, -SLACK },
		{ 0x40000000, U32_MAX, U32_MAX, 1, 0, ONE },
		{ 0x40000000, 0, U32_MAX, 499, 0, ONE },
		{ 0x40000000, U32_MAX, 0, 499, ONE, -SLACK },
		{ U32_MAX, 0, U32_MAX, 1, 0, ONE },
		{ U32_MAX, U32_MAX, U32_MAX, 499, 12345, 12345 },
		{ U32_MAX, U32_MAX, U32_MAX, 499, -12345, -12345 },
		{ U32_MAX, U32_MAX, 0, 1, ONE, -SLACK },
		{ U32_MAX, 0, 0, 499, ONE, -SLACK },
		/* one against the other */
		{ 1000000, U32_MAX, 0x80000000, 1, 12345, 12345 },
		{ 1000000, U32_MAX, 0x80000000, 2, 12345, ONE },
		{ U32_MAX, 0, 0x80000000, 1, QUARTER, QUARTER },
		{ U32_MAX, 0, 0x80000000, 2, QUARTER, -SLACK },
	};
	static const u32 flows[] = { 0, 32, 512, 65536 };
	static const u32 updates_ns[] = { 10 * US, SECOND };
	int i, j, k;

	for (i = 0; i < ARRAY_SIZE(rows) * ARRAY_SIZE(updates_ns); i++) {
		k = i / ARRAY_SIZE(updates_ns);
		/* it would have ended in several of a second */
		if (rows[k].steps > 1 && updates_ns[i & 1] == SECOND)
			continue;
		for (j = 0; j < ARRAY_SIZE(flows); j++) {
			struct iqcn_pi_params p = {
				.qref_bytes = rows[k].qref,
				.update_ns = updates_ns[i & 1],
				.alpha = GAIN_MAX,
				.beta = GAIN_MAX,
			};
			struct iqcn_pi pi = pi_with(rows[k].before,
						    rows[k].prob);
			u64 now_ns = SECOND +
				     rows[k].steps * (u64)p.update_ns;

			/* it was deep between */
			pi.deep_ns = now_ns - 1;
			iqcn_pi_run(&pi, &p, flows[j], rows[k].depth, now_ns);
			KUNIT_EXPECT_EQ_MSG(test, pi.prob, rows[k].want,
					    "row %d, %u flows", k, flows[j]);
		}
	}
}

/* In units of 2^-32, rounded down; no more than 2^32 */
static s64 ref_change(u32 gain, s64 bytes, u32 flows)
{
	u64 share = ref_mul_div(bytes < 0 ? -bytes : bytes, gain * ONE,
				SECOND * max(flows, 512U));

	share = min(share, ONE);
	return bytes < 0 ? -(s64)share : (s64)share;
}

/* Where it will be in twelve steps, up to three times the reference further */
static s64 ref_ahead(u32 qref, u32 before, u32 depth, u32 steps)
{
	u64 off = min(div_u64(12 * gap64(before, depth), steps), 3ULL * qref);

	return depth < before ? (s64)depth - (s64)off : (s64)(depth + off);
}

/* What there is after so many steps, from what there was before */
static s64 ref_prob_after(const struct iqcn_pi_params *p,
			  const struct iqcn_pi *pi, u32 flows, u32 steps,
			  u32 depth)
{
	s64 above = (s64)depth - p->qref_bytes, prob;
	s64 ahead = ref_ahead(p->qref_bytes, pi->depth_bytes, depth, steps);

	if (above > 4LL * p->qref_bytes)
		above = 4LL * p->qref_bytes;
	if (depth <= p->qref_bytes / 8 && pi->depth_bytes <= p->qref_bytes / 8)
		above = -4LL * p->qref_bytes;
	prob = pi->prob + steps * ref_change(p->alpha, above, flows) +
	       ref_change(p->beta, ahead - pi->ahead_bytes, flows);
	if (prob < -SLACK)
		return -SLACK;
	return prob > (s64)ONE ? (s64)ONE : prob;
}

/* Numbers from 0 to @n - 1, one after the other, from one number */
static u32 pick(u32 *number, u32 n)
{
	u32 digit = *number % n;

	*number /= n;
	return digit;
}

/*
 * Every corner there is.  Deeper is never less, so nothing wraps, and the sums
 * are as ref_mul_div() has them, to which 64 bits are no limit.
 */
static void pi_corners_test(struct kunit *test)
{
	static const u32 depths[] = {
		0, 1, 37500, 0x3fffffff, 0x7fffffff, 0x80000000, U32_MAX,
	};
	static const u32 qrefs[] = {
		1, 8, 300000, 0x40000000, 0x80000000, U32_MAX,
	};
	static const struct {
		u32 alpha, beta;
	} gains[] = {
		{ GAIN_MAX, GAIN_MAX }, { GAIN_MAX, 1 }, { 1, GAIN_MAX },
	};
	static const u32 flows[] = { 0, 512, 2048, 1048576 };
	static const s64 probs[] = { -SLACK, 0, QUARTER, ONE };
	static const u32 all_steps[] = { 1, 2, 12, 499 };
	u32 n = ARRAY_SIZE(qrefs) * ARRAY_SIZE(gains) * ARRAY_SIZE(flows) *
		ARRAY_SIZE(probs) * ARRAY_SIZE(all_steps) *
		ARRAY_SIZE(depths) * 3;
	u32 i, j, r;

	for (i = 0; i < n; i++) {
		struct iqcn_pi_params p = { .update_ns = 10 * US };
		s64 last = -SLACK, ahead, prob;
		u32 before, steps, f;

		r = i / 3;
		before = depths[pick(&r, ARRAY_SIZE(depths))];
		steps = all_steps[pick(&r, ARRAY_SIZE(all_steps))];
		prob = probs[pick(&r, ARRAY_SIZE(probs))];
		f = flows[pick(&r, ARRAY_SIZE(flows))];
		p.qref_bytes = qrefs[pick(&r, ARRAY_SIZE(qrefs))];
		p.alpha = gains[r].alpha;
		p.beta = gains[r].beta;
		/* it shrank, stayed or grew before */
		ahead = before + (i % 3 - 1LL) * 3 * p.qref_bytes;
		for (j = 0; j < ARRAY_SIZE(depths); j++) {
			u64 now_ns = SECOND + steps * (u64)p.update_ns;
			struct iqcn_pi pi = pi_with(before, prob);
			s64 want;

			pi.ahead_bytes = ahead;
			pi.deep_ns = now_ns - 1;
			want = ref_prob_after(&p, &pi, f, steps, depths[j]);
			iqcn_pi_run(&pi, &p, f, depths[j], now_ns);
			KUNIT_ASSERT_GE_MSG(test, pi.prob, last,
					    "%u, depth %u", i, depths[j]);
			KUNIT_ASSERT_LE(test, pi.prob, (s64)ONE);
			/* 10^-9 is 4.3, and all is rounded */
			KUNIT_ASSERT_LE_MSG(test, abs(pi.prob - want),
					    6LL * (steps + 1),
					    "%u, depth %u: %lld, %lld", i,
					    depths[j], pi.prob, want);
			last = pi.prob;
		}
	}
}

/* The longest interval: what is between two steps does not count */
static void pi_second_test(struct kunit *test)
{
	struct iqcn_pi_params p = pi25;
	struct iqcn_pi pi = {};
	u64 now_ns = SECOND;
	int n;

	p.update_ns = SECOND;
	p.alpha = GAIN_MAX;
	p.beta = GAIN_MAX;
	for (n = 0; n < 1000; n++) {
		KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &p, 512, n & 1 ?
						    U32_MAX : 300000, now_ns));
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		now_ns += MS;
	}
	/* one byte: 13 with twelve steps ahead, 2,539,062 * 10^-9, and 1 above,
	 * 195,312 * 10^-9
	 */
	iqcn_pi_run(&pi, &p, 512, 300001, now_ns);
	KUNIT_EXPECT_EQ(test, pi.prob, 10905188 + 838858);
	/* nobody looked: it ends */
	KUNIT_EXPECT_FALSE(test, iqcn_pi_run(&pi, &p, 512, 0,
					     now_ns + SECOND));
	KUNIT_EXPECT_EQ(test, pi.prob, 0);

	/* as late as it can be: 1.019999999 times all or nothing */
	now_ns = 2 * SECOND + END - 1;
	p.qref_bytes = U32_MAX;
	pi = pi_with(0, ONE);
	pi.deep_ns = now_ns - 1;
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &p, 512, 0, now_ns));
	KUNIT_EXPECT_EQ(test, pi.prob, (s64)ONE - 4380866637LL);
	p.qref_bytes = 0x30000000;
	pi = pi_with(U32_MAX, -SLACK);
	pi.deep_ns = now_ns - 1;
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &p, 512, U32_MAX, now_ns));
	KUNIT_EXPECT_EQ(test, pi.prob, 4380866637LL - SLACK);
}

/* One step after the other */
static void pi_random_test(struct kunit *test)
{
	u32 inside = 0, none = 0, all = 0;
	struct rnd_state rnd;
	int i, n;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 5000; i++) {
		struct iqcn_pi_params p = {
			.qref_bytes = any_u32(&rnd) ?: 1,
			.update_ns = 10000,
			.alpha = any_u32(&rnd) % GAIN_MAX + 1,
			.beta = any_u32(&rnd) % GAIN_MAX + 1,
		};
		struct iqcn_pi pi = pi_with(any_u32(&rnd), any_u32(&rnd));
		/* what the queue was is written down here */
		struct iqcn_pi ref = pi;
		u64 now_ns = SECOND;

		for (n = 0; n < 20 && iqcn_pi_runs(&pi); n++) {
			u32 depth = any_u32(&rnd), flows = any_u32(&rnd) >> 15;
			u32 steps = 1 + any_u32(&rnd) % 499;
			s64 want;

			/* sometimes it hardly moves */
			if (any_u32(&rnd) & 1)
				depth = ref.depth_bytes ^ any_u32(&rnd) >> 12;
			ref.prob = pi.prob;
			want = ref_prob_after(&p, &ref, flows, steps, depth);
			now_ns += steps * 10 * US;
			pi.deep_ns = now_ns - 1;
			iqcn_pi_run(&pi, &p, flows, depth, now_ns);
			/* 10^-9 is 4.3, and all is rounded */
			KUNIT_ASSERT_LE_MSG(test, abs(pi.prob - want),
					    6LL * (steps + 1),
					    "round %d, %d: %lld, %lld", i, n,
					    pi.prob, want);
			ref.ahead_bytes = ref_ahead(p.qref_bytes,
						    ref.depth_bytes, depth,
						    steps);
			ref.depth_bytes = depth;
			none += want == -SLACK;
			all += want == ONE;
			inside += want > -SLACK && want < (s64)ONE &&
				  want != ref.prob;
		}
	}
	KUNIT_EXPECT_GT(test, none, 1000);
	KUNIT_EXPECT_GT(test, all, 1000);
	KUNIT_EXPECT_GT(test, inside, 1000);
}

/* A sixteenth nearer to 0, but at least 1 */
static s64 ref_faded(s64 prob, u32 steps)
{
	s64 off = prob < 0 ? -prob : prob;

	while (steps--)
		off = off > 16 ? off - (off >> 4) : off ? off - 1 : 0;
	return prob < 0 ? -off : off;
}

static void pi_fade_test(struct kunit *test)
{
	static const s64 probs[] = { ONE, QUARTER, 1000 };
	static const s64 below[] = { -1000, -SLACK };
	struct iqcn_pi pi, one;
	u64 now_ns;
	u32 n, i;

	/* just not quiet: 49.99999 steps of 300,000 below.  With 72,090 ahead,
	 * in 799 sixteenths, it is 372,090 less.
	 */
	pi = pi_with(300000, 0x80000000);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 0,
					    SECOND + QUIET - 1));
	KUNIT_EXPECT_EQ(test, pi.prob, 0x80000000LL - 251658149 - 312131714);
	/* and now it is: one step of a sixteenth; the depth does not matter */
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + QUIET - 1 + STEP));
	KUNIT_EXPECT_EQ(test, pi.prob, 1583693785 - 98980861);

	/* all at once */
	pi = pi_with(300000, 0x80000000);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 0,
					    SECOND + QUIET));
	KUNIT_EXPECT_EQ(test, pi.prob, ref_faded(0x80000000, 50));

	/* eleven steps halve it */
	pi = pi_with(0, 0x80000000);
	pi.step_ns = SECOND + QUIET;
	iqcn_pi_run(&pi, &pi25, 512, 0, SECOND + QUIET + 11 * STEP);
	KUNIT_EXPECT_GT(test, pi.prob, 0x80000000LL / 100 * 48);
	KUNIT_EXPECT_LT(test, pi.prob, 0x80000000LL / 100 * 51);

	/* one by one, and all of them, until it ends or nothing is left */
	for (i = 0; i < ARRAY_SIZE(probs); i++) {
		one = pi_with(0, probs[i]);
		one.step_ns = SECOND + QUIET;
		for (n = 1; n < 150 && iqcn_pi_runs(&one); n++) {
			s64 want = ref_faded(probs[i], n);

			pi = pi_with(0, probs[i]);
			pi.step_ns = SECOND + QUIET;
			now_ns = SECOND + QUIET + n * STEP;
			KUNIT_EXPECT_EQ(test, iqcn_pi_run(&one, &pi25, 512, 0,
							  now_ns), !!want);
			KUNIT_EXPECT_EQ(test, iqcn_pi_run(&pi, &pi25, 512, 0,
							  now_ns), !!want);
			KUNIT_EXPECT_EQ_MSG(test, one.prob, want,
					    "%lld, %u steps", probs[i], n);
			KUNIT_EXPECT_EQ_MSG(test, pi.prob, want,
					    "%lld, %u steps", probs[i], n);
		}
	}
	/* below 0 it ends, unless it is deep again */
	for (i = 0; i < ARRAY_SIZE(below); i++) {
		for (n = 1; n < 150; n++) {
			pi = pi_with(0, below[i]);
			pi.step_ns = SECOND + QUIET;
			now_ns = SECOND + QUIET + n * STEP;
			KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512,
							    400000, now_ns));
			KUNIT_EXPECT_EQ_MSG(test, pi.prob,
					    ref_faded(below[i], n),
					    "%lld, %u steps", below[i], n);
		}
	}
}

/* All of it fades if only the interval is short enough */
static void pi_faded_test(struct kunit *test)
{
	/* below 0 it ends, unless it is deep again */
	static const struct {
		s64 prob, left;
		u32 steps, depth;
	} rows[] = { { ONE, 1, 326, 0 }, { -SLACK, -1, 287, 400000 } };
	struct iqcn_pi_params p = pi25;
	struct iqcn_pi pi;
	u64 now_ns;
	int i;

	p.update_ns = 10 * US;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bool deep = rows[i].depth;

		pi = pi_with(0, rows[i].prob);
		pi.step_ns = SECOND + QUIET;
		now_ns = SECOND + QUIET + (rows[i].steps - 1) * 10 * US;
		KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &p, 512,
						    rows[i].depth, now_ns));
		KUNIT_EXPECT_EQ(test, pi.prob, rows[i].left);

		pi = pi_with(0, rows[i].prob);
		pi.step_ns = SECOND + QUIET;
		now_ns += 10 * US;
		KUNIT_EXPECT_EQ(test, iqcn_pi_run(&pi, &p, 512, rows[i].depth,
						  now_ns), deep);
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		KUNIT_EXPECT_EQ(test, iqcn_pi_runs(&pi), deep);

		/* as many steps as there can be */
		pi = pi_with(0, rows[i].prob);
		KUNIT_EXPECT_EQ(test, iqcn_pi_run(&pi, &p, 512, rows[i].depth,
						  SECOND + END - 1), deep);
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
	}
}

/* How long it is since the queue was deep */
static void pi_deep_test(struct kunit *test)
{
	struct iqcn_pi pi;

	/* a look between two steps counts: it is not quiet yet */
	pi = pi_with(300000, QUARTER);
	iqcn_pi_run(&pi, &pi25, 512, 37501, SECOND + STEP / 2);
	iqcn_pi_run(&pi, &pi25, 512, 300000, SECOND + STEP / 2 + QUIET - 1);
	KUNIT_EXPECT_EQ(test, pi.prob, QUARTER);

	/* one that is not deep enough does not */
	pi = pi_with(300000, QUARTER);
	iqcn_pi_run(&pi, &pi25, 512, 37500, SECOND + STEP / 2);
	iqcn_pi_run(&pi, &pi25, 512, 300000, SECOND + STEP / 2 + QUIET - 1);
	KUNIT_EXPECT_EQ(test, pi.prob, ref_faded(QUARTER, 50));

	/* deep again after 6 ms: faded by then, and goes on from there */
	pi = pi_with(300000, QUARTER);
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + 6 * MS);
	KUNIT_EXPECT_EQ(test, pi.prob, ref_faded(QUARTER, 60));
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + 6 * MS + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, ref_faded(QUARTER, 60) + 1677721);
}

static void pi_end_test(struct kunit *test)
{
	static const u64 ends_ns[] = {
		END, END + 1, END + STEP, 3600 * SECOND,
	};
	struct iqcn_pi pi = pi_with(300000, QUARTER);
	int i;

	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 0,
					    SECOND + END - 1));
	KUNIT_EXPECT_EQ(test, pi.prob, ref_faded(QUARTER, 199));
	KUNIT_EXPECT_GT(test, pi.prob, 0);
	for (i = 0; i < ARRAY_SIZE(ends_ns); i++) {
		u64 now_ns = SECOND + ends_ns[i];

		/* it ends, and does not begin before it has to */
		pi = pi_with(300000, QUARTER);
		KUNIT_EXPECT_FALSE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
						     now_ns));
		KUNIT_EXPECT_FALSE(test, iqcn_pi_runs(&pi));
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		KUNIT_EXPECT_EQ(test, iqcn_pi_prob(&pi, &pi25, U32_MAX), 0);
		now_ns += 12345;
		KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 400000,
						    now_ns));
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns + STEP);
		KUNIT_EXPECT_EQ(test, pi.prob, 1677721);

		/* it ends and begins */
		now_ns = SECOND + ends_ns[i];
		pi = pi_with(300000, QUARTER);
		KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 400000,
						    now_ns));
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns + STEP - 1);
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns + STEP);
		KUNIT_EXPECT_EQ(test, pi.prob, 1677721);
	}
}

/* It ends early if it is quiet, with nothing to say and nothing to watch */
static void pi_idle_test(struct kunit *test)
{
	struct iqcn_pi pi;

	/* as much as is taken while it is as good as empty; it is not quiet */
	pi = pi_with(37500, 20132659);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + STEP));
	KUNIT_EXPECT_EQ(test, pi.prob, 0);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + 2 * STEP));
	/* less than nothing is something that it has found */
	KUNIT_EXPECT_EQ(test, pi.prob, -20132659);
	KUNIT_EXPECT_EQ(test, iqcn_pi_prob(&pi, &pi25, 37500), 0);
	/* but not for long */
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + QUIET - 1));
	KUNIT_EXPECT_FALSE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					     SECOND + QUIET - 1 + STEP));
	KUNIT_EXPECT_FALSE(test, iqcn_pi_runs(&pi));
	KUNIT_EXPECT_EQ(test, iqcn_pi_prob(&pi, &pi25, 37500), 0);

	/* nothing at all is left */
	pi = pi_with(37500, 50);
	KUNIT_EXPECT_FALSE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					     SECOND + QUIET));
	KUNIT_EXPECT_FALSE(test, iqcn_pi_runs(&pi));
	/* anew: no growth since then, no steps since then */
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 400000,
					    SECOND + 8 * MS));
	KUNIT_EXPECT_EQ(test, pi.prob, 0);
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + 8 * MS + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, 1677721);

	/* something to watch */
	pi = pi_with(37500, -1000);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37501,
					    SECOND + QUIET));
	/* something to say */
	pi = pi_with(37500, 1000);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + QUIET));
	KUNIT_EXPECT_GT(test, pi.prob, 0);
	/* with a step, not between two */
	pi = pi_with(37500, -1000);
	pi.step_ns = SECOND + QUIET - STEP / 2;
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + QUIET + STEP / 2 - 1));
	KUNIT_EXPECT_FALSE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					     SECOND + QUIET + STEP / 2));
}

static void pi_raised_test(struct kunit *test)
{
	static const struct {
		u32 qref, depth;
		s64 prob, want;
	} rows[] = {
		{ 300000, 0, 5000, 5000 },
		{ 300000, 300000, 5000, 5000 },
		{ 300000, 1200000, 5000, 5000 },
		/* 2^32 / 3,600,000 is 1,193.05 */
		{ 300000, 1200001, 5000, 5000 },
		{ 300000, 1200001, 0, 1193 },
		{ 300000, 1200004, 5000, 5000 },
		{ 300000, 1200005, 5000, 5965 },
		{ 300000, 2100000, 5000, QUARTER },
		{ 300000, 2100000, QUARTER - 1, QUARTER },
		{ 300000, 2100000, QUARTER + 1, QUARTER + 1 },
		{ 300000, 3000000, 0, 2 * QUARTER },
		{ 300000, 3900000, 0, 3 * QUARTER },
		{ 300000, 4799999, 0, ONE - 1194 },
		{ 300000, 4800000, 0, ONE },
		{ 300000, 4800001, 0, ONE },
		{ 300000, U32_MAX, 0, ONE },
		{ 300000, 1300000, ONE, ONE },
		/* never less than 0, and raised all the same */
		{ 300000, 0, -1, 0 },
		{ 300000, 300000, -SLACK, 0 },
		{ 300000, 1200000, -SLACK, 0 },
		{ 300000, 1200001, -SLACK, 1193 },
		{ 300000, 3000000, -SLACK, 2 * QUARTER },
		{ 300000, 4800000, -SLACK, ONE },
		{ 1, 4, 0, 0 },
		{ 1, 5, 0, 357913941 },		/* a twelfth */
		{ 1, 7, 0, QUARTER },
		{ 1, 13, 0, 3 * QUARTER },
		{ 1, 16, 0, ONE },
		{ 1, U32_MAX, 0, ONE },
		/* sixteen times is more than 32 bits hold */
		{ 0x10000000, U32_MAX, 0, ONE - 2 },
		{ 0x20000000, 0x80000000, 0, 0 },
		{ 0x20000000, 0x80000001, 0, 0 },	/* two thirds */
		{ 0x20000000, 0x80000002, 0, 1 },
		{ 0x20000000, 0xc0000000, 0, 715827882 },	/* a sixth */
		{ 0x20000000, U32_MAX, 0, 1431655764 },
		/* and so is four times */
		{ 0x40000000, U32_MAX, 5000, 5000 },
		{ U32_MAX, U32_MAX, 5000, 5000 },
		{ U32_MAX, U32_MAX, -SLACK, 0 },
	};
	struct iqcn_pi_params p = pi25;
	struct iqcn_pi pi;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		p.qref_bytes = rows[i].qref;
		pi = pi_with(0, rows[i].prob);
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_pi_prob(&pi, &p, rows[i].depth),
				    rows[i].want, "row %d", i);
	}
	/* not while it does not run */
	memset(&pi, 0, sizeof(pi));
	KUNIT_EXPECT_EQ(test, iqcn_pi_prob(&pi, &pi25, 4800000), 0);
}

static void pi_monotone_test(struct kunit *test)
{
	static const s64 probs[] = { -SLACK, 0, 1677721, QUARTER, ONE };
	u64 last, got;
	u32 depth;
	int i;

	for (i = 0; i < ARRAY_SIZE(probs); i++) {
		struct iqcn_pi pi = pi_with(0, probs[i]);

		last = 0;
		for (depth = 1100000; depth <= 4800000; depth += 37) {
			got = iqcn_pi_prob(&pi, &pi25, depth);
			KUNIT_ASSERT_GE_MSG(test, got, last, "depth %u",
					    depth);
			KUNIT_ASSERT_GE(test, (s64)got, probs[i]);
			/* 37 bytes are 44,142.7 */
			if (depth > 1100000)
				KUNIT_ASSERT_LE(test, got - last, 44143);
			last = got;
		}
		/* 1,100,000 + 37 * 100,000 is the end */
		KUNIT_EXPECT_EQ(test, last, ONE);
	}
}

static void pi_credit_test(struct kunit *test)
{
	static const u64 probs[] = {
		0, 1, 1000, 419429, 4294967, 4294968, 0x12345678, QUARTER,
		1431655765, 1431655766, 2 * QUARTER, 2 * QUARTER + 1,
		3 * QUARTER + 7, U32_MAX - 1, U32_MAX, ONE,
	};
	static const u32 credits[] = { 0, 1, 0x80000000, U32_MAX - 1, U32_MAX };
	int i, j, n;

	for (i = 0; i < ARRAY_SIZE(probs); i++) {
		for (j = 0; j < ARRAY_SIZE(credits); j++) {
			u64 floor = 1000 * probs[i] / ONE;
			u64 ceil = (1000 * probs[i] + ONE - 1) / ONE;
			int last = -1, least = 1001, most = 0;
			u32 credit = credits[j], told = 0;

			for (n = 0; n < 1000; n++) {
				if (!iqcn_pi_credit(&credit, probs[i], 1))
					continue;
				if (last >= 0) {
					least = min(least, n - last);
					most = max(most, n - last);
				}
				last = n;
				told++;
			}
			KUNIT_EXPECT_GE_MSG(test, told, floor, "%llu from %u",
					    probs[i], credits[j]);
			KUNIT_EXPECT_LE_MSG(test, told, ceil, "%llu from %u",
					    probs[i], credits[j]);
			/* exactly, by what it had at first */
			KUNIT_EXPECT_EQ_MSG(test, told,
					    (credits[j] + 1000 * probs[i]) >>
					    32, "%llu from %u", probs[i],
					    credits[j]);
			/* evenly */
			if (most)
				KUNIT_EXPECT_LE_MSG(test, most - least, 1,
						    "%llu from %u", probs[i],
						    credits[j]);
			/* never, always */
			if (!probs[i])
				KUNIT_EXPECT_EQ(test, told, 0);
			if (probs[i] == ONE)
				KUNIT_EXPECT_EQ(test, told, 1000);
		}
	}
}

/* GSO: so many chances at once */
static void pi_chances_test(struct kunit *test)
{
	static const struct {
		u32 credit;
		u64 prob;
		u32 chances;
		bool told;
		u32 left;
	} rows[] = {
		{ 0, QUARTER, 3, false, 0xc0000000 },
		{ 0xc0000000, QUARTER, 1, true, 0 },
		{ 0, QUARTER, 4, true, 0 },
		{ 0, QUARTER, 10, true, 0x80000000 },
		{ 1, QUARTER, 45, true, 0x40000001 },
		{ 0, ONE, 1, true, 0 },
		{ 5, ONE, 45, true, 5 },
		{ 0, 10, 45, false, 450 },
		{ U32_MAX, 0, 45, false, U32_MAX },
		{ U32_MAX, 1, 1, true, 0 },
		{ U32_MAX - 45, 1, 45, false, U32_MAX },
		{ U32_MAX - 44, 1, 45, true, 0 },
		{ 7, ONE, 0, false, 7 },
		/* all of 64 bits */
		{ U32_MAX, ONE, U32_MAX, true, U32_MAX },
		{ 0, U32_MAX, U32_MAX, true, 1 },
		{ 0, 1, U32_MAX, false, U32_MAX },
		{ 1, 1, U32_MAX, true, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 credit = rows[i].credit;

		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_pi_credit(&credit, rows[i].prob,
						   rows[i].chances),
				    rows[i].told, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, credit, rows[i].left, "row %d", i);
	}
}

/* What cannot be told yet: all but a CNP, and the next chance makes it one */
static void bts_ecn_test(struct kunit *test)
{
	static const struct {
		u32 ce_in;
		u8 ecn;
		bool queued;
		bool dropped;
	} rows[] = {
		{ IQCN_CE_IN_NOTIFY, INET_ECN_NOT_ECT, false, false },
		{ IQCN_CE_IN_NOTIFY, INET_ECN_ECT_0, true, true },
		{ IQCN_CE_IN_NOTIFY, INET_ECN_ECT_1, true, true },
		{ IQCN_CE_IN_NOTIFY, INET_ECN_CE, true, true },
		{ IQCN_CE_IN_SILENT, INET_ECN_NOT_ECT, false, false },
		{ IQCN_CE_IN_SILENT, INET_ECN_ECT_0, true, true },
		{ IQCN_CE_IN_SILENT, INET_ECN_ECT_1, true, true },
		{ IQCN_CE_IN_SILENT, INET_ECN_CE, false, true },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ_MSG(test, iqcn_bts_may(rows[i].ce_in,
						       rows[i].ecn, false),
				    rows[i].queued, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_bts_may(rows[i].ce_in,
						       rows[i].ecn, true),
				    rows[i].dropped, "row %d", i);
	}
}

static void bts_gap_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(5000, 8000), 3000);
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(5000, 5000), 0);
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(1, 50000001), 50000000);
	/* away for longer, and new */
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(1, 50000002), 1000000);
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(1, 1 + (7ULL << 32)), 1000000);
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(0, 30000000), 1000000);
}

/* Four times as long as between two packets, T1 at least, 50 ms at most */
static void bts_hold_test(struct kunit *test)
{
	static const struct {
		u32 gap_ns;
		u32 t1_ns;
		u64 last_ns;
	} rows[] = {
		{ 1361000, 225000, 5444000 },
		{ 1000, 225000, 225000 },
		{ 0, 225000, 225000 },
		{ 56250, 225000, 225000 },
		{ 56251, 225000, 225004 },
		{ 12500000, 225000, 50000000 },
		{ 50000000, 225000, 50000000 },
		{ 1000, 1000000000, 50000000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_TRUE_MSG(test,
				      iqcn_bts_polls(rows[i].gap_ns,
						     rows[i].t1_ns,
						     rows[i].last_ns),
				      "row %d", i);
		KUNIT_EXPECT_FALSE_MSG(test,
				       iqcn_bts_polls(rows[i].gap_ns,
						      rows[i].t1_ns,
						      rows[i].last_ns + 1),
				       "row %d", i);
	}
}

static void pi_save_test(struct kunit *test)
{
	static const struct {
		u32 credit;
		u64 prob;
		u32 chances, left;
	} rows[] = {
		{ 0, 0, 1, 0 },
		{ 7, ONE, 0, 7 },
		{ 0, QUARTER, 1, 0x40000000 },
		{ 5, QUARTER, 3, 0xc0000005 },
		{ 0, QUARTER, 4, U32_MAX },
		{ 0xc0000000, QUARTER, 1, U32_MAX },
		{ 0xbfffffff, QUARTER, 1, U32_MAX },
		{ 0xbffffffe, QUARTER, 1, U32_MAX - 1 },
		{ 0, ONE, 1, U32_MAX },
		{ U32_MAX, 0, 45, U32_MAX },
		{ U32_MAX, 1, 1, U32_MAX },
		{ U32_MAX - 46, 1, 45, U32_MAX - 1 },
		{ U32_MAX - 44, 1, 45, U32_MAX },
		/* all of 64 bits */
		{ U32_MAX, ONE, U32_MAX, U32_MAX },
		{ 0, 1, U32_MAX, U32_MAX },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 credit = rows[i].credit;

		iqcn_pi_save(&credit, rows[i].prob, rows[i].chances);
		KUNIT_EXPECT_EQ_MSG(test, credit, rows[i].left, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_pi_credit(&credit, 1, 1),
				    rows[i].left == U32_MAX, "row %d", i);
	}
}

/*
 * A link of 25 Gb/s that is full at first, and 20 CNPs a round are what keeps
 * the load as it is: with each less or more it grows or shrinks by 3 * 10^10
 * B/s per second (pi.h), and nothing damps it.  CNPs lag 100 us behind.
 */
#define LOOP_LINK	3125000000LL
#define LOOP_CNPS	20000000LL	/* millionths */
#define LOOP_LAG_US	100
#define LOOP_US		10
#define LOOP_STEP_US	100
#define LOOP_END_US	200000

struct loop {
	s64 cnps;
	s64 over;
	s64 depth;
	u32 early_max;
	u32 late_min;
	u32 late_max;
};

/* One turn of LOOP_US with so many millionths of a CNP a round */
static void turn_loop(struct loop *l, u32 us, s64 cnps)
{
	l->cnps += div_s64((cnps - l->cnps) * LOOP_US, LOOP_LAG_US);
	/* 3 * 10^10 B/s^2 are 0.3 B/s in 10 us for a millionth */
	l->over += div_s64((LOOP_CNPS - l->cnps) * 3, 10);
	/* nobody sends less than nothing */
	l->over = max(l->over, -LOOP_LINK);
	l->depth += div_s64(l->over * LOOP_US, 1000000);
	l->depth = max(l->depth, 0LL);
	if (us >= 20000)
		l->early_max = max_t(u32, l->early_max, l->depth);
	if (us >= 100000) {
		l->late_max = max_t(u32, l->late_max, l->depth);
		l->late_min = min_t(u32, l->late_min, l->depth);
	}
}

static void run_loop(const struct iqcn_pi_params *p, u32 flows, struct loop *l)
{
	struct iqcn_pi pi = {};
	u64 prob;
	u32 us;

	memset(l, 0, sizeof(*l));
	l->late_min = U32_MAX;
	for (us = LOOP_US; us < LOOP_END_US; us += LOOP_US) {
		iqcn_pi_run(&pi, p, flows, l->depth, SECOND + us * US);
		prob = iqcn_pi_prob(&pi, p, l->depth);
		/* 2^11 * 2^32 * 10^6 is below 2^63 */
		turn_loop(l, us, flows * prob * 1000000 >> 32);
	}
}

/* A controller as in a book, with so many steps ahead; it counts 10^-9 CNPs */
static void run_plain_loop(u32 steps_ahead, struct loop *l)
{
	s64 last = 0, last_ahead = 0, ahead, nano = 0;
	u32 us;

	memset(l, 0, sizeof(*l));
	l->late_min = U32_MAX;
	for (us = LOOP_US; us < LOOP_END_US; us += LOOP_US) {
		if (us % LOOP_STEP_US == 0) {
			ahead = l->depth + steps_ahead * (l->depth - last);
			nano += 2000 * (l->depth - 300000) +
				100000 * (ahead - last_ahead);
			nano = clamp_t(s64, nano, 0, 512 * (s64)SECOND);
			last = l->depth;
			last_ahead = ahead;
		}
		turn_loop(l, us, div_s64(nano, 1000));
	}
}

static void pi_loop_test(struct kunit *test)
{
	/* 64 are told as if there were 512, so the gain is an eighth */
	static const struct {
		u32 flows, early_max, late_off;
	} rows[] = {
		{ 64, 600000, 6000 },
		{ 512, 303000, 300 },
		{ 2048, 303000, 300 },
	};
	struct loop l;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		run_loop(&pi25, rows[i].flows, &l);
		KUNIT_EXPECT_LE_MSG(test, l.early_max, rows[i].early_max,
				    "%u flows", rows[i].flows);
		KUNIT_EXPECT_GE_MSG(test, l.late_min,
				    300000 - rows[i].late_off, "%u flows",
				    rows[i].flows);
		KUNIT_EXPECT_LE_MSG(test, l.late_max,
				    300000 + rows[i].late_off, "%u flows",
				    rows[i].flows);
		/* within 1 % */
		KUNIT_EXPECT_LE_MSG(test, gap64(l.cnps, LOOP_CNPS), 200000,
				    "%u flows", rows[i].flows);
	}
}

/* Such a loop rings without any of the parts */
static void pi_rings_test(struct kunit *test)
{
	struct iqcn_pi_params p = pi25;
	struct loop l;

	/* one that is plain settles too, if it looks ahead */
	run_plain_loop(12, &l);
	KUNIT_EXPECT_LE(test, l.early_max, 303000);
	KUNIT_EXPECT_GE(test, l.late_min, 299700);
	KUNIT_EXPECT_LE(test, l.late_max, 300300);
	/* but does not if not: it is empty and full in turn */
	run_plain_loop(0, &l);
	KUNIT_EXPECT_EQ(test, l.late_min, 0);
	KUNIT_EXPECT_GT(test, l.late_max, 450000);

	/* nor without the proportional part */
	p.beta = 0;
	run_loop(&p, 512, &l);
	KUNIT_EXPECT_EQ(test, l.late_min, 0);
	KUNIT_EXPECT_GT(test, l.late_max, 1000000);
	/* without the integral one it settles anywhere */
	p = pi25;
	p.alpha = 0;
	run_loop(&p, 512, &l);
	KUNIT_EXPECT_LT(test, l.late_max, 270000);
	KUNIT_EXPECT_LT(test, l.late_max - l.late_min, 3000);
}

/*
 * Back to the sender: telemetry
 */

static const struct iqcn_state telemetry_state = {
	.cause = IQCN_CAUSE_HOLD,
	.was_ce = true,
	.depth_bytes = 4000000,
	.limit_bytes = 16000000,
	.flows = 512,
	.port_bytes = 8000000,
	.gradient = -300,
	.tx_bytes = 0x1234567890abULL,
	.now_ns = 0x123456789ULL * 1000 + 999,
};

static const u8 telemetry_bytes[IQCN_CNP_RSVD_LEN] = {
	0x11, 0x04,		/* version 1, CE; hold */
	0x3f, 0xff,		/* a quarter: 16,383.75 */
	0x02, 0x00,
	0x07, 0xa1,		/* 1,953.1 */
	0xfe, 0xd4,
	0x56, 0x78, 0x90,
	0x45, 0x67, 0x89,
};

static void expect_telemetry(struct kunit *test, const struct iqcn_state *s,
			     const u8 *want, const char *what)
{
	u8 *got = alloc(test, IQCN_CNP_RSVD_LEN);
	int i;

	/* every byte is written */
	memset(got, 0xee, IQCN_CNP_RSVD_LEN);
	iqcn_telemetry_pack(got, s);
	for (i = 0; i < IQCN_CNP_RSVD_LEN; i++)
		KUNIT_EXPECT_EQ_MSG(test, got[i], want[i], "%s, byte %d", what,
				    i);
}

static void telemetry_pack_test(struct kunit *test)
{
	static const u8 none[IQCN_CNP_RSVD_LEN] = { 0x10 };
	static const u8 most[IQCN_CNP_RSVD_LEN] = {
		0x11, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff,
		0xff, 0xff, 0xff,
		/* (2^64 - 1) / 1000 is 0x4189374bc6a7ef */
		0xc6, 0xa7, 0xef,
	};
	struct iqcn_state s = { .limit_bytes = 1 };

	expect_telemetry(test, &telemetry_state, telemetry_bytes, "some");
	expect_telemetry(test, &s, none, "none");

	s.cause = 0xff;
	s.was_ce = true;
	s.depth_bytes = U32_MAX;
	s.limit_bytes = U32_MAX;
	s.flows = U32_MAX;
	s.port_bytes = U64_MAX;
	s.gradient = S16_MAX;
	s.tx_bytes = U64_MAX;
	s.now_ns = U64_MAX;
	expect_telemetry(test, &s, most, "most");
}

/* One field at a time */
static void telemetry_fields_test(struct kunit *test)
{
	enum { DEPTH = 2, FLOWS = 4, PORT = 6, GRADIENT = 8, TX = 10,
	       TIME = 13 };
	static const struct {
		u8 at, len;
		u64 value;
		u32 limit, want;
	} rows[] = {
		/* a share of the limit, rounded down */
		{ DEPTH, 2, 0, 16000000, 0 },
		{ DEPTH, 2, 244, 16000000, 0 },		/* 0.9994 */
		{ DEPTH, 2, 245, 16000000, 1 },		/* 1.0035 */
		{ DEPTH, 2, 8000000, 16000000, 0x7fff },
		{ DEPTH, 2, 15999999, 16000000, 0xfffe },
		{ DEPTH, 2, 16000000, 16000000, 0xffff },
		{ DEPTH, 2, 16000001, 16000000, 0xffff },
		{ DEPTH, 2, U32_MAX, 16000000, 0xffff },
		{ DEPTH, 2, 0, 1, 0 },
		{ DEPTH, 2, 1, 1, 0xffff },
		{ DEPTH, 2, 0x80000000, U32_MAX, 0x7fff },
		{ DEPTH, 2, U32_MAX - 1, U32_MAX, 0xfffe },
		{ DEPTH, 2, U32_MAX, U32_MAX, 0xffff },
		{ FLOWS, 2, 1, 1, 1 },
		{ FLOWS, 2, 0xfffe, 1, 0xfffe },
		{ FLOWS, 2, 0xffff, 1, 0xffff },
		{ FLOWS, 2, 0x10000, 1, 0xffff },
		{ FLOWS, 2, 0x10001, 1, 0xffff },
		{ FLOWS, 2, U32_MAX, 1, 0xffff },
		{ PORT, 2, 4095, 1, 0 },
		{ PORT, 2, 4096, 1, 1 },
		{ PORT, 2, 0xfffeULL * 4096 + 4095, 1, 0xfffe },
		{ PORT, 2, 0xffffULL * 4096, 1, 0xffff },
		{ PORT, 2, 0x10000ULL * 4096, 1, 0xffff },
		{ PORT, 2, 0x10001ULL * 4096, 1, 0xffff },
		/* 2^32 and 2^48 bytes: not taken modulo anything */
		{ PORT, 2, ONE, 1, 0xffff },
		{ PORT, 2, 1ULL << 48, 1, 0xffff },
		{ GRADIENT, 2, 1, 1, 1 },
		{ GRADIENT, 2, 0x7fff, 1, 0x7fff },
		{ GRADIENT, 2, -1, 1, 0xffff },
		{ GRADIENT, 2, -256, 1, 0xff00 },
		{ GRADIENT, 2, -32768, 1, 0x8000 },
		{ TX, 3, 255, 1, 0 },
		{ TX, 3, 256, 1, 1 },
		{ TX, 3, 0x123456ffULL, 1, 0x123456 },
		{ TX, 3, 0xffffffffULL, 1, 0xffffff },
		{ TX, 3, 0x100000000ULL, 1, 0 },
		{ TX, 3, 0xabc0123456ffULL, 1, 0x123456 },
		{ TIME, 3, 999, 1, 0 },
		{ TIME, 3, 1000, 1, 1 },
		{ TIME, 3, 0x123456ULL * 1000 + 999, 1, 0x123456 },
		{ TIME, 3, 0xffffffULL * 1000 + 999, 1, 0xffffff },
		{ TIME, 3, 0x1000000ULL * 1000, 1, 0 },
		{ TIME, 3, 0xabc123456ULL * 1000, 1, 0x123456 },
	};
	int i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct iqcn_state s = { .limit_bytes = rows[i].limit };
		u8 want[IQCN_CNP_RSVD_LEN] = { 0x10 };
		char what[16];

		for (j = 0; j < rows[i].len; j++)
			want[rows[i].at + j] = rows[i].want >>
					       8 * (rows[i].len - 1 - j);
		switch (rows[i].at) {
		case DEPTH:
			s.depth_bytes = rows[i].value;
			break;
		case FLOWS:
			s.flows = rows[i].value;
			break;
		case PORT:
			s.port_bytes = rows[i].value;
			break;
		case GRADIENT:
			s.gradient = rows[i].value;
			break;
		case TX:
			s.tx_bytes = rows[i].value;
			break;
		case TIME:
			s.now_ns = rows[i].value;
			break;
		}
		snprintf(what, sizeof(what), "row %d", i);
		expect_telemetry(test, &s, want, what);
	}
}

static void telemetry_cause_test(struct kunit *test)
{
	static const u8 causes[] = {
		[IQCN_CAUSE_NONE] = 0, [IQCN_CAUSE_TIMER] = 1,
		[IQCN_CAUSE_WREB] = 2, [IQCN_CAUSE_PI] = 3,
		[IQCN_CAUSE_HOLD] = 4, [IQCN_CAUSE_DROP] = 5,
	};
	int i, was_ce;

	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(causes), __IQCN_CAUSE_MAX);
	for (i = 0; i < ARRAY_SIZE(causes); i++) {
		for (was_ce = 0; was_ce < 2; was_ce++) {
			struct iqcn_state s = {
				.cause = i,
				.was_ce = was_ce,
				.limit_bytes = 1,
			};
			u8 want[IQCN_CNP_RSVD_LEN] = {
				was_ce ? 0x11 : 0x10, causes[i],
			};

			expect_telemetry(test, &s, want, "cause");
		}
	}
}

/* Version, flags and cause, and nothing else; at any address */
static void telemetry_brief_test(struct kunit *test)
{
	static const u8 causes[] = { 0, 1, 2, 3, 4, 5, 0xff };
	u8 *got = alloc(test, IQCN_CNP_RSVD_LEN + 2);
	int i, j, was_ce;

	for (i = 0; i < ARRAY_SIZE(causes); i++) {
		for (was_ce = 0; was_ce < 2; was_ce++) {
			/* version 1, brief */
			u8 want[IQCN_CNP_RSVD_LEN + 2] = {
				0xee, was_ce ? 0x13 : 0x12, causes[i],
				[IQCN_CNP_RSVD_LEN + 1] = 0xee,
			};

			memset(got, 0xee, IQCN_CNP_RSVD_LEN + 2);
			iqcn_telemetry_brief(got + 1, causes[i], was_ce);
			for (j = 0; j < IQCN_CNP_RSVD_LEN + 2; j++)
				KUNIT_EXPECT_EQ_MSG(test, got[j], want[j],
						    "cause %u, byte %d",
						    causes[i], j - 1);
		}
	}
}

/* The ICRC covers the reserved bytes.  Two that were worked out with another
 * program: of the CNPs of cnp_build_test with telemetry_bytes in them.
 */
static void telemetry_cnp_test(struct kunit *test)
{
	static const u32 want_icrc[] = { 0x25b6c057, 0xd7a29ffb };
	struct iqcn_cnp cnp = {
		.dest_qp = 0x123456,
		.pkey = 0x8001,
		.sport = 0xd123,
		.tos = 0xc1,
		.ttl = 63,
	};
	struct frame *f = alloc(test, sizeof(*f));
	int v6, i, bit;

	for (v6 = 0; v6 < 2; v6++) {
		u32 len = v6 ? 80 : 60, rsvd = len - 20;
		u8 *l3 = alloc(test, 80), *plain = alloc(test, 80);
		struct iqcn_pkt pkt;

		/* for addresses, and what is expected of offsets */
		make_frame(f, &tags[0], v6, &kinds[CNP]);
		cnp.src = f->want.src;
		cnp.dst = f->want.dst;
		cnp.v6 = v6;
		memset(cnp.reserved, 0, sizeof(cnp.reserved));
		KUNIT_ASSERT_EQ(test, iqcn_build_cnp(plain, &cnp), len);
		for (i = 0; i < IQCN_CNP_RSVD_LEN; i++)
			KUNIT_EXPECT_EQ(test, plain[rsvd + i], 0);
		KUNIT_EXPECT_EQ(test, get_unaligned_le32(plain + len - 4),
				ref_icrc(plain, len - 4, v6));

		iqcn_telemetry_pack(cnp.reserved, &telemetry_state);
		KUNIT_ASSERT_EQ(test, iqcn_build_cnp(l3, &cnp), len);
		for (i = 0; i < IQCN_CNP_RSVD_LEN; i++)
			KUNIT_EXPECT_EQ_MSG(test, l3[rsvd + i],
					    telemetry_bytes[i],
					    "IPv%c, byte %d", v6 ? '6' : '4',
					    i);
		KUNIT_EXPECT_EQ(test, get_unaligned_le32(l3 + len - 4),
				want_icrc[v6]);
		KUNIT_EXPECT_EQ(test, ref_icrc(l3, len - 4, v6),
				want_icrc[v6]);
		/* nothing else is different, but for the UDP checksum */
		for (i = 0; i < rsvd; i++) {
			if (v6 && (i == 46 || i == 47))
				continue;
			KUNIT_EXPECT_EQ_MSG(test, l3[i], plain[i],
					    "IPv%c, byte %d", v6 ? '6' : '4',
					    i);
		}
		if (v6)
			KUNIT_EXPECT_EQ(test, ref_sum(l3 + 8, 72, PSEUDO6),
					0xffff);

		/* a receiver takes it, but not with another bit in it */
		KUNIT_EXPECT_TRUE(test, iqcn_icrc_ok(l3, len, v6));
		for (bit = 0; bit < 8 * IQCN_CNP_RSVD_LEN; bit++) {
			l3[rsvd + bit / 8] ^= 1 << bit % 8;
			KUNIT_EXPECT_FALSE(test, iqcn_icrc_ok(l3, len, v6));
			l3[rsvd + bit / 8] ^= 1 << bit % 8;
		}
		memcpy(f->data, l3, len);
		f->want.sport = 0xd123;
		f->want.psn = 0;
		KUNIT_EXPECT_EQ(test, parse_copy(test, f, len, len, &pkt),
				IQCN_ROCE);
		expect_pkt(test, f, &pkt);
	}
}

/*
 * Tables
 */

/* Of the size of struct iqcn_key, and hashed as that is */
struct crafted {
	u32 key[10];
	struct rhash_head node;
};

static const struct rhashtable_params crafted_params = {
	.key_len = sizeof_field(struct crafted, key),
	.key_offset = offsetof(struct crafted, key),
	.head_offset = offsetof(struct crafted, node),
	.automatic_shrinking = true,
};

#define CRAFTED		1024
/* They share a bucket in any table up to this size, which is more than it takes */
#define CRAFTED_MASK	4095

static u32 crafted_seed(struct rhashtable *ht)
{
	u32 seed;

	rcu_read_lock();
	seed = rht_dereference_rcu(ht->tbl, ht)->hash_rnd;
	rcu_read_unlock();
	return seed;
}

static unsigned int crafted_longest(struct rhashtable *ht)
{
	const struct bucket_table *tbl;
	unsigned int i, n, longest = 0;
	struct rhash_head *pos;

	rcu_read_lock();
	tbl = rht_dereference_rcu(ht->tbl, ht);
	for (i = 0; i < tbl->size; i++) {
		n = 0;
		rht_for_each_rcu(pos, tbl, i)
			n++;
		longest = max(longest, n);
	}
	rcu_read_unlock();
	return longest;
}

/* Who is asked to make it anew may be so by the next tick only */
static void crafted_settle(struct rhashtable *ht)
{
	msleep(20);
	flush_work(&ht->run_work);
}

static void crafted_fill(struct kunit *test, struct rhashtable *ht,
			 struct crafted *c)
{
	int i, refused = 0;

	for (i = 0; i < CRAFTED; i++) {
		/* while it is made anew it takes no more: so does a flow go
		 * without
		 */
		while (rhashtable_insert_fast(ht, &c[i].node, crafted_params)) {
			KUNIT_ASSERT_LT(test, refused++, 1000);
			crafted_settle(ht);
		}
	}
	crafted_settle(ht);
}

/* Who knew the number that a table hashes with could make keys for one bucket of
 * it: they make it draw another number before the bucket is long.  And what was
 * made for one table is nothing to the next.
 */
static void crafted_keys_test(struct kunit *test)
{
	struct crafted *c = alloc(test, CRAFTED * sizeof(*c));
	/* it has a work item, for which a stack is no place */
	struct rhashtable *ht = alloc(test, sizeof(*ht));
	struct rnd_state rnd;
	u32 seed;
	int i;

	KUNIT_ASSERT_EQ(test, rhashtable_init(ht, &crafted_params), 0);
	seed = crafted_seed(ht);
	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < CRAFTED; i++)
		do
			prandom_bytes_state(&rnd, c[i].key, sizeof(c[i].key));
		while (jhash2(c[i].key, ARRAY_SIZE(c[i].key), seed) &
		       CRAFTED_MASK);

	crafted_fill(test, ht, c);
	KUNIT_EXPECT_NE(test, crafted_seed(ht), seed);
	KUNIT_EXPECT_LE(test, crafted_longest(ht), 16);
	for (i = 0; i < CRAFTED; i++)
		rhashtable_remove_fast(ht, &c[i].node, crafted_params);
	rhashtable_destroy(ht);

	KUNIT_ASSERT_EQ(test, rhashtable_init(ht, &crafted_params), 0);
	crafted_fill(test, ht, c);
	KUNIT_EXPECT_LE(test, crafted_longest(ht), 16);
	for (i = 0; i < CRAFTED; i++)
		rhashtable_remove_fast(ht, &c[i].node, crafted_params);
	rhashtable_destroy(ht);
}

static struct kunit_case parse_cases[] = {
	KUNIT_CASE(parse_stacks_test),
	KUNIT_CASE(parse_odd_test),
	KUNIT_CASE(parse_v4mapped_test),
	KUNIT_CASE(parse_ip_options_test),
	KUNIT_CASE(parse_ext_hdrs_test),
	KUNIT_CASE(parse_ethertype_test),
	KUNIT_CASE(vlan_pack_test),
	KUNIT_CASE(parse_mutation_test),
	KUNIT_CASE(cm_test),
	KUNIT_CASE(opcode_test),
	{}
};

static struct kunit_suite parse_suite = {
	.name = "iqcn_parse",
	.test_cases = parse_cases,
};

static struct kunit_case icrc_cases[] = {
	KUNIT_CASE(icrc_golden_test),
	KUNIT_CASE(icrc_bits_test),
	KUNIT_CASE(cnp_build_test),
	KUNIT_CASE(cnp_zero_csum_test),
	{}
};

static struct kunit_suite icrc_suite = {
	.name = "iqcn_icrc",
	.test_cases = icrc_cases,
};

static struct kunit_case mark_cases[] = {
	KUNIT_CASE(mark_curve_test),
	KUNIT_CASE(mark_linear_test),
	KUNIT_CASE(mark_draws_test),
	KUNIT_CASE(lot_drawn_once_test),
	{}
};

static struct kunit_suite mark_suite = {
	.name = "iqcn_mark",
	.test_cases = mark_cases,
};

static struct kunit_case detect_cases[] = {
	KUNIT_CASE(meter_steady_test),
	KUNIT_CASE(outflow_test),
	KUNIT_CASE(meter_quiet_test),
	KUNIT_CASE(quiet_ns_test),
	KUNIT_CASE(meter_stopped_test),
	KUNIT_CASE(detect_queue_test),
	KUNIT_CASE(detect_depth_test),
	{}
};

static struct kunit_suite detect_suite = {
	.name = "iqcn_detect",
	.test_cases = detect_cases,
};

static struct kunit_case continuity_cases[] = {
	KUNIT_CASE(run_cases_test),
	KUNIT_CASE(span_cases_test),
	KUNIT_CASE(span_anew_test),
	KUNIT_CASE(seq_delta_test),
	KUNIT_CASE(continuity_repeat_test),
	KUNIT_CASE(continuity_back_test),
	KUNIT_CASE(continuity_kinds_test),
	KUNIT_CASE(continuity_long_test),
	KUNIT_CASE(continuity_model_test),
	KUNIT_CASE(continuity_again_test),
	KUNIT_CASE(reorder_cases_test),
	KUNIT_CASE(reorder_transparent_test),
	KUNIT_CASE(reorder_model_test),
	{}
};

static struct kunit_suite continuity_suite = {
	.name = "iqcn_continuity",
	.test_cases = continuity_cases,
};

static struct kunit_case sample_cases[] = {
	KUNIT_CASE(sample_cycle_test),
	KUNIT_CASE(sample_segs_test),
	KUNIT_CASE(sample_continuity_test),
	KUNIT_CASE(sample_qp_test),
	KUNIT_CASE(sample_waits_test),
	{}
};

static struct kunit_suite sample_suite = {
	.name = "iqcn_sample",
	.test_cases = sample_cases,
};

static struct kunit_case interval_cases[] = {
	KUNIT_CASE(smooth_test),
	KUNIT_CASE(answer_test),
	KUNIT_CASE(answer_dense_test),
	KUNIT_CASE(answer_lost_test),
	KUNIT_CASE(pending_test),
	KUNIT_CASE(pending_late_test),
	KUNIT_CASE(interval_test),
	{}
};

static struct kunit_suite interval_suite = {
	.name = "iqcn_interval",
	.test_cases = interval_cases,
};

static struct kunit_case deadline_cases[] = {
	KUNIT_CASE(chances_rest_test),
	KUNIT_CASE(deadline_order_test),
	KUNIT_CASE(deadline_lapse_test),
	KUNIT_CASE(deadline_due_test),
	KUNIT_CASE(deadline_t1_test),
	KUNIT_CASE(deadline_scan_test),
	{}
};

static struct kunit_suite deadline_suite = {
	.name = "iqcn_deadline",
	.test_cases = deadline_cases,
};

static struct kunit_case budget_cases[] = {
	KUNIT_CASE(budget_burst_test),
	KUNIT_CASE(budget_any_time_test),
	KUNIT_CASE(budget_change_test),
	KUNIT_CASE(budget_half_test),
	{}
};

static struct kunit_suite budget_suite = {
	.name = "iqcn_budget",
	.test_cases = budget_cases,
};

static struct kunit_case pairing_cases[] = {
	KUNIT_CASE(psn_test),
	KUNIT_CASE(echo_test),
	KUNIT_CASE(sport_test),
	KUNIT_CASE(sport_match_test),
	KUNIT_CASE(judge_test),
	{}
};

static struct kunit_case tables_cases[] = {
	KUNIT_CASE(crafted_keys_test),
	{}
};

static struct kunit_suite tables_suite = {
	.name = "iqcn_tables",
	.test_cases = tables_cases,
};

static struct kunit_suite pairing_suite = {
	.name = "iqcn_pairing",
	.test_cases = pairing_cases,
};

static struct kunit_case share_cases[] = {
	KUNIT_CASE(share_rate_test),
	KUNIT_CASE(share_idle_test),
	KUNIT_CASE(share_backoff_test),
	{}
};

static struct kunit_suite share_suite = {
	.name = "iqcn_share",
	.test_cases = share_cases,
};

static struct kunit_case params_cases[] = {
	KUNIT_CASE(params_kmin_test),
	KUNIT_CASE(params_gain_test),
	KUNIT_CASE(params_cnp_rate_test),
	KUNIT_CASE(params_extremes_test),
	KUNIT_CASE(params_check_test),
	{}
};

static struct kunit_suite params_suite = {
	.name = "iqcn_params",
	.test_cases = params_cases,
};

static struct kunit_case bts_cases[] = {
	KUNIT_CASE(profile_share_test),
	KUNIT_CASE(profile_points_test),
	KUNIT_CASE(profile_empty_test),
	KUNIT_CASE(profile_wrong_test),
	KUNIT_CASE(profile_from_test),
	KUNIT_CASE(profile_random_test),
	KUNIT_CASE(gradient_looks_test),
	KUNIT_CASE(gradient_span_test),
	KUNIT_CASE(gradient_stale_test),
	KUNIT_CASE(delay_points_test),
	KUNIT_CASE(delay_random_test),
	KUNIT_CASE(active_once_test),
	KUNIT_CASE(active_epochs_test),
	KUNIT_CASE(active_gap_test),
	KUNIT_CASE(active_wrap_test),
	KUNIT_CASE(active_model_test),
	KUNIT_CASE(pi_defaults_test),
	KUNIT_CASE(pi_begin_test),
	KUNIT_CASE(pi_when_test),
	KUNIT_CASE(pi_steps_test),
	KUNIT_CASE(pi_ahead_test),
	KUNIT_CASE(pi_ahead_again_test),
	KUNIT_CASE(pi_empty_test),
	KUNIT_CASE(pi_at_once_test),
	KUNIT_CASE(pi_extremes_test),
	KUNIT_CASE(pi_corners_test),
	KUNIT_CASE(pi_second_test),
	KUNIT_CASE(pi_random_test),
	KUNIT_CASE(pi_fade_test),
	KUNIT_CASE(pi_faded_test),
	KUNIT_CASE(pi_deep_test),
	KUNIT_CASE(pi_end_test),
	KUNIT_CASE(pi_idle_test),
	KUNIT_CASE(pi_raised_test),
	KUNIT_CASE(pi_monotone_test),
	KUNIT_CASE(pi_credit_test),
	KUNIT_CASE(pi_chances_test),
	KUNIT_CASE(pi_save_test),
	KUNIT_CASE(bts_ecn_test),
	KUNIT_CASE(bts_gap_test),
	KUNIT_CASE(bts_hold_test),
	KUNIT_CASE(pi_loop_test),
	KUNIT_CASE(pi_rings_test),
	KUNIT_CASE(telemetry_pack_test),
	KUNIT_CASE(telemetry_fields_test),
	KUNIT_CASE(telemetry_cause_test),
	KUNIT_CASE(telemetry_brief_test),
	KUNIT_CASE(telemetry_cnp_test),
	{}
};

static struct kunit_suite bts_suite = {
	.name = "iqcn_bts",
	.test_cases = bts_cases,
};

kunit_test_suites(&tables_suite, &parse_suite, &icrc_suite, &mark_suite, &detect_suite,
		  &continuity_suite, &sample_suite, &interval_suite,
		  &deadline_suite, &budget_suite, &pairing_suite,
		  &params_suite, &share_suite, &bts_suite);

MODULE_DESCRIPTION("KUnit tests of sch_iqcn");
MODULE_LICENSE("GPL");
