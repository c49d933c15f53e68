# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the kselftests: KTAP, topologies, packets. Source this file; it
# follows the style of tools/testing/selftests/net/lib.sh.
#
# A test file sets ALL_TESTS and ends with "run_tests". Each test is a function
# that creates its topology; the namespaces snd, sw and rcv are deleted after
# it. "check" and similar functions record a failure and go on, so that one run
# shows all failures. A file may set NIGHTLY_TESTS, which are those of ALL_TESTS
# that "make check" leaves to "make nightly": variants of other tests, and rare
# cases.
#
#   snd ---- p0 [ sw: bridge or router ] p1 ---- rcv
#                                        ^
#                            iqcn under tbf, which is the bottleneck
#
# snd sends data and rcv answers; generated CNPs are injected on p1.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
BUILD=${IQCN_BUILD:-$TOP/build}
ROCE=$BUILD/roce
export TC_LIB_DIR=$BUILD
# TC_LIB_DIR of a plugin without range checks, so that the kernel checks the
# values
UNCHECKED=$BUILD/unchecked

SND4=10.1.0.1 RCV4=10.1.0.2 RCV4_ROUTED=10.2.0.2
SND6=fd01::1 RCV6=fd01::2 RCV6_ROUTED=fd02::2
SND_MAC=02:00:00:00:00:01 RCV_MAC=02:00:00:00:00:02
P0_MAC=02:00:00:00:00:a0 P1_MAC=02:00:00:00:00:a1

TMP=$(mktemp -d)
trap 'cleanup; rm -rf "$TMP"' EXIT

# A fork and exec takes 10 ms or more in User Mode Linux on a virtual machine,
# which would add up to most of the run time of a test. So bash itself does what
# tests do often.
mkfifo "$TMP/never" "$TMP/ready"
exec {never}<>"$TMP/never" {ready}<>"$TMP/ready"

# sleep SECONDS
sleep()
{
	read -rt "$1" -u "$never"
	true
}

note()
{
	echo "#     $*"
}

fail()
{
	note "FAIL: $*"
	test_failed=1
}

# check WHAT GOT OP WANTED: compare integers
check()
{
	if ! test "$2" "$3" "$4" 2>/dev/null; then
		fail "$1: $2, wanted $3 $4"
	fi
}

# check_eq WHAT GOT WANTED: compare strings
check_eq()
{
	[ "$2" = "$3" ] || fail "$1: \"$2\", wanted \"$3\""
}

skip()
{
	test_skipped=$*
}

# in_ns NS COMMAND...: run COMMAND in NS. This is faster than "ip netns exec",
# but /sys remains that of the initial namespace.
in_ns()
{
	nsenter --net="/run/netns/$1" "${@:2}"
}

cleanup()
{
	local i left

	# wait for background processes, because they use the namespaces
	wait
	ip -force -batch - 2>/dev/null <<-EOF
		netns del snd
		netns del sw
		netns del rcv
	EOF
	# namespaces are destroyed asynchronously, after grace periods; the next
	# test must not find what this one has left
	for ((i = 0; i < 50; i++)); do
		left=(/sys/kernel/debug/iqcn/*)
		[ -e "${left[0]}" ] || break
		sleep 0.02
	done
}

# topology bridge|router [none|vlan|qinq]: create the namespaces; the last word
# says which VLAN tags the hosts use. The hosts' devices are up, but have only
# link-local addresses, so the hosts' stacks drop the packets of tests; packet
# sockets still get them. The functions use batches, because starting a process
# is slow in User Mode Linux.
topology()
{
	kind=$1 tags=${2:-none}
	ip -batch - <<-EOF
		netns add snd
		netns add sw
		netns add rcv
		link add e0 netns snd up address $SND_MAC mtu 9000 type veth peer name p0 netns sw address $P0_MAC mtu 9000
		link add e0 netns rcv up address $RCV_MAC mtu 9000 type veth peer name p1 netns sw address $P1_MAC mtu 9000
	EOF
	case $tags in
	none) vlan_args=() ;;
	vlan) vlan_args=(--vlan 100:3) ;;
	qinq) vlan_args=(--vlan ad:200:3 --vlan 100:3) ;;
	esac
	"topology_$kind"
}

topology_bridge()
{
	local ports

	rcv4=$RCV4 rcv6=$RCV6
	# the destination MAC addresses that snd and rcv use: a bridge keeps
	# them
	snd_dmac=$RCV_MAC rcv_dmac=$SND_MAC
	ip -n sw -batch - <<-EOF
		link add br0 up type bridge mcast_snooping 0
		link set p0 master br0 up
		link set p1 master br0 up
	EOF
	# static entries, so that even the first packet is not flooded
	ports=$(bridge -n sw -batch - <<-EOF
		fdb replace $SND_MAC dev p0 master static
		fdb replace $RCV_MAC dev p1 master static
		link show
	EOF
	)
	[[ $ports == *forwarding*forwarding* ]] || wait_forwarding
}

wait_forwarding()
{
	local i ports

	for ((i = 0; i < 50; i++)); do
		ports=$(bridge -n sw link show)
		[[ $ports == *forwarding*forwarding* ]] && return
		sleep 0.1
	done
	fail "the bridge does not forward"
}

# link_batch DEV ADDRESS...: print commands that bring up DEV and its VLAN
# devices, and give the addresses to the uppermost one
link_batch()
{
	local dev=$1 over=$1 a
	shift

	echo "link set $dev up"
	case $tags in
	vlan)
		over=$dev.100
		echo "link add link $dev name $over type vlan id 100"
		;;
	qinq)
		over=$dev.q
		echo "link add link $dev name $dev.200 type vlan proto 802.1ad id 200"
		echo "link set $dev.200 up"
		echo "link add link $dev.200 name $over type vlan id 100"
		;;
	esac
	[ "$over" = "$dev" ] || echo "link set $over up"
	for a; do
		case $a in
		*:*) echo "addr add $a dev $over nodad" ;;
		*) echo "addr add $a dev $over" ;;
		esac
	done
}

topology_router()
{
	local top0=p0 top1=p1

	rcv4=$RCV4_ROUTED rcv6=$RCV6_ROUTED
	snd_dmac=$P0_MAC rcv_dmac=$P1_MAC
	case $tags in
	vlan) top0=p0.100 top1=p1.100 ;;
	qinq) top0=p0.q top1=p1.q ;;
	esac
	in_ns sw sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	ip -n sw -batch - <<-EOF
		$(link_batch p0 10.1.0.254/24 fd01::fe/64)
		$(link_batch p1 10.2.0.254/24 fd02::fe/64)
		neigh add $SND4 lladdr $SND_MAC dev $top0
		neigh add $SND6 lladdr $SND_MAC dev $top0
		neigh add $RCV4_ROUTED lladdr $RCV_MAC dev $top1
		neigh add $RCV6_ROUTED lladdr $RCV_MAC dev $top1
	EOF
	sleep 0.1
}

# addresses snd|rcv: give this host its addresses and routes, so that its stack
# sends and answers
addresses()
{
	{
		case $1 in
		snd) link_batch e0 $SND4/24 $SND6/64 ;;
		rcv) link_batch e0 "$rcv4/24" "$rcv6/64" ;;
		esac
		case $kind.$1 in
		router.snd)
			echo "route add 10.2.0.0/24 via 10.1.0.254"
			echo "route add fd02::/64 via fd01::fe"
			;;
		router.rcv)
			echo "route add 10.1.0.0/24 via 10.2.0.254"
			echo "route add fd01::/64 via fd02::fe"
			;;
		esac
	} | ip -n "$1" -batch -
}

# The notify method that iqcn and bottleneck set by default: notify timer, with
# a T1 that equals the default rate increase interval of senders
TIMER="notify timer t1 300us"

# timer_words PARAMETER...: set $words to these PARAMETERs. Unless they contain
# "notify", add notify timer, and the T1 of $TIMER unless they contain "t1".
timer_words()
{
	words=("$@")
	[[ " $* " != *" notify "* ]] || return
	words+=(notify timer)
	[[ " $* " == *" t1 "* ]] || words+=(t1 300us)
}

# iqcn PARAMETER...: set up iqcn on p1, without a bottleneck
iqcn()
{
	local words

	timer_words "$@"
	tc -n sw qdisc replace dev p1 root handle 10: iqcn "${words[@]}"
}

# bottleneck RATE IQCN-PARAMETER...: set up tbf and, below it, iqcn on p1
bottleneck()
{
	local rate=$1 words
	shift

	timer_words "$@"
	tc -n sw -batch - <<-EOF
		qdisc replace dev p1 root handle 1: tbf rate $rate burst 9k limit 1g
		qdisc replace dev p1 parent 1:1 handle 10: iqcn ${words[*]}
	EOF
}

# two_classes RATE FIRST SECOND: shape p1 like bottleneck(), but with two
# qdiscs, such as "handle 10: iqcn". Only packets with TOS 104 to 107 take the
# second.
two_classes()
{
	tc -n sw -batch - <<-EOF
		qdisc replace dev p1 root handle 1: tbf rate $1 burst 9k limit 1g
		qdisc add dev p1 parent 1:1 handle 2: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 2:1 $2
		qdisc add dev p1 parent 2:2 $3
		filter add dev p1 parent 2: protocol ip u32 match ip dsfield 0x68 0xfc flowid 2:2
	EOF
}

# release: remove the bottleneck. tbf keeps waiting at its old rate until a
# packet arrives.
release()
{
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 10gbit burst 1m limit 1g
	data --type udp --tos 0
}

# refused_all WORD...: read lines "PARAMETERS | ERROR"; for each, "tc qdisc
# WORD... PARAMETERS" in sw must fail with this error. A single tc runs all
# commands.
refused_all()
{
	local line out said calls=() errors=() n

	while read -r line; do
		calls+=("qdisc $* ${line% | *}")
		errors+=("${line##* | }")
	done
	out=$(printf '%s\n' "${calls[@]}" | tc -n sw -force -batch - 2>&1)$'\n'
	for n in "${!calls[@]}"; do
		line="Command failed -:$((n + 1))"$'\n'
		said=${out%%"$line"*}
		if [ "$said" = "$out" ]; then
			fail "tc ${calls[n]}: accepted"
			continue
		fi
		out=${out#*"$line"}
		[[ $said == *"${errors[n]}"* ]] ||
			fail "tc ${calls[n]}: \"$said\" does not say \"${errors[n]}\""
	done
}

# packets NS/DEV SMAC DMAC SRC4 DST4 SRC6 DST6 ARGUMENT...: send packets, with
# -6 over IPv6
packets()
{
	local where=$1 ends=(--smac "$2" --dmac "$3") a
	local ips=(--src "$4" --dst "$5") ips6=(--src "$6" --dst "$7") args=()
	shift 7

	for a; do
		case $a in
		-6) ips=("${ips6[@]}") ;;
		*) args+=("$a") ;;
		esac
	done
	"$ROCE" send "$where" "${ends[@]}" "${ips[@]}" "${vlan_args[@]}" \
		"${args[@]}"
}

# data [-6] [ARGUMENT...]: send packets from snd to rcv
data()
{
	packets snd/e0 $SND_MAC $snd_dmac $SND4 "$rcv4" $SND6 "$rcv6" "$@"
}

# reply [-6] [ARGUMENT...]: send packets from rcv to snd
reply()
{
	packets rcv/e0 $RCV_MAC $rcv_dmac "$rcv4" $SND4 "$rcv6" $SND6 "$@"
}

# listener COMMAND WHERE FILE --time MS ARGUMENT...: run COMMAND in the
# background, into $TMP/FILE; return when it listens. It listens $patience times
# as long as MS, because processes are slow in real time.
listener()
{
	local command=$1 where=$2 file=$3 args=() a before=""
	shift 3

	for a; do
		[ "$before" != --time ] || a=$((a * patience))
		args+=("$a")
		before=$a
	done
	"$ROCE" "$command" "$where" --ready "$TMP/ready" "${args[@]}" \
		>"$TMP/$file" &
	# wait for a minute at most
	read -rt 60 -u "$ready" || fail "$command $where does not listen"
}

# sniff NS ARGUMENT...: capture in the background, into $TMP/NS
sniff()
{
	local ns=$1
	shift

	listener sniff "$ns/e0" "$ns" "$@"
}

# np ARGUMENT...: start a receiver in the background, with its totals in $TMP/np
np()
{
	listener np rcv/e0 np "$@"
}

TRACEFS=/sys/kernel/tracing

# trace_cnps: begin to trace generated CNPs
trace_cnps()
{
	echo >$TRACEFS/trace
	echo 1 >$TRACEFS/events/iqcn/iqcn_cnp_sent/enable
}

# traced_cnps CAUSE: end the tracing; print base_ns, due_ns and late_ns of each
# CNP with this cause
traced_cnps()
{
	echo 0 >$TRACEFS/events/iqcn/iqcn_cnp_sent/enable
	sed -nE "s/.* cause=$1 base_ns=([0-9]+) due_ns=([0-9]+) late_ns=([0-9]+) .*/\1 \2 \3/p" \
		$TRACEFS/trace
}

# stat NAME [DEV [HANDLE]]: print a value of "tc -s -j". bash parses the JSON,
# because starting another process is slow in User Mode Linux.
stat()
{
	local name=$1 dev=${2:-p1} handle=${3:-10:} json

	json=$(tc -n sw -s -j qdisc show dev "$dev")
	json=${json#*\"kind\":\"iqcn\",\"handle\":\""$handle"\"}
	json=${json%%\"kind\":*}
	if [[ $json =~ \"$name\":(\"([^\"]*)\"|\[([^]]*)\]|([^],}]*)) ]]; then
		echo "${BASH_REMATCH[2]}${BASH_REMATCH[3]}${BASH_REMATCH[4]}"
	else
		echo "no $name"
	fi
}

# counters NAME...: print several values of p1 that were read at once
counters()
{
	local all name

	all=$(tc -n sw -s -j qdisc show dev p1)
	all=${all#*\"kind\":\"iqcn\"}
	for name; do
		[[ $all =~ \"$name\":([0-9]+) ]]
		echo -n "${BASH_REMATCH[1]-none} "
	done
	echo
}

# counted "VALUE..." NAME...: check several values of p1
counted()
{
	local want=$1
	shift

	check_eq "$*" "$(counters "$@")" "$want "
}

# value NAME: print a value of p1 from sysfs
value()
{
	ip netns exec sw cat "/sys/class/net/p1/iqcn/$1"
}

# port_mac [DEV]: print the source MAC address of the port's generated CNPs
port_mac()
{
	local all

	all=$(in_ns sw "$BUILD/iqcn" show "${1:-p1}" -j)
	[[ $all =~ \"port_cnp_smac\":\ *\"([^\"]*)\" ]] || fail "no port_cnp_smac: $all"
	echo "${BASH_REMATCH[1]-}"
}

netns_inum()
{
	command stat -Lc %i "/run/netns/$1"
}

# flows: print the flows of p1 from debugfs; if several namespaces have a p1,
# print the flows in sw
flows()
{
	local found=(/sys/kernel/debug/iqcn/*/p1/flows) lines

	[ ${#found[@]} = 1 ] ||
		found=("/sys/kernel/debug/iqcn/$(netns_inum sw)/p1/flows")
	mapfile -t lines <"${found[0]}"
	printf '%s\n' "${lines[@]}"
}

# pair_flow [-6] [data argument...]: send CE packets, and ACKs that pair the
# flow
pair_flow()
{
	np --time 60 --ack 1
	data "$@" --tos 3 --count 4 --interval 1000 --len 64
	wait
}

# gaps: for each CNP in $TMP/snd, print the time since the last CE packet before
# it in $TMP/rcv, in whole us, one per line
gaps()
{
	gaps_ns | sed 's/...$//'
}

# gaps_ns: print the times of gaps in ns. The first six digits of times are cut
# off, because awk computes with doubles, which have 15 digits.
gaps_ns()
{
	awk '
	FNR == NR { if (/ data .* ce /) ce[++n] = substr($1, 7) + 0; next }
	/ cnp / {
		t = substr($1, 7) + 0
		for (i = n; i && ce[i] > t; i--)
			;
		printf "%d\n", t - ce[i]
	}' "$TMP/rcv" "$TMP/snd"
}

# In virtual time (time-travel=inf-cpu of User Mode Linux), code takes no time,
# but each read of the clock advances it by a step. Only then can a test check
# microseconds.
virtual_time()
{
	[[ $cmdline == *time-travel* ]]
}
read -r cmdline </proc/cmdline

# quiet_hosts: keep hosts from sending router solicitations and repeated
# multicast reports, which tests do not expect. Without this, hosts send them
# where processes or grace periods take time.
quiet_hosts()
{
	sysctl -qw net.core.devconf_inherit_init_net=1 \
		net.ipv6.conf.default.router_solicitations=0 \
		net.ipv6.conf.default.accept_dad=0 \
		net.ipv6.conf.default.mldv1_unsolicited_report_interval=1000000000 \
		net.ipv6.conf.default.mldv2_unsolicited_report_interval=1000000000
}

# loose NUMBER: print a lower bound for a count that a process causes in a short
# time: NUMBER in virtual time, and two thirds of it in real time, where the
# process may be late
loose()
{
	if virtual_time; then
		echo "$1"
	else
		echo $(($1 * 2 / 3))
	fi
}

patience=1
if ! virtual_time; then
	patience=50
	[[ $cmdline != *lab.counted* ]] || patience=10
	quiet_hosts
elif [ "${IQCN_LAB-}" = uml-preempt ]; then
	quiet_hosts
fi

# The rate of a bottleneck that a sender keeps busy, and the time after which a
# test checks the backlog. In real time the sender may not keep up with a higher
# rate, and the backlog may be gone before it is checked.
busy_rate=8656kbit busy_s=0.03
[ $patience -lt 50 ] || busy_rate=173kbit busy_s=0.3

# selected: print the tests of this run
selected()
{
	local t

	case ${TAG-} in
	"") echo "${ONLY:-$ALL_TESTS}" ;;
	nightly) echo "${NIGHTLY_TESTS-}" ;;
	check)
		for t in $ALL_TESTS; do
			[[ " ${NIGHTLY_TESTS-} " == *[[:space:]]"$t"[[:space:]]* ]] ||
				echo "$t"
		done
		;;
	esac
}

run_tests()
{
	local n=0 failed=0 t

	echo "TAP version 13"
	# shellcheck disable=SC2046
	set -- $(selected)
	if [ $# = 0 ]; then
		echo "1..1"
		echo "not ok 1 no test is selected"
		return 1
	fi
	echo "1..$#"
	for t; do
		n=$((n + 1))
		test_failed="" test_skipped=""
		if declare -F "$t" >/dev/null; then
			"$t"
		else
			fail "there is no such test"
		fi
		cleanup
		if [ -n "$test_skipped" ]; then
			echo "ok $n $t # SKIP $test_skipped"
		elif [ -z "$test_failed" ]; then
			echo "ok $n $t"
		else
			echo "not ok $n $t"
			failed=$((failed + 1))
			# make mutants needs only one failure
			[ -z "${IQCN_FAIL_FAST-}" ] || break
		fi
	done
	[ $failed = 0 ]
}
