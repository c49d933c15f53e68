#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Train a policy for iqcn agent in the lab.

Before the first round, episodes run with fixed actions.  The learner begins
with these episodes.  In each round two episodes run with the current policy;
then the learner makes two updates for each of their steps.  From time to time
the policy is validated.  The validations are the learning curve: the mean
reward by the number of steps that the policy has learned from, those with fixed
actions included.  The curve begins with an untrained network, and with a
network that has learned from the first EARLY_STEPS steps only.  Fixed actions
are validated at the same points, for comparison.  The policy that earns most in
a validation is the result.  The same options yield the same policy, to the
byte.
"""
import argparse
import itertools
import os
import random
import shlex
import subprocess
import sys

import numpy
import torch

import curve
import dqn
import episodes
import policy

# share of random actions, which falls linearly within EXPLORE_STEPS
EXPLORE_FIRST = 0.5
EXPLORE_LAST = 0.1
EXPLORE_STEPS = 1200
PER_ROUND = 2
UPDATES_PER_STEP = 2
# before the first round: the number of steps with fixed actions per update, and
# the number of validations
STEPS_PER_FIRST_UPDATE = 2
FIRST_OFFERS = 4
# episodes with fixed actions at a point
FIXED = 8
# Points at which policies are compared, without exploration, every
# VALIDATE_STEPS steps: pairs of a fiber and a number of senders that training
# does not use
VALIDATION = tuple(episodes.Point(*point) for point in (
    (50, 12, "5ms"), (100, 8, "5ms"), (250, 4, "5ms"), (250, 8, "5ms"),
    (450, 5, "5ms"), (450, 8, "5ms"), (850, 4, "10ms"), (850, 8, "10ms")))
VALIDATION_SEED = 7
VALIDATE_STEPS = 600
# steps that the network at the second point of the curve has learned from
EARLY_STEPS = 9600
# fixed actions to compare the curve with
COMPARED = range(0, policy.SHAPE[-1], 3)


def explore(steps):
    share = min(steps / EXPLORE_STEPS, 1)
    return EXPLORE_FIRST + share * (EXPLORE_LAST - EXPLORE_FIRST)


class Draw:
    """Draws episodes: points, and seeds that do not repeat."""

    def __init__(self, seed):
        self.points = episodes.draw(random.Random(seed))
        self.next_seed = seed * 100000

    def __call__(self, net_policy, share):
        self.next_seed += 1
        return episodes.Episode(next(self.points), self.next_seed, net_policy,
                                share)


def fixed(episode, actions, reward):
    """Return an episode for each action: only the action differs."""
    return [episode._replace(policy=policy.fixed(action, reward,
                                                 episodes.INTERVAL_NS))
            for action in actions]


def rounds(run, some, what, report):
    """Run episodes, PER_ROUND at a time, and return their transitions."""
    done = []
    while len(done) < len(some):
        done += run(some[len(done):len(done) + PER_ROUND])
        report(f"episode {len(done)} of {len(some)} with {what}")
    return done


def mean_reward(some):
    return float(numpy.mean([t.rewards.mean() for t in some]))


def best_rate(some):
    """Return the rate whose actions earned most."""
    return max(range(len(policy.RATES)), key=lambda rate: mean_reward(
        [t for t in some
         if t.actions[0] // len(policy.SUPPLEMENTS) == rate]))


def reference(run, draw, reward, points, report):
    """
    Run episodes with fixed actions, and return two lists of transitions.  The
    first has FIXED episodes at each of a number of points; the episodes take
    all actions in turn.  The second has, at as many further points, each action
    with the rate that earned most in the first list, because the effect of
    supplements depends on the point and is smaller than that of rates.
    """
    # 7 and 25 are coprime, so no action is omitted
    spread = [episode for i in range(points) for episode in
              fixed(draw(None, 0), [7 * (i * FIXED + j) % policy.SHAPE[-1]
                                    for j in range(FIXED)], reward)]
    spread = rounds(run, spread, "fixed actions", report)
    if not spread:
        return [], []
    n = len(policy.SUPPLEMENTS)
    rate = best_rate(spread)
    fine = [episode for _ in range(points) for episode in
            fixed(draw(None, 0), range(rate * n, rate * n + n), reward)]
    return spread, rounds(run, fine, f"rate {policy.RATES[rate]}", report)


def validate(run, net_policy):
    """Return the mean reward of a policy at the points of validation."""
    rewards = []
    for i in range(0, len(VALIDATION), PER_ROUND):
        rewards += [t.rewards.mean() for t in run(
            [episodes.Episode(point, VALIDATION_SEED, net_policy, 0)
             for point in VALIDATION[i:i + PER_ROUND]])]
    return float(numpy.mean(rewards))


def compared(run, reward, report):
    """Return the mean reward of fixed actions at the points of validation."""
    means = []
    for action in COMPARED:
        means.append(validate(run, policy.fixed(action, reward,
                                                episodes.INTERVAL_NS)))
        report(f"action {action}: validation {means[-1]:.4f}")
    return float(numpy.mean(means))


class Best:
    """Keeps the policy that earns most in a validation, and the curve."""

    def __init__(self, run, report):
        self.run = run
        self.report = report
        self.policy = None
        self.reward = float("-inf")
        # mean reward by the number of steps; if there are several validations
        # with the same number, that of the last one
        self.curve = {}

    def offer(self, net_policy, steps):
        mean = validate(self.run, net_policy)
        self.report(f"step {steps}: validation {mean:.4f}")
        self.curve[steps] = mean
        # of equally good policies, keep the later one, which has learned from
        # more steps
        if mean >= self.reward:
            self.policy, self.reward = net_policy, mean


def policy_of(learner, reward):
    return policy.Policy(dqn.layers_of(learner.target), reward,
                         episodes.INTERVAL_NS,
                         (1000 * min(episodes.FIBERS_KM),
                          1000 * max(episodes.FIBERS_KM)))


def count(some):
    return sum(len(t.rewards) for t in some)


def begin(some, updates, offer=lambda learner: None):
    """
    Return a learner that has learned from transitions of fixed actions.  They
    stay in its replay, because they show best what an action does in the long
    run.  offer() gets the learner FIRST_OFFERS times.
    """
    first = count(some) // STEPS_PER_FIRST_UPDATE
    learner = dqn.Learner(first or updates)
    for transitions in some:
        learner.replay.add(transitions)
    if some:
        learner.scale()
    for i in range(1, first + 1):
        learner.update()
        if i % max(1, first // FIRST_OFFERS) == 0:
            offer(learner)
    return learner


def early(before):
    """Return the first episodes, with up to EARLY_STEPS steps."""
    ends = itertools.accumulate(len(t.rewards) for t in before)
    return [t for t, end in zip(before, ends) if end <= EARLY_STEPS]


def beginning(run, reward, before, report):
    """Return the first points of the curve: no steps, and the first steps."""
    points = {}
    for some in [], early(before):
        points[count(some)] = validate(run, policy_of(begin(some, 1), reward))
        report(f"step {count(some)} of another run: validation "
               f"{points[count(some)]:.4f}")
    return points


def train(run, draw, reward, steps, report, before=()):
    """
    Learn for at least this number of steps after those with fixed actions
    (before), and return the policy and the curve: the mean reward by the number
    of steps.  run() takes episodes and returns their transitions, report()
    takes a line of text.
    """
    best = Best(run, report)
    base = validated = count(before)
    learner = begin(before, UPDATES_PER_STEP * steps,
                    lambda now: best.offer(policy_of(now, reward), base))
    done = 0
    while done < steps:
        share = explore(done)
        now = policy_of(learner, reward)
        collected = 0
        for transitions in run([draw(now, share) for _ in range(PER_ROUND)]):
            learner.replay.add(transitions)
            collected += len(transitions.rewards)
        losses = [learner.update()
                  for _ in range(UPDATES_PER_STEP * collected)]
        done += collected
        report(f"step {base + done} of {base + steps}: explored {share:.3f}, "
               f"loss {numpy.mean(losses):.6f}")
        if done >= steps or base + done - validated >= VALIDATE_STEPS:
            validated = base + done
            best.offer(policy_of(learner, reward), validated)
    return best.policy, best.curve


def commit():
    """Return the commit of the tree, with "+" if there are changes."""
    def git(*words):
        return subprocess.run(["git", "-C", episodes.TOP, *words], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False)
    if git("rev-parse").returncode:
        return "unknown"
    changed = git("diff", "--quiet", "HEAD").returncode != 0
    return git("rev-parse", "HEAD").stdout.strip() + "+" * changed


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="agent.sh train", description="Train a policy for iqcn agent.")
    parser.add_argument("--steps", type=int, default=1800,
                        help="steps of 5 ms to learn from (default 1800)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reward", choices=policy.REWARDS, default="few")
    parser.add_argument("--out", required=True, metavar="FILE",
                        help="policy to write")
    parser.add_argument("--curve", metavar="FILE.svg",
                        help="learning curve to write, with FILE.csv")
    parser.add_argument("--reference", type=int, metavar="N", default=24,
                        help="points with fixed actions before training (default 24)")
    parser.add_argument("--jobs", type=int, default=PER_ROUND,
                        help="episodes at the same time (default 2)")
    args = parser.parse_args(argv)
    if min(args.steps, args.jobs) < 1 or min(args.seed, args.reference) < 0:
        parser.error("--steps and --jobs must be at least 1, --seed and "
                     "--reference at least 0")
    return args


def main(argv):
    args = parse(argv)
    made_by = commit()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    draw = Draw(args.seed)

    def report(text):
        print(text, flush=True)

    with episodes.work_directory() as directory:
        def run(list_of_episodes):
            return episodes.run(list_of_episodes, directory, args.jobs)
        spread, fine = reference(run, draw, args.reward, args.reference,
                                 report)
        learned, points = train(run, draw, args.reward, args.steps, report,
                                spread + fine)
        if args.curve:
            # a short run may already have the second point
            points = beginning(run, args.reward, spread + fine,
                               report) | points
            level = compared(run, args.reward, report)
    os.makedirs(os.path.dirname(os.path.abspath(args.out)), exist_ok=True)
    policy.write(args.out, learned, [
        "made by: agent.sh train " + shlex.join(
            ["--steps", str(args.steps), "--seed", str(args.seed),
             "--reward", args.reward, "--reference", str(args.reference)]),
        f"seed: {args.seed}",
        f"commit: {made_by}",
        f"trained on: fibers of {', '.join(map(str, episodes.FIBERS_KM))} "
        f"km at 25 Gb/s, {', '.join(map(str, episodes.SENDERS))} senders, "
        f"increase timers of {' and '.join(episodes.TIMERS)} up to 500 km, "
        f"{' and '.join(episodes.LONG_TIMERS)} beyond"])
    if not args.curve:
        return 0
    points = sorted(points.items())
    curve.write(args.curve, points, level)
    good, text = curve.verdict(points, level)
    report(text)
    if not good:
        print(f"train: the curve is not above the fixed actions after "
              f"{curve.SOON} steps", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except episodes.Error as error:
        sys.exit(f"train: {error}")
