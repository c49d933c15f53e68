/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a queue deep because it is congested, or because PFC paused its port?
 *
 *	      pause                       resume
 *	determined ------> paused ---------------------------------+
 *	    ^  ^                                                   |
 *	    |  |  Q < T: clear; Q >= T and rxByte > C * dt:        |
 *	    |  +---------- congested, notify sender ---------------+
 *	    |                                                      |
 *	    |     settle is over when a packet leaves:             | Q >= T and
 *	    |     Q < T: clear; Q has grown: congested,            | rxByte <=
 *	    |     notify sender                                    v C * dt
 *	    +--------------------------------------------- undetermined <--+
 *	                                                        |          |
 *	                                                        +----------+
 *	                                     neither: settle starts again, with
 *	                                     the current depth
 *
 * Q is the depth of the queue, T a threshold, C the rate of the link, dt the
 * length of the pause, and rxByte the bytes that arrived at the queue during
 * the pause.  While the port is paused or the queue is undetermined, the queue
 * is quiet: packets are not marked, and cause no CNPs unless they are dropped.
 * In the determined state, the queue is congested if it is at least as deep as
 * T.
 *
 * A neighbor that pauses the port again and again could silence the queue
 * forever.  So the quiet time is limited.  The limit runs from the first pause
 * since Q was last found below T.  In the undetermined state, a packet that
 * leaves resets the limit only when settle is over.  When the limit expires,
 * the depth alone decides until Q is found below T again.  The patent has no
 * such limit.
 *
 * Source: the Chinese patent application "A fast and exact method of congestion
 * feedback for lossless data center networks" (our translation), claims 1 to 4,
 * steps 1.1 to 2.8, Fig. 1.  Its published text has lost the formulas, so these
 * are reconstructed from the words around them: rxByte is 0 when a pause begins
 * and grows by the size of each packet that arrives (1.1, 1.2); dt is the time
 * from pause to resume (1.3); rxByte is compared with C * dt (1.4, 2.4, 2.5).
 * The text gives no values for T and settle.  It does not say what happens if a
 * frame arrives while the port is paused (here the pause continues, and the
 * frame sets its end), or if an undetermined queue is paused (here the queue is
 * judged again when that pause ends).
 *
 * Pure: no clock, no timer, no qdisc.  The caller serializes.
 */
#ifndef _IQCN_PFC_H
#define _IQCN_PFC_H

#include <linux/iqcn.h>
#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

/* struct iqcn_pfc_params - parameters of the state machine, except C */
struct iqcn_pfc_params {
	u32 threshold_bytes;	/* T, not 0 */
	u32 settle_ns;		/* interval between two comparisons of depths */
	u32 max_ns;		/* longest time for which the queue is quiet */
};

/* struct iqcn_pfc - the state of a queue; zeroed: determined */
struct iqcn_pfc {
	bool paused;
	bool undetermined;
	u32 depth_bytes;	/* undetermined: depth when settle started */
	u64 settle_from_ns;	/* undetermined: when settle started */
	u64 pause_ns;		/* paused: start of the pause (pauseTime) */
	u64 arrived_bytes;	/* bytes that had arrived before the pause */
	u64 since_ns;		/* first pause since the queue was below T, 0:
				 * none
				 */
};

/**
 * iqcn_pfc_pause() - the port is paused
 * @s: state
 * @p: parameters
 * @depth_bytes: Q
 * @now_ns: now, not 0
 *
 * The caller sets @s->arrived_bytes to the bytes that have ever arrived at the
 * queue, before the next packet arrives.
 */
static inline void iqcn_pfc_pause(struct iqcn_pfc *s,
				  const struct iqcn_pfc_params *p,
				  u32 depth_bytes, u64 now_ns)
{
	if (s->paused)
		return;
	if (!s->since_ns || depth_bytes < p->threshold_bytes)
		s->since_ns = now_ns;
	s->paused = true;
	s->pause_ns = now_ns;
}

/* Have more bytes arrived in a pause than the link carries in that time? */
static inline bool iqcn_pfc_exceeds(u64 rx_bytes, u64 rate_bps, u64 pause_ns)
{
	/* the pause is so long that the quotient would overflow 64 bits */
	if (mul_u64_u64_shr(rate_bps, pause_ns, 64) >= NSEC_PER_SEC)
		return false;
	/* compare bits; the left side is an integer, so it does not matter that
	 * the quotient is rounded down
	 */
	return rx_bytes * 8 > mul_u64_u64_div_u64(rate_bps, pause_ns,
						  NSEC_PER_SEC);
}

/**
 * iqcn_pfc_resume() - the pause ends
 * @s: state
 * @p: parameters
 * @rate_bps: C
 * @depth_bytes: Q
 * @arrived_bytes: bytes that have ever arrived at the queue
 * @now_ns: when the pause ended
 *
 * Return: what was found: CLEAR, RATE, UNSURE, or NONE if the port was not
 * paused.
 */
static inline enum iqcn_pfc_reason
iqcn_pfc_resume(struct iqcn_pfc *s, const struct iqcn_pfc_params *p,
		u64 rate_bps, u32 depth_bytes, u64 arrived_bytes, u64 now_ns)
{
	if (!s->paused)
		return IQCN_PFC_REASON_NONE;
	s->paused = false;
	s->undetermined = false;
	if (depth_bytes < p->threshold_bytes) {
		s->since_ns = 0;
		return IQCN_PFC_REASON_CLEAR;
	}
	if (iqcn_pfc_exceeds(arrived_bytes - s->arrived_bytes, rate_bps,
			     now_ns - s->pause_ns))
		return IQCN_PFC_REASON_RATE;
	s->undetermined = true;
	s->settle_from_ns = now_ns;
	s->depth_bytes = depth_bytes;
	return IQCN_PFC_REASON_UNSURE;
}

/**
 * iqcn_pfc_sent() - a packet leaves
 * @s: state
 * @p: parameters
 * @depth_bytes: Q
 * @now_ns: now
 *
 * A packet that leaves while the port is paused was already on its way to the
 * link, and does not change the state.  Call this function also in the
 * determined state while @s->since_ns is not 0, because it resets the limit
 * when the queue is below T.
 *
 * Return: what was found: DRAINED, GREW or NONE.
 */
static inline enum iqcn_pfc_reason
iqcn_pfc_sent(struct iqcn_pfc *s, const struct iqcn_pfc_params *p,
	      u32 depth_bytes, u64 now_ns)
{
	if (s->paused)
		return IQCN_PFC_REASON_NONE;
	if (!s->undetermined) {
		if (depth_bytes < p->threshold_bytes)
			s->since_ns = 0;
		return IQCN_PFC_REASON_NONE;
	}
	if (now_ns - s->settle_from_ns < p->settle_ns)
		return IQCN_PFC_REASON_NONE;
	if (depth_bytes < p->threshold_bytes) {
		s->undetermined = false;
		s->since_ns = 0;
		return IQCN_PFC_REASON_DRAINED;
	}
	if (depth_bytes > s->depth_bytes) {
		s->undetermined = false;
		return IQCN_PFC_REASON_GREW;
	}
	s->settle_from_ns = now_ns;
	s->depth_bytes = depth_bytes;
	return IQCN_PFC_REASON_NONE;
}

/* The time from which the depth alone decides, even if the port is still paused
 */
static inline u64 iqcn_pfc_limit_ns(const struct iqcn_pfc *s,
				    const struct iqcn_pfc_params *p)
{
	return s->since_ns + p->max_ns;
}

/**
 * iqcn_pfc_quiet() - does the queue mark no packets, and send CNPs only for
 *	drops?
 * @s: state
 * @p: parameters
 * @now_ns: now
 *
 * Return: true if the port is paused or the queue undetermined, and the limit
 * has not expired.
 */
static inline bool iqcn_pfc_quiet(const struct iqcn_pfc *s,
				  const struct iqcn_pfc_params *p, u64 now_ns)
{
	return (s->paused || s->undetermined) &&
	       now_ns < iqcn_pfc_limit_ns(s, p);
}

#endif /* _IQCN_PFC_H */
