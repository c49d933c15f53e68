// SPDX-License-Identifier: GPL-2.0
/*
 * Names of the kernel's numbers.
 */
#include <stddef.h>

#include "../kmod/config_defaults.h"
#include "names.h"

const char *const notify_names[] = { IQCN_NAMES_NOTIFY, NULL };
const char *const detect_names[] = { IQCN_NAMES_DETECT, NULL };
const char *const snoop_names[] = { IQCN_NAMES_SNOOP, NULL };
const char *const pair_names[] = { "none", IQCN_NAMES_PAIR, NULL };
const char *const reason_names[] = { "none", "queue", "depth", "run", "span",
				     "quiet", "reset", NULL };
const char *const cause_names[] = { "none", "timer", "wreb", "pi", "poll",
				    "drop", "pfc", "grant", "supplement", NULL };
const char *const filter_names[] = { IQCN_NAMES_CNP_FILTER, "fixed", NULL };
const char *const pfc_state_names[] = { IQCN_NAMES_PFC_STATE, NULL };
const char *const pfc_reason_names[] = { IQCN_NAMES_PFC_REASON, NULL };
