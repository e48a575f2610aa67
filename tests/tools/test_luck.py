"""No grade depends on the key: further right programs pass with every key. ``make luck`` tries 200; here a sample.

Programs of plain calls are tried with one key in ``make test``; more keys, and programs that need processes, in ``make
proof``.
"""

from __future__ import annotations

import functools

import pytest

from autograder import bank
from autograder.items import Build
from tools import luck

FORMULATIONS = luck.formulations()
ITEMS = [item for item in bank.builds() if item.id in FORMULATIONS]
PLAIN = [item for item in ITEMS if item.grade in ("call", "calls")]
PROOF = pytest.mark.proof(part="bank")
TRIED = [
    *(pytest.param(item, range(1000, 1001), id=item.id) for item in PLAIN),
    *(pytest.param(item, range(1001, 1010), id=f"{item.id}-keys", marks=PROOF) for item in PLAIN),
    *(pytest.param(item, range(1000, 1001), id=item.id, marks=PROOF) for item in ITEMS if item not in PLAIN),
]


@functools.cache
def by_id() -> dict[str, Build]:
    return {item.id: item for item in bank.builds()}


@pytest.mark.parametrize("item", bank.builds(), ids=lambda item: item.id)
def test_an_item_with_floats_has_two_further_right_programs(item):
    if len(FORMULATIONS.get(item.id, ())) < 2:
        assert not luck.has_floats(item)


def test_every_program_is_of_an_item_and_tells_what_is_different():
    assert set(FORMULATIONS) <= set(by_id())
    for programs in FORMULATIONS.values():
        assert len({right.formulation for right in programs}) == len(programs)
        assert all((right.program is None) == bool(right.edits) for right in programs)


@pytest.mark.parametrize(("item", "keys"), TRIED)
def test_right_programs_lose_no_case(item, keys):
    assert [str(one) for one in luck.failures(item, FORMULATIONS[item.id], keys)] == []


#: Keys that once drew cases in which variances and baselines cancelled, so that rounding decided.
UNLUCKY = {
    "12-optimal-baseline": (132,),
    "12-reinforce-moments": (110, 127, 155, 174, 194, 225),
    "13-estimator-moments": (183,),
}


@pytest.mark.parametrize("name", UNLUCKY)
def test_cases_that_cancel_are_drawn_again(name):
    assert [str(one) for one in luck.failures(by_id()[name], FORMULATIONS[name], UNLUCKY[name])] == []


def test_a_wrong_program_loses_cases():
    """Kills: a tool that allows everything."""
    item = by_id()["05-zero-memory"]
    wrong = luck.Right(
        "stage 3 keeps the weights", edits=(("weight_bytes / (ranks if stage >= 3 else 1)", "weight_bytes"),)
    )
    assert len(list(luck.failures(item, [wrong], range(3)))) > 3
