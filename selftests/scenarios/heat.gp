# SPDX-License-Identifier: GPL-2.0
#
# A network over time: the color is the depth of the deepest queue of each
# switch.  A dot marks a step in which the pauses of the switch's ports add up
# to more than a tenth of the step.  One panel per variant.
# Variables: duration, kind; from the environment: TITLE, DIR, VARIANTS, OUTPUT
# (see scenarios.sh)

variants = system("echo $VARIANTS")
dir = system("echo $DIR")
n = words(variants)

if (kind eq "svg") {
	set terminal svg size 1000, 320 * n font "sans,14" background "white"
} else {
	set terminal pngcairo size 1000, 320 * n font "sans,11"
}
set output system("echo $OUTPUT")
file(i) = dir . "/" . word(variants, i) . "/heat.csv"
names = system("cat " . dir . "/" . word(variants, 1) . "/fabric/switches")
n_rows = words(names)
# few switches: a label for each; otherwise a label where the kind of switch
# changes
set ytics ()
tier(i) = substr(word(names, i), 1, 1)
do for [i = 1:n_rows] {
	if (n_rows <= 8 || i == 1 || i > 1 && tier(i) ne tier(i - 1)) {
		set ytics add (word(names, i) i - 1)
	}
}

set datafile separator ","
# the same colors and times for all variants, until the last queue is empty
most = 0
last = 0
do for [i = 1:n] {
	stats file(i) using 3 skip 1 nooutput
	most = STATS_max > most ? STATS_max : most
	stats file(i) using ($3 > 0 ? $1 : 0) skip 1 nooutput
	last = STATS_max > last ? STATS_max : last
}
# a range must not be empty
set cbrange [0:most > 0 ? most / 1e6 : 1]
set palette defined (0 "#ffffff", 0.02 "#fff3c4", 0.2 "#f5a623", 1 "#7f1d1d")
set cblabel "deepest queue, MB"
set xrange [0:last > 0 ? last : duration]
set yrange [n_rows - 0.5:-0.5]
set tics nomirror out
set key tmargin right
set multiplot layout n, 1 title system("echo $TITLE") font ",16"
do for [i = 1:n] {
	set title word(variants, i)
	set xlabel i == n ? "ms" : ""
	plot file(i) using 1:2:($3 / 1e6) skip 1 with image notitle, \
	     file(i) using 1:($4 > duration * 1e6 / 200 / 10 ? $2 : NaN) skip 1 \
		with points pt 7 ps 0.25 lc rgb "#0072b2" \
		title i == 1 ? "ports paused" : ""
}
unset multiplot
