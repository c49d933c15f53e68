// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters: from netlink and back, their bounds, and what becomes of those
 * that nobody gives.
 *
 * All of a change is checked before any of it is used, and an error names the
 * parameter, its value and what it is at odds with.
 */
#include <linux/if_arp.h>
#include <linux/netlink.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>

#include "iqcn.h"

/* Parameters that are a u32 within bounds */
struct iqcn_range {
	u16 attr;
	u16 offset;	/* in struct iqcn_config */
	u32 lo;
	u32 hi;
	bool timer;	/* how often a timer runs: users have a larger minimum */
	const char *name;
	const char *unit;
};

#define IQCN_RANGE(_attr, _field, _lo, _hi, _name, _unit)		\
	{ TCA_IQCN_##_attr, offsetof(struct iqcn_config, _field),	\
	  _lo, _hi, false, _name, _unit }

#define IQCN_RANGE_TIMER(_attr, _field, _name)				\
	{ TCA_IQCN_##_attr, offsetof(struct iqcn_config, _field),	\
	  IQCN_TIME_MIN_NS, IQCN_TIME_MAX_NS, true, _name, " ns" }

static const struct iqcn_range iqcn_ranges[] = {
	IQCN_RANGE(LIMIT_BYTES, p.limit_bytes, 1, U32_MAX, "limit", " bytes"),
	IQCN_RANGE(KMIN_BYTES, p.mark.kmin_bytes, 0, U32_MAX, "kmin", ""),
	IQCN_RANGE(KMAX_BYTES, p.mark.kmax_bytes, 0, U32_MAX, "kmax", ""),
	IQCN_RANGE(PMAX, p.mark.pmax, 0, U32_MAX, "pmax", ""),
	IQCN_RANGE(MARK_ON, p.mark_on, 0, __IQCN_MARK_ON_MAX - 1, "mark-on", ""),
	IQCN_RANGE(NONECT, p.nonect, 0, __IQCN_NONECT_MAX - 1, "nonect", ""),
	IQCN_RANGE(NOTIFY, p.notify, 0, IQCN_NOTIFY_ALL, "notify", ""),
	IQCN_RANGE(DETECT, p.detect, 1, IQCN_DETECT_ALL, "detect", ""),
	IQCN_RANGE_TIMER(WINDOW_NS, p.window_ns, "window"),
	IQCN_RANGE(ENTER_PCT, p.enter_pct, 1, 1000, "enter", "%"),
	IQCN_RANGE(EXIT_PCT, p.exit_pct, 0, 999, "exit", "%"),
	IQCN_RANGE(RUN_ENTER, p.run_enter, 2, 65536, "run", " packets"),
	IQCN_RANGE(RUN_EXIT, p.run_exit, 0, 65535, "run-exit", " packets"),
	IQCN_RANGE(SPAN_PACKETS, p.span_packets, 2, 65536, "span", " packets"),
	IQCN_RANGE(SPAN_ENTER, p.span_enter, 2, 65536, "span-enter", ""),
	IQCN_RANGE(SPAN_EXIT, p.span_exit, 2, 65536, "span-exit", ""),
	IQCN_RANGE_TIMER(T1_NS, p.t1_ns, "t1"),
	IQCN_RANGE(TRIGGER, p.trigger, 0, __IQCN_TRIGGER_MAX - 1, "trigger",
		   ""),
	IQCN_RANGE_TIMER(PERIOD_NS, p.period_ns, "period"),
	IQCN_RANGE(BASE, p.base, 0, __IQCN_BASE_MAX - 1, "base", ""),
	IQCN_RANGE(CE_IN, p.ce_in, 0, __IQCN_CE_IN_MAX - 1, "ce-in", ""),
	IQCN_RANGE(MEASURE, p.measure, 1, IQCN_MEASURE_ALL, "measure", ""),
	IQCN_RANGE(QREF_BYTES, p.pi.qref_bytes, 1, U32_MAX, "qref", " bytes"),
	IQCN_RANGE_TIMER(UPDATE_NS, p.pi.update_ns, "update"),
	IQCN_RANGE(ALPHA, p.pi.alpha, 1, IQCN_GAIN_MAX, "alpha", ""),
	IQCN_RANGE(BETA, p.pi.beta, 1, IQCN_GAIN_MAX, "beta", ""),
	IQCN_RANGE(MIN_GAP_NS, p.min_gap_ns, 0, IQCN_TIME_MAX_NS, "min-gap",
		   " ns"),
	IQCN_RANGE(TELEMETRY, p.telemetry, 0, 1, "telemetry", ""),
	IQCN_RANGE(SAMPLE, p.sample, 1, 65536, "sample", " packets"),
	IQCN_RANGE(SAMPLE_GROUP, p.sample_group, 0, U32_MAX, "group", ""),
	IQCN_RANGE(PAIR, p.pair, IQCN_PAIR_SPORT, __IQCN_PAIR_MAX - 1, "pair",
		   ""),
	IQCN_RANGE(FLOWS, p.flows, 1, 1048576, "flows", ""),
	IQCN_RANGE(AGE_MS, p.age_ms, 1, 86400000, "age", " ms"),
	IQCN_RANGE(CNP_DSCP, p.cnp_dscp, 0, 63, "cnp-dscp", ""),
	IQCN_RANGE(CNP_PCP, p.cnp_pcp, 0, 7, "cnp-pcp", ""),
	IQCN_RANGE(CNP_TTL, p.cnp_ttl, 1, 255, "cnp-ttl", ""),
	IQCN_RANGE(CNP_SMAC, p.cnp_smac, 0, __IQCN_CNP_SMAC_MAX - 1, "cnp-smac",
		   ""),
	IQCN_RANGE(CNP_RATE_PPS, port.cnp_rate_pps, 1, IQCN_CNP_RATE_MAX_PPS, "cnp-rate",
		   " per second"),
	IQCN_RANGE(CNP_BURST, port.cnp_burst, 1, 1000000, "cnp-burst", ""),
	IQCN_RANGE(SNOOP, port.snoop, 0, __IQCN_SNOOP_MAX - 1, "snoop", ""),
};

/* Those that are the whole device's, or its namespace's */
static bool iqcn_range_of_port(const struct iqcn_range *r)
{
	return r->offset >= offsetofend(struct iqcn_config, p);
}

#define IQCN_BANDWIDTH_MAX_BPS	1000000000000000ULL

/* Lengths are what matters; values are checked below, so that errors can name
 * the parameter.
 */
static const struct nla_policy iqcn_policy[TCA_IQCN_MAX + 1] = {
	[TCA_IQCN_LIMIT_BYTES ... TCA_IQCN_EXIT_PCT]	= { .type = NLA_U32 },
	[TCA_IQCN_BANDWIDTH_BPS]			= { .type = NLA_U64 },
	[TCA_IQCN_PAIR ... TCA_IQCN_MEASURE]		= { .type = NLA_U32 },
	[TCA_IQCN_PROFILE]				= { .type = NLA_BINARY,
		.len = IQCN_POINTS_MAX * sizeof(struct tc_iqcn_point) },
	[TCA_IQCN_QREF_BYTES ... TCA_IQCN_CE_IN]	= { .type = NLA_U32 },
};

static const struct iqcn_params iqcn_defaults = {
	.mark.pmax = IQCN_DEFAULT_PMAX,
	.mark_on = IQCN_MARK_ON_DEQUEUE,
	.nonect = IQCN_NONECT_PASS,
	.notify = IQCN_DEFAULT_NOTIFY,
	.detect = IQCN_DEFAULT_DETECT,
	.t1_ns = IQCN_DEFAULT_T1_NS,
	.window_ns = IQCN_DEFAULT_WINDOW_NS,
	.enter_pct = IQCN_DEFAULT_ENTER_PCT,
	.exit_pct = IQCN_DEFAULT_EXIT_PCT,
	.run_enter = IQCN_DEFAULT_RUN_ENTER,
	.run_exit = IQCN_DEFAULT_RUN_EXIT,
	.span_packets = IQCN_DEFAULT_SPAN_PACKETS,
	.span_enter = IQCN_DEFAULT_SPAN_ENTER,
	.span_exit = IQCN_DEFAULT_SPAN_EXIT,
	.trigger = IQCN_DEFAULT_TRIGGER,
	.base = IQCN_DEFAULT_BASE,
	.ce_in = IQCN_CE_IN_NOTIFY,
	.measure = IQCN_MEASURE_DEPTH,
	.pi.update_ns = IQCN_DEFAULT_UPDATE_NS,
	.sample = 1,
	.sample_group = IQCN_SAMPLE_GROUP_NONE,
	.pair = IQCN_PAIR_PSN,
	.flows = IQCN_DEFAULT_FLOWS,
	.age_ms = IQCN_DEFAULT_AGE_MS,
	.cnp_dscp = IQCN_DEFAULT_CNP_DSCP,
	.cnp_pcp = IQCN_DEFAULT_CNP_PCP,
	.cnp_ttl = IQCN_DEFAULT_CNP_TTL,
	.cnp_smac = IQCN_CNP_SMAC_PORT,
};

/**
 * iqcn_config_init() - what a new queue starts from
 * @c: to be set
 * @port: its port, or NULL
 *
 * Context: RTNL.
 */
void iqcn_config_init(struct iqcn_config *c, const struct iqcn_port *port)
{
	memset(c, 0, sizeof(*c));
	c->p = iqcn_defaults;
	if (port)
		iqcn_port_get(port, &c->port);
}

/* The shortest time that may be set: timers are not charged to a user's cgroup */
static u32 iqcn_time_min_ns(const struct net_device *dev)
{
	return dev_net(dev)->user_ns == &init_user_ns ? IQCN_TIME_MIN_NS :
							IQCN_TIME_USER_MIN_NS;
}

/**
 * iqcn_config_resolve() - fill in what the user leaves to us
 * @p: parameters
 * @dev: device
 * @link_bps: its speed, which the bandwidth stands for if it is given
 *
 * Context: RTNL.
 */
void iqcn_config_resolve(struct iqcn_params *p, const struct net_device *dev,
			 u64 link_bps)
{
	iqcn_params_resolve(p, link_bps, dev->mtu + dev->hard_header_len,
			    dev->type == ARPHRD_ETHER, iqcn_time_min_ns(dev));
}

static int iqcn_take(struct iqcn_config *c, struct nlattr **tb, bool port,
		     u32 time_min_ns, struct netlink_ext_ack *extack)
{
	const struct iqcn_range *r;
	struct nlattr *attr;
	u32 v, lo;

	for (r = iqcn_ranges; r < iqcn_ranges + ARRAY_SIZE(iqcn_ranges); r++) {
		attr = tb[r->attr];
		if (!attr)
			continue;
		v = nla_get_u32(attr);
		if (!port && iqcn_range_of_port(r)) {
			NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
						"%s is for Ethernet devices",
						r->name);
			return -EOPNOTSUPP;
		}
		lo = r->timer ? time_min_ns : r->lo;
		if (v < lo || v > r->hi) {
			NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
						"%s is %u, must be %u to %u%s",
						r->name, v, lo, r->hi, r->unit);
			return -ERANGE;
		}
		*(u32 *)((void *)c + r->offset) = v;
	}
	return 0;
}

static int iqcn_take_others(struct iqcn_config *c, struct nlattr **tb,
			    struct netlink_ext_ack *extack)
{
	struct nlattr *attr = tb[TCA_IQCN_BANDWIDTH_BPS];

	if (attr) {
		c->p.bandwidth_bps = nla_get_u64(attr);
		if (c->p.bandwidth_bps > IQCN_BANDWIDTH_MAX_BPS) {
			NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
						"bandwidth is %llu, must be at most %llu bit/s",
						c->p.bandwidth_bps,
						IQCN_BANDWIDTH_MAX_BPS);
			return -ERANGE;
		}
	}
	attr = tb[TCA_IQCN_DELAY_NS];
	if (attr) {
		c->p.delay_ns = nla_get_u32(attr);
		if (c->p.delay_ns > IQCN_TIME_MAX_NS &&
		    c->p.delay_ns != IQCN_DELAY_AUTO) {
			NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
						"delay is %u, must be auto or at most %u ns",
						c->p.delay_ns,
						IQCN_TIME_MAX_NS);
			return -ERANGE;
		}
	}
	return 0;
}

static int iqcn_take_profile(struct iqcn_config *c, struct nlattr *attr,
			     struct netlink_ext_ack *extack)
{
	struct iqcn_profile *p = &c->p.profile;
	u32 wrong;

	if (!attr)
		return 0;
	/* no longer than there is room, by the policy */
	if (nla_len(attr) % sizeof(p->point[0])) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"profile is %d bytes, must be points of %zu",
					nla_len(attr), sizeof(p->point[0]));
		return -EINVAL;
	}
	p->n = nla_len(attr) / sizeof(p->point[0]);
	nla_memcpy(p->point, attr, sizeof(p->point));
	wrong = iqcn_profile_wrong(p);
	if (wrong) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"profile: point %u at %u bytes does not rise from the one at %u",
					wrong + 1, p->point[wrong].bytes,
					p->point[wrong - 1].bytes);
		return -EINVAL;
	}
	return 0;
}

/* Say which parameter breaks an invariant, beside which other */
static int iqcn_say_wrong(const struct iqcn_params *p,
			  enum iqcn_params_wrong wrong, struct nlattr **tb,
			  struct netlink_ext_ack *extack)
{
	switch (wrong) {
	case IQCN_PARAMS_OK:
		return 0;
	case IQCN_PARAMS_KMIN:
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[TCA_IQCN_KMIN_BYTES],
					"kmin %u is above kmax %u",
					p->mark.kmin_bytes, p->mark.kmax_bytes);
		break;
	case IQCN_PARAMS_QREF:
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[TCA_IQCN_QREF_BYTES],
					"qref %u is above limit %u",
					p->pi.qref_bytes, p->limit_bytes);
		break;
	case IQCN_PARAMS_EXIT:
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[TCA_IQCN_EXIT_PCT],
					"exit %u%% is not below enter %u%%",
					p->exit_pct, p->enter_pct);
		break;
	case IQCN_PARAMS_RUN_EXIT:
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[TCA_IQCN_RUN_EXIT],
					"run-exit %u is not below run %u",
					p->run_exit, p->run_enter);
		break;
	case IQCN_PARAMS_SPAN_EXIT:
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[TCA_IQCN_SPAN_EXIT],
					"span-exit %u is below span-enter %u",
					p->span_exit, p->span_enter);
		break;
	case IQCN_PARAMS_PERIOD:
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[TCA_IQCN_PERIOD_NS],
					"period %u ns is above t1 %u ns",
					p->period_ns, p->t1_ns);
		break;
	case IQCN_PARAMS_ZERO:
	case IQCN_PARAMS_KMAX:
		NL_SET_ERR_MSG(extack,
			       "defaults do not fit the device's MTU and speed: set limit, kmin and kmax");
		break;
	}
	return -EINVAL;
}

/* Resolve all parameters and check them against each other */
static int iqcn_check(const struct iqcn_config *c, struct nlattr **tb,
		      struct netlink_ext_ack *extack)
{
	const struct iqcn_params *p = &c->p;
	int err;

	err = iqcn_say_wrong(p, iqcn_params_check(p), tb, extack);
	if (err)
		return err;
	/* no cgroup is charged for flows */
	if (tb[TCA_IQCN_FLOWS] && p->flows > IQCN_DEFAULT_FLOWS &&
	    !capable(CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_IQCN_FLOWS],
				    "flows above 65536 are for the machine's administrator");
		return -EPERM;
	}
	if (c->port.snoop == IQCN_SNOOP_NETNS && IS_ENABLED(CONFIG_BRIDGE) &&
	    !IS_ENABLED(CONFIG_NETFILTER_FAMILY_BRIDGE)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_IQCN_SNOOP],
				    "snoop netns: this kernel's bridge has no netfilter hooks");
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * iqcn_config_parse() - a change, checked
 * @c: what is in force; becomes what is asked for
 * @q: queue
 * @dev: its device
 * @opt: TCA_OPTIONS, or NULL
 * @extack: for errors
 *
 * Context: RTNL.
 * Return: 0 or a negative error, @c is of no use then.
 */
int iqcn_config_parse(struct iqcn_config *c, const struct iqcn_queue *q,
		      const struct net_device *dev, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_IQCN_MAX + 1] = {};
	int err, i;

	BUILD_BUG_ON(TCA_IQCN_MAX >= BITS_PER_TYPE(c->p.user_set));

	if (opt) {
		err = nla_parse_nested(tb, TCA_IQCN_MAX, opt, iqcn_policy,
				       extack);
		if (err)
			return err;
	}
	err = iqcn_take(c, tb, q->port, iqcn_time_min_ns(dev), extack) ?:
	      iqcn_take_others(c, tb, extack) ?:
	      iqcn_take_profile(c, tb[TCA_IQCN_PROFILE], extack);
	if (err)
		return err;
	for (i = 0; i <= TCA_IQCN_MAX; i++)
		if (tb[i])
			c->p.user_set |= BIT_ULL(i);
	c->port.cnp_rate_user |= !!tb[TCA_IQCN_CNP_RATE_PPS];
	iqcn_config_resolve(&c->p, dev, q->link_bps);
	return iqcn_check(c, tb, extack);
}

/**
 * iqcn_config_dump() - the parameters in force
 * @skb: message, inside TCA_OPTIONS
 * @q: queue
 *
 * Context: RTNL.
 * Return: 0 or -EMSGSIZE.
 */
int iqcn_config_dump(struct sk_buff *skb, const struct iqcn_queue *q)
{
	const struct iqcn_range *r;
	struct iqcn_config c;

	iqcn_config_init(&c, q->port);
	c.p = q->p;
	for (r = iqcn_ranges; r < iqcn_ranges + ARRAY_SIZE(iqcn_ranges); r++) {
		if (!q->port && iqcn_range_of_port(r))
			continue;
		if (nla_put_u32(skb, r->attr, *(u32 *)((void *)&c + r->offset)))
			return -EMSGSIZE;
	}
	if (nla_put_u32(skb, TCA_IQCN_DELAY_NS, c.p.delay_ns) ||
	    nla_put(skb, TCA_IQCN_PROFILE,
		    c.p.profile.n * sizeof(c.p.profile.point[0]),
		    c.p.profile.point) ||
	    nla_put_u64_64bit(skb, TCA_IQCN_BANDWIDTH_BPS, c.p.bandwidth_bps,
			      TCA_IQCN_PAD))
		return -EMSGSIZE;
	return 0;
}
