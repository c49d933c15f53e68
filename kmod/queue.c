// SPDX-License-Identifier: GPL-2.0
/*
 * Events of a queue: a CE packet leaves, a CNP arrives, the parameters change,
 * the qdisc is reset or destroyed.  Also here: the counters.
 */
#include <linux/etherdevice.h>

#include "algo/pending.h"
#include "algo/sample.h"
#include "iqcn.h"
#include "trace.h"

/**
 * iqcn_queue_drains() - record a measured drain rate
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
 * iqcn_queue_drain_stops() - stop the measurement of the drain rate
 * @q: queue
 *
 * Called when a backlog has ended, after a quiet time (pfc.c), and on a reset.
 * The last measured rate stays valid for IQCN_DRAIN_MAX_AGE_NS.
 *
 * Context: dequeue: root lock, BHs off; or while no packet is dequeued.
 */
void iqcn_queue_drain_stops(struct iqcn_queue *q)
{
	q->drain.start_ns = 0;
	q->drained_bytes = 0;
	memset(&q->outflow, 0, sizeof(q->outflow));
	memset(&q->roce_outflow, 0, sizeof(q->roce_outflow));
}

/* Update a flow when one of its CE packets leaves; queue->lock */
static void iqcn_queue_flow_ce(struct iqcn_queue *q, struct iqcn_flow *flow,
			       u32 psn, u32 segs, bool request, u64 now_ns)
{
	u64 gap_ns = U64_MAX;

	if (!q->congested && (q->p.detect & IQCN_DETECT_OF_FLOW))
		iqcn_congestion_detect_flow(q, flow, psn, segs, request,
					    now_ns);
	else if (unlikely(flow->ext))
		iqcn_ext_trim(q, flow);
	if (READ_ONCE(flow->ce_sent)) {
		gap_ns = now_ns - flow->ce_ns;
		/* iqcn_flow_ce_brief() may have handled later packets, up to a
		 * window after ce_ns
		 */
		if (q->brief)
			gap_ns -= min_t(u64, gap_ns, q->p.window_ns);
		gap_ns = iqcn_sample_gap_ns(gap_ns, q->p.sample);
	}
	iqcn_cnp_srtt_start(&flow->cnp_srtt, gap_ns, q->p.t1_ns,
			    READ_ONCE(q->fiber_rtt_ns), now_ns);
	flow->owed = iqcn_owed_asked(flow->owed, gap_ns, q->p.t1_ns);
	iqcn_notify_timer_ce(q, flow, now_ns);
	flow->ce_gap_ns = READ_ONCE(flow->ce_sent) ?
			  min(now_ns - flow->ce_ns, IQCN_GAP_MAX_NS) : 0;
	WRITE_ONCE(flow->ce_ns, now_ns);
	flow->ce_since = true;
	WRITE_ONCE(flow->ce_sent, READ_ONCE(flow->ce_sent) + segs);
}

/**
 * iqcn_queue_ce_steady() - record that a flow keeps sending, without lock or
 * clock
 * @q: queue with ->brief
 * @flow: flow of that queue whose ->ce_ns is at least a window old
 *
 * With ->brief, it is usually enough to update ->ce_ns for a CE packet that
 * leaves.  iqcn_queue_flow_ce() is needed only if it would start or drop a
 * measurement of ->cnp_srtt, free ->ext, or cancel a deadline that is left over
 * from IQCN_NOTIFY_TIMER.
 *
 * Packets within a window after ->ce_ns do not update it.  So a flow counts as
 * silent only if ->ce_ns is older than a window plus max(T1, window), and
 * shorter silences start no measurement.  The queue's meters and detectors run
 * at the end of the chunk.
 *
 * Context: dequeue: root lock, BHs off.
 * Return: false if iqcn_queue_ce_sent() must handle the packet.
 */
bool iqcn_queue_ce_steady(const struct iqcn_queue *q, struct iqcn_flow *flow)
{
	/* A CNP may change ->cnp_srtt under queue->lock.  A torn or stale copy
	 * is harmless: the flow's next packet after a window checks again.
	 */
	struct iqcn_cnp_srtt srtt = data_race(flow->cnp_srtt);
	/* racy, too; the pointer is not dereferenced */
	bool waits = data_race(flow->ext || iqcn_deadline_armed(&flow->due));
	u64 now_ns = q->clock_ns;
	u64 quiet_ns = now_ns - READ_ONCE(flow->ce_ns) - q->p.window_ns;

	if (quiet_ns >= max(q->p.t1_ns, q->p.window_ns) ||
	    waits || iqcn_cnp_srtt_overdue(&srtt, q->p.t1_ns,
					   READ_ONCE(q->fiber_rtt_ns), now_ns))
		return false;
	WRITE_ONCE(flow->ce_ns, now_ns);
	return true;
}

/* Add CE bytes to the meter.  When a window closes, the drain rate and the RoCE
 * rate of that window are taken, if the queue was backlogged for all of it.  If
 * not, the RoCE rate is unknown, because the RoCE traffic of a queue without
 * backlog is less than the queue could send.  Root lock and queue->lock.
 * Return: true if a window closed.
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
 * iqcn_queue_ce_sent() - handle a sampled RoCEv2 data packet that leaves with
 * CE
 * @q: queue
 * @flow: flow of the packet, NULL: none could be created
 * @skb: packet
 * @bytes: length of the packet
 * @psn: PSN of the first segment
 * @segs: number of segments
 * @echo: the receiver may echo the PSN in a response
 *
 * Context: dequeue: root lock, BHs off.
 * Return: now, in ns.
 */
u64 iqcn_queue_ce_sent(struct iqcn_queue *q, struct iqcn_flow *flow,
		       const struct sk_buff *skb, u32 bytes, u32 psn, u32 segs,
		       bool echo)
{
	bool alive = false, quiet;
	u64 now_ns;

	if (flow)
		iqcn_flow_leaves(flow, q);

	spin_lock(&q->lock);
	/* read under the lock, so that queue->deadlines stays sorted */
	now_ns = ktime_get_ns();
	q->clock_ns = now_ns;
	if (q->drain_bps && now_ns - q->drain_ns > IQCN_DRAIN_MAX_AGE_NS) {
		WRITE_ONCE(q->drain_bps, 0);
		WRITE_ONCE(q->roce_bps, 0);
	}
	iqcn_add(q->st.ce_sampled, segs);
	if (bytes > q->max_bytes)
		q->max_bytes = bytes;
	quiet = unlikely(q->quiet);
	if (!quiet) {
		iqcn_congestion_detect(q, iqcn_measure_ce(q, q->skipped_bytes +
							  bytes, now_ns),
				       now_ns);
		q->skipped_bytes = 0;
	}
	if (flow && iqcn_flow_of(flow, q)) {
		iqcn_bts_note_packet(q, flow, (const void *)skb->data, now_ns);
		iqcn_flow_set_psn(flow, psn, segs);
		if (!quiet)
			iqcn_queue_flow_ce(q, flow, psn, segs, echo, now_ns);
		alive = true;
		trace_iqcn_ce_sent(q, flow);
	}
	if (unlikely(q->backoff.until_ns))
		iqcn_timer_wake(q);
	iqcn_timer_arm(q, now_ns);
	spin_unlock(&q->lock);

	/* BHs are off, so RCU keeps the hosts of a flow that was alive */
	if (echo && alive)
		iqcn_pair_sent(q, flow, skb, psn, segs);
	return now_ns;
}

/**
 * iqcn_queue_ce_skipped() - handle a packet that leaves unsampled or without CE
 * @q: queue
 * @flow: flow of the packet
 * @skb: packet
 * @psn: PSN of the first segment
 * @segs: number of segments
 *
 * Context: dequeue: root lock, BHs off; takes port->lock.
 */
void iqcn_queue_ce_skipped(struct iqcn_queue *q, struct iqcn_flow *flow,
			   const struct sk_buff *skb, u32 psn, u32 segs)
{
	/* BHs are off, so RCU keeps a live flow's ->hosts */
	if (READ_ONCE(flow->queue)) {
		iqcn_flow_set_psn(flow, psn, segs);
		iqcn_pair_sent(q, flow, skb, psn, segs);
	}
}

/**
 * iqcn_queue_delayed() - count the sojourn time of a packet
 * @q: queue
 * @delay_ns: sojourn time
 *
 * Context: dequeue: root lock, BHs off.
 */
void iqcn_queue_delayed(struct iqcn_queue *q, u64 delay_ns)
{
	iqcn_inc(q->st.delay_samples);
	iqcn_add(q->st.delay_sum_ns, delay_ns);
	WRITE_ONCE(q->st.delay_avg_ns,
		   iqcn_sojourn_average(q->st.delay_avg_ns, delay_ns));
	if (delay_ns > q->st.delay_peak_ns)
		WRITE_ONCE(q->st.delay_peak_ns, delay_ns);
}

/* Record a receiver's CNP that goes on to the sender; queue->lock */
static void iqcn_queue_cnp_passed(struct iqcn_queue *q, struct iqcn_flow *flow,
				  u64 now_ns)
{
	iqcn_inc(q->st.cnp_seen);
	flow->cnp_srtt.interval_ns =
		iqcn_interval_sample(flow->cnp_srtt.interval_ns,
				     flow->cnp_rx_ns, now_ns);
	flow->cnp_rx_ns = now_ns;
	flow->cnps_seen++;
	iqcn_notify_timer_cnp_rx(q, flow, now_ns);
	/* the CNP changes no other work of the timer (bench "hook") */
	if (iqcn_deadline_armed(&flow->due) || iqcn_flow_has_pending(flow))
		iqcn_timer_arm(q, now_ns);
	trace_iqcn_cnp_seen(q, flow);
}

/**
 * iqcn_queue_cnp_rx() - handle a receiver's CNP for a flow
 * @flow: flow
 * @sport: UDP source port of the CNP
 * @passed: the CNP goes on to the sender; else the filter drops it
 *
 * A dropped CNP still counts as the receiver's answer for the latency
 * measurement and for ->owed.
 *
 * Context: BHs off, RCU; no lock of the module.
 */
void iqcn_queue_cnp_rx(struct iqcn_flow *flow, u16 sport, bool passed)
{
	struct iqcn_queue *q = READ_ONCE(flow->queue);
	u64 now_ns;

	if (!q)
		return;
	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	/* the flow may have died or moved; the next CNP finds its new queue */
	if (iqcn_flow_of(flow, q)) {
		iqcn_cnp_srtt_sample(&flow->cnp_srtt, now_ns);
		flow->owed = iqcn_owed_answered(flow->owed);
		flow->cnp_sport = sport;
		if (likely(passed))
			iqcn_queue_cnp_passed(q, flow, now_ns);
	}
	spin_unlock(&q->lock);
}

/**
 * iqcn_queue_way_back() - learn the path to a sender from a receiver's packet
 * @flow: flow
 * @eth: Ethernet header of a packet that the flow's receiver sent
 *
 * Generated CNPs take the same path as the receiver's, even if a third host
 * sends data with the sender's address.
 *
 * Context: BHs off, RCU; no lock of the module.
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
 * iqcn_queue_init() - initialize a queue
 * @q: queue, zeroed
 *
 * Context: RTNL.
 */
void iqcn_queue_init(struct iqcn_queue *q)
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->list);
	/* a zeroed flow state belongs to epoch 0, so it is void */
	q->epoch = 1;
	iqcn_timer_init(q);
	iqcn_gc_init(q);
}

/* Is it enough to update counters and meters for most CE packets?  True if
 * arrivals are recorded for each flow, and neither T1 nor the flow detectors
 * nor the gradient need each packet.
 */
static bool iqcn_queue_is_brief(const struct iqcn_queue *q)
{
	return (q->p.notify & IQCN_NOTIFY_BTS) &&
	       !(q->p.notify & IQCN_NOTIFY_TIMER) &&
	       !(q->p.detect & IQCN_DETECT_OF_FLOW) &&
	       !iqcn_bts_wants_gradient(q);
}

/**
 * iqcn_queue_set_params() - put new parameters into effect
 * @q: queue
 * @p: parameters, checked
 *
 * A new T1 applies to running deadlines, and a new age to existing flows.  A
 * new sampling rate or another set of detectors voids the states of flows.
 *
 * Context: RTNL, root lock, BHs off.
 */
void iqcn_queue_set_params(struct iqcn_queue *q, const struct iqcn_params *p)
{
	struct iqcn_params old;
	u64 now_ns;

	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	old = q->p;
	q->p = *p;
	if (p->sample != old.sample || p->detect != old.detect)
		iqcn_congestion_void_flows(q);
	q->idle_check_ns = 0;
	WRITE_ONCE(q->brief, iqcn_queue_is_brief(q));
	iqcn_timer_set_params(q, &old, now_ns);
	if (q->congested & ~p->detect)
		iqcn_congestion_set(q, q->congested & p->detect,
				    IQCN_REASON_RESET, now_ns);
	iqcn_timer_disarm(q);
	iqcn_timer_arm(q, now_ns);
	iqcn_gc_hurry(q);
	spin_unlock(&q->lock);
}

/**
 * iqcn_queue_reset() - reset a queue, but keep its flows and their pairings
 * @q: queue
 *
 * Pending CNPs are canceled at once.  The timer cancels deadlines and polls
 * when they expire, because there may be a million of them.
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
	iqcn_sojourn_cancel(&q->sojourn);
	WRITE_ONCE(q->st.delay_avg_ns, 0);

	spin_lock_bh(&q->lock);
	now_ns = ktime_get_ns();
	iqcn_congestion_void_flows(q);
	iqcn_pending_cancel_all(q);
	iqcn_timer_wake(q);
	iqcn_timer_disarm(q);
	iqcn_timer_reset(q);
	memset(&q->ce, 0, sizeof(q->ce));
	q->idle_check_ns = 0;
	q->reset_ns = now_ns;
	q->ended++;
	if (q->congested)
		iqcn_congestion_set(q, 0, IQCN_REASON_RESET, now_ns);
	iqcn_timer_arm(q, now_ns);
	spin_unlock_bh(&q->lock);
}

/**
 * iqcn_queue_kill() - stop a queue's timer and work, and kill its flows
 * @q: queue with a port; its qdisc neither enqueues nor dequeues any more
 *
 * q->dead keeps timer and work from being started again, so they are canceled
 * for good.
 *
 * Context: RTNL, sleeps.
 */
void iqcn_queue_kill(struct iqcn_queue *q)
{
	spin_lock_bh(&q->lock);
	q->dead = true;
	iqcn_lease_cancel(q);
	spin_unlock_bh(&q->lock);

	hrtimer_cancel(&q->timer);
	iqcn_bh_kill(&q->send_bh);
	cancel_delayed_work_sync(&q->gc_work);
	iqcn_gc_forget(q, IQCN_FORGET_ALL);
}

/* Copy counters.  Not all of them are written under queue->lock: some are
 * written under the root lock or port->lock.
 */
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
 * iqcn_queue_stats() - get counters and state of a queue
 * @q: queue
 * @st: result
 *
 * Readers change no state.  So after the idle timeout, and until the timer has
 * run, the result may be a congested queue with a CE rate of 0.
 *
 * Context: process or softirq, BHs on or off; takes queue->lock.
 */
void iqcn_queue_stats(struct iqcn_queue *q, struct tc_iqcn_xstats *st)
{
	struct iqcn_active active;
	struct iqcn_rx_stats *rx;
	struct iqcn_meter ce;
	u64 now_ns, idle_ns;
	int i;

	spin_lock_bh(&q->lock);
	/* under the lock, so that the counters of CNPs are consistent */
	iqcn_queue_counters(q, st);
	st->roce_bps = iqcn_queue_roce_bps(q);
	st->ce_sent = st->ce_sampled + READ_ONCE(q->skipped);
	if (q->port) {
		rx = iqcn_port_rx_stats(q->port);
		st->port_cnp_unmatched = atomic64_read(&rx->cnp_unmatched);
		st->port_malformed = atomic64_read(&rx->malformed);
		st->port_pfc_ignored = atomic64_read(&q->port->pfc_ignored);
		st->port_cnp_passed = atomic64_read(&q->port->cnp_passed);
		st->port_cnp_filtered = atomic64_read(&q->port->cnp_filtered);
	}
	now_ns = ktime_get_ns();
	if (q->supplement.above_ns)
		st->above_kmax_ns += now_ns - q->supplement.above_ns;
	idle_ns = iqcn_congestion_idle_ns(q);
	ce = q->ce;
	if (!iqcn_congestion_paused(q, idle_ns, now_ns))
		iqcn_meter_idle(&ce, idle_ns, now_ns);
	st->ce_rate_bps = ce.rate_bps;
	st->congested = q->congested;
	st->state_since_ns = q->state_ns ? now_ns - q->state_ns : 0;
	st->state_reason = q->state_reason;
	st->bts_prob = iqcn_bts_prob(q, now_ns);
	st->ref_bytes = iqcn_pi_runs(&q->pi) ?
			iqcn_pi_ref_bytes(&q->pi, &q->p.pi) : 0;
	st->pfc_state = iqcn_pfc_state(q);
	st->pfc_reason = q->pfc.reason;
	active = q->active;
	iqcn_active_run(&active, now_ns);
	st->flows_active = iqcn_active_flows(&active);
	st->flows = q->n_flows;
	st->flows_congested = q->congested ? q->n_flows : q->n_congested;
	for (i = max_t(int, q->p.pair, IQCN_PAIR_SPORT); i < __IQCN_PAIR_MAX; i++)
		st->flows_paired += q->by_grade[i];
	spin_unlock_bh(&q->lock);
}
