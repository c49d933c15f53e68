#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make check-kernels: test with Debian's kernels, each with the compiler and tc
# of its own release.  The module must build with W=1 without warnings.  Then
# kselftests run, in as many guests in parallel as there are CPUs.  Logs are in
# build/kernels/; the output ends with a table and a verdict.
#
#   kernels.sh [KERNEL...]	default: bookworm backports sid
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
OUT=$TOP/build/kernels
cd "$TOP" || exit 1

# shellcheck source=selftests/kernels/lib.sh
. "$TOP/selftests/kernels/lib.sh"

# Groups of tests, the longest first
GROUPS_OF_TESTS="snoop cnp+mark qdisc+bad genl+pair life+smoke"
# Groups whose guests have two CPUs that run in parallel, with the host's clock
SMP="rdma boundary+fdb smoke"

# Tests that are skipped, mostly because these guests take milliseconds to start
# a process.  User Mode Linux with virtual time starts a process in no time, so
# these tests run there.
LEFT_OUT="
	# require CNPs within microseconds
	test_receiver_restarts test_receiver_answers
	# check a state within milliseconds
	test_state_ends test_detect_depth test_age test_budget test_sojourn
	# sends faster than these guests can
	test_psn_last_of_message
	# needs rocehost, which is not built for these kernels
	test_million
"

# build KERNEL: build in its root; our files must compile without warnings
build()
{
	local kernel=$1 log=$OUT/$1-build.log version

	version=$("$LAB" key "$kernel") || return 1
	rm -rf "build/$kernel"
	mkdir -p "build/$kernel"
	"$LAB" in "$kernel" make -C /mnt -s B="build/$kernel" W=1 \
		KDIR="/usr/src/linux-headers-$version" modules tc-plugin userspace \
		"build/$kernel/roce" "build/$kernel/psample" "build/$kernel/genl" \
		"build/$kernel/linktype" "build/$kernel/badstab.so" \
		"build/$kernel/unchecked/q_iqcn.so" \
		>"$log" 2>&1 || return 1
	! grep -E 'warning:|error:' "$log"
}

# run KERNEL GROUP: run a group, with a clock that counts instructions unless
# the group is in $SMP
run()
{
	local kernel=$1 group=$2 clock=-c

	[[ " $SMP " != *" $group "* ]] || clock=""
	# shellcheck disable=SC2046,SC2086
	"$LAB" run "$kernel" $clock -k "$TOP/build/$kernel/sch_iqcn.ko" \
		"$TOP/selftests/kernels/guest.sh" "$TOP/build/$kernel" \
		$(files "$group" "$LEFT_OUT")
}

if [ "${1-}" = run ]; then
	timed "$2" "$3"
	exit
fi

[ $# -gt 0 ] || set -- bookworm backports sid
rm -rf "$OUT"
mkdir -p "$OUT"
: >"$OUT/results"
echo "roots"
for kernel; do
	"$LAB" build "$kernel" || exit 1
done
"$LAB" build uml || exit 1
echo "builds, each by its own compiler"
for kernel; do
	echo "  $kernel ..."
	if build "$kernel"; then
		echo "  $kernel: no warnings"
	else
		echo "  $kernel: FAILED"
		tail -n 15 "$OUT/$kernel-build.log"
		echo "$kernel FAILED 0 build" >>"$OUT/results"
	fi
done
echo "tests"
for group in $GROUPS_OF_TESTS $SMP; do
	for kernel; do
		[ ! -e "build/$kernel/sch_iqcn.ko" ] || echo "$kernel $group"
	done
done | xargs -P "$(nproc)" -L 1 "$TOP/selftests/kernels/kernels.sh" run

# describe KERNEL: print versions from its logs
describe()
{
	local release tc

	read -r release tc <<<"$(cat "$OUT/$1"-*.log |
		sed -nE 's/^# ([0-9][^ ]*), tc utility, (iproute2-[^,]*).*/\1 \2/p' | head -n 1)"
	printf '%-20s %-14s' "${release:-?}" "${tc:-?}"
}

summary "$(printf '%-20s %-14s' release tc)" "$@"
