#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a kernel of the lab: KUnit.  The kernel prints KTAP into its log.
#
#   kunit.sh MODULE...
for module; do
	insmod "$module" || exit 1
done
# lines of the log without their time, suites and cases
dmesg | sed 's/^\[[^]]*\] //' | grep -E '^ *(not )?ok |^ *# .*(EXPECT|ASSERT|Expected)'
! dmesg | grep -q 'not ok ' && dmesg | grep -Eq '\] ok [0-9]+ '
