// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of rocev2.c: parser, ICRC, CNP, CM messages
 */
#include <linux/string.h>
#include <linux/unaligned.h>

#include "rocev2.h"
#include "frame.h"
#include "tests.h"

/* A truncated packet is never RoCEv2 */
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

	/* the packet is complete, but only part of it is readable */
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

/* A packet with up to two 16-bit words changed */
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
	/* IPv4: data packet of 76 bytes, UDP at 20, BTH at 28 */
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

/* An IPv6 packet with a v4-mapped source or destination */
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
			/* ::fffe:a.b.c.d is not v4-mapped */
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
		/* the header is longer than tot_len */
		put16(f->data + 2, V4_UDP + 4 * words - 1);
		expect_parsed(test, f, IQCN_NOT_ROCE, "tot_len in options");
	}
	/* ihl counts an option that is not there, so the parser reads the port
	 * from the wrong offset
	 */
	make_frame(f, &tags[0], false, &kinds[DATA]);
	f->data[0] = 0x46;
	expect_parsed(test, f, IQCN_NOT_ROCE, "ihl 6 without options");
}

#define HOP	0
#define ROUTE	43
#define FRAG	44
#define AUTH	51
#define DEST	60

/* Extension headers: @n of the types @hdr, each 8 * (@more + 1) bytes long with
 * @frag in bytes 2 and 3 (the offset of a fragment).  @payload is added to the
 * payload length.
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
	/* the payload is 8 + 56 bytes */
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

	/* an extension header that claims to be longer than the packet, before
	 * UDP or another header
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

/* A packed tag keeps the EtherType and the VID, not the priority and the DEI */
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
	/* the mutations produced all results */
	for (i = 0; i <= IQCN_ROCE; i++)
		KUNIT_EXPECT_GT_MSG(test, seen[i], N_MUTATIONS / 20u,
				    "result %d", i);
}

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

	/* iqcn_build_cnp() sets the IP ID to 0 */
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

/* Flip every bit: the ICRC ignores ECN, DSCP, TTL, hop limit, flow label, the
 * BTH byte of FECN and BECN, and checksums, and covers QP, PSN, P_Key,
 * addresses, ports, IP ID, lengths and the reserved bytes of a CNP.
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

static void cnp_build_test(struct kunit *test)
{
	struct iqcn_cnp cnp = {
		.dest_qp = 0xff123456,	/* 24 bits are used */
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

		/* the frame has the expected addresses and offsets */
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

/* A UDP checksum that is computed as 0 is sent as 0xffff.  Another program
 * found the QP and the port that yield 0.
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

/* Make a CM message in which the bytes equal their offsets, except those of the
 * MAD header, so that a value shows where it was read
 */
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
		/* a message of any kind must be readable up to the end of the
		 * 32-bit word with the starting PSN of a REQ
		 */
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
		/* responses carry the PSNs of requests; UC has no responses */
		KUNIT_EXPECT_EQ_MSG(test, iqcn_op_is_echoed(op),
				    data && !echo && op >> 5 != 1,
				    "opcode %#x", op);
	}
}

static struct kunit_case rocev2_test_cases[] = {
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
	KUNIT_CASE(icrc_golden_test),
	KUNIT_CASE(icrc_bits_test),
	KUNIT_CASE(cnp_build_test),
	KUNIT_CASE(cnp_zero_csum_test),
	{}
};

static struct kunit_suite rocev2_suite = {
	.name = "iqcn_rocev2",
	.test_cases = rocev2_test_cases,
};

kunit_test_suite(rocev2_suite);
