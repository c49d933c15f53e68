#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Pairing: the four grades of evidence for the sender's QP, which of them
# override others, and what is no evidence.

ALL_TESTS="
	test_psn
	test_cm
	test_psn_wrap
	test_psn_few_are_not_enough
	test_psn_same_is_not_enough
	test_psn_ambiguous
	test_psn_unmarked_evidence
	test_psn_last_of_message
	test_psn_read_response
	test_psn_not_an_echo
	test_psn_stale
	test_psn_of_a_long_fiber
	test_cm_active_receiver
	test_cm_disconnect
	test_cm_forgotten
	test_cm_short
	test_cnp
	test_cnp_two_flows
	test_cnp_contradicted
	test_sport_verbs
	test_sport_rxe
	test_better_overrides
	test_grade_holds_back
	test_sprayed_psn
	test_sprayed_out_of_order
	test_sprayed_echoed
	test_sport_changed
	test_sprayed_unmarked
	test_sprayed_rival
	test_sprayed_cnp
	test_sprayed_sport
	test_sprayed_forged
	test_sprayed_ends
	test_sprayed_cm
	test_psn_by_another_path
	test_vlan_tells_apart
	test_hosts_tell_apart
"
NIGHTLY_TESTS="
	test_psn_few_are_not_enough test_psn_same_is_not_enough
	test_psn_unmarked_evidence test_psn_last_of_message
	test_psn_read_response test_psn_stale test_psn_of_a_long_fiber
	test_cm_forgotten test_cm_short test_cnp_two_flows test_sport_rxe
	test_grade_holds_back test_sprayed_echoed test_sprayed_unmarked
	test_sprayed_rival test_sprayed_sport test_sprayed_ends test_sprayed_cm
	test_psn_by_another_path
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

QP=0x11 SQP=0x800011
CONGESTED="bandwidth 1mbit t1 300us"

# grade [DEST_QP]: print "pair src_qp" of a flow
grade()
{
	flows | awk -v qp="${1:-0x000011}" '$4 == qp { print $6, $5 }'
}

ce()
{
	data --tos 3 --len 64 "$@"
}

ack()
{
	reply --type ack --qp $SQP "$@"
}

fresh()
{
	topology bridge "${1:-none}"
	# shellcheck disable=SC2086
	iqcn $CONGESTED
}

test_psn()
{
	fresh
	ce --psn 100 --count 4
	ack --psn 100 --count 4
	check_eq "pairing" "$(grade)" "psn 0x800011"
	check "pairings made" "$(stat paired)" -eq 1
	check "flows_unassured" "$(value flows_unassured)" -eq 0
}

test_psn_wrap()
{
	fresh
	ce --psn 0xfffffe --count 4
	ack --psn 0xfffffe --count 4
	check_eq "pairing" "$(grade)" "psn 0x800011"
}

# Four ACKs in a row are needed
test_psn_few_are_not_enough()
{
	fresh
	ce --psn 100 --count 8
	ack --psn 100 --count 3
	check_eq "three in a row" "$(grade)" "none -"
	ack --psn 103 --qp 0x800012
	ack --psn 104 --count 3
	check_eq "three after another QP" "$(grade)" "none -"
	ack --psn 107
	check_eq "four in a row" "$(grade)" "psn 0x800011"
}

test_psn_same_is_not_enough()
{
	fresh
	ce --psn 100 --count 2
	for _ in 1 2 3 4 5; do
		ack --psn 100
	done
	check_eq "one PSN" "$(grade)" "none -"
	for _ in 1 2 3 4 5; do
		ack --psn 101
		ack --psn 100
	done
	check_eq "two PSNs" "$(grade)" "none -"
}

# Two flows have packets with these PSNs, so an ACK is evidence for neither
test_psn_ambiguous()
{
	fresh
	ce --psn 100 --count 8
	ce --psn 100 --count 4 --qp 0x12
	ack --psn 100 --count 4
	check_eq "PSNs of both flows" "$(grade)$(grade 0x000012)" "none -none -"
	ack --psn 104 --count 4
	check_eq "PSNs of one flow" "$(grade)" "psn 0x800011"
}

# unmarked: set up a queue that keeps its packets until "release", and marks
# none
unmarked()
{
	topology bridge
	bottleneck 8kbit kmin 1000 kmax 1g pmax 0
	data --tos 0 --type udp --count 20
}

# Packets of flow 0x12 are not CE, but have the same PSNs as the CE packets of
# flow 0x11. The ACKs are for flow 0x12, so they do not pair flow 0x11.
test_psn_unmarked_evidence()
{
	unmarked
	ce --psn 100 --count 8
	data --len 64 --psn 100 --count 6 --qp 0x12
	release
	reply --type ack --psn 100 --count 6 --qp 0x800012
	check_eq "ACKs for 0x12" "$(grade)" "none -"
	ce --psn 200 --count 4
	ack --psn 200 --count 4
	check_eq "ACKs for its own PSNs" "$(grade)" "psn 0x800011"
}

# Only the last packet of each message of 12 is acknowledged, and it is not CE,
# because it leaves an empty queue behind
test_psn_last_of_message()
{
	local i

	topology bridge
	bottleneck 86560kbit kmin 1000 kmax 2000
	np --time 120 --ack 12
	for i in 0 1 2 3 4 5; do
		data --count 12 --psn $((100 + i * 12))
		sleep 0.01
	done
	wait
	check "packets marked" "$(stat ecn_mark)" -ge 6
	check "flows paired" "$(stat flows_paired)" -eq 1
}

# READ responses are data, but nothing echoes their PSNs
test_psn_read_response()
{
	fresh
	ce --psn 100 --count 4 --opcode 0x0e
	ack --psn 100 --count 4
	check_eq "ACKs after READ responses" "$(grade)" "none -"
	check "flows" "$(stat flows)" -eq 1
}

# The receiver's own data has its own PSNs
test_psn_not_an_echo()
{
	fresh
	ce --psn 100 --count 4
	reply --psn 100 --count 4 --qp $SQP
	check_eq "PSNs of the receiver's data" "$(grade)" "none -"
	ack --psn 92 --count 4
	check_eq "PSNs that were not CE" "$(grade)" "none -"
}

test_psn_stale()
{
	fresh
	ce --psn 100 --count 4
	ce --psn 20000 --count 1
	ack --psn 100 --count 4
	check_eq "PSNs of long ago" "$(grade)" "none -"
}

# cm_ports: iqcn on both ports, so that the messages of both sides are parsed
cm_ports()
{
	topology "$1" "$2"
	# shellcheck disable=SC2086
	iqcn $CONGESTED pair cm
	tc -n sw qdisc replace dev p0 root handle 10: iqcn
}

# A connection setup pairs a flow before its MAC addresses are known, even in
# the first second after boot
test_cm()
{
	local kind

	# timers are coarse until the first tick
	sleep 0.1
	for kind in bridge router; do
		cm_ports $kind vlan
		data --type req --cm-local 7 --cm-qp $SQP
		reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
		sniff snd --type cnp --time 60
		ce --count 12 --interval 1000
		check_eq "pairing" "$(grade)" \
			"cm 0x800011"
		wait
		check "CNPs" "$(grep -c 'qp 0x800011' "$TMP/snd")" -ge 8
		cleanup
	done
}

# Connections are forgotten when the last qdisc is deleted, because the box
# would miss their end, and when snoop changes, because their ports are then
# unknown
test_cm_forgotten()
{
	cm_ports bridge none
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	tc -n sw qdisc del dev p1 root
	# shellcheck disable=SC2086
	iqcn $CONGESTED pair cm
	ce --count 1
	check_eq "after all qdiscs but one" "$(grade)" "cm 0x800011"
	tc -n sw qdisc del dev p1 root
	tc -n sw qdisc del dev p0 root
	# shellcheck disable=SC2086
	iqcn $CONGESTED pair cm
	ce --count 1
	check_eq "after the last qdisc" "$(grade)" "none -"
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	iqcn snoop netns
	ce --count 1
	check_eq "after a change of snoop" "$(grade)" "none -"
}

# At 100 Gb/s, the round trip of a fiber of 1,000 km is 30,500 packets of 4,096
# bytes: an ACK for a PSN that is 30,000 behind counts as an echo only with
# "fiber"
test_psn_of_a_long_fiber()
{
	topology bridge
	iqcn bandwidth 100gbit t1 300us
	ce --psn 100 --count 4
	ce --psn 30100
	ack --psn 100 --count 4
	check_eq "without fiber" "$(grade)" "none -"
	tc -n sw qdisc change dev p1 root handle 10: iqcn fiber 1000km
	ce --psn 100 --count 4
	ce --psn 30100
	ack --psn 100 --count 4
	check_eq "with fiber" "$(grade)" "psn $SQP"
	# the table shrinks again
	tc -n sw qdisc change dev p1 root handle 10: iqcn fiber none
	ce --qp 0x12 --psn 100 --count 4
	ce --qp 0x12 --psn 30100
	ack --qp 0x800012 --psn 100 --count 4
	check_eq "fiber none" "$(grade 0x000012)" "none -"
}

# The receiver of the data sets up the connection, after the flow was created
test_cm_active_receiver()
{
	cm_ports bridge none
	ce --count 1
	check_eq "before the setup" "$(grade)" "none -"
	reply --type req --cm-local 7 --cm-qp $QP
	data --type rep --cm-local 9 --cm-remote 7 --cm-qp $SQP
	check_eq "after the setup" "$(grade)" "cm 0x800011"
	# the other direction is paired, too
	reply --tos 3 --qp $SQP
	check_eq "the way back" "$(awk '$4 == "0x800011" { print $6, $5 }' \
		"/sys/kernel/debug/iqcn/$(netns_inum sw)/p0/flows")" \
		"cm 0x000011"
}

test_cm_disconnect()
{
	cm_ports bridge none
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	data --type dreq --cm-local 7 --cm-remote 9 --cm-qp $QP
	ce --count 1
	check_eq "after a DREQ" "$(grade)" "none -"
	data --type req --cm-local 17 --cm-qp $SQP
	reply --type rep --cm-local 19 --cm-remote 17 --cm-qp $QP
	check_eq "after a new setup" "$(grade)" "cm 0x800011"
	reply --type dreq --cm-local 19 --cm-remote 17 --cm-qp $SQP
	check_eq "after a DREQ of the receiver" "$(grade)" "none -"
	reply --type rep --cm-local 9 --cm-remote 8 --cm-qp $QP
	check_eq "a REP without its REQ" "$(grade)" "none -"
}

# A message that exceeds its UDP packet is ignored
test_cm_short()
{
	cm_ports bridge none
	data --type req --cm-local 7 --cm-qp $SQP --bad udpshort
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	ce --count 1
	check_eq "short REQ" "$(grade)" "none -"
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP --bad udpshort
	check_eq "short REP" "$(grade)" "none -"
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	check_eq "complete messages" "$(grade)" "cm 0x800011"
}

test_cnp()
{
	fresh
	ce --count 1
	reply --type cnp --qp $SQP
	check_eq "pairing" "$(grade)" "cnp 0x800011"
	check "cnp_seen" "$(stat cnp_seen)" -eq 1
	check "flows_unassured" "$(value flows_unassured)" -eq 1
}

test_cnp_two_flows()
{
	fresh
	ce --flows 2 --count 2
	reply --type cnp --qp $SQP
	check_eq "CNP for either" "$(grade)$(grade 0x000012)" "none -none -"
	check "port_cnp_unmatched" "$(stat port_cnp_unmatched)" -eq 1
}

test_cnp_contradicted()
{
	fresh
	ce --count 1
	reply --type cnp --qp $SQP
	reply --type cnp --qp 0x800099
	check_eq "after CNPs for two QPs" "$(grade)" "none -"
	check "contradicted" "$(stat contradicted)" -eq 1
}

# The low 14 bits of the source port are lqpn * rqpn, folded to 20 bits, and
# then to 14 bits; the two high bits are set
test_sport_verbs()
{
	local v fl sport

	fresh
	v=$(((QP * SQP)))
	v=$((v ^ v >> 20))
	v=$((v ^ v >> 40))
	fl=$((v & 0xfffff))
	sport=$(((fl & 0x3fff) ^ ((fl & 0xfc000) >> 14) | 0xc000))
	tc -n sw qdisc change dev p1 root handle 10: iqcn pair sport
	ce --count 1 --sport $sport
	ack --psn 7 --sport $((sport ^ 1))
	check_eq "another source port" "$(grade)" "none -"
	ack --psn 7 --sport $sport
	check_eq "pairing" "$(grade)" "sport 0x800011"
}

test_sport_rxe()
{
	local s t

	fresh
	s=$((0xc000 + ((SQP * 0x61C88647 & 0xffffffff) >> 18)))
	t=$((0xc000 + ((QP * 0x61C88647 & 0xffffffff) >> 18)))
	tc -n sw qdisc change dev p1 root handle 10: iqcn pair sport
	ce --count 1 --sport $s
	ack --psn 7 --sport $s
	check_eq "port of the wrong direction" "$(grade)" "none -"
	ack --psn 7 --sport $t
	check_eq "pairing" "$(grade)" "sport 0x800011"
}

test_better_overrides()
{
	cm_ports bridge none
	ce --psn 100 --count 4
	reply --type cnp --qp 0x800077
	check_eq "by a CNP" "$(grade)" "cnp 0x800077"
	ack --psn 100 --count 4
	check_eq "by PSN echoes after that" "$(grade)" "psn 0x800011"
	reply --type cnp --qp 0x800077
	check_eq "by another CNP" "$(grade)" "psn 0x800011"
	data --type req --cm-local 7 --cm-qp 0x800055
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	check_eq "by a connection setup" "$(grade)" "cm 0x800055"
}

test_grade_holds_back()
{
	fresh
	ce --count 1
	reply --type cnp --qp $SQP
	check_eq "by a CNP" "$(grade)" "cnp 0x800011"
	sniff snd --type cnp --time 60
	ce --count 12 --interval 1000 --psn 5000
	wait
	check "CNPs with pair psn" "$(grep -c . "$TMP/snd")" -eq 0
	check "cnp_unpaired" "$(stat cnp_unpaired)" -ge 8
	tc -n sw qdisc change dev p1 root handle 10: iqcn pair cnp
	check "flows paired with pair cnp" "$(stat flows_paired)" -eq 1
	sniff snd --type cnp --time 60
	ce --count 12 --interval 1000 --psn 6000
	wait
	check "CNPs with pair cnp" "$(grep -c . "$TMP/snd")" -ge 8
}

# list FLOWS FROM COUNT: print a --list of PSNs that the flows send in turn
list()
{
	local i out=""

	for ((i = 0; i < $3; i++)); do
		out+=,$((i % $1)):$(($2 + i))
	done
	echo "${out#,}"
}

# The source port changes: the flow remains one flow, and pairing needs 64
# echoes
test_sprayed_psn()
{
	fresh
	ce --psn 100 --count 80 --spray 8
	check "flows" "$(stat flows)" -eq 1
	ack --psn 100 --count 63
	check_eq "63 echoes" "$(grade)" "none -"
	ack --psn 163
	check_eq "64 echoes" "$(grade)" "psn 0x800011"
	ce --psn 180 --count 80 --spray 8 --sport 0xd000
	ack --psn 180 --count 80
	check_eq "after more ports" "$(grade)" "psn 0x800011"
	check "pairings made" "$(stat paired)" -eq 1
	check "contradicted" "$(stat contradicted)" -eq 0
}

# The last packet that passes through this box does not have the highest PSN of
# the flow, and responses overtake one another
test_sprayed_out_of_order()
{
	local psn swapped=""

	fresh
	ce --psn 300 --count 140 --spray 8
	ce --psn 100 --count 1
	for ((psn = 300; psn < 440; psn += 2)); do
		swapped+=,$((psn + 1)),$psn
	done
	ack --list "${swapped#,}"
	check_eq "pairing" "$(grade)" "psn 0x800011"
	check "contradicted" "$(stat contradicted)" -eq 0
}

# With cnp-sport echo, the source port is recorded earlier, but changes of the
# port still count
test_sprayed_echoed()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED cnp-sport echo
	ce --psn 100 --count 80 --spray 8
	ack --psn 100 --count 63
	check_eq "63 echoes" "$(grade)" "none -"
	ack --psn 163
	check_eq "64 echoes" "$(grade)" "psn 0x800011"
}

# One change of the source port is not spraying, however many packets have the
# new port
test_sport_changed()
{
	topology bridge
	bottleneck 8kbit kmin 1000 kmax 1g pmax 0 cnp-sport echo
	# the burst of tbf lets this packet leave at once
	ce --psn 100 --sport 50000
	data --tos 0 --type udp --count 20
	data --len 64 --psn 101 --count 20 --sport 50001
	ce --psn 121 --sport 50001
	release
	ack --psn 118 --count 4
	check_eq "4 echoes" "$(grade)" "psn 0x800011"
}

# Other source ports are also detected in packets that are not CE
test_sprayed_unmarked()
{
	unmarked
	ce --psn 100 --count 1
	data --len 64 --psn 101 --count 63 --spray 8
	release
	ack --psn 100 --count 63
	check_eq "63 echoes" "$(grade)" "none -"
	# the last packet that left with CE has PSN 100
	ack --psn 163
	check_eq "64 echoes" "$(grade)" "psn 0x800011"
}

# Two flows have the same PSNs. Different parts of the flows leave by this box,
# and all responses to one flow return by this box. They look like responses to
# both.
test_sprayed_rival()
{
	local psns

	psns=$(list 2 1000 300)
	fresh
	ce --list "$psns" --spray 7
	check "flows" "$(stat flows)" -eq 2
	ack --psn 1000 --count 300 --qp 0x800012
	check_eq "echoes to one QP" "$(grade), $(grade 0x000012)" \
		"none -, none -"
	check "contradicted" "$(stat contradicted)" -eq 0
	# the PSNs drift apart
	ce --psn 5000 --count 64 --spray 7
	ce --psn 7000 --count 64 --spray 7 --qp 0x12
	ack --psn 5000 --count 64
	ack --psn 7000 --count 64 --qp 0x800012
	check_eq "PSNs of one flow" "$(grade), $(grade 0x000012)" \
		"psn 0x800011, psn 0x800012"
	check "contradicted in the end" "$(stat contradicted)" -eq 0
}

# A CNP that is the only evidence may be for a flow whose packets left by
# another box. It counts no more once the sender is known to spray.
test_sprayed_cnp()
{
	fresh
	ce --count 1
	reply --type cnp --qp 0x800012
	check_eq "before another source port" "$(grade)" "cnp 0x800012"
	ce --psn 101 --sport 0xc124
	ce --psn 102
	check_eq "after two changes of the source port" "$(grade)" "cnp 0x800012"
	ce --psn 103 --sport 0xc124
	check_eq "after three" "$(grade)" "none -"
	reply --type cnp --qp 0x800012
	reply --type cnp --qp $SQP
	check_eq "by a CNP" "$(grade)" "none -"
	check "contradicted" "$(stat contradicted)" -eq 0
	check "flows" "$(stat flows)" -eq 1
}

# A source port that fits the QPs is no evidence once the sender is known to
# spray, because it may fit by chance
test_sprayed_sport()
{
	local s t

	fresh
	s=$((0xc000 + ((SQP * 0x61C88647 & 0xffffffff) >> 18)))
	t=$((0xc000 + ((QP * 0x61C88647 & 0xffffffff) >> 18)))
	tc -n sw qdisc change dev p1 root handle 10: iqcn pair sport
	ce --count 1 --sport $s
	ack --psn 7 --sport $t
	check_eq "one source port" "$(grade)" "sport 0x800011"
	ce --psn 101 --sport $((s ^ 1))
	ce --psn 102 --sport $s
	check_eq "two changes" "$(grade)" "sport 0x800011"
	ce --psn 103 --sport $((s ^ 1))
	check_eq "three changes" "$(grade)" "none -"
	ack --psn 7 --sport $t
	check_eq "another response" "$(grade)" "none -"
	check "contradicted" "$(stat contradicted)" -eq 0
}

# A third host forges one packet, so the port changes twice. 11 s later the port
# of another flow of the sender changes once. The box does not take this for
# spraying: four echoes suffice.
test_sprayed_forged()
{
	fresh
	ce --psn 100
	ce --psn 101 --sport 0xd000
	ce --psn 102 --count 2
	ack --psn 100 --count 4
	check_eq "4 echoes" "$(grade)" "psn 0x800011"
	sleep 11
	ce --psn 200 --count 2 --qp 0x12
	ce --psn 202 --count 2 --qp 0x12 --sport 0xd000
	ack --psn 200 --count 4 --qp 0x800012
	check_eq "4 echoes of another flow" "$(grade 0x000012)" "psn 0x800012"
}

# The sender stops spraying: after 10 s without a change of the source port, its
# flows no longer need 64 echoes
test_sprayed_ends()
{
	fresh
	tc -n sw qdisc change dev p1 root handle 10: iqcn age 60s
	ce --psn 100 --count 8 --spray 8
	ack --psn 100 --count 8
	check_eq "8 echoes" "$(grade)" "none -"
	sleep 9
	ce --psn 108
	ack --psn 108
	check_eq "9 echoes" "$(grade)" "none -"
	sleep 11
	ce --psn 109 --count 4
	ack --psn 109
	check_eq "10 echoes" "$(grade)" "psn 0x800011"
}

# A connection setup pairs sprayed flows, too
test_sprayed_cm()
{
	cm_ports bridge none
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	ce --psn 100 --count 80 --spray 8
	ack --psn 100 --count 80 --qp 0x800012
	check_eq "pairing" "$(grade)" "cm 0x800011"
	check "contradicted" "$(stat contradicted)" -eq 0
}

# The packets of a paired flow begin to take another path. Responses to them are
# no evidence for a flow that has the same PSNs here.
test_psn_by_another_path()
{
	fresh
	ce --psn 100 --count 4
	ack --psn 100 --count 4
	check_eq "first flow" "$(grade)" "psn 0x800011"
	ce --psn 500 --count 8 --qp 0x12
	ack --psn 500 --count 8
	check_eq "both flows" "$(grade), $(grade 0x000012)" \
		"psn 0x800011, none -"
	check "contradicted" "$(stat contradicted)" -eq 0
	ack --psn 500 --count 4 --qp 0x800012
	check_eq "second flow" "$(grade 0x000012)" "psn 0x800012"
}

# The same addresses and QPs on two VLANs are two flows
test_vlan_tells_apart()
{
	fresh vlan
	pair_flow
	vlan_args=(--vlan 300)
	ce --count 1 --psn 9000
	check "flows" "$(stat flows)" -eq 2
	check "flows paired" "$(stat flows_paired)" -eq 1
	reply --type cnp --qp $SQP
	check_eq "VLAN 300" "$(flows | awk '$3 == "300.0" { print $6 }')" \
		"cnp"
}

# Flows that differ only in the high words of the addresses remain distinct,
# although a queue compares the low words first
test_hosts_tell_apart()
{
	local n

	fresh
	for n in 1 2; do
		ce -6 --count 1 --psn $((100 * n))
		ce -6 --count 1 --psn $((100 * n)) --src fd09::1
		ce -6 --count 1 --psn $((100 * n)) --dst fd09::2
	done
	check "flows made" "$(stat flow_new)" -eq 3
	check_eq "hosts of flows" \
		"$(flows | awk '!/^#/ { print $1, $2 }' | sort | paste -sd ,)" \
		"fd01::1 fd01::2,fd01::1 fd09::2,fd09::1 fd01::2"
}

run_tests
