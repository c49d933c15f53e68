// SPDX-License-Identifier: GPL-2.0
/*
 * Flows: the senders of connections.
 *
 *	idle --start--> [connecting --REP-->] sending --stop--> (silent)
 *
 * A flow that has stopped, or any flow after the end of the run, sends nothing
 * and retransmits nothing.  The rate of a flow that has stopped stays constant,
 * but the packets that it receives still count.
 *
 * With selective repeat (sr.h), a sending flow may wait for a match (match.h).
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>

#include "rocehost.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Limit on the flows of all hosts: that many go-back-N flows, with their sinks,
 * occupy a gigabyte
 */
#define RH_FLOWS_MAX	BIT(20)

/* Maximum number of events that one call processes, because clocks may jump */
#define RH_CATCH_UP	64

static bool rh_flow_more_messages(const struct rh_flow *flow)
{
	return flow->arrived_msgs < flow->group->conf.messages;
}

/* Bytes in flight, if every packet had full length */
static u64 rh_flow_in_flight_bytes(const struct rh_flow *flow)
{
	u64 packets = flow->sr ? flow->sr->sender.n_sent :
				 flow->rq.next - flow->rq.una;

	return packets * flow->group->conf.mtu;
}

/* First packet that may not be sent yet */
static u64 rh_flow_end(const struct rh_flow *flow)
{
	u64 limit = match_limit(&flow->match);

	return limit == MATCH_ALL ? flow->arrived_pkts :
	       min(flow->arrived_pkts, limit * flow->group->msg_pkts);
}

static bool rh_flow_has_packet(const struct rh_flow *flow)
{
	if (!win_open(&flow->win, rh_flow_in_flight_bytes(flow)))
		return false;
	if (flow->sr && flow->sr->sender.n_lost)
		return true;
	return flow->rq.next < rh_flow_end(flow) &&
	       (flow->sr ? sr_may_send(&flow->rq) : rc_may_send(&flow->rq));
}

static bool rh_flow_under_way(const struct rh_flow *flow)
{
	return flow->rq.una < flow->rq.high;
}

static bool rh_flow_stopped(const struct rh_flow *flow, u64 now_ns)
{
	return now_ns >= flow->stop_ns;
}

static bool rh_flow_silent(const struct rh_flow *flow, u64 now_ns)
{
	return rh_flow_stopped(flow, now_ns) ||
	       now_ns >= READ_ONCE(rh_world.stop_ns);
}

static u64 rh_flow_timeout_ns(const struct rh_flow *flow)
{
	u64 from_ns = flow->progress_ns;

	if (flow->sr && flow->state == RH_FLOW_SENDING)
		from_ns = sr_oldest_ns(&flow->sr->sender);
	return from_ns == RH_NEVER ? RH_NEVER :
				     from_ns + flow->host->conf.rto_ns;
}

static void rh_trace(struct rh_flow *flow, enum rh_trace_kind kind, u64 at_ns)
{
	struct rh_flow_group *group = flow->group;
	u32 size = group->conf.trace;
	struct rh_trace *t;

	if (!size)
		return;
	rp_alpha_catch_up(&flow->rp, &flow->host->conf.rp, at_ns);
	t = &group->traces[(flow - group->flows) * (u64)size +
			   flow->n_trace % size];
	*t = (struct rh_trace){
		.at_ns = at_ns,
		.rate_bps = flow->rp.rc_bps,
		.alpha = flow->rp.alpha >> 12,
		.depth_bytes = group->probe ? rh_probe_depth(group->probe) : 0,
		.kind = kind,
	};
	flow->n_trace++;
}

/* Account for a change of the rate, and apply it to the packet that waits */
static void rh_flow_rate(struct rh_flow *flow, enum rp_event ev, u64 old_bps,
			 u64 at_ns)
{
	struct rh_probe *probe = flow->group->probe;

	if (flow->rp.rc_bps != old_bps && !flow->host->conf.next_gap)
		pace_changed(&flow->pace, old_bps, flow->rp.rc_bps, at_ns);
	switch (ev) {
	case RP_CUT:
		flow->st.cuts += rh_counting(at_ns);
		rh_trace(flow, RH_TRACE_CUT, at_ns);
		break;
	case RP_RAISED:
		win_raised(&flow->win);
		if (rh_counting(at_ns)) {
			flow->st.raised++;
			if (probe && rh_probe_depth(probe) >
				     probe->conf.kmax_bytes)
				flow->st.raised_above_kmax++;
		}
		rh_trace(flow, RH_TRACE_RAISED, at_ns);
		break;
	case RP_NOTHING:
		break;
	}
}

static void rh_flow_rp(struct rh_flow *flow, u64 now_ns)
{
	u64 at_ns;
	int n = 0;

	/* the next call processes further events */
	while ((at_ns = rp_next_ns(&flow->rp)) <= now_ns && n++ < RH_CATCH_UP) {
		u64 old_bps = flow->rp.rc_bps;
		enum rp_event ev = rp_run(&flow->rp, &flow->host->conf.rp);

		rh_flow_rate(flow, ev, old_bps, at_ns);
	}
}

static void rh_flow_arrivals(struct rh_flow *flow, u64 now_ns)
{
	struct rh_flow_group *group = flow->group;
	int n = 0;

	if (!group->conf.every_ns) {
		flow->arrived_msgs = group->conf.messages;
		flow->arrived_pkts = RH_NEVER;
		if (flow->arrived_msgs != RH_ENDLESS)
			flow->arrived_pkts = flow->arrived_msgs *
					     group->msg_pkts;
		return;
	}
	while (flow->arrive.next_ns <= now_ns && rh_flow_more_messages(flow) &&
	       n++ < RH_CATCH_UP) {
		flow->arrived_msgs++;
		flow->arrived_pkts += group->msg_pkts;
		arrive_next(&flow->arrive);
	}
}

/* Record messages that the last ACK has completed */
static void rh_flow_done(struct rh_flow *flow, u64 now_ns)
{
	struct rh_flow_group *group = flow->group;

	while (flow->rq.una >= (flow->done_msgs + 1) * group->msg_pkts) {
		/* without "every", a message arrives when the previous message
		 * is complete
		 */
		u64 arrived_ns = group->conf.every_ns ? flow->oldest.next_ns :
						     flow->done_ns;

		flow->done_msgs++;
		flow->done_ns = now_ns;
		if (flow->done_msgs == group->conf.messages)
			flow->match.state = MATCH_DONE;
		arrive_next(&flow->oldest);
		rh_trace(flow, RH_TRACE_DONE, now_ns);
		if (!rh_counting(arrived_ns))
			continue;
		if (group->n_done == group->done_max) {
			group->done_lost++;
			continue;
		}
		group->done[group->n_done] = (struct rh_done){
			.arrived_ns = arrived_ns,
			.took_ns = now_ns - arrived_ns,
			.qpn = flow->qpn,
		};
		/* pairs with the acquire in rh_show_host_done() */
		smp_store_release(&group->n_done, group->n_done + 1);
	}
}

static u64 rh_flow_next_ns(const struct rh_flow *flow)
{
	u64 next_ns = rp_next_ns(&flow->rp);

	switch (flow->state) {
	case RH_FLOW_IDLE:
		return flow->start_ns;
	case RH_FLOW_CONNECTING:
		return rh_flow_timeout_ns(flow);
	case RH_FLOW_SENDING:
		break;
	}
	if (rh_flow_under_way(flow))
		next_ns = min(next_ns, rh_flow_timeout_ns(flow));
	next_ns = min3(next_ns, flow->retry_ns, rh_lb_expires_ns(flow));
	if (rh_flow_more_messages(flow) && flow->group->conf.every_ns)
		next_ns = min(next_ns, flow->arrive.next_ns);
	if (rh_flow_has_packet(flow) && list_empty(&flow->ready))
		next_ns = min(next_ns, flow->pace.next_ns);
	return next_ns;
}

/* Requeue a flow at its next event, and add it to the ready list if its packet
 * is due
 */
static void rh_flow_schedule(struct rh_flow *flow, u64 now_ns)
{
	struct rh_host *host = flow->host;
	u64 next_ns;

	if (!RB_EMPTY_NODE(&flow->due.node))
		timerqueue_del(&host->due, &flow->due);
	if (rh_flow_silent(flow, now_ns)) {
		rh_lb_end(flow);
		return;
	}
	if (flow->state == RH_FLOW_SENDING && list_empty(&flow->ready) &&
	    rh_flow_has_packet(flow) && flow->pace.next_ns <= now_ns)
		list_add_tail(&flow->ready, &host->ready[flow->prio]);
	next_ns = rh_flow_next_ns(flow);
	if (next_ns == RH_NEVER)
		return;
	flow->due.expires = ns_to_ktime(next_ns);
	timerqueue_add(&host->due, &flow->due);
}

static void rh_flow_send_cm(struct rh_flow *flow, u16 attr, u64 now_ns,
			    struct sk_buff_head *out)
{
	rh_out(flow->host, rh_build_cm(&flow->headers, attr,
				       flow->qpn, flow->dest_qpn,
				       flow->rq.psn0), now_ns, out);
	flow->progress_ns = now_ns;
}

static void rh_flow_sending(struct rh_flow *flow, u64 now_ns)
{
	const struct rh_flow_conf *conf = &flow->group->conf;

	flow->state = RH_FLOW_SENDING;
	flow->pace.next_ns = now_ns;
	flow->done_ns = now_ns;
	rp_start(&flow->rp, &flow->host->conf.rp,
		 conf->rate_bps ?: flow->host->conf.rate_bps, now_ns);
	win_start(&flow->win, flow->host->conf.rate_bps,
		  flow->host->conf.base_rtt_ns, conf->mtu);
	rh_trace(flow, RH_TRACE_START, now_ns);
}

/* Retransmit after a timeout */
static void rh_flow_timed_out(struct rh_flow *flow, u64 now_ns)
{
	if (flow->sr)
		rh_lb_timeout(flow, sr_expire(&flow->sr->sender), now_ns);
	else
		rc_go_back(&flow->rq);
	flow->progress_ns = now_ns;
	flow->st.timeouts += rh_counting(now_ns);
	rh_trace(flow, RH_TRACE_TIMEOUT, now_ns);
}

/* Try again after an RNR NAK */
static void rh_flow_retry(struct rh_flow *flow)
{
	flow->retry_ns = RH_NEVER;
	if (flow->match.state == MATCH_WAITING)
		flow->match.state = MATCH_SENDING;
}

/**
 * rh_flow_run() - process a flow's due events
 * @flow: the flow, its host locked
 * @now_ns: now
 * @out: queue of packets to send
 */
void rh_flow_run(struct rh_flow *flow, u64 now_ns, struct sk_buff_head *out)
{
	if (rh_flow_silent(flow, now_ns)) {
		rh_flow_schedule(flow, now_ns);
		return;
	}
	switch (flow->state) {
	case RH_FLOW_IDLE:
		if (!flow->group->conf.cm) {
			rh_flow_sending(flow, flow->start_ns);
			break;
		}
		flow->state = RH_FLOW_CONNECTING;
		fallthrough;
	case RH_FLOW_CONNECTING:
		rh_flow_send_cm(flow, IQCN_CM_REQ, now_ns, out);
		break;
	case RH_FLOW_SENDING:
		rh_flow_rp(flow, now_ns);
		/* the loop ends, because selective repeat times out each
		 * packet only once, and go back N restarts the timeout
		 */
		while (rh_flow_under_way(flow) &&
		       rh_flow_timeout_ns(flow) <= now_ns)
			rh_flow_timed_out(flow, now_ns);
		if (flow->retry_ns <= now_ns)
			rh_flow_retry(flow);
		rh_lb_run(flow, now_ns);
		break;
	}
	if (flow->state == RH_FLOW_SENDING)
		rh_flow_arrivals(flow, now_ns);
	rh_flow_schedule(flow, now_ns);
}

/**
 * rh_flow_accepted() - process the receiver's REP
 * @flow: the flow, its host locked
 * @now_ns: now
 * @out: queue of packets to send
 */
void rh_flow_accepted(struct rh_flow *flow, u64 now_ns,
		      struct sk_buff_head *out)
{
	if (flow->state != RH_FLOW_CONNECTING || rh_flow_stopped(flow, now_ns))
		return;
	rh_flow_send_cm(flow, RH_CM_RTU, now_ns, out);
	rh_flow_sending(flow, now_ns);
	rh_flow_arrivals(flow, now_ns);
	rh_flow_schedule(flow, now_ns);
}

/* Must a packet request an ACK, so that the flow does not wait for a timeout?
 */
static bool rh_flow_asks(const struct rh_flow *flow, u64 seq, u64 now_ns)
{
	u64 mtu = flow->group->conf.mtu;

	if (now_ns - flow->asked_ns >= flow->host->conf.rto_ns / 4 ||
	    !win_open(&flow->win, rh_flow_in_flight_bytes(flow) + mtu))
		return true;
	/* the last packet that fits into the window */
	return flow->sr && seq + 1 == flow->rq.una + SR_WINDOW;
}

/**
 * rh_flow_send() - build a flow's next packet when the line is free
 * @flow: the flow, its host locked; not in the ready list
 * @now_ns: now
 *
 * Return: the packet, NULL if there is none, or if out of memory.
 */
struct sk_buff *rh_flow_send(struct rh_flow *flow, u64 now_ns)
{
	struct rh_flow_group *group = flow->group;
	const struct rh_flow_conf *conf = &group->conf;
	u64 old_bps = flow->rp.rc_bps, seq, msg, pos;
	struct sk_buff *skb = NULL;
	struct rh_extra extra;
	bool first, last, ask;
	u16 entropy = 0;
	u32 bytes, len;
	u8 opcode;

	if (!rh_flow_has_packet(flow) || rh_flow_silent(flow, now_ns))
		goto out;
	seq = flow->sr ? sr_next(&flow->rq, &flow->sr->sender) : flow->rq.next;
	msg = div64_u64_rem(seq, group->msg_pkts, &pos);
	first = !pos;
	last = pos == group->msg_pkts - 1;
	bytes = last ? group->last_bytes : conf->mtu;
	if (first)
		opcode = last ? RC_WRITE_ONLY : RC_WRITE_FIRST;
	else
		opcode = last ? RC_WRITE_LAST : RC_WRITE_MIDDLE;
	ask = last || rh_flow_asks(flow, seq, now_ns);
	if (ask)
		flow->asked_ns = now_ns;
	if (flow->sr) {
		entropy = rh_lb_next(flow, now_ns);
		extra.sport = rh_lb_sport(flow, entropy);
		extra.len = SR_DATA_LEN;
		sr_data_encode(extra.bytes, now_ns, msg);
	}
	skb = rh_build_data(&flow->headers, opcode, rc_psn(flow->rq.psn0, seq),
			    ask, bytes, conf->size, flow->sr ? &extra : NULL);
	/* out of memory: the packet counts as sent, and is lost */
	len = skb ? skb->len : bytes;

	if (!rh_flow_under_way(flow))
		flow->progress_ns = now_ns;
	if (rh_counting(now_ns)) {
		flow->st.packets++;
		flow->st.resent += seq < flow->rq.high;
	}
	if (flow->sr)
		sr_sent(&flow->rq, &flow->sr->sender, seq, entropy, now_ns);
	else
		rc_sent(&flow->rq);
	pace_sent(&flow->pace, len, flow->rp.rc_bps, now_ns);
	rh_flow_rate(flow, rp_sent(&flow->rp, &flow->host->conf.rp, len),
		     old_bps, now_ns);
out:
	rh_flow_schedule(flow, now_ns);
	return skb;
}

static void rh_flow_cnp(struct rh_flow *flow, u8 dscp, u16 sport, u64 now_ns)
{
	const struct rh_host_conf *conf = &flow->host->conf;
	u16 entropy;
	u64 old_bps = flow->rp.rc_bps;
	bool cp = dscp == conf->cp_dscp;
	bool known = rh_lb_entropy(flow, sport, &entropy);

	if (cp && sport && !known)
		flow->host->cnps_wrong++;
	if (cp) {
		atomic64_inc(&rh_world.cnps_cp);
		flow->st.cnps_cp += rh_counting(now_ns);
	} else {
		flow->st.cnps_np += rh_counting(now_ns);
	}
	rh_trace(flow, cp ? RH_TRACE_CNP_CP : RH_TRACE_CNP_NP, now_ns);
	if (rh_flow_stopped(flow, now_ns))
		return;
	/* load balancing acts before congestion control does */
	if (known)
		rh_lb_bad(flow, entropy, now_ns);
	if (conf->gate.weight &&
	    !gate_open(&flow->sr->gate, &conf->gate, now_ns)) {
		flow->st.gated += rh_counting(now_ns);
		return;
	}
	rh_flow_rate(flow, rp_cnp(&flow->rp, &conf->rp, now_ns), old_bps,
		     now_ns);
}

/* Account for an ACK that has acknowledged new packets */
static void rh_flow_progress(struct rh_flow *flow, u64 now_ns)
{
	flow->progress_ns = now_ns;
	if (win_exceeded(&flow->win, flow->rq.una,
			 rh_flow_in_flight_bytes(flow), flow->group->conf.mtu))
		flow->st.exceeded += rh_counting(now_ns);
}

/* Process a go-back-N ACK or NAK */
static void rh_flow_rc(struct rh_flow *flow, const struct rh_answer *answer,
		       u64 now_ns)
{
	if (answer->syndrome == AETH_NAK_PSN) {
		if (rc_naked(&flow->rq, answer->pkt->psn)) {
			flow->progress_ns = now_ns;
			flow->st.naks += rh_counting(now_ns);
			rh_trace(flow, RH_TRACE_NAK, now_ns);
		}
	} else if (AETH_IS_ACK(answer->syndrome) &&
		   rc_acked(&flow->rq, answer->pkt->psn)) {
		rh_flow_progress(flow, now_ns);
	}
}

/* Feed an ACK to load balancing and congestion control */
static void rh_flow_learn(struct rh_flow *flow, const struct rh_answer *answer,
			  u64 seq, u64 now_ns)
{
	const struct rh_host_conf *conf = &flow->host->conf;
	u64 rtt_ns = now_ns - answer->sr.sent_ns, old_bps = flow->rp.rc_bps;
	u16 entropy;

	if (rh_lb_entropy(flow, answer->pkt->sport, &entropy)) {
		rh_lb_acked(flow, entropy, answer->sr.ce, now_ns);
		if (conf->gate.weight)
			gate_acked(&flow->sr->gate, &conf->gate, entropy,
				   answer->sr.ce, rtt_ns, now_ns);
	}
	if (conf->ramp_ns && !rh_flow_stopped(flow, now_ns) &&
	    ramp_acked(&flow->sr->ramp, seq, flow->rq.high, answer->sr.ce,
		       rtt_ns, conf->ramp_ns)) {
		enum rp_event ev = rp_double(&flow->rp, &conf->rp);

		flow->st.doubled += ev == RP_RAISED && rh_counting(now_ns);
		rh_flow_rate(flow, ev, old_bps, now_ns);
	}
}

/* Go back to a message, and wait */
static void rh_flow_wait(struct rh_flow *flow, u64 msg, u64 retry_ns,
			 u64 now_ns)
{
	u64 seq = msg * flow->group->msg_pkts;

	if (seq >= flow->rq.high || !match_rtw(&flow->match, msg))
		return;
	flow->retry_ns = retry_ns;
	sr_truncate(&flow->rq, &flow->sr->sender, seq);
	rh_trace(flow, RH_TRACE_WAIT, now_ns);
}

/* Process a selective-repeat ACK, RTW, RTS or RNR NAK */
static void rh_flow_sr(struct rh_flow *flow, const struct rh_answer *answer,
		       u64 now_ns)
{
	u64 msg, seq = flow->rq.una;

	/* the AETH contains the low 24 bits of the message number: take the
	 * first incomplete message whose number ends with these bits
	 */
	msg = flow->done_msgs + (answer->msn - (u32)flow->done_msgs) %
				(IQCN_PSN_MASK + 1);
	switch (answer->syndrome) {
	case AETH_RTW:
		flow->st.rtws += rh_counting(now_ns);
		rh_flow_wait(flow, msg, RH_NEVER, now_ns);
		break;
	case AETH_RNR:
		rh_flow_wait(flow, msg, now_ns + flow->host->conf.rto_ns,
			     now_ns);
		break;
	case AETH_RTS:
		flow->st.rtss += rh_counting(now_ns);
		if (msg * flow->group->msg_pkts <= flow->rq.high &&
		    match_rts(&flow->match, msg)) {
			flow->retry_ns = RH_NEVER;
			rh_trace(flow, RH_TRACE_GO, now_ns);
		}
		break;
	case AETH_ACK:
		if (!answer->has_sr)
			break;
		seq += iqcn_psn_delta(answer->sr.psn,
				      rc_psn(flow->rq.psn0, flow->rq.una));
		if (sr_acked(&flow->rq, &flow->sr->sender, answer->pkt->psn,
			     &answer->sr))
			rh_flow_progress(flow, now_ns);
		/* also use the CE bit and RTT of ACKs that were overtaken */
		if ((s64)(seq - flow->rq.high) < 0)
			rh_flow_learn(flow, answer, seq, now_ns);
		break;
	}
}

/**
 * rh_flow_received() - process a CNP, ACK or NAK
 * @flow: the flow, its host locked
 * @answer: the packet
 * @now_ns: now
 */
void rh_flow_received(struct rh_flow *flow, const struct rh_answer *answer,
		      u64 now_ns)
{
	if (flow->state != RH_FLOW_SENDING)
		return;
	/* process earlier RP events first */
	if (!rh_flow_stopped(flow, now_ns))
		rh_flow_rp(flow, now_ns);
	if (answer->pkt->opcode == IQCN_OP_CNP)
		rh_flow_cnp(flow, answer->dscp, answer->pkt->sport, now_ns);
	else if (flow->sr)
		rh_flow_sr(flow, answer, now_ns);
	else
		rh_flow_rc(flow, answer, now_ns);
	rh_flow_done(flow, now_ns);
	rh_flow_schedule(flow, now_ns);
}

/**
 * rh_flow_told() - record the telemetry of a CNP, before the CNP is processed
 * @flow: the flow, its host locked
 * @tm: the telemetry
 * @now_ns: now
 */
void rh_flow_told(struct rh_flow *flow, const struct telemetry *tm, u64 now_ns)
{
	if (flow->state != RH_FLOW_SENDING)
		return;
	trace_rh_telemetry(flow->host->dev, flow->qpn, tm);
	if (!rh_counting(now_ns))
		return;
	flow->st.cnps_telemetry++;
	flow->last_telemetry = *tm;
}

/**
 * rh_flow_granted() - process the window of a CNP, before the CNP itself
 * @flow: the flow, its host locked
 * @bytes: window
 * @now_ns: now
 */
void rh_flow_granted(struct rh_flow *flow, u32 bytes, u64 now_ns)
{
	if (flow->state != RH_FLOW_SENDING || rh_flow_stopped(flow, now_ns))
		return;
	/* process earlier increases first */
	rh_flow_rp(flow, now_ns);
	win_granted(&flow->win, bytes, flow->group->conf.mtu, flow->rq.high);
	flow->st.grants += rh_counting(now_ns);
}

/**
 * rh_flow_begin() - schedule the start of a flow; called when the epoch is set
 * @flow: the flow, its host locked
 */
void rh_flow_begin(struct rh_flow *flow)
{
	const struct rh_flow_conf *conf = &flow->group->conf;
	struct rnd_state *rnd = &flow->host->rnd;
	u64 seed;

	flow->start_ns = rh_world.epoch_ns + conf->start_ns;
	if (conf->spread_ns)
		flow->start_ns += mul_u64_u32_shr(conf->spread_ns,
						  prandom_u32_state(rnd), 32);
	if (conf->stop_ns != RH_NEVER)
		flow->stop_ns = rh_world.epoch_ns + conf->stop_ns;
	seed = (u64)prandom_u32_state(rnd) << 32 | prandom_u32_state(rnd);
	flow->arrive.next_ns = flow->start_ns;
	flow->arrive.every_ns = conf->every_ns;
	flow->arrive.poisson = conf->poisson;
	prandom_seed_state(&flow->arrive.rnd, seed);
	if (flow->sr)
		prandom_seed_state(&flow->sr->rnd, ~seed);
	/* the first arrival of a Poisson process is random, too */
	if (conf->poisson)
		arrive_next(&flow->arrive);
	flow->oldest = flow->arrive;
	rh_flow_schedule(flow, 0);
}

static void rh_flow_group_free(struct rh_flow_group *group)
{
	kvfree(group->flows);
	kvfree(group->sr);
	kvfree(group->traces);
	kvfree(group->done);
	if (group->probe)
		rh_probe_put(group->probe);
	kfree(group);
}

/**
 * rh_flow_groups_free() - free all flows of a host that is no longer used
 * @host: the host
 */
void rh_flow_groups_free(struct rh_host *host)
{
	struct rh_flow_group *group, *next;

	list_for_each_entry_safe(group, next, &host->groups, list) {
		rh_world.flows -= group->conf.n;
		rh_flow_group_free(group);
	}
}

static u16 rh_flow_sport(const struct rh_flow_conf *conf, u32 qpn, u32 other)
{
	switch (conf->sport) {
	case RH_SPORT_MLX5:
		return iqcn_sport_verbs(qpn, other);
	case RH_SPORT_RXE:
		return iqcn_sport_rxe(qpn);
	default:
		return conf->sport;
	}
}

/**
 * rh_alloc_array() - allocate a zeroed array, without a warning if it is too
 *	large
 * @n: number of elements
 * @size: size of an element
 *
 * Context: process.
 * Return: the array, for kvfree(); NULL if there is no memory.
 */
void *rh_alloc_array(u64 n, size_t size)
{
	return kvcalloc(n, size, GFP_KERNEL | __GFP_NOWARN |
				 __GFP_RETRY_MAYFAIL);
}

/* Number of entries to allocate for completed messages */
static u32 rh_done_max(const struct rh_flow_conf *conf)
{
	u64 each = conf->messages;

	/* a message of an endless flow is 2 GB: 16 last 2.7 s at 100 Gb/s */
	if (conf->size == RH_ENDLESS)
		each = 16;
	/* no overflow: there are at most 2^20 flows */
	return min_t(u64, conf->n * min_t(u64, each, RH_DONE_MAX), RH_DONE_MAX);
}

static struct rh_flow_group *rh_flow_group_new(const struct rh_host *host,
					       const struct rh_flow_conf *conf,
					       struct rh_probe *probe)
{
	bool sr = host->conf.transport == RH_TRANSPORT_SR;
	u64 size = conf->size == RH_ENDLESS ? BIT_ULL(31) : conf->size;
	struct rh_flow_group *group = kzalloc(sizeof(*group), GFP_KERNEL);

	if (!group)
		return NULL;
	group->conf = *conf;
	group->msg_pkts = div_u64(size + conf->mtu - 1, conf->mtu);
	group->last_bytes = size - (u64)(group->msg_pkts - 1) * conf->mtu;
	group->done_max = rh_done_max(conf);
	if (probe) {
		refcount_inc(&probe->refs);
		group->probe = probe;
	}
	group->flows = rh_alloc_array(conf->n, sizeof(*group->flows));
	group->done = rh_alloc_array(group->done_max, sizeof(*group->done));
	if (sr)
		group->sr = rh_alloc_array(conf->n, sizeof(*group->sr));
	if (conf->trace)
		group->traces = rh_alloc_array(conf->n * conf->trace,
					       sizeof(*group->traces));
	if (!group->flows || !group->done || (sr && !group->sr) ||
	    (conf->trace && !group->traces) ||
	    rh_zeros_need(conf->mtu) ||
	    rh_zeros_need(ALIGN(group->last_bytes, 4))) {
		rh_flow_group_free(group);
		return NULL;
	}
	return group;
}

static void rh_flow_init(struct rh_flow *flow, struct rh_host *host,
			 struct rh_flow_group *group, const struct rh_host *peer,
			 u32 qpn, u32 dest_qpn)
{
	const struct rh_flow_conf *conf = &group->conf;
	struct rh_addr from = { host->dev->dev_addr, &host->conf.ip };
	struct rh_addr to = { peer->dev->dev_addr, &peer->conf.ip };

	flow->host = host;
	flow->group = group;
	flow->qpn = qpn;
	flow->dest_qpn = dest_qpn;
	flow->prio = host->on_wire ? conf->dscp >> 3 : 0;
	flow->pace.slack_ns = host->line.slack_ns;
	flow->stop_ns = RH_NEVER;
	flow->retry_ns = RH_NEVER;
	if (group->sr) {
		flow->sr = &group->sr[flow - group->flows];
		reps_init(&flow->sr->reps);
	}
	timerqueue_init(&flow->due);
	INIT_LIST_HEAD(&flow->ready);
	flow->rp.increase_due_ns = RP_NEVER;
	flow->rp.reduce_due_ns = RP_NEVER;
	flow->rq.psn0 = conf->psn == RH_NEVER ?
			prandom_u32_state(&host->rnd) & IQCN_PSN_MASK :
			conf->psn;
	if (!is_zero_ether_addr(host->conf.via))
		to.mac = host->conf.via;
	rh_headers_init(&flow->headers, &from, &to, conf->dscp, conf->ect,
			rh_flow_sport(conf, qpn, dest_qpn), dest_qpn);
}

/**
 * rh_flow_add() - create flows and their receivers
 * @host: sending host
 * @conf: parameters
 * @peer: receiving host
 * @probe: probe of the bottleneck, or NULL
 *
 * Context: RTNL held.
 * Return: 0, -ENOMEM, -ENOSPC if QP numbers or flows are exhausted.
 */
int rh_flow_add(struct rh_host *host, const struct rh_flow_conf *conf,
		struct rh_host *peer, struct rh_probe *probe)
{
	struct rh_flow_group *group;
	int err = -ENOMEM;
	u32 i;

	if (conf->n > RH_FLOWS_MAX - rh_world.flows ||
	    conf->n > RH_QPN_MAX + 1 - host->next_qpn ||
	    conf->n > 0x1000000 - peer->next_sink_qpn)
		return -ENOSPC;
	group = rh_flow_group_new(host, conf, probe);
	if (!group)
		return -ENOMEM;
	for (i = 0; i < conf->n; i++)
		rh_flow_init(&group->flows[i], host, group, peer,
			     host->next_qpn + i, peer->next_sink_qpn + i);
	err = rh_sink_add(peer, host, group);
	if (err) {
		rh_flow_group_free(group);
		return err;
	}
	/* the receive path finds the flows from here on, but they are idle */
	for (i = 0; i < conf->n; i++) {
		err = xa_err(xa_store(&host->flows, group->flows[i].qpn,
				      &group->flows[i], GFP_KERNEL));
		if (err)
			goto err_store;
	}
	host->next_qpn += conf->n;
	rh_world.flows += conf->n;
	list_add_tail(&group->list, &host->groups);
	return 0;

err_store:
	while (i--)
		xa_erase(&host->flows, group->flows[i].qpn);
	rh_sink_undo(peer);
	rh_flow_group_free(group);
	return err;
}
