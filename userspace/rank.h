/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which flows come first, and how fast they are.
 */
#ifndef _IQCN_RANK_H
#define _IQCN_RANK_H

#include <stddef.h>
#include <stdint.h>

#include "object.h"

/*
 * What each flow had counted when it was looked at last, 16 bytes for each: the
 * numbers that flows have are small ones.  What is between begin and end is one
 * look at many of them.
 */
struct rates;

struct speed {
	uint64_t ce_pps;	/* CE packets */
	uint64_t cnp_pps;	/* CNPs that the sender got, receiver's and ours */
};

/* NULL: there is no memory */
struct rates *rates_new(void);
void rates_free(struct rates *r);
/* Of CLOCK_MONOTONIC */
void rates_begin(struct rates *r, uint64_t now_ns);
/* Since it was looked at last, or since it was made; on error, too */
int rates_look(struct rates *r, const struct flow *f, struct speed *speed);
void rates_end(struct rates *r, uint64_t now_ns);

enum order {
	ORDER_NONE,
	ORDER_CNPS,	/* that the sender got, receiver's and ours */
	ORDER_RATE,	/* of CE packets */
	ORDER_AGE,	/* the oldest is first */
	ORDER_CNP_RATE,
};

/* "cnps", "rate" or "age"; EXIT_SUCCESS, or what to exit with */
int parse_order(const char *word, enum order *order);

struct ranked {
	struct flow flow;
	struct speed speed;
};

/* The first @limit, in memory for twice as many; 0: all */
struct ranking;

struct ranking *ranking_new(enum order order, size_t limit);
void ranking_free(struct ranking *r);
int ranking_add(struct ranking *r, const struct ranked *flow);
/* In order; until more are added */
const struct ranked *ranking_list(struct ranking *r, size_t *n);
void ranking_empty(struct ranking *r, enum order order);

#endif /* _IQCN_RANK_H */
