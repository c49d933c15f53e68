/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of tc that a qdisc plugin uses.  iproute2 installs no header for it,
 * so this file declares the structure that tc looks up (KIND_qdisc_util), and
 * the functions that the plugin calls.  These declarations are the same from
 * iproute2 6.1 to 7.
 *
 * Variables must be weak: a missing function is an error when it is called, but
 * a missing variable keeps the plugin from being loaded, without a message.
 */
#ifndef _IQCN_TC_ABI_H
#define _IQCN_TC_ABI_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/rtnetlink.h>

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats);
	int (*parse_copt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*has_block)(struct qdisc_util *qu, struct rtattr *opt,
			 __u32 block_idx, bool *has);
};

/* tc/tc.c: "tc -d" */
extern int show_details __attribute__((weak));

/* lib/utils.c */
char *sprint_time64(__s64 time_ns, char *buf);
#define SPRINT_BSIZE 64

/* lib/libnetlink.c */
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data,
	      int alen);
int addattr32(struct nlmsghdr *n, int maxlen, int type, __u32 data);
int addattr64(struct nlmsghdr *n, int maxlen, int type, __u64 data);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta,
		       int len, unsigned short flags);

/* lib/json_print.c */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

enum color_attr {
	COLOR_IFNAME,
	COLOR_MAC,
	COLOR_INET,
	COLOR_INET6,
	COLOR_OPERSTATE_UP,
	COLOR_OPERSTATE_DOWN,
	COLOR_NONE
};

bool is_json_context(void);
void open_json_object(const char *delim);
void close_json_object(void);
void open_json_array(enum output_type type, const char *delim);
void close_json_array(enum output_type type, const char *delim);
void print_nl(void);
int print_color_uint(enum output_type type, enum color_attr color,
		     const char *key, const char *fmt, unsigned int value);
int print_color_u64(enum output_type type, enum color_attr color,
		    const char *key, const char *fmt, __u64 value);
int print_color_string(enum output_type type, enum color_attr color,
		       const char *key, const char *fmt, const char *value);

/* lib/json_writer.c, for numbers that the functions above would round */
struct json_writer;
struct json_writer *get_json_writer(void);
void jsonw_name(struct json_writer *w, const char *name);
void jsonw_printf(struct json_writer *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* _IQCN_TC_ABI_H */
