#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Back-to-sender notification (notify wreb and notify pi): which arriving packet
# causes a CNP, when the CNP is sent, and what its telemetry says about the
# queue.
#
# Most tests use a queue that does not drain: tbf passes only its burst, and
# packets other than RoCEv2 set the backlog, so every probability is known. Kmin
# and Kmax are set far above that backlog. Generated CNPs have a TTL that no
# receiver uses; behind a router it is one less.

ALL_TESTS="
	test_wreb_bridge
	test_wreb_router
	test_bh
	test_bh_full
	test_first_packet
	test_curve
	test_min_gap
	test_probability
	test_one_lot
	test_one_for_both
	test_ce_in
	test_two_points
	test_first_cannot
	test_behind_plain
	test_drop
	test_drop_gap
	test_drop_with_mark
	test_drop_outlives_state
	test_drop_trim
	test_drop_trim_judged
	test_echoed_sport
	test_min_gap_of_t1
	test_telemetry
	test_telemetry_port
	test_telemetry_moving
	test_telemetry_stuck
	test_pi_wakes
	test_pi_uncongested
	test_pi_sparse
	test_pi_sparse_budget
	test_pi_sparse_ends
	test_pi_sparse_reset
	test_pi_restarts
	test_pi_forgets
	test_pi_stops
	test_pi_traced
	test_pi_follows
	test_pi_polls_more
	test_pi_polls_share
	test_pi_polls_missed
	test_pi_polls_budget
	test_evicts_idle
	test_pi_controls
	test_pi_saves
	test_pi_counts
	test_pi_steady
	test_pi_cancels_t1
	test_pi_overdue
	test_pi_pairs
	test_pi_evicts
	test_pi_and_t1
	test_pi_times
	test_moves
	test_deferred
	test_off_while_deferred
	test_change_under_load
	test_reset_while_deferred
	test_delete_while_deferred
	test_evict_while_deferred
	test_timer_begins_anew
	test_update_shorter
	test_fair
	test_unpaired
	test_budget
	test_gso
	test_measure_gradient
	test_measure_delay
	test_words
	test_bad_words
	test_bad_values
"
NIGHTLY_TESTS="
	test_wreb_router test_curve test_one_for_both test_two_points
	test_first_cannot test_behind_plain test_drop_gap test_drop_with_mark
	test_drop_outlives_state test_drop_trim_judged test_echoed_sport
	test_min_gap_of_t1 test_telemetry_port test_telemetry_moving
	test_telemetry_stuck test_pi_uncongested test_pi_sparse_ends
	test_pi_sparse_reset test_pi_restarts test_pi_forgets test_pi_traced
	test_pi_polls_more test_pi_polls_share test_pi_polls_missed
	test_evicts_idle test_pi_saves test_pi_evicts test_pi_and_t1
	test_pi_cancels_t1 test_pi_overdue test_pi_times test_moves
	test_off_while_deferred test_reset_while_deferred
	test_evict_while_deferred test_timer_begins_anew test_update_shorter
	test_fair test_measure_gradient test_measure_delay test_words
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

QP=0x11 SQP=0x800011
COMMON="kmin 100m kmax 200m cnp-ttl 9"
LEN=1082	# frame length of a packet of "data"
RATE=1kbit	# one such packet takes 9 s
SMALL=16	# payload of a small packet; its frame is 74 bytes
BURST=8		# packets that the burst of tbf lets pass
OFF=2100	# tolerance of a CNP's time in ns: two clock steps with KASAN

# params PARAMETER...: change parameters of the qdisc under tbf
params()
{
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn "$@"
}

# stand NOTIFY PARAMETER...: set up a queue that passes only the burst of tbf,
# and pair flow $QP
stand()
{
	local notify=$1
	shift

	topology bridge
	# shellcheck disable=SC2086
	bottleneck $RATE $COMMON "$@" notify off
	pair_flow
	params notify "$notify"
}

# fill PACKETS: queue PACKETS packets that belong to no flow
fill()
{
	data --type udp --tos 0 --count "$1"
}

# deep PACKETS: queue PACKETS packets beyond the burst that tbf still passes
deep()
{
	fill $((BURST + $1))
}

# small COUNT INTERVAL-US [data argument...]: send ECT packets that hardly add
# to the backlog
small()
{
	data --len $SMALL --count "$1" --interval "$2" "${@:3}"
}

# watch MS [sniff argument...]: capture data on p0 and CNPs at the sender for
# MS, plus 80 ms because the listeners take time to start
watch()
{
	local ms=$(($1 + 80))
	shift

	listener sniff sw/p0 p0 --type data --time $ms "$@"
	sniff snd --type cnp --time $ms "$@"
}

# told WANTED [SENDER-QP]: check the number of generated CNPs that reached the
# sender
told()
{
	check "CNPs" "$(grep -c "qp ${2-} *.* ttl [89] " "$TMP/snd")" -eq "$1"
}

# accounts: check that the counters by cause add up to cnp_sent
accounts()
{
	local c

	read -ra c <<<"$(counters cnp_sent cnp_wreb cnp_pi cnp_poll cnp_drop)"
	check "cnp_sent; by wreb, pi, poll, drop: ${c[*]:1}" "${c[0]}" -eq \
		$((c[1] + c[2] + c[3] + c[4]))
}

# at_once: check that each CNP directly follows an arriving packet, and that no
# packet causes two
at_once()
{
	check_eq "ns from a packet's arrival to its CNP, or to another CNP" "$(awk \
		-v off=$OFF '
	FILENAME ~ /p0$/ { at[++n] = substr($1, 7) + 0; next }
	/ ttl [89] / {
		t = substr($1, 7) + 0
		for (i = n; i && at[i] > t; i--)
			;
		if (!i || t - at[i] > off || i == before)
			printf "%d ", t - at[i]
		before = i
	}' "$TMP/p0" "$TMP/snd")" ""
}

# telemetry: print for each CNP version, flags, cause, depth, flows, port_4k,
# gradient, tx_256, time_us, and the time of capture in us. Decode the
# documented layout byte by byte.
telemetry()
{
	local line t gradient

	while read -r line; do
		[[ $line =~ \ icrc\ ok\ .*\ rsvd\ ([0-9a-f]{32})$ ]] || continue
		t=${BASH_REMATCH[1]} line=${line%% *}
		gradient=$((16#${t:16:4}))
		[ $gradient -lt 32768 ] || gradient=$((gradient - 65536))
		echo $((16#${t:0:1})) $((16#${t:1:1})) $((16#${t:2:2})) \
			$((16#${t:4:4})) $((16#${t:8:4})) $((16#${t:12:4})) \
			$gradient $((16#${t:20:6})) $((16#${t:26:6})) \
			$((line / 1000))
	done <"$TMP/snd"
}

# wreb -6|"": check wreb with one IP version on the current topology
wreb()
{
	local v=$1 want from=$rcv4

	[ -z "$v" ] || from=$rcv6
	# shellcheck disable=SC2086
	bottleneck $RATE $COMMON notify off profile 20000:1 min-gap 0
	# shellcheck disable=SC2086
	pair_flow $v
	params notify wreb
	deep 10
	# shellcheck disable=SC2086
	small 5 20 $v --psn 1000
	check "CNPs below the first point" "$(stat cnp_sent)" -eq 0
	check "marked below the first point" "$(stat ecn_mark)" -eq 0
	fill 10
	watch 30
	listener sniff sw/p1 p1 --type cnp --hex --time 80
	# shellcheck disable=SC2086
	small 20 20 $v --psn 2000
	wait
	told 20
	at_once
	counted "20 20 20 20 0" cnp_sent cnp_wreb ecn_mark bts_mark cnp_unpaired
	# shellcheck disable=SC2086
	want=$(vlan_args=("${vlan_args[@]/%:3/:6}") &&
		reply $v --type cnp --qp $SQP --ttl 9 --smac "$(port_mac)" \
			--hex)
	check_eq "CNP on the port" "$(sed 's/.* hex //' "$TMP/p1" | sort -u)" \
		"$want"
	check "CNPs that the sender accepts" "$(grep -cE \
		"cnp $from > .* qp $SQP .* dscp 48 .* icrc ok csum ok" \
		"$TMP/snd")" -eq 20

	sniff rcv --type data --time 100
	release
	wait
	check "not CE" "$(grep -cE ' psn 10.. ect0 .* icrc ok' "$TMP/rcv")" \
		-eq 5
	check "CE" "$(grep -cE ' psn 20.. ce .* icrc ok' "$TMP/rcv")" -eq 20
	tc -n sw qdisc del dev p1 root
}

test_wreb_bridge()
{
	topology bridge vlan
	wreb ""
	wreb -6
}

test_wreb_router()
{
	topology router vlan
	wreb ""
	wreb -6
}

# runs_begin: count runs of BH work and of the timer
runs_begin()
{
	local event

	# TASKLET_SOFTIRQ, in which BH workqueues run, too
	echo "vec == 6" >$TRACEFS/events/irq/softirq_entry/filter
	echo >$TRACEFS/trace
	for event in irq/softirq_entry timer/hrtimer_start \
		timer/hrtimer_expire_entry; do
		echo 1 >$TRACEFS/events/$event/enable
	done
}

# runs_end: set $bh, $timer and $starts to the number of runs of BH work, runs
# of the timer, and starts of the timer
runs_end()
{
	local event

	for event in irq/softirq_entry timer/hrtimer_start \
		timer/hrtimer_expire_entry; do
		echo 0 >$TRACEFS/events/$event/enable
	done
	echo 0 >$TRACEFS/events/irq/softirq_entry/filter
	bh=$(grep -c "softirq_entry" $TRACEFS/trace)
	timer=$(grep -c "expire_entry: .*function=iqcn_timer" $TRACEFS/trace)
	starts=$(grep -c "hrtimer_start: .*function=iqcn_timer" $TRACEFS/trace)
}

# BH work sends CNPs that need not wait, and does not rearm the timer. The timer
# sends CNPs that have to wait for min-gap.
test_bh()
{
	local bh timer starts

	stand wreb profile 1000:1 min-gap 0
	# the controller keeps the timer armed
	params notify wreb,pi qref 1000 alpha 1 beta 1 t1 100ms
	deep 10
	runs_begin
	small 50 20
	runs_end
	counted "50" cnp_sent
	check "runs of BH work for 50 CNPs" "$bh" -eq 50
	check "runs of the timer for 50 CNPs" "$timer" -le 2
	check "starts of the timer for 50 CNPs" "$starts" -le 3
	# the new limit makes the queue drop packets, which causes a CNP
	params notify wreb profile 100m:1 limit 1000 min-gap 4ms
	sleep 0.01
	runs_begin
	small 100 100
	sleep 0.01
	runs_end
	counted "5" cnp_drop
	check "runs of BH work for a CNP and later ones" "$bh" -eq 1
	check "runs of the timer for three later CNPs" "$timer" -ge 3
}

# If more CNPs are due than a run of BH work may send, the timer sends the rest
test_bh_full()
{
	local bh timer starts

	topology bridge
	# shellcheck disable=SC2086
	bottleneck 10gbit $COMMON profile 100m:1 min-gap 0 notify off
	np --time 50 --ack 1
	data --flows 100 --tos 3 --count 400 --interval 20 --len $SMALL
	wait
	check "flows paired" "$(stat flows_paired)" -eq 100
	tc -n sw qdisc change dev p1 root handle 1: tbf rate $RATE burst 9k \
		limit 1g
	params notify wreb
	deep 10
	data --flows 100 --count 100 --psn 2000 --len $SMALL
	runs_begin
	params limit 1
	sleep 0.01
	runs_end
	counted "100 100" cnp_sent cnp_drop
	check "runs of BH work" "$bh" -eq 1
	check "runs of the timer for the remaining 68" "$timer" -ge 3
}

# A connection setup before the first data packet: that packet creates the
# flow, which is paired at once, so the packet itself causes a CNP
test_first_packet()
{
	local snoop

	for snoop in port netns; do
		topology bridge
		# shellcheck disable=SC2086
		bottleneck $RATE $COMMON notify wreb profile 20000:1 pair cm \
			snoop $snoop
		[ $snoop = netns ] ||
			tc -n sw qdisc replace dev p0 root handle 10: iqcn \
				notify off
		data --type req --cm-local 7 --cm-qp $SQP
		reply --type rep --cm-local 9 --cm-remote 7 --cm-qp $QP
		deep 30
		check "$snoop: flows" "$(stat flows)" -eq 0
		watch 10
		small 1 0
		wait
		told 1 $SQP
		at_once
		check_eq "$snoop: paired" \
			"$(flows | awk 'NR == 2 { print $6 }')" "cm"
		cleanup
	done
}

# Without a profile, wreb uses the marking curve, and a packet is marked at most
# once
test_curve()
{
	topology bridge
	bottleneck $RATE cnp-ttl 9 kmin 20000 kmax 40000 pmax 0 min-gap 0 \
		notify off
	pair_flow
	params notify wreb
	deep 30
	small 20 20
	counted "0 0" cnp_wreb ecn_mark
	fill 10
	watch 20
	small 20 20
	wait
	told 20
	at_once
	counted "20 20" cnp_wreb bts_mark
}

# Packets 30 us apart: min-gap lets every fourth, every second, or every packet
# cause a CNP
test_min_gap()
{
	local gap want

	stand wreb profile 1000:1
	deep 10
	for gap in 100us:25 50us:50 0:100; do
		want=${gap#*:}
		params min-gap "${gap%:*}"
		read -r sent gaps <<<"$(counters cnp_sent cnp_gap)"
		watch 20
		small 100 30
		wait
		told "$want"
		at_once
		# packets that cause no CNP are not marked by wreb
		counted "$((sent + want)) $((gaps + 100 - want)) $((sent + want))" \
			cnp_sent cnp_gap bts_mark
	done
}

# within NAME GOT MEAN VARIANCE: accept a deviation of up to 5 sigma
within()
{
	check_eq "$1: $2, wanted $3" "$(awk -v got="$2" -v mean="$3" -v var="$4" \
		'BEGIN { d = got - mean; print (d * d <= 25 * var ? "near" : "far") }')" \
		"near"
}

test_probability()
{
	stand wreb profile 1000:0.25 min-gap 0
	deep 10
	watch 60
	small 2000 10
	wait
	within "CNPs at a probability of 1/4" "$(stat cnp_wreb)" 500 375
	told "$(stat cnp_wreb)"
	at_once
	accounts
	# between the second and the third point, the probability is 1/2
	params profile 5000:0,15000:0.5,100m:0.5
	read -r before <<<"$(counters cnp_wreb)"
	small 1000 10
	check "backlog above the second point" "$(stat backlog)" -gt 15000
	within "CNPs at a probability of 1/2" \
		$(($(stat cnp_wreb) - before)) 500 250
}

# With the marking curve as the profile, one random draw decides about both mark
# and CNP, so exactly the marked packets cause CNPs
test_one_lot()
{
	local depth prob told

	topology bridge
	bottleneck $RATE cnp-ttl 9 kmin 0 kmax 1m pmax 1 min-gap 0 notify off
	pair_flow
	params notify wreb
	deep 400
	depth=$(stat backlog)
	watch 60
	small 2000 10
	wait
	told=$(stat cnp_wreb)
	# the probability at the mean depth is the mean probability, because the
	# curve and the growth of the queue are linear
	prob=$(awk -v d=$((depth + $(stat backlog))) 'BEGIN { print d / 2000000 }')
	within "CNPs for 2000 packets at a probability of $prob" "$told" \
		"$(awk -v p="$prob" 'BEGIN { print 2000 * p }')" \
		"$(awk -v p="$prob" 'BEGIN { print 2000 * p * (1 - p) }')"
	counted "$told $told $told" cnp_sent ecn_mark bts_mark
	told "$told"
	at_once
}

# From 4 to 16 times qref, the probability of pi rises from 0 to 1; the backlog
# is about 6 times qref. A packet that pi does not pick causes a CNP by wreb
# with probability 1/4.
test_one_for_both()
{
	local depth sent wreb pi

	stand wreb,pi profile 1000:0.25 min-gap 0 qref 100000 update 1s \
		alpha 1 beta 1 t1 1s
	deep 560
	depth=$(stat backlog)
	watch 60
	small 1000 20
	wait
	at_once
	read -r sent wreb pi <<<"$(counters cnp_sent cnp_wreb cnp_pi)"
	told "$sent"
	check "CNPs, at most one per packet" "$sent" -le 1000
	# pi accumulates credit per flow and draws no random number
	check_eq "CNPs by pi: $pi" "$(awk -v depth="$depth" -v got="$pi" '
	BEGIN {
		for (i = 0; i < 1000; i++)
			sum += (depth + i * 74 - 400000) / 1200000
		print (got >= sum - 2 && got <= sum + 2 ? "right" : sum)
	}')" "right"
	within "cnp_wreb" "$wreb" $(((1000 - pi) / 4)) $(((1000 - pi) * 3 / 16))
	accounts
}

# ce-in silent: a packet that arrived as CE causes no CNP by wreb or pi. The
# controller runs before the CE packets arrive and, with ce-in notify, picks
# each of them.
test_ce_in()
{
	local action way want n

	stand wreb profile 1000:1 min-gap 0 qref 1000 alpha 100000000 beta 100000000
	deep 20
	for action in silent:0 notify:50; do
		want=${action#*:}
		for way in wreb pi wreb,pi; do
			params notify $way ce-in "${action%:*}"
			# flow 0x99 is not paired
			small 10 20 --qp 0x99
			check "$way: probability" "$(stat bts_prob)" = 1
			# wait until N p, the number of CNPs per round (pi.h),
			# has risen to its maximum: until then, packets that are
			# far apart get only a part of the credit
			sleep 0.001
			watch 20
			small 50 20 --tos 3
			wait
			told "$want"
		done
	done
	counted "150 304" cnp_sent ce_in
	# pi marked the packets of 0x99, except perhaps one in each of its four
	# rounds, which got only a part of the credit
	n=$(stat ecn_mark)
	check "ecn_mark" "$n" -ge 36
	check "ecn_mark" "$n" -le 40
}

# p0 - br0 - x0 ==== x1 - br1 - p1: iqcn on both x0 and p1
two_points()
{
	topology bridge
	ip -n sw -batch - <<-EOT
		link set p1 nomaster
		link add br1 type bridge mcast_snooping 0
		link add x0 mtu 9000 type veth peer name x1 mtu 9000
		link set x0 master br0
		link set x1 master br1
		link set p1 master br1
		link set x0 up
		link set x1 up
		link set br1 up
	EOT
	until [ "$(bridge -n sw link show | grep -c forwarding)" = 4 ]; do
		sleep 0.1
	done
	bridge -n sw -batch - <<-EOT
		fdb replace $RCV_MAC dev x0 master static
		fdb replace $RCV_MAC dev p1 master static
		fdb replace $SND_MAC dev x1 master static
	EOT
	tc -n sw -batch - <<-EOT
		qdisc replace dev x0 root handle 1: tbf rate 10gbit burst 1m limit 1g
		qdisc replace dev x0 parent 1:1 handle 10: iqcn $COMMON $*
	EOT
	# shellcheck disable=SC2086
	bottleneck $RATE $COMMON "$@"
}

test_two_points()
{
	two_points profile 1000:1 min-gap 0 notify wreb ce-in silent
	pair_flow
	check "paired" "$(stat flows_paired x0)$(stat flows_paired)" -eq 11
	deep 20
	# only the second queue is congested
	watch 20
	small 20 20 --psn 1000
	wait
	told 20
	check "cnp_wreb of the first" "$(stat cnp_wreb x0)" -eq 0
	check "cnp_wreb of the second" "$(stat cnp_wreb)" -eq 20
	# now both queues are congested
	tc -n sw qdisc change dev x0 root handle 1: tbf rate $RATE burst 9k \
		limit 1g
	deep 20
	watch 60
	small 20 20 --psn 2000
	check "cnp_wreb of the first" "$(stat cnp_wreb x0)" -eq 20
	tc -n sw qdisc change dev x0 root handle 1: tbf rate 10gbit burst 1m \
		limit 1g
	fill 1
	wait
	told 20
	check "ce_in of the second" "$(stat ce_in)" -eq 24
	check "cnp_wreb of the second" "$(stat cnp_wreb)" -eq 20
	check "cnp_wreb of the first" "$(stat cnp_wreb x0)" -eq 20
}

# through_both COUNT: queue COUNT packets at the first box. They arrive 74 us
# apart at the second box, which passes nothing on.
through_both()
{
	tc -n sw qdisc change dev x0 root handle 1: tbf rate 8mbit burst 9k limit 1g
	deep 20
	watch 100
	small "$1" 20 --psn 2000
	wait
}

# A box that cannot notify the sender does not mark the packet by wreb. The next
# box therefore notifies the sender even with "ce-in silent".
test_first_cannot()
{
	two_points profile 1000:1 min-gap 0 notify wreb ce-in silent
	tc -n sw qdisc change dev x0 parent 1:1 handle 10: iqcn pair cm
	pair_flow
	check "paired" "$(stat flows_paired x0)$(stat flows_paired)" -eq 01
	through_both 20
	told 20
	check "marked by the first" "$(stat ecn_mark x0)" -eq 0
	check "cnp_unpaired of the first" "$(stat cnp_unpaired x0)" -eq 20
	check "cnp_wreb of the second" "$(stat cnp_wreb)" -eq 20

	tc -n sw qdisc change dev x0 parent 1:1 handle 10: iqcn pair psn \
		cnp-rate 1 cnp-burst 5
	pair_flow
	through_both 20
	told 20
	check "cnp_wreb of the first" "$(stat cnp_wreb x0)" -eq 5
	check "marked by the first" "$(stat ecn_mark x0)" -eq 5
	check "cnp_budget of the first" "$(stat cnp_budget x0)" -eq 15
	check "cnp_wreb of the second" "$(stat cnp_wreb)" -eq 35
}

# A plain switch marks packets but notifies no sender
test_behind_plain()
{
	local action

	two_points profile 1000:1 min-gap 0 notify wreb
	pair_flow
	tc -n sw qdisc change dev x0 parent 1:1 handle 10: iqcn notify off kmin 0 \
		kmax 0 mark-on enqueue
	for action in silent:0 notify:20; do
		params ce-in "${action%:*}"
		through_both 20
		told "${action#*:}"
		check "of the second" "$(stat cnp_wreb)" -eq "${action#*:}"
	done
	check "marked by the first" "$(stat ecn_mark x0)" -ge 40
	check "cnp_wreb of the first" "$(stat cnp_wreb x0)" -eq 0
}

# The profile never asks for a CNP: only drops of a full queue cause CNPs
test_drop()
{
	local zeros=0000000000000000000000000000

	stand wreb limit 20000 profile 100m:1 min-gap 0 telemetry on
	deep 40
	check "backlog of a full queue" "$(stat backlog)" -gt $((20000 - LEN))
	watch 20
	data --count 5 --interval 200
	data --tos 3 --count 4 --interval 200
	data --tos 0 --count 3 --interval 200
	data --type udp --tos 2 --count 3
	wait
	told 9
	at_once
	counted "9 9 0 0" cnp_sent cnp_drop ecn_mark bts_mark
	check_eq "version, WAS_CE, cause" "$(telemetry |
		awk '{ print $1, $2, $3 }' | uniq -c | tr -s ' \n' ' ')" \
		" 5 1 0 5 4 1 1 5 "
	params notify pi
	data
	check "cnp_drop with pi" "$(stat cnp_drop)" -eq 10
	params notify timer
	watch 20
	data --count 3 --interval 200
	wait
	told 0
	counted "10 10" cnp_sent cnp_drop
	# without telemetry, only the first two reserved bytes of a CNP for a
	# drop are filled in
	params notify wreb telemetry off
	watch 20
	data --count 1
	data --tos 3 --count 1
	wait
	check_eq "reserved bytes" \
		"$(grep -o 'rsvd [0-9a-f]*' "$TMP/snd" | tr '\n' ' ')" \
		"rsvd 1205${zeros} rsvd 1305${zeros} "
}

# CNPs of a flow stay 1 ms apart, however many packets are dropped
test_drop_gap()
{
	local first second

	stand wreb limit 20000 profile 100m:1 min-gap 1ms telemetry on
	deep 40
	watch 20
	data --tos 3 --list 2000e,2001e,2002e,2003,2004-2010e --interval 90
	wait
	told 2
	counted "2 2 0" cnp_sent cnp_drop cnp_gap
	check_eq "version, WAS_CE, cause" "$(telemetry |
		awk '{ print $1, $2, $3 }' | tr '\n' ' ')" "1 0 5 1 0 5 "
	{
		read -r first _
		read -r second _
	} <"$TMP/snd"
	check "ns between two CNPs" $((second - first)) -ge $((1000000 - OFF))
	check "ns between two CNPs" $((second - first)) -le $((1000000 + OFF))
	# one CNP by wreb, and one for the three drops that follow
	params profile 1000:1 limit 100k min-gap 100us
	sleep 0.002
	watch 20
	small 1 0
	params limit 20000
	data --count 3 --interval 10
	wait
	told 2
}

# A marked packet and a dropped one cause a single CNP, with the drop as its
# cause, if both arrive before BH work sends it. The sender's tbf delays the
# packets and then releases them in one run.
test_drop_with_mark()
{
	stand wreb limit 20000 profile 15000:1 min-gap 1ms
	deep 12
	tc -n snd qdisc add dev e0 root tbf rate 1kbit burst 1500 limit 1m
	data --count 9
	check "CNPs before the mark" "$(stat cnp_sent)" -eq 0
	tc -n snd qdisc change dev e0 root tbf rate 10gbit burst 1m limit 1m
	data --type udp --tos 0
	sleep 0.01
	check "drops" "$(stat drop_overlimit)" -gt 0
	check "marks by wreb" "$(stat bts_mark)" -gt 0
	counted "0 1" cnp_wreb cnp_drop
}

# The second of two drops within min-gap causes a deferred CNP. It is sent even
# if the flow's own congestion ends before that.
test_drop_outlives_state()
{
	topology bridge
	# shellcheck disable=SC2086
	bottleneck 10mbit $COMMON limit 20000 profile 100m:1 min-gap 50ms \
		t1 1s detect run notify off
	pair_flow
	sleep 0.05
	params notify timer,wreb
	fill $BURST
	data --tos 3 --psn 100 --count 8 --interval 1
	data --tos 3 --psn 2000 --count 1
	data --tos 3 --psn 2010 --count 1
	data --tos 3 --psn 2020 --count 1
	fill 20
	data --psn 3000 --count 1
	data --psn 3001 --count 1
	sleep 0.2
	counted "2 2 2" cnp_sent cnp_drop flow_state_changes
}

# queue_of_three PARAMETER...: into a queue that does not drain, send packets of
# flow 0x11, CE packets of flow 0x12, packets of no paired flow, and packets of
# flow 0x13. By default the packets of 0x11 are below the fast-path depth limit
# and are not parsed. A trim to 6000 bytes leaves only the packets of 0x13.
queue_of_three()
{
	topology bridge
	# shellcheck disable=SC2086
	bottleneck $RATE $COMMON limit 100k profile 100m:1 min-gap 0 \
		telemetry on notify off
	np --time 30 --ack 1
	data --flows 3 --tos 3 --count 96 --interval 20 --len $SMALL
	wait
	check "flows paired" "$(stat flows_paired)" -eq 3
	params notify wreb "$@"
	deep 10
	data --count 5 --psn 2000
	data --qp 0x12 --tos 3 --count 5 --psn 2000
	data --qp 0x14 --tos 0 --count 5
	fill 5
	data --qp 0x13 --count 5 --psn 2000
	check "backlog" "$(stat backlog)" -gt 30000
	watch 20
}

# Lowering the limit drops queued packets: each flow that loses packets gets one
# CNP, whether they were parsed at enqueue or not, and a second trim finds
# consistent state
test_drop_trim()
{
	queue_of_three
	sleep 0.02
	params limit 6000
	check "flows_active after 20 ms" "$(stat flows_active)" -eq 0
	wait
	told 2
	check_eq "flows" "$(grep -o 'qp 0x8000..' "$TMP/snd" | sort -u | tr '\n' ' ')" \
		"qp 0x800011 qp 0x800012 "
	check_eq "version, WAS_CE, cause" "$(telemetry |
		awk '{ print $1, $2, $3 }' | tr '\n' ' ')" "1 0 5 1 1 5 "
	check "backlog after the trim" "$(stat backlog)" -le 6000
	counted "2 2" cnp_sent cnp_drop
	check "packets dropped" "$(stat drop_overlimit)" -ge 26

	# notify timer sends no CNPs for drops
	params notify timer limit 100k
	data --count 5 --psn 3000
	watch 20
	params limit 1
	wait
	told 0
	counted "2 2" cnp_sent cnp_drop
}

# A flow that loses packets also gets its CNP if they no longer reference it:
# enqueue releases the flow of a CE packet that is not sampled, and of a packet
# that causes neither a mark nor a CNP
test_drop_trim_judged()
{
	queue_of_three sample 8 kmin 1000 pmax 0
	params limit 6000
	wait
	told 2
	counted "2 2" cnp_sent cnp_drop
}

# sports: print the source ports of the CNPs
sports()
{
	grep -o 'sport [0-9]*' "$TMP/snd" | cut -d ' ' -f 2 | paste -sd ' '
}

# With cnp-sport echo, a CNP has the source port of the packet that caused it,
# although that packet has not left
test_echoed_sport()
{
	stand wreb profile 1:1 min-gap 0 cnp-sport echo
	deep 4
	watch 20
	small 5 200 --sport 50000 --spray 5
	wait
	told 5
	check_eq "source ports" "$(sports)" "50000 50001 50002 50003 50004"
	# if several packets are dropped within min-gap, the last one determines
	# the source port
	params profile 100m:1 limit 1000 min-gap 1ms
	sleep 0.002
	watch 20
	data --count 3 --sport 60000 --spray 3
	wait
	counted "2" cnp_drop
	check_eq "source ports of drops" "$(sports)" "60000 60002"
	params profile 1:1 limit 1m min-gap 0 cnp-sport learned
	fill 4
	watch 20
	small 2 200 --sport 50000 --spray 2
	wait
	check_eq "source ports that the receiver uses" "$(sports)" "0 0"
}

# The default of min-gap never exceeds T1
test_min_gap_of_t1()
{
	topology bridge
	bottleneck 10mbit kmin 1000 kmax 2000 cnp-ttl 9 detect depth t1 40us \
		notify off
	pair_flow
	params notify timer
	data --tos 3 --count 60 --interval 1
	sleep 0.03
	check "CNPs" "$(stat cnp_sent)" -ge 500
	check "CNPs within min-gap" "$(stat cnp_gap)" -eq 0
}

test_telemetry()
{
	local tele version flags cause depth flows port gradient tx us at
	local backlog bytes before=0

	stand wreb limit 1000000 profile 20000:1 min-gap 0 telemetry on
	deep 100
	for tele in on again off; do
		[ $tele = again ] || params telemetry $tele
		watch 20 --mono
		small 12 50 --qp 0x21 --flows 6
		small 1 0
		read -r backlog bytes <<<"$(tc -n sw -s -j qdisc show dev p1 |
			jq -r '.[1] | "\(.backlog) \(.bytes)"')"
		wait
		told 1
		check "$tele: ICRC" "$(grep -c ' icrc ok ' "$TMP/snd")" -eq 1
		[ $tele != off ] || continue
		read -r version flags cause depth flows port gradient tx us at \
			<<<"$(telemetry)"
		check "version" "$version" -eq 1
		check "flags" "$flags" -eq 0
		check "cause" "$cause" -eq 2
		check "depth" "$depth" -eq $((backlog * 65535 / 1000000))
		check "flows" "$flows" -eq 7
		check "port_4k" "$port" -eq $((backlog / 4096))
		check "tx_256" "$tx" -eq $((bytes / 256 % 16777216))
		check "time_us" $(((at - us) % 16777216)) -le 2
		check "time_us" "$us" -ne "$before"
		before=$us
	done
	check_eq "CNPs with telemetry" "$(grep -c rsvd "$TMP/snd")" 0
}

# port_4k is the backlog of both queues of a port
test_telemetry_port()
{
	local port

	topology router
	tc -n sw -batch - <<-EOT
		qdisc replace dev p1 root handle 1: prio bands 2 priomap 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1 1
		qdisc add dev p1 parent 1:2 handle 2: tbf rate $RATE burst 9k limit 1g
		qdisc add dev p1 parent 1:1 handle 3: tbf rate $RATE burst 9k limit 1g
		qdisc add dev p1 parent 2:1 handle 10: iqcn $COMMON notify wreb profile 1000:1 telemetry on
		qdisc add dev p1 parent 3:1 handle 20: iqcn $COMMON notify off
	EOT
	pair_flow
	deep 20
	# the router maps another TOS to the other band
	data --type udp --tos 0x10 --count 100
	check "packets in the other queue" "$(stat qlen p1 20:)" -ge 90
	watch 20
	small 1 0
	wait
	port=$(($(stat backlog p1 10:) + $(stat backlog p1 20:)))
	check_eq "port_4k" "$(telemetry | awk '{ print $6 }')" \
		"$((port / 4096))"
	check "depth" "$(telemetry | awk '{ print $4 }')" -lt 655
}

# gradients FROM TO: check the gradient of all CNPs but the first 11
gradients()
{
	check "CNPs" "$(telemetry | grep -c .)" -ge 20
	check_eq "gradients, wanted $1 to $2" "$(telemetry | tail -n +12 |
		awk -v from="$1" -v to="$2" '$7 < from || $7 > to { print $7 }' |
		tr '\n' ' ')" ""
}

# The queue fills at 21.6 and drains at 10 bytes per us, then only drains
test_telemetry_moving()
{
	topology bridge
	# shellcheck disable=SC2086
	bottleneck 80mbit $COMMON notify off profile 5000:1 min-gap 0 \
		window 500us telemetry on
	pair_flow
	params notify wreb
	watch 60
	data --count 400 --interval 50
	wait
	gradients 9 14
	# tx_256 grows with time: 10 bytes per us
	check_eq "bytes and us, if not 10 bytes per us" "$(telemetry | awk '
	NR == 20 { tx = $8; us = $9 }
	NR == 220 {
		bytes = ($8 - tx) * 256
		us = $9 - us
		if (us < 9900 || us > 10100 || bytes < us * 10 - 1600 ||
		    bytes > us * 10 + 1600)
			print bytes, us
	}')" ""
	sleep 0.05
	fill 400
	sleep 0.002
	watch 60
	small 80 300
	wait
	gradients -11 -8
}

# The port is paused: the timer repeats the CNPs of the flows that wait, but no
# flow counts as active any more
test_telemetry_stuck()
{
	topology bridge
	bottleneck 80mbit kmin 3000 kmax 4000 cnp-ttl 9 detect depth min-gap 0 \
		telemetry on notify off
	np --time 30 --ack 1
	data --flows 8 --tos 3 --count 32 --interval 20 --len $SMALL
	wait
	check "flows paired" "$(stat flows_paired)" -eq 8
	params notify timer
	data --flows 8 --count 2000 --psn 1000
	sleep 0.01
	watch 5
	wait
	check "CNPs" "$(telemetry | grep -c .)" -ge 50
	check_eq "active flows while packets leave" \
		"$(telemetry | awk '{ print $5 }' | sort -u)" 8
	tc -n sw qdisc change dev p1 root handle 1: tbf rate $RATE burst 9k \
		limit 1g
	sleep 0.3
	watch 100
	wait
	check "CNPs" "$(telemetry | grep -c .)" -ge 8
	check_eq "active flows 300 ms after the pause" \
		"$(telemetry | awk '{ print $5 }' | sort -u)" 0
}

# The controller runs once the backlog exceeds qref / 8. With this beta, any
# growth since its last run raises the probability to 1.
test_pi_wakes()
{
	stand pi qref 80000 alpha 1 beta 100000000 update 100us min-gap 0 t1 1s
	deep 1
	fill $((6 - $(stat qlen)))
	data --count 3 --interval 200
	check "backlog below qref / 8" "$(stat backlog)" -lt 10000
	counted "0 0 0" cnp_sent bts_prob flows_active
	# the first run has no earlier backlog to compare with
	fill 1
	watch 20
	data --count 4 --interval 200
	wait
	told 3
	at_once
	counted "3 3" cnp_sent cnp_pi
}

# Packets to an empty queue need no flow lookup
test_pi_uncongested()
{
	topology bridge
	iqcn notify pi
	pair_flow
	watch 60
	small 1000 20
	# no flow counts as active, although the last packet is recent enough
	counted "0 0 0 0" cnp_sent cnp_poll bts_mark flows_active
	check_eq "probability" "$(stat bts_prob)" 0
	[[ $(tc -n sw -s qdisc show dev p1) == *" bts_prob 0"*" flows_active 0 "* ]] ||
		fail "$(tc -n sw -s qdisc show dev p1)"
	small 20 20 --qp 0x21
	check "flows" "$(stat flows)" -eq 1
	wait
	told 0
}

# between FROM TO: count generated CNPs that are FROM to TO us later than the
# packet of flow $QP that precedes them
between()
{
	awk -v from="$1" -v to="$2" '
	FILENAME ~ /p0$/ {
		if (/ qp 0x000011 /)
			at[++n] = substr($1, 7) + 0
		next
	}
	/ ttl [89] / {
		t = substr($1, 7) + 0
		for (i = n; i && at[i] > t; i--)
			;
		us = (t - at[i]) / 1000
		if (us >= from && us < to)
			k++
	}
	END { print k + 0 }' "$TMP/p0" "$TMP/snd"
}

# left FROM TO: count generated CNPs between FROM and TO us after the first data
# packet of the backlog has left
left()
{
	awk -v from="$1" -v to="$2" '
	FILENAME ~ /rcv$/ { if (!first) first = substr($1, 7) + 0; next }
	/ ttl [89] / {
		us = (substr($1, 7) - first) / 1000
		if (us >= from && us < to)
			k++
	}
	END { print k + 0 }' "$TMP/rcv" "$TMP/snd"
}

# pi polls a sparse flow every T1. With a probability of 1, a T1 of 225 us, and
# a packet every 5 ms, each packet causes a CNP and is followed by 22 polls, but
# the first packet only by 17, and the last one by 88.
test_pi_sparse()
{
	local n

	stand pi qref 1000 min-gap 10us t1 225us
	# an unpaired flow congests the queue
	data --qp 0x99 --count $((BURST + 20)) --interval 10
	data --qp 0x99 --count 300 --interval 300 --len $SMALL --psn 5000 &
	watch 100
	small 10 5000
	wait
	# polls continue for four times the interval between the last two
	# packets, which is 20 ms; after the first packet, for 4 ms
	told $((10 + 17 + 8 * 22 + 88))
	check "CNPs for packets" "$(between 0 2)" -eq 10
	check "CNPs more than 20 ms after it" "$(between 20000 1000000)" -eq 0
	check "CNPs just before that" "$(between 19600 20000)" -ge 1
	check_eq "us between two CNPs, if too long" "$(awk '
	/ ttl [89] / {
		t = substr($1, 7) + 0
		first = first ? first : t
		us = (t - before) / 1000
		if (t - first > 6000000 && us > 228)
			printf "%d ", us
		before = t
	}' "$TMP/snd")" ""
	n=$(stat cnp_poll)
	check "cnp_poll" "$n" -eq $((17 + 8 * 22 + 88))
	accounts
	check "cnp_unpaired" "$(stat cnp_unpaired)" -ge 300
}

# Four flows share a budget of 1,000 CNPs per second. Half of the burst is
# reserved for packets, each of which causes a CNP; polls use the rest, with the
# flows taking turns.
test_pi_sparse_budget()
{
	topology bridge
	# shellcheck disable=SC2086
	bottleneck $RATE $COMMON qref 1000 min-gap 10us t1 225us notify off \
		cnp-rate 1000 cnp-burst 4
	np --time 30 --ack 1
	data --flows 4 --tos 3 --count 16 --interval 20 --len $SMALL
	wait
	check "flows paired" "$(stat flows_paired)" -eq 4
	fill $((BURST + 20))
	params notify pi
	watch 140
	small 40 2500 --flows 4 --psn 1000
	wait
	check "CNPs" "$(stat cnp_sent)" -ge 100
	check "CNPs" "$(stat cnp_sent)" -le 150
	check "CNPs for packets, one for each" "$(stat cnp_pi)" -eq 40
	accounts
	check "polls over budget" "$(stat cnp_budget)" -ge 10
	check_eq "flows that did not get about a quarter" "$(awk '
	/ ttl [89] / { for (i = 1; i < NF; i++) if ($i == "qp") n[$(i + 1)]++ }
	END {
		for (qp in n)
			sum += n[qp]
		for (qp in n)
			if (n[qp] < 0.8 * sum / 4 || n[qp] > 1.25 * sum / 4)
				printf "%s: %d of %d ", qp, n[qp], sum
	}' "$TMP/snd")" ""
}

# The sender continues, but polls end when the queue becomes empty
test_pi_sparse_ends()
{
	stand pi qref 10000 min-gap 10us t1 225us alpha 320000 beta 1 update 100us
	deep 60
	sniff rcv --type data --time 250
	watch 150
	small 150 1000 &
	sleep 0.03
	check_eq "probability" "$(stat bts_prob)" 1
	release
	wait
	check "packets that left, 1 ms apart" "$(grep -c . "$TMP/rcv")" -eq 150
	check "CNPs while the queue waits" "$(left -20000 0)" -ge 80
	check "CNPs just after the queue drained" "$(left 0 5000)" -ge 5
	check "CNPs 20 ms later" "$(left 20000 1000000)" -eq 0
	check_eq "probability in the end" "$(stat bts_prob)" 0
	accounts
}

# A reset ends the polling of earlier flows, although other flows raise the
# probability at once
test_pi_sparse_reset()
{
	stand pi qref 1000 min-gap 10us t1 15ms
	deep 20
	small 2 4500
	watch 60
	ip -n sw -batch - <<-EOF
		link set p1 down
		link set p1 up
	EOF
	check "active flows after a reset" "$(stat flows_active)" -eq 0
	# send on p1 itself, because the bridge port takes time to forward again
	packets sw/p1 $SND_MAC $RCV_MAC $SND4 $RCV4 $SND6 $RCV6 --qp 0x99 \
		--count $((BURST + 20))
	check_eq "probability" "$(stat bts_prob)" 1
	wait
	told 0
}

# A controller that was reset starts as soon as the queue is deep enough. If
# pi_until_ns were not reset, it would wait for the end of its last interval. A
# new txqueuelen resets the qdisc, but puts no parameters into effect.
test_pi_restarts()
{
	stand pi qref 20000 alpha 100000000 beta 1 update 3ms min-gap 0
	deep 30
	# a new epoch of active flows starts with the next packet
	sleep 0.01
	small 3 100
	ip -n sw link set p1 txqueuelen 999
	# 5 ms: long enough for one interval, not for a part of another
	packets sw/p1 $SND_MAC $RCV_MAC $SND4 $RCV4 $SND6 $RCV6 --count 50 \
		--interval 100
	check_eq "runs" "$(awk -v p="$(stat bts_prob)" 'BEGIN { print (p > 0) }')" 1
}

# A controller that is switched off forgets its probability
test_pi_forgets()
{
	stand pi qref 20000 alpha 320000 beta 1 update 100us min-gap 0
	deep 30
	small 50 100
	check_eq "runs" "$(awk -v p="$(stat bts_prob)" 'BEGIN { print (p > 0) }')" 1
	params notify off
	params notify pi
	check_eq "probability" "$(stat bts_prob)" 0
}

# A controller stops without another packet, even if no flow is polled and no
# packet has been marked
test_pi_stops()
{
	topology bridge
	# shellcheck disable=SC2086
	bottleneck 86560kbit $COMMON notify pi qref 20000 alpha 1 beta 1
	data --count $((BURST + 10))
	check_eq "reference" "$(stat ref_bytes)" 20000
	sleep 0.1
	counted "0 0 0" backlog ecn_mark ref_bytes
}

# A poll is due T1 after the flow's last packet or poll
test_pi_traced()
{
	stand pi qref 1000 min-gap 10us t1 1ms
	data --qp 0x99 --count $((BURST + 20)) --interval 10
	trace_cnps
	small 10 5000
	check_eq "T1" "$(traced_cnps poll | awk '
		{ off = $2 - $1 - 1000000; print (off * off < 1000000) }' |
		sort -u)" 1
}

# Without qref, the reference starts at the wake depth, and rises when the queue
# runs dry while the controller still slows senders down
test_pi_follows()
{
	stand pi bandwidth 25gbit alpha 100000 beta 1 update 100us
	check "reference of a controller that does not run" "$(stat ref_bytes)" -eq 0
	deep 400
	small 50 100
	check "probability" "$(stat bts_prob)" = 1
	check "reference" "$(stat ref_bytes)" -eq 37500
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 10gbit burst 1m \
		limit 1g
	small 30 100
	check "reference after the queue was empty" "$(stat ref_bytes)" -ge 90000
	check "reference after the queue was empty" "$(stat ref_bytes)" -le 300000
	params qref 80000
	check "fixed reference" "$(stat ref_bytes)" -eq 80000
	params qref auto
	check "lowest reference" "$(stat ref_bytes)" -eq 37500
	[[ $(tc -n sw -s qdisc show dev p1) == *" ref_bytes 37500"* ]] ||
		fail "ref_bytes is not shown"
}

# poll_gaps: end the trace; print a histogram of the CNPs that polls caused:
# time in us since T1 of the flow started, and number of CNPs
poll_gaps()
{
	traced_cnps poll | awk '{ n[int(($2 - $1) / 1000 + 1)]++ }
		END { for (us in n) printf("%d %d\n", us, n[us]) }'
}

# polled_every US PARAMETER...: check the time between two polls, with T1 of 1
# ms and a probability that rises to the maximum at once
polled_every()
{
	local want=$1 us n

	stand pi qref 1000 min-gap 10us t1 1ms alpha 100000000 beta 1 "${@:2}"
	data --qp 0x99 --count $((BURST + 20)) --interval 10
	trace_cnps
	small 10 5000
	while read -r us n; do
		within "us between polls" "$us" "$want" 1
		check "polls" "$n" -ge 5
	done <<<"$(poll_gaps)"
}

# The controller's probability exceeds 1: four polls per T1
test_pi_polls_more()
{
	polled_every 250
}

# At a probability between 1 and 2 there are two polls per T1.  Only some of
# these polls, and only some packets of the sparse flow, cause a CNP.  The
# integral part adds 0.0001 per step.
test_pi_polls_share()
{
	local us n first=0 second=0 before

	stand pi qref 1000 min-gap 10us t1 1ms alpha 12800 beta 1
	deep 250
	# the timer backs off if no packet leaves
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 1mbit burst 9k \
		limit 1g
	small 300 4000
	before=$(stat cnp_pi)
	trace_cnps
	small 60 4000
	while read -r us n; do
		[ "$us" -gt 510 ] || ((first += n))
		[ "$us" -lt 990 ] || ((second += n))
	done <<<"$(poll_gaps)"
	check "CNPs at the first poll" "$first" -ge 60
	check "CNPs at the second poll" "$second" -ge 60
	check "CNPs at packets, of 60" $(($(stat cnp_pi) - before)) -le 50
}

# Packets are 1.2 T1 apart.  Each adds the credit of one packet and one poll,
# even if the timer skipped that poll because it could not cause a CNP.  The
# pauses between the trains of packets add no credit; otherwise each pause would
# cause a CNP.  With alpha 1 and beta 1, the probability depends only on the
# depth.
test_pi_polls_missed()
{
	local n i

	stand pi qref 200000 min-gap 10us t1 250us alpha 1 beta 1
	deep 850
	# the timer backs off if no packet leaves
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 100kbit burst 9k \
		limit 1g
	for ((i = 0; i < 10; i++)); do
		small 15 300
		sleep 0.1
	done
	n=$(stat cnp_sent)
	check_eq "probability" "$(awk -v p="$(stat bts_prob)" 'BEGIN {
		print (p > 0.04 && p < 0.07) }')" 1
	# the initial credit is random, and some polls follow the last packet
	check_eq "CNPs as for 300 polls" "$(awk -v n="$n" -v p="$(stat bts_prob)" '
		BEGIN { print (n >= 300 * p - 3 && n <= 300 * p + 3) }')" 1
	# whether a packet or a poll causes a CNP depends on the phase
	check "CNPs for polls" "$(stat cnp_poll)" -ge 2
}

# One poll per T1 if the budget permits no more: one CNP per ms
test_pi_polls_budget()
{
	polled_every 1000 cnp-rate 1000 cnp-burst 1000
}

# A full table evicts the flow that has been idle for longest, which is not the
# oldest one
test_evicts_idle()
{
	local qp

	topology bridge
	iqcn flows 2 notify wreb
	for qp in 0x21 0x22 0x21 0x23; do
		data --tos 3 --qp $qp --count 1
		sleep 0.02
	done
	check_eq "flows" "$(flows | awk 'FNR > 1 { print $4 }' | sort | tr '\n' ' ')" \
		"0x000021 0x000023 "
}

# The probability follows the depth above qref; active flows are counted
test_pi_controls()
{
	local prob

	stand pi qref 20000 alpha 320000 beta 1 update 100us min-gap 0
	deep 30
	small 50 100
	prob=$(stat bts_prob)
	# 5 ms are 50 updates. Each adds alpha (320000 / 10^9) times the 12500
	# bytes above qref, divided by the minimum of 512 flows.
	within "after 50 steps: probability * 10^4" \
		"$(awk -v p="$prob" 'BEGIN { print p * 10000 }')" 4100 20000
	small 60 20 --flows 6
	check "flows_active" "$(stat flows_active)" -eq 6
	# the statistics include the steps that are due, although no packet
	# arrives and no flow is polled
	sleep 0.002
	prob=$(stat bts_prob)
	sleep 0.002
	check_eq "p rises" "$(awk -v p="$(stat bts_prob)" -v q="$prob" \
		'BEGIN { print (p > q) }')" 1
	sleep 0.007
	check "flows_active after 11 ms" "$(stat flows_active)" -eq 0
	# a change of another parameter keeps the probability
	small 60 100
	prob=$(stat bts_prob)
	params limit 300m
	within "probability * 10^4 after a change" \
		"$(awk -v p="$(stat bts_prob)" 'BEGIN { print p * 10000 }')" \
		"$(awk -v p="$prob" 'BEGIN { print p * 10000 }')" 20000
	params qref 100k
	small 50 100
	check_eq "p falls" "$(awk -v p="$(stat bts_prob)" -v q="$prob" \
		'BEGIN { print p < q }')" 1
}

# With pi, most CE packets that leave are only counted (iqcn_flow_ce_brief()):
# up to ten packets in a row, which take 870 us.  The counters and the rate are
# exact all the same.
test_pi_counts()
{
	local marked us psn ce n old=0 differences=()

	topology bridge
	bottleneck 100mbit kmin 10000 kmax 20000 pmax 1 qref 160k notify off
	pair_flow
	params notify pi
	sniff rcv --type data --time 100
	data --count 400 --interval 10 --psn 1000 &
	sleep 0.02
	within "CE rate in kbit/s" $(($(stat ce_rate_bps) / 1000)) 100000 5000
	check_eq "state" "$(stat congested)" '"queue","depth"'
	for _ in 1 2 3 4 5 6 7 8; do
		read -r us psn ce <<<"$(flows |
			awk '$4 == "0x000011" { print $10, $12, $13 }')"
		differences+=("$((psn - ce))")
		check "us since the last CE packet" "$us" -le 1000
		[ "$us" -le 200 ] || ((old++))
		sleep 0.0011
	done
	check "packets that are only counted" "$old" -ge 3
	wait
	sleep 0.03
	marked=$(stat ecn_mark)
	check "marks" "$marked" -ge 350
	# the first packets are not marked, all later ones are; pair_flow sends
	# 4
	n=$(grep -c ' psn 1[0-2].. ect0' "$TMP/rcv")
	check_eq "PSN minus number of CE packets" \
		"$(printf '%s\n' "${differences[@]}" | sort -u)" $((1000 + n - 1 - 4))
	counted "$((marked + 4)) $((marked + 4))" ce_sent ce_sampled
	check_eq "CE packets of the flow" \
		"$(flows | awk '$4 == "0x000011" { print $13 }')" $((marked + 4))
	check_eq "state in the end" "$(stat congested)" ""
}

# The PSNs of an unassured flow's CE packets are evidence, so the queue handles
# each of them individually
test_pi_pairs()
{
	local psn

	topology bridge
	bottleneck 100mbit kmin 10000 kmax 20000 pmax 1 qref 160k notify pi
	data --count 100 --interval 10 --psn 1000
	sleep 0.03
	check "marks" "$(stat ecn_mark)" -ge 70
	for psn in 1040 1041 1042 1043; do
		reply --type ack --qp 0x800011 --psn $psn
	done
	check_eq "flow: sender's QP" "$(flows | awk '$4 == "0x000011" { print $5 }')" \
		0x800011
}

# While packets of the only flow are queued, a new flow evicts that flow, and
# thereby its hosts
test_pi_evicts()
{
	topology bridge
	bottleneck 100mbit kmin 10000 kmax 20000 pmax 1 qref 160k flows 1 notify pi
	data --count 200 --interval 10
	data -6 --count 1
	sleep 0.03
	check "flows evicted" "$(stat flow_evicted)" -ge 1
	check "marks" "$(stat ecn_mark)" -ge 100
	counted "$(stat ecn_mark) $(stat ecn_mark)" ce_sent ce_sampled
}

# With notify timer as well, the queue handles each CE packet individually: with
# trigger gap, the first one that leaves after T1 causes a CNP. If packets were
# only counted, a flow's time could lag by a window, which is longer than T1.
test_pi_and_t1()
{
	topology bridge
	bottleneck 100mbit kmin 10000 kmax 20000 pmax 1 qref 10m t1 225us \
		trigger gap notify off
	pair_flow
	params notify timer,pi
	data --count 120 --interval 10
	sleep 0.005
	check "packets that wait" "$(stat qlen)" -ge 20
	# one CNP per three packets, which take 261 us, during 5.8 ms
	check "CNPs" "$(stat cnp_sent)" -ge 15
}

# steady PACKETS: send packets of 8 flows slightly faster than they leave
steady()
{
	data --flows 8 --count "$1" --interval 80 --psn 2000
}

# pair_eight: create and pair 8 flows
pair_eight()
{
	np --time 60 --ack 1
	data --flows 8 --tos 3 --count 32 --interval 1000 --len 64
	wait
}

# max_of_flows FIELD: print the maximum of a field over all flows; fields are
# counted from the last one
max_of_flows()
{
	flows | awk -v field="$1" '
		!/^#/ && $(NF - field) > max { max = $(NF - field) }
		END { print max + 0 }'
}

# The time of a flow's last CE packet is updated without a lock and without
# reading the clock. It lags by at most a window and a packet, although a chunk,
# a sixteenth of qref, takes 52 ms. After a change of the detectors, the flow's
# next CE packet frees the state of the old detectors.
test_pi_steady()
{
	local us ce

	topology bridge
	bottleneck 100mbit kmin 2000 kmax 4000 pmax 1 qref 10m detect run \
		notify off
	pair_eight
	steady 400 &
	sleep 0.02
	check "run" "$(max_of_flows 2)" -ge 2
	params detect queue notify pi
	sleep 0.003
	check_eq "run" "$(max_of_flows 2)" 0
	for _ in 1 2 3 4 5 6; do
		us=$(flows | awk '!/^#/ && $10 > max { max = $10 } END { print max }')
		check "us since the last CE packet" "$us" -le 1900
		sleep 0.0013
	done
	wait
	sleep 0.03
	check "marks" "$(stat ecn_mark)" -ge 200
	ce=$(($(stat ecn_mark) + 32))
	counted "$ce $ce" ce_sent ce_sampled
}

# Changing notify to pi cancels T1, so that changing it back to timer causes no
# CNPs at once. The second change also sets detect depth, which makes the queue
# congested at once.
test_pi_cancels_t1()
{
	topology bridge
	bottleneck 100mbit kmin 2000 kmax 4000 pmax 1 qref 10m t1 3ms \
		bandwidth 1gbit detect queue notify off
	pair_eight
	params notify timer
	steady 800 &
	sleep 0.02
	check "CE packets" "$(stat ce_sent)" -ge 64
	params notify pi
	sleep 0.006
	params notify timer detect depth
	sleep 0.0015
	check_eq "state" "$(stat congested)" '"depth"'
	check_eq "CNPs" "$(stat cnp_sent)" 0
	sleep 0.004
	check "CNPs after T1" "$(stat cnp_sent)" -ge 8
	wait
}

# The measurement of an unanswered CE packet is dropped after 16 T1, even if the
# flow keeps sending
test_pi_overdue()
{
	topology bridge
	bottleneck 100mbit kmin 2000 kmax 4000 pmax 1 qref 10m t1 800us notify off
	pair_eight
	params notify pi
	sleep 0.01
	steady 700 &
	sleep 0.015
	reply --type cnp --qp $SQP
	check "us from a CE packet to its CNP" "$(max_of_flows 1)" -ge 1000
	sleep 0.025
	reply --type cnp --qp $((SQP + 1)) --flows 7 --count 7
	check_eq "CNPs" "$(stat cnp_seen)" 8
	check_eq "flows with a measured time" \
		"$(flows | awk '!/^#/ && $(NF - 1) { n++ } END { print n + 0 }')" 1
	wait
}

# The time from a CE packet to its CNP is measured for packets after a gap of
# T1.  Packets that are only counted must not look like such a gap: in a burst,
# packets leave 87 us apart, and T1 is shorter than the 870 us of ten packets,
# which may be only counted.
test_pi_times()
{
	topology bridge
	bottleneck 100mbit kmin 10000 kmax 20000 pmax 1 qref 160k t1 225us notify off
	pair_flow
	params notify pi
	np --time 250 --ack 0 --cnp 1 --delay 150
	for psn in 1000 2000 3000 4000; do
		data --count 100 --interval 10 --psn $psn
		sleep 0.04
	done
	wait
	within "us from a CE packet to its CNP" \
		"$(flows | awk '$4 == "0x000011" { print $(NF - 1) }')" 150 15
}

# Credit that a flow accumulates within min-gap goes to the first packet after
# min-gap. Each packet earns a credit of about 0.2, and packets are 10 us apart.
test_pi_saves()
{
	stand pi qref 20000 alpha 1 beta 1 update 100us min-gap 100us t1 1s
	deep 120
	watch 20
	small 200 10
	wait
	check "CNPs, one per min-gap" "$(stat cnp_sent)" -ge 18
	check "CNPs, one per min-gap" "$(stat cnp_sent)" -le 21
	told "$(stat cnp_sent)"
}

# A flow that moves to another queue gets its CNPs from that queue
test_moves()
{
	local wreb="iqcn kmin 100m kmax 200m cnp-ttl 9 notify wreb profile 1:1 min-gap 0"

	topology bridge
	two_classes $RATE "handle 10: iqcn notify off" "handle 20: iqcn notify off"
	pair_flow
	tc -n sw -batch - <<-EOF
		qdisc change dev p1 parent 2:1 handle 10: $wreb
		qdisc change dev p1 parent 2:2 handle 20: $wreb
	EOF
	# an unpaired flow congests both queues
	data --qp 0x99 --count $((BURST + 4))
	data --qp 0x99 --count 4 --tos 106
	watch 20
	small 5 200
	small 5 200 --tos 106
	small 5 200
	wait
	told 15 0x800011
	# packets that still leave by the other queue do not bring the flow back
	small 3 0 --tos 107
	small 1 0
	release
	sleep 0.01
	check_eq "parent of the flow" \
		"$(flows | awk '$4 == "0x000011" { print $7 }')" 2:1
}

# deferred FLOWS [PARAMETER...]: set up FLOWS flows that have got one CNP each,
# and whose second CNP, for another drop, is deferred until 50 ms after the
# first
deferred()
{
	local n=$1
	shift

	topology bridge
	# shellcheck disable=SC2086
	bottleneck $RATE $COMMON limit 20000 profile 100m:1 min-gap 50ms \
		notify off "$@"
	np --time 30 --ack 1
	data --flows "$n" --tos 3 --count $((n * 4)) --interval 20 --len $SMALL
	wait
	check "flows paired" "$(stat flows_paired)" -eq "$n"
	fill 40
	params notify wreb
	data --flows "$n" --count "$n" --interval 20 --psn 1000
	sleep 0.001
	counted "$n $n" cnp_sent cnp_drop
	data --flows "$n" --count "$n" --interval 20 --psn 2000
	sleep 0.001
	counted "$n $n 0" cnp_sent cnp_drop cnp_gap
}

test_deferred()
{
	deferred 10
	sniff snd --type cnp --time 80
	wait
	told 10
	counted "20 20" cnp_sent cnp_drop
}

test_off_while_deferred()
{
	deferred 10
	params notify off
	sniff snd --type cnp --time 80
	wait
	told 0
	params notify wreb
	sniff snd --type cnp --time 80
	wait
	told 0
	counted "10 10" cnp_sent cnp_drop
	# a new drop causes a CNP as usual
	watch 20
	data --count 1
	wait
	told 1
	at_once
}

# Change notify while one flow sends packets all the time
test_change_under_load()
{
	local way wreb pi

	stand wreb profile 1000:1 min-gap 0 qref 1000 telemetry on
	deep 30
	small 4000 50 &
	for way in pi wreb pi timer off wreb pi,wreb pi; do
		params notify $way
		sleep 0.005
		read -r wreb pi <<<"$(counters cnp_wreb cnp_pi)"
		sleep 0.005
		case $way in
		wreb)
			check "by wreb" "$(stat cnp_wreb)" -ge $((wreb + 90))
			check "CNPs by pi" "$(stat cnp_pi)" -eq "$pi"
			;;
		*pi*)
			check "CNPs by pi" "$(stat cnp_pi)" -ge $((pi + 90))
			check "CNPs by wreb" "$(stat cnp_wreb)" -eq "$wreb"
			;;
		*) counted "$wreb $pi" cnp_wreb cnp_pi ;;
		esac
	done
	wait
	accounts
}

test_reset_while_deferred()
{
	deferred 10
	ip -n sw -batch - <<-EOT
		link set p1 down
		link set p1 up
	EOT
	sniff snd --type cnp --time 80
	wait
	told 0
	counted "10 10 10" cnp_sent cnp_drop flows_paired
	wait_forwarding
	bridge -n sw fdb replace $RCV_MAC dev p1 master static
	fill 40
	watch 20
	data --count 1
	wait
	told 1
	accounts
}

test_delete_while_deferred()
{
	deferred 10
	sniff snd --type cnp --time 80
	tc -n sw qdisc del dev p1 root
	wait
	told 0
}

# Unpaired flows evict some of the paired ones, and then one another
test_evict_while_deferred()
{
	local left

	deferred 10 flows 10
	sniff snd --type cnp --time 80
	data --qp 0x200 --flows 10 --count 10
	check "flows evicted" "$(stat flow_evicted)" -ge 10
	left=$(stat flows_paired)
	check "paired flows left" "$left" -lt 10
	wait
	told "$left"
	counted "$((10 + left)) $((10 + left))" cnp_sent cnp_drop
}

# The queue is congested, and pi sends a CNP for about one packet in five. The
# other CNPs come from the timer, each T1 after the previous CNP.
test_timer_begins_anew()
{
	local n

	topology bridge
	bottleneck 86560kbit kmin 3000 kmax 4000 cnp-ttl 9 detect depth notify off \
		min-gap 0 t1 225us base cnp qref 20000 alpha 1 beta 1 \
		update 1s telemetry on
	pair_flow
	params notify timer,pi
	watch 60
	fill $((BURST + 120))
	# packets arrive as fast as they leave
	data --count 300 --interval 100 --psn 1000
	wait
	n=$(telemetry | awk '$3 == 1' | grep -c .)
	check "CNPs by the timer" "$n" -ge 20
	check "CNPs by pi" "$(telemetry | awk '$3 == 3' | grep -c .)" -ge 20
	check_eq "us to the timer's CNP, if too short" "$(telemetry | awk '
	$3 == 1 && before && $10 - before < 224 { print $10 - before }
	{ before = $10 }' | tr '\n' ' ')" ""
}

# A shorter update interval takes effect with the next packet. If pi_until_ns
# were not reset, the controller would make no step for up to 5 ms.
test_update_shorter()
{
	stand pi qref 10000 update 1s alpha 100000000 beta 1 min-gap 0 t1 225us
	deep 20
	small 2 100
	params update 100us
	small 20 100
	check "CNPs by pi" "$(stat cnp_pi)" -ge 15
}

# A flow with ten times the packets of another gets ten times the CNPs
test_fair()
{
	local way many few

	topology bridge
	# shellcheck disable=SC2086
	bottleneck $RATE $COMMON min-gap 0 profile 1000:0.2 qref 100000 \
		update 1s alpha 1 beta 1 t1 1s notify off
	np --time 30 --ack 1
	data --flows 2 --tos 3 --count 8 --interval 20 --len $SMALL
	wait
	for way in wreb pi; do
		params notify $way
		[ $way = wreb ] || deep 420
		[ $way = pi ] || deep 10
		watch 100
		small 2000 20 &
		small 200 200 --qp 0x12
		wait
		many=$(grep -c ' qp 0x800011 ' "$TMP/snd")
		few=$(grep -c ' qp 0x800012 ' "$TMP/snd")
		case $way in
		wreb)
			within "wreb, flow with many packets" "$many" 400 320
			within "wreb, flow with few packets" "$few" 40 32
			;;
		pi)
			check "pi, flow with many packets" "$many" -gt 100
			check "pi, ten times as many CNPs" $((many * 10)) \
				-ge $((few * 95 - 200))
			check "pi, ten times as many CNPs" $((many * 10)) \
				-le $((few * 105 + 200))
			;;
		esac
	done
	accounts
}

test_unpaired()
{
	topology bridge
	# shellcheck disable=SC2086
	bottleneck $RATE $COMMON notify wreb profile 1000:1
	deep 20
	watch 20
	small 30 20
	wait
	told 0
	counted "0 30 0 1 0" cnp_sent cnp_unpaired bts_mark flows flows_paired
	# pi marks the packets, so that the receiver sends the CNPs
	params notify pi qref 1000
	small 30 20
	counted "0 60 30 30" cnp_sent cnp_unpaired bts_mark ecn_mark
}

# The budget allows one CNP per 2 ms, and a burst of two
test_budget()
{
	stand wreb profile 1000:1 min-gap 0 cnp-rate 500 cnp-burst 2
	deep 20
	sleep 0.01
	watch 40
	small 200 100
	wait
	check "CNPs in 20 ms" "$(grep -c . "$TMP/snd")" -ge 11
	check "CNPs in 20 ms" "$(grep -c . "$TMP/snd")" -le 12
	check "CNPs sent or over budget" \
		$(($(stat cnp_sent) + $(stat cnp_budget))) -eq 200
	check "packets marked, one per CNP" "$(stat bts_mark)" -eq \
		"$(stat cnp_sent)"
}

# super COUNT: send GSO packets of eight segments
super()
{
	data --gso 8 --sport 4000 --len 1000 --tos 2 --count "$1"
}

test_gso()
{
	local i

	stand wreb profile 1000:1 min-gap 0
	addresses snd
	ip -n snd neigh add $RCV4 lladdr $RCV_MAC dev e0
	deep 10
	watch 20
	for i in 1 2 3 4 5; do
		super 1
		sleep 0.0005
	done
	wait
	check "backlog of GSO packets" "$(stat backlog)" -ge \
		$(((10 + 5 * 8) * 1040))
	told 5
	counted "5 5" cnp_wreb bts_mark
	params profile 1000:0.05
	super 200
	# each of the eight segments adds 0.05 to the probability
	within "marked at 8 * 0.05" $(($(stat bts_mark) - 5)) 80 48
}

# Only growth within a window counts: a constant depth, however large, and a
# shrinking queue cause no CNPs
test_measure_gradient()
{
	local before

	stand wreb profile 40000:1 measure gradient window 1ms min-gap 0
	deep 100
	sleep 0.003
	small 100 100
	counted "0 0" cnp_sent bts_mark
	sleep 0.003
	# the queue grows by 54 bytes per us
	data --count 150 --interval 20
	check "growing queue" "$(stat cnp_wreb)" -ge 98
	check "grows, from the second window on" "$(stat cnp_wreb)" -le 101
	# constant again: growth counts for one window only
	sleep 0.003
	check_eq "probability" "$(stat bts_prob)" 0
	read -r before <<<"$(counters cnp_wreb)"
	small 120 100
	check "constant queue" "$(stat cnp_wreb)" -eq "$before"
	# growth while no packet was measured does not count either
	fill 300
	sleep 0.003
	small 100 100
	check "constant queue, deeper" "$(stat cnp_wreb)" -eq "$before"
	params profile 70000:1
	sleep 0.003
	data --count 150 --interval 20
	check "queue that grows by less" "$(stat cnp_wreb)" -eq "$before"
	sleep 0.003
	params profile 40000:1
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 80mbit burst 9k \
		limit 1g
	fill 1
	small 100 100
	check "shrinking queue" "$(stat cnp_wreb)" -eq "$before"
	check "backlog, still deep" "$(stat backlog)" -gt 100000
	params measure depth,gradient
	small 10 100
	check "depth exceeds gradient" "$(stat cnp_wreb)" -eq $((before + 10))
}

# A queue that drains at a tenth of its bandwidth counts as ten times as deep
# with "measure delay"
test_measure_delay()
{
	local measure

	for measure in depth gradient delay depth,gradient,delay; do
		topology bridge
		# shellcheck disable=SC2086
		bottleneck 80mbit cnp-ttl 9 kmin 3000 kmax 200m pmax 0 \
			bandwidth 800mbit window 1ms profile 100000:1 \
			min-gap 0 notify off measure $measure
		pair_flow
		params notify wreb
		deep 20
		# send packets while the queue drains
		data --count 50 --interval 108
		case $measure in
		*delay*) check "$measure" "$(stat cnp_wreb)" -ge 30 ;;
		*) check "$measure" "$(stat cnp_wreb)" -eq 0 ;;
		esac
		cleanup
	done
}

dummy()
{
	ip -batch - <<-EOT
		netns add sw
		link add p1 netns sw type dummy
	EOT
	ip -n sw link set p1 up
}

# opts: print the parameters as text
opts()
{
	tc -n sw -d qdisc show dev p1 | sed -n 's/.* \(limit .*\)/\1/p'
}

# json FILTER: print parameters selected from the JSON output
json()
{
	tc -n sw -j qdisc show dev p1 | jq -c ".[0].options | $1"
}

test_words()
{
	local all="measure depth,delay profile 10000b:0.01,20000b:0.1,30000b:0.1,100000b:1 qref 123456b update 55us alpha 77 beta 88 min-gap 66us telemetry on"

	dummy
	# shellcheck disable=SC2086
	iqcn notify timer,wreb,pi $all
	[[ $(opts) == *" notify timer,wreb,pi "*" $all "* ]] || fail "$(opts)"
	check_eq "JSON" "$(json '[.notify, .measure, .profile, .qref, .update_ns,
		.alpha, .beta, .min_gap_ns, .telemetry]')" \
		'["timer,wreb,pi","depth,delay",[{"bytes":10000,"prob":0.01},{"bytes":20000,"prob":0.1},{"bytes":30000,"prob":0.1},{"bytes":100000,"prob":1}],123456,55000,77,88,66000,"on"]'
	# the output of "show" is accepted
	all=$(opts)
	tc -n sw qdisc del dev p1 root
	# shellcheck disable=SC2086
	iqcn $all
	check_eq "parameters as shown" "$(opts)" "$all"
	# the limits of the ranges, and probabilities with many digits
	all="measure gradient profile 0b:0,1b:0.000123,2b:0.333333333,3b:0.5,4b:0.6,5b:0.7,6b:0.8,4294967295b:1 qref 1b update 10us alpha 100000000 beta 1 min-gap 1s telemetry off"
	# shellcheck disable=SC2086
	iqcn $all
	[[ $(opts) == *" $all "* ]] || fail "$(opts)"
	iqcn profile mark measure depth,gradient,delay min-gap 0 update 1s alpha 1 \
		beta 100000000
	[[ $(opts) == *" measure depth,gradient,delay profile mark "*" update 1s alpha 1 beta 100000000 min-gap 0ns "* ]] ||
		fail "$(opts)"
	check_eq "JSON" "$(json .profile)" "[]"
	# defaults of a 10 Gb/s link, which veth and dummy report
	tc -n sw qdisc del dev p1 root
	tc -n sw qdisc add dev p1 root iqcn
	[[ $(opts) == *" kmin 160000b kmax 625Kb "*" notify pi "*" t1 225us "*" measure depth profile mark qref auto update 100us alpha 5000 beta 250000 min-gap 50us telemetry off "* ]] ||
		fail "defaults: $(opts)"
}

test_bad_words()
{
	local before points="1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0"

	dummy
	iqcn notify wreb profile 1000:0.5
	before=$(opts)
	refused_all change dev p1 root handle 10: iqcn t1 444us <<-EOF
		profile $points | "profile" takes no more than 8 points
		profile 1000:1.5 | invalid value "1000:1.5" for "profile": expected BYTES:P
		profile 1000:-1 | invalid value "1000:-1" for "profile": expected BYTES:P
		profile 1000 | for "profile"
		profile 1000:0.5, | for "profile"
		profile :1 | for "profile"
		profile -1:1 | for "profile"
		profile "" | for "profile"
		measure "" | for "measure"
		measure off | for "measure"
		measure depth,width | for "measure"
		notify wreb, | for "notify"
		telemetry maybe | for "telemetry"
		update -1us | update -1us is out of range
		alpha -1 | alpha -1 is out of range
		alpha 0.5 | for "alpha"
	EOF
	check_eq "unchanged" "$(opts)" "$before"
}

test_bad_values()
{
	local before

	dummy
	iqcn notify wreb profile 1000:0.5 limit 1000000 qref 50000
	before=$(opts)
	TC_LIB_DIR=$UNCHECKED refused_all change dev p1 root handle 10: iqcn t1 444us <<-EOF
		profile 1000:0.5,2000:0.4 | profile: point 2 at 2000 bytes does not rise from the one at 1000
		profile 1000:0.1,2000:0.2,2000:0.3 | profile: point 3 at 2000 bytes does not rise from the one at 2000
		profile 1000:0.1,500:0.2 | profile: point 2 at 500 bytes does not rise from the one at 1000
		alpha 0 | alpha is 0, must be 1 to 100000000
		alpha 100000001 | alpha is 100000001,
		beta 0 | beta is 0, must be 1 to 100000000
		beta 100000001 | beta is 100000001,
		qref 1000001 | qref 1000001 is above limit 1000000
		limit 40000 | qref 50000 is above limit 40000
		update 1us | update is 1000, must be 10000 to 1000000000 ns
		update 1001ms | update is 1001000000,
		min-gap 2s | min-gap is 2000000000, must be 0 to 1000000000 ns
	EOF
	check_eq "unchanged" "$(opts)" "$before"
}

if ! virtual_time; then
	echo "TAP version 13"
	echo "1..0 # SKIP needs virtual time"
	exit
fi
run_tests
