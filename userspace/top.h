/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What iqcn top shows, and how.
 */
#ifndef _IQCN_TOP_H
#define _IQCN_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rank.h"
#include "snapshot.h"

struct top {
	uint32_t ifindex;	/* that is shown, 0: all */
	uint64_t interval_ns;
	enum order order;
	bool paused;
	bool help;

	/* two looks at ports and queues, for rates; the first may not be there */
	struct snapshot before, now;
	/* the flows that come first, as they were at that time */
	const struct ranked *flows;
	size_t n_flows;
	uint64_t flows_ns;
	bool flows_denied;	/* the kernel does not let us read them */
	size_t first;		/* of them that is on the screen */
	size_t lines;		/* that there were for them */
};

/* All of it; says so if there is not room enough */
void top_draw(struct top *t);

#endif /* _IQCN_TOP_H */
