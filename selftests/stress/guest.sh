#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in a kernel of the lab: rounds of stress, item after item (lib-items.sh),
# while hosts in the kernel send.  All items run once, and then again until the
# file $STRESS_STOP exists.  A round has a seed, which is printed.  After every
# round, whatever its item has done, these invariants are checked:
#
#	once the senders have stopped, the queues are empty, debugfs is empty,
#	the module has no references and unloads, and the kernel log has no
#	splat
#
# The last lines of output are the results: "result ITEM ROUNDS FAILED".
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/../net/lib.sh"
# shellcheck source=selftests/net/lib-rocehost.sh
. "$(dirname "$0")/../net/lib-rocehost.sh"
# shellcheck source=selftests/lab/lib-splats.sh
. "$(dirname "$0")/../lab/lib-splats.sh"

# Three kernels are slow: uml-smp has KASAN, two CPUs and the host's clock, and
# x86-kcsan and stock have two emulated CPUs.  There, timers that expire as soon
# as they are rearmed starve processes, and RCU grace periods do not end.  In
# uml with the host's clock, the senders' timers do the same: a round takes more
# than ten minutes.  So these kernels get less traffic, senders without RP so
# that the traffic does not grow, and timeouts of milliseconds instead of
# microseconds.
slower=1 us=us rp=()
case ${IQCN_LAB-} in
uml-smp) slower=10 us=ms rp=(rp off) ;;
x86-kcsan | stock | uml) slower=3 us=ms rp=(rp off) ;;
esac

# shellcheck source=selftests/stress/lib-items.sh
. "$(dirname "$0")/lib-items.sh"

# kbits NUMBER: print the rate, scaled for slow kernels
kbits()
{
	echo $(($1 / slower))kbit
}

# traffic [bridge|router]: for the rest of the round, start 24 flows, whose
# first rates add up to four times the rate of the bottleneck (congest), and a
# receiver that answers
traffic()
{
	local cm="messages 1000000 every 4ms cm"

	topology "${1:-bridge}"
	load
	# shellcheck disable=SC2154 # topology has set them
	{
		rh snd "host e0 ip $SND4 rate 1gbit ${rp[*]} via $snd_dmac" ||
			fail "cannot create the sender"
		rh rcv "host e0 ip $rcv4 rate 1gbit via $rcv_dmac" ||
			fail "cannot create the receiver"
	}
	rh snd "flow e0 to $rcv4 flows 16 mtu 1024 rate $(kbits 2000) size endless" \
		"flow e0 name cm to $rcv4 flows 8 mtu 256 rate $(kbits 1000) size 5000 $cm" start ||
		fail "no traffic: $(in_ns snd head -n 1 /proc/net/rocehost/ctl)"
	flowing
}

# congest [IQCN-PARAMETER...]: put a bottleneck on p1, which the traffic
# congests
congest()
{
	any 50$us 300$us 900$us
	# delete first: the handle may be in use elsewhere in the tree
	tc -n sw qdisc del dev p1 root 2>/dev/null
	bottleneck "$(kbits 10000)" limit 200k kmin 5000 kmax 20000 notify timer,wreb,pi \
		t1 "$one" "$@"
}

# flowing: check that traffic still gets through
flowing()
{
	local before after i

	before=$(delivered)
	for i in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.1
		after=$(delivered)
		[ "$after" = "$before" ] || return
	done
	fail "nothing gets through"
}

delivered()
{
	in_ns rcv awk '$1 == "e0:" { print $3 }' /proc/net/dev
}

# queues: print the backlog of all iqcn qdiscs in all namespaces
queues()
{
	local ns

	for ns in snd sw rcv; do
		[ ! -e /run/netns/$ns ] || tc -n $ns -s -j qdisc show
	done | jq -s '[.[][] | select(.kind == "iqcn") | .qlen + .backlog] | add // 0'
}

# Stop the senders, and check that the queues drain
settle()
{
	local i left

	[ ! -e /run/netns/snd ] || ! grep -q '^rocehost ' /proc/modules || rh snd stop
	for ((i = 0; i < 50; i++)); do
		left=$(queues)
		[ "$left" != 0 ] || break
		sleep 0.1
	done
	check "packets and bytes left in queues" "$left" -eq 0
}

# Check that the round has left nothing behind
gone()
{
	local i

	cleanup
	rmmod rocehost 2>/dev/null
	grep -q '^rocehost ' /proc/modules && fail "rocehost does not unload"
	# namespaces are destroyed asynchronously, after the last packet is
	# freed
	for ((i = 0; i < 300; i++)); do
		left_in_debugfs || break
		sleep 0.1
	done
	left_in_debugfs && fail "left: $(ls -R /sys/kernel/debug/iqcn)"
	for ((i = 0; i < 30; i++)); do
		rmmod sch_iqcn 2>/dev/null
		grep -q '^sch_iqcn ' /proc/modules || break
		sleep 0.1
	done
	if grep -q '^sch_iqcn ' /proc/modules; then
		fail "the module does not unload: $(grep '^sch_iqcn ' /proc/modules)"
	fi
	if dmesg | grep -Eq "$SPLATS"; then
		fail "the kernel's log has a splat"
	fi
}

left_in_debugfs()
{
	[ -d /sys/kernel/debug/iqcn ] &&
		find /sys/kernel/debug/iqcn -mindepth 1 | grep -q .
}

# round NUMBER ITEM
round()
{
	local seed=$((${STRESS_SEED:-1} * 1000 + $1))

	RANDOM=$seed
	test_failed=""
	"item_$2"
	settle
	gone
	rounds[$2]=$((${rounds[$2]:-0} + 1))
	[ -z "$test_failed" ] || failed[$2]=$((${failed[$2]:-0} + 1))
	echo "  pass $1, $2: ${test_failed:+FAILED, }seed $seed"
}

# Does $STRESS_STOP exist?  Read the directory, because guests in QEMU cache the
# absence of a name.
stopped()
{
	compgen -G "$STRESS_STOP*" >/dev/null
}

declare -A rounds failed
pass=0
modprobe -q sch_iqcn
while :; do
	pass=$((pass + 1))
	for item in $STRESS_ITEMS; do
		round $pass "$item"
		# run each item at least once
		[ $pass = 1 ] || ! stopped || break 2
	done
	! stopped || break
done
bad=0
for item in $STRESS_ITEMS; do
	echo "result $item ${rounds[$item]:-0} ${failed[$item]:-0}"
	bad=$((bad + ${failed[$item]:-0}))
done
[ $bad = 0 ]
