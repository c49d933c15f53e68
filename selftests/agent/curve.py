# SPDX-License-Identifier: GPL-2.0
"""
Write a learning curve as a picture and as a CSV file.
"""
import os

import matplotlib
import matplotlib.pyplot as plt

# episodes per mean: many, because the reward depends on the fiber and on the
# number of senders
WINDOW = 24


def means(points):
    """Return for each point the mean of up to WINDOW episodes ending there."""
    result = []
    for i in range(len(points)):
        last = [reward for _, reward in points[max(i + 1 - WINDOW, 0):i + 1]]
        result.append((points[i][0], sum(last) / len(last)))
    return result


def full_means(points):
    """Return the means of WINDOW episodes; with fewer episodes, all means."""
    mean = means(points)
    return mean[WINDOW - 1:] or mean


def verdict(points, before):
    """Return whether the last mean is above that of fixed actions, and a text."""
    steps, mean = full_means(points)[-1]
    return mean > before, (f"the curve ends at {mean:.4f} after {steps} steps, the "
                           f"mean of the fixed actions is {before:.4f}")


def write(path, points, before):
    """Write the curve; before is the mean reward of fixed actions."""
    mean = means(points)
    full = full_means(points)
    figures = os.path.splitext(path)[0] + ".csv"
    with open(figures, "w", encoding="ascii") as file:
        file.write("steps,reward,mean,fixed\n")
        fixed = "" if before is None else f"{before:.6f}"
        file.writelines(f"{steps},{reward:.6f},{smooth:.6f},{fixed}\n"
                        for (steps, reward), (_, smooth) in zip(points, mean))
    matplotlib.use("agg")
    # make the file repeatable
    matplotlib.rcParams["svg.hashsalt"] = "iqcn"
    figure, axes = plt.subplots(figsize=(8, 4.5))
    axes.plot(*zip(*points), ".", color="0.7", label="an episode")
    axes.plot(*zip(*full), label=f"mean of {WINDOW} episodes")
    if before is not None:
        axes.axhline(before, color="0.3", linestyle="--",
                     label="mean of the fixed actions")
    axes.set_xlabel("steps of 5 ms")
    axes.set_ylabel("mean reward per step")
    axes.legend(loc="lower right")
    figure.tight_layout()
    if path.endswith(".svg"):
        figure.savefig(path, metadata={"Date": None})
    else:
        figure.savefig(path)
    plt.close(figure)
