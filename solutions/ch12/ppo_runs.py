"""PPO solves CartPole: ``train_cartpole``, from its parts and a gymnasium vector environment."""

from __future__ import annotations

import gymnasium
import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor, nn

from .policy import Batch, ppo_update
from .rl import gae


def train_cartpole(policy: nn.Module, value: nn.Module, steps: int, seed: int) -> list[float]:
    """Train an actor and a critic on CartPole-v1 with PPO, in place.

    Settings that work: 8 environments and 32 steps of each in an iteration; 20 epochs over these 256 steps as one
    minibatch; discount 0.98 and lambda 0.8; Adam with eps 1e-5; its learning rate, 1e-3, and the clip range, 0.2, fall
    linearly towards 0 over the iterations; the critic's targets are advantages plus values, and its error has a weight
    of 0.5; gradients are limited to a norm of 0.5.

    Take environments from ``gymnasium.make_vec`` or ``gymnasium.make``, and read no meaning into the four numbers: the
    milestone plays each try in a CartPole-v1 of its own, which shows the state rotated and may exchange the actions.

    Args:
        policy: observations [n, 4] to logits [n, 2].
        value: observations [n, 4] to values [n, 1].
        steps: most steps of all environments together; the last incomplete iteration is left out.
        seed: of the environments and of the drawn actions.

    Returns:
        The return of every episode that ended, in the order of their ends.

    Source: Schulman et al. (2017), arXiv:1707.06347.
    """
    envs = gymnasium.make_vec(
        "CartPole-v1",
        num_envs=8,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
    )
    observations = torch.from_numpy(envs.reset(seed=seed)[0])
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-3, eps=1e-5)
    iterations, running, returns = steps // 256, torch.zeros(8), []
    for iteration in range(iterations):
        left = 1 - iteration / iterations
        optimizer.param_groups[0]["lr"] = 1e-3 * left
        rows = []
        for _ in range(32):
            with torch.no_grad():
                log_probs = policy(observations).log_softmax(-1)
            actions = torch.multinomial(log_probs.exp(), 1, generator=generator)
            after, rewards, terminated, truncated, info = envs.step(actions.squeeze(1).numpy())
            reached = torch.from_numpy(after.copy())
            running += torch.from_numpy(rewards).float()
            for place in (terminated | truncated).nonzero()[0]:
                reached[place] = torch.from_numpy(info["final_obs"][place])  # not the start of the next episode
                returns.append(running[place].item())
                running[place] = 0.0
            taken = (actions.squeeze(1), log_probs.gather(1, actions).squeeze(1))
            ends = (torch.from_numpy(part) for part in (rewards, terminated, truncated))
            rows.append((observations, reached, *taken, *ends))
            observations = torch.from_numpy(after)
        batch = _batch(value, *map(torch.stack, zip(*rows, strict=True)))
        ppo_update(policy, value, optimizer, batch, [torch.arange(256)] * 20, 0.2 * left, max_grad_norm=0.5)
    return returns


def _batch(value: nn.Module, seen: Tensor, reached: Tensor, actions: Tensor, log_probs: Tensor, *ends: Tensor) -> Batch:
    """The steps [T, E] of all environments as one batch; ``ends`` are rewards and both kinds of end."""
    rewards, terminated, truncated = ends
    with torch.no_grad():
        values, following = value(seen).squeeze(-1), value(reached).squeeze(-1)
    steps = [part.T.tolist() for part in (rewards, values, following, terminated, truncated)]
    advantages = torch.tensor([gae(r, v, w, over, cut, 0.98, 0.8) for r, v, w, over, cut in zip(*steps, strict=True)]).T
    parts = (seen, actions, log_probs, advantages, advantages + values)
    return Batch(*(part.flatten(0, 1) for part in parts))
