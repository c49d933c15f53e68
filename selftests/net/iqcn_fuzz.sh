#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fuzzing. Packets that are nearly RoCEv2 (selftests/tools/mutate.c) pass in
# both directions, bridged and routed. In the tests that do not route, mark or
# drop them, they must come out as they went in. Malformed ones must be counted,
# and other flows must still get their CNPs. Requests that are nearly valid
# (selftests/tools/netfuzz.c) must change nothing if they are refused, and be
# displayed as sent if they are accepted. $IQCN_FUZZ is the number of packets or
# requests, $IQCN_SEED the random seed. Requests that reach new code are added
# to $IQCN_CORPUS.

ALL_TESTS="
	test_packets_in
	test_packets_in_netns
	test_packets_out
	test_packets_marked
	test_packets_routed
	test_requests
"
NIGHTLY_TESTS="
	test_packets_in_netns test_packets_routed
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

COUNT=${IQCN_FUZZ:-4000}
SEED=${IQCN_SEED:-1}

# frames COMMAND: print valid frames of each kind, as COMMAND ("data" or
# "reply") sends them
frames()
{
	local v type tags

	for v in "" -6; do
		for tags in "" "--vlan 100:3" "--vlan ad:200 --vlan 100:3"; do
			for type in data ack cnp req rep dreq; do
				# shellcheck disable=SC2086
				"$1" $v --type $type --qp $((QP)) --tos 3 \
					--len 32 --hex $tags \
					--cm-local 7 --cm-remote 7 --cm-qp 0x11
			done
		done
	done
}

# mutants FROM TO COMMAND: send mutated frames; all must come out as they went
# in
mutants()
{
	local got

	frames "$3" >"$TMP/frames"
	check "frames" "$(grep -c . "$TMP/frames")" -eq 36
	got=$("$BUILD/mutate" "$1" "$2" "$COUNT" "$SEED" <"$TMP/frames" \
		2>"$TMP/missing")
	note "$got"
	if [[ $got != "sent $COUNT same $COUNT "* ]]; then
		fail "$got: $(head -c 300 "$TMP/missing")"
	fi
}

# honest: check that a normal flow is paired and gets CNPs
honest()
{
	bottleneck 8656kbit kmin 3000 kmax 4000 t1 300us detect queue flows 100
	pair_flow --qp 0x700
	sniff snd --type cnp --time 60
	data --qp 0x700 --count 100
	wait
	check "CNPs" "$(grep -c 'qp 0x800700' "$TMP/snd")" -gt 20
	check "flows" "$(value flows)" -le 100
	tc -n sw qdisc del dev p1 root
	check "left in debugfs" \
		"$(find /sys/kernel/debug/iqcn -mindepth 1 | grep -c .)" -eq 0
}

# Mutated packets of a receiver, to the hook of the port
test_packets_in()
{
	QP=0x800011
	topology bridge
	iqcn bandwidth 1mbit pair sport flows 100
	pair_flow
	mutants rcv/e0 snd/e0 reply
	check "malformed" "$(stat port_malformed)" -gt $((COUNT / 100))
	check "CNPs seen" "$(stat cnp_seen)" -gt 0
	check "port_cnp_unmatched" "$(stat port_cnp_unmatched)" -gt 0
	honest
}

# Mutated packets of a receiver, to the hooks of the namespace
test_packets_in_netns()
{
	QP=0x800011
	topology bridge
	iqcn bandwidth 1mbit pair sport flows 100 snoop netns
	pair_flow
	mutants rcv/e0 snd/e0 reply
	check "malformed" "$(stat port_malformed)" -gt $((COUNT / 100))
	honest
}

# Mutated packets of a sender, to the qdisc
test_packets_out()
{
	QP=0x11
	topology bridge
	iqcn bandwidth 1mbit pair sport flows 100
	mutants snd/e0 rcv/e0 data
	check "malformed" "$(stat malformed)" -gt $((COUNT / 100))
	check "CE on arrival" "$(stat ce_in)" -gt $((COUNT / 4))
	check "flows" "$(stat flow_new)" -gt 50
	honest
}

# Mutated packets of a sender when nearly all packets are marked, cause CNPs or
# are dropped
test_packets_marked()
{
	local got

	QP=0x11
	topology bridge
	bottleneck 1mbit limit 10000 kmin 0 kmax 1000 nonect drop notify wreb,timer \
		profile 100:0.5,1000:1 telemetry on min-gap 0ns pair sport flows 100 \
		detect queue,run,span sample 2
	frames data >"$TMP/frames"
	got=$("$BUILD/mutate" snd/e0 rcv/e0 "$COUNT" "$SEED" <"$TMP/frames" \
		2>"$TMP/missing")
	note "$got"
	check_eq "sent" "${got%% same*}" "sent $COUNT"
	check "packets dropped" "$(stat drop_overlimit)" -gt 0
	check "malformed" "$(stat malformed)" -gt 0
	tc -n sw qdisc del dev p1 root
	honest
}

# A router drops most mutated packets; the hooks must handle them nevertheless
test_packets_routed()
{
	local got where

	for where in port netns; do
		QP=0x800011
		topology router
		iqcn bandwidth 1mbit pair sport flows 100 snoop $where
		tc -n sw qdisc add dev p0 root iqcn kmin 0 kmax 0 mark-on enqueue
		frames reply >"$TMP/frames"
		got=$("$BUILD/mutate" rcv/e0 snd/e0 "$COUNT" "$SEED" \
			<"$TMP/frames" 2>"$TMP/missing")
		note "$got"
		check "malformed" "$(stat port_malformed)" -gt $((COUNT / 100))
		tc -n sw qdisc del dev p0 root
		honest
		cleanup
	done
}

# Mutated requests while packets are sent
test_requests()
{
	local got corpus=${IQCN_CORPUS-}

	if [ -z "$corpus" ]; then
		corpus=$TMP/corpus
		cp "$TOP/selftests/fuzz/netlink.corpus" "$corpus"
	fi
	modprobe psample || fail "psample does not load"
	ip netns add sw
	ip -n sw -batch - <<-EOF
		link add d0 numtxqueues 4 type dummy
		link set d0 up
	EOF
	tc -n sw -batch - <<-EOF
		qdisc add dev d0 root handle 1: mq
		qdisc add dev d0 parent 1:1 handle 11: iqcn
	EOF
	in_ns sw "$ROCE" send d0 --smac $SND_MAC --dmac $RCV_MAC --src $SND4 \
		--dst $RCV4 --tos 3 --flows 100 --count 400 --len 64 --interval 100 &
	in_ns sw "$BUILD/netfuzz" d0 "$COUNT" "$SEED" "$corpus" >"$TMP/said" 2>&1 ||
		fail "$(tail -n 1 "$TMP/said")"
	wait
	got=$(tail -n 1 "$TMP/said")
	note "$got"
	grep ^bad "$TMP/said" | head -n 10 >"$TMP/bad"
	while read -r line; do
		fail "$line"
	done <"$TMP/bad"
	read -r _ _ _ accepted _ refused _ _ _ code <<<"$got"
	check "requests accepted" "${accepted:-0}" -gt $((COUNT / 10))
	check "requests refused" "${refused:-0}" -gt $((COUNT / 10))
	[ ! -e /sys/kernel/debug/kcov ] || check "coverage" "${code:-0}" -gt 400
	tc -n sw qdisc del dev d0 root
	check "left in debugfs" \
		"$(find /sys/kernel/debug/iqcn -mindepth 1 | grep -c .)" -eq 0
}

run_tests
