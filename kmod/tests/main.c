// SPDX-License-Identifier: GPL-2.0
/*
 * The module of the KUnit tests.
 *
 * Expected values are constants, or computed in another way than the code under
 * test does; rocev2.h and the headers in algo/ name the sources.
 */
#include <linux/module.h>

/* sch_iqcn provides the parser only if both are built in */
#if defined(MODULE) || !IS_BUILTIN(CONFIG_NET_SCH_IQCN)
#include "../rocev2.c"
#endif

MODULE_DESCRIPTION("KUnit tests of sch_iqcn");
MODULE_LICENSE("GPL");
