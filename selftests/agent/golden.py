#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Print golden vectors of a policy as CSV: random states, and the values of all
actions according to PyTorch.

  agent.sh golden POLICY [SEED]
"""
import sys

import torch

import dqn
import policy

STATES = 50


def vectors(layers, seed):
    """Return states, and the values of their actions."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    states = torch.rand(STATES, policy.SHAPE[0], generator=generator)
    with torch.no_grad():
        return states, dqn.network_of(layers)(states)


def main(argv):
    if not 1 <= len(argv) <= 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    states, values = vectors(policy.read(argv[0]).layers,
                             int(argv[1]) if argv[1:] else 1)
    print(",".join([f"s{i}" for i in range(policy.SHAPE[0])] +
                   [f"q{i}" for i in range(policy.SHAPE[-1])]))
    for row in torch.cat([states, values], 1).tolist():
        print(",".join(f"{number:.9g}" for number in row))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (policy.Error, OSError, ValueError) as error:
        sys.exit(f"golden: {error}")
