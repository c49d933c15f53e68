// SPDX-License-Identifier: GPL-2.0
/* netif_get_link_ksettings() is for callers that hold the device's lock */
#include <linux/ethtool.h>

int iqcn_test(struct net_device *dev, struct ethtool_link_ksettings *ks);

int iqcn_test(struct net_device *dev, struct ethtool_link_ksettings *ks)
{
	return netif_get_link_ksettings(dev, ks);
}
