// SPDX-License-Identifier: GPL-2.0
/*
 * The rate at which a queue can send: the speed of its device, or the rate of
 * a tbf or htb above it.
 *
 * The defaults follow this rate.  With the defaults of a faster link the
 * controller overreacts, and the shaped link idles.
 *
 * Qdiscs have no callback that returns their rate, so the shaper's
 * configuration is dumped, as for "tc qdisc show".  Shapers do not announce
 * changes either, so the rate is read when iqcn is added or changed, and when
 * the device's speed or MTU may have changed.
 */
#include <linux/ethtool.h>
#include <linux/hashtable.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "config_defaults.h"
#include "link.h"

/* Maximum number of qdiscs above a queue, and of levels of htb classes, to
 * search
 */
#define IQCN_ANCESTORS	8

/**
 * iqcn_link_speed_bps() - speed of a device
 * @dev: device
 *
 * A stacked device takes the locks of its lower devices, so the caller must not
 * hold any of them.
 *
 * Context: RTNL.
 * Return: bit/s, 0 if it is not known.
 */
u64 iqcn_link_speed_bps(struct net_device *dev)
{
	struct ethtool_link_ksettings ks;

	if (netif_get_link_ksettings(dev, &ks) ||
	    ks.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return (u64)ks.base.speed * 1000000;
}

/* Find a qdisc by its handle; NULL: none; RTNL */
static struct Qdisc *iqcn_qdisc_find(struct net_device *dev, u32 handle)
{
	struct Qdisc *sch = rtnl_dereference(dev->qdisc);

	if (!(sch->flags & TCQ_F_BUILTIN) && sch->handle == handle)
		return sch;
	/* the hash table contains all qdiscs but the root */
	hash_for_each_possible(dev->qdisc_hash, sch, hash, handle)
		if (sch->handle == handle)
			return sch;
	return NULL;
}

/* Get the rate from the attributes of a tbf, in bytes/s */
static u64 iqcn_tbf_rate(struct nlattr *opt)
{
	struct nlattr *tb[TCA_TBF_MAX + 1];
	struct tc_tbf_qopt qopt;

	if (nla_parse_nested_deprecated(tb, TCA_TBF_MAX, opt, NULL, NULL) ||
	    !tb[TCA_TBF_PARMS])
		return 0;
	if (tb[TCA_TBF_RATE64])
		return nla_get_u64(tb[TCA_TBF_RATE64]);
	nla_memcpy(&qopt, tb[TCA_TBF_PARMS], sizeof(qopt));
	return qopt.rate.rate;
}

/* Get rate and ceil from the attributes of an htb class, in bytes/s */
static int iqcn_htb_rates(struct nlattr *opt, u64 *rate, u64 *ceil)
{
	struct nlattr *tb[TCA_HTB_MAX + 1];
	struct tc_htb_opt hopt;

	if (nla_parse_nested_deprecated(tb, TCA_HTB_MAX, opt, NULL, NULL) ||
	    !tb[TCA_HTB_PARMS])
		return -EINVAL;
	nla_memcpy(&hopt, tb[TCA_HTB_PARMS], sizeof(hopt));
	*rate = tb[TCA_HTB_RATE64] ? nla_get_u64(tb[TCA_HTB_RATE64]) :
				     hopt.rate.rate;
	*ceil = tb[TCA_HTB_CEIL64] ? nla_get_u64(tb[TCA_HTB_CEIL64]) :
				     hopt.ceil.rate;
	return 0;
}

static struct nlattr *iqcn_options(const struct sk_buff *skb)
{
	return nla_find((void *)skb->data, skb->len, TCA_OPTIONS);
}

/* The rate at which a tbf lets packets leave, in bytes/s */
static u64 iqcn_tbf_get(struct Qdisc *sch, struct sk_buff *skb)
{
	struct nlattr *opt;

	if (sch->ops->dump(sch, skb) < 0)
		return 0;
	opt = iqcn_options(skb);
	return opt ? iqcn_tbf_rate(opt) : 0;
}

/* The highest rate at which an htb lets packets of a class leave, in bytes/s:
 * the least ceil of the class and of those that it borrows from, but not less
 * than its own rate, which it need not borrow
 */
static u64 iqcn_htb_get(struct Qdisc *sch, u32 classid, struct sk_buff *skb)
{
	const struct Qdisc_class_ops *ops = sch->ops->cl_ops;
	u64 rate, ceil, own = 0, least = U64_MAX;
	struct nlattr *opt;
	unsigned long class;
	struct tcmsg tcm = {};
	int i;

	for (i = 0; i < IQCN_ANCESTORS && classid != TC_H_ROOT; i++) {
		class = ops->find(sch, classid);
		skb_trim(skb, 0);
		if (!class || ops->dump(sch, class, skb, &tcm) < 0)
			break;
		opt = iqcn_options(skb);
		if (!opt || iqcn_htb_rates(opt, &rate, &ceil))
			break;
		if (!i)
			own = rate;
		least = min(least, ceil);
		classid = tcm.tcm_parent;
	}
	return i ? max(least, own) : 0;
}

/* Get the rate at which a qdisc lets its class @classid send, in bit/s; 0: the
 * qdisc does not shape
 */
static int iqcn_shaper_bps(struct Qdisc *sch, u32 classid, u64 *bps)
{
	bool tbf = !strcmp(sch->ops->id, "tbf");
	struct sk_buff *skb;
	u64 rate;

	*bps = 0;
	if (!tbf && strcmp(sch->ops->id, "htb"))
		return 0;
	skb = alloc_skb(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	rate = tbf ? iqcn_tbf_get(sch, skb) : iqcn_htb_get(sch, classid, skb);
	kfree_skb(skb);
	*bps = min(rate, IQCN_BANDWIDTH_MAX_BPS / 8) * 8;
	return 0;
}

/**
 * iqcn_link_get() - find the rate of a qdisc, and the shaper that sets it
 * @sch: qdisc
 * @speed_bps: speed of its device in bit/s, 0: unknown
 * @link: result: the rate, and the shaper if one sets it
 *
 * The slowest of several shapers above the qdisc counts.  Shapers slower than
 * the lowest bandwidth that a user may set are ignored.
 *
 * Context: RTNL, sleeps.
 * Return: 0 or -ENOMEM.
 */
int iqcn_link_get(struct Qdisc *sch, u64 speed_bps, struct iqcn_link *link)
{
	u32 classid = sch->parent;
	u64 bps;
	int i, err;

	link->speed_bps = speed_bps;
	link->bps = speed_bps;
	link->shaper = 0;
	for (i = 0; i < IQCN_ANCESTORS && classid != TC_H_ROOT; i++) {
		sch = iqcn_qdisc_find(qdisc_dev(sch), TC_H_MAJ(classid));
		if (!sch)
			break;
		err = iqcn_shaper_bps(sch, classid, &bps);
		if (err)
			return err;
		if (bps >= IQCN_BANDWIDTH_MIN_BPS &&
		    (!link->bps || bps < link->bps)) {
			link->bps = bps;
			link->shaper = sch->handle;
		}
		classid = sch->parent;
	}
	return 0;
}
