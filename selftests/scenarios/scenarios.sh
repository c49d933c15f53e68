#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run scenarios:
#
#   scenarios.sh [-c] [-k] [-q] [-j N] [-v VARIANT,VARIANT...] [-x WORDS]
#		 SCENARIO...
#   scenarios.sh -w COMMAND [-v VARIANT] SCENARIO
#
#   -c			continue: keep the results of a scenario if all its
#			variants ran on this commit and met the expectations
#   -k			report known misses (see "miss") as XFAIL, and not as
#			failures
#   -q			print no tables
#   -j N		run N variants in parallel, by default one on each CPU
#   -v VARIANT,...	run only these variants
#   -x WORDS		add these parameters to every iqcn qdisc, and skip the
#			expectations
#   -w COMMAND		run COMMAND on the switch (in a network, on the first
#			one), in this terminal, during one variant (by default
#			the last one); leave no results
#
# Scenarios are in this directory or $IQCN_SCENARIOS.  NAME also stands for all
# of NAME-*.scenario if there is no NAME.scenario.
#
# Results of each scenario, in build/results or $IQCN_RESULTS:
#   NAME.scenario	the scenario that was run, expanded
#   NAME.json		parameters, figures, and version of the lab's kernel
#   NAME.commit		commit of the code, with "+" if there were changes
#   NAME.met		the expectations, if all variants ran and met them
#   NAME/VARIANT/*.csv	raw data: samples of the queue, flows, ...
#   NAME.svg, NAME.png	queue, utilization and CNPs over time, unless there are
#			more variants than colors; of a network: the deepest
#			queue of each switch over time
#
# A scenario is a file NAME.scenario with lines "KEY VALUE":
#   title TEXT		description
#   seed N		seed of all random values
#   topology KIND	bridge (default) or router; or a network of routers:
#	chain N			N switches between senders and receivers
#	longhaul KM [TIME]	two switches, with a fiber of this length
#			between them, and equipment that delays each
#			direction by this time
#	leafspine L S H		L leaves with H hosts each, S spines
#	fattree K		a fat tree of switches with K ports
#	pair KM leafspine|fattree ...	two such networks, each with a border switch
#			above its top tier, and a fiber between these
#   senders N WORDS	number of hosts; words of rocehost's command "host"
#   receivers N WORDS	the same for the receivers
#   host WORDS		words for all hosts
#   sender I WORDS	words for one sender; of a network: for one host
#   bottleneck RATE BURST	tbf on the port to receiver 0
#   link WORDS		links are wires: words of rocehost's command "wire".
#			The port to receiver 0 has the rate of the bottleneck,
#			and no tbf.
#   wires VARIANT WORDS	more words of "wire" in one variant
#   hosts VARIANT WORDS	more words for all hosts in one variant
#   ends VARIANT WORDS	words for the qdiscs at both ends of the fiber in one
#			variant; they override its parameters of the same name
#   agent VARIANT WORDS	run "iqcn agent WORDS" on the first switch of a
#			network, for the first port of "port", during one
#			variant; with "killed TIME" before WORDS, kill the
#			agent after this time (less than 1 s), and report
#			leases_ended 101 ms later
#   trunk WORDS		more words of "wire" for links between switches
#   fiber WORDS		more words of "wire" for the fiber of a pair
#   access WORDS	more words of "wire" for links of senders to a chain or
#			to longhaul
#   locals N WORDS	additional senders at the last switch of a chain or of
#			longhaul; their numbers follow those of the senders
#   behind RATE QDISC	an upstream switch, and the qdisc on its port to us
#   flows NAME from all|I to J WORDS	words of rocehost's command "flow"
#   load CDF PERCENT [name NAME] [from HOSTS] [to HOSTS] for TIME WORDS	Poisson
#			arrivals of messages between random hosts of a network,
#			at this share of their links; the sizes are those of
#			websearch, alistorage or fbhadoop.  HOSTS are numbers,
#			as in "0,2-15", by default all; in a network "from" of
#			"flows" takes them, too
#   incast N [from HOSTS] [to HOSTS] size BYTES every TIME for TIME WORDS	N
#			random hosts of a network send to one at the same time
#   endless permutation|M:1 N WORDS	N flows without an end: from each host to
#			one other, or from M hosts to one
#   message I J BYTES TIME WORDS	one message from host I to host J
#   permutation BYTES TIME WORDS	one message from each host of a network to
#			one other
#   duration TIME	in ms
#   count TIME		in ms: figures cover the time from then on
#   sample TIME		interval between samples of the queue (default 5us; in
#			a network 20us)
#   memory MB		memory of the lab's machine (default 1024); if it runs
#			out, the run ends by timeout
#   kmax BYTES		depth above which a rate increase counts as a fault
#   settle TIME BYTES	the load changes at TIME: settle_us is the time until
#			the queue stays at or below BYTES, up to the next
#			such line; in a network, for each port of "port"
#   event fail|rate SWITCH-NEIGHBOR WORDS	a link of a network fails, or
#			its rate changes: words of rocehost's command of that
#			name
#   regain NAME TIME	regain_us: time from TIME until the first traced flow
#			of that name sends at line rate
#   fair TIME SHARE	fair_us: time from TIME until Jain's index of the rates
#			of all traced flows, averaged over 2 ms, stays at or
#			above SHARE
#   cut NAME		cut_us: longest time from the first CNP of a traced flow
#			of that name to its first cut; null: a flow was not cut
#   figures none	skip the reports, figures and plots, for runs of which
#			only the agent's log is used
#   port SWITCH-NEIGHBOR	report the figures of this port of a network, in
#			.ports["SWITCH-NEIGHBOR"]
#   variant NAME QDISC	a qdisc below the bottleneck, in the syntax of tc
#   expect JQ		a condition on NAME.json, or on the CPU time of a
#			variant on this machine: $run.VARIANT.cpu_s is all of
#			it; with a network, .run_s is the part after the setup
#   miss JQ		a target that is missed, as Documentation says: fails
#			without -k, and once it holds
# and lines that are expanded:
#   like NAME VARIANT...	take the lines of another scenario, with only
#			these variants, except title, expectations and
#			the keys that this scenario sets
#   vary NAME VARIANT WORD A|B...
#			for each combination of values add a variant NAME-A...:
#			VARIANT, of this or the other scenario, with these
#			words.  A word with a single value is not in the name.
#   KEY NAME-0..N WORDS	a line for each number from 0 to N, which also replaces
#			each "#" in WORDS
#
# methods-*.scenario are run by methods.sh.
set -u -o pipefail
# decimal points, not commas
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
RESULTS=${IQCN_RESULTS:-$TOP/build/results}
KEYS=" title seed topology senders receivers host sender bottleneck link
	wires hosts ends agent trunk access fiber locals behind flows load incast endless
	message permutation duration count sample memory kmax settle event regain
	fair cut figures port variant expect miss "
COLORS=7
only="" tables=1 command="" extra="" continues="" known="" jobs=$(nproc)

die()
{
	echo "scenarios: $*" >&2
	exit 2
}

# file_of SCENARIO: the expanded file.  source_of SCENARIO: the original file.
file_of()
{
	echo "$RESULTS/$1.scenario"
}

source_of()
{
	echo "${IQCN_SCENARIOS:-$HERE}/$1.scenario"
}

# expand SCENARIO: print it with "like", "vary" and numbers expanded
expand()
{
	local file like other=/dev/null

	file=$(source_of "$1")
	[ -e "$file" ] || die "no such scenario: $1"
	like=$(awk '$1 == "like" { print $2 }' "$file")
	[ -z "$like" ] || other=$(source_of "$like")
	[ -e "$other" ] || die "$1: no such scenario: $like"
	awk '
	# return the qdisc with a word set to a value
	function with(qdisc, word, to,    f, n, i, out) {
		n = split(qdisc, f, " ")
		out = f[1]
		for (i = 2; i <= n; i++) {
			out = out " " f[i]
			if (f[i] == word) {
				out = out " " to
				to = ""
				i++
			}
		}
		return to == "" ? out : out " " word " " to
	}
	# choose values of the words w[i], w[i + 2], ...
	function choose(name, qdisc, i,    n, to, j) {
		if (i > n_w) {
			print "variant " name " " qdisc
			return
		}
		n = split(w[i + 1], to, "|")
		for (j = 1; j <= n; j++)
			choose(n == 1 ? name : name "-" to[j],
			       with(qdisc, w[i], to[j]), i + 2)
	}
	function vary(line,    f, n, i) {
		n = split(line, f, " ")
		if (!(f[3] in qdiscs)) {
			print "vary: unknown variant \"" f[3] "\"" >"/dev/stderr"
			exit 1
		}
		for (i = 4; i <= n; i++)
			w[i - 3] = f[i]
		n_w = n - 3
		choose(f[2], qdiscs[f[3]], 1)
	}
	# print a line; if its name is "NAME-0..N", print one for each number
	function numbered(line,    f, to, i, one) {
		split(line, f, " ")
		if (f[2] !~ /-0\.\.[0-9]+$/) {
			print line
			return
		}
		to = f[2]
		sub(/.*\.\./, "", to)
		for (i = 0; i <= to + 0; i++) {
			one = line
			sub(/-0\.\.[0-9]+/, "-" i, one)
			gsub(/#/, i, one)
			print one
		}
	}
	$1 == "variant" {
		qdisc = $0
		sub(/^[ \t]*variant[ \t]+[^ \t]+[ \t]+/, "", qdisc)
		qdiscs[$2] = qdisc
	}
	FNR == NR {
		if ($1 == "like")
			for (i = 3; i <= NF; i++)
				keep[$i]
		own[$1]
		line[n_lines++] = $0
		next
	}
	$1 ~ /^(#|$)/ || $1 ~ /^(title|expect|miss)$/ { next }
	$1 == "variant" ? $2 in keep : !($1 in own) { numbered($0) }
	END {
		for (i = 0; i < n_lines; i++) {
			if (line[i] ~ /^vary[ \t]/)
				vary(line[i])
			else if (line[i] !~ /^like[ \t]/)
				numbered(line[i])
		}
	}' "$file" "$other" |
		sed -E "${extra:+s/^variant .* iqcn( |$).*/& $extra/;/^(expect|miss) /d}" ||
		die "$1 cannot be expanded"
}

# value SCENARIO KEY: print the values of a key
value()
{
	awk -v key="$2" '$1 == key { sub(/^[^ \t]+[ \t]+/, ""); print }' \
		"$(file_of "$1")"
}

# variants SCENARIO: print the variants to run
variants()
{
	value "$1" variant | awk -v only=",$only," \
		'only == ",," || index(only, "," $1 ",") { print $1 }'
}

# ns TIME
ns()
{
	case $1 in
	*[!0-9]*ms) die "$1: not a time" ;;
	*ms) echo $((${1%ms} * 1000000)) ;;
	*) die "$1: not in ms" ;;
	esac
}

# bps RATE
bps()
{
	case $1 in
	*gbit) echo $((${1%gbit} * 1000000000)) ;;
	*mbit) echo $((${1%mbit} * 1000000)) ;;
	*) die "$1: not in mbit or gbit" ;;
	esac
}

# check_keys SCENARIO KEY...: fail if the scenario has one of these keys, which
# are for another kind of topology
check_keys()
{
	local name=$1 key
	shift

	for key; do
		[ -z "$(value "$name" "$key")" ] ||
			die "$name: $key has no effect with this topology"
	done
}

# check_scenario SCENARIO: find errors before anything is run
check_scenario()
{
	local name=$1 key v

	while read -r key _; do
		case $key in
		"" | \#*) ;;
		*) [[ $KEYS == *[[:space:]]"$key"[[:space:]]* ]] ||
			die "$name: unknown key \"$key\"" ;;
		esac
	done <"$(file_of "$name")"
	for key in title seed $(is_fabric "$name" ||
			echo senders receivers bottleneck flows) duration count \
		   kmax variant; do
		[ -n "$(value "$name" $key)" ] || die "$name: $key is missing"
	done
	for v in ${only//,/ }; do
		[[ " $(variants "$name" | tr '\n' ' ')" == *" $v "* ]] ||
			die "$name has no variant \"$v\""
	done
	ns "$(value "$name" duration)" >/dev/null &&
		ns "$(value "$name" count)" >/dev/null || exit
	case $(value "$name" figures) in
	"") ;;
	none)
		[ -z "$(value "$name" expect)$(value "$name" miss)" ] ||
			die "$name: expect and miss need figures"
		;;
	*) die "$name: figures can only be none" ;;
	esac
	if is_fabric "$name"; then
		check_keys "$name" bottleneck behind
		[ -z "$(value "$name" agent)" ] || [ -n "$(value "$name" port)" ] ||
			die "$name: port is missing, for agent"
		for v in $(variants "$name"); do
			"$HERE/fabric.py" check "$(file_of "$name")" \
				"$(value "$name" wires | of_variant "$v")" \
				"$(value "$name" ends | of_variant "$v")" 2>&1 |
				sed "s/^/scenarios: $name: /" >&2 || exit 2
		done
		return
	fi
	check_keys "$name" ends agent trunk access fiber locals load incast \
		endless message permutation event port
	bps "$(value "$name" bottleneck | cut -d ' ' -f 1)" >/dev/null || exit
}

# is_fabric SCENARIO: does fabric.py create the topology?
is_fabric()
{
	value "$1" topology | grep -qE '^(chain|longhaul|leafspine|fattree|pair)( |$)'
}

# of_variant VARIANT: of lines "VARIANT WORDS" print the words
of_variant()
{
	awk -v variant="$1" '$1 == variant { $1 = ""; sub(/^ /, ""); print }'
}

# write_scenario SCENARIO VARIANT: print the lines for the lab in a normal form,
# so that equivalent scenarios yield the same run
write_scenario()
{
	local ends agent

	ends=$(value "$1" ends | of_variant "$2")
	agent=$(value "$1" agent | of_variant "$2")
	sed -nE 's/[ \t]+/ /g; s/ $//
		/^(topology|seed|senders|receivers|host|sender|bottleneck|behind|flows|duration|count|sample|kmax|figures) /p' \
		"$(file_of "$1")"
	! is_fabric "$1" || echo "fabric fabric"
	[ -z "$ends" ] || echo "ends $ends"
	[ -z "$agent" ] || printf '%s\n' "agent $agent" \
		"port $(value "$1" port | head -n 1)"
	[ -z "$(value "$1" link)" ] ||
		echo "link $(value "$1" link) $(value "$1" wires | of_variant "$2")"
	echo "qdisc $(value "$1" variant | of_variant "$2")"
	[ -z "$(value "$1" hosts)" ] ||
		echo "hosts $(value "$1" hosts | of_variant "$2")"
}

# write_fabric SCENARIO VARIANT DIRECTORY
write_fabric()
{
	"$HERE/fabric.py" lab "$(file_of "$1")" \
		"$(value "$1" variant | of_variant "$2")" "$3" \
		"$(value "$1" wires | of_variant "$2")" \
		"$(value "$1" hosts | of_variant "$2")" \
		"$(value "$1" ends | of_variant "$2")"
}

# took DIR: replace the times in "time" by the CPU time of everything, and by
# the CPU time of the run without the setup, which is proportional to its
# elapsed time, because the lab never waits.
took()
{
	local begin=0 end=0

	if [ -e "$1/begin" ]; then
		begin=$(stat -c %.6Y "$1/begin") &&
			end=$(stat -c %.6Y "$1/end") || return
		rm "$1/begin" "$1/end"
	fi
	awk -v begin="$begin" -v end="$end" '{
		print $2 + $3, ($2 + $3) * (end - begin) / $1
	}' "$1/time" >"$1/time.tmp" && mv "$1/time.tmp" "$1/time"
}

# has_figures SCENARIO: succeed unless it has "figures none"
has_figures()
{
	[ -z "$(value "$1" figures)" ]
}

# evaluate SCENARIO VARIANT: compute figures from the raw data of a run
evaluate()
{
	local dir=$RESULTS/$1/$2

	has_figures "$1" || {
		echo '{}' >"$dir/figures.tmp"
		return
	}
	took "$dir" && figures "$1" "$2" >"$dir/figures.tmp" || return
	if is_fabric "$1"; then
		heat "$1" "$2" >"$dir/heat.csv"
	else
		series "$1" "$2" >"$dir/series.csv" &&
			rates "$1" "$2" >"$dir/rates.csv"
	fi
}

# job SCENARIO VARIANT
job()
{
	local name=$1 variant=$2 dir=$RESULTS/$1/$2 start=$SECONDS memory
	local TIMEFORMAT='%R %U %S'

	rm -rf "$dir"
	mkdir -p "$dir"
	write_scenario "$name" "$variant" >"$dir/scenario"
	! is_fabric "$name" || write_fabric "$name" "$variant" "$dir/fabric" ||
		exit
	memory=$(value "$name" memory)
	if { time "$LAB" run uml ${memory:+-m "$memory"} \
		-s "$(value "$name" seed)" -o "$dir" "$HERE/guest.sh" /run/out \
		>"$dir/log" 2>&1; } 2>"$dir/time" &&
	   evaluate "$name" "$variant" 2>>"$dir/log"; then
		mv "$dir/figures.tmp" "$dir/figures.json"
		echo "  $name $variant: $((SECONDS - start)) s"
	else
		echo "  $name $variant: FAILED"
		sed 's/^/    /' "$dir/log"
	fi
}

# watch SCENARIO: run $command during the scenario
watch()
{
	local words

	expand "$1" >"$(file_of "$1")" || exit
	check_scenario "$1"
	write_scenario "$1" "$(variants "$1" | tail -n 1)" >"$RESULTS/scenario"
	! is_fabric "$1" || write_fabric "$1" "$(variants "$1" | tail -n 1)" \
		"$RESULTS/fabric" || exit
	read -ra words <<<"$command"
	"$LAB" run uml -t -s "$(value "$1" seed)" -o "$RESULTS" \
		"$HERE/guest.sh" /run/out "${words[@]}"
}

# settle SCENARIO: print the arguments of its lines "settle", as
# [[ns, bytes], ...]
settle()
{
	local time bytes sep=""

	echo -n "["
	while read -r time bytes; do
		[ -n "$time" ] || continue
		echo -n "${sep}[$(ns "$time"),$bytes]"
		sep=,
	done <<<"$(value "$1" settle)"
	echo "]"
}

# traced SCENARIO VARIANT: print the figures of the traces, as JSON
traced()
{
	local regain fair cut line_bps

	regain=$(value "$1" regain) fair=$(value "$1" fair) cut=$(value "$1" cut)
	[ -n "$regain$fair$cut" ] || { echo "{}"; return; }
	line_bps=$(bps "$(value "$1" host | sed -nE 's/^(.* )?rate ([^ ]+).*/\2/p')")
	tail -n +2 "$RESULTS/$1/$2/trace.csv" | sort -s -t , -k 4n |
		awk -F, -v regain="$regain" -v fair="$fair" -v cut="$cut" \
			-v line_bps="$line_bps" '
		function ns(time) {
			return substr(time, 1, length(time) - 2) * 1e6
		}
		function us(t) { return sprintf("%.3f", t / 1e3) }
		# add what the flows send up to the time "to", in bit/s * ns
		function pass(to,    f) {
			for (f in rate)
				sent[f] += rate[f] * (to - at)
			at = to
		}
		# end a window of 2 ms
		function window(    f, sum, squares, n) {
			for (f in sent) {
				sum += sent[f]
				squares += sent[f] ^ 2
				n++
			}
			split("", sent)
			if (!n || at <= ns(j[1]))
				return
			if (sum ^ 2 < j[2] * n * squares)
				fair_at = -1
			else if (fair_at < 0)
				fair_at = at - 2e6
		}
		BEGIN {
			split(regain, r, " ")
			split(fair, j, " ")
			regained = fair_at = -1
		}
		{
			flow = $1 " " $3
			if (r[1] == $2 && !watched)
				watched = flow
			# the rate of the previous event applies until now
			if (flow == watched && $4 >= ns(r[2]) && regained < 0 &&
			    rate[flow] >= line_bps)
				regained = ns(r[2])
			for (; fair != "" && at + 2e6 - at % 2e6 <= $4; window())
				pass(at + 2e6 - at % 2e6)
			pass($4)
			rate[flow] = $6
			if (flow == watched && $4 >= ns(r[2]) && regained < 0 &&
			    rate[flow] >= line_bps)
				regained = $4
			if ($2 == cut && $5 ~ /^cnp/ && !(flow in told))
				told[flow] = $4
			if ($2 == cut && $5 == "cut" && (flow in told) &&
			    !(flow in was_cut)) {
				was_cut[flow]
				if ($4 - told[flow] > most)
					most = $4 - told[flow]
			}
		}
		END {
			for (flow in told)
				if (!(flow in was_cut))
					never = 1
			printf "{\"regain_us\": %s, \"fair_us\": %s, \"cut_us\": %s}\n",
				regained < 0 ? "null" : us(regained - ns(r[2])),
				fair_at < 0 ? "null" : us(fair_at - ns(j[1])),
				never || !length(was_cut) ? "null" : us(most)
		}'
}

figures()
{
	local dir=$RESULTS/$1/$2 args=() f

	if is_fabric "$1"; then
		for f in samples flows sinks completions settings hosts wires \
			 pfc pairings judged; do
			args+=(--rawfile "$f" "$dir/$f.csv")
		done
		[ -e "$dir/agent.json" ] || echo null >"$dir/agent.json"
		jq -n -L "$HERE" -f "$HERE/fabric.jq" "${args[@]}" \
			--slurpfile tc "$dir/tc.json" \
			--slurpfile agent "$dir/agent.json" \
			--argjson traced "$(traced "$1" "$2")" \
			--argjson kmax_bytes "$(value "$1" kmax)" \
			--rawfile list "$dir/fabric/flows.csv" \
			--argjson settle "$(settle "$1")" \
			--arg watched "$(value "$1" port)" \
			--argjson count_ns "$(ns "$(value "$1" count)")" \
			--argjson duration_ns "$(ns "$(value "$1" duration)")"
		return
	fi
	for f in samples flows sinks completions settings hosts wires pfc; do
		[ -e "$dir/$f.csv" ] || echo "dev" >"$dir/$f.csv"
		args+=(--rawfile "$f" "$dir/$f.csv")
	done
	jq -n -L "$HERE" -f "$HERE/figures.jq" "${args[@]}" --slurpfile tc "$dir/tc.json" \
		--argjson settle "$(settle "$1")" \
		--argjson traced "$(traced "$1" "$2")" \
		--argjson count_ns "$(ns "$(value "$1" count)")" \
		--argjson duration_ns "$(ns "$(value "$1" duration)")" \
		--argjson rate_bps \
			"$(bps "$(value "$1" bottleneck | cut -d ' ' -f 1)")"
}

# series SCENARIO VARIANT: print data for the plots, in 200 steps of time
series()
{
	awk -F, -v step_ns=$(($(ns "$(value "$1" duration)") / 200)) \
		-v bps="$(bps "$(value "$1" bottleneck | cut -d ' ' -f 1)")" '
	NR == 1 {
		print "ms,depth_min,depth_max,utilization,cnps_np,cnps_cp"
		next
	}
	!n++ || $3 < min { min = $3 }
	$3 > max { max = $3 }
	$2 >= at + step_ns {
		printf "%.3f,%d,%d,%.4f,%d,%d\n", $2 / 1e6, min, max,
			($4 - sent) * 8e9 / ($2 - at) / bps,
			$6, $7
		at = $2; sent = $4; n = max = 0
	}' "$RESULTS/$1/$2/samples.csv"
}

# heat SCENARIO VARIANT: print data for the picture of a network, in 200 steps
# of time: the deepest queue of each switch, and how long its ports were paused
heat()
{
	awk -F, -v step_ns=$(($(ns "$(value "$1" duration)") / 200)) '
	FNR == NR { row[$1] = n_rows++; next }
	FNR == 1 { next }
	{
		name = $1
		sub(/-.*/, "", name)
		r = row[name]
		t = int($2 / step_ns)
		if ($3 > depth[r, t])
			depth[r, t] = $3
		if ($1 == dev)
			paused[r, t] += $8 - last
		dev = $1
		last = $8
	}
	END {
		print "ms,switch,depth_bytes,paused_ns"
		for (r = 0; r < n_rows; r++) {
			for (t = 0; t < 200; t++)
				printf "%.3f,%d,%d,%d\n", t * step_ns / 1e6, r,
					depth[r, t], paused[r, t]
			print ""
		}
	}' "$RESULTS/$1/$2/fabric/switches" "$RESULTS/$1/$2/samples.csv"
}

# rates SCENARIO VARIANT: print the rate of the first traced flow of each name,
# as one block per name; increases above Kmax are in a column of their own
rates()
{
	awk -F, -v kmax="$(value "$1" kmax)" '
	NR == 1 { next }
	!($2 in flow) {
		flow[$2] = $1 " " $3
		if (n++) printf "\n\n"
	}
	flow[$2] == $1 " " $3 {
		printf "%.6f,%.3f,%s\n", $4 / 1e6, $6 / 1e6,
			($5 == "raised" && $8 > kmax) ? $6 / 1e6 : ""
	}' "$RESULTS/$1/$2/trace.csv"
}

# merge SCENARIO: write one JSON of all variants
merge()
{
	local name=$1 v files=() kernel

	for v in $(variants "$name"); do
		files+=("$RESULTS/$name/$v/figures.json")
		[ -e "${files[-1]}" ] || return 1
	done
	kernel=$("$LAB" key uml) || return 1
	kernel=${kernel#uml-}
	jq -n --arg scenario "$name" --rawfile text "$(file_of "$name")" \
		--arg names "$(variants "$name")" --arg kernel "${kernel%-*}" '
	($names | split("\n") | map(select(. != ""))) as $names |
	($text | split("\n") | map(select(test("^[a-z]")) |
		capture("^(?<key>[a-z]+)[ \t]+(?<value>.*)$") |
		.value |= gsub("[ \t]+"; " "))) as $lines |
	{
		scenario: $scenario,
		seed: ($lines | map(select(.key == "seed"))[0].value | tonumber),
		kernel: $kernel,
		parameters: ($lines |
			map(select(.key | IN("expect", "miss", "seed") | not)) |
			map(select(.key != "variant" or
				(.value | split(" ")[0] | IN($names[])))) |
			group_by(.key) |
			map({key: .[0].key,
			     value: (if length == 1 then .[0].value
				     else map(.value) end)}) | from_entries),
		variants: [$names, [inputs]] | transpose |
			map({key: .[0], value: .[1]}) | from_entries
	}' "${files[@]}" >"$RESULTS/$name.json"
}

# Print the commit, and "+" if the code differs from it; nothing without git
commit()
{
	git -C "$TOP" rev-parse --short=12 HEAD 2>/dev/null || return 0
	git -C "$TOP" diff --quiet HEAD -- kmod tc-plugin userspace contrib \
		selftests/lab selftests/rocehost selftests/scenarios || echo +
}

plot()
{
	local name=$1 terminal traced

	[ "$(variants "$name" | wc -l)" -le $COLORS ] && has_figures "$name" ||
		return 0
	if is_fabric "$name"; then
		plot_fabric "$name"
		return
	fi
	traced=$(value "$name" flows | grep -c trace)
	for terminal in svg png; do
		TITLE=$(value "$name" title) DIR=$RESULTS/$name \
		OUTPUT=$RESULTS/$name.$terminal \
		VARIANTS=$(variants "$name" | tr '\n' ' ') \
		gnuplot -e "kmax = $(value "$name" kmax)" \
			-e "count = $(($(ns "$(value "$name" count)") / 1000000))" \
			-e "duration = $(($(ns "$(value "$name" duration)") / 1000000))" \
			-e "traced = $traced" -e "kind = '$terminal'" \
			"$HERE/plot.gp" 2>"$RESULTS/$name/plot.log" ||
			{ cat "$RESULTS/$name/plot.log"; return 1; }
	done
}

plot_fabric()
{
	local terminal

	for terminal in svg png; do
		TITLE=$(value "$1" title) DIR=$RESULTS/$1 \
		OUTPUT=$RESULTS/$1.$terminal \
		VARIANTS=$(variants "$1" | tr '\n' ' ') \
		gnuplot -e "duration = $(($(ns "$(value "$1" duration)") / 1000000))" \
			-e "kind = '$terminal'" "$HERE/heat.gp" \
			2>"$RESULTS/$1/plot.log" ||
			{ cat "$RESULTS/$1/plot.log"; return 1; }
	done
}

table()
{
	jq -r -L "$HERE" 'include "table"; (if any(.variants[]; .packet_hops)
		then fabric_table else scenario_table end) | @tsv' \
		"$RESULTS/$1.json" | column -t -s $'\t'
}

# run SCENARIO: print the CPU times of each variant as JSON
run()
{
	local v

	for v in $(variants "$1"); do
		jq -R --arg v "$v" 'split(" ") | map(tonumber) |
			{($v): {cpu_s: .[0], run_s: .[1]}}' \
			"$RESULTS/$1/$v/time"
	done | jq -s add
}

# expected JSON RUN CONDITION: does the condition hold?  Every figure that it
# names must exist, because jq orders null before all numbers.
expected()
{
	local json=$1 run=$2 line=$3 path

	for path in $(grep -oE '(\.variants|\$run)(\.?([a-z0-9_]+|"[^"]+"|\["[^"]+"\]))+' \
			<<<"$line"); do
		jq -e --argjson run "$run" "$path != null" "$json" >/dev/null ||
			return 1
	done
	jq -e --argjson run "$run" "$line" "$json" >/dev/null
}

# test_lines SCENARIO KEY RUN: test the conditions on lines with this key, and
# print a result without a number for each
test_lines()
{
	local name=$1 key=$2 run=$3 line holds

	while IFS= read -r line; do
		[ -n "$line" ] || continue
		holds=""
		! expected "$RESULTS/$name.json" "$run" "$line" || holds=1
		case $key-$holds-$known in
		expect-1-*) echo "ok $name: $line" ;;
		expect--*) echo "not ok $name: $line" ;;
		miss--1) echo "ok $name: $line # XFAIL" ;;
		miss--) echo "not ok $name: $line # a known miss" ;;
		miss-1-*) echo "not ok $name: $line # holds: expect it" ;;
		esac
	done <<<"$(value "$name" "$key")"
}

expectations()
{
	local run key

	run=$(run "$1")
	for key in expect miss; do
		test_lines "$1" $key "$run"
	done
}

# numbered FILE: print its results, numbered
numbered()
{
	awk -v n="$n_tests" '{ sub(/ok /, "&" ++n " "); print }' "$1"
	n_tests=$((n_tests + $(wc -l <"$1")))
}

# report SCENARIO: print and test the results, after all its variants have run
report()
{
	local name=$1

	echo
	echo "$name: $(value "$name" title)"
	if ! merge "$name"; then
		echo "not ok $name: a variant failed" >"$RESULTS/$name.tests"
	else
		[ -z "$commit" ] || echo "$commit" >"$RESULTS/$name.commit"
		[ -z "$tables" ] || ! has_figures "$name" || table "$name"
		{
			expectations "$name"
			plot "$name" >&2 || echo "not ok $name: the plot failed"
		} >"$RESULTS/$name.tests"
		echo "in ${RESULTS#"$TOP/"}: $(cd "$RESULTS" && echo "$name".[^t]*)"
	fi
	numbered "$RESULTS/$name.tests"
	if grep -q '^not' "$RESULTS/$name.tests"; then
		rc=1
	elif [ -z "$only$extra" ]; then
		mv "$RESULTS/$name.tests" "$RESULTS/$name.met"
	fi
	rm -f "$RESULTS/$name.tests"
}

# named NAME...: print the names of the scenarios
named()
{
	local name files

	for name; do
		files=("$(source_of "$name")")
		[ -e "${files[0]}" ] ||
			files=("${IQCN_SCENARIOS:-$HERE}/$name"-*.scenario)
		[ -e "${files[0]}" ] || die "no such scenario: $name"
		basename -a -s .scenario "${files[@]}"
	done
}

# is_met SCENARIO: is there a result that -c keeps?
is_met()
{
	[ "$continues" ] && [ -e "$RESULTS/$1.met" ] &&
		[[ $commit =~ ^[0-9a-f]+$ ]] &&
		[ "$commit" = "$(cat "$RESULTS/$1.commit")" ] &&
		[ "$(expand "$1")" = "$(cat "$(file_of "$1")")" ]
}

if [ "${1-}" = job ]; then
	job "$2" "$3"
	echo "ended $2"
	exit
fi
while getopts ckqj:v:w:x: opt; do
	case $opt in
	c) continues=1 ;;
	k) known=1 ;;
	q) tables="" ;;
	j) jobs=$OPTARG ;;
	v) only=$OPTARG ;;
	w) command=$OPTARG ;;
	x) extra=$OPTARG ;;
	*) die "options: -c, -k, -q, -j N, -v VARIANT,..., -w COMMAND, -x WORDS; then names" ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || die "name a scenario: $(cd "$HERE" && echo ./*.scenario |
	sed 's|\./||g; s|\.scenario||g')"
[ -z "$continues" ] || [ -z "$only$extra" ] || die "-c: not with -v or -x"

if [ -n "$command" ]; then
	RESULTS=$(mktemp -d) || exit
	trap 'rm -rf "$RESULTS"' EXIT
	watch "$1"
	exit
fi
mkdir -p "$RESULTS"
commit=$(commit | paste -sd '')
selected=$(named "$@") || exit
names=() rc=0 n_tests=0
for name in $selected; do
	if is_met "$name"; then
		numbered "$RESULTS/$name.met"
		continue
	fi
	rm -f "$RESULTS/$name".{json,commit,met,svg,png} \
		"$RESULTS/$name"/*/figures.json
	expand "$name" >"$(file_of "$name")" || exit
	check_scenario "$name"
	names+=("$name")
done

declare -A running
for name in ${names[@]+"${names[@]}"}; do
	running[$name]=$(variants "$name" | wc -l)
done
while IFS= read -r -u 3 line; do
	if [[ $line != "ended "* ]]; then
		echo "$line"
		continue
	fi
	name=${line#ended }
	running[$name]=$((running[$name] - 1))
	[ "${running[$name]}" != 0 ] || report "$name"
done 3< <(for name in ${names[@]+"${names[@]}"}; do
	for v in $(variants "$name"); do
		echo "$name $v"
	done
done | xargs -r -P "$jobs" -L 1 "$HERE/scenarios.sh" job)

# report the scenarios with a job that was killed
for name in ${names[@]+"${names[@]}"}; do
	[ "${running[$name]}" = 0 ] || report "$name"
done
exit $rc
