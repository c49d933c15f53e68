#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tc's tests of the kernel, tools/testing/selftests/tc-testing: our own cases in its
# format, and its own about how qdiscs go together, with iqcn as the child.

ALL_TESTS="
	test_own
	test_infra
	test_infra_new
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=${IQCN_TDC-}/tools/testing/selftests/tc-testing
CASES=$TOP/selftests/tdc

# harness: a copy, which leaves files where it runs, with names and an environment
# of ours
harness()
{
	[ ! -d "$TMP/tdc" ] || return
	cp -r "$TESTS" "$TMP/tdc"
	rm -r "$TMP/tdc/tc-tests"
	cat >"$TMP/tdc/tdc_config_local.py" <<-EOF
		import os
		ENVIR = os.environ.copy()
		ENVIR['TC_LIB_DIR'] = '$BUILD'
		EXTRA_NAMES = {'TC': '$(command -v tc)', 'IP': '$(command -v ip)',
		               'ROCE': '$ROCE', 'TIMEOUT': 60}
	EOF
}

# tdc CASES: each is one of this test's, and all are run
tdc()
{
	local log=$TMP/log n

	harness
	n=$(jq length "$1")
	# it says what went wrong where it says nothing else
	(cd "$TMP/tdc" && /usr/bin/python3 tdc.py -f "$1" --format tap \
		--outfile "$TMP/tap") >"$log" 2>&1
	sed 's/^/    /' "$TMP/tap"
	check "cases that were run" "$(grep -c '^ok' "$TMP/tap")" -eq "$n"
	# it skips all that come after one that cannot be set up
	check "skipped" "$(grep -ciE '^ok .*# *skip' "$TMP/tap")" -eq 0
	[ -z "$test_failed" ] ||
		sed '/^All test results/,$d; s/^/#     /' "$log" | tail -n 60
}

ready()
{
	[ -d "$TESTS" ] || skip "no tests of tc: lab.sh tdc fetches them"
}

test_own()
{
	ready
	[ -n "$test_skipped" ] || tdc "$CASES/iqcn.json"
}

# infra [new]
infra()
{
	/usr/bin/python3 "$CASES/infra.py" "$@" <"$TESTS/tc-tests/infra/qdiscs.json" \
		>"$TMP/infra.json" 2>"$TMP/left"
	sed 's/^/#     /' "$TMP/left"
	tdc "$TMP/infra.json"
}

test_infra()
{
	ready
	[ -n "$test_skipped" ] || infra
}

# What older kernels do not survive
test_infra_new()
{
	ready
	[[ $(uname -r) != [0-6].* ]] || skip "a kernel before 7"
	[ -n "$test_skipped" ] || infra new
}

run_tests
