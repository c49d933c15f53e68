#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Compare all methods that detect congestion, combined with all triggers of CNPs
# and all starts of T1, in the given scenarios (default: methods-*.scenario):
#
#   methods.sh [SCENARIO...]
#
# Also measure the cost of each method with the parameters of the first scenario
# (cost.sh).  Figures follow from a seed and are reproducible; costs are
# measured.
#
# Results, in build/results or $IQCN_RESULTS:
#   methods.json	parameters, figures and costs
#   methods.csv		data of the plots
#   methods.svg, .png	queue and utilization, a point per method
#   methods-*		results of each scenario, see scenarios.sh
set -u -o pipefail
# decimal points, not commas
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
export IQCN_RESULTS=${IQCN_RESULTS:-$TOP/build/results}
OUT=$IQCN_RESULTS/methods

# cost SCENARIO: measure the variants with parameters that make every packet CE
# and keep the queue congested for every detector
cost()
{
	sed -nE 's/^variant +//
		t found
		d
		:found
		s/ (kmin|kmax) [^ ]+/ \1 0/g
		s/ pmax [^ ]+/ pmax 1/
		s/ bandwidth [^ ]+/ bandwidth 1gbit/
		s/ iqcn( |$).*/& mark-on enqueue/
		p' "$IQCN_RESULTS/$1.scenario" | "$HERE/cost.sh"
}

# show TABLE
show()
{
	jq -r -L "$HERE" "include \"methods-table\"; $1 | @tsv" "$OUT.json" |
		column -t -s $'\t'
}

tables()
{
	cat <<-EOF

	Methods: detection of congestion, trigger of CNPs, start of T1.
	Queue p99 in MB; drops from the start; rate increases above Kmax; the
	box's CNPs; cost of a CE packet of 100 flows in ns, and its ratio to
	a bfifo.  The ns depend on the machine; the ratio carries over.

	EOF
	show method_table
	cat <<-EOF

	One in so many CE packets sampled, otherwise the defaults, with the
	number of changes of the queue's state.

	EOF
	show sample_table
	echo
}

picture()
{
	local terminal

	jq -r -L "$HERE" 'include "methods-table";
	. as $all | names[] as $name | of("method")[] as $v |
	[($name | ltrimstr("methods-")), ($v | words[] | gsub(","; "+")),
	 ($all.scenarios[$name].variants[$v] |
	  .utilization, .queue_p99_bytes)] | @csv' "$OUT.json" |
		tr -d '"' >"$OUT.csv" || return 1
	for terminal in svg png; do
		DATA=$OUT.csv OUTPUT=$OUT.$terminal gnuplot \
			-e "kind = '$terminal'" "$HERE/methods.gp" || return 1
	done
}

die()
{
	echo "methods: $*" >&2
	exit 1
}

[ $# -gt 0 ] || set -- methods-incast-512 methods-fig1-rate-failure
rm -f "$OUT".{json,csv,svg,png}
"$HERE/scenarios.sh" -q "$@" || die "a scenario failed"
# not in parallel with the scenarios, which would disturb the measurement
echo "  cost ..."
cost "$1" >"$OUT.cost" || die "the costs cannot be measured"
for name; do
	cat "$IQCN_RESULTS/$name.json"
done | jq -s --slurpfile cost "$OUT.cost" '{
	scenarios: map({key: .scenario, value: .}) | from_entries,
	cost: $cost | map({key: .name, value: .}) | from_entries
}' >"$OUT.json" && rm "$OUT.cost" || die "cannot write $OUT.json"
cp "$IQCN_RESULTS/$1.commit" "$OUT.commit" 2>/dev/null || rm -f "$OUT.commit"
tables
picture || die "cannot plot"
echo "in ${IQCN_RESULTS#"$TOP/"}: $(cd "$IQCN_RESULTS" && echo methods.*)"
