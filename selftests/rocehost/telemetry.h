/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a congestion point may say in the 16 reserved bytes of a CNP.
 *
 *	0	bits 7-4: version, bit 1: nothing but this byte and the next is filled
 *		in, bit 0: the packet was CE when it came
 *	1	cause
 *	2-3	depth of the queue as a share of its limit, 0xffff: full
 *	4-5	flows
 *	6-7	depth of the port in 4,096 bytes
 *	8-9	growth of the queue in bytes per us, two's complement
 *	10-12	what the queue has sent, in 256 bytes
 *	13-15	time in us
 *
 * in network byte order.  Where the bytes are is written down here a second time
 * on purpose: the module is held against it.  Pure.
 */
#ifndef _ROCEHOST_TELEMETRY_H
#define _ROCEHOST_TELEMETRY_H

#include <linux/types.h>
#include <linux/unaligned.h>

#define TELEMETRY_VERSION	1

/**
 * struct telemetry - what a CNP said
 * @port_bytes: depth of all queues of the port
 * @tx_bytes: bytes that the queue has sent, modulo 2^32
 * @time_us: of the box's clock, modulo 2^24
 * @depth: depth of the queue as a share of its limit, U16_MAX: full
 * @flows: flows that were active, U16_MAX: or more
 * @gradient: growth of the queue in bytes per us
 * @cause: &enum iqcn_cause
 * @was_ce: the packet that caused it was CE when it came
 * @brief: nothing but @cause and @was_ce is filled in
 */
struct telemetry {
	u32 port_bytes;
	u32 tx_bytes;
	u32 time_us;
	u16 depth;
	u16 flows;
	s16 gradient;
	u8 cause;
	bool was_ce;
	bool brief;
};

/**
 * telemetry_decode() - read the reserved bytes of a CNP
 * @rsvd: 16 bytes
 * @tm: result
 *
 * Return: true, false if there is nothing in them, or of another version.
 */
static inline bool telemetry_decode(const u8 *rsvd, struct telemetry *tm)
{
	if (rsvd[0] >> 4 != TELEMETRY_VERSION)
		return false;
	*tm = (struct telemetry){
		.port_bytes = get_unaligned_be16(rsvd + 6) * 4096u,
		.tx_bytes = get_unaligned_be24(rsvd + 10) << 8,
		.time_us = get_unaligned_be24(rsvd + 13),
		.depth = get_unaligned_be16(rsvd + 2),
		.flows = get_unaligned_be16(rsvd + 4),
		.gradient = get_unaligned_be16(rsvd + 8),
		.cause = rsvd[1],
		.was_ce = rsvd[0] & 1,
		.brief = rsvd[0] & 2,
	};
	return true;
}

/**
 * telemetry_depth_ppm() - depth of the queue as a share of its limit
 * @tm: what a CNP said
 *
 * Return: in millionths, cut off.
 */
static inline u32 telemetry_depth_ppm(const struct telemetry *tm)
{
	return tm->depth * 1000000ULL / U16_MAX;
}

#endif /* _ROCEHOST_TELEMETRY_H */
