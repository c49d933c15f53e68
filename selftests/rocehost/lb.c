// SPDX-License-Identifier: GPL-2.0
/*
 * Load balancing: choose the path of a flow's next packet, and learn from ACKs
 * and CNPs which paths are good.
 *
 * The source ports of a flow are consecutive, and wrap within the 2^14 ports
 * from 0xc000 on.  The first port is in the header template.  The entropy of a
 * packet is the offset of its port from the first port.
 */
#include "rocehost.h"

#define RH_SPORT_FIRST	0xc000
#define RH_SPORTS	0x4000

/* A flow with REPS has ->sr, because "lb" needs "transport sr" */
static bool rh_lb_reps(const struct rh_flow *flow)
{
	return flow->host->conf.lb == RH_LB_REPS;
}

/**
 * rh_lb_next() - choose the entropy of a flow's next packet
 * @flow: the flow, its host locked
 * @now_ns: now
 *
 * Return: the entropy, 0 without load balancing.
 */
u16 rh_lb_next(struct rh_flow *flow, u64 now_ns)
{
	struct rh_host *host = flow->host;

	switch (host->conf.lb) {
	case RH_LB_OPS:
		return prandom_u32_state(&flow->sr->rnd) %
		       (u32)host->conf.entropies;
	case RH_LB_REPS:
		return reps_next(&host->pool, &flow->sr->reps,
				 host->conf.entropies, now_ns);
	default:
		return 0;
	}
}

/**
 * rh_lb_sport() - get the UDP source port for an entropy
 * @flow: the flow
 * @entropy: the entropy
 *
 * Return: the port.
 */
u16 rh_lb_sport(const struct rh_flow *flow, u16 entropy)
{
	u16 sport = rh_headers_sport(&flow->headers);

	if (!entropy)
		return sport;
	return RH_SPORT_FIRST + (u16)(sport - RH_SPORT_FIRST + entropy) %
				RH_SPORTS;
}

/**
 * rh_lb_entropy() - get the entropy of an ACK or CNP
 * @flow: the flow
 * @sport: UDP source port of the ACK or CNP, which is that of the data
 * @entropy: result
 *
 * Return: false if @sport is none of the flow's ports.
 */
bool rh_lb_entropy(const struct rh_flow *flow, u16 sport, u16 *entropy)
{
	u16 first = rh_headers_sport(&flow->headers);

	if (flow->host->conf.lb == RH_LB_FIXED) {
		*entropy = 0;
		return sport == first;
	}
	*entropy = (u16)(sport - first) % RH_SPORTS;
	return *entropy < flow->host->conf.entropies &&
	       sport == rh_lb_sport(flow, *entropy);
}

/**
 * rh_lb_acked() - process an ACK
 * @flow: the flow, its host locked
 * @entropy: entropy of the packet
 * @ce: the packet was marked CE
 * @now_ns: now
 */
void rh_lb_acked(struct rh_flow *flow, u16 entropy, bool ce, u64 now_ns)
{
	struct rh_host *host = flow->host;

	if (rh_lb_reps(flow))
		reps_acked(&host->pool, &flow->sr->reps, entropy, ce,
			   host->conf.reps_buffer, now_ns);
}

/**
 * rh_lb_bad() - avoid a path that is congested
 * @flow: the flow, its host locked
 * @entropy: entropy of the path
 * @now_ns: now
 *
 * A frozen flow keeps the path, which is congested but works.
 */
void rh_lb_bad(struct rh_flow *flow, u16 entropy, u64 now_ns)
{
	if (rh_lb_reps(flow) && now_ns >= flow->sr->reps.frozen_ns)
		reps_bad(&flow->host->pool, &flow->sr->reps, entropy);
}

/**
 * rh_lb_timeout() - process a timeout
 * @flow: the flow, its host locked
 * @entropy: entropy of the packet
 * @now_ns: now
 */
void rh_lb_timeout(struct rh_flow *flow, u16 entropy, u64 now_ns)
{
	struct rh_host *host = flow->host;

	if (rh_lb_reps(flow))
		reps_timeout(&host->pool, &flow->sr->reps, entropy,
			     now_ns + host->conf.freeze_ns);
}

/**
 * rh_lb_expires_ns() - get the time when a flow without packets in flight drops
 *	its entropies
 * @flow: the flow, its host locked
 *
 * Return: the time, or RH_NEVER if the flow keeps its entropies.
 */
u64 rh_lb_expires_ns(const struct rh_flow *flow)
{
	if (!rh_lb_reps(flow) || !flow->sr->reps.n ||
	    flow->host->conf.recurrent ||
	    flow->rq.una < flow->rq.high)
		return RH_NEVER;
	return flow->progress_ns + flow->host->conf.expire_ns;
}

/**
 * rh_lb_run() - drop the entropies of a flow that has paused for too long
 * @flow: the flow, its host locked
 * @now_ns: now
 */
void rh_lb_run(struct rh_flow *flow, u64 now_ns)
{
	if (rh_lb_expires_ns(flow) <= now_ns)
		reps_flush(&flow->host->pool, &flow->sr->reps);
}

/**
 * rh_lb_end() - drop the entropies of a flow that no longer sends
 * @flow: the flow, its host locked
 */
void rh_lb_end(struct rh_flow *flow)
{
	if (rh_lb_reps(flow))
		reps_flush(&flow->host->pool, &flow->sr->reps);
}
