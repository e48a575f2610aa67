"""Probes on the grader's side: a program together with the driver that shows what one plain call cannot."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import conclusions, syntax
from autograder.items import Build, Case
from autograder.outcome import Outcome

HERE = Path(__file__).parent / "probes"
#: What becomes of an answer that no driver gives.
NO_ANSWER = "returned something that cannot be judged"


def load(probe: str) -> Callable[..., Any]:
    """The driver named ``"ch06.differentiated"``."""
    return getattr(importlib.import_module(f"autograder.probes.{module(probe)}"), probe.partition(".")[2])


def module(probe: str) -> str:
    """The module of :mod:`autograder.probes` that holds a driver."""
    return probe.partition(".")[0]


def driven(item: Build, program: Callable[..., Any]) -> Callable[..., Any]:
    """``program`` as the cases of ``item`` call it: itself, or in the hands of the item's driver."""
    return functools.partial(load(item.probe), program) if item.probe else program


def asked(item: Build, case: Case) -> list[Case]:
    """What is asked for one case: the case itself, or one for each process, whose number the driver gets."""
    if item.processes == 1:
        return [case]
    return [replace(case, kwargs={**case.kwargs, "process": process}) for process in range(item.processes)]


def joined(item: Build, outcomes: Sequence[Outcome]) -> Outcome:
    """The outcomes of :func:`asked` as one: the first that is no value, else all values.

    What a driver leaves in its arguments does not count.
    """
    if item.processes == 1:
        return replace(outcomes[0], arguments=None) if item.probe else outcomes[0]
    failed = [outcome for outcome in outcomes if outcome.kind != "value"]
    return failed[0] if failed else Outcome("value", tuple(outcome.value for outcome in outcomes))


def concluded(item: Build, case: Case, outcome: Outcome) -> Outcome:
    """``outcome`` with what its answer comes to in place of what the driver handed back; of a world, rank by rank."""
    conclusion = conclusions.BY_DRIVER.get(item.probe or "")
    if conclusion is None or outcome.kind != "value":
        return outcome
    try:
        if item.grade == "world":
            return replace(outcome, value=tuple(conclusion(case, answer) for answer in outcome.value))
        return replace(outcome, value=conclusion(case, outcome.value))
    except conclusions.ODD:
        return Outcome("refused", detail=NO_ANSWER)


def is_probe(file: str) -> bool:
    """Whether a line of code stands in a driver."""
    return Path(file).parent == HERE


def sentence(item: Build) -> str:
    """What is done with the function in each case, in the driver's own words; empty where it is simply called.

    Read from the source: the driver's module may import torch.
    """
    if not item.probe:
        return ""
    driver = item.probe.partition(".")[2]
    tree = syntax.parse((HERE / f"{module(item.probe)}.py").read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == driver)
    return (ast.get_docstring(found) or "").partition("\n")[0]
