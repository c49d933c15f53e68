/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_NET_IP6_CHECKSUM_H
#define SHIM_NET_IP6_CHECKSUM_H

#include <linux/in6.h>
#include <net/checksum.h>

static inline u16 csum_ipv6_magic(const struct in6_addr *src,
				  const struct in6_addr *dst, u32 len, u8 proto,
				  u32 sum)
{
	sum = csum_partial(src, sizeof(*src), sum);
	sum = csum_partial(dst, sizeof(*dst), sum);
	return csum_fold(sum + len + proto);
}

#endif /* SHIM_NET_IP6_CHECKSUM_H */
