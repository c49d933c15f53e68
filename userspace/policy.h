/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy of the agent: a neural network that estimates the value of each
 * action.  A policy file is text:
 *
 *	iqcn-policy 1
 *	# any number of comments, anywhere before "end"
 *	shape 26 32 32 25
 *	interval_ns 1000000
 *	reward few|literal
 *	fiber_m 50000 1000000	shortest and longest fiber of the training
 *	BIAS WEIGHT...		one line per neuron, in printf's format %a
 *	end
 *
 * Hidden neurons are rectified (ReLU), outputs are not.
 */
#ifndef _IQCN_POLICY_H
#define _IQCN_POLICY_H

#include <stdint.h>

#include "agentlaw.h"

/* Neurons of a hidden layer; the output layer is padded to this width */
#define POLICY_WIDTH 32

struct policy {
	uint64_t interval_ns;
	enum agent_reward reward;
	uint32_t fiber_min_m;
	uint32_t fiber_max_m;
	/* weights are indexed by input first, so that the compiler can use
	 * vectors without reordering sums
	 */
	float bias1[POLICY_WIDTH], weights1[AGENT_STATE][POLICY_WIDTH];
	float bias2[POLICY_WIDTH], weights2[POLICY_WIDTH][POLICY_WIDTH];
	float bias3[POLICY_WIDTH], weights3[POLICY_WIDTH][POLICY_WIDTH];
};

extern const char *const agent_reward_names[];

/* Prints an error with the line number; returns EXIT_SUCCESS or EXIT_FAILURE */
int policy_read(struct policy *p, const char *file);
void policy_values(const struct policy *p, const float state[AGENT_STATE],
		   float values[AGENT_ACTIONS]);
/* The action with the highest value; if several have it, the lowest action */
int policy_best(const float values[AGENT_ACTIONS]);

#endif /* _IQCN_POLICY_H */
