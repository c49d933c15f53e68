/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _IQCN_COMPAT_LINUX_HRTIMER_H
#define _IQCN_COMPAT_LINUX_HRTIMER_H

#include_next <linux/hrtimer.h>

#ifndef IQCN_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*fn)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = fn;
}
#endif

#endif /* _IQCN_COMPAT_LINUX_HRTIMER_H */
