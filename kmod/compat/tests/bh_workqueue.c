// SPDX-License-Identifier: GPL-2.0
/* BH workqueues, which replace tasklets, were added in 6.9 */
#include <linux/workqueue.h>

void iqcn_test(struct work_struct *work);

void iqcn_test(struct work_struct *work)
{
	queue_work(system_bh_wq, work);
}
