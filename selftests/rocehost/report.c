// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/rocehost: commands, and results as comma-separated text.
 */
#include <linux/capability.h>
#include <linux/iqcn.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>

#include "config.h"

static struct rh_net *rh_seq_net(struct seq_file *m)
{
	return net_generic(seq_file_single_net(m), rh_net_id);
}

/* Show the result of the last command and the list of commands */
static int rh_show_ctl(struct seq_file *m, void *v)
{
	struct rh_net *rn = rh_seq_net(m);
	const struct rh_command *cmd;
	const struct rh_word *word;

	rtnl_lock();
	if (rn->error[0])
		seq_printf(m, "error: %s\n", rn->error);
	else
		seq_puts(m, "ok\n");
	if (rh_world.epoch_ns != RH_NEVER)
		seq_printf(m, "started at %llu ns\n", rh_world.epoch_ns);
	rtnl_unlock();
	seq_puts(m, "\ncommands:\n");
	for (cmd = rh_commands; cmd->name; cmd++) {
		seq_printf(m, "%s %s\n", cmd->name, cmd->what);
		for (word = cmd->words; word && word->name; word++)
			seq_printf(m, "\t%s %s\n", word->name,
				   rh_kinds[word->kind]);
	}
	return 0;
}

static int rh_write_ctl(struct file *file, char *buf, size_t size)
{
	struct seq_file *m = file->private_data;
	struct net *net = seq_file_single_net(m);
	char *line;
	int err;

	if (!file_ns_capable(file, &init_user_ns, CAP_NET_ADMIN))
		return -EPERM;
	/* stop at the first line with an error */
	while ((line = strsep(&buf, "\n"))) {
		err = rh_command(net, line);
		if (err)
			return err;
	}
	return 0;
}

/* Show @header, and what @show prints for each host of the namespace */
static int rh_show(struct seq_file *m, const char *header,
		   void (*show)(struct seq_file *m, struct rh_host *host))
{
	const struct net *net = seq_file_single_net(m);
	struct rh_host *host;

	seq_puts(m, header);
	rtnl_lock();
	list_for_each_entry(host, &rh_world.hosts, list)
		if (net_eq(dev_net(host->dev), net))
			show(m, host);
	rtnl_unlock();
	return 0;
}

/* Show a share, in units of 2^-32, as a decimal fraction with six digits */
static void rh_show_share(struct seq_file *m, u64 share)
{
	seq_printf(m, "%u.%06u", (u32)(share >> 32),
		   (u32)((share & U32_MAX) * 1000000 >> 32));
}

/* Show the value of every word of "host"; times in ns, rates in bit/s, sizes in
 * bytes
 */
static void rh_show_host_settings(struct seq_file *m, struct rh_host *host)
{
	const struct rh_word *word;

	for (word = rh_host_words; word->name; word++) {
		const void *value = (const void *)&host->conf + word->off;

		seq_printf(m, "%s,%s,", host->dev->name, word->name);
		switch (word->kind) {
		case RH_IP:
			seq_printf(m, "%pI6c", value);
			break;
		case RH_MAC:
			seq_printf(m, "%pM", value);
			break;
		case RH_RP:
		case RH_TRANSPORT:
		case RH_LB:
			seq_puts(m, rh_names(word->kind)[*(const u64 *)value]);
			break;
		case RH_SHARE:
			rh_show_share(m, *(const u64 *)value);
			break;
		case RH_TIME_AUTO:
			if (*(const u64 *)value == RAMP_AUTO)
				seq_puts(m, "auto");
			else
				seq_printf(m, "%llu", *(const u64 *)value);
			break;
		default:
			seq_printf(m, "%llu", *(const u64 *)value);
		}
		seq_putc(m, '\n');
	}
}

static int rh_show_settings(struct seq_file *m, void *v)
{
	return rh_show(m, "dev,word,value\n", rh_show_host_settings);
}

/* Count complete messages that the groups had no room to record */
static u64 rh_done_lost(const struct rh_host *host)
{
	const struct rh_flow_group *group;
	u64 n = 0;

	list_for_each_entry(group, &host->groups, list)
		n += group->done_lost;
	return n;
}

static void rh_show_host(struct seq_file *m, struct rh_host *host)
{
	seq_printf(m, "%s,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n", host->dev->name,
		   host->conf.rate_bps, host->malformed, host->stray,
		   host->cnps_limited, rh_done_lost(host), host->cnps_wrong,
		   (u64)atomic64_read(&host->refused));
}

static int rh_show_hosts(struct seq_file *m, void *v)
{
	return rh_show(m, "dev,rate_bps,malformed,stray,cnps_limited,completions_lost,cnps_wrong,refused\n",
		       rh_show_host);
}

static void rh_show_group(struct seq_file *m, struct rh_host *host,
			  const struct rh_flow_group *group)
{
	u32 i;

	for (i = 0; i < group->conf.n; i++) {
		struct rh_flow *f = &group->flows[i];

		/* alpha is updated lazily */
		spin_lock_bh(&host->lock);
		rp_alpha_catch_up(&f->rp, &host->conf.rp, ktime_get_ns());
		seq_printf(m, "%s,%s,%u,%u,%d,%llu,",
			   host->dev->name, group->conf.name, f->qpn,
			   f->dest_qpn, group->conf.size == RH_ENDLESS,
			   f->rp.rc_bps);
		rh_show_share(m, f->rp.alpha);
		seq_printf(m, ",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n",
			   f->done_msgs, f->st.packets,
			   f->st.resent, f->st.naks, f->st.timeouts,
			   f->st.cnps_np, f->st.cnps_cp, f->st.cuts,
			   f->st.raised, f->st.raised_above_kmax,
			   f->win.granted_bytes, f->st.grants, f->st.exceeded,
			   f->st.doubled, f->st.gated, f->st.rtws, f->st.rtss);
		spin_unlock_bh(&host->lock);
	}
}

static void rh_show_host_flows(struct seq_file *m, struct rh_host *host)
{
	const struct rh_flow_group *group;

	list_for_each_entry(group, &host->groups, list)
		rh_show_group(m, host, group);
}

static int rh_show_flows(struct seq_file *m, void *v)
{
	return rh_show(m, "dev,name,qpn,dest_qpn,endless,rate_bps,alpha,messages,packets,resent,naks,timeouts,cnps_np,cnps_cp,cuts,raised,raised_above_kmax,granted_bytes,grants,exceeded,doubled,gated,rtws,rtss\n",
		       rh_show_host_flows);
}

/* Show the last telemetry of a flow, if it has received any */
static void rh_show_flow_telemetry(struct seq_file *m, struct rh_host *host,
				   const struct rh_flow *f)
{
	static const char * const causes[__IQCN_CAUSE_MAX] = {
		[IQCN_CAUSE_NONE] = "none",
		[IQCN_CAUSE_TIMER] = "timer",
		[IQCN_CAUSE_WREB] = "wreb",
		[IQCN_CAUSE_PI] = "pi",
		[IQCN_CAUSE_POLL] = "poll",
		[IQCN_CAUSE_DROP] = "drop",
		[IQCN_CAUSE_PFC] = "pfc",
		[IQCN_CAUSE_GRANT] = "grant",
		[IQCN_CAUSE_SUPPLEMENT] = "supplement",
	};
	struct telemetry tm;
	u64 cnps;
	u32 ppm;

	spin_lock_bh(&host->lock);
	cnps = f->st.cnps_telemetry;
	tm = f->last_telemetry;
	spin_unlock_bh(&host->lock);
	if (!cnps)
		return;
	seq_printf(m, "%s,%s,%u,%llu,%d,", host->dev->name, f->group->conf.name,
		   f->qpn, cnps, tm.was_ce);
	if (tm.cause < ARRAY_SIZE(causes) && causes[tm.cause])
		seq_puts(m, causes[tm.cause]);
	else
		seq_printf(m, "%u", tm.cause);
	ppm = telemetry_depth_ppm(&tm);
	seq_printf(m, ",%u.%06u,%u,%u,%d,%u,%u,%d\n", ppm / 1000000,
		   ppm % 1000000, tm.flows, tm.port_bytes, tm.gradient,
		   tm.tx_bytes, tm.time_us, tm.brief);
}

static void rh_show_host_telemetry(struct seq_file *m, struct rh_host *host)
{
	const struct rh_flow_group *group;
	u32 i;

	list_for_each_entry(group, &host->groups, list)
		for (i = 0; i < group->conf.n; i++)
			rh_show_flow_telemetry(m, host, &group->flows[i]);
}

static int rh_show_telemetry(struct seq_file *m, void *v)
{
	return rh_show(m, "dev,name,qpn,cnps,was_ce,cause,depth_share,flows,port_bytes,gradient_bytes_per_us,tx_bytes,time_us,brief\n",
		       rh_show_host_telemetry);
}

static void rh_show_host_sinks(struct seq_file *m, struct rh_host *host)
{
	const struct rh_sink_group *group;
	u32 i;

	list_for_each_entry(group, &host->sink_groups, list)
		for (i = 0; i < group->n; i++) {
			const struct rh_sink *s = &group->sinks[i];

			seq_printf(m, "%s,%s,%u,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n",
				   host->dev->name, group->name, s->qpn,
				   s->st.packets, s->st.ce, s->st.out_of_order,
				   s->st.bytes, s->st.cnps, s->st.unmatched,
				   s->st.rtws, s->st.rtss, s->st.rnrs);
		}
}

static int rh_show_sinks(struct seq_file *m, void *v)
{
	return rh_show(m, "dev,name,qpn,packets,ce,out_of_order,bytes,cnps,unmatched,rtws_sent,rtss_sent,rnrs_sent\n",
		       rh_show_host_sinks);
}

static void rh_show_host_done(struct seq_file *m, struct rh_host *host)
{
	const struct rh_flow_group *group;
	u32 i;

	list_for_each_entry(group, &host->groups, list)
		/* only complete entries: pairs with rh_flow_done() */
		for (i = 0; i < smp_load_acquire(&group->n_done); i++)
			seq_printf(m, "%s,%s,%u,%llu,%llu\n", host->dev->name,
				   group->conf.name, group->done[i].qpn,
				   group->done[i].arrived_ns - rh_world.epoch_ns,
				   group->done[i].took_ns);
}

static int rh_show_done(struct seq_file *m, void *v)
{
	return rh_show(m, "dev,name,qpn,arrived_ns,took_ns\n", rh_show_host_done);
}

static void rh_show_flow_trace(struct seq_file *m, struct rh_host *host,
			       const struct rh_flow *f)
{
	static const char * const kinds[RH_TRACE_KINDS] = {
		[RH_TRACE_START] = "start",
		[RH_TRACE_CNP_NP] = "cnp_np",
		[RH_TRACE_CNP_CP] = "cnp_cp",
		[RH_TRACE_CUT] = "cut",
		[RH_TRACE_RAISED] = "raised",
		[RH_TRACE_NAK] = "nak",
		[RH_TRACE_TIMEOUT] = "timeout",
		[RH_TRACE_DONE] = "done",
		[RH_TRACE_WAIT] = "wait",
		[RH_TRACE_GO] = "go",
	};
	const struct rh_flow_group *group = f->group;
	u32 size = group->conf.trace, n, i;

	spin_lock_bh(&host->lock);
	n = f->n_trace;
	for (i = n > size ? n - size : 0; i < n; i++) {
		const struct rh_trace *t;

		t = &group->traces[(f - group->flows) * (u64)size + i % size];
		seq_printf(m, "%s,%s,%u,%llu,%s,%llu,",
			   host->dev->name, group->conf.name, f->qpn,
			   t->at_ns - rh_world.epoch_ns, kinds[t->kind],
			   t->rate_bps);
		rh_show_share(m, (u64)t->alpha << 12);
		seq_printf(m, ",%u\n", t->depth_bytes);
	}
	spin_unlock_bh(&host->lock);
}

static void rh_show_host_trace(struct seq_file *m, struct rh_host *host)
{
	const struct rh_flow_group *group;
	u32 i;

	list_for_each_entry(group, &host->groups, list)
		for (i = 0; group->traces && i < group->conf.n; i++)
			rh_show_flow_trace(m, host, &group->flows[i]);
}

static int rh_show_trace(struct seq_file *m, void *v)
{
	return rh_show(m, "dev,name,qpn,at_ns,event,rate_bps,alpha,depth_bytes\n",
		       rh_show_host_trace);
}

static int rh_show_samples(struct seq_file *m, void *v)
{
	const struct net *net = seq_file_single_net(m);
	struct rh_probe *probe;
	u32 n, i;

	seq_puts(m, "dev,at_ns,depth_bytes,sent_bytes,drops,cnps_np,cnps_cp,paused_ns\n");
	rtnl_lock();
	list_for_each_entry(probe, &rh_world.probes, list) {
		if (probe->net != net)
			continue;
		/* only complete entries: pairs with rh_probe_tick() */
		n = smp_load_acquire(&probe->n);
		for (i = 0; i < n; i++) {
			const struct rh_sample *s = &probe->samples[i];

			seq_printf(m, "%s,%llu,%u,%llu,%llu,%llu,%llu,%llu\n",
				   probe->name, s->at_ns, s->depth_bytes,
				   s->sent_bytes, s->drops, s->cnps_np,
				   s->cnps_cp, s->paused_ns);
		}
	}
	rtnl_unlock();
	return 0;
}

static int rh_show_blast(struct seq_file *m, void *v)
{
	const struct rh_blast *b;
	int i;

	seq_puts(m, "dev,queue,flows,mtu,ect,depth,packets,refused,ns,ns_per_packet\n");
	rtnl_lock();
	for (i = 0; i < RH_BLAST_QUEUES; i++) {
		b = &rh_seq_net(m)->blast[i];
		if (!b->packets)
			continue;
		seq_printf(m, "%s,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu.%llu\n",
			   b->dev, b->conf.queue, b->conf.n, b->conf.mtu,
			   b->conf.ect, b->conf.depth, b->packets, b->refused,
			   b->ns, div64_u64(b->ns, b->packets),
			   div64_u64(b->ns * 10, b->packets) % 10);
	}
	rtnl_unlock();
	return 0;
}

static int rh_show_flood(struct seq_file *m, void *v)
{
	const struct rh_flood *f = &rh_seq_net(m)->flood;

	seq_puts(m, "dev,rate_pps,packets,refused,late\n");
	rtnl_lock();
	if (f->packets)
		seq_printf(m, "%s,%llu,%llu,%llu,%llu\n", f->dev,
			   f->conf.rate_pps, f->packets, f->refused, f->late);
	rtnl_unlock();
	return 0;
}

/* Call @show for each end of a wire in the namespace */
static int rh_show_ends(struct seq_file *m, const char *columns,
			void (*show)(struct seq_file *m, struct wire_end *end,
				     const struct wire_stats *run))
{
	const struct net *net = seq_file_single_net(m);
	struct wire_stats run;
	struct wire_end *end;
	struct wire *wire;
	int i;

	seq_puts(m, columns);
	rtnl_lock();
	list_for_each_entry(wire, &wire_list, list) {
		for (i = 0; i < 2; i++) {
			end = &wire->ends[i];
			if (!net_eq(dev_net(end->dev), net))
				continue;
			wire_snapshot(end, &end->run, &run);
			show(m, end, &run);
		}
	}
	rtnl_unlock();
	return 0;
}

static void rh_show_end(struct seq_file *m, struct wire_end *end,
			const struct wire_stats *run)
{
	u64 lost_ns = 0;

	/* lost_ps is 0 if no frame was lost.  It may also be 0 after a loss: a
	 * loss is counted when it is noticed, but lost_ps is set only if the
	 * frame's own time is within the counted interval.
	 */
	if (run->lost_ps)
		lost_ns = div_u64(run->lost_ps, LINE_PS_PER_NS) -
			  rh_world.epoch_ns;
	seq_printf(m, "%s,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n",
		   end->dev->name, end->line.rate_bps, end->wire->conf.delay_ns,
		   run->tx_packets, run->tx_bytes,
		   div_u64(run->busy_ps, LINE_PS_PER_NS), run->lost, lost_ns);
}

static int rh_show_wires(struct seq_file *m, void *v)
{
	return rh_show_ends(m, "dev,rate_bps,delay_ns,packets,bytes,busy_ns,lost,last_lost_ns\n",
			    rh_show_end);
}

static void rh_show_end_pfc(struct seq_file *m, struct wire_end *end,
			    const struct wire_stats *run)
{
	int prio;

	for (prio = 0; prio < PFC_PRIOS; prio++) {
		const struct wire_prio_stats *p = &run->prio[prio];

		if (end->wire->conf.pfc & BIT(prio))
			seq_printf(m, "%s,%d,%llu,%llu,%llu,%llu\n",
				   end->dev->name, prio, p->rx_pause,
				   p->tx_pause,
				   div_u64(p->paused_ps, LINE_PS_PER_NS),
				   p->overflow);
	}
}

static int rh_show_pfc(struct seq_file *m, void *v)
{
	return rh_show_ends(m, "dev,prio,rx_pause,tx_pause,paused_ns,overflow\n",
			    rh_show_end_pfc);
}

/**
 * rh_report_init() - create the files of a namespace
 * @net: the namespace
 *
 * Return: 0, -ENOMEM.
 */
int rh_report_init(struct net *net)
{
	static const struct {
		const char *name;
		int (*show)(struct seq_file *m, void *v);
	} files[] = {
		{ "settings", rh_show_settings },
		{ "hosts", rh_show_hosts },
		{ "flows", rh_show_flows },
		{ "telemetry", rh_show_telemetry },
		{ "sinks", rh_show_sinks },
		{ "completions", rh_show_done },
		{ "trace", rh_show_trace },
		{ "samples", rh_show_samples },
		{ "wires", rh_show_wires },
		{ "pfc", rh_show_pfc },
		{ "blast", rh_show_blast },
		{ "flood", rh_show_flood },
	};
	struct rh_net *rn = net_generic(net, rh_net_id);
	int i;

	rn->proc = proc_net_mkdir(net, "rocehost", net->proc_net);
	if (!rn->proc)
		return -ENOMEM;
	if (!proc_create_net_single_write("ctl", 0600, rn->proc, rh_show_ctl,
					  rh_write_ctl, NULL))
		goto err;
	for (i = 0; i < ARRAY_SIZE(files); i++)
		if (!proc_create_net_single(files[i].name, 0400, rn->proc,
					    files[i].show, NULL))
			goto err;
	return 0;
err:
	rh_report_exit(net);
	return -ENOMEM;
}

/**
 * rh_report_exit() - remove the files of a namespace
 * @net: the namespace
 */
void rh_report_exit(struct net *net)
{
	struct rh_net *rn = net_generic(net, rh_net_id);

	proc_remove(rn->proc);
}
