#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the lab: run the sessions of documents (see extract.awk), each in its
# environment.
#
#   guest.sh DIRECTORY	contains a script DOCUMENT/LINE.WHERE for each session
#
# Sessions run on a machine with iqcn installed, in a copy of the sources in
# which everything has been built.  The environments are:
#
#   bare	no interfaces but lo; containerlab and docker are replacements
#   pair	eth1 and eth2, connected by a cable
#   box		a bridge br0 with eth0, to a RoCEv2 sender, and eth1, to its
#		receiver; some received packets are CE
#   qdisc	like box, with iqcn on eth1
#   build, packages, examples, rpm, arch
#		run by ../packages/ instead
#
# The output of a session goes to a file next to its script.  Sessions cannot
# write other files of the host.
set -u -o pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
LAB=$TOP/build/${IQCN_LAB:-uml}
scripts=$1

# Put everything where "make install" and "make" would put it
install_all()
{
	local extra f

	extra=/lib/modules/$(uname -r)/extra
	mkdir -p "$extra" /run/tree/build && cp "$LAB/sch_iqcn.ko" \
		"$LAB_MODULES"/net/psample/psample.ko \
		"$LAB_MODULES"/net/bridge/br_netfilter.ko "$extra" || exit 1
	depmod 2>/dev/null
	for f in "$TOP"/*; do
		[ "$f" = "$TOP/build" ] || ln -s "$f" /run/tree/
	done
	ln -sf "$TOP"/build/* "$LAB/sch_iqcn.ko" "$LAB/rocehost/rocehost.ko" \
		/run/tree/build/
	mkdir -p /run/man/man8 &&
		ln -s "$TOP"/Documentation/man/*.8 /run/man/man8/ || exit 1
	mkdir -p /dev/pts && mount -t devpts devpts /dev/pts || exit 1
	mount --bind "$scripts" "$scripts" && mount -o remount,bind,ro / &&
		mount -o remount,bind,ro "$TOP" || exit 1
	export TC_LIB_DIR=$TOP/build PATH=$HERE/bin:$TOP/build:$PATH HOME=/run \
		MANPATH=/run/man: TERM=xterm
}

ctl()
{
	nsenter --net="/run/netns/$1" \
		bash -c 'cat >/proc/net/rocehost/ctl'
}

up_bare() { :; }

up_pair()
{
	ip -batch - <<-EOF
		link add eth1 mtu 9000 type veth peer name eth2 mtu 9000
		link set eth1 up
		link set eth2 up
	EOF
}

# The sender's link is the bottleneck, and its qdisc marks packets
up_box()
{
	insmod "$LAB/rocehost/rocehost.ko" || exit 1
	ip -batch - <<-EOF
		netns add sender
		netns add receiver
		link add eth0 mtu 9000 numtxqueues 2 numrxqueues 2 type veth peer name e0 netns sender mtu 9000
		link add eth1 mtu 9000 numtxqueues 2 numrxqueues 2 type veth peer name e0 netns receiver mtu 9000
		link add br0 type bridge mcast_snooping 0
		link set eth0 master br0 up
		link set eth1 master br0 up
		link set br0 up
	EOF
	ip -n sender link set e0 up
	ip -n receiver link set e0 up
	tc -n sender -batch - <<-EOF
		qdisc add dev e0 root handle 1: tbf rate 200mbit burst 10k limit 10m
		qdisc add dev e0 parent 1: iqcn notify off kmin 10k kmax 100k pmax 0.5
	EOF
	sleep 1
	ctl sender <<<"host e0 ip 10.0.0.1 rate 1gbit"
	ctl receiver <<<"host e0 ip 10.0.0.2 rate 1gbit ack 1"
	ctl sender <<<"flow e0 to 10.0.0.2 flows 4 mtu 4096 size endless rate 100mbit"
	ctl sender <<<start
}

up_qdisc()
{
	up_box
	tc qdisc add dev eth1 root handle 10: iqcn
	sleep 0.05
}

# Delete everything that a session has created
down()
{
	local link

	ip -all netns del
	for link in /sys/class/net/*; do
		link=${link##*/}
		# deleting one end of a pair also deletes the other
		[ "$link" = lo ] || ip link del "$link" 2>/dev/null
	done
	! grep -q '^rocehost ' /proc/modules || rmmod rocehost
	cd /
}

run_session()
{
	local script=$1 rc

	"up_${script##*.}"
	cd /run/tree || exit 1
	BASH_ENV=$HERE/lib-words.sh timeout -k 5 100 bash -e "$script" \
		>"$script.log" 2>&1 </dev/null
	rc=$?
	down
	return $rc
}

# as_shown LINE LOG: check that the block at that line printed what the document
# shows; "..." matches anything
as_shown()
{
	local line=$1 log=$2 text want piece any=""

	text=$(sed -n "/^@@block $line\$/,/^@@block /p" "$log" |
		sed '/^@@block /d; s/\r$//')
	want=$(<"${log%/*}/$line.expected")
	while [[ $want == *...* ]]; do
		piece=${want%%...*} want=${want#*...}
		[ "$any" ] || [[ $text == "$piece"* ]] || return 1
		[[ $text == *"$piece"* ]] || return 1
		text=${text#*"$piece"} any=1
	done
	if [ "$any" ]; then
		[[ $text == *"$want" ]]
	else
		[ "$text" = "$want" ]
	fi
}

# what_is_shown SCRIPT: check the output of every block of the session
what_is_shown()
{
	local line rc=0

	for line in $(sed -n 's/^@@block //p' "$1.log"); do
		[ -e "${1%/*}/$line.expected" ] || continue
		as_shown "$line" "$1.log" && continue
		echo "# line $line: the output differs from the document"
		rc=1
	done
	return $rc
}

install_all
down
for script in $(printf '%s\n' "$scripts"/*/*.* |
		grep -E '\.(bare|pair|box|qdisc)$' | sort -V); do
	doc=${script%/*}
	doc=${doc##*/}
	name="${doc//@//}:$(basename "${script%.*}") (${script##*.})"
	if run_session "$script" && what_is_shown "$script"; then
		echo "ok $name"
	else
		tail -n 20 "$script.log" | sed 's/^/# /'
		echo "not ok $name"
	fi
done
# without a document that has commands, the module is not loaded
! grep -q '^sch_iqcn ' /proc/modules || rmmod sch_iqcn
