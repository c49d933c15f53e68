/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers that several test files need
 */
#ifndef _IQCN_TESTS_H
#define _IQCN_TESTS_H

#include <kunit/test.h>
#include <linux/math64.h>
#include <linux/prandom.h>
#include <linux/types.h>

/* the seed of every pseudo-random sequence, so that runs are repeatable */
#define SEED 20230817

#define SECOND	1000000000ULL
#define MS	1000000ULL
#define US	1000ULL

/* 1.0 as a probability */
#define ONE 0x100000000ULL

#define T1_NS	300000ULL

/* the number of PSNs, and the PSNs from which sequences start */
#define PSNS 0x1000000U

static const u32 starts[] __maybe_unused = {
	0, 1, PSNS - 1, PSNS - 2, PSNS - 3, PSNS - 4, PSNS - 6, PSNS - 50,
	PSNS - 100, PSNS - 65540, PSNS / 2 - 3, PSNS / 2,
};

static inline void *alloc(struct kunit *test, size_t len)
{
	void *p = kunit_kzalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	return p;
}

static inline u64 gap64(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* A random number of random magnitude */
static inline u32 any_u32(struct rnd_state *rnd)
{
	u32 r = prandom_u32_state(rnd);

	return r >> prandom_u32_state(rnd) % 32;
}

/* a * b / c by long division over the bits of a; U64_MAX if the result exceeds
 * about 2^62
 */
static inline u64 ref_mul_div(u64 a, u64 b, u64 c)
{
	u64 quot = 0, rem = 0, b_quot, b_rem;
	int i;

	b_quot = div64_u64_rem(b, c, &b_rem);
	for (i = 63; i >= 0; i--) {
		bool carry = rem >= c - rem;

		if (quot > U64_MAX / 4)
			return U64_MAX;
		quot = 2 * quot + carry;
		rem = carry ? rem - (c - rem) : 2 * rem;
		if (!(a >> i & 1))
			continue;
		if (b_quot > U64_MAX / 4)
			return U64_MAX;
		carry = rem >= c - b_rem;
		quot += b_quot + carry;
		rem = carry ? rem - (c - b_rem) : rem + b_rem;
	}
	return quot;
}

#endif /* _IQCN_TESTS_H */
