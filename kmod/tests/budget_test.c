// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/budget.h: the token bucket of CNPs
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "algo/budget.h"
#include "tests.h"

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
		/* the bucket fills up, but never beyond the burst */
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

			/* some bursts and some pauses */
			gap_ns = r >> sets[i].gap_shift;
			gap_ns = j / 100 % 3 == 0 ? gap_ns >> 6 :
				 j % 500 == 0 ? gap_ns * 64 : gap_ns;
			now_ns += gap_ns;
			/* the model: the level of the bucket, in ns */
			level_ns = min(full_ns, level_ns + gap_ns);
			want = level_ns >= interval_ns;
			if (want) {
				level_ns -= interval_ns;
				sent_ns[n++] = now_ns;
			}
			KUNIT_ASSERT_EQ_MSG(test, iqcn_budget_take(&b, now_ns),
					    want, "set %d, arrival %d", i, j);
		}
		/* some CNPs passed, and some did not */
		KUNIT_EXPECT_GT_MSG(test, n, 10, "set %d", i);
		KUNIT_EXPECT_LT_MSG(test, n, N_ARRIVALS, "set %d", i);
		/* the limit holds from any CNP to any later one */
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

	/* the burst is used up; a new rate does not refund it */
	iqcn_budget_set(&b, 1000, 10);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 20), 10);
	iqcn_budget_set(&b, 1000, 10);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 20), 0);
	iqcn_budget_set(&b, 2000, 10);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 20), 0);
	/* 10 ms are charged, but at the new rate the debt is at most 5 ms: the
	 * bucket fills from empty
	 */
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 499999, 20), 0);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 500000, 20), 1);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 5000000, 20), 9);

	/* a larger burst adds the difference */
	memset(&b, 0, sizeof(b));
	iqcn_budget_set(&b, 1000, 10);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 20), 10);
	iqcn_budget_set(&b, 1000, 15);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 20), 5);
	/* a smaller burst: 15 ms are charged, 2 ms are allowed */
	iqcn_budget_set(&b, 1000, 3);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 12999999, 20), 0);
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 13000000, 20), 1);
}

static void budget_half_test(struct kunit *test)
{
	struct iqcn_budget b = {};
	u64 now_ns = 1000000;

	/* one CNP per ms; burst_ns is 9 ms */
	iqcn_budget_set(&b, 1000, 10);
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns));
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 4), 4);
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns));
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 1), 1);
	KUNIT_EXPECT_FALSE(test, iqcn_budget_half(&b, now_ns));
	/* 5 ms are charged, 4.5 ms are allowed; the query charges nothing */
	KUNIT_EXPECT_FALSE(test, iqcn_budget_half(&b, now_ns + 499999));
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns + 500000));
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns + 500000));
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns + 500000, 20), 5);

	/* with a burst of 1 the result is whether a CNP may be sent */
	memset(&b, 0, sizeof(b));
	iqcn_budget_set(&b, 1000, 1);
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns));
	KUNIT_EXPECT_EQ(test, take_all(&b, now_ns, 2), 1);
	KUNIT_EXPECT_FALSE(test, iqcn_budget_half(&b, now_ns + 999999));
	KUNIT_EXPECT_TRUE(test, iqcn_budget_half(&b, now_ns + 1000000));
}

static struct kunit_case budget_test_cases[] = {
	KUNIT_CASE(budget_burst_test),
	KUNIT_CASE(budget_any_time_test),
	KUNIT_CASE(budget_change_test),
	KUNIT_CASE(budget_half_test),
	{}
};

static struct kunit_suite budget_suite = {
	.name = "iqcn_budget",
	.test_cases = budget_test_cases,
};

kunit_test_suite(budget_suite);
