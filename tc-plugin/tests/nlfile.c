// SPDX-License-Identifier: GPL-2.0
/*
 * nlfile.so: a library that is preloaded into tc, and replaces the kernel's
 * qdiscs with the file $NLFILE.
 *
 * A request to add a qdisc is appended to the file.  The kernel receives and
 * acknowledges a no-op instead, so the machine does not change.  "tc qdisc
 * show" shows the messages in the file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* The socket and the request of a "tc qdisc show" that has no answer yet */
static int show_fd = -1;
static struct nlmsghdr show;

static char *answer;
static size_t answer_len;

static void die(void)
{
	perror("nlfile.so: $NLFILE");
	exit(1);
}

static FILE *open_file(const char *mode)
{
	FILE *f = fopen(getenv("NLFILE") ?: "", mode);

	if (!f)
		die();
	return f;
}

static void append(const struct nlmsghdr *n)
{
	FILE *f = open_file("a");

	if (fwrite(n, NLMSG_ALIGN(n->nlmsg_len), 1, f) != 1 || fclose(f))
		die();
}

/* tc expects its own port ID and the sequence number of its request in each
 * message
 */
static void read_answer(void)
{
	struct sockaddr_nl self;
	socklen_t len = sizeof(self);
	FILE *f = open_file("r");
	struct nlmsghdr *n;
	size_t at;

	fseek(f, 0, SEEK_END);
	answer_len = ftell(f);
	rewind(f);
	answer = calloc(1, answer_len + NLMSG_LENGTH(sizeof(int)));
	if (!answer || getsockname(show_fd, (struct sockaddr *)&self, &len) ||
	    fread(answer, 1, answer_len, f) != answer_len)
		die();
	fclose(f);
	n = (struct nlmsghdr *)(answer + answer_len);
	n->nlmsg_type = NLMSG_DONE;
	n->nlmsg_len = NLMSG_LENGTH(sizeof(int));
	answer_len += n->nlmsg_len;
	for (at = 0; at < answer_len; at += NLMSG_ALIGN(n->nlmsg_len)) {
		n = (struct nlmsghdr *)(answer + at);
		n->nlmsg_flags = NLM_F_MULTI;
		n->nlmsg_seq = show.nlmsg_seq;
		n->nlmsg_pid = self.nl_pid;
	}
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*real)(int fd, const struct msghdr *msg, int flags) =
		dlsym(RTLD_NEXT, "sendmsg");
	struct nlmsghdr *n = msg->msg_iov[0].iov_base;

	if (n->nlmsg_type == RTM_GETQDISC) {
		show_fd = fd;
		show = *n;
		read_answer();
		return n->nlmsg_len;
	}
	if (n->nlmsg_type == RTM_NEWQDISC) {
		append(n);
		n->nlmsg_type = NLMSG_NOOP;
	}
	return real(fd, msg, flags);
}

/* tc peeks at the length first, without a buffer */
ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t (*real)(int fd, struct msghdr *msg, int flags) =
		dlsym(RTLD_NEXT, "recvmsg");

	if (fd != show_fd)
		return real(fd, msg, flags);
	msg->msg_flags = 0;
	memset(msg->msg_name, 0, msg->msg_namelen);
	if (flags & MSG_PEEK)
		return answer_len;
	memcpy(msg->msg_iov[0].iov_base, answer, answer_len);
	free(answer);
	show_fd = -1;
	return answer_len;
}
