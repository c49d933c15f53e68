// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/active.h: the number of active flows
 */
#include <linux/bitops.h>
#include <linux/minmax.h>

#include "algo/active.h"
#include "tests.h"

#define EPOCH	(5 * MS)

static void active_once_test(struct kunit *test)
{
	struct iqcn_active a = {};
	u32 flow[4] = {}, i, n;

	KUNIT_EXPECT_EQ(test, iqcn_active_flows(&a), 0);
	for (n = 0; n < 5; n++) {
		/* only the first packet of a flow in an epoch is new */
		for (i = 0; i < 3; i++)
			KUNIT_EXPECT_EQ(test,
					iqcn_active_seen(&a, &flow[i],
							 SECOND + n), !n);
		KUNIT_EXPECT_EQ(test, iqcn_active_flows(&a), 3);
	}
	/* one more flow at the end of the epoch */
	iqcn_active_seen(&a, &flow[3], SECOND + EPOCH - 1);
	KUNIT_EXPECT_EQ(test, iqcn_active_flows(&a), 4);
	iqcn_active_run(&a, SECOND + EPOCH - 1);
	KUNIT_EXPECT_EQ(test, iqcn_active_flows(&a), 4);
}

static void active_epochs_test(struct kunit *test)
{
	/* active flows per epoch, and expected results */
	static const u32 n[] = { 3, 1, 0, 0, 7, 2, 8, 8, 0, 1, 0, 0 };
	static const u32 at_start[] = { 0, 3, 1, 0, 0, 7, 2, 8, 8, 0, 1, 0 };
	static const u32 at_end[] = { 3, 3, 1, 0, 7, 7, 8, 8, 8, 1, 1, 0 };
	struct iqcn_active a = {};
	u32 flow[8] = {}, e, i;
	u64 now_ns = SECOND;

	for (e = 0; e < ARRAY_SIZE(n); e++) {
		iqcn_active_run(&a, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), at_start[e],
				    "epoch %u", e);
		for (i = 0; i < 2 * n[e]; i++)
			iqcn_active_seen(&a, &flow[i % n[e]], now_ns + i);
		iqcn_active_run(&a, now_ns + EPOCH - 1);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), at_end[e],
				    "epoch %u", e);
		now_ns += EPOCH;
	}
}

static void active_gap_test(struct kunit *test)
{
	static const struct {
		u64 gap_ns;
		u32 want;
	} gaps[] = {
		{ 0, 3 }, { EPOCH - 1, 3 }, { EPOCH, 3 }, { EPOCH + 1, 3 },
		{ 2 * EPOCH - 1, 3 }, { 2 * EPOCH, 0 }, { 2 * EPOCH + 1, 0 },
		{ 3 * EPOCH, 0 }, { 3600 * SECOND, 0 },
	};
	int i, j;

	for (i = 0; i < ARRAY_SIZE(gaps); i++) {
		struct iqcn_active a = {};
		u64 now_ns = SECOND;
		u32 flow[3] = {};

		for (j = 0; j < 3; j++)
			iqcn_active_seen(&a, &flow[j], now_ns);
		now_ns += gaps[i].gap_ns;
		iqcn_active_run(&a, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), gaps[i].want,
				    "gap %d", i);
		/* the first flow returns; after a long gap it is alone */
		iqcn_active_seen(&a, &flow[0], now_ns);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a),
				    gaps[i].want ?: 1, "gap %d", i);
		/* an epoch later only the flows of that packet's epoch count */
		iqcn_active_run(&a, now_ns + EPOCH);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a),
				    gaps[i].gap_ns < EPOCH ? 3 : 1, "gap %d",
				    i);
	}
}

static void active_wrap_test(struct kunit *test)
{
	static const u32 epochs[] = { U32_MAX, 1, 2, 3, 4 };
	struct iqcn_active a = {
		.start_ns = SECOND,
		.epoch = U32_MAX - 1,
	};
	u32 old = U32_MAX - 1, n;
	u64 now_ns = SECOND;

	/* this flow was counted in the current epoch */
	iqcn_active_seen(&a, &old, now_ns);
	KUNIT_EXPECT_EQ(test, iqcn_active_flows(&a), 0);
	for (n = 0; n < ARRAY_SIZE(epochs); n++) {
		/* a new flow is counted in any epoch, also after the wrap */
		u32 never = 0;

		now_ns += 2 * EPOCH;
		iqcn_active_seen(&a, &never, now_ns);
		KUNIT_EXPECT_EQ(test, a.epoch, epochs[n]);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), 1,
				    "epoch %u", epochs[n]);
		iqcn_active_seen(&a, &never, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), 1,
				    "epoch %u", epochs[n]);
		iqcn_active_seen(&a, &old, now_ns);
		iqcn_active_seen(&a, &old, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_active_flows(&a), 2,
				    "epoch %u", epochs[n]);
	}
}

#define N_ACTIVE	64

/* Compare with a model: the sets of flows of the current and the last epoch */
static void active_model_test(struct kunit *test)
{
	u64 start_ns = 0, now_ns = SECOND, set = 0, last = 0;
	struct iqcn_active a = {};
	u32 flow[N_ACTIVE] = {};
	u32 shrunk = 0, grown = 0;
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 100000; i++) {
		u32 r = prandom_u32_state(&rnd), f, want;
		u32 before = iqcn_active_flows(&a);

		/* periods with few active flows, and pauses */
		f = i / 2000 % 2 ? r % 5 : r % N_ACTIVE;
		now_ns += r >> 13;
		if (i % 700 == 0)
			now_ns += r >> 8;
		if (now_ns - start_ns >= EPOCH) {
			last = now_ns - start_ns < 2 * EPOCH ? set : 0;
			set = 0;
			start_ns = now_ns;
		}
		set |= 1ULL << f;
		want = max(hweight64(set), hweight64(last));
		iqcn_active_seen(&a, &flow[f], now_ns);
		KUNIT_ASSERT_EQ_MSG(test, iqcn_active_flows(&a), want,
				    "packet %d", i);
		shrunk += want < before;
		grown += want > before;
	}
	KUNIT_EXPECT_GT(test, shrunk, 100);
	KUNIT_EXPECT_GT(test, grown, 1000);
}

static struct kunit_case active_test_cases[] = {
	KUNIT_CASE(active_once_test),
	KUNIT_CASE(active_epochs_test),
	KUNIT_CASE(active_gap_test),
	KUNIT_CASE(active_wrap_test),
	KUNIT_CASE(active_model_test),
	{}
};

static struct kunit_suite active_suite = {
	.name = "iqcn_active",
	.test_cases = active_test_cases,
};

kunit_test_suite(active_suite);
