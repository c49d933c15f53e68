# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP for tests that are not inside a kernel of the lab.  Sourced.
# shellcheck disable=SC2034 # who sources it ends with them

n=0 failed=0

# result RC WHAT
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
