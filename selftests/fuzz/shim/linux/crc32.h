/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_CRC32_H
#define SHIM_LINUX_CRC32_H

#include <linux/types.h>
#include <zlib.h>

static inline u32 crc32_le(u32 crc, const void *p, size_t len)
{
	return ~(u32)crc32(~crc, p, len);
}

#endif /* SHIM_LINUX_CRC32_H */
