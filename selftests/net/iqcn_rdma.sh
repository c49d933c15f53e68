#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Real RDMA applications over rdma_rxe, bridged and routed through a bottleneck:
# they lose nothing, their packets are marked, flows are paired with the QPs
# that the applications print, and generated CNPs do no harm.
#
#   v1 (rxe1) ---- p0 [ sw ] p1 ---- v2 (rxe2)
#
# In older kernels, such as 6.1 and 6.12, the sockets of rxe are in the initial
# namespace, so v1 and v2 are there, too, and the stack must accept packets from
# its own addresses. In newer kernels, such as 7.2, v1 is in the namespace snd
# and v2 in rcv, and librdmacm works, too.
#
# User Mode Linux has no rxe.

ALL_TESTS="
	test_write_bridged
	test_write_routed
	test_read_bridged
	test_read_routed
	test_send_lat_bridged
	test_send_lat_routed
	test_pingpong
	test_rping_bridged
	test_rping_routed
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

MTU=4200

# host 1|2 COMMAND...: run COMMAND on that host
host()
{
	local ns=snd
	[ "$1" = 1 ] || ns=rcv
	shift

	if [ "$apart" ]; then
		in_ns "$ns" "$@"
	else
		"$@"
	fi
}

# rxe_is_apart: set $apart if the socket of rxe is in the namespace of its
# device
rxe_is_apart()
{
	ip netns add probe
	ip -n probe link add v0 type dummy
	ip -n probe link set v0 up
	in_ns probe rdma link add rxe0 type rxe netdev v0 2>/dev/null
	in_ns probe ss -Huln | grep -q :4791
	apart=$?
	in_ns probe rdma link del rxe0 2>/dev/null
	ip netns del probe
	[ $apart = 0 ] && apart=yes || apart=""
}

# rdma_topology bridge|router
rdma_topology()
{
	local i addr=(- 10.1.0.1/24 10.1.0.2/24)

	kind=$1
	[ "$kind" = bridge ] || addr[2]=10.2.0.2/24
	rxe_is_apart
	for i in sw ${apart:+snd rcv}; do
		ip netns add $i
	done
	for i in 1 2; do
		ip link add v$i mtu $MTU type veth peer name p$((i - 1)) netns sw
		ip -n sw link set p$((i - 1)) mtu $MTU up
	done
	if [ "$apart" ]; then
		ip link set v1 netns snd
		ip link set v2 netns rcv
	else
		sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 \
			net.ipv4.conf.all.rp_filter=0
		for i in 1 2; do
			sysctl -qw net.ipv4.conf.v$i.accept_local=1 net.ipv4.conf.v$i.rp_filter=0
		done
	fi
	for i in 1 2; do
		host $i ip link set lo up
		host $i ip addr add "${addr[i]}" dev v$i
		host $i ip link set v$i up
	done
	if [ "$kind" = bridge ]; then
		ip -n sw -batch - <<-EOF
			link add br0 type bridge mcast_snooping 0
			link set p0 master br0
			link set p1 master br0
			link set br0 up
		EOF
		wait_forwarding
	else
		in_ns sw sysctl -qw net.ipv4.ip_forward=1
		ip -n sw addr add 10.1.0.254/24 dev p0
		ip -n sw addr add 10.2.0.254/24 dev p1
		host 1 ip route add 10.2.0.0/24 via 10.1.0.254 dev v1 metric 100
		host 2 ip route add 10.1.0.0/24 via 10.2.0.254 dev v2 metric 100
	fi
	for i in 1 2; do
		host $i rdma link add rxe$i type rxe netdev v$i ||
			fail "rxe$i cannot be added"
	done
	peer=${addr[2]%/*}
}

rdma_gone()
{
	local i

	for i in 1 2; do
		host $i rdma link del rxe$i
		[ "$apart" ] || ip link del v$i
	done
	dmesg | grep -i "rxe.*\(err\|fail\)" | head -n 5
}

# narrow DEV [PARAMETER...]: set up a bottleneck on DEV that causes CNPs from a
# low depth on
narrow()
{
	local dev=$1
	shift

	tc -n sw -batch - <<-EOF
		qdisc replace dev $dev root handle 1: tbf rate 40mbit burst 20k limit 10m
		qdisc replace dev $dev parent 1:1 handle 10: iqcn limit 4m kmin 10k kmax 30k notify timer,wreb profile 20k:1 t1 5ms age 100s $*
	EOF
}

# gid DEV: print the index of the device's RoCEv2 GID for IPv4
gid()
{
	local d=/sys/class/infiniband/$1/ports/1 i

	for i in {0..15}; do
		if grep -qi v2 "$d/gid_attrs/types/$i" 2>/dev/null &&
		   grep -q ffff:0a "$d/gids/$i"; then
			echo "$i"
			return
		fi
	done
}

# perf PROGRAM ARGUMENT...: run both ends, with their output in $TMP/1 and
# $TMP/2
perf()
{
	local program=$1 server i
	shift

	# a timeout of 4 s, because packets wait long in the bottleneck
	set -- -u 20 -F -m 4096 "$@"
	host 2 "$program" -d rxe2 -x "$(gid rxe2)" "$@" >"$TMP/2" 2>&1 &
	server=$!
	for i in {1..50}; do
		host 2 ss -Hltn | grep -q :18515 && break
		sleep 0.2
	done
	host 1 timeout 200 "$program" -d rxe1 -x "$(gid rxe1)" "$@" \
		"$(control)" >"$TMP/1" 2>&1
	check "$program, 1" $? -eq 0
	wait $server
	check "$program, 2" $? -eq 0
	grep -hi "error\|fail\|syndrom" "$TMP/1" "$TMP/2" | head -n 5
}

# control: print the address for the exchange of connection parameters
control()
{
	if [ "$apart" ]; then
		echo "$peer"
	else
		echo 127.0.0.1
	fi
}

# qps SENDER RECEIVER: print "sender's QP, receiver's QP" for each connection,
# as printed by the applications on these hosts
qps()
{
	numbers "$TMP/$1" >"$TMP/senders"
	numbers "$TMP/$2" >"$TMP/receivers"
	paste -d ' ' "$TMP/senders" "$TMP/receivers" | sort
}

numbers()
{
	sed -nE 's/^ *local address:.*QPN (0x[0-9a-f]+).*/\1/p' "$1" |
		while read -r qp; do
			echo $((qp))
		done
}

# pairs DEV: like qps, but print the pairs that the box has found
pairs()
{
	awk '$1 != "#" && $5 != "-" { print $5, $4 }' \
		/sys/kernel/debug/iqcn/*/"$1"/flows |
		while read -r src dst; do
			echo $((src)) $((dst))
		done | sort
}

# told DEV FROM TO QPS: check that all QPs are paired correctly, and that the
# run was harmless
told()
{
	check_eq "pairs" "$(pairs "$1")" "$(qps "$2" "$3")"
	check "pairs" "$(pairs "$1" | wc -l)" -eq "$4"
	harmless "$1"
}

# harmless DEV: check that packets were marked, CNPs sent, and nothing dropped
harmless()
{
	check "packets marked" "$(stat ecn_mark "$1")" -gt 0
	check "CNPs" "$(stat cnp_sent "$1")" -gt 0
	check "packets dropped" "$(stat drop_overlimit "$1")" -eq 0
	check "malformed" "$(stat malformed "$1")" -eq 0
	check "contradicted" "$(stat contradicted "$1")" -eq 0
	note "$(counters_of "$1" ecn_mark cnp_sent flows)"
}

# completed BYTES COUNT: check the number of messages that the application
# prints
completed()
{
	check "messages of $1 bytes" "$(awk -v b="$1" '$1 == b { print $2 }' \
		"$TMP/1")" -eq "$2"
}

counters_of()
{
	local dev=$1 name
	shift

	for name; do
		echo -n "$name $(stat "$name" "$dev") "
	done
}

write_through()
{
	rdma_topology "$1"
	narrow p1
	perf ib_write_bw --tclass=2 -q 4 -s 65536 -t 4 -n 20
	completed 65536 80
	told p1 1 2 4
	rdma_gone
}

test_write_bridged()
{
	write_through bridge
}

test_write_routed()
{
	write_through router
}

# The data are READ responses, whose PSNs nothing echoes, and rxe sends no CNPs.
# So only the UDP source ports can pair the flows.
read_through()
{
	rdma_topology "$1"
	narrow p0 pair sport
	perf ib_read_bw --tclass=2 -q 4 -s 65536 -t 4 -n 20
	completed 65536 80
	told p0 2 1 4
	rdma_gone
}

test_read_bridged()
{
	read_through bridge
}

test_read_routed()
{
	read_through router
}

# One message at a time: all of it waits in the queue
send_lat_through()
{
	rdma_topology "$1"
	narrow p1
	perf ib_send_lat --tclass=2 -s 65536 -n 100
	completed 65536 100
	told p1 1 2 1
	rdma_gone
}

test_send_lat_bridged()
{
	send_lat_through bridge
}

test_send_lat_routed()
{
	send_lat_through router
}

# The application checks every byte
test_pingpong()
{
	local server

	rdma_topology bridge
	narrow p1
	host 2 ibv_rc_pingpong -c -d rxe2 -g "$(gid rxe2)" -s 4096 -n 50 \
		>"$TMP/2" 2>&1 &
	server=$!
	sleep 3
	host 1 timeout 200 ibv_rc_pingpong -c -d rxe1 -g "$(gid rxe1)" -s 4096 \
		-n 50 "$(control)" >"$TMP/1" 2>&1
	check "pingpong, 1" $? -eq 0
	wait $server
	check "pingpong, 2" $? -eq 0
	check "invalid" "$(grep -ci invalid "$TMP/1" "$TMP/2" | awk -F: '{ n += $2 } END { print n }')" -eq 0
	rdma_gone
}

# ect HOST: make the packets of the host's librdmacm connections ECT
ect()
{
	local dir=/sys/kernel/config/rdma_cm/rxe$1

	modprobe rdma_cm
	mount -t configfs configfs /sys/kernel/config 2>/dev/null
	mkdir -p "$dir" && echo 2 >"$dir/ports/1/default_roce_tos" ||
		fail "rxe$1: ECT cannot be set"
}

# Connections of librdmacm, with every byte checked
rping_through()
{
	local server

	rdma_topology "$1"
	if [ -z "$apart" ]; then
		rdma_gone
		skip "rxe of this kernel needs the initial namespace"
		return
	fi
	narrow p1
	# nothing echoes the PSNs of READ responses, so pairing needs the
	# connection setup, which is parsed on both ports
	tc -n sw qdisc replace dev p0 root handle 10: iqcn
	ect 1
	ect 2
	host 2 rping -s -a "$peer" -v -V -C 50 -S 60000 >"$TMP/2" 2>&1 &
	server=$!
	sleep 3
	host 1 timeout 200 rping -c -a "$peer" -v -V -C 50 -S 60000 >"$TMP/1" 2>&1
	check "rping, 1" $? -eq 0
	wait $server
	check "rping, 2" $? -eq 0
	check "pings" "$(grep -c 'ping data' "$TMP/1")" -eq 50
	harmless p1
	check "cnp_unpaired" "$(stat cnp_unpaired)" -eq 0
	rdma_gone
}

test_rping_bridged()
{
	rping_through bridge
}

test_rping_routed()
{
	rping_through router
}

if ! modinfo rdma_rxe >/dev/null 2>&1; then
	echo "1..0 # SKIP this kernel has no rdma_rxe"
	exit
fi
for program in rdma ib_write_bw ibv_rc_pingpong rping; do
	if ! command -v $program >/dev/null; then
		echo "no $program: see selftests/lab/lib-packages.sh"
		exit 1
	fi
done
run_tests
