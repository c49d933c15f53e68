// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers of wires: which ingress queue a packet occupies, and PFC.
 *
 * A packet that a wire has delivered carries a tag at the start of its buffer
 * (skb->head).  The tag states when the packet arrived, and which ingress queue
 * it occupies.  The queue is released when the next wire sends the packet, when
 * a host consumes it, or when it is dropped.  A probe of the tracepoint
 * kfree_skb detects drops.  A destructor would run too early, in ip_rcv().
 *
 * Only RoCEv2 packets occupy a queue.  When the stack consumes other packets,
 * it does not call the tracepoint, so their bytes could not be released.
 */
#include <linux/if_vlan.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <trace/events/skb.h>

#include "rocehost.h"
#include "skb.h"
#include "wire.h"

/* The pause is repeated after half of its quanta */
#define WIRE_QUANTA	PFC_QUANTA_MAX

/**
 * struct wire_tag - tag at the start of a packet's buffer
 * @magic: distinguishes tags from other content
 * @at_ps: when the packet arrived, or when a host sent it
 * @port: id of the port whose ingress queue it occupies, 0: none
 * @bytes: bytes that it occupies there
 * @prio: priority of that queue
 */
struct wire_tag {
	u64 magic;
	u64 at_ps;
	u32 port;
	u16 bytes;
	u8 prio;
};

static u64 wire_magic;
static DEFINE_XARRAY_ALLOC1(wire_ports);
static u32 wire_next_port;

static struct wire_tag *wire_tag(const struct sk_buff *skb)
{
	if (skb_headroom(skb) < sizeof(struct wire_tag))
		return NULL;
	return (struct wire_tag *)skb->head;
}

static struct wire_tag *wire_tag_valid(const struct sk_buff *skb)
{
	struct wire_tag *tag = wire_tag(skb);

	return tag && tag->magic == wire_magic ? tag : NULL;
}

/**
 * wire_stamp() - record when a packet is to be sent, or when it arrived
 * @skb: the packet, not cloned, with headroom for the tag
 * @at_ps: the time
 *
 * Context: any.
 */
void wire_stamp(struct sk_buff *skb, u64 at_ps)
{
	struct wire_tag *tag = wire_tag(skb);

	if (!tag)
		return;
	*tag = (struct wire_tag){ .magic = wire_magic, .at_ps = at_ps };
}

/**
 * wire_stamped_ps() - when was a packet sent by a host, or received?
 * @skb: the packet
 *
 * Context: any.
 * Return: the time, 0 if the packet has no stamp.
 */
u64 wire_stamped_ps(const struct sk_buff *skb)
{
	const struct wire_tag *tag = wire_tag_valid(skb);

	return tag ? tag->at_ps : 0;
}

static bool wire_is_roce(struct sk_buff *skb)
{
	struct iqcn_pkt pkt = {};
	u8 buf[IQCN_PARSE_MAX];
	const u8 *data;

	return iqcn_skb_parse(skb, 0, skb->protocol, buf, &data, &pkt) !=
	       IQCN_NOT_ROCE;
}

/* Pause the queues in @classes, or resume them; the buffer is locked */
static void wire_pause(struct wire_port *port, u8 classes, bool pause,
		       u64 at_ps)
{
	wire_send_pfc(port->end, classes, pause ? WIRE_QUANTA : 0, at_ps);
}

/**
 * wire_admit() - account for a packet that arrives
 * @end: the device, up
 * @skb: the packet from L3 on, with the stamp of its arrival
 * @prio: its priority
 * @at_ps: when it arrived
 *
 * Context: softirq.
 * Return: false if the buffer has no room for it.
 */
bool wire_admit(struct wire_end *end, struct sk_buff *skb, u8 prio, u64 at_ps)
{
	struct wire_tag *tag = wire_tag_valid(skb);
	u32 bytes = skb->len + ETH_HLEN;
	struct wire_port *port;
	struct mmu_queue *q;
	unsigned long flags;
	bool room = true;

	if (!tag || !(end->wire->conf.pfc & BIT(prio)) || !wire_is_roce(skb))
		return true;
	rcu_read_lock();
	port = rcu_dereference(end->port);
	if (!port)
		goto unlock;
	q = &port->in[prio];
	spin_lock_irqsave(&port->buffer->lock, flags);
	room = mmu_admit(&port->buffer->mmu, q, bytes);
	if (room) {
		tag->port = port->id;
		tag->bytes = bytes;
		tag->prio = prio;
	}
	if (mmu_should_pause(&port->buffer->mmu, q)) {
		q->paused = true;
		wire_pause(port, BIT(prio), true, at_ps);
	}
	spin_unlock_irqrestore(&port->buffer->lock, flags);
unlock:
	rcu_read_unlock();
	return room;
}

/**
 * wire_release() - account for a packet that leaves, if it occupies a queue
 * @skb: the packet
 * @at_ps: when it leaves
 *
 * Clones share the tag, so the first clone that leaves releases the queue.
 *
 * Context: any, may be called with interrupts disabled.
 */
void wire_release(struct sk_buff *skb, u64 at_ps)
{
	struct wire_tag *tag = wire_tag_valid(skb);
	struct wire_port *port;
	struct mmu_queue *q;
	unsigned long flags;
	u32 id;

	if (!tag)
		return;
	id = xchg(&tag->port, 0);
	if (!id)
		return;
	rcu_read_lock();
	port = xa_load(&wire_ports, id);
	if (!port)
		goto unlock;
	q = &port->in[tag->prio];
	spin_lock_irqsave(&port->buffer->lock, flags);
	if (!port->gone) {
		mmu_release(&port->buffer->mmu, q, tag->bytes);
		if (mmu_should_resume(&port->buffer->mmu, q)) {
			q->paused = false;
			wire_pause(port, BIT(tag->prio), false, at_ps);
		}
	}
	spin_unlock_irqrestore(&port->buffer->lock, flags);
unlock:
	rcu_read_unlock();
}

static void wire_dropped(void *data, struct sk_buff *skb, void *location,
			 enum skb_drop_reason reason,
			 const struct sock *rx_sk)
{
	if (wire_tag_valid(skb))
		wire_release(skb, ktime_get_ns() * LINE_PS_PER_NS);
}

/* Priorities that the port has paused; the buffer is locked */
static u8 wire_paused_by(const struct wire_port *port)
{
	u8 classes = 0;
	int prio;

	for (prio = 0; prio < PFC_PRIOS; prio++)
		if (port->in[prio].paused)
			classes |= BIT(prio);
	return classes;
}

/**
 * wire_refresh() - repeat the pauses of a port before their quanta have passed
 * @end: its device
 * @at_ps: now
 *
 * Context: softirq.
 */
void wire_refresh(struct wire_end *end, u64 at_ps)
{
	struct wire_port *port;
	unsigned long flags;
	u8 classes;

	rcu_read_lock();
	port = rcu_dereference(end->port);
	if (!port)
		goto unlock;
	spin_lock_irqsave(&port->buffer->lock, flags);
	classes = wire_paused_by(port);
	if (classes)
		wire_pause(port, classes, true, at_ps);
	spin_unlock_irqrestore(&port->buffer->lock, flags);
unlock:
	rcu_read_unlock();
}

/**
 * wire_flap() - pause or resume the peer, whatever the buffer contains
 * @end: the device that sends the frame
 * @pause: pause; if false, resume
 * @at_ps: now
 *
 * Context: softirq.
 */
void wire_flap(struct wire_end *end, bool pause, u64 at_ps)
{
	struct wire_port *port;
	unsigned long flags;

	rcu_read_lock();
	port = rcu_dereference(end->port);
	if (port) {
		spin_lock_irqsave(&port->buffer->lock, flags);
		wire_send_pfc(end, end->wire->conf.pfc,
			      pause ? PFC_QUANTA_MAX : 0, at_ps);
		spin_unlock_irqrestore(&port->buffer->lock, flags);
	}
	rcu_read_unlock();
}

/**
 * wire_forget_pauses() - mark all queues as resumed; the peer has already
 *	dropped their pauses
 * @end: the device
 *
 * Context: RTNL held.
 */
void wire_forget_pauses(struct wire_end *end)
{
	struct wire_port *port = rtnl_dereference(end->port);
	int prio;

	if (!port)
		return;
	spin_lock_irq(&port->buffer->lock);
	for (prio = 0; prio < PFC_PRIOS; prio++)
		port->in[prio].paused = false;
	spin_unlock_irq(&port->buffer->lock);
}

/**
 * wire_headroom() - bytes that may arrive after the decision to pause
 * @conf: the wire
 *
 * The rule of HPCC's simulator is three times the delay, and two frames of the
 * largest MTU.  The sender's device and the timers add to the delay.
 *
 * Return: bytes.
 */
u64 wire_headroom(const struct wire_conf *conf)
{
	u64 ns = 3 * conf->delay_ns + WIRE_AHEAD_NS + WIRE_BATCH_NS +
		 WIRE_LATE_NS;

	if (conf->headroom_bytes != WIRE_AUTO)
		return conf->headroom_bytes;
	return mul_u64_u64_div_u64(ns, conf->rate_bps, 8 * NSEC_PER_SEC) +
	       2 * (RH_MTU_MAX + RH_HDR_MAX + RH_RETH_LEN + IQCN_ICRC_LEN);
}

/**
 * wire_detach() - detach a device from its buffer
 * @end: the device
 *
 * Packets that the device has received may still be on their way; their release
 * is ignored.
 *
 * Context: RTNL held.
 */
void wire_detach(struct wire_end *end)
{
	struct wire_port *port = rtnl_dereference(end->port);
	struct mmu *mmu;
	int prio;

	if (!port)
		return;
	RCU_INIT_POINTER(end->port, NULL);
	xa_erase(&wire_ports, port->id);
	mmu = &port->buffer->mmu;
	spin_lock_irq(&port->buffer->lock);
	port->gone = true;
	for (prio = 0; prio < PFC_PRIOS; prio++)
		if (end->wire->conf.pfc & BIT(prio))
			mmu_remove(mmu, &port->in[prio]);
	/* this was the last port of the switch with PFC */
	if (!mmu->private_bytes)
		mmu->buffer_bytes = 0;
	spin_unlock_irq(&port->buffer->lock);
	kfree_rcu(port, rcu);
}

/**
 * wire_attach() - attach a device to a buffer, and detach it from the old one
 * @end: the device
 * @buffer: the buffer of its switch, NULL: a buffer of its own
 *
 * Context: RTNL held.
 * Return: 0, -ENOMEM.
 */
int wire_attach(struct wire_end *end, struct wire_buffer *buffer)
{
	const struct wire_conf *conf = &end->wire->conf;
	struct wire_port *port = kzalloc(sizeof(*port), GFP_KERNEL);
	int err, prio;

	if (!port)
		return -ENOMEM;
	err = xa_alloc_cyclic(&wire_ports, &port->id, port, xa_limit_31b,
			      &wire_next_port, GFP_KERNEL);
	if (err < 0) {
		kfree(port);
		return err;
	}
	wire_detach(end);
	spin_lock_init(&port->own.lock);
	port->end = end;
	port->buffer = buffer ?: &port->own;
	spin_lock_irq(&port->buffer->lock);
	/* a switch has one buffer, of the largest size that any of its wires
	 * with PFC specifies
	 */
	if (conf->pfc)
		port->buffer->mmu.buffer_bytes =
			max(port->buffer->mmu.buffer_bytes, conf->buffer_bytes);
	for (prio = 0; prio < PFC_PRIOS; prio++) {
		struct mmu_queue *q = &port->in[prio];

		if (!(conf->pfc & BIT(prio)))
			continue;
		q->alpha = min_t(u64, conf->alpha, U32_MAX);
		q->headroom_bytes = wire_headroom(conf);
		q->resume_bytes = conf->resume_bytes;
		mmu_add(&port->buffer->mmu, q);
	}
	spin_unlock_irq(&port->buffer->lock);
	rcu_assign_pointer(end->port, port);
	return 0;
}

/**
 * wire_buffer_lacks() - find a buffer that is smaller than what its ports need
 * @need: result: bytes that they need
 * @have: result: bytes that the buffer has
 *
 * Context: RTNL held.
 * Return: a device that is attached to it, NULL if there is no such buffer.
 */
const struct net_device *wire_buffer_lacks(u64 *need, u64 *have)
{
	struct wire_port *port;
	unsigned long id;

	xa_for_each(&wire_ports, id, port) {
		*need = port->buffer->mmu.private_bytes;
		*have = port->buffer->mmu.buffer_bytes;
		if (*need > *have)
			return port->end->dev;
	}
	return NULL;
}

/**
 * wire_buffer_init() - register the probe that releases dropped packets
 *
 * Return: 0, or an error of the tracepoint.
 */
int wire_buffer_init(void)
{
	wire_magic = get_random_u64();
	return register_trace_kfree_skb(wire_dropped, NULL);
}

/**
 * wire_buffer_exit() - unregister the probe; no wires are left
 */
void wire_buffer_exit(void)
{
	unregister_trace_kfree_skb(wire_dropped, NULL);
	tracepoint_synchronize_unregister();
}
