// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn showconf: the tc commands that restore the qdiscs.
 *
 * The kernel does not report which parameters the user set.  So a command
 * contains the parameters whose values a new qdisc would not have.  Below a
 * qdisc other than tbf, mq, prio, multiq and ets the rate is unknown, so the
 * values that follow it are printed, too.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/pkt_sched.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>

#include "../kmod/config_table.h"
#include "derive.h"
#include "iqcn.h"
#include "link.h"
#include "out.h"
#include "param.h"
#include "qdisc.h"

/* Maximum number of qdiscs above a queue that the module checks for shapers */
#define ANCESTORS_MAX 8
/* Ethernet's header, without the room that some devices add for tags */
#define HEADER_BYTES 14

/* A qdisc of any kind */
struct conf {
	struct qdisc q;
	/* of an iqcn: numbers by TCA_IQCN_*, and which of them were sent */
	uint64_t values[TCA_IQCN_MAX + 1];
	uint64_t sent;
	struct tc_iqcn_point points[IQCN_POINTS_MAX];
	size_t n_points;
	struct tc_iqcn_cnp_filter filter;
	uint64_t speed_bps;	/* of the device of an iqcn, 0: not known */
	struct link link;
	uint64_t tbf_bps;	/* of a tbf */
};

struct showconf {
	uint32_t ifindex;	/* 0: all devices */
	struct conf *list;
	size_t n, room;
	bool no_memory;
};

static void take_params(struct conf *c)
{
	struct nlattr *tb[TCA_IQCN_MAX + 1];
	const struct iqcn_param *p;
	size_t i;
	int len;

	if (!qdisc_is_iqcn(&c->q) || !qdisc_params(&c->q, tb))
		return;
	for (i = 0; i < ARRAY_SIZE(iqcn_param_table); i++) {
		p = &iqcn_param_table[i];
		if (!tb[p->attr])
			continue;
		if (p->type == IQCN_PARAM_PROFILE) {
			len = nla_memcpy(c->points, tb[p->attr],
					 sizeof(c->points));
			c->n_points = len / sizeof(*c->points);
		} else if (p->type == IQCN_PARAM_FILTER) {
			if (!filter_get(&c->filter, tb[p->attr]))
				continue;
			c->values[p->attr] = c->filter.mode;
		} else if (!param_number(tb[p->attr], &c->values[p->attr])) {
			continue;
		}
		c->sent |= 1ULL << p->attr;
	}
}

static void take_tbf(struct conf *c)
{
	struct nlattr *tb[TCA_TBF_MAX + 1];
	struct tc_tbf_qopt qopt;
	uint64_t rate;

	if (strcmp(c->q.kind, "tbf") || !c->q.options ||
	    nla_parse_nested(tb, TCA_TBF_MAX, c->q.options, NULL))
		return;
	if (tb[TCA_TBF_RATE64]) {
		rate = nla_get_u64(tb[TCA_TBF_RATE64]);
	} else if (tb[TCA_TBF_PARMS]) {
		memset(&qopt, 0, sizeof(qopt));
		nla_memcpy(&qopt, tb[TCA_TBF_PARMS], sizeof(qopt));
		rate = qopt.rate.rate;
	} else {
		return;
	}
	c->tbf_bps = rate * 8;
}

static bool on_qdisc(const struct qdisc *q, void *arg)
{
	struct showconf *s = arg;
	size_t room = s->room ? 2 * s->room : 16;
	struct conf *list;

	if (s->n == s->room) {
		list = realloc(s->list, room * sizeof(*list));
		s->no_memory = !list;
		if (!list)
			return false;
		s->list = list;
		s->room = room;
	}
	memset(&s->list[s->n], 0, sizeof(*s->list));
	s->list[s->n].q = *q;
	take_params(&s->list[s->n]);
	take_tbf(&s->list[s->n++]);
	return true;
}

static uint32_t packet_bytes(const char *dev)
{
	struct ifreq r = {};

	return link_ask(dev, SIOCGIFMTU, &r) ? r.ifr_mtu + HEADER_BYTES : 0;
}

static bool is_ethernet(const char *dev)
{
	struct ifreq r = {};

	return link_ask(dev, SIOCGIFHWADDR, &r) &&
	       r.ifr_hwaddr.sa_family == ARPHRD_ETHER;
}

static const struct conf *find_parent(const struct showconf *s,
				      const struct conf *c)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->list[i].q.ifindex == c->q.ifindex &&
		    s->list[i].q.handle == TC_H_MAJ(c->q.parent) &&
		    s->list[i].q.handle)
			return &s->list[i];
	return NULL;
}

/* Find the rate of a queue, as in kmod/link.c; the rates of shapers other than
 * tbf are not known here
 */
static void find_link(const struct showconf *s, struct conf *c)
{
	static const char *const sharing[] = { "mq", "prio", "multiq", "ets" };
	const char *dev = dev_name(c->q.ifindex);
	uint64_t bps = link_bps(dev);
	const struct conf *at = c;
	size_t i, n;

	c->speed_bps = bps;
	c->link.packet_bytes = packet_bytes(dev);
	c->link.ethernet = is_ethernet(dev);
	for (n = 0; n < ANCESTORS_MAX && at->q.parent != TC_H_ROOT; n++) {
		at = find_parent(s, at);
		if (!at)
			return;
		for (i = 0; i < ARRAY_SIZE(sharing); i++)
			if (!strcmp(sharing[i], at->q.kind))
				break;
		if (i == ARRAY_SIZE(sharing) && !at->tbf_bps)
			return;
		if (at->tbf_bps >= IQCN_BANDWIDTH_MIN_BPS &&
		    (!bps || at->tbf_bps < bps))
			bps = at->tbf_bps;
	}
	c->link.known = true;
	c->link.bps = bps ? bps : derive_default_bps();
}

/* The rate of the port, as in iqcn_port_update(); 0: not known */
static uint64_t port_bps(const struct showconf *s, uint32_t ifindex)
{
	uint64_t link_bps = 0, largest_bps = 0, sum_bps = 0, bps;
	const struct conf *c;

	for (c = s->list; c < s->list + s->n; c++) {
		if (!qdisc_is_iqcn(&c->q) || c->q.ifindex != ifindex)
			continue;
		if (!c->link.known)
			return 0;
		bps = c->values[TCA_IQCN_BANDWIDTH_BPS];
		bps = bps ? bps : c->link.bps;
		largest_bps = bps > largest_bps ? bps : largest_bps;
		sum_bps += bps;
		bps = c->speed_bps ? c->speed_bps : c->link.bps;
		link_bps = bps > link_bps ? bps : link_bps;
	}
	sum_bps = sum_bps < link_bps ? sum_bps : link_bps;
	return sum_bps > largest_bps ? sum_bps : largest_bps;
}

static bool has_default(const struct showconf *s, const struct conf *c,
			const struct iqcn_param *p, uint64_t needed)
{
	uint64_t v = c->values[p->attr], bps;

	if (p->type == IQCN_PARAM_PROFILE)
		return !c->n_points;
	if (p->attr == TCA_IQCN_CNP_RATE_PPS) {
		bps = port_bps(s, c->q.ifindex);
		return bps && v == derive_cnp_rate(bps);
	}
	return p->follows ? !(needed & 1ULL << p->attr) : v == p->def;
}

static void write_profile(const struct conf *c, FILE *f)
{
	char text[VALUE_SIZE];
	size_t i;

	for (i = 0; i < c->n_points; i++) {
		prob_text(text, c->points[i].prob);
		fprintf(f, "%s%ub:%s", i ? "," : "", c->points[i].bytes, text);
	}
}

/* Print the exact value in tc's syntax */
static void write_value(const struct conf *c, const struct iqcn_param *p,
			FILE *f)
{
	uint64_t v = c->values[p->attr];
	char text[VALUE_SIZE];

	if (p->type == IQCN_PARAM_PROFILE) {
		write_profile(c, f);
		return;
	}
	if (p->special && v == p->special_value)
		strcpy(text, p->special);
	else if (p->type == IQCN_PARAM_FILTER)
		filter_text(text, &c->filter);
	else if (p->type == IQCN_PARAM_PROB)
		prob_text(text, v);
	else if (p->type == IQCN_PARAM_SET && !v && p->empty)
		strcpy(text, p->empty);
	else if (p->names)
		value_text(text, param_form(p->type), p->names, v);
	else
		param_text(text, p->type, v);
	fputs(text, f);
}

/* Write a word quoted for a shell, as printable ASCII */
static void write_word(const char *word, FILE *f)
{
	const char *c = word;

	while (isascii(*c) && (isalnum(*c) || (*c && strchr("_.:@%+-", *c))))
		c++;
	if (!*c) {
		fputs(word, f);
		return;
	}
	fputs("$'", f);
	for (; *word; word++)
		if (*word == '\'' || *word == '\\')
			fprintf(f, "\\%c", *word);
		else if (*word >= ' ' && *word <= '~')
			fputc(*word, f);
		else
			fprintf(f, "\\%03o", (unsigned char)*word);
	fputc('\'', f);
}

static void write_command(const struct showconf *s, const struct conf *c,
			  FILE *f)
{
	uint64_t needed = derive_needed(c->values, &c->link);
	const struct iqcn_param *p;
	char parent[VALUE_SIZE];
	size_t i;

	value_text(parent, FORM_PARENT, NULL, c->q.parent);
	fputs("tc qdisc add dev ", f);
	write_word(dev_name(c->q.ifindex), f);
	fprintf(f, " %s%s handle %x: iqcn",
		c->q.parent == TC_H_ROOT ? "" : "parent ", parent,
		c->q.handle >> 16);
	for (i = 0; i < ARRAY_SIZE(iqcn_param_table); i++) {
		p = &iqcn_param_table[i];
		if (!(c->sent & 1ULL << p->attr) ||
		    has_default(s, c, p, needed))
			continue;
		fprintf(f, " %s ", p->name);
		write_value(c, p, f);
	}
}

static int print_command(const struct showconf *s, const struct conf *c,
			 bool json)
{
	struct json_object *o;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f)
		write_command(s, c, f);
	if (!f || fclose(f)) {
		free(text);
		return fail("commands", strerror(ENOMEM));
	}
	if (json) {
		o = json_object_new_object();
		json_add(o, "dev", value_json(FORM_DEV, NULL, c->q.ifindex));
		json_add(o, "command", json_object_new_string(text));
		json_array_element(o);
	} else {
		puts(text);
	}
	free(text);
	return EXIT_SUCCESS;
}

/* Skip qdiscs without a handle: tc did not create them, they are default qdiscs
 * (sysctl net.core.default_qdisc)
 */
static bool is_wanted(const struct showconf *s, const struct conf *c)
{
	return qdisc_is_iqcn(&c->q) && c->q.handle &&
	       (!s->ifindex || s->ifindex == c->q.ifindex);
}

static int print_commands(struct showconf *s, const char *dev, bool json)
{
	int ret = EXIT_SUCCESS;
	bool none = true;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (qdisc_is_iqcn(&s->list[i].q))
			find_link(s, &s->list[i]);
	if (json)
		json_array_begin();
	for (i = 0; i < s->n && !ret && !out_closed(); i++) {
		if (!is_wanted(s, &s->list[i]))
			continue;
		none = false;
		ret = print_command(s, &s->list[i], json);
	}
	if (json)
		json_array_end();
	return none && !json ? qdiscs_none(dev) : ret;
}

int cmd_showconf(int argc, char **argv)
{
	struct showconf s = {};
	bool json = false;
	int ret;

	if (!parse_json(argc, argv, &json))
		return EXIT_USAGE;
	if (argc > optind + 1)
		return misuse("unexpected word", argv[optind + 1]);
	ret = parse_dev(argv[optind], &s.ifindex);
	if (!ret)
		/* dump all qdiscs, because defaults depend on those above a
		 * queue, and that of cnp-rate on all queues of a device
		 */
		ret = qdiscs_dump(0, on_qdisc, &s);
	if (!ret && s.no_memory)
		ret = fail("qdiscs", strerror(ENOMEM));
	if (!ret)
		ret = print_commands(&s, argv[optind], json);
	free(s.list);
	return ret;
}
