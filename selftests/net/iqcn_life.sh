#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Lifetimes: devices, namespaces, qdiscs and the module are removed while flows
# have deadlines, packets wait and CNPs are being sent. These tests check that
# nothing is left; the debug kernel detects what is freed too early.

ALL_TESTS="
	test_qdisc_del
	test_replace_by_other
	test_link_flap
	test_rename
	test_device_del
	test_device_to_other_netns
	test_netns_del
	test_flow_moves_between_queues
	test_flow_in_two_queues
	test_moving_keeps_limit
	test_add_del_under_traffic
	test_open_flows_file
	test_module_in_use
	test_module_reload
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# busy [KIND]: set up paired, congested flows, with packets in the queue
busy()
{
	topology "${1:-bridge}"
	bottleneck $busy_rate kmin 3000 kmax 4000 t1 300us detect queue
	pair_flow
	pair_flow --qp 0x12 --psn 30000
	data --flows 2 --count 200
	sleep $busy_s
	check_eq "congested" "$(stat congested)" '"queue"'
	check "CNPs" "$(stat cnp_sent)" -gt 20
}

# left: print the number of files and directories left below iqcn in debugfs,
# which exists as long as the module
left()
{
	[ -d /sys/kernel/debug/iqcn ] || fail "no directory in debugfs"
	find /sys/kernel/debug/iqcn -mindepth 1 | grep -c .
}

test_qdisc_del()
{
	busy
	tc -n sw qdisc del dev p1 root
	check "left in debugfs" "$(left)" -eq 0
	sniff snd --type cnp --time 50
	wait
	check "CNPs after the deletion" "$(grep -c . "$TMP/snd")" -eq 0
}

test_replace_by_other()
{
	busy
	tc -n sw qdisc replace dev p1 parent 1:1 handle 20: pfifo limit 10
	check "left in debugfs" "$(left)" -eq 0
	data --count 3
	tc -n sw qdisc replace dev p1 parent 1:1 handle 10: iqcn
	check "ecn_mark of the new qdisc" "$(stat ecn_mark)" -eq 0
}

# When the link goes down, queued packets are removed, and deadlines and
# congestion end
test_link_flap()
{
	busy
	ip -n sw link set p1 down
	check "packets queued" "$(stat qlen)" -eq 0
	check "backlog" "$(stat backlog)" -eq 0
	check_eq "congested" "$(stat congested)" ""
	check_eq "queued packets of flows" \
		"$(flows | awk 'NR > 1 { s += $9 } END { print s }')" 0
	ip -n sw link set p1 up
	wait_forwarding
	bridge -n sw fdb replace $RCV_MAC dev p1 master static
	sniff snd --type cnp --time 60
	data --count 40 --psn 9000
	wait
	check "CNPs after the flap" "$(grep -c . "$TMP/snd")" -gt 20
}

test_rename()
{
	busy
	ip -n sw link set p1 down
	ip -n sw link set p1 name uplink
	check "new in debugfs" "$(find /sys/kernel/debug/iqcn -name uplink |
		grep -c .)" -eq 1
	check "old in debugfs" "$(find /sys/kernel/debug/iqcn -name p1 |
		grep -c .)" -eq 0
	check "flows in sysfs" "$(ip netns exec sw \
		cat /sys/class/net/uplink/iqcn/flows)" -eq 2
}

test_device_del()
{
	busy
	ip -n sw link del p1
	check "left in debugfs" "$(left)" -eq 0
}

# A device that moves to another namespace loses its qdiscs
test_device_to_other_netns()
{
	busy
	ip -n sw link set p1 netns snd
	check "left in debugfs" "$(left)" -eq 0
	check "qdiscs" "$(tc -n snd qdisc show dev p1 | grep -c iqcn)" -eq 0
	ip -n snd link set p1 up
	tc -n snd qdisc replace dev p1 root handle 10: iqcn
	check "qdiscs added there" "$(tc -n snd qdisc show dev p1 |
		grep -c iqcn)" -eq 1
	check "ports in debugfs there" \
		"$(find "/sys/kernel/debug/iqcn/$(netns_inum snd)" -name p1 |
		   grep -c .)" -eq 1
}

test_netns_del()
{
	busy router
	ip netns del sw
	# namespaces are destroyed asynchronously
	for _ in 1 2 3 4 5 6 7 8 9; do
		[ "$(left)" = 0 ] && break
		sleep 0.2
	done
	check "left in debugfs" "$(left)" -eq 0
}

test_flow_moves_between_queues()
{
	local i

	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 1:1 handle 10: iqcn bandwidth 4mbit $TIMER
		qdisc add dev p1 parent 1:2 handle 20: iqcn bandwidth 4mbit $TIMER
		filter add dev p1 parent 1: protocol ip prio 1 u32 match ip tos 0x23 0xff flowid 1:2
	EOF
	pair_flow
	check "flows of the first queue" "$(stat flows)" -eq 1
	for i in 1 2 3; do
		# a flow stays in a queue through which its CE packets left
		# lately
		sleep 0.005
		data --tos 0x23 --count 2
		check "flows of the second queue" "$(stat flows p1 20:)" -eq 1
		check "flows left in the first" "$(stat flows)" -eq 0
		sleep 0.005
		data --tos 3 --count 2
		check "flows moved back" "$(stat flows)" -eq 1
	done
	check "flows made" "$(($(stat flow_new) + $(stat flow_new p1 20:)))" \
		-eq 1
	check "flows paired" "$(stat flows_paired)" -eq 1
	sleep 0.005
	data --tos 0x23 --count 1
	tc -n sw qdisc del dev p1 parent 1:2
	check "flows after the deletion" "$(value flows)" -eq 0
}

# The CE packets of a flow leave through two queues in turn. Its T1 expires as
# if they left through one of them, even if only one of them is congested.
test_flow_in_two_queues()
{
	local bandwidth want=80

	# with the machine's clock, a busy machine delays packets and CNPs
	virtual_time || want=50
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 1:1 handle 10: iqcn bandwidth 1mbit $TIMER detect queue
		qdisc add dev p1 parent 1:2 handle 20: iqcn bandwidth 1mbit $TIMER detect queue
		filter add dev p1 parent 1: protocol ip prio 1 u32 match ip tos 0x23 0xff flowid 1:2
	EOF
	pair_flow
	for bandwidth in 1mbit 10gbit; do
		tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn \
			bandwidth $bandwidth
		sniff snd --type cnp --time 60
		# when the other packets come, the flow is in the first queue
		data --tos 3 --count 1
		data --tos 0x23 --count 150 --interval 200 &
		data --tos 3 --count 150 --interval 200 --psn 100000
		wait
		# the receiver sends no CNP for 30 ms, which is 100 times T1
		check "CNPs with $bandwidth" "$(grep -c . "$TMP/snd")" -ge $want
	done
	check "CE packets of the first queue" "$(stat ce_sent)" -ge 300
	check "CE packets of the second queue" "$(stat ce_sent p1 20:)" -ge 300
}

# Flows that move to a queue count against the limit of that queue
test_moving_keeps_limit()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 1:1 handle 10: iqcn flows 25
		qdisc add dev p1 parent 1:2 handle 20: iqcn flows 10
		filter add dev p1 parent 1: protocol ip prio 1 u32 match ip tos 0x23 0xff flowid 1:2
	EOF
	data --tos 3 --flows 25 --count 25
	check "flows of the first queue" "$(stat flows)" -eq 25
	sleep 0.005
	data --tos 0x23 --flows 25 --count 25
	check "flows left in the first" "$(stat flows)" -eq 0
	check "flows of the second queue" "$(stat flows p1 20:)" -eq 10
	check "flows evicted" "$(stat flow_evicted p1 20:)" -eq 15
}

test_add_del_under_traffic()
{
	local i

	topology bridge
	data --flows 5 --tos 3 --count 4000 --interval 100 &
	np --time 400 --cnp 500 --ack 2
	for i in $(seq 20); do
		tc -n sw qdisc replace dev p1 root handle 10: iqcn \
			bandwidth 1mbit t1 50us limit $((i * 1000))
		sleep 0.004
		tc -n sw qdisc change dev p1 root handle 10: iqcn \
			t1 ${i}00us flows $((i % 5 + 1)) limit 5000
		sleep 0.004
		[ $((i % 3)) = 0 ] || tc -n sw qdisc del dev p1 root
	done
	wait
	check "packets received" "$(awk '{ print $2 }' "$TMP/np")" -gt 1000
	tc -n sw qdisc del dev p1 root 2>/dev/null
	check "left in debugfs" "$(left)" -eq 0
}

# An open file does not pin the port, and closing it later does not crash
test_open_flows_file()
{
	local fd

	busy
	exec {fd}<"/sys/kernel/debug/iqcn/$(netns_inum sw)/p1/flows"
	read -r -u $fd _
	tc -n sw qdisc del dev p1 root
	check "left in debugfs" "$(left)" -eq 0
	if read -r -u $fd _ && read -r -N 100000 -u $fd _; then
		fail "the file of a deleted port can be read"
	fi
	exec {fd}<&-
}

test_module_in_use()
{
	busy
	if rmmod sch_iqcn 2>/dev/null; then
		fail "the module unloads while in use"
	fi
	check "cnp_sent" "$(stat cnp_sent)" -gt 20
}

# tc loads the module by name; the module unloads right after its devices are
# deleted
test_module_reload()
{
	local i

	for i in 1 2 3 4 5; do
		busy
		data --flows 1000 --tos 3 --count 1000
		ip -n sw link del p1
		rmmod sch_iqcn || fail "the module does not unload"
		[ ! -d /sys/kernel/debug/iqcn ] || fail "debugfs is left"
		cleanup
	done
	topology bridge
	iqcn
	check "modules loaded by tc" "$(lsmod | grep -c '^sch_iqcn')" -eq 1
}

run_tests
