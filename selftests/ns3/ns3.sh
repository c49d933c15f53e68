#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run scenarios in the lab and in ns-3, and compare the median slowdown of each
# range of message sizes (if all flows are endless, the deepest queue and the
# rate of its port), and the total paused time.  KTAP.
#
#   ns3.sh SIMULATOR [SCENARIO...]	default: those of the documents
#
# SIMULATOR is HPCC's simulation, which README.md says how to build.  Only the
# first variant of a scenario is run.  Results of ns-3, in build/ns3:
#   NAME/		input and output of the simulation
#   NAME.json	figures, as those of the lab in build/results/NAME.json
# The table is in build/results/ns3.json, for make figures.
set -u -o pipefail
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
SCENARIOS=$TOP/selftests/scenarios
RESULTS=${IQCN_RESULTS:-$TOP/build/results}
OUT=$TOP/build/ns3
# the largest accepted differences between lab and ns-3, in percent
SLOWDOWN=15
PAUSED=25

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"

die()
{
	echo "ns3: $*" >&2
	exit 2
}

# simulate NAME VARIANT
simulate()
{
	local name=$1 dir=$OUT/$1 lab=$RESULTS/$1/$2 f args=() count_ns

	count_ns=$(awk '$1 == "count" { print $2 * 1000000 }' \
		"$RESULTS/$name.scenario")
	rm -rf "$dir"
	"$HERE/export.py" "$RESULTS/$name.scenario" "$2" "$dir" || return
	(cd "$dir" && "$simulator" --conf=config.txt --algorithm=1 \
		--windowCheck=0 --wien=false >output.txt 2>&1) ||
		{ tail -n 5 "$dir/output.txt"; return 1; }
	"$HERE/import.py" "$dir" "$lab/fabric/flows.csv" "$count_ns" || return
	for f in samples flows sinks completions settings hosts wires pfc \
		 pairings; do
		[ -e "$dir/$f.csv" ] || echo dev >"$dir/$f.csv"
		args+=(--rawfile "$f" "$dir/$f.csv")
	done
	jq -n -L "$SCENARIOS" -f "$SCENARIOS/fabric.jq" "${args[@]}" \
		--rawfile list "$lab/fabric/flows.csv" \
		--argjson count_ns "$count_ns" \
		--argjson duration_ns 1 >"$OUT/$name.json"
	# this file has hundreds of megabytes
	rm "$dir/output.txt"
}

# compare NAME VARIANT: print rows "NAME FIGURE LAB NS3 PERCENT LIMIT"
compare()
{
	jq -n -r --arg name "$1" --arg variant "$2" \
		--slurpfile lab "$RESULTS/$1.json" \
		--slurpfile ns3 "$OUT/$1.json" --argjson slowdown $SLOWDOWN \
		--argjson paused $PAUSED '
	# the difference is 100 % if only one of the two has the figure
	def row($what; $lab; $ns3; $limit): [$name, $what, $lab, $ns3,
		(if $lab == $ns3 then 0
		 elif $lab == null or ($ns3 // 0) == 0 then 100
		 else 1000 * ($lab / $ns3 - 1) | round / 10 end), $limit];
	$lab[0].variants[$variant] as $lab | $ns3[0] as $ns3 |
	if $lab.flows == 0 then
		row("sent_bps"; $lab.deepest.sent_bps; $ns3.deepest.sent_bps; $slowdown),
		row("queue_mean_bytes"; $lab.deepest.queue_mean_bytes;
		    $ns3.deepest.queue_mean_bytes; $slowdown),
		row("queue_p99_bytes"; $lab.deepest.queue_p99_bytes;
		    $ns3.deepest.queue_p99_bytes; $slowdown)
	else
	row("flows"; $lab.flows; $ns3.flows; 0),
	($lab.sizes + $ns3.sizes | keys_unsorted[] as $size |
		row("slowdown_" + $size; $lab.sizes[$size].slowdown_p50;
		    $ns3.sizes[$size].slowdown_p50; $slowdown)),
	row("slowdown_p99"; $lab.slowdown_p99; $ns3.slowdown_p99; null)
	end,
	row("paused_us"; $lab.paused_us; $ns3.paused_us; $paused),
	row("pause_frames"; $lab.pause_frames; $ns3.pause_frames; null) |
	@tsv'
}

[ $# -gt 0 ] || die "usage: ns3.sh SIMULATOR [SCENARIO...]"
[ -x "$1" ] || die "$1 is not a program"
simulator=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- pfc-2to1 pfc-16to1 leafspine-websearch incast-64-ns3 \
	incast-256-ns3
mkdir -p "$OUT"
"$SCENARIOS/scenarios.sh" -q "$@" | grep -v "^in " || exit
for name; do
	variant=$(awk '$1 == "variant" { print $2; exit }' "$RESULTS/$name.scenario")
	simulate "$name" "$variant" || die "$name failed in ns-3"
	compare "$name" "$variant"
done >"$OUT/rows"
jq -R -s --slurpfile lab "$RESULTS/$1.json" '{
	kernel: $lab[0].kernel,
	rows: (split("\n") | map(select(. != "") | split("\t")))
}' "$OUT/rows" >"$RESULTS/ns3.json"
cp "$RESULTS/$1.commit" "$RESULTS/ns3.commit" 2>/dev/null
jq -r -L "$TOP/selftests/figures" -L "$SCENARIOS" \
	'include "blocks"; {ns3: .} | block("ns3")' "$RESULTS/ns3.json" |
	column -t -s $'\t'
while IFS=$'\t' read -r name what _ _ percent limit; do
	[ -n "$limit" ] || continue
	awk -v p="$percent" -v l="$limit" 'BEGIN { exit p > l || p < -l }'
	result $? "$name: $what within $limit %"
done <"$OUT/rows"
echo "1..$n"
exit $failed
