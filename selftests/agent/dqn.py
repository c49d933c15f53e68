# SPDX-License-Identifier: GPL-2.0
"""
Double DQN (van Hasselt, Guez and Silver, AAAI 2016) with experience replay and
a target network (Mnih et al., Nature 518, 2015), which follows the other one
slowly (Lillicrap et al., ICLR 2016), and with returns of several steps (Sutton,
1988).
"""
import numpy
import torch

import policy

# a queue takes 100 ms to drain: 20 steps
GAMMA = 0.95
# from the first to the last update
LEARNING_RATES = (1e-3, 5e-5)
REPLAY = 20000
BATCH = 128
# share by which the target approaches the learner with each update
FOLLOW = 0.002
# steps of a return: one step of an action changes little
RETURN_STEPS = 5


# The networks learn the difference from the value of a constant reward, because
# values of about 14 would take long to learn
USUAL_REWARD = 0.7
USUAL_VALUE = USUAL_REWARD / (1 - GAMMA)


def network():
    layers = []
    for inputs, outputs in zip(policy.SHAPE, policy.SHAPE[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def linears(net):
    return [module for module in net if isinstance(module, torch.nn.Linear)]


def layers_of(net):
    """Return the layers of a policy, whose outputs include USUAL_VALUE."""
    layers = [torch.cat([linear.bias[:, None], linear.weight], 1)
              .detach().numpy().copy() for linear in linears(net)]
    layers[-1][:, 0] += USUAL_VALUE
    return layers


def network_of(layers):
    net = network()
    with torch.no_grad():
        for linear, layer in zip(linears(net), layers):
            linear.bias.copy_(torch.from_numpy(layer[:, 0]))
            linear.weight.copy_(torch.from_numpy(layer[:, 1:]))
    return net


class Replay:
    """The latest transitions, each with the return of the steps after it."""

    def __init__(self, size=REPLAY):
        self.size = size
        self.added = 0
        self.states = torch.zeros(size, policy.SHAPE[0])
        self.actions = torch.zeros(size, dtype=torch.int64)
        self.returns = torch.zeros(size)
        self.next_states = torch.zeros(size, policy.SHAPE[0])

    def add(self, transitions):
        """Add those of an episode that have RETURN_STEPS steps after them."""
        rewards = transitions.rewards - USUAL_REWARD
        n = len(rewards) - RETURN_STEPS + 1
        if n < 1:
            return
        returns = sum(GAMMA ** i * rewards[i:n + i]
                      for i in range(RETURN_STEPS))
        at = (self.added + torch.arange(n)) % self.size
        for mine, new in ((self.states, transitions.states[:n]),
                          (self.actions, transitions.actions[:n]),
                          (self.returns, returns),
                          (self.next_states,
                           transitions.next_states[RETURN_STEPS - 1:])):
            mine[at] = torch.from_numpy(numpy.ascontiguousarray(new)) \
                .to(mine.dtype)
        self.added += n

    def sample(self, n=BATCH):
        at = torch.randint(min(self.added, self.size), (n,))
        return (self.states[at], self.actions[at], self.returns[at],
                self.next_states[at])


class Learner:
    """
    Learns the values of actions.  No state is terminal, because the traffic would
    continue after the end of an episode.
    """

    def __init__(self, all_updates):
        self.all_updates = all_updates
        self.online = network()
        self.target = network()
        self.optimizer = torch.optim.Adam(self.online.parameters(),
                                          lr=LEARNING_RATES[0])
        self.replay = Replay()
        self.updates = 0
        self.target.load_state_dict(self.online.state_dict())

    def follow(self):
        with torch.no_grad():
            for mine, new in zip(self.target.parameters(),
                                 self.online.parameters()):
                mine.lerp_(new, FOLLOW)

    def update(self):
        """Learn from one batch, and return the loss."""
        states, actions, returns, next_states = self.replay.sample()
        with torch.no_grad():
            # the online network chooses the next action, the target network values it
            best = self.online(next_states).argmax(1, keepdim=True)
            goals = returns + GAMMA ** RETURN_STEPS * \
                self.target(next_states).gather(1, best)[:, 0]
        values = self.online(states).gather(1, actions[:, None])[:, 0]
        loss = torch.nn.functional.smooth_l1_loss(values, goals)
        first, last = LEARNING_RATES
        for group in self.optimizer.param_groups:
            group["lr"] = first + (last - first) * \
                min(self.updates / self.all_updates, 1)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        self.follow()
        return loss.item()
