"""What several exercises of chapter 6 share."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from autograder.bank.ch06.rules import bytes_of, calls_at_most
from autograder.bank.groups import listed
from autograder.items import Case, Group, Rule, Tensor


def tensor(rng: Random, *shape: int) -> Tensor:
    """Numbers from -2 to 2 in float64."""
    return Tensor.of([rng.uniform(-2, 2) for _ in range(math.prod(shape))], "float64", shape)


def vector(*values: float) -> Tensor:
    """These numbers in float64."""
    return Tensor.of(values, "float64")


def draw_any(make: Callable[..., Case]) -> Callable[[Random], Case]:
    """An ordinary case: two to four ranks, which divide both sizes."""

    def draw(rng: Random) -> Case:
        ranks = rng.randint(2, 4)
        return make(rng, ranks, ranks * rng.randint(2, 6), ranks * rng.randint(2, 6))

    return draw


def several(make: Callable[..., Case]) -> Callable[[Random], list[Case]]:
    return lambda rng: [make(rng, ranks, ranks * rng.randint(2, 5), 12) for ranks in (2, 3, 4)]


def batches(make: Callable[..., Case]) -> Callable[[Random], list[Case]]:
    return lambda rng: [make(rng, 2, 8, 6, (), False), make(rng, 3, 9, 12, (2, 3)), make(rng, 1, 5, 7, (2,))]


def numbers(rng: Random, shape: tuple[int, ...], whole: bool = False) -> Tensor:
    draw = (lambda: float(rng.randint(-8, 8) or 1)) if whole else (lambda: rng.uniform(-3, 3))
    return Tensor.of([draw() for _ in range(math.prod(shape))], "float64", shape)


def both(rng: Random, ranks: int, shape: tuple[int, ...], **kwargs: str) -> Case:
    """x and a gradient on every rank; transposed, the gradient has the result's shape."""
    whole = kwargs.get("form") == "bfloat16"  # sums of whole numbers are exact in half precision
    back = shape[::-1] if kwargs.get("form") == "transposed" else shape
    return Case(tuple((numbers(rng, shape, whole), numbers(rng, back, whole)) for _ in range(ranks)), kwargs)


def plain(rng: Random) -> Case:
    return both(rng, rng.randint(2, 4), (rng.randint(1, 5), rng.randint(1, 6)))


def plain_of_each(rng: Random) -> list[Case]:
    return [both(rng, ranks, (rng.randint(2, 4), rng.randint(2, 6))) for ranks in (2, 3, 4)]


def pairs(rng: Random) -> Case:
    return both(rng, 4, (rng.randint(2, 4), rng.randint(2, 4)), form="pairs")


def plain_of_two(rng: Random) -> list[Case]:
    return plain_of_each(rng)[:2]


def shape_of_each(rng: Random) -> list[Case]:
    return [both(rng, 2, ()), both(rng, 3, (2, 1, 3, 2)), both(rng, 2, (0, 3)), both(rng, 1, (4,))]


def form_of_each(rng: Random) -> list[Case]:
    return [both(rng, 2, (3, 2), form=form) for form in ("transposed", "expanded", "bfloat16")]


def one_reduction(why: str) -> Rule:
    return calls_at_most(lambda case: [("all_reduce", bytes_of(case.args[0][0]))], why, own_bytes)


def own_bytes(case: Case) -> int:
    """Bytes of x, in the type in which the case has it."""
    size = bytes_of(case.args[0][0])
    return size // 4 if case.kwargs.get("form") == "bfloat16" else size


GROUPS = (
    Group(
        "two and three ranks",
        plain,
        2,
        "Follow a tensor through the forward pass and its gradient back.",
        plain_of_two,
    ),
    listed("any shape", shape_of_each, "There may be one rank, no elements, or any number of dimensions."),
    listed("strides and types", form_of_each, "Tensors may be transposed, expanded, or in half precision."),
    Group("groups", pairs, 1, "Only the ranks of the group take part, forward and backward."),
)


def on_two(first: list[float], second: list[float], back: tuple[list[float], list[float]]) -> Case:
    rows = zip((first, second), back, strict=True)
    return Case(tuple((Tensor.of(x, "float64"), Tensor.of(g, "float64")) for x, g in rows))


ONE = Case(((Tensor.of([1.0, 2.0], "float64"), Tensor.of([3.0, 4.0], "float64")),))

#: Makes a case for so many ranks, a shape and a dimension.
Make = Callable[[Random, int, tuple[int, ...], int], Case]


def longer(shape: tuple[int, ...], dim: int, ranks: int) -> tuple[int, ...]:
    return tuple(size * ranks if index == dim % len(shape) else size for index, size in enumerate(shape))


def groups(make: Make, hint: str) -> tuple[Group, Group, Group]:
    """What joining and splitting are both tried with; ``hint`` is said of ordinary cases."""

    def each(rng: Random) -> list[Case]:
        """Two to four ranks, along the second dimension, whose size all of them divide."""
        return [make(rng, ranks, (12, rng.randint(1, 3), 2), 1) for ranks in (2, 3, 4)]

    def dims(rng: Random) -> list[Case]:
        return [make(rng, 2, (3,), 0), make(rng, 3, (2, 3), -1), make(rng, 2, (2, 2, 1), -2), make(rng, 1, (2, 3), 1)]

    def pairs(rng: Random) -> Case:
        """Four ranks in two groups, each with a sequence of its own."""
        shape = (4, rng.randint(1, 3))
        return Case((*make(rng, 2, shape, 0).args, *make(rng, 2, shape, 0).args), {"pairs": True})

    any_dimension = "There may be one rank, and any dimension, counted from the front or the back."
    return (
        listed("two to four ranks", each, hint, 3),
        listed("dimensions", dims, any_dimension, 4),
        Group("groups", pairs, 1, "Only the ranks of the group hold parts."),
    )


def calls(index: int, whole: int) -> Rule:
    """One all-gather of a part and one reduce-scatter of the whole."""

    def allowed(case: Case) -> list[tuple[str, int]]:
        args = case.args[0]
        return [("all_gather", bytes_of(args[index])), ("reduce_scatter", bytes_of(args[whole]))]

    why = "one all-gather of a part and one reduce-scatter of the whole are enough"
    return calls_at_most(allowed, why, lambda case: sum(size for _, size in allowed(case)))


def layer(rng: Random) -> tuple[int, int, int, int]:
    ranks = rng.choice((2, 3, 4, 7, 8, 16, 64))
    return (
        rng.choice((1, 17, 1024, 4096, 8192)),
        rng.choice((1, 3, 4, 64)),
        rng.choice((1, 64, 4096, 8192, 16_384)),
        ranks,
    )


def nothing_sent(rng: Random) -> Case:
    s, b, h, t = layer(rng)
    return Case(rng.choice(((s, b, h, 1), (0, b, h, t), (s, 0, h, t))))


def look_up(rng: Random, ranks: int, share: int, batch: tuple[int, ...], hidden: int = 3, back: bool = True) -> Case:
    """Ids of every rank's rows where there are enough of them; rows without zeros."""
    count = math.prod(batch)
    ids = [(index % ranks) * share + rng.randrange(share) for index in range(count)]
    asked, upstream = Tensor.of(ids, "int64", batch), tensor(rng, *batch, hidden)
    rows = [tensor(rng, share, hidden) for _ in range(ranks)]
    return Case(tuple((asked, own, upstream) if back else (asked, own) for own in rows))


def table(back: bool = True) -> Case:
    table = [[0, 1, 10, 11], [20, 21, 30, 31]]
    ids, ones = Tensor.of([3, 0, 2], "int64"), Tensor.of([1.0] * 6, "float64", (3, 2))
    rows = [Tensor.of(row, "float64", (2, 2)) for row in table]
    return Case(tuple((ids, own, ones) if back else (ids, own) for own in rows))


def looked_up(rng: Random) -> list[Case]:
    return [look_up(rng, ranks, rng.randint(2, 4), (rng.randint(4, 6),)) for ranks in (2, 3, 4)]


def look_up_shapes(rng: Random) -> list[Case]:
    """One of them on ranks with a single row."""
    return [look_up(rng, 2, 3, ()), look_up(rng, 3, 1, (2, 3)), look_up(rng, 1, 5, (4,))]


def row_bytes(case: Case) -> list[tuple[str, int]]:
    ids, weight, *_ = case.args[0]
    return [("all_reduce", bytes_of(ids) // 8 * weight.shape[1] * 8)]


def least_rows(case: Case) -> int:
    """An id that is asked for twice needs to be looked up once."""
    ids, weight, *_ = case.args[0]
    return len(set(ids.tolist())) * weight.shape[1] * 8


LOOK_UP_RULE = calls_at_most(row_bytes, "one all-reduce of the rows that were asked for is enough", least=least_rows)

COPIED = "x.clone(memory_format=torch.contiguous_format)"
SCATTERED = "mine = torch.empty_like(parts[0])\n    dist.reduce_scatter(mine, parts, group=group)\n    return mine"
OWN_PART = (SCATTERED, "return parts[dist.get_rank(group)].clone()")

ALL_REDUCED = (
    f"parts = [part.contiguous() for part in x.chunk(ranks, dim)]\n    {SCATTERED}",
    "total = x.clone(memory_format=torch.contiguous_format)\n"
    "    dist.all_reduce(total, group=group)\n"
    "    return total.chunk(ranks, dim)[dist.get_rank(group)].contiguous()",
)

A_VIEW = ((".detach().clone(memory_format=torch.contiguous_format))", ".detach())"),)
