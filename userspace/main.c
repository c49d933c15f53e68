// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn: shows the state of the congestion points of this network namespace.
 *
 * Each command is a row of commands[] and a source file.
 */
#include <errno.h>
#include <fcntl.h>
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
	      "                 flows: source, destination, pairing, state, CNPs\n"
	      "  monitor [DEV] [--interval 10ms] [--count N] [--events-only|--samples-only]\n"
	      "                 events as they happen, and samples of the queues\n"
	      "  top [DEV] [--interval 1s] [--sort cnps|rate|age] [--batch] [--count N]\n"
	      "                 ports, queues and the flows with the most CNPs, live\n"
	      "  flush [DEV [root | parent CLASSID]]\n"
	      "                 remove flows, with their pairing\n"
	      "  check          find problems, and say what to do about them\n"
	      "  metrics [-o FILE] [--flows N] [--openmetrics]\n"
	      "                 metrics for Prometheus, to FILE, with N flows (10), in the\n"
	      "                 format of node_exporter's textfile collector\n"
	      "  version        versions of tool, tc plugin, module and netlink family\n"
	      "  help           this text\n"
	      "\n"
	      "-j prints JSON.  All commands are about this network namespace.  flows,\n"
	      "events of monitor, and flush need CAP_NET_ADMIN there.\n"
	      "Exit status: 0 success, 1 failure (check: problems), 2 bad arguments.\n"
	      "\n"
	      "See iqcn(8); tc-iqcn(8) explains parameters and counters.\n", f);
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

	/* "-j" may precede the command */
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

/* A reader that closed the pipe is no error */
static bool reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP);
}

/* A socket must not take the place of a closed stdout.  The null device, opened the
 * wrong way around, fails with EBADF like a closed descriptor.
 */
static bool open_standard_files(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };
	size_t fd;

	for (fd = 0; fd < ARRAY_SIZE(modes); fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", modes[fd]) != (int)fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	int ret, err;

	if (!open_standard_files())
		return fail("/dev/null", strerror(errno));
	/* a closed pipe is reported by EPIPE */
	signal(SIGPIPE, SIG_IGN);
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, OUTPUT_BYTES);
	ret = run(argc, argv);
	err = out_finish();
	return err && !reader_is_gone() ? fail("output", strerror(err)) : ret;
}
