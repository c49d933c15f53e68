// SPDX-License-Identifier: GPL-2.0
/*
 * The state of the namespace in Prometheus' text formats.
 *
 * The tables below have one row per value: metric, attribute of the family
 * iqcn, meaning.  Rows of one metric differ by a label and must be adjacent,
 * because the format requires their lines to be adjacent.
 * Documentation/metrics.rst has the same table.
 *
 * The two formats exclude each other: in the HELP and TYPE lines of a counter,
 * Prometheus wants the suffix _total and OpenMetrics forbids it.
 */
#include <inttypes.h>
#include <string.h>

#include "exposition.h"
#include "iqcn.h"

/* each byte may become \\xNN */
#define DEV_SIZE (5 * IF_NAMESIZE)
#define NS_PER_S 1000000000

enum value {
	NUMBER,
	YES_NO,
	SHARE,		/* of UINT32_MAX */
	SECONDS,	/* from ns */
	SINCE,		/* time of day, from an age in ns */
	BYTES,		/* from bits */
	BY_TIMER,	/* CNPs sent, minus those with other causes */
	DELAY,		/* summary: a sum and a count of delays */
	INFO,		/* always 1: the label has the information */
	FLOW_INFO,	/* always 1, with labels of a flow that may change */
};

struct metric {
	const char *name;	/* a counter's name ends in _total */
	const char *label;	/* in addition to those of the object */
	unsigned int attr;
	enum value value;
	const char *help;	/* in the first row of a metric */
};

#define METRIC(_name, _label, _attr, _value, _help) \
	{ _name, _label, IQCN_A_##_attr, _value, _help }
#define PORT(_name, _attr, _help) \
	METRIC(_name, "", PORT_##_attr, NUMBER, _help)
#define QUEUE(_name, _attr, _value, _help) \
	METRIC(_name, "", QUEUE_##_attr, _value, _help)
#define FLOW(_name, _attr, _value, _help) \
	METRIC(_name, "", FLOW_##_attr, _value, _help)

/* Every port sends the same values */
static const struct metric namespace_metrics[] = {
	METRIC("iqcn_events_lost_total", "group=\"state\"", PORT_STATE_LOST,
	       NUMBER, "Events that were dropped because there were too many."),
	METRIC("iqcn_events_lost_total", "group=\"cnp\"", PORT_CNP_LOST, NUMBER,
	       NULL),
};

/* Sums over the queues of a port are missing, because Prometheus can compute
 * them
 */
static const struct metric port_metrics[] = {
	METRIC("iqcn_port_snoop_info", "snoop", PORT_SNOOP, INFO,
	       "Where the port captures CNPs of receivers."),
	PORT("iqcn_port_queues", QUEUES, "Queues of the port."),
	PORT("iqcn_port_flows", FLOWS, "Flows in the port's table."),
	PORT("iqcn_port_flows_unassured", FLOWS_UNASSURED,
	     "Flows without good evidence of the sender's QP."),
	PORT("iqcn_port_budget_cnps_per_second", CNP_RATE_PPS,
	     "CNPs that the port may send per second."),
	PORT("iqcn_port_budget_burst_cnps", CNP_BURST,
	     "CNPs that the port may send at once."),
	PORT("iqcn_port_unmatched_cnps_total", CNP_UNMATCHED,
	     "CNPs that belong to no flow; with snoop netns those of the namespace."),
	PORT("iqcn_port_malformed_packets_total", MALFORMED,
	     "RoCE-like packets that do not parse; with snoop netns those of the namespace."),
	PORT("iqcn_port_ignored_pfc_frames_total", PFC_IGNORED,
	     "MAC control frames that no queue used."),
	PORT("iqcn_port_filter_passed_cnps_total", CNP_PASSED,
	     "CNPs of receivers that the filter let pass."),
	PORT("iqcn_port_filter_dropped_cnps_total", CNP_FILTERED,
	     "CNPs of receivers that the filter dropped."),
	PORT("iqcn_port_filter_cnps", FILTER_N,
	     "CNPs that the filter lets pass in an interval; 0: no filter, or filter told."),
	METRIC("iqcn_port_filter_interval_seconds", "", PORT_FILTER_NS, SECONDS,
	       "Interval of the filter; 0: no filter."),
};

static const struct metric queue_metrics[] = {
	QUEUE("iqcn_queue_depth_bytes", DEPTH_BYTES, NUMBER,
	      "Bytes in the queue."),
	QUEUE("iqcn_queue_depth_peak_bytes", DEPTH_PEAK_BYTES, NUMBER,
	      "Highest depth after a packet arrived that was CE or found a deep queue."),
	QUEUE("iqcn_queue_limit_bytes", LIMIT_BYTES, NUMBER,
	      "Bytes that the queue holds before it drops."),
	QUEUE("iqcn_queue_kmin_bytes", KMIN_BYTES, NUMBER,
	      "Depth above which some packets are marked."),
	QUEUE("iqcn_queue_kmax_bytes", KMAX_BYTES, NUMBER,
	      "Depth above which all packets are marked."),
	METRIC("iqcn_queue_notify_info", "notify", QUEUE_NOTIFY, INFO,
	       "Methods by which the queue notifies senders."),
	QUEUE("iqcn_queue_congested", CONGESTED, YES_NO,
	      "1 if the queue is congested."),
	METRIC("iqcn_queue_state_info", "reason", QUEUE_STATE_REASON, INFO,
	       "Why the queue's congestion began or ended."),
	QUEUE("iqcn_queue_state_since_timestamp_seconds", STATE_AGE_NS, SINCE,
	      "Time at which the queue's congestion began or ended."),
	QUEUE("iqcn_queue_state_changes_total", STATE_CHANGES, NUMBER,
	      "Changes of the queue's congestion."),
	QUEUE("iqcn_queue_ce_bytes_per_second", CE_RATE_BPS, BYTES,
	      "Rate of CE packets in the last window."),
	QUEUE("iqcn_queue_roce_bytes_per_second", ROCE_BPS, BYTES,
	      "RoCE rate with which the CE rate is compared."),
	QUEUE("iqcn_queue_cnp_probability_ratio", BTS_PROB, SHARE,
	      "Probability that a packet causes a CNP."),
	QUEUE("iqcn_queue_reference_depth_bytes", REF_BYTES, NUMBER,
	      "Current reference depth of notify pi."),
	QUEUE("iqcn_queue_tx_bytes_total", TX_BYTES, NUMBER, "Bytes sent."),
	QUEUE("iqcn_queue_tx_packets_total", TX_PACKETS, NUMBER,
	      "Packets sent."),
	QUEUE("iqcn_queue_marked_packets_total", ECN_MARK, NUMBER,
	      "Packets marked CE here."),
	QUEUE("iqcn_queue_marked_bytes_total", MARKED_BYTES, NUMBER,
	      "Bytes of the packets marked CE here."),
	QUEUE("iqcn_queue_delay_seconds", DELAY_SUM_NS, DELAY,
	      "Time that measured CE packets spent in the queue."),
	QUEUE("iqcn_queue_delay_peak_seconds", DELAY_PEAK_NS, SECONDS,
	      "Longest time that a measured CE packet spent in the queue."),
	QUEUE("iqcn_queue_bts_marked_packets_total", BTS_MARK, NUMBER,
	      "Packets marked CE for wreb or pi."),
	QUEUE("iqcn_queue_ce_in_packets_total", CE_IN, NUMBER,
	      "Packets that arrived with CE."),
	QUEUE("iqcn_queue_ce_sent_packets_total", CE_SENT, NUMBER,
	      "RoCEv2 data packets that left with CE."),
	QUEUE("iqcn_queue_ce_sampled_packets_total", CE_SAMPLED, NUMBER,
	      "RoCEv2 data packets that left with CE and were sampled."),
	QUEUE("iqcn_queue_sample_lost_packets_total", SAMPLE_LOST, NUMBER,
	      "Sampled packets not copied to psample: too many waited, or no memory."),
	QUEUE("iqcn_queue_not_ect_packets_total", NOT_ECT, NUMBER,
	      "Packets that should have been marked but are not ECT."),
	QUEUE("iqcn_queue_not_ect_dropped_packets_total", NOT_ECT_DROP, NUMBER,
	      "Packets that were dropped because they are not ECT."),
	QUEUE("iqcn_queue_unmarkable_packets_total", UNMARKABLE, NUMBER,
	      "ECT packets whose header could not be written."),
	QUEUE("iqcn_queue_overlimit_dropped_packets_total", DROP_OVERLIMIT, NUMBER,
	      "Packets dropped because the queue was full."),
	QUEUE("iqcn_queue_seen_cnps_total", CNP_SEEN, NUMBER,
	      "CNPs from receivers."),
	METRIC("iqcn_queue_sent_cnps_total", "cause=\"timer\"", QUEUE_CNP_SENT,
	       BY_TIMER, "CNPs that the box generated."),
	METRIC("iqcn_queue_sent_cnps_total", "cause=\"wreb\"", QUEUE_CNP_WREB,
	       NUMBER, NULL),
	METRIC("iqcn_queue_sent_cnps_total", "cause=\"pi\"", QUEUE_CNP_PI,
	       NUMBER, NULL),
	METRIC("iqcn_queue_sent_cnps_total", "cause=\"poll\"", QUEUE_CNP_POLL,
	       NUMBER, NULL),
	METRIC("iqcn_queue_sent_cnps_total", "cause=\"drop\"", QUEUE_CNP_DROP,
	       NUMBER, NULL),
	METRIC("iqcn_queue_sent_cnps_total", "cause=\"pfc\"", QUEUE_CNP_PFC,
	       NUMBER, NULL),
	METRIC("iqcn_queue_sent_cnps_total", "cause=\"grant\"",
	       QUEUE_CNP_GRANT, NUMBER, NULL),
	METRIC("iqcn_queue_sent_cnps_total", "cause=\"supplement\"",
	       QUEUE_CNP_SUPPLEMENT, NUMBER, NULL),
	METRIC("iqcn_queue_suppressed_cnps_total", "reason=\"budget\"",
	       QUEUE_CNP_BUDGET, NUMBER, "CNPs that were due but not sent."),
	METRIC("iqcn_queue_suppressed_cnps_total", "reason=\"unpaired\"",
	       QUEUE_CNP_UNPAIRED, NUMBER, NULL),
	METRIC("iqcn_queue_suppressed_cnps_total", "reason=\"gap\"",
	       QUEUE_CNP_GAP, NUMBER, NULL),
	METRIC("iqcn_queue_suppressed_cnps_total", "reason=\"error\"",
	       QUEUE_CNP_ERROR, NUMBER, NULL),
	QUEUE("iqcn_queue_deferred_cnps_total", CNP_DEFERRED, NUMBER,
	      "CNPs that were due and deferred."),
	QUEUE("iqcn_queue_canceled_cnps_total", CNP_CANCELED, NUMBER,
	      "Deferred CNPs that were canceled."),
	QUEUE("iqcn_queue_flows", FLOWS, NUMBER, "Flows of the queue."),
	QUEUE("iqcn_queue_flows_paired", FLOWS_PAIRED, NUMBER,
	      "Flows paired well enough to send CNPs."),
	QUEUE("iqcn_queue_flows_congested", FLOWS_CONGESTED, NUMBER,
	      "Flows in congestion."),
	QUEUE("iqcn_queue_flows_active", FLOWS_ACTIVE, NUMBER,
	      "Flows active in the last few milliseconds."),
	QUEUE("iqcn_queue_flow_state_changes_total", FLOW_STATE_CHANGES, NUMBER,
	      "Changes of the congestion of single flows."),
	QUEUE("iqcn_queue_new_flows_total", FLOW_NEW, NUMBER, "Flows created."),
	QUEUE("iqcn_queue_aged_flows_total", FLOW_AGED, NUMBER,
	      "Flows that expired."),
	QUEUE("iqcn_queue_evicted_flows_total", FLOW_EVICTED, NUMBER,
	      "Flows that were evicted."),
	QUEUE("iqcn_queue_no_flow_packets_total", FLOW_FULL, NUMBER,
	      "Packets whose flow or detectors could not be allocated."),
	QUEUE("iqcn_queue_pairings_total", PAIRED, NUMBER, "Pairings made."),
	QUEUE("iqcn_queue_contradicted_pairings_total", CONTRADICTED, NUMBER,
	      "Pairings dropped because other evidence disagreed."),
	QUEUE("iqcn_queue_malformed_packets_total", MALFORMED, NUMBER,
	      "RoCE-like packets that do not parse."),
	METRIC("iqcn_queue_pfc_state_info", "state", QUEUE_PFC_STATE, INFO,
	       "State of the queue with regard to pauses of its port."),
	METRIC("iqcn_queue_pfc_reason_info", "reason", QUEUE_PFC_REASON, INFO,
	       "Why that state last changed."),
	QUEUE("iqcn_queue_pauses_total", PAUSES, NUMBER,
	      "Pauses of the port that the queue has learned of."),
	QUEUE("iqcn_queue_paused_seconds_total", PAUSED_NS, SECONDS,
	      "Time for which the port was paused."),
	QUEUE("iqcn_queue_paused_bytes_total", PAUSE_RX_BYTES, NUMBER,
	      "Bytes that arrived at the queue during pauses."),
	QUEUE("iqcn_queue_undetermined_seconds_total", UNDETERMINED_NS, SECONDS,
	      "Time for which a pause left the queue undetermined."),
	METRIC("iqcn_queue_pfc_verdicts_total", "reason=\"clear\"",
	       QUEUE_PFC_CLEAR, NUMBER, "Verdicts on the queue after pauses."),
	METRIC("iqcn_queue_pfc_verdicts_total", "reason=\"rate\"",
	       QUEUE_PFC_RATE, NUMBER, NULL),
	METRIC("iqcn_queue_pfc_verdicts_total", "reason=\"unsure\"",
	       QUEUE_PFC_UNSURE, NUMBER, NULL),
	METRIC("iqcn_queue_pfc_verdicts_total", "reason=\"grew\"",
	       QUEUE_PFC_GREW, NUMBER, NULL),
	METRIC("iqcn_queue_pfc_verdicts_total", "reason=\"drained\"",
	       QUEUE_PFC_DRAINED, NUMBER, NULL),
	METRIC("iqcn_queue_pfc_verdicts_total", "reason=\"limit\"",
	       QUEUE_PFC_LIMIT, NUMBER, NULL),
	QUEUE("iqcn_queue_above_kmax_seconds_total", ABOVE_KMAX_NS, SECONDS,
	      "Time above Kmax, measured with notify supplement."),
	QUEUE("iqcn_queue_leases_total", LEASES, NUMBER,
	      "Leases granted, including renewals."),
	QUEUE("iqcn_queue_ended_leases_total", LEASES_ENDED, NUMBER,
	      "Leases that ended without being renewed."),
};

static const struct metric flow_metrics[] = {
	METRIC("iqcn_flow_info", "", FLOW_PARENT, FLOW_INFO,
	       "Queue and sender's QP of one of the flows with the most CNPs."),
	FLOW("iqcn_flow_sent_cnps_total", CNP_SENT, NUMBER,
	     "CNPs of the box to one of the flows with the most CNPs."),
	FLOW("iqcn_flow_seen_cnps_total", CNP_SEEN, NUMBER,
	     "CNPs of the receiver to one of the flows with the most CNPs."),
	FLOW("iqcn_flow_ce_sent_packets_total", CE_SENT, NUMBER,
	     "Sampled CE packets of one of the flows with the most CNPs."),
	FLOW("iqcn_flow_congested", CONGESTED, YES_NO,
	     "1 if one of the flows with the most CNPs is congested."),
};

struct writer {
	FILE *f;
	bool openmetrics;
	uint64_t now_ns;	/* when the queues were read */
};

static bool ends_in(const char *name, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len > end_len && !memcmp(name + len - end_len, end, end_len);
}

static void write_unit(const struct writer *w, const char *name, size_t len)
{
	static const char *const units[] = { "bytes", "seconds", "ratio",
					     "packets", "cnps" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (ends_in(name, len, units[i]))
			fprintf(w->f, "# UNIT %.*s %s\n", (int)len, name,
				units[i]);
}

static void write_head(const struct writer *w, const char *name, bool summary,
		       const char *help)
{
	const char *type = summary ? "summary" : "gauge";
	size_t len = strlen(name);

	if (ends_in(name, len, "_total"))
		type = "counter";
	if (w->openmetrics && ends_in(name, len, "_info"))
		type = "info";
	/* OpenMetrics wants the name without the suffix of its type */
	if (w->openmetrics && !summary && strcmp(type, "gauge"))
		len = strrchr(name, '_') - name;
	fprintf(w->f, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)len, name, help,
		(int)len, name, type);
	if (w->openmetrics && strcmp(type, "info"))
		write_unit(w, name, len);
}

/* Writes the labels that identify an object */
typedef void (*labels_fn)(char *buf, const void *object);

/* Write the device name with the escapes of name_text(), which keep names
 * distinct, and with quotes and backslashes escaped as in the value of a label
 */
static void dev_text(char *buf, const char *dev)
{
	char text[VALUE_SIZE];
	const char *from;

	name_text(text, dev);
	for (from = text; *from; from++) {
		if (*from == '"' || *from == '\\')
			*buf++ = '\\';
		*buf++ = *from;
	}
	*buf = '\0';
}

static void namespace_labels(char *buf, const void *object)
{
	*buf = '\0';
}

static void port_labels(char *buf, const void *object)
{
	const struct port *p = object;
	char dev[DEV_SIZE];

	dev_text(dev, p->dev);
	sprintf(buf, "device=\"%s\"", dev);
}

void exposition_queue(char *buf, uint32_t ifindex, uint32_t parent)
{
	char dev[DEV_SIZE], class[VALUE_SIZE];

	dev_text(dev, dev_name(ifindex));
	value_text(class, FORM_PARENT, NULL, parent);
	sprintf(buf, "device=\"%s\",parent=\"%s\"", dev, class);
}

static void queue_labels(char *buf, const void *object)
{
	const struct queue *q = object;

	exposition_queue(buf, q->dev, q->parent);
}

/* Writes only labels that stay the same as long as the flow exists */
static void flow_labels(char *buf, const void *object)
{
	char dev[DEV_SIZE], src[VALUE_SIZE], dst[VALUE_SIZE];
	const struct flow *f = object;

	dev_text(dev, dev_name(f->dev));
	address_text(src, &f->src);
	address_text(dst, &f->dst);
	sprintf(buf, "device=\"%s\",src=\"%s\",dst=\"%s\",vlan=\"%" PRIu64 ".%"
		PRIu64 "\",dest_qp=\"0x%06" PRIx64 "\"", dev, src, dst, f->vid,
		f->inner_vid, f->dest_qp);
}

/* The metrics of one kind of object */
struct table {
	const struct metric *metrics;
	size_t n;
	const struct object *kind;
	labels_fn labels;
};

#define TABLE(_name, _kind)						\
	static const struct table _name##_table = {			\
		_name##_metrics, ARRAY_SIZE(_name##_metrics), &(_kind),	\
		_name##_labels						\
	}
TABLE(namespace, port_object);
TABLE(port, port_object);
TABLE(queue, queue_object);
TABLE(flow, flow_object);

static void write_seconds(FILE *f, uint64_t ns)
{
	fprintf(f, "%" PRIu64 ".%09" PRIu64 "\n", ns / NS_PER_S, ns % NS_PER_S);
}

/* Round to whole seconds, because the clock and the age are not read at the
 * same time, and the value must not change as long as the state does not
 */
static uint64_t since_s(uint64_t now_ns, uint64_t age_ns)
{
	return age_ns < now_ns ?
	       (now_ns - age_ns + NS_PER_S / 2) / NS_PER_S : 0;
}

static void write_value(const struct writer *w, enum value kind,
			const void *object, uint64_t v)
{
	FILE *f = w->f;

	switch (kind) {
	case BY_TIMER:
		v = queue_cnp_timer(object);
		break;
	case YES_NO:
		v = !!v;
		break;
	case SHARE:
		fprintf(f, "%.9g\n", (double)v / UINT32_MAX);
		return;
	case SECONDS:
		write_seconds(f, v);
		return;
	case SINCE:
		v = since_s(w->now_ns, v);
		break;
	case BYTES:
		fprintf(f, "%" PRIu64 ".%03" PRIu64 "\n", v / 8,
			v % 8 * (1000 / 8));
		return;
	default:
		break;
	}
	fprintf(f, "%" PRIu64 "\n", v);
}

static uint64_t member(const struct field *f, const void *object)
{
	return *(const uint64_t *)((const char *)object + f->offset);
}

static void write_delay(FILE *f, const char *name, const char *labels,
			const struct queue *q)
{
	fprintf(f, "%s_sum{%s} ", name, labels);
	write_seconds(f, q->delay_sum_ns);
	fprintf(f, "%s_count{%s} %" PRIu64 "\n", name, labels,
		q->delay_samples);
}

static void write_flow_info(FILE *f, const char *name, const char *labels,
			    const struct flow *flow)
{
	char parent[VALUE_SIZE];

	value_text(parent, FORM_PARENT, NULL, flow->parent);
	fprintf(f, "%s{%s,parent=\"%s\"", name, labels, parent);
	if (object_has(flow, IQCN_A_FLOW_SRC_QP))
		fprintf(f, ",src_qp=\"0x%06" PRIx64 "\"", flow->src_qp);
	fputs("} 1\n", f);
}

static void write_info(FILE *f, const struct metric *m, const char *labels,
		       const struct field *field, uint64_t v)
{
	char text[VALUE_SIZE];

	value_text(text, field->form, field->names, v);
	fprintf(f, "%s{%s%s%s=\"%s\"} 1\n", m->name, labels,
		*labels ? "," : "", m->label, *text ? text : "off");
}

static void write_sample(const struct writer *w, const struct table *t,
			 const struct metric *m, const void *object)
{
	const struct field *field = &t->kind->fields[m->attr];
	uint64_t v = member(field, object);
	char labels[EXPOSITION_LABELS];

	t->labels(labels, object);
	switch (m->value) {
	case DELAY:
		write_delay(w->f, m->name, labels, object);
		return;
	case FLOW_INFO:
		write_flow_info(w->f, m->name, labels, object);
		return;
	case INFO:
		write_info(w->f, m, labels, field, v);
		return;
	default:
		break;
	}
	fprintf(w->f, "%s{%s%s%s} ", m->name, labels,
		*labels && *m->label ? "," : "", m->label);
	write_value(w, m->value, object, v);
}

/* Values that an older module does not send are left out */
static void write_table(const struct writer *w, const struct table *t,
			const void *objects, size_t n)
{
	const struct metric *m;
	const char *object;
	size_t i;

	for (m = t->metrics; m < t->metrics + t->n; m++) {
		if (m->help)
			write_head(w, m->name, m->value == DELAY, m->help);
		object = objects;
		for (i = 0; i < n; i++, object += t->kind->size)
			if (object_has(object, m->attr))
				write_sample(w, t, m, object);
	}
}

void exposition(FILE *f, const struct state *s, bool openmetrics)
{
	const struct writer w = { f, openmetrics, s->queues_ns };

	write_head(&w, "iqcn_up", false, "1 if the module is loaded and answers.");
	fprintf(f, "iqcn_up %d\n", s->up);
	write_head(&w, "iqcn_build_info", false,
		   "Versions of the tool and of the module.");
	fprintf(f, "iqcn_build_info{version=\"%s\",module=\"%s\"} 1\n",
		s->tool_version, s->module_version);
	write_head(&w, "iqcn_last_run_timestamp_seconds", false,
		   "Time at which these metrics were written.");
	fprintf(f, "iqcn_last_run_timestamp_seconds %jd\n", (intmax_t)s->time);
	if (s->up) {
		write_table(&w, &namespace_table, s->ports, !!s->n_ports);
		write_table(&w, &port_table, s->ports, s->n_ports);
		write_table(&w, &queue_table, s->queues, s->n_queues);
		write_table(&w, &flow_table, s->flows, s->n_flows);
	}
	if (openmetrics)
		fputs("# EOF\n", f);
}
