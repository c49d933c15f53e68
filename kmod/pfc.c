// SPDX-License-Identifier: GPL-2.0
/*
 * Queues whose port PFC pauses: a queue that is deep because of a pause must
 * neither mark packets nor notify senders.  algo/pfc.h has the states and their
 * source.
 *
 *	MAC control frame, at the      end of its   a packet arrives, the device
 *	ingress hook (snoop.c)         quanta       is stopped, and nothing has
 *	      |                          | timer    left for a while (pfc txq)
 *	      +--------------------+-----+-------------------+
 *	                           v
 *	                 the pause begins or ends
 *	                           |   the next packet that arrives or leaves
 *	                           v   (qdisc.c; the root lock is held)
 *	                count what arrived, judge
 *	                           |
 *	                           v
 *	        quiet: no marks, CNPs only for drops; methods are suspended
 *	        (@rests of struct iqcn_timer_ops)
 *
 * The ingress hook runs without the root lock, and must not take it: a packet
 * may pass the hook inside another qdisc's enqueue (act_mirred).  Without that
 * lock, the number of bytes that have arrived is not exact.  So the bytes are
 * counted when the next packet arrives or leaves, which is early enough: no
 * byte can arrive in between.
 * Only a queue that is below the threshold when the pause ends is judged at
 * once, as clear: this verdict needs no count, and if the queue is empty, the
 * next packet may never arrive.
 *
 * The state costs the fast path nothing, because it is encoded in two fields
 * that every packet reads anyway.  In the quiet state, fastpath_bytes exceeds
 * any depth, unless "notify grant" or "pfc txq" must handle packets that
 * arrive.  deep_bytes also exceeds any depth, or is 0 if pfc.c must handle
 * packets that leave.  While a pause is to be counted or judged, both are 0, so
 * that the next packet goes to iqcn_pfc_arrives() or iqcn_pfc_leaves().
 *
 * With "pfc txq", pfc.c also handles every packet that leaves, and, while the
 * port is not paused, every packet that arrives at the threshold or above.  A
 * full ring or BQL stops the transmit queue, too.  So a stop counts as a pause
 * only if nothing has left for longer than two batches of 64 KB take at the
 * rate of the queue.  A pause in which no packet arrives is not noticed.
 *
 * While a queue is quiet, CE packets that leave are counted, but do not start
 * T1.  The CE meter and the controller leave out that time.  T1 of a flow
 * restarts when that time ends.  But a neighbor that pauses the port again and
 * again cannot keep T1 from expiring: if quiet times follow each other within
 * pfc-max, only those that end in the first pfc-max of the series restart T1.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>

#include "algo/bts.h"
#include "iqcn.h"
#include "trace.h"

/* Bytes that a device may send before it wakes a stopped transmit queue: two
 * batches of 64 KB
 */
#define IQCN_TXQ_BATCH_BYTES	(2 * 65536)

/* C: what the queue could send if the port were not paused, in bit/s */
static u64 iqcn_pfc_rate_bps(const struct iqcn_queue *q)
{
	return q->p.bandwidth_bps ?: READ_ONCE(q->link_bps);
}

/* Enter or leave the quiet state.  The meters leave out the time in between. */
static void iqcn_pfc_set_quiet(struct iqcn_queue *q, bool quiet, u64 now_ns)
{
	struct iqcn_pfc_queue *x = &q->pfc;
	u64 ns = now_ns - x->quiet_from_ns;

	WRITE_ONCE(q->quiet, quiet);
	/* the timer may be armed for work that is suspended now, or too late
	 * for work that was suspended
	 */
	iqcn_timer_disarm(q);
	if (quiet) {
		iqcn_supplement_off(q, now_ns);
		if (now_ns - x->quiet_to_ns >= q->p.pfc.max_ns)
			x->rest_from_ns = now_ns;
		x->quiet_from_ns = now_ns;
		x->stale = true;
		return;
	}
	x->quiet_to_ns = now_ns;
	if (now_ns - x->rest_from_ns <= q->p.pfc.max_ns)
		x->rest_to_ns = now_ns;
	if (q->ce.start_ns)
		q->ce.start_ns += ns;
	memset(&q->gradient, 0, sizeof(q->gradient));
	iqcn_pi_skip(&q->pi, ns, iqcn_depth_bytes(q), now_ns);
}

static void iqcn_pfc_report(struct iqcn_queue *q, enum iqcn_pfc_reason reason,
			    u64 rx_bytes, u64 paused_ns, u64 now_ns)
{
	enum iqcn_pfc_state state = iqcn_pfc_state(q);

	q->pfc.reason = reason;
	/* After iqcn_port_orphan() the queue has no port.  If a frame paused
	 * the queue between the reset and the kill in that function, a later
	 * reset ends the pause.
	 */
	if (!q->port)
		return;
	trace_iqcn_pfc(q, state, reason, rx_bytes, paused_ns);
	/* two events per pause would be too many: its start is only traced */
	if (reason != IQCN_PFC_REASON_PAUSE)
		iqcn_event_pfc(q, state, reason, now_ns);
}

/* Set the fields that enqueue and dequeue read.  Call after any change of the
 * state.
 */
static void iqcn_pfc_update(struct iqcn_queue *q, u64 now_ns)
{
	struct iqcn_pfc_queue *x = &q->pfc;
	bool quiet = iqcn_pfc_quiet(&x->state, &q->p.pfc, now_ns);
	bool attends;

	lockdep_assert_held(&q->lock);

	if (quiet != q->quiet) {
		iqcn_pfc_set_quiet(q, quiet, now_ns);
		if (!quiet && (x->state.paused || x->state.undetermined)) {
			iqcn_inc(q->st.pfc_limit);
			iqcn_pfc_report(q, IQCN_PFC_REASON_LIMIT, 0, 0, now_ns);
		}
	}
	attends = x->count || x->judge || x->add_rx || x->notify ||
		  x->state.undetermined || x->state.since_ns ||
		  (x->stale && !quiet) || q->p.pfc_source == IQCN_PFC_TXQ;
	WRITE_ONCE(q->attends, attends);
	WRITE_ONCE(q->deep_bytes, attends ? 0 : iqcn_pfc_deep_bytes(q));
	iqcn_bts_set_fastpath(q);
	iqcn_timer_set(q, now_ns);
}

/* Act on a verdict about the queue.  If the end of a pause led to the verdict,
 * the pause lasted @paused_ns, and @rx_bytes arrived during the pause.
 * @rx_bytes is 0 if these bytes are counted later.
 */
static void iqcn_pfc_judged(struct iqcn_queue *q, enum iqcn_pfc_reason reason,
			    bool was_undetermined, u64 rx_bytes, u64 paused_ns,
			    u64 now_ns)
{
	struct iqcn_pfc_queue *x = &q->pfc;

	switch (reason) {
	case IQCN_PFC_REASON_CLEAR:
		iqcn_inc(q->st.pfc_clear);
		break;
	case IQCN_PFC_REASON_RATE:
		iqcn_inc(q->st.pfc_rate);
		break;
	case IQCN_PFC_REASON_UNSURE:
		iqcn_inc(q->st.pfc_unsure);
		break;
	case IQCN_PFC_REASON_GREW:
		iqcn_inc(q->st.pfc_grew);
		break;
	case IQCN_PFC_REASON_DRAINED:
		iqcn_inc(q->st.pfc_drained);
		break;
	default:
		return;
	}
	x->notify = q->port && q->p.notify &&
		    (reason == IQCN_PFC_REASON_RATE ||
		     reason == IQCN_PFC_REASON_GREW);
	if (was_undetermined)
		iqcn_add(q->st.undetermined_ns, now_ns - x->unsure_ns);
	x->unsure_ns = now_ns;
	iqcn_pfc_update(q, now_ns);
	iqcn_pfc_report(q, reason, rx_bytes, paused_ns, now_ns);
}

/* The pause ends.  A queue below the threshold is judged at once, any other
 * queue when the next packet arrives or leaves.
 */
static void iqcn_pfc_resumed(struct iqcn_queue *q, u64 now_ns)
{
	struct iqcn_pfc_queue *x = &q->pfc;
	bool was_undetermined = x->state.undetermined;
	enum iqcn_pfc_reason reason;

	x->link_paused = false;
	x->resumed_ns = min(x->end_ns, now_ns);
	iqcn_add(q->st.paused_ns, x->resumed_ns - x->link_from_ns);
	if (iqcn_depth_bytes(q) >= q->p.pfc.threshold_bytes) {
		x->judge = true;
		iqcn_pfc_update(q, now_ns);
		return;
	}
	/* below the threshold, the verdict depends on the depth alone */
	x->add_rx |= !x->count;
	x->count = false;
	reason = iqcn_pfc_resume(&x->state, &q->p.pfc, iqcn_pfc_rate_bps(q), 0,
				 x->state.arrived_bytes, x->resumed_ns);
	iqcn_pfc_judged(q, reason, was_undetermined, 0,
			x->resumed_ns - x->state.pause_ns, now_ns);
}

/* The port is paused until @end_ns, or resumes if that is not later than now */
static void iqcn_pfc_link(struct iqcn_queue *q, u64 end_ns, u64 now_ns)
{
	struct iqcn_pfc_queue *x = &q->pfc;

	if (end_ns > now_ns) {
		if (x->link_paused) {
			/* The pause continues; only its end moves.  If the end
			 * moves to a later time, the timer expires once too
			 * early.
			 */
			if (end_ns < x->end_ns)
				iqcn_timer_disarm(q);
			x->end_ns = end_ns;
			iqcn_timer_set(q, now_ns);
			return;
		}
		x->end_ns = end_ns;
		x->link_paused = true;
		x->notify = false;
		x->link_from_ns = now_ns;
		iqcn_inc(q->st.pauses);
		if (x->judge) {
			/* no packet has arrived or left since the last pause:
			 * that pause continues
			 */
			x->judge = false;
		} else {
			iqcn_pfc_pause(&x->state, &q->p.pfc,
				       iqcn_depth_bytes(q), now_ns);
			x->count = true;
		}
		iqcn_pfc_update(q, now_ns);
		iqcn_pfc_report(q, IQCN_PFC_REASON_PAUSE, 0, 0, now_ns);
	} else if (x->link_paused) {
		iqcn_pfc_resumed(q, now_ns);
	}
}

/* Apply a frame to a queue.  Return: true if it is for a class of the queue. */
static bool iqcn_pfc_frame(struct iqcn_queue *q,
			   const struct iqcn_macctl *frame)
{
	u64 rate_bps = READ_ONCE(q->speed_bps) ?: READ_ONCE(q->link_bps);
	u8 classes;
	u64 now_ns;

	if (!(frame->classes & READ_ONCE(q->p.pfc_prio)))
		return false;
	spin_lock(&q->lock);
	/* the parameters may have changed */
	classes = q->p.pfc_source == IQCN_PFC_FRAMES ? q->p.pfc_prio : 0;
	if ((frame->classes & classes) && !q->dead) {
		now_ns = ktime_get_ns();
		iqcn_pauses_rx(&q->pfc.pauses, frame, rate_bps, now_ns);
		iqcn_pfc_link(q, iqcn_pauses_end_ns(&q->pfc.pauses, classes),
			      now_ns);
	}
	spin_unlock(&q->lock);
	return frame->classes & classes;
}

/* Does a frame come from the neighbor?  Bridges do not forward frames to the
 * group address of MAC control.  802.3x also allows frames to the MAC address
 * of this device, but bridges forward those, so they are not accepted.
 */
static bool iqcn_pfc_is_local(const struct sk_buff *skb)
{
	static const u8 group[ETH_ALEN] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };

	return !skb_vlan_tag_present(skb) &&
	       ether_addr_equal(eth_hdr(skb)->h_dest, group);
}

/**
 * iqcn_pfc_rx() - handle a MAC control frame that the port receives
 * @port: port
 * @skb: frame of EtherType ETH_P_PAUSE, which is not changed
 *
 * A frame that no queue uses is counted if any queue has "pfc frames".
 *
 * Context: softirq, RCU; no lock of the module.
 */
void iqcn_pfc_rx(struct iqcn_port *port, const struct sk_buff *skb)
{
	u32 len = min_t(u32, skb->len, IQCN_MACCTL_PFC_LEN);
	bool listens = false, used = false, ok;
	u8 buf[IQCN_MACCTL_PFC_LEN];
	struct iqcn_macctl frame;
	struct iqcn_queue *q;
	const u8 *body;

	body = skb_header_pointer(skb, 0, len, buf);
	ok = body && iqcn_pfc_is_local(skb) &&
	     iqcn_macctl_parse(body, len, &frame);
	list_for_each_entry_rcu(q, &port->queues, list) {
		if (READ_ONCE(q->p.pfc_source) != IQCN_PFC_FRAMES)
			continue;
		listens = true;
		used |= ok && iqcn_pfc_frame(q, &frame);
	}
	if (listens && !used)
		atomic64_inc(&port->pfc_ignored);
}

/* Do the work that iqcn_pfc_rx() and the timer leave to the next holder of the
 * root lock: count the bytes that had arrived when a pause began or ended, and
 * judge the queue
 */
static void iqcn_pfc_catch_up(struct iqcn_queue *q, u32 depth_bytes,
			      u64 arrived_bytes, u64 now_ns)
{
	struct iqcn_pfc_queue *x = &q->pfc;
	bool was_undetermined = x->state.undetermined;
	enum iqcn_pfc_reason reason;
	u64 rx_bytes;

	if (x->add_rx)
		iqcn_add(q->st.pause_rx_bytes,
			 arrived_bytes - x->state.arrived_bytes);
	x->add_rx = false;
	if (x->count)
		x->state.arrived_bytes = arrived_bytes;
	x->count = false;
	if (!x->judge)
		return;
	x->judge = false;
	rx_bytes = arrived_bytes - x->state.arrived_bytes;
	iqcn_add(q->st.pause_rx_bytes, rx_bytes);
	reason = iqcn_pfc_resume(&x->state, &q->p.pfc, iqcn_pfc_rate_bps(q),
				 depth_bytes, arrived_bytes, x->resumed_ns);
	iqcn_pfc_judged(q, reason, was_undetermined, rx_bytes,
			x->resumed_ns - x->state.pause_ns, now_ns);
	/* the fast path does not record the peak */
	if (depth_bytes > q->st.depth_peak_bytes)
		WRITE_ONCE(q->st.depth_peak_bytes, depth_bytes);
}

/* Handle a packet that arrives while the transmit queue is stopped.  If nothing
 * has left the backlog for too long, the stop counts as a pause.  The pause
 * began when the last packet left, or, if that emptied the queue, when a packet
 * first found the device stopped and the queue at the threshold or above.
 */
static void iqcn_pfc_stopped(struct iqcn_queue *q, u32 depth_bytes,
			     u64 arrived_bytes, u64 now_ns)
{
	struct iqcn_pfc_queue *x = &q->pfc;
	u64 batch_ns = mul_u64_u64_div_u64(IQCN_TXQ_BATCH_BYTES,
					   8ULL * NSEC_PER_SEC,
					   iqcn_pfc_rate_bps(q));

	if (depth_bytes < q->p.pfc.threshold_bytes)
		return;
	if (!x->left_ns) {
		x->left_ns = now_ns;
		x->left_arrived_bytes = arrived_bytes;
	}
	if (x->link_paused || now_ns - x->left_ns <= batch_ns)
		return;
	x->link_paused = true;
	x->link_from_ns = x->left_ns;
	x->end_ns = KTIME_MAX;
	x->notify = false;
	iqcn_inc(q->st.pauses);
	/* pfc-max counts from now, the pause from its start */
	iqcn_pfc_pause(&x->state, &q->p.pfc, depth_bytes, now_ns);
	x->state.pause_ns = x->left_ns;
	x->state.arrived_bytes = x->left_arrived_bytes;
	iqcn_pfc_update(q, now_ns);
	iqcn_pfc_report(q, IQCN_PFC_REASON_PAUSE, 0, 0, now_ns);
}

/* Record that a packet leaves, and end a pause: the device is not stopped */
static void iqcn_pfc_runs(struct iqcn_queue *q, u32 depth_bytes,
			  u64 arrived_bytes, u64 now_ns)
{
	struct iqcn_pfc_queue *x = &q->pfc;

	if (x->link_paused)
		iqcn_pfc_link(q, 0, now_ns);
	x->left_ns = depth_bytes ? now_ns : 0;
	x->left_arrived_bytes = arrived_bytes;
}

/**
 * iqcn_pfc_arrives() - handle a packet that arrives while q->attends is set
 * @q: queue
 * @depth_bytes: depth without the packet
 * @arrived_bytes: bytes that have ever arrived, without the packet
 * @stopped: the device's transmit queue is stopped
 *
 * Context: enqueue: root lock, BHs off.
 */
void iqcn_pfc_arrives(struct iqcn_queue *q, u32 depth_bytes, u64 arrived_bytes,
		      bool stopped)
{
	u64 now_ns;

	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	if (stopped && q->p.pfc_source == IQCN_PFC_TXQ)
		iqcn_pfc_stopped(q, depth_bytes, arrived_bytes, now_ns);
	iqcn_pfc_catch_up(q, depth_bytes, arrived_bytes, now_ns);
	iqcn_pfc_update(q, now_ns);
	spin_unlock(&q->lock);
}

/**
 * iqcn_pfc_leaves() - handle a packet that leaves while q->attends is set
 * @q: queue
 * @depth_bytes: depth without the packet
 * @bytes: length of the packet
 * @arrived_bytes: bytes that have ever arrived
 *
 * Context: dequeue: root lock, BHs off.
 * Return: true if the sender of the packet is to be notified, because the queue
 * was found congested.
 */
bool iqcn_pfc_leaves(struct iqcn_queue *q, u32 depth_bytes, u32 bytes,
		     u64 arrived_bytes)
{
	struct iqcn_pfc_queue *x = &q->pfc;
	enum iqcn_pfc_reason reason;
	bool notify;
	u64 now_ns;

	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	if (q->p.pfc_source == IQCN_PFC_TXQ)
		iqcn_pfc_runs(q, depth_bytes, arrived_bytes, now_ns);
	iqcn_pfc_catch_up(q, depth_bytes + bytes, arrived_bytes, now_ns);
	reason = iqcn_pfc_sent(&x->state, &q->p.pfc, depth_bytes, now_ns);
	iqcn_pfc_judged(q, reason, true, 0, 0, now_ns);
	/* the congestion has ended before any sender was notified */
	if (depth_bytes < q->p.pfc.threshold_bytes)
		x->notify = false;
	iqcn_pfc_update(q, now_ns);
	if (x->stale && !q->quiet) {
		/* the drain rate must not include the quiet time */
		iqcn_queue_drain_stops(q);
		x->stale = false;
		iqcn_pfc_update(q, now_ns);
	}
	notify = x->notify;
	spin_unlock(&q->lock);
	return notify;
}

/**
 * iqcn_pfc_notify() - notify the sender of a packet that leaves
 * @q: queue
 * @flow: flow of the packet
 * @skb: packet
 * @was_ce: the packet arrived with CE
 *
 * If no CNP can be sent for this flow, the sender of the next packet is
 * notified instead.
 *
 * Context: dequeue: root lock, BHs off.
 */
void iqcn_pfc_notify(struct iqcn_queue *q, struct iqcn_flow *flow,
		     const struct sk_buff *skb, bool was_ce)
{
	u64 now_ns;

	if (unlikely(READ_ONCE(flow->queue) != q))
		iqcn_flow_move(flow, q);
	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	if (iqcn_flow_of(flow, q)) {
		iqcn_bts_note_packet(q, flow, (const void *)skb->data, now_ns);
		q->pfc.notify = !iqcn_pending_now(q, flow, now_ns,
						  IQCN_CAUSE_PFC, was_ce,
						  skb);
	}
	iqcn_pfc_update(q, now_ns);
	spin_unlock(&q->lock);
}

/* At the start of each batch of the timer's work, end a pause whose quanta have
 * run out, and the quiet state if the queue has drained or after pfc-max
 */
static void iqcn_pfc_begin(struct iqcn_queue *q, u64 now_ns)
{
	struct iqcn_pfc_queue *x = &q->pfc;

	if (x->link_paused && x->end_ns <= now_ns)
		iqcn_pfc_link(q, 0, now_ns);
	/* the queue may have drained before settle was over, and no packet has
	 * left since
	 */
	if (!x->judge && iqcn_depth_bytes(q) < q->p.pfc.threshold_bytes)
		iqcn_pfc_judged(q, iqcn_pfc_sent(&x->state, &q->p.pfc, 0, now_ns),
				true, 0, 0, now_ns);
	if (q->quiet && !iqcn_pfc_quiet(&x->state, &q->p.pfc, now_ns))
		iqcn_pfc_update(q, now_ns);
}

static u64 iqcn_pfc_next_ns(struct iqcn_queue *q, u64 now_ns)
{
	const struct iqcn_pfc_queue *x = &q->pfc;
	u64 next_ns = KTIME_MAX;

	if (x->link_paused)
		next_ns = x->end_ns;
	if (q->quiet)
		next_ns = min(next_ns, iqcn_pfc_limit_ns(&x->state, &q->p.pfc));
	return next_ns;
}

static void iqcn_pfc_forget(struct iqcn_queue *q, u64 now_ns)
{
	struct iqcn_pfc_queue *x = &q->pfc;
	bool was_determined = !x->link_paused && !x->judge &&
			      !x->state.undetermined;

	if (x->link_paused)
		iqcn_add(q->st.paused_ns, now_ns - x->link_from_ns);
	if (x->state.undetermined)
		iqcn_add(q->st.undetermined_ns, now_ns - x->unsure_ns);
	memset(&x->pauses, 0, sizeof(x->pauses));
	memset(&x->state, 0, sizeof(x->state));
	x->link_paused = false;
	x->count = false;
	x->judge = false;
	x->add_rx = false;
	x->notify = false;
	x->left_ns = 0;
	iqcn_pfc_update(q, now_ns);
	if (!was_determined)
		iqcn_pfc_report(q, IQCN_PFC_REASON_RESET, 0, 0, now_ns);
}

static void iqcn_pfc_set_params(struct iqcn_queue *q,
				const struct iqcn_params *old, u64 now_ns)
{
	if (q->p.pfc_source != old->pfc_source ||
	    q->p.pfc_prio != old->pfc_prio)
		iqcn_pfc_forget(q, now_ns);
	else
		iqcn_pfc_update(q, now_ns);
}

static void iqcn_pfc_reset(struct iqcn_queue *q)
{
	iqcn_pfc_forget(q, ktime_get_ns());
}

const struct iqcn_timer_ops iqcn_pfc_ops = {
	.set_params = iqcn_pfc_set_params,
	.reset = iqcn_pfc_reset,
	.begin = iqcn_pfc_begin,
	.next_ns = iqcn_pfc_next_ns,
};
