#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# refuse.sh [DIRECTORY]: check that the plugin refuses the arguments in
# refuse.txt and mistakes.txt, with the messages listed there.  DIRECTORY
# contains the plugin, by default build/.  Prints KTAP.
#
# tc itself loads the plugin.  Any user can run the test, because tc parses all
# words before it looks for the device or sends a request.  The device does not
# exist, so no qdisc is added even if the plugin accepts what it should refuse.
set -u

# shellcheck source=tc-plugin/tests/lib-tc.sh
. "$(dirname "$0")/lib-tc.sh"

DEVICE=no-such-device

# refuse ARGUMENTS MESSAGE: check that tc refuses ARGUMENTS with MESSAGE.  "..."
# as the last line of MESSAGE stands for any lines.
refuse()
{
	local arguments want=$2 got rc same

	read -ra arguments <<<"$1"
	got=$("$TC" qdisc add dev $DEVICE root iqcn "${arguments[@]}" 2>&1)
	rc=$?
	if [[ $want == *$'\n...' ]]; then
		[ $rc = 1 ] && [[ $got == "${want%...}"* ]]
	else
		[ $rc = 1 ] && [ "$got" = "$want" ]
	fi
	same=$?
	result $same "refuse $1"
	[ $same = 0 ] || sed 's/^/# /' <<-EOF
		expected exit status 1 and
		$want
		got exit status $rc and
		$got
	EOF
}

# table: refuse each entry of the table on stdin
table()
{
	local line entry='' message=''

	while IFS= read -r line; do
		case $line in
		\#*)
			;;
		$'\t'*)
			message+=${message:+$'\n'}${line#?}
			;;
		*)
			[ -z "$entry" ] || refuse "$entry" "$message"
			entry=$line message=''
			;;
		esac
	done
	refuse "$entry" "$message"
}

echo "TAP version 13"
for file in refuse mistakes; do
	table <"$TESTS/$file.txt"
done
echo "1..$n"
exit $failed
