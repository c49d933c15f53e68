/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values as text and as JSON, and the output of JSON.
 */
#ifndef _IQCN_OUT_H
#define _IQCN_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

/* Enough for any value except an array */
#define VALUE_SIZE 128

enum form {
	FORM_NONE,
	FORM_NUMBER,
	FORM_PROB,	/* share of UINT32_MAX */
	FORM_NAME,	/* one of names[] */
	FORM_SET,	/* names[] are bits */
	FORM_FLAG,
	FORM_PARENT,	/* handle of a qdisc or class */
	FORM_DEV,	/* number of a device */
	/* the following are not numbers */
	FORM_STRING,
	FORM_ADDRESS,
	FORM_MAC,
};

struct address {
	uint8_t len;	/* 4 or 16, 0: unknown */
	uint8_t bytes[16];
};

struct mac {
	uint8_t bytes[6];
};

/*
 * A value of a newer module that is not in names[] becomes a number, in text
 * and in JSON: "7", or "0x40" in a set.  @buf has VALUE_SIZE bytes.
 */
void value_text(char *buf, enum form form, const char *const *names,
		uint64_t v);
struct json_object *value_json(enum form form, const char *const *names,
			       uint64_t v);
void address_text(char *buf, const struct address *a);
void mac_text(char *buf, const struct mac *mac);
void qp_text(char *buf, uint32_t qp);
/* At most three digits: "5ns", "1.23ms"; from 999.5 s on two units: "2h05m";
 * from 100 days on only days: "123d"
 */
void time_text(char *buf, uint64_t ns);
/* At most three digits: "1.23MB", of 10^6 bytes */
void size_text(char *buf, uint64_t bytes);
/* "9999", or at most three digits and a prefix: "1.2M", "12.3k", "123k" */
void count_text(char *buf, double v);

/*
 * The kernel accepts nearly every byte in the name of a device, so names are
 * escaped before they are printed.  A backslash becomes "\\", and an
 * unprintable byte "\xNN", so different names never become the same text.
 */

/* Size of the escaped text of @len bytes */
#define ESCAPED_SIZE(len) (4 * (len) + 1)

/* For a terminal: printable ASCII.  @buf has VALUE_SIZE bytes if @name is a
 * device's, else ESCAPED_SIZE(strlen(name))
 */
void name_text(char *buf, const char *name);
/* For JSON: UTF-8 is kept, except controls such as U+009B, which begins an
 * escape sequence on some terminals.  json-c itself escapes quotes and ASCII
 * controls.
 */
struct json_object *name_json(const char *name);
/* The text of name_text(), of any length */
void name_print(FILE *f, const char *name);

/* Both cache the last name until dev_forget(), because a flow list calls them
 * often
 */
const char *dev_name(uint32_t ifindex);
/* The name, escaped as by name_text() */
const char *dev_escaped(uint32_t ifindex);
void dev_forget(void);
/* Set the cached name, for a device that is gone */
void dev_remember(uint32_t ifindex, const char *name);
/* Parses "1:2" or "root"; returns 0 or -1 */
int parse_parent(const char *word, uint32_t *parent);

/* Adds @v unless it is NULL.  @key must stay valid as long as @o */
void json_add(struct json_object *o, const char *key, struct json_object *v);

/*
 * Print and free one object: as an element of the array, or as a line.  A loop
 * over many objects should check out_closed().
 */
void json_array_begin(void);
void json_array_element(struct json_object *o);
void json_array_end(void);
void json_line(struct json_object *o);

/* The output failed: the reader is gone, or the disk is full.  Callers return,
 * and main() prints the error.
 */
bool out_closed(void);
/* Flushes the output at the end.  Returns @ret, or EXIT_FAILURE with a message
 * if the output failed.  A pipe that its reader closed is not an error.
 */
int out_status(int ret);

/* COLUMNS, or columns of the terminal, or 80 */
int screen_columns(void);
/* A space at which wrap_text() does not break the line */
#define UNBROKEN '\t'
/* Prints wrapped text from @column on, and a newline.  Continuation lines are
 * indented by @indent spaces.
 */
void wrap_text(FILE *f, int indent, int column, const char *text);

#endif /* _IQCN_OUT_H */
