// SPDX-License-Identifier: GPL-2.0
/*
 * Use the parser, the ICRC and the CNP of the module.
 */
#include "../rocev2.c"
