#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the lab: one variant of a scenario.
#
#   guest.sh DIRECTORY [COMMAND...]
#
# DIRECTORY/scenario contains the lines of the scenario that matter here
# (scenarios.sh).  COMMAND runs on the switch, on /dev/tty1, and its end ends
# the scenario.
#
#   s0 ---- p0 [            ] q0 ---- r0	the bottleneck is on q0
#   s1 ---- p1 [ sw: bridge ] q1 ---- r1
#   ...        [  or router ]         ...
#
# With "behind RATE QDISC" there is an ordinary upstream switch, with this qdisc
# on its port to sw:
#
#   s0 ---- p0 [              ] e0 ---- p0 [    ] q0 ---- r0
#   s1 ---- p1 [ edge: bridge ]            [ sw ] q1 ---- r1
#
# With "link" all links are wires of rocehost, without tbf.  With "fabric", the
# name of fabric.py's output directory, there may be several switches, and
# lib-fabric.sh replaces some of these functions.
#
# Senders and receivers are rocehost's, in the namespaces snd and rcv.  The
# output of rocehost and tc is written to DIRECTORY.
#
# Every command advances the virtual clock a little, and random numbers depend
# on the time.  So the results of a seed depend on every command of this script.
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "$HERE/../.." && pwd)/build/${IQCN_LAB:-uml}
out=$1
senders=snd watched=sw
beside=("${@:2}")
export TC_LIB_DIR=$BUILD/..

die()
{
	echo "$*" >&2
	exit 1
}

in_ns()
{
	nsenter --net="/run/netns/$1" "${@:2}"
}

# ctl NS: pass stdin to rocehost line by line, from a single process
ctl()
{
	in_ns "$1" bash -c '
	while IFS= read -r line; do
		echo "$line" 2>/dev/null >/proc/net/rocehost/ctl && continue
		read -r error </proc/net/rocehost/ctl
		echo "\"$line\": $error" >&2
		exit 1
	done' || exit 1
}

# Parse the scenario into variables
declare -A conf sender_words
flows=()
read_scenario()
{
	local key rest

	while read -r key rest; do
		case $key in
		flows) flows+=("$rest") ;;
		sender) sender_words[${rest%% *}]=${rest#* } ;;
		*) conf[$key]=$rest ;;
		esac
	done <"$out/scenario"
	read -r n_snd snd_words <<<"${conf[senders]-}"
	read -r n_rcv rcv_words <<<"${conf[receivers]-}"
}

# mac KIND I: set $mac, because a subshell would be a process
mac()
{
	printf -v mac '02:00:00:%02x:%02x:%02x' "$1" $(($2 / 256)) $(($2 % 256))
}

# ports NS DEV SWITCH PORT KIND N: print N links between hosts and switch
ports()
{
	local i

	for ((i = 0; i < $6; i++)); do
		mac "$5" $i
		printf 'link add %s netns %s address %s mtu 9000 type veth ' \
			"$2$i" "$1" $mac
		mac $(($5 + 16)) $i
		echo "peer name $4$i netns $3 address $mac mtu 9000"
	done
}

# deep_queues DEV: print commands for a host that drops nothing, however long it
# is paused
deep_queues()
{
	local i

	echo "qdisc replace dev $1 root handle 1: mq"
	for ((i = 1; i <= 8; i++)); do
		echo "qdisc replace dev $1 parent 1:$i pfifo limit 1000000"
	done
}

# wires NS DEV PORT KIND N: create N wires instead of the links of ports(), and
# move the ports to sw
wires()
{
	local i rate

	read -r rate _ <<<"${conf[bottleneck]}"
	for ((i = 0; i < $5; i++)); do
		echo "wire $2$i $3$i ${conf[link]}"
	done | {
		# the last of several equal words takes effect
		[ "$3" != q ] || sed "1s/$/ rate $rate/"
		cat
	} | ctl "$1" || exit 1
	for ((i = 0; i < $5; i++)); do
		mac "$4" $i
		echo "link set $2$i address $mac"
		mac $(($4 + 16)) $i
		echo "link set $3$i address $mac netns sw"
	done | ip -n "$1" -batch - &&
		for ((i = 0; i < $5; i++)); do
			deep_queues "$2$i"
		done | tc -n "$1" -batch -
}

# up DEV N: print commands that set N devices up
up()
{
	local i

	for ((i = 0; i < $2; i++)); do
		echo "link set $1$i up"
	done
}

bridge_ports()
{
	local i

	echo "link add br0 type bridge mcast_snooping 0"
	for ((i = 0; i < $2; i++)); do
		echo "link set $1$i master br0"
	done
}

# bridge_fdb PORT KIND N [DEV]: print FDB entries of all hosts, all behind DEV
# if given, so that the bridge neither learns nor floods
bridge_fdb()
{
	local i

	for ((i = 0; i < $3; i++)); do
		mac "$2" $i
		echo "fdb replace $mac dev ${4-$1$i} master static"
	done
}

# router_ports PORT KIND N
router_ports()
{
	local i

	for ((i = 0; i < $3; i++)); do
		echo "addr add 10.$2.$i.254/24 dev $1$i"
		mac "$2" $i
		echo "neigh add 10.$2.$i.1 lladdr $mac dev $1$i"
	done
}

switch_bridge()
{
	ip -n sw -batch - <<-EOF &&
		$(bridge_ports p "$n_p")
		$(bridge_ports q "$n_rcv" | tail -n +2)
		link set br0 up
	EOF
	bridge -n sw -batch - <<-EOF
		$(bridge_fdb p 1 "$n_snd" ${conf[behind]:+p0})
		$(bridge_fdb q 2 "$n_rcv")
	EOF
}

# Create the upstream switch
edge()
{
	local rate qdisc

	read -r rate qdisc <<<"${conf[behind]}"
	ip -batch - <<-EOF &&
		link add e0 netns edge mtu 9000 type veth peer name p0 netns sw mtu 9000
	EOF
	ip -n edge -batch - <<-EOF &&
		$(up p "$n_snd")
		link set e0 up
		$(bridge_ports p "$n_snd")
		link set e0 master br0
		link set br0 up
	EOF
	bridge -n edge -batch - <<-EOF &&
		$(bridge_fdb p 1 "$n_snd")
		$(bridge_fdb q 2 "$n_rcv" e0)
	EOF
	tc -n edge -batch - <<-EOF
		qdisc add dev e0 root handle 1: tbf rate $rate burst 12k limit 1g
		qdisc add dev e0 parent 1:1 handle 10: $qdisc
	EOF
}

switch_router()
{
	in_ns sw sysctl -qw net.ipv4.ip_forward=1 &&
	ip -n sw -batch - <<-EOF
		$(router_ports p 1 "$n_snd")
		$(router_ports q 2 "$n_rcv")
	EOF
}

topology()
{
	local ns all="snd sw rcv" first=sw n_p=$n_snd

	# no unneeded namespaces or ports: results of a seed depend on them
	[ -z "${conf[behind]-}" ] || all+=" edge" first=edge n_p=1
	for ns in $all; do
		echo "netns add $ns"
	done | ip -batch -
	for ns in $all; do
		in_ns $ns sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
	if [ -n "${conf[link]-}" ]; then
		wires snd s p 1 "$n_snd" && wires rcv r q 2 "$n_rcv" ||
			die "cannot create the wires"
	else
		ip -batch - <<-EOF
			$(ports snd s $first p 1 "$n_snd")
			$(ports rcv r sw q 2 "$n_rcv")
		EOF
	fi
	[ $first = sw ] || edge || die "cannot create the upstream switch"
	ip -n snd -batch - <<<"$(up s "$n_snd")" &&
		ip -n rcv -batch - <<<"$(up r "$n_rcv")" &&
		ip -n sw -batch - <<<"$(up p "$n_p"; up q "$n_rcv")" &&
		"switch_${conf[topology]-bridge}" ||
		die "cannot create the topology"
	# bursts must reach the qdisc, and not be dropped by the backlog queue
	sysctl -qw net.core.netdev_max_backlog=1000000
	sleep 2
}

qdisc()
{
	local rate burst

	if [ -n "${conf[link]-}" ]; then
		tc -n sw -batch - <<<"qdisc add dev q0 root handle 10: ${conf[qdisc]}" ||
			die "${conf[qdisc]}"
		return
	fi
	read -r rate burst <<<"${conf[bottleneck]}"
	tc -n sw -batch - <<-EOF || die "${conf[qdisc]}"
		qdisc add dev q0 root handle 1: tbf rate $rate burst $burst limit 1g
		qdisc add dev q0 parent 1:1 handle 10: ${conf[qdisc]}
	EOF
}

# via KIND I: set $via, words of "host": the MAC address of the router's port
# that the host is connected to; empty if there is no router
via()
{
	via=""
	[ "${conf[topology]-bridge}" = router ] || return
	mac $(($1 + 16)) "$2"
	via="via $mac"
}

hosts()
{
	local i

	for ((i = 0; i < n_snd; i++)); do
		via 1 $i
		echo "host s$i ip 10.1.$i.1 $via seed $((conf[seed] * 1000 + i)) ${conf[host]-} $snd_words ${sender_words[$i]-} ${conf[hosts]-}"
	done | ctl snd || exit 1
	for ((i = 0; i < n_rcv; i++)); do
		via 2 $i
		echo "host r$i ip 10.2.$i.1 $via ${conf[host]-} $rcv_words ${conf[hosts]-}"
	done | ctl rcv || exit 1
	ctl sw <<<"probe q0 every ${conf[sample]-5us} samples 1000000 kmax ${conf[kmax]}" || exit 1
}

# Pass the lines "NAME from all|I to J WORDS" to rocehost
all_flows()
{
	local line name from to words i first last

	for line in "${flows[@]}"; do
		read -r name _ from _ to words <<<"$line"
		first=$from last=$from
		[ "$from" != all ] || first=0 last=$((n_snd - 1))
		for ((i = first; i <= last; i++)); do
			echo "flow s$i name $name to 10.2.$to.1 $words"
		done
	done | ctl snd || exit 1
}

# agent MS: start "iqcn agent" for that time, in the top directory
agent()
{
	local words interval_ms=1 killed_ms=""

	read -ra words <<<"${conf[agent]}"
	if [ "${words[0]}" = killed ]; then
		killed_ms=${words[1]%ms}
		words=("${words[@]:2}")
	fi
	[[ ${conf[agent]} != *"--interval 5ms"* ]] || interval_ms=5
	(cd "$BUILD/../.." && exec nsenter --net="/run/netns/$watched" \
		build/iqcn agent "${words[@]}" --count $(($1 / interval_ms)) \
		--log "$out/agent.csv" -j "${conf[port]}") >"$out/agent.json" &
	agent=$!
	[ -z "$killed_ms" ] || {
		sleep "$(printf '0.%03d' "$killed_ms")"
		kill -9 $agent
		# a millisecond more than the default lease
		sleep 0.101
		tc -n "$watched" -s -j qdisc show dev "${conf[port]}" |
			jq -c '.[] | select(.kind == "iqcn") | { leases_ended }' \
				>"$out/agent.json"
	} &
}

run()
{
	local ms=$((${conf[duration]%ms} + 200))

	[ -z "${conf[agent]-}" ] || agent "${conf[duration]%ms}"
	ctl "$senders" <<<"start count ${conf[count]} for ${conf[duration]}" || exit 1
	[ ${#beside[@]} = 0 ] || watch "$ms"
	# wait for the end and for packets in flight
	sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
	[ -z "${conf[agent]-}" ] || wait "$agent" ||
		[[ $? = 137 && ${conf[agent]} = killed* ]] || die "the agent failed"
	[ -n "${conf[figures]-}" ] || reports
}

reports()
{
	local ns

	tc -n sw -s -j qdisc show dev q0 >"$out/tc.json" || die "tc failed"
	report snd flows completions trace settings hosts
	report rcv sinks settings hosts
	report sw samples
	[ -z "${conf[link]-}" ] || for ns in snd rcv sw; do
		report $ns wires pfc
	done
}

# watch MS: run the command instead of reporting
watch()
{
	# not in_ns: a function would add a process, and kill would end only
	# that process; setsid -c makes ^C work on the terminal
	setsid -c nsenter --net="/run/netns/$watched" "${beside[@]}" \
		</dev/tty1 >/dev/tty1 2>&1 &
	sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))" &
	wait -n
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	wait
	exit 0
}

# report NS FILE...: append rocehost's FILE to FILE.csv, with one header
report()
{
	local ns=$1 f skip
	shift

	for f; do
		skip=1
		[ ! -e "$out/$f.csv" ] || skip=2
		in_ns "$ns" tail -n +$skip "/proc/net/rocehost/$f" \
			>>"$out/$f.csv" || die "cannot read rocehost's $f"
	done
}

read_scenario
insmod "$BUILD/sch_iqcn.ko" && insmod "$BUILD/rocehost/rocehost.ko" ||
	die "cannot load the modules"
# shellcheck source=selftests/scenarios/lib-fabric.sh
[ -z "${conf[fabric]-}" ] || . "$HERE/lib-fabric.sh"
topology
qdisc
hosts
all_flows
run
