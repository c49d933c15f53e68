/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the driver of a device says about it, in the tool's network namespace.
 */
#ifndef _IQCN_LINK_H
#define _IQCN_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <net/if.h>

/* Do an ioctl on the device; returns whether it succeeded */
bool link_ask(const char *dev, unsigned long request, struct ifreq *r);
/* The speed as the module reads it; 0: the driver reports none */
uint64_t link_bps(const char *dev);
/* The name of the driver, "" if there is none */
void link_driver(char *buf, size_t size, const char *dev);

#endif /* _IQCN_LINK_H */
