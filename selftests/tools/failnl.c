// SPDX-License-Identifier: GPL-2.0
/*
 * failnl: LD_PRELOAD that repeats a program's netlink requests and fails
 * another allocation each time, until a request makes no further allocation.
 *
 * It handles rtnetlink requests about qdiscs and requests to any generic
 * netlink family.  They come in pairs.  The first request of a pair is passed
 * on and restores the initial state.  The second is repeated, on a socket of
 * failnl's own, and finally passed on.  With $FAILNTH_UNDO, a command that
 * restores the initial state, there are no pairs and every request is
 * repeated.  Each joining of a multicast group of generic netlink is repeated,
 * too.
 *
 * failnl compares the state before and after each request: qdiscs with handle,
 * parent and parameters, the entries of debugfs, and the number of lines of the
 * file $FAILNTH_LINES.  A refused request must leave the initial state, and an
 * accepted one the state that it leaves if no allocation fails.  If the answer
 * was lost, either state is right.  Violations, and one line per request, are
 * written to $FAILNTH_LOG:
 *
 *   request TYPE allocations N refused N done N unknown N
 *   bad TYPE allocation N WHAT
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "failnth.h"

#define DEBUGFS		"/sys/kernel/debug/iqcn"

/* FNV-1a: condenses the state into one number */
#define HASH_SEED	0xcbf29ce484222325ull
#define HASH_PRIME	0x100000001b3ull

struct request {
	uint8_t data[16384];
	size_t len;
	int protocol;
};

static struct request undo;
static FILE *logfile;
static uint8_t answer[1 << 18];

static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--)
		h = (h ^ *p++) * HASH_PRIME;
	return h;
}

static int open_netlink(int protocol)
{
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	struct timeval tv = { .tv_sec = 10 };

	if (fd < 0 || bind(fd, (void *)&nl, sizeof(nl)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)))
		failnth_die("netlink");
	return fd;
}

static uint64_t hash_qdisc(uint64_t h, const struct nlmsghdr *nlh)
{
	const struct tcmsg *tc = NLMSG_DATA(nlh);
	int left = TCA_PAYLOAD(nlh);
	const struct rtattr *a;

	/* ignore default qdiscs, which the stack omits if out of memory */
	if (!tc->tcm_handle)
		return h;
	h = hash(h, tc, sizeof(*tc));
	for (a = TCA_RTA(tc); RTA_OK(a, left); a = RTA_NEXT(a, left))
		switch (a->rta_type & NLA_TYPE_MASK) {
		case TCA_KIND:
		case TCA_OPTIONS:
			h = hash(h, a, a->rta_len);
		}
	return h;
}

/* Result of a request */
struct result {
	int err;		/* errno of the answer or of the system call */
	bool unknown;		/* the answer was lost */
	unsigned int messages;	/* number of messages of a dump */
	uint64_t qdiscs;
};

/* Send a request and receive the complete answer, because a dump also allocates
 * while it is being read
 */
static void talk(int fd, const struct request *r, struct result *res)
{
	const struct nlmsghdr *req = (const void *)r->data;
	const struct nlmsghdr *nlh;
	ssize_t len;

	*res = (struct result){ .qdiscs = HASH_SEED };
	/* not send(), which this file replaces */
	if (sendto(fd, r->data, r->len, 0, NULL, 0) < 0) {
		res->err = errno;
		return;
	}
	for (;;) {
		len = recv(fd, answer, sizeof(answer), 0);
		if (len < 0) {
			res->err = errno;
			res->unknown = true;
			return;
		}
		for (nlh = (void *)answer; NLMSG_OK(nlh, len);
		     nlh = NLMSG_NEXT(nlh, len)) {
			if (nlh->nlmsg_type == NLMSG_ERROR ||
			    nlh->nlmsg_type == NLMSG_DONE) {
				res->err = -*(int *)NLMSG_DATA(nlh);
				return;
			}
			res->messages++;
			if (nlh->nlmsg_type == RTM_NEWQDISC)
				res->qdiscs = hash_qdisc(res->qdiscs, nlh);
			/* a reply without a separate ACK */
			if (!(req->nlmsg_flags & (NLM_F_DUMP | NLM_F_ACK)))
				return;
		}
	}
}

static uint64_t hash_dir(uint64_t h, const char *path, int depth)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	char sub[512];
	uint64_t sum = 0;

	if (!dir)
		return h;
	while ((d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		/* the order of entries does not matter */
		sum += hash(HASH_SEED, d->d_name, strlen(d->d_name));
		snprintf(sub, sizeof(sub), "%.200s/%.200s", path, d->d_name);
		if (depth > 1)
			sum += hash_dir(HASH_SEED, sub, depth - 1);
	}
	closedir(dir);
	return hash(h, &sum, sizeof(sum));
}

static uint64_t hash_lines(uint64_t h)
{
	const char *path = getenv("FAILNTH_LINES");
	unsigned long lines = 0;
	FILE *f;
	int c;

	f = path ? fopen(path, "re") : NULL;
	if (!f)
		return h;
	while ((c = getc(f)) != EOF)
		lines += c == '\n';
	fclose(f);
	return hash(h, &lines, sizeof(lines));
}

/* Hashes of the state.  debugfs has its own, because a request succeeds without
 * its debugfs entries if there is no memory for them.
 */
struct state {
	uint64_t qdiscs;
	uint64_t debugfs;
};

static bool same(const struct state *a, const struct state *b)
{
	return a->qdiscs == b->qdiscs && a->debugfs == b->debugfs;
}

static void look(struct state *s)
{
	const struct {
		struct nlmsghdr nlh;
		struct tcmsg tc;
	} get = {
		.nlh.nlmsg_len = sizeof(get),
		.nlh.nlmsg_type = RTM_GETQDISC,
		.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	static struct request r;
	struct result res;
	int fd = open_netlink(NETLINK_ROUTE);

	memcpy(r.data, &get, sizeof(get));
	r.len = sizeof(get);
	talk(fd, &r, &res);
	if (res.err)
		failnth_die("qdiscs");
	close(fd);
	s->qdiscs = hash_lines(res.qdiscs);
	s->debugfs = hash_dir(HASH_SEED, DEBUGFS, 2);
}

/* Restore the initial state, on another socket than that of the request */
static void go_back(void)
{
	const char *command = getenv("FAILNTH_UNDO");
	struct result res;
	int fd;

	if (command) {
		unsetenv("LD_PRELOAD");
		if (system(command) < 0)
			failnth_die(command);
		return;
	}
	fd = open_netlink(undo.protocol);
	talk(fd, &undo, &res);
	close(fd);
}

static void report(unsigned int type, unsigned int n, const char *what)
{
	fprintf(logfile, "bad %u allocation %u %s\n", type, n, what);
}

/* Send a request, failing its @n-th allocation (0: none).  Return: allocations
 * left until the failure
 */
static unsigned int try(const struct request *r, unsigned int n,
			struct result *res)
{
	int fd = open_netlink(r->protocol);
	unsigned int left;

	failnth_arm(n);
	talk(fd, r, res);
	left = failnth_disarm();
	close(fd);
	return left;
}

static void sweep(const struct request *r)
{
	const struct nlmsghdr *nlh = (const void *)r->data;
	unsigned int n, refused = 0, done = 0, unknown = 0;
	unsigned int type = nlh->nlmsg_type, left;
	struct state before, after, now;
	struct result clean, res;

	if (r->protocol == NETLINK_GENERIC)
		type = ((struct genlmsghdr *)NLMSG_DATA(nlh))->cmd;
	go_back();
	look(&before);
	try(r, 0, &clean);
	look(&after);
	if (clean.err)
		report(type, 0, strerror(clean.err));
	for (n = 1; n < FAILNTH_MAX; n++) {
		if (!same(&after, &before) || n == 1)
			go_back();
		look(&now);
		if (!same(&now, &before))
			report(type, n, "the initial state cannot be restored");
		left = try(r, n, &res);
		look(&now);
		if (left) {
			if (res.err || !same(&now, &after))
				report(type, n, "failed, or differs, without a failed allocation");
			break;
		}
		if (res.unknown) {
			unknown++;
			if (now.qdiscs != before.qdiscs &&
			    now.qdiscs != after.qdiscs)
				report(type, n, "answer lost, and done in part");
		} else if (res.err) {
			refused++;
			if (!same(&now, &before))
				report(type, n, "refused, but the state changed");
		} else {
			done++;
			if (now.qdiscs != after.qdiscs)
				report(type, n, "accepted, but not done");
			if (res.messages != clean.messages)
				report(type, n, "accepted, but messages are missing");
		}
	}
	fprintf(logfile, "request %u allocations %u refused %u done %u unknown %u\n",
		type, n - 1, refused, done, unknown);
	fflush(logfile);
	go_back();
}

static bool open_log(void)
{
	const char *path = getenv("FAILNTH_LOG");

	if (!logfile && path)
		logfile = fopen(path, "ae");
	return logfile;
}

static int protocol_of(int fd)
{
	socklen_t len = sizeof(int);
	int v = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &v, &len) || v != AF_NETLINK)
		return -1;
	len = sizeof(int);
	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &v, &len))
		return -1;
	return v;
}

static bool matters(const struct nlmsghdr *nlh, int protocol)
{
	if (protocol == NETLINK_ROUTE)
		return nlh->nlmsg_type >= RTM_NEWQDISC &&
		       nlh->nlmsg_type <= RTM_GETQDISC;
	return protocol == NETLINK_GENERIC && nlh->nlmsg_type > GENL_ID_CTRL;
}

static void seen(int fd, const struct request *r)
{
	const struct nlmsghdr *nlh = (const void *)r->data;
	static unsigned int count;

	if (r->len < sizeof(*nlh) || !matters(nlh, r->protocol) || !open_log())
		return;
	if (getenv("FAILNTH_UNDO") || ++count % 2 == 0)
		sweep(r);
	else
		undo = *r;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	static ssize_t (*real)(int, const struct msghdr *, int);
	static struct request r;
	size_t i, len;

	if (!real)
		real = dlsym(RTLD_NEXT, "sendmsg");
	r.len = 0;
	r.protocol = protocol_of(fd);
	for (i = 0; r.protocol >= 0 && i < msg->msg_iovlen; i++) {
		len = msg->msg_iov[i].iov_len;
		if (len > sizeof(r.data) - r.len)
			failnth_die("request");
		memcpy(r.data + r.len, msg->msg_iov[i].iov_base, len);
		r.len += len;
	}
	seen(fd, &r);
	return real(fd, msg, flags);
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	static struct request r;

	r.len = 0;
	r.protocol = protocol_of(fd);
	if (r.protocol >= 0 && len <= sizeof(r.data)) {
		memcpy(r.data, data, len);
		r.len = len;
	}
	seen(fd, &r);
	return sendto(fd, data, len, flags, NULL, 0);
}

/* Join a group, failing each allocation in turn, on a new socket each time,
 * because only the first group of a socket needs an allocation
 */
static void sweep_join(int protocol, int group)
{
	unsigned int n, left, refused = 0;
	int fd, err;

	for (n = 1; n < FAILNTH_MAX; n++) {
		fd = open_netlink(protocol);
		failnth_arm(n);
		err = syscall(SYS_setsockopt, fd, SOL_NETLINK,
			      NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
		left = failnth_disarm();
		close(fd);
		refused += !!err;
		if (left)
			break;
	}
	if (err)
		report(0, n, "joining failed without a failed allocation");
	fprintf(logfile, "request 0 allocations %u refused %u done %u unknown 0\n",
		n - 1, refused, n - 1 - refused);
	fflush(logfile);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	int protocol = protocol_of(fd);

	if (protocol == NETLINK_GENERIC && level == SOL_NETLINK &&
	    name == NETLINK_ADD_MEMBERSHIP && open_log())
		sweep_join(protocol, *(const int *)value);
	return syscall(SYS_setsockopt, fd, level, name, value, len);
}
