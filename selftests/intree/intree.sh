#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Build kmod/ inside a kernel tree, as the top-level Kconfig describes: in Linux
# 6.1 with the configuration of the lab's User Mode Linux and make W=1, built in
# and as a module.  KTAP.
#
# The tree consists of symbolic links to the lab's sources, and its output goes
# to a directory of its own, so the lab's kernels do not change.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
cd "$TOP" || exit 1
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
TREE=$WORK/tree
OUT=$WORK/out
DIR=net/sched/iqcn

# a calling make must not pass its flags and variables to ours
unset MAKEFLAGS MFLAGS MAKEOVERRIDES

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"

# logged COMMAND...: run a command, and print its output only if it fails
logged()
{
	"$@" >"$WORK/log" 2>&1 && return
	tail -n 30 "$WORK/log" | sed "s|$WORK/||g; s/^/# /"
	return 1
}

# kbuild TARGET...
kbuild()
{
	make -s -C "$TREE" ARCH=um O="$OUT" W=1 -j"$(nproc)" "$@"
}

# Create the tree.  The two files that a patch would change are copies, not
# links.
make_tree()
{
	local source_tree

	source_tree=$("$LAB" source) && mkdir -p "$TREE" "$OUT" &&
		cp -rs "$source_tree/." "$TREE" || return
	cp --remove-destination "$source_tree"/net/sched/{Kconfig,Makefile} \
		"$TREE/net/sched" && cp -r kmod "$TREE/$DIR" &&
		sed -i "0,/^config NET_SCH_/s|^config|source \"$DIR/Kconfig\"\n\n&|" \
			"$TREE/net/sched/Kconfig" &&
		echo 'obj-$(CONFIG_NET_SCH_IQCN) += iqcn/' \
			>>"$TREE/net/sched/Makefile"
}

# configure VALUE: y or m, which Kconfig must accept for both options
configure()
{
	local option

	{
		cat selftests/lab/uml.config
		echo "CONFIG_NET_SCH_IQCN=$1"
		echo "CONFIG_NET_SCH_IQCN_KUNIT_TEST=$1"
	} >"$WORK/config"
	kbuild KCONFIG_ALLCONFIG="$WORK/config" allnoconfig || return
	for option in NET_SCH_IQCN NET_SCH_IQCN_KUNIT_TEST; do
		grep -qx "CONFIG_$option=$1" "$OUT/.config" || {
			echo "Kconfig refuses CONFIG_$option=$1"
			return 1
		}
	done
}

# Build our directory, and fail if there are warnings about our files.  W=1 also
# reports warnings about the kernel's own files, which are ignored.
builds()
{
	local rc=0

	kbuild $DIR/ >"$WORK/build" 2>&1 || rc=1
	[ $rc = 0 ] || tail -n 20 "$WORK/build"
	! grep -E "$DIR/.*(warning|error):" "$WORK/build" && return $rc
}

built_in()
{
	nm "$OUT/$DIR/built-in.a" | grep -w iqcn_init
}

# links KERNEL: check that modpost resolves the module's symbols in vmlinux.o of
# that build, and that the module is marked as in-tree
links()
{
	ln -s "$1/vmlinux.o" "$OUT/vmlinux.o" && kbuild $DIR/sch_iqcn.ko &&
		/sbin/modinfo -F intree "$OUT/$DIR/sch_iqcn.ko" | grep -qx Y
}

# Check the top-level Kconfig with stubs of the options that kmod/Kconfig
# depends on
top_kconfig()
(
	mkdir "$WORK/kconfig" && cd "$WORK/kconfig" || exit
	for option in NET_SCHED INET NETFILTER_INGRESS 64BIT KUNIT CRC32; do
		printf 'config %s\n\tdef_bool y\n' $option
	done >Stubs
	printf 'config MODULES\n\tdef_bool y\n\tmodules\n' >>Stubs
	echo 'source "Kconfig"' >>Stubs
	srctree=$TOP "$OUT/scripts/kconfig/conf" --allmodconfig Stubs &&
		grep -x CONFIG_NET_SCH_IQCN=m .config &&
		grep -x CONFIG_NET_SCH_IQCN_KUNIT_TEST=m .config
)

echo "TAP version 13"
logged make_tree
result $? "the kernel tree takes two lines"
logged configure y && logged builds && logged built_in
result $? "built in, make W=1"
logged configure m && logged builds
result $? "as a module, make W=1"
kernel=$(dirname "$("$LAB" source)")/$("$LAB" key uml)
if [ -e "$kernel/vmlinux.o" ]; then
	logged links "$kernel"
	result $? "the module links"
else
	result 0 "the module links # SKIP the lab's kernel is not built"
fi
logged top_kconfig
result $? "the top-level Kconfig has the options"
echo "1..$n"
exit $failed
