#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# init of every kernel in the lab: mounts file systems, runs the command in the
# file "cmd", checks the log for splats, prints the verdict and powers off.  The
# command's output goes to the console.
#
# "cmd" is in the directory $1.  User Mode Linux passes no $1: there it is in
# the directory in which User Mode Linux was started.  /proc is still the host's
# when this script begins, so /proc/self/cwd is that directory.
#
# The file "places" next to "cmd" has lines "PLACE DIRECTORY" (lib-boot.sh):
# DIRECTORY is bind-mounted on PLACE, and the first line is this tree.  Only the
# bind mounts use the names of the directories, in one system call each, because
# the clock must not depend on the length of a name.
#
# "busybox mount": the host's mount resolves each component of a name, and it
# looks for the host's /run/systemd/systemd-units-load.  Random numbers would
# depend on both.

run=${1:-$(readlink /proc/self/cwd)}
if [ -e "$run/places" ]; then
	read -r place _ <"$run/places"
	lab=$place/selftests/lab
else
	lab=$(dirname "$(readlink -f "$0")")
fi
export HOME=/run TERM=${TERM:-linux}
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs dev /dev 2>/dev/null
busybox mount -t debugfs debugfs /sys/kernel/debug
busybox mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
busybox mount -t tmpfs tmpfs /run
mkdir -p /run/netns /run/lock
# root has only the permissions of the host's user who booted this kernel, so
# temporary files are in the tmpfs
export TMPDIR=/run
# hide the modules of the host's kernel
if [ ! -d "/lib/modules/$(uname -r)" ]; then
	busybox mount -t tmpfs tmpfs /usr/lib/modules &&
		mkdir -p "/usr/lib/modules/$(uname -r)"
fi
if [ -e "$run/places" ]; then
	while read -r place dir; do
		mkdir -p "$place" && busybox mount --bind "$dir" "$place"
	done <"$run/places"
fi
exec </dev/null >/dev/console 2>&1

ip link set lo up
# messages that precede the command are not the module's
dmesg -C
# the log is checked at the end; the console is for the command's output
dmesg -n 1

# watch SECONDS: after that time print what still runs, and its kernel stacks
watch()
{
	local p

	sleep "$1"
	echo "lab: after $1 s there are still"
	for p in /proc/[0-9]*; do
		# kernel threads have no command line
		[ -z "$(tr -d '\0' <"$p/cmdline")" ] || {
			echo "${p#/proc/}: $(tr '\0' ' ' <"$p/cmdline")"
			cat "$p/stack"
		}
	done 2>/dev/null
	dmesg | tail -n 100
}

watch_s=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^lab.watch=//p')
[ -z "$watch_s" ] || watch "$watch_s" &

# shellcheck disable=SC1091
(. "$run/cmd")
rc=$?

# shellcheck source=selftests/lab/lib-splats.sh
. "$lab/lib-splats.sh"
# Scan twice: a pointer may be in a register during the first scan
if [ -w /sys/kernel/debug/kmemleak ]; then
	for _ in 1 2; do
		sleep 6
		# fails with kmemleak=off
		echo scan 2>/dev/null >/sys/kernel/debug/kmemleak
	done
	# grep fails if there are no leaks
	if leaks | grep .; then
		leaked=1
	fi
fi
if dmesg | grep -Eq "$SPLATS" || [ -n "${leaked-}" ]; then
	echo "lab: the kernel's log has a splat:"
	dmesg | grep -E -B 5 -A 60 "$SPLATS" | head -n 200
	rc=99
fi
echo "@@lab-exit $rc@@"
sync
# init must not exit before the machine powers off
busybox poweroff -f
sleep 10
