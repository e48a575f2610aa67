"""Calls and values as a reader sees them: short, exact where it matters, cut where it does not."""

from __future__ import annotations

from typing import Any

from autograder.items import Build, Case, Iterator, Tensor
from autograder.outcome import Outcome

LONGEST = 160
ELEMENTS = 12


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"


def _nested(values: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """A flat list of elements as nested lists of this shape."""
    if len(shape) < 2:
        return values if shape else values[0]
    size = len(values) // shape[0] if shape[0] else 0
    return [_nested(values[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


def _tensor(tensor: Tensor) -> str:
    values = tensor.tolist()
    if len(values) > ELEMENTS:
        kept = ", ".join(value(v) for v in values[:3])
        return f"tensor([{kept}, …], {tensor.dtype}, {len(values)} elements)"
    kind = "" if tensor.dtype == "float32" else f", {tensor.dtype}"
    return f"tensor({value(_nested(values, tensor.shape))}{kind})"


def value(thing: Any) -> str:
    """A value in the reader's words: floats in six significant digits, tensors as nested lists."""
    if isinstance(thing, Tensor):
        return _tensor(thing)
    if isinstance(thing, Iterator):
        return f"iter({value(thing.values)})"
    if isinstance(thing, float):
        return f"{thing:.6g}"
    if isinstance(thing, dict):
        return _cut("{" + ", ".join(f"{value(k)}: {value(v)}" for k, v in thing.items()) + "}")
    if isinstance(thing, list):
        return _cut("[" + ", ".join(value(v) for v in thing) + "]")
    if isinstance(thing, tuple):
        inner = ", ".join(value(v) for v in thing)
        return _cut(f"({inner},)" if len(thing) == 1 else f"({inner})")
    return _cut(repr(thing))


def arguments(args: tuple[Any, ...], kwargs: Any = None) -> str:
    """The inside of a call's brackets."""
    return ", ".join([*(value(a) for a in args), *(f"{name}={value(v)}" for name, v in (kwargs or {}).items())])


def call(item: Build, case: Case) -> str:
    """A case as the call that it makes; a world's as one call for each rank."""
    if item.grade == "world":
        return "\n".join(f"rank {rank}: {item.function}({arguments(args)})" for rank, args in enumerate(case.args))
    made = f"{item.function}({arguments(case.args, case.kwargs)})"
    steps = [f".{name}" if args is None else f".{name}({arguments(args)})" for name, args in case.calls]
    return "\n".join([made, *steps])


def result(item: Build, outcome: Outcome) -> str:
    """What came of a case, laid out line by line as :func:`call` lays out the calls."""
    if outcome.kind == "raised":
        return f"raises {outcome.error}"
    if outcome.kind != "value":
        return outcome.detail or outcome.kind
    if item.grade == "world":
        return "\n".join(f"rank {rank}: {value(held)}" for rank, held in enumerate(outcome.value))
    if item.grade == "calls":
        return "\n".join(["", *(_answer(answer) for answer in outcome.value)])
    return value(outcome.value)


def _answer(answer: Any) -> str:
    raised = isinstance(answer, tuple) and len(answer) == 2 and answer[0] == "raises"
    return f"raises {answer[1]}" if raised else value(answer)
