"""Calls and values as text for learners: short, but with arguments in full precision."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from autograder.items import Array, Build, Case, Iterator, Tensor
from autograder.marking.outcome import Outcome
from autograder.marking.values import Record
from rankzero.facts import models

#: Limits of what is shown in full: characters of one value, elements of a list, runs of equal elements in a list.
LONGEST, ELEMENTS, RUNS = 160, 12, 4
#: Significant digits of a number: as a rule, of an argument, and where a wrong one would look like the right one.
DIGITS, EXACT, MORE = 6, 15, (9, 12, 17)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"


def _nested(values: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """A flat list of elements as nested lists of this shape."""
    if len(shape) < 2:
        return values if shape else values[0]
    size = len(values) // shape[0] if shape[0] else 0
    return [_nested(values[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


def _number(number: float, digits: int = DIGITS) -> str:
    """A number such as ``1e9``, in six significant digits, or in ``digits`` if six are too few."""
    text = f"{number:.{DIGITS}g}"
    if digits > DIGITS and not math.isclose(float(text), number, rel_tol=1e-15):
        text = f"{number:.{digits}g}"
    return text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def apart(given: float, right: float) -> tuple[str, str] | None:
    """Two different numbers that look the same as a rule, in so many digits that they do not; None for any others."""
    if not (math.isfinite(given) and math.isfinite(right)) or _number(given) != _number(right):
        return None
    pairs = ((_number(given, digits), _number(right, digits)) for digits in MORE)
    return next((pair for pair in pairs if pair[0] != pair[1]), None)


def _elements(values: Sequence[Any], digits: int) -> str:
    """A list in brackets; a long one as runs (``[0] * 2000 + [1]``) or as its first elements and its length."""
    if len(values) <= ELEMENTS:
        return "[" + ", ".join(value(v, digits) for v in values) + "]"
    runs = [(value(v, digits), len(list(same))) for v, same in itertools.groupby(values)]
    if len(runs) <= RUNS:
        return " + ".join(f"[{text}] * {count}" if count > 1 else f"[{text}]" for text, count in runs)
    return "[" + ", ".join(value(v, digits) for v in values[:3]) + f", … {len(values)} in all]"


def _tensor(tensor: Tensor, digits: int) -> str:
    values, name = tensor.tolist(), "array" if isinstance(tensor, Array) else "tensor"
    if not values:  # a shape such as (10**9, 0) must not be laid out
        return f"{name}([], shape {tensor.shape}, {tensor.dtype})"
    inner = (
        _elements(values if len(values) > ELEMENTS else _nested(values, tensor.shape), digits) if tensor.shape else ""
    )
    kind = "" if tensor.dtype == "float32" else f", {tensor.dtype}"
    return f"{name}({inner or value(values[0], digits)}{kind})"


def _well_known(record: Record) -> bool:
    """Whether a record is shown by its name alone: it is large or has a source, as a model, a GPU or a link does."""
    named = isinstance(record.fields.get("name"), str)
    return named and ("source" in record.fields or len(record.fields) > 4)


def _published(thing: Any) -> str:
    """The name under which ``rankzero.facts.models`` holds a model, if it does."""
    found = (name for name, held in vars(models).items() if isinstance(thing, models.Model) and held == thing)
    return next(found, "")


def value(thing: Any, digits: int = DIGITS) -> str:
    """A value as text: floats in so many significant digits if six are too few, tensors as nested lists."""
    if isinstance(thing, Record):
        if _well_known(thing):
            return f"{thing.name}({thing.fields['name']})"
        inner = ", ".join(f"{name}={value(held, digits)}" for name, held in thing.fields.items())
        return _cut(f"{thing.name}({inner})")
    if isinstance(thing, Tensor):
        return _tensor(thing, DIGITS if digits == EXACT else digits)
    if isinstance(thing, Iterator):
        return f"iter({value(thing.values, digits)})"
    if isinstance(thing, float):
        return _number(thing, digits)
    if isinstance(thing, dict):
        return _cut("{" + ", ".join(f"{value(k, digits)}: {value(v, digits)}" for k, v in thing.items()) + "}")
    if isinstance(thing, list):
        return _cut(_elements(thing, digits))
    if isinstance(thing, tuple):
        inner = ", ".join(value(v, digits) for v in thing)
        return _cut(f"({inner},)" if len(thing) == 1 else f"({inner})")
    return _published(thing) or _cut(repr(thing))


def arguments(args: tuple[Any, ...], kwargs: Any = None) -> str:
    """The arguments of a call, as text between its parentheses."""
    named = (f"{name}={value(v, EXACT)}" for name, v in (kwargs or {}).items())
    return ", ".join([*(value(a, EXACT) for a in args), *named])


def call(item: Build, case: Case) -> str:
    """A case as the call that it makes; for a world, one call for each rank."""
    if item.grade == "world":
        calls = (f"{item.function}({arguments(args, case.kwargs)})" for args in case.args)
        return "\n".join(f"rank {rank}: {made}" for rank, made in enumerate(calls))
    made = f"{item.function}({arguments(case.args, case.kwargs)})"
    steps = [f".{name}" if args is None else f".{name}({arguments(args)})" for name, args in case.calls]
    return "\n".join([made, *steps])


def result(item: Build, outcome: Outcome, digits: int = DIGITS) -> str:
    """The outcome of a case, laid out line by line like the calls of :func:`call`."""
    if outcome.kind == "raised":
        return f"raises {outcome.error}"
    if outcome.kind != "value":
        return outcome.detail or outcome.kind
    if item.grade == "world":
        return _ranks([value(held, digits) for held in outcome.value])
    if item.grade == "calls":
        return "\n".join(["", *(_answer(answer, digits) for answer in outcome.value)])
    return value(outcome.value, digits)


def beside(item: Build, outcome: Outcome, right: Outcome) -> str:
    """A wrong outcome in as many digits as tell it from the right one, if any do."""
    texts = ((result(item, outcome, digits), result(item, right, digits)) for digits in (DIGITS, *MORE))
    return next((mine for mine, wanted in texts if mine != wanted), result(item, outcome))


def _ranks(texts: list[str]) -> str:
    if len(texts) > 1 and len(set(texts)) == 1:
        return f"every rank: {texts[0]}"
    return "\n".join(f"rank {rank}: {text}" for rank, text in enumerate(texts))


def _answer(answer: Any, digits: int) -> str:
    raised = isinstance(answer, tuple) and len(answer) == 2 and answer[0] == "raises"
    return f"raises {answer[1]}" if raised else value(answer, digits)
