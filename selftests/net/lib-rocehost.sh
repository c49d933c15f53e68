# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests with rocehost, which simulates RoCEv2 hosts in the kernel: source
# this after lib.sh

MODULE=$BUILD/${IQCN_LAB:-uml}/rocehost/rocehost.ko

load()
{
	insmod "$MODULE" || fail "rocehost does not load"
}

# unload: remove the module, and with it whatever the test has left
unload()
{
	rmmod rocehost || fail "rocehost does not unload"
}

# rh NS LINE...: write commands to rocehost
rh()
{
	local ns=$1 lines
	shift

	printf -v lines '%s\n' "$@"
	in_ns "$ns" tee /proc/net/rocehost/ctl >/dev/null 2>&1 \
		<<<"${lines%$'\n'}"
}

# told NS LINE...: write commands that must be accepted
told()
{
	rh "$@" || fail "$2: $(in_ns "$1" head -n 1 /proc/net/rocehost/ctl)"
}

# sum NS FILE COLUMN: print the sum of a column of a report
sum()
{
	in_ns "$1" awk -F, -v want="$3" '
	NR == 1 {
		for (i = 1; i <= NF; i++)
			if ($i == want) col = i
		next
	}
	{ s += $col }
	END { print s + 0 }' "/proc/net/rocehost/$2"
}

# refused_lines NS: read lines "LINE | ERROR", each of which must be refused with
# this error. One process for all of them.
refused_lines()
{
	check_eq "accepted, or another error" "$(in_ns "$1" bash -c '
	while read -r line; do
		if echo "${line% | *}" 2>/dev/null >/proc/net/rocehost/ctl; then
			echo "${line% | *}: accepted"
			continue
		fi
		read -r error </proc/net/rocehost/ctl
		[ "$error" = "error: ${line##* | }" ] ||
			echo "${line% | *}: $error"
	done')" ""
}
