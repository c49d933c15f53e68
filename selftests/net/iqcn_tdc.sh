#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run tdc.py, the kernel's test driver for tc
# (tools/testing/selftests/tc-testing), on the cases of selftests/tdc, and on
# the kernel's cases of nested qdiscs, with iqcn as the child.

ALL_TESTS="
	test_own
	test_infra
	test_infra_new
"
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=${IQCN_TDC-}/tools/testing/selftests/tc-testing
TDC=$TOP/selftests/tdc

# harness: copy tdc.py, because it leaves files where it runs, and write its
# configuration: names of programs, and the environment
harness()
{
	[ ! -d "$TMP/tdc" ] || return
	cp -r "$TESTS" "$TMP/tdc"
	rm -r "$TMP/tdc/tc-tests"
	# nsPlugin has "ip -batch" create devices in the background.  Instead of
	# waiting for the namespace, which comes first, wait until the last of
	# the devices is up: reading its carrier fails before that.
	sed -i "s|open('/run/netns/{}'.format(ns))|open('/sys/class/net/{}/carrier'.format(self.args.NAMES['DEV0']))|
		s|^\( *\)f.close()|\1f.read()\n&|" "$TMP/tdc/plugin-lib/nsPlugin.py"
	grep -q carrier "$TMP/tdc/plugin-lib/nsPlugin.py" ||
		fail "nsPlugin.py does not wait for the namespace as before"
	cat >"$TMP/tdc/tdc_config_local.py" <<-EOF
		import os
		ENVIR = os.environ.copy()
		ENVIR['TC_LIB_DIR'] = '$BUILD'
		EXTRA_NAMES = {'TC': '$(command -v tc)', 'IP': '$(command -v ip)',
		               'TC_UNCHECKED': 'env TC_LIB_DIR=$UNCHECKED $(command -v tc)',
		               'ROCE': '$ROCE', 'TIMEOUT': 60}
	EOF
}

# tdc FILE...: run all cases of these files and print a line for each
tdc()
{
	local log=$TMP/log n

	harness
	n=$(jq -s 'map(length) | add' "$@")
	# if tdc.py writes no result, the log contains the reason
	(cd "$TMP/tdc" && /usr/bin/python3 -u tdc.py -f "$@" --format tap \
		--outfile "$TMP/tap") >"$log" 2>&1
	sed 's/^/    /' "$TMP/tap"
	check "cases that were run" "$(grep -c '^ok' "$TMP/tap")" -eq "$n"
	# after a case whose setup fails, tdc.py skips the rest
	check "cases skipped" "$(grep -ciE '^ok .*# *skip' "$TMP/tap")" -eq 0
	[ -z "$test_failed" ] ||
		sed '/^All test results/,$d; s/^/#     /' "$log" | tail -n 60
}

ready()
{
	[ -d "$TESTS" ] || skip "no tc-testing: fetch it with lab.sh tdc"
}

test_own()
{
	ready
	[ -n "$test_skipped" ] || tdc "$TDC"/cases/*.json
}

# infra [new]
infra()
{
	/usr/bin/python3 "$TDC/infra.py" "$@" <"$TESTS/tc-tests/infra/qdiscs.json" \
		>"$TMP/infra.json" 2>"$TMP/left"
	sed 's/^/#     /' "$TMP/left"
	tdc "$TMP/infra.json"
}

test_infra()
{
	ready
	[ -n "$test_skipped" ] || infra
}

# Cases that kernels before 7 refuse or do not survive, with any leaf qdisc
test_infra_new()
{
	ready
	[[ $(uname -r) != [0-6].* ]] || skip "needs kernel 7 or later"
	[ -n "$test_skipped" ] || infra new
}

run_tests
