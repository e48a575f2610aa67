"""Finds programs of a class that have more in common than chance explains. Runs nothing; people decide what it means.

The measure is the share of common fingerprints (``fingerprints``), taken from syntax trees. Fingerprints of the starter
code and those that much of the class shares are removed; the others weigh more the rarer they are. A short function
with one natural solution therefore counts for nothing: many learners wrote it, or it is too short to be evidence.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.fingerprints import fingerprints, grams, streams
from autograder.submission import Submission, Unit, magics
from autograder.submission.definitions import given_programs

#: A fingerprint is common knowledge if more submissions than this contain it, and more than this share of the class.
COMMON, COMMON_SHARE = 10, 0.05
#: Minimum evidence for a pair: its common fingerprints, weighted by rarity (0 to 1). About a dozen lines of code.
EVIDENCE = 40.0
#: Minimum evidence for a similar function to count when the programs as a whole are not similar, and to be listed.
FUNCTION_EVIDENCE, NAMED = 15.0, 5.0

Weights = Mapping[int, float]


@dataclass(frozen=True)
class Function:
    """A function, a method, or the code around them in a unit, with its fingerprints and their line numbers."""

    label: str
    name: str
    prints: Mapping[int, int]

    def __str__(self) -> str:
        what = self.name or "top level"
        return f"{what} ({self.label}, line {min(self.prints.values())})"


@dataclass(frozen=True)
class Shared:
    """Two functions with the same rare code: what share of the smaller one it is, and how much evidence that gives."""

    first: Function
    second: Function
    similarity: float
    evidence: float


@dataclass(frozen=True)
class Pair:
    """Two submissions that have more in common than chance explains.

    Attributes:
        first: the name of one submission.
        second: the name of the other, later in the alphabet.
        similarity: the share of the smaller program, weighted by rarity, that is also in the other; 0 to 1.
        evidence: what they have in common, in fingerprints weighted by rarity; about three per line.
        shared: their similar functions, strongest evidence first.
    """

    first: str
    second: str
    similarity: float
    evidence: float
    shared: tuple[Shared, ...]


def report(submissions: Mapping[str, Submission], starter: Submission | None = None, least: float = 0.8) -> list[Pair]:
    """The pairs of similar submissions in a class, most similar first.

    A pair is similar if at least the share ``least`` of the smaller program is also in the other, or if that holds for
    long functions of theirs.

    Args:
        submissions: by name; parts that are not Python are ignored.
        starter: the code that everybody was given.
        least: the share above which programs and functions count as similar; above 0, at most 1.

    Raises:
        ValueError: ``least`` is outside its range.
    """
    if not 0 < least <= 1:
        raise ValueError(f"least must be above 0 and at most 1, got {least}")
    given = {value for unit in (starter.units if starter else ()) for value in _all_grams(unit)}
    read = _Reader(given)
    programs = {name: read.program(submission) for name, submission in sorted(submissions.items())}
    weights = _weights(programs)
    found = []
    for (first, second), evidence in _evidence(programs, weights).items():
        pair = _pair((first, second), (programs[first], programs[second]), evidence, weights, least)
        found += [pair] if pair else []
    return sorted(found, key=lambda pair: (-pair.similarity, -pair.evidence, pair.first, pair.second))


def handed_out(root: Path) -> Submission:
    """All code that the course gives to everybody: labs, the cells of its pages, and the programs to repair.

    ``root`` is the folder of a checkout; labs and pages that are not there are left out.
    """
    sources = [path.read_text(encoding="utf-8") for path in sorted(root.glob("labs/**/*.py"))]
    for path in sorted(root.glob("book/**/*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        sources += [magics.without_magics(text) for text in texts]
    sources += given_programs().values()
    return Submission("the course", tuple(Unit("", source) for source in sources))


def _all_grams(unit: Unit) -> set[int]:
    """Every hash of a unit, not only its fingerprints, so that given code is removed wherever it occurs."""
    return {value for stream in streams(unit.source) for value in grams(stream.tokens)}


class _Reader:
    """Reads programs; a unit that several submissions contain word for word is read once."""

    def __init__(self, given: set[int]) -> None:
        self._given = given
        self._units: dict[Unit, list[Function]] = {}

    def program(self, submission: Submission) -> list[Function]:
        """The functions of a submission that have fingerprints."""
        return [function for unit in submission.units for function in self._functions(unit)]

    def _functions(self, unit: Unit) -> list[Function]:
        if unit not in self._units:
            found = [
                Function(unit.label, stream.name, fingerprints(stream, self._given)) for stream in streams(unit.source)
            ]
            self._units[unit] = [function for function in found if function.prints]
        return self._units[unit]


def _prints(program: Sequence[Function]) -> set[int]:
    return {value for function in program for value in function.prints}


def _weights(programs: Mapping[str, Sequence[Function]]) -> dict[int, float]:
    """How rare each fingerprint is: 1 if at most two submissions have it, 0 if all do; common ones are left out."""
    held = Counter(value for program in programs.values() for value in _prints(program))
    size = len(programs)
    most = max(COMMON, COMMON_SHARE * size)
    scale = math.log(size / 2) if size > 2 else 1.0
    rarity = {count: min(1.0, math.log(size / count) / scale) if size > 2 else 1.0 for count in set(held.values())}
    return {value: rarity[count] for value, count in held.items() if count <= most}


def _evidence(programs: Mapping[str, Sequence[Function]], weights: Weights) -> dict[tuple[str, str], float]:
    """The evidence for each pair that has enough of it, from an index of fingerprints instead of all pairs."""
    holders: defaultdict[int, list[str]] = defaultdict(list)
    for name, program in programs.items():
        for value in _prints(program):
            if value in weights:
                holders[value].append(name)
    shared: defaultdict[tuple[str, str], float] = defaultdict(float)
    for value, names in holders.items():
        for pair in itertools.combinations(names, 2):
            shared[pair] += weights[value]
    return {pair: total for pair, total in shared.items() if total >= EVIDENCE}


def _pair(
    names: tuple[str, str],
    programs: tuple[Sequence[Function], Sequence[Function]],
    evidence: float,
    weights: Weights,
    least: float,
) -> Pair | None:
    """The pair, if it is similar as a whole or in long functions; else None."""
    smaller = min(sum(weights.get(value, 0.0) for value in _prints(program)) for program in programs)
    similarity = min(1.0, evidence / smaller)
    shared = _shared(*programs, weights, least)
    long = sum(one.evidence for one in shared if one.evidence >= FUNCTION_EVIDENCE)
    alike = similarity >= least or long >= EVIDENCE
    return Pair(*names, similarity, evidence, shared) if alike else None


def _shared(
    first: Sequence[Function], second: Sequence[Function], weights: Weights, least: float
) -> tuple[Shared, ...]:
    """For each function of one program, the most similar one of the other, if the two are similar."""
    found = []
    for function in first:
        best = max((_compared(function, other, weights) for other in second), key=lambda shared: shared.evidence)
        if best.similarity >= least and best.evidence >= NAMED:
            found.append(best)
    return tuple(sorted(found, key=lambda shared: -shared.evidence))


def _compared(one: Function, other: Function, weights: Weights) -> Shared:
    both = sum(weights.get(value, 0.0) for value in one.prints.keys() & other.prints.keys())
    smaller = min(sum(weights.get(value, 0.0) for value in function.prints) for function in (one, other))
    return Shared(one, other, min(1.0, both / smaller) if smaller else 0.0, both)
