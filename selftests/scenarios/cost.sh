#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a RoCEv2 packet costs in a qdisc, beside what it costs in a bfifo:
#
#   cost.sh [-c] [-f FLOWS] [-n PACKETS] [-r ROUNDS] <LINES
#
#   LINES	"NAME QDISC", a qdisc as tc is told
#   -c		packets come with CE; else with ECT(0), to be marked or not
#   -f FLOWS	that take turns (default 100)
#   -n PACKETS	in a run (default 10000)
#   -r ROUNDS	in each of which every qdisc has five runs (default and least 7):
#		the shortest counts, for what disturbs a run makes it longer
#
# Each qdisc, and a bfifo, is in its turn the child of a prio on a dummy device:
# packets may pass by one that is the device's own.  rocehost's "blast" sends
# them (rocehost/blast.c), in User Mode Linux with the machine's clock.
#
# Prints a JSON object for each line.  Its ns are of this machine, at this time;
# the ratio is what carries over to others.  ce_share: of packets, those that
# left with CE, if the qdisc tells.
set -u -o pipefail
# 1.5 is 1,5 elsewhere
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
LAB=$HERE/../lab/lab.sh
ect=2 flows=100 packets=10000 rounds=7

die()
{
	echo "cost: $*" >&2
	exit 2
}

while getopts cf:n:r: opt; do
	case $opt in
	c) ect=3 ;;
	f) flows=$OPTARG ;;
	n) packets=$OPTARG ;;
	r) rounds=$OPTARG ;;
	*) die "-c, -f FLOWS, -n PACKETS and -r ROUNDS are all there is" ;;
	esac
done
case $rounds in
"" | *[!0-9]* | [0-6]) die "-r: at least 7 rounds" ;;
esac

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
{
	echo "bfifo bfifo limit 16777216"
	cat
} >"$WORK/qdiscs"
"$LAB" run uml -w "$HERE/cost-guest.sh" "$WORK" "$rounds" \
	"packets $packets flows $flows ect $ect" >&2 ||
	die "it cannot be measured"

jq -n -c --rawfile qdiscs "$WORK/qdiscs" --slurpfile runs "$WORK/runs.json" '
def round_to($digits): pow(10; $digits) as $p | . * $p | round / $p;
($qdiscs | split("\n") | map(select(. != "") |
	capture("^(?<name>[^ ]+) +(?<qdisc>.*)$"))) as $qdiscs |
$runs | group_by(.line) |
map(.[0].tc[1] as $tc | $qdiscs[.[0].line] + {
		ns_per_packet: (map(.ns_per_packet[]) | min),
		ratio_to_bfifo: null,
		ce_share: (if $tc.ce_sent == null then null
			   else $tc.ce_sent / $tc.packets | round_to(3) end),
		runs: (map(.ns_per_packet[]) | length),
		blast: .[0].blast,
		options: $tc.options
	}) |
.[0].ns_per_packet as $bfifo |
.[] | .ratio_to_bfifo = (.ns_per_packet / $bfifo | round_to(2))
' </dev/null
