#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in one of Debian's kernels: check that the distribution's tc makes the
# kernel load the module, and run kselftests.
#
#   guest.sh BUILD FILE[:TEST,TEST...]...	BUILD: directory of the module
#						that was built for this kernel
set -u

TOP=$(cd "$(dirname "$0")/../.." && pwd)
export IQCN_BUILD=$1
shift

# load tun, which creates /dev/net/tun, because udev does not run here
modprobe tun

autoload()
{
	! grep -q '^sch_iqcn ' /proc/modules &&
		TC_LIB_DIR=$IQCN_BUILD tc qdisc add dev lo root iqcn limit 1m &&
		grep -q '^sch_iqcn ' /proc/modules &&
		[[ $(TC_LIB_DIR=$IQCN_BUILD tc qdisc show dev lo) == *iqcn*"limit 1Mb"* ]] &&
		tc qdisc del dev lo root && rmmod sch_iqcn
}

rc=0
echo "# $(uname -r), $(tc -V), $(nproc) CPUs"
if autoload; then
	echo "ok 1 autoload"
else
	echo "not ok 1 autoload"
	rc=1
fi
"$TOP/selftests/run.sh" "$IQCN_BUILD/sch_iqcn.ko" "$@" || rc=1
exit $rc
