/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of the namespace as text for Prometheus.
 */
#ifndef _IQCN_EXPOSITION_H
#define _IQCN_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "object.h"

struct state {
	const char *tool_version;
	const char *module_version;
	bool up;	/* else there is nothing in what follows */
	time_t time;
	struct port *ports;
	struct queue *queues;
	struct flow *flows;
	size_t n_ports, n_queues, n_flows;
};

/* None of @s may be in it twice */
void exposition(FILE *f, const struct state *s, bool openmetrics);

#endif /* _IQCN_EXPOSITION_H */
