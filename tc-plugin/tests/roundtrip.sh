#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# roundtrip.sh [DIRECTORY]: the output of "tc -d qdisc show" and "tc -j qdisc
# show", given to tc again, results in the same attributes, for random values of
# every parameter.  Prints KTAP.
#
# $IQCN_SEED (1) is the seed, $COUNT (10000) the number of requests.  The test
# does not use the kernel's qdiscs, and any user can run it.
set -u -o pipefail

# shellcheck source=tc-plugin/tests/lib-tc.sh
. "$(dirname "$0")/lib-tc.sh"

COUNT=${COUNT:-10000}
PARAMS=$TC_LIB_DIR/params
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

# from_text: print the words of each qdisc in tc's text on stdin
from_text()
{
	sed -n 's/^qdisc iqcn .* refcnt [0-9]* //p'
}

# from_json: print the words of each qdisc in tc's JSON on stdin
from_json()
{
	jq -r --argjson keys "$("$PARAMS" keys)" '.[].options | to_entries |
		map($keys[.key].name + " " +
		    if .value == [] then "mark"
		    elif .value | type == "array" then
			.value | map("\(.bytes)b:\(.prob)") | join(",")
		    elif .value | type == "object" then
			.value | if .mode == "fixed" then "\(.n)/\(.interval_ns)ns"
			else .mode end
		    elif .value | type == "number" then
			"\(.value)" + $keys[.key].unit
		    else .value end) | join(" ")'
}

# again NAME: check that tc parses the words on stdin to the attributes of the
# random requests
again()
{
	: >"$TMP/$1"
	sed 's/^/qdisc add root iqcn /' >"$TMP/words"
	in_file "$TMP/$1" -batch "$TMP/words" 2>&1 | head -n 5 | sed 's/^/# /'
	"$PARAMS" attrs <"$TMP/$1" >"$TMP/attrs"
	[ "$(wc -l <"$TMP/attrs")" = "$COUNT" ] && cmp -s "$TMP/want" "$TMP/attrs"
	result $? "what is shown as $1, said again, gives the same"
	# print the first words whose attributes differ
	paste -d '|' "$TMP/want" "$TMP/attrs" "$TMP/words" |
		awk -F '|' '$1 != $2 { print "# " $3 }' | head -n 5
}

echo "TAP version 13"
"$PARAMS" random "${IQCN_SEED:-1}" "$COUNT" >"$TMP/random"
"$PARAMS" attrs <"$TMP/random" >"$TMP/want"
in_file "$TMP/random" -d qdisc show | from_text >"$TMP/shown"
again text <"$TMP/shown"
in_file "$TMP/random" -j qdisc show | from_json >"$TMP/shown"
again JSON <"$TMP/shown"
echo "1..$n"
exit $failed
