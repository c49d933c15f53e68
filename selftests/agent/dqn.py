# SPDX-License-Identifier: GPL-2.0
"""
Double DQN (van Hasselt, Guez and Silver, AAAI 2016) with experience replay and
a target network (Mnih et al., Nature 518, 2015), which follows the online
network slowly (Lillicrap et al., ICLR 2016).  The networks have separate
outputs for the value of a state and the advantages of actions (Wang et al.,
ICML 2016).  The advantage of an action is the sum of the advantages of its two
rates (Tavakoli, Pardo and Kormushev, AAAI 2018).  Returns cover several steps
(Sutton, 1988).
"""
import numpy
import torch

import policy

# A horizon of 33 steps, because a queue takes 20 steps (100 ms) to drain, and
# rates take longer to recover
GAMMA = 0.97
# at the beginning, and after the decay
LEARNING_RATES = (1e-3, 5e-5)
REPLAY = 30000
BATCH = 256
# each update moves the target network towards the online network by this share
# of the distance between them
FOLLOW = 0.002
# maximum number of steps in a return: the length of an episode
RETURN_STEPS = 60


# The networks learn the difference from the value of a constant reward, because
# values of about 23 would take long to learn
USUAL_REWARD = 0.7
USUAL_VALUE = USUAL_REWARD / (1 - GAMMA)


# Features that say which actions were taken last.  In training an action is
# kept for many steps, so states that follow a different action are rare, and a
# network with these features as inputs would learn little about those states.
HIDDEN = [8 * step + feature for step in range(3) for feature in (6, 7)]


class Dueling(torch.nn.Module):
    """Computes values of actions from the value of the state and advantages."""

    def __init__(self):
        super().__init__()
        hidden = policy.SHAPE[:-1]
        # mean and deviation of states, so that features with a small range
        # count as much as others
        self.register_buffer("mean", torch.zeros(hidden[0]))
        self.register_buffer("scale", torch.ones(hidden[0]))
        seen = torch.ones(hidden[0])
        seen[HIDDEN] = 0
        self.register_buffer("seen", seen)
        self.hidden = torch.nn.ModuleList(
            torch.nn.Linear(*shape) for shape in zip(hidden, hidden[1:]))
        self.value = torch.nn.Linear(hidden[-1], 1)
        self.rates = torch.nn.Linear(hidden[-1], len(policy.RATES))
        self.supplements = torch.nn.Linear(hidden[-1],
                                           len(policy.SUPPLEMENTS))

    def forward(self, states):
        states = (states - self.mean) / self.scale * self.seen
        for linear in self.hidden:
            states = torch.relu(linear(states))
        advantages = (self.rates(states)[:, :, None] +
                      self.supplements(states)[:, None, :]).flatten(1)
        return self.value(states) + advantages - \
            advantages.mean(1, keepdim=True)


def layer_of(linear):
    return torch.cat([linear.bias[:, None], linear.weight], 1) \
        .detach().numpy().copy()


def layers_of(net):
    """Return the layers of a policy; the last one yields values of actions."""
    advantages = (layer_of(net.rates)[:, None] +
                  layer_of(net.supplements)).reshape(policy.SHAPE[-1], -1)
    last = layer_of(net.value) + advantages - advantages.mean(0)
    last[:, 0] += USUAL_VALUE
    hidden = [layer_of(linear) for linear in net.hidden]
    # the first layer also scales the states
    mean, scale = net.mean.numpy(), net.scale.numpy()
    hidden[0][:, 1:] *= net.seen.numpy() / scale
    hidden[0][:, 0] -= hidden[0][:, 1:] @ mean
    return hidden + [last]


def network_of(layers):
    """Return a function that computes the values of a policy."""
    def values(states):
        for layer in layers[:-1]:
            states = torch.relu(torch.nn.functional.linear(
                states, torch.from_numpy(layer[:, 1:]),
                torch.from_numpy(layer[:, 0])))
        return torch.nn.functional.linear(
            states, torch.from_numpy(layers[-1][:, 1:]),
            torch.from_numpy(layers[-1][:, 0]))
    return values


class Replay:
    """The latest transitions, each with the return from its own step on."""

    def __init__(self, size=REPLAY):
        self.size = size
        self.added = 0
        self.states = torch.zeros(size, policy.SHAPE[0])
        self.actions = torch.zeros(size, dtype=torch.int64)
        self.returns = torch.zeros(size)
        # weight of the value of the state that follows the steps of a return
        self.discounts = torch.zeros(size)
        self.next_states = torch.zeros(size, policy.SHAPE[0])

    def add(self, transitions):
        """Add an episode's transitions, whose returns end with it."""
        rewards = transitions.rewards - USUAL_REWARD
        n = len(rewards)
        last = numpy.minimum(numpy.arange(n) + RETURN_STEPS, n)
        returns = [sum(GAMMA ** i * reward
                       for i, reward in enumerate(rewards[first:end]))
                   for first, end in enumerate(last)]
        at = (self.added + torch.arange(n)) % self.size
        for mine, new in ((self.states, transitions.states),
                          (self.actions, transitions.actions),
                          (self.returns, numpy.array(returns)),
                          (self.discounts, GAMMA ** (last - numpy.arange(n))),
                          (self.next_states,
                           transitions.next_states[last - 1])):
            mine[at] = torch.from_numpy(numpy.ascontiguousarray(new)) \
                .to(mine.dtype)
        self.added += n

    def sample(self, n=BATCH):
        at = torch.randint(min(self.added, self.size), (n,))
        return (self.states[at], self.actions[at], self.returns[at],
                self.discounts[at], self.next_states[at])


class Learner:
    """
    Learns the values of actions.  No state is terminal, because the traffic
    would continue after the end of an episode.
    """

    def __init__(self, decay_updates):
        self.decay_updates = decay_updates
        self.online = Dueling()
        self.target = Dueling()
        self.optimizer = torch.optim.Adam(self.online.parameters(),
                                          lr=LEARNING_RATES[0])
        self.replay = Replay()
        self.updates = 0
        self.target.load_state_dict(self.online.state_dict())

    def scale(self):
        """Scale states so that those in the replay have mean 0 and deviation 1."""
        states = self.replay.states[:self.replay.added]
        for net in self.online, self.target:
            net.mean.copy_(states.mean(0))
            # the deviation of a constant feature is 0
            net.scale.copy_(states.std(0).clamp(min=1e-3))

    def follow(self):
        with torch.no_grad():
            for mine, new in zip(self.target.parameters(),
                                 self.online.parameters()):
                mine.lerp_(new, FOLLOW)

    def update(self):
        """Learn from one batch, and return the loss."""
        states, actions, returns, discounts, next_states = \
            self.replay.sample()
        with torch.no_grad():
            # the online network chooses the next action, and the target network
            # evaluates it
            best = self.online(next_states).argmax(1, keepdim=True)
            goals = returns + discounts * \
                self.target(next_states).gather(1, best)[:, 0]
        values = self.online(states).gather(1, actions[:, None])[:, 0]
        loss = torch.nn.functional.smooth_l1_loss(values, goals)
        first, last = LEARNING_RATES
        for group in self.optimizer.param_groups:
            group["lr"] = first + (last - first) * \
                min(self.updates / self.decay_updates, 1)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        self.follow()
        return loss.item()
