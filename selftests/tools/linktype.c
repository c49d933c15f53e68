// SPDX-License-Identifier: GPL-2.0
/*
 * linktype: change the type of a tap device with TUNSETLINK.
 *
 *   linktype NETNS DEV TYPE	TYPE is an ARPHRD_* number; silent on success
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "netns.h"

static int die(const char *what)
{
	fprintf(stderr, "linktype: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd;

	if (argc != 4) {
		fprintf(stderr, "Usage: linktype NETNS DEV TYPE\n");
		return 2;
	}
	/* a tun file belongs to the namespace in which it is opened */
	if (netns_enter(argv[1], strlen(argv[1])))
		return die(argv[1]);
	fd = open("/dev/net/tun", O_RDWR);
	if (fd < 0)
		return die("/dev/net/tun");
	strncpy(ifr.ifr_name, argv[2], sizeof(ifr.ifr_name) - 1);
	if (ioctl(fd, TUNSETIFF, &ifr))
		return die(argv[2]);
	if (ioctl(fd, TUNSETLINK, strtoul(argv[3], NULL, 0)))
		return die("TUNSETLINK");
	return 0;
}
