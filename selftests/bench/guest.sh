#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measure the cost of packets on the machine on which this runs: a kernel of the
# lab, or any other (see bench.sh).
#
#   guest.sh [-n ROUNDS] [-p PACKETS] [-q QDISC,...] [-m FLOWS] CASE...
#
#   -n ROUNDS	number of rounds; each measures everything once (default 7)
#   -p PACKETS	packets of a measurement (default 20000)
#   -q QDISC,...	only these qdiscs, by their names below
#   -m FLOWS	maximum number of flows (default 1000000)
#
#   CASE	uncongested, marked, hook, deadline, inject, memory, agent, cpus
#
# Prints, besides other output, the lines
#
#   = CASE PACKET QDISC FLOWS NS		cost of a packet (or of a flow,
#						a step, a softirq) in one round
#   # CASE NAME VALUE UNIT			any other value
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
BUILD=$TOP/build${IQCN_LAB:+/$IQCN_LAB}
export TC_LIB_DIR=$TOP/build
rounds=7 packets=20000 only="" devices=()

# Each qdisc has a variant for a short queue, and one for a queue of 224 to 288
# packets of 1 KB in which it marks every packet, if it can be configured so.
# Limits in the same unit are equal.
#
# iqcn has the default controller, which decides about each packet.  The depth
# of the queue is at the reference, so the controller causes some CNPs, and T1
# causes others.  nocnp does the same work but sends no CNPs: the gains of its
# controller are minimal, and T1 does not expire.  With many flows nocnp does
# less work than iqcn, because no flow is silent for T1.  The variant "timer"
# moves a deadline for each packet; T1 does not expire there, either.
#
# NAME; SHORT QUEUE; STANDING QUEUE.  dualpi2 may be missing in a kernel.
MARKED="kmin 0 kmax 0 pmax 1 bandwidth 100gbit flows 1048576 age 3600s"
FAR="target 1s interval 2s ce_threshold 1us"
QDISCS="
bfifo;		bfifo limit 64m;	bfifo limit 64m
pfifo;		pfifo limit 60000;	pfifo limit 60000
red;		red limit 64m min 1m max 3m avpkt 64k burst 30 bandwidth 10gbit ecn;	red limit 64m min 1000 max 2001 avpkt 500 burst 4 bandwidth 10gbit probability 1 ecn
codel;		codel limit 60000 ecn;	codel limit 60000 ecn $FAR
fq_codel;	fq_codel limit 60000 memory_limit 64m ecn;	fq_codel limit 60000 memory_limit 64m ecn $FAR
fq;		fq limit 60000 flow_limit 60000 nopacing;	fq limit 60000 flow_limit 60000 nopacing ce_threshold 1us
cake;		cake unlimited memlimit 64m;	cake unlimited memlimit 64m
dualpi2;	dualpi2 limit 60000;	dualpi2 limit 60000 step_thresh 1us
iqcn;		iqcn limit 64m;		iqcn limit 64m $MARKED qref 270k
nocnp;		iqcn limit 64m;		iqcn limit 64m $MARKED qref 270k t1 1s alpha 1 beta 1
timer;		iqcn limit 64m notify timer;	iqcn limit 64m $MARKED notify timer t1 1s
off;		iqcn limit 64m notify off;	iqcn limit 64m $MARKED notify off
frames;		iqcn limit 64m pfc frames;	iqcn limit 64m $MARKED qref 270k pfc frames
grant;		iqcn limit 64m notify grant base-rtt 10us bandwidth 100gbit;	iqcn limit 64m $MARKED notify grant base-rtt 10us min-gap 1s
"

die()
{
	echo "bench: $*" >&2
	exit 1
}

# value CASE NAME VALUE UNIT
value()
{
	echo "# $*"
}

# device NAME TC-QDISC: create a dummy device with a qdisc below a prio, because
# packets could bypass a root qdisc
device()
{
	devices+=("$1")
	ip link add "$1" up mtu 9000 type dummy || die "cannot create $1"
	# keep packets of the stack out of the measurement
	sysctl -qw "net.ipv6.conf.$1.disable_ipv6=1" 2>/dev/null
	[ -n "$2" ] || return 0
	tc qdisc add dev "$1" root handle 1: prio bands 2 \
		priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 || die "cannot add prio"
	# $2 is a list of words
	# shellcheck disable=SC2086
	tc qdisc add dev "$1" parent 1:1 handle 10: $2
}

devices_gone()
{
	local dev

	for dev in "${devices[@]}"; do
		ip link del "$dev" 2>/dev/null
	done
	devices=()
}

# blast DEVICE WORDS: run a blast; sets $ns, the cost of a packet
blast()
{
	local error refused

	if ! echo "blast $*" 2>/dev/null >/proc/net/rocehost/ctl; then
		read -r error </proc/net/rocehost/ctl
		die "\"blast $*\": $error"
	fi
	{
		read -r _
		IFS=, read -r _ _ _ _ _ _ _ refused _ ns
	} </proc/net/rocehost/blast
	[ "$refused" = 0 ] || die "\"blast $*\": $refused packets refused"
}

# qdiscs: print the selected qdiscs, one per line: NAME;SHORT;STANDING
qdiscs()
{
	printf '%s\n' "$QDISCS" | tr -s '\t' | sed 's/;\t*/;/g' |
		grep -E "^(${only:-[a-z0-9_]+});"
}

# each COLUMN [FUNCTION]: create a device b-NAME for each selected qdisc, by
# FUNCTION (default: device), with the parameters in that column of $QDISCS: 2
# for a short queue, 3 for a standing one.  Sets $names.
each()
{
	local line name

	names=()
	while read -r line; do
		name=${line%%;*}
		if ${2:-device} "b-$name" "$(cut -d ';' -f "$1" <<<"$line")" 2>/run/error; then
			names+=("$name")
		elif [ "$name" != dualpi2 ]; then
			die "$name: $(cat /run/error)"
		fi
	done <<<"$(qdiscs)"
}

# measure CASE PACKET FLOWS WORDS: print a line for each of $names in each
# round, after a run that warms up qdiscs and caches
measure()
{
	local case=$1 packet=$2 flows=$3 name round ns
	shift 3

	for name in "${names[@]}"; do
		blast "b-$name" flows "$flows" mtu 1024 "$@" \
			packets $((flows > 2000 ? 2 * flows : 4000))
	done
	for ((round = 0; round < rounds; round++)); do
		for name in "${names[@]}"; do
			blast "b-$name" flows "$flows" mtu 1024 known "$@" \
				packets "$packets"
			echo "= $case $packet $name $flows $ns"
		done
	done
}

case_uncongested()
{
	local packet

	for packet in roce udp tcp; do
		each 2
		# blast needs a word for packets other than RoCEv2
		# shellcheck disable=SC2046
		measure uncongested $packet 100 depth 0 \
			$([ $packet = roce ] || echo $packet)
		devices_gone
	done
}

# counted QDISC: print the number of packets, marks and CNPs
counted()
{
	tc -s -j qdisc show dev "b-$1" | jq -r '.[] | select(.handle == "10:") |
		[.packets, ([.ecn_mark, .ce_mark, .marked] | add // 0), .cnp_sent // 0] |
		@tsv'
}

case_marked()
{
	local flows name sent marked cnps

	for flows in 1 100 10000 1000000; do
		[ "$flows" -le "$most" ] || continue
		each 3
		measure marked roce $flows depth 224
		for name in "${names[@]}"; do
			read -r sent marked cnps <<<"$(counted "$name")"
			value marked "$name-$flows-marked" \
				"$((marked * 1000 / sent))" permille
			value marked "$name-$flows-cnps" \
				"$((cnps * 1000 / sent))" permille
		done
		devices_gone
	done
}

# Measure the same received packets on devices with and without a hook.  The
# flows of the CNPs and ACKs are known and paired.
case_hook()
{
	local packet

	for packet in udp tcp ack cnp; do
		device b-none ""
		device b-iqcn "iqcn limit 64m $MARKED qref 270k" || die "cannot add iqcn"
		blast b-iqcn flows 100 mtu 1024 depth 224 packets 4000
		names=(none iqcn)
		measure hook $packet 100 known in $packet
		devices_gone
	done
}

# First measure CE packets that each move the deadline of their flow, while the
# timer does not expire.  Then measure deadlines that expire together: a scan
# once per second processes them, in softirq context.
case_deadline()
{
	local flows round

	for flows in 100 10000; do
		device b-bfifo "bfifo limit 64m"
		device b-timer "iqcn limit 64m notify timer base ce t1 1s
			bandwidth 100gbit flows 1048576 age 3600s" || die "cannot add iqcn"
		names=(bfifo timer)
		measure deadline ce $flows depth 0 ect 3
		devices_gone
	done
	for flows in 1 1000 100000; do
		[ "$flows" -le "$most" ] || continue
		for ((round = 0; round < rounds; round++)); do
			due_together "$flows"
		done
	done
}

# due_together FLOWS: measure the length of timer softirqs when a CNP is due for
# each flow, and the cost of a CNP
due_together()
{
	local trace=/sys/kernel/tracing flows=$1 sent="" event n

	mountpoint -q $trace || mount -t tracefs tracefs $trace
	echo mono >$trace/trace_clock
	echo 16384 >$trace/buffer_size_kb
	device b-timer "iqcn limit 64m notify timer base ce trigger period
		t1 1s period 1s detect run run 2 run-exit 0 window 100ms
		bandwidth 100gbit cnp-rate 1000000000 cnp-burst 1000000
		flows 1048576 age 3600s" || die "cannot add iqcn"
	# create and pair the flows; then send CE packets between two scans
	blast b-timer flows "$flows" mtu 256 depth 0 ect 3 packets "$flows"
	sleep "$(awk '{ printf "%.2f", 1.03 - $1 % 1 }' /proc/uptime)"
	blast b-timer flows "$flows" mtu 256 depth 0 ect 3 known \
		packets $((3 * flows))
	# vec 8: soft hrtimers, which include the qdisc's
	for event in irq/softirq_entry irq/softirq_exit; do
		echo "vec == 8" >$trace/events/$event/filter
		echo 1 >$trace/events/$event/enable
	done
	echo >$trace/trace
	# the timer backs off after 100 ms in which no packet leaves
	for ((n = 0; n < 50; n++)); do
		blast b-timer flows 1 udp mtu 256 depth 0 packets 1
		sleep 0.05
	done
	for event in irq/softirq_entry irq/softirq_exit; do
		echo 0 >$trace/events/$event/enable
	done
	sent=$(counted timer | cut -f 3)
	[ "$sent" = "$flows" ] || die "$sent CNPs for $flows flows"
	# CPU and time; the task's name may contain spaces
	sed -nE 's/.* \[([0-9]+)\] .* ([0-9.]+): softirq_(entry|exit): .*/\1 \2 \3/p' \
		$trace/trace | awk '
		$3 == "entry" { at[$1] = $2 }
		$3 == "exit" && at[$1] {
			printf "%.0f\n", ($2 - at[$1]) * 1e9
			at[$1] = 0
		}' | sort -n >/run/runs
	awk -v flows="$flows" '
		{ ns[NR] = $1; sum += $1 }
		END {
			f = "= %s %s iqcn " flows " %d\n"
			printf f, "deadline", "softirq-longest", ns[NR]
			printf f, "deadline", "softirq-p99", ns[int((NR - 1) * 0.99) + 1]
			printf f, "deadline", "softirq-median", ns[int((NR - 1) / 2) + 1]
			printf f, "inject", "cnp", sum / flows
		}' /run/runs
	devices_gone
}

# device_of_cpus NAME TC-QDISC: create a device with mq, and two queues with the
# qdisc
device_of_cpus()
{
	local i

	devices+=("$1")
	ip link add "$1" up mtu 9000 numtxqueues 2 type dummy &&
		tc qdisc add dev "$1" root handle 1: mq || die "cannot add mq to $1"
	sysctl -qw "net.ipv6.conf.$1.disable_ipv6=1" 2>/dev/null
	for i in 1 2; do
		# $2 is a list of words
		# shellcheck disable=SC2086
		tc qdisc add dev "$1" parent 1:$i handle ${i}0: $2 || return
	done
}

# at_once CPUS DEVICE WORDS: run a blast on each CPU, through a queue of its
# own; sets $ns, the cost of a packet on the slowest CPU
at_once()
{
	local cpus=$1 dev=$2 i pids=()
	shift 2

	for ((i = 0; i < cpus; i++)); do
		# shellcheck disable=SC2016
		taskset -c "$i" bash -c 'echo "$*" >/proc/net/rocehost/ctl' - \
			"blast $dev queue $i $*" &
		pids+=($!)
	done
	for ((i = 0; i < cpus; i++)); do
		wait "${pids[i]}" || die "blast $dev queue $i $*: failed"
	done
	ns=$(awk -F , -v cpus="$cpus" '
		NR > 1 && $2 < cpus { refused += $8 }
		NR > 1 && $2 < cpus && $10 > ns { ns = $10 }
		END { if (!refused) print ns }' /proc/net/rocehost/blast)
	[ -n "$ns" ] || die "$dev: packets refused"
}

# Run the same blast on one CPU, and on two CPUs with a queue each
case_cpus()
{
	local name round cpus words="flows 100 mtu 1024 depth 224"

	each 3 device_of_cpus
	for name in "${names[@]}"; do
		# $words is a list of words
		# shellcheck disable=SC2086
		at_once 2 "b-$name" $words packets 4000
	done
	for ((round = 0; round < rounds; round++)); do
		for name in "${names[@]}"; do
			for cpus in 1 2; do
				# shellcheck disable=SC2086
				at_once $cpus "b-$name" $words known \
					packets $((5 * packets))
				echo "= cpus $cpus $name 100 $ns"
			done
		done
	done
	devices_gone
}

# used STEPS: run the agent; sets $us, its CPU time, which includes sleep and
# wakeup
used()
{
	local TIMEFORMAT="%3U %3S" user system

	{ time "$TOP/build/iqcn" agent run --count "$1" \
		--policy "$TOP/contrib/agent/long-haul.policy" b-iqcn \
		>/run/agent 2>&1; } 2>/run/time || die "$(cat /run/agent)"
	read -r user system </run/time
	us=$(((10#${user/./} + 10#${system/./}) * 1000))
}

# Measure the CPU time of a step of iqcn agent
case_agent()
{
	local few us round

	device b-iqcn "iqcn notify supplement fiber 100km bandwidth 10gbit" ||
		die "cannot add iqcn"
	for ((round = 0; round < rounds; round++)); do
		used 10
		few=$us
		used 10010
		echo "= agent step iqcn 1 $(((us - few) / 10))"
		echo "= agent step none 1 1"
	done
	devices_gone
}

# ms COMMAND...: run a command; sets $ms, the time that it took
ms()
{
	local start=${EPOCHREALTIME/./}

	"$@" || die "$*"
	ms=$(((${EPOCHREALTIME/./} - start) / 1000))
}

# Set age to 10 ms and wait until all flows have expired
aged()
{
	tc qdisc change dev b-iqcn parent 1:1 handle 10: iqcn age 10ms
	until [ "$(tc -s -j qdisc show dev b-iqcn |
		jq '.[] | select(.handle == "10:").flows')" = 0 ]; do
		:
	done
}

# Measure the cost per flow of creation, of lookup without and during a dump, of
# the dump itself, and of deletion on request and by age.  (due_together
# measures CNPs.)
case_inject()
{
	local flows=$((most < 100000 ? most : 100000)) round ns dump

	for ((round = 0; round < rounds; round++)); do
		device b-iqcn "iqcn limit 64m $MARKED notify off" || die "cannot add iqcn"
		blast b-iqcn flows $flows mtu 256 depth 0 ect 3 packets $flows
		echo "= inject insert iqcn $flows $ns"
		blast b-iqcn flows $flows mtu 256 depth 0 ect 3 known packets $flows
		echo "= inject look-up iqcn $flows $ns"
		while :; do "$TOP/build/iqcn" flows b-iqcn; done >/dev/null 2>&1 &
		dump=$!
		blast b-iqcn flows $flows mtu 256 depth 0 ect 3 known packets $flows
		echo "= inject look-up-while-read iqcn $flows $ns"
		kill $dump && wait $dump 2>/dev/null
		ms "$TOP/build/iqcn" flows b-iqcn >/dev/null
		echo "= inject read iqcn $flows $((ms * 1000000 / flows))"
		ms "$TOP/build/iqcn" flush b-iqcn >/dev/null
		echo "= inject forget iqcn $flows $((ms * 1000000 / flows))"
		blast b-iqcn flows $flows mtu 256 depth 0 ect 3 packets $flows
		sleep 0.1
		ms aged
		echo "= inject age iqcn $flows $((ms * 1000000 / flows))"
		devices_gone
	done
}

# Print the free memory in bytes, after RCU has freed pending objects
free_bytes()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	awk '$1 == "MemFree:" { printf "%.0f\n", $2 * 1024 }' /proc/meminfo
}

case_memory()
{
	local flows=$most ports=64 i before after

	# memory of a port, most of which is the flow table
	for ((i = 0; i < ports; i++)); do
		device "b-$i" "bfifo limit 64m"
	done
	before=$(free_bytes)
	for ((i = 0; i < ports; i++)); do
		tc qdisc replace dev "b-$i" parent 1:1 handle 11: iqcn
	done
	after=$(free_bytes)
	value memory port $(((before - after) / ports)) bytes
	devices_gone

	device b-iqcn "iqcn limit 64m $MARKED notify off" || die "cannot add iqcn"
	before=$(free_bytes)
	blast b-iqcn flows "$flows" mtu 256 depth 0 ect 3 packets "$flows"
	after=$(free_bytes)
	value memory "flow-of-$flows" $(((before - after) / flows)) bytes
	ms tc qdisc del dev b-iqcn root
	value memory "teardown-of-$flows" "$ms" ms
	devices_gone

	# flows of connections whose setup was not received
	device b-iqcn "iqcn limit 64m $MARKED notify off" || die "cannot add iqcn"
	before=$(free_bytes)
	blast b-iqcn flows "$flows" mtu 256 depth 0 ect 3 known packets "$flows"
	after=$(free_bytes)
	value memory "flow-without-setup-of-$flows" $(((before - after) / flows)) bytes
	devices_gone
}

most=1000000
while getopts n:p:q:m: opt; do
	case $opt in
	n) rounds=$OPTARG ;;
	p) packets=$OPTARG ;;
	q) only=${OPTARG//,/|} ;;
	m) most=$OPTARG ;;
	*) die "options: -n ROUNDS, -p PACKETS, -q QDISC,... and -m FLOWS" ;;
	esac
done
shift $((OPTIND - 1))

for m in sch_iqcn rocehost; do
	grep -q "^$m " /proc/modules && continue
	f=$BUILD/$m.ko
	[ -e "$f" ] || f=$BUILD/rocehost/$m.ko
	insmod "$f" || die "cannot load $f"
done
trap devices_gone EXIT
for name; do
	case $name in
	uncongested) case_uncongested ;;
	marked) case_marked ;;
	hook) case_hook ;;
	deadline) case_deadline ;;
	inject) case_inject ;;
	memory) case_memory ;;
	agent) case_agent ;;
	cpus) case_cpus ;;
	*) die "no such case: $name" ;;
	esac
done
exit 0
