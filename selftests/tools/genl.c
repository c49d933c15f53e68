// SPDX-License-Identifier: GPL-2.0
/*
 * genl: send requests to the netlink family "iqcn" and print its messages.
 *
 * A message is one line: its command, "intr" if NLM_F_DUMP_INTR is set, and its
 * attributes as NUMBER=VALUE.  An attribute of 2, 4 or 8 bytes is printed as a
 * number, an empty one as 1, text as text, and anything else in hexadecimal;
 * padding is omitted.  An error is a line "error ERRNO offset OFFSET TEXT",
 * with "-" for a missing part.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <linux/iqcn.h>
#include <linux/iqcn_netlink.h>
#include <linux/pkt_sched.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "netns.h"

/* Identity of a flow */
struct flow {
	uint32_t ifindex;
	uint32_t dest_qp;
	uint16_t vid[2];
	uint8_t src[16];
	uint8_t dst[16];
};

static struct nl_sock *sk;
static int family;
static bool summary;		/* print a summary instead of messages */
static unsigned long pause_us;	/* pause before each read */
static unsigned long messages, intr;
static struct flow *flows;
static size_t n_flows, room;
static uint8_t buf[1 << 20];

static void die(const char *what, const char *why)
{
	fprintf(stderr, "genl: %s: %s\n", what, why);
	exit(2);
}

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ll + ts.tv_nsec / 1000;
}

static void enter_ns(const char *name)
{
	if (netns_enter(name, strlen(name)))
		die(name, strerror(errno));
}

static void open_socket(void)
{
	int one = 1, size = 64 << 20, fd, err;

	sk = nl_socket_alloc();
	if (!sk)
		die("socket", strerror(ENOMEM));
	err = genl_connect(sk);
	if (err)
		die("socket", nl_geterror(err));
	fd = nl_socket_get_fd(sk);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	family = genl_ctrl_resolve(sk, IQCN_FAMILY_NAME);
	if (family < 0)
		die(IQCN_FAMILY_NAME, nl_geterror(family));
}

static bool is_text(const struct nlattr *a)
{
	const char *s = nla_data(a);
	int i, len = nla_len(a) - 1;

	if (len < 1 || s[len])
		return false;
	for (i = 0; i < len; i++)
		if (!isgraph((unsigned char)s[i]))
			return false;
	return true;
}

static void print_value(const struct nlattr *a)
{
	int i;

	if (!nla_len(a))
		putchar('1');
	else if (nla_len(a) == sizeof(uint64_t))
		printf("%llu", (unsigned long long)nla_get_u64(a));
	else if (nla_len(a) == sizeof(uint32_t))
		printf("%u", nla_get_u32(a));
	else if (nla_len(a) == sizeof(uint16_t))
		printf("%u", nla_get_u16(a));
	else if (is_text(a))
		printf("%s", (const char *)nla_data(a));
	else
		for (i = 0; i < nla_len(a); i++)
			printf("%02x", ((const uint8_t *)nla_data(a))[i]);
}

/* Is @attr the padding before a 64-bit attribute?  Only architectures that must
 * align such attributes send it.
 */
static bool is_padding(int cmd, int attr)
{
	static const int padding[IQCN_CMD_MAX + 1] = {
		[IQCN_CMD_PORT_GET] = IQCN_A_PORT_PAD,
		[IQCN_CMD_QUEUE_GET] = IQCN_A_QUEUE_PAD,
		[IQCN_CMD_FLOW_GET] = IQCN_A_FLOW_PAD,
		[IQCN_CMD_FLOW_FLUSH] = IQCN_A_FLOW_PAD,
		[IQCN_CMD_QUEUE_STATE_NTF] = IQCN_A_EVENT_PAD,
		[IQCN_CMD_FLOW_STATE_NTF] = IQCN_A_EVENT_PAD,
		[IQCN_CMD_CNP_NTF] = IQCN_A_EVENT_PAD,
		[IQCN_CMD_PFC_NTF] = IQCN_A_EVENT_PAD,
		[IQCN_CMD_LEASE_NTF] = IQCN_A_EVENT_PAD,
	};

	return cmd <= IQCN_CMD_MAX && attr == padding[cmd];
}

static void print_message(struct nlmsghdr *nlh)
{
	struct genlmsghdr *genl = nlmsg_data(nlh);
	struct nlattr *a;
	int left;

	printf("%u", genl->cmd);
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		printf(" intr");
	nlmsg_for_each_attr(a, nlh, GENL_HDRLEN, left) {
		if (is_padding(genl->cmd, nla_type(a)))
			continue;
		printf(" %d=", nla_type(a));
		print_value(a);
	}
	putchar('\n');
}

static void copy(void *to, const struct nlattr *a, size_t size)
{
	if (a && (size_t)nla_len(a) <= size)
		memcpy(to, nla_data(a), nla_len(a));
}

/* Allocate and touch memory for @n flows; with --room, this happens before the
 * time is measured
 */
static void make_room(size_t n)
{
	room = n;
	flows = realloc(flows, room * sizeof(*flows));
	if (!flows)
		die("flows", strerror(ENOMEM));
	memset(&flows[n_flows], 1, (room - n_flows) * sizeof(*flows));
}

static void remember_flow(struct nlmsghdr *nlh)
{
	struct nlattr *tb[IQCN_A_FLOW_MAX + 1];
	struct flow *f;

	if (nlmsg_parse(nlh, GENL_HDRLEN, tb, IQCN_A_FLOW_MAX, NULL))
		die("message", "does not parse");
	if (n_flows == room)
		make_room(room ? room * 2 : 1024);
	f = &flows[n_flows++];
	memset(f, 0, sizeof(*f));
	copy(&f->ifindex, tb[IQCN_A_FLOW_IFINDEX], sizeof(f->ifindex));
	copy(&f->dest_qp, tb[IQCN_A_FLOW_DEST_QP], sizeof(f->dest_qp));
	copy(&f->vid[0], tb[IQCN_A_FLOW_VID], sizeof(f->vid[0]));
	copy(&f->vid[1], tb[IQCN_A_FLOW_INNER_VID], sizeof(f->vid[1]));
	copy(f->src, tb[IQCN_A_FLOW_SRC], sizeof(f->src));
	copy(f->dst, tb[IQCN_A_FLOW_DST], sizeof(f->dst));
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct flow));
}

static unsigned long duplicates(void)
{
	unsigned long n = 0;
	size_t i;

	if (n_flows)
		qsort(flows, n_flows, sizeof(*flows), compare);
	for (i = 1; i < n_flows; i++)
		n += !compare(&flows[i - 1], &flows[i]);
	return n;
}

static void message(struct nlmsghdr *nlh)
{
	struct genlmsghdr *genl = nlmsg_data(nlh);

	messages++;
	intr += !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
	if (!summary)
		print_message(nlh);
	else if (genl->cmd == IQCN_CMD_FLOW_GET)
		remember_flow(nlh);
}

/* Print the error in an answer or at the end of a dump */
static void print_error(struct nlmsghdr *nlh, int code)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = {};
	int skip = sizeof(int);

	if (nlh->nlmsg_type == NLMSG_ERROR) {
		skip = sizeof(struct nlmsgerr);
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
			skip += nlmsg_datalen(&((struct nlmsgerr *)
						nlmsg_data(nlh))->msg);
	}
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		nlmsg_parse(nlh, skip, tb, NLMSGERR_ATTR_MAX, NULL);
	printf("error %d offset ", -code);
	if (tb[NLMSGERR_ATTR_OFFS])
		print_value(tb[NLMSGERR_ATTR_OFFS]);
	else
		putchar('-');
	printf(" %s\n", tb[NLMSGERR_ATTR_MSG] ?
	       nla_get_string(tb[NLMSGERR_ATTR_MSG]) : "-");
}

/* Read once.  Return: 0 if more is to come, 1 at the end, -1 on error */
static int receive(void)
{
	int len = recv(nl_socket_get_fd(sk), buf, sizeof(buf), 0);
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
	int code;

	if (len < 0)
		die("receive", strerror(errno));
	for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
		if (nlh->nlmsg_type == family) {
			message(nlh);
			continue;
		}
		if (nlh->nlmsg_type != NLMSG_ERROR &&
		    nlh->nlmsg_type != NLMSG_DONE)
			continue;
		intr += !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
		code = *(int *)nlmsg_data(nlh);
		if (code)
			print_error(nlh, code);
		return code ? -1 : 1;
	}
	return 0;
}

/* Send a request, and receive the answer until its end.  Return: 1 at the end,
 * -1 on error
 */
static int talk(int cmd, int flags, const void *attrs, size_t len)
{
	struct {
		struct nlmsghdr nlh;
		struct genlmsghdr genl;
		uint8_t attrs[4096];
	} m = {
		.nlh.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + len,
		.nlh.nlmsg_type = family,
		.nlh.nlmsg_flags = NLM_F_REQUEST | flags,
		.genl.cmd = cmd,
		.genl.version = IQCN_FAMILY_VERSION,
	};
	int end;

	if (len > sizeof(m.attrs))
		die("request", "too long");
	memcpy(m.attrs, attrs, len);
	if (send(nl_socket_get_fd(sk), &m, m.nlh.nlmsg_len, 0) < 0)
		die("send", strerror(errno));
	do {
		if (pause_us)
			usleep(pause_us);
		end = receive();
	} while (!end);
	return end;
}

/* The longest attribute of a request: 8 numbers of 64 bits */
#define ATTR_BYTES (NLA_HDRLEN + 8 * sizeof(uint64_t))

/* Encode ATTR=NUMBER as a u32, or ATTR=NUMBER,NUMBER... as an array of u64.  A
 * trailing comma makes a single number an array.  Return: the attribute's
 * length
 */
static size_t put_attr(uint8_t *to, const char *arg)
{
	struct nlattr a = { .nla_len = NLA_HDRLEN };
	uint64_t number;
	bool is_array;
	uint32_t only;
	char *at;

	a.nla_type = strtoul(arg, &at, 0);
	if (*at != '=')
		die(arg, "not ATTR=NUMBER");
	is_array = strchr(at, ',');
	do {
		number = strtoull(at + 1, &at, 0);
		memcpy(to + a.nla_len, &number, sizeof(number));
		a.nla_len += sizeof(number);
	} while (*at == ',' && at[1] && a.nla_len < ATTR_BYTES);
	if (*at && strcmp(at, ","))
		die(arg, "not ATTR=NUMBER[,NUMBER]...");
	if (!is_array) {
		only = number;
		memcpy(to + NLA_HDRLEN, &only, sizeof(only));
		a.nla_len = NLA_HDRLEN + sizeof(only);
	}
	memcpy(to, &a, NLA_HDRLEN);
	return a.nla_len;
}

/* Send a request with the attributes in @argv, see put_attr().  Return: exit
 * status
 */
static int request(int cmd, bool dump, int argc, char **argv)
{
	int64_t start_us = now_us(), took_us;
	uint8_t attrs[4096];
	size_t len = 0;
	int end;

	for (; argc > 0 && len + ATTR_BYTES <= sizeof(attrs); argc--, argv++)
		len += put_attr(attrs + len, *argv);
	end = talk(cmd, dump ? NLM_F_DUMP : NLM_F_ACK, attrs, len);
	took_us = now_us() - start_us;
	if (summary)
		printf("messages %lu duplicates %lu intr %lu us %lld\n",
		       messages, duplicates(), intr, (long long)took_us);
	return end < 0;
}

/* Parse a parent: "root", MAJOR:MINOR in hexadecimal as in tc, or a number */
static uint32_t parent_of(const char *text)
{
	unsigned int major, minor = 0;

	if (!strcmp(text, "root"))
		return TC_H_ROOT;
	if (strchr(text, ':') && sscanf(text, "%x:%x", &major, &minor) >= 1)
		return TC_H_MAKE(major << 16, minor);
	return strtoul(text, NULL, 0);
}

/* Ask for a lease, and print the error, if any.
 * Arguments: IFINDEX PARENT MS [filter N NS] [supplement PPS].
 * "-" omits an attribute.
 */
static int lease(int argc, char **argv)
{
	static const int fixed[] = {
		IQCN_A_LEASE_IFINDEX, IQCN_A_LEASE_PARENT, IQCN_A_LEASE_MS,
	};
	static const int filter[] = {
		IQCN_A_LEASE_FILTER_N, IQCN_A_LEASE_FILTER_NS,
	};
	static const int supplement[] = { IQCN_A_LEASE_SUPPLEMENT_PPS };
	uint32_t attrs[2 * IQCN_A_LEASE_MAX];
	const int *types = fixed;
	int left = 3;
	size_t n = 0;

	for (; argc > 0; argc--, argv++) {
		struct nlattr a = { .nla_len = 8 };

		if (!left && !strcmp(*argv, "filter")) {
			types = filter;
			left = 2;
			continue;
		}
		if (!left && !strcmp(*argv, "supplement")) {
			types = supplement;
			left = 1;
			continue;
		}
		if (!left || n == 2 * IQCN_A_LEASE_MAX)
			die(*argv, "not filter N NS, nor supplement PPS");
		a.nla_type = *types++;
		left--;
		if (!strcmp(*argv, "-"))
			continue;
		memcpy(&attrs[n++], &a, sizeof(a));
		attrs[n++] = a.nla_type == IQCN_A_LEASE_PARENT ?
			parent_of(*argv) : strtoul(*argv, NULL, 0);
	}
	if (left)
		die("lease", "a value is missing");
	return talk(IQCN_CMD_LEASE, NLM_F_ACK, attrs, 4 * n) < 0;
}

static size_t unhex(uint8_t *to, size_t size, const char *hex)
{
	size_t n = 0;
	unsigned int byte;

	while (n < size && sscanf(hex, "%2x", &byte) == 1) {
		to[n++] = byte;
		hex += 2;
	}
	return n;
}

/* Read a request per line: command, flags, and attributes in hexadecimal.
 * Print it after "> ", followed by the answer.
 */
static int raw(void)
{
	char line[9000], hex[8193];
	uint8_t attrs[4096];
	unsigned int cmd, flags;

	while (fgets(line, sizeof(line), stdin)) {
		hex[0] = 0;
		if (sscanf(line, "%u %x %8192s", &cmd, &flags, hex) < 2)
			die(line, "not COMMAND FLAGS HEX");
		printf("> %s", line);
		if (talk(cmd, flags, attrs, unhex(attrs, sizeof(attrs), hex)) > 0)
			puts("ok");
	}
	return 0;
}

static int listen_to(const char *group, long time_ms, const char *ready,
		     unsigned long count)
{
	int64_t end_us = now_us() + time_ms * 1000, wait_us;
	struct pollfd pfd = { .fd = nl_socket_get_fd(sk), .events = POLLIN };
	int err;

	err = genl_ctrl_resolve_grp(sk, IQCN_FAMILY_NAME, group);
	if (err < 0)
		die(group, nl_geterror(err));
	err = nl_socket_add_membership(sk, err);
	if (err)
		die(group, nl_geterror(err));
	if (ready && close(creat(ready, 0600)))
		die(ready, strerror(errno));
	while (messages < count && (wait_us = end_us - now_us()) > 0)
		if (poll(&pfd, 1, (wait_us + 999) / 1000) > 0)
			receive();
	if (summary)
		printf("messages %lu\n", messages);
	return 0;
}

static int usage(void)
{
	fprintf(stderr,
		"Usage: genl [--netns NAME] [--summary] ask COMMAND [ATTR=NUMBER[,NUMBER]...]...\n"
		"       genl [--netns NAME] [--summary] [--room FLOWS] [--pause US] dump COMMAND [ATTR=NUMBER[,NUMBER]...]...\n"
		"       genl [--netns NAME] lease IFINDEX PARENT MS [filter N NS] [supplement PPS]\n"
		"       genl [--netns NAME] raw <REQUESTS\n"
		"       genl [--netns NAME] [--summary] [--time MS] [--count N] [--ready FILE] listen GROUP\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "netns", 1, 0, 'n' }, { "summary", 0, 0, 's' },
		{ "time", 1, 0, 't' }, { "count", 1, 0, 'c' },
		{ "ready", 1, 0, 'r' }, { "pause", 1, 0, 'p' },
		{ "room", 1, 0, 'R' }, {}
	};
	unsigned long count = -1ul;
	const char *ready = NULL;
	long time_ms = 1000;
	int c, n;

	while ((c = getopt_long(argc, argv, "", opts, NULL)) != -1) {
		if (c == 'n')
			enter_ns(optarg);
		else if (c == 's')
			summary = true;
		else if (c == 't')
			time_ms = strtol(optarg, NULL, 0);
		else if (c == 'c')
			count = strtoul(optarg, NULL, 0);
		else if (c == 'R')
			make_room(strtoul(optarg, NULL, 0));
		else if (c == 'p')
			pause_us = strtoul(optarg, NULL, 0);
		else if (c == 'r')
			ready = optarg;
		else
			return usage();
	}
	argv += optind;
	n = argc - optind;
	if (n < 1)
		return usage();
	open_socket();
	if (n == 1 && !strcmp(argv[0], "raw"))
		return raw();
	if (n == 2 && !strcmp(argv[0], "listen"))
		return listen_to(argv[1], time_ms, ready, count);
	if (n >= 4 && !strcmp(argv[0], "lease"))
		return lease(n - 1, argv + 1);
	if (n >= 2 && !strcmp(argv[0], "ask"))
		return request(strtoul(argv[1], NULL, 0), false, n - 2, argv + 2);
	if (n >= 2 && !strcmp(argv[0], "dump"))
		return request(strtoul(argv[1], NULL, 0), true, n - 2, argv + 2);
	return usage();
}
