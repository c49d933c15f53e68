#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the CNPs of the box teach bridges.  A CNP comes in on the port that the
# data leave by.  With the receiver's MAC address as its source a bridge that
# learns moves the receiver to that port, and traffic is lost if the receiver
# has moved to another one meanwhile.  So by default its source is an address
# of the port's own.
#
# FDB entries are dynamic, except where a port is locked.  rcv has two links, e0
# on p1 and e1 elsewhere; the receiver moves from one to the other with its
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
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

BROADCAST=ff:ff:ff:ff:ff:ff

# three_links NS: sw with p0 and p1, a second link of rcv whose other end is p2
# in NS.  The hosts have no addresses, so that no stack announces anything by
# itself.
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
	mute snd
	mute rcv
}

# links NS DEV...: up, and silent
links()
{
	local ns=$1 dev
	shift

	for dev; do
		echo "link set $dev addrgenmode none"
		echo "link set $dev up"
	done | ip -n "$ns" -batch -
}

# bridge_of NS "BRIDGE-OPTIONS" PORT...: as br0
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

# A sender behind a bridge of its own: e0 - h0 [br0 in snd] u0 - p0.  A link of
# rcv may be at that bridge, too.
upstream()
{
	three_links snd
	ip -n snd link set e0 down
	ip -n snd link set e0 name u0
	ip -n snd -batch - <<-EOT
		link add e0 address $SND_MAC mtu 9000 type veth peer name h0 mtu 9000
		link set u0 address 02:00:00:00:00:b0
	EOT
	tc -n snd qdisc del dev u0 clsact
	links snd u0 e0 h0
	mute snd
	bridge_of snd "" u0 h0 p2
}

# fdb NS: what br0 has learned, as "ADDRESS PORT [VLAN]", in order
fdb()
{
	bridge -n "$1" fdb show br br0 | awk '!/permanent|static|self/ {
		print $1, $3, $4 == "vlan" ? $5 : "" }' | sort
}

# where NS ADDRESS: the port that br0 has it on
where()
{
	fdb "$1" | awk -v address="$2" '$1 == address { print $2 }'
}

# announce DEV: the receiver is there
announce()
{
	packets "rcv/$1" $RCV_MAC $BROADCAST $RCV4 $SND4 $RCV6 $SND6 \
		--type udp
}

# smacs FILE: addresses that CNPs came from
smacs()
{
	sed -nE 's/.* hex .{12}(..)(..)(..)(..)(..)(..).*/\1:\2:\3:\4:\5:\6/p' \
		"$TMP/$1" | sort -u
}

# Nor does a bridge complain
silent_log()
{
	check_eq "in the log" "$(dmesg | grep 'own address as source')" ""
}

# late_cnps IQCN-PARAMETER...: the receiver moves from e0 to e1 while CE data
# wait on p1, and CNPs follow.  Then data of another flow are sent to it, and
# are in $TMP/e0 or $TMP/e1.
late_cnps()
{
	local sent i count=60

	# by the machine's clock: ten seconds, because each look takes some of them
	virtual_time || count=200
	bottleneck $busy_rate kmin 3000 kmax 4000 detect depth \
		notify timer t1 $((300 * patience))us "$@"
	announce e0
	pair_flow
	check "paired" "$(stat flows_paired)" -eq 1
	check_eq "before it moves" "$(where sw $RCV_MAC)" p1
	data --count "$count"
	announce e1
	fdb sw >"$TMP/before"
	sent=$(stat cnp_sent)
	for ((i = 0; i < 100; i++)); do
		[ "$(stat cnp_sent)" -lt $((sent + 10)) ] || break
		sleep 0.001
	done
	check "late CNPs" "$(stat cnp_sent)" -ge $((sent + 10))
	check "data that wait" "$(stat qlen)" -gt 0
	fdb sw >"$TMP/after"
	release
	for i in e0 e1; do
		listener sniff rcv/$i $i --type data --time 60
	done
	data --tos 0 --qp 0x77 --count 5
	wait
	silent_log
}

# arrived DEV: data of that other flow
arrived()
{
	grep -c ' qp 0x000077 ' "$TMP/$1"
}

# The receiver is found where it is now, in all of these
found()
{
	local mac

	mac=$(port_mac)
	check_eq "entries that moved" \
		"$(comm -23 "$TMP/before" "$TMP/after")" ""
	# CNPs may have come before it moved
	check_eq "entries that are new" \
		"$(comm -13 "$TMP/before" "$TMP/after" | grep -v "^$mac ")" ""
	check_eq "the port's address is on" "$(where sw "$mac")" p1
	check "data that reach it" "$(arrived e1)" -eq 5
	check "data for its old port" "$(arrived e0)" -eq 0
}

# With its own address the same run takes it back to the old port: the test
# sees that
lost()
{
	check_eq "entry that moved" "$(where sw $RCV_MAC)" p1
	check "data that reach it" "$(arrived e1)" -eq 0
	check "data for its old port" "$(arrived e0)" -eq 5
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
	check_eq "the receiver is on" "$(where sw $RCV_MAC)" p2
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
	check_eq "the receiver is on" "$(where sw $RCV_MAC)" p2
	found
	check_eq "VLAN" "$(cut -d ' ' -f 3 "$TMP/after" | sort -u)" 100
}

test_vlan_receiver()
{
	vlan_bridge
	late_cnps cnp-smac receiver
	lost
}

# The receiver moves to the bridge of the sender; of CNPs that bridge learns
upstream_bridge()
{
	upstream
	bridge_of sw "" p0 p1
}

test_upstream()
{
	upstream_bridge
	late_cnps
	check_eq "the receiver is on" "$(where snd $RCV_MAC)" p2
	check_eq "and from here on" "$(where sw $RCV_MAC)" p0
	check_eq "the port's address is on" "$(where snd "$(port_mac)")" u0
	found
}

test_upstream_receiver()
{
	upstream_bridge
	late_cnps cnp-smac receiver
	check_eq "the receiver seems to be on" "$(where snd $RCV_MAC)" u0
	lost
}

# told: CE packets until the box has sent CNPs; in $TMP/p1 as they come in, in
# $TMP/snd as they get to the sender
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

CONGESTED="bandwidth 10kbit detect queue t1 300us"

# No bridge: tc switches what comes in.  The CNP goes the way of all packets of
# the port, and a bridge behind learns nothing but the port's address.
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
	# the box does not see redirected answers, so p1 has no rule yet
	pair_flow
	check "paired" "$(stat flows_paired)" -eq 1
	tc -n sw filter add dev p1 $redirect p0
	announce e0
	fdb snd >"$TMP/before"
	told
	check "CNPs" "$(grep -c ' icrc ok csum ok' "$TMP/snd")" -ge 3
	check_eq "from" "$(smacs snd)" "$(port_mac)"
	fdb snd >"$TMP/after"
	check_eq "entries that moved" \
		"$(comm -23 "$TMP/before" "$TMP/after")" ""
	check_eq "entries that are new" \
		"$(comm -13 "$TMP/before" "$TMP/after")" "$(port_mac) u0 "
}

# neighbours: of all three namespaces, without how old they are
neighbours()
{
	local ns

	for ns in snd sw rcv; do
		ip -n $ns -4 neigh show | sed -E "s/^/$ns /; s/ [A-Z]+$//"
	done | sort
}

# The CNP is routed, and its Ethernet source ends here.  All neighbours are
# asked for by ARP, none is permanent.
test_routed()
{
	local ns before

	topology router
	for ns in snd rcv; do
		tc -n $ns filter del dev e0 ingress
		tc -n $ns filter add dev e0 ingress protocol ip matchall \
			action drop
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
	# one that is routed to the sender before
	reply --type cnp --qp 0x999999
	sleep 0.05
	before=$(neighbours)
	check "neighbours" "$(grep -c lladdr <<<"$before")" -eq 4
	told
	check "CNPs" "$(grep -c ' icrc ok csum ok' "$TMP/snd")" -ge 3
	check_eq "on the port from" "$(smacs p1)" "$(port_mac)"
	check_eq "at the sender from" "$(smacs snd)" $P0_MAC
	check_eq "neighbours" "$(neighbours)" "$before"
	silent_log
}

# The address is one that nobody else has
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
	check_eq "in netlink" "$("$BUILD/genl" --netns sw dump 1 |
		grep '=p1 ' | grep -c "=${mac//:/} ")" 1
	check_eq "in iqcn show" "$(in_ns sw "$BUILD/iqcn" show p1 |
		awk '$1 == "port" { print $2, $3 }')" "cnp_smac $mac"
	pair_flow
	told
	check_eq "on the wire" "$(smacs snd)" "$mac"
	check_eq "of the port" "$(where sw "$mac")" p1

	# whatever qdisc is there, and whoever sends
	tc -n sw qdisc change dev p1 root handle 10: iqcn cnp-smac receiver
	check_eq "though it is not used" "$(port_mac)" "$mac"
	told
	check_eq "on the wire, of the receiver" "$(smacs snd)" $RCV_MAC
	tc -n sw qdisc replace dev p1 root handle 11: iqcn
	check_eq "of another qdisc" "$(port_mac)" "$mac"
	tc -n sw qdisc del dev p1 root
	tc -n sw qdisc add dev p1 root handle 10: iqcn
	check_eq "of a later one" "$(port_mac)" "$mac"
	silent_log
}

# A port that learns nothing: the CNP passes, and no entry is made
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
	check_eq "from" "$(smacs snd)" "$(port_mac)"
	check_eq "learned" "$(where sw "$(port_mac)")" ""
	check_eq "the receiver is on" "$(where sw $RCV_MAC)" p1
}

# A port that is locked (802.1X) takes frames from addresses alone that the FDB
# has on it: the receiver's, but not the port's unless somebody adds it
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
	check "paired" "$(stat flows_paired)" -eq 1
	told
	check "CNPs of the port" "$(grep -c . "$TMP/snd")" -eq 0
	tc -n sw qdisc change dev p1 root handle 10: iqcn cnp-smac receiver
	told
	check "CNPs of the receiver" "$(grep -c . "$TMP/snd")" -ge 3
	tc -n sw qdisc change dev p1 root handle 10: iqcn cnp-smac port
	bridge -n sw fdb add "$(port_mac)" dev p1 master static
	told
	check "CNPs of a port that is allowed" "$(grep -c . "$TMP/snd")" -ge 3
	check_eq "from" "$(smacs snd)" "$(port_mac)"
}

run_tests
