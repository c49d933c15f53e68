// SPDX-License-Identifier: GPL-2.0
/*
 * Replace files atomically.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iqcn.h"
#include "replace.h"

static bool write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	for (; len; text += n, len -= n) {
		n = write(fd, text, len);
		if (n < 0)
			return false;
	}
	return true;
}

/* Replace @path atomically; on failure @path is unchanged and errno is set */
static bool write_temp(int fd, const char *temp, const char *path,
		       const char *text, size_t len)
{
	bool ok = write_all(fd, text, len) && !fchmod(fd, 0644);
	int err = errno;

	/* some file systems report ENOSPC only here */
	if (close(fd) && ok) {
		ok = false;
		err = errno;
	}
	if (ok && !rename(temp, path))
		return true;
	if (ok)
		err = errno;
	unlink(temp);
	errno = err;
	return false;
}

/* Writes a temporary file and renames it.  The temporary name is not *.prom, so
 * node_exporter ignores it.  Signals are blocked meanwhile, so that only a
 * SIGKILL can leave the temporary file behind.
 */
static bool replace(const char *path, const char *text, size_t len)
{
	const char *slash = strrchr(path, '/');
	int dir_len = slash ? slash + 1 - path : 0, fd, err;
	sigset_t all, old;
	char *temp;
	bool ok;

	if (asprintf(&temp, "%.*s.%s.XXXXXX", dir_len, path,
		     path + dir_len) < 0)
		return false;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	fd = mkstemp(temp);
	ok = fd >= 0 && write_temp(fd, temp, path, text, len);
	err = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(temp);
	errno = err;
	return ok;
}

int replace_file(const char *path, const char *text, size_t len)
{
	struct stat st;

	/* root must not replace /dev/null with a file */
	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return fail(path, "not a regular file");
	if (!replace(path, text, len))
		return fail(path, strerror(errno));
	return EXIT_SUCCESS;
}
