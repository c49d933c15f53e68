# SPDX-License-Identifier: GPL-2.0
#
# Compare the values of all sources: a table of lines "place, value, one column
# per source, verdict", separated by tabs, with a header.
#
#   jq -nr --slurpfile tc FILE --slurpfile iqcn FILE --rawfile genl FILE
#	--slurpfile iqcn_flows FILE --rawfile sysfs FILE --rawfile debugfs FILE
#	--rawfile file FILE --rawfile exporter FILE --slurpfile prometheus FILE
#	--rawfile uapi FILE --rawfile doc FILE -f table.jq
#
# A place is "p1 2:1", a queue; "p1", a port; "p1 10.1.0.1 10.1.0.2 0.0
# 0x000123", a flow; "", the namespace.  A value is named after its netlink
# attribute.

def lines: split("\n")[] | select(. != "");

# a value of a source, except the age, which is different at each read
def say($source; $at; $key; $value):
	select($key != "state_age_ns") | { source: $source, at: $at, key: $key,
	    value: ($value | if type == "array" then length > 0 else . end |
		    if . == true then 1 elif . == false then 0 else
		    (tonumber? // .) end) };

def hex: if . < 16 then "0123456789abcdef"[.:. + 1] else
	(. / 16 | floor | hex) + (. % 16 | hex) end;
def qp: "0x" + ("000000" + (tonumber | hex))[-6:];
def parent: if . == 4294967295 then "root" else
	(. / 65536 | floor | hex) + ":" + (. % 65536 | hex) end;
# in the byte order of a PC
def ipv4: [. % 256, (. / 256 | floor) % 256, (. / 65536 | floor) % 256,
	(. / 16777216 | floor)] | map(tostring) | join(".");
def set($names): . as $bits | [$names | to_entries[] |
	select(($bits / pow(2; .key) | floor) % 2 == 1) | .value] | join(",") |
	if . == "" then "off" else . end;

# translate tc's names; some values of the port are shown with a queue
def of_tc($source):
	.[] | select(.kind == "iqcn") | (.dev + " " + (.parent // "root")) as $at |
	.dev as $dev |
	say($source; $at; "depth_bytes"; .backlog),
	say($source; $at; "tx_bytes"; .bytes),
	say($source; $at; "tx_packets"; .packets),
	(.options | say($source; $at; "limit_bytes"; .limit),
	 say($source; $at; "kmin_bytes"; .kmin),
	 say($source; $at; "kmax_bytes"; .kmax),
	 say($source; $at; "notify"; .notify),
	 say($source; $dev; "cnp_rate_pps"; .cnp_rate_pps),
	 say($source; $dev; "cnp_burst"; .cnp_burst),
	 say($source; $dev; "snoop"; .snoop)),
	say($source; $dev; "cnp_unmatched"; .port_cnp_unmatched),
	say($source; $dev; "malformed"; .port_malformed),
	say($source; $dev; "pfc_ignored"; .port_pfc_ignored),
	say($source; $dev; "cnp_passed"; .port_cnp_passed),
	say($source; $dev; "cnp_filtered"; .port_cnp_filtered),
	(del(.options) | to_entries[] |
	 select(.key | IN("kind", "handle", "root", "bytes", "packets",
		"drops", "overlimits", "requeues", "backlog", "qlen",
		"port_cnp_unmatched", "port_malformed", "port_pfc_ignored",
		"port_cnp_passed", "port_cnp_filtered", "state_since_ns") | not) |
	 say($source; $at; .key; .value));

def of_iqcn_flows:
	.[] | ([.dev, .src, .dst, "\(.vid).\(.inner_vid)", (.dest_qp | qp)] | join(" ")) as $at |
	to_entries[] | select(.key | IN("dev", "parent", "src", "dst") | not) |
	say("iqcn"; $at; .key; .value);

# names of the attributes, by number
def enum($kind):
	[$uapi | capture("enum iqcn_a_" + $kind + " \\{(?<body>[^}]*)\\}").body |
	 scan("IQCN_A_[A-Z_]*") | ltrimstr("IQCN_A_" + ($kind | ascii_upcase) + "_") |
	 ascii_downcase];

# [{kind, NAME: value, ...}]
def genl_messages:
	["", "port", "queue", "flow"] as $kinds |
	($kinds | map(if . == "" then [] else enum(.) end)) as $names |
	[$genl | lines | split(" ") | (.[0] | tonumber) as $cmd |
	 { kind: $kinds[$cmd] } +
	 (.[1:] | map(split("=") | { ($names[$cmd][.[0] | tonumber]): .[1] }) | add)];

def of_genl:
	genl_messages as $m |
	($m | map(select(.kind == "port") | { (.ifindex): .ifname }) | add) as $dev |
	$m[] | $dev[.ifindex] as $d |
	(if .kind == "port" then $d
	 elif .kind == "queue" then $d + " " + (.parent | tonumber | parent)
	 else [$d, (.src | tonumber | ipv4), (.dst | tonumber | ipv4),
	       (.vid // "0") + "." + (.inner_vid // "0"), (.dest_qp | qp)] |
	      join(" ") end) as $at |
	.kind as $kind | del(.kind) | to_entries[] |
	say("genl"; if $kind == "port" and (.key | IN("state_lost", "cnp_lost"))
		    then "" else $at end; .key;
	    .key as $key | .value |
	    if $key == "notify" then tonumber | set(["timer", "wreb", "pi", "grant",
		"supplement"])
	    elif $key == "state_reason" then ["none", "queue", "depth", "run",
		"span", "quiet", "reset"][tonumber]
	    elif $key == "pfc_state" then ["clear", "congested", "undetermined",
		"paused"][tonumber]
	    elif $key == "pfc_reason" then ["none", "pause", "clear", "rate",
		"unsure", "grew", "drained", "limit", "reset"][tonumber]
	    elif $key == "snoop" then ["port", "netns"][tonumber]
	    elif $key == "congested" then tonumber > 0
	    elif $key == "bts_prob" then tonumber / 4294967295
	    else . end);

def of_sysfs:
	$sysfs | lines | capture("^(?<dev>[^/]*)/iqcn/(?<key>[^:]*):(?<value>.*)") |
	say("sysfs"; .dev; .key; .value);

# lines of a table with a header
def of_debugfs:
	[$debugfs | lines | capture("^\\./(?<dev>[^/]*)/(?<file>[a-z]*):(?<line>.*)")] |
	group_by(.dev + .file)[] | (.[0].line | split(" ")[1:]) as $head |
	.[1:][] | .dev as $dev | .file as $file |
	([$head, (.line | split(" "))] | transpose | map({ (.[0]): .[1] }) | add) |
	(if $file == "queues" then
	 $dev + " " + if .parent == "ffff:ffff" then "root" else .parent end
	 else [$dev, .src, .dst, .vlan, .dest_qp] | join(" ") end) as $at |
	say("debugfs"; $at; "congested"; .state == "congested"),
	say("debugfs"; $at; "state_reason"; .reason),
	(to_entries[] | select(.key | IN("depth_bytes", "ce_rate_bps",
		"roce_bps", "flows", "flows_paired", "flows_congested",
		"queued", "psn", "run", "ce_sent", "cnp_seen", "cnp_sent")) |
	 say("debugfs"; $at; .key; .value));

# metrics in the documentation: [{name, label, value, kind, key}]
def documented:
	[$doc | lines | capture("^ *``(?<name>iqcn_[a-z_]*)(\\{(?<label>[a-z]*)(=\"(?<value>[a-z]*)\")?\\})?`` *\\| *(?<key>[a-z_]+) *\\|") |
	 .kind = (.name | split("_")[1] | if IN("port", "queue", "flow") then
		. else "" end)];

# parse the text format: [{name, labels, value}]
def samples:
	[lines | select(startswith("iqcn_")) |
	 capture("^(?<name>[a-z_]*)(\\{(?<labels>.*)\\})? (?<value>[^ ]*)$") |
	 .labels = ([.labels // "" | scan("([a-z_]+)=\"((?:[^\"\\\\]|\\\\.)*)\"") |
		{ (.[0]): .[1] }] | add // {})];

def api_samples:
	[.data.result[] | { name: .metric.__name__, labels: .metric, value: .value[1] }];

# convert Prometheus's units, and add up values as sum() would
def of_samples($source; $samples):
	documented as $documented |
	def place: .labels | if .src then [.device, .src, .dst, .vlan, .dest_qp] | join(" ")
		else [.device // empty, .parent // empty] | join(" ") end;
	def unit($key): if .name | endswith("_bytes_per_second") then
			.value | tonumber * 8
		elif $key | endswith("_ns") then
			.value | tonumber * 1000000000 | round
		else .value end;
	($documented[] | select(.name | IN("iqcn_queue_state_since_timestamp_seconds") | not) |
	 . as $d | $samples[] | select(.name == $d.name) |
	 select($d.value == null or .labels[$d.label] == $d.value) |
	 say($source; place; if $d.value == "timer" then "cnp_timer" else $d.key end;
	     if $d.label and $d.value == null then .labels[$d.label]
	     else unit($d.key) end)),
	([$samples[] | select(.name == "iqcn_queue_sent_cnps_total")] |
	 group_by(place)[] |
	 say($source; .[0] | place; "cnp_sent"; map(.value | tonumber) | add)),
	# values of the port that are sums over its queues
	([$documented[] | select(.name | startswith("iqcn_queue_")) |
	  select(.key | IN("ecn_mark", "ce_in", "ce_sent", "ce_sampled",
		"cnp_seen", "cnp_deferred", "cnp_canceled", "cnp_budget",
		"cnp_unpaired", "depth_bytes", "congested", "pauses")) | . as $d |
	  $samples[] | select(.name == $d.name) |
	  select($d.value == null or .labels[$d.label] == $d.value) |
	  { dev: .labels.device, value: (.value | tonumber),
	    key: (if $d.key == "congested" then "queues_congested" else $d.key end) }] |
	 group_by([.dev, .key])[] |
	 say($source; .[0].dev; .[0].key; map(.value) | add)),
	([$samples[] | select(.name == "iqcn_queue_sent_cnps_total")] |
	 group_by(.labels.device)[] |
	 say($source; .[0].labels.device; "cnp_sent"; map(.value | tonumber) | add));

# CNPs by the timer are the remainder of the sum
def with_timer:
	. + [group_by([.source, .at])[] | (map({ (.key): .value }) | add) as $v |
	     select($v.cnp_wreb != null and $v.cnp_timer == null and
		    (.[0].at | split(" ") | length) == 2) |
	     { source: .[0].source, at: .[0].at, key: "cnp_timer",
	       value: ($v.cnp_sent - $v.cnp_wreb - $v.cnp_pi - $v.cnp_poll -
		       $v.cnp_drop - $v.cnp_pfc - $v.cnp_grant -
		       $v.cnp_supplement) }];

def sources: ["tc", "iqcn", "genl", "sysfs", "debugfs", "file", "exporter",
	"prometheus"];

["place", "value"] + sources + ["verdict"],
([($tc[0] | of_tc("tc")), ($iqcn[0] | of_tc("iqcn")),
  ($iqcn_flows[0] | of_iqcn_flows), of_genl, of_sysfs,
  of_debugfs, of_samples("file"; $file | samples),
  of_samples("exporter"; $exporter | samples),
  of_samples("prometheus"; $prometheus[0] | api_samples)] | with_timer |
 unique | group_by([.at, .key])[] |
 # all values in netlink, except those of flows that are not exported to
 # Prometheus
 select(any(.[]; .source == "file") or
	((.[0].at | split(" ") | length) < 3 and any(.[]; .source == "genl"))) |
 # omit values that Prometheus does not get: it has names as labels, and
 # computes averages itself
 select(.[0].key | IN("ifindex", "ifname", "parent", "cnp_smac",
	"delay_avg_ns") | not) |
 . as $say |
 [.[0].at, .[0].key] +
 (sources | map(. as $s | [$say[] | select(.source == $s) | .value | tostring] |
	if length == 0 then "-" else join("/") end)) +
 [if ([$say[].value] | unique | length) != 1 then "differ"
  elif ["genl", "exporter", "prometheus"] - [$say[].source] != [] then "missing"
  else "equal" end]) |
@tsv
