#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in a kernel of the lab: load KUnit modules, whose KTAP is in the kernel
# log.
#
#   kunit.sh MODULE...
for module; do
	insmod "$module" || exit 1
done
# results and failed expectations, without timestamps
dmesg | sed 's/^\[[^]]*\] //' | grep -E '^ *(not )?ok |^ *# .*(EXPECT|ASSERT|Expected)'
! dmesg | grep -q 'not ok ' && dmesg | grep -Eq '\] ok [0-9]+ '
