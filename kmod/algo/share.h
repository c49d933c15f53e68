/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A share of the CPUs for timers and BH work: GCRA (virtual scheduling, ITU-T
 * I.371 annex A) in CPU time.  Each run is charged to an account, which says
 * when the next run may begin.  An idle account saves up to IQCN_SHARE_BURST_NS
 * of CPU time.
 *
 * This file also has the back-off of the timer of a queue that does not drain.
 *
 * Pure: no clock, no lock.
 */
#ifndef _IQCN_SHARE_H
#define _IQCN_SHARE_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* CPU time that an account may use in one burst */
#define IQCN_SHARE_BURST_NS	NSEC_PER_MSEC

/* struct iqcn_share - a share of the CPUs: @of / @parts of one CPU */
struct iqcn_share {
	u32 parts;	/* divisor */
	u32 of;		/* multiplier */
	u32 run_ns;	/* cost of a run besides the callback: interrupt,
			 * softirq, reprogramming of the clock
			 */
	u32 run_max_ns;	/* most that is charged for a run, without run_ns: a
			 * longer run was interrupted
			 */
};

/**
 * iqcn_share_charge() - charge a run to an account
 * @s: the share
 * @paid_ns: the account: time up to which earlier runs have used the share
 * @took_ns: length of the run
 * @now_ns: now
 *
 * Return: the new value of the account.  If it is later than @now_ns, no run
 * may begin before that time.
 */
static inline u64 iqcn_share_charge(const struct iqcn_share *s, u64 paid_ns,
				    u64 took_ns, u64 now_ns)
{
	u64 cost_ns = min_t(u64, took_ns, s->run_max_ns) + s->run_ns;
	u64 saved_ns = div_u64((u64)IQCN_SHARE_BURST_NS * s->parts, s->of);

	return max(paid_ns, now_ns - min(now_ns, saved_ns)) +
	       div_u64(cost_ns * s->parts, s->of);
}

/* If no packet leaves a queue for this long, its timer backs off.  One PFC
 * pause at 1 Gb/s takes at most 34 ms, and a packet of 1,500 bytes at 1 Mb/s
 * takes 12 ms.
 */
#define IQCN_IDLE_NS		(100 * NSEC_PER_MSEC)

/* struct iqcn_backoff - back-off of the timer of a queue that does not drain */
struct iqcn_backoff {
	u64 packets;	/* packets that had left at the last run of the timer */
	u64 run_ns;	/* time of that run */
	u64 idle_ns;	/* time of the first run at this value of packets */
	u64 until_ns;	/* deadlines, polls, supplements and idle checks are
			 * suspended until then, 0: they are not; dequeue reads
			 * it without the lock
			 */
};

/**
 * iqcn_backoff_run() - account a run of the timer of a queue
 * @b: state
 * @packets: packets that have left the queue
 * @now_ns: now
 *
 * If no packet has left for IQCN_IDLE_NS, the timer backs off for IQCN_IDLE_NS.
 * A gap of more than 2 * IQCN_IDLE_NS since the previous run means that the
 * queue was empty, so @b->idle_ns restarts.
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
	WRITE_ONCE(b->until_ns, now_ns - b->idle_ns < IQCN_IDLE_NS ? 0 :
				now_ns + IQCN_IDLE_NS);
}

#endif /* _IQCN_SHARE_H */
