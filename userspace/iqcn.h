/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the commands of iqcn share.
 */
#ifndef _IQCN_H
#define _IQCN_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYS_MODULE "/sys/module/sch_iqcn"
/* beside EXIT_SUCCESS and EXIT_FAILURE */
#define EXIT_USAGE 2

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Each gets its own arguments, its name first; options may be anywhere */
int cmd_check(int argc, char **argv);
int cmd_flows(int argc, char **argv);
int cmd_flush(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_monitor(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* Says on stderr what went wrong and why; returns EXIT_FAILURE */
int fail(const char *what, const char *why);
/* Says on stderr which word is wrong; returns EXIT_USAGE */
int misuse(const char *problem, const char *word);

/*
 * getopt_long(), which says itself what is wrong: the next option as one of
 * @options, if there are, or its letter, -1 after the last, '?' if there is something wrong.
 * "-j" is an option of every command.
 */
int next_option(int argc, char **argv, const struct option *options);

/* EXIT_SUCCESS, or what to exit with; without a @dev @ifindex is 0 */
int parse_dev(const char *dev, uint32_t *ifindex);
/* "10ms"; without a unit it is seconds */
int parse_time_ns(const char *word, uint64_t *ns);
/* Likewise, from 1ms to an hour; EXIT_SUCCESS, or what to exit with */
int parse_interval(const char *word, uint64_t *ns);
/* 1 or more; likewise */
int parse_count(const char *word, uint64_t *n);

#endif /* _IQCN_H */
