/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the netlink family have in common: genl.c and event.c */
#ifndef _IQCN_GENL_H
#define _IQCN_GENL_H

#include <linux/iqcn_netlink.h>
#include <net/genetlink.h>

#include "iqcn.h"

/* As it is: Linux's own client knows no attributes that are there for alignment,
 * and a reader copies a value anyway
 */
static inline int iqcn_genl_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put(skb, attr, sizeof(value), &value);
}

extern struct genl_family iqcn_genl_family;

int iqcn_genl_put_key(struct sk_buff *skb, int first,
		      const struct iqcn_key *key);

#endif /* _IQCN_GENL_H */
