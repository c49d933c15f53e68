/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the kernel's numbers.  Each array is indexed by value or by bit, and
 * ends with NULL.
 */
#ifndef _IQCN_NAMES_H
#define _IQCN_NAMES_H

extern const char *const notify_names[];
extern const char *const detect_names[];
extern const char *const snoop_names[];
extern const char *const pair_names[];
extern const char *const reason_names[];
extern const char *const cause_names[];
extern const char *const filter_names[];
extern const char *const pfc_state_names[];
extern const char *const pfc_reason_names[];

#endif /* _IQCN_NAMES_H */
