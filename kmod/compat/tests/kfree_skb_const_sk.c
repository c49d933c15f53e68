// SPDX-License-Identifier: GPL-2.0
/* The receiving socket of the tracepoint kfree_skb is const in 7.2 */
#include <linux/skbuff.h>
#include <trace/events/skb.h>

#pragma GCC diagnostic error "-Wincompatible-pointer-types"

int iqcn_test(void);

static void iqcn_probe(void *data, struct sk_buff *skb, void *location,
		       enum skb_drop_reason reason, const struct sock *rx_sk)
{
}

int iqcn_test(void)
{
	return register_trace_kfree_skb(iqcn_probe, NULL);
}
