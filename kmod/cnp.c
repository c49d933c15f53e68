// SPDX-License-Identifier: GPL-2.0
/*
 * Generated CNPs: the gate, the contents, and the injection.
 *
 * The gate passes a CNP if the flow is paired, we have sent none for it within
 * min-gap, and the port's budget allows one more.  Every CNP must pass the
 * gate when it is sent.  A CNP that a packet causes, other than by a drop, must
 * also pass the gate when the packet is handled, because wreb and pi mark a
 * packet of a paired flow only if its CNP will be sent.  Such a CNP is charged
 * to the budget only once.
 *
 * A CNP is injected as if the receiver had sent it and the port had received
 * it.  Bridge, router, ACLs, counters and taps treat it like any other packet
 * and forward it to the sender.  By default the Ethernet source address of the
 * CNP is a locally administered one of the port, not the receiver's, because a
 * bridge learns source addresses, and the receiver may be behind another port
 * by now.
 *
 * The hooks that parse CNPs must not take an injected CNP for the receiver's.
 * netif_receive_skb_core(), which bypasses RPS, calls the port's ingress hook
 * in the injecting task, so this hook recognizes the CNP by the task.  On its
 * way to the hooks of the namespace, a CNP may wait in an ifb or for user
 * space, and it may pass these hooks several times.  They recognize a CNP by
 * its IPv4 identification or IPv6 flow label, a keyed hash of its addresses and
 * QP.
 *
 * Source: US 12395431 B2, step S211; telemetry: US 12388756 B2, description
 * (14), (15).
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/once.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/sch_generic.h>

#include "algo/grant.h"
#include "algo/telemetry.h"
#include "iqcn.h"
#include "trace.h"

/* The depths of a port's queues are added up at most once in this time */
#define IQCN_PORT_USED_NS	(100 * NSEC_PER_USEC)

static u64 iqcn_cnp_port_bytes(struct iqcn_port *port, u64 now_ns)
{
	const struct iqcn_queue *q;
	u64 used_bytes = 0, start_ns;

	if ((s64)(now_ns - READ_ONCE(port->used_ns)) < 0)
		return READ_ONCE(port->used_bytes);
	start_ns = ktime_get_ns();
	/* other CPUs use the old sum meanwhile */
	WRITE_ONCE(port->used_ns, start_ns + NSEC_PER_SEC);
	rcu_read_lock();
	list_for_each_entry_rcu(q, &port->queues, list)
		used_bytes += iqcn_depth_bytes(q);
	rcu_read_unlock();
	now_ns = ktime_get_ns();
	WRITE_ONCE(port->used_ns, now_ns +
		   max_t(u64, IQCN_PORT_USED_NS,
			 (now_ns - start_ns) * IQCN_PORT_SUM_RESTS));
	WRITE_ONCE(port->used_bytes, used_bytes);
	return used_bytes;
}

static void iqcn_cnp_telemetry(struct iqcn_notice *n, struct iqcn_queue *q,
			       bool was_ce, u64 now_ns)
{
	struct iqcn_state s = {
		.cause = n->cause,
		.was_ce = was_ce,
		.depth_bytes = iqcn_depth_bytes(q),
		.limit_bytes = q->p.limit_bytes,
		.port_bytes = iqcn_cnp_port_bytes(q->port, now_ns),
		.gradient = iqcn_gradient_per_us(&q->gradient, q->p.window_ns,
						 now_ns),
		.tx_bytes = u64_stats_read(&q->sent->bytes),
		.now_ns = now_ns,
	};

	/* without pi, only packets end an epoch: end it here if it is over */
	iqcn_active_run(&q->active, now_ns);
	s.flows = iqcn_active_flows(&q->active);
	iqcn_telemetry_pack(n->cnp.reserved, &s);
}

static void iqcn_cnp_grant(struct iqcn_notice *n, const struct iqcn_queue *q,
			   const struct iqcn_flow *flow,
			   const struct iqcn_why *why)
{
	const struct iqcn_grant_state s = {
		.was_ce = why->was_ce,
		.window_bytes = why->window_bytes,
		.depth_bytes = iqcn_depth_bytes(q),
		.limit_bytes = q->p.limit_bytes,
		.flows = iqcn_active_flows(&q->active),
		.part = iqcn_flow_queued(flow),
		.all = READ_ONCE(q->tracked),
		.base_rtt_ns = q->p.base_rtt_ns,
		/* only a congested queue grants windows */
		.state = IQCN_PFC_STATE_CONGESTED,
	};

	iqcn_grant_pack(n->cnp.reserved, &s);
}

static u16 iqcn_cnp_sport(const struct iqcn_queue *q,
			  const struct iqcn_flow *flow,
			  const struct iqcn_why *why)
{
	if (q->p.cnp_sport == IQCN_CNP_SPORT_LEARNED)
		return flow->cnp_sport;
	return why->sport ?: READ_ONCE(flow->sport);
}

static void iqcn_cnp_fill(struct iqcn_notice *n, const struct iqcn_queue *q,
			  struct iqcn_flow *flow, const struct iqcn_why *why)
{
	const struct iqcn_key *key = &flow->hosts->key;
	int i;

	n->cause = why->cause;
	n->flow = flow;
	n->cnp.src = key->dst;
	n->cnp.dst = key->src;
	n->cnp.dest_qp = flow->src_qp;
	n->cnp.pkey = flow->pkey;
	n->cnp.sport = iqcn_cnp_sport(q, flow, why);
	n->cnp.tos = q->p.cnp_dscp << 2 | INET_ECN_ECT_0;
	n->cnp.ttl = q->p.cnp_ttl;
	n->cnp.v6 = !ipv6_addr_v4mapped(&key->src);
	n->cnp.id = READ_ONCE(q->port->snoop) == IQCN_SNOOP_NETNS ?
		    iqcn_cnp_id(&n->cnp) : 0;
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

static bool iqcn_cnp_charge(struct iqcn_port *port, u64 now_ns)
{
	bool ok;

	spin_lock(&port->budget_lock);
	ok = iqcn_budget_take(&port->budget, now_ns);
	spin_unlock(&port->budget_lock);
	return ok;
}

/**
 * iqcn_cnp_refund() - refund the budget for a CNP that is not sent
 * @port: port
 *
 * Context: BHs off.
 */
void iqcn_cnp_refund(struct iqcn_port *port)
{
	spin_lock(&port->budget_lock);
	iqcn_budget_give(&port->budget);
	spin_unlock(&port->budget_lock);
}

/**
 * iqcn_cnp_gate() - may a CNP be sent to a flow's sender now?
 * @q: queue
 * @flow: flow of that queue
 * @paid: the budget has already been charged for the CNP
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock, BHs off.
 * Return: true if the CNP may be sent; the port's budget has then been charged
 * for it.  Else the reason is counted.
 */
bool iqcn_cnp_gate(struct iqcn_queue *q, struct iqcn_flow *flow, bool paid,
		   u64 now_ns)
{
	lockdep_assert_held(&q->lock);

	if (!iqcn_flow_paired(q, flow)) {
		iqcn_inc(q->st.cnp_unpaired);
		return false;
	}
	if (iqcn_flow_too_soon(q, flow, now_ns)) {
		iqcn_inc(q->st.cnp_gap);
		return false;
	}
	if (!paid && !iqcn_cnp_charge(q->port, now_ns)) {
		iqcn_inc(q->st.cnp_budget);
		return false;
	}
	return true;
}

/**
 * iqcn_cnp_prepare() - check the gate and describe the CNP to inject
 * @q: queue
 * @flow: flow of that queue
 * @n: result: the CNP
 * @why: cause of the CNP
 * @now_ns: now; read under queue->lock, so that it does not decrease
 *
 * Context: queue->lock, BHs off; the caller arms the timer.
 * Return: true if @n is to be injected; else the reason is counted.
 */
bool iqcn_cnp_prepare(struct iqcn_queue *q, struct iqcn_flow *flow,
		      struct iqcn_notice *n, const struct iqcn_why *why,
		      u64 now_ns)
{
	if (!iqcn_cnp_gate(q, flow, why->paid, now_ns)) {
		/* until its next CE packet leaves, an unpaired flow is active
		 * only while packets of it are queued (notify_timer.c)
		 */
		if (!iqcn_flow_paired(q, flow))
			flow->ce_since = false;
		return false;
	}
	iqcn_cnp_fill(n, q, flow, why);
	if (why->cause == IQCN_CAUSE_GRANT)
		iqcn_cnp_grant(n, q, flow, why);
	else if (q->p.telemetry)
		iqcn_cnp_telemetry(n, q, why->was_ce, now_ns);
	else if (why->cause == IQCN_CAUSE_DROP)
		iqcn_telemetry_brief(n->cnp.reserved, why->cause, why->was_ce);
	trace_iqcn_cnp_sent(q, flow, why->cause, why->base_ns, why->due_ns,
			    now_ns);
	iqcn_event_cnp_sent(q, flow, why->cause, now_ns);
	WRITE_ONCE(flow->cnp_tx_ns, now_ns);
	flow->ce_since = false;
	return true;
}

/* A CNP inside netif_receive_skb_core().  BHs are off, so a CPU has at most
 * one.  With PREEMPT_RT, which queue.h does not allow yet, a CPU would have one
 * for each task that was preempted there.  Tasks do not migrate meanwhile.
 */
struct iqcn_injection {
	struct list_head list;
	const struct task_struct *task;
};

static DEFINE_PER_CPU(struct list_head, iqcn_injections);

static void iqcn_injection_begin(struct iqcn_injection *i)
{
	i->task = current;
	preempt_disable();
	list_add(&i->list, this_cpu_ptr(&iqcn_injections));
	preempt_enable();
}

static void iqcn_injection_end(struct iqcn_injection *i)
{
	preempt_disable();
	list_del(&i->list);
	preempt_enable();
}

/**
 * iqcn_cnp_is_injected() - is the packet of this hook a CNP that we inject?
 *
 * Context: softirq.
 * Return: true if the current task is injecting a CNP.
 */
bool iqcn_cnp_is_injected(void)
{
	const struct iqcn_injection *i;
	bool injected = false;

	preempt_disable();
	list_for_each_entry(i, this_cpu_ptr(&iqcn_injections), list)
		if (i->task == current) {
			injected = true;
			break;
		}
	preempt_enable();
	return injected;
}

/**
 * iqcn_cnp_id() - identification of a generated CNP
 * @cnp: CNP; only its addresses, QP and @cnp->v6 are read
 *
 * It distinguishes a generated CNP from the receiver's.
 *
 * Context: any.
 * Return: IPv4 identification or IPv6 flow label; never 0, which many NICs
 * send.
 */
u32 iqcn_cnp_id(const struct iqcn_cnp *cnp)
{
	const struct {
		struct in6_addr src;
		struct in6_addr dst;
		u64 qp;
	} whose = { cnp->src, cnp->dst, cnp->dest_qp };
	static siphash_aligned_key_t key;
	u32 hash;

	get_random_once(&key, sizeof(key));
	hash = siphash(&whose, sizeof(whose), &key);
	return (hash & (cnp->v6 ? 0xfffff : 0xffff)) ?: 1;
}

/* Build a CNP.  The outer VLAN tag goes into the skb's metadata, as with a
 * device that strips tags, and the inner one into the packet.
 */
static struct sk_buff *iqcn_cnp_build(struct net_device *dev,
				      const struct iqcn_notice *n)
{
	const struct iqcn_vlan *inner = &n->vlan[1];
	struct sk_buff *skb;
	struct ethhdr *eth;
	__be16 proto;
	u8 *l3;

	/* with the headroom of a packet that the port has received */
	skb = __netdev_alloc_skb_ip_align(dev, ETH_HLEN + VLAN_HLEN +
					  IQCN_CNP_MAX_LEN,
					  GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;

	proto = n->cnp.v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	eth = skb_put(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, n->dst_mac);
	ether_addr_copy(eth->h_source, n->src_mac);
	eth->h_proto = inner->proto ?: proto;
	if (inner->proto) {
		struct vlan_hdr *vh = skb_put(skb, VLAN_HLEN);

		vh->h_vlan_TCI = htons(inner->tci);
		vh->h_vlan_encapsulated_proto = proto;
	}
	l3 = skb_tail_pointer(skb);
	skb_put(skb, iqcn_build_cnp(l3, &n->cnp));

	skb->priority = n->vlan[0].tci >> VLAN_PRIO_SHIFT;
	skb->protocol = eth_type_trans(skb, dev);
	if (n->vlan[0].proto)
		__vlan_hwaccel_put_tag(skb, n->vlan[0].proto, n->vlan[0].tci);
	return skb;
}

/* Inject a CNP.  Return: false if memory ran out or the port is down. */
static bool iqcn_cnp_inject_one(struct net_device *dev,
				const struct iqcn_notice *n)
{
	struct iqcn_injection injection;
	struct sk_buff *skb;

	if (unlikely(!netif_running(dev)))
		return false;
	skb = iqcn_cnp_build(dev, n);
	if (unlikely(!skb))
		return false;

	iqcn_injection_begin(&injection);
	netif_receive_skb_core(skb);
	iqcn_injection_end(&injection);
	return true;
}

/**
 * iqcn_cnp_inject() - inject CNPs and count them
 * @q: queue
 * @batch: CNPs
 * @n: number of CNPs
 *
 * Context: softirq, BHs off since iqcn_cnp_prepare(); no lock is held, because
 * the CNPs may reach any qdisc.
 */
void iqcn_cnp_inject(struct iqcn_queue *q, const struct iqcn_notice *batch,
		     unsigned int n)
{
	unsigned int i, sent[__IQCN_CAUSE_MAX] = {};
	unsigned long failed = 0;

	if (!n)
		return;
	for (i = 0; i < n; i++) {
		if (likely(iqcn_cnp_inject_one(q->port->dev, &batch[i]))) {
			sent[batch[i].cause]++;
			continue;
		}
		failed |= BIT(i);
	}
	spin_lock(&q->lock);
	iqcn_add(q->st.cnp_sent, n - hweight_long(failed));
	iqcn_add(q->st.cnp_error, hweight_long(failed));
	for (i = 0; i < n; i++) {
		struct iqcn_flow *flow = batch[i].flow;

		/* a flow that has moved is protected by another lock */
		if (unlikely(!iqcn_flow_of(flow, q)))
			continue;
		if (likely(!(failed & BIT(i))))
			flow->cnps_sent++;
		else
			/* the sender was not notified, so neither min-gap nor
			 * "filter told" may count this CNP
			 */
			WRITE_ONCE(flow->cnp_tx_ns, 0);
	}
	iqcn_add(q->st.cnp_wreb, sent[IQCN_CAUSE_WREB]);
	iqcn_add(q->st.cnp_pi, sent[IQCN_CAUSE_PI]);
	iqcn_add(q->st.cnp_poll, sent[IQCN_CAUSE_POLL]);
	iqcn_add(q->st.cnp_drop, sent[IQCN_CAUSE_DROP]);
	iqcn_add(q->st.cnp_pfc, sent[IQCN_CAUSE_PFC]);
	iqcn_add(q->st.cnp_grant, sent[IQCN_CAUSE_GRANT]);
	iqcn_add(q->st.cnp_supplement, sent[IQCN_CAUSE_SUPPLEMENT]);
	spin_unlock(&q->lock);
}

/**
 * iqcn_cnp_module_init() - initialize the per-CPU lists of injections
 *
 * Context: process.
 */
void iqcn_cnp_module_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(per_cpu_ptr(&iqcn_injections, cpu));
}
