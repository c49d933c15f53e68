#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Check that the same seed gives the same bytes: scenarios with random marks and
# CNPs, a network and an agent run in two copies of the tree, whose names differ
# in length.  The second run has an otherwise empty environment with different
# values of PATH, TMPDIR, IQCN_CACHE, IQCN_RESULTS and the locale, and another
# /run; the third runs one variant alone.  A guest that prints its environment
# (guest.sh) shows where a difference begins.  KTAP.
#
# Output and figures of the runs are in build/repeat/.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
OUT=$TOP/build/repeat
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
short=$WORK/a long="$WORK/a clone/whose/name/is/much longer"
cache=${IQCN_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/sch_iqcn}

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"

# copy DIR: copy what a scenario needs from the tree
copy()
{
	mkdir -p "$1/build/uml/rocehost" &&
		cp -a "$TOP/selftests" "$1/" &&
		cp -a "$TOP/contrib" "$1/" &&
		cp -a "$TOP/build/q_iqcn.so" "$TOP/build/iqcn" "$1/build/" &&
		cp -a "$TOP/build/uml/sch_iqcn.ko" "$1/build/uml/" &&
		cp -a "$TOP/build/uml/rocehost/rocehost.ko" \
			"$1/build/uml/rocehost/" &&
		cat >"$1/selftests/scenarios/repeat.scenario" <<-EOF
			title       a part of incast-512
			like        incast-512 ecn wreb
			duration    40ms
			count       10ms
		EOF
	cat >"$1/selftests/scenarios/repeat-agent.scenario" <<-EOF
		title       an agent that explores
		like        agent-eval-150-3 agent
		agent       agent run --policy contrib/agent/long-haul.policy --interval 5ms --explore 0.9 --seed 7
		duration    250ms
		count       10ms
	EOF
	cat >"$1/selftests/scenarios/repeat-network.scenario" <<-EOF
		title       a part of fattree-4
		like        fattree-4 ecn pi
		load        websearch 50 for 2ms mtu 4096 dscp 26
		incast      15 size 256k every 1ms for 3ms mtu 4096 dscp 26
		duration    5ms
	EOF
}

# other_run COMMAND...: run with a /run that has systemd's files if that of the
# machine does not, or vice versa
other_run()
{
	local loaded=/run/systemd/systemd-units-load

	if ! unshare -rm true 2>/dev/null; then
		echo "no mount namespaces: /run stays the same"
		"$@"
		return
	fi
	# shellcheck disable=SC2016
	unshare -rm bash -c 'mount -t tmpfs tmpfs /run && mkdir /run/systemd &&
		{ [ "$1" = had ] || touch "$2"; } && shift 2 && exec "$@"' \
		_ "$([ ! -e $loaded ] || echo had)" $loaded "$@"
}

# elsewhere LOG COMMAND...: run in the second copy and the other environment
elsewhere()
{
	local log=$1
	shift

	(cd "$long" && other_run env -i HOME="$HOME" TERM=dumb LC_ALL=de_DE.UTF-8 \
		LOCPATH="$WORK/other/locale" TMPDIR="$WORK/other/tmp" \
		PATH="$WORK/nothing/here:/usr/bin:/bin" \
		IQCN_CACHE="$WORK/other/cache" IQCN_SEED=4711 \
		IQCN_RESULTS="$WORK/other/results" "$@" >"$log" 2>&1)
}

# same A B: compare files or directories
same()
{
	diff -rq "$1" "$2" | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" = 0 ]
}

# lab: print the environment of a guest, for the copy in the working directory
lab()
{
	selftests/lab/lab.sh run uml -s 1 -o . "$PWD/selftests/repeat/guest.sh" \
		"$PWD/build" /run/out
}

# ran RC LOG WHAT: report a run, and its log if it failed
ran()
{
	result "$1" "$3"
	[ "$1" = 0 ] || sed 's/^/# /' "$2"
}

rm -rf "$OUT"
# de_DE has a decimal comma
mkdir -p "$OUT" "$WORK"/other/{tmp,locale,results} &&
	localedef -i de_DE -f UTF-8 "$WORK/other/locale/de_DE.UTF-8" &&
	ln -s "$(realpath "$cache")" "$WORK/other/cache" &&
	copy "$short" && copy "$long" || exit 1

echo "TAP version 13"
(cd "$short" && lab) >"$OUT/short.guest" 2>&1 &&
	elsewhere "$OUT/long.guest" bash -c "$(declare -f lab); lab" &&
	grep -q "^random" "$OUT/short.guest" &&
	same "$OUT/short.guest" "$OUT/long.guest"
result $? "guests see the same names, environment, clock and random numbers"
"$short/selftests/scenarios/scenarios.sh" repeat repeat-network repeat-agent \
	>"$OUT/short.log" 2>&1
ran $? "$OUT/short.log" "all variants run in a directory with a short name"
elsewhere "$OUT/long.log" selftests/scenarios/scenarios.sh repeat repeat-network \
	repeat-agent
ran $? "$OUT/long.log" "all variants run in a directory with a long name"
cp -r "$short/build/results" "$OUT/short"
cp -r "$WORK/other/results" "$OUT/long"
elsewhere "$OUT/alone.log" selftests/scenarios/scenarios.sh -v ecn repeat
ran $? "$OUT/alone.log" "one variant runs alone"
cp -r "$WORK/other/results" "$OUT/alone"

jq -e '.variants | .ecn.drops > 0 and .wreb.cnps_cp > 0' \
	"$OUT/short/repeat.json" >/dev/null
result $? "the box marks, drops and sends CNPs"
same "$OUT/short/repeat.json" "$OUT/long/repeat.json"
result $? "repeat.json does not depend on the directory or the environment"
for variant in ecn wreb; do
	rm -f "$OUT"/{short,long,alone}/repeat/$variant/{log,time}
	same "$OUT/short/repeat/$variant" "$OUT/long/repeat/$variant"
	result $? "samples of $variant do not depend on them either"
done
jq -e '.variants.pi | .cnps_cp > 0 and .pause_frames > 0' \
	"$OUT/short/repeat-network.json" >/dev/null
result $? "in a network switches pause and send CNPs"
same "$OUT/short/repeat-network.json" "$OUT/long/repeat-network.json"
result $? "repeat-network.json does not depend on them"
rm -f "$OUT"/{short,long}/repeat-network/*/{log,time}
same "$OUT/short/repeat-network" "$OUT/long/repeat-network"
result $? "nor do samples, wires and flows of a network"
awk -F, '$5 == 1 { seen[$4] } END { n = 0; for (a in seen) n++; exit n < 2 }' \
	"$OUT/short/repeat-agent/agent/agent.csv"
result $? "the agent explores at least two actions"
same "$OUT/short/repeat-agent/agent/agent.csv" "$OUT/long/repeat-agent/agent/agent.csv"
result $? "steps of the agent do not depend on the directory or the environment"
same "$OUT/short/repeat/ecn" "$OUT/alone/repeat/ecn"
result $? "figures and samples do not depend on variants that run in parallel"
echo "1..$n"
exit $failed
