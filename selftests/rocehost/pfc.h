/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of priority-based flow control (PFC).  Pure: no clock, no device.
 *
 * Source: IEEE 802.1Q (802.1Qbb), 36.1.3.2, and IEEE 802.3, annex 31D.
 */
#ifndef _ROCEHOST_PFC_H
#define _ROCEHOST_PFC_H

#include <linux/etherdevice.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#define PFC_PRIOS	8
#define PFC_OPCODE	0x0101
#define PFC_QUANTUM_BITS 512
#define PFC_QUANTA_MAX	0xffff
/* Length of a frame without its FCS */
#define PFC_FRAME_LEN	60
/* Offset of the opcode, and length of opcode, class vector and quanta */
#define PFC_OPCODE_OFF	ETH_HLEN
#define PFC_BODY_LEN	(2 + 2 + 2 * PFC_PRIOS)

/**
 * struct pfc - content of a PFC frame
 * @classes: bit mask of the priorities that the frame pauses or resumes
 * @quanta: how long each of them stops, in units of 512 bit times; 0 resumes
 */
struct pfc {
	u8 classes;
	u16 quanta[PFC_PRIOS];
};

/**
 * pfc_build() - build a frame
 * @frame: result, PFC_FRAME_LEN bytes
 * @src: source MAC
 * @pfc: content
 */
static inline void pfc_build(u8 *frame, const u8 *src, const struct pfc *pfc)
{
	static const u8 dest[ETH_ALEN] = { 0x01, 0x80, 0xc2, 0, 0, 0x01 };
	int prio;

	memset(frame, 0, PFC_FRAME_LEN);
	memcpy(frame, dest, ETH_ALEN);
	memcpy(frame + ETH_ALEN, src, ETH_ALEN);
	put_unaligned_be16(ETH_P_PAUSE, frame + 2 * ETH_ALEN);
	put_unaligned_be16(PFC_OPCODE, frame + PFC_OPCODE_OFF);
	put_unaligned_be16(pfc->classes, frame + PFC_OPCODE_OFF + 2);
	for (prio = 0; prio < PFC_PRIOS; prio++)
		put_unaligned_be16(pfc->quanta[prio],
				   frame + PFC_OPCODE_OFF + 4 + 2 * prio);
}

/**
 * pfc_parse() - parse a frame
 * @frame: the frame from the destination MAC on
 * @len: number of its bytes
 * @pfc: result; the quanta of priorities that are not in @classes are 0
 *
 * Return: false if the frame is not a PFC frame, or too short.
 */
static inline bool pfc_parse(const u8 *frame, u32 len, struct pfc *pfc)
{
	int prio;

	if (len < PFC_OPCODE_OFF + PFC_BODY_LEN ||
	    get_unaligned_be16(frame + 2 * ETH_ALEN) != ETH_P_PAUSE ||
	    get_unaligned_be16(frame + PFC_OPCODE_OFF) != PFC_OPCODE)
		return false;
	pfc->classes = frame[PFC_OPCODE_OFF + 3];
	for (prio = 0; prio < PFC_PRIOS; prio++)
		pfc->quanta[prio] = pfc->classes & BIT(prio) ?
			get_unaligned_be16(frame + PFC_OPCODE_OFF + 4 + 2 * prio) : 0;
	return true;
}

/**
 * pfc_pause_ps() - how long a number of quanta lasts
 * @quanta: the number
 * @rate_bps: rate of the link
 *
 * Return: picoseconds.
 */
static inline u64 pfc_pause_ps(u16 quanta, u64 rate_bps)
{
	return mul_u64_u64_div_u64((u64)quanta * PFC_QUANTUM_BITS,
				   1000ULL * NSEC_PER_SEC, rate_bps);
}

#endif /* _ROCEHOST_PFC_H */
