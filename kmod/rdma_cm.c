// SPDX-License-Identifier: GPL-2.0
/*
 * Pairing by messages of the RDMA connection manager (CM), the best evidence
 * for a flow's QPs.
 *
 * The REQ of the active side names its QP.  The REP of the passive side names
 * its own QP and refers to the REQ by its communication id.  The two messages
 * usually arrive on different ports, so the table belongs to the namespace.
 * Its keys contain no VLANs, because a bridge may connect one host tagged and
 * the other untagged.
 *
 * The table has two kinds of entry.  Each is limited in number; at the limit a
 * new entry replaces the oldest one:
 *   REQ   hosts as in the REQ, communication id  -> QP of the active side
 *   CONN  hosts of the data, DestQP              -> QP of its sender
 *
 * Any host can forge such messages.  So a connection pairs a flow only if the
 * receiver's message arrived on the port and the VLANs by which the flow's data
 * leave, and only if no other REQ with this communication id named another QP.
 * A DREQ is accepted if it arrives where messages of its sender arrived before,
 * and has the communication ids of both sides.  With IQCN_SNOOP_NETNS ports and
 * VLANs prove nothing, so that only QPs and ids are compared.
 */
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "iqcn.h"

/* Limits for a namespace, 9 MB at most: connections, with two entries each, and
 * pending requests.  The limits are separate, so that a flood of requests
 * evicts no connection.
 */
static const unsigned int iqcn_cm_max[__IQCN_CM_KIND_MAX] = {
	[IQCN_CM_KIND_REQ] = 4096,
	[IQCN_CM_KIND_CONN] = 65536,
};

struct iqcn_cm_key {
	struct in6_addr src;
	struct in6_addr dst;
	u32 id;
	u32 kind;
};

/* One side of a connection */
struct iqcn_cm_side {
	int ifindex;		/* where its messages arrive, 0: unknown */
	struct iqcn_vlan vlan[IQCN_VLANS];	/* of its messages */
	u32 id;			/* its communication id */
};

struct iqcn_cm_entry {
	struct rhash_head node;		/* in iqcn_net->cm */
	struct iqcn_cm_key key;
	struct list_head lru;		/* in iqcn_net->cm_lru */
	u32 qpn;			/* QP of the sender */
	struct iqcn_cm_side sender;	/* of the data; REQ: the active side */
	struct iqcn_cm_side receiver;	/* of the data; CONN only */
	bool ambiguous;			/* REQ only: a later REQ with this key
					 * named another QP
					 */
	unsigned long made_jiffies;	/* when it was stored */
	struct rcu_head rcu;
};

static const struct rhashtable_params iqcn_cm_params = {
	.key_len = sizeof(struct iqcn_cm_key),
	.key_offset = offsetof(struct iqcn_cm_entry, key),
	.head_offset = offsetof(struct iqcn_cm_entry, node),
	.automatic_shrinking = true,
};

static void iqcn_cm_key_init(struct iqcn_cm_key *key, enum iqcn_cm_kind kind,
			     const struct in6_addr *src,
			     const struct in6_addr *dst, u32 id)
{
	key->src = *src;
	key->dst = *dst;
	key->id = id;
	key->kind = kind;
}

static void iqcn_cm_side_init(struct iqcn_cm_side *side, int ifindex,
			      const struct iqcn_pkt *pkt, u32 id)
{
	side->ifindex = ifindex;
	memcpy(side->vlan, pkt->vlan, sizeof(side->vlan));
	side->id = id;
}

/* Do the port, the VLANs and the id of a message match a side of a connection?
 */
static bool iqcn_cm_side_matches(const struct iqcn_cm_side *side,
				 const struct iqcn_cm_side *msg)
{
	if (side->id != msg->id || side->ifindex != msg->ifindex)
		return false;
	return !side->ifindex || iqcn_vlans_equal(side->vlan, msg->vlan);
}

/* Do the data to this side leave by the port? */
static bool iqcn_cm_side_on_port(const struct iqcn_cm_side *side,
				 const struct iqcn_port *port)
{
	return READ_ONCE(port->snoop) == IQCN_SNOOP_NETNS ||
	       side->ifindex == port->dev->ifindex;
}

/* Limits for all namespaces of a user together.  They are needed because
 * entries are allocated in softirq, where no cgroup is charged.
 */
static const unsigned int iqcn_cm_user_max[__IQCN_CM_KIND_MAX] = {
	[IQCN_CM_KIND_REQ] = 256,
	[IQCN_CM_KIND_CONN] = 4096,
};

static bool iqcn_cm_full(const struct iqcn_net *in, u32 kind)
{
	if (in->cm_count[kind] >= iqcn_cm_max[kind])
		return true;
	return !iqcn_owner_is_machine(in->owner) &&
	       atomic_read(&in->owner->conns[kind]) >= iqcn_cm_user_max[kind];
}

/* Count added entries of a kind, or removed ones if @n is negative */
static void iqcn_cm_account(struct iqcn_net *in, u32 kind, int n)
{
	lockdep_assert_held(&in->cm_lock);

	WRITE_ONCE(in->cm_count[kind], in->cm_count[kind] + n);
	atomic_add(n, &in->owner->conns[kind]);
}

static void iqcn_cm_del(struct iqcn_net *in, struct iqcn_cm_entry *e)
{
	lockdep_assert_held(&in->cm_lock);

	rhashtable_remove_fast(&in->cm, &e->node, iqcn_cm_params);
	list_del(&e->lru);
	iqcn_cm_account(in, e->key.kind, -1);
	kfree_rcu(e, rcu);
}

/* Add an entry.  Replaces one with the same key, or the oldest at the limit. */
static void iqcn_cm_store(struct iqcn_net *in, const struct iqcn_cm_key *key,
			  u32 qpn, const struct iqcn_cm_side *sender,
			  const struct iqcn_cm_side *receiver)
{
	struct iqcn_cm_entry *e, *old;

	lockdep_assert_held(&in->cm_lock);

	old = rhashtable_lookup_fast(&in->cm, key, iqcn_cm_params);
	if (!old && iqcn_cm_full(in, key->kind)) {
		old = list_first_entry_or_null(&in->cm_lru[key->kind],
					       struct iqcn_cm_entry, lru);
		/* the entries of other namespaces use up the user's limit */
		if (!old)
			return;
	}
	if (old)
		iqcn_cm_del(in, old);

	e = kzalloc(sizeof(*e), GFP_ATOMIC | __GFP_NOWARN);
	if (!e)
		return;
	e->key = *key;
	e->made_jiffies = jiffies;
	e->qpn = qpn;
	e->sender = *sender;
	if (receiver)
		e->receiver = *receiver;
	if (rhashtable_insert_fast(&in->cm, &e->node, iqcn_cm_params)) {
		kfree(e);
		return;
	}
	list_add_tail(&e->lru, &in->cm_lru[key->kind]);
	iqcn_cm_account(in, key->kind, 1);
}

/* Pair the existing flows of a connection, or end their pairing if it was torn
 * down
 */
static void iqcn_cm_apply(struct iqcn_net *in, const struct in6_addr *src,
			  const struct in6_addr *dst, u32 dest_qp, u32 src_qp,
			  const struct iqcn_cm_side *receiver, bool made)
{
	struct iqcn_port *port;
	struct iqcn_flow *flow;
	struct iqcn_key key;

	list_for_each_entry_rcu(port, &in->ports, list) {
		if (!iqcn_cm_side_on_port(receiver, port))
			continue;
		iqcn_key_init(&key, port, src, dst, dest_qp, receiver->vlan);
		flow = iqcn_flow_find(port, &key);
		if (!flow)
			continue;
		spin_lock(&port->lock);
		if (made)
			iqcn_pair_evidence(port, flow, IQCN_PAIR_CM, src_qp);
		else
			iqcn_pair_withdraw(port, flow, src_qp);
		spin_unlock(&port->lock);
	}
}

/* An older REQ is not pending any more, and its id may be used again */
#define IQCN_CM_REQ_JIFFIES	(60 * HZ)

/* Store a REQ.  If it contradicts an earlier one, one of the two may be forged.
 * It is unknown which, so neither is used.
 */
static void iqcn_cm_req(struct iqcn_net *in, const struct iqcn_pkt *pkt,
			const struct iqcn_cm *cm,
			const struct iqcn_cm_side *from)
{
	struct iqcn_cm_entry *e;
	struct iqcn_cm_key key;

	iqcn_cm_key_init(&key, IQCN_CM_KIND_REQ, &pkt->src, &pkt->dst,
			 cm->local_id);
	spin_lock(&in->cm_lock);
	e = rhashtable_lookup_fast(&in->cm, &key, iqcn_cm_params);
	if (e && time_before(jiffies, e->made_jiffies + IQCN_CM_REQ_JIFFIES) &&
	    (e->ambiguous || e->qpn != cm->qpn))
		e->ambiguous = true;
	else
		iqcn_cm_store(in, &key, cm->qpn, from, NULL);
	spin_unlock(&in->cm_lock);
}

/* Add the two entries of a connection if its REQ is in the table */
static void iqcn_cm_rep(struct iqcn_net *in, const struct iqcn_pkt *pkt,
			const struct iqcn_cm *cm,
			const struct iqcn_cm_side *passive_side)
{
	const struct in6_addr *active = &pkt->dst, *passive = &pkt->src;
	struct iqcn_cm_side active_side;
	struct iqcn_cm_entry *req;
	struct iqcn_cm_key key;
	u32 active_qpn;

	iqcn_cm_key_init(&key, IQCN_CM_KIND_REQ, active, passive,
			 cm->remote_id);
	spin_lock(&in->cm_lock);
	req = rhashtable_lookup_fast(&in->cm, &key, iqcn_cm_params);
	if (!req || req->ambiguous) {
		spin_unlock(&in->cm_lock);
		return;
	}
	active_qpn = req->qpn;
	active_side = req->sender;

	/* keep the REQ, because the REP may be repeated */
	iqcn_cm_key_init(&key, IQCN_CM_KIND_CONN, active, passive, cm->qpn);
	iqcn_cm_store(in, &key, active_qpn, &active_side, passive_side);
	iqcn_cm_key_init(&key, IQCN_CM_KIND_CONN, passive, active, active_qpn);
	iqcn_cm_store(in, &key, cm->qpn, passive_side, &active_side);
	spin_unlock(&in->cm_lock);

	iqcn_cm_apply(in, active, passive, cm->qpn, active_qpn, passive_side,
		      true);
	iqcn_cm_apply(in, passive, active, active_qpn, cm->qpn, &active_side,
		      true);
}

/* Remove a connection that either side tears down */
static void iqcn_cm_dreq(struct iqcn_net *in, const struct iqcn_pkt *pkt,
			 const struct iqcn_cm *cm,
			 const struct iqcn_cm_side *from)
{
	struct iqcn_cm_side to;
	struct iqcn_cm_entry *e;
	struct iqcn_cm_key key;
	u32 src_qp;

	iqcn_cm_key_init(&key, IQCN_CM_KIND_CONN, &pkt->src, &pkt->dst,
			 cm->qpn);
	spin_lock(&in->cm_lock);
	e = rhashtable_lookup_fast(&in->cm, &key, iqcn_cm_params);
	if (!e || !iqcn_cm_side_matches(&e->sender, from) ||
	    e->receiver.id != cm->remote_id) {
		spin_unlock(&in->cm_lock);
		return;
	}
	src_qp = e->qpn;
	to = e->receiver;
	iqcn_cm_del(in, e);
	iqcn_cm_key_init(&key, IQCN_CM_KIND_CONN, &pkt->dst, &pkt->src,
			 src_qp);
	e = rhashtable_lookup_fast(&in->cm, &key, iqcn_cm_params);
	if (e && iqcn_cm_side_matches(&e->receiver, from))
		iqcn_cm_del(in, e);
	spin_unlock(&in->cm_lock);

	iqcn_cm_apply(in, &pkt->src, &pkt->dst, cm->qpn, src_qp, &to, false);
	iqcn_cm_apply(in, &pkt->dst, &pkt->src, src_qp, cm->qpn, from, false);
}

/**
 * iqcn_cm_rx() - handle a CM message
 * @net: namespace
 * @ifindex: port that received it, 0 with IQCN_SNOOP_NETNS
 * @pkt: packet
 * @cm: message in the packet
 *
 * Context: RCU, BHs off; takes cm_lock and port->lock.
 */
void iqcn_cm_rx(struct net *net, int ifindex, const struct iqcn_pkt *pkt,
		const struct iqcn_cm *cm)
{
	struct iqcn_net *in = iqcn_net(net);
	struct iqcn_cm_side from;

	iqcn_cm_side_init(&from, ifindex, pkt, cm->local_id);
	switch (cm->attr) {
	case IQCN_CM_REQ:
		iqcn_cm_req(in, pkt, cm, &from);
		break;
	case IQCN_CM_REP:
		iqcn_cm_rep(in, pkt, cm, &from);
		break;
	case IQCN_CM_DREQ:
		iqcn_cm_dreq(in, pkt, cm, &from);
		break;
	}
}

/* Look up the sender's QP of a flow by its connection; RCU */
static bool iqcn_cm_lookup(const struct iqcn_port *port,
			   const struct iqcn_key *key, u32 *src_qp)
{
	struct iqcn_net *in = iqcn_net(port->net);
	struct iqcn_cm_entry *e;
	struct iqcn_cm_key ck;
	struct iqcn_key data;

	iqcn_cm_key_init(&ck, IQCN_CM_KIND_CONN, &key->src, &key->dst, key->qp);
	e = rhashtable_lookup(&in->cm, &ck, iqcn_cm_params);
	if (!e || !iqcn_cm_side_on_port(&e->receiver, port))
		return false;
	iqcn_key_init(&data, port, &key->src, &key->dst, key->qp,
		      e->receiver.vlan);
	if (memcmp(&data, key, sizeof(data)))
		return false;
	*src_qp = e->qpn;
	return true;
}

/**
 * iqcn_cm_pair() - pair a new flow if its connection is in the table
 * @port: the flow's port
 * @flow: flow; the caller has a reference
 *
 * Context: BHs off; takes port->lock.
 */
void iqcn_cm_pair(struct iqcn_port *port, struct iqcn_flow *flow)
{
	struct iqcn_net *in = iqcn_net(port->net);
	struct iqcn_key key;
	u32 src_qp;

	if (!READ_ONCE(in->cm_count[IQCN_CM_KIND_CONN]))
		return;
	rcu_read_lock();
	spin_lock(&port->lock);
	/* the flow may have died, and iqcn_pair_evidence() may kill it */
	if (flow->queue) {
		iqcn_flow_key(flow, &key);
		if (iqcn_cm_lookup(port, &key, &src_qp))
			iqcn_pair_evidence(port, flow, IQCN_PAIR_CM, src_qp);
	}
	spin_unlock(&port->lock);
	rcu_read_unlock();
}

/**
 * iqcn_cm_init() - initialize the table of connections
 * @in: new namespace
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int iqcn_cm_init(struct iqcn_net *in)
{
	int kind;

	spin_lock_init(&in->cm_lock);
	for (kind = 0; kind < __IQCN_CM_KIND_MAX; kind++)
		INIT_LIST_HEAD(&in->cm_lru[kind]);
	return rhashtable_init(&in->cm, &iqcn_cm_params);
}

/**
 * iqcn_cm_flush() - remove all connections and requests
 * @in: namespace
 *
 * Context: process, sleeps.
 */
void iqcn_cm_flush(struct iqcn_net *in)
{
	struct iqcn_cm_entry *e;
	unsigned int left;
	int kind;

	for (kind = 0; kind < __IQCN_CM_KIND_MAX; kind++) {
		/* only current entries, so that a flood cannot prolong the loop
		 */
		for (left = READ_ONCE(in->cm_count[kind]); left; left--) {
			spin_lock_bh(&in->cm_lock);
			e = list_first_entry_or_null(&in->cm_lru[kind],
						     struct iqcn_cm_entry, lru);
			if (e)
				iqcn_cm_del(in, e);
			spin_unlock_bh(&in->cm_lock);
			if (left % 64 == 0)
				cond_resched();
		}
	}
}

/**
 * iqcn_cm_exit() - free the table of connections
 * @in: namespace whose last port was removed at least an RCU grace period ago
 *
 * Context: process, sleeps.
 */
void iqcn_cm_exit(struct iqcn_net *in)
{
	/* removes the entries from the user's count */
	iqcn_cm_flush(in);
	rhashtable_destroy(&in->cm);
}
