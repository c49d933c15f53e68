/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What iqcn monitor writes, a line each.
 */
#ifndef _IQCN_RECORD_H
#define _IQCN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object.h"

struct record {
	uint64_t time_ns;
	/* either of them; NULL: there is no memory */
	struct json_object *json;
	char *text;
	bool event;
};

/* @cmd: IQCN_CMD_*_NTF */
void record_event(struct record *r, bool json, const struct event *e, int cmd);
/* @before: the same queue at the sample before, or NULL */
void record_sample(struct record *r, bool json, uint64_t time_ns,
		   const struct queue *q, const struct queue *before);
/* @group: whose events the kernel has not sent, NULL: they did not fit in the
 * socket, and nobody knows how many they were
 */
void record_lost(struct record *r, bool json, uint64_t time_ns,
		 const char *group, uint64_t events);
/* So many samples were not taken */
void record_late(struct record *r, bool json, uint64_t time_ns,
		 uint64_t missed);

/* Does not free it */
void record_write(const struct record *r);
void record_free(struct record *r);

/* In the order of their times, all 0 in the beginning */
struct records {
	struct record *list;
	size_t n, room;
};

/* Takes it, on error too */
int records_add(struct records *rs, struct record *r);
/* The first @n, which are freed */
void records_drop(struct records *rs, size_t n);
void records_free(struct records *rs);

#endif /* _IQCN_RECORD_H */
