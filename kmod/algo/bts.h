/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Back to the sender: which packets may cause a CNP, and for how long a flow
 * without packets is polled.
 *
 *	ECN on arrival		queued			dropped
 *	not-ECT			no			no, sender lacks ECN
 *	ECT			by wreb or pi		CNP
 *	CE, ce-in notify	by wreb or pi		CNP with was-CE flag
 *	CE, ce-in silent	no			CNP with was-CE flag
 *
 * Source: US 12388756 B2, description (14), clause 9: later queues keep silent
 * for a packet whose bit says that its sender was notified, except when it is
 * dropped.  CE is such a bit only where every box before this one notifies the
 * sender of each packet that it marks (ce-in silent).  An ordinary ECN switch
 * notifies nobody, so ce-in notify is the default.  Polling is ours.
 *
 * Pure: no clock, no qdisc.
 */
#ifndef _IQCN_BTS_H
#define _IQCN_BTS_H

#include <linux/iqcn.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <net/inet_ecn.h>

#include "mark.h"

/* A flow is polled after its last packet for this many times the gap between
 * its last two packets, but at least for T1, and at most for IQCN_POLL_MAX_NS.
 * A sender that has nothing left to send adds no load when its rate increases,
 * so it need not be notified.
 */
#define IQCN_POLL_GAPS		4
#define IQCN_POLL_MAX_NS	(50 * NSEC_PER_MSEC)
/* The timer does not poll a flow whose next packet is expected within
 * 1 / IQCN_POLL_LATE_PART of an interval after the poll, unless the poll may
 * cause a CNP: the packet makes up for the poll.  Longer waits leave more of
 * the link idle after PFC pauses (scenario pfc-victim-true).
 */
#define IQCN_POLL_LATE_PART	4
/* A flow whose next packet is expected later is not polled either if the polls
 * until then would add less than 1 / IQCN_POLL_SMALL_PART of a CNP to its
 * credit, and could not complete it.  The packet does not make up for them,
 * because the probability may have risen meanwhile.
 */
#define IQCN_POLL_SMALL_PART	16
/* The gap that is assumed for a new flow */
#define IQCN_POLL_NEW_NS	NSEC_PER_MSEC

/**
 * iqcn_bts_may_notify() - may a packet cause a CNP?
 * @ce_in: enum iqcn_ce_in
 * @ecn: the packet's ECN bits on arrival
 * @dropped: the queue has no room for the packet
 *
 * Return: true if the table above allows a CNP.
 */
static inline bool iqcn_bts_may_notify(u32 ce_in, u8 ecn, bool dropped)
{
	if (likely(ecn == INET_ECN_ECT_0 || ecn == INET_ECN_ECT_1))
		return true;
	return ecn == INET_ECN_CE && (dropped || ce_in == IQCN_CE_IN_NOTIFY);
}

/**
 * iqcn_bts_gap_ns() - gap between the packets of a flow
 * @last_ns: arrival of the flow's last packet, 0: there was none
 * @now_ns: arrival of the current packet
 *
 * The gap of a new flow, or of one that was idle for long, is unknown.  Such
 * a flow must be polled too, because flows that start together congest the
 * queue.
 *
 * Return: nanoseconds, at most IQCN_POLL_MAX_NS.
 */
static inline u32 iqcn_bts_gap_ns(u64 last_ns, u64 now_ns)
{
	u64 gap_ns = now_ns - last_ns;

	return last_ns && gap_ns <= IQCN_POLL_MAX_NS ? gap_ns :
						       IQCN_POLL_NEW_NS;
}

/**
 * iqcn_bts_polled_ns() - for how long is a flow without packets polled?
 * @gap_ns: gap between its packets
 * @t1_ns: T1
 *
 * Return: nanoseconds after the flow's last packet: IQCN_POLL_GAPS gaps or T1,
 * whichever is longer, but at most IQCN_POLL_MAX_NS.
 */
static inline u64 iqcn_bts_polled_ns(u32 gap_ns, u32 t1_ns)
{
	u64 most_ns = max_t(u64, IQCN_POLL_GAPS * (u64)gap_ns, t1_ns);

	return min_t(u64, most_ns, IQCN_POLL_MAX_NS);
}

/**
 * enum iqcn_bts_poller - what polls a flow until its next packet
 * @IQCN_POLLS_TIMER: the timer
 * @IQCN_POLLS_PACKET: the next packet makes up for the polls
 * @IQCN_POLLS_NONE: nothing
 */
enum iqcn_bts_poller {
	IQCN_POLLS_TIMER,
	IQCN_POLLS_PACKET,
	IQCN_POLLS_NONE,
};

/**
 * iqcn_bts_poller() - decide what polls a flow after a packet
 * @gap_ns: iqcn_bts_gap_ns() of the packet
 * @interval_ns: interval between two polls, at most a second
 * @credit: the flow's credit (pi.h)
 * @prob: probability of a CNP, which each poll adds to the credit
 *
 * Return: IQCN_POLLS_TIMER if the gap is at least IQCN_POLL_NEW_NS, which is
 * assumed for a new flow, or if the polls of the next two gaps and one interval
 * may cause a CNP.  Otherwise IQCN_POLL_LATE_PART and
 * IQCN_POLL_SMALL_PART decide, as described there.
 */
static inline enum iqcn_bts_poller iqcn_bts_poller(u32 gap_ns, u32 interval_ns,
						   u32 credit, u64 prob)
{
	/* the gap may be that of a new flow, which is unknown */
	if (gap_ns >= IQCN_POLL_NEW_NS || prob > U32_MAX)
		return IQCN_POLLS_TIMER;
	/* below 2^32 * 2^31 */
	if (prob * (2 * gap_ns + interval_ns) >=
	    (u64)(U32_MAX - credit) * interval_ns)
		return IQCN_POLLS_TIMER;
	if (gap_ns <= interval_ns + interval_ns / IQCN_POLL_LATE_PART)
		return IQCN_POLLS_PACKET;
	return prob * gap_ns < IQCN_PROB_ONE / IQCN_POLL_SMALL_PART * interval_ns ?
	       IQCN_POLLS_NONE : IQCN_POLLS_TIMER;
}

/**
 * iqcn_bts_polls_missed() - polls that a packet makes up for
 * @from_ns: the flow's last packet, or a later event from which its polls count
 * @to_ns: end of its polls, iqcn_bts_polled_ns() after its last packet
 * @interval_ns: interval between two polls
 * @now_ns: now
 *
 * After @to_ns a packet makes up for no polls, because the probability may have
 * changed since.
 *
 * Return: number of polls.
 */
static inline u32 iqcn_bts_polls_missed(u64 from_ns, u64 to_ns, u32 interval_ns,
					u64 now_ns)
{
	if (now_ns > to_ns || now_ns < from_ns)
		return 0;
	return div_u64(now_ns - from_ns, interval_ns);
}

#endif /* _IQCN_BTS_H */
