#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# init of every kernel in the lab: mounts, runs the command in a file "cmd",
# looks for splats, says how it ended and powers off.  What the command prints
# goes to the console.
#
# The file's directory is $1, or else the one that User Mode Linux was started
# in: /proc is still the machine's.
#
# A file "places" beside it has lines "PLACE DIRECTORY" (lib-boot.sh): DIRECTORY is
# bound to PLACE, and the first one is this tree.  Only the bind mounts take the name
# of DIRECTORY, in one system call each: the clock must not depend on its length.

run=${1:-$(readlink /proc/self/cwd)}
if [ -e "$run/places" ]; then
	read -r place _ <"$run/places"
	lab=$place/selftests/lab
else
	lab=$(dirname "$(readlink -f "$0")")
fi
export HOME=/tmp TERM=${TERM:-linux}
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
mount -t tmpfs tmpfs /run
mkdir -p /run/netns /run/lock
# on the machine's file system root is only who booted this
export TMPDIR=/run
# modules are the lab's, not those of the machine's kernel
if [ ! -d "/lib/modules/$(uname -r)" ]; then
	mount -t tmpfs tmpfs /usr/lib/modules &&
		mkdir -p "/usr/lib/modules/$(uname -r)"
fi
if [ -e "$run/places" ]; then
	while read -r place dir; do
		# the machine's mount resolves each component of the name by itself
		mkdir -p "$place" && busybox mount --bind "$dir" "$place"
	done <"$run/places"
fi
exec </dev/null >/dev/console 2>&1

ip link set lo up
# a word in the log is no splat of ours if it is older than we are
dmesg -C
# the log is looked at in the end; the console is for the command
dmesg -n 1

# watch SECONDS: what still runs then, and what it waits for
watch()
{
	local p

	sleep "$1"
	echo "lab: after $1 s there are still"
	for p in /proc/[0-9]*; do
		# a kernel's thread has no command
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
# Two scans: a pointer may be on its way during the first.
if [ -w /sys/kernel/debug/kmemleak ]; then
	for _ in 1 2; do
		sleep 6
		# in vain where kmemleak=off
		echo scan 2>/dev/null >/sys/kernel/debug/kmemleak
	done
	# the file has no size
	if grep . /sys/kernel/debug/kmemleak; then
		leaks=1
	fi
fi
if dmesg | grep -Eq "$SPLATS" || [ -n "${leaks-}" ]; then
	echo "lab: the kernel's log has a splat:"
	dmesg | grep -E -B 5 -A 60 "$SPLATS" | head -n 200
	rc=99
fi
echo "@@lab-exit $rc@@"
sync
# init must not end before the machine does
busybox poweroff -f
sleep 10
