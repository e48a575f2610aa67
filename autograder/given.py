"""What a learner is given of a function: the checks of its arguments, at its head."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence


def given(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The checks at the head of a function's body, after its docstring, if it has one.

    They reach to the last check of a row of checks and assignments: ``ranks = dist.get_world_size(group)`` may stand
    between two of them.
    """
    start = int(isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant))
    row = list(itertools.takewhile(lambda one: is_check(one) or isinstance(one, ast.Assign), body[start:]))
    while row and not is_check(row[-1]):
        row.pop()
    return row


def is_check(node: ast.AST) -> bool:
    """Whether a statement calls ``checks.``... or a private ``_check``..., or does nothing else in a loop or branch."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="checks")))):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))) | ast.Assign(value=ast.Call(func=ast.Name(id=name))):
            return name.startswith("_check")
        case ast.For(body=body, orelse=others) | ast.If(body=body, orelse=others):
            return all(map(is_check, (*body, *others)))
    return False
