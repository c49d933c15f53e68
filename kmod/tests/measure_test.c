// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/measure.h: gradient and delay as levels of congestion
 */
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "algo/measure.h"
#include "tests.h"

static void gradient_samples_test(struct kunit *test)
{
	/* consecutive samples, windows of 1 ms; level and rate are expected
	 * after each sample, whether it completes a window or not
	 */
	static const struct {
		u64 at_ns;
		u32 depth, level;
		s16 per_us;
		const char *what;
	} samples[] = {
		{ 5 * MS, 1000, 0, 0, "the first sample" },
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
		/* at and beyond the limits of s16 */
		{ 13 * MS, 32767999, 32767999, 32767, "the most" },
		{ 14 * MS, 65536000, 32768001, 32767, "more" },
		{ 15 * MS, U32_MAX, 4229431295U, 32767, "much more" },
		{ 16 * MS, U32_MAX - 32768000, 0, -32768, "the least" },
		{ 17 * MS, U32_MAX - 65537000, 0, -32768, "less" },
		{ 18 * MS, 0, 0, -32768, "much less" },
		{ 19 * MS, U32_MAX, U32_MAX, 32767, "all of it" },
		{ 20 * MS, 0, 0, -32768, "and back" },
		/* two windows without a sample: discarded */
		{ 22 * MS, 600000, 0, 0, "two windows" },
		{ 22 * MS + 500 * US, 700000, 0, 0, "begins anew" },
		{ 23 * MS, 601000, 1000, 1, "and goes on" },
		{ 123 * MS, 900000, 0, 0, "a hundred" },
		{ 124 * MS, 850000, 0, -50, "and goes on" },
	};
	struct iqcn_gradient g = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		iqcn_gradient_add(&g, MS, samples[i].at_ns, samples[i].depth);
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_gradient_level(&g, MS,
							samples[i].at_ns),
				    samples[i].level, "%s", samples[i].what);
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_gradient_per_us(&g, MS,
							 samples[i].at_ns),
				    samples[i].per_us, "%s", samples[i].what);
	}
}

/* A window ends at the first sample that is at least @window_ns after the start
 * of the window; the level is the growth scaled to @window_ns
 */
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
			/* scaled to the length of a window */
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
		/* as fast as configured, slower, faster */
		{ 100000, 25 * GBIT, 25 * GBIT, 100000 },
		{ 100000, 25 * GBIT / 2, 25 * GBIT, 200000 },
		{ 100000, GBIT, 25 * GBIT, 2500000 },
		{ 100000, 50 * GBIT, 25 * GBIT, 50000 },
		{ 1, 3, 2, 0 },
		{ 100000, 30 * GBIT, 10 * GBIT, 33333 },
		{ 0, GBIT, 25 * GBIT, 0 },
		/* the drain rate is not known */
		{ 100000, 0, 25 * GBIT, 100000 },
		{ U32_MAX, 0, U64_MAX, U32_MAX },
		{ 0, 0, 0, 0 },
		{ 100000, 25 * GBIT, 0, 0 },
		/* results beyond 32 bits */
		{ 0x80000000, GBIT, 2 * GBIT - 1, 4294967293U },
		{ 0x80000000, GBIT, 2 * GBIT, U32_MAX },
		{ 0x80000000, GBIT, 3 * GBIT, U32_MAX },
		{ U32_MAX, GBIT, GBIT, U32_MAX },
		{ U32_MAX, GBIT, 400 * GBIT, U32_MAX },
		/* products or results beyond 64 bits */
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
		/* mul_u64_u64_div_u64() of older kernels is exact to 30 bits */
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

static struct kunit_case measure_test_cases[] = {
	KUNIT_CASE(gradient_samples_test),
	KUNIT_CASE(gradient_span_test),
	KUNIT_CASE(gradient_stale_test),
	KUNIT_CASE(delay_points_test),
	KUNIT_CASE(delay_random_test),
	{}
};

static struct kunit_suite measure_suite = {
	.name = "iqcn_measure",
	.test_cases = measure_test_cases,
};

kunit_test_suite(measure_suite);
