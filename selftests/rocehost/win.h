/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The window of a flow, which a congestion point may set with a CNP:
 *
 *	start		bandwidth-delay product: line rate * baseRTT
 *	CNP with window	that window, but at least one packet, because a window
 *			of 0 could stay closed forever
 *	rate increase	as at the start
 *
 * A sender sends while less than the window is in flight.  The packet that
 * fills the window requests an ACK, which may be the only ACK that opens the
 * window again.
 *
 * Source: the Chinese patent application that kmod/algo/pfc.h names, step 3.3.
 * The initial window is reconstructed, because the published text has lost the
 * formula.  The minimum of a packet and the request for an ACK are additions.
 *
 * A CNP carries the window in its reserved bytes, in network byte order:
 *
 *	0	bits 7-4: version, bit 0: the packet was CE on arrival
 *	1	cause
 *	4-7	window in bytes
 *
 * This layout repeats the module's on purpose: the tests check the module
 * against it.  Pure: no clock, no lock.
 */
#ifndef _ROCEHOST_WIN_H
#define _ROCEHOST_WIN_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#define WIN_VERSION	2

/**
 * struct win - the window of a flow
 * @initial_bytes: window at the start, 0: no window
 * @bytes: current window
 * @granted_bytes: window that the last CNP set, 0: there was none
 * @sent: packets that had been sent when the last CNP arrived
 * @check: win_exceeded() has yet to check the last CNP's window
 */
struct win {
	u64 initial_bytes;
	u64 bytes;
	u64 granted_bytes;
	u64 sent;
	bool check;
};

/**
 * win_decode() - get the window of a CNP
 * @rsvd: its 16 reserved bytes
 * @bytes: result
 *
 * Return: false if the CNP contains no window.
 */
static inline bool win_decode(const u8 *rsvd, u32 *bytes)
{
	if (rsvd[0] >> 4 != WIN_VERSION)
		return false;
	*bytes = get_unaligned_be32(rsvd + 4);
	return true;
}

/**
 * win_start() - begin with the initial window
 * @w: window
 * @line_bps: line rate
 * @base_rtt_ns: round-trip time without congestion, 0: no window
 * @mtu: bytes of a packet
 */
static inline void win_start(struct win *w, u64 line_bps, u64 base_rtt_ns,
			     u32 mtu)
{
	u64 bytes = mul_u64_u64_div_u64(line_bps, base_rtt_ns,
					8ULL * NSEC_PER_SEC);

	w->initial_bytes = base_rtt_ns ? max_t(u64, bytes, mtu) : 0;
	w->bytes = w->initial_bytes;
	w->check = false;
}

/**
 * win_granted() - process the window of a CNP
 * @w: window
 * @bytes: window of the CNP
 * @mtu: bytes of a packet
 * @sent: packets that have been sent
 */
static inline void win_granted(struct win *w, u32 bytes, u32 mtu, u64 sent)
{
	if (!w->initial_bytes)
		return;
	w->bytes = max(bytes, mtu);
	w->granted_bytes = w->bytes;
	w->sent = sent;
	w->check = true;
}

/**
 * win_raised() - process an increase of the rate
 * @w: window
 */
static inline void win_raised(struct win *w)
{
	w->bytes = w->initial_bytes;
	w->check = false;
}

/**
 * win_open() - may a packet be sent?
 * @w: window
 * @in_flight_bytes: bytes that have been sent and not acknowledged
 *
 * Return: true if less than the window is in flight, or there is no window.
 */
static inline bool win_open(const struct win *w, u64 in_flight_bytes)
{
	return !w->initial_bytes || in_flight_bytes < w->bytes;
}

/**
 * win_exceeded() - has a window been exceeded?
 * @w: window
 * @acked: packets that have been acknowledged
 * @in_flight_bytes: bytes that have been sent and not acknowledged
 * @mtu: bytes of a packet
 *
 * To be called after each ACK.  Each window is checked once, as soon as all
 * packets that had been sent when its CNP arrived are acknowledged.
 *
 * Return: true if the window is exceeded by more than one packet.
 */
static inline bool win_exceeded(struct win *w, u64 acked, u64 in_flight_bytes,
				u32 mtu)
{
	if (!w->check || acked < w->sent)
		return false;
	w->check = false;
	return in_flight_bytes > w->bytes + mtu;
}

#endif /* _ROCEHOST_WIN_H */
