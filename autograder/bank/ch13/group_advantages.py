"""Chapter 13: ``group_advantages``, advantages in groups."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def _rewards(rng: Random, groups: int, size: int, dtype: str = "float64", scale: float = 2.0) -> Tensor:
    """Every group has a level and a spread of its own."""
    flat: list[float] = []
    for _ in range(groups):
        level, spread = rng.uniform(-scale, scale), rng.uniform(0.2, 1) * scale
        flat += [round(level + rng.uniform(-spread, spread), 4) for _ in range(size)]
    return Tensor.of(flat, dtype)


def _grouped(rng: Random) -> Case:
    size = rng.randint(3, 8)
    return Case((_rewards(rng, rng.randint(2, 5), size, rng.choice(("float64", "float32"))), size))


def _not_divided(rng: Random) -> Case:
    size = rng.randint(2, 8)
    return Case((_rewards(rng, rng.randint(2, 4), size), size), {"normalize": False})


def _group_ends(rng: Random) -> list[Case]:
    """Rules that say 0 or 1; all equal; small spreads, where eps counts; two answers; another eps."""
    size = rng.randint(4, 8)
    right = [float(rng.random() < 0.5) for _ in range(size)]
    return [
        Case((Tensor.of([*right[:-2], 1.0, 0.0, *[1.0] * size, *[0.0] * size], "float64"), size)),
        Case((_rewards(rng, 2, 4, scale=0.05), 4)),
        Case((_rewards(rng, 3, 4, scale=0.01), 4)),
        Case((_rewards(rng, 3, 2), 2)),
        Case((_rewards(rng, 2, 4), 4), {"eps": 0.1}),
    ]


def _zeros_and_ones(*rewards: float) -> Tensor:
    return Tensor.of(rewards, "float64")


def groups_by_loop(rewards, group_size, normalize=True, eps=1e-4):
    import torch

    made = []
    for group in rewards.split(group_size):
        made.append((group - group.mean()) / (group.std() + eps if normalize else 1))
    return torch.cat(made)


_GROUPS = "    groups = rewards.view(-1, group_size)\n    centred = groups - groups.mean(1, keepdim=True)\n"


EXERCISE = Build(
    "13 rlhf.group_advantages",
    section="13.7",
    topic="advantages in groups",
    grade="tensor",
    tolerance=1e-5,
    cases=(
        Case((_zeros_and_ones(1, 0, 0, 1), 4)),
        Case((_zeros_and_ones(1, 0, 0, 0, 1, 1, 1, 1), 4)),
        Case((_zeros_and_ones(1, 0, 0, 0), 4), {"normalize": False}),
    ),
    groups=(
        Group("groups", _grouped, 5, "Consecutive answers form a group, with a mean and a deviation of its own."),
        Group("not divided", _not_divided, 3, "With normalize=False the group's mean is subtracted, and no more."),
        listed("ends", _group_ends, "Equal rewards; tiny spreads; eps."),
    ),
    slips=(
        Slip(
            "The mean is that of the group, not of the batch.", edit=("groups.mean(1, keepdim=True)", "rewards.mean()")
        ),
        Slip(
            "The deviation is that of the group, not of the batch.",
            edit=("groups.std(1, keepdim=True)", "rewards.std()"),
        ),
        Slip(
            "The deviation is that of a sample: divide by G - 1.",
            edit=("groups.std(1, keepdim=True)", "groups.std(1, keepdim=True, unbiased=False)"),
        ),
        Slip(
            "The answers to a prompt are next to each other: the groups were taken with a stride.",
            edits=(
                ("rewards.view(-1, group_size)", "rewards.view(group_size, -1)"),
                ("groups.mean(1,", "groups.mean(0,"),
                ("groups.std(1,", "groups.std(0,"),
            ),
        ),
        Slip(
            "eps is added to the deviation, not to the variance.",
            edit=("(groups.std(1, keepdim=True) + eps)", "(groups.var(1, keepdim=True) + eps).sqrt()"),
        ),
        Slip(
            "That leaves each response out of its own mean: G / (G - 1) times too much.",
            edit=("groups.mean(1, keepdim=True)", "(groups.sum(1, keepdim=True) - groups) / (group_size - 1)"),
        ),
    ),
    rights=(
        Right("a loop", program=groups_by_loop),
        Right(
            "sums of squares",
            edits=(
                (_GROUPS, _GROUPS.replace("groups.mean(1, keepdim=True)", "groups.sum(1, keepdim=True) / group_size")),
                (
                    "(centred / (groups.std(1, keepdim=True) + eps) if",
                    "(centred / ((centred**2).sum(1, keepdim=True).div(group_size - 1).sqrt() + eps) if",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "(sample) standard deviation",
            edit=("groups.std(1, keepdim=True)", "groups.std(1, False, keepdim=True)"),
        ),
        Promise("keeps a group of equal rewards at 0", edit=("keepdim=True) + eps)", "keepdim=True) + 0 * eps)")),
    ),
)
