#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the lab: CNPs of the causes timer, wreb, pi, poll and drop, as the
# sender of the data receives them.  Each scene leaves in $1 a capture
# (SCENE.pcap), the output of the packet tool (SCENE.wire), and the module's
# trace (SCENE.trace).

out=$1
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/../net/lib.sh"
insmod "$BUILD/uml/sch_iqcn.ko" || exit 1

trace=/sys/kernel/tracing
# no marks, no minimum time between CNPs of a flow, and telemetry
COMMON="kmin 100m kmax 200m min-gap 0 telemetry on"

params()
{
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn "$@"
}

# begin MS: start the trace and tcpdump, and sniff CNPs for MS milliseconds
begin()
{
	echo mono >$trace/trace_clock
	echo >$trace/trace
	echo 1 >$trace/events/iqcn/iqcn_cnp_sent/enable
	in_ns snd tcpdump -Z root --immediate-mode -U -i e0 -w - \
		>"$TMP/pcap" 2>/dev/null &
	tcpdump=$!
	# wait until tcpdump listens
	sleep 0.02
	sniff snd --type cnp --time "$1"
}

# finish SCENE: wait for the packet tool and save the results
finish()
{
	wait $!
	kill $tcpdump
	wait
	echo 0 >$trace/events/iqcn/iqcn_cnp_sent/enable
	mv "$TMP/pcap" "$out/$1.pcap"
	mv "$TMP/snd" "$out/$1.wire"
	grep iqcn_cnp_sent: $trace/trace >"$out/$1.trace"
	echo "$1: $(grep -c . "$out/$1.wire") CNPs"
	[ -s "$out/$1.wire" ] || exit 1
	cleanup
}

# standing TAGS: the queue does not drain.  Packets of flows over both IP
# versions arrive, and some are dropped, which CNPs report even without
# telemetry.
standing()
{
	local v

	topology bridge "$1"
	# shellcheck disable=SC2086
	bottleneck 1kbit limit 60000 $COMMON profile 10000:1 notify off
	for v in "" -6; do
		# shellcheck disable=SC2086
		pair_flow $v
	done
	params notify wreb
	data --type udp --tos 0 --count 30
	begin 60
	for v in "" -6; do
		# shellcheck disable=SC2086
		data $v --len 1000 --count 6 --interval 100
	done
	data --type udp --tos 0 --count 60
	for v in "" -6; do
		# shellcheck disable=SC2086
		data $v --len 2000 --count 2 --interval 100 --psn 1000
		# shellcheck disable=SC2086
		data $v --len 2000 --tos 3 --count 2 --interval 100 --psn 2000
	done
	params telemetry off
	data --len 2000 --psn 3000
	data -6 --len 2000 --tos 3 --psn 3000
	finish "standing-$1"
}

# moving: the queue grows and shrinks, and drains at 80 Mbit/s
moving()
{
	topology bridge
	# shellcheck disable=SC2086
	bottleneck 80mbit limit 1m $COMMON notify off profile 5000:1
	pair_flow
	params notify wreb
	begin 60
	data --count 200 --interval 50
	data --count 60 --interval 200 --psn 1000
	finish moving
}

# sparse: CNPs by pi, also for sparse flows
sparse()
{
	topology bridge
	# shellcheck disable=SC2086
	bottleneck 1kbit limit 60000 $COMMON notify off qref 1000 \
		t1 225us
	pair_flow
	params notify pi
	data --type udp --tos 0 --count 28
	begin 60
	data --len 16 --count 4 --interval 5000
	finish sparse
}

# timed: CNPs by the timer
timed()
{
	topology bridge
	iqcn bandwidth 1mbit telemetry on
	pair_flow
	begin 60
	data --tos 3 --count 20 --interval 1000 --psn 1000
	finish timed
}

mkdir -p "$out" && cd "$out" && rm -f ./*.pcap ./*.wire ./*.trace || exit 1
standing none
standing vlan
standing qinq
moving
sparse
timed
rmmod sch_iqcn
