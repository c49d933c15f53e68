# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What extract.awk puts into a session's script, and how a session ends.  Sourced by
# each (BASH_ENV).
set -E -o pipefail
trap 'echo "line $LINENO: \"$BASH_COMMAND\" fails: $?"' ERR

# block LINE: what follows is of the block that begins there
block()
{
	echo "@@block $1"
}

# end_after TIME COMMAND: one that goes on until somebody types ^C, on a terminal
end_after()
{
	local rc=0

	{
		sleep "$1"
		printf '\003'
	} | timeout -k 5 30 script -qec "$2" /dev/null || rc=${PIPESTATUS[1]}
	# it may take that for an end like any other
	[ "$rc" = 0 ] || [ "$rc" = 130 ] || return "$rc"
}
