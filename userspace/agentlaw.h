/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The agent of a long-haul link: its state, its actions and its reward.
 *
 * Source: the Chinese patent application on congestion control over long-haul
 * links, steps S10, S20, A2, C2 and D1.  Every 1 or 5 ms an agent in the switch
 * observes the port, and chooses the interval of the filter and the rate of
 * supplements.  Its reward is
 *
 *	r = 0.2 * utilization + 0.6 * D + 0.2 * C
 *	D = 1 - n / 10, n = the smallest of 0..9 with E(n) >= depth
 *
 * Reconstructed: the published text has lost the formula of the state; the
 * eight features are the inputs by which, in the text, a port detects
 * congestion.  A minus sign in D is lost, too.  The text does not define
 * E(n); here it is limit / 2^(9 - n), so that E(9) is the limit.  C is the
 * ratio of supplements to their limit; its sign is lost.  Because the text
 * wants few supplements, C is 1 - ratio here; "reward literal" uses the ratio
 * itself.
 *
 * The scale of the rates is not from the text.  The text's five filtered rates,
 * 7,500 to 17,500 CNPs per second, are for one port.  The text does not say
 * for how many QPs and for which distance.  For 40 QPs and 533 km, 7,500 is one
 * CNP per QP and round trip.  So 7,500 stands here for one CNP per QP and round
 * trip of the configured fiber, and the other rates keep their ratio to 7,500.
 * From 100 km on, the module accepts no lower rate.
 *
 * Pure: no clock, no socket.  log2 is piecewise linear, so that the same input
 * gives the same bits on every machine.
 */
#ifndef _IQCN_AGENTLAW_H
#define _IQCN_AGENTLAW_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../kmod/algo/filter.h"

#define AGENT_RATES 5
#define AGENT_SUPPLEMENTS 5
#define AGENT_ACTIONS (AGENT_RATES * AGENT_SUPPLEMENTS)
#define AGENT_NONE (-1)
#define AGENT_FEATURES 8
#define AGENT_STEPS 3
#define AGENT_STATE (AGENT_FEATURES * AGENT_STEPS + 2)
#define AGENT_LEVELS 10

enum agent_reward {
	AGENT_REWARD_FEW,
	AGENT_REWARD_LITERAL,
	__AGENT_REWARD_MAX
};

/* Action = AGENT_SUPPLEMENTS * index of the rate + index of the supplements */
static const uint32_t agent_rates_pps[AGENT_RATES] = {
	7500, 10000, 12500, 15000, 17500
};

static const uint32_t agent_supplements_pps[AGENT_SUPPLEMENTS] = {
	0, 500, 1000, 1500, 2000
};

/* Parameters of the qdisc, and the rate of the link */
struct agent_place {
	uint64_t limit_bytes;
	uint64_t kmax_bytes;
	uint64_t rate_bps;
	uint32_t fiber_m;
	uint32_t supplement_pps;
	uint32_t supplement_max_pps;
	uint32_t cnp_rate_pps;	/* budget of the port */
	bool by_port;		/* filter-by port */
};

/* Counters and state of the queue at a point in time */
struct agent_sample {
	uint64_t time_ns;
	uint64_t depth_bytes;
	uint64_t tx_bytes;
	uint64_t tx_packets;
	uint64_t ce_sent;
	uint64_t drops;
	uint64_t above_kmax_ns;
	uint64_t supplements;
	uint64_t flows;		/* active flows */
	uint64_t filter_ns;	/* filter in force: time per CNP; 0: none */
	uint32_t supplement_pps;	/* in force */
};

/* The step between two samples */
struct agent_step {
	float features[AGENT_FEATURES];
	float utilization;
	float depth_term;	/* D */
	float supplement_term;	/* C */
	float reward;
	float incast;		/* bytes in / bytes out */
};

/* The last steps, the newest first */
struct agent_history {
	float features[AGENT_STEPS][AGENT_FEATURES];
};

/* The values that an action leases from the module */
struct agent_lease {
	uint32_t filter_ns;	/* interval per CNP */
	uint32_t supplement_pps;
};

static inline float agent_share(double part, double whole)
{
	if (!(whole > 0) || part >= whole)
		return whole > 0;
	return part > 0 ? part / whole : 0;
}

/* log2 of @v >= 1, exact at powers of 2 and linear between them */
static inline float agent_log2(double v)
{
	int exponent;
	double mantissa;

	if (!(v > 1))
		return 0;
	mantissa = frexp(v, &exponent);
	return exponent - 2 + 2 * mantissa;
}

/* D, the term of the depth in the reward */
static inline float agent_depth_term(uint64_t depth_bytes, uint64_t limit_bytes)
{
	int n;

	for (n = 0; n < AGENT_LEVELS - 1; n++)
		if (limit_bytes >> (AGENT_LEVELS - 1 - n) >= depth_bytes)
			break;
	return 1 - n / (float)AGENT_LEVELS;
}

/* Is @b of a new queue?  A counter that is lower than in @a has restarted at 0
 */
static inline bool agent_restarted(const struct agent_sample *a,
				   const struct agent_sample *b)
{
	return b->tx_bytes < a->tx_bytes || b->tx_packets < a->tx_packets ||
	       b->drops < a->drops || b->ce_sent < a->ce_sent ||
	       b->above_kmax_ns < a->above_kmax_ns ||
	       b->supplements < a->supplements;
}

/* Bytes that arrived, if dropped packets had the mean size of sent ones */
static inline uint64_t agent_in_bytes(const struct agent_sample *a,
				      const struct agent_sample *b)
{
	uint64_t out_bytes = b->tx_bytes - a->tx_bytes;
	uint64_t packets = b->tx_packets - a->tx_packets;
	uint64_t in_bytes = out_bytes + b->depth_bytes;

	in_bytes = in_bytes > a->depth_bytes ? in_bytes - a->depth_bytes : 0;
	if (packets)
		in_bytes += (b->drops - a->drops) * (out_bytes / packets);
	return in_bytes;
}

/**
 * agent_observe() - compute the step between two samples
 * @p: parameters of the qdisc and the link
 * @a: earlier sample
 * @b: later sample
 * @reward: how the reward is computed
 */
static inline struct agent_step agent_observe(const struct agent_place *p,
					      const struct agent_sample *a,
					      const struct agent_sample *b,
					      enum agent_reward reward)
{
	double ns = b->time_ns - a->time_ns;
	double supplements = b->supplements - a->supplements;
	float used = agent_share(supplements * 1e9,
				 p->supplement_max_pps * ns);
	uint64_t out_bytes = b->tx_bytes - a->tx_bytes;
	uint64_t in_bytes = agent_in_bytes(a, b);
	struct agent_step s;

	s.utilization = agent_share(out_bytes * 8e9, p->rate_bps * ns);
	s.depth_term = agent_depth_term(b->depth_bytes, p->limit_bytes);
	s.supplement_term = reward == AGENT_REWARD_LITERAL ? used : 1 - used;
	s.reward = 0.2f * s.utilization + 0.6f * s.depth_term +
		   0.2f * s.supplement_term;
	s.incast = out_bytes ? in_bytes / (double)out_bytes : in_bytes ? 256 : 1;
	s.features[0] = agent_share(b->depth_bytes, p->limit_bytes);
	s.features[1] = agent_share(b->above_kmax_ns - a->above_kmax_ns, ns);
	s.features[2] = s.utilization;
	s.features[3] = b->tx_packets == a->tx_packets ? 0 :
			agent_share(b->ce_sent - a->ce_sent,
				    b->tx_packets - a->tx_packets);
	s.features[4] = agent_share(agent_log2(1.0 + b->flows), 16);
	s.features[5] = agent_share(p->kmax_bytes, p->limit_bytes);
	s.features[6] = agent_share(agent_log2(b->filter_ns / 1e3), 14);
	s.features[7] = agent_share(b->supplement_pps, p->supplement_max_pps);
	return s;
}

/**
 * agent_state() - add a step to the history, and compute the state
 * @h: history; all 0 at first
 * @p: parameters of the qdisc and the link
 * @s: the newest step
 * @state: result: the features of the last steps, then fiber and incast ratio
 */
static inline void agent_state(struct agent_history *h,
			       const struct agent_place *p,
			       const struct agent_step *s,
			       float state[AGENT_STATE])
{
	memmove(h->features[1], h->features[0],
		(AGENT_STEPS - 1) * sizeof(h->features[0]));
	memcpy(h->features[0], s->features, sizeof(s->features));
	memcpy(state, h->features, sizeof(h->features));
	state[AGENT_STATE - 2] = agent_share(p->fiber_m, 1e6);
	state[AGENT_STATE - 1] = agent_share(agent_log2(s->incast), 8);
}

/* The most supplements per second that the module sends */
static inline uint32_t agent_bound_pps(const struct agent_place *p)
{
	return min(p->supplement_max_pps, p->cnp_rate_pps);
}

/**
 * agent_lease() - convert an action to the values that it sets
 * @p: parameters of the qdisc and the link
 * @action: 0 to AGENT_ACTIONS - 1
 * @flows: active flows, which share the filter of a port
 */
static inline struct agent_lease agent_lease(const struct agent_place *p,
					     int action, uint64_t flows)
{
	uint64_t rate_pps = agent_rates_pps[action / AGENT_SUPPLEMENTS];
	uint64_t ns = iqcn_fiber_rtt_ns(p->fiber_m);

	ns = ns * agent_rates_pps[0] / rate_pps;
	if (p->by_port && flows)
		ns /= flows;
	return (struct agent_lease){
		.filter_ns = max_t(uint64_t, ns, 1),
		.supplement_pps = min(agent_supplements_pps[action % AGENT_SUPPLEMENTS],
				      agent_bound_pps(p)),
	};
}

/* Random numbers for exploration (SplitMix64), the same on every machine */
static inline uint64_t agent_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

#endif /* _IQCN_AGENTLAW_H */
