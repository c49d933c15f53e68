#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make test and make check: run the tests of a tier.  Two steps run at a time,
# because the machine has two cores.  Each step writes build/TIER/STEP.log.  A
# table (build/TIER/counts) and a verdict come last.
#
#   check.sh [TIER]	test: tests to run after each edit (3 minutes)
#			check: tests of CI (15 minutes with two cores of a
#			virtual machine, plus the kernels once); default
#			more: tests that check leaves out; part of make nightly
#   check.sh step TIER STEP
#			run one step again
#
# make nightly has the tests that take hours, that repeat others on another
# kernel, or that try variants and rare cases.  All random numbers of kselftests
# in User Mode Linux with virtual time come from $IQCN_SEED, 1 by default.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
cd "$TOP" || exit 1

# The steps of each tier, the longest first, and the kernels that they run on.
# A step runs its kselftests in one guest.  If a step of kselftests is in both
# check and more, check runs the tests that are not in NIGHTLY_TESTS, and more
# runs those that are.
declare -A STEPS=(
	[test]="senders static-fast smoke kunit userspace plugin"
	[check]="stock static scenarios kselftests-debug kselftests-5 docs
		kselftests-4 bench wireshark kselftests-3 packages kselftests-1
		kselftests-tool kselftests-2 metrics senders fuzz userspace
		plugin kunit-debug kunit"
	[more]="million packages tdc-own kselftests-1 kselftests-2 kselftests-3
		kselftests-4 kselftests-5 kselftests-tool kselftests-debug demo
		agent intree packages-distros repeat ynl kselftests-small"
)
declare -A KERNELS=(
	[test]="uml"
	[check]="uml stock uml-debug"
	[more]="uml stock uml-debug"
)

# run_step STEP TIER
run_step()
{
	local tag=check
	[ "$2" != more ] || tag=nightly

	case $1 in
	# tests that depend on virtual time
	kselftests-1)
		tagged $tag uml -- iqcn_cnp.sh iqcn_scale.sh iqcn_bts.sh
		;;
	kselftests-2)
		tagged $tag uml -- iqcn_detect.sh iqcn_trigger.sh
		;;
	kselftests-3)
		tagged $tag uml -- iqcn_snoop.sh iqcn_pair.sh iqcn_qdisc.sh \
			iqcn_mark.sh iqcn_service.sh
		;;
	# the size of the memory is explicit, because a test fills it
	kselftests-4)
		tagged $tag uml -m 1024 -- iqcn_rocehost.sh iqcn_adversary.sh \
			iqcn_fdb.sh iqcn_bad.sh iqcn_wire.sh iqcn_fabric.sh \
			iqcn_senders.sh
		;;
	kselftests-5)
		tagged $tag uml -- iqcn_genl.sh iqcn_trace.sh iqcn_top.sh \
			iqcn_check.sh iqcn_pfc.sh iqcn_grant.sh iqcn_filter.sh \
			iqcn_supplement.sh
		;;
	kselftests-tool)
		tagged $tag uml -- iqcn_tool.sh iqcn_monitor.sh iqcn_agent.sh
		;;
	# tests of lifetimes and memory; make check-debug runs nearly all other
	# tests in this kernel
	kselftests-debug)
		tagged $tag uml-debug -m 3072 -- iqcn_life.sh iqcn_faults.sh \
			iqcn_fuzz.sh
		;;
	smoke) selftests uml -- iqcn_smoke.sh ;;
	# runs in 64 MB, in which the debug kernel does not boot
	kselftests-small) selftests uml -m 64 -- iqcn_faults.sh:test_small ;;
	ynl) selftests uml -- iqcn_ynl.sh ;;
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
	scenarios) scenarios fig1-rate-failure incast-512-pfc gate-one match ;;
	repeat) "$TOP/selftests/repeat/repeat.sh" ;;
	static) "$TOP/selftests/static/static.sh" ;;
	static-fast) "$TOP/selftests/static/static.sh" -f ;;
	intree) "$TOP/selftests/intree/intree.sh" ;;
	# check leaves out the guest, and compiles no modules
	packages)
		if [ $tag = check ]; then
			"$TOP/selftests/packages/packages.sh" -b
		else
			"$TOP/selftests/packages/packages.sh"
		fi
		;;
	packages-distros) "$TOP/selftests/packages/distros.sh" ;;
	docs) "$TOP/selftests/docs/docs.sh" ;;
	demo) IQCN_RESULTS=$OUT/demo "$TOP/selftests/demo/demo.sh" ;;
	wireshark) "$TOP/selftests/wireshark/wireshark.sh" ;;
	metrics) "$TOP/selftests/metrics/metrics.sh" ;;
	kunit) kunit uml ;;
	kunit-debug) kunit uml-debug ;;
	stock)
		selftests stock -k "$TOP/build/stock/sch_iqcn.ko" -- \
			iqcn_smoke.sh iqcn_trace.sh:test_tools,test_filtered \
			iqcn_boundary.sh iqcn_fdb.sh:test_bridge
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

# tagged TAG KERNEL [OPTION...] -- FILE...: run the tests with this tag; files
# without such tests are left out
tagged()
{
	local tag=$1 words=() word
	shift

	for word; do
		if [[ $word != *.sh ]]; then
			words+=("$word")
		elif [ "$tag" != nightly ] || grep -q '^NIGHTLY_TESTS=' \
				"$TOP/selftests/net/$word"; then
			words+=("$word@$tag")
		fi
	done
	[[ ${words[*]} == *@* ]] && selftests "${words[@]}"
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

# step NAME TIER: run it, and note its result and duration
step()
{
	local start=$SECONDS result=ok

	echo "  $1 ..."
	run_step "$@" >"$OUT/$1.log" 2>&1 </dev/null || result=FAILED
	echo "$1 $result $((SECONDS - start))" >>"$OUT/results"
	echo "  $1: $result, $((SECONDS - start)) s"
	[ $result = ok ] && return
	# the run may be cut off before its summary, so print failures at once
	failures "$1" 7 3
	return 1
}

# failures STEP LINES LAST: print, of the step's log, up to LINES lines that may
# say what failed, and the last LAST lines
failures()
{
	grep -E '^ *not ok|FAIL|splat|verdict' "$OUT/$1.log" | head -n "$2"
	tail -n "$3" "$OUT/$1.log"
}

if [ "${1-}" = step ]; then
	OUT=$TOP/build/$2
	mkdir -p "$OUT"
	step "$3" "$2"
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
	if ! make -s -j"$(nproc)" "lab-$kernel"; then
		echo "FAILED: lab-$kernel does not build"
		exit 1
	fi
done
if [ "$tier" = more ]; then
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
	failures "$name" 40 15
done <"$OUT/results"
echo
echo "$passed passed, $skipped skipped, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
