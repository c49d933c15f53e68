// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/continuity.h: runs and spans of CE PSNs
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "algo/continuity.h"
#include "tests.h"

/* A CE packet, and the expected state of its flow after it */
struct ce {
	enum { F1, F2, N_FLOWS } flow;
	u32 psn;	/* relative to the start of the sequence */
	u32 n, run;
	bool congested;
	bool response;
};

#define N_CE 16

/* enter is N, exit is N' */
struct run_case {
	const char *name;
	u32 enter, exit;
	struct ce ce[N_CE];
};

static const struct run_case run_cases[] = {
	/* US 12395431, description */
	{ "(80)", 5, 2, {
		{ F1, 1, 1, 1 }, { F2, 5, 1, 1 }, { F1, 3, 1, 1 },
		{ F2, 6, 1, 2 }, { F1, 4, 1, 2 }, { F1, 5, 1, 3 },
		{ F1, 6, 1, 4 }, { F1, 7, 1, 5, true } } },
	{ "(83), FIG. 10", 3, 1, {
		{ F1, 1, 1, 1 }, { F1, 2, 1, 2 }, { F1, 3, 1, 3, true } } },
	{ "(89)", 3, 1, {
		{ F1, 1, 1, 1 }, { F2, 5, 1, 1 }, { F1, 3, 1, 1 },
		{ F2, 7, 1, 1 }, { F1, 4, 1, 2 }, { F2, 9, 1, 1 },
		{ F1, 5, 1, 3, true }, { F1, 6, 1, 4, true },
		{ F1, 7, 1, 5, true } } },
	{ "(89), f2 was congested", 3, 1, {
		{ F2, 2, 1, 1 }, { F2, 3, 1, 2 }, { F2, 4, 1, 3, true },
		{ F2, 5, 1, 4, true }, { F2, 7, 1, 1, true },
		{ F2, 9, 1, 1 } } },

	/* how the congested state ends */
	{ "N' ended", 5, 2, {
		{ F1, 0, 5, 5, true }, { F1, 6, 2, 2, true },
		{ F1, 9, 1, 1 } } },
	{ "more than N' ended", 5, 2, {
		{ F1, 0, 5, 5, true }, { F1, 6, 3, 3, true },
		{ F1, 10, 3, 3, true }, { F1, 14, 1, 1, true },
		{ F1, 16, 1, 1 } } },
	{ "N' is N - 1", 5, 4, {
		{ F1, 0, 5, 5, true }, { F1, 6, 4, 4, true },
		{ F1, 11, 1, 1 } } },
	{ "two missing", 5, 2, {
		{ F1, 0, 9, 9, true }, { F1, 11, 4, 4 }, { F1, 15, 1, 5, true },
	} },
	{ "1000 missing", 5, 0, {
		{ F1, 0, 9, 9, true }, { F1, 1009, 4, 4 } } },
	{ "N' is 0", 5, 0, {
		{ F1, 0, 5, 5, true }, { F1, 6, 1, 1, true },
		{ F1, 8, 1, 1, true }, { F1, 10, 1, 1, true },
		{ F1, 13, 1, 1 } } },
	{ "one run ends, the next is long", 5, 2, {
		{ F1, 0, 5, 5, true }, { F1, 6, 1, 1, true },
		{ F1, 8, 5, 5, true }, { F1, 15, 5, 5, true } } },
	{ "ended, never congested", 5, 1, {
		{ F1, 0, 4, 4 }, { F1, 5, 4, 4 }, { F1, 10, 4, 4 },
		{ F1, 14, 1, 5, true } } },

	/* GSO */
	{ "segments", 5, 2, {
		{ F1, 0, 2, 2 }, { F1, 2, 1, 3 }, { F1, 3, 3, 6, true } } },
	{ "segments, one missing", 5, 2, {
		{ F1, 0, 4, 4 }, { F1, 5, 4, 4 }, { F1, 9, 65535, 65539, true },
		{ F1, 65544, 1, 65540, true } } },
	{ "as many as there may be", 65536, 2, {
		{ F1, 0, 65535, 65535 }, { F1, 65535, 1, 65536, true } } },

	/* senders that go back */
	{ "all again", 5, 2, {
		{ F1, 0, 1, 1 }, { F1, 1, 1, 2 }, { F1, 2, 1, 3 },
		{ F1, 0, 1, 3 }, { F1, 1, 1, 3 }, { F1, 2, 1, 3 },
		{ F1, 3, 1, 4 }, { F1, 4, 1, 5, true } } },
	{ "twice, the second time less", 5, 2, {
		{ F1, 0, 4, 4 }, { F1, 1, 1, 4 }, { F1, 2, 1, 4 },
		{ F1, 1, 1, 4 }, { F1, 2, 2, 4 }, { F1, 4, 1, 5, true } } },
	{ "segments, some of them new", 7, 2, {
		{ F1, 0, 4, 4 }, { F1, 2, 4, 6 }, { F1, 2, 4, 6 },
		{ F1, 5, 2, 7, true } } },
	{ "few, then ahead", 5, 2, {
		{ F1, 0, 4, 4 }, { F1, 1, 1, 4 }, { F1, 4, 1, 5, true },
		{ F1, 1, 2, 5, true }, { F1, 5, 1, 6, true } } },
	{ "it ends nothing", 5, 4, {
		{ F1, 0, 5, 5, true }, { F1, 6, 1, 1, true },
		{ F1, 4, 1, 1, true }, { F1, 7, 1, 2, true },
		{ F1, 0, 1, 2, true }, { F1, 8, 1, 3, true } } },
	{ "one missing when repeated", 5, 2, {
		{ F1, 0, 4, 4 }, { F1, 0, 1, 4 }, { F1, 2, 1, 1 },
		{ F1, 3, 1, 2 }, { F1, 4, 2, 4 }, { F1, 6, 1, 5, true } } },
	{ "one missing when repeated, congested", 5, 2, {
		{ F1, 0, 6, 6, true }, { F1, 0, 2, 6, true },
		{ F1, 3, 2, 2, true }, { F1, 6, 1, 1 } } },
	{ "one missing, then more than N' repeated", 5, 2, {
		{ F1, 0, 6, 6, true }, { F1, 0, 2, 6, true },
		{ F1, 3, 3, 3, true }, { F1, 7, 1, 1, true },
		{ F1, 9, 1, 1 } } },
	{ "one missing, then 400 repeated", 500, 399, {
		{ F1, 0, 600, 600, true }, { F1, 0, 1, 600, true },
		{ F1, 2, 400, 400, true }, { F1, 403, 1, 1, true },
		{ F1, 405, 1, 1 } } },
	{ "one missing, N' is 0", 5, 0, {
		{ F1, 0, 6, 6, true }, { F1, 0, 1, 6, true },
		{ F1, 2, 1, 1, true }, { F1, 4, 1, 1, true },
		{ F1, 7, 1, 1 } } },
	{ "two missing when repeated", 5, 2, {
		{ F1, 0, 6, 6, true }, { F1, 0, 1, 6, true },
		{ F1, 3, 1, 1 }, { F1, 4, 4, 5, true } } },
	{ "one missing, some of the next new", 5, 2, {
		{ F1, 0, 4, 4 }, { F1, 0, 1, 4 }, { F1, 2, 4, 4 },
		{ F1, 6, 1, 5, true } } },
	{ "one missing, repeated again", 5, 2, {
		{ F1, 0, 6, 6, true }, { F1, 0, 1, 6, true },
		{ F1, 2, 2, 2, true }, { F1, 0, 1, 2, true },
		{ F1, 1, 2, 2, true }, { F1, 3, 2, 3, true },
		{ F1, 2, 1, 3, true }, { F1, 5, 1, 4, true },
		/* a jump from 3 to 7: not only 6, but also 4 and 5, which
		 * were sent before, count as missing
		 */
		{ F1, 3, 1, 4, true }, { F1, 7, 1, 1 } } },
	{ "as far as it may", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 3, 1, 3 }, { F1, 65539, 1, 4 } } },
	{ "further: another connection", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 2, 1, 1 }, { F1, 3, 3, 4 },
		{ F1, 6, 1, 5, true } } },
	{ "further, congested", 5, 2, {
		{ F1, 65536, 5, 5, true }, { F1, 2, 3, 3 },
		{ F1, 5, 2, 5, true } } },
	{ "as far as it may, in steps", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 32768, 1, 3 }, { F1, 3, 1, 3 },
		{ F1, 4, 9, 3 }, { F1, 65539, 2, 5, true } } },
	{ "further, in steps", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 3, 1, 3 }, { F1, 2, 1, 1 },
		{ F1, 3, 4, 5, true } } },
	{ "as far as it may after a hole", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 3, 1, 3 }, { F1, 5, 1, 1 },
		{ F1, PSNS - 65530, 1, 1 }, { F1, 6, 1, 2 } } },
	{ "further after a hole", 5, 2, {
		{ F1, 65536, 3, 3 }, { F1, 3, 1, 3 }, { F1, 5, 2, 2 },
		{ F1, PSNS - 65530, 1, 1 }, { F1, PSNS - 65529, 1, 2 } } },

	{ "back, then half of all ahead", 5, 2, {
		{ F1, 65536, 1, 1 }, { F1, 1, 1, 1 }, { F1, 8454045, 1, 1 } } },

	/* requests and READ responses */
	{ "a response ahead", 5, 2, {
		{ F1, 0, 3, 3 }, { F1, 900, 1, 3, .response = true },
		{ F1, 3, 1, 3 }, { F1, 4, 1, 4 }, { F1, 5, 1, 5, true } } },
	{ "a response behind", 5, 2, {
		{ F1, 900, 3, 3 }, { F1, 0, 1, 3, .response = true },
		{ F1, 903, 1, 3 }, { F1, 904, 2, 5, true } } },
	{ "a response far behind", 5, 2, {
		{ F1, 5000000, 4, 4 }, { F1, 100, 8, 4, .response = true },
		{ F1, 5000004, 1, 4 }, { F1, 5000005, 1, 5, true } } },
	{ "a request far behind", 5, 2, {
		{ F1, 5000000, 4, 4, .response = true }, { F1, 100, 8, 4 },
		{ F1, 108, 1, 5, true } } },
	{ "it goes on with responses", 5, 2, {
		{ F1, 0, 3, 3 }, { F1, 900, 1, 3, .response = true },
		{ F1, 901, 1, 4, .response = true },
		{ F1, 902, 1, 5, true, true } } },
	{ "congested", 5, 2, {
		{ F1, 0, 5, 5, true }, { F1, 900, 1, 5, true, true },
		{ F1, 3000000, 1, 5, true }, { F1, 3000001, 1, 6, true },
		{ F1, 3000004, 1, 1 } } },
	{ "back after a response", 5, 2, {
		{ F1, 100, 3, 3 }, { F1, 0, 1, 3, .response = true },
		{ F1, 50, 1, 3 }, { F1, 51, 1, 4 }, { F1, 50, 2, 4 } } },
};

static void play_run_case(struct kunit *test, const struct run_case *rc,
			  u32 start)
{
	struct iqcn_continuity cs[N_FLOWS] = {};
	bool congested[N_FLOWS] = {};
	int i;

	for (i = 0; i < N_CE && rc->ce[i].n; i++) {
		const struct ce *ce = &rc->ce[i];
		struct iqcn_continuity *c = &cs[ce->flow];
		bool *state = &congested[ce->flow];
		u32 ended;

		ended = iqcn_continuity_add(c, (start + ce->psn) % PSNS, ce->n,
					    PSNS, !ce->response);
		*state = iqcn_detect_run(*state, ended, c->run, rc->enter,
					 rc->exit);
		KUNIT_EXPECT_EQ_MSG(test, c->run, ce->run,
				    "%s from %u, packet %d", rc->name, start,
				    i);
		KUNIT_EXPECT_EQ_MSG(test, *state, ce->congested,
				    "%s from %u, packet %d", rc->name, start,
				    i);
	}
}

static void run_cases_test(struct kunit *test)
{
	int i, s;

	for (i = 0; i < ARRAY_SIZE(run_cases); i++)
		for (s = 0; s < ARRAY_SIZE(starts); s++)
			play_run_case(test, &run_cases[i], starts[s]);
}

/* Consecutive CE packets of @segs segments each */
struct stretch {
	u32 psn, packets, segs;
	bool response;
};

/* packets is M, enter is G, exit is G'; changes are the packets, counted from
 * 1, at which the state changes
 */
struct span_case {
	const char *name;
	u32 packets, enter, exit;
	struct stretch stretches[6];
	u32 changes[4];
};

static const struct span_case span_cases[] = {
	/* US 12395431, description (81): one difference within 100 PSNs is 2 */
	{ "(81)", 100, 3, 5, { { 0, 50, 1 }, { 51, 49, 1 } }, { 99 } },
	{ "all", 100, 3, 5, { { 0, 300, 1 } }, { 100 } },
	{ "99 only", 100, 3, 5, { { 0, 99, 1 } }, { } },
	{ "several of 2", 100, 3, 5,
	  { { 0, 10, 1 }, { 11, 20, 1 }, { 32, 30, 1 }, { 63, 1, 1 },
	    { 65, 35, 1 } }, { 96 } },
	{ "one of 3", 100, 3, 5, { { 0, 50, 1 }, { 52, 48, 1 } }, { } },
	{ "one of 3, at last", 100, 3, 5,
	  { { 0, 98, 1 }, { 100, 1, 1 } }, { } },
	{ "100 without it", 100, 3, 5,
	  { { 0, 50, 1 }, { 52, 200, 1 } }, { 151 } },
	{ "G is 2", 100, 2, 2, { { 0, 50, 1 }, { 51, 100, 1 } }, { } },
	{ "M is 1", 1, 2, 2, { { 0, 1, 1 }, { 2, 1, 1 }, { 3, 2, 1 } },
	  { 1, 2, 3 } },

	/* how the congested state ends */
	{ "between G and G'", 100, 3, 5,
	  { { 0, 100, 1 }, { 102, 10, 1 }, { 115, 300, 1 } }, { 100 } },
	{ "G'", 100, 3, 5, { { 0, 100, 1 }, { 104, 100, 1 } }, { 100, 101 } },
	{ "G' later, 100 again", 100, 3, 5,
	  { { 0, 150, 1 }, { 154, 300, 1 } }, { 100, 151, 251 } },
	{ "G' is G", 100, 3, 3,
	  { { 0, 150, 1 }, { 151, 50, 1 }, { 203, 99, 1 } }, { 100, 201 } },
	{ "much more than G'", 100, 3, 5,
	  { { 0, 150, 1 }, { 8000000, 1, 1 } }, { 100, 151 } },

	/* GSO */
	{ "segments", 100, 3, 5, { { 0, 10, 10 } }, { 10 } },
	{ "segments, all at once", 100, 3, 5, { { 0, 1, 65535 } }, { 1 } },
	{ "segments, one missing", 100, 3, 5,
	  { { 0, 5, 10 }, { 51, 5, 10 } }, { 10 } },
	{ "segments, two missing", 100, 3, 5,
	  { { 0, 5, 10 }, { 52, 11, 10 } }, { 16 } },

	/* senders that go back */
	{ "all again", 100, 3, 5, { { 0, 60, 1 }, { 0, 100, 1 } }, { 160 } },
	{ "segments, some of them new", 100, 3, 5,
	  { { 0, 6, 10 }, { 55, 5, 10 } }, { 11 } },
	{ "few, then ahead", 100, 3, 5,
	  { { 0, 60, 1 }, { 20, 1, 1 }, { 60, 100, 1 } }, { 101 } },
	{ "two missing when repeated", 100, 3, 5,
	  { { 0, 60, 1 }, { 20, 1, 1 }, { 23, 37, 1 }, { 60, 101, 1 } },
	  { 162 } },
	{ "one missing when repeated", 100, 3, 5,
	  { { 0, 60, 1 }, { 20, 1, 1 }, { 22, 60, 1 } }, { 100 } },
	{ "far: another connection", 100, 3, 5,
	  { { 65536, 60, 1 }, { 0, 100, 1 } }, { 160 } },
	{ "far, in steps", 100, 3, 5,
	  { { 65536, 60, 1 }, { 60, 1, 1 }, { 59, 100, 1 } }, { 161 } },
	{ "far ahead", 100, 3, 5,
	  { { 0, 60, 1 }, { 100000, 101, 1 } }, { 161 } },

	/* requests and READ responses */
	{ "responses", 100, 3, 5,
	  { { 0, 60, 1 }, { 5000, 40, 1, true }, { 200, 50, 1 } }, { 102 } },
	{ "responses far behind", 100, 3, 5,
	  { { 5000000, 60, 1 }, { 100, 40, 1, true }, { 5000060, 50, 1 } },
	  { 102 } },
	{ "responses, congested", 100, 3, 5,
	  { { 0, 100, 1 }, { 5000, 10, 1, true }, { 200, 10, 1 } }, { 100 } },
};

static void play_span_case(struct kunit *test, const struct span_case *sc,
			   u32 start)
{
	const struct stretch *s = sc->stretches;
	struct iqcn_continuity c = {};
	bool congested = false;
	u32 packet = 0, changes = 0, n;

	for (; s < sc->stretches + ARRAY_SIZE(sc->stretches); s++) {
		for (n = 0; n < s->packets; n++) {
			u32 psn = (start + s->psn + n * s->segs) % PSNS;
			bool last = congested;

			packet++;
			iqcn_continuity_add(&c, psn, s->segs, PSNS,
					    !s->response);
			congested = iqcn_detect_span(congested, &c, sc->packets,
						     sc->enter, sc->exit);
			if (congested == last)
				continue;
			KUNIT_ASSERT_LT(test, changes,
					ARRAY_SIZE(sc->changes));
			KUNIT_EXPECT_EQ_MSG(test, packet,
					    sc->changes[changes],
					    "%s from %u", sc->name, start);
			changes++;
		}
	}
	if (changes < ARRAY_SIZE(sc->changes))
		KUNIT_EXPECT_EQ_MSG(test, sc->changes[changes], 0,
				    "%s from %u", sc->name, start);
}

static void span_cases_test(struct kunit *test)
{
	int i, s;

	for (i = 0; i < ARRAY_SIZE(span_cases); i++)
		for (s = 0; s < ARRAY_SIZE(starts); s++)
			play_span_case(test, &span_cases[i], starts[s]);
}

/* A difference of G or more leads to one verdict and is then forgotten */
static void span_anew_test(struct kunit *test)
{
	static const struct {
		u32 hole;
		bool congested, want;
	} holes[] = {
		{ 2, false, false }, { 3, false, false }, { 4, false, false },
		{ 2, true, true }, { 3, true, true }, { 4, true, false },
		{ 1000, true, false },
	};
	int i, k;

	for (i = 0; i < ARRAY_SIZE(holes); i++) {
		bool congested = holes[i].congested;
		struct iqcn_continuity c = {};
		u32 psn = PSNS - 30;

		for (k = 0; k < 50; k++) {
			iqcn_continuity_add(&c, psn, 1, PSNS, true);
			congested = iqcn_detect_span(congested, &c, 100, 3, 5);
			psn = (psn + 1) % PSNS;
		}
		KUNIT_EXPECT_EQ_MSG(test, c.span, 50, "row %d", i);

		psn = (psn + holes[i].hole) % PSNS;
		iqcn_continuity_add(&c, psn, 1, PSNS, true);
		congested = iqcn_detect_span(congested, &c, 100, 3, 5);
		KUNIT_EXPECT_EQ_MSG(test, congested, holes[i].want, "row %d",
				    i);
		KUNIT_EXPECT_EQ_MSG(test, c.span, 0, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, c.gap, 0, "row %d", i);

		/* a smaller G' applies to later differences only */
		for (k = 1; k <= 120; k++) {
			psn = (psn + 1) % PSNS;
			iqcn_continuity_add(&c, psn, 1, PSNS, true);
			congested = iqcn_detect_span(congested, &c, 100, 3, 3);
			KUNIT_ASSERT_EQ_MSG(test, congested,
					    holes[i].want || k >= 100,
					    "row %d, packet %d", i, k);
		}
	}
}

/* The shortest distance from one number to the other */
static void seq_delta_test(struct kunit *test)
{
	static const struct {
		u32 a, b, modulus;
		s32 want;
	} deltas[] = {
		{ 0, 0, PSNS, 0 },
		{ 0, PSNS - 1, PSNS, 1 },
		{ PSNS - 1, 0, PSNS, -1 },
		{ PSNS / 2 - 1, 0, PSNS, PSNS / 2 - 1 },
		{ 0, PSNS / 2 - 1, PSNS, 1 - (s32)(PSNS / 2) },
		{ 5, PSNS - 5, PSNS, 10 },
		/* a distance of half of the modulus counts as backward */
		{ PSNS / 2, 0, PSNS, -(s32)(PSNS / 2) },
		/* 2^24 / 7, rounded up */
		{ 3, 2396740, 2396746, 9 },
		{ 2396740, 3, 2396746, -9 },
		{ 100, 200, 256, -100 },
		{ 20, 200, 256, 76 },
	};
	u32 a, b, modulus;
	int i;

	for (i = 0; i < ARRAY_SIZE(deltas); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_seq_delta(deltas[i].a, deltas[i].b,
						   deltas[i].modulus),
				    deltas[i].want, "row %d", i);
	for (modulus = 1; modulus <= 64; modulus++) {
		for (a = 0; a < modulus; a++) {
			for (b = 0; b < modulus; b++) {
				s32 delta = iqcn_seq_delta(a, b, modulus);

				KUNIT_ASSERT_LE(test, 2 * abs(delta), modulus);
				KUNIT_ASSERT_EQ(test,
						(b + delta + modulus) % modulus,
						a);
			}
		}
	}
}

/* Packets that are repeated many times count once */
static void continuity_repeat_test(struct kunit *test)
{
	static const struct {
		u32 packets, n;
	} loops[] = {
		{ 1, 1 }, { 1, 4 }, { 4, 1 }, { 2, 2 },
	};
	int i, s, k;

	for (i = 0; i < ARRAY_SIZE(loops) * ARRAY_SIZE(starts); i++) {
		u32 packets = loops[i % ARRAY_SIZE(loops)].packets;
		u32 n = loops[i % ARRAY_SIZE(loops)].n;
		bool run = false, span = false;
		struct iqcn_continuity c = {};
		u32 psn, ended;

		s = i / ARRAY_SIZE(loops);
		for (k = 0; k < 1000; k++) {
			psn = (starts[s] + k % packets * n) % PSNS;
			ended = iqcn_continuity_add(&c, psn, n, PSNS, true);
			run = iqcn_detect_run(run, ended, c.run, 5, 2);
			span = iqcn_detect_span(span, &c, 5, 2, 3);
			KUNIT_ASSERT_EQ(test, ended, IQCN_RUN_GOES_ON);
			KUNIT_ASSERT_EQ(test, c.run,
					min_t(u32, k + 1, packets) * n);
			KUNIT_ASSERT_FALSE(test, run);
			KUNIT_ASSERT_FALSE(test, span);
		}
		/* new packets do count */
		psn = (starts[s] + packets * n) % PSNS;
		ended = iqcn_continuity_add(&c, psn, 4, PSNS, true);
		KUNIT_EXPECT_TRUE(test, iqcn_detect_run(run, ended, c.run, 5,
							2));
		KUNIT_EXPECT_TRUE(test, iqcn_detect_span(span, &c, 5, 2, 3));
	}
}

/* A sender that sends a few packets in order and then goes back never gets a
 * longer run than these packets, however often and far it goes back
 */
static void continuity_back_test(struct kunit *test)
{
	/* for sampling of 1 in 1, 7, 1000, 65536 */
	static const u32 moduli[] = { PSNS, 2396746, 16778, 256 };
	int m, i, k;

	for (m = 0; m < ARRAY_SIZE(moduli); m++) {
		u32 modulus = moduli[m], far = modulus / 256;
		const u32 steps[] = {
			1, 2, 3, far / 2, far - 2, far - 1, far, far + 1,
			2 * far, 3 * far + 1, modulus / 4, modulus / 2 - 2,
		};

		for (i = 0; i < 3 * ARRAY_SIZE(steps); i++) {
			u32 step = steps[i / 3], few = 1 + i % 3;
			bool run = false, span = false;
			struct iqcn_continuity c = {};
			u32 seq = modulus / 3, ended;

			if (!step || step >= modulus / 2)
				continue;
			for (k = 0; k < 1000 * few; k++) {
				ended = iqcn_continuity_add(&c, seq, 1,
							    modulus, true);
				run = iqcn_detect_run(run, ended, c.run,
						      few + 1, few);
				span = iqcn_detect_span(span, &c, few + 1, 2,
							3);
				KUNIT_ASSERT_LE_MSG(test, c.run, few,
						    "%u back of %u", step,
						    modulus);
				KUNIT_ASSERT_FALSE_MSG(test, run,
						       "%u back of %u", step,
						       modulus);
				KUNIT_ASSERT_FALSE_MSG(test, span,
						       "%u back of %u", step,
						       modulus);
				if (k % few == few - 1)
					seq += modulus - few + 1 - step;
				else
					seq++;
				seq %= modulus;
			}
		}
	}
}

/* Alternating requests and responses never form a run */
static void continuity_kinds_test(struct kunit *test)
{
	static const u32 apart[] = {
		0, 1, 2, 1000, 60000, 100000, 5000000, PSNS / 2, 12000000,
		PSNS - 70000, PSNS - 1000, PSNS - 2, PSNS - 1,
	};
	int i, s, k;

	for (i = 0; i < ARRAY_SIZE(apart); i++) {
		for (s = 0; s < ARRAY_SIZE(starts); s++) {
			bool run = false, span = false;
			struct iqcn_continuity c = {};

			for (k = 0; k < 100; k++) {
				u32 psn = starts[s] + k / 2;
				u32 ended;

				psn += k % 2 * apart[i];
				ended = iqcn_continuity_add(&c, psn % PSNS, 1,
							    PSNS, k % 2);
				run = iqcn_detect_run(run, ended, c.run, 2, 1);
				span = iqcn_detect_span(span, &c, 2, 2, 3);
				KUNIT_ASSERT_FALSE_MSG(test, run, "%u apart",
						       apart[i]);
				KUNIT_ASSERT_FALSE_MSG(test, span, "%u apart",
						       apart[i]);
			}
		}
	}
}

/* All PSNs, several times, until the run saturates */
static void continuity_long_test(struct kunit *test)
{
	struct iqcn_continuity c = {};
	u32 psn = 0xabcdef, packets;
	u64 sent = 0;

	for (packets = 0; packets < 16500; packets++) {
		KUNIT_ASSERT_EQ(test, iqcn_continuity_add(&c, psn, 65535, PSNS,
							  true),
				IQCN_RUN_GOES_ON);
		psn = (psn + 65535) % PSNS;
		sent += 65535;
		KUNIT_ASSERT_EQ(test, c.run, min_t(u64, sent, 1 << 30));
	}
	KUNIT_ASSERT_GT(test, sent, 1ULL << 30);
	iqcn_continuity_add(&c, (psn + 1) % PSNS, 1, PSNS, true);
	KUNIT_EXPECT_EQ(test, c.run, 1);
}

#define N_SENT 2000

/* How a PSN was sent; CE_LAST: the last segment of a CE packet */
enum { NOT_CE, CE, CE_LAST };

static u32 ref_run(const u8 *sent, u32 n)
{
	u32 run = 0;

	while (run < n && sent[n - 1 - run] != NOT_CE)
		run++;
	return run;
}

/* The model gets all packets, not only CE packets */
static bool ref_run_state(const u8 *sent, u32 n, u32 enter, u32 exit)
{
	bool congested = false;
	u32 run = 0, i;

	for (i = 0; i < n; i++) {
		if (sent[i] == NOT_CE) {
			if (run <= exit)
				congested = false;
			run = 0;
		} else if (++run >= enter) {
			congested = true;
		}
	}
	return congested;
}

static bool ref_span_state(const u8 *sent, u32 n, u32 packets, u32 enter,
			   u32 exit)
{
	u32 from = 0, last = 0, largest = 0, i;
	bool congested = false, begun = false;

	for (i = 0; i < n; i++) {
		if (sent[i] == NOT_CE)
			continue;
		if (begun)
			largest = max(largest, i - last);
		else
			from = i;
		begun = true;
		last = i;
		if (sent[i] != CE_LAST)
			continue;
		if (largest >= exit)
			congested = false;
		else if (largest < enter && i + 1 - from >= packets)
			congested = true;
		else if (largest < enter)
			continue;
		from = i + 1;
		largest = 0;
	}
	return congested;
}

/* Compare with models that use the sender's whole history */
static void continuity_model_test(struct kunit *test)
{
	static const u32 ce_pcts[] = { 30, 60, 80, 90, 95, 98, 100 };
	u8 *sent = alloc(test, N_SENT + 64);
	u32 run_changes = 0, span_changes = 0;
	struct rnd_state rnd;
	int seq;

	prandom_seed_state(&rnd, SEED);
	for (seq = 0; seq < 140; seq++) {
		u32 ce_pct = ce_pcts[seq % ARRAY_SIZE(ce_pcts)];
		u32 r = prandom_u32_state(&rnd);
		u32 enter = 1 + r % 12, exit = r / 16 % enter;
		u32 packets = 1 + (r >> 8) % 50;
		u32 enter_gap = 2 + (r >> 16) % 3;
		u32 exit_gap = enter_gap + (r >> 20) % 3;
		bool run = false, span = false, was;
		struct iqcn_continuity c = {};
		u32 start, n, segs;

		/* half of the sequences wrap */
		start = prandom_u32_state(&rnd) % PSNS;
		if (seq / ARRAY_SIZE(ce_pcts) % 2)
			start = PSNS - start % N_SENT;
		for (n = 0; n < N_SENT; n += segs) {
			u32 psn = (start + n) % PSNS, ended;

			r = prandom_u32_state(&rnd);
			segs = r >> 24 & 3 ? 1 : r >> 26 & 15 ?
			       1 + (r >> 16) % 8 : 64;
			if ((r & 0xffff) % 100 >= ce_pct) {
				memset(sent + n, NOT_CE, segs);
				continue;
			}
			memset(sent + n, CE, segs - 1);
			sent[n + segs - 1] = CE_LAST;

			ended = iqcn_continuity_add(&c, psn, segs, PSNS, true);
			KUNIT_ASSERT_EQ_MSG(test, c.run,
					    ref_run(sent, n + segs),
					    "sequence %d, PSN %u", seq, psn);

			was = run;
			run = iqcn_detect_run(run, ended, c.run, enter, exit);
			run_changes += run != was;
			KUNIT_ASSERT_EQ_MSG(test, run,
					    ref_run_state(sent, n + segs,
							  enter, exit),
					    "sequence %d, PSN %u", seq, psn);

			was = span;
			span = iqcn_detect_span(span, &c, packets, enter_gap,
						exit_gap);
			span_changes += span != was;
			KUNIT_ASSERT_EQ_MSG(test, span,
					    ref_span_state(sent, n + segs,
							   packets, enter_gap,
							   exit_gap),
					    "sequence %d, PSN %u", seq, psn);
		}
	}
	/* the test has exercised the detectors */
	KUNIT_EXPECT_GT(test, run_changes, 1000);
	KUNIT_EXPECT_GT(test, span_changes, 1000);
}

/* Reference model for a go-back-N sender: the run to which each number belongs
 */
struct ref_again {
	u16 *run_of;
	u16 run_no;
	u32 first, run, next;
};

/* Add a packet.  Return the length of the shortest run whose end it shows,
 * U32_MAX: none.
 */
static u32 ref_again_add(struct ref_again *ref, u32 n, u32 segs)
{
	u32 ended = U32_MAX, i;
	bool ahead;

	/* the packet directly follows the current run */
	ahead = n && ref->run_of[n - 1] == ref->run_no &&
		ref->run_of[n] != ref->run_no;
	if (!ref->run_no || (n > ref->next && !ahead)) {
		if (ref->run_no)
			ended = n == ref->next + 1 ? ref->run : 0;
		ref->run_no++;
		ref->first = n;
		ref->run = 0;
	}
	for (i = n; i < n + segs; i++) {
		if (i < ref->first || ref->run_of[i] == ref->run_no)
			continue;
		ref->run_of[i] = ref->run_no;
		ref->run++;
	}
	ref->next = n + segs;
	return ended;
}

/* A sender that goes back, sometimes beyond the last hole */
static void continuity_again_test(struct kunit *test)
{
	static const u32 ce_pcts[] = { 50, 80, 90, 95, 98 };
	static const u32 back_shifts[] = { 3, 5, 8 };
	u32 changes = 0, again = 0;
	struct ref_again ref = {};
	struct rnd_state rnd;
	int seq, k;

	ref.run_of = alloc(test, (N_SENT * 4 + 64) * sizeof(*ref.run_of));
	prandom_seed_state(&rnd, SEED);
	for (seq = 0; seq < 150; seq++) {
		u32 ce_pct = ce_pcts[seq % ARRAY_SIZE(ce_pcts)];
		u32 back_shift = back_shifts[seq % ARRAY_SIZE(back_shifts)];
		u32 r = prandom_u32_state(&rnd);
		u32 enter = 2 + r % 12, exit = r / 16 % enter;
		bool congested = false, want = false, was;
		struct iqcn_continuity c = {};
		u32 start, n = 40, segs;

		memset(ref.run_of, 0, (N_SENT * 4 + 64) *
				      sizeof(*ref.run_of));
		ref.run_no = 0;
		start = prandom_u32_state(&rnd) % PSNS;
		if (seq % 2)
			start = PSNS - start % N_SENT;
		for (k = 0; k < N_SENT; k++, n += segs) {
			u32 psn, ended, ref_ended;

			r = prandom_u32_state(&rnd);
			if (!(r >> 8 & ((1 << back_shift) - 1))) {
				n -= min(n, (r >> 16) % 60);
				again++;
			}
			segs = r >> 30 ? 1 : 1 + (r >> 28 & 3);
			if ((r & 0xff) * 100 >= ce_pct * 256)
				continue;
			psn = (start + n) % PSNS;
			ended = iqcn_continuity_add(&c, psn, segs, PSNS, true);
			congested = iqcn_detect_run(congested, ended, c.run,
						    enter, exit);

			ref_ended = ref_again_add(&ref, n, segs);
			was = want;
			want = ref.run >= enter ||
			       (want && ref_ended > exit);
			changes += want != was;
			KUNIT_ASSERT_EQ_MSG(test, c.run, ref.run,
					    "sequence %d, PSN %u", seq, psn);
			KUNIT_ASSERT_EQ_MSG(test, ended, ref_ended,
					    "sequence %d, PSN %u", seq, psn);
			KUNIT_ASSERT_EQ_MSG(test, congested, want,
					    "sequence %d, PSN %u", seq, psn);
		}
	}
	KUNIT_EXPECT_GT(test, changes, 1000);
	KUNIT_EXPECT_GT(test, again, 1000);
}

static struct kunit_case continuity_test_cases[] = {
	KUNIT_CASE(run_cases_test),
	KUNIT_CASE(span_cases_test),
	KUNIT_CASE(span_anew_test),
	KUNIT_CASE(seq_delta_test),
	KUNIT_CASE(continuity_repeat_test),
	KUNIT_CASE(continuity_back_test),
	KUNIT_CASE(continuity_kinds_test),
	KUNIT_CASE(continuity_long_test),
	KUNIT_CASE(continuity_model_test),
	KUNIT_CASE(continuity_again_test),
	{}
};

static struct kunit_suite continuity_suite = {
	.name = "iqcn_continuity",
	.test_cases = continuity_test_cases,
};

kunit_test_suite(continuity_suite);
