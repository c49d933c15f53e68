#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make coverage: measure which lines of the module the kselftests and KUnit run,
# in a kernel with gcov.  Prints a table; build/coverage/missing lists lines
# that never ran.  Fails if less than 90 % of the lines ran, or if a test fails.
#
#   coverage.sh [FILE...]	run only these tests, without a minimum
#				(default: the groups below)
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
OUT=$TOP/build/coverage
OBJECTS=$TOP/build/uml-cov
WANTED=90
export LAB_TIMEOUT_S=${LAB_TIMEOUT_S:-3600}

# one boot per group, in parallel
GROUPS_OF_TESTS=(
	"kunit iqcn_bts.sh iqcn_qdisc.sh iqcn_life.sh iqcn_bad.sh iqcn_mark.sh
		iqcn_cnp.sh iqcn_smoke.sh iqcn_trace.sh iqcn_genl.sh"
	"iqcn_detect.sh iqcn_trigger.sh iqcn_snoop.sh iqcn_pair.sh iqcn_fuzz.sh
		iqcn_pfc.sh iqcn_grant.sh iqcn_filter.sh iqcn_supplement.sh"
)

# boot NUMBER FILE...: run tests in a guest, and collect the counts
boot()
{
	local dir=$OUT/$1
	shift

	mkdir -p "$dir"
	cp "$OBJECTS"/*.gcno "$OBJECTS"/tests/*.gcno "$dir" || return 1
	"$LAB" run uml-cov -s "${IQCN_SEED:-1}" -m 2048 \
		"$TOP/selftests/coverage/guest.sh" "$dir" "$@" >"$dir/log" 2>&1
}

# counts DIR: print "FILE LINE COUNT" from gcov, for the module's own sources
counts()
{
	local gcda

	for gcda in "$1"/*.gcda; do
		(cd "$1" && gcov --json-format --stdout "$(basename "$gcda")" \
			2>/dev/null)
	done | jq -r --arg dir "$OBJECTS/" '.files[] |
		select(.file | startswith($dir)) |
		(.file | ltrimstr($dir)) as $file |
		select($file | test("^(tests|rocehost|compat)/") | not) |
		.lines[] | "\($file) \(.line_number) \(.count)"'
}

rm -rf "$OUT"
mkdir -p "$OUT"
if [ $# -gt 0 ]; then
	WANTED=0
	boot 1 "$@"
else
	for i in "${!GROUPS_OF_TESTS[@]}"; do
		# shellcheck disable=SC2086
		boot "$i" ${GROUPS_OF_TESTS[i]} &
	done
	wait
fi
! grep -h '^not ok' "$OUT"/*/log
failed=$?

for dir in "$OUT"/[0-9]*; do
	counts "$dir"
done | sort -k1,1 -k2,2n | awk '
	$1 != file || $2 != line { if (file) print file, line, n
				   file = $1; line = $2; n = 0 }
	{ n += $3 }
	END { if (file) print file, line, n }' >"$OUT/lines"
[ -s "$OUT/lines" ] || { echo "no lines were counted"; exit 1; }

awk '!$3 { print $1, $2 }' "$OUT/lines" | while read -r file line; do
	echo "$file:$line:$(sed -n "${line}p" "$OBJECTS/$file")"
done >"$OUT/missing"

awk -v wanted=$WANTED -v failed=$failed '
	{ all[$1]++; run[$1] += $3 > 0; sum++; ran += $3 > 0 }
	END {
		printf "%-16s %7s %7s %8s\n", "file", "lines", "run", "percent"
		for (f in all)
			printf "%-16s %7d %7d %7.1f%%\n", f, all[f], run[f],
				100 * run[f] / all[f] | "sort"
		close("sort")
		printf "%-16s %7d %7d %7.1f%%\n", "all", sum, ran, 100 * ran / sum
		exit failed || 100 * ran / sum < wanted
	}' "$OUT/lines"
