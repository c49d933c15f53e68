# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions for the scripts that extract.awk writes, and error reporting.
# Sourced before these scripts: by BASH_ENV in guest.sh, explicitly in
# ../packages/.
set -E -o pipefail
trap 'echo "line $LINENO: \"$BASH_COMMAND\" fails: $?"' ERR

# block LINE: mark the output of the block that begins at that line
block()
{
	echo "@@block $1"
}

# end_after TIME COMMAND: run a command on a terminal and type ^C after TIME
end_after()
{
	local rc=0

	{
		sleep "$1"
		printf '\003'
	} | timeout -k 5 30 script -qec "$2" /dev/null || rc=${PIPESTATUS[1]}
	# the command may treat SIGINT as a normal end
	[ "$rc" = 0 ] || [ "$rc" = 130 ] || return "$rc"
}
