// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of params.h: defaults and invariants of the parameters
 */
#include <linux/minmax.h>

#include "params.h"
#include "algo/telemetry.h"
#include "tests.h"

static void params_kmin_test(struct kunit *test)
{
	static const struct {
		u32 mbps, pkt_bytes, want;
	} links[] = {
		{ 1000, 1514, 4000 },
		{ 10000, 1514, 40000 },
		{ 25000, 1514, 100000 },
		{ 25000, 9014, 100000 },
		{ 100000, 9014, 400000 },
		{ 400000, 4200, 1600000 },
		{ 0, 1514, 40000 },		/* unknown: 10 Gb/s */
		{ 0, 65536, 131072 },
		/* at least two packets */
		{ 757, 1514, 3028 },
		{ 758, 1514, 3032 },
		{ 100, 1514, 3028 },
		{ 1, 9014, 18028 },
		/* 160 times Kmin fits in 32 bits */
		{ 6710886, 1514, 26843544 },
		{ 6710887, 1514, 26843545 },
		{ U32_MAX, 1514, 26843545 },
		/* with packets of any size */
		{ 10000, 536870912, 26843545 },
		{ 10000, U32_MAX, 26843545 },
		{ U32_MAX, U32_MAX, 26843545 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(links); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_default_kmin(links[i].mbps,
						      links[i].pkt_bytes),
				    links[i].want, "%u Mb/s, %u bytes",
				    links[i].mbps, links[i].pkt_bytes);
}

static void params_gain_test(struct kunit *test)
{
	static const struct {
		u32 ref, mbps, want;
	} links[] = {
		{ 500, 25000, 500 },
		{ 50000, 25000, 50000 },
		{ 2000, 25000, 2000 },
		{ 100000, 25000, 100000 },
		{ 2000, 10000, 5000 },
		{ 100000, 10000, 250000 },
		{ 2000, 100000, 500 },
		{ 100000, 400000, 6250 },
		{ 500, 10000, 1250 },
		{ 500, 0, 1250 },		/* unknown: 10 Gb/s */
		{ 50000, 100000, 12500 },
		{ 500, 100000, 125 },
		{ 500, 400000, 31 },		/* 31.25 */
		{ 500, 1000, 12500 },
		{ 500, 1, 12500000 },
		/* at least 1 */
		{ 500, 12500000, 1 },
		{ 500, 12500001, 1 },
		{ 500, U32_MAX, 1 },
		/* at most 10^8 */
		{ 50000, 13, 96153846 },
		{ 50000, 12, 100000000 },
		{ 50000, 1, 100000000 },
		{ U32_MAX, 1, 100000000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(links); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_default_gain(links[i].ref,
						      links[i].mbps),
				    links[i].want, "%u at %u Mb/s",
				    links[i].ref, links[i].mbps);
}

static void params_cnp_rate_test(struct kunit *test)
{
	static const struct {
		u64 bps;
		u32 want;
	} links[] = {
		{ 10000000000ULL, 3188775 },
		{ 25000000000ULL, 7971938 },
		{ 100000000000ULL, 31887755 },
		{ 1000000000ULL, 318877 },
		{ 0, 3188775 },			/* unknown: 10 Gb/s */
		{ 6271, 1 },
		{ 6272, 2 },
		{ 1, 1 },
		{ 1000000000000000ULL, 1000000000 },
		{ U64_MAX, 1000000000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(links); i++)
		KUNIT_EXPECT_EQ_MSG(test, iqcn_default_cnp_rate(links[i].bps),
				    links[i].want, "%llu bit/s", links[i].bps);
}

/* Parameters that depend on neither the link nor the user */
static struct iqcn_params params_base(void)
{
	struct iqcn_params p = {
		.notify = IQCN_DEFAULT_NOTIFY,
		.t1_ns = IQCN_DEFAULT_T1_NS,
		.window_ns = IQCN_DEFAULT_WINDOW_NS,
		.enter_pct = IQCN_DEFAULT_ENTER_PCT,
		.exit_pct = IQCN_DEFAULT_EXIT_PCT,
		.run_enter = IQCN_DEFAULT_RUN_ENTER,
		.run_exit = IQCN_DEFAULT_RUN_EXIT,
		.span_enter = IQCN_DEFAULT_SPAN_ENTER,
		.span_exit = IQCN_DEFAULT_SPAN_EXIT,
		.pi.update_ns = IQCN_DEFAULT_UPDATE_NS,
		.sample = 1,
		.flows = IQCN_DEFAULT_FLOWS,
		.base_rtt_ns = IQCN_BASE_RTT_NONE,
	};

	return p;
}

static void params_pi_test(struct kunit *test)
{
	static const struct {
		u32 t1_ns, time_min_ns, min_gap_ns, want;
	} rows[] = {
		{ IQCN_DEFAULT_T1_NS, IQCN_TIME_MIN_NS, 50000, 4 },
		{ IQCN_DEFAULT_T1_NS, IQCN_TIME_USER_MIN_NS, 50000, 2 },
		{ IQCN_TIME_USER_MIN_NS, IQCN_TIME_USER_MIN_NS, 0, 1 },
		{ IQCN_DEFAULT_T1_NS, IQCN_TIME_MIN_NS, 60000, 3 },
		{ IQCN_DEFAULT_T1_NS, IQCN_TIME_MIN_NS, 1000000, 1 },
		{ 40000, IQCN_TIME_MIN_NS, 0, 4 },
		{ 39999, IQCN_TIME_MIN_NS, 0, 3 },
		{ 10000, IQCN_TIME_MIN_NS, 0, 1 },
		{ 1, IQCN_TIME_MIN_NS, 0, 1 },
	};
	struct iqcn_params p;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		p = params_base();
		p.t1_ns = rows[i].t1_ns;
		p.min_gap_ns = rows[i].min_gap_ns;
		p.user_set = BIT_ULL(TCA_IQCN_MIN_GAP_NS);
		iqcn_params_resolve(&p, 25000000000ULL, 1514, true,
				    rows[i].time_min_ns);
		KUNIT_EXPECT_EQ_MSG(test, p.pi.polls_max, rows[i].want,
				    "row %d", i);
	}
	/* a reference that the user sets is fixed */
	KUNIT_EXPECT_TRUE(test, p.pi.follows);
	KUNIT_EXPECT_EQ(test, p.pi.qref_bytes, 300000);
	p.qref_bytes = 300000;
	iqcn_params_resolve(&p, 25000000000ULL, 1514, true, IQCN_TIME_MIN_NS);
	KUNIT_EXPECT_FALSE(test, p.pi.follows);
	p.qref_bytes = 1234;
	iqcn_params_resolve(&p, 25000000000ULL, 1514, true, IQCN_TIME_MIN_NS);
	KUNIT_EXPECT_EQ(test, p.pi.qref_bytes, 1234);
}

/* Random user parameters that tc accepts.  Pairs that the user must keep
 * consistent are consistent.
 */
static void params_user(struct iqcn_params *p, struct rnd_state *rnd)
{
	static const u32 bytes[] = { 1, 2, 1514, 100000, U32_MAX - 1, U32_MAX };
	static const u32 t1_ns[] = {
		IQCN_TIME_MIN_NS, IQCN_TIME_USER_MIN_NS, 225000, 1000000000
	};
	u32 a = bytes[prandom_u32_state(rnd) % ARRAY_SIZE(bytes)];
	u32 b = bytes[prandom_u32_state(rnd) % ARRAY_SIZE(bytes)];

	switch (prandom_u32_state(rnd) % 8) {
	case 0:
		p->limit_bytes = a;
		p->user_set = BIT_ULL(TCA_IQCN_LIMIT_BYTES);
		break;
	case 1:
		p->mark.kmin_bytes = a - 1;
		p->user_set = BIT_ULL(TCA_IQCN_KMIN_BYTES);
		break;
	case 2:
		p->mark.kmax_bytes = a;
		p->user_set = BIT_ULL(TCA_IQCN_KMAX_BYTES);
		break;
	case 3:
		p->qref_bytes = a;
		break;
	case 4:
		p->mark.kmin_bytes = min(a, b);
		p->mark.kmax_bytes = max(a, b);
		p->user_set = BIT_ULL(TCA_IQCN_KMIN_BYTES) |
			      BIT_ULL(TCA_IQCN_KMAX_BYTES);
		break;
	case 5:
		p->qref_bytes = min(a, b);
		p->limit_bytes = max(a, b);
		p->user_set = BIT_ULL(TCA_IQCN_LIMIT_BYTES);
		break;
	}
	p->t1_ns = t1_ns[prandom_u32_state(rnd) % ARRAY_SIZE(t1_ns)];
	p->notify = prandom_u32_state(rnd) % (IQCN_NOTIFY_ALL + 1);
	p->base_rtt_ns = 1;
}

/* Check the invariants, and that telemetry does not divide by 0 */
static void params_extreme(struct kunit *test, struct rnd_state *rnd,
			   u32 pkt_bytes, u64 link_bps, u64 bandwidth_bps)
{
	u8 reserved[IQCN_CNP_RSVD_LEN];
	int i;

	for (i = 0; i < 64; i++) {
		struct iqcn_params p = params_base();
		struct iqcn_state state = {
			.cause = IQCN_CAUSE_DROP,
			.depth_bytes = prandom_u32_state(rnd),
		};
		u32 time_min_ns = IQCN_TIME_MIN_NS;

		p.bandwidth_bps = bandwidth_bps;
		if (i)
			params_user(&p, rnd);
		if (i & 2 && p.t1_ns >= IQCN_TIME_USER_MIN_NS)
			time_min_ns = IQCN_TIME_USER_MIN_NS;
		iqcn_params_resolve(&p, link_bps, pkt_bytes, i & 1,
				    time_min_ns);
		KUNIT_ASSERT_EQ_MSG(test, iqcn_params_check(&p), IQCN_PARAMS_OK,
				    "%u bytes, %llu bit/s, bandwidth %llu, user %llx",
				    pkt_bytes, link_bps, bandwidth_bps,
				    p.user_set);
		KUNIT_ASSERT_GE(test, p.limit_bytes, 1U);
		if (!p.user_set) {
			KUNIT_ASSERT_LE(test, p.mark.kmin_bytes,
					p.mark.kmax_bytes);
			KUNIT_ASSERT_LE(test, p.mark.kmax_bytes, p.limit_bytes);
		}
		state.limit_bytes = p.limit_bytes;
		iqcn_telemetry_pack(reserved, &state);
	}
}

/* All combinations of MTU, speed and bandwidth */
static void params_extremes_test(struct kunit *test)
{
	static const u32 pkts[] = {
		0, 82, 1514, 9014, 65549, 13421772, 13421773, 536870912,
		536870913, S32_MAX, U32_MAX,
	};
	static const u64 speeds[] = {
		1, 999999, 1000000, 10000000, 10000000000ULL, 400000000000ULL,
		4294967294ULL * 1000000, 4294967295ULL * 1000000, U64_MAX,
	};
	static const u64 bandwidths[] = {
		0, 1, 8, 999999, 1000000, 25000000000ULL, 1000000000000000ULL,
	};
	struct rnd_state rnd;
	int m, s, b;

	prandom_seed_state(&rnd, SEED);
	for (m = 0; m < ARRAY_SIZE(pkts); m++)
		for (s = 0; s < ARRAY_SIZE(speeds); s++)
			for (b = 0; b < ARRAY_SIZE(bandwidths); b++)
				params_extreme(test, &rnd, pkts[m], speeds[s],
					       bandwidths[b]);
}

static void params_check_test(struct kunit *test)
{
	struct iqcn_params good = params_base(), p;

	iqcn_params_resolve(&good, 10000000000ULL, 1514, true,
			    IQCN_TIME_MIN_NS);
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&good), IQCN_PARAMS_OK);

#define EXPECT_WRONG(_field, _value, _wrong) do {			\
	p = good;							\
	p._field = _value;						\
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&p), _wrong);		\
} while (0)

	EXPECT_WRONG(limit_bytes, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(pi.qref_bytes, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(t1_ns, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(window_ns, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(period_ns, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(pi.update_ns, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(pi.alpha, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(pi.beta, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(sample, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(flows, 0, IQCN_PARAMS_ZERO);
	EXPECT_WRONG(mark.kmin_bytes, good.mark.kmax_bytes + 1,
		     IQCN_PARAMS_KMIN);
	EXPECT_WRONG(mark.kmax_bytes, good.limit_bytes + 1, IQCN_PARAMS_KMAX);
	EXPECT_WRONG(pi.qref_bytes, good.limit_bytes + 1, IQCN_PARAMS_QREF);
	EXPECT_WRONG(exit_pct, good.enter_pct, IQCN_PARAMS_EXIT);
	EXPECT_WRONG(run_exit, good.run_enter, IQCN_PARAMS_RUN_EXIT);
	EXPECT_WRONG(span_exit, good.span_enter - 1, IQCN_PARAMS_SPAN_EXIT);
	EXPECT_WRONG(period_ns, good.t1_ns + 1, IQCN_PARAMS_PERIOD);
	EXPECT_WRONG(notify, IQCN_NOTIFY_GRANT, IQCN_PARAMS_BASE_RTT);
#undef EXPECT_WRONG

	p = good;
	p.notify = IQCN_NOTIFY_GRANT;
	p.base_rtt_ns = 1;
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&p), IQCN_PARAMS_OK);

	/* Kmax may equal the limit */
	p = good;
	p.mark.kmax_bytes = p.limit_bytes;
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&p), IQCN_PARAMS_OK);

	/* a user may set a limit below Kmax */
	p = good;
	p.limit_bytes = p.mark.kmax_bytes - 1;
	p.pi.qref_bytes = 1;
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&p), IQCN_PARAMS_KMAX);
	p.user_set = BIT_ULL(TCA_IQCN_LIMIT_BYTES);
	KUNIT_EXPECT_EQ(test, iqcn_params_check(&p), IQCN_PARAMS_OK);
}

/* The parameters of PFC follow Kmin, the round-trip time and each other */
static void params_pfc_test(struct kunit *test)
{
	struct iqcn_params p = params_base();

	iqcn_params_resolve(&p, 25000000000ULL, 1514, true, IQCN_TIME_MIN_NS);
	/* Kmin without the factor of four that notify pi applies */
	KUNIT_EXPECT_EQ(test, p.pfc.threshold_bytes, 100000);
	KUNIT_EXPECT_EQ(test, p.pfc.settle_ns, 20000);
	KUNIT_EXPECT_EQ(test, p.pfc.max_ns, 2000000);

	p.base_rtt_ns = 8000;
	p.mark.kmin_bytes = 5000;
	p.user_set = BIT_ULL(TCA_IQCN_KMIN_BYTES);
	iqcn_params_resolve(&p, 25000000000ULL, 1514, true, IQCN_TIME_MIN_NS);
	KUNIT_EXPECT_EQ(test, p.pfc.threshold_bytes, 5000);
	KUNIT_EXPECT_EQ(test, p.pfc.settle_ns, 8000);
	/* the longest pause at 25 Gb/s */
	KUNIT_EXPECT_EQ(test, p.pfc.max_ns, 1342156);

	p.pfc.settle_ns = 50000000;
	p.pfc.threshold_bytes = 7;
	p.user_set = BIT_ULL(TCA_IQCN_SETTLE_NS) |
		     BIT_ULL(TCA_IQCN_THRESHOLD_BYTES);
	iqcn_params_resolve(&p, 25000000000ULL, 1514, true, IQCN_TIME_MIN_NS);
	KUNIT_EXPECT_EQ(test, p.pfc.threshold_bytes, 7);
	KUNIT_EXPECT_EQ(test, p.pfc.max_ns, IQCN_TIME_MAX_NS);

	p.pfc.max_ns = 1;
	p.mark.kmin_bytes = 0;
	p.user_set = BIT_ULL(TCA_IQCN_PFC_MAX_NS) | BIT_ULL(TCA_IQCN_KMIN_BYTES);
	iqcn_params_resolve(&p, 25000000000ULL, 1514, true, IQCN_TIME_MIN_NS);
	KUNIT_EXPECT_EQ(test, p.pfc.max_ns, 1);
	/* a threshold of 0 would be useless, because no depth is below it */
	KUNIT_EXPECT_EQ(test, p.pfc.threshold_bytes, 100000);
}

static struct kunit_case params_test_cases[] = {
	KUNIT_CASE(params_pi_test),
	KUNIT_CASE(params_kmin_test),
	KUNIT_CASE(params_gain_test),
	KUNIT_CASE(params_cnp_rate_test),
	KUNIT_CASE(params_extremes_test),
	KUNIT_CASE(params_check_test),
	KUNIT_CASE(params_pfc_test),
	{}
};

static struct kunit_suite params_suite = {
	.name = "iqcn_params",
	.test_cases = params_test_cases,
};

kunit_test_suite(params_suite);
