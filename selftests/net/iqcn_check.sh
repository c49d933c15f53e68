#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run "iqcn check" on broken setups, where the first problem that it reports
# must be the fault, and on sound setups, where it must not report a problem.

ALL_TESTS="
	test_tbf
	test_htb
	test_netem
	test_bandwidth_too_high
	test_speed_unknown
	test_port_of_sender
	test_stacked_device
	test_not_ethernet
	test_name
	test_limit
	test_paused
	test_not_ect
	test_not_paired
	test_strays
	test_t1_long
	test_t1_short
	test_storm_of_box
	test_storm_of_receivers
	test_budget
	test_no_cnps
	test_drops
	test_flows
	test_realtime
	test_sound_idle
	test_sound_congested
	test_sound_htb
	test_sound_all_ports
	test_sound_mixed
	test_sound_routed
	test_pfc
	test_long_haul
	test_all_filtered
"
NIGHTLY_TESTS="
	test_htb test_netem test_speed_unknown test_port_of_sender
	test_stacked_device test_not_ethernet test_name test_paused test_strays
	test_t1_short test_storm_of_receivers test_budget test_flows
	test_realtime test_sound_htb test_sound_all_ports test_sound_mixed
	test_sound_routed test_all_filtered
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# examine: run "iqcn check"; set $problem to the first problem that it reports
examine()
{
	in_ns sw "$BUILD/iqcn" check >"$TMP/check"
	problem=$(grep -m 1 '^warn \|^fail ' "$TMP/check")
}

# first STATE ITEM TEXT: check the first problem; TEXT is the end of its line
first()
{
	local state item text

	examine
	read -r state item text <<<"$problem"
	check_eq "first problem" "$state $item" "$1 $2"
	[[ $text == *"$3" ]] ||
		fail "$problem"$'\n'"does not end in: $3"
}

# mend: run the command with which the first problem ends, and check again; the
# first problem must then be of another item, or there must be none
mend()
{
	local command=tc${problem##*: tc} item

	read -r _ item _ <<<"$problem"
	# shellcheck disable=SC2086
	tc -n sw ${command#tc } || fail "$command"
	examine
	[[ ! $problem =~ ^[a-z]+\ +$item ]] || fail "after $command: $problem"
}

# sound: check that "iqcn check" reports no problem
sound()
{
	examine
	check_eq "problem" "$problem" ""
	check_eq "verdict" "$(tail -n 1 "$TMP/check")" "ok: 0 failed, 0 warnings"
}

# limited PARAMETER...: set up iqcn under a shaper of 10 Mbit/s, with a low Kmin
limited()
{
	bottleneck 10mbit bandwidth 10mbit kmin 1000 kmax 2000 limit 1m "$@"
}

# paired PARAMETER...: do what limited does, and pair a flow with its sender
paired()
{
	limited "$@"
	pair_flow
	check "flows paired" "$(stat flows_paired)" -eq 1
}

# cnps COUNT US: send COUNT CNPs of the receiver for the flow of pair_flow, one
# per US us
cnps()
{
	reply --type cnp --qp 0x800011 --count "$1" --interval "$2"
}

# A veth passes PFC frames to the stack, but does not pause its transmission
test_pfc()
{
	local frame i

	topology bridge
	bottleneck 1gbit notify pi
	sound
	grep -q '^ok *pfc *p1 1:1: off; this device can use "pfc frames"$' "$TMP/check" ||
		fail "$(grep pfc "$TMP/check")"
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn pfc txq
	first warn pfc "p1 1:1: a veth does not stop for PFC: tc qdisc change dev p1 parent 1:1 iqcn pfc frames"
	mend
	sound
	# a frame of class 4
	frame=0180c2000001${RCV_MAC//:/}8808010100100000000000000000ffff
	for ((i = ${#frame}; i < 120; i += 4)); do
		frame+=0000
	done
	"$ROCE" raw rcv/e0 "$frame"
	first warn pfc "1 control frames were ignored and none used: wrong class?: tc qdisc change dev p1 parent 1:1 iqcn pfc-prio CLASS"
}

# iqcn check warns of settings of the filter and of supplements that have no
# effect
test_long_haul()
{
	topology bridge
	bottleneck 1gbit notify off fiber 100km filter told
	first warn filter "p1: told drops nothing, because no queue of the port notifies senders: tc qdisc change dev p1 parent 1:1 iqcn notify pi"
	mend
	sound
	grep -q '^ok *filter *p1: told within 1ms, 0 passed, 0 dropped$' "$TMP/check" ||
		fail "$(grep filter "$TMP/check")"
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn \
		notify pi,supplement supplement 0
	first warn supplement "p1 1:1: supplement is 0, so no CNP is sent until a program sets a rate: tc qdisc change dev p1 parent 1:1 iqcn supplement 500"
	mend
	sound
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn filter off \
		supplement 4000
	first warn supplement "p1 1:1: supplement 4000 is cut to supplement-max 2500, and there is no filter that the rest could loosen: tc qdisc change dev p1 parent 1:1 iqcn supplement 2500"
	mend
	sound
}

# The box has just notified the flow itself, so "told" drops each CNP for it
test_all_filtered()
{
	topology bridge
	paired notify supplement supplement 1000 fiber 10000km filter told
	data --tos 2 --count 40 --len 1000
	check "supplemented" "$(stat cnp_supplement)" -gt 0
	cnps 3 1000
	check "filtered" "$(stat port_cnp_filtered)" -eq 3
	first warn filter "p1: 3 CNPs of receivers were dropped and none passed: tc qdisc change dev p1 parent 1:1 iqcn filter auto"
}

# iqcn takes the rate of a tbf, but is not notified if that rate changes
test_tbf()
{
	topology bridge
	bottleneck 1gbit notify pi
	sound
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 100mbit burst 9k limit 1g
	first warn bandwidth "p1 1:1: tbf 1: lets only 100mbit through, but the queue is sized for 1gbit: tc qdisc change dev p1 parent 1:1 iqcn bandwidth 100mbit"
	mend
	sound
	grep -q '^ok *bandwidth *p1 1:1: 100mbit$' "$TMP/check" ||
		fail "$(grep bandwidth "$TMP/check")"
	# a rate above the speed that the link reports; a virtual link may be
	# faster than that
	tc -n sw qdisc del dev p1 root
	bottleneck 25gbit notify timer
	first warn bandwidth "p1 1:1: tbf 1: lets only 25gbit through, but the queue is sized for 10gbit: tc qdisc change dev p1 parent 1:1 iqcn bandwidth 25gbit"
	# kmin, kmax and limit do not depend on the speed once they are set
	tc -n sw qdisc change dev p1 parent 1:1 iqcn kmin 10k kmax 40k limit 1m
	sound
	# a rate below the minimum of "bandwidth"
	tc -n sw qdisc del dev p1 root
	bottleneck 100kbit notify pi
	first warn bandwidth "tc qdisc change dev p1 parent 1:1 iqcn bandwidth 1mbit"
	mend
	sound
}

# The slowest class above iqcn counts, even if other qdiscs are between it and
# iqcn
test_htb()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: htb default 10
		class add dev p1 parent 1: classid 1:1 htb rate 2gbit
		class add dev p1 parent 1:1 classid 1:10 htb rate 100mbit ceil 3gbit
		class add dev p1 parent 1:1 classid 1:11 htb rate 100mbit ceil 500mbit
		qdisc add dev p1 parent 1:10 handle 2: ets bands 2
		qdisc add dev p1 parent 2:1 handle 10: iqcn
		qdisc add dev p1 parent 1:11 handle 11: iqcn
		class change dev p1 parent 1: classid 1:1 htb rate 1gbit
	EOF
	first warn bandwidth "p1 2:1: htb class 1:1 lets only 1gbit through, but the queue is sized for 2gbit: tc qdisc change dev p1 parent 2:1 iqcn bandwidth 1gbit"
	mend
	sound
	tc -n sw -batch - <<-EOF
		qdisc del dev p1 root
		qdisc add dev p1 root handle 1: hfsc default 1
		class add dev p1 parent 1: classid 1:1 hfsc ls rate 1mbit ul rate 200mbit
		qdisc add dev p1 parent 1:1 handle 10: iqcn
	EOF
	first warn bandwidth "p1 1:1: hfsc class 1:1 lets only 200mbit through, but the queue is sized for 10gbit: tc qdisc change dev p1 parent 1:1 iqcn bandwidth 200mbit"
	mend
	sound
}

test_netem()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: netem rate 50gbit
		qdisc add dev p1 parent 1:1 handle 10: iqcn
	EOF
	first warn bandwidth "p1 1:1: netem 1: lets only 50gbit through, but the queue is sized for 10gbit: tc qdisc change dev p1 parent 1:1 iqcn bandwidth 50gbit"
	mend
	sound
}

test_bandwidth_too_high()
{
	topology bridge
	bottleneck 1gbit bandwidth 10gbit
	first warn bandwidth "p1 1:1: bandwidth is 10gbit, but tbf 1: lets only 1gbit through: tc qdisc change dev p1 parent 1:1 iqcn bandwidth 1gbit"
	mend
	sound
	# bandwidth may be a share of the rate of tbf
	bottleneck 1gbit bandwidth 300mbit
	sound
}

test_speed_unknown()
{
	topology bridge
	ip -n sw link add d0 up type dummy
	tc -n sw qdisc add dev d0 root iqcn
	first warn bandwidth "d0 root: the speed of the link is not known, and the queue is sized for 10gbit: tc qdisc change dev d0 root iqcn bandwidth RATE"
	tc -n sw qdisc change dev d0 root iqcn bandwidth 25gbit
	sound
}

# The beginner's mistake: iqcn on the port by which the data enter
test_port_of_sender()
{
	topology bridge
	tc -n sw qdisc add dev p0 root iqcn
	np --time 60 --ack 1
	data --tos 2 --count 200 --interval 100 --len 1024
	wait
	first warn place "p0: data enter by this port and leave by p1, which has no iqcn: tc qdisc add dev p1 root iqcn"
	mend
	sound
}

test_stacked_device()
{
	topology bridge
	tc -n sw qdisc add dev br0 root iqcn bandwidth 1gbit
	first warn place "br0: packets do not wait in a bridge, but in the device below it that leads to receivers: tc qdisc add dev PORT root iqcn, and tc qdisc del dev br0 root"
	cleanup
	topology router vlan
	tc -n sw qdisc add dev p1.100 root iqcn bandwidth 1gbit
	first warn place "p1.100: packets do not wait in a vlan, but in the device below it that leads to receivers: tc qdisc add dev p1 root iqcn, and tc qdisc del dev p1.100 root"
	# below a shaper, packets do wait in a VLAN device
	tc -n sw -batch - <<-EOF
		qdisc replace dev p1.100 root handle 1: tbf rate 1gbit burst 9k limit 1g
		qdisc add dev p1.100 parent 1:1 iqcn bandwidth 1gbit
	EOF
	sound
	# the device below is in another namespace, and here another device has
	# its index
	ip -n snd link add m0 index 77 type dummy
	ip -n sw link add x0 index 77 type dummy
	ip -n snd link add link m0 name v0 type vlan id 9
	ip -n snd link set v0 netns sw
	ip -n sw link set v0 up
	tc -n sw qdisc add dev v0 root iqcn bandwidth 1gbit
	first warn place "v0: packets do not wait in a vlan, but in the device below it that leads to receivers: tc qdisc add dev PORT root iqcn, and tc qdisc del dev v0 root"
}

test_not_ethernet()
{
	topology bridge
	iqcn
	ip -n sw link set lo up
	tc -n sw qdisc add dev lo root iqcn
	first warn place "lo: not Ethernet, so iqcn only marks there and sends no CNPs: put it on the Ethernet port through which the data leave"
}

# The printed command is safe to run in a shell, whatever the name of the device
test_name()
{
	local name=$'a\e\'"b\\$(id)\xe9'

	topology bridge
	ip -n sw link add "$name" up type dummy
	tc -n sw qdisc add dev "$name" root iqcn
	first warn bandwidth ' tc qdisc change dev $'\''a\x1b\'\''"b\\$(id)\xe9'\'' root iqcn bandwidth RATE'
	problem=${problem/RATE/1gbit}
	eval "tc -n sw ${problem##*: tc }" || fail "$problem"
	sound
}

test_limit()
{
	topology bridge
	iqcn limit 45k
	first warn limit "p1 root: no packet is marked by depth, because limit 46080 is less than kmin 40000 and a packet: tc qdisc change dev p1 root iqcn limit 169014"
	mend
	sound
	# packets are marked with a probability, but dropped before it reaches 1
	iqcn notify timer limit 100k kmin 40k kmax 160k
	first warn limit "p1 root: packets are dropped before all are marked, because limit 102400 is below kmax 163840: tc qdisc change dev p1 root iqcn limit 163840"
	mend
	sound
	# pi does not need the marking curve
	iqcn notify pi limit 200k kmin 100k kmax 400k
	sound
}

# A backlog that does not drain, because tbf never passes a packet that is
# larger than its bucket
test_paused()
{
	topology bridge
	paired notify pi
	data --tos 2 --count 40 --len 1024
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 10mbit burst 500 limit 1g
	first fail drain " bytes wait, and none left in 200ms: the port or its shaper is paused: find the PFC frames, ethtool -S p1 | grep -i pause, or check tbf 1:"
	# a new root qdisc has no backlog
	tc -n sw qdisc replace dev p1 root handle 20: iqcn
	sound
}

test_not_ect()
{
	topology bridge
	limited
	data --tos 0 --count 40 --len 1024
	sleep 0.05
	first fail ECT "p1 1:1: $(stat not_ect) packets should have been marked, but none is ECT: have the senders send ECT: set TOS or traffic class, or enable DCQCN"
}

# Neither ACKs nor CNPs of the receiver come in on this port
test_not_paired()
{
	topology bridge
	limited
	data --tos 2 --count 40 --len 1024 --flows 4
	sleep 0.05
	first fail pairing "p1 1:1: none of 4 flows is paired with its sender: if the receivers' packets return by another port, tc qdisc change dev p1 parent 1:1 iqcn snoop netns"
	tc -n sw qdisc change dev p1 parent 1:1 iqcn snoop netns
	data --tos 2 --count 40 --len 1024 --flows 4
	sleep 0.05
	first fail pairing "none of 4 flows is paired with its sender: let the receivers' packets return through this box"
}

# CNPs arrive by a port that the data do not use
test_strays()
{
	topology bridge
	iqcn
	reply --type cnp --count 5
	first warn strays "p1: 5 CNPs belong to no flow: put iqcn on the port through which their data leave, or tc qdisc change dev p1 root iqcn snoop netns"
}

test_t1_long()
{
	topology bridge
	paired notify timer t1 100ms
	cnps 20 100
	first warn t1 "senders speed up long before this box notifies them: tc qdisc change dev p1 parent 1:1 iqcn t1 225us"
	[[ $problem == *"p1 1:1: t1 is 100ms, but the receivers send a CNP every"*us:* ]] ||
		fail "$problem"
	mend
}

test_t1_short()
{
	topology bridge
	paired notify timer t1 10us
	cnps 20 100
	first warn t1 "a sender gets many CNPs from this box before each of theirs: tc qdisc change dev p1 parent 1:1 iqcn t1 225us"
	mend
}

test_storm_of_box()
{
	topology bridge
	bottleneck 100mbit bandwidth 100mbit kmin 1000 kmax 2000 limit 4m \
		notify timer detect depth t1 10us
	pair_flow
	data --tos 2 --count 1500 --len 512
	sleep 0.1
	first warn CNPs "sent or withheld by this box for $(stat packets) packets: tc qdisc change dev p1 parent 1:1 iqcn t1 225us"
	! grep -q cnp-rate "$TMP/check" || fail "recommends more CNPs"
	tc -n sw qdisc change dev p1 parent 1:1 iqcn notify wreb
	first warn CNPs "tc qdisc change dev p1 parent 1:1 iqcn min-gap 225us"
	# not above the parameter's range
	tc -n sw qdisc change dev p1 parent 1:1 iqcn min-gap 600ms
	first warn CNPs "tc qdisc change dev p1 parent 1:1 iqcn min-gap 1s"
}

test_storm_of_receivers()
{
	topology bridge
	bottleneck 1gbit bandwidth 1gbit notify timer
	pair_flow
	data --tos 2 --count 1100 --len 16
	cnps 2300 10
	first warn CNPs "p1 1:1: a storm, 2300 CNPs from receivers and 0 sent or withheld by this box for $(stat packets) packets: raise the receivers' interval between CNPs (mlx5: min_time_between_cnps)"

	# sparse flows on a slow link may need 21 CNPs per packet with pi
	tc -n sw qdisc change dev p1 parent 1:1 iqcn notify pi
	cnps 21000 10
	examine
	[[ $problem != *storm* ]] || fail "$problem"
	cnps 4000 10
	first warn CNPs "p1 1:1: a storm, 27300 CNPs from receivers and 0 sent or withheld by this box for $(stat packets) packets: raise the receivers' interval between CNPs (mlx5: min_time_between_cnps)"
}

# advice TEXT: check the advice for CNPs that are over the budget.  Multicast of
# the hosts may wait in the queue, too, so another problem may be reported
# first.
advice()
{
	examine
	check_eq "CNPs" "$(sed -n 's/^warn *CNPs *//p' "$TMP/check")" \
		"p1 1:1: $(stat cnp_budget) were due but over the port's budget: $1"
}

# The advice for a budget of one CNP per second, and for larger budgets up to
# half of the link
test_budget()
{
	local change="tc qdisc change dev p1 parent 1:1 iqcn"

	topology bridge
	limited notify timer detect queue,depth t1 10us cnp-rate 1 cnp-burst 1
	np --time 60 --ack 1
	data --tos 3 --count 50 --interval 800 --len 1024
	wait
	sleep 0.3
	advice "$change cnp-rate 3188775 cnp-burst 1024"
	# shellcheck disable=SC2086
	tc -n sw ${change#tc } cnp-rate 4000000
	advice "$change cnp-rate 6377551 cnp-burst 1024"
	# shellcheck disable=SC2086
	tc -n sw ${change#tc } cnp-rate 6377551
	advice "CNPs may already use half of the link: fewer flows?"
}

test_no_cnps()
{
	topology bridge
	limited notify off detect depth
	data --tos 2 --count 400 --len 1024
	first warn CNPs "p1 1:1: congested, but neither receivers nor this box ever sent one: tc qdisc change dev p1 parent 1:1 iqcn notify pi"
}

# The advice against drops depends on the notify method: first "notify pi", and
# then a higher limit
test_drops()
{
	topology bridge
	bottleneck 10mbit bandwidth 10mbit kmin 1000 kmax 2000 limit 30k
	pair_flow
	data --tos 2 --count 60 --len 1024
	first warn room "$(stat drop_overlimit) packets were dropped because the queue was full: tc qdisc change dev p1 parent 1:1 iqcn notify pi"
	tc -n sw qdisc change dev p1 parent 1:1 iqcn notify pi
	first warn room "$(stat drop_overlimit) packets were dropped because the queue was full: tc qdisc change dev p1 parent 1:1 iqcn limit 61440"
}

test_flows()
{
	topology bridge
	bottleneck 1gbit bandwidth 1gbit flows 2 notify off
	data --tos 3 --flows 5 --count 5
	first warn room "p1 1:1: $(stat flow_evicted) flows were evicted, 0 packets got no flow: tc qdisc change dev p1 parent 1:1 iqcn flows 4"
}

test_realtime()
{
	topology bridge
	iqcn
	unshare -m bash -c "mount -t tmpfs none /sys/kernel &&
		echo 1 >/sys/kernel/realtime &&
		nsenter --net=/run/netns/sw $BUILD/iqcn check" >"$TMP/check"
	check "exit status" $? -eq 1
	check_eq "first problem" "$(grep -m 1 '^warn \|^fail ' "$TMP/check")" \
		"fail  kernel     $(uname -r) is a PREEMPT_RT kernel, which sch_iqcn does not support: boot a kernel without PREEMPT_RT"
}

test_sound_idle()
{
	topology bridge
	iqcn notify pi
	sound
	# the link is down, so its speed is not known yet
	ip -n rcv link set e0 down
	sound
}

# Congestion is no problem if the sender's QP is known and the receivers answer
test_sound_congested()
{
	topology bridge
	bottleneck 10mbit bandwidth 10mbit
	pair_flow
	np --time 200 --ack 1 --cnp 50
	data --tos 2 --count 400 --len 1024
	check "backlog" "$(stat backlog)" -gt 0
	sound
	wait
	check "CNPs" "$(stat cnp_seen)" -gt 0
	sound
}

test_sound_htb()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: htb default 10
		class add dev p1 parent 1: classid 1:10 htb rate 1gbit ceil 10gbit
		class add dev p1 parent 1: classid 1:11 htb rate 1gbit
		qdisc add dev p1 parent 1:10 handle 10: iqcn notify timer
		qdisc add dev p1 parent 1:11 handle 11: iqcn bandwidth 1gbit
	EOF
	pair_flow
	cnps 5 50
	sound
}

# iqcn on all ports, including the one to the sender
test_sound_all_ports()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p0 root iqcn
		qdisc add dev p1 root handle 10: iqcn
	EOF
	np --time 60 --ack 1
	data --tos 2 --count 200 --interval 100 --len 1024
	data --tos 3 --count 20 --interval 100 --len 1024
	wait
	check "flows" "$(stat flows_paired)" -eq 1
	sound
}

# Mostly traffic that is not RoCE, in a queue that is never deep
test_sound_mixed()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio
		qdisc add dev p1 parent 1:1 handle 10: iqcn notify timer
		qdisc add dev p1 parent 1:2 handle 11: iqcn notify timer
	EOF
	data --type udp --tos 0 --count 500 --len 1024 --interval 10
	pair_flow
	sound
}

test_sound_routed()
{
	topology router qinq
	limited notify timer
	pair_flow
	pair_flow -6
	data --tos 2 --count 60 --len 512
	sleep 0.1
	check "marked" "$(stat ecn_mark)" -gt 0
	sound
}

run_tests
