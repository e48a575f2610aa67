"""Chapter 11: ``mask_logits``, token masks."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor

_SET = 'logits.masked_fill(~kept, float("-inf"))'


def _logits(rng: Random, size: int, low: float = -8) -> Tensor:
    return Tensor.of([round(rng.uniform(low, 8), 3) for _ in range(size)], rng.choice(("float32", "float64")))


def _masked(rng: Random) -> Case:
    size = rng.randint(4, 40)
    return Case((_logits(rng, size), rng.sample(range(size), rng.randint(2, size - 2))))


def _ends(rng: Random) -> list[Case]:
    """One token, all of them, logits that are all negative, and logits of minus infinity."""
    size = rng.randint(3, 12)
    closed = Tensor.of([1.0, float("-inf"), 2.0, float("-inf")])
    return [
        Case((_logits(rng, size), [rng.randrange(size)])),
        Case((_logits(rng, size), list(range(size)))),
        Case((Tensor.of([-rng.uniform(1, 9) for _ in range(5)]), [1, 3])),
        Case((closed, [0, rng.choice((1, 3))])),
    ]


EXERCISE = Build(
    "11 masking.mask_logits",
    section="11.17",
    topic="token masks",
    bonus=True,
    grade="tensor",
    tolerance=1e-5,
    cases=(
        Case((Tensor.of([2, 1, 0, -1]), [0, 2])),
        Case((Tensor.of([0, 0, 0]), [1])),
        Case((Tensor.of([5, -5, 1], "float64"), [1, 2])),
    ),
    groups=(
        Group("masks", _masked, 5, "Allowed logits stay, all others are minus infinity, and the input stays as it is."),
        listed("one, all, none above zero", _ends, "Any logit may be allowed."),
    ),
    slips=(
        Slip(
            "0 times minus infinity is NaN: set elements instead of computing with them.",
            edit=(_SET, 'logits * kept + ~kept * float("-inf")'),
        ),
        Slip("A logit of 0 is a fine logit: the token stays possible.", edit=(_SET, "logits * kept")),
        Slip("The input was changed: return a copy.", edit=("masked_fill(", "masked_fill_(")),
        Slip("The mask is the wrong way round: it forbids what is allowed.", edit=("~kept", "kept")),
        Slip(
            "A small number is not minus infinity: where all others are small, too, it is drawn.",
            edit=('float("-inf")', "-100.0"),
        ),
        Slip(
            "-1e9 is a number: beside an allowed logit of minus infinity it would win. Set -inf.",
            edit=('float("-inf")', "-1e9"),
        ),
        Slip(
            "These are probabilities that do not sum to 1: mask the logits, before the softmax.",
            edit=(_SET, "logits.softmax(-1).masked_fill(~kept, 0.0)"),
        ),
    ),
    rights=(
        Right(
            "chosen element by element",
            edit=('return logits.masked_fill(~kept, float("-inf"))', "return torch.where(kept, logits, -torch.inf)"),
        ),
        Right(
            "copied into nothing",
            edit=(
                'return logits.masked_fill(~kept, float("-inf"))',
                "return torch.full_like(logits, -torch.inf).masked_scatter(kept, logits[kept])",
            ),
        ),
    ),
    promises=(
        Promise(
            "A copy of ``logits`` in which every token but the allowed ones has minus infinity.",
            edit=("logits.masked_fill(~kept", "logits.masked_fill_(~kept"),
        ),
        Promise("every token but the allowed ones has minus infinity", edit=('float("-inf")', "-1e9")),
        Promise("of the type of ``logits``", edit=("return logits.masked_fill", "return logits.double().masked_fill")),
    ),
)
