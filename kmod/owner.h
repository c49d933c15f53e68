/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who owns a network namespace, and what all of his namespaces use together.
 *
 * Memory that is allocated in softirq and CPU time of timers are charged to no
 * cgroup.  So a user who is root only in user namespaces of his own has a share
 * of both, however many namespaces he makes.  The shares of two users do not
 * depend on each other.
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
 * enum iqcn_cm_kind - entries of the table of connections (cm.c)
 * @IQCN_CM_KIND_REQ: a host asked for a connection
 * @IQCN_CM_KIND_CONN: one of the two directions of an established connection
 * @__IQCN_CM_KIND_MAX: number of kinds
 */
enum iqcn_cm_kind {
	IQCN_CM_KIND_REQ,
	IQCN_CM_KIND_CONN,
	__IQCN_CM_KIND_MAX
};

/* struct iqcn_owner - shared by the network namespaces of one user */
struct iqcn_owner {
	struct list_head list;	/* in iqcn_owners; iqcn_owner_mutex */
	refcount_t refs;	/* namespaces and ports */
	kuid_t uid;		/* owner of the outermost user namespace */
	unsigned int userns;	/* inode of that if @uid is root, else 0 */
	atomic_t flows;		/* flows, those being freed included */
	atomic_t conns[__IQCN_CM_KIND_MAX]; /* entries of cm.c */
	struct iqcn_share share; /* of the CPUs, for timers; constant */
	atomic64_t paid_ns;	/* account of @share */
};

extern struct iqcn_owner iqcn_machine;

/* The namespaces of init_user_ns: the administrator decides what they may use */
static inline bool iqcn_owner_is_machine(const struct iqcn_owner *owner)
{
	return owner == &iqcn_machine;
}

struct iqcn_owner *iqcn_owner_of(const struct net *net);
struct iqcn_owner *iqcn_owner_get(struct iqcn_owner *owner);
void iqcn_owner_put(struct iqcn_owner *owner);
u64 iqcn_owner_charge(struct iqcn_owner *owner, u64 took_ns, u64 now_ns);
void iqcn_owner_module_init(void);

#endif /* _IQCN_OWNER_H */
