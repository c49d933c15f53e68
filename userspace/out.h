/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How values are written, as text and as JSON, and where JSON goes.
 */
#ifndef _IQCN_OUT_H
#define _IQCN_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/* Enough for any value but an array */
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
	FORM_STRING,	/* these are no numbers: */
	FORM_ADDRESS,
	FORM_MAC,
};

struct address {
	uint8_t len;	/* 4 or 16, 0: not known */
	uint8_t bytes[16];
};

struct mac {
	uint8_t bytes[6];
};

/*
 * What is not in names[], for the kernel is newer, is a number in text and in
 * JSON: "7", and in a set "0x40".  @buf has VALUE_SIZE bytes.
 */
void value_text(char *buf, enum form form, const char *const *names,
		uint64_t v);
struct json_object *value_json(enum form form, const char *const *names,
			       uint64_t v);
void address_text(char *buf, const struct address *a);
void mac_text(char *buf, const struct mac *mac);
void qp_text(char *buf, uint32_t qp);
/* Three digits: "1.23ms" */
void time_text(char *buf, uint64_t ns);

/* The last name is kept until dev_forget(), for there may be a million */
const char *dev_name(uint32_t ifindex);
void dev_forget(void);
/* "1:2", "root" */
int parse_parent(const char *word, uint32_t *parent);

/* Adds, but for NULL.  @key has to stay */
void json_add(struct json_object *o, const char *key, struct json_object *v);

/*
 * JSON goes out one object at a time, which is freed: elements of one array, or
 * a line each.  Whoever makes many looks at out_closed().
 */
void json_array_begin(void);
void json_array_element(struct json_object *o);
void json_array_end(void);
void json_line(struct json_object *o);

/* Nobody reads on, or the disk is full: go home, main() has the last word */
bool out_closed(void);
/* The last of it goes out; 0, or why not all of it did */
int out_finish(void);

/* Columns of the screen, 80 if there is none */
int screen_columns(void);

#endif /* _IQCN_OUT_H */
