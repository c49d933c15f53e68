/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the two halves of the netlink family, genl.c and event.c. */
#ifndef _IQCN_GENL_H
#define _IQCN_GENL_H

#include <linux/iqcn_netlink.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "flow.h"

extern struct genl_family iqcn_genl_family;

static inline int iqcn_genl_put_addr(struct sk_buff *skb, int attr,
				     const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return nla_put_in_addr(skb, attr, addr->s6_addr32[3]);
	return nla_put_in6_addr(skb, attr, addr);
}

/* Put the key of a flow.  @first is IQCN_A_FLOW_SRC or IQCN_A_EVENT_SRC; the
 * other attributes follow it in the same order.
 */
static inline int iqcn_genl_put_key(struct sk_buff *skb, int first,
				    const struct iqcn_key *key)
{
	int off = first - IQCN_A_FLOW_SRC;

	if (iqcn_genl_put_addr(skb, off + IQCN_A_FLOW_SRC, &key->src) ||
	    iqcn_genl_put_addr(skb, off + IQCN_A_FLOW_DST, &key->dst) ||
	    nla_put_u16(skb, off + IQCN_A_FLOW_VID, key->vid[0]) ||
	    nla_put_u16(skb, off + IQCN_A_FLOW_INNER_VID, key->vid[1]) ||
	    nla_put_u32(skb, off + IQCN_A_FLOW_DEST_QP, key->qp))
		return -EMSGSIZE;
	return 0;
}

#endif /* _IQCN_GENL_H */
