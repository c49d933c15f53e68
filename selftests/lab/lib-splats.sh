# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Failures in a kernel log according to netdev's CI, for grep -E
# shellcheck disable=SC2034 # used by scripts that source this
SPLATS='RIP:|Call Trace:|ref_tracker:|unreferenced object|WARNING|BUG:|UBSAN|KASAN'
