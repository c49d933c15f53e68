// SPDX-License-Identifier: GPL-2.0
/*
 * Format values as text and as JSON, and print JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
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

/* Returns the end of the text */
static char *put_escaped(char *to, unsigned char byte)
{
	if (byte == '\\')
		return to + sprintf(to, "\\\\");
	return to + sprintf(to, "\\x%02x", byte);
}

static bool is_plain(unsigned char byte)
{
	return byte >= ' ' && byte <= '~' && byte != '\\';
}

void name_text(char *buf, const char *name)
{
	for (; *name; name++)
		if (is_plain(*name))
			*buf++ = *name;
		else
			buf = put_escaped(buf, *name);
	*buf = '\0';
}

void name_print(FILE *f, const char *name)
{
	char one[] = "?", text[ESCAPED_SIZE(1)];

	for (; *name; name++) {
		*one = *name;
		name_text(text, one);
		fputs(text, f);
	}
}

/* Length of the first character; 0 if it is ASCII, a control in U+0080 to
 * U+009F, or invalid UTF-8
 */
static size_t utf8_len(const unsigned char *s)
{
	/* first bytes, and the valid range of the second byte: others are
	 * controls, overlong, surrogates, or above U+10FFFF
	 */
	static const struct {
		unsigned char lo, hi, second_lo, second_hi, len;
	} forms[] = {
		{ 0xc2, 0xc2, 0xa0, 0xbf, 2 }, { 0xc3, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		if (s[0] >= forms[i].lo && s[0] <= forms[i].hi)
			break;
	if (i == ARRAY_SIZE(forms) || s[1] < forms[i].second_lo ||
	    s[1] > forms[i].second_hi)
		return 0;
	for (j = 2; j < forms[i].len; j++)
		if ((s[j] & 0xc0) != 0x80)
			return 0;
	return forms[i].len;
}

struct json_object *name_json(const char *name)
{
	char buf[ESCAPED_SIZE(strlen(name))], *to = buf;
	const unsigned char *s = (const unsigned char *)name;
	size_t len;

	for (; *s; s += len) {
		len = *s < 0x7f && *s != '\\' ? 1 : utf8_len(s);
		if (len) {
			to = (char *)memcpy(to, s, len) + len;
		} else {
			to = put_escaped(to, *s);
			len = 1;
		}
	}
	return json_object_new_string_len(buf, to - buf);
}

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
		snprintf(buf, VALUE_SIZE, "%s", dev_escaped(v));
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
	case FORM_DEV:
		return name_json(dev_name(v));
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

/* Print three digits in the largest unit that is not above @v, but no fraction
 * of the first unit.  Each unit is 1000 times the one before.
 */
static void unit_text(char *buf, double v, const char *const *units)
{
	size_t i;

	/* use the next unit for a value that would be rounded to 1000 */
	for (i = 0; v >= 999.5 && units[i + 1]; i++)
		v /= 1000;
	snprintf(buf, VALUE_SIZE, v < 9.995 && i ? "%.2f%s" :
				  v < 99.95 && i ? "%.1f%s" : "%.0f%s",
		 v, units[i]);
}

/* Print two units, the larger one with up to two digits; from 100 days on,
 * print only days
 */
static void long_time_text(char *buf, uint64_t s)
{
	if (s < 6000)
		snprintf(buf, VALUE_SIZE, "%" PRIu64 "m%02" PRIu64 "s", s / 60,
			 s % 60);
	else if (s < 360000)
		snprintf(buf, VALUE_SIZE, "%" PRIu64 "h%02" PRIu64 "m",
			 s / 3600, s % 3600 / 60);
	else if (s < 8640000)
		snprintf(buf, VALUE_SIZE, "%" PRIu64 "d%02" PRIu64 "h",
			 s / 86400, s % 86400 / 3600);
	else
		snprintf(buf, VALUE_SIZE, "%" PRIu64 "d", s / 86400);
}

void time_text(char *buf, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };

	if (ns < 999500000000)
		unit_text(buf, ns, units);
	else
		long_time_text(buf, ns / 1000000000);
}

void size_text(char *buf, uint64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB",
					     "EB", NULL };

	unit_text(buf, bytes, units);
}

void count_text(char *buf, double v)
{
	static const char units[] = " kMGTPE";
	size_t i = 0;

	if (v < 9999.5) {
		snprintf(buf, VALUE_SIZE, "%.0f", v);
		return;
	}
	for (; v >= 999.5 && units[i + 1]; i++)
		v /= 1000;
	snprintf(buf, VALUE_SIZE, v < 99.95 ? "%.1f%c" : "%.0f%c", v, units[i]);
}

static uint32_t dev_cached;
static char dev_cache[IF_NAMESIZE];
static char dev_cache_escaped[ESCAPED_SIZE(IF_NAMESIZE)];

void dev_remember(uint32_t ifindex, const char *name)
{
	dev_cached = ifindex;
	snprintf(dev_cache, sizeof(dev_cache), "%s", name);
	name_text(dev_cache_escaped, dev_cache);
}

const char *dev_name(uint32_t ifindex)
{
	char name[IF_NAMESIZE];

	if (ifindex != dev_cached) {
		/* the device may be gone already */
		if (!if_indextoname(ifindex, name))
			snprintf(name, sizeof(name), "if%u", ifindex);
		dev_remember(ifindex, name);
	}
	return dev_cache;
}

const char *dev_escaped(uint32_t ifindex)
{
	dev_name(ifindex);
	return dev_cache_escaped;
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

/* Returns 0 or the errno of the first failure */
static int out_finish(void)
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
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	char *end;
	long n;

	if (columns && *columns) {
		n = strtol(columns, &end, 10);
		if (!*end && n > 0 && n <= SHRT_MAX)
			return n;
	}
	/* a terminal may report 0 columns */
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return SCREEN_COLUMNS;
}

void wrap_text(FILE *f, int indent, int column, const char *text)
{
	int columns = screen_columns(), len;

	while (*text) {
		len = strspn(text, " ");
		len += strcspn(text + len, " ");
		if (column + len > columns && column > indent) {
			column = fprintf(f, "\n%*s", indent, "") - 1;
			len -= strspn(text, " ");
			text += strspn(text, " ");
		}
		column += len;
		for (; len; len--, text++)
			fputc(*text == UNBROKEN ? ' ' : *text, f);
	}
	fputc('\n', f);
}

static bool reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP);
}

int out_status(int ret)
{
	int err = out_finish();

	return err && !reader_is_gone() ? fail("output", strerror(err)) : ret;
}
