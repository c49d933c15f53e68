#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Scenarios with a network of several switches: topology, routes and traffic.

  fabric.py lab FILE QDISC DIRECTORY [WIRES [HOSTS [ENDS]]]
                        write the commands that create the network in the lab,
                        and flows.csv; WIRES, HOSTS and ENDS are the words of
                        "wires", "hosts" and "ends" for a variant
  fabric.py check FILE [WIRES [ENDS]]
                        find errors

FILE is a scenario, expanded.  scenarios.sh describes its keys.  This
file is also a module, which the exporter for ns-3 uses.

Each switch is a namespace, all hosts are in the namespace "hosts".  A port is
called SWITCH-NEIGHBOR.  Every switch has a route to each host, with one nexthop
per neighbor that is on a shortest path.

Linux 6.1 uses one multipath hash key for all namespaces.  If every tier hashed
the same fields, a switch would pick the same nexthop index as the switch before
it, and most paths would stay idle.  So the first and third tier hash addresses
and ports, and the second tier hashes only ports.  The hash is symmetric, so
ACKs and CNPs take the path of the data in reverse.
"""
import bisect
import os
import random
import re
import sys
from collections import namedtuple

# Sizes of flows: bytes, and percentage of flows of at most this size.
# Published with HPCC (Li et al., SIGCOMM 2019) for its simulator; WebSearch is
# that of DCTCP (Alizadeh et al., SIGCOMM 2010), FbHadoop that of Roy et al.,
# SIGCOMM 2015.
CDFS = {
    "websearch": [(0, 0), (10000, 15), (20000, 20), (30000, 30), (50000, 40),
                  (80000, 53), (200000, 60), (1000000, 70), (2000000, 80),
                  (5000000, 90), (10000000, 97), (30000000, 100)],
    "alistorage": [(0, 0), (4000, 22.93), (8000, 69.21), (16000, 80.61),
                   (32000, 90.47), (64000, 93.53), (128000, 96.77),
                   (256000, 97.53), (2000000, 100)],
    "fbhadoop": [(0, 0), (100, 1), (200, 2), (300, 5), (350, 15), (400, 20),
                 (500, 30), (600, 40), (700, 50), (1000, 60), (2000, 67),
                 (7000, 70), (30000, 72), (50000, 82), (80000, 87),
                 (120000, 90), (300000, 95), (1000000, 97.5), (2000000, 99),
                 (10000000, 100)],
}
UNITS = {
    "time": {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9},
    "rate": {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9},
    "bytes": {"": 1, "k": 2**10, "m": 2**20},
}
# Bytes of headers and ICRC in frames of rocehost
FRAME_BYTES = 14 + 20 + 8 + 12 + 4
RETH_BYTES = 16
ACK_BYTES = FRAME_BYTES + 4
FIBER_NS_PER_KM = 5000

Host = namedtuple("Host", "name switch ip")
Link = namedtuple("Link", "a b rate_bps delay_ns words")
Flow = namedtuple("Flow", "name src dst size start_ns words")


class Error(Exception):
    pass


def number(what, text, kind, least=0):
    """Return the value of a number with a unit."""
    match = re.fullmatch(r"([0-9]+)([a-z]*)", text)
    if not match or match[2] not in UNITS[kind]:
        raise Error(f'{what}: "{text}" is not a number with a unit of {kind} '
                    f'({", ".join(UNITS[kind])})')
    value = int(match[1]) * UNITS[kind][match[2]]
    if value < least:
        raise Error(f"{what}: {text} is less than {least}")
    return value


def whole(what, text, least, most):
    """Return an integer in the range."""
    if not re.fullmatch("[0-9]+", text) or not least <= int(text) <= most:
        raise Error(f"{what}: {text} is not a number from {least} to {most}")
    return int(text)


class Scenario:
    """The lines of a scenario by their keys."""

    def __init__(self, path):
        self.lines = {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                key, _, rest = line.strip().partition(" ")
                if key and not key.startswith("#"):
                    self.lines.setdefault(key, []).append(rest.strip())

    def all(self, key):
        return self.lines.get(key, [])

    def one(self, key, default=None):
        if key in self.lines:
            return self.lines[key][-1]
        if default is None:
            raise Error(f"{key} is missing")
        return default


def last_word(words, name, default):
    """Return the value of the last word of that name."""
    words = words.split()
    for i in range(len(words) - 2, -1, -1):
        if words[i] == name:
            return words[i + 1]
    return default


class Fabric:
    """Hosts, switches and links of a scenario."""

    def __init__(self, scenario, wires=""):
        self.scenario = scenario
        self.hosts = []
        self.switches = []
        self.links = []
        # the switches at both ends of the fiber, if there is one
        self.fiber = ()
        self.wires = wires
        kind, *args = scenario.one("topology").split()
        builders = {"chain": self.build_chain, "longhaul": self.build_longhaul,
                    "leafspine": self.build_leafspine,
                    "fattree": self.build_fattree, "pair": self.build_pair}
        if kind not in builders:
            raise Error(f'topology: "{kind}" is not {", ".join(builders)}')
        builders[kind](*args)
        # "from" and "to" are indexes into these lists
        self.senders = [h for h in self.hosts if h.name[0] != "r"]
        self.receivers = [h for h in self.hosts if h.name[0] not in "sl"]
        if len(set(self.senders + self.receivers)) < 2:
            raise Error("topology: there must be two hosts")
        self.neighbors = {}
        for link in self.links:
            self.neighbors.setdefault(link.a, {})[link.b] = link
            self.neighbors.setdefault(link.b, {})[link.a] = link

    def add_host(self, name, switch, ip, words=""):
        self.hosts.append(Host(name, switch, ip))
        self.add_link(name, switch, words)

    def add_link(self, a, b, words):
        words = " ".join([self.scenario.one("link"), words, self.wires]).strip()
        self.links.append(Link(
            a, b,
            number("link: rate", last_word(words, "rate", "100gbit"), "rate",
                   10**6),
            number("link: delay", last_word(words, "delay", "1us"), "time", 500),
            words))

    def add_fabric_hosts(self, switch, n):
        for _ in range(n):
            i = len(self.hosts)
            self.add_host(f"h{i}", switch, f"10.0.{i // 250}.{i % 250 + 1}")

    def build_line(self, n, words):
        """Senders, n switches in a line, receivers and local senders."""
        self.switches = [f"sw{i}" for i in range(n)]
        for key, switch, kind, access in (
                ("senders", "sw0", "10.1", self.scenario.one("access", " ")),
                ("receivers", self.switches[-1], "10.2", ""),
                ("locals", self.switches[-1], "10.3", "")):
            if key == "locals" and not self.scenario.all(key):
                continue
            for i in range(whole(key, self.scenario.one(key).split()[0], 1, 250)):
                self.add_host(f"{key[0]}{i}", switch, f"{kind}.{i}.1", access)
        for i in range(n - 1):
            self.add_link(f"sw{i}", f"sw{i + 1}",
                          self.scenario.one("trunk", "") + words)

    def build_chain(self, n="", *more):
        if more:
            raise Error("topology: chain N")
        self.build_line(whole("topology: chain", n, 1, 64), "")

    def fiber_delay(self, km, more):
        """Return the words for a fiber between two switches."""
        if len(more) > 1:
            raise Error("topology: after KM, at most a time for the equipment")
        ns = whole("topology: fiber", km, 1, 10000) * FIBER_NS_PER_KM
        for time in more:
            ns += number("topology: equipment", time, "time")
        return f" delay {ns}ns"

    def build_longhaul(self, km="", *more):
        if not km:
            raise Error("topology: longhaul KM [TIME]")
        self.build_line(2, self.fiber_delay(km, more))
        self.fiber = tuple(self.switches)

    def build_pair(self, km="", kind="", *args):
        """Two equal networks, each with a border switch, and a fiber."""
        builders = {"leafspine": self.build_leafspine,
                    "fattree": self.build_fattree}
        if kind not in builders:
            raise Error(f'topology: pair KM {"|".join(builders)} ...')
        for border in "b0", "b1":
            top = builders[kind](*args)
            self.switches.append(border)
            for switch in top:
                self.add_link(switch, border, self.scenario.one("trunk", ""))
        self.add_link("b0", "b1", self.scenario.one("fiber", "") +
                      self.fiber_delay(km, []))
        self.fiber = ("b0", "b1")

    def numbered(self, letter, n):
        """Return the names of n more switches of this kind."""
        first = sum(name[0] == letter for name in self.switches)
        names = [f"{letter}{first + i}" for i in range(n)]
        self.switches += names
        return names

    def build_leafspine(self, leaves="", spines="", hosts="", *more):
        """Return the switches of the top tier."""
        if more or not hosts:
            raise Error("topology: leafspine LEAVES SPINES HOSTS-PER-LEAF")
        hosts = whole("topology: hosts", hosts, 1, 64)
        trunk = self.scenario.one("trunk", "")
        leaves = self.numbered("l", whole("topology: leaves", leaves, 1, 64))
        for leaf in leaves:
            self.add_fabric_hosts(leaf, hosts)
        spines = self.numbered("s", whole("topology: spines", spines, 1, 64))
        for leaf in leaves:
            for spine in spines:
                self.add_link(leaf, spine, trunk)
        return spines

    def build_fattree(self, k="", *more):
        """Return the switches of the top tier."""
        if more:
            raise Error("topology: fattree K")
        k = whole("topology: fattree", k, 2, 16)
        if k % 2:
            raise Error(f"topology: fattree {k}: K must be even")
        half = k // 2
        trunk = self.scenario.one("trunk", "")
        edges = self.numbered("e", k * half)
        aggregation = self.numbered("a", k * half)
        cores = self.numbered("c", half * half)
        for edge in edges:
            self.add_fabric_hosts(edge, half)
        for pod in range(0, k * half, half):
            for i in range(half):
                for j in range(half):
                    self.add_link(edges[pod + i], aggregation[pod + j], trunk)
        for pod in range(0, k * half, half):
            for j in range(half):
                for c in range(half):
                    self.add_link(aggregation[pod + j], cores[j * half + c],
                                  trunk)
        return cores

    def distances(self, node):
        """Return each reachable node's distance to a node, in links."""
        far = {node: 0}
        queue = [node]
        names = {h.name for h in self.hosts}
        for now in queue:
            for other in self.neighbors[now]:
                if other not in far:
                    far[other] = far[now] + 1
                    if other not in names:
                        queue.append(other)
        return far

    def path(self, src, dst):
        """Return the links of one shortest path."""
        far = self.distances(dst.name)
        links, at = [], src.name
        while at != dst.name:
            at, link = min((n, l) for n, l in self.neighbors[at].items()
                           if far.get(n, 10**9) == far[at] - 1)
            links.append(link)
        return links

    def ideal_ns(self, flow, mtu, links):
        """Return the time from start to last ACK in an empty network."""
        n = -(-flow.size // mtu)
        last = flow.size - (n - 1) * mtu
        # the first packet has a RETH; the last one is padded to 4 bytes
        sizes = [mtu + FRAME_BYTES] * n
        sizes[-1] = -(-last // 4) * 4 + FRAME_BYTES
        sizes[0] += RETH_BYTES
        came = [0] * n
        for link in links:
            free = 0
            for i in range(n):
                free = max(free, came[i]) + sizes[i] * 8e9 / link.rate_bps
                came[i] = free + link.delay_ns
        return round(came[-1] + sum(link.delay_ns +
                                    ACK_BYTES * 8e9 / link.rate_bps
                                    for link in links))


def draw(cdf, share):
    """Return the size at a quantile (0 to 1), at least 1 byte."""
    i = max(bisect.bisect_left([p for _, p in cdf], share * 100), 1)
    (x0, p0), (x1, p1) = cdf[i - 1], cdf[i]
    return max(round(x0 + (x1 - x0) * (share * 100 - p0) / (p1 - p0)), 1)


def mean(cdf):
    return sum((a + b) / 2 * (q - p) / 100
               for (a, p), (b, q) in zip(cdf, cdf[1:]))


def words_of(line, names, required):
    """Return the leading NAME VALUE pairs, and the words for rocehost."""
    words, found = line.split(), {}
    while len(words) > 1 and words[0] in names:
        found[words[0]] = words[1]
        words = words[2:]
    for name in required:
        if name not in found:
            raise Error(f'"{line}": {name} is missing')
    return found, " ".join(words)


def generator(fabric, *words):
    """Return random numbers that depend on the seed and the words."""
    return random.Random(" ".join([fabric.scenario.one("seed"), *words]))


def chosen(what, hosts, text):
    """Return hosts by their indexes: "all", or a list of I or I-J."""
    if text == "all":
        return hosts
    indexes = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        first = whole(what, first, 0, len(hosts) - 1)
        indexes += range(first, whole(what, last or str(first), first,
                                      len(hosts) - 1) + 1)
    return [hosts[i] for i in indexes]


def ends_of(what, fabric, found):
    """Return the senders and receivers that "from" and "to" choose."""
    return (chosen(f"{what}: from", fabric.senders, found.get("from", "all")),
            chosen(f"{what}: to", fabric.receivers, found.get("to", "all")))


def load_flows(fabric, line, nth):
    """load CDF PERCENT [name NAME] [from HOSTS] [to HOSTS] for TIME: Poisson
    arrivals."""
    name, percent, *rest = line.split() + ["", ""]
    if name not in CDFS:
        raise Error(f'load: "{name}" is not {", ".join(CDFS)}')
    percent = whole("load: percent", percent, 1, 100)
    found, words = words_of(" ".join(rest).strip(),
                            ["name", "from", "to", "for"], ["for"])
    end_ns = number("load: for", found["for"], "time")
    senders, receivers = ends_of("load", fabric, found)
    for src in senders:
        link = fabric.neighbors[src.name][src.switch]
        rnd = generator(fabric, name, src.name, *nth)
        per_ns = link.rate_bps * percent / 100 / (mean(CDFS[name]) * 8e9)
        at_ns = rnd.expovariate(per_ns)
        while at_ns < end_ns:
            dst = rnd.choice([host for host in receivers if host != src])
            yield Flow(found.get("name", name), src, dst,
                       draw(CDFS[name], rnd.random()), round(at_ns), words)
            at_ns += rnd.expovariate(per_ns)


def fan_in(senders, receivers):
    """Return the number of hosts that can send to any of the receivers."""
    return min(sum(src != dst for src in senders) for dst in receivers)


def incast_flows(fabric, line, nth):
    """incast N [from HOSTS] [to HOSTS] size BYTES every TIME for TIME: N hosts
    send to one at once."""
    n, *rest = line.split() + [""]
    found, words = words_of(" ".join(rest).strip(),
                            ["from", "to", "size", "every", "for"],
                            ["size", "every", "for"])
    senders, receivers = ends_of("incast", fabric, found)
    n = whole("incast", n, 1, fan_in(senders, receivers))
    every_ns = number("incast: every", found["every"], "time", 1)
    size = number("incast: size", found["size"], "bytes", 1)
    rnd = generator(fabric, "incast", *nth)
    for at_ns in range(every_ns, number("incast: for", found["for"], "time"),
                       every_ns):
        dst = rnd.choice(receivers)
        for src in rnd.sample([h for h in senders if h != dst], n):
            yield Flow("incast", src, dst, size, at_ns, words)


def permutation_of(hosts, rnd):
    """Return pairs: each host sends to one other, and receives from one."""
    order = rnd.sample(hosts, len(hosts))
    return list(zip(order, order[1:] + order[:1]))


def permutation_flows(fabric, line, nth):
    """permutation BYTES TIME WORDS: one message from each host to one other."""
    parts = line.split(maxsplit=2)
    if len(parts) < 2:
        raise Error(f'permutation: "{line}" is not BYTES TIME WORDS')
    size, at, *words = parts + [""]
    if fabric.senders != fabric.receivers:
        raise Error("permutation: the topology has senders and receivers")
    for src, dst in permutation_of(fabric.senders,
                                   generator(fabric, "permutation", *nth)):
        yield Flow("permutation", src, dst,
                   number("permutation", size, "bytes", 1),
                   number("permutation", at, "time"), words[0])


def endless_flows(fabric, line, nth):
    """endless permutation|M:1 N: N flows without an end."""
    pattern, n, *words = line.split() + ["", ""]
    n = whole("endless: flows", n, 1, 1 << 20)
    rnd = generator(fabric, pattern, *nth)
    if pattern == "permutation" and fabric.senders != fabric.receivers:
        dsts = rnd.sample(fabric.receivers, len(fabric.receivers))
        pairs = [(src, dsts[i % len(dsts)])
                 for i, src in enumerate(fabric.senders)]
    elif pattern == "permutation":
        pairs = permutation_of(fabric.senders, rnd)
    else:
        if not re.fullmatch("[0-9]+:1", pattern):
            raise Error(f'endless: "{pattern}" is not permutation or M:1')
        m = whole("endless", pattern[:-2], 1,
                  fan_in(fabric.senders, fabric.receivers))
        pairs = []
        for dst in rnd.sample(fabric.receivers,
                              max(len(fabric.senders) // m, 1)):
            pairs += [(src, dst) for src in
                      rnd.sample([h for h in fabric.senders if h != dst], m)]
    for i in range(n):
        src, dst = pairs[i % len(pairs)]
        yield Flow(pattern.split(":", maxsplit=1)[0], src, dst, None, 0,
                   " ".join(words))


def named_flows(fabric, line, _nth):
    """flows NAME from HOSTS to J WORDS, as for one switch."""
    match = re.fullmatch(r"(\S+) from (\S+) to ([0-9]+) (.*)", line)
    if not match:
        raise Error(f'flows: "{line}" is not NAME from HOSTS to J WORDS')
    dst = fabric.receivers[whole("flows: to", match[3], 0,
                                 len(fabric.receivers) - 1)]
    sources = [h for h in chosen("flows: from", fabric.senders, match[2])
               if h != dst]
    if not sources:
        raise Error(f"flows: from {match[2]} to itself")
    for src in sources:
        yield Flow(match[1], src, dst, None, 0, match[4])


def message_flows(fabric, line, _nth):
    """message I J BYTES TIME WORDS: a single message from I to J."""
    parts = line.split(maxsplit=4)
    if len(parts) < 4:
        raise Error(f'message: "{line}" is not I J BYTES TIME')
    src = fabric.senders[whole("message: from", parts[0], 0,
                               len(fabric.senders) - 1)]
    dst = fabric.receivers[whole("message: to", parts[1], 0,
                                 len(fabric.receivers) - 1)]
    if src == dst:
        raise Error(f"message: from {parts[0]} to itself")
    yield Flow("message", src, dst, number("message", parts[2], "bytes", 1),
               number("message", parts[3], "time"), "".join(parts[4:]))


def all_flows(fabric):
    """Return all flows; no two finite ones of a host start at the same time."""
    flows, used = [], set()
    for key, make in (("flows", named_flows), ("endless", endless_flows),
                      ("load", load_flows), ("incast", incast_flows),
                      ("message", message_flows),
                      ("permutation", permutation_flows)):
        for i, line in enumerate(fabric.scenario.all(key)):
            # lines of a kind have different random numbers
            flows += make(fabric, line, [str(i)] if i else [])
    if not flows:
        raise Error("flows, endless, load, incast, message or permutation is missing")
    for i, flow in enumerate(flows):
        if flow.size is None:
            continue
        start_ns = flow.start_ns
        while (flow.src, start_ns) in used:
            start_ns += 1
        used.add((flow.src, start_ns))
        flows[i] = flow._replace(start_ns=start_ns)
    return flows


def with_words(qdisc, words):
    """Return a qdisc with these words, which replace those of the same name."""
    kind, *old = qdisc.split()
    values = dict(zip(old[::2], old[1::2]))
    new = words.split()
    values.update(zip(new[::2], new[1::2]))
    return " ".join([kind] + [f"{name} {value}"
                              for name, value in values.items()])


def mac(kind, i):
    return f"02:00:00:{kind:02x}:{i // 256:02x}:{i % 256:02x}"


class Lab:
    """Write commands for the lab."""

    def __init__(self, fabric, directory, qdisc, hosts="", ends=""):
        self.fabric = fabric
        self.words = hosts
        self.ends = ends
        if ends and not fabric.fiber:
            raise Error("ends: the topology has no fiber")
        if len(ends.split()) % 2:
            raise Error(f"ends: {ends}: each word must have a value")
        self.directory = directory
        self.qdisc = qdisc
        self.host = {h.name: h for h in fabric.hosts}
        self.host_mac = {h.name: mac(1, i) for i, h in enumerate(fabric.hosts)}
        self.port_mac = {}
        for link in fabric.links:
            for port in self.ports(link):
                if port not in self.host:
                    self.port_mac[port] = mac(17, len(self.port_mac))

    def ports(self, link):
        """Return the names of both ends."""
        if link.a in self.host:
            return link.a, f"{link.b}-{link.a}"
        return f"{link.a}-{link.b}", f"{link.b}-{link.a}"

    def put(self, name, lines):
        with open(os.path.join(self.directory, name), "w",
                  encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)

    def wires(self):
        ports = set()
        for link in self.fabric.links:
            ports |= set(self.ports(link))
            yield "wire {} {} {}".format(*self.ports(link), link.words)
        for line in self.fabric.scenario.all("event"):
            command, port, *words = line.split() + ["", ""]
            if command not in ("fail", "rate") or port not in ports:
                raise Error(f'event: "{line}" is not fail or rate, a port and '
                            "words")
            yield " ".join([command, port, *words]).strip()

    def links(self):
        for link in self.fabric.links:
            a, b = self.ports(link)
            for name, node in ((a, link.a), (b, link.b)):
                if name in self.host:
                    yield f"link set {name} address {self.host_mac[name]} up"
                else:
                    yield (f"link set {name} address {self.port_mac[name]} "
                           f"netns {node} up")

    def host_queues(self):
        """Let hosts drop nothing, however long they are paused."""
        for name in self.host:
            yield f"qdisc replace dev {name} root handle 1: mq"
            for i in range(1, 9):
                yield (f"qdisc replace dev {name} parent 1:{i} "
                       "pfifo limit 1000000")

    def routes(self, switch, far):
        """Neighbors, then a route to each host."""
        # 127.0.0.1 creates the local table, without which every nexthop is
        # invalid
        yield "link set lo up"
        groups = {}
        ids = {}
        for i, other in enumerate(self.fabric.neighbors[switch]):
            port = f"{switch}-{other}"
            if other in self.host:
                host = self.host[other]
                yield (f"neigh add {host.ip} lladdr {self.host_mac[other]} "
                       f"dev {port}")
                yield f"route add {host.ip} dev {port}"
                continue
            # the other switch has no address
            peer = self.port_mac[f"{other}-{switch}"]
            ids[other] = i + 1
            yield f"neigh add 169.254.0.1 lladdr {peer} dev {port}"
            yield f"nexthop add id {i + 1} via 169.254.0.1 dev {port} onlink"
        for host in self.fabric.hosts:
            if host.switch == switch:
                continue
            here = far[host.name][switch]
            nexts = tuple(ids[other] for other in ids
                          if far[host.name][other] == here - 1)
            if len(nexts) > 1 and nexts not in groups:
                groups[nexts] = 1000 + len(groups)
                yield (f"nexthop add id {groups[nexts]} group " +
                       "/".join(map(str, nexts)))
            yield f"route add {host.ip} nhid {groups.get(nexts, nexts[0])}"

    def qdisc_of(self, switch, other):
        """Return the qdisc of a port; with the words of "ends" at the fiber."""
        if self.ends and {switch, other} == set(self.fabric.fiber):
            return with_words(self.qdisc, self.ends)
        return self.qdisc

    def switch_probes(self, switch):
        sample_ns = number("sample", self.scenario("sample", "20us"), "time",
                           1000)
        n = number("duration", self.scenario("duration"), "time") // \
            sample_ns + 2
        for other in self.fabric.neighbors[switch]:
            yield (f"probe {switch}-{other} every {sample_ns}ns samples {n} "
                   f"kmax {self.scenario('kmax')}")

    def scenario(self, key, default=None):
        return self.fabric.scenario.one(key, default)

    def host_lines(self):
        words = {key[0]: self.scenario(key, " ")
                 for key in ("senders", "receivers", "locals")}
        one = {}
        for line in self.fabric.scenario.all("sender"):
            i, _, more = line.partition(" ")
            one[whole("sender", i, 0, len(self.fabric.hosts) - 1)] = more
        for i, host in enumerate(self.fabric.hosts):
            # drop the number of hosts
            more = words.get(host.name[0], " ").partition(" ")[2]
            # hosts with equal QP numbers would have equal UDP source ports,
            # and so their flows would take equal paths
            qpn = generator(self.fabric, "qpn", host.name).randrange(256, 1 << 22)
            yield (f"host {host.name} ip {host.ip} qpn {qpn} "
                   f"via {self.port_mac[f'{host.switch}-{host.name}']} "
                   f"seed {int(self.scenario('seed')) * 1000 + i} "
                   f"{self.scenario('host', '')} {more} {self.words} "
                   f"{one.get(i, '')}")

    def flow_lines(self, flows):
        for flow in flows:
            finite = "" if flow.size is None else \
                f"size {flow.size} start {flow.start_ns}ns "
            yield (f"flow {flow.src.name} name {flow.name} to {flow.dst.ip} "
                   f"{finite}{flow.words}")

    def csv(self, flows):
        """List the finite flows and their ideal completion times."""
        yield "dev,start_ns,name,to,bytes,ideal_ns"
        paths = {}
        for flow in flows:
            if flow.size is None:
                continue
            pair = flow.src, flow.dst
            if pair not in paths:
                paths[pair] = self.fabric.path(*pair)
            mtu = whole("mtu", last_word(flow.words, "mtu", "4096"), 256, 4096)
            ideal_ns = self.fabric.ideal_ns(flow, mtu, paths[pair])
            yield (f"{flow.src.name},{flow.start_ns},{flow.name},"
                   f"{flow.dst.name},{flow.size},{ideal_ns}")

    def write(self, flows):
        fabric = self.fabric
        far = {h.name: fabric.distances(h.name) for h in fabric.hosts}
        self.put("switches", fabric.switches)
        self.put("wires", self.wires())
        self.put("links", self.links())
        self.put("queues", self.host_queues())
        self.put("hosts", self.host_lines())
        self.put("flows", self.flow_lines(flows))
        self.put("flows.csv", self.csv(flows))
        for switch in fabric.switches:
            tier = min(distance[switch] for distance in far.values())
            self.put(f"{switch}.sysctl", [
                "net/ipv4/ip_forward 1",
                "net/ipv4/fib_multipath_hash_policy " +
                ("1" if tier % 2 else "3"),
                # source and destination port; only policy 3 uses this
                "net/ipv4/fib_multipath_hash_fields 0x30"])
            self.put(f"{switch}.routes", self.routes(switch, far))
            self.put(f"{switch}.tc", (
                f"qdisc add dev {switch}-{other} root handle 10: "
                f"{self.qdisc_of(switch, other)}"
                for other in fabric.neighbors[switch]))
            self.put(f"{switch}.probes", self.switch_probes(switch))


def main(argv):
    if len(argv) < (5 if argv[1:2] == ["lab"] else 3) or \
            argv[1] not in ("lab", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        scenario = Scenario(argv[2])
        if argv[1] == "lab":
            qdisc, directory, wires, hosts, ends = (argv[3:] + [""] * 3)[:5]
        else:
            qdisc = directory = hosts = ""
            wires, ends = (argv[3:] + [""] * 2)[:2]
        fabric = Fabric(scenario, wires)
        lab = Lab(fabric, directory, qdisc, hosts, ends)
        flows = all_flows(fabric)
        if argv[1] == "lab":
            os.makedirs(directory, exist_ok=True)
            lab.write(flows)
        else:
            list(lab.csv(flows))
            list(lab.wires())
            list(lab.host_lines())
            list(lab.switch_probes(fabric.switches[0]))
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
