#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make mutants: insert one small fault at a time into the module's decisions,
# and check whether a test fails.  Headers that KUnit covers are tested with
# KUnit first, then with kselftests; the first failure kills the mutant, and so
# do a splat and a hang.
#
#   mutants.sh [-l] [-a] [-r] [-s] [-j JOBS] [PATTERN]
#
#   -l		list mutants instead
#   -a		all mutants instead of the sample of sample.awk
#   -r		resume the last run: skip the mutants that it killed
#   -s		try the mutants in selftests/mutants/survivors, too, which pass
#		all tests and so take the longest; otherwise they are assumed to
#		survive
#   -j JOBS	number of parallel jobs (default: one per CPU)
#   PATTERN	only mutants whose name matches, such as 'timer.c:*:cmp:*'
#
# Fails if a survivor has no reason in selftests/mutants/survivors, or, without
# -a and PATTERN, if less than 90 % are killed.  Mutants whose reason begins
# with "equivalent" do not count, because no test can kill them.  Logs are in
# build/mutants/, and so is the tree of each job.
#
# All random values follow from $IQCN_SEED, 1 by default.
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
OUT=$TOP/build/mutants
WANTED=90
# minimum timeout of a boot, even if the run without mutants was shorter
LEAST_S=30

# a calling make must not pass its flags and variables to ours
unset MAKEFLAGS MFLAGS MAKEOVERRIDES

FILES="lot.h mark.h detect.h reorder.h continuity.h deadline.h interval.h
	pending.h sample.h pairing.h budget.h profile.h measure.h bts.h pi.h
	active.h telemetry.h params.h share.h sojourn.h pfc.h macctl.h grant.h
	filter.h supplement.h filter.c notify_supplement.c lease.c
	notify_bts.c notify_timer.c notify_grant.c pfc.c pending.c timer.c cnp.c
	congestion.c queue.c queue.h timer.h flow.h"

usage()
{
	sed -n '3,/^set -u/s/^# \{0,1\}//p' "$0" | grep -v '^set' >&2
	exit 2
}

# steps FILE: print the tests that may kill its mutants, the likeliest first
steps()
{
	case $1 in
	queue.h | timer.h | flow.h) ;;
	*.h) echo kunit ;;
	esac
	case $1 in
	pfc.c | pfc.h | macctl.h) echo iqcn_pfc.sh iqcn_wire.sh:test_flap ;;
	notify_grant.c | grant.h) echo iqcn_grant.sh ;;
	filter.c | filter.h | lease.c) echo iqcn_filter.sh iqcn_supplement.sh ;;
	notify_supplement.c | supplement.h) echo iqcn_supplement.sh iqcn_filter.sh ;;
	notify_bts.c) echo iqcn_bts.sh iqcn_adversary.sh iqcn_pfc.sh ;;
	notify_timer.c | pending.c | timer.c | timer.h)
		echo iqcn_trigger.sh iqcn_cnp.sh iqcn_bts.sh
		;;
	flow.h) echo iqcn_trigger.sh iqcn_cnp.sh iqcn_bts.sh iqcn_life.sh ;;
	cnp.c)
		echo iqcn_bts.sh iqcn_cnp.sh iqcn_pair.sh iqcn_snoop.sh \
			iqcn_grant.sh
		;;
	congestion.c | queue.c | queue.h)
		echo iqcn_detect.sh iqcn_trigger.sh iqcn_cnp.sh iqcn_genl.sh \
			iqcn_bts.sh iqcn_pfc.sh
		;;
	mark.h) echo iqcn_mark.sh iqcn_bts.sh ;;
	pairing.h) echo iqcn_pair.sh ;;
	params.h) echo iqcn_qdisc.sh ;;
	share.h) echo iqcn_adversary.sh iqcn_trigger.sh ;;
	detect.h | continuity.h | reorder.h | sample.h) echo iqcn_detect.sh ;;
	deadline.h | interval.h | pending.h | budget.h) echo iqcn_trigger.sh ;;
	*) echo iqcn_bts.sh ;;
	esac
}

# source_of FILE: print its path below kmod/
source_of()
{
	case $1 in
	params.h | queue.h | timer.h | flow.h | *.c) echo "$1" ;;
	*) echo "algo/$1" ;;
	esac
}

# list PATTERN: print the names of mutants
list()
{
	local file name

	for file in $FILES; do
		awk -v file="$file" -f "$HERE/mutate.awk" "$TOP/kmod/$(source_of "$file")"
	done | if [ -n "$all" ]; then cat; else awk -f "$HERE/sample.awk"; fi |
		while IFS= read -r name; do
			# shellcheck disable=SC2053
			[[ $name != $1 ]] || echo "$name"
		done
}

# tree N: create and build the tree of a job
tree()
{
	local dir=$OUT/$1 file

	mkdir -p "$dir" &&
		cp -a "$TOP"/{Makefile,kmod,selftests,tc-plugin,userspace} "$dir/" ||
		return
	# an interrupted run may have left a mutant
	for file in $FILES; do
		file=$(source_of "$file")
		[ ! -e "$dir/build/uml/$file" ] ||
			cmp -s "$dir/kmod/$file" "$dir/build/uml/$file" ||
			cp "$dir/kmod/$file" "$dir/build/uml/$file" || return
	done
	make -s -C "$dir" lab-uml W=1
}

# build N TARGET...: rebuild modules of a tree.  A mutant may cause warnings.
build()
{
	local dir=$OUT/$1
	shift

	"$dir/selftests/lab/lab.sh" make uml -s M="$dir/build/uml" W=1 \
		CONFIG_NET_SCH_IQCN_KUNIT_TEST=m "$@"
}

# step N STEP: run a test in that tree until its first failure
step()
{
	local dir=$OUT/$1 seconds

	seconds=$(cat "$OUT/seconds/$2" 2>/dev/null)
	seconds=$((${seconds:-300} * 4 + 4))
	set -- "$2"
	[ "$1" = kunit ] || set -- -s "${IQCN_SEED:-1}" "$dir/selftests/run.sh" \
		"$dir/build/uml/sch_iqcn.ko" "$1"
	[ "$1" != kunit ] || set -- "$dir/selftests/kunit/kunit.sh" \
		"$dir/build/uml/tests/iqcn_kunit.ko"
	IQCN_FAIL_FAST=1 LAB_TIMEOUT_S=$((seconds > LEAST_S ? seconds : LEAST_S)) \
		"$dir/selftests/lab/lab.sh" run uml "$@"
}

# killer STEP STATUS LOG: print what killed a mutant: the test that failed, a
# splat, a hang or the exit status
killer()
{
	local test

	test=$(sed -nE 's/^ *not ok [0-9]+ (\S*).*/\1/p' "$3" | head -n 1)
	if [ -n "$test" ]; then
		echo "$1:$test"
	elif [ "$2" = 99 ]; then
		echo "$1: splat"
	elif grep -q '^lab: .* s are over' "$3"; then
		echo "$1: hang"
	else
		echo "$1: status $2"
	fi
}

# kill_it N MUTANT: test a mutant, and print the result
kill_it()
{
	local dir=$OUT/$1 file=${2%%:*} log=$OUT/logs/$2.log step status target src

	: >"$log"
	src=$(source_of "$file")
	awk -v file="$file" -v want="$2" -f "$HERE/mutate.awk" "$dir/kmod/$src" \
		>"$dir/build/uml/$src" || return
	diff -U 1 "$dir/kmod/$src" "$dir/build/uml/$src" | tail -n +3 >>"$log"
	for step in $(steps "$file"); do
		target=sch_iqcn.ko
		[ "$step" != kunit ] || target=tests/iqcn_kunit.ko
		if ! build "$1" "$target" >>"$log" 2>&1; then
			echo "did not compile"
			return
		fi
		step "$1" "$step" >>"$log" 2>&1
		status=$?
		# a signal to the lab, not to its kernel
		if [ $status -gt 128 ]; then
			echo "interrupted, status $status"
			return
		fi
		if [ $status != 0 ]; then
			echo "killed by $(killer "$step" $status "$log")"
			return
		fi
	done
	echo SURVIVED
}

# unmutated N STEP: check that the test passes without a mutant, with one retry,
# and record its time
unmutated()
{
	local start log=$OUT/logs/$2

	[ ! -e "$OUT/seconds/$2" ] || return
	for log in "$log.log" "$log-again.log"; do
		start=$SECONDS
		if step "$1" "$2" >"$log" 2>&1; then
			echo $((SECONDS - start)) >"$OUT/seconds/$2"
			return
		fi
		echo "$2 fails without a mutant, see ${log#"$TOP/"}"
	done
	touch "$OUT/broken"
}

# jobs_do FUNCTION: run FUNCTION N LINE for each line of stdin, in job N
jobs_do()
{
	local n lines

	exec {lines}<&0
	for ((n = 1; n <= jobs; n++)); do
		job "$1" "$n" &
	done
	wait
	exec {lines}<&-
}

# job FUNCTION N: run FUNCTION for one line after another, until none is left.
# Jobs can share the pipe, because bash reads it byte by byte and stops at the
# end of a line.
job()
{
	local line lock

	exec {lock}>"$OUT/lock"
	while flock "$lock" && read -r line <&"$lines" && flock -u "$lock"; do
		"$1" "$2" "$line" {lock}>&-
	done
}

# one N MUTANT: test a mutant, restore the file, and record the result
one()
{
	local result file

	file=$(source_of "${2%%:*}")
	result=$(kill_it "$@") || result="is no mutant"
	# the copy is newer than objects built from the mutant
	cp "$OUT/$1/kmod/$file" "$OUT/$1/build/uml/$file"
	printf '%s\t%s\n' "$2" "$result" >>"$OUT/results"
	printf '%-46s kmod/%s\n' "$result" "$2"
}

# reason MUTANT: print why it may survive
reason()
{
	awk -F '\t' -v name="$1" '$1 == name { print $2 }' "$HERE/survivors"
}

# verdict: print the survivors and the totals; fail if there are too many
# survivors, or one without a known reason
verdict()
{
	local name result known bad=0 equal=0
	local -A n=([killed]=0 [SURVIVED]=0 [did]=0 [is]=0 [interrupted]=0)

	while IFS=$'\t' read -r name result; do
		n[${result%% *}]=$((n[${result%% *}] + 1))
		known=$(reason "$name")
		case $result in
		SURVIVED)
			[ -n "$known" ] || bad=$((bad + 1))
			[[ $known != equivalent* ]] || equal=$((equal + 1))
			echo "survived: kmod/$name: ${known:-NO REASON IS KNOWN}"
			;;
		killed*)
			[ -z "$known" ] ||
				echo "killed, but in selftests/mutants/survivors: $name"
			;;
		is* | interrupted*) bad=$((bad + 1)) ;;
		esac
	done < <(sort "$OUT/results")
	name=$((n[killed] + n[SURVIVED] - equal))
	known=$((name ? n[killed] * 100 / name : 0))
	[ -n "$pattern$all" ] || [ $known -ge $WANTED ] || bad=$((bad + 1))
	echo "mutants: ${n[killed]} of $name killed ($known %)," \
		"$((n[SURVIVED] - equal)) survived," \
		"$equal are equivalent, ${n[did]} did not compile"
	[ "${assumed:-0}" = 0 ] || echo "$assumed with a known reason were not tried again (-s)"
	[ $((n[killed] + n[SURVIVED])) -gt 0 ] && [ $bad = 0 ]
}

listing="" all="" again="" try_known="" assumed="" jobs=$(nproc)
while getopts larsj: opt; do
	case $opt in
	l) listing=1 ;;
	a) all=1 ;;
	r) again=1 ;;
	s) try_known=1 ;;
	j) jobs=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -le 1 ] || usage
pattern=${1-}

# Each line of survivors gives a reason for a mutant.  Fail if a line names no
# mutant, for example because a function was renamed.
stale=$(cut -f 1 "$HERE/survivors" | grep -vxFf <(all=1 list '*'))
[ -z "$stale" ] || { echo "no mutants for selftests/mutants/survivors: $stale" >&2; exit 2; }
mutants=$(list "${pattern:-*}")
if [ -n "$listing" ]; then
	echo "$mutants"
	exit
fi
[ -n "$mutants" ] || { echo "no mutant matches $pattern" >&2; exit 2; }
[ -n "$again" ] || rm -rf "$OUT"
mkdir -p "$OUT/logs" "$OUT/seconds"
rm -f "$OUT/broken"
touch "$OUT/results"
# keep the results of killed mutants that still exist
grep -F $'\tkilled' "$OUT/results" | grep -wFf <(echo "$mutants") >"$OUT/killed"
mv "$OUT/killed" "$OUT/results"
if [ -z "$try_known" ]; then
	cut -f 1 "$HERE/survivors" | grep -xFf <(echo "$mutants") |
		grep -vxFf <(cut -f 1 "$OUT/results") >"$OUT/known"
	assumed=$(wc -l <"$OUT/known")
	sed 's/$/\tSURVIVED/' "$OUT/known" >>"$OUT/results"
fi
mutants=$(grep -vxFf <(cut -f 1 "$OUT/results") <<<"$mutants")

echo "builds"
for ((n = 1; n <= jobs; n++)); do
	tree "$n" >"$OUT/logs/build.log" 2>&1 ||
		{ cat "$OUT/logs/build.log"; echo "no mutants: the module does not build"; exit 1; }
done
echo "tests of the module as it is"
for file in $(cut -d : -f 1 <<<"$mutants" | sort -u); do
	steps "$file"
done | tr ' ' '\n' | sort -u | jobs_do unmutated
[ ! -e "$OUT/broken" ] || { echo "no mutants: tests fail without them"; exit 1; }
echo "$(grep -c . <<<"$mutants") mutants"
[ -z "$mutants" ] || jobs_do one <<<"$mutants"
echo
# make reliability reads $OUT/verdict, which only a run of the whole sample
# writes
if [ -n "$pattern$all" ]; then
	verdict
else
	verdict | tee "$OUT/verdict"
fi
