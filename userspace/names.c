// SPDX-License-Identifier: GPL-2.0
/*
 * Words for the kernel's numbers.
 */
#include <stddef.h>

#include "names.h"

const char *const mark_on_names[] = { "enqueue", "dequeue", NULL };
const char *const nonect_names[] = { "pass", "drop", NULL };
const char *const notify_names[] = { "timer", "wreb", "pi", NULL };
const char *const ce_in_names[] = { "notify", "silent", NULL };
const char *const measure_names[] = { "depth", "gradient", "delay", NULL };
const char *const switch_names[] = { "off", "on", NULL };
const char *const detect_names[] = { "queue", "depth", "run", "span", NULL };
const char *const trigger_names[] = { "timer", "period", "gap", NULL };
const char *const base_names[] = { "ce", "cnp", "both", NULL };
const char *const smac_names[] = { "port", "receiver", NULL };
const char *const snoop_names[] = { "port", "netns", NULL };
const char *const reason_names[] = { "none", "queue", "depth", "run", "span",
				     "quiet", "reset", NULL };
const char *const pair_names[] = { "none", "sport", "cnp", "psn", "cm", NULL };
const char *const cause_names[] = { "none", "timer", "wreb", "pi", "hold",
				    "drop", NULL };
