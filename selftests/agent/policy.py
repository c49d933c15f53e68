# SPDX-License-Identifier: GPL-2.0
"""
Policy files: the network of iqcn agent, and the command that trained it.

A layer is an array of float32 with a row per neuron: its bias, then its
weights.  The file has hexadecimal floats, so that nothing is rounded.
"""
import re
from collections import namedtuple

import numpy

SHAPE = (26, 32, 32, 25)
# An action is 5 times the index of the rate at which the filter passes CNPs,
# plus the index of the rate of supplements.  Both rates are per second.
RATES = (7500, 10000, 12500, 15000, 17500)
SUPPLEMENTS = (0, 500, 1000, 1500, 2000)
REWARDS = ("few", "literal")

Policy = namedtuple("Policy", "layers reward interval_ns fiber_m")


class Error(Exception):
    pass


def hexadecimal(value):
    """Return a float32 as C's %a prints it."""
    return re.sub(r"\.?0*p", "p", float(numpy.float32(value)).hex())


def write(path, policy, comments=()):
    lines = ["iqcn-policy 1"]
    lines += [f"# {comment}" for comment in comments]
    lines += ["shape " + " ".join(map(str, SHAPE)),
              f"interval_ns {policy.interval_ns}",
              f"reward {policy.reward}",
              "fiber_m " + " ".join(map(str, policy.fiber_m))]
    lines += [" ".join(map(hexadecimal, row))
              for layer in policy.layers for row in layer]
    with open(path, "w", encoding="ascii") as file:
        file.writelines(line + "\n" for line in lines + ["end"])


def read(path):
    with open(path, encoding="ascii") as file:
        if file.readline() != "iqcn-policy 1\n":
            raise Error(f"{path}: not a policy of version 1")
        lines = [line.split() for line in file if line[0] not in "#\n"]
    head = {words[0]: words[1:] for words in lines[:4]}
    try:
        shape = tuple(map(int, head["shape"]))
        rows = [[float.fromhex(word) for word in words]
                for words in lines[4:-1]]
        policy = Policy(layers_of(rows), head["reward"][0],
                        int(head["interval_ns"][0]),
                        tuple(map(int, head["fiber_m"])))
    except (KeyError, IndexError, ValueError) as error:
        raise Error(f"{path}: {error}") from error
    if shape != SHAPE or lines[-1] != ["end"]:
        raise Error(f"{path}: the shape is not {SHAPE}, or the end is missing")
    return policy


def layers_of(rows):
    """Return layers from the rows of all neurons."""
    if len(rows) != sum(SHAPE[1:]):
        raise ValueError(f"{len(rows)} neurons, not {sum(SHAPE[1:])}")
    layers = []
    for inputs, outputs in zip(SHAPE, SHAPE[1:]):
        layer = numpy.array(rows[:outputs], numpy.float32)
        if layer.shape != (outputs, 1 + inputs) or \
                not numpy.isfinite(layer).all():
            raise ValueError(f"not {1 + inputs} finite numbers per neuron")
        layers.append(layer)
        rows = rows[outputs:]
    return layers


def fixed(action, reward, interval_ns=1000000):
    """Return a policy that always prefers one action, on any fiber."""
    layers = [numpy.zeros((outputs, 1 + inputs), numpy.float32)
              for inputs, outputs in zip(SHAPE, SHAPE[1:])]
    layers[-1][action, 0] = 1
    return Policy(layers, reward, interval_ns, (0, 100000000))
