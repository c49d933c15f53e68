// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/telemetry.h: the reserved bytes of a CNP
 */
#include <linux/string.h>
#include <linux/unaligned.h>

#include "algo/telemetry.h"
#include "frame.h"
#include "tests.h"

static const struct iqcn_state telemetry_state = {
	.cause = IQCN_CAUSE_POLL,
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
	0x11, 0x04,		/* version 1, CE; poll */
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
		/* 2^32 and 2^48 bytes: saturated, not wrapped */
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
		[IQCN_CAUSE_POLL] = 4, [IQCN_CAUSE_DROP] = 5,
		[IQCN_CAUSE_PFC] = 6, [IQCN_CAUSE_GRANT] = 7,
		[IQCN_CAUSE_SUPPLEMENT] = 8,
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

/* Version, flags and cause are set, and the other bytes are 0, also in an
 * unaligned buffer
 */
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

/* The ICRC covers the reserved bytes.  Another program computed the two ICRCs,
 * for the CNPs of cnp_build_test with telemetry_bytes in them.
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

		/* the frame has the expected addresses and offsets */
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
		/* nothing else differs but the UDP checksum */
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

		/* a receiver accepts the CNP, but not if a reserved bit is
		 * flipped
		 */
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

static struct kunit_case telemetry_test_cases[] = {
	KUNIT_CASE(telemetry_pack_test),
	KUNIT_CASE(telemetry_fields_test),
	KUNIT_CASE(telemetry_cause_test),
	KUNIT_CASE(telemetry_brief_test),
	KUNIT_CASE(telemetry_cnp_test),
	{}
};

static struct kunit_suite telemetry_suite = {
	.name = "iqcn_telemetry",
	.test_cases = telemetry_test_cases,
};

kunit_test_suite(telemetry_suite);
