// SPDX-License-Identifier: GPL-2.0
/*
 * Events for the multicast groups of the netlink family.
 *
 * Events happen under the locks of a qdisc.  A netlink message must not be sent
 * under them, because a tap on netlink (nlmon) is a device, and the message may
 * enter the qdisc of that device.  So an event is recorded in a ring, one per
 * group and namespace, and a work item sends the recorded events.  The size of
 * the ring and the interval between two runs of the work limit the rate.  An
 * event that finds the ring full is lost, and counted.  No event is recorded
 * while no process of any namespace listens.
 */
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "genl.h"
#include "iqcn.h"

/* Size of a ring: events of a group between two runs of the work */
#define IQCN_EVENTS		1024
#define IQCN_EVENT_RUN_MS	10

/* A recorded event */
struct iqcn_event {
	u64 time_ns;
	u64 lost;			/* events of the group lost so far */
	union {
		struct {		/* IQCN_CMD_QUEUE_STATE_NTF */
			u64 ce_rate_bps;
			u64 roce_bps;
		};
		struct iqcn_key key;	/* IQCN_CMD_{FLOW_STATE,CNP}_NTF */
	};
	u32 cmd;			/* enum iqcn_cmd */
	u32 ifindex;			/* of the port */
	u32 parent;			/* of the queue */
	u32 depth_bytes;		/* of the queue */
	union {
		struct {		/* IQCN_CMD_{QUEUE,FLOW}_STATE_NTF */
			u32 congested;	/* enum iqcn_detect bits */
			u32 reason;	/* enum iqcn_reason */
		};
		struct {		/* IQCN_CMD_CNP_NTF */
			u32 src_qp;	/* destination of the CNP */
			u32 cause;	/* enum iqcn_cause */
		};
		struct {		/* IQCN_CMD_PFC_NTF */
			u32 pfc_state;	/* enum iqcn_pfc_state */
			u32 pfc_reason;	/* enum iqcn_pfc_reason */
		};
	};
};

static bool iqcn_event_wanted(const struct iqcn_queue *q,
			      enum iqcn_group group)
{
	return q->port &&
	       genl_has_listeners(&iqcn_genl_family, q->port->net, group);
}

static void iqcn_event_add(const struct iqcn_queue *q, enum iqcn_group group,
			   struct iqcn_event *e)
{
	struct iqcn_net *in = iqcn_net(q->port->net);
	struct iqcn_ring *ring = &in->rings[group];

	e->ifindex = q->port->dev->ifindex;
	e->parent = q->parent;
	e->depth_bytes = iqcn_depth_bytes(q);

	spin_lock(&ring->lock);
	if (ring->head - ring->tail < IQCN_EVENTS) {
		e->lost = ring->lost;
		ring->events[ring->head % IQCN_EVENTS] = *e;
		WRITE_ONCE(ring->head, ring->head + 1);
	} else {
		iqcn_inc(ring->lost);
	}
	spin_unlock(&ring->lock);
	queue_delayed_work(iqcn_wq, &in->event_work,
			   msecs_to_jiffies(IQCN_EVENT_RUN_MS));
}

/**
 * iqcn_event_queue_state() - record that congestion of a queue began or ended
 * @q: queue
 * @bits: enum iqcn_detect bits of the new state
 * @reason: enum iqcn_reason of the change
 * @now_ns: now
 *
 * Context: queue->lock.
 */
void iqcn_event_queue_state(struct iqcn_queue *q, u32 bits, u32 reason,
			    u64 now_ns)
{
	struct iqcn_event e;

	if (!iqcn_event_wanted(q, IQCN_GROUP_STATE))
		return;
	e = (struct iqcn_event) {
		.cmd = IQCN_CMD_QUEUE_STATE_NTF,
		.time_ns = now_ns,
		.congested = bits,
		.reason = reason,
	};
	e.ce_rate_bps = q->ce.rate_bps;
	e.roce_bps = iqcn_queue_roce_bps(q);
	iqcn_event_add(q, IQCN_GROUP_STATE, &e);
}

/**
 * iqcn_event_flow_state() - record that congestion of a flow began or ended
 * @q: queue of the flow
 * @flow: flow
 * @bits: enum iqcn_detect bits of the new state
 * @reason: enum iqcn_reason of the change
 * @now_ns: now
 *
 * Context: queue->lock.
 */
void iqcn_event_flow_state(struct iqcn_queue *q, const struct iqcn_flow *flow,
			   u32 bits, u32 reason, u64 now_ns)
{
	struct iqcn_event e;

	if (!iqcn_event_wanted(q, IQCN_GROUP_STATE))
		return;
	e = (struct iqcn_event) {
		.cmd = IQCN_CMD_FLOW_STATE_NTF,
		.time_ns = now_ns,
		.congested = bits,
		.reason = reason,
	};
	iqcn_flow_key(flow, &e.key);
	iqcn_event_add(q, IQCN_GROUP_STATE, &e);
}

/**
 * iqcn_event_cnp_sent() - record that a CNP is about to be injected
 * @q: queue of the flow
 * @flow: flow whose sender gets the CNP
 * @cause: cause of the CNP
 * @now_ns: now
 *
 * Context: queue->lock.
 */
void iqcn_event_cnp_sent(struct iqcn_queue *q, const struct iqcn_flow *flow,
			 enum iqcn_cause cause, u64 now_ns)
{
	struct iqcn_event e;

	if (!iqcn_event_wanted(q, IQCN_GROUP_CNP))
		return;
	e = (struct iqcn_event) {
		.cmd = IQCN_CMD_CNP_NTF,
		.time_ns = now_ns,
		.src_qp = flow->src_qp,
		.cause = cause,
	};
	iqcn_flow_key(flow, &e.key);
	iqcn_event_add(q, IQCN_GROUP_CNP, &e);
}

/**
 * iqcn_event_pfc() - record a change of the PFC state
 * @q: queue
 * @state: enum iqcn_pfc_state
 * @reason: enum iqcn_pfc_reason
 * @now_ns: now
 *
 * Context: queue->lock.
 */
void iqcn_event_pfc(struct iqcn_queue *q, u32 state, u32 reason, u64 now_ns)
{
	struct iqcn_event e;

	if (!iqcn_event_wanted(q, IQCN_GROUP_STATE))
		return;
	e = (struct iqcn_event) {
		.cmd = IQCN_CMD_PFC_NTF,
		.time_ns = now_ns,
		.pfc_state = state,
		.pfc_reason = reason,
	};
	iqcn_event_add(q, IQCN_GROUP_STATE, &e);
}

/**
 * iqcn_event_lease() - record that a lease has expired
 * @q: queue
 * @now_ns: now
 *
 * Context: queue->lock.
 */
void iqcn_event_lease(struct iqcn_queue *q, u64 now_ns)
{
	struct iqcn_event e;

	if (!iqcn_event_wanted(q, IQCN_GROUP_STATE))
		return;
	e = (struct iqcn_event) {
		.cmd = IQCN_CMD_LEASE_NTF,
		.time_ns = now_ns,
	};
	iqcn_event_add(q, IQCN_GROUP_STATE, &e);
}

static int iqcn_event_put_state(struct sk_buff *skb,
				const struct iqcn_event *e)
{
	if (nla_put_u32(skb, IQCN_A_EVENT_CONGESTED, e->congested) ||
	    nla_put_u32(skb, IQCN_A_EVENT_REASON, e->reason))
		return -EMSGSIZE;
	return 0;
}

static int iqcn_event_put_subject(struct sk_buff *skb,
				  const struct iqcn_event *e)
{
	switch (e->cmd) {
	case IQCN_CMD_QUEUE_STATE_NTF:
		if (nla_put_u64_64bit(skb, IQCN_A_EVENT_CE_RATE_BPS,
				      e->ce_rate_bps, IQCN_A_EVENT_PAD) ||
		    nla_put_u64_64bit(skb, IQCN_A_EVENT_ROCE_BPS,
				      e->roce_bps, IQCN_A_EVENT_PAD))
			return -EMSGSIZE;
		return iqcn_event_put_state(skb, e);
	case IQCN_CMD_FLOW_STATE_NTF:
		return iqcn_genl_put_key(skb, IQCN_A_EVENT_SRC, &e->key) ?:
		       iqcn_event_put_state(skb, e);
	case IQCN_CMD_PFC_NTF:
		if (nla_put_u32(skb, IQCN_A_EVENT_PFC_STATE, e->pfc_state) ||
		    nla_put_u32(skb, IQCN_A_EVENT_PFC_REASON, e->pfc_reason))
			return -EMSGSIZE;
		return 0;
	case IQCN_CMD_LEASE_NTF:
		return 0;
	default:
		if (iqcn_genl_put_key(skb, IQCN_A_EVENT_SRC, &e->key) ||
		    nla_put_u32(skb, IQCN_A_EVENT_SRC_QP, e->src_qp) ||
		    nla_put_u32(skb, IQCN_A_EVENT_CAUSE, e->cause))
			return -EMSGSIZE;
		return 0;
	}
}

static int iqcn_event_put(struct sk_buff *skb, const struct iqcn_event *e)
{
	void *hdr = genlmsg_put(skb, 0, 0, &iqcn_genl_family, 0, e->cmd);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, IQCN_A_EVENT_TIME_NS, e->time_ns,
			      IQCN_A_EVENT_PAD) ||
	    nla_put_u64_64bit(skb, IQCN_A_EVENT_LOST, e->lost,
			      IQCN_A_EVENT_PAD) ||
	    nla_put_u32(skb, IQCN_A_EVENT_IFINDEX, e->ifindex) ||
	    nla_put_u32(skb, IQCN_A_EVENT_PARENT, e->parent) ||
	    nla_put_u32(skb, IQCN_A_EVENT_DEPTH_BYTES, e->depth_bytes) ||
	    iqcn_event_put_subject(skb, e)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* Send the events that fit into one skb.  Events from tail to head are read
 * without the lock: iqcn_event_add() does not write them, and only this
 * function moves the tail.
 * Return: true if events were sent and there may be more before @head; false if
 * there were none, or if memory ran out.
 */
static bool iqcn_event_send_some(struct iqcn_net *in, enum iqcn_group group,
				 u32 head)
{
	struct iqcn_ring *ring = &in->rings[group];
	u32 tail = ring->tail;
	struct sk_buff *skb;

	if (tail == head)
		return false;
	/* the next run retries; until then, new events are lost if the ring
	 * is full
	 */
	skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!skb)
		return false;
	while (tail != head &&
	       !iqcn_event_put(skb, &ring->events[tail % IQCN_EVENTS]))
		tail++;
	spin_lock_bh(&ring->lock);
	ring->tail = tail;
	spin_unlock_bh(&ring->lock);
	genlmsg_multicast_netns(&iqcn_genl_family, in->net, skb, 0, group,
				GFP_KERNEL);
	return true;
}

static void iqcn_event_work(struct work_struct *work)
{
	struct iqcn_net *in = container_of(to_delayed_work(work),
					   struct iqcn_net, event_work);
	enum iqcn_group group;
	bool more = false;
	u32 head;

	for (group = 0; group < __IQCN_GROUP_MAX; group++) {
		struct iqcn_ring *ring = &in->rings[group];

		spin_lock_bh(&ring->lock);
		head = ring->head;
		spin_unlock_bh(&ring->lock);
		while (iqcn_event_send_some(in, group, head))
			cond_resched();
		more |= READ_ONCE(ring->head) != ring->tail;
	}
	if (more)
		queue_delayed_work(iqcn_wq, &in->event_work,
				   msecs_to_jiffies(IQCN_EVENT_RUN_MS));
}

/**
 * iqcn_event_init() - initialize the rings of a new namespace
 * @in: namespace
 *
 * Context: process.
 */
void iqcn_event_init(struct iqcn_net *in)
{
	enum iqcn_group group;

	for (group = 0; group < __IQCN_GROUP_MAX; group++)
		spin_lock_init(&in->rings[group].lock);
	INIT_DELAYED_WORK(&in->event_work, iqcn_event_work);
}

static void iqcn_event_free(struct iqcn_net *in)
{
	enum iqcn_group group;

	for (group = 0; group < __IQCN_GROUP_MAX; group++) {
		kvfree(in->rings[group].events);
		in->rings[group].events = NULL;
	}
}

/**
 * iqcn_event_start() - allocate the rings for the first port of a namespace
 * @in: namespace
 *
 * Context: RTNL.
 * Return: 0 or a negative error.
 */
int iqcn_event_start(struct iqcn_net *in)
{
	enum iqcn_group group;

	for (group = 0; group < __IQCN_GROUP_MAX; group++) {
		struct iqcn_ring *ring = &in->rings[group];

		ring->events = kvcalloc(IQCN_EVENTS, sizeof(*ring->events),
					GFP_KERNEL_ACCOUNT);
		if (!ring->events) {
			iqcn_event_free(in);
			return -ENOMEM;
		}
		ring->head = 0;
		ring->tail = 0;
	}
	return 0;
}

/**
 * iqcn_event_stop() - free the rings of a namespace that has no port any more
 * @in: namespace
 *
 * Recorded events are still sent.
 *
 * Context: RTNL, sleeps; no queue records events any more.
 */
void iqcn_event_stop(struct iqcn_net *in)
{
	flush_delayed_work(&in->event_work);
	cancel_delayed_work_sync(&in->event_work);
	iqcn_event_free(in);
}
