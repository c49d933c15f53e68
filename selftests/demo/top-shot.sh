#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Make Documentation/top.png: iqcn top in a terminal while a scenario runs.
#
#   top-shot.sh [VARIANT [SCENARIO [FILE]]]
#
# Requires the packages xterm, xvfb, imagemagick and fonts-dejavu-core, in
# addition to the packages of the lab.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
variant=${1:-wreb} scenario=${2:-incast-512}
out=${3:-$TOP/Documentation/top.png}
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT

# 20 ms of virtual time take long enough for a screenshot
command="$TOP/build/iqcn top --interval 20ms"

Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp \
	3>"$work/display" 2>/dev/null &
until [ -s "$work/display" ]; do
	sleep 0.1
done
DISPLAY=:$(<"$work/display")
export DISPLAY

xterm -fa 'DejaVu Sans Mono' -fs 9 -geometry 104x32+0+0 -b 4 +sb \
	-bg black -fg gray90 \
	-e "$TOP/selftests/scenarios/scenarios.sh" -w "$command" -v "$variant" \
	"$scenario" &
xterm=$!
n=0
while kill -0 $xterm 2>/dev/null; do
	sleep 0.5
	import -window root "$work/$n.png"
	import -window root "$work/again.png"
	# two equal shots are not in the middle of a redraw; red marks
	# congestion
	compare -metric AE "$work/$n.png" "$work/again.png" null: 2>/dev/null &&
		[[ $(convert "$work/$n.png" -unique-colors txt:-) == *CD0000* ]] &&
		n=$((n + 1))
done
# use the screenshot at two thirds of those taken
[ "$n" -gt 0 ] || { echo "top-shot: no screenshot shows congestion" >&2; exit 1; }
convert "$work/$((n * 2 / 3)).png" -trim -bordercolor black -border 4 \
	-strip -colors 32 -define png:compression-level=9 "$out"
