#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Generated CNPs are sent when they are due and not before, only with good
# reason, and apart from their source MAC address are byte for byte what the
# receiver would send, on any header stack.
#
# In most tests, packets arrive as CE, one per millisecond, and the bandwidth is
# set below their rate, so the queue is congested without a backlog and times
# are exact. T1 counts from CE packets and CNPs here (base both);
# iqcn_trigger.sh has the other bases.

ALL_TESTS="
	test_bridge_none
	test_bridge_vlan
	test_bridge_qinq
	test_router_none
	test_router_vlan
	test_router_qinq
	test_fields
	test_learned_sport
	test_forgotten_sport
	test_echoed_sport
	test_real_queue
	test_receiver_restarts
	test_receiver_answers
	test_receiver_fast_enough
	test_waits
	test_idle
	test_state_ends
	test_unpaired
	test_not_congested
	test_detect_depth
	test_notify_off
	test_budget
	test_change_t1
	test_not_taken_for_real
	test_bad_icrc
	test_udp_socket
	test_tcpdump
	test_limit_of_flows
	test_age
"
NIGHTLY_TESTS="
	test_bridge_vlan test_router_none test_router_qinq test_forgotten_sport
	test_echoed_sport test_receiver_restarts test_idle test_state_ends
	test_detect_depth test_notify_off test_not_taken_for_real
	test_udp_socket test_tcpdump
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

SQP=$((0x800011))	# the sender's QP for the default DestQP 0x11 of "data"
CONGESTED="bandwidth 4mbit t1 300us detect queue base both"

# stream [data argument...]: send 12 CE packets, one per ms
stream()
{
	data --tos 3 --count 12 --interval 1000 "$@"
}

# exact [T1-US]: check that each CNP follows a CE packet after T1, or up to a
# microsecond later
exact()
{
	local t1_ns=${1:-300}000

	check_eq "ns from CE to CNP" "$(gaps_ns | awk -v t1=$t1_ns \
		'$1 < t1 || $1 > t1 + 1000' | tr '\n' ' ')" ""
}

# notified -6|"": check the CNPs of one IP version on the current topology
notified()
{
	local v=$1 want got n from=$rcv4

	[ -z "$v" ] || from=$rcv6

	iqcn $CONGESTED
	# shellcheck disable=SC2086
	pair_flow $v
	check "flows paired" "$(stat flows_paired)" -eq 1
	sniff snd --type cnp --hex --time 60
	sniff rcv --type data --time 60
	listener sniff sw/p1 p1 --type cnp --hex --time 60
	# shellcheck disable=SC2086
	stream $v
	wait
	n=$(grep -c . "$TMP/snd")
	check "CNPs" "$n" -ge 10
	check "CNPs" "$n" -le 12
	virtual_time && exact
	check "cnp_sent" "$(stat cnp_sent)" -ge "$n"

	# on the port, the CNP is the receiver's except for its source MAC
	# address
	# shellcheck disable=SC2086
	want=$(vlan_args=("${vlan_args[@]/%:3/:6}") &&
		reply $v --type cnp --qp $SQP --smac "$(port_mac)" --hex)
	got=$(sed 's/.* hex //' "$TMP/p1" | sort -u)
	check_eq "CNP on the port" "$got" "$want"
	# the sender accepts it: addresses, QP, ICRC
	check "CNPs that the sender accepts" "$(grep -c \
		"cnp $from > .* qp 0x800011 .* icrc ok csum ok" \
		"$TMP/snd")" -eq "$n"
	if [ $kind = bridge ]; then
		got=$(sed 's/.* hex //' "$TMP/snd" | sort -u)
		check_eq "CNP at the sender" "$got" "$want"
	fi
	tc -n sw qdisc del dev p1 root
}

stack()
{
	topology "$1" "$2"
	notified
	notified -6
}

test_bridge_none() { stack bridge none; }
test_bridge_vlan() { stack bridge vlan; }
test_bridge_qinq() { stack bridge qinq; }
test_router_none() { stack router none; }
test_router_vlan() { stack router vlan; }
test_router_qinq() { stack router qinq; }

test_fields()
{
	local want

	topology bridge vlan
	# shellcheck disable=SC2086
	iqcn $CONGESTED cnp-dscp 26 cnp-pcp 5 cnp-ttl 9
	pair_flow --pkey 0x8001
	sniff snd --type cnp --hex --time 60
	stream --pkey 0x8001
	wait
	want=$(vlan_args=("${vlan_args[@]/%:3/:5}") &&
		reply --type cnp --qp $SQP --tos $((26 << 2 | 2)) --ttl 9 \
			--pkey 0x8001 --smac "$(port_mac)" --hex)
	check_eq "CNP" "$(sed 's/.* hex //' "$TMP/snd" | sort -u)" "$want"
}

# A CNP for a wrong QP comes first. Once the flow is paired with the right QP,
# the source port of that CNP is not used any more.
test_forgotten_sport()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	data --tos 3 --count 1 --len 64
	reply --type cnp --qp 0x800077 --sport 54321
	check_eq "paired by the CNP" \
		"$(flows | awk '$4 == "0x000011" { print $5, $6 }')" "0x800077 cnp"
	pair_flow
	check_eq "paired by PSNs" \
		"$(flows | awk '$4 == "0x000011" { print $5, $6 }')" "0x800011 psn"
	sniff snd --type cnp --time 60
	stream
	wait
	check "CNPs" "$(grep -c ' qp 0x800011 ' "$TMP/snd")" -ge 10
	check "CNPs with the port of the other QP" \
		"$(grep -c ' sport 54321 ' "$TMP/snd")" -eq 0
}

# The receiver's CNPs have another source port than its other packets
test_learned_sport()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	reply --type cnp --qp $SQP --sport 0xc001
	sniff snd --type cnp --hex --time 60
	stream
	wait
	check_eq "CNP" "$(sed 's/.* hex //' "$TMP/snd" | sort -u)" \
		"$(reply --type cnp --qp $SQP --sport 0xc001 \
			--smac "$(port_mac)" --hex)"
}

# wrong_sports: print the CNPs in $TMP/snd whose source port is not that of the
# last data packet before them in $TMP/rcv
wrong_sports()
{
	awk '
	{
		t = substr($1, 7) + 0
		for (i = 1; $i != "sport"; i++)
			;
	}
	FNR == NR { at[++n] = t; sport[n] = $(i + 1); next }
	{
		port = $(i + 1)
		for (i = n; i && at[i] > t; i--)
			;
		if (!i || port != sport[i])
			print
	}' "$TMP/rcv" "$TMP/snd"
}

# With cnp-sport echo, a CNP of the timer has the source port of the last CE
# packet, with any header stack
test_echoed_sport()
{
	local tags v

	for tags in none vlan qinq; do
		topology bridge $tags
		# shellcheck disable=SC2086
		iqcn $CONGESTED cnp-sport echo
		for v in "" -6; do
			# shellcheck disable=SC2086
			pair_flow $v
			sniff snd --type cnp --time 60
			sniff rcv --type data --time 60
			stream $v --psn 1000 --sport 50000 --spray 12
			wait
			check "CNPs, $tags $v" "$(grep -c "" "$TMP/snd")" -ge 8
			check "valid CNPs" "$(grep -c "icrc ok csum ok" \
				"$TMP/snd")" -eq "$(grep -c "" "$TMP/snd")"
			check "data, $tags $v" "$(grep -c "" "$TMP/rcv")" -eq 12
			check_eq "wrong source ports, $tags $v" \
				"$(wrong_sports)" ""
		done
		check "flows" "$(stat flows)" -eq 2
		check "contradicted" "$(stat contradicted)" -eq 0
		cleanup
	done
}

# The queue is slower than the stream: packets of the flow leave a millisecond
# apart and others wait, so a CNP is due every T1 between two of them
test_real_queue()
{
	topology bridge
	# mark on arrival, so that the last packets are CE, too
	bottleneck 8656kbit kmin 3000 kmax 4000 mark-on enqueue t1 300us \
		detect queue base both
	pair_flow
	sniff snd --type cnp --time 100
	sniff rcv --type data --time 100
	data --count 60
	wait
	check "CE" "$(grep -c ' ce ' "$TMP/rcv")" -gt 40
	check "changes of the queue" "$(stat state_changes)" -ge 1
	check "RoCE rate" "$(stat roce_bps)" -gt 8400000
	check "RoCE rate" "$(stat roce_bps)" -lt 8900000
	check "CNPs, three per CE packet" "$(grep -c . "$TMP/snd")" -gt 120
	virtual_time && check_eq "gaps" \
		"$(gaps | grep -vxE '30[01]|60[0-2]|90[0-3]' |
		   tr '\n' ' ')" ""
	check "flows congested in the end" "$(stat flows_congested)" -eq 0
}

# The receiver's CNP comes 200 us after each CE packet: CNPs are due 300 and 600
# us after that CNP
test_receiver_restarts()
{
	topology bridge
	bottleneck 8656kbit kmin 3000 kmax 4000 mark-on enqueue t1 300us \
		detect queue base both
	pair_flow
	sniff snd --type cnp --time 100
	sniff rcv --type data --time 100
	np --time 100 --ack 0 --cnp 1 --delay 200
	data --count 60
	wait
	check "CNPs seen" "$(stat cnp_seen)" -gt 40
	virtual_time && check_eq "gaps" \
		"$(gaps | tail -n +9 | grep -vxE '20[01]|50[0-2]|80[0-3]' |
		   tr '\n' ' ')" ""
	check "CNPs in between" "$(gaps | grep -cxE '50[0-2]')" -gt 30
}

# The receiver's CNPs come every 100 us, more often than T1
test_receiver_fast_enough()
{
	local before

	topology bridge
	bottleneck 86560kbit kmin 3000 kmax 4000 t1 300us detect queue base both
	pair_flow
	np --time 100 --ack 0 --cnp 100
	data --count 200
	before=$(stat cnp_sent)
	wait
	# one CNP per packet or per two packets, depending on the clock
	check "CNPs seen" "$(stat cnp_seen)" -gt 90
	check "changes of the queue" "$(stat state_changes)" -ge 1
	# the box sends one CNP at the end, because the receiver does not answer
	# the last packets
	check "CNPs sent" "$(stat cnp_sent)" -le $((before + 1))
}

# A sparse flow without queued packets: its receiver answers each packet with a
# CNP. T1 after that CNP the sender would speed up, so the box sends another
# CNP, but only one per packet.
test_receiver_answers()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	sniff snd --type cnp --time 60
	sniff rcv --type data --time 60
	np --time 60 --ack 0 --cnp 1 --delay 50
	stream
	wait
	check "CNPs seen" "$(stat cnp_seen)" -ge 10
	virtual_time && check_eq "gaps" \
		"$(gaps | grep -vxE '5[01]|35[0-2]' | tr '\n' ' ')" ""
	check "CNPs, one per packet" "$(gaps | grep -cxE '35[0-2]')" -ge 10
	check "CNPs sent" "$(stat cnp_sent)" -le 12
}

# T1 begins when a CE packet leaves: a packet whose flow was not active before
# waits in a congested queue for 50 ms, and causes no CNP meanwhile. The CNP is
# sent T1 after the packet has left, in virtual time at most a step of the clock
# later. In real time it may be up to 50 ms late, because an emulated machine
# may be slow.
test_waits()
{
	local us latest=50000 before=240

	# in real time the queue must not drain before the next process starts
	virtual_time && latest=301 before=60
	topology bridge
	bottleneck 8656kbit kmin 3000 kmax 4000 mark-on enqueue t1 300us \
		detect depth base both limit 1m
	pair_flow
	# wait until the deadlines that pair_flow has started have expired
	sleep 0.25
	sniff snd --type cnp --time 150
	sniff rcv --type data --time 150
	data --qp 0x99 --count $before
	data
	data --qp 0x99 --count 20
	wait
	check "packets of the flow with CE" \
		"$(grep -c ' qp 0x000011 .* ce ' "$TMP/rcv")" -eq 1
	us=$(awk '
	FILENAME ~ /rcv$/ {
		t = substr($1, 7) + 0
		if (!first)
			first = t
		if (/ qp 0x000011 /)
			left = t
		next
	}
	/ qp 0x800011 / && !n++ {
		us = int((substr($1, 7) - left) / 1000)
		print (left - first > 50000000 ? us : 0)
	}' "$TMP/rcv" "$TMP/snd")
	check "us from its departure, after 50 ms, to the first CNP" \
		"${us:-0}" -ge 300
	check "us from its departure to the first CNP" "${us:-0}" -le $latest
}

test_idle()
{
	local sent

	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	stream
	sleep 0.001
	sent=$(stat cnp_sent)
	check "cnp_sent" "$sent" -ge 10
	sniff snd --type cnp --time 50
	wait
	check "CNPs while idle" "$(grep -c . "$TMP/snd")" -eq 0
	check "cnp_sent while idle" "$(stat cnp_sent)" -eq "$sent"
}

test_state_ends()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	stream
	check_eq "at the end of the stream" "$(stat congested)" '"queue"'
	sleep 0.02
	check_eq "20 ms later" "$(stat congested)" ""
	check "CE rate without packets" "$(stat ce_rate_bps)" -eq 0
	check "changes, odd" $(($(stat state_changes) % 2)) -eq 0
	# a deadline far in the future does not prolong the congestion
	tc -n sw qdisc change dev p1 root handle 10: iqcn t1 1s
	stream
	check_eq "at the end of another stream" "$(stat congested)" '"queue"'
	sleep 0.02
	check_eq "20 ms after that" "$(stat congested)" ""
}

test_unpaired()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	sniff snd --type cnp --time 60
	stream
	wait
	check "CNPs" "$(grep -c . "$TMP/snd")" -eq 0
	check "cnp_unpaired" "$(stat cnp_unpaired)" -ge 9
	check "flows" "$(stat flows)" -eq 1
	check "flows paired" "$(stat flows_paired)" -eq 0
	check_eq "debugfs" "$(flows | awk 'NR == 2 { print $5, $6 }')" \
		"- none"
}

test_not_congested()
{
	topology bridge
	iqcn bandwidth 1gbit t1 300us
	pair_flow
	sniff snd --type cnp --time 60
	stream
	wait
	check "CNPs" "$(grep -c . "$TMP/snd")" -eq 0
	check "CE packets" "$(stat ce_sent)" -eq 16
	check "state changes" "$(stat state_changes)" -eq 0
}

test_detect_depth()
{
	topology bridge
	bottleneck 8656kbit kmin 3000 kmax 6000 detect depth bandwidth 1tbit
	pair_flow
	sniff snd --type cnp --time 60
	data --count 30
	sleep 0.01
	check_eq "congested while deep" "$(stat congested)" '"depth"'
	wait
	check "CNPs" "$(grep -c . "$TMP/snd")" -gt 20
	check_eq "congested in the end" "$(stat congested)" ""
	check "changes of the queue" "$(stat state_changes)" -eq 2
}

test_notify_off()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED notify off
	pair_flow
	sniff snd --type cnp --time 60
	stream
	wait
	check "CNPs" "$(grep -c . "$TMP/snd")" -eq 0
	check "CE packets" "$(stat ce_sent)" -eq 16
	check "changes of the queue" "$(stat state_changes)" -ge 1
}

# CNPs for 60 flows are due in every millisecond; the budget allows 5 CNPs per
# 10 ms, and a burst of two
test_budget()
{
	topology bridge
	iqcn bandwidth 40mbit t1 300us cnp-rate 500 cnp-burst 2
	np --time 60 --ack 1
	data --flows 60 --tos 3 --count 240 --interval 16.666 --len 64
	wait
	check "flows paired" "$(stat flows_paired)" -eq 60
	sniff snd --type cnp --time 80
	data --flows 60 --tos 3 --count 1200 --interval 16.666 --psn 5000
	wait
	check "CNPs in 20 ms" "$(grep -c . "$TMP/snd")" -ge 9
	check "CNPs in 20 ms" "$(grep -c . "$TMP/snd")" -le 13
	check "cnp_budget" "$(stat cnp_budget)" -gt 500
}

test_change_t1()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	tc -n sw qdisc change dev p1 root handle 10: iqcn t1 500us
	sniff snd --type cnp --time 60
	sniff rcv --type data --time 60
	stream
	wait
	check "CNPs" "$(grep -c . "$TMP/snd")" -ge 10
	virtual_time && exact 500
	check "flows made" "$(stat flow_new)" -eq 1
}

test_not_taken_for_real()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	stream
	sleep 0.01
	check "cnp_sent" "$(stat cnp_sent)" -ge 10
	check "cnp_seen" "$(stat cnp_seen)" -eq 0
	check "port_cnp_unmatched" "$(stat port_cnp_unmatched)" -eq 0
}

# A CNP that the sender would drop is not counted as seen
test_bad_icrc()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	reply --type cnp --qp $SQP --bad icrc --count 3
	check "cnp_seen" "$(stat cnp_seen)" -eq 0
	check "malformed" "$(stat port_malformed)" -eq 3
	reply --type cnp --qp $SQP
	check "cnp_seen after an intact one" "$(stat cnp_seen)" -eq 1
	reply --type cnp --qp 0x123456
	check "port_cnp_unmatched" "$(stat port_cnp_unmatched)" -eq 1
}

test_udp_socket()
{
	topology router
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	pair_flow -6
	addresses snd
	"$ROCE" listen snd/$SND4 --count 5 --time 1000 >"$TMP/udp4" &
	"$ROCE" listen snd/$SND6 --count 5 --time 1000 >"$TMP/udp6" &
	sleep 0.02
	stream
	stream -6
	wait
	check "over IPv4" \
		"$(grep -c 'opcode 0x81 qp 0x800011 len 32' "$TMP/udp4")" -eq 5
	check "over IPv6" \
		"$(grep -c 'opcode 0x81 qp 0x800011 len 32' "$TMP/udp6")" -eq 5
}

test_tcpdump()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $CONGESTED
	pair_flow
	in_ns snd timeout 5 tcpdump -Z root --immediate-mode -n -i e0 -c 3 \
		"src $rcv4 and udp dst port 4791 and udp[8] = 0x81" \
		>"$TMP/tcpdump" 2>/dev/null &
	sleep 1
	stream
	wait
	check "in tcpdump" \
		"$(grep -c '10.1.0.2.0 > 10.1.0.1.4791: UDP, length 32' \
			"$TMP/tcpdump")" -eq 3
}

test_limit_of_flows()
{
	topology bridge
	iqcn flows 10
	data --tos 3 --flows 25 --count 25
	check "flows" "$(stat flows)" -eq 10
	check "flows evicted" "$(stat flow_evicted)" -eq 15
	check_eq "oldest flow left" \
		"$(flows | awk 'NR > 1 { print $4 }' | sort | head -n 1)" \
		"0x000020"
	tc -n sw qdisc change dev p1 root handle 10: iqcn flows 4
	check "flows after a lower limit" "$(stat flows)" -eq 4
	check "flows in sysfs" "$(value flows)" -eq 4
}

test_age()
{
	topology bridge
	iqcn age 200ms
	data --tos 3 --flows 5 --count 5
	sleep 0.1
	data --tos 3 --flows 2 --count 2
	sleep 0.15
	check "flows aged" "$(stat flow_aged)" -eq 3
	check "flows left" "$(stat flows)" -eq 2
	sleep 0.2
	check "flows in the end" "$(stat flows)" -eq 0
	check "flows_unassured in the end" "$(value flows_unassured)" -eq 0

	# the queue's flow cache has no removed flow either
	data --tos 3 --flows 5 --count 5
	check "flows made" "$(stat flow_new)" -eq 10
	check "flows" "$(stat flows)" -eq 5
}

run_tests
