// SPDX-License-Identifier: GPL-2.0
/*
 * Totals of the agent since its start.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentmetrics.h"
#include "exposition.h"
#include "iqcn.h"
#include "out.h"
#include "replace.h"

#define WRITE_NS 1000000000

void agent_totals_add(struct agent_totals *t, const struct agent_step *s,
		      const struct agent_sample *before,
		      const struct agent_sample *now, int action)
{
	t->steps++;
	t->reward += s->reward;
	t->utilization += s->utilization;
	if (now->depth_bytes > t->depth_peak_bytes)
		t->depth_peak_bytes = now->depth_bytes;
	t->drops += now->drops - before->drops;
	if (action != AGENT_NONE)
		t->actions[action]++;
}

static void place_text(char *buf, size_t size, uint32_t ifindex, uint32_t parent)
{
	char p[VALUE_SIZE];

	value_text(p, FORM_PARENT, NULL, parent);
	snprintf(buf, size, "%s %s%s", dev_escaped(ifindex),
		 strcmp(p, "root") ? "parent " : "", p);
}

void agent_totals_print(const struct agent_totals *t, uint32_t ifindex,
			uint32_t parent)
{
	char place[2 * VALUE_SIZE], peak[VALUE_SIZE];

	place_text(place, sizeof(place), ifindex, parent);
	size_text(peak, t->depth_peak_bytes);
	printf("%s: %" PRIu64 " steps, reward %.4f, utilization %.4f, peak %s, ",
	       place, t->steps, t->reward / t->steps,
	       t->utilization / t->steps, peak);
	printf("%" PRIu64 " drops, %" PRIu64 " fallbacks\n", t->drops,
	       t->fallbacks);
}

static void add_number(struct json_object *o, const char *key, uint64_t v)
{
	json_add(o, key, value_json(FORM_NUMBER, NULL, v));
}

void agent_totals_json(const struct agent_totals *t, uint32_t ifindex,
		       uint32_t parent)
{
	struct json_object *o = json_object_new_object();
	struct json_object *actions = json_object_new_array();
	int i;

	json_add(o, "dev", value_json(FORM_DEV, NULL, ifindex));
	json_add(o, "parent", value_json(FORM_PARENT, NULL, parent));
	add_number(o, "steps", t->steps);
	json_add(o, "reward", json_object_new_double(t->reward / t->steps));
	json_add(o, "utilization",
		 json_object_new_double(t->utilization / t->steps));
	add_number(o, "depth_peak_bytes", t->depth_peak_bytes);
	add_number(o, "drops", t->drops);
	add_number(o, "fallbacks", t->fallbacks);
	for (i = 0; i < AGENT_ACTIONS; i++)
		json_object_array_add(actions,
				      json_object_new_int64(t->actions[i]));
	json_add(o, "actions", actions);
	json_line(o);
}

bool agent_totals_due(struct agent_totals *t, uint64_t now_ns, bool now)
{
	if (!now && t->written_ns && now_ns - t->written_ns < WRITE_NS)
		return false;
	t->written_ns = now_ns;
	return true;
}

static void metric(FILE *f, const char *name, const char *type,
		   const char *labels, const char *help, double v)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n%s{%s} %.17g\n", name, help,
		name, type, name, labels, v);
}

static void write_metrics(FILE *f, const char *labels, enum agent_mode mode,
			  const struct agent_totals *t)
{
	int i;

	metric(f, "iqcn_agent_steps_total", "counter", labels,
	       "Steps of the agent.", t->steps);
	metric(f, "iqcn_agent_reward_total", "counter", labels,
	       "Sum of the rewards of these steps.", t->reward);
	metric(f, "iqcn_agent_fallbacks_total", "counter", labels,
	       "How often the agent fell back to the values of tc.",
	       t->fallbacks);
	metric(f, "iqcn_agent_acting", "gauge", labels,
	       "1 while the agent sets the filter and the supplements.",
	       mode == AGENT_MODE_RUN);
	fputs("# HELP iqcn_agent_actions_total Steps by chosen action, which the guard may raise.\n"
	      "# TYPE iqcn_agent_actions_total counter\n", f);
	for (i = 0; i < AGENT_ACTIONS; i++)
		fprintf(f, "%s{%s,rate=\"%u\",supplement=\"%u\"} %" PRIu64 "\n",
			"iqcn_agent_actions_total", labels, agent_rates_pps[i / AGENT_SUPPLEMENTS],
			agent_supplements_pps[i % AGENT_SUPPLEMENTS],
			t->actions[i]);
}

int agent_metrics(const char *file, uint32_t ifindex, uint32_t parent,
		  enum agent_mode mode, const struct agent_totals *t)
{
	char labels[EXPOSITION_LABELS], *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret;

	exposition_queue(labels, ifindex, parent);
	if (f)
		write_metrics(f, labels, mode, t);
	ret = !f || fclose(f) ? fail("metrics", strerror(ENOMEM)) :
				replace_file(file, text, len);
	free(text);
	return ret;
}
