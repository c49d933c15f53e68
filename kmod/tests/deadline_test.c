// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of algo/deadline.h: deadlines of T1
 */
#include <linux/list.h>

#include "algo/deadline.h"
#include "tests.h"

#define N_DEADLINES 128

/* After a batch, polls pause for three times the length of the batch; if no
 * more polls are due, for at least a quarter of T1; and never for more than
 * 1 ms
 */
static void polls_rest_test(struct kunit *test)
{
	static const struct {
		u64 took_ns;
		u32 t1_ns;
		bool more;
		u64 want_ns;
	} rows[] = {
		{ 0, 300000, false, 75000 },
		{ 20000, 300000, false, 75000 },
		{ 30000, 300000, false, 90000 },
		{ 0, 300000, true, 0 },
		{ 2000, 300000, true, 6000 },
		{ 30000, 300000, true, 90000 },
		/* the limit of 1 ms, and a quarter of the shortest T1 */
		{ 333334, 300000, true, 1000000 },
		{ 50000000, 300000, true, 1000000 },
		{ 50000000, 300000, false, 1000000 },
		{ 0, 1000000000, false, 1000000 },
		{ 0, 10000, false, 2500 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_polls_rest_ns(rows[i].took_ns,
						       rows[i].t1_ns,
						       rows[i].more),
				    rows[i].want_ns, "row %d", i);
}

struct deadlines {
	struct list_head list;
	struct iqcn_deadline d[N_DEADLINES];
	/* the model of each deadline: the number of the move that armed it (0:
	 * not armed), and its base
	 */
	u32 move[N_DEADLINES];
	u64 base_ns[N_DEADLINES];
};

static struct deadlines *make_deadlines(struct kunit *test)
{
	struct deadlines *dl = alloc(test, sizeof(*dl));
	int i;

	INIT_LIST_HEAD(&dl->list);
	for (i = 0; i < N_DEADLINES; i++) {
		iqcn_deadline_init(&dl->d[i]);
		/* a new deadline is older than any reset of its queue */
		KUNIT_ASSERT_EQ(test, dl->d[i].base_ns, 0);
	}
	return dl;
}

static void expect_deadlines(struct kunit *test, struct deadlines *dl)
{
	struct iqcn_deadline *d, *first = NULL;
	u32 armed = 0, listed = 0, last = 0, least = U32_MAX;
	u64 last_ns = 0;
	int i;

	for (i = 0; i < N_DEADLINES; i++) {
		KUNIT_ASSERT_EQ(test, iqcn_deadline_armed(&dl->d[i]),
				dl->move[i] != 0);
		if (!dl->move[i])
			continue;
		armed++;
		if (dl->move[i] < least) {
			least = dl->move[i];
			first = &dl->d[i];
		}
	}
	KUNIT_ASSERT_PTR_EQ(test, iqcn_deadline_first(&dl->list), first);
	list_for_each_entry(d, &dl->list, node) {
		i = d - dl->d;
		KUNIT_ASSERT_EQ(test, d->base_ns, dl->base_ns[i]);
		KUNIT_ASSERT_GE(test, d->base_ns, last_ns);
		KUNIT_ASSERT_GT(test, dl->move[i], last);
		last_ns = d->base_ns;
		last = dl->move[i];
		listed++;
	}
	KUNIT_ASSERT_EQ(test, listed, armed);
}

static void deadline_order_test(struct kunit *test)
{
	struct deadlines *dl = make_deadlines(test);
	struct rnd_state rnd;
	u64 now_ns = 1000;
	u32 move;

	prandom_seed_state(&rnd, SEED);
	expect_deadlines(test, dl);
	for (move = 1; move <= 20000; move++) {
		u32 r = prandom_u32_state(&rnd);
		int i = r % N_DEADLINES;

		/* some moves happen at the same time */
		now_ns += r >> 16 & 3 ? r >> 20 : 0;
		if (r >> 18 & 3) {
			iqcn_deadline_restart(&dl->d[i], &dl->list, now_ns);
			dl->move[i] = move;
			dl->base_ns[i] = now_ns;
		} else {
			iqcn_deadline_cancel(&dl->d[i]);
			dl->move[i] = 0;
		}
		if (move % 16 == 0 || move < 300)
			expect_deadlines(test, dl);
	}
}

/* Whatever the order of restarts and cancels, the last deadline of the second
 * list is the most recent one there, and older than all on the first list
 */
static void deadline_lapse_test(struct kunit *test)
{
	struct deadlines *dl = make_deadlines(test);
	struct iqcn_deadline *first, *last;
	struct rnd_state rnd;
	LIST_HEAD(lapsed);
	u64 now_ns;
	int i;

	prandom_seed_state(&rnd, SEED);
	KUNIT_EXPECT_NULL(test, iqcn_deadline_last(&lapsed));
	for (i = 0, now_ns = 1; i < 10 * N_DEADLINES; i++, now_ns++) {
		u32 r = prandom_u32_state(&rnd);

		iqcn_deadline_restart(&dl->d[r % N_DEADLINES], &dl->list,
				      now_ns);
		if (i % 5 == 4)
			iqcn_deadline_cancel(&dl->d[(r >> 16) % N_DEADLINES]);
		first = iqcn_deadline_first(&dl->list);
		if (i % 3 || !first)
			continue;
		iqcn_deadline_lapse(first, &lapsed);
		last = iqcn_deadline_last(&lapsed);
		KUNIT_EXPECT_PTR_EQ(test, last, first);
		KUNIT_EXPECT_TRUE(test, iqcn_deadline_armed(last));
		first = iqcn_deadline_first(&dl->list);
		if (first)
			KUNIT_EXPECT_LT(test, last->base_ns, first->base_ns);
	}
	now_ns = U64_MAX;
	while ((last = iqcn_deadline_last(&lapsed))) {
		KUNIT_EXPECT_LT(test, last->base_ns, now_ns);
		now_ns = last->base_ns;
		iqcn_deadline_cancel(last);
	}
	KUNIT_EXPECT_LT(test, now_ns, U64_MAX);
}

static void deadline_due_test(struct kunit *test)
{
	static const u64 bases[] = { 0, 1, 1000000, 1ULL << 62 };
	static const u64 t1s[] = { 1, 20000, 300000, 7000000, U32_MAX };
	struct deadlines *dl = make_deadlines(test);
	struct iqcn_deadline *d = dl->d;
	int b, t;

	/* after a restart, a deadline is armed, and after a cancel, it is not,
	 * whether it was armed before or not
	 */
	KUNIT_EXPECT_FALSE(test, iqcn_deadline_armed(d));
	KUNIT_EXPECT_NULL(test, iqcn_deadline_first(&dl->list));
	iqcn_deadline_cancel(d);
	KUNIT_EXPECT_FALSE(test, iqcn_deadline_armed(d));
	iqcn_deadline_restart(d, &dl->list, 5);
	iqcn_deadline_restart(d, &dl->list, 6);
	KUNIT_EXPECT_TRUE(test, iqcn_deadline_armed(d));
	KUNIT_EXPECT_PTR_EQ(test, iqcn_deadline_first(&dl->list), d);
	iqcn_deadline_cancel(d);
	KUNIT_EXPECT_FALSE(test, iqcn_deadline_armed(d));
	KUNIT_EXPECT_TRUE(test, list_empty(&dl->list));

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		for (t = 0; t < ARRAY_SIZE(t1s); t++) {
			u64 at = bases[b] + t1s[t];

			iqcn_deadline_restart(d, &dl->list, bases[b]);
			KUNIT_EXPECT_FALSE(test,
					   iqcn_deadline_due(d, t1s[t],
							     at - 1));
			KUNIT_EXPECT_TRUE(test,
					  iqcn_deadline_due(d, t1s[t], at));
			KUNIT_EXPECT_TRUE(test,
					  iqcn_deadline_due(d, t1s[t],
							    at + 1));
			KUNIT_EXPECT_FALSE(test,
					   iqcn_deadline_due(d, t1s[t],
							     bases[b]));
		}
	}
}

/* Expired deadlines are the first of the list for any T1 */
static void deadline_t1_test(struct kunit *test)
{
	static const u64 t1s[] = { 1270, 0, 1, 640, 635, 2000, 100 };
	struct deadlines *dl = make_deadlines(test);
	struct iqcn_deadline *d;
	int i, t;

	/* 37 and 128 are coprime: the loop arms all deadlines, 10 ns apart */
	for (i = 0; i < N_DEADLINES; i++)
		iqcn_deadline_restart(&dl->d[i * 37 % N_DEADLINES], &dl->list,
				      10 * i);
	for (t = 0; t < ARRAY_SIZE(t1s); t++) {
		i = 0;
		list_for_each_entry(d, &dl->list, node) {
			KUNIT_EXPECT_PTR_EQ(test, d,
					    &dl->d[i * 37 % N_DEADLINES]);
			KUNIT_EXPECT_EQ_MSG(test,
					    iqcn_deadline_due(d, t1s[t], 1270),
					    10 * i + t1s[t] <= 1270,
					    "T1 %llu, %d", t1s[t], i);
			i++;
		}
		KUNIT_EXPECT_EQ(test, i, N_DEADLINES);
	}
}

static void deadline_scan_test(struct kunit *test)
{
	static const struct {
		u64 due_ns, want_ns;
		u32 period_ns;
	} scans[] = {
		{ 0, 0, 75000 },
		{ 1, 75000, 75000 },
		{ 74999, 75000, 75000 },
		{ 75000, 75000, 75000 },
		{ 75001, 150000, 75000 },
		{ 123456789, 123456789, 1 },
		{ (1ULL << 62) - 5, 1ULL << 62, 1 << 31 },
		{ 4 * (u64)U32_MAX + 1, 5 * (u64)U32_MAX, U32_MAX },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(scans); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    iqcn_deadline_scan_ns(scans[i].due_ns,
							  scans[i].period_ns),
				    scans[i].want_ns, "row %d", i);
}

static struct kunit_case deadline_test_cases[] = {
	KUNIT_CASE(polls_rest_test),
	KUNIT_CASE(deadline_order_test),
	KUNIT_CASE(deadline_lapse_test),
	KUNIT_CASE(deadline_due_test),
	KUNIT_CASE(deadline_t1_test),
	KUNIT_CASE(deadline_scan_test),
	{}
};

static struct kunit_suite deadline_suite = {
	.name = "iqcn_deadline",
	.test_cases = deadline_test_cases,
};

kunit_test_suite(deadline_suite);
