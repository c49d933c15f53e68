#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iqcn agent on a queue in front of a long fiber: arguments and policies that it
# refuses, leases that it sets, and how they end.
#
# userspace/tests/ tests the reward, the state and policy files; scenarios run
# whole episodes.

ALL_TESTS="
	test_bad_words
	test_bad_policies
	test_bad_places
	test_rights
	test_actions
	test_by_port
	test_supplements
	test_guard
	test_observe
	test_stdin
	test_explore
	test_policy
	test_fallback
	test_fallback_drops
	test_audit
	test_other_lease
	test_killed
	test_ended
	test_device_gone
	test_replaced
	test_changed
	test_metrics
	test_summary
	test_valgrind
"
NIGHTLY_TESTS="
	test_bad_places test_by_port test_supplements test_stdin test_policy
	test_fallback test_fallback_drops test_audit test_other_lease
	test_device_gone test_replaced test_changed test_summary test_valgrind
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/lib-tool.sh
. "$(dirname "$0")/lib-tool.sh"

POLICY=$TMP/policy

# agent [ARGUMENT...]
agent()
{
	in_ns sw "$BUILD/iqcn" agent "$@"
}

# refused STATUS ERROR ARGUMENT...: check that the agent exits with STATUS, and
# prints this error and nothing else
refused()
{
	only_error "$1" "iqcn: $2" agent "${@:3}"
}

# box PARAMETER...: create a box without traffic, whose port p1 leads into a
# fiber of 500 km
box()
{
	idle_box
	tc -n sw qdisc replace dev p1 root handle 10: iqcn \
		notify supplement fiber 500km "$@"
}

# params PARAMETER...: change parameters of the qdisc on p1
params()
{
	tc -n sw qdisc change dev p1 root handle 10: iqcn "$@"
}

# in_force: print the filter in force, as N/NS
in_force()
{
	echo "$(value filter_n)/$(value filter_ns)"
}

# policy [BEST]: write a policy that always prefers this action, for fibers of
# 100 to 2,000 km
policy()
{
	local l n zeros

	{
		echo "iqcn-policy 1"
		echo "shape 26 32 32 25"
		echo "interval_ns 1000000"
		echo "reward few"
		echo "fiber_m 100000 2000000"
		for l in "26 32" "32 32" "32 25"; do
			printf -v zeros "%${l% *}s" ""
			for ((n = 0; n < ${l#* }; n++)); do
				[ "$l,$n" = "32 25,${1-0}" ] && echo -n 0x1p+0 ||
					echo -n 0x0p+0
				echo "${zeros// / 0x0p+0}"
			done
		done
		echo end
	} >"$POLICY"
}

test_bad_words()
{
	local see='see "iqcn help"' w

	box
	refused 2 "missing run, observe or eval after \"agent\", $see"
	refused 2 "expected run, observe or eval, not \"look\", $see" look
	refused 2 "missing --policy after \"run\", $see" run
	refused 2 "missing --policy after \"eval\", $see" eval
	refused 2 "--action excludes --policy \"-\", $see" run --policy - --action 1
	refused 2 "unexpected word \"p1\", $see" eval --policy x p1
	for w in 25 4294967299 -1 x "" 1x; do
		refused 2 "the action must be 0 to 24, not \"$w\", $see" \
			run --action "$w"
	done
	for w in 1.1 -0.1 nan x ""; do
		refused 2 "the share must be 0 to 1, not \"$w\", $see" \
			run --explore "$w"
	done
	for w in --interval --lease; do
		refused 2 "the interval must be 1ms to 3600s, not \"10us\", $see" \
			run $w 10us
	done
	refused 2 "the reward must be few or literal, not \"many\", $see" \
		run --reward many
	refused 2 "the number must be at least 1, not \"0\", $see" run --count 0
	refused 2 "the policy must be a file for \"eval\", $see" eval --policy -
	refused 2 "the policy must be a file for \"--explore\", $see" \
		run --action 1 --explore 0.1
	refused 2 "--explore is for run, not \"observe\", $see" \
		observe --policy x --explore 0.1
	refused 1 "--lease: must be longer than the interval" \
		run --action 0 --interval 100ms
	check_eq "leases" "$(stat leases)" 0
}

# bad ERROR SED: check that a policy edited with SED is refused with ERROR
bad()
{
	sed "$2" "$POLICY" >"$TMP/bad"
	refused 1 "$TMP/bad:$1" run --policy "$TMP/bad" --count 3 p1
	refused 1 "$TMP/bad:$1" eval --policy "$TMP/bad"
}

test_bad_policies()
{
	local float="not a hexadecimal number from -0x1p+20 to 0x1p+20"

	box
	policy
	bad "1: not a policy of version 1" "1s/1/2/"
	bad "1: not a policy of version 1" "1d"
	bad "2: the shape is not 26 32 32 25" "2s/25/24/"
	bad "4: reward must be few or literal" "4s/few/many/"
	bad "5: fiber_m must be two lengths, 0 to 100000000" "5s/ 2/ -2/"
	bad "40: $float" "40s/ 0x0p+0/ nan/3"
	bad "40: $float" "40s/ 0x0p+0/ 0x1p+999/3"
	bad "40: $float" "40s/ 0x0p+0/ 0.5/3"
	bad "40: too few weights" "40s/ 0x0p+0//"
	bad "40: too many weights" "40s/$/ 0x0p+0/"
	bad "95: the policy is truncated" '$d'
	bad "96: there is text after \"end\"" '$a# more'
	head -c 9000 "$POLICY" >"$TMP/bad"
	refused 1 "$TMP/bad:$(wc -l <"$TMP/bad" | awk '{ print $1 + 1 }'): the policy is truncated" \
		run --policy "$TMP/bad" p1
	refused 1 "$TMP/none: No such file or directory" run --policy "$TMP/none" p1
	refused 1 "$TMP: Is a directory" run --policy "$TMP" p1
	refused 1 "$POLICY: trained with another interval; omit --interval" \
		run --policy "$POLICY" --interval 5ms p1
	refused 1 "$POLICY: trained with another reward; omit --reward" \
		run --policy "$POLICY" --reward literal p1
	refused 1 "$TMP/none/log: No such file or directory" \
		run --policy "$POLICY" --log "$TMP/none/log" p1
	check_eq "leases" "$(stat leases)" 0
}

test_bad_places()
{
	local need="the agent needs a queue with notify supplement and fiber, see tc-iqcn(8)"

	box
	policy
	refused 1 "nix: No such device" run --policy "$POLICY" nix
	refused 1 "p0: $need" run --policy "$POLICY" p0
	refused 1 "p1: $need" run --policy "$POLICY" p1 parent 1:1
	refused 2 "expected root or parent, not \"leaf\", see \"iqcn help\"" \
		run --policy "$POLICY" p1 leaf
	params fiber none
	refused 1 "p1: $need" run --policy "$POLICY" p1
	refused 1 "p1: $need" run --policy "$POLICY"
	params fiber 500km notify pi
	refused 1 "p1: $need" run --policy "$POLICY" p1
	refused 1 "p1: $need" run --policy "$POLICY" p1 root
	refused 1 "no such queue: $need" run --policy "$POLICY"
	check_eq "leases" "$(stat leases)" 0
	# two queues: first on two devices, then on one
	params notify supplement
	tc -n sw qdisc add dev p0 root handle 10: iqcn notify supplement fiber 1km
	refused 1 "several queues have notify supplement: choose one: DEV [root | parent CLASSID]" \
		run --policy "$POLICY"
	check_eq "leases" "$(stat leases) $(stat leases p0)" "0 0"
	agent run --action 0 --count 2 p0 >/dev/null || fail "choice of a device"
	check "leases" "$(stat leases p0)" -gt 0
	tc -n sw -batch - <<-EOT
		qdisc replace dev p1 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 1:1 handle 10: iqcn notify supplement fiber 1km
		qdisc add dev p1 parent 1:2 handle 20: iqcn notify supplement fiber 1km
	EOT
	refused 1 "several queues have notify supplement: choose one: DEV [root | parent CLASSID]" \
		run --policy "$POLICY" p1
	check_eq "leases" "$(stat leases) $(stat leases p1 20:)" "0 0"
	agent run --action 0 --count 2 p1 parent 1:2 >/dev/null ||
		fail "choice of a queue"
	check "leases" "$(stat leases p1 20:)" -gt 0
	check_eq "leases of the other one" "$(stat leases)" 0
}

# "observe" needs no privilege, and "run" needs CAP_NET_ADMIN
test_rights()
{
	local iqcn=/run/iqcn-copy user
	local why="netlink family iqcn: a lease needs CAP_NET_ADMIN in the namespace's user namespace (try sudo, or observe)"

	cp "$BUILD/iqcn" $iqcn && chmod 755 $iqcn
	box
	for user in "" "unshare -Ur"; do
		# shellcheck disable=SC2086
		in_ns sw setpriv --reuid 65534 --regid 65534 --clear-groups \
			--inh-caps=-all $user $iqcn agent run --action 0 \
			--count 3 p1 >"$TMP/out" 2>"$TMP/err"
		check "exit status of uid 65534 $user" $? -eq 1
		check_eq "stderr of uid 65534 $user" "$(<"$TMP/err")" \
			"iqcn: $why"
		check_eq "stdout of uid 65534 $user" "$(<"$TMP/out")" ""
	done
	check_eq "leases" "$(stat leases)" 0
	check_eq "in force" "$(in_force)" 0/0
	check_eq "observe" "$(in_ns sw setpriv --reuid 65534 --regid 65534 \
		--clear-groups --inh-caps=-all $iqcn agent observe -j --count 3 p1 |
		jq .steps)" 3
	# with no capability but CAP_NET_ADMIN, like the service
	check_eq "CAP_NET_ADMIN" "$(in_ns sw setpriv --reuid 65534 --regid 65534 \
		--clear-groups --inh-caps=-all,+net_admin \
		--ambient-caps=-all,+net_admin --bounding-set=-all,+net_admin \
		--no-new-privs $iqcn agent run --action 0 -j --count 3 p1 |
		jq .actions[0])" 3
	# any user may run the agent in a namespace of its own, for a device of
	# its own
	check_eq "uid 65534 in a namespace of its own" "$(setpriv --reuid 65534 \
		--regid 65534 --clear-groups --inh-caps=-all unshare -Urn bash -c "
		ip link add d0 type dummy &&
		tc qdisc add dev d0 root iqcn notify supplement fiber 500km &&
		$iqcn agent run --action 0 -j --count 3 d0" | jq .steps)" 3
	rm $iqcn
}

# started SECONDS ARGUMENT...: start the agent in the background, set $agent to
# its PID, and wait for SECONDS; its output is in $TMP/out and $TMP/err
started()
{
	local s=$1
	shift

	# exec, so that the agent gets the signals, not a shell in between
	exec nsenter --net=/run/netns/sw "$BUILD/iqcn" agent "$@" \
		>"$TMP/out" 2>"$TMP/err" &
	agent=$!
	sleep "$s"
}

# ended STATUS [ERROR]: wait for the agent; check its exit status and its stderr
ended()
{
	wait "$agent"
	check "exit status" $? -eq "$1"
	check_eq "stderr" "$(<"$TMP/err")" "${2:+iqcn: $2}"
}

# The lowest rate, 7,500, stands for one CNP per round trip, here 5 ms. The
# other rates have proportionally shorter intervals.
test_actions()
{
	local a want=(5000000 3750000 3000000 2500000 2142857)

	box filter 3/4ms
	for a in 0 5 10 15 20 24; do
		started 0.05 run --action $a p1
		check_eq "action $a" "$(in_force)" "1/${want[a / 5]}"
		kill "$agent"
		ended 0
	done
	sleep 0.001
	check_eq "afterwards" "$(in_force)" 3/4000000
	# with a shorter fiber, and so a shorter round trip, the intervals
	# shrink in proportion
	params fiber 1km filter off
	started 0.05 run --action 20 p1
	check_eq "1 km" "$(in_force)" 1/4285
	kill "$agent"
	ended 0
	sleep 0.001
	check_eq "afterwards" "$(in_force)" 0/0
}

# With filter-by port, all flows share the filter, so its interval is divided by
# the number of active flows
test_by_port()
{
	local qp

	virtual_time || { skip "needs virtual time"; return; }
	topology bridge
	bottleneck 1gbit bandwidth 1gbit notify off kmin 20k kmax 50k limit 1m cnp-ttl 9
	for qp in 0x11 0x12 0x13 0x14; do
		pair_flow --qp $qp --psn $((qp * 1000))
	done
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn \
		notify supplement fiber 500km filter-by port
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 816kbit burst 2k limit 1g
	# flows are active while their packets arrive
	data --flows 4 --count 400 --interval 500 --len 926 --tos 2 &
	sleep 0.05
	check_eq "active flows" "$(stat flows_active)" 4
	started 0.05 run --action 0 p1
	check_eq "by port" "$(in_force)" 1/1250000
	kill "$agent"
	ended 0
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn filter-by flow
	started 0.05 run --action 0 p1
	check_eq "by flow" "$(in_force)" 1/5000000
	kill "$agent"
	ended 0
}

# slow_link: set up two paired flows, and a slow link
slow_link()
{
	topology bridge
	bottleneck 1gbit bandwidth 1gbit notify off kmin 20k kmax 50k limit 1m cnp-ttl 9
	pair_flow --qp 0x11 --psn 1000
	pair_flow --qp 0x12 --psn 2000
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn \
		notify supplement fiber 500km filter 2/4ms supplement 100
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 816kbit burst 2k limit 1g
}

# load: set up the same with a backlog that lasts
load()
{
	slow_link
	data --flows 2 --count 200 --len 926 --tos 2
}

# sent_in SECONDS: print how many supplements the box sends in that time
sent_in()
{
	local before

	before=$(stat cnp_supplement)
	sleep "$1"
	echo $(($(stat cnp_supplement) - before))
}

test_supplements()
{
	local a sent

	virtual_time || { skip "needs virtual time"; return; }
	load
	for a in 0 1 2 3 4; do
		started 0.02 run --action $a p1
		sent=$(sent_in 0.1)
		check "action $a" "$sent" -ge $((a * 50 * 98 / 100))
		check "action $a" "$sent" -le $((a * 50 * 102 / 100 + 1))
		kill "$agent"
		ended 0
	done
	# supplement-max limits the action
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn supplement-max 600
	started 0.02 run --action 4 p1
	check "the cap" "$(sent_in 0.1)" -le 62
	check_eq "filter" "$(in_force)" 1/5000000
	kill "$agent"
	ended 0
}

# Until the queue first exceeds Kmax, the guard adds supplements although the
# policy chooses none.  After a step in which the queue grew by more than half
# of its limit, all CNPs pass for 20 ms.
test_guard()
{
	local burst=(--flows 2 --len 926 --tos 2 --count)

	virtual_time || { skip "needs virtual time"; return; }
	slow_link
	tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn limit 500k
	policy 0
	started 0.1 run --policy "$POLICY" p1
	data "${burst[@]}" 100
	check "supplements of a step" "$(sent_in 0.02)" -ge 2
	check "supplements after it" "$(sent_in 0.1)" -eq 0
	check_eq "filter after a small burst" "$(in_force)" 1/5000000
	data "${burst[@]}" 300
	sleep 0.01
	check_eq "filter in a burst" "$(in_force)" 1/1
	check "supplements in a burst" "$(sent_in 0.05)" -eq 0
	check_eq "filter after a burst" "$(in_force)" 1/5000000
	kill "$agent"
	ended 0
	# a fixed action has no guard
	started 0.1 run --action 0 p1
	data "${burst[@]}" 300
	sleep 0.01
	check_eq "filter of a fixed action" "$(in_force)" 1/5000000
	kill "$agent"
	ended 0
}

# "observe" logs what the policy would do, and changes nothing
test_observe()
{
	box filter 3/4ms
	policy 7
	agent observe --policy "$POLICY" --count 5 --log "$TMP/log" p1 >"$TMP/out" ||
		fail "observe"
	check_eq "header" "$(head -n 1 "$TMP/log" | cut -d , -f 1-13)" \
		"step,time_ns,mode,action,explored,reward,utilization,depth_term,supplement_term,depth_bytes,incast,s0,s1"
	check_eq "columns" "$(awk -F, '{ print NF }' "$TMP/log" | sort -u)" 37
	check_eq "steps" "$(awk -F, 'NR > 1 { printf "%s %s %s %s ", $1, $3, $4, $5 }' "$TMP/log")" \
		"0 observe 7 0 1 observe 7 0 2 observe 7 0 3 observe 7 0 4 observe 7 0 "
	check_eq "in force" "$(in_force)" 3/4000000
	check_eq "leases" "$(stat leases)" 0
	check_eq "without a policy" "$(agent observe --count 2 -j p1 |
		jq -c '[.steps, (.actions | add)]')" "[2,0]"
	# steps are 1 ms apart
	virtual_time || return
	check_eq "interval" "$(awk -F, 'NR > 2 { print int(($2 - t) / 1000 + 0.5) }
		{ t = $2 }' "$TMP/log" | sort -u)" 1000
}

# Another program reads each step's row, and answers with an action
test_stdin()
{
	local i row rows=0 last=-1 from to pid

	box
	coproc AGENT { agent run --policy - --interval 2ms p1 2>"$TMP/err"; }
	# bash unsets the array when the agent ends
	from=${AGENT[0]} to=${AGENT[1]} pid=$AGENT_PID
	read -ru "$from" row
	check_eq "header" "${row%%,*}" step
	for i in 0 5 10 15 20; do
		read -rt 60 -u "$from" row || break
		# a step is skipped if the test is late
		check "row" "${row%%,*}" -gt $last
		last=${row%%,*}
		rows=$((rows + 1))
		echo $i >&"$to"
	done
	check "rows" $rows -eq 5
	read -rt 60 -u "$from" row
	check_eq "in force" "$(in_force)" 1/2142857
	exec {to}>&-
	wait "$pid"
	check "exit status" $? -eq 0
	check_eq "stderr" "$(<"$TMP/err")" ""
	check "lease" "$(stat leases)" -ge 5
	sleep 0.002
	check_eq "afterwards" "$(in_force)" 0/0
	for i in 25 -1 x "" 1234567890123456789; do
		echo "$i" | agent run --policy - p1 >"$TMP/out" 2>"$TMP/err"
		check "exit status of action \"$i\"" $? -eq 1
		check_eq "action \"$i\"" "$(<"$TMP/err")" \
			"iqcn: action on stdin: not a number from 0 to 24"
	done
	# the end of stdin, here within a line, is not an error
	echo -n 3 | agent run --policy - p1 >"$TMP/out" || fail "end of stdin"
	check "rows" "$(wc -l <"$TMP/out")" -eq 2
	# a signal ends the lease at once, even if the other program is silent,
	# and even in the middle of a line
	coproc AGENT {
		exec nsenter --net=/run/netns/sw "$BUILD/iqcn" agent run \
			--policy - --lease 10s p1 2>"$TMP/err"
	}
	from=${AGENT[0]} to=${AGENT[1]} pid=$AGENT_PID
	read -ru "$from" row
	read -rt 60 -u "$from" row
	echo 0 >&"$to"
	read -rt 60 -u "$from" row
	check_eq "in force" "$(in_force)" 1/5000000
	echo -n 1 >&"$to"
	sleep 0.01
	kill "$pid"
	wait "$pid"
	check "exit status" $? -eq 0
	sleep 0.002
	check_eq "after the signal" "$(in_force)" 0/0
}

# explored SEED: print the actions of 30 steps; "e" marks random ones
explored()
{
	agent run --policy "$POLICY" --explore 0.5 --seed "$1" --count 30 \
		--log "$TMP/log" p1 >/dev/null || fail "explore"
	awk -F, 'NR > 1 { printf "%s%s ", $4, $5 ? "e" : "" }' "$TMP/log"
}

test_explore()
{
	local one two

	box
	policy 7
	one=$(explored 1)
	two=$(explored 2)
	check_eq "the same seed" "$(explored 1)" "$one"
	[ "$one" != "$two" ] || fail "two seeds, the same actions: $one"
	check "drawn" "$(grep -o e <<<"$one" | wc -l)" -ge 8
	check "drawn" "$(grep -o e <<<"$one" | wc -l)" -le 22
	check_eq "by the policy" "$(tr ' ' '\n' <<<"$one" | grep -v e | sort -u | tr -d '\n')" 7
}

test_policy()
{
	box
	policy 13
	started 0.05 run --policy "$POLICY" p1
	check_eq "in force" "$(in_force)" 1/3000000
	# a fiber for which the policy was not trained
	params fiber 99km
	agent observe --policy "$POLICY" --count 1 p1 >/dev/null || fail "observe"
	ended 1 "p1: the policy was trained for fibers of 100000 m to 2000000 m"
	check_eq "values" "$(yes 0 | head -n 26 | paste -sd , |
		agent eval --policy "$POLICY")" \
		"0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0"
	echo 1,2 | agent eval --policy "$POLICY" >"$TMP/out" 2>"$TMP/err"
	check "exit status" $? -eq 1
	check_eq "stderr" "$(<"$TMP/err")" \
		"iqcn: state on stdin: not 26 comma-separated numbers"
	agent eval --policy "$POLICY" </ 2>"$TMP/err"
	check "exit status" $? -eq 1
	check_eq "stderr" "$(<"$TMP/err")" "iqcn: stdin: Is a directory"
}

# modes: print the modes in the log, in their order
modes()
{
	cut -d , -f 3 "$TMP/log" | tail -n +2 | uniq | paste -sd ' '
}

# After a second, the agent audits the policy: for another second, the values of
# tc apply. If their reward is higher than that of the policy in the seconds
# before and after the audit, they apply for 10 s. Their reward is higher here,
# because the policy's 2,000 supplements per second cost more than tc's 100.
test_fallback()
{
	local i

	virtual_time || { skip "needs virtual time"; return; }
	load
	# slow down the port, so that the queue does not get shorter
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 80kbit burst 2k limit 1g
	policy 4
	started 0.5 run --policy "$POLICY" --log "$TMP/log" \
		--metrics "$TMP/prom" p1
	check_eq "policy" "$(in_force)" 1/5000000
	sleep 1
	check_eq "audit" "$(in_force)" 2/4000000
	sleep 1
	check_eq "policy again" "$(in_force)" 1/5000000
	sleep 1.5
	check_eq "fallback" "$(in_force)" 2/4000000
	check_eq "message" "$(<"$TMP/err")" \
		"iqcn: p1: the policy is worse than the values of tc: fallback"
	check "fallbacks" "$(grep -c '^iqcn_agent_fallbacks_total.* 1$' "$TMP/prom")" -eq 1
	check "acting" "$(grep -c '^iqcn_agent_acting.* 0$' "$TMP/prom")" -eq 1
	# the fallback has lasted for at most 1.5 s
	for ((i = 0; i < 110; i++)); do
		[ "$(in_force)" != 1/5000000 ] || break
		sleep 0.1
	done
	check "tenths of a second of fallback" $i -ge 70
	check_eq "after 10 s" "$(in_force)" 1/5000000
	sleep 3.5
	check_eq "and again" "$(in_force)" 2/4000000
	kill "$agent"
	ended 0 "p1: the policy is worse than the values of tc: fallback
iqcn: p1: the policy is worse than the values of tc: fallback"
	check_eq "modes" "$(modes)" \
		"run audit run fallback run audit run fallback"
}

# The agent also falls back if packets are dropped in the seconds before and
# after the audit, but not in the audit. Here the policy has the higher reward,
# because it asks for no supplements, while the values of tc ask for 100.
test_fallback_drops()
{
	local bursts

	virtual_time || { skip "needs virtual time"; return; }
	policy
	for bursts in 1 2; do
		cleanup
		load
		started 0.5 run --policy "$POLICY" --log "$TMP/log" p1
		data --flows 2 --count 1200 --len 926 --tos 2
		check "drops before the audit" "$(stat drops)" -gt 100
		sleep 2
		[ $bursts = 1 ] || data --flows 2 --count 1200 --len 926 --tos 2
		sleep 1
		kill "$agent"
		if [ $bursts = 1 ]; then
			ended 0
			check_eq "modes" "$(modes)" "run audit run"
		else
			ended 0 "p1: the policy is worse than the values of tc: fallback"
			check_eq "modes" "$(modes)" "run audit run fallback"
		fi
	done
}

# On an idle link, the policy and the values of tc have the same reward, so the
# agent does not fall back after the audit
test_audit()
{
	virtual_time || { skip "needs virtual time"; return; }
	box
	policy 4
	started 5 run --policy "$POLICY" --log "$TMP/log" p1
	kill "$agent"
	ended 0
	check_eq "modes" "$(modes)" "run audit run"
}

# lose_queue: lease the queue as another program; check that the agent ends and
# leaves that lease in force
lose_queue()
{
	"$BUILD/genl" --netns sw lease \
		"$(ip -n sw -o link show p1 | cut -d : -f 1)" root 1000 filter 3 4000000
	sleep 0.01
	ended 1 "p1: another program has leased the queue"
	check_eq "the other lease stays" "$(in_force)" 3/4000000
}

test_other_lease()
{
	virtual_time || { skip "needs virtual time"; return; }
	box
	started 0.05 run --action 4 p1
	lose_queue
	cleanup
	# the same during an audit, when the values of tc apply
	box
	policy 4
	started 1.5 run --policy "$POLICY" p1
	check_eq "audit" "$(in_force)" 0/0
	lose_queue
}

# If the agent is killed, the values of tc apply again when the lease expires
test_killed()
{
	local dropped

	virtual_time || { skip "needs virtual time"; return; }
	load
	dropped=$(stat drop_overlimit)
	started 0.05 run --action 4 --lease 20ms p1
	check_eq "in force" "$(in_force)" 1/5000000
	kill -9 "$agent"
	wait "$agent" 2>/dev/null
	sleep 0.021
	check_eq "after the lease" "$(in_force)" 2/4000000
	check_eq "leases that have ended" "$(stat leases_ended)" 1
	check "supplements" "$(sent_in 0.1)" -le 11
	check "drops" "$(stat drop_overlimit)" -eq "$dropped"
}

# On a signal the agent ends its lease at once
test_ended()
{
	local s

	virtual_time || { skip "needs virtual time"; return; }
	load
	for s in TERM INT; do
		started 0.05 run --action 4 --lease 1s p1
		check_eq "in force" "$(in_force)" 1/5000000
		kill -$s "$agent"
		ended 0
		sleep 0.001
		check_eq "after SIG$s" "$(in_force)" 2/4000000
	done
	check_eq "leases that have ended" "$(stat leases_ended)" 2
	# a signal during a long interval: there is no row for a partial step
	started 0.05 observe --interval 10s --log "$TMP/log" p1
	kill "$agent"
	ended 0
	check_eq "rows" "$(wc -l <"$TMP/log")" 1
}

test_device_gone()
{
	box
	started 0.02 run --action 0 --metrics "$TMP/prom" p1
	ip -n sw link del p1
	ended 1 "p1: the queue is gone"
	check_eq "metrics" "$(grep ^iqcn_agent_acting "$TMP/prom")" \
		'iqcn_agent_acting{device="p1",parent="root"} 0'
	[[ $(<"$TMP/out") == "p1 root: "* ]] || fail "summary: $(<"$TMP/out")"
	cleanup
	box
	started 0.02 run --action 0 p1
	tc -n sw qdisc del dev p1 root
	ended 1 "p1: the queue is gone"
	cleanup
	box
	started 0.02 run --action 0 p1
	tc -n sw qdisc replace dev p1 root handle 20: pfifo limit 10
	ended 1 "p1: the queue is gone"
}

# If a new qdisc replaces the queue, the next step sets a lease on the new one
test_replaced()
{
	box
	started 0.02 run --action 0 --lease 10s p1
	check_eq "in force" "$(in_force)" 1/5000000
	tc -n sw qdisc replace dev p1 root handle 20: iqcn \
		notify supplement fiber 100km filter 7/1ms
	sleep 0.01
	check_eq "in force" "$(in_force)" 1/1000000
	check_eq "leases" "$(stat leases p1 20:)" 1
	kill "$agent"
	ended 0
	sleep 0.001
	check_eq "afterwards" "$(in_force)" 7/1000000
}

# The agent reads the parameters once a second, and when a lease is out of
# bounds
test_changed()
{
	local words

	box
	started 0.02 run --action 0 --lease 60ms p1
	params fiber 100km
	sleep 0.05
	check_eq "a shorter fiber" "$(in_force)" 1/1000000
	params fiber 1000km
	sleep 1.1
	check_eq "a longer fiber" "$(in_force)" 1/10000000
	# the lease in force is out of bounds when the agent ends it
	params fiber 200km
	kill "$agent"
	ended 0
	sleep 0.002
	check_eq "afterwards" "$(in_force)" 0/0
	# the guard's supplements may also be out of bounds: here when the agent
	# renews the lease, and further below when it ends the lease
	policy 0
	started 0.02 run --policy "$POLICY" p1
	params cnp-rate 1000 supplement 100
	sleep 1.3
	check_eq "running" "$(ps -o comm= -p "$agent")" iqcn
	kill "$agent"
	ended 0
	started 0.02 run --policy "$POLICY" p1
	params cnp-rate 500
	kill "$agent"
	ended 0
	sleep 0.002
	check_eq "afterwards" "$(in_force)" 0/0
	params cnp-rate 100000
	started 0.02 run --action 0 --lease 60ms p1
	params notify pi
	ended 1 "netlink family iqcn: a supplement rate needs notify supplement"
	for words in "notify pi" "fiber none"; do
		params notify supplement fiber 100km
		started 0.02 run --action 0 --lease 60s p1
		# shellcheck disable=SC2086
		params $words
		ended 1 "p1: the agent needs a queue with notify supplement and fiber, see tc-iqcn(8)"
		sleep 0.002
		check_eq "after \"$words\"" "$(in_force)" 0/0
	done
}

# The agent replaces the metrics file while it runs, and every user may read the
# file
test_metrics()
{
	local dir=$TMP/metrics

	box
	mkdir "$dir"
	started 1.2 run --action 3 --metrics "$dir/a.prom" p1
	check_eq "what is there" "$(ls -A "$dir")" a.prom
	check_eq "mode" "$(command stat -c %a "$dir/a.prom")" 644
	check_eq "acting" "$(grep ^iqcn_agent_acting "$dir/a.prom")" \
		'iqcn_agent_acting{device="p1",parent="root"} 1'
	check "steps" "$(sed -n 's/^iqcn_agent_steps_total{.*} //p' "$dir/a.prom")" \
		-ge 500
	kill "$agent"
	ended 0
	check_eq "acting" "$(grep ^iqcn_agent_acting "$dir/a.prom")" \
		'iqcn_agent_acting{device="p1",parent="root"} 0'
	check_eq "all steps" "$(sed -n 's/^iqcn_agent_steps_total{.*} //p' "$dir/a.prom")" \
		"$(sed -n 's/^iqcn_agent_actions_total{.*rate="7500",supplement="1500"} //p' "$dir/a.prom")"
	check_eq "actions" "$(grep -c ^iqcn_agent_actions_total "$dir/a.prom")" 25
	agent run --action 0 --count 1 --metrics "$dir/none/a.prom" p1 \
		>/dev/null 2>"$TMP/err"
	check "an agent that cannot write metrics" $? -eq 1
	check_eq "stderr" "$(<"$TMP/err")" \
		"iqcn: $dir/none/a.prom: No such file or directory
iqcn: metrics: none for a minute
iqcn: $dir/none/a.prom: No such file or directory"
}

test_summary()
{
	load
	agent run --action 2 --count 20 -j p1 >"$TMP/out" || fail "run"
	check_eq "keys" "$(jq -r 'keys_unsorted | join(" ")' "$TMP/out")" \
		"dev parent steps reward utilization depth_peak_bytes drops fallbacks actions"
	check_eq "values" "$(jq -c '[.dev, .parent, .steps, .drops, .fallbacks, .actions[2]]' "$TMP/out")" \
		'["p1","1:1",20,0,0,20]'
	jq -e '.reward > 0.2 and .reward <= 1 and .utilization >= 0 and
	       .depth_peak_bytes > 100000' "$TMP/out" >/dev/null ||
		fail "$(<"$TMP/out")"
	[[ $(agent run --action 2 --count 20 p1) =~ ^"p1 parent 1:1: 20 steps, reward 0."[0-9]+", utilization 0."[0-9]+", peak "[0-9]+kB", 0 drops, 0 fallbacks"$ ]] ||
		fail "summary in text"
}

test_valgrind()
{
	local args

	virtual_time || { skip "needs virtual time"; return; }
	box
	policy 3
	while read -r -a args; do
		in_ns sw valgrind -q --leak-check=full \
			--show-leak-kinds=definite,indirect \
			--error-exitcode=99 "$BUILD/iqcn" agent "${args[@]}" \
			</dev/null >/dev/null 2>"$TMP/err"
		[ $? != 99 ] && ! grep -q == "$TMP/err" ||
			fail "${args[*]}: $(head -n 20 "$TMP/err")"
	done <<-EOT
		run --policy $POLICY --count 3 --log $TMP/log --metrics $TMP/m p1
		run --policy - p1
		observe --count 3 -j
		eval --policy $POLICY
		eval --policy $0
		run --policy $POLICY p0
	EOT
}

run_tests
