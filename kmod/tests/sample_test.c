// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/sample.h: which PSNs are sampled
 */
#include <linux/minmax.h>

#include "algo/continuity.h"
#include "algo/sample.h"
#include "tests.h"

static const u32 everys[] = { 1, 2, 3, 7, 8, 64, 1000, 65536 };

/* All PSNs, in packets of random size, yield each sample once and in order */
static void sample_cycle_test(struct kunit *test)
{
	static const u32 moduli[ARRAY_SIZE(everys)] = {
		16777216, 8388608, 5592406, 2396746, 2097152, 262144, 16778,
		256,
	};
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < ARRAY_SIZE(everys); i++) {
		u32 modulus = iqcn_sample_modulus(everys[i]);
		u32 qp = prandom_u32_state(&rnd) % PSNS;
		u32 start = prandom_u32_state(&rnd) % PSNS;
		u32 sent, segs, picks = 0, next = 0;

		KUNIT_EXPECT_EQ_MSG(test, modulus, moduli[i], "1 in %u",
				    everys[i]);
		for (sent = 0; sent < PSNS; sent += segs) {
			u32 r = prandom_u32_state(&rnd), seq, n;

			segs = r >> 30 ? 1 + r % 8 : 1 + r % 64;
			segs = min(segs, PSNS - sent);
			n = iqcn_sample_pick((start + sent) % PSNS, segs, qp,
					     everys[i], &seq);
			if (!n)
				continue;
			if (!picks)
				next = seq;
			KUNIT_ASSERT_EQ_MSG(test, seq, next, "1 in %u",
					    everys[i]);
			KUNIT_ASSERT_LT_MSG(test, seq, modulus, "1 in %u",
					    everys[i]);
			next = (next + n) % modulus;
			picks += n;
		}
		KUNIT_EXPECT_EQ_MSG(test, picks, modulus, "1 in %u",
				    everys[i]);
	}
}

/* A packet of several segments is sampled like packets of one segment each */
static void sample_segs_test(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 4000; i++) {
		u32 r = prandom_u32_state(&rnd);
		u32 every = i % 3 ? everys[i % ARRAY_SIZE(everys)] :
				    1 + r % 65536;
		u32 qp = prandom_u32_state(&rnd) % PSNS;
		u32 psn = prandom_u32_state(&rnd) % PSNS;
		u32 segs = (r >> 16) % 65535 + 1, want = 0, first = 0;
		u32 one, n, s, seq;

		/* mostly small packets, a few of the largest; half wrap */
		segs = i % 100 == 0 ? 65535 : i % 4 ? 1 + segs % 32 : segs;
		if (i / 4 % 2)
			psn = (2 * PSNS - qp - psn % (segs + 2)) % PSNS;
		for (s = 0; s < segs; s++) {
			u32 number = (psn + s + qp) % PSNS;
			bool hit = number % every == 0;

			if (hit && !want++)
				first = number / every;
			if (s >= 32 && s < segs - 32)
				continue;
			one = iqcn_sample_pick((psn + s) % PSNS, 1, qp, every,
					       &seq);
			KUNIT_ASSERT_EQ_MSG(test, one, hit,
					    "PSN %u QP %u 1 in %u", psn + s,
					    qp, every);
			if (hit)
				KUNIT_ASSERT_EQ(test, seq, number / every);
		}
		n = iqcn_sample_pick(psn, segs, qp, every, &seq);
		KUNIT_ASSERT_EQ_MSG(test, n, want,
				    "PSN %u QP %u 1 in %u, %u segments", psn,
				    qp, every, segs);
		if (want)
			KUNIT_ASSERT_EQ_MSG(test, seq, first,
					    "PSN %u QP %u 1 in %u", psn, qp,
					    every);
	}
}

/* US 12395431, description (78): sampling preserves continuity */
static void sample_continuity_test(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < ARRAY_SIZE(everys); i++) {
		u32 every = everys[i], modulus = iqcn_sample_modulus(every);
		u32 qp = prandom_u32_state(&rnd) % PSNS;
		u32 psn = (2 * PSNS - qp - 300 * every) % PSNS;
		struct iqcn_continuity all = {}, half = {};
		u32 picks = 0, packets = 0, last = 0, seq, n, segs, ended;
		bool congested = false, wrapped = false;

		while (picks < 1000) {
			segs = prandom_u32_state(&rnd) >> 16;
			segs = 1 + segs % min(2 * every, 65535U);
			n = iqcn_sample_pick(psn, segs, qp, every, &seq);
			psn = (psn + segs) % PSNS;
			if (!n)
				continue;

			wrapped |= seq < last;
			last = seq;
			picks += n;
			ended = iqcn_continuity_add(&all, seq, n, modulus,
						    true);
			KUNIT_ASSERT_EQ_MSG(test, ended, IQCN_RUN_GOES_ON,
					    "1 in %u, number %u", every, seq);
			KUNIT_ASSERT_EQ_MSG(test, all.run, picks,
					    "1 in %u, number %u", every, seq);

			if (packets++ % 2)
				continue;
			ended = iqcn_continuity_add(&half, seq, n, modulus,
						    true);
			congested = iqcn_detect_run(congested, ended, half.run,
						    5, 2);
			KUNIT_ASSERT_EQ_MSG(test, half.run, n,
					    "1 in %u, number %u", every, seq);
			KUNIT_ASSERT_FALSE_MSG(test, congested,
					       "1 in %u, number %u", every,
					       seq);
		}
		KUNIT_EXPECT_TRUE_MSG(test, wrapped, "1 in %u", every);
	}
}

/* One packet per 2,000 ns: at 4 Gb/s one packet in 1,000 bytes */
static void sample_waits_test(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, iqcn_sample_waits(999, 4000000000ULL, 2000));
	KUNIT_EXPECT_TRUE(test, iqcn_sample_waits(1000, 4000000000ULL, 2000));
	KUNIT_EXPECT_TRUE(test, iqcn_sample_waits(1001, 4000000000ULL, 2000));
}

/* Of flows that send the same PSN, one in N is sampled */
static void sample_qp_test(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 200; i++) {
		u32 psn = prandom_u32_state(&rnd) % PSNS;
		u32 qp = prandom_u32_state(&rnd) % PSNS, picks = 0, seq, k;

		for (k = 0; k < 512; k++)
			picks += iqcn_sample_pick(psn, 1, (qp + k) % PSNS, 64,
						  &seq);
		KUNIT_ASSERT_EQ_MSG(test, picks, 8, "PSN %u QP %u", psn, qp);
	}
}

static struct kunit_case sample_test_cases[] = {
	KUNIT_CASE(sample_cycle_test),
	KUNIT_CASE(sample_segs_test),
	KUNIT_CASE(sample_continuity_test),
	KUNIT_CASE(sample_qp_test),
	KUNIT_CASE(sample_waits_test),
	{}
};

static struct kunit_suite sample_suite = {
	.name = "iqcn_sample",
	.test_cases = sample_test_cases,
};

kunit_test_suite(sample_suite);
