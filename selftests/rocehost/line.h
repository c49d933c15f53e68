/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transmission times of the frames on a line.  Pure: no clock, no timer.
 *
 * Times are in picoseconds, because a byte takes 80 ps at 100 Gb/s.  They are
 * computed from those of earlier frames and not from the time at which a timer
 * happens to run, so that a late timer does not leave the line idle.
 */
#ifndef _ROCEHOST_LINE_H
#define _ROCEHOST_LINE_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#define LINE_PS_PER_NS	1000ULL
#define LINE_PS_PER_SEC	(LINE_PS_PER_NS * NSEC_PER_SEC)

/**
 * struct line - one direction of a link
 * @rate_bps: its rate
 * @free_ps: when the last frame ends
 * @busy_ps: time that frames have taken
 */
struct line {
	u64 rate_bps;
	u64 free_ps;
	u64 busy_ps;
};

/**
 * line_frame_ps() - how long a frame takes
 * @l: the line
 * @bytes: length of the frame
 *
 * Return: picoseconds.
 */
static inline u64 line_frame_ps(const struct line *l, u32 bytes)
{
	/* 2^17 bytes * 8 * 10^12 is less than 2^60 */
	return div64_u64(bytes * 8ULL * LINE_PS_PER_SEC, l->rate_bps);
}

/**
 * line_send() - put a frame on the line
 * @l: the line
 * @bytes: length of the frame
 * @ready_ps: when it was ready to be sent
 *
 * Return: when the frame ends.
 */
static inline u64 line_send(struct line *l, u32 bytes, u64 ready_ps)
{
	u64 frame_ps = line_frame_ps(l, bytes);

	l->free_ps = max(l->free_ps, ready_ps) + frame_ps;
	l->busy_ps += frame_ps;
	return l->free_ps;
}

/**
 * line_preempt() - put a frame on the line before those that have not begun
 * @l: the line
 * @bytes: length of the frame
 * @ready_ps: when it was ready to be sent
 * @wait_ps: longest time that a frame which has begun may still take
 *
 * Frames that the line has already accepted keep their times.  Later frames
 * wait for this frame, so that no time is used twice in the long run.
 *
 * Return: when the frame ends.
 */
static inline u64 line_preempt(struct line *l, u32 bytes, u64 ready_ps,
			       u64 wait_ps)
{
	u64 frame_ps = line_frame_ps(l, bytes);
	u64 start_ps = min(max(l->free_ps, ready_ps), ready_ps + wait_ps);

	l->free_ps = max(l->free_ps, start_ps) + frame_ps;
	l->busy_ps += frame_ps;
	return start_ps + frame_ps;
}

#endif /* _ROCEHOST_LINE_H */
