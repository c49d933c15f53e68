// SPDX-License-Identifier: GPL-2.0
/*
 * A qdisc in a few lines: state, depth and delay, packets, CNPs, flows, and
 * what to do next.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <linux/pkt_sched.h>

#include "iqcn.h"
#include "names.h"
#include "out.h"
#include "param.h"
#include "summary.h"

#define INDENT 10
#define LINE_SIZE 512
/* Items of fewer characters do not wrap, because they fit in 40 columns */
#define SHORT 30

struct summary {
	FILE *f;
	const struct qdisc *q;
	const struct port *port;	/* or NULL */
	struct stats since;	/* counters: since the baseline, if any */
	struct nlattr *params[TCA_IQCN_MAX + 1];
	char line[LINE_SIZE];	/* being filled */
};

/* Append an item, with a comma after the previous one; short items do not wrap
 */
static __attribute__((format(printf, 2, 3)))
void add(struct summary *s, const char *format, ...)
{
	size_t len = strlen(s->line);
	va_list args;
	char *c;
	int n;

	if (len)
		len += snprintf(s->line + len, LINE_SIZE - len, ", ");
	if (len >= LINE_SIZE)
		return;
	va_start(args, format);
	n = vsnprintf(s->line + len, LINE_SIZE - len, format, args);
	va_end(args);
	for (c = s->line + len; n < SHORT && *c; c++)
		if (*c == ' ')
			*c = UNBROKEN;
}

static void put(struct summary *s, const char *label)
{
	int column;

	if (!*s->line)
		return;
	column = fprintf(s->f, "  %-*s", INDENT - 2, label);
	wrap_text(s->f, INDENT, column, s->line);
	*s->line = '\0';
}

static bool param(const struct summary *s, int attr, uint64_t *v)
{
	return param_number(s->params[attr], v);
}

/* The place, the state and its age, and the methods */
static void put_title(struct summary *s)
{
	const struct tc_iqcn_xstats *app = &s->since.app;
	char parent[VALUE_SIZE], text[VALUE_SIZE], state[VALUE_SIZE + 16] = "";
	char age[VALUE_SIZE] = "", title[LINE_SIZE + 1];
	uint64_t notify;
	int column;

	value_text(parent, FORM_PARENT, NULL, s->q->parent);
	if (STATS_HAS(&s->since, congested)) {
		value_text(text, FORM_SET, detect_names, app->congested);
		snprintf(state, sizeof(state), app->congested ?
			 "congested by %s" : "clear", text);
	}
	if (STATS_HAS(&s->since, state_since_ns) && app->state_since_ns) {
		time_text(text, app->state_since_ns);
		snprintf(age, sizeof(age), " for %.32s", text);
	}
	column = fprintf(s->f, "%s %s%s handle %x:", dev_escaped(s->q->ifindex),
			 s->q->parent == TC_H_ROOT ? "" : "parent ", parent,
			 s->q->handle >> 16);
	if (*state)
		add(s, "%s%s", state, age);
	if (param(s, TCA_IQCN_NOTIFY, &notify)) {
		value_text(text, FORM_SET, notify_names, notify);
		add(s, "notify %s", notify ? text : "off");
	}
	snprintf(title, sizeof(title), " %s", s->line);
	wrap_text(s->f, 4, column, *s->line ? title : "");
	*s->line = '\0';
}

static void add_size(struct summary *s, const char *name, uint64_t bytes)
{
	char text[VALUE_SIZE];

	size_text(text, bytes);
	add(s, "%s%s", name, text);
}

static void put_depth(struct summary *s)
{
	const struct tc_iqcn_xstats *app = &s->since.app;
	uint64_t v;

	add_size(s, "", s->since.queue.backlog);
	/* a peak of 0: all packets took the fast path, below Kmin */
	if (STATS_HAS(&s->since, depth_peak_bytes) && app->depth_peak_bytes)
		add_size(s, "peak ", app->depth_peak_bytes);
	else if (STATS_HAS(&s->since, depth_peak_bytes))
		add(s, "peak below kmin");
	if (param(s, TCA_IQCN_KMIN_BYTES, &v))
		add_size(s, "kmin ", v);
	if (param(s, TCA_IQCN_LIMIT_BYTES, &v))
		add_size(s, "limit ", v);
	put(s, "depth");
}

static void add_time(struct summary *s, const char *name, uint64_t ns)
{
	char text[VALUE_SIZE];

	time_text(text, ns);
	add(s, "%s %s", name, text);
}

static void put_delay(struct summary *s)
{
	const struct tc_iqcn_xstats *app = &s->since.app;

	if (!STATS_HAS(&s->since, delay_peak_ns))
		return;
	if (app->delay_samples)
		add_time(s, "average", app->delay_sum_ns / app->delay_samples);
	if (app->delay_avg_ns)
		add_time(s, "recently", app->delay_avg_ns);
	if (app->delay_peak_ns)
		add_time(s, "peak", app->delay_peak_ns);
	if (!*s->line)
		add(s, "no CE packet was measured");
	put(s, "delay");
}

static void add_count(struct summary *s, uint64_t n, const char *what)
{
	char text[VALUE_SIZE];

	count_text(text, n);
	add(s, "%s%s", text, what);
}

static void put_packets(struct summary *s)
{
	const struct tc_iqcn_xstats *app = &s->since.app;

	add_count(s, s->since.packets, s->since.packets == 1 ?
		  " packet" : " packets");
	add_size(s, "", s->since.basic.bytes);
	add_count(s, s->since.queue.drops, " dropped");
	put(s, "sent");

	if (!STATS_HAS(&s->since, ce_in))
		return;
	add_count(s, app->ecn_mark, app->ecn_mark == 1 ?
		  " packet" : " packets");
	if (STATS_HAS(&s->since, marked_bytes))
		add_size(s, "", app->marked_bytes);
	add_count(s, app->ce_in, " arrived with CE");
	put(s, "marked");
}

static void put_flows(struct summary *s)
{
	const struct tc_iqcn_xstats *app = &s->since.app;

	if (STATS_HAS(&s->since, cnp_seen) && STATS_HAS(&s->since, cnp_sent)) {
		add_count(s, app->cnp_sent, " sent");
		add_count(s, app->cnp_seen, " from receivers");
		put(s, "CNPs");
	}
	if (STATS_HAS(&s->since, flows_congested)) {
		add_count(s, app->flows, "");
		add_count(s, app->flows_paired, " paired");
		add_count(s, app->flows_congested, " congested");
		put(s, "flows");
	}
}

/* The line about PFC, only for a queue that detects pauses */
static void put_pfc(struct summary *s)
{
	const struct tc_iqcn_xstats *app = &s->since.app;
	char state[VALUE_SIZE], paused[VALUE_SIZE];
	uint64_t pfc;

	if (!param(s, TCA_IQCN_PFC, &pfc) || pfc == IQCN_PFC_OFF ||
	    !STATS_HAS(&s->since, pfc_state))
		return;
	value_text(state, FORM_NAME, pfc_state_names, app->pfc_state);
	add(s, "%s", state);
	add_count(s, app->pauses, app->pauses == 1 ? " pause" : " pauses");
	time_text(paused, app->paused_ns);
	add(s, "%s in all", paused);
	add_count(s, app->pfc_rate + app->pfc_grew, " found congested");
	put(s, "pfc");
}

/* The line about a long-haul link, only for a device with a filter, or for a
 * queue that supplements CNPs or had a lease that ended
 */
static void put_long_haul(struct summary *s)
{
	const struct tc_iqcn_xstats *app = &s->since.app;
	uint64_t n = s->port ? s->port->filter_n : 0;
	uint64_t interval_ns = s->port ? s->port->filter_ns : 0;
	struct tc_iqcn_cnp_filter filter = {};
	uint64_t notify = 0;
	char text[VALUE_SIZE];

	if (!STATS_HAS(&s->since, leases_ended))
		return;
	filter_get(&filter, s->params[TCA_IQCN_FILTER]);
	param(s, TCA_IQCN_NOTIFY, &notify);
	if (filter.mode != IQCN_CNP_FILTER_OFF || interval_ns) {
		filter_in_force_text(text, &filter, n, interval_ns);
		add(s, "filter %s", text);
		add_count(s, app->port_cnp_passed, " passed");
		add_count(s, app->port_cnp_filtered, " dropped");
	}
	if (notify & IQCN_NOTIFY_SUPPLEMENT) {
		add_count(s, app->cnp_supplement, " supplemented");
		add_time(s, "above kmax for", app->above_kmax_ns);
	}
	if (app->leases_ended)
		add_count(s, app->leases_ended, app->leases_ended == 1 ?
			  " lease ended" : " leases ended");
	put(s, "fiber");
}

/* The most serious problem that the counters show; "iqcn check" explains it */
static const char *advice(const struct summary *s)
{
	const struct tc_iqcn_xstats *app = &s->since.app;
	uint64_t notify = 0;

	param(s, TCA_IQCN_NOTIFY, &notify);
	if (s->since.queue.drops)
		return "packets were dropped: run \"iqcn check\"";
	if (app->not_ect)
		return "packets are not ECT, so they cannot be marked: run \"iqcn check\"";
	if (notify && (app->cnp_unpaired || (app->flows && !app->flows_paired)))
		return "the senders of some flows are not known: run \"iqcn check\"";
	if (app->cnp_budget || app->cnp_error)
		return "CNPs that were due were not sent: run \"iqcn check\"";
	if (app->flow_evicted || app->flow_full)
		return "the flow table is full: run \"iqcn check\"";
	if (app->congested && !app->cnp_sent && !app->cnp_seen)
		return "congested, but nobody sends CNPs: run \"iqcn check\"";
	if (app->port_cnp_filtered && !app->port_cnp_passed)
		return "the filter drops every CNP of the receivers: run \"iqcn check\"";
	if (!s->q->stats.packets)
		return "nothing was sent: is this the port where the data leave?";
	if (app->congested)
		return "see the flows in \"iqcn top\"";
	return "nothing to do; \"iqcn show -d\" has all counters";
}

void summary_print(FILE *f, const struct qdisc *q, const struct port *port,
		   const struct baselines *b)
{
	const struct baseline *baseline = baseline_find(b, q);
	struct summary s = {
		.f = f, .q = q, .port = port, .since = q->stats,
	};
	char age[VALUE_SIZE];

	if (!qdisc_params(q, s.params))
		memset(s.params, 0, sizeof(s.params));
	if (baseline)
		baseline_subtract(baseline, &s.since);
	put_title(&s);
	put_depth(&s);
	put_delay(&s);
	put_packets(&s);
	put_flows(&s);
	put_pfc(&s);
	put_long_haul(&s);
	if (baseline) {
		time_text(age, baseline_age_ns(baseline));
		add(&s, "%s ago (iqcn clear)", age);
		put(&s, "since");
	}
	add(&s, "%s", advice(&s));
	put(&s, "next");
}
