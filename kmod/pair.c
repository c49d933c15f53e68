// SPDX-License-Identifier: GPL-2.0
/*
 * Pairing: finding the sender's QP of a flow, because data packets name only
 * the receiver's QP.  snoop.c and rdma_cm.c provide evidence; algo/pairing.h
 * has the rules that weigh it; this file stores the result.
 *
 * A PSN echo or a connection setup makes a flow assured, because packets
 * provide no better evidence.  Packets other than CNPs and CM messages are
 * examined only for hosts with unassured flows.
 *
 * PSN echo: when a CE packet of an unassured flow leaves, its DestQP is stored
 * in the echo table, in a slot chosen by a hash of hosts and PSN.  A response
 * with that PSN finds the slot.  This costs one store per packet and one load
 * per response, for any number of flows.  A packet of another flow of the same
 * hosts with the same PSN makes the slot ambiguous.  So the PSNs of packets of
 * assured flows, and of packets that are not CE, are stored too if the packets
 * are parsed anyway.  A QP is accepted after enough different PSNs in a row
 * were echoed to it.
 *
 * A packet whose PSNs are stored is also checked for a change of the flow's
 * source port, unless finding the flow would take a table lookup.  After
 * several changes the sender is known to spray packets over several paths.
 * Then source ports and CNPs are no evidence for any flow of the two hosts, but
 * a PSN echo and a connection setup are (algo/pairing.h).
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "iqcn.h"
#include "skb.h"
#include "trace.h"

/* Maximum number of unassured flows of two hosts that are compared with the UDP
 * source port of a packet.  The search is short, because the port is the
 * weakest evidence.
 */
#define IQCN_SPORT_SEARCH	16

/* Does the sender of these hosts spray packets? */
static bool iqcn_hosts_spray(const struct iqcn_hosts *hosts)
{
	return iqcn_spray_on(&hosts->spray, jiffies_to_msecs(jiffies));
}

static u32 iqcn_sqp_hash(const void *data, u32 len, u32 seed)
{
	const struct iqcn_flow *flow = data;
	struct iqcn_key key;

	iqcn_flow_key(flow, &key);
	key.qp = flow->src_qp;
	return iqcn_key_hash(&key, len, seed);
}

static int iqcn_sqp_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct iqcn_key *key = arg->key;
	const struct iqcn_flow *flow = obj;

	/* src_qp may change if the flow was just removed from by_sqp */
	return READ_ONCE(flow->src_qp) != key->qp ||
	       !iqcn_key_of_hosts(key, flow->hosts);
}

static const struct rhashtable_params iqcn_sqp_params = {
	.key_len = sizeof(struct iqcn_key),
	.head_offset = offsetof(struct iqcn_flow, sqp_node),
	.hashfn = iqcn_key_hash,
	.obj_hashfn = iqcn_sqp_hash,
	.obj_cmpfn = iqcn_sqp_cmp,
	.automatic_shrinking = true,
};

static const struct rhashtable_params iqcn_hosts_params = {
	.key_len = sizeof(struct iqcn_key),
	.key_offset = offsetof(struct iqcn_hosts, key),
	.head_offset = offsetof(struct iqcn_hosts, node),
	.automatic_shrinking = true,
};

/* The echo table of a port */
struct iqcn_echo {
	u32 bits;	/* log2 of the number of slots */
	u64 slots[];	/* no lock */
};

static struct iqcn_echo *iqcn_echo_new(u32 bits)
{
	struct iqcn_echo *echo;

	echo = kvzalloc(struct_size(echo, slots, 1UL << bits),
			GFP_KERNEL_ACCOUNT);
	if (echo)
		echo->bits = bits;
	return echo;
}

/**
 * iqcn_pair_tables_init() - allocate a port's tables for pairing
 * @port: port
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int iqcn_pair_tables_init(struct iqcn_port *port)
{
	struct iqcn_echo *echo = iqcn_echo_new(IQCN_ECHO_BITS_MIN);
	int err;

	if (!echo)
		return -ENOMEM;
	RCU_INIT_POINTER(port->echo, echo);
	err = rhashtable_init(&port->by_sqp, &iqcn_sqp_params);
	if (err)
		goto err_echo;
	err = rhashtable_init(&port->hosts, &iqcn_hosts_params);
	if (err)
		goto err_sqp;
	return 0;

err_sqp:
	rhashtable_destroy(&port->by_sqp);
err_echo:
	kvfree(echo);
	return err;
}

/**
 * iqcn_pair_tables_free() - free a port's tables for pairing
 * @port: port without flows
 *
 * Context: process, sleeps.
 */
void iqcn_pair_tables_free(struct iqcn_port *port)
{
	WARN_ON(atomic_read(&port->by_sqp.nelems));
	WARN_ON(atomic_read(&port->hosts.nelems));
	rhashtable_destroy(&port->hosts);
	rhashtable_destroy(&port->by_sqp);
	kvfree(rcu_dereference_protected(port->echo, true));
}

/**
 * iqcn_pair_set_window() - size the echo table for the packets of a round trip
 * @port: port
 * @packets: packets of a round trip, 0: the round trip is short
 *
 * A table of another size begins empty: responses to earlier packets are no
 * evidence.  On -ENOMEM, the old table stays.
 *
 * Context: RTNL, sleeps.
 */
void iqcn_pair_set_window(struct iqcn_port *port, u64 packets)
{
	struct iqcn_echo *old = rtnl_dereference(port->echo), *echo;
	u32 bits = iqcn_echo_bits(packets);

	if (bits == old->bits)
		return;
	echo = iqcn_echo_new(bits);
	if (!echo)
		return;
	rcu_assign_pointer(port->echo, echo);
	synchronize_net();
	kvfree(old);
}

static struct iqcn_hosts *iqcn_hosts_find(struct iqcn_port *port,
					  const struct iqcn_key *key)
{
	struct iqcn_key hosts = *key;

	hosts.qp = 0;
	return rhashtable_lookup(&port->hosts, &hosts, iqcn_hosts_params);
}

/* Add a flow to its hosts' unassured flows.  Return: false on -ENOMEM. */
static bool iqcn_pair_unassure(struct iqcn_port *port, struct iqcn_flow *flow)
{
	struct iqcn_flow_ext *e = iqcn_ext_get(flow);
	struct iqcn_hosts *hosts = flow->hosts;

	if (!e)
		return false;
	e->echoes.hits = 0;
	list_add_tail(&e->unassured, &hosts->unassured);
	WRITE_ONCE(hosts->n_unassured, hosts->n_unassured + 1);
	WRITE_ONCE(port->n_unassured, port->n_unassured + 1);
	return true;
}

/* Remove a flow from the unassured flows of its hosts */
static void iqcn_pair_assure(struct iqcn_port *port, struct iqcn_flow *flow)
{
	struct iqcn_hosts *hosts = flow->hosts;

	list_del_init(&flow->ext->unassured);
	WRITE_ONCE(hosts->n_unassured, hosts->n_unassured - 1);
	WRITE_ONCE(port->n_unassured, port->n_unassured - 1);
}

static void iqcn_hosts_put(struct iqcn_port *port, struct iqcn_hosts *hosts)
{
	if (--hosts->n_flows)
		return;
	rhashtable_remove_fast(&port->hosts, &hosts->node, iqcn_hosts_params);
	kfree_rcu(hosts, rcu);
}

/**
 * iqcn_pair_join() - add a new flow to its hosts, as unassured
 * @port: port
 * @flow: new flow, which is not in the table yet
 * @key: key of the flow
 *
 * Context: port->lock, BHs off.
 * Return: 0 or a negative error.
 */
int iqcn_pair_join(struct iqcn_port *port, struct iqcn_flow *flow,
		   const struct iqcn_key *key)
{
	struct iqcn_hosts *hosts;
	int err;

	lockdep_assert_held(&port->lock);

	hosts = iqcn_hosts_find(port, key);
	if (!hosts) {
		hosts = kzalloc(sizeof(*hosts), GFP_ATOMIC | __GFP_NOWARN);
		if (!hosts)
			return -ENOMEM;
		hosts->key = *key;
		hosts->key.qp = 0;
		hosts->echo_salt = get_random_u64();
		INIT_LIST_HEAD(&hosts->unassured);
		err = rhashtable_insert_fast(&port->hosts, &hosts->node,
					     iqcn_hosts_params);
		if (err) {
			kfree(hosts);
			return err;
		}
	}
	hosts->n_flows++;
	flow->hosts = hosts;
	if (!iqcn_pair_unassure(port, flow)) {
		iqcn_hosts_put(port, hosts);
		return -ENOMEM;
	}
	return 0;
}

/**
 * iqcn_pair_leave() - remove a flow from by_sqp and from its hosts
 * @port: port
 * @flow: flow that is not in the table any more, or was never added
 *
 * Context: port->lock, BHs off.
 */
void iqcn_pair_leave(struct iqcn_port *port, struct iqcn_flow *flow)
{
	const struct iqcn_flow_ext *e = flow->ext;

	lockdep_assert_held(&port->lock);

	if (flow->grade != IQCN_PAIR_NONE)
		rhashtable_remove_fast(&port->by_sqp, &flow->sqp_node,
				       iqcn_sqp_params);
	if (e && !list_empty(&e->unassured))
		iqcn_pair_assure(port, flow);
	iqcn_hosts_put(port, flow->hosts);
}

/* Store a grade and a QP in a flow, which must not be in by_sqp if the QP
 * changes; port->lock
 */
static void iqcn_pair_commit(struct iqcn_flow *flow, enum iqcn_pair_grade grade,
			     u32 qp)
{
	bool was_assured = iqcn_pair_assured(flow->grade);
	struct iqcn_queue *q = flow->queue;

	spin_lock(&q->lock);
	q->by_grade[flow->grade]--;
	q->by_grade[grade]++;
	WRITE_ONCE(flow->grade, grade);
	/* The LRU order is approximate here.  A flow that becomes assured goes
	 * to the tail, because its evidence is a recent packet.  A flow that is
	 * no longer assured goes to the head, so it is evicted first.
	 */
	if (!was_assured && iqcn_pair_assured(grade))
		iqcn_flow_used(q, flow);
	else if (was_assured && !iqcn_pair_assured(grade))
		list_move(&flow->lru, &q->lru[0]);
	if (flow->src_qp != qp) {
		WRITE_ONCE(flow->src_qp, qp);
		/* the learned source port is that of CNPs to the old QP */
		flow->cnp_sport = 0;
	}
	/* discard a measurement of the delay of CNPs to the old QP */
	flow->cnp_srtt.start_ns = 0;
	spin_unlock(&q->lock);
}

/* Add a flow to its hosts' unassured flows if it is no longer assured, or
 * remove it from them if it has become assured.  Return: false if there is no
 * memory to add it.
 */
static bool iqcn_pair_update_unassured(struct iqcn_port *port,
				       struct iqcn_flow *flow, bool was_assured)
{
	bool assured = iqcn_pair_assured(flow->grade), done = true;
	struct iqcn_queue *q = flow->queue;

	spin_lock(&q->lock);
	if (was_assured && !assured) {
		done = iqcn_pair_unassure(port, flow);
	} else if (!was_assured) {
		flow->ext->echoes.hits = 0;
		if (assured)
			iqcn_pair_assure(port, flow);
		iqcn_ext_trim(q, flow);
	}
	spin_unlock(&q->lock);
	return done;
}

/* Change the pairing of a flow; IQCN_PAIR_NONE ends it.  If memory runs out
 * when the flow becomes unassured, the flow is evicted; its next packet
 * recreates it.
 */
static void iqcn_pair_set(struct iqcn_port *port, struct iqcn_flow *flow,
			  enum iqcn_pair_grade grade, u32 qp)
{
	bool was_assured = iqcn_pair_assured(flow->grade);

	if (flow->grade != IQCN_PAIR_NONE)
		rhashtable_remove_fast(&port->by_sqp, &flow->sqp_node,
				       iqcn_sqp_params);
	/* set the QP before the insertion, which hashes it; if the insertion
	 * fails, the flow stays unpaired
	 */
	iqcn_pair_commit(flow, IQCN_PAIR_NONE, qp);
	if (grade != IQCN_PAIR_NONE &&
	    !rhashtable_insert_fast(&port->by_sqp, &flow->sqp_node,
				    iqcn_sqp_params)) {
		iqcn_pair_commit(flow, grade, qp);
		iqcn_inc(flow->queue->st.paired);
	}

	trace_iqcn_paired(flow->queue, flow);
	if (!iqcn_pair_update_unassured(port, flow, was_assured))
		iqcn_flow_evict(flow->queue, flow);
}

/* End a pairing that new evidence contradicts */
static void iqcn_pair_break(struct iqcn_port *port, struct iqcn_flow *flow)
{
	iqcn_inc(flow->queue->st.contradicted);
	iqcn_pair_set(port, flow, IQCN_PAIR_NONE, 0);
}

/**
 * iqcn_pair_find() - find the flow that is paired with a sender's QP
 * @port: port
 * @key: hosts in the direction of the data, with the sender's QP
 *
 * Context: RCU.
 * Return: the flow, or NULL.
 */
struct iqcn_flow *iqcn_pair_find(struct iqcn_port *port,
				 const struct iqcn_key *key)
{
	return rhashtable_lookup(&port->by_sqp, key, iqcn_sqp_params);
}

/**
 * iqcn_pair_evidence() - pair a flow with a QP if the evidence is good enough
 * @port: port
 * @flow: flow
 * @grade: grade of the evidence
 * @qp: the sender's QP
 *
 * A QP sends one flow, so evidence for a second flow contradicts the pairing of
 * the first.  A flow that was assured may be dead afterwards: iqcn_pair_set()
 * evicts it if its pairing ends and memory is short.
 *
 * Context: port->lock, RCU, BHs off.
 */
void iqcn_pair_evidence(struct iqcn_port *port, struct iqcn_flow *flow,
			enum iqcn_pair_grade grade, u32 qp)
{
	struct iqcn_flow *owner;
	struct iqcn_key key;

	lockdep_assert_held(&port->lock);

	if (!flow->queue)
		return;
	switch (iqcn_pair_judge(flow->grade, flow->src_qp, grade, qp)) {
	case IQCN_PAIR_KEEP:
		return;
	case IQCN_PAIR_BREAK:
		iqcn_pair_break(port, flow);
		return;
	case IQCN_PAIR_TAKE:
		break;
	}

	iqcn_flow_key(flow, &key);
	key.qp = qp;
	owner = iqcn_pair_find(port, &key);
	if (owner && owner != flow) {
		/* for the owner, this is evidence that the QP sends to the
		 * DestQP of @flow
		 */
		switch (iqcn_pair_judge(owner->grade, owner->qp, grade,
					flow->qp)) {
		case IQCN_PAIR_KEEP:
			return;
		case IQCN_PAIR_BREAK:
			iqcn_pair_break(port, owner);
			return;
		case IQCN_PAIR_TAKE:
			iqcn_pair_break(port, owner);
			break;
		}
	}
	iqcn_pair_set(port, flow, grade, qp);
}

/**
 * iqcn_pair_withdraw() - end a pairing because its connection was torn down
 * @port: port
 * @flow: flow
 * @qp: the sender's QP
 *
 * The flow may be dead afterwards: iqcn_pair_set() evicts it on -ENOMEM.
 *
 * Context: port->lock, RCU, BHs off.
 */
void iqcn_pair_withdraw(struct iqcn_port *port, struct iqcn_flow *flow, u32 qp)
{
	lockdep_assert_held(&port->lock);

	if (flow->queue && flow->grade != IQCN_PAIR_NONE && flow->src_qp == qp)
		iqcn_pair_set(port, flow, IQCN_PAIR_NONE, 0);
}

/**
 * iqcn_pair_candidates() - count the flows that an unmatched CNP may be for
 * @port: port
 * @key: hosts in the direction of the data
 *
 * Context: RCU.
 * Return: number of unassured flows of these hosts.
 */
unsigned int iqcn_pair_candidates(struct iqcn_port *port,
				  const struct iqcn_key *key)
{
	struct iqcn_hosts *hosts = iqcn_hosts_find(port, key);

	return hosts ? READ_ONCE(hosts->n_unassured) : 0;
}

/**
 * iqcn_pair_from_cnp() - pair the only unassured flow of two hosts by a CNP
 * @port: port
 * @key: hosts in the direction of the data, with the DestQP of the CNP; no flow
 *	is paired with that QP
 *
 * Context: RCU, BHs off; takes port->lock.
 */
void iqcn_pair_from_cnp(struct iqcn_port *port, const struct iqcn_key *key)
{
	struct iqcn_hosts *hosts = iqcn_hosts_find(port, key);
	struct iqcn_flow_ext *e;

	if (!hosts || READ_ONCE(hosts->n_unassured) != 1)
		return;

	spin_lock(&port->lock);
	e = list_first_entry_or_null(&hosts->unassured, struct iqcn_flow_ext,
				     unassured);
	if (e && list_is_singular(&hosts->unassured) &&
	    iqcn_pair_usable(IQCN_PAIR_CNP, iqcn_hosts_spray(hosts)))
		iqcn_pair_evidence(port, e->flow, IQCN_PAIR_CNP, key->qp);
	spin_unlock(&port->lock);
}

/* The upper bits of the product choose the slot, the lower ones are the tag.
 * Multiplication by an odd number is a bijection, so that two PSNs of the same
 * hosts never have the same tag.
 */
static u64 iqcn_echo_hash(const struct iqcn_hosts *hosts, u32 psn)
{
	return (hosts->echo_salt ^ (psn & IQCN_PSN_MASK)) * GOLDEN_RATIO_64;
}

/* Get the slot for a hash; RCU, or BHs off */
static u64 *iqcn_echo_slot(const struct iqcn_port *port, u64 hash)
{
	struct iqcn_echo *echo = rcu_dereference_bh_check(port->echo,
							  rcu_read_lock_held());

	return &echo->slots[hash >> (64 - echo->bits)];
}

/* log2 of the number of slots; RCU, or BHs off */
static u32 iqcn_echo_bits_of(const struct iqcn_port *port)
{
	return rcu_dereference_bh_check(port->echo, rcu_read_lock_held())->bits;
}

/* Can a response to this PSN of the flow still be in flight?  RCU, or BHs off
 */
static bool iqcn_pair_fresh(const struct iqcn_port *port,
			    const struct iqcn_flow *flow, u32 psn)
{
	u32 last_psn = READ_ONCE(flow->psn), bits = iqcn_echo_bits_of(port);

	return iqcn_hosts_spray(flow->hosts) ?
	       iqcn_echo_near(last_psn, psn, bits) :
	       iqcn_echo_fresh(last_psn, psn, bits);
}

/* At most this many PSNs of a GSO packet are stored in the echo table */
#define IQCN_ECHO_SEGS	64

/* Store the PSNs of a data packet in the echo table; root lock, RCU */
static void iqcn_pair_store_psns(struct iqcn_port *port,
				 const struct iqcn_hosts *hosts, u32 dest_qp,
				 u32 psn, u32 segs)
{
	u32 i;

	for (i = 0; i < min_t(u32, segs, IQCN_ECHO_SEGS); i++) {
		u64 hash = iqcn_echo_hash(hosts, psn + i);
		u64 *slot = iqcn_echo_slot(port, hash);

		WRITE_ONCE(*slot, iqcn_echo_store(READ_ONCE(*slot), hash,
						  dest_qp));
	}
}

/* Is the pairing of a flow too weak for a sender that sprays packets? */
static bool iqcn_pair_weak(const struct iqcn_flow *flow)
{
	u8 grade = READ_ONCE(flow->grade);

	return grade != IQCN_PAIR_NONE && !iqcn_pair_usable(grade, true);
}

/**
 * iqcn_pair_note_sport() - check the source port of a data packet
 * @port: port
 * @flow: flow of the packet, which may be dead
 * @sport: UDP source port of the packet
 *
 * If source ports change again and again, the sender sprays packets.  A pairing
 * whose evidence is not valid for such a sender ends.
 *
 * Context: root lock, BHs off; takes port->lock.
 */
void iqcn_pair_note_sport(struct iqcn_port *port, struct iqcn_flow *flow,
			  u16 sport)
{
	bool changed = READ_ONCE(flow->sport) != sport;
	u32 now_ms = jiffies_to_msecs(jiffies);
	struct iqcn_hosts *hosts;

	/* BHs are off, so RCU keeps a live flow's ->hosts */
	if (!READ_ONCE(flow->queue))
		return;
	hosts = flow->hosts;
	if (changed)
		WRITE_ONCE(flow->sport, sport);
	/* while a sender sprays, it is enough to record one change per tick */
	if (iqcn_spray_on(&hosts->spray, now_ms) &&
	    READ_ONCE(hosts->spray.changed_ms) == now_ms)
		changed = false;
	if (!changed && !(iqcn_pair_weak(flow) &&
			  iqcn_spray_on(&hosts->spray, now_ms)))
		return;
	spin_lock(&port->lock);
	if (changed)
		iqcn_spray_changed(&hosts->spray, now_ms);
	if (flow->queue && iqcn_pair_weak(flow) && iqcn_hosts_spray(hosts))
		iqcn_pair_set(port, flow, IQCN_PAIR_NONE, 0);
	spin_unlock(&port->lock);
}

/**
 * iqcn_pair_note_sent() - record PSNs and source port of a packet that leaves
 * @q: queue
 * @flow: flow of the packet, alive
 * @skb: packet
 * @psn: PSN of its first segment
 * @segs: number of its segments
 *
 * Context: root lock, BHs off; takes port->lock.
 */
void iqcn_pair_note_sent(struct iqcn_queue *q, struct iqcn_flow *flow,
			 const struct sk_buff *skb, u32 psn, u32 segs)
{
	iqcn_pair_store_psns(q->port, flow->hosts, flow->qp, psn, segs);
	iqcn_pair_note_sport(q->port, flow, iqcn_skb_sport(skb));
}

/**
 * iqcn_pair_note_psn() - record the PSNs and source port of a packet without CE
 * @q: queue
 * @pkt: packet
 * @segs: number of its segments
 *
 * A CE packet of another flow of these hosts may have the same PSN, and then a
 * response to either looks like one to the other.  The source port is checked
 * only if the flow is in the cache.  It is checked when the packet arrives, but
 * the source port of a CE packet is checked when that packet leaves.  So while
 * a CE packet is queued, one change of the port may count as three.  Then more
 * echoes are needed, which is safe.
 *
 * Context: root lock, BHs off; takes port->lock.
 */
void iqcn_pair_note_psn(struct iqcn_queue *q, const struct iqcn_pkt *pkt,
			u32 segs)
{
	struct iqcn_hosts *hosts;
	struct iqcn_flow *flow;
	struct iqcn_key key;

	if (!iqcn_op_is_echoed(pkt->opcode))
		return;
	rcu_read_lock();
	flow = iqcn_flow_cached(q, pkt);
	if (flow && READ_ONCE(flow->queue)) {
		hosts = flow->hosts;
	} else {
		iqcn_key_init(&key, q->port, &pkt->src, &pkt->dst, pkt->dest_qp,
			      pkt->vlan);
		hosts = iqcn_hosts_find(q->port, &key);
	}
	if (hosts && READ_ONCE(hosts->n_unassured)) {
		iqcn_pair_store_psns(q->port, hosts, pkt->dest_qp, pkt->psn,
				     segs);
		if (flow)
			iqcn_pair_note_sport(q->port, flow, pkt->sport);
	}
	rcu_read_unlock();
}

/**
 * iqcn_pair_echoed() - find the flow whose PSN a response carries
 * @port: port
 * @key: hosts in the direction of the data, with the DestQP of the response
 * @psn: PSN of the response
 * @flow: set to the flow if there is exactly one
 *
 * Context: RCU, BHs off.
 * Return: number of candidates: 0, 1, or 2 if the slot is ambiguous or the flow
 *	is not in the table any more.
 */
unsigned int iqcn_pair_echoed(struct iqcn_port *port,
			      const struct iqcn_key *key, u32 psn,
			      struct iqcn_flow **flow)
{
	struct iqcn_hosts *hosts = iqcn_hosts_find(port, key);
	struct iqcn_key data = *key;
	u64 hash, slot;

	if (!hosts || !READ_ONCE(hosts->n_unassured))
		return 0;
	hash = iqcn_echo_hash(hosts, psn);
	slot = READ_ONCE(*iqcn_echo_slot(port, hash));
	if (!iqcn_echo_hit(slot, hash))
		return 0;
	if (!iqcn_echo_match(slot, hash, &data.qp))
		return 2;
	*flow = iqcn_flow_find(port, &data);
	return *flow ? 1 : 2;
}

/**
 * iqcn_pair_sends() - find an assured flow of a QP that may have sent a PSN
 * @port: port
 * @key: hosts in the direction of the data, with the sender's QP
 * @psn: PSN
 *
 * @psn may be later than the PSN of the flow's last packet here, because
 * packets may take another path.
 *
 * Context: RCU.
 * Return: the flow, or NULL.
 */
struct iqcn_flow *iqcn_pair_sends(struct iqcn_port *port,
				  const struct iqcn_key *key, u32 psn)
{
	struct iqcn_flow *owner = iqcn_pair_find(port, key);

	/* no lock: a pairing that changes meanwhile counts for the next
	 * response
	 */
	return owner && iqcn_pair_assured(READ_ONCE(owner->grade)) &&
	       iqcn_echo_near(READ_ONCE(owner->psn), psn,
			      iqcn_echo_bits_of(port)) ? owner : NULL;
}

/* When a sprayed flow has enough echoes, search at most this many unassured
 * flows of its two hosts for echoes to the same QP.  If there are more flows,
 * do not pair the flow.
 */
#define IQCN_ECHO_SEARCH	1024

/* Were PSNs of another flow of these hosts echoed to the QP, too?  Then it is
 * unknown which of the flows the QP sends, and the counts of all restart.
 */
static bool iqcn_pair_rival(const struct iqcn_flow *flow, u32 qp)
{
	struct iqcn_flow_ext *e;
	bool rival = false;
	int n = 0;

	list_for_each_entry(e, &flow->hosts->unassured, unassured) {
		if (n++ == IQCN_ECHO_SEARCH)
			return true;
		if (e->flow == flow || !e->echoes.hits || e->echoes.qp != qp)
			continue;
		e->echoes.hits = 0;
		rival = true;
	}
	return rival;
}

/**
 * iqcn_pair_from_echo() - count a PSN echo, and pair the flow if it has enough
 * @port: port
 * @flow: flow, the only known candidate for the response
 * @qp: DestQP of the response
 * @psn: PSN of the response
 *
 * Context: RCU, BHs off; takes port->lock.
 */
void iqcn_pair_from_echo(struct iqcn_port *port, struct iqcn_flow *flow,
			 u32 qp, u32 psn)
{
	bool sprayed;

	spin_lock(&port->lock);
	if (!flow->queue || iqcn_pair_assured(flow->grade) ||
	    !iqcn_pair_fresh(port, flow, psn))
		goto unlock;

	sprayed = iqcn_hosts_spray(flow->hosts);
	if (iqcn_echo_count(&flow->ext->echoes, qp, psn, sprayed) &&
	    !(sprayed && iqcn_pair_rival(flow, qp)))
		iqcn_pair_evidence(port, flow, IQCN_PAIR_PSN, qp);
unlock:
	spin_unlock(&port->lock);
}

/**
 * iqcn_pair_by_sport() - find the flow that a packet's UDP source port can pair
 * @port: port
 * @key: hosts in the direction of the data, with the DestQP of the packet
 * @pkt: received packet
 *
 * Context: RCU, BHs off; takes port->lock.
 * Return: the flow, or NULL if there is none or its pairing would not change.
 */
struct iqcn_flow *iqcn_pair_by_sport(struct iqcn_port *port,
				     const struct iqcn_key *key,
				     const struct iqcn_pkt *pkt)
{
	struct iqcn_flow *flow, *found = NULL;
	struct iqcn_hosts *hosts;
	struct iqcn_flow_ext *e;
	int n = 0;

	if (!READ_ONCE(port->sport))
		return NULL;
	hosts = iqcn_hosts_find(port, key);
	if (!hosts || !READ_ONCE(hosts->n_unassured) ||
	    !iqcn_pair_usable(IQCN_PAIR_SPORT, iqcn_hosts_spray(hosts)))
		return NULL;
	spin_lock(&port->lock);
	list_for_each_entry(e, &hosts->unassured, unassured) {
		if (n++ == IQCN_SPORT_SEARCH)
			break;
		flow = e->flow;
		if (!iqcn_sport_match(READ_ONCE(flow->sport), pkt->sport,
				      pkt->dest_qp, flow->qp))
			continue;
		if (iqcn_pair_judge(flow->grade, flow->src_qp, IQCN_PAIR_SPORT,
				    pkt->dest_qp) != IQCN_PAIR_KEEP)
			found = flow;
		break;
	}
	spin_unlock(&port->lock);
	return found;
}

/**
 * iqcn_pair_from_sport() - pair a flow by the UDP source port of a packet
 * @port: port
 * @flow: flow that iqcn_pair_by_sport() returned
 * @qp: DestQP of the packet
 *
 * Context: RCU, BHs off; takes port->lock.
 */
void iqcn_pair_from_sport(struct iqcn_port *port, struct iqcn_flow *flow,
			  u32 qp)
{
	spin_lock(&port->lock);
	/* since the search, the sender may have been found to spray */
	if (flow->queue &&
	    iqcn_pair_usable(IQCN_PAIR_SPORT, iqcn_hosts_spray(flow->hosts)))
		iqcn_pair_evidence(port, flow, IQCN_PAIR_SPORT, qp);
	spin_unlock(&port->lock);
}
