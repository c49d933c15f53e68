// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/sojourn.h: the sojourn time of CE packets
 */
#include "algo/sojourn.h"
#include "tests.h"

#define PACKETS 1000

/* Compare with a FIFO that timestamps each packet: the measured times must be
 * exact, and must belong to CE packets.
 */
static void sojourn_model_test(struct kunit *test)
{
	struct packet {
		u32 bytes;
		u64 at_ns;
	} *fifo = alloc(test, PACKETS * sizeof(*fifo));
	u64 now_ns = SECOND, sent_bytes = 0, backlog = 0;
	unsigned int head = 0, tail = 0, measured = 0;
	struct iqcn_sojourn s = {};
	struct rnd_state rnd;
	struct packet *p;

	prandom_seed_state(&rnd, SEED);
	while (head < PACKETS) {
		now_ns += prandom_u32_state(&rnd) % 1000;
		if (tail < PACKETS && prandom_u32_state(&rnd) % 2) {
			p = &fifo[tail++];
			/* a size table may reduce a packet to one byte */
			p->bytes = 1 + prandom_u32_state(&rnd) % 3 * 1000;
			p->at_ns = now_ns;
			if (iqcn_sojourn_idle(&s, sent_bytes))
				iqcn_sojourn_begin(&s, sent_bytes + backlog +
						   p->bytes, now_ns);
			backlog += p->bytes;
		} else if (head < tail) {
			p = &fifo[head++];
			backlog -= p->bytes;
			sent_bytes += p->bytes;
			/* half of the packets leave with CE */
			if (prandom_u32_state(&rnd) % 2 ||
			    !iqcn_sojourn_is_probe(&s, sent_bytes))
				continue;
			KUNIT_ASSERT_EQ(test, s.start_ns, p->at_ns);
			measured++;
		}
	}
	KUNIT_EXPECT_GT(test, measured, 20U);
}

static void sojourn_cancel_test(struct kunit *test)
{
	struct iqcn_sojourn s = {};

	/* nothing has been sent, and there is no probe */
	KUNIT_EXPECT_TRUE(test, iqcn_sojourn_idle(&s, 0));

	iqcn_sojourn_begin(&s, 3000, SECOND);
	KUNIT_EXPECT_FALSE(test, iqcn_sojourn_idle(&s, 2999));
	KUNIT_EXPECT_FALSE(test, iqcn_sojourn_is_probe(&s, 2000));
	KUNIT_EXPECT_TRUE(test, iqcn_sojourn_is_probe(&s, 3000));
	/* the probe has left without CE */
	KUNIT_EXPECT_TRUE(test, iqcn_sojourn_idle(&s, 4000));

	iqcn_sojourn_cancel(&s);
	KUNIT_EXPECT_FALSE(test, iqcn_sojourn_is_probe(&s, 3000));
	KUNIT_EXPECT_TRUE(test, iqcn_sojourn_idle(&s, 1000));
}

static void sojourn_average_test(struct kunit *test)
{
	u64 avg_ns = 0;
	int i;

	avg_ns = iqcn_sojourn_average(avg_ns, 8 * MS);
	KUNIT_EXPECT_EQ(test, avg_ns, 8 * MS);
	KUNIT_EXPECT_EQ(test, iqcn_sojourn_average(avg_ns, 16 * MS), 9 * MS);
	KUNIT_EXPECT_EQ(test, iqcn_sojourn_average(avg_ns, 0), 7 * MS);
	for (i = 0; i < 5; i++)
		avg_ns = iqcn_sojourn_average(avg_ns, 0);
	KUNIT_EXPECT_GT(test, avg_ns, 4 * MS);
	avg_ns = iqcn_sojourn_average(avg_ns, 0);
	KUNIT_EXPECT_LT(test, avg_ns, 4 * MS);
}

static struct kunit_case sojourn_test_cases[] = {
	KUNIT_CASE(sojourn_model_test),
	KUNIT_CASE(sojourn_cancel_test),
	KUNIT_CASE(sojourn_average_test),
	{}
};

static struct kunit_suite sojourn_suite = {
	.name = "iqcn_sojourn",
	.test_cases = sojourn_test_cases,
};

kunit_test_suite(sojourn_suite);
