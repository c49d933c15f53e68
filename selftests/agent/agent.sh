#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Train policies for iqcn agent, and test the learner:
#
#   agent.sh train --out POLICY [--curve FILE.svg|FILE.png] [--steps N]
#		[--seed N] [--reward few|literal] [--reference N] [--jobs N]
#				train in the lab, after "make lab-uml" (train.py)
#   agent.sh golden POLICY [SEED]
#				print states and PyTorch's values (golden.py)
#   agent.sh compare		compare the values of iqcn agent eval with those of
#				PyTorch in golden.csv.  KTAP.
#   agent.sh test [lab]	test the learner; "lab": also in the lab (test.py)
#
# Requires Debian's python3-torch and python3-matplotlib, except for "compare".
set -u

HERE=$(cd "$(dirname "$0")" && pwd)

# Check that the values differ by at most 1e-6, relative to the absolute value
# of PyTorch's, or to 1 if that absolute value is less than 1
compare()
{
	local top=$HERE/../.. worst

	worst=$(tail -n +2 "$HERE/golden.csv" | cut -d, -f 1-26 |
		"$top/build/iqcn" agent eval \
			--policy "$top/contrib/agent/long-haul.policy" |
		paste -d, <(tail -n +2 "$HERE/golden.csv" | cut -d, -f 27-) - |
		awk -F, '
		NF != 50 { exit }
		{
			n++
			for (i = 1; i <= 25; i++) {
				by = $i > 1 ? $i : $i < -1 ? -$i : 1
				d = ($i - $(i + 25)) / by
				d = d < 0 ? -d : d
				worst = d > worst ? d : worst
			}
		}
		END { print n == 50 ? worst + 0 : 1 }')
	echo "TAP version 13"
	echo "1..1"
	echo "# largest difference: $worst"
	if awk -v worst="$worst" 'BEGIN { exit !(worst <= 1e-6) }'; then
		echo "ok 1 agent: values match those of PyTorch"
	else
		echo "not ok 1 agent: values match those of PyTorch"
		return 1
	fi
}

case ${1-} in
compare)
	compare
	exit
	;;
train | golden | test) ;;
*)
	sed -n '3,/^set -u/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
# write no bytecode into the source tree; use Debian's interpreter
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$HERE/$1.py" "${@:2}"
