/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lot of a packet: 32 random bits that decide everything about it that a
 * probability decides, so that equal probabilities decide alike.
 *
 * Source: US 12388756 B2, description (13), clause 8: the profile of marking may
 * serve for notifications, too.  Then a packet is marked exactly if its sender is
 * notified.
 *
 * A packet that no probability decides about costs no random number.
 */
#ifndef _IQCN_LOT_H
#define _IQCN_LOT_H

#include <linux/random.h>
#include <linux/types.h>

#include "mark.h"

/**
 * struct iqcn_lot - the lot of a packet
 * @rnd: uniform from 1 to U32_MAX, 0: not drawn yet
 */
struct iqcn_lot {
	u32 rnd;
};

/**
 * iqcn_lot_decide() - does an event of this probability happen to a packet?
 * @lot: lot of the packet
 * @prob: 0 .. IQCN_PROB_ONE
 *
 * Return: true if it does; for each larger probability as well then.
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
