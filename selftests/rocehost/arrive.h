/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When messages arrive at a sender: all at once, at intervals, or as a Poisson
 * process.
 *
 * A process has a small state, and the same seed always yields the same times.
 * Therefore a flow finds the arrival time of its oldest incomplete message with
 * a second copy of the process instead of a list.
 *
 * Pure: no clock, no lock.
 */
#ifndef _ROCEHOST_ARRIVE_H
#define _ROCEHOST_ARRIVE_H

#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/prandom.h>
#include <linux/types.h>

/**
 * struct arrivals - an arrival process
 * @rnd: random state
 * @next_ns: when the next message arrives
 * @every_ns: mean interval
 * @poisson: intervals are exponential; otherwise all are @every_ns
 */
struct arrivals {
	struct rnd_state rnd;
	u64 next_ns;
	u64 every_ns;
	bool poisson;
};

/* ln 2 in units of 1/2^16 */
#define ARRIVE_LN2	45426

/**
 * arrive_ln() - compute -ln(x / 2^32)
 * @x: 1 .. 2^32 - 1
 *
 * Each squaring of the mantissa doubles its logarithm and yields one more bit.
 *
 * Return: -ln(x / 2^32) in units of 1/2^16, with an error of less than 4 units.
 */
static inline u32 arrive_ln(u32 x)
{
	u32 log2 = (31 - __fls(x)) << 16;
	u64 m = (u64)x << (31 - __fls(x));	/* 2^31 .. 2^32 - 1 */
	u32 bit;

	/* 32 - log2(x) = 31 - __fls(x) + 1 - log2(m / 2^31) */
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
 * arrive_next() - compute when the next message arrives
 * @a: the process; @a->next_ns advances
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
