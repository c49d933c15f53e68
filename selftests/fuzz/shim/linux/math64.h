/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_MATH64_H
#define SHIM_LINUX_MATH64_H

#include <linux/types.h>

#define DIV64_U64_ROUND_UP(n, by) (((n) + (by) - 1) / (by))

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 by)
{
	return (__uint128_t)a * b / by;
}

#endif /* SHIM_LINUX_MATH64_H */
