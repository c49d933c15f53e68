/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _IQCN_COMPAT_TRACE_EVENTS_SKB_H
#define _IQCN_COMPAT_TRACE_EVENTS_SKB_H

#include_next <trace/events/skb.h>

#ifndef IQCN_HAVE_KFREE_SKB_CONST_SK
/* one probe a file */
static void (*iqcn_kfree_skb_probe)(void *data, struct sk_buff *skb,
				    void *location, enum skb_drop_reason reason,
				    const struct sock *rx_sk);

#ifdef IQCN_HAVE_KFREE_SKB_RX_SK
static void iqcn_kfree_skb(void *data, struct sk_buff *skb, void *location,
			   enum skb_drop_reason reason, struct sock *rx_sk)
{
	iqcn_kfree_skb_probe(data, skb, location, reason, rx_sk);
}
#else
static void iqcn_kfree_skb(void *data, struct sk_buff *skb, void *location,
			   enum skb_drop_reason reason)
{
	iqcn_kfree_skb_probe(data, skb, location, reason, NULL);
}
#endif

static inline int iqcn_register_kfree_skb(typeof(iqcn_kfree_skb_probe) probe,
					  void *data)
{
	iqcn_kfree_skb_probe = probe;
	return register_trace_kfree_skb(iqcn_kfree_skb, data);
}

static inline int iqcn_unregister_kfree_skb(typeof(iqcn_kfree_skb_probe) probe,
					    void *data)
{
	return unregister_trace_kfree_skb(iqcn_kfree_skb, data);
}

#define register_trace_kfree_skb	iqcn_register_kfree_skb
#define unregister_trace_kfree_skb	iqcn_unregister_kfree_skb
#endif

#endif /* _IQCN_COMPAT_TRACE_EVENTS_SKB_H */
