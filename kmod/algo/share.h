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

/**
 * struct iqcn_share - a part of the CPUs: @of / @parts of one
 * @parts: see above
 * @of: see above
 * @run_ns: cost of a run beside the time that the callback takes: interrupt,
 *	softirq and reprogramming of the clock
 * @run_max_ns: no run is charged for more, because it may have been interrupted
 */
struct iqcn_share {
	u32 parts;
	u32 of;
	u32 run_ns;
	u32 run_max_ns;
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
	u64 cost_ns = min_t(u64, took_ns, s->run_max_ns) + s->run_ns;
	u64 saved_ns = div_u64((u64)IQCN_SHARE_BURST_NS * s->parts, s->of);

	return max(paid_ns, now_ns - min(now_ns, saved_ns)) +
	       div_u64(cost_ns * s->parts, s->of);
}

/* A pause of the port (PFC) and a slow shaper end sooner than that */
#define IQCN_IDLE_NS		(100 * NSEC_PER_MSEC)

/* struct iqcn_backoff - does anything leave the queue? */
struct iqcn_backoff {
	u64 packets;	/* packets that had left at the last run of the timer */
	u64 run_ns;	/* time of that run */
	u64 idle_ns;	/* time of the first run with as many packets */
	u64 until_ns;	/* deadlines, polls and idle checks wait until then, 0: no */
};

/**
 * iqcn_backoff_run() - the timer of a queue runs
 * @b: state
 * @packets: packets that have left the queue
 * @now_ns: now
 *
 * If no packet has left in IQCN_IDLE_NS in which the timer was busy, it comes back
 * after IQCN_IDLE_NS.  Time without runs does not count: the queue was empty.
 */
static inline void iqcn_backoff_run(struct iqcn_backoff *b, u64 packets,
				    u64 now_ns)
{
	if (packets != b->packets ||
	    now_ns - b->run_ns > 2 * (u64)IQCN_IDLE_NS) {
		b->packets = packets;
		b->idle_ns = now_ns;
	}
	b->run_ns = now_ns;
	b->until_ns = now_ns - b->idle_ns < IQCN_IDLE_NS ? 0 :
		      now_ns + IQCN_IDLE_NS;
}

#endif /* _IQCN_SHARE_H */
