/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_NET_IPV6_H
#define SHIM_NET_IPV6_H

#include <linux/ipv6.h>
#include <linux/types.h>

#define NEXTHDR_HOP		0
#define NEXTHDR_ROUTING		43
#define NEXTHDR_FRAGMENT	44
#define NEXTHDR_DEST		60
#define IP6_OFFSET		0xfff8
#define IPV6_FLOWLABEL_MASK	htonl(0x000fffff)

static inline void ipv6_addr_set_v4mapped(__be32 addr, struct in6_addr *v4)
{
	*v4 = (struct in6_addr){};
	v4->s6_addr32[2] = htonl(0xffff);
	v4->s6_addr32[3] = addr;
}

static inline bool ipv6_addr_v4mapped(const struct in6_addr *a)
{
	return !a->s6_addr32[0] && !a->s6_addr32[1] &&
	       a->s6_addr32[2] == htonl(0xffff);
}

static inline void ip6_flow_hdr(struct ipv6hdr *hdr, unsigned int tclass,
				__be32 label)
{
	*(__be32 *)hdr = htonl(0x60000000 | tclass << 20) | label;
}

#endif /* SHIM_NET_IPV6_H */
