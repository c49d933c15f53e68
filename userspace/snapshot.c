// SPDX-License-Identifier: GPL-2.0
/*
 * The state of all ports and queues.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "snapshot.h"

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* Drop all other ports, because genl_ports() returns all ports */
static void keep_port(struct snapshot *s, uint32_t ifindex)
{
	size_t i, n = 0;

	for (i = 0; i < s->n_ports; i++)
		if (s->ports[i].ifindex == ifindex)
			s->ports[n++] = s->ports[i];
	s->n_ports = n;
}

int snapshot_take(struct snapshot *s, struct genl *g, uint32_t ifindex)
{
	int err;

	snapshot_free(s);
	s->time_ns = now_ns();
	err = genl_ports(g, &s->ports, &s->n_ports);
	if (err)
		return err;
	if (ifindex)
		keep_port(s, ifindex);
	return genl_queues(g, ifindex, 0, &s->queues, &s->n_queues);
}

void snapshot_free(struct snapshot *s)
{
	free(s->ports);
	free(s->queues);
	memset(s, 0, sizeof(*s));
}

const struct queue *snapshot_queue(const struct snapshot *before,
				   const struct snapshot *s, size_t i)
{
	const struct queue *q = &s->queues[i], *b;
	size_t n;

	/* usually the queue has the same index in both snapshots */
	for (n = before->n_queues; n; n--, i++) {
		b = &before->queues[i % before->n_queues];
		if (b->dev == q->dev && b->parent == q->parent)
			return b;
	}
	return NULL;
}

uint64_t risen(uint64_t before, uint64_t now)
{
	return now < before ? now : now - before;
}
