/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events rocehost:*.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rocehost

#if !defined(_ROCEHOST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _ROCEHOST_TRACE_H

#include <linux/iqcn.h>
#include <linux/netdevice.h>
#include <linux/tracepoint.h>

#include "telemetry.h"

/* Export the values of the enumerators that the print format uses */
TRACE_DEFINE_ENUM(IQCN_CAUSE_NONE);
TRACE_DEFINE_ENUM(IQCN_CAUSE_TIMER);
TRACE_DEFINE_ENUM(IQCN_CAUSE_WREB);
TRACE_DEFINE_ENUM(IQCN_CAUSE_PI);
TRACE_DEFINE_ENUM(IQCN_CAUSE_POLL);
TRACE_DEFINE_ENUM(IQCN_CAUSE_DROP);
TRACE_DEFINE_ENUM(IQCN_CAUSE_PFC);
TRACE_DEFINE_ENUM(IQCN_CAUSE_GRANT);
TRACE_DEFINE_ENUM(IQCN_CAUSE_SUPPLEMENT);

#define rh_show_cause(cause)				\
	__print_symbolic(cause,				\
			 { IQCN_CAUSE_NONE, "none" },	\
			 { IQCN_CAUSE_TIMER, "timer" },	\
			 { IQCN_CAUSE_WREB, "wreb" },	\
			 { IQCN_CAUSE_PI, "pi" },	\
			 { IQCN_CAUSE_POLL, "poll" },	\
			 { IQCN_CAUSE_DROP, "drop" },	\
			 { IQCN_CAUSE_PFC, "pfc" },	\
			 { IQCN_CAUSE_GRANT, "grant" },	\
			 { IQCN_CAUSE_SUPPLEMENT, "supplement" })

/* A flow received a CNP with telemetry.  The device is recorded by name because
 * ifindexes of different namespaces collide.
 */
TRACE_EVENT(rh_telemetry,
	TP_PROTO(const struct net_device *dev, u32 qpn,
		 const struct telemetry *tm),
	TP_ARGS(dev, qpn, tm),
	TP_STRUCT__entry(
		__array(char, dev, IFNAMSIZ)
		__field(__u32, qpn)
		__field(__u8, was_ce)
		__field(__u8, cause)
		__field(__u16, flows)
		__field(__u32, depth_ppm)
		__field(__u32, port_bytes)
		__field(__s32, gradient)
		__field(__u32, tx_bytes)
		__field(__u32, time_us)
		__field(__u8, brief)
	),
	TP_fast_assign(
		memcpy(__entry->dev, dev->name, IFNAMSIZ);
		__entry->qpn = qpn;
		__entry->was_ce = tm->was_ce;
		__entry->cause = tm->cause;
		__entry->flows = tm->flows;
		__entry->depth_ppm = telemetry_depth_ppm(tm);
		__entry->port_bytes = tm->port_bytes;
		__entry->gradient = tm->gradient;
		__entry->tx_bytes = tm->tx_bytes;
		__entry->time_us = tm->time_us;
		__entry->brief = tm->brief;
	),
	TP_printk("dev=%s qpn=%u was_ce=%u cause=%s depth_share=%u.%06u flows=%u port_bytes=%u gradient_bytes_per_us=%d tx_bytes=%u time_us=%u brief=%u",
		  __entry->dev, __entry->qpn, __entry->was_ce,
		  rh_show_cause(__entry->cause), __entry->depth_ppm / 1000000,
		  __entry->depth_ppm % 1000000, __entry->flows,
		  __entry->port_bytes, __entry->gradient, __entry->tx_bytes,
		  __entry->time_us, __entry->brief)
);

#endif /* _ROCEHOST_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
