"""Chapter 6: what a learner is told about wrong programs, and that it is true of them."""

from __future__ import annotations

import pytest

from autograder import bank
from autograder.items import edits
from autograder.marking import judge, trusted
from autograder.marking.marks import Mark
from autograder.running.exam import Exam


def marked(identifier: str, program, key: int = 0) -> Mark:
    """The mark of a program of ours, which runs in this process."""
    item = bank.find(identifier)
    asked = Exam([item], f"key {key}".encode()).paper(item)
    return judge.mark(asked, trusted.run(asked.item, program, asked.cases, 2.0))


def edited(identifier: str, *changes: tuple[str, str]):
    return edits.edited(bank.find(identifier).solution(), changes)


def checks_sequence_alone(sequence, *others, **options):
    """Every value is right; of the arguments only the first is checked."""
    if type(sequence) is not int or sequence < 0:
        raise ValueError(f"sequence must be an integer >= 0, got {sequence!r}")
    return unchecked(sequence, *others, **options)


UNCHECKED = (
    ("    _check_shape(sequence, batch, hidden, ranks)\n    _check_heads(hidden, heads, kv_heads)\n", ""),
    ('    _check_integer("ffn", ffn, 0)\n', ""),
    ("    _require(recompute in RECOMPUTE,", '    print(end="") if True else (0,'),
    ("    _require(attention in ATTENTION,", '    print(end="") if True else (0,'),
    ('    _check_size("element_bytes", element_bytes)\n    _check_size("mask_bytes", mask_bytes)\n', ""),
)
unchecked = edited("06-activation-bytes", *UNCHECKED)


@pytest.mark.parametrize("key", range(3))
@pytest.mark.parametrize("program", [checks_sequence_alone, unchecked])
def test_right_values_without_checks_are_told_of_the_checks_alone(program, key):
    """Kills: a sentence about what a layer stores for a program that has it right."""
    mark = marked("06-activation-bytes", program, key)
    assert mark.state == "partly"
    assert mark.slip == ""
    assert {share.name for share in mark.shares if share.passed < share.total} <= {"bad input", "public cases"}
    assert all("ValueError" in sentence for sentence in mark.hidden)


@pytest.mark.parametrize("key", range(3))
@pytest.mark.parametrize(
    ("identifier", "change"),
    [
        ("06-activation-bytes", ("whole and value >= least", "value >= least")),
        ("06-tensor-parallel-traffic", ("whole and value >= least", "value >= least")),
        ("06-head-partition", ("not isinstance(count, int) or isinstance(count, bool) or count < 1", "count < 1")),
        ("06-padded-vocabulary", ("whole and value >= least", "value >= least")),
        ("06-best-segment", ("whole and value >= least", "value >= least")),
    ],
)
def test_fractions_are_no_counts(identifier, change, key):
    """Kills: 8.0 ranks, 2.5 layers."""
    assert marked(identifier, edited(identifier, change), key).state != "right"
