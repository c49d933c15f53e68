#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside the lab: what packets cost in qdiscs (cost.sh).
#
#   cost-guest.sh DIRECTORY ROUNDS WORDS
#
# DIRECTORY/qdiscs has lines "NAME QDISC", WORDS are those of rocehost's "blast".
# Leaves DIRECTORY/runs.json, an object per round and qdisc.
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

# once WORDS: what a packet took, in $ns_per_packet
once()
{
	local dev flows mtu ect depth packets refused ns

	blast "$1"
	{
		read -r _
		IFS=, read -r dev flows mtu ect depth packets refused ns \
			ns_per_packet
	} </proc/net/rocehost/blast
	[ "$refused" = 0 ] || die "the qdisc refuses $refused packets"
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
	# the first ones are new to the qdisc, and to caches
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
	die "a module does not load"
ip link add d0 mtu 9000 type dummy && ip link set d0 up || die "no device"
# and nothing that the stack has to say in it
sysctl -qw net.ipv6.conf.d0.disable_ipv6=1

mapfile -t lines <"$dir/qdiscs"
for ((i = 0; i < rounds; i++)); do
	for line in "${!lines[@]}"; do
		measure "$line" "${lines[$line]#* }"
	done
done >"$dir/runs.json"
