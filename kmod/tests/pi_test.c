// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/pi.h: the PI controller
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "algo/pi.h"
#include "params.h"
#include "tests.h"

/* The default interval and gains at 25 Gb/s, but with a fixed reference of the
 * default qref, and with one poll of a sparse flow per T1
 */
static const struct iqcn_pi_params pi25 = {
	.qref_bytes = 300000,
	.update_ns = 100000,
	.alpha = 2000,
	.beta = 100000,
	.polls_max = 1,
};

#define STEP	(100 * US)
/* IQCN_PI_QUIET_NS and IQCN_PI_END_NS */
#define QUIET	(5 * MS)
#define END	(20 * MS)
/* a probability of a quarter */
#define QUARTER	0x40000000LL
/* 1/12: the lower bound of the probability is -SLACK */
#define SLACK	357913941LL

/*
 * A controller with probability @prob, whose last step was at SECOND.  The
 * queue was deep then, and has kept its depth.
 */
static struct iqcn_pi pi_with(u32 depth_bytes, s64 prob)
{
	struct iqcn_pi pi = {
		.prob = prob,
		.step_ns = SECOND,
		.deep_ns = SECOND,
		.ahead_bytes = depth_bytes,
		.depth_bytes = depth_bytes,
	};

	return pi;
}

static void pi_defaults_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, iqcn_default_gain(IQCN_REF_ALPHA, 25000),
			pi25.alpha);
	KUNIT_EXPECT_EQ(test, iqcn_default_gain(IQCN_REF_BETA, 25000),
			pi25.beta);
	KUNIT_EXPECT_EQ(test, IQCN_DEFAULT_UPDATE_NS, pi25.update_ns);
	KUNIT_EXPECT_EQ(test,
			IQCN_QREF_PER_KMIN * iqcn_default_kmin(25000, 1514),
			pi25.qref_bytes);
}

static void pi_begin_test(struct kunit *test)
{
	static const struct {
		u32 qref, wake;
	} refs[] = {
		{ 300000, 37500 }, { 7, 0 }, { 8, 1 }, { 15, 1 }, { 16, 2 },
		{ U32_MAX, 536870911 },
	};
	int i, n;

	for (i = 0; i < ARRAY_SIZE(refs); i++) {
		struct iqcn_pi_params p = pi25;
		u64 now_ns = SECOND;
		struct iqcn_pi pi = {};

		p.qref_bytes = refs[i].qref;
		KUNIT_EXPECT_EQ(test, iqcn_pi_wake_bytes(&p), refs[i].wake);
		for (n = 0; n < 5; n++) {
			u32 depth = n & 1 ? 0 : refs[i].wake;

			KUNIT_EXPECT_FALSE_MSG(test,
					       iqcn_pi_run(&pi, &p, 512, depth,
							   now_ns),
					       "qref %u", refs[i].qref);
			KUNIT_EXPECT_FALSE(test, iqcn_pi_runs(&pi));
			KUNIT_EXPECT_EQ(test, pi.prob, 0);
			now_ns += 7 * MS;
		}
		KUNIT_EXPECT_TRUE_MSG(test,
				      iqcn_pi_run(&pi, &p, 512,
						  refs[i].wake + 1, now_ns),
				      "qref %u", refs[i].qref);
		KUNIT_EXPECT_TRUE(test, iqcn_pi_runs(&pi));
		/* the depth before the start does not count */
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
	}
}

/* Between two steps iqcn_pi_note() does the same as iqcn_pi_run() */
static void pi_note_test(struct kunit *test)
{
	static const u32 depths[] = {
		0, 37500, 37501, 300000, 1200000, 1200001, U32_MAX,
	};
	static const s64 probs[] = { -SLACK, 0, 1, QUARTER, 1LL << 32 };
	struct iqcn_pi ends = pi_with(300000, 0);
	u64 until_ns;
	int i, j;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		KUNIT_EXPECT_EQ(test, iqcn_pi_near(&pi25, depths[i]), i < 5);
		for (j = 0; i < 5 && j < ARRAY_SIZE(probs); j++) {
			struct iqcn_pi a = pi_with(300000, probs[j]), b = a;
			u64 prob;

			until_ns = iqcn_pi_until_ns(&a, &pi25);
			KUNIT_EXPECT_EQ(test, until_ns, SECOND + STEP);
			prob = iqcn_pi_note(&a, &pi25, depths[i], until_ns - 1);
			KUNIT_EXPECT_TRUE(test,
					  iqcn_pi_run(&b, &pi25, 512, depths[i],
						      until_ns - 1));
			KUNIT_EXPECT_EQ(test, prob,
					iqcn_pi_prob(&b, &pi25, depths[i]));
			KUNIT_EXPECT_EQ(test, a.prob, b.prob);
			KUNIT_EXPECT_EQ(test, a.step_ns, b.step_ns);
			KUNIT_EXPECT_EQ(test, a.deep_ns, b.deep_ns);
			KUNIT_EXPECT_EQ(test, a.ahead_bytes, b.ahead_bytes);
			KUNIT_EXPECT_EQ(test, a.depth_bytes, b.depth_bytes);
			/* the first time that is not between two steps */
			iqcn_pi_run(&b, &pi25, 512, depths[i], until_ns);
			KUNIT_EXPECT_EQ(test, b.step_ns, until_ns);
		}
	}
	/* the controller ends before its next step is due */
	ends.deep_ns = SECOND - END + 1;
	KUNIT_EXPECT_EQ(test, iqcn_pi_until_ns(&ends, &pi25), SECOND + 1);
}

/* When the controller steps, and which depths count */
static void pi_when_test(struct kunit *test)
{
	/* a step of 299,999 ns adds 5,033,146.2 */
	s64 want = 1677721 + 5033146;
	struct iqcn_pi pi = {};
	u64 now_ns;

	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND));
	iqcn_pi_run(&pi, &pi25, 512, 900000, SECOND + STEP - 1);
	KUNIT_EXPECT_EQ(test, pi.prob, 0);
	/* the depth is the same as at the start */
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, 1677721);
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, 1677721);
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + 2 * STEP - 1);
	KUNIT_EXPECT_EQ(test, pi.prob, 1677721);
	/* a late step counts in full; the next is one interval later */
	now_ns = SECOND + 4 * STEP - 1;
	iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns);
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns + 1);
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns + STEP - 1);
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns);
	want += 1677721;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* growth of 100,000: the predicted growth is capped at 900,000 */
	iqcn_pi_run(&pi, &pi25, 512, 600000, now_ns + 1);
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 500000, now_ns);
	want += 3355443 + 838860800;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* growth stops: the prediction is 900,000 lower */
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 500000, now_ns);
	want += 3355443 - 754974720;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 500000, now_ns);
	want += 3355443;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* 10,000 bytes in one and a half intervals: 80,000 predicted; the
	 * integral part is one and a half times 3,523,213
	 */
	now_ns += STEP + STEP / 2;
	iqcn_pi_run(&pi, &pi25, 512, 510000, now_ns);
	want += 5284819 + 75497472;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* just below 17/16 of an interval: 12,000 predicted, 67,000 less than
	 * before; the integral part is 1.06249 times 3,539,989
	 */
	now_ns += 106249;
	iqcn_pi_run(&pi, &pi25, 512, 511000, now_ns);
	want += 3761202 - 56203671;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* 17/16 of an interval: 1,700 bytes are 19,200 predicted, 8,900 more
	 * than before; 1.0625 times 3,568,512
	 */
	now_ns += 106250;
	iqcn_pi_run(&pi, &pi25, 512, 512700, now_ns);
	want += 3791544 + 7465860;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
}

static void pi_steps_test(struct kunit *test)
{
	/*
	 * 100,000 bytes above qref: 2,000 * 100,000 / 512 is 390,625 * 10^-9,
	 * or 1,677,721.6 in units of 2^-32.
	 */
	static const struct {
		u32 before, depth, flows, steps;
		s64 prob, want;
	} rows[] = {
		/* at, above and below the reference */
		{ 300000, 300000, 512, 1, 0, 0 },
		{ 300000, 300000, 512, 9, QUARTER, QUARTER },
		{ 400000, 400000, 512, 1, 0, 1677721 },
		{ 400000, 400000, 512, 1, QUARTER, QUARTER + 1677721 },
		{ 200000, 200000, 512, 1, QUARTER, QUARTER - 1677721 },
		{ 500000, 500000, 512, 1, 0, 3355443 },
		/* an error of 1 byte is 3.9 * 10^-9, truncated to 3, which is
		 * 12.9 in units of 2^-32; 2 bytes are 7.8, or 30.06 units
		 */
		{ 300001, 300001, 512, 1, 100, 112 },
		{ 300002, 300002, 512, 1, 100, 130 },
		{ 299999, 299999, 512, 1, 100, 88 },
		{ 299998, 299998, 512, 1, 100, 70 },
		/* growth counts 13 times, but here the cap of the prediction
		 * leaves 1,000,000 bytes of 1,300,000
		 */
		{ 300000, 400000, 512, 1, 0, 1677721 + 838860800 },
		{ 300000, 200000, 512, 1, QUARTER,
		  QUARTER - 1677721 - 838860800 },
		{ 500000, 400000, 512, 1, QUARTER,
		  QUARTER + 1677721 - 838860800 },
		/* several steps at once: the growth counts once */
		{ 400000, 400000, 512, 3, 0, 3 * 1677721 },
		{ 200000, 200000, 512, 40, QUARTER, QUARTER - 40 * 1677721 },
		/* 100,000 in 3 steps predict 400,000, in 40 steps 30,000 */
		{ 300000, 400000, 512, 3, 0, 3 * 1677721 + 419430400 },
		{ 200000, 300000, 512, 40, 0, 109051904 },
		/* the number of flows counts as at least 512 */
		{ 400000, 400000, 0, 1, 0, 1677721 },
		{ 400000, 400000, 1, 1, 0, 1677721 },
		{ 400000, 400000, 511, 1, 0, 1677721 },
		{ 400000, 400000, 513, 1, 0, 1674448 },	/* 389,863 */
		{ 400000, 400000, 2048, 1, 0, 419429 },	/* 97,656 */
		{ 200000, 200000, 2048, 1, QUARTER, QUARTER - 419429 },
		{ 400000, 400000, 65536, 1, 0, 13103 },	/* 3,051 */
		/* the error is capped at four times qref: 4,687,500 * 10^-9 */
		{ 1499999, 1499999, 512, 1, 0, 20132642 },
		{ 1500000, 1500000, 512, 1, 0, 20132659 },
		{ 1500001, 1500001, 512, 1, 0, 20132659 },
		{ 9000000, 9000000, 512, 1, 0, 20132659 },
		{ U32_MAX, U32_MAX, 512, 7, 0, 7 * 20132659 },
		/* the cap of the error does not apply to growth, but a step
		 * adds at most 1 for it: 5,500,000 bytes would add more
		 */
		{ 9000000, 9100000, 512, 1, 0, 20132659 + 838860800 },
		{ 400000, 5000000, 512, 1, -SLACK, ONE + 20132659 - SLACK },
		{ 400000, 5000000, 512, 1, 0, ONE },
		/* the queue shrinks, above the cap of the error */
		{ 9100000, 9000000, 512, 1, ONE, ONE + 20132659 - 838860800 },
		/* dry at both steps (at most qref / 32): -4 times qref */
		{ 0, 0, 512, 1, QUARTER, QUARTER - 20132659 },
		{ 9375, 9375, 512, 1, QUARTER, QUARTER - 20132659 },
		{ 0, 0, 512, 40, QUARTER, QUARTER - 40 * 20132659 },
		{ 0, 0, 2048, 1, QUARTER, QUARTER - 5033164 },
		/* not dry at one or both steps: errors of -290,624 and
		 * -290,625; growth by 1 byte counts as 13, or 10,904 units
		 */
		{ 9376, 9376, 512, 1, QUARTER, QUARTER - 4875861 },
		{ 9375, 9376, 512, 1, QUARTER, QUARTER - 4875861 + 10904 },
		{ 9376, 9375, 512, 1, QUARTER, QUARTER - 4875874 - 10904 },
		/* no jump of the error at the wake depth; then from empty to
		 * qref and back
		 */
		{ 37500, 37500, 512, 1, QUARTER, QUARTER - 4404016 },
		{ 37501, 37501, 512, 1, QUARTER, QUARTER - 4403999 },
		{ 0, 300000, 512, 1, 0, 1006632960 },
		{ 300000, 0, 512, 1, QUARTER, QUARTER - 5033164 - 1006632960 },
		/* below 0 */
		{ 200000, 200000, 512, 1, 1677722, 1 },
		{ 200000, 200000, 512, 1, 1677721, 0 },
		{ 200000, 200000, 512, 1, 1677720, -1 },
		{ 200000, 200000, 512, 1, 0, -1677721 },
		{ 400000, 400000, 512, 1, -1677721, 0 },
		{ 400000, 400000, 512, 1, -SLACK, 1677721 - SLACK },
		/* but not below -1/12 */
		{ 200000, 200000, 512, 1, 1677722 - SLACK, 1 - SLACK },
		{ 200000, 200000, 512, 1, 1677721 - SLACK, -SLACK },
		{ 200000, 200000, 512, 1, 1677720 - SLACK, -SLACK },
		{ 200000, 200000, 512, 1, -SLACK, -SLACK },
		{ 0, 0, 512, 40, 0, -SLACK },
		{ 900000, 200000, 512, 40, -1, -SLACK },
		/* at most 1 */
		{ 400000, 400000, 512, 1, ONE - 1677722, ONE - 1 },
		{ 400000, 400000, 512, 1, ONE - 1677721, ONE },
		{ 400000, 400000, 512, 1, ONE - 1677720, ONE },
		{ 400000, 400000, 512, 40, ONE, ONE },
		/* the bounds apply once all parts are added */
		{ 400000, 500000, 512, 1, ONE, ONE },
		{ 600000, 500000, 512, 1, ONE, ONE + 3355443 - 838860800 },
		{ 1100000, 1200000, 512, 1, -SLACK,
		  15099494 + 838860800 - SLACK },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct iqcn_pi pi = pi_with(rows[i].before, rows[i].prob);
		u64 now_ns = SECOND + rows[i].steps * STEP;

		KUNIT_EXPECT_TRUE(test,
				  iqcn_pi_run(&pi, &pi25, rows[i].flows,
					      rows[i].depth, now_ns));
		KUNIT_EXPECT_EQ_MSG(test, pi.prob, rows[i].want, "row %d", i);
		/* no time is left over for another step */
		iqcn_pi_run(&pi, &pi25, rows[i].flows, rows[i].depth,
			    SECOND + (rows[i].steps + 1) * STEP - 1);
		KUNIT_EXPECT_EQ_MSG(test, pi.prob, rows[i].want, "row %d", i);
		/* the result is never negative */
		KUNIT_EXPECT_EQ_MSG(test, iqcn_pi_prob(&pi, &pi25, 300000),
				    rows[i].want < 0 ? 0 : rows[i].want,
				    "row %d", i);
	}
}

/* The proportional part only */
static void pi_ahead_test(struct kunit *test)
{
	/*
	 * 1,000 bytes per step are 13,000 with the prediction of twelve steps:
	 * 100,000 * 13,000 / 512 is 2,539,062.5 * 10^-9, and 2,539,062 * 10^-9
	 * are 10,905,188.2 in units of 2^-32.
	 */
	static const struct {
		u32 growth, flows, steps, want;
	} rows[] = {
		{ 0, 512, 1, 0 },
		{ 1, 512, 1, 10904 },		/* 2,539 */
		{ 1000, 512, 1, 10905188 },
		{ 10000, 512, 1, 109051904 },
		/* by number of flows */
		{ 1000, 0, 1, 10905188 },
		{ 1000, 64, 1, 10905188 },
		{ 1000, 511, 1, 10905188 },
		{ 1000, 513, 1, 10883932 },	/* 2,534,113 */
		{ 1000, 2048, 1, 2726294 },	/* 634,765 */
		{ 10000, 2048, 1, 27262974 },	/* 6,347,656 */
		{ 1000, 65536, 1, 85194 },	/* 19,836 */
		/* 12 * 75,000 is the cap of three times qref */
		{ 74999, 512, 1, 817878372 },	/* 974,987 bytes */
		{ 75000, 512, 1, 817889277 },	/* 975,000 */
		{ 75001, 512, 1, 817890115 },	/* 975,001 */
		{ 100000, 512, 1, 838860800 },
		{ 300000, 512, 1, 1006632960 },
		{ 100000, 2048, 1, 209715200 },
		/* growth over several steps is slower in proportion */
		{ 1000, 512, 3, 4194301 },	/* 5,000 bytes */
		{ 1000, 512, 12, 1677721 },	/* 2,000 */
		{ 1000, 512, 13, 1613125 },	/* 1,923 */
		{ 1000, 512, 40, 1090517 },	/* 1,300 */
		{ 7, 512, 5, 19292 },		/* 23 */
		{ 300000, 512, 4, 1006632960 },
		{ 300001, 512, 4, 1006633797 },	/* 1,200,001 */
		{ 100000, 512, 40, 109051904 },
	};
	struct iqcn_pi_params p = pi25;
	int i, sign;

	p.alpha = 0;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (sign = 1; sign >= -1; sign -= 2) {
			struct iqcn_pi pi = pi_with(500000, 2 * QUARTER);

			iqcn_pi_run(&pi, &p, rows[i].flows,
				    500000 + sign * (s64)rows[i].growth,
				    SECOND + rows[i].steps * STEP);
			KUNIT_EXPECT_EQ_MSG(test, pi.prob, 2 * QUARTER +
					    sign * (s64)rows[i].want,
					    "row %d, %d", i, sign);
		}
	}
}

/* Predicted growth does not count again when it happens */
static void pi_ahead_again_test(struct kunit *test)
{
	struct iqcn_pi pi = pi_with(400000, 0);
	struct iqcn_pi_params p = pi25;
	u64 now_ns = SECOND;
	s64 want = 0;
	u32 depth;
	int n;

	p.alpha = 0;
	/* 10,000 bytes in each step: 10,000 bytes are 8,388,608 */
	for (n = 1; n <= 5; n++) {
		depth = 400000 + n * 10000;
		now_ns += STEP;
		iqcn_pi_run(&pi, &p, 512, depth, now_ns);
		want += n == 1 ? 13 * 8388608 : 8388608;
		KUNIT_EXPECT_EQ_MSG(test, pi.prob, want, "step %d", n);
	}
	/* growth stops: only the actual growth still counts */
	for (n = 1; n < 4; n++) {
		now_ns += STEP;
		iqcn_pi_run(&pi, &p, 512, 450000, now_ns);
		KUNIT_EXPECT_EQ(test, pi.prob, 5 * 8388608);
	}
	/* depth -1,000, +1,000, unchanged: the predicted depth changes by
	 * -13,000, +25,000, -12,000
	 */
	now_ns += STEP;
	iqcn_pi_run(&pi, &p, 512, 449000, now_ns);
	KUNIT_EXPECT_EQ(test, pi.prob, 5 * 8388608 - 10905188);
	now_ns += STEP;
	iqcn_pi_run(&pi, &p, 512, 450000, now_ns);
	/* 25,000 bytes are 4,882,812.5 * 10^-9, or 20,971,517.8 */
	KUNIT_EXPECT_EQ(test, pi.prob, 5 * 8388608 - 10905188 + 20971517);
	now_ns += STEP;
	iqcn_pi_run(&pi, &p, 512, 450000, now_ns);
	/* 12,000 bytes are 2,343,750 * 10^-9, or 10,066,329.6 */
	KUNIT_EXPECT_EQ(test, pi.prob, 5 * 8388608 - 10905188 + 20971517 -
			10066329);
}

/* A queue that is empty at one step still counts as controlled */
static void pi_empty_test(struct kunit *test)
{
	struct iqcn_pi pi = pi_with(300000, 3 * QUARTER);
	u64 now_ns = SECOND + STEP;
	s64 want = 3 * QUARTER;

	/* error -300,000, growth -300,000 and predicted -900,000 */
	iqcn_pi_run(&pi, &pi25, 512, 0, now_ns);
	want -= 5033164 + 1006632960;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* empty again: error -1,200,000, the prediction is withdrawn */
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 0, now_ns);
	want += 754974720 - 20132659;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
	/* a backlog again: error -262,499, predicted depth 487,513 */
	now_ns += STEP;
	iqcn_pi_run(&pi, &pi25, 512, 37501, now_ns);
	want += 408955541 - 4403999;
	KUNIT_EXPECT_EQ(test, pi.prob, want);
}

static void pi_at_once_test(struct kunit *test)
{
	struct iqcn_pi one = pi_with(400000, 0);
	u64 now_ns = SECOND;
	s64 want = 0;
	int n;

	for (n = 1; n < 50; n++) {
		struct iqcn_pi pi = pi_with(400000, 0);

		now_ns += STEP;
		want += 1677721;
		iqcn_pi_run(&one, &pi25, 512, 400000, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, one.prob, want, "%d steps", n);
		iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, pi.prob, want, "%d steps", n);
	}
}

#define GAIN_MAX	100000000

static void pi_extremes_test(struct kunit *test)
{
	/* with the largest gains a step reaches a bound, unless its parts are
	 * 0 or cancel each other
	 */
	static const struct {
		u32 qref, before, depth, steps;
		s64 prob, want;
	} rows[] = {
		{ 1, 0, U32_MAX, 1, 0, ONE },
		{ 1, U32_MAX, U32_MAX, 1, ONE, ONE },
		{ 300000, 0, U32_MAX, 499, 0, ONE },
		{ 300000, U32_MAX, U32_MAX, 499, 0, ONE },
		{ 300000, U32_MAX, 0, 1, ONE, -SLACK },
		{ 300000, U32_MAX, 0, 499, ONE, -SLACK },
		{ 0x40000000, U32_MAX, U32_MAX, 1, 0, ONE },
		{ 0x40000000, 0, U32_MAX, 499, 0, ONE },
		{ 0x40000000, U32_MAX, 0, 499, ONE, -SLACK },
		{ U32_MAX, 0, U32_MAX, 1, 0, ONE },
		{ U32_MAX, U32_MAX, U32_MAX, 499, 12345, 12345 },
		{ U32_MAX, U32_MAX, U32_MAX, 499, -12345, -12345 },
		{ U32_MAX, U32_MAX, 0, 1, ONE, -SLACK },
		{ U32_MAX, 0, 0, 499, ONE, -SLACK },
		/* both parts cancel each other in one step, but not in two */
		{ 1000000, U32_MAX, 0x80000000, 1, 12345, 12345 },
		{ 1000000, U32_MAX, 0x80000000, 2, 12345, ONE },
		{ U32_MAX, 0, 0x80000000, 1, QUARTER, QUARTER },
		{ U32_MAX, 0, 0x80000000, 2, QUARTER, -SLACK },
	};
	static const u32 flows[] = { 0, 32, 512, 65536 };
	static const u32 updates_ns[] = { 10 * US, SECOND };
	int i, j, k;

	for (i = 0; i < ARRAY_SIZE(rows) * ARRAY_SIZE(updates_ns); i++) {
		k = i / ARRAY_SIZE(updates_ns);
		/* the controller would have stopped */
		if (rows[k].steps > 1 && updates_ns[i & 1] == SECOND)
			continue;
		for (j = 0; j < ARRAY_SIZE(flows); j++) {
			struct iqcn_pi_params p = {
				.qref_bytes = rows[k].qref,
				.polls_max = 1,
				.update_ns = updates_ns[i & 1],
				.alpha = GAIN_MAX,
				.beta = GAIN_MAX,
			};
			struct iqcn_pi pi = pi_with(rows[k].before,
						    rows[k].prob);
			u64 now_ns = SECOND +
				     rows[k].steps * (u64)p.update_ns;

			/* the queue was deep until then */
			pi.deep_ns = now_ns - 1;
			iqcn_pi_run(&pi, &p, flows[j], rows[k].depth, now_ns);
			KUNIT_EXPECT_EQ_MSG(test, pi.prob, rows[k].want,
					    "row %d, %u flows", k, flows[j]);
		}
	}
}

/* The expected change of the probability in units of 2^-32, rounded towards 0,
 * at most 2^32
 */
static s64 ref_change(u32 gain, s64 bytes, u32 flows)
{
	u64 share = ref_mul_div(bytes < 0 ? -bytes : bytes, gain * ONE,
				SECOND * max(flows, 512U));

	share = min(share, ONE);
	return bytes < 0 ? -(s64)share : (s64)share;
}

/* The depth predicted twelve steps ahead, at most 3 * qref above or below the
 * current depth
 */
static s64 ref_ahead(u32 qref, u32 before, u32 depth, u32 steps)
{
	u64 off = min(div_u64(12 * gap64(before, depth), steps), 3ULL * qref);

	return depth < before ? (s64)depth - (s64)off : (s64)(depth + off);
}

/* Expected probability after @steps steps */
static s64 ref_prob_after(const struct iqcn_pi_params *p,
			  const struct iqcn_pi *pi, u32 flows, u32 steps,
			  u32 depth)
{
	s64 above = (s64)depth - p->qref_bytes, prob, most;
	s64 ahead = ref_ahead(p->qref_bytes, pi->depth_bytes, depth, steps);

	if (above > 4LL * p->qref_bytes)
		above = 4LL * p->qref_bytes;
	if (depth <= p->qref_bytes / 32 &&
	    pi->depth_bytes <= p->qref_bytes / 32) {
		above = -4LL * p->qref_bytes;
		most = ONE;
	} else {
		most = p->polls_max * ONE;
	}
	prob = pi->prob + steps * ref_change(p->alpha, above, flows) +
	       ref_change(p->beta, ahead - pi->ahead_bytes, flows);
	if (prob < -SLACK)
		return -SLACK;
	return prob > most ? most : prob;
}

/* Split off a digit of base @n from a number */
static u32 pick(u32 *number, u32 n)
{
	u32 digit = *number % n;

	*number /= n;
	return digit;
}

/*
 * All combinations of extreme values.  A deeper queue never gives a lower
 * probability, which shows that nothing wraps, and the results agree with
 * ref_mul_div(), whose products are not limited to 64 bits.
 */
static void pi_corners_test(struct kunit *test)
{
	static const u32 depths[] = {
		0, 1, 37500, 0x3fffffff, 0x7fffffff, 0x80000000, U32_MAX,
	};
	static const u32 qrefs[] = {
		1, 8, 300000, 0x40000000, 0x80000000, U32_MAX,
	};
	static const struct {
		u32 alpha, beta;
	} gains[] = {
		{ GAIN_MAX, GAIN_MAX }, { GAIN_MAX, 1 }, { 1, GAIN_MAX },
	};
	static const u32 flows[] = { 0, 512, 2048, 1048576 };
	static const s64 probs[] = { -SLACK, 0, QUARTER, ONE };
	static const u32 all_steps[] = { 1, 2, 12, 499 };
	u32 n = ARRAY_SIZE(qrefs) * ARRAY_SIZE(gains) * ARRAY_SIZE(flows) *
		ARRAY_SIZE(probs) * ARRAY_SIZE(all_steps) *
		ARRAY_SIZE(depths) * 3;
	u32 i, j, r;

	for (i = 0; i < n; i++) {
		struct iqcn_pi_params p = {
			.update_ns = 10 * US,
			.polls_max = 1,
		};
		s64 last = -SLACK, ahead, prob;
		u32 before, steps, f;

		r = i / 3;
		before = depths[pick(&r, ARRAY_SIZE(depths))];
		steps = all_steps[pick(&r, ARRAY_SIZE(all_steps))];
		prob = probs[pick(&r, ARRAY_SIZE(probs))];
		f = flows[pick(&r, ARRAY_SIZE(flows))];
		p.qref_bytes = qrefs[pick(&r, ARRAY_SIZE(qrefs))];
		p.alpha = gains[r].alpha;
		p.beta = gains[r].beta;
		/* the queue shrank, kept its depth or grew before */
		ahead = before + (i % 3 - 1LL) * 3 * p.qref_bytes;
		for (j = 0; j < ARRAY_SIZE(depths); j++) {
			u64 now_ns = SECOND + steps * (u64)p.update_ns;
			struct iqcn_pi pi = pi_with(before, prob);
			s64 want;

			pi.ahead_bytes = ahead;
			pi.deep_ns = now_ns - 1;
			want = ref_prob_after(&p, &pi, f, steps, depths[j]);
			iqcn_pi_run(&pi, &p, f, depths[j], now_ns);
			KUNIT_ASSERT_GE_MSG(test, pi.prob, last,
					    "%u, depth %u", i, depths[j]);
			KUNIT_ASSERT_LE(test, pi.prob, (s64)ONE);
			/* each part is rounded to 10^-9: 4.3 units of 2^-32 */
			KUNIT_ASSERT_LE_MSG(test, abs(pi.prob - want),
					    6LL * (steps + 1),
					    "%u, depth %u: %lld, %lld", i,
					    depths[j], pi.prob, want);
			last = pi.prob;
		}
	}
}

/* The longest interval: depths between two steps do not count */
static void pi_second_test(struct kunit *test)
{
	struct iqcn_pi_params p = pi25;
	struct iqcn_pi pi = {};
	u64 now_ns = SECOND;
	int n;

	p.update_ns = SECOND;
	p.alpha = GAIN_MAX;
	p.beta = GAIN_MAX;
	for (n = 0; n < 1000; n++) {
		KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &p, 512, n & 1 ?
						    U32_MAX : 300000, now_ns));
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		now_ns += MS;
	}
	/* growth of one byte counts 13 times with the prediction and adds
	 * 2,539,062 * 10^-9; one byte above qref adds 195,312 * 10^-9
	 */
	iqcn_pi_run(&pi, &p, 512, 300001, now_ns);
	KUNIT_EXPECT_EQ(test, pi.prob, 10905188 + 838858);
	/* no call in a second: the controller stops */
	KUNIT_EXPECT_FALSE(test, iqcn_pi_run(&pi, &p, 512, 0,
					     now_ns + SECOND));
	KUNIT_EXPECT_EQ(test, pi.prob, 0);

	/* the latest possible step: 1.019999999 times one CNP per flow */
	now_ns = 2 * SECOND + END - 1;
	p.qref_bytes = U32_MAX;
	pi = pi_with(0, ONE);
	pi.deep_ns = now_ns - 1;
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &p, 512, 0, now_ns));
	KUNIT_EXPECT_EQ(test, pi.prob, (s64)ONE - 4380866637LL);
	p.qref_bytes = 0x30000000;
	pi = pi_with(U32_MAX, -SLACK);
	pi.deep_ns = now_ns - 1;
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &p, 512, U32_MAX, now_ns));
	KUNIT_EXPECT_EQ(test, pi.prob, 4380866637LL - SLACK);
}

/* Sequences of random steps */
static void pi_random_test(struct kunit *test)
{
	u32 inside = 0, none = 0, all = 0;
	struct rnd_state rnd;
	int i, n;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 5000; i++) {
		struct iqcn_pi_params p = {
			.qref_bytes = any_u32(&rnd) ?: 1,
			.polls_max = 1 + (i & 3),
			.update_ns = 10000,
			.alpha = any_u32(&rnd) % GAIN_MAX + 1,
			.beta = any_u32(&rnd) % GAIN_MAX + 1,
		};
		struct iqcn_pi pi = pi_with(any_u32(&rnd), any_u32(&rnd));
		/* the model */
		struct iqcn_pi ref = pi;
		u64 now_ns = SECOND;

		for (n = 0; n < 20 && iqcn_pi_runs(&pi); n++) {
			u32 depth = any_u32(&rnd), flows = any_u32(&rnd) >> 15;
			u32 steps = 1 + any_u32(&rnd) % 499;
			s64 want;

			/* sometimes the depth hardly changes */
			if (any_u32(&rnd) & 1)
				depth = ref.depth_bytes ^ any_u32(&rnd) >> 12;
			ref.prob = pi.prob;
			want = ref_prob_after(&p, &ref, flows, steps, depth);
			now_ns += steps * 10 * US;
			pi.deep_ns = now_ns - 1;
			iqcn_pi_run(&pi, &p, flows, depth, now_ns);
			/* each part is rounded to 10^-9: 4.3 units of 2^-32 */
			KUNIT_ASSERT_LE_MSG(test, abs(pi.prob - want),
					    6LL * (steps + 1),
					    "round %d, %d: %lld, %lld", i, n,
					    pi.prob, want);
			ref.ahead_bytes = ref_ahead(p.qref_bytes,
						    ref.depth_bytes, depth,
						    steps);
			ref.depth_bytes = depth;
			none += want == -SLACK;
			all += want == p.polls_max * ONE;
			inside += want > -SLACK &&
				  want < (s64)(p.polls_max * ONE) &&
				  want != ref.prob;
		}
	}
	KUNIT_EXPECT_GT(test, none, 1000);
	KUNIT_EXPECT_GT(test, all, 1000);
	KUNIT_EXPECT_GT(test, inside, 1000);
}

/* Each step removes a sixteenth, at least 1 */
static s64 ref_faded(s64 prob, u32 steps)
{
	s64 off = prob < 0 ? -prob : prob;

	while (steps--)
		off = off > 16 ? off - (off >> 4) : off ? off - 1 : 0;
	return prob < 0 ? -off : off;
}

static void pi_fade_test(struct kunit *test)
{
	static const s64 probs[] = { ONE, QUARTER, 1000 };
	static const s64 below[] = { -1000, -SLACK };
	struct iqcn_pi pi, one;
	u64 now_ns;
	u32 n, i;

	/* just before QUIET: 49.99999 steps of an error of -300,000.  The
	 * growth of -300,000 in 799 sixteenths of an interval predicts -72,090
	 * more, so the predicted depth is 372,090 lower.
	 */
	pi = pi_with(300000, 0x80000000);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 0,
					    SECOND + QUIET - 1));
	KUNIT_EXPECT_EQ(test, pi.prob, 0x80000000LL - 251658149 - 312131714);
	/* after QUIET: one fading step, whatever the depth */
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + QUIET - 1 + STEP));
	KUNIT_EXPECT_EQ(test, pi.prob, 1583693785 - 98980861);

	/* all steps at once */
	pi = pi_with(300000, 0x80000000);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 0,
					    SECOND + QUIET));
	KUNIT_EXPECT_EQ(test, pi.prob, ref_faded(0x80000000, 50));

	/* eleven steps halve the probability */
	pi = pi_with(0, 0x80000000);
	pi.step_ns = SECOND + QUIET;
	iqcn_pi_run(&pi, &pi25, 512, 0, SECOND + QUIET + 11 * STEP);
	KUNIT_EXPECT_GT(test, pi.prob, 0x80000000LL / 100 * 48);
	KUNIT_EXPECT_LT(test, pi.prob, 0x80000000LL / 100 * 51);

	/* single steps and all steps at once agree, down to 0 */
	for (i = 0; i < ARRAY_SIZE(probs); i++) {
		one = pi_with(0, probs[i]);
		one.step_ns = SECOND + QUIET;
		for (n = 1; n < 150 && iqcn_pi_runs(&one); n++) {
			s64 want = ref_faded(probs[i], n);

			pi = pi_with(0, probs[i]);
			pi.step_ns = SECOND + QUIET;
			now_ns = SECOND + QUIET + n * STEP;
			KUNIT_EXPECT_EQ(test, iqcn_pi_run(&one, &pi25, 512, 0,
							  now_ns), !!want);
			KUNIT_EXPECT_EQ(test, iqcn_pi_run(&pi, &pi25, 512, 0,
							  now_ns), !!want);
			KUNIT_EXPECT_EQ_MSG(test, one.prob, want,
					    "%lld, %u steps", probs[i], n);
			KUNIT_EXPECT_EQ_MSG(test, pi.prob, want,
					    "%lld, %u steps", probs[i], n);
		}
	}
	/* a negative probability remains only while the queue is deep */
	for (i = 0; i < ARRAY_SIZE(below); i++) {
		for (n = 1; n < 150; n++) {
			pi = pi_with(0, below[i]);
			pi.step_ns = SECOND + QUIET;
			now_ns = SECOND + QUIET + n * STEP;
			KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512,
							    400000, now_ns));
			KUNIT_EXPECT_EQ_MSG(test, pi.prob,
					    ref_faded(below[i], n),
					    "%lld, %u steps", below[i], n);
		}
	}
}

/* With a short interval any probability fades to 0 */
static void pi_faded_test(struct kunit *test)
{
	/* a negative probability remains only while the queue is deep */
	static const struct {
		s64 prob, left;
		u32 steps, depth;
	} rows[] = { { ONE, 1, 326, 0 }, { -SLACK, -1, 287, 400000 } };
	struct iqcn_pi_params p = pi25;
	struct iqcn_pi pi;
	u64 now_ns;
	int i;

	p.update_ns = 10 * US;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bool deep = rows[i].depth;

		pi = pi_with(0, rows[i].prob);
		pi.step_ns = SECOND + QUIET;
		now_ns = SECOND + QUIET + (rows[i].steps - 1) * 10 * US;
		KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &p, 512,
						    rows[i].depth, now_ns));
		KUNIT_EXPECT_EQ(test, pi.prob, rows[i].left);

		pi = pi_with(0, rows[i].prob);
		pi.step_ns = SECOND + QUIET;
		now_ns += 10 * US;
		KUNIT_EXPECT_EQ(test, iqcn_pi_run(&pi, &p, 512, rows[i].depth,
						  now_ns), deep);
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		KUNIT_EXPECT_EQ(test, iqcn_pi_runs(&pi), deep);

		/* the largest number of steps */
		pi = pi_with(0, rows[i].prob);
		KUNIT_EXPECT_EQ(test, iqcn_pi_run(&pi, &p, 512, rows[i].depth,
						  SECOND + END - 1), deep);
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
	}
}

/* Which depths count as deep, and when */
static void pi_deep_test(struct kunit *test)
{
	struct iqcn_pi pi;

	/* a deep queue between two steps counts: no fading yet */
	pi = pi_with(300000, QUARTER);
	iqcn_pi_run(&pi, &pi25, 512, 37501, SECOND + STEP / 2);
	iqcn_pi_run(&pi, &pi25, 512, 300000, SECOND + STEP / 2 + QUIET - 1);
	KUNIT_EXPECT_EQ(test, pi.prob, QUARTER);

	/* the wake depth itself does not count */
	pi = pi_with(300000, QUARTER);
	iqcn_pi_run(&pi, &pi25, 512, 37500, SECOND + STEP / 2);
	iqcn_pi_run(&pi, &pi25, 512, 300000, SECOND + STEP / 2 + QUIET - 1);
	KUNIT_EXPECT_EQ(test, pi.prob, ref_faded(QUARTER, 50));

	/* deep again after 6 ms: continue from the faded probability */
	pi = pi_with(300000, QUARTER);
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + 6 * MS);
	KUNIT_EXPECT_EQ(test, pi.prob, ref_faded(QUARTER, 60));
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + 6 * MS + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, ref_faded(QUARTER, 60) + 1677721);
}

static void pi_end_test(struct kunit *test)
{
	static const u64 ends_ns[] = {
		END, END + 1, END + STEP, 3600 * SECOND,
	};
	struct iqcn_pi pi = pi_with(300000, QUARTER);
	int i;

	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 0,
					    SECOND + END - 1));
	KUNIT_EXPECT_EQ(test, pi.prob, ref_faded(QUARTER, 199));
	KUNIT_EXPECT_GT(test, pi.prob, 0);
	for (i = 0; i < ARRAY_SIZE(ends_ns); i++) {
		u64 now_ns = SECOND + ends_ns[i];

		/* the controller stops, and only a deep queue restarts it */
		pi = pi_with(300000, QUARTER);
		KUNIT_EXPECT_FALSE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
						     now_ns));
		KUNIT_EXPECT_FALSE(test, iqcn_pi_runs(&pi));
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		KUNIT_EXPECT_EQ(test, iqcn_pi_prob(&pi, &pi25, U32_MAX), 0);
		now_ns += 12345;
		KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 400000,
						    now_ns));
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns + STEP);
		KUNIT_EXPECT_EQ(test, pi.prob, 1677721);

		/* stops and starts in the same call */
		now_ns = SECOND + ends_ns[i];
		pi = pi_with(300000, QUARTER);
		KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 400000,
						    now_ns));
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns + STEP - 1);
		KUNIT_EXPECT_EQ(test, pi.prob, 0);
		iqcn_pi_run(&pi, &pi25, 512, 400000, now_ns + STEP);
		KUNIT_EXPECT_EQ(test, pi.prob, 1677721);
	}
}

/* After QUIET the controller stops early if the probability is not above 0 and
 * the queue not deep
 */
static void pi_idle_test(struct kunit *test)
{
	struct iqcn_pi pi;

	/* before QUIET, a step at the wake depth subtracts this probability */
	pi = pi_with(37500, 4404016);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + STEP));
	KUNIT_EXPECT_EQ(test, pi.prob, 0);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + 2 * STEP));
	/* a negative probability is kept */
	KUNIT_EXPECT_EQ(test, pi.prob, -4404016);
	KUNIT_EXPECT_EQ(test, iqcn_pi_prob(&pi, &pi25, 37500), 0);
	/* the controller runs until QUIET */
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + QUIET - 1));
	KUNIT_EXPECT_FALSE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					     SECOND + QUIET - 1 + STEP));
	KUNIT_EXPECT_FALSE(test, iqcn_pi_runs(&pi));
	KUNIT_EXPECT_EQ(test, iqcn_pi_prob(&pi, &pi25, 37500), 0);

	/* fading leaves nothing: stop */
	pi = pi_with(37500, 50);
	KUNIT_EXPECT_FALSE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					     SECOND + QUIET));
	KUNIT_EXPECT_FALSE(test, iqcn_pi_runs(&pi));
	/* a new start: earlier depths and time do not count */
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 400000,
					    SECOND + 8 * MS));
	KUNIT_EXPECT_EQ(test, pi.prob, 0);
	iqcn_pi_run(&pi, &pi25, 512, 400000, SECOND + 8 * MS + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, 1677721);

	/* the queue is deep: continue */
	pi = pi_with(37500, -1000);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37501,
					    SECOND + QUIET));
	/* the probability is positive: continue */
	pi = pi_with(37500, 1000);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + QUIET));
	KUNIT_EXPECT_GT(test, pi.prob, 0);
	/* the controller stops only at a step, not between steps */
	pi = pi_with(37500, -1000);
	pi.step_ns = SECOND + QUIET - STEP / 2;
	KUNIT_EXPECT_TRUE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					    SECOND + QUIET + STEP / 2 - 1));
	KUNIT_EXPECT_FALSE(test, iqcn_pi_run(&pi, &pi25, 512, 37500,
					     SECOND + QUIET + STEP / 2));
}

static void pi_raised_test(struct kunit *test)
{
	static const struct {
		u32 qref, depth;
		s64 prob, want;
	} rows[] = {
		{ 300000, 0, 5000, 5000 },
		{ 300000, 300000, 5000, 5000 },
		{ 300000, 1200000, 5000, 5000 },
		/* 2^32 / 3,600,000 is 1,193.05 */
		{ 300000, 1200001, 5000, 5000 },
		{ 300000, 1200001, 0, 1193 },
		{ 300000, 1200004, 5000, 5000 },
		{ 300000, 1200005, 5000, 5965 },
		{ 300000, 2100000, 5000, QUARTER },
		{ 300000, 2100000, QUARTER - 1, QUARTER },
		{ 300000, 2100000, QUARTER + 1, QUARTER + 1 },
		{ 300000, 3000000, 0, 2 * QUARTER },
		{ 300000, 3900000, 0, 3 * QUARTER },
		{ 300000, 4799999, 0, ONE - 1194 },
		{ 300000, 4800000, 0, ONE },
		{ 300000, 4800001, 0, ONE },
		{ 300000, U32_MAX, 0, ONE },
		{ 300000, 1300000, ONE, ONE },
		/* never less than 0, and raised from there */
		{ 300000, 0, -1, 0 },
		{ 300000, 300000, -SLACK, 0 },
		{ 300000, 1200000, -SLACK, 0 },
		{ 300000, 1200001, -SLACK, 1193 },
		{ 300000, 3000000, -SLACK, 2 * QUARTER },
		{ 300000, 4800000, -SLACK, ONE },
		{ 1, 4, 0, 0 },
		{ 1, 5, 0, 357913941 },		/* a twelfth */
		{ 1, 7, 0, QUARTER },
		{ 1, 13, 0, 3 * QUARTER },
		{ 1, 16, 0, ONE },
		{ 1, U32_MAX, 0, ONE },
		/* sixteen times qref exceeds 32 bits */
		{ 0x10000000, U32_MAX, 0, ONE - 2 },
		{ 0x20000000, 0x80000000, 0, 0 },
		{ 0x20000000, 0x80000001, 0, 0 },	/* two thirds */
		{ 0x20000000, 0x80000002, 0, 1 },
		{ 0x20000000, 0xc0000000, 0, 715827882 },	/* a sixth */
		{ 0x20000000, U32_MAX, 0, 1431655764 },
		/* four times qref exceeds 32 bits, too */
		{ 0x40000000, U32_MAX, 5000, 5000 },
		{ U32_MAX, U32_MAX, 5000, 5000 },
		{ U32_MAX, U32_MAX, -SLACK, 0 },
	};
	struct iqcn_pi_params p = pi25;
	struct iqcn_pi pi;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		p.qref_bytes = rows[i].qref;
		pi = pi_with(0, rows[i].prob);
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_pi_prob(&pi, &p, rows[i].depth),
				    rows[i].want, "row %d", i);
	}
	/* not raised while the controller is stopped */
	memset(&pi, 0, sizeof(pi));
	KUNIT_EXPECT_EQ(test, iqcn_pi_prob(&pi, &pi25, 4800000), 0);
}

static void pi_monotone_test(struct kunit *test)
{
	static const s64 probs[] = { -SLACK, 0, 1677721, QUARTER, ONE };
	u64 last, got;
	u32 depth;
	int i;

	for (i = 0; i < ARRAY_SIZE(probs); i++) {
		struct iqcn_pi pi = pi_with(0, probs[i]);

		last = 0;
		for (depth = 1100000; depth <= 4800000; depth += 37) {
			got = iqcn_pi_prob(&pi, &pi25, depth);
			KUNIT_ASSERT_GE_MSG(test, got, last, "depth %u",
					    depth);
			KUNIT_ASSERT_GE(test, (s64)got, probs[i]);
			/* 37 bytes raise the result by at most 44,142.7 */
			if (depth > 1100000)
				KUNIT_ASSERT_LE(test, got - last, 44143);
			last = got;
		}
		/* 1,100,000 + 37 * 100,000 is the last depth */
		KUNIT_EXPECT_EQ(test, last, ONE);
	}
}

static void pi_credit_test(struct kunit *test)
{
	static const u64 probs[] = {
		0, 1, 1000, 419429, 4294967, 4294968, 0x12345678, QUARTER,
		1431655765, 1431655766, 2 * QUARTER, 2 * QUARTER + 1,
		3 * QUARTER + 7, U32_MAX - 1, U32_MAX, ONE,
	};
	static const u32 credits[] = { 0, 1, 0x80000000, U32_MAX - 1, U32_MAX };
	int i, j, n;

	for (i = 0; i < ARRAY_SIZE(probs); i++) {
		for (j = 0; j < ARRAY_SIZE(credits); j++) {
			u64 floor = 1000 * probs[i] / ONE;
			u64 ceil = (1000 * probs[i] + ONE - 1) / ONE;
			int last = -1, least = 1001, most = 0;
			u32 credit = credits[j], cnps = 0;

			for (n = 0; n < 1000; n++) {
				if (!iqcn_pi_credit(&credit, probs[i], 1))
					continue;
				if (last >= 0) {
					least = min(least, n - last);
					most = max(most, n - last);
				}
				last = n;
				cnps++;
			}
			KUNIT_EXPECT_GE_MSG(test, cnps, floor, "%llu from %u",
					    probs[i], credits[j]);
			KUNIT_EXPECT_LE_MSG(test, cnps, ceil, "%llu from %u",
					    probs[i], credits[j]);
			/* the exact number, from the initial credit */
			KUNIT_EXPECT_EQ_MSG(test, cnps,
					    (credits[j] + 1000 * probs[i]) >>
					    32, "%llu from %u", probs[i],
					    credits[j]);
			/* evenly spaced */
			if (most)
				KUNIT_EXPECT_LE_MSG(test, most - least, 1,
						    "%llu from %u", probs[i],
						    credits[j]);
			/* probabilities of 0 and 1 */
			if (!probs[i])
				KUNIT_EXPECT_EQ(test, cnps, 0);
			if (probs[i] == ONE)
				KUNIT_EXPECT_EQ(test, cnps, 1000);
		}
	}
}

/* GSO: several polls at once */
static void pi_polls_test(struct kunit *test)
{
	static const struct {
		u32 credit;
		u64 prob;
		u32 polls;
		bool notified;
		u32 left;
	} rows[] = {
		{ 0, QUARTER, 3, false, 0xc0000000 },
		{ 0xc0000000, QUARTER, 1, true, 0 },
		{ 0, QUARTER, 4, true, 0 },
		{ 0, QUARTER, 10, true, 0x80000000 },
		{ 1, QUARTER, 45, true, 0x40000001 },
		{ 0, ONE, 1, true, 0 },
		{ 5, ONE, 45, true, 5 },
		{ 0, 10, 45, false, 450 },
		{ U32_MAX, 0, 45, false, U32_MAX },
		{ U32_MAX, 1, 1, true, 0 },
		{ U32_MAX - 45, 1, 45, false, U32_MAX },
		{ U32_MAX - 44, 1, 45, true, 0 },
		{ 7, ONE, 0, false, 7 },
		/* the full range of 64 bits */
		{ U32_MAX, ONE, U32_MAX, true, U32_MAX },
		{ 0, U32_MAX, U32_MAX, true, 1 },
		{ 0, 1, U32_MAX, false, U32_MAX },
		{ 1, 1, U32_MAX, true, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 credit = rows[i].credit;

		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_pi_credit(&credit, rows[i].prob,
						   rows[i].polls),
				    rows[i].notified, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, credit, rows[i].left, "row %d", i);
	}
}

/* A flow that cannot be notified saves credit, up to just below a CNP */
static void pi_save_test(struct kunit *test)
{
	static const struct {
		u32 credit;
		u64 prob;
		u32 polls, left;
	} rows[] = {
		{ 0, 0, 1, 0 },
		{ 7, ONE, 0, 7 },
		{ 0, QUARTER, 1, 0x40000000 },
		{ 5, QUARTER, 3, 0xc0000005 },
		{ 0, QUARTER, 4, U32_MAX },
		{ 0xc0000000, QUARTER, 1, U32_MAX },
		{ 0xbfffffff, QUARTER, 1, U32_MAX },
		{ 0xbffffffe, QUARTER, 1, U32_MAX - 1 },
		{ 0, ONE, 1, U32_MAX },
		{ U32_MAX, 0, 45, U32_MAX },
		{ U32_MAX, 1, 1, U32_MAX },
		{ U32_MAX - 46, 1, 45, U32_MAX - 1 },
		{ U32_MAX - 44, 1, 45, U32_MAX },
		/* the full range of 64 bits */
		{ U32_MAX, ONE, U32_MAX, U32_MAX },
		{ 0, 1, U32_MAX, U32_MAX },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 credit = rows[i].credit;

		iqcn_pi_save(&credit, rows[i].prob, rows[i].polls);
		KUNIT_EXPECT_EQ_MSG(test, credit, rows[i].left, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_pi_credit(&credit, 1, 1),
				    rows[i].left == U32_MAX, "row %d", i);
	}
}

/*
 * A model of a link of 25 Gb/s that is fully loaded at the start.  20 CNPs per
 * round keep the load constant.  One CNP less or more changes the load by
 * 3 * 10^10 B/s per second (pi.h), without damping.  CNPs take effect after
 * 100 us.
 */
#define LOOP_LINK	3125000000LL
#define LOOP_CNPS	20000000LL	/* millionths */
#define LOOP_LAG_US	100
#define LOOP_US		10
#define LOOP_STEP_US	100
#define LOOP_END_US	200000

struct loop {
	s64 cnps;
	s64 over;
	s64 depth;
	u32 early_max;
	u32 late_min;
	u32 late_max;
};

/* Run the model for LOOP_US with @cnps millionths of a CNP per round */
static void turn_loop(struct loop *l, u32 us, s64 cnps)
{
	l->cnps += div_s64((cnps - l->cnps) * LOOP_US, LOOP_LAG_US);
	/* 3 * 10^10 B/s^2 are 0.3 B/s in 10 us per millionth */
	l->over += div_s64((LOOP_CNPS - l->cnps) * 3, 10);
	/* the load is never negative */
	l->over = max(l->over, -LOOP_LINK);
	l->depth += div_s64(l->over * LOOP_US, 1000000);
	l->depth = max(l->depth, 0LL);
	if (us >= 20000)
		l->early_max = max_t(u32, l->early_max, l->depth);
	if (us >= 100000) {
		l->late_max = max_t(u32, l->late_max, l->depth);
		l->late_min = min_t(u32, l->late_min, l->depth);
	}
}

static void run_loop(const struct iqcn_pi_params *p, u32 flows, struct loop *l)
{
	struct iqcn_pi pi = {};
	u64 prob;
	u32 us;

	memset(l, 0, sizeof(*l));
	l->late_min = U32_MAX;
	for (us = LOOP_US; us < LOOP_END_US; us += LOOP_US) {
		iqcn_pi_run(&pi, p, flows, l->depth, SECOND + us * US);
		prob = iqcn_pi_prob(&pi, p, l->depth);
		/* with a probability of up to 1, 2^11 * 2^32 * 10^6 is below
		 * 2^63
		 */
		turn_loop(l, us, flows * prob * 1000000 >> 32);
	}
}

/* A textbook controller in units of 10^-9 CNPs, which predicts the depth in
 * @steps_ahead steps
 */
static void run_plain_loop(u32 steps_ahead, struct loop *l)
{
	s64 last = 0, last_ahead = 0, ahead, nano = 0;
	u32 us;

	memset(l, 0, sizeof(*l));
	l->late_min = U32_MAX;
	for (us = LOOP_US; us < LOOP_END_US; us += LOOP_US) {
		if (us % LOOP_STEP_US == 0) {
			ahead = l->depth + steps_ahead * (l->depth - last);
			nano += 2000 * (l->depth - 300000) +
				100000 * (ahead - last_ahead);
			nano = clamp_t(s64, nano, 0, 512 * (s64)SECOND);
			last = l->depth;
			last_ahead = ahead;
		}
		turn_loop(l, us, div_s64(nano, 1000));
	}
}

static void pi_loop_test(struct kunit *test)
{
	/* 64 flows count as 512, so the loop gain is an eighth */
	static const struct {
		u32 flows, early_max, late_off;
	} rows[] = {
		{ 64, 600000, 6000 },
		{ 512, 303000, 300 },
		{ 2048, 303000, 300 },
	};
	struct loop l;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		run_loop(&pi25, rows[i].flows, &l);
		KUNIT_EXPECT_LE_MSG(test, l.early_max, rows[i].early_max,
				    "%u flows", rows[i].flows);
		KUNIT_EXPECT_GE_MSG(test, l.late_min,
				    300000 - rows[i].late_off, "%u flows",
				    rows[i].flows);
		KUNIT_EXPECT_LE_MSG(test, l.late_max,
				    300000 + rows[i].late_off, "%u flows",
				    rows[i].flows);
		/* within 1 % */
		KUNIT_EXPECT_LE_MSG(test, gap64(l.cnps, LOOP_CNPS), 200000,
				    "%u flows", rows[i].flows);
	}
}

/* The reference follows the load.  With 128 flows or more, the queue is short
 * and the link stays busy; with 64 flows the model oscillates (pi.h).
 */
static void pi_follow_loop_test(struct kunit *test)
{
	static const struct {
		u32 flows, late_min, late_max;
	} rows[] = {
		/* counts as 512: a quarter of the loop gain */
		{ 128, 37000, 90000 },
		{ 512, 37000, 48000 },
		{ 2048, 37000, 48000 },
	};
	struct iqcn_pi_params p = pi25;
	struct loop l;
	int i;

	p.follows = true;
	p.polls_max = 4;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		run_loop(&p, rows[i].flows, &l);
		KUNIT_EXPECT_GE_MSG(test, l.late_min, rows[i].late_min,
				    "%u flows", rows[i].flows);
		KUNIT_EXPECT_LE_MSG(test, l.late_max, rows[i].late_max,
				    "%u flows", rows[i].flows);
	}

	/* an eighth of the loop gain */
	run_loop(&p, 64, &l);
	KUNIT_EXPECT_EQ(test, l.late_min, 0);
	KUNIT_EXPECT_GT(test, l.late_max, 300000);
}

/* Without one of its parts the loop rings or does not settle at qref */
static void pi_rings_test(struct kunit *test)
{
	struct iqcn_pi_params p = pi25;
	struct loop l;

	/* the textbook controller settles if it predicts */
	run_plain_loop(12, &l);
	KUNIT_EXPECT_LE(test, l.early_max, 303000);
	KUNIT_EXPECT_GE(test, l.late_min, 299700);
	KUNIT_EXPECT_LE(test, l.late_max, 300300);
	/* without a prediction the queue is empty and full in turn */
	run_plain_loop(0, &l);
	KUNIT_EXPECT_EQ(test, l.late_min, 0);
	KUNIT_EXPECT_GT(test, l.late_max, 450000);

	/* the same without the proportional part */
	p.beta = 0;
	run_loop(&p, 512, &l);
	KUNIT_EXPECT_EQ(test, l.late_min, 0);
	KUNIT_EXPECT_GT(test, l.late_max, 1000000);
	/* without the integral part it settles away from qref */
	p = pi25;
	p.alpha = 0;
	run_loop(&p, 512, &l);
	KUNIT_EXPECT_LT(test, l.late_max, 270000);
	KUNIT_EXPECT_LT(test, l.late_max - l.late_min, 3000);
}

/* A skipped period changes neither the probability nor the integral part of
 * later steps
 */
static void pi_skip_test(struct kunit *test)
{
	struct iqcn_pi pi = {}, other;
	u64 t;

	iqcn_pi_skip(&pi, SECOND, 1000, SECOND);
	KUNIT_EXPECT_FALSE(test, iqcn_pi_runs(&pi));
	for (t = SECOND; t < SECOND + 2 * MS; t += 100 * US)
		iqcn_pi_run(&pi, &pi25, 600, 400000, t);
	other = pi;
	/* ten seconds, in which the queue has grown to 5,000,000 bytes */
	iqcn_pi_skip(&other, 10 * SECOND, 5000000, t + 10 * SECOND);
	KUNIT_EXPECT_EQ(test, other.prob, pi.prob);
	/* a step without growth: only the integral part counts */
	other.ahead_bytes = pi.ahead_bytes;
	other.depth_bytes = pi.depth_bytes;
	iqcn_pi_run(&pi, &pi25, 600, 400000, t);
	iqcn_pi_run(&other, &pi25, 600, 400000, t + 10 * SECOND);
	KUNIT_EXPECT_EQ(test, other.prob, pi.prob);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_runs(&other));
	/* a step was made in the period: iqcn_pi_skip() does not move the time
	 * of that step into the future
	 */
	iqcn_pi_skip(&other, SECOND, 400000, t + 10 * SECOND);
	KUNIT_EXPECT_LE(test, other.step_ns, t + 10 * SECOND);
	iqcn_pi_run(&other, &pi25, 600, 400000, t + 10 * SECOND + 1);
	KUNIT_EXPECT_TRUE(test, iqcn_pi_runs(&other));
}

static void pi_follow_test(struct kunit *test)
{
	/* a step raises the reference by 18,750 or lowers it by 292 */
	static const struct {
		u32 lowered, before, depth, steps, want;
	} rows[] = {
		{ 0, 300000, 300000, 1, 299708 },
		{ 0, 300000, 300000, 10, 297071 },
		{ 0, 0, 300000, 1, 299708 },
		/* not below the wake depth */
		{ 262208, 300000, 300000, 1, 37500 },
		{ 262500, 300000, 300000, 1, 37500 },
		{ U32_MAX, 300000, 300000, 49, 37500 },
		/* dry at both ends of the interval, then at one end only */
		{ 262500, 9375, 9375, 1, 56250 },
		{ 262500, 0, 0, 13, 281250 },
		{ U32_MAX, 9375, 9375, 1, 56250 },
		{ 200000, 9376, 9375, 1, 99708 },
		{ 200000, 9375, 9376, 1, 99708 },
		/* not above qref */
		{ 18751, 0, 0, 1, 299999 },
		{ 18750, 0, 0, 1, 300000 },
		{ 10000, 0, 0, 1, 300000 },
		{ 262500, 0, 0, 15, 300000 },
	};
	struct iqcn_pi_params p = pi25;
	struct iqcn_pi pi;
	s64 change;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		p.follows = true;
		pi = pi_with(rows[i].before, ONE);
		pi.lowered_bytes = rows[i].lowered;
		iqcn_pi_run(&pi, &p, 512, rows[i].depth,
			    SECOND + rows[i].steps * STEP);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_pi_ref_bytes(&pi, &p),
				    rows[i].want, "row %d", i);
		/* qref is set: the reference is fixed */
		p.follows = false;
		KUNIT_EXPECT_EQ_MSG(test, iqcn_pi_ref_bytes(&pi, &p), 300000,
				    "row %d", i);
	}

	/* a dry queue raises the reference only if p > 0 after the step */
	p.follows = true;
	/* the error of a dry queue is -4 times the reference, which is 100,000
	 */
	change = iqcn_pi_change(-2000LL * 400000, 512);
	for (i = 0; i < 2; i++) {
		pi = pi_with(0, i - change);
		pi.lowered_bytes = 200000;
		iqcn_pi_run(&pi, &p, 512, 0, SECOND + STEP);
		KUNIT_EXPECT_EQ(test, pi.prob, i);
		KUNIT_EXPECT_EQ(test, iqcn_pi_ref_bytes(&pi, &p),
				i ? 118750 : 99708);
	}
}

/* A reference that follows the load starts at the wake depth, and the error is
 * the distance from the current reference
 */
static void pi_ref_test(struct kunit *test)
{
	struct iqcn_pi_params p = pi25;
	struct iqcn_pi pi = {};

	iqcn_pi_run(&pi, &p, 512, 37501, SECOND);
	KUNIT_EXPECT_EQ(test, iqcn_pi_ref_bytes(&pi, &p), 300000);
	memset(&pi, 0, sizeof(pi));
	p.follows = true;
	iqcn_pi_run(&pi, &p, 512, 37501, SECOND);
	KUNIT_EXPECT_EQ(test, iqcn_pi_ref_bytes(&pi, &p), 37500);

	pi = pi_with(100000, QUARTER);
	pi.lowered_bytes = 200000;
	iqcn_pi_run(&pi, &p, 512, 100000, SECOND + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, QUARTER);
	/* limits do not move with the reference */
	pi = pi_with(2000000, QUARTER);
	pi.lowered_bytes = 200000;
	iqcn_pi_run(&pi, &p, 512, 2000000, SECOND + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob,
			QUARTER + iqcn_pi_change(2000LL * 1200000, 512));
}

/* Senders that speed up more often than once per T1 */
static void pi_polls_max_test(struct kunit *test)
{
	struct iqcn_pi_params p = pi25;
	struct iqcn_pi pi;
	u32 credit = 7;

	p.polls_max = 4;
	KUNIT_EXPECT_EQ(test, iqcn_pi_polls(&p, 0), 1);
	KUNIT_EXPECT_EQ(test, iqcn_pi_polls(&p, 1), 1);
	KUNIT_EXPECT_EQ(test, iqcn_pi_polls(&p, ONE), 1);
	KUNIT_EXPECT_EQ(test, iqcn_pi_polls(&p, ONE + 1), 2);
	KUNIT_EXPECT_EQ(test, iqcn_pi_polls(&p, 2 * ONE), 2);
	KUNIT_EXPECT_EQ(test, iqcn_pi_polls(&p, 4 * ONE), 4);
	p.polls_max = 2;
	KUNIT_EXPECT_EQ(test, iqcn_pi_polls(&p, 4 * ONE), 2);

	p.polls_max = 4;
	pi = pi_with(400000, ONE);
	iqcn_pi_run(&pi, &p, 512, 400000, SECOND + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, (s64)ONE + 1677721);
	KUNIT_EXPECT_EQ(test, iqcn_pi_prob(&pi, &p, 400000), ONE + 1677721);
	/* the depth raises a probability only as far as 1 */
	KUNIT_EXPECT_EQ(test, iqcn_pi_prob(&pi, &p, 4800000), ONE + 1677721);
	pi.prob = 4 * ONE;
	iqcn_pi_run(&pi, &p, 512, 400000, SECOND + 2 * STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, 4 * ONE);
	/* 1,000 CNPs per T1 */
	iqcn_pi_limit(&pi, 225, 225000, 250);
	KUNIT_EXPECT_EQ(test, pi.prob, 4 * ONE);
	iqcn_pi_limit(&pi, 225, 225000, 400);
	KUNIT_EXPECT_EQ(test, pi.prob, 5 * ONE / 2);
	iqcn_pi_limit(&pi, 225, 225000, 0);
	KUNIT_EXPECT_EQ(test, pi.prob, 5 * ONE / 2);
	iqcn_pi_limit(&pi, 225, 225000, 1001);
	KUNIT_EXPECT_EQ(test, pi.prob, ONE);
	pi.prob = QUARTER;
	iqcn_pi_limit(&pi, 225, 225000, 4000);
	KUNIT_EXPECT_EQ(test, pi.prob, QUARTER);

	/* while the queue is dry, the probability is capped at 1 */
	pi = pi_with(9376, 3 * ONE);
	iqcn_pi_run(&pi, &p, 512, 9375, SECOND + STEP);
	KUNIT_EXPECT_GT(test, pi.prob, 2 * ONE);
	iqcn_pi_run(&pi, &p, 512, 9376, SECOND + 2 * STEP);
	KUNIT_EXPECT_GT(test, pi.prob, 2 * ONE);
	pi = pi_with(9375, 3 * ONE);
	iqcn_pi_run(&pi, &p, 512, 9375, SECOND + STEP);
	KUNIT_EXPECT_EQ(test, pi.prob, ONE);

	KUNIT_EXPECT_TRUE(test, iqcn_pi_credit(&credit, 3 * ONE + 5, 1));
	KUNIT_EXPECT_EQ(test, credit, 12);
}

static struct kunit_case pi_test_cases[] = {
	KUNIT_CASE(pi_defaults_test),
	KUNIT_CASE(pi_begin_test),
	KUNIT_CASE(pi_note_test),
	KUNIT_CASE(pi_when_test),
	KUNIT_CASE(pi_steps_test),
	KUNIT_CASE(pi_ahead_test),
	KUNIT_CASE(pi_ahead_again_test),
	KUNIT_CASE(pi_empty_test),
	KUNIT_CASE(pi_at_once_test),
	KUNIT_CASE(pi_extremes_test),
	KUNIT_CASE(pi_corners_test),
	KUNIT_CASE(pi_second_test),
	KUNIT_CASE(pi_random_test),
	KUNIT_CASE(pi_fade_test),
	KUNIT_CASE(pi_faded_test),
	KUNIT_CASE(pi_deep_test),
	KUNIT_CASE(pi_end_test),
	KUNIT_CASE(pi_idle_test),
	KUNIT_CASE(pi_raised_test),
	KUNIT_CASE(pi_monotone_test),
	KUNIT_CASE(pi_credit_test),
	KUNIT_CASE(pi_polls_test),
	KUNIT_CASE(pi_save_test),
	KUNIT_CASE(pi_loop_test),
	KUNIT_CASE(pi_rings_test),
	KUNIT_CASE(pi_skip_test),
	KUNIT_CASE(pi_follow_test),
	KUNIT_CASE(pi_follow_loop_test),
	KUNIT_CASE(pi_ref_test),
	KUNIT_CASE(pi_polls_max_test),
	{}
};

static struct kunit_suite pi_suite = {
	.name = "iqcn_pi",
	.test_cases = pi_test_cases,
};

kunit_test_suite(pi_suite);
