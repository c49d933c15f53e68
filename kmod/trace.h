/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events iqcn:*; Documentation/tracing.rst describes them for users.
 * The fields dev, ifindex, parent and depth_bytes are those of the queue, but
 * dev and ifindex of iqcn_cnp_filtered are those of the port that received the
 * CNP.  src, dst and dest_qp are those of the flow's data packets.  IPv4
 * addresses are v4-mapped.  Times are CLOCK_MONOTONIC.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM iqcn

#if !defined(_IQCN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _IQCN_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>

#include "iqcn.h"

/* User space needs the values to resolve __print_symbolic() */
TRACE_DEFINE_ENUM(IQCN_PAIR_NONE);
TRACE_DEFINE_ENUM(IQCN_PAIR_SPORT);
TRACE_DEFINE_ENUM(IQCN_PAIR_CNP);
TRACE_DEFINE_ENUM(IQCN_PAIR_PSN);
TRACE_DEFINE_ENUM(IQCN_PAIR_CM);
TRACE_DEFINE_ENUM(IQCN_DETECT_QUEUE);
TRACE_DEFINE_ENUM(IQCN_DETECT_DEPTH);
TRACE_DEFINE_ENUM(IQCN_DETECT_RUN);
TRACE_DEFINE_ENUM(IQCN_DETECT_SPAN);
TRACE_DEFINE_ENUM(IQCN_CAUSE_TIMER);
TRACE_DEFINE_ENUM(IQCN_CAUSE_WREB);
TRACE_DEFINE_ENUM(IQCN_CAUSE_PI);
TRACE_DEFINE_ENUM(IQCN_CAUSE_POLL);
TRACE_DEFINE_ENUM(IQCN_CAUSE_DROP);
TRACE_DEFINE_ENUM(IQCN_CAUSE_PFC);
TRACE_DEFINE_ENUM(IQCN_CAUSE_GRANT);
TRACE_DEFINE_ENUM(IQCN_CAUSE_SUPPLEMENT);
TRACE_DEFINE_ENUM(IQCN_REASON_NONE);
TRACE_DEFINE_ENUM(IQCN_REASON_QUEUE);
TRACE_DEFINE_ENUM(IQCN_REASON_DEPTH);
TRACE_DEFINE_ENUM(IQCN_REASON_RUN);
TRACE_DEFINE_ENUM(IQCN_REASON_SPAN);
TRACE_DEFINE_ENUM(IQCN_REASON_QUIET);
TRACE_DEFINE_ENUM(IQCN_REASON_RESET);
TRACE_DEFINE_ENUM(IQCN_PFC_STATE_CLEAR);
TRACE_DEFINE_ENUM(IQCN_PFC_STATE_CONGESTED);
TRACE_DEFINE_ENUM(IQCN_PFC_STATE_UNDETERMINED);
TRACE_DEFINE_ENUM(IQCN_PFC_STATE_PAUSED);
TRACE_DEFINE_ENUM(IQCN_PFC_REASON_PAUSE);
TRACE_DEFINE_ENUM(IQCN_PFC_REASON_CLEAR);
TRACE_DEFINE_ENUM(IQCN_PFC_REASON_RATE);
TRACE_DEFINE_ENUM(IQCN_PFC_REASON_UNSURE);
TRACE_DEFINE_ENUM(IQCN_PFC_REASON_GREW);
TRACE_DEFINE_ENUM(IQCN_PFC_REASON_DRAINED);
TRACE_DEFINE_ENUM(IQCN_PFC_REASON_LIMIT);
TRACE_DEFINE_ENUM(IQCN_PFC_REASON_RESET);

/* dev is a fixed-size array, which bpftrace and event filters handle like a
 * string
 */
#define IQCN_TRACE_QUEUE_FIELDS				\
	__array(char, dev, IFNAMSIZ)			\
	__field(int, ifindex)				\
	__field(__u32, parent)

#define IQCN_TRACE_QUEUE_ASSIGN(netdev, classid)		\
	do {							\
		memcpy(__entry->dev, (netdev)->name, IFNAMSIZ);	\
		__entry->ifindex = (netdev)->ifindex;		\
		__entry->parent = (classid);			\
	} while (0)

/* parent in the format of tc: root is ffff:ffff */
#define IQCN_TRACE_QUEUE_FMT "dev=%s ifindex=%d parent=%x:%x"

#define IQCN_TRACE_QUEUE_ARGS						\
	__entry->dev, __entry->ifindex, __entry->parent >> 16,		\
	__entry->parent & 0xffff

#define IQCN_TRACE_FLOW_FIELDS				\
	IQCN_TRACE_QUEUE_FIELDS				\
	__array(__u8, src, 16)				\
	__array(__u8, dst, 16)				\
	__field(__u32, dest_qp)				\
	__field(__u16, vid)				\
	__field(__u16, inner_vid)

#define IQCN_TRACE_FLOW_ASSIGN(q, flow)					\
	do {								\
		IQCN_TRACE_QUEUE_ASSIGN((q)->port->dev, (q)->parent);	\
		memcpy(__entry->src, &(flow)->hosts->key.src, 16);	\
		memcpy(__entry->dst, &(flow)->hosts->key.dst, 16);	\
		__entry->dest_qp = (flow)->qp;				\
		__entry->vid = (flow)->hosts->key.vid[0];		\
		__entry->inner_vid = (flow)->hosts->key.vid[1];		\
	} while (0)

#define IQCN_TRACE_FLOW_FMT \
	IQCN_TRACE_QUEUE_FMT " src=%pI6c dst=%pI6c dest_qp=%u vid=%u.%u"

#define IQCN_TRACE_FLOW_ARGS						\
	IQCN_TRACE_QUEUE_ARGS,						\
	__entry->src, __entry->dst, __entry->dest_qp,			\
	__entry->vid, __entry->inner_vid

#define iqcn_show_grade(grade)				\
	__print_symbolic(grade,				\
			 { IQCN_PAIR_NONE, "none" },	\
			 { IQCN_PAIR_SPORT, "sport" },	\
			 { IQCN_PAIR_CNP, "cnp" },	\
			 { IQCN_PAIR_PSN, "psn" },	\
			 { IQCN_PAIR_CM, "cm" })

#define iqcn_show_detect(bits)					\
	((bits) ? __print_flags(bits, "|",			\
				{ IQCN_DETECT_QUEUE, "queue" },	\
				{ IQCN_DETECT_DEPTH, "depth" },	\
				{ IQCN_DETECT_RUN, "run" },	\
				{ IQCN_DETECT_SPAN, "span" }) : "none")

#define iqcn_show_cause(cause)				\
	__print_symbolic(cause,				\
			 { IQCN_CAUSE_TIMER, "timer" },	\
			 { IQCN_CAUSE_WREB, "wreb" },	\
			 { IQCN_CAUSE_PI, "pi" },	\
			 { IQCN_CAUSE_POLL, "poll" },	\
			 { IQCN_CAUSE_DROP, "drop" },	\
			 { IQCN_CAUSE_PFC, "pfc" },	\
			 { IQCN_CAUSE_GRANT, "grant" },	\
			 { IQCN_CAUSE_SUPPLEMENT, "supplement" })

#define iqcn_show_reason(reason)			\
	__print_symbolic(reason,			\
			 { IQCN_REASON_NONE, "none" },	\
			 { IQCN_REASON_QUEUE, "queue" },	\
			 { IQCN_REASON_DEPTH, "depth" },	\
			 { IQCN_REASON_RUN, "run" },	\
			 { IQCN_REASON_SPAN, "span" },	\
			 { IQCN_REASON_QUIET, "quiet" },	\
			 { IQCN_REASON_RESET, "reset" })

#define iqcn_show_pfc_state(state)					\
	__print_symbolic(state,						\
			 { IQCN_PFC_STATE_CLEAR, "clear" },		\
			 { IQCN_PFC_STATE_CONGESTED, "congested" },	\
			 { IQCN_PFC_STATE_UNDETERMINED, "undetermined" }, \
			 { IQCN_PFC_STATE_PAUSED, "paused" })

#define iqcn_show_pfc_reason(reason)					\
	__print_symbolic(reason,					\
			 { IQCN_PFC_REASON_PAUSE, "pause" },		\
			 { IQCN_PFC_REASON_CLEAR, "clear" },		\
			 { IQCN_PFC_REASON_RATE, "rate" },		\
			 { IQCN_PFC_REASON_UNSURE, "unsure" },		\
			 { IQCN_PFC_REASON_GREW, "grew" },		\
			 { IQCN_PFC_REASON_DRAINED, "drained" },	\
			 { IQCN_PFC_REASON_LIMIT, "limit" },		\
			 { IQCN_PFC_REASON_RESET, "reset" })

/* The queue marked a packet CE */
TRACE_EVENT(iqcn_mark,
	TP_PROTO(const struct net_device *dev, u32 parent, u32 depth_bytes,
		 u32 len_bytes),
	TP_ARGS(dev, parent, depth_bytes, len_bytes),
	TP_STRUCT__entry(
		IQCN_TRACE_QUEUE_FIELDS
		__field(__u32, depth_bytes)
		__field(__u32, len_bytes)
	),
	TP_fast_assign(
		IQCN_TRACE_QUEUE_ASSIGN(dev, parent);
		__entry->depth_bytes = depth_bytes;
		__entry->len_bytes = len_bytes;
	),
	TP_printk(IQCN_TRACE_QUEUE_FMT " depth_bytes=%u len_bytes=%u",
		  IQCN_TRACE_QUEUE_ARGS, __entry->depth_bytes,
		  __entry->len_bytes)
);

/* A sampled RoCEv2 data packet of a flow left with CE; psn is the PSN of its
 * last segment
 */
TRACE_EVENT(iqcn_ce_sent,
	TP_PROTO(const struct iqcn_queue *q, const struct iqcn_flow *flow),
	TP_ARGS(q, flow),
	TP_STRUCT__entry(
		IQCN_TRACE_FLOW_FIELDS
		__field(__u32, psn)
		__field(__u32, depth_bytes)
	),
	TP_fast_assign(
		IQCN_TRACE_FLOW_ASSIGN(q, flow);
		__entry->psn = READ_ONCE(flow->psn);
		__entry->depth_bytes = iqcn_depth_bytes(q);
	),
	TP_printk(IQCN_TRACE_FLOW_FMT " psn=%u depth_bytes=%u",
		  IQCN_TRACE_FLOW_ARGS, __entry->psn, __entry->depth_bytes)
);

/* A receiver's CNP for a flow arrived, and the filter did not drop it */
TRACE_EVENT(iqcn_cnp_seen,
	TP_PROTO(const struct iqcn_queue *q, const struct iqcn_flow *flow),
	TP_ARGS(q, flow),
	TP_STRUCT__entry(
		IQCN_TRACE_FLOW_FIELDS
		__field(__u32, src_qp)
	),
	TP_fast_assign(
		IQCN_TRACE_FLOW_ASSIGN(q, flow);
		__entry->src_qp = flow->src_qp;
	),
	TP_printk(IQCN_TRACE_FLOW_FMT " src_qp=%u",
		  IQCN_TRACE_FLOW_ARGS, __entry->src_qp)
);

/* The filter dropped a receiver's CNP */
TRACE_EVENT(iqcn_cnp_filtered,
	TP_PROTO(const struct net_device *dev, const struct iqcn_key *key,
		 u32 n, u64 interval_ns),
	TP_ARGS(dev, key, n, interval_ns),
	TP_STRUCT__entry(
		__array(char, dev, IFNAMSIZ)
		__field(int, ifindex)
		__array(__u8, src, 16)
		__array(__u8, dst, 16)
		__field(__u16, vid)
		__field(__u16, inner_vid)
		__field(__u32, qp)
		__field(__u32, n)
		__field(__u64, interval_ns)
	),
	TP_fast_assign(
		memcpy(__entry->dev, dev->name, IFNAMSIZ);
		__entry->ifindex = dev->ifindex;
		memcpy(__entry->src, &key->src, 16);
		memcpy(__entry->dst, &key->dst, 16);
		__entry->vid = key->vid[0];
		__entry->inner_vid = key->vid[1];
		__entry->qp = key->qp;
		__entry->n = n;
		__entry->interval_ns = interval_ns;
	),
	TP_printk("dev=%s ifindex=%d src=%pI6c dst=%pI6c src_qp=%u vid=%u.%u n=%u interval_ns=%llu",
		  __entry->dev, __entry->ifindex, __entry->src, __entry->dst,
		  __entry->qp, __entry->vid, __entry->inner_vid, __entry->n,
		  __entry->interval_ns)
);

/* A generated CNP is about to be injected.  base_ns is the start of T1.  With
 * q->brief it may be old, because packets that iqcn_flow_ce_brief() handles do
 * not start T1.  due_ns is the time at which the CNP was due.  If T1 caused the
 * CNP, due_ns is the end of T1, or the later onset of congestion, or with
 * trigger gap the departure of the next CE packet.  If that CNP was deferred,
 * due_ns is T2 after the box noticed that it was due.  If a packet
 * caused the CNP, due_ns is the time when the packet arrived, left or was
 * dropped, or the end of min-gap.  Otherwise due_ns is the time of the poll
 * or of the supplement.
 */
TRACE_EVENT(iqcn_cnp_sent,
	TP_PROTO(const struct iqcn_queue *q, const struct iqcn_flow *flow,
		 u32 cause, u64 base_ns, u64 due_ns, u64 now_ns),
	TP_ARGS(q, flow, cause, base_ns, due_ns, now_ns),
	TP_STRUCT__entry(
		IQCN_TRACE_FLOW_FIELDS
		__field(__u32, src_qp)
		__field(__u32, cause)
		__field(__u64, base_ns)
		__field(__u64, due_ns)
		__field(__u64, late_ns)
		__field(__u32, depth_bytes)
	),
	TP_fast_assign(
		IQCN_TRACE_FLOW_ASSIGN(q, flow);
		__entry->src_qp = flow->src_qp;
		__entry->cause = cause;
		__entry->base_ns = base_ns;
		__entry->due_ns = due_ns;
		__entry->late_ns = now_ns - due_ns;
		__entry->depth_bytes = iqcn_depth_bytes(q);
	),
	TP_printk(IQCN_TRACE_FLOW_FMT
		  " src_qp=%u cause=%s base_ns=%llu due_ns=%llu late_ns=%llu depth_bytes=%u",
		  IQCN_TRACE_FLOW_ARGS, __entry->src_qp,
		  iqcn_show_cause(__entry->cause), __entry->base_ns,
		  __entry->due_ns, __entry->late_ns, __entry->depth_bytes)
);

/* The pairing of a flow changed */
TRACE_EVENT(iqcn_paired,
	TP_PROTO(const struct iqcn_queue *q, const struct iqcn_flow *flow),
	TP_ARGS(q, flow),
	TP_STRUCT__entry(
		IQCN_TRACE_FLOW_FIELDS
		__field(__u32, src_qp)
		__field(__u32, grade)
	),
	TP_fast_assign(
		IQCN_TRACE_FLOW_ASSIGN(q, flow);
		__entry->src_qp = flow->src_qp;
		__entry->grade = flow->grade;
	),
	TP_printk(IQCN_TRACE_FLOW_FMT " src_qp=%u grade=%s",
		  IQCN_TRACE_FLOW_ARGS, __entry->src_qp,
		  iqcn_show_grade(__entry->grade))
);

/* Congestion of the queue began or ended */
TRACE_EVENT(iqcn_queue_state,
	TP_PROTO(const struct iqcn_queue *q, u64 roce_bps),
	TP_ARGS(q, roce_bps),
	TP_STRUCT__entry(
		IQCN_TRACE_QUEUE_FIELDS
		__field(__u32, congested)
		__field(__u32, reason)
		__field(__u64, ce_rate_bps)
		__field(__u64, roce_bps)
		__field(__u32, depth_bytes)
	),
	TP_fast_assign(
		IQCN_TRACE_QUEUE_ASSIGN(q->port->dev, q->parent);
		__entry->congested = q->congested;
		__entry->reason = q->state_reason;
		__entry->ce_rate_bps = q->ce.rate_bps;
		__entry->roce_bps = roce_bps;
		__entry->depth_bytes = iqcn_depth_bytes(q);
	),
	TP_printk(IQCN_TRACE_QUEUE_FMT
		  " congested=%s reason=%s ce_rate_bps=%llu roce_bps=%llu depth_bytes=%u",
		  IQCN_TRACE_QUEUE_ARGS, iqcn_show_detect(__entry->congested),
		  iqcn_show_reason(__entry->reason), __entry->ce_rate_bps,
		  __entry->roce_bps, __entry->depth_bytes)
);

/* Congestion of a single flow began or ended */
TRACE_EVENT(iqcn_flow_state,
	TP_PROTO(const struct iqcn_queue *q, const struct iqcn_flow *flow),
	TP_ARGS(q, flow),
	TP_STRUCT__entry(
		IQCN_TRACE_FLOW_FIELDS
		__field(__u32, congested)
		__field(__u32, reason)
		__field(__u32, run)
		__field(__u32, psn)
	),
	TP_fast_assign(
		IQCN_TRACE_FLOW_ASSIGN(q, flow);
		__entry->congested = flow->ext->congested;
		__entry->reason = flow->ext->state_reason;
		__entry->run = iqcn_flow_run(flow);
		__entry->psn = READ_ONCE(flow->psn);
	),
	TP_printk(IQCN_TRACE_FLOW_FMT " congested=%s reason=%s run=%u psn=%u",
		  IQCN_TRACE_FLOW_ARGS, iqcn_show_detect(__entry->congested),
		  iqcn_show_reason(__entry->reason), __entry->run,
		  __entry->psn)
);

/* The PFC state of the queue changed: a pause began, the queue was judged,
 * pfc-max expired, or the state was reset
 */
TRACE_EVENT(iqcn_pfc,
	TP_PROTO(const struct iqcn_queue *q, u32 state, u32 reason,
		 u64 rx_bytes, u64 paused_ns),
	TP_ARGS(q, state, reason, rx_bytes, paused_ns),
	TP_STRUCT__entry(
		IQCN_TRACE_QUEUE_FIELDS
		__field(__u32, state)
		__field(__u32, reason)
		__field(__u32, depth_bytes)
		__field(__u64, rx_bytes)
		__field(__u64, paused_ns)
	),
	TP_fast_assign(
		IQCN_TRACE_QUEUE_ASSIGN(q->port->dev, q->parent);
		__entry->state = state;
		__entry->reason = reason;
		__entry->depth_bytes = iqcn_depth_bytes(q);
		__entry->rx_bytes = rx_bytes;
		__entry->paused_ns = paused_ns;
	),
	TP_printk(IQCN_TRACE_QUEUE_FMT
		  " state=%s reason=%s depth_bytes=%u rx_bytes=%llu paused_ns=%llu",
		  IQCN_TRACE_QUEUE_ARGS, iqcn_show_pfc_state(__entry->state),
		  iqcn_show_pfc_reason(__entry->reason), __entry->depth_bytes,
		  __entry->rx_bytes, __entry->paused_ns)
);

#endif /* _IQCN_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
