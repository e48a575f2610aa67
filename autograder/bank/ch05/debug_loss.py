"""Chapter 5: ``debug_loss``, means over unequal counts."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Right, Slip


def wrong_loss(losses, tokens):
    return sum(losses) / len(losses)


def _uneven(rng: Random, zeros: bool = False) -> Case:
    count = rng.randint(2, 6)
    tokens = [rng.randint(1, 50) * 4**index for index in range(count)]
    rng.shuffle(tokens)
    if zeros:
        tokens[rng.randrange(count)] = 0
    return Case(([rng.uniform(0.5, 9) for _ in range(count)], tokens))


def _even(rng: Random) -> Case:
    count = rng.randint(1, 5)
    return Case(([rng.uniform(0.5, 9) for _ in range(count)], [rng.randint(2, 500)] * count))


EXERCISE = Debug(
    "05 batching.debug_loss",
    section="5.1",
    topic="means over unequal counts",
    wrong=wrong_loss,
    cases=(Case(([2, 4], [100, 300])), Case(([1.0, 3.0], [8, 8])), Case(([2.0, 4.0], [0, 8]))),
    groups=(
        Group("uneven counts", _uneven, 5, "A mean over more tokens weighs more."),
        Group("even counts", _even, 3, "Equal counts weigh the same."),
        Group(
            "a part without tokens", lambda rng: _uneven(rng, zeros=True), 3, "A part without tokens weighs nothing."
        ),
    ),
    slips=(
        Slip("The means were averaged as if each had been taken over equally many tokens.", wrong_loss),
        Slip(
            "The sum over all tokens must be divided by their number.",
            edit=(
                "sum(loss * count for loss, count in zip(losses, tokens, strict=True)) / sum(tokens)",
                "sum(loss * count for loss, count in zip(losses, tokens, strict=True))",
            ),
        ),
        Slip(
            "The sum over all tokens was divided by the number of parts: divide by the tokens.",
            edit=(
                "sum(loss * count for loss, count in zip(losses, tokens, strict=True)) / sum(tokens)",
                "sum(loss * count for loss, count in zip(losses, tokens, strict=True)) / len(losses)",
            ),
        ),
    ),
    rights=(
        Right(
            "shares of the tokens",
            edit=(
                "sum(loss * count for loss, count in zip(losses, tokens, strict=True)) / sum(tokens)",
                "sum(count / sum(tokens) * loss for loss, count in zip(losses, tokens, strict=True))",
            ),
        ),
        Right(
            "summed exactly",
            edit=(
                "sum(loss * count for loss, count in zip(losses, tokens, strict=True)) / sum(tokens)",
                "math.fsum(map(lambda a, b: a * b, reversed(losses), reversed(tokens))) / math.fsum(tokens)",
            ),
        ),
    ),
)
