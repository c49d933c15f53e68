#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the lab: measure the cost of packets in qdiscs (cost.sh).
#
#   cost-guest.sh DIRECTORY ROUNDS WORDS
#
# DIRECTORY/qdiscs contains lines "NAME QDISC"; WORDS are words of rocehost's
# "blast".  Writes DIRECTORY/runs.json, with an object per round and qdisc.
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "$HERE/../.." && pwd)/build/${IQCN_LAB:-uml}
dir=$1 rounds=$2 words=$3
export TC_LIB_DIR=$BUILD/..

die()
{
	echo "$*" >&2
	exit 1
}

blast()
{
	local error

	echo "blast d0 $1" 2>/dev/null >/proc/net/rocehost/ctl && return
	read -r error </proc/net/rocehost/ctl
	die "\"blast d0 $1\": $error"
}

# once WORDS: run a blast; sets $ns_per_packet and $parameters
once()
{
	local dev flows mtu ect depth packets refused ns

	blast "$1"
	{
		read -r _
		IFS=, read -r dev _ flows mtu ect depth packets refused ns \
			ns_per_packet
	} </proc/net/rocehost/blast
	[ "$refused" = 0 ] || die "the qdisc refused $refused packets"
	parameters="\"flows\": $flows, \"mtu\": $mtu, \"ect\": $ect,
		\"depth\": $depth, \"packets\": $packets"
}

# measure LINE QDISC
measure()
{
	local i all=() ns_per_packet parameters

	tc -batch - <<-EOT || die "$2"
		qdisc add dev d0 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev d0 parent 1:1 handle 10: $2
	EOT
	# the first run warms up the qdisc and the caches, and is not counted
	for ((i = 0; i < 6; i++)); do
		once "$words"
		all+=("$ns_per_packet")
	done
	cat <<-EOT
		{"line": $1, "ns_per_packet": [$(IFS=, && echo "${all[*]:1}")],
		 "blast": {$parameters}, "tc": $(tc -s -j qdisc show dev d0)}
	EOT
	tc qdisc del dev d0 root
}

insmod "$BUILD/sch_iqcn.ko" && insmod "$BUILD/rocehost/rocehost.ko" ||
	die "cannot load the modules"
ip link add d0 mtu 9000 type dummy && ip link set d0 up || die "cannot create d0"
# keep packets of the stack out of the measurement
sysctl -qw net.ipv6.conf.d0.disable_ipv6=1

mapfile -t lines <"$dir/qdiscs"
for ((i = 0; i < rounds; i++)); do
	for line in "${!lines[@]}"; do
		measure "$line" "${lines[$line]#* }"
	done
done >"$dir/runs.json"
