# SPDX-License-Identifier: GPL-2.0
#
# Queue depth and utilization by number of flows, one column per speed and kind
# of sender.
# Variables: kind; from the environment: DATA, OUTPUT (see flows.sh)

data = system("echo $DATA")
speeds = system("awk -F, '!seen[$1, $2]++ { print $1 \"-\" $2 }' " . data)
n = words(speeds)
if (kind eq "svg") {
	set terminal svg size 320 * n, 560 font "sans,14" background "white"
} else {
	set terminal pngcairo size 320 * n, 560 font "sans,11"
}
set output system("echo $OUTPUT")
set datafile separator ","
style(i) = word(speeds, i)[1:strstrt(word(speeds, i), "-") - 1]
speed(i) = word(speeds, i)[strstrt(word(speeds, i), "-") + 1:]
# the lines of one curve
rows(i, v) = sprintf("< awk -F, '$1 == \"%s\" && $2 == %s && $4 == \"%s\"' %s", \
		     style(i), speed(i), v, data)
set border 3
set tics nomirror
set grid lc rgb "#dddddd"
set logscale x 2
set xtics (2, 8, 32, 128, 512)
set multiplot layout 2, n title "queue depth and utilization by number of flows" font ",16"
set logscale y
set yrange [10:20000]
set key top left
do for [i = 1:n] {
	set title speed(i) . " Gb/s" . (style(i) eq "paper" ? ", DCQCN paper" : "")
	set ylabel i == 1 ? "queue p99, us of the link" : ""
	plot for [v in "ecn pi"] rows(i, v) using 3:5 with linespoints \
		pt 7 ps 0.5 lw 2 lc rgb (v eq "pi" ? "#0072b2" : "#d55e00") title v
	unset key
}
unset logscale y
set yrange [0.9:1.01]
unset title
set xlabel "flows"
do for [i = 1:n] {
	set ylabel i == 1 ? "utilization" : ""
	plot for [v in "ecn pi"] rows(i, v) using 3:6 with linespoints \
		pt 7 ps 0.5 lw 2 lc rgb (v eq "pi" ? "#0072b2" : "#d55e00") notitle
}
unset multiplot
