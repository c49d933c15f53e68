// SPDX-License-Identifier: GPL-2.0
/*
 * sch_iqcn - intelligent congestion point for DCQCN
 *
 * A FIFO that marks ECN by its instantaneous depth (mark.h), on arrival or when a
 * packet leaves, and makes up for the CNPs that the receivers of RoCEv2 flows fail to
 * send in time (trigger.c).  Follows Huawei's US 12395431 B2 and iQCN.
 *
 * HPCC's switch model marks when a packet leaves, by the bytes behind it; so do codel
 * and fq_codel, by the time that the packet has waited.  red marks on arrival.
 *
 * This file is all that knows of struct Qdisc: it looks at ECN bits, marks,
 * and tells bts.c when a RoCEv2 packet arrives at a deep queue and queue.c when
 * one has left with CE.  A packet that is not CE and finds a queue no deeper
 * than Kmin, or where a controller wakes, costs that look and nothing else: no
 * clock, no parsing, no table.
 *
 * Left out: classes and priorities (prio, ets, mqprio above it), shaping (tbf,
 * htb above it), dropping before the limit but for what cannot be marked, if
 * told so.
 */
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>

#include "algo/bts.h"
#include "iqcn.h"
#include "algo/sample.h"
#include "skb.h"
#include "trace.h"

/* Bytes beyond the limit that are open to CNPs: they are what ends the
 * congestion, and the last to be dropped.
 */
#define IQCN_CNP_RESERVE_BYTES	16384

/* What enqueue has found out about a packet that waits */
enum iqcn_kind {
	IQCN_KIND_NONE,		/* nothing */
	IQCN_KIND_LOT,		/* it has a lot, but was not parsed */
	IQCN_KIND_NOT_ROCE,	/* parsed, and no RoCEv2 */
	IQCN_KIND_OTHER,	/* parsed, and RoCEv2 of which there are no flows */
	IQCN_KIND_DATA,		/* RoCEv2 data that dequeue may mark */
	IQCN_KIND_CE,		/* RoCEv2 data with CE */
};

/* Of a packet that waits: @kind is the only field that the fast path sets.  @rnd is
 * valid unless @kind is NONE; @l3_off and @v6 are of DATA, the others of DATA and CE.
 * @flow holds a reference: it is there if the packet is looked at, or wanted for
 * pairing.  If it was @asked for and there was no room, it is not asked for again, so
 * that this is counted once.  A qdisc has 20 bytes of the skb, of which the first are
 * aligned for a pointer.
 */
struct iqcn_skb_cb {
	struct iqcn_flow *flow;
	u32 rnd;	/* struct iqcn_lot */
	u32 psn:24;
	u32 asked:1;
	u32 sampled:1;
	u32 echo:1;
	u32 v6:1;
	u16 segs;
	u8 l3_off;
	u8 kind;	/* enum iqcn_kind */
} __packed __aligned(4);

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

/* ECN bits of an IP header that begins with @l3, INET_ECN_NOT_ECT of anything else */
static __always_inline u8 iqcn_ecn_bits(__be16 proto, const u8 *l3)
{
	if (proto == htons(ETH_P_IP))
		return l3[1] & INET_ECN_MASK;
	if (proto == htons(ETH_P_IPV6))
		return (l3[1] >> 4) & INET_ECN_MASK;
	return INET_ECN_NOT_ECT;
}

/* Starts from the Ethernet header, which is right whoever made the packet.  Tags may be
 * beside the packet or in it, and where the network header points depends on that.
 */
static struct iqcn_l3 iqcn_get_ecn(const struct sk_buff *skb)
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
	if (likely(tos))
		l3.ecn = iqcn_ecn_bits(l3.proto, tos);
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

static __always_inline enum iqcn_parsed iqcn_packet(const struct sk_buff *skb,
						    const struct iqcn_l3 *l3,
						    struct iqcn_pkt *pkt)
{
	u32 off = l3->off;
	__be16 proto = l3->proto;

	/* let the parser see the tags */
	if (!proto)
		return IQCN_NOT_ROCE;
	if (skb->dev->type == ARPHRD_ETHER) {
		off = ETH_HLEN;
		proto = ((const struct ethhdr *)skb->data)->h_proto;
	}
	return iqcn_skb_headers(skb, off, proto, pkt);
}

/* Of a packet to be queued, so that the outflow of RoCE goes without it */
static __always_inline enum iqcn_parsed
iqcn_packet_queued(struct sk_buff *skb, const struct iqcn_l3 *l3,
		   struct iqcn_pkt *pkt)
{
	enum iqcn_parsed parsed = iqcn_packet(skb, l3, pkt);

	if (parsed == IQCN_NOT_ROCE)
		iqcn_skb_cb(skb)->kind = IQCN_KIND_NOT_ROCE;
	return parsed;
}

static bool iqcn_is_cnp(enum iqcn_parsed parsed, const struct iqcn_pkt *pkt)
{
	return parsed == IQCN_ROCE && pkt->opcode == IQCN_OP_CNP;
}

/* Some flow of the port could do with better evidence */
static bool iqcn_unassured(const struct iqcn_queue *q)
{
	return q->port && READ_ONCE(q->port->n_unassured);
}

/* Packets that arrive, or are dropped, may cause CNPs */
static bool iqcn_bts(const struct iqcn_queue *q)
{
	return iqcn_queue_notifies(q, IQCN_NOTIFY_BTS);
}

/* Packets that the receiver gets */
static u32 iqcn_segs(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->gso_segs ?: 1;
}

/* The flow of a packet goes to its cb; that there is none is counted once */
static void iqcn_cb_get(struct iqcn_queue *q, struct sk_buff *skb,
			const struct iqcn_pkt *pkt)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	bool made = false;

	if (cb->asked)
		return;
	cb->flow = iqcn_flow_get(q, pkt, &made);
	cb->asked = true;
	if (unlikely(made))
		iqcn_cm_pair(q->port, cb->flow);
}

/* The flow of a packet that may cause a CNP, with a reference in cb.  Return: false
 * if there is none.
 */
static bool iqcn_bts_flow(struct iqcn_queue *q, struct sk_buff *skb,
			  enum iqcn_parsed parsed, const struct iqcn_pkt *pkt)
{
	if (!iqcn_bts(q) || parsed != IQCN_ROCE ||
	    !iqcn_op_is_data(pkt->opcode))
		return false;
	iqcn_cb_get(q, skb, pkt);
	return iqcn_skb_cb(skb)->flow;
}

static void iqcn_cb_put(struct sk_buff *skb)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);

	if (!cb->flow)
		return;
	iqcn_flow_put(cb->flow);
	cb->flow = NULL;
	/* the curve may mark the packet when it leaves */
	cb->asked = false;
}

/* A packet arrives.  Return: it causes a CNP, so it is to be marked. */
static bool iqcn_bts_check(struct iqcn_queue *q, struct sk_buff *skb,
			    enum iqcn_parsed parsed, const struct iqcn_pkt *pkt,
			    struct iqcn_lot *lot, u8 ecn)
{
	if (ecn == INET_ECN_NOT_ECT || !iqcn_bts_flow(q, skb, parsed, pkt))
		return false;
	return iqcn_bts_arrived(q, iqcn_skb_cb(skb)->flow,
				(const void *)skb->data, iqcn_segs(skb), lot,
				ecn);
}

/* One is dropped for want of room, @waited: from the queue */
static void iqcn_bts_lost(struct iqcn_queue *q, struct sk_buff *skb,
			  enum iqcn_parsed parsed, const struct iqcn_pkt *pkt,
			  u8 ecn, bool waited)
{
	if (!iqcn_bts_may(q->p.ce_in, ecn, true) || !iqcn_bts_flow(q, skb, parsed, pkt))
		return;
	iqcn_bts_dropped(q, iqcn_skb_cb(skb)->flow, (const void *)skb->data,
			 ecn == INET_ECN_CE, waited);
	iqcn_cb_put(skb);
}

/* A packet that is CE, or may be when it leaves: whose is it? */
static void iqcn_cb_fill(struct iqcn_queue *q, struct sk_buff *skb,
			 enum iqcn_parsed parsed, const struct iqcn_pkt *pkt,
			 enum iqcn_kind kind)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	bool sampled, echo;
	u32 seq;

	if (cb->kind != IQCN_KIND_NOT_ROCE)
		cb->kind = IQCN_KIND_OTHER;
	if (parsed == IQCN_MALFORMED)
		iqcn_inc(q->st.malformed);
	if (parsed != IQCN_ROCE || !iqcn_op_is_data(pkt->opcode) || !q->port)
		return;
	cb->kind = kind;
	cb->segs = iqcn_segs(skb);
	sampled = iqcn_sample_pick(pkt->psn, cb->segs, pkt->dest_qp,
				     q->p.sample, &seq);
	echo = iqcn_op_is_echoed(pkt->opcode);
	cb->sampled = sampled;
	cb->echo = echo;
	cb->psn = pkt->psn;
	/* to tell one flow's packets from another's all are wanted */
	if (sampled || (echo && iqcn_unassured(q)))
		iqcn_cb_get(q, skb, pkt);
	else
		iqcn_cb_put(skb);
}

static int iqcn_tail(struct sk_buff *skb, struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	int ret = qdisc_enqueue_tail(skb, sch);

	if (sch->qstats.backlog > q->st.depth_peak_bytes)
		WRITE_ONCE(q->st.depth_peak_bytes, sch->qstats.backlog);
	return ret;
}

/* Return: false if the packet could not be marked, which is counted */
static bool iqcn_mark(struct sk_buff *skb, struct Qdisc *sch,
		      const struct iqcn_l3 *l3, u32 depth_bytes)
{
	struct iqcn_queue *q = qdisc_priv(sch);

	if (!iqcn_set_ce(skb, l3)) {
		iqcn_inc(q->st.unmarkable);
		return false;
	}
	iqcn_inc(q->st.ecn_mark);
	qdisc_qstats_overlimit(sch);
	trace_iqcn_mark(qdisc_dev(sch), sch->parent, depth_bytes,
			qdisc_pkt_len(skb));
	return true;
}

/* The curve is applied to the packet when it leaves.  "nonect drop" drops on arrival. */
static bool iqcn_marks_later(const struct iqcn_queue *q,
			     const struct iqcn_l3 *l3)
{
	return q->p.mark_on == IQCN_MARK_ON_DEQUEUE &&
	       (l3->ecn != INET_ECN_NOT_ECT ||
		q->p.nonect == IQCN_NONECT_PASS);
}

/* What was found out on arrival counts when the packet leaves */
static void iqcn_cb_keep(const struct iqcn_queue *q, struct sk_buff *skb,
			 const struct iqcn_l3 *l3, const struct iqcn_lot *lot)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);

	if (q->p.mark_on != IQCN_MARK_ON_DEQUEUE)
		return;
	if (cb->kind == IQCN_KIND_NONE)
		cb->kind = IQCN_KIND_LOT;
	cb->rnd = lot->rnd;
	/* of DATA it fits, because the device is Ethernet */
	cb->l3_off = l3->off;
	cb->v6 = l3->proto == htons(ETH_P_IPV6);
}

/* A packet with CE arrives.  If it causes no CNP, a controller that runs counts its flow
 * all the same.
 */
static bool iqcn_bts_judges_ce(const struct iqcn_queue *q, u32 depth_bytes)
{
	u32 fastpath_bytes = READ_ONCE(q->fastpath_bytes);

	return q->p.ce_in == IQCN_CE_IN_NOTIFY ? depth_bytes >= fastpath_bytes :
						 !fastpath_bytes;
}

/* The queue is deep, or the packet is CE */
static noinline int iqcn_enqueue_slow(struct sk_buff *skb, struct Qdisc *sch,
				      const struct iqcn_l3 *l3,
				      struct sk_buff **to_free)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	u32 depth_bytes = sch->qstats.backlog;
	bool mark, bts = false;
	struct iqcn_lot lot = {};
	enum iqcn_parsed parsed;
	struct iqcn_pkt pkt __uninitialized; /* valid if it parses */

	if (l3->ecn == INET_ECN_CE) {
		iqcn_inc(q->st.ce_in);
		parsed = iqcn_packet_queued(skb, l3, &pkt);
		if (iqcn_bts_judges_ce(q, depth_bytes))
			iqcn_bts_check(q, skb, parsed, &pkt, &lot, l3->ecn);
		iqcn_cb_fill(q, skb, parsed, &pkt, IQCN_KIND_CE);
		return iqcn_tail(skb, sch);
	}

	mark = iqcn_lot_decide(&lot, iqcn_mark_prob(&q->p.mark, depth_bytes));
	if (!mark && !iqcn_bts(q) && !iqcn_unassured(q)) {
		iqcn_cb_keep(q, skb, l3, &lot);
		return iqcn_tail(skb, sch);
	}

	parsed = iqcn_packet_queued(skb, l3, &pkt);
	if (iqcn_is_cnp(parsed, &pkt))
		return iqcn_tail(skb, sch);
	bts = iqcn_bts_check(q, skb, parsed, &pkt, &lot, l3->ecn);
	if (!bts && (!mark || iqcn_marks_later(q, l3))) {
		if (parsed == IQCN_ROCE && iqcn_unassured(q))
			iqcn_pair_note_psn(q->port, &pkt, iqcn_segs(skb));
		/* the lot that wins now will probably win on dequeue */
		if (mark && l3->ecn != INET_ECN_NOT_ECT)
			iqcn_cb_fill(q, skb, parsed, &pkt, IQCN_KIND_DATA);
		else
			iqcn_cb_put(skb);
		iqcn_cb_keep(q, skb, l3, &lot);
		return iqcn_tail(skb, sch);
	}

	if (l3->ecn == INET_ECN_NOT_ECT) {
		iqcn_inc(q->st.not_ect);
		if (q->p.nonect == IQCN_NONECT_PASS)
			return iqcn_tail(skb, sch);
		iqcn_inc(q->st.not_ect_drop);
		qdisc_drop(skb, sch, to_free);
		return NET_XMIT_CN;
	}

	if (iqcn_mark(skb, sch, l3, depth_bytes)) {
		iqcn_add(q->st.bts_mark, bts);
		iqcn_cb_fill(q, skb, parsed, &pkt, IQCN_KIND_CE);
	} else {
		iqcn_cb_put(skb);
	}
	return iqcn_tail(skb, sch);
}

static __always_inline bool iqcn_fits(const struct sk_buff *skb,
				      struct Qdisc *sch, u32 reserve_bytes)
{
	const struct iqcn_queue *q = qdisc_priv(sch);
	u64 bytes = (u64)sch->qstats.backlog + qdisc_pkt_len(skb);

	/* the backlog is a u32, and so is the limit */
	if (!reserve_bytes)
		return bytes <= q->p.limit_bytes;
	return bytes <= min_t(u64, (u64)q->p.limit_bytes + reserve_bytes,
			      U32_MAX);
}

static noinline int iqcn_enqueue_full(struct sk_buff *skb, struct Qdisc *sch,
				      const struct iqcn_l3 *l3,
				      struct sk_buff **to_free)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	bool fits = iqcn_fits(skb, sch, IQCN_CNP_RESERVE_BYTES);
	enum iqcn_parsed parsed;
	struct iqcn_pkt pkt __uninitialized; /* likewise */

	if (fits || iqcn_bts(q)) {
		parsed = iqcn_packet(skb, l3, &pkt);
		if (fits && iqcn_is_cnp(parsed, &pkt))
			return iqcn_tail(skb, sch);
		iqcn_bts_lost(q, skb, parsed, &pkt, l3->ecn, false);
	}
	iqcn_inc(q->st.drop_overlimit);
	return qdisc_drop(skb, sch, to_free);
}

/* What is not plain, or not calm */
static noinline int iqcn_enqueue_look(struct sk_buff *skb, struct Qdisc *sch,
				      struct sk_buff **to_free)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct iqcn_l3 l3 = iqcn_get_ecn(skb);

	iqcn_skb_cb(skb)->flow = NULL;
	iqcn_skb_cb(skb)->asked = false;
	if (unlikely(!iqcn_fits(skb, sch, 0)))
		return iqcn_enqueue_full(skb, sch, &l3, to_free);
	if (l3.ecn != INET_ECN_CE &&
	    sch->qstats.backlog < READ_ONCE(q->fastpath_bytes))
		return qdisc_enqueue_tail(skb, sch);
	return iqcn_enqueue_slow(skb, sch, &l3, to_free);
}

/* Ethernet with IP or anything else but a tag, not CE: as nearly all packets are.
 * No more than this is done for them; it is a function without a stack frame for
 * that.
 */
static __always_inline bool iqcn_is_plain(const struct sk_buff *skb)
{
	const u8 *data = skb->data;
	__be16 proto;

	if (unlikely(skb->dev->type != ARPHRD_ETHER ||
		     skb_headlen(skb) < ETH_HLEN + 2))
		return false;
	proto = ((const struct ethhdr *)data)->h_proto;
	return iqcn_ecn_bits(proto, data + ETH_HLEN) != INET_ECN_CE &&
	       !eth_type_vlan(proto);
}

static int iqcn_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	const struct iqcn_queue *q = qdisc_priv(sch);

	iqcn_skb_cb(skb)->kind = IQCN_KIND_NONE;
	if (likely(iqcn_is_plain(skb) && iqcn_fits(skb, sch, 0) &&
		   sch->qstats.backlog < READ_ONCE(q->fastpath_bytes)))
		return qdisc_enqueue_tail(skb, sch);
	return iqcn_enqueue_look(skb, sch, to_free);
}

/* What the queue drains at while it is backlogged: its share of the link, or
 * what tbf or htb above it let through.  For who wants to know before a window of CE
 * packets has closed, or where there are none.
 */
static void iqcn_measure_drain(struct iqcn_queue *q, u32 bytes, u64 now_ns)
{
	if (iqcn_meter_add(&q->drain, q->p.window_ns, now_ns, bytes))
		iqcn_queue_drains(q, q->drain.rate_bps, now_ns);
}

/* Return: what time it is, 0: nobody has looked */
static noinline u64 iqcn_ce_dequeued(struct iqcn_queue *q, struct sk_buff *skb)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	u64 now_ns = 0;

	if (cb->sampled) {
		now_ns = iqcn_queue_ce_sent(q, cb->flow, (const void *)skb->data,
					    qdisc_pkt_len(skb),
					    q->skipped_bytes, cb->psn, cb->segs,
					    cb->echo);
		q->skipped_bytes = 0;
		if (q->sampler &&
		    !iqcn_psample_copy(q->sampler, skb, q->p.sample,
				       *q->depth_bytes))
			iqcn_inc(q->st.sample_lost);
	} else {
		q->skipped_bytes += qdisc_pkt_len(skb);
		iqcn_add(q->skipped, cb->segs);
		if (cb->flow)
			iqcn_queue_ce_skipped(q, cb->flow, cb->psn, cb->segs);
	}
	if (cb->flow)
		iqcn_flow_put(cb->flow);
	return now_ns;
}

/* A packet that the curve marks leaves, and it is not known to be RoCEv2 data */
static noinline void iqcn_mark_unparsed(struct iqcn_queue *q, struct Qdisc *sch,
					struct sk_buff *skb, u32 depth_bytes)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	struct iqcn_pkt pkt __uninitialized; /* likewise */
	enum iqcn_parsed parsed = IQCN_NOT_ROCE;
	struct iqcn_l3 l3 = iqcn_get_ecn(skb);

	if (l3.ecn == INET_ECN_CE)
		return;
	if (cb->kind == IQCN_KIND_NONE) {
		cb->flow = NULL;
		cb->asked = false;
	}
	if (cb->kind == IQCN_KIND_NONE || cb->kind == IQCN_KIND_LOT) {
		parsed = iqcn_packet_queued(skb, &l3, &pkt);
		if (iqcn_is_cnp(parsed, &pkt))
			return;
	}
	if (l3.ecn == INET_ECN_NOT_ECT)
		iqcn_inc(q->st.not_ect);
	else if (iqcn_mark(skb, sch, &l3, depth_bytes))
		iqcn_cb_fill(q, skb, parsed, &pkt, IQCN_KIND_CE);
}

/* A packet leaves a queue that stays deep.  Enqueue has parsed it if it would have been
 * marked by the depth of that moment.  By itself, so that packets that are not marked
 * save no registers for it.
 */
static noinline void iqcn_mark_leaving(struct iqcn_queue *q, struct Qdisc *sch,
				       struct sk_buff *skb)
{
	u32 depth_bytes = sch->qstats.backlog;
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	struct iqcn_lot lot = {};
	struct iqcn_l3 l3;

	if (cb->kind != IQCN_KIND_NONE)
		lot.rnd = cb->rnd;
	if (!iqcn_lot_decide(&lot, iqcn_mark_prob(&q->p.mark, depth_bytes)))
		return;
	if (cb->kind != IQCN_KIND_DATA) {
		iqcn_mark_unparsed(q, sch, skb, depth_bytes);
		return;
	}
	l3.off = cb->l3_off;
	l3.proto = cb->v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	if (iqcn_mark(skb, sch, &l3, depth_bytes))
		cb->kind = IQCN_KIND_CE;
}

/* RoCEv2 data leaves.  Return: what time it is, 0: nobody has looked. */
static u64 iqcn_data_dequeued(struct iqcn_queue *q, struct sk_buff *skb)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);

	if (cb->kind == IQCN_KIND_CE)
		return iqcn_ce_dequeued(q, skb);
	/* the last packet of a message is the one that is answered, and may have
	 * none behind it
	 */
	if (cb->flow && cb->echo && iqcn_unassured(q))
		iqcn_queue_ce_skipped(q, cb->flow, cb->psn, cb->segs);
	iqcn_cb_put(skb);
	return 0;
}

/* The clock is looked at once per packet at most */
static struct sk_buff *iqcn_dequeue(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	u32 depth_bytes = sch->qstats.backlog;
	struct sk_buff *skb;
	u64 now_ns = 0;

	skb = qdisc_dequeue_head(sch);
	if (unlikely(!skb))
		return NULL;
	/* not backlogged; nor is a queue whose only packet is larger than Kmin, for what
	 * comes next may be long in coming
	 */
	if (likely(depth_bytes <= q->p.mark.kmin_bytes) ||
	    !sch->qstats.backlog) {
		if (unlikely(q->drain.start_ns))
			iqcn_queue_drain_stops(q);
		if (unlikely(iqcn_skb_cb(skb)->kind >= IQCN_KIND_DATA))
			iqcn_data_dequeued(q, skb);
		return skb;
	}
	/* first, for the CE rate is held against it */
	q->outflow.bytes += qdisc_pkt_len(skb);
	if (q->p.mark_on == IQCN_MARK_ON_DEQUEUE &&
	    iqcn_skb_cb(skb)->kind != IQCN_KIND_CE &&
	    sch->qstats.backlog > q->p.mark.kmin_bytes)
		iqcn_mark_leaving(q, sch, skb);
	if (iqcn_skb_cb(skb)->kind != IQCN_KIND_NOT_ROCE)
		q->roce_outflow.bytes += qdisc_pkt_len(skb);
	if (iqcn_skb_cb(skb)->kind >= IQCN_KIND_DATA)
		now_ns = iqcn_data_dequeued(q, skb);
	iqcn_measure_drain(q, qdisc_pkt_len(skb), now_ns ?: ktime_get_ns());
	return skb;
}

/* A packet that will not leave; its cb->flow is a reference, or NULL */
static struct sk_buff *iqcn_take_back(struct Qdisc *sch)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

	if (skb && iqcn_skb_cb(skb)->kind < IQCN_KIND_DATA)
		iqcn_skb_cb(skb)->flow = NULL;
	return skb;
}

static void iqcn_reset(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while ((skb = iqcn_take_back(sch))) {
		iqcn_cb_put(skb);
		rtnl_kfree_skbs(skb, skb);
	}
	WRITE_ONCE(sch->qstats.backlog, 0);
	iqcn_queue_reset(q);
}

/* The limit is lower now, so the packet is dropped as if it arrived */
static void iqcn_trim_one(struct iqcn_queue *q, struct sk_buff *skb)
{
	struct iqcn_pkt pkt __uninitialized; /* likewise */
	enum iqcn_parsed parsed;
	struct iqcn_l3 l3;

	if (iqcn_bts(q)) {
		/* without a flow the rest of cb may mean nothing */
		iqcn_skb_cb(skb)->asked = !!iqcn_skb_cb(skb)->flow;
		l3 = iqcn_get_ecn(skb);
		parsed = iqcn_packet(skb, &l3, &pkt);
		iqcn_bts_lost(q, skb, parsed, &pkt, l3.ecn, true);
	}
	iqcn_cb_put(skb);
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
		iqcn_trim_one(q, skb);
		rtnl_qdisc_drop(skb, sch);
	}
	if (pkts)
		qdisc_tree_reduce_backlog(sch, pkts, bytes);
}

static struct Qdisc *iqcn_qdisc(struct iqcn_queue *q)
{
	return container_of((void *)q, struct Qdisc, privdata);
}

static void iqcn_commit(struct Qdisc *sch, const struct iqcn_params *p,
			struct iqcn_sampler *sampler)
{
	struct iqcn_queue *q = qdisc_priv(sch);

	DEBUG_NET_WARN_ON_ONCE(iqcn_params_check(p) != IQCN_PARAMS_OK);

	sch_tree_lock(sch);
	q->sampler = sampler;
	iqcn_queue_set_params(q, p);
	iqcn_trim(sch);
	sch_tree_unlock(sch);
	if (q->port) {
		iqcn_gc_forget(q, IQCN_FORGET_SURPLUS);
		iqcn_port_update(q->port);
	}
}

/* The sampler for new parameters, NULL: samples are not copied */
static struct iqcn_sampler *iqcn_new_sampler(const struct iqcn_queue *q,
					     const struct iqcn_params *p,
					     struct netlink_ext_ack *extack)
{
	struct iqcn_sampler *s;

	if (q->sampler && p->sample_group == q->p.sample_group)
		return q->sampler;
	if (p->sample_group == IQCN_SAMPLE_GROUP_NONE)
		return NULL;
	if (!q->port) {
		NL_SET_ERR_MSG(extack, "group is for Ethernet devices");
		return ERR_PTR(-EINVAL);
	}
	s = iqcn_psample_new(q->port->net, p->sample_group);
	if (PTR_ERR_OR_ZERO(s) == -EOPNOTSUPP)
		NL_SET_ERR_MSG(extack,
			       "group: there is no psample in this kernel, or it is not loaded");
	return s;
}

static int iqcn_change(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct iqcn_sampler *new, *old = q->sampler;
	struct net_device *dev = qdisc_dev(sch);
	struct iqcn_config c;
	int err;

	/* its parent has outlived a device that was unregistered, or moved */
	if (q->dead) {
		NL_SET_ERR_MSG(extack,
			       "The device has moved: delete this qdisc and add a new one");
		return -ENODEV;
	}
	iqcn_config_init(&c, q->port);
	/* a queue that is being made starts from the defaults */
	if (q->p.limit_bytes)
		c.p = q->p;
	err = iqcn_config_parse(&c, q, dev, opt, extack);
	if (err)
		return err;
	new = iqcn_new_sampler(q, &c.p, extack);
	if (IS_ERR(new))
		return PTR_ERR(new);
	if (q->port) {
		err = iqcn_port_set(q->port, &c.port, extack);
		if (err)
			goto err_sampler;
	}
	iqcn_commit(sch, &c.p, new);
	if (old != new)
		iqcn_psample_free(old);
	return 0;

err_sampler:
	if (new != old)
		iqcn_psample_free(new);
	return err;
}

/* The speed of a device in bit/s, or a default.  A device on top of others takes their
 * locks, so none of these may be held.
 */
static u64 iqcn_link_bps(struct net_device *dev)
{
	struct ethtool_link_ksettings ks;

	if (netif_get_link_ksettings(dev, &ks) || !ks.base.speed ||
	    ks.base.speed == (u32)SPEED_UNKNOWN)
		return (u64)IQCN_DEFAULT_MBPS * 1000000;
	return (u64)ks.base.speed * 1000000;
}

/* The link or the MTU may have changed.  Parameters that the user set are kept.  If the
 * recomputed ones conflict with them, all parameters are kept.
 */
static void iqcn_link_change(struct iqcn_queue *q, u64 link_bps)
{
	struct Qdisc *sch = iqcn_qdisc(q);
	struct iqcn_params p = q->p;

	WRITE_ONCE(q->link_bps, link_bps);
	iqcn_config_resolve(&p, qdisc_dev(sch), q->link_bps);
	if (iqcn_params_check(&p) != IQCN_PARAMS_OK) {
		netdev_warn_once(qdisc_dev(sch),
				 "iqcn: parameters do not fit the new MTU or speed and stay as they are\n");
		p = q->p;
	}
	iqcn_commit(sch, &p, q->sampler);
}

/* Drop the packets of a queue whose qdisc is not in use */
static void iqcn_reset_unused(struct iqcn_queue *q)
{
	struct Qdisc *sch = iqcn_qdisc(q);

	sch_tree_lock(sch);
	qdisc_reset(sch);
	sch_tree_unlock(sch);
}

/* The device of a dead and empty queue is unregistered, or moves.  Its qdisc lives on
 * without a port for as long as something refers to it.  It is unhashed, so that it
 * cannot be put to use again.
 */
static void iqcn_orphan(struct iqcn_queue *q)
{
	struct iqcn_sampler *sampler = q->sampler;
	struct Qdisc *sch = iqcn_qdisc(q);

	qdisc_hash_del(sch);
	sch_tree_lock(sch);
	DEBUG_NET_WARN_ON_ONCE(sch->q.qlen || q->congested);
	q->sampler = NULL;
	q->port = NULL;
	sch_tree_unlock(sch);
	iqcn_psample_free(sampler);
}

static const struct iqcn_port_ops iqcn_qdisc_port_ops = {
	.link_bps = iqcn_link_bps,
	.link_change = iqcn_link_change,
	.reset = iqcn_reset_unused,
	.orphan = iqcn_orphan,
};

static int iqcn_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	int err;

	iqcn_queue_init(q);
	q->depth_bytes = &sch->qstats.backlog;
	q->sent = &sch->bstats;
	q->parent = sch->parent;
	q->link_bps = iqcn_link_bps(dev);

	/* on any other device it marks and counts, but has nobody to tell */
	if (dev->type == ARPHRD_ETHER) {
		err = iqcn_flow_queue_init(q);
		if (!err)
			err = iqcn_port_attach(dev, q, extack);
		if (err)
			return err;
	}
	if (!q->port)
		return iqcn_change(sch, opt, extack);
	iqcn_port_get(q->port, &q->before);
	err = iqcn_change(sch, opt, extack);
	q->undo_seq = iqcn_net(q->port->net)->config_seq;
	return err;
}

/* No packet has come, and nobody has set anything since init: the stack may have failed
 * to complete the qdisc (size table, estimator, graft), which destroy is not told.
 */
static bool iqcn_can_undo(struct Qdisc *sch)
{
	const struct iqcn_queue *q = qdisc_priv(sch);

	return q->undo_seq == iqcn_net(q->port->net)->config_seq &&
	       !u64_stats_read(&sch->bstats.packets) && !sch->qstats.drops;
}

/* Runs after a failed init, too */
static void iqcn_destroy(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);

	if (q->port) {
		if (iqcn_can_undo(sch) &&
		    iqcn_port_set(q->port, &q->before, NULL))
			netdev_warn(qdisc_dev(sch),
				    "iqcn: cannot restore snoop netns\n");
		iqcn_port_detach(q);
		/* If what follows init fails, the caller still has the only reference,
		 * and older kernels free the qdisc without a grace period for the
		 * readers of port->queues.
		 */
		if (refcount_read(&sch->refcnt))
			synchronize_net();
	}
	iqcn_flow_queue_free(q);
	iqcn_psample_free(q->sampler);
}

static int iqcn_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct nlattr *opts;

	opts = nla_nest_start(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (iqcn_config_dump(skb, qdisc_priv(sch))) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
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
	iqcn_cnp_module_init();
	iqcn_sysfs_module_init();
	iqcn_debugfs_module_init();
	err = iqcn_net_module_init();
	if (err)
		goto err_debugfs;
	err = iqcn_port_module_init(&iqcn_qdisc_port_ops);
	if (err)
		goto err_net;
	err = iqcn_genl_module_init();
	if (err)
		goto err_port;
	/* last: from here on there may be queues */
	err = register_qdisc(&iqcn_qdisc_ops);
	if (err)
		goto err_genl;
	return 0;

err_genl:
	iqcn_genl_module_exit();
err_port:
	iqcn_port_module_exit();
err_net:
	iqcn_net_module_exit();
err_debugfs:
	iqcn_debugfs_module_exit();
	iqcn_flow_module_exit();
	return err;
}

static void __exit iqcn_module_exit(void)
{
	unregister_qdisc(&iqcn_qdisc_ops);
	iqcn_genl_module_exit();
	iqcn_port_module_exit();
	/* waits for everything that was on its way to RCU */
	iqcn_net_module_exit();
	iqcn_debugfs_module_exit();
	iqcn_flow_module_exit();
}

module_init(iqcn_module_init);
module_exit(iqcn_module_exit);

MODULE_DESCRIPTION("Intelligent congestion point for DCQCN (RoCEv2)");
MODULE_LICENSE("GPL");
/* the plugin's and the tool's, too */
MODULE_VERSION("0.1");
/* 6.1 asks for the module's name, later kernels for this */
MODULE_ALIAS("net-sch-iqcn");
