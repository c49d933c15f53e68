/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals as a file descriptor to poll.
 *
 * SIGINT and SIGTERM end the program where it next polls the descriptor.  If
 * the program does not get there, because it blocks in a write to a reader that
 * does not read, an alarm ends it after SIGNALS_GRACE_S.
 */
#ifndef _IQCN_SIGNALS_H
#define _IQCN_SIGNALS_H

#include <stdbool.h>

#define SIGNALS_GRACE_S 2

enum {
	SIGNALS_END = 1,
	SIGNALS_RESIZED = 2,
};

/* Catch SIGINT and SIGTERM, and with @terminal also SIGHUP and SIGWINCH.
 * Returns a descriptor that is readable after a signal, or -1 with errno.
 */
int signals_open(bool terminal);
/* Returns a bit mask of the signals since the last call; drains the descriptor
 */
unsigned int signals_take(void);

#endif /* _IQCN_SIGNALS_H */
