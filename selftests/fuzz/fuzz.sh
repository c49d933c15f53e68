#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The parser of packets under libFuzzer, with AddressSanitizer and UBSan, on this
# machine.
#
#   fuzz.sh SECONDS [-k]	-k: keep in rocev2.corpus what covers most with least
#
# An input is a line of hexadecimal there (rocev2_fuzz.c says what it means); the
# first ones are the golden CNP and packets of every kind that "roce" makes.  An
# input that breaks something is left in build/fuzz/.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
CORPUS=$TOP/selftests/fuzz/rocev2.corpus
WORK=$TOP/build/fuzz
FUZZ=$TOP/build/rocev2_fuzz

# unpack DIR: a file for each line
unpack()
{
	DIR=$1 perl -ne 'next if /^#/;
		open(my $f, ">", sprintf("%s/%04d", $ENV{DIR}, $.)) or die;
		print $f pack("H*", $_ =~ s/\s//gr)' "$CORPUS"
}

# pack DIR: a line for each file, the shortest first
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
# what has been found stays until the next "make clean", and helps
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
