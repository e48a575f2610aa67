"""Chapter 13: ``preference_loss``, preferences."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Right, Slip, Tensor


def _pairs(rng: Random, count: int, low: float = -3.0, high: float = 3.0, dtype: str = "float64") -> Case:
    rejected = [rng.uniform(-3, 3) for _ in range(count)]
    chosen = [score + rng.uniform(low, high) for score in rejected]
    return Case((Tensor.of(chosen, dtype), Tensor.of(rejected, dtype)))


def _any_pairs(rng: Random) -> Case:
    return _pairs(rng, rng.randint(2, 8), dtype=rng.choice(("float64", "float32")))


def _far_pairs(rng: Random) -> list[Case]:
    sizes = (-900, -120), (-900, -120), (120, 900)
    return [_pairs(rng, rng.randint(2, 4), *size, dtype="float32") for size in sizes]


def preference_by_softplus(chosen, rejected):
    from torch.nn import functional

    return functional.softplus(rejected - chosen).mean()


EXERCISE = Build(
    "13 rlhf.preference_loss",
    section="13.13",
    topic="preferences",
    bonus=True,
    grade="tensor",
    probe="ch13.sent_back",
    tolerance=1e-5,
    cases=(
        Case((Tensor.of([1, 2], "float64"), Tensor.of([0, 2], "float64"))),
        Case((Tensor.of([0.0]), Tensor.of([100.0]))),
        Case((Tensor.of([2.0]), Tensor.of([0.0]))),
    ),
    groups=(
        Group("pairs", _any_pairs, 5, "The mean of -log sigmoid of the difference."),
        listed("far apart", _far_pairs, "Scores may lie hundreds apart: no logarithm of 0, no nan in the gradient."),
        Group("one pair", lambda rng: _pairs(rng, 1), 2, "One pair is a batch, too."),
    ),
    slips=(
        Slip(
            "sigmoid of a large gap rounds to 0 and its logarithm is infinite: use logsigmoid.",
            edit=("functional.logsigmoid(chosen - rejected)", "(chosen - rejected).sigmoid().log()"),
        ),
        Slip("Chosen and rejected are swapped.", edit=("chosen - rejected", "rejected - chosen")),
        Slip(
            "That is a hinge: Bradley and Terry's loss is minus the log of a sigmoid.",
            edit=("-functional.logsigmoid(chosen - rejected)", "(1 - (chosen - rejected)).clamp(min=0)"),
        ),
        Slip("The loss is the mean over the pairs, not their sum.", edit=(".mean()", ".sum()")),
        Slip(
            "Only the difference of a pair's scores counts: the zero is arbitrary.",
            edit=(
                "functional.logsigmoid(chosen - rejected)",
                "(functional.logsigmoid(chosen) + functional.logsigmoid(-rejected))",
            ),
        ),
    ),
    rights=(
        Right("softplus", program=preference_by_softplus),
        Right(
            "binary cross-entropy of the gap",
            edit=(
                "-functional.logsigmoid(chosen - rejected).mean()",
                "functional.binary_cross_entropy_with_logits(chosen - rejected, torch.ones_like(chosen))",
            ),
        ),
        Right(
            "cross-entropy of the two scores",
            edit=(
                "-functional.logsigmoid(chosen - rejected).mean()",
                "-torch.stack([chosen, rejected], 1).log_softmax(1)[:, 0].mean()",
            ),
        ),
    ),
)
