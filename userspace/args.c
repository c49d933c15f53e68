// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments of commands, and error messages.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <net/if.h>

#include "iqcn.h"
#include "out.h"

#define OPTIONS_MAX 16
#define QP_MAX 0xffffff
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

/* Options of every command */
static const struct option common[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
};

/* Fill @all with @options, which may be NULL, and the common ones */
static void add_common(struct option *all, const struct option *options)
{
	size_t n = 0;

	for (; options && options->name && n < OPTIONS_MAX; options++)
		all[n++] = *options;
	memcpy(all + n, common, sizeof(common));
	all[n + ARRAY_SIZE(common)] = (struct option){};
}

static _Noreturn void help_and_exit(int c)
{
	if (c == 'h')
		usage(stdout);
	else
		printf("iqcn %s\n", IQCN_VERSION);
	exit(out_status(EXIT_SUCCESS));
}

int next_option(int argc, char **argv, const struct option *options)
{
	struct option all[OPTIONS_MAX + ARRAY_SIZE(common) + 1];
	char letters[64] = ":", letter[] = "-?";
	char *l = letters + strlen(letters);
	const struct option *o;
	int c;

	add_common(all, options);
	for (o = all; o->name; o++)
		if (o->val < 256)
			l += sprintf(l, "%c%s", o->val, o->has_arg ? ":" : "");
	c = getopt_long(argc, argv, letters, all, NULL);
	letter[1] = optopt;

	if (c == 'h' || c == 'V')
		help_and_exit(c);
	if (c == ':') {
		misuse("missing argument after", argv[optind - 1]);
		return '?';
	}
	if (c == '?')
		/* optopt is the letter; for a long option, use the last
		 * argument
		 */
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

bool parse_json(int argc, char **argv, bool *json)
{
	int c;

	while ((c = next_option(argc, argv, NULL)) != -1) {
		if (c != 'j')
			return false;
		*json = true;
	}
	return true;
}

int parse_place(int n, char **words, uint32_t *ifindex, uint32_t *parent)
{
	int ret = parse_dev(words[0], ifindex);

	*parent = 0;
	if (ret || n < 2)
		return ret;
	if (!strcmp(words[1], "root")) {
		parse_parent("root", parent);
		return n > 2 ? misuse("unexpected word", words[2]) : ret;
	}
	if (strcmp(words[1], "parent"))
		return misuse("expected root or parent, not", words[1]);
	if (n < 3)
		return misuse("missing argument after", words[1]);
	if (parse_parent(words[2], parent))
		return misuse("invalid class", words[2]);
	return n > 3 ? misuse("unexpected word", words[3]) : ret;
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

int parse_ip(const char *word, struct address *a)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	a->len = 0;
	if (inet_pton(AF_INET, word, a->bytes) == 1)
		a->len = 4;
	else if (inet_pton(AF_INET6, word, a->bytes) == 1)
		a->len = 16;
	else
		return misuse("the address must be IPv4 or IPv6, not", word);
	/* an IPv4-mapped GID */
	if (a->len == 16 && !memcmp(a->bytes, mapped, sizeof(mapped))) {
		memmove(a->bytes, a->bytes + sizeof(mapped), 4);
		a->len = 4;
	}
	return EXIT_SUCCESS;
}

int parse_qp(const char *word, uint32_t *qp)
{
	bool hex = !strncmp(word, "0x", 2);
	const char *digits = hex ? word + 2 : word;
	unsigned long v;

	errno = 0;
	v = strtoul(digits, NULL, hex ? 16 : 10);
	/* strtoul() accepts signs and spaces */
	if (!*digits || errno || v > QP_MAX ||
	    strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") !=
		    strlen(digits))
		return misuse("the QP must be 0 to 0xffffff, not", word);
	*qp = v;
	return EXIT_SUCCESS;
}
