// SPDX-License-Identifier: GPL-2.0
/* hrtimer_setup() replaced hrtimer_init() and ->function in 6.13 */
#include <linux/hrtimer.h>

void iqcn_test(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *));

void iqcn_test(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *))
{
	hrtimer_setup(t, f, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}
