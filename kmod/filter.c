// SPDX-License-Identifier: GPL-2.0
/*
 * The filter for receivers' CNPs that arrive at a port from a long-haul link.
 *
 *	CNP of a receiver arrives, with a valid ICRC (snoop.c)
 *	      |
 *	      |  it is evidence for pairing, whether it passes or not
 *	      v
 *	 auto, N/TIME: have fewer than N passed in the interval? (algo/filter.h)
 *	 told: has the box sent no CNP to this flow within the interval?
 *	      | yes			| no
 *	      v				v
 *	 the CNP restarts T1, and	dropped: it notifies nobody, so T1 keeps
 *	 goes on to the sender		running
 *
 * A stream is the CNPs for one QP.  It is identified by the headers alone,
 * because most flows behind a long-haul link are not congested here and so are
 * not in the flow table.  Streams are found by a keyed hash, in buckets with a
 * lock each.  If a bucket is full, the oldest stream is evicted and may pass up
 * to N extra CNPs.
 *
 * A program may set another filter for a limited time (lease.c).
 */
#include <linux/once.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "algo/filter.h"
#include "algo/supplement.h"
#include "iqcn.h"
#include "trace.h"

/* 4,096 streams, about 100 KB */
#define IQCN_FILTER_BUCKET_BITS	10
#define IQCN_FILTER_WAYS	4

struct iqcn_filter_bucket {
	spinlock_t lock;	/* slots; no other lock is held */
	struct iqcn_filter_slot slots[IQCN_FILTER_WAYS];
};

/* The in/out ratio of a port's queues, sampled from the CNP path by one CPU at
 * a time
 */
struct iqcn_filter_incast {
	spinlock_t lock;	/* to write; no other lock is held */
	u64 sample_ns;		/* last sample, 0: none; no lock to read */
	u64 next_ns;		/* next sample; no lock to read */
	u64 in_bytes;		/* at the last sample */
	u64 out_bytes;
	u32 n;			/* N from the last sample; no lock to read */
};

/* A ratio over a shorter time would depend on single packets */
#define IQCN_FILTER_SAMPLE_NS	(100 * NSEC_PER_USEC)

/* Allocated for the first filter of a port, and freed with the port */
struct iqcn_port_filter {
	struct iqcn_filter_incast incast;
	struct iqcn_filter_bucket port;	/* with IQCN_CNP_FILTER_BY_PORT */
	struct iqcn_filter_bucket flows[1 << IQCN_FILTER_BUCKET_BITS];
};

/* Snapshot of the filter in force.  Not read atomically: during a change, a CNP
 * may be checked against the old interval and the new N.
 */
struct iqcn_filter_rule {
	u32 mode;
	u32 n;
	u64 interval_ns;
};

/**
 * iqcn_filter_check() - check the bounds of IQCN_CNP_FILTER_FIXED
 * @n: CNPs that pass in an interval
 * @interval_ns: length of the interval
 * @fiber_m: length of the long-haul link, 0: none
 * @attr: attribute to blame, or NULL
 * @extack: for errors
 *
 * Context: any.
 * Return: 0 or -ERANGE.
 */
int iqcn_filter_check(u32 n, u32 interval_ns, u32 fiber_m,
		      const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	u32 max_ns = iqcn_filter_max_ns(fiber_m);

	if (n < 1 || n > IQCN_FILTER_N_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"filter N %u is out of range (1 to %u CNPs)",
					n, IQCN_FILTER_N_MAX);
		return -ERANGE;
	}
	if (interval_ns < 1 || interval_ns > max_ns) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"filter interval %u ns is out of range (1 to %u ns, see fiber)",
					interval_ns, max_ns);
		return -ERANGE;
	}
	return 0;
}

/**
 * iqcn_filter_alloc() - allocate a port's filter, unless it has one
 * @port: port
 *
 * Context: RTNL.
 * Return: 0 or -ENOMEM.
 */
int iqcn_filter_alloc(struct iqcn_port *port)
{
	struct iqcn_port_filter *f;
	int i;

	if (port->filter)
		return 0;
	f = kvzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f)
		return -ENOMEM;
	spin_lock_init(&f->incast.lock);
	spin_lock_init(&f->port.lock);
	for (i = 0; i < ARRAY_SIZE(f->flows); i++)
		spin_lock_init(&f->flows[i].lock);
	/* pairs with READ_ONCE() in iqcn_filter_cnp() */
	smp_store_release(&port->filter, f);
	return 0;
}

/**
 * iqcn_filter_free() - free a port's filter
 * @port: port without hooks
 *
 * Context: process.
 */
void iqcn_filter_free(struct iqcn_port *port)
{
	kvfree(port->filter);
}

/* Was the last sample taken within the last two round trips, or within two
 * minimum sample intervals if those are longer?
 */
static bool iqcn_filter_fresh(const struct iqcn_filter_incast *i, u64 rtt_ns,
			      u64 now_ns)
{
	u64 sample_ns = READ_ONCE(i->sample_ns);

	return sample_ns && (s64)(now_ns - sample_ns) <
			    (s64)max_t(u64, 2 * rtt_ns, 2 * IQCN_FILTER_SAMPLE_NS);
}

/* Sum up the bytes that have arrived and left, and compute N from their ratio
 * since the last sample.  If that sample is too old, assume that the port has
 * sent at its full rate for a round trip, and that the whole backlog has
 * arrived in that time.  Adding or removing a queue distorts one sample.
 */
static void iqcn_filter_sample(struct iqcn_port *port,
			       struct iqcn_filter_incast *i, u64 rtt_ns)
{
	u64 in_bytes = 0, out_bytes = 0, depth_bytes = 0, full_bytes;
	const struct iqcn_queue *q;
	u64 start_ns, now_ns;
	u32 n = 1;

	start_ns = ktime_get_ns();
	rcu_read_lock();
	list_for_each_entry_rcu(q, &port->queues, list) {
		out_bytes += u64_stats_read(&q->sent->bytes);
		depth_bytes += iqcn_depth_bytes(q);
		in_bytes += READ_ONCE(q->dropped_bytes) +
			    READ_ONCE(q->pfc.trimmed_bytes);
	}
	rcu_read_unlock();
	in_bytes += out_bytes + depth_bytes;
	now_ns = ktime_get_ns();
	if (!iqcn_filter_fresh(i, rtt_ns, start_ns)) {
		full_bytes = mul_u64_u64_div_u64(READ_ONCE(port->rate_bps),
						 rtt_ns, 8ULL * NSEC_PER_SEC);
		n = iqcn_filter_incast_n(full_bytes + depth_bytes, full_bytes);
	} else if (out_bytes >= i->out_bytes && in_bytes >= i->in_bytes) {
		n = iqcn_filter_incast_n(in_bytes - i->in_bytes,
					 out_bytes - i->out_bytes);
	}
	WRITE_ONCE(i->n, n);
	i->in_bytes = in_bytes;
	i->out_bytes = out_bytes;
	WRITE_ONCE(i->sample_ns, now_ns);
	WRITE_ONCE(i->next_ns, now_ns +
		   max3(rtt_ns, (u64)IQCN_FILTER_SAMPLE_NS,
			(now_ns - start_ns) * IQCN_PORT_SUM_RESTS));
}

static u32 iqcn_filter_auto_n(struct iqcn_port *port, u64 rtt_ns, u64 now_ns)
{
	struct iqcn_filter_incast *i = &port->filter->incast;

	if ((s64)(now_ns - READ_ONCE(i->next_ns)) >= 0 &&
	    spin_trylock(&i->lock)) {
		iqcn_filter_sample(port, i, rtt_ns);
		spin_unlock(&i->lock);
	}
	return READ_ONCE(i->n) ?: 1;
}

/* Get the filter in force: the lease's, else tc's */
static void iqcn_filter_get_rule(struct iqcn_port *port,
				 struct iqcn_filter_rule *r, u64 now_ns)
{
	u64 couple = READ_ONCE(port->couple);
	u32 fiber_m = READ_ONCE(port->fiber_m);

	r->mode = READ_ONCE(port->filter_rule.mode);
	r->n = READ_ONCE(port->filter_rule.n);
	r->interval_ns = READ_ONCE(port->filter_rule.interval_ns);
	if (unlikely(now_ns < READ_ONCE(port->lease.end_ns))) {
		r->mode = IQCN_CNP_FILTER_FIXED;
		r->n = READ_ONCE(port->lease.n);
		r->interval_ns = READ_ONCE(port->lease.interval_ns);
	}
	switch (r->mode) {
	case IQCN_CNP_FILTER_OFF:
		return;
	case IQCN_CNP_FILTER_FIXED:
		r->n = max(r->n, 1U);
		/* the fiber may have become shorter during the lease */
		r->interval_ns = clamp_t(u64, r->interval_ns, 1,
					 iqcn_filter_max_ns(fiber_m));
		break;
	default:
		r->n = 0;
		r->interval_ns = max(iqcn_fiber_rtt_ns(fiber_m), 1U);
		break;
	}
	r->interval_ns = iqcn_couple_ns(r->interval_ns, couple >> 32,
					couple & U32_MAX);
}

static bool iqcn_filter_told(const struct iqcn_flow *flow, u64 interval_ns,
			     u64 now_ns)
{
	u64 cnp_tx_ns = flow ? READ_ONCE(flow->cnp_tx_ns) : 0;

	return cnp_tx_ns && (s64)(now_ns - cnp_tx_ns) < (s64)interval_ns;
}

static bool iqcn_filter_count(struct iqcn_port *port, struct iqcn_port_filter *f,
			      const struct iqcn_key *key,
			      const struct iqcn_filter_rule *r)
{
	static siphash_aligned_key_t secret;
	struct iqcn_filter_bucket *b = &f->port;
	u32 ways = 1;
	u64 hash = 0;
	bool pass;

	if (READ_ONCE(port->filter_by) == IQCN_CNP_FILTER_BY_FLOW) {
		get_random_once(&secret, sizeof(secret));
		hash = siphash(key, sizeof(*key), &secret);
		b = &f->flows[hash >> (64 - IQCN_FILTER_BUCKET_BITS)];
		ways = IQCN_FILTER_WAYS;
	}
	spin_lock(&b->lock);
	/* under the lock, so that the time does not go backwards */
	pass = iqcn_filter_pass(iqcn_filter_find(b->slots, ways, hash), r->n,
				r->interval_ns, ktime_get_ns());
	spin_unlock(&b->lock);
	return pass;
}

/**
 * iqcn_filter_cnp() - does a CNP of a receiver pass?
 * @port: receiving port, with ->filter allocated
 * @key: hosts in the direction of the data, with the DestQP of the CNP
 * @flow: flow that the CNP is for, NULL: not known
 *
 * Context: BHs off, RCU.
 * Return: true if the CNP passes.  Updates cnp_passed or cnp_filtered, unless
 * the mode is off.
 */
bool iqcn_filter_cnp(struct iqcn_port *port, const struct iqcn_key *key,
		     const struct iqcn_flow *flow)
{
	struct iqcn_port_filter *f = READ_ONCE(port->filter);
	u64 now_ns = ktime_get_ns();
	struct iqcn_filter_rule r;
	bool pass;

	iqcn_filter_get_rule(port, &r, now_ns);
	switch (r.mode) {
	case IQCN_CNP_FILTER_OFF:
		return true;
	case IQCN_CNP_FILTER_TOLD:
		pass = !iqcn_filter_told(flow, r.interval_ns, now_ns);
		break;
	case IQCN_CNP_FILTER_AUTO:
		r.n = iqcn_filter_auto_n(port,
					 iqcn_fiber_rtt_ns(READ_ONCE(port->fiber_m)),
					 now_ns);
		fallthrough;
	default:
		pass = iqcn_filter_count(port, f, key, &r);
		break;
	}
	if (pass) {
		atomic64_inc(&port->cnp_passed);
		return true;
	}
	atomic64_inc(&port->cnp_filtered);
	trace_iqcn_cnp_filtered(port->dev, key, r.n, r.interval_ns);
	return false;
}

/**
 * iqcn_filter_n() - get the number of CNPs that pass in an interval
 * @port: port
 *
 * Context: RCU.
 * Return: the number, 0: there is no filter, or it is IQCN_CNP_FILTER_TOLD.
 */
u32 iqcn_filter_n(struct iqcn_port *port)
{
	struct iqcn_port_filter *f = READ_ONCE(port->filter);
	u64 now_ns = ktime_get_ns();
	struct iqcn_filter_rule r;
	u32 rtt_ns;

	if (!f)
		return 0;
	iqcn_filter_get_rule(port, &r, now_ns);
	switch (r.mode) {
	case IQCN_CNP_FILTER_AUTO:
		rtt_ns = iqcn_fiber_rtt_ns(READ_ONCE(port->fiber_m));
		if (!iqcn_filter_fresh(&f->incast, rtt_ns, now_ns))
			return 1;
		return READ_ONCE(f->incast.n);
	case IQCN_CNP_FILTER_FIXED:
		return r.n;
	default:
		return 0;
	}
}

/**
 * iqcn_filter_interval_ns() - get the interval of the filter in force
 * @port: port
 *
 * Context: RCU.
 * Return: ns, 0: there is no filter.
 */
u64 iqcn_filter_interval_ns(struct iqcn_port *port)
{
	struct iqcn_filter_rule r;

	if (!READ_ONCE(port->filter))
		return 0;
	iqcn_filter_get_rule(port, &r, ktime_get_ns());
	return r.mode == IQCN_CNP_FILTER_OFF ? 0 : r.interval_ns;
}
