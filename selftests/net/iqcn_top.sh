#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iqcn top, in a terminal (of tmux) and in batch mode: its values are correct,
# its keys work, and it leaves the terminal as it was.

ALL_TESTS="
	test_words
	test_batch
	test_permission
	test_rates
	test_causes
	test_bar
	test_queues
	test_sort
	test_keys
	test_scroll
	test_addresses
	test_resize
	test_terminals
	test_ends
	test_unload
	test_flow_ids
	test_valgrind
	test_cpu
"
NIGHTLY_TESTS="
	test_permission test_causes test_bar test_sort test_scroll
	test_addresses test_resize test_terminals test_ends test_unload test_flow_ids
	test_valgrind test_cpu
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/lib-tool.sh
. "$(dirname "$0")/lib-tool.sh"

# counters are read twice, and must not change in between
quiet_hosts

export LC_ALL=C.UTF-8
IQCN=$BUILD/iqcn

# top [ARGUMENT...]: run iqcn top in the namespace sw
top()
{
	in_ns sw "$IQCN" top "$@"
}

tmux()
{
	command tmux -S "$TMP/tmux" -f "$TMP/tmux.conf" "$@"
}

# terminal COLUMNS ROWS [TERM]: start a terminal with a shell
terminal()
{
	mkdir -p /dev/pts
	mountpoint -q /dev/pts || mount -t devpts devpts /dev/pts
	echo "set -g default-terminal ${3:-screen}" >"$TMP/tmux.conf"
	in_ns sw tmux -S "$TMP/tmux" -f "$TMP/tmux.conf" new-session -d \
		-x "$1" -y "$2" "PS1='$ ' exec bash --norc --noprofile"
	until_there '^\$$'
}

no_terminal()
{
	tmux kill-server 2>/dev/null
	sleep 0.05
}

# say WORDS: type a line; keys KEY...: press keys
say()
{
	tmux send-keys -l "$*"
	tmux send-keys Enter
}

keys()
{
	tmux send-keys "$@"
	sleep 0.05
}

capture()
{
	tmux capture-pane -p "$@"
}

# look REGEX: return whether the terminal matches. ^ at the beginning and $ at
# the end of REGEX match those of a line. bash does the match, because starting
# another process is slow in User Mode Linux.
look()
{
	local re=$1

	screen=$'\n'$(capture)$'\n'
	[[ $re != ^* ]] || re=$'\n'${re#^}
	[[ $re != *[^\\]$ ]] || re=${re%$}$'\n'
	[[ $screen =~ $re ]]
}

not_there()
{
	fail "not in the terminal: \"$1\""
	echo "${screen//$'\n'/$'\n#     |'}"
}

there()
{
	look "$1" || not_there "$1"
}

# until_there REGEX: wait until the terminal matches
until_there()
{
	local i

	for i in $(seq 60); do
		! look "$1" || return
		sleep 0.05
	done
	not_there "$1"
}

# wants STATUS STDERR ARGUMENT...: check status and stderr; stdout must be empty
wants()
{
	only_error "$1" "$2" top "${@:3}"
}

test_words()
{
	local see='see "iqcn help"'

	# timers are coarse until the first tick
	sleep 0.1
	topology bridge
	iqcn
	wants 2 "iqcn: unknown option \"--fast\", $see" --fast
	wants 2 "iqcn: unexpected word \"p1\", $see" p0 p1
	wants 1 "iqcn: nix: No such device" nix
	wants 2 "iqcn: the order must be cnps, rate or age, not \"name\", $see" --sort name
	wants 2 "iqcn: the interval must be 1ms to 3600s, not \"0\", $see" \
		--interval 0
	wants 2 "iqcn: the number must be at least 1, not \"0\", $see" --count 0
	wants 2 "iqcn: top has no JSON output, use monitor \"-j\", $see" -j
	wants 1 "iqcn: top: this is not a terminal: try \"iqcn monitor\" or \"iqcn top --batch\""
	top --batch | head -n 1 >"$TMP/out"
	check_eq "exit status with a closed pipe" "${PIPESTATUS[*]}" "0 0"
}

# Without traffic, the second sample has rates of 0
test_batch()
{
	topology bridge
	bottleneck 100mbit kmin 4000 kmax 8000 pair cm
	pair_flow
	data --flows 3 --tos 3 --count 30 --interval 10 --len 16
	sleep 0.1
	top --batch --interval 10ms --count 2 >"$TMP/out"
	check "exit status" $? -eq 0
	check "columns" "$(wc -L <"$TMP/out")" -le 80
	check "samples" "$(grep -c '^iqcn top' "$TMP/out")" -eq 2
	tail -n 14 "$TMP/out" >"$TMP/second"
	sed -n 2p "$TMP/second" >"$TMP/sums"
	check_eq "sums" "$(<"$TMP/sums")" \
		"ports 1  queues 1, 0 congested  flows 3, 0 paired, 0 congested, $(stat flows_active) active"
	check_eq "rates" "$(sed -n 3,5p "$TMP/second" |
		grep -oE ' [0-9-]+' | sort -u)" " 0"
	check_eq "the queue" "$(awk '$1 == "p1" { print $1, $2, $3, $4; exit }' \
		"$TMP/second")" "p1 1:1 clear 0"
	check_eq "flows" "$(awk '$1 == "p1" && $2 != "1:1" { print $1, $2, $3, $4, $7 }' \
		"$TMP/second")" "$(in_ns sw "$IQCN" flows -j | jq -r '.[] |
		"\(.dev) \(.src) \(.dst) \(.dest_qp) clear"' |
		while read -r a b c d e; do
			printf '%s %s %s 0x%06x %s\n' $a $b $c $d $e
		done)"
}

# Without permission to read flows, a line replaces them
test_permission()
{
	topology bridge
	iqcn
	pair_flow
	in_ns sw setpriv --bounding-set=-net_admin "$IQCN" top --batch \
		--interval 10ms --count 2 >"$TMP/out" 2>"$TMP/err"
	check "exit status" $? -eq 0
	check_eq "stderr" "$(<"$TMP/err")" ""
	check "columns" "$(wc -L <"$TMP/out")" -le 80
	check "samples" "$(grep -c '^p1 .*root' "$TMP/out")" -eq 2
	check "lines instead of flows" "$(grep -c "^reading flows needs CAP_NET_ADMIN in the namespace's user namespace (try sudo)$" "$TMP/out")" -eq 2
	check "flows" "$(grep -c 0x000011 "$TMP/out")" -eq 0
	terminal 80 24
	say "setpriv --bounding-set=-net_admin $IQCN top --interval 50ms"
	until_there '^reading flows needs CAP_NET_ADMIN'
	there '^p1 '
	keys s
	there 'sorted by CE rate'
	keys Down Down q
	until_there '^\$$'
	no_terminal
}

# Rates are those of the interval between two samples
test_rates()
{
	virtual_time || { skip "needs virtual time"; return; }
	topology bridge
	iqcn
	np --time 700 --ack 1 --cnp 1900
	data --tos 3 --qp 1 --count 3000 --interval 200 --len 1000 &
	data --tos 3 --qp 2 --count 600 --interval 1000 --len 1000 &
	sleep 0.1
	top --batch --interval 200ms --count 2 | tail -n 13 >"$TMP/out"
	# 1,058 bytes each; neighbor discovery may add a few packets
	check_eq "sums" "$(sed -n '3s/packets.s 60../packets/p' "$TMP/out")" \
		"bit/s 50.8M  packets  CE/s 6000  drops/s 0"
	check_eq "receivers' CNPs" "$(sed -n 5p "$TMP/out" |
		grep -oE 'receivers [0-9]+')" "receivers 1000"
	check_eq "the queue" "$(awk '$1 == "p1" && !n++ {
		print $(NF - 3), $(NF - 2), $(NF - 1), $NF }' "$TMP/out")" \
		"50.8M 6000 0 2"
	check_eq "flows" "$(awk '/^DEV *SRC/ { n = 1; next }
		n && NF { print $4, $5, $6 }' "$TMP/out" | sort)" \
		"0x000001 500 5000
0x000002 500 1000"
	wait
}

# causes: print the causes of generated CNPs
causes()
{
	top --batch --count 1 | sed -n 's/^CNPs.s sent .*for: //p' |
		grep -oE '[a-z]+' | paste -sd ' '
}

# Causes of optional methods appear with their first CNP
test_causes()
{
	topology bridge
	bottleneck 100mbit bandwidth 1gbit kmin 20k kmax 50k limit 1m \
		notify supplement supplement 1000
	pair_flow
	check_eq "before" "$(causes)" "timer wreb pi poll drop"
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 816kbit burst 2k limit 1g
	data --count 80 --len 926 --tos 2
	sleep 0.1
	check "supplements" "$(stat cnp_supplement)" -ge 1
	check_eq "after" "$(causes)" "timer wreb pi poll drop supplement"
}

# The bar shows the depth of a queue that does not drain
test_bar()
{
	local depth limits want n=0

	topology bridge
	bottleneck 1kbit limit 100m kmin 10m kmax 20m
	data --type udp --tos 0 --count 60
	depth=$(stat backlog)
	check "backlog" "$depth" -gt 50000
	while IFS=: read -r limits want; do
		n=$((n + 1))
		# shellcheck disable=SC2086
		set -- $limits
		tc -n sw qdisc change dev p1 parent 1:1 handle 10: iqcn \
			kmin $((depth * $1 / 12)) kmax $((depth * $2 / 12)) \
			limit $((depth * $3 / 12))
		check_eq "bar $n" "$(top --batch --count 1 |
			grep -oE '\[.*\]' | tail -n 1)" "$want"
	done <<-EOF
		1200 2400 3600:[#     |     |            ]
		24 48 96:[###   |     |            ]
		13 48 96:[##### |     |            ]
		6 18 96:[######|##   |            ]
		3 6 18:[######|#####|#####       ]
		1 2 12:[######|#####|############]
		0 1 12:[######|#####|############]
		12 12 24:[######|#####|            ]
	EOF
	check_eq "depth" "$(top --batch --count 1 | awk '$1 == "p1" { print $4 }')" \
		"$(awk -v d="$depth" 'BEGIN { printf "%.1fk", d / 1000 }')"
}

# With many queues, the screen shows the deepest ones and how many are left out
test_queues()
{
	local i

	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio bands 16 priomap 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3
		$(for i in $(seq 16); do
			printf 'qdisc add dev p1 parent 1:%x iqcn notify timer\n' $i
		done)
		qdisc add dev p0 root handle 10: iqcn notify timer
		qdisc replace dev p1 parent 1:4 handle 4: tbf rate 1kbit burst 9k limit 1g
		qdisc add dev p1 parent 4:1 iqcn notify timer
	EOF
	data --type udp --tos 0 --count 40
	check "queues of all devices" "$(top --batch --count 1 |
		grep -c '\[.*\]')" -eq 17
	check "queues of one device" "$(top --batch --count 1 p0 |
		grep -c '\[.*\]')" -eq 1
	terminal 80 24
	say "$IQCN top"
	until_there '^and 11 more'
	check_eq "the deepest" "$(capture | awk '/^DEV *PARENT/ { getline; print $2 }')" \
		"4:1"
	keys q
	no_terminal
}

# Of two flows, one gets more CNPs, the other one has more CE packets
test_sort()
{
	local order want

	topology bridge
	iqcn
	np --time 300 --ack 1
	data --tos 3 --qp 1 --count 8 --interval 100 --len 64
	data --tos 3 --qp 2 --count 4 --interval 100 --len 64
	reply --type cnp --qp 0x800002 --count 6 --interval 100
	reply --type cnp --qp 0x800001 --count 3 --interval 100
	for order in "" "--sort cnps" "--sort rate" "--sort age"; do
		want=0x000001
		[[ $order == *[er] || $order == *age ]] || want=0x000002
		# shellcheck disable=SC2086
		check_eq "first flow, $order" "$(top --batch --count 1 $order |
			awk '/^DEV *SRC/ { getline; print $4 }')" $want
	done
	wait
}

test_keys()
{
	topology bridge
	iqcn
	tc -n sw qdisc replace dev p0 root handle 10: iqcn notify timer
	pair_flow
	terminal 80 24
	say "$IQCN top --interval 50ms"
	until_there 'all devices  every 50.0ms  sorted by CNPs'
	there '^q quit'
	keys s
	there 'sorted by CE rate'
	keys s
	there 'sorted by age'
	keys s
	there 'sorted by CNPs'
	keys Tab
	there ' p0  every'
	there '^ports 1  queues 1,'
	keys Right
	there ' p1  every'
	there '^p1 .* 0x000011'
	keys Tab
	there 'all devices'
	there '^ports 2  queues 2,'
	keys Left
	there ' p1  every'
	keys BTab
	there ' p0  every'
	check_eq "flows on p0" "$(capture | grep -c 0x000011)" 0
	keys BTab
	keys p
	there PAUSED
	check_eq "paused screen" "$(capture)" "$(sleep 1; capture)"
	keys Space
	check_eq "paused after Space" "$(capture | grep -c PAUSED)" 0
	keys h
	there '^q  .*quit'
	keys q
	there 'all devices'
	keys '?'
	there '^q  .*quit'
	keys x
	# this key has no function
	keys x
	keys C-l
	there 'all devices'
	keys q
	until_there '^\$$'
	say 'echo "status $?"'
	until_there '^status 0'
	no_terminal
}

test_scroll()
{
	topology bridge
	iqcn
	# each flow has a different age
	data --tos 3 --flows 60 --count 60 --interval 10 --len 16
	terminal 80 24
	say "$IQCN top --sort age --interval 50ms"
	until_there 0x00001d
	first()
	{
		capture | awk '/^DEV *SRC/ { getline; print $4 }'
	}
	check_eq "first flow" "$(first)" 0x000011
	check "flows on the screen" "$(capture | grep -c 0x0000)" -eq 13
	keys Down Down
	check_eq "two down" "$(first)" 0x000013
	there 'from flow 3'
	keys Up
	check_eq "one up" "$(first)" 0x000012
	keys NPage
	check_eq "a page down" "$(first)" 0x00001f
	keys NPage NPage NPage NPage NPage NPage
	check_eq "the end" "$(first)" 0x000040
	keys PPage
	check_eq "a page up" "$(first)" 0x000033
	keys Home
	check_eq "the beginning" "$(first)" 0x000011
	keys NPage s
	check_eq "after a change of the order" "$(first)" 0x000011
	keys q
	no_terminal
}

# IPv6 addresses are cut if the terminal is narrow
test_addresses()
{
	topology bridge
	iqcn
	pair_flow -6
	top --batch --count 1 >"$TMP/out"
	check_eq "short" "$(awk '/^DEV *SRC/ { getline; print $2, $3 }' \
		"$TMP/out")" "fd01::1 fd01::2"
	packets snd/e0 $SND_MAC $snd_dmac 0 0 \
		fd01:1234:5678:9abc:def0:1234:5678:9abc fd01::2 -6 --tos 3 \
		--qp 0x99 --count 3
	check_eq "long address" "$(top --batch --count 1 |
		awk '$4 == "0x000099" { print $2 }')" "fd01:1234:5678:~"
	terminal 140 24
	say "$IQCN top"
	until_there ' fd01:1234:5678:9abc:def0:1234:5678:9abc '
	keys q
	no_terminal
}

test_resize()
{
	topology bridge
	iqcn
	data --tos 3 --flows 60 --count 60 --interval 10 --len 16
	terminal 80 24
	say "$IQCN top --interval 50ms"
	until_there 0x000011
	check "columns" "$(capture | wc -L)" -eq 80
	tmux resize-window -x 120 -y 40
	until_there 'DROP/S'
	check "columns" "$(capture | wc -L)" -gt 100
	check "rows of flows" "$(capture | grep -c 0x0000)" -eq 29
	check "bar" "$(capture | grep -oE '\[.*\]' | wc -L)" -eq 60
	tmux resize-window -x 59 -y 30
	until_there 'Terminal too small'
	there '59x30, needs 60x14'
	check "lines" "$(capture | grep -c .)" -eq 2
	# keys are ignored
	keys s Tab Down h
	tmux resize-window -x 70 -y 13
	until_there '70x13, needs 60x14'
	tmux resize-window -x 5 -y 2
	until_there '^5x2'
	tmux resize-window -x 60 -y 14
	until_there '^q  .*quit'
	keys x
	there '^DEV'
	there '^q quit'
	check "columns" "$(capture | wc -L)" -le 60
	keys q
	until_there '^\$$'
	# a terminal that is too small from the start
	tmux resize-window -x 40 -y 10
	say "$IQCN top"
	until_there 'Terminal too small'
	keys q
	until_there '^\$$'
	no_terminal
}

test_terminals()
{
	local term

	topology bridge
	bottleneck 1kbit limit 200k kmin 10000 kmax 20000
	data --type udp --tos 0 --count 60
	for term in vt100 linux xterm-256color; do
		terminal 80 24 $term
		say "$IQCN top"
		until_there '^p1 .*\[######\|#####\|#'
		case $term in
		vt100) check "colors" "$(capture -e |
			grep -cE $'\e\\[([0-9;]*;)?4[0-9]m#')" -eq 0 ;;
		*) check "colors" "$(capture -e |
			grep -cE $'\e\\[([0-9;]*;)?4[0-9]m#')" -eq 1 ;;
		esac
		keys q
		until_there '^\$$'
		no_terminal
	done
	terminal 80 24
	say "TERM=nix $IQCN top"
	until_there '^iqcn: unknown terminal type \(TERM\): nix'
	say "unset TERM; $IQCN top"
	until_there '^iqcn: unknown terminal type \(TERM\): not set'
	no_terminal
}

# However top ends, it restores the terminal
test_ends()
{
	local how

	topology bridge
	iqcn
	terminal 80 24
	say 'before=$(stty -g)'
	for how in q C-c TERM HUP INT; do
		say 'clear'
		say "$IQCN top"
		until_there '^iqcn top'
		check "alternate" "$(tmux display -p '#{alternate_on}')" \
			-eq 1
		check "cursor" "$(tmux display -p '#{cursor_flag}')" -eq 0
		case $how in
		[A-Z][A-Z]*) pkill -$how -f "$IQCN top" ;;
		*) keys $how ;;
		esac
		until_there '^\$$'
		say 'echo "status $?"; [ "$(stty -g)" = "$before" ] && echo the same'
		until_there '^status 0'
		there '^the same'
		check "alternate" "$(tmux display -p '#{alternate_on}')" \
			-eq 0
		check "cursor" "$(tmux display -p '#{cursor_flag}')" -eq 1
	done
	# stop and continue
	say 'clear'
	say "$IQCN top"
	until_there '^iqcn top'
	keys C-z
	until_there 'Stopped'
	check "alternate" "$(tmux display -p '#{alternate_on}')" -eq 0
	say 'clear; fg'
	until_there '^iqcn top'
	# the terminal is closed
	no_terminal
	sleep 0.2
	check "processes left" "$(pgrep -cf "$IQCN top")" -eq 0
}

test_unload()
{
	topology bridge
	iqcn
	terminal 80 24
	say "$IQCN top --interval 50ms"
	until_there '^p1 '
	tc -n sw qdisc del dev p1 root
	until_there '^no qdisc iqcn'
	rmmod sch_iqcn
	until_there '^iqcn: module sch_iqcn: it has been unloaded'
	say 'echo "status $?"'
	until_there '^status 1'
	no_terminal
}

# A flow that reuses the id of a removed flow does not inherit its rate
test_flow_ids()
{
	virtual_time || { skip "needs virtual time"; return; }
	topology bridge
	iqcn
	data --tos 3 --qp 1 --count 1000 --interval 10 --len 16
	top --batch --interval 200ms --count 2 >"$TMP/out" &
	sleep 0.12
	in_ns sw "$IQCN" flush >"$TMP/flush"
	data --tos 3 --qp 2 --count 1001 --interval 10 --len 16
	wait
	check_eq "flush" "$(<"$TMP/flush")" "1 flow flushed"
	# 1001 packets since the flow was created 0.1 s ago, which is one more
	# than the removed flow had in the previous sample
	check_eq "CE/s" "$(awk '$4 == "0x000002" { print $6 }' "$TMP/out" |
		sed 's/^1[0-9]\.[0-9]k$/ten thousand/')" "ten thousand"
}

test_valgrind()
{
	topology bridge
	bottleneck 100mbit kmin 4000 kmax 8000
	pair_flow
	data --tos 3 --flows 80 --count 200 --interval 50 --len 64 &
	in_ns sw valgrind -q --error-exitcode=99 --leak-check=full \
		"$IQCN" top --batch --interval 10ms --count 5 >"$TMP/out" \
		2>"$TMP/err"
	check "exit status of valgrind" $? -eq 0
	check_eq "output of valgrind" "$(<"$TMP/err")" ""
	check "samples" "$(grep -c '^iqcn top' "$TMP/out")" -eq 5
	wait
	terminal 80 24
	say "valgrind -q --error-exitcode=99 $IQCN top --interval 50ms; echo status \$?"
	until_there 0x000011
	keys s
	keys Tab
	tmux resize-window -x 140 -y 50
	until_there 'DROP/S'
	keys h
	keys x
	keys Down
	keys q
	until_there '^status 0'
	check "lines of valgrind" "$(capture | grep -c ==)" -eq 0
	no_terminal
}

# With 2,048 flows and a sample per second, top uses less than 5 % of a CPU
test_cpu()
{
	local ms

	if virtual_time; then
		skip "needs the machine's clock"
		return
	fi
	topology bridge
	iqcn flows 4096
	data --tos 3 --flows 2048 --count 4096 --interval 0 --len 16
	check "flows" "$(stat flows)" -eq 2048
	terminal 100 40
	say "TIMEFORMAT='cpu %3U %3S'; time $IQCN top --count 20"
	sleep 18
	until_there '^cpu '
	ms=$(capture | sed -nE 's/^cpu ([0-9.]+) ([0-9.]+)$/(\1+\2)*1000/p' |
		bc | cut -d . -f 1)
	note "$ms ms in 19 s: $((ms * 100 / 19)) thousandths of a percent"
	check "ms of CPU in 19 s" "$ms" -lt 950
	no_terminal
}

run_tests
