/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Back to the sender: whose packets may cause a CNP, and for how long a flow is
 * held.
 *
 *	ECN bits when it came	queued			dropped
 *	not ECT			nothing			nothing: its sender asked for none
 *	ECT			by lot or credit	CNP
 *	CE, ce-in notify	by lot or credit	CNP, and it says so
 *	CE, ce-in silent	nothing			CNP, and it says so
 *
 * Source: US 12388756 B2, description (14), clause 9: later queues keep silent for
 * a packet whose bit says that its sender was notified, except when it is dropped.
 * That bit is CE only where every box before this one notifies the sender of each
 * packet that it marks: ce-in silent.  An ordinary ECN switch notifies nobody, so
 * ce-in notify is the default.  The hold is ours.
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

/* How long a flow has its chances after its last packet: for so many times as it
 * was from the last but one to that.  What sends a message and then nothing is
 * not going to send more for that it speeds up.
 */
#define IQCN_POLL_GAPS		4
#define IQCN_POLL_MAX_NS	(50 * NSEC_PER_MSEC)
/* Taken for that between the packets of a flow that is new */
#define IQCN_POLL_NEW_NS	NSEC_PER_MSEC

/**
 * iqcn_bts_may() - may a packet cause a CNP?
 * @ce_in: enum iqcn_ce_in
 * @ecn: its ECN bits when it came
 * @dropped: there is no room for it
 *
 * Return: true if it may.
 */
static inline bool iqcn_bts_may(u32 ce_in, u8 ecn, bool dropped)
{
	if (ecn == INET_ECN_NOT_ECT)
		return false;
	return dropped || ecn != INET_ECN_CE || ce_in == IQCN_CE_IN_NOTIFY;
}

/**
 * iqcn_bts_gap_ns() - how far apart a flow's packets are
 * @last_ns: when the last one came, 0: there was none
 * @now_ns: when this one has
 *
 * Of a flow that is new, or has been away, that is not known, but it is those that
 * begin together that have to be held.
 *
 * Return: nanoseconds, no more than IQCN_POLL_MAX_NS.
 */
static inline u32 iqcn_bts_gap_ns(u64 last_ns, u64 now_ns)
{
	u64 gap_ns = now_ns - last_ns;

	return last_ns && gap_ns <= IQCN_POLL_MAX_NS ? gap_ns :
						       IQCN_POLL_NEW_NS;
}

/**
 * iqcn_bts_polls() - is a flow without packets still held?
 * @gap_ns: how far apart its packets were
 * @t1_ns: T1
 * @silent_ns: how long the last one is ago
 *
 * Return: true if it is.
 */
static inline bool iqcn_bts_polls(u32 gap_ns, u32 t1_ns, u64 silent_ns)
{
	u64 most_ns = max_t(u64, IQCN_POLL_GAPS * (u64)gap_ns, t1_ns);

	return silent_ns <= min_t(u64, most_ns, IQCN_POLL_MAX_NS);
}

#endif /* _IQCN_BTS_H */
