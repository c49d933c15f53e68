#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Wires of rocehost: rates and delays as calculated, real PFC frames, no loss
# under PFC, changes of the link, and removal under traffic.

ALL_TESTS="
	test_round_trip
	test_line_rate
	test_two_hops
	test_pause_frame
	test_obeys
	test_obeys_not
	test_flap
	test_two_to_one
	test_sixteen_to_one
	test_without_pfc
	test_probe_of_mq
	test_probe_of_pauses
	test_refused
	test_drain
	test_priorities
	test_rate_change
	test_failure
	test_wire_words
	test_buffer_of_switch
	test_stack
	test_ends_go
	test_moves
	test_unload_under_traffic
"
NIGHTLY_TESTS="
	test_line_rate test_pause_frame test_obeys_not test_flap
	test_sixteen_to_one test_without_pfc test_probe_of_mq
	test_probe_of_pauses test_priorities test_rate_change
	test_buffer_of_switch test_stack test_moves
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/lib-rocehost.sh
. "$(dirname "$0")/lib-rocehost.sh"

# wires HOSTS RCV-WORDS WORDS: create a switch, sw, which routes. Host i is s$i
# in the namespace snd, with a wire to p$i; e0 in rcv has a wire to "out".
wires()
{
	local hosts=$1 rcv_words=$2 words=$3 i lines=() batch=()

	load
	ip -batch - <<-EOF
		netns add snd
		netns add sw
		netns add rcv
	EOF
	for ((i = 1; i <= hosts; i++)); do
		lines+=("wire s$i p$i $words")
		batch+=("link set s$i up" "link set p$i netns sw")
	done
	told snd "${lines[@]}"
	told rcv "wire e0 out $rcv_words"
	printf '%s\n' "${batch[@]}" | ip -n snd -batch -
	ip -n rcv -batch - <<-EOF
		link set e0 up
		link set out netns sw
	EOF
	{
		for ((i = 1; i <= hosts; i++)); do
			echo "link set p$i up"
			echo "route add 10.1.0.$i dev p$i"
			echo "neigh add 10.1.0.$i lladdr $(mac snd "s$i") dev p$i"
		done
		echo "link set out up"
		echo "route add 10.2.0.1 dev out"
		echo "neigh add 10.2.0.1 lladdr $(mac rcv e0) dev out"
	} | ip -n sw -batch -
	in_ns sw sysctl -qw net.ipv4.ip_forward=1
	tc -n sw qdisc add dev out root bfifo limit ${limit-100m}
	lines=()
	for ((i = 1; i <= hosts; i++)); do
		lines+=("host s$i ip 10.1.0.$i via $(mac sw "p$i") rate 10gbit ${host_words-}")
	done
	told snd "${lines[@]}"
	told rcv "host e0 ip 10.2.0.1 via $(mac sw out) rate 10gbit ${rcv_host_words-}"
	sleep 0.02
}

# devices NS: print its devices, without those that each namespace has
devices()
{
	ip -n "$1" -o link | sed -E 's/^[0-9]+: ([^:@]*).*/\1/' | sort |
		grep -vxE 'lo|tunl0' | paste -sd ' '
}

# field NS FILE DEV COLUMN [PRIO]: print a value of a report
field()
{
	in_ns "$1" awk -F, -v dev="$3" -v want="$4" -v prio="${5-}" '
	NR == 1 {
		for (i = 1; i <= NF; i++)
			if ($i == want) col = i
		next
	}
	$1 == dev && (prio == "" || $2 == prio) { print $col }' \
		"/proc/net/rocehost/$2"
}

# took NS: print how long messages took, if all took equally long
took()
{
	in_ns "$1" awk -F, 'NR > 1 && !seen[$NF]++ { print $NF }' \
		/proc/net/rocehost/completions
}

# near WHAT GOT WANTED PERMILLE: check that GOT differs from WANTED by at most
# PERMILLE
near()
{
	local off=$(($2 > $3 ? $2 - $3 : $3 - $2))

	note "$1: $2, calculated $3"
	check "$1: difference to $3" $((off * 1000)) -le $(($3 * $4))
}

# A packet and its ACK: frames of 1,098 and 62 bytes and twice the delay
test_round_trip()
{
	local rate delay

	for rate in 1 10 100; do
		for delay in 2000 2500000; do
			host_words="rate ${rate}gbit"
			rcv_host_words=$host_words
			pair "rate ${rate}gbit delay ${delay}ns"
			told snd "flow e0 to 10.1.0.2 mtu 1024 size 1024 messages 20 every 7001us"
			run 160
			near "$rate Gb/s, $delay ns" "$(took snd)" \
				$((2 * delay + (1098 + 62) * 8 / rate)) 1
			check "messages" "$(sum snd flows messages)" -eq 20
			unload
			cleanup
		done
	done
}

# A switch receives a whole frame before it begins to send it
test_two_hops()
{
	wires 1 "rate 10gbit delay 3us" "rate 10gbit delay 5us"
	told snd "flow s1 to 10.2.0.1 mtu 1024 size 1024 messages 20 every 701us"
	run 20
	near "round trip" "$(took snd)" \
		$((2 * (3000 + 5000) + 2 * (1098 + 62) * 8 / 10)) 1
	unload
}

# Timers are late, but the line is never idle
test_line_rate()
{
	local rate

	for rate in 1 25 100; do
		host_words="rate ${rate}gbit rp off" rcv_host_words="rate ${rate}gbit"
		pair "rate ${rate}gbit delay 2us"
		told snd "flow e0 to 10.1.0.2 mtu 1024 $endless"
		run 5
		near "busy at $rate Gb/s, ns" "$(field snd wires e0 busy_ns)" \
			5000000 3
		check "resent" "$(sum snd flows resent)" -eq 0
		unload
		cleanup
	done
}

# capture NS DEV: begin to capture PFC frames. captured: end the capture, and
# write the frames to $TMP/pfc, in hexadecimal digits.
capture()
{
	ip netns exec "$1" tcpdump -i "$2" -nxx -U --immediate-mode \
		"ether proto 0x8808" >"$TMP/tcpdump" 2>"$TMP/listening" &
	tcpdump=$!
	until grep -qs listening "$TMP/listening"; do
		sleep 0.02
	done
}

captured()
{
	sleep 0.05
	kill $tcpdump
	wait $tcpdump
	sed -nE 's/^\t0x....:  //p' "$TMP/tcpdump" | tr -d ' \n' |
		sed 's/0180c2000001/\n&/g' >"$TMP/pfc"
}

# The PFC frames of the switch are correct, and the host's stack receives them
# as from a NIC
test_pause_frame()
{
	host_words="rp off"
	wires 2 "rate 10gbit" "rate 10gbit pfc 3,5 buffer 1m"
	for i in 1 2; do
		told snd "flow s$i to 10.2.0.1 dscp 26 $endless"
	done
	capture snd s1
	run 5
	captured
	note "$(grep -c 8808 "$TMP/pfc") frames"
	src=$(mac sw p1)
	# opcode 0x0101, class 3, quanta of classes 0 to 7, padding
	for quanta in ffff 0000; do
		check "frames with $quanta" "$(grep -cx "0180c2000001${src//:/}880801010008000000000000${quanta}00000000000000000*" "$TMP/pfc")" -ge 1
	done
	check "counted" "$(field snd pfc s1 rx_pause 3)" -ge 1
	check "sent" "$(field sw pfc p1 tx_pause 3)" -ge 1
	check "class 5" "$(field snd pfc s1 rx_pause 5)" -eq 0
	unload
}

# pause NS DEV HEX: send a frame with this opcode, classes and quanta
pause()
{
	ip netns exec "$1" python3 -c '
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
s.send(bytes.fromhex("0180c2000001" "020000000001" "8808" + sys.argv[2]))
' "$2" "$3"
}

# The ends of a wire pause each other for 300 us in every 1.5 ms.  With "pfc
# frames", the queue that sends into the wire marks nothing.  With "pfc txq", it
# detects a pause only when nothing has left for 105 us, the time that two
# batches of 64 KB take at 10 Gb/s.
test_flap()
{
	local way marks off

	host_words="rp off"
	for way in off frames txq; do
		wires 1 "rate 10gbit pfc 3 flap 300us flap-gap 1200us $([ $way != txq ] || echo pfc-hide)" \
			"rate 10gbit"
		tc -n sw qdisc replace dev out root handle 10: iqcn pfc $way \
			kmin 30000 kmax 30000 notify off
		told snd "flow s1 to 10.2.0.1 dscp 26 rate 6gbit $endless"
		run 15
		marks=$(stat ecn_mark out)
		case $way in
		off)
			off=$marks
			check "marks" "$off" -gt 300
			;;
		frames)
			check "pauses" "$(stat pauses out)" -ge 10
			check "marks" "$marks" -eq 0
			;;
		txq)
			check "pauses" "$(stat pauses out)" -ge 10
			check "marks" "$marks" -le $((off / 10))
			# a pause counts from when the depth reaches the
			# threshold
			check "mean pause" $(($(stat paused_ns out) / ($(stat pauses out) + 1))) -gt 200000
			;;
		esac
		check "drops" "$(stat drops out)" -eq 0
		unload
		cleanup
	done
}

# A host obeys a PFC frame that a script injects: 65,535 quanta of 512 bits are
# 3,355,392 ns at 10 Gb/s
test_obeys()
{
	host_words="rate 10gbit rp off" rcv_host_words="rate 10gbit"
	pair "rate 10gbit delay 2us pfc 3"
	told snd "flow e0 to 10.1.0.2 dscp 26 rate 1gbit $endless"
	told snd "start for 1s"
	sleep 0.05
	pause rcv e1 "01010008 0000 0000 0000 ffff 0000 0000 0000 0000"
	sleep 0.01
	check "paused time" "$(field snd pfc e0 paused_ns 3)" -eq 3355392
	# the second frame ends the pause that the first one began
	pause rcv e1 "01010008 0000 0000 0000 ffff 0000 0000 0000 0000"
	pause rcv e1 "01010008 0000 0000 0000 0000 0000 0000 0000 0000"
	sleep 0.01
	check "frames" "$(field snd pfc e0 rx_pause 3)" -eq 2
	note "paused $(field snd pfc e0 paused_ns 3) ns"
	sent=$(sum snd flows packets)
	sleep 0.01
	check "goes on" "$(sum snd flows packets)" -gt "$sent"
	# while the sender is paused, nothing is sent and nothing is lost
	pause rcv e1 "01010008 0000 0000 0000 ffff 0000 0000 0000 0000"
	sent=$(sum snd flows packets)
	sleep 0.002
	check "packets during the pause" "$(sum snd flows packets)" -le \
		$((sent + 2))
	check "resent" "$(sum snd flows resent)" -eq 0
	unload
}

test_obeys_not()
{
	host_words="rate 10gbit rp off" rcv_host_words="rate 10gbit"
	pair "rate 10gbit delay 2us pfc 3"
	told snd "flow e0 to 10.1.0.2 dscp 26 rate 1gbit $endless"
	told snd "start for 1s"
	sleep 0.05
	# a class without PFC; no class; a PAUSE of 802.3x; too short
	pause rcv e1 "01010004 0000 0000 ffff 0000 0000 0000 0000 0000"
	pause rcv e1 "01010000 ffff ffff ffff ffff ffff ffff ffff ffff"
	pause rcv e1 "0001ffff 0000 0000 0000 ffff 0000 0000 0000 0000"
	pause rcv e1 "01010008 0000 0000 0000 ffff"
	sleep 0.01
	check "frames" "$(field snd pfc e0 rx_pause 3)" -eq 0
	check "paused time" "$(field snd pfc e0 paused_ns 3)" -eq 0
	unload
}

# incast HOSTS WORDS: HOSTS hosts send at line rate to rcv for 10 ms; WORDS are
# for the wires of these hosts
incast()
{
	local i flows=()

	host_words="rp off"
	wires "$1" "rate 10gbit" "rate 10gbit $2"
	for ((i = 1; i <= $1; i++)); do
		flows+=("flow s$i to 10.2.0.1 dscp 26 $endless")
	done
	told snd "${flows[@]}"
	run 10
}

# lossless HOSTS: check that the hosts received at least HOSTS pauses, that
# nothing was lost, and that the link was busy
lossless()
{
	check "pauses" "$(sum snd pfc rx_pause)" -ge "$1"
	check "overflow" "$(sum sw pfc overflow)" -eq 0
	check "resent" "$(sum snd flows resent)" -eq 0
	check_eq "drops of the qdisc" "$(tc -n sw -s qdisc show dev out |
		grep -o 'dropped [0-9]*')" "dropped 0"
	near "busy, ns" "$(field sw wires out busy_ns)" 10000000 10
	note "$(sum snd pfc rx_pause) pauses, $(sum snd pfc paused_ns) ns"
}

test_two_to_one()
{
	incast 2 "pfc 3 buffer 1m"
	lossless 2
	unload
}

test_sixteen_to_one()
{
	incast 16 "pfc 3 buffer 2m delay 10us"
	lossless 16
	unload
}

# Without PFC, the qdisc drops packets of the traffic of test_two_to_one
test_without_pfc()
{
	local limit=1m

	incast 2 ""
	check_eq "priorities with PFC" "$(sum snd pfc rx_pause)" 0
	check "drops" "$(tc -n sw -s -j qdisc show dev out |
		grep -o '"drops":[0-9]*' | cut -d: -f2)" -ge 100
	unload
}

# The depth of mq is that of the queues of all priorities
test_probe_of_mq()
{
	local host_words="rate 10gbit rp off" rcv_host_words="rate 10gbit"

	wires 2 "rate 10gbit delay 1us" "rate 10gbit delay 1us"
	tc -n sw -batch - <<-EOF
		qdisc replace dev out root handle 1: mq
		qdisc add dev out parent 1:3 handle 3: bfifo limit 100m
		qdisc add dev out parent 1:4 handle 4: bfifo limit 100m
	EOF
	told sw "probe out every 10us samples 1000"
	told snd "flow s1 to 10.2.0.1 dscp 16 $endless" \
		"flow s2 to 10.2.0.1 dscp 26 $endless"
	run 4
	in_ns sw tail -n 1 /proc/net/rocehost/samples >"$TMP/sample"
	note "last: $(cat "$TMP/sample")"
	# half of 20 Gb/s in 4 ms is 5 MB
	check "depth" "$(cut -d, -f3 "$TMP/sample")" -ge 4000000
	near "sent" "$(cut -d, -f4 "$TMP/sample")" 5000000 30
	unload
}

# Samples include the time for which a device was paused
test_probe_of_pauses()
{
	local host_words="rate 10gbit rp off" rcv_host_words="rate 10gbit"
	local probed

	wires 2 "rate 10gbit" "rate 10gbit pfc 3 buffer 1m"
	told snd "probe s1 every 10us samples 2000"
	told snd "flow s1 to 10.2.0.1 dscp 26 $endless" \
		"flow s2 to 10.2.0.1 dscp 26 $endless"
	run 10
	probed=$(in_ns snd tail -n 1 /proc/net/rocehost/samples | cut -d, -f8)
	check "paused, ns" "$probed" -ge 1000000
	# the report includes only pauses that have ended
	near "paused, ns" "$probed" "$(field snd pfc s1 paused_ns 3)" 20
	unload
}

# Packets that the host's own qdisc drops are counted as refused
test_refused()
{
	host_words="rate 1gbit rp off" rcv_host_words="rate 1gbit"
	pair "rate 1gbit delay 1us"
	tc -n snd qdisc replace dev e0 root bfifo limit 100
	told snd "flow e0 to 10.1.0.2 mtu 1024 $endless"
	run 5
	check "refused" "$(sum snd hosts refused)" -ge 100
	check_eq "refused" "$(sum snd hosts refused)" \
		"$(tc -n snd -s -j qdisc show dev e0 | jq '.[0].drops')"
	check "refused at the other end" "$(sum rcv hosts refused)" -eq 0
	unload
}

# A receiver that is slower than its link stops the sender
test_drain()
{
	host_words="rate 10gbit rp off" rcv_host_words="rate 10gbit drain 1gbit"
	pair "rate 10gbit delay 2us pfc 3 buffer 256k"
	told snd "flow e0 to 10.1.0.2 dscp 26 $endless"
	run 20
	check "pauses" "$(field rcv pfc e1 tx_pause 3)" -ge 2
	check "overflow" "$(field rcv pfc e1 overflow 3)" -eq 0
	check "resent" "$(sum snd flows resent)" -eq 0
	# 4,096 of 4,154 bytes are payload
	near "payload received, bytes" "$(sum rcv sinks bytes)" \
		$((20 * 125000 * 4096 / 4154)) 10
	unload
}

# PFC stops one priority only
test_priorities()
{
	host_words="rate 10gbit rp off" rcv_host_words="rate 10gbit"
	pair "rate 10gbit delay 2us pfc 3,4"
	told snd "flow e0 name low to 10.1.0.2 dscp 26 rate 1gbit $endless" \
		"flow e0 name high to 10.1.0.2 dscp 34 rate 1gbit $endless"
	told snd "start for 1s"
	sleep 0.05
	pause rcv e1 "01010008 0000 0000 0000 ffff 0000 0000 0000 0000"
	before=$(field snd flows e0 packets low) high=$(field snd flows e0 packets high)
	sleep 0.002
	check "paused priority" "$(field snd flows e0 packets low)" -le $((before + 2))
	check "the other one" "$(field snd flows e0 packets high)" -ge $((high + 40))
	unload
}

test_rate_change()
{
	host_words="rate 10gbit rp off" rcv_host_words="rate 10gbit"
	pair "rate 10gbit delay 2us pfc 3 buffer 1m"
	told snd "rate e0 at 2ms to 1gbit" "rate e0 at 4ms to 10gbit"
	told snd "flow e0 to 10.1.0.2 dscp 26 $endless"
	run 5
	check "speed" "$(in_ns snd ethtool e0 | sed -n 's/.*Speed: \([0-9]*\)Mb.*/\1/p')" -eq 10000
	near "payload received, bytes" "$(sum rcv sinks bytes)" \
		$(((2 * 1250 + 2 * 125 + 1250) * 1000 * 4096 / 4154)) 10
	unload
}

# Frames on a wire that fails are lost, and the flow goes on afterwards
test_failure()
{
	host_words="rate 10gbit rp off rto 1ms" rcv_host_words="rate 10gbit"
	pair "rate 10gbit delay 50us"
	told snd "fail e0 at 2ms for 1ms"
	told snd "flow e0 to 10.1.0.2 rate 1gbit size 1m messages 1"
	run 40
	check "lost" "$(sum snd wires lost)" -ge 1
	check "messages" "$(sum snd flows messages)" -eq 1
	check "resent" "$(sum snd flows resent)" -ge 1
	unload
}

test_wire_words()
{
	ip netns add snd
	load
	refused_lines snd <<-EOF
		wire | a wire needs the names of two devices
		wire a | a wire needs the names of two devices
		wire a a | "a", "a": not the names of two devices
		wire a/b c | "a/b", "c": not the names of two devices
		wire a lo | "a" or "lo" exists
		wire a b rate 0 | rate: 0 is out of range (1000000 to 1000000000000)
		wire a b delay 100ns | delay: 100ns is out of range (500 to 1000000000)
		wire a b delay 2s | delay: 2s is out of range (500 to 1000000000)
		wire a b pfc 8 | pfc: "8" is not a valid PRIO[,PRIO]...
		wire a b pfc 3, | pfc: "3," is not a valid PRIO[,PRIO]...
		wire a b pfc | pfc: value missing (PRIO[,PRIO]...)
		wire a b alpha 0/1 | alpha: 0/1 is out of range (1 to 4294967296)
		wire a b alpha 2 | alpha: "2" is not a valid N/M
		wire a b headroom maybe | headroom: "maybe" is not a valid BYTES|auto
		wire a b buffer 1k | buffer: 1k is out of range (16384 to 4294967296)
		wire a b pfc 3 buffer 64k | buffer: 65536 bytes at "a" are less than its headroom, 124976 bytes
		wire a b mtu 9000 | unknown word "mtu"
		fail lo at 1ms for 1ms | "lo" is not a wire
		rate lo at 1ms to 1gbit | "lo" is not a wire
		host lo drain 1gbit ip 10.0.0.1 | "lo" is not Ethernet
	EOF
	told snd "wire a b"
	check_eq "ip link add" "$(ip -n snd link add c type rhwire 2>&1)" \
		"Error: only rocehost's ctl adds a wire."
	refused_lines snd <<-EOF
		wire a c | "a" or "c" exists
		wire c b | "c" or "b" exists
		fail a at 1ms | for: a failure needs its duration
		fail a for 1ns | for: 1ns is out of range (1000 to 1000000000000)
		rate a at 1ms | to: a change needs the new rate
		rate b to 1kbit | to: 1kbit is out of range (1000000 to 1000000000000)
		host a drain 1gbit ip 10.0.0.1 | drain: "a" is not a wire with pfc
	EOF
	for i in 1 2 3 4 5 6 7; do
		told snd "fail a at ${i}ms for 10us"
	done
	told snd "rate a at 8ms to 1gbit"
	# two changes do not fit, but one does
	refused_lines snd <<-EOF
		fail a at 9ms for 10us | a wire changes at most 16 times
	EOF
	told snd "rate a at 9ms to 1gbit"
	refused_lines snd <<-EOF
		rate a to 1gbit | a wire changes at most 16 times
	EOF
	# the refused commands have left no device
	check_eq "devices" "$(devices snd)" "a b"
	unload
}

# A switch has one buffer, which the headrooms of all its ports must fit into
test_buffer_of_switch()
{
	host_words="rp off"
	wires 3 "rate 10gbit pfc 3 buffer 32k headroom 16k" \
		"rate 10gbit pfc 3 buffer 32k headroom 16k"
	told snd "flow s1 to 10.2.0.1 dscp 26 $endless"
	refused_lines snd <<-EOF
		start for 5ms | buffer: 32768 bytes at "p1" are less than its headroom, 81920 bytes
	EOF
	unload
}

# The stack's own traffic uses a wire like any other device
test_stack()
{
	wired "rate 1gbit delay 100us pfc 0,1,2,3,4,5,6,7 buffer 1m"
	ip -n snd -batch - <<-EOF
		link set e0 up
		addr add $SND4/24 dev e0
		addr add $SND6/64 dev e0 nodad
	EOF
	ip -n rcv -batch - <<-EOF
		link set e1 up
		addr add $RCV4/24 dev e1
		addr add $RCV6/64 dev e1 nodad
	EOF
	sleep 0.1
	for to in $RCV4 $RCV6; do
		in_ns snd ping -qc 20 -i 0.002 -s 8000 "$to" >"$TMP/ping" ||
			fail "ping $to: $(cat "$TMP/ping")"
		# 8,000 bytes and headers take 64 us each way
		check "round trip, us" "$(sed -n 's,^rtt.*= \([0-9]*\)\.\([0-9]*\)/.*,\1\2,p' \
			"$TMP/ping")" -ge 325
	done
	check "speed" "$(in_ns snd ethtool e0 | sed -n 's/.*Speed: \([0-9]*\)Mb.*/\1/p')" -eq 1000
	check "bytes, as ip counts" "$(ip netns exec snd cat /sys/class/net/e0/statistics/tx_bytes)" -ge 320000
	unload
}

# busy: let three hosts send to rcv through the switch, with PFC, for up to 10 s
busy()
{
	local i

	host_words="rp off"
	wires 3 "rate 10gbit pfc 3 buffer 1m" "rate 10gbit pfc 3 buffer 1m"
	for i in 1 2 3; do
		told snd "flow s$i to 10.2.0.1 dscp 26 $endless"
	done
	told snd "start for 10s"
	sleep 0.03
}

# If one end of a wire is deleted, so is the other end
test_ends_go()
{
	busy
	ip -n sw link del p1
	ip -n snd link show s1 >/dev/null 2>&1 && fail "s1 is still there"
	sleep 0.01
	sent=$(sum snd flows packets)
	sleep 0.01
	check "the others go on" "$(sum snd flows packets)" -gt "$sent"
	ip -n snd link set s2 down
	sleep 0.01
	ip -n snd link set s2 up
	ip netns del sw
	sleep 0.1
	check_eq "devices of snd" "$(devices snd)" ""
	unload
}

# A switch port moves to another namespace, and back
test_moves()
{
	busy
	ip -n sw link set p1 netns rcv
	sleep 0.01
	ip -n rcv link set p1 netns sw
	ip -n sw -batch - <<-EOF
		link set p1 up
		route add 10.1.0.1 dev p1
		neigh add 10.1.0.1 lladdr $(mac snd s1) dev p1
	EOF
	sleep 0.05
	before=$(field snd flows s1 packets)
	sleep 0.02
	check "s1 goes on" "$(field snd flows s1 packets)" -gt "$before"
	check "overflow" "$(sum sw pfc overflow)" -eq 0
	unload
}

test_unload_under_traffic()
{
	busy
	unload
	check_eq "devices" "$(devices sw)" ""
	load
	told snd "wire a b"
	unload
}

run_tests
