/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of the namespace in Prometheus' text formats.
 */
#ifndef _IQCN_EXPOSITION_H
#define _IQCN_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "object.h"

struct state {
	const char *tool_version;
	const char *module_version;
	bool up;	/* the module answered; else the lists are not valid */
	time_t time;
	uint64_t queues_ns;	/* time of day when the queues were read */
	struct port *ports;
	struct queue *queues;
	struct flow *flows;
	size_t n_ports, n_queues, n_flows;
};

/* Large enough for the labels of any object */
#define EXPOSITION_LABELS 512

/* Writes the labels that identify a queue */
void exposition_queue(char *buf, uint32_t ifindex, uint32_t parent);
/* @s must not contain an object twice */
void exposition(FILE *f, const struct state *s, bool openmetrics);

#endif /* _IQCN_EXPOSITION_H */
