/* SPDX-License-Identifier: GPL-2.0 */
/* <linux/hex.h> was part of <linux/kernel.h> before 6.4 */
#ifndef _IQCN_COMPAT_LINUX_HEX_H
#define _IQCN_COMPAT_LINUX_HEX_H

#ifdef IQCN_HAVE_LINUX_HEX_H
#include_next <linux/hex.h>
#else
#include <linux/kernel.h>
#endif

#endif /* _IQCN_COMPAT_LINUX_HEX_H */
