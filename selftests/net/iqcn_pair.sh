#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Pairing: the four grades of evidence for the sender's QP, what overrides
# what, and what is no evidence.

ALL_TESTS="
	test_psn
	test_cm
	test_psn_wrap
	test_psn_few_are_not_enough
	test_psn_same_is_not_enough
	test_psn_ambiguous
	test_psn_unmarked_witness
	test_psn_last_of_message
	test_psn_read_response
	test_psn_not_an_echo
	test_psn_stale
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
	test_vlan_tells_apart
	test_hosts_tell_apart
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

QP=0x11 SQP=0x800011
CONGESTED="bandwidth 1mbit t1 300us"

# grade [DEST_QP]: "pair src_qp" of a flow
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
	check_eq "paired" "$(grade)" "psn 0x800011"
	check "counted" "$(stat paired)" -eq 1
	check "settled" "$(value flows_unsettled)" -eq 0
}

test_psn_wrap()
{
	fresh
	ce --psn 0xfffffe --count 4
	ack --psn 0xfffffe --count 4
	check_eq "paired" "$(grade)" "psn 0x800011"
}

# Four in a row
test_psn_few_are_not_enough()
{
	fresh
	ce --psn 100 --count 8
	ack --psn 100 --count 3
	check_eq "not yet" "$(grade)" "none -"
	ack --psn 103 --qp 0x800012
	ack --psn 104 --count 3
	check_eq "another QP between" "$(grade)" "none -"
	ack --psn 107
	check_eq "but now" "$(grade)" "psn 0x800011"
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
	check_eq "not yet" "$(grade)" "none -"
}

# Two QPs had packets with these PSNs: whose ACKs are they?
test_psn_ambiguous()
{
	fresh
	ce --psn 100 --count 8
	ce --psn 100 --count 4 --qp 0x12
	ack --psn 100 --count 4
	check_eq "neither" "$(grade)$(grade 0x000012)" "none -none -"
	ack --psn 104 --count 4
	check_eq "what only one had" "$(grade)" "psn 0x800011"
}

# Flow 0x12 is not marked, but its packets have these PSNs too, and it is 0x12
# that is answered
test_psn_unmarked_witness()
{
	topology bridge
	bottleneck 8kbit kmin 1000 kmax 1g pmax 0
	data --tos 0 --type udp --count 20
	ce --psn 100 --count 8
	data --len 64 --psn 100 --count 6 --qp 0x12
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 1gbit burst 1m \
		limit 1g
	data --tos 0 --type udp
	reply --type ack --psn 100 --count 6 --qp 0x800012
	check_eq "not of 0x12" "$(grade)" "none -"
	ce --psn 200 --count 4
	ack --psn 200 --count 4
	check_eq "but its own" "$(grade)" "psn 0x800011"
}

# Of each message of 12 packets the last is answered alone, and is not CE: it leaves an
# empty queue behind
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
	check "marked" "$(stat ecn_mark)" -ge 6
	check "paired" "$(stat flows_paired)" -eq 1
}

# READ responses are data, but no response ever has their PSN
test_psn_read_response()
{
	fresh
	ce --psn 100 --count 4 --opcode 0x0e
	ack --psn 100 --count 4
	check_eq "not echoed" "$(grade)" "none -"
	check "but a flow" "$(stat flows)" -eq 1
}

# The receiver's own data has PSNs of its own
test_psn_not_an_echo()
{
	fresh
	ce --psn 100 --count 4
	reply --psn 100 --count 4 --qp $SQP
	check_eq "data" "$(grade)" "none -"
	ack --psn 92 --count 4
	check_eq "PSNs that were not CE" "$(grade)" "none -"
}

test_psn_stale()
{
	fresh
	ce --psn 100 --count 4
	ce --psn 20000 --count 1
	ack --psn 100 --count 4
	check_eq "too long ago" "$(grade)" "none -"
}

# iqcn on both ports, so that both sides' messages come in on one of them
cm_ports()
{
	topology "$1" "$2"
	# shellcheck disable=SC2086
	iqcn $CONGESTED pair cm
	tc -n sw qdisc replace dev p0 root handle 10: iqcn
}

# Paired before it has a MAC, in the first second since the machine booted
test_cm()
{
	local kind

	# timers have no resolution before
	sleep 0.1
	for kind in bridge router; do
		cm_ports $kind vlan
		data --type req --cm-local 7 --cm-qp $SQP
		reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
		sniff snd --type cnp --time 60
		ce --count 12 --interval 1000
		check_eq "paired from the first packet on" "$(grade)" \
			"cm 0x800011"
		wait
		check "CNPs" "$(grep -c 'qp 0x800011' "$TMP/snd")" -ge 8
		cleanup
	done
}

# When the last qdisc goes nobody sees any more which connections end; and with other
# places to look at it is not known where they were seen
test_cm_forgotten()
{
	cm_ports bridge none
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	tc -n sw qdisc del dev p1 root
	# shellcheck disable=SC2086
	iqcn $CONGESTED pair cm
	ce --count 1
	check_eq "one qdisc is still there" "$(grade)" "cm 0x800011"
	tc -n sw qdisc del dev p1 root
	tc -n sw qdisc del dev p0 root
	# shellcheck disable=SC2086
	iqcn $CONGESTED pair cm
	ce --count 1
	check_eq "after the last one" "$(grade)" "none -"
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	iqcn snoop netns
	ce --count 1
	check_eq "after another place" "$(grade)" "none -"
}

# The receiver of the data has set the connection up; the flow is there already
test_cm_active_receiver()
{
	cm_ports bridge none
	ce --count 1
	check_eq "before" "$(grade)" "none -"
	reply --type req --cm-local 7 --cm-qp $QP
	data --type rep --cm-local 9 --cm-remote 7 --cm-qp $SQP
	check_eq "after" "$(grade)" "cm 0x800011"
	# and the other direction
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
	check_eq "taken down" "$(grade)" "none -"
	data --type req --cm-local 17 --cm-qp $SQP
	reply --type rep --cm-local 19 --cm-remote 17 --cm-qp $QP
	check_eq "made anew" "$(grade)" "cm 0x800011"
	reply --type dreq --cm-local 19 --cm-remote 17 --cm-qp $SQP
	check_eq "taken down by the other" "$(grade)" "none -"
	reply --type rep --cm-local 9 --cm-remote 8 --cm-qp $QP
	check_eq "a REP without its REQ" "$(grade)" "none -"
}

# What lies behind the end of a UDP packet is no message
test_cm_short()
{
	cm_ports bridge none
	data --type req --cm-local 7 --cm-qp $SQP --bad udpshort
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	ce --count 1
	check_eq "no REQ" "$(grade)" "none -"
	data --type req --cm-local 7 --cm-qp $SQP
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP --bad udpshort
	check_eq "no REP" "$(grade)" "none -"
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	check_eq "both" "$(grade)" "cm 0x800011"
}

test_cnp()
{
	fresh
	ce --count 1
	reply --type cnp --qp $SQP
	check_eq "paired" "$(grade)" "cnp 0x800011"
	check "counted as this flow's" "$(stat cnp_seen)" -eq 1
	check "could do with better" "$(value flows_unsettled)" -eq 1
}

test_cnp_two_flows()
{
	fresh
	ce --flows 2 --count 2
	reply --type cnp --qp $SQP
	check_eq "whose?" "$(grade)$(grade 0x000012)" "none -none -"
	check "unmatched" "$(stat port_cnp_unmatched)" -eq 1
}

test_cnp_contradicted()
{
	fresh
	ce --count 1
	reply --type cnp --qp $SQP
	reply --type cnp --qp 0x800099
	check_eq "neither is believed" "$(grade)" "none -"
	check "counted" "$(stat contradicted)" -eq 1
}

# v = lqpn * rqpn, folded to 20 bits, those to 14
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
	check_eq "another port" "$(grade)" "none -"
	ack --psn 7 --sport $sport
	check_eq "paired" "$(grade)" "sport 0x800011"
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
	check_eq "the wrong way round" "$(grade)" "none -"
	ack --psn 7 --sport $t
	check_eq "paired" "$(grade)" "sport 0x800011"
}

test_better_overrides()
{
	cm_ports bridge none
	ce --psn 100 --count 4
	reply --type cnp --qp 0x800077
	check_eq "by a CNP" "$(grade)" "cnp 0x800077"
	ack --psn 100 --count 4
	check_eq "a PSN echo is better" "$(grade)" "psn 0x800011"
	reply --type cnp --qp 0x800077
	check_eq "a CNP is not" "$(grade)" "psn 0x800011"
	data --type req --cm-local 7 --cm-qp 0x800055
	reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
	check_eq "a connection set-up is" "$(grade)" "cm 0x800055"
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
	check "psn is asked for" "$(grep -c . "$TMP/snd")" -eq 0
	check "counted" "$(stat cnp_unpaired)" -ge 8
	tc -n sw qdisc change dev p1 root handle 10: iqcn pair cnp
	check "good enough now" "$(stat flows_paired)" -eq 1
	sniff snd --type cnp --time 60
	ce --count 12 --interval 1000 --psn 6000
	wait
	check "cnp is asked for" "$(grep -c . "$TMP/snd")" -ge 8
}

# The same addresses and QPs on two VLANs are two flows
test_vlan_tells_apart()
{
	fresh vlan
	pair_flow
	vlan_args=(--vlan 300)
	ce --count 1 --psn 9000
	check "flows" "$(stat flows)" -eq 2
	check "paired" "$(stat flows_paired)" -eq 1
	reply --type cnp --qp $SQP
	check_eq "on its own" "$(flows | awk '$3 == "300.0" { print $6 }')" \
		"cnp"
}

# Same QP, same low words of the addresses: by these a queue looks first
test_hosts_tell_apart()
{
	local n

	fresh
	for n in 1 2; do
		ce -6 --count 1 --psn $((100 * n))
		ce -6 --count 1 --psn $((100 * n)) --src fd09::1
		ce -6 --count 1 --psn $((100 * n)) --dst fd09::2
	done
	check "made" "$(stat flow_new)" -eq 3
	check_eq "by hosts" "$(flows | awk '!/^#/ { print $1, $2 }' | sort | paste -sd ,)" \
		"fd01::1 fd01::2,fd01::1 fd09::2,fd09::1 fd01::2"
}

run_tests
