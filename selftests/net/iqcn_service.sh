#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test iqcn-qdisc, the program of iqcn@DEV.service, without systemd: which
# qdiscs it adds, replaces and deletes, and which it leaves alone.

ALL_TESTS="
	test_root
	test_default
	test_replaces
	test_foreign
	test_bad_options
	test_no_glob
	test_stop_foreign
	test_mq
	test_mq_bad_options
	test_mq_foreign
	test_mq_fewer_queues
	test_moves
	test_class
	test_class_foreign
	test_device_gone
"
NIGHTLY_TESTS="
	test_foreign test_bad_options test_no_glob test_stop_foreign
	test_mq_bad_options test_mq_foreign test_mq_fewer_queues test_moves
	test_class test_class_foreign
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

PROGRAM=$TOP/contrib/systemd/iqcn-qdisc

# service WORD [VARIABLE=VALUE...]: run "iqcn-qdisc WORD p1" in sw, as systemd
# does, and set $rc; its messages are in $TMP/said
service()
{
	local word=$1
	shift

	# not in_ns, because the program needs the /sys of sw
	(cd "$TMP" && ip netns exec sw env RUNTIME_DIRECTORY="$TMP" "$@" \
		"$PROGRAM" "$word" p1) >"$TMP/said" 2>&1
	rc=$?
}

# succeeds WORD [VARIABLE=VALUE...]
succeeds()
{
	service "$@"
	[ $rc = 0 ] || fail "$*: exit status $rc: $(cat "$TMP/said")"
}

# fails STATUS MESSAGE VARIABLE=VALUE...: check that "start" fails with this
# status and message, and changes no qdisc
fails()
{
	local status=$1 message=$2 before
	shift 2

	before=$(qdiscs)
	service start "$@"
	check "exit status of $*" $rc -eq "$status"
	[[ $(cat "$TMP/said") == *$message* ]] ||
		fail "$*: \"$(cat "$TMP/said")\" does not say \"$message\""
	check_eq "qdiscs after $*" "$(qdiscs)" "$before"
}

qdiscs()
{
	tc -n sw -d qdisc show dev p1
}

# iqcns [WORDS]: print the number of iqcn qdiscs with these parameters
iqcns()
{
	qdiscs | grep -c "qdisc iqcn .*${1:+ $1 }"
}

# device [QUEUES]
device()
{
	rm -f "$TMP/qdisc"
	ip -batch - <<-EOF
		netns add sw
		link add p1 netns sw numtxqueues ${1:-1} type veth peer name p0 netns sw
	EOF
	ip -n sw link set p1 up
	ip -n sw link set p0 up
}

# htb: add a root qdisc that the service does not manage, with the class 1:10
htb()
{
	tc -n sw -batch - <<-EOF
		qdisc replace dev p1 root handle 1: htb default 10
		class add dev p1 parent 1: classid 1:10 htb rate 1gbit
	EOF
}

test_root()
{
	device
	succeeds start IQCN_OPTIONS="t1 300us telemetry on"
	check "with the options" "$(iqcns "t1 300us .*telemetry on")" -eq 1
	check "at the root" "$(qdiscs | grep -c 'iqcn .* root ')" -eq 1
	succeeds stop
	check_eq "qdiscs after stop" "$(qdiscs)" "qdisc noqueue 0: root refcnt 2 "
	succeeds stop
}

# Unlike veth, a tap device has a default qdisc that queues packets, here
# pfifo_fast: start replaces it, and stop restores it
test_default()
{
	local before

	rm -f "$TMP/qdisc"
	ip netns add sw
	in_ns sw ip tuntap add dev p1 mode tap
	ip -n sw link set p1 up
	before=$(qdiscs)
	[[ $before == "qdisc pfifo_fast 0: root"* ]] || fail "default: $before"
	succeeds start
	check "at the root" "$(qdiscs | grep -c 'iqcn .* root ')" -eq 1
	succeeds stop
	check_eq "qdiscs after stop" "$(qdiscs)" "$before"
}

# No old parameter survives, no matter who added the iqcn qdisc
test_replaces()
{
	device
	succeeds start IQCN_OPTIONS="t1 300us telemetry on"
	succeeds start IQCN_OPTIONS="pmax 0.5"
	check "with new words only" \
		"$(iqcns "pmax 0.5 .*t1 225us .*telemetry off")" -eq 1
	check "qdiscs" "$(qdiscs | grep -c .)" -eq 1
	tc -n sw qdisc replace dev p1 root handle 99: iqcn t1 400us
	succeeds start IQCN_OPTIONS="pmax 0.25"
	check "in place of one by hand" "$(iqcns "pmax 0.25 .*t1 225us")" -eq 1
	succeeds stop
	check "qdiscs left" "$(iqcns)" -eq 0
}

test_foreign()
{
	device 4
	htb
	fails 78 "p1 has the qdisc htb 1: at root: delete it, or set IQCN_AT to one of its classes" \
		IQCN_AT=root
	fails 78 "p1 has the qdisc htb 1: at root" IQCN_AT=mq
	fails 78 "p1 has the qdisc htb 1: at root" IQCN_AT=root IQCN_OPTIONS=nonsense
}

# The existing qdisc stays, whether it is the default or an earlier iqcn
test_bad_options()
{
	device
	fails 78 'unknown parameter "nonsense"' IQCN_OPTIONS=nonsense
	fails 78 "t1 10s is out of range" IQCN_OPTIONS="t1 10s"
	fails 78 "is above kmax" IQCN_OPTIONS="kmin 2000 kmax 1000"
	fails 78 "IQCN_AT=above: must be root, mq or a class" IQCN_AT=above
	fails 78 "p1 has only one transmit queue" IQCN_AT=mq
	succeeds start IQCN_OPTIONS="t1 300us"
	fails 78 'unknown parameter "nonsense"' IQCN_OPTIONS=nonsense
	fails 78 "is above kmax" IQCN_OPTIONS="kmin 2000 kmax 1000"
	succeeds stop
	check "qdiscs left" "$(iqcns)" -eq 0
}

# Options are not expanded to names of files
test_no_glob()
{
	device
	: >"$TMP/4000"
	fails 78 'iqcn: invalid value "*" for "limit": expected BYTES' IQCN_OPTIONS='limit *'
	rm "$TMP/4000"
}

# stop deletes only the qdisc that start added
test_stop_foreign()
{
	local before

	device
	succeeds start
	tc -n sw qdisc del dev p1 root
	htb
	before=$(qdiscs)
	succeeds stop
	check_eq "htb" "$(qdiscs)" "$before"
	grep -q "p1 no longer has the qdisc iqcn" "$TMP/said" ||
		fail "$(cat "$TMP/said")"
	tc -n sw qdisc del dev p1 root
	succeeds start
	tc -n sw qdisc replace dev p1 root handle 99: iqcn
	succeeds stop
	check "iqcn by hand" "$(qdiscs | grep -c 'iqcn 99: root')" -eq 1
}

test_mq()
{
	local before

	device 4
	before=$(qdiscs)
	succeeds start IQCN_AT=mq IQCN_OPTIONS="t1 300us"
	check "queues" "$(iqcns "t1 300us")" -eq 4
	succeeds start IQCN_AT=mq IQCN_OPTIONS="pmax 0.5"
	check "with new words only" "$(iqcns "pmax 0.5 .*t1 225us")" -eq 4
	check "qdiscs" "$(qdiscs | grep -c .)" -eq 5
	# one queue was changed by hand
	tc -n sw qdisc replace dev p1 parent "$(qdiscs |
		sed -n 's/.* parent \([^ ]*:2\) .*/\1/p')" handle 99: pfifo
	succeeds start IQCN_AT=mq IQCN_OPTIONS="pmax 0.25"
	check "after a change by hand" "$(iqcns "pmax 0.25")" -eq 4
	succeeds stop
	check_eq "qdiscs after stop" "$(qdiscs)" "$before"
}

test_mq_bad_options()
{
	device 4
	fails 78 'unknown parameter "nonsense"' IQCN_AT=mq IQCN_OPTIONS=nonsense
	fails 78 "is above kmax" IQCN_AT=mq IQCN_OPTIONS="kmin 2000 kmax 1000"
	succeeds start IQCN_AT=mq IQCN_OPTIONS="t1 300us"
	fails 78 'unknown parameter "nonsense"' IQCN_AT=mq IQCN_OPTIONS=nonsense
	fails 78 "is above kmax" IQCN_AT=mq IQCN_OPTIONS="kmin 2000 kmax 1000"
	check "queues" "$(iqcns "t1 300us")" -eq 4
}

test_mq_foreign()
{
	device 4
	tc -n sw qdisc add dev p1 root handle 1: mq
	tc -n sw qdisc add dev p1 parent 1:1 pfifo limit 77
	fails 78 "p1 has the qdisc mq 1: at root" IQCN_AT=mq
	fails 78 "p1 has the qdisc mq 1: at root" IQCN_AT=root
}

# The device has fewer queues than when the service was started
test_mq_fewer_queues()
{
	device 4
	succeeds start IQCN_AT=mq IQCN_OPTIONS="t1 300us"
	if ! in_ns sw ethtool -L p1 tx 2; then
		skip "no ethtool -L"
		return
	fi
	succeeds start IQCN_AT=mq IQCN_OPTIONS="t1 400us"
	check "of all queues" "$(iqcns "t1 400us")" -eq 4
}

# IQCN_AT changes between two starts
test_moves()
{
	device 4
	succeeds start IQCN_OPTIONS="t1 300us"
	fails 78 "is above kmax" IQCN_AT=mq IQCN_OPTIONS="kmin 2000 kmax 1000"
	succeeds start IQCN_AT=mq IQCN_OPTIONS="t1 400us"
	check "qdiscs with mq" "$(qdiscs | grep -c .)" -eq 5
	check "iqcn below mq" "$(iqcns "t1 400us")" -eq 4
	succeeds start IQCN_OPTIONS="t1 300us"
	check "qdiscs without mq" "$(qdiscs | grep -c .)" -eq 1
	check "at the root" "$(iqcns "t1 300us")" -eq 1
	succeeds stop
	check "qdiscs left" "$(iqcns)" -eq 0
}

test_class()
{
	device
	fails 1 "p1 has no class 1:10 yet" IQCN_AT=1:10
	htb
	fails 1 "p1 has no class 1:20 yet" IQCN_AT=1:20
	succeeds start IQCN_AT=1:10 IQCN_OPTIONS="t1 300us"
	check "in the class" "$(qdiscs | grep -c 'iqcn .* parent 1:10 ')" -eq 1
	fails 78 'unknown parameter "nonsense"' IQCN_AT=1:10 IQCN_OPTIONS=nonsense
	fails 78 "is above kmax" IQCN_AT=1:10 IQCN_OPTIONS="kmin 2000 kmax 1000"
	succeeds start IQCN_AT=1:10 IQCN_OPTIONS="pmax 0.5"
	check "with new words only" "$(iqcns "pmax 0.5 .*t1 225us")" -eq 1
	tc -n sw class add dev p1 parent 1: classid 1:20 htb rate 1gbit
	succeeds start IQCN_AT=1:20
	check "only in the other class" "$(iqcns)" -eq 1
	check "there" "$(qdiscs | grep -c 'iqcn .* parent 1:20 ')" -eq 1
	succeeds stop
	check "iqcn after stop" "$(iqcns)" -eq 0
	check "htb after stop" "$(qdiscs | grep -c 'htb 1: root')" -eq 1
}

test_class_foreign()
{
	device
	htb
	tc -n sw qdisc add dev p1 parent 1:10 handle 20: pfifo limit 77
	fails 78 "p1 has the qdisc pfifo 20: at parent 1:10" IQCN_AT=1:10
	fails 78 "p1 has the qdisc pfifo 20: at parent 1:10" IQCN_AT=01:0X10
}

test_device_gone()
{
	device
	succeeds start
	ip -n sw link del p1
	succeeds stop
}

run_tests
