// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/grant.h: windows, and their encoding in a CNP
 */
#include "algo/grant.h"
#include "tests.h"

static void grant_bytes_test(struct kunit *test)
{
	static const struct {
		u64 rate_bps;
		u32 base_rtt_ns, part, all, want;
	} cases[] = {
		/* 25 Gb/s for 10 us are 31250 bytes */
		{ 25000000000, 10000, 1, 1, 31250 },
		{ 25000000000, 10000, 1, 2, 15625 },
		{ 25000000000, 10000, 1, 3, 10416 },
		{ 25000000000, 10000, 2, 3, 20833 },
		{ 25000000000, 10000, 0, 3, 0 },
		/* no packets at all; a part that exceeds the whole, as it may
		 * while a flow moves between queues
		 */
		{ 25000000000, 10000, 0, 0, 0 },
		{ 25000000000, 10000, 1, 0, 31250 },
		{ 25000000000, 10000, 5, 3, 31250 },
		/* less than a byte */
		{ 1000000, 1, 1, 1, 0 },
		{ 8000000000, 1, 1, 1, 1 },
		/* saturation */
		{ 1000000000000000, 1000000000, 1, 1, U32_MAX },
		{ 34359738360, 1000000000, 1, 1, U32_MAX },
		{ 34359738352, 1000000000, 1, 1, U32_MAX - 1 },
		{ 1000000000000000, 1000000000, 1, U32_MAX, 29103 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_grant_bytes(cases[i].rate_bps,
						     cases[i].base_rtt_ns,
						     cases[i].part,
						     cases[i].all),
				    cases[i].want, "case %d", i);
}

/* The sum of the windows of all flows never exceeds what the link holds, and
 * falls short of that by less than a byte per flow
 */
static void grant_sum_test(struct kunit *test)
{
	const u64 holds = 31250;
	u32 part[64], all, i, n, round;
	struct rnd_state rnd;
	u64 sum;

	prandom_seed_state(&rnd, SEED);
	for (round = 0; round < 1000; round++) {
		n = 1 + prandom_u32_state(&rnd) % ARRAY_SIZE(part);
		all = 0;
		for (i = 0; i < n; i++) {
			part[i] = 1 + prandom_u32_state(&rnd) % 1000;
			all += part[i];
		}
		sum = 0;
		for (i = 0; i < n; i++)
			sum += iqcn_grant_bytes(25000000000, 10000, part[i],
						all);
		KUNIT_ASSERT_LE(test, sum, holds);
		KUNIT_ASSERT_GT(test, sum + n, holds);
		KUNIT_ASSERT_LE(test, n * (u64)iqcn_grant_bytes(25000000000,
								10000, 1, n),
				holds);
	}
}

static void grant_pack_test(struct kunit *test)
{
	static const u8 want[16] = {
		0x21,			/* version 2, was CE */
		0x07,			/* IQCN_CAUSE_GRANT */
		0x7f, 0xff,		/* half of the limit */
		0x12, 0x34, 0x56, 0x78,
		0x02, 0x01,
		0x3f, 0xff,		/* a quarter of the packets */
		0x00, 0x0b,		/* 10.001 us, rounded up */
		0x01,			/* IQCN_PFC_STATE_CONGESTED */
		0x00,
	};
	struct iqcn_grant_state s = {
		.was_ce = true,
		.window_bytes = 0x12345678,
		.depth_bytes = 500,
		.limit_bytes = 1000,
		.flows = 513,
		.part = 25,
		.all = 100,
		.base_rtt_ns = 10001,
		.state = IQCN_PFC_STATE_CONGESTED,
	};
	u8 got[17] = {};

	/* at an odd address */
	iqcn_grant_pack(got + 1, &s);
	KUNIT_EXPECT_EQ(test, memcmp(got + 1, want, sizeof(want)), 0);

	s = (struct iqcn_grant_state){
		.depth_bytes = U32_MAX,
		.limit_bytes = 1,
		.flows = U32_MAX,
		.part = 7,
		.base_rtt_ns = U32_MAX,
	};
	iqcn_grant_pack(got + 1, &s);
	KUNIT_EXPECT_EQ(test, got[1], 0x20);
	KUNIT_EXPECT_EQ(test, got[3] << 8 | got[4], 0xffff);
	KUNIT_EXPECT_EQ(test, got[9] << 8 | got[10], 0xffff);
	/* no packets */
	KUNIT_EXPECT_EQ(test, got[11] << 8 | got[12], 0);
	KUNIT_EXPECT_EQ(test, got[13] << 8 | got[14], 0xffff);
}

static struct kunit_case grant_test_cases[] = {
	KUNIT_CASE(grant_bytes_test),
	KUNIT_CASE(grant_sum_test),
	KUNIT_CASE(grant_pack_test),
	{}
};

static struct kunit_suite grant_suite = {
	.name = "iqcn_grant",
	.test_cases = grant_test_cases,
};

kunit_test_suite(grant_suite);
