// SPDX-License-Identifier: GPL-2.0
/*
 * Namespaces, and processes with their own namespaces.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seqfuzz.h"

#define NOBODY		65534

/* Enter new user, network and mount namespaces, as root of the user namespace.
 * @drop: become nobody first.  Return: true on success
 */
bool enter_user_namespace(bool drop)
{
	int uid = drop ? NOBODY : getuid(), gid = drop ? NOBODY : getgid();
	static const char * const files[] = { "setgroups", "uid_map", "gid_map" };
	char text[3][32] = { "deny" }, path[64];
	unsigned int i;
	int fd;

	if (drop && (setgroups(0, NULL) || setresgid(gid, gid, gid) ||
		     setresuid(uid, uid, uid)))
		return false;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) ||
	    /* otherwise /proc/self belongs to root */
	    prctl(PR_SET_DUMPABLE, 1))
		return false;
	sprintf(text[1], "0 %d 1", uid);
	sprintf(text[2], "0 %d 1", gid);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "/proc/self/%s", files[i]);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, text[i], strlen(text[i])) < 0)
			return false;
		close(fd);
	}
	return true;
}

/* Replace the namespace of a slot with a new one */
int op_netns(struct place *p)
{
	uint64_t word = shared->slot[p->slot];
	int fd;

	if (alone)
		return -EOPNOTSUPP;
	if (published[p->slot] >= 0)
		return -EBUSY;
	if (unshare(CLONE_NEWNET))
		return -errno;
	fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	go_home();
	if (fd < 0)
		return -errno;
	published[p->slot] = fd;
	if (atomic_compare_exchange_strong(&shared->slot[p->slot], &word,
					   slot_word((word >> 48) + 1, fd)))
		return 0;
	close_fd(&published[p->slot]);
	return -EAGAIN;
}

/* Run operations in a network namespace that only this process uses, and half
 * of the time in a new user namespace, too.  When the process exits, the
 * network namespace is destroyed with packets still queued.
 */
static void live_alone(void)
{
	bool as_nobody = below(2);
	struct place p = { .netns = -1, .packet = -1, .sysfs = -1 };
	unsigned int i;

	for (i = 0; i < n_slots; i++)
		close_place(&places[i]);
	if (as_nobody ? !enter_user_namespace(!as_user) :
			unshare(CLONE_NEWNET) != 0)
		_exit(1);
	alone = true;
	p.netns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (!open_place(&p))
		_exit(1);
	for (i = 0; i < 30 && p.rtnl; i++)
		any_step(&p);
	_exit(0);
}

int op_process(struct place *p)
{
	pid_t pid;
	int status;

	if (alone)
		return -EOPNOTSUPP;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		random_state ^= 0x5555;
		live_alone();
	}
	if (!below(4)) {
		usleep(below(20000));
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		/* report the signal as a failure of this worker */
		raise(WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) ? -EPERM : 0;
}
