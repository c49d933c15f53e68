#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# PFC: which PFC and PAUSE frames a queue obeys and ignores, and that it neither
# marks nor notifies while a pause puts its congestion in doubt.

ALL_TESTS="
	test_pause_and_resume
	test_quanta
	test_ignored
	test_pause_frame
	test_classes
	test_clear
	test_rate
	test_grew
	test_drained
	test_drained_late
	test_judged_on_leaving
	test_quiet_unsampled
	test_quiet_marks
	test_quiet_marks_enqueue
	test_quiet_pi
	test_quiet_timer
	test_quiet_deferred
	test_drop_while_quiet
	test_notified_at_once
	test_notified_timer
	test_notified_moved
	test_not_notified
	test_paused_again
	test_drained_unnotified
	test_limit
	test_flap
	test_flap_shallow
	test_idle
	test_after_verdict
	test_trimmed
	test_change
	test_reset
	test_events
	test_off
	test_refused
"
NIGHTLY_TESTS="
	test_quanta test_ignored test_classes test_clear test_grew
	test_quiet_marks_enqueue test_quiet_timer test_drop_while_quiet
	test_notified_timer test_notified_moved test_not_notified
	test_drained_unnotified test_drained_late test_judged_on_leaving
	test_flap_shallow test_idle test_after_verdict test_trimmed test_reset
	test_off
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

MAC_CONTROL=0180c2000001
# the longest pause: 65535 quanta of 51.2 ns are 3.4 ms at 10 Gb/s
LONG=ffff
LEN=1082	# frame length of a packet from data()

# frame DMAC HEX: set $frame to a MAC control frame from the receiver, padded
frame()
{
	frame=$1${RCV_MAC//:/}8808$2
	while [ ${#frame} -lt 120 ]; do
		frame+=00000000
	done
}

# pfc CLASSES QUANTA: set $frame to a PFC frame, with the same quanta for all
# classes; both in hexadecimal digits
pfc()
{
	frame $MAC_CONTROL "010100$1$2$2$2$2$2$2$2$2"
}

# raw FRAME|+US...: send frames to p1; +US delays the next frame by US
raw()
{
	"$ROCE" raw rcv/e0 "$@"
}

pause()
{
	pfc 08 $LONG
	raw "$frame"
}

# resume: end the pause so late that a link of 10 Gb/s could have carried what
# deep() queues
resume()
{
	sleep 0.0005
	pfc 08 0000
	raw "$frame"
}

# stand PARAMETER...: set up a bridge whose port p1 passes only the burst of
# tbf.  The rate of the link is set to 10 Gb/s.
stand()
{
	topology bridge
	bottleneck 8kbit bandwidth 10gbit kmin 20000 kmax 20000 \
		threshold 20000 settle 1s pfc-max 1s pair sport pfc frames
	[ $# = 0 ] || params "$@"
}

# params PARAMETER...: change parameters of the qdisc under tbf
params()
{
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn "$@"
}

# trace COMMAND...: trace changes of the PFC state while a command runs
trace()
{
	echo >$TRACEFS/trace
	echo 1 >$TRACEFS/events/iqcn/iqcn_pfc/enable
	"$@"
	echo 0 >$TRACEFS/events/iqcn/iqcn_pfc/enable
}

# stand_second: set up a bridge with two classes, of which the second has PFC.
# stat() reads the second.
stand_second()
{
	local iqcn="iqcn bandwidth 10gbit kmin 100m kmax 200m notify off"

	topology bridge
	two_classes 8kbit "handle 20: $iqcn" \
		"handle 10: $iqcn threshold 20000 settle 1s pfc-max 1s pfc frames"
}

# second_class PARAMETER...: change parameters of the second qdisc
second_class()
{
	tc -n sw qdisc change dev p1 parent 2:2 handle 10: iqcn "$@"
}

# deep: queue 40 packets, which are 43 KB less what tbf has passed
deep()
{
	data --count 40 "$@"
}

# let_some_leave: have tbf pass its burst again, about eight packets
let_some_leave()
{
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 8kbit burst 9k limit 1g
	data --type udp --tos 0 --len 10
}

# state STATE REASON: check the PFC state, and the reason for its last change
state()
{
	check_eq "state" "$(stat pfc_state) by $(stat pfc_reason)" "$1 by $2"
}

test_pause_and_resume()
{
	stand
	state clear none
	pause
	state paused pause
	deep
	state paused pause
	resume
	# the bytes that arrived during the pause are counted when the next
	# packet arrives
	data
	state undetermined unsure
	counted "1 0 0 1 0 0" pauses pfc_clear pfc_rate pfc_unsure pfc_grew pfc_drained
	check "bytes during the pause" "$(stat pause_rx_bytes)" -eq $((40 * LEN))
	check "marks" "$(stat ecn_mark)" -eq 0
	check "depth peak" "$(stat depth_peak_bytes)" -gt $((25 * LEN))
	[[ $(in_ns sw "$BUILD/iqcn" show p1) == *$'\n'"  pfc     undetermined, 1 pause, "*" in all, 0 found congested"* ]] ||
		fail "$(in_ns sw "$BUILD/iqcn" show p1)"
}

# a pause ends when its quanta run out, within 5 us where time is virtual
test_quanta()
{
	local late

	stand
	pfc 08 1000
	raw "$frame" +1000
	data
	state clear clear
	late=$(($(stat paused_ns) - 209715200 / 1000))
	check "late end" $late -ge 0
	virtual_time && check "late end" $late -lt 5000

	# each frame replaces the time of the last one: 0x1000 quanta, again
	# after 50 us, and 1 quantum 20 us later
	pfc 08 1000
	local first=$frame
	pfc 08 0001
	raw "$first" +50 "$first" +20 "$frame" +1000
	data
	check_eq "pauses" "$(stat pauses)" 2
	late=$(($(stat paused_ns) - 209715200 / 1000 - 70000))
	virtual_time && check "early end" $late -lt 10000
	check "early end" $late -ge 0
}

test_ignored()
{
	local good frames

	stand
	pfc 08 $LONG
	good=$frame
	frames=(
		"${good:0:66}"				# 19 bytes of 20
		"${good:0:28}"				# nothing
		"${good:0:24}81000064${good:24}"	# with a VLAN tag
		"${good:0:28}0102${good:32}"		# opcodes
		"${good:0:28}0002${good:32}"
		"${SND_MAC//:/}${good:12}"		# to another host
		"${good:0:12}0180c2000002${good:24:4}000108${good:34}"
	)
	frames[6]=${frames[6]/8808/8809}		# slow protocols: not counted
	pfc f7 $LONG
	raw "${frames[@]}" "$frame"			# another class
	counted "7 0" port_pfc_ignored pauses
	check_eq "sysfs" "$(value pfc_ignored) $(value pauses)" "7 0"
	state clear none
}

test_pause_frame()
{
	stand
	frame $MAC_CONTROL 0001$LONG
	raw "$frame"
	state paused pause
	frame $MAC_CONTROL 00010000
	raw "$frame"
	data
	state clear clear
	# 802.3x allows the address of the port, but then any host of the
	# network could pause it
	frame "${P1_MAC//:/}" 0001$LONG
	raw "$frame"
	state clear clear
	counted "1 1" pauses port_pfc_ignored
}

# a queue of several classes stays paused until all of them have resumed
test_classes()
{
	stand pfc-prio 3,5
	pfc 28 $LONG
	raw "$frame"
	state paused pause
	resume
	state paused pause
	pfc 20 0000
	raw "$frame"
	data
	state clear clear
	pfc 20 $LONG
	raw "$frame"
	counted "2 0" pauses port_pfc_ignored
}

# after a pause, a depth one byte below the threshold is clear, and a depth that
# reaches the threshold is not
test_clear()
{
	local depth

	stand
	deep
	depth=$(stat backlog)
	params threshold $((depth + LEN + 1))
	pause
	data
	resume
	data
	counted "1 0" pfc_clear pfc_unsure
	check "bytes during the pause" "$(stat pause_rx_bytes)" -eq $LEN
	params threshold $(($(stat backlog) + LEN))
	pause
	data
	resume
	data
	counted "2 1 1" pauses pfc_clear pfc_unsure
}

# more bytes arrive in a pause than the link carries in that time: congested
test_rate()
{
	stand bandwidth 1mbit
	pause
	deep
	resume
	data
	state congested rate
	counted "1 0" pfc_rate pfc_unsure
	# determined: packets are marked again
	params mark-on enqueue
	deep
	check "marks" "$(stat ecn_mark)" -eq 40
}

# When settle is over, the next packet that leaves triggers a check. A queue
# that is still at the threshold or above becomes congested if it has grown, and
# otherwise stays undetermined.
test_grew()
{
	stand settle 1ms
	pause
	deep
	resume
	data
	state undetermined unsure
	data --count 20
	params settle 1us
	state undetermined unsure
	let_some_leave
	state congested grew
	counted "1 0" pfc_grew pfc_drained

	pause
	resume
	params settle 1s
	data
	state undetermined unsure
	let_some_leave
	params settle 1us
	let_some_leave
	state undetermined unsure
	counted "1 0" pfc_grew pfc_drained
}

test_drained()
{
	stand settle 2ms
	pause
	deep
	resume
	data
	state undetermined unsure
	# all packets leave at once, before another packet arrives
	release
	sleep 0.01
	data
	counted "1 0" pfc_drained pfc_grew
	state clear drained
	check "undetermined" "$(stat undetermined_ns)" -gt 0
}

release_and_wait()
{
	release
	sleep 0.03
}

# If the queue drains before settle is over, and no packet arrives or leaves
# after that, the timer finds it drained when pfc-max expires.
test_drained_late()
{
	stand settle 10ms pfc-max 20ms
	pause
	deep
	resume
	data
	state undetermined unsure
	trace release_and_wait
	state clear drained
	check "trace" "$(grep -c 'state=clear reason=drained .* rx_bytes=0 ' $TRACEFS/trace)" -eq 1
}

# If no packet arrives after a pause, the first packet that leaves triggers the
# verdict. The depth still includes that packet.
test_judged_on_leaving()
{
	stand_second
	deep --tos 106
	second_class threshold "$(stat backlog)"
	pause
	resume
	let_some_leave
	check_eq "clear, unsure" "$(stat pfc_clear), $(stat pfc_unsure)" "0, 1"
}

# CE packets that left in the quiet time do not count in the CE rate afterwards,
# even if none of them was sampled. A packet is sampled if the sum of its PSN
# and QP is a multiple of 1,000.
test_quiet_unsampled()
{
	topology bridge
	iqcn bandwidth 10gbit window 1ms sample 1000 pfc frames settle 1us \
		pfc-max 1s
	data --tos 3 --psn $((1000 - 0x11))
	pause
	data --tos 3 --psn $((1001 - 0x11)) --count 100
	sleep 0.01
	data --tos 3 --psn $((2000 - 0x11))
	check "packets sampled" "$(stat ce_sampled)" -eq 2
	# one packet in at least a millisecond
	check "CE rate" "$(stat ce_rate_bps)" -gt 0
	check "CE rate" "$(stat ce_rate_bps)" -le $((LEN * 8 * 1000))
}

# no marks on departure while the queue is paused or undetermined
test_quiet_marks()
{
	stand
	pause
	deep
	release
	sleep 0.1
	check "sent" "$(stat backlog)" -eq 0
	check "marks" "$(stat ecn_mark)" -eq 0
	# without PFC, such packets are marked
	params pfc off
	bottleneck 8kbit kmin 20000 kmax 20000
	deep
	release
	sleep 0.1
	check "marks" "$(stat ecn_mark)" -gt 10
}

# no marks on arrival while the queue is paused or undetermined
test_quiet_marks_enqueue()
{
	stand mark-on enqueue
	pause
	deep
	check "marks" "$(stat ecn_mark)" -eq 0
	resume
	deep
	state undetermined unsure
	check "marks" "$(stat ecn_mark)" -eq 0
	params pfc off
	deep
	check "marks" "$(stat ecn_mark)" -eq 40
}

# the controller neither notifies nor integrates while the queue is quiet
test_quiet_pi()
{
	local before

	stand notify off
	pair_flow
	params notify pi qref 10000 t1 300us
	deep
	data --count 10 --interval 100
	check "probability before" "$(stat bts_prob)" != 0
	pause
	data --count 10 --interval 100
	check_eq "probability while paused" "$(stat bts_prob)" 0
	resume
	data
	check "undetermined" "$(stat pfc_unsure)" -eq 1
	before=$(stat cnp_sent)
	data --count 50 --interval 100
	check "CNPs while undetermined" "$(stat cnp_sent)" -eq "$before"
	params pfc off
	data --count 50 --interval 100
	check "CNPs without PFC" "$(stat cnp_sent)" -gt "$before"
}

# T1 does not run while the queue is quiet, and starts again after that
test_quiet_timer()
{
	local before

	stand notify timer detect depth t1 300us base ce
	pair_flow
	data --tos 3 --count 40 --interval 10
	sleep 0.01
	before=$(stat cnp_sent)
	check "CNPs before" "$before" -gt 0
	# tbf passes nothing meanwhile: queued packets keep the flow active
	pause
	sleep 0.002
	before=$(stat cnp_sent)
	sleep 0.002
	pause
	sleep 0.003
	check "CNPs while paused" "$(stat cnp_sent)" -eq "$before"
	params pfc off
	sleep 0.01
	check "CNPs after" "$(stat cnp_sent)" -gt "$before"
}

# a CNP that is deferred when the pause begins is canceled
test_quiet_deferred()
{
	local before frames=() i

	stand notify timer detect depth t1 300us base ce delay 100ms
	pair_flow
	data --tos 3 --count 40 --interval 10
	sleep 0.002
	check "deferred" "$(stat cnp_deferred)" -gt 0
	before=$(stat cnp_canceled)
	pfc 08 $LONG
	raw "$frame" +3000 "$frame" +3000 "$frame" +3000 "$frame" +3000
	params settle 1s
	for ((i = 0; i < 40; i++)); do
		frames+=("$frame" +3000)
	done
	raw "${frames[@]}"
	check "sent" "$(stat cnp_sent)" -eq 0
	check "canceled" "$(stat cnp_canceled)" -gt "$before"
}

# a drop means congestion, whatever the state of the port
test_drop_while_quiet()
{
	stand limit 40000 notify off
	pair_flow
	params notify pi t1 300us
	pause
	data --count 60 --qp 0x11
	check "drops" "$(stat drop_overlimit)" -gt 10
	sleep 0.01
	check "CNPs for drops" "$(stat cnp_drop)" -gt 0
	check "other CNPs" "$(stat cnp_pi)" -eq 0
}

# notified PARAMETER...: check that, if the queue is found congested after a
# pause, the first packet that leaves causes a CNP with this method
notified()
{
	stand bandwidth 1mbit notify off
	pair_flow
	params "$@"
	pause
	deep
	resume
	sniff snd --type cnp --time 100
	let_some_leave
	wait
	state congested rate
	counted "1" cnp_pfc
	check "CNPs at the sender" "$(grep -c cnp "$TMP/snd")" -ge 1
}

test_notified_at_once()
{
	notified notify wreb profile 900000000:0,1000000000:0 t1 300us
	check "this cause in iqcn top" "$(in_ns sw "$BUILD/iqcn" top --batch \
		--count 1 | grep -c '^CNPs/s sent .*  pfc ')" -eq 1
}

test_notified_timer()
{
	notified notify timer detect queue t1 1s min-gap 0
}

# the CNP is also sent if the flow still belongs to another queue: packets that
# arrive at a quiet queue do not move their flow
test_notified_moved()
{
	stand_second
	pair_flow
	second_class bandwidth 1mbit notify wreb \
		profile 900000000:0,1000000000:0 t1 300us
	pause
	deep --tos 106
	resume
	let_some_leave
	state congested rate
	check "CNPs" "$(stat cnp_pfc)" -eq 1
	check_eq "parent of the flow" \
		"$(flows | awk '$4 == "0x000011" { print $7 }')" 2:2
}

# no CNP with "notify off", nor for packets that are not ECT
test_not_notified()
{
	stand bandwidth 1mbit notify off
	pair_flow
	pause
	deep
	resume
	let_some_leave
	counted "0 1" cnp_sent pfc_rate

	params notify wreb profile 900000000:0,1000000000:0 t1 300us
	release
	sleep 0.1
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 8kbit burst 9k limit 1g
	pause
	deep --tos 0
	resume
	let_some_leave
	counted "0 2" cnp_sent pfc_rate
}

# no CNP if the port is paused again before a packet leaves
test_paused_again()
{
	stand bandwidth 1mbit notify off
	pair_flow
	params notify wreb profile 900000000:0,1000000000:0 t1 300us
	pause
	deep
	resume
	data
	state congested rate
	pause
	let_some_leave
	counted "0 1" cnp_sent pfc_rate
}

# no CNP if the queue drains before any packet leaves whose sender can be
# notified
test_drained_unnotified()
{
	stand bandwidth 1mbit notify off
	pair_flow
	params notify wreb profile 900000000:0,1000000000:0 t1 300us
	pause
	deep --type udp
	resume
	data --type udp
	state congested rate
	release
	sleep 0.01
	data --count 5
	counted "0 1" cnp_sent pfc_rate
}

# after pfc-max the depth decides, although the port is paused
test_limit()
{
	stand pfc-max 2ms mark-on enqueue
	deep
	params pfc off
	params pfc frames
	data
	local before
	before=$(stat ecn_mark)
	pause
	data --count 5
	check "marks before" "$(stat ecn_mark)" -eq "$before"
	pause
	raw +2500
	pause
	data --count 5
	state congested limit
	check "marks after" "$(stat ecn_mark)" -eq $((before + 5))
	counted "1" pfc_limit
}

# a neighbor that pauses again and again does not silence the queue
test_flap()
{
	local on off before marks frames=()

	stand pfc-max 5ms mark-on enqueue
	deep
	pfc 08 0400
	on=$frame
	pfc 08 0000
	off=$frame
	for ((i = 0; i < 200; i++)); do
		frames+=("$on" +40 "$off" +10)
	done
	before=$(stat ecn_mark)
	raw "${frames[@]}" &
	data --count 100 --interval 100
	wait
	# of the 10 ms, the first five are quiet
	marks=$(($(stat ecn_mark) - before))
	check "marks" $marks -ge 40
	check "marks" $marks -lt 90
	check "pauses" "$(stat pauses)" -ge 150
}

# frequent pauses do not silence a queue below the threshold either, where each
# pause restarts T1
test_flap_shallow()
{
	local on off frames=() i

	stand notify timer detect run run 2 run-exit 1 t1 300us base ce pfc-max 2ms min-gap 0
	release
	pair_flow
	pfc 08 0400
	on=$frame
	pfc 08 0000
	off=$frame
	for ((i = 0; i < 400; i++)); do
		frames+=("$on" +40 "$off" +10)
	done
	raw "${frames[@]}" &
	data --tos 3 --count 50 --interval 400
	wait
	check "pauses" "$(stat pauses)" -ge 300
	# T1 expires after most of the 50 packets
	check "CNPs" "$(stat cnp_sent)" -ge 20
}

# a pause in which nothing arrives does not affect the next one
test_idle()
{
	stand pfc-max 3ms settle 1ms
	release
	pause
	resume
	state clear clear
	sleep 0.01
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 8kbit burst 9k limit 1g
	pause
	deep
	state paused pause
	resume
	counted "2 1 0" pauses pfc_clear pfc_limit
}

# a queue that was congested and has drained is quiet in the next pause
test_after_verdict()
{
	stand bandwidth 1mbit pfc-max 20ms notify off
	pause
	deep
	resume
	data
	state congested rate
	release
	sleep 0.03
	check "backlog" "$(stat backlog)" -eq 0
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 8kbit burst 9k limit 1g
	deep
	pause
	state paused pause
}

# packets that a lower limit removes do not change how many bytes have arrived
# during the pause
test_trimmed()
{
	stand limit 1m
	deep
	pause
	data
	params limit 30000
	raw +500
	params limit 1m
	resume
	data
	state undetermined unsure
	check "bytes during the pause" "$(stat pause_rx_bytes)" -eq $LEN
}

# parameters that do not concern PFC keep the state
test_change()
{
	stand
	pause
	deep
	params t1 400us
	state paused pause
	params pfc-prio 4
	state congested reset
	pause
	counted "1 1" pauses port_pfc_ignored
	params pfc-prio 3
	pause
	state paused pause
	params pfc off
	state clear reset
}

# a device that goes down forgets its pauses
test_reset()
{
	stand
	pause
	deep
	trace ip -n sw link set p1 down
	state clear reset
	check "trace" "$(grep -c 'state=clear reason=reset .* rx_bytes=0 ' $TRACEFS/trace)" -eq 1
	ip -n sw link set p1 up
	check "backlog" "$(stat backlog)" -eq 0
	tc -n sw qdisc del dev p1 root
}

pause_deep_resume()
{
	pause
	deep
	resume
	data
}

test_events()
{
	stand bandwidth 1mbit
	in_ns sw timeout 1 "$BUILD/iqcn" monitor --events-only p1 >"$TMP/events" &
	sleep 0.1
	trace pause_deep_resume
	wait
	check "trace of the pause" "$(grep -c 'iqcn_pfc: dev=p1 .* state=paused reason=pause ' $TRACEFS/trace)" -eq 1
	check "trace of the verdict" "$(grep -c "state=congested reason=rate .* rx_bytes=$((40 * LEN)) " $TRACEFS/trace)" -eq 1
	check "events" "$(grep -c 'pfc congested by rate depth' "$TMP/events")" -eq 1
}

test_off()
{
	stand pfc off
	pause
	deep
	counted "0 0" pauses port_pfc_ignored
	state clear none
}

test_refused()
{
	topology bridge
	refused_all add dev p1 root iqcn <<-EOF
		pfc-max 2s | pfc-max 2s is out of range (1ns to 1s)
		threshold 0 | threshold
		settle 2s | settle 2s is out of range (0ns to 1s)
		pfc maybe | pfc
		pfc-prio 8 | pfc-prio
	EOF
}

run_tests
