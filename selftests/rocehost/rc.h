/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reliable connections: what a lost packet costs.
 *
 * The responder takes packets in the order of their PSNs.  A gap makes it send
 * one NAK with the PSN it wants; the requester goes back to it and sends
 * everything once more.  A requester that hears nothing for its time-out goes
 * back as well.  If asked to, the responder says again what it wants after a
 * while.
 *
 * Sources: IBTA spec vol. 1, 9.7 (responder 9.7.5, requester 9.7.6); repeated
 * NAKs: alibaba-edu/HPCC, rdma-hw.cc.
 *
 * Packets are numbered from 0 in 64 bits; the PSN is the first PSN plus the
 * number, modulo 2^24.  Pure.
 */
#ifndef _ROCEHOST_RC_H
#define _ROCEHOST_RC_H

#include <linux/bits.h>
#include <linux/types.h>

#include "algo/pairing.h"

/* Packets that a requester has under way at most: a quarter of the PSNs, so
 * that old and new are told apart
 */
#define RC_WINDOW	BIT(22)

/**
 * struct rc_requester - the sender of a connection
 * @psn0: PSN of packet 0
 * @una: first packet that is not acknowledged
 * @next: next packet to send
 * @high: first packet that was never sent
 */
struct rc_requester {
	u32 psn0;
	u64 una;
	u64 next;
	u64 high;
};

static inline u32 rc_psn(u32 psn0, u64 seq)
{
	return (psn0 + seq) & IQCN_PSN_MASK;
}

/**
 * rc_may_send() - is there room in the window?
 * @rq: requester
 *
 * Return: true if it may.
 */
static inline bool rc_may_send(const struct rc_requester *rq)
{
	return rq->next - rq->una < RC_WINDOW;
}

/**
 * rc_sent() - the next packet was sent
 * @rq: requester
 *
 * Return: true if it had been sent before.
 */
static inline bool rc_sent(struct rc_requester *rq)
{
	if (rq->next++ < rq->high)
		return true;
	rq->high = rq->next;
	return false;
}

/**
 * rc_acked() - everything up to a PSN has arrived
 * @rq: requester
 * @psn: of the acknowledge
 *
 * Return: true if that was news; false for what is old, or was never sent.
 */
static inline bool rc_acked(struct rc_requester *rq, u32 psn)
{
	s32 n = iqcn_psn_delta(psn, rc_psn(rq->psn0, rq->una)) + 1;

	if (n <= 0 || n > rq->high - rq->una)
		return false;
	rq->una += n;
	if (rq->next < rq->una)
		rq->next = rq->una;
	return true;
}

/**
 * rc_go_back() - send again what is not acknowledged
 * @rq: requester
 */
static inline void rc_go_back(struct rc_requester *rq)
{
	rq->next = rq->una;
}

/**
 * rc_naked() - the responder wants a PSN
 * @rq: requester
 * @psn: which
 *
 * Return: true if that is one that is under way.
 */
static inline bool rc_naked(struct rc_requester *rq, u32 psn)
{
	s32 n = iqcn_psn_delta(psn, rc_psn(rq->psn0, rq->una));

	if (n < 0 || n >= rq->high - rq->una)
		return false;
	rq->una += n;
	rc_go_back(rq);
	return true;
}

/**
 * struct rc_responder - the receiver of a connection
 * @epsn: PSN that is wanted next
 * @unacked: packets that came since the last acknowledge
 * @msn: messages that are complete
 * @nak_ns: when the last NAK was sent
 * @naked: it was for @epsn
 */
struct rc_responder {
	u32 epsn;
	u32 unacked;
	u32 msn;
	u64 nak_ns;
	bool naked;
};

/**
 * enum rc_verdict - what a responder does about a packet
 * @RC_TAKE: takes it
 * @RC_TAKE_ACK: takes it and acknowledges up to it
 * @RC_DUPLICATE: has it, acknowledges what it has
 * @RC_NAK: wants another one first, and says so
 * @RC_DROP: wants another one first, and has said so
 */
enum rc_verdict {
	RC_TAKE,
	RC_TAKE_ACK,
	RC_DUPLICATE,
	RC_NAK,
	RC_DROP,
};

/**
 * rc_received() - a packet has come
 * @rs: responder
 * @psn: its PSN
 * @last: it ends a message
 * @ack_req: it wants an acknowledge
 * @ack_every: acknowledge at least every so many packets
 * @nak_ns: send a NAK again after this, 0: never
 * @now_ns: now
 *
 * Return: what to do.
 */
static inline enum rc_verdict
rc_received(struct rc_responder *rs, u32 psn, bool last, bool ack_req,
	    u32 ack_every, u64 nak_ns, u64 now_ns)
{
	s32 ahead = iqcn_psn_delta(psn, rs->epsn);

	if (ahead < 0)
		return RC_DUPLICATE;
	if (ahead > 0) {
		if (rs->naked && (!nak_ns || now_ns - rs->nak_ns < nak_ns))
			return RC_DROP;
		rs->naked = true;
		rs->nak_ns = now_ns;
		return RC_NAK;
	}
	rs->naked = false;
	rs->epsn = (psn + 1) & IQCN_PSN_MASK;
	rs->msn += last;
	if (++rs->unacked < ack_every && !ack_req)
		return RC_TAKE;
	rs->unacked = 0;
	return RC_TAKE_ACK;
}

#endif /* _ROCEHOST_RC_H */
