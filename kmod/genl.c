// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: dumps ports, queues and flows, flushes flows,
 * resets peaks, and grants leases.
 *
 * A dump is made in pieces, as the reader receives them, and keeps only numbers
 * between two pieces.  Ports are dumped in the order of their ifindex, queues
 * in the order in which they were attached, flows in the order of their ids.
 * If a port or queue is added or removed during a dump of ports or queues, the
 * reader gets NLM_F_DUMP_INTR.  Flows come and go all the time.  A flow keeps
 * its id while it exists, so it is dumped once.  A flow that is created during
 * the dump of its port is skipped, because it may have been dumped before: with
 * another id, before it was removed and recreated.
 *
 * Locks are held only while the state of one queue or flow is copied.  An RCU
 * read section dumps at most IQCN_GENL_RUN queues or flows.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <net/gen_stats.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "genl.h"
#include "iqcn.h"

/* Number of queues or flows that are visited before the dump yields the CPU */
#define IQCN_GENL_RUN	256

#define IQCN_GENL_MASK_BITS	(64 * IQCN_QUEUE_MASK_WORDS)

/* Set of queue attributes, one bit each */
struct iqcn_genl_mask {
	DECLARE_BITMAP(bits, IQCN_GENL_MASK_BITS);
};

/* Position of a dump, in the netlink callback */
struct iqcn_genl_dump {
	u32 only;	/* dump only the port with this ifindex, 0: all */
	u32 filter;	/* enum iqcn_filter bits */
	u32 ifindex;	/* ports before this one are done */
	u64 born_ns;	/* creation of the flow that was the newest one of this
			 * port when the port's dump began: later flows are
			 * skipped; 0: that dump has not begun
			 */
	unsigned long at; /* of this port: queues dumped, or lowest id of the
			   * remaining flows
			   */
	/* attributes of queues to dump; netlink_callback.ctx has no room for
	 * more members
	 */
	struct iqcn_genl_mask mask;
};

static struct iqcn_genl_dump *iqcn_genl_dump(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct iqcn_genl_dump) > sizeof(cb->ctx));
	return (struct iqcn_genl_dump *)cb->ctx;
}

/* The port with the lowest ifindex from @ifindex on; RCU or RTNL */
static struct iqcn_port *iqcn_genl_next(const struct net *net, u32 ifindex)
{
	struct iqcn_port *port, *next = NULL;

	list_for_each_entry_rcu(port, &iqcn_net(net)->ports, list,
				lockdep_rtnl_is_held())
		if (port->dev->ifindex >= ifindex &&
		    (!next || port->dev->ifindex < next->dev->ifindex))
			next = port;
	return next;
}

/* The port of the device that @attr names; RTNL or RCU */
static struct iqcn_port *iqcn_genl_port(const struct net *net,
					const struct nlattr *attr,
					struct netlink_ext_ack *extack)
{
	u32 ifindex = nla_get_u32(attr);
	struct iqcn_port *port;

	port = iqcn_genl_next(net, ifindex);
	if (port && port->dev->ifindex == ifindex)
		return port;
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "No device with this ifindex has a qdisc iqcn");
	return NULL;
}

/* The port with which a dump continues, NULL: none is left */
static struct iqcn_port *iqcn_genl_dump_port(struct netlink_callback *cb)
{
	struct iqcn_genl_dump *d = iqcn_genl_dump(cb);
	struct iqcn_port *port;

	port = iqcn_genl_next(sock_net(cb->skb->sk), d->ifindex);
	if (!port || (d->only && port->dev->ifindex != d->only))
		return NULL;
	/* the previous port is done or gone */
	if (port->dev->ifindex != d->ifindex) {
		d->ifindex = port->dev->ifindex;
		d->born_ns = 0;
		d->at = 0;
	}
	return port;
}

static void iqcn_genl_dump_next_port(struct netlink_callback *cb)
{
	struct iqcn_genl_dump *d = iqcn_genl_dump(cb);

	d->ifindex++;
	d->born_ns = 0;
	d->at = 0;
}

/* Call @some for one port after another.  @some dumps a part of a port and
 * returns 0 if more may follow, of this port or of others.  A message that does
 * not fit goes into the next piece.
 */
static int iqcn_genl_dump_each(struct sk_buff *skb, struct netlink_callback *cb,
			       int (*some)(struct sk_buff *skb,
					   struct netlink_callback *cb,
					   struct iqcn_port *port))
{
	struct iqcn_port *port;
	int err = 0;

	do {
		rcu_read_lock();
		port = iqcn_genl_dump_port(cb);
		if (port)
			err = some(skb, cb, port);
		rcu_read_unlock();
		/* a filter may reject any number of queues or flows */
		cond_resched();
	} while (port && !err);
	return skb->len ?: err;
}

/* Like iqcn_genl_dump_each(), for ports and queues.  If any was added or
 * removed since the last piece, the next message carries NLM_F_DUMP_INTR.  If
 * there is no other message, NLMSG_DONE carries the flag.
 */
static int iqcn_genl_dump_consistent(struct sk_buff *skb,
				     struct netlink_callback *cb,
				     int (*some)(struct sk_buff *skb,
						 struct netlink_callback *cb,
						 struct iqcn_port *port))
{
	const struct net *net = sock_net(cb->skb->sk);
	int ret;

	cb->seq = iqcn_net_generation(net);
	/* in an empty dump, no message before NLMSG_DONE sets prev_seq */
	if (!cb->prev_seq)
		cb->prev_seq = cb->seq;
	ret = iqcn_genl_dump_each(skb, cb, some);
	if (!ret)
		cb->seq = iqcn_net_generation(net);
	return ret;
}

static void *iqcn_genl_put(struct sk_buff *skb, struct netlink_callback *cb,
			   u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   &iqcn_genl_family, NLM_F_MULTI, cmd);
}

/* Begin a dump.  @ifindex and @filter are the attributes of the request, which
 * the policy has checked.  Kernels before 6.7 do not send the error message.
 */
static int iqcn_genl_start(struct netlink_callback *cb, int ifindex, int filter)
{
	struct iqcn_genl_dump *d = iqcn_genl_dump(cb);
	const struct nlattr *attr;
	bool there;

	attr = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, filter);
	if (attr)
		d->filter = nla_get_u32(attr);
	attr = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, ifindex);
	if (!attr)
		return 0;
	d->only = nla_get_u32(attr);
	d->ifindex = d->only;
	rcu_read_lock();
	there = iqcn_genl_port(sock_net(cb->skb->sk), attr, cb->extack);
	rcu_read_unlock();
	return there ? 0 : -ENODEV;
}

static u64 iqcn_genl_port_depth(const struct iqcn_port *port)
{
	const struct iqcn_queue *q;
	u64 bytes = 0;

	list_for_each_entry_rcu(q, &port->queues, list)
		bytes += iqcn_depth_bytes(q);
	return bytes;
}

static int iqcn_genl_put_port(struct sk_buff *skb, struct iqcn_port *port)
{
	const struct iqcn_net *in = iqcn_net(port->net);
	char name[IFNAMSIZ];
	u8 smac[ETH_ALEN];
	int a;

	/* a copy, because the device may be renamed meanwhile */
	strscpy(name, port->dev->name, sizeof(name));
	u64_to_ether_addr(READ_ONCE(port->cnp_smac), smac);
	if (nla_put_u32(skb, IQCN_A_PORT_IFINDEX, port->dev->ifindex) ||
	    nla_put_string(skb, IQCN_A_PORT_IFNAME, name) ||
	    nla_put_u32(skb, IQCN_A_PORT_SNOOP, READ_ONCE(port->snoop)) ||
	    nla_put_u64_64bit(skb, IQCN_A_PORT_DEPTH_BYTES,
			      iqcn_genl_port_depth(port), IQCN_A_PORT_PAD) ||
	    nla_put_u64_64bit(skb, IQCN_A_PORT_STATE_LOST,
			      READ_ONCE(in->rings[IQCN_GROUP_STATE].lost),
			      IQCN_A_PORT_PAD) ||
	    nla_put_u64_64bit(skb, IQCN_A_PORT_CNP_LOST,
			      READ_ONCE(in->rings[IQCN_GROUP_CNP].lost),
			      IQCN_A_PORT_PAD) ||
	    nla_put(skb, IQCN_A_PORT_CNP_SMAC, sizeof(smac), smac))
		return -EMSGSIZE;
	for (a = 0; a <= IQCN_A_PORT_MAX; a++)
		if (iqcn_values[a].name &&
		    nla_put_u64_64bit(skb, a, iqcn_values[a].get(port),
				      IQCN_A_PORT_PAD))
			return -EMSGSIZE;
	return 0;
}

/* Answer a request with one message.  @fill adds its attributes, which take up
 * at most @payload_bytes.  Return: 0 or a negative error.
 */
static int iqcn_genl_answer(struct genl_info *info, u8 cmd,
			    size_t payload_bytes,
			    int (*fill)(struct sk_buff *skb,
					struct genl_info *info,
					const struct iqcn_genl_mask *mask),
			    const struct iqcn_genl_mask *mask)
{
	struct sk_buff *skb = genlmsg_new(payload_bytes, GFP_KERNEL);
	int err = -EMSGSIZE;
	void *hdr;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &iqcn_genl_family, 0, cmd);
	if (hdr)
		err = fill(skb, info, mask);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

static int iqcn_genl_fill_port(struct sk_buff *skb, struct genl_info *info,
			       const struct iqcn_genl_mask *mask)
{
	struct iqcn_port *port;
	int err;

	rcu_read_lock();
	port = iqcn_genl_port(genl_info_net(info),
			      info->attrs[IQCN_A_PORT_IFINDEX], info->extack);
	err = port ? iqcn_genl_put_port(skb, port) : -ENODEV;
	rcu_read_unlock();
	return err;
}

static int iqcn_genl_port_get(struct sk_buff *request, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, IQCN_A_PORT_IFINDEX)) {
		GENL_SET_ERR_MSG(info, "IQCN_A_PORT_IFINDEX is missing");
		return -EINVAL;
	}
	return iqcn_genl_answer(info, IQCN_CMD_PORT_GET, NLMSG_GOODSIZE,
				iqcn_genl_fill_port, NULL);
}

static int iqcn_genl_start_ports(struct netlink_callback *cb)
{
	return iqcn_genl_start(cb, IQCN_A_PORT_IFINDEX, IQCN_A_PORT_UNSPEC);
}

static int iqcn_genl_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			      struct iqcn_port *port)
{
	void *hdr;
	int err;

	hdr = iqcn_genl_put(skb, cb, IQCN_CMD_PORT_GET);
	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, hdr);
	err = iqcn_genl_put_port(skb, port);
	if (err) {
		genlmsg_cancel(skb, hdr);
	} else {
		genlmsg_end(skb, hdr);
		iqcn_genl_dump_next_port(cb);
	}
	return err;
}

static int iqcn_genl_dump_ports(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	return iqcn_genl_dump_consistent(skb, cb, iqcn_genl_dump_one);
}

/* Values of a queue's attributes */
struct iqcn_genl_state {
	u32 ifindex;
	u32 parent;
	u32 depth_bytes;
	u32 limit_bytes;
	u32 kmin_bytes;
	u32 kmax_bytes;
	u32 notify;
	u64 tx_bytes;
	u64 tx_packets;
	struct tc_iqcn_xstats st;
};

/* Field of struct iqcn_genl_state that is copied to an attribute */
struct iqcn_genl_field {
	u16 offset;
	u16 size;
};

#define IQCN_STATE(_attr, _name)					\
	[IQCN_A_QUEUE_##_attr] = {					\
		offsetof(struct iqcn_genl_state, _name),		\
		sizeof_field(struct iqcn_genl_state, _name)		\
	}
#define IQCN_FIELD(_attr, _name)	IQCN_STATE(_attr, st._name)

static const struct iqcn_genl_field iqcn_genl_fields[] = {
	IQCN_STATE(IFINDEX, ifindex),
	IQCN_STATE(PARENT, parent),
	IQCN_STATE(DEPTH_BYTES, depth_bytes),
	IQCN_STATE(LIMIT_BYTES, limit_bytes),
	IQCN_STATE(KMIN_BYTES, kmin_bytes),
	IQCN_STATE(KMAX_BYTES, kmax_bytes),
	IQCN_STATE(NOTIFY, notify),
	IQCN_STATE(TX_BYTES, tx_bytes),
	IQCN_STATE(TX_PACKETS, tx_packets),
	IQCN_FIELD(STATE_AGE_NS, state_since_ns),
	IQCN_FIELD(STATE_REASON, state_reason),
	IQCN_FIELD(CONGESTED, congested),
	IQCN_FIELD(FLOWS, flows),
	IQCN_FIELD(FLOWS_PAIRED, flows_paired),
	IQCN_FIELD(FLOWS_CONGESTED, flows_congested),
	IQCN_FIELD(FLOWS_ACTIVE, flows_active),
	IQCN_FIELD(DEPTH_PEAK_BYTES, depth_peak_bytes),
	IQCN_FIELD(BTS_PROB, bts_prob),
	IQCN_FIELD(CE_RATE_BPS, ce_rate_bps),
	IQCN_FIELD(ROCE_BPS, roce_bps),
	IQCN_FIELD(ECN_MARK, ecn_mark),
	IQCN_FIELD(BTS_MARK, bts_mark),
	IQCN_FIELD(CE_IN, ce_in),
	IQCN_FIELD(CE_SENT, ce_sent),
	IQCN_FIELD(CE_SAMPLED, ce_sampled),
	IQCN_FIELD(NOT_ECT, not_ect),
	IQCN_FIELD(NOT_ECT_DROP, not_ect_drop),
	IQCN_FIELD(UNMARKABLE, unmarkable),
	IQCN_FIELD(DROP_OVERLIMIT, drop_overlimit),
	IQCN_FIELD(CNP_SEEN, cnp_seen),
	IQCN_FIELD(CNP_SENT, cnp_sent),
	IQCN_FIELD(CNP_WREB, cnp_wreb),
	IQCN_FIELD(CNP_PI, cnp_pi),
	IQCN_FIELD(CNP_POLL, cnp_poll),
	IQCN_FIELD(CNP_DROP, cnp_drop),
	IQCN_FIELD(CNP_DEFERRED, cnp_deferred),
	IQCN_FIELD(CNP_CANCELED, cnp_canceled),
	IQCN_FIELD(CNP_BUDGET, cnp_budget),
	IQCN_FIELD(CNP_UNPAIRED, cnp_unpaired),
	IQCN_FIELD(CNP_GAP, cnp_gap),
	IQCN_FIELD(CNP_ERROR, cnp_error),
	IQCN_FIELD(PAIRED, paired),
	IQCN_FIELD(CONTRADICTED, contradicted),
	IQCN_FIELD(FLOW_NEW, flow_new),
	IQCN_FIELD(FLOW_AGED, flow_aged),
	IQCN_FIELD(FLOW_EVICTED, flow_evicted),
	IQCN_FIELD(FLOW_FULL, flow_full),
	IQCN_FIELD(MALFORMED, malformed),
	IQCN_FIELD(STATE_CHANGES, state_changes),
	IQCN_FIELD(FLOW_STATE_CHANGES, flow_state_changes),
	IQCN_FIELD(SAMPLE_LOST, sample_lost),
	IQCN_FIELD(MARKED_BYTES, marked_bytes),
	IQCN_FIELD(DELAY_SUM_NS, delay_sum_ns),
	IQCN_FIELD(DELAY_SAMPLES, delay_samples),
	IQCN_FIELD(DELAY_AVG_NS, delay_avg_ns),
	IQCN_FIELD(DELAY_PEAK_NS, delay_peak_ns),
	IQCN_FIELD(CNP_PFC, cnp_pfc),
	IQCN_FIELD(PAUSES, pauses),
	IQCN_FIELD(PAUSED_NS, paused_ns),
	IQCN_FIELD(PAUSE_RX_BYTES, pause_rx_bytes),
	IQCN_FIELD(UNDETERMINED_NS, undetermined_ns),
	IQCN_FIELD(PFC_CLEAR, pfc_clear),
	IQCN_FIELD(PFC_RATE, pfc_rate),
	IQCN_FIELD(PFC_UNSURE, pfc_unsure),
	IQCN_FIELD(PFC_GREW, pfc_grew),
	IQCN_FIELD(PFC_DRAINED, pfc_drained),
	IQCN_FIELD(PFC_LIMIT, pfc_limit),
	IQCN_FIELD(PFC_STATE, pfc_state),
	IQCN_FIELD(PFC_REASON, pfc_reason),
	IQCN_FIELD(CNP_GRANT, cnp_grant),
	IQCN_FIELD(CNP_SUPPLEMENT, cnp_supplement),
	IQCN_FIELD(ABOVE_KMAX_NS, above_kmax_ns),
	IQCN_FIELD(LEASES, leases),
	IQCN_FIELD(LEASES_ENDED, leases_ended),
	IQCN_FIELD(REF_BYTES, ref_bytes),
};

static void iqcn_genl_get_params(struct iqcn_genl_state *s,
				 struct iqcn_queue *q)
{
	spin_lock_bh(&q->lock);
	s->limit_bytes = q->p.limit_bytes;
	s->kmin_bytes = q->p.mark.kmin_bytes;
	s->kmax_bytes = q->p.mark.kmax_bytes;
	s->notify = q->p.notify;
	spin_unlock_bh(&q->lock);
}

static void iqcn_genl_get_sent(struct iqcn_genl_state *s,
			       const struct gnet_stats_basic_sync *sent)
{
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&sent->syncp);
		s->tx_bytes = u64_stats_read(&sent->bytes);
		s->tx_packets = u64_stats_read(&sent->packets);
	} while (u64_stats_fetch_retry(&sent->syncp, start));
}

static void iqcn_genl_get_state(struct iqcn_genl_state *s,
				struct iqcn_queue *q)
{
	s->ifindex = q->port->dev->ifindex;
	s->parent = q->parent;
	s->depth_bytes = iqcn_depth_bytes(q);
	iqcn_genl_get_params(s, q);
	iqcn_queue_stats(q, &s->st);
	/* read these last, so that no other counter is ahead of them */
	iqcn_genl_get_sent(s, q->sent);
}

static int iqcn_genl_put_field(struct sk_buff *skb, int attr,
			       const struct iqcn_genl_state *s)
{
	const struct iqcn_genl_field *f = &iqcn_genl_fields[attr];
	const void *field = (const void *)s + f->offset;

	if (f->size == sizeof(u64))
		return nla_put_u64_64bit(skb, attr, *(const u64 *)field,
					 IQCN_A_QUEUE_PAD);
	return nla_put_u32(skb, attr, *(const u32 *)field);
}

static int iqcn_genl_put_queue(struct sk_buff *skb,
			       const struct iqcn_genl_state *s,
			       const struct iqcn_genl_mask *mask)
{
	unsigned int a;
	int err;

	for_each_set_bit(a, mask->bits, IQCN_GENL_MASK_BITS) {
		/* absent until the state first changes */
		if (a == IQCN_A_QUEUE_STATE_AGE_NS && !s->st.state_since_ns)
			continue;
		err = iqcn_genl_put_field(skb, a, s);
		if (err)
			return err;
	}
	return 0;
}

/* All attributes that a reply can contain */
static struct iqcn_genl_mask iqcn_genl_all __ro_after_init;

static void __init iqcn_genl_init_mask(void)
{
	unsigned int a;

	BUILD_BUG_ON(ARRAY_SIZE(iqcn_genl_fields) > IQCN_GENL_MASK_BITS);
	for (a = 0; a < ARRAY_SIZE(iqcn_genl_fields); a++)
		if (iqcn_genl_fields[a].size)
			__set_bit(a, iqcn_genl_all.bits);
}

/* Parse IQCN_A_QUEUE_MASK; without it, select all attributes */
static int iqcn_genl_get_mask(struct iqcn_genl_mask *mask,
			      const struct nlattr *attr,
			      struct netlink_ext_ack *extack)
{
	u64 words[IQCN_QUEUE_MASK_WORDS];

	if (!attr) {
		*mask = iqcn_genl_all;
		return 0;
	}
	nla_memcpy(words, attr, sizeof(words));
	bitmap_from_arr64(mask->bits, words, IQCN_GENL_MASK_BITS);
	if (bitmap_subset(mask->bits, iqcn_genl_all.bits, IQCN_GENL_MASK_BITS))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "The mask selects an attribute that no reply contains");
	return -EINVAL;
}

/* Find the queue with this parent.  A replaced qdisc may still be on the list,
 * so take the newest one; RTNL or RCU
 */
static struct iqcn_queue *iqcn_genl_queue(struct iqcn_port *port,
					  const struct nlattr *parent,
					  struct netlink_ext_ack *extack)
{
	struct iqcn_queue *q, *newest = NULL;

	list_for_each_entry_rcu(q, &port->queues, list,
				lockdep_rtnl_is_held())
		if (q->parent == nla_get_u32(parent))
			newest = q;
	if (!newest)
		NL_SET_ERR_MSG_ATTR(extack, parent,
				    "The device has no qdisc iqcn with this parent");
	return newest;
}

static int iqcn_genl_fill_queue(struct sk_buff *skb, struct genl_info *info,
				const struct iqcn_genl_mask *mask)
{
	struct iqcn_genl_state state;
	struct iqcn_port *port;
	struct iqcn_queue *q;
	int err = -ENODEV;

	rcu_read_lock();
	port = iqcn_genl_port(genl_info_net(info),
			      info->attrs[IQCN_A_QUEUE_IFINDEX], info->extack);
	if (!port)
		goto out;
	err = -ENOENT;
	q = iqcn_genl_queue(port, info->attrs[IQCN_A_QUEUE_PARENT],
			    info->extack);
	if (!q)
		goto out;
	iqcn_genl_get_state(&state, q);
	err = iqcn_genl_put_queue(skb, &state, mask);
out:
	rcu_read_unlock();
	return err;
}

static int iqcn_genl_queue_get(struct sk_buff *request, struct genl_info *info)
{
	struct iqcn_genl_mask mask;
	size_t payload_bytes;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, IQCN_A_QUEUE_IFINDEX) ||
	    GENL_REQ_ATTR_CHECK(info, IQCN_A_QUEUE_PARENT)) {
		GENL_SET_ERR_MSG(info, "A queue needs an ifindex and a parent");
		return -EINVAL;
	}
	if (info->attrs[IQCN_A_QUEUE_FILTER]) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[IQCN_A_QUEUE_FILTER],
				    "Only a dump has a filter");
		return -EINVAL;
	}
	err = iqcn_genl_get_mask(&mask, info->attrs[IQCN_A_QUEUE_MASK],
				 info->extack);
	if (err)
		return err;
	/* every attribute is a u32 or a u64 */
	payload_bytes = bitmap_weight(mask.bits, IQCN_GENL_MASK_BITS) *
			nla_total_size_64bit(sizeof(u64));
	return iqcn_genl_answer(info, IQCN_CMD_QUEUE_GET, payload_bytes,
				iqcn_genl_fill_queue, &mask);
}

static int iqcn_genl_dump_queue(struct sk_buff *skb,
				struct netlink_callback *cb,
				struct iqcn_queue *q)
{
	const struct iqcn_genl_dump *d = iqcn_genl_dump(cb);
	struct iqcn_genl_state state;
	void *hdr;
	int err;

	iqcn_genl_get_state(&state, q);
	if ((d->filter & IQCN_FILTER_CONGESTED) && !state.st.congested)
		return 0;
	hdr = iqcn_genl_put(skb, cb, IQCN_CMD_QUEUE_GET);
	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, hdr);
	err = iqcn_genl_put_queue(skb, &state, &d->mask);
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

static int iqcn_genl_dump_port_queues(struct sk_buff *skb,
				      struct netlink_callback *cb,
				      struct iqcn_port *port)
{
	struct iqcn_genl_dump *d = iqcn_genl_dump(cb);
	unsigned long i = 0, end = d->at + IQCN_GENL_RUN;
	struct iqcn_queue *q;
	int err;

	list_for_each_entry_rcu(q, &port->queues, list) {
		if (i++ < d->at)
			continue;
		if (d->at == end)
			return 0;
		err = iqcn_genl_dump_queue(skb, cb, q);
		if (err)
			return err;
		d->at++;
	}
	iqcn_genl_dump_next_port(cb);
	return 0;
}

static int iqcn_genl_start_queues(struct netlink_callback *cb)
{
	const struct nlattr *mask;
	int err;

	if (nlmsg_find_attr(cb->nlh, GENL_HDRLEN, IQCN_A_QUEUE_PARENT)) {
		NL_SET_ERR_MSG(cb->extack, "A dump has no parent");
		return -EINVAL;
	}
	mask = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, IQCN_A_QUEUE_MASK);
	err = iqcn_genl_get_mask(&iqcn_genl_dump(cb)->mask, mask, cb->extack);
	return err ?: iqcn_genl_start(cb, IQCN_A_QUEUE_IFINDEX,
				      IQCN_A_QUEUE_FILTER);
}

static int iqcn_genl_dump_queues(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	return iqcn_genl_dump_consistent(skb, cb, iqcn_genl_dump_port_queues);
}

/* Put the time since @then_ns, 0: never.  The event may have been later than
 * @now_ns, which is read once for up to IQCN_GENL_RUN flows.
 */
static int iqcn_genl_put_age(struct sk_buff *skb, int attr, u64 now_ns,
			     u64 then_ns)
{
	if (!then_ns)
		return 0;
	return nla_put_u64_64bit(skb, attr, now_ns - min(now_ns, then_ns),
				 IQCN_A_FLOW_PAD);
}

/* iqcn_genl_put_key() needs both enums to list the key in the same order */
#define IQCN_GENL_KEY(_name)						\
	static_assert(IQCN_A_EVENT_##_name - IQCN_A_EVENT_SRC ==	\
		      IQCN_A_FLOW_##_name - IQCN_A_FLOW_SRC)
IQCN_GENL_KEY(DST);
IQCN_GENL_KEY(VID);
IQCN_GENL_KEY(INNER_VID);
IQCN_GENL_KEY(DEST_QP);

static int iqcn_genl_put_pair(struct sk_buff *skb, const struct iqcn_queue *q,
			      const struct iqcn_flow *flow)
{
	if (flow->grade != IQCN_PAIR_NONE &&
	    nla_put_u32(skb, IQCN_A_FLOW_SRC_QP, flow->src_qp))
		return -EMSGSIZE;
	if (nla_put_u32(skb, IQCN_A_FLOW_PAIR, flow->grade))
		return -EMSGSIZE;
	if (iqcn_flow_paired(q, flow) &&
	    nla_put_flag(skb, IQCN_A_FLOW_PAIRED))
		return -EMSGSIZE;
	return 0;
}

static int iqcn_genl_put_state(struct sk_buff *skb, const struct iqcn_queue *q,
			       const struct iqcn_flow *flow, u64 now_ns)
{
	u32 bits, reason;
	u64 state_ns;

	state_ns = iqcn_congestion_of_flow(q, flow, &bits, &reason);
	if (nla_put_u32(skb, IQCN_A_FLOW_CONGESTED, bits) ||
	    nla_put_u32(skb, IQCN_A_FLOW_STATE_REASON, reason) ||
	    iqcn_genl_put_age(skb, IQCN_A_FLOW_STATE_AGE_NS, now_ns, state_ns))
		return -EMSGSIZE;
	return 0;
}

static int iqcn_genl_put_counts(struct sk_buff *skb,
				const struct iqcn_flow *flow)
{
	if (nla_put_u32(skb, IQCN_A_FLOW_QUEUED,
			iqcn_flow_queued(flow)) ||
	    nla_put_u32(skb, IQCN_A_FLOW_PSN, READ_ONCE(flow->psn)) ||
	    nla_put_u32(skb, IQCN_A_FLOW_RUN, iqcn_flow_run(flow)) ||
	    nla_put_u64_64bit(skb, IQCN_A_FLOW_CE_SENT, READ_ONCE(flow->ce_sent),
			      IQCN_A_FLOW_PAD) ||
	    nla_put_u64_64bit(skb, IQCN_A_FLOW_CNP_SEEN, flow->cnps_seen,
			      IQCN_A_FLOW_PAD) ||
	    nla_put_u64_64bit(skb, IQCN_A_FLOW_CNP_SENT, flow->cnps_sent,
			      IQCN_A_FLOW_PAD))
		return -EMSGSIZE;
	return 0;
}

static int iqcn_genl_put_times(struct sk_buff *skb,
			       const struct iqcn_flow *flow, u64 now_ns)
{
	if (iqcn_genl_put_age(skb, IQCN_A_FLOW_CE_AGE_NS, now_ns,
			      READ_ONCE(flow->ce_ns)) ||
	    iqcn_genl_put_age(skb, IQCN_A_FLOW_CNP_SEEN_AGE_NS, now_ns,
			      flow->cnp_rx_ns) ||
	    iqcn_genl_put_age(skb, IQCN_A_FLOW_CNP_SENT_AGE_NS, now_ns,
			      flow->cnp_tx_ns) ||
	    nla_put_u32(skb, IQCN_A_FLOW_CE_TO_CNP_NS,
			flow->cnp_srtt.smooth_ns) ||
	    nla_put_u32(skb, IQCN_A_FLOW_CNP_INTERVAL_NS,
			flow->cnp_srtt.interval_ns))
		return -EMSGSIZE;
	return 0;
}

static bool iqcn_genl_wanted(const struct iqcn_queue *q,
			     const struct iqcn_flow *flow, u32 filter)
{
	if ((filter & IQCN_FILTER_CONGESTED) && !q->congested &&
	    !iqcn_flow_own(q, flow))
		return false;
	return !(filter & IQCN_FILTER_PAIRED) || iqcn_flow_paired(q, flow);
}

static int iqcn_genl_put_flow(struct sk_buff *skb, const struct iqcn_queue *q,
			      const struct iqcn_flow *flow, u64 now_ns)
{
	struct iqcn_key key;

	iqcn_flow_key(flow, &key);
	if (nla_put_u32(skb, IQCN_A_FLOW_IFINDEX, q->port->dev->ifindex) ||
	    nla_put_u32(skb, IQCN_A_FLOW_PARENT, q->parent) ||
	    nla_put_u32(skb, IQCN_A_FLOW_ID, flow->id) ||
	    iqcn_genl_put_age(skb, IQCN_A_FLOW_AGE_NS, now_ns, flow->born_ns) ||
	    iqcn_genl_put_key(skb, IQCN_A_FLOW_SRC, &key) ||
	    iqcn_genl_put_pair(skb, q, flow) ||
	    iqcn_genl_put_state(skb, q, flow, now_ns) ||
	    iqcn_genl_put_counts(skb, flow) ||
	    iqcn_genl_put_times(skb, flow, now_ns))
		return -EMSGSIZE;
	return 0;
}

/* Argument of iqcn_genl_dump_flow() */
struct iqcn_genl_piece {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	u64 now_ns;
};

static int iqcn_genl_dump_flow(struct iqcn_queue *q, struct iqcn_flow *flow,
			       void *arg)
{
	struct iqcn_genl_piece *piece = arg;
	void *hdr;
	int err;

	if (!iqcn_genl_wanted(q, flow, iqcn_genl_dump(piece->cb)->filter))
		return 0;
	hdr = iqcn_genl_put(piece->skb, piece->cb, IQCN_CMD_FLOW_GET);
	if (!hdr)
		return -EMSGSIZE;
	err = iqcn_genl_put_flow(piece->skb, q, flow, piece->now_ns);
	if (err)
		genlmsg_cancel(piece->skb, hdr);
	else
		genlmsg_end(piece->skb, hdr);
	return err;
}

static int iqcn_genl_dump_port_flows(struct sk_buff *skb,
				     struct netlink_callback *cb,
				     struct iqcn_port *port)
{
	struct iqcn_genl_piece piece = { skb, cb, ktime_get_ns() };
	struct iqcn_genl_dump *d = iqcn_genl_dump(cb);
	struct iqcn_flow *flow;
	int i, err;

	if (!d->born_ns)
		d->born_ns = iqcn_flow_youngest(port);
	for (i = 0; i < IQCN_GENL_RUN; i++) {
		flow = xa_find(&port->by_id, &d->at, U32_MAX, XA_PRESENT);
		if (!flow) {
			iqcn_genl_dump_next_port(cb);
			return 0;
		}
		if (flow->born_ns <= d->born_ns) {
			err = iqcn_flow_read(flow, iqcn_genl_dump_flow, &piece);
			if (err)
				return err;
		}
		d->at++;
	}
	return 0;
}

static int iqcn_genl_start_flows(struct netlink_callback *cb)
{
	return iqcn_genl_start(cb, IQCN_A_FLOW_IFINDEX, IQCN_A_FLOW_FILTER);
}

static int iqcn_genl_dump_flows(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	return iqcn_genl_dump_each(skb, cb, iqcn_genl_dump_port_flows);
}

/* Call @act for all ports.  RTNL is released after each port. */
static u64 iqcn_genl_act_on_all(struct net *net,
				u64 (*act)(struct iqcn_port *port,
					   const struct iqcn_queue *only))
{
	struct iqcn_port *port;
	u32 ifindex = 0;
	u64 n = 0;

	do {
		rtnl_lock();
		port = iqcn_genl_next(net, ifindex);
		if (port) {
			n += act(port, NULL);
			ifindex = port->dev->ifindex + 1;
		}
		rtnl_unlock();
	} while (port);
	return n;
}

/* Call @act for one port, or for one of its queues; RTNL */
static int iqcn_genl_act_on_port(struct genl_info *info,
				 const struct nlattr *ifindex,
				 const struct nlattr *parent,
				 u64 (*act)(struct iqcn_port *port,
					    const struct iqcn_queue *only),
				 u64 *n)
{
	struct iqcn_port *port;
	struct iqcn_queue *q;

	port = iqcn_genl_port(genl_info_net(info), ifindex, info->extack);
	if (!port)
		return -ENODEV;
	if (!parent) {
		*n = act(port, NULL);
		return 0;
	}
	q = iqcn_genl_queue(port, parent, info->extack);
	if (!q)
		return -ENOENT;
	*n = act(port, q);
	return 0;
}

/* Call @act for the ports and queues that a request selects by its attributes
 * @ifindex and @parent.  @n: sum of the return values of @act
 */
static int iqcn_genl_act(struct genl_info *info, int ifindex, int parent,
			 u64 (*act)(struct iqcn_port *port,
				    const struct iqcn_queue *only),
			 u64 *n)
{
	int err;

	if (info->attrs[parent] && GENL_REQ_ATTR_CHECK(info, ifindex)) {
		GENL_SET_ERR_MSG(info, "The parent of a queue needs the ifindex of its device");
		return -EINVAL;
	}
	if (!info->attrs[ifindex]) {
		*n = iqcn_genl_act_on_all(genl_info_net(info), act);
		return 0;
	}
	rtnl_lock();
	err = iqcn_genl_act_on_port(info, info->attrs[ifindex],
				    info->attrs[parent], act, n);
	rtnl_unlock();
	return err;
}

static int iqcn_genl_flush_and_fill(struct sk_buff *skb, struct genl_info *info,
				    const struct iqcn_genl_mask *mask)
{
	int err;
	u64 n;

	err = iqcn_genl_act(info, IQCN_A_FLOW_IFINDEX, IQCN_A_FLOW_PARENT,
			    iqcn_gc_flush, &n);
	return err ?: nla_put_u64_64bit(skb, IQCN_A_FLOW_FLUSHED, n,
					IQCN_A_FLOW_PAD);
}

static int iqcn_genl_flow_flush(struct sk_buff *request, struct genl_info *info)
{
	return iqcn_genl_answer(info, IQCN_CMD_FLOW_FLUSH,
				nla_total_size_64bit(sizeof(u64)),
				iqcn_genl_flush_and_fill, NULL);
}

/* Reset the peaks of a port's queues.  A peak that a concurrent packet stores
 * is kept or reset, as if it had been stored after or before the reset.
 */
static u64 iqcn_genl_clear_port(struct iqcn_port *port,
				const struct iqcn_queue *only)
{
	struct iqcn_queue *q;

	list_for_each_entry(q, &port->queues, list) {
		if (only && q != only)
			continue;
		WRITE_ONCE(q->st.depth_peak_bytes, 0);
		WRITE_ONCE(q->st.delay_peak_ns, 0);
	}
	return 0;
}

static int iqcn_genl_queue_clear(struct sk_buff *request,
				 struct genl_info *info)
{
	u64 n;

	return iqcn_genl_act(info, IQCN_A_QUEUE_IFINDEX, IQCN_A_QUEUE_PARENT,
			     iqcn_genl_clear_port, &n);
}

/* Get an optional number.  Return: false if the attribute is absent. */
static bool iqcn_genl_get_u32(const struct genl_info *info, int attr, u32 *v)
{
	if (!info->attrs[attr])
		return false;
	*v = nla_get_u32(info->attrs[attr]);
	return true;
}

static int iqcn_genl_lease_queue(struct genl_info *info,
				 const struct iqcn_lease_request *r)
{
	struct iqcn_port *port;
	struct iqcn_queue *q;

	port = iqcn_genl_port(genl_info_net(info),
			      info->attrs[IQCN_A_LEASE_IFINDEX], info->extack);
	if (!port)
		return -ENODEV;
	q = iqcn_genl_queue(port, info->attrs[IQCN_A_LEASE_PARENT],
			    info->extack);
	return q ? iqcn_lease_set(q, r, info->extack) : -ENOENT;
}

static int iqcn_genl_lease(struct sk_buff *request, struct genl_info *info)
{
	struct iqcn_lease_request r = {};
	int err;

	if (GENL_REQ_ATTR_CHECK(info, IQCN_A_LEASE_IFINDEX) ||
	    GENL_REQ_ATTR_CHECK(info, IQCN_A_LEASE_PARENT) ||
	    GENL_REQ_ATTR_CHECK(info, IQCN_A_LEASE_MS)) {
		GENL_SET_ERR_MSG(info, "A lease needs an ifindex, a parent, and its length in ms");
		return -EINVAL;
	}
	r.ms = nla_get_u32(info->attrs[IQCN_A_LEASE_MS]);
	r.filters = iqcn_genl_get_u32(info, IQCN_A_LEASE_FILTER_N, &r.n);
	if (iqcn_genl_get_u32(info, IQCN_A_LEASE_FILTER_NS, &r.interval_ns) !=
	    r.filters) {
		GENL_SET_ERR_MSG(info, "A filter needs both a number and an interval");
		return -EINVAL;
	}
	r.supplements = iqcn_genl_get_u32(info, IQCN_A_LEASE_SUPPLEMENT_PPS,
					  &r.supplement_pps);
	rtnl_lock();
	err = iqcn_genl_lease_queue(info, &r);
	rtnl_unlock();
	return err;
}

static const struct nla_policy iqcn_genl_port_policy[] = {
	[IQCN_A_PORT_IFINDEX] = { .type = NLA_U32 },
};

static const struct nla_policy iqcn_genl_queue_policy[] = {
	[IQCN_A_QUEUE_IFINDEX] = { .type = NLA_U32 },
	[IQCN_A_QUEUE_PARENT] = { .type = NLA_U32 },
	[IQCN_A_QUEUE_FILTER] = NLA_POLICY_MASK(NLA_U32, IQCN_FILTER_CONGESTED),
	[IQCN_A_QUEUE_MASK] =
		NLA_POLICY_EXACT_LEN(IQCN_QUEUE_MASK_WORDS * sizeof(u64)),
};

static const struct nla_policy iqcn_genl_flow_policy[] = {
	[IQCN_A_FLOW_IFINDEX] = { .type = NLA_U32 },
	[IQCN_A_FLOW_FILTER] = NLA_POLICY_MASK(NLA_U32, IQCN_FILTER_CONGESTED |
						       IQCN_FILTER_PAIRED),
};

static const struct nla_policy iqcn_genl_flush_policy[] = {
	[IQCN_A_FLOW_IFINDEX] = { .type = NLA_U32 },
	[IQCN_A_FLOW_PARENT] = { .type = NLA_U32 },
};

static const struct nla_policy iqcn_genl_clear_policy[] = {
	[IQCN_A_QUEUE_IFINDEX] = { .type = NLA_U32 },
	[IQCN_A_QUEUE_PARENT] = { .type = NLA_U32 },
};

static const struct nla_policy iqcn_genl_lease_policy[] = {
	[IQCN_A_LEASE_IFINDEX] = { .type = NLA_U32 },
	[IQCN_A_LEASE_PARENT] = { .type = NLA_U32 },
	[IQCN_A_LEASE_MS] = { .type = NLA_U32 },
	[IQCN_A_LEASE_FILTER_N] = { .type = NLA_U32 },
	[IQCN_A_LEASE_FILTER_NS] = { .type = NLA_U32 },
	[IQCN_A_LEASE_SUPPLEMENT_PPS] = { .type = NLA_U32 },
};

/* Events contain QP numbers, see IQCN_CMD_FLOW_GET */
static const struct genl_multicast_group iqcn_genl_groups[] = {
	[IQCN_GROUP_STATE] = {
		.name = IQCN_MCGRP_STATE,
		.flags = GENL_MCAST_CAP_NET_ADMIN,
	},
	[IQCN_GROUP_CNP] = {
		.name = IQCN_MCGRP_CNP,
		.flags = GENL_MCAST_CAP_NET_ADMIN,
	},
};

#define IQCN_GENL_POLICY(_policy)			\
	.policy = _policy,				\
	.maxattr = ARRAY_SIZE(_policy) - 1

static const struct genl_ops iqcn_genl_ops[] = {
	{
		.cmd = IQCN_CMD_PORT_GET,
		.doit = iqcn_genl_port_get,
		.start = iqcn_genl_start_ports,
		.dumpit = iqcn_genl_dump_ports,
		IQCN_GENL_POLICY(iqcn_genl_port_policy),
	},
	{
		.cmd = IQCN_CMD_QUEUE_GET,
		.doit = iqcn_genl_queue_get,
		.start = iqcn_genl_start_queues,
		.dumpit = iqcn_genl_dump_queues,
		IQCN_GENL_POLICY(iqcn_genl_queue_policy),
	},
	{
		/* QP numbers and PSNs suffice to forge packets */
		.cmd = IQCN_CMD_FLOW_GET,
		.flags = GENL_UNS_ADMIN_PERM,
		.start = iqcn_genl_start_flows,
		.dumpit = iqcn_genl_dump_flows,
		IQCN_GENL_POLICY(iqcn_genl_flow_policy),
	},
	{
		.cmd = IQCN_CMD_FLOW_FLUSH,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = iqcn_genl_flow_flush,
		IQCN_GENL_POLICY(iqcn_genl_flush_policy),
	},
	{
		.cmd = IQCN_CMD_QUEUE_CLEAR,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = iqcn_genl_queue_clear,
		IQCN_GENL_POLICY(iqcn_genl_clear_policy),
	},
	{
		.cmd = IQCN_CMD_LEASE,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = iqcn_genl_lease,
		IQCN_GENL_POLICY(iqcn_genl_lease_policy),
	},
};

struct genl_family iqcn_genl_family __ro_after_init = {
	.name = IQCN_FAMILY_NAME,
	.version = IQCN_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.parallel_ops = true,
	.ops = iqcn_genl_ops,
	.n_ops = ARRAY_SIZE(iqcn_genl_ops),
	.mcgrps = iqcn_genl_groups,
	.n_mcgrps = ARRAY_SIZE(iqcn_genl_groups),
	/* strict validation for all commands */
	.resv_start_op = IQCN_CMD_UNSPEC + 1,
};

/**
 * iqcn_genl_module_init() - register the netlink family
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int __init iqcn_genl_module_init(void)
{
	iqcn_genl_init_mask();
	return genl_register_family(&iqcn_genl_family);
}

/**
 * iqcn_genl_module_exit() - unregister the netlink family
 *
 * Context: process; sleeps until requests in progress have ended.
 */
void iqcn_genl_module_exit(void)
{
	genl_unregister_family(&iqcn_genl_family);
}

MODULE_ALIAS_GENL_FAMILY(IQCN_FAMILY_NAME);
