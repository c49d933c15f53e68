# SPDX-License-Identifier: GPL-2.0
#
# Compute the figures of a variant from the output of rocehost and tc.
#
#   jq -n -L DIRECTORY -f figures.jq --rawfile samples samples.csv ... (see
#   scenarios.sh)
#
# All figures cover the time from $count_ns to $duration_ns, unless noted.

include "lib";

($tc[0] | map(select(.handle == "10:")) | .[0]) as $qdisc |

# column numbers instead of names, because there are many rows
($samples | rows | .[1:] | map(.[1:] | map(tonumber))) as $s |
($s | map(select(.[0] >= $count_ns))) as $counted |
$counted[0] as $before |
($s | last) as $final |
($final[0] - $before[0]) as $span_ns |
($counted | map(.[1]) | sort) as $depths |
($flows | table) as $flows |
# the bottleneck is on the path to receiver 0
($sinks | table) as $sinks | ($sinks | map(select(.dev == "r0"))) as $r0 |
($completions | table) as $done |
($done | map(.took_ns) | sort) as $fct |
($hosts | table) as $hosts |
($pfc | table) as $pfc | ($wires | table) as $wires |

def group($name):
	($sinks | map(select(.name == $name))) as $k |
	($flows | map(select(.name == $name))) as $f |
	($done | map(select(.name == $name) | .took_ns) | sort) as $t |
	{
		goodput_bps: ($k | sum(.bytes) * 8e9 / $span_ns),
		jain: ($k | map(.bytes) | jain),
		cnps_np: ($f | sum(.cnps_np)),
		cnps_cp: ($f | sum(.cnps_cp)),
		increases: ($f | sum(.raised)),
		cuts: ($f | sum(.cuts)),
		gated: ($f | sum(.gated)),
		fct_p50_us: ($t | percentile(50) | us),
		fct_p99_us: ($t | percentile(99) | us)
	};

if $final[0] < $duration_ns - 1e6 then error("samples end too early")
elif ($hosts | sum(.malformed + .stray + .completions_lost + .refused)) > 0
	then error("a host received an unexpected packet, dropped one, or lost completions")
else . end |
($flows | map(select(.endless == 1) | .name) | unique) as $endless |
{
	utilization: (($final[2] - $before[2]) * 8e9 / $span_ns / $rate_bps),
	queue_mean_bytes: ($depths | mean),
	queue_p50_bytes: ($depths | percentile(50)),
	queue_p99_bytes: ($depths | percentile(99)),
	queue_max_bytes: ($depths | last),
	drops: ($final[3] - $before[3]),
	drops_from_start: $final[3],
	cnps_np: ($flows | sum(.cnps_np)),
	cnps_cp: ($flows | sum(.cnps_cp)),
	cnps_cp_per_packet: ($flows | sum(.cnps_cp) | share($r0 | sum(.packets))),
	ce_share: ($r0 | sum(.ce) | share($r0 | sum(.packets))),
	increases: ($flows | sum(.raised)),
	increases_above_kmax: ($flows | sum(.raised_above_kmax)),
	cuts: ($flows | sum(.cuts)),
	resent: ($flows | sum(.resent)),
	timeouts: ($flows | sum(.timeouts)),
	settle_us: ($settle | settled($s; $duration_ns)),
	jain: ($r0 | map(select(.name | IN($endless[])) | .bytes) | jain),
	goodput_bps: ($r0 | sum(.bytes) * 8e9 / $span_ns),
	messages: ($done | length),
	fct_p50_us: ($fct | percentile(50) | us),
	fct_p99_us: ($fct | percentile(99) | us),
	groups: ($sinks | map(.name) | unique |
		map({key: ., value: group(.)}) | from_entries),
	# all devices of wires together
	pause_frames: ($pfc | sum(.tx_pause)),
	paused_us: ($pfc | sum(.paused_ns) | us),
	headroom_overflow: ($pfc | sum(.overflow)),
	lost: ($wires | sum(.lost)),
	# from the start; null: the qdisc has no such counter
	state_changes: $qdisc.state_changes,
	flow_state_changes: $qdisc.flow_state_changes,
	# parameters in force: of the qdisc from tc, of s0 and r0 from rocehost
	qdisc: ($qdisc | {kind, options}),
	hosts: ($settings | table | map(select(.dev | IN("s0", "r0"))) |
		group_by(.dev) | map({key: .[0].dev,
			value: (map({key: .word, value: .value}) |
				from_entries)}) | from_entries)
} + $traced | walk(round6)
