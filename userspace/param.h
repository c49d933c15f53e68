/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of parameters in the syntax of tc.  @type: enum iqcn_param_type.
 */
#ifndef _IQCN_PARAM_H
#define _IQCN_PARAM_H

#include <stdint.h>

#include "out.h"

/* FORM_NONE: a profile */
enum form param_form(int type);
/* Print a number exactly, in the largest unit that leaves an integer */
void param_text(char *buf, int type, uint64_t v);
/* Print a share of UINT32_MAX with the fewest digits that tc parses to the same
 */
void prob_text(char *buf, uint32_t v);

#endif /* _IQCN_PARAM_H */
