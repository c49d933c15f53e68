// SPDX-License-Identifier: GPL-2.0
/*
 * Leases: a program sets the filter of a port, the rate of supplements of a
 * queue, or both for a limited time (IQCN_CMD_LEASE).  A lease that is not
 * renewed expires: the values of tc apply again, leases_ended is incremented,
 * and IQCN_CMD_LEASE_NTF is sent.
 *
 * The bounds are those of tc.  A change by tc does not end a lease.  Only one
 * queue of a port at a time may hold a lease on the port's filter.
 */
#include <linux/iqcn_netlink.h>
#include <net/netlink.h>

#include "iqcn.h"

static int iqcn_lease_check(const struct iqcn_queue *q,
			    const struct iqcn_lease_request *r,
			    struct netlink_ext_ack *extack)
{
	int err = 0;

	if (r->ms < 1 || r->ms > IQCN_LEASE_MAX_MS) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, NULL,
					"lease is %u ms, must be 1 to %u ms",
					r->ms, IQCN_LEASE_MAX_MS);
		return -ERANGE;
	}
	if (!r->filters && !r->supplements) {
		NL_SET_ERR_MSG(extack,
			       "a lease needs a filter, a supplement rate, or both");
		return -EINVAL;
	}
	if (r->filters)
		err = iqcn_filter_check(r->n, r->interval_ns, q->port->fiber_m,
					NULL, extack);
	if (err || !r->supplements)
		return err;
	if (!(q->p.notify & IQCN_NOTIFY_SUPPLEMENT)) {
		NL_SET_ERR_MSG(extack,
			       "a supplement rate needs notify supplement");
		return -EINVAL;
	}
	return iqcn_supplement_check(r->supplement_pps, q->p.supplement_max_pps,
				     q->port->cnp_rate_pps, NULL, extack);
}

/* Does another queue of the port hold a lease on the filter? */
static bool iqcn_lease_taken(const struct iqcn_queue *q, u64 now_ns)
{
	const struct iqcn_filter_lease *f = &q->port->lease;

	return f->owner && f->owner != q && now_ns < f->end_ns;
}

/* Set the filter of the port, or end its lease if this queue holds it; RTNL */
static void iqcn_lease_set_filter(struct iqcn_queue *q,
				  const struct iqcn_lease_request *r, u64 end_ns)
{
	struct iqcn_filter_lease *f = &q->port->lease;

	if (r->filters) {
		f->owner = q;
		WRITE_ONCE(f->n, r->n);
		WRITE_ONCE(f->interval_ns, r->interval_ns);
		WRITE_ONCE(f->end_ns, end_ns);
	} else if (f->owner == q) {
		f->owner = NULL;
		WRITE_ONCE(f->end_ns, 0);
	}
}

/**
 * iqcn_lease_set() - begin or renew a lease
 * @q: queue with a port
 * @r: request of the program
 * @extack: for errors
 *
 * Context: RTNL.
 * Return: 0, or a negative error, in which case nothing changes.
 */
int iqcn_lease_set(struct iqcn_queue *q, const struct iqcn_lease_request *r,
		   struct netlink_ext_ack *extack)
{
	u64 now_ns = ktime_get_ns(), end_ns;
	int err;

	ASSERT_RTNL();
	err = iqcn_lease_check(q, r, extack);
	if (err)
		return err;
	if (r->filters && iqcn_lease_taken(q, now_ns)) {
		NL_SET_ERR_MSG(extack,
			       "the filter is leased through another queue of the device");
		return -EBUSY;
	}
	err = r->filters ? iqcn_filter_alloc(q->port) : 0;
	if (err)
		return err;
	spin_lock_bh(&q->lock);
	now_ns = ktime_get_ns();
	end_ns = now_ns + (u64)r->ms * NSEC_PER_MSEC;
	q->lease.end_ns = end_ns;
	q->lease.supplements = r->supplements;
	q->lease.supplement_pps = r->supplement_pps;
	iqcn_supplement_changed(q, now_ns);
	iqcn_inc(q->st.leases);
	iqcn_timer_set(q, now_ns);
	spin_unlock_bh(&q->lock);
	iqcn_lease_set_filter(q, r, end_ns);
	return 0;
}

/**
 * iqcn_lease_cancel() - end the lease of a queue that leaves its port
 * @q: queue with a port
 *
 * Context: RTNL, queue->lock.
 */
void iqcn_lease_cancel(struct iqcn_queue *q)
{
	const struct iqcn_lease_request none = {};

	memset(&q->lease, 0, sizeof(q->lease));
	iqcn_supplement_changed(q, ktime_get_ns());
	iqcn_lease_set_filter(q, &none, 0);
}

static u64 iqcn_lease_next_ns(struct iqcn_queue *q, u64 now_ns)
{
	return q->lease.end_ns ?: KTIME_MAX;
}

static bool iqcn_lease_run(struct iqcn_queue *q, struct iqcn_notice *n,
			   bool *send, u64 now_ns)
{
	*send = false;
	if (iqcn_lease_next_ns(q, now_ns) > now_ns)
		return false;
	/* port->lease expires by its own ->end_ns */
	memset(&q->lease, 0, sizeof(q->lease));
	iqcn_supplement_changed(q, now_ns);
	iqcn_inc(q->st.leases_ended);
	iqcn_event_lease(q, now_ns);
	return true;
}

const struct iqcn_timer_ops iqcn_lease_ops = {
	.optional = true,
	.next_ns = iqcn_lease_next_ns,
	.run = iqcn_lease_run,
};
