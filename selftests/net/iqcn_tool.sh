#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iqcn(8) on real packets: its output matches tc, sysfs, debugfs and the netlink
# family; and its error messages.
#
# userspace/tests/ tests messages that this kernel does not send.

ALL_TESTS="
	test_help
	test_common_options
	test_other_namespace
	test_bad_words
	test_no_module
	test_old_module
	test_version
	test_agree
	test_show
	test_showconf
	test_showconf_names
	test_clear
	test_clear_files
	test_table
	test_filters
	test_addresses
	test_sort
	test_rate
	test_flush
	test_permission
	test_pipe
	test_memory
	test_names
	test_check
	test_check_problems
	test_check_versions
	test_completion
	test_valgrind
"
NIGHTLY_TESTS="
	test_common_options test_other_namespace test_old_module test_version
	test_showconf test_showconf_names test_clear_files test_addresses
	test_sort test_pipe test_memory test_names test_check_problems
	test_check_versions test_valgrind
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/lib-tool.sh
. "$(dirname "$0")/lib-tool.sh"

# tool [ARGUMENT...]: run iqcn in the namespace sw
tool()
{
	in_ns sw "$BUILD/iqcn" "$@"
}

# wants STATUS STDERR ARGUMENT...: check status and stderr; stdout must be empty
wants()
{
	only_error "$1" "$2" tool "${@:3}"
}

# unpaired FLOWS COUNT: send COUNT CE packets of FLOWS flows, without answers
unpaired()
{
	data --tos 3 --qp 0x1000 --flows "$1" --count "$2" --len 16
}

test_help()
{
	local out

	idle_box
	out=$(tool help)
	check "lines" "$(wc -l <<<"$out")" -le 24
	check "columns" "$(wc -L <<<"$out")" -le 80
	check_eq "--help" "$(tool --help)" "$out"
	tool >"$TMP/out" 2>"$TMP/err"
	check "exit status without arguments" $? -eq 2
	check_eq "usage" "$(<"$TMP/err")" "$out"
	check "columns on a narrow terminal" \
		"$(COLUMNS=40 tool help | wc -L)" -le 40
}

# Options of all commands, before and after the command
test_common_options()
{
	local c help

	idle_box
	iqcn
	help=$(tool help)
	for c in show showconf flows monitor top flush clear check agent metrics \
		 version help; do
		check_eq "$c -h" "$(tool $c -h)" "$help"
		check_eq "--help $c" "$(tool --help $c)" "$help"
		check_eq "$c --version" "$(tool $c --version)" "iqcn $(version)"
		check_eq "-V $c" "$(tool -V $c)" "iqcn $(version)"
	done
	for c in show showconf flows flush clear check version; do
		tool $c --json p0 2>/dev/null | jq -e . >/dev/null ||
			tool $c --json | jq -e . >/dev/null ||
			fail "$c --json is no JSON"
	done
	check_eq "--json version" "$(tool --json version)" "$(tool version -j)"
	wants 2 "iqcn: missing command after \"-j\", see \"iqcn help\"" -j
}

# -n works from any other namespace, but only before the command
test_other_namespace()
{
	local iqcn=$BUILD/iqcn see='see "iqcn help"'

	idle_box
	iqcn
	check_eq "show" "$("$iqcn" -n sw showconf)" "$(tool showconf)"
	check_eq "by path" "$("$iqcn" --netns /run/netns/sw -j showconf)" \
		"$(tool showconf -j)"
	"$iqcn" showconf >"$TMP/out" 2>&1
	check "exit status here" $? -eq 1
	check_eq "unknown name" "$("$iqcn" -n nowhere show 2>&1)" \
		"iqcn: nowhere: No such file or directory"
	check_eq "not a namespace" "$("$iqcn" -n /dev/null show 2>&1)" \
		"iqcn: /dev/null: Invalid argument"
	check_eq "no name" "$("$iqcn" -n 2>&1)" \
		"iqcn: missing argument after \"-n\", $see"
	check_eq "after the command" "$("$iqcn" show -n sw 2>&1)" \
		"iqcn: unknown option \"-n\", $see"
}

test_bad_words()
{
	local see='see "iqcn help"' c

	idle_box
	wants 2 "iqcn: unknown command \"look\", $see" look
	wants 2 "iqcn: unknown option \"-x\", $see" -x
	for c in show showconf flows flush clear check version; do
		wants 2 "iqcn: unknown option \"-x\", $see" $c -x
		wants 2 "iqcn: unknown option \"--bla\", $see" $c -j --bla
	done
	for c in show showconf flows; do
		wants 2 "iqcn: unexpected word \"b\", $see" $c a b
	done
	for c in check version; do
		wants 2 "iqcn: unexpected word \"a\", $see" $c a
	done
	for c in show showconf flows flush clear; do
		wants 1 "iqcn: nix: No such device" $c nix
	done
	wants 2 "iqcn: missing argument after \"--sort\", $see" flows --sort
	wants 2 "iqcn: the order must be cnps, rate or age, not \"name\", $see" flows --sort name
	for c in 0 -1 x 3x "" 99999999999999999999; do
		wants 2 "iqcn: the number must be at least 1, not \"$c\", $see" \
			flows --limit "$c"
	done
	for c in 0x 0x1000000 -1 ten; do
		wants 2 "iqcn: the QP must be 0 to 0xffffff, not \"$c\", $see" \
			flows --qp "$c"
	done
	wants 2 "iqcn: the address must be IPv4 or IPv6, not \"1.2.3\", $see" \
		flows --src 1.2.3
	wants 2 "iqcn: expected root or parent, not \"leaf\", $see" flush p1 leaf
	wants 2 "iqcn: missing argument after \"parent\", $see" flush p1 parent
	wants 2 "iqcn: invalid class \"1:x\", $see" flush p1 parent 1:x
	wants 2 "iqcn: unexpected word \"x\", $see" flush p1 root x
	iqcn
	wants 1 "iqcn: p0: no qdisc iqcn" flows p0
	wants 1 "iqcn: flush: No device with this ifindex has a qdisc iqcn" \
		flush p0
	wants 1 "iqcn: flush: The device has no qdisc iqcn with this parent" \
		flush p1 parent 1:1
}

no_module()
{
	cleanup
	rmmod sch_iqcn 2>/dev/null
	modprobe=$(sysctl -n kernel.modprobe)
	sysctl -qw kernel.modprobe=/bin/false
	idle_box
}

test_no_module()
{
	local why="module sch_iqcn: not loaded, and the kernel does not find it"
	local modprobe c

	no_module
	wants 1 "iqcn: $why" flows
	wants 1 "iqcn: $why" flush
	for c in show showconf clear; do
		wants 1 "iqcn: module not loaded: modprobe sch_iqcn, or add one: tc qdisc add dev DEV root iqcn" $c
	done
	check_eq "show" "$(tool show -j)" "[]"
	check_eq "showconf" "$(tool showconf -j)" "[]"
	check_eq "version" "$(tool version | grep -v ^q_)" \
		"iqcn $(version)
sch_iqcn not loaded
family none"
	check_eq "version -j" "$(tool version -j | jq -c '[.sch_iqcn, .family]')" \
		"[null,null]"
	tool check >"$TMP/out"
	check "check" $? -eq 1
	check_eq "failures" "$(grep ^fail "$TMP/out")" \
		"fail  module     sch_iqcn is not loaded: modprobe sch_iqcn, after make install and depmod
fail: 1 failed, 0 warnings"

	# "check" and "version" do not load the module either, but "flush" does
	sysctl -qw kernel.modprobe="$modprobe"
	tool check >/dev/null
	tool version >/dev/null
	[ ! -e /sys/module/sch_iqcn ] || fail "check loads the module"
	tool flush -j >/dev/null 2>&1 || fail "flush"
	tool flows -j >"$TMP/out" || fail "flows"
	check_eq "flows" "$(<"$TMP/out")" "[]"
	[ -e /sys/module/sch_iqcn ] || fail "flush does not load the module"
}

# A module without the netlink family and without a version
test_old_module()
{
	local modprobe

	no_module
	mount -t tmpfs none /sys/module
	mkdir /sys/module/sch_iqcn
	wants 1 "iqcn: module sch_iqcn: it is older than this tool, which needs netlink family iqcn" \
		flows
	check_eq "version" "$(tool version | grep ^sch_)" \
		"sch_iqcn has no version"
	tool check >"$TMP/out"
	check "check" $? -eq 1
	check_eq "failures" "$(grep ^fail "$TMP/out")" \
		"fail  module     sch_iqcn has no version, so it is older than this tool: install this version, then rmmod and modprobe it
fail  family     the module has no netlink family iqcn, which this tool needs: see module
fail: 2 failed, 0 warnings"
	umount /sys/module
	sysctl -qw kernel.modprobe="$modprobe"
}

# version: print the version in the sources
version()
{
	sed -n 's/^MODULE_VERSION("\(.*\)");/\1/p' "$TOP/kmod/qdisc.c"
}

test_version()
{
	idle_box
	iqcn
	check_eq "version of the module" "$(</sys/module/sch_iqcn/version)" \
		"$(version)"
	check_eq "version" "$(tool version)" "iqcn $(version)
q_iqcn $(version)
sch_iqcn $(version)
family 1"
	check_eq "JSON" "$(tool -j version)" \
		"{\"iqcn\":\"$(version)\",\"q_iqcn\":\"$(version)\",\"sch_iqcn\":\"$(version)\",\"family\":1}"
}

# traffic: create flows over IPv4 and IPv6, paired or not, with CNPs of the
# receiver and of the box, below a tbf and with a VLAN; wait until all traffic
# has ended
traffic()
{
	topology bridge vlan
	bottleneck 100mbit notify timer,pi t1 300us kmin 2000 kmax 4000 \
		qref 3000 limit 1m detect queue,depth
	np --time 200 --ack 1 --cnp 500
	data --tos 2 --flows 4 --count 400 --len 1024 --qp 0x20
	data -6 --tos 2 --flows 4 --count 100 --len 1024 --qp 0x40
	wait
	unpaired 3 30
	sleep 0.1
}

# decimal: convert hexadecimal words to decimal
decimal()
{
	local words i

	while read -ra words; do
		for i in "${!words[@]}"; do
			[[ ${words[i]} != 0x* ]] || words[i]=$((words[i]))
		done
		echo "${words[*]}"
	done
}

# debugfs_flows: print the columns of flows in debugfs, without ages
debugfs_flows()
{
	flows | awk '!/^#/ { print $1, $2, $3, $4, $5, $6, $7, $8, $9, $12,
		$13, $14, $15, $16, $18, $19, $20 }' | decimal | sort
}

json_flows()
{
	tool flows -j | jq -r '.[] | [.src, .dst, "\(.vid).\(.inner_vid)",
		.dest_qp, .src_qp // "-", .pair, .parent,
		(if .congested == [] then "clear" else "congested" end),
		.queued, .psn, .ce_sent, .cnp_seen, .cnp_sent, .state_reason,
		.run, (.ce_to_cnp_ns / 1000 | floor),
		(.cnp_interval_ns / 1000 | floor)] | map(tostring) |
		join(" ")' | sort
}

test_agree()
{
	local f

	traffic
	check "flows" "$(stat flows)" -eq 11
	check "generated CNPs" "$(stat cnp_sent)" -gt 10
	check "CNPs of the receiver" "$(stat cnp_seen)" -gt 10
	debugfs_flows >"$TMP/debugfs"
	json_flows >"$TMP/json"
	check "flows in debugfs" "$(wc -l <"$TMP/debugfs")" -eq 11
	check_eq "debugfs and flows -j" \
		"$(diff "$TMP/debugfs" "$TMP/json")" ""

	# flows of one device and of all; their sums
	tool flows p1 -j | jq -c 'map(del(.age_ns, .ce_age_ns, .state_age_ns,
		.cnp_seen_age_ns, .cnp_sent_age_ns))' >"$TMP/p1"
	tool flows -j | jq -c 'map(del(.age_ns, .ce_age_ns, .state_age_ns,
		.cnp_seen_age_ns, .cnp_sent_age_ns))' >"$TMP/all"
	check_eq "flows of p1 and of all" "$(cmp "$TMP/p1" "$TMP/all")" ""
	for f in ce_sent cnp_seen cnp_sent; do
		check "$f of tc" "$(stat $f)" -eq \
			"$(jq "map(.$f) | add" "$TMP/all")"
		check "$f of sysfs" "$(value $f)" -eq \
			"$(jq "map(.$f) | add" "$TMP/all")"
	done
	check_eq "ids" "$(jq -c 'map(.id) | sort' "$TMP/all")" \
		"$("$BUILD/genl" --netns sw dump 3 | sed -nE \
			's/.* 5=([0-9]+).*/\1/p' | sort -n | jq -sc .)"
	check_eq "show and tc" "$(tool show -j |
		jq -S '.[] | del(.state_since_ns, .dev, .port_cnp_smac)' >"$TMP/show"
		tc -n sw -s -j qdisc show dev p1 | jq -S '.[] |
		select(.kind == "iqcn") | del(.state_since_ns, .refcnt, .dev)' |
		diff - "$TMP/show")" ""
}

# shows ROW TEXT: check a row of the output of "iqcn show"
shows()
{
	check_eq "$1" "$(sed -n "s/^  $1 *//p" "$TMP/show")" "$2"
}

test_show()
{
	local sent seen packets

	idle_box
	modprobe sch_iqcn
	wants 1 "iqcn: p0: no iqcn qdisc, add one: tc qdisc add dev DEV root iqcn" \
		show p0
	wants 1 "iqcn: no iqcn qdisc in this namespace: add one: tc qdisc add dev DEV root iqcn" \
		show
	check_eq "JSON" "$(tool show -j; echo $?)" $'[]\n0'
	cleanup
	topology bridge
	iqcn limit 1000000 kmin 100000
	tool show >"$TMP/show"
	check_eq "place" "$(head -n 1 "$TMP/show")" \
		"p1 root handle 10: clear, notify timer"
	shows delay "no CE packet was measured"
	shows CNPs "0 sent, 0 from receivers"
	shows flows "0, 0 paired, 0 congested"
	cleanup

	traffic
	tool show p1 >"$TMP/show"
	sent=$(stat cnp_sent) seen=$(stat cnp_seen)
	packets=$(tc -n sw -s -j qdisc show dev p1 |
		jq '.[] | select(.kind == "iqcn").packets')
	shows CNPs "$sent sent, $seen from receivers"
	shows flows "11, 8 paired, 0 congested"
	check_eq "packets" "$(sed -n 's/^  sent *//p' "$TMP/show" |
		cut -d ' ' -f 1)" "$packets"
	check_eq "depth" "$(sed -n 's/^  depth *//p' "$TMP/show" |
		sed -E 's/peak [0-9.]+kB/peak N/')" \
		"0B, peak N, kmin 2.00kB, limit 1.05MB"
	check_eq "delay" "$(sed -n 's/^  delay *//p' "$TMP/show" |
		sed -E 's/[0-9.]+[um]?s/T/g')" \
		"average T, recently T, peak T"
	shows next 'the senders of some flows are not known: run "iqcn check"'
	# the numbers in detail, by name
	tool show -d >"$TMP/show"
	[[ $(<"$TMP/show") == *" cnp_sent $sent "* ]] || fail "no cnp_sent"
	[[ $(<"$TMP/show") == *" delay_samples "* ]] || fail "no delay_samples"
	[[ $(<"$TMP/show") == *" notify timer,pi "* ]] || fail "no notify"
	check "columns" "$(wc -L <"$TMP/show")" -le 80
	check "columns of 40" "$(COLUMNS=40 tool show | wc -L)" -le 40
	check "columns of 40, details" "$(COLUMNS=40 tool show -d |
		wc -L)" -le 40
}

# qdiscs: print all qdiscs, one per line; jq cannot do this, because tc's JSON
# is not valid with some device names
qdiscs()
{
	in_ns sw tc -d -j qdisc show | sed 's/,{"kind"/\n&/g' | sort
}

# restores: check that the commands of showconf restore the iqcn qdiscs
restores()
{
	local dev parent

	tool showconf >"$TMP/conf"
	qdiscs >"$TMP/before"
	check "qdiscs" "$(grep -c '"kind":"iqcn"' "$TMP/before")" -gt 0
	in_ns sw tc qdisc show | sed -En 's/^qdisc iqcn [^ ]+ dev (.*) (root|parent [0-9a-f:]+) .*/\1 \2/p' \
		>"$TMP/places"
	while read -r dev parent; do
		# shellcheck disable=SC2086
		tc -n sw qdisc del dev "$dev" $parent
	done <"$TMP/places"
	# warnings go to stderr
	in_ns sw bash -e "$TMP/conf" >"$TMP/out" 2>"$TMP/err" ||
		fail "$(<"$TMP/conf"): $(<"$TMP/err")"
	qdiscs >"$TMP/after"
	check_eq "$(<"$TMP/conf")" "$(diff "$TMP/before" "$TMP/after")" ""
	check_eq "showconf again" "$(tool showconf | diff - "$TMP/conf")" ""
}

# All parameters, with values that are not the defaults
EVERY="limit 1500001b kmin 100001b kmax 400003b pmax 0.123456789 mark-on enqueue
nonect drop notify timer,wreb,pi,grant,supplement detect queue,depth,run,span
t1 123456ns trigger period period 23456ns base both delay 12345ns ce-in silent
measure depth,gradient,delay profile 10001b:0.1,20003b:0.7 qref 123457b
update 54321ns alpha 12345 beta 123456 min-gap 34567ns telemetry on
window 765432ns enter 81% exit 41% pfc frames pfc-prio 3,4 threshold 50001b
settle 31001ns pfc-max 3000001ns base-rtt 12001ns grant equal supplement 701
supplement-max 1234 fiber 123456m filter 3/234567ns filter-by port
bandwidth 2500000001bit run 9 run-exit 3 span 77 span-enter 4 span-exit 15
sample 3 group 7 pair sport flows 12345 age 12345ms snoop netns cnp-dscp 47
cnp-pcp 5 cnp-ttl 33 cnp-smac receiver cnp-sport echo cnp-rate 12345 cnp-burst 77"

test_showconf()
{
	local words

	topology bridge
	# parameters that follow the link, directly or not, are not printed
	tc -n sw qdisc add dev p1 root handle 10: iqcn
	restores
	check_eq "defaults" "$(<"$TMP/conf")" \
		"tc qdisc add dev p1 root handle 10: iqcn"
	for words in "notify off" "kmin 100000" "kmax 200000" "limit 3000000" \
		     "t1 100us" "bandwidth 25gbit" "qref 1000 notify pi,timer" \
		     "profile 1000b:0.5,2000b:1" "delay auto" "cnp-rate 1000" \
		     "fiber 100km filter told" "filter 2/100us filter-by port" \
		     "supplement 700 supplement-max 800 fiber 1234m"; do
		tc -n sw qdisc del dev p1 root
		# shellcheck disable=SC2086
		tc -n sw qdisc add dev p1 root handle 20: iqcn $words
		restores
		check_eq "words of $words" "$(awk '{ print NF }' "$TMP/conf")" \
			$((9 + $(wc -w <<<"$words")))
	done
	tc -n sw qdisc del dev p1 root
	# shellcheck disable=SC2086
	tc -n sw qdisc add dev p1 root handle 10: iqcn $EVERY
	restores
	for words in $(sed -E 's/([^ ]+) [^ ]+ ?/\1 /g' <<<${EVERY//$'\n'/ }); do
		[[ $(<"$TMP/conf") == *" $words "* ]] || fail "no $words"
	done

	# below a shaper, and several queues with a common budget
	tc -n sw qdisc del dev p1 root
	tc -n sw -batch - <<-EOF
		qdisc add dev p0 root handle 1: tbf rate 100mbit burst 9k limit 1m
		qdisc add dev p0 parent 1:1 handle 10: iqcn
		qdisc add dev p1 root handle 1: prio
		qdisc add dev p1 parent 1:1 handle 11: iqcn bandwidth 1gbit
		qdisc add dev p1 parent 1:3 handle 13: iqcn notify timer
	EOF
	restores
	check_eq "below tbf" "$(grep 'dev p0' "$TMP/conf")" \
		"tc qdisc add dev p0 parent 1:1 handle 10: iqcn"
	check_eq "below prio" "$(grep 1:3 "$TMP/conf")" \
		"tc qdisc add dev p1 parent 1:3 handle 13: iqcn notify timer"
	# the budget follows from the sum of the rates of two shapers, and a
	# shaper below the lowest bandwidth, 1 Mbit/s, has no effect
	tc -n sw -batch - <<-EOF
		qdisc del dev p0 root
		qdisc add dev p0 root handle 1: tbf rate 999kbit burst 9k limit 1m
		qdisc add dev p0 parent 1:1 handle 10: iqcn
		qdisc del dev p1 root
		qdisc add dev p1 root handle 1: prio
		qdisc add dev p1 parent 1:1 handle 2: tbf rate 1gbit burst 9k limit 1m
		qdisc add dev p1 parent 1:2 handle 3: tbf rate 1gbit burst 9k limit 1m
		qdisc add dev p1 parent 2:1 handle 12: iqcn
		qdisc add dev p1 parent 3:1 handle 13: iqcn
	EOF
	restores
	check_eq "two shapers, and a slow one" \
		"$(grep -c 'handle 1[023]: iqcn$' "$TMP/conf")" 3
	tc -n sw -batch - <<-EOF
		qdisc del dev p0 root
		qdisc add dev p0 root handle 1: htb default 1
		class add dev p0 parent 1: classid 1:1 htb rate 100mbit
		qdisc add dev p0 parent 1:1 handle 10: iqcn
	EOF
	restores
	check_eq "one device" "$(tool showconf p0)" \
		"$(grep 'dev p0' "$TMP/conf")"
	check_eq "JSON" "$(tool showconf -j p1 | jq -r '.[].command')" \
		"$(grep 'dev p1' "$TMP/conf")"
}

# The name of a device is not run as a command
test_showconf_names()
{
	local name

	for name in "\$(id>oops)" "a'b" 'a\b' $'\e[7mx\x80' '-n'; do
		named "$name"
		(cd "$TMP" && restores)
		[ ! -e "$TMP/oops" ] || fail "showconf runs a device name"
		check_eq "printable" "$(LC_ALL=C grep '[^ -~]' "$TMP/conf")" ""
	done
}

test_clear()
{
	local sent

	topology bridge
	iqcn kmin 1000 kmax 2000
	pair_flow
	unpaired 2 20
	sent=$(stat packets)
	check "peak" "$(stat depth_peak_bytes)" -gt 0
	tool show >"$TMP/show"
	[ "$(grep -c '^  since' "$TMP/show")" = 0 ] || fail "since"
	check_eq "clear" "$(tool clear p0 2>&1)" \
		"iqcn: p0: no iqcn qdisc, add one: tc qdisc add dev DEV root iqcn"
	# a device that the module does not know, because it is not Ethernet
	tc -n sw qdisc add dev lo root iqcn
	check_eq "clear" "$(tool clear lo 2>&1)" \
		"iqcn: counters are cleared, peaks are not: not an Ethernet device, or gone"
	tc -n sw qdisc del dev lo root
	check_eq "clear" "$(tool clear)" "1 qdisc cleared"
	check "peak of the depth" "$(stat depth_peak_bytes)" -eq 0
	check "peak of the delay" "$(stat delay_peak_ns)" -eq 0
	# Prometheus needs counters that do not fall
	check "packets" "$(stat packets)" -eq "$sent"
	tool show >"$TMP/show"
	check "since" "$(grep -cE '^  since +[0-9.]+[mu]?s ago \(iqcn clear\)$' \
		"$TMP/show")" -eq 1
	[[ $(sed -n 's/^  sent *//p' "$TMP/show") == "0 packets, 0B,"* ]] ||
		fail "sent: $(grep sent "$TMP/show")"
	unpaired 1 3
	tool show >"$TMP/show"
	[[ $(sed -n 's/^  sent *//p' "$TMP/show") == "3 packets, "* ]] ||
		fail "sent: $(grep sent "$TMP/show")"
	tool show -a >"$TMP/show"
	check "totals" "$(sed -n 's/^  sent *\([0-9]*\) .*/\1/p' "$TMP/show")" \
		-eq $((sent + 3))
	check_eq "JSON has totals" "$(tool show -j | jq .[].packets)" \
		"$(stat packets)"
	# a qdisc that is created anew has no baseline
	tc -n sw qdisc del dev p1 root
	iqcn kmin 1000 kmax 2000
	check "since" "$(tool show | grep -c '^  since')" -eq 0
	# one queue of several
	tc -n sw qdisc del dev p1 root
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio
		qdisc add dev p1 parent 1:1 handle 11: iqcn
		qdisc add dev p1 parent 1:2 handle 12: iqcn
	EOF
	unpaired 2 20
	check_eq "a queue" "$(tool clear p1 parent 1:1 -j)" '{"cleared":1}'
	check "since" "$(tool show | grep -c '^  since')" -eq 1
	check_eq "another" "$(tool clear p1 parent 1:2)" "1 qdisc cleared"
	check "since" "$(tool show | grep -c '^  since')" -eq 2
}

# The file of "iqcn clear" is private, and a symlink in its place is not
# followed
test_clear_files()
{
	local dir=/run/iqcn file

	idle_box
	iqcn
	rm -rf $dir
	tool clear >/dev/null
	file=$(echo $dir/*)
	check_eq "file" "${file##*/}" \
		"clear-$(in_ns sw stat -Lc %i /proc/self/ns/net)"
	check_eq "modes" "$(command stat -c %a $dir $file | xargs)" "700 600"
	# a link to another file is replaced, not followed
	echo important >"$TMP/important"
	ln -sf "$TMP/important" "$file"
	check "since" "$(tool show | grep -c '^  since')" -eq 0
	tool clear >/dev/null
	check_eq "another file" "$(<"$TMP/important")" important
	[ ! -L "$file" ] || fail "the link is still there"
	# a damaged file
	head -c 3000 /dev/urandom >"$file"
	tool show >/dev/null || fail "show with a damaged file"
	# a directory that others may write to
	chmod 777 $dir
	tool clear >"$TMP/out" 2>"$TMP/err"
	check "exit status" $? -eq 1
	check_eq "message" "$(head -n 1 "$TMP/err")" \
		"iqcn: $dir: Operation not permitted"
	rm -rf $dir
	# $XDG_RUNTIME_DIR is used unless it belongs to another user
	mkdir -m 700 "$TMP/xdg"
	XDG_RUNTIME_DIR=$TMP/xdg tool clear >/dev/null
	[ -e "$TMP/xdg/iqcn/${file##*/}" ] || fail "no file in $TMP/xdg"
	chown 65534 "$TMP/xdg"
	XDG_RUNTIME_DIR=$TMP/xdg tool clear >/dev/null
	[ -e "$file" ] || fail "no file in $dir"
	# without the capability, this user's counters are cleared, but not the
	# peaks
	in_ns sw setpriv --bounding-set=-net_admin "$BUILD/iqcn" clear \
		>"$TMP/out" 2>"$TMP/err"
	check "exit status" $? -eq 1
	check_eq "message" "$(<"$TMP/err")" \
		"iqcn: counters are cleared, peaks are not: resetting peaks needs CAP_NET_ADMIN in the namespace's user namespace (try sudo)"
	rm -rf $dir
}

# The columns match the JSON, and as many are printed as fit
test_table()
{
	local w

	traffic
	tool flows | awk 'NR > 1 { gsub(/[()]/, ""); print $1, $2, $3, $4, $5,
		$6, $7, $8 }' | decimal >"$TMP/text"
	tool flows -j | jq -r '.[] | "\(.dev) \(.src) \(.dst) \(.dest_qp) \(.pair) \(if .congested == [] then "clear" else .state_reason end) \(.cnp_sent) \(.cnp_seen)"' \
		>"$TMP/json"
	check "lines" "$(wc -l <"$TMP/text")" -eq 11
	check_eq "text and JSON" "$(diff "$TMP/text" "$TMP/json")" ""
	check "no terminal, columns" "$(tool flows | head -n 1 | wc -L)" -eq 80

	# the width of the terminal; 80 if the terminal reports none
	mkdir -p /dev/pts
	mountpoint -q /dev/pts || mount -t devpts devpts /dev/pts
	for w in 0 10 80 100 300; do
		in_ns sw script -qec "stty cols $w; $BUILD/iqcn flows" \
			/dev/null </dev/null | tr -d '\r' >"$TMP/$w"
		check "lines at $w" "$(wc -l <"$TMP/$w")" -eq 12
		check "columns at $w" "$(head -n 1 "$TMP/$w" | wc -L)" -le \
			$((w ? w : 80))
	done
	check_eq "at width 0 as at 80" "$(cmp "$TMP/0" "$TMP/80")" ""
	check_eq "no terminal as at 80" "$(tool flows | cmp - "$TMP/80")" ""
	check_eq "columns at 300" "$(awk 'NR == 1 { print NF }' "$TMP/300")" 17
	check_eq "VLAN" "$(awk 'NR == 2 { print $14 }' "$TMP/300")" 100
	check_eq "parent" "$(awk 'NR == 2 { print $13 }' "$TMP/300")" 1:1
}

# A queue without congestion, and one that stays congested
test_filters()
{
	topology bridge
	iqcn detect depth kmin 1000 kmax 2000 pair psn
	pair_flow
	unpaired 4 4
	check "flows" "$(tool flows -j | jq length)" -eq 5
	check_eq "flows paired" "$(tool flows --paired -j |
		jq -c 'map([.dest_qp, .pair, .paired])')" '[[17,"psn",true]]'
	check "flows congested" "$(tool flows --congested -j | jq length)" -eq 0

	bottleneck 1mbit detect depth kmin 1000 kmax 2000
	data --tos 2 --flows 2 --count 60 --len 1024
	sleep 0.1
	check_eq "congested" "$(tool flows p1 --congested -j |
		jq -c 'map(.congested) | unique')" '[["depth"]]'
	check "flows" "$(tool flows --congested -j | jq length)" -eq \
		"$(stat flows_congested)"
	check "with both" "$(tool flows --congested --paired -j |
		jq length)" -eq 0
}

# Filters by address and QP
test_addresses()
{
	topology bridge
	iqcn
	pair_flow
	unpaired 3 3
	data -6 --tos 3 --qp 0x44 --count 1
	check "flows" "$(tool flows -j | jq length)" -eq 5
	check "from IPv4" "$(tool flows --src $SND4 -j | jq length)" -eq 4
	check "from IPv4 as a GID" \
		"$(tool flows --src ::ffff:$SND4 -j | jq length)" -eq 4
	check "to IPv6" "$(tool flows --dst "$rcv6" -j | jq length)" -eq 1
	check "to the sender" "$(tool flows --dst $SND4 -j | jq length)" -eq 0
	check_eq "to a QP" "$(tool flows --qp 0x44 -j |
		jq -c 'map(.dest_qp)')" "[68]"
	check_eq "from a QP" "$(tool flows --qp "$(tool flows --paired -j |
		jq .[].src_qp)" -j | jq -c 'map(.dest_qp)')" "[17]"
	check_eq "both, in text" "$(tool flows --qp 68 --src "$SND6" |
		awk 'NR > 1 { print $4 }')" 0x000044
	check "limit counts what is shown" \
		"$(tool flows --src $SND4 --limit 2 -j | jq length)" -eq 2
	check "sorted" "$(tool flows p1 --sort age --src $SND6 -j |
		jq length)" -eq 1
}

# Five flows, created one after the other, with more and more CE packets
test_sort()
{
	local qp

	topology bridge
	iqcn
	for qp in 1 2 3 4 5; do
		np --time 30 --ack 1
		data --tos 3 --qp $qp --count $((qp * 10)) --interval 200
		wait
		[ $qp = 3 ] || reply --type cnp --qp $((0x800000 + qp)) \
			--count $((qp % 3))
	done
	check_eq "by CNPs" "$(tool flows --sort cnps -j |
		jq -c 'map(.cnp_seen + .cnp_sent)')" '[2,2,1,1,0]'
	check_eq "by CNPs, then by id" "$(tool flows --sort cnps -j |
		jq -c 'map(.dest_qp)')" '[2,5,1,4,3]'
	check_eq "age" "$(tool flows --sort age -j | jq -c 'map(.dest_qp)')" \
		'[1,2,3,4,5]'
	check_eq "limit" "$(tool flows p1 --limit 2 --sort age -j |
		jq -c 'map(.dest_qp)')" '[1,2]'
	check_eq "limit in text" "$(tool flows --sort cnps --limit=3 |
		awk 'NR > 1 { print $4 }' | decimal | paste -sd ,)" 2,5,1
	check "limit, unsorted" "$(tool flows --limit 3 -j | jq length)" -eq 3
	check "limit above the number" \
		"$(tool flows --limit 30 -j | jq length)" -eq 5
	check_eq "ce_pps without --sort rate" \
		"$(tool flows --sort age -j | jq '.[0].ce_pps')" \
		null
}

# --sort rate measures CE packets per second while they arrive
test_rate()
{
	virtual_time || { skip "needs virtual time"; return; }
	topology bridge
	iqcn
	data --tos 3 --qp 1 --count 1500 --interval 1000 &
	data --tos 3 --qp 2 --count 7500 --interval 200 &
	data --tos 3 --qp 3 --count 10
	sleep 0.2
	check_eq "rates" "$(tool flows --sort rate --limit 2 -j |
		jq -c 'map([.dest_qp, (.ce_pps / 10 | round)])')" \
		'[[2,500],[1,100]]'
	wait
	check_eq "rates in the end" "$(tool flows --sort rate -j |
		jq -c 'map(.ce_pps) | add')" 0
}

test_flush()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio
		qdisc add dev p1 parent 1:1 iqcn notify timer
		qdisc add dev p1 parent 1:2 iqcn notify timer
		qdisc add dev p0 root iqcn notify timer
	EOF
	pair_flow
	unpaired 5 5
	check "flows" "$(tool flows -j | jq length)" -eq 6
	check_eq "another device" "$(tool flush p0)" "0 flows flushed"
	check_eq "another queue" "$(tool flush p1 parent 1:$((3 - $(
		tool flows --limit 1 -j | jq -r '.[0].parent[2:]'))))" \
		"0 flows flushed"
	check_eq "the queue" "$(tool flush p1 parent "$(
		tool flows --limit 1 -j | jq -r '.[0].parent')")" \
		"6 flows flushed"
	check "flows left" "$(value flows)" -eq 0
	unpaired 1 1
	check_eq "the device" "$(tool flush p1)" "1 flow flushed"
	unpaired 2 2
	check_eq "all, JSON" "$(tool flush -j)" '{"flushed":2}'
}

# denied WHAT COMMAND...: check that COMMAND is refused for root without
# CAP_NET_ADMIN and for another user; stdout must be empty
denied()
{
	local what=$1 who
	shift

	for who in --bounding-set=-net_admin \
		   "--bounding-set=-all --reuid 65534 --clear-groups"; do
		# shellcheck disable=SC2086
		in_ns sw setpriv $who "$BUILD/iqcn" "$@" >"$TMP/out" 2>"$TMP/err"
		check "exit status of \"$*\", $who" $? -eq 1
		check_eq "stderr of \"$*\", $who" "$(<"$TMP/err")" "iqcn: $what"
		check_eq "stdout of \"$*\", $who" "$(<"$TMP/out")" ""
	done
}

# QPs and PSNs help to forge packets, so reading flows needs privileges; reading
# ports and queues does not
test_permission()
{
	local why="needs CAP_NET_ADMIN in the namespace's user namespace" c

	topology bridge
	iqcn
	unpaired 2 2
	for c in flows "flows -j" "flows --sort rate"; do
		# shellcheck disable=SC2086
		denied "flows: reading flows $why (try sudo)" $c
	done
	denied "events: reading flows $why (try sudo, or --samples-only)" monitor
	denied "flush: flushing flows $why (try sudo)" flush
	check "flows" "$(stat flows)" -eq 2
	nobody()
	{
		in_ns sw setpriv --bounding-set=-all --reuid 65534 \
			--clear-groups "$BUILD/iqcn" "$@"
	}
	check_eq "queues" "$(nobody show -j | jq -c '.[] | del(.state_since_ns)')" \
		"$(tool show -j | jq -c '.[] | del(.state_since_ns)')"
	check_eq "samples" "$(nobody monitor -j --samples-only --count 1 |
		jq -c '[.type, .flows]')" '["sample",2]'
	check_eq "check" "$(nobody check)" "$(tool check)"
	nobody metrics >"$TMP/out" 2>"$TMP/err"
	check "exit status of metrics" $? -eq 0
	check_eq "stderr of metrics" "$(<"$TMP/err")" \
		"iqcn: no flows: reading flows $why (try sudo)"
	check "metrics of queues" "$(grep -c ^iqcn_queue "$TMP/out")" -gt 30
	check "metrics of flows" "$(grep -c ^iqcn_flow_ "$TMP/out")" -eq 0
	# root of a user's own namespace
	check "in its own namespace" "$(setpriv --reuid 65534 --clear-groups \
		unshare -Urn bash -c "ip link add d0 type dummy &&
		tc qdisc add dev d0 root iqcn && $BUILD/iqcn flows -j" |
		jq length)" -eq 0
}

# A closed pipe is no error; a full disk is
test_pipe()
{
	local status

	topology bridge
	iqcn
	unpaired 9000 9000
	check "flows" "$(tool flows | wc -l)" -eq 9001
	tool flows 2>"$TMP/err" | head -n 2 >"$TMP/out"
	status=${PIPESTATUS[0]}
	check "closed pipe" "$status" -eq 0
	tool flows -j 2>>"$TMP/err" | head -c 10 >/dev/null
	status=${PIPESTATUS[0]}
	check "closed pipe, JSON" "$status" -eq 0
	tool flows --sort age 2>>"$TMP/err" | true
	status=${PIPESTATUS[0]}
	check "closed pipe, sorted" "$status" -eq 0
	check_eq "stderr" "$(<"$TMP/err")" ""
	check "lines" "$(wc -l <"$TMP/out")" -eq 2
	tool flows 2>"$TMP/err" >/dev/full
	check "exit status, disk full" $? -eq 1
	check_eq "stderr, disk full" "$(<"$TMP/err")" \
		"iqcn: output: No space left on device"
	tool help 2>"$TMP/err" >/dev/full
	check "exit status of help, disk full" $? -eq 1
}

# Flows are kept in memory only to sort them, and with a limit only a few are
test_memory()
{
	topology bridge
	iqcn
	unpaired 20000 20000
	check "flows" "$(bash -c "ulimit -d 3000
		nsenter --net=/run/netns/sw $BUILD/iqcn flows" | wc -l)" \
		-eq 20001
	check "flows, limited" "$(bash -c "ulimit -d 3000
		nsenter --net=/run/netns/sw $BUILD/iqcn flows --sort age --limit 9" |
		wc -l)" -eq 10
	bash -c "ulimit -d 3000
		nsenter --net=/run/netns/sw $BUILD/iqcn flows --sort age" \
		>"$TMP/out" 2>&1
	check "exit status, sorted" $? -eq 1
	check_eq "sorted" "$(<"$TMP/out")" "iqcn: flows: Cannot allocate memory"
}

# named NAME: set up a box whose port p1 is renamed to NAME, with a flow
named()
{
	cleanup
	topology bridge
	ip -n sw link set p1 down
	ip -n sw link set p1 name "$1"
	ip -n sw link set "$1" up
	tc -n sw qdisc add dev "$1" root handle 10: iqcn
	wait_forwarding
	unpaired 1 1
}

# shown COMMAND...: check that the output is printable and names the device
# $text, and that the JSON is UTF-8 and names it $json
shown()
{
	tool "$@" >"$TMP/out" 2>&1 || fail "$*"
	! LC_ALL=C grep -q '[^ -~]' "$TMP/out" || fail "$* prints raw bytes"
	grep -qF -e "$text" "$TMP/out" || fail "$* does not print $text"
	[ "$1" != top ] || return
	tool "$@" -j >"$TMP/out" || fail "$* -j"
	iconv -f utf-8 -t utf-8 "$TMP/out" >/dev/null ||
		fail "$* -j is not UTF-8"
	grep -qF -e "$json" "$TMP/out" || fail "$* -j does not print $json"
}

# names NAME TEXT JSON: check that commands print the name of a device as TEXT,
# and as JSON with -j
names()
{
	local name=$1 text=$2 json=$3

	named "$name"
	shown show
	shown show "$name"
	shown flows
	shown flows "$name"
	shown monitor --samples-only --count 1
	shown top --batch --count 1 "$name"
	tool show "$name/" 2>"$TMP/err"
	check_eq "stderr" "$(<"$TMP/err")" "iqcn: $text/: No such device"
}

# The kernel accepts nearly any device name
test_names()
{
	names 'a"b\c$(d)' 'a"b\\c$(d)' 'a\"b\\\\c$(d)'
	names $'\e[7mx\x80\x7f' '\x1b[7mx\x80\x7f' '\u001b[7mx\\x80\\x7f'
	names $'gr\xc3\xb6' 'gr\xc3\xb6' $'gr\xc3\xb6'
}

# verdict WANTED: check the verdict of "iqcn check", its exit status, and that
# its JSON matches
verdict()
{
	local rc wanted=0

	[ "$1" != fail ] || wanted=1
	tool check >"$TMP/check"
	rc=$?
	check "exit status of check" $rc -eq $wanted
	check_eq "verdict" "$(tail -n 1 "$TMP/check" | cut -d : -f 1)" "$1"
	tool check -j >"$TMP/check.json"
	check "exit status of check -j" $? -eq $rc
	check_eq "text and JSON" "$(head -n -1 "$TMP/check")" \
		"$(jq -r '.items[] | def pad(n): . + " " * (n - length);
		(.state | pad(4)) + "  " + (.item | pad(9)) + "  " +
		(if .place then .place + ": " else "" end) + .text +
		(if .fix then ": " + .fix else "" end)' "$TMP/check.json")"
	check_eq "verdict in JSON" "$(jq -r .verdict "$TMP/check.json")" "$1"
	check "failures" "$(jq .failed "$TMP/check.json")" -eq \
		"$(grep -c '^fail ' "$TMP/check")"
	check "warnings" "$(jq .warnings "$TMP/check.json")" -eq \
		"$(grep -c '^warn ' "$TMP/check")"
}

# says STATE ITEM TEXT: check a line of the output of verdict(); TEXT is a
# pattern
says()
{
	grep -q "^$1 *$2 *.*$3.*" "$TMP/check" ||
		fail "no $1 of $2: $(grep " $2 " "$TMP/check")"
}

test_check()
{
	idle_box
	modprobe sch_iqcn
	verdict warn
	says warn qdiscs "none in this network namespace: tc qdisc add"
	cleanup
	topology bridge
	iqcn
	pair_flow
	reply --type cnp --qp 0x800011 --count 2
	verdict ok
	check_eq "items" "$(awk '{ print $1, $2 }' "$TMP/check" | paste -sd ,)" \
		"ok kernel,ok plugin,ok module,ok family,ok qdiscs,ok place,ok bandwidth,ok limit,ok drain,ok pfc,ok strays,ok ECT,ok pairing,ok CNPs,ok room,ok: 0"
	says ok ECT "p1 root: 0 packets marked, 4 arrived with CE"
	says ok pairing "p1 root: 1 of 1 flows"
	says ok CNPs "p1 root: 2 from receivers, 0 from this box"
	unpaired 1 1
	verdict warn
	says warn pairing "p1 root: 1 of 2 flows are not paired"
}

test_check_problems()
{
	topology bridge
	bottleneck 10mbit kmin 1000 kmax 2000 mark-on enqueue limit 20k \
		notify pi qref 1500 detect queue,depth
	data --tos 0 --count 40 --len 1024
	verdict fail
	says fail ECT "p1 1:1: $(stat not_ect) packets should have been marked, but none is ECT: have the senders"
	says warn room "$(stat drop_overlimit) packets were dropped"
	reply --type cnp --count 3
	reply --type cnp --bad tver --count 2
	sleep 0.1
	bottleneck 1mbit kmin 1000 kmax 2000 limit 1m notify timer \
		detect depth flows 2 t1 10us
	data --tos 2 --flows 5 --count 60 --len 1024
	sleep 0.1
	# two runs find the same if nothing arrives or leaves
	ip -n sw link set p0 down
	in_ns sw sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 1mbit burst 500 limit 1g
	verdict fail
	says warn ECT "are not ECT, $(($(stat ecn_mark) + $(stat ce_in))) are CE"
	says fail pairing "none of 2 flows is paired"
	says warn CNPs "congested, but neither receivers nor this box ever sent one: see pairing"
	says warn room "flows were evicted"
	says warn strays "p1: $(value cnp_unmatched) CNPs belong to no flow"
	says warn strays "p1: $(value malformed) packets look like RoCEv2"
	cleanup
	topology bridge
	# a budget of one CNP
	bottleneck 10mbit bandwidth 10mbit kmin 1000 kmax 2000 limit 1m \
		notify timer detect queue,depth t1 10us cnp-rate 1 cnp-burst 1
	np --time 60 --ack 1
	data --tos 3 --count 50 --interval 800 --len 1024
	wait
	sleep 0.3
	verdict warn
	says warn CNPs "$(stat cnp_budget) were due but over the port's budget"
}

test_check_versions()
{
	idle_box
	iqcn
	verdict ok
	LD_BIND_NOW=1 verdict ok
	TC_LIB_DIR=$TMP/none
	verdict fail
	says fail plugin "no $TMP/none/q_iqcn.so, tc does not know iqcn"
	mkdir "$TMP/plugin"
	TC_LIB_DIR=$TMP/plugin
	echo "no library" >"$TMP/plugin/q_iqcn.so"
	verdict fail
	says fail plugin "tc cannot load it: it is not a shared library for"
	check_eq "version" "$(tool version | grep ^q_)" "q_iqcn does not load"
	echo 'const char iqcn_plugin_version[] = "9.9";' |
		gcc -shared -fPIC -o "$TMP/plugin/q_iqcn.so" -xc -
	verdict fail
	says fail plugin "tc cannot load it: it has no symbol iqcn_qdisc_util"
	# a plugin that can be loaded only into tc
	gcc -shared -fPIC -fno-plt -Wl,-z,now -o "$TMP/plugin/q_iqcn.so" -xc - <<-EOF
		const char iqcn_plugin_version[] = "9.9";
		int addattr_l(void);
		int (*iqcn_qdisc_util)(void) = addattr_l;
		int call(void) { return addattr_l(); }
	EOF
	verdict warn
	says warn plugin "q_iqcn.so is 9.9, this tool $(version)"
	check_eq "version" "$(tool version | grep ^q_)" "q_iqcn 9.9"
	echo 'int iqcn_qdisc_util;' |
		gcc -shared -fPIC -o "$TMP/plugin/q_iqcn.so" -xc -
	verdict warn
	says warn plugin "q_iqcn.so is older, this tool $(version)"
	TC_LIB_DIR=$BUILD
	echo 9.8 >"$TMP/version"
	mount --bind "$TMP/version" /sys/module/sch_iqcn/version
	verdict warn
	says warn module "sch_iqcn is 9.8, this tool $(version)"
	umount /sys/module/sch_iqcn/version
}

# completes WORDS WANTED...: check the completion with the cursor behind the
# last of the comma-separated WORDS
completes()
{
	local COMP_WORDS COMP_CWORD COMPREPLY

	IFS=, read -ra COMP_WORDS <<<"iqcn,$1"
	[[ $1 != *, && -n $1 ]] || COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_iqcn
	check_eq "completion of \"$1\"" "${COMPREPLY[*]}" "${*:2}"
}

test_completion()
{
	# shellcheck source=userspace/iqcn.bash
	. "$TOP/userspace/iqcn.bash"
	cd "$TMP" || return
	ip link add d0 type dummy
	ip link add 'd$(id>oops)' type dummy
	ip link add e0 type dummy
	tc qdisc add dev d0 root iqcn
	tc qdisc add dev 'd$(id>oops)' root iqcn
	completes "" show showconf flows monitor top flush clear check agent \
		metrics version help -j -n
	ip netns add fabric
	completes "-n,fa" fabric
	completes "-n,fabric,fl" flows flush
	ip netns delete fabric
	completes "fl" flows flush
	completes "flows,--so" --sort
	completes "flows,--sort," cnps rate age
	completes "flows,--limit,"
	completes "show," --details --absolute -j 'd\$\(id\>oops\)' d0
	completes "flows,--sort,rate,d" 'd\$\(id\>oops\)' d0
	completes "flows,d0," --congested --paired --src --dst --qp --sort \
		--limit -j
	completes "flows,--qp,"
	completes "flows,--src,10.0.0.1,d" 'd\$\(id\>oops\)' d0
	completes "showconf,d0," -j
	completes "clear,d0," root parent -j
	completes "monitor,d0," --interval --count --events-only \
		--samples-only -j
	completes "monitor,--interval,"
	completes "monitor,--interval,1ms,d" 'd\$\(id\>oops\)' d0
	completes "top,--sort," cnps rate age
	completes "top,--count,3,d0," --interval --sort --batch --count
	completes "flush,d0," root parent -j
	completes "flush,d0,root," -j
	completes "check," -j
	completes "metrics,--fl" --flows
	completes "agent," run observe eval --policy --action --interval \
		--reward --count --log --metrics -j --lease --explore --seed
	completes "agent,run,d" 'd\$\(id\>oops\)' d0
	completes "agent,run,--reward," few literal
	completes "agent,run,--lease,"
	completes "agent,run,--lease,10ms,d" 'd\$\(id\>oops\)' d0
	completes "agent,observe,d0,r" root
	completes "agent,run,d0,root,--l" --log --lease
	completes "agent,observe,d0,root,--l" --log
	completes "agent,eval," --policy
	completes "help,"
	[ ! -e oops ] || fail "completion runs a device name"
	# the completed commands are exactly those of "help"
	check_eq "commands" "$("$BUILD/iqcn" help |
		sed -nE 's/^  ([a-z]+).*/\1/p' | paste -sd ' ')" \
		"$(COMP_WORDS=(iqcn "") COMP_CWORD=1
		   _iqcn; echo "${COMPREPLY[*]}" | sed 's/ -[a-z]//g')"
	ip link del d0
	ip link del 'd$(id>oops)'
	ip link del e0
}

test_valgrind()
{
	local args

	traffic
	while read -r -a args; do
		in_ns sw valgrind -q --leak-check=full \
			--show-leak-kinds=definite,indirect \
			--error-exitcode=99 "$BUILD/iqcn" "${args[@]}" \
			>/dev/null 2>"$TMP/err"
		[ $? != 99 ] && ! grep -q == "$TMP/err" ||
			fail "${args[*]}: $(head -n 20 "$TMP/err")"
	done <<-EOF
		show
		show -d
		show -j
		showconf
		showconf -j
		clear
		show p1
		clear p1 parent 1:1 -j
		flows
		flows --qp 0x20 --sort rate
		flows p1 -j --sort rate --limit 2
		flows --limit 3
		check
		check -j
		version -j
		metrics
		metrics --flows 1 --openmetrics -o $TMP/iqcn.prom
		flush p1 parent 1:1
		flows p0
	EOF
}

run_tests
