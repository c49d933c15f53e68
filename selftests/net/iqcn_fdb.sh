#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Addresses that bridges learn from generated CNPs. A CNP comes in on the port
# by which the data leave. If its source were the receiver's MAC address, a
# learning bridge would move the receiver to that port. If the receiver has
# moved elsewhere in the meantime, its traffic would be lost. So by default each
# port has its own source address for CNPs.
#
# FDB entries are dynamic, except where a port is locked. rcv has two links, e0
# on p1 and e1 elsewhere; the receiver moves from one to the other and keeps its
# address.

ALL_TESTS="
	test_bridge
	test_bridge_receiver
	test_vlan
	test_vlan_receiver
	test_upstream
	test_upstream_receiver
	test_redirected
	test_routed
	test_address
	test_no_learning
	test_locked
"
NIGHTLY_TESTS="
	test_bridge_receiver test_vlan_receiver test_upstream
	test_upstream_receiver test_redirected test_address test_no_learning
	test_locked
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

BROADCAST=ff:ff:ff:ff:ff:ff

# three_links NS: create sw with p0 and p1, and a second link of rcv, to p2 in
# NS. The hosts have no addresses, so that their stacks announce nothing.
three_links()
{
	vlan_args=() rcv4=$RCV4 rcv6=$RCV6 snd_dmac=$RCV_MAC rcv_dmac=$SND_MAC
	ip -batch - <<-EOT
		netns add snd
		netns add sw
		netns add rcv
		link add e0 netns snd address $SND_MAC mtu 9000 type veth peer name p0 netns sw address $P0_MAC mtu 9000
		link add e0 netns rcv address $RCV_MAC mtu 9000 type veth peer name p1 netns sw address $P1_MAC mtu 9000
		link add e1 netns rcv address $RCV_MAC mtu 9000 type veth peer name p2 netns $1 mtu 9000
	EOT
	links snd e0
	links rcv e0 e1
	links sw p0 p1
	links "$1" p2
}

# links NS DEV...: bring up devices, without IPv6 addresses
links()
{
	local ns=$1 dev
	shift

	for dev; do
		echo "link set $dev addrgenmode none"
		echo "link set $dev up"
	done | ip -n "$ns" -batch -
}

# bridge_of NS "BRIDGE-OPTIONS" PORT...: add these ports to a new br0
bridge_of()
{
	local ns=$1 options=$2 port
	shift 2

	{
		echo "link add br0 type bridge mcast_snooping 0 $options"
		for port; do
			echo "link set $port master br0"
		done
	} | ip -n "$ns" -batch -
	links "$ns" br0
	wait_ports "$ns" $#
}

wait_ports()
{
	local i

	for ((i = 0; i < 50; i++)); do
		[ "$(bridge -n "$1" link show | grep -c forwarding)" -lt "$2" ] ||
			return
		sleep 0.1
	done
	fail "the bridge of $1 does not forward"
}

# upstream: put the sender behind a bridge of its own: e0 - h0 [br0 in snd] u0 -
# p0. The second link of rcv leads to this bridge.
upstream()
{
	three_links snd
	ip -n snd link set e0 down
	ip -n snd link set e0 name u0
	ip -n snd -batch - <<-EOT
		link add e0 address $SND_MAC mtu 9000 type veth peer name h0 mtu 9000
		link set u0 address 02:00:00:00:00:b0
	EOT
	links snd u0 e0 h0
	bridge_of snd "" u0 h0 p2
}

# fdb NS: print what br0 has learned, as sorted "ADDRESS PORT [VLAN]"
fdb()
{
	bridge -n "$1" fdb show br br0 | awk '!/permanent|static|self/ {
		print $1, $3, $4 == "vlan" ? $5 : "" }' | sort
}

# where NS ADDRESS: print the port on which br0 has learned an address
where()
{
	fdb "$1" | awk -v address="$2" '$1 == address { print $2 }'
}

# announce DEV: the receiver broadcasts from DEV
announce()
{
	packets "rcv/$1" $RCV_MAC $BROADCAST $RCV4 $SND4 $RCV6 $SND6 \
		--type udp
}

# smacs FILE: print the source addresses of the CNPs
smacs()
{
	sed -nE 's/.* hex .{12}(..)(..)(..)(..)(..)(..).*/\1:\2:\3:\4:\5:\6/p' \
		"$TMP/$1" | sort -u
}

# silent_log: check that the bridge has not logged frames with its own address
# as their source
silent_log()
{
	check_eq "bridge's log" "$(dmesg | grep 'own address as source')" ""
}

# late_cnps IQCN-PARAMETER...: move the receiver from e0 to e1 while CE data
# wait on p1 and cause CNPs. Then send data of another flow to it, and capture
# them in $TMP/e0 and $TMP/e1.
late_cnps()
{
	local sent i count=60

	# Without virtual time the data must last ten seconds, because the calls
	# of tc take several seconds
	virtual_time || count=200
	bottleneck $busy_rate kmin 3000 kmax 4000 detect depth \
		notify timer t1 $((300 * patience))us "$@"
	announce e0
	pair_flow
	check "flows paired" "$(stat flows_paired)" -eq 1
	check_eq "port of the receiver" "$(where sw $RCV_MAC)" p1
	data --count "$count"
	announce e1
	fdb sw >"$TMP/before"
	sent=$(stat cnp_sent)
	for ((i = 0; i < 100; i++)); do
		[ "$(stat cnp_sent)" -lt $((sent + 10)) ] || break
		sleep 0.001
	done
	check "cnp_sent after the move" "$(stat cnp_sent)" -ge $((sent + 10))
	check "packets that wait" "$(stat qlen)" -gt 0
	fdb sw >"$TMP/after"
	release
	for i in e0 e1; do
		listener sniff rcv/$i $i --type data --time 60
	done
	data --tos 0 --qp 0x77 --count 5
	wait
	silent_log
}

# arrived DEV: print the number of packets of the other flow
arrived()
{
	grep -c ' qp 0x000077 ' "$TMP/$1"
}

# found: check that the bridge sends to the receiver's present port
found()
{
	local mac

	mac=$(port_mac)
	check_eq "entries that moved" \
		"$(comm -23 "$TMP/before" "$TMP/after")" ""
	# CNPs may have been sent before the move
	check_eq "entries that are new" \
		"$(comm -13 "$TMP/before" "$TMP/after" | grep -v "^$mac ")" ""
	check_eq "port of the port's address" "$(where sw "$mac")" p1
	check "data to the receiver" "$(arrived e1)" -eq 5
	check "data to the old port" "$(arrived e0)" -eq 0
}

# lost: check that CNPs with the receiver's address have moved the receiver back
# to the old port. This shows that "found" can fail.
lost()
{
	check_eq "port of the receiver" "$(where sw $RCV_MAC)" p1
	check "data to the receiver" "$(arrived e1)" -eq 0
	check "data to the old port" "$(arrived e0)" -eq 5
}

plain_bridge()
{
	three_links sw
	bridge_of sw "" p0 p1 p2
}

test_bridge()
{
	plain_bridge
	late_cnps
	check_eq "port of the receiver" "$(where sw $RCV_MAC)" p2
	found
}

test_bridge_receiver()
{
	plain_bridge
	late_cnps cnp-smac receiver
	lost
}

vlan_bridge()
{
	local dev

	three_links sw
	vlan_args=(--vlan 100:3)
	bridge_of sw "vlan_filtering 1" p0 p1 p2
	for dev in p0 p1 p2; do
		echo "vlan add dev $dev vid 100"
	done | bridge -n sw -batch -
}

test_vlan()
{
	vlan_bridge
	late_cnps
	check_eq "port of the receiver" "$(where sw $RCV_MAC)" p2
	found
	check_eq "VLAN" "$(cut -d ' ' -f 3 "$TMP/after" | sort -u)" 100
}

test_vlan_receiver()
{
	vlan_bridge
	late_cnps cnp-smac receiver
	lost
}

# The receiver moves to the bridge of the sender, which learns from CNPs
upstream_bridge()
{
	upstream
	bridge_of sw "" p0 p1
}

test_upstream()
{
	upstream_bridge
	late_cnps
	check_eq "port of the receiver" "$(where snd $RCV_MAC)" p2
	check_eq "port of the receiver in sw" "$(where sw $RCV_MAC)" p0
	check_eq "port of the port's address" "$(where snd "$(port_mac)")" u0
	found
}

test_upstream_receiver()
{
	upstream_bridge
	late_cnps cnp-smac receiver
	check_eq "port of the receiver" "$(where snd $RCV_MAC)" u0
	lost
}

# told: send CE packets until the box has sent CNPs. They are in $TMP/p1 as they
# are injected, and in $TMP/snd as they reach the sender.
told()
{
	local i

	sniff snd --type cnp --hex --time 100
	listener sniff sw/p1 p1 --type cnp --hex --time 100
	for i in {1..20}; do
		data --tos 3 --count 10 --psn $((i * 100)) --interval 2000
		[ "$(stat cnp_sent)" -lt 3 ] || break
	done
	wait
	check "CNPs sent" "$(stat cnp_sent)" -ge 3
}

CONGESTED="bandwidth 1mbit detect queue t1 300us"

# tc forwards instead of a bridge. The CNP takes the same path as all packets
# that come in on the port, and a bridge behind it learns only the port's
# address.
test_redirected()
{
	local redirect="ingress matchall action mirred egress redirect dev"

	upstream
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	tc -n sw -batch - <<-EOT
		qdisc add dev p0 clsact
		qdisc add dev p1 clsact
		filter add dev p0 $redirect p1
	EOT
	# the box does not parse redirected answers, so p1 has no rule yet
	pair_flow
	check "flows paired" "$(stat flows_paired)" -eq 1
	tc -n sw filter add dev p1 $redirect p0
	announce e0
	fdb snd >"$TMP/before"
	told
	check "CNPs" "$(grep -c ' icrc ok csum ok' "$TMP/snd")" -ge 3
	check_eq "source of CNPs" "$(smacs snd)" "$(port_mac)"
	fdb snd >"$TMP/after"
	check_eq "entries that moved" \
		"$(comm -23 "$TMP/before" "$TMP/after")" ""
	check_eq "entries that are new" \
		"$(comm -13 "$TMP/before" "$TMP/after")" "$(port_mac) u0 "
}

# neighbors: print the neighbor entries of all three namespaces, without states
neighbors()
{
	local ns

	for ns in snd sw rcv; do
		ip -n $ns -4 neigh show | sed -E "s/^/$ns /; s/ [A-Z]+$//"
	done | sort
}

# The CNP is routed, so its Ethernet source address does not leave the box. No
# IPv4 neighbor is permanent, and the box resolves the hosts by ARP. The stacks
# of the hosts get no IPv4 packets.
test_routed()
{
	local ns before

	topology router
	for ns in snd rcv; do
		addresses $ns
		tc -n $ns -batch - <<-EOT
			qdisc add dev e0 clsact
			filter add dev e0 ingress protocol ip matchall action drop
		EOT
	done
	ip -n sw -batch - <<-EOT
		neigh del $SND4 dev p0
		neigh del $RCV4_ROUTED dev p1
	EOT
	ip -n snd neigh replace 10.1.0.254 lladdr $P0_MAC dev e0 nud stale
	ip -n rcv neigh replace 10.2.0.254 lladdr $P1_MAC dev e0 nud stale
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	# first send a CNP of the receiver, which the box routes to the sender
	reply --type cnp --qp 0x999999
	sleep 0.05
	before=$(neighbors)
	check "neighbors" "$(grep -c lladdr <<<"$before")" -eq 4
	told
	check "CNPs" "$(grep -c ' icrc ok csum ok' "$TMP/snd")" -ge 3
	check_eq "source on the port" "$(smacs p1)" "$(port_mac)"
	check_eq "source at the sender" "$(smacs snd)" $P0_MAC
	check_eq "neighbors" "$(neighbors)" "$before"
	silent_log
}

# The address of a port is neither that of a device nor that of another port
test_address()
{
	local mac

	plain_bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	tc -n sw qdisc replace dev p0 root handle 30: iqcn
	mac=$(port_mac)
	[[ $mac =~ ^[0-9a-f][26ae](:[0-9a-f]{2}){5}$ ]] ||
		fail "not a unicast address that is locally administered: $mac"
	check_eq "differs from the device's" \
		"$(ip -n sw -j link show | jq -r '.[].address' | grep -c "$mac")" 0
	[ "$mac" != "$(port_mac p0)" ] || fail "two ports have one address"
	check_eq "address in netlink" "$("$BUILD/genl" --netns sw dump 1 |
		grep '=p1 ' | grep -c "=${mac//:/} ")" 1
	check_eq "address in iqcn show" "$(in_ns sw "$BUILD/iqcn" show -d p1 |
		awk '$1 == "port" { print $2, $3 }')" "cnp_smac $mac"
	pair_flow
	told
	check_eq "source of CNPs" "$(smacs snd)" "$mac"
	check_eq "port of the address" "$(where sw "$mac")" p1

	# neither the qdisc nor cnp-smac changes the address
	tc -n sw qdisc change dev p1 root handle 10: iqcn cnp-smac receiver
	check_eq "address with cnp-smac receiver" "$(port_mac)" "$mac"
	told
	check_eq "source with cnp-smac receiver" "$(smacs snd)" $RCV_MAC
	tc -n sw qdisc replace dev p1 root handle 11: iqcn
	check_eq "address with another qdisc" "$(port_mac)" "$mac"
	tc -n sw qdisc del dev p1 root
	tc -n sw qdisc add dev p1 root handle 10: iqcn
	check_eq "address with a later qdisc" "$(port_mac)" "$mac"
	silent_log
}

# A port without learning: the CNP passes, and no entry is made
test_no_learning()
{
	plain_bridge
	announce e0
	bridge -n sw link set dev p1 learning off
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	told
	check "CNPs" "$(grep -c ' icrc ok csum ok' "$TMP/snd")" -ge 3
	check_eq "source of CNPs" "$(smacs snd)" "$(port_mac)"
	check_eq "port of the port's address" "$(where sw "$(port_mac)")" ""
	check_eq "port of the receiver" "$(where sw $RCV_MAC)" p1
}

# A locked port (802.1X) accepts frames only from addresses that have an FDB
# entry on it: the receiver's address, and, once its entry is added, the address
# that CNPs have by default
test_locked()
{
	plain_bridge
	if ! bridge -n sw link set dev p1 learning off locked on; then
		skip "bridge(8) cannot lock a port"
		return
	fi
	bridge -n sw fdb add $RCV_MAC dev p1 master static
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	check "flows paired" "$(stat flows_paired)" -eq 1
	told
	check "CNPs from the port's address" "$(grep -c . "$TMP/snd")" -eq 0
	tc -n sw qdisc change dev p1 root handle 10: iqcn cnp-smac receiver
	told
	check "CNPs from the receiver's address" "$(grep -c . "$TMP/snd")" -ge 3
	tc -n sw qdisc change dev p1 root handle 10: iqcn cnp-smac port
	bridge -n sw fdb add "$(port_mac)" dev p1 master static
	told
	check "CNPs from the added address" "$(grep -c . "$TMP/snd")" -ge 3
	check_eq "source of CNPs" "$(smacs snd)" "$(port_mac)"
}

run_tests
