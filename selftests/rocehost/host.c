// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts: receive and transmit paths and their timer.
 *
 * Each host has one timer.  A flow has one entry in the timer queue, for its
 * next event: packet, RP timer or timeout.  A sink has an entry in a second
 * queue.  A flow whose packet is due waits in the ready list until the line is
 * free, so the cost per packet does not depend on the number of ready flows.
 */
#include <linux/if_vlan.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>

#include "rocehost.h"
#include "skb.h"

/* Maximum number of events of flows and sinks, and of packets to send, that one
 * run of the timer processes
 */
#define RH_RUN_MAX	512

/* Control block of a packet in rh_host.delayed */
struct rh_skb_cb {
	u64 due_ns;
};

static struct rh_skb_cb *rh_skb_cb(struct sk_buff *skb)
{
	return (struct rh_skb_cb *)skb->cb;
}

/* Send packets that were queued under a host's lock.  BHs are off. */
static void rh_transmit(struct rh_host *host, struct sk_buff_head *out)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(out)))
		if (dev_queue_xmit(skb))
			atomic64_inc(&host->refused);
}

/**
 * rh_out() - queue a packet that is sent after the host's lock is released
 * @host: sending host, locked
 * @skb: the packet, or NULL
 * @now_ns: now
 * @out: queue of packets to send
 *
 * The packet does not wait for the line, but delays the packets that do.
 */
void rh_out(struct rh_host *host, struct sk_buff *skb, u64 now_ns,
	    struct sk_buff_head *out)
{
	if (!skb)
		return;
	pace_sent(&host->line, skb->len, host->conf.rate_bps, now_ns);
	if (host->on_wire)
		wire_stamp(skb, now_ns * LINE_PS_PER_NS);
	skb->dev = host->dev;
	__skb_queue_tail(out, skb);
}

/* Find the flow that a packet is for */
static struct rh_flow *rh_flow_for(struct rh_host *host, u32 qpn,
				   const struct iqcn_pkt *pkt)
{
	struct rh_flow *flow = xa_load(&host->flows, qpn);

	if (flow && ipv6_addr_equal(&flow->headers.to, &pkt->src))
		return flow;
	host->stray++;
	return NULL;
}

static struct rh_sink *rh_sink_for(struct rh_host *host, u64 qpn,
				   const struct iqcn_pkt *pkt)
{
	struct rh_sink *sink = xa_load(&host->sinks, qpn);

	if (sink && ipv6_addr_equal(&sink->headers.to, &pkt->src))
		return sink;
	host->stray++;
	return NULL;
}

/* Process a message of the connection setup */
static void rh_receive_cm(struct rh_host *host, const struct iqcn_pkt *pkt,
			  const u8 *bth, u32 avail, u64 now_ns,
			  struct sk_buff_head *out)
{
	struct rh_flow *flow;
	struct rh_sink *sink;
	struct iqcn_cm cm;

	if (!iqcn_parse_cm(bth, avail, &cm)) {
		/* an RTU ends the handshake, and needs no reply */
		if (avail < RH_CM_ATTR + 2 ||
		    get_unaligned_be16(bth + RH_CM_ATTR) != RH_CM_RTU)
			host->stray++;
		return;
	}
	switch (cm.attr) {
	case IQCN_CM_REQ:
		/* rocehost's service id is the QP number of the sink */
		sink = rh_sink_for(host, get_unaligned_be64(bth + 52), pkt);
		if (sink && sink->dest_qpn == cm.qpn)
			rh_out(host, rh_build_cm(&sink->headers, IQCN_CM_REP,
						 sink->qpn, cm.local_id, 0),
			       now_ns, out);
		break;
	case IQCN_CM_REP:
		flow = rh_flow_for(host, cm.remote_id, pkt);
		if (flow && flow->dest_qpn == cm.qpn)
			rh_flow_accepted(flow, now_ns, out);
		break;
	}
}

/* Process a CNP, an ACK or a NAK */
static void rh_receive_answer(struct rh_host *host, const struct iqcn_pkt *pkt,
			      const u8 *bth, u8 tos, u64 now_ns)
{
	u32 header = IQCN_UDP_LEN + IQCN_BTH_LEN + AETH_LEN + IQCN_ICRC_LEN;
	const u8 *body = bth + IQCN_BTH_LEN;
	struct rh_answer answer = {
		.pkt = pkt,
		.syndrome = *body,
		.dscp = tos >> 2,
	};
	struct telemetry tm;
	u32 window_bytes;
	struct rh_flow *flow;

	if (pkt->opcode == RC_ACK && pkt->udp_len < header) {
		host->malformed++;
		return;
	}
	flow = rh_flow_for(host, pkt->dest_qp, pkt);
	if (!flow)
		return;
	/* the parser accepts only CNPs with all reserved bytes */
	if (pkt->opcode == IQCN_OP_CNP && telemetry_decode(body, &tm))
		rh_flow_told(flow, &tm, now_ns);
	if (pkt->opcode == IQCN_OP_CNP && win_decode(body, &window_bytes))
		rh_flow_granted(flow, window_bytes, now_ns);
	if (pkt->opcode == RC_ACK) {
		answer.msn = get_unaligned_be32(body) & IQCN_PSN_MASK;
		answer.has_sr = pkt->udp_len >= header + SR_ACK_LEN;
	}
	if (answer.has_sr)
		sr_ack_decode(body + AETH_LEN, &answer.sr);
	rh_flow_received(flow, &answer, now_ns);
}

static bool rh_is_write(u8 opcode)
{
	return (opcode >= RC_WRITE_FIRST && opcode <= RC_WRITE_LAST) ||
	       opcode == RC_WRITE_ONLY;
}

static void rh_receive_data(struct rh_host *host, const struct iqcn_pkt *pkt,
			    const u8 *bth, u8 tos, u64 now_ns,
			    struct sk_buff_head *out)
{
	u32 header = IQCN_UDP_LEN + IQCN_BTH_LEN + IQCN_ICRC_LEN +
		     (bth[1] >> 4 & 3);
	const u8 *body = bth + IQCN_BTH_LEN;
	struct rh_sink *sink = rh_sink_for(host, pkt->dest_qp, pkt);
	struct rh_data data = {
		.pkt = pkt,
		.ack_req = bth[8] & 0x80,
		.ce = INET_ECN_is_ce(tos),
	};

	if (!sink)
		return;
	if (pkt->opcode == RC_WRITE_FIRST || pkt->opcode == RC_WRITE_ONLY) {
		header += RH_RETH_LEN;
		body += RH_RETH_LEN;
	}
	if (sink->sr)
		header += SR_DATA_LEN;
	if (pkt->udp_len < header) {
		host->malformed++;
		return;
	}
	if (sink->sr)
		sr_data_decode(body, &data.sent_ns, &data.msg);
	data.payload = pkt->udp_len - header;
	rh_sink_received(host, sink, &data, now_ns, out);
}

static void rh_receive(struct rh_host *host, struct sk_buff *skb, u64 now_ns,
		       struct sk_buff_head *out)
{
	struct iqcn_pkt pkt = {};
	u8 buf[IQCN_PARSE_MAX];
	const u8 *data, *bth;
	u32 avail;
	u8 tos;

	if (iqcn_skb_parse(skb, 0, skb->protocol, buf, &data, &pkt) !=
	    IQCN_ROCE ||
	    !pskb_may_pull(skb, pkt.udp_off + IQCN_UDP_LEN + IQCN_BTH_LEN) ||
	    !rh_icrc_ok(skb, &pkt)) {
		host->malformed++;
		return;
	}
	/* pskb_may_pull() may have moved the header */
	avail = min_t(u32, skb->len, IQCN_PARSE_MAX);
	data = skb_header_pointer(skb, 0, avail, buf);
	if (!data)
		return;
	bth = data + pkt.udp_off + IQCN_UDP_LEN;
	avail -= pkt.udp_off + IQCN_UDP_LEN;
	tos = pkt.v6 ? ipv6_get_dsfield((const struct ipv6hdr *)data) :
		       ((const struct iphdr *)data)->tos;

	if (pkt.opcode == IQCN_OP_CNP || pkt.opcode == RC_ACK)
		rh_receive_answer(host, &pkt, bth, tos, now_ns);
	else if (rh_is_write(pkt.opcode))
		rh_receive_data(host, &pkt, bth, tos, now_ns, out);
	else if (pkt.opcode == IQCN_OP_UD_SEND_ONLY && pkt.dest_qp == IQCN_QP1)
		rh_receive_cm(host, &pkt, bth, avail, now_ns, out);
	else
		host->stray++;
}

/* Process a packet, and release its bytes in the NIC's buffer */
static void rh_consume(struct rh_host *host, struct sk_buff *skb, u64 now_ns,
		       struct sk_buff_head *out)
{
	rh_receive(host, skb, now_ns, out);
	wire_release(skb, now_ns * LINE_PS_PER_NS);
	consume_skb(skb);
}

/* Process delayed packets whose time has come, at most @max */
static void rh_receive_due(struct rh_host *host, u64 now_ns, int max,
			   struct sk_buff_head *out)
{
	struct sk_buff *skb;

	while (max-- && (skb = skb_peek(&host->delayed)) &&
	       rh_skb_cb(skb)->due_ns <= now_ns) {
		__skb_unlink(skb, &host->delayed);
		rh_consume(host, skb, now_ns, out);
	}
}

/* Find the first flow that waits for the line and that PFC does not pause */
static struct rh_flow *rh_first_ready(const struct rh_host *host)
{
	int prio = host->on_wire ? PFC_PRIOS - 1 : 0;

	for (; prio >= 0; prio--)
		if (!list_empty(&host->ready[prio]) &&
		    !wire_paused(host->dev, prio))
			return list_first_entry(&host->ready[prio],
						struct rh_flow, ready);
	return NULL;
}

/* Send packets of ready flows at line rate, at most @max */
static void rh_send_ready(struct rh_host *host, u64 now_ns, int max,
			  struct sk_buff_head *out)
{
	struct rh_flow *flow;

	while (host->line.next_ns <= now_ns && max--) {
		flow = rh_first_ready(host);
		if (!flow)
			return;
		list_del_init(&flow->ready);
		rh_out(host, rh_flow_send(flow, now_ns), now_ns, out);
	}
}

/* Get the first entry of a timer queue, NULL if none is due */
static struct timerqueue_node *rh_first_due(struct timerqueue_head *queue,
					    u64 now_ns)
{
	struct timerqueue_node *node = timerqueue_getnext(queue);

	return node && ktime_to_ns(node->expires) <= now_ns ? node : NULL;
}

/* Process due events of flows and sinks, at most @max of each */
static void rh_run_due(struct rh_host *host, u64 now_ns, int max,
		       struct sk_buff_head *out)
{
	struct timerqueue_node *node;
	int n;

	for (n = 0; n < max && (node = rh_first_due(&host->due, now_ns)); n++)
		rh_flow_run(container_of(node, struct rh_flow, due), now_ns,
			    out);
	for (n = 0; n < max && (node = rh_first_due(&host->due_sinks, now_ns));
	     n++)
		rh_sink_run(host, container_of(node, struct rh_sink, due),
			    now_ns, out);
}

/* Get the time of the first entry of a timer queue, RH_NEVER: it is empty */
static u64 rh_queue_next_ns(const struct timerqueue_head *queue)
{
	struct timerqueue_node *node =
		timerqueue_getnext((struct timerqueue_head *)queue);

	return node ? ktime_to_ns(node->expires) : RH_NEVER;
}

/* Time of the next event, RH_NEVER: none */
static u64 rh_host_next_ns(const struct rh_host *host)
{
	struct sk_buff *skb = skb_peek(&host->delayed);
	u64 next_ns = min(rh_queue_next_ns(&host->due),
			  rh_queue_next_ns(&host->due_sinks));

	if (rh_first_ready(host))
		next_ns = min(next_ns, host->line.next_ns);
	if (skb)
		next_ns = min(next_ns, rh_skb_cb(skb)->due_ns);
	return next_ns;
}

/* Arm the timer for the next event */
static void rh_host_arm(struct rh_host *host, u64 now_ns)
{
	u64 next_ns = rh_host_next_ns(host);

	if (next_ns == RH_NEVER)
		return;
	if (hrtimer_is_queued(&host->timer) &&
	    ktime_to_ns(hrtimer_get_expires(&host->timer)) <= next_ns)
		return;
	hrtimer_start(&host->timer, ns_to_ktime(max(next_ns, now_ns)),
		      HRTIMER_MODE_ABS_SOFT);
}

/* On a wire: process the events until @until_ns, each at its own time */
static void rh_host_advance(struct rh_host *host, u64 until_ns,
			    struct sk_buff_head *out)
{
	u64 next_ns;
	int n = 0;

	while ((next_ns = rh_host_next_ns(host)) <= until_ns &&
	       n++ < RH_RUN_MAX) {
		host->clock_ns = max(host->clock_ns, next_ns);
		rh_receive_due(host, host->clock_ns, 1, out);
		rh_run_due(host, host->clock_ns, 1, out);
		rh_send_ready(host, host->clock_ns, 1, out);
	}
}

static enum hrtimer_restart rh_host_timer(struct hrtimer *timer)
{
	struct rh_host *host = container_of(timer, struct rh_host, timer);
	struct sk_buff_head out;
	u64 now_ns;

	__skb_queue_head_init(&out);
	spin_lock(&host->lock);
	/* read the time under the lock so that it never goes backwards */
	now_ns = ktime_get_ns();
	if (host->on_wire) {
		rh_host_advance(host, now_ns, &out);
	} else {
		rh_receive_due(host, now_ns, INT_MAX, &out);
		rh_run_due(host, now_ns, RH_RUN_MAX, &out);
		rh_send_ready(host, now_ns, RH_RUN_MAX, &out);
	}
	rh_host_arm(host, now_ns);
	spin_unlock(&host->lock);
	rh_transmit(host, &out);
	return HRTIMER_NORESTART;
}

/* Is the packet for this host?  All other packets go to the stack.  So do
 * packets with a VLAN tag, which are for the host on the VLAN device.
 */
static bool rh_is_ours(const struct rh_host *host, struct sk_buff *skb)
{
	struct iqcn_pkt pkt = {};
	u8 buf[IQCN_PARSE_MAX];
	const u8 *data;

	return skb->pkt_type == PACKET_HOST && !skb_vlan_tag_present(skb) &&
	       !eth_type_vlan(skb->protocol) &&
	       iqcn_skb_parse(skb, 0, skb->protocol, buf, &data, &pkt) !=
	       IQCN_NOT_ROCE && ipv6_addr_equal(&pkt.dst, &host->conf.ip);
}

/* Queue a packet until "delay" and "drain" let the host process it */
static void rh_delay(struct rh_host *host, struct sk_buff *skb, u64 at_ns)
{
	u64 due_ns = at_ns + host->conf.delay_ns;

	if (host->conf.drain_bps) {
		pace_sent(&host->drain, skb->len + ETH_HLEN,
			  host->conf.drain_bps, due_ns);
		due_ns = host->drain.next_ns;
	}
	rh_skb_cb(skb)->due_ns = due_ns;
	__skb_queue_tail(&host->delayed, skb);
}

static rx_handler_result_t rh_rx(struct sk_buff **pskb)
{
	struct rh_host *host;
	struct sk_buff *skb = *pskb;
	struct sk_buff_head out;
	u64 now_ns, at_ns;

	host = rcu_dereference(skb->dev->rx_handler_data);
	if (!rh_is_ours(host, skb))
		return RX_HANDLER_PASS;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return RX_HANDLER_CONSUMED;

	__skb_queue_head_init(&out);
	spin_lock(&host->lock);
	now_ns = ktime_get_ns();
	at_ns = now_ns;
	if (host->on_wire) {
		at_ns = max(host->clock_ns, div_u64(wire_stamped_ps(skb),
						    LINE_PS_PER_NS));
		rh_host_advance(host, at_ns, &out);
		host->clock_ns = at_ns;
	}
	if (host->conf.delay_ns || host->conf.drain_bps)
		rh_delay(host, skb, at_ns);
	else
		rh_consume(host, skb, at_ns, &out);
	rh_host_arm(host, now_ns);
	spin_unlock(&host->lock);
	rh_transmit(host, &out);
	return RX_HANDLER_CONSUMED;
}

/**
 * rh_host_kick() - resume sending after PFC has resumed a priority
 * @dev: interface, an end of a wire
 * @at_ns: when the priority was resumed
 *
 * Context: softirq.
 */
void rh_host_kick(const struct net_device *dev, u64 at_ns)
{
	struct rh_host *host;

	rcu_read_lock();
	if (rcu_access_pointer(dev->rx_handler) == rh_rx) {
		host = rcu_dereference(dev->rx_handler_data);
		spin_lock(&host->lock);
		/* send nothing at times at which the priority was paused */
		host->line.next_ns = max(host->line.next_ns, at_ns);
		rh_host_arm(host, at_ns);
		spin_unlock(&host->lock);
	}
	rcu_read_unlock();
}

/**
 * rh_host_of() - find the host on an interface
 * @dev: interface
 *
 * Context: RTNL held.
 * Return: the host, NULL if there is none.
 */
struct rh_host *rh_host_of(const struct net_device *dev)
{
	struct rh_host *host;

	list_for_each_entry(host, &rh_world.hosts, list)
		if (host->dev == dev)
			return host;
	return NULL;
}

/**
 * rh_host_by_ip() - find the host with an address, in any namespace
 * @ip: address
 *
 * Context: RTNL held.
 * Return: the host, NULL if there is none.
 */
struct rh_host *rh_host_by_ip(const struct in6_addr *ip)
{
	struct rh_host *host;

	list_for_each_entry(host, &rh_world.hosts, list)
		if (ipv6_addr_equal(&host->conf.ip, ip))
			return host;
	return NULL;
}

/**
 * rh_host_add() - create a host on an interface
 * @dev: interface
 * @conf: parameters
 *
 * Context: RTNL held.
 * Return: 0, -EBUSY if the interface has another rx handler, -ENOMEM.
 */
int rh_host_add(struct net_device *dev, const struct rh_host_conf *conf)
{
	struct rh_host *host = kzalloc(sizeof(*host), GFP_KERNEL);
	int err, prio;

	if (!host)
		return -ENOMEM;
	host->conf = *conf;
	if (conf->lb == RH_LB_REPS) {
		host->pool.slots = kvcalloc(conf->reps_pool,
					    sizeof(*host->pool.slots),
					    GFP_KERNEL);
		if (!host->pool.slots) {
			kfree(host);
			return -ENOMEM;
		}
		reps_pool_init(&host->pool, conf->reps_pool);
	}
	host->dev = dev;
	spin_lock_init(&host->lock);
	hrtimer_setup(&host->timer, rh_host_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	timerqueue_init_head(&host->due);
	timerqueue_init_head(&host->due_sinks);
	for (prio = 0; prio < PFC_PRIOS; prio++)
		INIT_LIST_HEAD(&host->ready[prio]);
	host->on_wire = wire_end_of(dev);
	host->line.slack_ns = host->on_wire ? 0 : PACE_SLACK_NS;
	__skb_queue_head_init(&host->delayed);
	xa_init(&host->flows);
	xa_init(&host->sinks);
	INIT_LIST_HEAD(&host->groups);
	INIT_LIST_HEAD(&host->sink_groups);
	prandom_seed_state(&host->rnd, conf->seed);
	host->next_qpn = conf->qpn;
	host->next_sink_qpn = RH_QPN_MAX + 1 + conf->qpn;

	err = netdev_rx_handler_register(dev, rh_rx, host);
	if (err)
		goto err_free;
	/* a host's NIC has a buffer of its own */
	if (host->on_wire)
		err = wire_attach(wire_end_of(dev), NULL);
	if (err)
		goto err_attach;
	netdev_hold(dev, &host->tracker, GFP_KERNEL);
	list_add_tail(&host->list, &rh_world.hosts);
	return 0;

err_attach:
	netdev_rx_handler_unregister(dev);
err_free:
	kvfree(host->pool.slots);
	kfree(host);
	return err;
}

/**
 * rh_host_del() - remove a host and all its connections
 * @host: the host
 *
 * The other ends of these connections remain, but receive nothing more.
 *
 * Context: RTNL held, may sleep.
 */
void rh_host_del(struct rh_host *host)
{
	/* unregistering waits for rh_rx() and rh_host_kick(); afterwards only
	 * the timer's function arms the timer, and hrtimer_cancel() waits for
	 * that function
	 */
	netdev_rx_handler_unregister(host->dev);
	hrtimer_cancel(&host->timer);
	list_del(&host->list);
	__skb_queue_purge(&host->delayed);
	xa_destroy(&host->flows);
	xa_destroy(&host->sinks);
	rh_flow_groups_free(host);
	rh_sink_groups_free(host);
	if (host->on_wire && rh_attach(wire_end_of(host->dev)))
		netdev_warn(host->dev, "out of memory, no PFC\n");
	netdev_put(host->dev, &host->tracker);
	kvfree(host->pool.slots);
	kfree(host);
}

/**
 * rh_host_start() - schedule the start of a host's flows and sinks
 * @host: the host
 *
 * Context: RTNL held.
 */
void rh_host_start(struct rh_host *host)
{
	struct rh_sink *sink;
	struct rh_flow *flow;
	unsigned long qpn;

	xa_for_each(&host->sinks, qpn, sink) {
		spin_lock_bh(&host->lock);
		rh_sink_begin(host, sink);
		rh_host_arm(host, ktime_get_ns());
		spin_unlock_bh(&host->lock);
		cond_resched();
	}

	xa_for_each(&host->flows, qpn, flow) {
		spin_lock_bh(&host->lock);
		rh_flow_begin(flow);
		rh_host_arm(host, ktime_get_ns());
		spin_unlock_bh(&host->lock);
		cond_resched();
	}
}
