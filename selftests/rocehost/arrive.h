/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When messages come to be sent: at once, at intervals, or as a Poisson
 * process.
 *
 * A process is a few words and gives the same times whenever it is run again
 * from the same seed, so that a flow that wants to know when its oldest
 * unfinished message came runs a second copy of it, and keeps no list.
 *
 * Pure.
 */
#ifndef _ROCEHOST_ARRIVE_H
#define _ROCEHOST_ARRIVE_H

#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/prandom.h>
#include <linux/types.h>

/**
 * struct arrivals - a process
 * @rnd: its randomness
 * @next_ns: when the next message comes
 * @every_ns: mean time between two
 * @poisson: exponential times; else all are the mean
 */
struct arrivals {
	struct rnd_state rnd;
	u64 next_ns;
	u64 every_ns;
	bool poisson;
};

/* ln 2 in 1/2^16 */
#define ARRIVE_LN2	45426

/**
 * arrive_ln() - -ln(x / 2^32)
 * @x: 1 .. 2^32 - 1
 *
 * By squaring: each doubling of the logarithm of the mantissa gives a bit.
 *
 * Return: in 1/2^16, within 2.
 */
static inline u32 arrive_ln(u32 x)
{
	u32 log2 = (31 - __fls(x)) << 16;
	u64 m = (u64)x << (31 - __fls(x));	/* 2^31 .. 2^32 - 1 */
	u32 bit;

	/* log2 is of 2^31 / m .. 1 too much by the mantissa's logarithm */
	log2 += 1 << 16;
	for (bit = 1 << 15; bit; bit >>= 1) {
		m = m * m >> 31;
		if (m >> 32) {
			m >>= 1;
			log2 -= bit;
		}
	}
	return (u64)log2 * ARRIVE_LN2 >> 16;
}

/**
 * arrive_next() - a message has come: when does the next?
 * @a: the process; @a->next_ns moves on
 */
static inline void arrive_next(struct arrivals *a)
{
	u64 gap_ns = a->every_ns;

	if (a->poisson)
		gap_ns = mul_u64_u32_shr(gap_ns,
					 arrive_ln(prandom_u32_state(&a->rnd) | 1),
					 16);
	a->next_ns += gap_ns;
}

#endif /* _ROCEHOST_ARRIVE_H */
