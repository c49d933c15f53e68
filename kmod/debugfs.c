// SPDX-License-Identifier: GPL-2.0
/*
 * Queues and flows in debugfs:
 *
 *   /sys/kernel/debug/iqcn/NETNS/DEV/queues
 *   /sys/kernel/debug/iqcn/NETNS/DEV/flows
 *
 * NETNS is the inode number of the namespace, as lsns prints it.  A port is
 * freed after its files are removed, and the removal waits for readers.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "iqcn.h"

static struct dentry *iqcn_debugfs;

static const char * const iqcn_grade_names[__IQCN_PAIR_MAX] = {
	[IQCN_PAIR_NONE] = "none",
	[IQCN_PAIR_SPORT] = "sport",
	[IQCN_PAIR_CNP] = "cnp",
	[IQCN_PAIR_PSN] = "psn",
	[IQCN_PAIR_CM] = "cm",
};

/* Flows are shown in the order of their ids, which are positions in the file.
 * Flows created after the read began are skipped, because such a flow may have
 * been shown before: with another id, before it was removed and recreated.
 */
struct iqcn_flows_iter {
	struct iqcn_port *port;
	u64 born_ns;	/* creation of the newest flow that is shown */
	u32 steps;	/* since the last cond_resched() */
};

#define IQCN_FLOWS_STEPS	256	/* between two calls of cond_resched() */

static struct iqcn_flow *iqcn_flows_at(const struct iqcn_flows_iter *iter,
				       loff_t *pos)
{
	struct iqcn_flow *flow;
	unsigned long id = *pos;

	flow = xa_find(&iter->port->by_id, &id, U32_MAX, XA_PRESENT);
	if (flow)
		*pos = id;
	return flow;
}

static void *iqcn_flows_start(struct seq_file *s, loff_t *pos)
	__acquires(RCU)
{
	struct iqcn_flows_iter *iter = s->private;

	if (!*pos)
		iter->born_ns = iqcn_flow_youngest(iter->port);
	rcu_read_lock();
	return *pos ? iqcn_flows_at(iter, pos) : SEQ_START_TOKEN;
}

static void *iqcn_flows_next(struct seq_file *s, void *v, loff_t *pos)
{
	struct iqcn_flows_iter *iter = s->private;

	++*pos;
	/* while ->show prints nothing, seq_file calls ->next without ->stop */
	if (++iter->steps == IQCN_FLOWS_STEPS) {
		iter->steps = 0;
		rcu_read_unlock();
		cond_resched();
		rcu_read_lock();
	}
	return iqcn_flows_at(iter, pos);
}

static void iqcn_flows_stop(struct seq_file *s, void *v)
	__releases(RCU)
{
	rcu_read_unlock();
}

static void iqcn_show_addr(struct seq_file *s, const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		seq_printf(s, "%pI4 ", &addr->s6_addr32[3]);
	else
		seq_printf(s, "%pI6c ", addr);
}

static const char * const iqcn_reason_names[__IQCN_REASON_MAX] = {
	[IQCN_REASON_NONE] = "none",
	[IQCN_REASON_QUEUE] = "queue",
	[IQCN_REASON_DEPTH] = "depth",
	[IQCN_REASON_RUN] = "run",
	[IQCN_REASON_SPAN] = "span",
	[IQCN_REASON_QUIET] = "quiet",
	[IQCN_REASON_RESET] = "reset",
};

static void iqcn_show_age(struct seq_file *s, u64 now_ns, u64 then_ns)
{
	if (!then_ns) {
		seq_puts(s, "- ");
		return;
	}
	/* ->ce_ns is updated without queue->lock, so it may be later than
	 * now_ns
	 */
	then_ns = min(now_ns, then_ns);
	seq_printf(s, "%llu ", div_u64(now_ns - then_ns, NSEC_PER_USEC));
}

static void iqcn_show_state(struct seq_file *s, u64 now_ns, u32 reason,
			    u64 then_ns)
{
	seq_printf(s, "%s ", iqcn_reason_names[reason]);
	iqcn_show_age(s, now_ns, then_ns);
}

static int iqcn_show_flow(struct iqcn_queue *q, struct iqcn_flow *flow,
			  void *arg)
{
	const struct iqcn_key *key = &flow->hosts->key;
	u64 now_ns = ktime_get_ns();
	struct seq_file *s = arg;
	u32 bits, reason;
	u64 state_ns;

	state_ns = iqcn_congestion_of_flow(q, flow, &bits, &reason);

	iqcn_show_addr(s, &key->src);
	iqcn_show_addr(s, &key->dst);
	seq_printf(s, "%u.%u 0x%06x ", key->vid[0], key->vid[1], flow->qp);
	if (flow->grade == IQCN_PAIR_NONE)
		seq_puts(s, "- ");
	else
		seq_printf(s, "0x%06x ", flow->src_qp);
	seq_printf(s, "%s %x:%x %s %u ", iqcn_grade_names[flow->grade],
		   q->parent >> 16, q->parent & 0xffff,
		   bits ? "congested" : "clear",
		   iqcn_flow_queued(flow));
	iqcn_show_age(s, now_ns, READ_ONCE(flow->ce_ns));
	iqcn_show_age(s, now_ns, max(flow->cnp_rx_ns, flow->cnp_tx_ns));
	seq_printf(s, "%u %llu %llu %llu ", READ_ONCE(flow->psn),
		   READ_ONCE(flow->ce_sent), flow->cnps_seen, flow->cnps_sent);
	iqcn_show_state(s, now_ns, reason, state_ns);
	seq_printf(s, "%u %u %u\n", iqcn_flow_run(flow),
		   flow->cnp_srtt.smooth_ns / (u32)NSEC_PER_USEC,
		   flow->cnp_srtt.interval_ns / (u32)NSEC_PER_USEC);
	return 0;
}

static int iqcn_flows_show(struct seq_file *s, void *v)
{
	const struct iqcn_flows_iter *iter = s->private;
	struct iqcn_flow *flow = v;

	if (v == SEQ_START_TOKEN) {
		seq_puts(s, "# src dst vlan dest_qp src_qp pair parent state queued ce_age_us cnp_age_us psn ce_sent cnp_seen cnp_sent reason state_age_us run ce_to_cnp_us cnp_interval_us\n");
		return 0;
	}
	if (flow->born_ns > iter->born_ns)
		return 0;
	return iqcn_flow_read(flow, iqcn_show_flow, s);
}

static const struct seq_operations iqcn_flows_seq_ops = {
	.start = iqcn_flows_start,
	.next = iqcn_flows_next,
	.stop = iqcn_flows_stop,
	.show = iqcn_flows_show,
};

static int iqcn_flows_open(struct inode *inode, struct file *file)
{
	struct iqcn_flows_iter *iter;

	iter = __seq_open_private(file, &iqcn_flows_seq_ops, sizeof(*iter));
	if (!iter)
		return -ENOMEM;
	iter->port = inode->i_private;
	return 0;
}

static const struct file_operations iqcn_flows_fops = {
	.owner = THIS_MODULE,
	.open = iqcn_flows_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release_private,
};

static void iqcn_show_queue(struct seq_file *s, struct iqcn_queue *q)
{
	struct tc_iqcn_xstats st;
	u64 now_ns;

	iqcn_queue_stats(q, &st);
	now_ns = ktime_get_ns();
	seq_printf(s, "%x:%x %s ", q->parent >> 16, q->parent & 0xffff,
		   st.congested ? "congested" : "clear");
	iqcn_show_state(s, now_ns, st.state_reason,
			st.state_since_ns ? now_ns - st.state_since_ns : 0);
	seq_printf(s, "%u %llu %llu %u %u %u\n", iqcn_depth_bytes(q),
		   st.ce_rate_bps, st.roce_bps, st.flows, st.flows_paired,
		   st.flows_congested);
}

static int iqcn_queues_show(struct seq_file *s, void *v)
{
	struct iqcn_port *port = s->private;
	struct iqcn_queue *q;

	seq_puts(s, "# parent state reason state_age_us depth_bytes ce_rate_bps roce_bps flows flows_paired flows_congested\n");
	rcu_read_lock();
	list_for_each_entry_rcu(q, &port->queues, list)
		iqcn_show_queue(s, q);
	rcu_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(iqcn_queues);

/**
 * iqcn_debugfs_add() - create the files of a port
 * @port: port without files
 *
 * Context: RTNL.
 */
void iqcn_debugfs_add(struct iqcn_port *port)
{
	struct net *net = port->net;
	struct iqcn_net *in = iqcn_net(net);
	char name[16];

	if (!in->debugfs) {
		snprintf(name, sizeof(name), "%u", net->ns.inum);
		in->debugfs = debugfs_create_dir(name, iqcn_debugfs);
	}
	port->debugfs = debugfs_create_dir(port->dev->name, in->debugfs);
	debugfs_create_file("queues", 0400, port->debugfs, port,
			    &iqcn_queues_fops);
	debugfs_create_file("flows", 0400, port->debugfs, port,
			    &iqcn_flows_fops);
}

/**
 * iqcn_debugfs_del() - remove the files of a port
 * @port: port, not in its namespace's list
 *
 * Context: RTNL; waits for readers.
 */
void iqcn_debugfs_del(struct iqcn_port *port)
{
	struct iqcn_net *in = iqcn_net(port->net);

	debugfs_remove(port->debugfs);
	if (list_empty(&in->ports)) {
		debugfs_remove(in->debugfs);
		in->debugfs = NULL;
	}
}

/**
 * iqcn_debugfs_rename() - recreate the files of a port whose device was renamed
 * @port: port
 *
 * Context: RTNL; waits for readers.
 */
void iqcn_debugfs_rename(struct iqcn_port *port)
{
	debugfs_remove(port->debugfs);
	iqcn_debugfs_add(port);
}

/**
 * iqcn_debugfs_module_init() - create the root directory
 *
 * Context: process.
 */
void iqcn_debugfs_module_init(void)
{
	iqcn_debugfs = debugfs_create_dir("iqcn", NULL);
}

/**
 * iqcn_debugfs_module_exit() - remove the root directory
 *
 * Context: process; no port is left.
 */
void iqcn_debugfs_module_exit(void)
{
	debugfs_remove(iqcn_debugfs);
}
