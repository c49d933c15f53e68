#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What can be said of the sources without running them.  KTAP.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
cd "$TOP" || exit 1
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
source_tree=$("$LAB" source) || exit 1

n=0 failed=0
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n $2"
	else
		echo "not ok $n $2"
		failed=1
	fi
}

# quiet COMMAND...: succeeds and says nothing
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

# warnings of the compiler (W=1) and of sparse, kernel-doc among them
build_warnings()
{
	local rc=0 dir

	cp -a kmod "$WORK/kmod" && cp -a selftests/rocehost "$WORK/kmod/" ||
		return 1
	for dir in kmod kmod/rocehost; do
		"$LAB" make stock -s M="$WORK/$dir" W=1 C=2 \
			KBUILD_MODPOST_WARN= modules 2>&1 |
			grep -E 'warning|error' | sed "s|$WORK/||"
		[ "${PIPESTATUS[0]}" = 0 ] || rc=1
	done
	return $rc
}

kernel_doc()
{
	"$source_tree/scripts/kernel-doc" -none -Wall kmod/*.[ch] \
		kmod/include/uapi/linux/*.h selftests/rocehost/*.[ch] 2>&1 |
		grep -vE 'warning: no structured comments found' |
		grep warning
	true
}

# Exceptions, each with its reason, are in checkpatch.ignore
check_patch()
{
	awk '/^[^ ]+ [A-Z_]+ / { print "^" $1 ":[0-9]+: [A-Z]+:" $2 ":" }' \
		selftests/checkpatch.ignore >"$WORK/exceptions"
	# shellcheck disable=SC2046
	# elsewhere, for it leaves a file where it runs
	(cd "$WORK" && "$source_tree/scripts/checkpatch.pl" --strict \
		--root="$source_tree" --terse -q --show-types --no-summary -f \
		$(cd "$TOP" && sources kmod tc-plugin userspace selftests |
			grep '\.[ch]$' | sed "s|^|$TOP/|")) |
		sed "s|^$TOP/||" | grep -vEf "$WORK/exceptions"
	true
}

# A missing function fails when it is called, a missing variable keeps the
# plugin from being loaded
plugin_symbols()
{
	comm -23 <(nm -D --undefined-only build/q_iqcn.so |
			awk '$1 == "U" { sub("@.*", "", $2); print $2 }' | sort) \
		<({ nm -D --defined-only "$(command -v tc || echo /sbin/tc)"
		    nm -D --defined-only /lib/*-linux-gnu/libc.so.6
		  } | awk '{ sub("@.*", "", $3); print $3 }' | sort)
	nm -D --undefined-only build/q_iqcn.so | awk '$1 == "V" || $1 == "v"'
	[[ $(TC_LIB_DIR=build tc qdisc add dev lo root iqcn help 2>&1) == \
		"Usage: ... iqcn"* ]] || echo "tc does not find the plugin"
}

# No test of a version or a feature but in compat/
compat_only()
{
	# shellcheck disable=SC2046
	grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION|IQCN_HAVE_' \
		$(sources kmod | grep -v '^kmod/compat/')
	true
}

# One obj- line and one source line, and kbuild does the rest
in_tree()
{
	local tree=$WORK/tree out=$WORK/out

	mkdir -p "$tree/net/sched" "$out"
	# links, but for what is changed
	cp -rs "$source_tree/." "$tree" &&
		rm "$tree/net/sched/Kconfig" "$tree/net/sched/Makefile" &&
		cp "$source_tree"/net/sched/{Kconfig,Makefile} "$tree/net/sched" &&
		cp -r kmod "$tree/net/sched/iqcn" &&
		sed -i 's|^config NET_SCH_SFQ$|source "net/sched/iqcn/Kconfig"\n\n&|' \
			"$tree/net/sched/Kconfig" &&
		echo 'obj-$(CONFIG_NET_SCH_IQCN) += iqcn/' \
			>>"$tree/net/sched/Makefile" || return 1
	{
		cat selftests/lab/uml.config
		echo CONFIG_NET_SCH_IQCN=y
	} >"$WORK/in-tree.config"
	if make -s -C "$tree" ARCH=um O="$out" \
		KCONFIG_ALLCONFIG="$WORK/in-tree.config" allnoconfig \
		>"$WORK/in-tree.log" 2>&1 &&
		make -s -C "$tree" ARCH=um O="$out" -j2 net/sched/iqcn/ \
			>>"$WORK/in-tree.log" 2>&1 &&
		[[ $(nm "$out/net/sched/iqcn/built-in.a" 2>&1) == *iqcn_enqueue* ]]
	then
		return
	fi
	tail -n 10 "$WORK/in-tree.log"
	return 1
}

man_pages()
{
	local f

	for f in Documentation/man/*.8; do
		man --warnings -l "$f" 2>&1 >/dev/null | grep -v locale
	done
	true
}

# The later one takes the place of the former, and shellcheck is silent
functions_once()
{
	local f

	for f in $(sources selftests | grep '\.sh$'); do
		grep -oE '^[a-z_0-9]+\(\)$' "$f" | sort | uniq -d | sed "s|^|$f: |"
	done
	true
}

scripts()
{
	# shellcheck disable=SC2046
	shellcheck -S warning -x -P SCRIPTDIR -e SC1091,SC2034 $(sources selftests .ci |
		grep -E '\.sh$|\.ci/run$')
}

echo "TAP version 13"
quiet build_warnings; result $? "W=1 and sparse"
quiet kernel_doc; result $? "kernel-doc"
quiet check_patch; result $? "checkpatch --strict"
quiet plugin_symbols; result $? "symbols of the plugin are tc's"
quiet compat_only; result $? "versions and features only in compat/"
quiet in_tree; result $? "builds inside a kernel tree"
quiet man_pages; result $? "man pages"
quiet functions_once; result $? "no function of a script is defined twice"
quiet scripts; result $? "shellcheck"
echo "1..$n"
exit $failed
