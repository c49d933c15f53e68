// SPDX-License-Identifier: GPL-2.0
/*
 * q_iqcn.so: tc's parser and printer for the qdisc iqcn.
 *
 * Parsing, printing and help use the table in kmod/config_table.h.  The plugin
 * checks each number against its range, and reports the range in the units that
 * users write.  The kernel checks all ranges again, and parameters against each
 * other.
 *
 * The plugin parses numbers itself, because tc's functions silently wrap a
 * number too large for the attribute, and round bits to whole bytes.  The
 * plugin accepts the same suffixes as tc.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
static const char *const filter_names[] = { IQCN_NAMES_CNP_FILTER, "fixed",
					    NULL };
static const char *const pfc_state_names[] = { IQCN_NAMES_PFC_STATE, NULL };
static const char *const pfc_reason_names[] = { IQCN_NAMES_PFC_REASON, NULL };

/* Placeholder for a value of @p in messages and in the help */
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

/* List the parameters whose default follows @attr */
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

static bool is_number(const struct iqcn_param *p)
{
	return p->type != IQCN_PARAM_NAME && p->type != IQCN_PARAM_SET &&
	       p->type != IQCN_PARAM_PROFILE && p->type != IQCN_PARAM_FILTER;
}

/*
 * Numbers saturate at UINT64_MAX, which is above every range, so that one check
 * after all multiplications is enough.
 */
#define BILLION 1000000000ULL
#define NS_PER_MS 1000000ULL

struct suffix {
	const char *name;
	uint64_t scale;
};

static const struct suffix no_suffix[] = { { "", 1 }, {} };

static const struct suffix percent_suffixes[] = { { "", 1 }, { "%", 1 }, {} };

static const struct suffix size_suffixes[] = {
	{ "", 1 }, { "b", 1 },
	{ "k", 1 << 10 }, { "kb", 1 << 10 }, { "kbit", (1 << 10) / 8 },
	{ "m", 1 << 20 }, { "mb", 1 << 20 }, { "mbit", (1 << 20) / 8 },
	{ "g", 1 << 30 }, { "gb", 1 << 30 }, { "gbit", (1 << 30) / 8 },
	{}
};

static const struct suffix time_suffixes[] = {
	{ "", 1 }, { "ns", 1 }, { "nsec", 1 }, { "nsecs", 1 },
	{ "us", 1000 }, { "usec", 1000 }, { "usecs", 1000 },
	{ "ms", NS_PER_MS }, { "msec", NS_PER_MS }, { "msecs", NS_PER_MS },
	{ "s", BILLION }, { "sec", BILLION }, { "secs", BILLION },
	{}
};

/* The scale is in m */
static const struct suffix length_suffixes[] = {
	{ "", 1 }, { "m", 1 }, { "km", 1000 }, {}
};

/* The scale is in bit/s */
static const struct suffix rate_suffixes[] = {
	{ "", 1 }, { "bit", 1 }, { "bps", 8 },
	{ "kbit", 1000 }, { "kibit", 1 << 10 },
	{ "mbit", 1000000 }, { "mibit", 1 << 20 },
	{ "gbit", BILLION }, { "gibit", 1 << 30 },
	{ "tbit", 1000 * BILLION }, { "tibit", 1ULL << 40 },
	{ "kbps", 8 * 1000 }, { "kibps", 8 << 10 },
	{ "mbps", 8 * 1000000 }, { "mibps", 8 << 20 },
	{ "gbps", 8 * BILLION }, { "gibps", 8ULL << 30 },
	{ "tbps", 8000 * BILLION }, { "tibps", 8ULL << 40 },
	{}
};

static uint64_t add_sat(uint64_t a, uint64_t b)
{
	return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

static uint64_t mul_sat(uint64_t a, uint64_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Parse a decimal number, with or without a fraction.  The fraction is in
 * billionths, rounded up.  Return the end of the number, or NULL if there is
 * no number.
 */
static const char *get_decimal(uint64_t *whole, uint64_t *billionths,
			       const char *arg)
{
	uint64_t unit = BILLION;
	bool more = false;

	*whole = 0;
	*billionths = 0;
	if (!is_digit(*arg) && !(*arg == '.' && is_digit(arg[1])))
		return NULL;
	for (; is_digit(*arg); arg++)
		*whole = add_sat(mul_sat(*whole, 10), *arg - '0');
	if (*arg != '.')
		return arg;
	for (arg++; is_digit(*arg); arg++) {
		unit /= 10;
		*billionths += unit * (*arg - '0');
		more |= !unit && *arg != '0';
	}
	*billionths += more;
	return arg;
}

/*
 * Parse a number with one of @suffixes.  Round up, because 0 is a special value
 * of some parameters, and a positive number must not become 0.
 */
static int get_scaled(uint64_t *val, const struct suffix *suffixes,
		      const char *arg)
{
	uint64_t whole, billionths, part;
	const struct suffix *s;

	arg = get_decimal(&whole, &billionths, arg);
	if (!arg)
		return -1;
	for (s = suffixes; s->name; s++)
		if (!strcasecmp(s->name, arg))
			break;
	if (!s->name)
		return -1;
	/* the product of billionths and the scale may overflow */
	part = billionths * (s->scale / BILLION) +
	       (billionths * (s->scale % BILLION) + BILLION - 1) / BILLION;
	*val = add_sat(mul_sat(whole, s->scale), part);
	return 0;
}

static int get_whole(uint64_t *val, const struct suffix *suffixes,
		     const char *arg)
{
	return strchr(arg, '.') ? -1 : get_scaled(val, suffixes, arg);
}

/* A leading 0 does not make a number octal, but 0x makes it hexadecimal */
static int get_number(uint64_t *val, const char *arg)
{
	if (strncasecmp(arg, "0x", 2))
		return get_whole(val, no_suffix, arg);
	arg += 2;
	if (!*arg || arg[strspn(arg, "0123456789abcdefABCDEF")])
		return -1;
	/* strtoull() saturates, too */
	*val = strtoull(arg, NULL, 16);
	return 0;
}

/* Parse a probability; a number above 1 becomes UINT64_MAX */
static int get_prob(uint64_t *val, const char *arg)
{
	char *end;
	double p;

	/* strtod() also takes words such as nan */
	if (!is_digit(*arg) && *arg != '.')
		return -1;
	p = strtod(arg, &end);
	if (end == arg || (*end && strcmp(end, "%")))
		return -1;
	if (*end)
		p /= 100;
	/* no conditional expression, because its type would be double */
	*val = UINT64_MAX;
	if (p <= 1)
		*val = p * UINT32_MAX + 0.5;
	return 0;
}

/* Parse the value of a numeric parameter, in the unit of its attribute */
static int get_value(uint64_t *val, const struct iqcn_param *p, const char *arg)
{
	switch (p->type) {
	case IQCN_PARAM_BYTES:
		return get_scaled(val, size_suffixes, arg);
	case IQCN_PARAM_NS:
	case IQCN_PARAM_TIMER_NS:
		return get_scaled(val, time_suffixes, arg);
	case IQCN_PARAM_MS:
		if (get_scaled(val, time_suffixes, arg))
			return -1;
		/* do not round up a time below 1 ms: "10" (ns) is hardly meant
		 * as 1 ms
		 */
		*val = *val < NS_PER_MS ? 0 :
		       *val / NS_PER_MS + !!(*val % NS_PER_MS);
		return 0;
	case IQCN_PARAM_BPS:
		return get_scaled(val, rate_suffixes, arg);
	case IQCN_PARAM_PROB:
		return get_prob(val, arg);
	case IQCN_PARAM_PERCENT:
		return get_whole(val, percent_suffixes, arg);
	case IQCN_PARAM_METERS:
		return get_scaled(val, length_suffixes, arg);
	case IQCN_PARAM_NUMBER:
		return get_number(val, arg);
	}
	return -1;
}

/*
 * Format values as text that tc parses back to exactly the same value.
 */

/* Format a size as tc does, unless tc would round it */
static const char *size_text(uint32_t v, char *buf)
{
	const char *unit = "b";

	if (v && !(v % (1 << 20))) {
		v >>= 20;
		unit = "Mb";
	} else if (v && !(v % (1 << 10))) {
		v >>= 10;
		unit = "Kb";
	}
	snprintf(buf, SPRINT_BSIZE, "%u%s", v, unit);
	return buf;
}

/* Format a time as tc does, unless tc would round it */
static const char *time_text(const struct iqcn_param *p, uint32_t v, char *buf)
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };
	bool ms = p->type == IQCN_PARAM_MS;
	const char *const *unit = ms ? units + 2 : units;
	uint64_t back;

	sprint_time64(ms ? v * NS_PER_MS : v, buf);
	if (!get_value(&back, p, buf) && back == v)
		return buf;
	for (; unit[1] && v && v % 1000 == 0; unit++)
		v /= 1000;
	snprintf(buf, SPRINT_BSIZE, "%u%s", v, *unit);
	return buf;
}

static const char *length_text(uint32_t v, char *buf)
{
	bool km = v && v % 1000 == 0;

	snprintf(buf, SPRINT_BSIZE, "%u%s", km ? v / 1000 : v, km ? "km" : "m");
	return buf;
}

static const char *rate_text(uint64_t bps, char *buf)
{
	static const char *const unit[] = { "", "K", "M", "G", "T" };
	size_t i = 0;

	while (bps && bps % 1000 == 0 && i + 1 < ARRAY_SIZE(unit)) {
		bps /= 1000;
		i++;
	}
	snprintf(buf, SPRINT_BSIZE, "%llu%sbit", (unsigned long long)bps,
		 unit[i]);
	return buf;
}

/* Format a fraction of UINT32_MAX with the fewest digits that parse to it */
static const char *prob_text(uint32_t v, char *buf)
{
	uint64_t back;
	int digits = 1;

	do {
		snprintf(buf, SPRINT_BSIZE, "%.*g", digits++,
			 (double)v / UINT32_MAX);
	} while (digits <= 10 && (get_prob(&back, buf) || back != v));
	return buf;
}

/* The text of a parameter that is a number */
static const char *value_text(const struct iqcn_param *p, uint64_t v, char *buf)
{
	switch (p->type) {
	case IQCN_PARAM_BYTES:
		return size_text(v, buf);
	case IQCN_PARAM_NS:
	case IQCN_PARAM_TIMER_NS:
	case IQCN_PARAM_MS:
		return time_text(p, v, buf);
	case IQCN_PARAM_BPS:
		return rate_text(v, buf);
	case IQCN_PARAM_METERS:
		return length_text(v, buf);
	case IQCN_PARAM_PROB:
		return prob_text(v, buf);
	}
	snprintf(buf, SPRINT_BSIZE, "%u%s", (uint32_t)v,
		 p->type == IQCN_PARAM_PERCENT ? "%" : "");
	return buf;
}

/*
 * Report unknown words, and suggest what the user may have meant.
 */
#define WORD_MAX 24

/* Words of other qdiscs and of NICs, each with advice */
static const struct {
	const char *word;
	const char *advice;
} foreign_words[] = {
	/* tc's own */
	{ "dev", "write it before \"iqcn\"" },
	{ "root", "write it before \"iqcn\"" },
	{ "parent", "write it before \"iqcn\"" },
	{ "handle", "write it before \"iqcn\"" },
	/* red, gred, choke */
	{ "min", "use \"kmin\"" },
	{ "max", "use \"kmax\"" },
	{ "probability", "use \"pmax\"" },
	{ "ecn", "iqcn always marks ECT packets; leave the word out" },
	{ "noecn", "iqcn always marks ECT packets; with a higher \"kmin\" it begins later" },
	{ "nodrop", "use \"nonect pass\", the default" },
	{ "harddrop", "use \"limit\", above which every packet is dropped" },
	{ "qevent", "use \"group\" for copies of packets, and trace points for events" },
	{ "adaptive", "use \"notify pi\", the default, which adapts to the load" },
	{ "avpkt", "iqcn marks by the depth itself, not by an average; leave the word out" },
	{ "burst", "iqcn marks by the depth itself, not by an average; leave the word out" },
	/* codel, fq_codel, fq, pie */
	{ "target", "use \"qref\", the depth in bytes that \"notify pi\" aims at" },
	{ "interval", "use \"t1\", the time without a CNP after which the box sends one" },
	{ "ce_threshold", "use \"kmin\" and \"kmax\", depths in bytes" },
	{ "memory_limit", "use \"limit\"" },
	{ "tupdate", "use \"update\"" },
	{ "quantum", "iqcn is a FIFO and does not schedule flows; leave the word out" },
	/* tbf, htb, cake */
	{ "rate", "iqcn does not shape; put it below tbf or htb, and give \"bandwidth\"" },
	{ "ceil", "iqcn does not shape; put it below tbf or htb, and give \"bandwidth\"" },
	{ "maxrate", "iqcn does not shape; put it below tbf or htb, and give \"bandwidth\"" },
	{ "latency", "use \"limit\", in bytes" },
	{ "speed", "use \"bandwidth\"" },
	/* other names for the link's length */
	{ "distance", "use \"fiber\", the length of the long-haul link" },
	{ "length", "use \"fiber\", the length of the long-haul link" },
	{ "km", "use \"fiber\", such as \"fiber 100km\"" },
	/* switches and NICs */
	{ "t2", "use \"delay\"" },
	{ "dscp", "use \"cnp-dscp\"" },
	{ "pcp", "use \"cnp-pcp\"" },
	{ "cnp_802p_prio", "use \"cnp-pcp\"" },
	{ "ttl", "use \"cnp-ttl\"" },
	{ "min_time_between_cnps", "use \"min-gap\"" },
	{ "rpg_time_reset", "use \"t1\", which must be shorter" },
};

/* Suggestions ignore case, and do not distinguish _ from - */
static char fold(char c)
{
	return c == '_' ? '-' : tolower((unsigned char)c);
}

static unsigned int min_uint(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * Optimal string alignment distance: return how many insertions, deletions,
 * replacements and swaps of neighbors turn one word into the other, or
 * UINT32_MAX for a long word.
 */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int d[WORD_MAX + 1][WORD_MAX + 1];
	size_t i, j, n = strlen(a), m = strlen(b);
	bool same;

	if (n > WORD_MAX || m > WORD_MAX)
		return UINT32_MAX;
	for (i = 0; i <= n; i++)
		d[i][0] = i;
	for (j = 0; j <= m; j++)
		d[0][j] = j;
	for (i = 1; i <= n; i++) {
		for (j = 1; j <= m; j++) {
			same = fold(a[i - 1]) == fold(b[j - 1]);
			d[i][j] = min_uint(min_uint(d[i - 1][j], d[i][j - 1]) + 1,
					   d[i - 1][j - 1] + !same);
			if (i > 1 && j > 1 &&
			    fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]))
				d[i][j] = min_uint(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

/*
 * Replace *@best with @word if @word is nearer to @said, and if the distance is
 * at most a third of the length of @word.
 */
static void keep_nearer(const char **best, unsigned int *best_distance,
			const char *word, const char *said)
{
	unsigned int d = distance(said, word);

	if (!*word || d > strlen(word) / 3 || d >= *best_distance)
		return;
	*best = word;
	*best_distance = d;
}

static const char *nearest_param(const char *said)
{
	unsigned int best_distance = UINT32_MAX;
	const struct iqcn_param *p;
	const char *best = NULL;

	for_each_param(p)
		keep_nearer(&best, &best_distance, p->name, said);
	return best;
}

static bool is_name(const struct iqcn_param *p, const char *word)
{
	size_t i;

	for (i = 0; p->names && p->names[i]; i++)
		if (!strcmp(p->names[i], word))
			return true;
	return p->empty && !strcmp(p->empty, word);
}

/* The name nearest to @said, or, if @said is a list, to its first unknown word
 */
static const char *nearest_name(const struct iqcn_param *p, const char *said)
{
	unsigned int best_distance = UINT32_MAX;
	const char *best = NULL;
	char word[WORD_MAX + 1];
	size_t i, len;

	do {
		len = strcspn(said, ",");
		if (len > WORD_MAX)
			return NULL;
		memcpy(word, said, len);
		word[len] = '\0';
		said += len + 1;
	} while (said[-1] && is_name(p, word));

	for (i = 0; p->names && p->names[i]; i++)
		keep_nearer(&best, &best_distance, p->names[i], word);
	if (p->empty)
		keep_nearer(&best, &best_distance, p->empty, word);
	if (p->special)
		keep_nearer(&best, &best_distance, p->special, word);
	return best;
}

/* Find the parameter that accepts this word as a value */
static const struct iqcn_param *param_with_name(const char *name)
{
	const struct iqcn_param *p;

	for_each_param(p)
		if (is_name(p, name))
			return p;
	return NULL;
}

static int refuse_word(const char *said)
{
	const struct iqcn_param *p;
	const char *near;
	size_t i;

	fprintf(stderr, "iqcn: unknown parameter \"%s\"", said);
	for (i = 0; i < ARRAY_SIZE(foreign_words); i++) {
		if (!distance(foreign_words[i].word, said)) {
			fprintf(stderr, ": %s\n", foreign_words[i].advice);
			return -1;
		}
	}
	near = nearest_param(said);
	p = param_with_name(said);
	/* "flow" more likely means "flows" than "filter-by flow" */
	if (p && !(near && !strncmp(near, said, strlen(said))))
		fprintf(stderr, "; did you mean \"%s %s\"?\n", p->name, said);
	else if (near)
		fprintf(stderr, "; did you mean \"%s\"?\n", near);
	else
		fprintf(stderr, ", see \"tc qdisc add iqcn help\"\n");
	return -1;
}

/* The range of a number, in the unit of its attribute */
static void get_range(const struct iqcn_param *p, uint64_t *lo, uint64_t *hi)
{
	*lo = p->lo;
	*hi = p->hi;
	/* the special value is written as a word, not as a number */
	if (p->special && p->special_value == *hi)
		(*hi)--;
	if (p->type == IQCN_PARAM_BPS) {
		*lo = IQCN_BANDWIDTH_MIN_BPS;
		*hi = IQCN_BANDWIDTH_MAX_BPS;
	}
#ifdef IQCN_UNCHECKED
	/* this build tests the kernel's checks */
	*lo = 0;
	*hi = p->type == IQCN_PARAM_BPS ? UINT64_MAX - 1 : UINT32_MAX;
#endif
}

static bool in_range(const struct iqcn_param *p, uint64_t v)
{
	uint64_t lo, hi;

	get_range(p, &lo, &hi);
	/* bandwidth 0: follow the link */
	return (v >= lo && v <= hi) || (p->type == IQCN_PARAM_BPS && !v);
}

/* Print the range of a number in the units that users write */
static void explain_range(const struct iqcn_param *p)
{
	char from[SPRINT_BSIZE], to[SPRINT_BSIZE];
	uint64_t lo, hi;

	get_range(p, &lo, &hi);
	fprintf(stderr, " (%s to %s", value_text(p, lo, from),
		value_text(p, hi, to));
	if (p->special)
		fprintf(stderr, ", or %s", p->special);
	else if (p->type == IQCN_PARAM_BPS)
		fprintf(stderr, ", or 0");
	fprintf(stderr, ")");
}

/* The common suffixes of a number, for messages, or NULL */
static const char *suffixes_of(const struct iqcn_param *p)
{
	switch (p->type) {
	case IQCN_PARAM_BYTES:
		return "b, k, m, g";
	case IQCN_PARAM_NS:
	case IQCN_PARAM_TIMER_NS:
	case IQCN_PARAM_MS:
		return "ns, us, ms, s";
	case IQCN_PARAM_BPS:
		return "bit, kbit, mbit, gbit, tbit";
	case IQCN_PARAM_METERS:
		return "m, km";
	}
	return NULL;
}

static int bad(const struct iqcn_param *p, const char *arg)
{
	const char *near = nearest_name(p, arg);

	fprintf(stderr, "iqcn: invalid value \"%s\" for \"%s\": expected %s", arg,
		p->name, value_name(p));
	if (near) {
		fprintf(stderr, "; did you mean \"%s\"?", near);
	} else if (is_number(p)) {
		explain_range(p);
		if (is_digit(*arg) && suffixes_of(p))
			fprintf(stderr, ", suffixes are %s", suffixes_of(p));
	}
	fprintf(stderr, "\n");
	return -1;
}

/* If a number is too small, suggest the suffix that may be missing */
static void explain_suffix(const struct iqcn_param *p, const char *arg,
			   uint64_t v)
{
	const char *unit, *suffix;
	char said[SPRINT_BSIZE];
	uint64_t lo, hi;

	switch (p->type) {
	case IQCN_PARAM_NS:
	case IQCN_PARAM_TIMER_NS:
		unit = "ns";
		suffix = "us";
		break;
	case IQCN_PARAM_MS:
		unit = "ns";
		suffix = "s";
		break;
	case IQCN_PARAM_BPS:
		unit = "bit/s";
		suffix = "gbit";
		break;
	default:
		return;
	}
	get_range(p, &lo, &hi);
	if (arg[strspn(arg, "0123456789.")] || !strpbrk(arg, "123456789") ||
	    v >= lo)
		return;
	fprintf(stderr, ": %s means %s %s, add a suffix", arg, arg, unit);
	snprintf(said, sizeof(said), "%s%s", arg, suffix);
	if (!get_value(&v, p, said) && in_range(p, v))
		fprintf(stderr, ", such as %s", said);
}

static int out_of_range(const struct iqcn_param *p, const char *arg, uint64_t v)
{
	fprintf(stderr, "iqcn: %s %s is out of range", p->name, arg);
	explain_range(p);
	explain_suffix(p, arg, v);
	fprintf(stderr, "\n");
	return -1;
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
	char text[SPRINT_BSIZE], *prob_at;
	uint64_t bytes, prob;

	if (len >= sizeof(text))
		return -1;
	memcpy(text, arg, len);
	text[len] = '\0';
	prob_at = strchr(text, ':');
	if (!prob_at)
		return -1;
	*prob_at++ = '\0';
	if (get_scaled(&bytes, size_suffixes, text) || bytes > UINT32_MAX ||
	    get_prob(&prob, prob_at) || prob > UINT32_MAX)
		return -1;
	point->bytes = bytes;
	point->prob = prob;
	return 0;
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

static bool is_filter_valid(uint64_t n, uint64_t interval_ns)
{
#ifdef IQCN_UNCHECKED
	return n <= UINT32_MAX && interval_ns <= UINT32_MAX;
#endif
	return n && n <= IQCN_FILTER_N_MAX && interval_ns &&
	       interval_ns <= IQCN_TIME_MAX_NS;
}

/* Parse N/TIME, or the name of a mode */
static int get_filter(const struct iqcn_param *p, const char *arg,
		      struct nlmsghdr *nlh)
{
	struct tc_iqcn_cnp_filter filter = { .mode = IQCN_CNP_FILTER_FIXED };
	const char *slash = strchr(arg, '/'), *number = arg;
	uint64_t n, interval_ns;
	char text[SPRINT_BSIZE];
	size_t len;

	if (!slash) {
		if (get_name(&filter.mode, p, arg, strlen(arg)))
			return bad(p, arg);
		return addattr_l(nlh, IQCN_OPT_MAX, p->attr, &filter,
				 sizeof(filter));
	}
	number += *arg == '-';
	len = slash - number;
	if (len >= sizeof(text))
		return bad(p, arg);
	memcpy(text, number, len);
	text[len] = '\0';
	if (get_number(&n, text) ||
	    get_scaled(&interval_ns, time_suffixes, slash + 1))
		return bad(p, arg);
	if (number != arg || !is_filter_valid(n, interval_ns)) {
		fprintf(stderr,
			"iqcn: %s %s is out of range (1 to %u CNPs in 1ns to 1s)\n",
			p->name, arg, IQCN_FILTER_N_MAX);
		return -1;
	}
	filter.n = n;
	filter.interval_ns = interval_ns;
	return addattr_l(nlh, IQCN_OPT_MAX, p->attr, &filter, sizeof(filter));
}

static int get_param(const struct iqcn_param *p, const char *arg,
		     struct nlmsghdr *n)
{
	bool negative = is_number(p) && *arg == '-';
	uint64_t number;
	uint32_t v;

	if (p->special && !strcmp(arg, p->special))
		return addattr32(n, IQCN_OPT_MAX, p->attr, p->special_value);
	if (p->type == IQCN_PARAM_PROFILE)
		return get_profile(p, arg, n);
	if (p->type == IQCN_PARAM_FILTER)
		return get_filter(p, arg, n);
	if (!is_number(p)) {
		if (p->type == IQCN_PARAM_NAME ?
		    get_name(&v, p, arg, strlen(arg)) : get_set(&v, p, arg))
			return bad(p, arg);
		return addattr32(n, IQCN_OPT_MAX, p->attr, v);
	}
	if (get_value(&number, p, arg + negative))
		return bad(p, arg);
	if (negative || !in_range(p, number))
		return out_of_range(p, arg, number);
	if (p->type == IQCN_PARAM_BPS)
		return addattr64(n, IQCN_OPT_MAX, p->attr, number);
	return addattr32(n, IQCN_OPT_MAX, p->attr, number);
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
		if (!p)
			return refuse_word(*argv);
		if (argc < 2) {
			fprintf(stderr, "iqcn: \"%s\" needs a value: %s\n", p->name,
				value_name(p));
			return -1;
		}
		if (seen[p->attr]) {
			fprintf(stderr, "iqcn: duplicate parameter \"%s\"\n",
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

/* Print "NAME VALUE " as text, or "KEY": "VALUE" as JSON */
static void print_text(const struct iqcn_param *p, const char *text)
{
	if (is_json_context()) {
		print_color_string(PRINT_JSON, COLOR_NONE, p->key, NULL, text);
		return;
	}
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", p->name);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

/* print_color_float() prints six digits, too few for a fraction of UINT32_MAX
 */
static void print_json_prob(const char *key, uint32_t v)
{
	struct json_writer *w = get_json_writer();
	char buf[SPRINT_BSIZE];

	jsonw_name(w, key);
	jsonw_printf(w, "%s", prob_text(v, buf));
}

static void print_number(const struct iqcn_param *p, uint64_t v)
{
	char buf[SPRINT_BSIZE];

	if (!is_json_context())
		print_text(p, value_text(p, v, buf));
	else if (p->type == IQCN_PARAM_PROB)
		print_json_prob(p->key, v);
	else
		print_color_u64(PRINT_JSON, COLOR_NONE, p->key, NULL, v);
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
		print_json_prob("prob", point->prob);
		close_json_object();
	}
	close_json_array(PRINT_JSON, NULL);
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

static void print_filter(const struct iqcn_param *p, const struct rtattr *attr)
{
	static const struct iqcn_param time = { .type = IQCN_PARAM_NS };
	char buf[SPRINT_BSIZE], text[2 * SPRINT_BSIZE];
	struct tc_iqcn_cnp_filter filter;

	if (RTA_PAYLOAD(attr) < sizeof(filter))
		return;
	memcpy(&filter, RTA_DATA(attr), sizeof(filter));
	if (!is_json_context()) {
		snprintf(text, sizeof(text), "%u/%s", filter.n,
			 time_text(&time, filter.interval_ns, buf));
		print_text(p, filter.mode == IQCN_CNP_FILTER_FIXED ? text :
			   name_of(filter_names, filter.mode));
		return;
	}
	open_json_object(p->key);
	print_color_string(PRINT_JSON, COLOR_NONE, "mode", NULL,
			   name_of(filter_names, filter.mode));
	if (filter.mode == IQCN_CNP_FILTER_FIXED) {
		print_color_uint(PRINT_JSON, COLOR_NONE, "n", NULL, filter.n);
		print_color_uint(PRINT_JSON, COLOR_NONE, "interval_ns", NULL,
				 filter.interval_ns);
	}
	close_json_object();
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
	uint64_t v64 = 0;
	uint32_t v = 0;

	if (p->type == IQCN_PARAM_BPS) {
		if (RTA_PAYLOAD(attr) < sizeof(v64))
			return;
		memcpy(&v64, RTA_DATA(attr), sizeof(v64));
		print_number(p, v64);
		return;
	}
	if (p->type == IQCN_PARAM_PROFILE) {
		print_profile(p, attr);
		return;
	}
	if (p->type == IQCN_PARAM_FILTER) {
		print_filter(p, attr);
		return;
	}
	if (!get_attr_u32(&v, attr))
		return;
	if (p->special && v == p->special_value)
		print_text(p, p->special);
	else if (p->type == IQCN_PARAM_NAME)
		print_text(p, name_of(p->names, v));
	else if (p->type == IQCN_PARAM_SET)
		print_set(p, v);
	else
		print_number(p, v);
}

static bool in_use(const struct iqcn_param *p, struct rtattr **tb);

/* Is the parameter @attr in use, with at least one of @bits set?  True if the
 * module did not send the parameter.
 */
static bool has_bits(struct rtattr **tb, int attr, uint32_t bits)
{
	const struct iqcn_param *p;
	uint32_t v;

	if (!get_attr_u32(&v, tb[attr]))
		return true;
	for_each_param(p)
		if (p->attr == attr)
			break;
	if (p->type == IQCN_PARAM_NAME)
		v = v < 32 ? 1u << v : 0;
	return v & bits && in_use(p, tb);
}

/* Is @p in use with the present modes, such as the methods of notify? */
static bool in_use(const struct iqcn_param *p, struct rtattr **tb)
{
	return !p->needs || has_bits(tb, p->needs, p->needs_bits) ||
	       (p->or_needs && has_bits(tb, p->or_needs, p->or_needs_bits));
}

/* If the default of a parameter follows the link or another parameter, no value
 * counts as the default, except for min-gap, whose default is computed here.
 * get_attr_u32() reads only the mode of a filter.
 */
static bool is_default(const struct iqcn_param *p, struct rtattr **tb)
{
	uint32_t v, t1_ns;

	if (p->type == IQCN_PARAM_PROFILE)
		return !RTA_PAYLOAD(tb[p->attr]);
	if (!get_attr_u32(&v, tb[p->attr]))
		return false;
	if (p->attr == TCA_IQCN_MIN_GAP_NS)
		return get_attr_u32(&t1_ns, tb[TCA_IQCN_T1_NS]) &&
		       v == min_uint(t1_ns, IQCN_DEFAULT_MIN_GAP_NS);
	return !p->follows && v == p->def;
}

/* Is @p printed without "tc -d"?  It must be in use; parameters for special
 * networks and for comparison must also differ from their defaults.
 */
static bool matters(const struct iqcn_param *p, struct rtattr **tb)
{
	return in_use(p, tb) &&
	       (p->tier == IQCN_TIER_NEED || p->tier == IQCN_TIER_METHOD ||
		!is_default(p, tb));
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

/* The topic of a line of counters.  In text, tc omits the lines about PFC and
 * about a long-haul link while the counters in is_used() are 0.
 */
enum about {
	ABOUT_QUEUE,
	ABOUT_PFC,
	ABOUT_LONG_HAUL,
};

/* A counter of struct tc_iqcn_xstats.  In JSON it is a member of the qdisc */
struct stat {
	const char *key;
	size_t offset;
	bool u32;
	bool new_line;			/* in text */
	enum about about;		/* topic of the line that begins here */
	bool prob;			/* a fraction of UINT32_MAX */
	const char *const *names;	/* names of values, NULL: a number */
};

#define STAT64(name) { #name, offsetof(struct tc_iqcn_xstats, name) }
#define STAT32(name) { #name, offsetof(struct tc_iqcn_xstats, name), .u32 = true }
#define LINE64(name) LINE64_ABOUT(name, ABOUT_QUEUE)
#define LINE64_ABOUT(name, what) \
	{ #name, offsetof(struct tc_iqcn_xstats, name), .new_line = true, .about = what }
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
	LINE64(cnp_seen), STAT64(cnp_sent), STAT64(cnp_deferred),
	STAT64(cnp_canceled), STAT64(cnp_budget), STAT64(cnp_unpaired),
	STAT64(cnp_error),
	LINE64(cnp_wreb), STAT64(cnp_pi), STAT64(cnp_poll), STAT64(cnp_drop),
	STAT64(cnp_gap), STAT64(bts_mark), STAT_PROB(bts_prob),
	STAT64(ref_bytes),
	LINE32(flows), STAT32(flows_paired), STAT32(flows_congested),
	STAT32(flows_active), STAT64(flow_new), STAT64(flow_aged),
	STAT64(flow_evicted), STAT64(flow_full),
	LINE64(paired), STAT64(contradicted), STAT64(malformed),
	STAT64(port_cnp_unmatched), STAT64(port_malformed),
	LINE64_ABOUT(pauses, ABOUT_PFC), STAT64(paused_ns), STAT64(pause_rx_bytes),
	STAT64(undetermined_ns), STAT64(cnp_pfc), STAT64(cnp_grant),
	STAT64(port_pfc_ignored),
	LINE64_ABOUT(pfc_clear, ABOUT_PFC), STAT64(pfc_rate), STAT64(pfc_unsure),
	STAT64(pfc_grew), STAT64(pfc_drained), STAT64(pfc_limit),
	STAT_NAME(pfc_state, pfc_state_names),
	STAT_NAME(pfc_reason, pfc_reason_names),
	LINE64_ABOUT(cnp_supplement, ABOUT_LONG_HAUL), STAT64(above_kmax_ns),
	STAT64(port_cnp_passed), STAT64(port_cnp_filtered),
	STAT64(leases), STAT64(leases_ended),
	LINE64(state_changes), STAT64(flow_state_changes),
	STAT64(state_since_ns), STAT_NAME(state_reason, reason_names),
	STAT64(ce_rate_bps), STAT64(roce_bps),
};

static bool is_used(enum about about, const struct tc_iqcn_xstats *st)
{
	switch (about) {
	case ABOUT_PFC:
		return st->pauses || st->port_pfc_ignored || st->cnp_grant;
	case ABOUT_LONG_HAUL:
		return st->cnp_supplement || st->above_kmax_ns ||
		       st->port_cnp_passed || st->port_cnp_filtered ||
		       st->leases;
	default:
		return true;
	}
}

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
		print_json_prob(s->key, v);
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
	bool shown = true;
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

		if (s->new_line)
			shown = is_json_context() || is_used(s->about, &st);
		if (!shown)
			continue;
		if (s->new_line && i)
			print_nl();
		print_stat(s, v);
	}
	print_congested(st.congested);
	return 0;
}

/* "iqcn version" and "iqcn check" read this symbol from the file, because only
 * tc, whose functions the plugin needs, can load the plugin.
 */
const char iqcn_plugin_version[] = IQCN_VERSION;

struct qdisc_util iqcn_qdisc_util = {
	.id = "iqcn",
	.parse_qopt = iqcn_parse_opt,
	.print_qopt = iqcn_print_opt,
	.print_xstats = iqcn_print_xstats,
};
