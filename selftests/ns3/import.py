#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Convert the results of HPCC's simulation into those of rocehost.

  import.py DIRECTORY FLOWS [COUNT_NS]

DIRECTORY contains nodes.csv of export.py and the simulation's fct.txt, pfc.txt
and output.txt.  FLOWS is flows.csv of selftests/scenarios/fabric.py.  Writes
completions.csv, pfc.csv and samples.csv for selftests/scenarios/fabric.jq.  The
samples are those of the ports to receivers at the first switch.  Pauses count
from COUNT_NS on.
"""
import csv
import os
import sys

from export import EPOCH_NS


def node_of(address):
    """Return the node that has an address of the simulation."""
    return int(address, 16) >> 8 & 0xffff


def sample_ports(directory, names):
    """Convert the states of ports that the simulation prints."""
    switch = "sw0" if "sw0" in names.values() else None
    sent = {}
    with open(os.path.join(directory, "output.txt"), encoding="utf-8") as file, \
         open(os.path.join(directory, "samples.csv"), "w",
              encoding="utf-8") as out:
        print("dev,at_ns,depth_bytes,sent_bytes,drops,cnps_np,cnps_cp,paused_ns",
              file=out)
        for line in file:
            # the ports of the switch are in the order of the hosts
            words = line.split()
            if not switch or words[:1] != ["ToR"] or words[2] != "Port" or \
               not names[int(words[3])].startswith("r"):
                continue
            at_ns = round(float(words[11]) * 1e9) - EPOCH_NS
            sent[words[3]] = sent.get(words[3], 0) + int(words[7])
            if at_ns >= 0:
                print(f"{switch}-{names[int(words[3])]},{at_ns},{words[9]},"
                      f"{sent[words[3]]},0,0,0,0", file=out)


def main(argv):
    if len(argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    directory = argv[1]

    def path(name):
        return os.path.join(directory, name)

    with open(path("nodes.csv"), encoding="utf-8") as file:
        names = {int(row["id"]): row["name"] for row in csv.DictReader(file)}
    # the simulator rounds start times: match a flow by source, destination
    # and size, and take the nearest start
    starts = {}
    with open(argv[2], encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = row["dev"], row["to"], int(row["bytes"])
            starts.setdefault(key, []).append(int(row["start_ns"]))
    with open(path("fct.txt"), encoding="utf-8") as file, \
         open(path("completions.csv"), "w", encoding="utf-8") as out:
        print("dev,name,qpn,arrived_ns,took_ns", file=out)
        for line in file:
            src, dst, _, _, size, start, took, _ = line.split()
            src, dst = names[node_of(src)], names[node_of(dst)]
            at_ns = int(start) - EPOCH_NS
            arrived_ns = min(starts[src, dst, int(size)],
                             key=lambda ns, at=at_ns: abs(ns - at))
            if abs(arrived_ns - at_ns) > 2:
                print(f"{line.strip()}: no flow starts there", file=sys.stderr)
                return 1
            print(f"{src},flow,0,{arrived_ns},{took}", file=out)
    # a device is paused from the first pause frame until the resume
    count_ns = EPOCH_NS + int("".join(argv[3:]) or 0)
    since, frames, paused = {}, {}, {}
    with open(path("pfc.txt"), encoding="utf-8") as file:
        for line in file:
            at, node, _, port, kind = map(int, line.split())
            dev = f"{names[node]}-{port}"
            # kinds 2 and 3 record frames that were sent
            if kind == 1:
                frames[dev] = frames.get(dev, 0) + (at >= count_ns)
                since.setdefault(dev, at)
            elif kind == 0 and dev in since:
                paused[dev] = paused.get(dev, 0) + max(
                    at - max(since.pop(dev), count_ns), 0)
    sample_ports(directory, names)
    with open(path("pfc.csv"), "w", encoding="utf-8") as out:
        print("dev,prio,rx_pause,tx_pause,paused_ns,overflow", file=out)
        for dev, n in frames.items():
            print(f"{dev},3,{n},{n},{paused.get(dev, 0)},0", file=out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
