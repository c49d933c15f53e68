# SPDX-License-Identifier: GPL-2.0
"""
Write a learning curve as a picture and as a CSV file.
"""
import os

import matplotlib
import matplotlib.pyplot as plt

# the curve must be above the fixed actions after at most this many steps
SOON = 10000


def verdict(points, fixed):
    """
    Return whether the curve rises above the mean of fixed actions soon enough,
    and a text.  An untrained network, at step 0, does not count.
    """
    soon = [(steps, mean) for steps, mean in points if 0 < steps <= SOON]
    steps, mean = max(soon, key=lambda point: point[1])
    return mean > fixed, (f"the curve is at {mean:.4f} after {steps} steps, "
                          f"and ends at {points[-1][1]:.4f} after "
                          f"{points[-1][0]}; the mean of fixed actions is "
                          f"{fixed:.4f}")


def write(path, points, fixed):
    """Write the curve; fixed is the mean reward of fixed actions."""
    figures = os.path.splitext(path)[0] + ".csv"
    with open(figures, "w", encoding="ascii") as file:
        file.write("steps,reward,fixed\n")
        file.writelines(f"{steps},{reward:.6f},{fixed:.6f}\n"
                        for steps, reward in points)
    matplotlib.use("agg")
    # make the file repeatable
    matplotlib.rcParams["svg.hashsalt"] = "iqcn"
    figure, axes = plt.subplots(figsize=(8, 4.5))
    axes.plot(*zip(*points), marker="o", label="the policy")
    axes.axhline(fixed, color="0.3", linestyle="--",
                 label="mean of fixed actions")
    axes.axvline(SOON, color="0.7", linestyle=":")
    axes.set_xlabel("steps of 5 ms that the policy has learned from")
    axes.set_ylabel("mean reward per step at the points of validation")
    axes.legend(loc="center right")
    figure.tight_layout()
    if path.endswith(".svg"):
        figure.savefig(path, metadata={"Date": None})
    else:
        figure.savefig(path)
    plt.close(figure)
