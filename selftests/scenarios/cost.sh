#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measure the cost of a RoCEv2 packet in a qdisc, compared with a bfifo:
#
#   cost.sh [-c] [-f FLOWS] [-n PACKETS] [-r ROUNDS] <LINES
#
#   LINES	"NAME QDISC", a qdisc in the syntax of tc
#   -c		send packets with CE, instead of ECT(0)
#   -f FLOWS	number of flows, which take turns (default 100)
#   -n PACKETS	packets of a run (default 10000)
#   -r ROUNDS	number of rounds, of five runs per qdisc (default and
#		minimum 7); the shortest run counts because disturbances only
#		add time
#
# Each qdisc, and a bfifo, in turn becomes the child of a prio on a dummy
# device, because packets could bypass a root qdisc.  rocehost's "blast" sends
# the packets (rocehost/blast.c), in User Mode Linux with the host's clock.
#
# Prints a JSON object for each qdisc.  The ns depend on the machine and its
# load; the ratio to bfifo carries over to other machines.  ce_share is the
# share of packets that left with CE, if the qdisc reports CE packets.
set -u -o pipefail
# decimal points, not commas
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
	*) die "usage: cost.sh [-c] [-f FLOWS] [-n PACKETS] [-r ROUNDS]" ;;
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
	die "the measurement failed"

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
