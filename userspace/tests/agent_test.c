// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the agent's state, actions and reward, and of its policy.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../agentguard.h"
#include "../agentlaw.h"
#include "../agentmetrics.h"
#include "../agenttrust.h"
#include "../iqcn.h"
#include "../policy.h"
#include "test.h"

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define NOISE_ROUNDS 3000

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

/* 100 Gbit/s, 500 km */
static const struct agent_place place = {
	.limit_bytes = 512 << 10,
	.kmax_bytes = 128 << 10,
	.rate_bps = 100 * S,
	.fiber_m = 500000,
	.supplement_pps = 500,
	.supplement_max_pps = 2500,
	.cnp_rate_pps = 1000000,
};

void test_agent_log2(void)
{
	double v;
	int i;

	for (i = 0; i < 64; i++)
		check(agent_log2(ldexp(1, i)) == i);
	for (v = 1; v < 1e6; v *= 1.001)
		check(agent_log2(v) < agent_log2(v * 1.001));
	check(agent_log2(3) == 1.5 && agent_log2(1.5) == 0.5);
	check(agent_log2(0) == 0 && agent_log2(0.99) == 0 && agent_log2(-1) == 0);
}

void test_agent_depth(void)
{
	uint64_t limit = 1 << 20, level;
	int n;

	for (n = 0; n < AGENT_LEVELS; n++) {
		level = limit >> (AGENT_LEVELS - 1 - n);
		check(near(agent_depth_term(level, limit), 1 - n / 10.0));
		check(near(agent_depth_term(level + 1, limit),
			   1 - (n < 9 ? n + 1 : 9) / 10.0));
	}
	check(agent_depth_term(0, limit) == 1);
	check(near(agent_depth_term(UINT64_MAX, limit), 0.1));
	check(agent_depth_term(0, 0) == 1);
	check(near(agent_depth_term(1, 0), 0.1));
}

void test_agent_reward(void)
{
	struct agent_sample a = { .time_ns = S, .depth_bytes = 1024 };
	struct agent_sample b = {
		.time_ns = S + MS,
		.depth_bytes = 512 << 10,
		/* half of the rate */
		.tx_bytes = 6250000,
		.tx_packets = 1000,
		/* 1,000 per second of 2,500 */
		.supplements = 1,
	};
	struct agent_place none = {};
	struct agent_step s;

	s = agent_observe(&place, &a, &b, AGENT_REWARD_FEW);
	check(near(s.utilization, 0.5) && near(s.depth_term, 0.1));
	check(near(s.supplement_term, 0.6));
	check(near(s.reward, 0.2 * 0.5 + 0.6 * 0.1 + 0.2 * 0.6));
	s = agent_observe(&place, &a, &b, AGENT_REWARD_LITERAL);
	check(near(s.supplement_term, 0.4));
	check(near(s.reward, 0.2 * 0.5 + 0.6 * 0.1 + 0.2 * 0.4));
	/* all terms are at most 1 */
	b.tx_bytes *= 10;
	b.supplements = 100;
	s = agent_observe(&place, &a, &b, AGENT_REWARD_FEW);
	check(s.utilization == 1 && s.supplement_term == 0);
	b.depth_bytes = 0;
	b.supplements = 0;
	s = agent_observe(&place, &a, &b, AGENT_REWARD_FEW);
	check(near(s.reward, 1));
	/* no parameter is known, or no time has passed */
	s = agent_observe(&none, &a, &b, AGENT_REWARD_FEW);
	check(s.utilization == 0 && s.features[0] == 0 && isfinite(s.reward));
	s = agent_observe(&place, &b, &b, AGENT_REWARD_FEW);
	check(s.utilization == 0 && s.incast == 1 && isfinite(s.reward));
}

void test_agent_in_bytes(void)
{
	struct agent_sample a = {
		.depth_bytes = 3000, .tx_bytes = 500, .drops = 7,
	};
	struct agent_sample b = {
		.depth_bytes = 5000, .tx_bytes = 4500, .tx_packets = 4,
		.drops = 7,
	};
	struct agent_step s;

	check(agent_in_bytes(&a, &b) == 6000);
	b.drops += 2;
	check(agent_in_bytes(&a, &b) == 8000);
	s = agent_observe(&place, &a, &b, AGENT_REWARD_FEW);
	check(s.incast == 2);
	/* without a sent packet there is no mean size */
	b.tx_bytes = a.tx_bytes;
	b.tx_packets = 0;
	check(agent_in_bytes(&a, &b) == 2000);
	check(agent_observe(&place, &a, &b, AGENT_REWARD_FEW).incast == 256);
	/* the queue was purged */
	b.depth_bytes = 0;
	check(agent_in_bytes(&a, &b) == 0);
	check(agent_observe(&place, &a, &b, AGENT_REWARD_FEW).incast == 1);
}

void test_agent_restarted(void)
{
	const struct agent_sample a = {
		.tx_bytes = 5, .tx_packets = 5, .ce_sent = 5, .drops = 5,
		.above_kmax_ns = 5, .supplements = 5,
	};
	const size_t counters[] = {
		offsetof(struct agent_sample, tx_bytes),
		offsetof(struct agent_sample, tx_packets),
		offsetof(struct agent_sample, ce_sent),
		offsetof(struct agent_sample, drops),
		offsetof(struct agent_sample, above_kmax_ns),
		offsetof(struct agent_sample, supplements),
	};
	struct agent_sample b;
	size_t i;

	check(!agent_restarted(&a, &a));
	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		b = a;
		++*(uint64_t *)((char *)&b + counters[i]);
		check(!agent_restarted(&a, &b) && agent_restarted(&b, &a));
	}
	b = a;
	b.depth_bytes = b.flows = 1;
	check(!agent_restarted(&a, &b) && !agent_restarted(&b, &a));
}

void test_agent_state(void)
{
	struct agent_history h = {};
	struct agent_sample a = { .time_ns = S }, b = {
		.time_ns = S + MS,
		.depth_bytes = 128 << 10,
		.tx_bytes = 1250000,
		.tx_packets = 100,
		.ce_sent = 25,
		.above_kmax_ns = MS / 2,
		.flows = 15,
		.filter_ns = 1024000,
		.supplement_pps = 1000,
	};
	static const float features[] = {
		0.25, 0.5, 0.1, 0.25, 0.25, 0.25, 10 / 14.0, 0.4,
	};
	float state[AGENT_STATE];
	struct agent_step s;
	int i;

	s = agent_observe(&place, &a, &b, AGENT_REWARD_FEW);
	agent_state(&h, &place, &s, state);
	for (i = 0; i < AGENT_FEATURES; i++)
		check(near(state[i], features[i]));
	for (; i < AGENT_FEATURES * AGENT_STEPS; i++)
		check(state[i] == 0);
	check(near(state[24], 0.5));
	check(near(state[25], agent_log2(s.incast) / 8));
	/* older steps shift */
	s.features[0] = 0.75;
	agent_state(&h, &place, &s, state);
	check(state[0] == 0.75f && near(state[8], 0.25) && state[16] == 0);
	agent_state(&h, &place, &s, state);
	agent_state(&h, &place, &s, state);
	check(state[0] == 0.75f && state[8] == 0.75f && state[16] == 0.75f);
	/* all values are between 0 and 1 */
	b.depth_bytes = b.above_kmax_ns = b.tx_bytes = b.ce_sent = b.flows =
		b.filter_ns = UINT64_MAX / 2;
	b.supplement_pps = UINT32_MAX;
	s = agent_observe(&place, &a, &b, AGENT_REWARD_FEW);
	agent_state(&h, &place, &s, state);
	for (i = 0; i < AGENT_STATE; i++)
		check(state[i] >= 0 && state[i] <= 1);
}

void test_agent_lease(void)
{
	/* for a round trip of 5 ms */
	static const uint32_t ns[] = { 5000000, 3750000, 3000000, 2500000, 2142857 };
	static const uint32_t pps[] = { 0, 500, 1000, 1500, 2000 };
	struct agent_place p = place;
	struct agent_lease l;
	int i;

	for (i = 0; i < AGENT_ACTIONS; i++) {
		l = agent_lease(&p, i, 4);
		check(l.filter_ns == ns[i / 5] && l.supplement_pps == pps[i % 5]);
		check(l.filter_ns <= iqcn_filter_max_ns(p.fiber_m));
	}
	p.supplement_max_pps = 1200;
	check(agent_lease(&p, 3, 4).supplement_pps == 1200);
	check(agent_lease(&p, 2, 4).supplement_pps == 1000);
	p.by_port = true;
	check(agent_lease(&p, 0, 4).filter_ns == 1250000);
	check(agent_lease(&p, 0, 0).filter_ns == 5000000);
	check(agent_lease(&p, 20, UINT64_MAX).filter_ns == 1);
	/* no more supplements than the budget of the port allows */
	p.cnp_rate_pps = 900;
	check(agent_lease(&p, 4, 4).supplement_pps == 900);
	/* a short fiber, where the module allows longer intervals, and the
	 * longest fiber
	 */
	p.by_port = false;
	p.fiber_m = 1000;
	check(agent_lease(&p, 0, 4).filter_ns == 10000);
	p.fiber_m = IQCN_FIBER_MAX_M;
	check(agent_lease(&p, 0, 4).filter_ns ==
	      iqcn_filter_max_ns(IQCN_FIBER_MAX_M));
}

/* A run in steps of 5 ms: the policy and the values of tc earn constant
 * rewards, and drop a constant number of the 10,000 packets of a step
 */
struct life {
	struct agent_trust trust;
	double policy, tc;
	unsigned int policy_drops, tc_drops;
	struct agent_sample now;
};

/* Run until the verdict changes, for at most an hour.  Returns the time in ms;
 * @verdict is set to the verdict before the change.
 */
static uint64_t until_other(struct life *l, enum agent_verdict *verdict)
{
	uint64_t start_ns = l->now.time_ns;
	struct agent_sample before;
	unsigned int drops;

	*verdict = l->trust.verdict;
	do {
		before = l->now;
		drops = *verdict == AGENT_POLICY ? l->policy_drops : l->tc_drops;
		l->now.time_ns += 5 * MS;
		l->now.drops += drops;
		l->now.tx_packets += 10000 - drops;
		agent_trust_step(&l->trust, &before, &l->now,
				 *verdict == AGENT_POLICY ? l->policy : l->tc);
	} while (l->trust.verdict == *verdict &&
		 l->now.time_ns - start_ns < 3600 * S);
	return (l->now.time_ns - start_ns) / MS;
}

static void check_life(int line, struct life *l, enum agent_verdict verdict,
		       uint64_t ms)
{
	enum agent_verdict got;
	uint64_t got_ms = until_other(l, &got);

	/* the first second begins with the first step */
	if (got == verdict && got_ms >= ms && got_ms <= ms + 5)
		return;
	printf("# line %d: %d for %llu ms\n", line, got,
	       (unsigned long long)got_ms);
	check(false);
}

void test_agent_trust(void)
{
	struct life good = { .policy = 49, .tc = 50 }, bad = { .policy = 48.9, .tc = 50 };
	struct life lossy = { .policy = 9, .policy_drops = 1101, .tc = 5,
			      .tc_drops = 1000 };
	struct agent_sample before = {}, now = {};
	struct agent_trust t = {};
	int i, s;

	/* 2 % less is good enough */
	check_life(__LINE__, &good, AGENT_POLICY, 1000);
	for (i = 0; i < 5; i++) {
		check_life(__LINE__, &good, AGENT_AUDIT, 1000);
		check_life(__LINE__, &good, AGENT_POLICY, 60000);
	}
	for (s = 10; s <= 640; s *= 2) {
		check_life(__LINE__, &bad, AGENT_POLICY, 1000);
		check_life(__LINE__, &bad, AGENT_AUDIT, 1000);
		check_life(__LINE__, &bad, AGENT_POLICY, 1000);
		check_life(__LINE__, &bad, AGENT_FALLBACK,
			   s > 320 ? 320000 : s * 1000);
	}
	/* after a good minute, the next fallback is short again */
	bad.policy = 50;
	check_life(__LINE__, &bad, AGENT_POLICY, 60000);
	check_life(__LINE__, &bad, AGENT_AUDIT, 1000);
	/* worse from now on, but not yet in the second before this audit */
	bad.policy = 0;
	check_life(__LINE__, &bad, AGENT_POLICY, 9000);
	check_life(__LINE__, &bad, AGENT_AUDIT, 1000);
	check_life(__LINE__, &bad, AGENT_POLICY, 1000);
	check_life(__LINE__, &bad, AGENT_FALLBACK, 10000);
	/* if the values of tc earn less than before, so may the policy */
	bad.policy = 30;
	bad.tc = 30;
	check_life(__LINE__, &bad, AGENT_POLICY, 1000);
	check_life(__LINE__, &bad, AGENT_AUDIT, 1000);
	check_life(__LINE__, &bad, AGENT_POLICY, 60000);
	/* a burst in the second before an audit, or after it, is no evidence,
	 * and causes at most one audit in 10 s
	 */
	check_life(__LINE__, &bad, AGENT_AUDIT, 1000);
	bad.policy = 10;
	check_life(__LINE__, &bad, AGENT_POLICY, 9000);
	bad.policy = 30;
	check_life(__LINE__, &bad, AGENT_AUDIT, 1000);
	check_life(__LINE__, &bad, AGENT_POLICY, 60000);
	/* a loss rate that is over a tenth higher */
	check_life(__LINE__, &lossy, AGENT_POLICY, 1000);
	check_life(__LINE__, &lossy, AGENT_AUDIT, 1000);
	check_life(__LINE__, &lossy, AGENT_POLICY, 1000);
	check_life(__LINE__, &lossy, AGENT_FALLBACK, 10000);
	lossy.policy_drops = 1099;
	check_life(__LINE__, &lossy, AGENT_POLICY, 60000);
	/* a loss rate that is under 0.1 percentage points higher ... */
	lossy.policy_drops = 9;
	lossy.tc_drops = 0;
	check_life(__LINE__, &lossy, AGENT_AUDIT, 1000);
	check_life(__LINE__, &lossy, AGENT_POLICY, 60000);
	check_life(__LINE__, &lossy, AGENT_AUDIT, 1000);
	/* ... and over 0.1, but not yet in the second before this audit */
	lossy.policy_drops = 11;
	check_life(__LINE__, &lossy, AGENT_POLICY, 9000);
	check_life(__LINE__, &lossy, AGENT_AUDIT, 1000);
	check_life(__LINE__, &lossy, AGENT_POLICY, 1000);
	check_life(__LINE__, &lossy, AGENT_FALLBACK, 10000);
	lossy.policy_drops = 9;
	check_life(__LINE__, &lossy, AGENT_POLICY, 60000);
	/* a lower loss rate makes up for a lower reward ... */
	lossy.policy = 1;
	lossy.tc_drops = 20;
	check_life(__LINE__, &lossy, AGENT_AUDIT, 1000);
	check_life(__LINE__, &lossy, AGENT_POLICY, 60000);
	/* ... but not if it is lower by under 0.1 percentage points */
	lossy.tc_drops = 18;
	check_life(__LINE__, &lossy, AGENT_AUDIT, 1000);
	check_life(__LINE__, &lossy, AGENT_POLICY, 1000);
	check_life(__LINE__, &lossy, AGENT_FALLBACK, 10000);
	/* a second with few steps is longer */
	for (i = 1; i <= 10; i++) {
		now.time_ns = i * S;
		check(agent_trust_step(&t, &before, &now, 1) ==
		      (i < 10 ? AGENT_POLICY : AGENT_AUDIT));
	}
}

#define check_guard(_g, _p, _a, _b, _pps, _all)				\
	do {								\
		struct agent_needs _needs = agent_guard_step(_g, _p, _a, _b); \
									\
		check(_needs.supplement_pps == (_pps));			\
		check(_needs.all_pass == (_all));			\
	} while (0)

void test_agent_guard(void)
{
	struct agent_place p = { .limit_bytes = 200, .supplement_pps = 7,
				 .supplement_max_pps = 6, .cnp_rate_pps = 9 };
	struct agent_sample a = { .time_ns = 5 * MS }, b = { .time_ns = 10 * MS };
	struct agent_guard g = {};
	int i;

	/* an empty queue: at least the guard's rate */
	check_guard(&g, &p, &a, &b, 7, false);
	/* a queue above Kmax that does not grow much */
	b.depth_bytes = 100;
	b.above_kmax_ns = 1;
	check_guard(&g, &p, &a, &b, 0, false);
	/* the queue grows: all CNPs pass in the next 20 ms */
	b.depth_bytes = 101;
	check_guard(&g, &p, &a, &b, 0, true);
	a.depth_bytes = 101;
	for (i = 0; i < 3; i++) {
		b.time_ns += 5 * MS;
		check_guard(&g, &p, &a, &b, 0, true);
	}
	b.time_ns += 5 * MS;
	check_guard(&g, &p, &a, &b, 0, false);
	/* not above Kmax: at least the guard's rate after 100 ms */
	b.depth_bytes = 0;
	a.above_kmax_ns = b.above_kmax_ns;
	b.time_ns += 100 * MS - 1;
	check_guard(&g, &p, &a, &b, 0, false);
	b.time_ns++;
	check_guard(&g, &p, &a, &b, 7, false);
	/* drops: the last action, and all CNPs pass for 20 ms */
	b.above_kmax_ns++;
	check_guard(&g, &p, &a, &b, 0, false);
	check(agent_guard_action(&a, &b, 7) == 7);
	b.drops = 1;
	check_guard(&g, &p, &a, &b, 0, true);
	check(agent_guard_action(&a, &b, 7) == 24);
	a.drops = 1;
	check(agent_guard_action(&a, &b, 7) == 7);
	b.time_ns += 20 * MS - 1;
	check_guard(&g, &p, &a, &b, 0, true);
	b.time_ns++;
	check_guard(&g, &p, &a, &b, 0, false);
	/* above tc's rate, but at most the rate that a lease may set */
	p.supplement_max_pps = 8;
	check(agent_guard_pps(&p) == 8);
	p.supplement_max_pps = 10;
	check(agent_guard_pps(&p) == 9);
	p.supplement_max_pps = 10000;
	p.cnp_rate_pps = 10000;
	check(agent_guard_pps(&p) == 2500);
	p.supplement_pps = 3000;
	check(agent_guard_pps(&p) == 3000);
	/* a budget that was lowered after the rate of supplements was set */
	p.cnp_rate_pps = 2999;
	check(agent_guard_pps(&p) == 2999);
	p.supplement_max_pps = 2999;
	check(agent_guard_pps(&p) == 3000);
	p.cnp_rate_pps--;
	check(agent_guard_pps(&p) == 2998);
}

void test_agent_random(void)
{
	uint64_t seed = 1234567, again = 1234567;
	int i;

	/* the published values of SplitMix64 */
	check(agent_random(&seed) == UINT64_C(6457827717110365317));
	check(agent_random(&seed) == UINT64_C(3203168211198807973));
	check(agent_random(&seed) == UINT64_C(9817491932198370423));
	for (i = 0; i < 3; i++)
		agent_random(&again);
	check(seed == again);
}

void test_agent_totals(void)
{
	struct agent_sample a = { .drops = 100 };
	struct agent_sample b = { .drops = 103, .depth_bytes = 7 };
	struct agent_step s = { .reward = 0.5, .utilization = 0.25 };
	struct agent_totals t = {};

	agent_totals_add(&t, &s, &a, &b, 3);
	check(t.steps == 1 && t.drops == 3 && t.depth_peak_bytes == 7);
	agent_totals_add(&t, &s, &b, &b, AGENT_NONE);
	check(t.steps == 2 && t.drops == 3 && t.reward == 1);
	/* a new queue, whose counters started at 0 */
	a = b = (struct agent_sample){ .drops = 2 };
	b.drops = 5;
	agent_totals_add(&t, &s, &a, &b, 3);
	check(t.drops == 6 && t.actions[3] == 2 && t.depth_peak_bytes == 7);
	check(agent_totals_due(&t, S, false));
	check(!agent_totals_due(&t, 2 * S - 1, false));
	check(agent_totals_due(&t, 2 * S - 1, true));
}

/* A small integer; sums and products of these are exact in float */
static int small(uint64_t *seed)
{
	return (int)(agent_random(seed) >> 60) % 5 - 2;
}

#define FILE_SIZE 40000
#define HEAD "iqcn-policy 1\n"
#define SHAPE "shape 26 32 32 25\n"
#define INTERVAL "interval_ns 5000000\n"
#define REWARD "reward literal\n"
#define FIBERS "fiber_m 0 100000000\n"

static const int layers[] = { AGENT_STATE, POLICY_WIDTH, POLICY_WIDTH,
			      AGENT_ACTIONS };

/* Write the layers of a policy to @text; return their length */
static int write_layers(char *text, uint64_t seed)
{
	char *at = text;
	int l, i, j, v;

	for (l = 0; l < 3; l++)
		for (j = 0; j < layers[l + 1]; j++)
			for (i = 0; i <= layers[l]; i++) {
				v = small(&seed);
				at += sprintf(at, "%a%c", (double)v,
					      i < layers[l] ? ' ' : '\n');
			}
	return at - text;
}

/* Read @len bytes as a policy; @said returns the error, or "" */
static int read_text(struct policy *p, const char *text, size_t len,
		     char *said, size_t room)
{
	static int fd = -1, err = -1;
	int saved = dup(STDERR_FILENO), ret;
	char path[32];
	ssize_t n;

	if (fd < 0) {
		fd = memfd_create("policy", 0);
		err = memfd_create("stderr", 0);
	}
	if (ftruncate(fd, len) || pwrite(fd, text, len, 0) != (ssize_t)len ||
	    ftruncate(err, 0) || lseek(err, 0, SEEK_SET))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* another test may have left stderr buffered */
	fflush(stderr);
	dup2(err, STDERR_FILENO);
	ret = policy_read(p, path);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	n = pread(err, said, room - 1, 0);
	said[n] = 0;
	return ret;
}

/* Compute the values in double, directly by the definition */
static void expected_values(uint64_t seed, const float state[AGENT_STATE],
			    double values[AGENT_ACTIONS])
{
	double in[POLICY_WIDTH], out[POLICY_WIDTH];
	int l, i, j;

	for (i = 0; i < AGENT_STATE; i++)
		in[i] = state[i];
	for (l = 0; l < 3; l++) {
		for (j = 0; j < layers[l + 1]; j++) {
			out[j] = small(&seed);
			for (i = 0; i < layers[l]; i++)
				out[j] += small(&seed) * in[i];
			if (l < 2 && out[j] < 0)
				out[j] = 0;
		}
		memcpy(in, out, sizeof(in));
	}
	memcpy(values, out, AGENT_ACTIONS * sizeof(*values));
}

void test_policy(void)
{
	static char text[FILE_SIZE], said[256];
	float state[AGENT_STATE], values[AGENT_ACTIONS];
	double wanted[AGENT_ACTIONS];
	struct policy p;
	int len, i;

	len = sprintf(text, "# first\n%s# any\n#\n%s%s%s%s", HEAD, SHAPE,
		      INTERVAL, REWARD, "fiber_m 70 70\n");
	len += write_layers(text + len, 99);
	len += sprintf(text + len, "end\n");
	check(!read_text(&p, text, len, said, sizeof(said)));
	check_text(__LINE__, said, "");
	check(p.interval_ns == 5000000 && p.reward == AGENT_REWARD_LITERAL);
	check(p.fiber_min_m == 70 && p.fiber_max_m == 70);
	for (i = 0; i < AGENT_STATE; i++)
		state[i] = (i % 9) / 8.0f;
	policy_values(&p, state, values);
	expected_values(99, state, wanted);
	for (i = 0; i < AGENT_ACTIONS; i++)
		check(values[i] == wanted[i]);
	/* one path through the network by hand: 0.5 + 2 * 0.25, 3 - 1 and
	 * 4 * 2 - 1
	 */
	p = (struct policy){ .bias3 = { [7] = -1, [8] = -2 } };
	p.bias1[3] = 0.5;
	p.weights1[25][3] = 2;
	p.bias2[31] = 3;
	p.weights2[3][31] = -1;
	p.weights3[31][7] = 4;
	memset(state, 0, sizeof(state));
	state[25] = 0.25;
	policy_values(&p, state, values);
	for (i = 0; i < AGENT_ACTIONS; i++)
		check(values[i] == (i == 7 ? 7 : i == 8 ? -2 : 0));
	check(policy_best(values) == 7);
	/* a hidden neuron below 0 is 0 */
	state[25] = 10;
	policy_values(&p, state, values);
	check(values[7] == -1 && policy_best(values) == 0);
}

/* Check that a policy that begins with @header is refused with @why */
static void refused(int line, const char *header, const char *why)
{
	static char text[FILE_SIZE];
	char said[256], wanted[256], *name;
	struct policy p;
	int len;

	len = sprintf(text, "%s", header);
	len += write_layers(text + len, 1);
	len += sprintf(text + len, "end\n");
	check(read_text(&p, text, len, said, sizeof(said)) == EXIT_FAILURE);
	name = strchr(said, ':');
	name = name ? strchr(name + 1, ':') : NULL;
	snprintf(wanted, sizeof(wanted), "%s\n", why);
	check_text(line, name ? name + 1 : said, wanted);
}

void test_policy_refused(void)
{
	static char text[FILE_SIZE];
	char said[256], *at;
	struct policy p;
	int len, head;

	refused(__LINE__, "iqcn-policy 2\n" SHAPE INTERVAL REWARD,
		"1: not a policy of version 1");
	refused(__LINE__, "\177ELF\n", "1: not a policy of version 1");
	refused(__LINE__, HEAD "shape 26 32 25\n" INTERVAL REWARD,
		"2: the shape is not 26 32 32 25");
	refused(__LINE__, HEAD SHAPE REWARD,
		"3: \"interval_ns\" is missing");
	refused(__LINE__, HEAD SHAPE "interval_ns 999999\n" REWARD,
		"3: interval_ns must be 1000000 to 1000000000");
	refused(__LINE__, HEAD SHAPE "interval_ns 1ms\n" REWARD,
		"3: interval_ns must be 1000000 to 1000000000");
	refused(__LINE__, HEAD SHAPE "interval_ns \n" REWARD,
		"3: interval_ns must be 1000000 to 1000000000");
	refused(__LINE__, HEAD SHAPE "interval_ns -18446744073708551616\n" REWARD,
		"3: interval_ns must be 1000000 to 1000000000");
	refused(__LINE__, HEAD SHAPE INTERVAL "reward most\n",
		"4: reward must be few or literal");
	refused(__LINE__, HEAD SHAPE INTERVAL REWARD "end\n",
		"5: \"fiber_m\" is missing");
	for (len = 0; len < 6; len++) {
		static const char *const bad[] = {
			"1", "2 1", "-1 2", "1  2", "1 2 3", "1 100000001",
		};
		snprintf(text, sizeof(text),
			 HEAD SHAPE INTERVAL REWARD "fiber_m %s\n", bad[len]);
		refused(__LINE__, text,
			"5: fiber_m must be two lengths, 0 to 100000000");
	}
	/* one neuron too many, and one too few */
	head = sprintf(text, HEAD SHAPE INTERVAL REWARD FIBERS);
	len = head + write_layers(text + head, 1);
	strcpy(text + len, "0x0p+0\nend\n");
	check(read_text(&p, text, strlen(text), said, sizeof(said)));
	check(strstr(said, ":95: too many neurons\n"));
	at = memrchr(text, '\n', len - 1) + 1;
	strcpy(at, "end\n");
	check(read_text(&p, text, strlen(text), said, sizeof(said)));
	check(strstr(said, ":94: not a hexadecimal number from -0x1p+20 to 0x1p+20\n"));
	/* the first number, which is a bias */
	for (len = 0; len < 8; len++) {
		static const char *const bad[] = {
			"nan", "inf", "0x1p+128", "0.5", " 0x1p+0", "0x",
			"+0x1p+0", "0x1.f8",
		};
		head = sprintf(text, HEAD SHAPE INTERVAL REWARD FIBERS
			       "%s 0x1p+0\n",
			       bad[len]);
		check(read_text(&p, text, head, said, sizeof(said)));
		check(strstr(said, ":6: not a hexadecimal number from -0x1p+20 to 0x1p+20\n"));
	}
	check(read_text(&p, HEAD "a\0b\n", sizeof(HEAD) + 3, said, sizeof(said)));
	check(strstr(said, ":2: not a policy: the line contains a null byte\n"));
	memset(text, '0', 3000);
	check(read_text(&p, text, 3000, said, sizeof(said)));
	check(strstr(said, ":1: not a policy: the line is too long\n"));
	/* text after the end */
	head = sprintf(text, HEAD SHAPE INTERVAL REWARD FIBERS);
	len = head + write_layers(text + head, 1);
	strcpy(text + len, "end\n\n");
	check(read_text(&p, text, strlen(text), said, sizeof(said)));
	check(strstr(said, ":96: there is text after \"end\"\n"));
}

/* A truncated policy is refused with one line, wherever it ends */
void test_policy_truncated(void)
{
	static char text[FILE_SIZE];
	char said[256];
	struct policy p;
	int len, i;

	len = sprintf(text, HEAD SHAPE INTERVAL REWARD FIBERS);
	len += write_layers(text + len, 1);
	len += sprintf(text + len, "end\n");
	for (i = 0; i < len; i++) {
		check(read_text(&p, text, i, said, sizeof(said)));
		check(strstr(said, ": the policy is truncated\n"));
		check(strchr(said, '\n') == said + strlen(said) - 1);
	}
	check(!read_text(&p, text, len, said, sizeof(said)));
}

/* A policy with changed bytes is refused, or has finite values */
void test_policy_noise(void)
{
	static char text[FILE_SIZE], copy[FILE_SIZE];
	uint64_t seed = 1;
	char said[256];
	struct policy p;
	int len, i;

	len = sprintf(text, HEAD SHAPE INTERVAL REWARD FIBERS);
	len += write_layers(text + len, 1);
	len += sprintf(text + len, "end\n");
	for (i = 0; i < NOISE_ROUNDS; i++) {
		memcpy(copy, text, len);
		do {
			copy[agent_random(&seed) % len] = agent_random(&seed);
		} while (agent_random(&seed) % 4);
		if (read_text(&p, copy, len, said, sizeof(said)))
			check(strchr(said, '\n') == said + strlen(said) - 1);
		else
			check(isfinite(p.weights1[25][31]) && !*said);
	}
}
