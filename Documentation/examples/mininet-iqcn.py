#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Four RoCEv2 senders and a receiver at a Linux bridge with iqcn, in mininet.

    h1 --.
    h2 --+-- s1 -- h5      s1-eth5: iqcn below tbf, which limits the rate
    h3 --|
    h4 --'

Needs root, sch_iqcn, tc's plugin, and rocehost.ko, whose hosts use the
interfaces of h1 to h5.  With "-i" it ends in mininet's prompt.
"""
import sys
import time

from mininet.cli import CLI
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import SingleSwitchTopo

CTL = '/proc/net/rocehost/ctl'
PORT = 's1-eth5'


def run(node, command):
    """Run a command on a node and return its output; exit if it fails."""
    out, err, status = node.pexec('sh', '-c', command)
    if status:
        raise SystemExit('%s: %s: %s' % (node, command, err + out))
    return out


def tell(host, command):
    """Configure rocehost; on failure ctl has the reason."""
    run(host, 'echo %s >%s || { head -n 1 %s; exit 1; }' % (command, CTL, CTL))


def traffic(senders, receiver):
    """Send four flows from each sender for a second."""
    tell(receiver, 'host %s ip %s rate 1gbit cnp 50us ack 1'
         % (receiver.defaultIntf(), receiver.IP()))
    for host in senders:
        tell(host, 'host %s ip %s rate 1gbit alpha 55us g 1/256 clamp'
             % (host.defaultIntf(), host.IP()))
        tell(host, 'flow %s to %s flows 4 mtu 1024 size endless'
             % (host.defaultIntf(), receiver.IP()))
    tell(senders[0], 'start for 1s')
    time.sleep(1)


def main():
    net = Mininet(SingleSwitchTopo(5), switch=LinuxBridge, controller=None)
    net.start()
    try:
        switch = net['s1']
        run(switch, 'tc qdisc add dev %s root handle 1: '
            'tbf rate 1gbit burst 20k limit 100m' % PORT)
        run(switch, 'tc qdisc add dev %s parent 1: handle 10: '
            'iqcn bandwidth 1gbit' % PORT)
        traffic(net.hosts[:4], net.hosts[4])
        print(run(switch, 'iqcn show %s' % PORT))
        print(run(net.hosts[4], 'head -n 5 /proc/net/rocehost/sinks'))
        if '-i' in sys.argv[1:]:
            CLI(net)
    finally:
        net.stop()


if __name__ == '__main__':
    main()
