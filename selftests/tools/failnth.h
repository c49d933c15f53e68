/* SPDX-License-Identifier: GPL-2.0 */
/*
 * failnth: fail the n-th allocation of this thread during one call.
 */
#ifndef FAILNTH_H
#define FAILNTH_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More allocations than any call makes */
#define FAILNTH_MAX	20000

static void failnth_die(const char *what)
{
	perror(what);
	exit(2);
}

static int failnth_open(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		failnth_die("/proc/thread-self/fail-nth");
	return fd;
}

/* Also fail page allocations, so that fallbacks such as vmalloc() after
 * kmalloc() fail, too.  $FAILNTH_PAGES means that the caller has set up
 * fail_page_alloc for tasks with make-it-fail.
 */
static void failnth_pages(bool fail)
{
	static int fd = -1;

	if (!getenv("FAILNTH_PAGES"))
		return;
	if (fd < 0)
		fd = open("/proc/thread-self/make-it-fail", O_RDWR | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, fail ? "1" : "0", 1, 0) != 1)
		failnth_die("make-it-fail");
}

/* Make the @n-th allocation after this call fail; 0: disarm */
static void failnth_arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	failnth_pages(n);
	if (pwrite(failnth_open(), text, len, 0) != len)
		failnth_die("fail-nth");
}

/* Return: allocations left until the failure, 0 if one has failed */
static unsigned int failnth_disarm(void)
{
	char text[16] = {};

	if (pread(failnth_open(), text, sizeof(text) - 1, 0) <= 0)
		failnth_die("fail-nth");
	failnth_arm(0);
	return strtoul(text, NULL, 10);
}

#endif /* FAILNTH_H */
