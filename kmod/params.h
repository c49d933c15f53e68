/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Defaults that follow the link, so that a queue without parameters is right
 * from 1 to 400 Gb/s.
 *
 * Source: Kmin/Kmax/Pmax 100 KB/400 KB/0.2 at 25 Gb/s, in proportion to the
 * speed, as in the HPCC simulator's DCQCN configuration; the limit is the 16 MB
 * buffer at 25 Gb/s of our model, 5 ms of the link.  T1 is three quarters of
 * ConnectX's default rate-increase timer: a CNP has to be there before it.  What
 * the controller aims at is three times Kmin, and while it does the curve of
 * marking is what stands behind it, four times as deep.
 *
 * Pure: no netlink, no device.
 */
#ifndef _IQCN_PARAMS_H
#define _IQCN_PARAMS_H

#include <linux/iqcn.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define IQCN_REF_MBPS		25000
#define IQCN_REF_KMIN_BYTES	100000
#define IQCN_KMAX_PER_KMIN	4
#define IQCN_LIMIT_PER_KMIN	160
#define IQCN_QREF_PER_KMIN	3
#define IQCN_PI_KMIN		4
#define IQCN_REF_ALPHA		2000
#define IQCN_REF_BETA		100000
#define IQCN_GAIN_MAX		100000000
/* Kmin is never less than this many of the link's largest packets */
#define IQCN_KMIN_PACKETS	2
/* A link whose speed nobody knows */
#define IQCN_DEFAULT_MBPS	10000

#define IQCN_DEFAULT_PMAX	(U32_MAX / 5)
#define IQCN_DEFAULT_T1_NS	225000
#define IQCN_DEFAULT_WINDOW_NS	1000000
#define IQCN_DEFAULT_ENTER_PCT	90
#define IQCN_DEFAULT_EXIT_PCT	60
/* won against all others (Documentation/methods.rst) */
#define IQCN_DEFAULT_DETECT	(IQCN_DETECT_QUEUE | IQCN_DETECT_DEPTH)
#define IQCN_DEFAULT_TRIGGER	IQCN_TRIGGER_TIMER
#define IQCN_DEFAULT_BASE	IQCN_BASE_CNP
/* the patent's five packets, and its hundred with one difference of 2 */
#define IQCN_DEFAULT_RUN_ENTER	5
#define IQCN_DEFAULT_RUN_EXIT	2
#define IQCN_DEFAULT_SPAN_PACKETS 100
#define IQCN_DEFAULT_SPAN_ENTER	3
#define IQCN_DEFAULT_SPAN_EXIT	10
#define IQCN_DEFAULT_NOTIFY	IQCN_NOTIFY_PI
#define IQCN_DEFAULT_UPDATE_NS	100000
#define IQCN_DEFAULT_MIN_GAP_NS	50000
/* Scans in the time that one may be late by */
#define IQCN_PERIODS_PER_T1	4
#define IQCN_DEFAULT_FLOWS	65536
#define IQCN_DEFAULT_AGE_MS	10000
#define IQCN_DEFAULT_CNP_DSCP	48
#define IQCN_DEFAULT_CNP_PCP	6
#define IQCN_DEFAULT_CNP_TTL	64

/**
 * iqcn_default_kmin() - Kmin for a link
 * @mbps: its speed, 0: unknown
 * @pkt_bytes: its largest packet
 *
 * Return: bytes.
 */
static inline u32 iqcn_default_kmin(u32 mbps, u32 pkt_bytes)
{
	u64 kmin = div_u64((u64)IQCN_REF_KMIN_BYTES *
			   (mbps ?: IQCN_DEFAULT_MBPS), IQCN_REF_MBPS);

	/* no more than lets the limit fit in 32 bits */
	return clamp_t(u64, kmin, IQCN_KMIN_PACKETS * (u64)pkt_bytes,
		       U32_MAX / IQCN_LIMIT_PER_KMIN);
}

/**
 * iqcn_default_gain() - a gain of the controller for a link
 * @ref: the gain at IQCN_REF_MBPS
 * @mbps: its speed, 0: unknown
 *
 * Return: the gain at that speed, 1 .. IQCN_GAIN_MAX.
 */
static inline u32 iqcn_default_gain(u32 ref, u32 mbps)
{
	return clamp_t(u64, div_u64((u64)ref * IQCN_REF_MBPS,
				    mbps ?: IQCN_DEFAULT_MBPS),
		       1, IQCN_GAIN_MAX);
}

#endif /* _IQCN_PARAMS_H */
