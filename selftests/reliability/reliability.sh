#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make reliability: summarize the last runs of make check and of the parts of
# make nightly, whose logs are in build/, in the table of
# Documentation/reliability.rst.  Tests that have not run have no row.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
DOC=$TOP/Documentation/reliability.rst
cd "$TOP/build" || exit 1

# row TEST KERNEL COUNT FAULTS RESULT: print a row
row()
{
	printf '   * - %s\n' "$1"
	shift
	printf '     - %s\n' "$@" | sed 's/ *$//'
}

# verdict FAILED: print the result for a number of failures
verdict()
{
	if [ "$1" = 0 ]; then
		echo ok
	else
		echo "**$1 failed**"
	fi
}

# ended FILE LINE: print ok if a line of the file begins with LINE
ended()
{
	verdict "$((1 - ($(grep -c "^$2" "$1") > 0)))"
}

# steps TEST KERNEL FAULTS STEP...: print steps of make check, and of the part
# "more" of make nightly, as one row
steps()
{
	local test=$1 kernel=$2 faults=$3 step seconds ok bad
	local names="" all_seconds=0 all_ok=0 all_bad=0 name
	shift 3

	for step; do
		while read -r name seconds ok _ bad; do
			# shellcheck disable=SC2053
			[[ $name == $step ]] || continue
			names+=" $name"
			all_seconds=$((all_seconds + seconds))
			all_ok=$((all_ok + ok)) all_bad=$((all_bad + bad))
		done < <(cat more/counts check/counts 2>/dev/null |
			awk '$1 != "packages" || !n++')
	done
	[ -n "$names" ] || return
	row "$test" "$kernel" "$all_ok tests, $all_seconds s" "$faults" \
		"$(verdict "$all_bad")"
}

# found PATTERN LOG...: print the sum of the numbers that PATTERN extracts
found()
{
	local pattern=$1
	shift

	sed -nE "s/$pattern/\\1/p" "$@" 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}

from_check()
{
	local n

	[ -e check/counts ] || return
	steps "kselftests" "UML 6.1" "" 'kselftests-[0-9]' kselftests-tool
	steps "KUnit, of control laws, parser, hosts" "UML 6.1, both" "" kunit kunit-debug
	steps "smoke, tracing, boundary" "Debian 6.1, two CPUs" "" stock
	steps "tdc, our cases" "UML 6.1" "" tdc-own
	steps "tc plugin, refusals" "the machine's tc" "" plugin
	n=$(found '.* ([0-9]+) allocations: .*' check/kselftests-debug.log more/kselftests-debug.log)
	steps "requests, module, traffic without memory" "UML 6.1, debug and 64 MB" \
		"each of $n allocations; one in five at random" \
		kselftests-debug kselftests-small
	n=$(found '^# ([0-9]+) inputs in .*' check/fuzz.log)
	steps "parser under libFuzzer" "the machine's, ASan, UBSan" "$n inputs" fuzz
	steps "programs under valgrind and ASan, metrics, packages, documents" \
		"UML 6.1, Debian 6.1" "" userspace metrics packages docs wireshark
}

# nightly DIR: print a row of kselftests for each kernel in DIR/table
nightly()
{
	local name kernel passed failed seconds

	[ -e "$1/table" ] || return
	while IFS=$'\t' read -r name kernel passed failed seconds; do
		row "kselftests ($name)" "$kernel" "$passed tests, $seconds s" "" \
			"$(verdict "$failed")"
	done <"$1/table"
}

# stress DIR KERNEL: print a row for make stress
stress()
{
	local dir=$1 kernel=$2 line

	line=$(grep -E '^(not )?ok 1 stress' "$dir/verdict" 2>/dev/null) || return
	row "stress" "$kernel" \
		"$(sed -nE 's/.*stress: ([0-9]+ rounds in [0-9]+ s).*/\1/p' <<<"$line")" \
		"all of $(awk '{ print $1 }' "$dir"/*.results | sort -u | wc -l) items" \
		"$(ended "$dir/verdict" "ok 1 stress")"
}

from_stress()
{
	stress stress "UML 6.1, debug, two at a time; 64 MB"
	stress stress-stock "Debian 6.1, two CPUs"
	stress stress-uml-smp "7.2: two CPUs, KASAN, DEBUG_OBJECTS"
	stress stress-x86-kcsan "6.12: two CPUs, PREEMPT, KCSAN"
}

# sequences KERNEL NAME: print a row for random sequences
sequences()
{
	local log=debug/$1-sequences.log

	[ -e "$log" ] || return
	row "sequences of requests" "$2" \
		"$(found '.*seqfuzz: ([0-9]+) operations .*' "$log") operations" \
		"random, from four processes, as root and as uid 65534" \
		"$(verdict "$((2 - $(grep -cE '^ok [12] test_' "$log")))")"
}

from_sequences()
{
	sequences uml-smp "7.2: two CPUs, KASAN, DEBUG_OBJECTS"
	sequences x86-kcsan "6.12: two CPUs, PREEMPT, KCSAN"
}

from_soak()
{
	[ -e soak.log ] || return
	row "soak" "UML 6.1" "$(sed -nE 's/^virtual time +([0-9]+ h).*/\1/p' soak.log)" \
		"parameters change each round" \
		"$(ended soak.log "ok soak")"
}

from_coverage()
{
	local lines

	[ -e coverage/lines ] || return
	lines=$(wc -l <coverage/lines)
	row "coverage of kmod/" "UML 6.1, gcov" "$lines lines" "" \
		"$(awk '{ n += $3 > 0 } END { printf "%.1f %%", 100 * n / NR }' \
			coverage/lines)"
}

from_mutants()
{
	local found="^mutants: [0-9]+ of ([0-9]+) killed \\(([0-9]+) %\\).*"

	[ -e mutants/verdict ] || return
	row "mutants of kmod/ that are not equivalent" "UML 6.1" \
		"$(sed -nE "s/$found/\1 mutants/p" mutants/verdict)" "" \
		"$(sed -nE "s/$found/\2 % killed/p" mutants/verdict)"
}

table()
{
	echo ".. list-table::"
	echo "   :header-rows: 1"
	echo
	row test kernel "count, time" "faults, inputs" result
	from_check
	nightly kernels
	nightly debug
	from_sequences
	from_stress
	from_soak
	from_coverage
	from_mutants
}

table >reliability.rst
# replace the previous table in the document
awk '
	FNR == NR { table = table $0 "\n"; next }
	/^\.\. end of the table/ { skip = 0 }
	!skip { print }
	/^\.\. make reliability/ { printf "\n%s\n", table; skip = 1 }' \
	reliability.rst "$DOC" >reliability.new && mv reliability.new "$DOC"
cat reliability.rst
