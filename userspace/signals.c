// SPDX-License-Identifier: GPL-2.0
/*
 * Signals as a file descriptor to poll.
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

	/* if the counter is full, the descriptor is readable already */
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

/* SA_RESTART: only poll() is interrupted */
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

	/* read first: a signal in between makes the descriptor readable again */
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
