/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recycled entropies (REPS): a sender sprays its packets over paths on which
 * recent packets were acknowledged without CE.
 *
 * The entropy of a packet is the part of its UDP source port that decides which
 * path it takes; packets with equal entropies take the same path.
 *
 *	ACK without CE	its entropy is appended to a FIFO
 *	packet to send	takes the oldest entropy off the FIFO; if the FIFO is
 *			empty, takes the next value of a counter
 *	full FIFO	the oldest entropy is dropped
 *
 * The FIFOs of all connections of a host share one pool of slots.  A connection
 * that pauses for longer than "expire" returns its slots, unless it is
 * recurrent.
 *
 * After a timeout the connection is frozen: for the time "freeze" it explores
 * no new paths.  It uses the entropies of its FIFO in turn and keeps them.
 * The entropy of an ACK with CE is appended, too, because a congested path is
 * better than a broken path, but no entropy is appended twice.  If the FIFO is
 * empty, the connection uses the entropy of the last ACK.  If no ACK has
 * arrived, or a packet with that entropy has timed out, the connection explores
 * new paths after all.
 *
 * Sources: US 12388756, paragraphs 26-32 and 165-173; freezing: Bonato et al.,
 * "REPS: Recycled Entropy Packet Spraying" (arXiv:2407.21625).
 *
 * The state of a connection takes 24 bytes; in the paper, 25.  Pure: no clock,
 * no lock.
 */
#ifndef _ROCEHOST_REPS_H
#define _ROCEHOST_REPS_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define REPS_NONE	U16_MAX
#define REPS_POOL_MAX	65535

/**
 * struct reps_slot - an entropy in a FIFO, or a free slot
 * @entropy: the entropy
 * @next: index of the next slot in the list, REPS_NONE: end of the free list
 */
struct reps_slot {
	u16 entropy;
	u16 next;
};

/**
 * struct reps_pool - the entropies of a host's connections
 * @slots: free and used slots
 * @free: first free slot, REPS_NONE: all are in use
 */
struct reps_pool {
	struct reps_slot *slots;
	u16 free;
};

/**
 * struct reps - the entropies of a connection
 * @frozen_ns: no new path is explored until then
 * @head: slot of the oldest entropy, if @n is not 0
 * @tail: slot of the newest entropy, if @n is not 0
 * @n: number of entropies in the FIFO
 * @fresh: next value of the counter
 * @alive: entropy of the last ACK, REPS_NONE: no ACK has arrived, or a packet
 *	with that entropy has timed out since
 */
struct reps {
	u64 frozen_ns;
	u16 head;
	u16 tail;
	u16 n;
	u16 fresh;
	u16 alive;
};

static_assert(sizeof(struct reps) <= 25);

/**
 * reps_init() - set up a connection without entropies
 * @r: connection, zeroed
 */
static inline void reps_init(struct reps *r)
{
	r->alive = REPS_NONE;
}

/**
 * reps_pool_init() - link all slots into the list of free ones
 * @pool: pool, with its slots
 * @n: number of slots, at most REPS_POOL_MAX
 */
static inline void reps_pool_init(struct reps_pool *pool, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		pool->slots[i].next = i + 1 < n ? i + 1 : REPS_NONE;
	pool->free = n ? 0 : REPS_NONE;
}

/* Append a slot to a connection's list */
static inline void reps_append(struct reps_pool *pool, struct reps *r, u16 slot)
{
	if (r->n)
		pool->slots[r->tail].next = slot;
	else
		r->head = slot;
	r->tail = slot;
	r->n++;
}

/* Remove the oldest slot from a connection's list */
static inline u16 reps_shift(struct reps_pool *pool, struct reps *r)
{
	u16 slot = r->head;

	r->head = pool->slots[slot].next;
	r->n--;
	return slot;
}

static inline void reps_free(struct reps_pool *pool, u16 slot)
{
	pool->slots[slot].next = pool->free;
	pool->free = slot;
}

/**
 * reps_next() - choose the entropy of the next packet
 * @pool: pool of the host
 * @r: connection
 * @entropies: number of different entropies, at least 1
 * @now_ns: now
 *
 * Return: the entropy, below @entropies.
 */
static inline u16 reps_next(struct reps_pool *pool, struct reps *r,
			    u32 entropies, u64 now_ns)
{
	u16 slot, entropy;

	if (!r->n && now_ns < r->frozen_ns && r->alive != REPS_NONE)
		return r->alive;
	if (!r->n) {
		entropy = r->fresh;
		r->fresh = (r->fresh + 1U) % entropies;
		return entropy;
	}
	slot = reps_shift(pool, r);
	entropy = pool->slots[slot].entropy;
	if (now_ns < r->frozen_ns)
		reps_append(pool, r, slot);
	else
		reps_free(pool, slot);
	return entropy;
}

/* Is an entropy in the FIFO? */
static inline bool reps_waits(const struct reps_pool *pool,
			      const struct reps *r, u16 entropy)
{
	u16 slot = r->head;
	u32 i;

	for (i = 0; i < r->n; i++, slot = pool->slots[slot].next)
		if (pool->slots[slot].entropy == entropy)
			return true;
	return false;
}

/**
 * reps_acked() - process an ACK
 * @pool: pool of the host
 * @r: connection
 * @entropy: entropy of the packet
 * @ce: the packet was marked CE
 * @max: maximum number of entropies in the FIFO, at least 1
 * @now_ns: now
 *
 * Return: false if the pool has no room for the entropy.
 */
static inline bool reps_acked(struct reps_pool *pool, struct reps *r,
			      u16 entropy, bool ce, u32 max, u64 now_ns)
{
	u16 slot;

	r->alive = entropy;
	if (now_ns >= r->frozen_ns ? ce : reps_waits(pool, r, entropy))
		return true;
	if (r->n >= max || (r->n && pool->free == REPS_NONE)) {
		slot = reps_shift(pool, r);
	} else if (pool->free != REPS_NONE) {
		slot = pool->free;
		pool->free = pool->slots[slot].next;
	} else {
		return false;
	}
	pool->slots[slot].entropy = entropy;
	reps_append(pool, r, slot);
	return true;
}

/**
 * reps_bad() - drop an entropy whose path is congested or broken
 * @pool: pool of the host
 * @r: connection
 * @entropy: the entropy
 */
static inline void reps_bad(struct reps_pool *pool, struct reps *r, u16 entropy)
{
	u32 n = r->n;

	while (n--) {
		u16 slot = reps_shift(pool, r);

		if (pool->slots[slot].entropy == entropy)
			reps_free(pool, slot);
		else
			reps_append(pool, r, slot);
	}
}

/**
 * reps_timeout() - process a timeout: drop the entropy, and freeze
 * @pool: pool of the host
 * @r: connection
 * @entropy: entropy of the packet
 * @frozen_ns: no new path is explored until then
 */
static inline void reps_timeout(struct reps_pool *pool, struct reps *r,
				u16 entropy, u64 frozen_ns)
{
	reps_bad(pool, r, entropy);
	if (r->alive == entropy)
		r->alive = REPS_NONE;
	r->frozen_ns = frozen_ns;
}

/**
 * reps_flush() - drop all entropies of a connection
 * @pool: pool of the host
 * @r: connection
 */
static inline void reps_flush(struct reps_pool *pool, struct reps *r)
{
	while (r->n)
		reps_free(pool, reps_shift(pool, r));
}

#endif /* _ROCEHOST_REPS_H */
