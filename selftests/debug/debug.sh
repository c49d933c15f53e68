#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make check-debug: test with debug kernels.  uml-debug is also used by make
# check, and runs nearly all kselftests of the module here.  uml-preempt is
# preemptible and detects sleeping in atomic context: it runs most of these
# tests.  Both run in virtual time.  uml-smp has two CPUs: it runs the tests
# that do not depend on microseconds, with the host's clock, and the stress test
# and random sequences of requests.  x86-kcsan has two CPUs in QEMU and detects
# data races: it runs those of the same tests that need neither a fast CPU nor
# KUnit.  A splat is a failure.  Logs are in build/debug/; the output ends with
# a table and a verdict.
#
#   debug.sh [-m MINUTES] [KERNEL...]	default: all; MINUTES of stress, and of
#				sequences (10)
#
# All random values in virtual time follow from $IQCN_SEED, 1 by default, and so
# do the seeds of sequences, which are in their logs.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
OUT=$TOP/build/debug
cd "$TOP" || exit 1

# shellcheck source=selftests/kernels/lib.sh
. "$TOP/selftests/kernels/lib.sh"

# Groups of tests, the longest first
declare -A GROUPS_OF=(
	[uml-debug]="snoop+trigger mark+pair+bad cnp+scale+qdisc detect+bts
		pfc+grant filter+supplement agent tdc life+smoke+genl
		adversary+fdb rocehost+senders wire+fabric faults+fuzz kunit"
	[uml-preempt]="cnp+mark snoop trigger detect bts pair+bad scale+rocehost+senders
		pfc+grant filter+supplement qdisc+life genl+smoke wire+fabric tdc kunit"
	[uml-smp]="stress sequences snoop life+smoke genl qdisc+bad tdc kunit"
	[x86-kcsan]="stress sequences life+smoke genl"
)
declare -A OPTIONS=(
	[uml-debug]="-m 3072 -s ${IQCN_SEED:-1}"
	[uml-preempt]="-s ${IQCN_SEED:-1}"
	[uml-smp]="-m 3072"
	[x86-kcsan]=""
)
# Tests that are left out, and why
declare -A LEFT_OUT=(
	[uml-debug]="
		# too slow here
		test_million
		# the limit on slab memory is for objects without debug data
		test_flood
		# needs a guest of 64 MB, in which this kernel does not boot
		test_small
	"
	[uml-smp]="
		# with the host's clock, the namespaces that these tests create
		# are not always ready
		test_own test_infra
	"
	[x86-kcsan]="
		# expect the idle timeout to end a state, which a late packet
		# may do instead
		test_queue test_flow
		# limits the time that dumps take
		test_million
	"
)
declare -A WHAT=(
	[uml-debug]="6.1: KASAN, lockdep, DEBUG_OBJECTS, kmemleak"
	[uml-preempt]="6.12: PREEMPT, DEBUG_ATOMIC_SLEEP, lockdep"
	[uml-smp]="7.2: two CPUs, KASAN, DEBUG_OBJECTS"
	[x86-kcsan]="6.12: x86-64, two CPUs, PREEMPT, KCSAN"
)
declare -A CLOCK=(
	[uml-debug]=virtual
	[uml-preempt]=virtual
	[uml-smp]=machine
	[x86-kcsan]=machine
)

# run KERNEL GROUP: run a group of tests
run()
{
	local kernel=$1 group=$2 run

	# shellcheck disable=SC2206
	run=("$LAB" run "$kernel" ${OPTIONS[$kernel]})
	case $group in
	stress)
		"$TOP/selftests/stress/stress.sh" -k "$kernel" "$MINUTES"
		;;
	sequences)
		# half of the time as root, half as an unprivileged user
		IQCN_SEQUENCES_S=$((MINUTES * 30 + 5)) \
		LAB_TIMEOUT_S=$((MINUTES * 60 + 900)) \
			"${run[@]}" "$TOP/selftests/run.sh" \
			"$TOP/build/$kernel/sch_iqcn.ko" iqcn_sequences.sh
		;;
	kunit)
		"${run[@]}" "$TOP/selftests/kunit/kunit.sh" \
			"$TOP/build/$kernel/tests/iqcn_kunit.ko" \
			"$TOP/build/$kernel/rocehost/rocehost_kunit.ko"
		;;
	*)
		# shellcheck disable=SC2046
		"${run[@]}" "$TOP/selftests/run.sh" "$TOP/build/$kernel/sch_iqcn.ko" \
			$(files "$group" "${LEFT_OUT[$kernel]-}")
		;;
	esac
}

describe()
{
	printf '%-46s %-8s' "${WHAT[$1]}" "${CLOCK[$1]}"
}

export MINUTES=${MINUTES:-10}
if [ "${1-}" = run ]; then
	timed "$2" "$3"
	exit
fi
while getopts m: opt; do
	case $opt in
	m) MINUTES=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- uml-debug uml-preempt uml-smp x86-kcsan
for kernel; do
	[ -n "${GROUPS_OF[$kernel]-}" ] ||
		{ echo "unknown kernel $kernel" >&2; exit 2; }
done

rm -rf "$OUT"
mkdir -p "$OUT"
: >"$OUT/results"
echo "kernels and builds"
"$LAB" tdc >/dev/null || exit 1
for kernel; do
	make -s "lab-$kernel" || exit 1
done
echo "tests"
for kernel; do
	# a guest with two CPUs needs the whole machine
	at_a_time=$(nproc)
	[ "${CLOCK[$kernel]}" = virtual ] || at_a_time=1
	printf "$kernel %s\n" ${GROUPS_OF[$kernel]} |
		xargs -P "$at_a_time" -L 1 "$TOP/selftests/debug/debug.sh" run
done

summary "$(printf '%-46s %-8s' options clock)" "$@"
