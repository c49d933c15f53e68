// SPDX-License-Identifier: GPL-2.0
/*
 * relay: pass lines of a program in the lab to a program outside, and wait for
 * its answers while virtual time stands still.
 *
 *   relay COMMAND...
 *
 * stdin and stdout are a terminal of the lab.  COMMAND waits for a line from
 * the terminal after each line of output that begins with a digit.
 *
 * Virtual time advances while all programs of the lab sleep.  So relay polls
 * the terminal until the answer arrives, with SCHED_IDLE, so that all other
 * programs run first.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Start the command; set @to and @from to pipes to its stdin and from its
 * stdout.  Return: its PID
 */
static pid_t start(char **command, int *to, FILE **from)
{
	int in[2], out[2];
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		err(2, "pipe");
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execvp(command[0], command);
		err(127, "%s", command[0]);
	}
	close(in[0]);
	close(out[1]);
	*to = in[1];
	*from = fdopen(out[0], "r");
	if (!*from)
		err(2, "fdopen");
	return pid;
}

static void write_all(int fd, const char *p, size_t n)
{
	ssize_t done;

	for (; n; p += done, n -= done) {
		done = write(fd, p, n);
		if (done < 0)
			err(2, "write");
	}
}

/* Forward one line of the terminal.  A system call that fails, such as read()
 * without data, would cost a microsecond of virtual time; poll() costs none.
 */
static void answer(int to)
{
	struct pollfd tty = { .fd = STDIN_FILENO, .events = POLLIN };
	char c = 0;

	do {
		while (!poll(&tty, 1, 0))
			;
		if (read(STDIN_FILENO, &c, 1) != 1)
			errx(2, "the terminal was closed");
		write_all(to, &c, 1);
	} while (c != '\n');
}

static void set_up_terminal(void)
{
	struct termios settings;

	if (tcgetattr(STDIN_FILENO, &settings))
		err(2, "stdin");
	cfmakeraw(&settings);
	if (tcsetattr(STDIN_FILENO, TCSANOW, &settings))
		err(2, "stdin");
}

int main(int argc, char **argv)
{
	const struct sched_param none = {};
	char *line = NULL;
	size_t size = 0;
	int to, status;
	ssize_t n;
	pid_t pid;
	FILE *from;

	if (argc < 2)
		errx(2, "usage: relay COMMAND...");
	set_up_terminal();
	pid = start(argv + 1, &to, &from);
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		err(2, "sched_setscheduler");
	while ((n = getline(&line, &size, from)) > 0) {
		write_all(STDOUT_FILENO, line, n);
		if (isdigit(*line))
			answer(to);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
