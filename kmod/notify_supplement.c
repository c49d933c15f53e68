// SPDX-License-Identifier: GPL-2.0
/*
 * notify supplement: send CNPs at a fixed rate while the queue is deep.
 *
 *	RoCEv2 packet of an ECT flow arrives, not in a quiet queue (pfc.c)
 *	      |
 *	      |-- depth <= Kmax and off --> nothing
 *	      v
 *	 on; the flow gets a turn after all others, if it is paired
 *
 *	1 / rate has passed		packet leaves, depth at or below Kmin
 *	      |				      |
 *	      |-- below Kmin --> off	      v
 *	      |				     off: the list is emptied
 *	      v
 *	 the first flow: is it active?  -- no --> it loses its turn, next flow
 *	      | yes
 *	      v
 *	 the flow moves to the end of the list
 *	      v
 *	 the gate (cnp.c)  -- no --> counted
 *	      | yes
 *	      v
 *	 CNP
 *
 * A flow is active if a packet of it is queued, or arrived less than an epoch
 * of algo/active.h ago.
 *
 * Source: the Chinese patent application that algo/filter.h cites, claims 4 and
 * 6, steps C2, E1 and M1: supplements are sent one by one to the senders in the
 * flow table, above a threshold, usually Kmax.  The end at Kmin is not from the
 * application.
 */
#include <net/netlink.h>

#include "algo/supplement.h"
#include "iqcn.h"

/**
 * iqcn_supplement_check() - check that the budget allows for supplements
 * @pps: requested rate
 * @max_pps: its cap
 * @cnp_rate_pps: budget of the port
 * @attr: attribute to blame, or NULL
 * @extack: for errors
 *
 * Context: any.
 * Return: 0 or -ERANGE.
 */
int iqcn_supplement_check(u32 pps, u32 max_pps, u32 cnp_rate_pps,
			  const struct nlattr *attr,
			  struct netlink_ext_ack *extack)
{
	if (pps > IQCN_SUPPLEMENT_LIMIT_PPS) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"supplement is %u, must be 0 to %u per second",
					pps, IQCN_SUPPLEMENT_LIMIT_PPS);
		return -ERANGE;
	}
	if (min(pps, max_pps) > cnp_rate_pps) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"supplement %u (supplement-max %u) exceeds cnp-rate %u",
					pps, max_pps, cnp_rate_pps);
		return -ERANGE;
	}
	return 0;
}

/* The requested rate */
static u32 iqcn_supplement_pps(const struct iqcn_queue *q)
{
	return q->lease.supplements ? q->lease.supplement_pps :
				      q->p.supplement_pps;
}

/* The rate in force, 0: none */
static u32 iqcn_supplement_rate_pps(const struct iqcn_queue *q)
{
	return min(iqcn_supplement_pps(q), q->p.supplement_max_pps);
}

/* Publish the requested rate for the filter.  If several queues exceed their
 * caps, the one with the largest ratio of request to cap wins.  When that queue
 * stops, another one takes over with its next CNP.
 */
static void iqcn_supplement_couple(struct iqcn_queue *q)
{
	u32 asked_pps = iqcn_supplement_pps(q), max_pps = q->p.supplement_max_pps;
	struct iqcn_port *port = q->port;

	spin_lock(&port->budget_lock);
	if (port->couple_owner == q) {
		port->couple_owner = NULL;
		WRITE_ONCE(port->couple, 0);
	}
	if (q->supplement.on && !q->dead && asked_pps > max_pps &&
	    (u64)asked_pps * (port->couple & U32_MAX) >=
	    (port->couple >> 32) * max_pps) {
		port->couple_owner = q;
		WRITE_ONCE(port->couple, (u64)asked_pps << 32 | max_pps);
	}
	spin_unlock(&port->budget_lock);
}

/**
 * iqcn_supplement_changed() - apply a changed rate of supplements
 * @q: queue with a port
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock; the caller arms the timer.
 */
void iqcn_supplement_changed(struct iqcn_queue *q, u64 now_ns)
{
	struct iqcn_supplement *s = &q->supplement;
	u32 pps = iqcn_supplement_rate_pps(q);

	iqcn_supplement_couple(q);
	/* do not make up for the time during which the rate was 0 */
	if (pps)
		s->next_ns = clamp(s->next_ns, now_ns,
				   now_ns + NSEC_PER_SEC / pps);
}

/* Measure the time above Kmax.  @above: the depth is above it now */
static void iqcn_supplement_measure(struct iqcn_queue *q, bool above, u64 now_ns)
{
	struct iqcn_supplement *s = &q->supplement;

	if (above == !!s->above_ns)
		return;
	if (!above)
		iqcn_add(q->st.above_kmax_ns, now_ns - s->above_ns);
	s->above_ns = above ? now_ns : 0;
}

static bool iqcn_supplement_above(const struct iqcn_queue *q)
{
	return iqcn_depth_bytes(q) > q->p.mark.kmax_bytes;
}

/**
 * iqcn_supplement_off() - stop supplements
 * @q: queue
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock; the caller arms the timer, which then empties the list.
 */
void iqcn_supplement_off(struct iqcn_queue *q, u64 now_ns)
{
	if (!q->supplement.on)
		return;
	WRITE_ONCE(q->supplement.on, false);
	iqcn_supplement_measure(q, false, now_ns);
	iqcn_supplement_couple(q);
}

static bool iqcn_supplement_has_turn(const struct iqcn_flow *flow)
{
	return flow->ext && !list_empty(&flow->ext->turn);
}

/* Append a paired flow to the list of turns.  If its extension cannot be
 * allocated, the flow's next packet tries again.
 */
static void iqcn_supplement_add(struct iqcn_queue *q, struct iqcn_flow *flow,
				u64 now_ns)
{
	struct iqcn_supplement *s = &q->supplement;
	struct iqcn_flow_ext *e;

	if (iqcn_supplement_has_turn(flow) || !iqcn_flow_paired(q, flow))
		return;
	e = iqcn_ext_get(flow);
	if (!e)
		return;
	/* do not make up for the time during which the list was empty */
	if (list_empty(&s->turns))
		s->next_ns = max(s->next_ns, now_ns);
	list_add_tail(&e->turn, &s->turns);
}

static void iqcn_supplement_del(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	list_del_init(&flow->ext->turn);
	iqcn_ext_trim(q, flow);
}

/**
 * iqcn_supplement_packet() - handle a RoCEv2 data packet of an ECT flow
 * @q: queue, not quiet
 * @flow: flow of the packet
 * @eth: the packet's Ethernet header
 *
 * Context: enqueue, or dequeue of a packet that enqueue did not parse: root
 * lock, BHs off.
 */
void iqcn_supplement_packet(struct iqcn_queue *q, struct iqcn_flow *flow,
			    const struct ethhdr *eth)
{
	struct iqcn_supplement *s = &q->supplement;
	bool above = iqcn_supplement_above(q);
	u64 now_ns;

	if (!above && !READ_ONCE(s->on))
		return;
	if (unlikely(READ_ONCE(flow->queue) != q))
		iqcn_flow_move(flow, q);
	spin_lock(&q->lock);
	if (!iqcn_flow_of(flow, q))
		goto out;
	now_ns = ktime_get_ns();
	if (!(q->p.notify & IQCN_NOTIFY_BTS)) {
		iqcn_bts_note_packet(q, flow, eth, now_ns);
		WRITE_ONCE(flow->arrived_ns, now_ns);
	}
	if (above && !s->on) {
		WRITE_ONCE(s->on, true);
		s->next_ns = max(s->next_ns, now_ns);
		iqcn_supplement_couple(q);
	}
	iqcn_supplement_measure(q, above, now_ns);
	/* the timer may have turned supplements off */
	if (s->on) {
		iqcn_supplement_add(q, flow, now_ns);
		/* not iqcn_timer_arm(), which assumes that a packet causes no
		 * work before poll_gap: a supplement may be due earlier
		 */
		iqcn_timer_set(q, now_ns);
	}
out:
	spin_unlock(&q->lock);
}

/**
 * iqcn_supplement_end() - stop supplements, because the queue has drained to
 * Kmin
 * @q: queue
 *
 * Context: dequeue: root lock, BHs off.
 */
void iqcn_supplement_end(struct iqcn_queue *q)
{
	u64 now_ns;

	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	iqcn_supplement_off(q, now_ns);
	iqcn_timer_set(q, now_ns);
	spin_unlock(&q->lock);
}

/* When the first flow in the list gets a CNP, or loses its turn.  The time
 * during which no packet left or the queue was quiet is not made up for.
 */
static u64 iqcn_supplement_due_ns(struct iqcn_queue *q)
{
	if (list_empty(&q->supplement.turns))
		return KTIME_MAX;
	if (!q->supplement.on)
		return 0;
	if (!iqcn_supplement_rate_pps(q))
		return KTIME_MAX;
	return max3(q->supplement.next_ns, q->backoff.until_ns,
		    q->pfc.rest_to_ns);
}

static u64 iqcn_supplement_timer_ns(struct iqcn_queue *q, u64 now_ns)
{
	u64 due_ns = max(iqcn_supplement_due_ns(q), now_ns);

	/* while supplements are on, check at least once per epoch whether the
	 * queue has drained, even if no CNP is due
	 */
	return q->supplement.on ? min(due_ns, now_ns + IQCN_ACTIVE_EPOCH_NS) :
				  due_ns;
}

static bool iqcn_supplement_active(const struct iqcn_flow *flow, u64 now_ns)
{
	return iqcn_flow_queued(flow) ||
	       now_ns - READ_ONCE(flow->arrived_ns) < IQCN_ACTIVE_EPOCH_NS;
}

/* Prepare a CNP for the flow whose turn it is.  Restart T1 even if the gate
 * rejects the CNP.
 */
static bool iqcn_supplement_send(struct iqcn_queue *q, struct iqcn_flow *flow,
				 struct iqcn_notice *n, u64 now_ns)
{
	struct iqcn_supplement *s = &q->supplement;
	struct iqcn_why why = {
		.cause = IQCN_CAUSE_SUPPLEMENT,
		.base_ns = flow->base_ns,
		.due_ns = iqcn_supplement_due_ns(q),
	};

	list_move_tail(&flow->ext->turn, &s->turns);
	s->next_ns = iqcn_supplement_next_ns(why.due_ns,
					     iqcn_supplement_rate_pps(q),
					     now_ns);
	if (iqcn_supplement_pps(q) > q->p.supplement_max_pps)
		iqcn_supplement_couple(q);
	iqcn_notify_timer_restart(q, flow, now_ns);
	return iqcn_cnp_prepare(q, flow, n, &why, now_ns);
}

static bool iqcn_supplement_run(struct iqcn_queue *q, struct iqcn_notice *n,
				bool *send, u64 now_ns)
{
	struct iqcn_flow *flow;

	*send = false;
	if (q->supplement.on && !iqcn_supplement_above(q))
		iqcn_supplement_measure(q, false, now_ns);
	if (q->supplement.on && iqcn_depth_bytes(q) < q->p.mark.kmin_bytes)
		iqcn_supplement_off(q, now_ns);
	if (iqcn_supplement_due_ns(q) > now_ns)
		return false;
	flow = list_first_entry(&q->supplement.turns, struct iqcn_flow_ext,
				turn)->flow;
	if (!q->supplement.on || !iqcn_flow_paired(q, flow) ||
	    !iqcn_supplement_active(flow, now_ns))
		iqcn_supplement_del(q, flow);
	else
		*send = iqcn_supplement_send(q, flow, n, now_ns);
	return true;
}

static void iqcn_supplement_init(struct iqcn_queue *q)
{
	INIT_LIST_HEAD(&q->supplement.turns);
}

static void iqcn_supplement_reset(struct iqcn_queue *q)
{
	iqcn_supplement_off(q, ktime_get_ns());
}

static void iqcn_supplement_set_params(struct iqcn_queue *q,
				       const struct iqcn_params *old,
				       u64 now_ns)
{
	if (!q->supplement.on)
		return;
	if (q->p.notify & IQCN_NOTIFY_SUPPLEMENT)
		iqcn_supplement_changed(q, now_ns);
	else
		iqcn_supplement_off(q, now_ns);
}

static void iqcn_supplement_cancel(struct iqcn_flow *flow)
{
	if (iqcn_supplement_has_turn(flow))
		list_del_init(&flow->ext->turn);
}

const struct iqcn_timer_ops iqcn_notify_supplement_ops = {
	.rests = true,
	.optional = true,
	.init = iqcn_supplement_init,
	.set_params = iqcn_supplement_set_params,
	.reset = iqcn_supplement_reset,
	.cancel = iqcn_supplement_cancel,
	.next_ns = iqcn_supplement_timer_ns,
	.run = iqcn_supplement_run,
};
