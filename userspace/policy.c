// SPDX-License-Identifier: GPL-2.0
/*
 * Read the policy of the agent, and evaluate its network.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iqcn.h"
#include "policy.h"

/* Unrolled loops evaluate the network with a third of the instructions */
#pragma GCC optimize("O3")

#define VERSION 1
#define WIDTH POLICY_WIDTH
/* More than twice the longest line of a policy */
#define LINE_BYTES 2048
#define WEIGHT_MAX 1048576
#define NOT_A_NUMBER "not a hexadecimal number from -0x1p+20 to 0x1p+20"
#define STR(_x) #_x
#define XSTR(_x) STR(_x)

const char *const agent_reward_names[__AGENT_REWARD_MAX + 1] = {
	[AGENT_REWARD_FEW] = "few",
	[AGENT_REWARD_LITERAL] = "literal",
};

struct reader {
	FILE *f;
	const char *name;
	char line[LINE_BYTES];
	int n;			/* line number */
};

static int wrong(const struct reader *r, const char *why)
{
	char *what;

	if (asprintf(&what, "%s:%d", r->name, r->n) < 0)
		return fail(r->name, why);
	fail(what, why);
	free(what);
	return EXIT_FAILURE;
}

/* Read the next line that is not a comment, without its newline */
static int next_line(struct reader *r)
{
	char *end;

	do {
		r->n++;
		if (!fgets(r->line, sizeof(r->line), r->f))
			return ferror(r->f) ? fail(r->name, strerror(errno)) :
				wrong(r, "the policy is truncated");
		end = strchr(r->line, '\n');
		if (!end)
			return wrong(r, feof(r->f) ? "the policy is truncated" :
				strlen(r->line) < sizeof(r->line) - 1 ?
					"not a policy: the line contains a null byte" :
					"not a policy: the line is too long");
		*end = '\0';
	} while (r->line[0] == '#');
	return EXIT_SUCCESS;
}

static int want_line(struct reader *r, const char *text, const char *why)
{
	if (next_line(r))
		return EXIT_FAILURE;
	return strcmp(r->line, text) ? wrong(r, why) : EXIT_SUCCESS;
}

/* Read "KEY VALUE"; returns the value, or NULL after an error */
static const char *value_of(struct reader *r, const char *key)
{
	size_t len = strlen(key);
	char why[64];

	if (next_line(r))
		return NULL;
	if (!strncmp(r->line, key, len) && r->line[len] == ' ')
		return r->line + len + 1;
	snprintf(why, sizeof(why), "\"%s\" is missing", key);
	wrong(r, why);
	return NULL;
}

/* Read a number as printf's %a prints it.  Refuse decimals, leading spaces and
 * "nan", which strtof() accepts; refuse numbers without an exponent, which may
 * be truncated, and numbers so large that values may overflow.
 */
static bool read_float(const char **at, float *v)
{
	const char *digits = *at + (**at == '-');
	char *end;

	if (strncmp(digits, "0x", 2))
		return false;
	*v = strtof(*at, &end);
	if (!memchr(*at, 'p', end - *at))
		return false;
	*at = end;
	return fabsf(*v) <= WEIGHT_MAX;
}

/* Read a length, which ends with @end */
static bool read_m(const char **at, char end, uint32_t *m)
{
	unsigned long long v;
	char *to;

	/* strtoull() accepts leading spaces and a minus sign */
	if (**at < '0' || **at > '9')
		return false;
	v = strtoull(*at, &to, 10);
	if (*to != end || v > IQCN_FIBER_MAX_M)
		return false;
	*m = v;
	*at = to + 1;
	return true;
}

static int read_fibers(struct reader *r, struct policy *p)
{
	const char *v = value_of(r, "fiber_m");

	if (!v)
		return EXIT_FAILURE;
	if (!read_m(&v, ' ', &p->fiber_min_m) ||
	    !read_m(&v, '\0', &p->fiber_max_m) ||
	    p->fiber_min_m > p->fiber_max_m)
		return wrong(r, "fiber_m must be two lengths, 0 to 100000000");
	return EXIT_SUCCESS;
}

static int read_header(struct reader *r, struct policy *p)
{
	const char *v;
	char *end;
	int i;

	if (want_line(r, "iqcn-policy " XSTR(VERSION),
		      "not a policy of version " XSTR(VERSION)) ||
	    want_line(r, "shape 26 32 32 25", "the shape is not 26 32 32 25"))
		return EXIT_FAILURE;
	v = value_of(r, "interval_ns");
	if (!v)
		return EXIT_FAILURE;
	/* strtoull() accepts a minus sign */
	p->interval_ns = strtoull(v, &end, 10);
	if (*end || *v == '-' || p->interval_ns < 1000000 || p->interval_ns > 1000000000)
		return wrong(r, "interval_ns must be 1000000 to 1000000000");
	v = value_of(r, "reward");
	if (!v)
		return EXIT_FAILURE;
	for (i = 0; agent_reward_names[i]; i++)
		if (!strcmp(v, agent_reward_names[i]))
			break;
	if (!agent_reward_names[i])
		return wrong(r, "reward must be few or literal");
	p->reward = i;
	return read_fibers(r, p);
}

/* Read the @n_out neurons of a layer; weights are [@n_in][WIDTH] */
static int read_layer(struct reader *r, float *bias, float (*weights)[WIDTH],
		      int n_in, int n_out)
{
	const char *at;
	int i, j;

	for (j = 0; j < n_out; j++) {
		if (next_line(r))
			return EXIT_FAILURE;
		at = r->line;
		if (!read_float(&at, &bias[j]))
			return wrong(r, NOT_A_NUMBER);
		for (i = 0; i < n_in; i++) {
			if (*at++ != ' ')
				return wrong(r, "too few weights");
			if (!read_float(&at, &weights[i][j]))
				return wrong(r, NOT_A_NUMBER);
		}
		if (*at)
			return wrong(r, "too many weights");
	}
	return EXIT_SUCCESS;
}

static int read_all(struct reader *r, struct policy *p)
{
	if (read_header(r, p) ||
	    read_layer(r, p->bias1, p->weights1, AGENT_STATE, WIDTH) ||
	    read_layer(r, p->bias2, p->weights2, WIDTH, WIDTH) ||
	    read_layer(r, p->bias3, p->weights3, WIDTH, AGENT_ACTIONS) ||
	    want_line(r, "end", "too many neurons"))
		return EXIT_FAILURE;
	r->n++;
	return getc(r->f) == EOF ? EXIT_SUCCESS :
				   wrong(r, "there is text after \"end\"");
}

int policy_read(struct policy *p, const char *file)
{
	struct reader r = { .f = fopen(file, "re"), .name = file };
	int ret;

	if (!r.f)
		return fail(file, strerror(errno));
	ret = read_all(&r, p);
	fclose(r.f);
	return ret;
}

/* The inner loop has a constant bound, so that the compiler uses vectors */
static void add_layer(float out[restrict WIDTH], const float bias[WIDTH],
		      const float (*restrict weights)[WIDTH], const float *in,
		      int n_in)
{
	int i, j;

	memcpy(out, bias, WIDTH * sizeof(*out));
	for (i = 0; i < n_in; i++)
		for (j = 0; j < WIDTH; j++)
			out[j] += in[i] * weights[i][j];
}

static void rectify(float v[WIDTH])
{
	int i;

	for (i = 0; i < WIDTH; i++)
		v[i] = v[i] > 0 ? v[i] : 0;
}

void policy_values(const struct policy *p, const float state[AGENT_STATE],
		   float values[AGENT_ACTIONS])
{
	float a[WIDTH], b[WIDTH];

	add_layer(a, p->bias1, p->weights1, state, AGENT_STATE);
	rectify(a);
	add_layer(b, p->bias2, p->weights2, a, WIDTH);
	rectify(b);
	add_layer(a, p->bias3, p->weights3, b, WIDTH);
	memcpy(values, a, AGENT_ACTIONS * sizeof(*values));
}

int policy_best(const float values[AGENT_ACTIONS])
{
	int i, best = 0;

	for (i = 1; i < AGENT_ACTIONS; i++)
		if (values[i] > values[best])
			best = i;
	return best;
}
