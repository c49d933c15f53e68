// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/lot.h: one random number per packet
 */
#include "algo/lot.h"
#include "algo/mark.h"
#include "tests.h"

/* Is a packet with the lot @rnd marked at @depth_bytes? */
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
	/* three standard deviations: sqrt(10^6 * 0.1 * 0.9) = 300 */
	KUNIT_EXPECT_GT(test, n_marked, 100000 - 3 * 300);
	KUNIT_EXPECT_LT(test, n_marked, 100000 + 3 * 300);

	/* probabilities of 0 and 1, and the limits of Pmax */
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

	/* certain decisions draw no random number */
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

static struct kunit_case lot_test_cases[] = {
	KUNIT_CASE(mark_draws_test),
	KUNIT_CASE(lot_drawn_once_test),
	{}
};

static struct kunit_suite lot_suite = {
	.name = "iqcn_lot",
	.test_cases = lot_test_cases,
};

kunit_test_suite(lot_suite);
