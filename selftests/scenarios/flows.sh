#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measure queue depth and utilization by number of flows, with the defaults of
# marking alone (ecn) and of notify pi:
#
#   flows.sh [-n FLOWS,FLOWS...] [GBPS...]
#
# for endless flows on links of these speeds (default: 10 25 100).  At 25 Gb/s
# it also measures senders in the style of the DCQCN paper.
#
#   -n FLOWS,...	numbers of flows, each at most 32 or a multiple of 32;
#			skips the senders of the DCQCN paper and expectations
#
# Results, in build/results or $IQCN_RESULTS:
#   flows.json		figures
#   flows.svg, flows.png	p99 of the queue and utilization
#   flows/*		scenarios and their results, see scenarios.sh
set -u -o pipefail
# decimal points, not commas
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
RESULTS=${IQCN_RESULTS:-$TOP/build/results}
OUT=$RESULTS/flows
FLOWS="2 8 16 32 64 128 256 512 1024"
PAPER="2 8 32 128 512"

die()
{
	echo "flows: $*" >&2
	exit 1
}

# scenario GBPS STYLE FLOWS: print a scenario.  The flows start at their fair
# share, at random times within the gap between two packets of a flow.
scenario()
{
	local gbps=$1 style=$2 flows=$3 senders=$(($3 < 32 ? $3 : 32))
	local host="alpha 55us g 1/256"

	case $style in
	connectx)
		host+=" increase 300us reduce 4us f 1 rai 5mbit rhai 50mbit min 1mbit clamp" ;;
	paper)
		host+=" increase 55us f 5 rai 40mbit rhai 200mbit min 10mbit" ;;
	esac
	cat <<-EOF
		title       $flows flows into one port of $gbps Gb/s
		seed        1
		senders     $senders rate $((gbps < 25 ? 25 : gbps))gbit
		receivers   1 rate $((gbps * 4))gbit cnp 50us ack 1
		host        delay 10us rp $style $host cp-dscp 46
		bottleneck  ${gbps}gbit 12k
		flows       incast from all to 0 flows $((flows / senders)) mtu 4096 size endless messages endless cm rate $((gbps * 1000000 / flows))kbit spread $((4162 * 8 * flows / gbps / 1000 + 1))us probe q0
		duration    400ms
		count       200ms
		kmax        $((gbps * 16000))
		variant     ecn iqcn limit 16777216 bandwidth ${gbps}gbit notify off
		variant     pi  iqcn limit 16777216 bandwidth ${gbps}gbit cnp-dscp 46 snoop netns
	EOF
	[ "$PAPER" ] || return 0
	echo "expect .variants.pi.utilization >= 0.99 and .variants.pi.drops_from_start == 0"
	echo "expect .variants.ecn.utilization < 0.99 or .variants.pi.queue_p99_bytes <= .variants.ecn.queue_p99_bytes"
	[ "$style" != paper ] || echo "expect .variants.pi.queue_p99_bytes <= 1500000"
}

while getopts n: opt; do
	case $opt in
	n) FLOWS=${OPTARG//,/ } PAPER="" ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
for flows in $FLOWS; do
	if ! [ "$flows" -gt 0 ] 2>/dev/null ||
	   [ $((flows > 32 ? flows % 32 : 0)) != 0 ]; then
		die "-n: \"$flows\" is neither 1 to 32 nor a multiple of 32"
	fi
done
[ $# -gt 0 ] || set -- 10 25 100
rm -rf "$OUT" "$OUT".{json,commit,svg,png}
mkdir -p "$OUT/scenarios" || exit
names=()
for gbps; do
	for style in connectx paper; do
		[ $style = connectx ] || [ "$gbps" = 25 ] || continue
		for flows in $([ $style = paper ] && echo "$PAPER" || echo "$FLOWS"); do
			name=$style-$gbps-$flows
			scenario "$gbps" $style "$flows" \
				>"$OUT/scenarios/$name.scenario" || exit
			names+=("$name")
		done
	done
done
IQCN_SCENARIOS=$OUT/scenarios IQCN_RESULTS=$OUT "$HERE/scenarios.sh" -q "${names[@]}"
bad=$?

for name in "${names[@]}"; do
	IFS=- read -r style gbps flows <<<"$name"
	jq -c --arg style "$style" --argjson gbps "$gbps" --argjson flows "$flows" \
		'{style: $style, gbps: $gbps, flows: $flows, kernel, variants}' \
		"$OUT/$name.json" || die "$name failed"
done | jq -s . >"$OUT.json" || exit
sort -u "$OUT"/*.commit >"$OUT.commit"
jq -r '.[] | . as $row | .variants | to_entries[] |
	[$row.style, $row.gbps, $row.flows, .key,
	 .value.queue_p99_bytes * 8 / $row.gbps / 1000, .value.utilization] | @csv' \
	"$OUT.json" | tr -d '"' >"$OUT/plot.csv" || exit
for kind in svg png; do
	DATA=$OUT/plot.csv OUTPUT=$OUT.$kind gnuplot -e "kind = '$kind'" \
		"$HERE/flows.gp" || die "gnuplot failed"
done
echo
jq -r -L "$HERE" 'include "flows-table"; flows_table | @tsv' "$OUT.json" |
	column -t -s "$(printf '\t')"
echo "in ${RESULTS#"$TOP/"}: flows.json, flows.png, flows.svg"
exit $bad
