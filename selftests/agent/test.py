#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Tests of the learner.

  agent.sh test [lab]   "lab": also tests that run episodes
"""
import hashlib
import itertools
import os
import sys
import tempfile
import time
import traceback

import numpy
import torch

import curve
import dqn
import env
import episodes
import golden
import policy
import train


def distance(actions, best):
    """Return the distances of actions from best, summed over both rates."""
    return abs(actions // 5 - best // 5) + abs(actions % 5 - best % 5)


def transitions(seed, n=300, best=7):
    """Return transitions of an environment in which one action is the best.
    Each random action lasts for 20 steps, as in iqcn agent."""
    rnd = numpy.random.default_rng(seed)
    actions = numpy.repeat(rnd.integers(policy.SHAPE[-1], size=n), 20)[:n]
    states = rnd.random((n + 1, policy.SHAPE[0]), numpy.float32)
    rewards = (1 - distance(actions, best) / 8).astype(numpy.float32)
    return episodes.Transitions(states[:-1], actions, rewards, states[1:])


def learn(steps):
    """Return a policy that was trained with transitions()."""
    torch.manual_seed(1)
    return train.train(
        lambda run: [transitions(episode.seed) for episode in run],
        train.Draw(1), "few", steps, lambda _: None)


def a_policy_file_keeps_every_bit(directory):
    layers = dqn.layers_of(dqn.Dueling())
    layers[0][0, :4] = 1e-42, -0.0, 3.4e38, 1 / 3
    path = os.path.join(directory, "policy")
    policy.write(path, policy.Policy(layers, "few", 1000000, (7, 8)),
                 ["a note"])
    read = policy.read(path)
    assert read[1:] == ("few", 1000000, (7, 8))
    for ours, theirs in zip(layers, read.layers):
        assert ours.tobytes() == theirs.tobytes()


def a_policy_has_the_values_of_its_network(_):
    torch.manual_seed(1)
    net = dqn.Dueling()
    states = torch.rand(100, policy.SHAPE[0])
    net.mean.copy_(states.mean(0))
    net.scale.copy_(states.std(0))
    with torch.no_grad():
        wanted = net(states) + dqn.USUAL_VALUE
        values = dqn.network_of(dqn.layers_of(net))(states)
        assert torch.allclose(values, wanted, rtol=1e-5)
        # the features that say which actions were taken last change nothing
        states[:, dqn.HIDDEN] = 0.5
        assert torch.allclose(net(states) + dqn.USUAL_VALUE, wanted)


def bad_policy_files_are_refused(directory):
    path = os.path.join(directory, "policy")
    policy.write(path, policy.fixed(3, "few"))
    with open(path, encoding="ascii") as file:
        good = file.read()
    for old, new in (("policy 1", "policy 2"), ("26 32", "26 31"),
                     ("end\n", ""), ("0x1p+0", "nan"), ("0x1p+0", "one"),
                     ("0x1p+0 ", ""), ("reward few\n", "")):
        assert old in good
        with open(path, "w", encoding="ascii") as file:
            file.write(good.replace(old, new))
        try:
            policy.read(path)
        except policy.Error:
            continue
        raise AssertionError(f"{old} -> {new} was read")


def a_fixed_policy_prefers_its_action(_):
    for action in 0, 13, 24:
        _, values = golden.vectors(policy.fixed(action, "few").layers, 1)
        assert (values.argmax(1) == action).all()


def golden_vectors_repeat(_):
    layers = dqn.layers_of(dqn.Dueling())
    states, values = golden.vectors(layers, 1)
    again = golden.vectors(layers, 1)
    assert states.equal(again[0]) and values.equal(again[1])
    assert not states.equal(golden.vectors(layers, 2)[0])


def a_log_has_its_transitions(directory):
    path = os.path.join(directory, "agent.csv")
    columns = ["step", "action", "reward", "mode"] + \
        [f"s{i}" for i in range(26)]
    rows = [(0, 4, 0.9, "run"), (1, 5, 0.1, "run"), (2, -1, 0.2, "run"),
            (3, 6, 0.3, "run"), (5, 7, 0.4, "run"), (6, 8, 0.5, "audit"),
            (7, 9, 0.6, "run")]
    with open(path, "w", encoding="ascii") as file:
        for row in [columns] + [(*row, *[row[0] / 8] * 26) for row in rows]:
            file.write(",".join(map(str, row)) + "\n")
    got = episodes.read_log(path)
    # without the transition that has no action, the one before a gap, and the
    # one whose action was not taken
    assert got.actions.tolist() == [4, 5, 7]
    assert numpy.allclose(got.rewards, [0.1, 0.2, 0.5])
    assert got.states[:, 0].tolist() == [0, 1 / 8, 5 / 8]
    assert got.next_states[:, 25].tolist() == [1 / 8, 2 / 8, 6 / 8]


def the_replay_forgets_the_oldest(_):
    replay = dqn.Replay(500)
    for seed in range(3):
        replay.add(transitions(seed))
    last = transitions(2)
    assert replay.actions[100:400].tolist() == last.actions.tolist()
    assert replay.actions[400:].tolist() == \
        transitions(1).actions[100:200].tolist()
    wanted = sum(0.97 ** i * (last.rewards[i] - 0.7) for i in range(60))
    assert abs(replay.returns[100] - wanted) < 1e-5
    assert abs(replay.discounts[100] - 0.97 ** 60) < 1e-6
    assert (replay.next_states[100].numpy() == last.states[60]).all()
    # the last return has one step
    assert abs(replay.returns[399] - (last.rewards[-1] - 0.7)) < 1e-6
    assert abs(replay.discounts[399] - 0.97) < 1e-6


def draws_visit_each_pair_once_per_round(_):
    draw = train.Draw(1)
    n = len(episodes.FIBERS_KM) * len(episodes.SENDERS)
    drawn = [draw(None, 0) for _ in range(2 * n)]
    for half in drawn[:n], drawn[n:]:
        assert len({(e.point.km, e.point.senders) for e in half}) == n
    assert {e.point.timer for e in drawn} == \
        set(episodes.TIMERS + episodes.LONG_TIMERS)
    assert len({e.seed for e in drawn}) == len(drawn)


def a_scenario_has_the_limit_of_the_near_ones(_):
    text = episodes.scenario(episodes.Point(200, 4, "5ms"), 1, "run")
    # a fourth of the limit of longhaul-near-200 at 100 Gb/s
    assert " limit 16703125 " in text and "agent agent run\n" in text
    assert text.count("flows incast") == 4


def the_learner_finds_the_best_action(_):
    learned, points = learn(3000)
    states, values = golden.vectors(learned.layers, 1)
    # neighbors differ by 0.125 in a step; 5 of 25 actions are within 1, 12 are
    # within 2
    off = distance(values.argmax(1), 7)
    assert (off <= 1).float().mean() > 2 / 3
    assert (off <= 2).float().mean() > 0.9
    # a reward of 1 in each step is worth 33, but a return includes lower
    # rewards
    assert 20 < values.max(1).values.mean() < 34
    assert max(points) == 3000 and len(points) > 2


def the_best_policy_is_the_result(_):
    mean = 0

    def run(some):
        return [episodes.Transitions(None, None, numpy.array([mean]), None)
                for _ in some]

    best = train.Best(run, lambda _: None)
    for i, mean in enumerate((0.5, 0.75, 0.75, 0.625)):
        best.offer(i, 100 * i)
    # of equally good policies, the later one is kept
    assert (best.policy, best.reward) == (2, 0.75)
    assert best.curve == {0: 0.5, 100: 0.75, 200: 0.75, 300: 0.625}


def the_curve_must_rise_soon(_):
    points = [(0, 0.875), (10000, 0.75), (10001, 0.875)]
    assert curve.verdict(points, 0.74)[0]
    assert not curve.verdict(points, 0.75)[0]
    # it may fall again
    assert curve.verdict([(0, 0.5), (9000, 0.75), (10000, 0.25)], 0.74)[0]


def the_curve_begins_with_few_steps(_):
    before = [transitions(seed) for seed in range(40)]
    assert len(train.early(before)) == 32
    assert train.early(before[:3]) == before[:3]
    points = train.beginning(
        lambda run: [transitions(episode.seed) for episode in run], "few",
        before[:3], lambda _: None)
    assert list(points) == [0, 900]


def validation_is_at_points_that_training_does_not_use(_):
    trained = set(itertools.product(episodes.FIBERS_KM, episodes.SENDERS))
    assert not trained & {(p.km, p.senders) for p in train.VALIDATION}


def the_same_seed_yields_the_same_policy(directory):
    files = []
    for name in "a", "b":
        path = os.path.join(directory, name)
        learned, points = learn(1200)
        policy.write(path, learned)
        curve.write(path + ".svg", sorted(points.items()), 0.5)
        for name in path, path + ".svg", path + ".csv":
            with open(name, "rb") as file:
                files.append(file.read())
    assert files[:3] == files[3:]


def digest(delay_s):
    """Return a digest of an episode whose learner waits before each action."""
    link = env.LongHaul()
    state, info = link.reset(seed=1)
    seen = hashlib.sha256(state.tobytes())
    truncated, step = False, 0
    while not truncated:
        time.sleep(delay_s)
        state, reward, terminated, truncated, info = link.step(7 * step % 25)
        assert not terminated
        seen.update(state.tobytes() + f"{reward} {info}".encode())
        step += 1
    assert step == episodes.STEPS
    return seen.hexdigest()


def virtual_time_stands_still_between_steps(_):
    assert digest(0) == digest(0.003)


def the_environment_reports_why_an_episode_fails(_):
    link = env.LongHaul(reward="much")
    try:
        link.reset(seed=1)
    except episodes.Error as error:
        assert "reward must be few or literal" in str(error)
        return
    raise AssertionError("the episode began")


def an_ended_environment_leaves_no_process(_):
    link = env.LongHaul()
    link.reset(seed=1)
    link.step(0)
    group = link.lab.process.pid
    link.close()
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("processes are left")


def training_in_the_lab_repeats(directory):
    files = []
    for name in "a", "b":
        path = os.path.join(directory, name)
        train.main(["--steps", "240", "--reference", "1", "--out", path])
        with open(path, "rb") as file:
            files.append(file.read())
    assert files[0] == files[1]


TESTS = (a_policy_file_keeps_every_bit, a_policy_has_the_values_of_its_network,
         bad_policy_files_are_refused,
         a_fixed_policy_prefers_its_action, golden_vectors_repeat,
         a_log_has_its_transitions, the_replay_forgets_the_oldest,
         draws_visit_each_pair_once_per_round,
         a_scenario_has_the_limit_of_the_near_ones, the_learner_finds_the_best_action,
         the_best_policy_is_the_result, the_curve_must_rise_soon,
         the_curve_begins_with_few_steps,
         validation_is_at_points_that_training_does_not_use,
         the_same_seed_yields_the_same_policy)
LAB_TESTS = (virtual_time_stands_still_between_steps,
             the_environment_reports_why_an_episode_fails,
             an_ended_environment_leaves_no_process,
             training_in_the_lab_repeats)


def main(argv):
    torch.set_num_threads(1)
    failed = 0
    tests = TESTS + (LAB_TESTS if argv == ["lab"] else ())
    print(f"1..{len(tests)}")
    for i, test in enumerate(tests, 1):
        what = "agent: " + test.__name__.replace("_", " ")
        try:
            with tempfile.TemporaryDirectory() as directory:
                test(directory)
            print(f"ok {i} {what}", flush=True)
        except Exception:  # run the next test in any case
            traceback.print_exc(file=sys.stdout)
            print(f"not ok {i} {what}", flush=True)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
