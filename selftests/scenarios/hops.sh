#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measure the CPU time per packet and hop in a large network, fattree-8-100g.  The
# time to create the network cancels out: the result is the difference between
# runs of 5 ms and 1 ms.  KTAP.
#
#   hops.sh [SIMULATOR]	also measure the CPU time of ns-3 for the same simulated
#			time, with the program of selftests/ns3/README.rst
#
# The result is in build/results/hops.json, for make figures.
set -u -o pipefail
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
RESULTS=${IQCN_RESULTS:-$TOP/build/results}
export IQCN_RESULTS=$RESULTS
MAX_US=5

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"

# cpu FILE: print the CPU seconds that "time" has measured
cpu()
{
	awk '{ print $1 + $2 }' "$1"
}

# ns3_cpu NAME: print the CPU seconds of the simulator
ns3_cpu()
{
	local dir=$RESULTS/$1/ns3 TIMEFORMAT='%U %S'

	"$TOP/selftests/ns3/export.py" "$RESULTS/$1.scenario" ecn "$dir" &&
		(cd "$dir" && time "$simulator" --conf=config.txt --algorithm=1 \
			--windowCheck=0 --wien=false >output.txt 2>&1) \
			2>"$dir/time" && cpu "$dir/time"
}

simulator=""
[ $# = 0 ] || simulator=$(realpath "$1")
# one at a time, because they would slow each other down
"$HERE/scenarios.sh" -q -j 1 fattree-8-100g fattree-8-100g-short || exit
{
	for variant in ecn pi; do
		for name in fattree-8-100g fattree-8-100g-short; do
			echo "$(cpu "$RESULTS/$name/$variant/time")" \
				"$(jq ".variants.$variant.packet_hops" \
					"$RESULTS/$name.json")"
		done | awk -v v=$variant '
		NR == 1 { s = $1; n = $2 }
		NR == 2 {
			printf "%s\t%.1f\t%d\t%.2f\n", v, (s - $1) / 4, (n - $2) / 4,
				1e6 * (s - $1) / (n - $2)
		}'
	done
	[ -z "$simulator" ] || {
		ns3_cpu fattree-8-100g
		ns3_cpu fattree-8-100g-short
	} | awk 'NR == 1 { s = $1 } NR == 2 { printf "ns-3, ecn\t%.1f\t\t\n", (s - $1) / 4 }'
} >"$RESULTS/hops.tsv"
jq -R -s --slurpfile lab "$RESULTS/fattree-8-100g.json" '{
	kernel: $lab[0].kernel,
	rows: (split("\n") | map(select(. != "") | split("\t")))
}' "$RESULTS/hops.tsv" >"$RESULTS/hops.json"
cp "$RESULTS/fattree-8-100g.commit" "$RESULTS/hops.commit" 2>/dev/null
jq -r -L "$TOP/selftests/figures" -L "$HERE" \
	'include "blocks"; {hops: .} | block("hops")' "$RESULTS/hops.json" |
	column -t -s $'\t'
for variant in ecn pi; do
	awk -F'\t' -v v=$variant -v most=$MAX_US '
	$1 == v { ok = $4 <= most }
	END { exit !ok }' "$RESULTS/hops.tsv"
	result $? "$variant: at most $MAX_US us of CPU per packet and hop"
done
[ -z "$simulator" ] || {
	awk -F'\t' '
	$1 == "ecn" { lab = $2 }
	$1 ~ "^ns-3" { ok = lab < $2 }
	END { exit !ok }' "$RESULTS/hops.tsv"
	result $? "ecn: less CPU time than ns-3"
}
echo "1..$n"
exit $failed
