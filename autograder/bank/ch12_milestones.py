"""The milestones of the course: chapter 12's PPO that solves CartPole."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.items import Build, Case, Milestone, Tensor, lazily

cartpole = lazily("solutions.cartpole_runs")

#: Environment steps of a try.
STEPS = 60_000


def _mean_return(weights: Sequence[Tensor]) -> float:
    """The mean return of 100 fresh episodes that the policy with these weights plays."""
    import torch

    policy, _ = cartpole.networks(0)
    with torch.no_grad():
        for parameter, weight in zip(policy.parameters(), weights, strict=True):
            parameter.copy_(torch.tensor(weight.tolist()).view(weight.shape))
    return cartpole.mean_return(policy)


TRAIN_CARTPOLE = Milestone(
    item=Build(
        id="12-train-cartpole",
        module="ppo_runs",
        function="train_cartpole",
        grade="tensor",
        section="12.10",
        topic="PPO",
        cases=tuple(Case(args=(STEPS, seed)) for seed in range(3)),
        groups=(),
        slips=(),
        probe="milestones.cartpole",
    ),
    shapes=((64, 4), (64,), (64, 64), (64,), (2, 64), (2,)),
    measure=_mean_return,
    unit="steps on average",
    goal=475.0,
    needed=2,
    seconds=180.0,
)

MILESTONES = (TRAIN_CARTPOLE,)
