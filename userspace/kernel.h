/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User-space versions of the kernel declarations that kmod/params.h and
 * kmod/algo/filter.h need.  The headers in kernel/linux/ replace kernel headers
 * that user space does not have.
 */
#ifndef _IQCN_KERNEL_H
#define _IQCN_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define U32_MAX		UINT32_MAX
#define S32_MAX		INT32_MAX
#define S64_MAX		INT64_MAX
#define U64_MAX		UINT64_MAX
#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L
#define noinline	__attribute__((noinline, unused))
#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define max3(a, b, c)	max(max(a, b), c)
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp_t(type, v, lo, hi) clamp((type)(v), (type)(lo), (type)(hi))

static inline u64 div_u64(u64 n, u32 by)
{
	return n / by;
}

static inline s64 div_s64(s64 n, s32 by)
{
	return n / by;
}

static inline u64 div64_u64(u64 n, u64 by)
{
	return n / by;
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 by)
{
	return (__uint128_t)a * b / by;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (__uint128_t)a * b >> shift;
}

static inline s64 div64_s64(s64 n, s64 by)
{
	return n / by;
}

#endif /* _IQCN_KERNEL_H */
