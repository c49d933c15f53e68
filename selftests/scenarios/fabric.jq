# SPDX-License-Identifier: GPL-2.0
#
# Compute the figures of a variant with several switches from the output of
# rocehost and from flows.csv of fabric.py.
#
#   jq -n -L DIRECTORY -f fabric.jq --rawfile samples samples.csv ... (see
#   scenarios.sh)
#
# The slowdown of a flow is its completion time divided by that in an empty
# network.

include "lib";

# sizes in bytes that separate the groups of flows
def bins: [10000, 100000, 1000000];
def bin_names: ["below_10k", "10k_100k", "100k_1m", "above_1m"];
def round4: if . == null then null else . * 1e4 | round / 1e4 end;

def slowdowns: sort | {
	flows: length,
	slowdown_p50: (percentile(50) | round4),
	slowdown_p99: (percentile(99) | round4)
};

($list | table) as $list |
($completions | table) as $done |
($hosts | table) as $hosts |
($flows | table) as $flows | ($sinks | table) as $sinks |
($pfc | table) as $pfc | ($wires | table) as $wires |
($settings | table | map(select(.word == "ip")) |
	map({key: .dev, value: (.value | tostring | sub("^::ffff:"; ""))}) |
	from_entries) as $ips |
# the QPs of the senders, by their address and DestQP
(reduce $flows[] as $f ({}; .["\($ips[$f.dev]) \($f.dest_qpn)"] += [$f.qpn]))
	as $senders |
def hex: ltrimstr("0x") | explode |
	reduce .[] as $c (0; . * 16 + ($c - (if $c > 57 then 87 else 48 end)));
($pairings | rows | .[1:] | map(select(.[3] | IN("psn", "cm")))) as $pairs |

if ($hosts | sum(.malformed + .stray + .completions_lost + .refused)) > 0
	then error("a host received an unexpected packet, dropped one, or lost completions")
else . end |

# host and start time identify a flow
(reduce $done[] as $d ({}; .["\($d.dev),\($d.came_ns)"] = $d.took_ns)) as $took |
[$list[] | select(.start_ns >= $count_ns) | . as $f |
	$took["\(.dev),\(.start_ns)"] as $ns |
	select($ns != null) |
	{name, bytes, slowdown: ($ns / .ideal_ns)}] as $all |

# samples of each port, as arrays: objects are too slow for so many rows
($samples | rows | .[1:] | group_by(.[0]) | map({
	port: .[0][0],
	rows: map(.[1:] | map(tonumber)),
}) | map(.counted = (.rows | map(select(.[0] >= $count_ns))))) as $ports |
[$ports[].counted[][1]] as $depths |

($all | map(.slowdown) | slowdowns) +
{
	unfinished: (($list | map(select(.start_ns >= $count_ns)) | length) -
		     ($all | length)),
	names: ($all | group_by(.name) | map({key: .[0].name,
		value: (map(.slowdown) | slowdowns)}) | from_entries),
	sizes: (bins as $bins | $all | map(select(.name != "incast")) |
		group_by(.bytes as $b | [$bins[] | select(. <= $b)] | length) |
		map({key: (.[0].bytes as $b |
			   bin_names[[$bins[] | select(. <= $b)] | length]),
		     value: (map(.slowdown) | slowdowns)}) | from_entries),
	# the port whose queue is the deepest on average
	deepest: ($ports | map(select(.counted | length > 1)) |
		max_by(.counted | map(.[1]) | mean) | if . == null then null else {
			port,
			queue_mean_bytes: (.counted | map(.[1]) | mean),
			queue_p99_bytes: (.counted | map(.[1]) | sort | percentile(99)),
			sent_bps: ((.counted[-1][2] - .counted[0][2]) * 8e9 /
				   (.counted[-1][0] - .counted[0][0]))
		} end),
	queue_max_bytes: ($depths | max),
	queue_mean_bytes: ($depths | mean),
	drops_from_start: ($ports | map(.rows[-1][3]) | add),
	cnps_np: ($flows | sum(.cnps_np)),
	cnps_cp: ($flows | sum(.cnps_cp)),
	# according to the UDP source port, and pairings of the switches at the end
	cnps_wrong: ($hosts | sum(.cnps_wrong)),
	pairings: ($pairs | length),
	pairings_wrong: ([$pairs[] | (.[2] | hex) as $qp |
		select($senders["\(.[0]) \(.[1] | hex)"] // [] | index($qp) | not)] |
		length),
	packets: ($flows | sum(.packets)),
	resent: ($flows | sum(.resent)),
	timeouts: ($flows | sum(.timeouts)),
	ce_share: ($sinks | sum(.ce) | share($sinks | sum(.packets))),
	goodput_bps: ($sinks | sum(.bytes) * 8e9 / ($duration_ns - $count_ns)),
	packet_hops: ($wires | sum(.packets)),
	byte_hops: ($wires | sum(.bytes)),
	pause_frames: ($pfc | sum(.tx_pause)),
	paused_us: ($pfc | sum(.paused_ns) | us),
	headroom_overflow: ($pfc | sum(.overflow)),
	lost: ($wires | sum(.lost)),
	# parameters in force of the first host
	hosts: ($settings | table | .[0].dev as $dev | map(select(.dev == $dev)) |
		map({key: .word, value: .value}) | from_entries)
} | walk(round6)
