// SPDX-License-Identifier: GPL-2.0
/*
 * What there is to see besides tc: values of the port in sysfs, its flows in
 * debugfs.
 *
 *   /sys/class/net/DEV/iqcn/VALUE
 *   /sys/kernel/debug/iqcn/NETNS/DEV/queues	NETNS is the inode number of the
 *   /sys/kernel/debug/iqcn/NETNS/DEV/flows	namespace, as "ip netns" and
 *						lsns know it
 *
 * Both are gone, and nobody reads them any more, before the port is.
 */
#include <linux/debugfs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "iqcn.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static struct dentry *iqcn_debugfs;

/* One value of a port.  A reader holds the file, the file holds up
 * iqcn_inspect_del(), that holds up the port.
 */
typedef u64 (*iqcn_value_fn)(struct iqcn_port *port);

struct iqcn_attribute {
	struct device_attribute attr;
	iqcn_value_fn value;
};

static ssize_t iqcn_value_show(struct device *d, struct device_attribute *attr,
			       char *buf)
{
	const struct iqcn_attribute *a = container_of(attr,
						      struct iqcn_attribute,
						      attr);
	struct iqcn_port *port;
	ssize_t len = -ENODEV;

	rcu_read_lock();
	port = iqcn_port_find(to_net_dev(d));
	if (port)
		len = sysfs_emit(buf, "%llu\n", a->value(port));
	rcu_read_unlock();
	return len;
}

#define IQCN_VALUE(_name)						\
	static struct iqcn_attribute iqcn_attr_##_name = {		\
		.attr = __ATTR(_name, 0444, iqcn_value_show, NULL),	\
		.value = iqcn_value_##_name,				\
	}

/* Of the port itself */
#define IQCN_PORT_VALUE(_name, _expr)					\
	static u64 iqcn_value_##_name(struct iqcn_port *port)		\
	{								\
		return _expr;						\
	}								\
	IQCN_VALUE(_name)

/* Summed over its queues */
#define IQCN_QUEUE_VALUE(_name, _expr)					\
	static u64 iqcn_value_##_name(struct iqcn_port *port)		\
	{								\
		struct iqcn_queue *q;					\
		u64 sum = 0;						\
									\
		list_for_each_entry_rcu(q, &port->queues, list)		\
			sum += _expr;					\
		return sum;						\
	}								\
	IQCN_VALUE(_name)

IQCN_PORT_VALUE(queues, READ_ONCE(port->n_queues));
IQCN_PORT_VALUE(flows, atomic_read(&port->flows.nelems));
IQCN_PORT_VALUE(flows_unsettled, READ_ONCE(port->n_unsettled));
IQCN_PORT_VALUE(cnp_rate_pps, READ_ONCE(port->cnp_rate_pps));
IQCN_PORT_VALUE(cnp_burst, READ_ONCE(port->cnp_burst));
IQCN_PORT_VALUE(cnp_unmatched,
		atomic64_read(&iqcn_snoop_seen(port)->cnp_unmatched));
IQCN_PORT_VALUE(malformed, atomic64_read(&iqcn_snoop_seen(port)->malformed));
IQCN_QUEUE_VALUE(queues_congested, !!READ_ONCE(q->congested));
IQCN_QUEUE_VALUE(ecn_mark, READ_ONCE(q->st.ecn_mark));
IQCN_QUEUE_VALUE(ce_in, READ_ONCE(q->st.ce_in));
IQCN_QUEUE_VALUE(ce_sent, READ_ONCE(q->st.ce_sampled) + READ_ONCE(q->skipped));
IQCN_QUEUE_VALUE(ce_sampled, READ_ONCE(q->st.ce_sampled));
IQCN_QUEUE_VALUE(cnp_seen, READ_ONCE(q->st.cnp_seen));
IQCN_QUEUE_VALUE(cnp_sent, READ_ONCE(q->st.cnp_sent));
IQCN_QUEUE_VALUE(cnp_delayed, READ_ONCE(q->st.cnp_delayed));
IQCN_QUEUE_VALUE(cnp_cancelled, READ_ONCE(q->st.cnp_cancelled));
IQCN_QUEUE_VALUE(cnp_budget, READ_ONCE(q->st.cnp_budget));
IQCN_QUEUE_VALUE(cnp_unpaired, READ_ONCE(q->st.cnp_unpaired));

static struct attribute *iqcn_attrs[] = {
	&iqcn_attr_queues.attr.attr,
	&iqcn_attr_queues_congested.attr.attr,
	&iqcn_attr_flows.attr.attr,
	&iqcn_attr_flows_unsettled.attr.attr,
	&iqcn_attr_ecn_mark.attr.attr,
	&iqcn_attr_ce_in.attr.attr,
	&iqcn_attr_ce_sent.attr.attr,
	&iqcn_attr_ce_sampled.attr.attr,
	&iqcn_attr_cnp_seen.attr.attr,
	&iqcn_attr_cnp_sent.attr.attr,
	&iqcn_attr_cnp_delayed.attr.attr,
	&iqcn_attr_cnp_cancelled.attr.attr,
	&iqcn_attr_cnp_budget.attr.attr,
	&iqcn_attr_cnp_unpaired.attr.attr,
	&iqcn_attr_cnp_unmatched.attr.attr,
	&iqcn_attr_cnp_rate_pps.attr.attr,
	&iqcn_attr_cnp_burst.attr.attr,
	&iqcn_attr_malformed.attr.attr,
	NULL
};

static const struct attribute_group iqcn_attr_group = {
	.name = "iqcn",
	.attrs = iqcn_attrs,
};

static const char * const iqcn_grade_names[__IQCN_PAIR_MAX] = {
	[IQCN_PAIR_NONE] = "none",
	[IQCN_PAIR_SPORT] = "sport",
	[IQCN_PAIR_CNP] = "cnp",
	[IQCN_PAIR_PSN] = "psn",
	[IQCN_PAIR_CM] = "cm",
};

/* While the table is resized, the walk says so and begins again: a flow may be
 * shown twice
 */
static void *iqcn_flows_step(struct rhashtable_iter *iter,
			     void *(*step)(struct rhashtable_iter *))
{
	void *v;

	do {
		v = step(iter);
	} while (v == ERR_PTR(-EAGAIN));
	return v;
}

static void *iqcn_flows_start(struct seq_file *s, loff_t *pos)
	__acquires(RCU)
{
	struct rhashtable_iter *iter = s->private;
	struct rhashtable *flows = iter->ht;

	if (!*pos) {
		/* from the beginning, be it again */
		rhashtable_walk_exit(iter);
		rhashtable_walk_enter(flows, iter);
	}
	rhashtable_walk_start(iter);
	if (!*pos)
		return SEQ_START_TOKEN;
	return iqcn_flows_step(iter, rhashtable_walk_peek);
}

static void *iqcn_flows_next(struct seq_file *s, void *v, loff_t *pos)
{
	(*pos)++;
	return iqcn_flows_step(s->private, rhashtable_walk_next);
}

static void iqcn_flows_stop(struct seq_file *s, void *v)
	__releases(RCU)
{
	rhashtable_walk_stop(s->private);
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
	if (then_ns)
		seq_printf(s, "%llu ", div_u64(now_ns - then_ns, NSEC_PER_USEC));
	else
		seq_puts(s, "- ");
}

static void iqcn_show_state(struct seq_file *s, u64 now_ns, u32 reason,
			    u64 then_ns)
{
	seq_printf(s, "%s ", iqcn_reason_names[reason]);
	iqcn_show_age(s, now_ns, then_ns);
}

/* Why and since when it is in the state it is in: by itself, or as the queue */
static void iqcn_show_flow_state(struct seq_file *s, u64 now_ns,
				 const struct iqcn_flow *flow,
				 const struct iqcn_queue *q)
{
	bool own = !q->congested && flow->epoch == q->epoch && flow->state_ns;

	iqcn_show_state(s, now_ns, own ? flow->state_reason : q->state_reason,
			own ? flow->state_ns : q->state_ns);
}

static void iqcn_show_flow(struct seq_file *s, const struct iqcn_flow *flow,
			   struct iqcn_queue *q)
{
	u64 now_ns = ktime_get_ns();

	iqcn_show_addr(s, &flow->key.src);
	iqcn_show_addr(s, &flow->key.dst);
	seq_printf(s, "%u.%u 0x%06x ", flow->key.vid[0], flow->key.vid[1],
		   flow->key.qp);
	if (flow->grade == IQCN_PAIR_NONE)
		seq_puts(s, "- ");
	else
		seq_printf(s, "0x%06x ", flow->src_qp);
	seq_printf(s, "%s %x:%x %s %u ", iqcn_grade_names[flow->grade],
		   q->parent >> 16, q->parent & 0xffff,
		   q->congested || iqcn_flow_own(q, flow) ? "congested" :
							    "clear",
		   refcount_read(&flow->refs) - 1);
	iqcn_show_age(s, now_ns, flow->ce_ns);
	iqcn_show_age(s, now_ns, max(flow->seen_ns, flow->told_ns));
	seq_printf(s, "%u %llu %llu %llu ", flow->psn, flow->ce_sent,
		   flow->cnps_seen, flow->cnps_sent);
	iqcn_show_flow_state(s, now_ns, flow, q);
	seq_printf(s, "%u %u %u\n", flow->continuity.run,
		   flow->answer.smooth_ns / (u32)NSEC_PER_USEC,
		   flow->interval_ns / (u32)NSEC_PER_USEC);
}

static int iqcn_flows_show(struct seq_file *s, void *v)
{
	struct iqcn_flow *flow = v;
	struct iqcn_queue *q;

	if (v == SEQ_START_TOKEN) {
		seq_puts(s, "# src dst vlan dest_qp src_qp pair parent state queued ce_age_us cnp_age_us psn ce_sent cnp_seen cnp_sent reason state_age_us run ce_to_cnp_us cnp_interval_us\n");
		return 0;
	}
	q = READ_ONCE(flow->queue);
	if (!q)
		return 0;
	spin_lock_bh(&q->lock);
	if (flow->queue == q)
		iqcn_show_flow(s, flow, q);
	spin_unlock_bh(&q->lock);
	return 0;
}

static const struct seq_operations iqcn_flows_seq_ops = {
	.start = iqcn_flows_start,
	.next = iqcn_flows_next,
	.stop = iqcn_flows_stop,
	.show = iqcn_flows_show,
};

static int iqcn_flows_open(struct inode *inode, struct file *file)
{
	struct iqcn_port *port = inode->i_private;
	struct rhashtable_iter *iter;

	iter = __seq_open_private(file, &iqcn_flows_seq_ops, sizeof(*iter));
	if (!iter)
		return -ENOMEM;
	/* the walk ends in release, which debugfs does not keep from coming
	 * after the file has been removed
	 */
	iqcn_port_get(port);
	rhashtable_walk_enter(&port->flows, iter);
	return 0;
}

static int iqcn_flows_release(struct inode *inode, struct file *file)
{
	struct seq_file *s = file->private_data;
	struct rhashtable_iter *iter = s->private;
	struct iqcn_port *port = container_of(iter->ht, struct iqcn_port,
					      flows);

	rhashtable_walk_exit(iter);
	iqcn_port_put(port);
	return seq_release_private(inode, file);
}

static const struct file_operations iqcn_flows_fops = {
	.owner = THIS_MODULE,
	.open = iqcn_flows_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = iqcn_flows_release,
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
	seq_printf(s, "%u %llu %llu %u %u %u\n", READ_ONCE(*q->depth_bytes),
		   st.rate_bps, st.roce_bps, st.flows, st.flows_paired,
		   st.flows_congested);
}

static int iqcn_queues_show(struct seq_file *s, void *v)
{
	struct iqcn_port *port = s->private;
	struct iqcn_queue *q;

	seq_puts(s, "# parent state reason state_age_us depth_bytes rate_bps roce_bps flows flows_paired flows_congested\n");
	rcu_read_lock();
	list_for_each_entry_rcu(q, &port->queues, list)
		iqcn_show_queue(s, q);
	rcu_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(iqcn_queues);

static void iqcn_debugfs_add(struct iqcn_port *port)
{
	struct net *net = dev_net(port->dev);
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
 * iqcn_inspect_add() - show a port
 * @port: port, not yet in its namespace's list
 * @extack: for errors
 *
 * Context: RTNL.
 * Return: 0 or a negative error.
 */
int iqcn_inspect_add(struct iqcn_port *port, struct netlink_ext_ack *extack)
{
	int err;

	err = sysfs_create_group(&port->dev->dev.kobj, &iqcn_attr_group);
	if (err) {
		NL_SET_ERR_MSG(extack, "Cannot make iqcn/ in the device's sysfs directory");
		return err;
	}
	iqcn_debugfs_add(port);
	return 0;
}

/**
 * iqcn_inspect_del() - stop showing a port
 * @port: port, no longer in its namespace's list
 *
 * Context: RTNL; waits for readers.
 */
void iqcn_inspect_del(struct iqcn_port *port)
{
	struct iqcn_net *in = iqcn_net(dev_net(port->dev));

	debugfs_remove(port->debugfs);
	if (list_empty(&in->ports)) {
		debugfs_remove(in->debugfs);
		in->debugfs = NULL;
	}
	sysfs_remove_group(&port->dev->dev.kobj, &iqcn_attr_group);
}

/**
 * iqcn_inspect_rename() - the device has a new name
 * @port: port
 *
 * sysfs follows by itself.
 *
 * Context: RTNL; waits for readers.
 */
void iqcn_inspect_rename(struct iqcn_port *port)
{
	debugfs_remove(port->debugfs);
	iqcn_debugfs_add(port);
}

/**
 * iqcn_inspect_module_init() - when the module is loaded
 *
 * Context: process.
 */
void iqcn_inspect_module_init(void)
{
	iqcn_debugfs = debugfs_create_dir("iqcn", NULL);
}

/**
 * iqcn_inspect_module_exit() - when the module is unloaded
 *
 * Context: process; no port is left.
 */
void iqcn_inspect_module_exit(void)
{
	debugfs_remove(iqcn_debugfs);
}
