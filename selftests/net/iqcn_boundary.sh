#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The boundary between the module and the stack. Any user can become root of a
# user namespace, and then send every request that the stack accepts from such a
# root: filter requests while a device is deleted, extreme sizes and rates, taps
# that mirror packets. No request may crash or overload the machine, or take
# memory that another user needs. Documentation/security.rst names these tests.
#
# The user is uid 65534, whose network namespace is called "me" in the
# /run/netns of the user's mount namespace.

ALL_TESTS="
	test_filter_races_link_del
	test_filter_races_link_move
	test_filter_races_backlog
	test_psample_tap
	test_psample_accounts
	test_mtu_drop
	test_mtu_extremes
	test_mtu_default_qdisc
	test_readers
	test_values_of_users
	test_stuck_queues
	test_share_of_bh
	test_users_flows
	test_failed_add
	test_type_change
	test_type_change_bond
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

NOBODY=65534

# The tools and the plugin, where any user may read and execute them
PUBLIC=$TMP/public
TRACE=/sys/kernel/tracing
chmod 711 "$TMP"
mkdir -m 755 "$PUBLIC"
for tool in roce genl psample iqcn q_iqcn.so badstab.so; do
	install -m 755 "$BUILD/$tool" "$PUBLIC/"
done
mkdir -m 1777 "$PUBLIC/theirs"
export TC_LIB_DIR=$PUBLIC

# MTUs whose multiples overflow 32 bits. dummy and ifb accept any MTU.
LARGE_MTUS="536870898 268435442 134217714 2147483647"

# Parameters that filters_in_flight adds to those of its iqcn
IQCN_WORDS=""

# For each uid, the process that keeps the user's namespaces alive
declare -A users

# user_comes [UID]: create user, network and mount namespaces of that user
user_comes()
{
	local uid=${1:-$NOBODY}

	# only the administrator loads modules
	modprobe sch_iqcn || fail "the module does not load"
	setpriv --reuid "$uid" --regid "$uid" --clear-groups --inh-caps=-all \
		unshare -Urnm bash -c "mount -t tmpfs tmpfs /run/netns &&
			ip netns attach me \$\$ && echo >&$ready
			exec sleep infinity" &
	users[$uid]=$!
	read -rt 60 -u "$ready" || fail "no user namespace for uid $uid"
}

# user UID COMMAND...: run COMMAND as root of that user's namespaces
user()
{
	setpriv --reuid "$1" --regid "$1" --clear-groups --inh-caps=-all \
		nsenter -t "${users[$1]}" -U --preserve-credentials -n -m "${@:2}"
}

nobody()
{
	user $NOBODY "$@"
}

# runs UID FUNCTION [ARGUMENT...]: run a function of this file as that user
runs()
{
	user "$1" bash -c "$(declare -f); $(declare -p never PUBLIC LARGE_MTUS IQCN_WORDS \
		SND_MAC RCV_MAC SND4 RCV4); \"\$@\"" bash "${@:2}"
}

# users_go: end the processes of all users, and so their namespaces
users_go()
{
	kill "${users[@]}"
	wait
	users=()
}

# unloads WHEN: check that the module unloads within 15 s
unloads()
{
	local deadline=$((SECONDS + 15))

	until rmmod sch_iqcn 2>/dev/null; do
		if [ $SECONDS -gt $deadline ]; then
			fail "$1 the module does not unload"
			return
		fi
		sleep 0.1
	done
	[ ! -d /sys/kernel/debug/iqcn ] || fail "$1 debugfs is left"
}

# filter_requests: write requests that add filters to the parent of iqcn on d0,
# into one file for each of three processes
filter_requests()
{
	local i n

	for i in 1 2 3; do
		for ((n = i; n < 3000; n += 3)); do
			echo "filter add dev d0 parent 1: protocol ip prio $n matchall action ok"
		done >"$PUBLIC/filters.$i"
	done
	modprobe -a cls_matchall act_gact 2>/dev/null
}

# filters_in_flight COMMAND...: run COMMAND, which removes d0, while three
# processes request filters, each until a request fails
filters_in_flight()
{
	local i

	ip link add d0 type dummy
	tc -batch - <<-EOF
		qdisc add dev d0 root handle 1: prio
		qdisc add dev d0 parent 1:1 handle 10: iqcn snoop netns $IQCN_WORDS
	EOF
	for i in 1 2 3; do
		tc -batch "$PUBLIC/filters.$i" >/dev/null 2>&1 &
	done
	sleep 0.15
	"$@"
	wait
}

# until_late FUNCTION: call FUNCTION up to 40 times, until filter requests have
# destroyed at least two iqcn qdiscs, as the trace event qdisc_destroy shows. On
# a single CPU, call it at most three times, because a request is hardly ever
# interrupted there between taking its reference and taking RTNL.
until_late()
{
	local event=$TRACE/events/qdisc/qdisc_destroy/enable
	local rounds=40 round=0 late=0

	[ "$(nproc)" -gt 1 ] || rounds=3
	[ ! -e $event ] || echo 1 >$event
	: >$TRACE/trace
	while [ $round -lt $rounds ] && [ "$late" -lt 2 ]; do
		"$1"
		round=$((round + 1))
		late=$(grep -c '^ *tc-.*kind=iqcn' $TRACE/trace)
	done
	note "iqcn outlived its device in $late of $round rounds"
	[ -e $event ] || return
	echo 0 >$event
	[ $rounds -lt 40 ] || check "rounds with a late destroy" "$late" -ge 1
}

# A filter request takes a reference to its qdisc before it waits for RTNL. If
# the holder of RTNL deletes the device meanwhile, that reference is the last
# one, and the request destroys the qdisc when the device is gone.
delete_round()
{
	runs $NOBODY filters_in_flight ip link del d0
}

test_filter_races_link_del()
{
	user_comes
	filter_requests
	until_late delete_round
	users_go
	unloads "after filter requests in flight"
}

# backlog_in_flight: like filters_in_flight, with packets stuck below cbs. In
# 6.1 cbs does not reset its child when the device is closed.
backlog_in_flight()
{
	local i

	ip link add d0 type dummy
	ip link set d0 up
	tc -batch - <<-EOF
		qdisc add dev d0 root handle 1: prio
		qdisc add dev d0 parent 1:1 handle 2: cbs idleslope 8 sendslope -9999 hicredit 30 locredit -1500
		qdisc add dev d0 parent 1:2 handle 3: cbs idleslope 8 sendslope -9999 hicredit 30 locredit -1500
		qdisc add dev d0 parent 1:3 handle 4: cbs idleslope 8 sendslope -9999 hicredit 30 locredit -1500
		qdisc add dev d0 parent 2:1 handle 10: iqcn bandwidth 10gbit kmin 0 kmax 0 mark-on enqueue
		qdisc add dev d0 parent 3:1 handle 20: iqcn bandwidth 10gbit kmin 0 kmax 0 mark-on enqueue
		qdisc add dev d0 parent 4:1 handle 30: iqcn bandwidth 10gbit kmin 0 kmax 0 mark-on enqueue
	EOF
	"$PUBLIC/roce" send d0 --tos 3 --src "$SND4" --dst "$RCV4" \
		--smac "$SND_MAC" --dmac "$RCV_MAC" --count 20
	# wait until a packet has left; the others stay queued
	for ((i = 0; i < 50; i++)); do
		[[ $(tc -s qdisc show dev d0) != *" congested by "* ]] || break
		sleep 0.05
	done
	[ $i -lt 50 ] || tc -s qdisc show dev d0
	for i in 1 2 3; do
		tc -batch "$PUBLIC/filters.$i" >/dev/null 2>&1 &
	done
	sleep 0.15
	ip link del d0
	wait
}

backlog_round()
{
	check_eq "backlog" "$(runs $NOBODY backlog_in_flight 2>&1)" ""
}

test_filter_races_backlog()
{
	if ! modprobe sch_cbs 2>/dev/null; then
		skip "this kernel has no cbs"
		return
	fi
	user_comes
	filter_requests
	until_late backlog_round
	users_go
	unloads "after packets that were stuck"
}

# used_in NS: check that iqcn works on d0 in NS, and delete d0
used_in()
{
	ip -n "$1" link set d0 up
	tc -n "$1" qdisc replace dev d0 root handle 10: iqcn bandwidth 10gbit group 7
	"$PUBLIC/roce" send "$1/d0" --tos 3 --src "$SND4" --dst "$RCV4" \
		--smac "$SND_MAC" --dmac "$RCV_MAC" --count 10
	[[ $(tc -n "$1" -s qdisc show dev d0) == *" ce_sent 10 "* ]] ||
		echo "no iqcn in $1"
	ip -n "$1" link del d0
}

move_round()
{
	runs $NOBODY filters_in_flight ip link set d0 netns other
	check_eq "device that has moved" "$(runs $NOBODY used_in other 2>&1)" ""
}

# Filter requests race with a device that moves to another namespace. The first
# namespace loses its hooks, event rings, sampler and debugfs directory with the
# port.
test_filter_races_link_move()
{
	local inum i

	IQCN_WORDS="group 7"
	modprobe psample || fail "psample does not load"
	user_comes
	filter_requests
	nobody ip -batch - <<-EOF
		netns add other
		link add v0 type veth peer name v1 address $RCV_MAC
		link set v0 up
		link set v1 up
	EOF
	until_late move_round
	IQCN_WORDS=""
	inum=$(command stat -Lc %i "/proc/${users[$NOBODY]}/ns/net")
	for ((i = 0; i < 30; i++)); do
		[ -e "/sys/kernel/debug/iqcn/$inum" ] || break
		sleep 0.1
	done
	[ $i -lt 30 ] || fail "debugfs still has the first namespace"
	unloads "after devices have moved"
	# a hook that the module has left behind would be called for these
	# packets
	nobody_sends v0 --count 10
	users_go
}

# nobody_sends DEV ARGUMENT...: send packets from the user's namespace; they are
# CE unless the ARGUMENTs change that
nobody_sends()
{
	nobody "$PUBLIC/roce" send "$1" --smac $SND_MAC --dmac $RCV_MAC \
		--src $SND4 --dst $RCV4 --tos 3 --len 64 "${@:2}"
}

# reader MS COMMAND...: run COMMAND, which starts psample, in the background for
# MS; its output goes to $TMP/samples
reader()
{
	local ms=$1 file=$PUBLIC/theirs/ready
	shift

	rm -f "$file"
	"$@" --time "$ms" --ready "$file" >"$TMP/samples" &
	for ((i = 0; i < 1000; i++)); do
		[ ! -e "$file" ] || return
		sleep 0.01
	done
	fail "psample does not listen"
}

# A sample is a netlink message. A tap of netlink messages may mirror it to the
# device whose packet is being sampled, and thus take that device's root lock.
test_psample_tap()
{
	modprobe psample 2>/dev/null
	modprobe -a nlmon act_mirred cls_matchall 2>/dev/null
	user_comes
	if ! nobody ip link add nl0 type nlmon 2>/dev/null; then
		skip "this kernel has no nlmon"
		users_go
		return
	fi
	nobody ip -batch - <<-EOF
		link add d0 type dummy
		link set d0 up
		link set nl0 up
	EOF
	nobody tc -batch - <<-EOF
		qdisc add dev d0 root handle 10: iqcn kmin 0 kmax 0 mark-on enqueue pmax 1 group 7
		qdisc add dev nl0 clsact
		filter add dev nl0 egress matchall action mirred egress mirror dev d0
	EOF
	reader 10000 nobody "$PUBLIC/psample" me 7 --count 21
	nobody_sends d0 --count 1
	nobody_sends d0 --count 20 --psn 1
	wait $!
	check "samples" "$(grep -c . "$TMP/samples")" -eq 21
	users_go
}

# Samples wait in a bounded list until the root lock is released. A burst may
# overflow the list; a counter accounts for each sample that is lost.
test_psample_accounts()
{
	local sampled lost read i

	modprobe psample || fail "psample does not load"
	topology bridge
	bottleneck 8kbit limit 64m kmin 0 kmax 0 mark-on enqueue group 7
	reader 60000 "$BUILD/psample" sw 7
	data --tos 3 --count 10000 --len 64
	release
	# copies are delivered after the packets
	for ((i = 0; i < 300; i++)); do
		sampled=$(stat ce_sampled) lost=$(stat sample_lost)
		read=$(grep -c . "$TMP/samples")
		[ $((read + lost)) -lt 10000 ] || break
		sleep 0.1
	done
	kill $!
	wait
	note "$sampled sampled, $read copied, $lost lost"
	check "sampled" "$sampled" -eq 10000
	check "copied and lost" $((read + lost)) -eq "$sampled"
	check "copied" "$read" -ge 100
}

# answers_to DEV: create d1, and redirect what is sent on it to the ingress of
# DEV
answers_to()
{
	modprobe -a act_mirred cls_matchall sch_ingress 2>/dev/null
	nobody ip -batch - <<-EOF
		link add d1 type dummy
		link set d1 up
	EOF
	nobody tc -batch - <<-EOF
		qdisc add dev d1 clsact
		filter add dev d1 egress matchall action mirred ingress redirect dev $1
	EOF
}

# pairs_d0 PARAMETER...: create d0 with iqcn in the user's namespace, and pair a
# flow
pairs_d0()
{
	nobody ip -batch - <<-EOF
		link add d0 type dummy
		link set d0 up
	EOF
	answers_to d0
	nobody tc qdisc add dev d0 root handle 10: iqcn "$@"
	nobody_sends d0 --count 4
	nobody "$PUBLIC/roce" send d1 --smac $RCV_MAC --dmac $SND_MAC \
		--src $RCV4 --dst $SND4 --type ack --qp 0x800011 --count 4
}

# The telemetry of a CNP divides by the limit. A limit that follows the MTU
# must not be 0, or the next packet is dropped and causes such a CNP.
test_mtu_drop()
{
	local mtu

	user_comes
	pairs_d0 telemetry on age 1000s
	nobody tc -s -j qdisc show dev d0 >"$TMP/stats"
	check "paired" "$(jq '.[].flows_paired' "$TMP/stats")" -eq 1
	for mtu in $LARGE_MTUS; do
		nobody ip link set d0 mtu "$mtu"
		nobody_sends d0 --tos 2 --psn 100 --count 10
		sleep 0.01
	done
	nobody tc -s -j qdisc show dev d0 >"$TMP/stats"
	check "dropped" "$(jq '.[].drop_overlimit' "$TMP/stats")" -eq 0
	# the lowest limit that may be set
	nobody tc qdisc change dev d0 root handle 10: iqcn limit 1
	nobody_sends d0 --tos 2 --psn 200 --count 10
	sleep 0.1
	nobody tc -s -j qdisc show dev d0 >"$TMP/stats"
	check "dropped" "$(jq '.[].drop_overlimit' "$TMP/stats")" -eq 10
	check "CNPs for drops" "$(jq '.[].cnp_drop' "$TMP/stats")" -ge 1
	users_go
}

# sane LINES: check the parameters that depend on each other. The input consists
# of LINES lines, each with a description and the JSON that tc prints for iqcn.
sane()
{
	local line name n=0
	local -A v

	while read -r line; do
		for name in limit kmin kmax; do
			[[ $line =~ \"$name\":([0-9]+) ]]
			v[$name]=${BASH_REMATCH[1]-none}
		done
		line=${line%%: \[*}
		check "$line: limit" "${v[limit]}" -ge 1
		check "$line: kmin" "${v[kmin]}" -le "${v[kmax]}"
		check "$line: kmax" "${v[kmax]}" -le "${v[limit]}"
		n=$((n + 1))
	done
	check "lines" $n -eq "$1"
}

# mtu_extremes IQCN-PARAMETER...: print the parameters after each change of the
# MTU, and again after the qdisc is added with that MTU
mtu_extremes()
{
	local mtu

	ip link add d0 type dummy
	ip link set d0 up
	tc qdisc add dev d0 root handle 10: iqcn "$@"
	for mtu in $LARGE_MTUS 68; do
		ip link set d0 mtu "$mtu"
		echo "mtu becomes $mtu, $*: $(tc -j qdisc show dev d0)"
		tc qdisc del dev d0 root
		tc qdisc add dev d0 root handle 10: iqcn "$@"
		echo "mtu is $mtu, $*: $(tc -j qdisc show dev d0)"
	done
	ip link del d0
}

# Defaults are consistent for every MTU and bandwidth, whichever is set first
test_mtu_extremes()
{
	local bandwidth

	user_comes
	for bandwidth in 0 1mbit 1000tbit; do
		runs $NOBODY mtu_extremes bandwidth $bandwidth >"$TMP/shown"
		sane 10 <"$TMP/shown"
	done
	users_go
}

# The stack adds the default qdisc without parameters. If the defaults for a
# large MTU were inconsistent, the device would get no qdisc.
test_mtu_default_qdisc()
{
	local mtu

	user_comes
	modprobe ifb numifbs=0 2>/dev/null
	sysctl -qw net.core.default_qdisc=iqcn
	for mtu in 1500 $LARGE_MTUS; do
		nobody ip -batch - <<-EOF
			link add d0 mtu $mtu type ifb
			link set d0 up
		EOF
		echo "ifb of mtu $mtu: $(nobody tc -j qdisc show dev d0)"
		nobody ip link del d0
	done >"$TMP/shown"
	sane 5 <"$TMP/shown"
	sysctl -qw net.core.default_qdisc=pfifo_fast
	users_go
}

# outsider NS COMMAND...: run COMMAND as uid 65534 in a namespace of the
# administrator
outsider()
{
	nsenter --net="/run/netns/$1" setpriv --reuid $NOBODY --regid $NOBODY \
		--clear-groups --inh-caps=-all "${@:2}"
}

# A host that is not on the path can forge packets if it gets QP numbers and
# PSNs. So the module shows flows and events only to users that could capture
# the packets.
test_readers()
{
	local group said

	topology bridge
	iqcn
	data --tos 3 --flows 5 --count 5
	check_eq "dump" "$(outsider sw "$PUBLIC/genl" dump 3 | cut -c -8)" \
		"error 1 "
	check_eq "dump by root of another user namespace" \
		"$(outsider sw unshare -Ur "$PUBLIC/genl" dump 3 | cut -c -8)" \
		"error 1 "
	if said=$(outsider sw "$PUBLIC/iqcn" flows p1 2>&1); then
		fail "iqcn flows: $said"
	elif [[ $said != *CAP_NET_ADMIN* ]]; then
		fail "iqcn flows does not name the capability: $said"
	fi
	check "iqcn show" \
		"$(outsider sw "$PUBLIC/iqcn" show p1 | grep -c '^p1 ')" -eq 1
	for group in state cnp; do
		said=$(outsider sw "$PUBLIC/genl" --time 10 listen $group 2>&1) &&
			fail "subscribed to $group"
		[[ $said == *"not permitted"* ]] || fail "$group: \"$said\""
	done

	# in the user's own namespace
	user_comes
	nobody ip -batch - <<-EOF
		link add d0 type dummy
		link set d0 up
	EOF
	nobody tc qdisc add dev d0 root iqcn
	nobody_sends d0 --flows 5 --count 5
	check "dump of its own" "$(nobody "$PUBLIC/genl" dump 3 | grep -c ^3)" \
		-eq 5
	check_eq "flows of its own" \
		"$(nobody "$PUBLIC/iqcn" flows d0 -j | jq length)" 5
	for group in state cnp; do
		nobody "$PUBLIC/genl" --time 10 listen $group ||
			fail "not subscribed to $group of its own"
	done
	check_eq "others" \
		"$(nobody "$PUBLIC/genl" --summary dump 1 | cut -d ' ' -f 1-2)" \
		"messages 1"
	users_go
}

# Timers and flows are not charged to a cgroup, so users may not set times as
# short, and as many flows, as the administrator may
test_values_of_users()
{
	local words name said

	user_comes
	nobody ip link add d0 type dummy
	for words in "t1 10us" "t1 99999ns" "window 10us" "update 10us" \
		"trigger period period 10us"; do
		# shellcheck disable=SC2086
		said=$(nobody tc qdisc replace dev d0 root iqcn \
			$words 2>&1) &&
			fail "$words: accepted"
		name=${words% *} name=${name##* }
		[[ $said == *"$name is "*", must be 100000 to 1000000000 ns"* ]] ||
			fail "$words: \"$said\""
	done
	nobody tc qdisc replace dev d0 root iqcn t1 100us window 100us \
		update 100us ||
		fail "100us: refused"
	said=$(nobody tc qdisc replace dev d0 root iqcn flows 65537 2>&1) &&
		fail "65537 flows: accepted"
	[[ $said == *"flows above 65536 are for the machine's administrator"* ]] ||
		fail "65537 flows: \"$said\""
	nobody tc qdisc replace dev d0 root iqcn flows 65536 ||
		fail "65536 flows: refused"
	nobody ip link del d0
	ip netns add sw
	ip -n sw link add d0 type dummy
	tc -n sw qdisc add dev d0 root iqcn t1 10us window 10us update 10us \
		flows 65537 ||
		fail "10us and 65537 flows for the administrator: refused"
	users_go
}

# idle_us: print the idle time of all CPUs. The load is derived from this time,
# which is exact. Softirq time is not, because the kernel samples it once a
# tick, and a CPU that is idle apart from softirqs has no tick.
idle_us()
{
	local idle iowait

	read -r _ _ _ _ idle iowait _ </proc/stat
	echo $(((idle + iowait) * 10000))
}

# busy_percent SECONDS: for SECONDS, measure the time in which CPUs are not
# idle, and print it in percent of one CPU
busy_percent()
{
	local us=${EPOCHREALTIME/./} idle

	idle=$(idle_us)
	sleep "$1"
	us=$((${EPOCHREALTIME/./} - us)) idle=$(($(idle_us) - idle))
	echo $(((us * $(nproc) - idle) * 100 / us))
}

# sent_to_all ARGUMENT...: send packets on d0, which mirrors them to the eight
# queues. The mirrored packets have no socket; a packet that waits with its
# socket would keep the namespace alive.
sent_to_all()
{
	"$PUBLIC/roce" send d0 --smac "$SND_MAC" --dmac "$RCV_MAC" \
		--src "$SND4" --dst "$RCV4" --tos 3 --len 64 "$@"
}

# shapers COMMAND RATE BURST: add or change tbf above the eight queues
shapers()
{
	local dev

	for dev in d{1..8}; do
		echo "qdisc $1 dev $dev root handle 1: tbf rate $2 burst $3 limit 1g"
	done | tc -batch -
}

# stuck_queues T1: create the queues. In each, packets of 200 flows wait for a
# shaper without tokens; T1 of each flow runs, because one of its packets has
# left.
stuck_queues()
{
	local dev mirror=""

	for dev in d{0..8}; do
		echo "link add $dev type dummy"
		echo "link set $dev up"
	done | ip -batch -
	shapers add 8bit 200
	for dev in d{1..8}; do
		echo "qdisc add dev $dev parent 1:1 handle 10: iqcn kmin 0 kmax 0 mark-on enqueue t1 $1 notify timer detect depth age 1000s"
	done | tc -batch -
	for dev in d{1..8}; do
		mirror+=" action mirred egress mirror dev $dev"
	done
	tc -batch - <<-EOF
		qdisc add dev d0 clsact
		filter add dev d0 egress matchall$mirror
	EOF
	sent_to_all --flows 200 --count 600
	# the change fills the buckets, and the next packet starts the dequeue
	shapers change 8bit 36000
	sent_to_all --type udp
}

# loaded HOW PERCENT: check that the user's timers take less than PERCENT of a
# CPU
loaded()
{
	local percent n due

	percent=$(busy_percent 2)
	read -r n due <<<"$(nobody tc -s -j qdisc show | jq -r '[.[] |
		select(.kind == "iqcn" and .qlen > 0)] |
		"\(length) \(map(.cnp_unpaired) | add)"')"
	note "t1 $t1, packets $1: $percent % of a CPU; flows were due $due times"
	check "queues with packets $1" "$n" -eq 8
	check "% of a CPU, packets $1" "$percent" -lt "$2"
}

# While its packets wait, each flow has a deadline every T1. Timers are not
# charged to a cgroup, so the module bounds the CPU time that the timers of all
# queues of a user take.
test_stuck_queues()
{
	local t1=100us

	if virtual_time; then
		skip "nothing takes time in virtual time"
		return
	fi
	modprobe -a act_mirred cls_matchall sch_ingress sch_tbf 2>/dev/null
	user_comes
	# a module without a minimum for users would accept this
	nobody ip link add d0 type dummy
	nobody tc qdisc add dev d0 root iqcn t1 10us 2>/dev/null && t1=10us
	nobody ip link del d0
	runs $NOBODY stuck_queues $t1
	loaded stuck 30
	# One packet leaves every 60 ms, which keeps the timers from backing
	# off. An interrupt of an emulated CPU takes longer than the module
	# charges for one, so the timers take 31 to 39 %, or 50 % on a busy
	# machine. Without the bound they take 66 to 99 %.
	runs $NOBODY shapers change 16kbit 200
	nobody_sends d0 --type udp
	loaded "in a trickle" 60
	users_go
	unloads "after packets that were stuck"
}

# A user's timers and BH work run at most 12,500 times per second. Drops that
# occur while a CNP is pending cause no other CNP.
test_share_of_bh()
{
	local n

	if ! virtual_time; then
		skip "needs virtual time: sending takes more than 20 ms"
		return
	fi
	user_comes
	pairs_d0
	nobody tc qdisc change dev d0 root handle 10: iqcn limit 1 min-gap 0
	nobody_sends d0 --tos 2 --psn 100 --count 1000 --interval 20
	sleep 0.01
	n=$(nobody tc -s -j qdisc show dev d0 | jq '.[].cnp_drop')
	# Each run of the timer or of BH work sends at most one CNP. There are
	# at most 300 runs: 50 saved while idle (algo/share.h), and 250 in 20
	# ms. There may be fewer, because roce starts late and then sends
	# without gaps.
	check "least CNPs for 1,000 drops in 20 ms" "$n" -ge 150
	check "most CNPs for 1,000 drops in 20 ms" "$n" -le 305
	users_go
}

# flows_of UID NS: print flows, flow_evicted and flow_full of d0
flows_of()
{
	user "$1" tc -n "$2" -s -j qdisc show dev d0 |
		jq -r '.[] | "\(.flows) \(.flow_evicted) \(.flow_full)"'
}

# floods NS FLOWS: add iqcn on d0, and create FLOWS flows with a packet each
floods()
{
	local ns=$1 flows=$2

	ip -n "$ns" link add d0 type dummy
	ip -n "$ns" link set d0 up
	tc -n "$ns" qdisc add dev d0 root iqcn age 1000s
	"$PUBLIC/roce" send "$ns/d0" --smac $SND_MAC --dmac $RCV_MAC \
		--src $SND4 --dst $RCV4 --tos 3 --len 64 --flows "$flows" \
		--count "$flows"
}

# The number of flows of a user is bounded over all its namespaces, and another
# user has a bound of its own
test_users_flows()
{
	local flows rest evicted full

	user_comes
	nobody ip netns add other
	runs $NOBODY floods me 36000
	runs $NOBODY floods other 36000
	read -r flows evicted full <<<"$(flows_of $NOBODY me)"
	check_eq "flows of the first, evicted, without room" \
		"$flows $evicted $full" "36000 0 0"
	# an evicted flow counts until it is freed
	read -r rest evicted full <<<"$(flows_of $NOBODY other)"
	note "$rest in the second, $evicted evicted, $full without room"
	check "flows of both" $((flows + rest)) -le 65536
	check "flows of both" $((flows + rest)) -ge 49152
	check "evicted or full" $((evicted + full)) -ge $((72000 - 65536))

	user_comes 65533
	runs 65533 floods me 4096
	check_eq "flows of another user, evicted, without room" \
		"$(flows_of 65533 me)" "4096 0 0"
	users_go
}

# port_words: print parameters of iqcn 10: that apply to its device or namespace
port_words()
{
	local all

	all=$(nobody tc -d qdisc show dev d0)
	all=${all#*iqcn 10:} all=${all%%qdisc*}
	grep -oE '(cnp-rate|cnp-burst|snoop) [^ ]*' <<<"$all" | tr '\n' ' '
}

# refused_stab PARENT IQCN-PARAMETERS: check that iqcn with an invalid size
# table is refused
refused_stab()
{
	local said

	# shellcheck disable=SC2086
	said=$(nobody env LD_PRELOAD="$PUBLIC/badstab.so" tc qdisc add dev d0 \
		$1 handle 20: stab mpu 64 linklayer ethernet iqcn $2 2>&1) &&
		fail "its size table: accepted"
	[[ $said == *"size table"* ]] || fail "its size table: \"$said\""
}

# Before Linux 6.3, the stack checks a size table after it has initialized the
# qdisc. A refused qdisc must not change the parameters of its device and
# namespace, which others depend on.
test_failed_add()
{
	local snoop before

	user_comes
	nobody ip link add d0 type dummy
	nobody tc -batch - <<-EOF
		qdisc add dev d0 root handle 1: prio
		qdisc add dev d0 parent 1:1 handle 10: iqcn
	EOF
	for snoop in netns port; do
		before=$(port_words)
		refused_stab "parent 1:2" "cnp-rate 5 cnp-burst 7 snoop $snoop"
		check_eq "snoop $snoop after it" "$(port_words)" "$before"
		# here init succeeds, but the graft may fail
		if nobody tc qdisc add dev d0 parent 1:2 handle 20: \
			stab overhead 4 linklayer ethernet \
			iqcn cnp-rate 5 cnp-burst 7 snoop $snoop 2>/dev/null; then
			note "a size table below a class is accepted"
			nobody tc qdisc del dev d0 parent 1:2
		else
			check_eq "snoop $snoop after a graft" "$(port_words)" \
				"$before"
		fi
		nobody tc qdisc change dev d0 parent 1:1 handle 10: iqcn \
			cnp-rate 1000 cnp-burst 10 snoop netns
	done
	# deleting a queue does not undo what it has set, even if it has sent no
	# packet
	nobody tc qdisc add dev d0 parent 1:2 handle 20: iqcn cnp-rate 5
	nobody tc qdisc del dev d0 parent 1:2
	[[ $(port_words) == *"cnp-rate 5 "* ]] ||
		fail "after the deletion: $(port_words)"
	nobody ip link add d1 numtxqueues 2 type dummy
	nobody tc -batch - <<-EOF
		qdisc add dev d1 root handle 1: mq
		qdisc add dev d1 parent 1:1 handle 10: iqcn
		qdisc add dev d1 parent 1:2 handle 20: iqcn cnp-rate 6
		qdisc del dev d1 parent 1:2
	EOF
	[[ $(nobody tc -d qdisc show dev d1) == *"cnp-rate 6 "* ]] ||
		fail "below mq: $(nobody tc -d qdisc show dev d1)"
	nobody ip link del d1
	# the first and only qdisc of a device
	nobody tc qdisc del dev d0 root
	refused_stab root "cnp-rate 5 cnp-burst 7 snoop netns"
	nobody tc qdisc add dev d0 root handle 10: iqcn
	before=$(port_words)
	[[ $before != *"cnp-rate 5 "* && $before != *"cnp-burst 7 "* &&
		$before == *"snoop port"* ]] ||
		fail "the next qdisc has: $before"
	users_go
	unloads "after qdiscs that failed"
}

# A port cannot become another type of device
test_type_change()
{
	modprobe tun 2>/dev/null
	if [ ! -e /dev/net/tun ]; then
		skip "this kernel has no tap devices"
		return
	fi
	ip netns add sw
	ip -n sw tuntap add dev d0 mode tap
	tc -n sw qdisc add dev d0 root handle 10: iqcn
	"$BUILD/linktype" sw d0 65534 2>/dev/null &&
		fail "the type of a port has changed"
	tc -n sw qdisc del dev d0 root
	"$BUILD/linktype" sw d0 65534 || fail "the type does not change"
	# iqcn on another type of device creates no port, even if the type
	# changes
	tc -n sw qdisc add dev d0 root handle 10: iqcn
	"$BUILD/linktype" sw d0 1 || fail "the type does not change back"
	tc -n sw qdisc change dev d0 root handle 10: iqcn t1 200us
	ip -n sw link del d0
}

# A bond takes the type of its first slave, but not while the bond is a port
test_type_change_bond()
{
	ip netns add sw
	if ! ip -n sw -batch - 2>/dev/null <<-EOF
		link add b0 type bond mode active-backup
		link add t0 type ipip local 10.9.0.1 remote 10.9.0.2
	EOF
	then
		skip "this kernel has no bonds, or no tunnels"
		return
	fi
	tc -n sw qdisc add dev b0 root handle 10: iqcn
	ip -n sw link set t0 master b0 2>/dev/null &&
		fail "the type of a port has changed"
	check_eq "type" "$(ip netns exec sw cat /sys/class/net/b0/type)" 1
	tc -n sw qdisc del dev b0 root
	ip -n sw link set t0 master b0 || skip "this kernel does not enslave tunnels"
}

run_tests
