"""Chapter 6: Megatron's operators f and g, on real ranks."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch06 import rules
from autograder.bank.ch06.wrong_operators import FIXED_G, F, G, wrong_g
from autograder.bank.groups import listed
from autograder.items import Build, Case, Debug, Group, Rule, Tensor


def _numbers(rng: Random, shape: tuple[int, ...], whole: bool = False) -> Tensor:
    draw = (lambda: float(rng.randint(-8, 8) or 1)) if whole else (lambda: rng.uniform(-3, 3))
    return Tensor.of([draw() for _ in range(math.prod(shape))], "float64", shape)


def _both(rng: Random, ranks: int, shape: tuple[int, ...], **kwargs: str) -> Case:
    """x and a gradient on every rank; transposed, the gradient has the result's shape."""
    whole = kwargs.get("form") == "bfloat16"  # sums of whole numbers are exact in half precision
    back = shape[::-1] if kwargs.get("form") == "transposed" else shape
    return Case(tuple((_numbers(rng, shape, whole), _numbers(rng, back, whole)) for _ in range(ranks)), kwargs)


def _plain(rng: Random) -> Case:
    return _both(rng, rng.randint(2, 4), (rng.randint(1, 5), rng.randint(1, 6)))


def _plain_of_each(rng: Random) -> list[Case]:
    return [_both(rng, ranks, (rng.randint(2, 4), rng.randint(2, 6))) for ranks in (2, 3, 4)]


def _pairs(rng: Random) -> Case:
    return _both(rng, 4, (rng.randint(2, 4), rng.randint(2, 4)), form="pairs")


def _plain_of_two(rng: Random) -> list[Case]:
    return _plain_of_each(rng)[:2]


def _shape_of_each(rng: Random) -> list[Case]:
    return [_both(rng, 2, ()), _both(rng, 3, (2, 1, 3, 2)), _both(rng, 2, (0, 3)), _both(rng, 1, (4,))]


def _form_of_each(rng: Random) -> list[Case]:
    return [_both(rng, 2, (3, 2), form=form) for form in ("transposed", "expanded", "bfloat16")]


def _one_reduction(why: str) -> Rule:
    return rules.calls_at_most(lambda case: [("all_reduce", rules.bytes_of(case.args[0][0]))], why, _own_bytes)


def _own_bytes(case: Case) -> int:
    """Bytes of x, in the type in which the case has it."""
    size = rules.bytes_of(case.args[0][0])
    return size // 4 if case.kwargs.get("form") == "bfloat16" else size


GROUPS = (
    Group(
        "two and three ranks",
        _plain,
        2,
        "Follow a tensor through the forward pass and its gradient back.",
        _plain_of_two,
    ),
    listed("any shape", _shape_of_each, "There may be one rank, no elements, or any number of dimensions."),
    listed("strides and types", _form_of_each, "Tensors may be transposed, expanded, or in half precision."),
    Group("groups", _pairs, 1, "Only the ranks of the group take part, forward and backward."),
)


def _on_two(first: list[float], second: list[float], back: tuple[list[float], list[float]]) -> Case:
    rows = zip((first, second), back, strict=True)
    return Case(tuple((Tensor.of(x, "float64"), Tensor.of(g, "float64")) for x, g in rows))


ONE = Case(((Tensor.of([1.0, 2.0], "float64"), Tensor.of([3.0, 4.0], "float64")),))

COPY = Build(
    id="06-copy-to-ranks",
    module="tensor_parallel",
    function="copy_to_ranks",
    grade="world",
    probe="ch06.operator",
    section="6.2",
    topic="the operators f and g",
    cases=(_on_two([1, 2], [1, 2], ([1, 1], [2, 3])), _both(Random("f"), 3, (2, 2)), ONE),
    groups=GROUPS,
    slips=F,
    rule=_one_reduction("f sums the gradient once, and nothing else"),
)

REDUCE = Build(
    id="06-reduce-from-ranks",
    module="tensor_parallel",
    function="reduce_from_ranks",
    grade="world",
    probe="ch06.operator",
    section="6.13",
    bonus=True,
    topic="the operators f and g",
    cases=(_on_two([1, 2], [10, 20], ([5, 7], [5, 7])), _both(Random("g"), 3, (2, 2)), ONE),
    groups=GROUPS,
    slips=G,
    rule=_one_reduction("g sums x once, and nothing else"),
)

DEBUG_G = Debug(
    id="06-debug-g",
    module="tensor_parallel",
    function="debug_g",
    grade="world",
    probe="ch06.differentiated",
    section="6.13",
    bonus=True,
    topic="the operators f and g",
    cases=(_on_two([1, 2], [10, 20], ([5, 7], [5, 7])), _both(Random("debug g"), 3, (2, 2))),
    groups=(
        Group("two to four ranks", _plain, 4, "Every rank computes the same from g on.", _plain_of_each),
        listed("any shape", _shape_of_each, "The forward pass is right: look at the gradient."),
    ),
    slips=FIXED_G,
    rule=_one_reduction("g sums x once, and nothing else"),
    wrong=wrong_g,
)

ITEMS = (COPY, REDUCE, DEBUG_G)
