// SPDX-License-Identifier: GPL-2.0
/*
 * The qdiscs of this network namespace and their counters.
 *
 * Qdiscs come from one RTM_GETQDISC dump, so neither tc nor its plugin is
 * needed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "genl.h"
#include "iqcn.h"
#include "names.h"
#include "qdisc.h"
#include "version.h"

#define HOW_TO_ADD "add one: tc qdisc add dev DEV root iqcn"

const struct counter counters[] = {
/* not a counter: a gauge, peak, average, rate, state or time, which may fall */
#define VALUE(_group, _key, _field, ...)				\
	{ _group, _key, offsetof(struct stats, _field),			\
	  sizeof(((struct stats *)NULL)->_field), false, ##__VA_ARGS__ }
#define COUNTER(_group, _key, _field)					\
	{ _group, _key, offsetof(struct stats, _field),			\
	  sizeof(((struct stats *)NULL)->_field), true }
#define APP(_group, _name) COUNTER(_group, #_name, app._name)
#define APP_VALUE(_group, _name, ...) \
	VALUE(_group, #_name, app._name, ##__VA_ARGS__)
	COUNTER("packets", "bytes", basic.bytes),
	COUNTER("packets", "packets", packets),
	COUNTER("packets", "drops", queue.drops),
	COUNTER("packets", "overlimits", queue.overlimits),
	COUNTER("packets", "requeues", queue.requeues),
	VALUE("packets", "backlog", queue.backlog),
	VALUE("packets", "qlen", queue.qlen),
	APP("marks", ecn_mark), APP("marks", bts_mark), APP("marks", ce_in),
	APP("marks", ce_sent),
	APP("marks", ce_sampled), APP("marks", sample_lost),
	APP("marks", not_ect), APP("marks", not_ect_drop),
	APP("marks", unmarkable), APP("marks", drop_overlimit),
	APP_VALUE("marks", depth_peak_bytes), APP("marks", marked_bytes),
	APP("delay", delay_samples), APP_VALUE("delay", delay_avg_ns),
	APP_VALUE("delay", delay_peak_ns), APP("delay", delay_sum_ns),
	APP("CNPs", cnp_seen), APP("CNPs", cnp_sent), APP("CNPs", cnp_deferred),
	APP("CNPs", cnp_canceled), APP("CNPs", cnp_budget),
	APP("CNPs", cnp_unpaired), APP("CNPs", cnp_error),
	APP("CNPs", cnp_wreb), APP("CNPs", cnp_pi), APP("CNPs", cnp_poll),
	APP("CNPs", cnp_drop), APP("CNPs", cnp_pfc), APP("CNPs", cnp_grant),
	APP("CNPs", cnp_supplement), APP("CNPs", cnp_gap),
	APP_VALUE("flows", flows), APP_VALUE("flows", flows_paired),
	APP_VALUE("flows", flows_congested), APP_VALUE("flows", flows_active),
	APP("flows", flow_new),
	APP("flows", flow_aged), APP("flows", flow_evicted),
	APP("flows", flow_full),
	APP("evidence", paired), APP("evidence", contradicted),
	APP("evidence", malformed), APP("evidence", port_cnp_unmatched),
	APP("evidence", port_malformed),
	APP("state", state_changes), APP("state", flow_state_changes),
	APP_VALUE("state", state_since_ns),
	APP_VALUE("state", state_reason, FORM_NAME, reason_names),
	APP_VALUE("state", ce_rate_bps), APP_VALUE("state", roce_bps),
	APP_VALUE("state", bts_prob, FORM_PROB), APP_VALUE("state", ref_bytes),
	APP("pfc", pauses), APP("pfc", paused_ns), APP("pfc", pause_rx_bytes),
	APP("pfc", undetermined_ns), APP("pfc", pfc_clear),
	APP("pfc", pfc_rate), APP("pfc", pfc_unsure), APP("pfc", pfc_grew),
	APP("pfc", pfc_drained), APP("pfc", pfc_limit),
	APP("pfc", port_pfc_ignored),
	APP_VALUE("pfc", pfc_state, FORM_NAME, pfc_state_names),
	APP_VALUE("pfc", pfc_reason, FORM_NAME, pfc_reason_names),
	APP("long haul", above_kmax_ns), APP("long haul", port_cnp_passed),
	APP("long haul", port_cnp_filtered), APP("long haul", leases),
	APP("long haul", leases_ended),
};

const size_t n_counters = ARRAY_SIZE(counters);

bool counter_sent(const struct counter *c, const struct stats *st)
{
	return c->offset + c->size <= st->sent;
}

uint64_t counter_get(const struct counter *c, const struct stats *st)
{
	const void *at = (const char *)st + c->offset;

	if (!counter_sent(c, st))
		return 0;
	return c->size == sizeof(uint64_t) ? *(const uint64_t *)at :
					     *(const uint32_t *)at;
}

void counter_set(const struct counter *c, struct stats *st, uint64_t v)
{
	void *at = (char *)st + c->offset;

	if (c->size == sizeof(uint64_t))
		*(uint64_t *)at = v;
	else
		*(uint32_t *)at = v;
}

static size_t take(void *dst, size_t size, const struct nlattr *attr)
{
	return attr ? nla_memcpy(dst, attr, size) : 0;
}

static void read_stats(struct stats *st, struct nlattr *stats2)
{
	struct nlattr *tb[TCA_STATS_MAX + 1];

	memset(st, 0, sizeof(*st));
	if (!stats2 || nla_parse_nested(tb, TCA_STATS_MAX, stats2, NULL))
		return;
	take(&st->basic, sizeof(st->basic), tb[TCA_STATS_BASIC]);
	take(&st->queue, sizeof(st->queue), tb[TCA_STATS_QUEUE]);
	st->sent = offsetof(struct stats, app) +
		   take(&st->app, sizeof(st->app), tb[TCA_STATS_APP]);
	/* the kernel sends this attribute only if 32 bits are too few */
	if (!take(&st->packets, sizeof(st->packets), tb[TCA_STATS_PKT64]))
		st->packets = st->basic.packets;
}

struct dump {
	uint32_t ifindex;
	qdisc_fn fn;
	void *arg;
	bool stopped;
};

static int on_qdisc(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *tb[TCA_MAX + 1];
	struct dump *d = arg;
	const struct tcmsg *tcm;
	struct qdisc q = {};

	if (nlh->nlmsg_type != RTM_NEWQDISC ||
	    nlmsg_parse(nlh, sizeof(*tcm), tb, TCA_MAX, NULL))
		return NL_SKIP;
	tcm = nlmsg_data(nlh);
	if (!tb[TCA_KIND] ||
	    (d->ifindex && d->ifindex != (uint32_t)tcm->tcm_ifindex))
		return NL_SKIP;
	q.ifindex = tcm->tcm_ifindex;
	q.parent = tcm->tcm_parent;
	q.handle = tcm->tcm_handle;
	nla_strlcpy(q.kind, tb[TCA_KIND], sizeof(q.kind));
	q.options = tb[TCA_OPTIONS];
	read_stats(&q.stats, tb[TCA_STATS2]);
	d->stopped = !d->fn(&q, d->arg);
	return d->stopped ? NL_STOP : NL_OK;
}

static int dump(struct nl_sock *sk, struct dump *d)
{
	struct tcmsg tcm = { .tcm_family = AF_UNSPEC };
	int err;

	err = nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_qdisc, d);
	if (err)
		return err;
	err = nl_connect(sk, NETLINK_ROUTE);
	if (err)
		return err;
	err = nl_send_simple(sk, RTM_GETQDISC, NLM_F_DUMP, &tcm, sizeof(tcm));
	return err < 0 ? err : nl_recvmsgs_default(sk);
}

int qdiscs_dump(uint32_t ifindex, qdisc_fn fn, void *arg)
{
	struct dump d = { .ifindex = ifindex, .fn = fn, .arg = arg };
	struct nl_sock *sk = nl_socket_alloc();
	int err;

	if (!sk)
		return fail("netlink socket", strerror(ENOMEM));
	err = dump(sk, &d);
	nl_socket_free(sk);
	return err < 0 && !d.stopped ? fail("list of qdiscs", nl_geterror(err)) :
				       EXIT_SUCCESS;
}

bool qdisc_is_iqcn(const struct qdisc *q)
{
	return !strcmp(q->kind, "iqcn");
}

int qdiscs_none(const char *dev)
{
	char version[VERSION_SIZE];

	if (!module_version(version) && genl_family_version() < 0)
		return fail("module not loaded", "modprobe sch_iqcn, or " HOW_TO_ADD);
	if (dev)
		return fail(dev, "no iqcn qdisc, " HOW_TO_ADD);
	return fail("no iqcn qdisc in this namespace", HOW_TO_ADD);
}

bool qdisc_params(const struct qdisc *q, struct nlattr **tb)
{
	return q->options &&
	       !nla_parse_nested(tb, TCA_IQCN_MAX, q->options, NULL);
}

bool param_number(const struct nlattr *attr, uint64_t *v)
{
	if (!attr || nla_len(attr) < (int)sizeof(uint32_t))
		return false;
	*v = nla_len(attr) >= (int)sizeof(uint64_t) ? nla_get_u64(attr) :
						      nla_get_u32(attr);
	return true;
}
