// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/pairing.h: PSN echo, source ports, grades
 */
#include "algo/pairing.h"
#include "tests.h"

static void psn_test(struct kunit *test)
{
	static const struct {
		u32 a, b;
		s32 delta;
		bool fresh;
	} psns[] = {
		{ 0, 0, 0, true },
		{ 5, 3, 2, true },
		{ 3, 5, -2, false },
		{ 0, 0xffffff, 1, true },
		{ 0xffffff, 0, -1, false },
		{ 2, 0xfffffe, 4, true },
		{ 8191, 0, 8191, true },
		{ 8192, 0, 8192, false },
		{ 100, 0xffe064, 8192, false },
		{ 100, 0xffe065, 8191, true },
		{ 0xffffff, 0xffffff, 0, true },
		{ 0x7fffff, 0, 0x7fffff, false },
		{ 0x800000, 0, -0x800000, false },
		{ 0, 0x800000, -0x800000, false },
		{ 0, 0x800001, 0x7fffff, false },
		{ 0xffffff, 0x7fffff, -0x800000, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		u32 a = psns[i].a, b = psns[i].b;

		KUNIT_EXPECT_EQ_MSG(test, iqcn_psn_delta(a, b), psns[i].delta,
				    "%#x - %#x", a, b);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_echo_fresh(a, b, 13),
				    psns[i].fresh, "%#x, %#x", a, b);
	}
}

/* PSNs that were in flight together, whichever packet left last */
static void near_test(struct kunit *test)
{
	static const struct {
		u32 a, b;
		bool near;
	} psns[] = {
		{ 0, 0, true },
		{ 8191, 0, true },
		{ 0, 8191, true },
		{ 8192, 0, false },
		{ 0, 8192, false },
		{ 100, 0xffe065, true },
		{ 0xffe065, 100, true },
		{ 100, 0xffe064, false },
		{ 0xffe064, 100, false },
		{ 0x800000, 0, false },
		{ 0, 0x800000, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(psns); i++)
		KUNIT_EXPECT_EQ_MSG(test, iqcn_echo_near(psns[i].a, psns[i].b,
							 13),
				    psns[i].near, "%#x, %#x", psns[i].a,
				    psns[i].b);
	KUNIT_EXPECT_TRUE(test, iqcn_echo_near(0, 8192, 14));
}

/* Echo PSNs from 0 on.  Return: the number of echoes that pair the flow. */
static u32 echoes_needed(struct iqcn_echoes *e, u32 qp, bool sprayed)
{
	u32 psn;

	for (psn = 0; psn < 100; psn++)
		if (iqcn_echo_count(e, qp, psn, sprayed))
			return psn + 1;
	return 0;
}

static void echo_count_test(struct kunit *test)
{
	struct iqcn_echoes e = {};

	KUNIT_EXPECT_EQ(test, echoes_needed(&e, 7, false), 4);
	KUNIT_EXPECT_EQ(test, e.hits, 0);
	KUNIT_EXPECT_EQ(test, echoes_needed(&e, 7, true), 64);
	KUNIT_EXPECT_EQ(test, e.hits, 0);

	/* an echo to another QP restarts the count */
	KUNIT_EXPECT_FALSE(test, iqcn_echo_count(&e, 7, 1, false));
	KUNIT_EXPECT_FALSE(test, iqcn_echo_count(&e, 7, 2, false));
	KUNIT_EXPECT_FALSE(test, iqcn_echo_count(&e, 7, 3, false));
	KUNIT_EXPECT_FALSE(test, iqcn_echo_count(&e, 8, 4, false));
	KUNIT_EXPECT_EQ(test, e.hits, 1);
	KUNIT_EXPECT_EQ(test, e.qp, 8);

	/* the same PSN, and an earlier one, do not count */
	KUNIT_EXPECT_FALSE(test, iqcn_echo_count(&e, 8, 4, false));
	KUNIT_EXPECT_FALSE(test, iqcn_echo_count(&e, 8, 2, false));
	KUNIT_EXPECT_EQ(test, e.hits, 1);
	KUNIT_EXPECT_FALSE(test, iqcn_echo_count(&e, 8, 6, false));
	KUNIT_EXPECT_FALSE(test, iqcn_echo_count(&e, 8, 5, false));
	KUNIT_EXPECT_FALSE(test, iqcn_echo_count(&e, 8, 7, false));
	KUNIT_EXPECT_TRUE(test, iqcn_echo_count(&e, 8, 8, false));

	/* the sender turns out to spray after the third echo */
	e.hits = 3;
	e.psn = 8;
	KUNIT_EXPECT_FALSE(test, iqcn_echo_count(&e, 8, 9, true));
	KUNIT_EXPECT_EQ(test, e.hits, 4);
}

static void spray_test(struct kunit *test)
{
	/* the time wraps */
	u32 now_ms = -15000;
	struct iqcn_spray s = {};

	KUNIT_EXPECT_FALSE(test, iqcn_spray_on(&s, 0));
	/* two changes, then one that is too late */
	iqcn_spray_changed(&s, now_ms);
	iqcn_spray_changed(&s, now_ms);
	KUNIT_EXPECT_FALSE(test, iqcn_spray_on(&s, now_ms));
	now_ms += 10000;
	iqcn_spray_changed(&s, now_ms);
	KUNIT_EXPECT_FALSE(test, iqcn_spray_on(&s, now_ms));
	/* three changes, each in time */
	now_ms += 9999;
	iqcn_spray_changed(&s, now_ms);
	KUNIT_EXPECT_FALSE(test, iqcn_spray_on(&s, now_ms));
	now_ms += 9999;
	iqcn_spray_changed(&s, now_ms);
	KUNIT_EXPECT_TRUE(test, iqcn_spray_on(&s, now_ms));
	KUNIT_EXPECT_TRUE(test, iqcn_spray_on(&s, now_ms + 9999));
	KUNIT_EXPECT_FALSE(test, iqcn_spray_on(&s, now_ms + 10000));
	/* another change prolongs the spraying state */
	now_ms += 9999;
	iqcn_spray_changed(&s, now_ms);
	KUNIT_EXPECT_TRUE(test, iqcn_spray_on(&s, now_ms + 9999));
	/* after the end of the spraying state, the count restarts */
	now_ms += 10000;
	iqcn_spray_changed(&s, now_ms);
	iqcn_spray_changed(&s, now_ms);
	KUNIT_EXPECT_FALSE(test, iqcn_spray_on(&s, now_ms));
	iqcn_spray_changed(&s, now_ms);
	KUNIT_EXPECT_TRUE(test, iqcn_spray_on(&s, now_ms));
}

static void usable_test(struct kunit *test)
{
	static const bool sprayed[] = {
		[IQCN_PAIR_NONE] = false,
		[IQCN_PAIR_SPORT] = false,
		[IQCN_PAIR_CNP] = false,
		[IQCN_PAIR_PSN] = true,
		[IQCN_PAIR_CM] = true,
	};
	int grade;

	BUILD_BUG_ON(ARRAY_SIZE(sprayed) != __IQCN_PAIR_MAX);
	for (grade = 0; grade < ARRAY_SIZE(sprayed); grade++) {
		KUNIT_EXPECT_TRUE_MSG(test, iqcn_pair_usable(grade, false),
				      "grade %d", grade);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_pair_usable(grade, true),
				    sprayed[grade], "grade %d", grade);
	}
}

static void echo_size_test(struct kunit *test)
{
	static const struct {
		u64 bps;
		u32 rtt_ns, mtu;
		u64 packets;
		u32 bits;
	} cases[] = {
		{ 25000000000, 0, 9000, 0, 13 },
		/* 1,000 km at 100 Gb/s */
		{ 100000000000, 10 * MS, 9000, 30517, 15 },
		{ 100000000000, 10 * MS, 1500, 122070, 17 },
		/* the smallest MTUs for payloads of 4 KB and of 1 KB */
		{ 100000000000, 10 * MS, 4176, 30517, 15 },
		{ 100000000000, 10 * MS, 4175, 61035, 16 },
		{ 100000000000, 10 * MS, 1104, 122070, 17 },
		{ 100000000000, 10 * MS, 1103, 244140, 18 },
		{ 100000000000, 10 * MS, 68, 488281, 18 },
		{ 26843545600, 10 * MS, 9000, 8192, 13 },
		{ 26846822400, 10 * MS, 9000, 8193, 14 },
		{ 1000000000000000, SECOND, 68, 488281250000, 18 },
	};
	u64 packets;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		packets = iqcn_echo_packets(cases[i].bps, cases[i].rtt_ns,
					    cases[i].mtu);
		KUNIT_EXPECT_EQ_MSG(test, packets, cases[i].packets, "case %d",
				    i);
		KUNIT_EXPECT_EQ_MSG(test, iqcn_echo_bits(packets),
				    cases[i].bits, "case %d", i);
	}
	KUNIT_EXPECT_TRUE(test, iqcn_echo_fresh(32767, 0, 15));
	KUNIT_EXPECT_FALSE(test, iqcn_echo_fresh(32768, 0, 15));
}

static void expect_echo(struct kunit *test, u64 slot, u64 hash, u32 want)
{
	u32 qp = 0xdead;

	KUNIT_EXPECT_EQ_MSG(test, iqcn_echo_match(slot, hash, &qp),
			    want != 0, "slot %#llx hash %#llx", slot, hash);
	KUNIT_EXPECT_EQ(test, qp, want ?: 0xdead);
}

static void echo_test(struct kunit *test)
{
	/* a slot keeps the lower 39 bits of a hash: alike has the same bits,
	 * other and high differ in one bit
	 */
	const u64 hash = 0x123456789abcdef0ULL, other = hash ^ 1;
	const u64 high = hash ^ 1ULL << 38, alike = hash ^ 1ULL << 39;
	u64 slot;

	expect_echo(test, 0, 0, 0);
	expect_echo(test, 0, hash, 0);

	slot = iqcn_echo_store(0, hash, 0x11);
	expect_echo(test, slot, hash, 0x11);
	expect_echo(test, slot, alike, 0x11);
	expect_echo(test, slot, other, 0);
	expect_echo(test, slot, high, 0);
	expect_echo(test, slot, 0, 0);
	/* the same packet, sent again */
	slot = iqcn_echo_store(slot, hash, 0x11);
	expect_echo(test, slot, hash, 0x11);

	/* two QPs are ambiguous, whichever sends again */
	slot = iqcn_echo_store(slot, hash, 0x12);
	expect_echo(test, slot, hash, 0);
	slot = iqcn_echo_store(slot, hash, 0x12);
	expect_echo(test, slot, hash, 0);
	slot = iqcn_echo_store(slot, hash, 0x11);
	expect_echo(test, slot, hash, 0);
	slot = iqcn_echo_store(slot, hash, 0x11);
	expect_echo(test, slot, hash, 0);

	/* until another packet replaces the slot */
	slot = iqcn_echo_store(slot, other, 0x12);
	expect_echo(test, slot, other, 0x12);
	expect_echo(test, slot, hash, 0);
	slot = iqcn_echo_store(slot, hash, 0xffffff);
	expect_echo(test, slot, hash, 0xffffff);
	expect_echo(test, slot, other, 0);

	/* bits above the 24 of a QP number do not set the flag */
	slot = iqcn_echo_store(0, hash, 0xff000011);
	expect_echo(test, slot, hash, 0x11);
	/* a hash of 0 is valid */
	slot = iqcn_echo_store(0, 0, 0x11);
	expect_echo(test, slot, 0, 0x11);
	slot = iqcn_echo_store(slot, 0, 0x12);
	expect_echo(test, slot, 0, 0);
}

static void sport_test(struct kunit *test)
{
	/* computed from the formulas by another program */
	static const struct {
		u32 a, b;
		u16 sport;
	} verbs[] = {
		{ 0x11, 0x12, 0xc132 },
		{ 0x118, 0x2a7, 0xe6a3 },
		{ 0x123456, 0x654321, 0xf787 },
		{ 0xffffff, 0xfffffe, 0xff12 },
	};
	static const struct {
		u32 qpn;
		u16 sport;
	} rxe[] = {
		{ 0, 0xc000 }, { 0x1, 0xd872 }, { 0x11, 0xdf94 },
		{ 0x12, 0xf806 }, { 0x123456, 0xc168 }, { 0xffffff, 0xf94d },
	};
	struct rnd_state rnd;
	int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		u32 a = verbs[i].a, b = verbs[i].b;

		KUNIT_EXPECT_EQ(test, iqcn_sport_verbs(a, b), verbs[i].sport);
		KUNIT_EXPECT_EQ(test, iqcn_sport_verbs(b, a), verbs[i].sport);
	}
	for (i = 0; i < ARRAY_SIZE(rxe); i++)
		KUNIT_EXPECT_EQ(test, iqcn_sport_rxe(rxe[i].qpn),
				rxe[i].sport);

	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < 1000; i++) {
		u32 a = prandom_u32_state(&rnd) >> 8;
		u32 b = prandom_u32_state(&rnd) >> 8;
		/* the upper 14 of 32 bits */
		u32 h = (u32)(a * 0x61C88647U) / (1 << 18);

		KUNIT_EXPECT_EQ(test, iqcn_sport_verbs(a, b),
				iqcn_sport_verbs(b, a));
		KUNIT_EXPECT_GE(test, iqcn_sport_verbs(a, b), 0xc000);
		KUNIT_EXPECT_EQ(test, iqcn_sport_rxe(a), 0xc000 + h);
	}
}

static void sport_match_test(struct kunit *test)
{
	static const struct {
		u16 data, rev;
		u32 src_qp, dest_qp;
		bool want;
	} ports[] = {
		{ 0xc132, 0xc132, 0x11, 0x12, true },
		{ 0xc132, 0xc132, 0x12, 0x11, true },
		{ 0xc132, 0xc133, 0x11, 0x12, false },
		{ 0xc133, 0xc132, 0x11, 0x12, false },
		{ 0xc133, 0xc133, 0x11, 0x12, false },
		{ 0xc132, 0xc132, 0x11, 0x13, false },
		{ 0xc132, 0xc132, 0x118, 0x2a7, false },
		{ 0xe6a3, 0xe6a3, 0x118, 0x2a7, true },
		/* rxe: h(0x11) = 0xdf94, h(0x12) = 0xf806 */
		{ 0xdf94, 0xf806, 0x11, 0x12, true },
		{ 0xf806, 0xdf94, 0x12, 0x11, true },
		{ 0xf806, 0xdf94, 0x11, 0x12, false },
		{ 0xdf94, 0xf807, 0x11, 0x12, false },
		{ 0xdf95, 0xf806, 0x11, 0x12, false },
		{ 0xdf94, 0xdf94, 0x11, 0x12, false },
		{ 0xdf94, 0xdf94, 0x11, 0x11, true },
		{ 0xc132, 0xf806, 0x11, 0x12, false },
		{ 0xdf94, 0xc132, 0x11, 0x12, false },
		{ 0, 0, 0x11, 0x12, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(ports); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_sport_match(ports[i].data,
						     ports[i].rev,
						     ports[i].src_qp,
						     ports[i].dest_qp),
				    ports[i].want, "row %d", i);
}

static void judge_test(struct kunit *test)
{
	/* rows: old grade, NONE .. CM; columns: new grade, SPORT .. CM */
	static const char same[5][5] = { "TTTT", "KTTT", "KKTT", "KKKT",
					 "KKKK" };
	static const char differs[5][5] = { "TTTT", "BTTT", "KBTT", "KKBT",
					    "KKKT" };
	static const enum iqcn_pair_verdict verdict[] = {
		['K'] = IQCN_PAIR_KEEP,
		['T'] = IQCN_PAIR_TAKE,
		['B'] = IQCN_PAIR_BREAK,
	};
	int old, new;

	for (old = 0; old < 5; old++) {
		for (new = 1; new < 5; new++) {
			u8 s = same[old][new - 1], d = differs[old][new - 1];

			KUNIT_EXPECT_EQ_MSG(test,
					    iqcn_pair_judge(old, 7, new, 7),
					    verdict[s], "%d, %d", old, new);
			KUNIT_EXPECT_EQ_MSG(test,
					    iqcn_pair_judge(old, 7, new, 8),
					    verdict[d], "%d, %d", old, new);
		}
	}
}

static struct kunit_case pairing_test_cases[] = {
	KUNIT_CASE(psn_test),
	KUNIT_CASE(near_test),
	KUNIT_CASE(echo_count_test),
	KUNIT_CASE(spray_test),
	KUNIT_CASE(usable_test),
	KUNIT_CASE(echo_size_test),
	KUNIT_CASE(echo_test),
	KUNIT_CASE(sport_test),
	KUNIT_CASE(sport_match_test),
	KUNIT_CASE(judge_test),
	{}
};

static struct kunit_suite pairing_suite = {
	.name = "iqcn_pairing",
	.test_cases = pairing_test_cases,
};

kunit_test_suite(pairing_suite);
