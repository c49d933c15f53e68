/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sojourn time of CE packets, without a timestamp in each packet.
 *
 * One packet at a time is timed, the probe.  The queue is a FIFO, so the probe
 * is identified by the number of bytes that have left the queue together with
 * it: bytes sent before it arrived, the backlog at that time, and its own, at
 * least one.  The clock is read when a probe arrives, and it has been read anyway
 * when a sampled CE packet leaves.  A probe that leaves without CE is not
 * measured, and the next packet becomes the probe.
 *
 * Pure: no clock, no lock.  The caller serializes.
 */
#ifndef _IQCN_SOJOURN_H
#define _IQCN_SOJOURN_H

#include <linux/types.h>

/* struct iqcn_sojourn - the probe of a queue */
struct iqcn_sojourn {
	u64 end_bytes;		/* bytes sent when it has left, 0: no probe */
	u64 start_ns;		/* when it arrived */
};

/**
 * iqcn_sojourn_idle() - can an arriving packet become the probe?
 * @s: the probe
 * @sent_bytes: bytes that have left the queue
 *
 * Return: true if no probe is queued.
 */
static inline bool iqcn_sojourn_idle(const struct iqcn_sojourn *s,
				     u64 sent_bytes)
{
	return s->end_bytes <= sent_bytes;
}

/**
 * iqcn_sojourn_begin() - an arriving packet becomes the probe
 * @s: the probe
 * @end_bytes: bytes that will have left the queue together with the packet
 * @now_ns: now
 */
static inline void iqcn_sojourn_begin(struct iqcn_sojourn *s, u64 end_bytes,
				      u64 now_ns)
{
	s->end_bytes = end_bytes;
	s->start_ns = now_ns;
}

/**
 * iqcn_sojourn_is_probe() - is the packet that leaves the probe?
 * @s: the probe
 * @sent_bytes: bytes that have left the queue, including the packet
 *
 * Return: true if so, and its sojourn time is the time since @s->start_ns.
 */
static inline bool iqcn_sojourn_is_probe(const struct iqcn_sojourn *s,
					 u64 sent_bytes)
{
	return s->end_bytes && s->end_bytes == sent_bytes;
}

/**
 * iqcn_sojourn_cancel() - forget the probe, because packets are dropped from
 * the queue
 * @s: the probe
 */
static inline void iqcn_sojourn_cancel(struct iqcn_sojourn *s)
{
	s->end_bytes = 0;
}

/**
 * iqcn_sojourn_average() - add a sojourn time to the recent average
 * @avg_ns: average, 0: there is none
 * @delay_ns: sojourn time
 *
 * Return: the new average, in which a value's weight is halved by five others.
 */
static inline u64 iqcn_sojourn_average(u64 avg_ns, u64 delay_ns)
{
	if (!avg_ns)
		return delay_ns;
	return avg_ns + ((s64)delay_ns - (s64)avg_ns) / 8;
}

#endif /* _IQCN_SOJOURN_H */
