// SPDX-License-Identifier: GPL-2.0
/*
 * psample: print one line per packet sampled by the kernel's psample module.
 *
 *   group G rate R oif IFINDEX depth BYTES time NS len ORIGSIZE data HEX
 *
 * depth is the backlog of the queue, time the time of the sample, len the
 * length of the packet, and data the part of it that was copied.  "-" stands
 * for a missing attribute.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <linux/psample.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "netns.h"

static unsigned long left = -1ul;	/* packets to go */
static uint32_t group;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "psample: %s: %s\n", what, why);
	exit(2);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

static void enter_ns(const char *name)
{
	if (netns_enter(name, strlen(name)))
		die(name, strerror(errno));
}

/* The width of an attribute depends on the attribute: 16, 32 or 64 bits */
static void print_number(const char *name, const struct nlattr *attr)
{
	if (!attr)
		printf("%s - ", name);
	else if (nla_len(attr) >= (int)sizeof(uint64_t))
		printf("%s %llu ", name, (unsigned long long)nla_get_u64(attr));
	else if (nla_len(attr) >= (int)sizeof(uint32_t))
		printf("%s %u ", name, nla_get_u32(attr));
	else
		printf("%s %u ", name, nla_get_u16(attr));
}

static int print_packet(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[PSAMPLE_ATTR_MAX + 1], *data;
	int i;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, PSAMPLE_ATTR_MAX, NULL) ||
	    !tb[PSAMPLE_ATTR_SAMPLE_GROUP] ||
	    nla_get_u32(tb[PSAMPLE_ATTR_SAMPLE_GROUP]) != group)
		return NL_SKIP;
	print_number("group", tb[PSAMPLE_ATTR_SAMPLE_GROUP]);
	print_number("rate", tb[PSAMPLE_ATTR_SAMPLE_RATE]);
	print_number("oif", tb[PSAMPLE_ATTR_OIFINDEX]);
	print_number("depth", tb[PSAMPLE_ATTR_OUT_TC_OCC]);
	print_number("time", tb[PSAMPLE_ATTR_TIMESTAMP]);
	print_number("len", tb[PSAMPLE_ATTR_ORIGSIZE]);
	printf("data ");
	data = tb[PSAMPLE_ATTR_DATA];
	for (i = 0; data && i < nla_len(data); i++)
		printf("%02x", ((const uint8_t *)nla_data(data))[i]);
	puts(data ? "" : "-");
	left--;
	return NL_OK;
}

static struct nl_sock *subscribe(void)
{
	struct nl_sock *sk = nl_socket_alloc();
	int err, size = 64 << 20;

	if (!sk)
		die("socket", strerror(ENOMEM));
	err = genl_connect(sk);
	if (err)
		die("socket", nl_geterror(err));
	setsockopt(nl_socket_get_fd(sk), SOL_SOCKET, SO_RCVBUFFORCE, &size,
		   sizeof(size));
	err = genl_ctrl_resolve_grp(sk, PSAMPLE_GENL_NAME,
				    PSAMPLE_NL_MCGRP_SAMPLE_NAME);
	if (err < 0)
		die("is the module psample loaded?", nl_geterror(err));
	/* multicast messages have no sequence numbers */
	nl_socket_disable_seq_check(sk);
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, print_packet, NULL);
	err = nl_socket_add_membership(sk, err);
	if (err)
		die("multicast group", nl_geterror(err));
	return sk;
}

static void listen_for(long time_ms, const char *ready)
{
	int64_t end_ms = now_ms() + time_ms, wait_ms;
	struct nl_sock *sk = subscribe();
	struct pollfd pfd = { .fd = nl_socket_get_fd(sk), .events = POLLIN };
	int err;

	if (ready && close(creat(ready, 0600)))
		die(ready, strerror(errno));
	while (left && (wait_ms = end_ms - now_ms()) > 0) {
		if (poll(&pfd, 1, wait_ms) <= 0)
			continue;
		/* ENOBUFS, for lost samples, is an error, too */
		err = nl_recvmsgs_default(sk);
		if (err)
			die("receive", nl_geterror(err));
	}
	nl_socket_free(sk);
}

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "count", 1, 0, 'c' }, { "time", 1, 0, 't' },
		{ "ready", 1, 0, 'r' }, {}
	};
	const char *ready = NULL;
	long time_ms = 1000;
	int c;

	while ((c = getopt_long(argc, argv, "", opts, NULL)) != -1) {
		if (c == 'c')
			left = strtoul(optarg, NULL, 0);
		else if (c == 't')
			time_ms = strtol(optarg, NULL, 0);
		else if (c == 'r')
			ready = optarg;
		else
			argc = 0;
	}
	if (argc - optind != 2) {
		fprintf(stderr,
			"Usage: psample NETNS GROUP [--count N] [--time MS] [--ready FILE]\n"
			"FILE is created when psample is ready\n");
		return 2;
	}
	/* keep all complete lines if psample is killed */
	setlinebuf(stdout);
	enter_ns(argv[optind]);
	group = strtoul(argv[optind + 1], NULL, 0);
	listen_for(time_ms, ready);
	return 0;
}
