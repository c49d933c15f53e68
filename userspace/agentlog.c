// SPDX-License-Identifier: GPL-2.0
/*
 * The log of the agent, as CSV.
 */
#include <inttypes.h>

#include "agentlog.h"

static const char *const modes[] = {
	[AGENT_MODE_OBSERVE] = "observe",
	[AGENT_MODE_RUN] = "run",
	[AGENT_MODE_AUDIT] = "audit",
	[AGENT_MODE_FALLBACK] = "fallback",
};

void agent_log_header(FILE *f)
{
	int i;

	fputs("step,time_ns,mode,action,explored,reward,utilization,", f);
	fputs("depth_term,supplement_term,depth_bytes,incast", f);
	for (i = 0; i < AGENT_STATE; i++)
		fprintf(f, ",s%d", i);
	fputc('\n', f);
}

void agent_log(FILE *f, const struct agent_row *r)
{
	const struct agent_step *s = r->happened;
	int i;

	fprintf(f, "%" PRIu64 ",%" PRIu64 ",%s,%d,%d,%.9g,%.9g,%.9g,%.9g,%" PRIu64 ",%.9g",
		r->step, r->time_ns, modes[r->mode], r->action, r->explored,
		s->reward, s->utilization, s->depth_term, s->supplement_term,
		r->depth_bytes, s->incast);
	for (i = 0; i < AGENT_STATE; i++)
		fprintf(f, ",%.9g", r->state[i]);
	fputc('\n', f);
}
