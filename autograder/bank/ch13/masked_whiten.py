"""Chapter 13: ``masked_whiten``, advantages with masks."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.draws import REST, Rows, ending, holes, lengths, rows, spoiled, tensor
from autograder.bank.ch13.shared import MASK
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _whitened(rng: Random, mask: Rows, dtype: str = "float64", shift: float = 0.0) -> Case:
    given = [[value + shift for value in row] for row in rows(rng, len(mask), len(mask[0]))]
    return Case((tensor(spoiled(given, mask, 40.0, -11.0), dtype), tensor(mask, dtype)))


def _any_white(rng: Random) -> Case:
    length = rng.randint(3, 8)
    mask = ending(lengths(rng, rng.randint(2, 4), length), length)
    return _whitened(rng, mask, rng.choice(("float64", "float32")), rng.choice((0.0, 3.0)))


def _good_and_bad(rng: Random) -> Case:
    """One response is far better than the other."""
    better = [[value + 4 * (1 - index) for value in row] for index, row in enumerate(rows(rng, 2, 4))]
    mask = ending([4, rng.randint(2, 3)], 4)
    return Case((tensor(spoiled(better, mask, 0.0)), tensor(mask)))


def _white_beside_anything(rng: Random) -> list[Case]:
    masks = ending([2, 4, 1], 5), holes(rng, 2, 6)
    return [Case((tensor(spoiled(rows(rng, len(mask), len(mask[0])), mask, *REST)), tensor(mask))) for mask in masks]


def _white_ends(rng: Random) -> list[Case]:
    """One real token alone; a gap; small numbers, where eps counts."""
    small = tensor([[round(rng.uniform(-1, 1), 3) * 1e-4 for _ in range(4)] for _ in range(2)])
    return [
        Case((tensor([[rng.uniform(-2, 2), 5.0]]), tensor([[1.0, 0.0]]))),
        _whitened(rng, holes(rng, 2, 6)),
        Case((small, tensor(ending([3, 4], 4)))),
        Case((small, tensor(ending([3, 4], 4)), 1e-6)),
    ]


def whiten_by_index(values, mask, eps=1e-8):
    import torch

    real, made = values[mask.bool()], torch.zeros_like(values)
    made[mask.bool()] = (real - real.mean()) / (real.var(correction=0) + eps).sqrt()
    return made


EXERCISE = Build(
    "13 rlhf.masked_whiten",
    section="13.17",
    topic="advantages with masks",
    bonus=True,
    grade="tensor",
    tolerance=1e-5,
    cases=(
        Case((tensor([[0.80675, 0.765, 0.7, 0], [-0.45278125, -0.581875, -0.6125, -0.75]]), MASK)),
        Case((tensor([[0.857375, 0.9025, 0.95, 1], [0.0857375, 0.09025, 0.095, 0.1]]), tensor([[1] * 4] * 2))),
        Case((tensor([[3, 8]]), tensor([[1, 0]]))),
    ),
    groups=(
        Group("batches", _any_white, 5, "Mean and variance of all real tokens of the batch; 0 in the padding."),
        Group(
            "anything in the padding",
            lambda rng: rng.choice(_white_beside_anything(rng)),
            3,
            "Where the mask is 0 the answer is 0, whatever the values are there: 0 times nan is nan.",
            _white_beside_anything,
        ),
        Group("good and bad", _good_and_bad, 3, "A response that is better than the others stays better."),
        listed("ends", _white_ends, "One token, gaps, tiny numbers."),
    ),
    slips=(
        Slip(
            "Whitened each by itself, a good and a bad response look alike: take the whole batch.",
            edit=(
                "values.masked_fill(~real, 0).sum() / real.sum()",
                "values.masked_fill(~real, 0).sum(1, keepdim=True) / real.sum(1, keepdim=True)",
            ),
        ),
        Slip(
            "Padding was counted in mean and variance.",
            edits=(
                ("(values - _mean(values, real)).masked_fill(~real, 0)", "values - values.mean()"),
                (
                    "centred * torch.rsqrt(_mean(centred.square(), real) + eps)",
                    "centred.masked_fill(~real, 0) * torch.rsqrt(centred.square().mean() + eps)",
                ),
            ),
        ),
        Slip(
            "The zeros of the padding were counted in mean and variance: divide by the real tokens.",
            edits=(
                (
                    "centred = (values - _mean(values, real)).masked_fill(~real, 0)",
                    "held = values.masked_fill(~real, 0)\n    centred = held - held.mean()",
                ),
                (
                    "centred * torch.rsqrt(_mean(centred.square(), real) + eps)",
                    "centred.masked_fill(~real, 0) * torch.rsqrt(centred.square().mean() + eps)",
                ),
            ),
        ),
        Slip(
            "The result is 0 where the mask is 0.",
            edit=("(values - _mean(values, real)).masked_fill(~real, 0)", "values - _mean(values, real)"),
        ),
        Slip(
            "The variance is that of the batch itself: divide by the count, not by one less.",
            edit=("_mean(centred.square(), real)", "centred.square().sum() / (real.sum() - 1)"),
        ),
        Slip("Divide by the root of the variance.", edit=("torch.rsqrt(", "torch.reciprocal(")),
        Slip(
            "The mask is a factor: 0 times nan is nan. Replace what is masked.",
            edits=(
                ("values.masked_fill(~real, 0).sum()", "(values * real).sum()"),
                ("(values - _mean(values, real)).masked_fill(~real, 0)", "(values - _mean(values, real)) * real"),
            ),
        ),
    ),
    rights=(
        Right("by index", program=whiten_by_index),
        Right(
            "mean of the squares less the square of the mean, double precision",
            edits=(
                (
                    "    centred = (values - _mean(values, real)).masked_fill(~real, 0)\n",
                    "    kind, values = values.dtype, values.double()\n"
                    "    centred = (values - _mean(values, real)).masked_fill(~real, 0)\n",
                ),
                (
                    "centred * torch.rsqrt(_mean(centred.square(), real) + eps)",
                    "(centred / (centred.square().sum() / real.sum() + eps) ** 0.5).to(kind)",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "where it is 0, the values may be anything, nan and infinities too",
            edit=("values.masked_fill(~real, 0).sum()", "(values * real).sum()"),
        ),
        Promise("over the whole batch", edit=("_mean(values, real)).", "values.mean(1, keepdim=True)).")),
        Promise("(population) variance", edit=("_mean(centred.square(), real)", "values[real].var()")),
        Promise("added to the (population) variance", edit=(" + eps)", " + 0 * eps)")),
    ),
)
