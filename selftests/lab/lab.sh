#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The lab: kernels to run the module in, wherever this is run.
#
#   lab.sh build KERNEL		build or fetch it, print nothing but progress
#   lab.sh make KERNEL ARG...	make against it, out of tree
#   lab.sh source		unpack Linux's sources, print where they are
#   lab.sh ynl			fetch Linux's generic netlink client, print where
#				it is
#   lab.sh tdc			fetch the tests of Linux's tc, print where they are
#   lab.sh key KERNEL		what tells this build of it from another
#   lab.sh in KERNEL COMMAND...	run it in the root of that kernel's distribution
#				(bookworm, backports, sid), this tree being /mnt
#   lab.sh renew KERNEL		forget that root, or those sources: build gets the
#				newest packages
#   lab.sh run KERNEL [-w] [-t] [-c] [-m MB] [-k MODULE] [-s SEED] [-o DIR]
#				SCRIPT [ARG...]
#				boot it and run SCRIPT in it, as root, on the
#				machine's own file system; exit as SCRIPT does,
#				or 99 if the kernel's log has a splat; -k: with
#				MODULE among those that it loads by itself (QEMU);
#				-c: its clock counts instructions (QEMU);
#				-s: all that is random in it comes from SEED (uml),
#				this tree is /run/sch_iqcn there, DIR /run/out,
#				and PATH is the lab's own;
#				-t: its /dev/tty1 is this terminal (uml)
#   lab.sh packages PURPOSE	install what is missing: lab, check
#
# KERNEL:
#   uml		User Mode Linux 6.1 with virtual time; -w: the machine's time
#   uml-debug	the same with KASAN, lockdep, kmemleak and the like
#   uml-cov	the same with counts of the lines of the module that have run
#   uml-preempt	User Mode Linux 6.12 with preemption, lockdep and looks for what sleeps
#		where it must not
#   uml-smp	User Mode Linux 7.2 with two CPUs, KASAN, DEBUG_OBJECTS and the like; always -w
#   x86-kcsan	Linux 6.12 with two CPUs in QEMU, which looks for data races in our modules;
#		the machine's file system as of stock
#   stock	Debian's kernel 6.1 in QEMU; the file system is a copy-on-write
#		view: nothing that SCRIPT writes stays
#   bookworm, backports, sid
#		Debian's kernels 6.1, 6.12 and 7.2 in QEMU, each with its own release's
#		compiler, headers, libraries and tc as file system, and this tree
#
# Kernels live in $IQCN_CACHE (default ~/.cache/sch_iqcn), by version and
# configuration, and are built once.
set -u -o pipefail

# a make that calls this has its own ideas of silence and jobs
unset MAKEFLAGS MFLAGS

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$LAB/../.." && pwd)
LAB_CACHE=${IQCN_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/sch_iqcn}
mkdir -p "$LAB_CACHE" || exit 1

# shellcheck source=selftests/lab/lib-packages.sh
. "$LAB/lib-packages.sh"
# shellcheck source=selftests/lab/lib-kernels.sh
. "$LAB/lib-kernels.sh"
# shellcheck source=selftests/lab/lib-apt.sh
. "$LAB/lib-apt.sh"
# shellcheck source=selftests/lab/lib-distros.sh
. "$LAB/lib-distros.sh"
# shellcheck source=selftests/lab/lib-tree.sh
. "$LAB/lib-tree.sh"
# shellcheck source=selftests/lab/lib-qemu.sh
. "$LAB/lib-qemu.sh"
# shellcheck source=selftests/lab/lib-boot.sh
. "$LAB/lib-boot.sh"

usage()
{
	sed -n '3,/^set -u/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" |
		grep -v '^set' >&2
	exit 2
}

[ $# -ge 1 ] || usage
cmd=$1
shift
case $cmd in
packages)
	case ${1-} in
	lab) pkgs_need "$PKGS_LAB" ;;
	check) pkgs_need "$PKGS_CHECK" ;;
	*) usage ;;
	esac
	;;
build)
	[ $# = 1 ] || usage
	kernel_build "$1"
	;;
source)
	[ $# = 0 ] || usage
	source_unpack
	source_dir
	;;
ynl)
	[ $# = 0 ] || usage
	ynl_fetch
	;;
tdc)
	[ $# = 0 ] || usage
	tdc_fetch
	;;
key)
	[ $# = 1 ] || usage
	kernel_key "$1"
	;;
in)
	[ $# -ge 2 ] || usage
	distro_run "$@"
	;;
renew)
	[ $# = 1 ] || usage
	kernel_renew "$1"
	;;
make)
	[ $# -ge 1 ] || usage
	kernel=$1
	shift
	kernel_make "$kernel" "$@"
	;;
run)
	[ $# -ge 2 ] || usage
	lab_run "$@"
	;;
*)
	usage
	;;
esac
