"""Probes on the grader's side: a program together with the driver that shows what one plain call cannot."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.items import Build

HERE = Path(__file__).parent / "probes"


def load(probe: str) -> Callable[..., Any]:
    """The driver named ``"ch06.differentiated"``."""
    module, _, driver = probe.partition(".")
    return getattr(importlib.import_module(f"autograder.probes.{module}"), driver)


def driven(item: Build, program: Callable[..., Any]) -> Callable[..., Any]:
    """``program`` as the cases of ``item`` call it: itself, or in the hands of the item's driver."""
    return functools.partial(load(item.probe), program) if item.probe else program


def is_probe(file: str) -> bool:
    """Whether a line of code stands in a driver."""
    return Path(file).parent == HERE


def sentence(item: Build) -> str:
    """What is done with the function in each case, in the driver's own words; empty where it is simply called.

    Read from the source: the driver's module may import torch.
    """
    if not item.probe:
        return ""
    module, _, driver = item.probe.partition(".")
    tree = ast.parse((HERE / f"{module}.py").read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == driver)
    return (ast.get_docstring(found) or "").partition("\n")[0]
