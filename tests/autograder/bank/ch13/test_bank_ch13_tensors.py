"""Chapter 13's tensor items, in this process: no key lets a slip pass."""

from __future__ import annotations

from random import Random

import pytest

from autograder import bank
from autograder.items import Build, Case
from autograder.marking import compare, trusted_worlds
from autograder.marking.outcome import Outcome

BUILDS = {item.function: item for item in bank.of_chapter("ch13") if isinstance(item, Build) and item.grade == "tensor"}
SLIPS = [(item, slip) for item in BUILDS.values() for slip in item.slips]
KEYS = range(6)


def run(item: Build, program, cases: list[Case]) -> list[Outcome]:
    """As in a world of one rank, without the processes."""
    outcomes = []
    for case in cases:
        (kind, value, arguments, _, _), _ = trusted_worlds._answer(program, case, case.args, item.probe)
        plain = kind == "value"
        outcomes.append(Outcome("value", value, arguments=arguments) if plain else Outcome(kind, error=value or ""))
    return outcomes


def drawn(item: Build, key: int) -> list[Case]:
    return [*item.cases, *(case for _, cases in item.hidden(Random(f"key {key}")) for case in cases)]


def faults(item: Build, program, key: int) -> list[str | None]:
    cases = drawn(item, key)
    rows = zip(cases, run(item, item.solution(), cases), run(item, program, cases), strict=True)
    return [compare.fault(item, *row) for row in rows]


@pytest.mark.parametrize("item", BUILDS.values(), ids=lambda item: item.id)
def test_the_reference_answers_as_the_cases_say(item):
    for key in KEYS:
        cases = drawn(item, key)
        for case, outcome in zip(cases, run(item, item.solution(), cases), strict=True):
            assert (outcome.kind, outcome.error) == (("raised", case.raises) if case.raises else ("value", ""))


@pytest.mark.proof(part="bank")
@pytest.mark.filterwarnings("ignore:var:UserWarning")
@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=lambda one: getattr(one, "id", "") or one.name)
def test_no_key_lets_a_slip_pass(item, slip):
    """Two wrong answers among the hidden cases at least, so that it can be named; ``test_full_marks`` tries one key."""
    public = len(item.cases)
    for key in KEYS:
        assert sum(fault is not None for fault in faults(item, item.program_of(slip), key)[public:]) >= 2, key
