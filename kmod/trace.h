/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events iqcn:*.  Addresses are those of the flow, that is of its data;
 * IPv4 is v4-mapped.  Times are CLOCK_MONOTONIC.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM iqcn

#if !defined(_IQCN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _IQCN_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>

#include "iqcn.h"

#define IQCN_TRACE_FLOW_FIELDS				\
	__field(int, ifindex)				\
	__array(__u8, src, 16)				\
	__array(__u8, dst, 16)				\
	__field(__u32, dest_qp)				\
	__field(__u16, vid)				\
	__field(__u16, inner_vid)

#define IQCN_TRACE_FLOW_ASSIGN(dev, key)		\
	do {						\
		__entry->ifindex = (dev)->ifindex;	\
		memcpy(__entry->src, &(key)->src, 16);	\
		memcpy(__entry->dst, &(key)->dst, 16);	\
		__entry->dest_qp = (key)->qp;		\
		__entry->vid = (key)->vid[0];		\
		__entry->inner_vid = (key)->vid[1];	\
	} while (0)

#define IQCN_TRACE_FLOW_FMT \
	"ifindex=%d src=%pI6c dst=%pI6c dest_qp=%u vid=%u.%u"

#define IQCN_TRACE_FLOW_ARGS						\
	__entry->ifindex, __entry->src, __entry->dst, __entry->dest_qp,	\
	__entry->vid, __entry->inner_vid

#define iqcn_show_grade(grade)				\
	__print_symbolic(grade,				\
			 { IQCN_PAIR_NONE, "none" },	\
			 { IQCN_PAIR_SPORT, "sport" },	\
			 { IQCN_PAIR_CNP, "cnp" },	\
			 { IQCN_PAIR_PSN, "psn" },	\
			 { IQCN_PAIR_CM, "cm" })

#define iqcn_show_detect(bits)				\
	__print_flags(bits, "|",			\
		      { IQCN_DETECT_QUEUE, "queue" },	\
		      { IQCN_DETECT_DEPTH, "depth" },	\
		      { IQCN_DETECT_RUN, "run" },	\
		      { IQCN_DETECT_SPAN, "span" })

#define iqcn_show_cause(cause)				\
	__print_symbolic(cause,				\
			 { IQCN_CAUSE_TIMER, "timer" },	\
			 { IQCN_CAUSE_WREB, "wreb" },	\
			 { IQCN_CAUSE_PI, "pi" },	\
			 { IQCN_CAUSE_HOLD, "hold" },	\
			 { IQCN_CAUSE_DROP, "drop" })

#define iqcn_show_reason(reason)			\
	__print_symbolic(reason,			\
			 { IQCN_REASON_NONE, "none" },	\
			 { IQCN_REASON_QUEUE, "queue" },	\
			 { IQCN_REASON_DEPTH, "depth" },	\
			 { IQCN_REASON_RUN, "run" },	\
			 { IQCN_REASON_SPAN, "span" },	\
			 { IQCN_REASON_QUIET, "quiet" },	\
			 { IQCN_REASON_RESET, "reset" })

/* A packet was marked CE by the queue */
TRACE_EVENT(iqcn_mark,
	TP_PROTO(const struct net_device *dev, u32 parent, u32 depth_bytes,
		 u32 len),
	TP_ARGS(dev, parent, depth_bytes, len),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(__u32, parent)
		__field(__u32, depth_bytes)
		__field(__u32, len)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->parent = parent;
		__entry->depth_bytes = depth_bytes;
		__entry->len = len;
	),
	TP_printk("ifindex=%d parent=%08x depth_bytes=%u len=%u",
		  __entry->ifindex, __entry->parent, __entry->depth_bytes,
		  __entry->len)
);

/* A RoCEv2 data packet left with CE; psn is that of its last segment */
TRACE_EVENT(iqcn_ce_sent,
	TP_PROTO(const struct net_device *dev, const struct iqcn_key *key,
		 u32 psn, u32 depth_bytes),
	TP_ARGS(dev, key, psn, depth_bytes),
	TP_STRUCT__entry(
		IQCN_TRACE_FLOW_FIELDS
		__field(__u32, psn)
		__field(__u32, depth_bytes)
	),
	TP_fast_assign(
		IQCN_TRACE_FLOW_ASSIGN(dev, key);
		__entry->psn = psn;
		__entry->depth_bytes = depth_bytes;
	),
	TP_printk(IQCN_TRACE_FLOW_FMT " psn=%u depth_bytes=%u",
		  IQCN_TRACE_FLOW_ARGS, __entry->psn, __entry->depth_bytes)
);

/* A receiver's CNP was seen for a flow */
TRACE_EVENT(iqcn_cnp_seen,
	TP_PROTO(const struct net_device *dev, const struct iqcn_key *key,
		 u32 src_qp),
	TP_ARGS(dev, key, src_qp),
	TP_STRUCT__entry(
		IQCN_TRACE_FLOW_FIELDS
		__field(__u32, src_qp)
	),
	TP_fast_assign(
		IQCN_TRACE_FLOW_ASSIGN(dev, key);
		__entry->src_qp = src_qp;
	),
	TP_printk(IQCN_TRACE_FLOW_FMT " src_qp=%u",
		  IQCN_TRACE_FLOW_ARGS, __entry->src_qp)
);

/* A CNP of ours is about to be injected; base is what T1 was counted from, due
 * is after T1, or, if it was held back, after that too
 */
TRACE_EVENT(iqcn_cnp_sent,
	TP_PROTO(const struct net_device *dev, const struct iqcn_key *key,
		 u32 src_qp, u32 cause, u64 base_ns, u64 due_ns, u64 now_ns),
	TP_ARGS(dev, key, src_qp, cause, base_ns, due_ns, now_ns),
	TP_STRUCT__entry(
		IQCN_TRACE_FLOW_FIELDS
		__field(__u32, src_qp)
		__field(__u32, cause)
		__field(__u64, base_ns)
		__field(__u64, due_ns)
		__field(__u64, late_ns)
	),
	TP_fast_assign(
		IQCN_TRACE_FLOW_ASSIGN(dev, key);
		__entry->src_qp = src_qp;
		__entry->cause = cause;
		__entry->base_ns = base_ns;
		__entry->due_ns = due_ns;
		__entry->late_ns = now_ns - due_ns;
	),
	TP_printk(IQCN_TRACE_FLOW_FMT
		  " src_qp=%u cause=%s base_ns=%llu due_ns=%llu late_ns=%llu",
		  IQCN_TRACE_FLOW_ARGS, __entry->src_qp,
		  iqcn_show_cause(__entry->cause), __entry->base_ns,
		  __entry->due_ns, __entry->late_ns)
);

/* A flow's pairing changed */
TRACE_EVENT(iqcn_paired,
	TP_PROTO(const struct net_device *dev, const struct iqcn_key *key,
		 u32 src_qp, u32 grade),
	TP_ARGS(dev, key, src_qp, grade),
	TP_STRUCT__entry(
		IQCN_TRACE_FLOW_FIELDS
		__field(__u32, src_qp)
		__field(__u32, grade)
	),
	TP_fast_assign(
		IQCN_TRACE_FLOW_ASSIGN(dev, key);
		__entry->src_qp = src_qp;
		__entry->grade = grade;
	),
	TP_printk(IQCN_TRACE_FLOW_FMT " src_qp=%u grade=%s",
		  IQCN_TRACE_FLOW_ARGS, __entry->src_qp,
		  iqcn_show_grade(__entry->grade))
);

/* The queue's congestion began or ended */
TRACE_EVENT(iqcn_queue_state,
	TP_PROTO(const struct net_device *dev, u32 parent, u32 congested,
		 u32 reason, u64 rate_bps, u64 roce_bps, u32 depth_bytes),
	TP_ARGS(dev, parent, congested, reason, rate_bps, roce_bps,
		depth_bytes),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(__u32, parent)
		__field(__u32, congested)
		__field(__u32, reason)
		__field(__u64, rate_bps)
		__field(__u64, roce_bps)
		__field(__u32, depth_bytes)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->parent = parent;
		__entry->congested = congested;
		__entry->reason = reason;
		__entry->rate_bps = rate_bps;
		__entry->roce_bps = roce_bps;
		__entry->depth_bytes = depth_bytes;
	),
	TP_printk("ifindex=%d parent=%08x congested=%s reason=%s rate_bps=%llu roce_bps=%llu depth_bytes=%u",
		  __entry->ifindex, __entry->parent,
		  iqcn_show_detect(__entry->congested),
		  iqcn_show_reason(__entry->reason), __entry->rate_bps,
		  __entry->roce_bps, __entry->depth_bytes)
);

/* The congestion of a single flow began or ended */
TRACE_EVENT(iqcn_flow_state,
	TP_PROTO(const struct net_device *dev, const struct iqcn_key *key,
		 u32 congested, u32 reason, u32 run, u32 psn),
	TP_ARGS(dev, key, congested, reason, run, psn),
	TP_STRUCT__entry(
		IQCN_TRACE_FLOW_FIELDS
		__field(__u32, congested)
		__field(__u32, reason)
		__field(__u32, run)
		__field(__u32, psn)
	),
	TP_fast_assign(
		IQCN_TRACE_FLOW_ASSIGN(dev, key);
		__entry->congested = congested;
		__entry->reason = reason;
		__entry->run = run;
		__entry->psn = psn;
	),
	TP_printk(IQCN_TRACE_FLOW_FMT " congested=%s reason=%s run=%u psn=%u",
		  IQCN_TRACE_FLOW_ARGS, iqcn_show_detect(__entry->congested),
		  iqcn_show_reason(__entry->reason), __entry->run,
		  __entry->psn)
);

#endif /* _IQCN_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
