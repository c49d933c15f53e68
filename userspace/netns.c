// SPDX-License-Identifier: GPL-2.0
/*
 * The network namespace in which the tool works.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "iqcn.h"

/* Where "ip netns add" puts names */
#define NETNS_DIR "/run/netns/"

int enter_netns(const char *name)
{
	char *path;
	int fd, ret;

	if (asprintf(&path, "%s%s", strchr(name, '/') ? "" : NETNS_DIR, name) < 0)
		return fail(name, strerror(ENOMEM));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return fail(name, strerror(errno));
	ret = setns(fd, CLONE_NEWNET) ? fail(name, strerror(errno)) :
					EXIT_SUCCESS;
	close(fd);
	return ret;
}
