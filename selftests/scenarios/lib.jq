# SPDX-License-Identifier: GPL-2.0
#
# Functions that figures.jq and fabric.jq share.

def rows: split("\n") | map(select(. != "") | split(","));
# parse a table with a header; fields become numbers where possible
def table: rows | .[0] as $names |
	.[1:] | map([$names, map(tonumber? // .)] | transpose |
		    map({key: .[0], value: .[1]}) | from_entries);
def sum(f): reduce .[] as $x (0; . + ($x | f));
def mean: if length == 0 then null else add / length end;
# of sorted numbers, with the nearest-rank method
def percentile($p): if length == 0 then null
	else .[([(length * $p / 100 | ceil) - 1, 0] | max)] end;
def jain: if length == 0 or add == 0 then null
	else (add * add) / (length * (map(. * .) | add)) end;
def us: if . == null then null else . / 1000 end;
def share($of): if $of == 0 then null else . / $of end;
# six decimals, for readability
def round6: if type == "number" then . * 1e6 | round / 1e6 else . end;
# for each change of load [time, depth]: time in us until the last sample above
# that depth
def settled($samples; $end_ns): . as $at | length as $n | [range($n) as $i |
	$at[$i][0] as $from | $at[$i][1] as $bytes |
	(if $i + 1 < $n then $at[$i + 1][0] else $end_ns end) as $to |
	([$samples[] | select(.[0] >= $from and .[0] < $to and .[1] > $bytes) |
	  .[0]] | last // $from) - $from | us];
