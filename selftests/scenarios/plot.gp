# SPDX-License-Identifier: GPL-2.0
#
# A scenario over time: queue, utilization, CNPs, and rates of traced flows; one
# color per variant.
# Variables: kmax, count, duration, traced, kind; from the environment: TITLE,
# DIR, VARIANTS, OUTPUT (see scenarios.sh)

variants = system("echo $VARIANTS")
dir = system("echo $DIR")

panels = traced ? 4 : 3
if (kind eq "svg") {
	set terminal svg size 1000, 300 * panels font "sans,14" background "white"
} else {
	set terminal pngcairo size 1000, 300 * panels font "sans,11"
}
set output system("echo $OUTPUT")
set datafile separator ","
n = words(variants)
array colors[7] = ["#e69f00", "#009e73", "#f0e442", "#999999", "#cc79a7", "#d55e00", "#0072b2"]
# color the variants from the last one backwards, so that the last one has the
# same color everywhere
color(i) = colors[(i - n + 6) % 7 + 1]
file(i) = dir . "/" . word(variants, i) . "/series.csv"
rates(i) = dir . "/" . word(variants, i) . "/rates.csv"

set xrange [0:duration]
set multiplot layout panels, 1 title system("echo $TITLE") font ",16"
set lmargin 11
set rmargin 3
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set key outside top right horizontal
# start of the counted time
set arrow 1 from count, graph 0 to count, graph 1 nohead dt 2 lc rgb "#888888"

set ylabel "queue (most), MB"
set yrange [0:*]
set arrow 2 from graph 0, first kmax / 1e6 to graph 1, first kmax / 1e6 nohead dt 3 lc rgb "#000000"
set label 2 "Kmax" at graph 0.005, first kmax / 1e6 offset 0, 0.4 font ",10"
plot for [i = 1:n] file(i) using 1:($3 / 1e6) skip 1 with lines lw 2 lc rgb color(i) title word(variants, i)
unset arrow 2
unset label 2
unset key

set ylabel "utilization"
set yrange [0:1.05]
plot for [i = 1:n] file(i) using 1:4 skip 1 with lines lw 2 lc rgb color(i) notitle

if (traced) {
	set ylabel "rate of a flow, Mb/s"
	set yrange [1:*]
	set logscale y
	set key inside top right
	plot for [i = 1:n] rates(i) using 1:2 with steps lw 1 lc rgb color(i) notitle, \
	     for [i = 1:n] rates(i) using 1:3 with points pt 7 ps 0.4 lc rgb color(i) title word(variants, i) . ", raised above Kmax"
	unset logscale y
}

set ylabel "CNPs, thousands"
set xlabel "ms"
set yrange [0:*]
set key inside top left
plot for [i = 1:n] file(i) using 1:(($5 + $6) / 1e3) skip 1 with lines lw 2 lc rgb color(i) title word(variants, i) . ", all", \
     for [i = n:n] file(i) using 1:($6 / 1e3) skip 1 with lines lw 2 dt 2 lc rgb color(i) title word(variants, i) . ", the box's"
unset multiplot
