#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the lab: rounds of traffic, with a check of the counters after each.
#
#   guest.sh MINUTES SECONDS
#
#   s0 ---- p0 [ br0 ] p1 ---- r0	all in one namespace: rocehost's hosts
#					do not use the stack
#
# In each round 2,048 connections are created and used, and their flows expire.
# Rounds alternate between
#   timer	flows that arrive with CE, at a constant rate, from senders
#		without RP: a CNP must be sent T1 after each packet
#   pi		messages of 64 KB into a port of 10 Gb/s, from senders with RP
# After each round, once its flows have expired, these counters must balance:
#   packets	received = sent + dropped + queued; in the reverse direction
#		received + the box's CNPs = sent
#   CNPs	sent by the box = received by senders; sent by receivers =
#		received by the box = received by senders
#   timers	each flow has received nearly all CNPs that T1 caused (timer);
#		all messages are complete; no packet is queued, and no flow is
#		left
#   memory	the kernel uses as much memory as after the first rounds
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "$HERE/../.." && pwd)/build
export TC_LIB_DIR=$BUILD
minutes=$1 every=$2
FLOWS=2048 PACKETS=20
# rounds until caches have stopped growing
WARM=10
# tolerance for other users of slab and free memory
SLAB_KB=1024 FREE_KB=8192
failed=0

mkfifo "$TMPDIR/never"
exec {never}<>"$TMPDIR/never"

# sleep SECONDS: without creating a process
sleep()
{
	read -rt "$1" -u "$never"
	true
}

die()
{
	echo "not ok $*" >&2
	exit 1
}

fail()
{
	echo "not ok round $round ($kind): $*"
	failed=$((failed + 1))
	[ $failed -lt 20 ] || die "too many failures"
}

# equal WHAT LEFT RIGHT: check that two values are equal
equal()
{
	[ "$2" = "$3" ] || fail "$1: $2 is not equal to $3"
}

ctl()
{
	local error

	echo "$1" 2>/dev/null >/proc/net/rocehost/ctl && return
	read -r error </proc/net/rocehost/ctl
	die "\"$1\": $error"
}

setup()
{
	insmod "$BUILD/${IQCN_LAB:-uml}/sch_iqcn.ko" &&
		insmod "$BUILD/${IQCN_LAB:-uml}/rocehost/rocehost.ko" ||
		die "cannot load the modules"
	sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1 \
		net.core.netdev_max_backlog=1000000
	ip -batch - <<-IP
		link add s0 address 02:00:00:00:01:00 mtu 9000 type veth peer name p0
		link add r0 address 02:00:00:00:02:00 mtu 9000 type veth peer name p1
		link add br0 type bridge mcast_snooping 0
		link set p0 master br0 mtu 9000
		link set p1 master br0 mtu 9000
		link set s0 up
		link set r0 up
		link set p0 up
		link set p1 up
		link set br0 up
	IP
	bridge -batch - <<-FDB
		fdb replace 02:00:00:00:01:00 dev p0 master static
		fdb replace 02:00:00:00:02:00 dev p1 master static
	FDB
	tc -batch - <<-TC || die "cannot add the qdiscs"
		qdisc add dev p0 root handle 10: iqcn
		qdisc add dev p1 root handle 1: tbf rate 10gbit burst 9k limit 1g
		qdisc add dev p1 parent 1:1 handle 10: iqcn age 5s cnp-rate 10000000
	TC
	sleep 2
}

# Set up the flows of a round; $kind is the function.  With "timer", T1 is much
# shorter than the 2 ms between two packets of a flow.
timer()
{
	tc qdisc change dev p1 parent 1:1 handle 10: iqcn notify timer \
		t1 300us base both detect queue bandwidth 1gbit
	ctl "host s0 ip 10.0.1.1 rate 25gbit rp off cp-dscp 48 seed $round"
	ctl "host r0 ip 10.0.2.1 rate 25gbit cnp-dscp 46 cnp 1s"
	ctl "flow s0 to 10.0.2.1 flows $FLOWS mtu 256 size $((PACKETS * 256)) rate 1256kbit spread 2ms ect 3 cm"
}

pi()
{
	tc qdisc change dev p1 parent 1:1 handle 10: iqcn notify pi \
		bandwidth 10gbit
	ctl "host s0 ip 10.0.1.1 rate 25gbit cp-dscp 48 seed $round"
	ctl "host r0 ip 10.0.2.1 rate 25gbit cnp-dscp 46"
	ctl "flow s0 to 10.0.2.1 flows $FLOWS size 64k spread 100ms cm"
}

# counters DEV: set $c to the counters of its iqcn, and to qlen and drops of all
# qdiscs
declare -A c
counters()
{
	local json name

	json=$(tc -s -j qdisc show dev "$1")
	c[qlen]=0 c[drops]=0
	while [[ $json =~ \"drops\":([0-9]+),[^}]*\"qlen\":([0-9]+)(.*) ]]; do
		# a classful qdisc includes its children: take the maximum
		((c[qlen] = c[qlen] > BASH_REMATCH[2] ? c[qlen] : BASH_REMATCH[2],
		  c[drops] = c[drops] > BASH_REMATCH[1] ? c[drops] : BASH_REMATCH[1]))
		json=${BASH_REMATCH[3]}
		last=$json
		for name in cnp_seen cnp_sent cnp_unpaired cnp_budget \
			    cnp_error flow_new flows port_cnp_unmatched \
			    flow_evicted flow_aged flow_full; do
			[[ $last =~ \"$name\":([0-9]+) ]] &&
				c[$name]=${BASH_REMATCH[1]}
		done
	done
}

# device DEV rx|tx: set $n to its packets
device()
{
	read -r n <"/sys/class/net/$1/statistics/$2_packets"
}

# hosts: set $sent $got $cnps_cp $cnps_np $messages $least $most $np_cnps
# $strays $malformed from the counters of the hosts
hosts()
{
	read -r sent cnps_cp cnps_np messages least most got np_cnps strays malformed <<<"$(
		awk -F, '
		FNR == 1 {
			delete col
			for (i = 1; i <= NF; i++)
				col[$i] = i
			next
		}
		"cnps_cp" in col {
			n = $col["cnps_cp"]
			sent += $col["packets"]
			cp += n
			np += $col["cnps_np"]
			messages += $col["messages"]
			if (n > most) most = n
			if (!flows++ || n < least) least = n
			next
		}
		"out_of_order" in col {
			got += $col["packets"]
			cnps += $col["cnps"]
			next
		}
		{ strays += $col["stray"]; malformed += $col["malformed"] }
		END {
			print sent + 0, cp + 0, np + 0, messages + 0, least + 0,
				most + 0, got + 0, cnps + 0, strays + 0,
				malformed + 0
		}' /proc/net/rocehost/{flows,sinks,hosts})"
}

memory()
{
	local name kb

	while read -r name kb _; do
		case $name in
		MemFree:) free=$kb ;;
		Slab:) slab=$kb ;;
		esac
	done </proc/meminfo
}

# Check that all packets received since the devices were created have been sent
# or dropped, or are still queued
accounts()
{
	local in_data in_back out_data out_back n

	device p0 rx; in_data=$n
	device p1 tx; out_data=$n
	device p1 rx; in_back=$n
	device p0 tx; out_back=$n
	equal "packets to the receivers, and out, dropped and waiting" \
		"$in_data" $((out_data + c[drops] + c[qlen]))
	equal "packets to the senders with the box's CNPs, and out" \
		$((in_back + c[cnp_sent])) "$out_back"
	device s0 rx
	equal "packets to the senders, and at them" "$out_back" "$n"
}

declare -A was=([cnp_sent]=0 [cnp_seen]=0 [drops]=0 [port_cnp_unmatched]=0
	[flow_new]=0)
check_round()
{
	local cnps=$((c[cnp_sent] - was[cnp_sent]))
	local seen=$((c[cnp_seen] + c[port_cnp_unmatched] - was[cnp_seen] -
		      was[port_cnp_unmatched]))

	equal "packets waiting" "${c[qlen]}" 0
	accounts
	# connection setup may be dropped, too
	((sent >= got && sent - got <= c[drops] - was[drops])) ||
		fail "data: $sent sent, $got got, $((c[drops] - was[drops])) dropped"
	equal "the box's CNPs, and those that senders got" "$cnps" $((cnps_cp + strays))
	equal "malformed packets at senders and receivers" "$malformed" 0
	equal "CNPs of receivers, and received by the box" "$np_cnps" "$seen"
	equal "receivers' CNPs, and those that senders got" "$np_cnps" "$cnps_np"
	equal "due, and not sent: unpaired, budget, error" \
		"${c[cnp_unpaired]} ${c[cnp_budget]} ${c[cnp_error]}" "0 0 0"
	equal "flows made" $((c[flow_new] - was[flow_new])) "$FLOWS"
	equal "flows left" "${c[flows]}" 0
	equal "messages complete" "$messages" "$FLOWS"
	# congestion is detected at the end of the first window, when each flow
	# has sent one or two packets
	if [ $kind = timer ]; then
		((least >= PACKETS - 2 && most <= PACKETS)) ||
			fail "CNPs of a flow: $least to $most for $PACKETS packets"
		((least < worst)) && worst=$least
	fi
	total_sent=$((total_sent + sent))
	total_np=$((total_np + np_cnps))
	for n in "${!was[@]}"; do
		was[$n]=${c[$n]}
	done
}

check_memory()
{
	memory
	if [ $round = $WARM ]; then
		slab_first=$slab free_first=$free
	elif [ $round -gt $WARM ]; then
		((slab - slab_first <= SLAB_KB)) ||
			fail "slab: $slab kB, $slab_first after $WARM rounds"
		((free_first - free <= FREE_KB)) ||
			fail "free: $free kB, $free_first after $WARM rounds"
	fi
}

progress()
{
	printf '%5d:%02d h %6d rounds %11d packets %10d CNPs %9d flows  slab %6d kB  free %7d kB\n' \
		$((now / 3600)) $((now / 60 % 60)) "$round" "$total_sent" \
		"${c[cnp_sent]}" "${c[flow_new]}" "$slab" "$free"
}

seconds()
{
	read -r now _ </proc/uptime
	now=${now%.*}
	now=$((now - began))
}

setup
kind=none round=0 total_sent=0 total_np=0 worst=$PACKETS last_shown=0
slab_first=0 free_first=0
began=0
seconds
began=$now
end=$((minutes * 60))
shown=$((end / 24 > every ? end / 24 : every))
while :; do
	round=$((round + 1))
	[ $((round % 2)) = 0 ] && kind=pi || kind=timer
	$kind
	ctl start
	# traffic takes a second, and flows expire after 5 s
	sleep 12
	counters p1
	hosts
	check_round
	ctl clear
	check_memory
	seconds
	if ((now - last_shown >= shown)); then
		progress
		last_shown=$now
	fi
	((now < end)) || break
	next=$((round * every))
	((next <= now)) || sleep $((next - now))
done
progress
echo
printf '%-44s %s\n' "virtual time" "$((now / 3600)) h $((now / 60 % 60)) min" \
	"rounds, of $FLOWS connections each" "$round" \
	"flows made and forgotten" "${c[flow_new]}" \
	"packets of data, and of all those dropped" "$total_sent, ${c[drops]}" \
	"CNPs sent, injected and received by hosts" "${c[cnp_sent]}" \
	"CNPs of receivers, all received by senders" "$total_np" \
	"CNPs for $PACKETS packets: the least of a flow" "$worst" \
	"slab after $WARM rounds and at the end" "$slab_first kB, $slab kB" \
	"accounts that did not add up" "$failed"
rmmod rocehost && tc qdisc del dev p0 root && tc qdisc del dev p1 root
for _ in {1..20}; do
	rmmod sch_iqcn 2>/dev/null && break
	sleep 0.5
done
if grep -q '^sch_iqcn ' /proc/modules; then
	echo "not ok cannot unload the module"
	failed=1
fi
[ $failed = 0 ] && echo "ok soak: $minutes min, every account adds up"
[ $failed = 0 ]
