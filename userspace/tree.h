/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The devices of the namespace, their qdiscs, and the classes of htb and hfsc.
 */
#ifndef _IQCN_TREE_H
#define _IQCN_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <net/if.h>

#include <linux/iqcn.h>

#define KIND_SIZE 16

struct tree_dev {
	uint32_t ifindex;
	uint32_t lower;		/* lower device, as of a VLAN; 0: none in this
				 * namespace
				 */
	uint32_t mtu;
	bool running;		/* the link is up */
	bool ethernet;
	bool iqcn;		/* it has a qdisc iqcn */
	char name[IF_NAMESIZE];
	char kind[KIND_SIZE];	/* "bridge", "vlan"; "": a NIC */
	uint64_t rx_packets, rx_bytes;
	uint64_t tx_packets, tx_bytes;
	uint64_t bps;		/* speed, read only if @iqcn; 0: not known */
};

struct tree_node {
	uint32_t ifindex;
	uint32_t handle;	/* of a qdisc, or the classid of a class */
	uint32_t parent;
	bool class;
	char kind[KIND_SIZE];
	uint64_t limit_bps;	/* highest rate it lets through, 0: no limit */
	uint64_t params[TCA_IQCN_MAX + 1];	/* of an iqcn, by attribute */
};

struct tree {
	struct tree_dev *devs;
	size_t n_devs;
	struct tree_node *nodes;
	size_t n_nodes;
};

/* Returns 0 or a libnl error; the caller calls tree_free() in either case */
int tree_read(struct tree *t);
void tree_free(struct tree *t);

/* These return NULL if there is none */
const struct tree_dev *tree_dev(const struct tree *t, uint32_t ifindex);
/* The qdisc iqcn below @parent */
const struct tree_node *tree_iqcn(const struct tree *t, uint32_t ifindex,
				  uint32_t parent);
/* The slowest of the shapers above a qdisc */
const struct tree_node *tree_shaper(const struct tree *t,
				    const struct tree_node *qdisc);

#endif /* _IQCN_TREE_H */
