// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn top: layout of the screen.
 */
#define _GNU_SOURCE	/* qsort_r() */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/iqcn.h>

#include "flows.h"
#include "genl.h"
#include "iqcn.h"
#include "names.h"
#include "out.h"
#include "screen.h"
#include "top.h"

#define WIDTH_MIN 60
#define ROWS_MIN 14
/* Rows without queue or flow: title, sums, table heads, separators, keys */
#define ROWS_OF_NEITHER 10
/* Flows to print with --batch */
#define BATCH_FLOWS 20
/* On screens of at least this width, the table of queues has one more column */
#define WIDE 90
#define BAR_MIN 20
#define BAR_MAX 80
/* Width of the columns on an 80-column screen: of a queue without the bar, of a
 * flow without the two addresses
 */
#define BAR_OTHERS 55
#define ADDRESS_OTHERS 48
/* The screen shows the age of the list of flows if it is older than this */
#define OLD_NS (2 * NS_PER_S)

static const struct queue none;

/* @events of the interval as a rate per second; "-" in the first sample */
static void rate_text(char *buf, const struct top *t, double events)
{
	if (t->before.time_ns)
		count_text(buf, events * NS_PER_S /
				(t->now.time_ns - t->before.time_ns));
	else
		strcpy(buf, "-");
}

static void put_rate(const struct top *t, const char *name, uint64_t events)
{
	char text[VALUE_SIZE];

	rate_text(text, t, events);
	screen_put(LOOK_PLAIN, "%s ", name);
	screen_put(LOOK_STRONG, "%s", text);
	screen_put(LOOK_PLAIN, "  ");
}

/* The rate of events of which there have been @total */
static void put_optional_rate(const struct top *t, const char *name,
			      uint64_t total, uint64_t events)
{
	if (total)
		put_rate(t, name, events);
}

/* Sums over the queues of the selected device, or of all devices: current
 * values, and increases since the previous sample
 */
struct sums {
	struct queue now, since;
	uint64_t congested;
	uint64_t cnp_timer;	/* increase */
	/* of the ports: CNPs of receivers that the filters dropped, and the
	 * increase
	 */
	uint64_t filtered, filtered_since;
};

static void add_queue(struct sums *s, const struct queue *q,
		      const struct queue *before)
{
#define NOW(_name) (s->now._name += q->_name)
#define SINCE(_name) (s->since._name += risen(before->_name, q->_name))
	s->congested += !!q->congested;
	NOW(flows);
	NOW(flows_paired);
	NOW(flows_congested);
	NOW(flows_active);
	NOW(cnp_pfc);
	NOW(cnp_grant);
	NOW(cnp_supplement);
	SINCE(tx_bytes);
	SINCE(tx_packets);
	SINCE(ce_sent);
	SINCE(drop_overlimit);
	SINCE(cnp_seen);
	SINCE(cnp_sent);
	SINCE(cnp_wreb);
	SINCE(cnp_pi);
	SINCE(cnp_poll);
	SINCE(cnp_drop);
	SINCE(cnp_pfc);
	SINCE(cnp_grant);
	SINCE(cnp_supplement);
	SINCE(cnp_unpaired);
	SINCE(cnp_budget);
	SINCE(cnp_gap);
	s->cnp_timer += risen(queue_cnp_timer(before), queue_cnp_timer(q));
}

static void add_ports(struct sums *s, const struct top *t)
{
	const struct port *p, *b;

	for (p = t->now.ports; p < t->now.ports + t->now.n_ports; p++) {
		if (t->ifindex && p->ifindex != t->ifindex)
			continue;
		s->filtered += p->cnp_filtered;
		for (b = t->before.ports;
		     b < t->before.ports + t->before.n_ports; b++)
			if (b->ifindex == p->ifindex)
				s->filtered_since += risen(b->cnp_filtered,
							   p->cnp_filtered);
	}
}

/* Queues of the selected device, or of all, as indices in t->now.queues */
struct shown {
	size_t *at;
	size_t n;
};

static bool choose_queues(struct shown *shown, const struct top *t)
{
	size_t i;

	shown->n = 0;
	shown->at = calloc(t->now.n_queues + 1, sizeof(*shown->at));
	if (!shown->at)
		return false;
	for (i = 0; i < t->now.n_queues; i++)
		if (!t->ifindex || t->now.queues[i].dev == t->ifindex)
			shown->at[shown->n++] = i;
	return true;
}

static const struct queue *queue_before(const struct top *t, size_t i)
{
	const struct queue *before = snapshot_queue(&t->before, &t->now, i);

	return before ? before : &none;
}

static void draw_title(const struct top *t)
{
	static const char *const orders[] = {
		[ORDER_CNPS] = "CNPs",
		[ORDER_RATE] = "CE rate",
		[ORDER_AGE] = "age",
		[ORDER_CNP_RATE] = "CNPs",
	};
	char interval[VALUE_SIZE], clock[VALUE_SIZE];
	time_t now = time(NULL);

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	time_text(interval, t->interval_ns);
	screen_put(LOOK_HEAD, "iqcn top  %s  %s  every %s  sorted by %s%s",
		   clock, t->ifindex ? dev_escaped(t->ifindex) : "all devices",
		   interval, orders[t->order], t->paused ? "  PAUSED" : "");
	screen_fill(LOOK_HEAD);
	screen_next_line();
}

static void draw_sums(const struct top *t, const struct shown *shown)
{
	struct sums s = {};
	size_t i;

	for (i = 0; i < shown->n; i++)
		add_queue(&s, &t->now.queues[shown->at[i]],
			  queue_before(t, shown->at[i]));
	add_ports(&s, t);

	screen_put(LOOK_PLAIN, "ports %zu  queues %zu, ",
		   t->ifindex ? 1 : t->now.n_ports, shown->n);
	screen_put(s.congested ? LOOK_BAD : LOOK_GOOD, "%" PRIu64 " congested",
		   s.congested);
	screen_put(LOOK_PLAIN, "  flows %" PRIu64 ", %" PRIu64 " paired, %"
		   PRIu64 " congested, %" PRIu64 " active", s.now.flows,
		   s.now.flows_paired, s.now.flows_congested,
		   s.now.flows_active);
	screen_next_line();

	put_rate(t, "bit/s", s.since.tx_bytes * 8);
	put_rate(t, "packets/s", s.since.tx_packets);
	put_rate(t, "CE/s", s.since.ce_sent);
	put_rate(t, "drops/s", s.since.drop_overlimit);
	screen_next_line();

	put_rate(t, "CNPs/s sent", s.since.cnp_sent);
	put_rate(t, "for: timer", s.cnp_timer);
	put_rate(t, "wreb", s.since.cnp_wreb);
	put_rate(t, "pi", s.since.cnp_pi);
	put_rate(t, "poll", s.since.cnp_poll);
	put_rate(t, "drop", s.since.cnp_drop);
	put_optional_rate(t, "pfc", s.now.cnp_pfc, s.since.cnp_pfc);
	put_optional_rate(t, "grant", s.now.cnp_grant, s.since.cnp_grant);
	put_optional_rate(t, "supplement", s.now.cnp_supplement,
			  s.since.cnp_supplement);
	screen_next_line();

	put_rate(t, "CNPs/s of receivers", s.since.cnp_seen);
	put_optional_rate(t, "filtered", s.filtered, s.filtered_since);
	put_rate(t, "not sent: unpaired", s.since.cnp_unpaired);
	put_rate(t, "gap", s.since.cnp_gap);
	put_rate(t, "budget", s.since.cnp_budget);
	screen_next_line();
}

/* Map @v from the range @low..@high to the cells @from..@to */
static int cells(uint64_t v, uint64_t low, uint64_t high, int from, int to)
{
	if (v >= high)
		return to;
	return from + (v - low) * (to - from) / (high - low);
}

/* Kmin is at a quarter of the bar, Kmax at half, the limit at its end */
static void draw_bar(const struct queue *q, int width)
{
	int kmin = width / 4, kmax = width / 2, full, i;
	enum look look;

	if (q->depth_bytes < q->kmin_bytes)
		full = cells(q->depth_bytes, 0, q->kmin_bytes, 0, kmin);
	else if (q->depth_bytes < q->kmax_bytes)
		full = cells(q->depth_bytes, q->kmin_bytes, q->kmax_bytes,
			     kmin, kmax);
	else
		full = cells(q->depth_bytes, q->kmax_bytes, q->limit_bytes,
			     kmax, width);
	if (q->depth_bytes && !full)
		full = 1;
	screen_put(LOOK_PLAIN, "[");
	for (i = 0; i < width; i++) {
		look = i < kmin ? LOOK_BLOCK_GOOD :
		       i < kmax ? LOOK_BLOCK_SOME : LOOK_BLOCK_BAD;
		if (i == kmin || i == kmax)
			screen_put(LOOK_PLAIN, "|");
		else if (i < full)
			screen_put(look, "#");
		else
			screen_put(LOOK_PLAIN, " ");
	}
	screen_put(LOOK_PLAIN, "] ");
}

static bool is_wide(void)
{
	return screen_width() >= WIDE;
}

/* The bar gets the width that the other columns leave */
static int bar_width(void)
{
	int width = screen_width() - BAR_OTHERS - (is_wide() ? 7 : 0);

	return width < BAR_MIN ? BAR_MIN : width > BAR_MAX ? BAR_MAX : width;
}

static void draw_queues_head(void)
{
	int width = bar_width(), kmin = width / 4, kmax = width / 2;

	screen_put(LOOK_HEAD, "%-8s %-7s %-5s %5s ", "DEV", "PARENT", "STATE",
		   "DEPTH");
	screen_put(LOOK_HEAD, " %-*s%-*s%-*s%5s  ", kmin, "0", kmax - kmin,
		   "KMIN", width - kmax - 5, "KMAX", "LIMIT");
	screen_put(LOOK_HEAD, "%5s %5s %5s %5s", "BIT/S", "CE/S", "CNP/S",
		   "FLOWS");
	if (is_wide())
		screen_put(LOOK_HEAD, " %6s", "DROP/S");
	screen_fill(LOOK_HEAD);
	screen_next_line();
}

static void draw_queue(const struct top *t, size_t i)
{
	const struct queue *q = &t->now.queues[i], *before;
	char text[VALUE_SIZE];

	before = queue_before(t, i);
	value_text(text, FORM_PARENT, NULL, q->parent);
	screen_put(LOOK_PLAIN, "%-8.8s %-7.7s ", dev_escaped(q->dev), text);
	value_text(text, FORM_NAME, reason_names, q->state_reason);
	if (q->pfc_state == IQCN_PFC_STATE_PAUSED)
		screen_put(LOOK_STRONG, "%-5s ", "pause");
	else if (q->pfc_state == IQCN_PFC_STATE_UNDETERMINED)
		screen_put(LOOK_STRONG, "%-5s ", "doubt");
	else
		screen_put(q->congested ? LOOK_BAD : LOOK_GOOD, "%-5.5s ",
			   q->congested ? text : "clear");
	count_text(text, q->depth_bytes);
	screen_put(LOOK_STRONG, "%5s ", text);
	draw_bar(q, bar_width());
	rate_text(text, t, risen(before->tx_bytes, q->tx_bytes) * 8.0);
	screen_put(LOOK_PLAIN, "%5s ", text);
	rate_text(text, t, risen(before->ce_sent, q->ce_sent));
	screen_put(LOOK_PLAIN, "%5s ", text);
	rate_text(text, t, risen(before->cnp_sent, q->cnp_sent));
	screen_put(LOOK_STRONG, "%5s ", text);
	count_text(text, q->flows);
	screen_put(LOOK_PLAIN, "%5s", text);
	rate_text(text, t, risen(before->drop_overlimit, q->drop_overlimit));
	if (is_wide())
		screen_put(LOOK_PLAIN, " %6s", text);
	screen_next_line();
}

/* Sort order if there is not enough room for all queues */
static int deeper_first(const void *x, const void *y, void *queues)
{
	const size_t *a = x, *b = y;
	const struct queue *qa = (struct queue *)queues + *a;
	const struct queue *qb = (struct queue *)queues + *b;

	if (!qa->congested != !qb->congested)
		return qa->congested ? -1 : 1;
	if (qa->depth_bytes != qb->depth_bytes)
		return qa->depth_bytes > qb->depth_bytes ? -1 : 1;
	return *a < *b ? -1 : 1;
}

/* Draw the head and at most @rows lines: if there are more queues, draw the
 * congested and the deepest ones, and print how many others there are
 */
static void draw_queues(const struct top *t, struct shown *shown, size_t rows)
{
	size_t i, n = shown->n;

	draw_queues_head();
	if (!n) {
		screen_put(LOOK_PLAIN, "no qdisc iqcn");
		screen_next_line();
		return;
	}
	if (n > rows) {
		qsort_r(shown->at, n, sizeof(*shown->at), deeper_first,
			t->now.queues);
		n = rows - 1;
	}
	for (i = 0; i < n; i++)
		draw_queue(t, shown->at[i]);
	if (n == shown->n)
		return;
	screen_put(LOOK_PLAIN, "and %zu more", shown->n - n);
	screen_next_line();
}

static void cnp_rate_text(char *buf, const struct ranked *r)
{
	count_text(buf, r->speed.cnp_pps);
}

static void ce_rate_text(char *buf, const struct ranked *r)
{
	count_text(buf, r->speed.ce_pps);
}

/* Columns of the flows; as many as fit on the screen are drawn */
static const struct column {
	const char *name;
	int width;		/* negative: aligned to the left */
	void (*text)(char *buf, const struct ranked *r);
} columns[] = {
	{ "DEV", -8, dev_text },
	{ "SRC", -15, src_text },
	{ "DST", -15, dst_text },
	{ "DEST-QP", -8, dest_qp_text },
	{ "CNP/S", 6, cnp_rate_text },
	{ "CE/S", 6, ce_rate_text },
	{ "STATE", -5, state_text },
	{ "AGE", 7, age_text },
	{ "PAIR", -7, pair_text },
	{ "SRC-QP", -8, src_qp_text },
	{ "CNP-SENT", 9, cnp_sent_text },
	{ "CNP-SEEN", 9, cnp_seen_text },
	{ "QUEUED", 6, queued_text },
	{ "PARENT", -9, parent_text },
	{ "VLAN", -9, vlan_text },
};

static enum look cell_look(const struct column *c, const struct ranked *r)
{
	if (c->text == cnp_rate_text)
		return LOOK_STRONG;
	if (c->text == state_text)
		return r->flow.congested ? LOOK_BAD : LOOK_GOOD;
	return LOOK_PLAIN;
}

/* Flows on the screen, and the widths of their columns */
struct table {
	const struct ranked *flows;
	size_t n;
	int widths[ARRAY_SIZE(columns)];
	size_t n_columns;
};

/* Widen a column for long addresses, up to @room */
static void widen(struct table *table, size_t column, int room)
{
	int *width = &table->widths[column];
	char text[VALUE_SIZE];
	size_t i;

	for (i = 0; i < table->n; i++) {
		columns[column].text(text, &table->flows[i]);
		if ((int)strlen(text) > -*width)
			*width = -(int)strlen(text);
	}
	if (-*width > room)
		*width = room < -columns[column].width ? columns[column].width :
							 -room;
}

static void choose_columns(struct table *table)
{
	int room = screen_width() + 1;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		table->widths[i] = columns[i].width;
	widen(table, 1, (room - ADDRESS_OTHERS) / 2);
	widen(table, 2, (room - ADDRESS_OTHERS) / 2);
	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		room -= abs(table->widths[i]) + 1;
		if (room < 0)
			break;
	}
	table->n_columns = i;
}

static void draw_cell(const struct table *table, size_t column, enum look look,
		      char *text)
{
	int width = abs(table->widths[column]);

	if ((int)strlen(text) > width)
		strcpy(text + width - 1, "~");
	screen_put(look, "%*s ", table->widths[column], text);
}

static void draw_table(const struct table *table)
{
	char text[VALUE_SIZE];
	size_t i, j;

	for (j = 0; j < table->n_columns; j++) {
		strcpy(text, columns[j].name);
		draw_cell(table, j, LOOK_HEAD, text);
	}
	screen_fill(LOOK_HEAD);
	screen_next_line();
	for (i = 0; i < table->n; i++) {
		for (j = 0; j < table->n_columns; j++) {
			columns[j].text(text, &table->flows[i]);
			draw_cell(table, j,
				  cell_look(&columns[j], &table->flows[i]),
				  text);
		}
		screen_next_line();
	}
}

static void draw_flows(struct top *t, size_t rows)
{
	struct table table = {};
	size_t last = t->n_flows > rows ? t->n_flows - rows : 0;

	t->lines = rows;
	if (t->flows_denied) {
		screen_put(LOOK_SOME, "%s", FLOWS_NEED " (try sudo)");
		screen_next_line();
		return;
	}
	if (t->first > last)
		t->first = last;
	table.flows = t->flows + t->first;
	table.n = t->n_flows - t->first;
	if (table.n > rows)
		table.n = rows;
	choose_columns(&table);
	draw_table(&table);
}

static void draw_keys(const struct top *t)
{
	uint64_t old_ns = t->now.time_ns - t->flows_ns;
	char text[VALUE_SIZE];

	if (t->n_flows && t->now.time_ns > t->flows_ns && old_ns >= OLD_NS) {
		time_text(text, old_ns);
		screen_put(LOOK_SOME, "flows of %s ago  ", text);
	}
	screen_put(LOOK_PLAIN, "q quit  s sort  Tab device  p pause  h help");
	if (t->first)
		screen_put(LOOK_SOME, "  from flow %zu", t->first + 1);
}

static void draw_help(void)
{
	static const char *const lines[] = {
		"q               quit",
		"s               sort flows by CNPs per second, by CE packets",
		"                per second, by age",
		"Tab, Right      next device; after the last one: all devices",
		"Left            previous device",
		"Up, Down, PgUp, PgDn, Home",
		"                scroll flows",
		"p, Space        pause or continue",
		"h, ?            this help; any key closes it",
		"",
		"iqcn(8) explains the columns.",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		screen_put(LOOK_PLAIN, "%s", lines[i]);
		screen_next_line();
	}
}

static bool is_too_small(void)
{
	return screen_rows() &&
	       (screen_rows() < ROWS_MIN || screen_width() < WIDTH_MIN);
}

static void draw_too_small(void)
{
	screen_put(LOOK_STRONG, "Terminal too small:");
	screen_next_line();
	screen_put(LOOK_PLAIN, "%dx%d, needs %dx%d", screen_width(),
		   screen_rows(), WIDTH_MIN, ROWS_MIN);
}

static void draw_all(struct top *t)
{
	size_t room = screen_rows() - ROWS_OF_NEITHER, rows;
	struct shown shown;

	if (!choose_queues(&shown, t))
		return;
	/* queues get up to half of the rows that they share with the flows */
	rows = shown.n + 1;
	if (screen_rows() && rows > room / 2)
		rows = room / 2;
	draw_title(t);
	draw_sums(t, &shown);
	screen_next_line();
	draw_queues(t, &shown, rows);
	free(shown.at);
	screen_next_line();
	if (screen_rows()) {
		draw_flows(t, screen_rows() - screen_row() - 2);
		screen_last_line();
		draw_keys(t);
	} else {
		draw_flows(t, BATCH_FLOWS);
		screen_next_line();
	}
}

void top_draw(struct top *t)
{
	screen_begin();
	if (is_too_small())
		draw_too_small();
	else if (t->help)
		draw_help();
	else
		draw_all(t);
	screen_end();
}
