#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the lab: the demo, bridged and routed.  $1 is the directory of the
# captures.

out=$1
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/../net/lib.sh"
insmod "$BUILD/uml/sch_iqcn.ko" || exit 1

T1_US=300
trace=/sys/kernel/tracing

# scene KIND NOTIFY: run 30 ms of the flows; traces and captures are in $TMP
scene()
{
	topology "$1"
	bottleneck 100mbit kmin 4000 kmax 8000 t1 ${T1_US}us notify "$2"
	# the flows are paired by their first ACKs
	np --time 90 --ack 1 --cnp 5000
	data --flows 3 --tos 3 --count 12 --interval 100 --len 64
	sleep 0.01
	echo mono >$trace/trace_clock
	echo >$trace/trace
	echo 1 >$trace/events/iqcn/enable
	in_ns snd tcpdump -Z root --immediate-mode -U -i e0 -w - \
		>"$TMP/sender.pcap" 2>/dev/null &
	tcpdump=$!
	sleep 0.02
	sniff snd --type cnp --mono --time 50
	data --flows 3 --psn 1000 --count 90 --len 4096
	sleep 0.045
	kill $tcpdump
	wait
	echo 0 >$trace/events/iqcn/enable
	grep iqcn_ $trace/trace >"$TMP/trace"
}

# silence: print for each flow the number of its CNPs, and the longest time in
# us in which its sender received none, both between the first and the last CE
# packet that the flow sent in congestion
silence()
{
	awk '
	function field(name) {
		match($0, name "=[^ ]*")
		return substr($0, RSTART + length(name) + 1,
			      RLENGTH - length(name) - 1)
	}
	FNR == NR {
		match($0, /[0-9]+\.[0-9]+:/)
		t = substr($0, RSTART, RLENGTH - 1) * 1e6
		if (/iqcn_queue_state/) congested = 1
		if (/iqcn_ce_sent/ && congested) {
			qp = field("dest_qp")
			if (!(qp in first)) first[qp] = t
			last[qp] = t
		}
		next
	}
	{
		qp = substr($7, length($7)) + 16
		t = $1 / 1000
		if (t < first[qp] || t > last[qp]) next
		gap = t - (qp in cnp ? cnp[qp] : first[qp])
		if (gap > max[qp]) max[qp] = gap
		cnp[qp] = t
		n[qp]++
	}
	END {
		for (qp = 17; qp <= 19; qp++)
			printf "%d %d\n", n[qp], max[qp]
	}' "$TMP/trace" "$TMP/snd"
}

# timeline: print 1.2 ms of each flow, from the middle of the trace
timeline()
{
	awk -v t1=$T1_US '
	function field(name) {
		match($0, name "=[^ ]*")
		return substr($0, RSTART + length(name) + 1,
			      RLENGTH - length(name) - 1)
	}
	function line(qp, t, text) {
		if (t >= from + 12000 && t < from + 13200)
			printf "%d %.3f 0x%06x %10.1f us  %s\n",
				qp, t, qp, t - from, text | "sort -s -k1,1n -k2,2n | cut -d\" \" -f3-"
	}
	FNR == NR {
		match($0, /[0-9]+\.[0-9]+:/)
		t = substr($0, RSTART, RLENGTH - 1) * 1e6
		if (/dest_qp/) qp = field("dest_qp")
		if (/iqcn_ce_sent/) {
			if (!from) from = t
			line(qp, t, "CE packet sent, PSN " field("psn"))
		} else if (/iqcn_cnp_seen/) {
			line(qp, t, "CNP of the receiver passes")
		} else if (/iqcn_cnp_sent/) {
			due = field("due_ns") / 1000
			line(qp, due, sprintf("  CNP due, %d us after the later of CE and CNP", t1))
			line(qp, due + 0.001, sprintf("  CNP injected on p1, %.1f us late", field("late_ns") / 1000))
		}
		next
	}
	{
		qp = substr($7, length($7)) + 16
		line(qp, $1 / 1000 + 0.002, "  CNP arrived at the sender, QP " $7)
	}' "$TMP/trace" "$TMP/snd"
}

# figures KIND: print a row per flow; fail unless the CNPs are as expected
figures()
{
	local row qp=17 rc=0 off on

	printf '%-10s %28s %28s\n' "$1" "receiver's CNPs only" "with the box's"
	printf '%-10s %14s %13s %14s %13s\n' flow CNPs "longest gap" CNPs \
		"longest gap"
	paste -d ' ' "$TMP/off" "$TMP/on" >"$TMP/rows"
	while read -r -a row; do
		printf '0x%06x   %14d %10d us %14d %10d us\n' $qp "${row[@]}"
		off=${row[1]} on=${row[3]}
		# a CE packet may restart the interval once
		[ "$on" -gt 0 ] && [ "$on" -le $((2 * T1_US)) ] &&
			[ "$off" -ge 4000 ] || rc=1
		qp=$((qp + 1))
	done <"$TMP/rows"
	echo
	return $rc
}

# Check that no CNP was late by more than a microsecond, that all arrived, and
# that the capture contains them
exactly()
{
	local sent arrived late captured

	sent=$(grep -c iqcn_cnp_sent "$TMP/trace")
	late=$(grep -o 'late_ns=[0-9]*' "$TMP/trace" | cut -d= -f2 |
		sort -n | tail -n 1)
	arrived=$(($(grep -c . "$TMP/snd") -
		   $(grep -c iqcn_cnp_seen "$TMP/trace")))
	captured=$(tcpdump -n -r "$TMP/sender.pcap" \
		"udp dst port 4791 and udp[8] = 0x81" 2>/dev/null | grep -c .)
	echo "$sent CNPs injected, the latest ${late:-0} ns after its deadline; $arrived arrived at the sender's port"
	echo
	[ "$sent" -gt 60 ] && [ "$arrived" = "$sent" ] && [ "$late" -le 1000 ] &&
		[ "$captured" -ge "$arrived" ]
}

rc=0
for kind in bridge router; do
	scene $kind off
	silence >"$TMP/off"
	cleanup
	scene $kind timer
	silence >"$TMP/on"
	cp "$TMP/sender.pcap" "$out/$kind.pcap"
	timeline
	echo
	figures $kind || rc=1
	exactly || rc=1
	cleanup
done
rmmod sch_iqcn || rc=1
exit $rc
