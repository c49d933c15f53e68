// SPDX-License-Identifier: GPL-2.0
/*
 * May a sender be told, and what?  Whatever the cause: not too soon after the
 * last time, only if it is known who it is, and within the port's budget.
 *
 * Source: US 12395431 B2, step S211; of telemetry US 12388756 B2, description
 * (14), (15).
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/sch_generic.h>

#include "iqcn.h"
#include "algo/telemetry.h"
#include "trace.h"

/* The port's queues are added up no more often, for there may be thousands: then for a
 * tenth of the time
 */
#define IQCN_PORT_USED_NS	(100 * NSEC_PER_USEC)
#define IQCN_PORT_USED_RESTS	9

static u64 iqcn_port_used_bytes(struct iqcn_port *port, u64 now_ns)
{
	const struct iqcn_queue *q;
	u64 used_bytes = 0, start_ns;

	if ((s64)(now_ns - READ_ONCE(port->used_ns)) < 0)
		return READ_ONCE(port->used_bytes);
	start_ns = ktime_get_ns();
	/* nobody else meanwhile */
	WRITE_ONCE(port->used_ns, start_ns + NSEC_PER_SEC);
	rcu_read_lock();
	list_for_each_entry_rcu(q, &port->queues, list)
		used_bytes += iqcn_depth_bytes(q);
	rcu_read_unlock();
	now_ns = ktime_get_ns();
	WRITE_ONCE(port->used_ns, now_ns +
		   max_t(u64, IQCN_PORT_USED_NS,
			 (now_ns - start_ns) * IQCN_PORT_USED_RESTS));
	WRITE_ONCE(port->used_bytes, used_bytes);
	return used_bytes;
}

static void iqcn_notice_telemetry(struct iqcn_notice *n, struct iqcn_queue *q,
				  bool was_ce, u64 now_ns)
{
	struct iqcn_state s = {
		.cause = n->cause,
		.was_ce = was_ce,
		.depth_bytes = iqcn_depth_bytes(q),
		.limit_bytes = q->p.limit_bytes,
		.port_bytes = iqcn_port_used_bytes(q->port, now_ns),
		.gradient = iqcn_gradient_per_us(&q->gradient, q->p.window_ns,
						 now_ns),
		.tx_bytes = u64_stats_read(&q->sent->bytes),
		.now_ns = now_ns,
	};

	/* with IQCN_NOTIFY_TIMER only packets end epochs */
	iqcn_active_run(&q->active, now_ns);
	s.flows = iqcn_active_flows(&q->active);
	iqcn_telemetry_pack(n->cnp.reserved, &s);
}

static void iqcn_notice_init(struct iqcn_notice *n, const struct iqcn_queue *q,
			     const struct iqcn_flow *flow,
			     enum iqcn_cause cause)
{
	const struct iqcn_key *key = &flow->hosts->key;
	int i;

	n->cause = cause;
	n->cnp.src = key->dst;
	n->cnp.dst = key->src;
	n->cnp.dest_qp = flow->src_qp;
	n->cnp.pkey = flow->pkey;
	n->cnp.sport = flow->cnp_sport;
	n->cnp.tos = q->p.cnp_dscp << 2 | INET_ECN_ECT_0;
	n->cnp.ttl = q->p.cnp_ttl;
	n->cnp.v6 = !ipv6_addr_v4mapped(&key->src);
	n->cnp.id = READ_ONCE(q->port->snoop) == IQCN_SNOOP_NETNS ?
		    iqcn_notify_id(&n->cnp) : 0;
	memset(n->cnp.reserved, 0, sizeof(n->cnp.reserved));
	ether_addr_copy(n->dst_mac, flow->src_mac);
	if (q->p.cnp_smac == IQCN_CNP_SMAC_RECEIVER)
		ether_addr_copy(n->src_mac, flow->dst_mac);
	else
		u64_to_ether_addr(READ_ONCE(q->port->cnp_smac), n->src_mac);
	for (i = 0; i < IQCN_VLANS; i++) {
		iqcn_vlan_unpack(&n->vlan[i], flow->vlan[i]);
		n->vlan[i].tci |= q->p.cnp_pcp << VLAN_PRIO_SHIFT;
	}
}

/**
 * iqcn_budget_charge() - may the port send one more CNP?
 * @port: port
 * @now_ns: now
 *
 * Context: BHs off.
 * Return: true if it may; it is charged for that then.
 */
bool iqcn_budget_charge(struct iqcn_port *port, u64 now_ns)
{
	bool ok;

	spin_lock(&port->budget_lock);
	ok = iqcn_budget_take(&port->budget, now_ns);
	spin_unlock(&port->budget_lock);
	return ok;
}

/**
 * iqcn_budget_spare() - may the port send a CNP that no packet asks for?
 * @port: port
 * @now_ns: now
 *
 * Half of the burst is kept for CNPs that packets cause.
 *
 * Context: BHs off.
 * Return: true if it may; it is not charged for that.
 */
bool iqcn_budget_spare(struct iqcn_port *port, u64 now_ns)
{
	bool spare;

	spin_lock(&port->budget_lock);
	spare = iqcn_budget_half(&port->budget, now_ns);
	spin_unlock(&port->budget_lock);
	return spare;
}

/**
 * iqcn_budget_refund() - a CNP that was charged is not sent
 * @port: port
 *
 * Context: BHs off.
 */
void iqcn_budget_refund(struct iqcn_port *port)
{
	spin_lock(&port->budget_lock);
	iqcn_budget_give(&port->budget);
	spin_unlock(&port->budget_lock);
}

/**
 * iqcn_tell() - a flow's sender is to be told now
 * @q: queue
 * @flow: flow of that queue
 * @n: the CNP, if it may be
 * @cause: why
 * @was_ce: the packet that is the cause was CE when it came
 * @paid: the budget was charged for it; if it is not sent the caller refunds that
 * @base_ns: when what is the reason for it happened
 * @due_ns: when it should have been
 * @now_ns: not less than in an earlier call
 *
 * Context: queue->lock, BHs off; the caller arms the timer.
 * Return: true if @n is to be injected; else why not has been counted.
 */
bool iqcn_tell(struct iqcn_queue *q, struct iqcn_flow *flow,
	       struct iqcn_notice *n, enum iqcn_cause cause, bool was_ce,
	       bool paid, u64 base_ns, u64 due_ns, u64 now_ns)
{
	lockdep_assert_held(&q->lock);

	if (!iqcn_flow_paired(q, flow)) {
		iqcn_inc(q->st.cnp_unpaired);
		flow->ce_since = false;
		return false;
	}
	if (iqcn_flow_too_soon(q, flow, now_ns)) {
		iqcn_inc(q->st.cnp_gap);
		return false;
	}
	if (!paid && !iqcn_budget_charge(q->port, now_ns)) {
		iqcn_inc(q->st.cnp_budget);
		return false;
	}
	iqcn_notice_init(n, q, flow, cause);
	if (q->p.telemetry)
		iqcn_notice_telemetry(n, q, was_ce, now_ns);
	else if (cause == IQCN_CAUSE_DROP)
		iqcn_telemetry_brief(n->cnp.reserved, cause, was_ce);
	trace_iqcn_cnp_sent(q, flow, cause, base_ns, due_ns, now_ns);
	iqcn_event_cnp_sent(q, flow, cause, now_ns);
	flow->cnp_tx_ns = now_ns;
	flow->cnps_sent++;
	flow->ce_since = false;
	return true;
}
