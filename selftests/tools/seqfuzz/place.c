// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink, and a worker's open namespaces.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "seqfuzz.h"

struct nl_msg *request(int type, int flags, void *head, size_t len)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);

	if (!msg || nlmsg_append(msg, head, len, NLMSG_ALIGNTO))
		die("message");
	return msg;
}

/* Send a request and pass each part of the answer to @take.
 * Return: 0, or a negative error of the kernel or of the socket.
 */
int ask(struct nl_sock *sk, struct nl_msg *msg,
	void (*take)(struct nlmsghdr *nlh, void *arg), void *arg)
{
	static uint8_t answer[1 << 16];
	int fd = nl_socket_get_fd(sk), err, len;
	struct nlmsghdr *nlh;
	uint32_t seq;

	beat();
	err = nl_send_auto(sk, msg);
	seq = nlmsg_hdr(msg)->nlmsg_seq;
	nlmsg_free(msg);
	if (err < 0)
		return -EIO;
	for (;;) {
		len = recv(fd, answer, sizeof(answer), 0);
		if (len < 0)
			return -errno;
		nlh = (struct nlmsghdr *)answer;
		for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
			if (nlh->nlmsg_seq != seq)
				continue;
			if (nlh->nlmsg_type == NLMSG_ERROR ||
			    nlh->nlmsg_type == NLMSG_DONE)
				return *(int *)nlmsg_data(nlh);
			if (take)
				take(nlh, arg);
		}
	}
}

struct nl_sock *open_netlink(int protocol)
{
	struct nl_sock *sk = nl_socket_alloc();

	if (sk && !nl_connect(sk, protocol))
		return sk;
	nl_socket_free(sk);
	return NULL;
}

struct nl_sock *open_netlink_in(const struct place *p, int protocol)
{
	struct nl_sock *sk;

	if (!alone && setns(p->netns, CLONE_NEWNET))
		return NULL;
	sk = open_netlink(protocol);
	go_home();
	return sk;
}

void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void close_place(struct place *p)
{
	nl_socket_free(p->rtnl);
	nl_socket_free(p->genl);
	p->rtnl = NULL;
	p->genl = NULL;
	close_fd(&p->packet);
	close_fd(&p->sysfs);
	close_fd(&p->netns);
	p->word = 0;
}

/* Return: an unattached mount of the current namespace's sysfs */
static int mount_sysfs(void)
{
	int fs = fsopen("sysfs", FSOPEN_CLOEXEC), fd = -1;

	if (fs < 0)
		return -1;
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	close(fs);
	return fd;
}

void go_home(void)
{
	if (!alone && setns(home, CLONE_NEWNET))
		die("setns");
}

/* Open the sockets of a place in the namespace @p->netns.  Return: success */
bool open_place(struct place *p)
{
	int room = 1 << 15;

	if (!alone && setns(p->netns, CLONE_NEWNET))
		return false;
	p->rtnl = open_netlink(NETLINK_ROUTE);
	p->genl = open_netlink(NETLINK_GENERIC);
	p->packet = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	p->sysfs = mount_sysfs();
	go_home();
	/* bound the backlog so that it drains within seconds after the end */
	setsockopt(p->packet, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	return p->rtnl && p->genl && p->packet >= 0 && p->sysfs >= 0;
}

uint64_t slot_word(uint64_t generation, int fd)
{
	return generation << 48 | (uint64_t)getpid() << 24 | fd;
}

static int open_slot(uint64_t word)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d",
		 (int)(word >> 24 & 0xffffff), (int)(word & 0xffffff));
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Return: the place of a slot, opened in the slot's current namespace, or NULL.
 * Close sockets in an older namespace, so that the namespace can be destroyed.
 */
struct place *visit(unsigned int slot)
{
	struct place *p = &places[slot];
	uint64_t word;
	int tries;

	for (tries = 0; tries < 3; tries++) {
		word = shared->slot[slot];
		if (published[slot] >= 0 &&
		    (word & 0xffffffffffff) != slot_word(0, published[slot]))
			close_fd(&published[slot]);
		if (p->word == word)
			return p;
		close_place(p);
		p->slot = slot;
		p->netns = open_slot(word);
		if (p->netns >= 0 && open_place(p)) {
			p->word = word;
			return p;
		}
		close_place(p);
	}
	return NULL;
}
