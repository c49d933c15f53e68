// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn clear: reset peaks, for everybody, and counters, for this user.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"
#include "genl.h"
#include "iqcn.h"
#include "out.h"

struct clear {
	uint32_t ifindex;	/* 0: all devices */
	uint32_t parent;	/* 0: all queues of the device */
	struct baselines before, now;
	uint64_t n;		/* qdiscs cleared */
	bool no_memory;
};

static bool is_selected(const struct clear *c, const struct qdisc *q)
{
	return (!c->ifindex || q->ifindex == c->ifindex) &&
	       (!c->parent || q->parent == c->parent);
}

/* Qdiscs that are not selected keep their baselines; deleted ones lose theirs
 */
static bool on_qdisc(const struct qdisc *q, void *arg)
{
	const struct baseline *before;
	struct clear *c = arg;
	struct baseline one;

	if (!qdisc_is_iqcn(q))
		return true;
	if (is_selected(c, q)) {
		c->n++;
		baseline_take(&one, q);
	} else {
		before = baseline_find(&c->before, q);
		if (!before)
			return true;
		one = *before;
	}
	c->no_memory = baselines_add(&c->now, &one);
	return !c->no_memory;
}

static int clear_counters(struct clear *c, const char *dev)
{
	int ret;

	baselines_load(&c->before);
	ret = qdiscs_dump(0, on_qdisc, c);
	if (!ret && c->no_memory)
		ret = fail("counters", strerror(ENOMEM));
	if (!ret && !c->n)
		ret = qdiscs_none(dev);
	return ret ? ret : baselines_save(&c->now);
}

/* Without CAP_NET_ADMIN, or if the device is not Ethernet, only the counters
 * are cleared
 */
static int clear_peaks(struct clear *c)
{
	struct genl *g = genl_open();
	int err;

	if (!g)
		return EXIT_FAILURE;
	err = genl_clear(g, c->ifindex, c->parent);
	if (err == -ENODEV)
		fail("counters are cleared, peaks are not", "not an Ethernet device, or gone");
	else if (err == -EPERM)
		fail("counters are cleared, peaks are not", genl_why(g));
	else if (err == -EOPNOTSUPP)
		fail("counters are cleared, peaks are not", "the module is older than this tool");
	else if (err)
		fail("clear", genl_why(g));
	genl_close(g);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void print_cleared(uint64_t n, bool json)
{
	struct json_object *o;

	if (!json) {
		printf("%" PRIu64 " qdisc%s cleared\n", n, n == 1 ? "" : "s");
		return;
	}
	o = json_object_new_object();
	json_add(o, "cleared", value_json(FORM_NUMBER, NULL, n));
	json_line(o);
}

int cmd_clear(int argc, char **argv)
{
	struct clear clear = {};
	bool json = false;
	int ret;

	if (!parse_json(argc, argv, &json))
		return EXIT_USAGE;
	ret = parse_place(argc - optind, argv + optind, &clear.ifindex,
			  &clear.parent);
	if (!ret)
		ret = clear_counters(&clear, argv[optind]);
	if (!ret)
		ret = clear_peaks(&clear);
	if (!ret)
		print_cleared(clear.n, json);
	baselines_free(&clear.before);
	baselines_free(&clear.now);
	return ret;
}
