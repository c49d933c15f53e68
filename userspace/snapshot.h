/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of all ports and queues, to compare with a later one.
 */
#ifndef _IQCN_SNAPSHOT_H
#define _IQCN_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "genl.h"
#include "object.h"

#define NS_PER_S UINT64_C(1000000000)

struct snapshot {
	uint64_t time_ns;	/* 0: empty */
	struct port *ports;
	size_t n_ports;
	struct queue *queues;
	size_t n_queues;
};

/* CLOCK_MONOTONIC, like the kernel's times */
uint64_t now_ns(void);

/* Replaces the contents of @s; @ifindex 0 means all devices.  Returns errors of
 * genl_ports() and genl_queues().
 */
int snapshot_take(struct snapshot *s, struct genl *g, uint32_t ifindex);
void snapshot_free(struct snapshot *s);

/* Queue @i of @s in @before, or NULL if it did not exist */
const struct queue *snapshot_queue(const struct snapshot *before,
				   const struct snapshot *s, size_t i);

/* The increase of a counter, which restarted at 0 if it is lower than before */
uint64_t risen(uint64_t before, uint64_t now);

#endif /* _IQCN_SNAPSHOT_H */
