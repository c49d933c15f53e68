// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/filter.h: windows, streams, the ratio of an incast
 */
#include "algo/filter.h"
#include "tests.h"

/* Offer CNPs at a constant rate for a second.  Return: how many pass. */
static u32 filter_offer(u32 n, u64 interval_ns, u64 gap_ns)
{
	struct iqcn_filter_slot s = {};
	u32 passed = 0;
	u64 now_ns;

	for (now_ns = 5; now_ns < 5 + SECOND; now_ns += gap_ns)
		passed += iqcn_filter_pass(&s, n, interval_ns, now_ns);
	return passed;
}

static void filter_rates_test(struct kunit *test)
{
	static const struct {
		u32 n;
		u64 interval_ns, gap_ns;
		u32 want;
	} cases[] = {
		/* the patent application: 10^7 CNPs a second become 10^5, or
		 * 10^4 with ten times the interval
		 */
		{ 1, 10000, 100, 100000 },
		{ 1, 100000, 100, 10000 },
		/* the five rates of the patent application */
		{ 1, 133333, 100, 7500 },
		{ 1, 100000, 100, 10000 },
		{ 1, 80000, 100, 12500 },
		{ 1, 66667, 100, 15000 },
		{ 1, 57143, 100, 17500 },
		/* several CNPs pass in an interval */
		{ 7, 100000, 1000, 70000 },
		{ 100, 100000, 1000, 1000000 },
		/* CNPs that are as far apart as the interval, or further, pass
		 */
		{ 1, 10000, 10000, 100000 },
		{ 1, 10000, 10001, 99991 },
		{ 1, 10000, 25000, 40000 },
		/* a little closer than the interval */
		{ 1, 10000, 9999, 99999 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 got = filter_offer(cases[i].n, cases[i].interval_ns,
				       cases[i].gap_ns);

		/* tolerate 0.1 %, and one CNP in the last window */
		KUNIT_EXPECT_LE_MSG(test, gap64(got, cases[i].want),
				    cases[i].want / 1000 + 1, "case %d: %u", i,
				    got);
	}
}

/* Each step is a CNP: its time, and whether it passes.  Two pass per 100 ns. */
static void filter_windows_test(struct kunit *test)
{
	static const struct {
		u64 now_ns;
		bool pass;
	} steps[] = {
		{ 0, true }, { 10, true }, { 20, false }, { 99, false },
		/* the next window begins at 100, not with the CNP */
		{ 199, true }, { 200, true }, { 201, true }, { 202, false },
		{ 299, false }, { 300, true },
		/* an idle interval: the window begins with the CNP */
		{ 500, true }, { 560, true }, { 599, false },
		{ 600, true }, { 650, true }, { 699, false },
		/* just less than an idle interval */
		{ 799, true }, { 800, true }, { 850, true }, { 899, false },
	};
	struct iqcn_filter_slot s = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_filter_pass(&s, 2, 100, steps[i].now_ns),
				    steps[i].pass, "step %d", i);
}

/* CNPs at random times: each falls in the current window, at most n pass per
 * window, and a CNP is dropped only if the previous one arrived less than an
 * interval earlier
 */
static void filter_alone_test(struct kunit *test)
{
	u64 now_ns = 0, last_ns = 0, next_ns;
	struct iqcn_filter_slot s = {};
	struct rnd_state rnd;
	u32 i, n, interval_ns;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 100000; i++) {
		if (!(i % 1000)) {
			n = 1 + any_u32(&rnd) % 5;
			interval_ns = 1 + any_u32(&rnd);
			memset(&s, 0, sizeof(s));
		}
		next_ns = now_ns + any_u32(&rnd);
		if (!(i % 1000))
			last_ns = next_ns - min_t(u64, next_ns, interval_ns);
		now_ns = next_ns;
		if (!iqcn_filter_pass(&s, n, interval_ns, now_ns))
			KUNIT_ASSERT_LT_MSG(test, now_ns - last_ns, interval_ns,
					    "step %u", i);
		KUNIT_ASSERT_LE(test, s.passed, n);
		KUNIT_ASSERT_LT(test, now_ns - s.start_ns, interval_ns);
		last_ns = now_ns;
	}
}

/* Claim 7: the longer the interval, the fewer CNPs pass, at any rate */
static void filter_monotone_test(struct kunit *test)
{
	u64 interval_ns, gap_ns;
	u32 passed, before;

	for (gap_ns = 3000; gap_ns < 3 * MS; gap_ns *= 7) {
		before = U32_MAX;
		for (interval_ns = 1000; interval_ns < 100 * MS;
		     interval_ns *= 3) {
			passed = filter_offer(1, interval_ns, gap_ns);
			KUNIT_EXPECT_LE_MSG(test, passed, before,
					    "interval %llu gap %llu",
					    interval_ns, gap_ns);
			before = passed;
		}
		KUNIT_EXPECT_GE(test, before, 1);
	}
}

static void filter_streams_test(struct kunit *test)
{
	struct iqcn_filter_slot s[4] = {}, *slot;
	u64 hash;

	for (hash = 1; hash <= 4; hash++) {
		slot = iqcn_filter_find(s, 4, hash);
		KUNIT_EXPECT_TRUE(test, iqcn_filter_pass(slot, 1, 100,
							 10 * hash));
	}
	/* each stream has its own window */
	for (hash = 1; hash <= 4; hash++) {
		slot = iqcn_filter_find(s, 4, hash);
		KUNIT_EXPECT_EQ(test, slot->hash, hash);
		KUNIT_EXPECT_EQ(test, slot->start_ns, 10 * hash);
		KUNIT_EXPECT_FALSE(test, iqcn_filter_pass(slot, 1, 100, 50));
	}
	/* a CNP of a fifth stream takes the slot of the first stream and passes
	 */
	slot = iqcn_filter_find(s, 4, 5);
	KUNIT_EXPECT_TRUE(test, iqcn_filter_pass(slot, 1, 100, 60));
	KUNIT_EXPECT_PTR_EQ(test, iqcn_filter_find(s, 4, 5), slot);
	/* a CNP of the first stream then takes the slot of the second one,
	 * whose window is now the oldest, and passes, too
	 */
	slot = iqcn_filter_find(s, 4, 1);
	KUNIT_EXPECT_TRUE(test, iqcn_filter_pass(slot, 1, 100, 61));
	KUNIT_EXPECT_FALSE(test, iqcn_filter_pass(iqcn_filter_find(s, 4, 3), 1,
						  100, 62));
	KUNIT_EXPECT_FALSE(test, iqcn_filter_pass(iqcn_filter_find(s, 4, 5), 1,
						  100, 63));
	/* filtering by port: one slot for the CNPs of all streams */
	memset(s, 0, sizeof(s));
	KUNIT_EXPECT_TRUE(test, iqcn_filter_pass(iqcn_filter_find(s, 1, 0), 1,
						 100, 1));
	KUNIT_EXPECT_FALSE(test, iqcn_filter_pass(iqcn_filter_find(s, 1, 0), 1,
						  100, 2));
}

static void filter_incast_test(struct kunit *test)
{
	static const struct {
		u64 in, out;
		u32 n;
	} cases[] = {
		{ 0, 0, 1 }, { 0, 100, 1 }, { 100, 100, 1 }, { 101, 100, 1 },
		{ 200, 100, 1 }, { 201, 100, 2 }, { 400, 100, 2 },
		{ 401, 100, 3 }, { 800, 100, 3 }, { 6400, 100, 6 },
		{ 6401, 100, 7 }, { 1, 0, 16 }, { U64_MAX, 1, 16 },
		{ 1ULL << 40, 1ULL << 30, 10 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_filter_incast_n(cases[i].in,
							 cases[i].out),
				    cases[i].n, "case %d", i);
}

static void filter_fiber_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, iqcn_fiber_rtt_ns(0), 0);
	KUNIT_EXPECT_EQ(test, iqcn_fiber_rtt_ns(500000), 5 * MS);
	KUNIT_EXPECT_EQ(test, iqcn_fiber_rtt_ns(IQCN_FIBER_MAX_M),
			IQCN_TIME_MAX_NS);
	/* a round trip, but at least a millisecond */
	KUNIT_EXPECT_EQ(test, iqcn_filter_max_ns(500000), 5 * MS);
	KUNIT_EXPECT_EQ(test, iqcn_filter_max_ns(0), MS);
	KUNIT_EXPECT_EQ(test, iqcn_filter_max_ns(99999), MS);
	KUNIT_EXPECT_EQ(test, iqcn_filter_max_ns(100001), MS + 10);
	KUNIT_EXPECT_EQ(test, iqcn_filter_max_ns(IQCN_FIBER_MAX_M), SECOND);
}

static struct kunit_case filter_cases[] = {
	KUNIT_CASE(filter_rates_test),
	KUNIT_CASE(filter_windows_test),
	KUNIT_CASE(filter_alone_test),
	KUNIT_CASE(filter_monotone_test),
	KUNIT_CASE(filter_streams_test),
	KUNIT_CASE(filter_incast_test),
	KUNIT_CASE(filter_fiber_test),
	{}
};

static struct kunit_suite filter_suite = {
	.name = "iqcn_filter",
	.test_cases = filter_cases,
};

kunit_test_suite(filter_suite);
