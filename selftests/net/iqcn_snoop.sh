#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# snoop netns: packets from the receiver take another path than the data to the
# receiver. Each CNP of a receiver counts once, for its flow, at whatever hook
# it appears; generated CNPs never count.
#
#   snd ---- p0 [ sw ] p1 ---- e0 [ rcv ]	data leave by p1, where iqcn is;
#               [    ] p2 ---- e1 [     ]	packets from rcv come in on p2

ALL_TESTS="
	test_routed
	test_routed_untagged
	test_routed_other_vlan
	test_routed_qinq
	test_routed_vrf
	test_bridged
	test_bridged_untagged
	test_bridged_other_vlan
	test_bridged_qinq
	test_bridged_br_netfilter
	test_routed_fast_enough
	test_bridged_fast_enough
	test_same_way_back
	test_to_the_box
	test_to_the_box_br_netfilter
	test_tcpdump
	test_dropped
	test_bad_icrc
	test_wrong_flow
	test_same_psns
	test_sprayed
	test_ours_dropped
	test_stale_flow
	test_vlan_of_cnps
	test_ifb
	test_cm_bridged
	test_cm_routed
	test_change
	test_queues
	test_last_port
	test_qdisc_del
	test_device_to_other_netns
	test_device_del
	test_netns_del
	test_change_under_traffic
	test_other_netns
"
NIGHTLY_TESTS="
	test_routed_untagged test_routed_other_vlan test_routed_vrf
	test_bridged_untagged test_bridged_other_vlan test_bridged_qinq
	test_same_way_back test_to_the_box_br_netfilter test_tcpdump
	test_same_psns test_ours_dropped test_stale_flow test_vlan_of_cnps
	test_ifb test_cm_bridged test_qdisc_del test_device_del test_other_netns
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

SQP=$((0x800011))	# the sender's QP for the default DestQP 0x11 of "data"
CONGESTED="bandwidth 4mbit t1 300us"
BR_MAC=02:00:00:00:00:b0

# uplink2: create p2 with the MAC of p1, so that rcv can use both. The bridge
# does not learn on it, because learning would move even p1's static entries.
uplink2()
{
	ip -batch - <<-EOF
		link add e1 netns rcv mtu 9000 type veth peer name p2 netns sw address $P1_MAC mtu 9000
	EOF
	ip -n rcv link set e1 up
	case $kind in
	bridge)
		ip -n sw -batch - <<-EOF
			link set p2 master br0
			link set p2 type bridge_slave learning off
			link set p2 up
		EOF
		for _ in 1 2 3 4 5 6 7 8 9; do
			[[ $(bridge -n sw link show dev p2) == *forwarding* ]] &&
				break
			sleep 0.1
		done
		;;
	router)
		ip -n sw -batch - <<-EOF
			link set p2 up
			addr add 10.3.0.254/24 dev p2
			addr add fd03::fe/64 dev p2 nodad
		EOF
		in_ns sw sysctl -qw net.ipv4.conf.all.rp_filter=0 \
			net.ipv4.conf.p2.rp_filter=0
		;;
	esac
}

# by_p2 [ACTION...]: redirect all that rcv sends on e0 to e1, and thus to p2,
# after these actions
by_p2()
{
	tc -n rcv -batch - <<-EOF
		qdisc replace dev e0 clsact
		filter add dev e0 egress matchall $* action mirred egress redirect dev e1
	EOF
}

# counts [DEV]: print "cnp_seen port_cnp_unmatched"
counts()
{
	local json

	json=$(tc -n sw -s -j qdisc show dev "${1:-p1}")
	[[ $json =~ \"cnp_seen\":([0-9]+).*\"port_cnp_unmatched\":([0-9]+) ]]
	echo "${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
}

# grade [DEST_QP [DEV]]: print "pair src_qp" of each flow to DEST_QP, one per
# line. Only one namespace has a port named DEV.
grade()
{
	local qp pair src

	while read -r _ _ _ qp src pair _; do
		[ "$qp" != "${1:-0x000011}" ] || echo "$pair $src"
	done </sys/kernel/debug/iqcn/*/"${2:-p1}"/flows
}

ce()
{
	data --tos 3 --len 64 "$@"
}

ack()
{
	reply --type ack "$@"
}

cnp()
{
	reply --type cnp --qp $SQP "$@"
}

# In real time the sender may be late, and needs a longer stream to cause the
# CNPs that are checked
stream=12
[ $patience -lt 50 ] || stream=36

# stream [data argument...]: send CE packets, one per ms
stream()
{
	data --tos 3 --count $stream --interval 1000 "$@"
}

# paired [-6]: send CE packets and ACKs that pair the flow
paired()
{
	ce --count 4 "$@"
	ack --psn 100 --count 4 --qp $SQP "$@"
}

# watch: capture CNPs at the sender, and at a tap on p1
watch()
{
	sniff snd --type cnp --time 80
	listener sniff sw/p1 tap --type cnp --time 80
}

# not_real COUNTS REAL: after "watch", check that generated CNPs reach the
# sender over both IP versions and are not counted as the receiver's. REAL is
# the number of CNPs that the receiver has sent since "watch".
not_real()
{
	stream --psn 5000
	stream --psn 5000 -6
	wait
	check "CNPs at the tap" "$(grep -c . "$TMP/tap")" -ge "$(loose 20)"
	check "all CNPs at the sender" "$(grep -c . "$TMP/snd")" -eq \
		$(($(grep -c . "$TMP/tap") + $2))
	check_eq "cnp_seen, port_cnp_unmatched" "$(counts)" "$1"
}

# elsewhere: check that snoop port ignores answers that come in on p2, and that
# snoop netns needs nothing else to pair flows and to count CNPs
elsewhere()
{
	local v

	# shellcheck disable=SC2086
	iqcn $CONGESTED
	paired
	cnp
	check_eq "pairing by snoop port" "$(grade)" "none -"
	check_eq "counted by snoop port" "$(counts)" "0 0"

	iqcn snoop netns
	check_eq "flows after the change" "$(grade)" ""
	watch
	for v in "" -6; do
		# shellcheck disable=SC2086
		paired $v
		# shellcheck disable=SC2086
		cnp --count 3 $v
		# shellcheck disable=SC2086
		cnp --count 2 --qp 0x123456 $v
	done
	check_eq "pairing by snoop netns" "$(grade)" "psn 0x800011
psn 0x800011"
	check_eq "counted by snoop netns" "$(counts)" "6 4"
	not_real "6 4" 10
}

test_routed()
{
	topology router
	uplink2
	by_p2
	elsewhere
}

test_routed_untagged()
{
	topology router vlan
	uplink2
	by_p2 action vlan pop
	elsewhere
}

p2_vlan()
{
	ip -n sw -batch - <<-EOF
		link add link p2 name p2.300 type vlan id 300
		link set p2.300 up
	EOF
}

test_routed_other_vlan()
{
	topology router vlan
	uplink2
	p2_vlan
	by_p2 action vlan modify id 300
	elsewhere
}

# Data packets have two VLAN tags, answers have one
test_routed_qinq()
{
	topology router qinq
	uplink2
	p2_vlan
	by_p2 action vlan pop action vlan modify protocol 802.1q id 300
	elsewhere
}

# Each packet passes the hook twice, on the device and on the VRF. Moving the
# devices into the VRF removes IPv6 addresses and neighbors.
test_routed_vrf()
{
	topology router
	uplink2
	by_p2
	ip -n sw -batch - <<-EOF
		link add vrf0 type vrf table 10
		link set vrf0 up
		link set p0 master vrf0
		link set p1 master vrf0
		link set p2 master vrf0
		addr replace fd01::fe/64 dev p0 nodad
		addr replace fd02::fe/64 dev p1 nodad
		neigh replace $SND4 lladdr $SND_MAC dev p0
		neigh replace $SND6 lladdr $SND_MAC dev p0
		neigh replace $RCV4_ROUTED lladdr $RCV_MAC dev p1
		neigh replace $RCV6_ROUTED lladdr $RCV_MAC dev p1
	EOF
	elsewhere
}

test_bridged()
{
	topology bridge
	uplink2
	by_p2
	elsewhere
}

test_bridged_untagged()
{
	topology bridge vlan
	uplink2
	by_p2 action vlan pop
	elsewhere
}

test_bridged_other_vlan()
{
	topology bridge vlan
	uplink2
	by_p2 action vlan modify id 300
	elsewhere
}

test_bridged_qinq()
{
	topology bridge qinq
	uplink2
	by_p2 action vlan pop
	elsewhere
}

# br_netfilter: let bridged packets pass the IP hooks, too. Packets with tag 100
# then have br0.100 as their input device, if it exists.
br_netfilter()
{
	modprobe br_netfilter || fail "br_netfilter does not load"
	in_ns sw sysctl -qw net.bridge.bridge-nf-call-iptables=1 \
		net.bridge.bridge-nf-call-ip6tables=1 \
		net.bridge.bridge-nf-filter-vlan-tagged=1 \
		net.bridge.bridge-nf-pass-vlan-input-dev=1
}

no_br_netfilter()
{
	cleanup
	rmmod br_netfilter || fail "br_netfilter does not unload"
}

test_bridged_br_netfilter()
{
	topology bridge vlan
	ip -n sw link add link br0 name br0.100 type vlan id 100
	br_netfilter
	uplink2
	by_p2
	elsewhere
	no_br_netfilter
}

# A receiver sends enough CNPs. With snoop port, the box misses them and sends
# CNPs in addition; with snoop netns, it counts them and sends at most one.
fast_enough()
{
	local before

	if ! virtual_time; then
		skip "needs virtual time"
		return
	fi
	topology "$1"
	uplink2
	bottleneck 86560kbit kmin 3000 kmax 4000 t1 300us base cnp
	pair_flow
	by_p2
	np --time 60 --ack 0 --cnp 100
	data --count 200
	wait
	check "CNPs seen by snoop port" "$(stat cnp_seen)" -eq 0
	check "CNPs sent in addition" "$(stat cnp_sent)" -gt 40

	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn snoop netns
	pair_flow --psn 7000
	before=$(stat cnp_sent)
	np --time 60 --ack 0 --cnp 100
	data --count 200 --psn 8000
	wait
	check "CNPs seen by snoop netns" "$(stat cnp_seen)" -eq \
		"$(awk '{ print $8 }' "$TMP/np")"
	check "CNPs seen by snoop netns" "$(stat cnp_seen)" -gt 100
	# the box sends one CNP at the end, because the receiver does not answer
	# the last packets
	check "CNPs sent" "$(stat cnp_sent)" -le $((before + 1))
}

test_routed_fast_enough() { fast_enough router; }
test_bridged_fast_enough() { fast_enough bridge; }

# Answers come by p1 itself, where the port's own hook must stay inactive
test_same_way_back()
{
	local k

	for k in bridge router; do
		topology $k vlan
		# shellcheck disable=SC2086
		iqcn $CONGESTED snoop netns
		paired
		cnp --count 3
		cnp --count 2 --qp 0x123456
		cnp --bad icrc
		check_eq "on a $k" "$(grade) $(counts)" "psn 0x800011 3 2"
		check "malformed" "$(stat port_malformed)" -eq 1
		paired -6
		watch
		not_real "3 2" 0
		cleanup
	done
}

# The box itself sends data; the answers come to br0 through the bridge
BOX4=10.1.0.254 BOX6=fd01::fe
box_data()
{
	packets sw/br0 $BR_MAC $RCV_MAC $BOX4 $RCV4 $BOX6 $RCV6 --tos 3 "$@"
}

box_reply()
{
	packets rcv/e0 $RCV_MAC $BR_MAC $RCV4 $BOX4 $RCV6 $BOX6 --qp $SQP "$@"
}

# delivered: print the number of packets for UDP ports without a socket, because
# the box has no socket for CNPs
delivered()
{
	# shellcheck disable=SC2016
	in_ns sw awk '
		/^Udp: [0-9]/ || /^Udp6NoPorts/ { n += $(/^Udp6/ ? 2 : 3) }
		END { print n }' /proc/net/snmp /proc/net/snmp6
}

# to_the_box WHAT: check that three CNPs per IP version count once each, that
# generated CNPs do not count, and that all are delivered
to_the_box()
{
	local what=$1 before seen sent v

	iqcn snoop port
	iqcn snoop netns
	for v in "" -6; do
		# shellcheck disable=SC2086
		box_data --count 4 $v
		# shellcheck disable=SC2086
		box_reply --type ack --psn 100 --count 4 $v
	done
	before=$(delivered)
	seen=$(counts)
	sent=$(stat cnp_sent)
	box_reply --type cnp --count 3
	box_reply --type cnp --count 3 -6
	box_data --count $((stream / 2)) --interval 1000
	box_data --count $((stream / 2)) --interval 1000 -6
	sleep 0.002
	sent=$(($(stat cnp_sent) - sent))
	check "$what: cnp_sent" $sent -ge "$(loose 10)"
	check "$what: delivered" $(($(delivered) - before)) -eq $((sent + 6))
	check_eq "$what: counted" "$(counts)" "$((${seen% *} + 6)) 0"
}

box()
{
	topology bridge
	uplink2
	by_p2
	ip -n sw -batch - <<-EOF
		link set br0 address $BR_MAC
		link add link br0 name br0.100 type vlan id 100
		link set br0.100 up
		link add link br0.100 name br0.q type vlan id 200
		link set br0.q up
		link add vrf0 type vrf table 10
		link set vrf0 up
		addr add $BOX4/24 dev br0
		addr add $BOX6/64 dev br0 nodad
	EOF
	# the first sleep after boot is only as exact as the tick
	sleep 0.01
	# shellcheck disable=SC2086
	iqcn $CONGESTED
}

# box_moves FROM TO TAG...: move the box's addresses to another device
box_moves()
{
	local from=$1 to=$2
	shift 2

	vlan_args=("$@")
	ip -n sw -batch - <<-EOF
		addr del $BOX4/24 dev $from
		addr del $BOX6/64 dev $from
		addr add $BOX4/24 dev $to
		addr add $BOX6/64 dev $to nodad
	EOF
}

test_to_the_box()
{
	box
	to_the_box "bridge"
	box_moves br0 br0.q --vlan 100 --vlan 200
	to_the_box "VLANs on the bridge"
	ip -n sw link set br0.q master vrf0
	ip -n sw addr replace $BOX6/64 dev br0.q nodad
	to_the_box "in a VRF"
}

test_to_the_box_br_netfilter()
{
	box
	br_netfilter
	to_the_box "bridge"
	box_moves br0 br0.100 --vlan 100
	to_the_box "VLAN on the bridge"
	no_br_netfilter
}

# A tap shares the skb, so the hook must not modify it
test_tcpdump()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED snoop netns
	paired
	in_ns sw timeout 5 tcpdump -Z root --immediate-mode -n -i p1 -c 8 \
		"src $rcv4 and udp dst port 4791 and udp[8] = 0x81" \
		>"$TMP/tcpdump" 2>/dev/null &
	sleep 1
	stream
	wait
	sleep 0.01
	check "in tcpdump" "$(grep -c 'UDP, length 32' "$TMP/tcpdump")" -eq 8
	check "cnp_sent" "$(stat cnp_sent)" -ge "$(loose 10)"
	check_eq "counted" "$(counts)" "0 0"
}

# A CNP that does not reach its sender does not count
test_dropped()
{
	topology bridge
	uplink2
	by_p2
	# shellcheck disable=SC2086
	iqcn $CONGESTED snoop netns
	paired
	tc -n sw -batch - <<-EOF
		qdisc add dev p2 clsact
		filter add dev p2 ingress matchall action drop
	EOF
	cnp --count 3
	cnp --qp 0x123456
	check_eq "CNPs dropped" "$(counts)" "0 0"
	tc -n sw qdisc del dev p2 clsact
	cnp --count 3
	cnp --qp 0x123456
	check_eq "CNPs passed" "$(counts)" "3 1"
}

# A malformed packet counts once in the namespace, not again in the IP layer
test_bad_icrc()
{
	box
	iqcn snoop netns
	box_data --count 4
	box_reply --type ack --psn 100 --count 4
	box_reply --type cnp --bad icrc --count 3
	check_eq "counted" "$(counts)" "0 0"
	check "malformed" "$(stat port_malformed)" -eq 3
	box_reply --type cnp --bad udplen --count 2
	check "malformed" "$(stat port_malformed)" -eq 5
	iqcn snoop port
	check "malformed, snoop port" "$(stat port_malformed)" -eq 0
}

# leaves_by DEV [ce argument...]: send CE packets that leave by DEV
leaves_by()
{
	local dev=$1
	shift

	bridge -n sw fdb replace $RCV_MAC dev "$dev" master static
	ce "$@"
}

# two_uplinks: iqcn on both p1 and p2
two_uplinks()
{
	topology bridge
	uplink2
	iqcn snoop netns
	tc -n sw qdisc replace dev p2 root handle 20: iqcn
}

grades()
{
	echo "$(grade 0x000011 p1), $(grade "$1" p2)"
}

# A CNP is no evidence for a flow if another flow caused it, or if either of two
# flows may have caused it
test_wrong_flow()
{
	two_uplinks
	leaves_by p1
	leaves_by p2 --count 4 --qp 0x12 --psn 200
	cnp
	check_eq "CNP for one of two" "$(grades 0x000012)" "none -, none -"
	ack --psn 200 --count 4 --qp 0x800012
	reply --type cnp --qp 0x800012 --count 3
	check_eq "CNP for the other" "$(grades 0x000012)" "none -, psn 0x800012"
	check_eq "counted" "$(counts p1), $(counts p2)" "0 1, 3 1"
	cnp
	check_eq "CNP for one" "$(grades 0x000012)" "cnp 0x800011, psn 0x800012"
	check_eq "counted" "$(counts p1), $(counts p2)" "1 1, 3 1"
}

# Two flows on different ports have the same PSNs: an ACK is evidence for
# neither. Once one of them is paired, an ACK for another QP is evidence for the
# other.
test_same_psns()
{
	two_uplinks
	leaves_by p1 --count 4
	leaves_by p2 --count 4 --qp 0x12
	ack --psn 100 --count 4 --qp 0x800012
	check_eq "PSNs of both" "$(grades 0x000012)" "none -, none -"
	leaves_by p2 --count 4 --qp 0x12 --psn 200
	ack --psn 200 --count 4 --qp 0x800012
	check_eq "PSNs of one" "$(grades 0x000012)" "none -, psn 0x800012"
	leaves_by p1 --count 4 --psn 200
	ack --psn 200 --count 4 --qp 0x800012
	check_eq "same QP" "$(grades 0x000012)" "none -, psn 0x800012"
	ack --psn 200 --count 4 --qp $SQP
	check_eq "other QP" "$(grades 0x000012)" "psn 0x800011, psn 0x800012"
}

# The packets of a flow leave by both ports. Each port has an entry of its own
# for the flow, and both are paired with the same QP.
test_sprayed()
{
	local n

	two_uplinks
	leaves_by p1 --count 10 --psn 100 --spray 5
	for n in 1 2 3 4 5 6 7 8; do
		leaves_by p2 --count 10 --psn $((100 + 20 * n)) --spray 5
		leaves_by p1 --count 10 --psn $((110 + 20 * n)) --spray 5
	done
	ack --psn 100 --count 170 --qp $SQP
	check_eq "both ports" "$(grades 0x000011)" \
		"psn 0x800011, psn 0x800011"
	check "contradicted by p1" "$(stat contradicted)" -eq 0
	check "contradicted by p2" "$(stat contradicted p2 20:)" -eq 0
}

# Generated CNPs are dropped before they reach the hooks: the receiver's CNPs
# still count
test_ours_dropped()
{
	topology bridge
	uplink2
	# shellcheck disable=SC2086
	iqcn $CONGESTED snoop netns
	paired
	by_p2
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 clsact
		filter add dev p1 ingress matchall action drop
	EOF
	np --time 60 --ack 0 --cnp 1000
	data --tos 3 --count 40 --interval 1000 --psn 1000
	wait
	check "cnp_sent" "$(stat cnp_sent)" -gt 10
	check "CNPs" "$(stat cnp_seen)" -eq "$(awk '{ print $8 }' "$TMP/np")"
}

# Data move to another port and back: CNPs count on the port that sent last
test_stale_flow()
{
	two_uplinks
	leaves_by p1 --count 4
	ack --psn 100 --count 4 --qp $SQP
	leaves_by p2 --count 4 --psn 500
	ack --psn 500 --count 4 --qp $SQP
	check_eq "both ports" "$(grades 0x000011)" "psn 0x800011, psn 0x800011"
	cnp --count 3
	check_eq "counted by p2" "$(counts p1), $(counts p2)" "0 0, 3 0"
	leaves_by p1 --psn 600
	cnp
	check_eq "counted by p1" "$(counts p1), $(counts p2)" "1 0, 3 0"
}

# A flow whose data change their VLAN remains the same flow, and its CNPs use
# the new VLAN
test_vlan_of_cnps()
{
	topology bridge vlan
	# shellcheck disable=SC2086
	iqcn $CONGESTED snoop netns
	paired
	vlan_args=(--vlan 300:3)
	listener sniff sw/p1 tap --type cnp --time 30
	stream --psn 1000
	wait
	check "CNPs" "$(grep -c . "$TMP/tap")" -ge "$(loose 10)"
	check_eq "tags" "$(grep -o 'vlan .*' "$TMP/tap" | sort -u)" "vlan 300.p6"
}

# An ifb device queues what arrives on p1 before it is bridged
test_ifb()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED snoop netns
	paired
	ip -n sw -batch - <<-EOF
		link add ifb0 type ifb
		link set ifb0 up
	EOF
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 clsact
		filter add dev p1 ingress matchall action mirred egress redirect dev ifb0
	EOF
	cnp --count 3
	check_eq "the receiver's" "$(counts)" "3 0"
	stream --psn 5000
	sleep 0.002
	check "cnp_sent" "$(stat cnp_sent)" -ge "$(loose 10)"
	check_eq "counted, without generated ones" "$(counts)" "3 0"
	cnp --count 3
	check_eq "the receiver's again" "$(counts)" "6 0"
}

# The REQ comes in on p0 and the REP on p2, and neither port has a queue
cm_elsewhere()
{
	# shellcheck disable=SC2086
	iqcn $CONGESTED pair cm
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11
	ce
	check_eq "pairing by snoop port" "$(grade)" "none -"

	iqcn snoop netns
	ce
	check_eq "pairing before REQ and REP" "$(grade)" "none -"
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11
	check_eq "an existing flow" "$(grade)" "cm 0x800011"
	data --type req --cm-local 8 --cm-qp 0x800012
	reply --type rep --cm-local 10 --cm-remote 8 --cm-qp 0x12
	ce --qp 0x12
	check_eq "a new flow" "$(grade 0x000012)" "cm 0x800012"
	sniff snd --type cnp --time 30
	stream
	wait
	check "CNPs" "$(grep -c 'qp 0x800011' "$TMP/snd")" -ge "$(loose 10)"
	data --type dreq --cm-local 7 --cm-remote 9 --cm-qp 0x11
	check_eq "after DREQ of the sender" "$(grade)" "none -"
	reply --type dreq --cm-local 10 --cm-remote 8 --cm-qp 0x800012
	check_eq "after DREQ of the receiver" "$(grade 0x000012)" "none -"
}

test_cm_bridged()
{
	topology bridge vlan
	uplink2
	by_p2 action vlan pop
	cm_elsewhere
}

test_cm_routed()
{
	topology router vlan
	uplink2
	p2_vlan
	by_p2 action vlan modify id 300
	cm_elsewhere
}

# vlan_grade: print "vlan pair src_qp" of the flows
vlan_grade()
{
	flows | awk 'NR > 1 { print $3, $6, $5 }'
}

# Each change of the mode removes all flows; new flows follow the new mode
test_change()
{
	local i

	topology bridge vlan
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	paired
	for i in 1 2; do
		iqcn snoop netns
		check "flows after the change" "$(stat flows)" -eq 0
		paired
		cnp
		cnp --qp 0x123456
		check_eq "counted" "$(counts)" "$((2 * i - 1)) 1"
		iqcn snoop netns
		check_eq "flows by snoop netns" "$(vlan_grade)" \
			"0.0 psn 0x800011"
		iqcn snoop port
		check_eq "flows after the change back" "$(vlan_grade)" ""
		paired
		check_eq "by snoop port" "$(vlan_grade)" "100.0 psn 0x800011"
		cnp
		check_eq "counted by snoop port" "$(counts)" "$((2 * i)) 0"
	done
	# packets in the queue belong to flows that have been removed
	bottleneck 8kbit kmin 1000 kmax 2000
	data --tos 3 --count 30
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn snoop netns
	check "packets that wait" "$(stat qlen)" -gt 10
	check "flows" "$(stat flows)" -eq 0
	release
	check "packets that wait in the end" "$(stat qlen)" -eq 0
}

# The mode applies to all queues of all devices, whichever was changed
test_queues()
{
	ip -batch - <<-EOF
		netns add sw
	EOF
	ip -n sw -batch - <<-EOF
		link add m0 numtxqueues 2 numrxqueues 2 type veth peer name m1
	EOF
	tc -n sw -batch - <<-EOF
		qdisc add dev m0 root handle 1: mq
		qdisc add dev m0 parent 1:1 handle 11: iqcn
		qdisc add dev m0 parent 1:2 handle 12: iqcn
		qdisc add dev m1 root handle 20: iqcn
	EOF
	check_eq "by default" "$(queues_snoop)" "port port port "
	tc -n sw qdisc change dev m0 parent 1:2 handle 12: iqcn snoop netns
	check_eq "one queue changed" "$(queues_snoop)" "netns netns netns "
	tc -n sw qdisc change dev m0 parent 1:1 handle 11: iqcn t1 200us
	check_eq "t1 changed" "$(queues_snoop)" "netns netns netns "
	tc -n sw qdisc replace dev m0 parent 1:1 handle 13: iqcn
	check_eq "a new queue" "$(queues_snoop)" "netns netns netns "
	tc -n sw qdisc change dev m1 root handle 20: iqcn snoop port
	check_eq "the other device changed" "$(queues_snoop)" "port port port "
	check_eq "in JSON" "$(stat snoop m0 12:)" port
}

queues_snoop()
{
	tc -n sw -d qdisc show | grep -o 'snoop [a-z]*' | sort |
		awk '{ printf "%s ", $2 }'
}

# Ports come and go; after the last one the mode is the default again
test_last_port()
{
	topology router
	uplink2
	by_p2
	# shellcheck disable=SC2086
	iqcn $CONGESTED snoop netns
	tc -n sw qdisc replace dev p2 root handle 20: iqcn
	paired
	cnp --qp 0x123456
	check_eq "counted on both" "$(counts p1), $(counts p2)" "0 1, 0 1"
	tc -n sw qdisc del dev p2 root
	cnp --count 3
	check_eq "one queue deleted" "$(counts)" "3 1"
	tc -n sw qdisc replace dev p2 root handle 20: iqcn snoop port
	check_eq "flows after a change" "$(grade)" ""
	tc -n sw qdisc change dev p2 root handle 20: iqcn snoop netns
	paired
	cnp --qp 0x123456
	ip -n sw link del p2
	tc -n rcv filter del dev e0 egress
	cnp --count 3
	check_eq "one device deleted" "$(counts)" "6 1"
	tc -n sw qdisc del dev p1 root
	iqcn
	check_eq "mode after all were deleted" "$(stat snoop)" port
	iqcn snoop netns
	check_eq "counted" "$(counts)" "0 0"
}

# busy KIND: set up a congested flow that has packets in the queue, and is
# paired by answers that come in on p2
busy()
{
	topology "$1"
	uplink2
	by_p2
	bottleneck $busy_rate kmin 3000 kmax 4000 t1 300us snoop netns
	pair_flow
	data --count 100
	sleep $busy_s
	check "congested" "$(stat flows_congested)" -eq 1
	check "CNPs" "$(stat cnp_sent)" -gt 20
}

# passes: check that CNPs still pass, and thus that no hook of a deleted port is
# left
passes()
{
	local v

	sniff snd --type cnp --time 20
	for v in "" -6; do
		# shellcheck disable=SC2086
		packets rcv/e1 $RCV_MAC "$rcv_dmac" "$rcv4" $SND4 "$rcv6" \
			$SND6 --type cnp --qp $SQP --count 3 $v
	done
	wait
	check "CNPs at the sender" "$(grep -c . "$TMP/snd")" -eq 6
}

# unloads: unload the module; a hook that is left would crash the kernel
unloads()
{
	[ -n "$test_failed" ] || rmmod sch_iqcn ||
		fail "the module does not unload"
	passes
}

test_qdisc_del()
{
	busy bridge
	! rmmod sch_iqcn 2>/dev/null || fail "the module unloads while in use"
	tc -n sw qdisc del dev p1 root
	unloads
}

test_device_to_other_netns()
{
	busy router
	ip -n sw link set p1 netns snd
	unloads
	ip -n snd link set p1 up
	tc -n snd qdisc replace dev p1 root handle 10: iqcn snoop netns
	ip -n snd link set p1 netns sw
	unloads
	ip -n sw -batch - <<-EOF
		link set p1 up
		addr add 10.2.0.254/24 dev p1
		neigh replace $RCV4_ROUTED lladdr $RCV_MAC dev p1
	EOF
	# shellcheck disable=SC2086
	iqcn $CONGESTED snoop netns
	paired
	cnp
	check_eq "back in its namespace" "$(grade) $(counts)" "psn 0x800011 1 0"
}

test_device_del()
{
	busy bridge
	ip -n sw link del p1
	unloads
}

test_netns_del()
{
	busy router
	data --count 1000 --psn 9000 --interval 100 2>/dev/null &
	sleep 0.01
	ip netns del sw
	wait
	# namespaces are destroyed asynchronously
	for _ in 1 2 3 4 5 6 7 8 9; do
		rmmod sch_iqcn 2>/dev/null && break
		sleep 0.2
	done
	check "module" "$(grep -c ^sch_iqcn /proc/modules)" -eq 0
}

test_change_under_traffic()
{
	local i

	topology bridge
	uplink2
	by_p2
	iqcn bandwidth 1mbit t1 50us
	# send data until the changes are done, however long they take
	data --flows 5 --tos 3 --count $((3000 * patience)) --interval 100 &
	np --time 1000 --cnp 500 --ack 2
	for i in 1 2 3 4 5; do
		iqcn snoop netns
		sleep 0.01
		iqcn snoop port
		sleep 0.01
		[ $((i % 2)) != 0 ] || tc -n sw qdisc del dev p1 root
		iqcn snoop netns bandwidth 1mbit
		sleep 0.01
	done
	wait
	check "data arrived" "$(awk '{ print $2 }' "$TMP/np")" \
		-gt "$(loose $((2990 * patience)))"
	check "cnp_seen" "$(stat cnp_seen)" -gt 0
	check "cnp_seen, at most what rcv sent" "$(stat cnp_seen)" -le \
		"$(awk '{ print $8 }' "$TMP/np")"
	iqcn snoop port
	check "flows" "$(stat flows)" -eq 0
	iqcn snoop netns
	paired
	check_eq "pairing" "$(grade)" "psn 0x800011"
}

# Packets that pass sw and end in snd count in the namespace that has snoop
# netns
test_other_netns()
{
	local other

	topology router
	uplink2
	by_p2
	iqcn snoop port
	addresses snd
	tc -n snd qdisc replace dev e0 root handle 10: iqcn snoop netns
	cnp --count 3
	cnp --bad icrc --count 2
	other=$(tc -n snd -s -j qdisc show dev e0)
	check_eq "counted in snd" \
		"$(grep -oE '"port_(cnp_unmatched|malformed)":[0-9]+' \
		<<<"$other" | tr -dc '0-9\n' | tr '\n' ' ')" "3 2 "
	check_eq "counted in sw" \
		"$(stat snoop) $(counts) $(stat port_malformed)" \
		"port 0 0 0"
}

run_tests
