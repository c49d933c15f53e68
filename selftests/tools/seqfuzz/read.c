// SPDX-License-Identifier: GPL-2.0
/*
 * Readers: dumps, events, files.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/iqcn_netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "seqfuzz.h"

int op_dump(struct place *p)
{
	static const int types[] = {
		RTM_GETQDISC, RTM_GETQDISC, RTM_GETTCLASS, RTM_GETTFILTER,
	};
	int type = one_of(types);
	struct tcmsg tc = { .tcm_parent = TREE };

	if (type != RTM_GETQDISC)
		tc.tcm_ifindex = any_index(p);
	return ask(p->rtnl, request(type, NLM_F_DUMP, &tc, sizeof(tc)), NULL,
		   NULL);
}

int op_dump_links(struct place *p)
{
	struct ifinfomsg ifi = {};

	return ask(p->rtnl, request(RTM_GETLINK, NLM_F_DUMP, &ifi, sizeof(ifi)),
		   NULL, NULL);
}

static struct nl_msg *genl_request(int flags, int cmd)
{
	struct genlmsghdr genl = {
		.cmd = cmd, .version = IQCN_FAMILY_VERSION,
	};

	return request(family, flags, &genl, sizeof(genl));
}

/* Send a request; in one case of eight, close the socket during the answer */
int op_genl(struct place *p)
{
	int cmd = IQCN_CMD_PORT_GET + below(3);
	bool dump = cmd != IQCN_CMD_PORT_GET || below(2);
	struct nl_msg *msg = genl_request(dump ? NLM_F_DUMP : 0, cmd);
	uint8_t some[64];
	int err;

	/* attribute 1 is always the ifindex, and 2 the filter of queues and
	 * flows
	 */
	if (!dump || below(2))
		nla_put_u32(msg, IQCN_A_PORT_IFINDEX, any_index(p));
	if (cmd != IQCN_CMD_PORT_GET && below(2))
		nla_put_u32(msg, IQCN_A_FLOW_FILTER, below(4));
	if (below(8))
		return ask(p->genl, msg, NULL, NULL);
	beat();
	err = nl_send_auto(p->genl, msg) < 0 ||
	      recv(nl_socket_get_fd(p->genl), some, sizeof(some), 0) < 0;
	nlmsg_free(msg);
	close_place(p);
	return err ? -EIO : 0;
}

int op_flush(struct place *p)
{
	struct nl_msg *msg = genl_request(0, IQCN_CMD_FLOW_FLUSH);

	if (below(2))
		nla_put_u32(msg, IQCN_A_FLOW_IFINDEX, any_index(p));
	return ask(p->genl, msg, NULL, NULL);
}

/* Lease a filter, a supplement rate, both, or neither.  Some leases end while
 * other workers change or delete the queue.
 */
int op_lease(struct place *p)
{
	struct nl_msg *msg = genl_request(0, IQCN_CMD_LEASE);

	nla_put_u32(msg, IQCN_A_LEASE_IFINDEX, any_index(p));
	nla_put_u32(msg, IQCN_A_LEASE_PARENT, any_parent());
	nla_put_u32(msg, IQCN_A_LEASE_MS, below(8) ? 1 + any_size(8) :
		    any_size(32));
	if (below(2)) {
		nla_put_u32(msg, IQCN_A_LEASE_FILTER_N, any_size(10));
		nla_put_u32(msg, IQCN_A_LEASE_FILTER_NS, any_size(24));
	}
	if (below(2))
		nla_put_u32(msg, IQCN_A_LEASE_SUPPLEMENT_PPS, any_size(20));
	return ask(p->genl, msg, NULL, NULL);
}

static struct nl_sock *listeners[4];

/* Return: a socket that has joined a random group, or NULL */
struct nl_sock *listen_in(const struct place *p)
{
	bool rtnl = !below(4);
	struct nl_sock *sk;

	sk = open_netlink_in(p, rtnl ? NETLINK_ROUTE : NETLINK_GENERIC);
	if (!sk)
		return NULL;
	if (!nl_socket_add_membership(sk, rtnl ? RTNLGRP_TC : one_of(groups)))
		return sk;
	nl_socket_free(sk);
	return NULL;
}

/* Join a group, read pending messages, or leave */
int op_listen(struct place *p)
{
	struct nl_sock **listener = &one_of(listeners);
	static uint8_t buf[1 << 15];
	int n;

	if (!*listener) {
		*listener = listen_in(p);
		return *listener ? 0 : -EPERM;
	}
	for (n = 0; n < 64; n++)
		if (recv(nl_socket_get_fd(*listener), buf, sizeof(buf),
			 MSG_DONTWAIT) < 0)
			break;
	if (below(2)) {
		nl_socket_free(*listener);
		*listener = NULL;
	}
	return 0;
}

/* Files kept open while the objects that they show are deleted */
static int held[4] = { -1, -1, -1, -1 };

static ssize_t read_all(int fd)
{
	ssize_t n, sum = 0;
	char buf[4096];

	while (sum < 1 << 16) {
		n = read(fd, buf, sizeof(buf));
		if (n <= 0)
			break;
		sum += n;
	}
	return sum;
}

/* Read and close a file; one time in eight, swap it with a held one first */
static void read_file(int fd)
{
	int *hold = &one_of(held);

	if (!below(8)) {
		int other = *hold;

		*hold = fd;
		fd = other;
	}
	if (fd < 0)
		return;
	read_all(fd);
	close(fd);
}

/* Read all files of directory @fd and of its subdirectories, and close @fd.
 * Return: 0, or an error if there was no file
 */
static int read_files(int fd)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int file, err = -ENOENT;
	struct dirent *d;

	if (!dir)
		return -errno;
	while ((d = readdir(dir))) {
		if (*d->d_name == '.')
			continue;
		beat();
		file = openat(dirfd(dir), d->d_name, O_RDONLY | O_CLOEXEC);
		if (file < 0)
			continue;
		if (d->d_type == DT_DIR) {
			if (!read_files(file))
				err = 0;
			continue;
		}
		read_file(file);
		err = 0;
	}
	closedir(dir);
	return err;
}

int op_sysfs(struct place *p)
{
	char path[64];

	snprintf(path, sizeof(path), "class/net/%s/iqcn", any_device()->name);
	return read_files(openat(p->sysfs, path,
				 O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/* Fails for uid 65534, which may not read debugfs */
int op_debugfs(struct place *p)
{
	return read_files(open("/sys/kernel/debug/iqcn",
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}
