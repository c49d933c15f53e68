#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Compare marking on enqueue and on dequeue:
#
#   marking.sh [SCENARIO...]
#
# in the given scenarios, or in all that have these variants, except methods-*,
# fattree-*, leafspine-*, pfc-* and *-pfc: with the marking curve alone (ecn),
# and with notify timer (iqcn), wreb and pi.
#
# Results, in build/results or $IQCN_RESULTS:
#   marking.json	parameters and figures
#   marking/enqueue/*	results of each scenario, see scenarios.sh
#   marking/dequeue/*
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
RESULTS=${IQCN_RESULTS:-$TOP/build/results}
OUT=$RESULTS/marking

die()
{
	echo "marking: $*" >&2
	exit 1
}

# of SCENARIO: print the variants that mark
of()
{
	awk '$1 == "variant" && $2 ~ /^(ecn|iqcn|wreb|pi)$/ { print $2 }' \
		"$HERE/$1.scenario" | paste -sd ,
}

if [ $# = 0 ]; then
	for name in "$HERE"/*.scenario; do
		name=${name##*/}
		case $name in
		methods-* | *-pfc.* | pfc-* | fattree-* | leafspine-*) ;;
		*) [ -z "$(of "${name%.scenario}")" ] || set -- "$@" "${name%.scenario}" ;;
		esac
	done
fi
rm -rf "$OUT" "$OUT.json"
for name; do
	variants=$(of "$name")
	[ -n "$variants" ] || die "$name has none of the variants ecn, iqcn, wreb and pi"
	for on in enqueue dequeue; do
		echo "$name, marked on $on"
		IQCN_RESULTS=$OUT/$on "$HERE/scenarios.sh" -q -v "$variants" \
			-x "mark-on $on" "$name" | grep -v '^$' ||
			die "$name failed"
	done
done
jq -n '[inputs | . + {on: input_filename | split("/")[-2]}] |
	group_by(.scenario) | map({key: .[0].scenario, value:
		map({key: .on, value: {kernel, parameters, variants}}) |
		from_entries}) |
	from_entries' "$OUT"/*/*.json >"$OUT.json" || die "cannot write $OUT.json"
sort -u "$OUT"/*/*.commit 2>/dev/null >"$OUT.commit"

cat <<-EOF

The curve applied on enqueue and on dequeue.  Drops are from the start.

EOF
jq -r -L "$HERE" 'include "marking-table"; marking_table | @tsv' "$OUT.json" |
	column -t -s "$(printf '\t')"
echo "in ${RESULTS#"$TOP/"}: marking.json"
