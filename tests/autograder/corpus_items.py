"""What the hostile corpus is asked: nine tiny items, whose references stand here.

The inputs of hidden cases are numbers of seven digits that stand nowhere else, so that a leak can be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from autograder.bank.ch15.debug_atomic import crashed
from autograder.items import Build, Case, Group, Stage, Tensor


class Toy(Build):
    """An item whose reference stands in :data:`REFERENCES`."""

    def solution(self) -> Any:
        return REFERENCES[self.id]


def squares(values: list[float]) -> float:
    if min(values) < 0:
        raise ValueError("values must be >= 0")
    return sum(value * value for value in values) + 1.0


class Tally:
    def __init__(self, start: int = 0) -> None:
        self.total = start

    def add(self, amount: int) -> int:
        if amount < 0:
            raise ValueError("amount must be >= 0")
        self.total += amount
        return self.total


def doubled(x):
    return x * 2


def trained(stage, x):
    y = stage(x)
    y.sum().backward()
    return y.detach()


def summed(x):
    import torch.distributed as dist

    total = x.clone()
    dist.all_reduce(total)
    return total


def product(x, y):
    return x * y


def saved(disk, name, data):
    disk.write(name + ".part", data)
    disk.sync(name + ".part")
    disk.rename(name + ".part", name)


def replayed(graph, x, y, new):
    x.copy_(new)
    graph.replay()
    return y.clone()


REFERENCES: dict[str, Any] = {
    "91-answer": squares,
    "92-tally": Tally,
    "93-answer": doubled,
    "94-answer": trained,
    "95-answer": summed,
    "96-answer": product,
    "97-answer": saved,
    "98-answer": replayed,
    "99-answer": summed,
}


def _number(rng: Random) -> float:
    return rng.randint(130, 255) + rng.randint(1000, 9999) / 10_000


def _numbers(rng: Random) -> list[float]:
    return [_number(rng) for _ in range(rng.randint(2, 4))]


def _negative(rng: Random) -> Case:
    return Case(([*_numbers(rng), -_number(rng)],), raises="ValueError")


def _tallied(rng: Random) -> Case:
    steps = [("add", (rng.randint(130_000, 255_999),)), ("other.add", (rng.randint(130_000, 255_999),))]
    return Case((rng.randint(1, 9),), calls=(*steps, ("add", (-1,)), ("total", None)))


def _tensor(rng: Random) -> Tensor:
    return Tensor.of([_number(rng) for _ in range(3)])


def _stage(rng: Random) -> Case:
    weight = Tensor.of([_number(rng) for _ in range(6)], shape=(2, 3))
    return Case((Stage((("Linear", weight, Tensor.of([1.0, 2.0])),)), Tensor.of([_number(rng)] * 3, shape=(1, 3))))


def _file(rng: Random) -> Case:
    step = rng.randint(1000, 9999)
    return Case(({"latest.pt": f"step {step}"}, "latest.pt", f"step {step + 1}"))


def one_all_reduce(case: Case, _values: Sequence[Any], events: Sequence[Any]) -> str | None:
    """Every rank calls all_reduce once, and nothing else."""
    calls = sorted((event.rank, event.operation) for event in events)
    wanted = [(rank, "all_reduce") for rank in range(len(case.args))]
    return None if calls == wanted else "one all_reduce of every rank is enough, and needed"


def _toy(identifier: str, function: str, grade: str, cases: tuple[Case, ...], *groups: Group, **more: Any) -> Toy:
    header = f"{identifier[:2]} toys.{function}"
    return Toy(header, identifier[:2], "hostility", cases, groups, (), grade=grade, **more)


def _ordinary(draw: Callable[[Random], Case], count: int) -> Group:
    return Group("ordinary", draw, count, "inputs of any kind")


_SMALL = Stage((("Linear", Tensor.of([1, 2, 3, 4, 5, 6], shape=(2, 3)), Tensor.of([1.0, 2.0])),))
ITEMS = {
    "call": _toy(
        "91-answer",
        "answer",
        "call",
        (Case(([1.0, 2.0],)), Case(([0.5],)), Case(([-1.0],), raises="ValueError")),
        _ordinary(lambda rng: Case((_numbers(rng),)), 4),
        Group("bad input", _negative, 2, "a number below 0"),
    ),
    "calls": _toy(
        "92-tally",
        "Tally",
        "calls",
        (
            Case((), calls=(("add", (2,)), ("add", (-1,)), ("total", None))),
            Case((4,), calls=(("other.add", (1,)), ("total", None))),
        ),
        _ordinary(_tallied, 4),
    ),
    "tensor": _toy(
        "93-answer",
        "answer",
        "tensor",
        (Case((Tensor.of([1, 2, 3]),)),),
        _ordinary(lambda rng: Case((_tensor(rng),)), 2),
    ),
    "stage": _toy(
        "94-answer", "answer", "tensor", (Case((_SMALL, Tensor.of([1, 1, 1], shape=(1, 3)))),), _ordinary(_stage, 2)
    ),
    "world": _toy(
        "95-answer",
        "answer",
        "world",
        (Case(((Tensor.of([1.5]),), (Tensor.of([2.5]),))),),
        _ordinary(lambda rng: Case(((_tensor(rng),), (_tensor(rng),))), 1),
        unchanged=False,
        rule=one_all_reduce,
    ),
    "probe": _toy(
        "96-answer",
        "answer",
        "tensor",
        (Case((Tensor.of([1, 2]), Tensor.of([3, 5]), Tensor.of([1, 10]))),),
        _ordinary(lambda rng: Case((_tensor(rng), _tensor(rng), _tensor(rng))), 2),
        probe="ch06.differentiated",
        tolerance=1e-5,
    ),
    "saver": _toy(
        "97-answer",
        "answer",
        "call",
        (Case(({"latest.pt": "step 10"}, "latest.pt", "step 20")),),
        _ordinary(_file, 3),
        probe="cap.crashed",
        concludes=crashed,
    ),
    "graph": _toy(
        "98-answer",
        "answer",
        "tensor",
        (Case(([Tensor.of([1.0, 2.0], "float64"), Tensor.of([-1.0, 0.5], "float64")],)),),
        _ordinary(lambda rng: Case(([Tensor.of(_numbers(rng)[:2], "float64") for _ in range(3)],)), 2),
        probe="ch10_graphs.replayed",
    ),
    "quiet": _toy(  # no rule: whoever knows the other rank's number by any other way is right
        "99-answer",
        "answer",
        "world",
        (Case(((Tensor.of([1.5]),), (Tensor.of([2.5]),))),),
        _ordinary(lambda rng: Case(((Tensor.of([_number(rng)]),), (Tensor.of([_number(rng)]),))), 1),
    ),
}
#: Those whose files need no torch.
PLAIN = frozenset(name for name, item in ITEMS.items() if item.grade in ("call", "calls"))
