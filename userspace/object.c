// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes of the family iqcn as plain structures.
 */
#include <string.h>

#include <netlink/netlink.h>

#include "iqcn.h"
#include "names.h"
#include "object.h"

#define FIELD(_type, _attr, _form, _member, ...)		\
	[_attr] = { FORM_##_form, #_member,			\
		    offsetof(struct _type, _member), ##__VA_ARGS__ }

#define PORT(_attr, _form, _member, ...) \
	FIELD(port, IQCN_A_PORT_##_attr, _form, _member, ##__VA_ARGS__)
static const struct field port_fields[] = {
	PORT(IFINDEX, NUMBER, ifindex),
	PORT(IFNAME, STRING, dev),
	PORT(SNOOP, NAME, snoop, snoop_names),
	PORT(DEPTH_BYTES, NUMBER, depth_bytes),
	PORT(STATE_LOST, NUMBER, state_lost),
	PORT(CNP_LOST, NUMBER, cnp_lost),
	PORT(QUEUES, NUMBER, queues),
	PORT(QUEUES_CONGESTED, NUMBER, queues_congested),
	PORT(FLOWS, NUMBER, flows),
	PORT(FLOWS_UNASSURED, NUMBER, flows_unassured),
	PORT(ECN_MARK, NUMBER, ecn_mark),
	PORT(CE_IN, NUMBER, ce_in),
	PORT(CE_SENT, NUMBER, ce_sent),
	PORT(CE_SAMPLED, NUMBER, ce_sampled),
	PORT(CNP_SEEN, NUMBER, cnp_seen),
	PORT(CNP_SENT, NUMBER, cnp_sent),
	PORT(CNP_DEFERRED, NUMBER, cnp_deferred),
	PORT(CNP_CANCELED, NUMBER, cnp_canceled),
	PORT(CNP_BUDGET, NUMBER, cnp_budget),
	PORT(CNP_UNPAIRED, NUMBER, cnp_unpaired),
	PORT(CNP_UNMATCHED, NUMBER, cnp_unmatched),
	PORT(CNP_RATE_PPS, NUMBER, cnp_rate_pps),
	PORT(CNP_BURST, NUMBER, cnp_burst),
	PORT(MALFORMED, NUMBER, malformed),
	PORT(CNP_SMAC, MAC, cnp_smac),
	PORT(PAUSES, NUMBER, pauses),
	PORT(PFC_IGNORED, NUMBER, pfc_ignored),
	PORT(CNP_PASSED, NUMBER, cnp_passed),
	PORT(CNP_FILTERED, NUMBER, cnp_filtered),
	PORT(FILTER_N, NUMBER, filter_n),
	PORT(FILTER_NS, NUMBER, filter_ns),
};

#define QUEUE(_attr, _form, _member, ...) \
	FIELD(queue, IQCN_A_QUEUE_##_attr, _form, _member, ##__VA_ARGS__)
static const struct field queue_fields[] = {
	QUEUE(IFINDEX, DEV, dev),
	QUEUE(PARENT, PARENT, parent),
	QUEUE(DEPTH_BYTES, NUMBER, depth_bytes),
	QUEUE(LIMIT_BYTES, NUMBER, limit_bytes),
	QUEUE(KMIN_BYTES, NUMBER, kmin_bytes),
	QUEUE(KMAX_BYTES, NUMBER, kmax_bytes),
	QUEUE(NOTIFY, SET, notify, notify_names),
	QUEUE(TX_BYTES, NUMBER, tx_bytes),
	QUEUE(TX_PACKETS, NUMBER, tx_packets),
	QUEUE(STATE_AGE_NS, NUMBER, state_age_ns),
	QUEUE(STATE_REASON, NAME, state_reason, reason_names),
	QUEUE(CONGESTED, SET, congested, detect_names),
	QUEUE(FLOWS, NUMBER, flows),
	QUEUE(FLOWS_PAIRED, NUMBER, flows_paired),
	QUEUE(FLOWS_CONGESTED, NUMBER, flows_congested),
	QUEUE(FLOWS_ACTIVE, NUMBER, flows_active),
	QUEUE(DEPTH_PEAK_BYTES, NUMBER, depth_peak_bytes),
	QUEUE(BTS_PROB, PROB, bts_prob),
	QUEUE(CE_RATE_BPS, NUMBER, ce_rate_bps),
	QUEUE(ROCE_BPS, NUMBER, roce_bps),
	QUEUE(ECN_MARK, NUMBER, ecn_mark),
	QUEUE(BTS_MARK, NUMBER, bts_mark),
	QUEUE(CE_IN, NUMBER, ce_in),
	QUEUE(CE_SENT, NUMBER, ce_sent),
	QUEUE(CE_SAMPLED, NUMBER, ce_sampled),
	QUEUE(NOT_ECT, NUMBER, not_ect),
	QUEUE(NOT_ECT_DROP, NUMBER, not_ect_drop),
	QUEUE(UNMARKABLE, NUMBER, unmarkable),
	QUEUE(DROP_OVERLIMIT, NUMBER, drop_overlimit),
	QUEUE(CNP_SEEN, NUMBER, cnp_seen),
	QUEUE(CNP_SENT, NUMBER, cnp_sent),
	QUEUE(CNP_WREB, NUMBER, cnp_wreb),
	QUEUE(CNP_PI, NUMBER, cnp_pi),
	QUEUE(CNP_POLL, NUMBER, cnp_poll),
	QUEUE(CNP_DROP, NUMBER, cnp_drop),
	QUEUE(CNP_DEFERRED, NUMBER, cnp_deferred),
	QUEUE(CNP_CANCELED, NUMBER, cnp_canceled),
	QUEUE(CNP_BUDGET, NUMBER, cnp_budget),
	QUEUE(CNP_UNPAIRED, NUMBER, cnp_unpaired),
	QUEUE(CNP_GAP, NUMBER, cnp_gap),
	QUEUE(CNP_ERROR, NUMBER, cnp_error),
	QUEUE(PAIRED, NUMBER, paired),
	QUEUE(CONTRADICTED, NUMBER, contradicted),
	QUEUE(FLOW_NEW, NUMBER, flow_new),
	QUEUE(FLOW_AGED, NUMBER, flow_aged),
	QUEUE(FLOW_EVICTED, NUMBER, flow_evicted),
	QUEUE(FLOW_FULL, NUMBER, flow_full),
	QUEUE(MALFORMED, NUMBER, malformed),
	QUEUE(STATE_CHANGES, NUMBER, state_changes),
	QUEUE(FLOW_STATE_CHANGES, NUMBER, flow_state_changes),
	QUEUE(SAMPLE_LOST, NUMBER, sample_lost),
	QUEUE(MARKED_BYTES, NUMBER, marked_bytes),
	QUEUE(DELAY_SUM_NS, NUMBER, delay_sum_ns),
	QUEUE(DELAY_SAMPLES, NUMBER, delay_samples),
	QUEUE(DELAY_AVG_NS, NUMBER, delay_avg_ns),
	QUEUE(DELAY_PEAK_NS, NUMBER, delay_peak_ns),
	QUEUE(CNP_PFC, NUMBER, cnp_pfc),
	QUEUE(PAUSES, NUMBER, pauses),
	QUEUE(PAUSED_NS, NUMBER, paused_ns),
	QUEUE(PAUSE_RX_BYTES, NUMBER, pause_rx_bytes),
	QUEUE(UNDETERMINED_NS, NUMBER, undetermined_ns),
	QUEUE(PFC_CLEAR, NUMBER, pfc_clear),
	QUEUE(PFC_RATE, NUMBER, pfc_rate),
	QUEUE(PFC_UNSURE, NUMBER, pfc_unsure),
	QUEUE(PFC_GREW, NUMBER, pfc_grew),
	QUEUE(PFC_DRAINED, NUMBER, pfc_drained),
	QUEUE(PFC_LIMIT, NUMBER, pfc_limit),
	QUEUE(PFC_STATE, NAME, pfc_state, pfc_state_names),
	QUEUE(PFC_REASON, NAME, pfc_reason, pfc_reason_names),
	QUEUE(CNP_GRANT, NUMBER, cnp_grant),
	QUEUE(CNP_SUPPLEMENT, NUMBER, cnp_supplement),
	QUEUE(ABOVE_KMAX_NS, NUMBER, above_kmax_ns),
	QUEUE(LEASES, NUMBER, leases),
	QUEUE(LEASES_ENDED, NUMBER, leases_ended),
	QUEUE(REF_BYTES, NUMBER, ref_bytes),
};

#define FLOW(_attr, _form, _member, ...) \
	FIELD(flow, IQCN_A_FLOW_##_attr, _form, _member, ##__VA_ARGS__)
static const struct field flow_fields[] = {
	FLOW(IFINDEX, DEV, dev),
	FLOW(PARENT, PARENT, parent),
	FLOW(ID, NUMBER, id),
	FLOW(AGE_NS, NUMBER, age_ns),
	FLOW(SRC, ADDRESS, src),
	FLOW(DST, ADDRESS, dst),
	FLOW(VID, NUMBER, vid),
	FLOW(INNER_VID, NUMBER, inner_vid),
	FLOW(DEST_QP, NUMBER, dest_qp),
	FLOW(SRC_QP, NUMBER, src_qp),
	FLOW(PAIR, NAME, pair, pair_names),
	FLOW(PAIRED, FLAG, paired),
	FLOW(CONGESTED, SET, congested, detect_names),
	FLOW(STATE_REASON, NAME, state_reason, reason_names),
	FLOW(STATE_AGE_NS, NUMBER, state_age_ns),
	FLOW(QUEUED, NUMBER, queued),
	FLOW(PSN, NUMBER, psn),
	FLOW(RUN, NUMBER, run),
	FLOW(CE_SENT, NUMBER, ce_sent),
	FLOW(CNP_SEEN, NUMBER, cnp_seen),
	FLOW(CNP_SENT, NUMBER, cnp_sent),
	FLOW(CE_AGE_NS, NUMBER, ce_age_ns),
	FLOW(CNP_SEEN_AGE_NS, NUMBER, cnp_seen_age_ns),
	FLOW(CNP_SENT_AGE_NS, NUMBER, cnp_sent_age_ns),
	FLOW(CE_TO_CNP_NS, NUMBER, ce_to_cnp_ns),
	FLOW(CNP_INTERVAL_NS, NUMBER, cnp_interval_ns),
};

#define EVENT(_attr, _form, _member, ...) \
	FIELD(event, IQCN_A_EVENT_##_attr, _form, _member, ##__VA_ARGS__)
static const struct field event_fields[] = {
	EVENT(TIME_NS, NUMBER, time_ns),
	EVENT(LOST, NUMBER, lost),
	EVENT(IFINDEX, DEV, dev),
	EVENT(PARENT, PARENT, parent),
	EVENT(DEPTH_BYTES, NUMBER, depth_bytes),
	EVENT(CONGESTED, SET, congested, detect_names),
	EVENT(REASON, NAME, reason, reason_names),
	EVENT(CE_RATE_BPS, NUMBER, ce_rate_bps),
	EVENT(ROCE_BPS, NUMBER, roce_bps),
	EVENT(SRC, ADDRESS, src),
	EVENT(DST, ADDRESS, dst),
	EVENT(VID, NUMBER, vid),
	EVENT(INNER_VID, NUMBER, inner_vid),
	EVENT(DEST_QP, NUMBER, dest_qp),
	EVENT(SRC_QP, NUMBER, src_qp),
	EVENT(CAUSE, NAME, cause, cause_names),
	EVENT(PFC_STATE, NAME, pfc_state, pfc_state_names),
	EVENT(PFC_REASON, NAME, pfc_reason, pfc_reason_names),
};

#define OBJECT(_type, _max)					\
	const struct object _type##_object = {			\
		_type##_fields, ARRAY_SIZE(_type##_fields),	\
		sizeof(struct _type)				\
	};							\
	_Static_assert((_max) < 64 * HAS_SIZE, "bits of has")

OBJECT(port, IQCN_A_PORT_MAX);
OBJECT(queue, IQCN_A_QUEUE_MAX);
OBJECT(flow, IQCN_A_FLOW_MAX);
OBJECT(event, IQCN_A_EVENT_MAX);

/* A number of any width */
static bool parse_number(uint64_t *v, const struct nlattr *attr)
{
	switch (nla_len(attr)) {
	case sizeof(uint64_t):
		*v = nla_get_u64(attr);
		return true;
	case sizeof(uint32_t):
		*v = nla_get_u32(attr);
		return true;
	case sizeof(uint16_t):
		*v = nla_get_u16(attr);
		return true;
	case sizeof(uint8_t):
		*v = nla_get_u8(attr);
		return true;
	}
	return false;
}

static bool parse_address(struct address *a, const struct nlattr *attr)
{
	if (nla_len(attr) != 4 && nla_len(attr) != 16)
		return false;
	a->len = nla_memcpy(a->bytes, attr, sizeof(a->bytes));
	return true;
}

static bool parse_mac(struct mac *mac, const struct nlattr *attr)
{
	if (nla_len(attr) != sizeof(mac->bytes))
		return false;
	nla_memcpy(mac->bytes, attr, sizeof(mac->bytes));
	return true;
}

static bool parse_field(void *dst, const struct field *f,
			const struct nlattr *attr)
{
	void *member = (char *)dst + f->offset;

	switch (f->form) {
	case FORM_NONE:
		return false;
	case FORM_FLAG:
		*(uint64_t *)member = 1;
		return true;
	case FORM_ADDRESS:
		return parse_address(member, attr);
	case FORM_MAC:
		return parse_mac(member, attr);
	case FORM_STRING:
		nla_strlcpy(member, attr, IF_NAMESIZE);
		return true;
	default:
		return parse_number(member, attr);
	}
}

void object_parse(const struct object *o, void *dst, struct nlattr *head,
		  int len)
{
	uint64_t *has = dst;
	struct nlattr *attr;
	size_t type;
	int rest;

	memset(dst, 0, o->size);
	nla_for_each_attr(attr, head, len, rest) {
		type = nla_type(attr);
		if (type < o->n_fields &&
		    parse_field(dst, &o->fields[type], attr))
			has[type / 64] |= 1ULL << type % 64;
	}
}

bool object_has(const void *src, unsigned int attr)
{
	return ((const uint64_t *)src)[attr / 64] & 1ULL << attr % 64;
}

static struct json_object *field_json(const struct field *f, const void *src)
{
	const void *member = (const char *)src + f->offset;
	char text[VALUE_SIZE];

	switch (f->form) {
	case FORM_ADDRESS:
		address_text(text, member);
		return json_object_new_string(text);
	case FORM_MAC:
		mac_text(text, member);
		return json_object_new_string(text);
	case FORM_STRING:
		return name_json(member);
	default:
		return value_json(f->form, f->names,
				  *(const uint64_t *)member);
	}
}

void object_json_add(struct json_object *json, const struct object *o,
		     const void *src)
{
	const struct field *f;
	size_t i;

	for (i = 0; i < o->n_fields; i++) {
		f = &o->fields[i];
		/* a missing flag is false */
		if (object_has(src, i) || f->form == FORM_FLAG)
			json_add(json, f->key, field_json(f, src));
	}
}

struct json_object *object_json(const struct object *o, const void *src)
{
	struct json_object *json = json_object_new_object();

	object_json_add(json, o, src);
	return json;
}

uint64_t queue_cnp_timer(const struct queue *q)
{
	uint64_t others = q->cnp_wreb + q->cnp_pi + q->cnp_poll + q->cnp_drop +
			  q->cnp_pfc + q->cnp_grant + q->cnp_supplement;

	return q->cnp_sent > others ? q->cnp_sent - others : 0;
}
