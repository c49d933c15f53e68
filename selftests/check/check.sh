#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make test and make check: run the tests of a tier.  Two steps run at a time,
# because the machine has two cores.  Each step writes build/TIER/STEP.log.  A
# table (build/TIER/counts) and a verdict come last.
#
#   check.sh [TIER]	test: tests to run after each edit (3 minutes)
#			check: tests of CI (15 minutes, 35 with kernels);
#			default
#   check.sh step TIER STEP
#			run one step again
#
# make nightly has the tests that take hours, or repeat others on another
# kernel.  All random numbers in User Mode Linux come from $IQCN_SEED, 1 by
# default.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
cd "$TOP" || exit 1

# The steps of each tier, the longest first, and the kernels that they run on.
# A step runs its files in one guest.
declare -A STEPS=(
	[test]="static-fast smoke kunit userspace plugin senders"
	[check]="packages kselftests-debug-2 static kselftests-debug-1
		packages-distros kselftests-2 kselftests-1 kselftests-3 tdc-own stock kselftests-4
		kselftests-tool kselftests-5 scenarios docs demo bench wireshark
		fuzz metrics repeat soak kunit-debug kselftests-small kunit userspace
		plugin senders"
	[more]="million intree agent"
)
declare -A KERNELS=(
	[test]="uml"
	[check]="uml stock uml-debug"
	[more]="uml"
)

run_step()
{
	case $1 in
	# tests that depend on virtual time
	kselftests-1)
		selftests uml -- iqcn_cnp.sh iqcn_scale.sh iqcn_bts.sh
		;;
	kselftests-2)
		selftests uml -- iqcn_detect.sh iqcn_trigger.sh
		;;
	kselftests-3)
		selftests uml -- iqcn_snoop.sh iqcn_pair.sh iqcn_qdisc.sh \
			iqcn_mark.sh iqcn_service.sh
		;;
	# little memory, for a test that fills it
	kselftests-4)
		selftests uml -m 1024 -- iqcn_rocehost.sh iqcn_adversary.sh \
			iqcn_fdb.sh iqcn_bad.sh iqcn_wire.sh iqcn_fabric.sh \
			iqcn_senders.sh
		;;
	kselftests-5)
		selftests uml -- iqcn_genl.sh iqcn_ynl.sh iqcn_trace.sh \
			iqcn_top.sh iqcn_check.sh iqcn_pfc.sh iqcn_grant.sh \
			iqcn_filter.sh iqcn_supplement.sh
		;;
	kselftests-tool) selftests uml -- iqcn_tool.sh iqcn_monitor.sh iqcn_agent.sh ;;
	# tests of lifetimes and memory; make check-debug runs nearly all others
	kselftests-debug-1)
		selftests uml-debug -m 3072 -- iqcn_life.sh iqcn_faults.sh \
			iqcn_fuzz.sh
		;;
	kselftests-debug-2)
		selftests uml-debug -m 3072 -- iqcn_detect.sh@debug \
			iqcn_bts.sh@debug iqcn_trigger.sh@debug \
			iqcn_genl.sh@debug iqcn_adversary.sh@debug \
			iqcn_wire.sh@debug iqcn_pfc.sh@debug iqcn_grant.sh@debug \
			iqcn_filter.sh@debug iqcn_supplement.sh@debug \
			iqcn_agent.sh@debug iqcn_senders.sh@debug
		;;
	smoke) selftests uml -- iqcn_smoke.sh ;;
	# the short form of "make soak"
	soak) "$TOP/selftests/soak/soak.sh" -m 8 -e 20 ;;
	# runs in 64 MB, in which the debug kernel does not boot
	kselftests-small) selftests uml -m 64 -- iqcn_faults.sh:test_small ;;
	tdc-own) selftests uml -- iqcn_tdc.sh:test_own ;;
	# uses the machine's clock, so it has no seed
	million)
		"$LAB" run uml -w -m 2048 "$TOP/selftests/run.sh" \
			"$TOP/build/uml/sch_iqcn.ko" iqcn_genl.sh:test_million \
			iqcn_top.sh:test_cpu
		;;
	userspace)
		"$TOP/build/iqcn_test" && "$TOP/selftests/agent/agent.sh" compare
		;;
	plugin)
		"$TOP/tc-plugin/tests/refuse.sh" "$TOP/build/trapping" &&
			"$TOP/tc-plugin/tests/shown.sh" &&
			"$TOP/tc-plugin/tests/roundtrip.sh"
		;;
	# needs PyTorch
	agent)
		"$LAB" packages agent &&
			"$TOP/selftests/agent/agent.sh" test lab
		;;
	senders) "$TOP/selftests/senders/senders.sh" ;;
	fuzz) make -s fuzz SECONDS=20 ;;
	# counts instructions, so the other step does not disturb it
	bench) "$TOP/selftests/bench/bench.sh" -c ;;
	scenarios)
		scenarios fig1-rate-failure two-flows incast-512 incast-512-pfc \
			fattree-4 pfc-victim reps-permutation gate-one match \
			match-lost &&
			"$TOP/selftests/scenarios/scenarios.sh" -q \
				-v ecn,pi-told,literal longhaul-near-50 \
				longhaul-near-200 longhaul-near-500 &&
			"$TOP/selftests/scenarios/scenarios.sh" -q \
				-v auto,fixed-24,agent agent-eval-150-3
		;;
	repeat) "$TOP/selftests/repeat/repeat.sh" ;;
	static) "$TOP/selftests/static/static.sh" ;;
	static-fast) "$TOP/selftests/static/static.sh" -f ;;
	intree) "$TOP/selftests/intree/intree.sh" ;;
	packages) "$TOP/selftests/packages/packages.sh" ;;
	packages-distros) "$TOP/selftests/packages/distros.sh" ;;
	docs) "$TOP/selftests/docs/docs.sh" ;;
	demo) IQCN_RESULTS=$OUT/demo "$TOP/selftests/demo/demo.sh" ;;
	wireshark) "$TOP/selftests/wireshark/wireshark.sh" ;;
	metrics) "$TOP/selftests/metrics/metrics.sh" ;;
	kunit) kunit uml ;;
	kunit-debug) kunit uml-debug ;;
	stock)
		selftests stock -k "$TOP/build/stock/sch_iqcn.ko" -- \
			iqcn_smoke.sh iqcn_trace.sh iqcn_boundary.sh \
			iqcn_fdb.sh:test_bridge
		;;
	*)
		echo "there is no step $1"
		return 1
		;;
	esac
}

# selftests KERNEL [OPTION...] [-- FILE...]
selftests()
{
	local kernel=$1 options=()
	shift

	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# = 0 ] || shift
	# with a seed, a failure is reproducible
	[ "$kernel" = stock ] || options+=(-s "${IQCN_SEED:-1}")
	"$LAB" run "$kernel" "${options[@]}" "$TOP/selftests/run.sh" \
		"$TOP/build/$kernel/sch_iqcn.ko" "$@"
}

kunit()
{
	"$LAB" run "$1" "$TOP/selftests/kunit/kunit.sh" \
		"$TOP/build/$1/tests/iqcn_kunit.ko" \
		"$TOP/build/$1/rocehost/rocehost_kunit.ko"
}

# scenarios NAME...: check their expectations, and their figures in the
# documents.  The step repeat checks that figures are reproducible.
scenarios()
{
	local rc=0

	export IQCN_RESULTS=$OUT/scenarios
	"$TOP/selftests/scenarios/scenarios.sh" "$@" || rc=1
	"$TOP/selftests/figures/figures.sh" -c "$@" || rc=1
	return $rc
}

# step NAME: run it, and note its result and duration
step()
{
	local start=$SECONDS result=ok

	echo "  $1 ..."
	run_step "$1" >"$OUT/$1.log" 2>&1 </dev/null || result=FAILED
	echo "$1 $result $((SECONDS - start))" >>"$OUT/results"
	echo "  $1: $result, $((SECONDS - start)) s"
}

if [ "${1-}" = step ]; then
	OUT=$TOP/build/$2
	mkdir -p "$OUT"
	step "$3"
	exit
fi
tier=${1:-check}
[ -n "${STEPS[$tier]-}" ] || { echo "check.sh: no tier $tier" >&2; exit 2; }
OUT=$TOP/build/$tier

rm -rf "$OUT"
mkdir -p "$OUT"
echo "kernels and builds"
# build the kernels outside of the steps, to show the progress
for kernel in ${KERNELS[$tier]}; do
	if ! make -s "lab-$kernel"; then
		echo "FAILED: lab-$kernel does not build"
		exit 1
	fi
done
if [ "$tier" = check ]; then
	"$LAB" ynl >/dev/null || exit 1
	"$LAB" tdc >/dev/null || exit 1
fi

echo "tests"
printf "$tier %s\n" ${STEPS[$tier]} |
	xargs -P 2 -L 1 "$TOP/selftests/check/check.sh" step

echo
printf '%-20s %-8s %8s  %s\n' step result seconds "tests"
passed=0 skipped=0 failed=0
while read -r name result seconds; do
	log=$OUT/$name.log
	skip=$(grep -cE '^ *ok [0-9]+ .*# SKIP' "$log")
	ok=$(($(grep -cE '^ *ok [0-9]+ ' "$log") - skip))
	bad=$(grep -cE '^ *not ok ' "$log")
	# a step that reports no tests counts as one
	if [ $((ok + skip + bad)) = 0 ]; then
		[ "$result" = ok ] && ok=1
	fi
	[ "$result" = ok ] || [ "$bad" != 0 ] || bad=1
	passed=$((passed + ok)) skipped=$((skipped + skip)) failed=$((failed + bad))
	printf '%-20s %-8s %8s  %d passed, %d skipped, %d failed\n' "$name" \
		"$result" "$seconds" "$ok" "$skip" "$bad"
	echo "$name $seconds $ok $skip $bad" >>"$OUT/counts"
done <"$OUT/results"

while read -r name result _; do
	[ "$result" = FAILED ] || continue
	echo
	echo "--- $name (${OUT#"$TOP/"}/$name.log):"
	grep -E '^ *not ok|FAIL|splat|verdict|rror' "$OUT/$name.log" |
		head -n 40
	tail -n 15 "$OUT/$name.log"
done <"$OUT/results"
echo
echo "$passed passed, $skipped skipped, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
