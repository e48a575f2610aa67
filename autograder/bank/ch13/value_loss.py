"""Chapter 13: ``value_loss``, losses with masks."""

from __future__ import annotations

from math import inf, nan
from random import Random

from autograder.bank.ch13.draws import Rows, ending, holes, lengths, rows, spoiled, tensor
from autograder.bank.ch13.shared import PADDING
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _valued(
    rng: Random, mask: Rows, *clip: float, dtype: str = "float64", rests: tuple[float, ...] = (7.0, -3.0, 4.0)
) -> Case:
    batch, length = len(mask), len(mask[0])
    given = (spoiled(rows(rng, batch, length), mask, rest, 2 * rest) for rest in rests)
    return Case((*(tensor(one, dtype) for one in given), tensor(mask, dtype), *clip))


def _any_value(rng: Random) -> Case:
    length = rng.randint(3, 7)
    mask = ending(lengths(rng, rng.randint(2, 4), length), length)
    return _valued(rng, mask, dtype=rng.choice(("float64", "float32")))


def _value_beside_anything(rng: Random) -> list[Case]:
    return [
        _valued(rng, ending([2, 4, 1], 4), rests=(nan, 1.0, 2.0)),
        _valued(rng, holes(rng, 2, 6), rests=(-inf, nan, inf)),
    ]


def _value_ends(rng: Random) -> list[Case]:
    return [
        _valued(rng, ending([3, 2], 4), 1.0),
        _valued(rng, ending([3, 4], 4), 0.05),
        _valued(rng, holes(rng, 2, 6)),
        _valued(rng, [[1.0]]),
    ]


def value_by_index(values, old_values, returns, mask, clip=0.2):
    import torch

    real = mask.bool()
    new, old, meant = values[real], old_values[real], returns[real]
    held = new.clamp(old - clip, old + clip)
    return torch.stack([(new - meant) ** 2, (held - meant) ** 2]).amax(0).mean() / 2


EXERCISE = Build(
    "13 rlhf.value_loss",
    section="13.18",
    topic="losses with masks",
    bonus=True,
    grade="tensor",
    probe="ch13.sent_back",
    tolerance=1e-5,
    cases=(
        Case((tensor([[1, 0, 5]]), tensor([[0.5, 0.1, 5]]), tensor([[1.5, 1, 0]]), tensor([[1, 1, 0]]))),
        _valued(Random("values"), ending([2, 1], 2)),
        Case((tensor([[1, 0.2]]), tensor([[0.4, 0.3]]), tensor([[2, 0]]), tensor([[1, 1]]), 0.5)),
    ),
    groups=(
        Group("batches", _any_value, 5, "Half the mean of the larger squared error, over the real tokens."),
        Group(
            "anything in the padding",
            lambda rng: rng.choice(_value_beside_anything(rng)),
            3,
            "What the tensors hold where the mask is 0 reaches neither the loss nor the gradient: 0 times nan is nan.",
            _value_beside_anything,
        ),
        listed("ends", _value_ends, "Another clip, gaps, one token."),
    ),
    slips=(
        Slip(
            "The larger of the two errors counts: the smaller one would reward a large step.",
            edit=("torch.maximum(", "torch.minimum("),
        ),
        Slip(
            "A step further than clip gains nothing: the clamped value's error counts, too.",
            edit=(
                "torch.maximum((values - returns).square(), (held - returns).square())",
                "(values - returns).square()",
            ),
        ),
        Slip(
            "Of the errors of the value and of the clamped value the larger counts.",
            edit=("torch.maximum((values - returns).square(), (held - returns).square())", "(held - returns).square()"),
        ),
        Slip(
            "Padding has no value: average over the real tokens.",
            edits=(
                (
                    "(given.masked_fill(~real, 0) for given in (values, old_values, returns))",
                    "values, old_values, returns",
                ),
                ("values.masked_fill(~real, 0).sum() / real.sum()", "values.mean()"),
            ),
        ),
        Slip("Half the mean squared error is asked for.", edit=("0.5 * ", "")),
        Slip(
            "The step is clamped, around the old value: not the value itself.",
            edit=("old_values + (values - old_values).clamp(-clip, clip)", "values.clamp(-clip, clip)"),
        ),
        Slip(
            "The mask is a factor: 0 times nan is nan. Replace what is masked, or leave it out.",
            edits=(
                (
                    "(given.masked_fill(~real, 0) for given in (values, old_values, returns))",
                    "values, old_values, returns",
                ),
                ("values.masked_fill(~real, 0).sum()", "(values * real).sum()"),
            ),
        ),
    ),
    rights=(
        Right("by index", program=value_by_index),
        Right(
            "the larger absolute error, squared",
            edit=(
                "torch.maximum((values - returns).square(), (held - returns).square())",
                "torch.maximum((values - returns).abs(), (returns - held).abs()) ** 2",
            ),
        ),
    ),
    promises=(
        Promise(PADDING, edit=("given.masked_fill(~real, 0) for", "given * real for")),
        Promise("the larger counts", edit=("torch.maximum(", "torch.minimum(")),
    ),
)
