// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters: parse, defaults, invariants, dump.
 *
 * A change is checked completely before any of it is applied.  Errors name the
 * parameter, its value, and the bound or the parameter that it conflicts with.
 */
#include <linux/if_arp.h>
#include <linux/netlink.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>

#include "config.h"
#include "config_table.h"
#include "iqcn.h"

/* A limit below this many packets causes a warning */
#define IQCN_LIMIT_PACKETS	4

#define for_each_iqcn_param(r)						\
	for (r = iqcn_param_table;					\
	     r < iqcn_param_table + ARRAY_SIZE(iqcn_param_table); r++)

/* Does the parameter belong to the device or its namespace, not the queue? */
static bool iqcn_param_shared(const struct iqcn_param *r)
{
	return r->offset >= offsetofend(struct iqcn_config, p);
}

static bool iqcn_param_is_u32(const struct iqcn_param *r)
{
	return r->type != IQCN_PARAM_BPS && r->type != IQCN_PARAM_PROFILE &&
	       r->type != IQCN_PARAM_FILTER;
}

/* The policy checks only lengths.  Values are checked below, where errors can
 * name the parameter.
 */
static const struct nla_policy iqcn_policy[TCA_IQCN_MAX + 1] = {
	[TCA_IQCN_LIMIT_BYTES ... TCA_IQCN_EXIT_PCT]	= { .type = NLA_U32 },
	[TCA_IQCN_BANDWIDTH_BPS]			= { .type = NLA_U64 },
	[TCA_IQCN_PAIR ... TCA_IQCN_MEASURE]		= { .type = NLA_U32 },
	[TCA_IQCN_PROFILE]				= { .type = NLA_BINARY,
		.len = IQCN_POINTS_MAX * sizeof(struct tc_iqcn_point) },
	[TCA_IQCN_QREF_BYTES ... TCA_IQCN_FIBER_M]	= { .type = NLA_U32 },
	[TCA_IQCN_FILTER] =
		NLA_POLICY_EXACT_LEN(sizeof(struct tc_iqcn_cnp_filter)),
	[TCA_IQCN_FILTER_BY ... TCA_IQCN_MAX]		= { .type = NLA_U32 },
};

/**
 * iqcn_config_init() - set defaults, and read the port's parameters
 * @c: parameters to initialize
 * @port: the queue's port, or NULL
 *
 * Context: RTNL.
 */
void iqcn_config_init(struct iqcn_config *c, const struct iqcn_port *port)
{
	const struct iqcn_param *r;

	memset(c, 0, sizeof(*c));
	for_each_iqcn_param(r)
		if (iqcn_param_is_u32(r) && !iqcn_param_shared(r))
			*(u32 *)((void *)c + r->offset) = r->def;
	if (port)
		iqcn_port_get(port, &c->port);
}

/* The shortest timer interval that may be set.  It is longer in a user
 * namespace, because the work of a timer is not charged to the user's cgroup.
 */
static u32 iqcn_time_min_ns(const struct net_device *dev)
{
	return dev_net(dev)->user_ns == &init_user_ns ? IQCN_TIME_MIN_NS :
							IQCN_TIME_USER_MIN_NS;
}

/**
 * iqcn_config_resolve() - set the parameters that follow the link
 * @p: parameters
 * @dev: device
 * @link_bps: rate of the link or of a shaper, 0: unknown; a bandwidth that the
 *	user set replaces it
 *
 * Context: RTNL.
 */
void iqcn_config_resolve(struct iqcn_params *p, const struct net_device *dev,
			 u64 link_bps)
{
	iqcn_params_resolve(p, link_bps, dev->mtu + dev->hard_header_len,
			    dev->type == ARPHRD_ETHER, iqcn_time_min_ns(dev));
}

static int iqcn_out_of_range(const struct iqcn_param *r,
			     const struct nlattr *attr, u32 v, u32 lo,
			     struct netlink_ext_ack *extack)
{
	if (r->special && r->lo)
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"%s is %u, must be %s or %u to %u%s",
					r->name, v, r->special, r->lo, r->hi,
					r->unit);
	else if (r->special)
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"%s is %u, must be %s or at most %u%s",
					r->name, v, r->special, r->hi, r->unit);
	else
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"%s is %u, must be %u to %u%s",
					r->name, v, lo, r->hi, r->unit);
	return -ERANGE;
}

/* Parse the parameters that are a u32 */
static int iqcn_parse_u32(struct iqcn_config *c, struct nlattr **tb, bool port,
			  u32 time_min_ns, struct netlink_ext_ack *extack)
{
	const struct iqcn_param *r;
	struct nlattr *attr;
	u32 v, lo;

	for_each_iqcn_param(r) {
		attr = tb[r->attr];
		if (!attr || !iqcn_param_is_u32(r))
			continue;
		v = nla_get_u32(attr);
		if (!port && iqcn_param_shared(r)) {
			NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
						"%s is for Ethernet devices",
						r->name);
			return -EOPNOTSUPP;
		}
		lo = r->type == IQCN_PARAM_TIMER_NS ? time_min_ns : r->lo;
		if ((v < lo || v > r->hi) &&
		    !(r->special && v == r->special_value))
			return iqcn_out_of_range(r, attr, v, lo, extack);
		*(u32 *)((void *)c + r->offset) = v;
	}
	return 0;
}

static int iqcn_parse_bandwidth(struct iqcn_config *c, struct nlattr *attr,
				struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	c->p.bandwidth_bps = nla_get_u64(attr);
	if (!c->p.bandwidth_bps ||
	    (c->p.bandwidth_bps >= IQCN_BANDWIDTH_MIN_BPS &&
	     c->p.bandwidth_bps <= IQCN_BANDWIDTH_MAX_BPS))
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
				"bandwidth %llu must be 0 or %llu to %llu bit/s",
				c->p.bandwidth_bps, IQCN_BANDWIDTH_MIN_BPS,
				IQCN_BANDWIDTH_MAX_BPS);
	return -ERANGE;
}

static int iqcn_parse_profile(struct iqcn_config *c, struct nlattr *attr,
			      struct netlink_ext_ack *extack)
{
	struct iqcn_profile *p = &c->p.profile;
	u32 wrong;

	if (!attr)
		return 0;
	/* the policy bounds the length */
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

static int iqcn_parse_filter(struct iqcn_config *c, const struct nlattr *attr,
			     bool port, struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	if (!port) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "filter is for Ethernet devices");
		return -EOPNOTSUPP;
	}
	nla_memcpy(&c->port.filter, attr, sizeof(c->port.filter));
	if (c->port.filter.mode >= __IQCN_CNP_FILTER_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"filter mode %u is out of range (0 to %u)",
					c->port.filter.mode,
					__IQCN_CNP_FILTER_MAX - 1);
		return -ERANGE;
	}
	if (c->port.filter.mode != IQCN_CNP_FILTER_FIXED &&
	    (c->port.filter.n || c->port.filter.interval_ns)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "filter: only N/TIME takes a number and an interval");
		return -EINVAL;
	}
	return 0;
}

/* Name the parameter that violates an invariant, and the one it conflicts with
 */
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
	case IQCN_PARAMS_BASE_RTT:
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_IQCN_NOTIFY],
				    "notify grant needs base-rtt, the round-trip time without congestion");
		break;
	case IQCN_PARAMS_ZERO:
	case IQCN_PARAMS_KMAX:
		NL_SET_ERR_MSG(extack,
			       "defaults do not fit the device's MTU and speed: set limit, kmin and kmax");
		break;
	}
	return -EINVAL;
}

/* Check the parameters of a long-haul link against each other */
static int iqcn_check_filter(const struct iqcn_port_config *c,
			     struct nlattr **tb, struct netlink_ext_ack *extack)
{
	switch (c->filter.mode) {
	case IQCN_CNP_FILTER_OFF:
		return 0;
	case IQCN_CNP_FILTER_FIXED:
		return iqcn_filter_check(c->filter.n, c->filter.interval_ns,
					 c->fiber_m, tb[TCA_IQCN_FILTER],
					 extack);
	default:
		if (c->fiber_m)
			return 0;
		NL_SET_ERR_MSG_ATTR_FMT(extack, tb[TCA_IQCN_FILTER],
					"filter %s needs fiber, the length of the long-haul link",
					c->filter.mode == IQCN_CNP_FILTER_AUTO ?
					"auto" : "told");
		return -EINVAL;
	}
}

static int iqcn_check_supplement(const struct iqcn_params *p, u32 cnp_rate_pps,
				 const struct nlattr *attr,
				 struct netlink_ext_ack *extack)
{
	if (!(p->notify & IQCN_NOTIFY_SUPPLEMENT))
		return 0;
	return iqcn_supplement_check(p->supplement_pps, p->supplement_max_pps,
				     cnp_rate_pps, attr, extack);
}

/* Check that the budget of the port allows for the supplements of each single
 * queue, though not for their sum.  A change of unrelated parameters is not
 * checked, so that it succeeds even if the link has become slower.
 */
static int iqcn_check_budget(const struct iqcn_config *c, struct nlattr **tb,
			     const struct iqcn_queue *q, u64 link_bps,
			     struct netlink_ext_ack *extack)
{
	u32 cnp_rate_pps = c->port.cnp_rate_pps;
	const struct iqcn_queue *other;
	int err;

	if (!q->port ||
	    (!tb[TCA_IQCN_NOTIFY] && !tb[TCA_IQCN_SUPPLEMENT_PPS] &&
	     !tb[TCA_IQCN_SUPPLEMENT_MAX_PPS] && !tb[TCA_IQCN_CNP_RATE_PPS]))
		return 0;
	if (!c->port.cnp_rate_user)
		cnp_rate_pps = iqcn_default_cnp_rate(c->p.bandwidth_bps ?:
						     link_bps);
	err = iqcn_check_supplement(&c->p, cnp_rate_pps,
				    tb[TCA_IQCN_SUPPLEMENT_PPS], extack);
	if (err || !tb[TCA_IQCN_CNP_RATE_PPS])
		return err;
	list_for_each_entry(other, &q->port->queues, list) {
		if (other == q)
			continue;
		err = iqcn_check_supplement(&other->p, cnp_rate_pps,
					    tb[TCA_IQCN_CNP_RATE_PPS], extack);
		if (err)
			return err;
	}
	return 0;
}

/* Check the resolved parameters against each other, the device, the user's
 * capabilities and the kernel's configuration
 */
static int iqcn_check(const struct iqcn_config *c, struct nlattr **tb,
		      const struct iqcn_queue *q, u64 link_bps,
		      struct netlink_ext_ack *extack)
{
	const struct iqcn_params *p = &c->p;
	int err;

	err = iqcn_say_wrong(p, iqcn_params_check(p), tb, extack);
	if (err)
		return err;
	if (p->pfc_source != IQCN_PFC_OFF && !q->port) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_IQCN_PFC],
				    "pfc is for Ethernet devices: leave it out on this one");
		return -EINVAL;
	}
	if ((p->notify & IQCN_NOTIFY_GRANT) && !p->bandwidth_bps && !link_bps) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_IQCN_NOTIFY],
				    "notify grant needs bandwidth, because the speed of the device is unknown");
		return -EINVAL;
	}
	err = iqcn_check_filter(&c->port, tb, extack) ?:
	      iqcn_check_budget(c, tb, q, link_bps, extack);
	if (err)
		return err;
	/* the memory of flows is not charged to a cgroup */
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
 * iqcn_config_parse() - parse and check a change
 * @c: the parameters in force, or the defaults of a new queue; on success, the
 *	requested parameters
 * @q: the queue
 * @dev: the queue's device
 * @link_bps: rate of the link or of a shaper, 0: unknown
 * @opt: TCA_OPTIONS, or NULL
 * @extack: for errors
 *
 * Context: RTNL.
 * Return: 0, or a negative error, which leaves @c in an undefined state.
 */
int iqcn_config_parse(struct iqcn_config *c, const struct iqcn_queue *q,
		      const struct net_device *dev, u64 link_bps,
		      struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_IQCN_MAX + 1] = {};
	int err, i;

	BUILD_BUG_ON(TCA_IQCN_MAX >= BITS_PER_TYPE(c->p.user_set));
	/* one row per attribute but TCA_IQCN_UNSPEC and TCA_IQCN_PAD */
	BUILD_BUG_ON(ARRAY_SIZE(iqcn_param_table) != TCA_IQCN_MAX - TCA_IQCN_PAD);

	if (opt) {
		err = nla_parse_nested(tb, TCA_IQCN_MAX, opt, iqcn_policy,
				       extack);
		if (err)
			return err;
	}
	err = iqcn_parse_u32(c, tb, q->port, iqcn_time_min_ns(dev), extack) ?:
	      iqcn_parse_bandwidth(c, tb[TCA_IQCN_BANDWIDTH_BPS], extack) ?:
	      iqcn_parse_profile(c, tb[TCA_IQCN_PROFILE], extack) ?:
	      iqcn_parse_filter(c, tb[TCA_IQCN_FILTER], q->port, extack);
	if (err)
		return err;
	for (i = 0; i <= TCA_IQCN_MAX; i++)
		if (tb[i])
			c->p.user_set |= BIT_ULL(i);
	c->port.cnp_rate_user |= !!tb[TCA_IQCN_CNP_RATE_PPS];
	iqcn_config_resolve(&c->p, dev, link_bps);
	return iqcn_check(c, tb, q, link_bps, extack);
}

/**
 * iqcn_config_warn() - warn of parameters that are valid, but probably a
 * mistake
 * @p: the parameters in force
 * @dev: the queue's device
 * @link: rate of the queue, and the shaper that sets it
 * @extack: for the warning
 *
 * An extack has room for one warning, so the most serious one is reported.
 *
 * Context: RTNL.
 */
void iqcn_config_warn(const struct iqcn_params *p, const struct net_device *dev,
		      const struct iqcn_link *link,
		      struct netlink_ext_ack *extack)
{
	u32 pkt_bytes = dev->mtu + dev->hard_header_len;

	if (dev->type != ARPHRD_ETHER)
		NL_SET_ERR_MSG_ATTR_FMT(extack, NULL,
					"%s is not an Ethernet device: iqcn marks packets but sends no CNPs",
					dev->name);
	else if (p->limit_bytes / IQCN_LIMIT_PACKETS < pkt_bytes)
		NL_SET_ERR_MSG_ATTR_FMT(extack, NULL,
					"limit %u is less than %u packets of %u bytes",
					p->limit_bytes, IQCN_LIMIT_PACKETS,
					pkt_bytes);
	else if (p->mark.kmin_bytes >= p->limit_bytes)
		NL_SET_ERR_MSG_ATTR_FMT(extack, NULL,
					"kmin %u is not below limit %u: no packet is marked by depth",
					p->mark.kmin_bytes, p->limit_bytes);
	else if (p->mark.kmax_bytes > p->limit_bytes)
		NL_SET_ERR_MSG_ATTR_FMT(extack, NULL,
					"kmax %u is above limit %u: few packets are marked",
					p->mark.kmax_bytes, p->limit_bytes);
	else if (p->pfc_source == IQCN_PFC_TXQ && link->shaper)
		NL_SET_ERR_MSG_ATTR_FMT(extack, NULL,
					"pfc txq misses most pauses below qdisc %x:, a shaper: use pfc frames",
					TC_H_MAJ(link->shaper) >> 16);
	else if (p->bandwidth_bps)
		return;
	else if (link->shaper)
		NL_SET_ERR_MSG_ATTR_FMT(extack, NULL,
					"bandwidth is that of qdisc %x:, %llu Kbit/s: change iqcn if that changes",
					TC_H_MAJ(link->shaper) >> 16,
					div_u64(link->bps, 1000));
	else if (!link->bps && netif_carrier_ok(dev))
		NL_SET_ERR_MSG_ATTR_FMT(extack, NULL,
					"the speed of %s is unknown: set bandwidth, 10 Gbit/s are assumed",
					dev->name);
}

/**
 * iqcn_config_dump() - dump the parameters in force
 * @skb: message, inside TCA_OPTIONS
 * @q: queue
 *
 * Context: RTNL.
 * Return: 0 or -EMSGSIZE.
 */
int iqcn_config_dump(struct sk_buff *skb, const struct iqcn_queue *q)
{
	const struct iqcn_param *r;
	struct iqcn_config c;

	iqcn_config_init(&c, q->port);
	c.p = q->p;
	for_each_iqcn_param(r) {
		if (!iqcn_param_is_u32(r) ||
		    (!q->port && iqcn_param_shared(r)))
			continue;
		if (nla_put_u32(skb, r->attr, *(u32 *)((void *)&c + r->offset)))
			return -EMSGSIZE;
	}
	if (nla_put(skb, TCA_IQCN_PROFILE,
		    c.p.profile.n * sizeof(c.p.profile.point[0]),
		    c.p.profile.point) ||
	    nla_put_u64_64bit(skb, TCA_IQCN_BANDWIDTH_BPS, c.p.bandwidth_bps,
			      TCA_IQCN_PAD))
		return -EMSGSIZE;
	if (q->port && nla_put(skb, TCA_IQCN_FILTER, sizeof(c.port.filter),
			       &c.port.filter))
		return -EMSGSIZE;
	return 0;
}
