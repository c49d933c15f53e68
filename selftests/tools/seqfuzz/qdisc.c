// SPDX-License-Identifier: GPL-2.0
/*
 * Qdiscs, classes and filters.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/iqcn.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>
#include <netlink/attr.h>
#include <string.h>

#include "seqfuzz.h"

static struct nl_msg *tc_request(int type, int flags, int index,
				 uint32_t parent, uint32_t handle,
				 const char *kind)
{
	struct tcmsg tc = {
		.tcm_ifindex = index, .tcm_parent = parent,
		.tcm_handle = handle,
	};
	struct nl_msg *msg = request(type, flags, &tc, sizeof(tc));

	if (kind)
		nla_put_string(msg, TCA_KIND, kind);
	return msg;
}

static int any_flags(void)
{
	static const int flags[] = {
		NLM_F_CREATE | NLM_F_EXCL, NLM_F_CREATE | NLM_F_REPLACE,
		NLM_F_CREATE | NLM_F_REPLACE, NLM_F_REPLACE, 0,
	};

	return one_of(flags);
}

static void put_prio(struct nl_msg *msg)
{
	struct tc_prio_qopt qopt = { .bands = FAN };

	qopt.priomap[1] = below(FAN);
	nla_put(msg, TCA_OPTIONS, sizeof(qopt), &qopt);
}

/* Slow enough to build a backlog that still drains: each packet keeps a
 * reference to its socket, and thereby to the namespace
 */
#define SLOW			5000	/* bytes per second */

static void put_tbf(struct nl_msg *msg)
{
	static const uint32_t rates[] = { SLOW, 20000, 125000, 100000000 };
	struct tc_tbf_qopt qopt = {
		.rate.rate = one_of(rates),
		.rate.linklayer = TC_LINKLAYER_ETHERNET,
		.limit = 1 << 20,
	};
	struct nlattr *options = nla_nest_start(msg, TCA_OPTIONS);

	nla_put(msg, TCA_TBF_PARMS, sizeof(qopt), &qopt);
	nla_put_u32(msg, TCA_TBF_BURST, 9216);
	nla_nest_end(msg, options);
}

static void put_htb(struct nl_msg *msg)
{
	struct tc_htb_glob glob = {
		.version = 3, .rate2quantum = 10, .defcls = 1,
	};
	struct nlattr *options = nla_nest_start(msg, TCA_OPTIONS);

	nla_put(msg, TCA_HTB_INIT, sizeof(glob), &glob);
	nla_nest_end(msg, options);
}

static void put_ets(struct nl_msg *msg)
{
	struct nlattr *options = nla_nest_start(msg, TCA_OPTIONS);

	nla_put_u8(msg, TCA_ETS_NBANDS, FAN);
	nla_nest_end(msg, options);
}

static void put_none(struct nl_msg *msg)
{
}

static const struct {
	const char *kind;
	void (*put)(struct nl_msg *msg);
} classful[] = {
	{ "prio", put_prio }, { "tbf", put_tbf }, { "htb", put_htb },
	{ "ets", put_ets }, { "mq", put_none },
};

static int add_tree(struct place *p, int index, unsigned int i, int flags)
{
	struct nl_msg *msg = tc_request(RTM_NEWQDISC, flags, index, TC_H_ROOT,
					TREE, classful[i].kind);

	classful[i].put(msg);
	return ask(p->rtnl, msg, NULL, NULL);
}

int del_qdisc(struct place *p, int index, uint32_t parent)
{
	return ask(p->rtnl, tc_request(RTM_DELQDISC, 0, index, parent, 0, NULL),
		   NULL, NULL);
}

/* Put a classful qdisc at the root.  The kernel does not replace a qdisc of
 * another kind that has the same handle, so delete such a qdisc and retry.
 */
static int replace_tree(struct place *p, int index, unsigned int i)
{
	int flags = NLM_F_CREATE | NLM_F_REPLACE;
	int err = add_tree(p, index, i, flags);

	if (err == -EINVAL && !del_qdisc(p, index, TC_H_ROOT))
		err = add_tree(p, index, i, flags);
	return err;
}

int op_tree(struct place *p)
{
	return add_tree(p, any_index(p), below(ARRAY_SIZE(classful)),
			any_flags());
}

/* Half of the time, add a classful qdisc if a request probably failed because
 * there is none.  Return: whether to retry the request
 */
static bool tree_helps(struct place *p, int index, int err)
{
	return (err == -ENOENT || err == -EINVAL) && below(2) &&
	       !replace_tree(p, index, below(ARRAY_SIZE(classful)));
}

static int add_class(struct place *p, int index, unsigned int i)
{
	struct tc_htb_opt opt = {
		.rate = { .rate = SLOW, .linklayer = TC_LINKLAYER_ETHERNET },
		.ceil = { .rate = 1 << below(30),
			  .linklayer = TC_LINKLAYER_ETHERNET },
		.buffer = 1000000, .cbuffer = 1000000, .quantum = 9000,
	};
	struct nl_msg *msg = tc_request(RTM_NEWTCLASS, any_flags(), index, TREE,
					TREE | i, "htb");
	struct nlattr *options = nla_nest_start(msg, TCA_OPTIONS);

	if (opt.ceil.rate < opt.rate.rate)
		opt.ceil.rate = opt.rate.rate;
	nla_put(msg, TCA_HTB_PARMS, sizeof(opt), &opt);
	nla_nest_end(msg, options);
	return ask(p->rtnl, msg, NULL, NULL);
}

int op_class(struct place *p)
{
	int index = any_index(p);
	unsigned int i = 1 + below(FAN);

	if (below(4))
		return add_class(p, index, i);
	return ask(p->rtnl, tc_request(RTM_DELTCLASS, 0, index, 0, TREE | i,
				       NULL), NULL, NULL);
}

/* u32 parameters that are set alone; put_any() also sets pairs that constrain
 * each other
 */
static const struct {
	uint16_t attr;
	uint32_t lo, hi;
	bool time;			/* at least --shortest */
} parameters[] = {
	{ TCA_IQCN_LIMIT_BYTES, 1, UINT32_MAX },
	{ TCA_IQCN_PMAX, 0, UINT32_MAX },
	{ TCA_IQCN_NONECT, 0, __IQCN_NONECT_MAX - 1 },
	{ TCA_IQCN_NOTIFY, 0, IQCN_NOTIFY_ALL },
	{ TCA_IQCN_DETECT, 1, IQCN_DETECT_ALL },
	{ TCA_IQCN_T1_NS, 10000, 1000000000, true },
	{ TCA_IQCN_WINDOW_NS, 10000, 1000000000, true },
	{ TCA_IQCN_PAIR, 1, __IQCN_PAIR_MAX - 1 },
	{ TCA_IQCN_FLOWS, 1, 4096 },
	{ TCA_IQCN_AGE_MS, 1, 86400000 },
	{ TCA_IQCN_CNP_DSCP, 0, 63 },
	{ TCA_IQCN_CNP_PCP, 0, 7 },
	{ TCA_IQCN_CNP_TTL, 1, 255 },
	{ TCA_IQCN_CNP_RATE_PPS, 1, 1000000000 },
	{ TCA_IQCN_CNP_BURST, 1, 1000000 },
	{ TCA_IQCN_TRIGGER, 0, __IQCN_TRIGGER_MAX - 1 },
	{ TCA_IQCN_BASE, 0, __IQCN_BASE_MAX - 1 },
	{ TCA_IQCN_DELAY_NS, 0, 1000000000 },
	{ TCA_IQCN_DELAY_NS, IQCN_DELAY_AUTO, IQCN_DELAY_AUTO },
	{ TCA_IQCN_SAMPLE, 1, 65536 },
	{ TCA_IQCN_SAMPLE_GROUP, 0, 7 },
	{ TCA_IQCN_SAMPLE_GROUP, 7, 7 },
	{ TCA_IQCN_SAMPLE_GROUP, IQCN_SAMPLE_GROUP_NONE,
	  IQCN_SAMPLE_GROUP_NONE },
	{ TCA_IQCN_SNOOP, 0, __IQCN_SNOOP_MAX - 1 },
	{ TCA_IQCN_MEASURE, 1, IQCN_MEASURE_ALL },
	{ TCA_IQCN_UPDATE_NS, 10000, 1000000000, true },
	{ TCA_IQCN_ALPHA, 1, UINT32_MAX },
	{ TCA_IQCN_BETA, 1, UINT32_MAX },
	{ TCA_IQCN_MIN_GAP_NS, 0, 1000000000 },
	{ TCA_IQCN_TELEMETRY, 0, 1 },
	{ TCA_IQCN_CE_IN, 0, __IQCN_CE_IN_MAX - 1 },
	{ TCA_IQCN_MARK_ON, 0, __IQCN_MARK_ON_MAX - 1 },
	{ TCA_IQCN_CNP_SMAC, 0, __IQCN_CNP_SMAC_MAX - 1 },
	{ TCA_IQCN_CNP_SPORT, 0, __IQCN_CNP_SPORT_MAX - 1 },
	{ TCA_IQCN_PFC, 0, __IQCN_PFC_MAX - 1 },
	{ TCA_IQCN_PFC_PRIO, 1, 255 },
	{ TCA_IQCN_THRESHOLD_BYTES, 0, UINT32_MAX },
	{ TCA_IQCN_SETTLE_NS, 0, 1000000000 },
	{ TCA_IQCN_PFC_MAX_NS, 0, 1000000000 },
	{ TCA_IQCN_BASE_RTT_NS, 1, 1000000000 },
	{ TCA_IQCN_BASE_RTT_NS, IQCN_BASE_RTT_NONE, IQCN_BASE_RTT_NONE },
	{ TCA_IQCN_GRANT, 0, __IQCN_GRANT_MAX - 1 },
	{ TCA_IQCN_FIBER_M, 0, 100000000 },
	{ TCA_IQCN_FILTER_BY, 0, __IQCN_CNP_FILTER_BY_MAX - 1 },
	{ TCA_IQCN_SUPPLEMENT_PPS, 0, 1000000 },
	{ TCA_IQCN_SUPPLEMENT_MAX_PPS, 1, 1000000 },
};

/* A random number from @lo to @hi: sometimes a bound, else of any magnitude */
static uint32_t between(uint32_t lo, uint32_t hi)
{
	uint64_t v;

	if (!below(8))
		return below(2) ? lo : hi;
	v = lo + any_size(32);
	return v <= hi ? v : lo + draw() % ((uint64_t)hi - lo + 1);
}

static void put_parameter(struct nl_msg *msg, unsigned int i)
{
	uint32_t v = between(parameters[i].lo, parameters[i].hi);

	if (parameters[i].time && v < shortest_us * 1000)
		v = shortest_us * 1000;
	nla_put_u32(msg, parameters[i].attr, v);
}

/* Set two parameters, @first less than @second */
static void put_pair(struct nl_msg *msg, int first, int second, uint32_t lo,
		     uint32_t hi)
{
	uint32_t a = between(lo, hi - 1), b = between(lo, hi);

	nla_put_u32(msg, first, a < b ? a : b ? b - 1 : 0);
	nla_put_u32(msg, second, a < b ? b : a ? a : 1);
}

static void put_times(struct nl_msg *msg)
{
	uint32_t t1 = between(shortest_us * 1000, 1000000000);

	nla_put_u32(msg, TCA_IQCN_PERIOD_NS, between(shortest_us * 1000, t1));
	nla_put_u32(msg, TCA_IQCN_T1_NS, t1);
}

static void put_profile(struct nl_msg *msg)
{
	struct tc_iqcn_point point[IQCN_POINTS_MAX];
	unsigned int i, n = below(IQCN_POINTS_MAX + 1);

	for (i = 0; i < n; i++) {
		point[i].bytes = (i << 28) + any_size(28);
		point[i].prob = (i << 29) + any_size(29);
	}
	nla_put(msg, TCA_IQCN_PROFILE, n * sizeof(*point), point);
}

/* A filter that is valid in most cases, often with the length of the fiber,
 * which some modes need
 */
static void put_filter(struct nl_msg *msg)
{
	struct tc_iqcn_cnp_filter filter = {
		.mode = below(__IQCN_CNP_FILTER_MAX + !below(8)),
	};

	if (filter.mode == IQCN_CNP_FILTER_FIXED || !below(8)) {
		filter.n = any_size(20);
		filter.interval_ns = below(2) ? any_size(20) :
				     between(1, 1000000000);
	}
	if (below(4))
		nla_put_u32(msg, TCA_IQCN_FIBER_M, between(1, 100000000));
	nla_put(msg, TCA_IQCN_FILTER, sizeof(filter), &filter);
}

static void put_bandwidth(struct nl_msg *msg)
{
	static const uint64_t bandwidths[] = {
		0, 1, 1000000, 25000000000, 1000000000000000,
	};

	nla_put_u64(msg, TCA_IQCN_BANDWIDTH_BPS, one_of(bandwidths));
}

static void put_any(struct nl_msg *msg)
{
	switch (below(26)) {
	case 0:
		put_pair(msg, TCA_IQCN_KMIN_BYTES, TCA_IQCN_KMAX_BYTES, 0,
			 UINT32_MAX);
		break;
	case 1:
		put_pair(msg, TCA_IQCN_EXIT_PCT, TCA_IQCN_ENTER_PCT, 1, 999);
		break;
	case 2:
		put_pair(msg, TCA_IQCN_RUN_EXIT, TCA_IQCN_RUN_ENTER, 1, 65536);
		break;
	case 3:
		put_pair(msg, TCA_IQCN_SPAN_ENTER, TCA_IQCN_SPAN_EXIT, 2,
			 65536);
		nla_put_u32(msg, TCA_IQCN_SPAN_PACKETS, between(2, 65536));
		break;
	case 4:
		put_pair(msg, TCA_IQCN_QREF_BYTES, TCA_IQCN_LIMIT_BYTES, 1,
			 UINT32_MAX);
		break;
	case 5:
		put_times(msg);
		break;
	case 6:
		put_profile(msg);
		break;
	case 7:
		put_bandwidth(msg);
		break;
	case 8:
		/* mark every packet */
		nla_put_u32(msg, TCA_IQCN_KMIN_BYTES, 0);
		nla_put_u32(msg, TCA_IQCN_KMAX_BYTES, 0);
		break;
	case 9:
		put_filter(msg);
		break;
	default:
		put_parameter(msg, below(ARRAY_SIZE(parameters)));
	}
}

/* The root, or a class of 1: */
uint32_t any_parent(void)
{
	return below(4) ? TREE | (1 + below(FAN)) : TC_H_ROOT;
}

static uint32_t child_handle(uint32_t parent)
{
	return HANDLE(parent == TC_H_ROOT ? 0x10 : 0x10 + parent % 16, 0);
}

int add_iqcn(struct place *p, int index, uint32_t parent, int flags,
	     const uint32_t *attrs)
{
	struct nl_msg *msg = tc_request(RTM_NEWQDISC, flags, index, parent,
					child_handle(parent), "iqcn");
	struct nlattr *options = nla_nest_start(msg, TCA_OPTIONS);
	unsigned int n;

	for (; attrs && attrs[0]; attrs += 2)
		nla_put_u32(msg, attrs[0], attrs[1]);
	if (!attrs)
		for (n = below(6); n; n--)
			put_any(msg);
	nla_nest_end(msg, options);
	return ask(p->rtnl, msg, NULL, NULL);
}

int op_iqcn(struct place *p)
{
	uint32_t parent = any_parent();
	int index = any_index(p), flags = any_flags();
	int err = add_iqcn(p, index, parent, flags, NULL);

	if (parent != TC_H_ROOT && tree_helps(p, index, err))
		err = add_iqcn(p, index, parent, flags, NULL);
	return err;
}

/* Add a classful qdisc with iqcn in each of its classes */
int add_full_tree(struct place *p, int index)
{
	unsigned int i, kind = below(ARRAY_SIZE(classful));
	int err = replace_tree(p, index, kind);

	for (i = 1; i <= FAN; i++) {
		if (!strcmp(classful[kind].kind, "htb"))
			add_class(p, index, i);
		add_iqcn(p, index, TREE | i, NLM_F_CREATE | NLM_F_REPLACE,
			 NULL);
	}
	return err;
}

/* Replace a qdisc with one of another kind */
int op_qdisc_other(struct place *p)
{
	uint32_t parent = any_parent();
	struct nl_msg *msg = tc_request(RTM_NEWQDISC,
					NLM_F_CREATE | NLM_F_REPLACE,
					any_index(p), parent, 0,
					below(2) ? "pfifo" : "fq_codel");

	return ask(p->rtnl, msg, NULL, NULL);
}

int op_qdisc_del(struct place *p)
{
	return del_qdisc(p, any_index(p), any_parent());
}

static int add_clsact(struct place *p, int index)
{
	struct nl_msg *msg = tc_request(RTM_NEWQDISC, NLM_F_CREATE, index,
					TC_H_CLSACT, HANDLE(0xffff, 0),
					"clsact");

	return ask(p->rtnl, msg, NULL, NULL);
}

int op_clsact(struct place *p)
{
	int index = any_index(p);

	if (below(2))
		return add_clsact(p, index);
	return del_qdisc(p, index, TC_H_CLSACT);
}

static struct nl_msg *filter_request(int type, int flags, int index,
				     uint32_t parent, unsigned int prio,
				     const char *kind)
{
	struct tcmsg tc = {
		.tcm_ifindex = index, .tcm_parent = parent,
		.tcm_info = TC_H_MAKE(prio << 16, htons(ETH_P_ALL)),
	};
	struct nl_msg *msg = request(type, flags, &tc, sizeof(tc));

	if (kind)
		nla_put_string(msg, TCA_KIND, kind);
	return msg;
}

/* Add a filter without an action.  For flower the kernel avoids RTNL where it
 * can.
 */
static int add_filter(struct place *p, int index, uint32_t parent)
{
	static const char * const kinds[] = { "matchall", "u32", "flower" };
	static const int classid[] = {
		TCA_MATCHALL_CLASSID, TCA_U32_CLASSID, TCA_FLOWER_CLASSID,
	};
	struct tc_u32_sel sel = { .flags = TC_U32_TERMINAL };
	unsigned int kind = below(ARRAY_SIZE(kinds));
	struct nlattr *options;
	struct nl_msg *msg;

	msg = filter_request(RTM_NEWTFILTER, NLM_F_CREATE, index, parent,
			     10 * kind + 1 + below(3), kinds[kind]);
	options = nla_nest_start(msg, TCA_OPTIONS);
	nla_put_u32(msg, classid[kind], TREE | (1 + below(FAN)));
	if (kind == 1)
		nla_put(msg, TCA_U32_SEL, sizeof(sel), &sel);
	nla_nest_end(msg, options);
	return ask(p->rtnl, msg, NULL, NULL);
}

/* Add a filter, sometimes to a classless qdisc, which refuses it only after the
 * lookup of the qdisc
 */
int op_filter_add(struct place *p)
{
	static const uint32_t parents[] = {
		TREE, TREE, TREE, HANDLE(0x10, 0), HANDLE(0x11, 0), EGRESS,
	};
	uint32_t parent = one_of(parents);
	int index = any_index(p), err = add_filter(p, index, parent);

	if (parent == TREE && tree_helps(p, index, err))
		err = add_filter(p, index, parent);
	return err;
}

/* Delete the filters of one priority, or all filters */
int op_filter_del(struct place *p)
{
	static const uint32_t parents[] = { TREE, INGRESS, EGRESS };
	unsigned int prio = below(3) * 10 + below(4);
	struct tcmsg tc = {
		.tcm_ifindex = any_index(p),
		.tcm_parent = one_of(parents),
	};
	struct nl_msg *msg;

	if (prio)
		tc.tcm_info = TC_H_MAKE(prio << 16, htons(ETH_P_ALL));
	msg = request(RTM_DELTFILTER, 0, &tc, sizeof(tc));
	return ask(p->rtnl, msg, NULL, NULL);
}

/* Redirect or mirror (@eaction) all packets that pass hook @parent of device
 * @index to device @to
 */
int add_mirred(struct place *p, int index, uint32_t parent, int to,
	       int eaction)
{
	struct tc_mirred mirred = {
		.action = eaction == TCA_EGRESS_MIRROR ? TC_ACT_PIPE :
							 TC_ACT_STOLEN,
		.eaction = eaction, .ifindex = to,
	};
	struct nl_msg *msg = filter_request(RTM_NEWTFILTER, NLM_F_CREATE, index,
					    parent, 1, "matchall");
	struct nlattr *options = nla_nest_start(msg, TCA_OPTIONS);
	struct nlattr *acts = nla_nest_start(msg, TCA_MATCHALL_ACT);
	struct nlattr *act = nla_nest_start(msg, 1), *parms;

	nla_put_string(msg, TCA_ACT_KIND, "mirred");
	parms = nla_nest_start(msg, TCA_ACT_OPTIONS);
	nla_put(msg, TCA_MIRRED_PARMS, sizeof(mirred), &mirred);
	nla_nest_end(msg, parms);
	nla_nest_end(msg, act);
	nla_nest_end(msg, acts);
	nla_nest_end(msg, options);
	add_clsact(p, index);
	return ask(p->rtnl, msg, NULL, NULL);
}

/* Mirror or redirect nlmon to any device, a0 into any device, and veth to
 * devices that lead nowhere, so that no packet loops
 */
int op_mirred(struct place *p)
{
	static const char * const ends[] = { "d0", "d1", "d2", "i0" };
	int to = any_index(p), nlmon = index_of(p, "nl0");
	int answers = index_of(p, "a0");

	switch (below(3)) {
	case 0:
		if (to == nlmon)
			return -ELOOP;
		return add_mirred(p, nlmon, EGRESS, to,
				  below(2) ? TCA_EGRESS_REDIR :
					     TCA_EGRESS_MIRROR);
	case 1:
		if (to == nlmon || to == answers)
			return -ELOOP;
		return add_mirred(p, answers, EGRESS, to, TCA_INGRESS_REDIR);
	default:
		return add_mirred(p, index_of(p, below(2) ? "va0" : "vb0"),
				  INGRESS, index_of(p, one_of(ends)),
				  TCA_EGRESS_REDIR);
	}
}
