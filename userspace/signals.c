// SPDX-License-Identifier: GPL-2.0
/*
 * Signals as a file descriptor to poll.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "iqcn.h"
#include "signals.h"

static atomic_uint came;
static int fd = -1;

static void wake(unsigned int signals)
{
	int saved = errno;

	atomic_fetch_or(&came, signals);
	/* if the counter is full, the descriptor is readable already */
	eventfd_write(fd, 1);
	errno = saved;
}

static void on_end(int signo)
{
	alarm(SIGNALS_GRACE_S);
	wake(SIGNALS_END);
}

static void on_resize(int signo)
{
	wake(SIGNALS_RESIZED);
}

static void on_alarm(int signo)
{
	_exit(EXIT_FAILURE);
}

/* With SA_RESTART, signals interrupt poll(), but not reads and writes */
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

unsigned int signals_take(void)
{
	eventfd_t n;

	/* read first: a signal in between makes the descriptor readable again
	 */
	eventfd_read(fd, &n);
	return atomic_exchange(&came, 0);
}
