"""Milestones: networks are made, a learner's program trains them, and their weights are handed back.

The environment is in the grader's process, which is asked for every step: nothing here knows more about it than the
program sees. The grader has to believe the child that these are the networks and that the program trained them; a lie
still needs weights that fit an environment which can be known only by playing it.
"""

import torch


def cartpole(ask, program, steps, seed):
    """Two fresh networks of 4 inputs are trained with these steps and this seed; the policy's weights count."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    policy, value = network(2, 0.01), network(1, 1.0)
    register(ask)
    program(policy, value, steps, seed)
    return [parameter.detach().float() for parameter in policy.parameters()]


cartpole.asks = True  # type: ignore[attr-defined]


def network(outputs, gain):
    """4 inputs, two hidden layers of 64, orthogonal weights; the last layer's are scaled by the gain."""
    layers = [torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh()]
    layers.append(torch.nn.Linear(64, outputs))
    for layer, scale in zip(layers[::2], (2**0.5, 2**0.5, gain), strict=True):
        torch.nn.init.orthogonal_(layer.weight, scale)
        torch.nn.init.zeros_(layer.bias)
    return torch.nn.Sequential(*layers)


def register(ask):
    """Register CartPole-v1 in gymnasium as an environment that the grader runs; ``ask`` queries it."""
    import gymnasium
    import numpy
    from gymnasium.vector import SyncVectorEnv

    def answered(question):
        answer = ask(question)
        if type(answer) is str:
            raise RuntimeError(answer)
        return answer

    class Played(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-numpy.inf, numpy.inf, (4,), numpy.float32)
        action_space = gymnasium.spaces.Discrete(2)

        def __init__(self, **_):
            self.number = answered(["make"])

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return numpy.array(answered(["reset", self.number]), numpy.float32), {}

        def step(self, action):
            *seen, over = answered(["step", self.number, int(action)])
            return numpy.array(seen, numpy.float32), 1.0, bool(over), False, {}

    def vector(num_envs=1, max_episode_steps=500, **_):
        return SyncVectorEnv([lambda: gymnasium.wrappers.TimeLimit(Played(), max_episode_steps)] * num_envs)

    gymnasium.registry.pop("CartPole-v1", None)
    gymnasium.register("CartPole-v1", Played, max_episode_steps=500, reward_threshold=475.0, vector_entry_point=vector)
