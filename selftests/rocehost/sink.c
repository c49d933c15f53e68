// SPDX-License-Identifier: GPL-2.0
/*
 * Sinks: the receivers of connections.
 *
 * With "rtw" a message needs a match (match.h).  Receives are posted one by
 * one.  Each is posted when the time "post" has passed since the completion of
 * the previous message.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>

#include "rocehost.h"

static bool rh_sink_is_last(const struct rh_data *data)
{
	return data->pkt->opcode == RC_WRITE_LAST ||
	       data->pkt->opcode == RC_WRITE_ONLY;
}

static void rh_sink_ack(struct rh_host *host, struct rh_sink *sink, u8 syndrome,
			u32 psn, u32 msn, const struct rh_extra *extra,
			u64 now_ns, struct sk_buff_head *out)
{
	rh_out(host, rh_build_ack(&sink->headers, syndrome, psn, msn, extra),
	       now_ns, out);
}

/* Process a go-back-N packet.  Return: true if it was accepted */
static bool rh_sink_rc(struct rh_host *host, struct rh_sink *sink,
		       const struct rh_data *data, u64 now_ns,
		       struct sk_buff_head *out)
{
	enum rc_verdict verdict;

	verdict = rc_received(&sink->rs, data->pkt->psn, rh_sink_is_last(data),
			      data->ack_req, host->conf.ack_every,
			      host->conf.nak_ns, now_ns);
	switch (verdict) {
	case RC_TAKE_ACK:
	case RC_DUPLICATE:
		rh_sink_ack(host, sink, AETH_ACK, rc_psn(sink->rs.epsn, -1ULL),
			    sink->rs.msn, NULL, now_ns, out);
		break;
	case RC_NAK:
		rh_sink_ack(host, sink, AETH_NAK_PSN, sink->rs.epsn,
			    sink->rs.msn, NULL, now_ns, out);
		break;
	case RC_TAKE:
	case RC_DROP:
		break;
	}
	return verdict == RC_TAKE || verdict == RC_TAKE_ACK;
}

/* Requeue a sink at its next event */
static void rh_sink_schedule(struct rh_host *host, struct rh_sink *sink)
{
	u64 next_ns = min(sink->post_ns,
			  sink->match.rts ? sink->rts_ns : RH_NEVER);

	if (!RB_EMPTY_NODE(&sink->due.node))
		timerqueue_del(&host->due_sinks, &sink->due);
	if (next_ns == RH_NEVER || next_ns >= READ_ONCE(rh_world.stop_ns))
		return;
	sink->due.expires = ns_to_ktime(next_ns);
	timerqueue_add(&host->due_sinks, &sink->due);
}

/* Send an RTW, RTS or RNR NAK for a message */
static void rh_sink_answer(struct rh_host *host, struct rh_sink *sink,
			   u8 syndrome, u32 msg, u64 now_ns,
			   struct sk_buff_head *out)
{
	bool counting = rh_counting(now_ns);

	sink->st.rtws += syndrome == AETH_RTW && counting;
	sink->st.rtss += syndrome == AETH_RTS && counting;
	sink->st.rnrs += syndrome == AETH_RNR && counting;
	rh_sink_ack(host, sink, syndrome, rc_psn(sink->rs.epsn, -1ULL), msg,
		    NULL, now_ns, out);
}

/* Find the match of a packet, or refuse the packet.  Return: true if matched */
static bool rh_sink_match(struct rh_host *host, struct rh_sink *sink,
			  const struct rh_data *data, u64 now_ns,
			  struct sk_buff_head *out)
{
	/* packets carry the lower 32 bits of the message number */
	u64 posted = sink->match.posted;
	u64 msg = posted + (s32)(data->msg - (u32)posted);
	u8 syndrome = AETH_RTW;

	switch (match_packet(&sink->match, &msg)) {
	case MATCH_TAKE:
		if (sink->match.rts) {
			sink->rts_ns = now_ns + host->conf.rto_ns;
			rh_sink_schedule(host, sink);
		}
		return true;
	case MATCH_NEW:
		if (host->canaries == host->conf.table) {
			syndrome = AETH_RNR;
			break;
		}
		host->canaries++;
		match_canary(&sink->match, msg);
		break;
	case MATCH_RTW:
		break;
	}
	sink->st.unmatched += rh_counting(now_ns);
	rh_sink_answer(host, sink, syndrome, msg, now_ns, out);
	return false;
}

/**
 * rh_sink_run() - process a sink's due events
 * @host: receiving host, locked
 * @sink: the sink
 * @now_ns: now
 * @out: queue of packets to send
 */
void rh_sink_run(struct rh_host *host, struct rh_sink *sink, u64 now_ns,
		 struct sk_buff_head *out)
{
	bool rts = sink->match.rts && sink->rts_ns <= now_ns;

	if (sink->post_ns <= now_ns) {
		sink->post_ns = RH_NEVER;
		host->canaries -= sink->match.canaries & 1;
		rts = match_post(&sink->match);
	}
	if (rts) {
		sink->rts_ns = now_ns + host->conf.rto_ns;
		rh_sink_answer(host, sink, AETH_RTS, sink->match.posted - 1,
			       now_ns, out);
	}
	rh_sink_schedule(host, sink);
}

/* If a message has become complete, schedule the next receive */
static void rh_sink_complete(struct rh_host *host, struct rh_sink *sink,
			     u64 now_ns, struct sk_buff_head *out)
{
	if (!sink->rtw || sink->match.complete == sink->rs.msn)
		return;
	match_complete(&sink->match, sink->rs.msn);
	sink->post_ns = now_ns + host->conf.post_ns;
	rh_sink_run(host, sink, now_ns, out);
}

/* Process a selective-repeat packet.  Return: true if it was accepted */
static bool rh_sink_sr(struct rh_host *host, struct rh_sink *sink,
		       const struct rh_data *data, u64 now_ns,
		       struct sk_buff_head *out)
{
	struct rh_extra extra = {
		.sport = data->pkt->sport,
		.len = SR_ACK_LEN,
	};
	struct sr_ack ack = {
		.sent_ns = data->sent_ns,
		.psn = data->pkt->psn,
		.ce = data->ce,
	};
	enum sr_verdict verdict;

	if (sink->rtw && !rh_sink_match(host, sink, data, now_ns, out))
		return false;
	verdict = sr_received(&sink->rs, sink->sr, data->pkt->psn,
			      rh_sink_is_last(data), data->ack_req,
			      host->conf.ack_every);
	if (verdict == SR_TAKE_ACK || verdict == SR_DUPLICATE) {
		if (host->conf.ack_every > 1)
			ack.behind = sr_behind(&sink->rs, sink->sr);
		sr_ack_encode(extra.bytes, &ack);
		rh_sink_ack(host, sink, AETH_ACK, rc_psn(sink->rs.epsn, -1ULL),
			    sink->rs.msn, &extra, now_ns, out);
	}
	rh_sink_complete(host, sink, now_ns, out);
	return verdict == SR_TAKE || verdict == SR_TAKE_ACK;
}

/**
 * rh_sink_begin() - schedule the first receive; called when the epoch is set
 * @host: receiving host, locked
 * @sink: the sink
 */
void rh_sink_begin(struct rh_host *host, struct rh_sink *sink)
{
	if (!sink->rtw)
		return;
	sink->post_ns = rh_world.epoch_ns + host->conf.post_ns;
	rh_sink_schedule(host, sink);
}

/**
 * rh_sink_received() - process a data packet
 * @host: receiving host, locked
 * @sink: the packet's sink
 * @data: the packet
 * @now_ns: now
 * @out: queue of packets to send
 */
void rh_sink_received(struct rh_host *host, struct rh_sink *sink,
		      const struct rh_data *data, u64 now_ns,
		      struct sk_buff_head *out)
{
	bool counting = rh_counting(now_ns), taken;

	taken = sink->sr ? rh_sink_sr(host, sink, data, now_ns, out) :
			   rh_sink_rc(host, sink, data, now_ns, out);
	if (counting) {
		sink->st.packets++;
		sink->st.ce += data->ce;
		if (taken)
			sink->st.bytes += data->payload;
		else
			sink->st.out_of_order++;
	}
	if (!data->ce)
		return;
	switch (np_ce(&sink->np, &host->limit, &host->conf.np, now_ns)) {
	case NP_CNP:
		sink->st.cnps += counting;
		atomic64_inc(&rh_world.cnps_np);
		rh_out(host, rh_build_cnp(&sink->headers, &host->conf.ip,
					  sink->dest_qpn, host->conf.cnp_dscp,
					  sink->sr ? data->pkt->sport :
					  rh_headers_sport(&sink->headers)),
		       now_ns, out);
		break;
	case NP_LIMITED:
		host->cnps_limited += counting;
		break;
	case NP_TOO_SOON:
		break;
	}
}

static void rh_sink_group_free(struct rh_sink_group *group)
{
	kvfree(group->sinks);
	kvfree(group->receivers);
	kfree(group);
}

/**
 * rh_sink_groups_free() - free all sinks of a host that is no longer used
 * @host: the host
 */
void rh_sink_groups_free(struct rh_host *host)
{
	struct rh_sink_group *group, *next;

	list_for_each_entry_safe(group, next, &host->sink_groups, list)
		rh_sink_group_free(group);
}

static void rh_sink_init(struct rh_sink *sink, const struct rh_host *host,
			 const struct rh_host *peer, const struct rh_flow *flow)
{
	const struct rh_flow_conf *conf = &flow->group->conf;
	struct rh_addr from = { host->dev->dev_addr, &host->conf.ip };
	struct rh_addr to = { peer->dev->dev_addr, &peer->conf.ip };
	u16 sport;

	sink->qpn = flow->dest_qpn;
	sink->dest_qpn = flow->qpn;
	sink->rs.epsn = flow->rq.psn0;
	sink->rtw = flow->sr && host->conf.rtw;
	sink->post_ns = RH_NEVER;
	timerqueue_init(&sink->due);
	if (!is_zero_ether_addr(host->conf.via))
		to.mac = host->conf.via;
	/* the flow's port, unless each end derives its port from its own QP */
	sport = conf->sport == RH_SPORT_RXE ? iqcn_sport_rxe(sink->qpn) :
					      rh_headers_sport(&flow->headers);
	rh_headers_init(&sink->headers, &from, &to, conf->dscp, 0, sport,
			sink->dest_qpn);
}

/**
 * rh_sink_add() - create the receivers of a group of flows
 * @host: receiving host
 * @peer: sending host
 * @flows: the flows
 *
 * Context: RTNL held.
 * Return: 0, -ENOMEM.
 */
int rh_sink_add(struct rh_host *host, const struct rh_host *peer,
		const struct rh_flow_group *flows)
{
	struct rh_sink_group *group = kzalloc(sizeof(*group), GFP_KERNEL);
	int err = -ENOMEM;
	u32 i = 0;

	if (!group)
		return -ENOMEM;
	group->n = flows->conf.n;
	strscpy(group->name, flows->conf.name, sizeof(group->name));
	group->sinks = rh_alloc_array(group->n, sizeof(*group->sinks));
	if (flows->sr)
		group->receivers = rh_alloc_array(group->n,
						  sizeof(*group->receivers));
	if (!group->sinks || (flows->sr && !group->receivers))
		goto err_store;
	for (; i < group->n; i++) {
		struct rh_sink *sink = &group->sinks[i];

		rh_sink_init(sink, host, peer, &flows->flows[i]);
		if (group->receivers)
			sink->sr = &group->receivers[i];
		err = xa_err(xa_store(&host->sinks, sink->qpn, sink,
				      GFP_KERNEL));
		if (err)
			goto err_store;
	}
	host->next_sink_qpn += group->n;
	list_add_tail(&group->list, &host->sink_groups);
	return 0;

err_store:
	while (i--)
		xa_erase(&host->sinks, group->sinks[i].qpn);
	/* the receive path may still use a sink */
	synchronize_net();
	rh_sink_group_free(group);
	return err;
}

/**
 * rh_sink_undo() - undo the last rh_sink_add()
 * @host: receiving host
 *
 * Context: RTNL held, may sleep.
 */
void rh_sink_undo(struct rh_host *host)
{
	struct rh_sink_group *group;
	u32 i;

	group = list_last_entry(&host->sink_groups, struct rh_sink_group, list);
	for (i = 0; i < group->n; i++)
		xa_erase(&host->sinks, group->sinks[i].qpn);
	host->next_sink_qpn -= group->n;
	list_del(&group->list);
	synchronize_net();
	rh_sink_group_free(group);
}
