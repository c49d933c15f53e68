/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MAC control frames: PAUSE, which stops a link, and PFC, which stops some of
 * its eight classes.  The time is in quanta of 512 bit times, and 0 ends a
 * pause early.
 *
 * Source: IEEE 802.3, annex 31A, 31B (PAUSE) and 31D (PFC); IEEE 802.1Q, clause
 * 36.
 *
 * Pure: no clock, no skb.
 */
#ifndef _IQCN_MACCTL_H
#define _IQCN_MACCTL_H

#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#define IQCN_MACCTL_CLASSES	8
#define IQCN_MACCTL_OP_PAUSE	0x0001
#define IQCN_MACCTL_OP_PFC	0x0101
#define IQCN_QUANTUM_BITS	512
/* Length after the Ethernet header: the opcode, and for PAUSE the quanta, for
 * PFC the class vector and the quanta of each class
 */
#define IQCN_MACCTL_PAUSE_LEN	(2 + 2)
#define IQCN_MACCTL_PFC_LEN	(2 + 2 + 2 * IQCN_MACCTL_CLASSES)

/* struct iqcn_macctl - a parsed frame */
struct iqcn_macctl {
	u8 classes;			/* classes in the frame, as bits */
	u16 quanta[IQCN_MACCTL_CLASSES]; /* pause of each class; 0: resume */
};

/**
 * iqcn_macctl_parse() - parse a MAC control frame
 * @body: what follows the Ethernet header, of EtherType ETH_P_PAUSE
 * @len: length of @body, padding included
 * @frame: result
 *
 * Return: false if the opcode is not PAUSE or PFC, or the frame is too short.
 */
static inline bool iqcn_macctl_parse(const u8 *body, u32 len,
				     struct iqcn_macctl *frame)
{
	u16 opcode;
	int i;

	if (len < IQCN_MACCTL_PAUSE_LEN)
		return false;
	opcode = get_unaligned_be16(body);
	if (opcode == IQCN_MACCTL_OP_PAUSE) {
		frame->classes = U8_MAX;
		for (i = 0; i < IQCN_MACCTL_CLASSES; i++)
			frame->quanta[i] = get_unaligned_be16(body + 2);
		return true;
	}
	if (opcode != IQCN_MACCTL_OP_PFC || len < IQCN_MACCTL_PFC_LEN)
		return false;
	/* the upper byte of the class vector is reserved: ignored on receipt */
	frame->classes = body[3];
	for (i = 0; i < IQCN_MACCTL_CLASSES; i++)
		frame->quanta[i] = get_unaligned_be16(body + 4 + 2 * i);
	return true;
}

/**
 * iqcn_quanta_ns() - how long quanta last
 * @quanta: number of quanta
 * @rate_bps: rate of the link, not 0
 *
 * Return: nanoseconds, rounded up.
 */
static inline u64 iqcn_quanta_ns(u16 quanta, u64 rate_bps)
{
	/* below 2^16 * 2^9 * 2^30 */
	return DIV64_U64_ROUND_UP((u64)quanta * IQCN_QUANTUM_BITS *
				  NSEC_PER_SEC, rate_bps);
}

/* struct iqcn_pauses - the pauses of the classes of a link */
struct iqcn_pauses {
	u64 end_ns[IQCN_MACCTL_CLASSES];
};

/**
 * iqcn_pauses_rx() - apply a frame to the pauses of a link
 * @p: the link's pauses
 * @frame: frame
 * @rate_bps: rate of the link
 * @now_ns: now
 */
static inline void iqcn_pauses_rx(struct iqcn_pauses *p,
				  const struct iqcn_macctl *frame,
				  u64 rate_bps, u64 now_ns)
{
	int i;

	for (i = 0; i < IQCN_MACCTL_CLASSES; i++)
		if (frame->classes & BIT(i))
			p->end_ns[i] = now_ns +
				iqcn_quanta_ns(frame->quanta[i], rate_bps);
}

/**
 * iqcn_pauses_end_ns() - when the last pause of some classes ends
 * @p: the link's pauses
 * @classes: the classes, as bits
 *
 * A queue that carries several classes waits for all of them, because its first
 * packet may belong to any of them.
 *
 * Return: a time, which may be in the past; 0 if none was ever paused.
 */
static inline u64 iqcn_pauses_end_ns(const struct iqcn_pauses *p, u8 classes)
{
	u64 end_ns = 0;
	int i;

	for (i = 0; i < IQCN_MACCTL_CLASSES; i++)
		if (classes & BIT(i))
			end_ns = max(end_ns, p->end_ns[i]);
	return end_ns;
}

#endif /* _IQCN_MACCTL_H */
