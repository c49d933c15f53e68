/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the commands of iqcn share.
 */
#ifndef _IQCN_H
#define _IQCN_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SYS_MODULE "/sys/module/sch_iqcn"
/* in addition to EXIT_SUCCESS and EXIT_FAILURE */
#define EXIT_USAGE 2

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* argv[0] is the name of the command; options may be anywhere */
int cmd_agent(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_clear(int argc, char **argv);
int cmd_flows(int argc, char **argv);
int cmd_flush(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_showconf(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_monitor(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* The summary of "iqcn help", as wide as the screen */
void usage(FILE *f);

/* Prints "iqcn: @what: @why" to stderr; returns EXIT_FAILURE */
int fail(const char *what, const char *why);
/* Prints @problem and the wrong argument to stderr; returns EXIT_USAGE */
int misuse(const char *problem, const char *word);

/*
 * getopt_long() with our error messages.  @options are the long options of the
 * command itself, or NULL.  Returns the next option's value, -1 after the last
 * one, or '?' after an error.  For every command it also knows -j, which
 * commands without JSON refuse, and -h and -V, which end the program.
 */
int next_option(int argc, char **argv, const struct option *options);
/* Parse the options of a command that has none of its own.  Returns false after
 * an error.
 */
bool parse_json(int argc, char **argv, bool *json);

/* These return EXIT_SUCCESS, or the exit status after an error */
/* @ifindex is 0 if @dev is NULL */
int parse_dev(const char *dev, uint32_t *ifindex);
/* [ DEV [ root | parent CLASSID ] ], in tc's syntax.  A part that is missing is
 * 0
 */
int parse_place(int n, char **words, uint32_t *ifindex, uint32_t *parent);
/* "10ms"; the default unit is seconds.  Returns 0 or -1 */
int parse_time_ns(const char *word, uint64_t *ns);
/* A time from 1 ms to an hour */
int parse_interval(const char *word, uint64_t *ns);
/* A number of at least 1 */
int parse_count(const char *word, uint64_t *n);
/* IPv4 or IPv6; an IPv4-mapped IPv6 address becomes the IPv4 address */
struct address;
int parse_ip(const char *word, struct address *a);
/* Decimal, or hexadecimal after "0x" */
int parse_qp(const char *word, uint32_t *qp);

/* netns.c: enter a network namespace for the rest of the program.  @name: a
 * name of "ip netns", or a path.  Returns EXIT_SUCCESS, or the exit status
 * after an error.
 */
int enter_netns(const char *name);

#endif /* _IQCN_H */
