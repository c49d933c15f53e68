// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/supplement.h: coupling to the filter, and the schedule
 */
#include "algo/supplement.h"
#include "tests.h"

static void couple_test(struct kunit *test)
{
	static const struct {
		u64 interval_ns;
		u32 asked_pps, max_pps;
		u64 want;
	} cases[] = {
		{ 100000, 0, 2500, 100000 },
		{ 100000, 2500, 2500, 100000 },
		{ 100000, 2501, 2500, 99960 },
		{ 100000, 4000, 2500, 62500 },
		{ 5000000, 1000000, 2500, 12500 },
		{ 1000000000, 1000000, 1, 1000 },
		{ 1, 4000, 2500, 1 },
		{ 10, 1000000, 1, 1 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_couple_ns(cases[i].interval_ns,
						   cases[i].asked_pps,
						   cases[i].max_pps),
				    cases[i].want, "case %d", i);
}

/* Claim 5: a higher requested rate shortens the interval, and a higher cap
 * lengthens it
 */
static void couple_monotone_test(struct kunit *test)
{
	u32 asked_pps, max_pps, interval_ns;
	struct rnd_state rnd;
	u64 got;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 100000; i++) {
		interval_ns = 1 + any_u32(&rnd) / 2;
		asked_pps = any_u32(&rnd) / 2;
		max_pps = 1 + any_u32(&rnd) / 2;
		got = iqcn_couple_ns(interval_ns, asked_pps, max_pps);
		KUNIT_ASSERT_GE(test, got, 1);
		KUNIT_ASSERT_LE(test, got, interval_ns);
		KUNIT_ASSERT_LE(test, iqcn_couple_ns(interval_ns, asked_pps + 1,
						     max_pps), got);
		KUNIT_ASSERT_GE(test, iqcn_couple_ns(interval_ns, asked_pps,
						     max_pps + 1), got);
		KUNIT_ASSERT_GE(test, iqcn_couple_ns(interval_ns + 1, asked_pps,
						     max_pps), got);
	}
}

static void supplement_next_test(struct kunit *test)
{
	u64 due_ns = SECOND, now_ns;
	int i;

	/* on time, and late: the schedule does not shift */
	KUNIT_EXPECT_EQ(test, iqcn_supplement_next_ns(SECOND, 2000, SECOND),
			SECOND + 500 * US);
	KUNIT_EXPECT_EQ(test, iqcn_supplement_next_ns(SECOND, 2000,
						      SECOND + 400 * US),
			SECOND + 500 * US);
	KUNIT_EXPECT_EQ(test, iqcn_supplement_next_ns(SECOND, 2000,
						      SECOND + 10 * MS),
			SECOND + 500 * US);
	/* more than 10 ms late: only 10 ms are made up for */
	KUNIT_EXPECT_EQ(test, iqcn_supplement_next_ns(SECOND, 2000, 3 * SECOND),
			3 * SECOND - 10 * MS + 500 * US);
	/* the rate over a second, with a timer that is up to 100 us late */
	for (i = 0; due_ns < 2 * SECOND; i++) {
		now_ns = due_ns + i % 7 * 16 * US;
		due_ns = iqcn_supplement_next_ns(due_ns, 1500, now_ns);
	}
	KUNIT_EXPECT_LE(test, gap64(i, 1500), 1);
}

static struct kunit_case supplement_cases[] = {
	KUNIT_CASE(couple_test),
	KUNIT_CASE(couple_monotone_test),
	KUNIT_CASE(supplement_next_test),
	{}
};

static struct kunit_suite supplement_suite = {
	.name = "iqcn_supplement",
	.test_cases = supplement_cases,
};

kunit_test_suite(supplement_suite);
