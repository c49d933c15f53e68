#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Write a scenario with several switches in the format of HPCC's simulation.

  export.py FILE VARIANT DIRECTORY

FILE is a scenario (selftests/scenarios), VARIANT one of its variants, whose
qdisc is iqcn or a fifo.  Writes topology.txt, flow.txt and config.txt, and
nodes.csv with the names of the nodes for import.py.  README.md says how to
build the simulator.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "scenarios"))
from fabric import (Error, Fabric, Scenario, all_flows, last_word,  # noqa: E402
                    number)

# flows start this long after the simulation does
EPOCH_NS = 1000000000
# the priority of DSCP 26
PRIORITY = 3
# reserve of the lab's switches, for each port and priority with PFC
RESERVE_BYTES = 4096
# size of a flow without an end
ENDLESS_BYTES = 10**12


def switch_links(fabric):
    """Return the links of each switch."""
    return [fabric.neighbors[switch].values() for switch in fabric.switches]


def pool_bytes(links):
    """Return the size of the buffer that the ports of a switch share.

    In the lab, a port's reserve and headroom are part of the buffer.  The
    simulator adds the headroom, and has no reserve.
    """
    shared = max(number("buffer", last_word(link.words, "buffer", "32m"),
                        "bytes") for link in links)
    for link in links:
        if last_word(link.words, "pfc", "") not in ("", str(PRIORITY)):
            raise Error(f"pfc: only priority {PRIORITY} can be exported")
        for word, value in (("alpha", "1/8"), ("resume", "3k")):
            if last_word(link.words, word, value) != value:
                raise Error(f"{word}: only {value} can be exported")
        shared -= RESERVE_BYTES + number(
            "headroom", last_word(link.words, "headroom", "auto"), "bytes")
    return shared


def flag(words, name):
    return int(name in words.split())


def config(fabric, qdisc, duration_ns, mtu):
    """Return the lines of config.txt."""
    host = fabric.scenario.one("host")
    rates = sorted({link.rate_bps for link in fabric.links})
    kmin, kmax = (number(word, last_word(qdisc, word, "100m"), "bytes") // 1000
                  for word in ("kmin", "kmax"))
    numerator, _, denominator = last_word(host, "g", "1/256").partition("/")

    def us(name, default):
        return number(name, last_word(host, name, default), "time") / 1000

    def bps(name, default):
        return number(name, last_word(host, name, default), "rate")

    def by_rate(value):
        return " ".join([str(len(rates))] + [f"{rate} {value}" for rate in rates])

    return [
        f"ENABLE_QCN {int(last_word(host, 'rp', 'connectx') != 'off')}",
        "USE_DYNAMIC_PFC_THRESHOLD 1",
        f"PACKET_PAYLOAD_SIZE {mtu}",
        "TOPOLOGY_FILE topology.txt",
        "FLOW_FILE flow.txt",
        "FCT_OUTPUT_FILE fct.txt",
        "PFC_OUTPUT_FILE pfc.txt",
        f"SIMULATOR_STOP_TIME {(EPOCH_NS + duration_ns) / 1e9:.9f}",
        "CC_MODE 1",
        f"ALPHA_RESUME_INTERVAL {us('alpha', '1us')}",
        f"RATE_DECREASE_INTERVAL {us('reduce', '4us')}",
        f"CLAMP_TARGET_RATE {flag(host, 'clamp')}",
        f"RP_TIMER {us('increase', '300us')}",
        f"EWMA_GAIN {int(numerator) / int(denominator)}",
        f"FAST_RECOVERY_TIMES {last_word(host, 'f', '1')}",
        f"RATE_AI {bps('rai', '5mbit')}bps",
        f"RATE_HAI {bps('rhai', '50mbit')}bps",
        f"MIN_RATE {bps('min', '1mbit')}bps",
        "ERROR_RATE_PER_LINK 0",
        "L2_CHUNK_SIZE 0",
        "L2_ACK_INTERVAL 1",
        "L2_BACK_TO_ZERO 0",
        "HAS_WIN 0",
        "VAR_WIN 0",
        "FAST_REACT 0",
        "RATE_BOUND 1",
        "ACK_HIGH_PRIO 0",
        "ENABLE_TRACE 0",
        f"KMAX_MAP {by_rate(kmax)}",
        f"KMIN_MAP {by_rate(kmin)}",
        f"PMAX_MAP {by_rate(last_word(qdisc, 'pmax', '0.2'))}",
        f"BUFFER_SIZE {min(map(pool_bytes, switch_links(fabric))) >> 20}",
    ]


def write(directory, name, lines):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def main(argv):
    if len(argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        scenario = Scenario(argv[1])
        qdiscs = dict(line.split(maxsplit=1) for line in scenario.all("variant"))
        if argv[2] not in qdiscs:
            raise Error(f'no variant "{argv[2]}"')
        wires = " ".join(line.partition(" ")[2] for line in scenario.all("wires")
                         if line.split()[0] == argv[2])
        fabric = Fabric(scenario, wires)
        flows = sorted(all_flows(fabric), key=lambda flow: flow.start_ns)
        nodes = [host.name for host in fabric.hosts] + fabric.switches
        ids = {name: i for i, name in enumerate(nodes)}
        mtus = {int(last_word(flow.words, "mtu", "4096")) for flow in flows}
        if len(mtus) > 1:
            raise Error("flows have different mtus")
        os.makedirs(argv[3], exist_ok=True)
        n = len(fabric.switches)
        write(argv[3], "topology.txt", [
            f"{len(nodes)} {n} {n} {len(fabric.links)}",
            " ".join(str(ids[name]) for name in fabric.switches)] + [
            f"{ids[link.a]} {ids[link.b]} {link.rate_bps}bps "
            f"{link.delay_ns}ns 0" for link in fabric.links])
        write(argv[3], "flow.txt", [str(len(flows))] + [
            f"{ids[flow.src.name]} {ids[flow.dst.name]} {PRIORITY} {10000 + i % 50000} "
            f"{flow.size or ENDLESS_BYTES} {(EPOCH_NS + flow.start_ns) / 1e9:.9f}"
            for i, flow in enumerate(flows)])
        write(argv[3], "config.txt",
              config(fabric, qdiscs[argv[2]],
                     number("duration", scenario.one("duration"), "time"),
                     mtus.pop()))
        write(argv[3], "nodes.csv", ["id,name"] + [
            f"{i},{name}" for i, name in enumerate(nodes)])
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
