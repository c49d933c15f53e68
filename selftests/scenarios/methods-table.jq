# SPDX-License-Identifier: GPL-2.0
#
# Tables of methods.sh from methods.json: an array per line.
include "table";

def names: .scenarios | keys_unsorted;
def variants: .scenarios[names[0]].variants | keys_unsorted;
def of($prefix): variants | map(select(startswith($prefix + "-")));
def words: split("-")[1:];
def figures: (.queue_p99_bytes | mb), (.utilization | part), .drops_from_start,
	.increases_above_kmax, .cnps_cp;
def cost: .ns_per_packet, .ratio_to_bfifo;

# One line per method
def method_table:
	names as $names |
	["", "", "", ($names[] | ltrimstr("methods-"), "", "", "", ""), "cost", ""],
	["detect", "trigger", "base",
	 ($names[] | "queue", "utilized", "drops", "increases", "CNPs"),
	 "ns", "ratio"],
	("ecn", of("method")[]) as $v |
	((if $v == "ecn" then ["ecn", "", ""] else $v | words end) +
	 [.scenarios[$names[]].variants[$v] | figures] + [.cost[$v] | cost]) |
	fill;

# One line per sampling interval of CE packets
def sample_table:
	names as $names |
	["", ($names[] | ltrimstr("methods-"), "", "", "", "", ""), "cost", ""],
	["sample", ($names[] | "queue", "utilized", "drops", "increases", "CNPs",
			      "changes"), "ns", "ratio"],
	of("sample")[] as $v |
	(($v | words) + [.scenarios[$names[]].variants[$v] |
		figures, .state_changes] + [.cost[$v] | cost]) | fill;
