// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn agent: set the filter and the supplements of a long-haul link according
 * to a learned policy.
 *
 *	every interval:
 *	  sample the queue -> step, reward, state  (agentport.c, agentlaw.h)
 *	       |
 *	       v
 *	  action: random, fixed, or of the policy (policy.c) or another program
 *	       |
 *	       |-- audit, fallback: no action		(agenttrust.h)
 *	       v
 *	  enough CNPs before and in a burst		(agentguard.h)
 *	       |
 *	       v
 *	  lease: if the agent dies, the values of tc apply again
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "agentguard.h"
#include "agentlog.h"
#include "agentmetrics.h"
#include "agentport.h"
#include "agenttrust.h"
#include "iqcn.h"
#include "out.h"
#include "policy.h"
#include "signals.h"
#include "snapshot.h"

#define INTERVAL_NS 1000000
#define LEASE_NS 100000000
#define EXPLORE_STEPS 20
#define METRICS_RETRY_NS UINT64_C(60000000000)

struct agent {
	/* arguments */
	enum agent_mode mode;
	const char *policy_file;	/* NULL: none, "-": stdin */
	int action;			/* fixed; AGENT_NONE: use the policy */
	const char *log_file;
	const char *metrics_file;
	uint64_t interval_ns;		/* 0: the policy's, or INTERVAL_NS */
	uint64_t lease_ns;
	uint64_t count;			/* steps; 0: no limit */
	double explore;
	uint64_t seed;
	int reward;			/* AGENT_NONE: the policy's reward */
	bool json;

	struct agent_port port;
	struct policy policy;
	struct agent_history history;
	struct agent_trust trust;
	struct agent_guard guard;
	struct agent_sample before;
	uint64_t step;			/* intervals since the start */
	int explored;			/* the random action being explored */
	int exploring;			/* further steps with @explored */
	bool ended;			/* by a signal or the end of stdin */
	FILE *log;
	int signals;
	struct agent_totals totals;
	uint64_t no_metrics_ns;		/* after an error: when to try again */
};

static bool has_policy(const struct agent *a)
{
	return a->policy_file && strcmp(a->policy_file, "-");
}

/* Read a byte from another program.  Returns false at the end of the file, and
 * if a signal arrives first.
 */
static bool read_byte(struct agent *a, char *c)
{
	struct pollfd p[] = { { STDIN_FILENO, POLLIN }, { a->signals, POLLIN } };

	/* after EINTR, the handler has made the descriptor readable */
	while (poll(p, ARRAY_SIZE(p), -1) < 0 && errno == EINTR)
		;
	return !p[1].revents && read(STDIN_FILENO, c, 1) == 1;
}

/* Read a line with its newline.  A line that is too long is cut, and lacks its
 * newline.  Do not use stdio, which signals could not interrupt.
 */
static bool read_line(struct agent *a, char *line, size_t size)
{
	size_t len = 0;
	char c;

	do {
		if (!read_byte(a, &c))
			return false;
		if (len < size - 1)
			line[len++] = c;
	} while (c != '\n');
	line[len] = '\0';
	return true;
}

/* Write the row to stdout, and read the action of another program from stdin */
static int ask_action(struct agent *a, const struct agent_row *r, int *action)
{
	char line[16], *end;
	long n;

	agent_log(stdout, r);
	if (fflush(stdout))
		return EXIT_FAILURE;
	if (!read_line(a, line, sizeof(line))) {
		a->ended = true;
		return EXIT_SUCCESS;
	}
	n = strtol(line, &end, 10);
	if (end == line || *end != '\n' || n < 0 || n >= AGENT_ACTIONS)
		return fail("action on stdin", "not a number from 0 to 24");
	*action = n;
	return EXIT_SUCCESS;
}

/* Draw whether to explore, and a random action.  Both are drawn in each step,
 * so that later draws do not depend on whether this step explores.  An action
 * has little effect within one step, so it is kept for EXPLORE_STEPS.
 * a->explore is the share of steps that explore.
 */
static bool explores(struct agent *a, int *action)
{
	double draw = (agent_random(&a->seed) >> 11) * 0x1p-53;
	int any = (agent_random(&a->seed) >> 33) % AGENT_ACTIONS;

	if (a->exploring) {
		a->exploring--;
	} else if (draw * (EXPLORE_STEPS - a->explore * (EXPLORE_STEPS - 1)) <
		   a->explore) {
		a->exploring = EXPLORE_STEPS - 1;
		a->explored = any;
	} else {
		return false;
	}
	*action = a->explored;
	return true;
}

/* Compare the policy with the values of tc, unless the agent runs without a
 * policy file, only observes, or has --explore
 */
static void check_trust(struct agent *a, const struct agent_step *s,
			const struct agent_sample *now)
{
	static const enum agent_mode modes[] = {
		[AGENT_POLICY] = AGENT_MODE_RUN,
		[AGENT_AUDIT] = AGENT_MODE_AUDIT,
		[AGENT_FALLBACK] = AGENT_MODE_FALLBACK,
	};
	enum agent_mode mode;

	if (a->mode == AGENT_MODE_OBSERVE || !has_policy(a) || a->explore > 0)
		return;
	mode = modes[agent_trust_step(&a->trust, &a->before, now, s->reward)];
	if (mode == AGENT_MODE_FALLBACK && mode != a->mode) {
		a->totals.fallbacks++;
		fail(a->port.name, "the policy is worse than the values of tc: fallback");
	}
	a->mode = mode;
}

/* Refuse to act on a fiber whose length the policy was not trained for: there,
 * the policy may be worse than any fixed action, and packets would be lost
 * before an audit shows that
 */
static int check_fiber(const struct agent *a)
{
	const struct policy *p = &a->policy;
	char why[96];

	if (!a->port.acts || (a->port.place.fiber_m >= p->fiber_min_m &&
			      a->port.place.fiber_m <= p->fiber_max_m))
		return EXIT_SUCCESS;
	snprintf(why, sizeof(why),
		 "the policy was trained for fibers of %u m to %u m",
		 p->fiber_min_m, p->fiber_max_m);
	return fail(a->port.name, why);
}

static int choose(struct agent *a, struct agent_row *r)
{
	float values[AGENT_ACTIONS];

	r->action = a->action;
	if (!a->policy_file)
		return EXIT_SUCCESS;
	if (!has_policy(a))
		return ask_action(a, r, &r->action);
	if (check_fiber(a))
		return EXIT_FAILURE;
	policy_values(&a->policy, r->state, values);
	r->action = policy_best(values);
	r->explored = a->mode == AGENT_MODE_RUN && explores(a, &r->action);
	return EXIT_SUCCESS;
}

static int act(struct agent *a, const struct agent_row *r,
	       const struct agent_sample *now)
{
	struct agent_needs needs = agent_guard_step(&a->guard, &a->port.place,
						    &a->before, now);
	int action = r->action;

	if (a->mode == AGENT_MODE_OBSERVE)
		return EXIT_SUCCESS;
	if (a->mode != AGENT_MODE_RUN)
		return agent_port_release(&a->port);
	/* Only a policy is guarded.  The log contains the action of the policy,
	 * not that of the guard, because a policy is trained from the log, and
	 * training treats the guard as a part of the link.
	 */
	if (has_policy(a))
		action = agent_guard_action(&a->before, now, action);
	else
		needs = (struct agent_needs){};
	return agent_port_set(&a->port, action, needs, now->flows);
}

static int step(struct agent *a)
{
	struct agent_sample now;
	struct agent_step happened;
	float state[AGENT_STATE];
	struct agent_row row = {
		.step = a->step,
		.happened = &happened,
		.state = state,
	};

	if (agent_port_sample(&a->port, &now))
		return EXIT_FAILURE;
	/* a new queue has replaced the old one: discard what was measured */
	if (agent_restarted(&a->before, &now)) {
		a->before = now;
		a->history = (struct agent_history){};
		a->trust = (struct agent_trust){};
		a->guard = (struct agent_guard){};
		return EXIT_SUCCESS;
	}
	happened = agent_observe(&a->port.place, &a->before, &now, a->reward);
	agent_state(&a->history, &a->port.place, &happened, state);
	check_trust(a, &happened, &now);
	row.time_ns = now.time_ns;
	row.depth_bytes = now.depth_bytes;
	row.mode = a->mode;
	if (choose(a, &row))
		return EXIT_FAILURE;
	if (a->ended)
		return EXIT_SUCCESS;
	if (act(a, &row, &now))
		return EXIT_FAILURE;
	if (a->log)
		agent_log(a->log, &row);
	agent_totals_add(&a->totals, &happened, &a->before, &now,
			 a->mode == AGENT_MODE_RUN ? row.action : AGENT_NONE);
	a->before = now;
	return EXIT_SUCCESS;
}

/* Wait until @ns; returns false if a signal arrived */
static bool wait_until(struct agent *a, uint64_t ns)
{
	struct pollfd p = { a->signals, POLLIN };
	uint64_t now = now_ns();
	struct timespec left = {};

	if (ns > now) {
		left.tv_sec = (ns - now) / 1000000000;
		left.tv_nsec = (ns - now) % 1000000000;
	}
	/* a signal also interrupts the wait */
	return !ppoll(&p, 1, &left, NULL);
}

/* @end: the last metrics of this run.  If a write fails, such as on a full
 * disk, the agent continues, and tries again after a minute.
 */
static int write_metrics(struct agent *a, bool end)
{
	if (!a->metrics_file ||
	    (!end && a->before.time_ns < a->no_metrics_ns) ||
	    !agent_totals_due(&a->totals, a->before.time_ns, end))
		return EXIT_SUCCESS;
	if (!agent_metrics(a->metrics_file, a->port.ifindex, a->port.parent,
			   end ? AGENT_MODE_OBSERVE : a->mode, &a->totals))
		return EXIT_SUCCESS;
	a->no_metrics_ns = a->before.time_ns + METRICS_RETRY_NS;
	return end ? EXIT_FAILURE : fail("metrics", "none for a minute");
}

/* Steps are at multiples of the interval.  A step is skipped if the time of the
 * next one has passed, too.
 */
static int steps(struct agent *a)
{
	uint64_t next_ns = now_ns(), now, late;

	if (agent_port_sample(&a->port, &a->before))
		return EXIT_FAILURE;
	while (!a->ended && (!a->count || a->totals.steps < a->count)) {
		next_ns += a->interval_ns;
		now = now_ns();
		late = next_ns < now ? (now - next_ns) / a->interval_ns : 0;
		next_ns += late * a->interval_ns;
		a->step += late;
		if (!wait_until(a, next_ns))
			break;
		if (step(a) || out_closed())
			return EXIT_FAILURE;
		a->step++;
		write_metrics(a, false);
	}
	return EXIT_SUCCESS;
}

static int open_log(struct agent *a)
{
	if (a->policy_file && !has_policy(a))
		agent_log_header(stdout);
	if (!a->log_file)
		return EXIT_SUCCESS;
	a->log = fopen(a->log_file, "we");
	if (!a->log)
		return fail(a->log_file, strerror(errno));
	agent_log_header(a->log);
	return EXIT_SUCCESS;
}

static int close_log(struct agent *a)
{
	bool bad;

	if (!a->log)
		return EXIT_SUCCESS;
	bad = ferror(a->log);
	return fclose(a->log) || bad ? fail(a->log_file, strerror(errno)) :
				       EXIT_SUCCESS;
}

static void summarize(const struct agent *a)
{
	/* with --policy -, another program reads stdout: print no totals */
	if (a->policy_file && !has_policy(a))
		return;
	if (a->json)
		agent_totals_json(&a->totals, a->port.ifindex, a->port.parent);
	else
		agent_totals_print(&a->totals, a->port.ifindex, a->port.parent);
}

static int read_policy(struct agent *a)
{
	if (has_policy(a) && policy_read(&a->policy, a->policy_file))
		return EXIT_FAILURE;
	if (!a->interval_ns)
		a->interval_ns = has_policy(a) ? a->policy.interval_ns :
						 INTERVAL_NS;
	if (has_policy(a) && a->interval_ns != a->policy.interval_ns)
		return fail(a->policy_file, "trained with another interval; omit --interval");
	if (a->reward == AGENT_NONE)
		a->reward = a->policy.reward;
	/* an audit would compare rewards that the policy was not trained for */
	if (has_policy(a) && a->reward != (int)a->policy.reward)
		return fail(a->policy_file, "trained with another reward; omit --reward");
	return EXIT_SUCCESS;
}

static int work(struct agent *a, uint32_t ifindex, uint32_t parent)
{
	char name[IF_NAMESIZE];
	int ret;

	/* let signals take effect only while the agent waits */
	a->signals = signals_open(false);
	if (a->signals < 0)
		return fail("signals", strerror(errno));
	prctl(PR_SET_TIMERSLACK, 1);
	a->port.acts = a->mode == AGENT_MODE_RUN;
	a->port.lease_ms = a->lease_ns / 1000000;
	a->port.renew_ns = a->lease_ns / 2 + a->interval_ns;
	ret = agent_port_open(&a->port, ifindex, parent) || open_log(a) ||
	      steps(a);
	if (ret)
		agent_port_abandon(&a->port);
	else
		ret = agent_port_release(&a->port);
	if (close_log(a))
		ret = EXIT_FAILURE;
	if (!if_indextoname(a->port.ifindex, name))
		dev_remember(a->port.ifindex, a->port.name);
	if (a->totals.steps && write_metrics(a, true))
		ret = EXIT_FAILURE;
	if (a->totals.steps)
		summarize(a);
	return ret;
}

static int agent(struct agent *a, int n, char **words)
{
	uint32_t ifindex = 0, parent = 0;
	int ret = n ? parse_place(n, words, &ifindex, &parent) : 0;

	if (!ret)
		ret = read_policy(a);
	if (ret)
		return ret;
	if (a->mode == AGENT_MODE_RUN && a->lease_ns <= a->interval_ns)
		return fail("--lease", "must be longer than the interval");
	ret = work(a, ifindex, parent);
	agent_port_close(&a->port);
	return ret;
}

static bool read_state(const char *line, float state[AGENT_STATE])
{
	char *end;
	int i;

	for (i = 0; i < AGENT_STATE; i++) {
		state[i] = strtof(line, &end);
		if (end == line || *end != (i < AGENT_STATE - 1 ? ',' : '\n') ||
		    !isfinite(state[i]))
			return false;
		line = end + 1;
	}
	return true;
}

/* Print the values of the actions for each state on stdin */
static int eval(struct agent *a)
{
	float state[AGENT_STATE], values[AGENT_ACTIONS];
	char line[1024];
	int i;

	if (read_policy(a))
		return EXIT_FAILURE;
	while (fgets(line, sizeof(line), stdin)) {
		if (!read_state(line, state))
			return fail("state on stdin",
				    "not 26 comma-separated numbers");
		policy_values(&a->policy, state, values);
		for (i = 0; i < AGENT_ACTIONS; i++)
			printf("%s%.9g", i ? "," : "", values[i]);
		putchar('\n');
	}
	return ferror(stdin) ? fail("stdin", strerror(errno)) : EXIT_SUCCESS;
}

enum {
	OPTION_POLICY = 256, OPTION_ACTION, OPTION_INTERVAL, OPTION_LEASE, OPTION_COUNT,
	OPTION_EXPLORE, OPTION_SEED, OPTION_REWARD, OPTION_LOG, OPTION_METRICS,
};

static const struct option options[] = {
	{ "policy", required_argument, NULL, OPTION_POLICY },
	{ "action", required_argument, NULL, OPTION_ACTION },
	{ "interval", required_argument, NULL, OPTION_INTERVAL },
	{ "lease", required_argument, NULL, OPTION_LEASE },
	{ "count", required_argument, NULL, OPTION_COUNT },
	{ "explore", required_argument, NULL, OPTION_EXPLORE },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "reward", required_argument, NULL, OPTION_REWARD },
	{ "log", required_argument, NULL, OPTION_LOG },
	{ "metrics", required_argument, NULL, OPTION_METRICS },
	{ }
};

static int parse_reward(const char *word, int *reward)
{
	for (*reward = 0; agent_reward_names[*reward]; ++*reward)
		if (!strcmp(word, agent_reward_names[*reward]))
			return EXIT_SUCCESS;
	return misuse("the reward must be few or literal, not", word);
}

static int parse_action(const char *word, int *action)
{
	char *end;
	long n = strtol(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || n >= AGENT_ACTIONS)
		return misuse("the action must be 0 to 24, not", word);
	*action = n;
	return EXIT_SUCCESS;
}

static int parse_share(const char *word, double *v)
{
	char *end;

	*v = strtod(word, &end);
	return end != word && !*end && *v >= 0 && *v <= 1 ?
		       EXIT_SUCCESS :
		       misuse("the share must be 0 to 1, not", word);
}

static int parse_option(struct agent *a, int c)
{
	int ret;

	switch (c) {
	case 'j':
		a->json = true;
		return EXIT_SUCCESS;
	case OPTION_POLICY:
		a->policy_file = optarg;
		return EXIT_SUCCESS;
	case OPTION_ACTION:
		return parse_action(optarg, &a->action);
	case OPTION_LOG:
		a->log_file = optarg;
		return EXIT_SUCCESS;
	case OPTION_METRICS:
		a->metrics_file = optarg;
		return EXIT_SUCCESS;
	case OPTION_INTERVAL:
		return parse_interval(optarg, &a->interval_ns);
	case OPTION_LEASE:
		ret = parse_interval(optarg, &a->lease_ns);
		/* round down: the kernel takes whole milliseconds */
		a->lease_ns -= a->lease_ns % 1000000;
		return ret;
	case OPTION_COUNT:
		return parse_count(optarg, &a->count);
	case OPTION_EXPLORE:
		return parse_share(optarg, &a->explore);
	case OPTION_SEED:
		return parse_count(optarg, &a->seed);
	case OPTION_REWARD:
		return parse_reward(optarg, &a->reward);
	default:
		return EXIT_USAGE;
	}
}

int cmd_agent(int argc, char **argv)
{
	struct agent a = { .lease_ns = LEASE_NS, .seed = 1, .reward = AGENT_NONE,
			   .action = AGENT_NONE };
	const char *word;
	int c, ret;

	while ((c = next_option(argc, argv, options)) != -1) {
		ret = parse_option(&a, c);
		if (ret)
			return ret;
	}
	if (optind == argc)
		return misuse("missing run, observe or eval after", argv[0]);
	word = argv[optind++];
	if (!strcmp(word, "run"))
		a.mode = AGENT_MODE_RUN;
	else if (strcmp(word, "observe") && strcmp(word, "eval"))
		return misuse("expected run, observe or eval, not", word);
	if (a.policy_file && a.action != AGENT_NONE)
		return misuse("--action excludes --policy", a.policy_file);
	if (!a.policy_file && (*word == 'e' || (*word == 'r' && a.action == AGENT_NONE)))
		return misuse("missing --policy after", word);
	if (a.explore > 0 && a.mode != AGENT_MODE_RUN)
		return misuse("--explore is for run, not", word);
	if (!has_policy(&a) && (a.explore > 0 || *word == 'e'))
		return misuse("the policy must be a file for", *word == 'e' ? word : "--explore");
	if (*word == 'e')
		return optind < argc ?
			       misuse("unexpected word", argv[optind]) :
			       eval(&a);
	return agent(&a, argc - optind, argv + optind);
}
