#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every command in README.md, the man pages and Documentation/**/*.rst runs as
# written.  docs/extract.awk says what a command is, docs/guest.sh where it runs,
# docs/ignore which ones do not.  KTAP.
#
#   docs.sh [DOCUMENT...]	default: all of them
#
# What the sessions said is in build/docs/.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TOP" || exit 1
HERE=selftests/docs
OUT=$TOP/build/docs
export IQCN_LAB=uml

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"
# said FILE...: what is in them, if anything; that is a failure
said()
{
	! cat "$@" 2>/dev/null | sed 's/^/# /' | grep .
}

extract()
{
	local doc out

	for doc; do
		out=$OUT/${doc//\//@}
		mkdir -p "$out"
		awk -f $HERE/extract.awk -v doc="$doc" -v out="$out" \
			-v ignore=$HERE/ignore "$doc" || return 1
	done
}

# One that no command matches is of no use any more
ignored_in_vain()
{
	awk -F '  +|\t+' '!/^#/ && NF > 1 { print ++n "\t" $1 }' $HERE/ignore |
		sort -k1,1 |
		join -t $'\t' -v 1 - <(cut -f 1 "$OUT"/*/ignored | sort -u)
}

# Those for make are not run, for they build or boot; but they are for a target that
# there is, and a scenario
make_knows()
{
	local where word

	cat "$OUT"/*/made 2>/dev/null | while IFS= read -r where; do
		# A value in quotes may be several words
		for word in $(sed 's/"[^"]*"//g' <<<"${where#*: make}"); do
			case $word in
			S=methods | S=marking) ;;
			S=*) [ -e "selftests/scenarios/${word#S=}.scenario" ] ;;
			[A-Z]*=*) ;;
			*) grep -qE "^\.PHONY:.* $word( |\$)" Makefile ;;
			esac || echo "$where: no $word"
		done
	done
}

rm -rf "$OUT"
all=""
if [ $# = 0 ]; then
	all=1
	# shellcheck disable=SC2046
	set -- README.md $(find Documentation -name '*.rst' -o -name '*.8' | sort)
fi

echo "TAP version 13"
extract "$@"; result $? "documents can be read"
said "$OUT"/*/wrong; result $? "commands are in blocks that say so"
make_knows >"$OUT/make"; said "$OUT/make"; result $? "make knows its targets"
if [ "$all" ]; then
	ignored_in_vain >"$OUT/vain"; said "$OUT/vain"
	result $? "what is not to be run is there"
fi
while IFS= read -r line; do
	case $line in
	"ok "*) result 0 "${line#ok }" ;;
	"not ok "*) result 1 "${line#not ok }" ;;
	*) echo "$line" ;;
	esac
done < <("$TOP/selftests/lab/lab.sh" run uml -s 1 "$TOP/$HERE/guest.sh" \
		"$OUT" || echo "not ok the lab")
echo "1..$n"
exit $failed
