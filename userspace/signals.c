// SPDX-License-Identifier: GPL-2.0
/*
 * Signals as something to poll for.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "iqcn.h"
#include "signals.h"

static volatile sig_atomic_t ended, resized;
static int fd = -1;

static void wake(void)
{
	int saved = errno;

	/* what does not fit makes it no less readable */
	eventfd_write(fd, 1);
	errno = saved;
}

static void on_end(int signo)
{
	ended = 1;
	alarm(SIGNALS_GRACE_S);
	wake();
}

static void on_resize(int signo)
{
	resized = 1;
	wake();
}

static void on_alarm(int signo)
{
	_exit(EXIT_FAILURE);
}

/* What is under way goes on, but for poll() */
static int set_handler(int signo, void (*handler)(int))
{
	struct sigaction action = {
		.sa_handler = handler,
		.sa_flags = SA_RESTART,
	};

	return sigaction(signo, &action, NULL);
}

int signals_open(bool terminal)
{
	fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (fd < 0 || set_handler(SIGALRM, on_alarm) ||
	    set_handler(SIGINT, on_end) || set_handler(SIGTERM, on_end))
		return -1;
	if (terminal && (set_handler(SIGHUP, on_end) ||
			 set_handler(SIGWINCH, on_resize)))
		return -1;
	return fd;
}

static bool take(volatile sig_atomic_t *came)
{
	eventfd_t n;
	bool yes;

	/* first this: what comes in between makes it readable again */
	eventfd_read(fd, &n);
	yes = *came;
	*came = 0;
	return yes;
}

bool signals_end(void)
{
	return take(&ended);
}

bool signals_resized(void)
{
	return take(&resized);
}
