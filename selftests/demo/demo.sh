#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make demo: the main job, to look at.  Boots the lab and runs guest.sh in it.
HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
out=$TOP/build/demo
mkdir -p "$out"

cat <<'EOF'
Three RoCEv2 flows share a queue of 100 Mb/s: a 4 KB packet leaves every 334 us,
one of each flow every millisecond.  Their receiver is short of CNPs and sends
one per flow in 5 ms; senders speed up again after T1 = 300 us without one.

  sender ---- p0 [ switch: iqcn under tbf on p1 ] p1 ---- receiver

EOF
if "$TOP/selftests/lab/lab.sh" run uml "$HERE/guest.sh" "$out"; then
	echo "packets at the sender's port: build/demo/bridge.pcap, build/demo/router.pcap"
	echo "PASS: the box sent the CNPs that the receiver did not, bridged and routed"
else
	echo "FAIL: see above"
	exit 1
fi
