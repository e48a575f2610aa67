"""Checks docstrings against cases: what a docstring promises, some case tries.

    python -m tools.promises                       every item
    python -m tools.promises --only 05-zero-memory

It prints the sentences that promise something (they contain one of :data:`TRIGGERS`) and are not among the ``promises``
of their item, and the promises whose program none of the item's cases catches. What a docstring says about the range
of an argument is no promise of this kind: the checks at the head of a reference say it too.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from autograder import bank
from autograder.items import Build, Case, Group, Promise, edits
from autograder.marking import compare, trusted
from autograder.marking.outcome import Outcome
from autograder.running.exam import Exam

T = TypeVar("T")

#: How many keys' cases are examined, and with how many a program that breaks a promise must be caught.
KEYS, NOTICED = 8, 3
#: The same for items that need processes.
FEW_KEYS, FEW_NOTICED = 2, 1
PLAIN = ("call", "calls")
TRIGGERS = re.compile(
    r"\b(never|also|ties?|new|unchanged|not finite|infinit\w*|nan|empty|ignored|twice|in place|whatever|only|alone"
    r"|unless|except|exactly|copy|copies|copied)\b",
    re.IGNORECASE,
)


# What is missing.


def kept(compute: Callable[..., T]) -> Callable[..., T]:
    """Cache ``compute(item, *numbers)`` for the last item, because its promises ask for the same.

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


def docstrings(item: Build) -> list[str]:
    """The docstrings that a learner reads: the function's or class's, and those of its public methods."""
    reference = item.solution()
    found = [inspect.getdoc(reference) or ""]
    if isinstance(reference, type):
        methods = [one for name, one in vars(reference).items() if not name.startswith("_")]
        found += [
            inspect.getdoc(method) or "" for method in methods if callable(method) or isinstance(method, property)
        ]
    return found


def sentences(item: Build) -> list[str]:
    """The sentences that contain a trigger, except those under ``Raises`` and ``Sources``."""
    result = []
    for doc in docstrings(item):
        doc = re.sub(r"(?:^|\n)(?:Raises|Sources?):.*?(?=\n\S|\Z)", "", doc, flags=re.DOTALL)
        for line in re.sub(r"\n +", " ", doc).splitlines():
            result += [one.strip() for one in re.split(r"(?<=[.;])\s+", line) if TRIGGERS.search(one)]
    return result


def without_case(item: Build, keys: int = KEYS) -> list[str]:
    """Sentences that are no promise of the item, promises without a sentence, and promises that no case tries."""
    text = " ".join(" ".join(docstrings(item)).split())
    found = [
        f"{promise.sentence!r} is not in the docstring" for promise in item.promises if promise.sentence not in text
    ]
    for sentence in sentences(item):
        if not any(
            promise.sentence in " ".join(sentence.split()) or sentence in promise.sentence for promise in item.promises
        ):
            found.append(f"no promise for {sentence!r}")
    return found + [
        sentence for promise in item.promises if not promise.why for sentence in not_caught(item, promise, keys)
    ]


def not_caught(item: Build, promise: Promise, keys: int) -> list[str]:
    """What is wrong with the program that breaks a promise: it cannot be made, or no case catches it."""
    try:
        missed = unnoticed(item, promise, keys)
    except edits.DoesNotApply as error:
        return [str(error)]
    return [f"{promise.sentence!r} can be broken: no case catches it with keys {missed}"] if missed else []


def unnoticed(item: Build, promise: Promise, keys: int) -> list[int]:
    """The keys with which no case catches the program that breaks a promise."""
    program = item.program_of(promise)
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


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.promises", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="ID", default=[], help="items, or beginnings of their ids")
    options = parser.parse_args(argv)
    items = bank.builds()
    if unknown := [name for name in options.only if not any(item.id.startswith(name) for item in items)]:
        parser.error(f"no item's id is or begins with {' or '.join(unknown)}")
    chosen = [item for item in items if not options.only or item.id.startswith(tuple(options.only))]
    count = 0
    for item in chosen:
        for sentence in without_case(item):
            print(f"{item.id}: {sentence}", flush=True)
            count += 1
    print(f"{len(chosen)} items, {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
