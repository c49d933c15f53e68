/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guard: which CNPs a policy must let pass or add
 *
 *	queue never above Kmax, or not for	at least the guard's rate of
 *	100 ms					supplements
 *	for 20 ms after a step in which		the filter passes all CNPs
 *	packets were dropped, or the queue
 *	grew by over half of its limit
 *	after a step with drops			the action with the weakest
 *						filter and most supplements
 *	in all other respects			the action of the policy
 *
 * A burst can fill an empty queue before the next step, and before the first
 * CNPs of the receivers arrive.  So enough supplements must be in force before
 * the burst begins.  Once it has begun, the receivers send CNPs, and the reward
 * does not charge for those that pass.  The reward does not count drops either,
 * so in a queue that stays full for long, a policy saves CNPs.
 *
 * The guard's rate is the supplement rate of tc, or 2,500 per second if that is
 * more, as far as supplement-max and cnp-rate allow; a rate of tc above
 * supplement-max is kept (agent_guard_pps()).  2,500 is the limit in the
 * patent application (agentlaw.h), and more than the rate of any action: with a
 * rate of 2,000 in tc, a load of messages and streams dropped more packets.
 *
 * Pure: no clock.
 */
#ifndef _IQCN_AGENTGUARD_H
#define _IQCN_AGENTGUARD_H

#include "agentlaw.h"

#define AGENT_GUARD_IDLE_NS UINT64_C(100000000)
#define AGENT_GUARD_BURST_NS UINT64_C(20000000)
#define AGENT_GUARD_PER_LIMIT 2
#define AGENT_GUARD_PPS UINT32_C(2500)

struct agent_guard {
	uint64_t deep_ns;	/* end of the last step above Kmax, 0: none */
	uint64_t burst_ns;	/* end of the last step with drops or growth */
};

/* The rate that the guard requires.  If tc's rate is above supplement-max, the
 * module sends fewer supplements, but its filter passes more CNPs instead, so
 * the rate is not cut to supplement-max.
 */
static inline uint32_t agent_guard_pps(const struct agent_place *p)
{
	if (p->supplement_pps > p->supplement_max_pps &&
	    p->supplement_max_pps <= p->cnp_rate_pps)
		return p->supplement_pps;
	return min(max(AGENT_GUARD_PPS, p->supplement_pps), agent_bound_pps(p));
}

/* The guard's requirements */
struct agent_needs {
	uint32_t supplement_pps;
	bool all_pass;		/* the filter passes all CNPs */
};

/**
 * agent_guard_step() - account for a step
 * @g: all 0 at first
 * @p: parameters of the qdisc and the link
 * @a: sample at the beginning of the step
 * @b: sample at its end
 *
 * Return: what the guard requires in the next step.
 */
static inline struct agent_needs agent_guard_step(struct agent_guard *g,
						  const struct agent_place *p,
						  const struct agent_sample *a,
						  const struct agent_sample *b)
{
	struct agent_needs needs = {};

	if (b->above_kmax_ns != a->above_kmax_ns)
		g->deep_ns = b->time_ns;
	if (b->drops != a->drops ||
	    b->depth_bytes > a->depth_bytes +
			     p->limit_bytes / AGENT_GUARD_PER_LIMIT)
		g->burst_ns = b->time_ns;
	if (!g->deep_ns || b->time_ns - g->deep_ns >= AGENT_GUARD_IDLE_NS)
		needs.supplement_pps = agent_guard_pps(p);
	if (g->burst_ns && b->time_ns - g->burst_ns < AGENT_GUARD_BURST_NS)
		needs.all_pass = true;
	return needs;
}

/**
 * agent_guard_action() - replace the action of a policy
 * @a: sample at the beginning of the step
 * @b: sample at its end
 * @action: action of the policy
 *
 * Return: the action for the next step.
 */
static inline int agent_guard_action(const struct agent_sample *a,
				     const struct agent_sample *b, int action)
{
	return b->drops == a->drops ? action : AGENT_ACTIONS - 1;
}

#endif /* _IQCN_AGENTGUARD_H */
