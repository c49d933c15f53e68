/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reliable connections that go back N after a loss.
 *
 * The responder accepts packets in PSN order.  At a gap it sends one NAK with
 * the PSN that it expects, and the requester retransmits everything from there.
 * The requester also retransmits after a timeout without progress.  Optionally
 * the responder repeats its NAK for an out-of-order packet that arrives a while
 * later.
 *
 * Sources: IBTA spec vol. 1, 9.7 (responder 9.7.5, requester 9.7.6); repeated
 * NAKs: alibaba-edu/HPCC, rdma-hw.cc.
 *
 * Packets have 64-bit sequence numbers from 0; the PSN is the first PSN plus
 * the sequence number, modulo 2^24.  Pure: no clock, no lock.
 */
#ifndef _ROCEHOST_RC_H
#define _ROCEHOST_RC_H

#include <linux/bits.h>
#include <linux/types.h>

#include "algo/pairing.h"

/* Maximum number of packets in flight: a quarter of the PSNs, so that old and
 * new packets can be distinguished
 */
#define RC_WINDOW	BIT(22)

/**
 * struct rc_requester - the sender of a connection
 * @psn0: PSN of packet 0
 * @una: first unacknowledged packet
 * @next: next packet to send
 * @high: first packet that has never been sent
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

/* Is the window open? */
static inline bool rc_may_send(const struct rc_requester *rq)
{
	return rq->next - rq->una < RC_WINDOW;
}

/**
 * rc_sent() - account for the next packet
 * @rq: requester
 *
 * Return: true for a retransmission.
 */
static inline bool rc_sent(struct rc_requester *rq)
{
	if (rq->next++ < rq->high)
		return true;
	rq->high = rq->next;
	return false;
}

/**
 * rc_acked() - process an ACK
 * @rq: requester
 * @psn: PSN of the ACK
 *
 * Return: true on progress; false if the PSN is old or was never sent.
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
 * rc_go_back() - retransmit from the first unacknowledged packet
 * @rq: requester
 */
static inline void rc_go_back(struct rc_requester *rq)
{
	rq->next = rq->una;
}

/**
 * rc_naked() - process a NAK
 * @rq: requester
 * @psn: PSN that the responder expects
 *
 * Return: true if that packet is in flight.
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
 * @epsn: expected PSN
 * @unacked: packets accepted since the last ACK
 * @msn: number of complete messages
 * @nak_ns: when the last NAK was sent
 * @naked: the last NAK was for @epsn
 */
struct rc_responder {
	u32 epsn;
	u32 unacked;
	u32 msn;
	u64 nak_ns;
	bool naked;
};

/**
 * enum rc_verdict - a responder's reaction to a packet
 * @RC_TAKE: accept
 * @RC_TAKE_ACK: accept and send an ACK
 * @RC_DUPLICATE: already received: repeat the ACK
 * @RC_NAK: out of order: send a NAK
 * @RC_DROP: out of order, and the NAK has already been sent: drop
 */
enum rc_verdict {
	RC_TAKE,
	RC_TAKE_ACK,
	RC_DUPLICATE,
	RC_NAK,
	RC_DROP,
};

/**
 * rc_received() - process a data packet
 * @rs: responder
 * @psn: PSN of the packet
 * @last: the packet ends a message
 * @ack_req: the packet requests an ACK
 * @ack_every: send an ACK for at least every n-th packet
 * @nak_ns: repeat a NAK after this time, 0: never
 * @now_ns: now
 *
 * Return: the reaction.
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
