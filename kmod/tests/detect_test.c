// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/detect.h: meters and detectors of a queue
 */
#include <linux/math64.h>
#include <linux/string.h>

#include "algo/detect.h"
#include "tests.h"

static void meter_steady_test(struct kunit *test)
{
	static const struct {
		u32 bytes;
		u64 gap_ns, window_ns, want_bps;
	} streams[] = {
		{ 1250, 400, 1000000, 25000000000ULL },
		{ 1500, 120, 1000000, 100000000000ULL },
		{ 64, 7, 1000000, 73142857142ULL },
		{ 4178, 333, 1000000, 100372372372ULL },
		{ 1000, 999999, 1000000, 8000008 },
		{ 1000, 1000000, 1000000, 8000000 },
		{ 1000, 1000001, 1000000, 7999992 },
		{ 9000, 50000000, 1000000, 1440000 },
		{ 1, 3, 10, 2666666666ULL },
		/* 400 Gb/s over a second, and almost 2^32 bytes at once */
		{ 1000000, 20000, 1000000000, 400000000000ULL },
		{ U32_MAX, 1000000000, 60000000000ULL, 34359738360ULL },
	};
	int i, n;

	for (i = 0; i < ARRAY_SIZE(streams); i++) {
		u64 gap_ns = streams[i].gap_ns, now_ns = 12345, since;
		u64 window_ns = streams[i].window_ns;
		struct iqcn_meter m = {};
		int closed = 0;

		since = now_ns;
		for (n = 0; closed < 3 && n < 1000000; n++) {
			bool ret = iqcn_meter_add(&m, window_ns, now_ns,
						  streams[i].bytes);

			KUNIT_ASSERT_EQ_MSG(test, ret, now_ns - since >=
					    window_ns, "stream %d", i);
			if (ret) {
				KUNIT_ASSERT_EQ_MSG(test, m.rate_bps,
						    streams[i].want_bps,
						    "stream %d", i);
				since = now_ns;
				closed++;
			}
			now_ns += gap_ns;
		}
		KUNIT_EXPECT_EQ_MSG(test, closed, 3, "stream %d", i);
	}
	KUNIT_EXPECT_EQ(test, iqcn_rate_bps(50000000000ULL, 1000000000),
			400000000000ULL);
	KUNIT_EXPECT_EQ(test, iqcn_rate_bps(1000, 0), 0);
	/* beyond 64 bits: the division would trap */
	KUNIT_EXPECT_EQ(test, iqcn_rate_bps(BIT_ULL(48), 100000),
			IQCN_RATE_MAX_BPS);
	KUNIT_EXPECT_EQ(test, iqcn_rate_bps(U64_MAX, 1), IQCN_RATE_MAX_BPS);
	/* the fewest bytes whose rate does not fit in 64 bits */
	KUNIT_EXPECT_EQ(test, iqcn_rate_bps(2305843010, 1), IQCN_RATE_MAX_BPS);
	/* 2^55 bit/s is more than the maximum of 2^54 */
	KUNIT_EXPECT_EQ(test, iqcn_rate_bps(BIT_ULL(52), NSEC_PER_SEC),
			IQCN_RATE_MAX_BPS);
	KUNIT_EXPECT_EQ(test, iqcn_rate_bps(BIT_ULL(50), NSEC_PER_SEC),
			BIT_ULL(53));
	KUNIT_EXPECT_FALSE(test, iqcn_detect_queue(true, IQCN_RATE_MAX_BPS,
						   IQCN_RATE_MAX_BPS, 1000,
						   1000));
}

/* The bytes of an abandoned window do not count in the next one */
static void meter_stopped_test(struct kunit *test)
{
	struct iqcn_meter m = {};
	u64 now = 1;
	int i;

	for (i = 0; i < 10; i++)
		iqcn_meter_add(&m, 1000000, now += 50000, 1000);
	m.start_ns = 0;
	now += 1000000;
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_FALSE(test, iqcn_meter_add(&m, 1000000,
							now += 50000, 1000));
	KUNIT_EXPECT_TRUE(test, iqcn_meter_add(&m, 1000000, now += 50000,
					       1000));
	/* 1000 bytes per 50 us */
	KUNIT_EXPECT_EQ(test, m.rate_bps, 160000000ULL);
}

/* After another @bytes bytes have left, the rate of the window is @want_bps */
static void expect_outflow(struct kunit *test, struct iqcn_outflow *o,
			   u32 bytes, u64 ns, u64 want_bps)
{
	o->bytes += bytes;
	KUNIT_EXPECT_EQ(test, iqcn_outflow_bps(o, ns), want_bps);
}

/* The drain rate over the window of another meter; 0 unless the queue was
 * backlogged throughout
 */
static void outflow_test(struct kunit *test)
{
	struct iqcn_outflow o = {};

	/* the packet that starts a window belongs to the previous one */
	expect_outflow(test, &o, 1000, 1000, 0);
	iqcn_outflow_begin(&o);
	expect_outflow(test, &o, 0, 1000, 0);
	expect_outflow(test, &o, 125, 1000, 1000000000);
	expect_outflow(test, &o, 125, 1000, 2000000000);
	iqcn_outflow_begin(&o);
	expect_outflow(test, &o, 500, 4000, 1000000000);

	/* the backlog was interrupted */
	memset(&o, 0, sizeof(o));
	expect_outflow(test, &o, 9000, 5000, 0);
	iqcn_outflow_begin(&o);
	expect_outflow(test, &o, 250, 2000, 1000000000);

	/* the backlog began after the start of the window */
	memset(&o, 0, sizeof(o));
	iqcn_outflow_begin(&o);
	expect_outflow(test, &o, 250, 2000, 0);
}

static void meter_quiet_test(struct kunit *test)
{
	struct iqcn_meter m = {};

	/* the meter is stopped */
	KUNIT_EXPECT_FALSE(test, iqcn_meter_idle(&m, 2000, 1000000));

	KUNIT_EXPECT_FALSE(test, iqcn_meter_add(&m, 1000, 5000, 100));
	KUNIT_EXPECT_FALSE(test, iqcn_meter_add(&m, 1000, 5400, 100));
	KUNIT_EXPECT_FALSE(test, iqcn_meter_add(&m, 1000, 5999, 150));
	KUNIT_EXPECT_FALSE(test, iqcn_meter_idle(&m, 2000, 6999));
	KUNIT_EXPECT_TRUE(test, iqcn_meter_idle(&m, 2000, 7000));
	KUNIT_EXPECT_EQ(test, m.rate_bps, 0);
	KUNIT_EXPECT_FALSE(test, iqcn_meter_idle(&m, 2000, 100000));

	/* the next window includes neither the idle time, nor the bytes
	 * before it, nor the first packet: 125 bytes in 1 us
	 */
	KUNIT_EXPECT_FALSE(test, iqcn_meter_add(&m, 1000, 200000, 9999));
	KUNIT_EXPECT_TRUE(test, iqcn_meter_add(&m, 1000, 201000, 125));
	KUNIT_EXPECT_EQ(test, m.rate_bps, 1000000000);

	/* the rate remains until the idle timeout */
	KUNIT_EXPECT_FALSE(test, iqcn_meter_idle(&m, 2000, 202999));
	KUNIT_EXPECT_EQ(test, m.rate_bps, 1000000000);
	KUNIT_EXPECT_TRUE(test, iqcn_meter_idle(&m, 2000, 203000));
	KUNIT_EXPECT_EQ(test, m.rate_bps, 0);
}

static void quiet_ns_test(struct kunit *test)
{
	static const struct {
		u64 window_ns, roce_bps, bytes, want_ns;
	} queues[] = {
		/* 1500 bytes take 480 ns at 25 Gb/s; no rate, or no bytes */
		{ 1000000, 25000000000ULL, 1500, 2000960 },
		{ 1000000, 0, 1500, 2000000 },
		{ 1000000, 0, U64_MAX, 2000000 },
		{ 1000000, 25000000000ULL, 0, 2000000 },
		/* 64 KB take 8 ms at 64 Mb/s */
		{ 1000000, 64000000, 64000, 18000000 },
		/* sampling: one 9000-byte packet in 65536 */
		{ 1000000, 25000000000ULL, 589824000, 379487360 },
		/* just below a second, and the cap */
		{ 1000000, 8000, 999, 2000000000 },
		{ 1000000, 8000, 1000, 2002000000 },
		{ 1000000, 8000, 1001, 2002000000 },
		{ 1000000, 1, 1, 2002000000 },
		{ 1000000, 1, 1 << 30, 2002000000 },
		{ 1000000, 1, (1 << 30) + 1, 2002000000 },
		{ 1000000, 1, U64_MAX, 2002000000 },
		/* beyond 32 bits */
		{ 1000000, 1000000000, (1ULL << 32) + 1500, 2002000000 },
		{ 1000000, 1000000000, 1ULL << 63, 2002000000 },
		{ 1000000, 1000000000, U64_MAX, 2002000000 },
		{ 1000000000, 1000000000, U64_MAX, 4000000000ULL },
		{ 1000000, U64_MAX, 1500, 2000000 },
		{ 60000000000ULL, 1, 1, 122000000000ULL },
	};
	static const u64 rates[] = {
		1, 7, 8000, 1000000000, 25000000000ULL, 1000000000000000ULL,
		U64_MAX,
	};
	static const struct {
		u64 window_ns, t1_ns, gap_ns, want_ns;
	} flows[] = {
		{ 1000000, 300000, 0, 2600000 },
		{ 1000000, 300000, 50000, 2700000 },
		{ 10000, 10000, 0, 40000 },
		{ 10000, 10000, 1, 40002 },
		{ 10000, 1000000000, 0, 2000020000 },
		{ 1000000000, 10000, 0, 2000020000 },
		{ 1000000000, 1000000000, 1000000000, 6000000000ULL },
		{ U32_MAX, U32_MAX, 0, 17179869180ULL },
		/* one packet per minute */
		{ 1000000, 300000, 60000000000ULL, 120002600000ULL },
	};
	int i, b;

	for (i = 0; i < ARRAY_SIZE(queues); i++)
		KUNIT_EXPECT_EQ_MSG(test, iqcn_idle_ns(queues[i].window_ns,
						       queues[i].roce_bps,
						       queues[i].bytes),
				    queues[i].want_ns, "row %d", i);
	/* the timeout grows with the bytes, whose time is at most a second */
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		u64 ns, last_ns = 2000;

		for (b = 0; b < 64; b++) {
			ns = iqcn_idle_ns(1000, rates[i], 1ULL << b);
			KUNIT_ASSERT_GE_MSG(test, ns, last_ns,
					    "%llu bit/s, 2^%d bytes", rates[i],
					    b);
			last_ns = ns;
		}
		KUNIT_EXPECT_LE_MSG(test, last_ns, 2 * (1000 + SECOND),
				    "%llu bit/s", rates[i]);
	}
	for (i = 0; i < ARRAY_SIZE(flows); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_flow_idle_ns(flows[i].window_ns,
						      flows[i].t1_ns,
						      flows[i].gap_ns),
				    flows[i].want_ns, "row %d", i);
}

static void detect_queue_test(struct kunit *test)
{
	static const struct {
		u64 permille;
		bool want;
	} steps[] = {
		{ 0, false }, { 899, false }, { 950, true }, { 750, true },
		{ 601, true }, { 600, false }, { 750, false }, { 899, false },
		{ 900, true }, { 2000, true }, { 0, false },
		{ 950, true }, { 750, true }, { 590, false },
	};
	static const u64 roce_bps[] = { 1000, 25000000000ULL,
					800000000000ULL };
	bool congested;
	int i, s;

	for (i = 0; i < ARRAY_SIZE(roce_bps); i++) {
		congested = false;
		for (s = 0; s < ARRAY_SIZE(steps); s++) {
			u64 bps = div_u64(roce_bps[i], 1000) *
				  steps[s].permille;

			congested = iqcn_detect_queue(congested, bps,
						      roce_bps[i], 90, 60);
			KUNIT_EXPECT_EQ_MSG(test, congested, steps[s].want,
					    "step %d at %llu bit/s", s,
					    roce_bps[i]);
		}
	}
	KUNIT_EXPECT_FALSE(test, iqcn_detect_queue(false, 1000000, 0, 90, 60));
	KUNIT_EXPECT_FALSE(test, iqcn_detect_queue(true, 1000000, 0, 90, 60));
	KUNIT_EXPECT_FALSE(test, iqcn_detect_queue(false, 0, 0, 90, 60));
}

static void detect_depth_test(struct kunit *test)
{
	static const struct {
		u32 depth;
		bool want;
	} steps[] = {
		{ 0, false }, { 100, false }, { 101, false }, { 400, false },
		{ 401, true }, { 400, true }, { 250, true }, { 101, true },
		{ 100, false }, { 101, false }, { 400, false },
		{ U32_MAX, true }, { 0, false },
	};
	bool congested = false;
	int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		congested = iqcn_detect_depth(congested, steps[i].depth, 100,
					      400);
		KUNIT_EXPECT_EQ_MSG(test, congested, steps[i].want, "step %d",
				    i);
	}
}

static struct kunit_case detect_test_cases[] = {
	KUNIT_CASE(meter_steady_test),
	KUNIT_CASE(outflow_test),
	KUNIT_CASE(meter_quiet_test),
	KUNIT_CASE(quiet_ns_test),
	KUNIT_CASE(meter_stopped_test),
	KUNIT_CASE(detect_queue_test),
	KUNIT_CASE(detect_depth_test),
	{}
};

static struct kunit_suite detect_suite = {
	.name = "iqcn_detect",
	.test_cases = detect_test_cases,
};

kunit_test_suite(detect_suite);
