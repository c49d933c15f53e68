// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/macctl.h: PAUSE and PFC frames
 */
#include "algo/macctl.h"
#include "tests.h"

/* Opcode, class vector, quanta of eight classes; the wire adds padding */
static const u8 pfc_body[] = {
	0x01, 0x01, 0x00, 0x89,
	0xff, 0xff, 0x00, 0x11, 0x00, 0x22, 0x01, 0x00,
	0x00, 0x44, 0x00, 0x55, 0x00, 0x66, 0x00, 0x00,
};

static void macctl_parse_test(struct kunit *test)
{
	static const u8 pause_body[] = { 0x00, 0x01, 0x12, 0x34 };
	struct iqcn_macctl f;
	u8 body[46] = {};
	u32 len;
	int i;

	/* classes 0, 3 and 7, with quanta 65535, 256 and 0 */
	KUNIT_ASSERT_TRUE(test, iqcn_macctl_parse(pfc_body, 20, &f));
	KUNIT_EXPECT_EQ(test, f.classes, 0x89);
	KUNIT_EXPECT_EQ(test, f.quanta[0], 65535);
	KUNIT_EXPECT_EQ(test, f.quanta[3], 256);
	KUNIT_EXPECT_EQ(test, f.quanta[7], 0);
	for (len = 0; len < 20; len++)
		KUNIT_EXPECT_FALSE(test, iqcn_macctl_parse(pfc_body, len, &f));

	KUNIT_ASSERT_TRUE(test, iqcn_macctl_parse(pause_body, 4, &f));
	KUNIT_EXPECT_EQ(test, f.classes, 0xff);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, f.quanta[i], 0x1234);
	for (len = 0; len < 4; len++)
		KUNIT_EXPECT_FALSE(test, iqcn_macctl_parse(pause_body, len, &f));

	/* the reserved byte of the class vector and padding are ignored */
	memcpy(body, pfc_body, sizeof(pfc_body));
	body[2] = 0xff;
	memset(body + sizeof(pfc_body), 0xee, sizeof(body) - sizeof(pfc_body));
	KUNIT_ASSERT_TRUE(test, iqcn_macctl_parse(body, sizeof(body), &f));
	KUNIT_EXPECT_EQ(test, f.classes, 0x89);

	/* of all opcodes, only those of PAUSE and PFC are accepted */
	for (i = 0; i < 0x10000; i++) {
		body[0] = i >> 8;
		body[1] = i;
		KUNIT_ASSERT_EQ(test, iqcn_macctl_parse(body, sizeof(body), &f),
				i == 0x0001 || i == 0x0101);
	}
}

static void macctl_quanta_test(struct kunit *test)
{
	static const struct {
		u16 quanta;
		u64 rate_bps, ns;
	} cases[] = {
		{ 0, 1, 0 },
		{ 0, 400000000000, 0 },
		/* 512 bits at 25 Gb/s take 20.48 ns, at 400 Gb/s 1.28 */
		{ 1, 25000000000, 21 },
		{ 1, 400000000000, 2 },
		{ 25, 25000000000, 512 },
		{ 65535, 25000000000, 1342157 },
		{ 65535, 10000000000, 3355392 },
		{ 65535, 1000000, 33553920000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, iqcn_quanta_ns(cases[i].quanta,
							 cases[i].rate_bps),
				    cases[i].ns, "case %d", i);
}

static void macctl_pauses_test(struct kunit *test)
{
	const u64 rate_bps = 512 * SECOND; /* a quantum takes 1 ns */
	struct iqcn_pauses p = {};
	struct iqcn_macctl f = {
		.classes = BIT(3) | BIT(4),
		/* class 5 is not in the vector */
		.quanta = { [3] = 100, [4] = 200, [5] = 999 },
	};

	KUNIT_EXPECT_EQ(test, iqcn_pauses_end_ns(&p, 0xff), 0);
	iqcn_pauses_rx(&p, &f, rate_bps, 1000);
	KUNIT_EXPECT_EQ(test, iqcn_pauses_end_ns(&p, BIT(3)), 1100);
	KUNIT_EXPECT_EQ(test, iqcn_pauses_end_ns(&p, BIT(3) | BIT(4)), 1200);
	KUNIT_EXPECT_EQ(test, iqcn_pauses_end_ns(&p, BIT(5)), 0);
	KUNIT_EXPECT_EQ(test, iqcn_pauses_end_ns(&p, 0), 0);

	/* one class resumes now, the pause of the other one continues */
	f = (struct iqcn_macctl){ .classes = BIT(4) };
	iqcn_pauses_rx(&p, &f, rate_bps, 1050);
	KUNIT_EXPECT_EQ(test, iqcn_pauses_end_ns(&p, BIT(4)), 1050);
	KUNIT_EXPECT_EQ(test, iqcn_pauses_end_ns(&p, BIT(3) | BIT(4)), 1100);

	/* the last frame counts, even if it ends the pause earlier */
	f = (struct iqcn_macctl){ .classes = BIT(3), .quanta = { [3] = 10 } };
	iqcn_pauses_rx(&p, &f, rate_bps, 1060);
	KUNIT_EXPECT_EQ(test, iqcn_pauses_end_ns(&p, 0xff), 1070);
}

static struct kunit_case macctl_test_cases[] = {
	KUNIT_CASE(macctl_parse_test),
	KUNIT_CASE(macctl_quanta_test),
	KUNIT_CASE(macctl_pauses_test),
	{}
};

static struct kunit_suite macctl_suite = {
	.name = "iqcn_macctl",
	.test_cases = macctl_test_cases,
};

kunit_test_suite(macctl_suite);
