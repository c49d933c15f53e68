/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packet buffer of a switch, which decides when to send PFC frames.  Pure:
 * no clock, no lock.
 *
 * Each ingress queue (a port and a priority) first uses a reserve of its own,
 * then the part that all queues share, and finally its headroom, which absorbs
 * the packets that arrive until the sender has stopped.
 *
 * Source: HPCC's simulator (Li et al., SIGCOMM 2019), model of the switch's
 * MMU: dynamic thresholds as a share alpha of the free shared bytes (Choudhury
 * and Hahne, 1998), a reserve of 4 KB, and a resume offset of 3 KB.
 */
#ifndef _ROCEHOST_MMU_H
#define _ROCEHOST_MMU_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define MMU_RESERVE_BYTES	4096

/**
 * struct mmu - the buffer
 * @buffer_bytes: its size
 * @private_bytes: reserves and headrooms of all ingress queues
 * @shared_bytes: bytes of the shared part that are in use
 */
struct mmu {
	u64 buffer_bytes;
	u64 private_bytes;
	u64 shared_bytes;
};

/**
 * struct mmu_queue - an ingress queue
 * @alpha: share of the free bytes that it may use, in 1/2^32
 * @headroom_bytes: size of its headroom
 * @resume_bytes: the queue resumes when it is this far below the threshold
 * @used_bytes: its bytes in the reserve and in the shared part
 * @over_bytes: its bytes in the headroom
 * @paused: a PFC frame has paused the sender
 */
struct mmu_queue {
	u32 alpha;
	u64 headroom_bytes;
	u64 resume_bytes;
	u64 used_bytes;
	u64 over_bytes;
	bool paused;
};

/* Bytes of the shared part that a queue uses */
static inline u64 mmu_shared(const struct mmu_queue *q)
{
	return q->used_bytes > MMU_RESERVE_BYTES ?
	       q->used_bytes - MMU_RESERVE_BYTES : 0;
}

/**
 * mmu_threshold() - bytes of the shared part at which a queue pauses
 * @mmu: the buffer
 * @q: the queue
 *
 * Return: bytes.
 */
static inline u64 mmu_threshold(const struct mmu *mmu,
				const struct mmu_queue *q)
{
	u64 taken = mmu->private_bytes + mmu->shared_bytes;

	if (taken >= mmu->buffer_bytes)
		return 0;
	return mul_u64_u32_shr(mmu->buffer_bytes - taken, q->alpha, 32);
}

/**
 * mmu_add() - give a queue its reserve and its headroom
 * @mmu: the buffer
 * @q: the queue, empty
 */
static inline void mmu_add(struct mmu *mmu, const struct mmu_queue *q)
{
	mmu->private_bytes += MMU_RESERVE_BYTES + q->headroom_bytes;
}

/**
 * mmu_remove() - release a queue's reserve, its headroom and its packets
 * @mmu: the buffer
 * @q: the queue
 */
static inline void mmu_remove(struct mmu *mmu, struct mmu_queue *q)
{
	mmu->private_bytes -= MMU_RESERVE_BYTES + q->headroom_bytes;
	mmu->shared_bytes -= mmu_shared(q);
	q->used_bytes = 0;
	q->over_bytes = 0;
	q->paused = false;
}

/**
 * mmu_admit() - account for a packet that arrives
 * @mmu: the buffer
 * @q: its ingress queue
 * @bytes: length of the packet
 *
 * Return: false if neither the shared part nor the headroom has room.
 */
static inline bool mmu_admit(struct mmu *mmu, struct mmu_queue *q, u32 bytes)
{
	u64 old = mmu_shared(q);

	if (q->used_bytes + bytes <=
	    MMU_RESERVE_BYTES + mmu_threshold(mmu, q)) {
		q->used_bytes += bytes;
		mmu->shared_bytes += mmu_shared(q) - old;
		return true;
	}
	if (q->over_bytes + bytes > q->headroom_bytes)
		return false;
	q->over_bytes += bytes;
	return true;
}

/**
 * mmu_release() - account for a packet that leaves
 * @mmu: the buffer
 * @q: its ingress queue
 * @bytes: length of the packet
 *
 * The headroom is emptied first.
 */
static inline void mmu_release(struct mmu *mmu, struct mmu_queue *q, u32 bytes)
{
	u64 over = min_t(u64, q->over_bytes, bytes);
	u64 old = mmu_shared(q);

	q->over_bytes -= over;
	q->used_bytes -= min_t(u64, q->used_bytes, bytes - over);
	mmu->shared_bytes -= old - mmu_shared(q);
}

/**
 * mmu_should_pause() - has a queue reached its threshold?
 * @mmu: the buffer
 * @q: the queue
 *
 * Return: true if it has, and the queue is not paused yet.
 */
static inline bool mmu_should_pause(const struct mmu *mmu,
				    const struct mmu_queue *q)
{
	return !q->paused &&
	       (q->over_bytes || mmu_shared(q) >= mmu_threshold(mmu, q));
}

/**
 * mmu_should_resume() - is a paused queue short enough to resume?
 * @mmu: the buffer
 * @q: the queue
 *
 * Return: true if it is.
 */
static inline bool mmu_should_resume(const struct mmu *mmu,
				     const struct mmu_queue *q)
{
	u64 shared = mmu_shared(q);

	return q->paused && !q->over_bytes &&
	       (!shared || shared + q->resume_bytes <= mmu_threshold(mmu, q));
}

#endif /* _ROCEHOST_MMU_H */
