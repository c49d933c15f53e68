/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals as something to poll for.
 *
 * Those that end a program do so where it likes.  Who writes to somebody who does
 * not read never gets there: SIGNALS_GRACE_S later this ends it.
 */
#ifndef _IQCN_SIGNALS_H
#define _IQCN_SIGNALS_H

#include <stdbool.h>

#define SIGNALS_GRACE_S 2

/* SIGINT and SIGTERM; of a terminal also that it is gone, or of another size.
 * Returns what is readable when one has come, or -1 and errno.
 */
int signals_open(bool terminal);
/* Since the last time; both make the descriptor wait for the next */
bool signals_end(void);
bool signals_resized(void);

#endif /* _IQCN_SIGNALS_H */
