# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of iqcn's commands: source this after lib.sh

# only_error STATUS STDERR COMMAND...: check status and stderr of a command;
# stdout must be empty
only_error()
{
	local rc=$1 text=$2
	shift 2

	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	check "exit status of \"$*\"" $? -eq "$rc"
	check_eq "stderr of \"$*\"" "$(<"$TMP/err")" "$text"
	check_eq "stdout of \"$*\"" "$(<"$TMP/out")" ""
}

# idle_box: create a box without traffic: sw, with its ports p0 and p1
idle_box()
{
	ip -batch - <<-EOF
		netns add sw
		link add p1 netns sw type veth peer name p0 netns sw
	EOF
	ip -n sw link set p0 up
	ip -n sw link set p1 up
}
