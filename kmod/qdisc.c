// SPDX-License-Identifier: GPL-2.0
/*
 * sch_iqcn - intelligent congestion point for DCQCN
 *
 * A FIFO that marks ECN by its instantaneous depth (algo/mark.h), on enqueue or
 * on dequeue, and sends the CNPs that the receivers of RoCEv2 flows fail to
 * send in time (notify_*.c).  It follows Huawei's US 12395431 B2 and iQCN.
 *
 * HPCC's switch model marks on dequeue, by the bytes behind the packet; codel
 * and fq_codel mark on dequeue, by the sojourn time.  red marks on enqueue.
 *
 * Only this file and link.c use struct Qdisc.  This file reads the ECN bits,
 * marks packets, and calls notify_bts.c for each RoCEv2 packet that arrives at
 * a deep queue, and queue.c for each that leaves with CE.  The fast path is for
 * packets that are not CE and arrive below q->fastpath_bytes, the depth from
 * which marking or a notify method may need them.  It compares the ECN bits and
 * the depth, without a clock, a parser or a table lookup (bench "uncongested").
 *
 * Not included: classes and priorities (use prio, ets or mqprio as the parent),
 * shaping (use tbf or htb as the parent), and early drop, except of not-ECT
 * packets with "nonect drop".
 */
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
#include "link.h"
#include "skb.h"
#include "trace.h"

/* Bytes beyond the limit that only CNPs may use: CNPs end the congestion, so
 * they are dropped last.
 */
#define IQCN_CNP_RESERVE_BYTES	16384

/* Classification of a queued packet by enqueue */
enum iqcn_kind {
	IQCN_KIND_NONE,		/* not classified */
	IQCN_KIND_UNPARSED,	/* cb->rnd is set, otherwise not classified */
	IQCN_KIND_NOT_ROCE,	/* parsed: not RoCEv2 */
	IQCN_KIND_OTHER,	/* parsed: malformed, or not data of a flow */
	IQCN_KIND_DATA,		/* RoCEv2 data that is not CE yet */
	IQCN_KIND_CE,		/* RoCEv2 data with CE */
};

/* State of a queued packet.  The fast path sets nothing but @kind.  DATA and CE
 * are short for IQCN_KIND_DATA and IQCN_KIND_CE.  The size is limited to the 20
 * bytes that qdisc_skb_cb() reserves for a qdisc, which are aligned like a
 * pointer.
 */
struct iqcn_skb_cb {
	/* reference, or NULL; DATA and CE.  Set if the packet is sampled or
	 * tracked, or if its PSN is evidence for pairing
	 */
	struct iqcn_flow *flow;
	u32 rnd;	/* of struct iqcn_lot; all kinds but NONE */
	/* PSN of the first segment, and the flags below.  One word instead of
	 * bit fields, because it is written at once (bench "marked").
	 */
	u32 psn_flags;
	u16 segs;	/* GSO segments; DATA and CE */
	u8 l3_off;	/* of the IP header; DATA */
	u8 kind;	/* enum iqcn_kind */
} __packed __aligned(4);

/* Above IQCN_PSN_MASK in iqcn_skb_cb.psn_flags */
#define IQCN_CB_LOOKUP_DONE	BIT(24)	/* count a failed lookup only once */
#define IQCN_CB_SAMPLED		BIT(25)	/* for the detectors; DATA and CE */
#define IQCN_CB_ECHO		BIT(26)	/* the PSN may be echoed; DATA and CE */
#define IQCN_CB_V6		BIT(27)	/* DATA */
#define IQCN_CB_TRACKED		BIT(28)	/* counts in q->tracked; DATA and CE */
#define IQCN_CB_CE_IN		BIT(29)	/* arrived with CE; CE */

static struct iqcn_skb_cb *iqcn_skb_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct iqcn_skb_cb));
	return (struct iqcn_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* Network header of a packet */
struct iqcn_l3 {
	u32 off;	/* from skb->data */
	__be16 proto;	/* EtherType, 0: not found */
	u8 ecn;		/* ECN bits; INET_ECN_NOT_ECT if not IP */
};

static bool iqcn_is_v6(struct iqcn_l3 l3)
{
	return l3.proto == htons(ETH_P_IPV6);
}

/* ECN bits of the IP header at @l3; INET_ECN_NOT_ECT for other protocols */
static __always_inline u8 iqcn_ecn_bits(__be16 proto, const u8 *l3)
{
	if (proto == htons(ETH_P_IP))
		return l3[1] & INET_ECN_MASK;
	if (proto == htons(ETH_P_IPV6))
		return (l3[1] >> 4) & INET_ECN_MASK;
	return INET_ECN_NOT_ECT;
}

/* Search for the IP header from the Ethernet header on, because
 * skb_network_offset() depends on the sender if a VLAN tag is in the packet
 * rather than in skb->vlan_tci.
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

	/* the linear part of a large frame from a packet socket ends after the
	 * Ethernet header
	 */
	tos = skb_header_pointer(skb, l3.off, sizeof(buf), buf);
	if (likely(tos))
		l3.ecn = iqcn_ecn_bits(l3.proto, tos);
	return l3;
}

/* Mark the IP header at @off.  Return: false if it is not writable. */
static __always_inline bool iqcn_set_ce(struct sk_buff *skb, u32 off, bool v6)
{
	u32 len = off + (v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));

	if (skb_shared(skb))
		return false;
	/* nearly all packets need no call (bench "marked") */
	if (unlikely(skb_headlen(skb) < len || skb_cloned(skb)) &&
	    skb_ensure_writable(skb, len))
		return false;
	if (v6)
		return IP6_ECN_set_ce(skb, (void *)(skb->data + off));
	return IP_ECN_set_ce((void *)(skb->data + off));
}

static __always_inline enum iqcn_parsed
iqcn_parse_skb(const struct sk_buff *skb, struct iqcn_l3 l3,
	       struct iqcn_pkt *pkt)
{
	u32 off = l3.off;
	__be16 proto = l3.proto;

	if (!proto)
		return IQCN_NOT_ROCE;
	/* parse from the Ethernet header on, to get the VLAN tags */
	if (unlikely(off != ETH_HLEN) && skb->dev->type == ARPHRD_ETHER) {
		off = ETH_HLEN;
		proto = ((const struct ethhdr *)skb->data)->h_proto;
	}
	return iqcn_skb_headers(skb, off, proto, pkt);
}

/* Parse a packet and record if it is not RoCEv2, because q->roce_outflow does
 * not count such packets
 */
static __always_inline enum iqcn_parsed
iqcn_parse_queued(struct sk_buff *skb, struct iqcn_l3 l3,
		  struct iqcn_pkt *pkt)
{
	enum iqcn_parsed parsed = iqcn_parse_skb(skb, l3, pkt);

	if (parsed == IQCN_NOT_ROCE)
		iqcn_skb_cb(skb)->kind = IQCN_KIND_NOT_ROCE;
	return parsed;
}

static bool iqcn_is_cnp(enum iqcn_parsed parsed, const struct iqcn_pkt *pkt)
{
	return parsed == IQCN_ROCE && pkt->opcode == IQCN_OP_CNP;
}

/* Is a flow of the port unassured, so that packets are evidence for pairing? */
static bool iqcn_unassured(const struct iqcn_queue *q)
{
	return q->port && READ_ONCE(q->port->n_unassured);
}

/* May arriving and dropped packets cause CNPs? */
static bool iqcn_bts_enabled(const struct iqcn_queue *q)
{
	return iqcn_queue_notifies(q, IQCN_NOTIFY_BTS);
}

/* Are queued packets tracked, so that those that leave may cause CNPs? */
static bool iqcn_grants(const struct iqcn_queue *q)
{
	return unlikely(q->p.notify & IQCN_NOTIFY_GRANT);
}

/* Do methods need the flow of each ECT packet in a deep queue?  This is one
 * test of two bits, so that neither method costs anything when both are off
 * (bench "marked").
 */
static bool iqcn_notifies_all(const struct iqcn_queue *q)
{
	return unlikely(q->p.notify & (IQCN_NOTIFY_GRANT |
				       IQCN_NOTIFY_SUPPLEMENT));
}

/* Number of packets that the receiver gets from a GSO packet */
static u32 iqcn_segs(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->gso_segs ?: 1;
}

/* Get the flow of a packet from the table, or create it.  noinline, so that
 * only this path has a stack protector (bench "marked").
 */
static noinline struct iqcn_flow *iqcn_find_or_make(struct iqcn_queue *q,
						    const struct iqcn_pkt *pkt)
{
	struct iqcn_flow *flow;
	bool made = false;

	flow = iqcn_flow_get(q, pkt, &made);
	if (made)
		iqcn_cm_pair(q->port, flow);
	return flow;
}

/* Store the flow of a packet in its cb.  The lookup is not repeated, so that
 * st.flow_full counts a packet once.
 */
static __always_inline void iqcn_cb_get(struct iqcn_queue *q,
					struct sk_buff *skb,
					const struct iqcn_pkt *pkt)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);

	if (cb->psn_flags & IQCN_CB_LOOKUP_DONE)
		return;
	cb->flow = iqcn_flow_recent(q, pkt) ?: iqcn_find_or_make(q, pkt);
	cb->psn_flags |= IQCN_CB_LOOKUP_DONE;
}

/* If a packet may cause a CNP, store its flow in its cb.  Return: false if it
 * causes none, or has no flow.
 */
static bool iqcn_bts_flow(struct iqcn_queue *q, struct sk_buff *skb,
			  enum iqcn_parsed parsed, const struct iqcn_pkt *pkt)
{
	if (!iqcn_bts_enabled(q) || parsed != IQCN_ROCE ||
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
	/* dequeue may mark the packet and then needs the flow again */
	cb->psn_flags &= ~IQCN_CB_LOOKUP_DONE;
}

/* Run the notify methods for an arriving packet.  Return: true if it is to be
 * marked, see iqcn_bts_arrived().
 */
static bool iqcn_bts_check(struct iqcn_queue *q, struct sk_buff *skb,
			   enum iqcn_parsed parsed, const struct iqcn_pkt *pkt,
			   struct iqcn_lot *lot, u8 ecn)
{
	if (ecn == INET_ECN_NOT_ECT || !iqcn_bts_flow(q, skb, parsed, pkt))
		return false;
	return iqcn_bts_arrived(q, iqcn_skb_cb(skb)->flow, skb, iqcn_segs(skb),
				lot, ecn);
}

/* Run the notify methods for a packet that is dropped at the limit.  @waited:
 * it was queued before
 */
static void iqcn_bts_drop(struct iqcn_queue *q, struct sk_buff *skb,
			  enum iqcn_parsed parsed, const struct iqcn_pkt *pkt,
			  u8 ecn, bool waited)
{
	if (!iqcn_bts_may_notify(q->p.ce_in, ecn, true) ||
	    !iqcn_bts_flow(q, skb, parsed, pkt))
		return;
	iqcn_bts_dropped(q, iqcn_skb_cb(skb)->flow, skb, ecn == INET_ECN_CE,
			 waited);
	iqcn_cb_put(skb);
}

/* Run the methods of iqcn_notifies_all().  Return: true if the packet is
 * tracked, or has no flow; its cb is then complete.
 */
static noinline bool iqcn_cb_notify(struct iqcn_queue *q, struct sk_buff *skb,
				    const struct iqcn_pkt *pkt)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);

	iqcn_cb_get(q, skb, pkt);
	if (!cb->flow)
		return true;
	if ((q->p.notify & IQCN_NOTIFY_SUPPLEMENT) && !READ_ONCE(q->quiet) &&
	    (!(cb->psn_flags & IQCN_CB_CE_IN) ||
	     q->p.ce_in == IQCN_CE_IN_NOTIFY))
		iqcn_supplement_packet(q, cb->flow, (const void *)skb->data);
	if (!iqcn_grants(q))
		return false;
	cb->psn_flags |= IQCN_CB_TRACKED;
	WRITE_ONCE(q->tracked, q->tracked + 1);
	if (q->p.grant == IQCN_GRANT_EQUAL)
		iqcn_grant_arrives(q, cb->flow, (const void *)skb->data);
	return true;
}

/* Fill the cb of a packet that is CE, that dequeue may mark, or that the
 * methods of iqcn_notifies_all() need
 */
static __always_inline void iqcn_cb_fill(struct iqcn_queue *q,
					 struct sk_buff *skb,
					 enum iqcn_parsed parsed,
					 const struct iqcn_pkt *pkt,
					 enum iqcn_kind kind)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	u32 flags = 0, seq;

	if (unlikely(parsed != IQCN_ROCE || !iqcn_op_is_data(pkt->opcode) ||
		     !q->port)) {
		if (cb->kind != IQCN_KIND_NOT_ROCE)
			cb->kind = IQCN_KIND_OTHER;
		if (parsed == IQCN_MALFORMED)
			iqcn_inc(q->st.malformed);
		return;
	}
	cb->kind = kind;
	cb->segs = iqcn_segs(skb);
	if (iqcn_sample_pick(pkt->psn, cb->segs, pkt->dest_qp, q->p.sample,
			     &seq))
		flags = IQCN_CB_SAMPLED;
	if (iqcn_op_is_echoed(pkt->opcode))
		flags |= IQCN_CB_ECHO;
	cb->psn_flags = (cb->psn_flags &
			 (IQCN_CB_LOOKUP_DONE | IQCN_CB_CE_IN)) | flags |
			pkt->psn;
	if (iqcn_notifies_all(q) && iqcn_cb_notify(q, skb, pkt))
		return;
	/* pairing by PSN needs every packet of an unassured flow */
	if ((flags & IQCN_CB_SAMPLED) || (flags && iqcn_unassured(q)))
		iqcn_cb_get(q, skb, pkt);
	else
		iqcn_cb_put(skb);
}

/* Stop tracking a packet that leaves the queue or is removed from it, and whose
 * kind is DATA or CE
 */
static void iqcn_untrack(struct iqcn_queue *q, struct sk_buff *skb)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);

	if (!(cb->psn_flags & IQCN_CB_TRACKED))
		return;
	cb->psn_flags &= ~IQCN_CB_TRACKED;
	WRITE_ONCE(q->tracked, q->tracked - 1);
}

static int iqcn_enqueue_tail(struct sk_buff *skb, struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	int ret = qdisc_enqueue_tail(skb, sch);

	if (sch->qstats.backlog > q->st.depth_peak_bytes)
		WRITE_ONCE(q->st.depth_peak_bytes, sch->qstats.backlog);
	return ret;
}

/* The bytes that have left the queue */
static u64 iqcn_sent_bytes(const struct Qdisc *sch)
{
	return u64_stats_read(&sch->bstats.bytes);
}

static u32 iqcn_requeued_bytes(const struct sk_buff_head *list)
{
	const struct sk_buff *skb;
	u32 bytes = 0;

	skb_queue_walk(list, skb)
		bytes += qdisc_pkt_len(skb);
	return bytes;
}

/* The bytes that have arrived at the queue.  Requeued packets are in the
 * backlog, and have been counted as sent.
 */
static u64 iqcn_arrived_bytes(struct Qdisc *sch)
{
	const struct iqcn_queue *q = qdisc_priv(sch);

	return iqcn_sent_bytes(sch) + sch->qstats.backlog +
	       q->pfc.trimmed_bytes -
	       iqcn_requeued_bytes(&sch->gso_skb) -
	       iqcn_requeued_bytes(&sch->skb_bad_txq);
}

/* Is the transmit queue of the next packet stopped?  If the device has several
 * queues and one qdisc, the packet that waits for its queue has been requeued.
 */
static bool iqcn_stopped(const struct Qdisc *sch)
{
	const struct sk_buff *skb = skb_peek(&sch->gso_skb) ?:
				    skb_peek(&sch->skb_bad_txq);
	const struct netdev_queue *txq = sch->dev_queue;

	if (skb)
		txq = skb_get_tx_queue(qdisc_dev(sch), skb);
	return netif_xmit_frozen_or_stopped(txq);
}

/* Make a packet the sojourn probe.  noinline, because this is rare: keep it out
 * of iqcn_enqueue_slow().
 */
static noinline void iqcn_probe_begin(struct iqcn_queue *q,
				      const struct sk_buff *skb,
				      const struct Qdisc *sch)
{
	/* requeued packets are in the backlog, and have been counted as sent */
	if (skb_queue_empty(&sch->gso_skb) && skb_queue_empty(&sch->skb_bad_txq))
		iqcn_sojourn_begin(&q->sojourn, iqcn_sent_bytes(sch) +
				   sch->qstats.backlog + qdisc_pkt_len(skb),
				   ktime_get_ns());
}

/* Enqueue a packet.  If no sojourn probe is queued, a sampled packet becomes
 * the probe.
 */
static __always_inline int iqcn_enqueue_timed(struct sk_buff *skb,
					      struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);

	if ((iqcn_skb_cb(skb)->psn_flags & IQCN_CB_SAMPLED) &&
	    iqcn_sojourn_idle(&q->sojourn, iqcn_sent_bytes(sch)))
		iqcn_probe_begin(q, skb, sch);
	return iqcn_enqueue_tail(skb, sch);
}

/* Mark a packet CE.  Return: false if it cannot be marked, which is counted. */
static __always_inline bool iqcn_mark(struct sk_buff *skb, struct Qdisc *sch,
				      u32 l3_off, bool v6, u32 depth_bytes)
{
	struct iqcn_queue *q = qdisc_priv(sch);

	if (!iqcn_set_ce(skb, l3_off, v6)) {
		iqcn_inc(q->st.unmarkable);
		return false;
	}
	iqcn_inc(q->st.ecn_mark);
	iqcn_add(q->st.marked_bytes, qdisc_pkt_len(skb));
	qdisc_qstats_overlimit(sch);
	trace_iqcn_mark(qdisc_dev(sch), sch->parent, depth_bytes,
			qdisc_pkt_len(skb));
	return true;
}

/* Is the marking curve applied to this packet on dequeue?  With "nonect drop",
 * not-ECT packets are dropped on enqueue.
 */
static bool iqcn_marks_on_dequeue(const struct iqcn_queue *q,
				  struct iqcn_l3 l3)
{
	return q->p.mark_on == IQCN_MARK_ON_DEQUEUE &&
	       (l3.ecn != INET_ECN_NOT_ECT ||
		q->p.nonect == IQCN_NONECT_PASS);
}

/* Save the offset and version of the IP header for dequeue, and the random
 * number, so that the same probability leads to the same decision on enqueue
 * and on dequeue
 */
static void iqcn_cb_save(const struct iqcn_queue *q, struct sk_buff *skb,
			 struct iqcn_l3 l3, const struct iqcn_lot *lot)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);

	/* mark_on may change while the packet is queued, and dequeue relies on
	 * l3_off if the kind is DATA
	 */
	if (q->p.mark_on != IQCN_MARK_ON_DEQUEUE && cb->kind != IQCN_KIND_DATA)
		return;
	if (cb->kind == IQCN_KIND_NONE)
		cb->kind = IQCN_KIND_UNPARSED;
	cb->rnd = lot->rnd;
	/* fits in a u8 for DATA, because the device is Ethernet */
	cb->l3_off = l3.off;
	if (iqcn_is_v6(l3))
		cb->psn_flags |= IQCN_CB_V6;
}

/* Do the notify methods need a packet that arrives with CE?  With "ce-in
 * silent" it causes no CNP, but a running controller (fastpath_bytes is 0)
 * counts its flow as active.  In a quiet queue the controller stands still.
 */
static bool iqcn_bts_checks_ce(const struct iqcn_queue *q, u32 depth_bytes)
{
	u32 fastpath_bytes = READ_ONCE(q->fastpath_bytes);

	if (unlikely(READ_ONCE(q->quiet)))
		return false;
	return q->p.ce_in == IQCN_CE_IN_NOTIFY ? depth_bytes >= fastpath_bytes :
						 !fastpath_bytes;
}

/* Enqueue a packet that is not CE, in a queue that is quiet */
static noinline int iqcn_enqueue_quiet(struct sk_buff *skb, struct Qdisc *sch,
				       struct iqcn_l3 l3)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct iqcn_pkt pkt __uninitialized; /* valid if it parses */
	const struct iqcn_lot lot = {};
	enum iqcn_parsed parsed;

	if (iqcn_grants(q) && l3.ecn != INET_ECN_NOT_ECT) {
		parsed = iqcn_parse_queued(skb, l3, &pkt);
		if (iqcn_is_cnp(parsed, &pkt))
			return iqcn_enqueue_tail(skb, sch);
		iqcn_cb_fill(q, skb, parsed, &pkt, IQCN_KIND_DATA);
		iqcn_cb_save(q, skb, l3, &lot);
	}
	return iqcn_enqueue_tail(skb, sch);
}

/* Enqueue a packet that is CE, or that arrives at or above fastpath_bytes */
static noinline int iqcn_enqueue_slow(struct sk_buff *skb, struct Qdisc *sch,
				      struct iqcn_l3 l3,
				      struct sk_buff **to_free)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	u32 depth_bytes = sch->qstats.backlog;
	struct iqcn_lot *lot = &q->arrival.lot;
	struct iqcn_pkt *pkt = &q->arrival.pkt;
	bool mark, bts = false;
	enum iqcn_parsed parsed;

	lot->rnd = 0;
	if (l3.ecn == INET_ECN_CE) {
		iqcn_inc(q->st.ce_in);
		parsed = iqcn_parse_queued(skb, l3, pkt);
		if (iqcn_bts_checks_ce(q, depth_bytes))
			iqcn_bts_check(q, skb, parsed, pkt, lot, l3.ecn);
		iqcn_skb_cb(skb)->psn_flags |= IQCN_CB_CE_IN;
		iqcn_cb_fill(q, skb, parsed, pkt, IQCN_KIND_CE);
		return iqcn_enqueue_timed(skb, sch);
	}

	if (unlikely(READ_ONCE(q->quiet)))
		return iqcn_enqueue_quiet(skb, sch, l3);

	mark = iqcn_lot_decide(lot, iqcn_mark_prob(&q->p.mark, depth_bytes));
	if (!mark && !iqcn_bts_enabled(q) && !iqcn_unassured(q) &&
	    !iqcn_notifies_all(q)) {
		iqcn_cb_save(q, skb, l3, lot);
		return iqcn_enqueue_tail(skb, sch);
	}

	parsed = iqcn_parse_queued(skb, l3, pkt);
	if (iqcn_is_cnp(parsed, pkt))
		return iqcn_enqueue_tail(skb, sch);
	bts = iqcn_bts_check(q, skb, parsed, pkt, lot, l3.ecn);
	if (!bts && (!mark || iqcn_marks_on_dequeue(q, l3))) {
		/* if @mark is set, dequeue will probably mark the packet,
		 * because it reuses the random number
		 */
		if ((mark || iqcn_notifies_all(q)) && l3.ecn != INET_ECN_NOT_ECT)
			iqcn_cb_fill(q, skb, parsed, pkt, IQCN_KIND_DATA);
		else
			iqcn_cb_put(skb);
		/* dequeue records the PSNs of a packet that has a flow */
		if (!iqcn_skb_cb(skb)->flow && parsed == IQCN_ROCE &&
		    iqcn_unassured(q))
			iqcn_pair_note_psn(q, pkt, iqcn_segs(skb));
		iqcn_cb_save(q, skb, l3, lot);
		return iqcn_enqueue_timed(skb, sch);
	}

	if (l3.ecn == INET_ECN_NOT_ECT) {
		iqcn_inc(q->st.not_ect);
		if (q->p.nonect == IQCN_NONECT_PASS)
			return iqcn_enqueue_tail(skb, sch);
		iqcn_inc(q->st.not_ect_drop);
		iqcn_add(q->dropped_bytes, qdisc_pkt_len(skb));
		qdisc_drop(skb, sch, to_free);
		return NET_XMIT_CN;
	}

	if (iqcn_mark(skb, sch, l3.off, iqcn_is_v6(l3), depth_bytes)) {
		iqcn_add(q->st.bts_mark, bts);
		iqcn_cb_fill(q, skb, parsed, pkt, IQCN_KIND_CE);
	} else {
		iqcn_cb_put(skb);
	}
	return iqcn_enqueue_timed(skb, sch);
}

static __always_inline bool iqcn_fits(const struct sk_buff *skb,
				      struct Qdisc *sch, u32 reserve_bytes)
{
	const struct iqcn_queue *q = qdisc_priv(sch);
	u64 bytes = (u64)sch->qstats.backlog + qdisc_pkt_len(skb);

	/* the backlog is a u32: limit plus reserve must not exceed that */
	if (!reserve_bytes)
		return bytes <= q->p.limit_bytes;
	return bytes <= min_t(u64, (u64)q->p.limit_bytes + reserve_bytes,
			      U32_MAX);
}

/* Enqueue a packet beyond the limit if it is a CNP and fits into the reserve,
 * else drop it
 */
static noinline int iqcn_enqueue_full(struct sk_buff *skb, struct Qdisc *sch,
				      struct iqcn_l3 l3,
				      struct sk_buff **to_free)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	bool fits = iqcn_fits(skb, sch, IQCN_CNP_RESERVE_BYTES);
	enum iqcn_parsed parsed;
	struct iqcn_pkt pkt __uninitialized; /* valid if it parses */

	if (fits || iqcn_bts_enabled(q)) {
		parsed = iqcn_parse_skb(skb, l3, &pkt);
		if (fits && iqcn_is_cnp(parsed, &pkt))
			return iqcn_enqueue_tail(skb, sch);
		iqcn_bts_drop(q, skb, parsed, &pkt, l3.ecn, false);
	}
	iqcn_inc(q->st.drop_overlimit);
	iqcn_add(q->dropped_bytes, qdisc_pkt_len(skb));
	return qdisc_drop(skb, sch, to_free);
}

static void iqcn_cb_init(struct sk_buff *skb)
{
	iqcn_skb_cb(skb)->flow = NULL;
	iqcn_skb_cb(skb)->rnd = 0;
	iqcn_skb_cb(skb)->psn_flags = 0;
}

/* Enqueue a packet that does not fit, or a packet off the fast path that pfc.c
 * must handle
 */
static noinline int iqcn_enqueue_rare(struct sk_buff *skb, struct Qdisc *sch,
				      struct iqcn_l3 l3,
				      struct sk_buff **to_free)
{
	struct iqcn_queue *q = qdisc_priv(sch);

	iqcn_cb_init(skb);
	if (READ_ONCE(q->attends))
		iqcn_pfc_arrives(q, sch->qstats.backlog,
				 iqcn_arrived_bytes(sch), iqcn_stopped(sch));
	if (!iqcn_fits(skb, sch, 0))
		return iqcn_enqueue_full(skb, sch, l3, to_free);
	return iqcn_enqueue_slow(skb, sch, l3, to_free);
}

/* Enqueue a packet after the search for its IP header.  The fast path is for
 * packets that are not CE, fit, and find a short queue.
 */
static __always_inline int iqcn_enqueue_found(struct sk_buff *skb,
					      struct Qdisc *sch,
					      struct iqcn_l3 l3,
					      struct sk_buff **to_free)
{
	const struct iqcn_queue *q = qdisc_priv(sch);

	if (unlikely(!iqcn_fits(skb, sch, 0)))
		return iqcn_enqueue_rare(skb, sch, l3, to_free);
	if (likely(l3.ecn != INET_ECN_CE &&
		   sch->qstats.backlog < READ_ONCE(q->fastpath_bytes)))
		return qdisc_enqueue_tail(skb, sch);
	if (unlikely(READ_ONCE(q->attends)))
		return iqcn_enqueue_rare(skb, sch, l3, to_free);
	iqcn_cb_init(skb);
	return iqcn_enqueue_slow(skb, sch, l3, to_free);
}

/* Enqueue a packet that has a VLAN tag in its data, whose device is not
 * Ethernet, or whose linear part ends before the ECN bits
 */
static noinline int iqcn_enqueue_other(struct sk_buff *skb, struct Qdisc *sch,
				       struct sk_buff **to_free)
{
	return iqcn_enqueue_found(skb, sch, iqcn_get_ecn(skb), to_free);
}

/* Nearly all packets are Ethernet frames without a VLAN tag in the packet, and
 * not CE.  The fast path reads their ECN bits and the backlog, and needs no
 * stack frame (bench "uncongested").
 */
static int iqcn_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	const u8 *data = skb->data;
	struct iqcn_l3 l3;

	iqcn_skb_cb(skb)->kind = IQCN_KIND_NONE;
	if (unlikely(skb->dev->type != ARPHRD_ETHER ||
		     skb_headlen(skb) < ETH_HLEN + 2))
		return iqcn_enqueue_other(skb, sch, to_free);
	l3.off = ETH_HLEN;
	l3.proto = ((const struct ethhdr *)data)->h_proto;
	l3.ecn = iqcn_ecn_bits(l3.proto, data + ETH_HLEN);
	if (unlikely(eth_type_vlan(l3.proto)))
		return iqcn_enqueue_other(skb, sch, to_free);
	return iqcn_enqueue_found(skb, sch, l3, to_free);
}

/* Measure the drain rate of a backlogged queue: its share of the link, or what
 * a tbf or htb parent lets through.  This rate is used until a window of CE
 * packets closes, and when there are no CE packets.
 */
static void iqcn_measure_drain(struct iqcn_queue *q, u32 bytes, u64 now_ns)
{
	q->drained_bytes += bytes;
	/* with q->brief, read the clock for the first packet of a backlog, and
	 * then once per chunk
	 */
	if (!now_ns) {
		if (READ_ONCE(q->brief) && q->drain.start_ns &&
		    q->drained_bytes < iqcn_chunk_bytes(q))
			return;
		now_ns = ktime_get_ns();
		q->clock_ns = now_ns;
	}
	if (iqcn_meter_add(&q->drain, q->p.window_ns, now_ns, q->drained_bytes))
		iqcn_queue_drains(q, q->drain.rate_bps, now_ns);
	q->drained_bytes = 0;
}

/* Optional work for a sampled CE packet that leaves: record its source port
 * before the detectors may cause a CNP, and copy the packet to psample.  Both
 * share a flag, so that they cost nothing while both are off (bench "marked").
 */
static noinline void iqcn_ce_extra(struct iqcn_queue *q, struct sk_buff *skb)
{
	struct iqcn_flow *flow = iqcn_skb_cb(skb)->flow;

	if (flow && q->p.cnp_sport == IQCN_CNP_SPORT_ECHO)
		iqcn_pair_note_sport(q->port, flow, iqcn_skb_sport(skb));
	if (q->sampler && !iqcn_psample_copy(q->sampler, skb, q->p.sample,
					     *q->depth_bytes))
		iqcn_inc(q->st.sample_lost);
}

/* Handle a sampled CE packet that leaves.  Return: now in ns. */
static u64 iqcn_ce_sampled(struct iqcn_queue *q, struct sk_buff *skb)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	u64 now_ns;

	if (unlikely(q->ce_extra))
		iqcn_ce_extra(q, skb);
	now_ns = iqcn_queue_ce_sent(q, cb->flow, skb, qdisc_pkt_len(skb),
				    cb->psn_flags & IQCN_PSN_MASK, cb->segs,
				    cb->psn_flags & IQCN_CB_ECHO);
	if (iqcn_sojourn_is_probe(&q->sojourn, u64_stats_read(&q->sent->bytes)))
		iqcn_queue_delayed(q, now_ns - q->sojourn.start_ns);
	return now_ns;
}

/* May iqcn_flow_ce_brief() suffice for a sampled CE packet? */
static __always_inline bool
iqcn_ce_may_be_brief(const struct iqcn_queue *q, const struct sk_buff *skb)
{
	return READ_ONCE(q->brief) &&
	       !(iqcn_skb_cb(skb)->psn_flags & IQCN_CB_CE_IN) &&
	       !unlikely(q->ce_extra || READ_ONCE(q->quiet) ||
			 READ_ONCE(q->backoff.until_ns) ||
			 trace_iqcn_ce_sent_enabled()) &&
	       !iqcn_sojourn_is_probe(&q->sojourn,
				      u64_stats_read(&q->sent->bytes));
}

/* Dequeue RoCEv2 data with CE.  Return: now in ns, 0 if the clock was not read.
 */
static __always_inline u64 iqcn_ce_dequeued(struct iqcn_queue *q,
					    struct sk_buff *skb)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	u64 now_ns = 0;

	if (!(cb->psn_flags & IQCN_CB_SAMPLED)) {
		/* the CE meter leaves out the quiet time */
		if (!READ_ONCE(q->quiet))
			q->skipped_bytes += qdisc_pkt_len(skb);
		iqcn_add(q->skipped, cb->segs);
		if (cb->flow)
			iqcn_queue_ce_skipped(q, cb->flow, skb,
					      cb->psn_flags & IQCN_PSN_MASK,
					      cb->segs);
	} else if (!iqcn_ce_may_be_brief(q, skb) ||
		   !iqcn_flow_ce_brief(q, cb->flow, qdisc_pkt_len(skb),
				       cb->psn_flags & IQCN_PSN_MASK, cb->segs)) {
		now_ns = iqcn_ce_sampled(q, skb);
	}
	if (cb->flow)
		iqcn_flow_put(cb->flow);
	return now_ns;
}

/* On dequeue, mark a packet that enqueue did not classify as RoCEv2 data */
static noinline void iqcn_mark_unparsed(struct iqcn_queue *q, struct Qdisc *sch,
					struct sk_buff *skb, u32 depth_bytes)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	struct iqcn_pkt pkt __uninitialized; /* valid if it parses */
	enum iqcn_parsed parsed = IQCN_NOT_ROCE;
	struct iqcn_l3 l3 = iqcn_get_ecn(skb);

	if (l3.ecn == INET_ECN_CE)
		return;
	if (cb->kind == IQCN_KIND_NONE) {
		cb->flow = NULL;
		cb->psn_flags = 0;
	}
	if (cb->kind == IQCN_KIND_NONE || cb->kind == IQCN_KIND_UNPARSED) {
		parsed = iqcn_parse_queued(skb, l3, &pkt);
		if (iqcn_is_cnp(parsed, &pkt))
			return;
	}
	if (l3.ecn == INET_ECN_NOT_ECT)
		iqcn_inc(q->st.not_ect);
	else if (iqcn_mark(skb, sch, l3.off, iqcn_is_v6(l3), depth_bytes))
		iqcn_cb_fill(q, skb, parsed, &pkt, IQCN_KIND_CE);
}

/* Apply the marking curve on dequeue.  Enqueue has parsed the packet if the
 * curve would have marked it at the depth of that time.
 */
static __always_inline void iqcn_mark_dequeued(struct iqcn_queue *q,
					       struct Qdisc *sch,
					       struct sk_buff *skb)
{
	u32 depth_bytes = sch->qstats.backlog;
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	struct iqcn_lot lot = {};

	if (cb->kind != IQCN_KIND_NONE)
		lot.rnd = cb->rnd;
	if (!iqcn_lot_decide(&lot, iqcn_mark_prob(&q->p.mark, depth_bytes)))
		return;
	if (cb->kind != IQCN_KIND_DATA) {
		iqcn_mark_unparsed(q, sch, skb, depth_bytes);
		return;
	}
	if (iqcn_mark(skb, sch, cb->l3_off, cb->psn_flags & IQCN_CB_V6,
		      depth_bytes))
		cb->kind = IQCN_KIND_CE;
}

/* Dequeue RoCEv2 data that is not CE */
static noinline void iqcn_unmarked_dequeued(struct iqcn_queue *q,
					    struct sk_buff *skb)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);

	/* the receiver acknowledges the last packet of a message, which may
	 * leave an empty queue behind and so not be marked
	 */
	if (cb->flow && (cb->psn_flags & IQCN_CB_ECHO) && iqcn_unassured(q))
		iqcn_queue_ce_skipped(q, cb->flow, skb,
				      cb->psn_flags & IQCN_PSN_MASK,
				      cb->segs);
	iqcn_cb_put(skb);
}

/* Dequeue a tracked packet */
static noinline void iqcn_tracked_dequeued(struct iqcn_queue *q,
					   struct sk_buff *skb)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	bool was_ce = cb->psn_flags & IQCN_CB_CE_IN;

	/* another box may have notified the sender of a packet that arrived
	 * with CE
	 */
	if (iqcn_grants(q) && iqcn_depth_bytes(q) > q->p.pfc.threshold_bytes &&
	    (!was_ce || q->p.ce_in == IQCN_CE_IN_NOTIFY))
		iqcn_grant_leaves(q, cb->flow, skb, was_ce);
	iqcn_untrack(q, skb);
}

/* Dequeue RoCEv2 data.  Return: now in ns, 0 if the clock was not read. */
static __always_inline u64 iqcn_data_dequeued(struct iqcn_queue *q,
					      struct sk_buff *skb)
{
	if (unlikely(iqcn_skb_cb(skb)->psn_flags & IQCN_CB_TRACKED))
		iqcn_tracked_dequeued(q, skb);
	if (iqcn_skb_cb(skb)->kind == IQCN_KIND_CE)
		return iqcn_ce_dequeued(q, skb);
	iqcn_unmarked_dequeued(q, skb);
	return 0;
}

/* Notify the sender of a packet that leaves, if it is RoCEv2 data of an ECT
 * flow
 */
static void iqcn_notify_dequeued(struct iqcn_queue *q, struct sk_buff *skb)
{
	struct iqcn_skb_cb *cb = iqcn_skb_cb(skb);
	struct iqcn_pkt pkt __uninitialized; /* valid if it parses */
	struct iqcn_l3 l3 = iqcn_get_ecn(skb);
	bool was_ce = cb->kind == IQCN_KIND_CE &&
		      (cb->psn_flags & IQCN_CB_CE_IN);

	/* for ce-in, test was_ce instead of l3.ecn, because this queue may have
	 * marked the packet itself
	 */
	if (l3.ecn == INET_ECN_NOT_ECT ||
	    (was_ce && q->p.ce_in != IQCN_CE_IN_NOTIFY) ||
	    iqcn_parse_skb(skb, l3, &pkt) != IQCN_ROCE ||
	    !iqcn_op_is_data(pkt.opcode))
		return;
	/* the fast path sets neither flow nor psn_flags */
	if (cb->kind == IQCN_KIND_NONE) {
		cb->flow = NULL;
		cb->psn_flags = 0;
	}
	iqcn_cb_get(q, skb, &pkt);
	if (cb->flow)
		iqcn_pfc_notify(q, cb->flow, skb, was_ce);
	if (cb->kind < IQCN_KIND_DATA)
		iqcn_cb_put(skb);
}

/* Let pfc.c handle a packet that leaves.  Return: the depth above which packets
 * are marked and measured.
 */
static noinline u32 iqcn_attend(struct iqcn_queue *q, struct Qdisc *sch,
				struct sk_buff *skb)
{
	if (iqcn_pfc_leaves(q, sch->qstats.backlog, qdisc_pkt_len(skb),
			    iqcn_arrived_bytes(sch)))
		iqcn_notify_dequeued(q, skb);
	return iqcn_pfc_deep_bytes(q);
}

/* Handle the end of a backlog: called for the first packet that leaves after
 * that
 */
static noinline void iqcn_drained(struct iqcn_queue *q)
{
	iqcn_queue_drain_stops(q);
	if (READ_ONCE(q->supplement.on))
		iqcn_supplement_end(q);
}

/* Handle a packet that leaves a queue that is not backlogged */
static noinline struct sk_buff *iqcn_leaves_shallow(struct iqcn_queue *q,
						    struct sk_buff *skb)
{
	if (q->drain.start_ns)
		iqcn_drained(q);
	if (iqcn_skb_cb(skb)->kind >= IQCN_KIND_DATA)
		iqcn_data_dequeued(q, skb);
	return skb;
}

/* Handle a packet that leaves a queue that is deeper than deep_bytes, with the
 * packet included.  The code that most of these packets need is inline.
 * Otherwise a third of the instructions would be calls and saves of registers
 * (bench "marked").
 */
static noinline struct sk_buff *iqcn_leaves_deep(struct Qdisc *sch,
						 struct sk_buff *skb,
						 u32 depth_bytes)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	u64 now_ns = 0;

	if (unlikely(READ_ONCE(q->attends)) &&
	    depth_bytes <= iqcn_attend(q, sch, skb))
		return iqcn_leaves_shallow(q, skb);
	/* A queue whose only packet is larger than Kmin is not backlogged,
	 * because the next packet may arrive much later.
	 */
	if (!sch->qstats.backlog)
		return iqcn_leaves_shallow(q, skb);
	/* before iqcn_data_dequeued(), which may end the window of q->outflow
	 */
	q->outflow.bytes += qdisc_pkt_len(skb);
	if (q->p.mark_on == IQCN_MARK_ON_DEQUEUE &&
	    iqcn_skb_cb(skb)->kind != IQCN_KIND_CE &&
	    sch->qstats.backlog > q->p.mark.kmin_bytes)
		iqcn_mark_dequeued(q, sch, skb);
	if (iqcn_skb_cb(skb)->kind != IQCN_KIND_NOT_ROCE)
		q->roce_outflow.bytes += qdisc_pkt_len(skb);
	if (iqcn_skb_cb(skb)->kind >= IQCN_KIND_DATA)
		now_ns = iqcn_data_dequeued(q, skb);
	iqcn_measure_drain(q, qdisc_pkt_len(skb), now_ns);
	return skb;
}

/* The fast path needs no stack frame and reads no clock.  Most other packets
 * read the clock at most once.
 */
static struct sk_buff *iqcn_dequeue(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	u32 depth_bytes = sch->qstats.backlog;
	struct sk_buff *skb = qdisc_dequeue_head(sch);

	if (unlikely(!skb))
		return NULL;
	if (unlikely(depth_bytes > READ_ONCE(q->deep_bytes)))
		return iqcn_leaves_deep(sch, skb, depth_bytes);
	if (unlikely(q->drain.start_ns ||
		     iqcn_skb_cb(skb)->kind >= IQCN_KIND_DATA))
		return iqcn_leaves_shallow(q, skb);
	return skb;
}

/* Remove the head without sending it.  Its cb->flow is a reference, or NULL. */
static struct sk_buff *iqcn_remove_head(struct Qdisc *sch)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

	if (skb && iqcn_skb_cb(skb)->kind < IQCN_KIND_DATA)
		iqcn_skb_cb(skb)->flow = NULL;
	else if (skb)
		iqcn_untrack(qdisc_priv(sch), skb);
	return skb;
}

static void iqcn_reset(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while ((skb = iqcn_remove_head(sch))) {
		iqcn_cb_put(skb);
		rtnl_kfree_skbs(skb, skb);
	}
	WRITE_ONCE(sch->qstats.backlog, 0);
	iqcn_queue_reset(q);
	q->resets = min(q->resets + 1, 2);
}

/* Treat a packet beyond a lowered limit like one dropped on enqueue */
static void iqcn_trim_one(struct iqcn_queue *q, struct sk_buff *skb)
{
	struct iqcn_pkt pkt __uninitialized; /* valid if it parses */
	enum iqcn_parsed parsed;
	struct iqcn_l3 l3;

	if (iqcn_bts_enabled(q)) {
		/* the fast path does not set psn_flags, but the flow of its
		 * packets is NULL since iqcn_remove_head()
		 */
		iqcn_skb_cb(skb)->psn_flags = iqcn_skb_cb(skb)->flow ?
					      IQCN_CB_LOOKUP_DONE : 0;
		l3 = iqcn_get_ecn(skb);
		parsed = iqcn_parse_skb(skb, l3, &pkt);
		iqcn_bts_drop(q, skb, parsed, &pkt, l3.ecn, true);
	}
	iqcn_cb_put(skb);
}

static void iqcn_trim(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	unsigned int pkts = 0, bytes = 0;
	struct sk_buff *skb;

	if (sch->qstats.backlog > q->p.limit_bytes)
		iqcn_sojourn_cancel(&q->sojourn);
	while (sch->qstats.backlog > q->p.limit_bytes &&
	       (skb = iqcn_remove_head(sch))) {
		pkts++;
		bytes += qdisc_pkt_len(skb);
		qdisc_qstats_backlog_dec(sch, skb);
		iqcn_inc(q->st.drop_overlimit);
		iqcn_trim_one(q, skb);
		rtnl_qdisc_drop(skb, sch);
	}
	iqcn_add(q->pfc.trimmed_bytes, bytes);
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
	q->ce_extra = sampler || p->cnp_sport == IQCN_CNP_SPORT_ECHO;
	iqcn_queue_set_params(q, p);
	iqcn_trim(sch);
	sch_tree_unlock(sch);
	if (q->port)
		iqcn_gc_forget(q, IQCN_FORGET_SURPLUS);
}

/* Get the sampler for new parameters.  Return: the sampler, NULL if no samples
 * are copied, or an error.
 */
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
		NL_SET_ERR_MSG(extack,
			       "group is for Ethernet devices: leave it out on this one");
		return ERR_PTR(-EINVAL);
	}
	s = iqcn_psample_new(q->port->net, p->sample_group);
	if (PTR_ERR_OR_ZERO(s) == -EOPNOTSUPP)
		NL_SET_ERR_MSG(extack,
			       "group needs the psample module: run modprobe psample (CONFIG_PSAMPLE)");
	return s;
}

/* Store the rate at which the queue can send, or the default if it is unknown
 */
static void iqcn_set_link(struct iqcn_queue *q, const struct iqcn_link *link)
{
	WRITE_ONCE(q->speed_bps, link->speed_bps);
	WRITE_ONCE(q->link_bps, link->bps ?:
				(u64)IQCN_DEFAULT_MBPS * 1000000);
}

static int iqcn_change(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct iqcn_queue *q = qdisc_priv(sch);
	struct iqcn_sampler *new, *old = q->sampler;
	struct net_device *dev = qdisc_dev(sch);
	struct iqcn_link link;
	struct iqcn_config c;
	int err;

	/* the parent qdisc, and so this one, may outlive its device */
	if (q->dead) {
		NL_SET_ERR_MSG(extack,
			       "The device was removed or has moved to another namespace: delete this qdisc and add a new one");
		return -ENODEV;
	}
	iqcn_config_init(&c, q->port);
	/* limit_bytes is 0 until init has set all parameters */
	if (q->p.limit_bytes)
		c.p = q->p;
	err = iqcn_link_get(sch, iqcn_link_speed_bps(dev), &link);
	if (err)
		return err;
	err = iqcn_config_parse(&c, q, dev, link.bps, opt, extack);
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
	iqcn_set_link(q, &link);
	iqcn_commit(sch, &c.p, new);
	if (q->port)
		iqcn_port_update(q->port);
	if (old != new)
		iqcn_psample_free(old);
	iqcn_config_warn(&c.p, dev, &link, extack);
	return 0;

err_sampler:
	if (new != old)
		iqcn_psample_free(new);
	return err;
}

/* Recompute the default parameters after a change of the link or the MTU.  If
 * they conflict with parameters that the user set, all parameters are kept.
 */
static void iqcn_link_change(struct iqcn_queue *q, u64 speed_bps)
{
	struct Qdisc *sch = iqcn_qdisc(q);
	struct iqcn_params p = q->p;
	struct iqcn_link link;

	/* on -ENOMEM, the previous rate remains */
	if (!iqcn_link_get(sch, speed_bps, &link))
		iqcn_set_link(q, &link);
	iqcn_config_resolve(&p, qdisc_dev(sch), q->link_bps);
	if (iqcn_params_check(&p) != IQCN_PARAMS_OK) {
		netdev_warn_once(qdisc_dev(sch),
				 "iqcn: defaults for the new MTU or speed conflict with parameters set by tc: keeping all, check kmin, kmax, qref and limit\n");
		p = q->p;
	}
	iqcn_commit(sch, &p, q->sampler);
}

/* Drop the packets of a queue whose qdisc is no longer in use */
static void iqcn_reset_unused(struct iqcn_queue *q)
{
	struct Qdisc *sch = iqcn_qdisc(q);

	sch_tree_lock(sch);
	qdisc_reset(sch);
	sch_tree_unlock(sch);
}

/* Detach a dead and empty queue from a device that is unregistered, or moves to
 * another namespace.  The qdisc stays, without a port, until its last reference
 * is dropped.  It is unhashed, so that no request can graft it again.
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
	.speed_bps = iqcn_link_speed_bps,
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

	/* on other devices the queue marks and counts, but sends no CNPs */
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

/* May ->destroy restore the port's parameters?  Only if nothing in the
 * namespace was configured since init, and the stack failed after init:
 *
 * - After an error in a size table or an estimator, the first reference has not
 *   been dropped.
 * - A qdisc that could not be grafted to a class has been reset once, right
 *   before ->destroy.  A qdisc that is removed from a class is reset twice: on
 *   removal and before ->destroy.  mq and its like skip the first reset, but
 *   set TCQ_F_NOPARENT.  A few others skip it, too (cbs in 6.1), so a queue
 *   that has handled packets never restores.
 */
static bool iqcn_can_undo(struct Qdisc *sch)
{
	const struct iqcn_queue *q = qdisc_priv(sch);

	if (q->undo_seq != iqcn_net(q->port->net)->config_seq)
		return false;
	if (refcount_read(&sch->refcnt))
		return true;
	return sch->parent != TC_H_ROOT && !(sch->flags & TCQ_F_NOPARENT) &&
	       q->resets < 2 && !u64_stats_read(&sch->bstats.packets) &&
	       !sch->qstats.drops;
}

/* Restore the parameters that the port had before init */
static void iqcn_undo(struct iqcn_queue *q)
{
	if (!iqcn_port_set(q->port, &q->before, NULL))
		return;
	/* the hooks could not be registered; restore the other parameters */
	q->before.snoop = q->port->snoop;
	iqcn_port_set(q->port, &q->before, NULL);
	netdev_warn(q->port->dev,
		    "iqcn: cannot restore snoop netns after a qdisc was not added: set it again with tc qdisc change\n");
}

/* Also runs after a failed init */
static void iqcn_destroy(struct Qdisc *sch)
{
	struct iqcn_queue *q = qdisc_priv(sch);

	if (q->port) {
		if (iqcn_can_undo(sch))
			iqcn_undo(q);
		iqcn_port_detach(q);
		/* If the stack fails after init, the first reference has not
		 * been dropped yet, and older kernels then free the qdisc
		 * without a grace period.  So wait here for readers of
		 * port->queues.
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
	/* last, because queues may be created from now on */
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
	/* waits for RCU callbacks and for ports that are being freed */
	iqcn_net_module_exit();
	iqcn_debugfs_module_exit();
	iqcn_flow_module_exit();
}

module_init(iqcn_module_init);
module_exit(iqcn_module_exit);

MODULE_DESCRIPTION("Intelligent congestion point for DCQCN (RoCEv2)");
MODULE_LICENSE("GPL");
/* keep equal to the version of the plugin and of the tool */
MODULE_VERSION("0.1");
/* recent kernels request this alias, older ones (6.1) sch_iqcn by name */
MODULE_ALIAS("net-sch-iqcn");
