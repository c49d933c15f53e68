// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD library for User Mode Linux: getrandom() returns a pseudo-random
 * sequence with the seed $LAB_SEED.  The kernel then generates the same random
 * numbers in every boot, provided that its command line, its clock and the
 * programs that run are the same, too.
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
