// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn: shows what the congestion points of this network namespace do.
 *
 * Everything comes from one RTM_GETQDISC dump, so neither tc nor its plugin is
 * needed.  One row of params[] per parameter, one of counters[] per counter:
 * text and JSON follow from them.  JSON has the shape and the keys of
 * "tc -s -j qdisc show".
 *
 * What the kernel does not send, because it is older, is not shown; what this
 * tool does not know, because the kernel is newer, is skipped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include <linux/iqcn.h>

#define IQCN_VERSION "0.1"
#define SYS_MODULE "/sys/module/sch_iqcn"
#define EXIT_USAGE 2

#define SCREEN_COLUMNS 80
#define VALUE_SIZE 64
#define PROFILE_SIZE (IQCN_POINTS_MAX * VALUE_SIZE)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Each is 1000 of the one before */
static const char *const one[] = { "", NULL };
static const char *const percent[] = { "%", NULL };
static const char *const bytes[] = { "b", NULL };
static const char *const ns[] = { "ns", "us", "ms", "s", NULL };
static const char *const ms[] = { "ms", "s", NULL };
static const char *const bps[] = { "bit", "Kbit", "Mbit", "Gbit", "Tbit",
				   NULL };

static const char *const nonects[] = { "pass", "drop", NULL };
static const char *const notifies[] = { "timer", "wreb", "pi", NULL };
static const char *const measures[] = { "depth", "gradient", "delay", NULL };
static const char *const switches[] = { "off", "on", NULL };
static const char *const detects[] = { "queue", "depth", "run", "span", NULL };
static const char *const triggers[] = { "timer", "period", "gap", NULL };
static const char *const bases[] = { "ce", "cnp", "both", NULL };
static const char *const snoops[] = { "port", "netns", NULL };
static const char *const reasons[] = { "none", "queue", "depth", "run", "span",
				       "quiet", "reset", NULL };
static const char *const pairs[] = { "none", "sport", "cnp", "psn", "cm",
				     NULL };

enum param_type {
	NUMBER,		/* in a unit of list[] */
	PROB,		/* share of UINT32_MAX */
	NAME,		/* one of list[] */
	SET,		/* list[] are bits */
	PROFILE,	/* array of struct tc_iqcn_point */
};

static const struct param {
	const char *group;
	const char *word;	/* in text, as in tc's syntax */
	const char *key;	/* in JSON */
	int attr;
	enum param_type type;
	const char *const *list;
	const char *special;	/* a word for what is no number, if there is one */
	uint32_t special_value;
} params[] = {
#define PARAM(_group, _word, _key, _attr, _type, _list, ...) \
	{ _group, _word, _key, TCA_IQCN_##_attr, _type, _list, ##__VA_ARGS__ }
	PARAM("marking", "limit", "limit", LIMIT_BYTES, NUMBER, bytes),
	PARAM("marking", "kmin", "kmin", KMIN_BYTES, NUMBER, bytes),
	PARAM("marking", "kmax", "kmax", KMAX_BYTES, NUMBER, bytes),
	PARAM("marking", "pmax", "pmax", PMAX, PROB, NULL),
	PARAM("marking", "nonect", "nonect", NONECT, NAME, nonects),
	PARAM("congestion", "detect", "detect", DETECT, SET, detects),
	PARAM("congestion", "window", "window_ns", WINDOW_NS, NUMBER, ns),
	PARAM("congestion", "enter", "enter", ENTER_PCT, NUMBER, percent),
	PARAM("congestion", "exit", "exit", EXIT_PCT, NUMBER, percent),
	PARAM("congestion", "bandwidth", "bandwidth_bps", BANDWIDTH_BPS,
	      NUMBER, bps),
	PARAM("congestion", "run", "run", RUN_ENTER, NUMBER, one),
	PARAM("congestion", "run-exit", "run_exit", RUN_EXIT, NUMBER, one),
	PARAM("congestion", "span", "span", SPAN_PACKETS, NUMBER, one),
	PARAM("congestion", "span-enter", "span_enter", SPAN_ENTER, NUMBER,
	      one),
	PARAM("congestion", "span-exit", "span_exit", SPAN_EXIT, NUMBER, one),
	PARAM("sampling", "sample", "sample", SAMPLE, NUMBER, one),
	PARAM("sampling", "group", "group", SAMPLE_GROUP, NUMBER, one,
	      "off", IQCN_SAMPLE_GROUP_NONE),
	PARAM("sending", "notify", "notify", NOTIFY, SET, notifies),
	PARAM("sending", "t1", "t1_ns", T1_NS, NUMBER, ns),
	PARAM("sending", "trigger", "trigger", TRIGGER, NAME, triggers),
	PARAM("sending", "period", "period_ns", PERIOD_NS, NUMBER, ns),
	PARAM("sending", "base", "base", BASE, NAME, bases),
	PARAM("sending", "delay", "delay_ns", DELAY_NS, NUMBER, ns,
	      "auto", IQCN_DELAY_AUTO),
	PARAM("sending", "measure", "measure", MEASURE, SET, measures),
	PARAM("sending", "profile", "profile", PROFILE, PROFILE, NULL),
	PARAM("sending", "qref", "qref", QREF_BYTES, NUMBER, bytes),
	PARAM("sending", "update", "update_ns", UPDATE_NS, NUMBER, ns),
	PARAM("sending", "alpha", "alpha", ALPHA, NUMBER, one),
	PARAM("sending", "beta", "beta", BETA, NUMBER, one),
	PARAM("sending", "min-gap", "min_gap_ns", MIN_GAP_NS, NUMBER, ns),
	PARAM("sending", "telemetry", "telemetry", TELEMETRY, NAME, switches),
	PARAM("sending", "cnp-dscp", "cnp_dscp", CNP_DSCP, NUMBER, one),
	PARAM("sending", "cnp-pcp", "cnp_pcp", CNP_PCP, NUMBER, one),
	PARAM("sending", "cnp-ttl", "cnp_ttl", CNP_TTL, NUMBER, one),
	PARAM("sending", "cnp-rate", "cnp_rate_pps", CNP_RATE_PPS, NUMBER, one),
	PARAM("sending", "cnp-burst", "cnp_burst", CNP_BURST, NUMBER, one),
	PARAM("flow table", "pair", "pair", PAIR, NAME, pairs),
	PARAM("flow table", "flows", "flows_limit", FLOWS, NUMBER, one),
	PARAM("flow table", "age", "age_ms", AGE_MS, NUMBER, ms),
	PARAM("flow table", "snoop", "snoop", SNOOP, NAME, snoops),
};

struct stats {
	struct gnet_stats_basic basic;
	uint64_t packets;
	struct gnet_stats_queue queue;
	struct tc_iqcn_xstats app;
	size_t sent;		/* end of what the kernel has sent of @app */
};

static const struct counter {
	const char *group;
	const char *key;
	size_t offset;
	size_t size;
	const char *const *names;	/* it is one of these, not a number */
	bool prob;			/* it is a share of UINT32_MAX */
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
	APP("marks", ce_sampled), APP("marks", not_ect),
	APP("marks", not_ect_drop),
	APP("marks", unmarkable), APP("marks", drop_overlimit),
	APP("marks", depth_peak_bytes),
	APP("CNPs", cnp_seen), APP("CNPs", cnp_sent), APP("CNPs", cnp_delayed),
	APP("CNPs", cnp_cancelled), APP("CNPs", cnp_budget),
	APP("CNPs", cnp_unpaired), APP("CNPs", cnp_error),
	APP("CNPs", cnp_wreb), APP("CNPs", cnp_pi), APP("CNPs", cnp_hold),
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
	APP("state", state_since_ns), APP("state", state_reason, reasons),
	APP("state", rate_bps), APP("state", roce_bps),
	APP("state", bts_prob, .prob = true),
};

/* What "show" was asked for, and where it is in its output */
struct show {
	unsigned int ifindex;	/* 0: all devices */
	bool json;
	bool another;		/* a qdisc has been shown */
	const char *comma;	/* before the next key */
	const char *group;
	int column;
};

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "iqcn: %s: %s\n", what, why);
	return EXIT_FAILURE;
}

static int misuse(const char *problem, const char *word)
{
	fprintf(stderr, "iqcn: %s \"%s\", see \"iqcn help\"\n", problem, word);
	return EXIT_USAGE;
}

/* In text, a new group or a full screen begins a new line */
static void item(struct show *s, const char *group, const char *name,
		 const char *value, const char *quote)
{
	bool new_group = !s->group || strcmp(group, s->group);
	int len = 2 + strlen(name) + strlen(value);

	if (s->json) {
		printf("%s\"%s\":%s%s%s", s->comma, name, quote, value, quote);
		s->comma = ",";
		return;
	}
	if (new_group || s->column + len > SCREEN_COLUMNS)
		s->column = printf("\n  %-10s", new_group ? group : "") - 1;
	s->column += printf(" %s %s", name, value);
	s->group = group;
}

static void set_to_text(char *buf, const char *const *names, uint64_t bits,
			const char *quote)
{
	size_t i, len = 0;

	*buf = '\0';
	for (i = 0; names[i]; i++)
		if (bits & 1ULL << i)
			len += snprintf(buf + len, VALUE_SIZE - len, "%s%s%s%s",
					len ? "," : "", quote, names[i], quote);
}

static void number_to_text(char *buf, const char *const *unit, uint64_t v)
{
	while (v && v % 1000 == 0 && unit[1]) {
		v /= 1000;
		unit++;
	}
	snprintf(buf, VALUE_SIZE, "%" PRIu64 "%s", v, *unit);
}

static void prob_to_text(char *buf, uint32_t v)
{
	snprintf(buf, VALUE_SIZE, "%.9g", (double)v / UINT32_MAX);
}

static const char *name_of(const char *const *names, uint64_t v)
{
	while (*names && v--)
		names++;
	return *names ? *names : "?";
}

static void show_profile(struct show *s, const struct param *p,
			 const struct nlattr *attr)
{
	const struct tc_iqcn_point *point = nla_data(attr);
	size_t i, n = nla_len(attr) / sizeof(*point), len;
	char value[PROFILE_SIZE], prob[VALUE_SIZE];

	len = sprintf(value, "%s", s->json ? "[" : n ? "" : "mark");
	/* a newer kernel may have more */
	for (i = 0; i < n && i < IQCN_POINTS_MAX; i++, point++) {
		prob_to_text(prob, point->prob);
		len += snprintf(value + len, sizeof(value) - len,
				s->json ? "%s{\"bytes\":%u,\"prob\":%s}" :
					  "%s%ub:%s",
				i ? "," : "", point->bytes, prob);
	}
	if (s->json)
		strcpy(value + len, "]");
	item(s, p->group, s->json ? p->key : p->word, value, "");
}

static void show_param(struct show *s, const struct param *p,
		       const struct nlattr *attr)
{
	const char *const *list = p->list;
	const char *quote = "";
	char value[VALUE_SIZE];
	uint64_t v;

	if (p->type == PROFILE) {
		show_profile(s, p, attr);
		return;
	}
	if (nla_len(attr) >= (int)sizeof(uint64_t))
		v = nla_get_u64(attr);
	else if (nla_len(attr) >= (int)sizeof(uint32_t))
		v = nla_get_u32(attr);
	else
		return;

	if (p->special && v == p->special_value) {
		item(s, p->group, s->json ? p->key : p->word, p->special, "\"");
		return;
	}
	switch (p->type) {
	case NUMBER:
		number_to_text(value, s->json ? one : list, v);
		break;
	case PROB:
		prob_to_text(value, v);
		break;
	case NAME:
		snprintf(value, sizeof(value), "%s", name_of(list, v));
		quote = "\"";
		break;
	case SET:
		set_to_text(value, list, v, "");
		if (!*value)
			strcpy(value, v ? "?" : "off");
		quote = "\"";
		break;
	case PROFILE:
		break;
	}
	item(s, p->group, s->json ? p->key : p->word, value, quote);
}

static void show_params(struct show *s, struct nlattr *options)
{
	struct nlattr *tb[TCA_IQCN_MAX + 1];
	size_t i;

	if (!options || nla_parse_nested(tb, TCA_IQCN_MAX, options, NULL))
		return;
	if (s->json)
		printf(",\"options\":{");
	s->comma = "";
	for (i = 0; i < ARRAY_SIZE(params); i++)
		if (tb[params[i].attr])
			show_param(s, &params[i], tb[params[i].attr]);
	if (s->json)
		putchar('}');
	s->comma = ",";
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
	/* sent when 32 bits are not enough */
	if (!take(&st->packets, sizeof(st->packets), tb[TCA_STATS_PKT64]))
		st->packets = st->basic.packets;
}

static void show_counter(struct show *s, const struct counter *c,
			 const struct stats *st)
{
	const void *at = (const char *)st + c->offset;
	char value[VALUE_SIZE];
	uint64_t v;

	if (c->offset + c->size > st->sent)
		return;
	v = c->size == sizeof(v) ? *(const uint64_t *)at :
				   *(const uint32_t *)at;
	if (c->names) {
		item(s, c->group, c->key, name_of(c->names, v), "\"");
		return;
	}
	if (c->prob)
		prob_to_text(value, v);
	else
		number_to_text(value, one, v);
	item(s, c->group, c->key, value, "");
}

static void show_congested(const struct show *s, const struct stats *st)
{
	uint32_t bits = st->app.congested;
	char value[VALUE_SIZE];

	if (st->sent <= offsetof(struct stats, app.congested))
		return;
	set_to_text(value, detects, bits, s->json ? "\"" : "");
	if (s->json)
		printf(",\"congested\":[%s]", value);
	else if (bits)
		printf(" congested by %s", *value ? value : "?");
	else
		printf(" clear");
}

static void show_place(struct show *s, const struct tcmsg *tcm)
{
	bool root = tcm->tcm_parent == TC_H_ROOT;
	char name[IF_NAMESIZE], parent[VALUE_SIZE];
	const char *c;

	/* it may have gone since the kernel told us */
	if (!if_indextoname(tcm->tcm_ifindex, name))
		snprintf(name, sizeof(name), "if%d", tcm->tcm_ifindex);
	/* as tc writes it: what is 0 is left out */
	snprintf(parent, sizeof(parent), "%.0x:%.0x",
		 TC_H_MAJ(tcm->tcm_parent) >> 16, TC_H_MIN(tcm->tcm_parent));

	if (!s->json) {
		printf("%s %s%s handle %x:", name, root ? "root" : "parent ",
		       root ? "" : parent, tcm->tcm_handle >> 16);
		return;
	}
	/* the kernel lets a name have quotes in it */
	printf("{\"kind\":\"iqcn\",\"dev\":\"");
	for (c = name; *c; c++)
		printf(*c == '"' || *c == '\\' || (*c > 0 && *c < ' ') ?
		       "\\u%04x" : "%c", *c);
	printf("\",\"handle\":\"%x:\"", tcm->tcm_handle >> 16);
	s->comma = ",";
	item(s, "", root ? "root" : "parent", root ? "true" : parent,
	     root ? "" : "\"");
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
	    (s->ifindex && s->ifindex != (unsigned int)tcm->tcm_ifindex))
		return NL_SKIP;

	if (s->another)
		printf("%s\n", s->json ? "," : "");
	s->another = true;
	s->group = NULL;
	read_stats(&st, tb[TCA_STATS2]);
	show_place(s, tcm);
	show_congested(s, &st);
	show_params(s, tb[TCA_OPTIONS]);
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		show_counter(s, &counters[i], &st);
	putchar(s->json ? '}' : '\n');
	return NL_OK;
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
		putchar('[');
	err = nl_recvmsgs_default(sk);
	if (s->json)
		printf("]\n");
	return err;
}

static int cmd_show(int argc, char **argv)
{
	struct show s = {};
	const char *dev = NULL;
	struct nl_sock *sk;
	int i, err;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "-j"))
			s.json = true;
		else if (*argv[i] == '-')
			return misuse("unknown option", argv[i]);
		else if (dev)
			return misuse("unexpected word", argv[i]);
		else
			dev = argv[i];
	}
	if (dev) {
		s.ifindex = if_nametoindex(dev);
		if (!s.ifindex)
			return fail(dev, strerror(errno));
	}

	sk = nl_socket_alloc();
	if (!sk)
		return fail("netlink socket", strerror(ENOMEM));
	err = dump_qdiscs(sk, &s);
	nl_socket_free(sk);
	return err < 0 ? fail("list of qdiscs", nl_geterror(err)) : EXIT_SUCCESS;
}

static int cmd_version(int argc, char **argv)
{
	char src[VALUE_SIZE] = "loaded, no srcversion";
	FILE *f;

	if (argc)
		return misuse("unexpected word", *argv);
	f = fopen(SYS_MODULE "/srcversion", "r");
	if (f) {
		if (fgets(src, sizeof(src), f))
			src[strcspn(src, "\n")] = '\0';
		fclose(f);
	} else if (access(SYS_MODULE, F_OK)) {
		strcpy(src, "not loaded");
	}
	printf("iqcn %s\nsch_iqcn %s\n", IQCN_VERSION, src);
	return EXIT_SUCCESS;
}

static void usage(FILE *f)
{
	fputs("Usage: iqcn COMMAND\n"
	      "\n"
	      "  show [DEV] [-j]  iqcn qdiscs, of one device or of all: state,\n"
	      "                   parameters in force, counters\n"
	      "                   -j: in JSON, with the keys of tc -s -j\n"
	      "  version          of this tool, and of the module\n"
	      "  help             this\n"
	      "\n"
	      "See iqcn(8); tc-iqcn(8) has the meaning of what is shown.\n", f);
}

static int cmd_help(int argc, char **argv)
{
	usage(stdout);
	return EXIT_SUCCESS;
}

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "show", cmd_show },
	{ "version", cmd_version },
	{ "help", cmd_help },
	{ "--help", cmd_help },
	{ "-h", cmd_help },
};

static int run(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, argv[1]))
			return commands[i].run(argc - 2, argv + 2);
	return misuse(*argv[1] == '-' ? "unknown option" : "unknown command",
		      argv[1]);
}

int main(int argc, char **argv)
{
	int ret = run(argc, argv);

	if (fflush(stdout) || ferror(stdout))
		return fail("output", strerror(errno));
	return ret;
}
