"""No grade depends on the key: further right programs pass with every key. ``make luck`` tries 200; here a sample.

Programs of plain calls are tried with one key in ``make test``; more keys, and programs that need processes, in ``make
proof``.
"""

from __future__ import annotations

import pytest

from autograder import bank
from autograder.items import Right
from tools import luck

ITEMS = [item for item in bank.builds() if item.rights]
PLAIN = [item for item in ITEMS if item.grade in ("call", "calls")]
#: Needs a process, and stays in ``make test``: what it returns is judged beside what it does to the weights.
BOTH = "13-rlhf-step"
PROOF = pytest.mark.proof(part="bank")
TRIED = [
    *(pytest.param(item, range(1000, 1001), id=item.id) for item in PLAIN),
    *(pytest.param(item, range(1001, 1010), id=f"{item.id}-keys", marks=PROOF) for item in PLAIN),
    *(
        pytest.param(item, range(1000, 1001), id=item.id, marks=() if item.id == BOTH else PROOF)
        for item in ITEMS
        if item not in PLAIN
    ),
]


@pytest.mark.parametrize("item", bank.builds(), ids=lambda item: item.id)
def test_an_item_with_floats_has_two_further_right_programs(item):
    if len(item.rights) < 2:
        assert not luck.has_floats(item)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_every_program_tells_what_is_different(item):
    assert len({right.sentence for right in item.rights}) == len(item.rights)
    assert all((right.program is None) == bool(right.changes) for right in item.rights)


@pytest.mark.parametrize(("item", "keys"), TRIED)
def test_right_programs_lose_no_case(item, keys):
    assert [str(one) for one in luck.failures(item, item.rights, keys)] == []


#: Keys that once drew cases in which variances and baselines cancelled, so that rounding decided.
UNLUCKY = {
    "12-optimal-baseline": (132,),
    "12-reinforce-moments": (110, 127, 155, 174, 194, 225),
    "13-estimator-moments": (183,),
}


@pytest.mark.parametrize("name", UNLUCKY)
def test_cases_that_cancel_are_drawn_again(name):
    item = bank.find(name)
    assert [str(one) for one in luck.failures(item, item.rights, UNLUCKY[name])] == []


def test_a_wrong_program_loses_cases():
    """Kills: a tool that allows everything."""
    item = bank.find("05-zero-memory")
    wrong = Right("stage 3 keeps the weights", edit=("weight_bytes / (ranks if stage >= 3 else 1)", "weight_bytes"))
    assert len(list(luck.failures(item, [wrong], range(3)))) > 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "05-zero-memory", "05-zero-memry"], "no item's id is 05-zero-memry"),
        (["--only", "05-zero-memory", "--keys", "0"], "keys must be an integer >= 1, got 0"),
    ],
)
def test_a_wrong_argument_is_an_error(monkeypatch, capsys, arguments, said):
    """Kills: a name that is misspelt and left out in silence, and no case failed of none that was tried."""
    monkeypatch.setattr(luck, "failures", lambda *_: pytest.fail("it was graded"))
    with pytest.raises(SystemExit) as stopped:
        luck.main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.endswith(f"{said}\n")
