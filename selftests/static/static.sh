#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Check the sources without running them.  KTAP.
#
#   static.sh [-f]	-f: fast, without sparse
set -u -o pipefail

fast=""
[ "${1-}" != -f ] || fast=1

TOP=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
cd "$TOP" || exit 1
# a jobserver of the calling make would cause a warning
unset MAKEFLAGS MFLAGS
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
source_tree=$("$LAB" source) || exit 1

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"
# quiet COMMAND...: succeed if the command succeeds without output
quiet()
{
	local out

	out=$("$@" 2>&1)
	local rc=$?
	[ -z "$out" ] || echo "${out//$'\n'/$'\n'# }" | sed '1s/^/# /'
	[ $rc = 0 ] && [ -z "$out" ]
}

sources()
{
	git ls-files --cached --others --exclude-standard "$@" 2>/dev/null ||
		find "$@" -type f
}

# changed CHECK FILE...: read names of files from stdin, and print those that
# build/CHECK does not list as passed with the same contents and rules.  The
# rules are FILE..., this script and the version of shellcheck.
changed()
{
	local check=$1 rules
	shift

	rules=$({ shellcheck --version; cat "$@" selftests/static/static.sh; } |
		sha256sum)
	xargs sha256sum | sed "s/^/${rules%% *} /" | sort >"$WORK/$check"
	mkdir -p build && touch "build/$check" || return
	comm -23 "$WORK/$check" "build/$check" | awk '{ print $3 }'
}

# passed CHECK: record that all files given to "changed CHECK" have passed
passed()
{
	cp "$WORK/$1" "build/$1"
}

# Print the warnings of sparse.  C=2 checks files that are up to date, too, and
# does not compile them again, so make check-kernels looks for warnings of
# objtool.
sparse()
{
	make -s lab-stock C=2 2>&1 | grep -E 'warning|error'
	[ "${PIPESTATUS[0]}" = 0 ]
}

# -v: check descriptions of return values, too.  The last line, "N warnings", is
# dropped.
kernel_doc()
{
	"$source_tree/scripts/kernel-doc" -v -none kmod/*.[ch] \
		kmod/algo/*.h kmod/include/uapi/linux/*.h selftests/rocehost/*.[ch] 2>&1 |
		grep -vE ': info: Scanning doc for|warning: no structured comments found|^[0-9]+ warnings$'
	true
}

# Exceptions, each with its reason, are in checkpatch.ignore.  checkpatch.pl
# takes nearly two minutes for all files, so it only checks changed files.
check_patch()
{
	local scripts=$source_tree/scripts rc
	local ignore=selftests/static/checkpatch.ignore

	sources kmod tc-plugin userspace selftests | grep '\.[ch]$' |
		changed checkpatch "$scripts/checkpatch.pl" $ignore \
			"$scripts"/{spelling.txt,const_structs.checkpatch} \
			>"$WORK/files" || return
	awk '/^[^ ]+ [A-Z_]+ / { print "^" $1 ":[0-9]+: [A-Z]+:" $2 ":" }' \
		$ignore >"$WORK/exceptions"
	# change to $WORK, because checkpatch.pl leaves a file in the current
	# directory
	(cd "$WORK" && sed "s|^|$TOP/|" files |
		xargs -r "$scripts/checkpatch.pl" --strict --terse -q \
			--root="$source_tree" --show-types --no-summary -f 2>&1) |
		sed "s|^$TOP/||" | grep -vEf "$WORK/exceptions"
	rc=("${PIPESTATUS[@]}")
	# xargs exits with 123 if checkpatch.pl reported something, and grep
	# exits with 1 if all of it is excepted
	[[ ${rc[0]} =~ ^(0|123)$ && ${rc[2]} = 1 ]] && passed checkpatch
}

# tc or libc must have each symbol that the plugin needs, except weak ones: a
# missing function fails when it is called, and a missing variable keeps the
# plugin from being loaded
plugin_symbols()
{
	comm -23 <(nm -D --undefined-only build/q_iqcn.so |
			awk '$1 == "U" { sub("@.*", "", $2); print $2 }' | sort) \
		<({ nm -D --defined-only "$(command -v tc || echo /sbin/tc)"
		    nm -D --defined-only /lib/*-linux-gnu/libc.so.6
		  } | awk '{ sub("@.*", "", $3); print $3 }' | sort)
	[[ $(TC_LIB_DIR=build tc qdisc add dev lo root iqcn help 2>&1) == \
		"Usage: ... iqcn"* ]] || echo "tc does not find the plugin"
}

# Only compat/ tests versions and features
compat_only()
{
	# shellcheck disable=SC2046
	grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION|IQCN_HAVE_' \
		$(sources kmod | grep -v '^kmod/compat/')
	true
}

# No loop of calls or of includes has more than three files of the module
call_graph()
{
	selftests/static/graph.py -m 3 >/dev/null
}

# A page has the name of its file, for "man -k"
man_pages()
{
	local f name

	for f in Documentation/man/*.8; do
		man --warnings -l "$f" 2>&1 >/dev/null | grep -v locale
		name=$(basename "$f" .8)
		[[ $(lexgrog "$f") == "$f: \"$name - "* ]] ||
			echo "$f: NAME is not $name"
		grep -q "^\.TH ${name^^} 8 " "$f" ||
			echo "$f: .TH does not have the name ${name^^}"
	done
}

# dkms builds for the kernels that Kconfig allows
kernel_options()
{
	diff <(sed -n '/^config NET_SCH_IQCN$/,/^config /s/^\tdepends on //p' \
			kmod/Kconfig | sed 's/ && /\n/g' |
			sed 's/^!*/&CONFIG_/' | sort) \
		<(sed -n 's/^BUILD_EXCLUSIVE_CONFIG="\(.*\)"/\1/p' dkms.conf |
			tr ' ' '\n' | sort)
}

# The specification has the numbers of the kernel's headers
spec()
{
	selftests/static/spec.py Documentation/netlink/specs/iqcn.yaml \
		kmod/include/uapi linux/iqcn.h linux/iqcn_netlink.h |
		gcc -fsyntax-only -Ikmod/include/uapi -x c -
}

# The man page and the specification have the parameters of the table
parameters()
{
	gcc -Ikmod/include/uapi -o "$WORK/rows" -x c - <<-'EOF' &&
		#include <stddef.h>
		#include <stdio.h>
		#include "kmod/config_table.h"

		int main(void)
		{
			size_t i, n = sizeof(iqcn_param_table) / sizeof(iqcn_param_table[0]);
			const char *const *name;

			for (i = 0; i < n; i++) {
				printf("%s", iqcn_param_table[i].name);
				name = iqcn_param_table[i].names;
				for (; name && *name; name++)
					printf("\t%s", *name);
				putchar('\n');
			}
			return 0;
		}
	EOF
		"$WORK/rows" | selftests/static/params.py Documentation/man/tc-iqcn.8 \
			Documentation/netlink/specs/iqcn.yaml
}

# columns FILE: names in the table of a file's description
columns()
{
	awk -v file="/$1\$" '
	/^What:/ { on = $2 ~ file }
	on && /^\t\t[a-z_]+  +/ { print $1 }' Documentation/ABI/testing/debugfs-iqcn
}

# The documents list the files in sysfs, the columns in debugfs and the counters
# that the source has
abi()
{
	local abi=Documentation/ABI file

	"$source_tree/scripts/get_abi.pl" validate --dir $abi
	diff <(sed -nE 's/^\tIQCN_VALUE\([A-Z_]+, ([a-z_]+)\),$/\1/p' \
			kmod/stats.c | sort) \
		<(sed -nE 's|^What:.*/iqcn/([a-z_]+)$|\1|p' \
			$abi/testing/sysfs-class-net-iqcn | sort)
	for file in queues flows; do
		diff <(sed -nE "/iqcn_${file}_show/,/^}/s/.*\"# ([a-z_ ]+)\\\\n.*/\\1/p" \
				kmod/debugfs.c | tr ' ' '\n') <(columns $file)
	done
	diff <(sed -n '/^struct tc_iqcn_xstats {/,/^}/p' \
			kmod/include/uapi/linux/iqcn.h |
			sed -nE 's/^\t__u.*\t([a-z_]+);/\1/p' | sort) \
		<(sed -n '/^.SH COUNTERS/,/^.SH FILES/p' \
			Documentation/man/tc-iqcn.8 | grep -A 1 '^.TP' |
			sed -n 's/^.B //p' | sort)
}

documents()
{
	echo README.md
	echo CONTRIBUTING.md
	find Documentation -name '*.rst' | sort
}

# The documents parse, and the files that they refer to exist
rst()
{
	local f target

	for f in $(documents | grep '\.rst$'); do
		{ rst2html --report=1 --syntax-highlight=none "$f" >/dev/null; } 2>&1
	done
	for f in $(documents); do
		# links, relative to the document
		sed -nE 's/.*\]\(([^)#]+).*/\1/p; s/.*`[^`<]*<([^`>#]+)>`_.*/\1/p
			 s/^ *\.\. (image|figure|include):: (.*)/\2/p' "$f" |
			while IFS= read -r target; do
				[[ $target = http*:* ]] ||
					[ -e "$(dirname "$f")/$target" ] ||
					echo "$f: no $target"
			done
		# paths from here, and documents by their names
		grep -oE '(Documentation|contrib|debian|kmod|selftests|tc-plugin|userspace)/[A-Za-z0-9_./-]*[A-Za-z0-9]' \
			"$f" | sort -u | while IFS= read -r target; do
				[ -e "$target" ] || echo "$f: no $target"
			done
		grep -oE '[A-Za-z0-9-]+\.rst\b' "$f" | sort -u |
			while IFS= read -r target; do
				find Documentation -name "$target" | grep -q . ||
					echo "$f: no $target"
			done
	done
}

# Counters and similar names in documents, such as ``cnp_sent``, must exist in
# the sources (settings of NICs are in iqcn-senders) or in Linux (devlink and
# mlx5)
names()
{
	local name

	# shellcheck disable=SC2046
	grep -ohE '`[a-z0-9]+_[a-z0-9_]+`' $(documents) | tr -d '`' | sort -u |
		while IFS= read -r name; do
			grep -rqw "$name" kmod userspace tc-plugin selftests \
				contrib/senders \
				"$source_tree"/include/net/devlink.h \
				"$source_tree"/drivers/{infiniband/hw,net/ethernet/mellanox}/mlx5* ||
				echo "no $name in the sources"
		done
}

# The module, dkms.conf, the packages and NEWS have the same version
versions()
{
	local version

	version=$(sed -n 's/^MODULE_VERSION("\(.*\)");/\1/p' kmod/qdisc.c)
	[ "$version" ] || echo "kmod/qdisc.c: no MODULE_VERSION"
	grep -qxF "PACKAGE_VERSION=\"$version\"" dkms.conf ||
		echo "dkms.conf: PACKAGE_VERSION is not $version"
	[ "$(dpkg-parsechangelog -S Version)" = "$version" ] ||
		echo "debian/changelog: the version is not $version"
	grep -qxE "Version: +$version" contrib/rpm/sch-iqcn.spec ||
		echo "contrib/rpm/sch-iqcn.spec: Version is not $version"
	grep -qxF "pkgver=$version" contrib/arch/PKGBUILD ||
		echo "contrib/arch/PKGBUILD: pkgver is not $version"
	[ "$(head -n 1 NEWS)" = "sch_iqcn $version" ] ||
		echo "NEWS: the first entry is not about $version"
}

# Each file belongs to a section of MAINTAINERS, and each section has files.
maintainers()
{
	local pattern patterns

	mapfile -t patterns < <(sed -n 's/^F:\t//p' MAINTAINERS)
	for pattern in "${patterns[@]}"; do
		[ -e "$pattern" ] || echo "MAINTAINERS: no $pattern"
	done
	# a directory matches the beginning of a path, a file all of it
	sources . | sed 's|^\./||; /^build\//d' | awk '
	FNR == NR {
		pattern[$0]
		next
	}
	{
		for (p in pattern)
			if ($0 == p || p ~ /\/$/ && index($0, p) == 1)
				next
		print "MAINTAINERS: no section of " $0
	}' <(printf '%s\n' "${patterns[@]}") -
}

# An empty file is a mistake
empty_files()
{
	sources . | grep -v '^\(\./\)\?build/' |
		xargs -I{} find {} -maxdepth 0 -type f -empty -printf '%p: empty\n'
}

# A second definition of a function replaces the first, and shellcheck does not
# warn
functions_once()
{
	sources selftests | grep '\.sh$' | xargs awk '
	/^[a-z_0-9]+\(\)$/ && seen[FILENAME, $0]++ { print FILENAME ": " $0 }'
}

# A test that is not in ALL_TESTS never runs on some kernels
tests_listed()
{
	sources selftests/net | grep '/iqcn_[a-z_]*\.sh$' | xargs awk '
	/^(ALL|NIGHTLY)_TESTS="/ {
		list = $0
		sub(/_.*/, "", list)
		sub(/^[^"]*"/, "")
	}
	list {
		n = split($0, words, /[^a-z_0-9]+/)
		for (i = 1; i <= n; i++) {
			if (words[i] !~ /^test_/)
				continue
			else if (list == "ALL")
				listed[FILENAME, words[i]]
			else
				tests[FILENAME ": " words[i]] = FILENAME SUBSEP words[i]
		}
		if (/"$/)
			list = ""
	}
	/^test_[a-z_0-9]+\(\)$/ {
		sub(/\(\)/, "")
		tests[FILENAME ": " $0] = FILENAME SUBSEP $0
	}
	END {
		for (test in tests)
			if (!(tests[test] in listed))
				print test
	}'
}

# A test that is renamed would run again on kernels that leave it out
left_out_exist()
{
	local name

	for name in $(sed -n '/LEFT_OUT=/,/^[")]/{/^\t*#/d; p}' \
			selftests/kernels/kernels.sh selftests/debug/debug.sh |
			grep -o 'test_[a-z_0-9]*'); do
		grep -q "^$name()" selftests/net/iqcn_*.sh || echo "$name: no such test"
	done
}

# Every file of tests must be in a step, or it never runs
files_listed()
{
	local f name steps

	steps=$(grep -hv '^[[:space:]]*#' selftests/check/check.sh \
		selftests/debug/debug.sh selftests/kernels/kernels.sh)
	for f in $(sources selftests/net | grep '/iqcn_[a-z_]*\.sh$'); do
		name=${f##*/iqcn_}
		# a whole name, or a word of a group such as "life+smoke"
		grep -qE "iqcn_$name|[\" +]${name%.sh}([\" +]|\$)" <<<"$steps" ||
			echo "$f: in no step"
	done
}

# The list of survivors has names of mutants, which change if a function is
# renamed
survivors()
{
	selftests/mutants/mutants.sh -l -a >/dev/null
}

# A newcomer reads all of README.md, so it must be short
readme()
{
	[ "$(wc -l <README.md)" -le 120 ] || echo "README.md: more than 120 lines"
}

# Comments have at most 80 columns, except diagrams and tables, which have tabs
wide_comments()
{
	sources . | grep -E '\.([ch]|sh)$' | xargs awk '
	/^\t*(\/\* | \* |# )[^\t]*$/ && !/\\$/ {
		tabs = match($0, /[^\t]/) - 1
		if (length + 7 * tabs > 80)
			print FILENAME ":" FNR ": too wide"
	}'
}

# For all files, shellcheck takes a minute, so it only checks changed files.
# It also reads the libraries that a script includes, so a change of a library
# counts as a change of all files.
scripts()
{
	# shellcheck disable=SC2046
	sources selftests .ci userspace tc-plugin contrib debian |
		grep -E '\.(ba)?sh$|\.ci/run$|/iqcn-(qdisc|senders)$|\.prerm$' |
		changed shellcheck $(sources selftests tc-plugin userspace |
			grep -E '/lib[a-z-]*\.sh$|/iqcn\.bash$') |
		xargs -r shellcheck -S warning -x -P SCRIPTDIR -e SC1091,SC2034 &&
		passed shellcheck
}

echo "TAP version 13"
[ -n "$fast" ] || { quiet sparse; result $? "sparse"; }
quiet kernel_doc; result $? "kernel-doc"
quiet check_patch; result $? "checkpatch --strict"
quiet plugin_symbols; result $? "symbols of the plugin are tc's"
quiet compat_only; result $? "versions and features only in compat/"
quiet call_graph; result $? "no large loop in the call graph"
quiet man_pages; result $? "man pages"
quiet kernel_options; result $? "dkms.conf and Kconfig allow the same kernels"
quiet spec; result $? "the netlink specification agrees with the headers"
quiet parameters; result $? "the table of parameters agrees with the documents"
quiet abi; result $? "sysfs, debugfs and counters are documented"
quiet rst; result $? "documents parse, and the files that they refer to exist"
quiet names; result $? "names in documents are in the sources"
quiet versions; result $? "versions agree"
quiet maintainers; result $? "every file has a section in MAINTAINERS"
quiet empty_files; result $? "no file is empty"
quiet functions_once; result $? "no function of a script is defined twice"
quiet tests_listed; result $? "every test is in a list"
quiet left_out_exist; result $? "tests that a kernel leaves out exist"
quiet files_listed; result $? "every file of tests is in a step"
quiet survivors; result $? "survivors of make mutants are mutants"
quiet readme; result $? "README.md is short"
quiet wide_comments; result $? "comments have at most 80 columns"
quiet scripts; result $? "shellcheck"
echo "1..$n"
exit $failed
