/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which QP of the sender does a flow belong to?  The rules.
 *
 * A data packet names the receiver's QP only, a CNP must name the sender's.
 * Evidence for it comes in grades (enum iqcn_pair_grade): better evidence
 * overrides worse; of two that are as good and disagree, one is wrong and
 * there is no telling which, so neither is believed.
 *
 * Sources: UDP source ports: rdma_calc_flow_label() and
 * rdma_flow_label_to_udp_sport() in the kernel's <rdma/ib_verbs.h> (mlx5, irdma,
 * hns), and rxe_qp.c of Soft-RoCE.  PSN echo: IBTA spec vol. 1, 9.7.5 (a
 * response carries the PSN of its request).
 *
 * Pure: no lock, no table.
 */
#ifndef _IQCN_PAIRING_H
#define _IQCN_PAIRING_H

#include <linux/hash.h>
#include <linux/types.h>
#include <linux/iqcn.h>

#define IQCN_QPN_MASK	0xffffff
#define IQCN_PSN_MASK	0xffffff

/**
 * iqcn_psn_delta() - distance between two PSNs modulo 2^24
 * @a: later PSN
 * @b: earlier PSN
 *
 * Return: a - b in -2^23 .. 2^23 - 1.
 */
static inline s32 iqcn_psn_delta(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/* A response may echo what was sent this many packets ago: 32 MB of 4 KB
 * packets in flight, 250 us of them at 1 Tb/s, 10 ms at 25 Gb/s.
 */
#define IQCN_ECHO_WINDOW	8192

/**
 * iqcn_echo_fresh() - could a response to this PSN still come?
 * @last_psn: PSN of the flow's last CE packet
 * @psn: PSN in the response
 *
 * Return: true if so.
 */
static inline bool iqcn_echo_fresh(u32 last_psn, u32 psn)
{
	s32 age = iqcn_psn_delta(last_psn, psn);

	return age >= 0 && age < IQCN_ECHO_WINDOW;
}

/*
 * A slot of the echo table remembers that a CE packet with some PSN went from
 * one host to another, and to which QP: 39 bits of the hash of hosts and PSN,
 * a bit that says whether two QPs had such a packet, the QP number.  One word,
 * so that it is read and written without a lock.
 */
#define IQCN_ECHO_AMBIGUOUS	BIT_ULL(24)
#define IQCN_ECHO_TAG_SHIFT	25

/**
 * iqcn_echo_store() - new value of a slot when a packet has left
 * @slot: old value
 * @hash: hash of hosts, VLANs and PSN
 * @dest_qp: the packet's DestQP
 *
 * Return: what the slot is to hold.
 */
static inline u64 iqcn_echo_store(u64 slot, u64 hash, u32 dest_qp)
{
	u64 tag = hash << IQCN_ECHO_TAG_SHIFT;
	u64 now = tag | (dest_qp & IQCN_QPN_MASK);

	if ((slot >> IQCN_ECHO_TAG_SHIFT) != (tag >> IQCN_ECHO_TAG_SHIFT) ||
	    !slot)
		return now;
	if ((slot & IQCN_QPN_MASK) != (now & IQCN_QPN_MASK))
		now |= IQCN_ECHO_AMBIGUOUS;
	return now | (slot & IQCN_ECHO_AMBIGUOUS);
}

/**
 * iqcn_echo_hit() - has a packet left that a response may answer?
 * @slot: value of the slot for @hash
 * @hash: hash of hosts, VLANs and PSN
 *
 * Return: true if so.
 */
static inline bool iqcn_echo_hit(u64 slot, u64 hash)
{
	u64 tag = hash << IQCN_ECHO_TAG_SHIFT;

	return slot && slot >> IQCN_ECHO_TAG_SHIFT == tag >> IQCN_ECHO_TAG_SHIFT;
}

/**
 * iqcn_echo_match() - whose packet does a response answer?
 * @slot: value of the slot for @hash
 * @hash: hash of hosts, VLANs and PSN
 * @dest_qp: is set to the packet's DestQP
 *
 * Return: true if exactly one QP's packet fits.
 */
static inline bool iqcn_echo_match(u64 slot, u64 hash, u32 *dest_qp)
{
	if (!iqcn_echo_hit(slot, hash) || (slot & IQCN_ECHO_AMBIGUOUS))
		return false;
	*dest_qp = slot & IQCN_QPN_MASK;
	return true;
}

/* UDP source port that mlx5, irdma and hns derive; symmetric in the QPs */
static inline u16 iqcn_sport_verbs(u32 lqpn, u32 rqpn)
{
	u64 v = (u64)lqpn * rqpn;
	u32 fl;

	v ^= v >> 20;
	v ^= v >> 40;
	fl = v & 0xfffff;
	return ((fl & 0x3fff) ^ ((fl & 0xfc000) >> 14)) | 0xc000;
}

/* UDP source port that Soft-RoCE derives from its own QP alone */
static inline u16 iqcn_sport_rxe(u32 qpn)
{
	return 0xc000 + (hash_32(qpn, 14) & 0x3fff);
}

/**
 * iqcn_sport_match() - do both directions' UDP source ports fit two QPs?
 * @data_sport: source port of the sender's data
 * @rev_sport: source port of the receiver's packet
 * @src_qp: the sender's QP
 * @dest_qp: the receiver's QP
 *
 * Return: true if they do.
 */
static inline bool iqcn_sport_match(u16 data_sport, u16 rev_sport, u32 src_qp,
				    u32 dest_qp)
{
	if (data_sport == rev_sport &&
	    data_sport == iqcn_sport_verbs(src_qp, dest_qp))
		return true;
	return data_sport == iqcn_sport_rxe(src_qp) &&
	       rev_sport == iqcn_sport_rxe(dest_qp);
}

/**
 * iqcn_pair_assured() - can nothing better be had from packets?
 * @grade: of a pairing
 *
 * Return: true if so.
 */
static inline bool iqcn_pair_assured(enum iqcn_pair_grade grade)
{
	return grade >= IQCN_PAIR_PSN;
}

/**
 * enum iqcn_pair_verdict - what new evidence does to a pairing
 * @IQCN_PAIR_KEEP: nothing, it is weaker or says the same
 * @IQCN_PAIR_TAKE: it replaces what was there
 * @IQCN_PAIR_BREAK: it is as good and disagrees: neither holds
 */
enum iqcn_pair_verdict {
	IQCN_PAIR_KEEP,
	IQCN_PAIR_TAKE,
	IQCN_PAIR_BREAK,
};

/**
 * iqcn_pair_judge() - weigh new evidence against a pairing
 * @old: grade of the pairing, IQCN_PAIR_NONE if there is none
 * @old_qp: QP it names
 * @new: grade of the evidence
 * @new_qp: QP it names
 *
 * A connection set-up is no claim about the past: the later one holds.
 *
 * Return: what is to be done with the pairing.
 */
static inline enum iqcn_pair_verdict
iqcn_pair_judge(enum iqcn_pair_grade old, u32 old_qp, enum iqcn_pair_grade new,
		u32 new_qp)
{
	if (new > old)
		return IQCN_PAIR_TAKE;
	if (new < old || new_qp == old_qp)
		return IQCN_PAIR_KEEP;
	return new == IQCN_PAIR_CM ? IQCN_PAIR_TAKE : IQCN_PAIR_BREAK;
}

#endif /* _IQCN_PAIRING_H */
