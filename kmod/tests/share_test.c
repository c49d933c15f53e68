// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/share.h: the share of the CPUs, and the back-off
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "algo/share.h"
#include "tests.h"

/* Runs of random length, each as soon as the account allows it, use at least
 * the share, and at most one burst more
 */
static void share_rate_test(struct kunit *test)
{
	static const struct iqcn_share shares[] = {
		{ .parts = 4, .of = 1, .run_ns = 5000, .run_max_ns = 1000000000 },
		{ .parts = 2, .of = 1, .run_max_ns = 10000000 },
		{ .parts = 2, .of = 64, .run_max_ns = 10000000 },
	};
	struct rnd_state rnd;
	int i, n;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < ARRAY_SIZE(shares); i++) {
		const struct iqcn_share *s = &shares[i];
		u64 start_ns = 10 * SECOND, now_ns = start_ns, paid_ns = 0;
		/* each charge is rounded to a ns */
		u64 rounding_ns = 100000 * max(s->of / s->parts, 1U);
		u64 used_ns = 0, most_ns;

		for (n = 0; n < 100000; n++) {
			u64 took_ns = prandom_u32_state(&rnd) % 50000;

			used_ns += took_ns + s->run_ns;
			paid_ns = iqcn_share_charge(s, paid_ns, took_ns,
						    now_ns);
			/* runs on several CPUs may start at the same time */
			now_ns = max(now_ns, paid_ns);
		}
		most_ns = div_u64((now_ns - start_ns) * s->of, s->parts) +
			  IQCN_SHARE_BURST_NS;
		KUNIT_EXPECT_LE(test, used_ns, most_ns + rounding_ns);
		KUNIT_EXPECT_GE(test, used_ns + IQCN_SHARE_BURST_NS +
				rounding_ns, most_ns);
	}
}

static void share_idle_test(struct kunit *test)
{
	const struct iqcn_share s = {
		.parts = 4, .of = 1, .run_ns = 5000, .run_max_ns = 10000000
	};
	u64 paid_ns;

	/* an idle account has saved enough for a short run: no pause */
	paid_ns = iqcn_share_charge(&s, 0, 1000, SECOND);
	KUNIT_EXPECT_EQ(test, paid_ns, SECOND - 4 * IQCN_SHARE_BURST_NS + 24000);
	/* an idle account saves at most one burst */
	paid_ns = iqcn_share_charge(&s, paid_ns, 995000, 1000 * SECOND);
	KUNIT_EXPECT_EQ(test, paid_ns, 1000 * SECOND);
	/* shortly after boot: no underflow */
	KUNIT_EXPECT_EQ(test, iqcn_share_charge(&s, 0, 0, 1), 20000ULL);
	/* a run that was interrupted for a second is charged run_max_ns */
	paid_ns = iqcn_share_charge(&s, SECOND, SECOND, SECOND);
	KUNIT_EXPECT_EQ(test, paid_ns, SECOND + 4 * (10000000ULL + 5000));
}

/* No packet leaves, so a timer that runs every ms backs off; a packet that
 * leaves ends the back-off
 */
static void share_backoff_test(struct kunit *test)
{
	const u64 ms = 1000000;
	struct iqcn_backoff b = {};
	u64 now_ns = SECOND, n, runs = 0;

	for (n = 0; n < 100; n++, now_ns += ms) {
		iqcn_backoff_run(&b, 7, now_ns);
		KUNIT_ASSERT_EQ(test, b.until_ns, 0ULL);
	}
	iqcn_backoff_run(&b, 7, now_ns);
	KUNIT_EXPECT_EQ(test, b.until_ns, now_ns + 100 * ms);
	/* from now on ten runs per second */
	for (; now_ns < 11 * SECOND; runs++) {
		now_ns = b.until_ns;
		iqcn_backoff_run(&b, 7, now_ns);
		KUNIT_ASSERT_EQ(test, b.until_ns, now_ns + 100 * ms);
	}
	KUNIT_EXPECT_LE(test, runs, 100ULL);
	/* until a packet leaves */
	iqcn_backoff_run(&b, 8, now_ns + ms);
	KUNIT_EXPECT_EQ(test, b.until_ns, 0ULL);

	/* no run for an hour: the queue was empty, so idle_ns restarts */
	now_ns += 3600 * SECOND;
	iqcn_backoff_run(&b, 8, now_ns);
	KUNIT_EXPECT_EQ(test, b.until_ns, 0ULL);
	iqcn_backoff_run(&b, 8, now_ns + 99 * ms);
	KUNIT_EXPECT_EQ(test, b.until_ns, 0ULL);
}

static struct kunit_case share_test_cases[] = {
	KUNIT_CASE(share_rate_test),
	KUNIT_CASE(share_idle_test),
	KUNIT_CASE(share_backoff_test),
	{}
};

static struct kunit_suite share_suite = {
	.name = "iqcn_share",
	.test_cases = share_test_cases,
};

kunit_test_suite(share_suite);
