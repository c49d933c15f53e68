#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Basic operation, on any kernel and with any clock: nothing here depends on how
# long things take.

ALL_TESTS="
	test_marks
	test_notifies_bridge
	test_notifies_bridge_netns
	test_notifies_router_vlan
	test_locked_device
	test_locked_below
	test_netns_del
	test_in_use
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

test_marks()
{
	topology bridge
	bottleneck 8kbit kmin 20000 kmax 40000 pmax 0 mark-on enqueue
	data --count 60
	data --tos 0 --count 4
	data --tos 3 --count 5
	check "packets marked" "$(stat ecn_mark)" -eq 15
	check "not ECT" "$(stat not_ect)" -ge 4
	check "CE on arrival" "$(stat ce_in)" -eq 5
}

# notified -6|"" [IQCN-PARAMETER...]: start a receiver that answers, and send
# data until the box has sent CNPs
notified()
{
	local v=$1 i
	shift

	iqcn bandwidth 1mbit t1 300us "$@"
	np --time 100 --ack 1
	for i in $(seq 20); do
		# shellcheck disable=SC2086
		data $v --tos 3 --count 5 --psn $((i * 100)) --interval 2000
		[ "$(stat flows_paired)" != 1 ] || break
	done
	check "flows paired" "$(stat flows_paired)" -eq 1
	sniff snd --type cnp --count 3 --time 1000
	for i in $(seq 20); do
		# shellcheck disable=SC2086
		data $v --tos 3 --count 10 --psn $((i * 100)) --interval 2000
		[ "$(stat cnp_sent)" -lt 3 ] || break
	done
	wait
	check "CNPs" "$(grep -c 'cnp .* qp 0x800011 .* icrc ok csum ok' \
		"$TMP/snd")" -ge 3
	check "CNPs of the receiver" "$(stat cnp_seen)" -eq 0
	tc -n sw qdisc del dev p1 root
}

test_notifies_bridge()
{
	topology bridge
	notified ""
}

test_notifies_bridge_netns()
{
	topology bridge
	modprobe psample || fail "psample does not load"
	notified "" detect queue,depth,run,span trigger period snoop netns \
		delay 10us group 5
}

test_notifies_router_vlan()
{
	topology router vlan
	notified -6
}

# Newer kernels hold the lock of a device while they call its qdiscs and
# notifiers, so these must not take that lock again
test_locked_device()
{
	ip netns add sw
	ip -n sw link add p1 type dummy
	iqcn
	ip -n sw link set p1 up
	ip -n sw link set p1 mtu 2000
	iqcn bandwidth 1gbit
	ip -n sw link set p1 down
	ip -n sw link set p1 up
	check "qdiscs" "$(tc -n sw qdisc show dev p1 | grep -c iqcn)" -eq 1
}

# Newer kernels change the MTU of a device under its lock, and the MTU of upper
# devices follows. iqcn on an upper device must not query its speed then,
# because this may take the lock of the lower device again.
test_locked_below()
{
	local d tops=br0

	ip netns add sw
	ip -n sw -batch - <<-EOF
		link add d0 type dummy
		link add d1 type dummy
		link add br0 type bridge
		link set d0 master br0
	EOF
	# not every kernel has macvlan
	ip -n sw link add m1 link d1 type macvlan 2>/dev/null && tops+=" m1"
	for d in $tops; do
		tc -n sw qdisc add dev "$d" root iqcn bandwidth 1gbit
		ip -n sw link set "$d" up
	done
	for d in d0 d1; do
		ip -n sw link set $d up
		ip -n sw link set $d mtu 1400
		ip -n sw link set $d down
		ip -n sw link set $d up
	done
	for d in $tops; do
		check "MTU of $d" "$(ip -n sw -j link show "$d" | jq '.[0].mtu')" -eq 1400
		check "qdiscs" "$(tc -n sw qdisc show dev "$d" |
			grep -c 'qdisc iqcn')" -eq 1
	done
}

test_netns_del()
{
	local i

	topology bridge
	bottleneck 8kbit kmin 1000 kmax 2000 bandwidth 1mbit
	data --flows 20 --tos 3 --count 200
	check "flows" "$(stat flows)" -eq 20
	ip netns del sw
	for i in $(seq 50); do
		[ "$(find /sys/kernel/debug/iqcn -mindepth 1 |
			grep -c .)" != 0 ] || break
		sleep 0.2
	done
	check "left in debugfs" "$(find /sys/kernel/debug/iqcn -mindepth 1 |
		grep -c .)" -eq 0
}

test_in_use()
{
	topology bridge
	iqcn
	if rmmod sch_iqcn 2>/dev/null; then
		fail "the module unloads while in use"
	fi
	check "flows" "$(stat flows)" -eq 0
}

run_tests
