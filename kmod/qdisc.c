// SPDX-License-Identifier: GPL-2.0
/*
 * sch_iqcn - intelligent congestion point for DCQCN
 *
 * A FIFO that marks ECN by its instantaneous depth (mark.h) and makes up for
 * the CNPs that the receivers of RoCEv2 flows fail to send in time (queue.c).
 * Follows Huawei's US 12395431 B2 and iQCN.
 *
 * This file is all that knows of struct Qdisc: it looks at ECN bits, marks,
 * and tells queue.c when a RoCEv2 packet has left with CE.  A packet that is
 * not CE and finds a queue no deeper than Kmin costs that look and nothing
 * else: no clock, no parsing, no table.
 *
 * Left out: classes and priorities (prio, ets, mqprio above it), shaping (tbf,
 * htb above it), dropping before the limit but for what cannot be marked, if
 * told so.
 */
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>

#include "iqcn.h"
#include "params.h"
#include "skb.h"
#include "trace.h"

/* Bytes beyond the limit that are open to CNPs: they are what ends the
 * congestion, and the last to be dropped.
 */
#define IQCN_CNP_RESERVE_BYTES	16384

#define IQCN_T1_MIN_NS		10000
#define IQCN_T1_MAX_NS		((u32)NSEC_PER_SEC)
#define IQCN_WINDOW_MIN_NS	10000
#define IQCN_WINDOW_MAX_NS	((u32)NSEC_PER_SEC)
#define IQCN_FLOWS_MAX		1048576
#define IQCN_BANDWIDTH_MAX_BPS	1000000000000000ULL
#define IQCN_AGE_MAX_MS		86400000
#define IQCN_CNP_RATE_MAX_PPS	1000000000
#define IQCN_CNP_BURST_MAX	1000000

/* Of a packet that waits.  @flow holds a reference. */
struct iqcn_skb_cb {
	struct iqcn_flow *flow;
	u32 psn;
	u16 segs;
	bool roce_ce;
	bool echo;
};

static struct iqcn_skb_cb *iqcn_skb_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct iqcn_skb_cb));
	return (struct iqcn_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* Where the IP header is and what the ECN bits say */
struct iqcn_l3 {
	u32 off;
	__be16 proto;
	u8 ecn;
};

/* The Ethernet header is the one thing that is right whoever made the packet:
 * tags may be beside it or in it, and where the network header points depends
 * on that.
 */
static struct iqcn_l3 iqcn_look(const struct sk_buff *skb)
{
	struct iqcn_l3 l3 = { .ecn = INET_ECN_NOT_ECT };
	const u8 *tos;
	int tags = 0;
	u8 buf[2];

	if (likely(skb->dev->type == ARPHRD_ETHER)) {
		if (unlikely(skb_headlen(skb) < ETH_HLEN))
			return l3;
		l3.off = ETH_HLEN;
		l3.proto = ((const struct ethhdr *)skb->data)->h_proto;
		while (unlikely(eth_type_vlan(l3.proto))) {
			const struct vlan_hdr *vh;
			struct vlan_hdr tag;

			vh = skb_header_pointer(skb, l3.off, sizeof(tag), &tag);
			if (!vh || tags++ == IQCN_VLANS)
				return l3;
			l3.proto = vh->h_vlan_encapsulated_proto;
			l3.off += VLAN_HLEN;
		}
	} else if (skb_network_offset(skb) >= 0) {
		l3.off = skb_network_offset(skb);
		l3.proto = skb->protocol;
	}

	/* a packet socket's large frame has no more than the Ethernet header
	 * in one piece
	 */
	tos = skb_header_pointer(skb, l3.off, sizeof(buf), buf);
	if (unlikely(!tos))
		return l3;
	if (l3.proto == htons(ETH_P_IP))
		l3.ecn = tos[1] & INET_ECN_MASK;
	else if (l3.proto == htons(ETH_P_IPV6))
		l3.ecn = (tos[1] >> 4) & INET_ECN_MASK;
	return l3;
}

/* Return: false if the header cannot be written */
static bool iqcn_set_ce(struct sk_buff *skb, const struct iqcn_l3 *l3)
{
	bool v6 = l3->proto == htons(ETH_P_IPV6);
	u32 len = l3->off + (v6 ? sizeof(struct ipv6hdr) :
				  sizeof(struct iphdr));

	if (skb_shared(skb) || skb_ensure_writable(skb, len))
		return false;
	if (v6)
		return IP6_ECN_set_ce(skb, (void *)(skb->data + l3->off));
	return IP_ECN_set_ce((void *)(skb->data + l3->off));
}

static enum iqcn_parsed iqcn_packet(const struct sk_buff *skb,
				    const struct iqcn_l3 *l3,
				    struct iqcn_pkt *pkt)
{
	u8 buf[IQCN_PARSE_MAX];
	const u8 *data;
	u32 off = l3->off;
	__be16 proto = l3->proto;

	/* let the parser see the tags */
	if (!proto)
		return IQCN_NOT_ROCE;
	if (skb->dev->type == ARPHRD_ETHER) {
		off = ETH_HLEN;
		proto = ((const struct ethhdr *)skb->data)->h_proto;
	}
	return iqcn_skb_parse(skb, off, proto, buf, &data, pkt);
}

static bool iqcn_is_cnp(enum iqcn_parsed parsed, const struct iqcn_pkt *pkt)
{
	return parsed == IQCN_ROCE && pkt->opcode == IQCN_OP_CNP;
}

/* A CE packet will wait here: whose is it? */
static void iqcn_ce_queued(struct iqcn_queue *q, struct sk_buff *skb,
			   enum iqcn_parsed parsed, const struct iqcn_pkt *pkt)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);

	if (parsed == IQCN_MALFORMED)
		iqcn_inc(q->st.malformed);
	if (parsed != IQCN_ROCE || !iqcn_op_is_data(pkt->opcode) || !q->port)
		return;
	cb->roce_ce = true;
	cb->echo = iqcn_op_is_echoed(pkt->opcode);
	cb->psn = pkt->psn;
	cb->segs = max_t(u16, skb_shinfo(skb)->gso_segs, 1);
	cb->flow = iqcn_flow_get(q, pkt);
}

static int iqcn_tail(struct sk_buff *skb, struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	int ret = qdisc_enqueue_tail(skb, sch);

	if (sch->qstats.backlog > q->st.depth_peak_bytes)
		WRITE_ONCE(q->st.depth_peak_bytes, sch->qstats.backlog);
	return ret;
}

/* The queue is deep, or the packet is CE */
static noinline int iqcn_enqueue_slow(struct sk_buff *skb, struct Qdisc *sch,
				      const struct iqcn_l3 *l3,
				      struct sk_buff **to_free)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	u32 depth_bytes = sch->qstats.backlog;
	enum iqcn_parsed parsed;
	struct iqcn_pkt pkt;

	if (l3->ecn == INET_ECN_CE) {
		iqcn_inc(q->st.ce_in);
		parsed = iqcn_packet(skb, l3, &pkt);
		iqcn_ce_queued(q, skb, parsed, &pkt);
		return iqcn_tail(skb, sch);
	}

	if (!iqcn_mark_wanted(&q->p.mark, depth_bytes, get_random_u32())) {
		if (q->port && READ_ONCE(q->port->n_unsettled) &&
		    iqcn_packet(skb, l3, &pkt) == IQCN_ROCE)
			iqcn_pair_witness(q->port, &pkt,
					  skb_shinfo(skb)->gso_segs ?: 1);
		return iqcn_tail(skb, sch);
	}

	parsed = iqcn_packet(skb, l3, &pkt);
	if (iqcn_is_cnp(parsed, &pkt))
		return iqcn_tail(skb, sch);

	if (l3->ecn == INET_ECN_NOT_ECT) {
		iqcn_inc(q->st.not_ect);
		if (q->p.nonect == IQCN_NONECT_PASS)
			return iqcn_tail(skb, sch);
		iqcn_inc(q->st.not_ect_drop);
		qdisc_drop(skb, sch, to_free);
		return NET_XMIT_CN;
	}

	if (iqcn_set_ce(skb, l3)) {
		iqcn_inc(q->st.ecn_mark);
		qdisc_qstats_overlimit(sch);
		trace_iqcn_mark(qdisc_dev(sch), sch->parent, depth_bytes,
				qdisc_pkt_len(skb));
		iqcn_ce_queued(q, skb, parsed, &pkt);
	} else {
		iqcn_inc(q->st.unmarkable);
	}
	return iqcn_tail(skb, sch);
}

static bool iqcn_fits(const struct sk_buff *skb, const struct Qdisc *sch,
		      u32 reserve_bytes)
{
	const struct iqcn_queue *q = qdisc_priv((struct Qdisc *)sch);

	/* the backlog is a u32 */
	return (u64)sch->qstats.backlog + qdisc_pkt_len(skb) <=
	       min_t(u64, (u64)q->p.limit_bytes + reserve_bytes, U32_MAX);
}

static noinline int iqcn_enqueue_full(struct sk_buff *skb, struct Qdisc *sch,
				      const struct iqcn_l3 *l3,
				      struct sk_buff **to_free)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct iqcn_pkt pkt;

	if (iqcn_fits(skb, sch, IQCN_CNP_RESERVE_BYTES) &&
	    iqcn_is_cnp(iqcn_packet(skb, l3, &pkt), &pkt))
		return iqcn_tail(skb, sch);
	iqcn_inc(q->st.drop_overlimit);
	return qdisc_drop(skb, sch, to_free);
}

static int iqcn_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	struct iqcn_l3 l3 = iqcn_look(skb);

	cb->flow = NULL;
	cb->roce_ce = false;
	if (unlikely(!iqcn_fits(skb, sch, 0)))
		return iqcn_enqueue_full(skb, sch, &l3, to_free);
	if (likely(l3.ecn != INET_ECN_CE &&
		   sch->qstats.backlog <= q->p.mark.kmin_bytes))
		return qdisc_enqueue_tail(skb, sch);
	return iqcn_enqueue_slow(skb, sch, &l3, to_free);
}

/* What the queue drains at while it is backlogged: its share of the link, or
 * what tbf or htb above it let through.  No average: what happens to the drain
 * rate, a burst for one, happens to the CE rate that it is compared with too.
 */
static void iqcn_measure_drain(struct iqcn_queue *q, u32 bytes)
{
	if (!iqcn_meter_add(&q->drain, q->p.window_ns, ktime_get_ns(), bytes))
		return;
	WRITE_ONCE(q->drain_bps, q->drain.rate_bps);
	q->drain_ns = q->drain.start_ns;
}

static noinline void iqcn_ce_dequeued(struct iqcn_queue *q, struct sk_buff *skb)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);

	iqcn_queue_ce_sent(q, cb->flow, (const struct ethhdr *)skb->data,
			   qdisc_pkt_len(skb), cb->psn, cb->segs, cb->echo);
	if (cb->flow)
		iqcn_flow_put(cb->flow);
}

static struct sk_buff *iqcn_dequeue(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	u32 depth_bytes = sch->qstats.backlog;
	struct sk_buff *skb;

	skb = qdisc_dequeue_head(sch);
	if (unlikely(!skb))
		return NULL;
	if (unlikely(depth_bytes > q->p.mark.kmin_bytes))
		iqcn_measure_drain(q, qdisc_pkt_len(skb));
	else if (unlikely(q->drain.start_ns))
		q->drain.start_ns = 0;
	if (unlikely(iqcn_skb_cb(skb)->roce_ce))
		iqcn_ce_dequeued(q, skb);
	return skb;
}

/* A packet that will not leave */
static struct sk_buff *iqcn_take_back(struct Qdisc *sch)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

	if (skb && iqcn_skb_cb(skb)->flow)
		iqcn_flow_put(iqcn_skb_cb(skb)->flow);
	return skb;
}

static void iqcn_reset(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while ((skb = iqcn_take_back(sch)))
		rtnl_kfree_skbs(skb, skb);
	sch->qstats.backlog = 0;
	iqcn_queue_reset(q);
}

/* Lengths are what matters; values are checked below, so that errors can name
 * the parameter.
 */
static const struct nla_policy iqcn_policy[TCA_IQCN_MAX + 1] = {
	[TCA_IQCN_LIMIT_BYTES]		= { .type = NLA_U32 },
	[TCA_IQCN_KMIN_BYTES]		= { .type = NLA_U32 },
	[TCA_IQCN_KMAX_BYTES]		= { .type = NLA_U32 },
	[TCA_IQCN_PMAX]			= { .type = NLA_U32 },
	[TCA_IQCN_NONECT]		= { .type = NLA_U32 },
	[TCA_IQCN_NOTIFY]		= { .type = NLA_U32 },
	[TCA_IQCN_DETECT]		= { .type = NLA_U32 },
	[TCA_IQCN_T1_NS]		= { .type = NLA_U32 },
	[TCA_IQCN_WINDOW_NS]		= { .type = NLA_U32 },
	[TCA_IQCN_ENTER_PCT]		= { .type = NLA_U32 },
	[TCA_IQCN_EXIT_PCT]		= { .type = NLA_U32 },
	[TCA_IQCN_BANDWIDTH_BPS]	= { .type = NLA_U64 },
	[TCA_IQCN_PAIR]			= { .type = NLA_U32 },
	[TCA_IQCN_FLOWS]		= { .type = NLA_U32 },
	[TCA_IQCN_AGE_MS]		= { .type = NLA_U32 },
	[TCA_IQCN_CNP_DSCP]		= { .type = NLA_U32 },
	[TCA_IQCN_CNP_PCP]		= { .type = NLA_U32 },
	[TCA_IQCN_CNP_TTL]		= { .type = NLA_U32 },
	[TCA_IQCN_CNP_RATE_PPS]		= { .type = NLA_U32 },
	[TCA_IQCN_CNP_BURST]		= { .type = NLA_U32 },
};

/* What a change asks for: the queue's parameters and the port's */
struct iqcn_config {
	struct iqcn_params p;
	u32 cnp_rate_pps;
	u32 cnp_burst;
};

/* Take a u32 within bounds, or return an error that names it */
#define iqcn_take_u32(tb, attr, lo, hi, dst, extack, name)		\
({									\
	int __err = 0;							\
									\
	if ((tb)[attr]) {						\
		u32 __v = nla_get_u32((tb)[attr]);			\
									\
		if (__v < (lo) || __v > (hi)) {				\
			NL_SET_ERR_MSG_ATTR(extack, (tb)[attr], name);	\
			__err = -ERANGE;				\
		} else {						\
			(dst) = __v;					\
		}							\
	}								\
	__err;								\
})

static int iqcn_parse_marking(struct iqcn_params *p, struct nlattr **tb,
			      struct netlink_ext_ack *extack)
{
	return iqcn_take_u32(tb, TCA_IQCN_LIMIT_BYTES, 1, U32_MAX,
			     p->limit_bytes, extack,
			     "limit must be at least 1 byte") ?:
	       iqcn_take_u32(tb, TCA_IQCN_KMIN_BYTES, 0, U32_MAX,
			     p->mark.kmin_bytes, extack, "kmin") ?:
	       iqcn_take_u32(tb, TCA_IQCN_KMAX_BYTES, 0, U32_MAX,
			     p->mark.kmax_bytes, extack, "kmax") ?:
	       iqcn_take_u32(tb, TCA_IQCN_PMAX, 0, U32_MAX,
			     p->mark.pmax, extack, "pmax") ?:
	       iqcn_take_u32(tb, TCA_IQCN_NONECT, 0, __IQCN_NONECT_MAX - 1,
			     p->nonect, extack,
			     "nonect must be pass or drop");
}

static int iqcn_parse_detection(struct iqcn_params *p, struct nlattr **tb,
				struct netlink_ext_ack *extack)
{
	struct nlattr *bandwidth = tb[TCA_IQCN_BANDWIDTH_BPS];

	if (bandwidth) {
		if (nla_get_u64(bandwidth) > IQCN_BANDWIDTH_MAX_BPS) {
			NL_SET_ERR_MSG_ATTR(extack, bandwidth,
					    "bandwidth must be at most 1 Pbit/s");
			return -ERANGE;
		}
		p->bandwidth_bps = nla_get_u64(bandwidth);
	}

	return iqcn_take_u32(tb, TCA_IQCN_DETECT, 1, IQCN_DETECT_ALL,
			     p->detect, extack,
			     "detect must be a set of queue and depth") ?:
	       iqcn_take_u32(tb, TCA_IQCN_WINDOW_NS, IQCN_WINDOW_MIN_NS,
			     IQCN_WINDOW_MAX_NS, p->window_ns, extack,
			     "window must be between 10 us and 1 s") ?:
	       iqcn_take_u32(tb, TCA_IQCN_ENTER_PCT, 1, 1000,
			     p->enter_pct, extack,
			     "enter must be between 1 and 1000 percent") ?:
	       iqcn_take_u32(tb, TCA_IQCN_EXIT_PCT, 0, 999,
			     p->exit_pct, extack,
			     "exit must be between 0 and 999 percent");
}

static int iqcn_parse_flows(struct iqcn_params *p, struct nlattr **tb,
			    struct netlink_ext_ack *extack)
{
	return iqcn_take_u32(tb, TCA_IQCN_PAIR, IQCN_PAIR_SPORT,
			     __IQCN_PAIR_MAX - 1, p->pair, extack,
			     "pair must be cm, psn, cnp or sport") ?:
	       iqcn_take_u32(tb, TCA_IQCN_FLOWS, 1, IQCN_FLOWS_MAX,
			     p->flows, extack,
			     "flows must be between 1 and 1048576") ?:
	       iqcn_take_u32(tb, TCA_IQCN_AGE_MS, 1, IQCN_AGE_MAX_MS,
			     p->age_ms, extack,
			     "age must be between 1 ms and one day");
}

static int iqcn_parse_notify(struct iqcn_config *c, struct nlattr **tb,
			     struct netlink_ext_ack *extack)
{
	struct iqcn_params *p = &c->p;

	return iqcn_take_u32(tb, TCA_IQCN_NOTIFY, 0, IQCN_NOTIFY_ALL,
			     p->notify, extack,
			     "notify must be off or timer") ?:
	       iqcn_take_u32(tb, TCA_IQCN_T1_NS, IQCN_T1_MIN_NS,
			     IQCN_T1_MAX_NS, p->t1_ns, extack,
			     "t1 must be between 10 us and 1 s") ?:
	       iqcn_take_u32(tb, TCA_IQCN_CNP_DSCP, 0, 63,
			     p->cnp_dscp, extack,
			     "cnp-dscp must be between 0 and 63") ?:
	       iqcn_take_u32(tb, TCA_IQCN_CNP_PCP, 0, 7,
			     p->cnp_pcp, extack,
			     "cnp-pcp must be between 0 and 7") ?:
	       iqcn_take_u32(tb, TCA_IQCN_CNP_TTL, 1, 255,
			     p->cnp_ttl, extack,
			     "cnp-ttl must be between 1 and 255") ?:
	       iqcn_take_u32(tb, TCA_IQCN_CNP_RATE_PPS, 1,
			     IQCN_CNP_RATE_MAX_PPS, c->cnp_rate_pps, extack,
			     "cnp-rate must be between 1 and 1000000000 per second") ?:
	       iqcn_take_u32(tb, TCA_IQCN_CNP_BURST, 1, IQCN_CNP_BURST_MAX,
			     c->cnp_burst, extack,
			     "cnp-burst must be between 1 and 1000000");
}

/* Fill in what the user left to us */
static void iqcn_resolve(struct iqcn_params *p, const struct net_device *dev,
			 u64 link_bps)
{
	u32 kmin = iqcn_default_kmin(div_u64(link_bps, 1000000),
				     dev->mtu + dev->hard_header_len);
	bool kmin_given = p->given & BIT(TCA_IQCN_KMIN_BYTES);
	bool kmax_given = p->given & BIT(TCA_IQCN_KMAX_BYTES);
	struct iqcn_mark_params *mark = &p->mark;

	if (!kmin_given)
		mark->kmin_bytes = kmax_given ?
				   min(kmin, mark->kmax_bytes /
					     IQCN_KMAX_PER_KMIN) : kmin;
	if (!kmax_given)
		mark->kmax_bytes = max_t(u64, kmin * IQCN_KMAX_PER_KMIN,
					 min_t(u64, U32_MAX,
					       (u64)mark->kmin_bytes *
					       IQCN_KMAX_PER_KMIN));
	if (!(p->given & BIT(TCA_IQCN_LIMIT_BYTES)))
		p->limit_bytes = max(kmin * IQCN_LIMIT_PER_KMIN,
				     mark->kmax_bytes);
}

static int iqcn_check(const struct iqcn_params *p, struct nlattr **tb,
		      struct netlink_ext_ack *extack)
{
	if (p->mark.kmin_bytes > p->mark.kmax_bytes) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_IQCN_KMIN_BYTES],
				    "kmin is above kmax");
		return -EINVAL;
	}
	/* memory that nobody is charged for: more than the default of it is
	 * not for a user namespace's root to take
	 */
	if (tb[TCA_IQCN_FLOWS] && p->flows > IQCN_DEFAULT_FLOWS &&
	    !capable(CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_IQCN_FLOWS],
				    "flows above 65536 are for the machine's administrator");
		return -EPERM;
	}
	if (p->exit_pct >= p->enter_pct) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_IQCN_EXIT_PCT],
				    "exit must be below enter");
		return -EINVAL;
	}
	return 0;
}

/* All of it is checked before any of it is used.  @c holds what is in force
 * when it is called.
 */
static int iqcn_parse_config(struct Qdisc *sch, struct iqcn_config *c,
			     struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_IQCN_MAX + 1] = {};
	int err, i;

	if (opt) {
		err = nla_parse_nested(tb, TCA_IQCN_MAX, opt, iqcn_policy,
				       extack);
		if (err)
			return err;
	}
	if (!q->port && (tb[TCA_IQCN_CNP_RATE_PPS] || tb[TCA_IQCN_CNP_BURST])) {
		NL_SET_ERR_MSG(extack,
			       "cnp-rate and cnp-burst are for Ethernet devices");
		return -EOPNOTSUPP;
	}
	err = iqcn_parse_marking(&c->p, tb, extack) ?:
	      iqcn_parse_detection(&c->p, tb, extack) ?:
	      iqcn_parse_flows(&c->p, tb, extack) ?:
	      iqcn_parse_notify(c, tb, extack);
	if (err)
		return err;
	for (i = 0; i <= TCA_IQCN_MAX; i++)
		if (tb[i])
			c->p.given |= BIT(i);
	iqcn_resolve(&c->p, qdisc_dev(sch), q->link_bps);
	return iqcn_check(&c->p, tb, extack);
}

static void iqcn_trim(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	unsigned int pkts = 0, bytes = 0;
	struct sk_buff *skb;

	while (sch->qstats.backlog > q->p.limit_bytes &&
	       (skb = iqcn_take_back(sch))) {
		pkts++;
		bytes += qdisc_pkt_len(skb);
		qdisc_qstats_backlog_dec(sch, skb);
		iqcn_inc(q->st.drop_overlimit);
		rtnl_qdisc_drop(skb, sch);
	}
	if (pkts)
		qdisc_tree_reduce_backlog(sch, pkts, bytes);
}

static void iqcn_commit(struct Qdisc *sch, const struct iqcn_params *p)
{
	struct iqcn_queue *q = qdisc_priv(sch);

	sch_tree_lock(sch);
	iqcn_queue_set_params(q, p);
	iqcn_trim(sch);
	sch_tree_unlock(sch);
	if (q->port) {
		iqcn_queue_trim_flows(q);
		iqcn_port_update(q->port);
	}
}

static void iqcn_commit_port(struct iqcn_port *port,
			     const struct iqcn_config *c)
{
	spin_lock_bh(&port->budget_lock);
	WRITE_ONCE(port->cnp_rate_pps, c->cnp_rate_pps);
	WRITE_ONCE(port->cnp_burst, c->cnp_burst);
	iqcn_budget_set(&port->budget, c->cnp_rate_pps, c->cnp_burst);
	spin_unlock_bh(&port->budget_lock);
}

static int iqcn_change(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct iqcn_config c = { .p = q->p };
	int err;

	if (q->port) {
		c.cnp_rate_pps = q->port->cnp_rate_pps;
		c.cnp_burst = q->port->cnp_burst;
	}
	err = iqcn_parse_config(sch, &c, opt, extack);
	if (err)
		return err;
	iqcn_commit(sch, &c.p);
	if (q->port)
		iqcn_commit_port(q->port, &c);
	return 0;
}

static u64 iqcn_link_bps(struct net_device *dev)
{
	struct ethtool_link_ksettings ks;

	if (__ethtool_get_link_ksettings(dev, &ks) || !ks.base.speed ||
	    ks.base.speed == (u32)SPEED_UNKNOWN)
		return (u64)IQCN_DEFAULT_MBPS * 1000000;
	return (u64)ks.base.speed * 1000000;
}

/**
 * iqcn_qdisc_link_change() - the link or the MTU may have changed
 * @q: queue
 *
 * Parameters that the user gave stay.
 *
 * Context: RTNL.
 */
void iqcn_qdisc_link_change(struct iqcn_queue *q)
{
	struct Qdisc *sch = container_of((void *)q, struct Qdisc, privdata);
	struct iqcn_params p = q->p;

	WRITE_ONCE(q->link_bps, iqcn_link_bps(qdisc_dev(sch)));
	iqcn_resolve(&p, qdisc_dev(sch), q->link_bps);
	iqcn_commit(sch, &p);
}

static const struct iqcn_params iqcn_defaults = {
	.mark.pmax = IQCN_DEFAULT_PMAX,
	.nonect = IQCN_NONECT_PASS,
	.notify = IQCN_NOTIFY_TIMER,
	.detect = IQCN_DETECT_QUEUE,
	.t1_ns = IQCN_DEFAULT_T1_NS,
	.window_ns = IQCN_DEFAULT_WINDOW_NS,
	.enter_pct = IQCN_DEFAULT_ENTER_PCT,
	.exit_pct = IQCN_DEFAULT_EXIT_PCT,
	.pair = IQCN_PAIR_PSN,
	.flows = IQCN_DEFAULT_FLOWS,
	.age_ms = IQCN_DEFAULT_AGE_MS,
	.cnp_dscp = IQCN_DEFAULT_CNP_DSCP,
	.cnp_pcp = IQCN_DEFAULT_CNP_PCP,
	.cnp_ttl = IQCN_DEFAULT_CNP_TTL,
};

static int iqcn_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	int err;

	iqcn_queue_init(q);
	q->depth_bytes = &sch->qstats.backlog;
	q->parent = sch->parent;
	q->link_bps = iqcn_link_bps(dev);
	q->p = iqcn_defaults;

	/* on any other device it marks and counts, but has nobody to tell */
	if (dev->type == ARPHRD_ETHER) {
		err = iqcn_port_attach(dev, q, extack);
		if (err)
			return err;
	}
	return iqcn_change(sch, opt, extack);
}

/* Runs after a failed init too */
static void iqcn_destroy(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);

	if (q->port)
		iqcn_port_detach(q);
}

static int iqcn_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct iqcn_queue *q = qdisc_priv(sch);
	const struct iqcn_params *p = &q->p;
	struct nlattr *opts;

	opts = nla_nest_start(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_IQCN_LIMIT_BYTES, p->limit_bytes) ||
	    nla_put_u32(skb, TCA_IQCN_KMIN_BYTES, p->mark.kmin_bytes) ||
	    nla_put_u32(skb, TCA_IQCN_KMAX_BYTES, p->mark.kmax_bytes) ||
	    nla_put_u32(skb, TCA_IQCN_PMAX, p->mark.pmax) ||
	    nla_put_u32(skb, TCA_IQCN_NONECT, p->nonect) ||
	    nla_put_u32(skb, TCA_IQCN_NOTIFY, p->notify) ||
	    nla_put_u32(skb, TCA_IQCN_DETECT, p->detect) ||
	    nla_put_u32(skb, TCA_IQCN_T1_NS, p->t1_ns) ||
	    nla_put_u32(skb, TCA_IQCN_WINDOW_NS, p->window_ns) ||
	    nla_put_u32(skb, TCA_IQCN_ENTER_PCT, p->enter_pct) ||
	    nla_put_u32(skb, TCA_IQCN_EXIT_PCT, p->exit_pct) ||
	    nla_put_u64_64bit(skb, TCA_IQCN_BANDWIDTH_BPS, p->bandwidth_bps,
			      TCA_IQCN_PAD) ||
	    nla_put_u32(skb, TCA_IQCN_PAIR, p->pair) ||
	    nla_put_u32(skb, TCA_IQCN_FLOWS, p->flows) ||
	    nla_put_u32(skb, TCA_IQCN_AGE_MS, p->age_ms) ||
	    nla_put_u32(skb, TCA_IQCN_CNP_DSCP, p->cnp_dscp) ||
	    nla_put_u32(skb, TCA_IQCN_CNP_PCP, p->cnp_pcp) ||
	    nla_put_u32(skb, TCA_IQCN_CNP_TTL, p->cnp_ttl))
		goto nla_put_failure;
	if (q->port &&
	    (nla_put_u32(skb, TCA_IQCN_CNP_RATE_PPS, q->port->cnp_rate_pps) ||
	     nla_put_u32(skb, TCA_IQCN_CNP_BURST, q->port->cnp_burst)))
		goto nla_put_failure;
	return nla_nest_end(skb, opts);

nla_put_failure:
	nla_nest_cancel(skb, opts);
	return -EMSGSIZE;
}

static int iqcn_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct tc_iqcn_xstats st;

	iqcn_queue_stats(qdisc_priv(sch), &st);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops iqcn_qdisc_ops __read_mostly = {
	.id = "iqcn",
	.priv_size = sizeof(struct iqcn_queue),
	.enqueue = iqcn_enqueue,
	.dequeue = iqcn_dequeue,
	.peek = qdisc_peek_head,
	.init = iqcn_init,
	.reset = iqcn_reset,
	.destroy = iqcn_destroy,
	.change = iqcn_change,
	.dump = iqcn_dump,
	.dump_stats = iqcn_dump_stats,
	.owner = THIS_MODULE,
};

static int __init iqcn_module_init(void)
{
	int err;

	err = iqcn_flow_module_init();
	if (err)
		return err;
	iqcn_inspect_module_init();
	err = iqcn_port_module_init();
	if (err)
		goto err_inspect;
	err = register_qdisc(&iqcn_qdisc_ops);
	if (err)
		goto err_port;
	return 0;

err_port:
	iqcn_port_module_exit();
err_inspect:
	iqcn_inspect_module_exit();
	iqcn_flow_module_exit();
	return err;
}

static void __exit iqcn_module_exit(void)
{
	unregister_qdisc(&iqcn_qdisc_ops);
	/* waits for everything that was on its way to RCU */
	iqcn_port_module_exit();
	iqcn_inspect_module_exit();
	iqcn_flow_module_exit();
}

module_init(iqcn_module_init);
module_exit(iqcn_module_exit);

MODULE_DESCRIPTION("Intelligent congestion point for DCQCN (RoCEv2)");
MODULE_LICENSE("GPL");
/* 6.1 asks for the module's name, later kernels for this */
MODULE_ALIAS("net-sch-iqcn");
