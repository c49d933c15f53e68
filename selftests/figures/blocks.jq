# SPDX-License-Identifier: GPL-2.0
#
# The contents of the blocks of figures.sh: block(NAME) of {SCENARIO: its JSON, ...}
# prints lines of text (Markdown) or of columns.
include "table";
include "marking-table";
include "flows-table";
include "methods-table";
include "seeds-table";

def v($scenario; $variant): .[$scenario].variants[$variant];
def util($scenario; $variant): v($scenario; $variant).utilization | part;
def percent: . * 100 | round;
def p99($scenario; $variant): v($scenario; $variant).queue_p99_bytes | mb;
def thousands: tostring | [while(length > 0; .[:-3])] | map(.[-3:]) | reverse | join(",");
def drops($scenario; $variant): v($scenario; $variant).drops_from_start | thousands;
def per_packet($scenario; $variant):
	v($scenario; $variant).cnps_cp_per_packet * 100 | round / 100;
def group($scenario; $variant; $name): v($scenario; $variant).groups[$name];

# The queue and the utilization if nothing was dropped, otherwise the drops
def held($scenario; $variant): v($scenario; $variant) |
	if . == null then ""
	elif .drops_from_start > 0 then "\(.drops_from_start | thousands) drops"
	else "\(.queue_p99_bytes | mb) (\(.utilization | part))" end;

# CNPs of a heavy flow, as a multiple of those of a light flow
def told($variant): v("fairness"; $variant).groups |
	(.heavy.cnps_cp / 4) / (.light.cnps_cp / 16) * 10 | round / 10;

def row($names; $text): "| \($names | map("`\(.)`") | join(", ")) | \($text) |";

def scenarios_block:
	"| scenario | shows |",
	"|---|---|",
	row(["two-flows", "-paper"];
	    "flows of 20 and 2 Gb/s converge to the same rate, with both kinds of sender"),
	row(["incast-64"];
	    "light congestion. Marks alone leave \(100 - (v("incast-64"; "ecn").utilization | percent)) % of the link idle, `pi` none. The p99 queue of `pi` is \(p99("incast-64"; "pi")) MB, of marks alone \(p99("incast-64"; "ecn")) MB"),
	row(["incast-256"];
	    "marks alone keep the queue at p99 \(p99("incast-256"; "ecn")) MB and \(v("incast-256"; "ecn").utilization | percent) % of the link, the timer at \(p99("incast-256"; "iqcn")) MB and \(v("incast-256"; "iqcn").utilization | percent) %, `wreb` at \(p99("incast-256"; "wreb")) MB and \(v("incast-256"; "wreb").utilization | percent) %, `pi` at \(p99("incast-256"; "pi")) MB and \(v("incast-256"; "pi").utilization | percent) %"),
	row(["incast-512"]; "the table above"),
	row(["incast-512-behind-ecn"];
	    "the same behind an ordinary switch that has already marked nearly all packets. `pi` drops none at a p99 queue of \(p99("incast-512-behind-ecn"; "pi")) MB; with `ce-in silent` it drops \(drops("incast-512-behind-ecn"; "silent"))"),
	row(["incast-1024", "-2048"];
	    "too many flows for a timer, which acts only on packets that have left the queue: \(drops("incast-1024"; "iqcn")) and \(drops("incast-2048"; "iqcn")) drops, \(drops("incast-1024"; "ecn")) and \(drops("incast-2048"; "ecn")) with marks alone. `wreb` drops \(drops("incast-1024"; "wreb")) and \(drops("incast-2048"; "wreb")); `pi` none, at p99 \(p99("incast-1024"; "pi")) and \(p99("incast-2048"; "pi")) MB and 100 % of the link"),
	row(["incast-1g-64", "-256", "-1000", "-3000"];
	    "a slow link. A sparse flow needs as many CNPs as on a fast link, so `pi` controls 64 flows with \(per_packet("incast-1g-64"; "pi")) CNPs per data packet (p99 \(p99("incast-1g-64"; "pi")) MB), but not with 1 (`pi-1`). By default CNPs may use a quarter of the reverse link, which is enough for about 100 flows per Gb/s. 256 flows need half of it (`pi-half`: \(p99("incast-1g-256"; "pi-half")) MB)"),
	row(["step"];
	    "480 flows join 32 and leave again. `pi` settles after \(v("step"; "pi").settle_us | max / 100 | round / 10) ms; the others do not settle before the flows leave"),
	row(["fairness"];
	    "a flow of ten times the rate gets \(told("pi")) (`pi`) or \(told("wreb")) times (`wreb`) as many CNPs"),
	row(["np-limited"];
	    "a receiver that can send one CNP in 10 µs for 256 flows. The buffer overflows without the box, and with `notify timer base both`. With `base cnp`, the default, it does not, at \(v("np-limited"; "iqcn").utilization | percent) % utilization; nor with `pi`, at \(v("np-limited"; "pi").utilization | percent) %"),
	row(["mice-and-elephants"];
	    "completion times of 64 KB messages among endless flows: p99 \(v("mice-and-elephants"; "ecn").fct_p99_us | round) µs with marks alone, \(v("mice-and-elephants"; "iqcn").fct_p99_us | round) with the timer, \(v("mice-and-elephants"; "pi").fct_p99_us | round) with `pi`"),
	row(["victim"]; "flows to an uncongested port are not slowed down"),
	row(["long-way", "-4ms"];
	    "a round trip of 1 ms. With senders that speed up after 300 µs every method prevents overflow by 256 flows, at \([v("long-way"; ("iqcn", "wreb", "pi")).utilization] | min | percent) to \([v("long-way"; ("iqcn", "wreb", "pi")).utilization] | max | percent) % of the link. With senders that speed up after 4 ms `pi` fills \(v("long-way-4ms"; "pi").utilization | percent) % of it (other seeds give other values, see the scenario) at p99 \(p99("long-way-4ms"; "pi")) MB"),
	row(["drive-8192"];
	    "8,192 flows on 100 Gb/s, to show how much the lab can drive");

def fig1_block: "fig1-rate-failure" as $s |
	"`make scenario S=\($s)` reproduces the first figure of the patent: the",
	"packets of each flow are further apart than the senders' rate-increase interval.",
	"In 100 ms of congestion the senders increase their rates \(v($s; "ecn").increases | thousands) times without the",
	"box, \(v($s; "iqcn").increases) times with `timer` and \(v($s; "pi").increases) times with `pi`.";

def notify_block:
	["", "marks alone", "timer", "wreb", "pi"],
	(["incast-64, 1 KB", "incast-64"], ["incast-256, 4 KB", "incast-256"],
	 ["incast-512, 4 KB", "incast-512"],
	 ["  behind an ECN switch", "incast-512-behind-ecn"],
	 ["incast-1024, 4 KB", "incast-1024"], ["incast-2048, 1 KB", "incast-2048"],
	 ["np-limited", "np-limited"], ["victim", "victim"]) as [$title, $s] |
	[$title, held($s; ("ecn", "iqcn", "wreb", "pi"))] | fill;

def long_way_block:
	["notify", "timer of 300 us", "timer of 4 ms"],
	(["off", "ecn"], ["timer", "iqcn"], ["wreb", "wreb"], ["pi", "pi"]) as [$title, $variant] |
	[$title, held(("long-way", "long-way-4ms"); $variant)];

def storm_block:
	["", "", "CNPs per packet", "of the reverse link", "queue p99", "drops"],
	(["incast-512", "pi"], ["incast-1024", "pi"], ["incast-2048", "pi"],
	 ["incast-1g-64", "pi"], ["incast-1g-64", "pi-1"],
	 ["incast-1g-256", "pi"], ["incast-1g-256", "pi-half"],
	 ["incast-1g-1000", "pi"], ["incast-1g-3000", "pi"]) as [$s, $variant] |
	(if $s | IN("incast-2048", "incast-1g-3000") then 1086 + 24 else 4158 + 24 end) as $bytes |
	[$s, $variant, per_packet($s; $variant),
	 "\(v($s; $variant).cnps_cp_per_packet * 98 / $bytes | percent) %",
	 "\(p99($s; $variant)) MB", drops($s; $variant)];

def compared_block:
	["parameters", "queue p99 in MB (utilization), or drops"],
	(["notify timer delay 0", "delay-0"],
	 ["notify timer delay auto", "delay-auto"],
	 ["notify wreb measure depth", "measure-depth"],
	 ["notify wreb measure gradient", "measure-gradient"],
	 ["notify wreb measure delay", "measure-delay"]) as [$title, $variant] |
	[$title, held("compared"; $variant)];

# Incasts on links with PFC: figures of the port and of the victims
def pfc_block:
	["", "", "queue p99", "drops from start", "paused, ms, all ports", "victims' messages", "p50, us", "p99"],
	("incast-256-pfc", "incast-512-pfc", "incast-1024-pfc", "incast-2048-pfc") as $s |
	("ecn", "pi", "ecn+pfc", "pi+pfc") as $variant | v($s; $variant) as $v |
	[$s, $variant, "\($v.queue_p99_bytes | mb) MB", ($v.drops_from_start | thousands),
	 ($v.paused_us | ms), $v.messages, ($v.fct_p50_us, $v.fct_p99_us | us)] | fill;

# Queues that PFC pauses, and how the flows fare
def pfc_states_block:
	["", "", "victim p50, us", "p99", "its cuts", "bursts p50, us", "p99",
	 "pause frames", "paused, ms", "above 100 KB, ms", "p99 slowdown"],
	("pfc-victim", "pfc-victim-true", "pfc-burst", "pfc-fattree") as $s |
	.[$s].variants | to_entries[] | .key as $variant | .value as $v |
	$v.names as $n |
	[$s, $variant, ($n.victim | .fct_p50_us, .fct_p99_us | us),
	 ($n.victim.cuts // $n.through.cuts // ""),
	 ($n.incast | .fct_p50_us, .fct_p99_us | us),
	 $v.pause_frames, ($v.paused_us | ms), ($v.deep_us | ms),
	 (if $s == "pfc-fattree" then $v.slowdown_p99 else "" end)] | fill;

def senders_block:
	def two: . * 100 | round / 100;
	def slowest($s; $v): v($s; $v).slowdown_max | two;
	def share($s; $v): v($s; $v).names.sprayed.goodput_bps * 4178 / 4096 / 25e7 | round;
	def p99_mb($s; $v): v($s; $v).ports["l1-h16"].queue_p99_bytes | mb;
	"| scenario | shows |",
	"|---|---|",
	row(["reps-permutation", "-8"];
	    "each host of a fat tree with 16 or 128 hosts sends to one other host. The slowest flow takes \(slowest("reps-permutation"; "ecmp")) or \(slowest("reps-permutation-8"; "ecmp")) times the ideal time with one path for each flow, \(slowest("reps-permutation"; "ops")) or \(slowest("reps-permutation-8"; "ops")) sprayed at random, \(slowest("reps-permutation"; "reps")) or \(slowest("reps-permutation-8"; "reps")) with recycled entropies"),
	row(["reps-asym"];
	    "one link to the core of a fat tree with 128 hosts has half the rate. The slowest flow takes \(slowest("reps-asym"; "ops")) times the ideal time sprayed at random, because a sixteenth of each flow that leaves the pod takes that link, and each CE packet of that link slows down the whole flow; \(slowest("reps-asym"; "gate")) sprayed at random with a gate, because of which the sender ignores those CNPs; and \(slowest("reps-asym"; "reps")) with recycled entropies"),
	row(["reps-fail"];
	    "a link silently drops its packets. With recycled entropies the last of \(v("reps-fail"; "reps").lost) losses comes \(v("reps-fail"; "reps").lost_us - 5000 | round) µs after the failure, and \(v("reps-fail"; "reps").goodput_bps / 12 / 23e9 * 4178 / 4096 * 100 | round) % of the rate remains; sprayed at random, the losses continue (\(v("reps-fail"; "ops").lost | thousands))"),
	row(["ramp"];
	    "after one of two flows has ended, the other has the whole link within \(v("ramp"; "ramp").regain_us | round) µs (an RTT is 43 µs); without `ramp` within \(v("ramp"; "dcqcn").regain_us / 1000 | round) ms"),
	row(["ratio-2"];
	    "the flows begin at 20 and 2 Gb/s. Jain's index of their rates, averaged over 2 ms, stays at or above 0.95 after \(v("ratio-2"; "plain").fair_us / 1000 | round) ms if each CNP halves the rate (`g 0/1`, the baseline of the patent), and after \(v("ratio-2"; "ratio").fair_us / 1000 | round) ms with `ratio`, too. DCQCN's alpha already makes the cuts of a faster flow deeper: \(v("ratio-2"; "dcqcn").fair_us / 1000 | round) ms without `ratio`, \(v("ratio-2"; "dcqcn-ratio").fair_us / 1000 | round) with it"),
	row(["ratio-512"];
	    "`notify pi` also keeps the queue of 512 flows short if they use `ratio 1/4`: p99 of the queue \(p99("ratio-512"; "ratio")) MB at \(v("ratio-512"; "ratio").utilization | percent) % utilization of the link; with usual cuts \(p99("ratio-512"; "pi")) MB"),
	row(["gate-one"];
	    "one of eight paths is congested. A flow that is sprayed over all eight keeps \(share("gate-one"; "plain")) % of its rate without a gate, \(share("gate-one"; "ewma")) % with either gate (no cut for \(v("gate-one"; "ewma").names.sprayed.cnps) CNPs), and \(share("gate-one"; "reps")) % with recycled entropies, which avoid that path"),
	row(["gate-all"];
	    "all paths are congested: the first cut is \(v("gate-all"; "ewma").cut_us | round) µs after the first CNP (an RTT with this queue is 140 µs)"),
	row(["match", "-lost"];
	    "each of ten messages arrives before its receive is posted. \(v("match"; "fifo").unmatched / 10) packets per message are dropped, a bandwidth-delay product; each causes one RTW. If an RTS is lost, the receiver repeats it"),
	row(["sprayed"];
	    "all switches of a fat tree send CNPs (`notify pi`, `cnp-sport echo`) while all hosts spray: \(v("sprayed"; "reps").cnps_cp) CNPs, \(v("sprayed"; "reps").cnps_wrong) for another flow; \(v("sprayed"; "reps").pairings) pairings, \(v("sprayed"; "reps").pairings_wrong) wrong, \(v("sprayed"; "reps").contradicted) contradicted. Without spraying there are \(v("sprayed"; "pi").pairings), because pairing then needs fewer ACKs"),
	row(["reps-incast-512"];
	    "512 flows into one link, around which there is no path: p99 of the queue \(p99_mb("reps-incast-512"; "pi")) MB with one path for each flow, \(p99_mb("reps-incast-512"; "reps")) with recycled entropies, and with the default of `qref` \(p99_mb("reps-incast-512"; "pi-auto")) and \(p99_mb("reps-incast-512"; "reps-auto")); no drops");

# The queue in front of the fiber, or behind it in longhaul-far: peak, drops,
# utilization and settling time
def long_haul_block:
	["", "", "peak, MB", "of a round trip", "drops", "utilization", "settled, ms"],
	(["longhaul-near-50", 632], ["longhaul-near-200", 2138],
	 ["longhaul-near-500", 5179], ["longhaul-near-1000", 10300],
	 ["longhaul-near-300us", 5179], ["longhaul-many", 2138], ["longhaul-step", 2138], ["longhaul-wrong", 2138],
	 ["longhaul-far", 5000]) as [$s, $rtt_us] |
	.[$s].variants | to_entries[] | .key as $variant |
	(.value.ports | to_entries[0].value) as $p |
	[$s, $variant, ($p.peak_bytes / 1e6 | part),
	 ($p.peak_bytes * 8 / 100e9 / $rtt_us * 1e6 | part),
	 ($p.drops_from_start | thousands), ($p.utilization | part),
	 (if $s == "longhaul-step" then $p.settle_us[0] | ms else "" end)] | fill;

# All variants, but of those with a fixed action only the one that earns most
def agent_block:
	["", "", "reward", "utilization", "peak, MB", "drops"],
	("agent-eval-150-3", "agent-eval-150-6", "agent-eval-350-3",
	 "agent-eval-350-6", "agent-eval-800-6", "agent-unseen-step", "agent-unseen-mix",
	 "agent-unseen-many", "agent-overload", "agent-killed") as $s |
	.[$s].variants | to_entries |
	(map(select(.key | startswith("fixed-"))) | max_by(.value.agent.reward) |
		if . == null then [] else [.] end) as $best |
	(map(select(.key | startswith("fixed-") | not)) + $best)[] |
	.key as $variant | .value.agent.reward as $reward |
	(.value.ports | to_entries[0].value) as $p |
	[$s, $variant, (if $reward == null then "" else $reward | part end),
	 ($p.utilization | part), ($p.peak_bytes | mb),
	 ($p.drops_from_start | thousands)] | fill;

# Messages inside and between two data centers
def long_haul_mixed_block:
	["", "", "inside: mean, us", "between: mean, us", "pause frames",
	 "paused, ms", "CNPs of receivers", "of the boxes", "drops"],
	("longhaul-mixed", "longhaul-edge") as $s |
	.[$s].variants | to_entries[] | .key as $variant | .value as $v |
	[$s, $variant, ($v.names | (.inside, .between) | .fct_mean_us | us),
	 $v.pause_frames, ($v.paused_us | ms), $v.cnps_np, $v.cnps_cp,
	 ($v.drops_from_start | thousands)] | fill;

def ns3_block:
	["scenario", "figure", "lab", "ns-3", "difference"],
	(.ns3.rows[] | [.[0:2][], (.[2:4][] | (tonumber |
		if . >= 1000 then round else part end)? // .), "\(.[4] | tonumber | if . == 0 then 0 else . end) %"]);

def hops_block:
	["variant", "CPU s for 5 ms", "packet-hops", "byte-hops",
	 "us per packet-hop", "ns per byte-hop"],
	(.hops.rows[] | map(if type == "number" and . < 1000 then part
			    else . end) | fill);

def block($name):
	if $name == "incast-512" or $name == "incast-512-pfc"
		then .[$name] | scenario_table | @tsv
	elif $name | startswith("fattree") then .[$name] | fabric_table | @tsv
	elif $name == "pfc" then pfc_block | @tsv
	elif $name == "pfc-states" then pfc_states_block | @tsv
	elif $name == "senders" then senders_block
	elif $name == "agent" then agent_block | @tsv
	elif $name == "long-haul" then long_haul_block | @tsv
	elif $name == "long-haul-mixed" then long_haul_mixed_block | @tsv
	elif $name == "ns3" then ns3_block | @tsv
	elif $name == "hops" then hops_block | @tsv
	elif $name == "fig1" then fig1_block
	elif $name == "scenarios" then scenarios_block
	elif $name == "notify" then notify_block | @tsv
	elif $name == "long-way" then long_way_block | @tsv
	elif $name == "storm" then storm_block | @tsv
	elif $name == "marking" then .marking | marking_table | @tsv
	elif $name == "flows" then .flows | flows_table | @tsv
	elif $name == "seeds" then .seeds | seeds_table | @tsv
	elif $name == "compared" then compared_block | @tsv
	elif $name == "methods" then .methods | method_table | @tsv
	elif $name == "samples" then .methods | sample_table | @tsv
	else error("no block \($name)") end;
