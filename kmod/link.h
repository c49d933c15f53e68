/* SPDX-License-Identifier: GPL-2.0 */
/* The rate at which a queue can send: that of its device or of a shaper
 * (link.c).
 */
#ifndef _IQCN_LINK_H
#define _IQCN_LINK_H

#include <linux/types.h>

struct net_device;
struct Qdisc;

/* struct iqcn_link - the rate of a queue, and the shaper that sets it */
struct iqcn_link {
	u64 speed_bps;		/* of the device, 0: unknown */
	u64 bps;		/* of the device or the shaper, 0: unknown */
	u32 shaper;		/* handle of that shaper, 0: none */
};

u64 iqcn_link_speed_bps(struct net_device *dev);
int iqcn_link_get(struct Qdisc *sch, u64 speed_bps, struct iqcn_link *link);

#endif /* _IQCN_LINK_H */
