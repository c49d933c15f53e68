// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn metrics: metrics for Prometheus, which node_exporter's textfile
 * collector reads.
 *
 * If a textfile contains a sample twice, node_exporter logs an error and drops
 * one of the two.  It ignores a file that does not parse.  So no sample is
 * written twice, and the file is replaced atomically.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exposition.h"
#include "genl.h"
#include "iqcn.h"
#include "rank.h"
#include "replace.h"
#include "version.h"

#define FLOWS_DEFAULT 10
#define FLOWS_MAX 100

struct top {
	struct ranking *ranking;
	bool no_memory;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_queues(const void *a, const void *b)
{
	const struct queue *p = a, *q = b;
	int c = compare(p->dev, q->dev);

	return c ? c : compare(p->parent, q->parent);
}

/* Keep each queue once: while a qdisc replaces another one, a dump contains
 * both
 */
static size_t queues_once(struct queue *queues, size_t n)
{
	size_t i, kept = 0;

	if (n)
		qsort(queues, n, sizeof(*queues), compare_queues);
	for (i = 0; i < n; i++)
		if (!kept || compare_queues(&queues[kept - 1], &queues[i]))
			queues[kept++] = queues[i];
	return kept;
}

static bool take_flow(const struct flow *f, void *arg)
{
	struct ranked ranked = { *f };
	struct top *top = arg;

	if (f->cnp_sent || f->cnp_seen)
		top->no_memory = ranking_add(top->ranking, &ranked);
	return !top->no_memory;
}

static bool keep_flows(struct state *s, struct ranking *ranking)
{
	const struct ranked *list = ranking_list(ranking, &s->n_flows);
	size_t i;

	s->flows = calloc(s->n_flows + 1, sizeof(*s->flows));
	for (i = 0; s->flows && i < s->n_flows; i++)
		s->flows[i] = list[i].flow;
	return s->flows;
}

static int ask_flows(struct genl *g, struct state *s, size_t max)
{
	struct top top = { .ranking = ranking_new(ORDER_CNPS, max) };
	int err = -ENOMEM;

	if (top.ranking)
		err = genl_flows(g, 0, 0, take_flow, &top);
	/* ports and queues need no capability */
	if (err == -EPERM)
		fail("no flows", genl_why(g));
	/* a change of the flows during the dump does not matter */
	if (err == -EINTR || err == -EPERM)
		err = 0;
	if (!err && (top.no_memory || !keep_flows(s, top.ranking)))
		err = -ENOMEM;
	ranking_free(top.ranking);
	return err;
}

static uint64_t time_of_day_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

static int ask(struct genl *g, struct state *s, size_t flows)
{
	int err = genl_ports(g, &s->ports, &s->n_ports);

	if (!err)
		err = genl_queues(g, 0, 0, &s->queues, &s->n_queues);
	s->queues_ns = time_of_day_ns();
	if (!err)
		s->n_queues = queues_once(s->queues, s->n_queues);
	if (!err && flows)
		err = ask_flows(g, s, flows);
	return err;
}

/* A missing module is no error here.  Resolving the family would load the
 * module and hide that it was missing, so check first.
 */
static int gather(struct state *s, size_t flows, char *version)
{
	struct genl *g;
	int err;

	if (!module_version(version))
		return EXIT_SUCCESS;
	g = genl_open();
	if (!g)
		return EXIT_FAILURE;
	err = ask(g, s, flows);
	s->up = !err;
	if (err)
		fail("netlink", err == -ENOMEM ? strerror(ENOMEM) :
						 genl_why(g));
	genl_close(g);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int write_text(const struct state *s, bool openmetrics,
		      const char *path)
{
	size_t len = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);
	int ret = EXIT_SUCCESS;

	if (f)
		exposition(f, s, openmetrics);
	if (!f || fclose(f))
		ret = fail("metrics", strerror(ENOMEM));
	else if (path)
		ret = replace_file(path, text, len);
	else
		fwrite(text, 1, len, stdout);
	free(text);
	return ret;
}

enum { OPTION_FLOWS = 256, OPTION_OPENMETRICS };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "flows", required_argument, NULL, OPTION_FLOWS },
	{ "openmetrics", no_argument, NULL, OPTION_OPENMETRICS },
	{ }
};

static bool parse_flows(const char *word, size_t *n)
{
	char *end;

	errno = 0;
	*n = strtoul(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno &&
	       *n <= FLOWS_MAX;
}

int cmd_metrics(int argc, char **argv)
{
	char version[VERSION_SIZE] = "";
	struct state s = {
		.tool_version = IQCN_VERSION,
		.module_version = version,
		.time = time(NULL),
	};
	const char *path = NULL;
	bool openmetrics = false;
	size_t flows = FLOWS_DEFAULT;
	int c, ret, written;

	while ((c = next_option(argc, argv, options)) != -1) {
		switch (c) {
		case 'o':
			path = optarg;
			break;
		case OPTION_FLOWS:
			if (!parse_flows(optarg, &flows))
				return misuse("the number of flows must be 0 to 100, not", optarg);
			break;
		case OPTION_OPENMETRICS:
			openmetrics = true;
			break;
		case 'j':
			return misuse("unknown option", "-j");
		default:
			return EXIT_USAGE;
		}
	}
	if (argc > optind)
		return misuse("unexpected word", argv[optind]);

	ret = gather(&s, flows, version);
	written = write_text(&s, openmetrics, path);
	free(s.ports);
	free(s.queues);
	free(s.flows);
	return ret ? ret : written;
}
