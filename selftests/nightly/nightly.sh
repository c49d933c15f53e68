#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make nightly: run, one part after the other, the tests that make check omits
# because they take hours or are variants of others.  Most parts are targets of
# make.  The log of a part is build/nightly/PART.log; a table with the time of
# each part and one line of verdict come last.
#
#   nightly.sh [-c] [PART...]	default: all
#
#   -c	continue: keep the parts, scenarios and mutants that have succeeded on
#	this commit, for a machine that is not free for one whole night
#
# $MINUTES is the time of each part without a limit of its own (30), $HOURS the
# virtual time of soak (24).  All random values follow from $IQCN_SEED, 1 by
# default.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
OUT=$TOP/build/nightly
cd "$TOP" || exit 1

# a calling make must not pass its flags and variables to ours
unset MAKEFLAGS MFLAGS MAKEOVERRIDES

PARTS="more check-kernels check-debug stress stress-stock soak fuzz mutants scenarios
	bench coverage"

# Print the commit if the tree has no changes.  On the same commit, -c need not
# repeat a part.
commit()
{
	git diff --quiet HEAD 2>/dev/null && git rev-parse HEAD
}

usage()
{
	sed -n '3,/^set -u/s/^# \{0,1\}//p' "$0" | grep -v '^set' >&2
	exit 2
}

# run PART BEGUN: run a part; continue it if BEGUN is not empty
run()
{
	local minutes=${MINUTES:-30}

	case $1 in
	more)
		selftests/lab/lab.sh packages check &&
			selftests/check/check.sh more
		;;
	check-kernels) make -s check-kernels ;;
	check-debug) make -s check-debug MINUTES="$minutes" ;;
	stress) make -s stress MINUTES="$minutes" ;;
	stress-stock) make -s stress K=stock MINUTES="$minutes" ;;
	soak) make -s soak HOURS="${HOURS:-24}" ;;
	# 0 seconds mean no limit
	fuzz) make -s fuzz SECONDS=$((minutes ? minutes * 60 : 10)) ;;
	mutants) make -s mutants CONTINUE="$2" ;;
	scenarios)
		make -s scenarios CONTINUE="$2" &&
			selftests/figures/figures.sh -c fig1-rate-failure \
				incast-512 incast-512-pfc &&
			make -s scenario S=flows
		;;
	bench) make -s bench ;;
	coverage) make -s coverage ;;
	esac
}

continues=""
if [ "${1-}" = -c ]; then
	continues=1
	shift
fi
[ $# -gt 0 ] || set -- $PARTS
for part; do
	[[ " ${PARTS//[[:space:]]/ } " == *" $part "* ]] || usage
done
now=$(commit)
before=""
if [ "$continues" ]; then
	if [ -z "$now" ] || [ "$now" != "$(cat "$OUT/commit" 2>/dev/null)" ]; then
		echo "nightly: -c: there are no results of this commit" >&2
		exit 2
	fi
	before=$(grep ' ok ' "$OUT/results" 2>/dev/null)
else
	rm -rf "$OUT"
fi
mkdir -p "$OUT"
echo "$now" >"$OUT/commit"
echo -n "${before:+$before$'\n'}" >"$OUT/results"
bad=0
for part; do
	[[ $'\n'$before != *$'\n'"$part ok "* ]] || continue
	start=$SECONDS result=ok begun=""
	[ ! -e "$OUT/$part.log" ] || begun=1
	echo "  $part ..."
	run "$part" "$begun" >"$OUT/$part.log" 2>&1 </dev/null || result=FAILED
	[ $result = ok ] || bad=$((bad + 1))
	echo "$part $result $((SECONDS - start))" >>"$OUT/results"
	echo "  $part: $result, $((SECONDS - start)) s"
done

printf '\n%-16s %-8s %8s  %s\n' part result minutes log
while read -r part result seconds; do
	printf '%-16s %-8s %8s  %s\n' "$part" "$result" \
		$(((seconds + 59) / 60)) "${OUT#"$TOP/"}/$part.log"
done <"$OUT/results"
while read -r part result _; do
	[ "$result" = FAILED ] || continue
	echo
	echo "--- $part:"
	grep -v '^ *ok ' "$OUT/$part.log" |
		grep -E 'not ok|FAIL|splat|verdict|rror' | head -n 30
	tail -n 15 "$OUT/$part.log"
done <"$OUT/results"
echo
seconds=$(awk '{ s += $3 } END { print s }' "$OUT/results")
if [ $bad = 0 ]; then
	echo "ok 1 nightly: $# parts in $((seconds / 60)) min"
else
	echo "not ok 1 nightly: $bad of $# parts failed, $((seconds / 60)) min"
fi | tee "$OUT/verdict"
[ $bad = 0 ]
