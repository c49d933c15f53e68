// SPDX-License-Identifier: GPL-2.0
/*
 * notify grant: tell a sender how much it may have in flight.
 *
 *	RoCEv2 packet of an ECT flow leaves, and the queue is
 *	not quiet and deeper than the threshold (algo/pfc.h)
 *	      |
 *	      |-- the packet arrived with CE, and ce-in silent --> nothing
 *	      |-- less than min-gap after the flow's last CNP --> nothing
 *	      v
 *	 the gate (cnp.c)  -- no --> counted
 *	      | yes
 *	      v
 *	 CNP with the flow's window (algo/grant.h)
 *
 * By default a window is in proportion to the flow's queued packets.  So
 * packets that arrive at a depth of at least a quarter of the threshold are
 * tracked: each holds a reference to its flow.  The number of references is the
 * flow's part, and q->tracked is the total.  Packets without CE that arrive
 * below that depth take the fast path and are not counted, unless another
 * method needs them.
 *
 * Without "pfc", a queue is never quiet.
 */
#include "algo/grant.h"
#include "iqcn.h"

static u32 iqcn_grant_window(struct iqcn_queue *q, const struct iqcn_flow *flow,
			     u64 now_ns)
{
	u64 rate_bps = q->p.bandwidth_bps ?: READ_ONCE(q->link_bps);

	if (q->p.grant == IQCN_GRANT_SHARE)
		return iqcn_grant_bytes(rate_bps, q->p.base_rtt_ns,
					iqcn_flow_queued(flow), q->tracked);
	iqcn_active_run(&q->active, now_ns);
	return iqcn_grant_bytes(rate_bps, q->p.base_rtt_ns, 1,
				iqcn_active_flows(&q->active));
}

/**
 * iqcn_grant_arrives() - handle a tracked packet that arrives
 * @q: queue, with IQCN_GRANT_EQUAL
 * @flow: flow of the packet
 * @eth: the packet's Ethernet header
 *
 * Counts the flow as active, so that all flows of a burst are counted before
 * the first packet leaves.
 *
 * Context: root lock, BHs off.
 */
void iqcn_grant_arrives(struct iqcn_queue *q, struct iqcn_flow *flow,
			const struct ethhdr *eth)
{
	spin_lock(&q->lock);
	if (iqcn_flow_of(flow, q))
		iqcn_bts_note_packet(q, flow, eth, ktime_get_ns());
	spin_unlock(&q->lock);
}

/**
 * iqcn_grant_leaves() - handle a tracked packet that leaves
 * @q: queue
 * @flow: flow of the packet
 * @skb: packet
 * @was_ce: the packet arrived with CE
 *
 * Context: dequeue: root lock, BHs off; before iqcn_untrack(), because the
 * window counts the packet.
 */
void iqcn_grant_leaves(struct iqcn_queue *q, struct iqcn_flow *flow,
		       const struct sk_buff *skb, bool was_ce)
{
	u64 now_ns;

	iqcn_flow_leaves(flow, q);
	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	if (q->quiet || !iqcn_flow_of(flow, q)) {
		spin_unlock(&q->lock);
		return;
	}
	iqcn_bts_note_packet(q, flow, (const void *)skb->data, now_ns);
	/* the flow is in use, even if no other method records its packets */
	if (!(q->p.notify & IQCN_NOTIFY_BTS))
		WRITE_ONCE(flow->arrived_ns, now_ns);
	if (!iqcn_flow_too_soon(q, flow, now_ns)) {
		if (iqcn_pending_now(q, flow, now_ns, IQCN_CAUSE_GRANT, was_ce,
				     skb))
			flow->ext->cnp_window_bytes =
				iqcn_grant_window(q, flow, now_ns);
		iqcn_timer_arm(q, now_ns);
	}
	spin_unlock(&q->lock);
}
