// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn show: qdiscs, their parameters and counters.
 *
 * Qdiscs come from one RTM_GETQDISC dump, so neither tc nor its plugin is
 * needed.  Text and JSON follow from a row per parameter, in kmod/config_table.h,
 * and a row per counter, in counters[].  JSON has the shape and the keys of
 * "tc -s -j qdisc show", and port_cnp_smac, which only the family iqcn has.
 *
 * Values that an older module does not send are not shown, and those of a newer
 * module that this tool does not know are skipped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include <linux/iqcn.h>

#include "../kmod/config_table.h"
#include "genl.h"
#include "iqcn.h"
#include "names.h"
#include "out.h"

#define PROFILE_SIZE (IQCN_POINTS_MAX * VALUE_SIZE)
#define SCREEN_COLUMNS 80

/* Each is 1000 of the one before */
static const char *const one[] = { "", NULL };
static const char *const percent[] = { "%", NULL };
static const char *const bytes[] = { "b", NULL };
static const char *const ns[] = { "ns", "us", "ms", "s", NULL };
static const char *const ms[] = { "ms", "s", NULL };
static const char *const bps[] = { "bit", "Kbit", "Mbit", "Gbit", "Tbit",
				   NULL };

/* Titles of enum iqcn_param_topic */
static const char *const topics[__IQCN_TOPIC_MAX] = {
	[IQCN_TOPIC_MARKING] = "marking",
	[IQCN_TOPIC_CONGESTION] = "congestion",
	[IQCN_TOPIC_SAMPLING] = "sampling",
	[IQCN_TOPIC_SENDING] = "sending",
	[IQCN_TOPIC_FLOWS] = "flow table",
};

/* By enum iqcn_param_type */
static const struct {
	enum form form;			/* FORM_NONE: a profile */
	const char *const *units;	/* of a number */
} forms[] = {
	[IQCN_PARAM_NUMBER] = { FORM_NUMBER, one },
	[IQCN_PARAM_BYTES] = { FORM_NUMBER, bytes },
	[IQCN_PARAM_NS] = { FORM_NUMBER, ns },
	[IQCN_PARAM_TIMER_NS] = { FORM_NUMBER, ns },
	[IQCN_PARAM_MS] = { FORM_NUMBER, ms },
	[IQCN_PARAM_BPS] = { FORM_NUMBER, bps },
	[IQCN_PARAM_PROB] = { FORM_PROB },
	[IQCN_PARAM_PERCENT] = { FORM_NUMBER, percent },
	[IQCN_PARAM_NAME] = { FORM_NAME },
	[IQCN_PARAM_SET] = { FORM_SET },
	[IQCN_PARAM_PROFILE] = { FORM_NONE },
};

struct stats {
	struct gnet_stats_basic basic;
	uint64_t packets;
	struct gnet_stats_queue queue;
	struct tc_iqcn_xstats app;
	size_t sent;		/* end of the part of @app that the kernel sent */
};

static const struct counter {
	const char *group;
	const char *key;
	size_t offset;
	size_t size;
	enum form form;			/* FORM_NONE: a number */
	const char *const *names;
} counters[] = {
#define COUNTER(_group, _key, _field, ...)				\
	{ _group, _key, offsetof(struct stats, _field),			\
	  sizeof(((struct stats *)NULL)->_field), ##__VA_ARGS__ }
#define APP(_group, _name, ...) \
	COUNTER(_group, #_name, app._name, ##__VA_ARGS__)
	COUNTER("packets", "bytes", basic.bytes),
	COUNTER("packets", "packets", packets),
	COUNTER("packets", "drops", queue.drops),
	COUNTER("packets", "overlimits", queue.overlimits),
	COUNTER("packets", "requeues", queue.requeues),
	COUNTER("packets", "backlog", queue.backlog),
	COUNTER("packets", "qlen", queue.qlen),
	APP("marks", ecn_mark), APP("marks", bts_mark), APP("marks", ce_in),
	APP("marks", ce_sent),
	APP("marks", ce_sampled), APP("marks", sample_lost),
	APP("marks", not_ect), APP("marks", not_ect_drop),
	APP("marks", unmarkable), APP("marks", drop_overlimit),
	APP("marks", depth_peak_bytes),
	APP("CNPs", cnp_seen), APP("CNPs", cnp_sent), APP("CNPs", cnp_delayed),
	APP("CNPs", cnp_cancelled), APP("CNPs", cnp_budget),
	APP("CNPs", cnp_unpaired), APP("CNPs", cnp_error),
	APP("CNPs", cnp_wreb), APP("CNPs", cnp_pi), APP("CNPs", cnp_poll),
	APP("CNPs", cnp_drop), APP("CNPs", cnp_gap),
	APP("flows", flows), APP("flows", flows_paired),
	APP("flows", flows_congested), APP("flows", flows_active),
	APP("flows", flow_new),
	APP("flows", flow_aged), APP("flows", flow_evicted),
	APP("flows", flow_full),
	APP("evidence", paired), APP("evidence", contradicted),
	APP("evidence", malformed), APP("evidence", port_cnp_unmatched),
	APP("evidence", port_malformed),
	APP("state", state_changes), APP("state", flow_state_changes),
	APP("state", state_since_ns),
	APP("state", state_reason, FORM_NAME, reason_names),
	APP("state", ce_rate_bps), APP("state", roce_bps),
	APP("state", bts_prob, FORM_PROB),
};

/* Arguments of "show", and the state of its output */
struct show {
	uint32_t ifindex;	/* 0: all devices */
	struct port *ports;
	size_t n_ports;
	bool json;
	bool another;		/* a qdisc was printed */
	struct json_object *object;	/* the one being filled */
	const char *group;
	int column;
};

/* A new group or a full line starts a new line */
static void item(struct show *s, const char *group, const char *name,
		 const char *value)
{
	bool new_group = !s->group || strcmp(group, s->group);
	int len = 2 + strlen(name) + strlen(value);

	if (new_group || s->column + len > SCREEN_COLUMNS)
		s->column = printf("\n  %-10s", new_group ? group : "") - 1;
	s->column += printf(" %s %s", name, value);
	s->group = group;
}

static void number_text(char *buf, const char *const *unit, uint64_t v)
{
	while (v && v % 1000 == 0 && unit[1]) {
		v /= 1000;
		unit++;
	}
	snprintf(buf, VALUE_SIZE, "%" PRIu64 "%s", v, *unit);
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

static void show_param(struct show *s, const struct iqcn_param *p,
		       const struct nlattr *attr)
{
	enum form form = forms[p->type].form;
	char text[VALUE_SIZE];
	bool number = false;
	uint64_t v;

	if (form == FORM_NONE) {
		show_profile(s, p, attr);
		return;
	}
	if (nla_len(attr) >= (int)sizeof(uint64_t))
		v = nla_get_u64(attr);
	else if (nla_len(attr) >= (int)sizeof(uint32_t))
		v = nla_get_u32(attr);
	else
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
		/* a set is one string, as in tc's JSON */
		json_add(s->object, p->key,
			 number ? value_json(form, NULL, v) :
				  json_object_new_string(text));
		return;
	}
	if (number && form == FORM_NUMBER)
		number_text(text, forms[p->type].units, v);
	else if (number)
		value_text(text, form, NULL, v);
	item(s, topics[p->topic], p->name, text);
}

static void show_params(struct show *s, struct nlattr *options)
{
	struct json_object *qdisc = s->object;
	struct nlattr *tb[TCA_IQCN_MAX + 1];
	const struct iqcn_param *p;
	unsigned int topic;

	if (!options || nla_parse_nested(tb, TCA_IQCN_MAX, options, NULL))
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

/* The source address of CNPs with "cnp-smac port" */
static void show_port(struct show *s, uint32_t ifindex)
{
	const struct port *p = s->ports;
	char text[VALUE_SIZE];

	while (p < s->ports + s->n_ports && p->ifindex != ifindex)
		p++;
	/* an older module does not send the address */
	if (p == s->ports + s->n_ports || !object_has(p, IQCN_A_PORT_CNP_SMAC))
		return;
	mac_text(text, &p->cnp_smac);
	if (s->json)
		json_add(s->object, "port_cnp_smac",
			 json_object_new_string(text));
	else
		item(s, "port", "cnp_smac", text);
}

static size_t take(void *dst, size_t size, const struct nlattr *attr)
{
	return attr ? nla_memcpy(dst, attr, size) : 0;
}

static void read_stats(struct stats *st, struct nlattr *stats2)
{
	struct nlattr *tb[TCA_STATS_MAX + 1];

	memset(st, 0, sizeof(*st));
	if (!stats2 || nla_parse_nested(tb, TCA_STATS_MAX, stats2, NULL))
		return;
	take(&st->basic, sizeof(st->basic), tb[TCA_STATS_BASIC]);
	take(&st->queue, sizeof(st->queue), tb[TCA_STATS_QUEUE]);
	st->sent = offsetof(struct stats, app) +
		   take(&st->app, sizeof(st->app), tb[TCA_STATS_APP]);
	/* present if 32 bits are too few */
	if (!take(&st->packets, sizeof(st->packets), tb[TCA_STATS_PKT64]))
		st->packets = st->basic.packets;
}

static void show_counter(struct show *s, const struct counter *c,
			 const struct stats *st)
{
	const void *at = (const char *)st + c->offset;
	enum form form = c->form ? c->form : FORM_NUMBER;
	char text[VALUE_SIZE];
	uint64_t v;

	if (c->offset + c->size > st->sent)
		return;
	v = c->size == sizeof(v) ? *(const uint64_t *)at :
				   *(const uint32_t *)at;
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

	if (st->sent <= offsetof(struct stats, app.congested))
		return;
	value_text(text, FORM_SET, detect_names, bits);
	if (s->json)
		json_add(s->object, "congested",
			 value_json(FORM_SET, detect_names, bits));
	else
		printf(bits ? " congested by %s" : " clear", text);
}

static void show_place(struct show *s, const struct tcmsg *tcm)
{
	bool root = tcm->tcm_parent == TC_H_ROOT;
	char parent[VALUE_SIZE], handle[VALUE_SIZE];

	value_text(parent, FORM_PARENT, NULL, tcm->tcm_parent);
	snprintf(handle, sizeof(handle), "%x:", tcm->tcm_handle >> 16);
	if (!s->json) {
		printf("%s %s%s handle %s", dev_escaped(tcm->tcm_ifindex),
		       root ? "" : "parent ", parent, handle);
		return;
	}
	json_add(s->object, "kind", json_object_new_string("iqcn"));
	json_add(s->object, "dev", value_json(FORM_DEV, NULL,
					      tcm->tcm_ifindex));
	json_add(s->object, "handle", json_object_new_string(handle));
	if (root)
		json_add(s->object, "root", json_object_new_boolean(true));
	else
		json_add(s->object, "parent", json_object_new_string(parent));
}

static int show_qdisc(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *tb[TCA_MAX + 1];
	struct show *s = arg;
	const struct tcmsg *tcm;
	struct stats st;
	size_t i;

	if (nlh->nlmsg_type != RTM_NEWQDISC ||
	    nlmsg_parse(nlh, sizeof(*tcm), tb, TCA_MAX, NULL))
		return NL_SKIP;
	tcm = nlmsg_data(nlh);
	if (!tb[TCA_KIND] || nla_strcmp(tb[TCA_KIND], "iqcn") ||
	    (s->ifindex && s->ifindex != (uint32_t)tcm->tcm_ifindex))
		return NL_SKIP;

	if (s->json)
		s->object = json_object_new_object();
	else if (s->another)
		putchar('\n');
	s->another = true;
	s->group = NULL;
	read_stats(&st, tb[TCA_STATS2]);
	show_place(s, tcm);
	show_congested(s, &st);
	show_params(s, tb[TCA_OPTIONS]);
	show_port(s, tcm->tcm_ifindex);
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		show_counter(s, &counters[i], &st);
	if (s->json)
		json_array_element(s->object);
	else
		putchar('\n');
	return out_closed() ? NL_STOP : NL_OK;
}

static int dump_qdiscs(struct nl_sock *sk, struct show *s)
{
	struct tcmsg tcm = { .tcm_family = AF_UNSPEC };
	int err;

	err = nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, show_qdisc, s);
	if (err)
		return err;
	err = nl_connect(sk, NETLINK_ROUTE);
	if (err)
		return err;
	err = nl_send_simple(sk, RTM_GETQDISC, NLM_F_DUMP, &tcm, sizeof(tcm));
	if (err < 0)
		return err;
	if (s->json)
		json_array_begin();
	err = nl_recvmsgs_default(sk);
	if (s->json)
		json_array_end();
	return err;
}

/* Without the family there are no ports, and opening it would load the module */
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

static int show_qdiscs(struct show *s)
{
	struct nl_sock *sk = nl_socket_alloc();
	int err;

	if (!sk)
		return fail("netlink socket", strerror(ENOMEM));
	err = dump_qdiscs(sk, s);
	nl_socket_free(sk);
	return err < 0 ? fail("list of qdiscs", nl_geterror(err)) : EXIT_SUCCESS;
}

int cmd_show(int argc, char **argv)
{
	struct show s = {};
	int c, err;

	while ((c = next_option(argc, argv, NULL)) != -1) {
		if (c != 'j')
			return EXIT_USAGE;
		s.json = true;
	}
	if (argc > optind + 1)
		return misuse("unexpected word", argv[optind + 1]);
	err = parse_dev(argv[optind], &s.ifindex);
	if (!err)
		err = read_ports(&s);
	if (!err)
		err = show_qdiscs(&s);
	free(s.ports);
	return err;
}
