/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/types.h>

#define DIV64_U64_ROUND_UP(n, by) (((n) + (by) - 1) / (by))
