/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of parameters in the syntax of tc.  @type: enum iqcn_param_type.
 */
#ifndef _IQCN_PARAM_H
#define _IQCN_PARAM_H

#include <stdint.h>

#include <netlink/attr.h>

#include <linux/iqcn.h>

#include "out.h"

/* FORM_NONE: a profile or a filter */
enum form param_form(int type);
/* Print a number exactly, in the largest unit that leaves an integer */
void param_text(char *buf, int type, uint64_t v);
/* Print a share of UINT32_MAX with the fewest digits that tc parses to the same
 * share
 */
void prob_text(char *buf, uint32_t v);

/* Copy a CNP filter from @attr; returns false if @attr is missing or too short
 */
bool filter_get(struct tc_iqcn_cnp_filter *filter, const struct nlattr *attr);
void filter_text(char *buf, const struct tc_iqcn_cnp_filter *filter);
struct json_object *filter_json(const struct tc_iqcn_cnp_filter *filter);
/* Print the filter in force: @n CNPs in @interval_ns, as the port reports; if
 * only @n is 0, filter told with that interval; if both are 0, @filter
 */
void filter_in_force_text(char *buf, const struct tc_iqcn_cnp_filter *filter,
			  uint64_t n, uint64_t interval_ns);

#endif /* _IQCN_PARAM_H */
