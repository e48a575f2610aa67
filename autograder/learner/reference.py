"""The source of a reference for learners: the function with the private helpers of its module that it uses."""

from __future__ import annotations

import ast
import importlib
import inspect

from autograder import syntax
from autograder.items import Build


def source_of(item: Build) -> str:
    """The reference's source and that of the private names it uses, directly or indirectly, in module order."""
    text = inspect.getsource(importlib.import_module(f"solutions.{item.home}"))
    nodes = syntax.needed(syntax.parse(text), [item.function], lambda name: name.startswith("_"))
    return "\n\n\n".join(ast.get_source_segment(text, node) or "" for node in nodes)
