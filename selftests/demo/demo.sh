#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make demo: show the module's main task, first packet by packet (guest.sh),
# then at the speed of a data center (two of the scenarios).
HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
out=$TOP/build/demo
results=${IQCN_RESULTS:-$TOP/build/results}
mkdir -p "$out"

cat <<'EOF'
1. Packet by packet

Three RoCEv2 flows share a queue of 100 Mb/s: a 4 KB packet leaves every 334 us,
and one of each flow every millisecond.  Their receiver cannot send enough CNPs:
one per flow in 5 ms.  Senders speed up again after T1 = 300 us without a CNP.

  sender ---- p0 [ switch: iqcn under tbf on p1 ] p1 ---- receiver

EOF
if ! "$TOP/selftests/lab/lab.sh" run uml "$HERE/guest.sh" "$out"; then
	echo "FAIL: see above"
	exit 1
fi
cat <<'EOF'
packets at the sender's port: build/demo/bridge.pcap, build/demo/router.pcap

2. With senders that react

fig1-rate-failure: flows whose packets are further apart than the rate-increase
interval of their senders.  incast-512: 512 such flows fill a port of 25 Gb/s for
0.4 s.  "ecn" only marks, "iqcn" also sends the missing CNPs by a timer, "wreb" and
"pi" notify senders when their packets arrive.

EOF
if "$TOP/selftests/scenarios/scenarios.sh" -v ecn,iqcn,pi fig1-rate-failure &&
   "$TOP/selftests/scenarios/scenarios.sh" -v ecn,iqcn,wreb,pi incast-512
then
	echo
	echo "plots: ${results#"$TOP/"}/fig1-rate-failure.png, ${results#"$TOP/"}/incast-512.png"
	echo "PASS: the box sent the CNPs that the receiver did not, and nothing was dropped"
else
	echo "FAIL: see above"
	exit 1
fi
