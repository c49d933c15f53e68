// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn: shows what the congestion points of this network namespace do.
 *
 * A command is a row of commands[] and a file of its own.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "iqcn.h"
#include "out.h"

#define OUTPUT_BYTES (256 << 10)

static void usage(FILE *f)
{
	fputs("Usage: iqcn COMMAND [-j]\n"
	      "\n"
	      "  show [DEV]     qdiscs: state, parameters in force, counters\n"
	      "  flows [DEV] [--congested] [--paired] [--sort cnps|rate|age] [--limit N]\n"
	      "                 flows: who sends to whom, pairing, state, CNPs\n"
	      "  monitor [DEV] [--interval 10ms] [--count N] [--events-only|--samples-only]\n"
	      "                 what happens, and samples of the queues in between\n"
	      "  top [DEV] [--interval 1s] [--sort cnps|rate|age] [--batch] [--count N]\n"
	      "                 ports, queues and the flows that get most CNPs\n"
	      "  flush [DEV [root | parent CLASSID]]\n"
	      "                 forget flows\n"
	      "  check          is everything there and does it work? if not, what to do\n"
	      "  metrics [-o FILE] [--flows N] [--openmetrics]\n"
	      "                 for Prometheus: to FILE, with N flows (10), in the format of\n"
	      "                 node_exporter's textfile collector\n"
	      "  version        of this tool, tc's plugin, the module, its netlink family\n"
	      "  help           this\n"
	      "\n"
	      "-j: in JSON.  All is about this network namespace.  Flows and events need\n"
	      "CAP_NET_ADMIN there, and so does flush.\n"
	      "Exit status: 0 well, 1 it failed (check: something is wrong), 2 misused.\n"
	      "\n"
	      "See iqcn(8); tc-iqcn(8) has the meaning of what is shown.\n", f);
}

static int cmd_help(int argc, char **argv)
{
	usage(stdout);
	return EXIT_SUCCESS;
}

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "show", cmd_show },
	{ "flows", cmd_flows },
	{ "monitor", cmd_monitor },
	{ "top", cmd_top },
	{ "flush", cmd_flush },
	{ "check", cmd_check },
	{ "metrics", cmd_metrics },
	{ "version", cmd_version },
	{ "help", cmd_help },
	{ "--help", cmd_help },
	{ "-h", cmd_help },
};

static int run(int argc, char **argv)
{
	size_t i;

	/* "-j" may come first */
	if (argc > 2 && !strcmp(argv[1], "-j")) {
		argv[1] = argv[2];
		argv[2] = "-j";
	}
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, argv[1]))
			return commands[i].run(argc - 1, argv + 1);
	return misuse(*argv[1] == '-' ? "unknown option" : "unknown command",
		      argv[1]);
}

/* Whoever reads has had enough, which is no error */
static bool reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP);
}

int main(int argc, char **argv)
{
	int ret, err;

	/* who reads no more says so by EPIPE */
	signal(SIGPIPE, SIG_IGN);
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, OUTPUT_BYTES);
	ret = run(argc, argv);
	err = out_finish();
	return err && !reader_is_gone() ? fail("output", strerror(err)) : ret;
}
