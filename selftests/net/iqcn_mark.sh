#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Marking: only at the configured depths, on arrival or on departure, only ECT
# packets, never CNPs, on any header stack; and receivers accept the marked
# packets.

ALL_TESTS="
	test_bridge_none
	test_bridge_vlan
	test_bridge_qinq
	test_router_none
	test_router_vlan
	test_router_qinq
	test_probability
	test_probability_dequeue
	test_waits_for_dequeue
	test_nonect_drop
	test_limit
	test_cnp_reserve
	test_uncongested
	test_in_pieces
	test_in_pieces_dequeue
	test_shared
	test_sojourn
	test_gso
	test_gso_dequeue
"
NIGHTLY_TESTS="
	test_bridge_vlan test_router_none test_router_qinq
	test_probability_dequeue test_in_pieces_dequeue test_shared test_sojourn
	test_gso_dequeue
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# hold IQCN-PARAMETER...: set up a queue from which only the burst of tbf
# leaves; packets are marked on arrival by default
hold()
{
	case " $* " in
	*" mark-on "*) bottleneck 8kbit "$@" ;;
	*) bottleneck 8kbit mark-on enqueue "$@" ;;
	esac
}

# above LEN DEPTH: print how many of the queued packets, all of length LEN,
# found more than DEPTH bytes in the queue, or will leave more than DEPTH bytes
# behind
above()
{
	echo $(($(stat qlen) - $2 / $1 - 1))
}

# marking -6|"" LEN: check which packets of one IP version are marked on arrival
marking()
{
	local v=$1 len=$2 wanted

	hold kmin 20000 kmax 40000 pmax 0
	sniff rcv --time 200
	# shellcheck disable=SC2086
	data $v --tos 2 --count 60
	wanted=$(above "$len" 40000)
	check "packets above kmax" "$wanted" -gt 5
	counted "$wanted 0" ecn_mark ce_in

	# shellcheck disable=SC2086
	{
		data $v --tos 1 --count 3 --qp 0x21
		data $v --tos 0 --count 4 --qp 0x22
		data $v --tos 3 --count 5 --qp 0x23
		data $v --type cnp --count 6 --qp 0x24
		data $v --type udp --tos 2 --count 2
	}
	# ECT(1) and UDP are marked, too
	counted "$((wanted + 5)) 5" ecn_mark ce_in
	# the box itself may send a few packets that are not ECT
	check "not ECT" "$(stat not_ect)" -ge 4
	release
	wait
	check_eq "CE at the receiver, from ECT(1), not ECT, CNPs, broken" "$(awk '
	/qp 0x000011 .* ce / { ce++ }
	/qp 0x000021 .* ce / { ect1++ }
	/qp 0x000022 .* not-ect / { not_ect++ }
	/cnp .* ect0 / { cnp++ }
	/icrc bad|csum bad/ { bad++ }
	END { print ce + 0, ect1 + 0, not_ect + 0, cnp + 0, bad + 0 }' \
		"$TMP/rcv")" "$wanted 3 4 6 0"
	tc -n sw qdisc del dev p1 root
}

# leaving -6|"" LEN: check which of the same packets are marked on departure.
# The ECT(0) packets of the flow are at the end of the queue.
leaving()
{
	local v=$1 len=$2 wanted

	hold kmin 20000 kmax 40000 pmax 0 mark-on dequeue
	# use up the burst of tbf
	data --type udp --tos 0 --count 8
	sniff rcv --time 200
	# shellcheck disable=SC2086
	{
		data $v --tos 1 --count 3 --qp 0x21
		data $v --tos 0 --count 4 --qp 0x22
		data $v --tos 3 --count 5 --qp 0x23
		data $v --type cnp --count 6 --qp 0x24
		data $v --type udp --tos 2 --count 2
		data $v --tos 2 --count 60
	}
	# one more packet arrives to release the others
	wanted=$((60 - (40000 - 1082) / len - 1))
	check "packets above kmax" "$wanted" -gt 5
	counted "0 5 0" ecn_mark ce_in not_ect
	release
	wait
	counted "$((wanted + 5)) 5" ecn_mark ce_in
	check "not ECT" "$(stat not_ect)" -ge 4
	check "CE packets sent" "$(stat ce_sent)" -eq $((wanted + 3 + 5))
	check_eq "CE, behind ECT(0), from ECT(1), not ECT, CNPs, bad" "$(awk '
	/qp 0x000011 .* ce / { ce++; late += plain > 0 }
	/qp 0x000011 .* ect0 / { plain++ }
	/qp 0x000021 .* ce / { ect1++ }
	/qp 0x000022 .* not-ect / { not_ect++ }
	/cnp .* ect0 / { cnp++ }
	/icrc bad|csum bad/ { bad++ }
	END { print ce + 0, late + 0, ect1 + 0, not_ect + 0, cnp + 0, bad + 0 }' \
		"$TMP/rcv")" "$wanted 0 3 4 6 0"
	tc -n sw qdisc del dev p1 root
}

stack()
{
	topology "$1" "$2"
	marking "" "$3"
	marking -6 $(($3 + 20))
	leaving "" "$3"
	leaving -6 $(($3 + 20))
}

# 1082: Ethernet, IPv4, UDP, BTH, 1024 bytes, ICRC; a tag in the skb's metadata
# does not count
test_bridge_none() { stack bridge none 1082; }
test_bridge_vlan() { stack bridge vlan 1082; }
test_bridge_qinq() { stack bridge qinq 1086; }
test_router_none() { stack router none 1082; }
test_router_vlan() { stack router vlan 1082; }
test_router_qinq() { stack router qinq 1082; }

# near_probability MARKS: check that MARKS is within 4 sigma of the sum of p
# over the depths that the packets find, or leave behind
near_probability()
{
	local got=$1 want

	want=$(awk 'BEGIN {
		for (i = 0; i < 992; i++) {
			d = i * 1082
			if (d <= 100000) p = 0
			else if (d <= 1000000) p = 0.5 * (d - 100000) / 900000
			else p = 1
			m += p; v += p * (1 - p)
		}
		s = 4 * sqrt(v)
		printf "%d %d", m - s, m + s
	}')
	check "marks between kmin and kmax" "$got" -ge "${want% *}"
	check "marks between kmin and kmax" "$got" -le "${want#* }"
}

test_probability()
{
	topology bridge
	hold kmin 100000 kmax 1000000 pmax 0.5
	data --count 1000
	near_probability "$(stat ecn_mark)"
}

test_probability_dequeue()
{
	topology bridge
	hold kmin 100000 kmax 1000000 pmax 0.5 mark-on dequeue
	data --count 1000
	counted 0 ecn_mark
	sniff rcv --time 200
	release
	wait
	near_probability "$(stat ecn_mark)"
	check "CE at the receiver" "$(grep -c ' ce ' "$TMP/rcv")" -eq \
		"$(stat ecn_mark)"
}

# Packets that wait to be marked on departure remain unmarked if kmin is raised
# or mark-on changes to enqueue
test_waits_for_dequeue()
{
	topology bridge
	hold kmin 1000 kmax 2000 mark-on dequeue
	data --count 50
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn kmin 1m kmax 2m
	sniff rcv --time 100
	release
	wait
	check "packets received" "$(grep -c 'qp 0x000011 ' "$TMP/rcv")" -ge 40
	counted "0 0" ecn_mark ce_sent

	hold kmin 1000 kmax 2000 mark-on dequeue
	data --count 50
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn mark-on enqueue
	data --count 5
	counted 5 ecn_mark
	release
	counted "5 5" ecn_mark ce_sent
}

test_nonect_drop()
{
	topology bridge
	hold kmin 20000 kmax 40000 pmax 0 nonect drop
	data --tos 0 --count 60
	check "not_ect_drop" "$(stat not_ect_drop)" -gt 5
	check "not_ect" "$(stat not_ect)" -eq "$(stat not_ect_drop)"
	check "backlog near kmax" "$(stat backlog)" -le 41082
	check "drops" "$(stat drops)" -eq "$(stat not_ect_drop)"
	data --type cnp --count 1 --tos 0xc0
	check "not_ect after a CNP" "$(stat not_ect)" -eq \
		"$(stat not_ect_drop)"
	check "drops after a CNP" "$(stat drops)" -eq "$(stat not_ect_drop)"
}

test_limit()
{
	topology bridge
	hold limit 50000 kmin 20000 kmax 40000
	data --count 100
	check "backlog within the limit" "$(stat backlog)" -le 50000
	check "backlog of a full queue" "$(stat backlog)" -gt 48900
	check "drop_overlimit" "$(stat drop_overlimit)" -eq "$(stat drops)"
	check "dropped or queued" "$(($(stat drops) + $(stat qlen)))" -ge 91
	check "peak depth" "$(stat depth_peak_bytes)" -eq "$(stat backlog)"
	hold limit 1
	data --count 3
	check "packets queued with limit 1" "$(stat qlen)" -eq 0
	check "packets dropped with limit 1" "$(stat drop_overlimit)" -gt 0
}

test_cnp_reserve()
{
	local full

	topology bridge
	hold limit 20000 kmin 1000 kmax 2000
	data --count 40
	full=$(stat drop_overlimit)
	data --type cnp --count 5
	check "dropped after CNPs" "$(stat drop_overlimit)" -eq "$full"
	data --type cnp --count 500
	check "dropped after many CNPs" "$(stat drop_overlimit)" -gt "$full"
	check "limit and reserve" "$(stat backlog)" -le $((20000 + 16384))
}

test_uncongested()
{
	topology bridge
	iqcn kmin 100000 kmax 400000
	sniff rcv --time 60
	data --count 50
	data -6 --count 50
	wait
	check "packets received" "$(grep -c data "$TMP/rcv")" -eq 100
	check "CE received" "$(grep -c ' ce ' "$TMP/rcv")" -eq 0
	check "packets marked" "$(stat ecn_mark)" -eq 0
	check "flows made" "$(stat flow_new)" -eq 0
	check "peak depth" "$(stat depth_peak_bytes)" -eq 0
}

# A packet socket's frames of more than a page have their headers in a fragment
in_pieces()
{
	topology bridge qinq
	hold kmin 1000 kmax 2000 mark-on "$1"
	sniff rcv --time 100
	data --len 4096 --count 10
	data -6 --len 4096 --count 10
	data --len 4096 --count 5 --tos 3 --qp 0x12
	check "CE on arrival" "$(stat ce_in)" -eq 5
	release
	wait
	check "packets marked" "$(stat ecn_mark)" -ge 17
	check "flows" "$(stat flows)" -eq 3
	check "CE at the receiver" "$(grep -c ' ce ' "$TMP/rcv")" -ge 22
	check "broken by marking" \
		"$(grep -Ec 'icrc bad|csum bad' "$TMP/rcv")" -eq 0
}

test_in_pieces() { in_pieces enqueue; }
test_in_pieces_dequeue() { in_pieces dequeue; }

# pktgen keeps a reference to what it sends, so the header is shared and must
# not change. The rate is higher than elsewhere, because pktgen waits until the
# last packet has left.
test_shared()
{
	if ! modprobe -q pktgen; then
		skip "no pktgen in this kernel"
		return
	fi
	ip -batch - <<-EOF
		netns add sw
		link add p1 netns sw type dummy
	EOF
	ip -n sw link set p1 up
	bottleneck 1mbit limit 1m kmin 1000 kmax 2000 mark-on enqueue
	in_ns sw bash -c '
		cd /proc/net/pktgen
		echo add_device p1 >kpktgend_0
		for word in "xmit_mode queue_xmit" "count 100" "pkt_size 300" "tos 02" \
			"dst 10.1.0.9" "udp_dst_min 4791" "udp_dst_max 4791"; do
			echo "$word" >p1
		done
		echo start >pgctrl
		echo rem_device_all >kpktgend_0'
	rmmod pktgen
	check "unmarkable" "$(stat unmarkable)" -ge 20
	check "packets marked" "$(stat ecn_mark)" -eq 0
	check "packets dropped" "$(stat drops)" -eq 0
}

# gso enqueue|dequeue: check that GSO packets are marked on enqueue or on
# dequeue, with other packets before them and, on dequeue, also behind them
gso()
{
	local on=$1

	topology bridge
	addresses snd
	ip -n snd neigh add $RCV4 lladdr $RCV_MAC dev e0
	ip -n snd neigh add $RCV6 lladdr $RCV_MAC dev e0
	# segment after the qdisc, so that the receiver captures segments
	in_ns sw ethtool -K p1 tx off >/dev/null
	hold kmin 1000 kmax 2000 mark-on "$on"
	sniff rcv --time 100
	data --count 12 --qp 0x31
	data --gso 8 --sport 4000 --len 1000
	data -6 --gso 8 --sport 4000 --len 1000
	[ "$on" = enqueue ] || data --count 5 --qp 0x31
	release
	wait
	check "packets marked" "$(stat ecn_mark)" -ge 2
	check "segments with CE" \
		"$(grep -c 'qp 0x000011 .* ce ' "$TMP/rcv")" -eq 16
	check "ce_sent, by segment" "$(stat ce_sent)" -ge 16
	# the ICRC covers the IPv4 id, which the stack chooses: check IPv6
	check "bad ICRC" "$(grep -c ' fd01.* icrc bad' "$TMP/rcv")" -eq 0
	check "broken by marking" \
		"$(grep -c 'csum bad' "$TMP/rcv")" -eq 0
}

# standing MARK-ON: check the measured delays of a queue that keeps its depth,
# because packets arrive as fast as they leave. All packets then wait as long as
# the queue takes to drain.
standing()
{
	local len=1000 wait_ns

	bottleneck 8mbit kmin 1000 kmax 2000 mark-on "$1"
	data --type udp --tos 0 --count 8 --len $len
	# a frame of 1000 bytes takes a millisecond to leave
	data --tos 2 --count 12 --len 942
	data --tos 2 --count 400 --len 942 --interval 1000
	check_eq "marked bytes" "$(stat marked_bytes)" \
		$(($(stat ecn_mark) * len))
	wait_ns=$(($(stat backlog) * 1000))
	check "packets that wait" "$(stat qlen)" -gt 5
	check "measured packets" "$(stat delay_samples)" -ge 20
	check "average delay" "$(stat delay_avg_ns)" -ge $((wait_ns * 9 / 10))
	check "average delay" "$(stat delay_avg_ns)" -le $((wait_ns * 11 / 10))
	check "sum" "$(stat delay_sum_ns)" -ge \
		$(($(stat delay_samples) * wait_ns * 9 / 10))
	check "peak delay" "$(stat delay_peak_ns)" -ge "$(stat delay_avg_ns)"
	check "peak delay" "$(stat delay_peak_ns)" -le $((wait_ns * 12 / 10))
	tc -n sw qdisc del dev p1 root
}

test_sojourn()
{
	topology bridge
	standing enqueue
	standing dequeue
}

test_gso() { gso enqueue; }
test_gso_dequeue() { gso dequeue; }

run_tests
