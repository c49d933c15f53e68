# SPDX-License-Identifier: GPL-2.0
#
# Table of a scenario from its JSON: an array per line.

def part: if . == null then "-" else . * 1000 | round / 1000 end;
def mb: if . == null then "-" else . / 1e4 | round / 100 end;
def gbps: if . == null then "-" else . / 1e7 | round / 100 end;
def ms: if . == null then "-" else . / 10 | round / 100 end;
def us: if . == null then "-" else round end;
# column -t skips empty columns
def fill: map(if . == "" then " " elif . == null then "-" else . end);

def scenario_table:
	# only if there are pauses in one of the variants
	any(.variants[]; .pause_frames > 0) as $pfc |
	["", "utilized", "goodput", "queue", "p50", "p99", "max", "drops", "CE",
	 "CNPs", "CNPs", "rate", "above", "Jain", "FCT", "p99",
	 if $pfc then "pauses", "paused" else empty end],
	["", "", "Gb/s", "MB mean", "MB", "MB", "MB", "", "", "NP", "CP",
	 "increases", "Kmax", "", "us p50", "us",
	 if $pfc then "", "ms" else empty end],
	(.variants | to_entries[] | [.key, (.value |
		(.utilization | part), (.goodput_bps | gbps),
		(.queue_mean_bytes, .queue_p50_bytes, .queue_p99_bytes,
		 .queue_max_bytes | mb), .drops, (.ce_share | part), .cnps_np,
		.cnps_cp, .increases, .increases_above_kmax, (.jain | part),
		(.fct_p50_us, .fct_p99_us | us),
		if $pfc then .pause_frames, (.paused_us | ms) else empty end)]) |
	fill;

# several switches
def fabric_table:
	["", "flows", "slowdown", "", "unfinished", "incast", "queue", "max",
	 "goodput", "drops", "CNPs", "CNPs", "pauses", "paused", "overflow"],
	["", "", "p50", "p99", "", "p99", "KB mean", "MB", "Gb/s", "", "NP",
	 "CP", "", "ms", ""],
	(.variants | to_entries[] | [.key, (.value |
		.flows, (.slowdown_p50, .slowdown_p99 | part), .unfinished,
		(.names.incast.slowdown_p99 | part),
		(.queue_mean_bytes | . / 100 | round / 10),
		(.queue_max_bytes | mb), (.goodput_bps | gbps), .drops_from_start,
		.cnps_np, .cnps_cp, .pause_frames, (.paused_us | ms),
		.headroom_overflow)]) | fill;
