// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn flows: source, destination, pairing, congestion and CNPs of flows.
 *
 * Flows are printed as the kernel sends them, because there may be a million;
 * only a sorted list is kept in memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flows.h"
#include "genl.h"
#include "iqcn.h"
#include "names.h"
#include "out.h"
#include "rank.h"
#include "snapshot.h"

/* Time between the two dumps from which CE rates are computed */
#define RATE_INTERVAL_MS 1000
#define COLUMNS_MAX 32
/* A cell has at most VALUE_SIZE characters and a space */
#define ROW_SIZE (COLUMNS_MAX * (VALUE_SIZE + 1))

struct flows {
	bool json;
	const char *dev;	/* NULL: all */
	uint32_t ifindex;
	uint32_t filter;
	struct address src, dst;	/* to show; empty: all */
	uint32_t qp;
	bool has_qp;
	enum order order;
	uint64_t limit;		/* 0: all */
	bool begun;
	uint64_t shown;
	struct rates *rates;
	struct ranking *ranking;
	bool no_memory;
	/* the columns that fit, as indices in all_columns[] */
	size_t columns[COLUMNS_MAX];
	size_t n_columns;
};

void dev_text(char *buf, const struct ranked *r)
{
	value_text(buf, FORM_DEV, NULL, r->flow.dev);
}

void src_text(char *buf, const struct ranked *r)
{
	address_text(buf, &r->flow.src);
}

void dst_text(char *buf, const struct ranked *r)
{
	address_text(buf, &r->flow.dst);
}

void dest_qp_text(char *buf, const struct ranked *r)
{
	qp_text(buf, r->flow.dest_qp);
}

void src_qp_text(char *buf, const struct ranked *r)
{
	if (object_has(&r->flow, IQCN_A_FLOW_SRC_QP))
		qp_text(buf, r->flow.src_qp);
	else
		strcpy(buf, "-");
}

/* The grade of the pairing, in parentheses if it is too weak for CNPs */
void pair_text(char *buf, const struct ranked *r)
{
	char name[VALUE_SIZE];

	value_text(name, FORM_NAME, pair_names, r->flow.pair);
	if (r->flow.paired || !r->flow.pair)
		strcpy(buf, name);
	else
		snprintf(buf, VALUE_SIZE, "(%.16s)", name);
}

/* The reason for the congestion, or "clear" */
void state_text(char *buf, const struct ranked *r)
{
	if (r->flow.congested)
		value_text(buf, FORM_NAME, reason_names, r->flow.state_reason);
	else
		strcpy(buf, "clear");
}

static void number_text(char *buf, uint64_t v)
{
	value_text(buf, FORM_NUMBER, NULL, v);
}

void cnp_sent_text(char *buf, const struct ranked *r)
{
	number_text(buf, r->flow.cnp_sent);
}

void cnp_seen_text(char *buf, const struct ranked *r)
{
	number_text(buf, r->flow.cnp_seen);
}

static void ce_text(char *buf, const struct ranked *r)
{
	number_text(buf, r->flow.ce_sent);
}

static void rate_text(char *buf, const struct ranked *r)
{
	number_text(buf, r->speed.ce_pps);
}

static void idle_text(char *buf, const struct ranked *r)
{
	time_text(buf, r->flow.ce_age_ns);
}

void age_text(char *buf, const struct ranked *r)
{
	time_text(buf, r->flow.age_ns);
}

void parent_text(char *buf, const struct ranked *r)
{
	value_text(buf, FORM_PARENT, NULL, r->flow.parent);
}

void vlan_text(char *buf, const struct ranked *r)
{
	if (r->flow.inner_vid)
		snprintf(buf, VALUE_SIZE, "%" PRIu64 ".%" PRIu64, r->flow.vid,
			 r->flow.inner_vid);
	else if (r->flow.vid)
		number_text(buf, r->flow.vid);
	else
		strcpy(buf, "-");
}

void queued_text(char *buf, const struct ranked *r)
{
	number_text(buf, r->flow.queued);
}

/* 0 means unknown */
static void known_time_text(char *buf, uint64_t ns)
{
	if (ns)
		time_text(buf, ns);
	else
		strcpy(buf, "-");
}

static void ce_to_cnp_text(char *buf, const struct ranked *r)
{
	known_time_text(buf, r->flow.ce_to_cnp_ns);
}

static void interval_text(char *buf, const struct ranked *r)
{
	known_time_text(buf, r->flow.cnp_interval_ns);
}

/* The columns that fit on the screen are shown, from left to right.  The first
 * eight fit in 80 characters, and include what the list is sorted by.
 */
static const struct column {
	const char *name;
	int width;		/* negative: aligned to the left */
	void (*text)(char *buf, const struct ranked *r);
	enum order order;	/* show only in a list of this order */
} all_columns[] = {
	{ "DEV", -8, dev_text },
	{ "SRC", -15, src_text },
	{ "DST", -15, dst_text },
	{ "DEST-QP", -8, dest_qp_text },
	{ "PAIR", -5, pair_text },
	{ "STATE", -5, state_text },
	{ "CE/S", 8, rate_text, ORDER_RATE },
	{ "AGE", 8, age_text, ORDER_AGE },
	{ "CNP-SENT", 9, cnp_sent_text },
	{ "CNP-SEEN", 8, cnp_seen_text },
	{ "CE", 10, ce_text },
	{ "IDLE", 7, idle_text },
	{ "AGE", 7, age_text },
	{ "SRC-QP", 8, src_qp_text },
	{ "PARENT", -9, parent_text },
	{ "VLAN", -9, vlan_text },
	{ "QUEUED", 6, queued_text },
	{ "CE-CNP", 7, ce_to_cnp_text },
	{ "CNP-GAP", 7, interval_text },
};

_Static_assert(ARRAY_SIZE(all_columns) <= COLUMNS_MAX, "columns");

static void choose_columns(struct flows *s)
{
	int room = screen_columns() + 1;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all_columns); i++) {
		const struct column *c = &all_columns[i];

		if (c->order && c->order != s->order)
			continue;
		room -= abs(c->width) + 1;
		if (room < 0)
			break;
		s->columns[s->n_columns++] = i;
	}
	/* the screen is narrower than the first column */
	if (!s->n_columns)
		s->columns[s->n_columns++] = 0;
}

/* Append a cell to a row; a cell that is too wide shifts those behind it.  With
 * printf(), this function would take half of the time per flow.
 */
static size_t put_cell(const struct flows *s, size_t i, char *at,
		       const char *text)
{
	const struct column *c = &all_columns[s->columns[i]];
	bool last = i == s->n_columns - 1;
	size_t len = strlen(text), width = abs(c->width);
	size_t pad = len < width ? width - len : 0;
	char *from = at;

	if (c->width > 0)
		at = (char *)memset(at, ' ', pad) + pad;
	at = (char *)memcpy(at, text, len) + len;
	if (c->width < 0 && !last)
		at = (char *)memset(at, ' ', pad) + pad;
	*at++ = last ? '\n' : ' ';
	return at - from;
}

static void print_header(const struct flows *s)
{
	char row[ROW_SIZE];
	size_t i, len = 0;

	for (i = 0; i < s->n_columns; i++)
		len += put_cell(s, i, row + len,
				all_columns[s->columns[i]].name);
	fwrite(row, 1, len, stdout);
}

static void print_row(const struct flows *s, const struct ranked *r)
{
	char row[ROW_SIZE], text[VALUE_SIZE];
	size_t i, len = 0;

	for (i = 0; i < s->n_columns; i++) {
		all_columns[s->columns[i]].text(text, r);
		len += put_cell(s, i, row + len, text);
	}
	fwrite(row, 1, len, stdout);
}

static void begin(struct flows *s)
{
	if (s->begun)
		return;
	s->begun = true;
	if (s->json)
		json_array_begin();
	else
		print_header(s);
}

static void print_flow(struct flows *s, const struct ranked *r)
{
	struct json_object *o;

	begin(s);
	s->shown++;
	if (!s->json) {
		print_row(s, r);
		return;
	}
	o = object_json(&flow_object, &r->flow);
	if (s->order == ORDER_RATE)
		json_add(o, "ce_pps", value_json(FORM_NUMBER, NULL,
						 r->speed.ce_pps));
	json_array_element(o);
}

static bool is_address(const struct address *wanted, const struct address *a)
{
	return !wanted->len || (a->len == wanted->len &&
				!memcmp(a->bytes, wanted->bytes, a->len));
}

/* Apply the filters that the kernel does not implement */
static bool is_wanted(const struct flows *s, const struct flow *f)
{
	return is_address(&s->src, &f->src) && is_address(&s->dst, &f->dst) &&
	       (!s->has_qp || f->dest_qp == s->qp ||
		(object_has(f, IQCN_A_FLOW_SRC_QP) && f->src_qp == s->qp));
}

static bool show_flow(const struct flow *f, void *arg)
{
	struct ranked r = { *f };
	struct flows *s = arg;

	if (!is_wanted(s, f))
		return true;
	print_flow(s, &r);
	return !out_closed() && s->shown != s->limit;
}

static bool first_dump(const struct flow *f, void *arg)
{
	struct flows *s = arg;
	struct speed speed;

	if (is_wanted(s, f))
		s->no_memory = rates_update(s->rates, f, &speed);
	return !s->no_memory;
}

static bool rank_flow(const struct flow *f, void *arg)
{
	struct ranked r = { *f };
	struct flows *s = arg;

	if (!is_wanted(s, f))
		return true;
	s->no_memory = (s->rates && rates_update(s->rates, f, &r.speed)) ||
		       ranking_add(s->ranking, &r);
	return !s->no_memory;
}

static int dump(struct flows *s, struct genl *g, flow_fn fn)
{
	int err = genl_flows(g, s->ifindex, s->filter, fn, s);

	if (s->no_memory)
		return fail("flows", strerror(ENOMEM));
	/* before Linux 6.7 a dump has no extack message */
	if (err == -ENODEV && s->dev)
		return fail(s->dev, "no qdisc iqcn");
	return err ? fail("flows", genl_why(g)) : EXIT_SUCCESS;
}

/* Computing rates needs two dumps: do the first one, and wait for the interval
 */
static int dump_first(struct flows *s, struct genl *g)
{
	struct timespec interval = {
		RATE_INTERVAL_MS / 1000, RATE_INTERVAL_MS % 1000 * 1000000
	};
	int ret;

	s->rates = rates_new();
	if (!s->rates)
		return fail("flows", strerror(ENOMEM));
	ret = dump(s, g, first_dump);
	rates_end(s->rates, now_ns());
	if (!ret)
		nanosleep(&interval, NULL);
	rates_begin(s->rates, now_ns());
	return ret;
}

static int rank_flows(struct flows *s, struct genl *g)
{
	int ret = EXIT_SUCCESS;

	s->ranking = ranking_new(s->order, s->limit);
	if (!s->ranking)
		return fail("flows", strerror(ENOMEM));
	if (s->order == ORDER_RATE)
		ret = dump_first(s, g);
	return ret ? ret : dump(s, g, rank_flow);
}

static void show_ranking(struct flows *s)
{
	const struct ranked *list;
	size_t i, n;

	list = ranking_list(s->ranking, &n);
	for (i = 0; i < n && !out_closed(); i++)
		print_flow(s, &list[i]);
}

static int show_flows(struct flows *s, struct genl *g)
{
	int ret;

	choose_columns(s);
	if (s->order)
		ret = rank_flows(s, g);
	else
		ret = dump(s, g, show_flow);
	if (s->order && !ret)
		show_ranking(s);
	if (!ret)
		begin(s);
	/* keep the JSON valid even if the dump failed */
	if (s->json && s->begun)
		json_array_end();
	return ret;
}

enum { CONGESTED = 256, PAIRED, SRC, DST, QP, SORT, LIMIT };

static const struct option options[] = {
	{ "congested", no_argument, NULL, CONGESTED },
	{ "paired", no_argument, NULL, PAIRED },
	{ "src", required_argument, NULL, SRC },
	{ "dst", required_argument, NULL, DST },
	{ "qp", required_argument, NULL, QP },
	{ "sort", required_argument, NULL, SORT },
	{ "limit", required_argument, NULL, LIMIT },
	{}
};

static int parse_args(struct flows *s, int argc, char **argv)
{
	int c, ret = EXIT_SUCCESS;

	while (!ret && (c = next_option(argc, argv, options)) != -1) {
		switch (c) {
		case 'j':
			s->json = true;
			break;
		case CONGESTED:
			s->filter |= IQCN_FILTER_CONGESTED;
			break;
		case PAIRED:
			s->filter |= IQCN_FILTER_PAIRED;
			break;
		case SRC:
			ret = parse_ip(optarg, &s->src);
			break;
		case DST:
			ret = parse_ip(optarg, &s->dst);
			break;
		case QP:
			ret = parse_qp(optarg, &s->qp);
			s->has_qp = true;
			break;
		case SORT:
			ret = parse_order(optarg, &s->order);
			break;
		case LIMIT:
			ret = parse_count(optarg, &s->limit);
			break;
		default:
			ret = EXIT_USAGE;
		}
	}
	if (!ret && argc > optind + 1)
		ret = misuse("unexpected word", argv[optind + 1]);
	s->dev = argv[optind];
	return ret ? ret : parse_dev(s->dev, &s->ifindex);
}

int cmd_flows(int argc, char **argv)
{
	struct flows s = {};
	struct genl *g;
	int ret;

	ret = parse_args(&s, argc, argv);
	if (ret)
		return ret;
	g = genl_open();
	if (!g)
		return EXIT_FAILURE;
	ret = show_flows(&s, g);
	ranking_free(s.ranking);
	rates_free(s.rates);
	genl_close(g);
	return ret;
}
