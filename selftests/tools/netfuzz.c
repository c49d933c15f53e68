// SPDX-License-Identifier: GPL-2.0
/*
 * netfuzz: fuzz the requests to the qdisc and to the netlink family.  The
 * attributes are taken from the headers by fuzz/attrs.awk.
 *
 *   netfuzz DEVICE COUNT SEED [CORPUS]
 *
 * DEVICE must have the qdisc mq 1: with iqcn 11: as its first child, and room
 * for other children.  Each request is generated, or derived from an earlier
 * one, and sent.  Then the state is checked:
 *   - a refused request, or one to the netlink family, has changed nothing;
 *   - the parameters of an accepted, well-formed request are shown;
 *   - the first child still exists.
 * With KCOV, requests that reach new code are kept as a basis for further
 * requests.  CORPUS contains such requests, one per line as "KIND COMMAND FLAGS
 * CHILD HEX", and new requests are appended to it.  All random values follow
 * from SEED.  netfuzz prints "requests N accepted N refused N new N code N".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/iqcn.h>
#include <linux/iqcn_netlink.h>
#include <linux/kcov.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "random.h"

uint64_t random_state;

enum {
	TYPE_NONE, TYPE_U8, TYPE_U16, TYPE_U32, TYPE_U64, TYPE_S32, TYPE_STRING,
	TYPE_FLAG, TYPE_ARRAY, TYPE_STRUCT, TYPE_BITMAP,
};

enum {
	SET_TCA_IQCN, SET_IQCN_A_PORT, SET_IQCN_A_QUEUE, SET_IQCN_A_FLOW,
	SET_IQCN_A_EVENT, SET_IQCN_A_LEASE,
};

static const struct attribute {
	const char *name;
	uint16_t number;
	uint8_t set;
	uint8_t type;
} attributes[] = {
#include "attrs.h"
};

#define ARRAY_SIZE(_array) (sizeof(_array) / sizeof((_array)[0]))
#define MAX_BYTES	600
#define MAX_KEPT	512
#define KCOV_WORDS	65536
#define CODE_BITS	20

/* A request: kind 'q' changes a qdisc, 'g' is a command of the family */
struct request {
	char kind;
	unsigned int command;		/* such as RTM_NEWQDISC, IQCN_CMD_PORT_GET */
	unsigned int flags;
	unsigned int child;		/* index of the child of mq */
	unsigned int len;
	uint8_t bytes[MAX_BYTES];	/* attributes */
	bool plain;			/* no duplicates, all of valid type */
};

static struct request kept[MAX_KEPT];
static unsigned int n_kept;
static int rtnl, genl, family, ifindex, kcov = -1;
static unsigned long *trace;
static uint8_t code[1 << CODE_BITS];
static unsigned int n_code;
static uint8_t answer[1 << 16];

static void die(const char *what)
{
	fprintf(stderr, "netfuzz: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int open_netlink(int protocol)
{
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW, protocol);
	struct timeval tv = { .tv_sec = 10 };

	if (fd < 0 || bind(fd, (void *)&nl, sizeof(nl)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)))
		die("netlink");
	return fd;
}

/* Call @each for each message of the answer.  Return: 0, or the error */
static int talk(int fd, const void *request, size_t len,
		void (*each)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	const struct nlmsghdr *nlh;
	ssize_t got;

	if (send(fd, request, len, 0) < 0)
		die("send");
	for (;;) {
		got = recv(fd, answer, sizeof(answer), 0);
		if (got < 0)
			die("receive");
		for (nlh = (void *)answer; NLMSG_OK(nlh, got);
		     nlh = NLMSG_NEXT(nlh, got)) {
			if (nlh->nlmsg_type == NLMSG_ERROR ||
			    nlh->nlmsg_type == NLMSG_DONE)
				return -*(int *)NLMSG_DATA(nlh);
			if (each)
				each(nlh, arg);
		}
	}
}

static void take_family(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *a = NLMSG_DATA(nlh) + GENL_HDRLEN;
	const void *end = (const void *)nlh + nlh->nlmsg_len;

	for (; (const void *)a < end; a = (void *)a + NLA_ALIGN(a->nla_len))
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			family = *(uint16_t *)(a + 1);
}

static void find_family(void)
{
	struct {
		struct nlmsghdr nlh;
		struct genlmsghdr genl;
		struct nlattr a;
		char name[8];
	} r = {
		.nlh.nlmsg_len = sizeof(r),
		.nlh.nlmsg_type = GENL_ID_CTRL,
		.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		.genl.cmd = CTRL_CMD_GETFAMILY,
		.a.nla_len = NLA_HDRLEN + sizeof(IQCN_FAMILY_NAME),
		.a.nla_type = CTRL_ATTR_FAMILY_NAME,
		.name = IQCN_FAMILY_NAME,
	};

	if (talk(genl, &r, sizeof(r), take_family, NULL) || !family)
		die(IQCN_FAMILY_NAME);
}

/* State: the options of each child as shown by a dump */
struct shown {
	struct {
		unsigned int len;
		uint8_t bytes[1024];
	} child[4];
};

static void take_qdisc(const struct nlmsghdr *nlh, void *arg)
{
	const struct tcmsg *tc = NLMSG_DATA(nlh);
	unsigned int i = TC_H_MIN(tc->tcm_parent) - 1;
	int left = TCA_PAYLOAD(nlh);
	struct shown *s = arg;
	const struct rtattr *a;

	if (tc->tcm_ifindex != ifindex || tc->tcm_parent >> 16 != 1 || i >= 4)
		return;
	for (a = TCA_RTA(tc); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if ((a->rta_type & NLA_TYPE_MASK) == TCA_OPTIONS &&
		    a->rta_len <= sizeof(s->child[i].bytes)) {
			s->child[i].len = RTA_PAYLOAD(a);
			memcpy(s->child[i].bytes, RTA_DATA(a), RTA_PAYLOAD(a));
		}
}

static void show(struct shown *s)
{
	struct {
		struct nlmsghdr nlh;
		struct tcmsg tc;
	} r = {
		.nlh.nlmsg_len = sizeof(r),
		.nlh.nlmsg_type = RTM_GETQDISC,
		.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};

	memset(s, 0, sizeof(*s));
	if (talk(rtnl, &r, sizeof(r), take_qdisc, s))
		die("qdiscs");
}

/* Find an attribute in @len bytes.  Return: the attribute, or NULL */
static const struct nlattr *find(const uint8_t *bytes, unsigned int len,
				 uint16_t type)
{
	const struct nlattr *a;
	unsigned int at;

	for (at = 0; at + NLA_HDRLEN <= len; at += NLA_ALIGN(a->nla_len)) {
		a = (const void *)(bytes + at);
		if (a->nla_len < NLA_HDRLEN || at + a->nla_len > len)
			return NULL;
		if (a->nla_type == type)
			return a;
	}
	return NULL;
}

static uint64_t odd_number(void)
{
	static const uint64_t odd[] = { 0, 1, 2, 3, 10, 100, 999, 1000, 10000,
		65535, 65536, 1000000, 1000000000, 1000000001, 0x7fffffff,
		0x80000000, 0xffffffff, 0x100000000, -1ull };

	switch (below(4)) {
	case 0:
		return odd[below(ARRAY_SIZE(odd))];
	case 1:
		return draw() >> below(64);
	default:
		/* around powers of two, which suits most parameters */
		return 1ull << below(31) | below(8);
	}
}

static void append(struct request *r, uint16_t type, const void *data,
		   unsigned int len)
{
	struct nlattr a = { .nla_len = NLA_HDRLEN + len, .nla_type = type };

	if (r->len + NLA_HDRLEN + NLA_ALIGN(len) > MAX_BYTES)
		return;
	memcpy(r->bytes + r->len, &a, sizeof(a));
	memset(r->bytes + r->len + NLA_HDRLEN, 0, NLA_ALIGN(len));
	memcpy(r->bytes + r->len + NLA_HDRLEN, data, len);
	r->len += NLA_HDRLEN + NLA_ALIGN(len);
}

/* Append an attribute in the form of its type, or else as a u32 */
static void append_right(struct request *r, const struct attribute *a,
			 const struct shown *s)
{
	const struct nlattr *is = NULL;
	uint64_t words[IQCN_QUEUE_MASK_WORDS] = {};
	uint32_t points[16];
	uint64_t number = odd_number();
	unsigned int i, n;

	if (find(r->bytes, r->len, a->number))
		r->plain = false;
	if (a->set == SET_TCA_IQCN)
		is = find(s->child[r->child].bytes, s->child[r->child].len,
			  a->number);
	switch (a->type) {
	case TYPE_U64:
		append(r, a->number, &number, 8);
		break;
	case TYPE_ARRAY:
		n = below(9);
		for (i = 0; i < n; i++) {
			points[2 * i] = 1000 * (i + 1) + below(below(8) ? 999 : 9999);
			points[2 * i + 1] = below(8) ? i << 28 : draw();
		}
		append(r, a->number, points, n * 8);
		break;
	case TYPE_BITMAP:
		for (n = below(8); n; n--) {
			i = below(64 * ARRAY_SIZE(words));
			words[i / 64] |= UINT64_C(1) << i % 64;
		}
		append(r, a->number, words, sizeof(words));
		break;
	case TYPE_U16:
		append(r, a->number, &number, 2);
		break;
	case TYPE_STRUCT:
		/* TCA_IQCN_FILTER */
		points[0] = below(8) ? below(__IQCN_CNP_FILTER_MAX + 1) : number;
		points[1] = below(2) ? 0 : odd_number();
		points[2] = below(2) ? 0 : odd_number();
		append(r, a->number, points, sizeof(struct tc_iqcn_cnp_filter));
		break;
	default:
		/* mostly the device's index, or near the parameter's value */
		if (a->set != SET_TCA_IQCN && a->number == 1 && below(4))
			number = ifindex;
		else if (is && below(2))
			number = *(uint32_t *)(is + 1) + below(3) - 1;
		append(r, a->number, &number, 4);
	}
}

/* Append an attribute whose type, flags or length are probably invalid, or
 * damage a byte of the request
 */
static void append_wrong(struct request *r, const struct attribute *a)
{
	uint8_t junk[64];
	unsigned int i;

	r->plain = false;
	for (i = 0; i < sizeof(junk); i++)
		junk[i] = draw();
	switch (below(5)) {
	case 0:
		append(r, a->number, junk, below(sizeof(junk)));
		break;
	case 1:
		append(r, a->number | NLA_F_NESTED, junk, 4);
		break;
	case 2:
		append(r, a->number | NLA_F_NET_BYTEORDER, junk, 4);
		break;
	case 3:
		append(r, draw(), junk, below(sizeof(junk)));
		break;
	default:
		append(r, a->number, junk, 4);
		if (r->len)
			r->bytes[below(r->len)] = draw();
	}
}

static const struct attribute *any_of(unsigned int set)
{
	const struct attribute *a;

	do {
		a = &attributes[below(ARRAY_SIZE(attributes))];
	} while (a->set != set);
	return a;
}

static void make(struct request *r, const struct shown *s)
{
	static const unsigned int flags[] = {
		0, 0, 0, 0, NLM_F_REPLACE, NLM_F_CREATE | NLM_F_REPLACE,
		NLM_F_CREATE | NLM_F_EXCL, NLM_F_CREATE,
	};
	unsigned int n, set = SET_TCA_IQCN;

	r->plain = true;
	r->len = 0;
	if (below(5)) {
		r->kind = 'q';
		r->command = below(12) ? RTM_NEWQDISC : RTM_DELQDISC;
		r->child = below(3) ? 0 : below(4);
		r->flags = flags[below(8)];
		if (r->child == 0)
			r->command = RTM_NEWQDISC;
	} else {
		r->kind = 'g';
		r->command = below(IQCN_CMD_MAX + 2);
		r->child = 0;
		r->flags = below(2) ? NLM_F_DUMP : 0;
		set = below(4) ? SET_IQCN_A_PORT + (r->command + 2) % 3 :
		      SET_IQCN_A_PORT + below(5);
		if (r->command == IQCN_CMD_LEASE && below(8))
			set = SET_IQCN_A_LEASE;
	}
	for (n = below(5); n; n--) {
		if (below(8))
			append_right(r, any_of(set), s);
		else
			append_wrong(r, any_of(set));
	}
}

/* Derive a request from an earlier one: append attributes or change a byte */
static void change(struct request *r, const struct shown *s)
{
	struct request more;

	*r = kept[below(n_kept)];
	r->plain = false;
	switch (below(3)) {
	case 0:
		make(&more, s);
		if (more.kind == r->kind && r->len + more.len <= MAX_BYTES) {
			memcpy(r->bytes + r->len, more.bytes, more.len);
			r->len += more.len;
		}
		break;
	case 1:
		if (r->len)
			r->bytes[below(r->len)] ^= 1 << below(8);
		break;
	default:
		if (r->len)
			r->bytes[below(r->len)] = odd_number();
	}
}

/* Return: 0, or the error */
static int send_request(const struct request *r)
{
	struct {
		struct nlmsghdr nlh;
		union {
			struct tcmsg tc;
			struct genlmsghdr genl;
		};
		uint8_t rest[MAX_BYTES + 64];
	} m = {};
	struct nlattr kind = { NLA_HDRLEN + 5, TCA_KIND };
	struct nlattr options = { NLA_HDRLEN + r->len,
				  TCA_OPTIONS | NLA_F_NESTED };
	uint8_t *p;

	m.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | r->flags;
	if (r->kind == 'g') {
		m.nlh.nlmsg_type = family;
		m.genl.cmd = r->command;
		m.genl.version = IQCN_FAMILY_VERSION;
		p = (uint8_t *)&m.nlh + NLMSG_LENGTH(GENL_HDRLEN);
		memcpy(p, r->bytes, r->len);
		m.nlh.nlmsg_len = p + r->len - (uint8_t *)&m;
		return talk(genl, &m, m.nlh.nlmsg_len, NULL, NULL);
	}
	m.nlh.nlmsg_type = r->command;
	m.tc.tcm_ifindex = ifindex;
	m.tc.tcm_parent = TC_H_MAKE(1 << 16, r->child + 1);
	m.tc.tcm_handle = (0x11 + r->child) << 16;
	p = (uint8_t *)&m.nlh + NLMSG_LENGTH(sizeof(m.tc));
	memcpy(p, &kind, sizeof(kind));
	memcpy(p + NLA_HDRLEN, "iqcn", 5);
	p += NLA_HDRLEN + NLA_ALIGN(5);
	if (r->command == RTM_NEWQDISC) {
		memcpy(p, &options, sizeof(options));
		memcpy(p + NLA_HDRLEN, r->bytes, r->len);
		p += NLA_HDRLEN + NLA_ALIGN(r->len);
	}
	m.nlh.nlmsg_len = p - (uint8_t *)&m;
	return talk(rtnl, &m, m.nlh.nlmsg_len, NULL, NULL);
}

static void open_kcov(void)
{
	kcov = open("/sys/kernel/debug/kcov", O_RDWR);
	if (kcov < 0)
		return;
	if (ioctl(kcov, KCOV_INIT_TRACE, KCOV_WORDS))
		die("kcov");
	trace = mmap(NULL, KCOV_WORDS * sizeof(*trace), PROT_READ | PROT_WRITE,
		     MAP_SHARED, kcov, 0);
	if (trace == MAP_FAILED || ioctl(kcov, KCOV_ENABLE, KCOV_TRACE_PC))
		die("kcov");
}

/* Record the edges between basic blocks of the last request.  Return: the
 * number of new edges
 */
static unsigned int take_code(void)
{
	unsigned long i, n, way;
	unsigned int bit, fresh = 0;

	if (kcov < 0)
		return 0;
	n = __atomic_load_n(&trace[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n; i++) {
		way = trace[i] ^ (i > 1 ? trace[i - 1] << 1 : 0);
		bit = way * 0x9e3779b97f4a7c15ull >> (64 - CODE_BITS);
		fresh += !code[bit];
		code[bit] = 1;
	}
	n_code += fresh;
	return fresh;
}

static void keep(const struct request *r, FILE *corpus)
{
	unsigned int i;

	if (n_kept < MAX_KEPT)
		kept[n_kept++] = *r;
	if (!corpus)
		return;
	fprintf(corpus, "%c %u %#x %u ", r->kind, r->command, r->flags, r->child);
	for (i = 0; i < r->len; i++)
		fprintf(corpus, "%02x", r->bytes[i]);
	fprintf(corpus, "%s\n", r->len ? "" : "-");
}

static FILE *read_corpus(const char *path)
{
	FILE *f = fopen(path, "a+");
	char line[2 * MAX_BYTES + 64], hex[2 * MAX_BYTES + 4];
	unsigned int byte;
	struct request r;

	if (!f)
		die(path);
	while (n_kept < MAX_KEPT && fgets(line, sizeof(line), f)) {
		r = (struct request){};
		if (sscanf(line, "%c %u %x %u %s", &r.kind, &r.command, &r.flags,
			   &r.child, hex) != 5 || r.child > 3)
			continue;
		while (r.len < MAX_BYTES &&
		       sscanf(hex + 2 * r.len, "%2x", &byte) == 1)
			r.bytes[r.len++] = byte;
		kept[n_kept++] = r;
	}
	return f;
}

static void complain(const struct request *r, const char *what)
{
	printf("bad %s: ", what);
	keep(r, stdout);
}

/* Does the child show every parameter of the request?  Explicit values take
 * precedence over those derived from the device or from other parameters.
 */
static bool holds(const struct request *r, const struct shown *now)
{
	const struct nlattr *a, *is;
	unsigned int at;

	for (at = 0; at < r->len; at += NLA_ALIGN(a->nla_len)) {
		a = (const void *)(r->bytes + at);
		if (a->nla_type <= TCA_IQCN_PAD)
			continue;
		is = find(now->child[r->child].bytes, now->child[r->child].len,
			  a->nla_type);
		if (!is || is->nla_len != a->nla_len ||
		    memcmp(is + 1, a + 1, a->nla_len - NLA_HDRLEN))
			return false;
	}
	return true;
}

/* Send a request, and check the state before and after.  Return: 0, or the
 * error
 */
static int try(const struct request *r, FILE *corpus, unsigned int *news)
{
	static struct shown before, now;
	int err;

	show(&before);
	if (kcov >= 0)
		__atomic_store_n(&trace[0], 0, __ATOMIC_RELAXED);
	err = send_request(r);
	if (take_code()) {
		++*news;
		keep(r, corpus);
	}
	show(&now);
	if ((err || r->kind == 'g') && memcmp(&before, &now, sizeof(now)))
		complain(r, err ? "refused, but the state changed" :
			 "read-only, but the state changed");
	if (!err && r->kind == 'q' && r->command == RTM_NEWQDISC && r->plain &&
	    !holds(r, &now))
		complain(r, "accepted, but not shown");
	if (!now.child[0].len)
		complain(r, "the first child is gone");
	return err;
}

int main(int argc, char **argv)
{
	unsigned long count, i, accepted = 0, refused = 0;
	unsigned int news = 0, n_read;
	FILE *corpus = NULL;
	static struct shown s;
	struct request r;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "Usage: netfuzz DEVICE COUNT SEED [CORPUS]\n");
		return 2;
	}
	ifindex = if_nametoindex(argv[1]);
	if (!ifindex)
		die(argv[1]);
	count = strtoul(argv[2], NULL, 0);
	random_state = strtoull(argv[3], NULL, 0);
	if (argc == 5)
		corpus = read_corpus(argv[4]);
	rtnl = open_netlink(NETLINK_ROUTE);
	genl = open_netlink(NETLINK_GENERIC);
	find_family();
	open_kcov();
	/* replay the corpus first, so that code which it reaches is not new */
	n_read = n_kept;
	for (i = 0; i < n_read; i++) {
		r = kept[i];
		try(&r, NULL, &news);
	}
	news = 0;
	n_kept = n_read;
	for (i = 0; i < count; i++) {
		show(&s);
		memset(&r, 0, sizeof(r));
		if (n_kept && below(2))
			change(&r, &s);
		else
			make(&r, &s);
		if (try(&r, corpus, &news))
			refused++;
		else
			accepted++;
	}
	printf("requests %lu accepted %lu refused %lu new %u code %u\n",
	       n_read + count, accepted, refused, news, n_code);
	return 0;
}
