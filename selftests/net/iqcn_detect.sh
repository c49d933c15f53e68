#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Detectors of the congestion of queues and of single flows, which sample all CE
# packets or a part of them; and the copies that psample gets of sampled
# packets.
#
# Most packets arrive as CE, with the PSNs that a test lists, so no backlog is
# needed to mark them. Packets of 1082 bytes, one per 100 us, are 86.56 Mb/s.

ALL_TESTS="
	test_run_patent
	test_run_exit
	test_span
	test_both
	test_wrap
	test_go_back
	test_reorder
	test_reorder_sample
	test_sprayed
	test_read_responses
	test_gso
	test_quiet
	test_quiet_trigger_gap
	test_change_voids
	test_flow_moves
	test_flow_goes
	test_cnp_of_one_flow
	test_queue_comes_first
	test_queue_rate
	test_queue_quiet
	test_drain_falls
	test_drain_alone
	test_drain_stops
	test_drain_chunks
	test_others_stay
	test_others_share
	test_reasons
	test_sample
	test_sample_rate
	test_sample_run
	test_sample_span
	test_sample_gso
	test_sample_cnp
	test_sample_dense
	test_psample
	test_psample_depth
	test_psample_groups
	test_psample_two_queues
	test_psample_gso
	test_psample_netns_del
	test_psample_missing
	test_psample_module
"
NIGHTLY_TESTS="
	test_run_exit test_both test_go_back test_reorder_sample test_sprayed
	test_read_responses test_quiet_trigger_gap test_flow_goes
	test_cnp_of_one_flow test_queue_rate test_queue_quiet test_drain_alone
	test_drain_stops test_drain_chunks test_others_share test_reasons
	test_sample_rate test_sample_run test_sample_span test_sample_gso
	test_sample_cnp test_psample_depth test_psample_groups test_psample_gso
	test_psample_missing test_psample_module
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

TRACE=/sys/kernel/tracing
# a bandwidth at which no stream of these tests causes congestion
FAST="bandwidth 100gbit"
FULL="bandwidth 86560kbit"

# ce LIST [data argument...]: send CE packets with these PSNs
ce()
{
	data --tos 3 --list "$@"
}

# columns FILE KEY VALUE NAME...: print columns of a debugfs file of p1, from
# the line whose column KEY is VALUE, without forking
columns()
{
	local file=$1 key=$2 value=$3 line name out=""
	local -A at
	shift 3

	{
		# the header line starts with "#"
		read -ra line
		for name in "${!line[@]}"; do
			at[${line[name]}]=$((name - 1))
		done
		while read -ra line; do
			[ "${line[at[$key]]}" = "$value" ] || continue
			for name; do
				out+="${line[at[$name]]} "
			done
		done
	} </sys/kernel/debug/iqcn/*/p1/"$file"
	echo "${out% }"
}

# flow [QP] NAME...: print columns of the file "flows" for the flow to QP, by
# default the QP to which "data" sends
flow()
{
	[[ $1 == 0x* ]] || set -- 0x000011 "$@"
	columns flows dest_qp "$@"
}

# queue [PARENT] NAME...: print columns of the file "queues" for a queue, by
# default p1's root
queue()
{
	[[ $1 == *:* ]] || set -- ffff:ffff "$@"
	columns queues parent "$@"
}

# is WHAT STATE [QP]: check the state of a flow
is()
{
	check_eq "$1" "$(flow "${3:-0x000011}" state)" "$2"
}

# fresh PARAMETER...: recreate the qdisc, to lose all state
fresh()
{
	tc -n sw qdisc del dev p1 root 2>/dev/null
	iqcn "$@"
}

# change PARAMETER...
change()
{
	tc -n sw qdisc change dev p1 root handle 10: iqcn "$@"
}

# trace EVENT...: enable these events and clear the trace
trace()
{
	local event

	for event; do
		echo 1 >$TRACE/events/iqcn/iqcn_"$event"/enable
	done
	echo >$TRACE/trace
}

trace_off()
{
	echo 0 >$TRACE/events/iqcn/enable
}

# traced EVENT FIELD...: print these fields, one event per line. cat reads the
# trace, because bash would seek back to the end of a line, which the file does
# not support.
traced()
{
	local event=$1 line field out
	shift

	while read -r line; do
		[[ $line == *" iqcn_$event: "* ]] || continue
		out=""
		for field; do
			[[ " $line " =~ \ $field=([^\ ]*)\  ]]
			out+="${BASH_REMATCH[1]} "
		done
		echo "${out% }"
	done <<<"$(cat $TRACE/trace)"
}

# near WHAT GOT WANTED BY: check that the integer GOT is within BY of WANTED
near()
{
	local by=$(($2 - $3))

	[ "${by#-}" -le "$4" ] || fail "$1: $2, wanted $3 +- $4"
}

# Print the us from the flow's last CE packet until its state, or that of its
# queue, changed
change_after_ce()
{
	local change_us ce_us

	read -r change_us ce_us <<<"$(flow state_age_us ce_age_us)"
	echo $((ce_us - change_us))
}

# every N FIRST LAST [QP]: print the PSNs of a flow that "sample N" samples
every()
{
	local psn

	for ((psn = $2; psn <= $3; psn++)); do
		[ $(((psn + ${4:-0x11}) % $1)) != 0 ] || printf '%s ' $psn
	done
}

# qp_every N FIRST LAST [QP]: print the same PSNs as QP:PSN
qp_every()
{
	every "$@" | sed "s/[0-9]\+/$((${4:-0x11})):&/g"
}

# The example of US 12395431 B2: f1 has five consecutive PSNs, f2 has two
test_run_patent()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn detect queue,run run 5 $FAST
	trace flow_state
	ce 0:1,1:5,0:2e,0:3,1:6,0:4,0:5,0:6
	is "f1 after four" clear
	check "its run" "$(flow run)" -eq 4
	check "flows congested" "$(stat flows_congested)" -eq 0
	check "changes" "$(stat flow_state_changes)" -eq 0
	check_eq "reason" "$(flow reason state_age_us)" "none -"
	ce 0:7
	is "f1 after five" congested
	is "f2" clear 0x000012
	check "its run" "$(flow 0x000012 run)" -eq 2
	check "flows congested" "$(stat flows_congested)" -eq 1
	check "changes" "$(stat flow_state_changes)" -eq 1
	check_eq "reason" "$(flow reason)" run
	check_eq "the queue" "$(stat congested)$(stat state_reason)" none
	check_eq "changes of the queue" "$(stat state_changes)" 0
	check_eq "traced" "$(traced flow_state dest_qp congested reason run psn)" \
		"17 run run 5 7"
	trace_off
}

# The packets f2-5, f2-7 and f2-9 of the patent's example are runs of one, and
# do not make the flow congested. A run of at most run-exit packets ends the
# congestion of a flow.
test_run_exit()
{
	topology bridge
	iqcn detect run run 3
	trace flow_state
	ce 5,7,9
	is "5, 7, 9" clear
	ce 20-22
	is "20 to 22" congested
	ce 24
	is "a run of 3 has ended" congested
	ce 26
	is "a run of 1 has ended" clear
	check_eq "reason" "$(flow reason)" run
	check_eq "changes" "$(stat flow_state_changes)" 2
	check "flows congested" "$(stat flows_congested)" -eq 0
	check_eq "traced" "$(traced flow_state congested reason run psn)" \
		$'run run 3 22\nnone run 1 26'
	trace_off
	# a run of run-exit packets ends the congestion; a longer one does not
	ce 30-32,34,35,36,38,39,40,42
	is "runs of 3" congested
	ce 43,45
	is "a run of 2" clear
	change run-exit 0
	ce 50-52,54,56,58
	is "single holes, run-exit 0" congested
	ce 61
	is "two side by side" clear
}

# PSNs that differ by 1 or 2 begin congestion, and a difference of 3 does not.
# Differences of 3 to 9 continue the congestion, and a difference of 10 ends it.
test_span()
{
	topology bridge
	iqcn detect span span 100 span-enter 3
	ce 1-49,50e,51-99
	is "99 packets" clear
	ce 100
	is "100 packets" congested
	check_eq "reason" "$(flow reason)" span
	ce 101-110,115-130,139-300
	is "differences of 5 and 9" congested
	ce 309
	is "of 9" congested
	ce 319
	is "of 10" clear
	check_eq "reason" "$(flow reason)" span
	check "changes" "$(stat flow_state_changes)" -eq 2
	# the packet that ended the congestion is not one of the next 100
	ce 320-418
	is "99 packets" clear
	ce 419
	is "100 packets" congested

	# another flow: a difference of 3, then none in 100 packets
	ce 1:1-49,1:50e,1:51e,1:52-151
	is "a difference of 3" clear 0x000012
	ce 1:152
	is "100 packets after it" congested 0x000012
	check "flows congested" "$(stat flows_congested)" -eq 2
}

# With two detectors, a flow is congested as long as either of them reports
# congestion
test_both()
{
	topology bridge
	iqcn detect run,span run 5 run-exit 2 span 20 span-exit 5
	trace flow_state
	ce 1-5
	is "by the run" congested
	ce 7,9
	is "not long enough for span" clear
	ce 10-29
	is "by both" congested
	ce 31,33
	is "by span" congested
	ce 38
	is "by neither" clear
	check_eq "traced" "$(traced flow_state congested reason psn)" \
		$'run run 5\nnone run 9\nrun run 13\nnone span 38'
	trace_off
}

# PSNs have 24 bits; the index of a sampled PSN wraps at another PSN (sample.h)
test_wrap()
{
	local end=$((0x1000000))

	topology bridge
	iqcn detect run,span span 50
	ce $((end - 3))-$((end - 1)),0
	is "a run of 4" clear
	ce 1
	is "a run of 5" congested
	check_eq "reason" "$(flow reason)" run
	# QP 0x12: one PSN is missing; QP 0x13: the index wraps at another PSN
	ce 1:$((end - 2))-$((end - 1)),1:0e,1:1-4
	is "a PSN is missing" clear 0x000012
	check "run" "$(flow 0x000012 run)" -eq 4
	ce 2:$((end - 0x13 - 2))-$((end - 0x13 + 1))
	is "four" clear 0x000013
	ce 2:$((end - 0x13 + 2))
	is "five" congested 0x000013
	change detect span
	ce 3:$((end - 40))-$((end - 1)),3:0-8
	is "span of 49" clear 0x000014
	ce 3:9
	is "span of 50" congested 0x000014
	# the last multiple of 7 is next to 0
	change detect run sample 7
	ce 4:$((end - 0x15 - 15))-$((end - 0x15 + 6))
	is "four" clear 0x000015
	check "sampled" "$(flow 0x000015 ce_sent)" -eq 4
	ce 4:$((end - 0x15 + 7))
	is "five" congested 0x000015
}

# Retransmitted PSNs neither end a run nor lengthen it
test_go_back()
{
	topology bridge
	iqcn detect run,span span 8
	ce 1-4,2-4,3-4,1-4
	is "four, some retransmitted" clear
	check "run" "$(flow run)" -eq 4
	ce 5
	is "the fifth" congested
	ce 2-5,4,1-5
	is "retransmitted" congested
	check "run" "$(flow run)" -eq 5
	# a PSN missing among them ends the run as usual
	ce 1,3-5
	is "retransmitted except one" congested
	check "run" "$(flow run)" -eq 3
	# an old PSN again, and then the one that follows the highest PSN
	ce 3,6
	is "the next PSN" congested
	check "run" "$(flow run)" -eq 4
	check "changes" "$(stat flow_state_changes)" -eq 1
	# a large step back means that the PSNs belong to another connection
	ce 1:100000-100003,1:1-4
	is "four and four" clear 0x000012
	check "run" "$(flow 0x000012 run)" -eq 4
	ce 1:5
	is "five" congested 0x000012
}

# swapped STEP FIRST COUNT: print a list of COUNT PSNs from FIRST on, STEP
# apart, with two of every four swapped
swapped()
{
	local step=$1 first=$2 count=$3 i list=""

	for ((i = 0; i < count; i += 4)); do
		list+=,$((first % 0x1000000))
		list+=,$(((first + step) % 0x1000000))
		list+=,$(((first + 3 * step) % 0x1000000))
		list+=,$(((first + 2 * step) % 0x1000000))
		first=$((first + 4 * step))
	done
	echo "${list#,}"
}

# From the second swapped pair on, reordering does not end a run; a packet that
# is not CE still does
test_reorder()
{
	local first=$((0x1000000 - 40))

	topology bridge
	iqcn detect run,span span 20 span-enter 2 span-exit 3 t1 300us
	pair_flow
	check "paired" "$(stat flows_paired)" -eq 1
	sniff snd --type cnp --time 80
	ce "$(swapped 1 $first 72)" --interval 500
	is "all of them CE" congested
	check "run" "$(flow run)" -eq 69
	check "changes" "$(stat flow_state_changes)" -eq 1
	wait
	# one for each packet from the eighth on
	check "CNPs" "$(grep -c 'qp 0x800011' "$TMP/snd")" -ge 63

	change detect run
	ce 1:1-2,1:4,1:3,1:5-8
	is "4 to 8" congested 0x000012
	check "run after reordering" "$(flow 0x000012 run)" -eq 5
	ce 1:10
	check "run, while 9 may be late" "$(flow 0x000012 run)" -eq 5
	ce 1:12
	check "run, as 9 is missing" "$(flow 0x000012 run)" -eq 1
	is "a run of 5 has ended" congested 0x000012
	ce 1:13
	is "a run of 1 has ended" clear 0x000012
	ce 1:16-18
	check "run" "$(flow 0x000012 run)" -eq 3
	ce 1:14
	check "run, 14 comes too late" "$(flow 0x000012 run)" -eq 3
	ce 1:21-23
	check "run, while 19 and 20 may be late" "$(flow 0x000012 run)" -eq 3
	ce 1:19-20
	is "16 to 23" congested 0x000012
	check "run" "$(flow 0x000012 run)" -eq 8
}

test_reorder_sample()
{
	local first=$((0x1000000 - 0x11 - 160))

	topology bridge
	iqcn detect run sample 8
	ce "$(swapped 8 $first 4)"
	is "four" clear
	ce "$(swapped 8 $((first + 32)) 68)"
	is "68 more" congested
	check "run" "$(flow run)" -eq 69
	check "sampled" "$(flow ce_sent)" -eq 72
}

# Every fourth PSN of a sprayed flow leaves by this box, over two paths, one of
# which is slower: no detector reports congestion, and there is no CNP. If all
# PSNs leave here, the source port does not matter.
test_sprayed()
{
	local psn psns=""

	topology bridge
	# shellcheck disable=SC2086
	iqcn detect run,span span 50 span-exit 3 $FAST $TIMER
	pair_flow
	for ((psn = 1000; psn < 2000; psn += 8)); do
		psns+=,$((psn + 80)),$((psn + 4))
	done
	sniff snd --type cnp --time 100
	ce "${psns#,}" --interval 200 --spray 8
	wait
	is "every fourth PSN" clear
	check "CNPs" "$(grep -c . "$TMP/snd")" -eq 0
	check "changes" "$(stat flow_state_changes)" -eq 0
	sniff snd --type cnp --time 60
	ce 3000-3009 --interval 1000 --spray 8
	is "all PSNs" congested
	wait
	check "CNPs for all PSNs" "$(grep -c . "$TMP/snd")" -ge 3
}

# READ responses carry PSNs of the other direction's requests
test_read_responses()
{
	topology bridge
	iqcn detect run $TIMER
	ce 1-3
	ce 900 --opcode 0x0f
	check "run" "$(flow run)" -eq 3
	ce 4-5
	is "a run of 4" clear
	ce 6
	is "a run of 5" congested
	# a flow of READ responses only is like any other
	ce 1:500-503 --opcode 0x0e
	is "four responses" clear 0x000012
	ce 1:504 --opcode 0x0e
	is "five" congested 0x000012
}

# gso_topology: let the stack of snd send, with a neighbor entry for rcv
gso_topology()
{
	topology bridge
	addresses snd
	ip -n snd neigh add $RCV4 lladdr $RCV_MAC dev e0
}

# gso FIRST LAST [data argument...]: send one GSO packet of CE segments with
# these PSNs
gso()
{
	data --gso $(($2 - $1 + 1)) --tos 3 --psn "$1" --sport 4000 --len 500 \
		"${@:3}"
}

test_gso()
{
	gso_topology
	iqcn detect run run 7
	gso 1 3
	gso 4 6
	is "six segments" clear
	check "run" "$(flow run)" -eq 6
	gso 4 6
	check "run, retransmitted" "$(flow run)" -eq 6
	# the last of these is new
	gso 4 7
	is "seven" congested
	check "run" "$(flow run)" -eq 7
	gso 9 10
	gso 12 13
	is "a run of 2" clear
	gso 13 20
	is "more segments than the threshold" congested
	check "CE packets sent" "$(stat ce_sent)" -eq 25
	check_eq "last PSN" "$(flow psn)" 20
}

# Idle timeout: 2 * (window + t1 + time between two packets), checked when T1
# expires next
test_quiet()
{
	local us

	topology bridge
	iqcn detect run $TIMER
	trace flow_state
	ce 1-5
	is "five" congested
	sleep 0.002
	is "within 2.6 ms" congested
	sleep 0.001
	is "after 3 ms" clear
	check_eq "reason" "$(flow reason)" quiet
	check "changes" "$(stat flow_state_changes)" -eq 2
	check "flows congested" "$(stat flows_congested)" -eq 0
	check_eq "traced" "$(traced flow_state congested reason psn)" \
		$'run run 5\nnone quiet 5'
	trace_off
	us=$(change_after_ce)
	check "us until clear" "$us" -ge 2600
	check "us until clear" "$us" -le 2902
	# earlier PSNs are not part of the next run
	change window 5ms t1 1ms notify off
	ce 11-15
	sleep 0.011
	is "within 12 ms" congested
	sleep 0.003
	is "after 14 ms" clear
	us=$(change_after_ce)
	check "us until clear" "$us" -ge 12000
	check "us until clear" "$us" -le 13002
	# a flow whose packets are always 4 ms apart does not time out
	change window 1ms t1 300us notify timer
	ce 21-27 --interval 4000
	is "4 ms apart" congested
	check "changes" "$(stat flow_state_changes)" -eq 5
	sleep 0.03
	is "after 30 ms" clear
	us=$(change_after_ce)
	check "us until clear" "$us" -ge 10600
	check "us until clear" "$us" -le 10902
}

# The idle timeout works with trigger gap, too, where only packets send CNPs
test_quiet_trigger_gap()
{
	local base us

	topology bridge
	for base in ce cnp both; do
		fresh detect run trigger gap base $base
		ce 1-5
		is "base $base" congested
		sleep 0.004
		is "base $base, after a silence" clear
		us=$(change_after_ce)
		check "base $base, us" "$us" -ge 2600
		check "base $base, us" "$us" -le 2902
	done
}

# A change of the detectors or of the sampling resets the state of flows
test_change_voids()
{
	topology bridge
	iqcn detect run $TIMER
	ce 1-5
	is "five" congested
	change t1 200us
	is "after a change of t1" congested
	change detect run,span
	is "after a change of detectors" clear
	check "flows congested" "$(stat flows_congested)" -eq 0
	ce 6-9
	is "four" clear
	ce 10
	is "five" congested
	change sample 2
	is "after a change of the sample" clear
	check "flows congested" "$(stat flows_congested)" -eq 0
	ce 11-18
	is "four" clear
	ce 19
	is "five" congested
	tc -n sw qdisc del dev p1 root
	iqcn detect run $TIMER
	ce 1-5
	ip -n sw link set p1 down
	ip -n sw link set p1 up
	is "after the link was down" clear
	check "flows congested" "$(stat flows_congested)" -eq 0
}

# A flow that moves to another queue loses its state
test_flow_moves()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 1:1 handle 10: iqcn detect run $TIMER
		qdisc add dev p1 parent 1:2 handle 20: iqcn detect run $TIMER
		filter add dev p1 parent 1: protocol ip prio 1 u32 match ip tos 0x23 0xff flowid 1:2
	EOF
	ce 1-5,1:1-2
	check "congested in the first queue" "$(stat flows_congested)" -eq 1
	# a flow stays in a queue through which CE packets left lately
	sleep 0.005
	ce 6-9 --tos 0x23
	check "congested after the move" "$(stat flows_congested)" -eq 0
	check "second queue, a run of 4" "$(stat flows_congested p1 20:)" -eq 0
	ce 10 --tos 0x23
	check "second queue, a run of 5" "$(stat flows_congested p1 20:)" -eq 1
	check_eq "its queue" "$(flow parent state)" "1:2 congested"
}

# A flow that was evicted or has expired is no longer counted
test_flow_goes()
{
	topology bridge
	iqcn detect run flows 2 window 100ms t1 100ms age 250ms
	ce 0:1-5,1:1-5
	check "flows congested" "$(stat flows_congested)" -eq 2
	ce 2:1-5
	check "flows congested, one evicted" "$(stat flows_congested)" -eq 2
	check "evicted" "$(stat flow_evicted)" -eq 1
	sleep 0.3
	check "aged" "$(stat flow_aged)" -eq 2
	check "flows congested after aging" "$(stat flows_congested)" -eq 0
}

# While the queue is clear, only the congested flow gets CNPs
test_cnp_of_one_flow()
{
	local i list=""

	topology bridge
	# shellcheck disable=SC2086
	iqcn detect queue,run t1 300us $FAST
	pair_flow
	pair_flow --qp 0x12 --psn 30000
	check "paired" "$(stat flows_paired)" -eq 2
	sniff snd --type cnp --time 60
	sniff rcv --type data --time 60
	for i in {0..11}; do
		list+=,0:$((1000 + i)),1:$((40000 + i * 3))
	done
	ce "${list#,}" --interval 500
	wait
	# one for each packet from the fifth on
	check "CNPs" "$(grep -c 'qp 0x800011' "$TMP/snd")" -eq 8
	check "CNPs of the other" "$(grep -c 'qp 0x800012' "$TMP/snd")" -eq 0
	check "cnp_sent" "$(stat cnp_sent)" -eq 8
	virtual_time && check_eq "gaps" "$(gaps | grep -vxE '30[01]')" ""
	check_eq "the queue" "$(stat state_changes)" 0
}

# While the queue is congested, so are all its flows, and their own detectors do
# not run
test_queue_comes_first()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn detect queue,run run 20 $FULL
	ce 0:1-20 --interval 1000
	check_eq "the flow, by its run" "$(flow state reason)" "congested run"
	check_eq "the queue" "$(queue state)" clear
	# flow 2 has 5 packets within the first window
	data --tos 3 --flows 2 --psn 21 --count 60 --interval 100
	check_eq "the queue" "$(queue state reason)" "congested queue"
	check_eq "flow 1" "$(flow state reason)" "congested queue"
	check_eq "flow 2" "$(flow 0x000012 state reason)" \
		"congested queue"
	check "flows congested" "$(stat flows_congested)" -eq 2
	# reading the clock takes longer with KASAN, so the run may have one
	# more packet
	check "run of flow 1" "$(flow run)" -ge 25
	check "run of flow 1" "$(flow run)" -le 26
	check "run of flow 2" "$(flow 0x000012 run)" -eq 5
	check "changes of flows" "$(stat flow_state_changes)" -eq 1
	sleep 0.01
	check_eq "the queue" "$(queue state reason)" "clear quiet"
	check_eq "flow 1" "$(flow state reason)" "clear quiet"
	check_eq "flow 2" "$(flow 0x000012 state)" clear
	check "flows congested" "$(stat flows_congested)" -eq 0
	# the detectors of flows start without any state
	ce 51-69,1:4150-4168 --interval 500
	is "flow 1, 19 packets" clear
	check "its run" "$(flow run)" -eq 19
	ce 1:4169
	is "flow 2, 20 packets" congested 0x000012
	is "flow 1" clear
	check "changes of flows" "$(stat flow_state_changes)" -eq 2
	check "flows congested" "$(stat flows_congested)" -eq 1
}

# stream PERCENT COUNT [data argument...]: send CE packets at PERCENT of $FULL
stream()
{
	local ns=$((10000000 / $1))

	data --tos 3 --count "$2" --interval "${ns%???}.${ns: -3}" "${@:3}"
}

# rate PERCENT: check the CE rate of the queue, within 0.1 %
rate()
{
	near "bit/s at $1 %" "$(queue ce_rate_bps)" $((865600 * $1)) \
		$((866 * $1))
}

# queue_rate WINDOW-US: check that the queue becomes congested at 90 % of the
# bandwidth and clear below 60 %, at the end of a window
queue_rate()
{
	local window_us=$1 packets=$((5 * $1 / 100)) close_us last_us

	# shellcheck disable=SC2086
	fresh detect queue enter 90 exit 60 window ${window_us}us $FULL
	stream 89 $packets
	rate 89
	check_eq "89 %" "$(queue state reason)" "clear none"
	check "its flow" "$(stat flows_congested)" -eq 0

	sleep 0.1
	stream 95 $((packets + 1))
	rate 95
	check_eq "95 %" "$(queue state reason)" "congested queue"
	check_eq "its flow" "$(flow state reason)" "congested queue"
	# Either the packet that ends the first window or the packet before it
	# makes the queue congested, depending on a step of the clock. Expect
	# the middle between the two.
	close_us=$(((window_us * 95 / 10000 + 1) * 10000 / 95))
	last_us=$((packets * 10000 / 95))
	# times are exact only in virtual time
	virtual_time && near "us to the last packet" "$(change_after_ce)" \
		$((close_us - last_us - 10000 / 95 / 2)) $((10000 / 95 / 2 + 3))

	stream 75 $packets
	rate 75
	check_eq "75 %" "$(queue state)" congested
	stream 61 $packets
	rate 61
	check_eq "61 %" "$(queue state)" congested
	check "changes" "$(stat state_changes)" -eq 1
	stream 59 $((packets + 1))
	rate 59
	check_eq "59 %" "$(queue state reason)" "clear queue"
	check_eq "its flow" "$(flow state)" clear
	# the queue becomes clear one or two windows after the first packet of
	# this stream; allow for the time between packets, 170 us
	last_us=$((packets * 10000 / 59))
	close_us=$((last_us + $(change_after_ce)))
	check "us until clear" $close_us -ge $((window_us - 170))
	check "us until clear" $close_us -le $((2 * window_us + 340))
	# wait, because a packet right after another would add 1 % of the window
	sleep 0.1
	stream 89 $packets
	check_eq "89 %" "$(queue state)" clear
	check "changes" "$(stat state_changes)" -eq 2
}

test_queue_rate()
{
	topology bridge
	queue_rate 1000
	queue_rate 4000
}

# The idle timeout of a queue runs from the end of its last window. It is twice
# the sum of the window and the time between packets.
test_queue_quiet()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn detect queue $FULL
	stream 95 31
	check_eq "at the end of the stream" "$(queue state reason)" \
		"congested queue"
	sleep 0.0015
	check_eq "1.5 ms later" "$(queue state)" congested
	sleep 0.001
	check_eq "2.5 ms later" "$(queue state reason)" "clear quiet"
	near "us until clear" "$(change_after_ce)" 2200 3
	check_eq "in tc" "$(stat state_reason) $(stat congested)" "quiet "
	near "ns in tc" "$(($(stat state_since_ns) / 1000))" \
		"$(queue state_age_us)" 1000
	check "changes" "$(stat state_changes)" -eq 2
}

# A queue whose drain rate falls to a quarter sends CE packets at a quarter of
# the rate. That does not end its congestion, at whatever point of a window the
# rate changes.
test_drain_falls()
{
	local s rate n=0

	topology bridge
	bottleneck 80mbit limit 10m kmin 3000 kmax 4000 detect queue
	data --count 4000
	for s in .02 .0131 .0132 .0133 .0134 .0135 .0136 .0137 .0138 .0139; do
		sleep $s
		rate=$((n++ % 2 ? 80 : 20))
		tc -n sw qdisc change dev p1 root handle 1: tbf rate ${rate}mbit \
			burst 9k limit 1g
	done
	check "backlog" "$(stat qlen)" -gt 1000
	check_eq "congested" "$(stat congested)" '"queue"'
	check "changes" "$(stat state_changes)" -eq 1
}

# Packets that are alone in the queue do not show at what rate it drains,
# however large they are: the CE rate is compared with the link rate
test_drain_alone()
{
	topology bridge
	iqcn kmin 1000 kmax 2000 detect queue
	data --tos 3 --len 1024 --count 40 --interval 1000
	check "peak depth above Kmin" "$(stat depth_peak_bytes)" -gt 1000
	check "ce_sent" "$(stat ce_sent)" -eq 40
	check "changes" "$(stat state_changes)" -eq 0
	check "roce_bps" "$(stat roce_bps)" -eq 10000000000
}

# A paused port sends no CE packets, but its backlog remains, so the queue stays
# congested. The same holds right after a burst, when the measured time between
# packets is long.
test_drain_stops()
{
	topology bridge
	bottleneck 80mbit limit 10m kmin 3000 kmax 4000 detect queue
	data --count 400
	sleep 0.005
	check_eq "congested" "$(stat congested)" '"queue"'
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 8kbit burst 9k limit 1g
	sleep 0.05
	check "packets that wait" "$(stat qlen)" -gt 50
	check_eq "paused" "$(stat congested)" '"queue"'
	check "CE rate, kept" "$(stat ce_rate_bps)" -gt 60000000
	release
	sleep 0.05
	check "packets that wait" "$(stat qlen)" -eq 0
	check_eq "in the end" "$(stat state_reason) $(stat congested)" "quiet "
	check "changes" "$(stat state_changes)" -eq 2
}

# Packets without CE are measured in chunks of a sixteenth of qref, here of ten
# packets
test_drain_chunks()
{
	topology bridge
	bottleneck 100mbit kmin 10000 kmax 20000 pmax 0 qref 160k notify pi
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 50mbit burst 9k limit 1g
	data --type udp --tos 0 --len 1024 --count 200
	sleep 0.02
	near "drain rate in kbit/s" $(($(stat roce_bps) / 1000)) 50000 2500
}

# The RoCE traffic ends while other traffic keeps the backlog
test_others_stay()
{
	topology bridge
	bottleneck 80mbit limit 10m kmin 3000 kmax 4000 detect queue
	data --count 400
	data --type udp --tos 0 --count 1000
	sleep 0.02
	check_eq "congested" "$(stat congested)" '"queue"'
	sleep 0.05
	check "other packets that wait" "$(stat qlen)" -gt 400
	check_eq "end by" "$(stat state_reason) $(stat congested)" "quiet "
	check "CE rate" "$(stat ce_rate_bps)" -eq 0
}

# shared CE-INTERVAL ECT-INTERVAL: send RoCE packets, and as many other UDP
# packets, so that half of the 80 Mb/s that leave is RoCE. The intervals are
# those between CE packets and between ECT packets, in us (0: no ECT packets).
shared()
{
	local ce_us=$1 ect_us=$2

	# 1,082 bytes each, so 43.28 Mb/s of RoCE and as much of other UDP
	data --type udp --tos 0 --len 1024 --count 600 --interval 200 &
	data --tos 3 --count $((120000 / ce_us)) --interval "$ce_us" &
	[ "$ect_us" = 0 ] || data --tos 2 --qp 0x12 \
		--count $((120000 / ect_us)) --interval "$ect_us" &
	sleep 0.1
}

# The CE rate is compared with the RoCE rate, which other traffic reduces
test_others_share()
{
	topology bridge
	bottleneck 80mbit limit 10m kmin 3000 kmax 4000 detect queue
	shared 200 0
	check_eq "all of RoCE is CE" "$(stat state_reason) $(stat congested)" \
		'queue "queue"'
	check "changes" "$(stat state_changes)" -eq 1
	near "RoCE rate" "$(stat roce_bps)" 40000000 4000000
	near "CE rate" "$(stat ce_rate_bps)" "$(stat roce_bps)" 4000000
	wait
	sleep 0.05

	# without a backlog the reduced rate does not apply: 57.7 of 80 Mb/s
	check "packets that wait" "$(stat qlen)" -eq 0
	data --tos 3 --count 100 --interval 150
	check_eq "RoCE alone" "$(stat congested)" ""

	# the queue marks nothing
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn kmax 9m pmax 0
	shared 400 400
	check "backlog" "$(stat backlog)" -gt 10000
	check_eq "half of RoCE is CE" "$(stat congested)" ""
	check "changes" "$(stat state_changes)" -eq 2
	# a reset voids the measured rate, so the rate of tbf applies
	ip -n sw link set p1 down
	check "RoCE rate" "$(stat roce_bps)" -eq 80000000
}

# The reasons for a queue's changes of state, in tc, debugfs and the trace
test_reasons()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn detect queue $FULL
	check_eq "at first" "$(stat state_reason) $(stat state_since_ns)" \
		"none 0"
	trace queue_state
	stream 95 31
	check_eq "rate" "$(stat state_reason)" queue
	sleep 0.01
	check_eq "idle timeout" "$(stat state_reason)" quiet
	stream 95 31
	change detect depth
	check_eq "other parameters" "$(stat state_reason)" reset
	change detect queue
	stream 95 31
	ip -n sw link set p1 down
	check_eq "link down" "$(stat state_reason)" reset
	check_eq "in debugfs" "$(queue state reason)" "clear reset"
	check_eq "traced" "$(traced queue_state congested reason)" \
		$'queue queue\nnone quiet\nqueue queue\nnone reset\nqueue queue\nnone reset'
	near "rate traced" \
		"$(traced queue_state ce_rate_bps | head -n 1)" 82232000 82232
	check_eq "bandwidth traced" \
		"$(traced queue_state roce_bps | sort -u)" 86560000
	cleanup

	topology bridge
	bottleneck 8656kbit kmin 3000 kmax 6000 detect queue,depth \
		bandwidth 1tbit
	echo >$TRACE/trace
	data --count 30
	sleep 0.01
	check_eq "depth" "$(stat state_reason) $(stat congested)" \
		'depth "depth"'
	sleep 0.1
	check_eq "in debugfs" "$(queue 1:1 state reason)" \
		"clear depth"
	check_eq "traced" "$(traced queue_state congested reason)" \
		$'depth depth\nnone depth'
	trace_off
}

# sampled_psns: print QP and PSN of each sampled packet, from the trace
sampled_psns()
{
	traced ce_sent dest_qp psn | tr ' \n' ': '
}

# One packet in N of each flow is sampled, by PSN and QP
test_sample()
{
	topology bridge
	iqcn sample 8
	trace ce_sent
	ce 0:0-63,1:100-163,2:16777200-16777215,2:0-47
	check_eq "sampled packets" "$(sampled_psns)" \
		"$(qp_every 8 0 63)$(qp_every 8 100 163 0x12)$(qp_every 8 \
		16777200 16777215 0x13)$(qp_every 8 0 47 0x13)"
	check "ce_sent" "$(stat ce_sent)" -eq 192
	check "ce_in" "$(stat ce_in)" -eq 192
	check "sampled" "$(stat ce_sampled)" -eq 24
	check "ce_sent of the port" "$(value ce_sent)" -eq 192
	check "ce_sampled of the port" "$(value ce_sampled)" -eq 24
	check_eq "by flow" "$(flow ce_sent) $(flow 0x000012 ce_sent) $(flow \
		0x000013 ce_sent)" "8 8 8"
	change sample 64
	echo >$TRACE/trace
	ce 0:64-191,3:1000-1062
	check_eq "one in 64" "$(sampled_psns)" \
		"$(qp_every 64 64 191)$(qp_every 64 1000 1062 0x14)"
	check "ce_sent" "$(stat ce_sent)" -eq 383
	check "sampled" "$(stat ce_sampled)" -eq 27
	change sample 1
	ce 0:192-201
	check "sampled with sample 1" "$(stat ce_sampled)" -eq 37
	trace_off
}

# With sampling, the CE rate still includes all packets
test_sample_rate()
{
	local sample window

	topology bridge
	for sample in 8 64; do
		window=$((sample * 500))
		# shellcheck disable=SC2086
		fresh detect queue sample $sample window ${window}us $FULL
		stream 95 $((sample * 40)) --flows 4
		near "1 in $sample, bit/s at 95 %" "$(queue ce_rate_bps)" \
			82232000 822320
		check_eq "95 %" "$(queue state reason)" \
			"congested queue"
		stream 75 $((sample * 40)) --flows 4 --psn 5000
		near "1 in $sample, bit/s at 75 %" "$(queue ce_rate_bps)" \
			64920000 649200
		check_eq "75 %" "$(queue state)" congested
		stream 59 $((sample * 40)) --flows 4 --psn 10000
		near "1 in $sample, bit/s at 59 %" "$(queue ce_rate_bps)" \
			51070400 510704
		check_eq "59 %" "$(queue state reason)" "clear queue"
		check "changes" "$(stat state_changes)" -eq 2
		stream 89 $((sample * 40)) --flows 4 --psn 15000
		check_eq "89 %" "$(queue state)" clear
		check "ce_sent" "$(stat ce_sent)" -eq $((sample * 160))
		near "1 in $sample" "$(stat ce_sampled)" 160 16
	done
}

# With sampling, a run is N consecutive sampled packets
test_sample_run()
{
	local psn all="" half=""

	topology bridge
	iqcn detect run run 5 sample 8
	# sampled: 7, 15, 23, 31, 39
	ce 1-38
	is "four of them" clear
	check "run" "$(flow run)" -eq 4
	ce 39
	is "five" congested
	# PSN 42 is not sampled, so it neither extends nor ends the run
	ce 42,47,55,63
	is "others of the sample are missing" congested
	check "run" "$(flow run)" -eq 8
	# 71 and 87 are not CE
	ce 64-70,71e,72-79
	is "a run of 8 has ended" congested
	ce 80-86,87e,88-95
	is "a run of 1 has ended" clear

	# every second packet is not CE, nor is every second sampled packet
	for ((psn = 1; psn <= 200; psn += 2)); do
		all+=,1:$psn,1:$((psn + 1))
		half+=,1:$psn,1:$((psn + 1))e
	done
	change sample 5
	ce "${half#,}"
	is "every second" clear 0x000012
	check "run" "$(flow 0x000012 run)" -eq 1
	check "sampled" "$(flow 0x000012 ce_sent)" -eq 20
	change sample 7
	ce "${all#,}"
	is "all" congested 0x000012
	change sample 8
	half=""
	for ((psn = 0; psn < 256; psn += 16)); do
		half+=,2:$psn-$((psn + 7)),2:$((psn + 8))-$((psn + 15))e
	done
	ce "${half#,}"
	is "eight by eight" clear 0x000013
	check "sampled" "$(flow 0x000013 ce_sent)" -eq 16
}

test_sample_span()
{
	topology bridge
	iqcn detect span span 10 span-enter 3 sample 8
	# sampled: 7, 15, ..., 79; 31 is not CE
	ce 0-30,31e,32-78
	is "nine of them" clear
	ce 79
	is "ten, and one is missing" congested
	check_eq "reason" "$(flow reason)" span
	# QP 0x12: 6, 14, ..., 118; 22 and 30 are not CE
	ce 1:0-20,1:22e,1:30e,1:31-117
	is "two are missing" clear 0x000012
	ce 1:118
	is "ten after that" congested 0x000012
}

# All of a GSO packet is sampled if one of its segments is
test_sample_gso()
{
	local psn

	gso_topology
	iqcn detect run run 5 sample 8
	for ((psn = 0; psn < 36; psn += 4)); do
		gso $psn $((psn + 3))
	done
	is "7, 15, 23, 31" clear
	check "run" "$(flow run)" -eq 4
	check "ce_sent" "$(stat ce_sent)" -eq 36
	check "sampled" "$(stat ce_sampled)" -eq 16
	gso 36 39
	is "39" congested
	# QP 0x12: 6 and 14; 22; 30, 38 and 46
	gso 0 15 --qp 0x12
	check "run" "$(flow 0x000012 run)" -eq 2
	gso 16 29 --qp 0x12
	check "run" "$(flow 0x000012 run)" -eq 3
	gso 30 46 --qp 0x12
	is "six" congested 0x000012
	check "run" "$(flow 0x000012 run)" -eq 6
	# QP 0x13: 5; 13 and 21, which are not CE; 29 and 37
	gso 0 12 --qp 0x13
	gso 13 28 --qp 0x13 --tos 2
	gso 29 44 --qp 0x13
	check "run" "$(flow 0x000013 run)" -eq 2
}

# A flow sends a packet per millisecond, of which every eighth is sampled. It
# gets about one CNP per packet until the idle timeout.
test_sample_cnp()
{
	local first

	topology bridge
	iqcn detect run run 5 sample 8 t1 300us
	np --time 60 --ack 1
	ce 100-131 --interval 1000 --len 64
	wait
	check "paired" "$(stat flows_paired)" -eq 1
	sniff snd --type cnp --time 200
	sniff rcv --type data --time 200
	# the fifth sampled packet has PSN 1039, the last one 1127
	ce 1000-1127 --interval 1000
	wait
	check "CNPs of other flows" "$(grep -vc 'qp 0x800011' "$TMP/snd")" -eq 0
	first=$(gaps_ns | head -n 1)
	virtual_time && near "ns from the fifth to the first CNP" "$first" \
		300000 1000
	# times without their first six digits, because awk keeps only 15 digits
	check_eq "CNPs out of time" "$(awk '
		FNR == NR { t = substr($1, 7) + 0; if (/psn 1039 /) from = t
			    to = t; next }
		{ t = substr($1, 7) + 0 }
		!n++ && t < from { print "first", t - from }
		n > 1 && t < to && t - cnp > 1300000 { print t - cnp }
		t > to + 19000000 { print "last", t - to }
		{ cnp = t }' "$TMP/rcv" "$TMP/snd")" ""
	check "CNPs" "$(grep -c . "$TMP/snd")" -ge 70
	check "CNPs" "$(grep -c . "$TMP/snd")" -le 115
	is "after the idle timeout" clear
}

# load psample's module, which an earlier test may have unloaded
psample_loaded()
{
	modprobe psample || fail "psample does not load"
}

# reader GROUP [MS]: write what psample sends to a group into $TMP/group.GROUP
reader()
{
	local ready=$TMP/ready.$1

	rm -f "$ready"
	"$BUILD/psample" sw "$1" --time "${2:-20}" --ready "$ready" \
		>"$TMP/group.$1" &
	until [ -e "$ready" ] || ! kill -0 $! 2>/dev/null; do
		sleep 0.001
	done
}

# copies GROUP: print QP and PSN of each copy. The BTH starts at byte 42.
copies()
{
	local f hex out=""

	while read -ra f; do
		hex=${f[13]}
		out+="$((16#${hex:94:6})):$((16#${hex:102:6})) "
	done <"$TMP/group.$1"
	echo "$out"
}

# psample_users: print the number of users of psample's module, or nothing if it
# is not loaded
psample_users()
{
	local name users

	while read -r name _ users _; do
		[ "$name" != psample ] || echo "$users"
	done </proc/modules
}

# psample gets a copy of each sampled packet, as it was sent
test_psample()
{
	local start_us end_us oif line n=0

	psample_loaded
	topology bridge
	iqcn sample 8 group 5
	oif=$(ip netns exec sw cat /sys/class/net/p1/ifindex)
	reader 5
	start_us=${EPOCHREALTIME/./}
	ce 0:0-63,1:100-163 --interval 10
	end_us=${EPOCHREALTIME/./}
	wait
	check_eq "copies" "$(copies 5)" \
		"$(qp_every 8 0 63)$(qp_every 8 100 163 0x12)"
	check_eq "fields except time and data" \
		"$(awk '{ $10 = $14 = ""; print }' "$TMP/group.5" | sort -u)" \
		"group 5 rate 8 oif $oif depth 0 time  len 1082 data "
	while read -ra line; do
		check "time of a copy in us" "$((line[9] / 1000))" -ge \
			$((start_us + (n < 8 ? 70 : 660) + n % 8 * 80))
		check "time of a copy in us" "$((line[9] / 1000))" -le "$end_us"
		n=$((n + 1))
	done <"$TMP/group.5"
	# a copy contains the first 128 bytes of the packet
	check_eq "the second copy" "$(sed -n '2s/.*data //p' "$TMP/group.5")" \
		"$(data --tos 3 --psn 15 --hex | cut -c 1-256)"
	check_eq "the last copy" "$(sed -n '$s/.*data //p' "$TMP/group.5")" \
		"$(data --tos 3 --qp 0x12 --psn 158 --hex | cut -c 1-256)"
	check "ce_sampled, one per copy" "$(stat ce_sampled)" \
		-eq "$(grep -c . "$TMP/group.5")"

	# IPv6 packets shorter than the copied length; all CE packets are
	# sampled
	change sample 1
	reader 5
	data -6 --tos 3 --psn 9 --len 10
	data -6 --tos 2 --psn 10 --len 10
	data -6 --type cnp --tos 3
	wait
	check_eq "the whole packet" "$(sed 's/.*rate/rate/' "$TMP/group.5" |
		awk '{ $8 = ""; print }')" \
		"rate 1 oif $oif depth 0 time  len 88 data $(data -6 --tos 3 \
			--psn 9 --len 10 --hex)"
}

# Packets arrive twice as fast as they leave: each sampled packet leaves a
# deeper queue behind, until the last one has arrived
test_psample_depth()
{
	local line before=0

	psample_loaded
	topology bridge
	bottleneck 8656kbit kmin 0 kmax 0 mark-on enqueue sample 8 group 5
	reader 5 200
	sniff rcv --type data --time 200
	data --list 0-99 --interval 500
	wait
	check "copies" "$(grep -c . "$TMP/group.5")" -ge 10
	check_eq "copies" "$(copies 5)" "$(awk '/ ce / && ($9 + 17) % 8 == 0 {
		printf "17:%d ", $9 }' "$TMP/rcv")"
	while read -ra line; do
		# packets before PSN 50 leave while others still arrive
		[ $((16#${line[13]:102:6})) -ge 50 ] ||
			check "depth" "${line[7]}" -gt $((before + 3000))
		before=${line[7]}
	done <"$TMP/group.5"
	# PSNs 96 to 99 are queued when 95 leaves, maybe with a packet of the
	# bridge
	near "depth of the last copy" "$before" $((4 * 1082 + 500)) 500
	check "highest depth of a copy" \
		"$(awk '{ print $8 }' "$TMP/group.5" | sort -n | tail -n 1)" \
		-lt "$(stat depth_peak_bytes)"
	# the copy shows the packet as it left: marked
	check_eq "the last copy" "$(sed -n '$s/.*data //p' "$TMP/group.5")" \
		"$(data --tos 3 --psn 95 --hex | cut -c 1-256)"
}

# Copies go to the group that is set when a packet leaves, and nowhere without a
# group
test_psample_groups()
{
	psample_loaded
	topology bridge
	iqcn sample 8 group 5
	reader 5 200
	reader 6 200
	ce 0-15
	change group 6
	ce 16-31
	change group off
	ce 32-47
	change sample 4 group 5
	ce 48-63
	# the group stays after changes of the device or of other parameters,
	# and after a change that fails
	ip -n sw link set p1 mtu 8000
	change t1 200us
	ce 64-71
	tc -n sw qdisc change dev p1 root handle 10: iqcn group 6 exit 95 \
		2>/dev/null && fail "exit 95 is above enter, but accepted"
	ce 72-79
	tc -n sw qdisc del dev p1 root
	ce 80-95
	wait
	check_eq "copies of group 5" "$(copies 5)" \
		"$(qp_every 8 0 15)$(qp_every 4 48 79)"
	check_eq "copies of group 6" "$(copies 6)" "$(qp_every 8 16 31)"
	check "users of psample" "$(psample_users)" -eq 0
}

test_psample_two_queues()
{
	psample_loaded
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 1:1 handle 10: iqcn sample 8 group 5
		qdisc add dev p1 parent 1:2 handle 20: iqcn sample 4 group 4294967294
		filter add dev p1 parent 1: protocol ip prio 1 u32 match ip tos 0x23 0xff flowid 1:2
	EOF
	reader 5 200
	reader 4294967294 200
	ce 0-15
	ce 16-31 --tos 0x23
	tc -n sw qdisc del dev p1 parent 1:1
	ce 32-47 --tos 0x23
	wait
	check_eq "first queue" "$(copies 5)" "$(qp_every 8 0 15)"
	check_eq "second queue" "$(copies 4294967294)" "$(qp_every 4 16 47)"
	check_eq "rates" "$(cat "$TMP"/group.* | awk '{ print $4 }' |
		sort -u | tr '\n' ' ')" "4 8 "
	# both queues use one group
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 parent 1:1 handle 10: iqcn sample 8 group 7
		qdisc change dev p1 parent 1:2 handle 20: iqcn group 7
	EOF
	reader 7 200
	ce 48-63
	tc -n sw qdisc del dev p1 parent 1:1
	ce 64-79 --tos 0x23
	wait
	check_eq "copies of both queues" "$(copies 7)" \
		"$(qp_every 8 48 63)$(qp_every 4 64 79)"
}

# A GSO packet makes one copy, as it leaves the queue
test_psample_gso()
{
	psample_loaded
	gso_topology
	iqcn sample 8 group 5
	reader 5
	gso 0 3
	gso 4 12
	wait
	check_eq "copies" "$(copies 5)" "17:4 "
	check "length of the packet" "$(awk '{ print $12 }' "$TMP/group.5")" \
		-eq $((42 + 9 * (12 + 500 + 4)))
}

# gone: wait until psample has no users, because namespaces are destroyed
# asynchronously
gone()
{
	for _ in {1..20}; do
		[ "$(psample_users)" != 0 ] || return
		sleep 0.1
	done
	fail "psample: $(psample_users) users"
}

test_psample_netns_del()
{
	psample_loaded
	topology bridge
	bottleneck 8656kbit kmin 0 kmax 0 mark-on enqueue group 5
	data --flows 3 --count 100
	ip netns del sw
	gone
	rmmod psample || fail "psample does not unload"
}

# Without psample everything works except groups
test_psample_missing()
{
	local out

	psample_loaded
	topology bridge
	# load sch_iqcn before psample is removed, because loading sch_iqcn
	# loads psample
	iqcn sample 16 detect run
	modprobe -r psample || fail "psample does not unload"
	for out in "change dev p1 root handle 10: iqcn sample 4 group 5" \
		"add dev p0 root iqcn group 5"; do
		# shellcheck disable=SC2086
		if out=$(tc -n sw qdisc $out 2>&1); then
			fail "group without psample: accepted"
		elif [[ $out != *"group needs the psample module"* ]]; then
			fail "group without psample: $out"
		fi
	done
	[[ $(tc -n sw -d qdisc show) == *" iqcn "*"sample 16 group off"* ]] ||
		fail "parameters changed: $(tc -n sw qdisc show dev p1)"
	check "queues" "$(value queues)" -eq 1
	check "on p0" "$(tc -n sw qdisc show dev p0 | grep -c iqcn)" -eq 0
	ce 0-31
	check "sampled, one in 16" "$(stat ce_sampled)" -eq 2
	change sample 8 t1 200us group off
	ce 32-71
	is "detection without psample" congested
	modprobe psample
	change group 5
	reader 5
	ce 72-87
	wait
	check_eq "with psample" "$(copies 5)" "$(qp_every 8 72 87)"
}

# A group pins psample's module; loading sch_iqcn loads it
test_psample_module()
{
	psample_loaded
	topology bridge
	iqcn group 5
	rmmod psample 2>/dev/null && fail "psample is in use, but unloads"
	reader 5
	ce 1-3
	wait
	check_eq "copies" "$(copies 5)" "17:1 17:2 17:3 "
	change group off
	check "users" "$(psample_users)" -eq 0
	rmmod psample || fail "psample does not unload"
	ce 4-6
	modprobe psample
	change group 5
	ip -n sw link del p1
	gone
	rmmod sch_iqcn || fail "the module does not unload"
	rmmod psample || fail "psample does not unload"
	cleanup
	topology bridge
	iqcn group 5
	check "loaded again" "$(psample_users)" -gt 0
}

# If T1 counts from CE packets, packets that are not sampled restart T1, too. A
# dense flow then causes hardly any CNPs, whatever the value of sample.
test_sample_dense()
{
	local base sample sent psn=1000

	topology bridge
	iqcn detect queue t1 300us bandwidth 4mbit window 500us
	pair_flow
	check "paired" "$(stat flows_paired)" -eq 1
	for sample in 1 8; do
		for base in both cnp; do
			change sample $sample base $base
			sent=$(stat cnp_sent)
			data --tos 3 --count 320 --interval 100 --psn $psn
			psn=$((psn + 1000))
			sleep 0.02
			sent=$(($(stat cnp_sent) - sent))
			if [ $base = cnp ]; then
				check "1 in $sample, cnp" $sent -ge 80
			else
				check "1 in $sample, both" $sent -le 2
			fi
		done
	done
}

# Right after boot, timers are coarse until the first tick
sleep 0.05
run_tests
