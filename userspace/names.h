/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words for the kernel's numbers, by number or by bit; NULL comes last.
 */
#ifndef _IQCN_NAMES_H
#define _IQCN_NAMES_H

extern const char *const mark_on_names[];
extern const char *const nonect_names[];
extern const char *const notify_names[];
extern const char *const ce_in_names[];
extern const char *const measure_names[];
extern const char *const switch_names[];
extern const char *const detect_names[];
extern const char *const trigger_names[];
extern const char *const base_names[];
extern const char *const smac_names[];
extern const char *const snoop_names[];
extern const char *const reason_names[];
extern const char *const pair_names[];
extern const char *const cause_names[];

#endif /* _IQCN_NAMES_H */
