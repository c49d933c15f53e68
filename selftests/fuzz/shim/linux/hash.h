/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_HASH_H
#define SHIM_LINUX_HASH_H

#include <linux/types.h>

static inline u32 hash_32(u32 val, unsigned int bits)
{
	return val * 0x61C88647 >> (32 - bits);
}

#endif /* SHIM_LINUX_HASH_H */
