#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The lab: builds and boots kernels to run the module in, on any machine.
#
#   lab.sh build KERNEL		build or fetch a kernel, print only progress
#   lab.sh make KERNEL ARG...	run make against it, out of tree
#   lab.sh source		unpack Linux's sources, print their directory
#   lab.sh ynl			fetch Linux's generic netlink client, print its
#				directory
#   lab.sh tdc			fetch the tests of Linux's tc, print their
#				directory
#   lab.sh key KERNEL		print what distinguishes builds of a kernel
#   lab.sh in KERNEL COMMAND...	run a command in the root of that kernel's
#				distribution (bookworm, backports, sid), with
#				this tree on /mnt
#   lab.sh renew KERNEL		delete the root of that distribution, or
#				the sources fetched for that kernel: the next
#				build fetches the newest packages
#   lab.sh run KERNEL [-w] [-t] [-c] [-m MB] [-k MODULE] [-s SEED] [-o DIR]
#				SCRIPT [ARG...]
#				boot a kernel and run SCRIPT in it as root, on
#				the host's own file system; exit as SCRIPT does,
#				or with 99 if the kernel log has a splat.
#				-k: add MODULE to the modules that the kernel
#				loads by name (QEMU);
#				-c: the clock counts instructions (QEMU);
#				-s: all random values follow from SEED, this
#				tree is /run/sch_iqcn, DIR is /run/out, and PATH
#				is the lab's own (uml);
#				-t: /dev/tty1 is this terminal (uml)
#   lab.sh packages PURPOSE	install missing packages: lab, check, agent
#
# KERNEL:
#   uml		User Mode Linux 6.1 with virtual time; -w: with the host's time
#   uml-debug	the same with KASAN, lockdep, kmemleak and similar options
#   uml-cov	the same with coverage of the module's lines
#   uml-preempt	User Mode Linux 6.12 with preemption, lockdep and checks for
#		sleeping in atomic context
#   uml-smp	User Mode Linux 7.2 with two CPUs, KASAN, DEBUG_OBJECTS and
#		similar options; always with the host's time
#   x86-kcsan	Linux 6.12 with two CPUs in QEMU, with KCSAN for our modules;
#		file system as with stock
#   stock	Debian's kernel 6.1 in QEMU; the file system is a copy-on-write
#		view of the host's, and changes are lost
#   bookworm, backports, sid
#		Debian's kernels 6.1, 6.12 and 7.2 in QEMU; the file system has
#		the compiler, headers, libraries and tc of the release, and
#		this tree
#
# Kernels are in $IQCN_CACHE (default ~/.cache/sch_iqcn), by version and
# configuration, and are built once.
set -u -o pipefail

# a calling make must not pass its flags and jobserver to ours
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
	agent) pkgs_need "$PKGS_AGENT" ;;
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
