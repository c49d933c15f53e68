#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measure how much the figures of scenarios depend on chance: run a variant with
# several seeds.
#
#   seeds.sh [-n SEEDS] [-v VARIANT] [SCENARIO...]
#
#   -n	number of seeds, 2 to 99 (default 8); the seeds are 1, 2, 3, ...
#   -v	default: pi
#
# If a figure moves by less than twice the standard error of its mean, there is
# no evidence that a change moved it.
#
# Results, in build/results or $IQCN_RESULTS:
#   seeds.json		figures by scenario and seed
#   seeds/*		scenarios and their results, see scenarios.sh
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
RESULTS=${IQCN_RESULTS:-$TOP/build/results}
OUT=$RESULTS/seeds
seeds=8 variant=pi

die()
{
	echo "seeds: $*" >&2
	exit 1
}

while getopts n:v: opt; do
	case $opt in
	n) seeds=$OPTARG ;;
	v) variant=$OPTARG ;;
	*) die "usage: seeds.sh [-n SEEDS] [-v VARIANT] [SCENARIO...]" ;;
	esac
done
shift $((OPTIND - 1))
case $seeds in
[2-9] | [1-9][0-9]) ;;
*) die "-n: \"$seeds\" is not 2 to 99" ;;
esac
[ $# -gt 0 ] || set -- incast-64 incast-512 incast-1024 incast-2048 step fairness
rm -rf "$OUT" "$OUT".{json,commit}
mkdir -p "$OUT/scenarios" || exit
# scenarios may be "like" others, so copy all
cp "$HERE"/*.scenario "$OUT/scenarios/" || exit
names=()
for name; do
	for ((seed = 1; seed <= seeds; seed++)); do
		{ grep -Ev '^(seed|expect|miss)[[:space:]]' "$HERE/$name.scenario" &&
			echo "seed $seed"; } \
			>"$OUT/scenarios/$name-seed$seed.scenario" ||
			die "no such scenario: $name"
		names+=("$name-seed$seed")
	done
done
IQCN_SCENARIOS=$OUT/scenarios IQCN_RESULTS=$OUT "$HERE/scenarios.sh" -q \
	-v "$variant" "${names[@]}" | grep -v '^$' || die "a scenario failed"

for name; do
	for ((seed = 1; seed <= seeds; seed++)); do
		jq -c --arg name "$name" --arg variant "$variant" \
			--argjson seed "$seed" \
			'{scenario: $name, variant: $variant, seed: $seed, kernel,
			  figures: .variants[$variant]}' "$OUT/$name-seed$seed.json"
	done
done | jq -s . >"$OUT.json" || exit
sort -u "$OUT"/*.commit >"$OUT.commit"
echo
jq -r -L "$HERE" 'include "seeds-table"; seeds_table | @tsv' "$OUT.json" |
	column -t -s "$(printf '\t')"
echo "in ${RESULTS#"$TOP/"}: seeds.json"
