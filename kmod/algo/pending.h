/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a CNP of the receiver cancel a deferred CNP?
 *
 * A CNP that is due may be deferred by T2, so that it falls between the
 * receiver's CNPs for the two CE packets around it.  The receiver answers the
 * packet that started T1, too.  Where CNPs take longer than T1, that answer
 * arrives after the deadline, while our CNP is pending.  That answer does not
 * cancel our CNP, but the answer to a later packet does.
 *
 * A CNP does not say which packet it answers.  It is taken for the answer to a
 * later packet if both estimates agree:
 *
 *   count	no CNP is owed for the packets that had left when our CNP became
 *		due.  Only packets at least T1 apart are counted, because one
 *		CNP may answer several that are closer.
 *   time	more time has passed since T1 started than a CNP takes
 *		(interval.h).  The learned time is too short where CNPs take
 *		longer than the gap between two packets, so it does not suffice
 *		alone.
 *
 * A lost CNP would be owed forever.  So an answer is no longer expected after
 * IQCN_CNP_SRTT_T1S times T1.
 *
 * Source: US 12395431 B2, description (72), (93), FIG. 9 and 12: one CNP at
 * T1 + T2 after each CE packet, unless another CE packet follows within T1.
 *
 * Pure: no clock, no lock.  The caller serializes.
 */
#ifndef _IQCN_PENDING_H
#define _IQCN_PENDING_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "interval.h"

/* The counter is a bit field of four bits in the flow */
#define IQCN_OWED_MAX	15

/**
 * iqcn_owed_asked() - CNPs owed to a flow after a CE packet has left
 * @owed: CNPs owed before
 * @quiet_ns: time since the previous CE packet, U64_MAX if none
 * @t1_ns: T1
 *
 * Return: number of CNPs.
 */
static inline u8 iqcn_owed_asked(u8 owed, u64 quiet_ns, u64 t1_ns)
{
	if (quiet_ns < t1_ns)
		return owed;
	if (quiet_ns > t1_ns * IQCN_CNP_SRTT_T1S)
		return 1;
	return min(owed + 1, IQCN_OWED_MAX);
}

/**
 * iqcn_owed_answered() - CNPs owed to a flow after a CNP of the receiver
 * @owed: CNPs owed before
 *
 * Return: number of CNPs.
 */
static inline u8 iqcn_owed_answered(u8 owed)
{
	return owed ? owed - 1 : 0;
}

/**
 * iqcn_pending_canceled() - does a CNP of the receiver cancel a deferred CNP?
 * @owed: CNPs still owed for packets that had left when our CNP became due
 * @since_ns: time since T1 started
 * @answer_ns: learned time from a CE packet to its CNP, 0: not known
 * @t1_ns: T1
 *
 * Return: true if the CNP answers a packet that left after T1 started.
 */
static inline bool iqcn_pending_canceled(u8 owed, u64 since_ns, u64 answer_ns,
					 u64 t1_ns)
{
	if (since_ns > t1_ns * IQCN_CNP_SRTT_T1S)
		return true;
	return !owed && since_ns > answer_ns;
}

#endif /* _IQCN_PENDING_H */
