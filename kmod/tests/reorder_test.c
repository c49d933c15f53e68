// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/reorder.h: CE packets put in order
 */
#include "algo/reorder.h"
#include "tests.h"

/* Numbers that were passed on: the last one, how many, and whether in order */
struct judged {
	u32 seq, n;
	bool in_order;
};

static void judge(struct judged *j, u32 seq, u32 n, u32 modulus)
{
	j->in_order &= !j->n || iqcn_seq_delta(seq, j->seq, modulus) > 0;
	j->seq = (seq + n - 1) % modulus;
	j->n += n;
}

/* Add a packet as congestion.c does, and record the numbers that are passed on.
 * Return: the result of iqcn_reorder_add().
 */
static bool reorder_add(struct iqcn_reorder *r, u32 seq, u32 n, u32 modulus,
			bool kind, struct judged *j)
{
	bool held = iqcn_reorder_add(r, seq, n, modulus, kind);
	u32 first, several;

	while ((several = iqcn_reorder_pop(r, !held, modulus, &first)))
		judge(j, first, several, modulus);
	if (!held) {
		judge(j, seq, n, modulus);
		iqcn_reorder_pass(r, seq, n, modulus, kind);
	}
	return held;
}

/* Packets, and how many numbers each of them passes on */
struct reorder_case {
	const char *name;
	struct {
		u32 seq, n, want;
		bool response;
	} in[12];
};

static const struct reorder_case reorder_cases[] = {
	{ "in order", { { 1, 1, 1 }, { 2, 3, 3 }, { 5, 60, 60 } } },
	{ "holes", { { 1, 1, 1 }, { 3, 1, 1 }, { 90, 2, 2 }, { 93, 1, 1 } } },
	{ "again", { { 1, 4, 4 }, { 2, 3, 3 }, { 5, 1, 1 }, { 3, 3, 3 } } },
	{ "the second pair", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 5, 1, 1 }, { 7, 1, 0 }, { 6, 1, 2 }, { 8, 1, 1 } } },
	{ "not CE", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 6, 1, 0 }, { 7, 1, 2 }, { 9, 1, 0 }, { 11, 1, 1 },
		{ 12, 1, 2 } } },
	{ "two not CE", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 7, 1, 0 }, { 8, 1, 2 } } },
	{ "later than ever", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 6, 1, 0 }, { 7, 1, 2 }, { 5, 1, 0 }, { 9, 2, 0 },
		{ 8, 1, 3 } } },
	{ "the latest", { { 1, 1, 1 }, { 3, 31, 31 }, { 2, 1, 0 },
		{ 35, 31, 0 }, { 34, 1, 32 } } },
	{ "too late: a sender that goes back", { { 1, 1, 1 }, { 3, 32, 32 },
		{ 2, 1, 1 }, { 4, 1, 1 } } },
	{ "again while one is late", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 6, 1, 0 }, { 4, 1, 2 }, { 5, 1, 1 } } },
	{ "a jump", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 }, { 6, 1, 0 },
		{ 39, 1, 2 }, { 41, 1, 0 }, { 40, 1, 2 } } },
	{ "many segments", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 },
		{ 6, 33, 33 }, { 40, 1, 0 }, { 41, 64, 65 }, { 106, 1, 0 },
		{ 105, 1, 2 } } },
	{ "segments", { { 1, 4, 4 }, { 9, 4, 4 }, { 5, 4, 0 }, { 17, 4, 0 },
		{ 13, 4, 8 }, { 25, 2, 0 }, { 21, 4, 6 } } },
	{ "segments, some again", { { 1, 4, 4 }, { 9, 4, 4 }, { 5, 4, 0 },
		{ 17, 4, 0 }, { 12, 2, 6 } } },
	{ "responses", { { 1, 2, 2 }, { 4, 1, 1 }, { 3, 1, 0 }, { 6, 1, 0 },
		{ 5, 1, 2, true }, { 7, 1, 0, true }, { 8, 1, 2 } } },
	{ "requests are no responses", { { 1, 8, 8 }, { 12, 1, 1, true },
		{ 8, 1, 0, true } } },
};

static void play_reorder_case(struct kunit *test, const struct reorder_case *rc,
			      u32 start, u32 modulus)
{
	struct iqcn_reorder r = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(rc->in) && rc->in[i].n; i++) {
		struct judged j = { .in_order = true };

		reorder_add(&r, (start + rc->in[i].seq) % modulus, rc->in[i].n,
			    modulus, !rc->in[i].response, &j);
		KUNIT_EXPECT_EQ_MSG(test, j.n, rc->in[i].want,
				    "%s from %u of %u, packet %d", rc->name,
				    start, modulus, i);
	}
}

static void reorder_cases_test(struct kunit *test)
{
	int i, s;

	for (i = 0; i < ARRAY_SIZE(reorder_cases); i++) {
		for (s = 0; s < ARRAY_SIZE(starts); s++) {
			play_reorder_case(test, &reorder_cases[i], starts[s],
					  PSNS);
			/* sampling of 1 in 65536 */
			play_reorder_case(test, &reorder_cases[i],
					  starts[s] % 256, 256);
		}
	}
}

/* While no packet is late, no number waits, even if packets are not CE or the
 * sender retransmits
 */
static void reorder_transparent_test(struct kunit *test)
{
	struct iqcn_reorder r = {};
	u32 seq = PSNS - 1000, k;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, SEED);
	for (k = 0; k < 20000; k++) {
		struct judged j = { .in_order = true };
		u32 d = prandom_u32_state(&rnd);
		u32 n = d >> 24 & 15 ? 1 : 1 + (d >> 16) % 80;

		/* repeat a packet, skip some, or continue */
		if (d % 16 == 0)
			n = 1;
		else if (d % 16 < 4)
			seq += d >> 8 & 63;
		KUNIT_ASSERT_FALSE(test, reorder_add(&r, seq % PSNS, n, PSNS,
						     true, &j));
		KUNIT_ASSERT_EQ(test, j.n, n);
		if (d % 16 == 0)
			continue;
		seq += n;
		if (d % 16 == 15)
			seq -= 1;
	}
}

#define N_REORDER 500

/* With a window that covers the reordering, every number is passed on once and
 * in order
 */
static void reorder_model_test(struct kunit *test)
{
	static const u32 moduli[] = { PSNS, 16778, 256 };
	struct {
		u32 seq, n, at;
	} *sent = alloc(test, N_REORDER * sizeof(*sent)), swap;
	struct rnd_state rnd;
	u32 late = 0;
	int round, i, k;

	prandom_seed_state(&rnd, SEED);
	for (round = 0; round < 300; round++) {
		u32 modulus = moduli[round % ARRAY_SIZE(moduli)];
		u32 segs = 1 + round % 3, spread = 32 / segs;
		struct iqcn_reorder r = { .window = IQCN_REORDER_MAX };
		struct judged j = { .in_order = true };
		u32 seq = prandom_u32_state(&rnd) % modulus, all = 0, first;

		for (i = 0; i < N_REORDER; i++) {
			u32 d = prandom_u32_state(&rnd);

			/* some packets are not CE */
			if (i && d % 8 == 0)
				seq += 1 + (d >> 8) % 3;
			sent[i].seq = seq % modulus;
			sent[i].n = segs;
			/* the first packet must not be overtaken */
			sent[i].at = i ? seq + (d >> 16) % (spread * segs - segs + 1) :
					 seq;
			seq += segs;
			all += segs;
		}
		for (i = 1; i < N_REORDER; i++)
			for (k = i; k && sent[k - 1].at > sent[k].at; k--) {
				swap = sent[k];
				sent[k] = sent[k - 1];
				sent[k - 1] = swap;
				late++;
			}
		for (i = 0; i < N_REORDER; i++)
			reorder_add(&r, sent[i].seq, sent[i].n, modulus, true,
				    &j);
		while ((segs = iqcn_reorder_pop(&r, true, modulus, &first)))
			judge(&j, first, segs, modulus);
		KUNIT_ASSERT_TRUE_MSG(test, j.in_order, "round %d", round);
		KUNIT_ASSERT_EQ_MSG(test, j.n, all, "round %d", round);
	}
	/* the test has reordered packets */
	KUNIT_EXPECT_GT(test, late, 100000);
}

#define N_SPRAYED	2000
#define SPRAYED_RUN	5
#define SPRAYED_SPAN	100
#define SPRAYED_GAP	3

/* The detectors of a flow, as congestion.c runs them */
struct sprayed {
	struct iqcn_reorder r;
	struct iqcn_continuity c;
	bool run, span;
	u32 runs, spans;	/* times that each began to report congestion */
	bool ce[N_SPRAYED];	/* numbers that were CE here */
};

/* Return: the length of the longest stretch in which neighboring CE numbers
 * differ by less than SPRAYED_GAP
 */
static u32 sprayed_longest(const struct sprayed *s)
{
	u32 seq, last = 0, first = 0, longest = 0;
	bool begun = false;

	for (seq = 0; seq < N_SPRAYED; seq++) {
		if (!s->ce[seq])
			continue;
		if (!begun || seq - last >= SPRAYED_GAP)
			first = seq;
		begun = true;
		last = seq;
		longest = max(longest, last - first + 1);
	}
	return longest;
}

static void sprayed_judge(struct kunit *test, struct sprayed *s, u32 first,
			  u32 n)
{
	u32 ended = iqcn_continuity_add(&s->c, first, n, PSNS, true), i;
	bool run, span;

	for (i = 1; i <= s->c.run; i++)
		KUNIT_ASSERT_TRUE_MSG(test, s->ce[s->c.high - i],
				      "run of %u to %u", s->c.run, s->c.high);
	run = iqcn_detect_run(s->run, ended, s->c.run, SPRAYED_RUN, 2);
	span = iqcn_detect_span(s->span, &s->c, SPRAYED_SPAN, SPRAYED_GAP, 10);
	s->runs += run && !s->run;
	s->spans += span && !s->span;
	if (span && !s->span)
		KUNIT_ASSERT_GE(test, sprayed_longest(s), SPRAYED_SPAN);
	s->run = run;
	s->span = span;
}

/* Some paths of a sprayed flow lead through this box.  Each path delays its
 * packets by a random number of packets.  The detectors may report congestion
 * only if the packets that were CE here prove it.
 */
static void reorder_sprayed_test(struct kunit *test)
{
	/* all packets are CE, or 7 in 8, or half */
	static const u32 marks[] = { 0, 1, 4 };
	struct {
		u32 seq, at;
	} *sent = alloc(test, N_SPRAYED * sizeof(*sent)), swap;
	struct sprayed *s = alloc(test, sizeof(*s));
	u32 all_here = 0;
	struct rnd_state rnd;
	int round;

	prandom_seed_state(&rnd, SEED);
	for (round = 0; round < 300; round++) {
		u32 paths = 1 + round % 8, here = 1 + round / 8 % paths;
		u32 not_ce = marks[round % ARRAY_SIZE(marks)];
		u32 skew[8], n = 0, i, k, seq;
		bool held;

		memset(s, 0, sizeof(*s));
		for (i = 0; i < paths; i++)
			skew[i] = prandom_u32_state(&rnd) % (round % 5 * 40 + 1);
		for (seq = 0; seq < N_SPRAYED; seq++) {
			u32 d = prandom_u32_state(&rnd);
			u32 path = d % paths;

			if (path >= here || (d >> 16) % 8 < not_ce)
				continue;
			sent[n].seq = seq;
			sent[n++].at = seq + skew[path];
		}
		for (i = 1; i < n; i++)
			for (k = i; k && sent[k - 1].at > sent[k].at; k--) {
				swap = sent[k];
				sent[k] = sent[k - 1];
				sent[k - 1] = swap;
			}
		for (i = 0; i < n; i++) {
			u32 first, several;

			s->ce[sent[i].seq] = true;
			held = iqcn_reorder_add(&s->r, sent[i].seq, 1, PSNS,
						true);
			while ((several = iqcn_reorder_pop(&s->r, !held, PSNS,
							   &first)))
				sprayed_judge(test, s, first, several);
			if (held)
				continue;
			sprayed_judge(test, s, sent[i].seq, 1);
			iqcn_reorder_pass(&s->r, sent[i].seq, 1, PSNS, true);
		}
		if (paths == 1)
			all_here += s->runs + s->spans;
	}
	/* the detectors report congestion if there is only one path */
	KUNIT_EXPECT_GT(test, all_here, 0);
}

static struct kunit_case reorder_test_cases[] = {
	KUNIT_CASE(reorder_cases_test),
	KUNIT_CASE(reorder_transparent_test),
	KUNIT_CASE(reorder_model_test),
	KUNIT_CASE(reorder_sprayed_test),
	{}
};

static struct kunit_suite reorder_suite = {
	.name = "iqcn_reorder",
	.test_cases = reorder_test_cases,
};

kunit_test_suite(reorder_suite);
