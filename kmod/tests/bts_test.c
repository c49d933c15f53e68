// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/bts.h: whose packets may cause a CNP
 */
#include "algo/bts.h"
#include "tests.h"

static void bts_ecn_test(struct kunit *test)
{
	static const struct {
		u32 ce_in;
		u8 ecn;
		bool queued;
		bool dropped;
	} rows[] = {
		{ IQCN_CE_IN_NOTIFY, INET_ECN_NOT_ECT, false, false },
		{ IQCN_CE_IN_NOTIFY, INET_ECN_ECT_0, true, true },
		{ IQCN_CE_IN_NOTIFY, INET_ECN_ECT_1, true, true },
		{ IQCN_CE_IN_NOTIFY, INET_ECN_CE, true, true },
		{ IQCN_CE_IN_SILENT, INET_ECN_NOT_ECT, false, false },
		{ IQCN_CE_IN_SILENT, INET_ECN_ECT_0, true, true },
		{ IQCN_CE_IN_SILENT, INET_ECN_ECT_1, true, true },
		{ IQCN_CE_IN_SILENT, INET_ECN_CE, false, true },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ_MSG(test, iqcn_bts_may_notify(rows[i].ce_in,
							      rows[i].ecn, false),
				    rows[i].queued, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_bts_may_notify(rows[i].ce_in,
							      rows[i].ecn, true),
				    rows[i].dropped, "row %d", i);
	}
}

static void bts_gap_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(5000, 8000), 3000);
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(5000, 5000), 0);
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(1, 50000001), 50000000);
	/* after a longer pause, and for a new flow */
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(1, 50000002), 1000000);
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(1, 1 + (7ULL << 32)), 1000000);
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(0, 30000000), 1000000);
}

/* Four gaps, at least T1, at most 50 ms */
static void bts_polls_test(struct kunit *test)
{
	static const struct {
		u32 gap_ns;
		u32 t1_ns;
		u64 last_ns;
	} rows[] = {
		{ 1361000, 225000, 5444000 },
		{ 1000, 225000, 225000 },
		{ 0, 225000, 225000 },
		{ 56250, 225000, 225000 },
		{ 56251, 225000, 225004 },
		{ 12500000, 225000, 50000000 },
		{ 50000000, 225000, 50000000 },
		{ 1000, 1000000000, 50000000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_TRUE_MSG(test,
				      iqcn_bts_polls(rows[i].gap_ns,
						     rows[i].t1_ns,
						     rows[i].last_ns),
				      "row %d", i);
		KUNIT_EXPECT_FALSE_MSG(test,
				       iqcn_bts_polls(rows[i].gap_ns,
						      rows[i].t1_ns,
						      rows[i].last_ns + 1),
				       "row %d", i);
	}
}

static struct kunit_case bts_test_cases[] = {
	KUNIT_CASE(bts_ecn_test),
	KUNIT_CASE(bts_gap_test),
	KUNIT_CASE(bts_polls_test),
	{}
};

static struct kunit_suite bts_suite = {
	.name = "iqcn_bts",
	.test_cases = bts_test_cases,
};

kunit_test_suite(bts_suite);
