/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reproducible random numbers: the same seed yields the same sequence.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

extern uint64_t random_state;	/* defined by the program, starts as the seed */

/* splitmix64 */
static inline uint64_t draw(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* A random number from 0 to n - 1 */
static inline unsigned int below(unsigned int n)
{
	return draw() % n;
}

#endif /* RANDOM_H */
