// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/pending.h: which CNPs cancel a deferred one
 */
#include "algo/pending.h"
#include "tests.h"

/* Packets at 0, 1, 2 ... ms, each answered @late_ns later: only the answer to a
 * later packet cancels the deferred CNP of a packet
 */
static void pending_late_test(struct kunit *test)
{
	static const struct {
		u64 late_ns;
		u64 t2_ns;
		bool canceled;
	} rows[] = {
		{ 150000, 150000, false },
		{ 390000, 390000, false },
		{ 600000, 600000, false },
		{ 1200000, 1200000, false },
		{ 2700000, 1500000, false },
		{ 4700000, 4700000, false },
		{ 390000, 1000000, false },
		/* T2 is so long that the next answer arrives first */
		{ 150000, 900000, true },
		{ 390000, 1100000, true },
		{ 600000, 1400000, true },
	};
	const u64 ms = 1000000, answers = 40;
	u64 now_ns, sent, seen, due, t1_ns = T1_NS;
	bool canceled;
	u8 owed, left;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		owed = 0;
		canceled = false;
		left = 0;
		sent = 0;
		seen = 0;
		due = 0;
		/* events at the same time: packet, then its T1, then answer */
		for (now_ns = 0; seen < answers; now_ns += 10000) {
			if (now_ns == sent * ms) {
				owed = iqcn_owed_asked(owed, sent ? ms : U64_MAX,
						       t1_ns);
				sent++;
			}
			/* test the CNP of packet 10 */
			if (now_ns == 10 * ms + t1_ns) {
				left = owed;
				due = now_ns;
			}
			if (now_ns != seen * ms + rows[i].late_ns)
				continue;
			seen++;
			owed = iqcn_owed_answered(owed);
			if (!due || now_ns >= due + rows[i].t2_ns)
				continue;
			/* no learned time: the count alone decides */
			canceled |= iqcn_pending_canceled(left,
					now_ns - 10 * ms, 0, t1_ns);
			left = iqcn_owed_answered(left);
		}
		KUNIT_EXPECT_EQ_MSG(test, canceled, rows[i].canceled,
				    "row %d", i);
	}
}

static void pending_test(struct kunit *test)
{
	static const struct {
		u8 owed;
		u64 since_ns, answer_ns;
		bool want;
	} cnps[] = {
		{ 0, 1, 0, true },
		{ 0, T1_NS, 0, true },
		/* by time: did the answered packet leave after T1 started? */
		{ 0, 400000, 399999, true },
		{ 0, 400000, 400000, false },
		{ 0, 400000, 500000, false },
		/* by count: a CNP is owed for the earlier packet */
		{ 1, 400000, 0, false },
		{ 1, 400000, 20000, false },
		{ IQCN_OWED_MAX, 16 * T1_NS, 20000, false },
		/* no answer is expected any more */
		{ IQCN_OWED_MAX, 16 * T1_NS + 1, 20000, true },
		{ 0, 16 * T1_NS + 1, SECOND, true },
	};
	u8 owed;
	int i;

	for (i = 0; i < ARRAY_SIZE(cnps); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_pending_canceled(cnps[i].owed,
							  cnps[i].since_ns,
							  cnps[i].answer_ns,
							  T1_NS),
				    cnps[i].want, "row %d", i);

	/* packets less than T1 apart may share one CNP */
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(0, U64_MAX, T1_NS), 1);
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(1, T1_NS - 1, T1_NS), 1);
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(0, T1_NS - 1, T1_NS), 0);
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(1, T1_NS, T1_NS), 2);
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(3, 16 * T1_NS, T1_NS), 4);
	/* earlier packets will not be answered any more */
	KUNIT_EXPECT_EQ(test, iqcn_owed_asked(3, 16 * T1_NS + 1, T1_NS), 1);
	for (owed = 0, i = 0; i < 100; i++)
		owed = iqcn_owed_asked(owed, T1_NS, T1_NS);
	KUNIT_EXPECT_EQ(test, owed, IQCN_OWED_MAX);
	KUNIT_EXPECT_EQ(test, iqcn_owed_answered(owed), IQCN_OWED_MAX - 1);
	KUNIT_EXPECT_EQ(test, iqcn_owed_answered(1), 0);
	KUNIT_EXPECT_EQ(test, iqcn_owed_answered(0), 0);
}

static struct kunit_case pending_test_cases[] = {
	KUNIT_CASE(pending_test),
	KUNIT_CASE(pending_late_test),
	{}
};

static struct kunit_suite pending_suite = {
	.name = "iqcn_pending",
	.test_cases = pending_test_cases,
};

kunit_test_suite(pending_suite);
