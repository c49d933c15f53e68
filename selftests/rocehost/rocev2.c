// SPDX-License-Identifier: GPL-2.0
/*
 * Compile the packet parser, the ICRC and the CNP builder of kmod/rocev2.c into
 * rocehost.
 */
#include "../rocev2.c"
