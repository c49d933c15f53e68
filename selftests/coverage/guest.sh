#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside uml-cov: run tests and take what gcov has counted.
#
#   guest.sh OUT FILE...	kselftests; "kunit": those of KUnit
set -u

HERE=$(cd "$(dirname "$0")/.." && pwd)
BUILD=$HERE/../build/uml-cov
out=$1
shift

# files of debugfs have no size
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
	# each time, for the last one may take too long
	collect
done
exit 0
