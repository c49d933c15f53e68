// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/profile.h: probability by level of congestion
 */
#include <linux/math64.h>

#include "algo/profile.h"
#include "tests.h"

/* Convert a share of U32_MAX to a share of 2^32, rounded to nearest */
static u64 ref_prob(u32 share)
{
	return div_u64(((u64)share << 32) + U32_MAX / 2, U32_MAX);
}

static void profile_share_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, iqcn_prob(0), 0);
	KUNIT_EXPECT_EQ(test, iqcn_prob(1), 1);
	KUNIT_EXPECT_EQ(test, iqcn_prob(858993459), 858993459);
	KUNIT_EXPECT_EQ(test, iqcn_prob(0x7fffffff), 0x7fffffff);
	KUNIT_EXPECT_EQ(test, iqcn_prob(0x80000000), 0x80000001);
	KUNIT_EXPECT_EQ(test, iqcn_prob(U32_MAX - 1), U32_MAX);
	KUNIT_EXPECT_EQ(test, iqcn_prob(U32_MAX), ONE);
}

static const struct iqcn_profile profiles[] = {
	{ 3, { { 100000, 0x10000000 }, { 200000, 0x30000000 },
	       { 400000, 0x40000000 } } },
	/* a step from 0 to 1 */
	{ 2, { { 5000, 0 }, { 5001, U32_MAX } } },
	/* one point */
	{ 1, { { 7000, 0x12345678 } } },
	/* eight points, stairs */
	{ 8, { { 0, 0 }, { 999, 0 }, { 1000, 0x20000000 },
	       { 1999, 0x20000000 }, { 2000, 0x60000000 },
	       { 2999, 0x60000000 }, { 3000, 0xe0000000 },
	       { U32_MAX, U32_MAX } } },
	/* the full range of 32 bits */
	{ 2, { { 0, 0 }, { U32_MAX, U32_MAX } } },
	/* constant 1 */
	{ 2, { { 100, U32_MAX }, { 200, U32_MAX } } },
	/* from the first byte on */
	{ 2, { { 0, 0x40000000 }, { 4, 0x80000000 } } },
};

static void profile_points_test(struct kunit *test)
{
	static const struct {
		u32 profile, level;
		u64 want;
	} points[] = {
		{ 0, 0, 0 },
		{ 0, 99999, 0 },
		{ 0, 100000, 0x10000000 },
		/* 2^29 / 100000 is 5368.7 */
		{ 0, 100001, 0x10000000 + 5368 },
		{ 0, 150000, 0x20000000 },
		{ 0, 199999, 0x30000000 - 5369 },
		{ 0, 200000, 0x30000000 },
		{ 0, 250000, 0x34000000 },
		{ 0, 300000, 0x38000000 },
		/* 2^28 / 200000 is 1342.2 */
		{ 0, 399999, 0x40000000 - 1343 },
		{ 0, 400000, 0x40000000 },
		{ 0, 400001, 0x40000000 },
		{ 0, U32_MAX, 0x40000000 },
		{ 1, 0, 0 },
		{ 1, 4999, 0 },
		{ 1, 5000, 0 },
		{ 1, 5001, ONE },
		{ 1, 5002, ONE },
		{ 1, U32_MAX, ONE },
		{ 2, 0, 0 },
		{ 2, 6999, 0 },
		{ 2, 7000, 0x12345678 },
		{ 2, U32_MAX, 0x12345678 },
		{ 3, 0, 0 },
		{ 3, 998, 0 },
		{ 3, 999, 0 },
		{ 3, 1000, 0x20000000 },
		{ 3, 1500, 0x20000000 },
		{ 3, 1999, 0x20000000 },
		{ 3, 2000, 0x60000000 },
		{ 3, 2999, 0x60000000 },
		/* shares of one half or more are rounded up by one */
		{ 3, 3000, 0xe0000001 },
		{ 3, 3008, 0xe0000002 },
		{ 3, U32_MAX - 1, U32_MAX },
		{ 3, U32_MAX, ONE },
		{ 4, 0, 0 },
		{ 4, 1, 1 },
		{ 4, 0x12345678, 0x12345678 },
		{ 4, U32_MAX - 1, U32_MAX - 1 },
		{ 4, U32_MAX, ONE },
		{ 5, 99, 0 },
		{ 5, 100, ONE },
		{ 5, 150, ONE },
		{ 5, 200, ONE },
		{ 5, 201, ONE },
		{ 6, 0, 0x40000000 },
		{ 6, 1, 0x50000000 },
		{ 6, 3, 0x70000000 },
		{ 6, 4, 0x80000001 },
	};
	/* the marking curve must not be used */
	static const struct iqcn_mark_params mark = { 0, 0, U32_MAX };
	int i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		u32 n = points[i].profile, level = points[i].level;

		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_profile_prob(&profiles[n], &mark,
						      level),
				    points[i].want, "profile %u, level %u", n,
				    level);
	}
}

/* Without points the marking curve applies, here that of mark_curve_test */
static void profile_empty_test(struct kunit *test)
{
	static const struct {
		u32 level;
		u64 want;
	} points[] = {
		{ 0, 0 }, { 100000, 0 }, { 250000, 429496729 },
		{ 325000, 644245094 }, { 400000, 858993459 },
		{ 400001, ONE }, { U32_MAX, ONE },
	};
	static const struct iqcn_mark_params mark = {
		.kmin_bytes = 100000,
		.kmax_bytes = 400000,
		.pmax = 858993459,
	};
	/* n is 0: the points must not be used */
	static const struct iqcn_profile empty = {
		.point = { { 0, U32_MAX }, { 1, U32_MAX } },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		u64 got = iqcn_profile_prob(&empty, &mark, points[i].level);

		KUNIT_EXPECT_LE_MSG(test, gap64(got, points[i].want), 2ULL,
				    "level %u: %llu", points[i].level, got);
	}
	KUNIT_EXPECT_EQ(test, iqcn_profile_prob(&empty, &mark, 100000), 0);
	KUNIT_EXPECT_EQ(test, iqcn_profile_prob(&empty, &mark, 400001), ONE);
}

static void profile_wrong_test(struct kunit *test)
{
	static const struct {
		struct iqcn_profile p;
		u32 want;
	} rows[] = {
		{ { 0 }, 0 },
		{ { 1, { { 0, 0 } } }, 0 },
		{ { 1, { { U32_MAX, U32_MAX } } }, 0 },
		{ { 2, { { 1, 5 }, { 2, 5 } } }, 0 },
		{ { 2, { { 0, 0 }, { U32_MAX, U32_MAX } } }, 0 },
		/* a point that is not above the one before in bytes */
		{ { 2, { { 1, 5 }, { 1, 6 } } }, 1 },
		{ { 3, { { 1, 5 }, { 3, 6 }, { 3, 6 } } }, 2 },
		{ { 3, { { 1, 5 }, { 0, 6 }, { 3, 7 } } }, 1 },
		{ { 4, { { 1, 5 }, { 2, 6 }, { 9, 7 }, { 8, 8 } } }, 3 },
		/* a point with a lower probability than the one before */
		{ { 2, { { 1, 5 }, { 2, 4 } } }, 1 },
		{ { 2, { { 1, U32_MAX }, { 2, 0 } } }, 1 },
		{ { 8, { { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 5 },
			 { 6, 6 }, { 7, 7 }, { 8, 6 } } }, 7 },
		{ { 8, { { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 5 },
			 { 6, 6 }, { 7, 7 }, { 8, 7 } } }, 0 },
		/* the first of several errors of both kinds */
		{ { 4, { { 1, 1 }, { 2, 2 }, { 2, 3 }, { 1, 1 } } }, 2 },
		{ { 4, { { 1, 2 }, { 2, 1 }, { 2, 1 }, { 1, 1 } } }, 1 },
		/* a point beyond n does not matter */
		{ { 2, { { 1, 1 }, { 2, 2 }, { 1, 1 } } }, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, iqcn_profile_wrong(&rows[i].p),
				    rows[i].want, "row %d", i);
	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		KUNIT_EXPECT_EQ_MSG(test, iqcn_profile_wrong(&profiles[i]), 0,
				    "profile %d", i);
}

static void profile_from_test(struct kunit *test)
{
	static const struct {
		struct iqcn_profile p;
		u32 want;
	} rows[] = {
		{ { 0, { { 7, 7 } } }, 100001 },
		{ { 2, { { 0, 5 }, { 1000, 6 } } }, 0 },
		{ { 1, { { 1, 1 } } }, 1 },
		{ { 1, { { 2, 1 } } }, 2 },
		{ { 2, { { 5000, 0 }, { 5001, 1 } } }, 5001 },
		{ { 2, { { 200000, 5 }, { 300000, 6 } } }, 200000 },
		{ { 1, { { U32_MAX, U32_MAX } } }, U32_MAX },
	};
	static const struct iqcn_mark_params mark = {
		.kmin_bytes = 100000,
		.kmax_bytes = 400000,
		.pmax = 858993459,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 from = iqcn_profile_from_bytes(&rows[i].p, &mark);

		KUNIT_EXPECT_EQ_MSG(test, from, rows[i].want, "row %d", i);
		if (!from)
			continue;
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_profile_prob(&rows[i].p, &mark,
						      from - 1),
				    0, "row %d", i);
	}
}

/* Random sorted points, without duplicates */
static void random_profile(struct rnd_state *rnd, struct iqcn_profile *p)
{
	u32 bytes[IQCN_POINTS_MAX], prob[IQCN_POINTS_MAX];
	u32 n = 1 + prandom_u32_state(rnd) % IQCN_POINTS_MAX;
	int i, j;

	for (i = 0; i < n; i++) {
		u32 b = any_u32(rnd), s = any_u32(rnd);

		for (j = i; j && bytes[j - 1] > b; j--)
			bytes[j] = bytes[j - 1];
		bytes[j] = b;
		for (j = i; j && prob[j - 1] > s; j--)
			prob[j] = prob[j - 1];
		prob[j] = s;
	}
	p->n = 0;
	for (i = 0; i < n; i++) {
		if (i && bytes[i] == bytes[i - 1])
			continue;
		p->point[p->n].bytes = bytes[i];
		p->point[p->n++].prob = prob[i];
	}
}

static u64 ref_profile(const struct iqcn_profile *p, u32 level)
{
	const struct tc_iqcn_point *pt = p->point;
	int i;

	/* search backwards, unlike the code */
	for (i = p->n - 1; i >= 0 && pt[i].bytes > level; i--)
		;
	if (i < 0)
		return 0;
	if (i == p->n - 1 || pt[i].bytes == level)
		return ref_prob(pt[i].prob);
	return ref_prob(pt[i].prob) +
	       ref_mul_div(ref_prob(pt[i + 1].prob) - ref_prob(pt[i].prob),
			   level - pt[i].bytes,
			   pt[i + 1].bytes - pt[i].bytes);
}

static void profile_random_test(struct kunit *test)
{
	static const struct iqcn_mark_params mark = { 0, 0, U32_MAX };
	struct iqcn_profile p;
	struct rnd_state rnd;
	u32 between = 0;
	int i, j, k;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 2000; i++) {
		random_profile(&rnd, &p);
		KUNIT_ASSERT_EQ(test, iqcn_profile_wrong(&p), 0);
		for (j = 0; j < 40; j++) {
			u32 level = any_u32(&rnd);
			u64 got, want;

			/* below, at and above each point */
			k = j / 3;
			if (k < p.n)
				level = p.point[k].bytes + j % 3 - 1;
			got = iqcn_profile_prob(&p, &mark, level);
			want = ref_profile(&p, level);
			/* the result and both ends are rounded */
			KUNIT_ASSERT_LE_MSG(test, gap64(got, want), 2ULL,
					    "profile %d, level %u: %llu, %llu",
					    i, level, got, want);
			KUNIT_ASSERT_LE(test, got, ONE);
			if (k < p.n && j % 3 == 1)
				KUNIT_ASSERT_EQ(test, got, want);
			between += want > ref_prob(p.point[0].prob) &&
				   want < ref_prob(p.point[p.n - 1].prob);
		}
	}
	KUNIT_EXPECT_GT(test, between, 10000);
}

static struct kunit_case profile_test_cases[] = {
	KUNIT_CASE(profile_share_test),
	KUNIT_CASE(profile_points_test),
	KUNIT_CASE(profile_empty_test),
	KUNIT_CASE(profile_wrong_test),
	KUNIT_CASE(profile_from_test),
	KUNIT_CASE(profile_random_test),
	{}
};

static struct kunit_suite profile_suite = {
	.name = "iqcn_profile",
	.test_cases = profile_test_cases,
};

kunit_test_suite(profile_suite);
