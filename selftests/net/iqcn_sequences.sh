#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Sequences: requests for qdiscs, filters, devices and namespaces, dumps and
# packets, in random order and by four processes at a time
# (selftests/tools/seqfuzz). The kernel may refuse any of them. It must not
# crash or hang, queues must be empty after their devices are down, and nothing
# may be left when the namespaces are gone.
#
# All that a process does follows from its seed, but the interleaving of the
# processes does not. The seeds derive from $IQCN_SEED; each test takes
# $IQCN_SEQUENCES_S seconds.

ALL_TESTS="
	test_root
	test_nobody
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

SEED=${IQCN_SEED:-1}
SECONDS_EACH=${IQCN_SEQUENCES_S:-5}

# wait_gone: wait until the namespaces are destroyed, which is done
# asynchronously, after packets in flight
wait_gone()
{
	local i

	for ((i = 0; i < 600; i++)); do
		# some directories may go during the walk
		[ -n "$(find /sys/kernel/debug/iqcn -mindepth 1 2>/dev/null)" ] ||
			return
		sleep 0.1
	done
	fail "left in debugfs: $(cd /sys/kernel/debug/iqcn && echo */*)"
}

# sequences [OPTION...]: run seqfuzz with these options
sequences()
{
	local options=(--seed "$SEED" --seconds "$SECONDS_EACH" "$@") line rc n=0
	local module

	for module in sch_iqcn psample tun nlmon bonding ipip; do
		modprobe -q $module
	done
	# the mode that udev sets, so that users can open it
	chmod 666 /dev/net/tun
	if virtual_time; then
		# virtual time stands still while a process is busy
		options+=(--count $((SECONDS_EACH * 100)))
	fi
	case ${IQCN_LAB-} in
	# timers that expire as soon as they are rearmed would starve processes
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
