// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn check: are plugin, module and qdiscs installed, do their versions match,
 * and do the qdiscs work?
 *
 * A problem is one line: what is wrong, and what to do.  Causes come before
 * their symptoms, so the first problem should be solved first.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "check.h"
#include "iqcn.h"
#include "version.h"

#define SYS_REALTIME "/sys/kernel/realtime"

static const char *const level_names[] = { "ok", "warn", "fail", NULL };

void say(struct check *c, enum level how, const char *item, const char *fix,
	 const char *format, ...)
{
	struct json_object *o;
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	c->n[how]++;
	if (!c->json) {
		printf("%-4s  %-9s  %s%s%s%s%s\n", level_names[how], item,
		       c->place, *c->place ? ": " : "", text, fix ? ": " : "",
		       fix ? fix : "");
		return;
	}
	o = json_object_new_object();
	json_add(o, "item", json_object_new_string(item));
	json_add(o, "state", json_object_new_string(level_names[how]));
	if (*c->place)
		json_add(o, "place", json_object_new_string(c->place));
	json_add(o, "text", json_object_new_string(text));
	if (fix)
		json_add(o, "fix", json_object_new_string(fix));
	json_object_array_add(c->items, o);
}

/* Only kernels with the out-of-tree RT patch have SYS_REALTIME; mainline
 * kernels report PREEMPT_RT in utsname
 */
static bool is_realtime(const struct utsname *kernel)
{
	FILE *f = fopen(SYS_REALTIME, "r");
	bool yes = strstr(kernel->version, "PREEMPT_RT");

	if (f) {
		yes = yes || getc(f) == '1';
		fclose(f);
	}
	return yes;
}

static void check_kernel(struct check *c)
{
	struct utsname kernel;

	uname(&kernel);
	if (is_realtime(&kernel))
		say(c, FAIL, "kernel", "boot a kernel without PREEMPT_RT",
		    "%s is a PREEMPT_RT kernel, which sch_iqcn does not support",
		    kernel.release);
	else
		say(c, OK, "kernel", NULL, "%s", kernel.release);
}

/* Returns whether the module is loaded */
static bool check_module(struct check *c)
{
	char version[VERSION_SIZE];

	if (!module_version(version)) {
		say(c, FAIL, "module", "modprobe sch_iqcn, after make install and depmod",
		    "sch_iqcn is not loaded");
		return false;
	}
	if (!*version)
		say(c, FAIL, "module", "install this version, then rmmod and modprobe it",
		    "sch_iqcn has no version, so it is older than this tool");
	else if (strcmp(version, IQCN_VERSION))
		say(c, WARN, "module", "install both from the same source, reload the module",
		    "sch_iqcn is %s, this tool %s", version, IQCN_VERSION);
	else
		say(c, OK, "module", NULL, "sch_iqcn %s", version);
	return true;
}

static void check_plugin(struct check *c)
{
	struct plugin p;

	plugin_find(&p);
	if (!p.found)
		say(c, FAIL, "plugin", "make install, or set TC_LIB_DIR to where it is",
		    "no %s, tc does not know iqcn", p.path);
	else if (!p.loads)
		say(c, FAIL, "plugin", "build it on this machine and install it",
		    "tc cannot load it: %s", p.why);
	else if (strcmp(p.version, IQCN_VERSION))
		say(c, WARN, "plugin", "install both from the same source",
		    "%s is %s, this tool %s", p.path,
		    *p.version ? p.version : "older", IQCN_VERSION);
	else
		say(c, OK, "plugin", NULL, "%s %s", p.path, p.version);
}

static void check_family(struct check *c)
{
	int version = genl_family_version();
	struct genl *g;

	if (version < 0) {
		say(c, FAIL, "family", "see module",
		    "the module has no netlink family iqcn, which this tool needs");
		return;
	}
	say(c, OK, "family", NULL, "version %d", version);
	g = genl_open();
	if (g)
		check_queues(c, g);
	else
		say(c, FAIL, "qdiscs", NULL, "no netlink socket");
	genl_close(g);
}

static void say_verdict(const struct check *c)
{
	enum level worst = c->n[FAIL] ? FAIL : c->n[WARN] ? WARN : OK;
	struct json_object *o;

	if (!c->json) {
		printf("%s: %u failed, %u warning%s\n", level_names[worst],
		       c->n[FAIL], c->n[WARN], c->n[WARN] == 1 ? "" : "s");
		return;
	}
	o = json_object_new_object();
	json_add(o, "verdict", json_object_new_string(level_names[worst]));
	json_add(o, "failed", json_object_new_int(c->n[FAIL]));
	json_add(o, "warnings", json_object_new_int(c->n[WARN]));
	json_add(o, "items", c->items);
	json_line(o);
}

int cmd_check(int argc, char **argv)
{
	struct check c = {};

	if (!parse_json(argc, argv, &c.json))
		return EXIT_USAGE;
	if (argc > optind)
		return misuse("unexpected word", argv[optind]);
	if (c.json)
		c.items = json_object_new_array();
	check_kernel(&c);
	check_plugin(&c);
	if (check_module(&c))
		check_family(&c);
	say_verdict(&c);
	return c.n[FAIL] ? EXIT_FAILURE : EXIT_SUCCESS;
}
