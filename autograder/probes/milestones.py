"""Milestones: networks are made, a learner's program trains them, and their weights are handed back."""

# mypy: no-check-untyped-defs

import torch


def cartpole(program, steps, seed):
    """Two fresh networks, 4 numbers in, are trained with these steps and this seed; the policy's weights count."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    policy, value = network(2, 0.01), network(1, 1.0)
    program(policy, value, steps, seed)
    return [parameter.detach().float() for parameter in policy.parameters()]


def network(outputs, gain):
    """4 inputs, two hidden layers of 64, orthogonal weights; the last layer's are scaled by the gain."""
    layers = [torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh()]
    layers.append(torch.nn.Linear(64, outputs))
    for layer, scale in zip(layers[::2], (2**0.5, 2**0.5, gain), strict=True):
        torch.nn.init.orthogonal_(layer.weight, scale)
        torch.nn.init.zeros_(layer.bias)
    return torch.nn.Sequential(*layers)
