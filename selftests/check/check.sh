#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make check: every test, two steps at a time, for the two cores there are.  Each
# writes build/check/STEP.log; a table (build/check/counts) and one line of verdict come
# last.
#
# All that is random in User Mode Linux comes from $IQCN_SEED, 1 by default.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
OUT=$TOP/build/check
cd "$TOP" || exit 1

# The steps, the longest first.  Those of many tests are cut in pieces.
STEPS="kselftests-debug-5 kselftests-debug-2 kselftests-debug-1 packages static
	tdc-own rdma kselftests-debug-4 kselftests-1 kselftests-2 tdc-infra stock
	kselftests-faults kselftests-debug-3 kselftests-tool kselftests-adversary
	kselftests-debug-adversary kselftests-top kselftests-genl soak
	wireshark docs demo metrics repeat kselftests-debug-6 million scenarios
	kselftests-small bench fuzz kunit-debug kunit userspace plugin"

run_step()
{
	case $1 in
	# what depends on times; the rest is for the debug kernel alone
	kselftests-1)
		selftests uml -- iqcn_cnp.sh iqcn_scale.sh iqcn_bts.sh
		;;
	kselftests-2)
		selftests uml -- iqcn_detect.sh iqcn_trigger.sh
		;;
	kselftests-debug-1)
		selftests uml-debug -m 3072 -- iqcn_cnp.sh iqcn_scale.sh \
			iqcn_qdisc.sh
		;;
	kselftests-debug-2)
		selftests uml-debug -m 3072 -- iqcn_mark.sh iqcn_life.sh \
			iqcn_pair.sh iqcn_bad.sh iqcn_smoke.sh
		;;
	kselftests-debug-3)
		# small, for a test that fills it
		selftests uml-debug -m 1024 -- iqcn_rocehost.sh
		;;
	kselftests-debug-4)
		# laws of detection are for KUnit and for kselftests-2
		selftests uml-debug -m 3072 -- \
			"iqcn_detect.sh:$(tests_of iqcn_detect.sh \
				'gso|moves|goes|voids|reasons|quiet.*|psample.*')" \
			"iqcn_bts.sh:$(tests_of iqcn_bts.sh \
				'held|drop.*|points|gso|packet|load|port|hold')"
		;;
	kselftests-debug-5)
		# what times are is kselftests-2's business
		selftests uml-debug -m 3072 -- iqcn_snoop.sh \
			"iqcn_trigger.sh:$(tests_of iqcn_trigger.sh \
				'cancels|held')"
		;;
	kselftests-genl)
		selftests uml -- iqcn_genl.sh iqcn_ynl.sh iqcn_trace.sh
		;;
	kselftests-debug-6)
		selftests uml-debug -m 3072 -- \
			"iqcn_genl.sh:$(tests_of iqcn_genl.sh \
				'malformed|gone|unload|go|lost|permission')"
		;;
	kselftests-adversary) selftests uml -- iqcn_adversary.sh iqcn_fdb.sh ;;
	kselftests-debug-adversary)
		# the large floods are for the other kernel
		selftests uml-debug -m 3072 -- \
			"iqcn_adversary.sh:$(tests_of iqcn_adversary.sh \
				'waits|forged|vlan|name|intact|reflected|itself')"
		;;
	# the short form of "make soak"
	soak) "$TOP/selftests/soak/soak.sh" -m 8 -e 20 ;;
	kselftests-faults)
		selftests uml-debug -m 3072 -- iqcn_faults.sh iqcn_fuzz.sh
		;;
	# where the debug kernel does not even begin
	kselftests-small) selftests uml -m 64 -- iqcn_faults.sh:test_small ;;
	tdc-own) selftests uml -- iqcn_tdc.sh:test_own ;;
	tdc-infra) selftests uml-debug -- iqcn_tdc.sh:test_infra ;;
	# by the machine's clock, so with no seed
	million)
		"$LAB" run uml -w -m 2048 "$TOP/selftests/run.sh" \
			"$TOP/build/uml/sch_iqcn.ko" iqcn_genl.sh:test_million \
			iqcn_top.sh:test_cpu
		;;
	kselftests-tool) selftests uml -- iqcn_tool.sh iqcn_monitor.sh ;;
	kselftests-top) selftests uml -- iqcn_top.sh ;;
	userspace) "$TOP/build/iqcn_test" ;;
	plugin) "$TOP/tc-plugin/tests/refuse.sh" ;;
	fuzz) make -s fuzz SECONDS=20 ;;
	# instructions, not time
	bench) "$TOP/selftests/bench/bench.sh" -c ;;
	scenarios) scenarios fig1-rate-failure two-flows incast-512 ;;
	repeat) "$TOP/selftests/repeat/repeat.sh" ;;
	static) "$TOP/selftests/static/static.sh" ;;
	packages) "$TOP/selftests/packages/packages.sh" ;;
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
	rdma)
		selftests stock -m 3072 -k "$TOP/build/stock/sch_iqcn.ko" -- \
			iqcn_rdma.sh
		;;
	esac
}

# tests_of FILE WORDS: those whose names end so
tests_of()
{
	grep -oE "^test_[a-z_]*($2)\b" "$TOP/selftests/net/$1" | sort -u |
		paste -sd ,
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
	# what fails once fails again
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

# scenarios NAME...: as they expect, and as the documents say.  That they are the same
# each time is for repeat.
scenarios()
{
	local rc=0

	export IQCN_RESULTS=$OUT/scenarios
	"$TOP/selftests/scenarios/scenarios.sh" "$@" || rc=1
	"$TOP/selftests/figures/figures.sh" -c "$@" || rc=1
	return $rc
}

# step NAME: run it, and note how it went
step()
{
	local start=$SECONDS result=ok

	echo "  $1 ..."
	run_step "$1" >"$OUT/$1.log" 2>&1 </dev/null || result=FAILED
	echo "$1 $result $((SECONDS - start))" >>"$OUT/results"
	echo "  $1: $result, $((SECONDS - start)) s"
}

if [ "${1-}" = step ]; then
	step "$2"
	exit
fi

rm -rf "$OUT"
mkdir -p "$OUT"
echo "kernels and builds"
# not in a step: their progress is worth seeing
for kernel in uml stock uml-debug; do
	if ! make -s "lab-$kernel"; then
		echo "FAILED: lab-$kernel does not build"
		exit 1
	fi
done

"$LAB" ynl >/dev/null || exit 1
"$LAB" tdc >/dev/null || exit 1

echo "tests"
printf '%s\n' $STEPS | xargs -P 2 -L 1 "$TOP/selftests/check/check.sh" step

echo
printf '%-20s %-8s %8s  %s\n' step result seconds "tests"
passed=0 skipped=0 failed=0
while read -r name result seconds; do
	log=$OUT/$name.log
	skip=$(grep -cE '^ *ok [0-9]+ .*# SKIP' "$log")
	ok=$(($(grep -cE '^ *ok [0-9]+ ' "$log") - skip))
	bad=$(grep -cE '^ *not ok ' "$log")
	# a step without tests of its own is one
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
	echo "--- $name (build/check/$name.log):"
	grep -E '^ *not ok|FAIL|splat|verdict|rror' "$OUT/$name.log" |
		head -n 40
	tail -n 15 "$OUT/$name.log"
done <"$OUT/results"
echo
echo "$passed passed, $skipped skipped, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
