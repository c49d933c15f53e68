// SPDX-License-Identifier: GPL-2.0
/*
 * The module of the KUnit tests.
 *
 * Expected values are constants, or computed in another way than the code under
 * test does; rocev2.h and the headers in algo/ name the sources.
 */
#include <linux/module.h>

/* the tests run without sch_iqcn.ko */
#include "../rocev2.c"

MODULE_DESCRIPTION("KUnit tests of sch_iqcn");
MODULE_LICENSE("GPL");
