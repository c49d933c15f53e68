/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sojourn time of CE packets, without a timestamp in each packet.
 *
 * Only one packet is timed at a time, the probe.  Because the queue is a FIFO,
 * the probe is the packet with which the bytes sent reach this sum: the bytes
 * sent before it arrived, the backlog at that time, and its own size, at least
 * one byte.  Timing costs two clock reads per probe, at most.  A probe that
 * leaves without CE is discarded, and a sampled packet that arrives later
 * becomes the probe.
 *
 * These functions read no clock and take no lock; the caller serializes.
 */
#ifndef _IQCN_SOJOURN_H
#define _IQCN_SOJOURN_H

#include <linux/types.h>

/* struct iqcn_sojourn - the probe of a queue */
struct iqcn_sojourn {
	u64 end_bytes;		/* bytes sent, with the probe; 0: no probe */
	u64 start_ns;		/* arrival of the probe */
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
 * @end_bytes: what the count of bytes sent will be when the packet has left
 * @now_ns: now
 */
static inline void iqcn_sojourn_begin(struct iqcn_sojourn *s, u64 end_bytes,
				      u64 now_ns)
{
	s->end_bytes = end_bytes;
	s->start_ns = now_ns;
}

/**
 * iqcn_sojourn_is_probe() - is a departing packet the probe?
 * @s: the probe
 * @sent_bytes: bytes that have left the queue, including the packet: not 0
 *
 * Return: true if the packet is the probe.  Its sojourn time is the time since
 * @s->start_ns.
 */
static inline bool iqcn_sojourn_is_probe(const struct iqcn_sojourn *s,
					 u64 sent_bytes)
{
	return s->end_bytes == sent_bytes;
}

/**
 * iqcn_sojourn_cancel() - discard the probe, because packets are dropped
 * from the queue
 * @s: the probe
 */
static inline void iqcn_sojourn_cancel(struct iqcn_sojourn *s)
{
	s->end_bytes = 0;
}

/**
 * iqcn_sojourn_average() - add a sojourn time to the recent average
 * @avg_ns: average, 0: no value yet
 * @delay_ns: sojourn time
 *
 * Return: the new average, an EWMA in which between five and six samples halve
 * the weight of an older one.
 */
static inline u64 iqcn_sojourn_average(u64 avg_ns, u64 delay_ns)
{
	if (!avg_ns)
		return delay_ns;
	return avg_ns + ((s64)delay_ns - (s64)avg_ns) / 8;
}

#endif /* _IQCN_SOJOURN_H */
