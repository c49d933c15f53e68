// SPDX-License-Identifier: GPL-2.0
/*
 * Sinks: the receivers of connections.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <linux/udp.h>

#include "rocehost.h"

/**
 * rh_sink_received() - process a data packet
 * @host: receiving host, locked
 * @sink: the packet's sink
 * @pkt: the packet
 * @ack_req: the packet requests an ACK
 * @ce: the packet is CE
 * @payload: bytes of payload
 * @now_ns: now
 * @out: queue of packets to send
 */
void rh_sink_received(struct rh_host *host, struct rh_sink *sink,
		      const struct iqcn_pkt *pkt, bool ack_req, bool ce,
		      u32 payload, u64 now_ns, struct sk_buff_head *out)
{
	bool last = pkt->opcode == RC_WRITE_LAST ||
		    pkt->opcode == RC_WRITE_ONLY;
	bool counting = rh_counting(now_ns);
	enum rc_verdict verdict;

	verdict = rc_received(&sink->rs, pkt->psn, last, ack_req,
			      host->conf.ack_every, host->conf.nak_ns, now_ns);
	if (counting) {
		sink->st.packets++;
		sink->st.ce += ce;
		if (verdict == RC_TAKE || verdict == RC_TAKE_ACK)
			sink->st.bytes += payload;
		else
			sink->st.out_of_order++;
	}
	switch (verdict) {
	case RC_TAKE_ACK:
	case RC_DUPLICATE:
		rh_out(host, rh_build_ack(&sink->headers, AETH_ACK,
					  rc_psn(sink->rs.epsn, -1ULL),
					  sink->rs.msn),
		       now_ns, out);
		break;
	case RC_NAK:
		rh_out(host, rh_build_ack(&sink->headers, AETH_NAK_PSN,
					  sink->rs.epsn, sink->rs.msn),
		       now_ns, out);
		break;
	case RC_TAKE:
	case RC_DROP:
		break;
	}
	if (!ce)
		return;
	switch (np_ce(&sink->np, &host->limit, &host->conf.np, now_ns)) {
	case NP_CNP:
		sink->st.cnps += counting;
		atomic64_inc(&rh_world.cnps_np);
		rh_out(host, rh_build_cnp(&sink->headers, &host->conf.ip,
					  sink->dest_qpn, host->conf.cnp_dscp),
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
	kfree(group);
}

/**
 * rh_sink_groups_free() - free all sinks of a host without users
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
	const struct udphdr *uh;
	u16 sport;

	sink->qpn = flow->dest_qpn;
	sink->dest_qpn = flow->qpn;
	sink->rs.epsn = flow->rq.psn0;
	if (!is_zero_ether_addr(host->conf.via))
		to.mac = host->conf.via;
	/* the flow's port, unless each end derives it from its own QP */
	uh = (const struct udphdr *)(flow->headers.hdr + flow->headers.udp_off);
	sport = conf->sport == RH_SPORT_RXE ? iqcn_sport_rxe(sink->qpn) :
					      ntohs(uh->source);
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
	group->sinks = kvcalloc(group->n, sizeof(*group->sinks),
				GFP_KERNEL | __GFP_NOWARN |
				__GFP_RETRY_MAYFAIL);
	if (!group->sinks)
		goto err_store;
	for (; i < group->n; i++) {
		struct rh_sink *sink = &group->sinks[i];

		rh_sink_init(sink, host, peer, &flows->flows[i]);
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
