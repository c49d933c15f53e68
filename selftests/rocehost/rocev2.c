// SPDX-License-Identifier: GPL-2.0
/*
 * The module's own parser, ICRC and CNP.
 */
#include "../rocev2.c"
