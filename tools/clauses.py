"""Checks docstrings against cases: refusals are announced, announced refusals happen, and promises are tested.

    python -m tools.clauses                       every item
    python -m tools.clauses --only 05-zero-memory

It prints four lists, which are empty if all is well.

*Not announced*: a public or hidden case that must be refused breaks no rule that the docstring states. An argument's
rule follows from its annotation (``int`` is a count, an int but not a bool; ``float`` is an amount, finite) and the
words of its line under ``Args``: "at least 1", "not negative", "positive", "from 0 to 1". It applies if the docstring
has a section ``Raises``. Every other refusal needs an :class:`Announced` in ``tests/clauses`` whose words occur in the
docstring.

*Not refused*: the reference accepts a value that the rule of an argument excludes, or does not name it.

*Not tried*: no case breaks the rule of an argument.

*No case*: a sentence that promises something (it contains one of :data:`TRIGGERS`) has no :class:`Clause`, or none of
the item's cases catches the program that breaks it.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar

from autograder import bank
from autograder.items import Build, Case, Group, edits
from autograder.items.edits import Edit
from autograder.marking import compare, probing, trusted, trusted_worlds, values
from autograder.marking.outcome import Outcome
from autograder.running.exam import Exam

T = TypeVar("T")
RuleKind = Literal["count", "amount", "name"]
Entries = Literal["ANNOUNCED", "CLAUSES", "UNTRIED"]

HERE = Path(__file__).resolve().parents[1] / "tests" / "clauses"
#: How many keys' cases are examined, and with how many a program that breaks a clause must be caught.
KEYS, NOTICED = 8, 3
#: The same for items that need processes.
FEW_KEYS, FEW_NOTICED = 2, 1
PLAIN = ("call", "calls")
TRIGGERS = re.compile(
    r"\b(never|also|ties?|new|unchanged|not finite|infinit\w*|nan|empty|ignored|twice|in place|whatever|only|alone"
    r"|unless|except|exactly|copy|copies|copied)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Announced:
    """A pattern for the message of a refusal, and the ``words`` of the docstring that announce it."""

    message: str
    words: str


@dataclass(frozen=True)
class Clause:
    """A sentence of a docstring, identified by some of its ``words``, and a program that breaks it.

    The program is the reference with ``edits``, or a whole ``program``. ``why``: the reason if no case can try it.
    """

    words: str
    edits: tuple[Edit, ...] = ()
    program: Callable[..., Any] | None = None
    why: str = ""


@dataclass(frozen=True)
class Untried:
    """An argument whose rule no case breaks, and why."""

    argument: str
    why: str


# The rules of arguments.


@dataclass(frozen=True)
class Rule:
    """What an argument may be. With ``each``, the rule applies to every element."""

    kind: RuleKind
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
        """Values that the rule excludes: of a wrong type, not finite, just outside the range; other names."""
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


def rule(annotation: Any, text: str) -> Rule | None:
    """The rule of an argument, from its annotation and its line under ``Args``; None if they state none."""
    words = str(annotation)
    outer = re.match(r"(?:Sequence|Iterable|list|tuple|Mapping)\[(.*)\]", words)
    kinds = set(re.findall(r"\b(int|float|bool|str|Tensor)\b", outer[1].rpartition(",")[2] if outer else words))
    names = tuple(re.findall(r'``"([^"]*)"``', text))
    if kinds == {"str"} and len(names) > 1:
        return Rule("name", names, each=bool(outer), none="None" in words)
    known: dict[str, RuleKind] = {"int": "count", "float": "amount"}
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
    return Rule(kind, each=bool(outer), none=none, infinite=bool(re.search(r"\binfinit", text)), **found)


def arguments(doc: str) -> dict[str, str]:
    """The lines of the section ``Args`` of a docstring, by argument."""
    section = re.search(r"(?:^|\n)Args:\n(.*?)(?=\n\S|\Z)", doc, re.DOTALL)
    if not section:
        return {}
    parts = re.split(r"(?:^|\n) {4}(\w+(?:, \w+)*): ", section[1])
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {name: " ".join(text.split()) for names, text in named for name in names.split(", ")}


@functools.cache
def rules(function: Callable[..., Any]) -> dict[str, Rule]:
    """The rules of the arguments of a function or of a class's constructor."""
    doc = inspect.getdoc(function) or ""
    if "\nRaises:\n" not in doc:
        return {}  # it refuses nothing: its ranges only describe the calls
    texts = arguments(doc)
    read = {
        name: rule(one.annotation, texts.get(name, "")) for name, one in inspect.signature(function).parameters.items()
    }
    return {name: one for name, one in read.items() if one}


def signature(item: Build) -> inspect.Signature:
    """The signature that a case calls: the function's, or that of a probe's driver, which uses the same names."""
    own = inspect.signature(item.solution())
    if not item.probe:
        return own
    driver = list(inspect.signature(probing.load(item.probe)).parameters.values())[1:]
    handed_on = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in driver)
    return own if handed_on else inspect.Signature(driver)


def broken(
    function: Callable[..., Any], call: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[str]:
    """The arguments of a call that break the rules of ``function``; none if they do not fit the signature."""
    known = rules(function)
    try:
        given = call.bind_partial(*args, **kwargs).arguments
    except TypeError:
        return []
    given = {**given.pop("options", {}), **given}
    return [name for name, value in given.items() if name in known and known[name].breaks(value)]


# The entries in ``tests/clauses``.


def _modules() -> Iterator[ModuleType]:
    for file in sorted(HERE.glob("ch*.py")):
        yield importlib.import_module(f"tests.clauses.{file.stem}")


@functools.cache
def said(name: Entries) -> dict[str, tuple[Any, ...]]:
    """``ANNOUNCED``, ``CLAUSES`` or ``UNTRIED`` of all modules in ``tests/clauses``, by item."""
    found: dict[str, tuple[Any, ...]] = {}
    for module in _modules():
        for item, entries in getattr(module, name, {}).items():
            found[item] = (*found.get(item, ()), *entries)
    return found


# The four lists.


def kept(compute: Callable[..., T]) -> Callable[..., T]:
    """Cache ``compute(item, *numbers)`` for the last item, because several lists ask for the same.

    Items are not hashable and two may have the same id, so they are compared by identity.
    """
    known: dict[tuple[int, ...], T] = {}
    last: list[Build] = []

    @functools.wraps(compute)
    def found(item: Build, *numbers: int) -> T:
        if not last or last[0] is not item:
            known.clear()
            last[:] = [item]
        if numbers not in known:
            known[numbers] = compute(item, *numbers)
        return known[numbers]

    return found


@kept
def drawn(item: Build, key: int) -> list[tuple[Group | None, Case]]:
    """The cases of a grading with this key."""
    return list(Exam([item], f"key {key}".encode()).sheet(item).drawn)


@kept
def expected(item: Build, key: int) -> list[Outcome]:
    """The reference's answers to the cases of a grading with this key."""
    return trusted.run(item, item.solution(), [case for _, case in drawn(item, key)], 30.0)


@kept
def refusals(item: Build, keys: int) -> list[tuple[str, list[str]]]:
    """For each case that must be refused, the reference's message and the arguments that break their rules."""
    return list(_refusals(item, keys))


def _refusals(item: Build, keys: int) -> Iterator[tuple[str, list[str]]]:
    function, call = item.solution(), signature(item)
    for key in range(min(keys, KEYS if item.grade in PLAIN else FEW_KEYS)):
        cases = [case for _, case in drawn(item, key) if case.raises or item.grade == "calls"]
        if item.grade == "calls":
            for case in cases:
                yield from _refused_calls(function, case)
        elif cases:
            for case, outcome in zip(cases, trusted.run(item, function, cases, 30.0), strict=True):
                rows = case.args if item.grade == "world" else (case.args,)
                yield (
                    outcome.detail,
                    sorted({one for args in rows for one in broken(function, call, args, case.kwargs)}),
                )


def _refused_calls(maker: Any, case: Case) -> Iterator[tuple[str, list[str]]]:
    """The same for each call that an object refuses, and for its construction."""
    objects: dict[str, Any] = {}
    for name, args in (("", None), *case.calls):
        owner, _, method = name.rpartition(".")
        if owner.startswith("#"):  # an answer, not the object
            continue
        try:
            if owner not in objects:
                objects[owner] = maker(*values.fresh(list(case.args)), **values.fresh(dict(case.kwargs)))
            if args is not None:
                getattr(objects[owner], method)(*values.fresh(list(args)))
        except Exception as error:
            if owner not in objects:
                yield str(error), broken(maker, inspect.signature(maker), case.args, case.kwargs)
                return
            called = getattr(maker, method)
            yield str(error), broken(called, inspect.signature(called), (None, *(args or ())), {})


def not_announced(item: Build, keys: int = KEYS) -> list[str]:
    """Refusals that neither the rule of an argument nor the words of the docstring announce."""
    entries: tuple[Announced, ...] = said("ANNOUNCED").get(item.id, ())
    text = " ".join(" ".join(docstrings(item)).split())
    found = [f"{one.words!r} is not in the docstring" for one in entries if one.words not in text]
    messages = {message for message, arguments in refusals(item, keys) if not arguments}
    matched = {one: [message for message in messages if re.search(one.message, message)] for one in entries}
    found += [f"no refusal matches {one.message!r}" for one, explained in matched.items() if not explained]
    open_ = messages - {message for explained in matched.values() for message in explained}
    alike = {re.sub(r"-?\d[\d.e+-]*", "#", message): message for message in sorted(open_)}
    return found + [f"the docstring does not say that it refuses {message[:150]!r}" for message in alike.values()]


def not_refused(item: Build, keys: int = KEYS) -> list[str]:
    """Values that the rule of an argument excludes but the reference does not refuse with a ValueError that names the
    argument and the value."""
    function, found = item.solution(), []
    ordinary = [case for _, case in drawn(item, 0) if not case.raises]
    put = [
        (name, one, value, next((new for case in ordinary if (new := _with(item, case, name, value))), None))
        for name, one in rules(function).items()
        for value in one.outside()
    ]
    tried = [(name, one, value, case) for name, one, value, case in put if case]
    cases = [case for *_, case in tried]
    outcomes = trusted.run(item, function, cases, 30.0) if item.grade in PLAIN else _alone(item, cases)
    for (name, one, value, _), outcome in zip(tried, outcomes, strict=True):
        if (outcome.kind, outcome.error) != ("raised", "ValueError"):
            found.append(f"{name}={value!r} gives {outcome.error or 'a value'}")
        elif not re.search(_sentence(name, one, value), outcome.detail):
            found.append(f"{name}={value!r} is not named in {outcome.detail!r}")
    return found


def _sentence(name: str, one: Rule, value: Any) -> str:
    """A pattern for what a refusal says: of an element it may name the singular, and show all or what they sum to."""
    if one.each:
        return rf"\b{re.sub('(ies|e?s)$', '', name)}\w*(\[.*\])? must .*got "
    return rf"\b{name} must .*got {re.escape(repr(value))}"


def _alone(item: Build, cases: Sequence[Case]) -> list[Outcome]:
    return trusted_worlds.together(item, item.solution(), cases, 30.0)


def _with(item: Build, case: Case, name: str, value: Any) -> Case | None:
    """The case with another value for an argument, on every rank of a world; None if it cannot be put there."""
    call, each = signature(item), rules(item.solution())[name].each

    def put(args: Sequence[Any]) -> Case | None:
        try:
            bound = call.bind(*args, **case.kwargs)
        except TypeError:
            return None
        if name not in call.parameters:
            return None
        new = _replaced(bound.arguments.get(name, call.parameters[name].default), value) if each else value
        if new is None:
            return None
        bound.arguments[name] = new
        return replace(case, args=bound.args, kwargs=bound.kwargs, calls=case.calls[:1])

    if item.grade != "world":
        return put(case.args)
    rows = [put(args) for args in case.args]
    if any(row is None for row in rows):
        return None
    return replace(case, args=tuple(row.args for row in rows if row), kwargs=rows[0].kwargs if rows[0] else {})


def _replaced(parts: Any, value: Any) -> Any:
    """A flat sequence with another last element, or a mapping with another last value; None for anything else."""
    if isinstance(parts, Mapping) and parts:
        return {**parts, list(parts)[-1]: value}
    if not isinstance(parts, list | tuple) or not parts or isinstance(parts[0], list | tuple):
        return None
    return type(parts)([*parts[:-1], value])


def not_tried(item: Build, keys: int = KEYS) -> list[str]:
    """Arguments with a rule that no case breaks."""
    entries: tuple[Untried, ...] = said("UNTRIED").get(item.id, ())
    reasoned = {one.argument for one in entries}
    tried = {name for _, arguments in refusals(item, keys) for name in arguments}
    known = rules(item.solution())
    found = [f"{name}: the reason is not needed" for name in sorted(reasoned & tried)]
    return found + [f"{name}: no case breaks its rule" for name in known if name not in tried | reasoned]


def docstrings(item: Build) -> list[str]:
    """The docstrings that a learner reads: the function's or class's, and those of its public methods."""
    reference = item.solution()
    found = [inspect.getdoc(reference) or ""]
    if isinstance(reference, type):
        methods = [one for name, one in vars(reference).items() if not name.startswith("_")]
        found += [inspect.getdoc(one) or "" for one in methods if callable(one) or isinstance(one, property)]
    return found


def promises(item: Build) -> list[str]:
    """The sentences that contain a trigger, except those under ``Raises`` and ``Sources``."""
    found = []
    for doc in docstrings(item):
        doc = re.sub(r"(?:^|\n)(?:Raises|Sources?):.*?(?=\n\S|\Z)", "", doc, flags=re.DOTALL)
        for line in re.sub(r"\n +", " ", doc).splitlines():
            found += [one.strip() for one in re.split(r"(?<=[.;])\s+", line) if TRIGGERS.search(one)]
    return found


def without_case(item: Build, keys: int = KEYS) -> list[str]:
    """Sentences without a clause, clauses without a sentence, and clauses that no case tries."""
    clauses: tuple[Clause, ...] = said("CLAUSES").get(item.id, ())
    text = " ".join(" ".join(docstrings(item)).split())
    found = [f"{one.words!r} is not in the docstring" for one in clauses if one.words not in text]
    for sentence in promises(item):
        if not any(one.words in " ".join(sentence.split()) or sentence in one.words for one in clauses):
            found.append(f"no clause for {sentence!r}")
    return found + [sentence for one in clauses if not one.why for sentence in not_caught(item, one, keys)]


def not_caught(item: Build, clause: Clause, keys: int) -> list[str]:
    """What is wrong with the program that breaks a clause: it cannot be made, or no case catches it."""
    try:
        missed = unnoticed(item, clause, keys)
    except edits.DoesNotApply as error:
        return [f"{clause.words!r}: {error}"]
    return [f"{clause.words!r} can be broken: no case catches it with keys {missed}"] if missed else []


def unnoticed(item: Build, clause: Clause, keys: int) -> list[int]:
    """The keys with which no case catches the program that breaks a clause."""
    program = clause.program or edits.edited(item.solution(), clause.edits)
    missed = []
    for key in range(min(keys, NOTICED if item.grade in PLAIN else FEW_NOTICED)):
        cases = [case for _, case in drawn(item, key)]
        rows = zip(cases, expected(item, key), _one_by_one(item, program, cases), strict=True)
        if not any(compare.fault(item, *row) for row in rows):
            missed.append(key)
    return missed


def _one_by_one(item: Build, program: Any, cases: Sequence[Case]) -> Iterator[Outcome]:
    """The outcomes of a program, computed only on demand if each case needs its own processes."""
    if item.grade in PLAIN:
        yield from trusted.run(item, program, cases, 2.0)
    for case in cases if item.grade not in PLAIN else ():
        yield from trusted.run(item, program, [case], 2.0)


#: Each list, found with the cases of some number of keys, :data:`KEYS` where none is given.
LISTS: dict[str, Callable[..., list[str]]] = {
    "not announced": not_announced,
    "not refused": not_refused,
    "not tried": not_tried,
    "no case": without_case,
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.clauses", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="ID", default=[], help="items, or beginnings of their ids")
    parser.add_argument("--list", choices=LISTS, help="only this list")
    options = parser.parse_args(argv)
    chosen = [item for item in bank.builds() if not options.only or item.id.startswith(tuple(options.only))]
    if not chosen:
        parser.error(f"no item's id is or begins with {' or '.join(options.only)}")
    count = 0
    for item in chosen:
        for name, find in LISTS.items():
            for sentence in find(item) if options.list in (None, name) else []:
                print(f"{item.id}: {name}: {sentence}", flush=True)
                count += 1
    print(f"{len(chosen)} items, {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
