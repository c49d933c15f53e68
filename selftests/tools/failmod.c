// SPDX-License-Identifier: GPL-2.0
/*
 * failmod: load and unload a module, failing each of its allocations in turn.
 *
 *   failmod FILE NAME	prints the number of allocations: "load N unload N"
 *
 * A failed load must leave nothing behind.  A loaded module must unload even if
 * an allocation fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include "failnth.h"

static bool load(int fd)
{
	return !syscall(SYS_finit_module, fd, "", 0);
}

/* Users of the module may still hold a reference for a moment */
static bool unload(const char *name)
{
	int i;

	for (i = 0; i < 50; i++) {
		if (!syscall(SYS_delete_module, name, O_NONBLOCK))
			return true;
		if (errno != EAGAIN && errno != EBUSY)
			return false;
		usleep(10000);
	}
	return false;
}

/* Load and unload the module, failing each allocation of the load in turn.
 * Return: number of allocations
 */
static unsigned int sweep_load(int fd, const char *name)
{
	unsigned int n, left;
	bool loaded;

	for (n = 1; n < FAILNTH_MAX; n++) {
		failnth_arm(n);
		loaded = load(fd);
		left = failnth_disarm();
		if (loaded && !unload(name))
			failnth_die("unload");
		if (!left)
			continue;
		if (!loaded)
			failnth_die("load failed without a failed allocation");
		break;
	}
	return n - 1;
}

static unsigned int sweep_unload(int fd, const char *name)
{
	unsigned int n, left;
	bool gone;

	for (n = 1; n < FAILNTH_MAX; n++) {
		if (!load(fd))
			failnth_die("load");
		failnth_arm(n);
		gone = unload(name);
		left = failnth_disarm();
		if (!gone)
			failnth_die("unload after a failed allocation");
		if (left)
			break;
	}
	return n - 1;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 3) {
		fprintf(stderr, "Usage: failmod FILE NAME\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		failnth_die(argv[1]);
	/* the first load makes additional allocations: warm up */
	if (!load(fd) || !unload(argv[2]))
		failnth_die(argv[1]);
	printf("load %u", sweep_load(fd, argv[2]));
	printf(" unload %u\n", sweep_unload(fd, argv[2]));
	return 0;
}
