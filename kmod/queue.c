// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a queue: is it congested, who is due, and what is done then.
 *
 *	CE packet leaves		CNP of the receiver seen
 *	      |                               |
 *	      v                               v
 *	 deadline := now + T1           deadline := now + T1
 *	      |
 *	      v  T1 passes
 *	 queue congested, and the flow active?  -- no --> no deadline
 *	      | yes
 *	      v
 *	 paired well enough, and within the budget?  -- no --> counted
 *	      | yes                                             |
 *	      v                                                 v
 *	 inject a CNP, deadline := now + T1               deadline := now + T1
 *
 * Source: US 12395431 B2, steps S203-S211 and claim 1.  A flow is active if a
 * CE packet of it waits in the queue or has left since the last CNP of ours: the
 * patent's timer runs once per CE packet, which is not enough for a flow whose
 * packets wait in a deep queue for longer than T1.  A CNP of the receiver makes
 * no flow inactive: it answers the packet that began the silence.
 *
 * One hrtimer per queue.  It is armed for the deadline that is first at that
 * moment; when that one moves, the timer comes early once and is set anew, so
 * a CE packet of a queue with deadlines never touches the timer.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>

#include "iqcn.h"
#include "trace.h"

/* CNPs built before the lock is dropped and they are injected; on the stack */
#define IQCN_BATCH		8
/* Deadlines seen to in one run of the timer, before others get the CPU */
#define IQCN_TIMER_RUN		64
/* How long they get it for */
#define IQCN_TIMER_GAP_NS	1000
/* A drain rate that has not been measured anew for so long is forgotten */
#define IQCN_DRAIN_MAX_AGE_NS	NSEC_PER_SEC
/* Flows forgotten before locks are dropped */
#define IQCN_AGE_RUN		64

/**
 * iqcn_queue_roce_bps() - the rate that the CE rate is compared with
 * @q: queue
 *
 * Context: any.
 * Return: bit/s: what the user says, or was measured, or the link's.
 */
u64 iqcn_queue_roce_bps(const struct iqcn_queue *q)
{
	u64 drain_bps = READ_ONCE(q->drain_bps);

	if (q->p.bandwidth_bps)
		return q->p.bandwidth_bps;
	return drain_bps ?: READ_ONCE(q->link_bps);
}

/* Context: queue->lock.  A callback that runs meanwhile arms it again. */
static void iqcn_queue_disarm(struct iqcn_queue *q)
{
	if (hrtimer_try_to_cancel(&q->timer) >= 0)
		q->timer_ns = KTIME_MAX;
}

static void iqcn_queue_set_congested(struct iqcn_queue *q, u32 bits, u64 now_ns)
{
	bool change = !bits != !q->congested;

	lockdep_assert_held(&q->lock);

	WRITE_ONCE(q->congested, bits);
	if (!change)
		return;
	WRITE_ONCE(q->state_ns, now_ns);
	/* the caller arms it for what matters now */
	iqcn_queue_disarm(q);
	iqcn_inc(q->st.state_changes);
	trace_iqcn_queue_state(q->port->dev, q->parent, bits,
			       q->ce.rate_bps, iqcn_queue_roce_bps(q),
			       READ_ONCE(*q->depth_bytes));
}

/* Ask the detectors.  @fresh: a window of the CE meter has just closed. */
static void iqcn_queue_detect(struct iqcn_queue *q, bool fresh, u64 now_ns)
{
	u32 bits = q->congested & q->p.detect;

	if ((q->p.detect & IQCN_DETECT_QUEUE) && fresh) {
		bool on = iqcn_detect_queue(bits & IQCN_DETECT_QUEUE,
					    q->ce.rate_bps,
					    iqcn_queue_roce_bps(q),
					    q->p.enter_pct, q->p.exit_pct);

		bits &= ~IQCN_DETECT_QUEUE;
		bits |= on ? IQCN_DETECT_QUEUE : 0;
	}
	if (q->p.detect & IQCN_DETECT_DEPTH) {
		bool on = iqcn_detect_depth(bits & IQCN_DETECT_DEPTH,
					    READ_ONCE(*q->depth_bytes),
					    q->p.mark.kmin_bytes,
					    q->p.mark.kmax_bytes);

		bits &= ~IQCN_DETECT_DEPTH;
		bits |= on ? IQCN_DETECT_DEPTH : 0;
	}
	iqcn_queue_set_congested(q, bits, now_ns);
}

static u64 iqcn_queue_quiet_ns(const struct iqcn_queue *q)
{
	return iqcn_quiet_ns(q->p.window_ns, iqcn_queue_roce_bps(q),
			     q->max_bytes);
}

/* When the timer has something to do: at the first deadline, and while the
 * queue is congested when a silence would end that.
 */
static u64 iqcn_queue_next_ns(struct iqcn_queue *q, u64 now_ns)
{
	struct iqcn_deadline *first = iqcn_deadline_first(&q->deadlines);
	u64 next_ns = KTIME_MAX;

	if (q->dead)
		return next_ns;
	if (first)
		next_ns = first->base_ns + q->p.t1_ns;
	/* a timer that is armed already comes soon enough for that */
	if (q->congested && q->timer_ns == KTIME_MAX)
		next_ns = min(next_ns, (q->ce.start_ns ?: now_ns) +
				       iqcn_queue_quiet_ns(q));
	return next_ns;
}

/* @late_ns: when to come for what is due already */
static void iqcn_queue_arm(struct iqcn_queue *q, u64 now_ns, u64 late_ns)
{
	u64 next_ns;

	lockdep_assert_held(&q->lock);

	next_ns = iqcn_queue_next_ns(q, now_ns);
	if (next_ns <= now_ns)
		next_ns = late_ns;
	if (next_ns >= q->timer_ns)
		return;
	q->timer_ns = next_ns;
	hrtimer_start(&q->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

/**
 * iqcn_queue_ce_sent() - a RoCEv2 data packet leaves with CE
 * @q: queue
 * @flow: its flow, NULL if there was no room for one
 * @eth: its Ethernet header
 * @bytes: its length
 * @psn: its PSN, of the first segment
 * @segs: its segments
 * @echo: its PSN may come back in a response
 *
 * Context: dequeue: root lock, BHs off.
 */
void iqcn_queue_ce_sent(struct iqcn_queue *q, struct iqcn_flow *flow,
			const struct ethhdr *eth, u32 bytes, u32 psn, u32 segs,
			bool echo)
{
	bool alive = false;
	u64 now_ns;

	rcu_read_lock();
	if (flow && unlikely(READ_ONCE(flow->queue) != q))
		iqcn_flow_move(flow, q);

	spin_lock(&q->lock);
	/* times on the list of deadlines never go back */
	now_ns = ktime_get_ns();
	if (q->drain_bps && now_ns - q->drain_ns > IQCN_DRAIN_MAX_AGE_NS)
		WRITE_ONCE(q->drain_bps, 0);
	iqcn_add(q->st.ce_sent, segs);
	if (bytes > q->max_bytes)
		q->max_bytes = bytes;
	iqcn_queue_detect(q, iqcn_meter_add(&q->ce, q->p.window_ns, now_ns,
					    bytes), now_ns);
	if (flow && flow->queue == q) {
		flow->ce_ns = now_ns;
		flow->psn = (psn + segs - 1) & IQCN_PSN_MASK;
		flow->ce_since = true;
		flow->ce_sent += segs;
		ether_addr_copy(flow->dst_mac, eth->h_dest);
		ether_addr_copy(flow->src_mac, eth->h_source);
		iqcn_deadline_restart(&flow->due, &q->deadlines, now_ns);
		list_move_tail(&flow->lru, &q->lru);
		alive = true;
		trace_iqcn_ce_sent(q->port->dev, &flow->key, flow->psn,
				   READ_ONCE(*q->depth_bytes));
	}
	iqcn_queue_arm(q, now_ns, now_ns);
	spin_unlock(&q->lock);

	if (echo && alive)
		iqcn_pair_sent(q->port, flow->hosts, flow->key.qp, psn, segs);
	rcu_read_unlock();
}

/**
 * iqcn_queue_cnp_seen() - a receiver's CNP came for a flow
 * @flow: flow
 * @sport: UDP source port of the CNP
 *
 * Context: softirq, RCU; no lock of ours.
 */
void iqcn_queue_cnp_seen(struct iqcn_flow *flow, u16 sport)
{
	struct iqcn_queue *q = READ_ONCE(flow->queue);
	u64 now_ns;

	if (!q)
		return;
	spin_lock(&q->lock);
	/* it may have died, or moved, where the next CNP will find it */
	if (flow->queue == q) {
		now_ns = ktime_get_ns();
		iqcn_inc(q->st.cnp_seen);
		flow->cnp_ns = now_ns;
		flow->cnps_seen++;
		flow->cnp_sport = sport;
		if (iqcn_deadline_armed(&flow->due))
			iqcn_deadline_restart(&flow->due, &q->deadlines,
					      now_ns);
		trace_iqcn_cnp_seen(q->port->dev, &flow->key, flow->src_qp);
	}
	spin_unlock(&q->lock);
}

static void iqcn_notice_init(struct iqcn_notice *n, const struct iqcn_queue *q,
			     const struct iqcn_flow *flow)
{
	int i;

	n->cnp.src = flow->key.dst;
	n->cnp.dst = flow->key.src;
	n->cnp.dest_qp = flow->src_qp;
	n->cnp.pkey = flow->pkey;
	n->cnp.sport = flow->cnp_sport;
	n->cnp.tos = q->p.cnp_dscp << 2 | INET_ECN_ECT_0;
	n->cnp.ttl = q->p.cnp_ttl;
	n->cnp.v6 = !ipv6_addr_v4mapped(&flow->key.src);
	ether_addr_copy(n->dst_mac, flow->src_mac);
	ether_addr_copy(n->src_mac, flow->dst_mac);
	for (i = 0; i < IQCN_VLANS; i++) {
		n->vlan[i].proto = flow->vlan[i].proto;
		n->vlan[i].tci = (flow->vlan[i].tci & VLAN_VID_MASK) |
				 q->p.cnp_pcp << VLAN_PRIO_SHIFT;
	}
}

static bool iqcn_budget_ask(struct iqcn_port *port, u64 now_ns)
{
	bool ok;

	spin_lock(&port->budget_lock);
	ok = iqcn_budget_take(&port->budget, now_ns);
	spin_unlock(&port->budget_lock);
	return ok;
}

/* A packet of it waits here, or has left since we last told the sender */
static bool iqcn_flow_active(const struct iqcn_flow *flow)
{
	return flow->ce_since || refcount_read(&flow->refs) > 1;
}

/* T1 has passed for a flow.  Return: @n is to be injected. */
static bool iqcn_flow_due(struct iqcn_queue *q, struct iqcn_flow *flow,
			  struct iqcn_notice *n, u64 now_ns)
{
	if (!q->congested || !(q->p.notify & IQCN_NOTIFY_TIMER) ||
	    !iqcn_flow_active(flow)) {
		iqcn_deadline_cancel(&flow->due);
		return false;
	}
	if (flow->grade == IQCN_PAIR_NONE || flow->grade < q->p.pair) {
		iqcn_inc(q->st.cnp_unpaired);
		flow->ce_since = false;
		goto again;
	}
	if (!iqcn_budget_ask(q->port, now_ns)) {
		iqcn_inc(q->st.cnp_budget);
		goto again;
	}
	iqcn_notice_init(n, q, flow);
	trace_iqcn_cnp_sent(q->port->dev, &flow->key, flow->src_qp,
			    flow->due.base_ns, q->p.t1_ns, now_ns);
	flow->cnp_ns = now_ns;
	flow->cnps_sent++;
	flow->ce_since = false;
	iqcn_deadline_restart(&flow->due, &q->deadlines, now_ns);
	return true;

again:
	iqcn_deadline_restart(&flow->due, &q->deadlines, now_ns);
	return false;
}

/* Fill @batch from those that are due, @seen of them at most.
 * Return: how many notices.
 */
static unsigned int iqcn_queue_collect(struct iqcn_queue *q,
				       struct iqcn_notice *batch,
				       unsigned int *seen)
{
	struct iqcn_deadline *first;
	unsigned int n = 0;
	u64 now_ns;

	lockdep_assert_held(&q->lock);

	now_ns = ktime_get_ns();
	iqcn_queue_detect(q, iqcn_meter_quiet(&q->ce, iqcn_queue_quiet_ns(q),
					      now_ns), now_ns);
	while (n < IQCN_BATCH && *seen && !q->dead) {
		first = iqcn_deadline_first(&q->deadlines);
		if (!first || !iqcn_deadline_due(first, q->p.t1_ns, now_ns))
			break;
		(*seen)--;
		if (iqcn_flow_due(q, container_of(first, struct iqcn_flow, due),
				  &batch[n], now_ns))
			n++;
	}
	return n;
}

static void iqcn_queue_inject(struct iqcn_queue *q,
			      const struct iqcn_notice *batch, unsigned int n)
{
	unsigned int i, failed = 0;

	if (!n)
		return;
	for (i = 0; i < n; i++)
		if (!iqcn_notify_inject(q->port->dev, &batch[i]))
			failed++;
	spin_lock(&q->lock);
	iqcn_add(q->st.cnp_sent, n - failed);
	iqcn_add(q->st.cnp_error, failed);
	spin_unlock(&q->lock);
}

static enum hrtimer_restart iqcn_queue_timer(struct hrtimer *timer)
{
	struct iqcn_queue *q = container_of(timer, struct iqcn_queue, timer);
	struct iqcn_notice batch[IQCN_BATCH];
	unsigned int n, seen = IQCN_TIMER_RUN;
	u64 now_ns;

	do {
		spin_lock(&q->lock);
		n = iqcn_queue_collect(q, batch, &seen);
		spin_unlock(&q->lock);
		iqcn_queue_inject(q, batch, n);
	} while (n == IQCN_BATCH && seen);

	/* Not by a restart, for whoever holds the lock may arm it.  If more is
	 * due already, after a pause: a timer armed for the past would run
	 * again within the same softirq, and so for ever.
	 */
	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	q->timer_ns = KTIME_MAX;
	iqcn_queue_arm(q, now_ns, now_ns + IQCN_TIMER_GAP_NS);
	spin_unlock(&q->lock);
	return HRTIMER_NORESTART;
}

static void iqcn_queue_age_next(struct iqcn_queue *q, u64 ns)
{
	/* a jiffy late rather than early */
	queue_delayed_work(iqcn_wq, &q->age_work, nsecs_to_jiffies(ns) + 1);
}

/**
 * iqcn_queue_age_start() - the first flow has joined
 * @q: queue
 *
 * Context: queue->lock, BHs off.
 */
void iqcn_queue_age_start(struct iqcn_queue *q)
{
	if (!q->dead)
		iqcn_queue_age_next(q, (u64)q->p.age_ms * NSEC_PER_MSEC);
}

/* Why flows are forgotten */
enum iqcn_forget {
	IQCN_FORGET_AGED,
	IQCN_FORGET_SURPLUS,
	IQCN_FORGET_ALL,
};

/* The oldest flow, if it is to be forgotten.  Else @wait_ns is how long it
 * takes until it has aged, 0: there is none.
 */
static struct iqcn_flow *iqcn_queue_oldest(struct iqcn_queue *q, u64 now_ns,
					   enum iqcn_forget why, u64 *wait_ns)
{
	struct iqcn_flow *flow;
	s64 left_ns;

	spin_lock(&q->lock);
	*wait_ns = 0;
	flow = list_first_entry_or_null(&q->lru, struct iqcn_flow, lru);
	if (flow && why == IQCN_FORGET_AGED) {
		left_ns = flow->ce_ns + (u64)q->p.age_ms * NSEC_PER_MSEC -
			  now_ns;
		if (left_ns > 0) {
			*wait_ns = left_ns;
			flow = NULL;
		}
	} else if (why == IQCN_FORGET_SURPLUS && q->n_flows <= q->p.flows) {
		flow = NULL;
	}
	spin_unlock(&q->lock);
	return flow;
}

/* Return: there may be more to forget, locks were dropped for others' sake */
static bool iqcn_queue_forget(struct iqcn_queue *q, enum iqcn_forget why,
			      u64 *wait_ns)
{
	struct iqcn_port *port = q->port;
	struct iqcn_flow *flow = NULL;
	u64 now_ns = ktime_get_ns();
	int i;

	spin_lock_bh(&port->lock);
	for (i = 0; i < IQCN_AGE_RUN; i++) {
		flow = iqcn_queue_oldest(q, now_ns, why, wait_ns);
		if (!flow)
			break;
		iqcn_flow_kill(flow);
		if (why == IQCN_FORGET_AGED)
			iqcn_inc(q->st.flow_aged);
		else if (why == IQCN_FORGET_SURPLUS)
			iqcn_inc(q->st.flow_evicted);
	}
	spin_unlock_bh(&port->lock);
	cond_resched();
	return flow;
}

static void iqcn_queue_age(struct work_struct *work)
{
	struct iqcn_queue *q = container_of(to_delayed_work(work),
					    struct iqcn_queue, age_work);
	u64 wait_ns;

	while (iqcn_queue_forget(q, IQCN_FORGET_AGED, &wait_ns))
		;

	spin_lock_bh(&q->lock);
	if (wait_ns && !q->dead)
		iqcn_queue_age_next(q, wait_ns);
	spin_unlock_bh(&q->lock);
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
	INIT_LIST_HEAD(&q->deadlines);
	INIT_LIST_HEAD(&q->lru);
	q->timer_ns = KTIME_MAX;
	hrtimer_setup(&q->timer, iqcn_queue_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	INIT_DELAYED_WORK(&q->age_work, iqcn_queue_age);
}

/**
 * iqcn_queue_set_params() - new parameters take effect
 * @q: queue
 * @p: parameters, checked
 *
 * Deadlines follow a new T1 at once, and ageing a new age.
 *
 * Context: RTNL, root lock, BHs off.
 */
void iqcn_queue_set_params(struct iqcn_queue *q, const struct iqcn_params *p)
{
	u64 now_ns;

	spin_lock(&q->lock);
	now_ns = ktime_get_ns();
	q->p = *p;
	iqcn_queue_disarm(q);
	iqcn_queue_arm(q, now_ns, now_ns);
	if (q->n_flows)
		mod_delayed_work(iqcn_wq, &q->age_work, 0);
	spin_unlock(&q->lock);
}

/**
 * iqcn_queue_trim_flows() - the limit of flows may have become lower
 * @q: queue with a port
 *
 * Context: RTNL.
 */
void iqcn_queue_trim_flows(struct iqcn_queue *q)
{
	u64 wait_ns;

	while (iqcn_queue_forget(q, IQCN_FORGET_SURPLUS, &wait_ns))
		;
}

/**
 * iqcn_queue_reset() - forget what is going on, but not who is who
 * @q: queue
 *
 * Deadlines end, congestion ends.  The timer may run on another CPU: it finds
 * nothing then, so it need not be waited for.
 *
 * Context: root lock, BHs off; or RTNL alone, when the qdisc is destroyed.
 */
void iqcn_queue_reset(struct iqcn_queue *q)
{
	struct iqcn_deadline *first;

	q->drain.start_ns = 0;
	q->drain_bps = 0;

	spin_lock_bh(&q->lock);
	while ((first = iqcn_deadline_first(&q->deadlines)))
		iqcn_deadline_cancel(first);
	iqcn_queue_disarm(q);
	memset(&q->ce, 0, sizeof(q->ce));
	if (q->congested)
		iqcn_queue_set_congested(q, 0, ktime_get_ns());
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
	u64 wait_ns;

	spin_lock_bh(&q->lock);
	q->dead = true;
	spin_unlock_bh(&q->lock);

	hrtimer_cancel(&q->timer);
	cancel_delayed_work_sync(&q->age_work);
	while (iqcn_queue_forget(q, IQCN_FORGET_ALL, &wait_ns))
		;
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
	struct iqcn_meter ce;
	u64 now_ns, quiet_ns;
	int i;

	*st = q->st;
	st->roce_bps = iqcn_queue_roce_bps(q);
	if (q->port) {
		st->port_cnp_unmatched =
			atomic64_read(&q->port->cnp_unmatched);
		st->port_malformed = atomic64_read(&q->port->malformed);
	}

	spin_lock_bh(&q->lock);
	now_ns = ktime_get_ns();
	quiet_ns = iqcn_quiet_ns(q->p.window_ns, st->roce_bps, q->max_bytes);
	ce = q->ce;
	iqcn_meter_quiet(&ce, quiet_ns, now_ns);
	st->rate_bps = ce.rate_bps;
	st->congested = q->congested;
	st->state_since_ns = q->state_ns ? now_ns - q->state_ns : 0;
	st->flows = q->n_flows;
	st->flows_congested = q->congested ? q->n_flows : 0;
	for (i = max_t(int, q->p.pair, IQCN_PAIR_SPORT); i < __IQCN_PAIR_MAX; i++)
		st->flows_paired += q->by_grade[i];
	spin_unlock_bh(&q->lock);
}
