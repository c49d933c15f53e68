/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ports, queues, flows and events of the family iqcn as plain structures, with
 * the kernel's names.
 *
 * object.c has one row per attribute: form, name and offset of the member.
 * Parsing and JSON follow from it.  An attribute without a row, from a newer
 * module, is skipped.  An attribute that an older module does not send is 0,
 * and object_has() returns false for it.
 */
#ifndef _IQCN_OBJECT_H
#define _IQCN_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <net/if.h>
#include <netlink/attr.h>

#include <linux/iqcn_netlink.h>

#include "out.h"

/* 64-bit words of a bitmap: which attributes the kernel sent */
#define HAS_SIZE 2

struct port {
	uint64_t has[HAS_SIZE];	/* must be the first member */
	uint64_t ifindex;
	char dev[IF_NAMESIZE];
	uint64_t snoop;
	uint64_t depth_bytes;
	uint64_t state_lost;
	uint64_t cnp_lost;
	uint64_t queues;
	uint64_t queues_congested;
	uint64_t flows;
	uint64_t flows_unassured;
	uint64_t ecn_mark;
	uint64_t ce_in;
	uint64_t ce_sent;
	uint64_t ce_sampled;
	uint64_t cnp_seen;
	uint64_t cnp_sent;
	uint64_t cnp_deferred;
	uint64_t cnp_canceled;
	uint64_t cnp_budget;
	uint64_t cnp_unpaired;
	uint64_t cnp_unmatched;
	uint64_t cnp_rate_pps;
	uint64_t cnp_burst;
	uint64_t malformed;
	struct mac cnp_smac;
	uint64_t pauses;
	uint64_t pfc_ignored;
	uint64_t cnp_passed;
	uint64_t cnp_filtered;
	uint64_t filter_n;
	uint64_t filter_ns;
};

struct queue {
	uint64_t has[HAS_SIZE];
	uint64_t dev;	/* ifindex */
	uint64_t parent;
	uint64_t depth_bytes;
	uint64_t limit_bytes;
	uint64_t kmin_bytes;
	uint64_t kmax_bytes;
	uint64_t notify;
	uint64_t tx_bytes;
	uint64_t tx_packets;
	uint64_t state_age_ns;
	uint64_t state_reason;
	uint64_t congested;
	uint64_t flows;
	uint64_t flows_paired;
	uint64_t flows_congested;
	uint64_t flows_active;
	uint64_t depth_peak_bytes;
	uint64_t bts_prob;
	uint64_t ce_rate_bps;
	uint64_t roce_bps;
	uint64_t ecn_mark;
	uint64_t bts_mark;
	uint64_t ce_in;
	uint64_t ce_sent;
	uint64_t ce_sampled;
	uint64_t not_ect;
	uint64_t not_ect_drop;
	uint64_t unmarkable;
	uint64_t drop_overlimit;
	uint64_t cnp_seen;
	uint64_t cnp_sent;
	uint64_t cnp_wreb;
	uint64_t cnp_pi;
	uint64_t cnp_poll;
	uint64_t cnp_drop;
	uint64_t cnp_deferred;
	uint64_t cnp_canceled;
	uint64_t cnp_budget;
	uint64_t cnp_unpaired;
	uint64_t cnp_gap;
	uint64_t cnp_error;
	uint64_t paired;
	uint64_t contradicted;
	uint64_t flow_new;
	uint64_t flow_aged;
	uint64_t flow_evicted;
	uint64_t flow_full;
	uint64_t malformed;
	uint64_t state_changes;
	uint64_t flow_state_changes;
	uint64_t sample_lost;
	uint64_t marked_bytes;
	uint64_t delay_sum_ns;
	uint64_t delay_samples;
	uint64_t delay_avg_ns;
	uint64_t delay_peak_ns;
	uint64_t cnp_pfc;
	uint64_t pauses;
	uint64_t paused_ns;
	uint64_t pause_rx_bytes;
	uint64_t undetermined_ns;
	uint64_t pfc_clear;
	uint64_t pfc_rate;
	uint64_t pfc_unsure;
	uint64_t pfc_grew;
	uint64_t pfc_drained;
	uint64_t pfc_limit;
	uint64_t pfc_state;
	uint64_t pfc_reason;
	uint64_t cnp_grant;
	uint64_t cnp_supplement;
	uint64_t above_kmax_ns;
	uint64_t leases;
	uint64_t leases_ended;
	uint64_t ref_bytes;
};

struct flow {
	uint64_t has[HAS_SIZE];
	uint64_t dev;
	uint64_t parent;
	uint64_t id;
	uint64_t age_ns;
	struct address src;
	struct address dst;
	uint64_t vid;
	uint64_t inner_vid;
	uint64_t dest_qp;
	uint64_t src_qp;
	uint64_t pair;
	uint64_t paired;
	uint64_t congested;
	uint64_t state_reason;
	uint64_t state_age_ns;
	uint64_t queued;
	uint64_t psn;
	uint64_t run;
	uint64_t ce_sent;
	uint64_t cnp_seen;
	uint64_t cnp_sent;
	uint64_t ce_age_ns;
	uint64_t cnp_seen_age_ns;
	uint64_t cnp_sent_age_ns;
	uint64_t ce_to_cnp_ns;
	uint64_t cnp_interval_ns;
};

struct event {
	uint64_t has[HAS_SIZE];
	uint64_t time_ns;
	uint64_t lost;
	uint64_t dev;
	uint64_t parent;
	uint64_t depth_bytes;
	uint64_t congested;
	uint64_t reason;
	uint64_t ce_rate_bps;
	uint64_t roce_bps;
	struct address src;
	struct address dst;
	uint64_t vid;
	uint64_t inner_vid;
	uint64_t dest_qp;
	uint64_t src_qp;
	uint64_t cause;
	uint64_t pfc_state;
	uint64_t pfc_reason;
};

struct field {
	enum form form;		/* FORM_NONE: no such attribute */
	const char *key;	/* in JSON */
	size_t offset;
	const char *const *names;
};

/* A kind of object; its rows are indexed by attribute */
struct object {
	const struct field *fields;
	size_t n_fields;
	size_t size;
};

extern const struct object port_object;
extern const struct object queue_object;
extern const struct object flow_object;
extern const struct object event_object;

/* Parse @len bytes of attributes at @head into @dst.  A member whose attribute
 * is missing becomes 0.
 */
void object_parse(const struct object *o, void *dst, struct nlattr *head,
		  int len);
/* All attributes that were sent, and flags in any case, under their names */
struct json_object *object_json(const struct object *o, const void *src);
/* Likewise, added to @json */
void object_json_add(struct json_object *json, const struct object *o,
		     const void *src);
/* Whether the kernel sent attribute @attr of @src, which is one of the
 * structures above
 */
bool object_has(const void *src, unsigned int attr);
/* The CNPs sent whose cause is the timer, which has no counter of its own */
uint64_t queue_cnp_timer(const struct queue *q);

#endif /* _IQCN_OBJECT_H */
