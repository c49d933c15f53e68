// SPDX-License-Identifier: GPL-2.0
/*
 * Values of parameters in the syntax of tc.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kmod/config_table.h"
#include "param.h"

/* Each unit is 1000 times the one before */
static const char *const one[] = { "", NULL };
static const char *const percent[] = { "%", NULL };
static const char *const bytes[] = { "b", NULL };
static const char *const ns[] = { "ns", "us", "ms", "s", NULL };
static const char *const ms[] = { "ms", "s", NULL };
static const char *const bps[] = { "bit", "Kbit", "Mbit", "Gbit", "Tbit",
				   NULL };

/* By enum iqcn_param_type */
static const struct {
	enum form form;			/* FORM_NONE: a profile */
	const char *const *units;	/* of a number */
} forms[] = {
	[IQCN_PARAM_NUMBER] = { FORM_NUMBER, one },
	[IQCN_PARAM_BYTES] = { FORM_NUMBER, bytes },
	[IQCN_PARAM_NS] = { FORM_NUMBER, ns },
	[IQCN_PARAM_TIMER_NS] = { FORM_NUMBER, ns },
	[IQCN_PARAM_MS] = { FORM_NUMBER, ms },
	[IQCN_PARAM_BPS] = { FORM_NUMBER, bps },
	[IQCN_PARAM_PROB] = { FORM_PROB },
	[IQCN_PARAM_PERCENT] = { FORM_NUMBER, percent },
	[IQCN_PARAM_NAME] = { FORM_NAME },
	[IQCN_PARAM_SET] = { FORM_SET },
	[IQCN_PARAM_PROFILE] = { FORM_NONE },
};

enum form param_form(int type)
{
	return forms[type].form;
}

void param_text(char *buf, int type, uint64_t v)
{
	const char *const *unit = forms[type].units;

	while (v && v % 1000 == 0 && unit[1]) {
		v /= 1000;
		unit++;
	}
	snprintf(buf, VALUE_SIZE, "%" PRIu64 "%s", v, *unit);
}

void prob_text(char *buf, uint32_t v)
{
	int digits = 1;

	do {
		snprintf(buf, VALUE_SIZE, "%.*g", digits++,
			 (double)v / UINT32_MAX);
	} while ((uint32_t)(strtod(buf, NULL) * UINT32_MAX + 0.5) != v &&
		 digits <= 10);
}
