/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Match before send: RTW ("request to wait") and RTS ("request to send").
 *
 * A message may arrive before the receiver has posted a buffer for it.  The
 * sender needs no permission, and the receiver does not keep unmatched packets:
 *
 *	sender                          receiver
 *	sending  --- packet ----------> no match: record "failed match" (canary)
 *	waiting  <-- RTW -------------- (for each packet without a match)
 *	                                post a receive, which finds the canary
 *	sending  <-- RTS -------------- posted; repeated while no packet arrives
 *	         --- whole message ---> accept
 *	done     <-- ACK -------------- complete
 *
 * The receiver does not repeat an RTW: if one is lost, the next packet causes
 * another.  An RTW that arrives after the RTS of the same message is stale.
 * The receiver repeats an RTS whenever no packet has arrived for a while, until
 * the message is complete.  Packets after an RTS do not prove that the sender
 * received the RTS: they may have been sent before the sender began to wait.
 *
 * The table of matches has a limited number of entries.  If a packet needs an
 * entry and the table is full, the receiver sends an RNR NAK, and the sender
 * tries again after its timeout.
 *
 * Source: US 12388756, paragraphs 56-64 and 206-219.  In the patent, the source
 * and the number of a message identify its match; here, each sink has a single
 * source.  Receives are posted in the order of the messages.  Pure: no clock,
 * no lock.
 */
#ifndef _ROCEHOST_MATCH_H
#define _ROCEHOST_MATCH_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* Maximum number of canaries of a sink */
#define MATCH_CANARIES	64
#define MATCH_ALL	U64_MAX

/**
 * enum match_state - state of a message at the receiver
 * @MATCH_NONE: no entry
 * @MATCH_FAILED: a packet has arrived, but no receive is posted
 * @MATCH_POSTED: a receive is posted
 * @MATCH_COMPLETE: the message has been received
 * @MATCH_STATES: number of states
 */
enum match_state {
	MATCH_NONE,
	MATCH_FAILED,
	MATCH_POSTED,
	MATCH_COMPLETE,
	MATCH_STATES,
};

/**
 * struct match_rx - the matches of a receiver
 * @complete: messages before this one have been received
 * @posted: receives are posted for messages before this one
 * @canaries: bit i: a packet of message @posted + i has arrived
 * @rts: an RTS was sent for message @posted - 1, which is not complete
 */
struct match_rx {
	u64 complete;
	u64 posted;
	u64 canaries;
	bool rts;
};

/**
 * enum match_verdict - a receiver's reaction to a packet
 * @MATCH_TAKE: accept: there is a match
 * @MATCH_NEW: no match, and no canary yet: record one, and send an RTW
 * @MATCH_RTW: no match, but a canary: send an RTW
 */
enum match_verdict {
	MATCH_TAKE,
	MATCH_NEW,
	MATCH_RTW,
};

/**
 * match_state() - state of a message
 * @m: matches
 * @msg: number of the message, limited by match_near()
 *
 * Return: the state.
 */
static inline enum match_state match_state(const struct match_rx *m, u64 msg)
{
	if (msg < m->complete)
		return MATCH_COMPLETE;
	if (msg < m->posted)
		return MATCH_POSTED;
	if (m->canaries & BIT_ULL(msg - m->posted))
		return MATCH_FAILED;
	return MATCH_NONE;
}

/**
 * match_near() - find the message at which a sender is to wait
 * @m: matches
 * @msg: number of a message
 *
 * A message that is too far ahead cannot have a canary, so no RTS would be sent
 * for it.
 *
 * Return: @msg, or the last message that can have a canary.
 */
static inline u64 match_near(const struct match_rx *m, u64 msg)
{
	return min(msg, m->posted + MATCH_CANARIES - 1);
}

/**
 * match_packet() - find the match of a packet
 * @m: matches
 * @msg: number of the message; result: the number that an RTW or RNR NAK names
 *
 * Return: the reaction.
 */
static inline enum match_verdict match_packet(const struct match_rx *m,
					      u64 *msg)
{
	*msg = match_near(m, *msg);
	switch (match_state(m, *msg)) {
	case MATCH_POSTED:
	case MATCH_COMPLETE:
		return MATCH_TAKE;
	case MATCH_NONE:
		return MATCH_NEW;
	default:
		return MATCH_RTW;
	}
}

/* Record that a packet of a message has arrived without a match */
static inline void match_canary(struct match_rx *m, u64 msg)
{
	m->canaries |= BIT_ULL(msg - m->posted);
}

/**
 * match_post() - post the next receive
 * @m: matches
 *
 * Return: true if an RTS is to be sent.
 */
static inline bool match_post(struct match_rx *m)
{
	m->rts = m->canaries & 1;
	m->canaries >>= 1;
	m->posted++;
	return m->rts;
}

/* Record that the messages before @msg have been received */
static inline void match_complete(struct match_rx *m, u64 msg)
{
	m->complete = msg;
	m->rts &= msg < m->posted;
}

/**
 * enum match_sending - state of a sender
 * @MATCH_SENDING: sends
 * @MATCH_WAITING: sends no packet of match_tx.msg or of later messages
 * @MATCH_DONE: all messages are complete
 */
enum match_sending {
	MATCH_SENDING,
	MATCH_WAITING,
	MATCH_DONE,
};

/**
 * struct match_tx - a sender
 * @state: state
 * @msg: the first message that waits
 * @released: highest message number of an RTS so far, plus 1; 0: no RTS
 */
struct match_tx {
	enum match_sending state;
	u64 msg;
	u64 released;
};

/**
 * match_rtw() - process an RTW
 * @m: sender
 * @msg: number of the message
 *
 * Return: true if the sender is to go back to the message, and wait.
 */
static inline bool match_rtw(struct match_tx *m, u64 msg)
{
	if (m->state == MATCH_DONE || msg < m->released ||
	    (m->state == MATCH_WAITING && msg >= m->msg))
		return false;
	m->state = MATCH_WAITING;
	m->msg = msg;
	return true;
}

/**
 * match_rts() - process an RTS
 * @m: sender
 * @msg: number of the message
 *
 * Return: true if the sender resumes.
 */
static inline bool match_rts(struct match_tx *m, u64 msg)
{
	m->released = max(m->released, msg + 1);
	if (m->state != MATCH_WAITING || m->msg > msg)
		return false;
	m->state = MATCH_SENDING;
	return true;
}

/* First message that may not be sent */
static inline u64 match_limit(const struct match_tx *m)
{
	return m->state == MATCH_WAITING ? m->msg : MATCH_ALL;
}

#endif /* _ROCEHOST_MATCH_H */
