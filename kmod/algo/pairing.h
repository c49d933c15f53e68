/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rules that decide to which QP of the sender a flow belongs.
 *
 * A data packet carries the receiver's QP only, but a CNP must carry the
 * sender's.  Evidence for the pairing has grades (enum iqcn_pair_grade).
 * Better evidence overrides worse.  If two pieces of the same grade disagree,
 * one of them is wrong and nothing shows which, so both are discarded, except
 * that the later one of two connection setups counts.
 *
 * A sender may spray the packets of a flow over many paths, with a UDP source
 * port for each path.  A box then receives only some of the packets and of the
 * responses, out of order.  So for the flows of such a sender, neither the
 * source port of a packet nor a CNP with only one candidate is evidence.  A PSN
 * echo still is.  But if two flows use the same PSNs, the packet with a given
 * PSN may pass this box in one flow and not in the other.  So pairing needs
 * more echoes, and they must agree in both directions: no other QP for the
 * flow, and no other flow for the QP.
 *
 * A sender sprays if the source ports of its flows change again and again.  A
 * single change does not prove spraying: the receiver may have reused a QP, or
 * a third host may have forged a packet.
 *
 * Sources: UDP source ports: rdma_calc_flow_label() and
 * rdma_flow_label_to_udp_sport() in the kernel's <rdma/ib_verbs.h> (mlx5,
 * irdma, hns), and rxe_qp.c of Soft-RoCE.  PSN echo: IBTA spec vol. 1, 9.7.5 (a
 * response carries the PSN of its request).
 *
 * Pure: no lock, no table.
 */
#ifndef _IQCN_PAIRING_H
#define _IQCN_PAIRING_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <linux/iqcn.h>

#define IQCN_QPN_MASK	0xffffff
#define IQCN_PSN_MASK	0xffffff

/**
 * iqcn_psn_delta() - distance between two PSNs modulo 2^24
 * @a: PSN
 * @b: PSN to subtract from it
 *
 * Return: a - b in -2^23 .. 2^23 - 1, negative if @a is behind @b.
 */
static inline s32 iqcn_psn_delta(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/* The echo table covers as many PSNs as it has slots.  With fewer slots than CE
 * packets of unassured flows in a round trip, some flows pair a round trip
 * later.  The minimum covers 32 MB of 4 KB packets, which are 250 us at 1 Tb/s
 * and 10 ms at 25 Gb/s.  A long-haul link needs more: 31,000 of these packets
 * for 1,000 km at 100 Gb/s.
 */
#define IQCN_ECHO_BITS_MIN	13
#define IQCN_ECHO_BITS_MAX	18

/* The largest payload of RoCEv2, and the headers around it: IPv6, UDP, BTH,
 * RETH, ICRC
 */
#define IQCN_ECHO_PAYLOAD_MAX	4096
#define IQCN_ECHO_HEADERS	80

/**
 * iqcn_echo_packets() - packets that a long-haul link holds in a round trip
 * @bps: speed of the link in bit/s
 * @rtt_ns: round-trip time
 * @mtu: MTU of the device
 *
 * The payload of RoCEv2 is a power of two that fits in the MTU.
 *
 * Return: number of packets.
 */
static inline u64 iqcn_echo_packets(u64 bps, u32 rtt_ns, u32 mtu)
{
	u32 payload = IQCN_ECHO_PAYLOAD_MAX;

	while (payload > 256 && payload + IQCN_ECHO_HEADERS > mtu)
		payload /= 2;
	return mul_u64_u64_div_u64(bps, rtt_ns, 8ULL * NSEC_PER_SEC * payload);
}

/**
 * iqcn_echo_bits() - size of an echo table
 * @packets: packets of a round trip
 *
 * Return: log2 of the number of slots.
 */
static inline u32 iqcn_echo_bits(u64 packets)
{
	u32 bits = IQCN_ECHO_BITS_MIN;

	while (bits < IQCN_ECHO_BITS_MAX && packets > 1ULL << bits)
		bits++;
	return bits;
}

/**
 * iqcn_echo_fresh() - can a response to a PSN still be in flight?
 * @last_psn: PSN last recorded when a packet of the flow left
 * @psn: PSN in the response
 * @bits: size of the echo table
 *
 * Return: true if @psn is fewer than 2^@bits packets old.
 */
static inline bool iqcn_echo_fresh(u32 last_psn, u32 psn, u32 bits)
{
	s32 age = iqcn_psn_delta(last_psn, psn);

	return age >= 0 && age < 1 << bits;
}

/**
 * iqcn_echo_near() - can two packets have been in flight together?
 * @a: PSN of a packet
 * @b: PSN of the other packet
 * @bits: size of the echo table
 *
 * Unlike iqcn_echo_fresh(), this function accepts either order, because the
 * last packet of a sprayed flow that left here need not be the flow's latest.
 *
 * Return: true if the PSNs are fewer than 2^@bits packets apart.
 */
static inline bool iqcn_echo_near(u32 a, u32 b, u32 bits)
{
	s32 delta = iqcn_psn_delta(a, b);

	return delta > -(1 << bits) && delta < 1 << bits;
}

/* Number of PSNs, each later than the one before, that must be echoed to one QP
 * in a row to pair a flow with the QP.  For a sprayed flow the number is so
 * large that two flows whose responses arrive in random order reach that
 * number with a probability of only 2^-64.
 */
#define IQCN_ECHO_HITS		4
#define IQCN_ECHO_HITS_SPRAYED	64

/* struct iqcn_echoes - PSNs of a flow that were echoed to one QP in a row */
struct iqcn_echoes {
	u32 qp;
	u32 psn;	/* last echoed PSN */
	u8 hits;	/* 0: none */
};

/**
 * iqcn_echo_count() - count the echo of a PSN
 * @e: the flow's echoes
 * @qp: DestQP of the response
 * @psn: PSN of the response
 * @sprayed: the sender sprays packets
 *
 * Return: true if the echoes suffice to pair the flow with @qp; then the count
 * restarts at 0.
 */
static inline bool iqcn_echo_count(struct iqcn_echoes *e, u32 qp, u32 psn,
				   bool sprayed)
{
	if (!e->hits || e->qp != qp) {
		e->qp = qp;
		e->hits = 1;
	} else if (iqcn_psn_delta(psn, e->psn) > 0) {
		e->hits++;
	} else {
		return false;
	}
	e->psn = psn;
	if (e->hits < (sprayed ? IQCN_ECHO_HITS_SPRAYED : IQCN_ECHO_HITS))
		return false;
	e->hits = 0;
	return true;
}

/*
 * A slot of the echo table records that a packet with some PSN went from one
 * host to another, and to which QP: 39 bits of the hash of hosts, VLANs and
 * PSN, one bit for "packets of two QPs match", and the QP number.  The slot is
 * a single word, so it is read and written without a lock.
 */
#define IQCN_ECHO_AMBIGUOUS	BIT_ULL(24)
#define IQCN_ECHO_TAG_SHIFT	25

/**
 * iqcn_echo_store() - new value of a slot when a packet leaves
 * @slot: old value
 * @hash: hash of hosts, VLANs and PSN
 * @dest_qp: DestQP of the packet
 *
 * Return: the new value.
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
 * iqcn_echo_hit() - does a slot record a packet that a response may answer?
 * @slot: value of the slot for @hash
 * @hash: hash of hosts, VLANs and PSN
 *
 * Return: true if the slot's tag matches the hash.
 */
static inline bool iqcn_echo_hit(u64 slot, u64 hash)
{
	u64 tag = hash << IQCN_ECHO_TAG_SHIFT;

	return slot &&
	       slot >> IQCN_ECHO_TAG_SHIFT == tag >> IQCN_ECHO_TAG_SHIFT;
}

/**
 * iqcn_echo_match() - DestQP of the packet that a response answers
 * @slot: value of the slot for @hash
 * @hash: hash of hosts, VLANs and PSN
 * @dest_qp: set to the DestQP
 *
 * Return: true if packets of exactly one QP match.
 */
static inline bool iqcn_echo_match(u64 slot, u64 hash, u32 *dest_qp)
{
	if (!iqcn_echo_hit(slot, hash) || (slot & IQCN_ECHO_AMBIGUOUS))
		return false;
	*dest_qp = slot & IQCN_QPN_MASK;
	return true;
}

/* UDP source port of mlx5, irdma and hns: symmetric in the two QPs */
static inline u16 iqcn_sport_verbs(u32 lqpn, u32 rqpn)
{
	u64 v = (u64)lqpn * rqpn;
	u32 fl;

	v ^= v >> 20;
	v ^= v >> 40;
	fl = v & 0xfffff;
	return ((fl & 0x3fff) ^ ((fl & 0xfc000) >> 14)) | 0xc000;
}

/* UDP source port of Soft-RoCE: depends on the sending QP only */
static inline u16 iqcn_sport_rxe(u32 qpn)
{
	return 0xc000 + (hash_32(qpn, 14) & 0x3fff);
}

/**
 * iqcn_sport_match() - do the UDP source ports of both directions fit two QPs?
 * @data_sport: source port of the sender's data
 * @rev_sport: source port of the receiver's packet
 * @src_qp: the sender's QP
 * @dest_qp: the receiver's QP
 *
 * Return: true if they are the ports that a known driver derives from the QPs.
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

/* IQCN_SPRAY_CHANGES changes of source ports show that a sender sprays if each
 * comes within IQCN_SPRAY_MS of the one before.  A forged packet causes two
 * changes: to its port and back.
 */
#define IQCN_SPRAY_CHANGES	3
#define IQCN_SPRAY_MS		10000

/* struct iqcn_spray - changes of the source ports of flows between two hosts */
struct iqcn_spray {
	u32 changed_ms;	/* time of the last change */
	u8 changes;	/* up to IQCN_SPRAY_CHANGES */
};

/**
 * iqcn_spray_on() - does the sender spray packets?
 * @s: changes
 * @now_ms: now, which may wrap
 *
 * Return: true if IQCN_SPRAY_CHANGES changes were recorded, the last of them
 * less than IQCN_SPRAY_MS ago.
 */
static inline bool iqcn_spray_on(const struct iqcn_spray *s, u32 now_ms)
{
	/* pairs with iqcn_spray_changed() */
	u32 changed_ms = smp_load_acquire(&s->changed_ms);

	return now_ms - changed_ms < IQCN_SPRAY_MS &&
	       READ_ONCE(s->changes) == IQCN_SPRAY_CHANGES;
}

/**
 * iqcn_spray_changed() - record that the source port of a flow has changed
 * @s: changes; the caller serializes writers
 * @now_ms: now, which may wrap
 */
static inline void iqcn_spray_changed(struct iqcn_spray *s, u32 now_ms)
{
	u32 changes = s->changes;

	if (now_ms - s->changed_ms >= IQCN_SPRAY_MS) {
		changes = 0;
		WRITE_ONCE(s->changes, 0);
	}
	/* pairs with iqcn_spray_on(): a reader that sees the new time does not
	 * see the count before the reset
	 */
	smp_store_release(&s->changed_ms, now_ms);
	WRITE_ONCE(s->changes, min_t(u32, changes + 1, IQCN_SPRAY_CHANGES));
}

/* Is the evidence a PSN echo, the best that data packets and responses offer,
 * or better?
 */
static inline bool iqcn_pair_assured(enum iqcn_pair_grade grade)
{
	return grade >= IQCN_PAIR_PSN;
}

/**
 * iqcn_pair_usable() - is evidence of a grade valid?
 * @grade: grade of the evidence
 * @sprayed: the sender sprays packets
 *
 * Return: false if spraying makes evidence of this grade invalid.
 */
static inline bool iqcn_pair_usable(enum iqcn_pair_grade grade, bool sprayed)
{
	return !sprayed || iqcn_pair_assured(grade);
}

/**
 * enum iqcn_pair_verdict - effect of new evidence on a pairing
 * @IQCN_PAIR_KEEP: no effect: the evidence is weaker, or has the same grade and
 *	agrees
 * @IQCN_PAIR_TAKE: the evidence replaces the pairing
 * @IQCN_PAIR_BREAK: same grade, but another QP: discard both
 */
enum iqcn_pair_verdict {
	IQCN_PAIR_KEEP,
	IQCN_PAIR_TAKE,
	IQCN_PAIR_BREAK,
};

/**
 * iqcn_pair_judge() - weigh new evidence against a pairing
 * @old: grade of the pairing, IQCN_PAIR_NONE if there is none
 * @old_qp: QP of the pairing
 * @new: grade of the evidence
 * @new_qp: QP of the evidence
 *
 * Two connection setups do not contradict each other: the later one replaces
 * the earlier one.
 *
 * Return: the effect on the pairing.
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
