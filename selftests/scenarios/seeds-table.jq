# SPDX-License-Identifier: GPL-2.0
#
# Table of seeds.sh from seeds.json: an array per line.
include "table";

def kb: . / 1e3 | round;
def mean: add / length;

# standard error of the mean
def error: mean as $mean | length as $n |
	(map((. - $mean) | . * .) | add) / ($n - 1) / $n | sqrt;

# mean, standard error, least and most of a figure over all seeds
def seeds_of(f): map(.figures | f) |
	[mean, error, min, max] | map(kb);

def seeds_table:
	["", "seeds", "utilized", "queue mean, KB", "", "", "", "p99, KB", "", "", ""],
	["", "", "mean", "mean", "error", "least", "most", "mean", "error",
	 "least", "most"],
	(group_by(.scenario)[] |
	 [.[0].scenario, length, (map(.figures.utilization) | mean | part)] +
	 seeds_of(.queue_mean_bytes) + seeds_of(.queue_p99_bytes)) |
	fill;
