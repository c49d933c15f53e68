#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fuzz the packet parser with libFuzzer, AddressSanitizer and UBSan, as a
# program on this machine.
#
#   fuzz.sh SECONDS [-k]	-k: keep in rocev2.corpus the smallest inputs
#				that reach the same coverage
#
# The corpus has an input per line in hexadecimal (see rocev2_fuzz.c); it
# started with the golden CNP and packets of every kind that "roce" sends.  An
# input that fails is saved in build/fuzz/.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
CORPUS=$TOP/selftests/fuzz/rocev2.corpus
WORK=$TOP/build/fuzz
FUZZ=$TOP/build/rocev2_fuzz

# unpack DIR: write each line of the corpus to a file
unpack()
{
	DIR=$1 perl -ne 'next if /^#/;
		open(my $f, ">", sprintf("%s/%04d", $ENV{DIR}, $.)) or die;
		print $f pack("H*", $_ =~ s/\s//gr)' "$CORPUS"
}

# pack DIR: print a line for each file, the shortest first
pack()
{
	local f

	grep '^#' "$CORPUS"
	for f in "$1"/*; do
		od -An -v -tx1 "$f" | tr -d ' \n'
		echo
	done | sort -u | awk '{ print length, $0 }' | sort -n | cut -d ' ' -f 2
}

seconds=${1:?} keep=${2-}
# inputs found by earlier runs are kept until "make clean", and used again
mkdir -p "$WORK/corpus"
unpack "$WORK/corpus"
cd "$WORK" || exit 1
"$FUZZ" -max_total_time="$seconds" -seed="${IQCN_SEED:-1}" -max_len=320 \
	-print_final_stats=1 corpus >log 2>&1
rc=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' log)
edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' log | tail -n 1)
echo "# ${runs:-0} inputs in $seconds s, ${edges:-0} edges, seed ${IQCN_SEED:-1}"
if [ $rc != 0 ] || [ "${runs:-0}" -lt 1000 ]; then
	grep -E 'does not hold|ERROR|SUMMARY|runtime error|Test unit' log |
		sed 's/^/# /'
	echo "not ok 1 the parser of packets"
	exit 1
fi
echo "ok 1 the parser of packets"
if [ "$keep" = -k ]; then
	rm -rf least && mkdir least &&
		"$FUZZ" -merge=1 -max_len=320 least corpus >merge.log 2>&1 &&
		pack least >new && mv new "$CORPUS" &&
		echo "# kept $(grep -vc '^#' "$CORPUS") inputs, $(stat -c %s "$CORPUS") bytes"
fi
