#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# /init of stock and x86-kcsan in QEMU: mounts the host's file system over 9p as
# root, below a tmpfs that takes all writes.

bb=/bin/busybox
$bb mount -t proc proc /proc
$bb mount -t sysfs sysfs /sys
$bb mount -t devtmpfs dev /dev

param()
{
	$bb tr ' ' '\n' </proc/cmdline | $bb sed -n "s|^$1=||p"
}

if $bb grep -qw lab.probe /proc/cmdline; then
	echo '@@lab-probe@@'
	$bb poweroff -f
fi

while read -r m; do
	$bb insmod "/lib/$m"
done </lib/order

over="trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro"
$bb mount -t 9p -o "$over" host /lower || $bb poweroff -f
$bb mount -t tmpfs tmpfs /rw
$bb mkdir /rw/upper /rw/work
$bb mount -t overlay -o lowerdir=/lower,upperdir=/rw/upper,workdir=/rw/work \
	overlay /new || $bb poweroff -f

# this kernel's modules, if given, are writable like the rest
modules=$(param lab.modules)
if [ -n "$modules" ]; then
	$bb mkdir /rw/modules-upper /rw/modules-work
	$bb mount -t overlay -o "lowerdir=/lower$modules,upperdir=/rw/modules-upper,workdir=/rw/modules-work" \
		overlay /new/usr/lib/modules
fi

init=$(param lab.init) run=$(param lab.run)
$bb umount /proc /sys
$bb mount -o move /dev /new/dev
exec $bb switch_root /new "$init" "$run"
