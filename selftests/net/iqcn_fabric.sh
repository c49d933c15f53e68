#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Check the networks of several switches that fabric.py creates for scenarios
# (paths, loads, times of messages), and its messages for bad scenarios.

ALL_TESTS="
	test_empty_network
	test_paths
	test_paths_of_hosts
	test_loads
	test_chain
	test_pair
	test_ends
	test_bad_scenarios
"
NIGHTLY_TESTS="
	test_paths test_paths_of_hosts test_loads test_chain test_ends
	test_bad_scenarios
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/lib-rocehost.sh
. "$(dirname "$0")/lib-rocehost.sh"
scenarios=$(cd "$(dirname "$0")/../scenarios" && pwd)

# ctl NS: pass stdin to rocehost line by line
ctl()
{
	in_ns "$1" bash -c '
	while IFS= read -r line; do
		echo "$line" 2>/dev/null >/proc/net/rocehost/ctl && continue
		read -r error </proc/net/rocehost/ctl
		echo "\"$line\": $error"
		exit 1
	done' || fail "rocehost refuses a line"
}

die()
{
	echo "# $*"
	exit 1
}

# leave: remove the network
leave()
{
	unload
	ip -all netns delete
	sysctl -qw net.core.devconf_inherit_init_net=0 \
		net.ipv6.conf.all.disable_ipv6=0 \
		net.ipv6.conf.default.disable_ipv6=0
}

# fabric LINE...: create the network of a scenario
fabric()
{
	local dir=$TMP/fabric
	declare -gA conf=([fabric]=fabric)

	out=$TMP
	printf '%s\n' "seed 1" "kmax 1m" "duration 10ms" "sample 1ms" "$@" \
		>"$TMP/scenario"
	rm -rf "$dir"
	"$scenarios/fabric.py" lab "$TMP/scenario" "bfifo limit 100m" "$dir" ||
		fail "fabric.py"
	# shellcheck source=selftests/scenarios/lib-fabric.sh
	. "$scenarios/lib-fabric.sh"
	load
	# in a subshell, which die() ends
	(topology && qdisc && hosts && all_flows) || fail "no network"
}

# run MS: start the hosts, and wait until the run is over
run()
{
	told hosts "start for $1ms"
	sleep "$(printf '%d.%03d' $((($1 + 50) / 1000)) $((($1 + 50) % 1000)))"
}

# Without other traffic a flow takes the time that fabric.py has calculated,
# over two, four and six links
test_empty_network()
{
	fabric "topology fattree 4" "host rate 25gbit ack 1" \
		"link rate 25gbit delay 1us" "trunk rate 40gbit delay 3us" \
		"message 0 1 1 1ms" "message 0 2 1 2ms" "message 0 15 1 3ms" \
		"message 0 1 5000 4ms" "message 0 2 5000 5ms" \
		"message 0 15 5000 6ms" "message 15 0 1000000 7ms"
	run 20
	in_ns hosts cat /proc/net/rocehost/completions >"$TMP/done"
	check_eq "within 1 permille" "$(awk -F, '
	FNR == 1 { next }
	FNR == NR { took[$1, $4] = $5; next }
	{
		off = took[$1, $2] - $6
		if (off * off > ($6 / 1000 + 1) ^ 2)
			print "#    ", $1, "to", $4, $5, "bytes:", took[$1, $2],
				"ns, calculated", $6 >"/dev/stderr"
		else
			n++
	}
	END { print n }' "$TMP/done" "$TMP/fabric/flows.csv")" 7
	leave
}

# large_tree N LINE...: a fat tree of 80 switches carries N messages
large_tree()
{
	fabric "topology fattree 8" "host rate 100gbit ack 1" \
		"link rate 100gbit delay 1us" "${@:2}"
	# wait until the last multicast reports of IPv6 have left
	sleep 10
	run 10
	check "messages" "$(sum hosts flows messages)" -eq "$1"
}

# even N: check that 16 core switches carry N packets each, apart from random
# deviations. $TMP/cores contains a line "SWITCH PACKETS" for each switch.
# Chi-squared with 15 degrees of freedom is below 37.7 with a probability of
# 0.999.
even()
{
	check "cores" "$(awk '{ print $1 }' "$TMP/cores" | sort -u | wc -l)" -eq 16
	note "packets: $(awk '{ print $2 }' "$TMP/cores" | paste -sd ' ')"
	check "chi-squared times 10" "$(awk -v n="$1" '
	{ s += ($2 - n) ^ 2 / n }
	END { print int(s * 10) }' "$TMP/cores")" -lt 377
}

# The flows of 4,096 source ports use all core switches equally, and the ACKs of
# each flow return through the same switch as its data
test_paths()
{
	local lines=() i

	for ((i = 0; i < 4096; i++)); do
		lines+=("flows one from 0 to 127 sport $((49152 + i)) size 1")
	done
	large_tree 4096 "${lines[@]}"
	for ((i = 0; i < 16; i++)); do
		in_ns "c$i" awk -F, -v core="$i" '
		$1 ~ "-a(" int(core / 4) "|" 28 + int(core / 4) ")$" { print core, $4 }' \
			/proc/net/rocehost/wires
	done >"$TMP/both"
	check_eq "other way back" "$(awk '
	NR % 2 { data = $2; next }
	data != $2 { print data, $0 }' "$TMP/both")" ""
	sed -n 'n;p' "$TMP/both" >"$TMP/cores"
	even 256
	leave
}

# The flows of 128 hosts, each to a host of another pod, use all core switches
# equally, too. Their source ports follow from their QP numbers.
test_paths_of_hosts()
{
	local lines=() i

	for ((i = 0; i < 128; i++)); do
		lines+=("flows one from $i to $(((i + 64) % 128)) flows 8 size 1")
	done
	large_tree 1024 "${lines[@]}"
	for ((i = 0; i < 16; i++)); do
		# half of the packets are ACKs
		in_ns "c$i" awk -F, -v core="$i" '
		NR > 1 { n += $4 }
		END { print core, n / 2 }' /proc/net/rocehost/wires
	done >"$TMP/cores"
	even 64
	leave
}

# load_of CDF TIME: check that the bytes of the messages are 50 % of what the
# links can carry in TIME, within a tenth of that
load_of()
{
	local permille

	printf '%s\n' "seed 1" "kmax 1m" "duration 1s" "topology leafspine 2 1 8" \
		"link rate 10gbit" "load $1 50 for $2" >"$TMP/scenario"
	"$scenarios/fabric.py" lab "$TMP/scenario" bfifo "$TMP/load" ||
		fail "fabric.py"
	# 16 links of 10 Gb/s
	permille=$(awk -F, -v ms="${2%ms}" '
	NR > 1 { bytes += $5 }
	END { print int(1000 * bytes / (16 * 1.25e6 * ms * 0.5)) }' \
		"$TMP/load/flows.csv")
	check "$1, permille of the load" "$permille" -ge 900
	check "$1, permille of the load" "$permille" -le 1100
}

test_loads()
{
	load_of websearch 1000ms
	load_of alistorage 100ms
	load_of fbhadoop 200ms
}

# Messages between hosts at both ends of a long fiber take the calculated time
test_chain()
{
	fabric "topology longhaul 100" "senders 2 rate 10gbit" \
		"receivers 1 rate 10gbit ack 1" "link rate 10gbit delay 1us" \
		"message 0 0 4096 1ms" "message 1 0 1 4ms"
	run 20
	# 100 km of fiber delay by 500 us in each direction
	in_ns hosts awk -F, 'NR > 1 { print $5 }' /proc/net/rocehost/completions \
		>"$TMP/done"
	check_eq "took, calculated" "$(awk -F, '
	FNR == NR { took[FNR] = $1; next }
	FNR > 1 && (took[FNR - 1] - $6) ^ 2 <= 4 && $6 > 1000000 { n++ }
	END { print n }' "$TMP/done" "$TMP/fabric/flows.csv")" 2
	leave
}

# Two networks with a fiber between them: messages within a network, and from
# one network to the other, take the calculated time
test_pair()
{
	fabric "topology pair 80 fattree 2" "link rate 10gbit delay 1us" \
		"fiber rate 40gbit" "message 0 1 4096 1ms" "message 0 2 4096 2ms"
	run 20
	in_ns hosts awk -F, 'NR > 1 { print $5 }' /proc/net/rocehost/completions \
		>"$TMP/done"
	check_eq "took, calculated" "$(awk -F, '
	FNR == NR { took[FNR] = $1; next }
	FNR > 1 && (took[FNR - 1] - $6) ^ 2 <= 16 { n++ }
	END { print n }' "$TMP/done" "$TMP/fabric/flows.csv")" 2
	# 80 km of fiber delay by 400 us in each direction
	check "time to the other network, ns" "$(tail -n 1 "$TMP/done")" -ge 800000
	check "time to the same network, ns" "$(head -n 1 "$TMP/done")" -lt 50000
	leave
}

# The words in "ends" apply to the ports at both ends of the fiber, and to no
# other port
test_ends()
{
	printf '%s\n' "seed 1" "kmax 1m" "duration 10ms" "topology longhaul 100" \
		"senders 1" "receivers 1" "link rate 10gbit" "message 0 0 1 1ms" \
		>"$TMP/scenario"
	"$scenarios/fabric.py" lab "$TMP/scenario" "iqcn notify pi kmin 1k" \
		"$TMP/ends" "" "" "kmin 2k fiber 100km" || fail "fabric.py"
	check_eq "qdiscs" "$(cat "$TMP"/ends/sw?.tc | cut -d ' ' -f 4,8- | sort)" \
"sw0-s0 iqcn notify pi kmin 1k
sw0-sw1 iqcn notify pi kmin 2k fiber 100km
sw1-r0 iqcn notify pi kmin 1k
sw1-sw0 iqcn notify pi kmin 2k fiber 100km"
	sed -i 's/^topology .*/topology chain 2/' "$TMP/scenario"
	check_eq "without a fiber" "$("$scenarios/fabric.py" check \
		"$TMP/scenario" "" "kmin 2k" 2>&1)" "ends: the topology has no fiber"
}

# refused LINES MESSAGE: check that fabric.py refuses a scenario with these
# lines
refused()
{
	printf '%s\n' "seed 1" "kmax 1m" "duration 10ms" "$1" >"$TMP/scenario"
	check_eq "${1//$'\n'/, }" \
		"$("$scenarios/fabric.py" check "$TMP/scenario" 2>&1)" "$2"
}

test_bad_scenarios()
{
	local net=$'link rate 1gbit\ntopology fattree 4\n'

	refused $'link rate 1gbit\ntopology fattree 3' \
		"topology: fattree 3: K must be even"
	refused $'link rate 1gbit\ntopology fattree 18' \
		"topology: fattree: 18 is not a number from 2 to 16"
	refused $'link rate 1gbit\ntopology ring 3' \
		'topology: "ring" is not chain, longhaul, leafspine, fattree, pair'
	refused $'link rate 1gbit\ntopology leafspine 2 2' \
		"topology: leafspine LEAVES SPINES HOSTS-PER-LEAF"
	refused $'link rate 1gbit\ntopology pair 80 chain 2' \
		"topology: pair KM leafspine|fattree ..."
	refused $'link rate 1gbit\ntopology pair 0 fattree 2' \
		"topology: fiber: 0 is not a number from 1 to 10000"
	refused "topology fattree 4" "link is missing"
	refused $'link rate 1furlong\ntopology fattree 4' \
		'link: rate: "1furlong" is not a number with a unit of rate (bit, kbit, mbit, gbit)'
	refused $'link rate 0gbit\ntopology fattree 4' \
		"link: rate: 0gbit is less than 1000000"
	refused $'link rate 1gbit\ntopology line 3 4' \
		'topology: "line" is not chain, longhaul, leafspine, fattree, pair'
	refused $'link rate 1gbit\ntopology leafspine 1 1 1\nload websearch 9 for 1ms' \
		"topology: there must be two hosts"
	refused "${net}load bittorrent 50 for 1ms" \
		'load: "bittorrent" is not websearch, alistorage, fbhadoop'
	refused "${net}load websearch 0 for 1ms" \
		"load: percent: 0 is not a number from 1 to 100"
	refused "${net}load websearch 50" '"": for is missing'
	refused "${net}incast 16 size 1k every 1ms for 5ms" \
		"incast: 16 is not a number from 1 to 15"
	refused "${net}incast 2 size 0 every 1ms for 5ms" \
		"incast: size: 0 is less than 1"
	refused "${net}incast 2 size 1k every 0us for 5ms" \
		"incast: every: 0us is less than 1"
	refused "${net}message 0 1 0 1ms" "message: 0 is less than 1"
	refused "${net}message 0 1 1 1ms mtu 0" \
		"mtu: 0 is not a number from 256 to 4096"
	refused "${net}endless" "endless: flows:  is not a number from 1 to 1048576"
	refused "${net}flows x from 3 to 3 size 1" "flows: from 3 to itself"
	refused "${net}endless 1:2 5" 'endless: "1:2" is not permutation or M:1'
	refused "${net}flows x from 16 to 0 size 1" \
		"flows: from: 16 is not a number from 0 to 15"
	refused "${net}message 0 0 1 1ms" "message: from 0 to itself"
	refused "${net}permutation 4k" 'permutation: "4k" is not BYTES TIME WORDS'
	refused "${net}permutation 0 1ms" "permutation: 0 is less than 1"
	refused $'link rate 1gbit\ntopology chain 1\nsenders 1\nreceivers 1\npermutation 4k 1ms' \
		"permutation: the topology has senders and receivers"
	refused "${net}message 0 1 1 1ms"$'\nevent fail p0-p1 at 1ms' \
		'event: "fail p0-p1 at 1ms" is not fail or rate, a port and words'
	refused "${net}message 0 1 1 1ms"$'\nsender 16 lb ops' \
		"sender: 16 is not a number from 0 to 15"
	refused "$net" "flows, endless, load, incast, message or permutation is missing"
}

run_tests
