#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run every command in README.md, the man pages and Documentation/**/*.rst as
# written.  docs/extract.awk finds the commands, docs/guest.sh runs them, and
# docs/ignore lists those that are not run.  KTAP.
#
#   docs.sh [DOCUMENT...]	default: all documents
#
# The output of the commands is in build/docs/.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TOP" || exit 1
HERE=selftests/docs
OUT=$TOP/build/docs
export IQCN_LAB=uml

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"
# said FILE...: print the files; fail if they are not empty
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

# Print the rules of docs/ignore that no command matches
ignored_in_vain()
{
	awk -F '  +|\t+' '!/^#/ && NF > 1 { print ++n "\t" $1 }' $HERE/ignore |
		sort -k1,1 |
		join -t $'\t' -v 1 - <(cut -f 1 "$OUT"/*/ignored | sort -u)
}

# NAME also stands for all of NAME-*
scenario_exists()
{
	compgen -G "selftests/scenarios/$1.scenario" >/dev/null ||
		compgen -G "selftests/scenarios/$1-*.scenario" >/dev/null
}

# Commands "make ..." are not run, because they build or boot; check that their
# targets and scenarios exist
make_knows()
{
	local where word

	# make -C uses another Makefile, with other targets
	cat "$OUT"/*/made 2>/dev/null | grep -v ': make -C ' |
		while IFS= read -r where; do
		# a value in quotes may have several words
		for word in $(sed 's/"[^"]*"//g' <<<"${where#*: make}"); do
			case $word in
			S=marking | S=flows | S=seeds) ;;
			S=*) scenario_exists "${word#S=}" ;;
			[A-Z]*=*) ;;
			*) grep -qE "^\.PHONY:.* $word( |\$)" Makefile ;;
			esac || echo "$where: unknown: $word"
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
extract "$@"; result $? "documents can be parsed"
said "$OUT"/*/wrong; result $? "commands are in blocks of commands"
make_knows >"$OUT/make"; said "$OUT/make"; result $? "make targets exist"
if [ "$all" ]; then
	ignored_in_vain >"$OUT/vain"; said "$OUT/vain"
	result $? "every rule of docs/ignore matches a command"
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
