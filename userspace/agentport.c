// SPDX-License-Identifier: GPL-2.0
/*
 * Sample the agent's queue and its port, and lease their filter and
 * supplements.
 *
 * To keep steps cheap, a step usually sends one request, which samples the
 * queue.  It sends further requests only to set a lease, to read the filter in
 * force while the agent has no lease, and to read the parameters once a second.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pkt_sched.h>

#include "agentport.h"
#include "iqcn.h"
#include "qdisc.h"
#include "snapshot.h"

#define PLACE_NS 1000000000
#define NEEDED "the agent needs a queue with notify supplement and fiber, see tc-iqcn(8)"

#define SAMPLED(_attr, _queue, _sample)				\
	{ IQCN_A_QUEUE_##_attr, offsetof(struct queue, _queue),	\
	  offsetof(struct agent_sample, _sample) }

/* The attributes of the queue that a sample contains; their members have 64
 * bits
 */
static const struct {
	int attr;
	size_t from;
	size_t to;
} sampled[] = {
	SAMPLED(DEPTH_BYTES, depth_bytes, depth_bytes),
	SAMPLED(TX_BYTES, tx_bytes, tx_bytes),
	SAMPLED(TX_PACKETS, tx_packets, tx_packets),
	SAMPLED(CE_SENT, ce_sent, ce_sent),
	SAMPLED(DROP_OVERLIMIT, drop_overlimit, drops),
	SAMPLED(ABOVE_KMAX_NS, above_kmax_ns, above_kmax_ns),
	SAMPLED(CNP_SUPPLEMENT, cnp_supplement, supplements),
	SAMPLED(FLOWS_ACTIVE, flows_active, flows),
};

struct search {
	struct agent_port *a;
	bool found;
};

static uint64_t param(struct nlattr **tb, int attr)
{
	uint64_t v = 0;

	param_number(tb[attr], &v);
	return v;
}

static bool take_params(const struct qdisc *q, void *arg)
{
	struct nlattr *tb[TCA_IQCN_MAX + 1];
	struct search *s = arg;
	struct agent_place *p = &s->a->place;

	if (!qdisc_is_iqcn(q) || q->ifindex != s->a->ifindex ||
	    q->parent != s->a->parent || !qdisc_params(q, tb))
		return true;
	p->limit_bytes = param(tb, TCA_IQCN_LIMIT_BYTES);
	p->kmax_bytes = param(tb, TCA_IQCN_KMAX_BYTES);
	s->a->bandwidth_bps = param(tb, TCA_IQCN_BANDWIDTH_BPS);
	p->fiber_m = param(tb, TCA_IQCN_FIBER_M);
	p->supplement_pps = param(tb, TCA_IQCN_SUPPLEMENT_PPS);
	p->supplement_max_pps = param(tb, TCA_IQCN_SUPPLEMENT_MAX_PPS);
	p->cnp_rate_pps = param(tb, TCA_IQCN_CNP_RATE_PPS);
	p->by_port = param(tb, TCA_IQCN_FILTER_BY) == IQCN_CNP_FILTER_BY_PORT;
	s->found = p->fiber_m &&
		   (param(tb, TCA_IQCN_NOTIFY) & IQCN_NOTIFY_SUPPLEMENT);
	return false;
}

static int read_place(struct agent_port *a, uint64_t now)
{
	struct search s = { .a = a };

	a->place_ns = now;
	/* a dump may miss a qdisc if another one is deleted meanwhile */
	if (qdiscs_dump(a->ifindex, take_params, &s) ||
	    (!s.found && qdiscs_dump(a->ifindex, take_params, &s)))
		return EXIT_FAILURE;
	return s.found ? EXIT_SUCCESS : fail(a->name, NEEDED);
}

static bool is_candidate(const struct agent_port *a, const struct queue *q)
{
	return a->parent ? q->parent == a->parent :
			   q->notify & IQCN_NOTIFY_SUPPLEMENT;
}

/* Find the only candidate among the queues */
static int find_queue(struct agent_port *a, const struct queue *queues, size_t n)
{
	const struct queue *found = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!is_candidate(a, &queues[i]))
			continue;
		if (found)
			return fail("several queues have notify supplement",
				    "choose one: DEV [root | parent CLASSID]");
		found = &queues[i];
	}
	if (!found)
		return fail(a->ifindex ? dev_name(a->ifindex) : "no such queue",
			    NEEDED);
	a->ifindex = found->dev;
	a->parent = found->parent;
	a->leases = found->leases;
	snprintf(a->name, sizeof(a->name), "%s", dev_name(a->ifindex));
	return EXIT_SUCCESS;
}

static void want(struct agent_port *a, int attr)
{
	a->mask[attr / 64] |= UINT64_C(1) << attr % 64;
}

int agent_port_open(struct agent_port *a, uint32_t ifindex, uint32_t parent)
{
	struct queue *queues;
	size_t i, n;
	int ret;

	a->ifindex = ifindex;
	a->parent = parent;
	for (i = 0; i < ARRAY_SIZE(sampled); i++)
		want(a, sampled[i].attr);
	want(a, IQCN_A_QUEUE_ROCE_BPS);
	want(a, IQCN_A_QUEUE_LEASES);
	a->g = genl_open();
	if (!a->g)
		return EXIT_FAILURE;
	ret = genl_queues(a->g, ifindex, 0, &queues, &n);
	/* -ENODEV also means that the device exists, but has no queue */
	if (ret == -ENODEV && if_indextoname(ifindex, a->name)) {
		n = 0;
		ret = 0;
	}
	ret = ret ? genl_fail(a->g, ret) : find_queue(a, queues, n);
	free(queues);
	genl_receive_little(a->g);
	return ret ? ret : read_place(a, now_ns());
}

void agent_port_close(struct agent_port *a)
{
	if (a->g)
		genl_close(a->g);
}

static int gone_or(const struct agent_port *a, int err)
{
	if (err == -ENODEV || err == -ENOENT)
		return fail(a->name, "the queue is gone");
	return genl_fail(a->g, err);
}

static int read_filter(struct agent_port *a, struct agent_sample *s)
{
	struct port p;
	int err = genl_port(a->g, a->ifindex, &p);

	if (err)
		return gone_or(a, err);
	s->filter_ns = p.filter_ns / (p.filter_n ?: 1);
	s->supplement_pps = a->place.supplement_pps;
	return EXIT_SUCCESS;
}

/* Leases have no owner, but they are counted.  If the count is higher than
 * expected, another program has set a lease.  Its lease would distort an audit,
 * too, so the count is checked even while the agent has no lease.
 */
static int check_leases(struct agent_port *a, uint64_t leases)
{
	bool ours = !a->acts || leases <= a->leases;

	/* a new queue has replaced the old one: read its parameters */
	if (leases < a->leases)
		a->place_ns = 0;
	if (leases != a->leases)
		a->lease_ns = 0;
	a->leases = leases;
	return ours ? EXIT_SUCCESS :
		      fail(a->name, "another program has leased the queue");
}

static int read_queue(struct agent_port *a, struct agent_sample *s)
{
	struct queue q;
	int err = genl_queue(a->g, a->ifindex, a->parent, a->mask, &q);
	size_t i;

	if (err)
		return gone_or(a, err);
	memset(s, 0, sizeof(*s));
	s->time_ns = now_ns();
	for (i = 0; i < ARRAY_SIZE(sampled); i++)
		memcpy((char *)s + sampled[i].to, (char *)&q + sampled[i].from,
		       sizeof(uint64_t));
	a->place.rate_bps = a->bandwidth_bps ?: q.roce_bps;
	return check_leases(a, q.leases);
}

int agent_port_sample(struct agent_port *a, struct agent_sample *s)
{
	uint64_t now = now_ns();

	if (now - a->place_ns >= PLACE_NS && read_place(a, now))
		return EXIT_FAILURE;
	if (read_queue(a, s))
		return EXIT_FAILURE;
	if (a->lease_ns <= now)
		return read_filter(a, s);
	s->filter_ns = a->lease.filter_ns;
	s->supplement_pps = a->lease.supplement_pps;
	return EXIT_SUCCESS;
}

static int lease(struct agent_port *a, uint32_t ms, bool supplements)
{
	struct lease l = {
		.ifindex = a->ifindex,
		.parent = a->parent,
		.ms = ms,
		.filter_ns = a->lease.filter_ns,
		.supplements = supplements,
		.supplement_pps = a->lease.supplement_pps,
	};
	int err = genl_lease(a->g, &l);

	if (!err)
		a->leases++;
	return err;
}

/* The values of @action, raised to what the guard needs */
static struct agent_lease values(const struct agent_port *a, int action,
				 struct agent_needs needs, uint64_t flows)
{
	struct agent_lease l = agent_lease(&a->place, action, flows);

	l.supplement_pps = max(l.supplement_pps, needs.supplement_pps);
	/* a CNP per ns: all pass */
	if (needs.all_pass)
		l.filter_ns = 1;
	return l;
}

int agent_port_set(struct agent_port *a, int action, struct agent_needs needs,
		   uint64_t flows)
{
	struct agent_lease wanted = values(a, action, needs, flows);
	uint64_t now = now_ns();
	int err;

	if (wanted.filter_ns == a->lease.filter_ns &&
	    wanted.supplement_pps == a->lease.supplement_pps &&
	    a->lease_ns > now + a->renew_ns)
		return EXIT_SUCCESS;
	/* after an error, a->lease_ns is still the end of the previous lease */
	a->lease = wanted;
	err = lease(a, a->lease_ms, true);
	/* the bounds may have changed since the parameters were read */
	if (err == -ERANGE) {
		if (read_place(a, now))
			return EXIT_FAILURE;
		needs.supplement_pps = min(needs.supplement_pps,
					   agent_guard_pps(&a->place));
		a->lease = values(a, action, needs, flows);
		err = lease(a, a->lease_ms, true);
	}
	if (err)
		return gone_or(a, err);
	a->lease_ns = now + a->lease_ms * UINT64_C(1000000);
	return EXIT_SUCCESS;
}

static int end_lease(struct agent_port *a)
{
	int err;

	if (a->lease_ns <= now_ns())
		return 0;
	/* An interval of up to IQCN_FILTER_MIN_RTT_NS is valid even if the
	 * fiber has become shorter.  The lease has no supplements, because
	 * notify supplement may be off.
	 */
	if (a->lease.filter_ns > IQCN_FILTER_MIN_RTT_NS)
		a->lease.filter_ns = IQCN_FILTER_MIN_RTT_NS;
	err = lease(a, 1, false);
	if (!err)
		a->lease_ns = 0;
	return err;
}

int agent_port_release(struct agent_port *a)
{
	int err = end_lease(a);

	/* if the queue is gone, so is its lease */
	return err && err != -ENOENT && err != -ENODEV ? gone_or(a, err) :
							EXIT_SUCCESS;
}

void agent_port_abandon(struct agent_port *a)
{
	end_lease(a);
}
