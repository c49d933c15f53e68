#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the lab: a host sends 1 KB packets to another one over a single link
# for MS ms.  Prints "packets N".
#
#   hops-guest.sh MODULE wire|veth MS
set -u

# told NS LINE: write a command to rocehost
told()
{
	nsenter --net="/run/netns/$1" \
		bash -c 'echo "$1" >/proc/net/rocehost/ctl' _ "$2" || exit 1
}

insmod "$1" || exit
ip -batch - <<-EOF || exit
	netns add snd
	netns add rcv
EOF
if [ "$2" = wire ]; then
	told snd "wire e0 e1 rate 100gbit delay 1us"
	ip -n snd link set dev e1 netns rcv
else
	ip link add e0 netns snd mtu 9000 type veth \
		peer name e1 netns rcv mtu 9000
fi
ip -n snd link set dev e0 up
ip -n rcv link set dev e1 up
sysctl -qw net.core.netdev_max_backlog=1000000
told snd "host e0 ip 10.1.0.1 rate 100gbit rp off"
told rcv "host e1 ip 10.1.0.2 ack 16"
told snd "flow e0 to 10.1.0.2 mtu 1024 size endless messages endless"
told snd "start for $3ms"
sleep "0.$(printf %03d $(($3 + 50)))"
nsenter --net=/run/netns/snd \
	awk -F, 'NR == 2 { print "packets", $9 }' /proc/net/rocehost/flows
