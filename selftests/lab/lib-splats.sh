# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Failures in a kernel log according to netdev's CI, for grep -E
# shellcheck disable=SC2034 # used by scripts that source this
SPLATS='RIP:|Call Trace:|ref_tracker:|unreferenced object|WARNING|BUG:|UBSAN|KASAN'

# leaks: print the leaked objects that kmemleak has found, except the name of
# the module's slab cache: kmem_cache_create() leaks it if it cannot add the
# cache to sysfs, which failmod provokes
leaks()
{
	awk '
	function end()
	{
		if (object != "" && !(failmod && name))
			printf "%s", object
	}
	/^unreferenced/ { end(); object = ""; failmod = name = 0 }
	/comm "failmod"/ { failmod = 1 }
	# match the hex dump of the object, not its backtrace
	/66 6c 6f 77 00 .*  iqcn_flow\./ { name = 1 }
	{ object = object $0 "\n" }
	END { end() }' /sys/kernel/debug/kmemleak
}
