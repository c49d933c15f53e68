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
	slowdown_p99: (percentile(99) | round4),
	slowdown_max: (last | if . == null then null else round4 end)
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
($wires | map({key: .dev, value: .rate_bps}) | from_entries) as $rates |
def hex: ltrimstr("0x") | explode |
	reduce .[] as $c (0; . * 16 + ($c - (if $c > 57 then 87 else 48 end)));
($pairings | rows | .[1:] | map(select(.[3] | IN("psn", "cm")))) as $pairs |

if ($hosts | sum(.malformed + .stray + .completions_lost + .refused)) > 0
	then error("a host received an unexpected packet, dropped one, or lost completions")
else . end |

# host and start time identify a flow
(reduce $done[] as $d ({}; .["\($d.dev),\($d.arrived_ns)"] = $d.took_ns)) as $took |
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
($watched | split("\n") | map(select(. != ""))) as $watched |
($watched - [$ports[].port] | if . != [] then
	error("no such port: \(join(" "))") else . end) |

# from the rows of a port: the peak of its queue before the queue is empty for
# the first time after it has exceeded kmax
def surge: reduce .[] as $s ({most: 0};
	if .over then . elif $s[1] == 0 and .most > $kmax_bytes then .over = true
	else .most = ([.most, $s[1]] | max) end) | .most;

($all | map(.slowdown) | slowdowns) +
{
	unfinished: (($list | map(select(.start_ns >= $count_ns)) | length) -
		     ($all | length)),
	# messages of flows without an end have no slowdown; their name may be a
	# number, such as the 32 of 32:1
	names: ($flows | map(.name) | unique | map(. as $name | {key: tostring, value: (
		($done | map(select(.name == $name and .arrived_ns >= $count_ns).took_ns) |
			sort | {messages: length, fct_p50_us: (percentile(50) | us),
				fct_p99_us: (percentile(99) | us)}) +
		($all | map(select(.name == $name).slowdown) | slowdowns) + {
			goodput_bps: ($sinks | map(select(.name == $name)) |
				sum(.bytes) * 8e9 / ($duration_ns - $count_ns)),
			cnps: ($flows | map(select(.name == $name)) |
				sum(.cnps_np + .cnps_cp)),
			jain: ($sinks | map(select(.name == $name).bytes) | jain),
			fct_mean_us: ($done | map(select(.name == $name and
				.arrived_ns >= $count_ns).took_ns) | mean | us),
			# not matched by start time: with "cm" a message begins
			# later than its flow
			unfinished: (($list | map(select(.name == $name)) | length) -
				($done | map(select(.name == $name)) | length)),
			cuts: ($flows | map(select(.name == $name)) | sum(.cuts)),
			gated: ($flows | map(select(.name == $name)) | sum(.gated))
		})}) | from_entries),
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
	# peak, surge and drops are from the start
	ports: ([$ports[] | select(.port | IN($watched[])) |
		.counted as $c | .rows as $rows | {key: .port, value: {
			peak_bytes: ($rows | map(.[1]) | max),
			surge_bytes: ($rows | surge),
			queue_mean_bytes: ($c | map(.[1]) | mean),
			queue_p99_bytes: ($c | map(.[1]) | sort | percentile(99)),
			drops_from_start: $rows[-1][3],
			utilization: (($c[-1][2] - $c[0][2]) * 8e9 /
				($c[-1][0] - $c[0][0]) / $rates[.port]),
			settle_us: ($settle | settled($rows; $duration_ns))
		}}] | from_entries),
	# longest total time that a port was deeper than kmax
	deep_us: ($ports | map([.counted as $s | range(1; $s | length) |
		select($s[. - 1][1] > $kmax_bytes) | $s[.][0] - $s[. - 1][0]] |
		add // 0) | max | us),
	queue_max_bytes: ($depths | max),
	queue_mean_bytes: ($depths | mean),
	drops_from_start: ($ports | map(.rows[-1][3]) | add),
	cnps_np: ($flows | sum(.cnps_np)),
	cnps_cp: ($flows | sum(.cnps_cp)),
	# cnps_wrong: according to the UDP source port; pairings: those of the
	# switches at the end
	cnps_wrong: ($hosts | sum(.cnps_wrong)),
	pairings: ($pairs | length),
	pairings_wrong: ([$pairs[] | (.[2] | hex) as $qp |
		select($senders["\(.[0]) \(.[1] | hex)"] // [] | index($qp) | not)] |
		length),
	# null: unknown, because lib-fabric.sh reads counters only with "ends",
	# pfc or snoop
	contradicted: ([$tc[][] | .contradicted? // empty] | add),
	grants: ($flows | sum(.grants)),
	# windows of each flow's last grant
	granted_bytes: ($flows | sum(.granted_bytes)),
	windows_exceeded: ($flows | sum(.exceeded)),
	packets: ($flows | sum(.packets)),
	resent: ($flows | sum(.resent)),
	timeouts: ($flows | sum(.timeouts)),
	doubled: ($flows | sum(.doubled)),
	# at the sinks: packets without a match, and the responses to them
	unmatched: ($sinks | sum(.unmatched)),
	rtws: ($sinks | sum(.rtws_sent)),
	rtss: ($sinks | sum(.rtss_sent)),
	rnrs: ($sinks | sum(.rnrs_sent)),
	ce_share: ($sinks | sum(.ce) | share($sinks | sum(.packets))),
	goodput_bps: ($sinks | sum(.bytes) * 8e9 / ($duration_ns - $count_ns)),
	packet_hops: ($wires | sum(.packets)),
	byte_hops: ($wires | sum(.bytes)),
	pause_frames: ($pfc | sum(.tx_pause)),
	paused_us: ($pfc | sum(.paused_ns) | us),
	headroom_overflow: ($pfc | sum(.overflow)),
	# longest time without a CNP to any host: the samples of each port have
	# the CNPs of all hosts
	silent_us: ($ports[0].rows | map([.[0], .[4] + .[5]]) |
		reduce .[] as $s ({at: 0, n: 0, most: 0};
			.most = ([.most, $s[0] - .at] | max) |
			if $s[1] > .n then .at = $s[0] | .n = $s[1] else . end) |
		.most | us),
	# utilization of ports that were paused, in the time in which they were
	# not
	use_unpaused: ([$ports[] | .port as $port | .counted |
		select(length > 1) | (.[-1][0] - .[0][0]) as $ns |
		(.[-1][6] - .[0][6]) as $paused_ns | select($paused_ns > 0) |
		{key: $port, value: ((.[-1][2] - .[0][2]) * 8e9 /
			($ns - $paused_ns) / $rates[$port])}] | from_entries),
	# longest time from a port's first verdict after a pause to the first
	# verdict that the port is congested
	told_us: ($judged | table |
		map(select(.reason | IN("clear", "unsure", "rate", "grew"))) |
		group_by(.dev) | map(.[0].at_us as $first |
			map(select(.reason | IN("rate", "grew")))[0] |
			select(. != null) | .at_us - $first) | max),
	# counters of the ports that were paused
	pfc: ([$tc[][] | select(.pauses? > 0)] | map({key: .dev, value: (
		{pauses, paused_us: (.paused_ns | us),
		 undetermined_us: (.undetermined_ns | us)} +
		with_entries(select(.key | startswith("pfc_") and
			(IN("pfc_prio", "pfc_max_ns") | not))) +
		{cnp_pfc, ecn_mark, cnp_sent}
	)}) | from_entries),
	# at the ends of the fiber, from the start; 0 without "ends"
	cnps_filtered: ([$tc[][] | .port_cnp_filtered? // 0] | add // 0),
	cnps_passed: ([$tc[][] | .port_cnp_passed? // 0] | add // 0),
	cnps_supplement: ([$tc[][] | .cnp_supplement? // 0] | add // 0),
	# summary of "iqcn agent", from the start; null: no agent runs; only
	# leases_ended if the agent is killed
	agent: $agent[0],
	lost: ($wires | sum(.lost)),
	# time of the last loss
	lost_us: ($wires | map(.last_lost_ns) | max | us),
	# parameters in force of the first host
	hosts: ($settings | table | .[0].dev as $dev | map(select(.dev == $dev)) |
		map({key: .word, value: .value}) | from_entries)
} + $traced | walk(round6)
