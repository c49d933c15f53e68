/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A qdisc in a few lines.
 */
#ifndef _IQCN_SUMMARY_H
#define _IQCN_SUMMARY_H

#include "baseline.h"
#include "object.h"
#include "qdisc.h"

/* Print counters relative to the qdisc's baseline in @b, if it has one.  @port:
 * of the device, NULL: not known
 */
void summary_print(FILE *f, const struct qdisc *q, const struct port *port,
		   const struct baselines *b);

#endif /* _IQCN_SUMMARY_H */
