#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# notify grant: CNPs with windows, for packets that leave a congested queue,
# unless a pause puts its congestion in doubt.

ALL_TESTS="
	test_windows
	test_windows_v6
	test_equal
	test_shallow
	test_quiet
	test_quiet_ce
	test_not_ect
	test_ce_in_silent
	test_mark_on_enqueue
	test_mark_on_changes
	test_verdict
	test_fast_path
	test_untracked
	test_min_gap
	test_moves
	test_refused
"
NIGHTLY_TESTS="
	test_windows_v6 test_shallow test_quiet_ce test_ce_in_silent
	test_mark_on_changes test_untracked test_min_gap test_moves
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# 8 Mbit/s carry 100,000 bytes in 100 ms
BDP=100000
GRANT="notify grant base-rtt 100ms"

# params PARAMETER...: change parameters of the qdisc under tbf
params()
{
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn "$@"
}

# pfc QUANTA: send a PFC frame from the receiver to p1, with these hexadecimal
# quanta for class 3
pfc()
{
	"$ROCE" raw rcv/e0 "$(printf "0180c2000001${RCV_MAC//:/}88080101000800000000000%05x%060d" \
		"0x$1" 0)"
}

# stand [-6] PARAMETER...: set up a bridge whose port p1 passes only the burst
# of tbf, and three paired flows
stand()
{
	local v="" qp
	if [ "${1-}" = -6 ]; then
		v=$1
		shift
	fi

	topology bridge
	bottleneck 8kbit bandwidth 8mbit kmin 900k kmax 900k threshold 20000 \
		limit 1m cnp-ttl 9 notify off
	for qp in 0x11 0x12 0x13; do
		# shellcheck disable=SC2086
		pair_flow $v --qp $qp --psn $((qp * 1000))
	done
	# shellcheck disable=SC2086
	params $GRANT min-gap 1s
	[ $# = 0 ] || params "$@"
	# use up the burst, and fill the part of the queue that is not tracked
	data --type udp --tos 0 --count 14
}

# let_some_leave: have tbf pass about 18 packets; CNPs are in $TMP/snd
let_some_leave()
{
	sniff snd --type cnp --time 100
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 8kbit burst 20k limit 1g
	data --type udp --tos 0 --len 10
	wait
}

# windows: print flow and window of each CNP, "11 50000"; the senders' QPs are
# 0x800011 and so on
windows()
{
	local line
	while read -r line; do
		[[ $line =~ qp\ 0x8000([0-9a-f]{2}).*\ icrc\ ok\ .*\ rsvd\ 2.07....([0-9a-f]{8}) ]] &&
			echo "${BASH_REMATCH[1]} $((16#${BASH_REMATCH[2]}))"
	done <"$TMP/snd"
}

# windows_of [-6]: check the windows of three flows, which queue 11, 21 and 23
# packets.  The one with the most packets is at the head of the queue.
windows_of()
{
	local v=$1 line bytes sum=0 lines

	# shellcheck disable=SC2086
	{
		data $v --qp 0x13 --list "200"
		data $v --qp 0x11 --list "100"
		data $v --qp 0x12 --list "150"
		data $v --qp 0x13 --list "201-222"
		data $v --qp 0x11 --list "101-110"
		data $v --qp 0x12 --list "151-170"
	}
	let_some_leave
	check "CNPs" "$(windows | wc -l)" -eq 3
	counted "3 0 0" cnp_grant cnp_wreb cnp_pi
	mapfile -t lines <<<"$(windows)"
	for line in "${lines[@]}"; do
		bytes=${line#* }
		sum=$((sum + bytes))
		# 11, 21 and 23 of 55 packets; some have left before, and the
		# first ones are not tracked
		check "window of $line" "$bytes" -gt $((BDP / 10))
		check "window of $line" "$bytes" -lt $((BDP * 6 / 10))
	done
	check "all windows" $sum -gt $((BDP * 8 / 10))
	check "all windows" $sum -le $((BDP + 3 * 1024))
}

test_windows()
{
	stand
	windows_of ""
	check "this cause in iqcn top" "$(in_ns sw "$BUILD/iqcn" top --batch \
		--count 1 | grep -c '^CNPs/s sent .*  grant ')" -eq 1
}

test_windows_v6()
{
	stand -6
	windows_of -6
}

test_equal()
{
	local line lines

	stand grant equal
	data --qp 0x11 --count 20
	data --qp 0x12 --count 20
	data --qp 0x13 --count 20
	let_some_leave
	check "CNPs" "$(windows | wc -l)" -ge 1
	mapfile -t lines <<<"$(windows)"
	for line in "${lines[@]}"; do
		check_eq "window" "${line#* }" $((BDP / 3))
	done
}

# no CNPs up to the threshold
test_shallow()
{
	stand threshold 60000
	data --qp 0x11 --count 40
	let_some_leave
	counted "0" cnp_sent
	params threshold 20000
	let_some_leave
	check "CNPs" "$(stat cnp_grant)" -ge 1
}

# no CNPs while the congestion is in doubt, but packets that arrive then are
# tracked
test_quiet()
{
	stand pfc frames settle 1s pfc-max 1s
	params bandwidth 10gbit
	pfc ffff
	data --qp 0x11 --count 40
	let_some_leave
	counted "0 0 0 0 1" cnp_sent cnp_grant cnp_pfc pfc_rate pauses
	params pfc off
	let_some_leave
	check "CNPs" "$(stat cnp_grant)" -ge 1
	# all tracked packets are of this flow
	check_eq "window" "$(windows)" "11 125000000"
}

# while the congestion is in doubt, packets that arrive with CE cause no CNPs
# with the other methods either
test_quiet_ce()
{
	stand pfc frames settle 1s pfc-max 1s notify wreb,grant profile 0:1 min-gap 0
	params bandwidth 10gbit
	pfc ffff
	data --qp 0x11 --tos 3 --count 40
	counted "1 0" pauses cnp_sent
	params pfc off
	data --qp 0x11 --tos 3 --count 5
	check "CNPs" "$(stat cnp_wreb)" -ge 1
}

test_not_ect()
{
	stand
	data --qp 0x11 --tos 0 --count 40
	let_some_leave
	counted "0" cnp_sent
}

test_ce_in_silent()
{
	stand ce-in silent
	data --qp 0x11 --tos 3 --count 20
	data --qp 0x11 --tos 2 --count 20
	let_some_leave
	counted "0" cnp_sent
	release
	sleep 0.01
	check "CNPs of the others" "$(stat cnp_grant)" -ge 1
}

# packets that are marked are tracked as well
test_mark_on_enqueue()
{
	stand mark-on enqueue kmin 0 kmax 0
	data --qp 0x11 --count 40
	check "marks" "$(stat ecn_mark)" -ge 39
	let_some_leave
	check_eq "window" "$(windows)" "11 $BDP"
}

# after a change to mark-on dequeue, packets that were queued with mark-on
# enqueue are marked as they leave: their headers were found on arrival
test_mark_on_changes()
{
	stand mark-on enqueue
	data --qp 0x11 --count 10
	data --qp 0x12 --count 10
	params mark-on dequeue kmin 0 kmax 1
	sniff rcv --type data --time 100
	let_some_leave
	check "marks" "$(stat ecn_mark)" -ge 5
	check "CE packets" "$(grep -c ' ce .*icrc ok csum ok' "$TMP/rcv")" -eq "$(stat ecn_mark)"
}

# if a pause shows that the queue is congested, the CNP that reports this has a
# window, too
test_verdict()
{
	stand pfc frames bandwidth 1mbit
	pfc ffff
	data --qp 0x11 --count 40
	sleep 0.0005
	pfc 0000
	let_some_leave
	counted "1 1 0" pfc_rate cnp_grant cnp_pfc
	check_eq "window" "$(windows)" "11 12500"
}

# packets below a quarter of the threshold take the fast path
test_fast_path()
{
	stand threshold 400000
	data --qp 0x11 --count 40
	check_eq "queued packets of flows" "$(flows | awk '!/^#/ && $4 == "0x000011"' | wc -l)" 1
	params threshold 1000
	let_some_leave
	counted "0" cnp_sent
}

# dropped and trimmed packets, and those of a queue that is reset, do not count
test_untracked()
{
	stand
	data --qp 0x11 --count 40
	params limit 30000
	params limit 1m
	data --qp 0x12 --count 10
	ip -n sw link set p1 down
	ip -n sw link set p1 up
	wait_forwarding
	release
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 8kbit burst 9k limit 1g
	data --type udp --tos 0 --count 8
	data --qp 0x13 --count 40
	let_some_leave
	check_eq "window" "$(windows)" "13 $BDP"
}

test_min_gap()
{
	stand min-gap 0
	data --qp 0x11 --count 60
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 8mbit burst 9k limit 1g
	data --type udp --tos 0 --len 10
	sleep 0.01
	check "CNPs" "$(stat cnp_grant)" -ge 5
	params min-gap 1s
	local before
	before=$(stat cnp_grant)
	sleep 0.01
	check "CNPs with a gap" "$(stat cnp_grant)" -eq "$before"
	counted "0" cnp_gap
}

# a flow whose packets take another class gets its windows from that queue
test_moves()
{
	local iqcn="iqcn bandwidth 8mbit kmin 900k kmax 900k threshold 20000 limit 1m cnp-ttl 9"

	topology bridge
	two_classes 8kbit "handle 20: $iqcn notify off" \
		"handle 10: $iqcn $GRANT min-gap 1s"
	pair_flow
	# the first queue keeps the flow while it is in use
	sleep 0.1
	data --count 40 --tos 106
	let_some_leave
	check "CNPs" "$(stat cnp_grant)" -eq 1
	check_eq "window" "$(windows)" "11 $BDP"
}

test_refused()
{
	topology bridge
	refused_all add dev p1 root iqcn <<-EOF
		notify grant bandwidth 10gbit | notify grant needs base-rtt, the round-trip time without congestion
		base-rtt 0 | base-rtt
		base-rtt 2s | base-rtt
		grant most | grant
	EOF
	ip -n sw link add d0 type dummy
	check "speed of the device" "$(in_ns sw cat /sys/class/net/d0/speed 2>/dev/null || echo 0)" -le 0
	refused_all add dev d0 root iqcn <<-EOF
		notify grant base-rtt 10us | notify grant needs bandwidth, because the speed of the device is unknown
	EOF
	# a change that is refused leaves the parameters as they were
	tc -n sw qdisc add dev p1 root handle 10: iqcn notify grant base-rtt 10us bandwidth 10gbit
	refused_all change dev p1 root handle 10: iqcn <<-EOF
		base-rtt 0 | base-rtt
	EOF
	check_eq "base-rtt" "$(stat base_rtt_ns)" 10000
}

run_tests
