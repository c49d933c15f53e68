/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of iqcn top, and its display.
 */
#ifndef _IQCN_TOP_H
#define _IQCN_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rank.h"
#include "snapshot.h"

struct top {
	uint32_t ifindex;	/* device to show, 0: all */
	uint64_t interval_ns;
	enum order order;
	bool paused;
	bool help;

	/* two samples of ports and queues, for rates; @before may be empty */
	struct snapshot before, now;
	/* the first flows in the order, at @flows_ns */
	const struct ranked *flows;
	size_t n_flows;
	uint64_t flows_ns;
	bool flows_denied;	/* reading flows failed with EPERM */
	size_t first;		/* index of the first flow on the screen */
	size_t lines;		/* screen lines for flows */
};

/* Draw the screen, or a message if it is too small */
void top_draw(struct top *t);

#endif /* _IQCN_TOP_H */
