/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of iqcn monitor.
 */
#ifndef _IQCN_RECORD_H
#define _IQCN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object.h"

struct record {
	uint64_t time_ns;
	/* one of these is set; both are NULL if out of memory */
	struct json_object *json;
	char *text;
	bool event;
};

/* @cmd: IQCN_CMD_*_NTF */
void record_event(struct record *r, bool json, const struct event *e, int cmd);
/* @before: the same queue in the previous sample, or NULL */
void record_sample(struct record *r, bool json, uint64_t time_ns,
		   const struct queue *q, const struct queue *before);
/* @group: the group whose events the kernel dropped; NULL if the tool did not
 * read fast enough, which loses an unknown number of events
 */
void record_lost(struct record *r, bool json, uint64_t time_ns,
		 const char *group, uint64_t events);
/* @missed samples were not taken in time */
void record_late(struct record *r, bool json, uint64_t time_ns,
		 uint64_t missed);

/* Does not free @r */
void record_write(const struct record *r);
void record_free(struct record *r);

/* Sorted by time; initialize with 0 */
struct records {
	struct record *list;
	size_t n, room;
};

/* Takes ownership of @r, on error too */
int records_add(struct records *rs, struct record *r);
/* Removes and frees the first @n */
void records_drop(struct records *rs, size_t n);
void records_free(struct records *rs);

#endif /* _IQCN_RECORD_H */
