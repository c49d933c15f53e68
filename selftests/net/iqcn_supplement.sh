#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# notify supplement: CNPs at a fixed rate, to the active flows in turn, from
# when the queue exceeds Kmax until it has drained to Kmin.

ALL_TESTS="
	test_rates
	test_cap
	test_hysteresis
	test_below_kmax
	test_turns
	test_unpaired
	test_idle_flows
	test_v6
	test_not_ect
	test_ce_in_silent
	test_lease
	test_reset
	test_two_queues
	test_pauses
	test_change
	test_gate
"
NIGHTLY_TESTS="
	test_hysteresis test_below_kmax test_idle_flows test_v6 test_not_ect
	test_ce_in_silent test_two_queues test_pauses
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

GENL=$BUILD/genl

# params PARAMETER...: change parameters of the qdisc under tbf
params()
{
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn "$@"
}

# stand [-6] FLOWS PARAMETER...: set up a bridge whose port p1 sends about one
# packet of fill() per 10 ms, and FLOWS paired flows
stand()
{
	local v="" flows qp
	if [ "${1-}" = -6 ]; then
		v=$1
		shift
	fi
	flows=$1
	shift

	topology bridge
	bottleneck 1gbit bandwidth 1gbit notify off kmin 20k kmax 50k limit 1m cnp-ttl 9
	for ((qp = 0x11; qp < 0x11 + flows; qp++)); do
		# shellcheck disable=SC2086
		pair_flow $v --qp $qp --psn $((qp * 1000))
	done
	params notify supplement "$@"
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 816kbit burst 2k limit 1g
}

# fill COUNT [data argument...]: queue COUNT packets of each of $flows_paired
# flows in turn; an IPv4 frame has 984 bytes
fill()
{
	local n=$1
	shift

	data --flows "$flows_paired" --count $((n * flows_paired)) --len 926 \
		--tos 2 "$@"
}

# per_flow: print the lowest and the highest number of CNPs that a sender's QP
# got
per_flow()
{
	sed -nE 's/.* qp 0x([0-9a-f]+) .*/\1/p' "$TMP/snd" | sort | uniq -c |
		awk '{ print $1 }' | sort -n | sed -n '1p;$p' | tr '\n' ' '
}

# rate WANT: check that the box sends WANT CNPs per second, measured for 200 ms
# and within 1 %, evenly over the flows
rate()
{
	local before after sent least most

	sniff snd --type cnp --time 200
	before=$(stat cnp_supplement)
	sleep 0.2
	after=$(stat cnp_supplement)
	wait
	sent=$((after - before))
	check "$1: CNPs in 200 ms" "$sent" -ge $(($1 / 5 * 99 / 100))
	check "$1: CNPs in 200 ms" "$sent" -le $(($1 / 5 * 101 / 100 + 1))
	[ "$1" -gt 0 ] || return
	read -r least most <<<"$(per_flow)"
	check "$1: CNPs to each flow, $least to $most" $((most - least)) -le 1
}

test_rates()
{
	local pps

	virtual_time || { skip "needs virtual time"; return; }
	flows_paired=8
	stand 8 supplement 0
	fill 40
	check "depth" "$(stat backlog)" -gt 300000
	for pps in 500 1000 1500 2000 0; do
		params supplement $pps
		rate $pps
	done
	counted "0 0 0" cnp_wreb cnp_pi cnp_drop
	check "time above Kmax, in us" $(($(stat above_kmax_ns) / 1000)) -ge 1000000
}

# A rate above the cap is limited to the cap, and the filter's interval shrinks
test_cap()
{
	virtual_time || { skip "needs virtual time"; return; }
	flows_paired=8
	stand 8 supplement 4000 fiber 1000km filter 1/1ms
	check_eq "not deep: interval" "$(value filter_ns)" 1000000
	fill 40
	check_eq "4,000 asked: interval" "$(value filter_ns)" 625000
	rate 2500
	params supplement 2500
	check_eq "2,500 asked: interval" "$(value filter_ns)" 1000000
	params supplement 4000 filter auto
	check_eq "auto: interval" "$(value filter_ns)" 6250000
	params supplement-max 5000
	check_eq "a higher cap: interval" "$(value filter_ns)" 10000000
	rate 4000
	params supplement-max 1000
	check_eq "a lower cap: interval" "$(value filter_ns)" 2500000
	# let the queue drain
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 1gbit burst 9k limit 1g
	sleep 0.05
	data --type udp --tos 0
	sleep 0.05
	check_eq "drained" "$(stat backlog)" 0
	check_eq "drained: interval" "$(value filter_ns)" 10000000
}

# sent_in SECONDS: print how many CNPs the box sends in that time
sent_in()
{
	local before

	before=$(stat cnp_supplement)
	sleep "$1"
	echo $(($(stat cnp_supplement) - before))
}

# Supplements begin above Kmax, continue down to Kmin, and do not begin again
# until the depth exceeds Kmax
test_hysteresis()
{
	local above

	flows_paired=2
	stand 2 supplement 1000
	fill 24
	check "between Kmin and Kmax" "$(stat backlog)" -gt 20480
	check "between Kmin and Kmax" "$(stat backlog)" -lt 51200
	check "on the way up" "$(sent_in 0.05)" -eq 0
	check_eq "time above Kmax" "$(stat above_kmax_ns)" 0
	fill 10
	check "above Kmax" "$(stat backlog)" -gt 51200
	check "above Kmax" "$(sent_in 0.05)" -ge 45
	# about 100 packets leave per second
	sleep 0.25
	check "between them" "$(stat backlog)" -gt 20480
	check "between them" "$(stat backlog)" -lt 51200
	above=$(stat above_kmax_ns)
	check "on the way down" "$(sent_in 0.05)" -ge 45
	check_eq "time above Kmax" "$(stat above_kmax_ns)" "$above"
	check "time above Kmax, in us" $((above / 1000)) -ge 50000
	check "time above Kmax, in us" $((above / 1000)) -le 300000
	sleep 0.3
	check "below Kmin" "$(stat backlog)" -lt 20480
	check "below Kmin" "$(sent_in 0.05)" -eq 0
	fill 16
	check "between them again" "$(stat backlog)" -gt 20480
	check "between them again" "$(sent_in 0.05)" -eq 0
}

test_below_kmax()
{
	flows_paired=2
	stand 2 supplement 1000 kmin 1000 kmax 200k pmax 1
	fill 80
	check "below Kmax" "$(sent_in 0.1)" -eq 0
	counted "0 0" cnp_sent above_kmax_ns
	check "marked" "$(stat ecn_mark)" -gt 0
}

# Flows take turns; a flow that starts later has its turn after all others
test_turns()
{
	local qps turns three i

	flows_paired=3
	stand 4 supplement 100
	fill 40
	sniff snd --type cnp --time 120
	sleep 0.045
	data --qp 0x14 --len 926 --tos 2 --count 5
	wait
	qps=$(sed -nE 's/.* qp 0x8000([0-9a-f]+) .*/\1/p' "$TMP/snd" | tr '\n' ' ')
	turns="11 12 13 11 12 13 "
	for ((i = 0; i < 9; i += 3)); do
		three=${turns:i:8}
		[[ $qps != *"$three 14 $three "* ]] || return
	done
	fail "turns: $qps"
}

test_unpaired()
{
	flows_paired=2
	stand 2 supplement 1000
	data --qp 0x33 --flows 4 --count 160 --len 926 --tos 2
	check "unpaired flows only" "$(sent_in 0.05)" -eq 0
	counted "0" cnp_unpaired
	fill 1
	check "paired ones, too" "$(sent_in 0.05)" -ge 45
}

# A flow that has stopped loses its turn, once its packets have left
test_idle_flows()
{
	flows_paired=1
	stand 2 supplement 1000
	fill 5
	data --qp 0x12 --len 926 --tos 2 --count 150
	sleep 0.2
	sniff snd --type cnp --time 50
	wait
	check "CNPs" "$(grep -c "qp 0x800012 " "$TMP/snd")" -ge 45
	check_eq "CNPs to the flow that has stopped" \
		"$(grep -c "qp 0x800011 " "$TMP/snd")" 0
}

test_v6()
{
	flows_paired=2
	stand -6 2 supplement 1000
	fill 40 -6
	rate 1000
}

test_not_ect()
{
	flows_paired=2
	stand 2 supplement 1000
	fill 40 --tos 0
	check "not-ECT" "$(sent_in 0.05)" -eq 0
	fill 1
	check "ECT" "$(sent_in 0.05)" -ge 45
}

# With ce-in silent, packets that arrive as CE cause no supplements, because the
# box that marked them has notified their senders
test_ce_in_silent()
{
	flows_paired=2
	stand 2 supplement 1000 ce-in silent
	fill 40 --tos 3
	check "ce-in silent" "$(sent_in 0.05)" -eq 0
	params ce-in notify
	fill 1 --tos 3
	check "ce-in notify" "$(sent_in 0.05)" -ge 45
}

test_lease()
{
	local index sent

	flows_paired=2
	stand 2 supplement 100
	index=$(ip -n sw -j link show dev p1 | jq '.[0].ifindex')
	fill 60
	"$GENL" --netns sw lease "$index" 1:1 200 supplement 2000
	sent=$(sent_in 0.1)
	check "the lease" "$sent" -ge 196
	check "the lease" "$sent" -le 204
	sleep 0.1
	sent=$(sent_in 0.1)
	check "tc's rate" "$sent" -ge 9
	check "tc's rate" "$sent" -le 11
	counted "1 1" leases leases_ended
	# a lease beyond the cap loosens the filter
	params filter 1/1ms
	"$GENL" --netns sw lease "$index" 1:1 50 supplement 5000
	check_eq "interval" "$(value filter_ns)" 500000
	sleep 0.06
	check_eq "interval" "$(value filter_ns)" 1000000
	"$GENL" --netns sw lease "$index" 1:1 50 supplement 0
	check "none asked" "$(sent_in 0.04)" -eq 0
	# renew a lease often, with a rate far below tc's
	params supplement 2000
	sent=$(stat cnp_supplement)
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$GENL" --netns sw lease "$index" 1:1 1000 supplement 10
		sleep 0.01
	done
	check "renewed" $(($(stat cnp_supplement) - sent)) -le 4
	# no CNPs became due while the lease asked for a rate of 0
	"$GENL" --netns sw lease "$index" 1:1 1000 supplement 0
	sleep 0.05
	sent=$(stat cnp_supplement)
	params min-gap 0
	"$GENL" --netns sw lease "$index" 1:1 1000 supplement 1000
	sleep 0.01
	check "after none" $(($(stat cnp_supplement) - sent)) -le 13
}

test_reset()
{
	flows_paired=2
	stand 2 supplement 1000 fiber 1000km filter auto supplement-max 500
	fill 40
	check "before" "$(sent_in 0.05)" -ge 20
	check_eq "interval" "$(value filter_ns)" 5000000
	ip -n sw link set p1 down
	check_eq "interval" "$(value filter_ns)" 10000000
	check "port down" "$(sent_in 0.05)" -eq 0
	ip -n sw link set p1 up
	check "after" "$(sent_in 0.05)" -eq 0
	fill 1
	check "not deep" "$(sent_in 0.05)" -eq 0
}

# Each queue of a port has its own list, and a flow that moves takes its
# turn in the other queue
test_two_queues()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 1:1 handle 2: tbf rate 816kbit burst 2k limit 1g
		qdisc add dev p1 parent 1:2 handle 3: tbf rate 816kbit burst 2k limit 1g
		qdisc add dev p1 parent 2:1 handle 10: iqcn notify supplement supplement 200 kmin 20k kmax 50k limit 1m
		qdisc add dev p1 parent 3:1 handle 20: iqcn notify supplement supplement 400 kmin 20k kmax 50k limit 1m
		filter add dev p1 parent 1: protocol ip prio 1 u32 match ip tos 0x20 0xf0 flowid 1:2
	EOF
	pair_flow --qp 0x11 --psn 1000
	pair_flow --qp 0x12 --psn 2000
	data --qp 0x11 --len 926 --tos 2 --count 80
	data --qp 0x12 --len 926 --tos 0x22 --count 80
	sleep 0.3
	check "first queue" "$(stat cnp_supplement)" -ge 58
	check "first queue" "$(stat cnp_supplement)" -le 64
	check "second queue" "$(stat cnp_supplement p1 20:)" -ge 116
	check "second queue" "$(stat cnp_supplement p1 20:)" -le 128
	# of two queues that ask for more than their caps, the larger ratio
	# counts
	tc -n sw -batch - <<-EOF
		qdisc change dev p1 parent 2:1 handle 10: iqcn supplement-max 100 filter 1/1ms
		qdisc change dev p1 parent 3:1 handle 20: iqcn supplement-max 100
	EOF
	for _ in 1 2 3 4 5; do
		check_eq "interval" "$(value filter_ns)" 250000
		sleep 0.005
	done
	tc -n sw -batch - <<-EOF
		qdisc change dev p1 parent 2:1 handle 10: iqcn supplement-max 2500
		qdisc change dev p1 parent 3:1 handle 20: iqcn supplement-max 2500
	EOF
	sniff snd --type cnp --time 300
	data --qp 0x12 --len 926 --tos 2 --count 150 --interval 2000 &
	data --qp 0x11 --len 926 --tos 0x22 --count 150 --interval 2000
	wait
	check "flow that has moved" "$(grep -c "qp 0x800012 " "$TMP/snd")" -ge 50
	check "flow that has moved" "$(grep -c "qp 0x800012 " "$TMP/snd")" -le 65
	check "flow that has moved" "$(grep -c "qp 0x800011 " "$TMP/snd")" -ge 100
}

# A queue that is quiet after a pause sends no supplements, and the filter is
# not loosened
test_pauses()
{
	local pause

	flows_paired=2
	stand 2 supplement 1000 supplement-max 500 filter 1/1ms pfc frames pfc-max 1s \
		threshold 10k settle 100ms
	fill 60
	check "before" "$(sent_in 0.05)" -ge 24
	check_eq "interval" "$(value filter_ns)" 500000
	pause=0180c2000001${RCV_MAC//:/}880801010008
	pause+=$(printf 'ffff%.0s' 1 2 3 4 5 6 7 8)$(printf '%052d' 0)
	"$ROCE" raw rcv/e0 "$pause"
	fill 1
	sleep 0.02
	fill 1 --tos 3
	check "quiet" "$(sent_in 0.05)" -eq 0
	check_eq "quiet: interval" "$(value filter_ns)" 1000000
	sleep 1.1
	fill 30
	check "after pfc-max" "$(sent_in 0.05)" -ge 24
}

test_change()
{
	flows_paired=2
	stand 2 supplement 1000 filter 1/1ms supplement-max 500
	fill 60
	check_eq "interval" "$(value filter_ns)" 500000
	params notify off
	check "notify off" "$(sent_in 0.05)" -eq 0
	check_eq "notify off: interval" "$(value filter_ns)" 1000000
	params notify supplement
	# enqueue did not parse packets while notify was off, so the first of
	# them that leaves puts its flow in the list of turns
	check "on again" "$(sent_in 0.05)" -ge 20
	tc -n sw qdisc del dev p1 parent 1:1
	check_eq "the queue has gone" "$(tc -n sw qdisc show dev p1 | grep -c iqcn)" 0
}

# Supplements pass the gate like all CNPs: min-gap and the budget
test_gate()
{
	flows_paired=2
	stand 2 supplement 2000 min-gap 10ms
	fill 60
	# two flows, one CNP in 10 ms each
	check "min-gap" "$(sent_in 0.1)" -le 22
	check "min-gap" "$(stat cnp_gap)" -ge 100
	params min-gap 0 cnp-rate 2000 cnp-burst 1
	check "budget" "$(sent_in 0.1)" -le 201
	check "budget" "$(stat cnp_budget)" -gt 0
}

run_tests
