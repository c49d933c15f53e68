// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of wires: the clock of the line, PFC frames, buffers.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/sizes.h>

#include "line.h"
#include "mmu.h"
#include "pfc.h"

#define GBIT	1000000000ULL

/* Frames that are ready before the line is free leave back to back: at 100 Gb/s
 * 1,038 bytes take 83,040 ps
 */
static void line_back_to_back(struct kunit *test)
{
	struct line l = { .rate_bps = 100 * GBIT, .free_ps = 5000000 };
	int i;

	for (i = 1; i <= 1000; i++)
		KUNIT_EXPECT_EQ(test, line_send(&l, 1038, 4000000),
				5000000 + i * 83040ULL);
	KUNIT_EXPECT_EQ(test, l.busy_ps, 83040000);
	/* the line is idle until the next frame is ready */
	KUNIT_EXPECT_EQ(test, line_send(&l, 125, 1000000000), 1000010000);
	KUNIT_EXPECT_EQ(test, l.busy_ps, 83050000);
}

static void line_ends(struct kunit *test)
{
	struct line l = { .rate_bps = 1000000 };

	/* 128 KB at 1 Mb/s, 64 bytes at 1 Tb/s */
	KUNIT_EXPECT_EQ(test, line_frame_ps(&l, 131072), 1048576000000);
	l.rate_bps = 1000 * GBIT;
	KUNIT_EXPECT_EQ(test, line_frame_ps(&l, 64), 512);
}

/* A PFC frame waits for the frame on the line, not for those behind it */
static void line_preempts(struct kunit *test)
{
	struct line l = { .rate_bps = 8 * GBIT };

	/* the line is idle */
	KUNIT_EXPECT_EQ(test, line_preempt(&l, 60, 1000000, 9000000), 1060000);
	KUNIT_EXPECT_EQ(test, l.free_ps, 1060000);
	/* busy for another 60,000 ps, less than the longest frame takes */
	line_send(&l, 100, 0);
	KUNIT_EXPECT_EQ(test, line_preempt(&l, 60, 1100000, 9000000), 1220000);
	/* busy for longer: the PFC frame waits as long as the longest frame
	 * takes
	 */
	line_send(&l, 60000, 0);
	KUNIT_EXPECT_EQ(test, line_preempt(&l, 60, 1300000, 9000000),
			1300000 + 9000000 + 60000);
	/* later data waits for the PFC frame */
	KUNIT_EXPECT_EQ(test, l.free_ps, 1220000 + 60000000 + 60000);
}

static void pfc_round_trip(struct kunit *test)
{
	static const u8 src[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };
	/* from the standard's figure: two classes, 8 and 65,535 quanta */
	static const u8 want[] = {
		0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 2, 0, 0, 0, 0, 1,
		0x88, 0x08, 0x01, 0x01, 0x00, 0x88, 0, 0, 0, 0, 0, 0,
		0x00, 0x08, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0,
	};
	struct pfc pfc = { .classes = 0x88, .quanta = { [3] = 8, [7] = 0xffff } };
	u8 frame[PFC_FRAME_LEN];
	struct pfc got;
	int i;

	pfc_build(frame, src, &pfc);
	KUNIT_EXPECT_EQ(test, memcmp(frame, want, 34), 0);
	for (i = 34; i < PFC_FRAME_LEN; i++)
		KUNIT_EXPECT_EQ(test, frame[i], 0);
	KUNIT_EXPECT_TRUE(test, pfc_parse(frame, sizeof(frame), &got));
	KUNIT_EXPECT_EQ(test, memcmp(&got, &pfc, sizeof(got)), 0);
	/* quanta of other classes are ignored */
	frame[PFC_OPCODE_OFF + 4] = 0x12;
	KUNIT_EXPECT_TRUE(test, pfc_parse(frame, sizeof(frame), &got));
	KUNIT_EXPECT_EQ(test, got.quanta[0], 0);
}

static void pfc_refuses(struct kunit *test)
{
	static const u8 src[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };
	struct pfc pfc = { .classes = 1, .quanta = { 5 } };
	u8 frame[PFC_FRAME_LEN];
	struct pfc got;
	u32 len;

	pfc_build(frame, src, &pfc);
	for (len = 0; len < ETH_HLEN + PFC_BODY_LEN; len++)
		KUNIT_EXPECT_FALSE(test, pfc_parse(frame, len, &got));
	KUNIT_EXPECT_TRUE(test, pfc_parse(frame, len, &got));
	/* a PAUSE frame of 802.3x, then a frame with another EtherType */
	frame[PFC_OPCODE_OFF] = 0;
	KUNIT_EXPECT_FALSE(test, pfc_parse(frame, len, &got));
	frame[PFC_OPCODE_OFF] = 1;
	frame[2 * ETH_ALEN] = 0x08;
	KUNIT_EXPECT_FALSE(test, pfc_parse(frame, len, &got));
}

static void pfc_times(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pfc_pause_ps(0, GBIT), 0);
	KUNIT_EXPECT_EQ(test, pfc_pause_ps(1, 100 * GBIT), 5120);
	KUNIT_EXPECT_EQ(test, pfc_pause_ps(0xffff, 10 * GBIT), 3355392000);
	KUNIT_EXPECT_EQ(test, pfc_pause_ps(0xffff, 1000000), 33553920000000);
}

static struct mmu_queue mmu_test_queue(struct mmu *mmu)
{
	struct mmu_queue q = {
		.alpha = 1U << 31,		/* a half */
		.headroom_bytes = 10000,
		.resume_bytes = 3000,
	};

	mmu_add(mmu, &q);
	return q;
}

/* One queue with alpha 1/2: it pauses when it uses half as many shared bytes as
 * are still free
 */
static void mmu_one_queue(struct kunit *test)
{
	struct mmu mmu = { .buffer_bytes = 44096 };
	struct mmu_queue q = mmu_test_queue(&mmu);
	int n = 0;

	/* 30,000 bytes are shared; at 10,000 of them the queue pauses */
	KUNIT_EXPECT_EQ(test, mmu_threshold(&mmu, &q), 15000);
	while (!mmu_should_pause(&mmu, &q)) {
		KUNIT_ASSERT_TRUE(test, mmu_admit(&mmu, &q, 1000));
		n++;
	}
	/* 14 packets fit into 4,096 + 10,000 bytes; the next uses the headroom
	 */
	KUNIT_EXPECT_EQ(test, n, 15);
	KUNIT_EXPECT_EQ(test, q.over_bytes, 1000);
	q.paused = true;
	for (n = 0; mmu_admit(&mmu, &q, 1000); n++)
		;
	KUNIT_EXPECT_EQ(test, n, 9);
	KUNIT_EXPECT_EQ(test, q.over_bytes, 10000);
	KUNIT_EXPECT_FALSE(test, mmu_should_pause(&mmu, &q));
	/* The headroom is emptied first.  The queue resumes at 12,000 bytes.
	 * Without the reserve of 4,096 these are 7,904 shared bytes, which is
	 * at least 3,000 below the threshold:
	 * 7,904 + 3,000 <= (30,000 - 7,904) / 2
	 */
	for (n = 0; !mmu_should_resume(&mmu, &q); n++)
		mmu_release(&mmu, &q, 1000);
	KUNIT_EXPECT_EQ(test, n, 10 + 2);
	q.paused = false;
	mmu_remove(&mmu, &q);
	KUNIT_EXPECT_EQ(test, mmu.private_bytes, 0);
	KUNIT_EXPECT_EQ(test, mmu.shared_bytes, 0);
}

/* Each queue has a reserve of its own, which needs no shared bytes */
static void mmu_reserve(struct kunit *test)
{
	struct mmu mmu = { .buffer_bytes = 2 * (10000 + MMU_RESERVE_BYTES) };
	struct mmu_queue a = mmu_test_queue(&mmu);
	struct mmu_queue b = mmu_test_queue(&mmu);

	KUNIT_EXPECT_EQ(test, mmu_threshold(&mmu, &a), 0);
	KUNIT_EXPECT_TRUE(test, mmu_admit(&mmu, &a, MMU_RESERVE_BYTES));
	KUNIT_EXPECT_EQ(test, mmu.shared_bytes, 0);
	KUNIT_EXPECT_EQ(test, a.over_bytes, 0);
	KUNIT_EXPECT_TRUE(test, mmu_admit(&mmu, &a, 1));
	KUNIT_EXPECT_EQ(test, a.over_bytes, 1);
	/* the other queue is not affected */
	KUNIT_EXPECT_TRUE(test, mmu_admit(&mmu, &b, MMU_RESERVE_BYTES));
	KUNIT_EXPECT_EQ(test, b.over_bytes, 0);
}

/* Random packets on 8 queues: sums agree, no queue exceeds its headroom, and no
 * shared bytes are in use after all packets have left
 */
static void mmu_random(struct kunit *test)
{
	struct mmu mmu = { .buffer_bytes = SZ_256K };
	struct mmu_queue q[8];
	u64 held[8] = {}, shared;
	struct rnd_state rnd;
	int i, n;

	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 8; i++)
		q[i] = mmu_test_queue(&mmu);
	for (n = 0; n < 200000; n++) {
		u32 bytes = 64 + prandom_u32_state(&rnd) % 4096;

		i = prandom_u32_state(&rnd) % 8;
		if (prandom_u32_state(&rnd) % 100 < (n / 10000 % 2 ? 40 : 60)) {
			if (mmu_admit(&mmu, &q[i], bytes))
				held[i] += bytes;
		} else {
			bytes = min_t(u64, bytes, held[i]);
			mmu_release(&mmu, &q[i], bytes);
			held[i] -= bytes;
		}
		if (q[i].over_bytes > q[i].headroom_bytes ||
		    q[i].used_bytes + q[i].over_bytes != held[i])
			KUNIT_FAIL(test, "queue %d, packet %d", i, n);
	}
	for (shared = 0, i = 0; i < 8; i++)
		shared += mmu_shared(&q[i]);
	KUNIT_EXPECT_EQ(test, mmu.shared_bytes, shared);
	KUNIT_EXPECT_LE(test, mmu.shared_bytes + mmu.private_bytes,
			mmu.buffer_bytes);
	for (i = 0; i < 8; i++)
		mmu_release(&mmu, &q[i], held[i]);
	KUNIT_EXPECT_EQ(test, mmu.shared_bytes, 0);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(line_back_to_back),
	KUNIT_CASE(line_ends),
	KUNIT_CASE(line_preempts),
	KUNIT_CASE(pfc_round_trip),
	KUNIT_CASE(pfc_refuses),
	KUNIT_CASE(pfc_times),
	KUNIT_CASE(mmu_one_queue),
	KUNIT_CASE(mmu_reserve),
	KUNIT_CASE(mmu_random),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "rocehost_wire",
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);

MODULE_LICENSE("GPL");
