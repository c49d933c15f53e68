#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Check when a CNP becomes due (base), what detects this (trigger, period), and
# when the CNP is sent (delay).
#
# As in iqcn_cnp.sh, packets arrive as CE, and the bandwidth is set below their
# rate, so the queue is congested without a backlog. The window is shorter than
# the millisecond between two packets, so the second one begins the congestion,
# and the times of all CNPs are known to the microsecond. Generated CNPs have a
# TTL that no receiver uses.

ALL_TESTS="
	test_fig8_queue
	test_fig8_flow
	test_timer_is_exact
	test_period_is_kept
	test_gap_by_next_ce
	test_gap_of_flow
	test_base_ce
	test_gap_sampled
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
	test_receiver_restarts_t1
	test_receiver_cancels_first
	test_canceled_begins_anew
	test_less_delay
	test_worse_keeps
	test_clear_cancels
	test_quiet_flow_cancels
	test_clear_and_back_cancels
	test_back_by_another
	test_dense
	test_traced
	test_off_while_deferred
	test_change_while_deferred
	test_reset_while_deferred
	test_reset_ends
	test_reset_ends_gap
	test_delete_while_deferred
	test_evict_while_deferred
	test_age_while_deferred
	test_counters
"
NIGHTLY_TESTS="
	test_fig8_flow test_gap_of_flow test_gap_sampled
	test_base_cnp_slow_receiver test_base_cnp_silent_receiver
	test_base_cnp_of_flow test_all_combinations test_onset_many
	test_onset_stopped test_onset_waits test_onset_receiver test_onset_reset
	test_onset_off test_onset_gone test_onset_is_cheap
	test_delay_auto_unanswered test_delay_auto_unknown
	test_delay_late_receiver test_delay_late_receiver_auto
	test_delay_long_stops test_receiver_restarts_t1
	test_receiver_cancels_first
	test_canceled_begins_anew test_worse_keeps test_quiet_flow_cancels
	test_clear_and_back_cancels test_back_by_another test_dense
	test_off_while_deferred test_change_while_deferred test_reset_ends_gap
	test_evict_while_deferred test_age_while_deferred
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

CONGESTED="bandwidth 4mbit window 500us detect queue"
OURS="cnp-ttl 9"
OFF=1000	# tolerance of a CNP's time in ns
psn=0

# paired PARAMETER...: set up a paired flow without CNPs; its next PSN is 104
paired()
{
	topology bridge
	# shellcheck disable=SC2086
	iqcn $OURS "$@" notify off
	pair_flow --psn 100
	params notify timer
	psn=104
}

# paired_flows N PARAMETER...: set up N paired flows
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

# params PARAMETER...: change parameters of the qdisc
params()
{
	tc -n sw qdisc change dev p1 root handle 10: iqcn "$@"
}

# stream COUNT INTERVAL-US [data argument...]: send CE packets
stream()
{
	data --tos 3 --count "$1" --interval "$2" --psn "$psn" "${@:3}"
	psn=$((psn + $1))
}

# watch MS [sniff argument...]: capture CE packets at rcv and CNPs at snd
watch()
{
	sniff snd --type cnp --time "$@"
	sniff rcv --type data --time "$@"
}

# ours: for each generated CNP, print the time since the last CE packet before
# it, in ns, one per line
ours()
{
	awk -v off=$OFF '
	FNR == NR { if (/ ce /) ce[++n] = substr($1, 7) + 0; next }
	/ ttl 9 / {
		t = substr($1, 7) + 0
		# the CNP may be forwarded faster than its CE packet
		for (i = n; i && ce[i] > t + off; i--)
			;
		printf "%d\n", t - ce[i]
	}' "$TMP/rcv" "$TMP/snd"
}

# all_at US [LATE-US [EARLY-US]]: check that each generated CNP is sent US after
# a CE packet, at most LATE-US later or EARLY-US earlier
all_at()
{
	local late=$((${2-0} * 1000 + OFF)) early=$((${3-0} * 1000))

	# trigger gap: the next CE packet sends the CNP. The order of the two
	# at their receivers depends on the time that forwarding takes.
	[ "$1" != 0 ] || early=$OFF late=$((late + OFF))
	check_eq "ns from CE to CNP, wanted $1 us" "$(ours |
		awk -v at="$1"000 -v late=$late -v early=$early \
		'$1 < at - early || $1 > at + late' | tr '\n' ' ')" ""
}

# told WANTED: check the number of generated CNPs that reached the sender
told()
{
	check "generated CNPs" "$(grep -c ' ttl 9 ' "$TMP/snd")" -eq "$1"
}

# accounts: check that each deferred CNP was sent or counted as not sent
accounts()
{
	local c

	read -ra c <<<"$(counters cnp_deferred cnp_sent cnp_canceled \
		cnp_budget cnp_unpaired cnp_error)"
	check "deferred; sent, canceled, budget, unpaired, error: ${c[*]:1}" \
		"${c[0]}" -eq $((c[1] + c[2] + c[3] + c[4] + c[5]))
}

# of_flow NAME: print a column of the only flow in debugfs
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

# US 12395431, FIG. 8: no CNP arrives within T1 after a CE packet, so the box
# sends one, and no second one before the next CE packet
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

# one_flow [PARAMETER...]: check that a flow whose own detector reports
# congestion from the fifth CE packet on gets a CNP T1 after each of these
# packets
one_flow()
{
	paired detect run t1 300us "$@"
	psn=1000
	watch 80
	stream 12 1000
	wait
	all_at 300
	told 8
	check "changes of the queue" "$(stat state_changes)" -eq 0
}

test_fig8_flow()
{
	one_flow base both
}

# CNPs are sent on time, according to the times of capture and to late_ns in the
# trace
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
	check "CNPs traced" "$n" -eq 44
}

# scanned T1-US PERIOD-US: check that each CNP is sent at the first multiple of
# the period that is at least T1 after a CE packet
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
	# the default is a quarter of T1
	for period in 75 10 170 300; do
		[ $period = 75 ] || params period ${period}us
		watch 80 --mono
		stream 12 1037
		wait
		scanned 300 $period
		told 11
	done
}

# trigger gap: a CE packet that leaves T1 or more after the previous one causes
# a CNP
test_gap_by_next_ce()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base both t1 300us trigger gap
	# no CNP follows the last packet
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
	# two packets 302 us apart are within a window, so the third begins the
	# congestion
	told 18
}

# The idle timeout of a flow does not fire in place of the next CE packet
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

# base ce ignores the receiver's CNPs and restarts T1 at each CE packet, so that
# dense packets cause no CNP
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
		*) told 1 ;;	# after the last packet
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

# With trigger gap, the gap between any two CE packets counts, although only
# every eighth packet is sampled
test_gap_sampled()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base ce t1 300us trigger gap
	params sample 8
	watch 80
	stream 200 100
	check_eq "congested" "$(stat congested)" '"queue"'
	wait
	told 0
}

# base both: T1 starts at the later of CE packet and CNP; packets and CNPs that
# alternate within T1 cause no CNP
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
	# CNPs within T1 after each CE packet, and CE packets within T1 after
	# each CNP
	np --time 100 --ack 0 --cnp 1 --delay 250
	watch 80
	stream 20 500
	wait
	check "receiver's" "$(grep -c ' ttl 64 ' "$TMP/snd")" -eq 20
	told 1
}

# base cnp: if the receiver's CNPs are always less than T1 apart, the box sends
# none for a whole second, however dense the CE packets
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
		check "$trigger: generated CNPs" "$(stat cnp_sent)" -eq "$sent"
		wait
		n=1000
	done
	interval=$(of_flow cnp_interval_us)
	check "interval" "$interval" -ge 199
	check "interval" "$interval" -le 201
	check "CNPs of the receiver" "$(stat cnp_seen)" -eq 6000
}

# A receiver's CNP every 3150 us leaves room for ten generated ones
test_base_cnp_slow_receiver()
{
	local trigger n interval

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base cnp
	for trigger in timer period gap; do
		# the period divides T1, so that a scan happens exactly at T1
		params trigger $trigger period 10us
		sleep 0.02
		np --time 130 --ack 0 --cnp 3140
		watch 130
		stream 1261 50
		wait
		n=$(grep -c ' ttl 9 ' "$TMP/snd")
		check "receiver's" "$(grep -c ' ttl 64 ' "$TMP/snd")" -eq 21
		case $trigger in
		# 300 or 350 us apart, because a CE packet sends the CNP
		gap) check "$trigger: CNPs" "$n" -ge 158 ;;
		*) check "$trigger: CNPs" "$n" -ge 190 ;;
		esac
		check "$trigger: CNPs" "$n" -le 202
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
		# trigger gap: 300 or 350 us apart
		check "$trigger: CNPs in 30 ms" "$n" -ge 84
		check "$trigger: CNPs in 30 ms" "$n" -le 101
		[ $trigger = gap ] || check "$trigger: in 30 ms" "$n" -ge 93
		for base in ce both; do
			params base $base
			sleep 0.02
			watch 80
			stream 600 50
			wait
			n=$(grep -c ' ttl 9 ' "$TMP/snd")
			check "$trigger $base: CNPs" "$n" -le 1
		done
	done
}

# base cnp: the first CE packet after an idle time starts T1, even if only the
# flow is congested, not the queue
test_base_cnp_of_flow()
{
	one_flow base cnp
}

# Six packets cause five CNPs in congestion, and none when the queue is clear,
# with notify off, or after the last packet
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
	# generated CNPs are not counted as the receiver's
	read -r seen unmatched <<<"$(counters cnp_seen port_cnp_unmatched)"
	check "cnp_seen" "$seen" -eq 0
	check "port_cnp_unmatched" "$unmatched" -eq 0
	check "interval" "$(of_flow cnp_interval_us)" -eq 0
	check "ce_to_cnp_us" "$(of_flow ce_to_cnp_us)" -eq 0
}

# others [COUNT]: send packets of an unpaired flow. The second packet makes the
# queue congested, and its time in the capture shows when.
others()
{
	data --tos 3 --count "${1-8}" --interval 1000 --qp 0x999 --psn 1
}

# T1 expires while the queue is clear: the flow's only CNP is sent when another
# flow makes the queue congested, or at the next scan
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
			check_eq "CNP after the onset" "$(awk \
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

# More flows than the timer handles in one run
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
	check "flows with a CNP" "$(awk '/ ttl 9 / { print $0 }' "$TMP/snd" |
		grep -o ' qp [^ ]*' | sort -u | wc -l)" -eq 200
}

# A flow counts as stopped after twice the sum of window, T1 and the time
# between its last two packets, here 1.62 ms. It then gets no CNP.
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
	# the time between packets counts only up to 100 ms, so after 210 ms the
	# flow has stopped
	stream 1 1000
	sleep 0.21
	params bandwidth 4mbit
	watch 80
	others
	wait
	told 0
}

# A flow with a queued packet does not count as stopped
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
	# 9k leave at once, the rest takes 12 ms
	data --count 20 --qp 0x999 --psn 1
	watch 80
	stream 1 1000
	wait
	check "generated CNPs" "$(grep -c ' ttl 9 ' "$TMP/snd")" -ge 10
}

# The receiver's CNP restarts T1, except with base ce
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
		# the receiver sent its CNP 1.5 ms before the onset
		check_eq "T1 after the receiver's CNP" "$(awk '
		/ ttl 64 / { seen = substr($1, 7) + 0 }
		/ ttl 9 / {
			us = (substr($1, 7) - seen) / 1000
			print (us >= 1999 && us < 2002) ? "yes" : "no"
		}' "$TMP/snd")" "$([ $base = ce ] && echo no || echo yes)"
	done
}

# A T1 that began before a reset causes no CNP
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
	# with notify off, no T1 starts
	stream 1 1000
	sleep 0.002
	params notify timer
	watch 80
	others
	wait
	told 0
}

# Flows are removed after their deadlines have expired
test_onset_gone()
{
	paired_flows 20 bandwidth 10gbit window 500us t1 300us detect queue
	data --flows 20 --tos 3 --count 20 --interval 5 --psn 1000
	sleep 0.002
	check "changes of the queue" "$(stat state_changes)" -eq 0
	params age 1ms
	sleep 0.03
	check "flows aged" "$(stat flow_aged)" -eq 20
	params bandwidth 4mbit age 10s
	watch 80
	others
	wait
	told 0
}

# Expired deadlines keep no timer armed while the queue is clear
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
	check "changes of the queue" "$(stat state_changes)" -eq 0
	n=$(grep -c "function=iqcn_timer" $trace/trace)
	check "runs of the timer in 50 ms" "$n" -eq 0
	# check that the trace event works
	echo 1 >$trace/events/$event/enable
	data --flows 40 --tos 3 --count 40 --interval 5 --psn 2000
	sleep 0.005
	echo 0 >$trace/events/$event/enable
	n=$(grep -c "function=iqcn_timer" $trace/trace)
	check "runs of the timer after packets" "$n" -ge 1
}

# At the onset of congestion, the timer does not visit each flow that stopped
# long ago
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
	check "changes of the queue" "$(stat state_changes)" -eq 2
	# the timer runs for T1 of the flow of "others", and for the end of the
	# congestion
	n=$(grep -c "function=iqcn_timer" $trace/trace)
	check "runs of the timer" "$n" -le 8
}

# A CNP is sent after T1 + T2
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
	check "deferred" "$(stat cnp_deferred)" -eq 33
	check "canceled" "$(stat cnp_canceled)" -eq 0
}

# turns: check that, from the first generated CNP on, the receiver's CNPs and
# generated ones alternate at the sender
turns()
{
	local all

	all=$(awk '{ if (/ ttl 9 /) o = 1; if (o) printf "%s", / ttl 9 / ? "o" : "r" }' \
		"$TMP/snd")
	[[ $all =~ ^(or)+o?$ ]] || fail "receiver, generated: $all"
}

# US 12395431, FIG. 9 and 12: each generated CNP is sent between the receiver's
# CNPs for two CE packets, as long after T1 as the receiver takes to answer a
# packet
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
	check "ce_to_cnp_us" "$took" -ge 100
	check "ce_to_cnp_us" "$took" -le 102
	all_at 400 3
	told 11
	turns
	# the average moves by an eighth per packet: 100 us * (1 - (7/8)^8) = 66
	# us
	np --time 100 --ack 0 --cnp 1 --delay 200
	watch 80
	stream 8 1000
	wait
	took=$(of_flow ce_to_cnp_us)
	check "ce_to_cnp_us, while adapting" "$took" -ge 163
	check "ce_to_cnp_us, while adapting" "$took" -le 168
	all_at 400 70
	turns
	np --time 100 --ack 0 --cnp 1 --delay 200
	stream 30 1000
	wait
	took=$(of_flow ce_to_cnp_us)
	check "ce_to_cnp_us, adapted" "$took" -ge 198
	check "ce_to_cnp_us, adapted" "$took" -le 202
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

# A CE packet without an answer does not make the next answer look slow
test_delay_auto_unanswered()
{
	local took

	# the receiver has not answered the first four packets
	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base ce delay auto
	np --time 100 --ack 0 --cnp 1 --delay 100
	watch 80
	stream 40 1000
	wait
	took=$(of_flow ce_to_cnp_us)
	check "ce_to_cnp_us" "$took" -ge 100
	check "ce_to_cnp_us" "$took" -le 110
	check "generated CNPs" "$(grep -c ' ttl 9 ' "$TMP/snd")" -ge 30
	# the receiver does not answer these packets either
	stream 5 1000
	np --time 100 --ack 0 --cnp 1 --delay 100
	stream 40 1000
	wait
	took=$(of_flow ce_to_cnp_us)
	check "ce_to_cnp_us" "$took" -ge 100
	check "ce_to_cnp_us" "$took" -le 110
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
	check "deferred" "$(stat cnp_deferred)" -eq 0
}

# late_receiver DELAY-US PARAMETER...: check that there are as many generated
# CNPs as CE packets in congestion, whatever time the receiver takes to answer
late_receiver()
{
	local late=$1
	shift

	params "$@"
	np --time 100 --ack 0 --cnp 1 --delay "$late"
	watch 80
	stream 21 1000
	wait
	note "answers after $late us, $*"
	told 20
	sleep 0.03
	accounts
}

# US 12395431, FIG. 9 and 12: one CNP for each CE packet, and with base ce at
# T1 + T2 after it. The receiver's CNP for the same packet comes earlier and
# cancels nothing.
test_delay_late_receiver()
{
	local base late

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us
	for base in ce both cnp; do
		for late in 150 390 600 900 1200; do
			late_receiver $late base $base delay ${late}us
			# if T1 + T2 exceeds 1 ms, another CE packet may leave
			# 1 ms after the one that causes the CNP
			[ $base != ce ] || check "CNPs at T1 + T2 after CE" \
				"$(ours | awk -v at=$((300 + late)) '{
					off = ($1 / 1000 - at + 2000.5) % 1000
					n += off < 2
				} END { print n }')" -eq 20
		done
	done
	check "canceled" "$(stat cnp_canceled)" -eq 0
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
	check "canceled" "$(stat cnp_canceled)" -eq 0
}

# T2 is longer than the time between packets: each packet still gets one CNP,
# and no more follow when the packets stop
test_delay_long_stops()
{
	local c

	# shellcheck disable=SC2086
	paired $CONGESTED base ce t1 300us delay 1200us
	stream 11 1000
	sleep 0.03
	check "cnp_sent" "$(stat cnp_sent)" -eq 10
	accounts
	# a reset cancels both pending CNPs
	data --tos 3 --count 11 --interval 1000 --psn "$psn" &
	sleep 0.0094
	read -ra c <<<"$(counters cnp_deferred cnp_sent cnp_canceled)"
	check "pending: ${c[*]}" $((c[0] - c[1] - c[2])) -eq 2
	flap
	accounts
	wait
}

# The receiver answers each CE packet 300 us before the deferred CNP for the
# previous one would be sent
test_receiver_cancels()
{
	local trigger sent canceled

	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base ce delay 1100us
	for trigger in timer period gap; do
		params trigger $trigger
		# with gap, T2 starts only at the next CE packet, so T2 must be
		# longer
		[ $trigger != gap ] || params delay 1400us
		read -r sent canceled <<<"$(counters cnp_sent cnp_canceled)"
		np --time 100 --ack 0 --cnp 1 --delay 100
		stream 30 1000
		check "$trigger: sent" "$(stat cnp_sent)" -eq "$sent"
		wait
		check "$trigger: canceled" "$(stat cnp_canceled)" -ge \
			$((canceled + 28))
		accounts
	done
}

# The receiver's second CNP cancels a deferred one and restarts T1, which
# expires before T2 would have. No packet leaves meanwhile.
test_receiver_restarts_t1()
{
	topology bridge
	# shellcheck disable=SC2086
	bottleneck 8kbit $OURS kmin 3000 kmax 6000 detect depth bandwidth 1tbit \
		base both t1 300us delay 2ms notify off
	pair_flow
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn notify timer
	watch 80
	data --tos 3 --count 20
	sleep 0.0005
	reply --type cnp --qp 0x800011
	sleep 0.0005
	reply --type cnp --qp 0x800011
	wait
	counted "2 1" cnp_seen cnp_canceled
	check_eq "T1 + T2 after the receiver's CNP" "$(awk '
	/ ttl 64 / { seen = substr($1, 7) + 0 }
	/ ttl 9 / {
		us = (substr($1, 7) - seen) / 1000
		print (us >= 2299 && us < 2302) ? "yes" : us
		exit
	}' "$TMP/snd")" yes
}

# With two CNPs pending, the receiver's CNP cancels only the one whose CE packet
# precedes the packet that it answers
test_receiver_cancels_first()
{
	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base ce delay 1200us
	np --time 100 --ack 0 --cnp 1 --delay 400
	watch 80
	stream 20 1000
	wait
	# no packet follows the last one, so nothing cancels its CNP
	told 1
	all_at 1500 1
	check "canceled" "$(stat cnp_canceled)" -eq 18
	accounts
}

# A receiver's CNP that cancels deferred CNPs restarts T1. T1 expires in time,
# although the timer was armed for a deferred CNP: the next CNP is due, and
# deferred, 300 us after the receiver's CNP.
test_canceled_begins_anew()
{
	# the idle timeout is 44 ms
	paired bandwidth 4mbit window 20ms detect queue t1 300us base cnp \
		delay 200ms
	stream 60 1000
	check "deferred" "$(stat cnp_deferred)" -eq 2
	reply --type cnp --qp 0x800011
	sleep 0.0005
	check "canceled" "$(stat cnp_canceled)" -eq 2
	check "deferred" "$(stat cnp_deferred)" -eq 3
}

# A shorter T2 cancels CNPs that were deferred by the longer one
test_less_delay()
{
	# shellcheck disable=SC2086
	paired $CONGESTED t1 300us base cnp delay 1s
	stream 6 1000
	check "deferred" "$(stat cnp_deferred)" -eq 2
	params delay 0
	watch 40
	stream 6 1000
	wait
	check "cnp_sent" "$(stat cnp_sent)" -ge 5
	check "canceled" "$(stat cnp_canceled)" -eq 2
}

# If the queue of a congested flow becomes congested, too, the congestion of the
# flow does not end
test_worse_keeps()
{
	paired detect queue,run run 5 t1 300us window 5ms bandwidth 4mbit \
		delay 14ms
	# the run is complete in less than a window, before the queue's CE rate
	# is known
	stream 12 1000
	check "changes of flows" "$(stat flow_state_changes)" -eq 1
	check_eq "the queue" "$(stat congested)" '"queue"'
	check "deferred" "$(stat cnp_deferred)" -eq 2
	stream 10 1000
	check "canceled" "$(stat cnp_canceled)" -eq 0
	check "cnp_sent" "$(stat cnp_sent)" -eq 2
}

# The queue becomes clear before T2 expires, which cancels deferred CNPs
test_clear_cancels()
{
	paired_flows 20 bandwidth 40mbit window 500us t1 300us delay 20ms
	watch 80
	data --flows 20 --tos 3 --count 100 --interval 50 --psn 1000
	check "deferred" "$(stat cnp_deferred)" -eq 40
	wait
	told 0
	check "canceled" "$(stat cnp_canceled)" -eq 40
	accounts
}

# The idle timeout of a flow, which is twice the sum of window, T1 and the time
# between packets, cancels its deferred CNP
test_quiet_flow_cancels()
{
	paired detect run t1 300us window 500us delay 20ms
	watch 80
	stream 7 100
	sleep 0.01
	check "flows congested" "$(stat flows_congested)" -eq 0
	# the CNP is canceled at once, not after T2
	check "canceled" "$(stat cnp_canceled)" -eq 1
	wait
	told 0
	check "canceled" "$(stat cnp_canceled)" -eq 1
	accounts
}

# Congestion that ends and begins again before T2 expires cancels deferred CNPs
# as well
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
	# the canceled CNP is not sent, and delays no other
	us=$(awk '
	FNR == NR { if (/ psn 500 /) ce = substr($1, 7); next }
	/ ttl 9 / { printf "%d\n", (substr($1, 7) - ce) / 1000; exit }' \
		"$TMP/rcv" "$TMP/snd")
	check "us from the first CE packet after that" "$us" -ge 20300
	check "us from the first CE packet after that" "$us" -le 21302
	check "canceled" "$(stat cnp_canceled)" -ge 1
	# nor is the second canceled CNP sent
	sleep 0.05
	accounts
}

# The end of the congestion cancels a deferred CNP, even if another flow
# congests the queue again before T2 expires, and the first flow sends nothing
test_back_by_another()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base both t1 300us delay 20ms
	watch 150
	stream 7 1000
	check "deferred" "$(stat cnp_deferred)" -ge 1
	sleep 0.008
	check_eq "clear" "$(stat congested)" ""
	data --qp 0x999 --tos 3 --count 16 --interval 1000 --psn 1
	check_eq "congested" "$(stat congested)" '"queue"'
	wait
	told 0
}

# Packets that are not sampled restart T1, too, by an estimate
test_dense()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base ce t1 300us
	params sample 8
	watch 80
	stream 200 100
	check_eq "congested" "$(stat congested)" '"queue"'
	check "sampled packets" "$(stat ce_sampled)" -le 50
	check "paired" "$(stat flows_paired)" -eq 1
	wait
	# at most one where the stream begins, and one where it ends
	check "generated CNPs" "$(stat cnp_sent)" -le 2
}

# The trace names the packet that started T1, and the time at which the CNP was
# due
test_traced()
{
	# shellcheck disable=SC2086
	paired $CONGESTED base both t1 300us
	trace_cnps
	stream 12 1000
	check_eq "T1, and delays" "$(traced_cnps timer |
		awk '{ print $2 - $1, $3 < 2000 }' | sort -u)" "300000 1"
	params delay 200us
	trace_cnps
	stream 12 1000
	sleep 0.001
	check_eq "T1 and T2" "$(traced_cnps timer | awk '
		{ us = ($2 - $1) / 1000; print (us >= 500 && us < 502), $3 < 2000 }' |
		sort -u)" "1 1"
}

# deferred FLOWS PARAMETER...: have one CNP per flow deferred by 20 ms, while
# another flow keeps the queue congested for much longer
deferred()
{
	local n=$1
	shift

	paired_flows "$n" bandwidth 4mbit window 500us t1 300us delay 20ms "$@"
	data --qp 0x999 --tos 3 --count 70 --interval 1000 --psn 1 &
	sleep 0.005
	data --flows "$n" --tos 3 --count "$n" --psn 1000
	sleep 0.001
	check "deferred" "$(stat cnp_deferred)" -ge "$n"
	check "sent" "$(stat cnp_sent)" -eq 0
}

test_off_while_deferred()
{
	deferred 20
	params notify off
	sniff snd --type cnp --time 50
	wait
	told 0
	accounts
}

test_change_while_deferred()
{
	deferred 20
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
	check "generated CNPs" "$(grep -c ' ttl 9 ' "$TMP/snd")" -eq 11
}

test_reset_while_deferred()
{
	deferred 20
	ip -n sw -batch - <<-EOF
		link set p1 down
		link set p1 up
	EOF
	sniff snd --type cnp --time 40
	wait
	told 0
	check "flows paired" "$(stat flows_paired)" -eq 20
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

# flap: reset the queue, and wait until the bridge forwards again
flap()
{
	ip -n sw -batch - <<-EOF
		link set p1 down
		link set p1 up
	EOF
	wait_forwarding
	bridge -n sw fdb replace $RCV_MAC dev p1 master static
}

# first: print ms from the first CE packet to the first generated CNP
first()
{
	awk '
	FNR == NR { if (/ ce / && !ce) ce = substr($1, 7) + 0; next }
	/ ttl 9 / && !cnp { cnp = substr($1, 7) + 0 }
	END { printf "%.0f\n", (cnp - ce) / 1e6 }' "$TMP/rcv" "$TMP/snd"
}

# A reset ends T1, which then causes no CNP if another flow congests the queue
# again before T1 would have expired. If its own flow sends again, T1 starts
# anew with the first packet.
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

# trigger gap: the gap between packets before and after a reset does not count
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

test_delete_while_deferred()
{
	deferred 200
	sniff snd --type cnp --time 50
	tc -n sw qdisc del dev p1 root
	wait
	told 0
}

# Unpaired flows evict some of the paired ones, and then one another
test_evict_while_deferred()
{
	local left

	deferred 20 flows 21
	sniff snd --type cnp --time 50
	data --qp 0x200 --flows 22 --tos 3 --count 220
	check "flows evicted" "$(stat flow_evicted)" -ge 21
	left=$(stat flows_paired)
	check "paired flows left" "$left" -lt 20
	wait
	told "$left"
	check "flows" "$(stat flows)" -eq 21
}

test_age_while_deferred()
{
	deferred 20
	params age 1ms
	sniff snd --type cnp --time 50
	sleep 0.03
	check "flows aged" "$(stat flow_aged)" -eq 20
	wait
	told 0
}

# A deferred CNP is counted as sent, as unpaired or as over budget
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
	check "cnp_sent" "$sent" -eq 0
	check "cnp_unpaired" "$unpaired" -eq 22
	accounts
	# a budget of one CNP in 2 ms
	pair_flow
	params cnp-rate 500 cnp-burst 1
	psn=1000
	for trigger in timer gap; do
		params trigger $trigger
		stream 12 1000
		sleep 0.03
	done
	read -r sent budget <<<"$(counters cnp_sent cnp_budget)"
	check "cnp_sent" "$sent" -ge 10
	check "cnp_sent" "$sent" -le 16
	check "cnp_budget" "$budget" -ge 8
	accounts
}

if ! virtual_time; then
	echo "TAP version 13"
	echo "1..0 # SKIP needs virtual time"
	exit
fi
run_tests
