// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments of commands, and error messages.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <net/if.h>

#include "iqcn.h"
#include "out.h"

#define INTERVAL_MIN_NS 1000000
#define INTERVAL_MAX_NS 3600000000000

int fail(const char *what, const char *why)
{
	fputs("iqcn: ", stderr);
	name_print(stderr, what);
	fputs(": ", stderr);
	name_print(stderr, why);
	fputc('\n', stderr);
	return EXIT_FAILURE;
}

int misuse(const char *problem, const char *word)
{
	fprintf(stderr, "iqcn: %s \"", problem);
	name_print(stderr, word);
	fputs("\", see \"iqcn help\"\n", stderr);
	return EXIT_USAGE;
}

int next_option(int argc, char **argv, const struct option *options)
{
	static const struct option none[] = { {} };
	char letters[64] = ":j", letter[] = "-?";
	char *l = letters + strlen(letters);
	const struct option *o;
	int c;

	/* getopt_long() takes "--" for a letter if it has no list */
	if (!options)
		options = none;
	for (o = options; o->name; o++)
		if (o->val < 256)
			l += sprintf(l, "%c%s", o->val, o->has_arg ? ":" : "");
	c = getopt_long(argc, argv, letters, options, NULL);
	letter[1] = optopt;

	if (c == ':') {
		misuse("missing argument after", argv[optind - 1]);
		return '?';
	}
	if (c == '?')
		/* optopt is the letter; for a long option, use the last argument */
		misuse("unknown option", optopt > 0 && optopt < 256 ?
					 letter : argv[optind - 1]);
	return c;
}

int parse_dev(const char *dev, uint32_t *ifindex)
{
	*ifindex = 0;
	if (!dev)
		return EXIT_SUCCESS;
	*ifindex = if_nametoindex(dev);
	return *ifindex ? EXIT_SUCCESS : fail(dev, strerror(errno));
}

int parse_time_ns(const char *word, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 },
		{ "ns", 1 },
	};
	char *end;
	double v = strtod(word, &end);
	size_t i;

	if (end == word)
		return -1;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(units[i].name, end)) {
			v *= units[i].ns;
			/* also rejects infinity and NaN */
			if (!(v >= 1 && v <= 1e18))
				return -1;
			*ns = v;
			return 0;
		}
	return -1;
}

int parse_interval(const char *word, uint64_t *ns)
{
	if (parse_time_ns(word, ns) || *ns < INTERVAL_MIN_NS ||
	    *ns > INTERVAL_MAX_NS)
		return misuse("the interval must be 1ms to 3600s, not", word);
	return EXIT_SUCCESS;
}

int parse_count(const char *word, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(word, &end, 10);
	/* strtoull() accepts signs and spaces */
	if (strspn(word, "0123456789") != strlen(word) || end == word ||
	    errno || !*n || *n > SIZE_MAX / 2)
		return misuse("the number must be at least 1, not", word);
	return EXIT_SUCCESS;
}
