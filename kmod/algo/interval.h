/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Times of a flow that are learned: how long a CE packet takes until its CNP is
 * seen, and how far the receiver's CNPs are apart.
 *
 * Sources: US 12395431 B2, description (72), (93), FIG. 9 and 12: a CNP that is
 * due is held back for as long as a CNP takes, so that it comes where one would
 * have come, between those of two CE packets.  The iQCN feature: the interval
 * at which an NP sends CNPs is compared with the RP's rate-increase interval.
 * Smoothing by an eighth is TCP's (RFC 6298).
 *
 * A CNP does not say which packet it answers.  So only a packet is timed that
 * follows a silence, long enough that what was sent before it has been
 * answered, and the last such one; and no longer than an answer could take, lest
 * a later CNP be taken for one that was lost.  Where CNPs take longer than
 * packets are apart, and those longer than T1, times seem short.
 *
 * Pure: no clock, no lock.  The caller serializes.
 */
#ifndef _IQCN_INTERVAL_H
#define _IQCN_INTERVAL_H

#include <linux/time64.h>
#include <linux/types.h>

/* What takes longer is something else: in all, than is known, than T1 while
 * nothing is known
 */
#define IQCN_ANSWER_MAX_NS	NSEC_PER_SEC
#define IQCN_ANSWER_SMOOTHS	4
#define IQCN_ANSWER_T1S		16

/**
 * struct iqcn_cnp_srtt - how long CNPs take, and how far apart they are
 * @asked_ns: when the packet left that is being timed, 0: none
 * @smooth_ns: smoothed time until its CNP is seen, 0: not known
 * @interval_ns: smoothed interval of the CNPs, 0: not known
 */
struct iqcn_cnp_srtt {
	u64 asked_ns;
	u32 smooth_ns;
	u32 interval_ns;
};

/**
 * iqcn_smooth() - smoothed value
 * @smooth: so far, 0: there is none
 * @v: new one
 *
 * Return: the new smoothed value.
 */
static inline u32 iqcn_smooth(u32 smooth, u32 v)
{
	if (!smooth)
		return v;
	return smooth + ((s64)v - (s64)smooth) / 8;
}

/**
 * iqcn_cnp_srtt_start() - a CE packet leaves
 * @a: of its flow
 * @quiet_ns: time since the one before, U64_MAX: there was none
 * @t1_ns: T1
 * @now_ns: now
 */
static inline void iqcn_cnp_srtt_start(struct iqcn_cnp_srtt *a, u64 quiet_ns,
				     u64 t1_ns, u64 now_ns)
{
	u64 most_ns = a->smooth_ns ? (u64)a->smooth_ns * IQCN_ANSWER_SMOOTHS :
				     t1_ns * IQCN_ANSWER_T1S;

	if (quiet_ns >= t1_ns && quiet_ns > a->smooth_ns)
		a->asked_ns = now_ns;
	else if (now_ns - a->asked_ns > most_ns)
		a->asked_ns = 0;
}

/**
 * iqcn_cnp_srtt_sample() - the receiver's CNP is seen
 * @a: of its flow
 * @now_ns: now
 */
static inline void iqcn_cnp_srtt_sample(struct iqcn_cnp_srtt *a, u64 now_ns)
{
	u64 took_ns = now_ns - a->asked_ns;

	if (a->asked_ns && took_ns <= IQCN_ANSWER_MAX_NS)
		a->smooth_ns = iqcn_smooth(a->smooth_ns, took_ns);
	a->asked_ns = 0;
}

/**
 * iqcn_interval_seen() - smoothed interval between two CNPs
 * @smooth_ns: so far, 0: not known
 * @last_ns: when the one before came, 0: there was none
 * @now_ns: now
 *
 * Return: the new value; longer ones than a second say nothing.
 */
static inline u32 iqcn_interval_seen(u32 smooth_ns, u64 last_ns, u64 now_ns)
{
	if (!last_ns || now_ns - last_ns > NSEC_PER_SEC)
		return smooth_ns;
	return iqcn_smooth(smooth_ns, now_ns - last_ns);
}

#endif /* _IQCN_INTERVAL_H */
