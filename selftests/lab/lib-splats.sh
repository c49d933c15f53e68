# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What netdev's CI takes for a failure in a kernel's log, for grep -E.
# shellcheck disable=SC2034 # it is for those who source this
SPLATS='RIP:|Call Trace:|ref_tracker:|unreferenced object|WARNING|BUG:|UBSAN|KASAN'
