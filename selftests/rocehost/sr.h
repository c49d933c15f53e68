/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selective repeat: a transport that tolerates reordering.
 *
 * The receiver accepts packets in any order within a window, and sends an ACK
 * for at least every Nth packet ("ack N").  The sender retransmits only packets
 * that are not acknowledged in time.  There are no NAKs: when packets take many
 * paths, a gap in the PSNs is no evidence of a loss.
 *
 *	data	after BTH and RETH: time stamp (8 bytes), message number (4)
 *	ACK	after the AETH: CE flag (bit 31), PSN of the data, its time
 *		stamp (8), bitmap of packets received after the next expected
 *		one (8)
 *
 * The ACK's PSN is cumulative, as in an ordinary ACK.  The ACK has the UDP
 * source port of the data, so it returns by the same path and identifies that
 * path.
 *
 * Source: US 12388756, paragraphs 26-30 and 56-58 (packet-level load balancing
 * needs a transport that places data in any order); the layout is rocehost's.
 * A NIC also needs the address (RETH) in every packet.  Here the PSN gives the
 * offset.
 *
 * Transmissions are linked in the order in which they were sent.  So the first
 * transmission is the next to time out, and each step is O(1) on average.
 * Pure: no clock, no lock.
 */
#ifndef _ROCEHOST_SR_H
#define _ROCEHOST_SR_H

#include <linux/bitmap.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "rc.h"

/* Window in packets; divides 2^24, so that PSNs modulo SR_WINDOW are indexes */
#define SR_WINDOW	2048
#define SR_NEVER	U64_MAX

#define SR_DATA_LEN	12
#define SR_ACK_LEN	20
/* Packets that the bitmap of an ACK covers */
#define SR_ACK_BITS	64

/**
 * struct sr_ack - fields of an ACK besides its PSN
 * @sent_ns: time stamp of the data
 * @behind: bit i: the (i + 1)th packet after the next expected one was received
 * @psn: PSN of the data
 * @ce: the data was marked CE
 */
struct sr_ack {
	u64 sent_ns;
	u64 behind;
	u32 psn;
	bool ce;
};

static inline void sr_data_encode(u8 *body, u64 sent_ns, u32 msg)
{
	put_unaligned_be64(sent_ns, body);
	put_unaligned_be32(msg, body + 8);
}

static inline void sr_data_decode(const u8 *body, u64 *sent_ns, u32 *msg)
{
	*sent_ns = get_unaligned_be64(body);
	*msg = get_unaligned_be32(body + 8);
}

static inline void sr_ack_encode(u8 *body, const struct sr_ack *ack)
{
	put_unaligned_be32(ack->psn | (u32)ack->ce << 31, body);
	put_unaligned_be64(ack->sent_ns, body + 4);
	put_unaligned_be64(ack->behind, body + 12);
}

static inline void sr_ack_decode(const u8 *body, struct sr_ack *ack)
{
	u32 word = get_unaligned_be32(body);

	ack->psn = word & IQCN_PSN_MASK;
	ack->ce = word >> 31;
	ack->sent_ns = get_unaligned_be64(body + 4);
	ack->behind = get_unaligned_be64(body + 12);
}

/**
 * struct sr_sent - the last transmission of a packet
 * @at_ns: when it was sent
 * @entropy: its entropy
 * @prev: index of the previous transmission; undefined for the first one
 * @next: index of the next transmission; undefined for the last one
 */
struct sr_sent {
	u64 at_ns;
	u16 entropy;
	u16 prev;
	u16 next;
};

/**
 * struct sr_sender - the sender of a connection, besides struct rc_requester
 * @acked: acknowledged packets from the first unacknowledged one on; a packet's
 *	index is its sequence number modulo SR_WINDOW
 * @lost: packets to retransmit, with the same indexes
 * @n_lost: number of bits in @lost
 * @n_sent: packets in flight: neither acknowledged nor to be retransmitted
 * @first: index of the packet in flight that was sent first
 * @last: index of the packet in flight that was sent last
 * @sent: the transmissions of the packets in flight, linked in the order in
 *	which they were sent
 */
struct sr_sender {
	DECLARE_BITMAP(acked, SR_WINDOW);
	DECLARE_BITMAP(lost, SR_WINDOW);
	u32 n_lost;
	u32 n_sent;
	u16 first;
	u16 last;
	struct sr_sent sent[SR_WINDOW];
};

static inline bool sr_may_send(const struct rc_requester *rq)
{
	return rq->high - rq->una < SR_WINDOW;
}

/**
 * sr_next() - choose the packet to send next
 * @rq: requester
 * @sr: sender
 *
 * Return: the first packet to retransmit, or else the next new one.
 */
static inline u64 sr_next(const struct rc_requester *rq,
			  const struct sr_sender *sr)
{
	u32 from = rq->una % SR_WINDOW, at;

	if (!sr->n_lost)
		return rq->high;
	at = find_next_bit(sr->lost, SR_WINDOW, from);
	if (at == SR_WINDOW)
		at = find_first_bit(sr->lost, SR_WINDOW);
	return rq->una + (at - from) % SR_WINDOW;
}

/* Append a transmission */
static inline void sr_link(struct sr_sender *sr, u16 at, u16 entropy,
			   u64 now_ns)
{
	if (sr->n_sent++)
		sr->sent[sr->last].next = at;
	else
		sr->first = at;
	sr->sent[at] = (struct sr_sent){
		.at_ns = now_ns, .entropy = entropy, .prev = sr->last,
	};
	sr->last = at;
}

/* Remove a transmission */
static inline void sr_unlink(struct sr_sender *sr, u16 at)
{
	const struct sr_sent *sent = &sr->sent[at];

	if (at == sr->first)
		sr->first = sent->next;
	else
		sr->sent[sent->prev].next = sent->next;
	if (at == sr->last)
		sr->last = sent->prev;
	else
		sr->sent[sent->next].prev = sent->prev;
	sr->n_sent--;
}

/**
 * sr_sent() - record the transmission of a packet
 * @rq: requester
 * @sr: sender
 * @seq: the packet, from sr_next()
 * @entropy: its entropy
 * @now_ns: now
 */
static inline void sr_sent(struct rc_requester *rq, struct sr_sender *sr,
			   u64 seq, u16 entropy, u64 now_ns)
{
	if (seq == rq->high) {
		rq->high++;
		rq->next = rq->high;
	} else {
		__clear_bit(seq % SR_WINDOW, sr->lost);
		sr->n_lost--;
	}
	sr_link(sr, seq % SR_WINDOW, entropy, now_ns);
}

static inline bool sr_ack_one(struct rc_requester *rq, struct sr_sender *sr,
			      u64 seq)
{
	u32 at = seq % SR_WINDOW;

	if (seq < rq->una || seq >= rq->high ||
	    __test_and_set_bit(at, sr->acked))
		return false;
	if (__test_and_clear_bit(at, sr->lost))
		sr->n_lost--;
	else
		sr_unlink(sr, at);
	return true;
}

/**
 * sr_acked() - process an ACK
 * @rq: requester
 * @sr: sender
 * @psn: PSN of the ACK: all packets up to it have been received
 * @ack: the rest of the ACK
 *
 * Return: true if it acknowledges a packet that was not acknowledged before.
 */
static inline bool sr_acked(struct rc_requester *rq, struct sr_sender *sr,
			    u32 psn, const struct sr_ack *ack)
{
	u32 una_psn = rc_psn(rq->psn0, rq->una);
	s32 n = iqcn_psn_delta(psn, una_psn) + 1;
	bool progress = false;
	u64 una = rq->una;
	int i;

	/* the ACK is for packets that were never sent */
	if (n > SR_WINDOW)
		return false;
	/* after sr_truncate() the receiver may be ahead of the sender */
	for (i = 0; i < n && una + i < rq->high; i++)
		progress |= sr_ack_one(rq, sr, una + i);
	progress |= sr_ack_one(rq, sr, una + iqcn_psn_delta(ack->psn, una_psn));
	for (i = 0; i < SR_ACK_BITS && ack->behind >> i; i++)
		if (ack->behind >> i & 1)
			progress |= sr_ack_one(rq, sr, una + n + 1 + i);
	while (__test_and_clear_bit(rq->una % SR_WINDOW, sr->acked))
		rq->una++;
	return progress;
}

/**
 * sr_oldest_ns() - get the time when the oldest packet in flight was sent
 * @sr: sender
 *
 * Return: the time, SR_NEVER: none is in flight.
 */
static inline u64 sr_oldest_ns(const struct sr_sender *sr)
{
	return sr->n_sent ? sr->sent[sr->first].at_ns : SR_NEVER;
}

/**
 * sr_expire() - time out the oldest packet in flight
 * @sr: sender, with packets in flight
 *
 * Return: the entropy of the packet, which sr_next() will choose again.
 */
static inline u16 sr_expire(struct sr_sender *sr)
{
	u16 at = sr->first;

	sr_unlink(sr, at);
	__set_bit(at, sr->lost);
	sr->n_lost++;
	return sr->sent[at].entropy;
}

/**
 * sr_truncate() - treat the packets from @seq on as never sent
 * @rq: requester
 * @sr: sender
 * @seq: the first of these packets; if @seq precedes the first unacknowledged
 *	packet, that packet is the first
 */
static inline void sr_truncate(struct rc_requester *rq, struct sr_sender *sr,
			       u64 seq)
{
	for (; rq->high > max(seq, rq->una); rq->high--) {
		u16 at = (rq->high - 1) % SR_WINDOW;

		if (__test_and_clear_bit(at, sr->lost))
			sr->n_lost--;
		else if (!__test_and_clear_bit(at, sr->acked))
			sr_unlink(sr, at);
	}
	rq->next = rq->high;
}

/**
 * struct sr_receiver - the receiver of a connection, besides struct
 * rc_responder
 * @got: packets received from the next expected one on; a packet's index is its
 *	PSN modulo SR_WINDOW
 * @last: those of @got that end a message
 */
struct sr_receiver {
	DECLARE_BITMAP(got, SR_WINDOW);
	DECLARE_BITMAP(last, SR_WINDOW);
};

/**
 * enum sr_verdict - a receiver's reaction to a packet
 * @SR_TAKE: accept
 * @SR_TAKE_ACK: accept and send an ACK
 * @SR_DUPLICATE: already received: send an ACK
 * @SR_DROP: beyond the window: drop
 */
enum sr_verdict {
	SR_TAKE,
	SR_TAKE_ACK,
	SR_DUPLICATE,
	SR_DROP,
};

/**
 * sr_received() - process a data packet
 * @rs: responder
 * @sr: receiver
 * @psn: PSN of the packet
 * @last: the packet ends a message
 * @ack_req: the packet requests an ACK
 * @ack_every: send an ACK for at least every nth packet
 *
 * Return: the reaction.
 */
static inline enum sr_verdict
sr_received(struct rc_responder *rs, struct sr_receiver *sr, u32 psn, bool last,
	    bool ack_req, u32 ack_every)
{
	s32 ahead = iqcn_psn_delta(psn, rs->epsn);
	u32 msn = rs->msn;

	if (ahead >= SR_WINDOW)
		return SR_DROP;
	if (ahead < 0 || __test_and_set_bit(psn % SR_WINDOW, sr->got))
		return SR_DUPLICATE;
	if (last)
		__set_bit(psn % SR_WINDOW, sr->last);
	while (__test_and_clear_bit(rs->epsn % SR_WINDOW, sr->got)) {
		rs->msn += __test_and_clear_bit(rs->epsn % SR_WINDOW, sr->last);
		rs->epsn = (rs->epsn + 1) & IQCN_PSN_MASK;
	}
	/* the packet that requested an ACK may have overtaken the packet that
	 * completes the message now
	 */
	if (++rs->unacked < ack_every && !ack_req && rs->msn == msn)
		return SR_TAKE;
	rs->unacked = 0;
	return SR_TAKE_ACK;
}

/**
 * sr_behind() - get the bitmap of packets after the next expected one
 * @rs: responder
 * @sr: receiver
 *
 * Return: the bitmap, see struct sr_ack.
 */
static inline u64 sr_behind(const struct rc_responder *rs,
			    const struct sr_receiver *sr)
{
	u64 behind = 0;
	int i;

	for (i = 0; i < SR_ACK_BITS; i++)
		if (test_bit((rs->epsn + 1 + i) % SR_WINDOW, sr->got))
			behind |= BIT_ULL(i);
	return behind;
}

#endif /* _ROCEHOST_SR_H */
