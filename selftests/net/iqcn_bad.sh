#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bad input: malformed packets are passed on untouched, counted where they are
# like RoCE, and never acted on; devices without Ethernet are served as far as
# that goes.

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
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# Out: CE and ECT packets over Kmax that are not RoCEv2 after all
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
	# no ports to be seen, so like nothing
	data --tos 3 --bad frag
	data -6 --tos 3 --bad truncate:56
	check "CE on arrival" "$(stat ce_in)" -eq $((n + 2))
	check "malformed" "$(stat malformed)" -eq $n
	check "flows" "$(stat flow_new)" -eq 0
	check "passed on" "$(stat packets)" -ge $((n + 2))
}

# In: what a receiver might send to confuse us
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

# Every length of a CNP, in both directions, arrives as it was sent
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
	# behind them, whole ones: tcpdump may lose what is last
	reply --count 4
	sleep 0.5
	kill $tcpdump
	wait
	check "CNPs seen" "$(stat cnp_seen)" -eq 0
	check "flows" "$(stat flow_new)" -eq 0
	check "passed on" "$(in_ns snd tcpdump -n -e -r "$TMP/pcap" \
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
	check "malformed in" "$(stat port_malformed)" -eq 0
	check "flows" "$(stat flow_new)" -eq 0
	check "no CNP" "$(stat port_cnp_unmatched)" -eq 0
}

# More tags than anybody needs: passed on, not looked into
test_three_tags()
{
	topology bridge
	vlan_args=(--vlan ad:300 --vlan 200 --vlan 100)
	iqcn kmin 0 kmax 0 mark-on enqueue
	sniff rcv --time 50
	data --tos 3 --count 4
	data --tos 2 --count 4
	wait
	check "passed on" "$(grep -c data "$TMP/rcv")" -eq 8
	check "flows" "$(stat flow_new)" -eq 0
}

# GSO of UDP on its way in to the box, CE packets of one flow
test_gso_in()
{
	topology router
	unmute snd
	iqcn bandwidth 1mbit
	np --time 60 --ack 1
	data --gso 6 --tos 3 --sport 4000 --len 500 --count 2 --psn 10
	data --tos 3 --count 3 --psn 100 --sport 4000
	wait
	check "segments" "$(stat ce_sent)" -eq 15
	check "flows" "$(stat flow_new)" -eq 1
	check "paired" "$(stat flows_paired)" -eq 1
}

# tun has no Ethernet header: marked, counted, nobody to tell
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
	check "no port" "$(ip netns exec sw \
		find /sys/class/net/ipip0/ -name iqcn | grep -c .)" -eq 0
	kind=router rcv4=10.2.0.2 rcv6=fd02::2 snd_dmac=$P0_MAC vlan_args=()
	data --dst 10.2.0.2 --tos 3 --count 5
	check "CE on arrival" "$(stat ce_in ipip0)" -eq 5
	check "no flow" "$(stat flow_new ipip0)" -eq 0
	tc -n sw -batch - <<-EOF
		qdisc replace dev ipip0 root handle 1: tbf rate 8kbit burst 2k limit 1g
		qdisc replace dev ipip0 parent 1:1 handle 10: iqcn kmin 0 kmax 0 mark-on enqueue
	EOF
	data --dst 10.2.0.2 --tos 2 --count 5
	check "marked" "$(stat ecn_mark ipip0)" -ge 2
	tc -n sw qdisc del dev ipip0 root
	tc -n sw qdisc del dev p1 root
}

# A tap that shares the packet sees it as it was before it was marked
test_no_harm()
{
	topology bridge
	bottleneck 8kbit kmin 1000 kmax 2000 mark-on enqueue
	listener sniff sw/p0 p0 --time 50
	data --count 20
	wait
	check "marked" "$(stat ecn_mark)" -ge 9
	check "seen by the tap before" "$(grep -c ' ect0 ' "$TMP/p0")" -eq 20
	check "unmarkable" "$(stat unmarkable)" -eq 0
}

run_tests
