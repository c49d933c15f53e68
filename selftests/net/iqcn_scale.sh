#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many flows: the deadlines of ten thousand flows are met to the microsecond, as
# for one flow; with a scan, within its period.

ALL_TESTS="
	test_10000_flows
	test_scan
	test_deferred
	test_churn
"
NIGHTLY_TESTS="
	test_scan test_deferred
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# many FLOWS OFF-NS IQCN-PARAMETER...: send a burst of seven packets per flow
# into a queue that sends packets of a flow 100 ms apart. Four packets of each
# flow and their ACKs pair the flow. After that, check that each CNP is sent
# 60 ms, or a multiple of this, after the last CE packet of its flow, and at
# most OFF-NS late, while the next packet of the flow waits.
many()
{
	local n=$1 off_ns=$2 kbit
	shift 2

	if ! virtual_time; then
		skip "needs virtual time"
		return
	fi
	topology bridge
	kbit=$((n * 8656 / 100))
	bottleneck ${kbit}kbit limit 1g kmin 1000 kmax 2000 detect queue \
		base both t1 60ms bandwidth ${kbit}kbit "$@"
	sniff snd --type cnp --time 900
	sniff rcv --type data --time 900
	np --time 900 --ack 1
	data --flows "$n" --count $((n * 7))
	wait
	check "flows" "$(stat flow_new)" -eq "$n"
	check "flows paired" "$(stat flows_paired)" -eq "$n"
	note "$(awk -v off=$off_ns '
	FNR == NR { if (/ ce /) ce[$7] = ce[$7] " " substr($1, 7); next }
	{
		# the last CE packet of this flow before the CNP
		t = substr($1, 7)
		qp = sprintf("0x0%s", substr($7, 4))
		k = split(ce[qp], times, " ")
		for (i = k; i && times[i] + 0 > t + 0; i--)
			;
		late = (t - times[i]) % 60000000
		if (late > 30000000)
			late -= 60000000
		n++
		flows[qp] = 1
		if (late > max) max = late
		if (late < min || n == 1) min = late
		if (late < 0 || late > off) bad++
	}
	END {
		for (qp in flows) f++
		printf "%d CNPs for %d flows, %d ns early at most, %d ns late at most, %d out of bounds",
			n, f, min < 0 ? -min : 0, max, bad
	}' "$TMP/rcv" "$TMP/snd" | tee "$TMP/scale")"
	check "flows that got CNPs" "$(awk '{ print $4 }' "$TMP/scale")" -eq "$n"
	check "CNPs more than $off_ns ns off" \
		"$(awk '{ print $(NF - 3) }' "$TMP/scale")" -eq 0
}

# some MANY: print MANY, or a smaller number on the debug kernel, whose purpose
# is to detect memory errors
some()
{
	if [ "$IQCN_LAB" = uml-debug ]; then
		echo 1500
	else
		echo "$1"
	fi
}

# With more flows, the lab's clock, which each read advances by 256 ns, would be
# the bottleneck. With KASAN the kernel reads it more often.
test_10000_flows()
{
	local off_ns=1000

	[ "$IQCN_LAB" != uml-debug ] || off_ns=2000
	many "$(some 10000)" $off_ns
}

# Each scan finds 15 % of the flows due, and handles at most 32 in a row before
# it lets others run. The CNPs of such a slice have the same time in the lab's
# clock.
test_scan()
{
	local trace=/sys/kernel/tracing n

	mountpoint -q $trace || mount -t tracefs tracefs $trace
	modprobe sch_iqcn
	echo 16384 >$trace/buffer_size_kb
	echo 1 >$trace/events/iqcn/iqcn_cnp_sent/enable
	n=$(some 5000)
	many "$n" 15200000 trigger period period 15ms
	echo 0 >$trace/events/iqcn/iqcn_cnp_sent/enable
	note "$(sed -nE 's/.*due_ns=([0-9]+) late_ns=([0-9]+)/\1 \2/p' \
		$trace/trace | awk '
		{ n++; at = sprintf("%.0f", $1 + $2); if (++k[at] > max) max = k[at] }
		END { print n " CNPs, at most " max " at a time" }' |
		tee "$TMP/slices")"
	echo >$trace/trace
	check "CNPs in the trace" "$(cut -d ' ' -f 1 "$TMP/slices")" -gt "$n"
	check "CNPs in a slice" "$(cut -d ' ' -f 5 "$TMP/slices")" -le 32
	check "CNPs in a slice" "$(cut -d ' ' -f 5 "$TMP/slices")" -gt 8
}

# As many CNPs as are due in 20 ms are deferred at a time. All are sent 20 ms
# later, except those whose flow is not paired yet, and those that are still
# deferred when the congestion ends.
test_deferred()
{
	local n

	n=$(some 5000)
	many "$n" 20004000 delay 20ms
	check "deferred" "$(stat cnp_deferred)" -gt "$n"
	check "accounts" $(($(stat cnp_sent) + $(stat cnp_canceled) +
		$(stat cnp_unpaired))) -eq "$(stat cnp_deferred)"
}

# More flows than the table can hold, again and again
test_churn()
{
	topology bridge
	iqcn flows 1000 age 100ms
	data --tos 3 --flows 20000 --count 40000 --len 64
	check "flows" "$(stat flows)" -eq 1000
	check "flows left" $(($(stat flow_new) - $(stat flow_evicted))) -eq 1000
	sleep 0.3
	check "flows after aging" "$(stat flows)" -eq 0
	check "flows_unassured" "$(value flows_unassured)" -eq 0
}

run_tests
