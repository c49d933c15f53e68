// SPDX-License-Identifier: GPL-2.0
/*
 * The flow table of a port.  A flow is created by its first packet that is CE
 * or arrives at a deep queue.  It is removed when it is idle for too long, when
 * a limit of flows is reached, by a flush, or with its queue (gc.c).
 *
 * The table belongs to the port, because several queues of a port may carry
 * packets of one flow.  Each queue also has a direct-mapped cache, q->recent,
 * which spares most packets the table lookup (bench "marked").
 */
#include <linux/hash.h>
#include <linux/if_vlan.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "iqcn.h"
#include "trace.h"

/* Flows that have left the table still use memory while queued packets or RCU
 * readers have pointers to them.  Their number is limited to the sum of the
 * queues' limits (port->max_dead) plus this.
 */
#define IQCN_DEAD_SPARE	1024

/* Limit of flows per user, dead flows included, in all namespaces of the user.
 * It is needed because flows are allocated in softirq, where no cgroup is
 * charged.
 */
#define IQCN_USER_FLOWS		IQCN_DEFAULT_FLOWS

static struct kmem_cache *iqcn_flow_cache;

static u32 iqcn_flow_hash(const void *data, u32 len, u32 seed)
{
	struct iqcn_key key;

	iqcn_flow_key(data, &key);
	return iqcn_key_hash(&key, len, seed);
}

/* Compare the QP first: it nearly always differs between flows */
static int iqcn_flow_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct iqcn_key *key = arg->key;
	const struct iqcn_flow *flow = obj;

	return flow->qp != key->qp || !iqcn_key_of_hosts(key, flow->hosts);
}

static const struct rhashtable_params iqcn_flow_params = {
	.key_len = sizeof(struct iqcn_key),
	.head_offset = offsetof(struct iqcn_flow, node),
	.hashfn = iqcn_key_hash,
	.obj_hashfn = iqcn_flow_hash,
	.obj_cmpfn = iqcn_flow_cmp,
	.automatic_shrinking = true,
};

/* VLAN id for the key, 0 if keys have none */
static u16 iqcn_key_vid(bool tagged, const struct iqcn_vlan *vlan)
{
	return tagged && vlan->proto ? vlan->tci & VLAN_VID_MASK : 0;
}

/* Are VLAN ids part of the keys of a port? */
static bool iqcn_key_tagged(const struct iqcn_port *port)
{
	return READ_ONCE(port->snoop) == IQCN_SNOOP_PORT;
}

/**
 * iqcn_key_init() - fill a key
 * @key: key
 * @port: port of the flow.  With IQCN_SNOOP_NETNS the VLANs of CNPs may differ
 *	from those of the data, so keys have no VLANs
 * @src: source address of the data
 * @dst: destination address of the data
 * @qp: QP number, 0 for hosts
 * @vlan: VLAN tags of the data on the port
 *
 * Context: any.
 */
void iqcn_key_init(struct iqcn_key *key, const struct iqcn_port *port,
		   const struct in6_addr *src, const struct in6_addr *dst,
		   u32 qp, const struct iqcn_vlan *vlan)
{
	bool tagged = iqcn_key_tagged(port);
	int i;

	key->src = *src;
	key->dst = *dst;
	key->qp = qp;
	for (i = 0; i < IQCN_VLANS; i++)
		key->vid[i] = iqcn_key_vid(tagged, &vlan[i]);
}

/* Does a packet belong to a flow?  Same result as a table lookup, but without
 * building the packet's key.  RCU
 */
static __always_inline bool iqcn_flow_matches(const struct iqcn_flow *flow,
					      const struct iqcn_port *port,
					      const struct iqcn_pkt *pkt)
{
	const struct iqcn_key *key;
	bool tagged;
	int i;

	if (flow->qp != pkt->dest_qp)
		return false;
	key = &flow->hosts->key;
	tagged = iqcn_key_tagged(port);
	for (i = 0; i < IQCN_VLANS; i++)
		if (key->vid[i] != iqcn_key_vid(tagged, &pkt->vlan[i]))
			return false;
	return ipv6_addr_equal(&key->src, &pkt->src) &&
	       ipv6_addr_equal(&key->dst, &pkt->dst);
}

/* Get the cache slot for a packet or a flow.  Up to 233 flows between the same
 * two hosts get different slots if their QP numbers are consecutive.
 */
static struct iqcn_flow **iqcn_recent_slot(const struct iqcn_queue *q,
					   const struct in6_addr *src,
					   const struct in6_addr *dst, u32 qp)
{
	u32 hosts = (__force u32)src->s6_addr32[3] ^
		    rol32((__force u32)dst->s6_addr32[3], 5);

	return &q->recent[hash_32(hosts + qp, IQCN_RECENT_BITS)];
}

/* Cache a flow of the queue.  The check under q->lock makes sure that the flow
 * is not dead, so that iqcn_recent_del() clears the slot before the flow is
 * freed.
 */
static void iqcn_recent_add(struct iqcn_queue *q, struct iqcn_flow **slot,
			    struct iqcn_flow *flow)
{
	/* the flow may have moved to another queue */
	if (!iqcn_flow_of(flow, q))
		return;
	spin_lock(&q->lock);
	if (iqcn_flow_of(flow, q))
		WRITE_ONCE(*slot, flow);
	spin_unlock(&q->lock);
}

/* Clear the cache slot of a flow that is leaving the queue; q->lock */
static void iqcn_recent_del(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	const struct iqcn_key *key = &flow->hosts->key;
	struct iqcn_flow **slot;

	slot = iqcn_recent_slot(q, &key->src, &key->dst, flow->qp);
	if (*slot == flow)
		WRITE_ONCE(*slot, NULL);
}

/**
 * iqcn_flow_queue_init() - allocate a queue's flow cache
 * @q: queue
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int iqcn_flow_queue_init(struct iqcn_queue *q)
{
	q->recent = kcalloc(BIT(IQCN_RECENT_BITS), sizeof(*q->recent),
			    GFP_KERNEL_ACCOUNT);
	return q->recent ? 0 : -ENOMEM;
}

/**
 * iqcn_flow_queue_free() - free a queue's flow cache
 * @q: queue; iqcn_flow_queue_init() may have failed
 *
 * Context: process; no packet is enqueued any more.
 */
void iqcn_flow_queue_free(struct iqcn_queue *q)
{
	kfree(q->recent);
}

/**
 * iqcn_flow_tables_init() - initialize a port's flow table
 * @port: port
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int iqcn_flow_tables_init(struct iqcn_port *port)
{
	/* no holes, because all of the key is hashed */
	BUILD_BUG_ON(sizeof(struct iqcn_key) != 40);
	BUILD_BUG_ON(sizeof(struct iqcn_flow) > IQCN_FLOW_BYTES);
	xa_init_flags(&port->by_id, XA_FLAGS_ALLOC1);
	return rhashtable_init(&port->flows, &iqcn_flow_params);
}

/**
 * iqcn_flow_tables_free() - free a port's flow table
 * @port: port without queues and flows
 *
 * Context: process, sleeps.
 */
void iqcn_flow_tables_free(struct iqcn_port *port)
{
	WARN_ON(atomic_read(&port->flows.nelems));
	rhashtable_destroy(&port->flows);
	xa_destroy(&port->by_id);
}

/**
 * iqcn_flow_find() - look up a flow by its key
 * @port: port
 * @key: key
 *
 * Context: RCU.
 * Return: the flow, or NULL.
 */
struct iqcn_flow *iqcn_flow_find(struct iqcn_port *port,
				 const struct iqcn_key *key)
{
	return rhashtable_lookup(&port->flows, key, iqcn_flow_params);
}

static struct iqcn_flow *iqcn_flow_alloc(struct iqcn_port *port)
{
	struct iqcn_flow *flow;

	flow = kmem_cache_zalloc(iqcn_flow_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!flow)
		return NULL;
	atomic_inc(&port->owner->flows);
	return flow;
}

static void iqcn_flow_free(struct iqcn_port *port, struct iqcn_flow *flow)
{
	atomic_dec(&port->owner->flows);
	iqcn_ext_free(flow);
	kmem_cache_free(iqcn_flow_cache, flow);
}

static void iqcn_flow_free_rcu(struct rcu_head *rcu)
{
	struct iqcn_flow *flow = container_of(rcu, struct iqcn_flow, rcu);
	struct iqcn_port *port = flow->port;

	atomic_dec(&port->n_dead);
	iqcn_flow_free(port, flow);
}

/**
 * iqcn_flow_free_late() - free an unreferenced flow after a grace period
 * @flow: flow
 *
 * Context: any.
 */
void iqcn_flow_free_late(struct iqcn_flow *flow)
{
	call_rcu(&flow->rcu, iqcn_flow_free_rcu);
}

static void iqcn_flow_link(struct iqcn_flow *flow, struct iqcn_queue *q)
{
	lockdep_assert_held(&q->port->lock);
	lockdep_assert_held(&q->lock);

	flow->active_epoch = 0;
	iqcn_flow_used(q, flow);
	q->by_grade[flow->grade]++;
	WRITE_ONCE(q->n_flows, q->n_flows + 1);
	if (q->n_flows == 1)
		iqcn_gc_start(q);
}

static void iqcn_flow_unlink(struct iqcn_flow *flow, struct iqcn_queue *q)
{
	lockdep_assert_held(&q->port->lock);
	lockdep_assert_held(&q->lock);

	iqcn_timer_cancel(flow);
	iqcn_recent_del(q, flow);
	if (iqcn_flow_own(q, flow))
		q->n_congested--;
	if (flow->ext)
		flow->ext->epoch = 0;
	list_del_init(&flow->lru);
	q->by_grade[flow->grade]--;
	WRITE_ONCE(q->n_flows, q->n_flows - 1);
}

/**
 * iqcn_flow_kill() - remove a flow from its queue and from all tables
 * @flow: flow, not dead
 *
 * Context: port->lock, BHs off; takes queue->lock.
 */
void iqcn_flow_kill(struct iqcn_flow *flow)
{
	struct iqcn_queue *q = flow->queue;
	struct iqcn_port *port = q->port;

	lockdep_assert_held(&port->lock);

	/* clear ->queue, unhash, then drop ->hosts, so that RCU readers of a
	 * live flow see valid hosts
	 */
	spin_lock(&q->lock);
	iqcn_pending_cancel(q, flow);
	iqcn_flow_unlink(flow, q);
	WRITE_ONCE(flow->queue, NULL);
	spin_unlock(&q->lock);

	rhashtable_remove_fast(&port->flows, &flow->node, iqcn_flow_params);
	xa_erase(&port->by_id, flow->id);
	iqcn_pair_leave(port, flow);
	iqcn_ext_free(flow);
	/* ->port shares memory with ->lru and ->poll, which are unused now */
	flow->port = port;
	atomic_inc(&port->n_dead);
	iqcn_flow_put(flow);
}

/**
 * iqcn_flow_evict() - remove a flow for lack of room or memory
 * @q: the flow's queue
 * @flow: flow, not dead
 *
 * Context: port->lock, BHs off; takes queue->lock.
 */
void iqcn_flow_evict(struct iqcn_queue *q, struct iqcn_flow *flow)
{
	iqcn_flow_kill(flow);
	iqcn_inc(q->st.flow_evicted);
}

/* Evict a flow to make room for another; port->lock */
static void iqcn_flow_evict_one(struct iqcn_queue *q)
{
	struct iqcn_flow *victim;

	spin_lock(&q->lock);
	victim = iqcn_gc_early_drop(q);
	spin_unlock(&q->lock);

	/* port->lock keeps the victim alive */
	if (victim)
		iqcn_flow_evict(q, victim);
}

/**
 * iqcn_flow_move() - move a flow to another queue of its port
 * @flow: flow
 * @q: the flow's new queue; its root lock is held
 *
 * Context: BHs off; takes port->lock and the locks of both queues.
 */
void iqcn_flow_move(struct iqcn_flow *flow, struct iqcn_queue *q)
{
	struct iqcn_port *port = q->port;
	struct iqcn_queue *old;

	spin_lock(&port->lock);
	old = flow->queue;
	if (old && old != q) {
		/* take both locks, because flow->queue must not change under
		 * either of them
		 */
		spin_lock(&old->lock);
		spin_lock_nested(&q->lock, SINGLE_DEPTH_NESTING);
		iqcn_pending_move(flow, old, q);
		iqcn_flow_unlink(flow, old);
		WRITE_ONCE(flow->queue, q);
		iqcn_flow_link(flow, q);
		iqcn_ext_trim(q, flow);
		if (iqcn_flow_has_pending(flow))
			iqcn_timer_arm(q, ktime_get_ns());
		spin_unlock(&q->lock);
		spin_unlock(&old->lock);
		if (q->n_flows > q->p.flows)
			iqcn_flow_evict_one(q);
	}
	spin_unlock(&port->lock);
}

/* After this time, a flow's last arrival no longer determines its queue */
#define IQCN_ARRIVALS_NS	(50 * NSEC_PER_MSEC)

/* Does a flow stay in its queue, although a packet leaves through @q?  Each
 * move restarts T1, so T1 would never expire if the packets of a flow left
 * through several queues in turn.  The idle timeout, after which the flow may
 * move, allows for sampling and for the late updates of ->ce_ns in
 * iqcn_flow_ce_brief().
 */
static bool iqcn_flow_stays(const struct iqcn_flow *flow,
			    const struct iqcn_queue *q, u64 now_ns)
{
	/* RCU keeps the queue of a live flow */
	const struct iqcn_queue *own = READ_ONCE(flow->queue);

	/* Wreb, pi and supplements record arrivals.  A flow belongs to the
	 * queue at which its packets have arrived lately, even while older
	 * packets still leave through another one.
	 */
	if (q->p.notify & (IQCN_NOTIFY_BTS | IQCN_NOTIFY_SUPPLEMENT))
		return now_ns <= READ_ONCE(flow->arrived_ns) + IQCN_ARRIVALS_NS;
	/* in a congested queue the flow needs CNPs */
	if (own && READ_ONCE(q->congested) && !READ_ONCE(own->congested))
		return false;
	return now_ns <= READ_ONCE(flow->ce_ns) +
			 iqcn_flow_idle_ns(q->p.window_ns, q->p.t1_ns,
					   q->p.period_ns);
}

/**
 * iqcn_flow_follow() - move a flow to the queue of a packet that leaves, unless
 * its own queue is still in use
 * @flow: flow of another queue, or dead
 * @q: queue of the packet; its root lock is held
 *
 * Context: BHs off; takes port->lock and the locks of both queues.
 */
void iqcn_flow_follow(struct iqcn_flow *flow, struct iqcn_queue *q)
{
	if (!READ_ONCE(q->quiet) && !iqcn_flow_stays(flow, q, ktime_get_ns()))
		iqcn_flow_move(flow, q);
}

/* Reserve the lowest free id, so that the later xa_store() cannot fail.  Also
 * set born_ns, which is unique in a port even with a coarse clock, because
 * dumps use it to tell old flows from new ones.
 */
static int iqcn_flow_alloc_id(struct iqcn_port *port, struct iqcn_flow *flow)
{
	flow->born_ns = max(flow->ce_ns, port->born_ns + 1);
	port->born_ns = flow->born_ns;
	return xa_alloc(&port->by_id, &flow->id, NULL, xa_limit_32b,
			GFP_ATOMIC | __GFP_NOWARN);
}

/* Check the limits that count dead flows, too.  At the limit of the user, evict
 * a flow.  Return: false at a limit.
 */
static bool iqcn_flow_make_room(struct iqcn_queue *q)
{
	struct iqcn_port *port = q->port;

	if (!iqcn_owner_is_machine(port->owner) &&
	    atomic_read(&port->owner->flows) >= IQCN_USER_FLOWS) {
		/* the victim is freed after a grace period, too late for this
		 * packet
		 */
		spin_lock(&port->lock);
		iqcn_flow_evict_one(q);
		spin_unlock(&port->lock);
		return false;
	}
	return atomic_read(&port->n_dead) <
	       (u64)READ_ONCE(port->max_dead) + IQCN_DEAD_SPARE;
}

static void iqcn_flow_pack_vlans(const struct iqcn_pkt *pkt, u16 *vlan)
{
	int i;

	for (i = 0; i < IQCN_VLANS; i++)
		vlan[i] = iqcn_vlan_pack(&pkt->vlan[i]);
}

static struct iqcn_flow *iqcn_flow_new(struct iqcn_queue *q,
				       const struct iqcn_key *key,
				       const struct iqcn_pkt *pkt, bool *made)
{
	struct iqcn_port *port = q->port;
	struct iqcn_flow *flow, *other;

	if (!iqcn_flow_make_room(q))
		return NULL;
	flow = iqcn_flow_alloc(port);
	if (!flow)
		return NULL;
	flow->qp = key->qp;
	flow->queue = q;
	iqcn_deadline_init(&flow->due);
	iqcn_deadline_init(&flow->poll);
	/* random, so that flows do not get CNPs at the same time */
	flow->credit = get_random_u32();
	INIT_LIST_HEAD(&flow->lru);
	flow->sport = pkt->sport;
	flow->pkey = pkt->pkey;
	flow->ce_ns = ktime_get_ns();
	iqcn_flow_pack_vlans(pkt, flow->vlan);
	/* one for the table and one for the caller */
	refcount_set(&flow->refs, 2);

	spin_lock(&port->lock);
	if (iqcn_flow_alloc_id(port, flow))
		goto err_free;
	if (iqcn_pair_join(port, flow, key))
		goto err_number;
	if (q->n_flows >= q->p.flows)
		iqcn_flow_evict_one(q);
	other = rhashtable_lookup_get_insert_key(&port->flows, key, &flow->node,
						 iqcn_flow_params);
	if (other)
		goto err_leave;

	spin_lock(&q->lock);
	iqcn_flow_link(flow, q);
	spin_unlock(&q->lock);
	xa_store(&port->by_id, flow->id, flow, 0);
	iqcn_inc(q->st.flow_new);
	spin_unlock(&port->lock);
	*made = true;
	return flow;

err_leave:
	iqcn_pair_leave(port, flow);
	xa_erase(&port->by_id, flow->id);
	/* if another queue has inserted the flow meanwhile, use that entry */
	if (IS_ERR(other) || !refcount_inc_not_zero(&other->refs))
		other = NULL;
	spin_unlock(&port->lock);
	iqcn_flow_free(port, flow);
	return other;

err_number:
	xa_erase(&port->by_id, flow->id);
err_free:
	spin_unlock(&port->lock);
	iqcn_flow_free(port, flow);
	return NULL;
}

/* Update the VLAN tags of a flow whose key has none.  The test for a change
 * needs no lock: if it misses a change, the next packet repeats it.
 */
static void iqcn_flow_retag(struct iqcn_flow *flow, const struct iqcn_pkt *pkt)
{
	struct iqcn_queue *q = READ_ONCE(flow->queue);
	u16 vlan[IQCN_VLANS];
	bool same = true;
	int i;

	iqcn_flow_pack_vlans(pkt, vlan);
	for (i = 0; i < IQCN_VLANS; i++)
		same &= READ_ONCE(flow->vlan[i]) == vlan[i];
	if (likely(same) || !q)
		return;
	spin_lock(&q->lock);
	if (iqcn_flow_of(flow, q))
		for (i = 0; i < IQCN_VLANS; i++)
			WRITE_ONCE(flow->vlan[i], vlan[i]);
	spin_unlock(&q->lock);
}

/* Look up the flow of a packet in the cache, q->recent.  Inline, because this
 * runs for each packet of a deep queue (bench "marked").
 */
static __always_inline struct iqcn_flow *
iqcn_recent_find(const struct iqcn_queue *q, const struct iqcn_pkt *pkt)
{
	struct iqcn_flow *flow;

	flow = READ_ONCE(*iqcn_recent_slot(q, &pkt->src, &pkt->dst,
					   pkt->dest_qp));
	return flow && iqcn_flow_matches(flow, q->port, pkt) ? flow : NULL;
}

/**
 * iqcn_flow_cached() - look up the flow of a packet in the queue's cache
 * @q: queue of the packet
 * @pkt: packet
 *
 * Context: root lock of @q, BHs off, so RCU keeps the flow and its hosts.
 * Return: the flow, which may be dead, without a reference; NULL if it is not
 *	in the cache.
 */
struct iqcn_flow *iqcn_flow_cached(struct iqcn_queue *q,
				   const struct iqcn_pkt *pkt)
{
	return iqcn_recent_find(q, pkt);
}

/**
 * iqcn_flow_recent() - look up the flow of a packet in the queue's cache, and
 * take a reference
 * @q: queue of the packet
 * @pkt: packet
 *
 * Context: root lock of @q, BHs off; takes queue->lock.
 * Return: the flow, with a reference for the caller; NULL if it is not in the
 *	cache.
 */
struct iqcn_flow *iqcn_flow_recent(struct iqcn_queue *q,
				   const struct iqcn_pkt *pkt)
{
	struct iqcn_flow *flow = iqcn_recent_find(q, pkt);

	if (!flow || !refcount_inc_not_zero(&flow->refs))
		return NULL;
	if (unlikely(!iqcn_key_tagged(q->port)))
		iqcn_flow_retag(flow, pkt);
	return flow;
}

/**
 * iqcn_flow_get() - find the flow of a packet in the table, or create it
 * @q: queue of the packet
 * @pkt: packet
 * @made: set to true if the flow was created; then the caller must call
 *	iqcn_cm_pair()
 *
 * Context: root lock of @q, BHs off; takes port->lock and queue->lock.
 * Return: the flow, with a reference for the caller; NULL if there is no room
 *	or memory for it, which is counted.
 */
struct iqcn_flow *iqcn_flow_get(struct iqcn_queue *q,
				const struct iqcn_pkt *pkt, bool *made)
{
	struct iqcn_flow *flow;
	struct iqcn_key key __uninitialized; /* set by iqcn_key_init() */

	iqcn_key_init(&key, q->port, &pkt->src, &pkt->dst, pkt->dest_qp,
		      pkt->vlan);

	rcu_read_lock();
	flow = iqcn_flow_find(q->port, &key);
	if (!flow || !refcount_inc_not_zero(&flow->refs))
		flow = iqcn_flow_new(q, &key, pkt, made);
	rcu_read_unlock();

	if (!flow) {
		iqcn_inc(q->st.flow_full);
		return NULL;
	}
	iqcn_recent_add(q, iqcn_recent_slot(q, &pkt->src, &pkt->dst,
					    pkt->dest_qp), flow);
	if (unlikely(!iqcn_key_tagged(q->port)))
		iqcn_flow_retag(flow, pkt);
	return flow;
}

/**
 * iqcn_flow_youngest() - get the creation time of a port's newest flow
 * @port: port
 *
 * Context: process or softirq, BHs on or off; takes port->lock.
 * Return: its flow->born_ns; flows created later have a higher one.
 */
u64 iqcn_flow_youngest(struct iqcn_port *port)
{
	u64 born_ns;

	spin_lock_bh(&port->lock);
	born_ns = port->born_ns;
	spin_unlock_bh(&port->lock);
	return born_ns;
}

/**
 * iqcn_flow_read() - read a flow under its queue's lock
 * @flow: flow
 * @read: called with queue->lock held; not called if the flow is dead
 * @arg: argument of @read
 *
 * Context: RCU, BHs on or off; takes queue->lock.
 * Return: the return value of @read, or 0 if the flow is dead.
 */
int iqcn_flow_read(struct iqcn_flow *flow,
		   int (*read)(struct iqcn_queue *q, struct iqcn_flow *flow,
			       void *arg), void *arg)
{
	struct iqcn_queue *q;
	int ret = 0;

	while ((q = READ_ONCE(flow->queue))) {
		bool stayed;

		spin_lock_bh(&q->lock);
		stayed = iqcn_flow_of(flow, q);
		if (stayed)
			ret = read(q, flow, arg);
		spin_unlock_bh(&q->lock);
		if (stayed)
			break;
	}
	return ret;
}

/**
 * iqcn_flow_module_init() - create the slab cache of flows
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int iqcn_flow_module_init(void)
{
	/* aligned, because fields are grouped by cache line (bench "marked") */
	iqcn_flow_cache = KMEM_CACHE(iqcn_flow, SLAB_HWCACHE_ALIGN);
	return iqcn_flow_cache ? 0 : -ENOMEM;
}

/**
 * iqcn_flow_module_exit() - destroy the slab cache of flows
 *
 * Context: process; all flows are freed, and their RCU callbacks have run.
 */
void iqcn_flow_module_exit(void)
{
	kmem_cache_destroy(iqcn_flow_cache);
}
