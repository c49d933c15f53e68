#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The qdisc as tc sees it: parameters, errors, changes, and use below and beside
# other qdiscs.

ALL_TESTS="
	test_defaults
	test_all_parameters
	test_bad_words
	test_bad_values
	test_failed_change
	test_errors_at_once
	test_failed_add
	test_shrink_limit
	test_link_speed
	test_shaper_rate
	test_warnings
	test_tbf
	test_prio
	test_htb
	test_mq_shares_port
	test_default_qdisc
	test_json
	test_inspection
"
NIGHTLY_TESTS="
	test_errors_at_once test_failed_add test_link_speed test_prio test_htb
	test_default_qdisc
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# opts: print the parameters as text
opts()
{
	tc -n sw -d qdisc show dev p1 | grep ' iqcn '
}

# refused WANTED TC-ARGUMENT...: the command must fail with WANTED in its output
refused()
{
	local want=$1 out
	shift

	if out=$(tc -n sw qdisc "$@" 2>&1); then
		fail "tc qdisc $*: accepted"
	elif [[ $out != *$want* ]]; then
		fail "tc qdisc $*: \"$out\" does not say \"$want\""
	fi
}

dummy()
{
	ip -batch - <<-EOF
		netns add sw
		link add p1 netns sw numtxqueues 4 type dummy
	EOF
	ip -n sw link set p1 up
}

test_defaults()
{
	local want

	topology bridge
	tc -n sw qdisc add dev p1 root handle 10: iqcn
	# veth reports 10 Gb/s
	want="kmin 160000b kmax 625Kb pmax 0.2 mark-on dequeue nonect pass notify pi detect queue,depth t1 225us trigger timer period 56250ns base cnp delay 0ns ce-in notify measure depth profile mark qref auto update 100us alpha 5000 beta 250000 min-gap 50us telemetry off window 1ms enter 90% exit 60% bandwidth 0bit run 5 run-exit 2 span 100 span-enter 3 span-exit 10 pfc off pfc-prio 3 threshold 40000b settle 20us pfc-max 3355392ns base-rtt none grant share supplement 500 supplement-max 2500 fiber none filter off filter-by flow sample 1 group off pair psn flows 65536 age 10s snoop port cnp-dscp 48 cnp-pcp 6 cnp-ttl 64 cnp-smac port cnp-sport learned cnp-rate 3188775 cnp-burst 1024"
	[[ $(opts) == *"$want"* ]] || fail "$(opts)"
}

test_all_parameters()
{
	local all="limit 1000000b kmin 10000b kmax 50000b pmax 0.25 mark-on dequeue nonect drop notify off detect queue,depth,run,span t1 55us trigger period period 20us base both delay auto ce-in silent measure depth,gradient,delay profile 100b:0.1,200b:0.1,1000b:1 qref 20000b update 1ms alpha 7 beta 100000000 min-gap 0ns telemetry on window 2ms enter 80% exit 50% bandwidth 25Gbit run 7 run-exit 0 span 50 span-enter 2 span-exit 2 pfc frames pfc-prio 0,3 threshold 12345b settle 30us pfc-max 4ms base-rtt 15us grant equal supplement 700 supplement-max 900 fiber 100km filter 2/500us filter-by port sample 8 group 7 pair cm flows 100 age 5s snoop netns cnp-dscp 46 cnp-pcp 3 cnp-ttl 1 cnp-smac receiver cnp-sport echo cnp-rate 1000 cnp-burst 10"

	dummy
	# shellcheck disable=SC2086
	iqcn $all
	[[ $(opts) == *"$all"* ]] || fail "add: $(opts)"
	# the output of "show" is accepted
	# shellcheck disable=SC2046
	iqcn $(opts | sed 's/.*\(limit .*\)/\1/')
	[[ $(opts) == *"$all"* ]] || fail "as shown: $(opts)"
	tc -n sw qdisc change dev p1 root handle 10: iqcn t1 123456ns \
		kmin 10001 kmax 1048000 age 1234567ms pmax 0.123456789
	[[ $(opts) == *"kmin 10001b kmax 1048000b pmax 0.123456789 "*"t1 123456ns "*"age 1234567ms"* ]] ||
		fail "exact: $(opts)"
	# shellcheck disable=SC2086
	iqcn $all
	tc -n sw qdisc change dev p1 root handle 10: iqcn t1 300us
	[[ $(opts) == *"${all/t1 55us/t1 300us}"* ]] || fail "change: $(opts)"
}

test_bad_words()
{
	dummy
	refused_all add dev p1 root iqcn <<-EOF
		bogus 1 | "bogus"
		kmin | "kmin" needs a value: BYTES
		limit x | invalid value "x" for "limit": expected BYTES
		kmax -1 | kmax -1 is out of range (0b to 4294967295b)
		pmax 1.5 | pmax 1.5 is out of range (0 to 1)
		t1 fast | for "t1"
		t1 -3us | t1 -3us is out of range (10us to 1s)
		pair none | for "pair"
		pair "" | for "pair"
		detect queue, | for "detect"
		detect off | for "detect"
		trigger never | for "trigger"
		base acm | for "base"
		delay soon | for "delay"
		delay 4294967295 | delay 4294967295 is out of range
		sample -1 | sample -1 is out of range
		group none | for "group"
		snoop world | for "snoop"
		cnp-smac mine | for "cnp-smac"
		cnp-sport 4791 | for "cnp-sport"
		notify often | for "notify"
		mark-on both | for "mark-on"
		ce-in maybe | for "ce-in"
		nonect maybe | for "nonect"
		bandwidth much | for "bandwidth"
		kmin 1 kmin 2 | duplicate parameter "kmin"
		help | Usage
	EOF
	check "qdiscs" "$(opts | grep -c .)" -eq 0
}

# Each error message of the kernel names the parameter
test_bad_values()
{
	dummy
	TC_LIB_DIR=$UNCHECKED refused_all add dev p1 root iqcn <<-EOF
		kmin 2000 kmax 1000 | kmin 2000 is above kmax 1000.
		limit 0 | limit is 0, must be 1 to 4294967295 bytes.
		t1 0 | t1 is 0, must be 10000 to 1000000000 ns.
		t1 9us | t1 is 9000,
		t1 1001ms | t1 is 1001000000,
		window 0 | window is 0, must be 10000 to 1000000000 ns.
		window 2s | window is 2000000000,
		enter 0 | enter is 0, must be 1 to 1000%.
		enter 1001% | enter is 1001,
		exit 90 | exit 90% is not below enter 90%.
		enter 50 exit 95 | exit 95% is not below enter 50%.
		exit 1000 | exit is 1000, must be 0 to 999%.
		run 0 | run is 0, must be 2 to 65536 packets.
		run 1 | run is 1, must be 2 to 65536 packets.
		run-exit 5 | run-exit 5 is not below run 5.
		run 2 | run-exit 2 is not below run 2.
		span 0 | span is 0, must be 2 to 65536 packets.
		span-enter 1 | span-enter is 1,
		span-exit 2 | span-exit 2 is below span-enter 3.
		period 226us | period 226000 ns is above t1 225000 ns.
		period 9us | period is 9000,
		period 0 | period is 0, must be
		delay 1001ms | delay is 1001000000, must be auto or at most 1000000000 ns.
		sample 0 | sample is 0, must be 1 to 65536 packets.
		sample 65537 | sample is 65537,
		flows 0 | flows is 0,
		flows 1048577 | flows is 1048577, must be 1 to 1048576.
		bandwidth 1001tbit | bandwidth 1001000000000000 must be 0 or 1000000 to 1000000000000000 bit/s.
		age 0 | age is 0,
		age 100000s | age is 100000000, must be 1 to 86400000 ms.
		cnp-dscp 64 | cnp-dscp is 64,
		cnp-pcp 8 | cnp-pcp is 8,
		cnp-ttl 0 | cnp-ttl is 0,
		cnp-ttl 256 | cnp-ttl is 256,
		cnp-rate 0 | cnp-rate is 0, must be 1 to 1000000000 per second.
		cnp-rate 1000000001 | cnp-rate is 1000000001,
		cnp-burst 0 | cnp-burst is 0,
	EOF
	check "qdiscs" "$(opts | grep -c .)" -eq 0
	iqcn t1 1s limit 4294967295 flows 1 pmax 0 kmin 0 kmax 0
	check "limits of the ranges" "$(opts | grep -c 't1 1s')" -eq 1
}

test_failed_change()
{
	local before

	topology bridge
	iqcn limit 1m kmin 10k kmax 50k t1 200us period 150us bandwidth 4mbit cnp-rate 5000
	pair_flow
	before=$(opts)
	TC_LIB_DIR=$UNCHECKED refused_all change dev p1 root handle 10: iqcn <<-EOF
		limit 2m t1 400us kmin 60k cnp-rate 10 | kmin 61440 is above kmax 51200.
		t1 400us cnp-rate 10 cnp-burst 0 | cnp-burst is 0
		snoop netns t1 100us | period 150000 ns is above t1 100000 ns.
	EOF
	check_eq "unchanged" "$(opts)" "$before"
	check "cnp_rate_pps" "$(value cnp_rate_pps)" -eq 5000
	sniff snd --type cnp --time 60
	data --tos 3 --count 12 --interval 1000
	wait
	check "CNPs after that" "$(grep -c . "$TMP/snd")" -ge "$(loose 10)"
}

# Two requests at a time: each gets its own message
test_errors_at_once()
{
	local i word

	dummy
	for word in t1 window; do
		for ((i = 1; i <= 20; i++)); do
			echo "$word ${i}ns | $word is $i,"
		done >"$TMP/$word"
	done
	{
		TC_LIB_DIR=$UNCHECKED refused_all add dev p1 root iqcn \
			<"$TMP/t1" &
		TC_LIB_DIR=$UNCHECKED refused_all add dev p1 root iqcn <"$TMP/window"
		wait
	} >"$TMP/at-once"
	check_eq "errors" "$(cat "$TMP/at-once")" ""
}

# A failed init is undone
test_failed_add()
{
	dummy
	refused "exit" add dev p1 root iqcn exit 95
	check "directories in sysfs" \
		"$(ip netns exec sw find /sys/class/net/p1/ -name iqcn |
		   grep -c .)" -eq 0
	check "directories in debugfs" \
		"$(find /sys/kernel/debug/iqcn -name p1 | grep -c .)" -eq 0
}

test_shrink_limit()
{
	topology bridge
	# no packet leaves after the burst of tbf, in virtual or in real time
	bottleneck 1kbit limit 1m kmin 10k kmax 20k
	data --count 60
	check "packets queued" "$(stat qlen)" -eq 52
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn limit 10000
	check "backlog" "$(stat backlog)" -le 10000
	check "packets left" "$(stat qlen)" -eq 9
	check "drops" "$(stat drops)" -eq 43
	check "packets that tbf counts" \
		"$(tc -n sw -s -j qdisc show dev p1 |
		   jq '.[] | select(.kind == "tbf") | .qlen')" -eq 9
	tc -n sw qdisc del dev p1 root
	check "directories in debugfs" "$(find /sys/kernel/debug/iqcn -name p1 |
		grep -c .)" -eq 0
}

# flap: take the link down and up, because iqcn reads the new speed when the
# link comes up
flap()
{
	ip -n sw link set p1 down
	ip -n sw link set p1 up
}

# kmin, kmax and limit follow the link speed unless they are set
test_link_speed()
{
	ip -batch - <<-EOF
		netns add sw
	EOF
	in_ns sw ip tuntap add dev p1 mode tap
	in_ns sw ethtool -s p1 speed 25000 duplex full autoneg off
	ip -n sw link set p1 up
	iqcn
	[[ $(opts) == *"kmin 100000b kmax 400000b"* ]] || fail "$(opts)"
	[[ $(opts) == *"limit 15625Kb"* ]] || fail "$(opts)"
	[[ $(opts) == *"qref auto update 100us alpha 2000 beta 100000 "* ]] ||
		fail "controller: $(opts)"
	check "CNPs per second" "$(value cnp_rate_pps)" -eq 7971938
	# with pi, marking begins far above the controller's range
	tc -n sw qdisc change dev p1 root handle 10: iqcn notify pi
	[[ $(opts) == *"limit 15625Kb kmin 400000b kmax 1600000b"* ]] ||
		fail "pi: $(opts)"
	tc -n sw qdisc change dev p1 root handle 10: iqcn notify timer
	in_ns sw ethtool -s p1 speed 50000 duplex full autoneg off
	flap
	[[ $(opts) == *"kmin 200000b kmax 800000b"* ]] || fail "50G: $(opts)"
	tc -n sw qdisc change dev p1 root handle 10: iqcn kmax 120000
	[[ $(opts) == *"kmin 30000b kmax 120000b"* ]] || fail "kmax: $(opts)"
	in_ns sw ethtool -s p1 speed 100000 duplex full autoneg off
	flap
	[[ $(opts) == *"kmin 30000b kmax 120000b"* ]] ||
		fail "kmax was set: $(opts)"
	[[ $(opts) == *"limit 62500Kb"* ]] || fail "100G: $(opts)"
	[[ $(opts) == *"qref auto update 100us alpha 500 beta 25000 "* ]] ||
		fail "controller, 100G: $(opts)"
	check "CNPs per second, 100G" "$(value cnp_rate_pps)" -eq 31887755
	# the bandwidth parameter overrides the link speed
	tc -n sw qdisc change dev p1 root handle 10: iqcn bandwidth 25gbit
	[[ $(opts) == *"limit 15625Kb "*"qref auto update 100us alpha 2000 "* ]] ||
		fail "bandwidth: $(opts)"
	check "CNPs per second, 25G of 100G" "$(value cnp_rate_pps)" -eq 7971938
	tc -n sw qdisc change dev p1 root handle 10: iqcn bandwidth 200gbit
	check "CNPs per second, 200G" "$(value cnp_rate_pps)" -eq 63775510
	tc -n sw qdisc change dev p1 root handle 10: iqcn cnp-rate 5000
	in_ns sw ethtool -s p1 speed 50000 duplex full autoneg off
	flap
	check "CNPs per second, set" "$(value cnp_rate_pps)" -eq 5000
}

# works HANDLE: check that the qdisc marks and notifies in this place
works()
{
	local handle=$1

	pair_flow
	sniff snd --type cnp --time 100
	data --count 60
	wait
	check "packets marked" "$(stat ecn_mark p1 "$handle")" -gt 20
	check "CNPs" "$(grep -c . "$TMP/snd")" -gt 40
	check "packets left" "$(stat qlen p1 "$handle")" -eq 0
	check "backlog" "$(stat backlog p1 "$handle")" -eq 0
}

test_tbf()
{
	topology bridge
	bottleneck 8656kbit kmin 3000 kmax 4000
	works 10:
}

# The rate of a shaper replaces the speed of the link, 10 Gb/s
test_shaper_rate()
{
	local slow="alpha 50000 beta 2500000 "

	topology bridge
	bottleneck 1gbit
	[[ $(opts) == *$slow* ]] || fail "tbf: $(opts)"
	check "CNPs per second" "$(value cnp_rate_pps)" -eq 318877
	# iqcn reads the rate again when its parameters change or the device
	# goes up
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 2gbit burst 9k limit 1g
	[[ $(opts) == *$slow* ]] || fail "tbf changed: $(opts)"
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn
	[[ $(opts) == *"alpha 25000 "* ]] || fail "iqcn changed: $(opts)"
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 1gbit burst 9k limit 1g
	ip -n sw link set p1 down
	ip -n sw link set p1 up
	[[ $(opts) == *$slow* ]] || fail "device up: $(opts)"
	# a bandwidth that the user set remains
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn bandwidth 5gbit
	[[ $(opts) == *"alpha 10000 "* ]] || fail "bandwidth: $(opts)"
	tc -n sw qdisc del dev p1 root

	# tbf reports a rate above 4 GB/s in another attribute; this rate
	# exceeds the speed of the link, so the speed applies
	tc -n sw qdisc add dev p1 root handle 1: tbf rate 40gbit burst 1m limit 1g
	tc -n sw qdisc add dev p1 parent 1:1 handle 10: iqcn
	[[ $(opts) == *"alpha 5000 "* ]] || fail "40 Gb/s: $(opts)"
	tc -n sw qdisc del dev p1 root

	# the class may borrow up to its ceil; the slowest of several shapers
	# counts
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: htb default 10
		class add dev p1 parent 1: classid 1:10 htb rate 100mbit ceil 1gbit
		class add dev p1 parent 1: classid 1:20 htb rate 3gbit
		qdisc add dev p1 parent 1:10 handle 10: iqcn
	EOF
	[[ $(opts) == *$slow* ]] || fail "htb: $(opts)"
	tc -n sw -batch - <<-EOF
		qdisc replace dev p1 parent 1:10 handle 2: prio
		qdisc add dev p1 parent 2:1 handle 3: tbf rate 2gbit burst 9k limit 1g
		qdisc add dev p1 parent 3:1 handle 10: iqcn
	EOF
	[[ $(opts) == *$slow* ]] || fail "htb above tbf: $(opts)"
	tc -n sw qdisc change dev p1 parent 2:1 handle 3: tbf rate 500mbit burst 9k limit 1g
	tc -n sw qdisc change dev p1 parent 3:1 handle 10: iqcn
	[[ $(opts) == *"alpha 100000 "* ]] || fail "tbf below htb: $(opts)"
	tc -n sw qdisc del dev p1 root

	# a class borrows up to the ceil of its parent, but need not borrow for
	# its own rate
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: htb default 10
		class add dev p1 parent 1: classid 1:1 htb rate 500mbit ceil 1gbit
		class add dev p1 parent 1:1 classid 1:10 htb rate 100mbit ceil 10gbit
		qdisc add dev p1 parent 1:10 handle 10: iqcn
	EOF
	[[ $(opts) == *$slow* ]] || fail "ceil of the parent class: $(opts)"
	tc -n sw class change dev p1 parent 1:1 classid 1:10 htb rate 2gbit ceil 10gbit
	tc -n sw qdisc change dev p1 parent 1:10 handle 10: iqcn
	[[ $(opts) == *"alpha 25000 "* ]] || fail "rate of the class: $(opts)"

	# the budget of the port is for the sum of the classes' rates
	tc -n sw -batch - <<-EOF
		class change dev p1 parent 1:1 classid 1:10 htb rate 100mbit ceil 1gbit
		class add dev p1 parent 1:1 classid 1:20 htb rate 1gbit
		qdisc add dev p1 parent 1:20 handle 20: iqcn
		qdisc change dev p1 parent 1:10 handle 10: iqcn
	EOF
	check "CNPs per second" "$(value cnp_rate_pps)" -eq 637755
}

# warns TC-ARGUMENT... WARNING: check that the command succeeds and prints
# WARNING, or no warning if WARNING is empty
warns()
{
	local out want=${*: -1}

	out=$(tc -n sw qdisc "${@:1:$#-1}" 2>&1) ||
		fail "tc qdisc $*: failed"
	check_eq "tc qdisc ${*:1:$#-1}" "$out" "${want:+Warning: $want.}"
}

test_warnings()
{
	topology bridge
	warns replace dev p1 root handle 10: iqcn ""
	warns change dev p1 root handle 10: iqcn limit 30000 \
		"limit 30000 is less than 4 packets of 9014 bytes"
	warns change dev p1 root handle 10: iqcn limit 1000000 kmin 1000000 kmax 2000000 \
		"kmin 1000000 is not below limit 1000000: no packet is marked by depth"
	warns change dev p1 root handle 10: iqcn kmin 10000 \
		"kmax 2000000 is above limit 1000000: few packets are marked"
	warns change dev p1 root handle 10: iqcn kmax 1000000 ""
	warns replace dev p1 root handle 1: tbf rate 1gbit burst 9k limit 1g ""
	warns add dev p1 parent 1:1 handle 10: iqcn \
		"bandwidth is that of qdisc 1:, 1000000 Kbit/s: change iqcn if that changes"
	warns change dev p1 parent 1:1 handle 10: iqcn bandwidth 1gbit ""

	ip -n sw link add d0 type dummy
	ip -n sw tuntap add t0 mode tun
	warns add dev d0 root iqcn \
		"the speed of d0 is unknown: set bandwidth, 10 Gbit/s are assumed"
	warns replace dev d0 root iqcn bandwidth 10gbit ""
	warns add dev t0 root iqcn \
		"t0 is not an Ethernet device: iqcn marks packets but sends no CNPs"
}

test_prio()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: tbf rate 8656kbit burst 9k limit 1g
		qdisc add dev p1 parent 1:1 handle 2: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
		qdisc add dev p1 parent 2:2 handle 10: iqcn kmin 3000 kmax 4000 $TIMER
	EOF
	works 10:
}

test_htb()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: htb default 10
		class add dev p1 parent 1: classid 1:10 htb rate 8656kbit burst 9k cburst 9k
		qdisc add dev p1 parent 1:10 handle 10: iqcn kmin 3000 kmax 4000 $TIMER
	EOF
	works 10:
}

# Four queues share one port: its pairing, budget and flows
test_mq_shares_port()
{
	local i

	topology bridge
	ip -n sw link del p1
	ip -batch - <<-EOF
		link add e0 netns rcv address $RCV_MAC mtu 9000 numtxqueues 4 type veth peer name p1 netns sw address $P1_MAC mtu 9000 numtxqueues 4
	EOF
	ip -n rcv link set e0 up
	ip -n sw -batch - <<-EOF
		link set p1 master br0
		link set p1 up
	EOF
	wait_forwarding
	bridge -n sw fdb replace $RCV_MAC dev p1 master static
	tc -n sw qdisc add dev p1 root handle 1: mq
	for i in 1 2 3 4; do
		echo "qdisc add dev p1 parent 1:$i handle 1$i: iqcn bandwidth 4mbit $TIMER"
	done | tc -n sw -batch -
	check "queues" "$(value queues)" -eq 4
	tc -n sw qdisc change dev p1 parent 1:3 handle 13: iqcn cnp-rate 777
	[[ $(opts | grep -c 'cnp-rate 777') = 4 ]] ||
		fail "cnp-rate of all queues: $(opts)"
	pair_flow
	sniff snd --type cnp --time 60
	data --tos 3 --count 12 --interval 1000
	wait
	check "CNPs" "$(grep -c . "$TMP/snd")" -ge 8
	check "cnp_sent of the port" "$(value cnp_sent)" -ge 8
	for i in 1 2 3; do
		tc -n sw qdisc del dev p1 parent 1:$i
	done
	check "queues left" "$(value queues)" -eq 1
	tc -n sw qdisc del dev p1 root
	check "directories in debugfs" "$(find /sys/kernel/debug/iqcn -name p1 |
		grep -c .)" -eq 0
}

# iqcn can be the default qdisc of devices, and of mq's children
test_default_qdisc()
{
	sysctl -qw net.core.default_qdisc=iqcn
	ip -batch - <<-EOF
		netns add sw
		link add p1 netns sw numtxqueues 4 type veth peer name p0 netns sw numtxqueues 4
	EOF
	ip -n sw link set p0 up
	ip -n sw link set p1 txqueuelen 1000
	ip -n sw link set p1 up
	tc -n sw qdisc replace dev p1 root handle 1: mq
	check "children" "$(opts | grep -c 'parent 1:')" -eq 4
	sysctl -qw net.core.default_qdisc=pfifo_fast
}

test_json()
{
	topology bridge
	iqcn t1 300us pmax 0.25 bandwidth 25gbit detect queue,depth
	check_eq "iqcn show and tc" \
		"$(in_ns sw "$BUILD/iqcn" show p1 -j |
		   jq -cS '.[] | del(.state_since_ns, .dev, .port_cnp_smac)')" \
		"$(tc -n sw -s -j qdisc show dev p1 |
		   jq -cS '.[] | del(.state_since_ns, .refcnt, .dev)')"
	check_eq "parameters" "$(tc -n sw -j qdisc show dev p1 |
		jq -c '.[0].options | [.t1_ns, .pmax, .bandwidth_bps, .detect, .pair]')" \
		'[300000,0.25,25000000000,"queue,depth","psn"]'
	pair_flow
	check_eq "counters" "$(tc -n sw -s -j qdisc show dev p1 |
		jq -c '.[0] | [.ce_in, .ce_sent, .flows, .flows_paired, .cnp_sent, .congested]')" \
		'[4,4,1,1,0,[]]'
}

test_inspection()
{
	local n

	topology bridge vlan
	iqcn
	pair_flow
	check_eq "files without a number" "$(ip netns exec sw bash -c "
		cd /sys/class/net/p1/iqcn && exec grep -LxE '[0-9]+' queues \
		queues_congested flows flows_unassured ecn_mark ce_in ce_sent \
		cnp_seen cnp_sent cnp_budget cnp_unpaired cnp_unmatched \
		cnp_rate_pps cnp_burst malformed" 2>&1)" ""
	check "ce_sent of the port" "$(value ce_sent)" -eq 4
	check_eq "the flow in debugfs" "$(flows | awk 'NR == 2 {
		print $1, $2, $3, $4, $5, $6, $8, $9, $12, $13 }')" \
		"$SND4 $rcv4 100.0 0x000011 0x800011 psn clear 0 103 4"
	n=$(find /sys/kernel/debug/iqcn -mindepth 1 -maxdepth 1 | grep -c .)
	check "namespaces in debugfs" "$n" -eq 1
}

run_tests
