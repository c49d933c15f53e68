# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP output for tests that run outside the lab's kernels. Source this file.
# shellcheck disable=SC2034 # the sourcing script reads n and failed in the end

n=0 failed=0

# result RC WHAT: print the result of one test
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n $2"
	else
		echo "not ok $n $2"
		failed=1
	fi
}
