/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Findings of "iqcn check".
 */
#ifndef _IQCN_CHECK_H
#define _IQCN_CHECK_H

#include <stdbool.h>

#include "genl.h"
#include "out.h"

enum level { OK, WARN, FAIL };

struct check {
	bool json;
	struct json_object *items;
	unsigned int n[3];	/* by level */
	char place[2 * VALUE_SIZE];	/* of the next items: "swp1 1:1" */
};

/* Prints a line, or adds it to the JSON.  @fix: how to solve the problem, or
 * NULL
 */
__attribute__((format(printf, 5, 6)))
void say(struct check *c, enum level how, const char *item, const char *fix,
	 const char *format, ...);

/* Checks all queues of the namespace; needs the module */
void check_queues(struct check *c, struct genl *g);

#endif /* _IQCN_CHECK_H */
