#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iqcn monitor on real packets: events match what happened, samples are taken on
# time, records are in chronological order, and missing records are reported.

ALL_TESTS="
	test_words
	test_events
	test_flow_events
	test_lease
	test_device
	test_samples
	test_text
	test_order
	test_lost
	test_overrun
	test_late
	test_pipe
	test_signals
	test_stuck
	test_rename
	test_come_and_go
	test_device_goes
	test_unload
	test_one_socket
	test_valgrind
"
NIGHTLY_TESTS="
	test_flow_events test_text test_order test_overrun test_late
	test_signals test_stuck test_rename test_come_and_go test_one_socket
	test_valgrind
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# counters are read twice, and must not change in between
quiet_hosts

SQP=0x800011
STEP=2560	# ns: ten steps of the clock in virtual time
HOLD=0.1	# s: longer than any record is held back

# monitor FILE [ARGUMENT...]: run iqcn monitor in the background, into
# $TMP/FILE, and give it 50 ms to subscribe
monitor()
{
	local file=$1
	shift

	nsenter --net=/run/netns/sw "$BUILD/iqcn" monitor "$@" \
		>"$TMP/$file" 2>"$TMP/$file.err" &
	pid=$!
	sleep 0.05
}

# stop: end the monitor after it has written all records
stop()
{
	sleep $HOLD
	kill "$pid"
	wait "$pid"
	rc=$?
}

# of FILE FILTER: apply a filter of jq to the records
of()
{
	jq -sr "$2" "$TMP/$1"
}

# wants STATUS STDERR ARGUMENT...: check status and stderr; stdout must be empty
wants()
{
	local rc=$1 text=$2
	shift 2

	in_ns sw "$BUILD/iqcn" monitor "$@" >"$TMP/out" 2>"$TMP/err"
	check "exit status of \"$*\"" $? -eq "$rc"
	check_eq "stderr of \"$*\"" "$(<"$TMP/err")" "$text"
	check_eq "stdout of \"$*\"" "$(<"$TMP/out")" ""
}

test_words()
{
	local see='see "iqcn help"' w

	# timers are coarse until the first tick
	sleep 0.1
	topology bridge
	iqcn
	wants 2 "iqcn: unknown option \"--often\", $see" --often
	wants 2 "iqcn: missing argument after \"--interval\", $see" --interval
	wants 2 "iqcn: unexpected word \"p1\", $see" p0 p1
	wants 1 "iqcn: nix: No such device" nix
	wants 2 "iqcn: nothing to print with \"--events-only --samples-only\", $see" \
		--events-only --samples-only
	for w in 999us 3601s 0 -1 10mm "" nan inf 1e30; do
		wants 2 "iqcn: the interval must be 1ms to 3600s, not \"$w\", $see" \
			--interval "$w"
	done
	for w in 0 -1 x 1x ""; do
		wants 2 "iqcn: the number must be at least 1, not \"$w\", $see" --count "$w"
	done
	for w in 1ms 0.001 3600 3600s; do
		in_ns sw "$BUILD/iqcn" monitor --interval $w --count 1 \
			>"$TMP/out" || fail "interval $w"
		check "samples" "$(wc -l <"$TMP/out")" -eq 1
	done
}

# Each CNP and each change of state is one event, with the flow and the queue
test_events()
{
	local cause np

	topology bridge vlan
	bottleneck 100mbit kmin 4000 kmax 8000 notify timer,pi qref 3000
	pair_flow
	pair_flow -6 --qp 0x21
	sniff snd --type cnp --mono --time 400
	monitor events -j --events-only
	np --time 120 --ack 1
	np=$!
	data --count 200 --interval 50 --len 1024
	data -6 --qp 0x21 --count 200 --interval 50 --len 1024
	wait $np
	stop
	check "CNPs" "$(stat cnp_sent)" -gt 20
	check "of CNPs" "$(of events 'map(select(.type == "cnp")) | length')" \
		-eq "$(stat cnp_sent)"
	for cause in pi poll drop; do
		check "events with cause $cause" \
			"$(of events "map(select(.cause == \"$cause\")) |
			length")" -eq "$(stat cnp_$cause)"
	done
	check "changes of the queue" "$(stat state_changes)" -ge 2
	check "events of changes" "$(of events \
		'map(select(.type == "queue_state")) | length')" \
		-eq "$(stat state_changes)"
	check_eq "types" "$(of events 'map(.type) | unique | join(" ")')" \
		"cnp queue_state"
	check_eq "places" "$(of events 'map([.dev, .parent]) | unique | tojson')" \
		'[["p1","1:1"]]'
	check_eq "flows" "$(of events 'map(select(.type == "cnp") |
		[.src, .dst, .vid, .inner_vid, .dest_qp, .src_qp]) | unique | tojson')" \
		"$(in_ns sw "$BUILD/iqcn" flows -j | jq -c 'map([.src, .dst, .vid,
			.inner_vid, .dest_qp, .src_qp]) | sort')"
	check_eq "congested, first and last" "$(of events \
		'map(select(.type == "queue_state") | .congested | length > 0) |
		[first, last] | tojson')" "[true,false]"
	check_eq "last reason" "$(of events \
		'map(select(.type == "queue_state")) | last.reason')" quiet
	check_eq "lost" "$(of events 'map(.lost) | max')" 0
	check_eq "JSON of a change" "$(of events \
		'map(select(.type == "queue_state")) | first | keys_unsorted |
		join(" ")')" \
		"type time_ns lost dev parent depth_bytes congested reason ce_rate_bps roce_bps"
	check_eq "JSON of a CNP" "$(of events \
		'map(select(.type == "cnp")) | first | keys_unsorted | join(" ")')" \
		"type time_ns lost dev parent depth_bytes src dst vid inner_vid dest_qp src_qp cause"
	wait
	# each CNP reached the sender just after its event
	virtual_time || return
	of events 'map(select(.type == "cnp") | .time_ns) | .[]' >"$TMP/times"
	cut -d ' ' -f 1 "$TMP/snd" | paste -d ' ' "$TMP/times" - >"$TMP/pairs"
	check_eq "times" "$(awk -v step=$STEP '$2 < $1 || $2 - $1 > step' \
		"$TMP/pairs")" ""
}

# The end of a lease is an event; the renewal of a lease is not
test_lease()
{
	local ifindex

	topology bridge
	iqcn notify supplement
	ifindex=$(ip -n sw -j link show dev p1 | jq '.[0].ifindex')
	monitor events -j --events-only
	in_ns sw "$BUILD/genl" lease "$ifindex" root 200 supplement 100
	in_ns sw "$BUILD/genl" lease "$ifindex" root 20 supplement 200 \
		filter 1 100000
	sleep 0.3
	stop
	check_eq "events" "$(of events 'map([.type, .dev, .parent]) | tojson')" \
		'[["lease_ended","p1","root"]]'
	check_eq "leases" "$(stat leases) $(stat leases_ended)" "2 1"
	monitor text --events-only
	in_ns sw "$BUILD/genl" lease "$ifindex" root 20 supplement 200
	sleep 0.1
	stop
	check_eq "text" "$(sed 's/^[0-9.]* //' "$TMP/text")" \
		"p1 root lease ended depth 0b"
}

# Changes of a flow's state are events even if its queue is not congested
test_flow_events()
{
	local before

	topology bridge
	iqcn detect run run 4 run-exit 1
	pair_flow
	before=$(stat flow_state_changes)
	monitor events -j --events-only
	data --tos 3 --psn 100 --count 6 --interval 100 --len 64
	data --tos 3 --psn 200 --count 1 --len 64
	data --tos 3 --psn 300 --count 1 --len 64
	stop
	check "changes" $(($(stat flow_state_changes) - before)) -eq 2
	check_eq "events" "$(of events 'map(select(.type == "flow_state") |
		[.src, .dst, .dest_qp, .congested, .reason]) | tojson')" \
		'[["10.1.0.1","10.1.0.2",17,["run"],"run"],["10.1.0.1","10.1.0.2",17,[],"run"]]'
}

test_device()
{
	local before

	topology bridge
	iqcn detect run run 4 run-exit 1
	tc -n sw qdisc replace dev p0 root handle 10: iqcn
	before=$(stat flow_state_changes)
	monitor events -j p0
	data --tos 3 --psn 100 --count 6 --interval 100 --len 64
	stop
	check "changes on p1" $(($(stat flow_state_changes) - before)) -ge 1
	check_eq "devices" "$(of events 'map(.dev) | unique | join(" ")')" p0
	check_eq "records" "$(of events 'map(.type) | unique | join(" ")')" \
		sample
}

# Samples are taken at multiples of the interval, and match tc
test_samples()
{
	local key

	topology bridge
	bottleneck 100mbit kmin 4000 kmax 8000
	pair_flow
	data --count 100 --interval 50 --len 1024
	sleep 0.1
	monitor samples -j --samples-only --interval 10ms --count 20
	wait $pid
	check "exit status" $? -eq 0
	check "samples" "$(of samples length)" -eq 20
	check_eq "JSON" "$(of samples 'first | keys_unsorted[:4] | join(" ")')" \
		"type time_ns dev parent"
	for key in tx_bytes:bytes tx_packets:packets ce_sent ecn_mark cnp_sent \
		   cnp_unpaired flows flows_paired depth_peak_bytes roce_bps; do
		check "$key" "$(of samples "last.${key%:*}")" -eq \
			"$(stat "${key#*:}")"
	done
	virtual_time || return
	check_eq "samples out of time" "$(of samples \
		'(first.time_ns) as $first | to_entries[] |
		(.value.time_ns - $first - .key * 10000000) |
		select(. < -'$STEP' or . > '$STEP')')" ""
}

# The text format contains the same events as JSON
test_text()
{
	topology bridge vlan
	bottleneck 100mbit kmin 4000 kmax 8000
	pair_flow
	monitor json -j --interval 5ms &
	sleep 0.1
	monitor text --interval 5ms
	data --count 100 --interval 50 --len 1024
	stop
	kill "$(pgrep -f "monitor -j")"
	wait
	check "CNPs" "$(stat cnp_sent)" -gt 3
	check_eq "events" "$(grep -v ' sample ' "$TMP/text")" "$(of json \
		'map(select(.type != "sample") |
		(.time_ns / 1000000000 | floor | tostring) + "." +
		("00000000" + (.time_ns % 1000000000 | tostring))[-9:] +
		" p1 1:1 " +
		(if .type == "cnp" then
		 "cnp 10.1.0.1 > 10.1.0.2 qp 0x000011 vlan 100 to qp 0x800011 for timer"
		 else "queue " +
		 (if .congested == [] then "clear" else "congested" end) +
		 " by \(.reason) ce \(.ce_rate_bps)bit of \(.roce_bps)bit" end) +
		" depth \(.depth_bytes)b") | .[]')"
	# samples show the increase since the previous sample
	check "CNPs in samples" "$(grep -o 'cnp_sent +[0-9]*' "$TMP/text" |
		awk -F + '{ n += $2 } END { print n }')" -eq "$(stat cnp_sent)"
	check_eq "last line" "$(tail -n 1 "$TMP/text" | cut -d ' ' -f 2-)" \
		"p1 1:1 sample clear ce 0bit of $(stat roce_bps)bit depth 0b flows 1"
}

test_order()
{
	local np

	topology bridge
	bottleneck 100mbit kmin 4000 kmax 8000 notify timer,pi qref 3000 \
		detect queue,depth,run
	pair_flow
	monitor all -j --interval 1ms
	np --time 150 --ack 1
	np=$!
	data --flows 8 --count 800 --interval 50 --len 1024
	wait $np
	stop
	check "types" "$(of all 'map(.type) | unique | length')" -ge 3
	check_eq "in order" "$(of all 'map(.time_ns) | . == sort')" true
	# a sample shows the state after the last change before the sample
	check_eq "samples that disagree" "$(of all '(reduce .[] as $r ({};
		if $r.type == "queue_state" then .state = ($r.congested == [])
		elif $r.type == "sample" and .state != null and
			.state != ($r.congested == []) then .wrong += [$r.time_ns]
		else . end)).wrong // [] | tojson')" "[]"
}

# told_of_each: set up a queue in which each packet from now on causes a CNP
told_of_each()
{
	topology bridge
	bottleneck 1kbit kmin 100m kmax 200m notify off
	pair_flow
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn notify wreb \
		profile 1000:1 min-gap 0 cnp-rate 10000000 cnp-burst 100000
	data --type udp --tos 0 --count 20
}

# The monitor reports how many events are lost if there are more than the kernel
# can buffer before it sends them
test_lost()
{
	told_of_each
	monitor events -j
	monitor text &
	sleep 0.1
	data --count 4000 --interval 1 --len 16
	stop
	kill "$(pgrep -f "monitor$")"
	wait
	check "CNPs" "$(stat cnp_sent)" -eq 4000
	check "events lost" \
		"$(of events 'map(select(.type == "lost") | .events) | add')" \
		-gt 100
	check_eq "group of lost events" "$(of events \
		'map(select(.type == "lost") | .group) | unique | tojson')" \
		'["cnp"]'
	check "events and lost ones" "$(of events '[(map(select(.type == "cnp")) |
		length), (map(select(.type == "lost") | .events) | add)] | add')" \
		-eq 4000
	check "lost, in text" "$(grep -oE 'lost [0-9]+ events of group cnp$' \
		"$TMP/text" | awk '{ n += $2 } END { print n }')" -gt 100
	# a later monitor does not report earlier losses
	monitor later -j --interval 10ms --count 3
	wait $pid
	check_eq "records of a later monitor" \
		"$(of later 'map(.type) | unique | join(" ")')" sample
}

# A monitor that does not read in time loses events, reports that, and goes on
test_overrun()
{
	told_of_each
	sysctl -qw net.core.rmem_max=4096
	monitor events -j --events-only
	kill -STOP $pid
	data --count 4000 --interval 20 --len 16
	sleep 0.1
	kill -CONT $pid
	sleep $HOLD
	data --count 5 --interval 20 --len 16 --psn 9000
	stop
	check "exit status" $rc -eq 0
	check_eq "loss reported" "$(of events 'map(select(.type == "lost" and
		.group == null)) | length > 0')" true
	check "events" "$(of events 'map(select(.type == "cnp")) | length')" \
		-lt 4000
	check "ns of five events" "$(of events 'map(select(.type == "cnp")) |
		.[-5:] | map(.time_ns) | last - first')" -lt 200000
}

test_late()
{
	virtual_time || { skip "needs virtual time"; return; }
	topology bridge
	iqcn
	monitor late -j --interval 10ms
	kill -STOP $pid
	sleep 0.1
	kill -CONT $pid
	stop
	check_eq "missed" "$(of late 'map(select(.type == "late")) |
		map(.missed) | add | . >= 8 and . <= 11')" true
	check_eq "not in time" "$(of late 'map(select(.type == "sample") |
		.time_ns) | .[-1] as $last | .[-4:][] | ($last - .) % 10000000 |
		select(. > '$STEP' and . < 10000000 - '$STEP')')" ""
}

# The monitor ends if its reader closes the pipe, even if there is nothing to
# write
test_pipe()
{
	topology bridge
	iqcn
	in_ns sw "$BUILD/iqcn" monitor -j 2>"$TMP/err" | head -n 3 >"$TMP/out"
	check_eq "exit status" "${PIPESTATUS[*]}" "0 0"
	check_eq "stderr" "$(<"$TMP/err")" ""
	check_eq "lines" "$(jq -r .type "$TMP/out" | paste -sd ' ')" \
		"sample sample sample"
	in_ns sw "$BUILD/iqcn" monitor --events-only 2>"$TMP/err" |
		bash -c 'sleep 0.1'
	check_eq "exit status" "${PIPESTATUS[*]}" "0 0"
	check_eq "stderr" "$(<"$TMP/err")" ""
	in_ns sw "$BUILD/iqcn" monitor --count 100 >/dev/full 2>"$TMP/err"
	check "exit status, disk full" $? -eq 1
	check_eq "stderr, disk full" "$(<"$TMP/err")" \
		"iqcn: output: No space left on device"
	in_ns sw "$BUILD/iqcn" monitor --count 3 >&- 2>"$TMP/err"
	check "exit status, closed" $? -eq 1
	check_eq "stderr, closed" "$(<"$TMP/err")" \
		"iqcn: output: Bad file descriptor"
}

test_signals()
{
	local signal

	topology bridge
	iqcn
	for signal in INT TERM; do
		monitor out -j --interval 5ms
		sleep 0.1
		kill -$signal $pid
		wait $pid
		check "exit status after $signal" $? -eq 0
		check_eq "stderr" "$(<"$TMP/out.err")" ""
		check "records" "$(of out length)" -ge 10
	done
}

# A monitor that is blocked by its reader can be ended by a signal
test_stuck()
{
	local reader signal

	topology bridge
	iqcn
	mkfifo "$TMP/stuck"
	for signal in INT TERM; do
		{ sleep 100; } <"$TMP/stuck" &
		reader=$!
		monitor stuck -j --interval 1ms
		sleep 1
		kill -$signal $pid
		sleep 0.5
		kill -0 $pid || fail "the monitor does not wait"
		sleep 2
		kill -0 $pid 2>/dev/null && fail "no end after $signal"
		kill -KILL $pid 2>/dev/null
		wait $pid
		check "exit status after $signal" $? -eq 1
		kill $reader
		wait $reader 2>/dev/null
	done
}

# After a device is renamed, its events show the new name
test_rename()
{
	topology bridge
	bottleneck 1mbit kmin 3000 kmax 6000 notify wreb profile 1000:1 min-gap 0
	pair_flow
	monitor events -j --events-only
	data --count 20 --interval 100
	sleep 0.5
	ip -n sw link set p1 down
	ip -n sw link set p1 name q1
	ip -n sw link set q1 up
	wait_forwarding
	data --count 20 --interval 100 --psn 5000
	sleep 0.5
	stop
	check_eq "names" "$(of events 'map(.dev) | unique | join(" ")')" "p1 q1"
	check_eq "last device name" "$(of events 'last | .dev')" q1
}

test_come_and_go()
{
	topology bridge
	monitor all -j --interval 10ms
	sleep 0.05
	iqcn
	sleep 0.05
	tc -n sw qdisc replace dev p0 root handle 10: iqcn
	tc -n sw qdisc del dev p1 root
	sleep 0.05
	ip -n sw link set p0 down
	ip -n sw link set p0 name q0
	sleep 0.05
	stop
	check "exit status" $rc -eq 0
	check_eq "devices in order" \
		"$(jq -r .dev "$TMP/all" | uniq | paste -sd ' ' |
			sed 's/p1 p0 p1 p0/p1 p0/')" "p1 p0 q0"
}

test_device_goes()
{
	topology bridge
	iqcn
	monitor all -j --interval 10ms p1
	sleep 0.05
	# a qdisc that is deleted does not end the monitor
	tc -n sw qdisc del dev p1 root
	sleep 0.05
	# nor does a new name
	ip -n sw link set p1 down
	ip -n sw link set p1 name q1
	sleep 0.05
	ip -n sw link set q1 name p1 up
	iqcn
	sleep 0.05
	check "samples" "$(of all length)" -ge 5
	ip -n sw link del p1
	wait $pid
	check "exit status" $? -eq 1
	check_eq "stderr" "$(<"$TMP/all.err")" "iqcn: p1: the device is gone"
}

test_unload()
{
	local way

	for way in --events-only --samples-only; do
		topology bridge
		iqcn
		monitor all $way
		tc -n sw qdisc del dev p1 root
		rmmod sch_iqcn || fail "the module does not unload"
		wait $pid
		check "$way: exit status" $? -eq 1
		check_eq "$way: stderr" "$(<"$TMP/all.err")" \
			"iqcn: module sch_iqcn: it has been unloaded"
		cleanup
	done
}

# Events and samples use one socket, and the monitor sleeps in between
test_one_socket()
{
	local before after

	topology bridge
	iqcn
	monitor all --interval 100ms
	sleep 0.2
	check "sockets" "$(find /proc/$pid/fd -lname 'socket:*' | wc -l)" -eq 1
	before=$(awk '/^voluntary/ { print $2 }' /proc/$pid/status)
	sleep 1
	after=$(awk '/^voluntary/ { print $2 }' /proc/$pid/status)
	# the monitor wakes up to sample, and to write
	check "sleeps in 10 samples" $((after - before)) -le 30
	stop
}

test_valgrind()
{
	topology bridge
	bottleneck 100mbit kmin 4000 kmax 8000
	pair_flow
	for json in "" -j; do
		in_ns sw valgrind -q --error-exitcode=99 --leak-check=full \
			"$BUILD/iqcn" monitor $json --interval 10ms --count 20 \
			>"$TMP/out" 2>"$TMP/err" &
		pid=$!
		sleep 0.3
		data --count 50 --interval 50 --len 1024
		wait $pid
		check "exit status of valgrind" $? -eq 0
		check_eq "output of valgrind" "$(<"$TMP/err")" ""
		check "records" "$(wc -l <"$TMP/out")" -ge 20
	done
}

run_tests
