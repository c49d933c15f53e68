#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test the senders of rocehost that spray their packets: selective repeat,
# recycled entropies, recovery by RTT and ECN, proportional cuts, the gate of
# congestion control, and messages that wait for a receive.

ALL_TESTS="
	test_packets
	test_packets_v6
	test_lost_packets
	test_full_window
	test_lost_ack
	test_reordered
	test_ack_of_4
	test_window
	test_ports
	test_first_ports
	test_pauses
	test_stopped
	test_two_paths
	test_ramp
	test_ramp_forbidden
	test_ratio
	test_gate
	test_gate_most
	test_cnp_of_path
	test_match
	test_match_at_once
	test_match_bdp
	test_lost_rts
	test_lost_rts_in_flight
	test_table
	test_words
	test_listed
	test_removed
	test_unload
"
NIGHTLY_TESTS="
	test_packets_v6 test_full_window test_lost_ack test_ack_of_4 test_ports
	test_first_ports test_pauses test_stopped test_two_paths
	test_ramp_forbidden test_ratio test_gate_most test_match_at_once
	test_match_bdp test_lost_rts_in_flight test_table test_removed
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/lib-rocehost.sh
. "$(dirname "$0")/lib-rocehost.sh"

host_words="transport sr"

# complete N: check that N messages are complete, and that no packet timed out
# or was sent again
complete()
{
	check "messages" "$(sum snd flows messages)" -eq "$1"
	check "timeouts" "$(sum snd flows timeouts)" -eq 0
	check "resent" "$(sum snd flows resent)" -eq 0
}

# drop NS WORDS: drop the packets that NS sends and that match the words of u32
drop()
{
	tc -n "$1" qdisc replace dev e0 clsact
	# shellcheck disable=SC2086
	tc -n "$1" filter add dev e0 egress protocol ip u32 $2 action drop
}

pass()
{
	tc -n "$1" qdisc del dev e0 clsact
}

# hex FROM LEN: print LEN bytes of $frame as a number
hex()
{
	echo $((16#${frame:$1 * 2:$2 * 2}))
}

# words of u32: BTH opcode, AETH syndrome, PSN
ack="match u8 0x11 0xff at 28"
rts="$ack match u8 0x41 0xff at 40"
psn()
{
	echo "match u8 0x11 0x00 at 28 match u32 $1 0x00ffffff at 36"
}

# headers L4: check the data in $TMP/rcv and the ACKs in $TMP/snd, with the UDP
# header at L4
headers()
{
	local line frame bth=$(($1 + 8)) at n sports=() stamps=() msg

	while read -r line; do
		frame=${line##* hex }
		at=$((bth + 12))
		case ${frame:bth * 2:2} in
		06 | 0a) at=$((at + 16)) ;;
		esac
		n=$(hex $((bth + 9)) 3)
		sports[n]=$(hex "$1" 2)
		stamps[n]=$(hex $at 8)
		msg=$(hex $((at + 8)) 4)
		# three packets per message, from PSN 0xfffffe on
		check "message of PSN $n" "$msg" -eq \
			$(((n + 2) % 0x1000000 / 3))
		check "port" "${sports[n]}" -ge 50000
		check "port" "${sports[n]}" -le 50007
		check "time stamp" "${stamps[n]}" -le "${line%% *}"
		check "time stamp" "${stamps[n]}" -ge $((${line%% *} - 1000000))
	done <"$TMP/rcv"
	while read -r line; do
		frame=${line##* hex }
		at=$((bth + 12 + 4))
		n=$(hex $((at + 1)) 3)
		check "CE" "$(hex $at 1)" -eq 0
		check "port of the ACK" "$(hex "$1" 2)" -eq "${sports[n]-0}"
		check "echoed time stamp" "$(hex $((at + 4)) 8)" -eq \
			"${stamps[n]-0}"
		unset "sports[n]"
	done <"$TMP/snd"
	check "packets without ACK" ${#sports[@]} -eq 0
}

# Data packets contain a time stamp and the message number after their other
# headers, and their port is in the flow's range.  ACKs echo the port and the
# time stamp.
test_packets()
{
	hosts "lb ops entropies 8" "ack 1"
	told snd "flow e0 to $RCV4 mtu 1024 size 3001 messages 2 psn 16777214 sport 50000 dscp 26"
	sniff rcv --type data --mono --hex --time 120
	sniff snd --type ack --hex --time 120
	run 20
	wait
	check_eq "PSNs" "$(grep -o 'psn [0-9]*' "$TMP/rcv" | tr '\n' ' ')" \
		"psn 16777214 psn 16777215 psn 0 psn 1 psn 2 psn 3 "
	check "correct ICRC" "$(grep -c 'icrc ok' "$TMP/rcv")" -eq 6
	# 12 bytes more than with rc
	check_eq "lengths" "$(grep -o 'len [0-9]*' "$TMP/rcv" | tr '\n' ' ')" \
		"len 1110 len 1094 len 1026 len 1110 len 1094 len 1026 "
	check "correct ICRC of ACKs" "$(grep -c 'icrc ok' "$TMP/snd")" -eq 6
	check "lengths of ACKs" "$(grep -c 'len 82 ' "$TMP/snd")" -eq 6
	headers 34
	complete 2
	unload
}

test_packets_v6()
{
	hosts6 "lb reps entropies 8" "ack 1"
	told snd "flow e0 to $RCV6 size 12288 messages 2 psn 16777214 sport 50000"
	sniff rcv --type data --mono --hex --time 120
	sniff snd --type ack --hex --time 120
	run 20
	wait
	check "correct ICRC" "$(grep -c 'icrc ok csum ok' "$TMP/rcv")" -eq 6
	check "correct ICRC of ACKs" \
		"$(grep -c 'icrc ok csum ok' "$TMP/snd")" -eq 6
	headers 54
	complete 2
	unload
}

# Two of 100 packets are lost, one of them the last packet of the message: only
# these two are sent again
test_lost_packets()
{
	local every

	for every in 1 4; do
		hosts "rto 300ms" "ack $every"
		told snd "flow e0 to $RCV4 mtu 1024 size 100k psn 1000"
		drop snd "$(psn 1007)"
		tc -n snd filter add dev e0 egress protocol ip u32 \
			match u32 1099 0x00ffffff at 36 action drop
		told snd "start for 600ms"
		sleep 0.1
		pass snd
		check "messages" "$(sum snd flows messages)" -eq 0
		sleep 0.6
		check "messages" "$(sum snd flows messages)" -eq 1
		check "packets" "$(sum snd flows packets)" -eq 102
		check "resent" "$(sum snd flows resent)" -eq 2
		check "timeouts" "$(sum snd flows timeouts)" -eq 2
		check "received" "$(sum rcv sinks packets)" -eq 100
		check "bytes" "$(sum rcv sinks bytes)" -eq 102400
		unload
		cleanup
	done
}

# The packet that fills the window of 2048 packets requests an ACK, because the
# receiver acknowledges few others.  If a packet is lost, the sender stops when
# the window is full.
test_full_window()
{
	hosts "rp off rto 10ms" "ack 60000"
	told snd "flow e0 to $RCV4 mtu 1024 $endless"
	run 20
	check "packets" "$(sum snd flows packets)" -ge 22000
	check "timeouts" "$(sum snd flows timeouts)" -eq 0
	unload
	cleanup

	hosts "rp off rto 300ms" "ack 4"
	told snd "flow e0 to $RCV4 mtu 1024 $endless psn 1000"
	drop snd "$(psn 1007)"
	told snd "start for 350ms"
	sleep 0.1
	pass snd
	check "packets" "$(sum snd flows packets)" -eq $((7 + 2048))
	sleep 0.4
	check "packets" "$(sum snd flows packets)" -ge 10000
	check "resent" "$(sum snd flows resent)" -eq 1
	check "timeouts" "$(sum snd flows timeouts)" -eq 1
	unload
}

# The ACK of the last packet is lost: the receiver acknowledges the duplicate,
# too
test_lost_ack()
{
	hosts "rto 300ms" "ack 1"
	told snd "flow e0 to $RCV4 size 4096"
	drop rcv "$ack"
	told snd "start for 600ms"
	sleep 0.1
	pass rcv
	sleep 0.6
	check "messages" "$(sum snd flows messages)" -eq 1
	check "resent" "$(sum snd flows resent)" -eq 1
	check "timeouts" "$(sum snd flows timeouts)" -eq 1
	check "duplicates" "$(sum rcv sinks out_of_order)" -eq 1
	check "bytes" "$(sum rcv sinks bytes)" -eq 4096
	unload
}

# disorder: print the number of packets in $TMP/rcv whose PSN is lower than that
# of the packet before
disorder()
{
	awk 'NR > 1 && $9 < last { n++ } { last = $9 } END { print +n }' \
		"$TMP/rcv"
}

# reordered SENDER-WORDS RECEIVER-WORDS: let packets arrive out of order, and
# check that none is sent again
reordered()
{
	hosts "rto 10ms $1" "$2"
	tc -n sw qdisc replace dev p1 root netem delay 200us 150us limit 10000
	told snd "flow e0 to $RCV4 mtu 1024 size 50k messages 40 psn 0"
	sniff rcv --type data --time 200
	run 100
	wait
	check "reordered" "$(disorder)" -ge 100
	check "bytes" "$(sum rcv sinks bytes)" -eq 2048000
	complete 40
	unload
}

test_reordered()
{
	reordered "" "ack 1"
}

# A receiver that acknowledges every 4th packet: the last packet of a message,
# which requests an ACK, may overtake others
test_ack_of_4()
{
	reordered "" "ack 4"
	cleanup
	reordered "base-rtt 20us" "ack 4"
}

# A window of 10 packets limits the packets in flight, and losses do not close
# it
test_window()
{
	hosts "rto 10ms rp off base-rtt 8100ns" "ack 4"
	tc -n sw qdisc replace dev p1 root tbf rate 1gbit burst 3k limit 6k
	told snd "flow e0 to $RCV4 mtu 1024 size 200k messages 10"
	run 900
	check "messages" "$(sum snd flows messages)" -eq 10
	check "resent" "$(sum snd flows resent)" -gt 0
	check "bytes" "$(sum rcv sinks bytes)" -eq 2048000
	unload
	cleanup

	hosts "rp off base-rtt 8100ns" "ack 1 delay 1ms"
	told snd "flow e0 to $RCV4 mtu 1024 $endless"
	sniff rcv --type data --time 100
	told snd "start for 1ms"
	sleep 0.1
	wait
	check "packets in the first RTT" "$(grep -c . "$TMP/rcv")" -eq 10
	unload
}

# ports: print the source ports of $TMP/rcv in the order of packets
ports()
{
	sed -n 's/.* sport \([0-9]*\) .*/\1/p' "$TMP/rcv"
}

# fixed uses one source port, and ops and reps use all 64
test_ports()
{
	local lb n

	for lb in fixed ops reps; do
		hosts "lb $lb entropies 64" "ack 1 delay 100us"
		told snd "flow e0 to $RCV4 mtu 1024 size 1000k sport 65500"
		sniff rcv --type data --time 150
		run 50
		wait
		n=$(ports | sort -u | wc -l)
		check "packets" "$(ports | wc -l)" -eq 1000
		case $lb in
		fixed) check_eq "$lb" "$(ports | sort -u)" 65500 ;;
		# the probability that a port is not used is 10^-7
		*) check "$lb" "$n" -eq 64 ;;
		esac
		# ports wrap from 0xffff to 0xc000
		check "ports beyond" "$(ports | awk '
		$1 < 65500 && $1 >= 49152 + 28 || $1 < 49152 { n++ }
		END { print +n }')" -eq 0
		complete 1
		unload
		cleanup
	done
}

# Before the first ACK all packets have different ports.  After it the sender
# reuses ports, and explores few new ones.
test_first_ports()
{
	hosts "lb reps" "ack 1 delay 100us"
	told snd "flow e0 to $RCV4 mtu 1024 size 1000k sport 50000"
	sniff rcv --type data --time 150
	run 50
	wait
	# 1,094 bytes every 875 ns: at least 113 packets in 100 us
	check_eq "the first ones" "$(ports | head -n 113 | paste -sd ' ')" \
		"$(seq -s ' ' 50000 50112)"
	check "all" "$(ports | sort -u | wc -l)" -le 130
	complete 1
	unload
}

# second: print the first 10 ports of the second message in $TMP/rcv
second()
{
	ports | tail -n +21 | head -n 10 | paste -sd ' '
}

# Two messages of 20 packets with a pause of 5 ms between them: a connection
# that is recurrent, or pauses for less than "expire", continues with the last 8
# entropies
test_pauses()
{
	local words

	for words in "" recurrent "expire 6ms" "expire 0"; do
		hosts "lb reps $words" "ack 1 delay 100us"
		told snd "flow e0 to $RCV4 mtu 1024 size 20k messages 2 every 5ms sport 50000"
		sniff rcv --type data --time 150
		run 50
		wait
		check_eq "${words:-first message}" \
			"$(ports | head -n 20 | paste -sd ' ')" \
			"$(seq -s ' ' 50000 50019)"
		case $words in
		recurrent | *6ms)
			check_eq "$words" "$(second)" \
				"$(seq -s ' ' 50012 50021)"
			;;
		*)
			check_eq "${words:-expired}" "$(second)" \
				"$(seq -s ' ' 50020 50029)"
			;;
		esac
		complete 2
		unload
		cleanup
	done
}

# A flow that has stopped frees the only slot of the host's pool of entropies
# for another flow. Without a slot, the other flow would use a new port for each
# of its packets.
test_stopped()
{
	hosts "lb reps reps-pool 1 expire 1s" "ack 1"
	told snd "flow e0 to $RCV4 mtu 1024 $endless rate 100mbit stop 10ms" \
		"flow e0 to $RCV4 mtu 1024 size 50k start 20ms rate 100mbit sport 50000"
	sniff rcv --type data --qp 0x800101 --time 150
	run 50
	wait
	check "packets" "$(ports | grep -c '^500')" -eq 50
	check "ports" "$(ports | grep '^500' | sort -u | wc -l)" -le 4
	unload
}

# paths SENDER-WORDS DELAY DELAY: create two switches and two wires between
# them; the hash of the ports selects the wire
paths()
{
	local i

	load
	ip -batch - <<-EOF
		netns add snd
		netns add sw
		netns add sw2
		netns add rcv
	EOF
	# multicast reports of IPv6 would count as packets of a path
	for i in sw sw2; do
		in_ns $i sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
	told snd "wire e0 p0 rate 10gbit"
	told rcv "wire e0 out rate 10gbit"
	told sw "wire a1 b1 rate 10gbit delay $2" "wire a2 b2 rate 10gbit delay $3"
	ip -n snd link set p0 netns sw
	ip -n rcv link set out netns sw2
	ip -n sw -batch - <<-EOF
		link set b1 netns sw2
		link set b2 netns sw2
		link set p0 up
		link set a1 up
		link set a2 up
	EOF
	ip -n sw2 -batch - <<-EOF
		link set out up
		link set b1 up
		link set b2 up
		addr add 10.3.1.2/24 dev b1
		addr add 10.3.2.2/24 dev b2
		route add 10.2.0.1 dev out
		neigh add 10.2.0.1 lladdr $(mac rcv e0) dev out
		neigh add 10.3.1.1 lladdr $(mac sw a1) dev b1
		neigh add 10.3.2.1 lladdr $(mac sw a2) dev b2
		route add 10.1.0.1 nexthop via 10.3.1.1 nexthop via 10.3.2.1
	EOF
	ip -n sw -batch - <<-EOF
		addr add 10.3.1.1/24 dev a1
		addr add 10.3.2.1/24 dev a2
		route add 10.1.0.1 dev p0
		neigh add 10.1.0.1 lladdr $(mac snd e0) dev p0
		neigh add 10.3.1.2 lladdr $(mac sw2 b1) dev a1
		neigh add 10.3.2.2 lladdr $(mac sw2 b2) dev a2
		route add 10.2.0.1 nexthop via 10.3.1.2 nexthop via 10.3.2.2
	EOF
	for i in sw sw2; do
		in_ns $i sysctl -qw net.ipv4.ip_forward=1 \
			net.ipv4.fib_multipath_hash_policy=1
	done
	ip -n snd link set e0 up
	ip -n rcv link set e0 up
	told snd "host e0 ip 10.1.0.1 via $(mac sw p0) rate 10gbit transport sr $1"
	told rcv "host e0 ip 10.2.0.1 via $(mac sw2 out) rate 10gbit ${rcv_words-ack 1}"
	sleep 0.05
}

leave()
{
	unload
	ip netns del sw2
}

# sent DEV: print the number of packets on a path
sent()
{
	in_ns sw awk -F, -v dev="$1" '$1 == dev { print $4 }' \
		/proc/net/rocehost/wires
}

# Two paths, one with 60 us more delay: all packets are accepted
test_two_paths()
{
	local lb

	for lb in fixed ops reps; do
		paths "lb $lb" 1us 61us
		told snd "flow e0 to 10.2.0.1 mtu 1024 size 1000k psn 0"
		sniff rcv --type data --time 50
		run 10
		wait
		note "$lb: $(sent a1) and $(sent a2) packets"
		if [ $lb = fixed ]; then
			check "unused paths" $(($(sent a1) && $(sent a2))) -eq 0
		else
			check "packets on a1" "$(sent a1)" -ge 50
			check "packets on a2" "$(sent a2)" -ge 50
			check "out of order" "$(disorder)" -ge 40
		fi
		complete 1
		leave
		cleanup
	done
}

# The rate doubles 7 times, from 100 Mb/s to 10 Gb/s
test_ramp()
{
	hosts "increase 1s ramp auto" "ack 1 delay 20us"
	told snd "flow e0 to $RCV4 mtu 1024 $endless rate 100mbit trace 20"
	run 5
	in_ns snd awk -F, '$5 == "raised" { print $6 }' \
		/proc/net/rocehost/trace | paste -sd ' ' >"$TMP/rates"
	check_eq "rates" "$(cat "$TMP/rates")" \
		"200000000 400000000 800000000 1600000000 3200000000 6400000000 10000000000"
	check "doubled" "$(sum snd flows doubled)" -eq 7
	check "raised" "$(sum snd flows raised)" -eq 7
	unload
}

# The rate does not double with an RTT that is too long, with CE, or without
# "ramp"
test_ramp_forbidden()
{
	local words ect

	for words in "ramp 19us" "ramp auto" ""; do
		ect=2
		[ "$words" != "ramp auto" ] || ect=3
		hosts "increase 1s $words" "ack 1 delay 20us cnp 1s"
		told snd "flow e0 to $RCV4 mtu 1024 $endless rate 100mbit ect $ect"
		run 5
		check "doubled, $words" "$(sum snd flows doubled)" -eq 0
		check "rate" "$(sum snd flows rate_bps)" -le 100000000
		unload
		cleanup
	done
}

# At a tenth of the line rate, the usual cut is half of the rate.  With "ratio"
# the cut is the floor, an eighth of the usual one.
test_ratio()
{
	local words

	for words in "" "ratio 1/8"; do
		hosts "rp paper increase 1s bytes 0 min 1mbit $words" \
			"ack 1 cnp 1s"
		told snd "flow e0 to $RCV4 mtu 1024 $endless rate 1gbit ect 3"
		run 5
		check "cuts" "$(sum snd flows cuts)" -eq 1
		check "rate${words:+, $words}" "$(sum snd flows rate_bps)" -eq \
			$((1000000000 - 500000000 / (${#words} ? 8 : 1)))
		unload
		cleanup
	done
}

# All packets have CE: the gate opens once enough of them have been
# acknowledged, or never
test_gate()
{
	local words

	# with a weight of 1/4, the averages after the first ACKs are 1/4, 7/16
	# and 37/64
	for words in "" "1/4 gate-above 1/2" "1/1 gate-above 1/1"; do
		hosts "increase 1s min 1mbit ${words:+gate-weight $words}" \
			"ack 1 cnp 0"
		told snd "flow e0 to $RCV4 mtu 1024 size 10k rate 100mbit ect 3"
		run 20
		check "CNPs" "$(sum snd flows cnps_np)" -eq 10
		case $words in
		"")
			check "gated" "$(sum snd flows gated)" -eq 0
			check "cuts" "$(sum snd flows cuts)" -eq 10
			;;
		1/4*)
			# an ACK comes before the CNP for the same packet
			check "gated" "$(sum snd flows gated)" -eq 2
			check "cuts" "$(sum snd flows cuts)" -eq 8
			;;
		*)
			check "gated" "$(sum snd flows gated)" -eq 10
			check "cuts" "$(sum snd flows cuts)" -eq 0
			;;
		esac
		unload
		cleanup
	done
}

# One of two paths is congested, then both: the rate is cut only if the paths of
# most entropies are congested. Each path is so slow that a tenth of the packets
# congests it, because the number of entropies that select it is random.
test_gate_most()
{
	local devs dev rcv_words="ack 1 cnp 4us"

	for devs in a1 "a1 a2"; do
		paths "lb ops entropies 16 gate-weight 1/4 gate-above 1/2 gate-most 14 increase 1s" \
			1us 1us
		for dev in $devs; do
			tc -n sw -batch - <<-EOF
				qdisc replace dev $dev root handle 1: tbf rate 500mbit burst 9k limit 100m
				qdisc replace dev $dev parent 1:1 iqcn kmin 1 kmax 1 mark-on enqueue notify off bandwidth 500mbit
			EOF
		done
		told snd "flow e0 to 10.2.0.1 mtu 1024 $endless rate 5gbit"
		run 5
		check "CNPs" "$(sum snd flows cnps_np)" -ge 20
		case $devs in
		a1)
			check "gated" "$(sum snd flows gated)" -eq \
				"$(sum snd flows cnps_np)"
			check "cuts" "$(sum snd flows cuts)" -eq 0
			;;
		*)
			check "gated" "$(sum snd flows gated)" -gt 0
			check "cuts" "$(sum snd flows cuts)" -gt 0
			;;
		esac
		leave
		cleanup
	done
}

# cnp PORT...: send CNPs of a congestion point with these ports, then capture
# data
cnp()
{
	local sport

	for sport; do
		reply --type cnp --qp 0x1234 --tos $((46 << 2)) --sport "$sport"
	done
	sniff rcv --type data --time 20
	wait
}

# After a CNP with a port of the flow, the flow does not use this path.  Port 0
# means an unknown path, and 50008 is not a port of the flow, whose ports are
# 65535 and 49152 to 49158.
test_cnp_of_path()
{
	hosts "lb reps entropies 8 recurrent cp-dscp 46 rp off qpn 4660" "ack 1"
	told snd "flow e0 to $RCV4 $endless rate 10mbit sport 65535"
	told snd "start for 600ms"
	sleep 0.1
	# a packet every 3.3 ms, whose ACK comes before the next one
	cnp 49153
	check_eq "port" "$(ports | sort -u)" 65535
	cnp 65535
	check_eq "port after its CNP" "$(ports | sort -u)" 49152
	cnp 0 50008
	check_eq "port after other CNPs" "$(ports | sort -u)" 49152
	check "CNPs" "$(sum snd flows cnps_cp)" -eq 4
	check "for another flow" "$(sum snd hosts cnps_wrong)" -eq 1
	unload
}

# Messages arrive before their receives: the receiver sends an RTW for each
# packet without a match, and an RTS for each message.  The sender then sends
# the message from its first packet on.
test_match()
{
	hosts "rto 50ms" "transport sr rtw post 1ms rto 50ms ack 1"
	told snd "flow e0 to $RCV4 mtu 1024 size 10k messages 5 psn 0 trace 30"
	sniff rcv --type data --time 120
	run 20
	wait
	check "messages" "$(sum snd flows messages)" -eq 5
	check "timeouts" "$(sum snd flows timeouts)" -eq 0
	check "without a match" "$(sum rcv sinks unmatched)" -ge 5
	check "RTWs" "$(sum rcv sinks rtws_sent)" -eq \
		"$(sum rcv sinks unmatched)"
	check "RTWs that came" "$(sum snd flows rtws)" -eq \
		"$(sum rcv sinks rtws_sent)"
	check "RTSs" "$(sum rcv sinks rtss_sent)" -eq 5
	check "RTSs that came" "$(sum snd flows rtss)" -eq 5
	check "RNR NAKs" "$(sum rcv sinks rnrs_sent)" -eq 0
	check "bytes" "$(sum rcv sinks bytes)" -eq 51200
	# from the first packet on
	check "first packets" "$(grep -c 'psn 0 ' "$TMP/rcv")" -eq 2
	check "first packets" "$(grep -c 'psn 10 ' "$TMP/rcv")" -eq 2
	check "packets" "$(sum snd flows packets)" -eq \
		$((50 + $(sum rcv sinks unmatched)))
	in_ns snd awk -F, '$5 == "wait" || $5 == "go" || $5 == "done" {
		print $5
	}' /proc/net/rocehost/trace | paste -sd ' ' >"$TMP/events"
	check_eq "events" "$(cat "$TMP/events")" \
		"wait go done wait go done wait go done wait go done wait go done"
	# each receive is posted 1 ms after the previous message
	check "fifth message, us" "$(in_ns snd awk -F, '
	NR > 1 { s += $5 }
	END { print int(s / 1000) }' /proc/net/rocehost/completions)" -ge 5000
	unload
}

# Receives are posted at once: each packet has a match
test_match_at_once()
{
	hosts "" "transport sr rtw ack 1"
	told snd "flow e0 to $RCV4 mtu 1024 size 10k messages 50"
	run 20
	check "without a match" "$(sum rcv sinks unmatched)" -eq 0
	check "RTSs" "$(sum rcv sinks rtss_sent)" -eq 0
	check "bytes" "$(sum rcv sinks bytes)" -eq 512000
	complete 50
	unload
	cleanup
	# the same if there is a pause before each message
	hosts "" "transport sr rtw post 100us ack 1"
	told snd "flow e0 to $RCV4 mtu 1024 size 10k messages 5 start 1ms every 1ms"
	run 20
	check "without a match" "$(sum rcv sinks unmatched)" -eq 0
	complete 5
	unload
}

# The packets without a match are those sent in a round trip, and one more: 22
# us for each message, at 875 ns per packet
test_match_bdp()
{
	local host_words="rate 10gbit transport sr rto 50ms"
	local rcv_host_words="rate 10gbit transport sr rtw post 1ms rto 50ms"

	pair "rate 10gbit delay 10us"
	told snd "flow e0 to 10.1.0.2 mtu 1024 size 1000k messages 2"
	run 20
	note "$(sum rcv sinks unmatched) packets without a match"
	check "messages" "$(sum snd flows messages)" -eq 2
	check "without a match" "$(sum rcv sinks unmatched)" -ge 40
	check "without a match" "$(sum rcv sinks unmatched)" -le 52
	check "timeouts" "$(sum snd flows timeouts)" -eq 0
	unload
}

# The RTS is lost: the receiver repeats it
test_lost_rts()
{
	hosts "rto 1s" "transport sr rtw post 1ms rto 300ms ack 1"
	told snd "flow e0 to $RCV4 mtu 1024 size 10k"
	drop rcv "$rts"
	told snd "start for 700ms"
	sleep 0.1
	pass rcv
	check "messages" "$(sum snd flows messages)" -eq 0
	check "RTSs" "$(sum rcv sinks rtss_sent)" -eq 1
	sleep 0.7
	check "messages" "$(sum snd flows messages)" -eq 1
	check "RTSs" "$(sum rcv sinks rtss_sent)" -eq 2
	check "RTSs that came" "$(sum snd flows rtss)" -eq 1
	check "timeouts" "$(sum snd flows timeouts)" -eq 0
	unload
}

# The RTS is lost, and packets that were sent before the sender began to wait
# arrive after the receive is posted.  The sender sends the message again from
# its first packet on; the packets that had arrived are duplicates then.
test_lost_rts_in_flight()
{
	# a packet every 88 us, and the receive after 1 ms
	hosts "rto 1s delay 500us" \
		"transport sr rtw post 1ms rto 300ms ack 1 delay 500us"
	told snd "flow e0 to $RCV4 mtu 1024 size 20k rate 100mbit"
	drop rcv "$rts"
	told snd "start for 700ms"
	sleep 0.1
	pass rcv
	check "without a match" "$(sum rcv sinks unmatched)" -ge 3
	check "with a match" "$(sum rcv sinks bytes)" -ge 3072
	check "messages" "$(sum snd flows messages)" -eq 0
	sleep 0.7
	check "messages" "$(sum snd flows messages)" -eq 1
	check "RTSs" "$(sum rcv sinks rtss_sent)" -eq 2
	check "bytes" "$(sum rcv sinks bytes)" -eq 20480
	check "timeouts" "$(sum snd flows timeouts)" -eq 0
	unload
}

# The table has room for one message: the other connections get RNR NAKs, and
# try again later
test_table()
{
	hosts "rto 10ms" "transport sr rtw post 15ms table 1 ack 1"
	told snd "flow e0 to $RCV4 flows 3 mtu 1024 size 10k messages 2"
	run 200
	check "messages" "$(sum snd flows messages)" -eq 6
	check "RNR NAKs" "$(sum rcv sinks rnrs_sent)" -ge 2
	check "RTWs" "$(sum rcv sinks rtws_sent)" -ge 1
	check "without a match" "$(sum rcv sinks unmatched)" -eq \
		$(($(sum rcv sinks rnrs_sent) + $(sum rcv sinks rtws_sent)))
	check "bytes" "$(sum rcv sinks bytes)" -eq 61440
	unload
}

# Each error names the word, and the line has no effect
test_words()
{
	local ip="ip 10.9.9.9"

	wired ""
	refused_lines snd <<-EOF
		host e0 $ip transport tcp | transport: "tcp" is not rc|sr
		host e0 $ip transport | transport: value missing (rc|sr)
		host e0 $ip transport sr lb ecmp | lb: "ecmp" is not fixed|ops|reps
		host e0 $ip lb reps | lb: reps needs transport sr
		host e0 $ip transport rc lb ops | lb: ops needs transport sr
		host e0 $ip transport sr entropies 0 | entropies: 0 is out of range (1 to 16384)
		host e0 $ip transport sr entropies 16385 | entropies: 16385 is out of range (1 to 16384)
		host e0 $ip transport sr entropies many | entropies: "many" is not a valid NUMBER
		host e0 $ip transport sr lb ops freeze 1ms | reps-buffer, reps-pool, freeze, expire, recurrent: need lb reps
		host e0 $ip transport sr lb reps recurrent expire 1ms | expire: not with recurrent
		host e0 $ip transport sr ramp auto rp off | ramp, ratio: not with rp off
		host e0 $ip ratio 1/4 rp off | ramp, ratio: not with rp off
		host e0 $ip transport sr reps-buffer 0 | reps-buffer: 0 is out of range (1 to 64)
		host e0 $ip transport sr reps-buffer 65 | reps-buffer: 65 is out of range (1 to 64)
		host e0 $ip transport sr reps-pool 0 | reps-pool: 0 is out of range (1 to 65535)
		host e0 $ip transport sr reps-pool 65536 | reps-pool: 65536 is out of range (1 to 65535)
		host e0 $ip transport sr freeze 2s | freeze: 2s is out of range (0 to 1000000000)
		host e0 $ip transport sr expire -1 | expire: "-1" is not a valid TIME
		host e0 $ip ramp auto | ramp, gate-weight, rtw: need transport sr
		host e0 $ip gate-weight 1/16 | ramp, gate-weight, rtw: need transport sr
		host e0 $ip rtw | ramp, gate-weight, rtw: need transport sr
		host e0 $ip transport sr ramp 999ns | ramp: 999ns is out of range (1000 to 1000000000)
		host e0 $ip transport sr ramp soon | ramp: "soon" is not a valid TIME|auto
		host e0 $ip transport sr gate-weight 3/2 | gate-weight: "3/2" is not a valid N/M
		host e0 $ip transport sr gate-weight 1/0 | gate-weight: "1/0" is not a valid N/M
		host e0 $ip transport sr gate-above 1/2 | gate-above, gate-most: need gate-weight
		host e0 $ip transport sr gate-weight 1/2 gate-above 2/1 | gate-above: "2/1" is not a valid N/M
		host e0 $ip transport sr lb ops gate-weight 1/2 gate-most 17 | gate-most: 17 is out of range (0 to 16)
		host e0 $ip transport sr lb ops entropies 8 gate-weight 1/2 gate-most 9 | gate-most: above entropies, 8
		host e0 $ip transport sr lb ops entropies 17 gate-weight 1/2 gate-most 9 | gate-most: needs lb ops or reps, and at most 16 entropies
		host e0 $ip transport sr entropies 8 gate-weight 1/2 gate-most 5 | gate-most: needs lb ops or reps, and at most 16 entropies
		host e0 $ip transport sr post 0 | post, table: need rtw
		host e0 $ip transport sr table 10 | post, table: need rtw
		host e0 $ip transport sr rtw post 11s | post: 11s is out of range (0 to 10000000000)
		host e0 $ip transport sr rtw table 0 | table: 0 is out of range (1 to 65536)
		host e0 $ip ratio 0/8 | ratio: 0/8 is out of range (1 to 4294967296)
		host e0 $ip ratio 9/8 | ratio: "9/8" is not a valid N/M
	EOF
	# packets of selective repeat are 12 bytes longer than those of rc
	told snd "host e0 ip 10.1.0.1 transport sr"
	told rcv "host e1 ip 10.1.0.2"
	ip -n snd link set e0 mtu 4187
	refused_lines snd <<-EOF
		flow e0 to 10.1.0.2 | mtu: 4096 does not fit into packets of 4187 bytes
	EOF
	ip -n snd link set e0 mtu 4188
	told snd "flow e0 to 10.1.0.2"
	told rcv "flow e1 to 10.1.0.1"
	told snd "wire e2 e3" "host e2 ip 10.1.0.3 transport sr rtw"
	refused_lines rcv <<-EOF
		flow e1 to 10.1.0.3 | to: that host has rtw, which needs transport sr
	EOF
	unload
}

# "ctl" lists the words, and "settings" their values
test_listed()
{
	local words="transport sr lb reps entropies 16 reps-buffer 4 reps-pool 64 freeze 1ms expire 2ms ramp 20us gate-weight 1/4 gate-above 3/4 gate-most 5 rtw post 3us table 9 ratio 1/8"

	ip netns add snd
	load
	check_eq "words" "$(in_ns snd sed -n '/^host /,/^probe /p' \
		/proc/net/rocehost/ctl | grep -xE \
		"$(printf '\t')(transport|lb|entropies|reps-.*|freeze|expire|recurrent|ramp|gate-.*|rtw|post|table|ratio) .*" |
		tr -d '\t' | paste -sd , | sed 's/ ,/,/g')" \
"transport rc|sr,lb fixed|ops|reps,entropies NUMBER,reps-buffer NUMBER,reps-pool NUMBER,freeze TIME,expire TIME,recurrent,ramp TIME|auto,gate-weight N/M,gate-above N/M,gate-most NUMBER,rtw,post TIME,table NUMBER,ratio N/M"
	told snd "wire e0 e1"
	told snd "host e0 ip 10.1.0.1 $words" "host e1 ip 10.1.0.2"
	check_eq "settings" "$(in_ns snd grep -E \
		'^e0,(transport|lb|entropies|reps-.*|freeze|expire|recurrent|ramp|gate-.*|rtw|post|table|ratio),' \
		/proc/net/rocehost/settings | cut -d, -f3 | paste -sd ' ')" \
		"sr reps 16 4 64 1000000 2000000 0 20000 0.250000 0.750000 5 1 3000 9 0.125000"
	check_eq "defaults" "$(in_ns snd grep -E \
		'^e1,(transport|lb|entropies|reps-.*|freeze|expire|recurrent|ramp|gate-.*|rtw|post|table|ratio),' \
		/proc/net/rocehost/settings | cut -d, -f3 | paste -sd ' ')" \
		"rc fixed 1024 8 1024 10000000 1000000 0 0 0.000000 0.000000 0 0 0 1024 0.000000"
	unload
}

# busy: start connections, and wait until they are in many different states
busy()
{
	hosts "lb reps entropies 8 ramp auto gate-weight 1/4 rto 5ms delay 1ms" \
		"transport sr rtw post 2ms rto 3ms delay 1ms table 20"
	told snd "flow e0 to $RCV4 flows 50 size 20k messages 1000 trace 10" \
		"flow e0 to $RCV4 flows 20 $endless"
	told snd "start"
	sleep 0.05
}

# A host that is removed leaves no timer behind; its peers continue without it
test_removed()
{
	local before

	busy
	before=$(sum snd flows timeouts)
	ip -n rcv link del e0
	sleep 0.05
	check "the sender continues" "$(sum snd flows timeouts)" -gt "$before"
	check "hosts" "$(in_ns rcv grep -c e0 /proc/net/rocehost/hosts)" -eq 0
	check "senders" "$(in_ns snd grep -c e0 /proc/net/rocehost/hosts)" -eq 1
	unload
	cleanup
	busy
	ip -n snd link del e0
	sleep 0.05
	check "receivers" "$(in_ns rcv grep -c e0 /proc/net/rocehost/hosts)" -eq 1
	told rcv "stop"
	told rcv "clear"
	unload
}

test_unload()
{
	busy
	unload
	sleep 0.05
	load
	told snd "host e0 ip $SND4 transport sr lb reps reps-pool 65535"
	unload
}

run_tests
