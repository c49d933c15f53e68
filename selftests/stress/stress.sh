#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make stress MINUTES=N: stress the qdisc in every way at once, while RoCEv2
# hosts in the kernel send (see lib-items.sh).
#
#   stress.sh [-k KERNEL] [MINUTES]
#			default 10; 0: each item once, takes a minute
#   -k KERNEL	only this kernel, with the host's clock: uml-smp, x86-kcsan or
#		stock, whose two CPUs use the qdisc in parallel
#
# Without -k, three guests run: the debug kernel with the host's clock, so that
# timers interrupt any code; the debug kernel with virtual time, which can be
# advanced; and a plain kernel with 64 MB of memory.  After the last round each
# checks its log for splats, and the debug kernels scan twice for leaks.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
OUT=$TOP/build/stress
kernel=""
if [ "${1-}" = -k ]; then
	kernel=${2:?-k wants a kernel}
	OUT+=-$kernel
	shift 2
fi
MINUTES=${1:-10}

ITEMS="replace netns device module mq parents flows memory clock packets readers
	filters taps extremes receivers users"
declare -A WHAT=(
	[replace]="add, replace, change, delete"
	[netns]="namespace deleted"
	[device]="link, MTU, name, namespace, deleted"
	[module]="rmmod and insmod"
	[mq]="64 queues, fewer, grafts"
	[parents]="below eleven other qdiscs"
	[flows]="many flows, all expire at once"
	[memory]="fail-nth, failslab"
	[clock]="clock wraps"
	[packets]="GSO, fragments, clones, tags, broken"
	[readers]="all interfaces read, two CPUs"
	[filters]="filter requests, devices go and move"
	[taps]="samples mirrored back by nlmon"
	[extremes]="MTU, speed, bandwidth"
	[receivers]="move between ports of a bridge"
	[users]="unprivileged, come and go"
	[small]="64 MB of memory"
)

case $MINUTES in
'' | *[!0-9]*)
	echo "usage: ${0##*/} [-k KERNEL] [MINUTES]" >&2
	exit 2
	;;
esac
export LAB_TIMEOUT_S=$((MINUTES * 60 + 1800))
cd "$TOP" || exit 1
rm -rf "$OUT"
mkdir -p "$OUT"
# number of flows of the item "flows"; a million of them takes minutes
flows=16384
[ "$MINUTES" -lt 10 ] || flows=1048576

# guest NAME KERNEL OPTIONS ITEM...: run a guest and extract its results from
# the log
guest()
{
	local name=$1 kernel=$2 options=$3
	shift 3

	# in other kernels, run.sh installs the module so that it is loaded by
	# name
	[ "$kernel" != stock ] || options+=" -k $TOP/build/stock/sch_iqcn.ko"

	# shellcheck disable=SC2086
	"$LAB" run "$kernel" $options /usr/bin/env STRESS_STOP="$OUT/stop" \
		STRESS_ITEMS="$*" STRESS_FLOWS=$flows STRESS_SEED="${IQCN_SEED:-1}" \
		"$TOP/selftests/run.sh" "$TOP/build/$kernel/sch_iqcn.ko" \
		"$TOP/selftests/stress/guest.sh" >"$OUT/$name.log" 2>&1
	echo $? >"$OUT/$name.rc"
	sed -n 's/^result //p' "$OUT/$name.log" >"$OUT/$name.results"
}

# only virtual time can be advanced: MINUTES 0 runs just "clock" there
virtual=$ITEMS
[ "$MINUTES" != 0 ] || virtual=clock
echo "stress: $MINUTES minutes; ${OUT#"$TOP/"}/*.log"
start=$SECONDS names=machine items=${ITEMS/clock/}
guest machine "${kernel:-uml-debug}" "-w -m 3072" $items &
guests=$!
if [ -z "$kernel" ]; then
	names="machine virtual small" items="$ITEMS small"
	{
		flows=3000
		guest small uml "-w -m 64" flows
		sed -i 's/^flows /small /' "$OUT/small.results"
		# the next guest runs the item "flows" itself
		flows=16384
		guest virtual uml-debug "-m 3072 -s ${IQCN_SEED:-1}" $virtual
	} &
	guests+=" $!"
fi
tail -q -n +1 -F "$OUT/machine.log" "$OUT/virtual.log" 2>/dev/null |
	grep --line-buffered -E '^  pass|FAIL' &
follow=$!
sleep $((MINUTES * 60))
touch "$OUT/stop"
# shellcheck disable=SC2086
wait $guests
kill $follow 2>/dev/null

printf '\n%-10s %-38s %8s %8s  %s\n' item "" machine virtual result
rc=0 all=0
rounds()
{
	awk -v item="$2" '$1 == item { print $2, $3 }' "$OUT/$1.results" 2>/dev/null
}
for item in $items; do
	read -r m mbad <<<"$(rounds machine $item)"
	read -r v vbad <<<"$(rounds virtual $item)"
	[ $item != small ] || read -r m mbad <<<"$(rounds small small)"
	n=$((${m:-0} + ${v:-0})) bad=$((${mbad:-0} + ${vbad:-0}))
	all=$((all + n)) result=ok
	[ $bad = 0 ] || result="$bad FAILED"
	[ $n -gt 0 ] || result="FAILED: no round"
	[ "$result" = ok ] || rc=1
	printf '%-10s %-38s %8s %8s  %s\n' $item "${WHAT[$item]}" "${m:--}" "${v:--}" "$result"
done
echo
for name in $names; do
	[ "$(cat "$OUT/$name.rc" 2>/dev/null)" = 0 ] && continue
	rc=1
	echo "--- $name:"
	grep -E 'FAIL|splat|verdict|unload' "$OUT/$name.log" | head -n 20
	tail -n 40 "$OUT/$name.log"
done
if [ $rc = 0 ]; then
	echo "ok 1 stress: $all rounds in $((SECONDS - start)) s: no splat, no leak," \
		"queues empty, nothing held, unloaded"
else
	echo "not ok 1 stress: $all rounds in $((SECONDS - start)) s"
fi | tee "$OUT/verdict"
exit $rc
