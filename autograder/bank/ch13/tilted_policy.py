"""Chapter 13: ``tilted_policy``, the optimum under a KL price."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.shared import distribution
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _tilt(rng: Random) -> Case:
    size = rng.randint(2, 10)
    rewards = tuple(round(rng.uniform(-3, 3), 2) for _ in range(size))
    return Case((distribution(rng, size), rewards, round(rng.uniform(0.2, 5), 3)))


def _cheap(rng: Random) -> Case:
    size = rng.randint(2, 5)
    rewards = tuple(float(rng.randint(-300, 300)) for _ in range(size))
    return Case((distribution(rng, size), rewards, 10 ** -rng.uniform(2, 4)))


def _unreachable(rng: Random) -> Case:
    """The best reward is where the reference never goes, far above all others."""
    size = rng.randint(3, 5)
    reference = distribution(rng, size, 1)
    rewards = [round(rng.uniform(-1, 1), 2) for _ in range(size)]
    rewards[reference.index(0.0)] = float(rng.randint(2000, 4000))
    return Case((reference, tuple(rewards), round(rng.uniform(0.5, 2), 2)))


def tilt_by_softmax(reference, rewards, beta):
    import torch

    from solutions.ch13 import kl

    kl.tilted_policy(reference, rewards, beta)  # refuses what must be refused
    logs = torch.tensor(reference, dtype=torch.float64).log()
    return (logs + torch.tensor(rewards, dtype=torch.float64) / beta).softmax(0).tolist()


EXERCISE = Build(
    "13 kl.tilted_policy",
    section="13.19",
    topic="the optimum under a KL price",
    bonus=True,
    cases=(
        Case(((0.6, 0.3, 0.1), (0, 1, 2), 0.5)),
        Case(((0.6, 0.3, 0.1), (0, 1, 2), 1)),
        Case(((0.6, 0.3, 0.1), (0, 1, 2), 10)),
        Case(((0.6, 0.3, 0.1), (0, 1, 2), 0.001)),
    ),
    groups=(
        Group("prices", _tilt, 7, "Each outcome weighs reference times e^(reward/beta); then divide by the sum."),
        Group("tiny prices", _cheap, 3, "Subtract the largest reward before the exponential: nothing may overflow."),
        Group("out of reach", _unreachable, 2, "An outcome of probability 0 keeps it, whatever its reward."),
    ),
    slips=(
        Slip(
            "A high price holds the policy back: divide the reward by beta.",
            edit=("(reward - best) / beta", "beta * (reward - best)"),
        ),
        Slip(
            "The reference is missing: it weighs every outcome.",
            edit=("share * math.exp((reward - best) / beta)", "math.exp((reward - best) / beta)"),
        ),
        Slip(
            "The exponential overflows where beta is small: subtract the largest reward first.",
            edit=("(reward - best) / beta", "reward / beta"),
        ),
        Slip("Divide by the sum: a policy sums to 1.", edit=("weight / total", "weight")),
        Slip(
            "The largest reward has probability 0 under the reference: beside it all others vanish.",
            edit=("max(reward for share, reward in zip(reference, rewards, strict=True) if share > 0)", "max(rewards)"),
        ),
    ),
    rights=(
        Right("softmax of logarithms", program=tilt_by_softmax),
        Right(
            "numbers of a library",
            edit=(
                "    return [weight / total for weight in weights]\n",
                "    import numpy\n\n    return (numpy.array(weights) * (1 / total)).tolist()\n",
            ),
        ),
    ),
    promises=(
        Promise("An outcome of probability 0 keeps it, whatever its reward.", edit=("else 0.0\n", "else 1e-9\n")),
        Promise(
            "An outcome of probability 0 keeps it, whatever its reward.",
            edit=(
                "for share, reward in zip(reference, rewards, strict=True) if share > 0)",
                "for share, reward in zip(reference, rewards))",
            ),
        ),
        Promise(
            "However small, nothing overflows.",
            edit=("math.exp((reward - best) / beta)", "math.exp(reward / beta)"),
        ),
    ),
)
