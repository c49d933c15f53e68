/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netif_get_link_ksettings() is for callers that hold the lock of a device's
 * operations, as qdiscs and notifiers do.  Older kernels have RTNL only.
 */
#ifndef _IQCN_COMPAT_LINUX_ETHTOOL_H
#define _IQCN_COMPAT_LINUX_ETHTOOL_H

#include_next <linux/ethtool.h>

#ifndef IQCN_HAVE_NETIF_GET_LINK_KSETTINGS
static inline int
netif_get_link_ksettings(struct net_device *dev,
			 struct ethtool_link_ksettings *link_ksettings)
{
	return __ethtool_get_link_ksettings(dev, link_ksettings);
}
#endif

#endif /* _IQCN_COMPAT_LINUX_ETHTOOL_H */
