// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn: show and control the congestion points of a network namespace.
 *
 * Each command is a row of commands[] and a source file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "iqcn.h"
#include "out.h"

#define OUTPUT_BYTES (256 << 10)

static int cmd_help(int argc, char **argv)
{
	int c;

	while ((c = next_option(argc, argv, NULL)) != -1)
		if (c != 'j')
			return EXIT_USAGE;
	usage(stdout);
	return EXIT_SUCCESS;
}

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "show", cmd_show },
	{ "showconf", cmd_showconf },
	{ "flows", cmd_flows },
	{ "monitor", cmd_monitor },
	{ "top", cmd_top },
	{ "flush", cmd_flush },
	{ "clear", cmd_clear },
	{ "check", cmd_check },
	{ "agent", cmd_agent },
	{ "metrics", cmd_metrics },
	{ "version", cmd_version },
	{ "help", cmd_help },
};

/* Process "-n NETNS" before the command, and remove it from the arguments */
static int process_netns(int *argc, char ***argv)
{
	int ret;

	while (*argc > 1 && (!strcmp((*argv)[1], "-n") ||
			     !strcmp((*argv)[1], "--netns"))) {
		if (*argc < 3)
			return misuse("missing argument after", (*argv)[1]);
		ret = enter_netns((*argv)[2]);
		if (ret)
			return ret;
		(*argv)[2] = (*argv)[0];
		*argv += 2;
		*argc -= 2;
	}
	return EXIT_SUCCESS;
}

/* Move the common options from before the command to after it */
static void move_options(char **argv)
{
	char *command;
	int i, n = 1;

	while (argv[n] && *argv[n] == '-' && argv[n][1])
		n++;
	if (n == 1 || !argv[n])
		return;
	command = argv[n];
	for (i = n; i > 1; i--)
		argv[i] = argv[i - 1];
	argv[1] = command;
}

static int run(int argc, char **argv)
{
	size_t i;
	int c;

	c = process_netns(&argc, &argv);
	if (c)
		return c;
	move_options(argv);
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, argv[1]))
			return commands[i].run(argc - 1, argv + 1);
	if (*argv[1] != '-')
		return misuse("unknown command", argv[1]);
	/* no command, only options */
	do {
		c = next_option(argc, argv, NULL);
	} while (c == 'j');
	return c == -1 ? misuse("missing command after", argv[argc - 1]) :
			 EXIT_USAGE;
}

/* A socket must not take the place of a standard file that is closed.  So open
 * the null device in its place, but in the wrong access mode: reads and writes
 * then fail with EBADF, as with a closed descriptor.
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
	if (!open_standard_files())
		return fail("/dev/null", strerror(errno));
	/* let writes to a closed pipe fail with EPIPE */
	signal(SIGPIPE, SIG_IGN);
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, OUTPUT_BYTES);
	return out_status(run(argc, argv));
}
