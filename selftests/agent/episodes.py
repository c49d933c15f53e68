# SPDX-License-Identifier: GPL-2.0
"""
Episodes: runs of a long-haul link in the lab, with iqcn agent on the switch in
front of the fiber.
"""
import csv
import itertools
import os
import subprocess
import tempfile
from collections import namedtuple

import numpy

import policy

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SCENARIOS = os.path.join(TOP, "selftests", "scenarios", "scenarios.sh")
WORK = os.path.join(TOP, "build", "agent")
PORT = "sw0-sw1"
INTERVAL_NS = 5000000
STEPS = 60
# a log has one more row: the state before the first action
ROWS = STEPS + 1
# delay of the equipment at the ends of a fiber, by its length in km, as in
# longhaul-near-*.scenario; the delays for other lengths are interpolated
EQUIPMENT_US = {50: 64, 100: 63, 200: 67, 250: 72, 300: 77, 450: 78, 500: 87,
                700: 111, 850: 130, 1000: 148}
# lengths of fibers to train with
FIBERS_KM = (50, 100, 200, 300, 500, 700, 1000)
SENDERS = (2, 4, 5, 7, 10, 16)
# Increase timers of senders for fibers of up to 500 km, and for longer fibers:
# timers much shorter than the round-trip time would undo a cut before the queue
# reflects it
TIMERS = ("5ms", "7ms")
LONG_TIMERS = ("10ms", "14ms")

Point = namedtuple("Point", "km senders timer")
# explore is the share of random actions
Episode = namedtuple("Episode", "point seed policy explore")
# arrays with one row per step that led to another state
Transitions = namedtuple("Transitions", "states actions rewards next_states")


class Error(Exception):
    pass


def draw(rnd):
    """Yield points in random order: each round has every pair of a fiber and a
    number of senders once, with a random timer."""
    while True:
        pairs = list(itertools.product(FIBERS_KM, SENDERS))
        rnd.shuffle(pairs)
        for km, senders in pairs:
            yield Point(km, senders,
                        rnd.choice(TIMERS if km <= 500 else LONG_TIMERS))


def scenario(point, seed, agent=""):
    """Return the text of a scenario; agent: arguments of iqcn agent."""
    km, n, timer = point
    equipment_us = EQUIPMENT_US[km]
    rtt_us = km * 10 + 2 * equipment_us + 4
    limit = rtt_us * 25000 // 8 * 5 // 2
    lines = [
        f"title training of the agent: {km} km, {n} senders",
        f"seed {seed}",
        f"topology longhaul {km} {equipment_us}us",
        f"senders {n}",
        f"receivers {n}",
        "host rate 25gbit rp connectx cnp 50us ack 16 rto 100ms alpha 55us "
        f"g 1/256 increase {timer} reduce 4us f 1 rai 5mbit rhai 50mbit "
        "min 1mbit cp-dscp 46",
        "link rate 25gbit delay 1us"]
    lines += [f"flows incast from {i} to {i} mtu 4096 size endless "
              "messages endless cm" for i in range(n)]
    lines += [
        f"duration {ROWS * INTERVAL_NS // 1000000}ms",
        "count 1ms",
        "figures none",
        "kmax 400000",
        "sample 1ms",
        f"port {PORT}",
        f"variant agent iqcn limit {limit} kmin 100k kmax 400k pmax 0.2 "
        "notify off",
        f"ends agent notify supplement supplement 2000 fiber {km}km "
        "filter auto cnp-dscp 46 snoop netns"]
    if agent:
        lines.append(f"agent agent {agent}")
    return "".join(line + "\n" for line in lines)


def options(seed, explore=0, reward="few"):
    """Return the options of iqcn agent run for an episode."""
    return f"--interval {INTERVAL_NS // 1000000}ms --explore {explore:.4f} " \
        f"--seed {seed} --reward {reward}"


def state_of(row):
    return [row[f"s{i}"] for i in range(policy.SHAPE[0])]


def read_log(path):
    """Return the transitions of a log: a row has the state in which its action
    was chosen, and the reward of the action before it."""
    with open(path, encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    states = numpy.array([state_of(row) for row in rows], numpy.float32)
    actions = numpy.array([int(row["action"]) for row in rows])
    rewards = numpy.array([row["reward"] for row in rows], numpy.float32)
    steps = numpy.array([int(row["step"]) for row in rows])
    ran = numpy.array([row["mode"] == "run" for row in rows])
    # omit a step before a gap, and steps whose action was not taken
    use = ran[:-1] & (actions[:-1] >= 0) & (numpy.diff(steps) == 1)
    if not use.any():
        raise Error(f"{path}: no transitions")
    return Transitions(states[:-1][use], actions[:-1][use], rewards[1:][use],
                       states[1:][use])


def environment(directory):
    """Return an environment with scenarios and results in a directory."""
    return dict(os.environ, IQCN_SCENARIOS=directory,
                IQCN_RESULTS=os.path.join(directory, "results"))


def work_directory():
    # inside the tree, because the lab mounts it; the names of these directories
    # have a fixed length, so the lab's clock does not depend on them
    os.makedirs(WORK, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=WORK)


def run(episodes, directory, jobs=2):
    """Run episodes, and return the transitions of each."""
    names = [f"e{i}" for i in range(len(episodes))]
    for name, episode in zip(names, episodes):
        path = os.path.join(directory, name)
        policy.write(path + ".policy", episode.policy)
        with open(path + ".scenario", "w", encoding="ascii") as file:
            file.write(scenario(
                episode.point, episode.seed,
                f"run --policy {os.path.relpath(path, TOP)}.policy " +
                options(episode.seed, episode.explore,
                        episode.policy.reward)))
    done = subprocess.run([SCENARIOS, "-q", "-j", str(jobs), *names],
                          env=environment(directory), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode:
        raise Error(f"an episode failed:\n{done.stdout}")
    return [read_log(os.path.join(directory, "results", name, "agent",
                                  "agent.csv")) for name in names]
