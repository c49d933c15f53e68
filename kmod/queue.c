// SPDX-License-Identifier: GPL-2.0
/*
 * Is it congested?  The state of a queue, and of its flows.
 *
 * The detectors of the queue (detect.h) are asked whenever a CE packet leaves
 * and when a silence may have ended what they saw; those of a flow
 * (continuity.h) when one of its own leaves, while the queue is clear: if the
 * queue is congested, all of its flows are.
 *
 * States of flows are void when the queue's changes.  So that nobody has to go
 * through all flows then, they carry the number of the epoch they are of.
 *
 * Source: US 12395431 B2, steps S203-S207 (queue) and S212-S217 (flow).
 */
#include <linux/etherdevice.h>

#include "iqcn.h"
#include "algo/sample.h"
#include "trace.h"

/* Arrivals of a flow that are longer ago say nothing of where it leaves */
#define IQCN_ARRIVALS_NS	(50 * NSEC_PER_MSEC)

/**
 * iqcn_queue_drain_bps() - the rate at which a deep queue drains
 * @q: queue
 *
 * Context: any.
 * Return: bit/s: what the user says, or was measured, or the link's.
 */
u64 iqcn_queue_drain_bps(const struct iqcn_queue *q)
{
	u64 drain_bps = READ_ONCE(q->drain_bps);

	if (q->p.bandwidth_bps)
		return q->p.bandwidth_bps;
	return drain_bps ?: READ_ONCE(q->link_bps);
}

/**
 * iqcn_queue_roce_bps() - the rate that the CE rate is compared with
 * @q: queue
 *
 * Context: any.
 * Return: bit/s: what the user says; or what of the last window of the CE meter may
 *	be RoCE, if the queue was backlogged for all of it; or its drain rate.
 */
u64 iqcn_queue_roce_bps(const struct iqcn_queue *q)
{
	u64 roce_bps = READ_ONCE(q->roce_bps);

	if (roce_bps && !q->p.bandwidth_bps)
		return roce_bps;
	return iqcn_queue_drain_bps(q);
}

/**
 * iqcn_queue_drains() - its drain rate was measured
 * @q: queue
 * @drain_bps: rate
 * @now_ns: now
 *
 * Context: dequeue: root lock, BHs off.
 */
void iqcn_queue_drains(struct iqcn_queue *q, u64 drain_bps, u64 now_ns)
{
	WRITE_ONCE(q->drain_bps, drain_bps);
	WRITE_ONCE(q->drain_ns, now_ns);
}

/**
 * iqcn_queue_drain_stops() - it is not backlogged, or not any more
 * @q: queue
 *
 * The rate that was measured is good for a while yet.
 *
 * Context: dequeue: root lock, BHs off; or where nothing is dequeued.
 */
void iqcn_queue_drain_stops(struct iqcn_queue *q)
{
	q->drain.start_ns = 0;
	memset(&q->outflow, 0, sizeof(q->outflow));
	memset(&q->roce_outflow, 0, sizeof(q->roce_outflow));
}

/* Which detector says so, or did */
static u32 iqcn_reason(u32 bits)
{
	if (bits & IQCN_DETECT_QUEUE)
		return IQCN_REASON_QUEUE;
	if (bits & IQCN_DETECT_DEPTH)
		return IQCN_REASON_DEPTH;
	if (bits & IQCN_DETECT_RUN)
		return IQCN_REASON_RUN;
	if (bits & IQCN_DETECT_SPAN)
		return IQCN_REASON_SPAN;
	return IQCN_REASON_NONE;
}

/* @bits, with @bit as its detector says */
static u32 iqcn_with(u32 bits, u32 bit, bool on)
{
	return on ? bits | bit : bits & ~bit;
}

/* What is known of single flows is of no use any more */
static void iqcn_queue_void_flows(struct iqcn_queue *q)
{
	/* 0 is that of a flow whose state is void */
	q->epoch = q->epoch + 1 ?: 1;
	q->n_congested = 0;
}

static void iqcn_queue_set_congested(struct iqcn_queue *q, u32 bits, u32 reason,
				     u64 now_ns)
{
	bool change = !bits != !q->congested;

	lockdep_assert_held(&q->lock);

	WRITE_ONCE(q->congested, bits);
	if (!change)
		return;
	if (!bits)
		q->ended++;
	WRITE_ONCE(q->state_ns, now_ns);
	q->state_reason = reason;
	iqcn_queue_void_flows(q);
	/* the caller arms it for what matters now */
	iqcn_trigger_disarm(q);
	iqcn_inc(q->st.state_changes);
	trace_iqcn_queue_state(q, iqcn_queue_roce_bps(q));
	iqcn_event_queue_state(q, bits, reason, now_ns);
}

/**
 * iqcn_queue_detect() - ask the detectors of the queue
 * @q: queue
 * @fresh: a window of the CE meter has just closed
 * @now_ns: now
 *
 * Context: queue->lock.
 */
void iqcn_queue_detect(struct iqcn_queue *q, bool fresh, u64 now_ns)
{
	u32 bits = q->congested & q->p.detect;
	bool on;

	if ((q->p.detect & IQCN_DETECT_QUEUE) && fresh) {
		on = iqcn_detect_queue(bits & IQCN_DETECT_QUEUE, q->ce.rate_bps,
				       iqcn_queue_roce_bps(q),
				       q->p.enter_pct, q->p.exit_pct);
		bits = iqcn_with(bits, IQCN_DETECT_QUEUE, on);
	}
	if (q->p.detect & IQCN_DETECT_DEPTH) {
		on = iqcn_detect_depth(bits & IQCN_DETECT_DEPTH,
				       iqcn_depth_bytes(q),
				       q->p.mark.kmin_bytes,
				       q->p.mark.kmax_bytes);
		bits = iqcn_with(bits, IQCN_DETECT_DEPTH, on);
	}
	/* as for nearly every packet */
	if (bits == q->congested)
		return;
	iqcn_queue_set_congested(q, bits, iqcn_reason(bits ?: q->congested),
				 now_ns);
}

/**
 * iqcn_queue_quiet_ns() - how long a silence ends the congestion of a queue
 * @q: queue
 *
 * Context: queue->lock.
 * Return: nanoseconds.
 */
u64 iqcn_queue_quiet_ns(const struct iqcn_queue *q)
{
	return iqcn_quiet_ns(q->p.window_ns, iqcn_queue_roce_bps(q),
			     (u64)q->max_bytes * q->p.sample);
}

/* While more than Kmin waits and nothing leaves it is not CE packets that are silent: the
 * port is paused, or what shapes it
 */
static bool iqcn_queue_stuck(const struct iqcn_queue *q, u64 quiet_ns,
			     u64 now_ns)
{
	/* who dequeues does not wait for who looks */
	return iqcn_depth_bytes(q) > q->p.mark.kmin_bytes &&
	       (s64)(now_ns - READ_ONCE(q->drain_ns)) >= (s64)(quiet_ns / 2);
}

/**
 * iqcn_queue_detect_quiet() - ask them again, nothing may have been sent since
 * @q: queue
 * @now_ns: now
 *
 * Context: queue->lock.
 */
void iqcn_queue_detect_quiet(struct iqcn_queue *q, u64 now_ns)
{
	u64 quiet_ns = iqcn_queue_quiet_ns(q);
	bool quiet = false;

	if (iqcn_queue_stuck(q, quiet_ns, now_ns))
		q->look_ns = now_ns + quiet_ns;
	else
		quiet = iqcn_meter_quiet(&q->ce, quiet_ns, now_ns);

	/* what a rate of 0 is to end ends by silence */
	if (quiet && q->congested == IQCN_DETECT_QUEUE)
		iqcn_queue_set_congested(q, 0, IQCN_REASON_QUIET, now_ns);
	iqcn_queue_detect(q, quiet, now_ns);
}

/**
 * iqcn_flow_state() - is a flow in congestion, and why and since when?
 * @q: its queue
 * @flow: flow
 * @bits: set to enum iqcn_detect bits, of the queue or of its own
 * @reason: set to why it is in the state that it is in, enum iqcn_reason
 *
 * Context: queue->lock.
 * Return: when that began, 0: it has never been in another.
 */
u64 iqcn_flow_state(const struct iqcn_queue *q, const struct iqcn_flow *flow,
		    u32 *bits, u32 *reason)
{
	const struct iqcn_flow_ext *e = flow->ext;
	bool own = !q->congested && e && e->epoch == q->epoch && e->state_ns;

	*bits = q->congested ?: iqcn_flow_own(q, flow);
	*reason = own ? e->state_reason : q->state_reason;
	return own ? e->state_ns : q->state_ns;
}

/**
 * iqcn_flow_set_congested() - a flow's own state is another one
 * @q: its queue
 * @flow: flow, with an &struct iqcn_flow_ext of the queue's epoch, which it keeps
 * @bits: enum iqcn_detect bits
 * @reason: why
 * @now_ns: now
 *
 * Context: queue->lock.
 */
void iqcn_flow_set_congested(struct iqcn_queue *q, struct iqcn_flow *flow,
			     u32 bits, u32 reason, u64 now_ns)
{
	struct iqcn_flow_ext *e = flow->ext;
	bool change = !bits != !e->congested;

	lockdep_assert_held(&q->lock);

	e->congested = bits;
	if (!change)
		return;
	q->n_congested += bits ? 1 : -1;
	if (!bits)
		iqcn_pending_drop(q, flow);
	e->state_ns = now_ns;
	e->state_reason = reason;
	iqcn_inc(q->st.flow_state_changes);
	trace_iqcn_flow_state(q, flow);
	iqcn_event_flow_state(q, flow, bits, reason, now_ns);
}

/* The next @n CE packets of a flow in order, from number @seq on.  Return: what its
 * detectors say, which was @bits before.
 */
static u32 iqcn_flow_judge(const struct iqcn_queue *q, struct iqcn_continuity *c,
			   u32 bits, u32 seq, u32 n, bool request)
{
	u32 ended;
	bool on;

	ended = iqcn_continuity_add(c, seq, n,
				    iqcn_sample_modulus(q->p.sample), request);
	if (q->p.detect & IQCN_DETECT_RUN) {
		on = iqcn_detect_run(bits & IQCN_DETECT_RUN, ended, c->run,
				     q->p.run_enter, q->p.run_exit);
		bits = iqcn_with(bits, IQCN_DETECT_RUN, on);
	}
	if (q->p.detect & IQCN_DETECT_SPAN) {
		on = iqcn_detect_span(bits & IQCN_DETECT_SPAN, c,
				      q->p.span_packets, q->p.span_enter,
				      q->p.span_exit);
		bits = iqcn_with(bits, IQCN_DETECT_SPAN, on);
	}
	return bits;
}

/* A CE packet of the flow, while its queue is clear: @psn is of the first of
 * @segs segments
 */
static void iqcn_flow_detect(struct iqcn_queue *q, struct iqcn_flow *flow,
			     u32 psn, u32 segs, bool request, u64 now_ns)
{
	u32 modulus = iqcn_sample_modulus(q->p.sample);
	u32 bits, seq, n, first, several;
	struct iqcn_continuity *c;
	struct iqcn_reorder *r;
	struct iqcn_flow_ext *e;
	bool held;

	n = iqcn_sample_pick(psn, segs, flow->qp, q->p.sample, &seq);
	/* it was chosen by another N */
	if (!n)
		return;
	e = iqcn_flow_get_ext(flow);
	if (!e) {
		/* they begin with a later one */
		iqcn_inc(q->st.flow_full);
		return;
	}
	c = &e->continuity;
	r = &e->reorder;
	if (e->epoch != q->epoch) {
		memset(c, 0, sizeof(*c));
		memset(r, 0, sizeof(*r));
		e->congested = 0;
		e->state_ns = 0;
		e->epoch = q->epoch;
	}
	bits = e->congested;
	held = iqcn_reorder_hold(r, seq, n, modulus, request);
	while ((several = iqcn_reorder_pop(r, !held, modulus, &first)))
		bits = iqcn_flow_judge(q, c, bits, first, several, r->kind);
	if (!held) {
		bits = iqcn_flow_judge(q, c, bits, seq, n, request);
		iqcn_reorder_pass(r, seq, n, modulus, request);
	}
	iqcn_flow_set_congested(q, flow, bits,
				iqcn_reason(bits ?: e->congested), now_ns);
}

/* @q->lock.  The packet's last PSN is in @flow already. */
static void iqcn_flow_ce_sent(struct iqcn_queue *q, struct iqcn_flow *flow,
			      u32 psn, u32 segs, bool request, u64 now_ns)
{
	u64 quiet_ns = U64_MAX;

	if (!q->congested && (q->p.detect & IQCN_DETECT_OF_FLOW))
		iqcn_flow_detect(q, flow, psn, segs, request, now_ns);
	else if (unlikely(flow->ext))
		iqcn_flow_trim(q, flow);
	if (flow->ce_sent)
		quiet_ns = iqcn_sample_gap_ns(now_ns - flow->ce_ns,
					      q->p.sample);
	iqcn_cnp_srtt_start(&flow->answer, quiet_ns, q->p.t1_ns, now_ns);
	flow->owed = iqcn_owed_asked(flow->owed, quiet_ns, q->p.t1_ns);
	iqcn_trigger_ce(q, flow, now_ns);
	flow->ce_gap_ns = flow->ce_sent ? min(now_ns - flow->ce_ns,
					      IQCN_GAP_MAX_NS) : 0;
	WRITE_ONCE(flow->ce_ns, now_ns);
	flow->ce_since = true;
	flow->ce_sent += segs;
}

/* Root lock and @q->lock.  Return: a window closed, and the drain rate and the RoCE
 * rate are those of the same window, if the queue was backlogged for all of it.  If not,
 * there is no RoCE rate: what RoCE there is below Kmin is no measure of what there may be.
 */
static bool iqcn_measure_ce(struct iqcn_queue *q, u64 bytes, u64 now_ns)
{
	u64 start_ns = q->ce.start_ns, drain_bps;
	bool closed;

	closed = iqcn_meter_add(&q->ce, q->p.window_ns, now_ns, bytes);
	if (closed) {
		drain_bps = iqcn_outflow_bps(&q->outflow, now_ns - start_ns);
		if (drain_bps)
			iqcn_queue_drains(q, drain_bps, now_ns);
		WRITE_ONCE(q->roce_bps, iqcn_outflow_bps(&q->roce_outflow,
							 now_ns - start_ns));
	}
	if (closed || !start_ns) {
		iqcn_outflow_begin(&q->outflow);
		iqcn_outflow_begin(&q->roce_outflow);
	}
	return closed;
}

/**
 * iqcn_queue_ce_sent() - a RoCEv2 data packet that is looked at leaves with CE
 * @q: queue
 * @flow: its flow, NULL if there was no room for one
 * @eth: its Ethernet header
 * @bytes: its length
 * @skipped_bytes: length of the CE packets before it that are not looked at
 * @psn: its PSN, of the first segment
 * @segs: its segments
 * @echo: its PSN may come back in a response
 *
 * Context: dequeue: root lock, BHs off.
 * Return: what time it is.
 */
u64 iqcn_queue_ce_sent(struct iqcn_queue *q, struct iqcn_flow *flow,
		       const struct ethhdr *eth, u32 bytes, u64 skipped_bytes,
		       u32 psn, u32 segs, bool echo)
{
	bool alive = false;
	u64 now_ns;

	/* if its arrivals are seen it is where they are */
	if (flow && unlikely(READ_ONCE(flow->queue) != q) &&
	    ktime_get_ns() - READ_ONCE(flow->arrived_ns) > IQCN_ARRIVALS_NS)
		iqcn_flow_move(flow, q);

	spin_lock(&q->lock);
	/* times on the list of deadlines never go back */
	now_ns = ktime_get_ns();
	if (q->drain_bps && now_ns - q->drain_ns > IQCN_DRAIN_MAX_AGE_NS) {
		WRITE_ONCE(q->drain_bps, 0);
		WRITE_ONCE(q->roce_bps, 0);
	}
	iqcn_add(q->st.ce_sampled, segs);
	if (bytes > q->max_bytes)
		q->max_bytes = bytes;
	iqcn_queue_detect(q, iqcn_measure_ce(q, skipped_bytes + bytes, now_ns),
			  now_ns);
	if (flow && iqcn_flow_of(flow, q)) {
		iqcn_bts_seen(q, flow, eth, now_ns);
		WRITE_ONCE(flow->psn, (psn + segs - 1) & IQCN_PSN_MASK);
		iqcn_flow_ce_sent(q, flow, psn, segs, echo, now_ns);
		alive = true;
		trace_iqcn_ce_sent(q, flow);
	}
	if (unlikely(q->backoff.until_ns))
		iqcn_trigger_wake(q);
	iqcn_trigger_arm(q, now_ns);
	spin_unlock(&q->lock);

	/* BHs are off, for which RCU waits too: its hosts are there */
	if (echo && alive)
		iqcn_pair_sent(q->port, flow->hosts, flow->qp, psn, segs);
	return now_ns;
}

/**
 * iqcn_queue_ce_skipped() - a packet leaves that is not sampled, or not CE
 * @q: queue
 * @flow: its flow
 * @psn: its PSN, of the first segment
 * @segs: its segments
 *
 * Context: dequeue: root lock, BHs off.
 */
void iqcn_queue_ce_skipped(struct iqcn_queue *q, struct iqcn_flow *flow,
			   u32 psn, u32 segs)
{
	/* alive, so its hosts are there: BHs are off, for which RCU waits too */
	if (READ_ONCE(flow->queue)) {
		WRITE_ONCE(flow->psn, (psn + segs - 1) & IQCN_PSN_MASK);
		iqcn_pair_sent(q->port, flow->hosts, flow->qp, psn, segs);
	}
}

/**
 * iqcn_queue_cnp_seen() - a receiver's CNP came for a flow
 * @flow: flow
 * @sport: UDP source port of the CNP
 *
 * Context: BHs off, RCU; no lock of ours.
 */
void iqcn_queue_cnp_seen(struct iqcn_flow *flow, u16 sport)
{
	struct iqcn_queue *q = READ_ONCE(flow->queue);
	u64 now_ns;

	if (!q)
		return;
	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	/* it may have died, or moved, where the next CNP will find it */
	if (iqcn_flow_of(flow, q)) {
		iqcn_inc(q->st.cnp_seen);
		iqcn_cnp_srtt_sample(&flow->answer, now_ns);
		flow->answer.interval_ns =
			iqcn_interval_seen(flow->answer.interval_ns,
					   flow->cnp_rx_ns, now_ns);
		flow->cnp_rx_ns = now_ns;
		flow->cnps_seen++;
		flow->owed = iqcn_owed_answered(flow->owed);
		flow->cnp_sport = sport;
		iqcn_trigger_cnp(q, flow, now_ns);
		iqcn_trigger_arm(q, now_ns);
		trace_iqcn_cnp_seen(q, flow);
	}
	spin_unlock(&q->lock);
}

/**
 * iqcn_queue_way_back() - an answer of a flow's receiver came by its port
 * @flow: flow
 * @eth: the answer's Ethernet header
 *
 * CNPs of ours go where the receiver's go, whoever sends data in the sender's name.
 *
 * Context: BHs off, RCU; no lock of ours.
 */
void iqcn_queue_way_back(struct iqcn_flow *flow, const struct ethhdr *eth)
{
	struct iqcn_queue *q = READ_ONCE(flow->queue);

	if (!q)
		return;
	spin_lock(&q->lock);
	if (iqcn_flow_of(flow, q)) {
		ether_addr_copy(flow->src_mac, eth->h_dest);
		ether_addr_copy(flow->dst_mac, eth->h_source);
		flow->mac_ticks = iqcn_mac_ticks(ktime_get_ns());
	}
	spin_unlock(&q->lock);
}

/**
 * iqcn_queue_init() - set up what must not fail
 * @q: queue, zeroed
 *
 * Context: RTNL.
 */
void iqcn_queue_init(struct iqcn_queue *q)
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->list);
	/* so that what is zeroed is of no epoch */
	q->epoch = 1;
	iqcn_trigger_init(q);
	iqcn_gc_init(q);
}

/**
 * iqcn_queue_set_params() - new parameters take effect
 * @q: queue
 * @p: parameters, checked
 *
 * Deadlines follow a new T1 at once, and ageing a new age.  What the detectors
 * of flows know was counted in old terms.
 *
 * Context: RTNL, root lock, BHs off.
 */
void iqcn_queue_set_params(struct iqcn_queue *q, const struct iqcn_params *p)
{
	u64 now_ns;

	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	if (p->sample != q->p.sample || p->detect != q->p.detect)
		iqcn_queue_void_flows(q);
	if (p->delay_ns != q->p.delay_ns)
		iqcn_pending_drop_all(q, now_ns);
	q->p = *p;
	q->look_ns = 0;
	iqcn_bts_set_params(q);
	if (q->congested & ~p->detect)
		iqcn_queue_set_congested(q, q->congested & p->detect,
					 IQCN_REASON_RESET, now_ns);
	iqcn_trigger_disarm(q);
	iqcn_trigger_arm(q, now_ns);
	iqcn_gc_hurry(q);
	spin_unlock(&q->lock);
}

/**
 * iqcn_queue_reset() - forget what is going on, but not who is who
 * @q: queue
 *
 * Congestion ends, and nothing is due any more.
 *
 * Context: root lock, BHs off; or RTNL alone, when the qdisc is destroyed.
 */
void iqcn_queue_reset(struct iqcn_queue *q)
{
	u64 now_ns;

	iqcn_queue_drain_stops(q);
	WRITE_ONCE(q->drain_bps, 0);
	WRITE_ONCE(q->roce_bps, 0);
	q->skipped_bytes = 0;

	spin_lock_bh(&q->lock);
	now_ns = ktime_get_ns();
	iqcn_queue_void_flows(q);
	iqcn_trigger_reset(q);
	iqcn_bts_reset(q);
	memset(&q->ce, 0, sizeof(q->ce));
	q->look_ns = 0;
	q->reset_ns = now_ns;
	q->ended++;
	if (q->congested)
		iqcn_queue_set_congested(q, 0, IQCN_REASON_RESET, now_ns);
	iqcn_trigger_arm(q, now_ns);
	spin_unlock_bh(&q->lock);
}

/**
 * iqcn_queue_kill() - the queue goes
 * @q: queue with a port; its qdisc neither enqueues nor dequeues any more
 *
 * First nothing can start any more, then what runs is waited for.
 *
 * Context: RTNL, sleeps.
 */
void iqcn_queue_kill(struct iqcn_queue *q)
{
	spin_lock_bh(&q->lock);
	q->dead = true;
	spin_unlock_bh(&q->lock);

	hrtimer_cancel(&q->timer);
	cancel_delayed_work_sync(&q->gc_work);
	iqcn_gc_forget(q, IQCN_FORGET_ALL);
}

/* Some of the counters are others' to write, with the root lock or that of the port */
static void iqcn_queue_counters(const struct iqcn_queue *q,
				struct tc_iqcn_xstats *st)
{
	const u64 *from = (const void *)&q->st;
	u64 *to = (void *)st;
	int i;

	BUILD_BUG_ON(sizeof(*st) % sizeof(*to));
	for (i = 0; i < sizeof(*st) / sizeof(*to); i++)
		to[i] = READ_ONCE(from[i]);
}

/**
 * iqcn_queue_stats() - counters and state
 * @q: queue
 * @st: where to put them
 *
 * Changes nothing: a silence that will end congestion when somebody is due
 * shows as a rate of 0.
 *
 * Context: any, BHs on or off.
 */
void iqcn_queue_stats(struct iqcn_queue *q, struct tc_iqcn_xstats *st)
{
	struct iqcn_active active;
	struct iqcn_rx_stats *rx;
	struct iqcn_meter ce;
	u64 now_ns, quiet_ns;
	int i;

	spin_lock_bh(&q->lock);
	/* here, for sums of CNPs hold under the lock */
	iqcn_queue_counters(q, st);
	st->roce_bps = iqcn_queue_roce_bps(q);
	st->ce_sent = st->ce_sampled + READ_ONCE(q->skipped);
	if (q->port) {
		rx = iqcn_snoop_rx_stats(q->port);
		st->port_cnp_unmatched = atomic64_read(&rx->cnp_unmatched);
		st->port_malformed = atomic64_read(&rx->malformed);
	}
	now_ns = ktime_get_ns();
	quiet_ns = iqcn_queue_quiet_ns(q);
	ce = q->ce;
	if (!iqcn_queue_stuck(q, quiet_ns, now_ns))
		iqcn_meter_quiet(&ce, quiet_ns, now_ns);
	st->rate_bps = ce.rate_bps;
	st->congested = q->congested;
	st->state_since_ns = q->state_ns ? now_ns - q->state_ns : 0;
	st->state_reason = q->state_reason;
	st->bts_prob = iqcn_bts_prob(q, now_ns);
	active = q->active;
	iqcn_active_run(&active, now_ns);
	st->flows_active = iqcn_active_flows(&active);
	st->flows = q->n_flows;
	st->flows_congested = q->congested ? q->n_flows : q->n_congested;
	for (i = max_t(int, q->p.pair, IQCN_PAIR_SPORT); i < __IQCN_PAIR_MAX; i++)
		st->flows_paired += q->by_grade[i];
	spin_unlock_bh(&q->lock);
}
