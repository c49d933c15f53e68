// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn check: are plugin, module and qdiscs installed, do their versions match,
 * and do the qdiscs work?
 *
 * A problem is one line: what is wrong, and what to do.  Counters start with the
 * qdisc, so a problem of the past is reported for the qdisc's lifetime.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "genl.h"
#include "iqcn.h"
#include "names.h"
#include "out.h"
#include "version.h"

#include <linux/iqcn.h>

enum level { OK, WARN, FAIL };

static const char *const level_names[] = { "ok", "warn", "fail", NULL };

struct check {
	bool json;
	struct json_object *items;
	unsigned int n[3];	/* by level */
	char place[2 * VALUE_SIZE];	/* of the next items: "swp1 1:1" */
};

/* @fix: how to solve the problem, or NULL */
static __attribute__((format(printf, 5, 6)))
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

static void check_ect(struct check *c, const struct queue *q)
{
	static const char *const fix =
		"have the senders send ECT: set TOS or traffic class, or enable DCQCN";
	uint64_t marked = q->ecn_mark + q->ce_in;

	if (!object_has(q, IQCN_A_QUEUE_NOT_ECT))
		return;
	if (q->not_ect && !marked)
		say(c, FAIL, "ECT", fix,
		    "%" PRIu64 " packets should have been marked, but none is ECT",
		    q->not_ect);
	else if (q->not_ect > marked / 100)
		say(c, WARN, "ECT", fix,
		    "%" PRIu64 " packets that should have been marked are not ECT, %"
		    PRIu64 " are CE", q->not_ect, marked);
	else if (marked)
		say(c, OK, "ECT", NULL, "%" PRIu64 " packets marked, %" PRIu64
		    " arrived with CE", q->ecn_mark, q->ce_in);
	else
		say(c, OK, "ECT", NULL, "no packet had to be marked so far");
}

static void check_pairing(struct check *c, const struct queue *q)
{
	static const char *const fix =
		"let the receivers' packets return through this port, or set snoop netns";

	if (!object_has(q, IQCN_A_QUEUE_FLOWS_PAIRED) || !q->notify)
		return;
	if (q->flows && !q->flows_paired)
		say(c, FAIL, "pairing", fix,
		    "none of %" PRIu64 " flows is paired with its sender",
		    q->flows);
	else if (q->flows - q->flows_paired > q->flows / 10)
		say(c, WARN, "pairing", fix, "%" PRIu64 " of %" PRIu64
		    " flows are not paired with their sender",
		    q->flows - q->flows_paired, q->flows);
	else if (q->cnp_unpaired > q->cnp_sent / 10)
		say(c, WARN, "pairing", fix, "%" PRIu64
		    " CNPs were due to unknown senders",
		    q->cnp_unpaired);
	else if (q->flows)
		say(c, OK, "pairing", NULL, "%" PRIu64 " of %" PRIu64 " flows",
		    q->flows_paired, q->flows);
	else
		say(c, OK, "pairing", NULL, "no flows now");
}

static void check_cnps(struct check *c, const struct queue *q)
{
	bool ok = true;

	if (q->cnp_budget) {
		say(c, WARN, "CNPs", "raise cnp-rate and cnp-burst", "%" PRIu64
		    " were due but over the port's budget", q->cnp_budget);
		ok = false;
	}
	if (q->cnp_error) {
		say(c, WARN, "CNPs", "is the port up, and a bridge port or routed?",
		    "%" PRIu64 " could not be built or delivered",
		    q->cnp_error);
		ok = false;
	}
	if (q->congested && !q->cnp_seen && !q->cnp_sent) {
		say(c, WARN, "CNPs", q->notify ?
		    "see pairing; is DCQCN enabled on the receivers?" :
		    "set notify pi; is DCQCN enabled on the receivers?",
		    "congested, but neither receivers nor this box ever sent one");
		ok = false;
	}
	if (ok)
		say(c, OK, "CNPs", NULL, "%" PRIu64 " from receivers, %" PRIu64
		    " from this box", q->cnp_seen, q->cnp_sent);
}

static void check_room(struct check *c, const struct queue *q)
{
	bool ok = true;

	if (q->drop_overlimit) {
		say(c, WARN, "room", "raise limit, or set notify pi",
		    "%" PRIu64 " packets were dropped because the queue was full",
		    q->drop_overlimit);
		ok = false;
	}
	if (q->flow_full || q->flow_evicted) {
		say(c, WARN, "room", "raise flows, or lower age",
		    "%" PRIu64 " flows were evicted, %" PRIu64
		    " packets got no flow", q->flow_evicted, q->flow_full);
		ok = false;
	}
	if (ok)
		say(c, OK, "room", NULL, "no drops, no evicted flows");
}

static void check_port(struct check *c, const struct port *p)
{
	/* CNPs of flows that are not paired yet do not match either */
	bool many = p->cnp_unmatched > p->cnp_seen / 4;

	snprintf(c->place, sizeof(c->place), "%s", p->dev);
	if (many)
		say(c, WARN, "strays",
		    "put iqcn on the port through which their data leave, or set snoop netns",
		    "%" PRIu64 " CNPs belong to no flow",
		    p->cnp_unmatched);
	if (p->malformed)
		say(c, WARN, "strays", "capture UDP port 4791 with tcpdump",
		    "%" PRIu64 " packets look like RoCEv2 but do not parse",
		    p->malformed);
	if (!many && !p->malformed)
		say(c, OK, "strays", NULL, "few or no stray packets");
}

static void check_queue(struct check *c, const struct queue *q)
{
	char parent[VALUE_SIZE];

	value_text(parent, FORM_PARENT, NULL, q->parent);
	snprintf(c->place, sizeof(c->place), "%s %s", dev_name(q->dev),
		 parent);
	check_ect(c, q);
	check_pairing(c, q);
	check_cnps(c, q);
	check_room(c, q);
}

static void check_queues(struct check *c, struct genl *g)
{
	struct queue *queues = NULL;
	struct port *ports = NULL;
	size_t i, n_ports = 0, n_queues = 0;

	if (genl_ports(g, &ports, &n_ports) ||
	    genl_queues(g, 0, 0, &queues, &n_queues))
		say(c, FAIL, "qdiscs", NULL, "%s", genl_why(g));
	else if (!n_queues)
		say(c, WARN, "qdiscs", "tc qdisc add dev DEV root iqcn",
		    "none in this network namespace");
	else
		say(c, OK, "qdiscs", NULL, "%zu on %zu device%s", n_queues,
		    n_ports, n_ports == 1 ? "" : "s");
	for (i = 0; i < n_ports; i++)
		check_port(c, &ports[i]);
	for (i = 0; i < n_queues; i++)
		check_queue(c, &queues[i]);
	*c->place = '\0';
	free(ports);
	free(queues);
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
	int o;

	while ((o = next_option(argc, argv, NULL)) != -1) {
		if (o != 'j')
			return EXIT_USAGE;
		c.json = true;
	}
	if (argc > optind)
		return misuse("unexpected word", argv[optind]);
	if (c.json)
		c.items = json_object_new_array();
	check_plugin(&c);
	if (check_module(&c))
		check_family(&c);
	say_verdict(&c);
	return c.n[FAIL] ? EXIT_FAILURE : EXIT_SUCCESS;
}
