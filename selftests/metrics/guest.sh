#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the lab: a congested run whose state is read from all sources, into
# $METRICS_OUT; then error cases of "iqcn metrics".

ALL_TESTS="
	test_run
	test_file
	test_full
	test_killed
	test_agent
	test_names
	test_anybody
	test_no_module
	test_no_answer
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/../net/lib.sh"

metrics()
{
	in_ns sw "$BUILD/iqcn" metrics "$@"
}

ctl()
{
	in_ns "$1" tee /proc/net/rocehost/ctl <<<"$2" >/dev/null 2>&1 ||
		fail "$2: $(in_ns "$1" head -n 1 /proc/net/rocehost/ctl)"
}

# Two queues with different methods below a bottleneck, and one on another port
qdiscs()
{
	local budget="cnp-rate 100000 cnp-burst 20"

	tc -n sw -batch - <<-EOF
		qdisc add dev p0 root handle 30: iqcn notify off
		qdisc add dev p1 root handle 1: tbf rate 2gbit burst 20k limit 1g
		qdisc add dev p1 parent 1:1 handle 2: ets bands 2 quanta 9000 9000 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc add dev p1 parent 2:1 handle 10: iqcn bandwidth 1gbit limit 400k $budget
		qdisc add dev p1 parent 2:2 handle 20: iqcn bandwidth 1gbit limit 2m notify timer t1 300us $budget
		filter add dev p1 parent 2: protocol ip u32 match ip dsfield 0x68 0xfc flowid 2:2
	EOF
}

# Save the output of all sources, at a time when nothing changes but clocks
snapshot()
{
	local i

	metrics -o "$METRICS_OUT/2.prom" || fail "metrics -o"
	metrics --openmetrics >"$METRICS_OUT/2.openmetrics"
	in_ns sw "$BUILD/iqcn" show -j >"$METRICS_OUT/iqcn.json"
	in_ns sw "$BUILD/iqcn" flows -j >"$METRICS_OUT/iqcn-flows.json"
	tc -n sw -s -j qdisc show >"$METRICS_OUT/tc.json"
	for i in 1 2 3; do
		"$BUILD/genl" --netns sw dump $i || fail "genl"
	done >"$METRICS_OUT/genl"
	ip netns exec sw sh -c 'cd /sys/class/net && grep . p*/iqcn/*' \
		>"$METRICS_OUT/sysfs"
	(cd "/sys/kernel/debug/iqcn/$(netns_inum sw)" && grep . ./*/*) \
		>"$METRICS_OUT/debugfs"
}

test_run()
{
	local since

	topology bridge
	qdiscs
	insmod "$BUILD/uml/rocehost/rocehost.ko" || fail "rocehost"
	ctl snd "host e0 ip $SND4 rate 10gbit min 5mbit"
	ctl rcv "host e0 ip $RCV4 rate 10gbit ack 1 cnp 50us"
	ctl snd "flow e0 name pi to $RCV4 flows 24 size endless messages endless rate 100mbit"
	ctl snd "flow e0 name timer to $RCV4 flows 12 size endless messages endless rate 100mbit dscp 26"
	ctl snd "flow e0 name deaf to $RCV4 flows 2 size endless messages endless rate 50mbit dscp 26 ect 0"
	# a listener, so that CNPs cause events
	"$BUILD/genl" --netns sw --summary --time 150 listen cnp >"$TMP/cnps" &
	ctl snd "start for 100ms"
	sleep 0.06
	metrics -o "$METRICS_OUT/1.prom" || fail "metrics -o"
	# data that is not answered
	data --flows 2 --qp 0x500 --tos 3 --count 100 --len 1024
	sleep 0.3
	wait
	# a backlog that is too small to be marked
	tc -n sw qdisc change dev p1 root handle 1: tbf rate 8kbit burst 20k limit 1g
	data --tos 104 --count 8 --len 4096
	snapshot
	check "backlog" "$(stat backlog p1 20:)" -gt 0
	since=$(metrics | grep ^iqcn_queue_state_since)
	check "states" "$(wc -l <<<"$since")" -ge 1
	check "since" "${since##* }" -le $((EPOCHSECONDS + 1))
	check "since" "${since##* }" -ge $((EPOCHSECONDS - 10))
	sleep 0.7
	check_eq "since" "$(metrics | grep ^iqcn_queue_state_since)" "$since"
	for i in 0 3; do
		metrics --flows $i >"$TMP/top"
		check "flows" "$(grep -c ^iqcn_flow_sent_cnps "$TMP/top")" -eq $i
	done
	rmmod rocehost
}

# The file is replaced atomically, and is complete and readable by all
test_file()
{
	local dir=$TMP/file f

	topology bridge
	iqcn
	mkdir "$dir"
	echo old >"$dir/iqcn.prom"
	(umask 077 && metrics -o "$dir/iqcn.prom") || fail "metrics -o"
	check_eq "what is there" "$(ls -A "$dir")" iqcn.prom
	check_eq "mode" "$(stat_of %a "$dir/iqcn.prom")" 644
	check_eq "all of it" "$(grep -v ^iqcn_last "$dir/iqcn.prom")" \
		"$(metrics | grep -v ^iqcn_last)"
	(cd "$dir" && metrics -o here.prom) || fail "metrics -o here.prom"
	check_eq "in this directory" "$(grep -c ^iqcn_up "$dir/here.prom")" 1
	for f in "$dir/none/iqcn.prom:No such file or directory" \
		 "$dir:not a regular file" "/dev/null:not a regular file"; do
		metrics -o "${f%:*}" 2>"$TMP/error"
		check "$f" $? -eq 1
		check_eq "error" "$(<"$TMP/error")" "iqcn: ${f%:*}: ${f##*:}"
	done
	[ -c /dev/null ] || fail "/dev/null has been replaced"
}

# lib.sh defines a function "stat"
stat_of()
{
	command stat -c "$1" "$2"
}

# If the disk is full, the old file stays, and no other file is left
test_full()
{
	local dir=$TMP/full

	topology bridge
	iqcn
	mkdir "$dir"
	mount -t tmpfs -o size=64k none "$dir"
	echo old >"$dir/iqcn.prom"
	head -c 1m /dev/zero >"$dir/big" 2>/dev/null
	metrics -o "$dir/iqcn.prom" 2>"$TMP/error"
	check "exit code" $? -eq 1
	check_eq "error" "$(<"$TMP/error")" \
		"iqcn: $dir/iqcn.prom: No space left on device"
	check_eq "file" "$(<"$dir/iqcn.prom")" old
	check_eq "what is there" "$(ls -A "$dir" | tr '\n' ' ')" "big iqcn.prom "
	umount "$dir"
	metrics >/dev/full 2>/dev/null
	check "exit code, to a full device" $? -eq 1
}

# A signal during the write takes effect afterwards, so no temporary file is
# left
test_killed()
{
	local dir=$TMP/killed

	topology bridge
	iqcn
	mkdir "$dir"
	gcc -shared -fPIC -o "$TMP/kill.so" -xc - <<-EOF
		#include <signal.h>

		int fchmod(int fd, unsigned int mode)
		{
			raise(SIGINT);
			raise(SIGTERM);
			return 0;
		}
	EOF
	for _ in 1 2; do
		LD_PRELOAD=$TMP/kill.so metrics -o "$dir/iqcn.prom"
		check "exit code" $? -gt 128
	done
	check_eq "what is there" "$(ls -A "$dir")" iqcn.prom
	check_eq "all of it" "$(grep -v ^iqcn_last "$dir/iqcn.prom")" \
		"$(metrics | grep -v ^iqcn_last)"
}

# The agent writes its own metrics file
test_agent()
{
	topology bridge
	tc -n sw qdisc replace dev p1 root iqcn notify supplement fiber 100km
	in_ns sw "$BUILD/iqcn" agent observe --count 3 \
		--metrics "$METRICS_OUT/agent.prom" p1 >/dev/null || fail "agent"
	check "steps" "$(sed -n 's/^iqcn_agent_steps_total{.*} //p' \
		"$METRICS_OUT/agent.prom")" -eq 3
}

# Device names that must be escaped in labels, and must still differ afterwards
test_names()
{
	local name

	topology bridge
	for name in $'q"\\\xe9\xc3\xbc' $'q\xe9' 'q\xe9' $'q\e' 'q\\xe9'; do
		ip -n sw link add "$name" type dummy
		tc -n sw qdisc add dev "$name" root iqcn
	done
	metrics -o "$METRICS_OUT/names.prom" || fail "metrics -o"
	check_eq "devices" "$(grep ^iqcn_port_queues "$METRICS_OUT/names.prom")" \
		'iqcn_port_queues{device="q\"\\\\\\xe9\\xc3\\xbc"} 1
iqcn_port_queues{device="q\\xe9"} 1
iqcn_port_queues{device="q\\\\xe9"} 1
iqcn_port_queues{device="q\\x1b"} 1
iqcn_port_queues{device="q\\\\\\\\xe9"} 1'
	check_eq "duplicates" "$(grep -v ^# "$METRICS_OUT/names.prom" |
		sed 's/ [^ ]*$//' | sort | uniq -d)" ""
}

# Without privileges the metrics are the same, except that flows are omitted
test_anybody()
{
	topology bridge
	iqcn
	metrics --flows 0 | grep -v ^iqcn_last >"$TMP/root"
	in_ns sw setpriv --reuid=65534 --regid=65534 --clear-groups \
		--bounding-set=-all --no-new-privs "$BUILD/iqcn" metrics \
		--flows 0 | grep -v ^iqcn_last >"$TMP/nobody"
	check "something" "$(grep -c ^iqcn_queue "$TMP/nobody")" -gt 30
	cmp "$TMP/root" "$TMP/nobody" || fail "not the same"
	# flows are omitted, with a message
	in_ns sw setpriv --bounding-set=-net_admin "$BUILD/iqcn" metrics \
		2>"$TMP/error" | grep -v ^iqcn_last |
		cmp "$TMP/root" - || fail "not the same without flows"
	check "said" "$(grep -c 'reading flows needs CAP_NET_ADMIN' "$TMP/error")" -eq 1
}

# Without the module "iqcn metrics" reports that, and does not load the module
test_no_module()
{
	topology bridge
	rmmod sch_iqcn || fail "the module is in use"
	modprobe -n sch_iqcn || fail "the module cannot be loaded"
	metrics >"$METRICS_OUT/none.prom" 2>"$TMP/error"
	check "exit code" $? -eq 0
	check_eq "error" "$(<"$TMP/error")" ""
	check_eq "up" "$(grep ^iqcn_up "$METRICS_OUT/none.prom")" "iqcn_up 0"
	check "loaded" "$(grep -c sch_iqcn /proc/modules)" -eq 0
}

# An old module, which lacks the netlink family
test_no_answer()
{
	local modprobe

	topology bridge
	modprobe=$(</proc/sys/kernel/modprobe)
	echo /bin/false >/proc/sys/kernel/modprobe
	mount -t tmpfs none /sys/module
	mkdir /sys/module/sch_iqcn
	echo 0.0 >/sys/module/sch_iqcn/version
	metrics -o "$METRICS_OUT/old.prom" 2>"$TMP/error"
	check "exit code" $? -eq 1
	check "error" "$(grep -c "module sch_iqcn: it is older" "$TMP/error")" -eq 1
	check_eq "up" "$(grep ^iqcn_up "$METRICS_OUT/old.prom")" "iqcn_up 0"
	check "its version" "$(grep -c 'module="0.0"' "$METRICS_OUT/old.prom")" -eq 1
	umount /sys/module
	echo "$modprobe" >/proc/sys/kernel/modprobe
}

run_tests
