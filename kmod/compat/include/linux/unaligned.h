/* SPDX-License-Identifier: GPL-2.0 */
/* <linux/unaligned.h> was <asm/unaligned.h> before 6.12 */
#ifndef _IQCN_COMPAT_LINUX_UNALIGNED_H
#define _IQCN_COMPAT_LINUX_UNALIGNED_H

#ifdef IQCN_HAVE_LINUX_UNALIGNED_H
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* _IQCN_COMPAT_LINUX_UNALIGNED_H */
