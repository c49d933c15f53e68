/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_IP_H
#define SHIM_LINUX_IP_H

#include_next <linux/ip.h>

#define IP_DF		0x4000
#define IP_MF		0x2000
#define IP_OFFSET	0x1fff

#endif /* SHIM_LINUX_IP_H */
