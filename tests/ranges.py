"""The ranges that docstrings state, and what a reference does at their edges.

The range of an argument follows from its annotation (``int`` is a count, an int but not a bool; ``float`` is an amount,
finite) and the words of its line under ``Args``: "at least 1", "not negative", "positive", "from 0 to 1".
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from autograder import syntax
from autograder.items import Build, Case
from autograder.marking import probing, trusted, trusted_worlds, values
from autograder.marking.outcome import Outcome

Kind = Literal["count", "amount", "name"]
#: The functions of :mod:`rankzero.checks` that state a range by themselves.
STATED = {"count", "amount", "positive", "finite", "between"}


@dataclass(frozen=True)
class Range:
    """What an argument may be. With ``each``, that holds for every element."""

    kind: Kind
    names: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    one_of: tuple[float, ...] = ()
    each: bool = False
    none: bool = False
    infinite: bool = False

    def breaks(self, value: Any) -> bool:
        """Whether ``value`` breaks the rule."""
        if value is None:
            return not self.none
        if self.each and isinstance(value, list | tuple | Mapping):
            parts = value.values() if isinstance(value, Mapping) else value
            return any(replace(self, none=False).breaks(part) for part in parts)
        if isinstance(value, list | tuple | dict):
            return False  # not laid out as annotated: the rule does not apply
        return self.breaks_one(value)

    def breaks_one(self, value: Any) -> bool:
        if self.kind == "name":
            return type(value) is str and value not in self.names
        if self.kind == "count" and type(value) is not int:
            return type(value) in (bool, float, str)
        if type(value) not in (int, float):
            return False
        if math.isnan(value) or (math.isinf(value) and not self.infinite):
            return True
        below = value < self.low or (self.low_open and value == self.low)
        above = value > self.high or (self.high_open and value == self.high)
        return below or above or bool(self.one_of and value not in self.one_of)

    def outside(self) -> list[Any]:
        """Values that are excluded: of a wrong type, not finite, just outside; other names."""
        if self.kind == "name":
            return ["", f"{self.names[0]}s", self.names[0].upper()]
        step = 1 if self.kind == "count" else 1e-3
        found: list[Any] = [2.5, 2.0, True, "1"] if self.kind == "count" else [math.nan]
        if self.kind == "amount" and not self.infinite:
            found += [math.inf, -math.inf]
        edges = []
        if math.isfinite(self.low):
            edges.append(self.low if self.low_open else self.low - step)
        if math.isfinite(self.high):
            edges.append(self.high if self.high_open else self.high + step)
        if self.one_of:
            edges += [min(self.one_of) - 1, max(self.one_of) + 1]
        return found + [int(one) if self.kind == "count" else one for one in edges]

    def edges(self) -> list[Any]:
        """Values that are just within: the bounds themselves; each of the names."""
        if self.kind == "name":
            return list(self.names)
        found = list(self.one_of)
        found += [self.low] if math.isfinite(self.low) and not self.low_open else []
        found += [self.high] if math.isfinite(self.high) and not self.high_open else []
        return [int(one) if self.kind == "count" else one for one in found]


NUMBER = r"(-?\d[\d.]*(?:e-?\d+)?)"
RANGES: tuple[tuple[str, Callable[[re.Match[str]], dict[str, Any]]], ...] = (
    (rf"from {NUMBER} to {NUMBER}(?![\d *])", lambda m: {"low": float(m[1]), "high": float(m[2])}),
    (
        rf"between {NUMBER} and {NUMBER}, both excluded",
        lambda m: {"low": float(m[1]), "high": float(m[2]), "low_open": True, "high_open": True},
    ),
    (
        rf"(?:above|>) ?{NUMBER}(?:,| and) at most {NUMBER}",
        lambda m: {"low": float(m[1]), "high": float(m[2]), "low_open": True},
    ),
    (rf"(?:at least|>=) {NUMBER}", lambda m: {"low": float(m[1])}),
    (rf"counted from {NUMBER}", lambda m: {"low": float(m[1])}),
    (rf"from {NUMBER}\b", lambda m: {"low": float(m[1])}),
    (r"\bnot negative\b", lambda m: {"low": 0.0}),
    (r"\bpositive\b|(?:above|>) 0\b", lambda m: {"low": 0.0, "low_open": True}),
    (r"\bthe integers? ((?:\d+, )*\d+ or \d+)", lambda m: {"one_of": tuple(map(float, re.findall(r"\d+", m[1])))}),
)


def stated(annotation: Any, text: str) -> Range | None:
    """The range of an argument, from its annotation and its line under ``Args``; None if they state none."""
    words = str(annotation)
    outer = re.match(r"(?:Sequence|Iterable|list|tuple|Mapping)\[(.*)\]", words)
    kinds = set(re.findall(r"\b(int|float|bool|str|Tensor)\b", outer[1].rpartition(",")[2] if outer else words))
    names = tuple(re.findall(r'``"([^"]*)"``', text))
    if kinds == {"str"} and len(names) > 1:
        return Range("name", names, each=bool(outer), none="None" in words)
    known: dict[str, Kind] = {"int": "count", "float": "amount"}
    kind = known.get(next(iter(kinds))) if len(kinds) == 1 else None
    if kind is None or (outer and "tuple[" in outer[1]):
        return None
    found: dict[str, Any] = {}
    for pattern, read in RANGES:
        if match := re.search(pattern, text):
            found = read(match)
            break
    if not found and not re.search(r"\b(?:finite|integers?)\b", text):
        return None  # its range is not stated
    none = "None" in words
    return Range(kind, each=bool(outer), none=none, infinite=bool(re.search(r"\binfinit", text)), **found)


def arguments(doc: str) -> dict[str, str]:
    """The lines of the section ``Args`` of a docstring, by argument."""
    section = re.search(r"(?:^|\n)Args:\n(.*?)(?=\n\S|\Z)", doc, re.DOTALL)
    if not section:
        return {}
    parts = re.split(r"(?:^|\n) {4}(\w+(?:, \w+)*): ", section[1])
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {name: " ".join(text.split()) for names, text in named for name in names.split(", ")}


@functools.cache
def ranges(function: Callable[..., Any]) -> dict[str, Range]:
    """The ranges of the arguments of a function, a method or a class's constructor."""
    texts = arguments(inspect.getdoc(function) or "")
    parameters = inspect.signature(function).parameters
    read = {name: stated(one.annotation, texts.get(name, "")) for name, one in parameters.items()}
    return {name: one for name, one in read.items() if one}


def signature(item: Build) -> inspect.Signature:
    """The signature that a case calls: the function's, or that of a probe's driver, which uses the same names."""
    own = inspect.signature(item.solution())
    if not item.probe:
        return own
    driver = list(inspect.signature(probing.load(item.probe)).parameters.values())[1:]
    handed_on = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in driver)
    return own if handed_on else inspect.Signature(driver)


def faults(item: Build) -> list[str]:
    """Where the words of an item's docstring and its reference differ: a value that is excluded and not refused by a
    ValueError that names argument and value; an edge that is refused; a check of an argument whose range is not stated.
    """
    found = [*_unstated(item.solution()), *_differences(item.solution(), functools.partial(_answered, item))]
    for name, method in vars(item.solution()).items() if isinstance(item.solution(), type) else ():
        if inspect.isfunction(method) and (known := _call_of(item, name)):
            found += [f"{name}: {one}" for one in _unstated(method)]
            found += [f"{name}: {one}" for one in _differences(method, functools.partial(_called, item, *known))]
    return found


def _unstated(function: Any) -> Iterator[str]:
    """Arguments that the function checks although its words state no range."""
    texts = arguments(inspect.getdoc(function) or "")
    code = function.__init__ if isinstance(function, type) else function
    if not inspect.isfunction(code):
        return
    for node in ast.walk(syntax.parse(inspect.cleandoc("\n" + inspect.getsource(code)))):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="checks"), attr=check), keywords=given):
                for one in given if check in STATED else ():
                    if one.arg in inspect.signature(function).parameters and not _is_stated(function, one.arg, texts):
                        yield f"{one.arg} is checked, and its words state no range: {texts.get(one.arg, '')!r}"


def _is_stated(function: Any, name: str, texts: Mapping[str, str]) -> bool:
    return name in ranges(function) or bool(
        name in texts and re.search("|".join(one for one, _ in RANGES), texts[name])
    )


def _differences(function: Any, ask: Callable[[list[tuple[str, Any]]], list[str | None]]) -> Iterator[str]:
    """``ask``: for each name and value, the message of a ValueError; empty for any other end, None for no call."""
    known = ranges(function)
    outside = [(name, value) for name, one in known.items() for value in one.outside()]
    edges = [(name, value) for name, one in known.items() for value in one.edges()]
    for (name, value), message in zip(outside, ask(outside), strict=True):
        if message is not None and not re.search(_sentence(name, known[name], value), message):
            yield f"{name}={value!r} is not refused" if not message else f"{name}={value!r} is not named in {message!r}"
    for (name, value), message in zip(edges, ask(edges), strict=True):
        if message and re.match(rf"{name}(\[.*\])? must ", message):
            yield f"{name}={value!r} is within its words, and refused: {message!r}"


def _sentence(name: str, one: Range, value: Any) -> str:
    """A pattern for what a refusal says: of an element it may name the singular, and show all or what they sum to."""
    if one.each:
        return rf"\b{re.sub('(ies|e?s)$', '', name)}\w*(\[.*\])? must .*got "
    return rf"\b{name} must .*got {re.escape(repr(value))}"


# Calls with one other argument: of the function or constructor, and of a method.


def _answered(item: Build, asked: Sequence[tuple[str, Any]]) -> list[str | None]:
    ordinary = [case for case in item.cases if not case.raises]
    cases = [next((new for case in ordinary if (new := _with(item, case, *one))), None) for one in asked]
    there = [case for case in cases if case]
    if item.grade in ("call", "calls"):
        outcomes = iter(trusted.run(item, item.solution(), there, 30.0))
    else:
        outcomes = iter(trusted_worlds.together(item, item.solution(), there, 30.0))
    return [_message(next(outcomes)) if case else None for case in cases]


def _message(outcome: Outcome) -> str:
    return outcome.detail if (outcome.kind, outcome.error) == ("raised", "ValueError") else ""


def _with(item: Build, case: Case, name: str, value: Any) -> Case | None:
    """The case with another value for an argument, on every rank of a world; None if it cannot be put there."""
    call, each = signature(item), ranges(item.solution())[name].each

    def put(args: Sequence[Any]) -> Case | None:
        bound = _bound(call, args, case.kwargs, name, value, each)
        return replace(case, args=bound.args, kwargs=bound.kwargs, calls=case.calls[:1]) if bound else None

    if item.grade != "world":
        return put(case.args)
    rows = [put(args) for args in case.args]
    if any(row is None for row in rows):
        return None
    return replace(case, args=tuple(row.args for row in rows if row), kwargs=rows[0].kwargs if rows[0] else {})


def _bound(
    call: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any], name: str, value: Any, each: bool
) -> inspect.BoundArguments | None:
    """A call with another argument, or another last entry of it; None if it does not fit."""
    try:
        bound = call.bind(*args, **kwargs)
    except TypeError:
        return None
    if name not in call.parameters:
        return None
    new = _replaced(bound.arguments.get(name, call.parameters[name].default), value) if each else value
    if new is None:
        return None
    bound.arguments[name] = new
    return bound


def _replaced(parts: Any, value: Any) -> Any:
    """A flat sequence with another last element, or a mapping with another last value; None for anything else."""
    if isinstance(parts, Mapping) and parts:
        return {**parts, list(parts)[-1]: value}
    if not isinstance(parts, list | tuple) or not parts or isinstance(parts[0], list | tuple):
        return None
    return type(parts)([*parts[:-1], value])


def _call_of(item: Build, method: str) -> tuple[Case, int] | None:
    """A public case, and the place of a call of ``method`` in it."""
    for case in item.cases:
        for place, (name, args) in enumerate(case.calls):
            if name == method and args:
                return case, place
    return None


def _called(item: Build, case: Case, place: int, asked: Sequence[tuple[str, Any]]) -> list[str | None]:
    return [_called_with(item, case, place, *one) for one in asked]


def _called_with(item: Build, case: Case, place: int, name: str, value: Any) -> str | None:
    """The message with which the object refuses the call at ``place`` of a case with another argument."""
    method, args = case.calls[place]
    function = getattr(item.solution(), method)
    each = ranges(function)[name].each
    bound = _bound(inspect.signature(function), (None, *values.fresh(list(args or ()))), {}, name, value, each)
    if bound is None:
        return None
    made = item.solution()(*values.fresh(list(case.args)), **values.fresh(dict(case.kwargs)))
    for earlier, given in case.calls[:place]:
        if "." not in earlier and given is not None:
            with contextlib.suppress(ValueError, RuntimeError):  # a case may hold calls that are refused
                getattr(made, earlier)(*values.fresh(list(given)))
    try:
        getattr(made, method)(*bound.args[1:], **bound.kwargs)
    except ValueError as error:
        return str(error)
    except Exception:
        return ""
    return ""
