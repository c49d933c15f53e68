#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Sequences: requests for qdiscs, filters, devices and namespaces, dumps and
# packets, in random order and by four processes at a time (tools/seqfuzz).  The
# kernel may refuse any of them.  It must not crash or hang, queues must be empty
# after their devices are down, and nothing may be left when the namespaces are
# gone.
#
# All that a process does follows from its seed, but not how the processes meet.
# $IQCN_SEED is where their seeds come from, $IQCN_SEQUENCES_S how many seconds
# each test takes.

ALL_TESTS="
	test_root
	test_nobody
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

SEED=${IQCN_SEED:-1}
SECONDS_EACH=${IQCN_SEQUENCES_S:-5}

# wait_gone: namespaces are removed by a work, which waits for packets that are on
# their way
wait_gone()
{
	local i

	for ((i = 0; i < 600; i++)); do
		# some go while find walks
		[ -n "$(find /sys/kernel/debug/iqcn -mindepth 1 2>/dev/null)" ] ||
			return
		sleep 0.1
	done
	fail "left in debugfs: $(cd /sys/kernel/debug/iqcn && echo */*)"
}

# sequences [OPTION...]: of seqfuzz
sequences()
{
	local options=(--seed "$SEED" --seconds "$SECONDS_EACH" "$@") line rc n=0
	local module

	for module in sch_iqcn psample tun nlmon bonding ipip; do
		modprobe -q $module
	done
	# as udev leaves it, for users
	chmod 666 /dev/net/tun
	if virtual_time; then
		# seconds do not pass while anybody is busy
		options+=(--count $((SECONDS_EACH * 100)))
	fi
	case ${IQCN_LAB-} in
	# timers that are always due again leave nothing to processes there
	uml-debug | uml-smp | x86-kcsan) options+=(--shortest 10000) ;;
	esac
	"$BUILD/seqfuzz" "${options[@]}" >"$TMP/said" 2>&1
	rc=$?
	while read -r line; do
		note "${line#\# }"
		[[ ! $line =~ ^"# iqcn "\ *([0-9]+) ]] || n=${BASH_REMATCH[1]}
	done <"$TMP/said"
	[ $rc = 0 ] || fail "$(tail -n 1 "$TMP/said")"
	check "requests for iqcn that were accepted" "$n" -gt 0
	wait_gone
}

test_root()
{
	sequences
}

# As uid 65534, in a user namespace
test_nobody()
{
	sequences --user
}

run_tests
