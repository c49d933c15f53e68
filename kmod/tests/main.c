// SPDX-License-Identifier: GPL-2.0
/*
 * The module of the KUnit tests.
 *
 * Expected values are constants, or are computed in a different way from the
 * code under test.  rocev2.h and the headers in algo/ name the sources.
 */
#include <linux/module.h>

/* The tests use the parser of sch_iqcn if both are built in, else their own */
#if defined(MODULE) || !IS_BUILTIN(CONFIG_NET_SCH_IQCN)
#include "../rocev2.c"
#endif

MODULE_DESCRIPTION("KUnit tests of sch_iqcn");
MODULE_LICENSE("GPL");
