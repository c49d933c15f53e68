#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Failing allocations. Each allocation of each request fails in turn: a refused
# request leaves everything as it was, and an accepted one takes effect
# completely (selftests/tools/failnl.c). Each allocation also fails in turn
# while the module is loaded (selftests/tools/failmod.c). Furthermore,
# allocations fail at random during traffic, and one test runs with little
# memory. The debug kernel reports leaks.

ALL_TESTS="
	test_add
	test_add_twice
	test_add_options
	test_change
	test_replace
	test_snoop
	test_graft
	test_delete
	test_genl
	test_show
	test_join
	test_flush
	test_autoload
	test_module
	test_traffic
	test_full
	test_extra_pair
	test_deferred
	test_detectors
	test_users
	test_small
"
NIGHTLY_TESTS="
	test_module test_replace test_snoop test_graft test_join test_autoload
	test_deferred test_detectors test_users
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/lab/lib-splats.sh
. "$(dirname "$0")/../lab/lib-splats.sh"

FAULTS=/sys/kernel/debug
# only allocations of the requesting task fail
FAILNTH="env FAILNTH_LOG=$TMP/log LD_PRELOAD=$BUILD/failnl.so"

# faults MIN-ORDER [Y]: choose the allocations that may fail; with Y only atomic
# ones. Failures print no stack traces, because the lab reports each trace as a
# splat.
faults()
{
	local what

	if [ ! -d $FAULTS/failslab ]; then
		skip "this kernel cannot make allocations fail"
		return 1
	fi
	for what in failslab fail_page_alloc; do
		echo 0 >$FAULTS/$what/verbose
		echo 0 >$FAULTS/$what/probability
		echo -1 >$FAULTS/$what/times
		echo "${2:-N}" >$FAULTS/$what/ignore-gfp-wait
	done
	echo N >$FAULTS/fail_page_alloc/ignore-gfp-highmem
	echo "$1" >$FAULTS/fail_page_alloc/min-order
}

# at_random PERCENT: from now on, fail PERCENT of the allocations. The write
# itself may fail for the same reason, so repeat it until it succeeds.
at_random()
{
	local what

	for what in failslab fail_page_alloc; do
		until echo "$1" 2>/dev/null >$FAULTS/$what/probability; do
			:
		done
	done
}

# device: create d0 in sw, an Ethernet device with four queues
device()
{
	faults 0 || return
	rm -f "$TMP/log"
	ip netns add sw
	ip -n sw -batch - <<-EOF
		link add d0 numtxqueues 4 type dummy
		link set d0 up
	EOF
	# load the module, and let the first qdisc create what all qdiscs share
	tc -n sw qdisc add dev d0 root iqcn
	tc -n sw qdisc del dev d0 root
}

# swept REQUESTS ALLOCATIONS: check that REQUESTS requests were repeated, that
# each made at least ALLOCATIONS allocations, and that the failure of some of
# these made the request fail
swept()
{
	local line

	check "requests" "$(grep -c ^request "$TMP/log")" -eq "$1"
	grep ^bad "$TMP/log" >"$TMP/bad"
	while read -r line; do
		fail "$line"
	done <"$TMP/bad"
	check "requests with too few allocations" \
		"$(awk -v n="$2" '/^request/ && $4 < n' "$TMP/log" | wc -l)" -eq 0
	check "requests that never fail" \
		"$(awk '/^request/ && !$6' "$TMP/log" | wc -l)" -eq 0
	note "$(awk '/^request/ { a += $4; r += $6; d += $8; u += $10 }
		END { print a " allocations: " r " refused, " d " done, " u " unknown" }' \
		"$TMP/log")"
}

# pairs: run lines for tc in pairs; the first line of a pair restores the
# previous state, and may fail
pairs()
{
	# shellcheck disable=SC2086
	in_ns sw $FAILNTH tc -force -batch - >/dev/null 2>"$TMP/said"
	check_eq "lines not understood" "$(grep '^iqcn:' "$TMP/said")" ""
}

# new_log: start a test in which the kernel prints stack traces. The lab checks
# the log only at the end, so check the messages of earlier tests now, and
# remove them.
new_log()
{
	dmesg >"$TMP/dmesg"
	check_eq "splats in the log" "$(grep -E "$SPLATS" "$TMP/dmesg")" ""
	dmesg -C
}

left()
{
	check "left in debugfs" \
		"$(find /sys/kernel/debug/iqcn -mindepth 1 | grep -c .)" -eq 0
}

# Parameters of every kind, including all that take more than one value
PARAMETERS="
	limit 1m kmin 10k kmax 20k pmax 0.5 mark-on dequeue nonect drop
	notify timer t1 300us detect queue,run,span,depth
	notify wreb profile 10k:0,20k:0.5,30k:1 ce-in silent measure depth,gradient,delay
	notify pi qref 30k alpha 2000 beta 10000 update 100us min-gap 10us telemetry on
	bandwidth 25gbit
	delay auto base both trigger period period 50us
	sample 16 group 7
	pfc frames pfc-prio 3,4 threshold 50k settle 30us pfc-max 3ms
	notify grant base-rtt 12us grant equal bandwidth 25gbit
	notify supplement supplement 700 supplement-max 650
	fiber 100km filter auto
	filter 3/200us filter-by port
	snoop netns
	cnp-rate 777 cnp-burst 7 cnp-dscp 40 cnp-pcp 5 cnp-ttl 30 cnp-smac receiver
	cnp-sport echo
	pair sport flows 100 age 1s
"

# each_parameter RESET WORD...: for each line of $PARAMETERS, print the tc
# command RESET, then the command WORD... with that line appended (for pairs)
each_parameter()
{
	local words

	while read -r words; do
		[ -n "$words" ] || continue
		echo "$1"
		echo "${*:2} $words"
	done <<<"$PARAMETERS"
}

# A value of each parameter, for the state before a change
ALL_PARAMETERS="limit 2m kmin 30k kmax 60k pmax 0.2 mark-on enqueue nonect pass notify timer t1 400us \
	detect depth profile mark ce-in notify measure depth qref 40k alpha 3000 beta 30000 \
	update 200us min-gap 20us telemetry off bandwidth 10gbit delay 0 base ce \
	trigger timer period 100us sample 1 group off \
	pfc txq pfc-prio 5 threshold 60k settle 40us pfc-max 4ms base-rtt none grant share \
	supplement 600 supplement-max 700 fiber 50km filter told filter-by flow snoop port cnp-rate 999 cnp-burst 9 \
	cnp-dscp 48 cnp-pcp 6 cnp-ttl 64 cnp-smac port cnp-sport learned pair psn flows 200 age 2s"

N_PARAMETERS=$(grep -c '[a-z]' <<<"$PARAMETERS")

test_add()
{
	device || return
	modprobe psample || fail "psample does not load"
	each_parameter "qdisc del dev d0 root" qdisc add dev d0 root \
		handle 10: iqcn | pairs
	swept "$N_PARAMETERS" 30
	tc -n sw qdisc del dev d0 root
	left
}

# As in test_add, each allocation fails in turn, here together with its fallback
# to vmalloc(), which prints a stack trace
test_add_twice()
{
	device || return
	new_log
	echo Y >$FAULTS/fail_page_alloc/task-filter
	echo 100 >$FAULTS/fail_page_alloc/probability
	FAILNTH_PAGES=1 pairs <<-EOF
		qdisc del dev d0 root
		qdisc add dev d0 root handle 10: iqcn
	EOF
	echo 0 >$FAULTS/fail_page_alloc/probability
	echo N >$FAULTS/fail_page_alloc/task-filter
	swept 1 10
	tc -n sw qdisc del dev d0 root
	left
	dmesg >"$TMP/dmesg"
	check_eq "traces" "$(traces_of_others "$TMP/dmesg")" ""
	dmesg -C
}

# Options that the stack adds to a qdisc after it was created
test_add_options()
{
	device || return
	pairs <<-EOF
		qdisc del dev d0 root
		qdisc add dev d0 root handle 10: stab overhead 24 linklayer ethernet tsize 64 iqcn
		qdisc del dev d0 root
		qdisc add dev d0 root handle 10: estimator 1s 4s iqcn
	EOF
	swept 2 30
	tc -n sw qdisc del dev d0 root
	left
}

test_change()
{
	device || return
	modprobe psample || fail "psample does not load"
	tc -n sw qdisc add dev d0 root handle 10: iqcn
	each_parameter "qdisc change dev d0 root handle 10: iqcn $ALL_PARAMETERS" \
		qdisc change dev d0 root handle 10: iqcn | pairs
	swept "$N_PARAMETERS" 4
	tc -n sw qdisc del dev d0 root
	left
}

test_replace()
{
	device || return
	pairs <<-EOF
		qdisc replace dev d0 root handle 10: iqcn t1 100us
		qdisc replace dev d0 root handle 20: iqcn t1 200us
		qdisc replace dev d0 root handle 10: iqcn t1 100us
		qdisc replace dev d0 root handle 20: pfifo limit 10
		qdisc replace dev d0 root handle 20: pfifo limit 10
		qdisc replace dev d0 root handle 10: iqcn t1 100us
		qdisc replace dev d0 root handle 10: iqcn t1 100us
		qdisc replace dev d0 root handle 10: iqcn t1 300us
	EOF
	swept 4 4
	tc -n sw qdisc del dev d0 root
	left
}

# A change of snoop, which removes all flows
test_snoop()
{
	device || return
	pairs <<-EOF
		qdisc replace dev d0 root handle 10: iqcn snoop port
		qdisc change dev d0 root handle 10: iqcn snoop netns
		qdisc change dev d0 root handle 10: iqcn snoop netns
		qdisc change dev d0 root handle 10: iqcn snoop port
	EOF
	check "requests" "$(grep -c ^request "$TMP/log")" -eq 2
	check "bad requests" "$(grep -c ^bad "$TMP/log")" -eq 0
	tc -n sw qdisc del dev d0 root
	left
}

# Add and replace iqcn below mq with other queues, and below classful qdiscs
test_graft()
{
	device || return
	tc -n sw -batch - <<-EOF
		qdisc add dev d0 root handle 1: mq
		qdisc add dev d0 parent 1:1 handle 11: iqcn cnp-rate 1234
		qdisc add dev d0 parent 1:4 handle 14: prio bands 3
		qdisc add dev d0 parent 14:1 handle 15: tbf rate 1mbit burst 9k limit 1m
	EOF
	pairs <<-EOF
		qdisc replace dev d0 parent 1:2 handle 99: pfifo
		qdisc replace dev d0 parent 1:2 handle 12: iqcn
		qdisc replace dev d0 parent 1:2 handle 12: iqcn t1 100us
		qdisc replace dev d0 parent 1:2 handle 13: iqcn t1 200us
		qdisc replace dev d0 parent 14:2 handle 98: pfifo
		qdisc replace dev d0 parent 14:2 handle 16: iqcn kmin 5k
		qdisc replace dev d0 parent 15:1 handle 97: pfifo
		qdisc replace dev d0 parent 15:1 handle 17: iqcn kmin 6k
	EOF
	swept 4 15
	check "queues with the port's cnp-rate" "$(tc -n sw qdisc show dev d0 |
		grep -c 'cnp-rate 1234')" -ge 2
	tc -n sw qdisc del dev d0 root
	left
}

test_delete()
{
	device || return
	tc -n sw qdisc add dev d0 root handle 1: mq
	pairs <<-EOF
		qdisc replace dev d0 parent 1:1 handle 11: iqcn
		qdisc del dev d0 parent 1:1 handle 11:
	EOF
	tc -n sw qdisc del dev d0 root
	pairs <<-EOF
		qdisc replace dev d0 root handle 11: iqcn
		qdisc del dev d0 root
	EOF
	swept 2 2
	left
}

# flows_of_d0 N: create N flows on d0
flows_of_d0()
{
	in_ns sw "$ROCE" send d0 --smac $SND_MAC --dmac $RCV_MAC \
		--src $SND4 --dst $RCV4 --tos 3 --flows "$1" --count "$1" --len 64
}

# genl ARGUMENT...: run the tool, with each request repeated
genl()
{
	# shellcheck disable=SC2086
	in_ns sw $FAILNTH FAILNTH_UNDO="${undo:-true}" \
		FAILNTH_LINES="$(echo /sys/kernel/debug/iqcn/*/d0/flows)" \
		"$BUILD/genl" --summary "$@" >/dev/null
}

test_genl()
{
	local ifindex

	device || return
	tc -n sw qdisc add dev d0 root handle 10: iqcn
	flows_of_d0 300
	ifindex=$(ip -n sw -j link show dev d0 | jq '.[0].ifindex')
	check "flows" "$(in_ns sw cat /sys/kernel/debug/iqcn/*/d0/flows |
		wc -l)" -eq 301
	# request one port, then all ports, queues and flows, and then the
	# paired flows of one port
	genl ask 1 1="$ifindex"
	genl dump 1
	genl dump 2
	genl dump 3
	genl dump 3 1="$ifindex" 2=2
	swept 5 2
	tc -n sw qdisc del dev d0 root
	left
}

# The stack may leave the statistics of a qdisc out, without an error, if it has
# no memory to copy them. Nothing else may go wrong.
test_show()
{
	device || return
	tc -n sw qdisc add dev d0 root handle 10: iqcn
	# shellcheck disable=SC2086
	in_ns sw $FAILNTH FAILNTH_UNDO=true tc -s qdisc show dev d0 >/dev/null
	sed -i '/accepted, but messages are missing/d' "$TMP/log"
	swept 1 10
	tc -n sw qdisc del dev d0 root
	left
}

test_join()
{
	device || return
	tc -n sw qdisc add dev d0 root handle 10: iqcn
	genl --time 1 listen cnp
	genl --time 1 listen state
	swept 2 1
	tc -n sw qdisc del dev d0 root
	left
}

# A flush that fails has removed all flows or none
test_flush()
{
	local undo

	device || return
	tc -n sw qdisc add dev d0 root handle 10: iqcn
	undo="$ROCE send d0 --smac $SND_MAC --dmac $RCV_MAC --src $SND4 --dst $RCV4 \
		--tos 3 --flows 20 --count 20 --len 64"
	genl ask 4
	swept 1 3
	tc -n sw qdisc del dev d0 root
	left
}

# The first qdisc loads the module, which may stay loaded if the request fails
test_autoload()
{
	device || return
	rmmod sch_iqcn || fail "the module does not unload"
	FAILNTH_UNDO="tc qdisc del dev d0 root 2>/dev/null; rmmod sch_iqcn 2>/dev/null" \
		pairs <<-EOF
		qdisc add dev d0 root handle 10: iqcn
	EOF
	check "requests" "$(grep -c ^request "$TMP/log")" -eq 1
	check "bad requests, apart from an empty directory" \
		"$(grep ^bad "$TMP/log" | grep -vc 'refused, but the state changed')" -eq 0
	check "qdiscs" "$(tc -n sw qdisc show dev d0 | grep -c iqcn)" -eq 1
	tc -n sw qdisc del dev d0 root
}

# traces_of_others LOG: print the first lines of each stack trace, except the
# traces that the kernel itself prints when it has no memory for a module:
# vmalloc() fails, a trace event has no fields, or a slab cache is not created
traces_of_others()
{
	awk '
	function end() { if (trace != "" && !own) printf "%s", trace }
	/Call Trace:/ { end(); trace = ""; own = 0; lines = 0 }
	/warn_alloc\+|event_define_fields|kmem_cache_create_usercopy/ { own = 1 }
	/Call Trace:/, 0 { if (lines++ < 20) trace = trace $0 "\n" }
	END { end() }' "$1"
	grep -E 'RIP:|ref_tracker:|WARNING|BUG:|UBSAN|KASAN' "$1" |
		grep -v 'WARNING: .* event_define_fields'
}

test_module()
{
	faults 1 || return
	modprobe sch_iqcn && rmmod sch_iqcn || fail "the module does not unload"
	new_log
	"$BUILD/failmod" "/lib/modules/$(uname -r)/extra/sch_iqcn.ko" sch_iqcn \
		>"$TMP/counts" 2>&1 || fail "$(cat "$TMP/counts")"
	note "allocations: $(cat "$TMP/counts")"
	check "allocations" "$(awk '{ print $2 + 0 }' "$TMP/counts")" -ge 100
	[ ! -e /sys/kernel/debug/iqcn ] || fail "debugfs is left"
	dmesg >"$TMP/dmesg"
	check_eq "traces" "$(traces_of_others "$TMP/dmesg")" ""
	# the lab checks the log again, and looks for leaks
	dmesg -C
	modprobe sch_iqcn || fail "the module does not load again"
}

# sum NAME...: print the sum of these counters
sum()
{
	local v s=0

	for v in $(counters "$@"); do
		s=$((s + v))
	done
	echo $s
}

# received: print the number of packets that arrived on the receiver's device
received()
{
	ip -n rcv -s -j link show dev e0 | jq '.[0].stats64.rx.packets'
}

# A fifth of the atomic allocations fails, while PFC frames pause the port
test_traffic()
{
	local frame=0180c2000001${RCV_MAC//:/}88080101 sent told before pauses=() i

	for ((i = 0; i < 100; i++)); do
		pauses+=("${frame}0008$(printf "ffff%.0s" {1..8})" +300
			"${frame}0008$(printf "0000%.0s" {1..8})" +1000)
	done

	faults 0 Y || return
	topology bridge
	bottleneck 100mbit limit 1m kmin 1000 kmax 2000 detect queue,run,depth \
		notify timer,wreb,pi,grant,supplement base-rtt 1ms t1 60us \
		min-gap 1us pair sport flows 300 pfc frames threshold 3000 \
		pfc-max 2ms supplement 2000 filter 1/200us
	before=$(received)
	np --time 200 --ack 1 --cnp 100
	at_random 20
	"$ROCE" raw rcv/e0 "${pauses[@]}" &
	data --tos 3 --flows 400 --count 1200 --interval 20 --len 500
	data --tos 2 --flows 50 --count 800 --len 1000
	wait
	at_random 0
	sleep 0.5
	sent=$(stat packets)
	note "sent $sent, $(for w in flow_new flow_full cnp_sent cnp_error; do
		echo "$w $(stat $w)"; done | paste -sd ,)"
	check "packets" "$sent" -gt 1000
	check "backlog" "$(stat backlog)" -eq 0
	check "flow_full" "$(stat flow_full)" -gt 0
	check "cnp_error" "$(stat cnp_error)" -gt 0
	check "flows" "$(stat flows)" -eq $(($(stat flow_new) - $(stat flow_aged) - \
		$(stat flow_evicted)))
	check "in debugfs" "$(flows | tail -n +2 | wc -l)" -eq "$(stat flows)"
	check "pauses" "$(stat pauses)" -gt 0
	check "cnp_grant" "$(stat cnp_grant)" -gt 0
	# a flow counts only CNPs that were sent; those of removed flows are
	# missing from the sum
	told=$(flows | awk '
		NR == 1 { while (i++ < NF && $i != "cnp_sent"); next }
		{ n += $(i - 1) }
		END { print n + 0 }')
	check "cnp_sent of the flows" "$told" -gt 0
	check "cnp_sent of the flows" "$told" -le "$(stat cnp_sent)"
	check "causes" "$(sum cnp_wreb cnp_pi cnp_poll cnp_drop cnp_pfc cnp_grant cnp_supplement)" -le "$(stat cnp_sent)"
	check "received" $(($(received) - before)) -le "$sent"
	# then everything works as before
	tc -n sw qdisc del dev p1 root
	left
	bottleneck 8656kbit kmin 3000 kmax 4000 t1 300us detect queue
	pair_flow --qp 0x700
	sniff snd --type cnp --time 60
	data --qp 0x700 --count 100
	wait
	check "CNPs" "$(grep -c . "$TMP/snd")" -gt 20
}

# A packet that gets no flow counts once, however many parts of the module need
# the flow
test_full()
{
	faults 0 Y || return
	topology bridge
	bottleneck 10mbit kmin 1 kmax 2 notify timer,wreb,pi profile 0:1 qref 2k
	data --flows 30 --count 90 --len 500
	check "flows" "$(stat flows)" -eq 30
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn flows 1
	check "flow_full before" "$(stat flow_full)" -eq 0
	at_random 100
	data --flows 30 --qp 0x900 --count 90 --len 500
	at_random 0
	check "flow_full" "$(stat flow_full)" -gt 0
	check "flow_full, at most once per packet" "$(stat flow_full)" -le 90
}

# few COMMAND...: fail atomic slab allocations while COMMAND runs. The sender of
# a packet may sleep, so its allocations succeed; those for the packet in the
# module fail, in particular the flow's extension.
few()
{
	echo 100 >$FAULTS/failslab/probability
	"$@"
	until echo 0 2>/dev/null >$FAULTS/failslab/probability; do
		:
	done
}

# ce [data argument...]: send CE packets
ce()
{
	data --tos 3 --len 64 "$@"
}

# paired: print "QP pair src_qp" of each flow
paired()
{
	flows | awk '!/^#/ { print $4, $6, $5 }' | sort | paste -sd ,
}

# Pairing without memory: no flow is created, and a flow whose pairing ends is
# removed; its next packet creates it again
test_extra_pair()
{
	faults 0 Y || return
	topology bridge
	iqcn bandwidth 1mbit t1 300us
	few ce --count 3
	check "flow_full" "$(stat flow_full)" -eq 3
	check "flows" "$(stat flows)" -eq 0
	check "flows_unassured" "$(value flows_unassured)" -eq 0
	ce --count 4 --psn 100
	reply --type ack --qp 0x800011 --count 4 --psn 100
	check_eq "a flow" "$(paired)" "0x000011 psn 0x800011"
	ce --qp 0x12 --count 4 --psn 0x100000
	# the contradiction leaves both flows unpaired
	few reply --type ack --qp 0x800011 --count 4 --psn 0x100000
	check_eq "the other flow" "$(paired)" "0x000012 none -"
	check "flow_evicted" "$(stat flow_evicted)" -eq 1
	check "contradicted" "$(stat contradicted)" -eq 1
	check "flows_unassured" "$(value flows_unassured)" -eq 1
	few ce --count 1 --psn 104
	check "flows without memory" "$(stat flows)" -eq 1
	ce --count 1 --psn 105
	check_eq "with memory" "$(paired)" "0x000011 none -,0x000012 none -"
	check "flows_unassured" "$(value flows_unassured)" -eq 2
	tc -n sw qdisc del dev p1 root
	left
}

# Without memory, CNPs that would be deferred, for T2 or until the lock is
# released, are not sent
test_deferred()
{
	local deferred lost

	faults 0 Y || return
	topology bridge
	iqcn bandwidth 4mbit window 500us detect queue t1 300us base both delay 200us \
		notify off
	pair_flow --psn 100
	tc -n sw qdisc change dev p1 root handle 10: iqcn notify timer
	few data --tos 3 --count 12 --interval 1000 --psn 104
	check "deferred" "$(stat cnp_deferred)" -eq 0
	check "cnp_error" "$(stat cnp_error)" -ge 11
	check "cnp_sent" "$(stat cnp_sent)" -eq 0
	data --tos 3 --count 12 --interval 1000 --psn 116
	deferred=$(stat cnp_deferred)
	check "deferred" "$deferred" -ge 10
	check "sent" $(($(stat cnp_sent) + $(stat cnp_canceled))) -eq "$deferred"
	tc -n sw qdisc change dev p1 root handle 10: iqcn notify wreb kmin 0 kmax 1 \
		profile 0:1 min-gap 0
	lost=$(stat cnp_error)
	few data --tos 2 --len 64 --count 5 --psn 128
	check "cnp_error" "$(stat cnp_error)" -eq $((lost + 5))
	check "cnp_wreb" "$(stat cnp_wreb)" -eq 0
	data --tos 2 --len 64 --count 5 --psn 133
	check "cnp_wreb" "$(stat cnp_wreb)" -ge 1
	tc -n sw qdisc del dev p1 root
	left
}

# Without memory, a flow's detectors begin with a later packet
test_detectors()
{
	faults 0 Y || return
	topology bridge
	iqcn bandwidth 100gbit detect run run 4 notify off
	pair_flow --psn 100
	# the change frees the state of the flow's detectors
	tc -n sw qdisc change dev p1 root handle 10: iqcn detect queue
	ce --count 1 --psn 104
	tc -n sw qdisc change dev p1 root handle 10: iqcn detect run
	few ce --count 10 --psn 105
	check "flow_full" "$(stat flow_full)" -eq 10
	check "flows congested" "$(stat flows_congested)" -eq 0
	ce --count 3 --psn 115
	check "flows congested after 3 packets" "$(stat flows_congested)" -eq 0
	ce --count 1 --psn 118
	check "flows congested" "$(stat flows_congested)" -eq 1
	check "run" "$(flows | awk '!/^#/ { print $(NF - 2) }')" -eq 4
	tc -n sw qdisc del dev p1 root
	left
}

# Flows that could not be created are not counted against the user's limit
test_users()
{
	faults 0 Y || return
	unshare -Urn bash -c "
		$(declare -f at_random)
		FAULTS=$FAULTS
		send()
		{
			$ROCE send \$1 --smac $SND_MAC --dmac $RCV_MAC --src $SND4 \
				--dst $RCV4 --tos 3 --flows 65536 --count 65536 --len 64
		}
		for i in 1 2 3 4 5; do
			ip link add d\$i type dummy
			ip link set d\$i up
			tc qdisc add dev d\$i root iqcn age 1000s $TIMER
		done
		at_random 20
		send d1
		at_random 0
		tc -s -j qdisc show dev d1 >$TMP/refused
		tc qdisc del dev d1 root
		for i in 2 3 4 5; do
			send d\$i
		done
		tc -s -j qdisc show >$TMP/theirs"
	check "flow_full" "$(jq '.[].flow_full' "$TMP/refused")" -gt 0
	check "flows" "$(jq '[.[] | select(.kind == "iqcn") | .flows] | add' \
		"$TMP/theirs")" -eq 65536
	# namespaces are destroyed asynchronously
	for _ in {1..300}; do
		find /sys/kernel/debug/iqcn -mindepth 1 | grep -q . || break
		sleep 0.1
	done
	left
}

# On a small machine memory may run out before the table is full; packets still
# pass
test_small()
{
	local i

	if [ "$(awk '/^MemTotal/ { print $2 }' /proc/meminfo)" -gt 70000 ]; then
		skip "there is more memory than 64 MB"
		return
	fi
	topology bridge
	iqcn flows 65536
	for i in 1 2 3 4; do
		data --src 10.1.$i.1 --tos 3 --flows 65536 --count 30000 --len 64
	done
	note "$(stat flows) flows, $(stat flow_evicted) evicted, $(stat flow_full) refused, $(
		awk '/^MemAvailable/ { print $2, $3 }' /proc/meminfo) left"
	check "flows" "$(stat flows)" -gt 1000
	check "packets sent" "$(stat packets)" -ge 119000
	pair_flow --qp 0x900000
	check "flows paired" "$(stat flows_paired)" -ge 1
	tc -n sw qdisc del dev p1 root
	left
}

run_tests
