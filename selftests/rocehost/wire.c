// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of wires: transmission, delivery, obeying PFC.
 *
 * A device has eight transmit queues, one per priority.  PFC stops single
 * queues, and a busy line stops all queues, so that packets wait in the qdisc.
 * When the line is free, the queues are woken in the order of their priorities,
 * so with mq the highest priority goes first.
 *
 * The times at which a frame is on the line are computed from the packet's tag
 * and the frames before it (line.h).  Timers only act on these times, and may
 * be late.
 */
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include <net/rtnetlink.h>

#include "rocehost.h"
#include "wire.h"

#define WIRE_KIND	"rhwire"
#define WIRE_MTU	9000
#define WIRE_MTU_MAX	9216
/* Room for struct wire_tag */
#define WIRE_HEADROOM	32

/* When a frame arrives, and its priority; in skb->cb */
struct wire_cb {
	u64 at_ps;
	u8 prio;
};

static struct wire_cb *wire_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct wire_cb) > sizeof(skb->cb));
	return (struct wire_cb *)skb->cb;
}

/* All wires; RTNL */
LIST_HEAD(wire_list);

static u64 wire_now_ps(void)
{
	return ktime_get_ns() * LINE_PS_PER_NS;
}

static struct wire_end *wire_priv(const struct net_device *dev)
{
	return *(struct wire_end **)netdev_priv(dev);
}

#define STAT(field)	offsetof(struct wire_stats, field)

/* Add to a counter of an end, whose wire is locked */
static void wire_count(struct wire_end *end, size_t stat, u64 n)
{
	*(u64 *)((void *)&end->total + stat) += n;
	if (rh_counting(ktime_get_ns()))
		*(u64 *)((void *)&end->run + stat) += n;
}

/* Count a lost frame; the wire is locked */
static void wire_lose(struct wire_end *end, u64 at_ps)
{
	wire_count(end, STAT(lost), 1);
	if (rh_counting(div_u64(at_ps, LINE_PS_PER_NS)))
		end->run.lost_ps = at_ps;
}

/* Arm the timer for the next event; the wire is locked */
static void wire_arm(struct wire_end *end)
{
	struct wire *wire = end->wire;
	u64 next_ps = min(end->refresh_ps, end->flap_ps), late_ps, next_ns;
	u64 late_ns, batch_ns;
	struct sk_buff *skb;
	int prio;

	if (!end->up)
		return;
	if (end->busy)
		next_ps = min(next_ps, end->line.free_ps -
				       WIRE_AHEAD_NS * LINE_PS_PER_NS);
	skb = skb_peek(&end->pfc);
	if (skb)
		next_ps = min(next_ps, wire_cb(skb)->at_ps);
	for (prio = 0; prio < PFC_PRIOS; prio++)
		if (end->paused & BIT(prio))
			next_ps = min(next_ps, end->paused_to_ps[prio]);
	if (end == &wire->ends[0] && wire->epoch_ns != RH_NEVER &&
	    wire->next_event < wire->n_events)
		next_ps = min(next_ps, LINE_PS_PER_NS * (wire->epoch_ns +
				wire->events[wire->next_event].at_ns));
	/* data may be delivered late, in one batch with the data after it */
	late_ps = next_ps;
	skb = skb_peek(&end->data);
	if (skb) {
		batch_ns = min_t(u64, WIRE_BATCH_NS, wire->conf.delay_ns / 2);
		next_ps = min(next_ps, wire_cb(skb)->at_ps);
		late_ps = min(late_ps, wire_cb(skb)->at_ps +
				       batch_ns * LINE_PS_PER_NS);
	}
	if (next_ps == U64_MAX)
		return;
	/* round up: a timer that expires before the event would be armed for
	 * the same time again
	 */
	next_ns = DIV64_U64_ROUND_UP(next_ps, LINE_PS_PER_NS);
	late_ns = DIV64_U64_ROUND_UP(late_ps, LINE_PS_PER_NS);
	if (hrtimer_is_queued(&end->timer) &&
	    ktime_to_ns(hrtimer_get_expires(&end->timer)) <= late_ns)
		return;
	hrtimer_start_range_ns(&end->timer, ns_to_ktime(next_ns),
			       late_ns - next_ns, HRTIMER_MODE_ABS_SOFT);
}

/* Wake the queues that PFC does not stop; the wire is locked */
static void wire_wake(struct wire_end *end)
{
	int prio;

	for (prio = PFC_PRIOS - 1; prio >= 0; prio--)
		if (!(end->paused & BIT(prio)))
			netif_tx_wake_queue(netdev_get_tx_queue(end->dev, prio));
}

/* Send a frame towards the peer; the wire is locked.
 * Return false if the frame is lost.
 */
static bool wire_put(struct wire_end *end, struct sk_buff *skb, u64 end_ps,
		     struct sk_buff_head *queue)
{
	struct wire_end *peer = wire_peer(end);

	wire_count(end, STAT(tx_packets), 1);
	wire_count(end, STAT(tx_bytes), skb->len);
	wire_count(end, STAT(busy_ps), line_frame_ps(&end->line, skb->len));
	if (end->wire->down || !peer->up) {
		wire_lose(end, end_ps);
		return false;
	}
	wire_cb(skb)->at_ps = end_ps +
			      end->wire->conf.delay_ns * LINE_PS_PER_NS;
	__skb_queue_tail(queue, skb);
	wire_arm(peer);
	return true;
}

/**
 * wire_send_pfc() - send a PFC frame, ahead of the data that waits
 * @end: the device
 * @classes: bit mask of the priorities
 * @quanta: pause time of each of these priorities; 0 resumes it
 * @at_ps: when the caller decided to send the frame
 *
 * If the frame cannot be allocated, the next refresh repeats the pause, unless
 * wire_flap() requested it.
 *
 * Context: any; the lock of the end's buffer is held.
 */
void wire_send_pfc(struct wire_end *end, u8 classes, u16 quanta, u64 at_ps)
{
	struct pfc pfc = { .classes = classes };
	struct wire *wire = end->wire;
	struct sk_buff *skb;
	unsigned long flags;
	bool sent = false;
	u64 end_ps;
	int prio;

	for (prio = 0; prio < PFC_PRIOS; prio++)
		if (classes & BIT(prio))
			pfc.quanta[prio] = quanta;
	skb = alloc_skb(NET_SKB_PAD + NET_IP_ALIGN + PFC_FRAME_LEN, GFP_ATOMIC);
	if (skb) {
		skb_reserve(skb, NET_SKB_PAD + NET_IP_ALIGN);
		pfc_build(skb_put(skb, PFC_FRAME_LEN), end->dev->dev_addr, &pfc);
	}
	spin_lock_irqsave(&wire->lock, flags);
	if (!end->up)
		goto unlock;
	if (quanta) {
		u64 pause_ps = pfc_pause_ps(quanta, end->line.rate_bps);

		end->refresh_ps = at_ps + pause_ps / 2;
		for (prio = 0; prio < PFC_PRIOS; prio++)
			if (classes & BIT(prio))
				wire_count(end, STAT(prio[prio].tx_pause), 1);
	}
	if (skb) {
		end_ps = line_preempt(&end->line, skb->len, at_ps,
				      line_frame_ps(&end->line, end->dev->mtu));
		sent = wire_put(end, skb, end_ps, &wire_peer(end)->pfc);
	}
	wire_arm(end);
unlock:
	spin_unlock_irqrestore(&wire->lock, flags);
	/* kfree_skb() is allowed although the buffer is locked, because the
	 * tracepoint's probe ignores this frame, which has no tag
	 */
	if (!sent)
		kfree_skb(skb);
}

/* The priority of a packet is the upper three bits of its DSCP or, if the
 * packet is not IP, the PCP of its VLAN tag
 */
static u8 wire_prio(const struct sk_buff *skb)
{
	struct iphdr buf;
	const struct iphdr *iph;

	if (skb->protocol == htons(ETH_P_IP) ||
	    skb->protocol == htons(ETH_P_IPV6)) {
		iph = skb_header_pointer(skb, skb_network_offset(skb),
					 sizeof(buf), &buf);
		if (!iph)
			return 0;
		if (iph->version == 6)
			return ipv6_get_dsfield((const void *)iph) >> 5;
		return iph->tos >> 5;
	}
	return skb_vlan_tag_present(skb) ?
	       skb_vlan_tag_get(skb) >> VLAN_PRIO_SHIFT : 0;
}

static u16 wire_select_queue(struct net_device *dev, struct sk_buff *skb,
			     struct net_device *sb_dev)
{
	return wire_prio(skb);
}

static netdev_tx_t wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct wire_end *end = wire_priv(dev), *peer = wire_peer(end);
	u64 now_ps = wire_now_ps(), ready_ps, end_ps;
	struct wire *wire = end->wire;
	unsigned long flags;
	bool sent;

	/* the stamp of a packet that waited in the qdisc is too old */
	ready_ps = wire_stamped_ps(skb);
	if (ready_ps + WIRE_LATE_NS * LINE_PS_PER_NS < now_ps ||
	    ready_ps > now_ps + WIRE_AHEAD_NS * LINE_PS_PER_NS)
		ready_ps = now_ps;
	wire_release(skb, ready_ps);
	if (skb_cow_head(skb, WIRE_HEADROOM)) {
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	skb_tx_timestamp(skb);
	spin_lock_irqsave(&wire->lock, flags);
	end_ps = line_send(&end->line, skb->len, ready_ps);
	wire_cb(skb)->prio = skb_get_queue_mapping(skb);
	sent = wire_put(end, skb, end_ps, &peer->data);
	if (end->line.free_ps > now_ps + WIRE_AHEAD_NS * LINE_PS_PER_NS) {
		netif_tx_stop_all_queues(dev);
		end->busy = true;
		wire_arm(end);
	}
	spin_unlock_irqrestore(&wire->lock, flags);
	if (!sent)
		kfree_skb(skb);
	return NETDEV_TX_OK;
}

/* Resume a priority; the wire is locked */
static void wire_resume(struct wire_end *end, int prio, u64 at_ps)
{
	u64 from_ps = end->paused_from_ps[prio];

	if (!(end->paused & BIT(prio)))
		return;
	end->paused &= ~BIT(prio);
	end->resumed_ps = at_ps;
	wire_count(end, STAT(prio[prio].paused_ps),
		   at_ps - min(at_ps, from_ps));
	/* the packets that waited did not use the line before @at_ps */
	end->line.free_ps = max(end->line.free_ps, at_ps);
}

/* Obey a frame if it is a PFC frame; the wire is locked */
static void wire_obey(struct wire_end *end, struct sk_buff *skb)
{
	u64 at_ps = wire_cb(skb)->at_ps;
	struct pfc pfc;
	int prio;

	if (!pfc_parse(skb->data, skb_headlen(skb), &pfc))
		return;
	pfc.classes &= end->wire->conf.pfc;
	for (prio = 0; prio < PFC_PRIOS; prio++) {
		if (!(pfc.classes & BIT(prio)))
			continue;
		if (!pfc.quanta[prio]) {
			wire_resume(end, prio, at_ps);
			continue;
		}
		wire_count(end, STAT(prio[prio].rx_pause), 1);
		if (!(end->paused & BIT(prio)))
			end->paused_from_ps[prio] = at_ps;
		end->paused |= BIT(prio);
		end->paused_to_ps[prio] = at_ps +
			pfc_pause_ps(pfc.quanta[prio], end->line.rate_bps);
		netif_tx_stop_queue(netdev_get_tx_queue(end->dev, prio));
	}
}

/* Apply the events that are due; the wire is locked */
static void wire_run_events(struct wire *wire, u64 now_ns)
{
	const struct wire_event *event;

	for (; wire->next_event < wire->n_events; wire->next_event++) {
		event = &wire->events[wire->next_event];
		if (wire->epoch_ns == RH_NEVER ||
		    wire->epoch_ns + event->at_ns > now_ns)
			return;
		if (event->rate_bps) {
			wire->ends[0].line.rate_bps = event->rate_bps;
			wire->ends[1].line.rate_bps = event->rate_bps;
			continue;
		}
		wire->down = event->down;
		if (event->silent)
			continue;
		if (wire->down) {
			netif_carrier_off(wire->ends[0].dev);
			netif_carrier_off(wire->ends[1].dev);
		} else {
			netif_carrier_on(wire->ends[0].dev);
			netif_carrier_on(wire->ends[1].dev);
		}
	}
}

/* Move frames that arrive by @now_ps to @arrived, and obey PFC frames; the
 * wire is locked
 */
static void wire_take(struct wire_end *end, struct sk_buff_head *queue,
		      u64 now_ps, struct sk_buff_head *arrived)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(queue)) && wire_cb(skb)->at_ps <= now_ps) {
		__skb_unlink(skb, queue);
		if (end->wire->down) {
			wire_lose(end, wire_cb(skb)->at_ps);
		} else {
			wire_count(end, STAT(rx_packets), 1);
			wire_count(end, STAT(rx_bytes), skb->len);
			wire_obey(end, skb);
		}
		__skb_queue_tail(arrived, skb);
	}
}

/* Pass frames to the stack.  Free lost frames, PFC frames that are hidden from
 * the stack, and frames for which the buffer has no room.
 */
static void wire_deliver(struct wire_end *end, struct sk_buff_head *arrived,
			 bool lost)
{
	struct sk_buff *skb;
	LIST_HEAD(list);

	while ((skb = __skb_dequeue(arrived))) {
		u64 at_ps = wire_cb(skb)->at_ps;
		u8 prio = wire_cb(skb)->prio;

		skb->protocol = eth_type_trans(skb, end->dev);
		if (lost || (skb->protocol == htons(ETH_P_PAUSE) &&
			     end->wire->conf.pfc_hide)) {
			consume_skb(skb);
			continue;
		}
		skb_scrub_packet(skb, true);
		skb_clear_hash(skb);
		skb->priority = 0;
		skb_set_queue_mapping(skb, 0);
		memset(skb->cb, 0, sizeof(skb->cb));
		wire_stamp(skb, at_ps);
		if (skb->protocol != htons(ETH_P_PAUSE) &&
		    !wire_admit(end, skb, prio, at_ps)) {
			spin_lock_irq(&end->wire->lock);
			wire_count(end, STAT(prio[prio].overflow), 1);
			spin_unlock_irq(&end->wire->lock);
			kfree_skb(skb);
			continue;
		}
		list_add_tail(&skb->list, &list);
	}
	netif_receive_skb_list(&list);
}

static enum hrtimer_restart wire_timer(struct hrtimer *timer)
{
	struct wire_end *end = container_of(timer, struct wire_end, timer);
	struct wire *wire = end->wire;
	struct sk_buff_head arrived;
	u64 now_ps = wire_now_ps(), resumed_ps;
	bool refresh, flap, flaps, lost;
	u8 paused;
	int prio;

	__skb_queue_head_init(&arrived);
	spin_lock_irq(&wire->lock);
	wire_run_events(wire, div_u64(now_ps, LINE_PS_PER_NS));
	paused = end->paused;
	wire_take(end, &end->pfc, now_ps, &arrived);
	wire_take(end, &end->data, now_ps, &arrived);
	lost = wire->down;
	for (prio = 0; prio < PFC_PRIOS; prio++)
		if (end->paused_to_ps[prio] <= now_ps)
			wire_resume(end, prio, end->paused_to_ps[prio]);
	if (end->busy && end->line.free_ps <=
			 now_ps + WIRE_AHEAD_NS * LINE_PS_PER_NS)
		end->busy = false;
	if (!end->busy)
		wire_wake(end);
	refresh = end->refresh_ps <= now_ps;
	if (refresh)
		end->refresh_ps = U64_MAX;
	flap = end->flap_ps <= now_ps;
	if (flap) {
		end->flaps = !end->flaps;
		end->flap_ps += (end->flaps ? wire->conf.flap_ns :
				 wire->conf.flap_gap_ns) * LINE_PS_PER_NS;
	}
	flaps = end->flaps;
	paused &= ~end->paused;
	resumed_ps = end->resumed_ps;
	wire_arm(end);
	spin_unlock_irq(&wire->lock);
	if (refresh)
		wire_refresh(end, now_ps);
	if (flap)
		wire_flap(end, flaps, now_ps);
	/* kick the host before ACKs are delivered, because an ACK would make
	 * the host send at times at which it was paused
	 */
	if (paused)
		rh_host_kick(end->dev, div_u64(resumed_ps, LINE_PS_PER_NS));
	wire_deliver(end, &arrived, lost);
	return HRTIMER_NORESTART;
}

static int wire_open(struct net_device *dev)
{
	struct wire_end *end = wire_priv(dev);
	struct wire *wire = end->wire;

	wire_forget_pauses(end);
	spin_lock_irq(&wire->lock);
	end->up = true;
	end->line.free_ps = wire_now_ps();
	if (wire_peer(end)->up && !wire->down) {
		netif_carrier_on(dev);
		netif_carrier_on(wire_peer(end)->dev);
	}
	wire_arm(end);
	spin_unlock_irq(&wire->lock);
	netif_tx_start_all_queues(dev);
	return 0;
}

/* Drop pauses and frames that the peer has sent; the wire is locked */
static void wire_reset(struct wire_end *end, struct sk_buff_head *lost)
{
	end->busy = false;
	end->paused = 0;
	end->refresh_ps = U64_MAX;
	skb_queue_splice_tail_init(&end->pfc, lost);
	skb_queue_splice_tail_init(&end->data, lost);
}

static int wire_stop_dev(struct net_device *dev)
{
	struct wire_end *end = wire_priv(dev), *peer = wire_peer(end);
	struct wire *wire = end->wire;
	struct sk_buff_head lost;

	__skb_queue_head_init(&lost);
	netif_tx_disable(dev);
	netif_carrier_off(dev);
	spin_lock_irq(&wire->lock);
	end->up = false;
	wire_reset(end, &lost);
	if (peer->up) {
		/* this end no longer sends the frames that would resume the
		 * priorities which it has paused
		 */
		netif_carrier_off(peer->dev);
		peer->paused = 0;
		if (!peer->busy)
			wire_wake(peer);
	}
	spin_unlock_irq(&wire->lock);
	hrtimer_cancel(&end->timer);
	__skb_queue_purge(&lost);
	return 0;
}

/**
 * wire_snapshot() - read the counters
 * @end: the device
 * @stats: its counters: @end->total or @end->run
 * @copy: result
 *
 * Context: process.
 */
void wire_snapshot(struct wire_end *end, const struct wire_stats *stats,
		   struct wire_stats *copy)
{
	spin_lock_irq(&end->wire->lock);
	*copy = *stats;
	spin_unlock_irq(&end->wire->lock);
}

static void wire_get_stats64(struct net_device *dev,
			     struct rtnl_link_stats64 *stats)
{
	struct wire_end *end = wire_priv(dev);
	unsigned long flags;
	int prio;

	spin_lock_irqsave(&end->wire->lock, flags);
	stats->tx_packets = end->total.tx_packets;
	stats->tx_bytes = end->total.tx_bytes;
	stats->rx_packets = end->total.rx_packets;
	stats->rx_bytes = end->total.rx_bytes;
	stats->tx_carrier_errors = end->total.lost;
	for (prio = 0; prio < PFC_PRIOS; prio++)
		stats->rx_missed_errors += end->total.prio[prio].overflow;
	spin_unlock_irqrestore(&end->wire->lock, flags);
}

static const struct net_device_ops wire_netdev_ops = {
	.ndo_open = wire_open,
	.ndo_stop = wire_stop_dev,
	.ndo_start_xmit = wire_xmit,
	.ndo_select_queue = wire_select_queue,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_get_stats64 = wire_get_stats64,
};

static int wire_get_link_ksettings(struct net_device *dev,
				   struct ethtool_link_ksettings *cmd)
{
	struct wire_end *end = wire_priv(dev);

	cmd->base.speed = div_u64(READ_ONCE(end->line.rate_bps), 1000000);
	cmd->base.duplex = DUPLEX_FULL;
	cmd->base.port = PORT_OTHER;
	cmd->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

/* The names follow those of mlx5, except that durations are in ns */
static const char * const wire_prio_names[] = {
	"rx_prio%d_pause", "tx_prio%d_pause", "rx_prio%d_pause_duration_ns",
	"rx_prio%d_overflow",
};

static int wire_get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ?
	       2 + PFC_PRIOS * ARRAY_SIZE(wire_prio_names) : -EOPNOTSUPP;
}

static void wire_get_strings(struct net_device *dev, u32 set, u8 *data)
{
	int prio, i;

	if (set != ETH_SS_STATS)
		return;
	ethtool_sprintf(&data, "tx_busy_ns");
	ethtool_sprintf(&data, "lost");
	for (prio = 0; prio < PFC_PRIOS; prio++)
		for (i = 0; i < ARRAY_SIZE(wire_prio_names); i++)
			ethtool_sprintf(&data, wire_prio_names[i], prio);
}

static void wire_get_ethtool_stats(struct net_device *dev,
				   struct ethtool_stats *stats, u64 *data)
{
	struct wire_end *end = wire_priv(dev);
	struct wire_stats total;
	int prio;

	wire_snapshot(end, &end->total, &total);
	*data++ = div_u64(total.busy_ps, LINE_PS_PER_NS);
	*data++ = total.lost;
	for (prio = 0; prio < PFC_PRIOS; prio++) {
		*data++ = total.prio[prio].rx_pause;
		*data++ = total.prio[prio].tx_pause;
		*data++ = div_u64(total.prio[prio].paused_ps, LINE_PS_PER_NS);
		*data++ = total.prio[prio].overflow;
	}
}

static const struct ethtool_ops wire_ethtool_ops = {
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = wire_get_link_ksettings,
	.get_sset_count = wire_get_sset_count,
	.get_strings = wire_get_strings,
	.get_ethtool_stats = wire_get_ethtool_stats,
};

static void wire_free(struct net_device *dev)
{
	struct wire *wire = wire_priv(dev)->wire;

	if (refcount_dec_and_test(&wire->refs))
		kfree(wire);
}

static void wire_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &wire_netdev_ops;
	dev->ethtool_ops = &wire_ethtool_ops;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	dev->features |= NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA;
	dev->hw_features = dev->features;
	dev->needed_headroom = WIRE_HEADROOM;
	dev->mtu = WIRE_MTU;
	dev->max_mtu = WIRE_MTU_MAX;
	eth_hw_addr_random(dev);
}

/* Remove both ends, in whatever namespaces they are */
static void wire_dellink(struct net_device *dev, struct list_head *head)
{
	struct wire *wire = wire_priv(dev)->wire;

	list_del_init(&wire->list);
	unregister_netdevice_queue(wire->ends[0].dev, head);
	unregister_netdevice_queue(wire->ends[1].dev, head);
}

/* Without this error, rtnetlink would register a device that is not an end of a
 * wire, because the operations below have no newlink
 */
static int wire_validate(struct nlattr *tb[], struct nlattr *data[],
			 struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "only rocehost's ctl adds a wire");
	return -EOPNOTSUPP;
}

static struct rtnl_link_ops wire_link_ops = {
	.kind = WIRE_KIND,
	.priv_size = sizeof(struct wire_end *),
	.setup = wire_setup,
	.validate = wire_validate,
	.dellink = wire_dellink,
};

static struct net_device *wire_new_dev(struct net *net, const char *name,
				       struct wire_end *end)
{
	struct net_device *dev;
	int err;

	dev = alloc_netdev_mqs(sizeof(struct wire_end *), name, NET_NAME_USER,
			       wire_setup, PFC_PRIOS, 1);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	*(struct wire_end **)netdev_priv(dev) = end;
	end->dev = dev;
	dev_net_set(dev, net);
	dev->rtnl_link_ops = &wire_link_ops;
	err = register_netdevice(dev);
	if (err) {
		free_netdev(dev);
		return ERR_PTR(err);
	}
	refcount_inc(&end->wire->refs);
	dev->priv_destructor = wire_free;
	dev->needs_free_netdev = true;
	netif_carrier_off(dev);
	return dev;
}

/**
 * wire_new() - create the devices of a wire
 * @net: their namespace
 * @a: name of the first device
 * @b: name of the second device
 * @conf: parameters
 *
 * Context: RTNL held.
 * Return: 0, -ENOMEM, -EEXIST if a name is used, -EINVAL if it is invalid.
 */
int wire_new(struct net *net, const char *a, const char *b,
	     const struct wire_conf *conf)
{
	struct wire *wire = kzalloc(sizeof(*wire), GFP_KERNEL);
	struct net_device *dev;
	int i;

	if (!wire)
		return -ENOMEM;
	wire->conf = *conf;
	wire->epoch_ns = RH_NEVER;
	spin_lock_init(&wire->lock);
	refcount_set(&wire->refs, 1);
	INIT_LIST_HEAD(&wire->list);
	for (i = 0; i < 2; i++) {
		struct wire_end *end = &wire->ends[i];

		end->wire = wire;
		end->line.rate_bps = conf->rate_bps;
		end->refresh_ps = U64_MAX;
		end->flap_ps = U64_MAX;
		__skb_queue_head_init(&end->data);
		__skb_queue_head_init(&end->pfc);
		hrtimer_setup(&end->timer, wire_timer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_SOFT);
	}
	dev = wire_new_dev(net, a, &wire->ends[0]);
	if (IS_ERR(dev))
		goto err;
	dev = wire_new_dev(net, b, &wire->ends[1]);
	if (IS_ERR(dev)) {
		unregister_netdevice(wire->ends[0].dev);
		goto err;
	}
	list_add_tail(&wire->list, &wire_list);
	refcount_dec(&wire->refs);
	return 0;
err:
	if (refcount_dec_and_test(&wire->refs))
		kfree(wire);
	return PTR_ERR(dev);
}

/**
 * wire_end_of() - get the end of a wire from its device
 * @dev: the device
 *
 * Return: the end, NULL if the device is not an end of a wire.
 */
struct wire_end *wire_end_of(const struct net_device *dev)
{
	return dev->netdev_ops == &wire_netdev_ops ? wire_priv(dev) : NULL;
}

/**
 * wire_paused() - does PFC stop a priority of a device?
 * @dev: the device
 * @prio: the priority
 *
 * Context: any.
 * Return: true if it does.
 */
bool wire_paused(const struct net_device *dev, u8 prio)
{
	const struct wire_end *end = wire_end_of(dev);

	return end && READ_ONCE(end->paused) & BIT(prio);
}

/**
 * wire_paused_ns() - total time for which PFC has paused a device
 * @dev: any device
 * @now_ns: now
 *
 * Context: any.
 * Return: nanoseconds of pause since the wire was created, summed over all
 *	priorities; 0 if the device is not the end of a wire.
 */
u64 wire_paused_ns(const struct net_device *dev, u64 now_ns)
{
	struct wire_end *end = wire_end_of(dev);
	u64 now_ps = now_ns * LINE_PS_PER_NS, sum_ps = 0;
	unsigned long flags;
	int prio;

	if (!end)
		return 0;
	spin_lock_irqsave(&end->wire->lock, flags);
	for (prio = 0; prio < PFC_PRIOS; prio++) {
		sum_ps += end->total.prio[prio].paused_ps;
		/* the caller may have read the clock before the pause began */
		if (end->paused & BIT(prio) &&
		    end->paused_from_ps[prio] < now_ps)
			sum_ps += now_ps - end->paused_from_ps[prio];
	}
	spin_unlock_irqrestore(&end->wire->lock, flags);
	return div_u64(sum_ps, LINE_PS_PER_NS);
}

/**
 * wire_add_event() - schedule a change of a wire
 * @wire: the wire, with fewer than WIRE_EVENTS changes
 * @event: the change
 *
 * Context: RTNL held; no run has started.
 */
void wire_add_event(struct wire *wire, const struct wire_event *event)
{
	u32 i = wire->n_events;

	for (; i && wire->events[i - 1].at_ns > event->at_ns; i--)
		wire->events[i] = wire->events[i - 1];
	wire->events[i] = *event;
	wire->n_events++;
}

/**
 * wire_start() - begin to count, and to carry out the events
 * @epoch_ns: when the run begins
 *
 * Context: RTNL held.
 */
void wire_start(u64 epoch_ns)
{
	struct wire *wire;

	list_for_each_entry(wire, &wire_list, list) {
		spin_lock_irq(&wire->lock);
		wire->epoch_ns = epoch_ns;
		wire->next_event = 0;
		memset(&wire->ends[0].run, 0, sizeof(wire->ends[0].run));
		memset(&wire->ends[1].run, 0, sizeof(wire->ends[1].run));
		if (wire->conf.flap_ns) {
			wire->ends[0].flap_ps = epoch_ns * LINE_PS_PER_NS;
			wire->ends[1].flap_ps = epoch_ns * LINE_PS_PER_NS;
		}
		wire_arm(&wire->ends[0]);
		wire_arm(&wire->ends[1]);
		spin_unlock_irq(&wire->lock);
	}
}

/**
 * wire_stop() - delete the events, and undo what they have changed
 *
 * Context: RTNL held.
 */
void wire_stop(void)
{
	struct wire *wire;

	list_for_each_entry(wire, &wire_list, list) {
		spin_lock_irq(&wire->lock);
		wire->epoch_ns = RH_NEVER;
		wire->ends[0].flap_ps = U64_MAX;
		wire->ends[1].flap_ps = U64_MAX;
		wire->n_events = 0;
		wire->ends[0].line.rate_bps = wire->conf.rate_bps;
		wire->ends[1].line.rate_bps = wire->conf.rate_bps;
		if (wire->down && wire->ends[0].up && wire->ends[1].up) {
			netif_carrier_on(wire->ends[0].dev);
			netif_carrier_on(wire->ends[1].dev);
		}
		wire->down = false;
		spin_unlock_irq(&wire->lock);
	}
}

/**
 * wire_init() - register the device type
 *
 * Return: 0, or an error.
 */
int wire_init(void)
{
	int err = wire_buffer_init();

	if (err)
		return err;
	err = rtnl_link_register(&wire_link_ops);
	if (err)
		wire_buffer_exit();
	return err;
}

/**
 * wire_exit() - remove all wires
 *
 * Context: process, takes RTNL.
 */
void wire_exit(void)
{
	rtnl_link_unregister(&wire_link_ops);
	wire_buffer_exit();
}
