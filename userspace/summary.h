/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A qdisc in a few lines.
 */
#ifndef _IQCN_SUMMARY_H
#define _IQCN_SUMMARY_H

#include "baseline.h"
#include "qdisc.h"

/* Counters are since the qdisc's baseline in @b, if it has one */
void summary_print(FILE *f, const struct qdisc *q, const struct baselines *b);

#endif /* _IQCN_SUMMARY_H */
