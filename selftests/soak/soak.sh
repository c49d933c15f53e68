#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make soak: hours of virtual time in which 2,048 flows start and stop again and
# again.  After each round all counters must balance.
#
#   soak.sh [-k KERNEL] [-m MINUTES] [-e SECONDS]
#
#   -k KERNEL	uml (default), or uml-debug, which ends with a scan by kmemleak
#   -m MINUTES	virtual time (default 1440, a day)
#   -e SECONDS	virtual time from the start of a round of traffic to the start
#		of the next (default 120)
#
# The output is also in build/soak.log.  guest.sh describes the counters.
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
kernel=uml mem=1024 minutes=1440 every=120

usage()
{
	sed -n '3,/^set -u/s/^# \{0,1\}//p' "$0" | grep -v '^set' >&2
	exit 2
}

while getopts k:m:e: opt; do
	case $opt in
	k) kernel=$OPTARG ;;
	m) minutes=$OPTARG ;;
	e) every=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[[ $# = 0 && $minutes =~ ^[1-9][0-9]*$ && $every =~ ^[1-9][0-9]*$ ]] || usage
# the flows of a round must expire, and packets in flight must arrive
if ((every < 20)); then
	echo "soak: a round takes 20 s" >&2
	exit 2
fi
[ "$kernel" != uml-debug ] || mem=3072

mkdir -p "$TOP/build"
start=$SECONDS
# with a seed, the results do not depend on the load of the machine
LAB_TIMEOUT_S=36000 "$TOP/selftests/lab/lab.sh" run "$kernel" -s "${IQCN_SEED:-1}" \
	-m "$mem" "$HERE/guest.sh" "$minutes" "$every" |
	tee "$TOP/build/soak.log"
rc=${PIPESTATUS[0]}
echo "$((SECONDS - start)) s on this machine"
exit "$rc"
