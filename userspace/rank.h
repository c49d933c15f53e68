/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Order and rates of flows.
 */
#ifndef _IQCN_RANK_H
#define _IQCN_RANK_H

#include <stddef.h>
#include <stdint.h>

#include "object.h"

/*
 * The counters of each flow in the previous dump, in an array that is indexed
 * by the flow's id, because ids are small numbers: 16 bytes per flow.  Calls of
 * rates_update() between rates_begin() and rates_end() belong to one dump.
 */
struct rates;

struct speed {
	uint64_t ce_pps;	/* CE packets */
	uint64_t cnp_pps;	/* CNPs to the sender, from receiver and box */
};

/* NULL if out of memory */
struct rates *rates_new(void);
void rates_free(struct rates *r);
/* @now_ns is of CLOCK_MONOTONIC */
void rates_begin(struct rates *r, uint64_t now_ns);
/* Sets @speed to the rates since the previous dump or the creation of the flow,
 * also on error
 */
int rates_update(struct rates *r, const struct flow *f, struct speed *speed);
void rates_end(struct rates *r, uint64_t now_ns);
/* Keeps only the counters of the flows of @ports, and frees the others */
void rates_keep(struct rates *r, const struct port *ports, size_t n);

enum order {
	ORDER_NONE,
	ORDER_CNPS,	/* to the sender, from receiver and box */
	ORDER_RATE,	/* of CE packets */
	ORDER_AGE,	/* oldest first */
	ORDER_CNP_RATE,
};

/* Parse "cnps", "rate" or "age".  Return: the exit status. */
int parse_order(const char *word, enum order *order);

struct ranked {
	struct flow flow;
	struct speed speed;
};

/* The first @limit flows, 0: all.  Uses memory for twice as many. */
struct ranking;

struct ranking *ranking_new(enum order order, size_t limit);
void ranking_free(struct ranking *r);
int ranking_add(struct ranking *r, const struct ranked *flow);
/* The sorted list, valid until ranking_add() */
const struct ranked *ranking_list(struct ranking *r, size_t *n);
void ranking_empty(struct ranking *r, enum order order);

#endif /* _IQCN_RANK_H */
