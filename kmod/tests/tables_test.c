// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the hash tables of flows: colliding keys are harmless
 */
#include <linux/delay.h>
#include <linux/jhash.h>
#include <linux/rhashtable.h>

#include "tests.h"

/* An entry with a key of the size and the hash of struct iqcn_key */
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
/* The keys share a bucket in tables of up to 4096 buckets, more than needed */
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

/* Wait for the table to rehash: its work may be queued with a delay */
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
		/* during a rehash the table may refuse an entry; in the
		 * module, the packet then has no flow
		 */
		while (rhashtable_insert_fast(ht, &c[i].node, crafted_params)) {
			KUNIT_ASSERT_LT(test, refused++, 1000);
			crafted_settle(ht);
		}
	}
	crafted_settle(ht);
}

/* An attacker with the hash seed of a table could craft keys for one of its
 * buckets.  The table then rehashes with a new seed before the bucket gets
 * long, and the keys do not collide in another table.
 */
static void crafted_keys_test(struct kunit *test)
{
	struct crafted *c = alloc(test, CRAFTED * sizeof(*c));
	/* not on the stack, because it contains a work item */
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
