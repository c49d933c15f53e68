#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in uml-cov: run tests and collect gcov's counts.
#
#   guest.sh OUT FILE...	FILE is a kselftest, or "kunit"
set -u

HERE=$(cd "$(dirname "$0")/.." && pwd)
BUILD=$HERE/../build/uml-cov
out=$1
shift

# Copy with cat, because files of debugfs have no size
collect()
{
	local gcda

	find /sys/kernel/debug/gcov -name '*.gcda' | while read -r gcda; do
		cat "$gcda" >"$out/$(basename "$gcda")"
	done
}

for file; do
	if [ "$file" = kunit ]; then
		"$HERE/kunit/kunit.sh" "$BUILD/tests/iqcn_kunit.ko"
	else
		"$HERE/run.sh" "$BUILD/sch_iqcn.ko" "$file"
	fi
	# collect after each test, because the next one may time out
	collect
done
exit 0
