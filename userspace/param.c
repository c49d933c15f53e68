// SPDX-License-Identifier: GPL-2.0
/*
 * Values of parameters in the syntax of tc.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kmod/config_table.h"
#include "names.h"
#include "param.h"

/* Each unit is 1000 times the one before */
static const char *const one[] = { "", NULL };
static const char *const percent[] = { "%", NULL };
static const char *const bytes[] = { "b", NULL };
static const char *const ns[] = { "ns", "us", "ms", "s", NULL };
static const char *const ms[] = { "ms", "s", NULL };
static const char *const meters[] = { "m", "km", NULL };
static const char *const bps[] = { "bit", "Kbit", "Mbit", "Gbit", "Tbit",
				   NULL };

/* By enum iqcn_param_type */
static const struct {
	enum form form;			/* FORM_NONE: not a single number */
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
	[IQCN_PARAM_METERS] = { FORM_NUMBER, meters },
	[IQCN_PARAM_PROFILE] = { FORM_NONE },
	[IQCN_PARAM_FILTER] = { FORM_NONE },
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

bool filter_get(struct tc_iqcn_cnp_filter *filter, const struct nlattr *attr)
{
	if (!attr || nla_len(attr) < (int)sizeof(*filter))
		return false;
	nla_memcpy(filter, attr, sizeof(*filter));
	return true;
}

static void rate_text(char *buf, uint64_t n, uint64_t interval_ns)
{
	char interval[VALUE_SIZE];

	param_text(interval, IQCN_PARAM_NS, interval_ns);
	snprintf(buf, VALUE_SIZE, "%" PRIu64 "/%.64s", n, interval);
}

void filter_text(char *buf, const struct tc_iqcn_cnp_filter *filter)
{
	if (filter->mode == IQCN_CNP_FILTER_FIXED)
		rate_text(buf, filter->n, filter->interval_ns);
	else
		value_text(buf, FORM_NAME, filter_names, filter->mode);
}

struct json_object *filter_json(const struct tc_iqcn_cnp_filter *filter)
{
	struct json_object *o = json_object_new_object();

	json_add(o, "mode", value_json(FORM_NAME, filter_names, filter->mode));
	if (filter->mode == IQCN_CNP_FILTER_FIXED) {
		json_add(o, "n", value_json(FORM_NUMBER, NULL, filter->n));
		json_add(o, "interval_ns",
			 value_json(FORM_NUMBER, NULL, filter->interval_ns));
	}
	return o;
}

void filter_in_force_text(char *buf, const struct tc_iqcn_cnp_filter *filter,
			  uint64_t n, uint64_t interval_ns)
{
	char interval[VALUE_SIZE];

	param_text(interval, IQCN_PARAM_NS, interval_ns);
	if (n)
		rate_text(buf, n, interval_ns);
	else if (interval_ns)
		snprintf(buf, VALUE_SIZE, "told within %.64s", interval);
	else
		filter_text(buf, filter);
}
