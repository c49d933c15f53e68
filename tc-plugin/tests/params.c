// SPDX-License-Identifier: GPL-2.0
/*
 * For roundtrip.sh: print requests with random values of every parameter, and
 * decode requests.
 *
 *   params random SEED COUNT	print requests, for nlfile.so
 *   params attrs		print the parameters of the requests on stdin in
 *				hexadecimal, one line per request
 *   params keys		print a JSON object that maps the key of each
 *				parameter in JSON to its name and unit
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "../../kmod/config_table.h"
#include "../../selftests/tools/random.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PARAMS ARRAY_SIZE(iqcn_param_table)
#define REQUEST_MAX 4096

uint64_t random_state;

struct request {
	struct nlmsghdr n;
	struct tcmsg t;
	char attrs[REQUEST_MAX];
};

static struct rtattr *put(struct nlmsghdr *n, int type, const void *data, size_t len)
{
	struct rtattr *a = (void *)n + NLMSG_ALIGN(n->nlmsg_len);

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	n->nlmsg_len = NLMSG_ALIGN(n->nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

/* A number from lo to hi; often a bound, a small number, or a number that ends
 * in zeros
 */
static uint64_t random_value(uint64_t lo, uint64_t hi)
{
	uint64_t v = draw(), unit = 1, n;

	switch (v & 7) {
	case 0:
		return lo;
	case 1:
		return hi;
	case 2:
		/* a small offset; the range itself may be small */
		hi = hi - lo > 8 ? lo + 8 : hi;
		break;
	case 3:
	case 4:
		for (n = draw() % 16; n && unit <= hi / 10; n--)
			unit *= 10;
		break;
	case 5:
		unit = 1ULL << draw() % 30;
		break;
	}
	v = draw() >> (draw() % 64);
	if (hi - lo != UINT64_MAX)
		v = lo + v % (hi - lo + 1);
	v -= v % unit;
	return v < lo ? lo : v;
}

static void put_profile(struct nlmsghdr *n, const struct iqcn_param *p)
{
	struct tc_iqcn_point points[IQCN_POINTS_MAX];
	size_t i, count = draw() % (IQCN_POINTS_MAX + 1);

	for (i = 0; i < count; i++) {
		points[i].bytes = random_value(0, UINT32_MAX);
		points[i].prob = random_value(0, UINT32_MAX);
	}
	put(n, p->attr, points, count * sizeof(points[0]));
}

static void put_filter(struct nlmsghdr *n, const struct iqcn_param *p)
{
	struct tc_iqcn_cnp_filter filter = {
		.mode = draw() % __IQCN_CNP_FILTER_MAX,
	};

	if (filter.mode == IQCN_CNP_FILTER_FIXED) {
		filter.n = random_value(1, IQCN_FILTER_N_MAX);
		filter.interval_ns = random_value(1, IQCN_TIME_MAX_NS);
	}
	put(n, p->attr, &filter, sizeof(filter));
}

static void put_param(struct nlmsghdr *n, const struct iqcn_param *p)
{
	uint64_t v64;
	uint32_t v;

	switch (p->type) {
	case IQCN_PARAM_PROFILE:
		put_profile(n, p);
		return;
	case IQCN_PARAM_FILTER:
		put_filter(n, p);
		return;
	case IQCN_PARAM_BPS:
		v64 = random_value(IQCN_BANDWIDTH_MIN_BPS,
				   IQCN_BANDWIDTH_MAX_BPS);
		if (draw() % 8 == 0)
			v64 = 0;
		put(n, p->attr, &v64, sizeof(v64));
		return;
	}
	v = random_value(p->lo, p->hi);
	if (p->special && draw() % 4 == 0)
		v = p->special_value;
	put(n, p->attr, &v, sizeof(v));
}

/* Print @count requests.  Each contains the next parameter in turn, and some
 * random others.
 */
static void print_random(unsigned int count)
{
	struct request req;
	struct rtattr *nest;
	unsigned int i;
	size_t j;

	for (i = 0; i < count; i++) {
		memset(&req, 0, sizeof(req));
		req.n.nlmsg_type = RTM_NEWQDISC;
		req.n.nlmsg_len = NLMSG_LENGTH(sizeof(req.t));
		req.t.tcm_parent = TC_H_ROOT;
		put(&req.n, TCA_KIND, "iqcn", sizeof("iqcn"));
		nest = put(&req.n, TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
		for (j = 0; j < PARAMS; j++)
			if (j == i % PARAMS || draw() % 16 == 0)
				put_param(&req.n, &iqcn_param_table[j]);
		nest->rta_len = (char *)&req + req.n.nlmsg_len - (char *)nest;
		fwrite(&req, req.n.nlmsg_len, 1, stdout);
	}
}

static void print_options(struct nlmsghdr *n)
{
	struct rtattr *a = (void *)n + NLMSG_LENGTH(sizeof(struct tcmsg));
	int i, left = n->nlmsg_len - NLMSG_LENGTH(sizeof(struct tcmsg));

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if ((a->rta_type & NLA_TYPE_MASK) != TCA_OPTIONS)
			continue;
		for (i = 0; i < (int)RTA_PAYLOAD(a); i++)
			printf("%02x", ((unsigned char *)RTA_DATA(a))[i]);
	}
	printf("\n");
}

static int print_attrs(void)
{
	struct request req;

	while (fread(&req.n, sizeof(req.n), 1, stdin) == 1) {
		if (req.n.nlmsg_len > sizeof(req) ||
		    fread(&req.t, NLMSG_ALIGN(req.n.nlmsg_len) - sizeof(req.n),
			  1, stdin) != 1) {
			fprintf(stderr, "params: malformed request\n");
			return 1;
		}
		print_options(&req.n);
	}
	return 0;
}

static const char *unit_of(const struct iqcn_param *p)
{
	switch (p->type) {
	case IQCN_PARAM_BYTES:
		return "b";
	case IQCN_PARAM_NS:
	case IQCN_PARAM_TIMER_NS:
		return "ns";
	case IQCN_PARAM_MS:
		return "ms";
	case IQCN_PARAM_BPS:
		return "bit";
	case IQCN_PARAM_METERS:
		return "m";
	}
	return "";
}

static void print_keys(void)
{
	const struct iqcn_param *p;

	printf("{");
	for (p = iqcn_param_table; p < iqcn_param_table + PARAMS; p++)
		printf("%s\"%s\": { \"name\": \"%s\", \"unit\": \"%s\" }",
		       p == iqcn_param_table ? "" : ", ", p->key, p->name,
		       unit_of(p));
	printf("}\n");
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "random")) {
		random_state = atoi(argv[2]);
		print_random(atoi(argv[3]));
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "attrs"))
		return print_attrs();
	if (argc == 2 && !strcmp(argv[1], "keys")) {
		print_keys();
		return 0;
	}
	fprintf(stderr, "usage: params random SEED COUNT | attrs | keys\n");
	return 2;
}
