# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # vlan_args is read by lib.sh, guest.sh sets
# rp
#
# Items: what is done to the qdisc while it is busy, one function item_NAME
# each. Sourced by guest.sh.  Commands that may fail are in "try": the kernel
# must survive them.

# These functions set variables instead of printing, because a subshell would
# have its own sequence of random numbers.
#
# any WORD...: set $one to one of them
any()
{
	one=${*:RANDOM % $# + 1:1}
}

MAD=(
	"limit 1 3000 20000 1m 4294967295"
	"kmin 0 1 5000"
	"pmax 0 0.5 1"
	"notify off timer wreb pi timer,wreb timer,wreb,pi"
	"detect queue depth run span queue,depth,run,span"
	"trigger timer period gap"
	"base ce cnp both"
	"delay 0 20us 3ms auto"
	"measure depth gradient delay depth,gradient,delay"
	"profile mark 1000:0.5,2000:1 0:1"
	"update 10$us 100$us 1s"
	"min-gap 0 1ms"
	"telemetry on off"
	"window 10$us 1ms 1s"
	"bandwidth 0 1mbit 10mbit"
	"sample 1 2 64"
	"group off 7"
	"pair sport cnp psn cm"
	"flows 1 3 65536"
	"age 1ms 100ms 10s"
	"snoop port netns"
	"fiber none 1km 500km"
	"filter off 1/100us 2/1ms"
	"filter-by flow port"
	"cnp-smac port receiver"
	"cnp-sport learned echo"
	"cnp-rate 1 10000000"
	"cnp-burst 1 1024"
	"ce-in notify silent"
	"mark-on enqueue dequeue"
	"nonect pass drop"
)

# mad: set $mad to an iqcn with five random valid parameters, and a T1 of at
# least the period
mad()
{
	local i at=$((RANDOM % ${#MAD[@]})) spec

	any 10$us 300$us 1s
	mad=(iqcn qref 1 kmax 4294967295 period "10$us" t1 "$one")
	for ((i = 0; i < 5; i++)); do
		# stepping by 7 never picks a parameter twice
		read -ra spec <<<"${MAD[at = (at + 7) % ${#MAD[@]}]}"
		any "${spec[@]:1}"
		mad+=("${spec[0]}" "$one")
	done
}

# madden: change the iqcn of p1's bottleneck to parameters from mad
madden()
{
	mad
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: "${mad[@]}" ||
		fail "change: ${mad[*]}"
}

# try COMMAND...: run a command that may fail
try()
{
	"$@" >/dev/null 2>&1
}

# 1. add, replace, change, delete, with a backlog, and with a packet that the
# device has requeued
item_replace()
{
	local i

	any bridge router
	traffic "$one"
	congest
	ip -n sw link add d0 numtxqueues 4 type dummy
	ip -n sw link set d0 mtu 9000 up
	tc -n sw qdisc add dev d0 root handle 10: iqcn
	for ((i = 0; i < 12; i++)); do
		# a blast stops the device queue, except for the last of 64
		# packets
		[ $((i % 6)) != 0 ] ||
			rh sw "blast d0 queue $((i / 6)) packets 3000 flows 50 depth 64 mtu 256 ect 2" &
		case $((RANDOM % 6)) in
		0)
			congest
			madden
			;;
		1)
			mad
			tc -n sw qdisc replace dev p1 root handle 30: "${mad[@]}" ||
				fail "replace: ${mad[*]}"
			;;
		2)
			mad
			try tc -n sw qdisc change dev p1 parent 1:1 handle 10: "${mad[@]}"
			;;
		3) try tc -n sw qdisc del dev p1 root ;;
		4) try tc -n sw qdisc replace dev p1 root pfifo ;;
		5) try tc -n sw qdisc replace dev p1 parent 1:1 handle 20: "${mad[@]}" ;;
		esac
		mad
		tc -n sw qdisc change dev d0 root handle 10: "${mad[@]}" ||
			fail "change: ${mad[*]}"
		[ $((RANDOM % 4)) != 0 ] ||
			try tc -n sw qdisc replace dev d0 root handle 10: iqcn
		sleep 0.0$((RANDOM % 5))
	done
	wait
	ip -n sw link del d0
	congest
	flowing
}

# 2. delete a namespace with armed timers and backlog
item_netns()
{
	any bridge router
	traffic "$one"
	congest
	madden
	sleep 0.1
	any sw sw snd rcv
	ip netns del "$one"
	sleep 0.1
}

# 3. set the link down and up, change the device's MTU, name and namespace,
# delete it
item_device()
{
	local i

	traffic bridge
	congest
	for ((i = 0; i < 5; i++)); do
		sleep 0.05
		case $((RANDOM % 3)) in
		0)
			ip -n sw link set p1 down
			[ $((RANDOM % 2)) = 0 ] || sleep 0.01
			ip -n sw link set p1 up
			;;
		1)
			any 1500 4200 9000
			ip -n sw link set p1 mtu "$one"
			;;
		2)
			ip -n sw -batch - <<-EOF
				link set p1 down
				link set p1 name uplink
				link set uplink up
			EOF
			sleep 0.02
			ip -n sw -batch - <<-EOF
				link set uplink down
				link set uplink name p1
				link set p1 up
			EOF
			;;
		esac
		congest
		madden
	done
	case $((RANDOM % 3)) in
	0) ip -n sw link del p1 ;;
	1) ip -n rcv link del e0 ;;
	2)
		ip -n sw link set p1 netns snd
		ip -n snd link set p1 up
		mad
		tc -n snd qdisc add dev p1 root "${mad[@]}" || fail "add: ${mad[*]}"
		sleep 0.02
		ip -n snd link set p1 netns sw
		;;
	esac
}

# 4. try to unload the module while it is in use; unload and load it otherwise
item_module()
{
	local i

	traffic bridge
	congest
	for ((i = 0; i < 3; i++)); do
		rmmod sch_iqcn 2>/dev/null && fail "a module in use was unloaded"
		sleep 0.02
	done
	flowing
	for ((i = 0; i < 4; i++)); do
		tc -n sw qdisc del dev p1 root
		rmmod sch_iqcn || fail "the module does not unload"
		# tc makes the kernel load the module
		congest
		madden
		sleep 0.03
	done
}

# 5. mq with 64 iqcn children: reduce the number of queues, graft children
item_mq()
{
	local i

	topology bridge
	ip -n sw link del p1
	ip -batch - <<-EOF
		link add e0 netns rcv address $RCV_MAC mtu 9000 numtxqueues 64 numrxqueues 64 type veth peer name p1 netns sw address $P1_MAC mtu 9000 numtxqueues 64 numrxqueues 64
	EOF
	ip -n rcv link set e0 up
	ip -n sw -batch - <<-EOF
		link set p1 master br0
		link set p1 up
	EOF
	wait_forwarding
	senders
	tc -n sw qdisc add dev p1 root handle 1: mq
	for ((i = 1; i <= 64; i++)); do
		printf 'qdisc add dev p1 parent 1:%x handle %x: iqcn kmin 0 kmax 0 mark-on enqueue\n' \
			$i $((i + 16))
	done | tc -n sw -batch -
	check "queues" "$(value queues)" -eq 64
	for ((i = 0; i < 5; i++)); do
		any 1 2 7 33 64
		try in_ns sw ethtool -L p1 tx "$one"
		sleep 0.02
		mad
		printf 'qdisc replace dev p1 parent 1:%x %s\n' \
			$((RANDOM % 64 + 1)) "${mad[*]}" \
			$((RANDOM % 64 + 1)) "pfifo limit 10" \
			$((RANDOM % 64 + 1)) "iqcn kmin 0 kmax 0 mark-on enqueue" |
			tc -n sw -force -batch - >/dev/null 2>&1
	done
	try in_ns sw ethtool -L p1 tx 64
	flowing
	tc -n sw qdisc replace dev p1 root handle 2: mqprio num_tc 2 \
		map 0 0 0 0 1 1 1 1 queues 32@0 32@32 hw 0
	for ((i = 1; i <= 64; i++)); do
		printf 'qdisc replace dev p1 parent 2:%x iqcn\n' $i
	done | tc -n sw -batch -
	flowing
}

# senders: create the hosts and start 64 flows, like traffic(), but on a
# topology that the caller has created
senders()
{
	load
	rh snd "host e0 ip $SND4 rate 1gbit ${rp[*]}"
	rh rcv "host e0 ip $RCV4 rate 1gbit"
	rh snd "flow e0 to $RCV4 flows 64 mtu 256 rate $(kbits 1000) size endless" start ||
		fail "no traffic: $(in_ns snd head -n 1 /proc/net/rocehost/ctl)"
	sleep 0.05
}

# under KIND: print commands for a qdisc KIND below a bottleneck, with iqcn at
# 2:1
under()
{
	local below="qdisc add dev p1 parent 1:1 handle 2:"
	local class="class add dev p1 parent 2: classid 2:1"
	local filter="filter add dev p1 parent 2: protocol all prio 1 matchall classid 2:1"

	echo "qdisc add dev p1 root handle 1: tbf rate 10mbit burst 9k limit 1m"
	case $1 in
	prio) echo "$below prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" ;;
	ets) echo "$below ets bands 2 quanta 1500 1500 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" ;;
	drr | qfq)
		echo "$below $1"
		echo "$class $1"
		echo "$filter"
		;;
	hfsc)
		echo "$below hfsc default 1"
		echo "$class hfsc ls m2 10mbit"
		;;
	htb)
		echo "$below htb default 1"
		echo "$class htb rate 8mbit"
		;;
	tbf) echo "$below tbf rate 8mbit burst 9k limit 1m" ;;
	red) echo "$below red limit 1m min 10k max 100k avpkt 1000 ecn" ;;
	sfb) echo "$below sfb" ;;
	cbs) echo "$below cbs" ;;
	netem) echo "$below netem delay 1ms 1ms duplicate 20% reorder 20% limit 500" ;;
	plug) echo "$below prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
	      echo "qdisc add dev p1 parent 2:2 handle 5: plug limit 100000" ;;
	esac
	echo "qdisc add dev p1 parent 2:1 handle 10: iqcn kmin 3000 kmax 6000 limit 100k"
}

# 6. change and delete iqcn below other qdiscs; iqcn itself takes no child
item_parents()
{
	local kind i

	traffic bridge
	for kind in prio ets drr qfq hfsc htb tbf red sfb cbs netem plug; do
		# a random half of the kinds
		[ $((RANDOM % 2)) = 0 ] || continue
		try tc -n sw qdisc del dev p1 root
		under $kind | tc -n sw -batch - || fail "iqcn below $kind"
		sleep 0.05
		for ((i = 0; i < 3; i++)); do
			mad
			any 1 2
			case $((RANDOM % 5)) in
			0) try tc -n sw qdisc change dev p1 parent 2:1 handle 10: \
				iqcn limit 1 qref 1 ;;
			1) try tc -n sw qdisc change dev p1 parent 2:1 handle 10: \
				"${mad[@]}" ;;
			2) try tc -n sw qdisc replace dev p1 parent 2:1 "${mad[@]}" ;;
			3) try tc -n sw class del dev p1 classid 2:1 ;;
			4) try tc -n sw qdisc change dev p1 parent 1:1 handle 2: \
				ets bands 2 strict "$one" ;;
			esac
			sleep 0.02
		done
		tc -n sw qdisc add dev p1 parent 10:1 pfifo 2>/dev/null &&
			fail "iqcn took a child"
	done
	congest
	flowing
}

# 7. very many flows of few hosts, some with a VLAN tag or IPv6, which expire at
# once during a dump
item_flows()
{
	local i shower

	traffic bridge
	iqcn flows 65536 age 10s kmin 0 kmax 0 mark-on enqueue
	[ "$STRESS_FLOWS" -le 65536 ] ||
		tc -n sw qdisc change dev p1 root handle 10: iqcn flows 1048576
	for ((i = 0; i < STRESS_FLOWS; i += 16384)); do
		data --tos 3 --flows 16384 --count 16384 --len 16 --qp $((i + 1))
	done
	{
		flows | grep -c .
		in_ns sw "$BUILD/iqcn" flows --limit 10 | grep -c .
		tc -n sw -s qdisc show dev p1 | grep -c .
	} >/dev/null &
	shower=$!
	# keys that differ in one field
	vlan_args=(--vlan $((RANDOM % 4000 + 1)))
	data --tos 3 --flows 500 --count 500 --len 16
	data -6 --tos 3 --flows 500 --count 500 --len 16
	vlan_args=()
	# the table shrinks by early drop, and then by age
	tc -n sw qdisc change dev p1 root handle 10: iqcn flows $((RANDOM % 999 + 1))
	check "flows" "$(stat flows)" -lt 1000
	tc -n sw qdisc change dev p1 root handle 10: iqcn flows 65536 age 10ms
	data --tos 3 --flows 5000 --count 5000 --len 16
	wait $shower
	flowing
}

# 8. fail allocations: the nth one of a command, then random ones while packets
# arrive
item_memory()
{
	local i n command faults=/sys/kernel/debug

	if [ ! -d $faults/failslab ]; then
		note "no fault injection in this kernel"
		return
	fi
	# not verbose: the stack trace of an injected failure would count as a
	# splat
	echo 0 >$faults/failslab/verbose
	echo 0 >$faults/fail_page_alloc/verbose
	# let hardly any page allocation fail, because each failure logs a splat
	echo 10 >$faults/fail_page_alloc/min-order
	traffic bridge
	congest
	for ((i = 0; i < 25; i++)); do
		n=$((RANDOM % 200 + 1))
		mad
		case $((i % 5)) in
		0) command="qdisc replace dev p1 parent 1:1 handle 20: iqcn group 7" ;;
		1) command="qdisc change dev p1 parent 1:1 handle 10: ${mad[*]}" ;;
		2) command="qdisc replace dev p1 parent 1:1 handle 10: iqcn snoop netns" ;;
		3) command="-s qdisc show dev p1" ;;
		4) command="qdisc del dev p1 parent 1:1" ;;
		esac
		# shellcheck disable=SC2086
		(echo $n >/proc/self/fail-nth && exec tc -n sw $command) \
			>/dev/null 2>&1
	done
	congest flows 100
	echo 20 >$faults/failslab/probability
	echo 1 >$faults/failslab/interval
	echo -1 >$faults/failslab/times
	sleep 0.3
	echo 0 >$faults/failslab/probability
	flowing
}

# 9. wrap every clock and counter: 2^32 ns, 2^24 us, 32 bits of jiffies (five
# minutes after boot), 2^32 us
item_clock()
{
	local s

	# no periodic scans while the clock is advanced; the lab scans at the
	# end
	[ ! -w /sys/kernel/debug/kmemleak ] || echo scan=off >/sys/kernel/debug/kmemleak
	for s in 2 5 17 300 4300; do
		traffic bridge
		iqcn bandwidth 4mbit cnp-rate 1000000 notify timer t1 300us \
			detect queue pair psn
		sleep 0.1
		flowing
		rh snd stop
		sleep $s
		flows_follow $s
		cleanup
		rmmod rocehost
	done
}

# flows_follow S: check that flows are recreated after S seconds, and get CNPs
flows_follow()
{
	tc -n sw qdisc change dev p1 root handle 10: iqcn cnp-burst 1024
	pair_flow --psn 16777210
	sniff snd --type cnp --time 60
	data --tos 3 --count 12 --interval 1000 --psn 16777214
	wait
	check "CNPs after $1 s" "$(grep -c . "$TMP/snd")" -ge 8
}

# 10. packets of all kinds
item_packets()
{
	local v bad

	any bridge router
	traffic "$one"
	# stacks send GSO packets and fragments
	addresses snd
	addresses rcv
	congest
	# a packet socket makes every packet a clone, and so does mirred
	listener sniff sw/p1 tap --time 2000
	ip -n sw link add m0 type dummy
	ip -n sw link set m0 up
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 clsact
		filter add dev p1 egress matchall action mirred egress mirror dev m0
	EOF
	for v in "" -6; do
		for bad in frag morefrag options udplen tver icrc hopopts; do
			# shellcheck disable=SC2086
			try data $v --tos $((RANDOM % 4)) --bad $bad --count 5
			any cnp ack data req
			# shellcheck disable=SC2086
			try reply $v --type "$one" --bad $bad
		done
		for bad in 14 15 18 26 34 42 50 54 62 70 $((RANDOM % 90 + 14)); do
			# shellcheck disable=SC2086
			try data $v --tos 3 --bad truncate:$bad
			# shellcheck disable=SC2086
			try reply $v --type cnp --bad truncate:$bad
		done
		# shellcheck disable=SC2086
		data $v --gso 8 --sport 4000 --tos 2 --len 1000 --count 20 ||
			fail "no GSO packets $v"
	done
	for vlan in 100 "ad:200 --vlan 100" "ad:300 --vlan 200 --vlan 100"; do
		# shellcheck disable=SC2206
		vlan_args=(--vlan $vlan)
		data --tos 3 --count 20 --len 4096
		data -6 --tos 2 --count 20
	done
	vlan_args=()
	# fragments
	try in_ns snd ping -c 2 -i 0.01 -W 0.1 -Q 2 -s 20000 "$rcv4"
	shared
	wait
	tc -n sw qdisc del dev p1 clsact
	flowing
}

# 11. read all interfaces, while data leave on one CPU, answers arrive on the
# other, and parameters change
item_readers()
{
	local i readers

	any bridge router
	traffic "$one"
	congest pair sport
	rm -f "$TMP/seen"
	look_tc &
	readers=$!
	look_iqcn &
	readers+=" $!"
	for ((i = 0; i < 8; i++)); do
		steer p0 $((i % 2))
		steer p1 $(((i + 1) % 2))
		case $((RANDOM % 4)) in
		0)
			mad
			tc -n sw qdisc change dev p1 parent 1:1 handle 10: "${mad[@]}" ||
				fail "change: ${mad[*]}"
			;;
		1) congest pair sport base both measure depth,gradient,delay ;;
		2) in_ns sw "$BUILD/iqcn" flush p1 >/dev/null || fail "flush" ;;
		3) data --tos 3 --flows 30 --count 200 --len 256 --qp $((i + 900)) ;;
		esac
		sleep 0.1
	done
	touch "$TMP/seen"
	# shellcheck disable=SC2086
	wait $readers
	congest
	flowing
}

# steer DEV CPU: let CPU 0 or 1 process the packets that DEV receives; no effect
# if the machine does not have that CPU
steer()
{
	local rps=/sys/class/net/$1/queues/rx-0/rps_cpus

	# ip netns exec, because it mounts the namespace's /sys
	try ip netns exec sw bash -c "echo $(($2 + 1)) >$rps"
}

# look_tc, look_iqcn: read until $TMP/seen exists, with many commands per
# process, because starting a process takes longer than reading
look_tc()
{
	while [ ! -e "$TMP/seen" ]; do
		printf 'qdisc show dev p1\n%.0s' {1..20} | tc -n sw -s -batch -
		ip netns exec sw bash -c 'cat /sys/class/net/p1/iqcn/*'
		flows
		cat /sys/kernel/debug/iqcn/*/p1/queues
		# virtual time advances only while all processes sleep
		sleep 0.01
	done >/dev/null 2>&1
}

look_iqcn()
{
	while [ ! -e "$TMP/seen" ]; do
		in_ns sw "$BUILD/iqcn" monitor --interval 1ms --count 50
		in_ns sw "$BUILD/iqcn" show
		in_ns sw "$BUILD/iqcn" flows
		sleep 0.01
	done >/dev/null 2>&1
}

# Send shared skbs: pktgen keeps a reference to its packets
shared()
{
	local at

	modprobe -q pktgen || return
	ip -n sw link add d0 type dummy
	ip -n sw link set d0 up
	tc -n sw qdisc add dev d0 root handle 10: iqcn kmin 0 kmax 0 mark-on enqueue
	at=/proc/net/pktgen
	in_ns sw bash -c "
		echo 'add_device d0' >$at/kpktgend_0
		for word in 'xmit_mode queue_xmit' 'count 500' 'pkt_size 300' \
			'tos 2' 'dst 10.1.0.9' 'udp_dst_min 4791' 'udp_dst_max 4791'; do
			echo \"\$word\" >$at/d0
		done
		echo start >$at/pgctrl
		# on slow kernels pktgen's threads start late
		for ((i = 0; i < 200; i++)); do
			! grep -q ' usec, ' $at/d0 || break
			sleep 0.05
		done
		echo rem_device_all >$at/kpktgend_0" 2>/dev/null
	ip -n sw link del d0
	rmmod pktgen
}

# send DEV ARGUMENT...: send data of the sender, or what the arguments say, on a
# device of sw
send()
{
	in_ns sw "$ROCE" send "$1" --smac $SND_MAC --dmac $RCV_MAC --src $SND4 \
		--dst $RCV4 "${@:2}"
}

# 12. filter requests hold a reference to the qdisc while they wait for RTNL,
# whose holder deletes the device or moves it to another namespace
item_filters()
{
	local i first="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"

	traffic bridge
	congest
	printf 'filter add dev f0 parent 1: protocol ip prio %s matchall action ok\n' \
		{1..300} >"$TMP/filters"
	for ((i = 0; i < 6; i++)); do
		ip -n sw -batch - <<-EOF
			link add f0 type dummy
			link set f0 up
		EOF
		mad
		any "prio priomap $first" "ets bands 2 priomap $first" \
			"tbf rate 80kbit burst 9k limit 1m"
		tc -n sw -batch - <<-EOF || fail "add: ${mad[*]}"
			qdisc add dev f0 root handle 1: $one
			qdisc add dev f0 parent 1:1 handle 10: ${mad[*]}
		EOF
		try tc -n sw -force -batch "$TMP/filters" &
		try tc -n sw -force -batch "$TMP/filters" &
		send f0 --tos 3 --flows 10 --count 20
		sleep 0.0$((RANDOM % 10))
		case $((RANDOM % 3)) in
		0) ip -n sw link del f0 ;;
		1)
			ip -n sw link set f0 netns snd
			ip -n snd link set f0 up
			mad
			tc -n snd qdisc add dev f0 root "${mad[@]}" ||
				fail "add: ${mad[*]}"
			;;
		2)
			ip -n sw link set f0 netns snd
			ip -n snd link set f0 netns sw
			ip -n sw link del f0
			;;
		esac
		wait
		try ip -n snd link del f0
	done
	flowing
}

# 13. samples are netlink messages, which nlmon and mirred send to the device
# that is sampled
item_taps()
{
	local i

	modprobe -q nlmon
	modprobe psample
	traffic bridge
	congest
	if ! ip -n sw link add nl0 type nlmon 2>/dev/null; then
		note "no nlmon in this kernel"
		return
	fi
	ip -n sw link set nl0 up
	tc -n sw qdisc add dev nl0 clsact
	try "$BUILD/psample" sw 7 --time 1500 &
	for ((i = 0; i < 6; i++)); do
		any mirror redirect
		try tc -n sw filter del dev nl0 egress
		tc -n sw filter add dev nl0 egress matchall \
			action mirred egress "$one" dev p1 || fail "mirred"
		any 1 2 64
		case $((RANDOM % 3)) in
		0) congest group 7 sample "$one" ;;
		1) try tc -n sw qdisc replace dev p1 root handle 10: iqcn group 7 \
			sample "$one" kmin 0 kmax 0 mark-on enqueue ;;
		2)
			ip -n sw link set nl0 down
			congest group 7 sample "$one"
			ip -n sw link set nl0 up
			;;
		esac
		sleep 0.1
	done
	ip -n sw link del nl0
	wait
	congest
	flowing
}

# 14. MTUs, speeds and bandwidths whose products exceed 32 bits, for paired
# flows that get CNPs with telemetry
item_extremes()
{
	local i

	traffic bridge
	congest telemetry on
	modprobe -q tun
	try in_ns sw ip tuntap add dev t0 mode tap
	ip -n sw -batch - <<-EOF
		link add d0 type dummy
		link add a0 type dummy
		link add i0 type ifb
		link set d0 up
		link set a0 up
		link set i0 up
		link set t0 up
	EOF
	# redirect packets of a0 to the ingress of d0
	tc -n sw -batch - <<-EOF
		qdisc add dev a0 clsact
		filter add dev a0 egress matchall action mirred ingress redirect dev d0
		qdisc add dev i0 root handle 10: iqcn telemetry on
		qdisc add dev t0 root handle 10: iqcn telemetry on
	EOF
	for ((i = 0; i < 6; i++)); do
		ip -n sw link set d0 mtu 1500
		any 0 1mbit 1000tbit
		tc -n sw qdisc replace dev d0 root handle 10: iqcn telemetry on \
			bandwidth "$one" || fail "bandwidth $one"
		send d0 --tos 3 --count 4
		in_ns sw "$ROCE" send a0 --smac $RCV_MAC --dmac $SND_MAC --src $RCV4 \
			--dst $SND4 --type ack --qp 0x800011 --count 4
		any 68 65535 134217714 268435442 536870898 2147483647
		ip -n sw link set d0 mtu "$one" || fail "mtu $one"
		try ip -n sw link set i0 mtu "$one"
		send d0 --tos 2 --psn 100 --len 16 --count 10
		tc -n sw qdisc del dev d0 root
		try tc -n sw qdisc add dev d0 root handle 10: iqcn telemetry on
		any 0 10 800000 4294967294
		try in_ns sw ethtool -s t0 speed "$one" duplex full
		any 68 1280 65535
		try ip -n sw link set p1 mtu "$one"
		any 0 1mbit 1000tbit
		congest telemetry on bandwidth "$one"
	done
	ip -n sw link set p1 mtu 9000
	congest
	flowing
}

# 15. a receiver moves between ports of a bridge that learns its address, like a
# virtual machine that migrates, while CNPs are pending at the old port
item_receivers()
{
	local i port monitor

	topology bridge
	# put a bridge into the receiver's namespace, with uplinks to p1 (the
	# old e0, now u1) and to p2, and a new e0 behind the bridge
	ip -n rcv -batch - <<-EOF
		link set e0 down
		link set e0 name u1
		link set u1 address 02:00:00:00:00:b1
		link add u2 mtu 9000 type veth peer name p2 netns sw mtu 9000
		link add e0 address $RCV_MAC mtu 9000 type veth peer name m0 mtu 9000
		link add rb type bridge mcast_snooping 0
		link set m0 master rb
		link set u1 master rb
		link set e0 up
		link set m0 up
		link set u1 up
		link set u2 up
		link set rb up
	EOF
	ip -n sw -batch - <<-EOF
		link set p2 master br0
		link set p2 up
	EOF
	bridge -n sw fdb del $RCV_MAC dev p1 master
	load
	rh snd "host e0 ip $SND4 rate 1gbit ${rp[*]} via $RCV_MAC"
	rh rcv "host e0 ip $RCV4 rate 1gbit via $SND_MAC"
	announce
	rh snd "flow e0 to $RCV4 flows 24 mtu 1024 rate $(kbits 2000) size endless" \
		start || fail "no traffic: $(in_ns snd head -n 1 /proc/net/rocehost/ctl)"
	congest
	flowing
	# the box sends CNPs only for flows that are paired
	for ((i = 0; i < 50; i++)); do
		[ "$(stat cnp_sent)" -lt 50 ] || break
		sleep 0.1
	done
	check "CNPs" "$(stat cnp_sent)" -ge 50
	bridge -n sw monitor fdb >"$TMP/fdb" &
	monitor=$!
	for ((i = 0; i < 6; i++)); do
		port=$((2 - i % 2))
		# the previous port still has a queue, whose flows have CNPs
		# pending
		[ $port = 1 ] || mirror_bottleneck
		ip -n rcv -batch - <<-EOF
			link set u$((3 - port)) nomaster
			link set u$port master rb
		EOF
		announce
		flowing
		sleep 0.0$((RANDOM % 10))
	done
	rh snd stop
	kill -PIPE $monitor
	wait
	# the bridge learns each move once, and CNPs of the old port do not
	# revert it
	check "moves learned" "$(grep -c "$RCV_MAC dev p" "$TMP/fdb")" -eq 6
}

# announce: send packets, as a receiver does after it has moved
announce()
{
	reply --type udp --count 3
}

# mirror_bottleneck: give p2 a bottleneck like that of p1
mirror_bottleneck()
{
	any 50$us 300$us 900$us
	tc -n sw -batch - <<-EOF || fail "p2"
		qdisc replace dev p2 root handle 1: tbf rate $(kbits 10000) burst 9k limit 1g
		qdisc replace dev p2 parent 1:1 handle 10: iqcn limit 200k kmin 5000 kmax 20000 t1 $one
	EOF
}

# 16. unprivileged users create queues of their own, and exit with packets in
# them
item_users()
{
	local i user public=$TMP/public users=()

	# readable for uid 65534
	chmod 711 "$TMP"
	mkdir -p "$public"
	chmod 755 "$public"
	install -m 755 "$ROCE" "$BUILD/q_iqcn.so" "$public"
	traffic bridge
	congest
	for ((i = 0; i < 5; i++)); do
		mad
		# not a child of this shell, which would report that it was
		# killed
		users+=("$(TC_LIB_DIR=$public setpriv --reuid 65534 --regid 65534 \
			--clear-groups unshare -Urn bash -c "$(declare -f user_lives)
				user_lives '${mad[*]}' $public/roce $SND4 $RCV4" \
			<"$TMP/never" >/dev/null 2>&1 & echo $!)")
		sleep 0.$((RANDOM % 5))
		[ $((RANDOM % 2)) = 0 ] ||
			try kill -KILL "${users[RANDOM % ${#users[@]}]}"
	done
	sleep 0.5
	for user in "${users[@]}"; do
		try kill -KILL "$user"
	done
	flowing
}

# user_lives IQCN ROCE SRC DST: run until killed.  Packets keep a reference to
# the namespace, so it outlives the user by the few seconds until they are sent.
user_lives()
{
	local dev

	for dev in d0 d1; do
		ip link add $dev type dummy
		ip link set $dev up
		tc qdisc add dev $dev root handle 1: tbf rate 16kbit burst 2k limit 1m
		# fall back if the parameters are not allowed for users
		tc qdisc add dev $dev parent 1:1 handle 10: $1 ||
			tc qdisc add dev $dev parent 1:1 handle 10: iqcn kmin 0 kmax 0 mark-on enqueue
		"$2" send $dev --smac 02:00:00:00:00:01 --dmac 02:00:00:00:00:02 \
			--src "$3" --dst "$4" --tos 3 --flows 10 --count 30 --len 64
	done
	read -r _
}
