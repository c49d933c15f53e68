#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# shown.sh [DIRECTORY]: check what tc prints for a qdisc.  Prints KTAP.
#
# - Numbers are printed as said.txt lists them.
# - For many combinations of the methods, the parameters that "tc qdisc show"
#   prints are those of shown.txt, and "tc -d qdisc show" prints all.
#
# The test does not use the kernel's qdiscs, and any user can run it.
set -u

# shellcheck source=tc-plugin/tests/lib-tc.sh
. "$(dirname "$0")/lib-tc.sh"

TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

# The defaults for 10 Gb/s, as the kernel dumps them, of all parameters except
# those that the combinations set
DEFAULTS="limit 6250Kb kmin 160000b kmax 625Kb pmax 0.2 mark-on dequeue nonect pass
	t1 225us period 56250ns base cnp delay 0ns ce-in notify profile mark
	qref auto update 100us alpha 5000 beta 250000 min-gap 50us telemetry off
	window 1ms enter 90% exit 60% bandwidth 0bit run 5 run-exit 2 span 100
	span-enter 3 span-exit 10 pfc-prio 3 threshold 40000b settle 20us
	pfc-max 2ms base-rtt none grant share supplement 500
	supplement-max 2500 fiber none filter off filter-by flow sample 1 group off pair psn flows 65536 age 10s
	snoop port cnp-dscp 48 cnp-pcp 6 cnp-ttl 64 cnp-smac port cnp-sport learned cnp-rate 3188775
	cnp-burst 1024"

# subsets WORD...: print each set of one or more words, as a list for tc
subsets()
{
	local i j set

	for ((i = 1; i < 1 << $#; i++)); do
		set=""
		for ((j = 0; j < $#; j++)); do
			((i >> j & 1)) && set+=,${*:j + 1:1}
		done
		echo "${set#,}"
	done
}

# combinations: print words for each combination of the methods without grant
# and PFC, and for some with them
combinations()
{
	local notify detect trigger measure pfc

	for notify in off $(subsets timer wreb pi supplement); do
		for detect in $(subsets queue depth run span); do
			for trigger in timer period gap; do
				for measure in $(subsets depth gradient delay); do
					echo "notify $notify detect $detect" \
						"trigger $trigger measure $measure pfc off"
				done
			done
		done
	done
	for notify in off pi grant timer,grant,supplement; do
		for pfc in off frames txq; do
			echo "notify $notify detect queue trigger timer measure depth pfc $pfc"
		done
	done
}

# wanted: print the names that shown.txt lists for each combination on stdin
wanted()
{
	awk '
	function holds(condition, part) {
		if (condition == "always")
			return 1
		if (split(condition, part, "!=") == 2)
			return value[part[1]] != part[2]
		split(condition, part, "=")
		return index("," value[part[1]] ",", "," part[2] ",") > 0
	}
	function needed(rule, any, all, n, m, i, j) {
		n = split(rule, any, " [|] ")
		for (i = 1; i <= n; i++) {
			m = split(any[i], all, " ")
			for (j = 1; j <= m && holds(all[j]); j++)
				;
			if (j > m)
				return 1
		}
		return 0
	}
	FNR == NR {
		if (/^[^#]/) {
			name[++names] = $1
			sub(/^[^\t]*\t+/, "")
			rule[names] = $0
		}
		next
	}
	{
		for (i = 1; i < NF; i += 2)
			value[$i] = $(i + 1)
		line = ""
		for (i = 1; i <= names; i++)
			if (needed(rule[i]))
				line = line name[i] " "
		print line
	}' "$TESTS/shown.txt" -
}

# shown ARGUMENT...: print the parameters that tc shows for each qdisc in the
# file qdiscs
shown()
{
	in_file "$TMP/qdiscs" "$@" qdisc show | sed 's/^qdisc iqcn .* refcnt 0 //'
}

# names: print the names of the parameters on stdin
names()
{
	awk '{ for (i = 1; i < NF; i += 2) printf "%s ", $i; print "" }'
}

# same WHAT: compare the files wanted and shown, which have a line for each line
# of the file said
same()
{
	[ "$(wc -l <"$TMP/shown")" = "$(wc -l <"$TMP/said")" ] &&
		cmp -s "$TMP/wanted" "$TMP/shown"
	result $? "$1"
	paste -d '|' "$TMP/said" "$TMP/wanted" "$TMP/shown" |
		awk -F '|' '$2 != $3 { print "# " $1 "\n# expected " $2 "\n# got " $3 }' |
		head -n 12
}

# in_kernel FILE WORDS: for each line of FILE, add a qdisc with the words of the
# line, followed by WORDS, to the file qdiscs, which stands for the kernel
in_kernel()
{
	: >"$TMP/qdiscs"
	# shellcheck disable=SC2116,SC2086
	sed "s/^/qdisc add root iqcn /; s/\$/ $(echo $2)/" "$1" >"$TMP/batch"
	in_file "$TMP/qdiscs" -force -batch "$TMP/batch" 2>&1 | head -n 5 |
		sed 's/^/# /'
}

echo "TAP version 13"
sed -n '/^[^#\t]/p' "$TESTS/said.txt" >"$TMP/said"
sed -n 's/^\t\(.*\)/\1 /p' "$TESTS/said.txt" >"$TMP/wanted"
in_kernel "$TMP/said" ""
shown -d >"$TMP/shown"
same "numbers and lists"

combinations >"$TMP/said"
in_kernel "$TMP/said" "$DEFAULTS"
wanted <"$TMP/said" >"$TMP/wanted"
shown | names >"$TMP/shown"
same "tc qdisc show has the parameters of the methods"
shown -d | names | sort -u | tr ' ' '\n' | sort >"$TMP/shown"
{ echo; "$TC" qdisc add iqcn help 2>&1 | sed -n '1,/^$/p' |
	grep -oE '\[ [a-z0-9-]+' | tr -d '[ '; } | sort >"$TMP/wanted"
diff "$TMP/wanted" "$TMP/shown" | sed 's/^/# /'
result "${PIPESTATUS[0]}" "tc -d qdisc show has all"
echo "1..$n"
exit $failed
