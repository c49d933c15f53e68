// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn flush: remove flows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "genl.h"
#include "iqcn.h"
#include "out.h"

static int flush(uint32_t ifindex, uint32_t parent, bool json)
{
	struct genl *g = genl_open();
	struct json_object *o;
	uint64_t n;
	int err;

	if (!g)
		return EXIT_FAILURE;
	err = genl_flush(g, ifindex, parent, &n);
	if (err) {
		fail("flush", genl_why(g));
	} else if (json) {
		o = json_object_new_object();
		json_add(o, "flushed", value_json(FORM_NUMBER, NULL, n));
		json_line(o);
	} else {
		printf("%" PRIu64 " flow%s flushed\n", n, n == 1 ? "" : "s");
	}
	genl_close(g);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_flush(int argc, char **argv)
{
	uint32_t ifindex, parent;
	bool json = false;
	int ret;

	if (!parse_json(argc, argv, &json))
		return EXIT_USAGE;
	ret = parse_place(argc - optind, argv + optind, &ifindex, &parent);
	return ret ? ret : flush(ifindex, parent, json);
}
