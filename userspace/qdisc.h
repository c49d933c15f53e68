/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The qdiscs of this network namespace and their counters, by rtnetlink.
 */
#ifndef _IQCN_QDISC_H
#define _IQCN_QDISC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/gen_stats.h>
#include <netlink/attr.h>

#include <linux/iqcn.h>

#include "out.h"

struct stats {
	struct gnet_stats_basic basic;
	uint64_t packets;
	struct gnet_stats_queue queue;
	struct tc_iqcn_xstats app;
	size_t sent;		/* end of the part of @app that was sent */
};

/* Did the kernel send this member of @app?  An older module sends fewer */
#define STATS_HAS(st, member)						\
	((st)->sent >= offsetof(struct stats, app.member) +		\
		       sizeof((st)->app.member))

struct qdisc {
	uint32_t ifindex;
	uint32_t parent;
	uint32_t handle;
	char kind[16];
	struct nlattr *options;	/* NULL: none; valid in the callback only */
	struct stats stats;
};

/* Returns whether to continue */
typedef bool (*qdisc_fn)(const struct qdisc *q, void *arg);

/* Calls @fn for every qdisc of @ifindex, or of all devices if @ifindex is 0.
 * On failure, prints an error and returns EXIT_FAILURE.
 */
int qdiscs_dump(uint32_t ifindex, qdisc_fn fn, void *arg);
bool qdisc_is_iqcn(const struct qdisc *q);
/* Prints that there is no qdisc iqcn, and how to add one.  @dev: NULL: all
 * devices.  Returns EXIT_FAILURE.
 */
int qdiscs_none(const char *dev);

/* @tb has TCA_IQCN_MAX + 1 entries; returns whether @q has parameters */
bool qdisc_params(const struct qdisc *q, struct nlattr **tb);
/* Read the value of a parameter with a single number of 32 or 64 bits */
bool param_number(const struct nlattr *attr, uint64_t *v);

/* A number among the statistics: a counter, a gauge or a state */
struct counter {
	const char *group;
	const char *key;
	size_t offset;		/* in struct stats */
	size_t size;
	bool rises;		/* a counter, which never falls */
	enum form form;		/* FORM_NONE: a number */
	const char *const *names;
};

extern const struct counter counters[];
extern const size_t n_counters;

/* 0 if the kernel did not send the counter */
uint64_t counter_get(const struct counter *c, const struct stats *st);
void counter_set(const struct counter *c, struct stats *st, uint64_t v);
bool counter_sent(const struct counter *c, const struct stats *st);

#endif /* _IQCN_QDISC_H */
