#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every way to see congestion, with every way to find out that a CNP is due, and
# everything that T1 can be counted from, side by side:
#
#   methods.sh [SCENARIO...]
#
# in methods-*.scenario, or those of them that are named, with what each costs
# by the words of the first (cost.sh).  Figures come from a seed and are the same
# in every run; costs are measured.
#
# Leaves in build/results or $IQCN_RESULTS:
#   methods.json	parameters, figures and costs
#   methods.csv		what the picture is made of
#   methods.svg, .png	queue and utilisation, a point for each
#   methods-*		of each scenario, see scenarios.sh
set -u -o pipefail
# 1.5 is 1,5 elsewhere
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
export IQCN_RESULTS=${IQCN_RESULTS:-$TOP/build/results}
OUT=$IQCN_RESULTS/methods

# Packets of these qdiscs are all CE, and the queue is congested throughout,
# whoever looks
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

	Methods: what shows congestion, what triggers a CNP, what T1 counts from.
	Queue p99 in MB; drops from the start; rate increases above Kmax; the
	box's CNPs; ns that a CE packet of 100 flows costs, and how often what it
	costs in a bfifo.  ns are this machine's; the ratio carries over.

	EOF
	show method_table
	cat <<-EOF

	One CE packet in so many looked at, otherwise the defaults; changes of the
	queue's state beside.

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
	  .utilisation, .queue_p99_bytes)] | @csv' "$OUT.json" |
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
# not beside them: it is a matter of time
echo "  cost ..."
cost "$1" >"$OUT.cost" || die "no costs"
for name; do
	cat "$IQCN_RESULTS/$name.json"
done | jq -s --slurpfile cost "$OUT.cost" '{
	scenarios: map({key: .scenario, value: .}) | from_entries,
	cost: $cost | map({key: .name, value: .}) | from_entries
}' >"$OUT.json" && rm "$OUT.cost" || die "no $OUT.json"
cp "$IQCN_RESULTS/$1.commit" "$OUT.commit" 2>/dev/null || rm -f "$OUT.commit"
tables
picture || die "no picture"
echo "in ${IQCN_RESULTS#"$TOP/"}: $(cd "$IQCN_RESULTS" && echo methods.*)"
