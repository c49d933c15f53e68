// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/pfc.h: the state of a queue whose port PFC pauses
 */
#include "algo/pfc.h"
#include "tests.h"

#define T_BYTES		100000U
#define SETTLE_NS	(20 * US)

/* A byte per ns */
#define RATE_BPS	(8 * SECOND)

static const struct iqcn_pfc_params params = {
	.max_ns = SECOND,
	.threshold_bytes = T_BYTES,
	.settle_ns = SETTLE_NS,
};

static void begin(struct iqcn_pfc *s, u32 depth_bytes, u64 arrived_bytes,
		  u64 now_ns)
{
	if (!s->paused)
		s->arrived_bytes = arrived_bytes;
	iqcn_pfc_pause(s, &params, depth_bytes, now_ns);
}

static enum iqcn_pfc_reason end(struct iqcn_pfc *s, u32 depth_bytes,
				u64 arrived_bytes, u64 now_ns)
{
	return iqcn_pfc_resume(s, &params, RATE_BPS, depth_bytes, arrived_bytes,
			       now_ns);
}

/* Pause the port for @ns, during which @rx_bytes arrive, and resume it with a
 * depth of @depth_bytes
 */
static enum iqcn_pfc_reason paused(struct iqcn_pfc *s, u64 ns, u64 rx_bytes,
				   u32 depth_bytes)
{
	begin(s, 0, 5000, SECOND);
	return end(s, depth_bytes, 5000 + rx_bytes, SECOND + ns);
}

static void pfc_resume_test(struct kunit *test)
{
	static const struct {
		u64 ns, rx_bytes;
		u32 depth_bytes;
		enum iqcn_pfc_reason want;
	} cases[] = {
		/* Q = T - 1, T, T + 1, with less than C * dt */
		{ 1000, 0, T_BYTES - 1, IQCN_PFC_REASON_CLEAR },
		{ 1000, 0, T_BYTES, IQCN_PFC_REASON_UNSURE },
		{ 1000, 0, T_BYTES + 1, IQCN_PFC_REASON_UNSURE },
		/* C * dt is 1000 bytes */
		{ 1000, 999, T_BYTES, IQCN_PFC_REASON_UNSURE },
		{ 1000, 1000, T_BYTES, IQCN_PFC_REASON_UNSURE },
		{ 1000, 1001, T_BYTES, IQCN_PFC_REASON_RATE },
		/* Q < T is checked first */
		{ 1000, 1001, T_BYTES - 1, IQCN_PFC_REASON_CLEAR },
		/* the shortest and a very long pause */
		{ 0, 0, T_BYTES, IQCN_PFC_REASON_UNSURE },
		{ 0, 1, T_BYTES, IQCN_PFC_REASON_RATE },
		{ 1000 * SECOND, 1000 * SECOND, T_BYTES, IQCN_PFC_REASON_UNSURE },
		{ 1000 * SECOND, 1000 * SECOND + 1, T_BYTES, IQCN_PFC_REASON_RATE },
	};
	struct iqcn_pfc s;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(&s, 0, sizeof(s));
		KUNIT_EXPECT_EQ_MSG(test, paused(&s, cases[i].ns,
						 cases[i].rx_bytes,
						 cases[i].depth_bytes),
				    cases[i].want, "case %d", i);
		KUNIT_EXPECT_FALSE(test, s.paused);
		KUNIT_EXPECT_EQ(test, s.undetermined,
				cases[i].want == IQCN_PFC_REASON_UNSURE);
	}

	/* a resume without a pause */
	memset(&s, 0, sizeof(s));
	KUNIT_EXPECT_EQ(test, end(&s, T_BYTES, 1, SECOND),
			IQCN_PFC_REASON_NONE);
}

/* A rate at which C * dt is no integer: 3 bits per ns, 7 ns, 2.625 bytes */
static void pfc_fraction_test(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, iqcn_pfc_exceeds(2, 3 * SECOND, 7));
	KUNIT_EXPECT_TRUE(test, iqcn_pfc_exceeds(3, 3 * SECOND, 7));
	/* 400 Gb/s for an hour */
	KUNIT_EXPECT_FALSE(test, iqcn_pfc_exceeds(180000000000000,
						  400 * SECOND, 3600 * SECOND));
	KUNIT_EXPECT_TRUE(test, iqcn_pfc_exceeds(180000000000001,
						 400 * SECOND, 3600 * SECOND));
	/* 2^64 bits and more: the quotient does not fit */
	KUNIT_EXPECT_FALSE(test, iqcn_pfc_exceeds(U64_MAX / 8, 1000000ULL * SECOND,
						  18447 * SECOND));
	KUNIT_EXPECT_FALSE(test, iqcn_pfc_exceeds(U64_MAX / 8, 4290000ULL * SECOND,
						  86400 * SECOND));
	/* just over 2^64 bits */
	KUNIT_EXPECT_FALSE(test, iqcn_pfc_exceeds(U64_MAX / 8, SECOND + 1,
						  U64_MAX));
}

static void pfc_settle_test(struct kunit *test)
{
	static const struct {
		u64 ns;
		u32 depth_bytes;
		enum iqcn_pfc_reason want;
	} cases[] = {
		/* before settle is over, no depth ends the state */
		{ SETTLE_NS - 1, 0, IQCN_PFC_REASON_NONE },
		{ SETTLE_NS - 1, 300001, IQCN_PFC_REASON_NONE },
		/* the depth at the resume was 300000 */
		{ SETTLE_NS, T_BYTES - 1, IQCN_PFC_REASON_DRAINED },
		{ SETTLE_NS, T_BYTES, IQCN_PFC_REASON_NONE },
		{ SETTLE_NS, 299999, IQCN_PFC_REASON_NONE },
		{ SETTLE_NS, 300000, IQCN_PFC_REASON_NONE },
		{ SETTLE_NS, 300001, IQCN_PFC_REASON_GREW },
		{ 10 * SETTLE_NS, 300001, IQCN_PFC_REASON_GREW },
	};
	struct iqcn_pfc s;
	u64 t;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(&s, 0, sizeof(s));
		KUNIT_ASSERT_EQ(test, paused(&s, 0, 0, 300000),
				IQCN_PFC_REASON_UNSURE);
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_pfc_sent(&s, &params,
						  cases[i].depth_bytes,
						  SECOND + cases[i].ns),
				    cases[i].want, "case %d", i);
		KUNIT_EXPECT_EQ(test, s.undetermined,
				cases[i].want == IQCN_PFC_REASON_NONE);
	}

	/* while the queue stays undetermined, each comparison is with the depth
	 * at the last one: 200000, not 300000
	 */
	memset(&s, 0, sizeof(s));
	paused(&s, 0, 0, 300000);
	t = SECOND + SETTLE_NS + 5;
	KUNIT_EXPECT_EQ(test, iqcn_pfc_sent(&s, &params, 200000, t),
			IQCN_PFC_REASON_NONE);
	t += SETTLE_NS;
	KUNIT_EXPECT_EQ(test, iqcn_pfc_sent(&s, &params, 250000, t - 1),
			IQCN_PFC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, iqcn_pfc_sent(&s, &params, 200001, t),
			IQCN_PFC_REASON_GREW);
	/* once the queue is determined, a packet that leaves does not change
	 * its state
	 */
	KUNIT_EXPECT_EQ(test, iqcn_pfc_sent(&s, &params, 900000, t + SECOND),
			IQCN_PFC_REASON_NONE);
}

static void pfc_overlap_test(struct kunit *test)
{
	struct iqcn_pfc s = {};

	/* a second pause frame does not restart the pause */
	begin(&s, 0, 0, SECOND);
	begin(&s, T_BYTES, 900, SECOND + 900);
	KUNIT_EXPECT_EQ(test, end(&s, T_BYTES, 1000, SECOND + 1000),
			IQCN_PFC_REASON_UNSURE);

	/* an undetermined queue is paused: the resume determines the queue, a
	 * packet that leaves meanwhile does not
	 */
	begin(&s, T_BYTES, 1000, SECOND + 2000);
	KUNIT_EXPECT_EQ(test, iqcn_pfc_sent(&s, &params, U32_MAX, 2 * SECOND),
			IQCN_PFC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, end(&s, T_BYTES, 2001, SECOND + 3000),
			IQCN_PFC_REASON_RATE);
	KUNIT_EXPECT_FALSE(test, s.undetermined);
}

static void pfc_limit_test(struct kunit *test)
{
	struct iqcn_pfc s = {};
	u64 t = 5 * SECOND;

	KUNIT_EXPECT_FALSE(test, iqcn_pfc_quiet(&s, &params, t));
	begin(&s, T_BYTES, 0, t);
	KUNIT_EXPECT_TRUE(test, iqcn_pfc_quiet(&s, &params, t));
	KUNIT_EXPECT_TRUE(test, iqcn_pfc_quiet(&s, &params, t + SECOND - 1));
	KUNIT_EXPECT_FALSE(test, iqcn_pfc_quiet(&s, &params, t + SECOND));

	/* while the queue stays deep, more pauses do not extend the limit */
	end(&s, T_BYTES, 0, t + SECOND / 2);
	begin(&s, T_BYTES, 0, t + SECOND / 2 + 1);
	KUNIT_EXPECT_TRUE(test, iqcn_pfc_quiet(&s, &params, t + SECOND - 1));
	KUNIT_EXPECT_FALSE(test, iqcn_pfc_quiet(&s, &params, t + SECOND));
	end(&s, T_BYTES, 0, t + SECOND);
	KUNIT_EXPECT_FALSE(test, iqcn_pfc_quiet(&s, &params, t + SECOND));
	/* not even if a resume in between finds the queue congested */
	begin(&s, T_BYTES, 0, t + SECOND);
	end(&s, T_BYTES, 1, t + SECOND);
	begin(&s, T_BYTES, 0, t + SECOND + 1);
	KUNIT_EXPECT_FALSE(test, iqcn_pfc_quiet(&s, &params, t + SECOND + 1));

	/* but a pause that finds the queue below T restarts the limit */
	end(&s, T_BYTES, 9, t + SECOND + 1);
	begin(&s, T_BYTES - 1, 0, t + SECOND + 2);
	KUNIT_EXPECT_TRUE(test, iqcn_pfc_quiet(&s, &params, t + SECOND + 2));
	/* and so does a resume or a packet that finds it below T */
	end(&s, T_BYTES - 1, 0, t + SECOND + 3);
	begin(&s, T_BYTES, 0, t + 3 * SECOND);
	KUNIT_EXPECT_TRUE(test, iqcn_pfc_quiet(&s, &params, t + 3 * SECOND));
	end(&s, T_BYTES, 0, t + 3 * SECOND);
	iqcn_pfc_sent(&s, &params, T_BYTES - 1, t + 3 * SECOND + SETTLE_NS);
	begin(&s, T_BYTES, 0, t + 5 * SECOND);
	KUNIT_EXPECT_TRUE(test, iqcn_pfc_quiet(&s, &params, t + 5 * SECOND));
	/* also a packet that leaves a determined queue */
	KUNIT_EXPECT_EQ(test, end(&s, T_BYTES, 1, t + 5 * SECOND),
			IQCN_PFC_REASON_RATE);
	iqcn_pfc_sent(&s, &params, T_BYTES, t + 5 * SECOND);
	KUNIT_EXPECT_NE(test, s.since_ns, 0ULL);
	iqcn_pfc_sent(&s, &params, T_BYTES - 1, t + 5 * SECOND);
	begin(&s, T_BYTES, 0, t + 7 * SECOND);
	KUNIT_EXPECT_TRUE(test, iqcn_pfc_quiet(&s, &params, t + 7 * SECOND));
}

/* A model of Fig. 1 and steps 1.1 to 2.8 of the source, word by word */
struct figure {
	bool determined, congested, cnp;
	u64 pause_time, duration, rx_byte;
	u64 timer, recorded;
};

static void figure_resume(struct figure *f, u64 q, u64 now)
{
	/* 1.3, 1.4; a byte per ns */
	f->duration = now - f->pause_time;
	/* "is QLength below Threshold?" - "if so, keep the determined state" */
	if (q < T_BYTES) {
		f->determined = true;
		f->congested = false;
	} else if (f->rx_byte > f->duration) {
		f->determined = true;
		f->congested = true;
		f->cnp = true;
	} else {
		/* "reset the queue timer and record the length" */
		f->determined = false;
		f->timer = now + SETTLE_NS;
		f->recorded = q;
	}
}

static void figure_sent(struct figure *f, u64 q, u64 now)
{
	/* "not expired: stay undetermined" */
	if (f->determined || now < f->timer)
		return;
	if (q < T_BYTES) {
		f->determined = true;
		f->congested = false;
	} else if (q > f->recorded) {
		f->determined = true;
		f->congested = true;
		f->cnp = true;
	} else {
		f->timer = now + SETTLE_NS;
		f->recorded = q;
	}
}

static void pfc_walk_test(struct kunit *test)
{
	struct figure f = { .determined = true };
	struct iqcn_pfc s = {};
	u64 arrived = 0, sent = 0, now = SECOND, told = 0, unsure = 0;
	enum iqcn_pfc_reason reason;
	struct rnd_state rnd;
	bool pause = false;
	u32 i, bytes;

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 200000; i++) {
		reason = IQCN_PFC_REASON_NONE;
		f.cnp = false;
		now += prandom_u32_state(&rnd) % 3000;
		bytes = 1000 + prandom_u32_state(&rnd) % 3000;
		switch (prandom_u32_state(&rnd) % 16) {
		case 0:
			if (!pause) {
				begin(&s, arrived - sent, arrived, now);
				/* 1.1 */
				f.pause_time = now;
				f.rx_byte = 0;
			}
			pause = true;
			break;
		case 1:
			reason = end(&s, arrived - sent, arrived, now);
			if (pause)
				figure_resume(&f, arrived - sent, now);
			pause = false;
			break;
		case 2 ... 8:
			if (arrived - sent > 3 * T_BYTES)
				break;
			/* 1.2 */
			arrived += bytes;
			if (pause)
				f.rx_byte += bytes;
			break;
		default:
			if (pause || arrived - sent < bytes)
				break;
			sent += bytes;
			reason = iqcn_pfc_sent(&s, &params, arrived - sent, now);
			figure_sent(&f, arrived - sent, now);
		}
		KUNIT_ASSERT_EQ_MSG(test, !s.undetermined || pause,
				    f.determined || pause, "step %u", i);
		KUNIT_ASSERT_EQ_MSG(test, f.cnp,
				    reason == IQCN_PFC_REASON_RATE ||
				    reason == IQCN_PFC_REASON_GREW, "step %u", i);
		told += f.cnp;
		unsure += reason == IQCN_PFC_REASON_UNSURE;
	}
	/* the random walk has produced both results often enough */
	KUNIT_EXPECT_GT(test, told, 100ULL);
	KUNIT_EXPECT_GT(test, unsure, 100ULL);
}

static struct kunit_case pfc_test_cases[] = {
	KUNIT_CASE(pfc_resume_test),
	KUNIT_CASE(pfc_fraction_test),
	KUNIT_CASE(pfc_settle_test),
	KUNIT_CASE(pfc_overlap_test),
	KUNIT_CASE(pfc_limit_test),
	KUNIT_CASE(pfc_walk_test),
	{}
};

static struct kunit_suite pfc_suite = {
	.name = "iqcn_pfc",
	.test_cases = pfc_test_cases,
};

kunit_test_suite(pfc_suite);
