/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of qdiscs at the last "iqcn clear", for this user.
 *
 * The kernel does not reset counters, because other readers, such as
 * Prometheus, rely on them.  So "iqcn clear" stores them, as nstat(8) does, and
 * "iqcn show" subtracts them.
 */
#ifndef _IQCN_BASELINE_H
#define _IQCN_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qdisc.h"

struct baseline {
	uint32_t ifindex;
	uint32_t parent;
	uint32_t handle;
	uint64_t time_ns;	/* of CLOCK_BOOTTIME */
	struct stats stats;	/* counters and sent; the rest is 0 */
};

/* Zero-initialize */
struct baselines {
	struct baseline *list;
	size_t n, room;
};

/* Load the baselines of this network namespace; none if the file is unreadable
 */
void baselines_load(struct baselines *b);
void baselines_free(struct baselines *b);
/* Replace the file of this network namespace.  On failure, prints an error and
 * returns EXIT_FAILURE.
 */
int baselines_save(const struct baselines *b);

/* Fill @one with the present counters of @q */
void baseline_take(struct baseline *one, const struct qdisc *q);
/* Returns 0 or -ENOMEM */
int baselines_add(struct baselines *b, const struct baseline *one);
/* NULL if there is none, or if the baseline is obsolete: a counter of @q is
 * lower, because @q was created anew, or the baseline is from before a reboot
 */
const struct baseline *baseline_find(const struct baselines *b,
				     const struct qdisc *q);
void baseline_subtract(const struct baseline *one, struct stats *st);
uint64_t baseline_age_ns(const struct baseline *one);

/* The format of the file */
void baselines_write(const struct baselines *b, FILE *f);
void baselines_read(struct baselines *b, FILE *f);

#endif /* _IQCN_BASELINE_H */
