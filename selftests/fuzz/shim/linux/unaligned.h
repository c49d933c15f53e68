/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_UNALIGNED_H
#define SHIM_LINUX_UNALIGNED_H

#include <linux/types.h>
#include <string.h>

#define get_unaligned(_p) ({						\
	typeof(*(_p) + 0) _v = 0;					\
									\
	memcpy(&_v, _p, sizeof(*(_p)));					\
	(typeof(*(_p)))_v;						\
})

#define put_unaligned(_val, _p) do {					\
	typeof(*(_p)) _v = _val;					\
									\
	memcpy(_p, &_v, sizeof(_v));					\
} while (0)

static inline u16 get_unaligned_be16(const void *p)
{
	const u8 *b = p;

	return b[0] << 8 | b[1];
}

static inline u32 get_unaligned_be32(const void *p)
{
	return (u32)get_unaligned_be16(p) << 16 |
	       get_unaligned_be16((const u8 *)p + 2);
}

static inline void put_unaligned_be16(u16 v, void *p)
{
	u8 *b = p;

	b[0] = v >> 8;
	b[1] = v;
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	put_unaligned_be16(v >> 16, p);
	put_unaligned_be16(v, (u8 *)p + 2);
}

#endif /* SHIM_LINUX_UNALIGNED_H */
