#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocehost, the RoCEv2 hosts of the scenarios: it sends correct RoCEv2 packets,
# reacts to CNPs and losses as it should, and survives bad commands and the
# removal of devices, namespaces and itself.

ALL_TESTS="
	test_packets
	test_packets_v6
	test_messages
	test_go_back
	test_timeout
	test_np_interval
	test_np_limit
	test_cm
	test_box_tells
	test_telemetry
	test_telemetry_v6
	test_stop
	test_stop_unheard
	test_blast
	test_stranger
	test_wrong_cnp
	test_words
	test_too_many
	test_interface_gone
	test_namespace_gone
	test_unload
"
NIGHTLY_TESTS="
	test_packets_v6 test_go_back test_timeout test_np_limit test_box_tells
	test_telemetry_v6 test_stop_unheard test_stranger test_wrong_cnp
	test_too_many test_interface_gone
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/lib-rocehost.sh
. "$(dirname "$0")/lib-rocehost.sh"

TRACE=/sys/kernel/tracing

# refused NS LINE ERROR: the line must be refused with this error
refused()
{
	if rh "$1" "$2"; then
		fail "\"$2\": accepted"
	else
		check_eq "$2" "$(in_ns "$1" head -n 1 /proc/net/rocehost/ctl)" \
			"error: $3"
	fi
}

# A packet tool checks the packets: PSNs that wrap, lengths, ICRC, QP, ports
test_packets()
{
	hosts "" "ack 1"
	told snd "flow e0 to $RCV4 mtu 1024 size 3001 psn 16777214 dscp 26"
	sniff rcv --time 120
	run 20
	wait
	note "$(head -n 1 "$TMP/rcv")"
	check "packets" "$(grep -c . "$TMP/rcv")" -eq 3
	check "correct ICRC" "$(grep -c 'icrc ok' "$TMP/rcv")" -eq 3
	check_eq "PSNs" "$(grep -o 'psn [0-9]*' "$TMP/rcv" | tr '\n' ' ')" \
		"psn 16777214 psn 16777215 psn 0 "
	check "DestQP" "$(grep -c 'qp 0x800100 ' "$TMP/rcv")" -eq 3
	check "ECT(0), DSCP" "$(grep -c 'ect0 dscp 26' "$TMP/rcv")" -eq 3
	# 58 bytes of headers and ICRC, 16 more in the first packet, and three
	# bytes of padding in the last one
	check_eq "lengths" "$(grep -o 'len [0-9]*' "$TMP/rcv" | tr '\n' ' ')" \
		"len 1098 len 1082 len 1014 "
	# f(0x100 * 0x800100), as mlx5 derives it
	check "port" "$(grep -c 'sport 51204 ' "$TMP/rcv")" -eq 3
	unload
}

test_packets_v6()
{
	hosts6 "" "ack 1"
	told snd "flow e0 to $RCV6 size 100000 sport rxe"
	sniff rcv --time 120
	sniff snd --type ack --time 120
	run 20
	wait
	check "packets" "$(grep -c . "$TMP/rcv")" -eq 25
	check "correct ICRC" "$(grep -c 'icrc ok' "$TMP/rcv")" -eq 25
	check "correct UDP checksum" "$(grep -c 'csum ok' "$TMP/rcv")" -eq 25
	# source ports as Soft-RoCE derives them: each side from its own QP
	check "port" "$(grep -c 'sport 61985 ' "$TMP/rcv")" -eq 25
	check "port of ACKs" "$(grep -c 'sport 64257 ' "$TMP/snd")" -eq 25
	check "messages" "$(sum snd flows messages)" -eq 1
	unload
}

# Many messages of all sizes on many connections: each one is completed
test_messages()
{
	local size n=0

	hosts "delay 5us" "delay 5us"
	for size in 1 255 256 257 4096 4097 65536; do
		told snd "flow e0 name m$size to $RCV4 flows 10 mtu 256 size $size messages 10 every 100us poisson"
		n=$((n + 100))
	done
	run 100
	check "messages completed" "$(sum snd flows messages)" -eq $n
	check "completions" \
		"$(in_ns snd grep -c ',m' /proc/net/rocehost/completions)" -eq $n
	check "bytes" "$(sum rcv sinks bytes)" -eq \
		$(((1 + 255 + 256 + 257 + 4096 + 4097 + 65536) * 100))
	check "stray" "$(sum rcv hosts stray)" -eq 0
	check "malformed" "$(sum rcv hosts malformed)" -eq 0
	unload
}

# A queue drops packets: NAKs trigger go-back-N, and every byte arrives in the
# end
test_go_back()
{
	hosts "rp off" "ack 4"
	tc -n sw qdisc replace dev p1 root tbf rate 1gbit burst 9k limit 30k
	told snd "flow e0 to $RCV4 size 1000000 rate 2gbit"
	run 100
	check "NAKs" "$(sum snd flows naks)" -gt 0
	check "resent" "$(sum snd flows resent)" -gt 0
	check "messages completed" "$(sum snd flows messages)" -eq 1
	check "bytes" "$(sum rcv sinks bytes)" -eq 1000000
	unload
}

# The last packet of a message is lost: only the timeout can recover it
test_timeout()
{
	hosts "rto 5ms" "ack 1"
	told snd "flow e0 to $RCV4 size 4096"
	tc -n sw qdisc replace dev p1 root pfifo limit 0
	told snd "start for 100ms"
	# the flow begins within 34 ms
	sleep 0.05
	tc -n sw qdisc del dev p1 root
	sleep 0.1
	check "timeouts" "$(sum snd flows timeouts)" -gt 0
	check "messages completed" "$(sum snd flows messages)" -eq 1
	unload
}

# Nearly all packets are CE: one CNP per connection and interval
test_np_interval()
{
	hosts "rp off" "cnp 1ms"
	bottleneck 1gbit limit 10000000 kmin 1 kmax 1 notify off
	told snd "flow e0 to $RCV4 flows 2 size endless messages endless rate 600mbit"
	run 100
	check "CE" "$(sum rcv sinks ce)" -gt 2000
	# packets are CE only once the queue has built up
	check "CNPs sent" "$(sum rcv sinks cnps)" -ge 180
	check "CNPs sent" "$(sum rcv sinks cnps)" -le 200
	check "CNPs got" "$(sum snd flows cnps_np)" -eq "$(sum rcv sinks cnps)"
	unload
}

# The host's limit applies to all connections together; the sender recognizes
# CNPs of a congestion point by their DSCP
test_np_limit()
{
	hosts "rp off cp-dscp 34" "cnp 1ms cnp-limit 2ms cnp-dscp 34"
	bottleneck 1gbit limit 10000000 kmin 1 kmax 1 notify off
	told snd "flow e0 to $RCV4 flows 8 size endless messages endless rate 150mbit"
	run 100
	check "CNPs sent" "$(sum rcv sinks cnps)" -ge 45
	check "CNPs sent" "$(sum rcv sinks cnps)" -le 50
	check "CNPs over the limit" "$(sum rcv hosts cnps_limited)" -gt 0
	check "by DSCP" "$(sum snd flows cnps_cp)" -eq "$(sum rcv sinks cnps)"
	check "other CNPs" "$(sum snd flows cnps_np)" -eq 0
	unload
}

# The box parses the messages that set up connections
test_cm()
{
	hosts "rp off" "ack 65536"
	tc -n sw qdisc replace dev p0 root iqcn
	bottleneck 1gbit limit 10000000 pair cm kmin 1 kmax 1 notify off
	told snd "flow e0 to $RCV4 flows 4 size 200000 cm"
	run 50
	check "messages completed" "$(sum snd flows messages)" -eq 4
	check "flows paired by the box" "$(flows | grep -c ' cm ')" -eq 4
	check_eq "malformed" "$(stat malformed)" 0
	unload
}

# The receiver sends one CNP per flow and no more: the box sends the others, and
# the senders slow down
test_box_tells()
{
	local event

	hosts "cp-dscp 46 rai 200kbit rhai 2mbit min 10mbit" "ack 1 cnp 1s"
	bottleneck 1gbit limit 10000000 kmin 20000 kmax 40000 cnp-dscp 46 \
		t1 280us bandwidth 1gbit
	told snd "flow e0 to $RCV4 flows 20 size endless messages endless rate 60mbit spread 500us trace 1000"
	run 100
	check "CNPs of the receiver" "$(sum snd flows cnps_np)" -le 20
	check "CNPs of the box" "$(sum snd flows cnps_cp)" -gt 10
	# CNPs after the end of the run are not counted
	check "cnp_sent" "$(stat cnp_sent)" -ge "$(sum snd flows cnps_cp)"
	check "cuts" "$(sum snd flows cuts)" -gt 10
	# the trace has a line for each counted event, with its time
	for event in cnp_cp:cnps_cp cut:cuts raised:raised; do
		check "$event in the trace" "$(in_ns snd awk -F, \
			-v event="${event%:*}" \
			'$5 == event && $4 < 100000000 { n++ } END { print +n }' \
			/proc/net/rocehost/trace)" -eq \
			"$(sum snd flows "${event#*:}")"
	done
	check "drops" "$(stat drop_overlimit)" -eq 0
	unload
}

# telemetry NS: print the report without its header
telemetry()
{
	in_ns "$1" tail -n +2 /proc/net/rocehost/telemetry
}

# The telemetry of a CNP is recorded. A CNP without telemetry, or with telemetry
# of another version, is not recorded, but is counted as a CNP.
test_telemetry()
{
	local said=1104400002010123ff38010203fffffe

	hosts "rp off" "ack 4"
	told snd "flow e0 name a to $RCV4 flows 4 $endless rate 10mbit"
	check_eq "telemetry in the packet" "$(reply --type cnp --rsvd $said \
		--hex | cut -c 109-140)" $said
	sniff snd --type cnp --time 150
	echo 1 >$TRACE/events/rocehost/enable
	echo >$TRACE/trace
	told snd "start for 200ms"
	# the flow begins within 34 ms
	sleep 0.05
	check_eq "report before any CNP" "$(telemetry snd)" ""
	reply --type cnp --qp 0x100 --rsvd 11051111222233334444555555666666
	reply --type cnp --qp 0x100 --rsvd $said
	reply --type cnp --qp 0x101
	reply --type cnp --qp 0x102 --rsvd "2${said:1}"
	reply --type cnp --qp 0x103 --rsvd 106300000000ffff8000ffffff000001
	# brief telemetry: flags and cause only
	reply --type cnp --qp 0x101 --rsvd 13080000000000000000000000000000
	# neither a broken CNP nor one for an unknown QP is recorded
	reply --type cnp --qp 0x100 --rsvd $said --bad icrc
	reply --type cnp --qp 0x123456 --rsvd $said
	wait
	echo 0 >$TRACE/events/rocehost/enable
	# depth_share is 16384 / 65535, port_bytes 291 * 4096, tx_bytes
	# 66051 * 256; cause 99 is unknown
	check_eq "report" "$(telemetry snd)" \
"e0,a,256,2,1,poll,0.250003,513,1191936,-200,16909056,16777214,0
e0,a,257,1,1,supplement,0.000000,0,0,0,0,0,1
e0,a,259,1,0,99,0.000000,0,268431360,-32768,4294967040,1,0"
	check "CNPs" "$(sum snd flows cnps_np)" -eq 6
	check "stray" "$(sum snd hosts stray)" -eq 1
	check "malformed" "$(sum snd hosts malformed)" -eq 1
	check_eq "report of the receiver" "$(telemetry rcv)" ""
	check_eq "traced" "$(grep -o 'rh_telemetry: .*' $TRACE/trace)" \
"rh_telemetry: dev=e0 qpn=256 was_ce=1 cause=drop depth_share=0.066666 flows=8738 port_bytes=53686272 gradient_bytes_per_us=17476 tx_bytes=1431655680 time_us=6710886 brief=0
rh_telemetry: dev=e0 qpn=256 was_ce=1 cause=poll depth_share=0.250003 flows=513 port_bytes=1191936 gradient_bytes_per_us=-200 tx_bytes=16909056 time_us=16777214 brief=0
rh_telemetry: dev=e0 qpn=259 was_ce=0 cause=0x63 depth_share=0.000000 flows=0 port_bytes=268431360 gradient_bytes_per_us=-32768 tx_bytes=4294967040 time_us=1 brief=0
rh_telemetry: dev=e0 qpn=257 was_ce=1 cause=supplement depth_share=0.000000 flows=0 port_bytes=0 gradient_bytes_per_us=0 tx_bytes=0 time_us=0 brief=1"
	# the packet tool prints telemetry, if present, at the end of the line
	check "CNPs on the wire" "$(grep -c . "$TMP/snd")" -eq 8
	check "correct ICRC" "$(grep -c 'icrc ok' "$TMP/snd")" -eq 7
	check "CNPs with telemetry" \
		"$(grep -c " vlan - rsvd $said\$" "$TMP/snd")" -eq 3
	check "CNPs without telemetry" "$(grep -c ' vlan -$' "$TMP/snd")" -eq 1
	unload
}

test_telemetry_v6()
{
	local said=1005ffff0020000100ff0000010000ff

	hosts6 "rp off" ""
	told snd "flow e0 to $RCV6 $endless rate 10mbit"
	sniff snd --type cnp --time 100
	told snd "start for 150ms"
	sleep 0.05
	reply -6 --type cnp --qp 0x100 --rsvd $said
	wait
	check_eq "report" "$(telemetry snd)" \
		"e0,flows,256,1,0,drop,1.000000,32,4096,255,256,255,0"
	check "CNPs with telemetry" \
		"$(grep -c "icrc ok csum ok .* rsvd $said\$" "$TMP/snd")" \
		-eq 1
	unload
}

# packets_of NAME: print the number of packets that flows of this name have sent
packets_of()
{
	in_ns snd awk -F, -v name="$1" \
		'$2 == name { s += $9 } END { print +s }' \
		/proc/net/rocehost/flows
}

# Flows that start late or stop early: a packet of 4154 bytes every 332.32 us,
# the 61st after 19.94 ms, the 181st after 59.82 ms
test_stop()
{
	local flow="flow e0 to $RCV4 $endless rate 100mbit name" last

	hosts "rp off" "ack 1"
	told snd "$flow all"
	told snd "$flow early flows 2 stop 20ms"
	told snd "$flow late start 40ms"
	told snd "$flow between flows 2 start 20ms stop 40ms"
	told snd "flow e0 to $RCV4 size 4096 messages endless every 1ms stop 20ms name mice"
	sniff rcv --type data --mono --time 120
	run 60
	wait
	check "whole run" "$(packets_of all)" -eq 181
	check "early" "$(packets_of early)" -eq 122
	check "late" "$(packets_of late)" -eq 61
	check "between" "$(packets_of between)" -eq 122
	check "messages" "$(packets_of mice)" -eq 20
	check "messages completed" "$(in_ns snd grep -c ,mice, \
		/proc/net/rocehost/completions)" -eq 20
	check "resent" "$(sum snd flows resent)" -eq 0
	check "timeouts" "$(sum snd flows timeouts)" -eq 0
	# ns from the start to the last packet of an early flow
	last=$(grep ' qp 0x800101 ' "$TMP/rcv" | tail -n 1)
	last=$((${last%% *} - $(in_ns snd \
		sed -n 's/started at \(.*\) ns/\1/p' /proc/net/rocehost/ctl)))
	check "ns until the last packet" "$last" -gt 19000000
	check "ns until the last packet" "$last" -lt 20100000
	unload
}

# No host answers: after its stop time a flow neither retransmits nor connects,
# and does not react to CNPs
test_stop_unheard()
{
	# a reaction point that cuts the rate as soon as a CNP arrives
	hosts "rto 5ms rp paper" "ack 1"
	tc -n sw qdisc replace dev p1 root pfifo limit 0
	told snd "flow e0 name lost to $RCV4 $endless rate 200mbit stop 22ms trace 100"
	told snd "flow e0 name cm to $RCV4 cm stop 22ms"
	told snd "start for 200ms"
	sleep 0.1
	reply --type cnp --qp 0x100
	sleep 0.15
	check "timeouts" "$(sum snd flows timeouts)" -eq 4
	check "CNPs" "$(sum snd flows cnps_np)" -eq 1
	check "cuts" "$(sum snd flows cuts)" -eq 0
	check "events after the stop" "$(in_ns snd awk -F, \
		'NR > 1 && $4 > 22000000 && $5 != "cnp_np" { n++ } END { print +n }' \
		/proc/net/rocehost/trace)" -eq 0
	check "packets without a connection" "$(packets_of cm)" -eq 0
	unload
}

# "blast" sends the given number of packets of the given number of flows through
# a qdisc; all but the first few leave with CE. Devices other than dummies are
# refused.
test_blast()
{
	local kind n i

	hosts "" ""
	ip -n sw link add d0 mtu 9000 type dummy
	refused sw "blast d0" '"d0" is down'
	ip -n sw link set d0 up
	refused sw "blast p0" '"p0" is not a dummy device'
	refused sw "blast d0 ect 4" 'ect: 4 is out of range (0 to 3)'
	refused sw "blast d0 mtu 300" \
		'mtu: 300 is not 256, 512, 1024, 2048 or 4096'
	refused sw "blast d0 to fd00::1" 'to: not the same IP version as from'
	tc -n sw qdisc add dev d0 root iqcn kmin 0 kmax 0 mark-on enqueue
	told sw "blast d0 packets 1000 flows 10 depth 8"
	check "packets" "$(sum sw blast packets)" -eq 1000
	check "refused" "$(sum sw blast refused)" -eq 0
	tc -n sw -s qdisc show dev d0 >"$TMP/blast"
	check "CE" "$(grep -o 'ce_sent [0-9]*' "$TMP/blast" | cut -c 9-)" -ge 1000
	check_eq "flows" "$(grep -o 'flow_new [0-9]*' "$TMP/blast")" "flow_new 10"
	check_eq "malformed" "$(grep -o ' malformed [0-9]*' "$TMP/blast")" \
		" malformed 0"
	# received packets: each CNP matches a flow; packets of the other kinds
	# are not RoCEv2, or not CNPs
	refused sw "blast d0 cnp" 'ack, cnp: need in'
	refused sw "blast d0 in udp tcp" 'udp, tcp, ack, cnp: at most one of them'
	for kind in udp tcp ack cnp; do
		told sw "blast d0 packets 100 flows 10 known in $kind"
		check "packets" "$(sum sw blast packets)" -eq 100
	done
	tc -n sw -s qdisc show dev d0 >"$TMP/blast"
	check_eq "CNPs" "$(grep -o 'cnp_seen [0-9]*' "$TMP/blast")" "cnp_seen 100"
	check_eq "malformed" "$(grep -o ' malformed [0-9]*' "$TMP/blast")" \
		" malformed 0"
	# through the second queue of a device
	refused sw "blast d0 queue 1" 'queue: "d0" has 1 queues'
	ip -n sw link add d1 mtu 9000 numtxqueues 2 type dummy
	in_ns sw sysctl -qw net.ipv6.conf.d1.disable_ipv6=1
	ip -n sw link set d1 up
	tc -n sw qdisc add dev d1 root handle 1: mq
	tc -n sw qdisc add dev d1 parent 1:1 handle 11: iqcn
	tc -n sw qdisc add dev d1 parent 1:2 handle 12: iqcn kmin 0 kmax 0 \
		mark-on enqueue
	told sw "blast d1 queue 1 packets 500 flows 10 depth 8"
	check "packets through another queue" "$(stat packets d1 11:)" -eq 0
	check "packets" "$(stat packets d1 12:)" -ge 500
	check "CE" "$(stat ce_sent d1 12:)" -ge 500
	# two blasts may run at once, but not through the same queue
	n=$(stat packets d1 12:)
	nsenter --net=/run/netns/sw bash -c \
		'echo "blast d1 queue 1 packets 1000000000" >/proc/net/rocehost/ctl' \
		2>/dev/null &
	for ((i = 0; i < 100; i++)); do
		[ "$(stat packets d1 12:)" = "$n" ] || break
		sleep 0.01
	done
	refused sw "blast d1 queue 1" 'queue: a blast uses 1'
	told sw "blast d1 queue 0 packets 500 flows 10 depth 8"
	check "packets through one queue" "$(stat packets d1 11:)" -ge 500
	check "packets through the other" "$(stat packets d1 12:)" -gt "$n"
	kill $!
	wait $! 2>/dev/null
	told sw "blast d1 queue 1 packets 500 flows 10 depth 8"
	# a blast ends if its writer is killed
	in_ns sw timeout 0.02 bash -c \
		'echo "blast d0 packets 1000000000" >/proc/net/rocehost/ctl' \
		2>/dev/null && fail "an endless blast has ended"
	unload
}

# Packets for unknown QPs, from an unknown host, or with a wrong length are
# counted, and the flow completes its message
test_stranger()
{
	hosts "" ""
	told snd "flow e0 to $RCV4 size 4096"
	data --qp 0x123456
	reply --type cnp --qp 0x123456
	data --qp 0x800100 --src 10.1.0.77
	data --qp 0x800100 --bad udplen
	run 20
	check "stray at the receiver" "$(sum rcv hosts stray)" -eq 2
	check "stray at the sender" "$(sum snd hosts stray)" -eq 1
	check "malformed" "$(sum rcv hosts malformed)" -eq 1
	check "messages completed" "$(sum snd flows messages)" -eq 1
	unload
}

# If the UDP source port of a congestion point's CNP is not that of the flow,
# the CNP is for another flow; port 0 means that the port is unknown
test_wrong_cnp()
{
	local sport

	hosts "cp-dscp 46 rp off qpn 4660" ""
	told snd "flow e0 to $RCV4 $endless rate 10mbit sport 50000"
	told snd "start for 200ms"
	sleep 0.05
	for sport in 0 50000 50001; do
		reply --type cnp --qp 0x1234 --tos $((46 << 2)) --sport $sport
	done
	# a CNP of the receiver is accepted with any source port
	reply --type cnp --qp 0x1234 --tos $((48 << 2)) --sport 50001
	sleep 0.1
	check "CNPs of the box" "$(sum snd flows cnps_cp)" -eq 3
	check "for another flow" "$(sum snd hosts cnps_wrong)" -eq 1
	check "stray" "$(sum snd hosts stray)" -eq 0
	unload
}

# Each error names the word, and the line has no effect
test_words()
{
	hosts "" ""
	refused_lines snd <<-EOF
		hots e0 | unknown command "hots"
		host | device name missing
		host e9 ip 10.9.9.9 | no device "e9" in this namespace
		host lo ip 10.9.9.9 | "lo" is not Ethernet
		host e0 ip 10.9.9.9 | "e0" already has one
		flow e0 | to: a flow needs a receiver
		flow e0 to 10.9.9.9 | to: no other host has that address
		flow e0 to $SND4 | to: no other host has that address
		flow e0 to $RCV4 size 0 | size: 0 is out of range (1 to 2147483648)
		flow e0 to $RCV4 mtu 0 | mtu: 0 is out of range (256 to 4096)
		flow e0 to $RCV4 mtu 257 | mtu: 257 is not 256, 512, 1024, 2048 or 4096
		flow e0 to $RCV4 sport 65536 | sport: 65536 is out of range (1 to 65535)
		flow e0 to $RCV4 name a,b | name: "a,b" is too long, or has a comma
		flow e0 to $RCV4 rate 500kbit | rate: below the host's min, 1000000 bit/s
		flow e0 to $RCV4 rate 0 | rate: 0 is out of range (1000 to 1000000000000)
		flow e0 to $RCV4 rate 11gbit | rate: above the host's rate, 10000000000 bit/s
		flow e0 to $RCV4 start 2ms stop 2ms | stop: must be after start plus spread, 2000000 ns
		flow e0 to $RCV4 stop 3ms start 1ms spread 2ms | stop: must be after start plus spread, 3000000 ns
		flow e0 to $RCV4 stop 0 | stop: 0 is out of range (1 to 1000000000000)
		flow e0 to $RCV4 poisson | poisson: needs every
		flow e0 to $RCV4 probe p7 | probe: there must be exactly one on "p7"
		flow e0 to $RCV4 flows 1048577 | flows: 1048577 is out of range (1 to 1048576)
		flow e0 to $RCV4 flows 65536 trace 1000000 | trace: more than 2^20 events in total
		start now | unknown word "now"
		start count 2ms for 1ms | count: must be before the end
		stop now | stop: takes no words
	EOF
	refused_lines sw <<-EOF
		host p0 ip 10.9.9.9 | "p0" is a port of another device
		host br0 | ip: a host needs a unicast address
		host br0 ip $SND4 | ip: already used by another host
		host br0 ip 10.9.9 | ip: "10.9.9" is not an IP address
		host br0 ip 10.9.9.9 via 01:00:00:00:00:01 | via: "01:00:00:00:00:01" is not a unicast MAC
		host br0 ip 10.9.9.9 rate 0 | rate: 0 is out of range (1000 to 1000000000000)
		host br0 ip 10.9.9.9 rate 1mbit min 2mbit | min: above the host's rate, 1000000 bit/s
		host br0 ip 10.9.9.9 rate 25gb | rate: "25gb" is not a valid RATE
		host br0 ip 10.9.9.9 rp dctcp | rp: "dctcp" is not connectx|paper|off
		host br0 ip 10.9.9.9 g 2/1 | g: "2/1" is not a valid N/M
		host br0 ip 10.9.9.9 alpha | alpha: value missing (TIME)
		host br0 ip 10.9.9.9 alpha 0 | alpha: 0 is out of range (100 to 1000000000)
		host br0 ip 10.9.9.9 delay 99999999999999999999s | delay: "99999999999999999999s" is not a valid TIME
		host br0 ip 10.9.9.9 f 2 rp paper | rp: must precede the words that it sets
		host br0 ip 224.0.0.1 | ip: a host needs a unicast address
		host br0 ip 10.9.9.9 color red | unknown word "color"
		flow br0 to $RCV4 | no host on "br0"
		probe p1 every 0 | every: 0 is out of range (1000 to 1000000000)
	EOF
	told snd "start"
	refused snd "start" 'already started; write clear first'
	refused snd "flow e0 to $RCV4" 'already started; write clear first'
	told snd "stop" "clear"
	told rcv "clear"
	refused snd "start" 'no host to start'
	check "hosts" "$(in_ns snd grep -c e0 /proc/net/rocehost/hosts)" -eq 0
	in_ns snd unshare -r bash -c 'echo stop >/proc/net/rocehost/ctl' \
		2>/dev/null && fail "root of a user namespace may write"
	unload
}

# Flows for which there is not enough memory are refused, and the existing flow
# continues
test_too_many()
{
	local free_mb

	hosts "" ""
	told snd "flow e0 to $RCV4 size 4096"
	# leave 200 MB; a million flows need four times that
	free_mb=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
	mkdir "$TMP/fill"
	mount -t tmpfs -o size=100% tmpfs "$TMP/fill"
	dd if=/dev/zero of="$TMP/fill/fill" bs=1M count=$((free_mb - 200)) \
		2>/dev/null
	refused snd "flow e0 to $RCV4 flows 1000000" \
		'flows: out of memory'
	umount "$TMP/fill"
	run 20
	check "messages completed" "$(sum snd flows messages)" -eq 1
	unload
}

test_interface_gone()
{
	hosts "delay 1ms" "delay 1ms"
	told sw "probe p1"
	told snd "flow e0 to $RCV4 flows 100 $endless probe p1 trace 10"
	told snd "start"
	sleep 0.05
	ip -n rcv link del e0
	sleep 0.05
	check "hosts" "$(in_ns rcv grep -c e0 /proc/net/rocehost/hosts)" -eq 0
	check "senders" "$(in_ns snd grep -c e0 /proc/net/rocehost/hosts)" -eq 1
	unload
}

test_namespace_gone()
{
	hosts "delay 1ms" "delay 1ms"
	told sw "probe p1"
	told snd "flow e0 to $RCV4 flows 100 $endless probe p1 trace 10"
	told snd "start"
	sleep 0.05
	ip netns del sw
	ip netns del snd
	sleep 0.2
	# the other end of the link, and with it the host, is gone
	check "receivers" "$(in_ns rcv grep -c e0 /proc/net/rocehost/hosts)" -eq 0
	unload
}

test_unload()
{
	hosts "delay 1ms" "delay 1ms"
	told sw "probe p1"
	told snd "flow e0 to $RCV4 flows 1000 $endless probe p1 trace 10"
	told snd "start"
	sleep 0.05
	unload
	sleep 0.05
	load
	told snd "host e0 ip $SND4"
	unload
}

run_tests
