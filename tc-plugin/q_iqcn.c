// SPDX-License-Identifier: GPL-2.0
/*
 * q_iqcn.so: tc's words for the qdisc iqcn.
 *
 * One row of iqcn_words per parameter: its word, attribute, how it is written
 * and read, and what it means; parsing, printing and help follow from it.
 * The kernel checks values; here they only have to be words that make sense.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/iqcn.h>

#include "tc_abi.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define IQCN_OPT_MAX 1024
#define HELP_COLUMNS 80

enum word_type {
	WORD_U32,
	WORD_SIZE,	/* bytes */
	WORD_TIME_NS,	/* u32 ns */
	WORD_TIME_MS,	/* u32 ms */
	WORD_RATE,	/* u64 bit/s */
	WORD_PROB,	/* share of UINT32_MAX */
	WORD_PERCENT,
	WORD_NAME,	/* one of names[] */
	WORD_SET,	/* names[] are bits, separated by commas */
	WORD_PROFILE,	/* array of struct tc_iqcn_point */
};

struct word {
	const char *word;
	const char *key;	/* in JSON */
	int attr;
	enum word_type type;
	const char *value;	/* in help */
	const char *help;
	const char *const *names;
	const char *empty;	/* name of the empty set or array, if there is one */
	const char *special;	/* a word for what is no number, if there is one */
	uint32_t special_value;	/* its value; a number may not be that */
};

static const char *const mark_on_names[] = { "enqueue", "dequeue", NULL };
static const char *const nonect_names[] = { "pass", "drop", NULL };
static const char *const notify_names[] = { "timer", "wreb", "pi", NULL };
static const char *const detect_names[] = { "queue", "depth", "run", "span",
					    NULL };
static const char *const trigger_names[] = { "timer", "period", "gap", NULL };
static const char *const base_names[] = { "ce", "cnp", "both", NULL };
static const char *const ce_in_names[] = { "notify", "silent", NULL };
static const char *const measure_names[] = { "depth", "gradient", "delay",
					     NULL };
static const char *const switch_names[] = { "off", "on", NULL };
static const char *const snoop_names[] = { "port", "netns", NULL };
static const char *const smac_names[] = { "port", "receiver", NULL };
static const char *const reason_names[] = { "none", "queue", "depth", "run",
					    "span", "quiet", "reset", NULL };
/* no word for IQCN_PAIR_NONE: there has to be a grade */
static const char *const pair_names[] = { "", "sport", "cnp", "psn", "cm",
					  NULL };

static const struct word iqcn_words[] = {
	{ "limit", "limit", TCA_IQCN_LIMIT_BYTES, WORD_SIZE, "BYTES",
	  "most that the queue holds" },
	{ "kmin", "kmin", TCA_IQCN_KMIN_BYTES, WORD_SIZE, "BYTES",
	  "depth up to which nothing is marked" },
	{ "kmax", "kmax", TCA_IQCN_KMAX_BYTES, WORD_SIZE, "BYTES",
	  "depth above which everything is marked" },
	{ "pmax", "pmax", TCA_IQCN_PMAX, WORD_PROB, "P",
	  "marking probability at kmax, 0 to 1" },
	{ "mark-on", "mark_on", TCA_IQCN_MARK_ON, WORD_NAME, "enqueue|dequeue",
	  "when packets are marked: as they arrive, as they leave",
	  .names = mark_on_names },
	{ "nonect", "nonect", TCA_IQCN_NONECT, WORD_NAME, "pass|drop",
	  "what to do with packets that cannot be marked",
	  .names = nonect_names },
	{ "notify", "notify", TCA_IQCN_NOTIFY, WORD_SET, "off|timer,wreb,pi",
	  "how senders are told", .names = notify_names, .empty = "off" },
	{ "detect", "detect", TCA_IQCN_DETECT, WORD_SET,
	  "queue,depth,run,span",
	  "what shows congestion: CE rate, depth; PSNs of a flow",
	  .names = detect_names },
	{ "t1", "t1_ns", TCA_IQCN_T1_NS, WORD_TIME_NS, "TIME",
	  "time without a CNP after which one is due" },
	{ "trigger", "trigger", TCA_IQCN_TRIGGER, WORD_NAME,
	  "timer|period|gap",
	  "what finds a flow due: timer, scan, next CE packet",
	  .names = trigger_names },
	{ "period", "period_ns", TCA_IQCN_PERIOD_NS, WORD_TIME_NS, "TIME",
	  "between two scans of \"trigger period\"" },
	{ "base", "base", TCA_IQCN_BASE, WORD_NAME, "ce|cnp|both",
	  "what t1 counts from: last CE packet, last CNP, the later",
	  .names = base_names },
	{ "delay", "delay_ns", TCA_IQCN_DELAY_NS, WORD_TIME_NS, "TIME|auto",
	  "of a CNP that is due; auto: as long as the flow's take",
	  .special = "auto", .special_value = IQCN_DELAY_AUTO },
	{ "ce-in", "ce_in_action", TCA_IQCN_CE_IN, WORD_NAME, "notify|silent",
	  "whether packets that come with CE cause CNPs of wreb and pi",
	  .names = ce_in_names },
	{ "measure", "measure", TCA_IQCN_MEASURE, WORD_SET,
	  "depth,gradient,delay",
	  "what \"notify wreb\" goes by; of several the largest",
	  .names = measure_names },
	{ "profile", "profile", TCA_IQCN_PROFILE, WORD_PROFILE,
	  "BYTES:P,BYTES:P...|mark",
	  "its probability by that; mark: that of marking",
	  .empty = "mark" },
	{ "qref", "qref", TCA_IQCN_QREF_BYTES, WORD_SIZE, "BYTES",
	  "depth that \"notify pi\" aims at" },
	{ "update", "update_ns", TCA_IQCN_UPDATE_NS, WORD_TIME_NS, "TIME",
	  "between two steps of its controller" },
	{ "alpha", "alpha", TCA_IQCN_ALPHA, WORD_U32, "NUMBER",
	  "integral gain: CNPs per round and step, for 1 GB over qref" },
	{ "beta", "beta", TCA_IQCN_BETA, WORD_U32, "NUMBER",
	  "proportional gain: likewise, for 1 GB of growth" },
	{ "min-gap", "min_gap_ns", TCA_IQCN_MIN_GAP_NS, WORD_TIME_NS, "TIME",
	  "between two CNPs of ours to a flow" },
	{ "telemetry", "telemetry", TCA_IQCN_TELEMETRY, WORD_NAME, "on|off",
	  "whether CNPs carry the state of the queue",
	  .names = switch_names },
	{ "window", "window_ns", TCA_IQCN_WINDOW_NS, WORD_TIME_NS, "TIME",
	  "over which the CE rate is taken" },
	{ "enter", "enter", TCA_IQCN_ENTER_PCT, WORD_PERCENT, "PERCENT",
	  "CE rate from which the queue is congested" },
	{ "exit", "exit", TCA_IQCN_EXIT_PCT, WORD_PERCENT, "PERCENT",
	  "CE rate down to which it stays so" },
	{ "bandwidth", "bandwidth_bps", TCA_IQCN_BANDWIDTH_BPS, WORD_RATE,
	  "RATE", "of the queue's RoCE traffic, 0: measured" },
	{ "run", "run", TCA_IQCN_RUN_ENTER, WORD_U32, "NUMBER",
	  "consecutive CE PSNs from which a flow is congested" },
	{ "run-exit", "run_exit", TCA_IQCN_RUN_EXIT, WORD_U32, "NUMBER",
	  "it stays so until a run of no more has ended" },
	{ "span", "span", TCA_IQCN_SPAN_PACKETS, WORD_U32, "PACKETS",
	  "of a flow, over which its CE PSNs are compared" },
	{ "span-enter", "span_enter", TCA_IQCN_SPAN_ENTER, WORD_U32, "NUMBER",
	  "it is congested if all differences are below" },
	{ "span-exit", "span_exit", TCA_IQCN_SPAN_EXIT, WORD_U32, "NUMBER",
	  "it stays so until a difference is not below" },
	{ "sample", "sample", TCA_IQCN_SAMPLE, WORD_U32, "NUMBER",
	  "one CE packet in so many is looked at" },
	{ "group", "group", TCA_IQCN_SAMPLE_GROUP, WORD_U32, "NUMBER|off",
	  "psample group that those packets are copied to",
	  .special = "off", .special_value = IQCN_SAMPLE_GROUP_NONE },
	{ "pair", "pair", TCA_IQCN_PAIR, WORD_NAME, "cm|psn|cnp|sport",
	  "weakest evidence for a sender's QP to act on",
	  .names = pair_names },
	{ "flows", "flows_limit", TCA_IQCN_FLOWS, WORD_U32, "NUMBER",
	  "most that are kept" },
	{ "age", "age_ms", TCA_IQCN_AGE_MS, WORD_TIME_MS, "TIME",
	  "without CE packets after which a flow is forgotten" },
	{ "snoop", "snoop", TCA_IQCN_SNOOP, WORD_NAME, "port|netns",
	  "where the receivers' CNPs are looked for", .names = snoop_names },
	{ "cnp-dscp", "cnp_dscp", TCA_IQCN_CNP_DSCP, WORD_U32, "NUMBER",
	  "of the CNPs sent" },
	{ "cnp-pcp", "cnp_pcp", TCA_IQCN_CNP_PCP, WORD_U32, "NUMBER",
	  "of the CNPs sent, if tagged" },
	{ "cnp-ttl", "cnp_ttl", TCA_IQCN_CNP_TTL, WORD_U32, "NUMBER",
	  "of the CNPs sent" },
	{ "cnp-smac", "cnp_smac", TCA_IQCN_CNP_SMAC, WORD_NAME,
	  "port|receiver",
	  "Ethernet source of CNPs: the port's own, or the receiver's",
	  .names = smac_names },
	{ "cnp-rate", "cnp_rate_pps", TCA_IQCN_CNP_RATE_PPS, WORD_U32,
	  "NUMBER", "CNPs per second the device may send" },
	{ "cnp-burst", "cnp_burst", TCA_IQCN_CNP_BURST, WORD_U32, "NUMBER",
	  "CNPs at once the device may send" },
};

static void explain(FILE *f)
{
	int column = HELP_COLUMNS, len;
	char item[HELP_COLUMNS];
	size_t i;

	fprintf(f, "Usage: ... iqcn");
	for (i = 0; i < ARRAY_SIZE(iqcn_words); i++) {
		len = snprintf(item, sizeof(item), " [ %s %s ]",
			       iqcn_words[i].word, iqcn_words[i].value);
		if (column + len > HELP_COLUMNS)
			column = fprintf(f, "\n       ") - 1;
		column += fprintf(f, "%s", item);
	}
	fprintf(f, "\n\n");
	for (i = 0; i < ARRAY_SIZE(iqcn_words); i++)
		fprintf(f, "\t%-10s %s\n", iqcn_words[i].word,
			iqcn_words[i].help);
	fprintf(f, "\nUnless given limit, kmin, kmax, qref, alpha and beta follow bandwidth, or\n"
		"the link speed; kmin and kmax are four times as large with \"notify pi\".\n"
		"cnp-rate follows the link speed or bandwidth, whichever is more; period\n"
		"and min-gap follow t1.  cnp-rate and cnp-burst hold for all queues of a\n"
		"device, snoop for all of a network namespace.\n");
}

static int bad(const struct word *w, const char *arg)
{
	fprintf(stderr, "iqcn: \"%s\" is no %s for \"%s\"\n", arg, w->value,
		w->word);
	return -1;
}

static int get_prob(uint32_t *val, const char *arg)
{
	char *end;
	double p = strtod(arg, &end);

	if (end == arg || (*end && strcmp(end, "%")))
		return -1;
	if (*end)
		p /= 100;
	if (!(p >= 0 && p <= 1))
		return -1;
	*val = p * UINT32_MAX + 0.5;
	return 0;
}

static int get_percent(uint32_t *val, const char *arg)
{
	char *end;
	unsigned long v = strtoul(arg, &end, 10);

	if (end == arg || *arg == '-' || (*end && strcmp(end, "%")) ||
	    v > UINT32_MAX)
		return -1;
	*val = v;
	return 0;
}

static int get_ns(uint32_t *val, const char *arg, int64_t unit_ns)
{
	__s64 ns;

	if (*arg == '-' || get_time64(&ns, arg) || ns < 0 ||
	    ns / unit_ns > UINT32_MAX)
		return -1;
	/* what is given is never rounded down to nothing */
	*val = (ns + unit_ns - 1) / unit_ns;
	return 0;
}

static int get_name(uint32_t *val, const struct word *w, const char *arg,
		    size_t len)
{
	uint32_t i;

	for (i = 0; w->names[i]; i++)
		if (len && strlen(w->names[i]) == len &&
		    !memcmp(w->names[i], arg, len)) {
			*val = i;
			return 0;
		}
	return -1;
}

static int get_set(uint32_t *val, const struct word *w, const char *arg)
{
	uint32_t bit;

	*val = 0;
	if (w->empty && !strcmp(arg, w->empty))
		return 0;
	for (;;) {
		size_t len = strcspn(arg, ",");

		if (get_name(&bit, w, arg, len))
			return -1;
		*val |= 1u << bit;
		if (!arg[len])
			return 0;
		arg += len + 1;
	}
}

/* The first @len characters of @arg: BYTES:P */
static int get_point(struct tc_iqcn_point *point, const char *arg, size_t len)
{
	char bytes[SPRINT_BSIZE], *prob;

	if (len >= sizeof(bytes))
		return -1;
	memcpy(bytes, arg, len);
	bytes[len] = '\0';
	prob = strchr(bytes, ':');
	if (!prob || *bytes == '-')
		return -1;
	*prob++ = '\0';
	if (get_size(&point->bytes, bytes))
		return -1;
	return get_prob(&point->prob, prob);
}

static int get_profile(const struct word *w, const char *arg,
		       struct nlmsghdr *n)
{
	struct tc_iqcn_point points[IQCN_POINTS_MAX];
	const char *at = arg;
	size_t i, len;

	if (!strcmp(arg, w->empty))
		return addattr_l(n, IQCN_OPT_MAX, w->attr, NULL, 0);
	for (i = 0; i < IQCN_POINTS_MAX; at += len + 1) {
		len = strcspn(at, ",");
		if (get_point(&points[i++], at, len))
			return bad(w, arg);
		if (!at[len])
			return addattr_l(n, IQCN_OPT_MAX, w->attr, points,
					 i * sizeof(*points));
	}
	fprintf(stderr, "iqcn: \"%s\" takes no more than %u points\n", w->word,
		IQCN_POINTS_MAX);
	return -1;
}

static int get_word(const struct word *w, const char *arg, struct nlmsghdr *n)
{
	uint32_t v = 0;
	__u64 rate;
	int err = -1;

	if (w->special && !strcmp(arg, w->special))
		return addattr32(n, IQCN_OPT_MAX, w->attr, w->special_value);
	switch (w->type) {
	case WORD_U32:
		err = *arg == '-' ? -1 : get_u32(&v, arg, 0);
		break;
	case WORD_SIZE:
		err = *arg == '-' ? -1 : get_size(&v, arg);
		break;
	case WORD_TIME_NS:
		err = get_ns(&v, arg, 1);
		break;
	case WORD_TIME_MS:
		err = get_ns(&v, arg, 1000000);
		break;
	case WORD_RATE:
		if (*arg == '-' || get_rate64(&rate, arg))
			return bad(w, arg);
		return addattr64(n, IQCN_OPT_MAX, w->attr, rate * 8);
	case WORD_PROB:
		err = get_prob(&v, arg);
		break;
	case WORD_PERCENT:
		err = get_percent(&v, arg);
		break;
	case WORD_NAME:
		err = get_name(&v, w, arg, strlen(arg));
		break;
	case WORD_SET:
		err = get_set(&v, w, arg);
		break;
	case WORD_PROFILE:
		return get_profile(w, arg, n);
	}
	if (err || (w->special && v == w->special_value))
		return bad(w, arg);
	return addattr32(n, IQCN_OPT_MAX, w->attr, v);
}

static const struct word *find_word(const char *arg)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(iqcn_words); i++)
		if (!strcmp(iqcn_words[i].word, arg))
			return &iqcn_words[i];
	return NULL;
}

static int iqcn_parse_opt(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	bool seen[TCA_IQCN_MAX + 1] = {};
	const struct word *w;
	struct rtattr *nest;

	nest = addattr_nest(n, IQCN_OPT_MAX, TCA_OPTIONS | NLA_F_NESTED);
	for (; argc > 0; argc -= 2, argv += 2) {
		if (!strcmp(*argv, "help")) {
			explain(stderr);
			return -1;
		}
		w = find_word(*argv);
		if (!w) {
			fprintf(stderr,
				"iqcn: unknown parameter \"%s\", see \"tc qdisc add iqcn help\"\n",
				*argv);
			return -1;
		}
		if (argc < 2) {
			fprintf(stderr, "iqcn: \"%s\" wants %s\n", w->word,
				w->value);
			return -1;
		}
		if (seen[w->attr]) {
			fprintf(stderr, "iqcn: \"%s\" is given twice\n",
				w->word);
			return -1;
		}
		seen[w->attr] = true;
		if (get_word(w, argv[1], n))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* "word value " in text, "key": value in JSON */
static void print_uint(const struct word *w, uint32_t v, const char *text)
{
	if (is_json_context()) {
		print_color_uint(PRINT_JSON, COLOR_NONE, w->key, NULL, v);
		return;
	}
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", w->word);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

static void print_text(const struct word *w, const char *text)
{
	if (is_json_context()) {
		print_color_string(PRINT_JSON, COLOR_NONE, w->key, NULL, text);
		return;
	}
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", w->word);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

/* tc's way of writing, if it says the same when it is read, else all of it */
static const char *size_text(uint32_t v, char *buf)
{
	unsigned int back;

	sprint_size(v, buf);
	if (get_size(&back, buf) || back != v)
		snprintf(buf, SPRINT_BSIZE, "%ub", v);
	return buf;
}

static const char *time_text(uint32_t v, int64_t unit_ns, char *buf)
{
	uint32_t back;

	sprint_time64(v * unit_ns, buf);
	if (get_ns(&back, buf, unit_ns) || back != v)
		snprintf(buf, SPRINT_BSIZE, "%u%s", v, unit_ns == 1 ? "ns" : "ms");
	return buf;
}

static double prob_of(uint32_t v)
{
	return (double)v / UINT32_MAX;
}

/* As few digits as say the same when they are read */
static const char *prob_text(uint32_t v, char *buf)
{
	uint32_t back;
	int digits = 1;

	do {
		snprintf(buf, SPRINT_BSIZE, "%.*g", digits++, prob_of(v));
	} while (digits <= 10 && (get_prob(&back, buf) || back != v));
	return buf;
}

static void print_prob(const struct word *w, uint32_t v)
{
	char buf[SPRINT_BSIZE];

	if (is_json_context())
		print_color_float(PRINT_JSON, COLOR_NONE, w->key, NULL,
				  prob_of(v));
	else
		print_text(w, prob_text(v, buf));
}

static void print_profile(const struct word *w, const struct rtattr *attr)
{
	const struct tc_iqcn_point *point = RTA_DATA(attr);
	size_t i, points = RTA_PAYLOAD(attr) / sizeof(*point);
	char buf[SPRINT_BSIZE];

	if (!is_json_context()) {
		if (!points) {
			print_text(w, w->empty);
			return;
		}
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", w->word);
		for (i = 0; i < points; i++, point++) {
			print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s:",
					   size_text(point->bytes, buf));
			print_color_string(PRINT_FP, COLOR_NONE, NULL,
					   i + 1 < points ? "%s," : "%s ",
					   prob_text(point->prob, buf));
		}
		return;
	}
	open_json_array(PRINT_JSON, w->key);
	for (i = 0; i < points; i++, point++) {
		open_json_object(NULL);
		print_color_uint(PRINT_JSON, COLOR_NONE, "bytes", NULL,
				 point->bytes);
		print_color_float(PRINT_JSON, COLOR_NONE, "prob", NULL,
				  prob_of(point->prob));
		close_json_object();
	}
	close_json_array(PRINT_JSON, NULL);
}

static void print_rate(const struct word *w, uint64_t bps)
{
	static const char *const unit[] = { "", "K", "M", "G", "T" };
	char buf[SPRINT_BSIZE];
	size_t i = 0;

	if (is_json_context()) {
		print_color_u64(PRINT_JSON, COLOR_NONE, w->key, NULL, bps);
		return;
	}
	while (bps && bps % 1000 == 0 && i + 1 < ARRAY_SIZE(unit)) {
		bps /= 1000;
		i++;
	}
	snprintf(buf, sizeof(buf), "%llu%sbit", (unsigned long long)bps,
		 unit[i]);
	print_text(w, buf);
}

static void print_set(const struct word *w, uint32_t v)
{
	char buf[SPRINT_BSIZE] = "";
	size_t i;

	for (i = 0; w->names[i]; i++) {
		if (!(v & 1u << i))
			continue;
		if (*buf)
			strcat(buf, ",");
		strcat(buf, w->names[i]);
	}
	print_text(w, *buf ? buf : w->empty ?: "");
}

static const char *name_of(const char *const *names, uint32_t v)
{
	while (*names && v--)
		names++;
	/* a kernel newer than this plugin */
	return *names ?: "?";
}

static void print_word(const struct word *w, const struct rtattr *attr)
{
	char buf[SPRINT_BSIZE];
	uint64_t v64 = 0;
	uint32_t v = 0;

	if (w->type == WORD_RATE) {
		if (RTA_PAYLOAD(attr) < sizeof(v64))
			return;
		memcpy(&v64, RTA_DATA(attr), sizeof(v64));
		print_rate(w, v64);
		return;
	}
	if (w->type == WORD_PROFILE) {
		print_profile(w, attr);
		return;
	}
	if (RTA_PAYLOAD(attr) < sizeof(v))
		return;
	memcpy(&v, RTA_DATA(attr), sizeof(v));
	if (w->special && v == w->special_value) {
		print_text(w, w->special);
		return;
	}
	switch (w->type) {
	case WORD_SIZE:
		print_uint(w, v, size_text(v, buf));
		break;
	case WORD_TIME_NS:
		print_uint(w, v, time_text(v, 1, buf));
		break;
	case WORD_TIME_MS:
		print_uint(w, v, time_text(v, 1000000, buf));
		break;
	case WORD_PROB:
		print_prob(w, v);
		break;
	case WORD_PERCENT:
		snprintf(buf, sizeof(buf), "%u%%", v);
		print_uint(w, v, buf);
		break;
	case WORD_NAME:
		print_text(w, name_of(w->names, v));
		break;
	case WORD_SET:
		print_set(w, v);
		break;
	default:
		snprintf(buf, sizeof(buf), "%u", v);
		print_uint(w, v, buf);
	}
}

static int iqcn_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_IQCN_MAX + 1];
	size_t i;

	if (!opt)
		return 0;
	parse_rtattr_flags(tb, TCA_IQCN_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt),
			   NLA_F_NESTED);
	for (i = 0; i < ARRAY_SIZE(iqcn_words); i++)
		if (tb[iqcn_words[i].attr])
			print_word(&iqcn_words[i], tb[iqcn_words[i].attr]);
	return 0;
}

/* A line of text each; JSON has them flat, at the top level of the qdisc */
struct stat {
	const char *key;
	size_t offset;
	bool u32;
	bool new_line;
	bool prob;			/* it is a share of UINT32_MAX */
	const char *const *names;	/* it is one of these, not a number */
};

#define STAT64(name) { #name, offsetof(struct tc_iqcn_xstats, name) }
#define STAT32(name) { #name, offsetof(struct tc_iqcn_xstats, name), .u32 = true }
#define LINE64(name) { #name, offsetof(struct tc_iqcn_xstats, name), .new_line = true }
#define LINE32(name) { #name, offsetof(struct tc_iqcn_xstats, name), .u32 = true, \
		       .new_line = true }

#define STAT_PROB(name) { #name, offsetof(struct tc_iqcn_xstats, name), \
			  .u32 = true, .prob = true }
#define STAT_NAME(name, list) { #name, offsetof(struct tc_iqcn_xstats, name), \
				.u32 = true, .names = list }

/* "ecn_mark N drop_overlimit N" is what flent looks for */
static const struct stat iqcn_stats[] = {
	LINE64(ecn_mark), STAT64(ce_in), STAT64(ce_sent), STAT64(ce_sampled),
	STAT64(sample_lost), STAT64(not_ect), STAT64(not_ect_drop),
	STAT64(unmarkable), STAT64(drop_overlimit), STAT32(depth_peak_bytes),
	LINE64(cnp_seen), STAT64(cnp_sent), STAT64(cnp_delayed),
	STAT64(cnp_cancelled), STAT64(cnp_budget), STAT64(cnp_unpaired),
	STAT64(cnp_error),
	LINE64(cnp_wreb), STAT64(cnp_pi), STAT64(cnp_hold), STAT64(cnp_drop),
	STAT64(cnp_gap), STAT64(bts_mark), STAT_PROB(bts_prob),
	LINE32(flows), STAT32(flows_paired), STAT32(flows_congested),
	STAT32(flows_active), STAT64(flow_new), STAT64(flow_aged),
	STAT64(flow_evicted), STAT64(flow_full),
	LINE64(paired), STAT64(contradicted), STAT64(malformed),
	STAT64(port_cnp_unmatched), STAT64(port_malformed),
	LINE64(state_changes), STAT64(flow_state_changes),
	STAT64(state_since_ns), STAT_NAME(state_reason, reason_names),
	STAT64(rate_bps), STAT64(roce_bps),
};

static void print_congested(uint32_t bits)
{
	size_t i;

	open_json_array(PRINT_JSON, "congested");
	for (i = 0; detect_names[i]; i++)
		if (bits & 1u << i)
			print_color_string(PRINT_JSON, COLOR_NONE, NULL, NULL,
					   detect_names[i]);
	close_json_array(PRINT_JSON, NULL);

	if (is_json_context())
		return;
	print_color_string(PRINT_FP, COLOR_NONE, NULL, " %s",
			   bits ? "congested" : "clear");
	for (i = 0; detect_names[i]; i++)
		if (bits & 1u << i)
			print_color_string(PRINT_FP, COLOR_NONE, NULL, " by %s",
					   detect_names[i]);
}

static void print_stat(const struct stat *s, __u64 v)
{
	char fmt[SPRINT_BSIZE], buf[SPRINT_BSIZE];

	snprintf(fmt, sizeof(fmt), "%s%s %s", s->new_line ? "  " : " ", s->key,
		 s->names || s->prob ? "%s" : "%llu");
	if (s->names)
		print_color_string(PRINT_ANY, COLOR_NONE, s->key, fmt,
				   name_of(s->names, v));
	else if (s->prob && is_json_context())
		print_color_float(PRINT_JSON, COLOR_NONE, s->key, NULL,
				  prob_of(v));
	else if (s->prob)
		print_color_string(PRINT_FP, COLOR_NONE, NULL, fmt,
				   prob_text(v, buf));
	else
		print_color_u64(PRINT_ANY, COLOR_NONE, s->key, fmt, v);
}

static int iqcn_print_xstats(struct qdisc_util *qu, FILE *f,
			     struct rtattr *xstats)
{
	struct tc_iqcn_xstats st = {};
	size_t i, len;

	if (!xstats)
		return 0;
	/* an older kernel has fewer, a newer one more */
	len = RTA_PAYLOAD(xstats);
	memcpy(&st, RTA_DATA(xstats), len < sizeof(st) ? len : sizeof(st));

	for (i = 0; i < ARRAY_SIZE(iqcn_stats); i++) {
		const struct stat *s = &iqcn_stats[i];
		const void *at = (const char *)&st + s->offset;
		__u64 v = s->u32 ? *(const __u32 *)at : *(const __u64 *)at;

		if (s->new_line && i)
			print_nl();
		print_stat(s, v);
	}
	print_congested(st.congested);
	return 0;
}

/* For iqcn(8), which looks whether plugin, tool and module belong together */
const char *iqcn_plugin_version(void)
{
	return IQCN_VERSION;
}

struct qdisc_util iqcn_qdisc_util = {
	.id = "iqcn",
	.parse_qopt = iqcn_parse_opt,
	.print_qopt = iqcn_print_opt,
	.print_xstats = iqcn_print_xstats,
};
