"""Which packages a submission imports: a child imports the heaviest one before it runs any of the submission's code."""

from __future__ import annotations

import ast
import functools
import re

from autograder.submission import Submission
from autograder.syntax import tree_of


def imports(submission: Submission, module: str) -> set[str]:
    """Names imported by the units of ``module`` and, indirectly, by the units of the submission that they import."""
    result: set[str] = set()
    todo, done = [module], set()
    while todo:
        name = todo.pop()
        done.add(name)
        for unit in submission.units:
            if unit.module in (name, None):
                result |= imported_names(unit.source)
        todo += [unit.module for unit in submission.units if unit.module in result - done]
    return result


@functools.lru_cache(maxsize=256)
def imported_names(source: str) -> frozenset[str]:
    """Every dotted part of every name that ``source`` imports; if it does not parse, whatever its lines show."""
    tree = tree_of(source) if "import" in source else ast.Module([], [])
    if tree is None:
        names = re.findall(r"^[ \t]*(?:import|from)[ \t]+([\w., \t]+)", source, re.MULTILINE)
    else:
        names = [name for node in ast.walk(tree) for name in _imported(node)]
    return frozenset(part for name in names for part in re.findall(r"\w+", name))


def _imported(node: ast.AST) -> list[str]:
    """The names in an import; of ``from a import b``, both."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return []
    module = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return module + [alias.name for alias in node.names]
