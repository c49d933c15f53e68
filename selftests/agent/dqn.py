# SPDX-License-Identifier: GPL-2.0
"""
Double DQN (van Hasselt, Guez and Silver, AAAI 2016) with experience replay and
a target network (Mnih et al., Nature 518, 2015).
"""
import numpy
import torch

import policy

GAMMA = 0.9
LEARNING_RATE = 1e-3
REPLAY = 20000
BATCH = 32
TARGET_UPDATES = 500


def network():
    layers = []
    for inputs, outputs in zip(policy.SHAPE, policy.SHAPE[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def linears(net):
    return [module for module in net if isinstance(module, torch.nn.Linear)]


def layers_of(net):
    """Return the layers of a policy."""
    return [torch.cat([linear.bias[:, None], linear.weight], 1)
            .detach().numpy().copy() for linear in linears(net)]


def network_of(layers):
    net = network()
    with torch.no_grad():
        for linear, layer in zip(linears(net), layers):
            linear.bias.copy_(torch.from_numpy(layer[:, 0]))
            linear.weight.copy_(torch.from_numpy(layer[:, 1:]))
    return net


class Replay:
    """The latest transitions."""

    def __init__(self, size=REPLAY):
        self.size = size
        self.added = 0
        self.states = torch.zeros(size, policy.SHAPE[0])
        self.actions = torch.zeros(size, dtype=torch.int64)
        self.rewards = torch.zeros(size)
        self.next_states = torch.zeros(size, policy.SHAPE[0])

    def add(self, transitions):
        n = len(transitions.actions)
        at = (self.added + torch.arange(n)) % self.size
        for mine, new in ((self.states, transitions.states),
                          (self.actions, transitions.actions),
                          (self.rewards, transitions.rewards),
                          (self.next_states, transitions.next_states)):
            mine[at] = torch.from_numpy(numpy.ascontiguousarray(new)) \
                .to(mine.dtype)
        self.added += n

    def sample(self, n=BATCH):
        at = torch.randint(min(self.added, self.size), (n,))
        return (self.states[at], self.actions[at], self.rewards[at],
                self.next_states[at])


class Learner:
    """
    Learns values of actions.  No state is terminal: an episode ends because its
    time is over, not because the link ends.
    """

    def __init__(self):
        self.online = network()
        self.target = network()
        self.optimizer = torch.optim.Adam(self.online.parameters(),
                                          lr=LEARNING_RATE)
        self.replay = Replay()
        self.updates = 0
        self.copy_to_target()

    def copy_to_target(self):
        self.target.load_state_dict(self.online.state_dict())

    def update(self):
        """Learn from one batch, and return the loss."""
        states, actions, rewards, next_states = self.replay.sample()
        with torch.no_grad():
            # one network chooses the next action, the other one values it
            best = self.online(next_states).argmax(1, keepdim=True)
            goals = rewards + \
                GAMMA * self.target(next_states).gather(1, best)[:, 0]
        values = self.online(states).gather(1, actions[:, None])[:, 0]
        loss = torch.nn.functional.smooth_l1_loss(values, goals)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % TARGET_UPDATES == 0:
            self.copy_to_target()
        return loss.item()
