# SPDX-License-Identifier: GPL-2.0
#
# Make bench.json from the output of guest.sh.  Variables: times and counts are
# the output of runs that measured times and of runs that counted instructions;
# load; cpu.

def round_to($digits): pow(10; $digits) as $p | . * $p | round / $p;
def lines($sign): split("\n") | map(select(startswith($sign + " ")) | split(" ")[1:]);
def samples: lines("=") | map({case: .[0], packet: .[1], qdisc: .[2],
	flows: (.[3] | tonumber), v: (.[4] | tonumber)});
def key: [.case, .packet, .qdisc, .flows];
# group samples, in order of first appearance
def groups: reduce .[] as $s ({order: [], by: {}};
		($s | key | tostring) as $k |
		(if .by[$k] then . else .order += [$k] end) | .by[$k] += [$s]) |
	. as $g | [$g.order[] as $k | $g.by[$k]];
def median: sort | .[length / 2 | floor];

($counts | samples | groups |
	map({key: (.[0] | key | tostring), value: (map(.v) | min)}) | from_entries)
	as $instructions |
($times | samples | groups | map(.[0] + {
	runs: length,
	min_ns: (map(.v) | min),
	median_ns: (map(.v) | median),
	spread: ((map(.v) | max - min) / (map(.v) | median | if . == 0 then 1 else . end) |
		round_to(2)),
	instructions: $instructions[.[0] | key | tostring]
} | del(.v))) as $cases |
def values: lines("#") | map({case: .[0], name: .[1], value: (.[2] | tonumber),
	unit: .[3]});
($times | values) as $values |
def value($name): ($values | map(select(.name == $name)) | .[0] // {}).value;
# the same field of the same case in another qdisc
def other($qdisc; $field): . as $c | ($cases | map(select(.case == $c.case and
	.packet == $c.packet and .flows == $c.flows and .qdisc == $qdisc)) |
	.[0] // {})[$field];
def ratio($qdisc; $field): other($qdisc; $field) as $o |
	if $o and .[$field] then .[$field] / $o | round_to(3) else null end;
def over($qdisc; $field): other($qdisc; $field) as $o |
	if $o and .[$field] then .[$field] - $o | round_to(1) else null end;
($cases | map(. + {
	ratio_bfifo: ratio("bfifo"; "min_ns"),
	ratio_red: ratio("red"; "min_ns"),
	over_none_ns: over("none"; "min_ns"),
	instructions_bfifo: ratio("bfifo"; "instructions"),
	instructions_red: ratio("red"; "instructions"),
	over_none_instructions: over("none"; "instructions"),
	cnps_permille: (if .case == "marked" then value("\(.qdisc)-\(.flows)-cnps")
			else null end)
})) as $cases |
def case($case; $packet; $qdisc; $flows; $field): ($cases | map(select(
	.case == $case and .packet == $packet and .qdisc == $qdisc and
	.flows == $flows)) | .[0] // {})[$field];
def aim($what; $got; $must; $goal): select($got != null) | {aim: $what, got: $got,
	must: $must, goal: $goal,
	reached: (if $got <= $goal then "goal" elif $got <= $must then "must"
		  else "missed" end)};
# ratio to the fastest of the peers: with 1 or less, no peer is faster
def ahead($case; $own; $flows): ["codel", "fq_codel", "fq", "cake"] |
	map(case($case; "roce"; .; $flows; "min_ns") | select(.)) | min as $peer |
	case($case; "roce"; $own; $flows; "min_ns") as $own |
	if $peer and $own then $own / $peer | round_to(3) else null end;
# 4 KB of payload; Ethernet, IPv4, UDP, BTH and ICRC; FCS, preamble and gap
(4096 + 58 + 24) as $wire_bytes |
(100e9 / 8 / $wire_bytes) as $pps |
def cores: if . then . * $pps / 3e9 | round_to(2) else null end;
{
	cpu: $cpu,
	load: ($load | split(" ") | map(tonumber)),
	cases: $cases,
	values: $values,
	counted_values: ($counts | values),
	cores: ($cases | map(select(.packet == "roce" and .flows == 100 and
		.instructions) | {case, qdisc, cores: (.instructions | cores),
		over_bfifo: (over("bfifo"; "instructions") | cores)})),
	cpus: ($cases | map(select((.case | startswith("cpus")) and .packet == "2") |
		{case, qdisc, throughput: (2 * case(.case; "1"; .qdisc; .flows; "min_ns") /
					   .min_ns | round_to(2))})),
	aims: [
		aim("uncongested, to bfifo";
		    case("uncongested"; "roce"; "iqcn"; 100; "ratio_bfifo");
		    1.05; 1.02),
		aim("uncongested, instructions, to bfifo";
		    case("uncongested"; "roce"; "iqcn"; 100; "instructions_bfifo");
		    1.03; 1.02),
		aim("uncongested, to the best of codel, fq_codel, fq, cake";
		    ahead("uncongested"; "iqcn"; 100); 1; 1),
		aim("uncongested, to red";
		    case("uncongested"; "roce"; "iqcn"; 100; "ratio_red"); 1; 1),
		(["iqcn", ""], ["nocnp", ", no CNP"], ["timer", ", notify timer"] |
		 . as [$own, $what] |
		 aim("marked, 100 flows, to red" + $what;
		     case("marked"; "roce"; $own; 100; "ratio_red"); 1.5; 1),
		 aim("marked, 100 flows, instructions, to red" + $what;
		     case("marked"; "roce"; $own; 100; "instructions_red");
		     1.5; 1.2),
		 aim("marked, 100 flows, to the best of codel, fq_codel, fq, cake" + $what;
		     ahead("marked"; $own; 100); 1; 1),
		 (case("marked"; "roce"; $own; 100; "min_ns") as $few |
		  case("marked"; "roce"; $own; 1000000; "min_ns") as $many |
		  aim("marked, 1 M flows, to 100" + $what;
		      if $few and $many then $many / $few | round_to(2) else null end;
		      2.5; 2))),
		aim("hook, no match, over none, ns";
		    case("hook"; "udp"; "iqcn"; 100; "over_none_ns"); 15; 8),
		aim("hook, CNPs, ns";
		    case("hook"; "cnp"; "iqcn"; 100; "over_none_ns"); 1000; 400),
		aim("100 k CNPs due together, longest softirq, ns";
		    case("deadline"; "softirq-longest"; "iqcn"; 100000; "median_ns");
		    200000; 50000),
		aim("memory of a flow, bytes"; value("flow-of-1000000"); 307; 256),
		(case("cpus"; "1"; "iqcn"; 100; "min_ns") as $one |
		 case("cpus"; "2"; "iqcn"; 100; "min_ns") as $two |
		 aim("a packet on two CPUs, to one";
		     if $one and $two then $two / $one | round_to(2) else null end;
		     1.11; 1.03))
	]
}
