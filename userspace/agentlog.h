/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log of the agent, from which a policy can be trained: CSV with a header
 * and one line per step.
 *
 * A line contains the state at the end of a step; the reward of that step,
 * which results from the action in the previous line if its mode is run, else
 * from the values of tc; and the next action, or -1 if there is none.  In modes
 * other than run, the action is logged, but not taken.  Steps that the agent
 * skipped because it was late are missing.  Numbers are printed with 9 digits,
 * so that a reader gets the same floats.
 */
#ifndef _IQCN_AGENTLOG_H
#define _IQCN_AGENTLOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agentlaw.h"

/* Modes of the agent.  It takes actions only in mode run */
enum agent_mode {
	AGENT_MODE_OBSERVE,
	AGENT_MODE_RUN,
	AGENT_MODE_AUDIT,
	AGENT_MODE_FALLBACK,
};

struct agent_row {
	uint64_t step;
	uint64_t time_ns;
	uint64_t depth_bytes;
	enum agent_mode mode;
	int action;
	bool explored;
	const struct agent_step *happened;
	const float *state;
};

void agent_log_header(FILE *f);
void agent_log(FILE *f, const struct agent_row *r);

#endif /* _IQCN_AGENTLOG_H */
