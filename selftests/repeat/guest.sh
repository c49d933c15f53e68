#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the lab: print everything that figures could depend on.
#
#   guest.sh NAME...
#
# Programs in a guest may resolve path names, so this script resolves all path
# names that it has.
set -u -o pipefail

# the seed differs between the runs, but nothing that is measured here reads it
unset IQCN_SEED
env | sort
echo "working directory: $PWD"
for name in "$0" "$PWD" "$@" "$IQCN_YNL" "$IQCN_TDC" "$LAB_MODULES"; do
	readlink -f "$name"
done
echo "clock: $EPOCHREALTIME"
grep -E '^(ctxt|processes)' /proc/stat
echo "random: $(head -c 16 /dev/urandom | od -A n -t x1)"
