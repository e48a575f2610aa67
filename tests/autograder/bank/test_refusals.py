"""Nobody is graded for a range: references that refuse nothing lose points only where refusing is the exercise."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import types

import pytest

import rankzero
from autograder import bank, syntax
from autograder.marking import judge, trusted
from autograder.marking.papers import Paper
from autograder.running.exam import Exam

#: Exercises that are about refusing: deadlocks, layouts that do not fit, what has run out, calls out of turn.
SUBJECTS = {
    "01-rendezvous",
    "05-accumulation-steps",
    "06-head-partition",
    "07-simulate-schedule",
    "07-peak-in-flight",
    "07-debug-validate",
    "08-debug-kv-room",
    "08-streaming-detokenizer",
    "09-block-manager",
    "09-block-pool",
    "09-radix-cache",
    "10-future-map",
    "10-token-budget-scheduler",
    "11-token-index",
    "11-debug-limit",
    "11-schema-to-regex",
    "11-constraint-state",
    "14-reshard-plan",
    "14-weight-slots",
    "14-staleness-gate",
    "cap-partition-layers",
}
PLAIN = [item for item in bank.builds() if item.grade in ("call", "calls")]


class _Pass(ast.NodeTransformer):
    def visit_Raise(self, node: ast.Raise) -> ast.Pass:
        return ast.copy_location(ast.Pass(), node)


class _NoChecks(types.ModuleType):
    """Stands for :mod:`rankzero.checks`: whatever is called in it does nothing."""

    def __getattr__(self, name: str) -> object:
        return lambda *args, **values: None


@functools.cache
def _refusing_nothing(module: str) -> dict[str, object]:
    """The names of a module of ``solutions`` whose checks and ``raise`` do nothing."""
    tree = syntax.parse(inspect.getsource(sys.modules[module]))
    code = compile(ast.fix_missing_locations(_Pass().visit(tree)), f"<{module}>", "exec")
    made = types.ModuleType(f"{module}_refusing_nothing")
    made.__package__ = module.rpartition(".")[0]
    sys.modules[made.__name__] = made
    before, rankzero.checks = rankzero.checks, _NoChecks("checks")
    try:
        exec(code, made.__dict__)
    finally:
        rankzero.checks = before
        del sys.modules[made.__name__]
    return made.__dict__


@functools.cache
def kept(identifier: str) -> float:
    """The points that a reference keeps when it refuses nothing."""
    item = bank.find(identifier)
    paper: Paper = Exam([item], b"refusals").paper(item)
    program = _refusing_nothing(item.solution().__module__)[item.function]
    cases = [asked.case for asked in paper.asked]
    return judge.mark(paper, trusted.run(item, program, cases, 2.0)).score


@pytest.mark.parametrize("item", [pytest.param(item, id=item.id) for item in PLAIN])
def test_a_reference_that_refuses_nothing_keeps_its_points(item):
    assert (kept(item.id) < item.points) == (item.id in SUBJECTS)


def test_all_of_them_keep_nearly_everything():
    assert sum(kept(item.id) for item in PLAIN) >= 0.97 * sum(item.points for item in PLAIN)
