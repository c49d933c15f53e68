#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Update figures in documents from the results of scenarios in build/results or
# $IQCN_RESULTS:
#
#   figures.sh		update the blocks whose scenarios have been run, and
#			the plots
#   figures.sh -c SCENARIO...
#			compare the blocks that depend only on these
#			scenarios.  KTAP.
#
# A block of a document is between the two lines
#
#	figures: NAME, Linux VERSION, sch_iqcn commit COMMIT
#	end of figures
#
# which are comments in the document's language.  Figures depend on the version
# of Linux, so a block is compared only with the same version.  NAME is one of
# the blocks below, whose contents are in blocks.jq.
set -u -o pipefail
# decimal points, not commas
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
RESULTS=${IQCN_RESULTS:-$TOP/build/results}
compare=""
cd "$TOP" || exit 1

# NAME KIND SCENARIO...: columns are a table of fixed width, text is Markdown,
# which to_rst turns into rst.  The text of a block names the commit that made
# it, except for the blocks of CHEAP, which make check or make nightly compares.
BLOCKS="
	incast-512-pfc	columns incast-512-pfc
	incast-512	columns incast-512
	fattree-8	columns fattree-8
	pfc		columns incast-256-pfc incast-512-pfc incast-1024-pfc
				incast-2048-pfc
	pfc-states	columns pfc-victim pfc-victim-true pfc-burst pfc-fattree
	long-haul	columns longhaul-near-50 longhaul-near-200 longhaul-near-500
				longhaul-near-1000 longhaul-near-300us longhaul-many longhaul-step
				longhaul-wrong longhaul-far
	long-haul-mixed	columns longhaul-mixed longhaul-edge
	agent		columns agent-eval-150-3 agent-eval-150-6 agent-eval-350-3
				agent-eval-350-6 agent-eval-800-6 agent-unseen-step agent-unseen-mix
				agent-unseen-many agent-overload agent-killed
	senders		text	reps-permutation reps-permutation-8 reps-asym reps-fail ramp
				ratio-2 ratio-512 gate-one gate-all match match-lost sprayed
				reps-incast-512
	ns3		columns ns3
	hops		columns hops
	fig1		text	fig1-rate-failure
	scenarios	text	two-flows two-flows-paper incast-64 incast-256 incast-1024
				incast-2048 incast-512-behind-ecn incast-1g-64 incast-1g-256
				incast-1g-1000 incast-1g-3000 step fairness np-limited
				mice-and-elephants victim long-way long-way-4ms drive-8192
	notify		columns incast-64 incast-256 incast-512 incast-1024 incast-2048
				incast-512-behind-ecn np-limited victim step fairness
				mice-and-elephants
	long-way	columns long-way long-way-4ms
	storm		columns incast-512 incast-1024 incast-2048 incast-1g-64
				incast-1g-256 incast-1g-1000 incast-1g-3000
	marking		columns marking
	methods		columns methods
	samples		columns methods
	compared	columns compared
	flows		columns flows
	seeds		columns seeds
"
CHEAP=" incast-512-pfc incast-512 fig1 "
PICTURES="incast-512-pfc step flows fattree-8 pfc-victim longhaul-near-200"

die()
{
	echo "figures: $*" >&2
	exit 2
}

# of NAME: print its kind and scenarios
of()
{
	awk -v RS='\n\t' -v name="$1" '$1 == name { $1 = ""; print; exit }' \
		< <(sed -E ':a;N;$!ba;s/\n\t\t+/ /g' <<<"$BLOCKS")
}

# missing SCENARIO...: print the scenarios without results
missing()
{
	local s

	for s; do
		[ -e "$RESULTS/$s.json" ] || echo "$s"
	done
}

# made SCENARIO...: print "Linux VERSION, sch_iqcn commit COMMIT"
made()
{
	local s linux commit

	linux=$(for s; do
		jq -r '[.. | .kernel? // empty] | unique[]' "$RESULTS/$s.json"
	done | sort -u | paste -sd /)
	commit=$(for s; do
		cat "$RESULTS/$s.commit" 2>/dev/null
	done | sort -u | paste -sd /)
	echo "Linux $linux, sch_iqcn commit ${commit:-unknown}"
}

# to_rst: convert text with `literals` and a table from Markdown to rst
to_rst()
{
	sed 's/`/``/g' | awk '
	!/^\|/ { print; next }
	/^\|-/ { next }
	{
		if (!table++)
			print ".. list-table::\n   :header-rows: 1\n"
		gsub(/^\| | \|$/, "")
		gsub(/ \| /, "\n     - ")
		print "   * - " $0
	}'
}

# content NAME DOCUMENT: print the lines of the block
content()
{
	local name=$1 doc=$2 kind scenarios s

	read -r kind scenarios <<<"$(of "$name")"
	# shellcheck disable=SC2086
	for s in $scenarios; do
		jq -c --arg name "$s" '{key: $name, value: .}' \
			"$RESULTS/$s.json" || return 1
	done | jq -r -s -L "$HERE" -L "$HERE/../scenarios" \
		"include \"blocks\"; from_entries | block(\"$name\")" |
		case $kind,$doc in
		columns,*.md) echo '```'; column -t -s $'\t'; echo '```' ;;
		columns,*) printf '::\n\n'; column -t -s $'\t' | sed 's/^/\t/' ;;
		*,*.md) cat ;;
		*) to_rst ;;
		esac || return 1
	# shellcheck disable=SC2086
	[[ $CHEAP == *" $name "* ]] ||
		printf '\nMade with %s.\n' "$(made $scenarios)"
}

# marked DOCUMENT: print the names of its blocks
marked()
{
	sed -nE 's/^(<!--|\.\.) figures: ([^ ,]*).*/\2/p' "$1"
}

# linux_of NAME DOCUMENT: print the version of Linux of a block
linux_of()
{
	sed -nE "s/^(<!--|\.\.) figures: $1, Linux ([^ ,]*),.*/\2/p" "$2"
}

# written DOCUMENT NAME: print the block in the document
written()
{
	awk -v name="$2" '
	/^(<!--|\.\.) end of figures/ { on = 0 }
	on { print }
	/^(<!--|\.\.) figures: / { on = index($0, " figures: " name ",") }' "$1"
}

# replace DOCUMENT NAME LINE FILE: replace the first line and the lines of a
# block
replace()
{
	awk -v name="$2" -v line="$3" -v file="$4" '
	/^(<!--|\.\.) end of figures/ { skip = 0 }
	!skip && !(/^(<!--|\.\.) figures: / && index($0, " figures: " name ",")) { print }
	/^(<!--|\.\.) figures: / && index($0, " figures: " name ",") {
		print line
		while ((getline l <file) > 0)
			print l
		skip = 1
	}' "$1" >"$WORK/doc" && cat "$WORK/doc" >"$1"
}

documents()
{
	grep -lE '^(<!--|\.\.) figures: ' README.md Documentation/*.rst \
		Documentation/*/*.rst
}

# write DOCUMENT NAME: update a block
write()
{
	local doc=$1 name=$2 scenarios lacks line

	read -r _ scenarios <<<"$(of "$name")"
	[ -n "$scenarios" ] || die "$doc: unknown block \"$name\""
	# shellcheck disable=SC2086
	lacks=$(missing $scenarios | paste -sd ' ')
	if [ -n "$lacks" ]; then
		echo "$doc: $name is unchanged: no results of $lacks"
		return
	fi
	content "$name" "$doc" >"$WORK/block" || die "$doc: $name"
	# shellcheck disable=SC2086
	line="figures: $name, $(made $scenarios)"
	case $doc in
	*.md) line="<!-- $line -->" ;;
	# a comment ends with an empty line
	*) line=".. $line"
	   { echo; cat "$WORK/block"; echo; } >"$WORK/lines"
	   mv "$WORK/lines" "$WORK/block" ;;
	esac
	replace "$doc" "$name" "$line" "$WORK/block"
	echo "$doc: $name"
}

# only NAME: does the block depend only on compared scenarios?
only()
{
	local s scenarios

	read -r _ scenarios <<<"$(of "$1")"
	for s in $scenarios; do
		[[ " $compare " == *" $s "* ]] || return 1
	done
}

n=0 failed=0
# check DOCUMENT NAME: compare a block
check()
{
	local doc=$1 name=$2 linux

	n=$((n + 1))
	linux=$(jq -r .kernel "$RESULTS/$(of "$name" | awk '{ print $2 }').json")
	if [ "$linux" != "$(linux_of "$name" "$doc")" ]; then
		echo "ok $n $doc: $name # SKIP made with another Linux than $linux"
	elif diff <(written "$doc" "$name" | grep .) \
		  <(content "$name" "$doc" | grep .) | sed 's/^/# /'; then
		echo "ok $n $doc: $name"
	else
		echo "not ok $n $doc: $name is stale: make figures"
		failed=1
	fi
}

WORK=$(mktemp -d) || exit
trap 'rm -rf "$WORK"' EXIT
if [ "${1-}" = -c ]; then
	shift
	compare="$*"
fi
for doc in $(documents); do
	for name in $(marked "$doc"); do
		if [ -z "$compare" ]; then
			write "$doc" "$name" || exit
		elif only "$name"; then
			check "$doc" "$name"
		fi
	done
done
if [ -n "$compare" ]; then
	# fail instead of comparing nothing
	[ $n -gt 0 ] || die "no block depends only on $compare"
	exit $failed
fi
for name in $PICTURES; do
	[ ! -e "$RESULTS/$name.png" ] || cp "$RESULTS/$name.png" Documentation/
done
