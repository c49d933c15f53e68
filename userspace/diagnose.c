// SPDX-License-Identifier: GPL-2.0
/*
 * iqcn check: find common mistakes, and faults that the counters show.
 *
 * Counters start with the qdisc, so a past fault is reported for the qdisc's
 * lifetime.  If a queue has a backlog, the counters are read twice, to find out
 * whether packets leave.
 *
 * The checks of a port go from cause to symptom: its place, then the
 * parameters, then the counters of its traffic.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/iqcn.h>
#include <linux/pkt_sched.h>
#include <netlink/errno.h>

#include "../kmod/config_defaults.h"
#include "check.h"
#include "iqcn.h"
#include "link.h"
#include "param.h"
#include "snapshot.h"
#include "tree.h"

#define NS_PER_MS 1000000
/* Interval between two readings of a queue with a backlog.  Ordinary PFC does
 * not pause a port for that long, and even a port at 1 Mbit/s sends two packets
 * of 9000 bytes in this time.
 */
#define DRAIN_MS 200
#define ETHERNET_HEADER 14
#define NAME_SIZE (2 * VALUE_SIZE)
/* Characters that no shell interprets */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-"

/* Fewer packets than this say nothing about the direction of the data */
#define WAY_PACKETS 20
#define STORM_PACKETS 1000
/* This many CNPs per packet are a storm.  With pi, 256 sparse flows on 1 Gb/s
 * may need 21 CNPs per packet (Documentation/back-to-sender.rst).
 */
#define STORM_CNPS 2
#define STORM_CNPS_PI 24
/* ACKs and CNPs are smaller than ANSWER_BYTES, even IPv6 with two VLAN tags;
 * data packets are larger than DATA_BYTES
 */
#define ANSWER_BYTES 128
#define DATA_BYTES 256
/* If one direction of a port carries this many times the bytes of the other,
 * only that direction carries data
 */
#define ONE_WAY 10

/* To compute the median CNP interval, read at most this many flows, and keep at
 * most this many intervals
 */
#define FLOWS_MAX 100000
#define GAPS_MAX 10000
/* Minimum interval of a receiver's CNPs (DCQCN's default).  Senders speed up
 * 55 us to 1.5 ms after a CNP, and 4 ms after it in one scenario of
 * Documentation/scenarios.rst, so a T1 of INCREASE_INTERVALS intervals is too
 * long for any sender.
 */
#define CNP_INTERVAL_NS 50000
#define INCREASE_INTERVALS 100

/* The interval of a receiver's CNPs to one flow */
struct gap {
	uint64_t dev, parent;
	uint64_t ns;
};

struct gaps {
	struct gap *list;
	size_t n;
	size_t flows;	/* read so far */
};

/* The data of all checks */
struct box {
	struct check *c;
	struct tree tree;
	struct snapshot before;	/* empty if no queue had a backlog */
	struct snapshot now;
	struct gaps gaps;
};

/* A queue with its port, device and node; only @q and @port are never NULL */
struct subject {
	const struct queue *q;
	const struct queue *before;
	const struct port *port;
	const struct tree_dev *dev;
	const struct tree_node *node;
	const struct tree_node *shaper;
	char fix[4 * VALUE_SIZE];
};

/* A device's name as a shell word.  Bash decodes the escapes of name_text()
 * within $'', so any name stays one word, and none can inject a command.
 */
static void dev_word(char *buf, const char *name)
{
	char text[VALUE_SIZE];
	const char *from;

	name_text(text, name);
	if (!text[strspn(text, PLAIN)]) {
		strcpy(buf, text);
		return;
	}
	buf += sprintf(buf, "$'");
	for (from = text; *from; from++)
		buf += sprintf(buf, *from == '\'' ? "\\%c" : "%c", *from);
	strcpy(buf, "'");
}

/* Returns @lead and a tc command that changes parameters of the queue */
static __attribute__((format(printf, 3, 4)))
const char *or_change(struct subject *s, const char *lead, const char *format,
		      ...)
{
	char parent[VALUE_SIZE], params[VALUE_SIZE], dev[VALUE_SIZE];
	va_list ap;

	dev_word(dev, dev_name(s->q->dev));
	value_text(parent, FORM_PARENT, NULL, s->q->parent);
	va_start(ap, format);
	vsnprintf(params, sizeof(params), format, ap);
	va_end(ap);
	snprintf(s->fix, sizeof(s->fix), "%stc qdisc change dev %s %s%s iqcn %s",
		 lead, dev,
		 s->q->parent == TC_H_ROOT ? "" : "parent ", parent, params);
	return s->fix;
}

#define change(_s, ...) or_change(_s, "", __VA_ARGS__)

/* Print @v exactly, in tc's largest unit that divides it */
static void exact_text(char *buf, uint64_t v, const char *const *unit)
{
	while (v && v % 1000 == 0 && unit[1]) {
		v /= 1000;
		unit++;
	}
	snprintf(buf, VALUE_SIZE, "%" PRIu64 "%s", v, *unit);
}

static void rate_text(char *buf, uint64_t bps)
{
	static const char *const units[] = { "bit", "kbit", "mbit", "gbit",
					     NULL };

	exact_text(buf, bps, units);
}

static void exact_time_text(char *buf, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };

	exact_text(buf, ns, units);
}

/* "tbf 1:", "htb class 1:10"; @buf has NAME_SIZE bytes */
static void shaper_text(char *buf, const struct tree_node *shaper)
{
	char handle[VALUE_SIZE];

	value_text(handle, FORM_PARENT, NULL, shaper->handle);
	snprintf(buf, NAME_SIZE, "%s %s%s", shaper->kind,
		 shaper->class ? "class " : "", handle);
}

static uint64_t param(const struct subject *s, int attr)
{
	return s->node ? s->node->params[attr] : 0;
}

/* Twice the value of a parameter, if its range allows */
static uint64_t twice(uint64_t v, uint64_t max)
{
	return v < max / 2 ? 2 * v : max;
}

static bool notifies(const struct subject *s, uint64_t ways)
{
	return s->q->notify & ways;
}

static uint64_t packet_bytes(const struct subject *s)
{
	return s->dev->mtu + ETHERNET_HEADER;
}

/* Is @v more than a tenth above @limit? */
static bool exceeds(uint64_t v, uint64_t limit)
{
	return v > limit + limit / 10;
}

static bool is_near(uint64_t a, uint64_t b)
{
	return !exceeds(a, b) && !exceeds(b, a);
}

/* The default Kmin at @bps without pi; the queue's other default sizes are
 * multiples of this size
 */
static uint64_t default_bytes(const struct subject *s, uint64_t bps)
{
	uint64_t bytes = bps / 1000000 * IQCN_REF_KMIN_BYTES / IQCN_REF_MBPS;
	uint64_t least = IQCN_KMIN_PACKETS * packet_bytes(s);

	return bytes < least ? least : bytes;
}

/* The speed at which the queue's gain and sizes would be the defaults, or 0 if
 * there is none.  The speed is computed from the gain alpha; the limit or Kmin
 * must match it.
 */
static uint64_t sized_for_bps(const struct subject *s)
{
	uint64_t alpha = param(s, TCA_IQCN_ALPHA), bps, bytes, kmin;

	if (!alpha)
		return 0;
	bps = (uint64_t)IQCN_REF_ALPHA * IQCN_REF_MBPS / alpha * 1000000;
	bytes = default_bytes(s, bps);
	kmin = notifies(s, IQCN_NOTIFY_PI) ? IQCN_PI_KMIN * bytes : bytes;
	return is_near(s->q->limit_bytes, IQCN_LIMIT_PER_KMIN * bytes) ||
	       is_near(s->q->kmin_bytes, kmin) ? bps : 0;
}

/* The speed for which the queue is sized, if that is not @bps; else 0 */
static uint64_t wrong_bps(const struct subject *s, uint64_t bps)
{
	uint64_t sized = sized_for_bps(s);

	if (is_near(sized, bps) ||
	    (!notifies(s, IQCN_NOTIFY_PI) &&
	     default_bytes(s, sized) == default_bytes(s, bps)))
		return 0;
	return sized;
}

/* Does the device pass packets on at once, so that they queue in another
 * device?
 */
static bool has_no_queue(const struct tree_dev *d)
{
	static const char *const kinds[] = { "bridge", "bond", "team", "vlan",
					     "vrf", "macvlan", "ipvlan" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(d->kind, kinds[i]))
			return true;
	return false;
}

static void check_given_bandwidth(struct check *c, struct subject *s,
				  uint64_t bps, uint64_t most, const char *by)
{
	char given[VALUE_SIZE], rate[VALUE_SIZE];

	rate_text(given, bps);
	rate_text(rate, most);
	if (most && exceeds(bps, most))
		say(c, WARN, "bandwidth", change(s, "bandwidth %s", rate),
		    "bandwidth is %s, but %s lets only %s through", given, by,
		    rate);
	else
		say(c, OK, "bandwidth", NULL, "%s", given);
}

/* The module follows the speed of the link, the rate of a tbf and the ceil of
 * an htb class.  But shapers do not announce changes, so the module reads their
 * rates only when iqcn is added or changed, and when the state, the speed or
 * the MTU of the device may have changed.
 */
static void check_bandwidth(struct check *c, struct subject *s)
{
	uint64_t given = param(s, TCA_IQCN_BANDWIDTH_BPS), most = 0, wrong = 0;
	char rate[VALUE_SIZE], sized[VALUE_SIZE], by[NAME_SIZE] = "the link";

	/* the speed of a virtual device is no limit */
	if (s->shaper)
		most = s->shaper->limit_bps;
	else if (!*s->dev->kind)
		most = s->dev->bps;
	if (most && most < IQCN_BANDWIDTH_MIN_BPS)
		most = IQCN_BANDWIDTH_MIN_BPS;
	if (s->shaper)
		shaper_text(by, s->shaper);
	if (given) {
		check_given_bandwidth(c, s, given, most, by);
		return;
	}
	if (most)
		wrong = wrong_bps(s, most);
	rate_text(rate, most ? most : s->dev->bps);
	rate_text(sized, wrong);
	if (wrong)
		say(c, WARN, "bandwidth", change(s, "bandwidth %s", rate),
		    "%s lets only %s through, but the queue is sized for %s",
		    by, rate, sized);
	else if (most)
		say(c, OK, "bandwidth", NULL, "%s of %s", rate, by);
	else if (!s->dev->running)
		say(c, OK, "bandwidth", NULL, "the link is down");
	else if (!s->dev->bps && sized_for_bps(s))
		say(c, WARN, "bandwidth", change(s, "bandwidth RATE"),
		    "the speed of the link is not known, and the queue is sized for %dgbit",
		    IQCN_DEFAULT_MBPS / 1000);
	else
		say(c, OK, "bandwidth", NULL, "%s of %s", rate, by);
}

static void check_limit(struct check *c, struct subject *s)
{
	uint64_t limit = s->q->limit_bytes, packet = packet_bytes(s);
	uint64_t kmin = s->q->kmin_bytes, kmax = s->q->kmax_bytes;

	if (kmin + packet >= limit)
		say(c, WARN, "limit",
		    change(s, "limit %" PRIu64, kmax + packet),
		    "no packet is marked by depth, because limit %" PRIu64
		    " is less than kmin %" PRIu64 " and a packet", limit, kmin);
	else if (kmax > limit && !notifies(s, IQCN_NOTIFY_PI))
		say(c, WARN, "limit", change(s, "limit %" PRIu64, kmax),
		    "packets are dropped before all are marked, because limit %"
		    PRIu64 " is below kmax %" PRIu64, limit, kmax);
	else
		say(c, OK, "limit", NULL, "%" PRIu64 " bytes, kmin %" PRIu64,
		    limit, kmin);
}

static void check_drain(struct check *c, struct subject *s)
{
	const struct queue *q = s->q;
	char by[NAME_SIZE] = "", dev[VALUE_SIZE];

	if (s->shaper)
		shaper_text(by, s->shaper);
	dev_word(dev, dev_name(q->dev));
	if (s->before && s->before->depth_bytes && q->depth_bytes &&
	    s->before->tx_packets == q->tx_packets) {
		snprintf(s->fix, sizeof(s->fix),
			 "find the PFC frames, ethtool -S %s | grep -i pause%s%s",
			 dev, *by ? ", or check " : "", by);
		say(c, FAIL, "drain", s->fix,
		    "%" PRIu64 " bytes wait, and none left in %dms: the port%s is paused",
		    q->depth_bytes, DRAIN_MS, *by ? " or its shaper" : "");
	} else {
		say(c, OK, "drain", NULL, q->depth_bytes ?
		    "packets leave" : "no backlog");
	}
}

static void check_ect(struct check *c, struct subject *s)
{
	static const char *const fix =
		"have the senders send ECT: set TOS or traffic class, or enable DCQCN";
	const struct queue *q = s->q;
	uint64_t marked = q->ecn_mark + q->ce_in;

	if (!object_has(q, IQCN_A_QUEUE_NOT_ECT))
		return;
	if (q->not_ect && !marked)
		say(c, FAIL, "ECT", fix,
		    "%" PRIu64 " packets should have been marked, but none is ECT",
		    q->not_ect);
	else if (q->not_ect > marked / 100)
		say(c, WARN, "ECT", fix,
		    "%" PRIu64 " packets that should have been marked are not ECT, %"
		    PRIu64 " are CE", q->not_ect, marked);
	else if (marked)
		say(c, OK, "ECT", NULL, "%" PRIu64 " packets marked, %" PRIu64
		    " arrived with CE", q->ecn_mark, q->ce_in);
	else
		say(c, OK, "ECT", NULL, "no packet had to be marked so far");
}

static const char *pairing_fix(struct subject *s)
{
	if (s->port->snoop == IQCN_SNOOP_NETNS)
		return "let the receivers' packets return through this box";
	return or_change(s, "if the receivers' packets return by another port, ",
			 "snoop netns");
}

static void check_pairing(struct check *c, struct subject *s)
{
	const struct queue *q = s->q;

	if (!object_has(q, IQCN_A_QUEUE_FLOWS_PAIRED) || !q->notify)
		return;
	if (q->flows && !q->flows_paired)
		say(c, FAIL, "pairing", pairing_fix(s),
		    "none of %" PRIu64 " flows is paired with its sender",
		    q->flows);
	else if (q->flows - q->flows_paired > q->flows / 10)
		say(c, WARN, "pairing", pairing_fix(s), "%" PRIu64 " of %" PRIu64
		    " flows are not paired with their sender",
		    q->flows - q->flows_paired, q->flows);
	else if (q->cnp_unpaired > (q->cnp_sent + q->cnp_budget) / 10)
		say(c, WARN, "pairing", pairing_fix(s), "%" PRIu64
		    " CNPs were due to unknown senders",
		    q->cnp_unpaired);
	else if (q->flows)
		say(c, OK, "pairing", NULL, "%" PRIu64 " of %" PRIu64 " flows",
		    q->flows_paired, q->flows);
	else
		say(c, OK, "pairing", NULL, "no flows now");
}

static int compare_ns(const void *a, const void *b)
{
	const uint64_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

/* The median interval of receivers' CNPs per flow of the queue; 0: not known */
static uint64_t median_gap_ns(const struct gaps *gaps, const struct queue *q)
{
	uint64_t *ns = calloc(gaps->n + 1, sizeof(*ns)), median;
	size_t i, n = 0;

	if (!ns)
		return 0;
	for (i = 0; i < gaps->n; i++)
		if (gaps->list[i].dev == q->dev &&
		    gaps->list[i].parent == q->parent)
			ns[n++] = gaps->list[i].ns;
	qsort(ns, n, sizeof(*ns), compare_ns);
	median = ns[n / 2];
	free(ns);
	return median;
}

static void check_t1(struct check *c, struct subject *s, uint64_t gap_ns)
{
	uint64_t t1_ns = param(s, TCA_IQCN_T1_NS), latest_ns = gap_ns;
	char gap[VALUE_SIZE], t1[VALUE_SIZE], usual[VALUE_SIZE];

	if (!notifies(s, IQCN_NOTIFY_TIMER | IQCN_NOTIFY_PI) || !gap_ns ||
	    !t1_ns)
		return;
	if (latest_ns < CNP_INTERVAL_NS)
		latest_ns = CNP_INTERVAL_NS;
	latest_ns *= INCREASE_INTERVALS;
	time_text(gap, gap_ns);
	exact_time_text(t1, t1_ns);
	exact_time_text(usual, IQCN_DEFAULT_T1_NS);
	if (t1_ns > latest_ns && t1_ns > IQCN_DEFAULT_T1_NS)
		say(c, WARN, "t1", change(s, "t1 %s", usual),
		    "t1 is %s, but the receivers send a CNP every %s: senders speed up long before this box notifies them",
		    t1, gap);
	/* no mistake at the default: t1 is meant to fill the long intervals of
	 * a receiver that falls behind
	 */
	else if (notifies(s, IQCN_NOTIFY_TIMER) && t1_ns < gap_ns / 2 &&
		 t1_ns < IQCN_DEFAULT_T1_NS)
		say(c, WARN, "t1", change(s, "t1 %s", usual),
		    "t1 is %s, but the receivers send a CNP every %s: a sender gets many CNPs from this box before each of theirs",
		    t1, gap);
	else
		say(c, OK, "t1", NULL, "%s, a CNP of receivers every %s", t1,
		    gap);
}

/* CNPs that the packets of the queue caused */
struct load {
	uint64_t packets;
	/* own: sent by this box, or over its budget; seen: from receivers */
	uint64_t own, seen;
};

static struct load load_since(const struct queue *q, const struct queue *before)
{
	static const struct queue zero;
	const struct queue *b = before ? before : &zero;

	return (struct load){
		.packets = risen(b->tx_packets, q->tx_packets),
		.own = risen(b->cnp_sent + b->cnp_budget,
			     q->cnp_sent + q->cnp_budget),
		.seen = risen(b->cnp_seen, q->cnp_seen),
	};
}

static bool is_storm(const struct subject *s, const struct load *l)
{
	uint64_t cnps = notifies(s, IQCN_NOTIFY_PI) ? STORM_CNPS_PI : STORM_CNPS;

	return l->packets >= STORM_PACKETS &&
	       (l->own + l->seen) / cnps >= l->packets;
}

/* Prefer the load between the two readings: in counters since the creation of
 * the queue, a recent change hardly shows
 */
static struct load load_of(const struct subject *s)
{
	struct load l = load_since(s->q, s->before);

	return s->before && l.packets >= STORM_PACKETS ? l :
	       load_since(s->q, NULL);
}

static const char *storm_fix(struct subject *s, const struct load *l)
{
	uint64_t gap_ns = param(s, TCA_IQCN_MIN_GAP_NS);
	char text[VALUE_SIZE];

	if (l->seen > l->own)
		return "raise the receivers' interval between CNPs (mlx5: min_time_between_cnps)";
	if (notifies(s, IQCN_NOTIFY_TIMER) &&
	    param(s, TCA_IQCN_T1_NS) < IQCN_DEFAULT_T1_NS) {
		exact_time_text(text, IQCN_DEFAULT_T1_NS);
		return change(s, "t1 %s", text);
	}
	if (gap_ns < IQCN_DEFAULT_T1_NS)
		gap_ns = IQCN_DEFAULT_T1_NS;
	else
		gap_ns = twice(gap_ns, IQCN_TIME_MAX_NS);
	exact_time_text(text, gap_ns);
	return change(s, "min-gap %s", text);
}

static const char *budget_fix(struct subject *s)
{
	uint64_t bps = s->dev->bps ? s->dev->bps :
				     IQCN_DEFAULT_MBPS * UINT64_C(1000000);
	uint64_t all = bps / (8 * IQCN_CNP_WIRE_BYTES);
	uint64_t rate = all / IQCN_CNP_SHARE;
	uint64_t burst = IQCN_CNP_BURST;

	if (s->port->cnp_rate_pps >= all / 2)
		return "CNPs may already use half of the link: fewer flows?";
	if (rate < 2 * s->port->cnp_rate_pps)
		rate = 2 * s->port->cnp_rate_pps;
	if (rate > all / 2)
		rate = all / 2;
	if (burst < s->port->cnp_burst)
		burst = s->port->cnp_burst;
	return change(s, "cnp-rate %" PRIu64 " cnp-burst %" PRIu64, rate, burst);
}

static void check_cnps(struct check *c, struct subject *s)
{
	const struct queue *q = s->q;
	struct load l = load_of(s);
	bool ok = true;

	if (is_storm(s, &l)) {
		say(c, WARN, "CNPs", storm_fix(s, &l),
		    "a storm, %" PRIu64 " CNPs from receivers and %" PRIu64
		    " sent or withheld by this box for %" PRIu64 " packets",
		    l.seen, l.own, l.packets);
		ok = false;
	} else if (q->cnp_budget) {
		say(c, WARN, "CNPs", budget_fix(s), "%" PRIu64
		    " were due but over the port's budget", q->cnp_budget);
		ok = false;
	}
	if (q->cnp_error) {
		say(c, WARN, "CNPs", "is the port up, and a bridge port or routed?",
		    "%" PRIu64 " could not be built or delivered",
		    q->cnp_error);
		ok = false;
	}
	if (q->congested && !q->cnp_seen && !q->cnp_sent) {
		say(c, WARN, "CNPs", q->notify ?
		    "see pairing; is DCQCN enabled on the receivers?" :
		    change(s, "notify pi"),
		    "congested, but neither receivers nor this box ever sent one");
		ok = false;
	}
	if (ok)
		say(c, OK, "CNPs", NULL, "%" PRIu64 " from receivers, %" PRIu64
		    " from this box", q->cnp_seen, q->cnp_sent);
}

/* Return what to do about senders that do not slow down although the queue is
 * full
 */
static const char *drops_fix(struct subject *s)
{
	const struct queue *q = s->q;
	struct load l = load_of(s);

	if (!notifies(s, IQCN_NOTIFY_PI))
		return change(s, "notify pi");
	if (q->not_ect > q->ecn_mark + q->ce_in)
		return "see ECT: what is not ECT causes no CNP";
	if (q->flows && q->flows_paired < q->flows / 2)
		return "see pairing: a sender that is not known gets no CNP";
	if (q->cnp_budget && !is_storm(s, &l))
		return "see CNPs: the budget is too small";
	return change(s, "limit %" PRIu64, twice(q->limit_bytes, IQCN_U32_MAX));
}

static const char *flows_fix(struct subject *s)
{
	uint64_t flows = param(s, TCA_IQCN_FLOWS);

	if (flows == IQCN_FLOWS_MAX)
		return "flows is at its maximum: use mq, because each queue has its own limit";
	return change(s, "flows %" PRIu64, twice(flows, IQCN_FLOWS_MAX));
}

static void check_room(struct check *c, struct subject *s)
{
	const struct queue *q = s->q;
	bool ok = true;

	if (q->drop_overlimit) {
		say(c, WARN, "room", drops_fix(s),
		    "%" PRIu64 " packets were dropped because the queue was full",
		    q->drop_overlimit);
		ok = false;
	}
	if (q->flow_full || q->flow_evicted) {
		say(c, WARN, "room",
		    flows_fix(s),
		    "%" PRIu64 " flows were evicted, %" PRIu64
		    " packets got no flow", q->flow_evicted, q->flow_full);
		ok = false;
	}
	if (ok)
		say(c, OK, "room", NULL, "no drops, no evicted flows");
}

/* Is @driver, as ethtool names it, that of a NIC which obeys PFC in hardware
 * and does not pass PFC frames up?
 */
static bool hides_pfc(const char *driver)
{
	static const char *const drivers[] = {
		"mlx5_core", "mlx4_en", "bnxt_en", "ice", "i40e", "cxgb4",
		"qede", "hns3", "ionic",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(driver, drivers[i]))
			return true;
	return false;
}

static void check_pfc(struct check *c, struct subject *s)
{
	uint64_t pfc = param(s, TCA_IQCN_PFC), pauses = s->q->pauses;
	/* PFC does not stop a virtual device */
	bool never_stops = *s->dev->kind;
	char driver[NAME_SIZE];
	bool hides;

	link_driver(driver, sizeof(driver), s->dev->name);
	hides = hides_pfc(driver);
	if (pfc == IQCN_PFC_FRAMES && hides)
		say(c, WARN, "pfc", change(s, "pfc txq"),
		    "driver %s obeys PFC in hardware and does not pass its frames up", driver);
	else if (pfc == IQCN_PFC_TXQ && never_stops)
		say(c, WARN, "pfc", change(s, "pfc frames"),
		    "a %s does not stop for PFC", s->dev->kind);
	else if (pfc == IQCN_PFC_FRAMES && !pauses && s->port->pfc_ignored)
		say(c, WARN, "pfc", change(s, "pfc-prio CLASS"),
		    "%" PRIu64 " control frames were ignored and none used: wrong class?",
		    s->port->pfc_ignored);
	else if (pfc != IQCN_PFC_OFF)
		say(c, OK, "pfc", NULL, "%" PRIu64 " pauses", pauses);
	else
		say(c, OK, "pfc", NULL, "off; this device can use \"pfc %s\"",
		    hides ? "txq" : never_stops ? "frames" :
		    "txq\", perhaps \"pfc frames");
}

/* Does any queue of the port notify senders? */
static bool port_notifies(const struct box *b, const struct port *p)
{
	const struct queue *q;

	for (q = b->now.queues; q < b->now.queues + b->now.n_queues; q++)
		if (q->dev == p->ifindex && q->notify)
			return true;
	return false;
}

/* Check the filter of the receivers' CNPs, if tc or a lease has set one for the
 * port
 */
static void check_filter(struct box *b, struct subject *s)
{
	const struct port *p = s->port;
	/* filter.n and filter.interval_ns are not needed: the port reports them
	 */
	struct tc_iqcn_cnp_filter filter = { .mode = param(s, TCA_IQCN_FILTER) };
	char text[VALUE_SIZE];

	if (filter.mode == IQCN_CNP_FILTER_OFF && !p->filter_ns)
		return;
	filter_in_force_text(text, &filter, p->filter_n, p->filter_ns);
	if (filter.mode == IQCN_CNP_FILTER_TOLD && !p->filter_n &&
	    !port_notifies(b, p))
		say(b->c, WARN, "filter", change(s, "notify pi"),
		    "told drops nothing, because no queue of the port notifies senders");
	else if (p->cnp_filtered && !p->cnp_passed)
		say(b->c, WARN, "filter", change(s, "filter auto"),
		    "%" PRIu64 " CNPs of receivers were dropped and none passed",
		    p->cnp_filtered);
	else
		say(b->c, OK, "filter", NULL, "%s, %" PRIu64 " passed, %"
		    PRIu64 " dropped", text, p->cnp_passed, p->cnp_filtered);
}

static void check_supplement(struct check *c, struct subject *s)
{
	uint64_t asked = param(s, TCA_IQCN_SUPPLEMENT_PPS);
	uint64_t most = param(s, TCA_IQCN_SUPPLEMENT_MAX_PPS);
	const struct queue *q = s->q;
	char text[VALUE_SIZE];

	if (!notifies(s, IQCN_NOTIFY_SUPPLEMENT))
		return;
	time_text(text, q->above_kmax_ns);
	if (!asked && !q->leases)
		say(c, WARN, "supplement",
		    change(s, "supplement %d", IQCN_DEFAULT_SUPPLEMENT_PPS),
		    "supplement is 0, so no CNP is sent until a program sets a rate");
	else if (asked > most && !s->port->filter_ns)
		say(c, WARN, "supplement",
		    change(s, "supplement %" PRIu64, most),
		    "supplement %" PRIu64 " is cut to supplement-max %" PRIu64
		    ", and there is no filter that the rest could loosen",
		    asked, most);
	else if (q->kmax_bytes >= q->limit_bytes)
		say(c, WARN, "supplement",
		    change(s, "limit %" PRIu64, twice(q->kmax_bytes, IQCN_U32_MAX)),
		    "no CNP is sent, because the depth cannot exceed kmax %"
		    PRIu64 " with limit %" PRIu64, q->kmax_bytes,
		    q->limit_bytes);
	else if (q->above_kmax_ns && !q->cnp_supplement && q->flows &&
		 !q->flows_paired)
		say(c, WARN, "supplement", pairing_fix(s),
		    "the queue was above kmax for %s, but the senders of its flows are not known",
		    text);
	else
		say(c, OK, "supplement", NULL,
		    "%" PRIu64 " CNPs, above kmax for %s", q->cnp_supplement,
		    text);
}

static void check_strays(struct check *c, struct subject *s)
{
	const struct port *p = s->port;
	/* CNPs of flows that are not paired yet count as unmatched, too */
	bool many = p->cnp_unmatched > p->cnp_seen / 4;
	const char *fix = "put iqcn on the port through which their data leave";
	char dev[VALUE_SIZE];

	dev_word(dev, p->dev);
	if (many && p->snoop == IQCN_SNOOP_PORT)
		fix = or_change(s, "put iqcn on the port through which their data leave, or ",
				"snoop netns");
	if (many)
		say(c, WARN, "strays", fix,
		    "%" PRIu64 " CNPs belong to no flow", p->cnp_unmatched);
	if (p->malformed) {
		snprintf(s->fix, sizeof(s->fix),
			 "tcpdump -ni %s udp port 4791", dev);
		say(c, WARN, "strays", s->fix,
		    "%" PRIu64 " packets look like RoCEv2 but do not parse",
		    p->malformed);
	}
	if (!many && !p->malformed)
		say(c, OK, "strays", NULL, "few or no stray packets");
}

/* Do data enter through @in and leave through @out, which has no iqcn? */
static bool data_pass(const struct tree_dev *in, const struct tree_dev *out)
{
	return in != out && !out->iqcn && !has_no_queue(out) &&
	       out->tx_bytes > in->rx_bytes / 2 &&
	       out->tx_bytes > ONE_WAY * out->rx_bytes;
}

/* If the port has sent only ACKs and CNPs, and the data that it received left
 * through a port without iqcn, returns that other port, else NULL
 */
static const struct tree_dev *right_port(const struct box *b,
					 const struct tree_dev *d)
{
	uint64_t packets = 0, bytes = 0, seen = 0;
	const struct tree_dev *out, *most = NULL;
	const struct queue *q;

	for (q = b->now.queues; q < b->now.queues + b->now.n_queues; q++) {
		if (q->dev != d->ifindex)
			continue;
		packets += q->tx_packets;
		bytes += q->tx_bytes;
		seen += q->flow_new + q->ecn_mark + q->ce_in + q->not_ect;
	}
	if (seen || packets < WAY_PACKETS || bytes > packets * ANSWER_BYTES ||
	    d->rx_bytes < d->rx_packets * DATA_BYTES ||
	    d->rx_bytes < ONE_WAY * d->tx_bytes)
		return NULL;
	for (out = b->tree.devs; out < b->tree.devs + b->tree.n_devs; out++)
		if (data_pass(d, out) && (!most || out->tx_bytes > most->tx_bytes))
			most = out;
	return most;
}

static void check_place(struct box *b, struct subject *s)
{
	const struct tree_dev *d = s->dev, *to = right_port(b, d);
	char dev[VALUE_SIZE], where[VALUE_SIZE] = "PORT";
	bool passes = has_no_queue(d) && !s->shaper;

	if (passes)
		to = tree_dev(&b->tree, d->lower);
	dev_word(dev, d->name);
	if (to)
		dev_word(where, to->name);
	if (passes) {
		snprintf(s->fix, sizeof(s->fix),
			 "tc qdisc add dev %s root iqcn, and tc qdisc del dev %s root",
			 where, dev);
		say(b->c, WARN, "place", s->fix,
		    "packets do not wait in a %s, but in the device below it that leads to receivers",
		    d->kind);
	} else if (to) {
		snprintf(s->fix, sizeof(s->fix),
			 "tc qdisc add dev %s root iqcn", where);
		say(b->c, WARN, "place", s->fix,
		    "data enter by this port and leave by %s, which has no iqcn",
		    where);
	} else {
		say(b->c, OK, "place", NULL, "%s",
		    *d->kind ? d->kind : "Ethernet port");
	}
}

static struct subject subject_of(const struct box *b, size_t i,
				 const struct port *p)
{
	struct subject s = {
		.q = &b->now.queues[i],
		.before = snapshot_queue(&b->before, &b->now, i),
		.port = p,
	};

	s.dev = tree_dev(&b->tree, s.q->dev);
	s.node = tree_iqcn(&b->tree, s.q->dev, s.q->parent);
	if (s.node)
		s.shaper = tree_shaper(&b->tree, s.node);
	/* a shaper that is faster than its link has no effect */
	if (s.shaper && s.dev && !*s.dev->kind && s.dev->bps &&
	    s.shaper->limit_bps >= s.dev->bps)
		s.shaper = NULL;
	return s;
}

static void set_queue(struct check *c, const struct queue *q)
{
	char parent[VALUE_SIZE];

	value_text(parent, FORM_PARENT, NULL, q->parent);
	snprintf(c->place, sizeof(c->place), "%s %s", dev_escaped(q->dev),
		 parent);
}

/* Check the parameters, and whether packets leave at all */
static void check_setup(struct box *b, struct subject *s)
{
	set_queue(b->c, s->q);
	/* the qdisc was deleted meanwhile */
	if (!s->node)
		return;
	check_bandwidth(b->c, s);
	check_limit(b->c, s);
	check_drain(b->c, s);
	check_pfc(b->c, s);
}

static void check_traffic(struct box *b, struct subject *s)
{
	set_queue(b->c, s->q);
	check_ect(b->c, s);
	check_pairing(b->c, s);
	if (!s->node)
		return;
	check_t1(b->c, s, median_gap_ns(&b->gaps, s->q));
	check_cnps(b->c, s);
	check_supplement(b->c, s);
	check_room(b->c, s);
}

static void check_port(struct box *b, const struct port *p)
{
	struct subject s;
	bool first = true;
	size_t i;

	for (i = 0; i < b->now.n_queues; i++) {
		if (b->now.queues[i].dev != p->ifindex)
			continue;
		s = subject_of(b, i, p);
		if (!s.dev)
			return;
		name_text(b->c->place, p->dev);
		if (first)
			check_place(b, &s);
		first = false;
		check_setup(b, &s);
	}
	for (i = 0, first = true; i < b->now.n_queues; i++) {
		if (b->now.queues[i].dev != p->ifindex)
			continue;
		s = subject_of(b, i, p);
		name_text(b->c->place, p->dev);
		if (first)
			check_strays(b->c, &s);
		if (first && s.node)
			check_filter(b, &s);
		first = false;
		check_traffic(b, &s);
	}
}

/* Warn about each iqcn on a device that is not Ethernet.  The module has no
 * port for such a device.
 */
static void check_marks_only(struct box *b)
{
	const struct tree_dev *d;

	for (d = b->tree.devs; d < b->tree.devs + b->tree.n_devs; d++) {
		if (!d->iqcn || d->ethernet)
			continue;
		name_text(b->c->place, d->name);
		say(b->c, WARN, "place",
		    "put it on the Ethernet port through which the data leave",
		    "not Ethernet, so iqcn only marks there and sends no CNPs");
	}
}

static bool take_gap(const struct flow *f, void *arg)
{
	struct gaps *gaps = arg;

	if (f->cnp_interval_ns)
		gaps->list[gaps->n++] = (struct gap){ f->dev, f->parent,
						      f->cnp_interval_ns };
	return gaps->n < GAPS_MAX && ++gaps->flows < FLOWS_MAX;
}

/* Use another socket, because the dump may be aborted.  Without CAP_NET_ADMIN,
 * flows cannot be read, and the list stays empty.
 */
static void read_gaps(struct gaps *gaps)
{
	struct genl *g = genl_open();

	gaps->list = calloc(GAPS_MAX, sizeof(*gaps->list));
	if (g && gaps->list)
		genl_flows(g, 0, 0, take_gap, gaps);
	genl_close(g);
}

static bool has_backlog(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_queues; i++)
		if (s->queues[i].depth_bytes)
			return true;
	return false;
}

static int read_queues(struct box *b, struct genl *g)
{
	const struct timespec wait = { .tv_nsec = DRAIN_MS * NS_PER_MS };
	int err = snapshot_take(&b->now, g, 0);

	if (err || !has_backlog(&b->now))
		return err;
	b->before = b->now;
	memset(&b->now, 0, sizeof(b->now));
	nanosleep(&wait, NULL);
	return snapshot_take(&b->now, g, 0);
}

void check_queues(struct check *c, struct genl *g)
{
	struct box b = { .c = c };
	int err = read_queues(&b, g), nl_err = tree_read(&b.tree);
	size_t i;

	if (err)
		say(c, FAIL, "qdiscs", NULL, "%s", genl_why(g));
	else if (nl_err < 0)
		say(c, FAIL, "qdiscs", NULL, "%s", nl_geterror(nl_err));
	else if (!b.now.n_queues)
		say(c, WARN, "qdiscs", "tc qdisc add dev DEV root iqcn",
		    "none in this network namespace");
	else
		say(c, OK, "qdiscs", NULL, "%zu on %zu device%s",
		    b.now.n_queues, b.now.n_ports,
		    b.now.n_ports == 1 ? "" : "s");
	if (!err && nl_err >= 0) {
		read_gaps(&b.gaps);
		check_marks_only(&b);
		for (i = 0; i < b.now.n_ports; i++)
			check_port(&b, &b.now.ports[i]);
	}
	*c->place = '\0';
	free(b.gaps.list);
	snapshot_free(&b.before);
	snapshot_free(&b.now);
	tree_free(&b.tree);
}
