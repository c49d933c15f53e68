#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measure the CPU time per packet and hop in a large network, fattree-8-100g,
# without the setup, and the CPU time per packet between two hosts, over a
# single wire and over veth.  Each is the median of three runs, one at a time.
# KTAP.
#
#   hops.sh [SIMULATOR]	also measure ns-3, with the program of
#			selftests/ns3/README.md: per byte and hop, because it
#			does not count packets
#
# The result is in build/results/hops.json, for make figures.
set -u -o pipefail
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
RESULTS=${IQCN_RESULTS:-$TOP/build/results}
export IQCN_RESULTS=$RESULTS
NAME=fattree-8-100g

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"

# median: print the middle of three lines
median()
{
	sort -g | sed -n 2p
}

# sent LINK MS: print CPU seconds and packets of a run with a single link
sent()
{
	local TIMEFORMAT='%U %S' out=$RESULTS/hops.link

	{ time "$TOP/selftests/lab/lab.sh" run uml -s 1 "$HERE/hops-guest.sh" \
		"$TOP/build/uml/rocehost/rocehost.ko" "$1" "$2" \
		>"$out" 2>&1; } 2>"$out.time"
	awk 'FNR == NR { s = $1 + $2; next }
	     $1 == "packets" { print s, $2 }' "$out.time" "$out"
}

# link_us LINK: print the us of a packet, hosts included
link_us()
{
	local i

	for ((i = 0; i < 3; i++)); do
		{ sent "$1" 205; sent "$1" 5; } | awk '
		NR == 1 { s = $1; n = $2 }
		NR == 2 { print 1e6 * (s - $1) / (n - $2) }'
	done | median
}

# simulate NS: run the simulator for this time, print its CPU time in seconds
simulate()
{
	local dir=$RESULTS/$NAME/ns3 TIMEFORMAT='%U %S'

	"$TOP/selftests/ns3/export.py" "$RESULTS/$NAME.scenario" ecn "$dir" &&
		sed -i "s/^SIMULATOR_STOP_TIME .*/SIMULATOR_STOP_TIME 1.$1/" \
			"$dir/config.txt" &&
		(cd "$dir" && time "$simulator" --conf=config.txt --algorithm=1 \
			--windowCheck=0 --wien=false >output.txt 2>&1) \
			2>"$dir/time" && awk '{ print $1 + $2 }' "$dir/time"
}

simulator=""
[ $# = 0 ] || simulator=$(realpath "$1")
rm -f "$RESULTS"/hops.*
for ((i = 0; i < 3; i++)); do
	"$HERE/scenarios.sh" -q -j 1 $NAME | grep -E '^(ok|not ok|  )' || exit
	for variant in ecn pi; do
		awk '{ print $2 }' "$RESULTS/$NAME/$variant/time" \
			>>"$RESULTS/hops.$variant"
	done
done
{
	for variant in ecn pi; do
		jq -r --arg v $variant --argjson s "$(median <"$RESULTS/hops.$variant")" '
		.variants[$v] | [$v, $s, .packet_hops, .byte_hops,
			($s * 1e6 / .packet_hops), ($s * 1e9 / .byte_hops)] | @tsv' \
			"$RESULTS/$NAME.json"
	done
	for link in wire veth; do
		printf '%s, two hosts\t\t\t\t%s\t\n' $link "$(link_us $link)"
	done
	if [ -n "$simulator" ]; then
		setup=$(simulate 000000001)
		run=$(simulate 005000000)
		awk -v s="$run" -v setup="$setup" '$1 == "sent" {
			printf "ns-3, ecn\t%.2f\t\t%.0f\t\t%f\n", s - setup, $2,
				(s - setup) * 1e9 / $2
		}' "$RESULTS/$NAME/ns3/output.txt"
	fi
} >"$RESULTS/hops.tsv"
jq -R -s --slurpfile lab "$RESULTS/$NAME.json" '{
	kernel: $lab[0].kernel,
	rows: (split("\n") | map(select(. != "") | split("\t") |
		map(tonumber? // .)))
}' "$RESULTS/hops.tsv" >"$RESULTS/hops.json"
cp "$RESULTS/$NAME.commit" "$RESULTS/hops.commit" 2>/dev/null
jq -r -L "$TOP/selftests/figures" -L "$HERE" \
	'include "blocks"; {hops: .} | block("hops")' "$RESULTS/hops.json" |
	column -t -s $'\t'
for variant in ecn pi; do
	awk -F'\t' -v v=$variant '$1 == v { exit $5 > 5 }' "$RESULTS/hops.tsv"
	result $? "$variant: at most 5 us per packet and hop"
done
if [ -n "$simulator" ]; then
	awk -F'\t' '{ ns[$1] = $6 } END { exit ns["ecn"] >= ns["ns-3, ecn"] }' \
		"$RESULTS/hops.tsv"
	result $? "ecn: less than ns-3 per byte and hop"
fi
echo "1..$n"
exit $failed
