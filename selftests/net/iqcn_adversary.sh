#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Attacks: floods of packets of connections that do not exist, and forged
# packets of existing ones. The attacker's gain is bounded, and other flows
# still get their CNPs. Documentation/security.rst names these tests.
#
#   snd ---- p0 [ sw ] p1 ---- rcv	as in lib.sh
#   evil --- p2 [    ]
#
# IQCN_FLOOD=N: packets of the large flood, 300,000 by default

ALL_TESTS="
	test_flood
	test_flood_crowded_out
	test_flood_waits
	test_flood_users
	test_cm_forged
	test_cm_forged_vlan
	test_dreq_forged
	test_data_in_another_name
	test_way_changes
	test_not_intact
	test_v4mapped
	test_req_flood
	test_ack_blind
	test_psn_random
	test_cnp_silences
	test_cnp_flood
	test_cnp_reflected
	test_two_boxes
	test_careless_sender
	test_ce_spoofed
	test_box_itself
	test_source_guard
"
NIGHTLY_TESTS="
	test_flood_crowded_out test_flood_waits test_cm_forged_vlan
	test_data_in_another_name test_not_intact test_v4mapped test_req_flood
	test_psn_random test_cnp_flood test_two_boxes test_careless_sender
	test_box_itself
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/lib-rocehost.sh
. "$(dirname "$0")/lib-rocehost.sh"

FLOOD=${IQCN_FLOOD:-300000}
EVIL_MAC=02:00:00:00:00:03

# evil: add a host to the sender's network: e1, in the sender's namespace
evil()
{
	ip -batch - <<-EOF
		link add e1 netns snd address $EVIL_MAC mtu 9000 type veth peer name p2 netns sw
	EOF
	ip -n snd -batch - <<-EOF
		link set e1 up
	EOF
	ip -n sw -batch - <<-EOF
		link set p2 master br0
		link set p2 up
	EOF
	for _ in {1..50}; do
		[[ $(bridge -n sw link show dev p2) == *forwarding* ]] && return
		sleep 0.1
	done
	fail "p2 does not forward"
}

# served FLOWS RATE MS IQCN-PARAMETER...: start FLOWS flows of RATE each for MS.
# Together they exceed the bandwidth, so the queue is congested. Their packets
# arrive as CE, the senders do not react to CNPs, and the receiver sends at most
# one CNP per flow and second.
served()
{
	local flows=$1 rate=$2 ms=$3
	shift 3

	topology bridge
	evil
	load
	# 100 flows with a CNP per T1 exceed the default cnp-rate for 1 Gb/s
	iqcn bandwidth 1gbit detect queue cnp-rate 1000000 "$@"
	told snd "host e0 ip $SND4 rate 25gbit rp off cp-dscp 48"
	told rcv "host e0 ip $RCV4 rate 25gbit cnp-dscp 46 cnp 1s"
	told snd "flow e0 to $RCV4 flows $flows rate $rate ect 3 size endless trace 4096"
	told snd "start for ${ms}ms"
	# wait until the flows are paired
	sleep 0.1
	check "flows paired" "$(stat flows_paired)" -eq "$flows"
}

# longest_gap MS: over the last MS, print the longest time in us between two
# CNPs to one flow (including the receiver's, one per second), the number of
# generated CNPs, and the number of flows that got them
longest_gap()
{
	in_ns snd awk -F, -v ms="$1" '
	$5 !~ /^cnp_[cn]p$/ { next }
	FNR == NR { to = $4 > to ? $4 : to; next }
	$4 >= (from = to - ms * 1000000) {
		gap = $4 - ($3 in last ? last[$3] : from)
		if (gap > max) max = gap
		last[$3] = $4
		if ($5 == "cnp_np") next
		ours[$3]
		n++
	}
	END {
		for (qp in last)
			if (to - last[qp] > max) max = to - last[qp]
		printf "%d %d %d\n", max / 1000, n, length(ours)
	}' /proc/net/rocehost/trace /proc/net/rocehost/trace
}

slab_kb()
{
	local name kb

	while read -r name kb _; do
		[ "$name" != Slab: ] || echo "$kb"
	done </proc/meminfo
}

# Every packet arrives as CE and creates a flow. The table has room for 65,536;
# once it is full, memory stays constant. Other flows still get a CNP every T1.
test_flood()
{
	local kb before max=0 ms gap n flows new evicted full rest

	ms=$((FLOOD / 2000))
	served 8 1gbit $((ms + 500))
	before=$(slab_kb)
	told snd "flood e1 via $RCV_MAC packets $FLOOD rate 2000000 seed 1" &
	while [ -n "$(jobs -r)" ]; do
		sleep 0.02
		kb=$(($(slab_kb) - before))
		((kb <= max)) || max=$kb
		check "flows" "$(stat flows)" -le 65536
	done
	wait
	read -r flows new evicted full rest <<<"$(counters flows flow_new \
		flow_evicted flow_full)"
	note "$FLOOD packets: $new flows made, $evicted evicted, $full without" \
		"room; at most $max kB more of slab"
	check "flows made" $((new + full)) -gt $((FLOOD * 9 / 10))
	check "flows made and not evicted" $((new - evicted)) -eq "$flows"
	# 2 kB per flow: the flow, its pair of hosts, entries in four tables
	check "kB of slab" "$max" -lt $((65536 * 2))
	# the trace of a flow covers about the last second
	read -r gap n rest <<<"$(longest_gap $((ms > 1010 ? 1000 : ms - 10)))"
	note "$n CNPs to $rest flows, the longest without one: $gap us"
	check "flows with CNPs" "$rest" -eq 8
	virtual_time && check "CNPs" "$(sum snd flows cnps_cp)" -ge \
		$((8 * ms * 1000 / 310))
	# each read of the clock advances it a little: 64 packets in a row that
	# create flows take 50 us, and the timer waits for two or three such
	# bursts
	virtual_time && check "longest gap" "$gap" -le 450
	unload
}

# Like test_flood, with a table that is smaller than the number of flood packets
# between two packets of a flow
test_flood_crowded_out()
{
	local gap n rest

	served 100 120mbit 250 flows 400
	told snd "flood e1 via $RCV_MAC packets 200000 rate 2000000 seed 1"
	note "$(counters flows flows_paired flow_evicted)"
	check "flows" "$(stat flows)" -eq 400
	check "flows evicted" "$(stat flow_evicted)" -gt 100000
	check "flows paired" "$(stat flows_paired)" -eq 100
	read -r gap n rest <<<"$(longest_gap 90)"
	note "$n CNPs to $rest flows, the longest without one: $gap us"
	check "flows with CNPs" "$rest" -eq 100
	virtual_time && check "longest gap" "$gap" -le 310
	unload
}

# An evicted flow cannot be freed while its packet is queued, here for up to a
# second. The number of flows, evicted ones included, is therefore bounded by
# twice the maximum plus 1,024 (IQCN_DEAD_SPARE).
test_flood_waits()
{
	local flows new full waiting

	topology bridge
	load
	bottleneck 8mbit limit 64m flows 1000
	told snd "flood e0 via $RCV_MAC packets 16000 rate 1000000 seed 1"
	read -r flows new full waiting <<<"$(counters flows flow_new flow_full \
		qlen)"
	note "$flows flows, $new made, $full without room, $waiting packets wait"
	check "flows" "$flows" -eq 1000
	# flows whose packets have left do not count, because they may be freed
	check "flows made" $((new - (16000 - waiting))) -le $((2 * 1000 + 1024))
	check "packets without a flow" "$full" -ge 12000
	# by now all packets have left, so their flows can be evicted
	sleep 1.2
	told snd "flood e0 via $RCV_MAC packets 500 rate 1000000 seed 2"
	check "flows made later" "$(stat flow_new)" -eq $((new + 500))
	unload
}

SQP=0x800011
CONGESTED="bandwidth 1mbit t1 300us"

# grade [DEST_QP]: print "pair src_qp" of a flow
grade()
{
	flows | awk -v qp="${1:-0x000011}" '$4 == qp { print $6, $5 }'
}

# as_snd PACKET...: evil sends packets in the name of snd
as_snd()
{
	packets snd/e1 $EVIL_MAC $RCV_MAC $SND4 "$rcv4" $SND6 "$rcv6" "$@"
}

as_rcv()
{
	packets snd/e1 $EVIL_MAC $SND_MAC "$rcv4" $SND4 "$rcv6" $SND6 "$@"
}

# forged_connection: evil sends a REQ in the name of snd and a REP in the name
# of rcv
forged_connection()
{
	as_snd --type req --cm-local 66 --cm-qp 0x800099
	as_rcv --type rep --cm-local 99 --cm-remote 66 --cm-qp 0x11
}

# three_ports IQCN-PARAMETER...: iqcn on every port, so that evil's packets are
# parsed, too
three_ports()
{
	evil
	iqcn "$@"
	tc -n sw qdisc replace dev p0 root handle 10: iqcn
	tc -n sw qdisc replace dev p2 root handle 10: iqcn
}

# A user may have any number of namespaces and queues, but all of them together
# get as many flows as one queue has by default. Queues of other users are not
# affected.
test_flood_users()
{
	topology bridge
	iqcn
	rm -f "$TMP/theirs"
	unshare -Urn bash -c "
		for i in 1 2 3; do
			ip link add d\$i type dummy
			ip link set d\$i up
			tc qdisc add dev d\$i root iqcn notify timer
			$ROCE send d\$i --smac $SND_MAC --dmac $RCV_MAC --src $SND4 \
				--dst $RCV4 --tos 3 --flows 65536 --count 65536 --len 64
		done
		tc -s -j qdisc show >$TMP/theirs
		exec sleep 1000" >/dev/null &
	until [ -s "$TMP/theirs" ]; do
		sleep 0.1
	done
	data --tos 3 --flows 100 --count 100
	kill $!
	check "flows of the user" "$(of_theirs flows)" -eq 65536
	check "flow_full of the user" "$(of_theirs flow_full)" -eq 131072
	check "flows of another user" "$(stat flows)" -eq 100
}

# of_theirs COUNTER: sum of a counter over the user's queues
of_theirs()
{
	jq "[.[] | select(.kind == \"iqcn\") | .$1] | add" "$TMP/theirs"
}

# A host at another port forges a connection setup in the name of both sides.
# The receiver is not at that port, so the forged setup pairs neither existing
# nor later flows.
test_cm_forged()
{
	topology bridge
	# shellcheck disable=SC2086
	three_ports $CONGESTED pair sport
	data --tos 3 --len 64 --psn 100 --count 4
	forged_connection
	check_eq "a flow that is not paired" "$(grade)" "none -"
	reply --type ack --qp $SQP --psn 100 --count 4
	check_eq "by the receiver's ACKs" "$(grade)" "psn $SQP"
	forged_connection
	check_eq "after another forged setup" "$(grade)" "psn $SQP"
	# let the flow expire
	tc -n sw qdisc change dev p1 root handle 10: iqcn age 1ms
	sleep 0.05
	check "flows" "$(stat flows)" -eq 0
	tc -n sw qdisc change dev p1 root handle 10: iqcn age 10s
	forged_connection
	data --tos 3 --len 64 --psn 200
	check_eq "a later flow" "$(grade)" "none -"
	# the same messages from the ports of the two sides
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11
	check_eq "the real setup" "$(grade)" "cm $SQP"
	forged_connection
	check_eq "after another forged setup" "$(grade)" "cm $SQP"
	# a forged REQ with the id of a real one, before the real REP
	data --type req --cm-local 8 --cm-qp $SQP
	as_snd --type req --cm-local 8 --cm-qp 0x800099
	reply --type rep --cm-local 10 --cm-remote 8 --cm-qp 0x12
	data --tos 3 --len 64 --psn 300 --qp 0x12
	check_eq "a real REP after a forged REQ" "$(grade 0x000012)" "none -"
	virtual_time || return
	# an old REQ does not count
	sleep 61
	data --type req --cm-local 8 --cm-qp $SQP
	reply --type rep --cm-local 10 --cm-remote 8 --cm-qp 0x12
	data --tos 3 --len 64 --psn 300 --qp 0x12
	check_eq "the same id after a minute" "$(grade 0x000012)" "cm $SQP"
}

# Another tenant uses the same addresses and QPs on another VLAN of the same
# ports. Its connection setup pairs the tenant's own flow only.
test_cm_forged_vlan()
{
	topology bridge vlan
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	tc -n sw qdisc replace dev p0 root handle 10: iqcn
	data --tos 3 --len 64 --psn 100
	vlan_args=(--vlan 300)
	data --type req --cm-local 66 --cm-qp 0x800099
	reply --type rep --cm-local 99 --cm-remote 66 --cm-qp 0x11
	check_eq "a flow of VLAN 100" "$(grade)" "none -"
	data --tos 3 --len 64 --psn 100
	check_eq "the flow of VLAN 300" "$(flows |
		awk '$3 == "300.0" { print $6, $5 }')" "cm 0x800099"
	tc -n sw qdisc change dev p1 root handle 10: iqcn age 1ms
	sleep 0.05
	tc -n sw qdisc change dev p1 root handle 10: iqcn age 10s
	vlan_args=(--vlan 100:3)
	data --tos 3 --len 64 --psn 100
	check_eq "a later flow of VLAN 100" "$(grade)" "none -"
}

# A DREQ with wrong connection ids, or from another port, does not end a pairing
test_dreq_forged()
{
	topology bridge
	# shellcheck disable=SC2086
	three_ports $CONGESTED
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11
	data --tos 3 --len 64
	check_eq "paired" "$(grade)" "cm $SQP"
	data --type dreq --cm-local 8 --cm-remote 9 --cm-qp 0x11
	data --type dreq --cm-local 7 --cm-remote 8 --cm-qp 0x11
	reply --type dreq --cm-local 9 --cm-remote 6 --cm-qp $SQP
	check_eq "DREQ with wrong ids" "$(grade)" "cm $SQP"
	as_snd --type dreq --cm-local 7 --cm-remote 9 --cm-qp 0x11
	as_rcv --type dreq --cm-local 9 --cm-remote 7 --cm-qp $SQP
	check_eq "DREQ from another port" "$(grade)" "cm $SQP"
	reply --type dreq --cm-local 9 --cm-remote 7 --cm-qp $SQP
	check_eq "DREQ of the receiver" "$(grade)" "none -"
}

# evil sends ten packets in snd's name for each of snd's own, to redirect the
# CNPs to itself
test_data_in_another_name()
{
	topology bridge
	evil
	# shellcheck disable=SC2086
	iqcn $CONGESTED base cnp detect queue
	pair_flow
	sniff snd --type cnp --time 60
	listener sniff snd/e1 evil --type cnp --time 60
	data --tos 3 --count 12 --interval 1000 --psn 200 &
	as_snd --tos 3 --count 120 --interval 100 --psn 300 --len 64
	wait
	note "CNPs: $(grep -c . "$TMP/snd") to snd, $(grep -c . "$TMP/evil") to evil"
	check "CNPs to snd" "$(grep -c . "$TMP/snd")" -ge 1
	check "CNPs to evil" "$(grep -c . "$TMP/evil")" -eq 0
	# CNPs go to snd even if only evil sends
	sniff snd --type cnp --time 60
	as_snd --tos 3 --count 12 --interval 1000 --psn 400 --len 64
	wait
	check "CNPs for what evil sends" "$(grep -c . "$TMP/snd")" -ge 8
}

# All packets of the sender arrive with another MAC address: after a second,
# CNPs go to that address. A CNP of the receiver changes the address at once, to
# the one that the receiver uses.
test_way_changes()
{
	topology bridge
	evil
	# shellcheck disable=SC2086
	iqcn $CONGESTED base cnp detect queue
	pair_flow
	listener sniff snd/e1 evil --type cnp --time 1300
	as_snd --tos 3 --count 1200 --interval 1000 --psn 200 --len 64
	wait
	check "CNPs after a second" "$(grep -c . "$TMP/evil")" -ge 1
	listener sniff snd/e0 snd --type cnp --time 20
	packets rcv/e0 $RCV_MAC $SND_MAC "$rcv4" $SND4 "$rcv6" $SND6 \
		--type cnp --qp $SQP
	as_snd --tos 3 --count 12 --interval 1000 --psn 1400
	wait
	check "CNPs after the receiver's" "$(grep -c . "$TMP/snd")" -ge 8
}

# as_receiver PACKET...: send packets from the receiver's port
as_receiver()
{
	packets rcv/e0 $RCV_MAC $SND_MAC "$rcv4" $SND4 "$rcv6" $SND6 "$@"
}

# Packets that a NIC would drop are no evidence: ACKs, connection messages and
# CNPs with a bad checksum or ICRC
test_not_intact()
{
	topology bridge
	# shellcheck disable=SC2086
	three_ports $CONGESTED
	data --tos 3 --len 64 --psn 100 --count 8
	as_receiver --type ack --qp 0x800066 --psn 100 --count 4 --bad icrc
	check_eq "bad ACKs" "$(grade)" "none -"
	data --type req --cm-local 7 --cm-qp 0x800066 --bad icrc
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11
	check_eq "bad REQ" "$(grade)" "none -"
	data --type req --cm-local 7 --cm-qp 0x800066
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11 --bad icrc
	check_eq "bad REP" "$(grade)" "none -"
	as_receiver --type ack --qp $SQP --psn 100 --count 4 --bad csum
	check_eq "bad IPv4 checksum" "$(grade)" "none -"
	as_receiver --type ack --qp $SQP --psn 104 --count 4
	check_eq "intact ACKs" "$(grade)" "psn $SQP"
	as_receiver --type cnp --qp $SQP --bad icrc
	as_receiver --type cnp --qp $SQP --bad csum
	check "bad CNPs that count" "$(stat cnp_seen)" -eq 0
	check "port_malformed" "$(stat port_malformed)" -ge 10
}

# IPv6 packets with the IPv4-mapped addresses of an IPv4 flow do not belong to
# it: otherwise, an IPv6 host could forge packets of hosts whose addresses it
# must not use
test_v4mapped()
{
	local mapped

	topology bridge
	# shellcheck disable=SC2086
	three_ports $CONGESTED
	pair_flow
	check_eq "paired" "$(grade)" "psn $SQP"
	mapped=(-6 --src "::ffff:$SND4" --dst "::ffff:$rcv4")
	data "${mapped[@]}" --tos 3 --len 64 --psn 500 --count 8
	check "flows made" "$(stat flow_new)" -eq 1
	check "malformed data" "$(stat malformed)" -eq 8
	mapped=(-6 --src "::ffff:$rcv4" --dst "::ffff:$SND4")
	as_receiver "${mapped[@]}" --type cnp --qp $SQP --count 3
	as_receiver "${mapped[@]}" --type ack --qp 0x800066 --psn 500 --count 8
	check "CNPs" "$(stat cnp_seen)" -eq 0
	check_eq "still paired" "$(grade)" "psn $SQP"
	check "malformed replies" "$(stat port_malformed)" -eq 11
}

# A flood of REQs evicts only other REQs that wait for a REP
test_req_flood()
{
	local before more

	topology bridge
	load
	# shellcheck disable=SC2086
	three_ports $CONGESTED
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11
	before=$(slab_kb)
	told snd "flood e1 via $RCV_MAC req packets 100000 rate 2000000 seed 1"
	more=$(($(slab_kb) - before))
	note "$more more kB of slab"
	# KASAN keeps freed objects for a while: up to 1/32 of the memory
	[ "${IQCN_LAB-}" = uml-debug ] || check "kB of slab" $more -lt 4096
	check "flows made" "$(stat flow_new)" -eq 0
	data --tos 3 --len 64 --psn 100
	check_eq "pairing by an earlier setup" "$(grade)" "cm $SQP"
	unload
}

# Forged ACKs to the attacker's QP do not pair the flow: neither with random
# PSNs from the receiver's port, nor with the PSNs in flight from another port
test_ack_blind()
{
	topology bridge
	evil
	load
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	data --tos 3 --len 64 --psn 100 --count 8
	told rcv "flood e0 via $SND_MAC from $RCV4 to $SND4 qp 8388710 ack \
		packets 200000 rate 2000000 seed 1"
	check_eq "ACKs with random PSNs" "$(grade)" "none -"
	as_rcv --type ack --qp 0x800066 --psn 100 --count 8
	check_eq "ACKs from another port" "$(grade)" "none -"
	as_receiver --type ack --qp $SQP --psn 100 --count 4
	check_eq "the receiver's ACKs" "$(grade)" "psn $SQP"
	check "contradicted" "$(stat contradicted)" -eq 0
	unload
}

# Data in the sender's name with random PSNs: the flow stays paired, and gets a
# CNP no more often than every T1
test_psn_random()
{
	local sent

	topology bridge
	evil
	load
	# shellcheck disable=SC2086
	iqcn $CONGESTED detect queue,run,span
	pair_flow
	sent=$(stat cnp_sent)
	told snd "flood e1 via $RCV_MAC from $SND4 to $RCV4 qp 17 \
		packets 50000 rate 1000000 seed 1"
	sent=$(($(stat cnp_sent) - sent))
	note "$sent CNPs in 50 ms"
	check_eq "paired" "$(grade)" "psn $SQP"
	check "flows" "$(stat flow_new)" -eq 1
	check "CNPs" "$sent" -le 168
	unload
}

# told_beside IQCN-PARAMETER...: send 30 packets of a flow, one per ms, and five
# forged CNPs per packet; set n to the number of generated CNPs
told_beside()
{
	# shellcheck disable=SC2086
	iqcn $CONGESTED detect queue "$@"
	pair_flow
	data --tos $tos --count 30 --interval 1000 --psn 200 --len 512 &
	"$forger" --type cnp --qp $SQP --count 150 --interval 200
	wait
	n=$(stat cnp_sent)
	tc -n sw qdisc del dev p1 root
}

# A forged CNP pretends that the sender was notified. CNPs from another port are
# ignored. With base cnp, CNPs from the receiver's port restart T1; but the box
# also forwards them, so the sender is indeed notified. base ce, wreb and pi
# ignore forged CNPs.
test_cnp_silences()
{
	local n forger=as_rcv tos=3

	topology bridge
	evil
	told_beside base cnp
	check "CNPs beside forged ones from another port" "$n" -ge 20
	forger=as_receiver
	told_beside base cnp
	check "from the receiver's port, base cnp" "$n" -le 2
	told_beside base ce
	check "from the receiver's port, base ce" "$n" -ge 20
	tos=2
	told_beside kmin 0 kmax 1 pmax 1 notify wreb profile 0:1,1:1 min-gap 100us
	check "from the receiver's port, wreb" "$n" -ge 20
}

# CNPs that match no flow are counted and forwarded, and have no other effect
test_cnp_flood()
{
	local gap n rest

	served 8 1gbit 200
	told rcv "flood e0 via $SND_MAC cnp packets 100000 rate 1000000 seed 1"
	read -r gap n rest <<<"$(longest_gap 90)"
	note "$n CNPs to $rest flows, the longest without one: $gap us"
	check "unmatched" "$(stat port_cnp_unmatched)" -ge 100000
	check "flows" "$(stat flow_new)" -eq 8
	virtual_time && check "longest gap" "$gap" -le 302
	unload
}

# CNPs that leave by the port, CE or not, do not count as data
test_cnp_reflected()
{
	topology bridge
	evil
	# shellcheck disable=SC2086
	iqcn $CONGESTED kmin 0 kmax 1 pmax 1 mark-on enqueue
	sniff snd --type cnp --time 60
	as_snd --type cnp --tos 3 --count 200 --qp $SQP
	as_snd --type cnp --tos 2 --count 200 --qp $SQP
	wait
	check "flows" "$(stat flow_new)" -eq 0
	check "CE RoCEv2 data" "$(stat ce_sent)" -eq 0
	check "CNPs sent" "$(stat cnp_sent)" -eq 0
	check "CNPs back" "$(grep -c . "$TMP/snd")" -eq 0
}

# Two boxes in a row: the first takes the CNPs of the second for the receiver's,
# and none of them causes another CNP
test_two_boxes()
{
	local one two

	topology bridge
	# on the first bridge, a cable to the second one takes the place of p1
	ip -n sw -batch - <<-EOF
		link set p1 nomaster
		link add c0 address 02:00:00:00:00:c0 mtu 9000 type veth peer name c1 address 02:00:00:00:00:c1 mtu 9000
		link add br1 type bridge mcast_snooping 0
		link set c0 master br0
		link set c1 master br1
		link set p1 master br1
		link set c0 up
		link set c1 up
		link set br1 up
	EOF
	sleep 2
	tc -n sw qdisc replace dev c0 root handle 10: iqcn notify timer \
		bandwidth 1mbit t1 300us base cnp detect queue
	iqcn bandwidth 1mbit base cnp detect queue
	pair_flow
	sniff snd --type cnp --time 60
	data --tos 3 --count 20 --interval 1000 --psn 200 --len 512
	wait
	one=$(stat cnp_sent c0) two=$(stat cnp_sent)
	note "CNPs: $one of the first box, $two of the second"
	check "CNPs received" "$(grep -c . "$TMP/snd")" -le $((one + two))
	check "cnp_seen of the first" "$(stat cnp_seen c0)" -ge $((two - 2))
	check "CNPs of both" $((one + two)) -le $((2 * 24 + 2))
	sniff snd --type cnp --time 50
	wait
	check "CNPs when no data come" "$(grep -c . "$TMP/snd")" -eq 0
}

# A sender that ignores CNPs gets one every T1, and all senders together no more
# than the budget
test_careless_sender()
{
	local before sent

	served 64 100mbit 400
	before=$(stat cnp_sent)
	sleep 0.1
	sent=$(($(stat cnp_sent) - before))
	note "with a large budget: $sent CNPs in 100 ms"
	check "CNPs, one every T1" "$sent" -le $((64 * 340))
	check "CNPs, at least half of them" "$sent" -ge $((64 * 150))
	tc -n sw qdisc change dev p1 root handle 10: iqcn cnp-rate 1000 cnp-burst 10
	before=$(stat cnp_sent)
	sleep 0.1
	sent=$(($(stat cnp_sent) - before))
	note "with 1000 a second: $sent CNPs in 100 ms"
	check "CNPs within the budget" "$sent" -le 125
	check "cnp_budget" "$(stat cnp_budget)" -ge 10000
	unload
}

# A host sends all its packets as CE and fills the port, so the queue is
# congested. Flows without CE packets get no CNPs.
test_ce_spoofed()
{
	topology bridge
	evil
	# shellcheck disable=SC2086
	iqcn $CONGESTED base cnp detect queue,run
	pair_flow
	# snd's flow gets no more CNPs once it is not congested
	sleep 0.1
	sniff snd --type cnp --time 60
	as_snd --tos 3 --count 3000 --interval 10 --qp 0x99 --len 512 &
	data --tos 2 --count 30 --interval 1000 --psn 200 --len 512
	wait
	check "ce_sent" "$(stat ce_sent)" -ge 3000
	check "changes of the queue" "$(stat state_changes)" -ge 2
	check "CNPs" "$(grep -c . "$TMP/snd")" -eq 0
}

# RoCEv2 packets to the box, or with its address as the source, do not affect
# the existing flow
test_box_itself()
{
	topology router
	# shellcheck disable=SC2086
	iqcn $CONGESTED base cnp detect queue
	pair_flow
	# the box's own address is the source of the first packets, and the
	# destination of the others, which come from either side
	packets snd/e0 $SND_MAC $P0_MAC 10.1.0.254 "$rcv4" fd01::fe "$rcv6" \
		--tos 3 --count 20 --len 64
	packets rcv/e0 $RCV_MAC $P1_MAC "$rcv4" 10.2.0.254 "$rcv6" fd02::fe \
		--type cnp --qp $SQP --count 20
	packets rcv/e0 $RCV_MAC $P1_MAC "$rcv4" 10.2.0.254 "$rcv6" fd02::fe \
		--type ack --qp $SQP --psn 100 --count 20
	packets snd/e0 $SND_MAC $P0_MAC $SND4 10.2.0.254 $SND6 fd02::fe \
		--tos 3 --count 20 --len 64
	check "flows" "$(stat flows)" -le 2
	check "unmatched" "$(stat port_cnp_unmatched)" -ge 20
	check_eq "the existing flow" "$(grade)" "psn $SQP"
}

# The filters that Documentation/security.rst recommends against untrusted hosts
# drop forged packets before these packets create flows
test_source_guard()
{
	topology bridge
	evil
	iqcn
	tc -n sw -batch - <<-EOF
		qdisc add dev p2 clsact
		filter add dev p2 ingress protocol ip pref 1 flower src_ip 10.1.0.3 action pass
		filter add dev p2 ingress protocol arp pref 2 matchall action pass
		filter add dev p2 ingress protocol all pref 3 matchall action drop
	EOF
	as_snd --tos 3 --len 64 --count 10
	as_snd -6 --tos 3 --len 64 --count 10
	as_snd --vlan 0 --tos 3 --len 64 --count 10
	as_snd --vlan ad:5 --tos 3 --len 64 --count 10
	as_rcv --type cnp --qp $SQP --count 10
	check "flows by forged packets" "$(stat flow_new)" -eq 0
	packets snd/e1 $EVIL_MAC $RCV_MAC 10.1.0.3 "$rcv4" fd01::3 "$rcv6" \
		--tos 3 --len 64
	check "flows by evil's own packets" "$(stat flow_new)" -eq 1
}

run_tests
