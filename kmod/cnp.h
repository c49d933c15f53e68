/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a CNP is generated: a notify method finds a cause, the CNP may be pending
 * for a while (pending.c), the timer or BH work runs (timer.c), and cnp.c
 * checks the gate, builds the CNP and injects it.
 */
#ifndef _IQCN_CNP_H
#define _IQCN_CNP_H

#include "flow.h"
#include "queue.h"
#include "rocev2.h"

/* Description of a CNP to inject */
struct iqcn_notice {
	u8 cause;			/* enum iqcn_cause */
	struct iqcn_flow *flow;		/* BHs are off until the CNP is injected
					 * and counted, so RCU keeps the flow
					 */
	struct iqcn_cnp cnp;		/* IP header and above */
	u8 dst_mac[ETH_ALEN];
	u8 src_mac[ETH_ALEN];
	struct iqcn_vlan vlan[IQCN_VLANS];
};

/* Causes of CNPs that are deferred for T2, so that a CNP of the receiver may
 * cancel them.  All other pending CNPs are caused by a packet.
 */
#define IQCN_CAUSES_DEFERRED	BIT(IQCN_CAUSE_TIMER)

/* Why a CNP is to be sent */
struct iqcn_why {
	enum iqcn_cause cause;
	bool was_ce;	/* packets caused the CNP, and all of them arrived with
			 * CE, or were CE when the queue dropped them
			 */
	bool paid;	/* the budget was charged; the caller refunds it if
			 * the CNP is not sent
			 */
	u16 sport;	/* of the packet that caused the CNP; 0: no packet did,
			 * or cnp-sport is not IQCN_CNP_SPORT_ECHO
			 */
	u32 window_bytes; /* of IQCN_CAUSE_GRANT */
	u64 base_ns;	/* start of T1, 0: not started; for the trace event */
	u64 due_ns;	/* when the CNP should have been sent */
};

/* cnp.c */
bool iqcn_cnp_gate(struct iqcn_queue *q, struct iqcn_flow *flow, bool paid,
		   u64 now_ns);
void iqcn_cnp_refund(struct iqcn_port *port);
bool iqcn_cnp_prepare(struct iqcn_queue *q, struct iqcn_flow *flow,
		      struct iqcn_notice *n, const struct iqcn_why *why,
		      u64 now_ns);
void iqcn_cnp_inject(struct iqcn_queue *q, const struct iqcn_notice *batch,
		     unsigned int n);
bool iqcn_cnp_is_injected(void);
u32 iqcn_cnp_id(const struct iqcn_cnp *cnp);
void iqcn_cnp_module_init(void);

/* pending.c */
bool iqcn_pending_add(struct iqcn_queue *q, struct iqcn_flow *flow, u64 at_ns,
		      enum iqcn_cause cause, bool was_ce);
void iqcn_pending_del(struct iqcn_queue *q, struct iqcn_flow *flow);
bool iqcn_pending_at(struct iqcn_queue *q, struct iqcn_flow *flow, u64 at_ns,
		     enum iqcn_cause cause, bool was_ce,
		     const struct sk_buff *skb);
bool iqcn_pending_now(struct iqcn_queue *q, struct iqcn_flow *flow, u64 now_ns,
		      enum iqcn_cause cause, bool was_ce,
		      const struct sk_buff *skb);
void iqcn_pending_second(struct iqcn_queue *q, struct iqcn_flow *flow,
			 u64 at_ns);
void iqcn_pending_promote(struct iqcn_queue *q, struct iqcn_flow *flow);
bool iqcn_pending_answered(struct iqcn_queue *q, struct iqcn_flow *flow,
			   u64 now_ns);
void iqcn_pending_refund(struct iqcn_queue *q, struct iqcn_flow *flow);
void iqcn_pending_drop(struct iqcn_queue *q, struct iqcn_flow *flow);
void iqcn_pending_cancel(struct iqcn_queue *q, struct iqcn_flow *flow);
void iqcn_pending_cancel_all(struct iqcn_queue *q);
void iqcn_pending_move(struct iqcn_flow *flow, struct iqcn_queue *from,
		       struct iqcn_queue *to);

/* Does the flow have a pending CNP that a packet caused?  queue->lock */
static inline bool iqcn_pending_of_packet(const struct iqcn_flow *flow)
{
	return iqcn_flow_has_pending(flow) &&
	       !(BIT(flow->ext->cnp_cause) & IQCN_CAUSES_DEFERRED);
}

/* The flow of a node of queue->pending */
static inline struct iqcn_flow *iqcn_pending_flow(struct timerqueue_node *node)
{
	return container_of(node, struct iqcn_flow_ext, pending)->flow;
}

#endif /* _IQCN_CNP_H */
