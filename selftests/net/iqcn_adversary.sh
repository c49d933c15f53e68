#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who means harm: packets of connections that do not exist, by the million, and
# forged ones of those that do.  What an attacker gets is bounded, and whom the
# box serves is served all the same.  Documentation/security.rst names these
# tests.
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
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/lib-rocehost.sh
. "$(dirname "$0")/lib-rocehost.sh"

FLOOD=${IQCN_FLOOD:-300000}
EVIL_MAC=02:00:00:00:00:03

# evil: a host of the sender's network, in a namespace of the same end
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

# served FLOWS RATE MS IQCN-PARAMETER...: so many flows for so long, which are CE when
# they come, at a rate that counts as congestion.  Their senders do not care, and
# their receivers send no CNPs to speak of.
served()
{
	local flows=$1 rate=$2 ms=$3
	shift 3

	topology bridge
	evil
	unmute snd
	unmute rcv
	load
	# 100 flows each T1 are more than the default for 1 Gb/s
	iqcn bandwidth 1gbit detect queue cnp-rate 1000000 "$@"
	told snd "host e0 ip $SND4 rate 25gbit rp off cp-dscp 48"
	told rcv "host e0 ip $RCV4 rate 25gbit cnp-dscp 46 cnp 1s"
	told snd "flow e0 to $RCV4 flows $flows rate $rate ect 3 size endless trace 4096"
	told snd "start for ${ms}ms"
	# until they are paired
	sleep 0.1
	check "paired" "$(stat flows_paired)" -eq "$flows"
}

# longest_gap MS: between two CNPs to one flow in the last so many ms, the receiver's
# one a second among them, in us; how many were ours, and to how many flows
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

# Every packet makes a flow, for it is CE when it comes.  The table has room for
# 65,536; memory stays where it is once that is full.  Flows that are served still
# are, T1 after T1.
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
		"room; $max kB of slab more at most"
	check "flows made" $((new + full)) -gt $((FLOOD * 9 / 10))
	check "accounts" $((new - evicted)) -eq "$flows"
	# a flow, its pair of hosts, places in four tables
	check "memory" "$max" -lt $((65536 * 2))
	# of each flow as many are remembered as come in a good second
	read -r gap n rest <<<"$(longest_gap $((ms > 1010 ? 1000 : ms - 10)))"
	note "$n CNPs to $rest flows, the longest without one: $gap us"
	check "still served" "$rest" -eq 8
	virtual_time && check "CNPs in all" "$(sum snd flows cnps_cp)" -ge \
		$((8 * ms * 1000 / 310))
	# the clock moves a little with each look at it: 64 packets in a row that make
	# flows take 50 us of it, and the timer waits for two or three such bursts
	virtual_time && check "T1 holds" "$gap" -le 450
	unload
}

# The same through a table that is full several times between two packets of a
# flow
test_flood_crowded_out()
{
	local gap n rest

	served 100 120mbit 250 flows 400
	told snd "flood e1 via $RCV_MAC packets 200000 rate 2000000 seed 1"
	note "$(counters flows flows_paired flow_evicted)"
	check "flows" "$(stat flows)" -eq 400
	check "evicted" "$(stat flow_evicted)" -gt 100000
	check "paired" "$(stat flows_paired)" -eq 100
	read -r gap n rest <<<"$(longest_gap 90)"
	note "$n CNPs to $rest flows, the longest without one: $gap us"
	check "still served" "$rest" -eq 100
	virtual_time && check "T1 holds" "$gap" -le 310
	unload
}

# A flow that has made room cannot be freed while its packet waits, here for a
# second.  So there are no more than twice as many as may be, and a few.
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
	# but for those whose packet has left by now
	check "made" $((new - (16000 - waiting))) -le $((2 * 1000 + 1024))
	check "without room" "$full" -ge 12000
	# those that have left are free again
	sleep 1.2
	told snd "flood e0 via $RCV_MAC packets 500 rate 1000000 seed 2"
	check "made later" "$(stat flow_new)" -eq $((new + 500))
	unload
}

SQP=0x800011
CONGESTED="bandwidth 1mbit t1 300us"

# grade: "pair src_qp" of the flow to QP 0x11
grade()
{
	flows | awk '$4 == "0x000011" { print $6, $5 }'
}

# as_snd PACKET...: evil sends what seems to be of snd
as_snd()
{
	packets snd/e1 $EVIL_MAC $RCV_MAC $SND4 "$rcv4" $SND6 "$rcv6" "$@"
}

as_rcv()
{
	packets snd/e1 $EVIL_MAC $SND_MAC "$rcv4" $SND4 "$rcv6" $SND6 "$@"
}

# Both sides' messages, by whoever calls as_snd and as_rcv
forged_connection()
{
	as_snd --type req --cm-local 66 --cm-qp 0x800099
	as_rcv --type rep --cm-local 99 --cm-remote 66 --cm-qp 0x11
}

# three_ports IQCN-PARAMETER...: what comes from evil is seen as well as what comes
# from others
three_ports()
{
	evil
	iqcn "$@"
	tc -n sw qdisc replace dev p0 root handle 10: iqcn
	tc -n sw qdisc replace dev p2 root handle 10: iqcn
}

# A user has as many namespaces and queues as it likes, and one queue's flows for all of
# them together.  Queues of others are not worse off.
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
	check "flows of theirs" "$(of_theirs flows)" -eq 65536
	check "without room" "$(of_theirs flow_full)" -eq 131072
	check "flows of ours" "$(stat flows)" -eq 100
}

# of_theirs COUNTER: of all their queues
of_theirs()
{
	jq "[.[] | select(.kind == \"iqcn\") | .$1] | add" "$TMP/theirs"
}

# A host at another port sends a connection's set-up in the name of both sides:
# the receiver is not there, so nothing is paired by it, neither flows that are
# there nor those to come
test_cm_forged()
{
	topology bridge
	# shellcheck disable=SC2086
	three_ports $CONGESTED pair sport
	data --tos 3 --len 64 --psn 100 --count 4
	forged_connection
	check_eq "a flow that is not paired" "$(grade)" "none -"
	reply --type ack --qp $SQP --psn 100 --count 4
	check_eq "by its receiver's answers" "$(grade)" "psn $SQP"
	forged_connection
	check_eq "it stays so" "$(grade)" "psn $SQP"
	# as if it had aged
	tc -n sw qdisc change dev p1 root handle 10: iqcn age 1ms
	sleep 0.05
	check "flows" "$(stat flows)" -eq 0
	tc -n sw qdisc change dev p1 root handle 10: iqcn age 10s
	forged_connection
	data --tos 3 --len 64 --psn 200
	check_eq "one that comes later" "$(grade)" "none -"
	# the very messages, but from where the two sides are
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11
	check_eq "the real set-up" "$(grade)" "cm $SQP"
	forged_connection
	check_eq "is not replaced" "$(grade)" "cm $SQP"
}

# Another tenant, on another VLAN of the same ports, has the same addresses and
# QPs: he pairs his own flow, and nobody else's
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
	check_eq "that of VLAN 300" "$(flows |
		awk '$3 == "300.0" { print $6, $5 }')" "cm 0x800099"
	tc -n sw qdisc change dev p1 root handle 10: iqcn age 1ms
	sleep 0.05
	tc -n sw qdisc change dev p1 root handle 10: iqcn age 10s
	vlan_args=(--vlan 100:3)
	data --tos 3 --len 64 --psn 100
	check_eq "one that comes later" "$(grade)" "none -"
}

# Neither who does not know the ids of a connection takes it down, nor who is
# somewhere else
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
	check_eq "by ids that are wrong" "$(grade)" "cm $SQP"
	as_snd --type dreq --cm-local 7 --cm-remote 9 --cm-qp 0x11
	as_rcv --type dreq --cm-local 9 --cm-remote 7 --cm-qp $SQP
	check_eq "from somewhere else" "$(grade)" "cm $SQP"
	reply --type dreq --cm-local 9 --cm-remote 7 --cm-qp $SQP
	check_eq "by the receiver" "$(grade)" "none -"
}

# Data of evil's in snd's name, ten for each of snd's own, would have the CNPs
# come to evil
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
	check "CNPs of ours" "$(grep -c . "$TMP/snd")" -ge 1
	check "CNPs that evil gets" "$(grep -c . "$TMP/evil")" -eq 0
	# nor when it is evil that goes on
	sniff snd --type cnp --time 60
	as_snd --tos 3 --count 12 --interval 1000 --psn 400 --len 64
	wait
	check "CNPs for what evil sends" "$(grep -c . "$TMP/snd")" -ge 8
}

# The sender has moved: its packets come by another MAC, and no other.  A CNP of
# its receiver tells at once, and without that it is believed after a second.
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
	check "after a second" "$(grep -c . "$TMP/evil")" -ge 1
	listener sniff snd/e0 snd --type cnp --time 20
	packets rcv/e0 $RCV_MAC $SND_MAC "$rcv4" $SND4 "$rcv6" $SND6 \
		--type cnp --qp $SQP
	as_snd --tos 3 --count 12 --interval 1000 --psn 1400
	wait
	check "where a CNP of the receiver goes" "$(grep -c . "$TMP/snd")" -ge 8
}

# as_receiver PACKET...: from where the receiver is
as_receiver()
{
	packets rcv/e0 $RCV_MAC $SND_MAC "$rcv4" $SND4 "$rcv6" $SND6 "$@"
}

# What a NIC drops without a word is no evidence: ACKs, messages of connection
# set-up and CNPs that are not intact
test_not_intact()
{
	topology bridge
	# shellcheck disable=SC2086
	three_ports $CONGESTED
	data --tos 3 --len 64 --psn 100 --count 8
	as_receiver --type ack --qp 0x800066 --psn 100 --count 4 --bad icrc
	check_eq "ACKs" "$(grade)" "none -"
	data --type req --cm-local 7 --cm-qp 0x800066 --bad icrc
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11
	check_eq "a REQ" "$(grade)" "none -"
	data --type req --cm-local 7 --cm-qp 0x800066
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11 --bad icrc
	check_eq "a REP" "$(grade)" "none -"
	as_receiver --type ack --qp $SQP --psn 100 --count 4 --bad csum
	check_eq "IPv4's checksum" "$(grade)" "none -"
	as_receiver --type ack --qp $SQP --psn 104 --count 4
	check_eq "intact" "$(grade)" "psn $SQP"
	as_receiver --type cnp --qp $SQP --bad icrc
	as_receiver --type cnp --qp $SQP --bad csum
	check "CNPs" "$(stat cnp_seen)" -eq 0
	check "counted" "$(stat port_malformed)" -ge 10
}

# IPv6 packets with the addresses of an IPv4 flow as IPv6 writes them are not its own:
# an IPv6 host could speak for hosts whose addresses it must not use
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
	check "its packets" "$(stat flow_new)" -eq 1
	check "malformed data" "$(stat malformed)" -eq 8
	mapped=(-6 --src "::ffff:$rcv4" --dst "::ffff:$SND4")
	as_receiver "${mapped[@]}" --type cnp --qp $SQP --count 3
	as_receiver "${mapped[@]}" --type ack --qp 0x800066 --psn 500 --count 8
	check "CNPs" "$(stat cnp_seen)" -eq 0
	check_eq "still paired" "$(grade)" "psn $SQP"
	check "malformed replies" "$(stat port_malformed)" -eq 11
}

# Requests for connections without end: they push out one another, nothing else
test_req_flood()
{
	local before

	topology bridge
	load
	# shellcheck disable=SC2086
	three_ports $CONGESTED
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp 0x11
	before=$(slab_kb)
	told snd "flood e1 via $RCV_MAC req packets 100000 rate 2000000 seed 1"
	note "$(($(slab_kb) - before)) kB of slab more"
	check "memory" $(($(slab_kb) - before)) -lt 4096
	check "no flows" "$(stat flow_new)" -eq 0
	data --tos 3 --len 64 --psn 100
	check_eq "connections stay" "$(grade)" "cm $SQP"
	unload
}

# ACKs to a QP of the attacker's: from where the receiver is, by one who does not see
# which PSNs are under way; and from somewhere else, by one who does
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
	check_eq "by chance" "$(grade)" "none -"
	as_rcv --type ack --qp 0x800066 --psn 100 --count 8
	check_eq "from somewhere else" "$(grade)" "none -"
	as_receiver --type ack --qp $SQP --psn 100 --count 4
	check_eq "by who has them" "$(grade)" "psn $SQP"
	check "contradicted" "$(stat contradicted)" -eq 0
	unload
}

# Data in the sender's name with PSNs at random: it stays paired, and is told no
# more often than every T1
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

# told_beside BASE...: CNPs of ours to a flow of a packet per ms for 30 ms, and five
# forged ones per packet beside it
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

# Forged CNPs say that the sender has been told.  From another port they are not
# heard.  From the receiver's they are, by a timer that counts from CNPs: the box
# forwards them, so that the sender is told indeed.  One that counts from CE
# packets does not care for them, nor do wreb and pi.
test_cnp_silences()
{
	local n forger=as_rcv tos=3

	topology bridge
	evil
	told_beside base cnp
	check "from another port" "$n" -ge 20
	forger=as_receiver
	told_beside base cnp
	check "from the receiver's, base cnp" "$n" -le 2
	told_beside base ce
	check "from the receiver's, base ce" "$n" -ge 20
	tos=2
	told_beside kmin 0 kmax 1 pmax 1 notify wreb profile 0:1,1:1 min-gap 100us
	check "from the receiver's, wreb" "$n" -ge 20
}

# CNPs for flows that are not there: counted, forwarded, answered by nobody
test_cnp_flood()
{
	local gap n rest

	served 8 1gbit 200
	told rcv "flood e0 via $SND_MAC cnp packets 100000 rate 1000000 seed 1"
	read -r gap n rest <<<"$(longest_gap 90)"
	note "$n CNPs to $rest flows, the longest without one: $gap us"
	check "unmatched" "$(stat port_cnp_unmatched)" -ge 100000
	check "flows" "$(stat flow_new)" -eq 8
	virtual_time && check "T1 holds" "$gap" -le 302
	unload
}

# CNPs that leave by the port, CE or not, are nobody's data
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

# Two boxes in a row: the first takes the CNPs of the second for the receiver's, and
# none answers any
test_two_boxes()
{
	local one two

	topology bridge
	# p1 of the first bridge is a cable to the second one
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
	check "CNPs got are those sent" "$(grep -c . "$TMP/snd")" -le $((one + two))
	check "the first sees those of the second" "$(stat cnp_seen c0)" -ge $((two - 2))
	check "no more than each due" $((one + two)) -le $((2 * 24 + 2))
	sniff snd --type cnp --time 50
	wait
	check "CNPs when no data come" "$(grep -c . "$TMP/snd")" -eq 0
}

# Whoever ignores CNPs gets one every T1, and all together no more than the budget
test_careless_sender()
{
	local before sent

	served 64 100mbit 400
	before=$(stat cnp_sent)
	sleep 0.1
	sent=$(($(stat cnp_sent) - before))
	note "without a budget to speak of: $sent CNPs in 100 ms"
	check "one every T1" "$sent" -le $((64 * 340))
	check "at least half" "$sent" -ge $((64 * 150))
	tc -n sw qdisc change dev p1 root handle 10: iqcn cnp-rate 1000 cnp-burst 10
	before=$(stat cnp_sent)
	sleep 0.1
	sent=$(($(stat cnp_sent) - before))
	note "with 1000 a second: $sent CNPs in 100 ms"
	check "the budget holds" "$sent" -le 125
	check "counted" "$(stat cnp_budget)" -ge 10000
	unload
}

# A host marks all it sends.  It fills the port, so the queue is congested; who is
# not marked is not told for it.
test_ce_spoofed()
{
	topology bridge
	evil
	# shellcheck disable=SC2086
	iqcn $CONGESTED base cnp detect queue,run
	pair_flow
	# snd's flow is told no more once it is calm
	sleep 0.1
	sniff snd --type cnp --time 60
	as_snd --tos 3 --count 3000 --interval 10 --qp 0x99 --len 512 &
	data --tos 2 --count 30 --interval 1000 --psn 200 --len 512
	wait
	check "CE" "$(stat ce_sent)" -ge 3000
	check "congested" "$(stat state_changes)" -ge 2
	check "CNPs" "$(grep -c . "$TMP/snd")" -eq 0
}

# RoCEv2 packets for the box, and in its name
test_box_itself()
{
	topology router
	# shellcheck disable=SC2086
	iqcn $CONGESTED base cnp detect queue
	pair_flow
	# in the box's own name, from either side, and for it
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
	check_eq "the flow that was there" "$(grade)" "psn $SQP"
}

# What Documentation/security.rst tells those to do who do not trust their hosts
test_source_guard()
{
	topology bridge
	evil
	iqcn
	tc -n sw -batch - <<-EOF
		qdisc add dev p2 clsact
		filter add dev p2 ingress protocol ip pref 1 flower src_ip 10.1.0.3 action pass
		filter add dev p2 ingress protocol ip pref 2 matchall action drop
		filter add dev p2 ingress protocol ipv6 pref 3 matchall action drop
	EOF
	as_snd --tos 3 --len 64 --count 10
	as_snd -6 --tos 3 --len 64 --count 10
	as_rcv --type cnp --qp $SQP --count 10
	check "flows in others' names" "$(stat flow_new)" -eq 0
	packets snd/e1 $EVIL_MAC $RCV_MAC 10.1.0.3 "$rcv4" fd01::3 "$rcv6" \
		--tos 3 --len 64
	check "in its own" "$(stat flow_new)" -eq 1
}

run_tests
