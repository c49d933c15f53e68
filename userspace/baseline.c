// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of qdiscs at the last "iqcn clear", for this user.
 *
 * There is one file per network namespace, with one line per qdisc: its place,
 * the time, and the counters by name.  Other users cannot replace the file.
 * But it may be damaged, or written by a newer or older tool.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "baseline.h"
#include "iqcn.h"
#include "snapshot.h"

#define DIR_NAME "iqcn"
#define NAME_SIZE 64

static uint64_t boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

uint64_t baseline_age_ns(const struct baseline *one)
{
	return boot_ns() - one->time_ns;
}

void baselines_free(struct baselines *b)
{
	free(b->list);
	memset(b, 0, sizeof(*b));
}

int baselines_add(struct baselines *b, const struct baseline *one)
{
	size_t room = b->room ? 2 * b->room : 16;
	struct baseline *list;

	if (b->n == b->room) {
		list = realloc(b->list, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		b->list = list;
		b->room = room;
	}
	b->list[b->n++] = *one;
	return 0;
}

void baseline_take(struct baseline *one, const struct qdisc *q)
{
	size_t i;

	*one = (struct baseline){
		.ifindex = q->ifindex,
		.parent = q->parent,
		.handle = q->handle,
		.time_ns = boot_ns(),
		.stats.sent = q->stats.sent,
	};
	for (i = 0; i < n_counters; i++)
		if (counters[i].rises)
			counter_set(&counters[i], &one->stats,
				    counter_get(&counters[i], &q->stats));
}

/* A counter of 32 bits may have wrapped around */
static bool is_older(const struct baseline *one, const struct stats *st)
{
	const struct counter *c;

	for (c = counters; c < counters + n_counters; c++)
		if (c->rises && c->size == sizeof(uint64_t) &&
		    counter_get(c, st) < counter_get(c, &one->stats))
			return false;
	return one->time_ns <= boot_ns();
}

const struct baseline *baseline_find(const struct baselines *b,
				     const struct qdisc *q)
{
	const struct baseline *one;

	for (one = b->list; one < b->list + b->n; one++)
		if (one->ifindex == q->ifindex && one->parent == q->parent &&
		    one->handle == q->handle)
			return is_older(one, &q->stats) ? one : NULL;
	return NULL;
}

void baseline_subtract(const struct baseline *one, struct stats *st)
{
	const struct counter *c;

	for (c = counters; c < counters + n_counters; c++)
		if (c->rises)
			counter_set(c, st, counter_get(c, st) -
					   counter_get(c, &one->stats));
}

void baselines_write(const struct baselines *b, FILE *f)
{
	const struct baseline *one;
	const struct counter *c;

	for (one = b->list; one < b->list + b->n; one++) {
		fprintf(f, "%" PRIu32 " %" PRIx32 " %" PRIx32 " %" PRIu64,
			one->ifindex, one->parent, one->handle, one->time_ns);
		for (c = counters; c < counters + n_counters; c++)
			if (c->rises && counter_sent(c, &one->stats))
				fprintf(f, " %s=%" PRIu64, c->key,
					counter_get(c, &one->stats));
		fputc('\n', f);
	}
}

/* Parse NAME=VALUE; skip unknown names */
static void read_counter(struct stats *st, char *word)
{
	const struct counter *c;
	char *value = strchr(word, '=');

	if (!value)
		return;
	*value++ = '\0';
	for (c = counters; c < counters + n_counters; c++)
		if (c->rises && !strcmp(c->key, word))
			counter_set(c, st, strtoull(value, NULL, 10));
}

void baselines_read(struct baselines *b, FILE *f)
{
	char *line = NULL, *word, *rest;
	struct baseline one;
	size_t size = 0;
	int used;

	while (getline(&line, &size, f) > 0) {
		memset(&one, 0, sizeof(one));
		one.stats.sent = sizeof(one.stats);
		if (sscanf(line, "%" SCNu32 " %" SCNx32 " %" SCNx32 " %" SCNu64
			   "%n", &one.ifindex, &one.parent, &one.handle,
			   &one.time_ns, &used) != 4)
			continue;
		rest = line + used;
		while ((word = strtok_r(rest, "\n ", &rest)))
			read_counter(&one.stats, word);
		if (baselines_add(b, &one))
			break;
	}
	free(line);
}

/* Does this user own the file or directory, and can no other user change its
 * contents?  A sticky directory is accepted: other users may add files, but not
 * replace those of this user.
 */
static bool is_own(int fd, mode_t type)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type &&
	       st.st_uid == geteuid() &&
	       (!(st.st_mode & 022) || st.st_mode & S_ISVTX);
}

static int open_own_dir(int at, const char *name, int flags)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);

	if (fd < 0 || is_own(fd, S_IFDIR))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* Open the directory of the files.  @name is set to the path of its parent
 * directory, for messages.
 */
static int open_dir(char *name, size_t size, bool create)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	int above = -1, fd;

	/* root may have inherited another user's variable */
	if (xdg && *xdg == '/') {
		snprintf(name, size, "%s", xdg);
		above = open_own_dir(AT_FDCWD, name, 0);
	}
	if (above < 0) {
		snprintf(name, size, geteuid() ? "/run/user/%u" : "/run",
			 geteuid());
		above = open_own_dir(AT_FDCWD, name, 0);
	}
	if (above < 0)
		return -1;
	if (create)
		mkdirat(above, DIR_NAME, 0700);
	fd = open_own_dir(above, DIR_NAME, O_NOFOLLOW);
	close(above);
	return fd;
}

/* Build the name of this network namespace's file */
static bool file_name(char *name)
{
	struct stat st;

	if (stat("/proc/self/ns/net", &st))
		return false;
	snprintf(name, NAME_SIZE, "clear-%ju", (uintmax_t)st.st_ino);
	return true;
}

void baselines_load(struct baselines *b)
{
	char dir_name[VALUE_SIZE], name[NAME_SIZE];
	int dir = open_dir(dir_name, sizeof(dir_name), false), fd;
	FILE *f;

	if (dir < 0)
		return;
	fd = file_name(name) ? openat(dir, name, O_RDONLY | O_NOFOLLOW |
				      O_NONBLOCK | O_CLOEXEC) : -1;
	close(dir);
	if (fd < 0)
		return;
	f = is_own(fd, S_IFREG) ? fdopen(fd, "r") : NULL;
	if (!f) {
		close(fd);
		return;
	}
	baselines_read(b, f);
	fclose(f);
}

/* Write a temporary file and rename it, so that no reader sees half a file.
 * Returns 0 or a negative errno.
 */
static int replace_file(int dir, const char *name, const struct baselines *b)
{
	char temp[NAME_SIZE + 16];
	FILE *f = NULL;
	int fd, err;

	snprintf(temp, sizeof(temp), ".%s.%u", name, getpid());
	/* a killed process that had our PID may have left this file */
	unlinkat(dir, temp, 0);
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (!f) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	baselines_write(b, f);
	err = ferror(f) ? -EIO : 0;
	if (fclose(f) && !err)
		err = -errno;
	if (!err && renameat(dir, temp, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, temp, 0);
	return err;
}

int baselines_save(const struct baselines *b)
{
	char dir_name[VALUE_SIZE], name[NAME_SIZE], path[2 * VALUE_SIZE];
	int dir = open_dir(dir_name, sizeof(dir_name), true), err;

	snprintf(path, sizeof(path), "%s/" DIR_NAME, dir_name);
	if (dir < 0) {
		fail(path, strerror(errno));
		return fail("counters are not cleared",
			    "set XDG_RUNTIME_DIR to a directory of your own");
	}
	if (file_name(name))
		err = replace_file(dir, name, b);
	else
		err = -errno;
	close(dir);
	return err ? fail(path, strerror(-err)) : EXIT_SUCCESS;
}
