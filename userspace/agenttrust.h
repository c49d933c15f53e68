/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is the policy better than the values of tc?  The agent measures it:
 *
 *	policy --> audit: values of tc, 1 s --> policy, 1 s --> policy ...
 *	  ^                                         |
 *	  |                                         | worse than the audit, as
 *	  |                                         v was the second before it
 *	  +------------------- fallback: values of tc, 10 s to 320 s
 *
 * An audit is due after the first second and then once a minute.  A second is
 * worse than the last one with the values of tc if
 *
 *	its loss rate is higher by over a tenth and by over 0.1 percentage
 *	points, or
 *	its mean reward is lower by over 2 percent, and the loss rate of the
 *	values of tc is not higher by that tenth and these 0.1 points.
 *
 * The loss rate counts because the reward does not include drops.  The load may
 * have changed since the audit, so a worse second only causes another audit, at
 * most one in 10 s.  The policy is judged by the seconds before and after an
 * audit: a burst in one of these three seconds does not cause a fallback, but a
 * pause of the load during the audit may.  A fallback that begins within a
 * minute after another one lasts twice as long.
 *
 * The policy's own estimates of its actions would be no evidence: the policy
 * always takes the action with the highest estimate, and in states unlike those
 * of its training, the estimates are wrong by more than the actions differ.
 *
 * Pure: no clock.
 */
#ifndef _IQCN_AGENTTRUST_H
#define _IQCN_AGENTTRUST_H

#include "agentlaw.h"

#define AGENT_TRUST_NS UINT64_C(1000000000)
/* With long intervals, a second has few steps, so it is extended until it has
 * this many
 */
#define AGENT_TRUST_STEPS 10
#define AGENT_TRUST_SHARE 0.98
/* By how much a loss rate must be higher: as a factor, and as a difference */
#define AGENT_TRUST_LOSS_SHARE 1.1
#define AGENT_TRUST_LOSS 0.001
#define AGENT_AUDIT_NS (60 * AGENT_TRUST_NS)
#define AGENT_AUDIT_AGAIN_NS (10 * AGENT_TRUST_NS)
#define AGENT_FALLBACK_NS (10 * AGENT_TRUST_NS)
#define AGENT_FALLBACK_MAX_NS (320 * AGENT_TRUST_NS)

/* The values of the policy apply, or, in audit and fallback, those of tc */
enum agent_verdict {
	AGENT_POLICY,
	AGENT_AUDIT,
	AGENT_FALLBACK,
};

/* Sums over the steps of a second */
struct agent_second {
	double reward;
	uint64_t tx_packets;
	uint64_t drops;
	uint32_t steps;
};

struct agent_trust {
	enum agent_verdict verdict;
	bool judging;		/* this second is the first after an audit */
	struct agent_second now;	/* the current second */
	struct agent_second before;	/* the last second before the audit */
	struct agent_second tc;		/* the last second with values of tc */
	uint64_t second_ns;	/* end of the current second, 0: none begun */
	uint64_t phase_ns;	/* end of audit or fallback, or next audit */
	uint64_t again_ns;	/* a worse second causes no audit before then */
	uint64_t good_ns;	/* from then on, a fallback is short again */
	uint64_t fallback_ns;	/* length of the last fallback */
};

static inline void agent_trust_change(struct agent_trust *t,
				      enum agent_verdict verdict, uint64_t end_ns)
{
	t->verdict = verdict;
	t->phase_ns = end_ns;
}

static inline double agent_second_reward(const struct agent_second *s)
{
	return s->steps ? s->reward / s->steps : 0;
}

/* The share of packets that were dropped */
static inline double agent_second_loss(const struct agent_second *s)
{
	return agent_share(s->drops, s->tx_packets + s->drops);
}

/* Is the loss rate of @a higher than that of @b by more than chance? */
static inline bool agent_second_loses_more(const struct agent_second *a,
					   const struct agent_second *b)
{
	double least = agent_second_loss(b);

	return agent_second_loss(a) > max(AGENT_TRUST_LOSS_SHARE * least,
					  AGENT_TRUST_LOSS + least);
}

/* Was @s worse than the last second with the values of tc? */
static inline bool agent_trust_worse(const struct agent_trust *t,
				     const struct agent_second *s)
{
	if (agent_second_loses_more(s, &t->tc))
		return true;
	return !agent_second_loses_more(&t->tc, s) &&
	       agent_second_reward(s) <
	       AGENT_TRUST_SHARE * agent_second_reward(&t->tc);
}

static inline void agent_trust_fall_back(struct agent_trust *t, uint64_t now_ns)
{
	if (now_ns >= t->good_ns)
		t->fallback_ns = AGENT_FALLBACK_NS;
	else if (t->fallback_ns < AGENT_FALLBACK_MAX_NS)
		t->fallback_ns *= 2;
	agent_trust_change(t, AGENT_FALLBACK, now_ns + t->fallback_ns);
	t->good_ns = t->phase_ns + AGENT_AUDIT_NS;
	t->again_ns = t->phase_ns;
}

/* Record @t->now, a second in which the values of tc applied */
static inline void agent_trust_tc(struct agent_trust *t, uint64_t now_ns)
{
	t->tc = t->now;
	if (now_ns < t->phase_ns)
		return;
	t->judging = t->verdict == AGENT_AUDIT;
	agent_trust_change(t, AGENT_POLICY, now_ns + AGENT_AUDIT_NS);
}

/* Evaluate @t->now, a second in which the policy's values applied */
static inline void agent_trust_policy(struct agent_trust *t, uint64_t now_ns)
{
	bool worse = agent_trust_worse(t, &t->now);

	if (t->judging && worse && agent_trust_worse(t, &t->before)) {
		agent_trust_fall_back(t, now_ns);
	} else if (now_ns >= t->phase_ns || (worse && now_ns >= t->again_ns)) {
		agent_trust_change(t, AGENT_AUDIT, now_ns + AGENT_TRUST_NS);
		t->before = t->now;
		t->again_ns = now_ns + AGENT_AUDIT_AGAIN_NS;
	}
	t->judging = false;
}

/**
 * agent_trust_step() - account for a step
 * @t: all 0 at first
 * @a: sample at the beginning of the step
 * @b: sample at its end
 * @reward: reward of the step, during which @t->verdict applied
 *
 * Return: the verdict for the next step.
 */
static inline enum agent_verdict agent_trust_step(struct agent_trust *t,
						  const struct agent_sample *a,
						  const struct agent_sample *b,
						  double reward)
{
	uint64_t now_ns = b->time_ns;

	if (!t->second_ns) {
		t->second_ns = now_ns + AGENT_TRUST_NS;
		t->phase_ns = t->second_ns;
	}
	t->now.reward += reward;
	t->now.tx_packets += b->tx_packets - a->tx_packets;
	t->now.drops += b->drops - a->drops;
	t->now.steps++;
	if (now_ns < t->second_ns || t->now.steps < AGENT_TRUST_STEPS)
		return t->verdict;
	if (t->verdict == AGENT_POLICY)
		agent_trust_policy(t, now_ns);
	else
		agent_trust_tc(t, now_ns);
	t->now = (struct agent_second){};
	t->second_ns = now_ns + AGENT_TRUST_NS;
	return t->verdict;
}

#endif /* _IQCN_AGENTTRUST_H */
