#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The qdisc as tc sees it: parameters, errors, change, its place below and
# beside others.

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
	test_tbf
	test_prio
	test_htb
	test_mq_shares_port
	test_default_qdisc
	test_json
	test_inspection
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# opts: the parameters as text
opts()
{
	tc -n sw qdisc show dev p1 | grep ' iqcn '
}

# refused WANTED TC-ARGUMENT...: fails, and says WANTED
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
	# veth says 10 Gb/s
	want="kmin 160000b kmax 625Kb pmax 0.2 nonect pass notify pi detect queue,depth t1 225us trigger timer period 56250ns base cnp delay 0ns measure depth profile mark qref 120000b update 100us alpha 5000 beta 250000 min-gap 50us telemetry off window 1ms enter 90% exit 60% bandwidth 0bit run 5 run-exit 2 span 100 span-enter 3 span-exit 10 sample 1 group off pair psn flows 65536 age 10s snoop port cnp-dscp 48 cnp-pcp 6 cnp-ttl 64 cnp-rate 10000000 cnp-burst 1024"
	[[ $(opts) == *"$want"* ]] || fail "$(opts)"
}

test_all_parameters()
{
	local all="limit 1000000b kmin 10000b kmax 50000b pmax 0.25 nonect drop notify off detect queue,depth,run,span t1 55us trigger period period 20us base both delay auto measure depth,gradient,delay profile 100b:0.1,200b:0.1,1000b:1 qref 20000b update 1ms alpha 7 beta 100000000 min-gap 0ns telemetry on window 2ms enter 80% exit 50% bandwidth 25Gbit run 7 run-exit 0 span 50 span-enter 2 span-exit 2 sample 8 group 7 pair cm flows 100 age 5s snoop netns cnp-dscp 46 cnp-pcp 3 cnp-ttl 1 cnp-rate 1000 cnp-burst 10"

	dummy
	# shellcheck disable=SC2086
	iqcn $all
	[[ $(opts) == *"$all"* ]] || fail "add: $(opts)"
	# as it is shown it is taken
	# shellcheck disable=SC2046
	iqcn $(opts | sed 's/.*\(limit .*\)/\1/')
	[[ $(opts) == *"$all"* ]] || fail "its own words: $(opts)"
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
	refused '"bogus"' add dev p1 root iqcn bogus 1
	refused '"kmin" wants' add dev p1 root iqcn kmin
	refused '"x" is no BYTES for "limit"' add dev p1 root iqcn limit x
	refused '"-1" is no BYTES for "kmax"' add dev p1 root iqcn kmax -1
	refused '"1.5" is no P for "pmax"' add dev p1 root iqcn pmax 1.5
	refused 'for "t1"' add dev p1 root iqcn t1 fast
	refused 'for "t1"' add dev p1 root iqcn t1 -3us
	refused 'for "pair"' add dev p1 root iqcn pair none
	refused 'for "pair"' add dev p1 root iqcn pair ""
	refused 'for "detect"' add dev p1 root iqcn detect queue,
	refused 'for "detect"' add dev p1 root iqcn detect off
	refused 'for "trigger"' add dev p1 root iqcn trigger never
	refused 'for "base"' add dev p1 root iqcn base acm
	refused 'for "delay"' add dev p1 root iqcn delay soon
	refused 'for "delay"' add dev p1 root iqcn delay 4294967295
	refused 'for "sample"' add dev p1 root iqcn sample -1
	refused 'for "group"' add dev p1 root iqcn group none
	refused 'for "snoop"' add dev p1 root iqcn snoop world
	refused 'for "notify"' add dev p1 root iqcn notify often
	refused 'for "nonect"' add dev p1 root iqcn nonect maybe
	refused 'for "bandwidth"' add dev p1 root iqcn bandwidth much
	refused '"kmin" is given twice' add dev p1 root iqcn kmin 1 kmin 2
	refused 'Usage' add dev p1 root iqcn help
	check "none was added" "$(opts | grep -c .)" -eq 0
}

# Each names its parameter
test_bad_values()
{
	dummy
	refused "kmin 2000 is above kmax 1000." add dev p1 root iqcn kmin 2000 kmax 1000
	refused "limit is 0, must be 1 to 4294967295 bytes." \
		add dev p1 root iqcn limit 0
	refused "t1 is 0, must be 10000 to 1000000000 ns." \
		add dev p1 root iqcn t1 0
	refused "t1 is 9000," add dev p1 root iqcn t1 9us
	refused "t1 is 1001000000," add dev p1 root iqcn t1 1001ms
	refused "window is 0, must be 10000 to 1000000000 ns." \
		add dev p1 root iqcn window 0
	refused "window is 2000000000," add dev p1 root iqcn window 2s
	refused "enter is 0, must be 1 to 1000%." add dev p1 root iqcn enter 0
	refused "enter is 1001," add dev p1 root iqcn enter 1001%
	refused "exit 90% is not below enter 90%." add dev p1 root iqcn exit 90
	refused "exit 95% is not below enter 50%." \
		add dev p1 root iqcn enter 50 exit 95
	refused "exit is 1000, must be 0 to 999%." add dev p1 root iqcn exit 1000
	refused "run is 0, must be 2 to 65536 packets." \
		add dev p1 root iqcn run 0
	refused "run is 1, must be 2 to 65536 packets." \
		add dev p1 root iqcn run 1
	refused "run-exit 5 is not below run 5." add dev p1 root iqcn run-exit 5
	refused "run-exit 2 is not below run 2." add dev p1 root iqcn run 2
	refused "span is 0, must be 2 to 65536 packets." \
		add dev p1 root iqcn span 0
	refused "span-enter is 1," add dev p1 root iqcn span-enter 1
	refused "span-exit 2 is below span-enter 3." \
		add dev p1 root iqcn span-exit 2
	refused "period 226000 ns is above t1 225000 ns." \
		add dev p1 root iqcn period 226us
	refused "period is 9000," add dev p1 root iqcn period 9us
	refused "delay is 1001000000, must be auto or at most 1000000000 ns." \
		add dev p1 root iqcn delay 1001ms
	refused "sample is 0, must be 1 to 65536 packets." \
		add dev p1 root iqcn sample 0
	refused "sample is 65537," add dev p1 root iqcn sample 65537
	refused "flows is 0," add dev p1 root iqcn flows 0
	refused "flows is 1048577, must be 1 to 1048576." \
		add dev p1 root iqcn flows 1048577
	refused "bandwidth is 1001000000000000, must be at most 1000000000000000 bit/s." \
		add dev p1 root iqcn bandwidth 1001tbit
	refused "age is 0," add dev p1 root iqcn age 0
	refused "age is 100000000, must be 1 to 86400000 ms." \
		add dev p1 root iqcn age 100000s
	refused "cnp-dscp is 64," add dev p1 root iqcn cnp-dscp 64
	refused "cnp-pcp is 8," add dev p1 root iqcn cnp-pcp 8
	refused "cnp-ttl is 0," add dev p1 root iqcn cnp-ttl 0
	refused "cnp-ttl is 256," add dev p1 root iqcn cnp-ttl 256
	refused "cnp-rate is 0, must be 1 to 1000000000 per second." \
		add dev p1 root iqcn cnp-rate 0
	refused "cnp-rate is 1000000001," \
		add dev p1 root iqcn cnp-rate 1000000001
	refused "cnp-burst is 0," add dev p1 root iqcn cnp-burst 0
	check "none was added" "$(opts | grep -c .)" -eq 0
	iqcn t1 1s limit 4294967295 flows 1 pmax 0 kmin 0 kmax 0
	check "the bounds themselves" "$(opts | grep -c 't1 1s')" -eq 1
}

test_failed_change()
{
	local before

	topology bridge
	iqcn limit 1m kmin 10k kmax 50k t1 200us period 150us bandwidth 4mbit cnp-rate 5000
	pair_flow
	before=$(opts)
	refused "kmin 61440 is above kmax 51200." change dev p1 root handle 10: iqcn \
		limit 2m t1 400us kmin 60k cnp-rate 10
	refused "cnp-burst is 0" change dev p1 root handle 10: iqcn \
		t1 400us cnp-rate 10 cnp-burst 0
	refused "period 150000 ns is above t1 100000 ns." \
		change dev p1 root handle 10: iqcn snoop netns t1 100us
	check_eq "unchanged" "$(opts)" "$before"
	check "cnp-rate in force" "$(value cnp_rate_pps)" -eq 5000
	sniff snd --type cnp --time 60
	data --tos 3 --count 12 --interval 1000
	wait
	check "still at work" "$(grep -c . "$TMP/snd")" -ge 10
}

# Two at a time: each gets its own text
test_errors_at_once()
{
	local i

	dummy
	for i in $(seq 20); do
		(refused "t1 is $i," add dev p1 root iqcn t1 ${i}ns) &
		(refused "window is $i," add dev p1 root iqcn window ${i}ns)
		wait
	done >"$TMP/at-once"
	check_eq "errors" "$(cat "$TMP/at-once")" ""
}

# What init has begun is undone
test_failed_add()
{
	dummy
	refused "exit" add dev p1 root iqcn exit 95
	check "no directory in sysfs" \
		"$(ip netns exec sw find /sys/class/net/p1/ -name iqcn |
		   grep -c .)" -eq 0
	check "none in debugfs" \
		"$(find /sys/kernel/debug/iqcn -name p1 | grep -c .)" -eq 0
}

test_shrink_limit()
{
	topology bridge
	bottleneck 8kbit limit 1m kmin 10k kmax 20k
	data --count 60
	check "queued" "$(stat qlen)" -eq 52
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn limit 10000
	check "below the new limit" "$(stat backlog)" -le 10000
	check "packets" "$(stat qlen)" -eq 9
	check "drops" "$(stat drops)" -eq 43
	check "tbf counts as much" \
		"$(tc -n sw -s -j qdisc show dev p1 |
		   jq '.[] | select(.kind == "tbf") | .qlen')" -eq 9
	tc -n sw qdisc del dev p1 root
	check "flows go with it" "$(find /sys/kernel/debug/iqcn -name p1 |
		grep -c .)" -eq 0
}

# kmin, kmax and limit follow the link unless given
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
	[[ $(opts) == *"qref 300000b update 100us alpha 2000 beta 100000 "* ]] ||
		fail "controller: $(opts)"
	# with the controller marking stands behind
	tc -n sw qdisc change dev p1 root handle 10: iqcn notify pi
	[[ $(opts) == *"limit 15625Kb kmin 400000b kmax 1600000b"* ]] ||
		fail "pi: $(opts)"
	tc -n sw qdisc change dev p1 root handle 10: iqcn notify timer
	in_ns sw ethtool -s p1 speed 50000 duplex full autoneg off
	ip -n sw link set p1 mtu 4200
	[[ $(opts) == *"kmin 200000b kmax 800000b"* ]] || fail "50G: $(opts)"
	tc -n sw qdisc change dev p1 root handle 10: iqcn kmax 120000
	[[ $(opts) == *"kmin 30000b kmax 120000b"* ]] || fail "kmax: $(opts)"
	in_ns sw ethtool -s p1 speed 100000 duplex full autoneg off
	ip -n sw link set p1 mtu 1500
	[[ $(opts) == *"kmin 30000b kmax 120000b"* ]] ||
		fail "what is given stays: $(opts)"
	[[ $(opts) == *"limit 62500Kb"* ]] || fail "100G: $(opts)"
	[[ $(opts) == *"qref 1200000b update 100us alpha 500 beta 25000 "* ]] ||
		fail "controller, 100G: $(opts)"
	# and what is said of the bandwidth counts for more
	tc -n sw qdisc change dev p1 root handle 10: iqcn bandwidth 25gbit
	[[ $(opts) == *"limit 15625Kb "*"qref 300000b update 100us alpha 2000 "* ]] ||
		fail "bandwidth: $(opts)"
}

# works PARENT HANDLE: as a leaf there it marks and notifies
works()
{
	local handle=$1

	pair_flow
	sniff snd --type cnp --time 100
	data --count 60
	wait
	check "marks" "$(stat ecn_mark p1 "$handle")" -gt 20
	check "CNPs" "$(grep -c . "$TMP/snd")" -gt 40
	check "empty again" "$(stat qlen p1 "$handle")" -eq 0
	check "no bytes left" "$(stat backlog p1 "$handle")" -eq 0
}

test_tbf()
{
	topology bridge
	bottleneck 8656kbit kmin 3000 kmax 4000
	works 10:
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

# Four queues, one port: CNPs of one are known to it, budget and flows are its
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
	mute rcv
	tc -n sw qdisc add dev p1 root handle 1: mq
	for i in 1 2 3 4; do
		echo "qdisc add dev p1 parent 1:$i handle 1$i: iqcn bandwidth 4mbit $TIMER"
	done | tc -n sw -batch -
	check "queues" "$(value queues)" -eq 4
	tc -n sw qdisc change dev p1 parent 1:3 handle 13: iqcn cnp-rate 777
	[[ $(opts | grep -c 'cnp-rate 777') = 4 ]] ||
		fail "cnp-rate is the port's: $(opts)"
	pair_flow
	sniff snd --type cnp --time 60
	data --tos 3 --count 12 --interval 1000
	wait
	check "CNPs" "$(grep -c . "$TMP/snd")" -ge 8
	check "of the port" "$(value cnp_sent)" -ge 8
	for i in 1 2 3; do
		tc -n sw qdisc del dev p1 parent 1:$i
	done
	check "queues left" "$(value queues)" -eq 1
	tc -n sw qdisc del dev p1 root
	check "port gone" "$(find /sys/kernel/debug/iqcn -name p1 |
		grep -c .)" -eq 0
}

# As every device's default, mq's children among them
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
	check_eq "iqcn says the same" \
		"$(in_ns sw "$BUILD/iqcn" show p1 -j |
		   jq -cS '.[] | del(.state_since_ns, .dev)')" \
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
	local f n=0

	topology bridge vlan
	iqcn
	pair_flow
	for f in queues queues_congested flows flows_unsettled ecn_mark ce_in \
		ce_sent cnp_seen cnp_sent cnp_budget cnp_unpaired \
		cnp_unmatched cnp_rate_pps cnp_burst malformed; do
		[[ $(value $f) =~ ^[0-9]+$ ]] || fail "$f: $(value $f)"
	done
	check "CE of the port" "$(value ce_sent)" -eq 4
	check_eq "the flow" "$(flows | awk 'NR == 2 {
		print $1, $2, $3, $4, $5, $6, $8, $9, $12, $13 }')" \
		"$SND4 $rcv4 100.0 0x000011 0x800011 psn clear 0 103 4"
	n=$(find /sys/kernel/debug/iqcn -mindepth 1 -maxdepth 1 | grep -c .)
	check "namespaces" "$n" -eq 1
}

run_tests
