// SPDX-License-Identifier: GPL-2.0
/*
 * q_iqcn.so: tc's parser and printer for the qdisc iqcn.
 *
 * Parsing, printing and help follow from kmod/config_table.h.  The kernel checks
 * ranges; the plugin only checks that a value is a word of the parameter's type.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/iqcn.h>

#include "../kmod/config_table.h"
#include "tc_abi.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define IQCN_OPT_MAX 1024
#define HELP_COLUMNS 80

#define for_each_param(p)						\
	for (p = iqcn_param_table;					\
	     p < iqcn_param_table + ARRAY_SIZE(iqcn_param_table); p++)

static const char *const detect_names[] = { IQCN_NAMES_DETECT, NULL };
static const char *const reason_names[] = { "none", "queue", "depth", "run",
					    "span", "quiet", "reset", NULL };

/* Placeholder of a value of @p in messages and in the help */
static const char *value_name(const struct iqcn_param *p)
{
	if (p->value)
		return p->value;
	switch (p->type) {
	case IQCN_PARAM_BYTES:
		return "BYTES";
	case IQCN_PARAM_NS:
	case IQCN_PARAM_TIMER_NS:
	case IQCN_PARAM_MS:
		return "TIME";
	case IQCN_PARAM_BPS:
		return "RATE";
	case IQCN_PARAM_PROB:
		return "P";
	case IQCN_PARAM_PERCENT:
		return "PERCENT";
	default:
		return "NUMBER";
	}
}

static void explain_usage(FILE *f)
{
	int column = HELP_COLUMNS, len;
	const struct iqcn_param *p;
	char item[HELP_COLUMNS];

	fprintf(f, "Usage: ... iqcn");
	for_each_param(p) {
		len = snprintf(item, sizeof(item), " [ %s %s ]", p->name,
			       value_name(p));
		if (column + len > HELP_COLUMNS)
			column = fprintf(f, "\n       ") - 1;
		column += fprintf(f, "%s", item);
	}
	fprintf(f, "\n");
}

/* The parameters whose default follows @attr */
static void explain_follows(FILE *f, const char *title, int attr)
{
	const struct iqcn_param *p;

	fprintf(f, "%s:\n       ", title);
	for_each_param(p)
		if (p->follows == attr)
			fprintf(f, " %s", p->name);
	fprintf(f, "\n");
}

static void explain(FILE *f)
{
	static const char *const tiers[__IQCN_TIER_MAX] = {
		[IQCN_TIER_NEED] = "Parameters that you may need",
		[IQCN_TIER_METHOD] = "Methods of the patents",
		[IQCN_TIER_NETWORK] = "For special networks",
		[IQCN_TIER_COMPARE] = "For comparison",
	};
	const struct iqcn_param *p;
	unsigned int tier;

	explain_usage(f);
	for (tier = 0; tier < __IQCN_TIER_MAX; tier++) {
		fprintf(f, "\n%s:\n", tiers[tier]);
		for_each_param(p)
			if (p->tier == tier)
				fprintf(f, "\t%-10s %s\n", p->name, p->help);
	}
	fprintf(f, "\n");
	explain_follows(f, "Default follows bandwidth, or else the link speed",
			TCA_IQCN_BANDWIDTH_BPS);
	explain_follows(f, "Default follows t1", TCA_IQCN_T1_NS);
	for_each_param(p)
		if (p->shared)
			fprintf(f, "%s is shared by all queues of the %s.\n",
				p->name, p->shared);
	fprintf(f, "With \"notify pi\" the defaults of kmin and kmax are four times as large.\n");
}

static int bad(const struct iqcn_param *p, const char *arg)
{
	fprintf(stderr, "iqcn: \"%s\" is no %s for \"%s\"\n", arg,
		value_name(p), p->name);
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
	/* round up, so that a positive time does not become 0 */
	*val = (ns + unit_ns - 1) / unit_ns;
	return 0;
}

static int get_name(uint32_t *val, const struct iqcn_param *p, const char *arg,
		    size_t len)
{
	uint32_t i;

	for (i = 0; p->names[i]; i++)
		if (len && strlen(p->names[i]) == len &&
		    !memcmp(p->names[i], arg, len)) {
			*val = i;
			return 0;
		}
	return -1;
}

static int get_set(uint32_t *val, const struct iqcn_param *p, const char *arg)
{
	uint32_t bit;

	*val = 0;
	if (p->empty && !strcmp(arg, p->empty))
		return 0;
	for (;;) {
		size_t len = strcspn(arg, ",");

		if (get_name(&bit, p, arg, len))
			return -1;
		*val |= 1u << bit;
		if (!arg[len])
			return 0;
		arg += len + 1;
	}
}

/* Parse BYTES:P, the first @len characters of @arg */
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

static int get_profile(const struct iqcn_param *p, const char *arg,
		       struct nlmsghdr *n)
{
	struct tc_iqcn_point points[IQCN_POINTS_MAX];
	const char *at = arg;
	size_t i, len;

	if (!strcmp(arg, p->empty))
		return addattr_l(n, IQCN_OPT_MAX, p->attr, NULL, 0);
	for (i = 0; i < IQCN_POINTS_MAX; at += len + 1) {
		len = strcspn(at, ",");
		if (get_point(&points[i++], at, len))
			return bad(p, arg);
		if (!at[len])
			return addattr_l(n, IQCN_OPT_MAX, p->attr, points,
					 i * sizeof(*points));
	}
	fprintf(stderr, "iqcn: \"%s\" takes no more than %u points\n", p->name,
		IQCN_POINTS_MAX);
	return -1;
}

static int get_param(const struct iqcn_param *p, const char *arg,
		     struct nlmsghdr *n)
{
	uint32_t v = 0;
	__u64 rate;
	int err = -1;

	if (p->special && !strcmp(arg, p->special))
		return addattr32(n, IQCN_OPT_MAX, p->attr, p->special_value);
	switch (p->type) {
	case IQCN_PARAM_NUMBER:
		err = *arg == '-' ? -1 : get_u32(&v, arg, 0);
		break;
	case IQCN_PARAM_BYTES:
		err = *arg == '-' ? -1 : get_size(&v, arg);
		break;
	case IQCN_PARAM_NS:
	case IQCN_PARAM_TIMER_NS:
		err = get_ns(&v, arg, 1);
		break;
	case IQCN_PARAM_MS:
		err = get_ns(&v, arg, 1000000);
		break;
	case IQCN_PARAM_BPS:
		if (*arg == '-' || get_rate64(&rate, arg))
			return bad(p, arg);
		return addattr64(n, IQCN_OPT_MAX, p->attr, rate * 8);
	case IQCN_PARAM_PROB:
		err = get_prob(&v, arg);
		break;
	case IQCN_PARAM_PERCENT:
		err = get_percent(&v, arg);
		break;
	case IQCN_PARAM_NAME:
		err = get_name(&v, p, arg, strlen(arg));
		break;
	case IQCN_PARAM_SET:
		err = get_set(&v, p, arg);
		break;
	case IQCN_PARAM_PROFILE:
		return get_profile(p, arg, n);
	}
	if (err || (p->special && v == p->special_value))
		return bad(p, arg);
	return addattr32(n, IQCN_OPT_MAX, p->attr, v);
}

static const struct iqcn_param *find_param(const char *name)
{
	const struct iqcn_param *p;

	for_each_param(p)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

static int iqcn_parse_opt(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	bool seen[TCA_IQCN_MAX + 1] = {};
	const struct iqcn_param *p;
	struct rtattr *nest;

	nest = addattr_nest(n, IQCN_OPT_MAX, TCA_OPTIONS | NLA_F_NESTED);
	for (; argc > 0; argc -= 2, argv += 2) {
		if (!strcmp(*argv, "help")) {
			explain(stderr);
			return -1;
		}
		p = find_param(*argv);
		if (!p) {
			fprintf(stderr,
				"iqcn: unknown parameter \"%s\", see \"tc qdisc add iqcn help\"\n",
				*argv);
			return -1;
		}
		if (argc < 2) {
			fprintf(stderr, "iqcn: \"%s\" wants %s\n", p->name,
				value_name(p));
			return -1;
		}
		if (seen[p->attr]) {
			fprintf(stderr, "iqcn: \"%s\" is given twice\n",
				p->name);
			return -1;
		}
		seen[p->attr] = true;
		if (get_param(p, argv[1], n))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* Text has "name value ", JSON "key": value */
static void print_uint(const struct iqcn_param *p, uint32_t v, const char *text)
{
	if (is_json_context()) {
		print_color_uint(PRINT_JSON, COLOR_NONE, p->key, NULL, v);
		return;
	}
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", p->name);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

static void print_text(const struct iqcn_param *p, const char *text)
{
	if (is_json_context()) {
		print_color_string(PRINT_JSON, COLOR_NONE, p->key, NULL, text);
		return;
	}
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", p->name);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

/* As tc prints sizes, unless that is rounded: then the number of bytes */
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

/* The fewest digits that parse to the same value */
static const char *prob_text(uint32_t v, char *buf)
{
	uint32_t back;
	int digits = 1;

	do {
		snprintf(buf, SPRINT_BSIZE, "%.*g", digits++, prob_of(v));
	} while (digits <= 10 && (get_prob(&back, buf) || back != v));
	return buf;
}

static void print_prob(const struct iqcn_param *p, uint32_t v)
{
	char buf[SPRINT_BSIZE];

	if (is_json_context())
		print_color_float(PRINT_JSON, COLOR_NONE, p->key, NULL,
				  prob_of(v));
	else
		print_text(p, prob_text(v, buf));
}

static void print_profile(const struct iqcn_param *p, const struct rtattr *attr)
{
	const struct tc_iqcn_point *point = RTA_DATA(attr);
	size_t i, points = RTA_PAYLOAD(attr) / sizeof(*point);
	char buf[SPRINT_BSIZE];

	if (!is_json_context()) {
		if (!points) {
			print_text(p, p->empty);
			return;
		}
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", p->name);
		for (i = 0; i < points; i++, point++) {
			print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s:",
					   size_text(point->bytes, buf));
			print_color_string(PRINT_FP, COLOR_NONE, NULL,
					   i + 1 < points ? "%s," : "%s ",
					   prob_text(point->prob, buf));
		}
		return;
	}
	open_json_array(PRINT_JSON, p->key);
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

static void print_rate(const struct iqcn_param *p, uint64_t bps)
{
	static const char *const unit[] = { "", "K", "M", "G", "T" };
	char buf[SPRINT_BSIZE];
	size_t i = 0;

	if (is_json_context()) {
		print_color_u64(PRINT_JSON, COLOR_NONE, p->key, NULL, bps);
		return;
	}
	while (bps && bps % 1000 == 0 && i + 1 < ARRAY_SIZE(unit)) {
		bps /= 1000;
		i++;
	}
	snprintf(buf, sizeof(buf), "%llu%sbit", (unsigned long long)bps,
		 unit[i]);
	print_text(p, buf);
}

static void print_set(const struct iqcn_param *p, uint32_t v)
{
	char buf[SPRINT_BSIZE] = "";
	size_t i;

	for (i = 0; p->names[i]; i++) {
		if (!(v & 1u << i))
			continue;
		if (*buf)
			strcat(buf, ",");
		strcat(buf, p->names[i]);
	}
	print_text(p, *buf ? buf : p->empty ?: "");
}

static const char *name_of(const char *const *names, uint32_t v)
{
	while (*names && v--)
		names++;
	/* the module is newer than the plugin */
	return *names ?: "?";
}

static bool get_attr_u32(uint32_t *v, const struct rtattr *attr)
{
	if (!attr || RTA_PAYLOAD(attr) < sizeof(*v))
		return false;
	memcpy(v, RTA_DATA(attr), sizeof(*v));
	return true;
}

static void print_param(const struct iqcn_param *p, const struct rtattr *attr)
{
	char buf[SPRINT_BSIZE];
	uint64_t v64 = 0;
	uint32_t v = 0;

	if (p->type == IQCN_PARAM_BPS) {
		if (RTA_PAYLOAD(attr) < sizeof(v64))
			return;
		memcpy(&v64, RTA_DATA(attr), sizeof(v64));
		print_rate(p, v64);
		return;
	}
	if (p->type == IQCN_PARAM_PROFILE) {
		print_profile(p, attr);
		return;
	}
	if (!get_attr_u32(&v, attr))
		return;
	if (p->special && v == p->special_value) {
		print_text(p, p->special);
		return;
	}
	switch (p->type) {
	case IQCN_PARAM_BYTES:
		print_uint(p, v, size_text(v, buf));
		break;
	case IQCN_PARAM_NS:
	case IQCN_PARAM_TIMER_NS:
		print_uint(p, v, time_text(v, 1, buf));
		break;
	case IQCN_PARAM_MS:
		print_uint(p, v, time_text(v, 1000000, buf));
		break;
	case IQCN_PARAM_PROB:
		print_prob(p, v);
		break;
	case IQCN_PARAM_PERCENT:
		snprintf(buf, sizeof(buf), "%u%%", v);
		print_uint(p, v, buf);
		break;
	case IQCN_PARAM_NAME:
		print_text(p, name_of(p->names, v));
		break;
	case IQCN_PARAM_SET:
		print_set(p, v);
		break;
	default:
		snprintf(buf, sizeof(buf), "%u", v);
		print_uint(p, v, buf);
	}
}

/* Does the mode, such as the methods of notify, use @p at all? */
static bool in_use(const struct iqcn_param *p, struct rtattr **tb)
{
	const struct iqcn_param *on;
	uint32_t v;

	if (!p->needs || !get_attr_u32(&v, tb[p->needs]))
		return true;
	for_each_param(on)
		if (on->attr == p->needs)
			break;
	if (on->type == IQCN_PARAM_NAME)
		v = v < 32 ? 1u << v : 0;
	return v & p->needs_bits && in_use(on, tb);
}

static bool is_default(const struct iqcn_param *p, const struct rtattr *attr)
{
	uint32_t v;

	if (p->type == IQCN_PARAM_PROFILE)
		return !RTA_PAYLOAD(attr);
	return !p->follows && get_attr_u32(&v, attr) && v == p->def;
}

/* Without "tc -d": what the mode uses; special and rare parameters if they are set */
static bool matters(const struct iqcn_param *p, struct rtattr **tb)
{
	return in_use(p, tb) &&
	       (p->tier == IQCN_TIER_NEED || p->tier == IQCN_TIER_METHOD ||
		!is_default(p, tb[p->attr]));
}

static int iqcn_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_IQCN_MAX + 1];
	const struct iqcn_param *p;
	bool all = is_json_context() || !&show_details || show_details;

	if (!opt)
		return 0;
	parse_rtattr_flags(tb, TCA_IQCN_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt),
			   NLA_F_NESTED);
	for_each_param(p)
		if (tb[p->attr] && (all || matters(p, tb)))
			print_param(p, tb[p->attr]);
	return 0;
}

/* A counter of struct tc_iqcn_xstats.  In JSON it is a member of the qdisc */
struct stat {
	const char *key;
	size_t offset;
	bool u32;
	bool new_line;			/* in text */
	bool prob;			/* a share of UINT32_MAX */
	const char *const *names;	/* of the values, NULL: a number */
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

/* flent parses "ecn_mark N" and "drop_overlimit N" */
static const struct stat iqcn_stats[] = {
	LINE64(ecn_mark), STAT64(ce_in), STAT64(ce_sent), STAT64(ce_sampled),
	STAT64(sample_lost), STAT64(not_ect), STAT64(not_ect_drop),
	STAT64(unmarkable), STAT64(drop_overlimit), STAT32(depth_peak_bytes),
	LINE64(marked_bytes), STAT64(delay_samples), STAT64(delay_avg_ns),
	STAT64(delay_peak_ns), STAT64(delay_sum_ns),
	LINE64(cnp_seen), STAT64(cnp_sent), STAT64(cnp_delayed),
	STAT64(cnp_cancelled), STAT64(cnp_budget), STAT64(cnp_unpaired),
	STAT64(cnp_error),
	LINE64(cnp_wreb), STAT64(cnp_pi), STAT64(cnp_poll), STAT64(cnp_drop),
	STAT64(cnp_gap), STAT64(bts_mark), STAT_PROB(bts_prob),
	LINE32(flows), STAT32(flows_paired), STAT32(flows_congested),
	STAT32(flows_active), STAT64(flow_new), STAT64(flow_aged),
	STAT64(flow_evicted), STAT64(flow_full),
	LINE64(paired), STAT64(contradicted), STAT64(malformed),
	STAT64(port_cnp_unmatched), STAT64(port_malformed),
	LINE64(state_changes), STAT64(flow_state_changes),
	STAT64(state_since_ns), STAT_NAME(state_reason, reason_names),
	STAT64(ce_rate_bps), STAT64(roce_bps),
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
	/* an older module sends fewer counters, a newer one more */
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

/* For iqcn(8), which checks that plugin, tool and module are the same version.  It
 * reads this from the file: to load the plugin needs tc's functions.
 */
const char iqcn_plugin_version[] = IQCN_VERSION;

struct qdisc_util iqcn_qdisc_util = {
	.id = "iqcn",
	.parse_qopt = iqcn_parse_opt,
	.print_qopt = iqcn_print_opt,
	.print_xstats = iqcn_print_xstats,
};
