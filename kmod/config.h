/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters: parsing, bounds, defaults and dump (config.c). */
#ifndef _IQCN_CONFIG_H
#define _IQCN_CONFIG_H

#include "link.h"
#include "params.h"
#include "port.h"

/* Parameters of a queue and of its port, while they are changed or dumped */
struct iqcn_config {
	struct iqcn_params p;
	struct iqcn_port_config port;
};

int iqcn_config_parse(struct iqcn_config *c, const struct iqcn_queue *q,
		      const struct net_device *dev, u64 link_bps,
		      struct nlattr *opt, struct netlink_ext_ack *extack);
void iqcn_config_warn(const struct iqcn_params *p, const struct net_device *dev,
		      const struct iqcn_link *link,
		      struct netlink_ext_ack *extack);
void iqcn_config_init(struct iqcn_config *c, const struct iqcn_port *port);
void iqcn_config_resolve(struct iqcn_params *p, const struct net_device *dev,
			 u64 link_bps);
int iqcn_config_dump(struct sk_buff *skb, const struct iqcn_queue *q);

#endif /* _IQCN_CONFIG_H */
