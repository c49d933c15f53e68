/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lot of a packet (as in drawing lots): 32 random bits that are compared
 * with every probability that concerns the packet, so that equal probabilities
 * give equal results.
 *
 * Source: US 12388756 B2, description (13), clause 8: the profile of marking
 * may serve for notifications, too.  Then a packet is marked exactly if its
 * sender is notified.
 *
 * The lot is drawn when it is first needed, so a packet whose probabilities are
 * all 0 or 1 costs no random number.
 */
#ifndef _IQCN_LOT_H
#define _IQCN_LOT_H

#include <linux/random.h>
#include <linux/types.h>

#include "mark.h"

/* struct iqcn_lot - the lot of a packet */
struct iqcn_lot {
	u32 rnd;	/* uniform in 1 .. U32_MAX, 0: not drawn yet */
};

/**
 * iqcn_lot_decide() - decide an event with the lot of a packet
 * @lot: the packet's lot
 * @prob: probability of the event, 0 .. IQCN_PROB_ONE
 *
 * Return: true if the event happens.  With the same lot it then happens for
 * every larger probability, too.
 */
static inline bool iqcn_lot_decide(struct iqcn_lot *lot, u64 prob)
{
	if (!prob || prob >= IQCN_PROB_ONE)
		return prob;
	if (!lot->rnd)
		lot->rnd = get_random_u32() ?: 1;
	return lot->rnd < prob;
}

#endif /* _IQCN_LOT_H */
