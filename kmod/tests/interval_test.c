// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/interval.h: learned times of a flow
 */
#include "algo/interval.h"
#include "tests.h"

static void smooth_test(struct kunit *test)
{
	static const u32 values[] = {
		1, 7, 8, 9, 1000, 20000, 300000, NSEC_PER_SEC, U32_MAX,
	};
	int a, b, i;

	/* RFC 6298: 7/8 of the old value, 1/8 of the new one */
	KUNIT_EXPECT_EQ(test, iqcn_smooth(8000, 16000), 9000);
	KUNIT_EXPECT_EQ(test, iqcn_smooth(16000, 8000), 15000);
	KUNIT_EXPECT_EQ(test, iqcn_smooth(8, U32_MAX), 536870918);
	KUNIT_EXPECT_EQ(test, iqcn_smooth(U32_MAX, 7), 3758096384U);

	for (a = 0; a < ARRAY_SIZE(values); a++) {
		u32 smooth = iqcn_smooth(0, values[a]);

		for (i = 0; i < 100; i++) {
			KUNIT_EXPECT_EQ(test, smooth, values[a]);
			smooth = iqcn_smooth(smooth, values[a]);
		}
		/* the average approaches another value and never passes it */
		for (b = 0; b < ARRAY_SIZE(values); b++) {
			u64 off = gap64(values[a], values[b]);

			smooth = values[a];
			for (i = 0; i < 200; i++) {
				u64 last = off;

				smooth = iqcn_smooth(smooth, values[b]);
				off = gap64(smooth, values[b]);
				KUNIT_ASSERT_EQ(test, off, last - last / 8);
			}
			KUNIT_EXPECT_LT_MSG(test, off, 8, "%u to %u",
					    values[a], values[b]);
		}
	}
}

static void answer_test(struct kunit *test)
{
	enum { ASK, SEEN };
	/* quiet_ns is for ASK: time since the previous CE packet */
	static const struct {
		u8 what;
		u64 quiet_ns, now_ns;
		u64 start_ns;
		u32 smooth_ns;
	} steps[] = {
		/* a CNP for earlier packets, then the first packet */
		{ SEEN, 0, 500, 0, 0 },
		{ ASK, U64_MAX, 1000, 1000, 0 },
		{ ASK, 1000, 2000, 1000, 0 },
		{ ASK, T1_NS - 1, 301999, 1000, 0 },
		/* the last packet that follows a silence is timed */
		{ ASK, T1_NS, 601999, 601999, 0 },
		{ ASK, U64_MAX, 700000, 700000, 0 },
		{ ASK, 1000, 701000, 700000, 0 },
		/* the first sample counts in full; without a timed packet,
		 * a CNP is no sample
		 */
		{ SEEN, 0, 720000, 0, 20000 },
		{ SEEN, 0, 730000, 0, 20000 },
		/* the silence must be T1 or longer */
		{ ASK, 0, 740000, 0, 20000 },
		{ ASK, 40000, 780000, 0, 20000 },
		{ ASK, T1_NS - 1, 1000000, 0, 20000 },
		{ SEEN, 0, 1010000, 0, 20000 },
		{ ASK, T1_NS, 2000000, 2000000, 20000 },
		{ SEEN, 0, 2028000, 0, 21000 },
		{ ASK, U64_MAX, 3000000, 3000000, 21000 },
		{ SEEN, 0, 3013000, 0, 20000 },
		/* a response time of more than a second is ignored */
		{ ASK, T1_NS, SECOND, SECOND, 20000 },
		{ SEEN, 0, 2 * SECOND + 1, 0, 20000 },
		{ SEEN, 0, 2 * SECOND + 2, 0, 20000 },
		{ ASK, T1_NS, 3 * SECOND, 3 * SECOND, 20000 },
		{ SEEN, 0, 3 * SECOND + (1ULL << 32), 0, 20000 },
		{ ASK, T1_NS, 9 * SECOND, 9 * SECOND, 20000 },
		{ SEEN, 0, 10 * SECOND, 0, 125017500 },
		/* the silence must exceed the learned time, now above T1 */
		{ ASK, T1_NS, 11 * SECOND, 0, 125017500 },
		{ ASK, 125017500, 12 * SECOND, 0, 125017500 },
		{ ASK, 125017501, 13 * SECOND, 13 * SECOND, 125017500 },
		{ ASK, T1_NS, 13 * SECOND + 7500, 13 * SECOND, 125017500 },
		{ SEEN, 0, 13 * SECOND + 17500, 0, 109392500 },
		{ ASK, 109392500, 14 * SECOND, 0, 109392500 },
		{ ASK, 109392501, 15 * SECOND, 15 * SECOND, 109392500 },
	};
	struct iqcn_cnp_srtt a = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].what == ASK)
			iqcn_cnp_srtt_start(&a, steps[i].quiet_ns, T1_NS, 0,
					    steps[i].now_ns);
		else
			iqcn_cnp_srtt_sample(&a, steps[i].now_ns);
		KUNIT_EXPECT_EQ_MSG(test, a.start_ns, steps[i].start_ns,
				    "step %d", i);
		KUNIT_EXPECT_EQ_MSG(test, a.smooth_ns, steps[i].smooth_ns,
				    "step %d", i);
	}
}

/* A lost CNP does not lengthen the learned time */
static void answer_lost_test(struct kunit *test)
{
	/* apart_ns: time from a packet whose CNP is lost to the next packet */
	static const struct {
		u32 known_ns;
		u32 lost;
		u64 apart_ns;
	} rows[] = {
		{ 20000, 1, 900000000 },
		{ 0, 1, 900000000 },
		{ 20000, 1, T1_NS },
		{ 0, 1, T1_NS },
		{ 20000, 100, 900000000 },
		{ 0, 100, 900000000 },
		{ 20000, 10, 100 * SECOND },
		{ 0, 10, 100 * SECOND },
	};
	u64 now_ns;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct iqcn_cnp_srtt a = { .smooth_ns = rows[i].known_ns };

		now_ns = 7 * SECOND;
		iqcn_cnp_srtt_start(&a, U64_MAX, T1_NS, 0, now_ns);
		for (n = 0; n < rows[i].lost; n++) {
			KUNIT_EXPECT_EQ_MSG(test, a.start_ns, now_ns,
					    "row %u", i);
			now_ns += rows[i].apart_ns;
			iqcn_cnp_srtt_start(&a, rows[i].apart_ns, T1_NS, 0,
					    now_ns);
		}
		KUNIT_EXPECT_EQ_MSG(test, a.start_ns, now_ns, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, a.smooth_ns, rows[i].known_ns,
				    "row %u", i);
		iqcn_cnp_srtt_sample(&a, now_ns + 20000);
		KUNIT_EXPECT_EQ_MSG(test, a.start_ns, 0, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, a.smooth_ns, 20000, "row %u", i);
	}
}

/* Packets leave every 10 us.  A CNP that arrives too late to be the answer to
 * the first packet is ignored.
 */
static void answer_dense_test(struct kunit *test)
{
	static const struct {
		u32 smooth_ns;
		u64 later_ns;	/* after the timed packet */
		bool dropped;	/* the measurement is dropped */
		u32 want_ns;
	} cnps[] = {
		{ 20000, 20000, false, 20000 },
		{ 20000, 80000, false, 27500 },
		{ 20000, 90000, true, 20000 },
		{ 20000, 900000000, true, 20000 },
		{ 0, 20000, false, 20000 },
		{ 0, 16 * T1_NS, false, 16 * T1_NS },
		{ 0, 16 * T1_NS + 10000, true, 0 },
		{ 0, 900000000, true, 0 },
	};
	u64 now_ns;
	int i;

	for (i = 0; i < ARRAY_SIZE(cnps); i++) {
		struct iqcn_cnp_srtt a = { .smooth_ns = cnps[i].smooth_ns };

		iqcn_cnp_srtt_start(&a, U64_MAX, T1_NS, 0, SECOND);
		for (now_ns = 10000; now_ns <= cnps[i].later_ns;
		     now_ns += 10000)
			iqcn_cnp_srtt_start(&a, 10000, T1_NS, 0, SECOND + now_ns);
		KUNIT_EXPECT_EQ_MSG(test, a.start_ns,
				    cnps[i].dropped ? 0 : SECOND, "row %d", i);
		iqcn_cnp_srtt_sample(&a, SECOND + cnps[i].later_ns);
		KUNIT_EXPECT_EQ_MSG(test, a.smooth_ns, cnps[i].want_ns,
				    "row %d", i);
	}
}

static void interval_test(struct kunit *test)
{
	static const struct {
		u32 smooth_ns;
		u64 last_ns, now_ns;
		u32 want_ns;
	} cnps[] = {
		/* the first CNP */
		{ 0, 0, 1, 0 },
		{ 0, 0, 5000, 0 },
		{ 0, 0, 9 * SECOND, 0 },
		{ 7000, 0, 5000, 7000 },
		/* the first interval counts in full */
		{ 0, 1, 50001, 50000 },
		{ 0, 9 * SECOND, 9 * SECOND + 50000, 50000 },
		{ 50000, 9 * SECOND, 9 * SECOND + 50000, 50000 },
		{ 50000, 9 * SECOND, 9 * SECOND + 58000, 51000 },
		{ 50000, 9 * SECOND, 9 * SECOND + 42000, 49000 },
		{ 0, SECOND, 2 * SECOND, SECOND },
		{ 0, SECOND, 2 * SECOND + 1, 0 },
		{ 50000, SECOND, 2 * SECOND + 1, 50000 },
		{ 50000, SECOND, SECOND + (1ULL << 32), 50000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cnps); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_interval_sample(cnps[i].smooth_ns,
							 cnps[i].last_ns,
							 cnps[i].now_ns),
				    cnps[i].want_ns, "row %d", i);
}

static struct kunit_case interval_test_cases[] = {
	KUNIT_CASE(smooth_test),
	KUNIT_CASE(answer_test),
	KUNIT_CASE(answer_dense_test),
	KUNIT_CASE(answer_lost_test),
	KUNIT_CASE(interval_test),
	{}
};

static struct kunit_suite interval_suite = {
	.name = "iqcn_interval",
	.test_cases = interval_test_cases,
};

kunit_test_suite(interval_suite);
