/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recovery by RTT and ECN: double the rate while the path is free.
 *
 * A switch marks at random, when a packet leaves.  The RTT reflects the backlog
 * that a packet found, not the packets behind it.  So both ECN and RTT must
 * show a free path.  An epoch ends when a packet that was sent after its start
 * is acknowledged.  At the end of an epoch:
 *
 *	no packet was CE, and no RTT exceeded the expected RTT --> double rate
 *
 * Source: US 12388756, paragraphs 42-44, 52 and 185-191.  The text leaves the
 * expected RTT to the operator.  "auto" is an addition: 3/2 of the shortest RTT
 * so far.
 *
 * Pure: the caller supplies the time.
 */
#ifndef _ROCEHOST_RAMP_H
#define _ROCEHOST_RAMP_H

#include <linux/minmax.h>
#include <linux/types.h>

#define RAMP_AUTO	U64_MAX

/**
 * struct ramp - the epoch of a connection
 * @end: the ACK of this packet, or of a later one, ends the epoch
 * @most_ns: longest RTT in the epoch
 * @least_ns: shortest RTT so far, 0: none yet
 * @ce: a packet in the epoch was marked CE
 */
struct ramp {
	u64 end;
	u64 most_ns;
	u64 least_ns;
	bool ce;
};

/**
 * ramp_acked() - process an ACK
 * @r: epoch
 * @seq: sequence number of the packet
 * @high: sequence number of the next new packet
 * @ce: the packet was marked CE
 * @rtt_ns: its RTT
 * @expected_ns: expected RTT, or RAMP_AUTO
 *
 * Return: true if the ACK ends an epoch in which the path was free.
 */
static inline bool ramp_acked(struct ramp *r, u64 seq, u64 high, bool ce,
			      u64 rtt_ns, u64 expected_ns)
{
	bool is_free;

	r->least_ns = r->least_ns ? min(r->least_ns, rtt_ns) : rtt_ns;
	r->most_ns = max(r->most_ns, rtt_ns);
	r->ce |= ce;
	if (seq < r->end)
		return false;
	if (expected_ns == RAMP_AUTO)
		expected_ns = r->least_ns + r->least_ns / 2;
	is_free = !r->ce && r->most_ns <= expected_ns;
	r->end = high;
	r->most_ns = 0;
	r->ce = false;
	return is_free;
}

#endif /* _ROCEHOST_RAMP_H */
