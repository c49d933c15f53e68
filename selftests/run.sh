#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs inside a kernel of the lab: install the module so that tc can load it,
# run kselftests, unload the module.
#
#   run.sh MODULE [FILE[:TEST,TEST...|@TAG]]...	default: every file in net/
#
# FILE@nightly runs the tests of the list NIGHTLY_TESTS in the file, FILE@check
# all others.
set -u

HERE=$(cd "$(dirname "$0")" && pwd)
module=$1
shift
[ $# -gt 0 ] || set -- "$HERE"/net/iqcn_*.sh

# the lab may have installed it already (lab.sh run -k)
if ! modinfo sch_iqcn >/dev/null 2>&1; then
	extra=/lib/modules/$(uname -r)/extra
	mkdir -p "$extra" && cp "$module" "$extra/sch_iqcn.ko" || exit 1
	# other modules of the kernel that tests need
	cp "$LAB_MODULES"/net/psample/psample.ko \
		"$LAB_MODULES"/net/bridge/br_netfilter.ko \
		"$LAB_MODULES"/net/core/pktgen.ko "$extra" || exit 1
	depmod 2>/dev/null
fi

# keep_tools: keep the files of the tools in memory.  hostfs drops the pages of
# a file that no process has open; to read tc and its libraries again takes a
# tenth of the run time of tc.
keep_tools()
{
	local tool fd

	for tool in /usr/sbin/ip /usr/sbin/bridge "$HERE"/../build/{roce,iqcn}; do
		exec {fd}<"$tool"
	done
	# tc waits for commands, with its libraries loaded
	exec tc -batch "$TMPDIR/no-commands"
}
if [ ! -e "$TMPDIR/no-commands" ] &&
   grep -q '^[^ ]* / hostfs ' /proc/mounts; then
	mkfifo "$TMPDIR/no-commands"
	keep_tools >/dev/null 2>&1 &
fi

rc=0
for spec; do
	file=${spec%%[:@]*}
	tests="" tag=""
	case $spec in
	*:*) tests=${spec#*:} ;;
	*@*) tag=${spec#*@} ;;
	esac
	[ -e "$file" ] || file=$HERE/net/$file
	echo "# $(basename "$file")"
	ONLY=${tests//,/ } TAG=$tag bash "$file" && continue
	rc=1
	[ -z "${IQCN_FAIL_FAST-}" ] || break
done

# ports and namespaces may still be in destruction
for _ in 1 2 3 4 5 6 7 8 9 10; do
	rmmod sch_iqcn 2>/dev/null
	grep -q '^sch_iqcn ' /proc/modules || break
	sleep 0.5
done
if grep -q '^sch_iqcn ' /proc/modules; then
	echo "not ok the module does not unload"
	rc=1
fi
exit $rc
