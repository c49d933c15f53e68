// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of iqcn monitor: events, samples, and notes about missing ones.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "out.h"
#include "record.h"
#include "snapshot.h"

/* Open the text, which starts with the time */
static FILE *text_open(struct record *r, size_t *size)
{
	FILE *f = open_memstream(&r->text, size);

	if (f)
		fprintf(f, "%" PRIu64 ".%09" PRIu64 " ", r->time_ns / NS_PER_S,
			r->time_ns % NS_PER_S);
	return f;
}

static void text_close(struct record *r, FILE *f)
{
	if (f && !fclose(f))
		return;
	free(r->text);
	r->text = NULL;
}

static void json_open(struct record *r, const char *type)
{
	r->json = json_object_new_object();
	json_add(r->json, "type", json_object_new_string(type));
}

static void text_place(FILE *f, uint32_t dev, uint32_t parent)
{
	char text[VALUE_SIZE];

	value_text(text, FORM_PARENT, NULL, parent);
	fprintf(f, "%s %s ", dev_escaped(dev), text);
}

static void text_flow(FILE *f, const struct event *e)
{
	char src[VALUE_SIZE], dst[VALUE_SIZE], qp[VALUE_SIZE];

	address_text(src, &e->src);
	address_text(dst, &e->dst);
	qp_text(qp, e->dest_qp);
	fprintf(f, "%s > %s qp %s ", src, dst, qp);
	if (e->inner_vid)
		fprintf(f, "vlan %" PRIu64 ".%" PRIu64 " ", e->vid,
			e->inner_vid);
	else if (e->vid)
		fprintf(f, "vlan %" PRIu64 " ", e->vid);
}

static void text_state(FILE *f, uint64_t congested, uint64_t reason)
{
	char text[VALUE_SIZE];

	value_text(text, FORM_NAME, reason_names, reason);
	fprintf(f, "%s by %s", congested ? "congested" : "clear", text);
}

static void text_rates(FILE *f, uint64_t rate_bps, uint64_t roce_bps)
{
	fprintf(f, " ce %" PRIu64 "bit of %" PRIu64 "bit", rate_bps, roce_bps);
}

static void text_cnp(FILE *f, const struct event *e)
{
	char qp[VALUE_SIZE], cause[VALUE_SIZE];

	qp_text(qp, e->src_qp);
	value_text(cause, FORM_NAME, cause_names, e->cause);
	fprintf(f, "to qp %s for %s", qp, cause);
}

static void text_pfc(FILE *f, const struct event *e)
{
	char state[VALUE_SIZE], reason[VALUE_SIZE];

	value_text(state, FORM_NAME, pfc_state_names, e->pfc_state);
	value_text(reason, FORM_NAME, pfc_reason_names, e->pfc_reason);
	fprintf(f, "pfc %s by %s", state, reason);
}

static void text_event(FILE *f, const struct event *e, int cmd)
{
	text_place(f, e->dev, e->parent);
	switch (cmd) {
	case IQCN_CMD_QUEUE_STATE_NTF:
		fputs("queue ", f);
		text_state(f, e->congested, e->reason);
		text_rates(f, e->ce_rate_bps, e->roce_bps);
		break;
	case IQCN_CMD_FLOW_STATE_NTF:
		fputs("flow ", f);
		text_flow(f, e);
		text_state(f, e->congested, e->reason);
		break;
	case IQCN_CMD_PFC_NTF:
		text_pfc(f, e);
		break;
	case IQCN_CMD_LEASE_NTF:
		fputs("lease ended", f);
		break;
	default:
		fputs("cnp ", f);
		text_flow(f, e);
		text_cnp(f, e);
	}
	fprintf(f, " depth %" PRIu64 "b", e->depth_bytes);
}

static const char *event_type(int cmd)
{
	switch (cmd) {
	case IQCN_CMD_QUEUE_STATE_NTF:
		return "queue_state";
	case IQCN_CMD_FLOW_STATE_NTF:
		return "flow_state";
	case IQCN_CMD_PFC_NTF:
		return "pfc";
	case IQCN_CMD_LEASE_NTF:
		return "lease_ended";
	default:
		return "cnp";
	}
}

void record_event(struct record *r, bool json, const struct event *e, int cmd)
{
	size_t size;
	FILE *f;

	*r = (struct record){ .time_ns = e->time_ns, .event = true };
	if (json) {
		json_open(r, event_type(cmd));
		object_json_add(r->json, &event_object, e);
		return;
	}
	f = text_open(r, &size);
	if (f)
		text_event(f, e, cmd);
	text_close(r, f);
}

/* The increase of a counter, unless it is 0 */
static void text_risen(FILE *f, const char *name, uint64_t before,
		       uint64_t now)
{
	if (now != before)
		fprintf(f, " %s +%" PRIu64, name, risen(before, now));
}

static void text_sample(FILE *f, const struct queue *q,
			const struct queue *before)
{
	char text[VALUE_SIZE];

	text_place(f, q->dev, q->parent);
	value_text(text, FORM_SET, detect_names, q->congested);
	fprintf(f, "sample %s%s", q->congested ? "congested by " : "clear",
		text);
	text_rates(f, q->ce_rate_bps, q->roce_bps);
	fprintf(f, " depth %" PRIu64 "b flows %" PRIu64, q->depth_bytes,
		q->flows);
	if (!before)
		return;
#define TEXT_RISEN(_name) text_risen(f, #_name, before->_name, q->_name)
	TEXT_RISEN(tx_packets);
	TEXT_RISEN(ce_sent);
	TEXT_RISEN(drop_overlimit);
	TEXT_RISEN(cnp_seen);
	TEXT_RISEN(cnp_sent);
	TEXT_RISEN(cnp_unpaired);
	TEXT_RISEN(cnp_budget);
}

void record_sample(struct record *r, bool json, uint64_t time_ns,
		   const struct queue *q, const struct queue *before)
{
	size_t size;
	FILE *f;

	*r = (struct record){ .time_ns = time_ns };
	if (json) {
		json_open(r, "sample");
		json_add(r->json, "time_ns", json_object_new_uint64(time_ns));
		object_json_add(r->json, &queue_object, q);
		return;
	}
	f = text_open(r, &size);
	if (f)
		text_sample(f, q, before);
	text_close(r, f);
}

static void json_lost(struct record *r, const char *group, uint64_t events)
{
	json_open(r, "lost");
	json_add(r->json, "time_ns", json_object_new_uint64(r->time_ns));
	if (!group)
		return;
	json_add(r->json, "group", json_object_new_string(group));
	json_add(r->json, "events", json_object_new_uint64(events));
}

void record_lost(struct record *r, bool json, uint64_t time_ns,
		 const char *group, uint64_t events)
{
	size_t size;
	FILE *f;

	*r = (struct record){ .time_ns = time_ns };
	if (json) {
		json_lost(r, group, events);
		return;
	}
	f = text_open(r, &size);
	if (f && group)
		fprintf(f, "lost %" PRIu64 " events of group %s", events,
			group);
	else if (f)
		fputs("lost events: they were not read fast enough", f);
	text_close(r, f);
}

void record_late(struct record *r, bool json, uint64_t time_ns,
		 uint64_t missed)
{
	size_t size;
	FILE *f;

	*r = (struct record){ .time_ns = time_ns };
	if (json) {
		json_open(r, "late");
		json_add(r->json, "time_ns", json_object_new_uint64(time_ns));
		json_add(r->json, "missed", json_object_new_uint64(missed));
		return;
	}
	f = text_open(r, &size);
	if (f)
		fprintf(f, "late, %" PRIu64 " samples missed", missed);
	text_close(r, f);
}

void record_write(const struct record *r)
{
	if (r->json)
		json_line(json_object_get(r->json));
	else
		puts(r->text);
}

void record_free(struct record *r)
{
	json_object_put(r->json);
	free(r->text);
}

static int make_room(struct records *rs)
{
	size_t room = rs->room ? 2 * rs->room : 64;
	struct record *list;

	if (rs->n < rs->room)
		return 0;
	list = realloc(rs->list, room * sizeof(*list));
	if (!list)
		return -ENOMEM;
	rs->list = list;
	rs->room = room;
	return 0;
}

int records_add(struct records *rs, struct record *r)
{
	size_t i = rs->n;

	if ((!r->json && !r->text) || make_room(rs)) {
		record_free(r);
		return -ENOMEM;
	}
	/* a new record is usually the latest, so search from the end; records
	 * of the same time keep their order
	 */
	for (; i && rs->list[i - 1].time_ns > r->time_ns; i--)
		rs->list[i] = rs->list[i - 1];
	rs->list[i] = *r;
	rs->n++;
	return 0;
}

void records_drop(struct records *rs, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		record_free(&rs->list[i]);
	rs->n -= n;
	if (n)
		memmove(rs->list, rs->list + n, rs->n * sizeof(*rs->list));
}

void records_free(struct records *rs)
{
	records_drop(rs, rs->n);
	free(rs->list);
}
