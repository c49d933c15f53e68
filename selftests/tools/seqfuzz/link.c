// SPDX-License-Identifier: GPL-2.0
/*
 * Devices: create, delete, move and configure them in all legal ways.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/if_tunnel.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "seqfuzz.h"

const struct device devices[] = {
	{ "d0", "dummy" }, { "d1", "dummy" }, { "d2", "dummy" },
	{ "va0", "veth", "vb0" }, { "va1", "veth", "vb1" },
	{ "vb0" }, { "vb1" }, { "d3", "dummy" }, { "i0", "ifb" },
	/* the workers focus on the devices above */
	{ "t0" }, { "t1" }, { "t2" }, { "t3" },	/* taps */
	{ "br0", "bridge" }, { "bo0", "bond" }, { "nl0", "nlmon" },
	{ "a0", "dummy" },		/* mirred redirects its packets */
	{ "d0.5", "vlan", "d0" }, { "va0.5", "vlan", "va0" },
	{ "ip0", "ipip" },
};

/* A random number that all workers share for 64 operations */
uint64_t focus(void)
{
	uint64_t z = seed + shared->ops / 64 * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	return (z ^ z >> 27) * 0x94d049bb133111ebull >> 16;
}

const struct device *any_device(void)
{
	unsigned int i = below(3) ? focus() / MAX_SLOTS % N_FOCUS :
			 below(ARRAY_SIZE(devices));

	return &devices[i];
}

/* Return: the ifindex, 0 if there is no such device.  Read it from sysfs
 * because an ioctl for a missing device makes the kernel request a module of
 * its name.
 */
int index_of(const struct place *p, const char *name)
{
	char path[64], number[16] = "";
	int fd;

	snprintf(path, sizeof(path), "class/net/%s/ifindex", name);
	fd = openat(p->sysfs, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, number, sizeof(number) - 1) < 0)
		*number = 0;
	close(fd);
	return atoi(number);
}

static struct nl_msg *link_request(int type, int flags, int index,
				   unsigned int up, unsigned int change)
{
	struct ifinfomsg ifi = {
		.ifi_index = index, .ifi_flags = up, .ifi_change = change,
	};

	return request(type, flags, &ifi, sizeof(ifi));
}

int set_up(struct place *p, int index, bool up)
{
	return ask(p->rtnl, link_request(RTM_NEWLINK, 0, index,
					 up ? IFF_UP : 0, IFF_UP), NULL, NULL);
}

int set_u32(struct place *p, int index, int attr, uint32_t value)
{
	struct nl_msg *msg = link_request(RTM_NEWLINK, 0, index, 0, 0);

	nla_put_u32(msg, attr, value);
	return ask(p->rtnl, msg, NULL, NULL);
}

/* Return: the namespace of a random slot, or that of @p if there is no other.
 * The place that it belongs to owns the file descriptor.
 */
static int any_netns(const struct place *p)
{
	unsigned int slot = below(n_slots);
	struct place *other = NULL;

	if (!alone && slot != p->slot)
		other = visit(slot);
	return other ? other->netns : p->netns;
}

static void put_link_data(struct nl_msg *msg, struct place *p,
			  const struct device *d)
{
	struct nlattr *data = nla_nest_start(msg, IFLA_INFO_DATA), *peer;
	struct ifinfomsg ifi = {};

	if (!strcmp(d->type, "veth")) {
		peer = nla_nest_start(msg, VETH_INFO_PEER);
		nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
		nla_put_string(msg, IFLA_IFNAME, d->other);
		nla_put_u32(msg, IFLA_NET_NS_FD, any_netns(p));
		nla_nest_end(msg, peer);
	} else if (!strcmp(d->type, "vlan")) {
		nla_put_u16(msg, IFLA_VLAN_ID, 5);
	} else if (!strcmp(d->type, "bond")) {
		/* active-backup accepts any type of device */
		nla_put_u8(msg, IFLA_BOND_MODE, 1);
	} else if (!strcmp(d->type, "ipip")) {
		nla_put_u32(msg, IFLA_IPTUN_REMOTE, draw());
	}
	nla_nest_end(msg, data);
}

int add_link(struct place *p, const struct device *d)
{
	struct nl_msg *msg;
	struct nlattr *info;

	msg = link_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0,
			   below(4) ? IFF_UP : 0, IFF_UP);
	nla_put_string(msg, IFLA_IFNAME, d->name);
	nla_put_u32(msg, IFLA_NUM_TX_QUEUES, FAN + 1);
	if (!strcmp(d->type, "vlan"))
		nla_put_u32(msg, IFLA_LINK, index_of(p, d->other));
	info = nla_nest_start(msg, IFLA_LINKINFO);
	nla_put_string(msg, IFLA_INFO_KIND, d->type);
	put_link_data(msg, p, d);
	nla_nest_end(msg, info);
	return ask(p->rtnl, msg, NULL, NULL);
}

/* Return: the ifindex of a random device, which most likely exists */
int any_index(struct place *p)
{
	const struct device *d;
	int tries, index = 0;

	for (tries = 0; !index && tries < 4; tries++) {
		d = any_device();
		index = index_of(p, d->name);
	}
	if (!index && d->type && !add_link(p, d))
		index = index_of(p, d->name);
	return index;
}

int op_link_add(struct place *p)
{
	const struct device *d = any_device();

	return d->type ? add_link(p, d) : -EOPNOTSUPP;
}

int op_link_del(struct place *p)
{
	struct nl_msg *msg = link_request(RTM_DELLINK, 0, any_index(p), 0, 0);

	return ask(p->rtnl, msg, NULL, NULL);
}

int op_link_up(struct place *p)
{
	return set_up(p, any_index(p), below(4));
}

int op_link_mtu(struct place *p)
{
	static const uint32_t mtus[] = {
		68, 1280, 1500, 4200, 9000, 65535, 536870898, 2147483647,
	};

	return set_u32(p, any_index(p), IFLA_MTU, one_of(mtus));
}

int op_link_txqlen(struct place *p)
{
	return set_u32(p, any_index(p), IFLA_TXQLEN, any_size(16));
}

int op_link_move(struct place *p)
{
	int index = any_index(p);

	return set_u32(p, index, IFLA_NET_NS_FD, any_netns(p));
}

/* Rename a device; it must be down for that */
int op_link_rename(struct place *p)
{
	int index = index_of(p, devices[below(N_DUMMIES)].name);
	struct nl_msg *msg;

	set_up(p, index, false);
	msg = link_request(RTM_NEWLINK, 0, index, 0, 0);
	nla_put_string(msg, IFLA_IFNAME,
		       below(2) ? "d3" : devices[below(N_DUMMIES)].name);
	return ask(p->rtnl, msg, NULL, NULL);
}

/* Make a device a port of the bridge, of the bond or of none.  It is never vb0
 * or vb1, because packets would loop.
 */
int op_link_master(struct place *p)
{
	static const char * const ports[] = {
		"va0", "va1", "va0.5", "d0", "d1", "t0", "t1", "ip0",
	};
	int index = index_of(p, one_of(ports));
	int master = below(4) ? index_of(p, below(3) ? "br0" : "bo0") : 0;

	/* a bond accepts only devices that are down */
	if (!below(3))
		set_up(p, index, false);
	return set_u32(p, index, IFLA_MASTER, master);
}

int op_link_address(struct place *p)
{
	struct nl_msg *msg = link_request(RTM_NEWLINK, 0, any_index(p), 0, 0);
	uint8_t address[ETH_ALEN] = { 2, 0, 0, 0, 0, below(256) };

	nla_put(msg, IFLA_ADDRESS, sizeof(address), address);
	return ask(p->rtnl, msg, NULL, NULL);
}

/*
 * Taps.  A tap exists while its file is open.
 */

struct tap taps[2] = { { .fd = -1 }, { .fd = -1 } };

int op_tap(struct place *p)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	struct tap *tap = &one_of(taps);
	int err = 0;

	if (tap->fd >= 0) {
		close_fd(&tap->fd);
		return 0;
	}
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "t%u", below(4));
	if (!alone && setns(p->netns, CLONE_NEWNET))
		return -errno;
	tap->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tap->fd < 0 || ioctl(tap->fd, TUNSETIFF, &ifr)) {
		err = -errno;
		close_fd(&tap->fd);
	}
	go_home();
	strcpy(tap->name, ifr.ifr_name);
	if (!err)
		set_up(p, index_of(p, tap->name), true);
	return err;
}

int op_tap_type(struct place *p)
{
	static const int types[] = {
		ARPHRD_ETHER, ARPHRD_ETHER, ARPHRD_NONE, ARPHRD_PPP,
	};
	struct tap *tap = &one_of(taps);
	int err;

	if (tap->fd < 0)
		return -ENODEV;
	/* a tap in another namespace than @p's stays up, and so keeps its type
	 */
	set_up(p, index_of(p, tap->name), false);
	err = ioctl(tap->fd, TUNSETLINK, one_of(types)) ? -errno : 0;
	set_up(p, index_of(p, tap->name), true);
	return err;
}

int op_tap_speed(struct place *p)
{
	static const uint32_t speeds[] = {
		0, 10, 1000, 100000, 800000, 0x7fffffff, 0xfffffffe, 0xffffffff,
	};
	struct ethtool_cmd cmd = {
		.cmd = ETHTOOL_SSET, .duplex = DUPLEX_FULL,
	};
	struct ifreq ifr = { .ifr_data = (void *)&cmd };

	ethtool_cmd_speed_set(&cmd, one_of(speeds));
	strcpy(ifr.ifr_name, one_of(taps).name);
	if (!*ifr.ifr_name || !index_of(p, ifr.ifr_name))
		return -ENODEV;
	return ioctl(p->packet, SIOCETHTOOL, &ifr) ? -errno : 0;
}
