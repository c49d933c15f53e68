// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/bts.h: which packets may cause a CNP, and when flows are
 * polled
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
	/* after a longer pause, and for a new flow: the assumed gap */
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(1, 50000002), 1000000);
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(1, 1 + (7ULL << 32)), 1000000);
	KUNIT_EXPECT_EQ(test, iqcn_bts_gap_ns(0, 30000000), 1000000);
}

/* A flow is polled for four gaps, at least for T1, and at most for 50 ms */
static void bts_polled_test(struct kunit *test)
{
	static const struct {
		u32 gap_ns;
		u32 t1_ns;
		u64 polled_ns;
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

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_bts_polled_ns(rows[i].gap_ns,
						       rows[i].t1_ns),
				    rows[i].polled_ns, "row %d", i);
}

/* The timer polls a flow in three cases: its gap is at least 1 ms; the polls of
 * two gaps and an interval may complete its credit; or its gap is more than
 * 1.25 intervals, and the polls of the gap add at least a 16th of a CNP
 */
static void bts_poller_test(struct kunit *test)
{
	const u64 tenth = U32_MAX / 10;
	static const struct {
		u32 gap_ns;
		u32 credit_tenths;
		u32 prob_tenths;
		enum iqcn_bts_poller poller;
	} rows[] = {
		{ 0, 0, 0, IQCN_POLLS_PACKET },
		{ 281250, 0, 0, IQCN_POLLS_PACKET },
		{ 281250, 0, 1, IQCN_POLLS_PACKET },
		{ 281251, 0, 0, IQCN_POLLS_NONE },
		{ 281251, 0, 1, IQCN_POLLS_TIMER },
		/* one poll */
		{ 0, 8, 1, IQCN_POLLS_PACKET },
		{ 0, 8, 2, IQCN_POLLS_TIMER },
		{ 0, 5, 5, IQCN_POLLS_TIMER },
		/* three polls; a probability above 1 */
		{ 225000, 6, 1, IQCN_POLLS_PACKET },
		{ 225000, 7, 1, IQCN_POLLS_TIMER },
		{ 0, 0, 11, IQCN_POLLS_TIMER },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		/* the credit is rounded up, to make up for U32_MAX % 10 */
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_bts_poller(rows[i].gap_ns, 225000,
						    rows[i].credit_tenths * tenth + 9,
						    rows[i].prob_tenths * tenth),
				    rows[i].poller, "row %d", i);
	/* a 16th of a CNP in a gap of two intervals */
	KUNIT_EXPECT_EQ(test, iqcn_bts_poller(450000, 225000, 0, BIT_ULL(27) - 1),
			IQCN_POLLS_NONE);
	KUNIT_EXPECT_EQ(test, iqcn_bts_poller(450000, 225000, 0, BIT_ULL(27)),
			IQCN_POLLS_TIMER);
	/* a gap just below that of a new flow, and that gap */
	KUNIT_EXPECT_EQ(test, iqcn_bts_poller(999999, NSEC_PER_MSEC, 0, 0),
			IQCN_POLLS_PACKET);
	KUNIT_EXPECT_EQ(test, iqcn_bts_poller(IQCN_POLL_NEW_NS, NSEC_PER_MSEC, 0, 0),
			IQCN_POLLS_TIMER);
	/* the longest interval and the highest probabilities */
	KUNIT_EXPECT_EQ(test, iqcn_bts_poller(0, NSEC_PER_SEC, 0, U32_MAX - 1),
			IQCN_POLLS_PACKET);
	KUNIT_EXPECT_EQ(test, iqcn_bts_poller(0, NSEC_PER_SEC, 0, U32_MAX),
			IQCN_POLLS_TIMER);
	KUNIT_EXPECT_EQ(test, iqcn_bts_poller(999999, NSEC_PER_SEC, 0, U32_MAX - 1),
			IQCN_POLLS_TIMER);
	KUNIT_EXPECT_EQ(test, iqcn_bts_poller(0, NSEC_PER_SEC, 0, U32_MAX + 1ULL),
			IQCN_POLLS_TIMER);
}

/* One poll per interval, unless the polls have ended */
static void bts_missed_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, iqcn_bts_polls_missed(1000, 9000, 300, 1299), 0);
	KUNIT_EXPECT_EQ(test, iqcn_bts_polls_missed(1000, 9000, 300, 1300), 1);
	KUNIT_EXPECT_EQ(test, iqcn_bts_polls_missed(1000, 9000, 300, 1900), 3);
	KUNIT_EXPECT_EQ(test, iqcn_bts_polls_missed(1000, 1900, 300, 1900), 3);
	KUNIT_EXPECT_EQ(test, iqcn_bts_polls_missed(1000, 1899, 300, 1900), 0);
	KUNIT_EXPECT_EQ(test, iqcn_bts_polls_missed(1000, 1000, 300, 5000), 0);
	/* polls count from the end of a pause, which is in the future */
	KUNIT_EXPECT_EQ(test, iqcn_bts_polls_missed(2000, 9000, 300, 1900), 0);
}

static struct kunit_case bts_test_cases[] = {
	KUNIT_CASE(bts_ecn_test),
	KUNIT_CASE(bts_gap_test),
	KUNIT_CASE(bts_polled_test),
	KUNIT_CASE(bts_poller_test),
	KUNIT_CASE(bts_missed_test),
	{}
};

static struct kunit_suite bts_suite = {
	.name = "iqcn_bts",
	.test_cases = bts_test_cases,
};

kunit_test_suite(bts_suite);
