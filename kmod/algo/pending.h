/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a CNP of the receiver cancel a deferred one?
 *
 * A CNP that is due may be deferred by T2, so that it falls between the
 * receiver's CNPs for the two CE packets around it.  The receiver answers the
 * packet that began T1, too.  Where CNPs take longer than T1 that answer comes
 * after the deadline, while our CNP is pending.  It is no reason not to send
 * ours; the answer to a later packet is.
 *
 * A CNP does not say which packet it answers.  It answers a later one if both
 * estimates agree:
 *
 *   count	no CNP is owed for the packets up to the one that began T1.
 *		Only packets T1 or more apart are counted, because one CNP may
 *		answer several that are closer.
 *   time	more time has passed since than a CNP takes (interval.h).  Where
 *		CNPs take longer than packets are apart the learned time is too
 *		short, so it is not enough by itself.
 *
 * A packet that is never answered would be owed a CNP forever.  So after
 * IQCN_ANSWER_T1S times T1 no answer is expected any more.
 *
 * Source: US 12395431 B2, description (72), (93), FIG. 9 and 12: one CNP at
 * T1 + T2 after each CE packet that no other follows within T1.
 *
 * Pure: no clock, no lock.  The caller serializes.
 */
#ifndef _IQCN_PENDING_H
#define _IQCN_PENDING_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "interval.h"

/* What the four bits of a flow hold */
#define IQCN_OWED_MAX	15

/**
 * iqcn_owed_asked() - CNPs that a flow is owed after a CE packet has left
 * @owed: CNPs that it was owed before
 * @quiet_ns: time since the CE packet before, U64_MAX: there was none
 * @t1_ns: T1
 *
 * Return: the number of CNPs.
 */
static inline u8 iqcn_owed_asked(u8 owed, u64 quiet_ns, u64 t1_ns)
{
	if (quiet_ns < t1_ns)
		return owed;
	if (quiet_ns > t1_ns * IQCN_ANSWER_T1S)
		return 1;
	return min(owed + 1, IQCN_OWED_MAX);
}

/**
 * iqcn_owed_answered() - CNPs that a flow is owed after the receiver's came
 * @owed: CNPs that it was owed before
 *
 * Return: the number of CNPs.
 */
static inline u8 iqcn_owed_answered(u8 owed)
{
	return owed ? owed - 1 : 0;
}

/**
 * iqcn_pending_cancelled() - does a CNP of the receiver cancel a deferred one?
 * @owed: CNPs that were owed before it, for packets up to the one that began T1
 * @since_ns: time since T1 began
 * @answer_ns: learned time from a CE packet to its CNP, 0: not known
 * @t1_ns: T1
 *
 * Return: true if it answers a packet that left after T1 began.
 */
static inline bool iqcn_pending_cancelled(u8 owed, u64 since_ns, u64 answer_ns,
					  u64 t1_ns)
{
	if (since_ns > t1_ns * IQCN_ANSWER_T1S)
		return true;
	return !owed && since_ns > answer_ns;
}

#endif /* _IQCN_PENDING_H */
