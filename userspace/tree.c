// SPDX-License-Identifier: GPL-2.0
/*
 * Devices, qdiscs and classes, from rtnetlink dumps, which need no capability.
 */
#include <stdlib.h>
#include <string.h>

#include <net/if_arp.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "iqcn.h"
#include "link.h"
#include "tree.h"

/* No sane setup has a longer chain of qdiscs and classes.  A chain that changes
 * during the dump might be a cycle.
 */
#define TREE_DEPTH 32

/* Append a zeroed element to a list; returns the element or NULL */
static void *append(void **list, size_t *n, size_t size)
{
	char *more = realloc(*list, (*n + 1) * size);

	if (!more)
		return NULL;
	*list = more;
	more += (*n)++ * size;
	return memset(more, 0, size);
}

static void read_kind(char *kind, struct nlattr *attr)
{
	if (attr)
		nla_strlcpy(kind, attr, KIND_SIZE);
}

static int on_dev(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct rtnl_link_stats64 stats = {};
	struct tree *t = arg;
	struct ifinfomsg *ifi;
	struct tree_dev *d;

	if (nlh->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(nlh, sizeof(*ifi), tb, IFLA_MAX, NULL) ||
	    !tb[IFLA_IFNAME])
		return NL_SKIP;
	d = append((void **)&t->devs, &t->n_devs, sizeof(*d));
	if (!d)
		return -NLE_NOMEM;
	ifi = nlmsg_data(nlh);
	d->ifindex = ifi->ifi_index;
	d->running = ifi->ifi_flags & IFF_RUNNING;
	d->ethernet = ifi->ifi_type == ARPHRD_ETHER;
	nla_strlcpy(d->name, tb[IFLA_IFNAME], sizeof(d->name));
	d->mtu = tb[IFLA_MTU] ? nla_get_u32(tb[IFLA_MTU]) : 0;
	/* in another namespace the same index is another device */
	if (tb[IFLA_LINK] && !tb[IFLA_LINK_NETNSID])
		d->lower = nla_get_u32(tb[IFLA_LINK]);
	if (tb[IFLA_LINKINFO] &&
	    !nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL))
		read_kind(d->kind, info[IFLA_INFO_KIND]);
	if (tb[IFLA_STATS64])
		nla_memcpy(&stats, tb[IFLA_STATS64], sizeof(stats));
	d->rx_packets = stats.rx_packets;
	d->rx_bytes = stats.rx_bytes;
	d->tx_packets = stats.tx_packets;
	d->tx_bytes = stats.tx_bytes;
	return NL_OK;
}

/* Convert a rate from bytes to bits per second.  Use attribute @rate64 of @tb,
 * which the kernel sends only if 32 bits are too few, else @rate.
 */
static uint64_t bps_of(struct nlattr **tb, int rate64, uint32_t rate)
{
	uint64_t bytes = rate;

	if (tb[rate64])
		nla_memcpy(&bytes, tb[rate64], sizeof(bytes));
	return bytes * 8;
}

static uint64_t tbf_bps(struct nlattr *options)
{
	struct nlattr *tb[TCA_TBF_MAX + 1];
	struct tc_tbf_qopt parms = {};

	if (nla_parse_nested(tb, TCA_TBF_MAX, options, NULL) ||
	    !tb[TCA_TBF_PARMS])
		return 0;
	nla_memcpy(&parms, tb[TCA_TBF_PARMS], sizeof(parms));
	return bps_of(tb, TCA_TBF_RATE64, parms.rate.rate);
}

/* a struct precedes netem's attributes */
static uint64_t netem_bps(struct nlattr *options)
{
	int skip = NLA_ALIGN(sizeof(struct tc_netem_qopt));
	struct nlattr *tb[TCA_NETEM_MAX + 1];
	struct tc_netem_rate rate = {};

	if (nla_len(options) < skip ||
	    nla_parse(tb, TCA_NETEM_MAX,
		      (struct nlattr *)((char *)nla_data(options) + skip),
		      nla_len(options) - skip, NULL) ||
	    !tb[TCA_NETEM_RATE])
		return 0;
	nla_memcpy(&rate, tb[TCA_NETEM_RATE], sizeof(rate));
	return bps_of(tb, TCA_NETEM_RATE64, rate.rate);
}

static uint64_t htb_class_bps(struct nlattr *options)
{
	struct nlattr *tb[TCA_HTB_MAX + 1];
	struct tc_htb_opt parms = {};

	if (nla_parse_nested(tb, TCA_HTB_MAX, options, NULL) ||
	    !tb[TCA_HTB_PARMS])
		return 0;
	nla_memcpy(&parms, tb[TCA_HTB_PARMS], sizeof(parms));
	return bps_of(tb, TCA_HTB_CEIL64, parms.ceil.rate);
}

static uint64_t hfsc_class_bps(struct nlattr *options)
{
	struct nlattr *tb[TCA_HFSC_MAX + 1];
	struct tc_service_curve upper = {};

	if (nla_parse_nested(tb, TCA_HFSC_MAX, options, NULL) ||
	    !tb[TCA_HFSC_USC])
		return 0;
	nla_memcpy(&upper, tb[TCA_HFSC_USC], sizeof(upper));
	return upper.m2 * UINT64_C(8);
}

static const struct {
	const char *kind;
	bool class;
	uint64_t (*bps)(struct nlattr *options);
} shapers[] = {
	{ "tbf", false, tbf_bps },
	{ "netem", false, netem_bps },
	{ "htb", true, htb_class_bps },
	{ "hfsc", true, hfsc_class_bps },
};

static void read_params(uint64_t *params, struct nlattr *options)
{
	struct nlattr *tb[TCA_IQCN_MAX + 1];
	unsigned int i;

	if (nla_parse_nested(tb, TCA_IQCN_MAX, options, NULL))
		return;
	for (i = 0; i <= TCA_IQCN_MAX; i++)
		if (tb[i] && nla_len(tb[i]) <= (int)sizeof(params[i]))
			nla_memcpy(&params[i], tb[i], sizeof(params[i]));
	/* copy only the mode of the filter, its first member */
	if (tb[TCA_IQCN_FILTER])
		nla_memcpy(&params[TCA_IQCN_FILTER], tb[TCA_IQCN_FILTER],
			   sizeof(__u32));
}

static void read_options(struct tree_node *n, struct nlattr *options)
{
	size_t i;

	if (!strcmp(n->kind, "iqcn") && !n->class)
		read_params(n->params, options);
	for (i = 0; i < ARRAY_SIZE(shapers); i++)
		if (n->class == shapers[i].class &&
		    !strcmp(n->kind, shapers[i].kind))
			n->limit_bps = shapers[i].bps(options);
}

static int on_node(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *tb[TCA_MAX + 1];
	struct tree *t = arg;
	struct tcmsg *tcm;
	struct tree_node *n;

	if ((nlh->nlmsg_type != RTM_NEWQDISC &&
	     nlh->nlmsg_type != RTM_NEWTCLASS) ||
	    nlmsg_parse(nlh, sizeof(*tcm), tb, TCA_MAX, NULL))
		return NL_SKIP;
	n = append((void **)&t->nodes, &t->n_nodes, sizeof(*n));
	if (!n)
		return -NLE_NOMEM;
	tcm = nlmsg_data(nlh);
	n->ifindex = tcm->tcm_ifindex;
	n->handle = tcm->tcm_handle;
	n->parent = tcm->tcm_parent;
	n->class = nlh->nlmsg_type == RTM_NEWTCLASS;
	read_kind(n->kind, tb[TCA_KIND]);
	if (tb[TCA_OPTIONS])
		read_options(n, tb[TCA_OPTIONS]);
	return NL_OK;
}

static int dump(struct nl_sock *sk, int type, void *head, size_t len,
		nl_recvmsg_msg_cb_t fn, struct tree *t)
{
	int err;

	err = nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, fn, t);
	if (err)
		return err;
	err = nl_send_simple(sk, type, NLM_F_DUMP, head, len);
	if (err < 0)
		return err;
	err = nl_recvmsgs_default(sk);
	/* a change during the dump does not matter */
	return err == -NLE_DUMP_INTR ? 0 : err;
}

/* The kernel dumps classes only per device, and few devices have any */
static int read_classes(struct tree *t, struct nl_sock *sk)
{
	struct tcmsg tcm = { .tcm_family = AF_UNSPEC };
	size_t i, n = t->n_nodes;
	int err;

	for (i = 0; i < n; i++) {
		if (strcmp(t->nodes[i].kind, "htb") &&
		    strcmp(t->nodes[i].kind, "hfsc"))
			continue;
		tcm.tcm_ifindex = t->nodes[i].ifindex;
		tcm.tcm_parent = t->nodes[i].handle;
		err = dump(sk, RTM_GETTCLASS, &tcm, sizeof(tcm), on_node, t);
		if (err)
			return err;
	}
	return 0;
}

static int read_all(struct tree *t, struct nl_sock *sk)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	struct tcmsg tcm = { .tcm_family = AF_UNSPEC };
	int err;

	err = nl_connect(sk, NETLINK_ROUTE);
	if (!err)
		err = dump(sk, RTM_GETLINK, &ifi, sizeof(ifi), on_dev, t);
	if (!err)
		err = dump(sk, RTM_GETQDISC, &tcm, sizeof(tcm), on_node, t);
	if (!err)
		err = read_classes(t, sk);
	return err;
}

static bool has_iqcn(const struct tree *t, uint32_t ifindex)
{
	size_t i;

	for (i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].ifindex == ifindex &&
		    !strcmp(t->nodes[i].kind, "iqcn"))
			return true;
	return false;
}

int tree_read(struct tree *t)
{
	struct nl_sock *sk = nl_socket_alloc();
	struct tree_dev *d;
	int err;

	memset(t, 0, sizeof(*t));
	if (!sk)
		return -NLE_NOMEM;
	err = read_all(t, sk);
	nl_socket_free(sk);
	for (d = t->devs; d < t->devs + t->n_devs; d++) {
		d->iqcn = has_iqcn(t, d->ifindex);
		if (d->iqcn)
			d->bps = link_bps(d->name);
	}
	return err;
}

void tree_free(struct tree *t)
{
	free(t->devs);
	free(t->nodes);
}

const struct tree_dev *tree_dev(const struct tree *t, uint32_t ifindex)
{
	size_t i;

	for (i = 0; i < t->n_devs; i++)
		if (t->devs[i].ifindex == ifindex)
			return &t->devs[i];
	return NULL;
}

const struct tree_node *tree_iqcn(const struct tree *t, uint32_t ifindex,
				  uint32_t parent)
{
	const struct tree_node *n;

	for (n = t->nodes; n < t->nodes + t->n_nodes; n++)
		if (n->ifindex == ifindex && n->parent == parent &&
		    !n->class && !strcmp(n->kind, "iqcn"))
			return n;
	return NULL;
}

static const struct tree_node *find(const struct tree *t, uint32_t ifindex,
				    uint32_t handle, bool class)
{
	const struct tree_node *n;

	for (n = t->nodes; n < t->nodes + t->n_nodes; n++)
		if (n->ifindex == ifindex && n->handle == handle &&
		    n->class == class)
			return n;
	return NULL;
}

/* The parent of a qdisc is a class, or a qdisc without real classes, such as
 * tbf.  The parent of a class is another class, or its qdisc.
 */
static const struct tree_node *above(const struct tree *t,
				     const struct tree_node *n)
{
	const struct tree_node *class;

	if (n->class && n->parent == TC_H_ROOT)
		return find(t, n->ifindex, TC_H_MAJ(n->handle), false);
	if (n->parent == TC_H_ROOT)
		return NULL;
	class = find(t, n->ifindex, n->parent, true);
	if (class)
		return class;
	return find(t, n->ifindex, TC_H_MAJ(n->parent), false);
}

const struct tree_node *tree_shaper(const struct tree *t,
				    const struct tree_node *qdisc)
{
	const struct tree_node *n = qdisc, *tightest = NULL;
	int i;

	for (i = 0; i < TREE_DEPTH; i++) {
		n = above(t, n);
		if (!n)
			break;
		if (n->limit_bps &&
		    (!tightest || n->limit_bps < tightest->limit_bps))
			tightest = n;
	}
	return tightest;
}
