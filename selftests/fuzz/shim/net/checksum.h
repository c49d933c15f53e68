/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_NET_CHECKSUM_H
#define SHIM_NET_CHECKSUM_H

#include <linux/types.h>
#include <linux/unaligned.h>

#define CSUM_MANGLED_0	0xffff

static inline u32 csum_partial(const void *p, int len, u32 sum)
{
	const u8 *b = p;

	for (; len > 1; len -= 2, b += 2)
		sum += get_unaligned_be16(b);
	return len ? sum + (*b << 8) : sum;
}

static inline u16 csum_fold(u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

static inline u16 ip_fast_csum(const void *iph, unsigned int ihl)
{
	return csum_fold(csum_partial(iph, ihl * 4, 0));
}

#endif /* SHIM_NET_CHECKSUM_H */
