#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in User Mode Linux: run a command in the root of a distribution.
#
#   chroot.sh ROOT TREE COMMAND...	TREE is mounted on /mnt
set -e

root=$1
mount --bind "$2" "$root/mnt"
shift 2
mount -t proc proc "$root/proc"
mount -t devtmpfs dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/usr/sbin HOME=/tmp LC_ALL=C "$@"
