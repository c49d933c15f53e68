// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of rocehost's pure functions: RP, NP, RC, pacing, arrivals,
 * windows, telemetry.
 *
 * Expected values follow from the published rules (see rp.h).  They are
 * computed by hand, or in the tests with integer fractions.
 */
#include <kunit/test.h>

#include "arrive.h"
#include "np.h"
#include "pace.h"
#include "rc.h"
#include "rp.h"
#include "telemetry.h"
#include "win.h"

#define MBIT	1000000ULL
#define GBIT	1000000000ULL
#define US	1000ULL

static const struct rp_params paper = {
	.style = RP_PAPER,
	.line_bps = 40 * GBIT,
	.min_bps = 100 * MBIT,
	.alpha_ns = 55 * US,
	.increase_ns = 55 * US,
	.bytes = 10000000,
	.g = RP_ONE / 256,
	.f = 5,
	.rai_bps = 40 * MBIT,
	.rhai_bps = 200 * MBIT,
	.first_percent = 100,
};

static const struct rp_params connectx = {
	.style = RP_CONNECTX,
	.line_bps = 25 * GBIT,
	.min_bps = 1 * MBIT,
	.alpha_ns = 55 * US,
	.reduce_ns = 4 * US,
	.increase_ns = 300 * US,
	.g = RP_ONE / 256,
	.f = 1,
	.rai_bps = 5 * MBIT,
	.rhai_bps = 50 * MBIT,
	.first_percent = 100,
};

/* Equal except for rounding: one part in a million */
#define EXPECT_NEAR(test, got, want)					\
	do {								\
		u64 g_ = (got), w_ = (want);				\
									\
		KUNIT_EXPECT_LE_MSG(test, max(g_, w_) - min(g_, w_),	\
				    w_ / 1000000 + 1, #got " is %llu, not %llu", \
				    g_, w_);				\
	} while (0)

static struct rp rp_new(const struct rp_params *p, u64 rate_bps)
{
	struct rp rp = {};

	rp_start(&rp, p, rate_bps, 0);
	return rp;
}

/* Paper: alpha is 1 at first, so the first CNP halves Rc; Rt is the old Rc */
static void rp_paper_cut(struct kunit *test)
{
	struct rp rp = rp_new(&paper, 40 * GBIT);

	KUNIT_EXPECT_EQ(test, rp_next_ns(&rp), RP_NEVER);
	KUNIT_EXPECT_EQ(test, rp_cnp(&rp, &paper, 1000), RP_CUT);
	EXPECT_NEAR(test, rp.rc_bps, 20 * GBIT);
	EXPECT_NEAR(test, rp.rt_bps, 40 * GBIT);
	KUNIT_EXPECT_EQ(test, rp.increase_due_ns, 1000 + 55 * US);

	/* a second CNP at once cuts the current rate, with alpha still 1, and
	 * resets all stages and counters
	 */
	rp_sent(&rp, &paper, paper.bytes + 5);
	rp_run(&rp, &paper);
	rp.rc_bps = 20 * GBIT;
	KUNIT_EXPECT_EQ(test, rp_cnp(&rp, &paper, 2000), RP_CUT);
	EXPECT_NEAR(test, rp.rc_bps, 10 * GBIT);
	EXPECT_NEAR(test, rp.rt_bps, 20 * GBIT);
	KUNIT_EXPECT_EQ(test, rp.increase_due_ns, 2000 + 55 * US);
	KUNIT_EXPECT_EQ(test, rp.time_stage + rp.byte_stage, 0);
	KUNIT_EXPECT_EQ(test, rp.byte_count, 0);
}

/* Paper: alpha = (1 - g) alpha after 55 us without a CNP, and
 * alpha = (1 - g) alpha + g at a CNP
 */
static void rp_paper_alpha(struct kunit *test)
{
	struct rp rp = rp_new(&paper, 40 * GBIT);
	u64 alpha = RP_ONE;
	int i;

	rp_cnp(&rp, &paper, 0);
	for (i = 0; i < 10; i++)
		alpha = alpha * 255 / 256;
	alpha = alpha * 255 / 256 + RP_ONE / 256;
	rp.rc_bps = 40 * GBIT;
	rp_cnp(&rp, &paper, 10 * 55 * US + 1);
	EXPECT_NEAR(test, rp.alpha, alpha);
	EXPECT_NEAR(test, rp.rc_bps,
		    40 * GBIT - mul_u64_u64_shr(40 * GBIT, alpha, 33));
	/* after a long time alpha has decayed to 0 */
	rp_alpha_catch_up(&rp, &paper, 3600ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, rp.alpha, 0);
}

/* Paper: F halvings towards Rt, then RAI per step, by the timer alone */
static void rp_paper_raise(struct kunit *test)
{
	struct rp rp = rp_new(&paper, 40 * GBIT);
	u64 rc = 20 * GBIT, rt = 40 * GBIT, at = 55 * US;
	struct rp_params p = paper;
	int i;

	p.line_bps = 400 * GBIT;
	rp_cnp(&rp, &p, 0);
	for (i = 0; i < 12; i++, at += 55 * US) {
		KUNIT_ASSERT_EQ(test, rp_next_ns(&rp), at);
		if (i >= 5)
			rt += 40 * MBIT;
		rc = (rc + rt) / 2;
		KUNIT_EXPECT_EQ(test, rp_run(&rp, &p), RP_RAISED);
		EXPECT_NEAR(test, rp.rc_bps, rc);
		EXPECT_NEAR(test, rp.rt_bps, rt);
	}
}

/* Paper: when both stages have reached F, a step adds RHAI * (S - F + 1), where
 * S is the lower stage
 */
static void rp_paper_hyper(struct kunit *test)
{
	struct rp rp = rp_new(&paper, 40 * GBIT);
	struct rp_params p = paper;
	u64 rt;
	int i;

	p.line_bps = 400 * GBIT;
	rp_cnp(&rp, &p, 0);
	for (i = 0; i < 5; i++)
		rp_run(&rp, &p);
	for (i = 0; i < 5; i++)
		rp_sent(&rp, &p, 10000000);
	/* stages 5 and 5: both have reached F */
	for (i = 1; i <= 3; i++) {
		rt = rp.rt_bps;
		rp_run(&rp, &p);
		EXPECT_NEAR(test, rp.rt_bps, rt + 200 * MBIT);
	}
	/* with two more byte stages the stages are 8 and 7: the lower counts */
	rp_sent(&rp, &p, 10000000);
	rp_sent(&rp, &p, 10000000);
	rt = rp.rt_bps;
	rp_run(&rp, &p);
	EXPECT_NEAR(test, rp.rt_bps, rt + 3 * 200 * MBIT);
}

/* ConnectX: the first CNP starts the clocks, and the next tick of the reduce
 * clock cuts with alpha 1
 */
static void rp_connectx_cut(struct kunit *test)
{
	struct rp rp = rp_new(&connectx, 25 * GBIT);

	KUNIT_EXPECT_EQ(test, rp_cnp(&rp, &connectx, 1000), RP_NOTHING);
	EXPECT_NEAR(test, rp.rc_bps, 25 * GBIT);
	KUNIT_EXPECT_EQ(test, rp_next_ns(&rp), 1000 + 4 * US);
	/* more CNPs before the tick change nothing */
	rp_cnp(&rp, &connectx, 2000);
	rp_cnp(&rp, &connectx, 3000);
	KUNIT_EXPECT_EQ(test, rp_next_ns(&rp), 1000 + 4 * US);
	KUNIT_EXPECT_EQ(test, rp_run(&rp, &connectx), RP_CUT);
	EXPECT_NEAR(test, rp.rc_bps, 25 * GBIT / 2);
	EXPECT_NEAR(test, rp.rt_bps, 25 * GBIT);
	KUNIT_EXPECT_EQ(test, rp_next_ns(&rp), 5 * US + 300 * US);

	/* the phase of the clock is constant: 1 us + k * 4 us */
	rp_cnp(&rp, &connectx, 30 * US);
	KUNIT_EXPECT_EQ(test, rp_next_ns(&rp), 33 * US);
}

/* ConnectX: a cut after a cut does not change Rt, unless clamped */
static void rp_connectx_clamp(struct kunit *test)
{
	struct rp_params p = connectx;
	struct rp rp;

	rp = rp_new(&p, 25 * GBIT);
	rp_cnp(&rp, &p, 0);
	rp_run(&rp, &p);
	rp_cnp(&rp, &p, 10 * US);
	rp_run(&rp, &p);
	EXPECT_NEAR(test, rp.rt_bps, 25 * GBIT);
	/* after an increase a cut changes Rt */
	rp_run(&rp, &p);
	EXPECT_NEAR(test, rp.rc_bps, (25 * GBIT + 25 * GBIT / 4) / 2);
	rp_cnp(&rp, &p, 320 * US);
	rp_run(&rp, &p);
	EXPECT_NEAR(test, rp.rt_bps, (25 * GBIT + 25 * GBIT / 4) / 2);

	p.clamp = 1;
	rp = rp_new(&p, 25 * GBIT);
	rp_cnp(&rp, &p, 0);
	rp_run(&rp, &p);
	rp_cnp(&rp, &p, 10 * US);
	rp_run(&rp, &p);
	EXPECT_NEAR(test, rp.rt_bps, 25 * GBIT / 2);
}

/* ConnectX: a tick adds g to alpha once, for any number of CNPs */
static void rp_connectx_alpha(struct kunit *test)
{
	struct rp rp = rp_new(&connectx, 25 * GBIT);
	u64 g = RP_ONE / 256, alpha = RP_ONE;
	int i;

	/* the first CNP starts the clock, but does not raise alpha */
	rp_cnp(&rp, &connectx, 0);
	rp_run(&rp, &connectx);
	alpha -= mul_u64_u64_shr(alpha, g, 32);
	for (i = 60; i < 100; i += 10)
		rp_cnp(&rp, &connectx, i * US);
	EXPECT_NEAR(test, rp.alpha, alpha);
	rp_alpha_catch_up(&rp, &connectx, 110 * US);
	alpha -= mul_u64_u64_shr(alpha, g, 32);
	alpha += g;
	EXPECT_NEAR(test, rp.alpha, alpha);
	/* three ticks without a CNP */
	rp_alpha_catch_up(&rp, &connectx, 5 * 55 * US);
	for (i = 0; i < 3; i++)
		alpha -= mul_u64_u64_shr(alpha, g, 32);
	EXPECT_NEAR(test, rp.alpha, alpha);
}

/* ConnectX, F 1: one halving, one RAI, then RHAI */
static void rp_connectx_raise(struct kunit *test)
{
	static const u64 add[] = { 0, 5, 50, 50, 50 };
	struct rp rp = rp_new(&connectx, 10 * GBIT);
	u64 rc = 5 * GBIT, rt = 10 * GBIT;
	int i;

	rp_cnp(&rp, &connectx, 0);
	rp_run(&rp, &connectx);
	for (i = 0; i < ARRAY_SIZE(add); i++) {
		rt += add[i] * MBIT;
		rc = (rc + rt) / 2;
		KUNIT_EXPECT_EQ(test, rp_run(&rp, &connectx), RP_RAISED);
		EXPECT_NEAR(test, rp.rt_bps, rt);
		EXPECT_NEAR(test, rp.rc_bps, rc);
	}
}

/* ConnectX: the rate is cut by alpha / 2; if both timers expire at the same
 * time, alpha is updated first
 */
static void rp_connectx_half_alpha(struct kunit *test)
{
	struct rp_params p = connectx;
	struct rp rp;

	p.alpha_ns = 1 * US;
	rp = rp_new(&p, 25 * GBIT);
	rp_cnp(&rp, &p, 0);
	rp_run(&rp, &p);
	rp.rc_bps = 10 * GBIT;
	rp.alpha = RP_ONE / 2;
	rp_cnp(&rp, &p, 5 * US);
	/* alpha ticks at 5 us, before the CNP; at 6 us, where the CNP raises
	 * alpha; and at 7 us and 8 us, without a CNP
	 */
	KUNIT_ASSERT_EQ(test, rp_next_ns(&rp), 8 * US);
	rp_run(&rp, &p);
	/* (1/2 (255/256)^2 + 1/256) (255/256)^2 = 2130771712 / 2^32 */
	EXPECT_NEAR(test, rp.rc_bps,
		    10 * GBIT - mul_u64_u64_shr(10 * GBIT, 2130771712, 33));
}

/* ConnectX: factor of the first CNP, no reduce clock, byte counter */
static void rp_connectx_options(struct kunit *test)
{
	struct rp_params p = connectx;
	struct rp rp;

	p.first_percent = 40;
	p.reduce_ns = 0;
	p.bytes = 1000;
	rp = rp_new(&p, 10 * GBIT);
	KUNIT_EXPECT_EQ(test, rp_cnp(&rp, &p, 7), RP_CUT);
	EXPECT_NEAR(test, rp.rc_bps, 4 * GBIT);
	KUNIT_EXPECT_EQ(test, rp_next_ns(&rp), 7);
	KUNIT_EXPECT_EQ(test, rp_run(&rp, &p), RP_CUT);
	EXPECT_NEAR(test, rp.rc_bps, 2 * GBIT);

	KUNIT_EXPECT_EQ(test, rp_sent(&rp, &p, 999), RP_NOTHING);
	KUNIT_EXPECT_EQ(test, rp_sent(&rp, &p, 1), RP_RAISED);
	EXPECT_NEAR(test, rp.rc_bps, 3 * GBIT);
	rp_sent(&rp, &p, 1000);
	EXPECT_NEAR(test, rp.rt_bps, 4 * GBIT + 5 * MBIT);
	/* a cut resets the byte counter */
	rp_sent(&rp, &p, 999);
	rp_cnp(&rp, &p, 100 * US);
	rp_run(&rp, &p);
	KUNIT_EXPECT_EQ(test, rp.byte_stage, 0);
	KUNIT_EXPECT_EQ(test, rp_sent(&rp, &p, 999), RP_NOTHING);
}

/* Unusual but valid: constant alpha, a rate below the minimum */
static void rp_odd(struct kunit *test)
{
	struct rp_params p = paper;
	struct rp rp;

	p.g = 0;
	rp = rp_new(&p, 40 * GBIT);
	rp_cnp(&rp, &p, 0);
	rp_cnp(&rp, &p, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, rp.alpha, RP_ONE);
	EXPECT_NEAR(test, rp.rc_bps, 10 * GBIT);

	rp = rp_new(&paper, 50 * MBIT);
	rp_cnp(&rp, &paper, 0);
	KUNIT_EXPECT_EQ(test, rp.rc_bps, 50 * MBIT);
	while (rp.time_stage < 20)
		rp_run(&rp, &paper);
	KUNIT_EXPECT_GT(test, rp.rc_bps, 50 * MBIT);
}

/* Rates stay between minimum and line rate; at line rate no timer is armed */
static void rp_ends(struct kunit *test)
{
	static const struct rp_params * const styles[] = { &paper, &connectx };
	int s, i;

	for (s = 0; s < ARRAY_SIZE(styles); s++) {
		const struct rp_params *p = styles[s];
		struct rp rp = rp_new(p, p->line_bps);
		u64 at = 0;

		for (i = 0; i < 100; i++, at += 20 * US) {
			rp_cnp(&rp, p, at);
			while (rp_next_ns(&rp) <= at)
				rp_run(&rp, p);
			KUNIT_EXPECT_GE(test, rp.rc_bps, p->min_bps);
		}
		KUNIT_EXPECT_EQ(test, rp.rc_bps, p->min_bps);
		for (i = 0; i < 100000 && rp_next_ns(&rp) != RP_NEVER; i++) {
			rp_run(&rp, p);
			KUNIT_EXPECT_LE(test, rp.rc_bps, p->line_bps);
		}
		KUNIT_EXPECT_EQ(test, rp_next_ns(&rp), RP_NEVER);
		KUNIT_EXPECT_EQ(test, rp.rc_bps, p->line_bps);
	}
}

/* A flow that starts below the line rate accelerates, except with RP_OFF */
static void rp_slow_start(struct kunit *test)
{
	struct rp_params off = connectx;
	struct rp rp = rp_new(&connectx, 1 * GBIT);

	KUNIT_EXPECT_EQ(test, rp_next_ns(&rp), 300 * US);
	rp_run(&rp, &connectx);
	EXPECT_NEAR(test, rp.rc_bps, 1 * GBIT);
	rp_run(&rp, &connectx);
	EXPECT_NEAR(test, rp.rc_bps, 1 * GBIT + 5 * MBIT / 2);

	off.style = RP_OFF;
	rp = rp_new(&off, 1 * GBIT);
	rp_cnp(&rp, &off, 1000);
	KUNIT_EXPECT_EQ(test, rp_next_ns(&rp), RP_NEVER);
	KUNIT_EXPECT_EQ(test, rp.rc_bps, 1 * GBIT);
}

static void np_interval(struct kunit *test)
{
	const struct np_params p = { .cnp_ns = 50 * US, .limit_ns = 10 * US };
	const struct np_params none = {};
	struct np_clock a = {}, b = {}, host = {};

	KUNIT_EXPECT_EQ(test, np_ce(&a, &host, &p, 0), NP_CNP);
	KUNIT_EXPECT_EQ(test, np_ce(&a, &host, &p, 49 * US), NP_TOO_SOON);
	/* another QP waits only for the host's limit */
	KUNIT_EXPECT_EQ(test, np_ce(&b, &host, &p, 9 * US), NP_LIMITED);
	KUNIT_EXPECT_EQ(test, np_ce(&b, &host, &p, 10 * US), NP_CNP);
	KUNIT_EXPECT_EQ(test, np_ce(&a, &host, &p, 50 * US), NP_CNP);
	/* a suppressed CNP does not count as sent */
	KUNIT_EXPECT_EQ(test, np_ce(&b, &host, &p, 59 * US), NP_TOO_SOON);
	KUNIT_EXPECT_EQ(test, np_ce(&b, &host, &p, 60 * US), NP_CNP);
	/* without interval and limit, every CE packet causes a CNP */
	KUNIT_EXPECT_EQ(test, np_ce(&b, &host, &none, 60 * US), NP_CNP);
}

#define RECEIVE(rs, psn, now) rc_received(rs, psn, false, false, 2, 100, now)

static void rc_order(struct kunit *test)
{
	struct rc_responder rs = { .epsn = 0xfffffe };

	/* every second packet is acknowledged; PSNs wrap; a PSN before the
	 * expected one is a duplicate
	 */
	KUNIT_EXPECT_EQ(test, RECEIVE(&rs, 0xfffffe, 0), RC_TAKE);
	KUNIT_EXPECT_EQ(test, RECEIVE(&rs, 0xffffff, 0), RC_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, RECEIVE(&rs, 0, 0), RC_TAKE);
	KUNIT_EXPECT_EQ(test, RECEIVE(&rs, 0xffffff, 0), RC_DUPLICATE);
	/* a gap: one NAK, repeated after 100 ns; once the gap is filled, the
	 * next gap causes a NAK at once
	 */
	KUNIT_EXPECT_EQ(test, RECEIVE(&rs, 2, 10), RC_NAK);
	KUNIT_EXPECT_EQ(test, RECEIVE(&rs, 3, 20), RC_DROP);
	KUNIT_EXPECT_EQ(test, RECEIVE(&rs, 4, 110), RC_NAK);
	KUNIT_EXPECT_EQ(test, RECEIVE(&rs, 1, 120), RC_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, RECEIVE(&rs, 3, 130), RC_NAK);
	KUNIT_EXPECT_EQ(test, rs.epsn, 2);
	/* nak_ns 0: no repetition */
	KUNIT_EXPECT_EQ(test, rc_received(&rs, 3, false, false, 2, 0, 1 << 30),
			RC_DROP);
	/* ACK requested */
	KUNIT_EXPECT_EQ(test, rc_received(&rs, 2, true, true, 2, 100, 140),
			RC_TAKE_ACK);
	KUNIT_EXPECT_EQ(test, rs.msn, 1);
}

static void rc_back(struct kunit *test)
{
	struct rc_requester rq = { .psn0 = 0xfffffd };
	int i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_FALSE(test, rc_sent(&rq));
	/* 0xfffffd .. 6 are in flight */
	KUNIT_EXPECT_TRUE(test, rc_acked(&rq, 0xffffff));
	KUNIT_EXPECT_EQ(test, rq.una, 3);
	KUNIT_EXPECT_FALSE(test, rc_acked(&rq, 0xfffffe));
	KUNIT_EXPECT_FALSE(test, rc_acked(&rq, 7));
	KUNIT_EXPECT_TRUE(test, rc_naked(&rq, 2));
	KUNIT_EXPECT_EQ(test, rq.una, 5);
	KUNIT_EXPECT_EQ(test, rq.next, 5);
	KUNIT_EXPECT_FALSE(test, rc_naked(&rq, 7));
	KUNIT_EXPECT_FALSE(test, rc_naked(&rq, 1));
	/* retransmissions, then new packets */
	for (i = 5; i < 10; i++)
		KUNIT_EXPECT_TRUE(test, rc_sent(&rq));
	KUNIT_EXPECT_FALSE(test, rc_sent(&rq));
	/* packets that are acknowledged before their retransmission are skipped
	 */
	rc_go_back(&rq);
	KUNIT_EXPECT_TRUE(test, rc_acked(&rq, 6));
	KUNIT_EXPECT_EQ(test, rq.next, 10);
	/* window limit */
	KUNIT_EXPECT_TRUE(test, rc_may_send(&rq));
	rq.next = rq.una + RC_WINDOW;
	KUNIT_EXPECT_FALSE(test, rc_may_send(&rq));
}

/* 1000 packets of 1000 bytes at 3 Gb/s: 2666 2/3 ns each, no drift */
static void pace_exact(struct kunit *test)
{
	struct pace p = { .next_ns = 5000, .slack_ns = PACE_SLACK_NS };
	int i;

	for (i = 0; i < 1000; i++)
		pace_sent(&p, 1000, 3 * GBIT, p.next_ns);
	KUNIT_EXPECT_EQ(test, p.next_ns, 5000 + 2666666);
	/* lateness within the timer's slack is made up for, more is not */
	p = (struct pace){ .next_ns = 10000, .slack_ns = PACE_SLACK_NS };
	pace_sent(&p, 1000, 8 * GBIT, 10500);
	KUNIT_EXPECT_EQ(test, p.next_ns, 11000);
	pace_sent(&p, 1000, 8 * GBIT, 50000);
	KUNIT_EXPECT_EQ(test, p.next_ns, 50000 - PACE_SLACK_NS + 1000);
	/* half the rate doubles the rest of the gap; a time in the past does
	 * not change
	 */
	p = (struct pace){ .next_ns = 3000, .slack_ns = PACE_SLACK_NS };
	pace_changed(&p, 10 * GBIT, 5 * GBIT, 1000);
	KUNIT_EXPECT_EQ(test, p.next_ns, 5000);
	pace_changed(&p, 5 * GBIT, 1 * GBIT, 6000);
	KUNIT_EXPECT_EQ(test, p.next_ns, 5000);
}

static void arrive_logarithm(struct kunit *test)
{
	/* times 2^16, -ln(2^-k) is k * 45426, and -ln(3/4) is 18854 */
	int k;

	for (k = 1; k < 32; k++)
		KUNIT_EXPECT_LE(test, abs((int)arrive_ln(BIT(32 - k)) -
					  k * 45426), 2);
	KUNIT_EXPECT_LE(test, abs((int)arrive_ln(0xc0000000) - 18854), 2);
	KUNIT_EXPECT_LE(test, arrive_ln(U32_MAX), 2);
}

/* 100,000 exponential intervals: mean, and share above the mean */
static void arrive_poisson(struct kunit *test)
{
	struct arrivals a = { .every_ns = 100000, .poisson = true }, b;
	u64 last_ns = 0;
	u32 longer = 0;
	int i;

	prandom_seed_state(&a.rnd, 20230817);
	b = a;
	for (i = 0; i < 100000; i++) {
		arrive_next(&a);
		longer += a.next_ns - last_ns > 100000;
		last_ns = a.next_ns;
	}
	/* the tolerance is three standard deviations */
	KUNIT_EXPECT_LE(test, abs((s64)(a.next_ns - 10000000000ULL)), 95000000);
	KUNIT_EXPECT_LE(test, abs((int)longer - 36788), 458);
	/* the copy yields the same times as the original */
	for (i = 0; i < 100000; i++)
		arrive_next(&b);
	KUNIT_EXPECT_EQ(test, a.next_ns, b.next_ns);
}

/* Each field has its own bytes; the gradient is signed */
static void telemetry_fields(struct kunit *test)
{
	static const u8 rsvd[16] = {
		0x11,			/* version 1, was CE */
		0x04,			/* IQCN_CAUSE_POLL */
		0x40, 0x00,		/* 16384 / 65535 */
		0x02, 0x01,
		0x81, 0x23,		/* 33059 * 4096 */
		0xff, 0x38,		/* -200 */
		0x83, 0x02, 0x05,	/* 8585733 * 256 */
		0xff, 0xff, 0xfe,
	};
	struct telemetry tm;

	KUNIT_ASSERT_TRUE(test, telemetry_decode(rsvd, &tm));
	KUNIT_EXPECT_TRUE(test, tm.was_ce);
	KUNIT_EXPECT_FALSE(test, tm.brief);
	KUNIT_EXPECT_EQ(test, tm.cause, 4);
	KUNIT_EXPECT_EQ(test, tm.depth, 16384);
	KUNIT_EXPECT_EQ(test, telemetry_depth_ppm(&tm), 250003);
	KUNIT_EXPECT_EQ(test, tm.flows, 513);
	KUNIT_EXPECT_EQ(test, tm.port_bytes, 135409664);
	KUNIT_EXPECT_EQ(test, tm.gradient, -200);
	KUNIT_EXPECT_EQ(test, tm.tx_bytes, 2197947648);
	KUNIT_EXPECT_EQ(test, tm.time_us, 16777214);
}

/* The fields that brief telemetry does not contain read as 0 */
static void telemetry_brief(struct kunit *test)
{
	u8 rsvd[16] = { 0x12, 0x05 };
	struct telemetry tm = { .flows = 7 };

	KUNIT_ASSERT_TRUE(test, telemetry_decode(rsvd, &tm));
	KUNIT_EXPECT_TRUE(test, tm.brief);
	KUNIT_EXPECT_FALSE(test, tm.was_ce);
	KUNIT_EXPECT_EQ(test, tm.cause, 5);
	KUNIT_EXPECT_EQ(test, tm.flows, 0);
	rsvd[0] = 0x13;
	KUNIT_ASSERT_TRUE(test, telemetry_decode(rsvd, &tm));
	KUNIT_EXPECT_TRUE(test, tm.brief);
	KUNIT_EXPECT_TRUE(test, tm.was_ce);
}

/* The window at the start, after a grant and after an increase of the rate */
static void win_steps(struct kunit *test)
{
	struct win w = {};

	/* no window without a round-trip time */
	win_start(&w, 25000000000, 0, 4096);
	win_granted(&w, 1, 4096, 0);
	KUNIT_EXPECT_TRUE(test, win_open(&w, U64_MAX));
	win_raised(&w);
	KUNIT_EXPECT_TRUE(test, win_open(&w, U64_MAX));

	/* 25 Gb/s for 10 us */
	win_start(&w, 25000000000, 10000, 4096);
	KUNIT_EXPECT_EQ(test, w.bytes, 31250);
	KUNIT_EXPECT_TRUE(test, win_open(&w, 31249));
	KUNIT_EXPECT_FALSE(test, win_open(&w, 31250));
	win_granted(&w, 10000, 4096, 7);
	KUNIT_EXPECT_TRUE(test, win_open(&w, 9999));
	KUNIT_EXPECT_FALSE(test, win_open(&w, 10000));
	/* a grant is at least a packet, and may exceed the initial window */
	win_granted(&w, 0, 4096, 7);
	KUNIT_EXPECT_TRUE(test, win_open(&w, 4095));
	KUNIT_EXPECT_FALSE(test, win_open(&w, 4096));
	win_granted(&w, 50000, 4096, 7);
	KUNIT_EXPECT_EQ(test, w.bytes, 50000);
	win_raised(&w);
	KUNIT_EXPECT_EQ(test, w.bytes, 31250);
	KUNIT_EXPECT_EQ(test, w.granted_bytes, 50000);
	/* a link whose bandwidth-delay product is less than a packet */
	win_start(&w, 1000000, 10000, 4096);
	KUNIT_EXPECT_EQ(test, w.bytes, 4096);
}

/* A window is checked once, when all packets that were sent before its CNP
 * arrived are acknowledged
 */
static void win_checks(struct kunit *test)
{
	struct win w = {};

	win_start(&w, 25000000000, 10000, 1000);
	KUNIT_EXPECT_FALSE(test, win_exceeded(&w, 100, 1000000, 1000));
	win_granted(&w, 5000, 1000, 50);
	KUNIT_EXPECT_FALSE(test, win_exceeded(&w, 49, 1000000, 1000));
	KUNIT_EXPECT_TRUE(test, win_exceeded(&w, 50, 6001, 1000));
	KUNIT_EXPECT_FALSE(test, win_exceeded(&w, 51, 1000000, 1000));
	win_granted(&w, 5000, 1000, 60);
	KUNIT_EXPECT_FALSE(test, win_exceeded(&w, 60, 6000, 1000));
	win_granted(&w, 5000, 1000, 70);
	win_raised(&w);
	KUNIT_EXPECT_FALSE(test, win_exceeded(&w, 70, 1000000, 1000));
}

/* win_decode() reads the module's struct iqcn_grant, but no other version */
static void win_decodes(struct kunit *test)
{
	u8 rsvd[16] = { 0x21, 0x07, 0xff, 0xff, 0x12, 0x34, 0x56, 0x78 };
	struct telemetry tm;
	u32 bytes = 0;

	KUNIT_ASSERT_TRUE(test, win_decode(rsvd, &bytes));
	KUNIT_EXPECT_EQ(test, bytes, 0x12345678);
	KUNIT_EXPECT_FALSE(test, telemetry_decode(rsvd, &tm));
	rsvd[0] = 0x11;
	KUNIT_EXPECT_FALSE(test, win_decode(rsvd, &bytes));
	rsvd[0] = 0x30;
	KUNIT_EXPECT_FALSE(test, win_decode(rsvd, &bytes));
}

/* Extreme values; unknown versions leave the result unchanged */
static void telemetry_ends(struct kunit *test)
{
	struct telemetry tm = { .flows = 7 };
	u8 rsvd[16] = {};

	KUNIT_EXPECT_FALSE(test, telemetry_decode(rsvd, &tm));
	memset(rsvd, 0xff, sizeof(rsvd));
	KUNIT_EXPECT_FALSE(test, telemetry_decode(rsvd, &tm));
	rsvd[0] = 0x21;
	KUNIT_EXPECT_FALSE(test, telemetry_decode(rsvd, &tm));
	rsvd[0] = 0x01;
	KUNIT_EXPECT_FALSE(test, telemetry_decode(rsvd, &tm));
	KUNIT_EXPECT_EQ(test, tm.flows, 7);
	/* undefined bits are ignored */
	rsvd[0] = 0x1c;
	KUNIT_ASSERT_TRUE(test, telemetry_decode(rsvd, &tm));
	KUNIT_EXPECT_FALSE(test, tm.was_ce);
	KUNIT_EXPECT_FALSE(test, tm.brief);
	KUNIT_EXPECT_EQ(test, tm.cause, 255);
	KUNIT_EXPECT_EQ(test, telemetry_depth_ppm(&tm), 1000000);
	KUNIT_EXPECT_EQ(test, tm.flows, U16_MAX);
	KUNIT_EXPECT_EQ(test, tm.port_bytes, 268431360);
	KUNIT_EXPECT_EQ(test, tm.gradient, -1);
	KUNIT_EXPECT_EQ(test, tm.tx_bytes, 0xffffff00);
	KUNIT_EXPECT_EQ(test, tm.time_us, 0xffffff);
}

static struct kunit_case rp_cases[] = {
	KUNIT_CASE(rp_paper_cut),
	KUNIT_CASE(rp_paper_alpha),
	KUNIT_CASE(rp_paper_raise),
	KUNIT_CASE(rp_paper_hyper),
	KUNIT_CASE(rp_connectx_cut),
	KUNIT_CASE(rp_connectx_clamp),
	KUNIT_CASE(rp_connectx_alpha),
	KUNIT_CASE(rp_connectx_raise),
	KUNIT_CASE(rp_connectx_half_alpha),
	KUNIT_CASE(rp_connectx_options),
	KUNIT_CASE(rp_odd),
	KUNIT_CASE(rp_ends),
	KUNIT_CASE(rp_slow_start),
	{}
};

static struct kunit_case host_cases[] = {
	KUNIT_CASE(np_interval),
	KUNIT_CASE(rc_order),
	KUNIT_CASE(rc_back),
	KUNIT_CASE(pace_exact),
	KUNIT_CASE(arrive_logarithm),
	KUNIT_CASE(arrive_poisson),
	KUNIT_CASE(win_steps),
	KUNIT_CASE(win_checks),
	KUNIT_CASE(win_decodes),
	KUNIT_CASE(telemetry_fields),
	KUNIT_CASE(telemetry_brief),
	KUNIT_CASE(telemetry_ends),
	{}
};

static struct kunit_suite rp_suite = {
	.name = "rocehost_rp",
	.test_cases = rp_cases,
};

static struct kunit_suite host_suite = {
	.name = "rocehost_host",
	.test_cases = host_cases,
};

kunit_test_suites(&rp_suite, &host_suite);

MODULE_DESCRIPTION("KUnit tests of rocehost");
MODULE_LICENSE("GPL");
