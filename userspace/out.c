// SPDX-License-Identifier: GPL-2.0
/*
 * Format values as text and as JSON, and print JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/pkt_sched.h>
#include <net/if.h>

#include "iqcn.h"
#include "out.h"

#define SCREEN_COLUMNS 80

static const char *name_of(const char *const *names, uint64_t v)
{
	while (*names && v--)
		names++;
	return *names;
}

static void set_text(char *buf, const char *const *names, uint64_t bits)
{
	size_t i, len = 0;

	*buf = '\0';
	for (i = 0; names[i]; i++) {
		if (bits & 1ULL << i)
			len += snprintf(buf + len, VALUE_SIZE - len, "%s%s",
					len ? "," : "", names[i]);
		bits &= ~(1ULL << i);
	}
	if (bits)
		snprintf(buf + len, VALUE_SIZE - len, "%s0x%" PRIx64,
			 len ? "," : "", bits);
}

static struct json_object *set_json(const char *const *names, uint64_t bits)
{
	struct json_object *set = json_object_new_array();
	char rest[VALUE_SIZE];
	size_t i;

	for (i = 0; names[i]; i++) {
		if (bits & 1ULL << i)
			json_object_array_add(set,
					      json_object_new_string(names[i]));
		bits &= ~(1ULL << i);
	}
	if (bits) {
		snprintf(rest, sizeof(rest), "0x%" PRIx64, bits);
		json_object_array_add(set, json_object_new_string(rest));
	}
	return set;
}

/* As in tc: a zero major or minor number is left out */
static void parent_text(char *buf, uint32_t parent)
{
	if (parent == TC_H_ROOT)
		strcpy(buf, "root");
	else
		snprintf(buf, VALUE_SIZE, "%.0x:%.0x", TC_H_MAJ(parent) >> 16,
			 TC_H_MIN(parent));
}

void value_text(char *buf, enum form form, const char *const *names,
		uint64_t v)
{
	const char *name;

	switch (form) {
	case FORM_PROB:
		snprintf(buf, VALUE_SIZE, "%.9g", (double)v / UINT32_MAX);
		break;
	case FORM_NAME:
		name = name_of(names, v);
		if (name)
			snprintf(buf, VALUE_SIZE, "%s", name);
		else
			snprintf(buf, VALUE_SIZE, "%" PRIu64, v);
		break;
	case FORM_SET:
		set_text(buf, names, v);
		break;
	case FORM_PARENT:
		parent_text(buf, v);
		break;
	case FORM_DEV:
		snprintf(buf, VALUE_SIZE, "%s", dev_name(v));
		break;
	default:
		snprintf(buf, VALUE_SIZE, "%" PRIu64, v);
	}
}

struct json_object *value_json(enum form form, const char *const *names,
			       uint64_t v)
{
	char buf[VALUE_SIZE];

	switch (form) {
	case FORM_NUMBER:
		return json_object_new_uint64(v);
	case FORM_SET:
		return set_json(names, v);
	case FORM_FLAG:
		return json_object_new_boolean(v);
	case FORM_PROB:
		value_text(buf, form, names, v);
		return json_object_new_double_s((double)v / UINT32_MAX, buf);
	default:
		value_text(buf, form, names, v);
		return json_object_new_string(buf);
	}
}

void address_text(char *buf, const struct address *a)
{
	if (!a->len || !inet_ntop(a->len == 4 ? AF_INET : AF_INET6, a->bytes,
				  buf, VALUE_SIZE))
		strcpy(buf, "-");
}

void mac_text(char *buf, const struct mac *mac)
{
	const uint8_t *b = mac->bytes;

	snprintf(buf, VALUE_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1],
		 b[2], b[3], b[4], b[5]);
}

void qp_text(char *buf, uint32_t qp)
{
	snprintf(buf, VALUE_SIZE, "0x%06x", qp);
}

void time_text(char *buf, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double v = ns;
	size_t i;

	/* use the next unit for what would be rounded to 1000 */
	for (i = 0; v >= 999.5 && i < ARRAY_SIZE(units) - 1; i++)
		v /= 1000;
	snprintf(buf, VALUE_SIZE, v < 9.995 && i ? "%.2f%s" :
				  v < 99.95 && i ? "%.1f%s" : "%.0f%s",
		 v, units[i]);
}

static uint32_t dev_cached;
static char dev_cache[IF_NAMESIZE];

const char *dev_name(uint32_t ifindex)
{
	if (ifindex != dev_cached) {
		dev_cached = ifindex;
		/* the device may be gone already */
		if (!if_indextoname(ifindex, dev_cache))
			snprintf(dev_cache, sizeof(dev_cache), "if%u",
				 ifindex);
	}
	return dev_cache;
}

void dev_forget(void)
{
	dev_cached = 0;
}

int parse_parent(const char *word, uint32_t *parent)
{
	unsigned long major, minor;
	char *end;

	if (!strcmp(word, "root")) {
		*parent = TC_H_ROOT;
		return 0;
	}
	/* strtoul() would also accept spaces, signs and "0x" */
	if (word[strspn(word, "0123456789abcdefABCDEF:")])
		return -1;
	major = strtoul(word, &end, 16);
	if (*end != ':')
		return -1;
	minor = strtoul(end + 1, &end, 16);
	if (*end || major > 0xffff || minor > 0xffff || !(major | minor))
		return -1;
	*parent = major << 16 | minor;
	return 0;
}

void json_add(struct json_object *o, const char *key, struct json_object *v)
{
	if (v)
		json_object_object_add_ex(o, key, v,
					  JSON_C_OBJECT_ADD_KEY_IS_NEW |
					  JSON_C_OBJECT_ADD_CONSTANT_KEY);
}

static void json_put(struct json_object *o)
{
	size_t len;
	const char *s = json_object_to_json_string_length(o,
			JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
			&len);

	if (s)
		fwrite(s, 1, len, stdout);
	json_object_put(o);
}

static bool json_another;

void json_array_begin(void)
{
	json_another = false;
	putchar('[');
}

void json_array_element(struct json_object *o)
{
	if (json_another)
		fputs(",\n", stdout);
	json_another = true;
	json_put(o);
}

void json_array_end(void)
{
	fputs("]\n", stdout);
}

void json_line(struct json_object *o)
{
	json_put(o);
	putchar('\n');
}

static int out_errno;

bool out_closed(void)
{
	if (!ferror(stdout))
		return false;
	if (!out_errno)
		out_errno = errno;
	return true;
}

int out_finish(void)
{
	if (fflush(stdout))
		return errno;
	if (!ferror(stdout))
		return 0;
	/* out_closed() has recorded the errno, if it was called */
	return out_errno ? out_errno : EIO;
}

int screen_columns(void)
{
	struct winsize size;

	/* a terminal may report 0 columns */
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return SCREEN_COLUMNS;
}
