# SPDX-License-Identifier: GPL-2.0
#
# Methods: queue and utilization, one panel per scenario.  Color: how congestion
# is detected; shape: what triggers CNPs; size: the start of T1.
# Variables: kind; from the environment: DATA, OUTPUT (see methods.sh)

data = system("echo $DATA")
# distinct values of a column, in order of appearance
values(column) = system(sprintf("awk -F, '!seen[$%d]++ { print $%d }' ", \
			column, column) . data)
names = values(1)
detectors = values(2)
triggers = values(3)
bases = values(4)

n = words(names)
if (kind eq "svg") {
	set terminal svg size 550 * n, 500 font "sans,14" background "white"
} else {
	set terminal pngcairo size 550 * n, 500 font "sans,11"
}
set output system("echo $OUTPUT")
set datafile separator ","
array colors[5] = ["#0072b2", "#d55e00", "#000000", "#009e73", "#cc79a7"]
array shapes[3] = [6, 4, 8]

set xlabel "queue, 99th percentile, MB"
set ylabel "utilization"
set xrange [0:*]
# keep negligible differences small
set yrange [*<0.9:1.01]
set offsets 0, graph 0.05, 0, 0
set bmargin 9
set border 3
set tics nomirror
set grid lc rgb "#dddddd"
set multiplot layout 1, n title "every method" font ",16"
is(name, d, t, b) = strcol(1) eq name && strcol(2) eq word(detectors, d) && \
	strcol(3) eq word(triggers, t) && strcol(4) eq word(bases, b)
do for [i = 1:n] {
	set title word(names, i)
	if (i > 1) {
		set key off
	} else {
		set key at screen 0.5, screen 0.09 center horizontal \
			samplen 1
	}
	plot for [d = 1:words(detectors)] for [t = 1:words(triggers)] \
		for [b = 1:words(bases)] data \
		using (is(word(names, i), d, t, b) ? $6 / 1e6 : NaN):5 \
		with points pt shapes[t] ps 0.6 + 0.4 * b lw 2 \
		lc rgb colors[d] notitle, \
	     for [d = 1:words(detectors)] keyentry with points pt 7 \
		lc rgb colors[d] title word(detectors, d), \
	     for [t = 1:words(triggers)] keyentry with points pt shapes[t] \
		lw 2 lc rgb "black" title word(triggers, t), \
	     for [b = 1:words(bases)] keyentry with points pt 6 \
		ps 0.6 + 0.4 * b lw 2 lc rgb "black" \
		title "base " . word(bases, b)
}
unset multiplot
