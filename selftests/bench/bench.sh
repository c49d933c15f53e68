#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measure the cost of packets in the qdisc, compared with other qdiscs:
#
#   bench.sh [-h] [-n ROUNDS] [-p PACKETS] [CASE...]
#   bench.sh -c
#
#   -h		measure on this machine, as root, with the programs in build/
#		(make modules rocehost tc-plugin userspace), instead of in User
#		Mode Linux with the host's clock
#   -n ROUNDS	rounds, with a run of each qdisc (default and minimum 7)
#   -p PACKETS	packets of a measurement (default 20000)
#   CASE	cases of guest.sh (default: all but agent, because User Mode Linux
#		does not report the CPU time of a process).  cpus needs two idle
#		CPUs.  Without -h cpus is measured in two kernels: User Mode
#		Linux with KASAN, and Debian's in QEMU (cpus-qemu)
#   -c		count instructions and check them against the file "limits"
#
# Times depend on the machine and its load; ratios carry over to other machines.
# Instruction counts do not depend on the load: they are taken in Debian's
# kernel in QEMU, where each instruction takes a nanosecond of the guest's
# clock.  With -h instructions are not counted.  The results contain the load of
# the machine before and after; with a load above 1, times are noise.
#
# Results, in build/results or $IQCN_RESULTS:
#   bench.json	cases[]: {case, packet, qdisc, flows, min_ns, median_ns, spread,
#		ratio_bfifo, ratio_red, over_none_ns, instructions, ...}: ratios
#		compare the minima of all rounds, spread is (max - min) /
#		median, over_none is the cost of a hook.  A ratio or difference
#		is null if the other qdisc was not measured.  values[]: other
#		values.  cores[]: number of cores that 100 Gb/s need.  cpus[]:
#		throughput of two queues on two CPUs, relative to one queue on
#		one CPU.  aims[]: goals, and whether they are reached
#   bench.txt	the same as tables
#   bench.svg, .png	ratios as bars
set -u -o pipefail
# decimal points, not commas
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
OUT=${IQCN_RESULTS:-$TOP/build/results}
rounds=7 packets=20000 here="" check=""

die()
{
	echo "bench: $*" >&2
	exit 1
}

while getopts chn:p: opt; do
	case $opt in
	c) check=1 ;;
	h) here=1 ;;
	n) rounds=$OPTARG ;;
	p) packets=$OPTARG ;;
	*) die "usage: bench.sh [-c] [-h] [-n ROUNDS] [-p PACKETS] [CASE...]" ;;
	esac
done
shift $((OPTIND - 1))
case $rounds in
"" | *[!0-9]* | [0-6]) die "-n: at least 7 rounds" ;;
esac
if [ $# = 0 ]; then
	set -- uncongested marked hook deadline inject memory
	if [ -z "$here" ] || [ "$(nproc)" -gt 1 ]; then
		set -- "$@" cpus
	fi
fi
cd "$TOP" && mkdir -p "$OUT" || exit 1
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
read -r load _ </proc/loadavg

# measured COMMAND...: run the guest, with its output in $WORK/log
measured()
{
	"$@" >"$WORK/log" 2>&1 && return
	grep -v '^[=#] ' "$WORK/log" | tail -n 20 >&2
	die "the measurement failed"
}

# counted ARGUMENT...: run the guest with a clock that counts instructions
counted()
{
	measured "$LAB" run stock -c -m 3072 -k "$TOP/build/stock/sch_iqcn.ko" \
		"$HERE/guest.sh" "$@"
}

if [ -n "$check" ]; then
	counted -n 1 -p 2048 -m 1000 \
		-q bfifo,red,codel,fq_codel,fq,iqcn,nocnp,timer,frames,grant \
		uncongested marked hook deadline agent
	awk '
	FNR == NR { if ($1 == "=") ns[$2, $3, $5, $4] = $6; next }
	/^#/ || !NF { next }
	{
		own = ns[$1, $2, $3, $4]
		other = ns[$1, $2, $3, $5]
		what = $1 " " $2 " " $3 " " $4 " " $5
		more = $6 ~ /^\+/
		known = own && (other || more && $5 == "-")
		got = !known ? 0 : more ? own - other : own / other
		bad = !known || got > $6 + 0
		failed += bad
		printf "%s %d %s: %.*f, limit %s\n", bad ? "not ok" : "ok",
			++n, what, more ? 0 : 3, got, $6
	}
	END { exit failed || !n }' "$WORK/log" "$HERE/limits"
	exit
fi

# count no instructions of cases that measure times or memory, or that read many
# flows
cases=()
for name; do
	case $name in
	uncongested | marked | hook | deadline) cases+=("$name") ;;
	esac
done

guest=("$HERE/guest.sh" -n "$rounds" -p "$packets")
: >"$WORK/times"
if [ -n "$here" ]; then
	echo "  on this machine ..."
	measured "${guest[@]}" "$@"
	mv "$WORK/log" "$WORK/times"
	set --
fi
# uml has one CPU, so cpus runs in other guests
smp="" single=()
for name; do
	if [ "$name" = cpus ]; then
		smp=1
	else
		single+=("$name")
	fi
done
if [ ${#single[@]} -gt 0 ]; then
	echo "  by the clock ..."
	measured "$LAB" run uml -w -m 4096 "${guest[@]}" "${single[@]}"
	mv "$WORK/log" "$WORK/times"
fi
if [ -n "$smp" ]; then
	echo "  two CPUs ..."
	guest+=(-q "bfifo,red,iqcn,nocnp,timer" cpus)
	measured "$LAB" run uml-smp -m 3072 "${guest[@]}"
	cat "$WORK/log" >>"$WORK/times"
	measured "$LAB" run stock -m 3072 -k "$TOP/build/stock/sch_iqcn.ko" \
		"${guest[@]}"
	sed 's/^= cpus/&-qemu/' "$WORK/log" >>"$WORK/times"
fi
: >"$WORK/counts"
if [ -z "$here" ] && [ ${#cases[@]} -gt 0 ]; then
	echo "  instructions ..."
	# two rounds, to show that the counts are reproducible
	counted -n 2 -p 4096 -m 10000 "${cases[@]}"
	mv "$WORK/log" "$WORK/counts"
fi

jq -n --rawfile times "$WORK/times" --rawfile counts "$WORK/counts" \
	--arg load "$load $(cut -d ' ' -f 1 /proc/loadavg)" \
	--arg cpu "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
	-f "$HERE/bench.jq" >"$OUT/bench.json" || die "cannot write $OUT/bench.json"
"$HERE/tables.sh" "$OUT/bench.json" | tee "$OUT/bench.txt"
jq -r '.cases[] | select((.case == "uncongested" and .packet == "roce") or
		(.case == "marked" and .flows == 100)) |
	[.case, .qdisc, .ratio_bfifo, .instructions_bfifo] | @csv' \
	"$OUT/bench.json" | tr -d '"' >"$WORK/bars"
for terminal in svg png; do
	[ -s "$WORK/bars" ] || continue
	DATA=$WORK/bars OUTPUT=$OUT/bench.$terminal gnuplot \
		-e "kind = '$terminal'" "$HERE/bench.gp" || die "cannot plot"
done
echo "in ${OUT#"$TOP/"}: $(cd "$OUT" && echo bench.*)"
