// SPDX-License-Identifier: GPL-2.0
/* <linux/unaligned.h> was <asm/unaligned.h> before 6.12 */
#include <linux/unaligned.h>

u16 iqcn_test(const void *p);

u16 iqcn_test(const void *p)
{
	return get_unaligned_be16(p);
}
