// SPDX-License-Identifier: GPL-2.0
/* <linux/hex.h> was part of <linux/kernel.h> before 6.4 */
#include <linux/hex.h>

bool iqcn_test(const char *s, u8 *mac);

bool iqcn_test(const char *s, u8 *mac)
{
	return mac_pton(s, mac);
}
