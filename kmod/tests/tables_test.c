// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the hash tables of flows: keys that collide in one do not in another
 */
#include <linux/delay.h>
#include <linux/jhash.h>
#include <linux/rhashtable.h>

#include "tests.h"

/* Of the size of struct iqcn_key, and hashed as that is */
struct crafted {
	u32 key[10];
	struct rhash_head node;
};

static const struct rhashtable_params crafted_params = {
	.key_len = sizeof_field(struct crafted, key),
	.key_offset = offsetof(struct crafted, key),
	.head_offset = offsetof(struct crafted, node),
	.automatic_shrinking = true,
};

#define CRAFTED		1024
/* They share a bucket in any table up to this size, which is more than it takes */
#define CRAFTED_MASK	4095

static u32 crafted_seed(struct rhashtable *ht)
{
	u32 seed;

	rcu_read_lock();
	seed = rht_dereference_rcu(ht->tbl, ht)->hash_rnd;
	rcu_read_unlock();
	return seed;
}

static unsigned int crafted_longest(struct rhashtable *ht)
{
	const struct bucket_table *tbl;
	unsigned int i, n, longest = 0;
	struct rhash_head *pos;

	rcu_read_lock();
	tbl = rht_dereference_rcu(ht->tbl, ht);
	for (i = 0; i < tbl->size; i++) {
		n = 0;
		rht_for_each_rcu(pos, tbl, i)
			n++;
		longest = max(longest, n);
	}
	rcu_read_unlock();
	return longest;
}

/* Who is asked to make it anew may be so by the next tick only */
static void crafted_settle(struct rhashtable *ht)
{
	msleep(20);
	flush_work(&ht->run_work);
}

static void crafted_fill(struct kunit *test, struct rhashtable *ht,
			 struct crafted *c)
{
	int i, refused = 0;

	for (i = 0; i < CRAFTED; i++) {
		/* while it is made anew it takes no more: so does a flow go
		 * without
		 */
		while (rhashtable_insert_fast(ht, &c[i].node, crafted_params)) {
			KUNIT_ASSERT_LT(test, refused++, 1000);
			crafted_settle(ht);
		}
	}
	crafted_settle(ht);
}

/* Who knew the number that a table hashes with could make keys for one bucket of
 * it: they make it draw another number before the bucket is long.  And what was
 * made for one table is nothing to the next.
 */
static void crafted_keys_test(struct kunit *test)
{
	struct crafted *c = alloc(test, CRAFTED * sizeof(*c));
	/* it has a work item, for which a stack is no place */
	struct rhashtable *ht = alloc(test, sizeof(*ht));
	struct rnd_state rnd;
	u32 seed;
	int i;

	KUNIT_ASSERT_EQ(test, rhashtable_init(ht, &crafted_params), 0);
	seed = crafted_seed(ht);
	prandom_seed_state(&rnd, SEED);
	for (i = 0; i < CRAFTED; i++)
		do
			prandom_bytes_state(&rnd, c[i].key, sizeof(c[i].key));
		while (jhash2(c[i].key, ARRAY_SIZE(c[i].key), seed) &
		       CRAFTED_MASK);

	crafted_fill(test, ht, c);
	KUNIT_EXPECT_NE(test, crafted_seed(ht), seed);
	KUNIT_EXPECT_LE(test, crafted_longest(ht), 16);
	for (i = 0; i < CRAFTED; i++)
		rhashtable_remove_fast(ht, &c[i].node, crafted_params);
	rhashtable_destroy(ht);

	KUNIT_ASSERT_EQ(test, rhashtable_init(ht, &crafted_params), 0);
	crafted_fill(test, ht, c);
	KUNIT_EXPECT_LE(test, crafted_longest(ht), 16);
	for (i = 0; i < CRAFTED; i++)
		rhashtable_remove_fast(ht, &c[i].node, crafted_params);
	rhashtable_destroy(ht);
}

static struct kunit_case tables_test_cases[] = {
	KUNIT_CASE(crafted_keys_test),
	{}
};

static struct kunit_suite tables_suite = {
	.name = "iqcn_tables",
	.test_cases = tables_test_cases,
};

kunit_test_suite(tables_suite);
