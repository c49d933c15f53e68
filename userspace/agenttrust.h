/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is the policy better than the values of tc?  The agent measures it:
 *
 *	policy, 1 s --> values of tc, 1 s --> policy, a minute --+
 *	                 ^      ^                  |             |
 *	                 |      +----- audit ------|-------------+
 *	                 |                         | a second earned 2 % less than
 *	                 +-- fallback: 10 s to 320 s     the values of tc
 *
 * The policy is compared with the mean reward of the last second in which the
 * values of tc applied.  After each fallback the next one lasts twice as long,
 * until the policy has been in force for a minute.
 *
 * The policy's own estimates of its actions would be no evidence: it always
 * takes the action with the highest estimate, and in states unlike those of its
 * training, the estimates are wrong by more than the actions differ.
 *
 * Pure: no clock.
 */
#ifndef _IQCN_AGENTTRUST_H
#define _IQCN_AGENTTRUST_H

#include <stdbool.h>
#include <stdint.h>

#define AGENT_TRUST_NS UINT64_C(1000000000)
/* With long intervals, a second has few steps, so it is extended to at least
 * this many
 */
#define AGENT_TRUST_STEPS 10
#define AGENT_TRUST_SHARE 0.98
#define AGENT_AUDIT_NS (60 * AGENT_TRUST_NS)
#define AGENT_FALLBACK_NS (10 * AGENT_TRUST_NS)
#define AGENT_FALLBACK_MAX_NS (320 * AGENT_TRUST_NS)

/* The values of the policy apply, or, in audit and fallback, those of tc */
enum agent_verdict {
	AGENT_POLICY,
	AGENT_AUDIT,
	AGENT_FALLBACK,
};

struct agent_trust {
	enum agent_verdict verdict;
	bool known;		/* tc_reward was measured */
	double tc_reward;	/* mean reward of a second with the values of tc */
	double sum;		/* sum of the rewards in the current second */
	uint32_t steps;
	uint64_t second_ns;	/* end of the current second, 0: none begun */
	uint64_t phase_ns;	/* end of the audit or fallback, or the next audit */
	uint64_t fallback_ns;	/* length of the next fallback */
};

static inline void agent_trust_change(struct agent_trust *t,
				      enum agent_verdict verdict, uint64_t end_ns)
{
	t->verdict = verdict;
	t->phase_ns = end_ns;
}

static inline void agent_trust_second(struct agent_trust *t, double mean,
				      uint64_t now_ns)
{
	if (t->verdict != AGENT_POLICY) {
		t->known = true;
		t->tc_reward = mean;
		if (now_ns >= t->phase_ns)
			agent_trust_change(t, AGENT_POLICY,
					   now_ns + AGENT_AUDIT_NS);
	} else if (t->known && mean < AGENT_TRUST_SHARE * t->tc_reward) {
		agent_trust_change(t, AGENT_FALLBACK, now_ns + t->fallback_ns);
		t->fallback_ns *= 2;
		if (t->fallback_ns > AGENT_FALLBACK_MAX_NS)
			t->fallback_ns = AGENT_FALLBACK_MAX_NS;
	} else if (now_ns >= t->phase_ns) {
		agent_trust_change(t, AGENT_AUDIT, now_ns + AGENT_TRUST_NS);
		t->fallback_ns = AGENT_FALLBACK_NS;
	}
}

/**
 * agent_trust_step() - account for a step
 * @t: all 0 at first
 * @reward: reward of the step, during which @t->verdict applied
 * @now_ns: end of the step
 *
 * Return: the verdict for the next step.
 */
static inline enum agent_verdict agent_trust_step(struct agent_trust *t,
						  double reward, uint64_t now_ns)
{
	if (!t->second_ns) {
		t->second_ns = now_ns + AGENT_TRUST_NS;
		t->phase_ns = t->second_ns;
		t->fallback_ns = AGENT_FALLBACK_NS;
	}
	t->sum += reward;
	t->steps++;
	if (now_ns < t->second_ns || t->steps < AGENT_TRUST_STEPS)
		return t->verdict;
	agent_trust_second(t, t->sum / t->steps, now_ns);
	t->sum = 0;
	t->steps = 0;
	t->second_ns = now_ns + AGENT_TRUST_NS;
	return t->verdict;
}

#endif /* _IQCN_AGENTTRUST_H */
