/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owner of a network namespace, and the resources that all namespaces of an
 * owner share.
 *
 * Neither memory allocated nor CPU time spent in softirq context is charged to
 * a cgroup.  So all namespaces of a user that is root only in its own user
 * namespaces share one limit for each of the two.  The limits of two users are
 * independent.
 */
#ifndef _IQCN_OWNER_H
#define _IQCN_OWNER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "algo/share.h"

struct net;

/**
 * enum iqcn_cm_kind - kinds of entries in the table of connections (rdma_cm.c)
 * @IQCN_CM_KIND_REQ: request for a connection
 * @IQCN_CM_KIND_CONN: one direction of an established connection
 * @__IQCN_CM_KIND_MAX: number of kinds
 */
enum iqcn_cm_kind {
	IQCN_CM_KIND_REQ,
	IQCN_CM_KIND_CONN,
	__IQCN_CM_KIND_MAX
};

/* Shared by the network namespaces of one user */
struct iqcn_owner {
	struct list_head list;	/* in iqcn_owners; iqcn_owner_mutex */
	refcount_t refs;	/* namespaces and ports */
	kuid_t uid;		/* owner of the outermost user namespace */
	unsigned int userns;	/* inode of that namespace if uid is root,
				 * else 0
				 */
	atomic_t flows;		/* flows, including those being freed */
	atomic_t conns[__IQCN_CM_KIND_MAX]; /* entries of rdma_cm.c */
	struct iqcn_share share; /* CPU time of timers and BH work;
				  * constant, but iqcn_owner_charge()
				  * computes .of for iqcn_machine
				  */
	atomic64_t paid_ns;	/* account of @share */
};

extern struct iqcn_owner iqcn_machine;

/* Is this the owner of init_user_ns' namespaces?  The limits of users do not
 * apply to it.
 */
static inline bool iqcn_owner_is_machine(const struct iqcn_owner *owner)
{
	return owner == &iqcn_machine;
}

struct iqcn_owner *iqcn_owner_of(const struct net *net);
struct iqcn_owner *iqcn_owner_get(struct iqcn_owner *owner);
void iqcn_owner_put(struct iqcn_owner *owner);
u64 iqcn_owner_charge(struct iqcn_owner *owner, u64 took_ns, u64 now_ns);

#endif /* _IQCN_OWNER_H */
