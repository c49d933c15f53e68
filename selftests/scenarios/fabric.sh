# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Several switches: replaces functions of guest.sh, which sources this file.  The
# files in $fabric are those that fabric.py has written.

# shellcheck disable=SC2154 # set by guest.sh
fabric=$out/${conf[fabric]}
senders=hosts
mapfile -t switches <"$fabric/switches"

topology()
{
	local ns

	for ns in hosts "${switches[@]}"; do
		echo "netns add $ns"
	done | ip -batch - || die "cannot create the namespaces"
	in_ns hosts sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1
	ctl hosts <"$fabric/wires" &&
		ip -n hosts -batch "$fabric/links" ||
		die "cannot create the wires"
	for ns in "${switches[@]}"; do
		in_ns "$ns" sysctl -qp "$fabric/$ns.sysctl" &&
			ip -n "$ns" -batch "$fabric/$ns.up" ||
			die "cannot set up $ns"
	done
	# a nexthop needs a carrier
	for ns in "${switches[@]}"; do
		ip -n "$ns" -batch "$fabric/$ns.routes" ||
			die "cannot create the routes of $ns"
	done
	# let the first packets of the stack pass
	sleep 2
}

qdisc()
{
	local ns

	for ns in "${switches[@]}"; do
		tc -n "$ns" -batch "$fabric/$ns.tc" || die "${conf[qdisc]-}"
	done
}

hosts()
{
	local ns

	ctl hosts <"$fabric/hosts"
	for ns in "${switches[@]}"; do
		ctl "$ns" <"$fabric/$ns.probes"
	done
}

all_flows()
{
	ctl hosts <"$fabric/flows"
}

reports()
{
	local ns

	report hosts flows completions trace settings hosts sinks wires pfc
	for ns in "${switches[@]}"; do
		report "$ns" samples wires pfc
	done
}
