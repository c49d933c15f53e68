/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Learned times of a flow: from a CE packet to its CNP, and between two CNPs of
 * the receiver.
 *
 * Sources: US 12395431 B2, description (72), (93), FIG. 9 and 12: a CNP that is
 * due is deferred by the time from a CE packet to its CNP, so that it falls
 * between the receiver's CNPs for two CE packets.  The iQCN feature: the
 * interval at which an NP sends CNPs is compared with the RP's rate-increase
 * interval.  Smoothing by an eighth is TCP's (RFC 6298).
 *
 * A CNP does not say which packet it answers.  So the only packet that is timed
 * is the last one that followed a silence in which all earlier packets must
 * have been answered.  If the answer is overdue when a later packet leaves, the
 * measurement is dropped, because the CNP for the timed packet may have been
 * lost, and the next CNP may answer a later packet.  The times come out too
 * short if the gaps between packets are longer than T1, but a CNP takes longer
 * than such a gap.
 *
 * Pure: no clock, no lock.  The caller serializes.
 */
#ifndef _IQCN_INTERVAL_H
#define _IQCN_INTERVAL_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Limits after which a measurement is dropped: an absolute one, and a multiple
 * of the learned time.  While no time has been learned, the latter is a
 * multiple of T1 or of the round trip of a long-haul link, whichever is longer.
 */
#define IQCN_CNP_SRTT_MAX_NS	NSEC_PER_SEC
#define IQCN_CNP_SRTT_SMOOTHS	4
#define IQCN_CNP_SRTT_T1S		16

/* struct iqcn_cnp_srtt - response time and interval of CNPs */
struct iqcn_cnp_srtt {
	u64 start_ns;		/* departure of the timed packet, 0: none */
	u32 smooth_ns;		/* smoothed response time, 0: not known */
	u32 interval_ns;	/* smoothed CNP interval, 0: not known */
};

/**
 * iqcn_smooth() - exponentially weighted moving average
 * @smooth: current average, 0: there is none
 * @v: new sample
 *
 * Return: the new average.
 */
static inline u32 iqcn_smooth(u32 smooth, u32 v)
{
	if (!smooth)
		return v;
	return smooth + ((s64)v - (s64)smooth) / 8;
}

/**
 * iqcn_cnp_srtt_overdue() - has a timed CE packet gone unanswered for too long?
 * @a: state of the flow
 * @t1_ns: T1
 * @rtt_ns: round-trip time of a long-haul link on the way, 0: none
 * @now_ns: now
 *
 * Return: true if the measurement is to be dropped.
 */
static inline bool iqcn_cnp_srtt_overdue(const struct iqcn_cnp_srtt *a,
					 u64 t1_ns, u64 rtt_ns, u64 now_ns)
{
	u64 most_ns;

	if (!a->start_ns)
		return false;
	most_ns = a->smooth_ns ? (u64)a->smooth_ns * IQCN_CNP_SRTT_SMOOTHS :
				 max(t1_ns * IQCN_CNP_SRTT_T1S,
				     rtt_ns * IQCN_CNP_SRTT_SMOOTHS);
	return now_ns - a->start_ns > most_ns;
}

/**
 * iqcn_cnp_srtt_start() - time a CE packet that leaves, if it can be timed
 * @a: state of the flow
 * @quiet_ns: time since the flow's previous CE packet, U64_MAX if none
 * @t1_ns: T1
 * @rtt_ns: round-trip time of a long-haul link on the way, 0: none
 * @now_ns: now
 */
static inline void iqcn_cnp_srtt_start(struct iqcn_cnp_srtt *a, u64 quiet_ns,
				       u64 t1_ns, u64 rtt_ns, u64 now_ns)
{
	if (quiet_ns >= t1_ns && quiet_ns > a->smooth_ns)
		a->start_ns = now_ns;
	else if (iqcn_cnp_srtt_overdue(a, t1_ns, rtt_ns, now_ns))
		a->start_ns = 0;
}

/**
 * iqcn_cnp_srtt_sample() - end the measurement with a CNP of the receiver
 * @a: state of the flow
 * @now_ns: now
 */
static inline void iqcn_cnp_srtt_sample(struct iqcn_cnp_srtt *a, u64 now_ns)
{
	u64 took_ns = now_ns - a->start_ns;

	if (a->start_ns && took_ns <= IQCN_CNP_SRTT_MAX_NS)
		a->smooth_ns = iqcn_smooth(a->smooth_ns, took_ns);
	a->start_ns = 0;
}

/**
 * iqcn_interval_sample() - update the smoothed interval between two CNPs
 * @smooth_ns: current value, 0: not known
 * @last_ns: arrival of the previous CNP, 0: there was none
 * @now_ns: arrival of this CNP
 *
 * Return: the new value.  Intervals of more than a second are ignored.
 */
static inline u32 iqcn_interval_sample(u32 smooth_ns, u64 last_ns, u64 now_ns)
{
	if (!last_ns || now_ns - last_ns > NSEC_PER_SEC)
		return smooth_ns;
	return iqcn_smooth(smooth_ns, now_ns - last_ns);
}

#endif /* _IQCN_INTERVAL_H */
