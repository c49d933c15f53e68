// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn show: qdiscs in a few lines (summary.c), or with all parameters and
 * counters.
 *
 * Text and JSON are generated from one row per parameter in kmod/config_table.h
 * and one row per counter in counters[].  JSON has the shape and the keys of
 * "tc -s -j qdisc show", plus port_cnp_smac, which only the netlink family has.
 *
 * Values that an older module does not send are left out, and values of a newer
 * module that this tool does not know are skipped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pkt_sched.h>

#include "../kmod/config_table.h"
#include "baseline.h"
#include "genl.h"
#include "iqcn.h"
#include "names.h"
#include "out.h"
#include "param.h"
#include "qdisc.h"
#include "summary.h"

#define PROFILE_SIZE (IQCN_POINTS_MAX * VALUE_SIZE)

/* Titles of enum iqcn_param_topic */
static const char *const topics[__IQCN_TOPIC_MAX] = {
	[IQCN_TOPIC_MARKING] = "marking",
	[IQCN_TOPIC_CONGESTION] = "congestion",
	[IQCN_TOPIC_SAMPLING] = "sampling",
	[IQCN_TOPIC_SENDING] = "sending",
	[IQCN_TOPIC_FLOWS] = "flow table",
};

/* Arguments of "show", and the state of its output */
struct show {
	uint32_t ifindex;	/* 0: all devices */
	struct port *ports;
	size_t n_ports;
	bool json;
	bool details;
	struct baselines baselines;	/* to subtract */
	bool another;		/* a qdisc was printed */
	struct json_object *object;	/* the one being filled */
	const char *group;
	int column;
};

/* Print an item, on a new line if the group is new or the line is full */
static void item(struct show *s, const char *group, const char *name,
		 const char *value)
{
	bool new_group = !s->group || strcmp(group, s->group);
	int len = 2 + strlen(name) + strlen(value);

	if (new_group || s->column + len > screen_columns())
		s->column = printf("\n  %-10s", new_group ? group : "") - 1;
	s->column += printf(" %s %s", name, value);
	s->group = group;
}

static void add_point(struct json_object *profile,
		      const struct tc_iqcn_point *point)
{
	struct json_object *o = json_object_new_object();

	json_add(o, "bytes", value_json(FORM_NUMBER, NULL, point->bytes));
	json_add(o, "prob", value_json(FORM_PROB, NULL, point->prob));
	json_object_array_add(profile, o);
}

static void show_profile(struct show *s, const struct iqcn_param *p,
			 const struct nlattr *attr)
{
	const struct tc_iqcn_point *point = nla_data(attr);
	struct json_object *profile = json_object_new_array();
	size_t i, n = nla_len(attr) / sizeof(*point), len;
	char text[PROFILE_SIZE], prob[VALUE_SIZE];

	len = sprintf(text, "%s", n ? "" : p->empty);
	/* a newer module may send more points */
	for (i = 0; i < n && i < IQCN_POINTS_MAX; i++, point++) {
		add_point(profile, point);
		value_text(prob, FORM_PROB, NULL, point->prob);
		len += snprintf(text + len, sizeof(text) - len, "%s%ub:%s",
				i ? "," : "", point->bytes, prob);
	}
	if (s->json) {
		json_add(s->object, p->key, profile);
		return;
	}
	json_object_put(profile);
	item(s, topics[p->topic], p->name, text);
}

static void show_filter(struct show *s, const struct iqcn_param *p,
			const struct nlattr *attr)
{
	struct tc_iqcn_cnp_filter filter;
	char text[VALUE_SIZE];

	if (!filter_get(&filter, attr))
		return;
	if (s->json) {
		json_add(s->object, p->key, filter_json(&filter));
		return;
	}
	filter_text(text, &filter);
	item(s, topics[p->topic], p->name, text);
}

static void show_param(struct show *s, const struct iqcn_param *p,
		       const struct nlattr *attr)
{
	enum form form = param_form(p->type);
	char text[VALUE_SIZE];
	bool number = false;
	uint64_t v;

	if (p->type == IQCN_PARAM_FILTER) {
		show_filter(s, p, attr);
		return;
	}
	if (form == FORM_NONE) {
		show_profile(s, p, attr);
		return;
	}
	if (!param_number(attr, &v))
		return;

	if (p->special && v == p->special_value)
		strcpy(text, p->special);
	else if (form == FORM_SET && !v)
		strcpy(text, p->empty ? p->empty : "off");
	else if (form == FORM_NAME || form == FORM_SET)
		value_text(text, form, p->names, v);
	else
		number = true;

	if (s->json) {
		/* a list of words is one string, as in tc's JSON */
		json_add(s->object, p->key,
			 number ? value_json(form, NULL, v) :
				  json_object_new_string(text));
		return;
	}
	if (number && form == FORM_NUMBER)
		param_text(text, p->type, v);
	else if (number)
		value_text(text, form, NULL, v);
	item(s, topics[p->topic], p->name, text);
}

static void show_params(struct show *s, const struct qdisc *q)
{
	struct json_object *qdisc = s->object;
	struct nlattr *tb[TCA_IQCN_MAX + 1];
	const struct iqcn_param *p;
	unsigned int topic;

	if (!qdisc_params(q, tb))
		return;
	if (s->json)
		s->object = json_object_new_object();
	for (topic = 0; topic < __IQCN_TOPIC_MAX; topic++)
		for (p = iqcn_param_table;
		     p < iqcn_param_table + ARRAY_SIZE(iqcn_param_table); p++)
			if (p->topic == topic && tb[p->attr])
				show_param(s, p, tb[p->attr]);
	if (s->json)
		json_add(qdisc, "options", s->object);
	s->object = qdisc;
}

static const struct port *find_port(const struct show *s, uint32_t ifindex)
{
	const struct port *p;

	for (p = s->ports; p < s->ports + s->n_ports; p++)
		if (p->ifindex == ifindex)
			return p;
	return NULL;
}

/* The source address of CNPs with "cnp-smac port" */
static void show_port(struct show *s, uint32_t ifindex)
{
	const struct port *p = find_port(s, ifindex);
	char text[VALUE_SIZE];

	/* an older module does not send the address */
	if (!p || !object_has(p, IQCN_A_PORT_CNP_SMAC))
		return;
	mac_text(text, &p->cnp_smac);
	if (s->json)
		json_add(s->object, "port_cnp_smac",
			 json_object_new_string(text));
	else
		item(s, "port", "cnp_smac", text);
}

static void show_counter(struct show *s, const struct counter *c,
			 const struct stats *st)
{
	uint64_t v = counter_get(c, st);
	enum form form = c->form ? c->form : FORM_NUMBER;
	char text[VALUE_SIZE];

	if (!counter_sent(c, st))
		return;
	if (s->json) {
		json_add(s->object, c->key, value_json(form, c->names, v));
		return;
	}
	value_text(text, form, c->names, v);
	item(s, c->group, c->key, text);
}

static void show_congested(const struct show *s, const struct stats *st)
{
	uint32_t bits = st->app.congested;
	char text[VALUE_SIZE];

	if (!STATS_HAS(st, congested))
		return;
	value_text(text, FORM_SET, detect_names, bits);
	if (s->json)
		json_add(s->object, "congested",
			 value_json(FORM_SET, detect_names, bits));
	else
		printf(bits ? " congested by %s" : " clear", text);
}

static void show_place(struct show *s, const struct qdisc *q)
{
	bool root = q->parent == TC_H_ROOT;
	char parent[VALUE_SIZE], handle[VALUE_SIZE];

	value_text(parent, FORM_PARENT, NULL, q->parent);
	snprintf(handle, sizeof(handle), "%x:", q->handle >> 16);
	if (!s->json) {
		printf("%s %s%s handle %s", dev_escaped(q->ifindex),
		       root ? "" : "parent ", parent, handle);
		return;
	}
	json_add(s->object, "kind", json_object_new_string("iqcn"));
	json_add(s->object, "dev", value_json(FORM_DEV, NULL, q->ifindex));
	json_add(s->object, "handle", json_object_new_string(handle));
	if (root)
		json_add(s->object, "root", json_object_new_boolean(true));
	else
		json_add(s->object, "parent", json_object_new_string(parent));
}

static void show_details(struct show *s, const struct qdisc *q)
{
	size_t i;

	s->group = NULL;
	show_place(s, q);
	show_congested(s, &q->stats);
	show_params(s, q);
	show_port(s, q->ifindex);
	for (i = 0; i < n_counters; i++)
		show_counter(s, &counters[i], &q->stats);
}

static bool show_qdisc(const struct qdisc *q, void *arg)
{
	struct show *s = arg;

	if (!qdisc_is_iqcn(q))
		return true;
	if (!s->json && s->another)
		putchar('\n');
	s->another = true;
	if (s->json) {
		s->object = json_object_new_object();
		show_details(s, q);
		json_array_element(s->object);
	} else if (s->details) {
		show_details(s, q);
		putchar('\n');
	} else {
		summary_print(stdout, q, find_port(s, q->ifindex),
			      &s->baselines);
	}
	return !out_closed();
}

/* If the family is missing, there are no ports.  Resolving the family would
 * load the module, so check first.
 */
static int read_ports(struct show *s)
{
	struct genl *g;
	int err;

	if (genl_family_version() < 0)
		return EXIT_SUCCESS;
	g = genl_open();
	if (!g)
		return EXIT_FAILURE;
	err = genl_ports(g, &s->ports, &s->n_ports);
	/* the list kept changing: show the qdiscs without ports */
	if (err == -EINTR)
		err = 0;
	if (err)
		genl_fail(g, err);
	genl_close(g);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int show_qdiscs(struct show *s, const char *dev)
{
	int ret;

	if (s->json)
		json_array_begin();
	ret = qdiscs_dump(s->ifindex, show_qdisc, s);
	if (s->json)
		json_array_end();
	/* in JSON, the empty array is the message */
	return ret || s->another || s->json ? ret : qdiscs_none(dev);
}

static const struct option options[] = {
	{ "details", no_argument, NULL, 'd' },
	{ "absolute", no_argument, NULL, 'a' },
	{}
};

int cmd_show(int argc, char **argv)
{
	struct show s = {};
	bool absolute = false;
	int c, ret;

	while ((c = next_option(argc, argv, options)) != -1) {
		switch (c) {
		case 'j':
			s.json = true;
			break;
		case 'd':
			s.details = true;
			break;
		case 'a':
			absolute = true;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc > optind + 1)
		return misuse("unexpected word", argv[optind + 1]);
	ret = parse_dev(argv[optind], &s.ifindex);
	if (!ret)
		ret = read_ports(&s);
	if (!ret && !absolute && !s.details && !s.json)
		baselines_load(&s.baselines);
	if (!ret)
		ret = show_qdiscs(&s, argv[optind]);
	baselines_free(&s.baselines);
	free(s.ports);
	return ret;
}
