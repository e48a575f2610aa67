"""The grader's side of probes: drivers that call a program and show what one plain call cannot."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import syntax
from autograder.items import Build, Case
from autograder.marking import values
from autograder.marking.outcome import Outcome

HERE = Path(__file__).parents[1] / "probes"
#: The detail of an answer that no driver would return.
NO_ANSWER = "returned something that cannot be judged"
#: The exceptions that ``concludes`` of an item may raise for an answer that no honest driver sends.
ODD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def load(probe: str) -> Callable[..., Any]:
    """The driver named ``"ch06.differentiated"``."""
    return getattr(importlib.import_module(f"autograder.probes.{module(probe)}"), probe.partition(".")[2])


def module(probe: str) -> str:
    """The module of :mod:`autograder.probes` that holds a driver."""
    return probe.partition(".")[0]


def driven(item: Build, program: Callable[..., Any]) -> Callable[..., Any]:
    """What the cases of ``item`` call: ``program`` itself, or the item's driver with ``program`` as first argument."""
    return functools.partial(load(item.probe), program) if item.probe else program


def for_processes(item: Build, case: Case) -> list[Case]:
    """The case itself, or one copy for each process of the item, with the number of the process for the driver."""
    if item.processes == 1:
        return [case]
    return [replace(case, kwargs={**case.kwargs, "process": process}) for process in range(item.processes)]


def joined(item: Build, outcomes: Sequence[Outcome]) -> Outcome:
    """The outcomes of :func:`for_processes` as one: the first that is not a value, else the tuple of all values.

    Changes that a driver made to its arguments are dropped.
    """
    if item.processes == 1:
        return replace(outcomes[0], arguments=None) if item.probe else outcomes[0]
    failed = [outcome for outcome in outcomes if outcome.kind != "value"]
    return failed[0] if failed else Outcome("value", tuple(outcome.value for outcome in outcomes))


def with_conclusion(item: Build, case: Case, outcome: Outcome) -> Outcome:
    """``outcome`` with the grader's conclusion in place of what the driver returned; for a world, rank by rank.

    Items without a conclusion (``concludes``) keep their outcome.
    """
    if item.concludes is None or outcome.kind != "value":
        return outcome
    try:
        if item.grade == "world":
            value = tuple(item.concludes(case, answer) for answer in outcome.value)
        else:
            value = item.concludes(case, outcome.value)
        values.encode(value)  # it is kept as an answer is
    except (*ODD, values.Refused):
        return Outcome("refused", detail=NO_ANSWER)
    return replace(outcome, value=value)


def is_probe(file: str) -> bool:
    """Whether a file of code holds drivers."""
    return Path(file).parent == HERE


def sentence(item: Build) -> str:
    """What the driver does with the function in each case, from its docstring; empty if the function is simply called.

    The docstring is read from the source, because importing the driver may import torch.
    """
    if not item.probe:
        return ""
    driver = item.probe.partition(".")[2]
    tree = syntax.parse((HERE / f"{module(item.probe)}.py").read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == driver)
    return (ast.get_docstring(found) or "").partition("\n")[0]
