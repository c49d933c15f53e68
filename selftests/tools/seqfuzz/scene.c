// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes: operations that reach a certain state only in this sequence.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_link.h>
#include <linux/iqcn.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>
#include <netlink/netlink.h>
#include <string.h>

#include "seqfuzz.h"

/* Build a backlog in iqcn below a classful qdisc */
int op_scene_tree(struct place *p)
{
	const struct device *d = any_device();
	int index, err;

	if (d->type)
		add_link(p, d);
	index = index_of(p, d->name);
	set_up(p, index, true);
	err = add_full_tree(p, index);
	send_any(p, index, DATA, 16);
	return err;
}

/* Sample packets while a filter on an nlmon device mirrors the samples, which
 * are netlink messages, back into the sampled device
 */
int op_scene_tap(struct place *p)
{
	static const uint32_t sampled[] = {
		TCA_IQCN_KMIN_BYTES, 0, TCA_IQCN_KMAX_BYTES, 0,
		TCA_IQCN_SAMPLE, 1, TCA_IQCN_SAMPLE_GROUP, 7, 0,
	};
	const struct device *d = &devices[focus() % 5];
	struct nl_sock *listener = NULL;
	int index, tap, err;

	add_link(p, d);
	add_link(p, &(struct device){ "nl0", "nlmon" });
	index = index_of(p, d->name);
	tap = index_of(p, "nl0");
	set_up(p, index, true);
	set_up(p, tap, true);
	add_mirred(p, tap, EGRESS, index, TCA_EGRESS_MIRROR);
	err = add_iqcn(p, index, TC_H_ROOT, NLM_F_CREATE | NLM_F_REPLACE,
		       sampled);
	if (!err) {
		listener = listen_in(p);
		err = send_any(p, index, DATA, 16);
		nl_socket_free(listener);
	}
	return err;
}

/* Send data of the flow, and an ACK for each packet if @answers is a device */
static void send_flow(struct place *p, int index, int answers, unsigned int n)
{
	while (n--) {
		send_one(p, index, DATA);
		if (answers)
			send_one(p, answers, ACK);
	}
}

/* Combine huge MTUs, which overflow 32-bit products, with a paired flow: drops
 * cause CNPs whose telemetry contains values derived from the MTU
 */
int op_scene_mtu(struct place *p)
{
	static const uint32_t mtus[] = {
		68, 65535, 134217714, 268435442, 536870898, 2147483647,
	};
	static const uint32_t told[] = { TCA_IQCN_TELEMETRY, 1, 0 };
	const struct device *d = &devices[below(N_DUMMIES)];
	int index, answers, err;

	add_link(p, d);
	add_link(p, &(struct device){ "a0", "dummy" });
	index = index_of(p, d->name);
	answers = index_of(p, "a0");
	set_up(p, index, true);
	set_up(p, answers, true);
	del_qdisc(p, index, TC_H_ROOT);
	err = add_iqcn(p, index, TC_H_ROOT, NLM_F_CREATE | NLM_F_REPLACE, told);
	del_qdisc(p, answers, TC_H_CLSACT);
	add_mirred(p, answers, EGRESS, index, TCA_INGRESS_REDIR);
	any_flow();
	flow.vid = 0;
	flow.ecn = 3;
	send_flow(p, index, answers, 4);
	if (!err)
		err = set_u32(p, index, IFLA_MTU, one_of(mtus));
	flow.ecn = 2;
	send_flow(p, index, 0, 10);
	return err;
}
