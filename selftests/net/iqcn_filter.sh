#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The filter, which drops some of the receivers' CNPs that come in on a port,
# and leases, which set the filter for a limited time.

ALL_TESTS="
	test_rates
	test_five_rates
	test_alone
	test_by_flow
	test_streams
	test_vlan_v6
	test_bad_icrc
	test_forged
	test_other_port
	test_ours
	test_notifies_nobody
	test_pairs
	test_told
	test_auto
	test_auto_bursts
	test_netns
	test_change
	test_lease
	test_lease_of_queue_gone
	test_lease_rights
	test_refused
	test_trace
"
NIGHTLY_TESTS="
	test_five_rates test_by_flow test_streams test_bad_icrc test_forged
	test_other_port test_notifies_nobody test_auto_bursts test_netns
	test_lease_of_queue_gone test_trace
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/lib-rocehost.sh
. "$(dirname "$0")/lib-rocehost.sh"

GENL=$BUILD/genl
# the sender's QP for the default DestQP 0x11 of "data"
SQP=$((0x800011))

cnp()
{
	reply --type cnp --qp $SQP "$@"
}

# params PARAMETER...: change parameters of the qdisc on p1
params()
{
	tc -n sw qdisc change dev p1 root handle 10: iqcn "$@"
}

# filtered: print how many CNPs have passed the filter, and how many it dropped
filtered()
{
	local passed dropped

	read -r passed dropped <<<"$(counters port_cnp_passed port_cnp_filtered)"
	echo "$passed $dropped"
}

# near WHAT WANT PARTS: check that WANT CNPs have passed since the last call,
# within 1/PARTS or one CNP
near()
{
	local passed off

	read -r passed _ <<<"$(filtered)"
	passed=$((passed - ${before:-0}))
	before=$((before + passed))
	off=$((passed - $2))
	[ ${off#-} -le $((($2 + $3 - 1) / $3)) ] ||
		fail "$1: $passed CNPs have passed, not $2"
}

# check_refused ERROR LEASE...
check_refused()
{
	local said

	said=$(lease "${@:2}" 2>&1) && fail "lease ${*:2}: accepted"
	[[ $said == *"$1"* ]] || fail "lease ${*:2}: \"$said\""
}

lease()
{
	"$GENL" --netns sw lease "$@"
}

# flood US: for US us, send CNPs to random QPs at 10^7 per second, the rate that
# the patent application names
flood()
{
	told rcv "flood e0 via $SND_MAC from $rcv4 to $SND4 packets $(($1 * 10)) rate 10000000 cnp seed 1"
}

test_rates()
{
	local before=0 got

	virtual_time || { skip "needs virtual time"; return; }
	load
	topology bridge
	iqcn filter 1/10us filter-by port
	# timers are coarse until the first tick
	sleep 0.02
	flood 20000
	near "1 per 10 us" 2000 1000
	params filter 1/100us
	flood 20000
	near "1 per 100 us" 200 1000
	got=$(filtered)
	check_eq "passed and dropped" "$got" "$((${got% *})) $((400000 - ${got% *}))"
	# claim 7 of the patent application: a longer interval lets fewer CNPs
	# pass, and a larger number lets more pass
	params filter 20/100us
	flood 5000
	# CNPs come in bursts of 64, so the first or the last window may count
	# twice
	near "20 per 100 us" 1000 50
	unload
}

# The rates of the patent application, in CNPs per second
test_five_rates()
{
	local before=0 rate

	virtual_time || { skip "needs virtual time"; return; }
	topology bridge
	iqcn filter 1/1us filter-by port
	for rate in 7500 10000 12500 15000 17500; do
		params filter 1/$((1000000000 / rate))ns
		# these CNPs take 200 ms; the sleep below is longer than two
		# intervals
		cnp --count 40000 --interval 5
		near "$rate" $((rate / 5)) 200
		sleep 0.001
	done
}

# One CNP or none per interval: nothing is dropped
test_alone()
{
	topology bridge
	iqcn filter 1/100us filter-by port
	cnp --count 500 --interval 101
	check_eq "hardly further apart than the interval" "$(filtered)" "500 0"
	cnp --count 100 --interval 1000
	check_eq "further apart" "$(filtered)" "600 0"
	params filter-by flow
	cnp --count 5000 --flows 50 --interval 10
	check_eq "by flow" "$(filtered)" "5600 0"
}

test_by_flow()
{
	topology bridge
	iqcn filter 1/1ms
	check_eq "in force" "$(value filter_n) $(value filter_ns)" "1 1000000"
	sniff snd --type cnp --time 60
	cnp --flows 3 --count 30
	check_eq "a burst to each of three QPs" "$(filtered)" "3 27"
	params filter-by port
	sleep 0.01
	cnp --flows 3 --count 30
	check_eq "of the port" "$(filtered)" "4 56"
	wait
	check_eq "CNPs that reached the sender" \
		"$(grep -c " cnp .* icrc ok" "$TMP/snd")" 4
}

# More streams than the filter remembers: one CNP of each passes
test_streams()
{
	local passed dropped

	topology bridge
	iqcn filter 1/1ms
	cnp --flows 6000 --count 6000
	check_eq "the first CNP of each stream" "$(filtered)" "6000 0"
	sleep 0.01
	cnp --flows 1000 --count 3000
	read -r passed dropped <<<"$(filtered)"
	check "passed" "$passed" -ge 7000
	# a few buckets are full
	check "passed" "$passed" -le 7100
	check "dropped" "$dropped" -ge 1900
}

test_vlan_v6()
{
	local tags

	for tags in vlan qinq; do
		topology bridge $tags
		iqcn fiber 1000km filter 1/10ms
		cnp --count 5
		cnp -6 --count 5
		check_eq "$tags: IPv4 and IPv6 are two streams" "$(filtered)" "2 8"
		cleanup
	done
	topology router
	iqcn fiber 1000km filter 1/10ms
	cnp --count 5
	cnp -6 --count 5
	check_eq "routed" "$(filtered)" "2 8"
}

# A CNP with a bad ICRC or length passes unfiltered, because its addresses and
# QP may be wrong; the sender drops it
test_bad_icrc()
{
	topology bridge
	iqcn fiber 1000km filter 1/10ms
	sniff snd --time 60
	cnp --bad icrc --count 3
	cnp --bad udplen --count 3
	check_eq "counted" "$(counters port_malformed port_cnp_passed port_cnp_filtered)" \
		"6 0 0 "
	cnp --count 2
	wait
	check_eq "broken ones that passed" "$(grep -c "icrc bad" "$TMP/snd")" 3
	check_eq "counted" "$(filtered)" "1 1"
}

# With filter-by flow, a forged CNP uses up the interval of its own QP only;
# with filter-by port, that of all QPs
test_forged()
{
	topology bridge
	iqcn filter 1/1ms
	cnp
	cnp
	check_eq "the second of one interval" "$(filtered)" "1 1"
	cnp --qp 0x800012
	check_eq "another QP" "$(filtered)" "2 1"
	params filter-by port
	sleep 0.01
	cnp
	cnp --qp 0x800012
	check_eq "of the port: another QP" "$(filtered)" "3 2"
}

# Only CNPs that come in on the port are filtered
test_other_port()
{
	topology bridge
	iqcn filter 1/1ms
	tc -n sw qdisc replace dev p0 root handle 20: iqcn
	sniff rcv --type cnp --time 60
	data --type cnp --count 5
	check_eq "through p1" "$(filtered)" "0 0"
	check_eq "on p0" "$(stat port_cnp_filtered p0 20:)" 0
	wait
	check_eq "CNPs that passed" "$(grep -c " cnp " "$TMP/rcv")" 5
	cnp --count 5
	check_eq "on p1" "$(filtered)" "1 4"
}

# Generated CNPs pass, in both modes of snoop
test_ours()
{
	local snoop

	for snoop in port netns; do
		topology bridge
		iqcn notify timer bandwidth 4mbit t1 300us snoop $snoop \
			filter 1/1s fiber 100000km filter-by port
		pair_flow
		# the interval is used up
		cnp --count 2
		check_eq "$snoop: the receiver's" "$(filtered)" "1 1"
		sniff snd --type cnp --time 60
		data --tos 3 --count 12 --interval 1000
		wait
		check "$snoop: generated CNPs" "$(stat cnp_sent)" -ge 5
		check_eq "$snoop: at the sender" "$(grep -c " cnp " "$TMP/snd")" \
			"$(stat cnp_sent)"
		check_eq "$snoop: filtered" "$(filtered)" "1 1"
		cleanup
	done
}

# A CNP that is dropped does not restart T1 of its flow; a CNP that passes does
test_notifies_nobody()
{
	local sent

	topology bridge
	iqcn notify timer bandwidth 4mbit t1 1500us filter 1/1s fiber 100000km
	pair_flow
	# this CNP uses up the interval of the filter
	cnp
	check_eq "seen" "$(counters cnp_seen port_cnp_passed)" "1 1 "
	data --tos 3 --count 20 --interval 1000 &
	cnp --count 20 --interval 1000
	wait
	check_eq "seen, though all were dropped" "$(counters cnp_seen)" "1 "
	check_eq "filtered" "$(filtered)" "1 20"
	check "CNPs instead of those" "$(stat cnp_sent)" -ge 5
	sent=$(stat cnp_sent)
	params filter off
	data --tos 3 --count 20 --interval 1000 &
	cnp --count 20 --interval 1000
	wait
	check "CNPs beside the receiver's" $(($(stat cnp_sent) - sent)) -le 1
	check_eq "seen" "$(stat cnp_seen)" 21
	check_eq "filtered" "$(filtered)" "1 20"
}

# A CNP that is dropped is evidence for pairing all the same
test_pairs()
{
	topology bridge
	iqcn pair cnp filter 1/1s fiber 100000km filter-by port
	cnp --qp 0x123456
	data --tos 3 --count 4 --len 64
	cnp
	check_eq "filtered" "$(filtered)" "1 1"
	check_eq "paired" "$(stat flows_paired)" 1
	check_eq "seen" "$(stat cnp_seen)" 0
}

# "told" drops a CNP for a flow that the box has notified within a round trip
test_told()
{
	topology bridge
	# a round trip of 20 ms
	iqcn notify timer bandwidth 4mbit t1 1ms fiber 2000km filter told
	check_eq "in force" "$(value filter_n) $(value filter_ns)" "0 20000000"
	pair_flow
	check_eq "sent before" "$(stat cnp_sent)" 0
	cnp --count 3
	check_eq "not yet notified" "$(filtered)" "3 0"
	data --tos 3 --count 6 --interval 1000
	check "sent" "$(stat cnp_sent)" -ge 1
	cnp --count 4
	# another flow, which the box has not notified
	cnp --qp 0x800077 --count 2
	check_eq "told" "$(filtered)" "5 4"
	sleep 0.05
	cnp --count 3
	check_eq "a round trip later" "$(filtered)" "8 4"
	check_eq "seen" "$(stat cnp_seen)" 6
}

# With "auto", the number of CNPs that pass in a round trip is the number of
# times that the rate must be halved to end the overload, but at least one
test_auto()
{
	topology bridge
	iqcn fiber 1000km filter auto
	cnp --flows 2 --count 20
	check_eq "no load" "$(filtered)" "2 18"
	check_eq "in force" "$(value filter_n) $(value filter_ns)" "1 10000000"
	tc -n sw -batch - <<-EOF
		qdisc replace dev p1 root handle 1: tbf rate 8mbit burst 9k limit 1g
		qdisc replace dev p1 parent 1:1 handle 10: iqcn notify off limit 1m kmin 1m kmax 1m fiber 1000km filter auto
	EOF
	# the port sends 8 Mb/s, and about six times as much arrives for 40 ms
	data --count 240 --len 946 --interval 166 &
	cnp --count 40 --interval 1000
	wait
	check "CNPs in a round trip" "$(value filter_n)" -ge 2
	check "CNPs in a round trip" "$(value filter_n)" -le 3
	# the queue drains
	sleep 0.1
	cnp --count 40 --interval 1000
	check "the queue drains" "$(value filter_n)" -eq 1
}

# The overload is measured over a whole round trip, so bursts that the port
# sends within a round trip are no overload
test_auto_bursts()
{
	local i n=""

	topology bridge
	bottleneck 8mbit bandwidth 8mbit notify off fiber 2000km filter auto
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 8mbit burst 2k limit 1g
	for i in 1 2 3 4; do
		cnp
		# these packets take 16 ms at the rate of tbf
		data --count 16 --len 946
		cnp
		n+=$(value filter_n)
		sleep 0.021
	done
	check_eq "CNPs in a round trip" "$n" 1111
}

# With "snoop netns", the filter is that of the port on which the CNP comes in
test_netns()
{
	topology bridge
	iqcn fiber 1000km filter 1/10ms snoop netns
	cnp --count 5
	check_eq "on p1" "$(filtered)" "1 4"
	tc -n sw qdisc replace dev p0 root handle 20: iqcn snoop netns
	# CNPs from snd come in on p0, which has no filter
	data --type cnp --count 5
	check_eq "on p0" "$(filtered)" "1 4"
	check_eq "of p0" "$(stat port_cnp_filtered p0 20:)" 0
	cleanup
	topology router vlan
	iqcn fiber 1000km filter 1/10ms snoop netns
	cnp --count 5
	check_eq "on a VLAN of p1" "$(filtered)" "1 4"
}

# A change takes effect at once, and off lets all pass
test_change()
{
	topology bridge
	iqcn
	cnp --count 5
	check_eq "default" "$(filtered)" "0 0"
	check_eq "default" "$(value filter_n) $(value filter_ns)" "0 0"
	params fiber 1000km filter 2/10ms
	cnp --count 5
	check_eq "2 per 10 ms" "$(filtered)" "2 3"
	params filter 4/10ms
	cnp --count 5
	check_eq "4 per 10 ms" "$(filtered)" "4 6"
	params filter off
	cnp --count 5
	check_eq "off" "$(filtered)" "4 6"
	# the filter belongs to the device: any queue can set it, and it ends
	# with the last queue
	tc -n sw -batch - <<-EOF
		qdisc del dev p1 root
		qdisc add dev p1 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 1:1 handle 10: iqcn
		qdisc add dev p1 parent 1:2 handle 20: iqcn
		qdisc change dev p1 parent 1:2 handle 20: iqcn filter 1/1ms
	EOF
	check_eq "queues that show it" \
		"$(tc -n sw qdisc show dev p1 | grep -c " filter 1/1ms")" 2
	tc -n sw qdisc del dev p1 parent 1:2
	cnp --count 5
	check_eq "another queue has gone" "$(filtered)" "1 4"
	tc -n sw qdisc del dev p1 root
	cnp --count 5
	iqcn
	check_eq "a new qdisc" "$(filtered)" "0 0"
	cnp --count 5
	check_eq "a new qdisc" "$(filtered)" "0 0"
}

test_lease()
{
	local index

	topology bridge
	index=$(ip -n sw -j link show dev p1 | jq '.[0].ifindex')
	iqcn fiber 1000km filter 3/10ms notify timer,supplement t1 1s
	"$GENL" --netns sw --time 400 listen state >"$TMP/events" &
	check_eq "a lease" "$(lease "$index" root 50 filter 1 1000000 2>&1)" ""
	check_eq "in force" "$(value filter_n) $(value filter_ns)" "1 1000000"
	check_eq "tc's" "$(tc -n sw qdisc show dev p1 | grep -o "filter [^ ]*")" \
		"filter 3/10ms"
	cnp --count 5
	check_eq "the lease" "$(filtered)" "1 4"
	sleep 0.06
	check_eq "ended" "$(counters leases leases_ended)" "1 1 "
	check_eq "in force" "$(value filter_n) $(value filter_ns)" "3 10000000"
	cnp --count 5
	check_eq "tc's value" "$(filtered)" "4 6"
	# a lease that is renewed does not end
	lease "$index" root 30 filter 1 1000000
	lease "$index" root 1000 filter 2 1000000 supplement 700
	sleep 0.1
	check_eq "renewed" "$(counters leases leases_ended)" "3 1 "
	check_eq "in force" "$(value filter_n)" 2
	# no extra CNP passes when a lease is renewed
	params filter off
	lease "$index" root 1000 filter 1 1000000
	for _ in 1 2 3 4 5; do
		cnp --count 5
		lease "$index" root 1000 filter 1 10000000
	done
	check_eq "renewed" "$(filtered)" "5 30"
	params filter 3/10ms
	# with a lease without a filter, tc's filter is in force again
	lease "$index" root 1 supplement 700
	check_eq "in force" "$(value filter_n)" 3
	sleep 0.01
	check_eq "ended" "$(counters leases leases_ended)" "10 2 "
	wait
	check_eq "announced" "$(wc -l <"$TMP/events")" 2
}

# A lease ends when its queue or its device goes away
test_lease_of_queue_gone()
{
	local index

	topology bridge
	index=$(ip -n sw -j link show dev p1 | jq '.[0].ifindex')
	tc -n sw qdisc del dev p1 root 2>/dev/null
	tc -n sw qdisc replace dev p1 root handle 1: prio bands 3
	tc -n sw qdisc replace dev p1 parent 1:1 handle 10: iqcn
	tc -n sw qdisc replace dev p1 parent 1:2 handle 20: iqcn
	lease "$index" 1:2 60000 filter 1 1000000
	check_eq "in force" "$(value filter_n)" 1
	tc -n sw qdisc del dev p1 parent 1:2
	check_eq "in force" "$(value filter_n)" 0
	check_refused "The device has no qdisc iqcn with this parent" \
		"$index" 1:2 1000 filter 1 1000000
	lease "$index" 1:1 60000 filter 1 1000000
	tc -n sw qdisc replace dev p1 parent 1:2 handle 20: iqcn \
		notify supplement
	check_refused "the filter is leased through another queue of the device" \
		"$index" 1:2 1000 filter 1 1000
	lease "$index" 1:2 1000 supplement 100
	check_refused "a supplement rate needs notify supplement" \
		"$index" 1:1 1 supplement 100
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn filter 1/1ms
	lease "$index" 1:1 1 filter 1 1000
	sleep 0.01
	lease "$index" 1:2 60000 filter 1 1000
	# a device that moves to another namespace loses its queues and leases
	ip -n sw link set p1 netns rcv
	check_eq "in the other namespace" \
		"$(tc -n rcv qdisc show dev p1 | grep -c iqcn)" 0
	ip -n rcv link set p1 netns sw
	tc -n sw qdisc replace dev p1 root handle 1: prio bands 3
	tc -n sw qdisc replace dev p1 parent 1:1 handle 10: iqcn
	check_eq "back: in force" "$(value filter_n)" 0
	tc -n sw qdisc del dev p1 root
	check_refused "No device with this ifindex has a qdisc iqcn" \
		"$index" 1:1 1000 filter 1 1000000
}

# Leases need the same privilege as changing the qdisc
test_lease_rights()
{
	local index genl=/run/genl user

	cp "$GENL" $genl && chmod 755 $genl
	topology bridge
	index=$(ip -n sw -j link show dev p1 | jq '.[0].ifindex')
	iqcn
	for user in "" "unshare -Ur"; do
		# shellcheck disable=SC2086
		check_eq "uid 65534 $user" "$(nsenter --net=/run/netns/sw \
			setpriv --reuid 65534 --regid 65534 --clear-groups \
			--inh-caps=-all $user $genl lease "$index" root 1000 \
			filter 1 1000000)" "error 1 offset - -"
	done
	check_eq "leases" "$(stat leases)" 0
	# in a namespace of its own, for a device of its own
	check_eq "uid 65534 in a namespace of its own" "$(setpriv --reuid 65534 \
		--regid 65534 --clear-groups --inh-caps=-all unshare -Urn bash -c "
		ip link add d0 index 77 type dummy && tc qdisc add dev d0 root iqcn &&
		$genl lease 77 root 1000 filter 1 1000000 && echo granted")" granted
	rm $genl
}

# A refused value names its range, and the old setting stays
test_refused()
{
	local index

	topology bridge
	index=$(ip -n sw -j link show dev p1 | jq '.[0].ifindex')
	iqcn filter 2/1ms notify timer,supplement t1 1s
	export TC_LIB_DIR=$UNCHECKED
	refused_all change dev p1 root handle 10: iqcn <<-EOF
		filter auto | filter auto needs fiber, the length of the long-haul link
		filter told | filter told needs fiber, the length of the long-haul link
		filter 0/1ms | filter N 0 is out of range (1 to 1000000 CNPs)
		filter 1000001/1ms | filter N 1000001 is out of range (1 to 1000000 CNPs)
		filter 1/1000001ns | filter interval 1000001 ns is out of range (1 to 1000000 ns, see fiber)
		filter 1/0ns | filter interval 0 ns is out of range (1 to 1000000 ns
		filter 3/2ms | (1 to 1000000 ns
		filter 1/15001us fiber 1500km | (1 to 15000000 ns
		fiber 100000001 | fiber is 100000001, must be none or 1 to 100000000 m
		supplement 1000001 | supplement is 1000001, must be 0 to 1000000 per second
		supplement-max 0 | supplement-max is 0, must be 1 to 1000000 per second
		supplement 500 cnp-rate 499 | supplement 500 (supplement-max 2500) exceeds cnp-rate 499
		supplement 4000 cnp-rate 2499 | supplement 4000 (supplement-max 2500) exceeds cnp-rate 2499
	EOF
	export TC_LIB_DIR=$BUILD
	params supplement 4000 cnp-rate 2500
	params filter 1/15ms fiber 1500km
	# a fiber too short for the filter's interval is refused
	refused_all change dev p1 root handle 10: iqcn <<-EOF
		fiber 1499km | (1 to 14990000 ns
		fiber none | (1 to 1000000 ns
	EOF
	params fiber none filter 2/1ms supplement 500
	check_eq "kept" "$(value filter_n) $(value filter_ns)" "2 1000000"
	check_refused "lease is 0 ms, must be 1 to 3600000 ms" \
		"$index" root 0 filter 1 1000
	check_refused "lease is 3600001 ms, must be 1 to 3600000 ms" \
		"$index" root 3600001 filter 1 1000
	check_refused "a lease needs a filter, a supplement rate, or both" \
		"$index" root 1000
	check_refused "A lease needs an ifindex, a parent, and its length in ms" \
		"$index" root - filter 1 1000
	check_refused "A filter needs both a number and an interval" \
		"$index" root 1000 filter 1 -
	check_refused "filter N 0 is out of range (1 to 1000000 CNPs)" \
		"$index" root 1000 filter 0 1000
	check_refused "is out of range (1 to 1000000 ns, see fiber)" \
		"$index" root 1000 filter 1 1000001
	params cnp-rate 2000
	check_refused "supplement 3000 (supplement-max 2500) exceeds cnp-rate 2000" \
		"$index" root 1000 supplement 3000
	check_refused "supplement is 1000001, must be 0 to 1000000 per second" \
		"$index" root 1000 supplement 1000001
	params cnp-rate 2500
	lease "$index" root 1 supplement 1000000
	sleep 0.01
	params notify timer
	check_refused "a supplement rate needs notify supplement" \
		"$index" root 1000 supplement 1
	check_eq "kept" "$(value filter_n) $(value filter_ns)" "2 1000000"
	check_eq "leases" "$(stat leases)" 1
	# not for devices other than Ethernet
	refused_all add dev lo root iqcn <<-EOF
		filter 1/1ms | filter is for Ethernet devices
		fiber 1km | fiber is for Ethernet devices
		filter-by port | filter-by is for Ethernet devices
	EOF
}

test_trace()
{
	topology bridge
	iqcn filter 1/1ms
	echo >$TRACEFS/trace
	echo 1 >$TRACEFS/events/iqcn/iqcn_cnp_filtered/enable
	cnp --count 3
	echo 0 >$TRACEFS/events/iqcn/iqcn_cnp_filtered/enable
	check_eq "events" "$(grep -c "iqcn_cnp_filtered: dev=p1 ifindex=[0-9]* src=::ffff:$SND4 dst=::ffff:$RCV4 src_qp=$SQP vid=0.0 n=1 interval_ns=1000000" $TRACEFS/trace)" 2
}

run_tests
