// SPDX-License-Identifier: GPL-2.0
/*
 * Ask the driver of a device.  Unlike sysfs, ioctls follow setns().
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "link.h"

bool link_ask(const char *dev, unsigned long request, struct ifreq *r)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	if (fd < 0)
		return false;
	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", dev);
	ok = !ioctl(fd, request, r);
	close(fd);
	return ok;
}

uint64_t link_bps(const char *dev)
{
	struct ethtool_cmd settings = { .cmd = ETHTOOL_GSET };
	struct ifreq r = { .ifr_data = (void *)&settings };
	uint32_t mbps;

	if (!link_ask(dev, SIOCETHTOOL, &r))
		return 0;
	mbps = ethtool_cmd_speed(&settings);
	return mbps == (uint32_t)SPEED_UNKNOWN ? 0 : mbps * UINT64_C(1000000);
}

void link_driver(char *buf, size_t size, const char *dev)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq r = { .ifr_data = (void *)&info };

	*buf = '\0';
	if (link_ask(dev, SIOCETHTOOL, &r))
		snprintf(buf, size, "%.*s", (int)sizeof(info.driver),
			 info.driver);
}
