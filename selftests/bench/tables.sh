#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Print bench.json as tables:
#
#   tables.sh FILE
set -u -o pipefail

# tsv FILTER: print the filter's output as a table
tsv()
{
	jq -r "def n: if . == null then \"-\" else . end; $1 | map(n) | @tsv" "$json" |
		column -t -s "$(printf '\t')"
}

json=$1
jq -r '"\n\(.cpu), load \(.load[0]) to \(.load[1])\n"' "$json"
cat <<-EOF
	Cost of a packet: minimum and median of all runs in ns, and their spread;
	instructions.  Ratios compare minima.

EOF
tsv '(["case", "packet", "flows", "qdisc", "ns", "median", "spread", "to bfifo",
	"to red", "over none", "instructions", "to bfifo", "to red", "over none",
	"CNPs in 1000"]),
	(.cases[] | [.case, .packet, .flows, .qdisc, .min_ns, .median_ns, .spread,
	.ratio_bfifo, .ratio_red, .over_none_ns, .instructions, .instructions_bfifo,
	.instructions_red, .over_none_instructions, .cnps_permille])'
echo
tsv '(["case", "", "value", ""]), (.values[] | select(.case != "marked") |
	[.case, .name, .value, .unit])'
echo
cat <<-EOF
	Cores of 3 GHz that 100 Gb/s of 4 KB packets need, at one instruction per cycle

EOF
tsv '(["case", "qdisc", "cores", "over bfifo"]),
	(.cores[] | [.case, .qdisc, .cores, .over_bfifo])'
echo
cat <<-EOF
	Throughput of two queues below mq, each on a CPU of its own, to that of one

EOF
tsv '(["case", "qdisc", "throughput"]), (.cpus[] | [.case, .qdisc, .throughput])'
echo
tsv '(["", "got", "must", "goal", ""]), (.aims[] | [.aim, .got, .must, .goal, .reached])'
echo
