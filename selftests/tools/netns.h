/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Network namespaces by name.  Include after defining _GNU_SOURCE.
 */
#ifndef NETNS_H
#define NETNS_H

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

/* Enter the namespace named by the first @len bytes of @name.  Return: 0, or -1
 * with errno set
 */
static inline int netns_enter(const char *name, int len)
{
	char path[256];
	int fd, ret;

	snprintf(path, sizeof(path), "/run/netns/%.*s", len, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = setns(fd, CLONE_NEWNET);
	close(fd);
	return ret;
}

#endif /* NETNS_H */
