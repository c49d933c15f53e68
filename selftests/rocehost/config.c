// SPDX-License-Identifier: GPL-2.0
/*
 * Commands: one per line, followed by words and their values.  "cat ctl" lists
 * them.  A command that fails has no effect, but an interrupted blast or flood
 * has already sent packets.
 */
#include <linux/etherdevice.h>
#include <linux/hex.h>
#include <linux/if_arp.h>
#include <linux/inet.h>
#include <linux/math64.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "config.h"

/* The epoch is a multiple of this, and so of the units in which qdiscs and the
 * lab count time.  Therefore results do not depend on the time of "start".
 */
#define RH_EPOCH_NS	BIT_ULL(24)

static const char * const rh_rp_styles[] = { "connectx", "paper", "off", NULL };
static const char * const rh_transports[] = { "rc", "sr", NULL };
static const char * const rh_lbs[] = { "fixed", "ops", "reps", NULL };

/**
 * rh_names() - get the names of the values of a kind
 * @kind: the kind
 *
 * Return: the names, indexed by value and terminated by NULL; NULL if the kind
 * has none.
 */
const char * const *rh_names(enum rh_kind kind)
{
	switch (kind) {
	case RH_RP:
		return rh_rp_styles;
	case RH_TRANSPORT:
		return rh_transports;
	case RH_LB:
		return rh_lbs;
	default:
		return NULL;
	}
}

/* Set the parameters of RP and NP to those of ConnectX or of the paper.
 * Sources: those named in rp.h, and NVIDIA's "DCQCN parameters", but
 * without ConnectX's byte counter because the model that rp.h follows does not
 * have it.
 */
static void rh_rp_defaults(struct rh_host_conf *conf)
{
	struct rp_params connectx = {
		.style = conf->rp.style,
		.min_bps = 1000000,
		.alpha_ns = 1000,
		.reduce_ns = 4000,
		.increase_ns = 300000,
		.g = RP_ONE * 5 / 1024,
		.f = 1,
		.rai_bps = 5000000,
		.rhai_bps = 50000000,
		.first_percent = 100,
	};
	struct rp_params paper = {
		.style = conf->rp.style,
		.min_bps = 100000000,
		.alpha_ns = 55000,
		.increase_ns = 55000,
		.bytes = 10000000,
		.g = RP_ONE / 256,
		.f = 5,
		.rai_bps = 40000000,
		.rhai_bps = 200000000,
		.first_percent = 100,
	};

	conf->rp = conf->rp.style == RP_PAPER ? paper : connectx;
	conf->np.cnp_ns = conf->rp.style == RP_PAPER ? 50000 : 4000;
}

#define HOST(field)	offsetof(struct rh_host_conf, field)
#define FLOW(field)	offsetof(struct rh_flow_conf, field)
#define PROBE(field)	offsetof(struct rh_probe_conf, field)
#define BLAST(field)	offsetof(struct rh_blast_conf, field)
#define FLOOD(field)	offsetof(struct rh_flood_conf, field)
#define WIRE(field)	offsetof(struct wire_conf, field)
#define CHANGE(field)	offsetof(struct rh_change_conf, field)

const struct rh_word rh_host_words[] = {
	{ "ip", RH_IP, HOST(ip) },
	{ "via", RH_MAC, HOST(via) },
	{ "rate", RH_RATE, HOST(rate_bps), 1000, 1000000000000ULL },
	{ "delay", RH_TIME, HOST(delay_ns), 0, NSEC_PER_SEC },
	{ "drain", RH_RATE, HOST(drain_bps), 1000000, 1000000000000ULL },
	{ "seed", RH_NUMBER, HOST(seed), 0, U32_MAX },
	{ "qpn", RH_NUMBER, HOST(qpn), 2, RH_QPN_MAX },
	{ "ack", RH_NUMBER, HOST(ack_every), 1, 65536 },
	{ "nak", RH_TIME, HOST(nak_ns), 0, NSEC_PER_SEC },
	{ "rto", RH_TIME, HOST(rto_ns), 10000, 10 * NSEC_PER_SEC },
	{ "cnp-dscp", RH_NUMBER, HOST(cnp_dscp), 0, 63 },
	{ "cp-dscp", RH_NUMBER, HOST(cp_dscp), 0, 63 },
	{ "cnp-limit", RH_TIME, HOST(np.limit_ns), 0, NSEC_PER_SEC },
	{ "next-gap", RH_FLAG, HOST(next_gap) },
	{ "base-rtt", RH_TIME, HOST(base_rtt_ns), 0, NSEC_PER_SEC },
	{ "transport", RH_TRANSPORT, HOST(transport) },
	{ "lb", RH_LB, HOST(lb) },
	{ "entropies", RH_NUMBER, HOST(entropies), 1, 16384 },
	{ "reps-buffer", RH_NUMBER, HOST(reps_buffer), 1, 64, RH_NEEDS_REPS },
	{ "reps-pool", RH_NUMBER, HOST(reps_pool), 1, REPS_POOL_MAX,
	  RH_NEEDS_REPS },
	{ "freeze", RH_TIME, HOST(freeze_ns), 0, NSEC_PER_SEC, RH_NEEDS_REPS },
	{ "expire", RH_TIME, HOST(expire_ns), 0, NSEC_PER_SEC,
	  RH_NEEDS_REPS | RH_NEEDS_EXPIRY },
	{ "recurrent", RH_FLAG, HOST(recurrent), .needs = RH_NEEDS_REPS },
	{ "ramp", RH_TIME_AUTO, HOST(ramp_ns), 1000, NSEC_PER_SEC, RH_NEEDS_RP },
	{ "gate-weight", RH_SHARE, HOST(gate.weight), 0, GATE_ONE },
	{ "gate-above", RH_SHARE, HOST(gate.above), 0, GATE_ONE },
	{ "gate-most", RH_NUMBER, HOST(gate.most), 0, GATE_PATHS },
	{ "rtw", RH_FLAG, HOST(rtw) },
	{ "post", RH_TIME, HOST(post_ns), 0, 10 * NSEC_PER_SEC, RH_NEEDS_RTW },
	{ "table", RH_NUMBER, HOST(table), 1, 65536, RH_NEEDS_RTW },
	{ "rp", RH_RP, HOST(rp.style) },
	/* the following words are set by "rp" */
	{ "cnp", RH_TIME, HOST(np.cnp_ns), 0, NSEC_PER_SEC },
	{ "min", RH_RATE, HOST(rp.min_bps), 1000, 1000000000000ULL },
	{ "alpha", RH_TIME, HOST(rp.alpha_ns), 100, NSEC_PER_SEC },
	{ "reduce", RH_TIME, HOST(rp.reduce_ns), 0, NSEC_PER_SEC },
	{ "increase", RH_TIME, HOST(rp.increase_ns), 1000, NSEC_PER_SEC },
	{ "bytes", RH_BYTES, HOST(rp.bytes), 0, 1ULL << 40 },
	{ "g", RH_SHARE, HOST(rp.g), 0, RP_ONE },
	{ "f", RH_NUMBER, HOST(rp.f), 0, 1000 },
	{ "rai", RH_RATE, HOST(rp.rai_bps), 0, 1000000000000ULL },
	{ "rhai", RH_RATE, HOST(rp.rhai_bps), 0, 1000000000000ULL },
	{ "first", RH_NUMBER, HOST(rp.first_percent), 1, 100 },
	{ "clamp", RH_FLAG, HOST(rp.clamp) },
	{ "ratio", RH_SHARE, HOST(rp.ratio_floor), 1, RATIO_ONE, RH_NEEDS_RP },
	{ }
};

static const struct rh_word rh_flow_words[] = {
	{ "name", RH_NAME, FLOW(name), .max = RH_NAME_LEN },
	{ "to", RH_IP, FLOW(to) },
	{ "flows", RH_NUMBER, FLOW(n), 1, 1 << 20 },
	{ "mtu", RH_BYTES, FLOW(mtu), RH_MTU_MIN, RH_MTU_MAX },
	{ "size", RH_SIZE, FLOW(size), 1, 1ULL << 31 },
	{ "messages", RH_ENDLESSLY, FLOW(messages), 1, 1000000000 },
	{ "every", RH_TIME, FLOW(every_ns), 1000, 10 * NSEC_PER_SEC },
	{ "poisson", RH_FLAG, FLOW(poisson) },
	{ "rate", RH_RATE, FLOW(rate_bps), 1000, 1000000000000ULL },
	{ "start", RH_TIME, FLOW(start_ns), 0, 1000 * NSEC_PER_SEC },
	{ "spread", RH_TIME, FLOW(spread_ns), 0, 1000 * NSEC_PER_SEC },
	{ "stop", RH_TIME, FLOW(stop_ns), 1, 1000 * NSEC_PER_SEC },
	{ "dscp", RH_NUMBER, FLOW(dscp), 0, 63 },
	{ "ect", RH_NUMBER, FLOW(ect), 0, 3 },
	{ "sport", RH_SPORT, FLOW(sport), 1, 65535 },
	{ "cm", RH_FLAG, FLOW(cm) },
	{ "psn", RH_NUMBER, FLOW(psn), 0, IQCN_PSN_MASK },
	{ "probe", RH_NAME, FLOW(probe), .max = IFNAMSIZ },
	{ "trace", RH_NUMBER, FLOW(trace), 0, 1 << 20 },
	{ }
};

static const struct rh_word rh_probe_words[] = {
	{ "every", RH_TIME, PROBE(every_ns), 1000, NSEC_PER_SEC },
	{ "samples", RH_NUMBER, PROBE(samples), 1, 1000000 },
	{ "kmax", RH_BYTES, PROBE(kmax_bytes), 0, U32_MAX },
	{ }
};

static const struct rh_word rh_blast_words[] = {
	{ "from", RH_IP, BLAST(from) },
	{ "to", RH_IP, BLAST(to) },
	{ "packets", RH_NUMBER, BLAST(packets), 1, 1000000000 },
	{ "flows", RH_NUMBER, BLAST(n), 1, RH_BLAST_FLOWS },
	{ "mtu", RH_BYTES, BLAST(mtu), RH_MTU_MIN, RH_MTU_MAX },
	{ "ect", RH_NUMBER, BLAST(ect), 0, 3 },
	{ "depth", RH_NUMBER, BLAST(depth), 0, 65536 },
	{ "queue", RH_NUMBER, BLAST(queue), 0, RH_BLAST_QUEUES - 1 },
	{ "known", RH_FLAG, BLAST(known) },
	{ "in", RH_FLAG, BLAST(in) },
	{ "udp", RH_FLAG, BLAST(udp) },
	{ "tcp", RH_FLAG, BLAST(tcp) },
	{ "ack", RH_FLAG, BLAST(ack) },
	{ "cnp", RH_FLAG, BLAST(cnp) },
	{ }
};

static const struct rh_word rh_flood_words[] = {
	{ "via", RH_MAC, FLOOD(via) },
	{ "from", RH_IP, FLOOD(from) },
	{ "to", RH_IP, FLOOD(to) },
	{ "qp", RH_NUMBER, FLOOD(qp), 0, IQCN_QPN_MASK },
	{ "psn", RH_NUMBER, FLOOD(psn), 0, IQCN_PSN_MASK },
	{ "vlan", RH_NUMBER, FLOOD(vlan), 1, 4094 },
	{ "packets", RH_NUMBER, FLOOD(packets), 1, 1000000000 },
	{ "rate", RH_NUMBER, FLOOD(rate_pps), 1, 1000000000 },
	{ "ecn", RH_NUMBER, FLOOD(ecn), 0, 3 },
	{ "seed", RH_NUMBER, FLOOD(seed), 0, U32_MAX },
	{ "ack", RH_FLAG, FLOOD(ack) },
	{ "cnp", RH_FLAG, FLOOD(cnp) },
	{ "req", RH_FLAG, FLOOD(req) },
	{ }
};

static const struct rh_word rh_wire_words[] = {
	{ "rate", RH_RATE, WIRE(rate_bps), 1000000, 1000000000000ULL },
	{ "delay", RH_TIME, WIRE(delay_ns), 500, NSEC_PER_SEC },
	{ "pfc", RH_PRIOS, WIRE(pfc) },
	{ "buffer", RH_BYTES, WIRE(buffer_bytes), 16384, 1ULL << 32 },
	{ "alpha", RH_SHARE, WIRE(alpha), 1, 1ULL << 32 },
	{ "headroom", RH_AUTO, WIRE(headroom_bytes), 0, 1ULL << 32 },
	{ "resume", RH_BYTES, WIRE(resume_bytes), 0, 1ULL << 32 },
	{ "pfc-hide", RH_FLAG, WIRE(pfc_hide) },
	{ "flap", RH_TIME, WIRE(flap_ns), 1000, NSEC_PER_SEC },
	{ "flap-gap", RH_TIME, WIRE(flap_gap_ns), 1000, NSEC_PER_SEC },
	{ }
};

struct rh_change_conf {
	u64 at_ns;
	u64 for_ns;
	u64 rate_bps;
	u64 silent;
};

static const struct rh_word rh_fail_words[] = {
	{ "at", RH_TIME, CHANGE(at_ns), 0, 1000 * NSEC_PER_SEC },
	{ "for", RH_TIME, CHANGE(for_ns), 1000, 1000 * NSEC_PER_SEC },
	{ "silent", RH_FLAG, CHANGE(silent) },
	{ }
};

static const struct rh_word rh_rate_words[] = {
	{ "at", RH_TIME, CHANGE(at_ns), 0, 1000 * NSEC_PER_SEC },
	{ "to", RH_RATE, CHANGE(rate_bps), 1000000, 1000000000000ULL },
	{ }
};

struct rh_start_conf {
	u64 count_ns;
	u64 for_ns;
};

#define START(field)	offsetof(struct rh_start_conf, field)

static const struct rh_word rh_start_words[] = {
	{ "count", RH_TIME, START(count_ns), 0, 1000 * NSEC_PER_SEC },
	{ "for", RH_TIME, START(for_ns), 1000, 1000 * NSEC_PER_SEC },
	{ }
};

struct rh_unit {
	const char *name;
	u64 factor;
};

static const struct rh_unit rh_times[] = {
	{ "ns", 1 }, { "us", NSEC_PER_USEC }, { "ms", NSEC_PER_MSEC },
	{ "s", NSEC_PER_SEC }, { "", 1 }, { }
};

static const struct rh_unit rh_rates[] = {
	{ "bit", 1 }, { "kbit", 1000 }, { "mbit", 1000000 },
	{ "gbit", 1000000000 }, { "", 1 }, { }
};

static const struct rh_unit rh_sizes[] = {
	{ "k", 1024 }, { "m", 1024 * 1024 }, { "", 1 }, { }
};

static const struct rh_unit rh_numbers[] = { { "", 1 }, { } };

/* Record an error message, and return @err */
static __printf(3, 4) int rh_error(struct net *net, int err,
				     const char *fmt, ...)
{
	struct rh_net *rn = net_generic(net, rh_net_id);
	va_list args;

	va_start(args, fmt);
	vsnprintf(rn->error, sizeof(rn->error), fmt, args);
	va_end(args);
	return err;
}

static bool rh_parse_unit(const char *text, const struct rh_unit *unit,
			  u64 *value)
{
	char digits[24];
	size_t n = strspn(text, "0123456789");
	u64 v;

	if (!n || n >= sizeof(digits))
		return false;
	memcpy(digits, text, n);
	digits[n] = '\0';
	if (kstrtou64(digits, 10, &v))
		return false;
	for (; unit->name; unit++)
		if (!strcmp(text + n, unit->name))
			return !check_mul_overflow(v, unit->factor, value);
	return false;
}

static bool rh_parse_share(const char *text, u64 *value)
{
	u32 a, b;
	char end;

	if (sscanf(text, "%u/%u%c", &a, &b, &end) != 2 || !b || a > b)
		return false;
	*value = div_u64((u64)a << 32, b);
	return true;
}

/* Parse priorities from 0 to 7, separated by commas, into a bit mask */
static bool rh_parse_prios(const char *text, u64 *value)
{
	*value = 0;
	do {
		if (*text < '0' || *text > '7')
			return false;
		*value |= BIT(*text++ - '0');
		if (!*text)
			return true;
	} while (*text++ == ',');
	return false;
}

static bool rh_parse_ip(const char *text, struct in6_addr *ip)
{
	u8 raw[sizeof(struct in6_addr)];

	if (in4_pton(text, -1, raw, '\0', NULL)) {
		ipv6_addr_set_v4mapped(*(__be32 *)raw, ip);
		return true;
	}
	return in6_pton(text, -1, ip->s6_addr, '\0', NULL);
}

/* Parse a word whose value is one of several names */
static int rh_parse_choice(struct net *net, const struct rh_word *word,
			   const char *text, u64 *value)
{
	int i = match_string(rh_names(word->kind), -1, text);

	if (i < 0)
		return rh_error(net, -EINVAL, "%s: \"%s\" is not %s", word->name,
				text, rh_kinds[word->kind]);
	*value = i;
	return 0;
}

static int rh_parse_rp(struct net *net, const struct rh_word *word,
		       const char *text, struct rh_host_conf *conf)
{
	int err = rh_parse_choice(net, word, text, &conf->rp.style);

	if (!err && conf->rp.style != RP_OFF)
		rh_rp_defaults(conf);
	return err;
}

/* Parse a value that is a name or a list of priorities, not a number */
static bool rh_parse_name(const struct rh_word *word, const char *text,
			  u64 *value)
{
	switch (word->kind) {
	case RH_SIZE:
	case RH_ENDLESSLY:
		*value = RH_ENDLESS;
		return !strcmp(text, "endless");
	case RH_AUTO:
		*value = WIRE_AUTO;
		return !strcmp(text, "auto");
	case RH_TIME_AUTO:
		*value = RAMP_AUTO;
		return !strcmp(text, "auto");
	case RH_PRIOS:
		return rh_parse_prios(text, value);
	case RH_SPORT:
		*value = RH_SPORT_MLX5;
		if (!strcmp(text, "mlx5"))
			return true;
		*value = RH_SPORT_RXE;
		return !strcmp(text, "rxe");
	default:
		return false;
	}
}

static bool rh_parse_number(const struct rh_word *word, const char *text,
			    u64 *value)
{
	switch (word->kind) {
	case RH_TIME:
	case RH_TIME_AUTO:
		return rh_parse_unit(text, rh_times, value);
	case RH_RATE:
		return rh_parse_unit(text, rh_rates, value);
	case RH_BYTES:
	case RH_AUTO:
	case RH_SIZE:
		return rh_parse_unit(text, rh_sizes, value);
	case RH_SHARE:
		return rh_parse_share(text, value);
	case RH_PRIOS:
		return false;
	default:
		return rh_parse_unit(text, rh_numbers, value);
	}
}

static int rh_parse_word(struct net *net, const struct rh_word *word,
			 char *text, void *conf)
{
	void *field = conf + word->off;
	u64 value;

	switch (word->kind) {
	case RH_IP:
		if (!rh_parse_ip(text, field))
			return rh_error(net, -EINVAL,
					"%s: \"%s\" is not an IP address", word->name,
					text);
		return 0;
	case RH_MAC:
		if (!mac_pton(text, field) || !is_valid_ether_addr(field))
			return rh_error(net, -EINVAL,
					"%s: \"%s\" is not a unicast MAC",
					word->name, text);
		return 0;
	case RH_NAME:
		if (strchr(text, ',') || strscpy(field, text, word->max) < 0)
			return rh_error(net, -EINVAL,
					"%s: \"%s\" is too long, or has a comma",
					word->name, text);
		return 0;
	case RH_RP:
		return rh_parse_rp(net, word, text, conf);
	case RH_TRANSPORT:
	case RH_LB:
		return rh_parse_choice(net, word, text, field);
	default:
		break;
	}
	if (!rh_parse_name(word, text, &value)) {
		if (!rh_parse_number(word, text, &value))
			return rh_error(net, -EINVAL, "%s: \"%s\" is not a valid %s",
					word->name, text, rh_kinds[word->kind]);
		if (value < word->min || value > word->max)
			return rh_error(net, -ERANGE,
					"%s: %s is out of range (%llu to %llu)",
					word->name, text, word->min, word->max);
	}
	*(u64 *)field = value;
	return 0;
}

/* Placeholders of values in the listing and in messages */
const char * const rh_kinds[] = {
	[RH_NUMBER] = "NUMBER",
	[RH_TIME] = "TIME",
	[RH_RATE] = "RATE",
	[RH_BYTES] = "BYTES",
	[RH_SHARE] = "N/M",
	[RH_SIZE] = "BYTES|endless",
	[RH_ENDLESSLY] = "NUMBER|endless",
	[RH_SPORT] = "NUMBER|mlx5|rxe",
	[RH_AUTO] = "BYTES|auto",
	[RH_TIME_AUTO] = "TIME|auto",
	[RH_PRIOS] = "PRIO[,PRIO]...",
	[RH_IP] = "ADDRESS",
	[RH_MAC] = "MAC",
	[RH_NAME] = "NAME",
	[RH_RP] = "connectx|paper|off",
	[RH_TRANSPORT] = "rc|sr",
	[RH_LB] = "fixed|ops|reps",
	[RH_FLAG] = "",
};

static char *rh_next(char **line)
{
	char *word;

	do {
		word = strsep(line, " \t");
	} while (word && !*word);
	return word;
}

/* Does "rp" set this word? */
static bool rh_set_by_rp(const struct rh_word *words,
			 const struct rh_word *word)
{
	for (; words < word; words++)
		if (words->kind == RH_RP)
			return true;
	return false;
}

/* Parse the words of a line.  @needs: enum rh_needs bits of all these words */
static int rh_parse_needs(struct net *net, char *line,
			  const struct rh_word *words, void *conf, u32 *needs)
{
	const struct rh_word *word;
	bool rp_late = false;
	char *name, *text;
	int err;

	*needs = 0;
	while ((name = rh_next(&line))) {
		for (word = words; word->name; word++)
			if (!strcmp(name, word->name))
				break;
		if (!word->name)
			return rh_error(net, -EINVAL, "unknown word \"%s\"",
					name);
		*needs |= word->needs;
		rp_late |= rh_set_by_rp(words, word);
		if (word->kind == RH_FLAG) {
			*(u64 *)(conf + word->off) = 1;
			continue;
		}
		text = rh_next(&line);
		if (!text)
			return rh_error(net, -EINVAL, "%s: value missing (%s)",
					name, rh_kinds[word->kind]);
		if (word->kind == RH_RP && rp_late && strcmp(text, "off"))
			return rh_error(net, -EINVAL,
					"%s: must precede the words that it sets",
					name);
		err = rh_parse_word(net, word, text, conf);
		if (err)
			return err;
	}
	return 0;
}

static int rh_parse(struct net *net, char *line, const struct rh_word *words,
		    void *conf)
{
	u32 needs;

	return rh_parse_needs(net, line, words, conf, &needs);
}

static struct net_device *rh_dev(struct net *net, char **line, int *err)
{
	const char *name = rh_next(line);
	struct net_device *dev;

	*err = 0;
	if (!name) {
		*err = rh_error(net, -EINVAL, "device name missing");
		return NULL;
	}
	dev = __dev_get_by_name(net, name);
	if (!dev)
		*err = rh_error(net, -ENODEV, "no device \"%s\" in this namespace", name);
	return dev;
}

static int rh_not_started(struct net *net)
{
	if (rh_world.epoch_ns == RH_NEVER)
		return 0;
	return rh_error(net, -EBUSY, "already started; write clear first");
}

/* If @err is an error, record its message.  Return: @err.  @what: the name in
 * the message: a device, or what could not be created, such as "flows"
 */
static int rh_failed(struct net *net, int err, const char *what)
{
	switch (err) {
	case 0:
		return 0;
	case -ENOMEM:
		return rh_error(net, err, "%s: out of memory", what);
	case -ENOSPC:
		return rh_error(net, err, "%s: not enough QP numbers left",
				what);
	case -EEXIST:
		return rh_error(net, err, "\"%s\" already has one", what);
	case -EBUSY:
		return rh_error(net, err, "\"%s\" is a port of another device", what);
	default:
		return rh_error(net, err, "\"%s\" failed, error %d", what,
				-err);
	}
}

static bool rh_is_unicast(const struct in6_addr *ip)
{
	__be32 ip4 = ip->s6_addr32[3];

	if (ipv6_addr_v4mapped(ip))
		return !ipv4_is_zeronet(ip4) && !ipv4_is_multicast(ip4) &&
		       !ipv4_is_lbcast(ip4);
	return !ipv6_addr_any(ip) && !ipv6_addr_is_multicast(ip);
}

/* Reject parameters whose prerequisite is missing: "transport sr",
 * "gate-weight", or a suitable "lb" and number of entropies
 */
static int rh_check_transport(struct net *net, const struct rh_host_conf *conf)
{
	if (conf->transport != RH_TRANSPORT_SR) {
		if (conf->lb != RH_LB_FIXED)
			return rh_error(net, -EINVAL, "lb: %s needs transport sr",
					rh_lbs[conf->lb]);
		if (conf->ramp_ns || conf->gate.weight || conf->rtw)
			return rh_error(net, -EINVAL,
					"ramp, gate-weight, rtw: need transport sr");
	}
	if (!conf->gate.weight && (conf->gate.above || conf->gate.most))
		return rh_error(net, -EINVAL,
				"gate-above, gate-most: need gate-weight");
	if (conf->gate.most && (conf->lb == RH_LB_FIXED ||
				conf->entropies > GATE_PATHS))
		return rh_error(net, -EINVAL,
				"gate-most: needs lb ops or reps, and at most %d entropies",
				GATE_PATHS);
	if (conf->gate.most > conf->entropies)
		return rh_error(net, -ERANGE, "gate-most: above entropies, %llu",
				conf->entropies);
	return 0;
}

/* Check the words that have no effect without others.  @needs: enum rh_needs
 * bits of all words of the line
 */
static int rh_check_needs(struct net *net, const struct rh_host_conf *conf,
			  u32 needs)
{
	if (needs & RH_NEEDS_REPS && conf->lb != RH_LB_REPS)
		return rh_error(net, -EINVAL,
				"reps-buffer, reps-pool, freeze, expire, recurrent: need lb reps");
	if (needs & RH_NEEDS_EXPIRY && conf->recurrent)
		return rh_error(net, -EINVAL, "expire: not with recurrent");
	if (needs & RH_NEEDS_RTW && !conf->rtw)
		return rh_error(net, -EINVAL, "post, table: need rtw");
	if (needs & RH_NEEDS_RP && conf->rp.style == RP_OFF)
		return rh_error(net, -EINVAL, "ramp, ratio: not with rp off");
	return 0;
}

static int rh_cmd_host(struct net *net, char *line)
{
	struct rh_host_conf conf = {
		.rate_bps = 100000000000ULL,
		.ack_every = 4,
		.rto_ns = 67 * NSEC_PER_MSEC,
		.cnp_dscp = 48,
		.qpn = 0x100,
		/* not a DSCP: no CNP is attributed to a congestion point */
		.cp_dscp = 64,
		.entropies = 1024,
		.reps_buffer = 8,
		.reps_pool = 1024,
		.freeze_ns = 10 * NSEC_PER_MSEC,
		.expire_ns = NSEC_PER_MSEC,
		.table = 1024,
	};
	struct net_device *dev;
	u32 needs;
	int err;

	rh_rp_defaults(&conf);
	dev = rh_dev(net, &line, &err);
	if (!dev)
		return err;
	err = rh_parse_needs(net, line, rh_host_words, &conf, &needs);
	if (err)
		return err;
	if (!rh_is_unicast(&conf.ip))
		return rh_error(net, -EINVAL, "ip: a host needs a unicast address");
	if (rh_host_by_ip(&conf.ip))
		return rh_error(net, -EADDRINUSE, "ip: already used by another host");
	if (dev->type != ARPHRD_ETHER)
		return rh_error(net, -EINVAL, "\"%s\" is not Ethernet",
				dev->name);
	if (conf.drain_bps && !(wire_end_of(dev) &&
				wire_end_of(dev)->wire->conf.pfc))
		return rh_error(net, -EINVAL, "drain: \"%s\" is not a wire with pfc",
				dev->name);
	if (conf.rp.min_bps > conf.rate_bps)
		return rh_error(net, -ERANGE, "min: above the host's rate, %llu bit/s",
				conf.rate_bps);
	err = rh_check_transport(net, &conf) ?:
	      rh_check_needs(net, &conf, needs);
	if (err)
		return err;
	conf.rp.line_bps = conf.rate_bps;
	return rh_failed(net, rh_host_of(dev) ? -EEXIST :
						rh_host_add(dev, &conf),
			 dev->name);
}

/* Check that a payload of @mtu bytes is legal and fits into packets of @room
 * bytes, with @more bytes of headers after the RC headers
 */
static int rh_check_mtu(struct net *net, u64 mtu, u32 more, u32 room)
{
	if (!is_power_of_2(mtu))
		return rh_error(net, -EINVAL, "mtu: %llu is not 256, 512, 1024, 2048 or 4096",
				mtu);
	if (mtu + RH_HDR_MAX - ETH_HLEN + RH_RETH_LEN + more + IQCN_ICRC_LEN >
	    room)
		return rh_error(net, -ERANGE, "mtu: %llu does not fit into packets of %u bytes",
				mtu, room);
	return 0;
}

static int rh_cmd_flow(struct net *net, char *line)
{
	struct rh_flow_conf conf = {
		.name = "flows",
		.n = 1,
		.mtu = 4096,
		.size = 65536,
		.messages = 1,
		.ect = 2,
		.stop_ns = RH_NEVER,
		.sport = RH_SPORT_MLX5,
		.psn = RH_NEVER,
	};
	struct rh_probe *probe = NULL;
	struct rh_host *host, *peer;
	struct net_device *dev;
	int err;

	dev = rh_dev(net, &line, &err);
	if (!dev)
		return err;
	err = rh_parse(net, line, rh_flow_words, &conf);
	if (err)
		return err;
	host = rh_host_of(dev);
	if (!host)
		return rh_error(net, -ENOENT, "no host on \"%s\"", dev->name);
	if (ipv6_addr_any(&conf.to))
		return rh_error(net, -EINVAL, "to: a flow needs a receiver");
	peer = rh_host_by_ip(&conf.to);
	if (!peer || peer == host)
		return rh_error(net, -ENOENT, "to: no other host has that address");
	if (ipv6_addr_v4mapped(&conf.to) !=
	    ipv6_addr_v4mapped(&host->conf.ip))
		return rh_error(net, -EINVAL, "to: not the same IP version as %s",
				dev->name);
	if (peer->conf.rtw && host->conf.transport != RH_TRANSPORT_SR)
		return rh_error(net, -EINVAL,
				"to: that host has rtw, which needs transport sr");
	if (conf.rate_bps > host->conf.rate_bps)
		return rh_error(net, -ERANGE, "rate: above the host's rate, %llu bit/s",
				host->conf.rate_bps);
	if (conf.rate_bps && conf.rate_bps < host->conf.rp.min_bps &&
	    host->conf.rp.style != RP_OFF)
		return rh_error(net, -ERANGE, "rate: below the host's min, %llu bit/s",
				host->conf.rp.min_bps);
	err = rh_check_mtu(net, conf.mtu,
			   host->conf.transport == RH_TRANSPORT_SR ?
			   SR_DATA_LEN : 0, min(dev->mtu, peer->dev->mtu));
	if (err)
		return err;
	if (conf.size == RH_ENDLESS)
		conf.messages = RH_ENDLESS;
	if (conf.stop_ns <= conf.start_ns + conf.spread_ns)
		return rh_error(net, -ERANGE, "stop: must be after start plus spread, %llu ns",
				conf.start_ns + conf.spread_ns);
	if (conf.poisson && !conf.every_ns)
		return rh_error(net, -EINVAL, "poisson: needs every");
	if (conf.trace * conf.n > 1 << 20)
		return rh_error(net, -ERANGE, "trace: more than 2^20 events in total");
	if (conf.probe[0]) {
		probe = rh_probe_find(conf.probe);
		if (!probe)
			return rh_error(net, -ENOENT, "probe: there must be exactly one on \"%s\"",
					conf.probe);
	}
	return rh_not_started(net) ?:
	       rh_failed(net, rh_flow_add(host, &conf, peer, probe), "flows");
}

static int rh_cmd_probe(struct net *net, char *line)
{
	struct rh_probe_conf conf = {
		.every_ns = 5000,
		.samples = 100000,
	};
	struct net_device *dev;
	int err;

	dev = rh_dev(net, &line, &err);
	if (!dev)
		return err;
	err = rh_parse(net, line, rh_probe_words, &conf);
	if (err)
		return err;
	err = rh_not_started(net);
	if (err)
		return err;
	err = rh_probe_add(dev, &conf);
	return rh_failed(net, err, err == -ENOMEM ? "samples" : dev->name);
}

/* Refuse a buffer of @have bytes if its ports, of which @who is one, need more
 */
static int rh_check_buffer(struct net *net, const char *who, u64 need,
			   u64 have)
{
	if (need <= have)
		return 0;
	return rh_error(net, -ERANGE,
			"buffer: %llu bytes at \"%s\" are less than its headroom, %llu bytes",
			have, who, need);
}

static int rh_cmd_wire(struct net *net, char *line)
{
	struct wire_conf conf = {
		.rate_bps = 100000000000ULL,
		.delay_ns = 1000,
		.buffer_bytes = 32 << 20,
		.alpha = 1ULL << 32 >> 3,
		.headroom_bytes = WIRE_AUTO,
		.resume_bytes = 3 << 10,
		.flap_gap_ns = 10000,
	};
	const char *a = rh_next(&line), *b = rh_next(&line);
	int err;

	if (!a || !b)
		return rh_error(net, -EINVAL, "a wire needs the names of two devices");
	if (!dev_valid_name(a) || !dev_valid_name(b) || !strcmp(a, b))
		return rh_error(net, -EINVAL, "\"%s\", \"%s\": not the names of two devices",
				a, b);
	err = rh_parse(net, line, rh_wire_words, &conf) ?:
	      rh_check_buffer(net, a, hweight8(conf.pfc) *
				      (MMU_RESERVE_BYTES + wire_headroom(&conf)),
			      conf.buffer_bytes);
	if (err)
		return err;
	err = wire_new(net, a, b, &conf);
	if (err == -EEXIST)
		return rh_error(net, err, "\"%s\" or \"%s\" exists", a, b);
	return rh_failed(net, err, a);
}

/* Find the wire whose device the first word names */
static struct wire *rh_wire(struct net *net, char **line, int *err)
{
	struct net_device *dev = rh_dev(net, line, err);
	struct wire_end *end;

	if (!dev)
		return NULL;
	end = wire_end_of(dev);
	if (!end)
		*err = rh_error(net, -EINVAL, "\"%s\" is not a wire", dev->name);
	else
		*err = rh_not_started(net);
	return *err ? NULL : end->wire;
}

/* Parse a change of a wire.  Return: the wire, or NULL */
static struct wire *rh_change(struct net *net, char *line,
			      const struct rh_word *words,
			      struct rh_change_conf *conf, int *err)
{
	struct wire *wire = rh_wire(net, &line, err);

	if (!wire)
		return NULL;
	*err = rh_parse(net, line, words, conf);
	return *err ? NULL : wire;
}

/* Schedule all of @n events, or none */
static int rh_add_events(struct net *net, struct wire *wire,
			 const struct wire_event *events, int n)
{
	if (wire->n_events + n > WIRE_EVENTS)
		return rh_error(net, -ENOSPC, "a wire changes at most %d times",
				WIRE_EVENTS);
	while (n--)
		wire_add_event(wire, events++);
	return 0;
}

static int rh_cmd_fail(struct net *net, char *line)
{
	struct rh_change_conf conf = {};
	struct wire_event events[2];
	struct wire *wire;
	int err;

	wire = rh_change(net, line, rh_fail_words, &conf, &err);
	if (!wire)
		return err;
	if (!conf.for_ns)
		return rh_error(net, -EINVAL, "for: a failure needs its duration");
	events[0] = (struct wire_event){ .at_ns = conf.at_ns, .down = true,
					 .silent = conf.silent };
	events[1] = (struct wire_event){ .at_ns = conf.at_ns + conf.for_ns,
					 .silent = conf.silent };
	return rh_add_events(net, wire, events, ARRAY_SIZE(events));
}

static int rh_cmd_rate(struct net *net, char *line)
{
	struct rh_change_conf conf = {};
	struct wire_event event;
	struct wire *wire;
	int err;

	wire = rh_change(net, line, rh_rate_words, &conf, &err);
	if (!wire)
		return err;
	if (!conf.rate_bps)
		return rh_error(net, -EINVAL, "to: a change needs the new rate");
	event = (struct wire_event){ .at_ns = conf.at_ns,
				     .rate_bps = conf.rate_bps };
	return rh_add_events(net, wire, &event, 1);
}

static int rh_blast_check(struct net *net, const struct net_device *dev,
			  const struct rh_blast_conf *conf)
{
	/* a dummy has no other traffic, and its driver never stops the queue */
	if (!dev->rtnl_link_ops || strcmp(dev->rtnl_link_ops->kind, "dummy"))
		return rh_error(net, -EINVAL, "\"%s\" is not a dummy device",
				dev->name);
	if (!netif_running(dev))
		return rh_error(net, -ENETDOWN, "\"%s\" is down", dev->name);
	if (conf->queue >= dev->real_num_tx_queues)
		return rh_error(net, -EINVAL, "queue: \"%s\" has %u queues",
				dev->name, dev->real_num_tx_queues);
	if (ipv6_addr_v4mapped(&conf->from) != ipv6_addr_v4mapped(&conf->to))
		return rh_error(net, -EINVAL, "to: not the same IP version as from");
	if (conf->udp + conf->tcp + conf->ack + conf->cnp > 1)
		return rh_error(net, -EINVAL,
				"udp, tcp, ack, cnp: at most one of them");
	if (conf->ack + conf->cnp > conf->in)
		return rh_error(net, -EINVAL, "ack, cnp: need in");
	return rh_check_mtu(net, conf->mtu, 0, dev->mtu);
}

static int rh_cmd_blast(struct net *net, char *line)
{
	struct rh_net *rn = net_generic(net, rh_net_id);
	struct rh_blast blast = {
		.conf.packets = 1000000,
		.conf.n = 100,
		.conf.mtu = 4096,
		.conf.ect = 2,
		.conf.depth = 64,
	};
	struct net_device *dev;
	int err;

	/* addresses of RFC 2544 for benchmarks */
	ipv6_addr_set_v4mapped(htonl(0xc6120001), &blast.conf.from);
	ipv6_addr_set_v4mapped(htonl(0xc6130001), &blast.conf.to);
	dev = rh_dev(net, &line, &err);
	if (!dev)
		return err;
	err = rh_parse(net, line, rh_blast_words, &blast.conf) ?:
	      rh_blast_check(net, dev, &blast.conf);
	if (err)
		return err;
	if (rn->blasts[blast.conf.queue])
		return rh_error(net, -EBUSY, "queue: a blast uses %llu",
				blast.conf.queue);
	strscpy(blast.dev, dev->name, sizeof(blast.dev));
	rn->blasts[blast.conf.queue] = true;
	err = rh_blast(dev, &blast);
	rn->blasts[blast.conf.queue] = false;
	rn->blast[blast.conf.queue] = blast;
	switch (err) {
	case -EINTR:
		return rh_error(net, err, "interrupted after %llu packets",
				blast.packets);
	case -ENETDOWN:
		return rh_error(net, err, "\"%s\" went down after %llu packets",
				blast.dev, blast.packets);
	default:
		return rh_failed(net, err, "flows");
	}
}

static int rh_flood_check(struct net *net, const struct net_device *dev,
			  const struct rh_flood_conf *conf)
{
	if (dev->type != ARPHRD_ETHER)
		return rh_error(net, -EINVAL, "\"%s\" is not Ethernet",
				dev->name);
	if (!netif_running(dev))
		return rh_error(net, -ENETDOWN, "\"%s\" is down", dev->name);
	if (is_zero_ether_addr(conf->via))
		return rh_error(net, -EINVAL, "via: a flood needs a destination MAC");
	if (conf->ack + conf->cnp + conf->req > 1)
		return rh_error(net, -EINVAL, "ack, cnp, req: at most one of them");
	if (!ipv6_addr_any(&conf->from) && !ipv6_addr_any(&conf->to) &&
	    ipv6_addr_v4mapped(&conf->from) != ipv6_addr_v4mapped(&conf->to))
		return rh_error(net, -EINVAL, "to: not the same IP version as from");
	return 0;
}

static int rh_cmd_flood(struct net *net, char *line)
{
	struct rh_net *rn = net_generic(net, rh_net_id);
	struct rh_flood flood = {
		.conf.qp = RH_NEVER,
		.conf.psn = RH_NEVER,
		.conf.packets = 1000000,
		.conf.rate_pps = 1000000,
		.conf.ecn = 3,
	};
	struct net_device *dev;
	int err;

	dev = rh_dev(net, &line, &err);
	if (!dev)
		return err;
	err = rh_parse(net, line, rh_flood_words, &flood.conf) ?:
	      rh_flood_check(net, dev, &flood.conf);
	if (err)
		return err;
	strscpy(flood.dev, dev->name, sizeof(flood.dev));
	err = rh_flood(dev, &flood);
	rn->flood = flood;
	switch (err) {
	case -EINTR:
		return rh_error(net, err, "interrupted after %llu packets",
				flood.packets);
	case -ENETDOWN:
		return rh_error(net, err, "\"%s\" went down after %llu packets",
				flood.dev, flood.packets);
	default:
		return rh_failed(net, err, "packets");
	}
}

static int rh_cmd_start(struct net *net, char *line)
{
	struct rh_start_conf conf = { .for_ns = RH_NEVER };
	const struct net_device *dev;
	struct rh_probe *probe;
	struct rh_host *host;
	u64 need, have;
	int err;

	err = rh_parse(net, line, rh_start_words, &conf) ?:
	      rh_not_started(net);
	if (err)
		return err;
	if (list_empty(&rh_world.hosts))
		return rh_error(net, -ENOENT, "no host to start");
	if (conf.count_ns >= conf.for_ns)
		return rh_error(net, -ERANGE, "count: must be before the end");
	dev = wire_buffer_lacks(&need, &have);
	if (dev)
		return rh_check_buffer(net, dev->name, need, have);
	rh_world.epoch_ns = round_up(ktime_get_ns() + RH_EPOCH_NS, RH_EPOCH_NS);
	WRITE_ONCE(rh_world.count_ns, rh_world.epoch_ns + conf.count_ns);
	WRITE_ONCE(rh_world.stop_ns, conf.for_ns == RH_NEVER ? RH_NEVER :
					rh_world.epoch_ns + conf.for_ns);
	wire_start(rh_world.epoch_ns);
	list_for_each_entry(probe, &rh_world.probes, list)
		rh_probe_start(probe);
	list_for_each_entry(host, &rh_world.hosts, list)
		rh_host_start(host);
	return 0;
}

static int rh_cmd_stop(struct net *net, char *line)
{
	if (rh_next(&line))
		return rh_error(net, -EINVAL, "stop: takes no words");
	if (rh_world.stop_ns > ktime_get_ns())
		WRITE_ONCE(rh_world.stop_ns, ktime_get_ns());
	return 0;
}

static int rh_cmd_clear(struct net *net, char *line)
{
	if (rh_next(&line))
		return rh_error(net, -EINVAL, "clear: takes no words");
	rh_clear(net);
	return 0;
}

const struct rh_command rh_commands[] = {
	{ "wire", "DEV DEV", rh_wire_words, rh_cmd_wire },
	{ "fail", "DEV", rh_fail_words, rh_cmd_fail },
	{ "rate", "DEV", rh_rate_words, rh_cmd_rate },
	{ "host", "DEV", rh_host_words, rh_cmd_host },
	{ "probe", "DEV", rh_probe_words, rh_cmd_probe },
	{ "flow", "DEV", rh_flow_words, rh_cmd_flow },
	{ "blast", "DEV", rh_blast_words, rh_cmd_blast },
	{ "flood", "DEV", rh_flood_words, rh_cmd_flood },
	{ "start", "", rh_start_words, rh_cmd_start },
	{ "stop", "", NULL, rh_cmd_stop },
	{ "clear", "", NULL, rh_cmd_clear },
	{ }
};

/**
 * rh_command() - execute a command
 * @net: namespace of the writer
 * @line: the line, which is modified
 *
 * Context: process, takes RTNL.
 * Return: 0, or an error, with its message in the namespace's rh_net.
 */
int rh_command(struct net *net, char *line)
{
	struct rh_net *rn = net_generic(net, rh_net_id);
	const struct rh_command *cmd;
	const char *name;
	int err;

	line[strcspn(line, "#")] = '\0';
	name = rh_next(&line);
	rtnl_lock();
	rn->error[0] = '\0';
	err = name && !rh_world.open ? -ENODEV : 0;
	if (name && rh_world.open) {
		for (cmd = rh_commands; cmd->name; cmd++)
			if (!strcmp(name, cmd->name))
				break;
		if (cmd->name)
			err = cmd->run(net, line);
		else
			err = rh_error(net, -EINVAL, "unknown command \"%s\"",
				       name);
	}
	rtnl_unlock();
	return err;
}
