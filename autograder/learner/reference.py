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
    statements = {name: node for node in syntax.parse(text).body for name in _defined(node)}
    found, waiting = {item.function}, [item.function]
    while waiting:
        node = statements[waiting.pop()]
        used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        new = {name for name in used - found if name.startswith("_") and name in statements}
        found |= new
        waiting += new
    return "\n\n\n".join(ast.get_source_segment(text, node) or "" for name, node in statements.items() if name in found)


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    return [target.id for target in getattr(node, "targets", ()) if isinstance(target, ast.Name)]
