/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the netlink family have in common: genl.c and event.c */
#ifndef _IQCN_GENL_H
#define _IQCN_GENL_H

#include <linux/iqcn_netlink.h>
#include <net/genetlink.h>

#include "iqcn.h"

extern struct genl_family iqcn_genl_family;

int iqcn_genl_put_key(struct sk_buff *skb, int first,
		      const struct iqcn_key *key);

#endif /* _IQCN_GENL_H */
