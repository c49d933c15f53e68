# SPDX-License-Identifier: GPL-2.0
"""
A long-haul link as an environment for other learners, with Gymnasium's methods:

    env = LongHaul()
    state, info = env.reset(seed=1)
    state, reward, terminated, truncated, info = env.step(action)

Each episode is a run in the lab.  Virtual time stands still between two calls
of step(): see selftests/tools/relay.c, which connects iqcn agent to this class.
"""
import fcntl
import os
import pty
import random
import signal
import subprocess
import termios
import tty

import numpy

import episodes
import policy

# columns of iqcn agent's log
NUMBERS = ("reward", "utilization", "depth_term", "supplement_term",
           "depth_bytes", "incast")
COLUMNS = ("step", "time_ns", "mode", "action", "explored") + NUMBERS + \
    tuple(f"s{i}" for i in range(policy.SHAPE[0]))


class Lab:
    """A run in the lab, and the terminal of a command on the switch."""

    def __init__(self, text, command):
        self.directory = episodes.work_directory()
        path = os.path.join(self.directory.name, "env.scenario")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        self.log = open(os.path.join(self.directory.name, "log"), "w+",
                        encoding="utf-8")
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        self.process = subprocess.Popen(
            [episodes.SCENARIOS, "-w", command, "env"],
            env=dict(episodes.environment(self.directory.name),
                     TERM="dumb"),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            start_new_session=True, pass_fds=[theirs],
            # scenarios.sh -w connects the lab to the terminal of its session
            preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self.terminal = os.fdopen(ours, "r+b", buffering=0)
        self.rest = b""

    def read_line(self):
        """Return the next line, or None at the end."""
        while b"\n" not in self.rest:
            try:
                data = self.terminal.read(65536)
            except OSError:
                # a terminal reports EIO instead of end of file
                data = b""
            if not data:
                return None
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode("ascii", "replace").strip()

    def write_line(self, line):
        self.terminal.write(f"{line}\n".encode())

    def close(self):
        """End the run, and return its output."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()
        self.terminal.close()
        self.log.seek(0)
        printed = self.log.read()
        self.log.close()
        self.directory.cleanup()
        return printed


class LongHaul:
    """
    The port in front of a fiber.  Actions are 0 to 24; states are 26 numbers
    between 0 and 1.
    """

    # for Gymnasium's action_space and observation_space
    n_actions = policy.SHAPE[-1]
    state_shape = policy.SHAPE[:1]

    def __init__(self, reward="few"):
        self.reward = reward
        self.random = random.Random(0)
        self.points = episodes.draw(self.random)
        self.lab = None
        self.steps = 0

    def reset(self, *, seed=None, options=None):
        """Begin an episode.  The option "point" chooses its fiber, the number
        of senders and their increase timer, which are random otherwise."""
        self.close()
        if seed is not None:
            self.random.seed(seed)
            self.points = episodes.draw(self.random)
        point = (options or {}).get("point") or next(self.points)
        run_seed = self.random.randrange(1, 10**6)
        words = episodes.options(run_seed, reward=self.reward)
        self.lab = Lab(
            episodes.scenario(point, run_seed),
            f"{episodes.TOP}/build/relay {episodes.TOP}/build/iqcn agent run "
            f"--policy - {words} --count {episodes.ROWS} {episodes.PORT}")
        self.steps = 0
        state, _, info = self.receive()
        return state, dict(info, point=point)

    def step(self, action):
        if not 0 <= action < self.n_actions:
            raise ValueError(f"action {action}: not 0 to {self.n_actions - 1}")
        if not self.lab:
            raise episodes.Error("there is no episode: call reset()")
        self.lab.write_line(int(action))
        state, reward, info = self.receive()
        self.steps += 1
        truncated = self.steps == episodes.STEPS
        if truncated:
            self.close()
        return state, reward, False, truncated, info

    def receive(self):
        """Return state, reward, and a dictionary of columns of the next row."""
        others = []
        while True:
            line = self.lab.read_line()
            if line is None:
                printed = self.lab.close()
                self.lab = None
                raise episodes.Error("the episode ended early: " +
                                     "\n".join(others + [printed]))
            if line[:1].isdigit():
                break
            others.append(line)
        row = dict(zip(COLUMNS, line.split(",")))
        state = numpy.array(episodes.state_of(row), numpy.float32)
        info = {name: float(row[name]) for name in NUMBERS}
        info["time_ns"] = int(row["time_ns"])
        return state, info["reward"], info

    def close(self):
        if self.lab:
            self.lab.close()
            self.lab = None
