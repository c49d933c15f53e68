# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The topologies of fabric.py, for guest.sh, which sources this file.  The
# functions below replace topology(), qdisc(), hosts(), all_flows() and
# reports() of guest.sh, and read the files that fabric.py wrote to $fabric.
# Starting a process is slow in UML, so each namespace is set up in batches.

# shellcheck disable=SC2154 # set by guest.sh
fabric=$out/${conf[fabric]}
senders=hosts
mapfile -t switches <"$fabric/switches"
watched=${switches[0]}

topology()
{
	local ns

	# New namespaces inherit these, except "default", which the kernel sets
	# from a module parameter.  So ports have IPv6 addresses, and send a few
	# multicast reports.
	sysctl -qw net.core.devconf_inherit_init_net=1 \
		net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1
	for ns in hosts "${switches[@]}"; do
		echo "netns add $ns"
	done | ip -batch - || die "cannot create the namespaces"
	ctl hosts <"$fabric/wires" &&
		ip -n hosts -batch "$fabric/links" &&
		tc -n hosts -batch "$fabric/queues" ||
		die "cannot create the wires"
	for ns in "${switches[@]}"; do
		ip -n "$ns" -batch "$fabric/$ns.routes" ||
			die "cannot create the routes of $ns"
	done
	# wait until nearly all packets that the stack sends on link-up have
	# left
	sleep 2
}

qdisc()
{
	local ns

	if [[ ${conf[qdisc]-} == *" pfc "* ]]; then
		echo mono >/sys/kernel/tracing/trace_clock
		echo 1 >/sys/kernel/tracing/events/iqcn/iqcn_pfc/enable
	fi
	for ns in "${switches[@]}"; do
		tc -n "$ns" -batch "$fabric/$ns.tc" || die "${conf[qdisc]-}"
	done
}

# Create the hosts, and set sysctls and probes of the switches
hosts()
{
	local ns

	ctl hosts <"$fabric/hosts"
	for ns in "${switches[@]}"; do
		# shellcheck disable=SC2016
		in_ns "$ns" bash -c '
		while read -r file value; do
			echo "$value" >"/proc/sys/$file" || exit
		done <"$1"
		while IFS= read -r line; do
			echo "$line" >/proc/net/rocehost/ctl || exit
		done <"$2"' bash "$fabric/$ns.sysctl" "$fabric/$ns.probes" ||
			die "cannot set up $ns"
	done
}

all_flows()
{
	ctl hosts <"$fabric/flows"
	# this file and "end" get their times from the machine's clock;
	# scenarios.sh computes from these how long the run takes
	: >"$out/begin"
}

# pairings: print the sender's QP with which the switches have paired each flow
pairings()
{
	local files=(/sys/kernel/debug/iqcn/*/*/flows)

	echo "src,dest_qp,src_qp,pair"
	[ -e "${files[0]}" ] || return 0
	awk '!/^#/ && $5 != "-" { print $1 "," $4 "," $5 "," $6 }' "${files[@]}"
}

# judged: report the verdicts of the switches on paused queues
judged()
{
	sed -nE 's/.* ([0-9]+)\.([0-9]{6}): iqcn_pfc: dev=([^ ]+) .* state=([a-z]+) reason=([a-z]+) .*/\3,\1\2,\4,\5/p' \
		/sys/kernel/tracing/trace >>"$out/judged.csv"
}

# counters: report the counters of all qdiscs
counters()
{
	local ns

	for ns in "${switches[@]}"; do
		tc -n "$ns" -s -j qdisc show >>"$out/tc.json" || die "tc failed"
	done
}

reports()
{
	local ns

	: >"$out/end"
	: >"$out/tc.json"
	echo "dev,at_us,state,reason" >"$out/judged.csv"
	[[ ${conf[qdisc]-} != *" pfc "* ]] || judged
	[[ -z ${conf[ends]-} && ${conf[qdisc]-} != *" pfc "* &&
		${conf[qdisc]-} != *" snoop "* ]] || counters
	pairings >"$out/pairings.csv"
	report hosts flows completions trace settings hosts sinks samples wires pfc
	for ns in "${switches[@]}"; do
		in_ns "$ns" awk -v out="$out" '
		FNR > 1 {
			file = FILENAME
			sub(/.*\//, "", file)
			print >>(out "/" file ".csv")
		}' /proc/net/rocehost/samples /proc/net/rocehost/wires \
			/proc/net/rocehost/pfc || die "cannot read the reports of $ns"
	done
}
