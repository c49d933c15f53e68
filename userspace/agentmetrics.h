/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Totals of the agent since its start, as a summary and as metrics for
 * Prometheus.
 */
#ifndef _IQCN_AGENTMETRICS_H
#define _IQCN_AGENTMETRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "agentlaw.h"
#include "agentlog.h"

struct agent_totals {
	uint64_t steps;
	uint64_t fallbacks;
	uint64_t drops;
	uint64_t depth_peak_bytes;	/* highest depth at the end of a step */
	uint64_t actions[AGENT_ACTIONS];
	double reward;			/* sums over all steps */
	double utilization;
	uint64_t written_ns;		/* when the metrics were last written */
};

void agent_totals_add(struct agent_totals *t, const struct agent_step *s,
		      const struct agent_sample *before,
		      const struct agent_sample *now, int action);
void agent_totals_print(const struct agent_totals *t, uint32_t ifindex,
			uint32_t parent);
void agent_totals_json(const struct agent_totals *t, uint32_t ifindex,
		       uint32_t parent);
/* Is it time to write the metrics?  True once a second, and always if @now.  If
 * true, the next second starts at @now_ns.
 */
bool agent_totals_due(struct agent_totals *t, uint64_t now_ns, bool now);
/* Replaces @file; prints an error and returns EXIT_FAILURE if that fails */
int agent_metrics(const char *file, uint32_t ifindex, uint32_t parent,
		  enum agent_mode mode, const struct agent_totals *t);

#endif /* _IQCN_AGENTMETRICS_H */
