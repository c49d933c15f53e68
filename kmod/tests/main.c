// SPDX-License-Identifier: GPL-2.0
/*
 * The module of the KUnit tests.  Expected values are written down, or computed
 * in another way than the code does; rocev2.h and the other headers name the
 * sources.
 */
#include <linux/module.h>

/* sch_iqcn.ko does not export the parser, and these tests run without it */
#include "../rocev2.c"

MODULE_DESCRIPTION("KUnit tests of sch_iqcn");
MODULE_LICENSE("GPL");
