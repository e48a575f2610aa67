"""Mutants of the references: what the search for holes in the bank promises."""

from __future__ import annotations

import ast
import dataclasses
from unittest import mock

import pytest

from autograder import bank
from benchmarks import catches
from tools import mutants

FRACTION, TRAFFIC = bank.find("07-bubble-fraction"), bank.find("03-traffic")


def changed(text: str) -> set[str]:
    """What a statement or an expression becomes, each way once."""
    (statement,) = ast.parse(text).body
    node = statement.value if isinstance(statement, ast.Expr) else statement
    return {ast.unparse(ast.fix_missing_locations(ast.Module([one], []))) for one in mutants.variants(node)}


def test_nodes_have_the_variants_that_people_write_by_mistake():
    assert changed("a < b <= c") == {"a <= b <= c", "a < b < c"}
    assert changed("a / b") == {"a * b", "a // b"}
    assert changed("a and b") == {"a or b"}
    assert changed("min") == {"max"}
    assert changed("3") == {"4", "2"}
    assert changed("a if b else c") == {"a if True else c", "a if False else c"}


def test_a_refusal_is_left_out_whole_and_checks_stay():
    """The limits and the message of a refusal are no programs of their own; a learner is given the checks."""
    assert changed("if n < 1:\n    raise ValueError(f'n is {n}')") == {"pass"}
    for check in ("checks.count(1 + 1, n=n)", "_check_plan(n + 1)", "for n in numbers:\n    checks.count(0, n=n)"):
        assert changed(check) == set()
        assert list(mutants.places(ast.parse(check))) == [(mock.ANY, "body", 0)]
    inside = ast.parse("def f(n):\n    if n < 1:\n        raise ValueError(n + 1)\n    return n").body[0]
    assert not [name for parent, name, _ in mutants.places(inside) if isinstance(parent, ast.Compare | ast.BinOp)]


def test_what_a_learner_is_given_is_not_changed():
    """No case is about it: every such mutant would pass."""
    for text in ("checks.count(n=n)", "ops = _check_order(n)", "if n > 1:\n    checks.count(2, m=m)"):
        assert changed(text) == set()
        assert len(list(mutants.places(ast.parse(text)))) == 1
    tree = ast.parse("def f(n): _check_order(n)\ndef _check_order(n): 2")
    assert [node.name for node in mutants.own_code(tree, "f")] == ["f"]


def test_other_exercises_are_no_part_of_one():
    """They are graded on their own: ``choose_layout`` calls ``layout_memory``."""
    tree = ast.parse(
        "def choose_layout(): layout_memory(); _own()\ndef layout_memory(): 1\ndef _own(): 2\ndef _not(): 3"
    )
    assert [node.name for node in mutants.own_code(tree, "choose_layout")] == ["choose_layout", "_own"]


def test_full_papers_notice_what_one_case_does_not():
    tried, left = mutants.survivors(FRACTION)
    assert tried >= 10
    assert left == []
    tried, left = mutants.survivors(dataclasses.replace(TRAFFIC, cases=TRAFFIC.cases[:1], groups=()))
    assert 0 < len(left) < tried


def test_a_mutant_travels_into_a_world():
    """Kills a search that hands the reference itself to the ranks."""
    item = bank.find("03-distributed-mean")
    item = dataclasses.replace(item, cases=item.cases[:1], groups=())
    paper = mutants.papers(item)
    codes = (code for _, words, code in mutants.mutants(item) if words.startswith("total / "))
    assert mutants.noticed(item, mutants.program(item, next(codes)), paper)
    assert not mutants.noticed(item, item.solution(), paper)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["07-buble-fraction"], "no item '07-buble-fraction'; did you mean 07-bubble-fraction"),
        (["07-bubble-fraction", "zzz"], "no item 'zzz'"),
        (["03-distributed-mean"], "'03-distributed-mean' needs processes: add --worlds"),
        (["07-bubble-fraction", "--worlds"], "'07-bubble-fraction' needs no processes: leave out --worlds"),
        (["07-naive-split"], "'07-naive-split' is a question; mutants are made of exercises"),
        (["--chapter", "77"], "no exercise of chapter '77' is of plain calls"),
        (["07-bubble-fraction", "--chapter", "03"], "no exercise of chapter '03' is of plain calls"),
    ],
)
def test_what_is_no_exercise_is_said_and_is_no_success(argv, said, capsys):
    """Kills: a typing error that says nothing and succeeds."""
    assert mutants.main(argv) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith(f"mutants: {said}")
    assert error.count("\n") == 1


def test_one_chapter_or_all():
    items = mutants.chosen([], "07", worlds=False)
    assert FRACTION in items
    assert {item.id[:3] for item in items} == {"07-"}
    assert {item.grade for item in mutants.chosen([], None, worlds=True)} == {"tensor", "world"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.proof(part="bank")] * (name != "05-loss-scaler"))
        for name in catches.EQUIVALENT
    ],
)
def test_no_mutant_of_a_flagship_passes_but_equivalent_ones(name):
    """Kills: a small change to a flagship that every case accepts."""
    _, left = mutants.survivors(bank.find(name))
    assert {catches.changed(change) for change in left} == set(catches.EQUIVALENT[name])
