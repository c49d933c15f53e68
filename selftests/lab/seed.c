// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD for User Mode Linux: replaces getrandom() by a sequence that
 * LAB_SEED seeds.  The kernel then generates the same random numbers in every
 * boot, provided that everything else is the same, too: command line, clock,
 * and what runs in it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	static uint64_t state;
	static int seeded;
	uint8_t *p = buf;
	size_t i;

	if (!seeded) {
		state = strtoull(getenv("LAB_SEED"), NULL, 0);
		seeded = 1;
	}
	for (i = 0; i < len; i++)
		p[i] = next(&state) >> 56;
	return len;
}
