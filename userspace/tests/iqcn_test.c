// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the parts of iqcn that need no kernel, such as the parsing of
 * arguments and of messages from the same, an older, a newer and a broken
 * module, the sorting of flows, and the table of parameters.  Prints KTAP.
 * Built with the address and undefined behavior sanitizers.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/iqcn.h>
#include <linux/pkt_sched.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "../../kmod/config_table.h"
#include "../baseline.h"
#include "../derive.h"
#include "../elf.h"
#include "../exposition.h"
#include "../iqcn.h"
#include "../object.h"
#include "../param.h"
#include "../rank.h"
#include "../signals.h"
#include "../snapshot.h"
#include "../summary.h"
#include "../version.h"
#include "test.h"

#define FUZZ_ROUNDS 200000
#define FUZZ_BYTES 96
#define ELF_ROUNDS 2000
/* test_signals() ends after this many steps at which the signal is too late */
#define SIGNAL_LATE 40

static int failed;

void check_at(int line, bool ok, const char *what)
{
	if (!ok) {
		printf("# line %d: %s\n", line, what);
		failed = 1;
	}
}

void check_text(int line, const char *got, const char *wanted)
{
	if (strcmp(got, wanted)) {
		printf("# line %d: %s, wanted %s\n", line, got, wanted);
		failed = 1;
	}
}

static void parse(const struct object *o, void *dst, struct nl_msg *msg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);

	object_parse(o, dst, nlmsg_attrdata(nlh, 0), nlmsg_attrlen(nlh, 0));
	nlmsg_free(msg);
}

static void check_json(int line, const struct object *o, const void *src,
		       const char *wanted)
{
	struct json_object *json = object_json(o, src);
	const char *text;

	text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN);
	check_text(line, text, wanted);
	json_object_put(json);
}

static const uint8_t v4[] = { 10, 1, 0, 1 };
static const uint8_t v6[16] = { 0xfd, 1, [15] = 2 };

static struct nl_msg *flow_message(void)
{
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);

	nla_put_u32(msg, IQCN_A_FLOW_ID, 7);
	nla_put_u32(msg, IQCN_A_FLOW_PARENT, 0x10001);
	nla_put_u64(msg, IQCN_A_FLOW_CE_SENT, 1ULL << 63);
	nla_put(msg, IQCN_A_FLOW_SRC, sizeof(v4), v4);
	nla_put(msg, IQCN_A_FLOW_DST, sizeof(v6), v6);
	nla_put_u16(msg, IQCN_A_FLOW_VID, 4095);
	nla_put_u32(msg, IQCN_A_FLOW_PAIR, IQCN_PAIR_PSN);
	nla_put_flag(msg, IQCN_A_FLOW_PAIRED);
	nla_put_u32(msg, IQCN_A_FLOW_CONGESTED, 3);
	return msg;
}

static void test_message(void)
{
	struct flow f;

	parse(&flow_object, &f, flow_message());
	check(f.id == 7 && f.vid == 4095 && f.paired);
	check(f.ce_sent == 1ULL << 63);
	check(object_has(&f, IQCN_A_FLOW_CE_SENT));
	check(!object_has(&f, IQCN_A_FLOW_SRC_QP));
	check_json(__LINE__, &flow_object, &f,
		   "{\"parent\":\"1:1\",\"id\":7,\"src\":\"10.1.0.1\","
		   "\"dst\":\"fd01::2\",\"vid\":4095,\"pair\":\"psn\","
		   "\"paired\":true,\"congested\":[\"queue\",\"depth\"],"
		   "\"ce_sent\":9223372036854775808}");
}

static void test_mac(void)
{
	static const uint8_t mac[] = { 0x02, 0xab, 0, 9, 0x10, 0xff };
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);
	struct port p;

	nla_put(msg, IQCN_A_PORT_CNP_SMAC, sizeof(mac), mac);
	parse(&port_object, &p, msg);
	check(object_has(&p, IQCN_A_PORT_CNP_SMAC));
	check_json(__LINE__, &port_object, &p,
		   "{\"cnp_smac\":\"02:ab:00:09:10:ff\"}");
	/* a device whose addresses have another length */
	msg = nlmsg_alloc_simple(0, 0);
	nla_put(msg, IQCN_A_PORT_CNP_SMAC, sizeof(mac) - 1, mac);
	parse(&port_object, &p, msg);
	check(!object_has(&p, IQCN_A_PORT_CNP_SMAC));
}

/* Padding may precede 64-bit attributes, to align them */
static void test_padding(void)
{
	static const struct {
		const struct object *object;
		int pad, attr;
		const char *json;
	} cases[] = {
		{ &port_object, IQCN_A_PORT_PAD, IQCN_A_PORT_ECN_MARK,
		  "{\"ecn_mark\":7}" },
		{ &queue_object, IQCN_A_QUEUE_PAD, IQCN_A_QUEUE_SAMPLE_LOST,
		  "{\"sample_lost\":7}" },
		{ &flow_object, IQCN_A_FLOW_PAD, IQCN_A_FLOW_CE_SENT,
		  "{\"paired\":false,\"ce_sent\":7}" },
		{ &event_object, IQCN_A_EVENT_PAD, IQCN_A_EVENT_LOST,
		  "{\"lost\":7}" },
	};
	union {
		struct port port;
		struct queue queue;
		struct flow flow;
		struct event event;
	} u;
	struct nl_msg *msg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		msg = nlmsg_alloc_simple(0, 0);
		nla_put(msg, cases[i].pad, 0, NULL);
		nla_put_u64(msg, cases[i].attr, 7);
		parse(cases[i].object, &u, msg);
		check_json(__LINE__, cases[i].object, &u, cases[i].json);
	}
}

/* Attributes that an older module does not send are not shown as 0 */
static void test_older(void)
{
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);
	struct queue q;
	struct flow f;

	nla_put_u32(msg, IQCN_A_QUEUE_PARENT, TC_H_ROOT);
	parse(&queue_object, &q, msg);
	check_json(__LINE__, &queue_object, &q, "{\"parent\":\"root\"}");
	parse(&flow_object, &f, nlmsg_alloc_simple(0, 0));
	check_json(__LINE__, &flow_object, &f, "{\"paired\":false}");
}

/* A newer module may send attributes, nested or not, values and bits that this
 * tool does not know
 */
static void test_newer(void)
{
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);
	struct nlattr *nest;
	struct queue q;

	nla_put_u32(msg, __IQCN_A_QUEUE_MAX, 1);
	nla_put_u64(msg, 1000, 1);
	nla_put_u32(msg, IQCN_A_QUEUE_STATE_REASON, 77);
	nest = nla_nest_start(msg, 500);
	nla_put_u32(msg, IQCN_A_QUEUE_FLOWS, 1);
	nla_nest_end(msg, nest);
	nla_put_u32(msg, IQCN_A_QUEUE_CONGESTED, 1 << 20 | 1);
	/* numbers may be wider than in this version */
	nla_put_u64(msg, IQCN_A_QUEUE_KMIN_BYTES, 5ULL << 32);
	nla_put_u32(msg, NLA_TYPE_MASK, 1);
	nla_put_u32(msg, IQCN_A_QUEUE_BTS_PROB, UINT32_MAX);
	parse(&queue_object, &q, msg);
	check_json(__LINE__, &queue_object, &q,
		   "{\"kmin_bytes\":21474836480,\"state_reason\":\"77\","
		   "\"congested\":[\"queue\",\"0x100000\"],\"bts_prob\":1}");
}

static void test_malformed(void)
{
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);
	char name[] = "0123456789abcdefghij";
	struct port p;
	struct flow f;

	/* longer than a name may be, and not terminated */
	nla_put(msg, IQCN_A_PORT_IFNAME, sizeof(name) - 1, name);
	nla_put(msg, IQCN_A_PORT_QUEUES, 3, "abc");
	nla_put(msg, IQCN_A_PORT_FLOWS, 0, NULL);
	nla_put(msg, IQCN_A_PORT_ECN_MARK, 32, "0123456789abcdef0123456789abcdef");
	parse(&port_object, &p, msg);
	check_json(__LINE__, &port_object, &p, "{\"dev\":\"0123456789abcde\"}");

	msg = nlmsg_alloc_simple(0, 0);
	nla_put(msg, IQCN_A_FLOW_SRC, 5, "abcde");
	nla_put(msg, IQCN_A_FLOW_DST, 0, NULL);
	parse(&flow_object, &f, msg);
	check(!f.src.len && !f.dst.len);
}

/* Parse random bytes; the sanitizers detect reads outside of the message */
static void test_noise(void)
{
	static const struct object *const objects[] = {
		&port_object, &queue_object, &flow_object, &event_object,
	};
	union {
		struct port port;
		struct queue queue;
		struct flow flow;
		struct event event;
	} u;
	int i, j, len;
	char *buf;

	srand(1);
	for (i = 0; i < FUZZ_ROUNDS; i++) {
		const struct object *o = objects[i % ARRAY_SIZE(objects)];

		len = rand() % FUZZ_BYTES;
		buf = malloc(len + 1);
		for (j = 0; j < len; j++)
			/* mostly valid lengths and types */
			buf[j] = rand() % 3 ? rand() % 40 : rand();
		object_parse(o, &u, (struct nlattr *)buf, len);
		json_object_put(object_json(o, &u));
		free(buf);
	}
}

static void test_quotes(void)
{
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);
	struct port p;

	nla_put_string(msg, IQCN_A_PORT_IFNAME, "a\"b\\c\te");
	parse(&port_object, &p, msg);
	check_json(__LINE__, &port_object, &p, "{\"dev\":\"a\\\"b\\\\\\\\c\\te\"}");
}

/* Decodes the escapes \\ and \xNN.  If this restores each name, no two names
 * have the same text.
 */
static void unescape(char *name, const char *text)
{
	unsigned int byte;

	while (*text) {
		if (*text != '\\') {
			*name++ = *text++;
		} else if (text[1] == '\\') {
			*name++ = '\\';
			text += 2;
		} else {
			check(sscanf(text, "\\x%2x", &byte) == 1);
			*name++ = byte;
			text += 4;
		}
	}
	*name = '\0';
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

/* Is the text valid UTF-8, without the controls U+007F to U+009F?  Does not use
 * the table in utf8_len().
 */
static bool is_utf8(const char *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;
	int i, n;

	for (; *s; s += n) {
		n = *s < 0x80 ? 1 : *s < 0xc0 ? 0 : *s < 0xe0 ? 2 :
		    *s < 0xf0 ? 3 : *s < 0xf8 ? 4 : 0;
		if (!n)
			return false;
		c = n == 1 ? *s : *s & (0x7f >> n);
		for (i = 1; i < n; i++) {
			if (s[i] >> 6 != 2)
				return false;
			c = c << 6 | (s[i] & 0x3f);
		}
		if (c < least[n] || c > 0x10ffff || c >> 11 == 0x1b ||
		    (c >= 0x7f && c < 0xa0))
			return false;
	}
	return true;
}

static void check_name(const char *name)
{
	char text[VALUE_SIZE], back[VALUE_SIZE];
	struct json_object *json = name_json(name);

	name_text(text, name);
	check(is_printable(text));
	unescape(back, text);
	check_text(__LINE__, back, name);

	check(is_utf8(json_object_get_string(json)));
	unescape(back, json_object_get_string(json));
	check_text(__LINE__, back, name);
	if (is_utf8(name) && !strchr(name, '\\'))
		check_text(__LINE__, json_object_get_string(json), name);
	/* after json-c's own escapes no control is left, either */
	for (name = json_object_to_json_string(json); *name; name++)
		check((unsigned char)*name >= ' ' && *name != 0x7f);
	json_object_put(json);
}

/* All names of one or two bytes, and random longer ones, mostly of special
 * bytes
 */
static void test_names(void)
{
	static const char bytes[] = "a\\x5cA1\x1b\x7f\x80\x9b\xbf\xc0\xc2\xc3\xe0"
				    "\xe2\xed\xef\xf0\xf4\xff\"'\n";
	char name[IF_NAMESIZE], text[VALUE_SIZE];
	unsigned int i, j;

	for (i = 1; i <= 0xffff; i++) {
		memset(name, 0, sizeof(name));
		name[0] = i;
		name[1] = i >> 8;
		check_name(name);
	}
	srand(2);
	for (i = 0; i < FUZZ_ROUNDS; i++) {
		memset(name, 0, sizeof(name));
		for (j = 0; j < i % IF_NAMESIZE; j++)
			name[j] = rand() % 9 ? bytes[rand() % strlen(bytes)] :
					       rand() % 255 + 1;
		check_name(name);
	}
	check_name("gr\xc3\xb6\xc3\x9f\xe2\x82\xac");
	name_text(text, "\x1b[31m\\");
	check_text(__LINE__, text, "\\x1b[31m\\\\");
}

static void test_parents(void)
{
	static const char *const wrong[] = {
		"", "1", ":", "0:0", "1:2:3", "10000:", "1:10000", "0x1:", "-1:",
		" 1:", "1: 2", "+1:2", "one:", "1:g", "roots",
	};
	uint32_t parent;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		check_text(__LINE__, parse_parent(wrong[i], &parent) ? "" :
			   wrong[i], "");
	check(!parse_parent("root", &parent) && parent == TC_H_ROOT);
	check(!parse_parent("1:", &parent) && parent == 0x10000);
	check(!parse_parent(":a", &parent) && parent == 0xa);
	check(!parse_parent("8001:FfFe", &parent) && parent == 0x8001fffe);
}

static void test_times(void)
{
	static const char *const wrong[] = {
		"", "s", "-1s", "0", "1h", "1 s x", "nan", "inf", "1e30", "0.1ns",
	};
	static const struct {
		uint64_t ns;
		const char *text;
	} texts[] = {
		{ 0, "0ns" }, { 999, "999ns" }, { 1000, "1.00us" },
		{ 9994, "9.99us" }, { 9996, "10.0us" }, { 99960, "100us" },
		{ 999499, "999us" }, { 999500, "1.00ms" },
		{ 1234567890, "1.23s" }, { 999400000000, "999s" },
		{ 999500000000, "16m39s" }, { 5999999999999, "99m59s" },
		{ 6000000000000, "1h40m" }, { 359999000000000, "99h59m" },
		{ 360000000000000, "4d04h" }, { 8640000000000000, "100d" },
		{ UINT64_MAX, "213503d" },
	};
	char text[VALUE_SIZE];
	uint64_t ns;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		check_text(__LINE__, parse_time_ns(wrong[i], &ns) ? "" :
			   wrong[i], "");
	check(!parse_time_ns("10ms", &ns) && ns == 10000000);
	check(!parse_time_ns("0.5", &ns) && ns == 500000000);
	check(!parse_time_ns("1ns", &ns) && ns == 1);
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		time_text(text, texts[i].ns);
		check_text(__LINE__, text, texts[i].text);
	}
}

static void test_sizes(void)
{
	static const struct {
		double v;
		const char *size, *count;
	} texts[] = {
		{ 0, "0B", "0" }, { 999, "999B", "999" },
		{ 9999, "10.0kB", "9999" }, { 10000, "10.0kB", "10.0k" },
		{ 1234567, "1.23MB", "1.2M" }, { 999600, "1.00MB", "1.0M" },
	};
	char text[VALUE_SIZE];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		size_text(text, texts[i].v);
		check_text(__LINE__, text, texts[i].size);
		count_text(text, texts[i].v);
		check_text(__LINE__, text, texts[i].count);
	}
}

/* Arguments that "flows" filters by */
static void test_filters(void)
{
	static const char *const wrong[] = {
		"", "0x", "-1", "+1", " 1", "1 ", "0x1000000", "16777216", "g",
		"99999999999999999999",
	};
	struct address a;
	uint32_t qp;
	size_t i;

	/* discard the messages */
	if (!freopen("/dev/null", "w", stderr))
		abort();
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		check(parse_qp(wrong[i], &qp) == EXIT_USAGE);
	check(!parse_qp("0xFFffff", &qp) && qp == 0xffffff);
	check(!parse_qp("010", &qp) && qp == 10);
	check(parse_ip("1.2.3", &a) && parse_ip("fe80::1%eth0", &a));
	check(!parse_ip("10.1.0.1", &a) && a.len == 4 &&
	      !memcmp(a.bytes, v4, 4));
	check(!parse_ip("::ffff:10.1.0.1", &a) && a.len == 4 &&
	      !memcmp(a.bytes, v4, 4));
	check(!parse_ip("fd01::2", &a) && a.len == 16 &&
	      !memcmp(a.bytes, v6, 16));
}

/* Set every counter of @st to @v, as if the module had sent all of them */
static void fill_stats(struct stats *st, uint64_t v)
{
	size_t i;

	memset(st, 0, sizeof(*st));
	st->sent = sizeof(*st);
	for (i = 0; i < n_counters; i++)
		counter_set(&counters[i], st, v);
}

static void reread(struct baselines *b, const char *damage)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	baselines_write(b, f);
	fputs(damage, f);
	fclose(f);
	baselines_free(b);
	f = fmemopen(text, size, "r");
	baselines_read(b, f);
	fclose(f);
	free(text);
}

/* A baseline survives being written and read back, and becomes obsolete when
 * its qdisc is replaced
 */
static void test_baselines(void)
{
	struct qdisc q = { .ifindex = 7, .parent = TC_H_ROOT, .handle = 0x100000 };
	struct baselines b = {};
	const struct baseline *found;
	struct baseline one;
	struct stats st;
	size_t i;

	fill_stats(&q.stats, 1000);
	baseline_take(&one, &q);
	for (i = 0; i < 100; i++) {
		one.ifindex = i;
		check(!baselines_add(&b, &one));
	}
	reread(&b, "nonsense\n8 ffffffff\n9 1 1 0 =3 bytes= x=1 packets\n");
	check(b.n == 101);
	fill_stats(&q.stats, 1234);
	found = baseline_find(&b, &q);
	check(found);
	st = q.stats;
	baseline_subtract(found, &st);
	for (i = 0; i < n_counters; i++)
		check(counter_get(&counters[i], &st) ==
		      (counters[i].rises ? 234 : 1234));
	check(baseline_age_ns(found) < 60 * NS_PER_S);

	/* a counter of 32 bits wraps around */
	st = q.stats;
	st.queue.overlimits = 1;
	q.stats = st;
	found = baseline_find(&b, &q);
	check(found);
	baseline_subtract(found, &st);
	check(st.queue.overlimits == UINT32_MAX - 998);
	fill_stats(&q.stats, 1234);

	/* another qdisc, and the same place with lower counters */
	q.handle++;
	check(!baseline_find(&b, &q));
	q.handle--;
	q.stats.app.cnp_sent = 999;
	check(!baseline_find(&b, &q));
	/* the machine has been rebooted since */
	fill_stats(&q.stats, 1234);
	b.list[7].time_ns = UINT64_MAX;
	check(!baseline_find(&b, &q));
	baselines_free(&b);
}

static void check_summary(int line, const struct qdisc *q,
			  const struct port *port, const struct baselines *b,
			  const char *columns, const char *wanted)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	setenv("COLUMNS", columns, 1);
	summary_print(f, q, port, b);
	unsetenv("COLUMNS");
	fclose(f);
	check_text(line, text, wanted);
	free(text);
}

static void test_summary(void)
{
	struct qdisc q = {
		.ifindex = UINT32_MAX, .parent = 0x10001, .handle = 0x100000,
	};
	struct baselines b = {};
	struct baseline one;

	/* a module that sends almost no counters */
	check_summary(__LINE__, &q, NULL, &b, "80",
		      "if4294967295 parent 1:1 handle 10:\n"
		      "  depth   0B\n"
		      "  sent    0 packets, 0B, 0 dropped\n"
		      "  next    nothing was sent: is this the port where the data leave?\n");
	q.stats.sent = sizeof(q.stats);
	q.stats.packets = 1234567;
	q.stats.basic.bytes = 5000000000;
	q.stats.app.ecn_mark = 12345;
	q.stats.app.marked_bytes = 12345678;
	q.stats.app.delay_samples = 4;
	q.stats.app.delay_sum_ns = 400000;
	q.stats.app.delay_avg_ns = 90000;
	q.stats.app.delay_peak_ns = 200000;
	q.stats.app.congested = IQCN_DETECT_QUEUE;
	q.stats.app.state_since_ns = 5000000;
	q.stats.app.cnp_sent = 100;
	q.stats.app.flows = 3;
	q.stats.app.flows_paired = 3;
	q.stats.app.flows_congested = 2;
	q.stats.app.depth_peak_bytes = 234567;
	check_summary(__LINE__, &q, NULL, &b, "40",
		      "if4294967295 parent 1:1 handle 10:\n"
		      "    congested by queue for 5.00ms\n"
		      "  depth   0B, peak 235kB\n"
		      "  delay   average 100us,\n"
		      "          recently 90.0us, peak 200us\n"
		      "  sent    1.2M packets, 5.00GB,\n"
		      "          0 dropped\n"
		      "  marked  12.3k packets, 12.3MB,\n"
		      "          0 arrived with CE\n"
		      "  CNPs    100 sent, 0 from receivers\n"
		      "  flows   3, 3 paired, 2 congested\n"
		      "  next    see the flows in \"iqcn top\"\n");
	/* the average delay is that of the packets since the baseline */
	baseline_take(&one, &q);
	check(!baselines_add(&b, &one));
	q.stats.app.delay_samples = 6;
	q.stats.app.delay_sum_ns = 500000;
	q.stats.app.congested = 0;
	q.stats.app.depth_peak_bytes = 0;
	q.stats.queue.drops = 1;
	/* the test may be interrupted for half a second */
	b.list[0].time_ns -= 500 * NS_PER_S;
	check_summary(__LINE__, &q, NULL, &b, "80",
		      "if4294967295 parent 1:1 handle 10: clear for 5.00ms\n"
		      "  depth   0B, peak below kmin\n"
		      "  delay   average 50.0us, recently 90.0us, peak 200us\n"
		      "  sent    0 packets, 0B, 1 dropped\n"
		      "  marked  0 packets, 0B, 0 arrived with CE\n"
		      "  CNPs    0 sent, 0 from receivers\n"
		      "  flows   3, 3 paired, 2 congested\n"
		      "  since   500s ago (iqcn clear)\n"
		      "  next    packets were dropped: run \"iqcn check\"\n");
	baselines_free(&b);
}

/* A summary shows the filter in force, and its counters */
static void test_long_haul(void)
{
	struct tc_iqcn_cnp_filter filter = { .mode = IQCN_CNP_FILTER_TOLD };
	struct qdisc q = { .parent = TC_H_ROOT, .handle = 0x100000 };
	struct nl_msg *msg = nlmsg_alloc();
	struct baselines b = {};
	struct port port = {};
	char text[VALUE_SIZE];

	q.ifindex = UINT32_MAX;
	q.stats.sent = sizeof(q.stats);
	q.stats.packets = 1;
	q.options = nla_nest_start(msg, TCA_OPTIONS);
	nla_put_u32(msg, TCA_IQCN_NOTIFY, IQCN_NOTIFY_SUPPLEMENT);
	nla_put(msg, TCA_IQCN_FILTER, sizeof(filter), &filter);
	nla_nest_end(msg, q.options);
	port.filter_ns = 5000000;
	q.stats.app.port_cnp_passed = 3;
	q.stats.app.port_cnp_filtered = 7;
	q.stats.app.cnp_supplement = 12;
	q.stats.app.above_kmax_ns = 24000000;
	q.stats.app.leases_ended = 1;
#define HEAD "if4294967295 root handle 10: clear, notify supplement\n"		\
	     "  depth   0B, peak below kmin\n"					\
	     "  delay   no CE packet was measured\n"				\
	     "  sent    1 packet, 0B, 0 dropped\n"				\
	     "  marked  0 packets, 0B, 0 arrived with CE\n"			\
	     "  CNPs    0 sent, 0 from receivers\n"				\
	     "  flows   0, 0 paired, 0 congested\n"
	check_summary(__LINE__, &q, &port, &b, "80", HEAD
		      "  fiber   filter told within 5ms, 3 passed, 7 dropped, 12 supplemented,\n"
		      "          above kmax for 24.0ms, 1 lease ended\n"
		      "  next    nothing to do; \"iqcn show -d\" has all counters\n");
	/* a lease replaces the filter of tc */
	port.filter_n = 2;
	port.filter_ns = 1234567;
	q.stats.app.port_cnp_passed = 0;
	q.stats.app.leases_ended = 0;
	check_summary(__LINE__, &q, &port, &b, "120", HEAD
		      "  fiber   filter 2/1234567ns, 0 passed, 7 dropped, 12 supplemented, above kmax for 24.0ms\n"
		      "  next    the filter drops every CNP of the receivers: run \"iqcn check\"\n");
#undef HEAD
	nlmsg_free(msg);

	filter_text(text, &filter);
	check_text(__LINE__, text, "told");
	filter = (struct tc_iqcn_cnp_filter){ IQCN_CNP_FILTER_FIXED, 1, 100000 };
	filter_text(text, &filter);
	check_text(__LINE__, text, "1/100us");
	param_text(text, IQCN_PARAM_METERS, 500000);
	check_text(__LINE__, text, "500km");
	param_text(text, IQCN_PARAM_METERS, 1001);
	check_text(__LINE__, text, "1001m");
}

/* The values of a queue on a 25 Gb/s link if the user sets nothing */
static void default_values(uint64_t *v)
{
	v[TCA_IQCN_NOTIFY] = IQCN_NOTIFY_PI;
	v[TCA_IQCN_T1_NS] = IQCN_DEFAULT_T1_NS;
	v[TCA_IQCN_BANDWIDTH_BPS] = 0;
	v[TCA_IQCN_LIMIT_BYTES] = 16000000;
	v[TCA_IQCN_KMIN_BYTES] = 400000;
	v[TCA_IQCN_KMAX_BYTES] = 1600000;
	v[TCA_IQCN_QREF_BYTES] = 0;
	v[TCA_IQCN_ALPHA] = 2000;
	v[TCA_IQCN_BETA] = 100000;
	v[TCA_IQCN_PERIOD_NS] = IQCN_DEFAULT_T1_NS / 4;
	v[TCA_IQCN_MIN_GAP_NS] = 50000;
	v[TCA_IQCN_THRESHOLD_BYTES] = 100000;
	v[TCA_IQCN_BASE_RTT_NS] = IQCN_BASE_RTT_NONE;
	v[TCA_IQCN_SETTLE_NS] = 20000;
	v[TCA_IQCN_PFC_MAX_NS] = 2000000;
}

/* Only parameters whose values a new queue would not have anyway are needed */
static void test_derive(void)
{
	struct link link = {
		.known = true, .bps = 25000000000, .packet_bytes = 1514,
		.ethernet = true,
	};
	uint64_t v[TCA_IQCN_MAX + 1] = {};

	default_values(v);
	check(!derive_needed(v, &link));
	/* kmax follows kmin */
	v[TCA_IQCN_KMIN_BYTES] = 500000;
	v[TCA_IQCN_KMAX_BYTES] = 2000000;
	check(derive_needed(v, &link) == 1ULL << TCA_IQCN_KMIN_BYTES);
	v[TCA_IQCN_KMAX_BYTES] = 1600000;
	check(derive_needed(v, &link) == (1ULL << TCA_IQCN_KMIN_BYTES |
					  1ULL << TCA_IQCN_KMAX_BYTES));
	default_values(v);
	v[TCA_IQCN_T1_NS] = 40000;
	v[TCA_IQCN_MIN_GAP_NS] = 40000;
	v[TCA_IQCN_PERIOD_NS] = 10000;
	check(!derive_needed(v, &link));
	/* the default limit is at least qref, which is not derived itself */
	v[TCA_IQCN_QREF_BYTES] = 20000000;
	check(derive_needed(v, &link) & 1ULL << TCA_IQCN_LIMIT_BYTES);
	v[TCA_IQCN_LIMIT_BYTES] = 20000000;
	check(!derive_needed(v, &link));
	default_values(v);
	/* settle follows base-rtt, and pfc-max the longest pause at this rate
	 */
	v[TCA_IQCN_BASE_RTT_NS] = 8000;
	v[TCA_IQCN_SETTLE_NS] = 8000;
	v[TCA_IQCN_PFC_MAX_NS] = 1342156;
	check(!derive_needed(v, &link));
	/* the bandwidth replaces the speed of the link */
	link.bps = 1000000000;
	check(derive_needed(v, &link) & 1ULL << TCA_IQCN_BETA);
	v[TCA_IQCN_BANDWIDTH_BPS] = 25000000000;
	check(!derive_needed(v, &link));
	link.known = false;
	check(!derive_needed(v, &link));
	v[TCA_IQCN_BANDWIDTH_BPS] = 0;
	check(__builtin_popcountll(derive_needed(v, &link)) == 7);
	check(derive_cnp_rate(25000000000) == 7971938);
}

static void test_rates(void)
{
	struct flow f = { .dev = 1, .age_ns = NS_PER_S, .ce_sent = 500 };
	struct rates *r = rates_new();
	struct speed speed;
	int i;

	rates_begin(r, 100 * NS_PER_S);
	for (i = 999; i >= 0; i--) {
		f.id = i;
		f.cnp_seen = i;
		check(!rates_update(r, &f, &speed));
		/* since the flow was created */
		check(speed.ce_pps == 500 && speed.cnp_pps == (unsigned int)i);
	}
	rates_end(r, 101 * NS_PER_S);
	rates_begin(r, 103 * NS_PER_S);

	f.id = 500;
	f.age_ns += 2 * NS_PER_S;
	f.ce_sent += 1000;
	f.cnp_seen = 600;
	f.cnp_sent = 100;
	rates_update(r, &f, &speed);
	check(speed.ce_pps == 500 && speed.cnp_pps == 100);
	/* a flow of another port with the same id is new */
	f.dev = 2;
	rates_update(r, &f, &speed);
	check(speed.ce_pps == 500 && speed.cnp_pps == 233);
	/* a younger flow with the same id is new */
	f.dev = 1;
	f.id = 501;
	f.age_ns = NS_PER_S * 2;
	f.ce_sent = 30;
	rates_update(r, &f, &speed);
	check(speed.ce_pps == 15);
	/* a counter of 32 bits wraps */
	f.id = 0;
	f.age_ns = 10;
	f.ce_sent = UINT32_MAX;
	rates_update(r, &f, &speed);
	rates_end(r, 104 * NS_PER_S);
	rates_begin(r, 105 * NS_PER_S);
	f.age_ns += NS_PER_S;
	f.ce_sent += 10;
	rates_update(r, &f, &speed);
	check(speed.ce_pps == 10);
	f.id = 7;
	f.age_ns = 0;
	rates_update(r, &f, &speed);
	check(speed.ce_pps == 0);
	rates_free(r);
}

/* The flows of removed ports are freed, and those of other ports are kept */
static void test_rates_keep(void)
{
	static const struct port ports[] = {
		{ .ifindex = 9 }, { .ifindex = 3 }, { .ifindex = 5 },
	};
	struct flow f = { .age_ns = NS_PER_S, .ce_sent = 500 };
	struct rates *r = rates_new();
	struct speed speed;

	rates_begin(r, 1);
	for (f.dev = 1; f.dev < 10; f.dev++)
		check(!rates_update(r, &f, &speed));
	rates_end(r, 2);
	rates_keep(r, ports, ARRAY_SIZE(ports));
	rates_begin(r, 3);
	f.age_ns = 2 * NS_PER_S;
	for (f.dev = 1; f.dev < 10; f.dev++) {
		rates_update(r, &f, &speed);
		check(speed.ce_pps == (f.dev == 3 || f.dev == 5 || f.dev == 9 ?
				       0 : 250));
	}
	rates_keep(r, NULL, 0);
	f.dev = 3;
	rates_update(r, &f, &speed);
	check(speed.ce_pps == 250);
	rates_free(r);
}

/* A symbol that test_elf() reads from the file of this program */
__attribute__((visibility("default"), used))
const char iqcn_test_symbol[] = "here";

static char *read_self(size_t *size)
{
	FILE *f = fopen("/proc/self/exe", "re");
	struct stat st;
	char *self;

	if (!f || fstat(fileno(f), &st))
		abort();
	*size = st.st_size;
	self = malloc(*size);
	if (!self || fread(self, 1, *size, f) != *size)
		abort();
	fclose(f);
	return self;
}

static void read_symbol(const char *path, char *buf)
{
	struct elf e;

	*buf = '\0';
	if (elf_open(&e, path))
		return;
	elf_string(&e, "iqcn_test_symbol", buf, VERSION_SIZE);
	elf_close(&e);
}

/* Damages the headers of a copy of this program, which elf_open() accepts as a
 * library, because it is built with PIE and -rdynamic
 */
static void test_elf(void)
{
	char path[] = "/tmp/iqcn_test.XXXXXX", text[VERSION_SIZE];
	int fd = mkstemp(path), i, j;
	const ElfW(Ehdr) *header;
	size_t size, at;
	char *self, byte;
	struct elf e;

	check(elf_open(&e, "/nonexistent"));
	check(elf_open(&e, "/dev/null"));
	check(elf_open(&e, path));
	self = read_self(&size);
	if (write(fd, self, size) != (ssize_t)size)
		abort();
	check(!elf_open(&e, path) && elf_has(&e, "main"));
	check(!elf_has(&e, "nix") && !elf_has(&e, "malloc_"));
	elf_close(&e);
	read_symbol(path, text);
	check_text(__LINE__, text, "here");

	header = (const void *)self;
	srand(3);
	for (i = 0; i < ELF_ROUNDS; i++) {
		for (j = 0; j < 3; j++) {
			at = rand() % 2 ? rand() % sizeof(*header) :
			     header->e_shoff + rand() % (size - header->e_shoff);
			byte = rand();
			pwrite(fd, &byte, 1, at);
		}
		if (i % 4 == 0)
			check(!ftruncate(fd, size - rand() % 5000));
		read_symbol(path, text);
		pwrite(fd, self, sizeof(*header), 0);
		pwrite(fd, self + header->e_shoff, size - header->e_shoff,
		       header->e_shoff);
	}
	read_symbol(path, text);
	check_text(__LINE__, text, "here");
	free(self);
	close(fd);
	unlink(path);
}

/* The traced child: stops, then calls signals_take() while a signal arrives */
static void look_for_signal(void)
{
	unsigned int signals;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || signals_open(false) < 0)
		_exit(2);
	/* call once before the stop, so that the symbol is bound */
	signals_take();
	kill(getpid(), SIGSTOP);
	signals = signals_take();
	signals |= signals_take();
	_exit(!(signals & SIGNALS_END));
}

/* Send a signal to a child after @steps instructions.  Returns the exit status
 * of the child, or -1 if it ended before the signal.
 */
static int signal_after(int steps)
{
	pid_t child = fork();
	int status;

	if (!child)
		look_for_signal();
	waitpid(child, &status, 0);
	while (WIFSTOPPED(status) && steps--) {
		ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
		waitpid(child, &status, 0);
	}
	if (!WIFSTOPPED(status))
		return WEXITSTATUS(status) == 2 ? 2 : -1;
	ptrace(PTRACE_CONT, child, NULL, (void *)SIGTERM);
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

/* No signal is lost, whichever instruction it interrupts, unless it arrives
 * after the last signals_take() of look_for_signal() has read the signals
 */
static void test_signals(void)
{
	int ret, steps, late = 0;

	for (steps = 0; late < SIGNAL_LATE; steps++) {
		ret = signal_after(steps);
		if (ret == 2 || ret == -1)
			break;
		check(ret || !late);
		late += ret;
	}
	check(late == SIGNAL_LATE && steps > late);
}

static void test_ranking(void)
{
	static const enum order orders[] = {
		ORDER_CNPS, ORDER_RATE, ORDER_AGE, ORDER_CNP_RATE
	};
	const struct ranked *list;
	struct ranked f = {};
	struct ranking *r;
	size_t i, j, n;

	for (j = 0; j < ARRAY_SIZE(orders); j++) {
		r = ranking_new(orders[j], 10);
		for (i = 0; i < 1000; i++) {
			f.flow.id = i;
			/* each value twice */
			f.flow.age_ns = i / 2 * 7 % 500;
			f.flow.cnp_seen = f.flow.age_ns / 3;
			f.flow.cnp_sent = f.flow.age_ns - f.flow.cnp_seen;
			f.speed.ce_pps = f.flow.age_ns;
			f.speed.cnp_pps = f.flow.age_ns;
			check(!ranking_add(r, &f));
		}
		list = ranking_list(r, &n);
		check(n == 10);
		for (i = 0; i < n; i++)
			check(list[i].flow.age_ns == 499 - i / 2);
		check(list[0].flow.id + 1 == list[1].flow.id);
		ranking_empty(r, ORDER_AGE);
		list = ranking_list(r, &n);
		check(!n);
		ranking_free(r);
	}
}

/* Compare the samples of @s, without HELP and TYPE lines, with @wanted */
static void check_samples(int line, const struct state *s, const char *wanted)
{
	char *text, *next, *end;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	exposition(f, s, false);
	fclose(f);
	end = text;
	for (next = text; *next; next += len) {
		len = strchr(next, '\n') + 1 - next;
		if (*next == '#')
			continue;
		memmove(end, next, len);
		end += len;
	}
	*end = '\0';
	check_text(line, text, wanted);
	free(text);
}

/* Values that an older module does not send are left out; extreme values and
 * names are printed correctly
 */
static void test_metrics(void)
{
	struct port port = { .dev = "\"\\\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" };
	struct queue queue = { .parent = TC_H_ROOT, .dev = UINT32_MAX };
	struct flow flow = {
		.dev = UINT32_MAX, .parent = TC_H_ROOT - 1,
		.vid = UINT64_MAX, .inner_vid = UINT64_MAX,
		.dest_qp = UINT64_MAX, .src_qp = UINT64_MAX,
		.src.len = 16, .dst.len = 16,
	};
	struct state s = { .tool_version = "1", .module_version = "2" };

	check_samples(__LINE__, &s,
		      "iqcn_up 0\n"
		      "iqcn_build_info{version=\"1\",module=\"2\"} 1\n"
		      "iqcn_last_run_timestamp_seconds 0\n");
	s.up = true;
	s.ports = &port;
	s.queues = &queue;
	s.flows = &flow;
	s.n_ports = 1;
	s.n_queues = 1;
	s.n_flows = 1;
	port.has[0] = 1ULL << IQCN_A_PORT_QUEUES;
	queue.has[0] = 1ULL << IQCN_A_QUEUE_NOTIFY |
		    1ULL << IQCN_A_QUEUE_CE_RATE_BPS |
		    1ULL << IQCN_A_QUEUE_BTS_PROB | 1ULL << IQCN_A_QUEUE_CNP_SENT |
		    1ULL << IQCN_A_QUEUE_STATE_AGE_NS |
		    1ULL << IQCN_A_QUEUE_DELAY_SUM_NS;
	queue.ce_rate_bps = UINT64_MAX;
	queue.bts_prob = UINT32_MAX;
	queue.state_age_ns = UINT64_C(1500000001);
	queue.delay_sum_ns = UINT64_MAX;
	queue.delay_samples = 7;
	s.queues_ns = UINT64_C(5000000000);
	/* more CNPs of one cause than in total: counters are not read
	 * atomically
	 */
	queue.cnp_pi = 1;
	flow.has[0] = 1ULL << IQCN_A_FLOW_CNP_SENT | 1ULL << IQCN_A_FLOW_SRC_QP |
		   1ULL << IQCN_A_FLOW_PARENT;
	flow.cnp_sent = UINT64_MAX;
	memset(flow.src.bytes, 0xff, sizeof(flow.src.bytes));
	memset(flow.dst.bytes, 0xff, sizeof(flow.dst.bytes));
#define DEV "device=\"if4294967295\","
#define FLOW DEV						\
	"src=\"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\","	\
	"dst=\"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\","	\
	"vlan=\"18446744073709551615.18446744073709551615\","	\
	"dest_qp=\"0xffffffffffffffff\""
	check_samples(__LINE__, &s,
		      "iqcn_up 1\n"
		      "iqcn_build_info{version=\"1\",module=\"2\"} 1\n"
		      "iqcn_last_run_timestamp_seconds 0\n"
		      "iqcn_port_queues{device=\"\\\"\\\\\\\\"
		      "\\\\xff\\\\xff\\\\xff\\\\xff\\\\xff\\\\xff\\\\xff"
		      "\\\\xff\\\\xff\\\\xff\\\\xff\\\\xff\\\\xff\"} 0\n"
		      "iqcn_queue_notify_info{" DEV "parent=\"root\",notify=\"off\"} 1\n"
		      "iqcn_queue_state_since_timestamp_seconds{" DEV "parent=\"root\"} 3\n"
		      "iqcn_queue_ce_bytes_per_second{" DEV "parent=\"root\"} "
		      "2305843009213693951.875\n"
		      "iqcn_queue_cnp_probability_ratio{" DEV "parent=\"root\"} 1\n"
		      "iqcn_queue_delay_seconds_sum{" DEV "parent=\"root\"} "
		      "18446744073.709551615\n"
		      "iqcn_queue_delay_seconds_count{" DEV "parent=\"root\"} 7\n"
		      "iqcn_queue_sent_cnps_total{" DEV "parent=\"root\",cause=\"timer\"} 0\n"
		      "iqcn_flow_info{" FLOW ",parent=\"ffff:fffe\","
		      "src_qp=\"0xffffffffffffffff\"} 1\n"
		      "iqcn_flow_sent_cnps_total{" FLOW "} 18446744073709551615\n");
#undef FLOW
#undef DEV
}

static const struct iqcn_param *param_of(int attr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(iqcn_param_table); i++)
		if (iqcn_param_table[i].attr == attr)
			return &iqcn_param_table[i];
	return NULL;
}

/* Each value has a name, the default is in range, and references have rows */
static void check_param(const struct iqcn_param *p)
{
	const struct iqcn_param *on = param_of(p->needs);
	uint32_t n = 0;

	while (p->names && p->names[n])
		n++;
	if (p->type == IQCN_PARAM_NAME)
		check(n == p->hi + 1);
	else if (p->type == IQCN_PARAM_SET)
		check(1u << n == p->hi + 1);
	else
		check(!p->names || p->type == IQCN_PARAM_FILTER);
	check(p->lo || p->type != IQCN_PARAM_SET || p->empty);
	if (p->follows)
		check(!p->def && param_of(p->follows));
	else
		check(p->def >= p->lo ||
		      (p->special && p->def == p->special_value));
	check(p->def <= p->hi || p->def == p->special_value);
	if (p->needs)
		check(on && p->needs_bits && on->names &&
		      (on->type == IQCN_PARAM_SET ?
		       !(p->needs_bits & ~on->hi) :
		       p->needs_bits < 2u << on->hi));
	check(p->tier < __IQCN_TIER_MAX && p->topic < __IQCN_TOPIC_MAX);
	check(p->key && p->unit && p->help);
	/* a line of tc's help has 80 columns: a tab, the name in at least 10
	 * columns, a space, and the text
	 */
	check(strlen(p->help) <= 80 - 8 - 11 &&
	      strlen(p->name) + 1 + strlen(p->help) <= 80 - 8);
}

static void test_parameters(void)
{
	const struct iqcn_param *p, *end;
	int attr;

	for (attr = TCA_IQCN_PAD + 1; attr <= TCA_IQCN_MAX; attr++)
		check(param_of(attr));
	end = iqcn_param_table + ARRAY_SIZE(iqcn_param_table);
	check(end - iqcn_param_table == TCA_IQCN_MAX - TCA_IQCN_PAD);
	for (p = iqcn_param_table; p < end; p++)
		check_param(p);
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "a message", test_message },
	{ "a MAC address", test_mac },
	{ "padding", test_padding },
	{ "an older kernel's", test_older },
	{ "a newer kernel's", test_newer },
	{ "a malformed one", test_malformed },
	{ "noise", test_noise },
	{ "a name with quotes", test_quotes },
	{ "names of any bytes", test_names },
	{ "parents", test_parents },
	{ "times", test_times },
	{ "sizes", test_sizes },
	{ "filters of flows", test_filters },
	{ "baselines", test_baselines },
	{ "the summary of a qdisc", test_summary },
	{ "the summary of a long-haul link", test_long_haul },
	{ "parameters that follow the link", test_derive },
	{ "rates", test_rates },
	{ "rates of ports that are gone", test_rates_keep },
	{ "ranking", test_ranking },
	{ "symbols of a file", test_elf },
	{ "signals", test_signals },
	{ "metrics", test_metrics },
	{ "the table of parameters", test_parameters },
	{ "logarithms of the agent", test_agent_log2 },
	{ "its term of the depth", test_agent_depth },
	{ "its two rewards", test_agent_reward },
	{ "bytes that arrived", test_agent_in_bytes },
	{ "counters that began anew", test_agent_restarted },
	{ "the state of the agent", test_agent_state },
	{ "its actions as leases", test_agent_lease },
	{ "a policy worse than the values of tc", test_agent_trust },
	{ "supplements before and in a burst", test_agent_guard },
	{ "random numbers of the agent", test_agent_random },
	{ "totals of the agent", test_agent_totals },
	{ "a policy", test_policy },
	{ "policies that are refused", test_policy_refused },
	{ "truncated policies", test_policy_truncated },
	{ "policies with changed bytes", test_policy_noise },
};

int main(void)
{
	int any_failed = 0;
	size_t i;

	printf("TAP version 13\n1..%zu\n", ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		failed = 0;
		tests[i].run();
		printf("%s %zu %s\n", failed ? "not ok" : "ok", i + 1,
		       tests[i].name);
		any_failed |= failed;
	}
	return any_failed;
}
