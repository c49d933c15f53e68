#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bad input: malformed packets are forwarded unchanged, counted if they resemble
# RoCEv2, and otherwise ignored; on devices without Ethernet headers, iqcn only
# counts and marks.

ALL_TESTS="
	test_out_malformed
	test_in_malformed
	test_truncated
	test_not_roce
	test_three_tags
	test_gso_in
	test_not_ethernet
	test_no_harm
"
NIGHTLY_TESTS="
	test_three_tags test_not_ethernet
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# CE packets that leave by the port and are not valid RoCEv2
test_out_malformed()
{
	local bad n=0

	topology bridge
	iqcn bandwidth 1mbit
	for bad in morefrag options udplen tver; do
		data --tos 3 --bad $bad
		n=$((n + 1))
	done
	for bad in hopopts udplen tver; do
		data -6 --tos 3 --bad $bad
		n=$((n + 1))
	done
	# packets whose UDP ports are not visible do not count as RoCEv2
	data --tos 3 --bad frag
	data -6 --tos 3 --bad truncate:56
	check "CE on arrival" "$(stat ce_in)" -eq $((n + 2))
	check "malformed" "$(stat malformed)" -eq $n
	check "flows" "$(stat flow_new)" -eq 0
	check "packets forwarded" "$(stat packets)" -ge $((n + 2))
}

# Invalid packets of a receiver, which come in on the port
test_in_malformed()
{
	local bad type n=0

	topology bridge
	iqcn
	pair_flow
	for type in cnp ack data; do
		for bad in morefrag options udplen tver; do
			reply --type $type --qp 0x800011 --bad $bad
			n=$((n + 1))
		done
		for bad in hopopts udplen tver; do
			reply -6 --type $type --qp 0x800011 --bad $bad
			n=$((n + 1))
		done
		reply --type $type --qp 0x800011 --bad frag
	done
	check "malformed" "$(stat port_malformed)" -eq $n
	check "CNPs seen" "$(stat cnp_seen)" -eq 0
}

# Truncated packets are not parsed: neither CNPs to snd nor CE packets to rcv.
# All of the CNPs are forwarded.
test_truncated()
{
	local len v tcpdump

	topology bridge qinq
	iqcn kmin 0 kmax 0 mark-on enqueue
	in_ns snd tcpdump -Z root --immediate-mode -U -n -i e0 -w - \
		>"$TMP/pcap" 2>/dev/null &
	tcpdump=$!
	sleep 0.5
	for v in "" -6; do
		for len in 22 23 26 35 41 42 49 50 51 54 61 62 63 69 70 77 81; do
			# shellcheck disable=SC2086
			reply $v --type cnp --qp 0x800011 --bad truncate:$len
			# shellcheck disable=SC2086
			data $v --tos 3 --bad truncate:$len
		done
	done
	# send complete packets last, because tcpdump may lose the last packets
	reply --count 4
	sleep 0.5
	kill $tcpdump
	wait
	check "CNPs seen" "$(stat cnp_seen)" -eq 0
	check "flows" "$(stat flow_new)" -eq 0
	check "packets forwarded" "$(in_ns snd tcpdump -n -e -r "$TMP/pcap" \
		"ether src $RCV_MAC and ether dst $SND_MAC and less 81" \
		2>/dev/null | grep -c .)" -eq 34
}

test_not_roce()
{
	topology bridge
	iqcn bandwidth 1mbit
	data --type udp --tos 3 --count 5
	reply --type udp --count 5
	reply --opcode 0x80 --count 2
	check "CE on arrival" "$(stat ce_in)" -eq 5
	check "malformed" "$(stat malformed)" -eq 0
	check "port_malformed" "$(stat port_malformed)" -eq 0
	check "flows" "$(stat flow_new)" -eq 0
	check "port_cnp_unmatched" "$(stat port_cnp_unmatched)" -eq 0
}

# Packets with more VLAN tags than iqcn parses are forwarded, but not parsed
test_three_tags()
{
	topology bridge
	vlan_args=(--vlan ad:300 --vlan 200 --vlan 100)
	iqcn kmin 0 kmax 0 mark-on enqueue
	sniff rcv --time 50
	data --tos 3 --count 4
	data --tos 2 --count 4
	wait
	check "packets forwarded" "$(grep -c data "$TMP/rcv")" -eq 8
	check "flows" "$(stat flow_new)" -eq 0
}

# The box receives UDP GSO packets: their segments count as CE packets of one
# flow
test_gso_in()
{
	topology router
	addresses snd
	iqcn bandwidth 1mbit
	np --time 60 --ack 1
	data --gso 6 --tos 3 --sport 4000 --len 500 --count 2 --psn 10
	data --tos 3 --count 3 --psn 100 --sport 4000
	wait
	check "ce_sent, by segment" "$(stat ce_sent)" -eq 15
	check "flows" "$(stat flow_new)" -eq 1
	check "flows paired" "$(stat flows_paired)" -eq 1
}

# tun and ipip have no Ethernet header: on ipip0, packets are counted and
# marked, but get no flows, because no CNPs can be sent
test_not_ethernet()
{
	ip -batch - <<-EOF
		netns add snd
		netns add sw
		netns add rcv
		link add e0 netns snd address $SND_MAC mtu 9000 type veth peer name p0 netns sw address $P0_MAC mtu 9000
	EOF
	in_ns sw sysctl -qw net.ipv4.ip_forward=1
	in_ns sw ip tuntap add dev p1 mode tun
	ip -n sw -batch - <<-EOF
		link set p0 up
		addr add 10.1.0.254/24 dev p0
		link add ipip0 type ipip local 10.1.0.254 remote $SND4
		link set ipip0 up
		link set p1 up
		addr add 10.2.0.1/24 dev ipip0
	EOF
	ip -n snd link set e0 up
	ip -n sw neigh add $SND4 lladdr $SND_MAC dev p0
	tc -n sw -batch - <<-EOF
		qdisc replace dev p1 root handle 10: iqcn kmin 0 kmax 0 mark-on enqueue
		qdisc replace dev ipip0 root handle 10: iqcn kmin 0 kmax 0 mark-on enqueue
	EOF
	check "ports" "$(ip netns exec sw \
		find /sys/class/net/ipip0/ -name iqcn | grep -c .)" -eq 0
	kind=router rcv4=10.2.0.2 rcv6=fd02::2 snd_dmac=$P0_MAC vlan_args=()
	data --dst 10.2.0.2 --tos 3 --count 5
	check "CE on arrival" "$(stat ce_in ipip0)" -eq 5
	check "flows" "$(stat flow_new ipip0)" -eq 0
	tc -n sw -batch - <<-EOF
		qdisc replace dev ipip0 root handle 1: tbf rate 8kbit burst 2k limit 1g
		qdisc replace dev ipip0 parent 1:1 handle 10: iqcn kmin 0 kmax 0 mark-on enqueue
	EOF
	data --dst 10.2.0.2 --tos 2 --count 5
	check "packets marked" "$(stat ecn_mark ipip0)" -ge 2
	tc -n sw qdisc del dev ipip0 root
	tc -n sw qdisc del dev p1 root
}

# A tap that shares the skb sees the packet without the mark
test_no_harm()
{
	topology bridge
	bottleneck 8kbit kmin 1000 kmax 2000 mark-on enqueue
	listener sniff sw/p0 p0 --time 50
	data --count 20
	wait
	check "packets marked" "$(stat ecn_mark)" -ge 9
	check "unmarked at the tap" "$(grep -c ' ect0 ' "$TMP/p0")" -eq 20
	check "unmarkable" "$(stat unmarkable)" -eq 0
}

run_tests
