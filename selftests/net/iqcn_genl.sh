#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The generic netlink family: its values match those of tc, sysfs and debugfs;
# dumps are complete while flows come and go; permissions; events; malformed
# requests.

ALL_TESTS="
	test_port
	test_queue
	test_one_queue
	test_queue_mask
	test_flow
	test_v6_vlan
	test_filters
	test_flush
	test_clear
	test_whole
	test_ports_come_and_go
	test_many_queues
	test_million
	test_permission
	test_netns
	test_state_events
	test_cnp_events
	test_lost
	test_malformed
	test_device_gone
	test_netns_gone
	test_unload
"
NIGHTLY_TESTS="
	test_one_queue test_v6_vlan test_whole test_ports_come_and_go
	test_many_queues test_lost test_netns_gone
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

GENL=$BUILD/genl
MODULE=$BUILD/${IQCN_LAB:-uml}/rocehost/rocehost.ko
# The rate of a bottleneck, which is lower than that of even a slow sender, and
# the time that the queue takes to drain
port_rate=100mbit drained_s=0.3
[ $patience -lt 50 ] || port_rate=10mbit drained_s=1.5

# Numbers of commands and attributes by name, as in ${N[A_PORT_FLOWS]}, and
# names of attributes by set, as in ${SET[port]}
declare -A N SET
while read -r name number; do
	N[$name]=$number
	# padding attributes have no value
	[[ $name == A_* && $name != *_PAD ]] || continue
	set_of=${name#A_} set_of=${set_of%%_*}
	SET[${set_of,,}]+=" ${name#A_*_}"
done <<<"$(awk '
	/^enum/ { n = 0 }
	/^\tIQCN_(A|CMD)_/ { sub(",.*", ""); print substr($1, 6), n++ }' \
	"$TOP/kmod/include/uapi/linux/iqcn_netlink.h")"

# genl ARGUMENT...: run the tool in the namespace sw
genl()
{
	"$GENL" --netns sw "$@"
}

# take SET FIELDS, then what NAME: set $got to the value of an attribute, or to
# ""
take()
{
	local field

	line=()
	for field in $2; do
		[[ $field != *=* ]] || line[${field%%=*}]=${field#*=}
	done
	set_name=$1
}

what()
{
	got=${line[${N[A_${set_name}_$1]}]-}
}

# is NAME WANTED: check an attribute
is()
{
	what "$1"
	check_eq "$set_name $1" "$got" "$2"
}

# is_not_more NAME LIMIT: check that the attribute is there, and at most LIMIT
is_not_more()
{
	what "$1"
	check "$set_name $1" "${got:--1}" -ge 0
	check "$set_name $1" "${got:--1}" -le "$2"
}

ifindex()
{
	ip -n "${2:-sw}" -j link show dev "$1" | jq '.[0].ifindex'
}

# ip4 ADDRESS: print an IPv4 address as the number that the tool prints
ip4()
{
	local a b c d

	IFS=. read -r a b c d <<<"$1"
	echo $((d << 24 | c << 16 | b << 8 | a))
}

# pair_up FLOWS: pair this many flows
pair_up()
{
	np --time 60 --ack 1
	data --tos 3 --flows "$1" --count $(($1 * 8)) --interval 200 --len 64
	wait
}

# slow_dump US COMMAND: dump into $TMP/dump, with a pause before each read
slow_dump()
{
	genl --pause $(($1 * patience)) --summary dump "$2" >"$TMP/dump"
}

# begun US: wait until a dump in the background has begun
begun()
{
	local us=$(($1 * patience))

	sleep "$((us / 1000000)).$(printf %06d $((us % 1000000)))"
}

# The state changes that "congested" causes are no older than this
recent_ns=$((400000000 * patience))

# Congest three flows for about 50 ms at 100 Mb/s, and wait until that is over
congested()
{
	data --tos 3 --flows 3 --count 600 --len 1000
	sleep $drained_s
}

busy_box()
{
	topology bridge
	bottleneck $port_rate limit 1m kmin 1000 kmax 2000 detect queue,run \
		base both t1 60us pair sport
	pair_up 3
	congested
	p1=$(ifindex p1)
}

test_port()
{
	local name

	busy_box
	take PORT "$(genl ask ${N[CMD_PORT_GET]} ${N[A_PORT_IFINDEX]}="$p1")"
	is IFINDEX "$p1"
	is IFNAME p1
	is SNOOP 0
	is DEPTH_BYTES 0
	is STATE_LOST 0
	is CNP_LOST 0
	# the other attributes are exactly the files in sysfs
	for name in ${SET[port]#* IFINDEX IFNAME SNOOP DEPTH_BYTES * CNP_LOST}; do
		# sysfs files contain numbers only
		[ "$name" != CNP_SMAC ] || continue
		what "$name"
		echo "${name,,} $got"
	done | sort >"$TMP/port"
	ip netns exec sw bash -c 'cd /sys/class/net/p1/iqcn && grep . *' |
		tr : ' ' | sort >"$TMP/sysfs"
	check "values" "$(wc -l <"$TMP/sysfs")" -eq 24
	check_eq "values" "$(cat "$TMP/port")" "$(cat "$TMP/sysfs")"
	what CNP_SENT
	check "CNPs" "${got:-0}" -gt 100
	check_eq "port in a dump" "$(genl dump ${N[CMD_PORT_GET]})" \
		"$(genl ask ${N[CMD_PORT_GET]} ${N[A_PORT_IFINDEX]}="$p1")"
}

test_queue()
{
	local name value n=0

	busy_box
	# retry if the box itself sent a packet in between
	for _ in 1 2 3 4 5; do
		tc -n sw -s -j qdisc show dev p1 | jq -r '.[] |
			select(.kind == "iqcn") | ., .options | to_entries[] |
			"\(.key) \(.value)"' >"$TMP/tc"
		take QUEUE "$(genl dump ${N[CMD_QUEUE_GET]})"
		! grep -qx "packets $(stat packets)" "$TMP/tc" || break
	done
	is IFINDEX "$p1"
	is PARENT $((0x10001))
	is DEPTH_BYTES 0
	is LIMIT_BYTES "$(awk '$1 == "limit" { print $2 }' "$TMP/tc")"
	is KMIN_BYTES 1000
	is KMAX_BYTES 2000
	is NOTIFY 1
	is TX_BYTES "$(awk '$1 == "bytes" { print $2 }' "$TMP/tc")"
	is TX_PACKETS "$(awk '$1 == "packets" { print $2 }' "$TMP/tc")"
	# IQCN_REASON_QUIET
	is STATE_REASON 5
	is CONGESTED 0
	is_not_more STATE_AGE_NS $recent_ns
	for name in ${SET[queue]#* CONGESTED}; do
		value=$(awk -v name="${name,,}" '$1 == name { print $2 }' \
			"$TMP/tc")
		# tc prints names; these have the number 0
		case $name:$value in
		PFC_STATE:clear | PFC_REASON:none) value=0 ;;
		esac
		is "$name" "${value:-no ${name,,}}"
		n=$((n + 1))
	done
	check "values" $n -eq 63
}

# refused ATTR=VALUE...: print the error of a request for one queue
refused()
{
	genl ask "${N[CMD_QUEUE_GET]}" "$@" | sed 's/ offset [^ ]*//'
}

# A request for one queue returns the same attributes as a dump
test_one_queue()
{
	local cmd=${N[CMD_QUEUE_GET]} dev=${N[A_QUEUE_IFINDEX]}
	local parent=${N[A_QUEUE_PARENT]} age=${N[A_QUEUE_STATE_AGE_NS]}

	two_queues
	data --tos 3 --flows 5 --count 5
	check_eq "answers" "$(for q in $((0x10001)) $((0x10002)); do
			genl ask "$cmd" "$dev=$p1" "$parent=$q"
		done | sed "s/ $age=[0-9]*//")" \
		"$(genl dump "$cmd" | sed "s/ $age=[0-9]*//")"
	check_eq "no parent" "$(refused "$dev=$p1")" \
		"error 22 A queue needs an ifindex and a parent"
	check_eq "no device" "$(refused "$parent=65537")" \
		"error 22 A queue needs an ifindex and a parent"
	check_eq "another parent" "$(refused "$dev=$p1" "$parent=77")" \
		"error 2 The device has no qdisc iqcn with this parent"
	check_eq "another device" "$(refused "$dev=7777" "$parent=65537")" \
		"error 19 No device with this ifindex has a qdisc iqcn"
	check_eq "filter" "$(refused "$dev=$p1" "$parent=65537" \
		"${N[A_QUEUE_FILTER]}=1")" "error 22 Only a dump has a filter"
}

# mask_of ATTR...: print the argument of genl that selects these attributes
mask_of()
{
	local words=(0 0) attr

	for attr; do
		((words[attr / 64] |= 1 << attr % 64))
	done
	printf '%s=%u,%u\n' "${N[A_QUEUE_MASK]}" "${words[@]}"
}

# IQCN_A_QUEUE_MASK selects the attributes of an answer and of a dump
test_queue_mask()
{
	local cmd=${N[CMD_QUEUE_GET]} dev=${N[A_QUEUE_IFINDEX]}
	local parent=${N[A_QUEUE_PARENT]} age=${N[A_QUEUE_STATE_AGE_NS]}
	local flows=${N[A_QUEUE_FLOWS]} ref=${N[A_QUEUE_REF_BYTES]}
	local limit=${N[A_QUEUE_LIMIT_BYTES]} bad q got
	local no="error 22 The mask selects an attribute that no reply contains"

	two_queues
	data --tos 3 --flows 5 --count 5
	q="$dev=$p1 $parent=65537"
	take QUEUE "$(genl ask "$cmd" $q)"
	what LIMIT_BYTES
	# attributes from both words, in numerical order
	check_eq "answer" "$(genl ask "$cmd" $q "$(mask_of "$ref" "$flows" \
		"$limit" "$parent")")" \
		"$cmd $parent=65537 $limit=$got $flows=5 $ref=0"
	check_eq "a word of zeros" "$(genl ask "$cmd" $q "$(mask_of "$ref")")" \
		"$cmd $ref=0"
	check_eq "the state has never changed" \
		"$(genl ask "$cmd" $q "$(mask_of "$age")")" "$cmd"
	check_eq "no attribute" "$(genl ask "$cmd" $q "$(mask_of)")" "$cmd"
	check_eq "congested queues" "$(genl dump "$cmd" \
		"${N[A_QUEUE_FILTER]}=1" "$(mask_of "$parent")")" ""
	check_eq "dump" "$(genl dump "$cmd" "$(mask_of "$parent" "$ref")")" \
		"$(genl dump "$cmd" | sed "s/ .* \($parent=[0-9]*\) .* \($ref=[0-9]*\)\$/ \1 \2/")"
	for bad in "${N[A_QUEUE_UNSPEC]}" "${N[A_QUEUE_FILTER]}" \
		"${N[A_QUEUE_PAD]}" "${N[A_QUEUE_MASK]}" \
		$((ref + 1)) 127; do
		check_eq "bit $bad" "$(refused $q "$(mask_of "$flows" "$bad")")" "$no"
		check_eq "bit $bad, dump" "$(genl dump "$cmd" "$(mask_of "$bad")" |
			grep -c '^error 22')" 1
	done
	for bad in 2 "2," 2,0,0; do
		check_eq "length of $bad" "$(refused $q "${N[A_QUEUE_MASK]}=$bad" |
			grep -c '^error 34 ')" 1
	done
}

test_flow()
{
	local out src dst vlan qp sqp pair parent state queued ce cnp psn sent
	local seen told reason age run rest

	busy_box
	out=$(genl dump ${N[CMD_FLOW_GET]})
	check "flows" "$(wc -l <<<"$out")" -eq 3
	take FLOW "$(head -n 1 <<<"$out")"
	read -r src dst vlan qp sqp pair parent state queued ce cnp psn sent \
		seen told reason age run rest <<<"$(flows | sed -n 2p)"
	is IFINDEX "$p1"
	is PARENT $((0x10001))
	is ID 1
	is SRC "$(ip4 "$src")"
	is DST "$(ip4 "$dst")"
	check_eq "VLAN" "$vlan" 0.0
	is VID 0
	is INNER_VID 0
	is DEST_QP $((qp))
	is SRC_QP $((sqp))
	check_eq "pairing" "$pair" psn
	is PAIR 3
	is PAIRED 1
	check_eq "state" "$state $reason" "clear quiet"
	is CONGESTED 0
	is STATE_REASON 5
	is QUEUED "$queued"
	is PSN "$psn"
	is RUN "$run"
	is CE_SENT "$sent"
	is CNP_SEEN "$seen"
	is CNP_SENT "$told"
	is CNP_SEEN_AGE_NS ""
	is_not_more CE_AGE_NS $recent_ns
	is_not_more CNP_SENT_AGE_NS $recent_ns
	is_not_more STATE_AGE_NS $recent_ns
	what CE_AGE_NS
	rest=$got
	what AGE_NS
	check "age" "$got" -gt "$rest"
	check "CNPs" "$told" -gt 10
}

test_v6_vlan()
{
	topology bridge qinq
	iqcn
	data -6 --tos 3 --count 1
	take FLOW "$(genl dump ${N[CMD_FLOW_GET]})"
	is SRC fd010000000000000000000000000001
	is DST fd010000000000000000000000000002
	is VID 200
	is INNER_VID 100
	is SRC_QP ""
	is PAIR 0
	is PAIRED ""
	is CNP_SENT_AGE_NS ""
}

# number COMMAND ATTR=VALUE...: print the number of messages of a dump
number()
{
	genl --summary dump "$@" | sed 's/messages \([0-9]*\).*/\1/'
}

test_filters()
{
	local q=${N[CMD_QUEUE_GET]} f=${N[CMD_FLOW_GET]} p0

	topology bridge
	bottleneck $((10000 / patience))kbit limit 1m kmin 1000 kmax 2000 detect depth
	tc -n sw qdisc add dev p0 root iqcn
	p1=$(ifindex p1) p0=$(ifindex p0)
	np --time 60 --ack 1
	data --tos 3 --flows 2 --count 16 --interval 500 --len 64
	wait
	# add a flow without answers
	data --tos 3 --qp 0x99 --count 2
	check "queues" "$(number "$q")" -eq 2
	check "queues of p0" "$(number "$q" ${N[A_QUEUE_IFINDEX]}="$p0")" -eq 1
	check "queues congested" "$(number "$q" ${N[A_QUEUE_FILTER]}=1)" -eq 0
	check "flows" "$(number "$f")" -eq 3
	check "flows of p0" "$(number "$f" ${N[A_FLOW_IFINDEX]}="$p0")" -eq 0
	check "flows of p1" "$(number "$f" ${N[A_FLOW_IFINDEX]}="$p1")" -eq 3
	check "flows paired" "$(number "$f" ${N[A_FLOW_FILTER]}=2)" -eq 2
	check "flows congested" "$(number "$f" ${N[A_FLOW_FILTER]}=1)" -eq 0
	# queue packets that take about 85 ms times $patience to leave, and let
	# some of them leave
	data --tos 3 --flows 2 --count 100 --len 1000
	sleep 0.01
	check "queues congested" "$(number "$q" ${N[A_QUEUE_FILTER]}=1)" -eq 1
	check "queues of p0 congested" "$(number "$q" ${N[A_QUEUE_FILTER]}=1 \
		${N[A_QUEUE_IFINDEX]}="$p0")" -eq 0
	check "flows congested" "$(number "$f" ${N[A_FLOW_FILTER]}=1)" -eq 3
	check "with both" "$(number "$f" ${N[A_FLOW_FILTER]}=3)" -eq 2
}

# two_queues [FLOWS]: create two queues; packets with TOS 0x23 go to the second
# queue, which has room for FLOWS flows
two_queues()
{
	topology bridge
	tc -n sw -batch - <<-EOF
		qdisc add dev p1 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 1:1 handle 10: iqcn $TIMER age 1000s
		qdisc add dev p1 parent 1:2 handle 20: iqcn $TIMER age 1000s flows ${1:-65536}
		filter add dev p1 parent 1: protocol ip prio 1 u32 match ip tos 0x23 0xff flowid 1:2
	EOF
	p1=$(ifindex p1)
}

test_flush()
{
	local c=${N[CMD_FLOW_FLUSH]} n=${N[A_FLOW_FLUSHED]}

	two_queues
	data --tos 3 --flows 5 --count 5
	data --tos 0x23 --qp 0x1000 --flows 300 --count 300
	check "flows" "$(value flows)" -eq 305
	check_eq "no such queue" "$(genl ask "$c" ${N[A_FLOW_IFINDEX]}="$p1" \
		${N[A_FLOW_PARENT]}=$((0x10003)))" \
		"error 2 offset 28 The device has no qdisc iqcn with this parent"
	check_eq "one queue" "$(genl ask "$c" ${N[A_FLOW_IFINDEX]}="$p1" \
		${N[A_FLOW_PARENT]}=$((0x10002)))" "$c $n=300"
	check "flows" "$(value flows)" -eq 5
	check "flows of the other queue" "$(stat flows p1 10:)" -eq 5
	check_eq "flush of all" "$(genl ask "$c")" "$c $n=5"
	check "flows" "$(value flows)" -eq 0
	# flows that were flushed can come back
	data --tos 0x23 --qp 0x1000 --flows 300 --count 300
	check_eq "flush of the device" \
		"$(genl ask "$c" ${N[A_FLOW_IFINDEX]}="$p1")" "$c $n=300"
}

# Some flows stay, while many others are created, evicted, created again, and
# flushed in the end, so that the table grows and shrinks. A slow reader gets
# each flow that stays, and no flow twice.
test_whole()
{
	local id=${N[A_FLOW_ID]} qp=${N[A_FLOW_DEST_QP]} stay=2000 room=6000

	two_queues $room
	data --tos 0x23 --qp 0x10000 --flows 3000 --count 3000 --len 64
	data --tos 3 --flows $stay --count $stay --len 64
	data --tos 0x23 --qp 0x10000 --flows $room --count $room --len 64
	# the first of about sixty parts of the dump is made now; the whole dump
	# takes long enough for the other flows to be replaced twice
	genl --pause $((10000 * patience)) dump ${N[CMD_FLOW_GET]} >"$TMP/dump" &
	slowly "/sys/kernel/debug/iqcn/$(netns_inum sw)/p1/flows" >"$TMP/seq" &
	data --tos 0x23 --qp 0x10000 --flows 9000 --count 27000 --len 64 \
		--interval 4
	wait
	check "flows evicted" "$(stat flow_evicted p1 20:)" -ge 20000
	whole "$TMP/dump"
	check "flows, and some of the others" \
		"$(wc -l <"$TMP/dump")" -gt $((stay + 200))
	check "debugfs: flows that stay" "$(grep -c ' 1:1 ' "$TMP/seq")" \
		-eq $stay
	check "debugfs: twice" "$(cut -d ' ' -f 4 "$TMP/seq" | sort | uniq -d |
		wc -l)" -eq 0
	# flush all other flows during a dump
	genl --pause $((2000 * patience)) dump ${N[CMD_FLOW_GET]} >"$TMP/dump" &
	begun 20000
	genl ask ${N[CMD_FLOW_FLUSH]} ${N[A_FLOW_IFINDEX]}="$p1" \
		${N[A_FLOW_PARENT]}=$((0x10002)) >"$TMP/flushed"
	wait
	whole "$TMP/dump"
	check "flows in the end" "$(number ${N[CMD_FLOW_GET]})" -eq $stay
}

# slowly FILE: print a file, 16 KB every 2 ms
slowly()
{
	local part

	while IFS= read -r -N 16384 part; do
		printf '%s' "$part"
		sleep 0.002
	done <"$1"
	printf '%s' "$part"
}

# whole FILE: check that each of the $stay flows of the first queue is in the
# dump, and no flow is there twice
whole()
{
	check "flows kept" "$(grep -c " ${N[A_FLOW_PARENT]}=65537 " "$1")" \
		-eq "$stay"
	check "flows twice" "$(grep -oE " $qp=[0-9]+" "$1" | sort | uniq -d |
		wc -l)" -eq 0
	check "ids that do not grow" "$(grep -oE " $id=[0-9]+" "$1" |
		awk -F= '$2 <= last { n++ } { last = $2 } END { print +n }')" -eq 0
	note "$(wc -l <"$1") flows"
}

# A dump of queues reports NLM_F_DUMP_INTR if queues come or go meanwhile
test_ports_come_and_go()
{
	local i what

	topology bridge
	{
		echo "qdisc add dev p1 root handle 1: prio bands 16"
		for i in 1 2 3 4 5 6 7 8 9 a b c d e f 10; do
			echo "qdisc add dev p1 parent 1:$i handle ${i}0: iqcn"
		done
	} | tc -n sw -batch -
	check "queues" "$(number ${N[CMD_QUEUE_GET]})" -eq 16
	genl --pause 20000 --summary dump ${N[CMD_QUEUE_GET]} >"$TMP/same"
	check_eq "dump without changes" "$(cut -d ' ' -f 1-6 "$TMP/same")" \
		"messages 16 duplicates 0 intr 0"
	for what in "del dev p1 parent 1:9" "add dev p1 parent 1:9 iqcn" \
		    "del dev p1 root"; do
		slow_dump 50000 ${N[CMD_QUEUE_GET]} &
		begun 20000
		# shellcheck disable=SC2086
		tc -n sw qdisc $what
		wait
		check "intr after $what" \
			"$(cut -d ' ' -f 6 "$TMP/dump")" -gt 0
	done
}

# More queues than a dump visits in one go, and a filter that none of them
# passes
test_many_queues()
{
	local i

	ip netns add sw
	ip -n sw link add p1 numtxqueues 600 type dummy
	{
		echo "qdisc add dev p1 root handle 1: mq"
		for i in $(seq 600); do
			printf 'qdisc add dev p1 parent 1:%x iqcn\n' "$i"
		done
	} | tc -n sw -batch -
	check_eq "dump of all" "$(genl --summary dump ${N[CMD_QUEUE_GET]} |
		cut -d ' ' -f 1-6)" "messages 600 duplicates 0 intr 0"
	check "congested" "$(number ${N[CMD_QUEUE_GET]} ${N[A_QUEUE_FILTER]}=1)" -eq 0
	# each message takes 68 bytes, so the dump takes more than one piece
	check_eq "dump of six attributes" "$(genl dump ${N[CMD_QUEUE_GET]} \
		"$(mask_of "${N[A_QUEUE_PARENT]}" "${N[A_QUEUE_DEPTH_BYTES]}" \
		"${N[A_QUEUE_LIMIT_BYTES]}" "${N[A_QUEUE_KMIN_BYTES]}" \
		"${N[A_QUEUE_KMAX_BYTES]}" "${N[A_QUEUE_NOTIFY]}")" |
		sort -u | awk 'NF == 7 { n++ } END { print n }')" 600
	check "ports" "$(number ${N[CMD_PORT_GET]})" -eq 1
	check_eq "queues of the port" "$(genl ask ${N[CMD_PORT_GET]} \
		${N[A_PORT_IFINDEX]}="$(ifindex p1)" |
		grep -o " ${N[A_PORT_QUEUES]}=[0-9]*")" " ${N[A_PORT_QUEUES]}=600"
}

# longest_wait PID: until PID ends, measure the longest time for which this
# shell does not run, and print it in us
longest_wait()
{
	local now last max=0

	last=${EPOCHREALTIME/./}
	while kill -0 "$1" 2>/dev/null; do
		now=${EPOCHREALTIME/./}
		[ $((now - last)) -le $max ] || max=$((now - last))
		last=$now
	done
	echo $max
}

# A dump of a million flows takes less than 2 s of real time, and leaves the CPU
# to other tasks
test_million()
{
	local i us dump_us best=0

	if virtual_time; then
		skip "needs the machine's clock"
		return
	elif [ "${IQCN_LAB-}" = uml-smp ]; then
		skip "too slow with KASAN"
		return
	fi
	insmod "$MODULE" || fail "rocehost does not load"
	ip netns add sw
	ip -n sw -batch - <<-EOF
		link add d0 mtu 9000 type dummy
		link set d0 up
	EOF
	tc -n sw qdisc add dev d0 root iqcn kmin 0 kmax 0 mark-on enqueue flows 1048576 \
		age 1000s $TIMER
	for i in {1..16}; do
		echo "blast d0 packets 65536 flows 65536 ect 3 mtu 256 from 198.18.1.$i" |
			in_ns sw tee /proc/net/rocehost/ctl >/dev/null
	done
	# take the best of several runs, because the machine may be busy
	for i in 1 2 3 4 5 6; do
		genl --summary --room 1048576 dump ${N[CMD_FLOW_GET]} \
			>"$TMP/dump"
		check_eq "dump" "$(cut -d ' ' -f 1-6 "$TMP/dump")" \
			"messages 1048576 duplicates 0 intr 0"
		us=$(cut -d ' ' -f 8 "$TMP/dump")
		[ "$best" != 0 ] && [ "$us" -ge "$best" ] || best=$us
		[ $i = 1 ] || [ "$best" -ge 2000000 ] || break
	done
	note "1048576 flows dumped in $((best / 1000)) ms"
	check "us for a dump" "$best" -lt 2000000
	# dump while a tenth of the flows is replaced
	for i in {1..100}; do
		echo "blast d0 packets 1024 flows 1024 ect 3 mtu 256 from 198.18.2.$i" |
			in_ns sw tee /proc/net/rocehost/ctl >/dev/null
	done &
	genl --summary dump ${N[CMD_FLOW_GET]} >"$TMP/dump"
	check "packets still being sent" "$(jobs -r | wc -l)" -gt 0
	wait
	check_eq "dump" "$(cut -d ' ' -f 3-4 "$TMP/dump")" "duplicates 0"
	check "flows dumped" "$(cut -d ' ' -f 2 "$TMP/dump")" -ge 900000
	# A filter that no flow passes: all flows are visited in one call, which
	# must leave the CPU to others meanwhile. Take the best of several runs.
	best=1000
	for i in 1 2 3 4 5; do
		genl --summary dump ${N[CMD_FLOW_GET]} \
			${N[A_FLOW_FILTER]}=1 >"$TMP/dump" &
		us=$(longest_wait $!)
		check_eq "messages" "$(cut -d ' ' -f 2 "$TMP/dump")" 0
		dump_us=$(cut -d ' ' -f 8 "$TMP/dump")
		note "1048576 flows filtered in $dump_us us, longest wait $us"
		us=$((us * 1000 / dump_us))
		[ "$us" -ge $best ] || best=$us
	done
	check "longest wait, per mille of a dump" $best -lt 300
	check_eq "flushed" "$(genl ask ${N[CMD_FLOW_FLUSH]})" \
		"${N[CMD_FLOW_FLUSH]} ${N[A_FLOW_FLUSHED]}=1048576"
	rmmod rocehost
}

# nobody NS COMMAND...: run COMMAND without privileges
nobody()
{
	nsenter --net="/run/netns/$1" setpriv --reuid 65534 --regid 65534 \
		--clear-groups --inh-caps=-all "${@:2}"
}

test_permission()
{
	local flush=${N[CMD_FLOW_FLUSH]} genl=/run/genl group

	# a path that any user can access
	cp "$GENL" $genl && chmod 755 $genl
	two_queues
	data --tos 3 --flows 5 --count 5
	check "ports" "$(nobody sw $genl dump 1 | wc -l)" -eq 1
	check "queues" "$(nobody sw $genl dump 2 | wc -l)" -eq 2
	check_eq "one queue" "$(nobody sw $genl --summary ask 2 \
		"${N[A_QUEUE_IFINDEX]}=$p1" "${N[A_QUEUE_PARENT]}=65537" |
		cut -d ' ' -f 1-2)" "messages 1"
	# only users that could capture the packets may read QP numbers
	check_eq "flows" "$(nobody sw $genl dump 3)" "error 1 offset - -"
	check_eq "flows to root of another user namespace" \
		"$(nobody sw unshare -Ur $genl dump 3)" "error 1 offset - -"
	check_eq "flush" "$(nobody sw $genl ask "$flush")" "error 1 offset - -"
	# root of another user namespace has no rights in this network namespace
	check_eq "flush by root of another user namespace" \
		"$(nobody sw unshare -Ur $genl ask "$flush")" \
		"error 1 offset - -"
	check_eq "lease" "$(nobody sw $genl lease "$(ifindex p1)" root 100 \
		supplement 1)" "error 1 offset - -"
	check_eq "lease by root of another user namespace" \
		"$(nobody sw unshare -Ur $genl lease "$(ifindex p1)" root 100 \
			supplement 1)" "error 1 offset - -"
	check "flows" "$(value flows)" -eq 5
	# a user may flush flows of a namespace of its own
	check_eq "flush in a namespace of its own" \
		"$(nobody sw unshare -Urn bash -c "ip link add d0 type dummy &&
			tc qdisc add dev d0 root iqcn && $genl ask $flush &&
			$genl --summary dump 1" | cut -d ' ' -f 1-2)" \
		"$flush ${N[A_FLOW_FLUSHED]}=0
messages 1"
	for group in state cnp; do
		check_eq "listener of $group" \
			"$(nobody sw $genl --time 10 listen $group 2>&1)" \
			"genl: $group: Operation not permitted"
	done
	rm $genl
}

# Peaks are reset, and other counters are not
test_clear()
{
	local c=${N[CMD_QUEUE_CLEAR]} marked

	two_queues
	data --tos 3 --count 40
	data --tos 0x23 --count 40
	check "peak" "$(stat depth_peak_bytes)" -gt 0
	check_eq "no such queue" "$(genl ask "$c" ${N[A_QUEUE_IFINDEX]}="$p1" \
		${N[A_QUEUE_PARENT]}=$((0x10003)))" \
		"error 2 offset 28 The device has no qdisc iqcn with this parent"
	check_eq "clear as nobody" "$(nobody sw "$GENL" ask "$c")" \
		"error 1 offset - -"
	check_eq "clear of the other queue" "$(genl ask "$c" \
		${N[A_QUEUE_IFINDEX]}="$p1" ${N[A_QUEUE_PARENT]}=$((0x10002)))" ""
	check "peak" "$(stat depth_peak_bytes p1 10:)" -gt 0
	check_eq "peak of the other queue" "$(stat depth_peak_bytes p1 20:)" 0
	tc -n sw qdisc del dev p1 root
	bottleneck 8mbit kmin 1000 kmax 2000
	data --tos 2 --count 60 --len 1000
	data --tos 2 --count 20 --interval 1000
	# the queue drains
	sleep 0.2
	marked=$(stat ecn_mark)
	check "marked packets" "$marked" -gt 0
	check "peak delay" "$(stat delay_peak_ns)" -gt 0
	check_eq "clear of all" "$(genl ask "$c")" ""
	check_eq "peaks" "$(stat depth_peak_bytes) $(stat delay_peak_ns)" "0 0"
	check "marked packets" "$(stat ecn_mark)" -eq "$marked"
}

# Ports, flows and events of a namespace are invisible in others
test_netns()
{
	topology bridge
	bottleneck $port_rate limit 1m kmin 1000 kmax 2000 detect queue t1 60us age 1000s
	pair_up 3
	listen_to state snd $((400 * patience))
	p1=$(ifindex p1)
	congested
	wait
	check "events in snd" "$(wc -l <"$TMP/state")" -eq 0
	check "state changes in sw" "$(stat state_changes)" -ge 2
	check "ports" \
		"$("$GENL" --netns snd dump ${N[CMD_PORT_GET]} | wc -l)" -eq 0
	check_eq "port of sw" "$("$GENL" --netns snd ask ${N[CMD_PORT_GET]} \
		${N[A_PORT_IFINDEX]}="$p1" | cut -c -8)" "error 19"
	check_eq "flows" "$("$GENL" --netns snd dump ${N[CMD_FLOW_GET]} \
		${N[A_FLOW_IFINDEX]}="$p1" | cut -c -8)" "error 19"
	check_eq "flush" "$("$GENL" --netns snd ask ${N[CMD_FLOW_FLUSH]})" \
		"${N[CMD_FLOW_FLUSH]} ${N[A_FLOW_FLUSHED]}=0"
	check "flows" "$(value flows)" -eq 3
}

# listen_to GROUP NS MS: listen in the background, into $TMP/GROUP
listen_to()
{
	rm -f "$TMP/$1.ready"
	"$GENL" --netns "$2" --time "$3" --ready "$TMP/$1.ready" listen "$1" \
		>"$TMP/$1" &
	until [ -e "$TMP/$1.ready" ]; do
		sleep 0.01
	done
}

# event NUMBER FILE CMD: take the event in this line, which must be of type CMD
event()
{
	local text

	text=$(sed -n "${1}p" "$TMP/$2")
	check_eq "command of $2 $1" "${text%% *}" "$3"
	take EVENT "$text"
}

# Congestion of a flow begins and ends, then that of a queue
test_state_events()
{
	local begun_ns

	if ! virtual_time; then
		skip "needs virtual time"
		return
	fi
	topology bridge
	iqcn detect run run 3
	p1=$(ifindex p1)
	listen_to state sw 900
	data --tos 3 --psn 20 --count 3 --len 64
	# single packets end a run of three, and then a run of one
	data --tos 3 --psn 24 --count 1 --len 64
	sleep 0.002
	data --tos 3 --psn 26 --count 1 --len 64
	bottleneck 100mbit limit 1m kmin 1000 kmax 2000 detect queue
	data --tos 3 --count 300 --len 1000
	wait
	event 1 state ${N[CMD_FLOW_STATE_NTF]}
	is IFINDEX "$p1"
	is PARENT $((0xffffffff))
	is LOST 0
	is CONGESTED 4
	is REASON 3
	is SRC "$(ip4 $SND4)"
	is DST "$(ip4 $RCV4)"
	is DEST_QP $((0x11))
	is VID 0
	is INNER_VID 0
	is CE_RATE_BPS ""
	is CAUSE ""
	what TIME_NS
	begun_ns=$got
	check "time of the first event" "$begun_ns" -gt 0
	event 2 state ${N[CMD_FLOW_STATE_NTF]}
	is CONGESTED 0
	is REASON 3
	is DEST_QP $((0x11))
	what TIME_NS
	check "ns until the second event" $((got - begun_ns)) -gt 2000000
	event 3 state ${N[CMD_QUEUE_STATE_NTF]}
	is PARENT $((0x10001))
	is CONGESTED 1
	is REASON 1
	is SRC ""
	is DEST_QP ""
	what ROCE_BPS
	check "RoCE rate" "$got" -gt 80000000
	what CE_RATE_BPS
	check "CE rate" "$got" -gt 80000000
	what DEPTH_BYTES
	check "depth" "$got" -gt 2000
	event 4 state ${N[CMD_QUEUE_STATE_NTF]}
	is CONGESTED 0
	is REASON 5
	check "events" "$(wc -l <"$TMP/state")" -eq 4
}

test_cnp_events()
{
	if ! virtual_time; then
		skip "needs virtual time"
		return
	fi
	topology bridge
	bottleneck 100mbit limit 1m kmin 1000 kmax 2000 detect queue t1 60us
	p1=$(ifindex p1)
	pair_up 3
	listen_to cnp sw 400
	listen_to state sw 400
	congested
	wait
	check "CNPs" "$(stat cnp_sent)" -gt 100
	check "events" "$(wc -l <"$TMP/cnp")" -eq "$(stat cnp_sent)"
	check "state events" "$(wc -l <"$TMP/state")" -eq 2
	event 1 cnp ${N[CMD_CNP_NTF]}
	is IFINDEX "$p1"
	is PARENT $((0x10001))
	is LOST 0
	is CONGESTED ""
	is SRC "$(ip4 $SND4)"
	is DST "$(ip4 $RCV4)"
	is CAUSE 1
	# the event may be of any of the three flows
	what DEST_QP
	check "DestQP" "$got" -ge $((0x11))
	check "DestQP" "$got" -le $((0x13))
	is SRC_QP $((got + 0x800000))
	check "events out of order" \
		"$(grep -oE " ${N[A_EVENT_TIME_NS]}=[0-9]+" "$TMP/cnp" |
		cut -d = -f 2 | sort -nc 2>&1 | wc -l)" -eq 0
	# these events have no listener, so none is lost
	congested
	take PORT "$(genl dump ${N[CMD_PORT_GET]})"
	is CNP_LOST 0
}

# More than 1,024 events in 10 ms: the rest is counted as lost
test_lost()
{
	local sent got lost

	if ! virtual_time; then
		skip "needs virtual time"
		return
	fi
	topology bridge
	bottleneck 100mbit limit 1m kmin 1000 kmax 2000 detect queue t1 60us \
		min-gap 1us
	pair_up 20
	listen_to cnp sw 400
	data --tos 3 --flows 20 --count 900 --len 1000
	wait
	sent=$(stat cnp_sent)
	take PORT "$(genl dump ${N[CMD_PORT_GET]})"
	what CNP_LOST
	lost=$got
	got=$(wc -l <"$TMP/cnp")
	note "$sent CNPs, $got events, $lost lost"
	check "events lost" "$lost" -gt 0
	check "events and lost ones" $((got + lost)) -eq "$sent"
	is STATE_LOST 0
	# 76 ms of congestion, and events are sent every 10 ms
	check "events" "$got" -le $((9 * 1024))
	# the last event reports losses, no more than the port does in the end
	check "lost by the last event" \
		"$(tail -n 1 "$TMP/cnp" | grep -oE " ${N[A_EVENT_LOST]}=[0-9]+" |
			cut -d = -f 2)" -le "$lost"
	check "lost by the last event" \
		"$(tail -n 1 "$TMP/cnp" | grep -oE " ${N[A_EVENT_LOST]}=[0-9]+" |
			cut -d = -f 2)" -gt 0
}

# malformed MAX: print requests: every command with every attribute up to MAX,
# each valid and malformed in several ways. The hexadecimal digits are in host
# byte order, which is little-endian in the lab.
malformed()
{
	awk -v max="$1" '
	function u16(n) { return sprintf("%02x%02x", n % 256, int(n / 256)) }
	function say(what, hex) {
		printf "%d %x %s %s %d\n", cmd, flags, hex, what, attr
	}
	BEGIN {
		for (cmd = 0; cmd <= 9; cmd++) for (f = 0; f < 2; f++) {
			flags = f ? 768 : 4
			attr = 0
			say("nothing", "")
			say("garbage", "ff")
			say("garbage", "0102030405060708090a0b0c")
			for (attr = 0; attr <= max; attr++) {
				t = u16(attr)
				say("right", "0800" t "01000000")
				say("large", "0800" t "ffffffff")
				say("short", "0600" t "01000000")
				say("none", "0400" t)
				say("long", "0c00" t "0100000000000000")
				say("nested", "0800" u16(attr + 32768) "01000000")
				say("big-endian", "0800" u16(attr + 16384) "01000000")
				say("inside", "0c00" u16(attr + 32768) "0800" t "01000000")
				say("twice", "0800" t "01000000" "0800" t "02000000")
				say("beyond", "1000" t "01000000")
				say("below", "0300" t "01000000")
				say("tail", "0800" t "01000000" "aabb")
				say("lots", "0800" t "01000000" "0800ff7f01000000")
			}
			attr = 0
		}
	}'
}

test_malformed()
{
	busy_box
	malformed 6 >"$TMP/requests"
	# cut off the columns that say what is wrong with each request
	cut -d ' ' -f 1-3 "$TMP/requests" | "$GENL" --netns sw raw >"$TMP/answers"
	awk -v ifindex=${N[A_PORT_IFINDEX]} -v filter=${N[A_QUEUE_FILTER]} \
		-v parent=${N[A_FLOW_PARENT]} -v queue=${N[A_QUEUE_PARENT]} \
		-v clear=${N[CMD_QUEUE_CLEAR]} -v mask=${N[A_QUEUE_MASK]} '
	FNR == NR { cmd[NR] = $1; f[NR] = $2; what[NR] = $(NF - 1)
		    attr[NR] = $NF; total = NR; next }
	/^> / { n++; next }
	/^(ok|error)/ { answer[n] = $0 }
	# the attributes that each command takes, by the headers
	function takes(c, dump, a) {
		if (c == 1) return a == ifindex
		if (c == 2 && !dump) return a == ifindex || a == queue
		if (c == 2 || c == 3) return a == ifindex || a == filter
		if (c == 4) return a == ifindex || a == parent
		if (c == clear) return a == ifindex || a == queue
	}
	function exists(c, dump) {
		return c == 1 || c == 2 || c == 3 && dump ||
			(c == 4 || c == clear) && !dump
	}
	END {
		for (i = 1; i <= total; i++) {
			a = answer[i]
			c = cmd[i]; d = f[i] == "300"
			split(a, w, " ")
			if (a == "")
				bad = "no answer"
			else if (!exists(c, d))
				bad = w[2] == 95 ? "" : "wanted 95"
			else if (what[i] ~ /^(short|none|long|nested|inside|beyond|below|tail|lots|garbage)$/)
				bad = w[1] == "error" && (w[2] == 22 || w[2] == 34) && a !~ / -$/ ? "" : "wanted 22 or 34, and a text"
			# the command, not the policy, rejects this attribute;
			# in that case, Linux 6.1 returns no text
			else if (c == 2 && d && attr[i] == queue)
				bad = w[2] == 22 ? "" : "wanted 22"
			# none of these requests has a mask of the right length
			else if (c == 2 && attr[i] == mask && what[i] != "nothing")
				bad = w[2] == 34 && a !~ / -$/ ? "" : "wanted 34, and a text"
			else if (what[i] != "nothing" && !takes(c, d, attr[i]))
				bad = w[2] == 22 && a !~ / -$/ ? "" : "wanted 22, and a text"
			else if (w[1] == "error" && w[2] != 22 && w[2] != 19 && w[2] != 2)
				bad = "no such error"
			else
				bad = ""
			if (bad != "")
				printf "%d %s %s %d: \"%s\", %s\n", c, d ? "dump" : "do", what[i], attr[i], a, bad
		}
		print n + 0
	}' "$TMP/requests" "$TMP/answers" >"$TMP/verdict"
	check "answers" "$(tail -n 1 "$TMP/verdict")" -eq \
		"$(wc -l <"$TMP/requests")"
	head -n -1 "$TMP/verdict" | head -n 20 >"$TMP/bad"
	while read -r line; do
		fail "$line"
	done <"$TMP/bad"
	# some of the valid requests have flushed the flows
	data --tos 3 --flows 3 --count 3
	check "flows afterwards" "$(number ${N[CMD_FLOW_GET]})" -eq 3
}

test_device_gone()
{
	two_queues
	data --tos 3 --flows 1000 --count 1000 --len 64
	tc -n sw qdisc add dev p0 root iqcn
	slow_dump 20000 ${N[CMD_FLOW_GET]} &
	begun 30000
	ip -n sw link del p1
	wait
	check "flows dumped" "$(cut -d ' ' -f 2 "$TMP/dump")" -lt 1000
	check "ports left" "$(number ${N[CMD_PORT_GET]})" -eq 1
}

# A namespace with a listener lives until the listener ends; then it is
# destroyed
test_netns_gone()
{
	two_queues
	data --tos 3 --flows 1000 --count 1000 --len 64
	slow_dump 20000 ${N[CMD_FLOW_GET]} &
	listen_to state sw 300
	listen_to cnp sw 300
	ip netns del sw
	wait
	check_eq "dump" "$(cut -d ' ' -f 1-4 "$TMP/dump")" \
		"messages 1000 duplicates 0"
	for _ in 1 2 3 4 5 6 7 8 9; do
		compgen -G "/sys/kernel/debug/iqcn/[0-9]*" >/dev/null || return
		sleep 0.2
	done
	fail "the namespace is not destroyed"
}

# A dump in progress pins the module; a listener does not
test_unload()
{
	busy_box
	slow_dump 100000 ${N[CMD_FLOW_GET]} &
	begun 20000
	tc -n sw qdisc del dev p1 root
	sleep 0.02
	if rmmod sch_iqcn 2>/dev/null; then
		fail "the module unloads during a dump"
	fi
	wait
	listen_to cnp sw 400
	for _ in 1 2 3 4 5; do
		rmmod sch_iqcn 2>/dev/null && break
		sleep 0.02
	done
	check "loaded" "$(grep -c '^sch_iqcn ' /proc/modules)" -eq 0
	cleanup
	busy_box
	check "flows after a reload" "$(number ${N[CMD_FLOW_GET]})" -eq 3
}

run_tests
