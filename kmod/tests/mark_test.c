// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/mark.h: the marking curve
 */
#include <linux/math64.h>

#include "algo/mark.h"
#include "tests.h"

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
		/* Kmin equal to Kmax: a step */
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
		/* the full range of 32 bits */
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
			/* split, so that no product overflows */
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

static struct kunit_case mark_test_cases[] = {
	KUNIT_CASE(mark_curve_test),
	KUNIT_CASE(mark_linear_test),
	{}
};

static struct kunit_suite mark_suite = {
	.name = "iqcn_mark",
	.test_cases = mark_test_cases,
};

kunit_test_suite(mark_suite);
