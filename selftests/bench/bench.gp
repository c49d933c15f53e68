# SPDX-License-Identifier: GPL-2.0
#
# Cost of a packet in a qdisc, relative to a bfifo: one panel per case, with two
# bars per qdisc, for time and for instructions.
# Variables: kind; from the environment: DATA, OUTPUT (see bench.sh)

data = system("echo $DATA")
cases = system("awk -F, '!seen[$1]++ { print $1 }' " . data)
n = words(cases)
if (kind eq "svg") {
	set terminal svg noenhanced size 550 * n, 420 font "sans,14" background "white"
} else {
	set terminal pngcairo noenhanced size 550 * n, 420 font "sans,11"
}
set output system("echo $OUTPUT")
set datafile separator ","
set datafile missing ""
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 border -1
set border 3
set tics nomirror
set xtics rotate by -40
set grid y lc rgb "#dddddd"
set yrange [0:*]
set ylabel "times bfifo"
set key top left
set tmargin 3
set multiplot layout 1, n
do for [c in cases] {
	set title "".c font ",14"
	rows = sprintf("< grep '^%s,' %s", c, data)
	plot rows using 3:xtic(2) lc rgb "#0072b2" title "time", \
	     rows using 4 lc rgb "#d55e00" title "instructions"
}
unset multiplot
