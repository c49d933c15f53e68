# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Run groups of tests in several kernels, each with a log $OUT/KERNEL-GROUP.log,
# and summarize them.  Sourced by scripts that define "run KERNEL GROUP" and
# "describe KERNEL", whose output is a column of the summary.

# timed KERNEL GROUP: run a group, and record result and time
timed()
{
	local kernel=$1 group=$2 start=$SECONDS result=ok

	echo "  $kernel $group ..."
	run "$kernel" "$group" >"$OUT/$kernel-$group.log" 2>&1 </dev/null ||
		result=FAILED
	echo "$kernel $result $((SECONDS - start)) $group" >>"$OUT/results"
	echo "  $kernel $group: $result, $((SECONDS - start)) s"
}

# files GROUP [LEFT-OUT]: print the files of a group such as smoke+life, each
# with its tests except those in the list LEFT-OUT, which may contain comment
# lines
files()
{
	local name t tests out

	out=$(grep -v '#' <<<"${2-}")
	for name in ${1//+/ }; do
		tests=""
		for t in $(sed -n '/^ALL_TESTS="/,/^"/p' \
			"$TOP/selftests/net/iqcn_$name.sh" | grep -o 'test_[a-z0-9_]*'); do
			grep -qw "$t" <<<"$out" || tests+=,$t
		done
		echo "iqcn_$name.sh:${tests#,}"
	done
}

# count PATTERN KERNEL: count matches in the logs of a kernel
count()
{
	cat "$OUT/$2"-*.log | grep -cE "$1"
}

# summary HEADING KERNEL...: print a table, failures and a verdict, and write
# the table to $OUT/table for reliability.sh.  Return: success if nothing has
# failed
summary()
{
	local heading=$1 bad=0 kernel passed failed group lines seconds log
	shift

	rm -f "$OUT/table"
	echo
	printf '%-12s %s %6s %6s %7s %8s\n' kernel "$heading" passed failed skipped \
		seconds
	for kernel; do
		failed=$(count '^ *not ok' "$kernel")
		seconds=$(awk -v k="$kernel" '$1 == k { s += $3 } END { print s + 0 }' \
			"$OUT/results")
		# a guest that did not end or had a splat may print no "not ok"
		for group in $(awk -v k="$kernel" '$1 == k && $2 == "FAILED" {
			print $4
		}' "$OUT/results"); do
			grep -q '^ *not ok' "$OUT/$kernel-$group.log" || ((failed++))
		done
		bad=$((bad + failed))
		passed=$(count '^ *ok [^#]*$' "$kernel")
		printf '%-12s %s %6s %6s %7s %8s\n' "$kernel" "$(describe "$kernel")" \
			"$passed" "$failed" \
			"$(count '^ *ok .*# SKIP' "$kernel")" "$seconds"
		printf '%s\t%s\t%s\t%s\t%s\n' "$kernel" \
			"$(describe "$kernel" | tr -s ' ')" "$passed" "$failed" \
			"$seconds" >>"$OUT/table"
	done
	for log in "$OUT"/*.log; do
		lines=$(grep -v '^ *ok ' "$log" | grep -E 'not ok|FAIL|splat|verdict')
		[ -n "$lines" ] || continue
		echo
		echo "--- ${log#"$TOP/"}:"
		head -n 30 <<<"$lines"
	done
	echo
	echo "$bad failed on $# kernels"
	[ "$bad" = 0 ]
}
