// SPDX-License-Identifier: GPL-2.0
/*
 * Owners of network namespaces.
 *
 * A user can create and nest many user namespaces, so the limits of owner.h
 * apply to the owner of the outermost one.  Root creates user namespaces for
 * others (containers), so each outermost user namespace that root owns has its
 * own limits.
 */
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>

#include "owner.h"

/* The timers and BH work of a user together get a quarter of a CPU.  A timer
 * interrupt takes some microseconds beyond its callback, and several times as
 * much in a virtual machine, where programming the clock causes a VM exit.
 * Charging 20 us for each run limits a user to 12,500 runs per second.  A run
 * of BH work costs less but is charged the same, so the limit covers both.
 */
#define IQCN_USER_PARTS		4
#define IQCN_USER_RUN_NS	(20 * NSEC_PER_USEC)
/* Largest charge for a run.  It is so large that long runs are charged in full,
 * because a user's own filters can make the injection of a CNP slow.
 */
#define IQCN_USER_RUN_MAX_NS	NSEC_PER_SEC
/* The timers and BH work of all network namespaces that init_user_ns owns
 * together get half of all CPUs
 */
#define IQCN_MACHINE_PARTS	2
#define IQCN_MACHINE_RUN_MAX_NS	(10 * NSEC_PER_MSEC)

struct iqcn_owner iqcn_machine = {
	.refs = REFCOUNT_INIT(1),
	.share = {
		.parts = IQCN_MACHINE_PARTS,
		.run_max_ns = IQCN_MACHINE_RUN_MAX_NS,
	},
};

static LIST_HEAD(iqcn_owners);
static DEFINE_MUTEX(iqcn_owner_mutex); /* iqcn_owners */

/* The outermost user namespace around @ns: a child of init_user_ns */
static const struct user_namespace *
iqcn_owner_userns(const struct user_namespace *ns)
{
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return ns;
}

static struct iqcn_owner *iqcn_owner_find(kuid_t uid, unsigned int userns)
{
	struct iqcn_owner *owner;

	lockdep_assert_held(&iqcn_owner_mutex);

	list_for_each_entry(owner, &iqcn_owners, list)
		if (uid_eq(owner->uid, uid) && owner->userns == userns)
			return owner;
	return NULL;
}

static struct iqcn_owner *iqcn_owner_new(kuid_t uid, unsigned int userns)
{
	struct iqcn_owner *owner;

	owner = kzalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);
	if (!owner)
		return NULL;
	refcount_set(&owner->refs, 1);
	owner->uid = uid;
	owner->userns = userns;
	owner->share.parts = IQCN_USER_PARTS;
	owner->share.of = 1;
	owner->share.run_ns = IQCN_USER_RUN_NS;
	owner->share.run_max_ns = IQCN_USER_RUN_MAX_NS;
	return owner;
}

/**
 * iqcn_owner_of() - find or create the owner of a network namespace
 * @net: namespace
 *
 * Context: process, sleeps.
 * Return: the owner, with a reference for the caller; NULL if memory runs out.
 */
struct iqcn_owner *iqcn_owner_of(const struct net *net)
{
	const struct user_namespace *ns;
	struct iqcn_owner *owner, *new;
	unsigned int userns = 0;

	if (net->user_ns == &init_user_ns)
		return iqcn_owner_get(&iqcn_machine);
	ns = iqcn_owner_userns(net->user_ns);
	if (uid_eq(ns->owner, GLOBAL_ROOT_UID))
		userns = ns->ns.inum;
	/* outside the mutex: a user at its memory limit may block here */
	new = iqcn_owner_new(ns->owner, userns);
	if (!new)
		return NULL;
	mutex_lock(&iqcn_owner_mutex);
	owner = iqcn_owner_find(ns->owner, userns);
	if (owner)
		refcount_inc(&owner->refs);
	else
		list_add(&new->list, &iqcn_owners);
	mutex_unlock(&iqcn_owner_mutex);
	if (!owner)
		return new;
	kfree(new);
	return owner;
}

/**
 * iqcn_owner_get() - take a reference
 * @owner: owner
 *
 * Context: any.
 * Return: @owner.
 */
struct iqcn_owner *iqcn_owner_get(struct iqcn_owner *owner)
{
	refcount_inc(&owner->refs);
	return owner;
}

/**
 * iqcn_owner_put() - drop a reference
 * @owner: owner, freed with the last reference
 *
 * Context: process, sleeps.
 */
void iqcn_owner_put(struct iqcn_owner *owner)
{
	if (!refcount_dec_and_mutex_lock(&owner->refs, &iqcn_owner_mutex))
		return;
	list_del(&owner->list);
	mutex_unlock(&iqcn_owner_mutex);
	kfree(owner);
}

/**
 * iqcn_owner_charge() - charge a run of a timer, or of BH work, to an owner
 * @owner: owner
 * @took_ns: how long the run took
 * @now_ns: now
 *
 * Context: any.
 * Return: when timers and BH work of this owner may run again.
 */
u64 iqcn_owner_charge(struct iqcn_owner *owner, u64 took_ns, u64 now_ns)
{
	s64 old_ns = atomic64_read(&owner->paid_ns), new_ns;
	struct iqcn_share share = owner->share;

	if (iqcn_owner_is_machine(owner))
		share.of = num_online_cpus();
	do {
		new_ns = iqcn_share_charge(&share, old_ns, took_ns, now_ns);
	} while (!atomic64_try_cmpxchg(&owner->paid_ns, &old_ns, new_ns));
	return new_ns;
}
