/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A share of the CPUs for timers: GCRA (virtual scheduling, ITU-T I.371 annex A)
 * in CPU time.  Each run of a timer is charged, and the account says when the
 * next run that the share pays for may begin.  An account that was idle saves up
 * IQCN_SHARE_BURST_NS of CPU time and no more.
 *
 * Beside it, the back-off of a queue that packets do not leave.
 *
 * Pure: no clock, no lock.
 */
#ifndef _IQCN_SHARE_H
#define _IQCN_SHARE_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* CPU time that an account may use at once */
#define IQCN_SHARE_BURST_NS	NSEC_PER_MSEC
/* A run that was interrupted for longer than this is not charged for that */
#define IQCN_SHARE_RUN_MAX_NS	(10 * NSEC_PER_MSEC)

/**
 * struct iqcn_share - a part of the CPUs
 * @parts: the share is @of CPUs divided by that
 * @of: see @parts
 * @run_ns: what a run costs beside the time that the callback takes: interrupt,
 *	softirq and reprogramming of the clock
 */
struct iqcn_share {
	u32 parts;
	u32 of;
	u32 run_ns;
};

/**
 * iqcn_share_charge() - charge a run to an account
 * @s: the share
 * @paid_ns: the account: time up to which earlier runs have used it
 * @took_ns: how long the run took
 * @now_ns: now
 *
 * Return: the new account.  If that is later than @now_ns, the timer that ran
 * has to wait until then.
 */
static inline u64 iqcn_share_charge(const struct iqcn_share *s, u64 paid_ns,
				    u64 took_ns, u64 now_ns)
{
	u64 cost_ns = min_t(u64, took_ns, IQCN_SHARE_RUN_MAX_NS) + s->run_ns;
	u64 saved_ns = div_u64((u64)IQCN_SHARE_BURST_NS * s->parts, s->of);

	return max(paid_ns, now_ns - min(now_ns, saved_ns)) +
	       div_u64(cost_ns * s->parts, s->of);
}

/* A pause of the port (PFC) and a slow shaper end sooner than that */
#define IQCN_IDLE_NS		(100 * NSEC_PER_MSEC)
#define IQCN_BACKOFF_MAX_NS	NSEC_PER_SEC

/**
 * iqcn_backoff_ns() - how long the timer of a queue waits because nothing leaves
 * @idle_ns: how long nothing has left the queue
 *
 * Return: as long as it has been idle, so that the intervals double; 0 below
 * IQCN_IDLE_NS, no more than IQCN_BACKOFF_MAX_NS.
 */
static inline u64 iqcn_backoff_ns(u64 idle_ns)
{
	return idle_ns < IQCN_IDLE_NS ? 0 :
	       min_t(u64, idle_ns, IQCN_BACKOFF_MAX_NS);
}

#endif /* _IQCN_SHARE_H */
