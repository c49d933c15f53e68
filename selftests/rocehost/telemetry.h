/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetry of a congestion point in the 16 reserved bytes of a CNP, in network
 * byte order:
 *
 *	0	bits 7-4: version, bit 1: only this byte and the next are valid,
 *		bit 0: the packet was CE on arrival, or when it was dropped
 *	1	cause
 *	2-3	depth of the queue as a share of its limit, 0xffff: full
 *	4-5	flows
 *	6-7	depth of the port in units of 4,096 bytes
 *	8-9	growth of the queue in bytes per us, two's complement
 *	10-12	bytes sent by the queue in units of 256 bytes
 *	13-15	time in us
 *
 * This layout repeats the module's on purpose: the tests check the module
 * against it.  Pure: no clock, no lock.
 */
#ifndef _ROCEHOST_TELEMETRY_H
#define _ROCEHOST_TELEMETRY_H

#include <linux/types.h>
#include <linux/unaligned.h>

#define TELEMETRY_VERSION	1

/**
 * struct telemetry - decoded telemetry
 * @port_bytes: depth of all queues of the port
 * @tx_bytes: bytes sent by the queue, modulo 2^32
 * @time_us: clock of the congestion point, modulo 2^24
 * @depth: depth of the queue as a share of its limit, U16_MAX: full
 * @flows: number of active flows, U16_MAX: that many or more
 * @gradient: growth of the queue in bytes per us
 * @cause: &enum iqcn_cause
 * @was_ce: the packet that caused the CNP was CE on arrival, or when it was
 *	dropped
 * @brief: only @cause and @was_ce are valid
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
 * telemetry_decode() - decode the reserved bytes of a CNP
 * @rsvd: 16 bytes
 * @tm: result
 *
 * Return: true, or false if there is no telemetry of a known version.
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
 * @tm: telemetry
 *
 * Return: depth in millionths, rounded down.
 */
static inline u32 telemetry_depth_ppm(const struct telemetry *tm)
{
	return tm->depth * 1000000ULL / U16_MAX;
}

#endif /* _ROCEHOST_TELEMETRY_H */
