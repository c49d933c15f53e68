// SPDX-License-Identifier: GPL-2.0
/*
 * Values of a port, for sysfs (one per file) and netlink (all in one message).
 */
#include <linux/iqcn_netlink.h>

#include "iqcn.h"

/* A value of the port itself */
#define IQCN_PORT_VALUE(_name, _expr)					\
	static u64 iqcn_value_##_name(struct iqcn_port *port)		\
	{								\
		return _expr;						\
	}

/* A value that is the sum over the port's queues */
#define IQCN_QUEUE_VALUE(_name, _expr)					\
	static u64 iqcn_value_##_name(struct iqcn_port *port)		\
	{								\
		struct iqcn_queue *q;					\
		u64 sum = 0;						\
									\
		list_for_each_entry_rcu(q, &port->queues, list)		\
			sum += _expr;					\
		return sum;						\
	}

IQCN_PORT_VALUE(queues, READ_ONCE(port->n_queues));
IQCN_QUEUE_VALUE(queues_congested, !!READ_ONCE(q->congested));
IQCN_PORT_VALUE(flows, atomic_read(&port->flows.nelems));
IQCN_PORT_VALUE(flows_unassured, READ_ONCE(port->n_unassured));
IQCN_QUEUE_VALUE(ecn_mark, READ_ONCE(q->st.ecn_mark));
IQCN_QUEUE_VALUE(ce_in, READ_ONCE(q->st.ce_in));
IQCN_QUEUE_VALUE(ce_sent, READ_ONCE(q->st.ce_sampled) + READ_ONCE(q->skipped));
IQCN_QUEUE_VALUE(ce_sampled, READ_ONCE(q->st.ce_sampled));
IQCN_QUEUE_VALUE(cnp_seen, READ_ONCE(q->st.cnp_seen));
IQCN_QUEUE_VALUE(cnp_sent, READ_ONCE(q->st.cnp_sent));
IQCN_QUEUE_VALUE(cnp_deferred, READ_ONCE(q->st.cnp_deferred));
IQCN_QUEUE_VALUE(cnp_canceled, READ_ONCE(q->st.cnp_canceled));
IQCN_QUEUE_VALUE(cnp_budget, READ_ONCE(q->st.cnp_budget));
IQCN_QUEUE_VALUE(cnp_unpaired, READ_ONCE(q->st.cnp_unpaired));
IQCN_PORT_VALUE(cnp_unmatched,
		atomic64_read(&iqcn_port_rx_stats(port)->cnp_unmatched));
IQCN_PORT_VALUE(cnp_rate_pps, READ_ONCE(port->cnp_rate_pps));
IQCN_PORT_VALUE(cnp_burst, READ_ONCE(port->cnp_burst));
IQCN_PORT_VALUE(malformed, atomic64_read(&iqcn_port_rx_stats(port)->malformed));
IQCN_QUEUE_VALUE(pauses, READ_ONCE(q->st.pauses));
IQCN_PORT_VALUE(pfc_ignored, atomic64_read(&port->pfc_ignored));
IQCN_PORT_VALUE(cnp_passed, atomic64_read(&port->cnp_passed));
IQCN_PORT_VALUE(cnp_filtered, atomic64_read(&port->cnp_filtered));
IQCN_PORT_VALUE(filter_n, iqcn_filter_n(port));
IQCN_PORT_VALUE(filter_ns, iqcn_filter_interval_ns(port));

#define IQCN_VALUE(_attr, _name)					\
	[IQCN_A_PORT_##_attr] = { #_name, iqcn_value_##_name }

const struct iqcn_value iqcn_values[IQCN_A_PORT_MAX + 1] = {
	IQCN_VALUE(QUEUES, queues),
	IQCN_VALUE(QUEUES_CONGESTED, queues_congested),
	IQCN_VALUE(FLOWS, flows),
	IQCN_VALUE(FLOWS_UNASSURED, flows_unassured),
	IQCN_VALUE(ECN_MARK, ecn_mark),
	IQCN_VALUE(CE_IN, ce_in),
	IQCN_VALUE(CE_SENT, ce_sent),
	IQCN_VALUE(CE_SAMPLED, ce_sampled),
	IQCN_VALUE(CNP_SEEN, cnp_seen),
	IQCN_VALUE(CNP_SENT, cnp_sent),
	IQCN_VALUE(CNP_DEFERRED, cnp_deferred),
	IQCN_VALUE(CNP_CANCELED, cnp_canceled),
	IQCN_VALUE(CNP_BUDGET, cnp_budget),
	IQCN_VALUE(CNP_UNPAIRED, cnp_unpaired),
	IQCN_VALUE(CNP_UNMATCHED, cnp_unmatched),
	IQCN_VALUE(CNP_RATE_PPS, cnp_rate_pps),
	IQCN_VALUE(CNP_BURST, cnp_burst),
	IQCN_VALUE(MALFORMED, malformed),
	IQCN_VALUE(PAUSES, pauses),
	IQCN_VALUE(PFC_IGNORED, pfc_ignored),
	IQCN_VALUE(CNP_PASSED, cnp_passed),
	IQCN_VALUE(CNP_FILTERED, cnp_filtered),
	IQCN_VALUE(FILTER_N, filter_n),
	IQCN_VALUE(FILTER_NS, filter_ns),
};
