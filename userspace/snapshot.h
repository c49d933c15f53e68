/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All ports and queues at one time, to be compared with those of another.
 */
#ifndef _IQCN_SNAPSHOT_H
#define _IQCN_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "genl.h"
#include "object.h"

#define NS_PER_S UINT64_C(1000000000)

struct snapshot {
	uint64_t time_ns;	/* 0: there is none */
	struct port *ports;
	size_t n_ports;
	struct queue *queues;
	size_t n_queues;
};

/* Of CLOCK_MONOTONIC, which the kernel's times are of, too */
uint64_t now_ns(void);

/* Takes the place of what was in @s; of all devices if @ifindex is 0.  Errors are
 * genl's.
 */
int snapshot_take(struct snapshot *s, struct genl *g, uint32_t ifindex);
void snapshot_free(struct snapshot *s);

/* What queue @i of @s was in @before, NULL: it was not there */
const struct queue *snapshot_queue(const struct snapshot *before,
				   const struct snapshot *s, size_t i);

/* What a counter has risen by; it began anew if it is less than it was */
uint64_t risen(uint64_t before, uint64_t now);

#endif /* _IQCN_SNAPSHOT_H */
