#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# When a CNP is due, by what that is found out, and when it is sent: trigger,
# period, base, delay.
#
# As in iqcn_cnp.sh packets come in that are CE already, and a rate below theirs
# is called the queue's: congested without a queue.  The meter's window is
# shorter than the millisecond between two packets, so the second one begins
# the congestion, and all that follows is known to the microsecond.  CNPs of
# ours have a TTL that no receiver's has.

ALL_TESTS="
	test_fig8_queue
	test_fig8_flow
	test_timer_is_exact
	test_period_is_kept
	test_gap_by_next_ce
	test_gap_of_flow
	test_base_ce
	test_base_both
	test_base_cnp_fast_receiver
	test_base_cnp_slow_receiver
	test_base_cnp_silent_receiver
	test_base_cnp_of_flow
	test_all_combinations
	test_onset
	test_onset_many
	test_onset_stopped
	test_onset_waits
	test_onset_receiver
	test_onset_reset
	test_onset_off
	test_onset_gone
	test_clear_is_quiet
	test_onset_is_cheap
	test_delay
	test_delay_auto
	test_delay_auto_unanswered
	test_delay_auto_unknown
	test_delay_late_receiver
	test_delay_late_receiver_auto
	test_delay_long_stops
	test_receiver_cancels
	test_receiver_cancels_first
	test_cancelled_begins_anew
	test_less_delay
	test_worse_keeps
	test_clear_cancels
	test_quiet_flow_cancels
	test_clear_and_back_cancels
	test_off_while_held
	test_change_while_held
	test_reset_while_held
	test_reset_ends
	test_reset_ends_gap
	test_delete_while_held
	test_evict_while_held
	test_age_while_held
	test_counters
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

CONGESTED="bandwidth 4mbit window 500us detect queue"
OURS="cnp-ttl 9"
OFF=1000	# ns that a CNP may be late
psn=0

# paired PARAMETER...: a flow that is known, nothing sent; its next PSN is 104
paired()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $OURS "$@" notify off
	pair_flow --psn 100
	params notify timer
	psn=104
}

# paired_flows N PARAMETER...: as many of them
paired_flows()
{
	local n=$1
	shift

	topology bridge
	# shellcheck disable=SC2086
	iqcn $OURS "$@" notify off
	np --time 60 --ack 1
	data --flows "$n" --tos 3 --count $((n * 4)) --interval 20 --len 64
	wait
	params notify timer
	check "paired" "$(stat flows_paired)" -eq "$n"
	psn=1000
}

# params PARAMETER...: other ones
params()
{
	tc -n sw qdisc change dev p1 root handle 10: iqcn "$@"
}

# stream COUNT INTERVAL-US [data argument...]: CE packets
stream()
{
	data --tos 3 --count "$1" --interval "$2" --psn "$psn" "${@:3}"
	psn=$((psn + $1))
}

# watch MS [sniff argument...]: CE packets at rcv, CNPs at snd
watch()
{
	sniff snd --type cnp --time "$@"
	sniff rcv --type data --time "$@"
}

# ours: ns from the last CE packet to each CNP of ours, one per line
ours()
{
	awk -v off=$OFF '
	FNR == NR { if (/ ce /) ce[++n] = substr($1, 7) + 0; next }
	/ ttl 9 / {
		t = substr($1, 7) + 0
		# it may have been faster than the packet that it is for
		for (i = n; i && ce[i] > t + off; i--)
			;
		printf "%d\n", t - ce[i]
	}' "$TMP/rcv" "$TMP/snd"
}

# all_at US [LATE-US [EARLY-US]]: all of ours are so long after a CE packet
all_at()
{
	local late=$((${2-0} * 1000 + OFF)) early=$((${3-0} * 1000))

	# by the next CE packet: either may come first, and what both cost to
	# forward is in between
	[ "$1" != 0 ] || early=$OFF late=$((late + OFF))
	check_eq "ns from CE to CNP, wanted $1 us" "$(ours |
		awk -v at="$1"000 -v late=$late -v early=$early \
		'$1 < at - early || $1 > at + late' | tr '\n' ' ')" ""
}

# told WANTED: CNPs of ours that came to the sender
told()
{
	check "CNPs of ours" "$(grep -c ' ttl 9 ' "$TMP/snd")" -eq "$1"
}

# counters NAME...: their values, all of one moment
counters()
{
	local all name

	all=$(tc -n sw -s -j qdisc show dev p1)
	for name; do
		[[ $all =~ \"$name\":([0-9]+) ]]
		echo -n "${BASH_REMATCH[1]-none} "
	done
	echo
}

# accounts: what became of the CNPs that were held back
accounts()
{
	local c

	read -ra c <<<"$(counters cnp_delayed cnp_sent cnp_cancelled \
		cnp_budget cnp_unpaired cnp_error)"
	check "held back; sent, cancelled, over budget, unpaired, failed: ${c[*]:1}" \
		"${c[0]}" -eq $((c[1] + c[2] + c[3] + c[4] + c[5]))
}

# of_flow NAME: a column of the only flow in debugfs
of_flow()
{
	local name=$1 head values i

	{
		read -ra head
		read -ra values
	} <<<"$(flows)"
	for i in "${!head[@]}"; do
		[ "${head[i]}" != "$name" ] || echo "${values[i - 1]}"
	done
}

# US 12395431, FIG. 8: none within T1 after a CE packet, so one is sent, and no
# second one before the next CE packet
test_fig8_queue()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base both t1 300us
	watch 80
	stream 12 1000
	wait
	all_at 300
	told 11
}

# one_flow [PARAMETER...]: a flow that is congested by itself, from the fifth CE
# packet on, gets its CNPs T1 after each
one_flow()
{
	paired detect run t1 300us "$@"
	psn=1000
	watch 80
	stream 12 1000
	wait
	all_at 300
	told 8
	check "queue" "$(stat state_changes)" -eq 0
}

# FIG. 11
test_fig8_flow()
{
	one_flow base both
}

# By what arrives, and by what the module says
test_timer_is_exact()
{
	local trace=/sys/kernel/tracing t1 late line n=0

	# shellcheck disable=SC2086
	paired $CONGESTED base both
	echo >$trace/trace
	echo 1 >$trace/events/iqcn/iqcn_cnp_sent/enable
	for t1 in 10 55 300 900; do
		params t1 ${t1}us
		watch 80
		stream 12 1000
		wait
		all_at $t1
		told 11
	done
	echo 0 >$trace/events/iqcn/iqcn_cnp_sent/enable
	while read -r line; do
		[[ $line =~ late_ns=([0-9]+) ]] || continue
		late=${BASH_REMATCH[1]} n=$((n + 1))
		check "late_ns" "$late" -le $OFF
	done <<<"$(cat $trace/trace)"
	check "traced" "$n" -eq 44
}

# scanned T1-US PERIOD-US: CNPs at multiples of the period, not before T1, and
# at the first chance after it
scanned()
{
	check_eq "ns from CE to CNP, ns after a multiple of $2 us" "$(awk \
		-v t1="$1"000 -v period="$2"000 -v off=$OFF '
	FNR == NR { ce[++n] = $1; next }
	/ ttl 9 / {
		for (i = n; ce[i] > $1; i--)
			;
		gap = $1 - ce[i]
		if (gap < t1 || gap > t1 + period + off ||
		    $1 % period > off)
			printf "%d,%d ", gap, $1 % period
	}' "$TMP/rcv" "$TMP/snd")" ""
}

test_period_is_kept()
{
	local period

	# shellcheck disable=SC2086
	paired $CONGESTED base both t1 300us trigger period
	# a quarter of T1 unless given
	for period in 75 10 170 300; do
		[ $period = 75 ] || params period ${period}us
		watch 80 --mono
		stream 12 1037
		wait
		scanned 300 $period
		told 11
	done
}

# The next CE packet says that the one before was T1 ago
test_gap_by_next_ce()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base both t1 300us trigger gap
	# and after the last one there is none: nothing while idle
	watch 80
	stream 12 1000
	wait
	all_at 0
	told 11
	watch 80
	stream 20 302
	sleep 0.03
	stream 20 298
	wait
	all_at 0
	# 302 us are less than the window, so the third begins the congestion
	told 18
}

# What watches over the silence that ends a flow's congestion does not take the
# gap for its own
test_gap_of_flow()
{
	paired detect run t1 300us trigger gap
	psn=1000
	watch 80
	stream 12 1000
	wait
	all_at 0
	told 8
}

# CNPs of the receiver say nothing, dense CE packets are left alone
test_base_ce()
{
	local trigger at

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base ce
	for trigger in timer period gap; do
		params trigger $trigger
		watch 80
		stream 100 200
		wait
		case $trigger in
		gap) told 0 ;;
		*) told 1 ;;	# after the last one
		esac
	done
	for trigger in timer gap; do
		at=300
		[ $trigger = timer ] || at=0
		params trigger $trigger
		np --time 100 --ack 0 --cnp 1 --delay 150
		watch 80
		stream 12 1000
		wait
		check "receiver's" "$(grep -c ' ttl 64 ' "$TMP/snd")" -eq 12
		all_at $at
		told 11
	done
}

# The later of the two, and CE packets and CNPs together leave no T1 free
test_base_both()
{
	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base both
	np --time 100 --ack 0 --cnp 1 --delay 150
	watch 80
	stream 12 1000
	wait
	all_at 450 1
	told 11
	# CNPs before T1 has passed since a CE packet, and the other way round
	np --time 100 --ack 0 --cnp 1 --delay 250
	watch 80
	stream 20 500
	wait
	check "receiver's" "$(grep -c ' ttl 64 ' "$TMP/snd")" -eq 20
	told 1
}

# However dense its CE packets: a receiver whose CNPs are never T1 apart is left
# alone, for a whole second
test_base_cnp_fast_receiver()
{
	local trigger sent n=10000 interval

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base cnp
	for trigger in timer period gap; do
		params trigger $trigger
		sleep 0.02
		sent=$(stat cnp_sent)
		np --time $((n / 10 + 40)) --ack 0 --cnp 190
		stream $n 100
		check "$trigger: CNPs of ours" "$(stat cnp_sent)" -eq "$sent"
		wait
		n=1000
	done
	interval=$(of_flow cnp_interval_us)
	check "interval" "$interval" -ge 199
	check "interval" "$interval" -le 201
	check "receiver's" "$(stat cnp_seen)" -eq 6000
}

# One in 3150 us makes room for ten of ours
test_base_cnp_slow_receiver()
{
	local trigger n interval

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base cnp
	for trigger in timer period gap; do
		# no period divides T1 that does not divide time
		params trigger $trigger period 10us
		sleep 0.02
		np --time 130 --ack 0 --cnp 3140
		watch 130
		stream 1261 50
		wait
		n=$(grep -c ' ttl 9 ' "$TMP/snd")
		check "receiver's" "$(grep -c ' ttl 64 ' "$TMP/snd")" -eq 21
		case $trigger in
		# the first of each T1 is 350 us later
		gap) check "$trigger: ours" "$n" -ge 158 ;;
		*) check "$trigger: ours" "$n" -ge 190 ;;
		esac
		check "$trigger: ours" "$n" -le 202
	done
	interval=$(of_flow cnp_interval_us)
	check "interval" "$interval" -ge 3140
	check "interval" "$interval" -le 12000
}

test_base_cnp_silent_receiver()
{
	local trigger n

	# shellcheck disable=SC2086
	paired $CONGESTED base both t1 300us
	for trigger in timer period gap; do
		params trigger $trigger period 10us base cnp
		sleep 0.02
		watch 80
		stream 600 50
		wait
		n=$(grep -c ' ttl 9 ' "$TMP/snd")
		# by the next CE packet: 300 or 350 us
		check "$trigger: ours in 30 ms" "$n" -ge 84
		check "$trigger: ours in 30 ms" "$n" -le 101
		[ $trigger = gap ] || check "$trigger: ours in 30 ms" "$n" -ge 93
		for base in ce both; do
			params base $base
			sleep 0.02
			watch 80
			stream 600 50
			wait
			n=$(grep -c ' ttl 9 ' "$TMP/snd")
			check "$trigger $base: ours" "$n" -le 1
		done
	done
}

# The first CE packet after a silence begins the interval, be it the flow alone
# that is congested
test_base_cnp_of_flow()
{
	one_flow base cnp
}

# 6 packets: five CNPs in congestion; none without it, or with notify off, or
# when nothing more comes
test_all_combinations()
{
	local trigger base sent seen unmatched before=0

	paired window 500us t1 300us
	for trigger in timer period gap; do
		for base in ce cnp both; do
			params trigger $trigger base $base bandwidth 1gbit \
				notify timer
			stream 6 1000
			params bandwidth 4mbit notify off
			stream 6 1000
			sleep 0.03
			sent=$(stat cnp_sent)
			check "$trigger $base: clear, off" "$sent" -eq "$before"
			params notify timer
			stream 6 1000
			sleep 0.03
			sent=$(stat cnp_sent)
			before=$((before + 5))
			check "$trigger $base: congested" "$sent" -eq "$before"
			before=$sent
		done
	done
	# ours are nobody else's
	read -r seen unmatched <<<"$(counters cnp_seen port_cnp_unmatched)"
	check "seen" "$seen" -eq 0
	check "unmatched" "$unmatched" -eq 0
	check "interval" "$(of_flow cnp_interval_us)" -eq 0
	check "answers" "$(of_flow ce_to_cnp_us)" -eq 0
}

# others [COUNT]: packets of a flow that is not paired, the second of which makes
# the queue congested; what it sends says when
others()
{
	data --tos 3 --count "${1-8}" --interval 1000 --qp 0x999 --psn 1
}

# T1 passes while the queue is clear: the CNP is due when others make it
# congested, or at the next scan.  And there is one.
test_onset()
{
	local trigger base

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us period 75us
	for trigger in timer period; do
		for base in ce cnp both; do
			note "$trigger $base"
			params trigger $trigger base $base
			watch 80 --mono
			stream 1 1000
			sleep 0.002
			others
			wait
			told 1
			check_eq "after the onset" "$(awk \
				-v trigger=$trigger -v off=$OFF '
			FNR == NR { if (/ qp 0x000999 /) ce[++n] = $1; next }
			/ ttl 9 / {
				late = $1 - ce[2] + off
				if (trigger == "period" && late < 75000 + off)
					late = $1 % 75000
				print (late < 2 * off) ? "as due" : late
			}' "$TMP/rcv" "$TMP/snd")" "as due"
		done
	done
}

# More than the timer sees to in one run
test_onset_many()
{
	paired_flows 200 bandwidth 10gbit window 500us t1 300us detect queue
	data --flows 200 --tos 3 --count 200 --interval 5 --psn 1000
	sleep 0.002
	params bandwidth 4mbit
	watch 80
	others
	wait
	told 200
	check "each has one" "$(awk '/ ttl 9 / { print $0 }' "$TMP/snd" |
		grep -o ' qp [^ ]*' | sort -u | wc -l)" -eq 200
}

# A flow is taken to have stopped after twice the sum of window, T1 and the time
# between its last two packets: 1.62 ms here.  Then there is no reason for a CNP.
test_onset_stopped()
{
	local after

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us
	params bandwidth 1gbit
	for after in 0.0002 0.003; do
		stream 4 10
		sleep $after
		params bandwidth 4mbit
		watch 80
		others
		wait
		case $after in
		0.0002) told 1 ;;
		*) told 0 ;;
		esac
		params bandwidth 1gbit
	done
	# and for as long as times between packets are learned, in any case
	stream 1 1000
	sleep 0.21
	params bandwidth 4mbit
	watch 80
	others
	wait
	told 0
}

# But not while a packet of it waits
test_onset_waits()
{
	topology bridge
	# shellcheck disable=SC2086
	bottleneck 8656kbit $OURS kmin 3000 kmax 6000 detect depth \
		bandwidth 1tbit t1 300us notify off
	pair_flow
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn notify timer
	psn=1000
	stream 4 10 --len 64
	sleep 0.02
	check_eq "clear" "$(stat congested)" ""
	# 9k leave at once, and the rest takes 12 ms
	data --count 20 --qp 0x999 --psn 1
	watch 80
	stream 1 1000
	wait
	check "CNPs of ours" "$(grep -c ' ttl 9 ' "$TMP/snd")" -ge 10
}

# The receiver's CNP begins T1 anew, unless it says nothing
test_onset_receiver()
{
	local base

	# shellcheck disable=SC2086
	paired $CONGESTED t1 2ms
	for base in ce cnp both; do
		note "base $base"
		params base $base
		np --time 100 --ack 0 --cnp 1 --delay 2500
		watch 80
		stream 1 1000
		sleep 0.003
		others 12
		wait
		told 1
		# it came 1.5 ms before the onset
		check_eq "T1 after the receiver's CNP" "$(awk '
		/ ttl 64 / { seen = substr($1, 7) + 0 }
		/ ttl 9 / {
			us = (substr($1, 7) - seen) / 1000
			print (us >= 1999 && us < 2002) ? "yes" : "no"
		}' "$TMP/snd")" "$([ $base = ce ] && echo no || echo yes)"
	done
}

# Nothing of before a reset is due
test_onset_reset()
{
	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us
	stream 1 1000
	sleep 0.002
	flap
	watch 80
	others
	wait
	told 0
}

test_onset_off()
{
	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us
	stream 1 1000
	sleep 0.002
	params notify off
	watch 80
	others
	wait
	told 0
	# and what has not been to lapse does not
	stream 1 1000
	sleep 0.002
	params notify timer
	watch 80
	others
	wait
	told 0
}

# Flows that are forgotten with a deadline that has lapsed
test_onset_gone()
{
	paired_flows 20 bandwidth 10gbit window 500us t1 300us detect queue
	data --flows 20 --tos 3 --count 20 --interval 5 --psn 1000
	sleep 0.002
	check "never congested" "$(stat state_changes)" -eq 0
	params age 1ms
	sleep 0.03
	check "aged" "$(stat flow_aged)" -eq 20
	params bandwidth 4mbit age 10s
	watch 80
	others
	wait
	told 0
}

# Deadlines that have lapsed are no reason for a timer
test_clear_is_quiet()
{
	local trace=/sys/kernel/tracing event=timer/hrtimer_expire_entry n

	paired_flows 40 bandwidth 10gbit window 500us t1 300us detect queue
	data --flows 40 --tos 3 --count 40 --interval 5 --psn 1000
	sleep 0.005
	echo >$trace/trace
	echo 1 >$trace/events/$event/enable
	sleep 0.05
	echo 0 >$trace/events/$event/enable
	check "never congested" "$(stat state_changes)" -eq 0
	n=$(grep -c "function=iqcn_timer" $trace/trace)
	check "runs of the timer in 50 ms" "$n" -eq 0
	# there is such an event
	echo 1 >$trace/events/$event/enable
	data --flows 40 --tos 3 --count 40 --interval 5 --psn 2000
	sleep 0.005
	echo 0 >$trace/events/$event/enable
	n=$(grep -c "function=iqcn_timer" $trace/trace)
	check "runs of the timer after packets" "$n" -ge 1
}

# There is no look at each flow that has stopped long before
test_onset_is_cheap()
{
	local trace=/sys/kernel/tracing event=timer/hrtimer_expire_entry n

	paired_flows 640 bandwidth 10gbit window 500us t1 300us detect queue
	data --flows 640 --tos 3 --count 640 --interval 5 --psn 1000
	sleep 0.25
	params bandwidth 4mbit
	echo >$trace/trace
	echo 1 >$trace/events/$event/enable
	others 3
	sleep 0.01
	echo 0 >$trace/events/$event/enable
	check "congested once" "$(stat state_changes)" -eq 2
	# for T1 of the others, and the end of the congestion
	n=$(grep -c "function=iqcn_timer" $trace/trace)
	check "runs of the timer" "$n" -le 8
}

# T1 + T2
test_delay()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base both t1 300us delay 200us
	watch 80
	stream 12 1000
	wait
	all_at 500 1
	told 11
	params trigger gap
	watch 80
	stream 12 1000
	wait
	all_at 200
	told 11
	params trigger period period 100us
	watch 80
	stream 12 1000
	wait
	all_at 500 100
	told 11
	check "held back" "$(stat cnp_delayed)" -eq 33
	check "cancelled" "$(stat cnp_cancelled)" -eq 0
}

# turns: CNPs of the receiver and ours at the sender, from the first of ours on
turns()
{
	local all

	all=$(awk '{ if (/ ttl 9 /) o = 1; if (o) printf "%s", / ttl 9 / ? "o" : "r" }' \
		"$TMP/snd")
	[[ $all =~ ^(or)+o?$ ]] || fail "receiver's and ours: $all"
}

# FIG. 9 and 12: the supplement is between the CNPs of the two CE packets around
# it, as far behind its T1 as those are behind theirs
test_delay_auto()
{
	local took

	topology bridge
	# shellcheck disable=SC2086
	iqcn $OURS $CONGESTED t1 300us base ce delay auto pair cnp
	psn=104
	np --time 100 --ack 0 --cnp 1 --delay 100
	watch 80
	stream 12 1000
	wait
	took=$(of_flow ce_to_cnp_us)
	check "learned" "$took" -ge 100
	check "learned" "$took" -le 102
	all_at 400 3
	told 11
	turns
	# 8 eighths of the way: 100 us * (1 - (7/8)^8) = 66 us
	np --time 100 --ack 0 --cnp 1 --delay 200
	watch 80
	stream 8 1000
	wait
	took=$(of_flow ce_to_cnp_us)
	check "on its way" "$took" -ge 163
	check "on its way" "$took" -le 168
	all_at 400 70
	turns
	np --time 100 --ack 0 --cnp 1 --delay 200
	stream 30 1000
	wait
	took=$(of_flow ce_to_cnp_us)
	check "learned anew" "$took" -ge 198
	check "learned anew" "$took" -le 202
	np --time 100 --ack 0 --cnp 1 --delay 200
	watch 80
	stream 12 1000
	wait
	all_at 500 3 2
	turns
	params base both
	np --time 100 --ack 0 --cnp 1 --delay 200
	watch 80
	stream 12 1000
	wait
	all_at 700 4 2
	turns
}

# A packet that nobody answers does not make the answer to a later one slow
test_delay_auto_unanswered()
{
	local took

	# its first four are not answered
	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base ce delay auto
	np --time 100 --ack 0 --cnp 1 --delay 100
	watch 80
	stream 40 1000
	wait
	took=$(of_flow ce_to_cnp_us)
	check "learned" "$took" -ge 100
	check "learned" "$took" -le 110
	check "CNPs of ours" "$(grep -c ' ttl 9 ' "$TMP/snd")" -ge 30
	# nor are some on the way
	stream 5 1000
	np --time 100 --ack 0 --cnp 1 --delay 100
	stream 40 1000
	wait
	took=$(of_flow ce_to_cnp_us)
	check "learned again" "$took" -ge 100
	check "learned again" "$took" -le 110
}

test_delay_auto_unknown()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base both t1 300us delay auto
	watch 80
	stream 12 1000
	wait
	all_at 300
	told 11
	check "held back" "$(stat cnp_delayed)" -eq 0
}

# late_receiver DELAY-US PARAMETER...: as many CNPs of ours as CE packets in
# congestion, however late the receiver answers them
late_receiver()
{
	local late=$1
	shift

	params "$@"
	np --time 100 --ack 0 --cnp 1 --delay "$late"
	watch 80
	stream 21 1000
	wait
	note "$late us late, $*"
	told 20
	sleep 0.03
	accounts
}

# FIG. 9 and 12: one at T1 + T2 after each CE packet.  The CNP that answers this
# very packet comes before that, and cancels nothing.
test_delay_late_receiver()
{
	local base late

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us
	for base in ce both cnp; do
		for late in 150 390 600 900 1200; do
			late_receiver $late base $base delay ${late}us
			# of the 20 packets the last is followed by none
			[ $base != ce ] || check "T1 + T2 after a CE packet" \
				"$(ours | awk -v at=$((300 + late)) '{
					off = ($1 / 1000 - at + 2000.5) % 1000
					n += off < 2
				} END { print n }')" -eq 20
		done
	done
	check "cancelled" "$(stat cnp_cancelled)" -eq 0
	params delay 250us trigger period period 100us base ce
	late_receiver 390 trigger period
	all_at 550 100
	late_receiver 390 trigger gap base both
	all_at 250 1
}

test_delay_late_receiver_auto()
{
	local base late

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us delay auto
	for base in ce both cnp; do
		for late in 150 390 600 900 1200; do
			late_receiver $late base $base
		done
	done
	check "cancelled" "$(stat cnp_cancelled)" -eq 0
}

# T2 is longer than the packets are apart: one CNP for each all the same, and
# none more when they have stopped
test_delay_long_stops()
{
	local c

	# shellcheck disable=SC2086
	paired $CONGESTED base ce t1 300us delay 1200us
	stream 11 1000
	sleep 0.03
	check "sent" "$(stat cnp_sent)" -eq 10
	accounts
	# and neither of two that are pending survives a reset
	data --tos 3 --count 11 --interval 1000 --psn "$psn" &
	sleep 0.0094
	read -ra c <<<"$(counters cnp_delayed cnp_sent cnp_cancelled)"
	check "pending: ${c[*]}" $((c[0] - c[1] - c[2])) -eq 2
	flap
	accounts
	wait
}

# The CNP for the next CE packet comes 300 us before ours for this one would be
# sent
test_receiver_cancels()
{
	local trigger sent cancelled

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base ce delay 1100us
	for trigger in timer period gap; do
		params trigger $trigger
		# T2 is counted from the next CE packet
		[ $trigger != gap ] || params delay 1400us
		read -r sent cancelled <<<"$(counters cnp_sent cnp_cancelled)"
		np --time 100 --ack 0 --cnp 1 --delay 100
		stream 30 1000
		check "$trigger: sent" "$(stat cnp_sent)" -eq "$sent"
		wait
		check "$trigger: cancelled" "$(stat cnp_cancelled)" -ge \
			$((cancelled + 28))
		accounts
	done
}

# Of two that are pending, one CNP cancels only that for the packet before the
# one that it answers
test_receiver_cancels_first()
{
	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base ce delay 1200us
	np --time 100 --ack 0 --cnp 1 --delay 400
	watch 80
	stream 20 1000
	wait
	# no packet follows the last one
	told 1
	all_at 1500 1
	check "cancelled" "$(stat cnp_cancelled)" -eq 18
	accounts
}

# T1 begins anew then, and ends in time, though the timer was set for what was
# held: the next one is due, and held, 300 us after the CNP that came last
test_cancelled_begins_anew()
{
	# a silence is one after 44 ms
	paired bandwidth 4mbit window 20ms detect queue t1 300us base cnp \
		delay 200ms
	stream 60 1000
	check "held" "$(stat cnp_delayed)" -eq 2
	reply --type cnp --qp 0x800011
	sleep 0.0005
	check "cancelled" "$(stat cnp_cancelled)" -eq 2
	check "held" "$(stat cnp_delayed)" -eq 3
}

# Less of a delay: nothing waits for what was
test_less_delay()
{
	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base cnp delay 1s
	stream 6 1000
	check "held" "$(stat cnp_delayed)" -eq 2
	params delay 0
	watch 40
	stream 6 1000
	wait
	check "sent" "$(stat cnp_sent)" -ge 5
	check "cancelled" "$(stat cnp_cancelled)" -eq 2
}

# Congestion that gets worse does not end: a flow's own becomes the queue's
test_worse_keeps()
{
	paired detect queue,run run 5 t1 300us window 5ms bandwidth 4mbit \
		delay 10ms
	# a run in less than a window, and then its rate
	stream 12 1000
	check "the flow" "$(stat flow_state_changes)" -eq 1
	check_eq "the queue" "$(stat congested)" '"queue"'
	check "held" "$(stat cnp_delayed)" -eq 2
	stream 10 1000
	check "cancelled" "$(stat cnp_cancelled)" -eq 0
	check "sent" "$(stat cnp_sent)" -eq 2
}

# The queue is clear 5 ms after the last packet
test_clear_cancels()
{
	paired_flows 20 bandwidth 40mbit window 500us t1 300us delay 20ms
	watch 80
	data --flows 20 --tos 3 --count 100 --interval 50 --psn 1000
	check "held back" "$(stat cnp_delayed)" -eq 40
	wait
	told 0
	check "cancelled" "$(stat cnp_cancelled)" -eq 40
	accounts
}

# Nothing of it for twice T1 and a window: it is clear, whatever is held
test_quiet_flow_cancels()
{
	paired detect run t1 300us window 500us delay 20ms
	watch 80
	stream 7 100
	sleep 0.01
	check "clear" "$(stat flows_congested)" -eq 0
	wait
	told 0
	check "cancelled" "$(stat cnp_cancelled)" -eq 1
	accounts
}

# Clear in between, though not when it would have been sent
test_clear_and_back_cancels()
{
	local us

	# shellcheck disable=SC2086
	paired $CONGESTED base both t1 300us delay 20ms
	watch 150
	stream 7 1000
	sleep 0.008
	check_eq "clear" "$(stat congested)" ""
	psn=500
	stream 40 1000
	wait
	# what was held is not what is sent, and delays nothing
	us=$(awk '
	FNR == NR { if (/ psn 500 /) ce = substr($1, 7); next }
	/ ttl 9 / { printf "%d\n", (substr($1, 7) - ce) / 1000; exit }' \
		"$TMP/rcv" "$TMP/snd")
	check "us from the first CE packet after that" "$us" -ge 20300
	check "us from the first CE packet after that" "$us" -le 21302
	check "cancelled" "$(stat cnp_cancelled)" -ge 1
}

# held FLOWS PARAMETER...: so many CNPs are held for 20 ms, and another flow's
# packets keep up the congestion for much longer
held()
{
	local n=$1
	shift

	paired_flows "$n" bandwidth 4mbit window 500us t1 300us delay 20ms "$@"
	data --qp 0x999 --tos 3 --count 70 --interval 1000 --psn 1 &
	sleep 0.005
	data --flows "$n" --tos 3 --count "$n" --psn 1000
	sleep 0.001
	check "held back" "$(stat cnp_delayed)" -ge "$n"
	check "not sent yet" "$(stat cnp_sent)" -eq 0
}

test_off_while_held()
{
	held 20
	params notify off
	sniff snd --type cnp --time 50
	wait
	told 0
	accounts
}

test_change_while_held()
{
	held 20
	sniff snd --type cnp --time 50
	params trigger gap base cnp t1 500us
	params trigger period base ce t1 200us limit 2m
	wait
	told 20
	sleep 0.03
	accounts
	params delay 0
	psn=2000
	watch 80
	stream 12 1000
	wait
	check "at work" "$(grep -c ' ttl 9 ' "$TMP/snd")" -eq 11
}

test_reset_while_held()
{
	held 20
	ip -n sw -batch - <<-EOF
		link set p1 down
		link set p1 up
	EOF
	sniff snd --type cnp --time 40
	wait
	told 0
	check "flows are known still" "$(stat flows_paired)" -eq 20
	wait_forwarding
	bridge -n sw fdb replace $RCV_MAC dev p1 master static
	psn=2000
	params delay 200us
	sleep 0.01
	watch 80
	stream 12 1000
	wait
	all_at 500 1
	told 11
}

# flap: a reset, and the bridge forwards again
flap()
{
	ip -n sw -batch - <<-EOF
		link set p1 down
		link set p1 up
	EOF
	wait_forwarding
	bridge -n sw fdb replace $RCV_MAC dev p1 master static
}

# first: ms from the first CE packet to the first CNP of ours
first()
{
	awk '
	FNR == NR { if (/ ce / && !ce) ce = substr($1, 7) + 0; next }
	/ ttl 9 / && !cnp { cnp = substr($1, 7) + 0 }
	END { printf "%.0f\n", (cnp - ce) / 1e6 }' "$TMP/rcv" "$TMP/snd"
}

# A T1 that had begun: not if others begin a congestion before it has passed, and
# not if its flow sends again
test_reset_ends()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base cnp t1 150ms
	stream 8 1000
	check_eq "congested" "$(stat congested)" '"queue"'
	flap
	check_eq "reset" "$(stat congested)" ""
	watch 170
	data --tos 3 --count 160 --interval 1000 --qp 0x99 --psn 1
	check_eq "congested by another" "$(stat congested)" '"queue"'
	wait
	told 0
	stream 8 1000
	flap
	watch 200
	stream 180 1000
	wait
	told 1
	check "ms after the first packet" "$(first)" -eq 150
}

# The same if the next CE packet is what counts: none for the gap since before
test_reset_ends_gap()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base cnp t1 150ms trigger gap
	stream 8 1000
	check_eq "congested" "$(stat congested)" '"queue"'
	flap
	watch 200
	data --tos 3 --count 160 --interval 1000 --qp 0x99 --psn 1
	stream 2 1000
	check_eq "congested by another" "$(stat congested)" '"queue"'
	wait
	told 0
}

test_delete_while_held()
{
	held 200
	sniff snd --type cnp --time 50
	tc -n sw qdisc del dev p1 root
	wait
	told 0
}

# Other flows take their place; those are not paired
# Flows that nobody has answered push some of them out, and then one another
test_evict_while_held()
{
	local left

	held 20 flows 21
	sniff snd --type cnp --time 50
	data --qp 0x200 --flows 22 --tos 3 --count 220
	check "evicted" "$(stat flow_evicted)" -ge 21
	left=$(stat flows_paired)
	check "of those held" "$left" -lt 20
	wait
	told "$left"
	check "flows" "$(stat flows)" -eq 21
}

test_age_while_held()
{
	held 20
	params age 1ms
	sniff snd --type cnp --time 50
	sleep 0.03
	check "aged" "$(stat flow_aged)" -eq 20
	wait
	told 0
}

# What was held back was sent, or there is another counter for it
test_counters()
{
	local trigger sent budget unpaired

	topology bridge
	# shellcheck disable=SC2086
	iqcn $OURS $CONGESTED base both t1 300us delay 100us
	psn=1
	for trigger in timer gap; do
		params trigger $trigger
		stream 12 1000
		sleep 0.03
	done
	read -r sent unpaired <<<"$(counters cnp_sent cnp_unpaired)"
	check "sent" "$sent" -eq 0
	check "unpaired" "$unpaired" -eq 22
	accounts
	# one in 2 ms
	pair_flow
	params cnp-rate 500 cnp-burst 1
	psn=1000
	for trigger in timer gap; do
		params trigger $trigger
		stream 12 1000
		sleep 0.03
	done
	read -r sent budget <<<"$(counters cnp_sent cnp_budget)"
	check "within the budget" "$sent" -ge 10
	check "within the budget" "$sent" -le 16
	check "beyond it" "$budget" -ge 8
	accounts
}

if ! virtual_time; then
	echo "TAP version 13"
	echo "1..0 # SKIP means nothing outside of virtual time"
	exit
fi
run_tests
