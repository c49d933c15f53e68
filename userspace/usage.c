// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn help: a summary of the commands.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "iqcn.h"
#include "out.h"

/* Column of the descriptions if the screen is wide enough */
#define DESCRIPTION 18
#define WIDE 70

/* A tab in @words is printed as a space that does not wrap */
static const struct {
	const char *command;
	const char *words;
	const char *description;
} commands[] = {
	{ "show", "[DEV] [-d] [-a]",
	  "qdiscs in a few lines; -d: all parameters and counters" },
	{ "showconf", "[DEV]", "tc commands that restore the qdiscs" },
	{ "flows", "[DEV] [--src\tADDR] [--dst\tADDR] [--qp\tN] [--congested] "
	  "[--paired] [--sort\tcnps|rate|age] [--limit\tN]",
	  "flows: source, destination, pairing, state, CNPs" },
	{ "monitor", "[DEV] [--interval\t10ms] [--count\tN] [--events-only|--samples-only]",
	  "events as they happen, and samples of the queues" },
	{ "top", "[DEV] [--interval\t1s] [--sort\tcnps|rate|age] [--batch] [--count\tN]",
	  "ports, queues and the flows with the most CNPs, live" },
	{ "flush", "[DEV\t[root\t|\tparent\tCLASSID]]",
	  "remove flows, with their pairing" },
	{ "clear", "[DEV\t[root\t|\tparent\tCLASSID]]",
	  "reset peaks; show counts from now on" },
	{ "check", "", "find problems, and say what to do about them" },
	{ "agent", "run|observe|eval [OPTION]...",
	  "set filter and supplements by a policy" },
	{ "metrics", "[-o\tFILE] [--flows\tN] [--openmetrics]",
	  "metrics for Prometheus" },
	{ "version", "", "versions of tool, tc plugin, module and family" },
	{ "help", "", "this text" },
};

static const char *const notes[] = {
	"-j, --json prints JSON. -h, --help and -V, --version work everywhere.",
	"All commands are about this network namespace, or that of -n, --netns, as with ip. flows, flush, clear and the events of monitor need CAP_NET_ADMIN there.",
	"Exit status: 0 success, 1 failure (check: problems), 2 bad arguments.",
	"See iqcn(8); tc-iqcn(8) explains parameters and counters.",
};

/* Print the description after the words, or on the next line if it is too long
 */
static void print_command(FILE *f, const char *command, const char *words,
			  const char *description)
{
	int columns = screen_columns();
	int column = fprintf(f, "  %s%s", command, *words ? " " : "");
	int end = column + strlen(words) + 2;
	char *line;

	if (end < DESCRIPTION)
		end = DESCRIPTION;
	if (end + (int)strlen(description) <= columns &&
	    asprintf(&line, "%-*s%s", end - column, words, description) > 0) {
		wrap_text(f, 0, column, line);
		free(line);
		return;
	}
	wrap_text(f, 8, column, words);
	end = columns < WIDE ? 8 : DESCRIPTION;
	fprintf(f, "%*s", end, "");
	wrap_text(f, end, end, description);
}

void usage(FILE *f)
{
	size_t i;

	wrap_text(f, 2, 0, "Usage: iqcn [-n\tNETNS] COMMAND [-j]");
	fputc('\n', f);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		print_command(f, commands[i].command, commands[i].words,
			      commands[i].description);
	fputc('\n', f);
	for (i = 0; i < ARRAY_SIZE(notes); i++)
		wrap_text(f, 0, 0, notes[i]);
}
