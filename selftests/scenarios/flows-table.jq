# SPDX-License-Identifier: GPL-2.0
#
# Table of flows.sh from flows.json: an array per line.
include "table";

def flows_row($first): .gbps as $gbps |
	[.variants.ecn, .variants.pi] as $both |
	# bytes as the time in us that the link needs to send them
	def time(f): $both | map(f * 8 / $gbps / 1000 | us);
	[$first, .flows] + ($both | map(.utilization | part)) +
	time(.queue_p99_bytes) + time(.queue_mean_bytes) +
	($both | map(.drops_from_start));

def flows_table:
	["", "flows", "utilized", "", "p99, us", "", "mean, us", "", "drops", ""],
	["", "", "ecn", "pi", "ecn", "pi", "ecn", "pi", "ecn", "pi"],
	(group_by(.gbps, .style)[] | sort_by(.flows) | to_entries[] |
	 .key as $i | .value |
	 flows_row(if $i > 0 then "" else "\(.gbps) Gb/s" +
		   if .style == "paper" then ", paper" else "" end end)) |
	fill;
