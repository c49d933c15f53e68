#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The trace events as users see them, with the commands of
# Documentation/tracing.rst: by trace-cmd, and by bpftrace where the kernel has
# BPF. Nothing here depends on how long things take.

ALL_TESTS="
	test_rendered
	test_tools
	test_filtered
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

TRACE=/sys/kernel/tracing
EVENTS=$TRACE/events/iqcn
RST=$TOP/Documentation/tracing.rst

# How long the tools may take to start and to end. A tool that hangs
# tests nothing, so the test is then skipped.
TOOL_S=120

# hangs WHAT: skip the test, and end the tools
hangs()
{
	skip "$1 for $TOOL_S s: $(cat "$TMP"/*.out | tr '\n' ' ')"
	kill -KILL "${tools[@]}"
}

# started WHAT COMMAND...: wait until COMMAND shows that the tool with pid $! is
# at work, or until the tool ends
started()
{
	local what=$1 end=$((SECONDS + TOOL_S))
	shift

	until "$@" 2>/dev/null; do
		if ! kill -0 $! 2>/dev/null; then
			fail "$what did not start: $(cat "$TMP"/*.out)"
			kill -KILL "${tools[@]}"
			return 1
		fi
		if [ $SECONDS -ge $end ]; then
			hangs "$what does not start"
			return 1
		fi
		sleep 0.2
	done
}

# ended WHAT PID...: interrupt the tools, and wait until they have ended
ended()
{
	local what=$1 end=$((SECONDS + TOOL_S)) pid
	shift

	kill -INT "$@"
	for pid; do
		while kill -0 "$pid" 2>/dev/null; do
			if [ $SECONDS -ge $end ]; then
				hangs "$what does not end"
				return 1
			fi
			sleep 0.2
		done
	done
}

enabled()
{
	grep -q 1 "$1/iqcn_paired/enable"
}

# rendered: print the names and texts of events, from a trace on standard input.
# They are sorted, because each trace has a time of its own for an event, so
# that events of two CPUs may be in a different order.
rendered()
{
	sed -nE 's/.* (iqcn_[a-z_]+): +/\1 /p' | sort
}

# trace-cmd prints every event exactly as the kernel does
test_rendered()
{
	local event word tools

	topology bridge vlan
	bottleneck 10mbit kmin 3000 kmax 6000 detect queue,depth,run,span \
		bandwidth 10mbit
	echo >$TRACE/trace
	echo 1 >$EVENTS/enable
	(cd "$TMP" && exec trace-cmd record -B iqcn -e iqcn >cmd.out 2>&1) &
	tools=($!)
	started trace-cmd enabled $TRACE/instances/iqcn/events/iqcn || return
	np --time 400 --ack 1 --cnp 20000
	data --flows 2 --tos 3 --count 12 --interval 3000 --len 64
	data -6 --tos 3 --count 8 --interval 3000 --psn 100
	data --count 40
	sleep 0.1
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn \
		notify timer,wreb profile 2000:1 min-gap 0
	# send more packets at once than can leave meanwhile, even on the
	# slowest machine
	data --count 20
	sleep 0.1
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn limit 4000
	data --count 40
	sleep 0.1
	ended trace-cmd "${tools[@]}" || return
	wait
	echo 0 >$EVENTS/enable
	rendered <$TRACE/trace >"$TMP/kernel"
	trace-cmd report -i "$TMP/trace.dat" 2>&1 | rendered >"$TMP/user"
	for event in mark ce_sent cnp_seen cnp_sent paired queue_state \
		flow_state; do
		grep -q "^iqcn_$event " "$TMP/kernel" || fail "no $event"
	done
	for word in grade=psn grade=cnp cause=timer cause=wreb cause=drop \
		congested=run congested=none reason=run dev=p1 parent=1:1 \
		vid=100.0 src=::ffff:$SND4 src=$SND6; do
		grep -qE " $word( |\$)" "$TMP/kernel" || fail "no $word"
	done
	check_eq "trace-cmd" "$(diff "$TMP/kernel" "$TMP/user" | head -n 5)" ""
}

# documented WORD: print the documented command with this word
documented()
{
	sed -nE 's/^\t(\$ )?(bpftrace|trace-cmd) /\2 /p' "$RST" | grep -e "$1"
}

# run NAME WORD: run a documented command in the background, with its output in
# $TMP/NAME.out. bpftrace must flush each line, even though it writes to a file.
run()
{
	local command

	command=$(documented "$2")
	check "commands with $2" "$(grep -c . <<<"$command")" -eq 1
	(cd "$TMP" && eval "exec ${command/#bpftrace/bpftrace -B line}" \
		>"$TMP/$1.out" 2>&1) &
}

# told: print the generated CNPs of each flow, from debugfs
told()
{
	flows | while read -r src _ _ qp _ _ _ _ _ _ _ _ _ _ sent _; do
		[ "$src" = "#" ] || echo "$((qp)) $sent"
	done | sort
}

# hist NAME: print the number of values in a histogram of bpftrace
hist()
{
	awk -v name="@$1:" '
	/^@/ { mine = $1 == name }
	mine && /^[[(]/ { sub(/^[^)\]]*[)\]]/, ""); n += $1 }
	END { print n + 0 }' "$TMP/late.out"
}

# counts 1|2: print the sums of bpftrace's map as last printed, by flow (1) or
# by cause (2)
counts()
{
	sed -nE 's/^@cnps\[p1, ::ffff:10.1.0.1, ::ffff:10.1.0.2, ([0-9]+), ([0-9]+)\]: ([0-9]+)$/\1 \2 \3/p' \
		"$TMP/cnps.out" |
		awk -v by="$1" '
		{ last[$1 " " $2] = $3 }
		END {
			for (k in last) {
				split(k, key)
				n[key[by]] += last[k]
			}
			for (k in n)
				print k, n[k]
		}' | sort
}

# bpftrace and trace-cmd count as many events as tc and debugfs
test_tools()
{
	local tools sent wreb drop

	if [ ! -e /proc/sys/kernel/unprivileged_bpf_disabled ]; then
		skip "this kernel has no BPF"
		return
	fi
	topology bridge
	bottleneck 2mbit limit 30000 kmin 3000 kmax 6000 base both t1 5ms \
		age 100s
	run cmd 'trace-cmd record'
	tools=($!)
	started trace-cmd enabled $EVENTS || return
	run late '@late_ns'
	tools+=($!)
	started bpftrace grep -q Attach "$TMP/late.out" || return
	run cnps '@cnps'
	tools+=($!)
	# wait until bpftrace prints, not only until it has attached
	started bpftrace grep -q '^..:..:..$' "$TMP/cnps.out" || return

	np --time 60 --ack 1
	data --flows 3 --tos 3 --count 12 --interval 1000 --len 64
	# wait for np only, because the tools go on
	wait $!
	data --flows 3 --psn 1000 --count 90 --interval 1000
	sleep 1
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn notify wreb \
		profile 1000:1 min-gap 0
	data --flows 3 --psn 2000 --count 80 --interval 1000
	# let the timer send its last CNPs, so that the counters stay constant
	sleep 1
	# end trace-cmd first, because it gives up if kernel symbols change
	# while it reads them
	ended trace-cmd "${tools[0]}" || return
	ended bpftrace "${tools[@]:1}" || return
	wait

	sent=$(stat cnp_sent) wreb=$(stat cnp_wreb) drop=$(stat cnp_drop)
	check "CNPs by the timer" $((sent - wreb - drop)) -gt 0
	check "CNPs by wreb" "$wreb" -gt 0
	check "CNPs for drops" "$drop" -gt 0
	check_eq "bpftrace: CNPs by cause" "$(counts 2)" \
		"1 $((sent - wreb - drop))"$'\n'"2 $wreb"$'\n'"5 $drop"
	check_eq "bpftrace: CNPs by flow" "$(counts 1)" "$(told)"
	check "bpftrace: late_ns" "$(hist late_ns)" -eq $((sent - wreb - drop))
	check "bpftrace: us_since_ce" "$(hist us_since_ce)" -eq \
		$((sent - wreb - drop))

	(cd "$TMP" && eval "$(documented 'trace-cmd report')") >"$TMP/report" ||
		note "$(cat "$TMP/cmd.out")"
	check "trace-cmd: changes of state" "$(grep -cE \
		'queue_state: .* dev=p1 .* congested=(none|queue|depth)' \
		"$TMP/report")" -eq "$(stat state_changes)"
	check "trace-cmd: pairings" "$(grep -cE \
		'paired: .* dest_qp=1[789] .* src_qp=83886(25|26|27) grade=psn' \
		"$TMP/report")" -eq 3
}

# bpftrace and tc count the same number of CNPs that the filter drops
test_filtered()
{
	local tools

	if [ ! -e /proc/sys/kernel/unprivileged_bpf_disabled ]; then
		skip "this kernel has no BPF"
		return
	fi
	topology bridge
	iqcn fiber 10000km filter 1/100ms
	pair_flow
	run filtered '@dropped'
	tools=($!)
	started bpftrace grep -q '^..:..:..$' "$TMP/filtered.out" || return
	reply --type cnp --qp 0x800011 --count 20
	# the program prints once a second
	sleep 1
	ended bpftrace "${tools[@]}" || return
	check "filtered" "$(stat port_cnp_filtered)" -ge 1
	check_eq "bpftrace: filtered CNPs" \
		"$(grep '^@dropped' "$TMP/filtered.out" | tail -n 1)" \
		"@dropped[p1, ::ffff:$SND4, ::ffff:$RCV4, $((0x800011))]: $(stat port_cnp_filtered)"
}

run_tests
