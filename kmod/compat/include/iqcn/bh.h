/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred work in softirq context.  Code under a qdisc's locks schedules it,
 * and the same CPU runs it after the locks are released.  It is a BH work item
 * or, before 6.9, a tasklet.
 */
#ifndef _IQCN_COMPAT_IQCN_BH_H
#define _IQCN_COMPAT_IQCN_BH_H

#include <linux/interrupt.h>
#include <linux/workqueue.h>

struct iqcn_bh {
	/* called with BHs off and no lock held, never on two CPUs at a time,
	 * and once more if the work is scheduled while it runs
	 */
	void (*fn)(struct iqcn_bh *bh);
#ifdef IQCN_HAVE_BH_WORKQUEUE
	struct work_struct work;
#else
	struct tasklet_struct tasklet;
#endif
};

#ifdef IQCN_HAVE_BH_WORKQUEUE

static inline void iqcn_bh_run(struct work_struct *work)
{
	struct iqcn_bh *bh = container_of(work, struct iqcn_bh, work);

	bh->fn(bh);
}

static inline void iqcn_bh_init(struct iqcn_bh *bh,
				void (*fn)(struct iqcn_bh *bh))
{
	bh->fn = fn;
	INIT_WORK(&bh->work, iqcn_bh_run);
}

/* Context: any, BHs off */
static inline void iqcn_bh_schedule(struct iqcn_bh *bh)
{
	queue_work(system_bh_wq, &bh->work);
}

/* Cancel the work and wait for a running callback to return.  The caller
 * ensures that only the callback may still schedule the work.
 * Context: process.
 */
static inline void iqcn_bh_kill(struct iqcn_bh *bh)
{
	cancel_work_sync(&bh->work);
}

#else

static inline void iqcn_bh_run(struct tasklet_struct *tasklet)
{
	struct iqcn_bh *bh = from_tasklet(bh, tasklet, tasklet);

	bh->fn(bh);
}

static inline void iqcn_bh_init(struct iqcn_bh *bh,
				void (*fn)(struct iqcn_bh *bh))
{
	bh->fn = fn;
	tasklet_setup(&bh->tasklet, iqcn_bh_run);
}

static inline void iqcn_bh_schedule(struct iqcn_bh *bh)
{
	tasklet_schedule(&bh->tasklet);
}

static inline void iqcn_bh_kill(struct iqcn_bh *bh)
{
	tasklet_kill(&bh->tasklet);
}

#endif

#endif /* _IQCN_COMPAT_IQCN_BH_H */
