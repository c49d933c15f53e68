#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Learn policies for iqcn agent:
#
#   agent.sh train --out POLICY [--curve FILE.svg] [--steps N] [--seed N]
#		[--reward few|literal] [--reference N] [--jobs N]
#				train in the lab, after "make lab-uml" (train.py)
#   agent.sh golden POLICY [SEED]
#				print states and PyTorch's values (golden.py)
#   agent.sh test [lab]	test the learner; "lab": in the lab, too (test.py)
#
# Requires Debian's python3-torch and python3-matplotlib.
set -u

HERE=$(cd "$(dirname "$0")" && pwd)

case ${1-} in
train | golden | test) ;;
*)
	sed -n '3,/^set -u/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
# no files of the interpreter among the sources; Debian's interpreter
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$HERE/$1.py" "${@:2}"
